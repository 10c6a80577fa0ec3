/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A snapshot is complete when a line of another number, a row of a later snapshot behind its lines,
 * or the end of the segment comes. Rows of table snapshot wait in a queue, since they may stand far
 * ahead of their lines. Both tables always have the same layout, so that slots compare directly;
 * it grows when a row tells of more sets, ways or caches.
 */
#include <stdlib.h>
#include <string.h>

#include "filters/engine/tags.h"

struct cf_snaps_own {
    unsigned keep;
    int open;      /* `now` is being filled */
    int delivered; /* `now` was handed out */
    int ending;    /* of the segment */
    int begun;     /* the segment had a header or a row */
    struct cf_snap *queue;
    size_t first, count, room;
    uint32_t cpu[CF_TAGS_CACHES];
    uint32_t caches; /* numbered so far */
    /* the frame at hand */
    uint32_t rows, at;
    const uint32_t *snap, *set, *way, *cpus, *pid;
    const uint64_t *phys, *addr;
    const uint8_t *level, *state, *mark;
};

struct cf_snaps *cf_snaps_new(unsigned level, unsigned keep)
{
    struct cf_snaps *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->own = calloc(1, sizeof *s->own);
    if (!s->own) {
        free(s);
        return NULL;
    }
    s->level = level;
    s->own->keep = keep;
    return s;
}

static void free_tags(struct cf_tags *t)
{
    free(t->line);
    free(t->addr);
    free(t->pid);
    free(t->state);
    free(t->mark);
}

void cf_snaps_free(struct cf_snaps *s)
{
    if (!s)
        return;
    free_tags(&s->now);
    free_tags(&s->before);
    free(s->own->queue);
    free(s->own);
    free(s);
}

void cf_snaps_want(const struct cf_snaps *s, struct cf_reader *r)
{
    static const unsigned of_snapshot[] = {CF_TIME,  CF_MODE, CF_COST_TOTAL,
                                           CF_LEVEL, CF_SETS, CF_WAYS};

    cf_reader_want(r, CF_SNAPSHOT, CF_SNAP, CF_REQUIRED);
    for (size_t i = 0; i < sizeof of_snapshot / sizeof *of_snapshot; i++)
        cf_reader_want(r, CF_SNAPSHOT, of_snapshot[i], CF_OPTIONAL);
    cf_reader_want(r, CF_LINE, CF_SNAP, CF_REQUIRED);
    cf_reader_want(r, CF_LINE, CF_SET, CF_REQUIRED);
    cf_reader_want(r, CF_LINE, CF_WAY, CF_REQUIRED);
    cf_reader_want(r, CF_LINE, CF_LEVEL, CF_OPTIONAL);
    cf_reader_want(r, CF_LINE, CF_CPU, CF_OPTIONAL);
    /* each column that is not decoded makes reading a fifth faster */
    if (!(s->own->keep & CF_TAGS_VIRTUAL))
        cf_reader_want(r, CF_LINE, CF_PHYS, CF_REQUIRED);
    else
        cf_reader_want(r, CF_LINE, CF_ADDR, CF_REQUIRED);
    if (s->own->keep & CF_TAGS_OWNER)
        cf_reader_want(r, CF_LINE, CF_ADDR, CF_OPTIONAL);
    if (s->own->keep & (CF_TAGS_OWNER | CF_TAGS_PID | CF_TAGS_VIRTUAL))
        cf_reader_want(r, CF_LINE, CF_PID, CF_OPTIONAL);
    if (s->own->keep & CF_TAGS_STATE)
        cf_reader_want(r, CF_LINE, CF_STATE, CF_OPTIONAL);
}

/* ---- tables ---- */

static int new_tags(struct cf_tags *t, unsigned keep, uint32_t caches, uint32_t sets, uint32_t ways)
{
    const size_t n = (size_t)caches * sets * ways;

    *t = (struct cf_tags){.caches = caches, .set_room = sets, .way_room = ways};
    t->line = malloc(n * sizeof *t->line);
    if (keep & CF_TAGS_OWNER)
        t->addr = calloc(n, sizeof *t->addr);
    if (keep & (CF_TAGS_OWNER | CF_TAGS_PID))
        t->pid = calloc(n, sizeof *t->pid);
    if (keep & CF_TAGS_STATE)
        t->state = calloc(n, 1);
    if (keep & CF_TAGS_MARK)
        t->mark = calloc(n, 1);
    if (!t->line || ((keep & CF_TAGS_OWNER) && !t->addr) ||
        ((keep & (CF_TAGS_OWNER | CF_TAGS_PID)) && !t->pid) ||
        ((keep & CF_TAGS_STATE) && !t->state) || ((keep & CF_TAGS_MARK) && !t->mark)) {
        free_tags(t);
        *t = (struct cf_tags){0};
        return -1;
    }
    memset(t->line, 0xff, n * sizeof *t->line);
    return 0;
}

static void copy_set(struct cf_tags *to, size_t at, const struct cf_tags *from, size_t source)
{
    const uint32_t n = from->way_room;

    memcpy(to->line + at, from->line + source, n * sizeof *to->line);
    if (to->addr)
        memcpy(to->addr + at, from->addr + source, n * sizeof *to->addr);
    if (to->pid)
        memcpy(to->pid + at, from->pid + source, n * sizeof *to->pid);
    if (to->state)
        memcpy(to->state + at, from->state + source, n);
    if (to->mark)
        memcpy(to->mark + at, from->mark + source, n);
}

static int relay(struct cf_tags *t, unsigned keep, uint32_t caches, uint32_t sets, uint32_t ways)
{
    struct cf_tags more;

    if (new_tags(&more, keep, caches, sets, ways) != 0)
        return -1;
    more.sets = t->sets;
    more.ways = t->ways;
    for (uint32_t c = 0; c < t->caches; c++)
        for (uint32_t set = 0; set < t->set_room; set++)
            copy_set(&more, cf_tags_slot(&more, c, set), t, cf_tags_slot(t, c, set));
    free_tags(t);
    *t = more;
    return 0;
}

static uint32_t power(uint32_t least)
{
    uint32_t n = 1;

    while (n < least)
        n *= 2;
    return n;
}

/* Makes room for so many of each in both tables: 0, 1 when no cache is so large, -1 without memory.
   What is stated is laid out without holes, what rows reveal one by one in powers of two. */
static int room(struct cf_snaps *s, uint64_t caches, uint64_t sets, uint64_t ways, int stated)
{
    const struct cf_tags *t = &s->now;
    uint32_t c, n, w;

    if (caches <= t->caches && sets <= t->set_room && ways <= t->way_room)
        return 0;
    if (caches > CF_TAGS_CACHES || ways > CF_TAGS_WAYS || sets > CF_TAGS_MOST)
        return 1;
    c = caches > t->caches ? (uint32_t)caches : t->caches;
    n = sets > t->set_room ? stated ? (uint32_t)sets : power((uint32_t)sets) : t->set_room;
    w = ways > t->way_room ? stated ? (uint32_t)ways : power((uint32_t)ways) : t->way_room;
    if ((uint64_t)c * n * w > CF_TAGS_MOST)
        return 1;
    if (relay(&s->now, s->own->keep, c, n, w) != 0 || relay(&s->before, s->own->keep, c, n, w) != 0)
        return -1;
    return 0;
}

static void extend(struct cf_snaps *s, uint32_t sets, uint32_t ways)
{
    if (sets > s->now.sets)
        s->now.sets = s->before.sets = sets;
    if (ways > s->now.ways)
        s->now.ways = s->before.ways = ways;
}

static void clear(struct cf_tags *t)
{
    memset(t->line, 0xff, cf_tags_slots(t) * sizeof *t->line);
    if (t->mark)
        memset(t->mark, 0, cf_tags_slots(t));
}

/* ---- what comes in ---- */

static int add_rows(struct cf_snaps *s, const struct cf_frame *f)
{
    struct cf_snaps_own *o = s->own;
    const uint32_t *number = cf_u32(f, CF_SNAP), *sets = cf_u32(f, CF_SETS),
                   *ways = cf_u32(f, CF_WAYS);
    const uint64_t *time = cf_u64(f, CF_TIME), *cost = cf_u64(f, CF_COST_TOTAL);
    const uint8_t *mode = cf_u8(f, CF_MODE), *level = cf_u8(f, CF_LEVEL);

    if (o->first + o->count + f->rows > o->room) {
        const size_t want = (o->count + f->rows) * 2;
        struct cf_snap *more = malloc(want * sizeof *more);

        if (!more)
            return -1;
        if (o->count)
            memcpy(more, o->queue + o->first, o->count * sizeof *more);
        free(o->queue);
        o->queue = more;
        o->room = want;
        o->first = 0;
    }
    for (uint32_t i = 0; i < f->rows; i++) {
        if (level && level[i] && !s->level)
            s->level = level[i];
        if (level && level[i] && level[i] != s->level)
            continue;
        o->queue[o->first + o->count++] = (struct cf_snap){
            .number = number[i],
            .sets = sets ? sets[i] : 0,
            .ways = ways ? ways[i] : 0,
            .mode = mode ? mode[i] : 0,
            .level = level ? level[i] : 0,
            .told = 1,
            .time = time ? time[i] : 0,
            .cost = cost ? cost[i] : 0,
        };
    }
    return 0;
}

int cf_snaps_frame(struct cf_snaps *s, const struct cf_frame *f)
{
    struct cf_snaps_own *o = s->own;

    switch (f->table) {
    case CF_HEADER:
        o->ending = o->begun;
        o->begun = 1;
        return 0;
    case CF_SNAPSHOT:
        o->begun = 1;
        return add_rows(s, f);
    case CF_LINE:
        o->begun = 1;
        o->rows = f->rows;
        o->at = 0;
        o->snap = cf_u32(f, CF_SNAP);
        o->set = cf_u32(f, CF_SET);
        o->way = cf_u32(f, CF_WAY);
        o->cpus = cf_u32(f, CF_CPU);
        o->pid = cf_u32(f, CF_PID);
        o->phys = cf_u64(f, CF_PHYS);
        o->addr = cf_u64(f, CF_ADDR);
        o->level = cf_u8(f, CF_LEVEL);
        o->state = cf_u8(f, CF_STATE);
        o->mark = NULL;
        return 0;
    default:
        return 0;
    }
}

void cf_snaps_marks(struct cf_snaps *s, const uint8_t *mark)
{
    s->own->mark = mark;
}

void cf_snaps_end(struct cf_snaps *s)
{
    s->own->ending = 1;
}

/* ---- the lines of one snapshot ---- */

/* The cache that belongs to a cpu, CF_TAGS_CACHES where there are too many. */
static uint32_t cache_of(struct cf_snaps_own *o, uint32_t cpu)
{
    for (uint32_t i = 0; i < o->caches; i++)
        if (o->cpu[i] == cpu)
            return i;
    if (o->caches == CF_TAGS_CACHES)
        return CF_TAGS_CACHES;
    o->cpu[o->caches] = cpu;
    return o->caches++;
}

static uint64_t line_of(const struct cf_snaps_own *o, uint32_t i)
{
    if (!(o->keep & CF_TAGS_VIRTUAL))
        return o->phys[i];
    return o->addr[i] ^ (uint64_t)(o->pid ? o->pid[i] : 0) << 42;
}

static void keep_rest(struct cf_snaps *s, size_t slot, uint32_t i)
{
    const struct cf_snaps_own *o = s->own;
    struct cf_tags *t = &s->now;

    if (t->addr)
        t->addr[slot] = o->addr ? o->addr[i] : 0;
    if (t->pid)
        t->pid[slot] = o->pid ? o->pid[i] : 0;
    if (t->state)
        t->state[slot] = o->state ? o->state[i] : 0;
    if (t->mark)
        t->mark[slot] = o->mark ? o->mark[i] : 0;
}

static void refuse(struct cf_snaps *s, uint32_t i)
{
    if (s->refused++)
        return;
    s->worst = s->info;
    s->worst_set = s->own->set[i];
    s->worst_way = s->own->way[i];
}

/* Rows of the open snapshot, as many as there are: -1 without memory. */
static int fill(struct cf_snaps *s)
{
    struct cf_snaps_own *o = s->own;
    const uint32_t number = s->info.number;
    uint32_t i = o->at, sets = s->now.sets, ways = s->now.ways, cache = 0;

    if (!o->caches)
        cache_of(o, o->cpus ? o->cpus[i] : 0);
    for (; i < o->rows && o->snap[i] == number; i++) {
        const uint32_t set = o->set[i], way = o->way[i];
        uint64_t line;
        size_t slot;

        if (o->level && o->level[i] != s->level) {
            s->other_levels++;
            continue;
        }
        if (o->cpus && o->cpu[cache] != o->cpus[i])
            cache = cache_of(o, o->cpus[i]);
        if (set >= s->now.set_room || way >= s->now.way_room || cache >= s->now.caches) {
            const int r = room(s, (uint64_t)cache + 1, (uint64_t)set + 1, (uint64_t)way + 1, 0);

            if (r < 0)
                return -1;
            if (r) {
                refuse(s, i);
                if (cache == CF_TAGS_CACHES)
                    cache = 0;
                continue;
            }
        }
        sets = set >= sets ? set + 1 : sets;
        ways = way >= ways ? way + 1 : ways;
        slot = cf_tags_slot(&s->now, cache, set) + way;
        line = line_of(o, i);
        /* a frame that several mappings share is listed for each of them: the first counts */
        if (s->now.line[slot] == CF_TAGS_NONE) {
            s->now.line[slot] = line == CF_TAGS_NONE ? line - 1 : line;
            if (o->keep)
                keep_rest(s, slot, i);
        }
    }
    o->at = i;
    extend(s, sets, ways);
    return 0;
}

/* Opens a snapshot: of the queue's first row, or of a number that no row told. */
static int open_next(struct cf_snaps *s, int queued, uint32_t number)
{
    struct cf_snaps_own *o = s->own;

    s->info = (struct cf_snap){.number = number, .level = (uint8_t)s->level};
    if (queued) {
        s->info = o->queue[o->first++];
        o->count--;
    }
    o->open = 1;
    if (s->info.sets && s->info.ways) {
        const int r = room(s, 1, s->info.sets, s->info.ways, 1);

        if (r < 0)
            return -1;
        /* a geometry that cannot be is not believed: the lines tell */
        if (r == 0)
            extend(s, s->info.sets, s->info.ways);
    }
    return room(s, 1, 1, 1, 0);
}

static int deliver(struct cf_snaps *s)
{
    s->own->open = 0;
    s->own->delivered = 1;
    s->count++;
    return 1;
}

/* Rows of other levels are passed over; 1 when there is one of ours. */
static int find_row(struct cf_snaps *s)
{
    struct cf_snaps_own *o = s->own;

    if (o->at < o->rows && o->level && !s->level)
        s->level = o->level[o->at];
    while (o->at < o->rows && o->level && o->level[o->at] != s->level) {
        o->at++;
        s->other_levels++;
    }
    return o->at < o->rows;
}

static void begin_segment(struct cf_snaps *s)
{
    s->own->ending = 0;
    s->first = 1;
    if (s->before.line)
        clear(&s->before);
    s->info_before = (struct cf_snap){0};
}

int cf_snaps_next(struct cf_snaps *s)
{
    struct cf_snaps_own *o = s->own;

    if (!s->segment) {
        s->segment = 1;
        s->first = 1;
    }
    if (o->delivered) {
        const struct cf_tags old = s->before;

        s->before = s->now;
        s->info_before = s->info;
        s->now = old;
        clear(&s->now);
        s->first = 0;
        o->delivered = 0;
    }
    /* the lines at hand belong to the segment that ends, if one does */
    while (find_row(s)) {
        const uint32_t number = o->snap[o->at];

        if (o->open && s->info.number != number)
            return deliver(s);
        if (!o->open) {
            const struct cf_snap *head = o->count ? &o->queue[o->first] : NULL;

            if (open_next(s, head && head->number <= number, number) < 0)
                return -1;
            if (s->info.number != number)
                return deliver(s); /* it had no lines */
        }
        if (fill(s) != 0)
            return -1;
    }
    if (!o->ending)
        return 0;
    if (o->open)
        return deliver(s);
    if (o->count) {
        if (open_next(s, 1, 0) < 0)
            return -1;
        return deliver(s);
    }
    begin_segment(s);
    s->segment++;
    return 0;
}
