/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * snapshots.c - a walk through a stream of snapshots (see snapshots.h).
 *
 * In: frames. Out: events. The announcements form a queue. Lines of number n end the announcements
 * of lower numbers, which were of empty snapshots; numbers rise in a segment. Runs of rows that
 * share number and level are found a piece at a time.
 */
#include <stdlib.h>
#include <string.h>

#include "filters/engine/snapshot/snapshots.h"
#include "formats/base/cf_memory.h"

enum { PIECE = 2048, LEVELS = 256 };

struct cf_snapshots {
    int first;     /* the level of the first event is wanted, */
    uint8_t level; /* or this one; 0 = all */
    uint32_t segment;
    int ending; /* a header has come, or the end of the input */
    int over;
    struct cf_snapshot *queue;
    size_t head, count, room;
    int begun; /* there is a current snapshot */
    uint32_t number;
    struct cf_snapshot common;       /* what was announced of the current one for no level */
    struct cf_snapshot open[LEVELS]; /* of the current number */
    uint8_t is_open[LEVELS];
    /* levels that were opened and of which no event was given */
    uint8_t unreported[LEVELS];
    unsigned unreported_at, unreported_count;
    /* lines at hand; NULL = none */
    const struct cf_frame *frame;
    const uint32_t *snap;
    const uint8_t *levels;
    uint32_t at;
    uint64_t passed_over;
};

struct cf_snapshots *cf_snapshots_new(unsigned level)
{
    struct cf_snapshots *s = calloc(1, sizeof *s);

    if (s) {
        s->first = level == CF_SNAPSHOTS_FIRST;
        s->level = s->first ? 0 : (uint8_t)level;
    }
    return s;
}

void cf_snapshots_free(struct cf_snapshots *s)
{
    if (s)
        free(s->queue);
    free(s);
}

void cf_snapshots_want(struct cf_reader *r)
{
    cf_reader_want_each(r, CF_SNAPSHOT, CF_OPTIONAL, CF_SNAP, CF_TIME, CF_MODE, CF_LEVEL,
                        CF_COST_TOTAL, CF_SETS, CF_WAYS);
    cf_reader_want(r, CF_LINE, 0, CF_REQUIRED);
    cf_reader_refuse_parts(r);
    cf_reader_want_each(r, CF_LINE, CF_OPTIONAL, CF_SNAP, CF_LEVEL);
}

unsigned cf_snapshots_level(const struct cf_snapshots *s)
{
    return s->level;
}

uint64_t cf_snapshots_passed_over(const struct cf_snapshots *s)
{
    return s->passed_over;
}

static int wanted(const struct cf_snapshots *s, uint8_t level)
{
    return !s->level || level == s->level;
}

static void note_level(struct cf_snapshots *s, uint8_t level)
{
    if (s->first && !s->level)
        s->level = level;
}

static void open_level(struct cf_snapshots *s, const struct cf_snapshot *one, uint8_t level)
{
    if (s->is_open[level])
        return;
    s->is_open[level] = 1;
    s->open[level] = *one;
    s->open[level].level = level;
    if (wanted(s, level))
        s->unreported[s->unreported_count++] = level;
}

static void start(struct cf_snapshots *s, uint32_t number)
{
    s->begun = 1;
    s->number = number;
    s->common = (struct cf_snapshot){.number = number, .segment = s->segment};
    memset(s->is_open, 0, sizeof s->is_open);
}

/* Takes the announcements of the first number in the queue. One for no level says when, and is of
   the levels that come. */
static void take_first(struct cf_snapshots *s)
{
    const uint32_t number = s->queue[s->head].number;

    start(s, number);
    while (s->head < s->count && s->queue[s->head].number == number) {
        const struct cf_snapshot *one = &s->queue[s->head++];

        if (!one->level)
            s->common = *one;
        else
            open_level(s, one, one->level);
    }
}

/* The next announced snapshot that got no lines: of those below a number, or of all. */
static int take_empty(struct cf_snapshots *s, uint32_t below, int all)
{
    if (s->head == s->count || (!all && s->queue[s->head].number >= below))
        return 0;
    take_first(s);
    /* one that was announced for no level and has no lines is of an unknown level */
    if (s->common.announced && !memchr(s->is_open, 1, LEVELS))
        open_level(s, &s->common, s->level);
    return 1;
}

static int announce(struct cf_snapshots *s, const struct cf_frame *f)
{
    const uint32_t *number = cf_u32(f, CF_SNAP), *sets = cf_u32(f, CF_SETS);
    const uint32_t *ways = cf_u32(f, CF_WAYS);
    const uint64_t *time = cf_u64(f, CF_TIME), *cost = cf_u64(f, CF_COST_TOTAL);
    const uint8_t *mode = cf_u8(f, CF_MODE), *level = cf_u8(f, CF_LEVEL);

    if (s->head) {
        s->count -= s->head;
        memmove(s->queue, s->queue + s->head, s->count * sizeof *s->queue);
        s->head = 0;
    }
    if (cf_array_room(&s->queue, &s->room, s->count + f->rows, sizeof *s->queue) != 0)
        return -1;
    for (uint32_t i = 0; i < f->rows; i++) {
        note_level(s, level ? level[i] : 0);
        s->queue[s->count++] = (struct cf_snapshot){
            .number = number ? number[i] : 0,
            .sets = sets ? sets[i] : 0,
            .ways = ways ? ways[i] : 0,
            .level = level ? level[i] : 0,
            .mode = mode ? mode[i] : 0,
            .announced = 1,
            .segment = s->segment,
            .time = time ? time[i] : 0,
            .cost = cost ? cost[i] : 0,
        };
    }
    return 0;
}

/* The first row from `from` on that is of another snapshot or level, or a PIECE further: so much
   stays in the first-level cache until it is looked at. */
static uint32_t run_end(const uint32_t *number, const uint8_t *level, uint32_t from, uint32_t to)
{
    const uint32_t behind = to - from - 1, more = behind < PIECE ? behind : PIECE;
    const uint32_t n = number ? number[from] : 0;
    const uint8_t l = level ? level[from] : 0;

    /* all are equal when each equals its neighbour */
    if ((!number || !memcmp(number + from, number + from + 1, more * sizeof *number)) &&
        (!level || !memcmp(level + from, level + from + 1, more)))
        return from + more + 1;
    while (from < to && (!number || number[from] == n) && (!level || level[from] == l))
        from++;
    return from;
}

/* The level of lines without column level: the one that was announced, if it is one. */
static uint8_t only_level(const struct cf_snapshots *s)
{
    const uint8_t *one = memchr(s->is_open, 1, LEVELS);

    if (!one || memchr(one + 1, 1, LEVELS - (size_t)(one - s->is_open) - 1))
        return s->level;
    return (uint8_t)(one - s->is_open);
}

int cf_snapshots_frame(struct cf_snapshots *s, const struct cf_frame *f)
{
    s->frame = NULL;
    switch (f->table) {
    case CF_HEADER:
        if (s->segment)
            s->ending = 1;
        else
            s->segment = 1;
        return 0;
    case CF_SNAPSHOT:
        s->segment += !s->segment; /* its header was lost */
        return announce(s, f);
    case CF_LINE:
        s->segment += !s->segment;
        s->frame = f;
        s->snap = cf_u32(f, CF_SNAP);
        s->levels = cf_u8(f, CF_LEVEL);
        s->at = 0;
        return 0;
    default:
        return 0;
    }
}

void cf_snapshots_end(struct cf_snapshots *s)
{
    s->frame = NULL;
    s->ending = !s->over;
    s->over = 1;
}

/* The next rows of the lines at hand. 1 with an event, 0 when something else comes first. */
static int next_rows(struct cf_snapshots *s, struct cf_snapshots_event *e)
{
    const uint32_t number = s->snap ? s->snap[s->at] : 0;
    uint8_t level = s->levels ? s->levels[s->at] : 0;

    note_level(s, level);
    if (!s->begun || number != s->number) {
        if (take_empty(s, number, 0))
            return 0;
        if (s->head < s->count && s->queue[s->head].number == number)
            take_first(s);
        else
            start(s, number);
    }
    if (!level)
        level = only_level(s);
    open_level(s, &s->common, level);
    if (s->unreported_count)
        return 0;
    e->what = CF_SNAPSHOTS_ROWS;
    e->is = &s->open[level];
    e->from = s->at;
    e->to = s->at = run_end(s->snap, s->levels, s->at, s->frame->rows);
    if (wanted(s, level))
        return 1;
    s->passed_over += e->to - e->from;
    return 0;
}

int cf_snapshots_next(struct cf_snapshots *s, struct cf_snapshots_event *e)
{
    for (;;) {
        if (s->unreported_at < s->unreported_count) {
            e->what = CF_SNAPSHOTS_BEGIN;
            e->is = &s->open[s->unreported[s->unreported_at++]];
            return 1;
        }
        s->unreported_at = s->unreported_count = 0;
        if (s->frame && s->at < s->frame->rows) {
            if (next_rows(s, e))
                return 1;
        } else if (!s->ending) {
            return 0;
        } else if (!take_empty(s, 0, 1)) {
            s->ending = 0;
            s->begun = 0;
            s->segment++;
            e->what = CF_SNAPSHOTS_END;
            return 1;
        }
    }
}
