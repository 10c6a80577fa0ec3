/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The index of a segment: lets a reader that wants a range of time go from one frame to the next
 * that it wants without reading what lies between. An index that is missing or damaged is not
 * used; then the heads of all frames are read.
 */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cf_reader.h"

static int read_at(const struct cf_reader *r, void *to, size_t n, uint64_t offset)
{
    return pread(r->fd, to, n, (off_t)offset) == (ssize_t)n ? 0 : -1;
}

/* Offset of the first index frame of the segment that starts at r->segment_start, and of the
   segment's end. The trailers lead from the end of the file to it, segment by segment. */
static int find_index(const struct cf_reader *r, uint64_t *at, uint64_t *end)
{
    struct stat st;
    uint64_t stop;

    if (fstat(r->fd, &st) != 0)
        return -1;
    for (stop = (uint64_t)st.st_size; stop > r->segment_start + CF_TRAILER_BYTES;) {
        uint8_t trailer[CF_TRAILER_BYTES];
        uint64_t back, bytes;

        if (read_at(r, trailer, sizeof(trailer), stop - sizeof(trailer)) != 0 ||
            memcmp(trailer + 24, CF_TRAILER_MAGIC, 8) != 0)
            return -1;
        back = cf_get64(trailer);
        bytes = cf_get64(trailer + 8);
        if (bytes < CF_TRAILER_BYTES || bytes > stop - r->segment_start || back > bytes)
            return -1;
        if (stop - bytes == r->segment_start) {
            *at = stop - back;
            *end = stop;
            return back ? 0 : -1;
        }
        stop -= bytes;
    }
    return -1;
}

static const uint8_t *raw_column(const uint8_t *frame, unsigned column, unsigned width)
{
    unsigned columns = cf_get16(frame + 10);
    uint32_t rows = cf_get32(frame + 12);
    size_t at = CF_FRAME_HEAD + (size_t)columns * CF_DESCRIPTOR;

    for (unsigned i = 0; i < columns; i++) {
        const uint8_t *d = frame + CF_FRAME_HEAD + (size_t)i * CF_DESCRIPTOR;
        uint32_t bytes = cf_get32(d + 4);

        if (cf_get16(d) == column)
            return d[3] == CF_RAW && bytes == (uint64_t)rows * width &&
                           XXH3_64bits(frame + at, cf_pad8(bytes)) == cf_get64(d + 16)
                       ? frame + at
                       : NULL;
        at += cf_pad8(bytes);
    }
    return NULL;
}

/* Takes in one index frame of which all bytes are there. */
static int take_entries(struct cf_reader *r, const uint8_t *frame, uint64_t end)
{
    const uint8_t *offset = raw_column(frame, CF_OFFSET, 8), *id = raw_column(frame, CF_ID, 4);
    const uint8_t *rows = raw_column(frame, CF_ROWS, 8), *first = raw_column(frame, CF_FIRST, 8);
    const uint8_t *last = raw_column(frame, CF_LAST, 8);
    uint32_t n = cf_get32(frame + 12);
    struct cf_index_entry *p;

    if (!offset || !id || !rows || !first || !last || !n)
        return -1;
    p = realloc(r->entry, (r->entries + n) * sizeof(*p));
    if (!p)
        return -1;
    r->entry = p;
    for (uint32_t i = 0; i < n; i++) {
        struct cf_index_entry *e = &r->entry[r->entries];
        uint64_t from = cf_get64(offset + 8 * (size_t)i);

        e->offset = r->segment_start + from;
        e->table = cf_get32(id + 4 * (size_t)i);
        e->rows = (uint32_t)cf_get64(rows + 8 * (size_t)i);
        e->first = cf_get64(first + 8 * (size_t)i);
        e->last = cf_get64(last + 8 * (size_t)i);
        if (from & 7 || from > end - r->segment_start || (r->entries && e->offset <= e[-1].offset))
            return -1;
        r->entries++;
    }
    return 0;
}

void cfr_load_index(struct cf_reader *r)
{
    uint64_t at, end;
    int good = 1;

    r->entries = 0;
    r->next_entry = 0;
    if (!r->ranged || !r->seekable || find_index(r, &at, &end) != 0)
        return;
    while (good && at + CF_FRAME_HEAD < end) {
        uint8_t head[CF_FRAME_HEAD], *frame;
        const char *why;
        size_t bytes;

        good = read_at(r, head, sizeof(head), at) == 0;
        if (!good || cf_get16(head + 8) != CF_INDEX)
            break;
        bytes = cf_get32(head + 4);
        good = bytes >= sizeof(head) && bytes <= CF_MAX_FRAME && bytes <= end - at;
        frame = good ? malloc(bytes) : NULL;
        good = frame && read_at(r, frame, bytes, at) == 0 &&
               cfr_check_head(frame, bytes, &why) == bytes && take_entries(r, frame, end) == 0;
        free(frame);
        at += bytes;
    }
    if (!good)
        r->entries = 0;
}

int cfr_out_of_range(const struct cf_reader *r, unsigned table, uint64_t first, uint64_t last)
{
    return r->ranged && (table == CF_ACCESS || table == CF_LINE) &&
           (first || last) && /* lines have no time of their own */
           (last < r->from || first > r->to);
}

void cfr_jump(struct cf_reader *r)
{
    uint64_t here = r->base + r->pos;

    while (r->next_entry < r->entries && r->entry[r->next_entry].offset < here)
        r->next_entry++;
    if (r->next_entry >= r->entries || r->entry[r->next_entry].offset != here)
        return;
    while (r->next_entry + 1 < r->entries) {
        const struct cf_index_entry *e = &r->entry[r->next_entry];

        if (!cfr_out_of_range(r, e->table, e->first, e->last))
            break;
        cfr_count_rows(r, e->table, e->rows);
        r->number++;
        r->next_entry++;
    }
    if (r->entry[r->next_entry].offset != here)
        cfr_skip(r, r->entry[r->next_entry].offset - here);
}
