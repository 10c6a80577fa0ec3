/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The index of a segment: lets a reader that wants a range of time go from one frame to the next
 * that it wants without reading what lies between. An index that is missing or damaged is not
 * used; then the heads of all frames are read.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/base/cf_memory.h"
#include "cf_reader.h"

static int read_at(const struct cf_reader *r, void *to, size_t n, uint64_t offset)
{
    return pread(r->fd, to, n, (off_t)offset) == (ssize_t)n ? 0 : -1;
}

/* Offset of the first index frame of the segment that starts at r->segment_start, and of the
   segment's end. The trailers lead from the end of the file to it, segment by segment: where these
   are many, that takes longer than to do without an index. */
static int find_index(struct cf_reader *r, uint64_t *at, uint64_t *end)
{
    struct stat st;
    uint64_t stop;

    if (fstat(r->fd, &st) != 0)
        return -1;
    stop = (uint64_t)st.st_size;
    if (r->span_to && r->span_to < stop)
        stop = r->span_to;
    while (stop > r->segment_start + CF_TRAILER_BYTES && r->trailers++ < TRAILERS_MOST) {
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
                           cf_checksum(frame + at, cf_pad8(bytes)) == cf_get64(d + 16)
                       ? frame + at
                       : NULL;
        at += cf_pad8(bytes);
    }
    return NULL;
}

/* Takes in one index frame of which all bytes are there: 0, -1, or -2 without memory. */
static int take_entries(struct cf_reader *r, const uint8_t *frame, uint64_t end)
{
    const uint8_t *offset = raw_column(frame, CF_OFFSET, 8), *id = raw_column(frame, CF_ID, 4);
    const uint8_t *rows = raw_column(frame, CF_ROWS, 8), *first = raw_column(frame, CF_FIRST, 8);
    const uint8_t *last = raw_column(frame, CF_LAST, 8);
    uint32_t n = cf_get32(frame + 12);

    if (!offset || !id || !rows || !first || !last || !n)
        return -1;
    if (cf_array_room(&r->entry, &r->entry_room, r->entries + n, sizeof(*r->entry)) != 0)
        return -2;
    for (uint32_t i = 0; i < n; i++) {
        struct cf_index_entry *e = &r->entry[r->entries];
        const uint64_t from = cf_get64(offset + 8 * (size_t)i);
        const uint64_t count = cf_get64(rows + 8 * (size_t)i);

        e->offset = r->segment_start + from;
        e->table = cf_get32(id + 4 * (size_t)i);
        e->rows = (uint32_t)count;
        e->first = cf_get64(first + 8 * (size_t)i);
        e->last = cf_get64(last + 8 * (size_t)i);
        if (from & 7 || from > end - r->segment_start || e->table > UINT16_MAX ||
            count > CF_FILE_ROWS || (r->entries && e->offset <= e[-1].offset))
            return -1;
        r->entries++;
    }
    return 0;
}

int cfr_index_of(struct cf_reader *r, uint64_t start, uint64_t at, uint64_t end, uint64_t *after)
{
    int good = 1, taken = 0;

    r->segment_start = start;
    r->entries = 0;
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
               cfr_check_head(frame, bytes, &why) == bytes;
        taken = good ? take_entries(r, frame, end) : 0;
        good = good && taken == 0;
        free(frame);
        at += bytes;
    }
    if (!good)
        r->entries = 0;
    *after = at;
    return taken ? taken : r->entries ? 0 : -1;
}

int cfr_index_ends(const struct cf_reader *r, const struct cf_index_entry *entry, size_t entries,
                   uint64_t at, uint64_t end)
{
    const size_t bytes = (size_t)(end - at);
    uint8_t *frame = bytes <= CF_MAX_FRAME ? malloc(bytes) : NULL;
    uint64_t *count = calloc(1 << 16, sizeof(*count)), stated = 0, listed = 0;
    const uint8_t *id, *rows;
    const char *why;
    int same;

    same = frame && count && read_at(r, frame, bytes, at) == 0 &&
           cfr_check_head(frame, bytes, &why) == bytes && cf_get16(frame + 8) == CF_END;
    id = same ? raw_column(frame, CF_ID, 4) : NULL;
    rows = same ? raw_column(frame, CF_ROWS, 8) : NULL;
    same = id && rows;
    for (size_t i = 0; same && i < entries; i++) { /* of tables below 65536 */
        count[entry[i].table] += entry[i].rows;
        listed += entry[i].rows;
    }
    for (uint32_t i = 0; same && i < cf_get32(frame + 12); i++) {
        const uint32_t table = cf_get32(id + 4 * (size_t)i);

        same = table < 1 << 16 && count[table] == cf_get64(rows + 8 * (size_t)i);
        stated += same ? count[table] : 0;
    }
    free(frame);
    free(count);
    return same && stated == listed;
}

void cfr_load_index(struct cf_reader *r)
{
    uint64_t at = 0, end = 0;

    if (r->plan) /* which has them all */
        return;
    r->entries = 0;
    r->next_entry = 0;
    if (r->ranged && r->seekable && find_index(r, &at, &end) == 0)
        (void)cfr_index_of(r, r->segment_start, at, end, &at);
}

/* Whether the segment is one of a part, or of a partial result. What is wrong with its header, is
   found when it is read. */
static int is_of_part(const struct cf_reader *r, uint64_t start)
{
    uint8_t head[CF_SEGMENT_HEAD];
    const uint32_t bytes = read_at(r, head, sizeof(head), start) == 0 ? cf_get32(head + 12) : 0;
    char *yaml = bytes && bytes <= CF_MAX_HEADER ? malloc(bytes) : NULL, problem[256];
    struct cf_header h = {0};
    struct cf_part part;
    int result = 0;

    if (yaml && read_at(r, yaml, bytes, start + sizeof(head)) == 0 &&
        cf_header_parse(&h, yaml, bytes, problem, sizeof(problem)) == 0) {
        result = cf_header_fact(&h, "partial", "program") ||
                 (cf_header_part(&h, &part) == 1 && part.parts > 1);
        cf_header_clear(&h);
    }
    free(yaml);
    return result;
}

/* Whether the end frame, which says that there are no rows, follows the header of the segment. */
static int is_without_rows(const struct cf_reader *r, uint64_t start, uint64_t end)
{
    uint8_t head[CF_SEGMENT_HEAD];
    uint64_t at;

    if (read_at(r, head, sizeof(head), start) != 0)
        return 0;
    at = start + sizeof(head) + cf_pad8(cf_get32(head + 12));
    return at < end && cfr_index_ends(r, NULL, 0, at, end);
}

/* Widens [*first, *last] by the frames of a table of the segments of a file, from its last to its
   first. 1 where there are any, 0 where there are none, -1 without an index, -2 of a part. */
static int times_of(struct cf_reader *r, unsigned table, uint64_t *first, uint64_t *last)
{
    uint64_t stop = r->size;
    int any = 0;

    while (stop) {
        uint8_t trailer[CF_TRAILER_BYTES];
        uint64_t back, bytes;

        if (stop < sizeof(trailer) ||
            read_at(r, trailer, sizeof(trailer), stop - sizeof(trailer)) != 0 ||
            memcmp(trailer + 24, CF_TRAILER_MAGIC, 8) != 0)
            return -1;
        back = cf_get64(trailer);
        bytes = cf_get64(trailer + 8);
        if (bytes < CF_TRAILER_BYTES || bytes > stop || back > bytes)
            return -1;
        r->entries = 0;
        if (back ? cfr_index_of(r, stop - bytes, stop - back, stop, &back) != 0
                 : !is_without_rows(r, stop - bytes, stop))
            return -1;
        for (size_t i = 0; i < r->entries; i++) {
            const struct cf_index_entry *e = &r->entry[i];

            if (e->table != table)
                continue;
            any = 1;
            *first = e->first < *first ? e->first : *first;
            *last = e->last > *last ? e->last : *last;
        }
        stop -= bytes;
        if (is_of_part(r, stop))
            return -2;
    }
    return any;
}

int cf_reader_times(const struct cf_reader *r, uint64_t *first, uint64_t *last)
{
    static const unsigned table[] = {CF_ACCESS, CF_SNAPSHOT};
    int any = 0;

    *first = UINT64_MAX;
    *last = 0;
    for (unsigned t = 0; t < sizeof(table) / sizeof(table[0]) && !any; t++)
        for (int i = 0; i < r->count && any >= 0; i++) {
            const int standard = !strcmp(r->files[i], "-");
            struct cf_reader one = {.fd = standard ? STDIN_FILENO
                                                   : open(r->files[i], O_RDONLY | O_CLOEXEC)};
            struct stat st;
            int has = -1;

            if (one.fd >= 0 && fstat(one.fd, &st) == 0 && S_ISREG(st.st_mode)) {
                one.size = (uint64_t)st.st_size;
                has = times_of(&one, table[t], first, last);
            }
            any = has < 0 ? has : any | has;
            free(one.entry);
            if (one.fd >= 0 && !standard)
                close(one.fd);
        }
    return any;
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

        if (!cfr_part_skips(r, r->next_entry) && !cfr_out_of_range(r, e->table, e->first, e->last))
            break;
        cfr_count_rows(r, e->table, e->rows);
        r->number++;
        r->next_entry++;
    }
    if (r->entry[r->next_entry].offset != here)
        cfr_skip(r, r->entry[r->next_entry].offset - here);
}

static void index_wrong(struct cf_reader *r, const char *what, uint64_t row)
{
    cfr_damage(r, r->frame.offset, "row %llu of the index: %s: pack the stream anew by cf-cat",
               (unsigned long long)row, what);
}

/* The rows of an index frame against the frames that came. */
static void check_rows(struct cf_reader *r)
{
    const uint8_t *frame =
        (const uint8_t *)r->frame.column[0].wire - CF_FRAME_HEAD - r->frame.columns * CF_DESCRIPTOR;
    const size_t before = r->entries;
    const int result = take_entries(r, frame, UINT64_MAX);
    size_t n;

    if (result == -2)
        cfr_refuse(r, ENOMEM);
    if (result != 0) {
        index_wrong(r, "cannot be read", r->index_rows + 1);
        r->entries = before;
        return;
    }
    n = r->entries - before;
    for (size_t i = 0; i < n; i++, r->index_rows++) {
        const struct cf_index_entry *e = &r->entry[before + i], *f;

        if (r->index_rows >= r->seens) {
            index_wrong(r, "there is no such frame", r->index_rows + 1);
            break;
        }
        f = &r->seen[r->index_rows];
        if (e->offset != f->offset || e->table != f->table || e->rows != f->rows ||
            e->first != f->first || e->last != f->last) {
            index_wrong(r, "is not what the frame is", r->index_rows + 1);
            break;
        }
    }
    r->entries = before;
}

void cfr_check_index(struct cf_reader *r)
{
    const struct cf_frame *f = &r->frame;

    if (f->table == CF_INDEX) {
        if (r->index_at == UINT64_MAX)
            r->index_at = f->offset;
        if (r->check_index && !r->lost && f->columns)
            check_rows(r);
        return;
    }
    if (!r->check_index)
        return;
    if (cfr_room(r, &r->seen, &r->seen_room, r->seens + 1, sizeof(*r->seen)) == 0)
        r->seen[r->seens++] =
            (struct cf_index_entry){f->offset, f->first, f->last, f->table, f->rows};
}

void cfr_check_trailer(struct cf_reader *r, const uint8_t *trailer, size_t bytes, uint64_t end)
{
    const char *what = NULL;

    if (!trailer || bytes != CF_TRAILER_BYTES || memcmp(trailer + 24, CF_TRAILER_MAGIC, 8) != 0 ||
        cf_get64(trailer + 16) & ~(uint64_t)CF_TRAILER_WANTING)
        what = "is none";
    else if (cf_get64(trailer + 8) != end - r->segment_start)
        what = "states another length of the segment";
    else if (cf_get64(trailer) != (r->index_at == UINT64_MAX ? 0 : end - r->index_at))
        what = "states another place of the index";
    else if (r->check_index && r->index_at != UINT64_MAX && r->index_rows != r->seens)
        what = "stands behind an index of other frames";
    if (what)
        cfr_damage(r, r->frame.offset,
                   "the end frame's trailer %s: frames were moved or are missing", what);
    if (what || !cf_get64(trailer + 16))
        return;
    r->wanting++;
    cfr_damage(r, r->frame.offset,
               "what wrote it says that its own input was cut off, damaged or not what it needs");
}
