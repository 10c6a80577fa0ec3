/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * binary.c - the file in which the tool keeps a profile. See import.h.
 *
 * It is the tool's own structures one after the other, as a little-endian 64-bit machine lays them
 * out (save_profile() in profiler/utils.c): how many mappings; of each 24 bytes, with its place in
 * the list and its pages; how many of them have a profile, samples, heap pad; of each of these its
 * place, how many pages, and of each page 32 bytes. Nothing marks the form: counts must make the
 * size.
 */
#include <inttypes.h>

#include "capture/bbprof/import.h"

/* Bytes of a mapping and of a page. */
static const struct form {
    uint32_t mapping, page;
} wide = {24, 32}, narrow = {20, 24};

static uint32_t u32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint64_t u64(const uint8_t *p)
{
    return u32(p) | (uint64_t)u32(p + 4) << 32;
}

/* The bytes that the counts make, or where the data end before all of these, that they make at
   least. */
static uint64_t stated_size(const uint8_t *d, uint64_t bytes, struct form f)
{
    uint64_t at = 4 + (uint64_t)u32(d) * f.mapping + 12;
    const uint32_t profiled = at <= bytes ? u32(d + at - 12) : 0;

    for (uint32_t i = 0; i < profiled && at <= bytes; i++) {
        at += 8;
        if (at <= bytes)
            at += (uint64_t)u32(d + at - 4) * f.page;
    }
    return at;
}

/* Whether there is something to read; what does not fit is reported. */
static int check_form(struct bbprof *m, const uint8_t *d, uint64_t bytes)
{
    const uint32_t count = bytes < 4 ? 1 : u32(d), turned = __builtin_bswap32(count);
    uint64_t size;

    if (bytes < 4) {
        bbprof_cut(m, bytes, "the profile was cut off");
        return 0;
    }
    if (!count || count > BBPROF_MAPPINGS_MOST) {
        if (turned && turned <= BBPROF_MAPPINGS_MOST)
            bbprof_bad(m, 0, "a profile of a big-endian machine: only little-endian ones are read");
        else
            bbprof_bad(m, 0, "no profile: it would have %" PRIu32 " mappings, not 1 to %d", count,
                       BBPROF_MAPPINGS_MOST);
        return 0;
    }
    size = stated_size(d, bytes, wide);
    if (size != bytes && stated_size(d, bytes, narrow) == bytes) {
        bbprof_bad(m, 0, "a profile of a 32-bit machine: only 64-bit ones are read");
        return 0;
    }
    if (size > bytes)
        bbprof_cut(m, bytes,
                   "cut off, or its counts are wrong: they make %" PRIu64 " bytes or more", size);
    else if (size < bytes)
        bbprof_bad(m, size,
                   "its counts are wrong: they make %" PRIu64 " bytes, but there are %" PRIu64,
                   size, bytes);
    return 1;
}

/* Pages of one mapping that are there. */
static void read_pages(struct bbprof *m, const uint8_t *d, uint64_t at, uint64_t end,
                       uint32_t mapping)
{
    for (; at + wide.page <= end; at += wide.page) {
        struct bbprof_page page = {.mapping = mapping,
                                   .page = u32(d + at),
                                   .place = at,
                                   .least = u64(d + at + 8),
                                   .most = u64(d + at + 16)};
        const uint64_t mean = u64(d + at + 24);

        memcpy(&page.mean, &mean, sizeof page.mean);
        bbprof_add(m, &page);
    }
}

static void read_layout(struct bbprof *m, const uint8_t *d, uint64_t bytes)
{
    for (uint64_t i = 0, at = 4; i < u32(d) && at + wide.mapping <= bytes;
         i++, at += wide.mapping) {
        struct bbprof_mapping *g = bbprof_mapping(m, u32(d + at));
        const uint32_t pages = u32(d + at + 4);

        if (g->pages && g->name && !g->by_option && g->pages != pages) {
            bbprof_bad(m, at,
                       "mapping %" PRIu32 " has %" PRIu32 " pages, %s of the list %" PRIu32
                       ": the list is of another run",
                       g->index, pages, g->name, g->pages);
            g->name = NULL;
        }
        g->pages = pages;
        g->profiled = 1;
    }
}

void bbprof_binary(struct bbprof *m)
{
    const uint8_t *d = m->bytes.data;
    const uint64_t bytes = m->bytes.used;
    uint64_t at;

    for (size_t i = 0; i < m->mappings; i++)
        m->mapping[i].profiled = 0;
    if (!check_form(m, d, bytes))
        return;
    read_layout(m, d, bytes);
    at = 4 + (uint64_t)u32(d) * wide.mapping + 12;
    if (at > bytes)
        return;
    m->samples = u32(d + at - 8);
    for (uint32_t i = u32(d + at - 12); i && at + 8 <= bytes; i--) {
        const uint32_t mapping = u32(d + at), count = u32(d + at + 4);
        const uint64_t end = at + 8 + (uint64_t)count * wide.page;
        const struct bbprof_mapping *g = bbprof_find(m, mapping);

        if (!g || !g->profiled)
            bbprof_bad(m, at, "mapping %" PRIu32 " is not in the profile's list of mappings",
                       mapping);
        else
            read_pages(m, d, at + 8, end < bytes ? end : bytes, mapping);
        at = end;
    }
    bbprof_profile(m, 0);
}
