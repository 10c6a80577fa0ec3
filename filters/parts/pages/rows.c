/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rows.c - from frames to rows of pages: of each access its page, the frame that it lies in, its
 * core and what of it is in the page.
 *
 * Memory: some 150 bytes a page, and columns of one frame.
 */
#include <stdlib.h>
#include <string.h>

#include "filters/parts/pages/pages.h"
#include "formats/base/cf_memory.h"
#include "formats/together/cf_made.h"

enum { LATELY_BITS = 11, LATELY = 1 << LATELY_BITS };

static void make_room(struct pages *p)
{
    const struct cf_tool *t = &p->tool;

    p->number = cf_need(t, cf_counts_new());
    p->frame = cf_need(t, cf_counts_new());
    p->lately = cf_tool_room(t, LATELY, sizeof *p->lately);
    p->addr = cf_column_room(t, sizeof *p->addr);
    p->size = cf_column_room(t, sizeof *p->size);
    p->frame_of = cf_column_room(t, sizeof *p->frame_of);
    p->op = cf_column_room(t, 1);
    p->core = cf_column_room(t, 1);
    p->rows = (struct cf_paged){.core = p->core, .frame = p->frame_of};
}

void pages_open(struct pages *p)
{
    if (!p->number)
        make_room(p);
    p->reader = cf_tool_reader(&p->tool, &p->file, 1);
    cf_reader_pieces(p->reader);
    cf_reader_unify(p->reader);
    cf_reader_want_each(p->reader, CF_ACCESS, CF_REQUIRED, CF_ADDR, CF_REGION, CF_PAGENO);
    cf_reader_want_each(p->reader, CF_ACCESS, CF_OPTIONAL, CF_TIME, CF_OP, CF_SIZE, CF_PID, CF_TID,
                        CF_CPU);
    cf_reader_refuse_samples(p->reader);
    p->cores = cf_need(&p->tool, cf_cores_new(p->paged.cores));
    memset(p->ran, 0, sizeof p->ran);
    memset(p->before, 0, sizeof p->before);
    p->outside = p->cut = 0;
}

/* Times begin anew with each segment. */
static void end_segment(struct pages *p)
{
    for (unsigned c = 0; c < p->paged.cores; c++)
        p->before[c] += p->runs[c] && p->counts ? p->last[c] - p->first[c] + 1 : 0;
    memset(p->runs, 0, sizeof p->runs);
}

static void header(struct pages *p, const struct cf_header *h)
{
    uint64_t page_size = p->paged.page_size;

    end_segment(p);
    p->counts = h->clock_unit && !strcmp(h->clock_unit, "instructions");
    p->uncounted |= !p->counts;
    cf_made_pages(&p->tool, h, &page_size);
}

/* The number of a frame, among all; what is new is noted. */
static __attribute__((noinline)) uint32_t look_up(struct pages *p, uint64_t at, uint32_t region,
                                                  uint32_t pageno)
{
    const struct cf_tool *t = &p->tool;
    uint64_t *number = cf_counts_at(p->number, region, pageno);
    uint32_t page;

    if (!number || p->names >= UINT32_MAX)
        cf_out_of_memory(t);
    if (!*number) {
        cf_must(t, cf_array_cleared(&p->name, &p->name_room, p->names + 1, sizeof *p->name));
        p->name[p->names++] = (struct page_name){
            .region = cf_tool_text(t, "%s", cf_reader_text(p->reader, region)), .page = pageno};
        *number = p->names;
    }
    page = (uint32_t)*number - 1;
    number = cf_counts_at(p->frame, page, at);
    if (!number || cf_counts_size(p->frame) >= UINT32_MAX)
        cf_out_of_memory(t);
    if (!*number) {
        *number = cf_counts_size(p->frame);
        cf_must(t, cf_array_room(&p->page_of, &p->frame_room, *number, sizeof *p->page_of));
        p->page_of[*number - 1] = page;
        p->name[page].frames++;
    }
    return (uint32_t)*number - 1;
}

/* The bytes of a row that are in its page; a size that is not known is that of one byte. */
static __attribute__((noinline)) void fit_size(struct pages *p, const struct cf_frame *f,
                                               uint32_t i, uint32_t left)
{
    const uint32_t bytes = p->rows.size[i];

    if (p->rows.size != p->size) {
        memcpy(p->size, p->rows.size, f->rows * sizeof *p->size);
        p->rows.size = p->size;
    }
    p->size[i] = bytes ? left : 1;
    p->cut += bytes != 0;
}

/* Rows of one core: the frames of their pages. How many are in no mapping. */
static uint32_t find_pages(struct pages *p, const struct cf_frame *f, uint32_t from, uint32_t to)
{
    const uint64_t *addr = cf_u64(f, CF_ADDR);
    const uint32_t *region = cf_u32(f, CF_REGION), *page = cf_u32(f, CF_PAGENO);
    const uint32_t *size = p->rows.size, whole = p->paged.page_size;
    const uint64_t page_of = ~(uint64_t)(whole - 1);
    struct pages_lately *const lately = p->lately;
    uint32_t *const frames = p->frame_of;
    uint32_t outside = 0;

    for (uint32_t i = from; i < to; i++) {
        const uint32_t left = whole - ((uint32_t)addr[i] & (whole - 1));
        const uint64_t at = addr[i] & page_of, name = (uint64_t)region[i] << 32 | page[i];
        struct pages_lately *l = &lately[at * UINT64_C(0x9E3779B97F4A7C15) >> (64 - LATELY_BITS)];

        if (!region[i]) {
            outside++;
            continue;
        }
        if (size[i] - 1 >= left)
            fit_size(p, f, i, left);
        if (l->at != at || l->name != name)
            *l = (struct pages_lately){at, name, look_up(p, at, region[i], page[i])};
        frames[i] = l->frame;
    }
    return outside;
}

/* Drops rows in no mapping; how many are left. */
static uint32_t drop(struct pages *p, const struct cf_frame *f)
{
    const uint32_t *region = cf_u32(f, CF_REGION);
    uint32_t n = 0;

    for (uint32_t i = 0; i < f->rows; i++) {
        p->addr[n] = p->rows.addr[i];
        p->op[n] = p->rows.op[i];
        p->size[n] = p->rows.size[i];
        p->core[n] = p->core[i];
        p->frame_of[n] = p->frame_of[i];
        n += region[i] != 0;
    }
    p->outside += f->rows - n;
    p->rows.addr = p->addr;
    p->rows.op = p->op;
    p->rows.size = p->size;
    return n;
}

/* Accesses with a mapping, each on its core; how many. */
static uint32_t take(struct pages *p, const struct cf_frame *f)
{
    const uint64_t *time = cf_u64(f, CF_TIME);
    uint32_t end, core = 0, outside = 0;
    uint64_t space;

    p->rows.size = cf_u32(f, CF_SIZE);
    for (uint32_t i = 0; !p->rows.size && i < f->rows; i++)
        p->size[i] = 1;
    p->rows.size = p->rows.size ? p->rows.size : p->size;
    for (uint32_t i = 0; i < f->rows; i = end) {
        end = cf_cores_next(p->cores, f, i, f->rows, &core, &space);
        if (end <= i)
            cf_out_of_memory(&p->tool);
        if (space)
            cf_die(&p->tool, CF_EXIT_INPUT,
                   "several processes: pages are those of one: choose it by 'cf-select --pid'");
        if (time && !p->runs[core])
            p->first[core] = time[i];
        if (time)
            p->last[core] = time[end - 1];
        p->runs[core] = time != NULL;
        p->ran[core] = 1;
        p->rows.cores = core < p->rows.cores ? p->rows.cores : core + 1;
        memset(p->core + i, (int)core, end - i);
        outside += find_pages(p, f, i, end);
    }
    p->rows.frames = (uint32_t)cf_counts_size(p->frame);
    p->rows.addr = cf_u64(f, CF_ADDR);
    p->rows.op = cf_u8(f, CF_OP);
    if (!p->rows.op)
        p->rows.op = memset(p->op, CF_LOAD, f->rows);
    return outside ? drop(p, f) : f->rows;
}

int pages_next(struct pages *p)
{
    struct cf_frame *f;

    while (cf_tool_next(&p->tool, p->reader, &f) > 0) {
        if (f->table == CF_HEADER)
            header(p, f->header);
        if (f->table == CF_HEADER && !p->headers && cf_writer_frame(p->writer, f) != 0)
            return 0; /* cf_tool_finish() reports why */
        cf_turns_check(&p->turns, &p->tool, f, p->paged.cores);
        if (f->table != CF_ACCESS)
            continue;
        p->rows.rows = take(p, f);
        if (p->rows.rows)
            return 1;
    }
    return 0;
}

void pages_close(struct pages *p)
{
    end_segment(p);
    cf_cores_free(p->cores);
    cf_reader_close(p->reader);
    p->headers = 1;
}

uint64_t pages_runtime(const struct pages *p, const uint64_t *cycles)
{
    uint64_t most = 0;

    for (unsigned c = 0; c < p->paged.cores; c++) {
        most = p->before[c] + cycles[c] > most ? p->before[c] + cycles[c] : most;
    }
    return most;
}
