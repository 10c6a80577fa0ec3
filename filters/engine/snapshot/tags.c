/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A snapshot is complete when the walk gives the event of the next one, or of the end of the
 * segment, which waits until the snapshot was handed out. Both tables always have the same layout,
 * so that slots compare directly; it grows when a row has a set, way or cache beyond it.
 */
#include <stdlib.h>
#include <string.h>

#include "filters/engine/snapshot/tags.h"
#include "formats/base/cf_memory.h"

struct cf_snaps_own {
    struct cf_snapshots *walk;
    struct cf_snapshots_event event;
    int waiting; /* the event was not acted on */
    unsigned keep;
    int open;      /* `now` is being filled */
    int delivered; /* `now` was handed out */
    uint32_t cpu[CF_TAGS_CACHES];
    uint32_t caches;              /* numbered so far in the segment */
    uint32_t sets, ways;          /* the greatest so far, where a snapshot states none */
    int stated;                   /* the open one states them */
    const struct cf_frame *frame; /* at hand, and its columns */
    int late;                     /* those of names that were not asked for came too */
    const uint32_t *set, *way, *cpus, *pid;
    const uint64_t *phys, *addr;
    const uint8_t *state, *mark;
};

struct cf_snaps *cf_snaps_new(unsigned level, unsigned keep)
{
    struct cf_snaps *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->own = calloc(1, sizeof *s->own);
    if (s->own)
        s->own->walk = cf_snapshots_new(level ? level : CF_SNAPSHOTS_FIRST);
    if (!s->own || !s->own->walk) {
        free(s->own);
        free(s);
        return NULL;
    }
    s->own->keep = keep;
    s->now.cpu = s->before.cpu = s->own->cpu;
    s->first = 1;
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
    free(s->more);
    cf_snapshots_free(s->own->walk);
    free(s->own);
    free(s);
}

void cf_snaps_want(const struct cf_snaps *s, struct cf_reader *r)
{
    const int virtual = (s->own->keep & CF_TAGS_VIRTUAL) != 0;

    cf_snapshots_want(r);
    cf_reader_want_each(r, CF_LINE, CF_REQUIRED, CF_SET, CF_WAY);
    cf_reader_want(r, CF_LINE, CF_CPU, CF_OPTIONAL);
    /* each column that is not decoded makes reading a fifth faster: the other address comes late,
       in frames of which some lines lack this one */
    cf_reader_want(r, CF_LINE, virtual ? CF_ADDR : CF_PHYS, CF_OPTIONAL);
    if (s->own->keep & CF_TAGS_OWNER)
        cf_reader_want(r, CF_LINE, CF_ADDR, CF_OPTIONAL);
    if (virtual || s->own->keep & (CF_TAGS_OWNER | CF_TAGS_PID))
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
    more.cpu = t->cpu;
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
    struct cf_snaps_own *o = s->own;

    s->now.sets = sets > s->now.sets ? sets : s->now.sets;
    s->now.ways = ways > s->now.ways ? ways : s->now.ways;
    o->sets = s->now.sets > o->sets ? s->now.sets : o->sets;
    o->ways = s->now.ways > o->ways ? s->now.ways : o->ways;
}

static void clear(struct cf_tags *t)
{
    memset(t->line, 0xff, cf_tags_slots(t) * sizeof *t->line);
    if (t->mark)
        memset(t->mark, 0, cf_tags_slots(t));
}

/* ---- what comes in ---- */

static void take_columns(struct cf_snaps_own *o, const struct cf_frame *f)
{
    o->frame = f;
    o->late = 0;
    o->set = cf_u32(f, CF_SET);
    o->way = cf_u32(f, CF_WAY);
    o->cpus = cf_u32(f, CF_CPU);
    o->pid = cf_u32(f, CF_PID);
    o->phys = cf_u64(f, CF_PHYS);
    o->addr = cf_u64(f, CF_ADDR);
    o->state = cf_u8(f, CF_STATE);
    o->mark = NULL;
}

int cf_snaps_frame(struct cf_snaps *s, const struct cf_frame *f)
{
    if (f->table == CF_LINE)
        take_columns(s->own, f);
    return cf_snapshots_frame(s->own->walk, f);
}

void cf_snaps_marks(struct cf_snaps *s, const uint8_t *mark)
{
    s->own->mark = mark;
}

void cf_snaps_end(struct cf_snaps *s)
{
    cf_snapshots_end(s->own->walk);
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

static void come_late(struct cf_snaps_own *o)
{
    o->late = 1;
    o->phys = cf_late_values(o->frame, CF_PHYS);
    o->addr = cf_late_values(o->frame, CF_ADDR);
    o->pid = cf_late_values(o->frame, CF_PID);
}

/* The name of a line that is not simply its physical address. */
static __attribute__((noinline)) uint64_t name_of(struct cf_snaps *s, uint32_t i)
{
    struct cf_snaps_own *o = s->own;
    uint64_t name;

    if (o->keep & CF_TAGS_VIRTUAL && o->addr && o->addr[i])
        return cf_line_virtual(o->addr[i], o->pid ? o->pid[i] : 0);
    if (!o->late)
        come_late(o);
    name = cf_line_name(o->phys ? o->phys[i] : 0, o->addr ? o->addr[i] : 0, o->pid ? o->pid[i] : 0);
    s->nameless += !name && !o->phys;
    return name;
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

/* Another mapping of a line: -1 without memory. */
static int keep_more(struct cf_snaps *s, uint64_t line, uint32_t i)
{
    const struct cf_snaps_own *o = s->own;

    if (cf_array_room(&s->more, &s->more_room, s->mores + 1, sizeof *s->more) != 0)
        return -1;
    s->more[s->mores++] = (struct cf_tags_owner){
        .line = line, .addr = o->addr ? o->addr[i] : 0, .pid = o->pid ? o->pid[i] : 0};
    return 0;
}

static void refuse(struct cf_snaps *s, uint32_t i)
{
    if (s->refused++)
        return;
    s->worst = s->info;
    s->worst_set = s->own->set[i];
    s->worst_way = s->own->way[i];
}

/* Rows of the open snapshot: -1 without memory. */
static int fill(struct cf_snaps *s, uint32_t from, uint32_t to)
{
    struct cf_snaps_own *o = s->own;
    const uint64_t *phys = o->keep & CF_TAGS_VIRTUAL ? NULL : o->phys;
    uint32_t sets = s->now.sets, ways = s->now.ways, cache = 0;

    if (!o->caches)
        cache_of(o, o->cpus ? o->cpus[from] : 0);
    for (uint32_t i = from; i < to; i++) {
        const uint32_t set = o->set[i], way = o->way[i];
        uint64_t line;
        size_t slot;

        if (o->cpus && o->cpu[cache] != o->cpus[i])
            cache = cache_of(o, o->cpus[i]);
        if (o->stated && (set >= s->info.sets || way >= s->info.ways)) {
            refuse(s, i);
            continue;
        }
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
        line = phys && phys[i] ? phys[i] & ~(uint64_t)1 : name_of(s, i);
        /* a frame that several mappings share is listed for each of them: the first counts, and
           its line is marked where any of them is */
        if (s->now.line[slot] == CF_TAGS_NONE) {
            s->now.line[slot] = line == CF_TAGS_NONE ? line - 2 : line;
            if (o->keep)
                keep_rest(s, slot, i);
        } else {
            if (o->mark && s->now.mark)
                s->now.mark[slot] |= o->mark[i];
            if ((o->keep & CF_TAGS_OWNER) && keep_more(s, line, i) != 0)
                return -1;
        }
    }
    extend(s, sets, ways);
    return 0;
}

/* Opens a snapshot: -1 without memory. */
static int begin(struct cf_snaps *s, const struct cf_snapshot *is)
{
    const uint32_t sets = s->own->sets, ways = s->own->ways;
    int r = 1;

    s->info = *is;
    s->own->open = 1;
    s->mores = 0;
    s->now.sets = s->now.ways = 0;
    if (s->info.sets && s->info.ways)
        r = room(s, 1, s->info.sets, s->info.ways, 1);
    /* an invalid geometry is ignored: that of the lines is taken */
    s->own->stated = r == 0;
    if (r == 0)
        extend(s, s->info.sets, s->info.ways);
    else if (r > 0 && (r = room(s, 1, sets, ways, 0)) == 0)
        extend(s, sets, ways);
    return r < 0 ? -1 : room(s, 1, 1, 1, 0);
}

/* The caches of the next one are others. */
static void end_segment(struct cf_snaps *s)
{
    s->first = 1;
    free_tags(&s->now);
    free_tags(&s->before);
    s->before = (struct cf_tags){.cpu = s->own->cpu};
    s->now = s->before;
    extend(s, s->own->sets, s->own->ways);
    s->own->caches = 0;
    s->info_before = (struct cf_snapshot){0};
}

/* What was handed out is the snapshot before from now on. */
static void turn(struct cf_snaps *s)
{
    const struct cf_tags old = s->before;

    s->before = s->now;
    s->info_before = s->info;
    s->now = old;
    clear(&s->now);
    s->first = 0;
    s->own->delivered = 0;
}

int cf_snaps_next(struct cf_snaps *s)
{
    struct cf_snaps_own *o = s->own;

    if (o->delivered)
        turn(s);
    for (;; o->waiting = 0) {
        const int more = o->waiting || cf_snapshots_next(o->walk, &o->event);
        int bad = 0;

        s->level = cf_snapshots_level(o->walk);
        s->other_levels = cf_snapshots_passed_over(o->walk);
        if (!more)
            return 0;
        if (o->open && o->event.what != CF_SNAPSHOTS_ROWS) {
            o->waiting = 1;
            o->open = 0;
            o->delivered = 1;
            s->count++;
            return 1;
        }
        switch (o->event.what) {
        case CF_SNAPSHOTS_BEGIN:
            bad = begin(s, o->event.is);
            break;
        case CF_SNAPSHOTS_ROWS:
            bad = fill(s, o->event.from, o->event.to);
            break;
        case CF_SNAPSHOTS_END:
            end_segment(s);
            break;
        }
        if (bad < 0)
            return -1;
    }
}
