/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parts of the inputs by their indexes (cf-stream(5), "Parts"): the frames of rows that are counted
 * are shared out among the parts; those of rows that later ones need, every part has from the
 * beginning. A reader of one part goes over the frames of other parts without reading them.
 *
 * The plan, which is all index entries in the order of the inputs, is made before anything is read:
 * an index that does not say what the end frame says is refused then, and one that does not say
 * what a frame says is damage when that is read.
 *
 * Memory: 40 bytes a frame.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cf_reader.h"

static const char fact[] = "part";

struct segment {
    uint64_t start, index, end; /* offsets in the input; index 0: there are no frames */
    size_t first, entries;      /* in the plan's */
    int input;
};

struct cfr_plan {
    struct cf_part part;
    struct cf_index_entry *entry; /* of all segments */
    size_t entries, entry_room;
    struct segment *segment;
    size_t segments, segment_room, here; /* the segment at hand */
    size_t from, to;                     /* entries that are the part's own */
    XXH3_state_t sum;
};

int cf_table_repeats(unsigned table)
{
    const unsigned traits = cf_table_traits(table);

    return table == CF_STRING || table == CF_NAME || table == CF_SNAPSHOT ||
           traits & CF_TABLE_HOLDS || (traits & CF_TABLE_BEFORE && !(traits & CF_TABLE_TIMED));
}

void cfr_free_plan(struct cfr_plan *p)
{
    if (!p)
        return;
    free(p->entry);
    free(p->segment);
    free(p);
}

/* ---- what the indexes say ---- */

enum { GOOD = 0, NO_INDEX = -1, UNREADABLE = -2 };

static int without_index(struct cf_reader *r, const char *why)
{
    cfr_damage(r, UINT64_MAX,
               "%s: a part is found by the index of a file: store it by 'cf-cat -o FILE', and name "
               "that",
               why);
    return NO_INDEX;
}

/* Adds bytes of the input at hand to the sum. */
static int add_bytes(struct cf_reader *r, uint64_t from, uint64_t to)
{
    uint8_t bytes[4096];

    while (from < to) {
        const size_t n = to - from < sizeof(bytes) ? (size_t)(to - from) : sizeof(bytes);

        if (pread(r->fd, bytes, n, (off_t)from) != (ssize_t)n)
            return -1;
        XXH3_64bits_update(&r->plan->sum, bytes, n);
        from += n;
    }
    return 0;
}

/* Adds what the heads of the segment's frames say of their contents. */
static int add_frames(struct cf_reader *r, const struct segment *s)
{
    const struct cf_index_entry *e = s->entries ? r->plan->entry + s->first : NULL;
    int failed = 0;

    for (size_t i = 0; i < s->entries && !failed; i++)
        failed = add_bytes(r, e[i].offset + CF_FRAME_SUM, e[i].offset + CF_FRAME_HEAD);
    return failed;
}

/* Takes in the index of a segment, and adds what makes it this one to the sum. */
static int take_segment(struct cf_reader *r, struct segment *s)
{
    struct cfr_plan *p = r->plan;
    uint8_t head[CF_SEGMENT_HEAD];
    uint64_t begin, at;
    int result;

    if (pread(r->fd, head, sizeof(head), (off_t)s->start) != sizeof(head) ||
        memcmp(head, CF_SEGMENT_MAGIC, 8) != 0)
        return -1;
    begin = s->start + sizeof(head) + cf_pad8(cf_get32(head + 12));
    if (begin > s->end)
        return -1;
    s->first = p->entries;
    s->entries = 0;
    at = begin;
    if (s->index) {
        result = cfr_index_of(r, s->start, s->index, s->end, &at);
        if (result == -2 ||
            (result == 0 && cf_array_room(&p->entry, &p->entry_room, p->entries + r->entries,
                                          sizeof(*p->entry)) != 0))
            return -2;
        if (result != 0 || r->entry[0].offset != begin)
            return -1;
        memcpy(p->entry + p->entries, r->entry, r->entries * sizeof(*p->entry));
        p->entries += r->entries;
        s->entries = r->entries;
    }
    if (!cfr_index_ends(r, s->entries ? p->entry + s->first : NULL, s->entries, at, s->end))
        return -1;
    return add_bytes(r, s->start, begin) || add_frames(r, s) ||
                   add_bytes(r, s->index ? s->index : at, s->end)
               ? -1
               : 0;
}

/* Notes where the segments of the input at hand stand, which its trailers say from the last to the
   first. */
static int find_segments(struct cf_reader *r, uint64_t start, uint64_t stop, int input)
{
    struct cfr_plan *p = r->plan;
    const size_t before = p->segments;

    while (stop > start) {
        uint8_t trailer[CF_TRAILER_BYTES];
        uint64_t back, bytes;

        if (stop - start < sizeof(trailer) ||
            pread(r->fd, trailer, sizeof(trailer), (off_t)(stop - sizeof(trailer))) !=
                sizeof(trailer) ||
            memcmp(trailer + 24, CF_TRAILER_MAGIC, 8) != 0)
            return -1;
        back = cf_get64(trailer);
        bytes = cf_get64(trailer + 8);
        if (bytes < CF_SEGMENT_HEAD + CF_TRAILER_BYTES || bytes > stop - start || back > bytes)
            return -1;
        if (cf_array_room(&p->segment, &p->segment_room, p->segments + 1, sizeof(*p->segment)) != 0)
            return -2;
        p->segment[p->segments++] =
            (struct segment){stop - bytes, back ? stop - back : 0, stop, 0, 0, input};
        stop -= bytes;
    }
    for (size_t i = before, k = p->segments; i + 1 < k; i++) {
        const struct segment s = p->segment[i];

        p->segment[i] = p->segment[--k];
        p->segment[k] = s;
    }
    return p->segments > before ? 0 : -1;
}

static int plan_input(struct cf_reader *r, int input, uint64_t size)
{
    const size_t before = r->plan->segments;
    off_t start = 0;
    int result;

    if (!strcmp(r->files[input], "-"))
        start = lseek(r->fd, 0, SEEK_CUR);
    result = find_segments(r, (uint64_t)start, size, input);
    for (size_t i = before; i < r->plan->segments && !result; i++)
        result = take_segment(r, &r->plan->segment[i]);
    if (result == -1)
        return without_index(r, "has no index, or one that does not hold");
    if (result == -2) {
        cfr_refuse(r, ENOMEM);
        return UNREADABLE;
    }
    r->plan->part.bytes += size - (uint64_t)start;
    return GOOD;
}

/* Opens an input. A pipe is not even opened: what writes to it would see a reader come and go. */
static int open_input(struct cf_reader *r, const char *file, uint64_t *size)
{
    const int standard = !strcmp(file, "-");
    struct stat st;
    const int failed = standard ? fstat(STDIN_FILENO, &st) : stat(file, &st);

    r->name = cfr_name(file);
    if (!failed && S_ISDIR(st.st_mode)) {
        cfr_damage(r, UINT64_MAX, "is a directory: name files");
        return UNREADABLE;
    }
    if (!failed && !S_ISREG(st.st_mode))
        return without_index(r, "is no file");
    r->fd = failed ? -1 : standard ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (r->fd >= 0) {
        *size = (uint64_t)st.st_size;
        return GOOD;
    }
    if (cf_is_refusal(errno))
        cfr_refuse(r, errno);
    else
        cfr_damage(r, UINT64_MAX, "%s", strerror(errno));
    return UNREADABLE;
}

static int plan_inputs(struct cf_reader *r)
{
    int result = GOOD;

    XXH3_64bits_reset(&r->plan->sum);
    for (int i = 0; i < r->count && result == GOOD; i++) {
        uint64_t size;

        result = open_input(r, r->files[i], &size);
        if (result != GOOD)
            break;
        result = plan_input(r, i, size);
        if (r->fd != STDIN_FILENO)
            close(r->fd);
        r->fd = -1;
    }
    free(r->entry);
    r->entry = NULL;
    r->entries = r->entry_room = 0;
    snprintf(r->plan->part.input, sizeof(r->plan->part.input), "%016" PRIx64,
             (uint64_t)XXH3_64bits_digest(&r->plan->sum));
    return result;
}

/* ---- the share of a part ---- */

/* By rows of accesses or, where there are none, by all rows that are counted. */
static int weighs(const struct cf_index_entry *e, int accesses)
{
    return accesses ? e->table == CF_ACCESS && e->rows : !cf_table_repeats(e->table) && e->rows;
}

/* The part that a frame of `rows` rows belongs to, with so many before it of `all`: that in which
   its middle lies. */
static uint64_t part_of(uint64_t before, uint64_t rows, uint64_t all, uint64_t parts)
{
    return (uint64_t)((unsigned __int128)(2 * before + rows) * parts / (2 * all));
}

/* Frames that do not weigh go with the next that does, or the last one. */
static void share(struct cfr_plan *p)
{
    uint64_t all = 0, before = 0, parts, frames = 0, frame = 0, own = p->part.number - 1;
    int accesses = 0;

    for (size_t i = 0; i < p->entries; i++)
        accesses |= weighs(&p->entry[i], 1);
    for (size_t i = 0; i < p->entries; i++)
        if (weighs(&p->entry[i], accesses)) {
            all += p->entry[i].rows;
            frames++;
        }
    /* where there are more parts than frames, the last ones are empty */
    parts = frames < p->part.parts ? frames : p->part.parts;
    p->from = p->to = 0;
    for (size_t i = 0; i < p->entries; i++) {
        const struct cf_index_entry *e = &p->entry[i];
        uint64_t mine;

        if (!weighs(e, accesses))
            continue;
        /* not more parts than frames: one each */
        mine = parts == frames ? frame++ : part_of(before, e->rows, all, parts);
        before += e->rows;
        if (mine < own)
            p->from = i + 1;
        if (mine <= own)
            p->to = i + 1;
    }
    if (own + 1 >= parts)
        p->to = p->entries;
    if (own && own >= parts)
        p->from = p->entries;
    for (size_t i = 0; i < p->from; i++)
        p->part.before += p->entry[i].table == CF_ACCESS ? p->entry[i].rows : 0;
}

/* Bytes of what will be read, for the progress that programs show. */
static uint64_t bytes_of(const struct cfr_plan *p)
{
    uint64_t bytes = 0;

    for (size_t k = 0; k < p->segments; k++) {
        const struct segment *s = &p->segment[k];

        for (size_t i = s->first; i < s->first + s->entries && i < p->to; i++)
            if (i >= p->from || cf_table_repeats(p->entry[i].table))
                bytes += (i + 1 < s->first + s->entries ? p->entry[i + 1].offset : s->index) -
                         p->entry[i].offset;
    }
    return bytes;
}

int cf_reader_part(struct cf_reader *r, uint32_t number, uint32_t parts)
{
    int result;

    if (!number || number > parts || parts > CF_MAX_PARTS) {
        cfr_damage(r, UINT64_MAX, "there is no part %u of %u", number, parts);
        return NO_INDEX;
    }
    r->plan = calloc(1, sizeof(*r->plan));
    if (!r->plan) {
        cfr_refuse(r, ENOMEM);
        return UNREADABLE;
    }
    r->plan->part.number = number;
    r->plan->part.parts = parts;
    result = plan_inputs(r);
    if (result != GOOD)
        return result;
    share(r->plan);
    r->size = bytes_of(r->plan);
    r->entry = r->plan->entry;
    r->plan->entry = NULL;
    return GOOD;
}

/* ---- while the part is read ---- */

/* Nothing more of any input is wanted. */
static int end_part(struct cf_reader *r)
{
    cfr_close_input(r);
    r->next_file = r->count;
    r->in_segment = 0;
    return 0;
}

int cfr_part_begins(struct cf_reader *r, uint64_t offset)
{
    struct cfr_plan *p = r->plan;
    size_t i = p ? p->here : 0;

    if (!p)
        return 1;
    while (i < p->segments &&
           (p->segment[i].input != r->next_file - 1 || p->segment[i].start != offset))
        i++;
    if (i == p->segments) {
        cfr_damage(r, offset, "the index knows no such segment: was the file changed meanwhile?");
        return end_part(r);
    }
    p->here = i;
    r->next_entry = p->segment[i].first;
    r->entries = p->segment[i].first + p->segment[i].entries;
    /* the first begins a part that has no frames, too, so that it has a header */
    return i && p->to < p->entries && p->segment[i].first >= p->to ? end_part(r) : 1;
}

int cfr_part_skips(const struct cf_reader *r, size_t entry)
{
    return r->plan && entry < r->plan->from && !cf_table_repeats(r->entry[entry].table);
}

int cfr_part_leaves(const struct cf_reader *r)
{
    return r->plan && r->next_entry < r->entries &&
           r->entry[r->next_entry].offset == r->base + r->pos && cfr_part_skips(r, r->next_entry);
}

int cfr_part_ends(struct cf_reader *r)
{
    if (!r->plan || r->plan->to == r->plan->entries || r->next_entry < r->plan->to)
        return 0;
    (void)end_part(r);
    return 1;
}

int cfr_part_frame(struct cf_reader *r)
{
    const uint64_t here = r->base + r->pos;
    const uint8_t *p = r->buf + r->pos;
    const unsigned table = cf_get16(p + 8);
    const struct cf_index_entry *e = r->next_entry < r->entries ? &r->entry[r->next_entry] : NULL;

    if (!r->plan || r->lost ||
        (e ? e->offset == here && e->table == table && e->rows == cf_get32(p + 12)
           : table == CF_INDEX || table == CF_END))
        return 1;
    cfr_damage(r, here,
               "the index does not say what the frames are: pack the stream anew by cf-cat");
    return end_part(r);
}

/* ---- facts ---- */

static int state(struct cf_reader *r, const char *key, const char *text, uint64_t number)
{
    char digits[24];

    snprintf(digits, sizeof(digits), "%" PRIu64, number);
    if (cf_facts_refuse(&r->header.facts, fact, key)) {
        cfr_damage(r, r->segment_start, "%s", cf_facts_refuse(&r->header.facts, fact, key));
        return -1;
    }
    if (cf_facts_add(&r->header.facts, fact, key, text ? text : digits, !text) == 0)
        return 0;
    cfr_refuse(r, ENOMEM);
    return -1;
}

/* The rows of a table before the part, in the segment at hand. */
static uint64_t rows_before(const struct cf_reader *r, unsigned table)
{
    const struct cfr_plan *p = r->plan;
    const struct segment *s = &p->segment[p->here];
    uint64_t rows = 0;

    for (size_t i = s->first; i < s->first + s->entries && i < p->from; i++)
        rows += r->entry[i].table == table ? r->entry[i].rows : 0;
    return rows;
}

void cfr_part_header(struct cf_reader *r)
{
    const struct cf_part *part = r->plan ? &r->plan->part : NULL;
    int result;

    if (!part)
        return;
    if (cf_header_fact(&r->header, fact, "number")) {
        cfr_damage(r, r->segment_start, "is a part itself: take parts of the whole file");
        (void)end_part(r);
        return;
    }
    result = state(r, "number", NULL, part->number) | state(r, "parts", NULL, part->parts) |
             state(r, "input", part->input, 0) | state(r, "bytes", NULL, part->bytes) |
             state(r, "before", NULL, part->before) | state(r, "chain", NULL, r->header.chain);
    for (unsigned table = CF_TASK; table < CF_ACCESS && !result; table++)
        if (cf_table_repeats(table) && rows_before(r, table))
            result = state(r, cf_table_name(table), NULL, rows_before(r, table));
    r->header.restated = 1;
    if (result)
        (void)end_part(r);
}

int cf_header_part(const struct cf_header *h, struct cf_part *part)
{
    const char *input = cf_header_fact(h, fact, "input");

    memset(part, 0, sizeof(*part));
    if (!cf_header_fact(h, fact, "number"))
        return 0;
    if (!input || strlen(input) >= sizeof(part->input) ||
        cf_header_number(h, fact, "number", &part->number) != 1 ||
        cf_header_number(h, fact, "parts", &part->parts) != 1 ||
        cf_header_number(h, fact, "bytes", &part->bytes) != 1 ||
        cf_header_number(h, fact, "before", &part->before) != 1 ||
        cf_header_number(h, fact, "chain", &part->chain) != 1 || !part->number ||
        part->number > part->parts || part->parts > CF_MAX_PARTS)
        return -1;
    strcpy(part->input, input);
    return 1;
}

uint64_t cf_header_repeated(const struct cf_header *h, unsigned table)
{
    uint64_t rows;

    return cf_table_repeats(table) && cf_table_name(table) &&
                   cf_header_number(h, fact, cf_table_name(table), &rows) == 1
               ? rows
               : 0;
}
