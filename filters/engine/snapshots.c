/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * snapshots.c - a walk through a stream of snapshots (see snapshots.h).
 *
 * In: frames. Out: calls. The announcements form a queue. Lines of number n end the announcements
 * of lower numbers, which were of empty snapshots; numbers rise in a segment. Runs of rows that
 * share number and level are found by comparing 64 rows at a time without a branch.
 */
#include <stdlib.h>
#include <string.h>

#include "filters/engine/snapshots.h"

enum { BLOCK = 64, LEVELS = 256 };

struct cf_snapshots {
    struct cf_snapshots_calls calls;
    uint8_t level; /* the only one that is wanted, 0 = all */
    uint32_t segment;
    struct cf_snapshot *queue;
    size_t first, count, room;
    int begun; /* there is a current snapshot */
    uint32_t number;
    struct cf_snapshot common;       /* what was announced of the current one for no level */
    struct cf_snapshot open[LEVELS]; /* of the current number */
    uint8_t is_open[LEVELS];
};

struct cf_snapshots *cf_snapshots_new(const struct cf_snapshots_calls *calls, uint8_t level)
{
    struct cf_snapshots *s = calloc(1, sizeof *s);

    if (s) {
        s->calls = *calls;
        s->level = level;
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
    static const unsigned snapshot[] = {CF_SNAP,       CF_TIME, CF_MODE, CF_LEVEL,
                                        CF_COST_TOTAL, CF_SETS, CF_WAYS};

    for (unsigned i = 0; i < sizeof snapshot / sizeof *snapshot; i++)
        cf_reader_want(r, CF_SNAPSHOT, snapshot[i], CF_OPTIONAL);
    cf_reader_want(r, CF_LINE, CF_SNAP, CF_OPTIONAL);
    cf_reader_want(r, CF_LINE, CF_LEVEL, CF_OPTIONAL);
}

static int open_level(struct cf_snapshots *s, const struct cf_snapshot *one)
{
    if ((s->level && one->level != s->level) || s->is_open[one->level])
        return 0;
    s->is_open[one->level] = 1;
    s->open[one->level] = *one;
    return s->calls.begin(s->calls.arg, &s->open[one->level]);
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
static int take_first(struct cf_snapshots *s)
{
    const uint32_t number = s->queue[s->first].number;

    start(s, number);
    while (s->first < s->count && s->queue[s->first].number == number) {
        const struct cf_snapshot *one = &s->queue[s->first++];
        int bad;

        if (!one->level)
            s->common = *one;
        else if ((bad = open_level(s, one)) != 0)
            return bad;
    }
    return 0;
}

static int drop_empty(struct cf_snapshots *s, uint32_t below, int all)
{
    while (s->first < s->count && (all || s->queue[s->first].number < below)) {
        int bad = take_first(s);

        /* a snapshot that was announced for no level and has no lines is of an unknown level */
        if (!bad && s->common.announced && !memchr(s->is_open, 1, LEVELS))
            bad = open_level(s, &s->common);
        if (bad)
            return bad;
    }
    return 0;
}

/* The snapshot with this number becomes the current one. */
static int change(struct cf_snapshots *s, uint32_t number)
{
    int bad = drop_empty(s, number, 0);

    if (bad)
        return bad;
    if (s->first < s->count && s->queue[s->first].number == number)
        return take_first(s);
    start(s, number);
    return 0;
}

static int announce(struct cf_snapshots *s, const struct cf_frame *f)
{
    const uint32_t *number = cf_u32(f, CF_SNAP), *sets = cf_u32(f, CF_SETS);
    const uint32_t *ways = cf_u32(f, CF_WAYS);
    const uint64_t *time = cf_u64(f, CF_TIME), *cost = cf_u64(f, CF_COST_TOTAL);
    const uint8_t *mode = cf_u8(f, CF_MODE), *level = cf_u8(f, CF_LEVEL);

    if (s->first) {
        s->count -= s->first;
        memmove(s->queue, s->queue + s->first, s->count * sizeof *s->queue);
        s->first = 0;
    }
    if (s->count + f->rows > s->room) {
        const size_t room = 2 * (s->count + f->rows);
        struct cf_snapshot *more = realloc(s->queue, room * sizeof *more);

        if (!more)
            return -1;
        s->queue = more;
        s->room = room;
    }
    for (uint32_t i = 0; i < f->rows; i++)
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
    return 0;
}

/* The first row from `from` on that is of another snapshot or level. */
static uint32_t run_end(const uint32_t *number, const uint8_t *level, uint32_t from, uint32_t to)
{
    const uint32_t n = number ? number[from] : 0;
    const uint8_t l = level ? level[from] : 0;

    while (to - from >= BLOCK) {
        uint32_t other = 0;
        uint8_t step = 0;

        for (unsigned i = 0; number && i < BLOCK; i++)
            other |= number[from + i] ^ n;
        for (unsigned i = 0; level && i < BLOCK; i++)
            step |= level[from + i] ^ l;
        if (other | step)
            break;
        from += BLOCK;
    }
    while (from < to && (!number || number[from] == n) && (!level || level[from] == l))
        from++;
    return from;
}

/* The level of lines that do not tell theirs: the one that was announced, if it is one. */
static uint8_t only_level(const struct cf_snapshots *s)
{
    const uint8_t *one = memchr(s->is_open, 1, LEVELS);

    if (!one || memchr(one + 1, 1, LEVELS - (size_t)(one - s->is_open) - 1))
        return 0;
    return (uint8_t)(one - s->is_open);
}

static int lines(struct cf_snapshots *s, const struct cf_frame *f)
{
    const uint32_t *number = cf_u32(f, CF_SNAP);
    const uint8_t *level = cf_u8(f, CF_LEVEL);
    uint32_t to;

    for (uint32_t from = 0; from < f->rows; from = to) {
        const uint32_t n = number ? number[from] : 0;
        struct cf_snapshot one;
        uint8_t l;
        int bad = 0;

        to = run_end(number, level, from, f->rows);
        if (!s->begun || n != s->number)
            bad = change(s, n);
        l = level ? level[from] : only_level(s);
        if (!bad && !s->is_open[l]) {
            one = s->common;
            one.level = l;
            bad = open_level(s, &one);
        }
        if (!bad && s->is_open[l])
            bad = s->calls.rows(s->calls.arg, &s->open[l], f, from, to);
        if (bad)
            return bad;
    }
    return 0;
}

int cf_snapshots_end(struct cf_snapshots *s)
{
    const int bad = drop_empty(s, 0, 1);

    s->begun = 0;
    return bad;
}

int cf_snapshots_frame(struct cf_snapshots *s, const struct cf_frame *f)
{
    int bad = 0;

    switch (f->table) {
    case CF_HEADER:
        bad = cf_snapshots_end(s);
        s->segment++;
        break;
    case CF_SNAPSHOT:
        bad = announce(s, f);
        break;
    case CF_LINE:
        bad = lines(s, f);
        break;
    }
    return bad;
}
