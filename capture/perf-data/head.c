/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * head.c - the head of a perf.data file, and what stands behind its records. A file has its events
 * before or behind the records and its features behind; what perf writes to a pipe has a head of 16
 * bytes, and the rest in records.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"

enum {
    PIPE_HEAD = 16,
    FILE_HEAD = 104,
    SECTION = 16,           /* bytes of an offset and a size */
    HEAD_MOST = 1 << 26,    /* bytes before the records */
    FEATURE_MOST = 1 << 24, /* bytes of one feature */
};

void perf_file_bad(struct perf_file *f, uint64_t at, const char *format, ...)
{
    char text[512];
    va_list list;

    cf_tool_note(f->tool, CF_EXIT_INPUT);
    if (f->told++ || f->in.failed)
        return;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    cf_warn(f->tool, "%s: byte %" PRIu64 ": %s", f->in.name, at, text);
}

int perf_file_magic(const uint8_t *bytes)
{
    return memcmp(bytes, "PERFILE2", 8) == 0 || memcmp(bytes, "2ELIFREP", 8) == 0;
}

void perf_file_more(struct perf_file *f, uint64_t at, const uint8_t *bytes)
{
    perf_file_bad(f, at,
                  bytes && perf_file_magic(bytes)
                      ? "another perf.data file begins here, and is not read: import each, and "
                        "join them by cf-merge"
                      : "what stands behind the end of the perf.data file is not read");
}

static int bad_head(struct perf_file *f, const char *what)
{
    perf_file_bad(f, 0, "%s", what);
    return -1;
}

static int cut_head(struct perf_file *f, size_t left)
{
    perf_file_bad(f, f->in.at + left, "the file was cut off in its head");
    return -1;
}

/* Bytes of a file: from its head, or from anywhere where it is seekable. */
static int bytes_at(const struct perf_file *f, const struct cf_bytes *head, uint64_t offset,
                    void *bytes, size_t n)
{
    if (offset <= head->used && n <= head->used - offset) {
        memcpy(bytes, head->data + offset, n);
        return 0;
    }
    return f->in.seekable ? perf_input_at(&f->in, offset, bytes, n) : -1;
}

static void events_reach(struct perf_file *f, uint64_t end)
{
    if (end > f->events_end)
        f->events_end = end;
}

static int read_ids(struct perf_file *f, const struct cf_bytes *head, uint64_t offset,
                    uint64_t bytes, uint32_t event)
{
    uint8_t id[8];

    if (bytes > HEAD_MOST || bytes % 8)
        return -1;
    for (uint64_t i = 0; i < bytes; i += 8) {
        if (offset > UINT64_MAX - i || bytes_at(f, head, offset + i, id, 8) != 0)
            return -1;
        perf_events_id(&f->events, perf_u64(&f->events, id), event);
    }
    if (bytes)
        events_reach(f, offset + bytes);
    return 0;
}

/* The events of a file, each with where its ids stand. */
static int read_events(struct perf_file *f, const struct cf_bytes *head)
{
    const uint64_t each = perf_u64(&f->events, head->data + 16);
    const uint64_t offset = perf_u64(&f->events, head->data + 24);
    const uint64_t bytes = perf_u64(&f->events, head->data + 32);
    uint8_t attr[4096];

    if (each < SECTION + 64 || each > sizeof attr || bytes % each ||
        bytes / each > PERF_EVENTS_MOST || bytes == 0)
        return bad_head(f, "its head gives its events no size that they can have");
    for (uint64_t i = 0; i < bytes; i += each) {
        const size_t size = (size_t)each - SECTION;
        int n;

        if (offset > UINT64_MAX - i || bytes_at(f, head, offset + i, attr, (size_t)each) != 0)
            return bad_head(f,
                            "its events are not where its head says: a file cut off, or one with "
                            "them behind its records, which must not come through a pipe");
        n = perf_events_add(&f->events, attr, size);
        if (n < 0 || read_ids(f, head, perf_u64(&f->events, attr + size),
                              perf_u64(&f->events, attr + size + 8), (uint32_t)n) != 0)
            return bad_head(f, "the ids of its events are not where its head says");
    }
    events_reach(f, offset + bytes);
    return 0;
}

static void read_feature_bits(struct perf_file *f, const uint8_t *bits)
{
    for (size_t i = 0; i < PERF_FEATURES / 64; i++)
        f->features[i] = perf_u64(&f->events, bits + 8 * i);
    /* where the other machine's words had 4 bytes; every file states a host */
    if (f->events.swap && !(f->features[0] >> PERF_FEATURE_HOST & 1))
        for (size_t i = 0; i < PERF_FEATURES / 64; i++)
            f->features[i] = f->features[i] << 32 | f->features[i] >> 32;
}

/* A file: all that stands before its records. */
static int read_file_head(struct perf_file *f, uint64_t head_size)
{
    struct cf_bytes head = {0};
    size_t left;
    int result = 0;

    if (head_size != FILE_HEAD)
        return bad_head(f, "its head has a length that no perf.data file of version 2 has");
    cf_must(f->tool, cf_bytes_room(&head, FILE_HEAD));
    do {
        const size_t want = head.used < FILE_HEAD        ? FILE_HEAD - head.used
                            : f->data - head.used < 4096 ? (size_t)(f->data - head.used)
                                                         : 4096;
        const uint8_t *part = perf_input_take(&f->in, want, &left);

        if (!part) {
            result = cut_head(f, left);
            break;
        }
        cf_must(f->tool, cf_bytes_add(&head, part, want));
        if (head.used == FILE_HEAD) {
            f->data = perf_u64(&f->events, head.data + 40);
            f->data_end = f->data + perf_u64(&f->events, head.data + 48);
            read_feature_bits(f, head.data + 72);
            if (f->data < FILE_HEAD || f->data > HEAD_MOST || f->data_end < f->data) {
                result = bad_head(f, "its head says that its records stand where none can be");
                break;
            }
        }
    } while (head.used < f->data);
    if (result == 0)
        result = read_events(f, &head);
    free(head.data);
    if (result == 0 && f->data_end == f->data) {
        f->data_end = 0;
        perf_file_bad(f, 48,
                      "its head states no records, as where perf record was killed: what "
                      "stands behind is read");
    }
    return result;
}

int perf_file_head(struct perf_file *f)
{
    static const uint16_t one = 1;
    const int big_here = *(const uint8_t *)&one == 0;
    size_t left;
    const uint8_t *at = perf_input_peek(&f->in, PIPE_HEAD, &left);
    uint64_t size;

    if (!at) {
        at = perf_input_peek(&f->in, left, &left);
        if (left >= 8 && !perf_file_magic(at))
            return bad_head(f, "this is no perf.data file");
        return cut_head(f, left);
    }
    if (memcmp(at, "PERFFILE", 8) == 0)
        return bad_head(f, "a perf.data file of version 1, of before 2009, is not read");
    if (!perf_file_magic(at))
        return bad_head(f, "this is no perf.data file: for perf's text there are cf-capture "
                           "perf-script and perf-mem");
    f->events.big = at[0] == '2';
    f->events.swap = f->events.big != big_here;
    size = perf_u64(&f->events, at + 8);
    if (size != PIPE_HEAD)
        return read_file_head(f, size);
    f->pipe = 1;
    return perf_input_skip(&f->in, PIPE_HEAD);
}

/* One feature that is of use: read, or the file is too short, which is reported elsewhere. */
static void read_feature(struct perf_file *f, unsigned feature, uint64_t offset, uint64_t bytes)
{
    uint8_t *data;

    if (bytes == 0 || bytes > FEATURE_MOST ||
        (feature > PERF_FEATURE_EVENTS || feature < PERF_FEATURE_BUILD_ID))
        return;
    data = cf_need(f->tool, malloc((size_t)bytes));
    if (perf_input_at(&f->in, offset, data, (size_t)bytes) == 0 &&
        perf_events_feature(&f->events, feature, data, (size_t)bytes) != 0)
        perf_file_bad(f, offset, "feature %u of its head is damaged", feature);
    free(data);
}

void perf_file_features(struct perf_file *f)
{
    uint64_t at = f->data_end;
    uint8_t section[SECTION];

    for (unsigned i = 0; i < PERF_FEATURES && f->data_end && f->in.seekable; i++) {
        if (!(f->features[i / 64] >> i % 64 & 1))
            continue;
        if (perf_input_at(&f->in, at, section, SECTION) != 0)
            return;
        read_feature(f, i, perf_u64(&f->events, section), perf_u64(&f->events, section + 8));
        at += SECTION;
    }
}

/* Where the file ends: with its features or, in one that is seekable, its events. */
static uint64_t file_end(const struct perf_file *f, const uint8_t *sections, unsigned count)
{
    uint64_t end = f->data_end + SECTION * (uint64_t)count;

    if (f->events_end > end)
        end = f->events_end;
    for (unsigned i = 0; i < count; i++) {
        const uint64_t offset = perf_u64(&f->events, sections + (size_t)SECTION * i);
        const uint64_t bytes = perf_u64(&f->events, sections + (size_t)SECTION * i + 8);

        if (bytes > UINT64_MAX - offset)
            return UINT64_MAX;
        if (offset + bytes > end)
            end = offset + bytes;
    }
    return end;
}

void perf_file_tail(struct perf_file *f)
{
    unsigned count = 0;
    const uint8_t *sections, *more;
    size_t left = 0;
    uint64_t end;

    if (f->pipe || f->told || !f->data_end || perf_input_caught() || f->in.failed)
        return;
    for (size_t i = 0; i < PERF_FEATURES / 64; i++)
        count += (unsigned)__builtin_popcountll(f->features[i]);
    sections = perf_input_take(&f->in, (size_t)SECTION * count, &left);
    end = sections ? file_end(f, sections, count) : UINT64_MAX;
    if (!sections || (end > f->in.at && perf_input_skip(&f->in, end - f->in.at) != 0)) {
        if (!perf_input_caught())
            perf_file_bad(f, f->in.at + (f->in.end - f->in.start),
                          "the file was cut off behind its records");
        return;
    }
    more = perf_input_peek(&f->in, 8, &left);
    if (left && !perf_input_caught())
        perf_file_more(f, end, more);
}
