/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * timeline.c - events wait in queues, one for each table, until the accesses have come as far.
 *
 * An object's call stack is looked at when its row comes, with the mappings of that time, which the
 * accesses have not reached: so there is a second world, which is ahead. Lines of snapshots may
 * come before or after the accesses of their time: when the first does, it gets a third. Memory:
 * the queues hold what happens within the span of a frame of accesses. Where that is more than
 * QUEUE_MOST events of a kind (or where there are no accesses at all), the oldest happen before
 * their time, and accesses from before them are not resolved rather than wrongly.
 */
#include <stdlib.h>
#include <string.h>

#include "filters/parts/resolve/timeline.h"
#include "formats/base/cf_memory.h"

enum {
    FLIGHT = 4,           /* object events that memory is asked for in advance, in each stage */
    QUEUE_MOST = 1 << 24, /* events of a kind that wait */
};

static struct event *queue_at(const struct queue *q, uint64_t i)
{
    return &q->at[i & (q->room - 1)];
}

/* Of the first `queues` queues the one whose next event for a world is the earliest, -1 if none. */
static int earliest(const struct timeline *t, int queues, enum reader reader)
{
    int best = -1;
    uint64_t best_time = 0;

    for (int k = 0; k < queues; k++) {
        const struct queue *q = &t->queue[k];
        uint64_t i = q->next[reader];
        if (i == q->tail)
            continue;
        uint64_t time = queue_at(q, i)->time;
        if (best < 0 || time < best_time) {
            best = k;
            best_time = time;
        }
    }
    return best;
}

/* Lets a world that reads the queues, but takes nothing out, come up to `time`. */
static void follow(struct timeline *t, struct world *w, int queues, enum reader reader,
                   uint64_t time)
{
    int k;

    while ((k = earliest(t, queues, reader)) >= 0) {
        struct queue *q = &t->queue[k];
        const struct event *e = queue_at(q, q->next[reader]);
        if (e->time > time)
            break;
        q->next[reader]++;
        world_apply(w, e);
    }
}

/* Brings the world ahead up to `time`. Objects have gone into it when they came. */
static void advance_ahead(struct timeline *t, uint64_t time)
{
    follow(t, &t->r.ahead, OBJECTS, AHEAD, time);
}

/* Asks memory for what the next object events need. */
static void expect_objects(struct timeline *t, const struct queue *q, const struct event *e)
{
    const struct space *space = world_space(&t->r.now, e->pid);

    for (unsigned stage = 0; space && space->objects && stage < 3; stage++) {
        uint64_t i = q->next[NOW] + (3 - stage) * FLIGHT;
        if (i < q->tail)
            cf_intervals_soon(space->objects->set, queue_at(q, i)->start, stage);
    }
}

/* Lets the earliest of all events happen. */
static uint64_t advance_one(struct timeline *t, int k)
{
    struct queue *q = &t->queue[k];
    struct event e = *queue_at(q, q->next[NOW]);

    if (k == OBJECTS)
        expect_objects(t, q, &e);
    /* The world ahead must be. */
    if (k != OBJECTS && q->next[AHEAD] == q->next[NOW])
        advance_ahead(t, e.time);
    world_apply(&t->r.now, &e);
    q->next[NOW]++;
    return e.time;
}

uint64_t timeline_advance(struct timeline *t, uint64_t time)
{
    int k;
    uint64_t next = UINT64_MAX, death;

    while ((k = earliest(t, QUEUES, NOW)) >= 0) {
        next = queue_at(&t->queue[k], t->queue[k].next[NOW])->time;
        if (next > time)
            break;
        advance_one(t, k);
        next = UINT64_MAX;
    }
    world_bury(&t->r.now, time);
    death = world_next_death(&t->r.now);
    return death < next ? death : next;
}

void timeline_expect_lines(struct timeline *t)
{
    if (t->has_lines)
        return;
    t->has_lines = 1;
    world_copy(&t->r.lines, &t->r.now);
    for (int k = 0; k < QUEUES; k++)
        t->queue[k].next[LINES] = t->queue[k].next[NOW];
}

void timeline_advance_lines(struct timeline *t, uint64_t time)
{
    follow(t, &t->r.lines, QUEUES, LINES, time);
    /* it shows what was accessed before its time: of a process that ended just then, too */
    world_bury(&t->r.lines, time ? time - 1 : 0);
}

/* The first event of a queue that a world has still to read. */
static uint64_t oldest(const struct timeline *t, const struct queue *q)
{
    return t->has_lines && q->next[LINES] < q->next[NOW] ? q->next[LINES] : q->next[NOW];
}

/* Lets events happen before their time, for those who did not come in time to see them. */
static void make_room(struct timeline *t, const struct queue *q)
{
    while (q->tail - oldest(t, q) > QUEUE_MOST / 2) {
        int k = earliest(t, QUEUES, NOW);
        if (t->has_lines && q->next[LINES] < q->next[NOW])
            follow(t, &t->r.lines, QUEUES, LINES, queue_at(q, q->next[LINES])->time);
        else
            t->horizon = advance_one(t, k);
    }
}

/* A place for one more event. When too many wait, the oldest happen before their time. */
static struct event *queue_add(struct timeline *t, int k)
{
    struct queue *q = &t->queue[k];

    if (q->tail - oldest(t, q) == QUEUE_MOST)
        make_room(t, q);
    if (q->tail - oldest(t, q) == q->room) {
        uint64_t room = q->room ? q->room * 2 : 256;
        struct event *at = malloc(room * sizeof *at);
        if (!at) {
            t->r.failed = 1;
            return NULL;
        }
        for (uint64_t i = oldest(t, q); i != q->tail; i++)
            at[i & (room - 1)] = *queue_at(q, i);
        free(q->at);
        q->at = at;
        q->room = room;
    }
    struct event *e = queue_at(q, q->tail++);
    memset(e, 0, sizeof *e);
    return e;
}

/* ---- the tables that explain ---- */

static uint32_t u32_at(const uint32_t *values, uint32_t i)
{
    return values ? values[i] : 0;
}

static uint64_t u64_at(const uint64_t *values, uint32_t i)
{
    return values ? values[i] : 0;
}

static void take_tasks(struct timeline *t, const struct cf_frame *f)
{
    const uint64_t *time = cf_u64(f, CF_TIME);
    const uint32_t *pid = cf_u32(f, CF_PID), *tid = cf_u32(f, CF_TID);
    const uint32_t *parent = cf_u32(f, CF_PARENT);
    const uint8_t *op = cf_u8(f, CF_OP);

    for (uint32_t i = 0; op && i < f->rows; i++) {
        if (op[i] != CF_BEGIN && op[i] != CF_EXIT)
            continue;
        struct event *e = queue_add(t, TASKS);
        if (!e)
            return;
        e->time = u64_at(time, i);
        e->pid = u32_at(pid, i);
        e->a = u32_at(parent, i);
        e->b = u32_at(tid, i);
        e->op = op[i];
        if (e->op == CF_BEGIN && e->a)
            places_child(t->places, e->pid, e->a);
    }
}

static void take_maps(struct timeline *t, const struct cf_reader *in, const struct cf_frame *f)
{
    const uint64_t *time = cf_u64(f, CF_TIME), *offset = cf_u64(f, CF_OFFSET);
    const uint64_t *start = cf_u64(f, CF_START), *stop = cf_u64(f, CF_STOP);
    const uint32_t *pid = cf_u32(f, CF_PID), *label = cf_u32(f, CF_LABEL);
    const uint32_t *build = cf_u32(f, CF_BUILD);
    const uint8_t *op = cf_u8(f, CF_OP), *perms = cf_u8(f, CF_PERMS);

    if (!start || !stop)
        return;
    t->has_maps = 1;
    for (uint32_t i = 0; i < f->rows; i++) {
        unsigned what = op ? op[i] : (unsigned)CF_MAPPED;
        if (stop[i] <= start[i] || (what != CF_MAPPED && what != CF_UNMAPPED)) {
            t->odd.bad_maps++;
            continue;
        }
        struct event *e = queue_add(t, MAPS);
        if (!e)
            return;
        e->time = u64_at(time, i);
        e->pid = u32_at(pid, i);
        e->op = (uint8_t)what;
        e->perms = perms ? perms[i] : 0;
        e->start = start[i];
        e->last = stop[i] - 1;
        e->offset = u64_at(offset, i);
        if (what == CF_MAPPED) {
            e->a = names_find(&t->r.names, cf_reader_text(in, u32_at(label, i)),
                              cf_reader_text(in, u32_at(build, i)));
            t->r.failed |= e->a == 0;
        }
    }
}

static void take_stacks(struct timeline *t, const struct cf_frame *f)
{
    const uint32_t *pid = cf_u32(f, CF_PID), *node = cf_u32(f, CF_STACK_ID);
    const uint32_t *parent = cf_u32(f, CF_PARENT);
    const uint64_t *pc = cf_u64(f, CF_PC);

    for (uint32_t i = 0; node && pc && i < f->rows; i++)
        places_node(t->places, u32_at(pid, i), node[i], u32_at(parent, i), pc[i]);
}

/* The object of such a set that begins at an address; NULL: none. */
static const struct cf_interval *object_at(const struct shared *of, uint64_t start)
{
    const uint32_t slot = of ? cf_intervals_overlap(of->set, start, start) : 0;
    const struct cf_interval *i = slot ? &cf_intervals_slots(of->set)[slot] : NULL;

    return i && i->start == start ? i : NULL;
}

/* One row of table object; the world ahead knows the object that a release is for. */
static void take_object(struct timeline *t, struct event *e, uint64_t bytes, uint32_t stack,
                        struct site *site)
{
    struct space *space;

    advance_ahead(t, e->time);
    space = world_space(&t->r.ahead, e->pid);
    *site = (struct site){0, 0, 0};
    if (e->op == CF_ALLOC) {
        if (space)
            *site = places_site(t->places, space, stack);
        e->a = t->objects < UINT32_MAX ? (uint32_t)++t->objects : 0;
        e->b = site->text;
        /* Memory of no bytes has an address all the same, by which it is released. */
        e->last = e->start + (bytes ? bytes - 1 : 0);
        if (e->last < e->start)
            e->last = UINT64_MAX;
    } else {
        const struct cf_interval *i = space ? object_at(space->objects, e->start) : NULL;
        /* Its memory may go before: in the same row of time, or within realloc(). */
        if (space && !i)
            i = object_at(space->unmapped, e->start);
        if (!i) {
            t->odd.unknown_frees++;
            return;
        }
        e->a = i->value;
        e->b = i->extra;
        site->text = e->b;
    }
    world_apply(&t->r.ahead, e);
}

void timeline_take_objects(struct timeline *t, const struct cf_frame *f,
                           const struct object_columns *to)
{
    const uint64_t *time = cf_u64(f, CF_TIME), *addr = cf_u64(f, CF_ADDR);
    const uint64_t *bytes = cf_u64(f, CF_BYTES);
    const uint32_t *pid = cf_u32(f, CF_PID), *stack = cf_u32(f, CF_STACK_ID);
    const uint8_t *op = cf_u8(f, CF_OP);

    if (!addr || !op)
        return;
    t->has_objects = 1;
    for (uint32_t i = 0; i < f->rows; i++) {
        struct space *space = world_space(&t->r.ahead, u32_at(pid, i));
        for (uint32_t stage = 0, soon; space && space->objects && stage < 3; stage++)
            if ((soon = i + (3 - stage) * FLIGHT) < f->rows)
                cf_intervals_soon(space->objects->set, addr[soon], stage);
        struct event now = {.time = u64_at(time, i), .pid = u32_at(pid, i), .start = addr[i]};
        struct site site = {0, 0, 0};
        now.op = op[i];
        if (op[i] == CF_ALLOC || op[i] == CF_FREE)
            take_object(t, &now, u64_at(bytes, i), u32_at(stack, i), &site);
        struct event *e = now.a ? queue_add(t, OBJECTS) : NULL;
        if (e)
            *e = now;
        places_name_node(t->places, world_space(&t->r.ahead, now.pid), now.pid, u32_at(stack, i));
        to->object[i] = now.a;
        to->site[i] = site.text;
        to->function[i] = site.function;
        to->source[i] = site.source;
    }
}

void timeline_take(struct timeline *t, struct cf_reader *in, const struct cf_frame *f)
{
    if (f->table == CF_TASK)
        take_tasks(t, f);
    else if (f->table == CF_MAP)
        take_maps(t, in, f);
    else if (f->table == CF_STACK)
        take_stacks(t, f);
}

/* ---- segments ---- */

int timeline_begin(struct timeline *t, struct cf_writer *w, const struct where *where,
                   const struct place_options *places)
{
    timeline_end(t);
    t->r = (struct resolver){.w = w, .odd = &t->odd, .names.where = where};
    t->r.now.r = t->r.ahead.r = t->r.lines.r = &t->r;
    t->has_maps = t->has_objects = t->has_lines = 0;
    t->horizon = t->objects = 0;
    t->places = places_new(&t->r, places);
    t->r.recent = cf_memory_take(sizeof *t->r.recent);
    if (!t->places || !t->r.recent)
        return -1;
    memset(t->r.recent, 0, sizeof *t->r.recent);
    return 0;
}

void timeline_end(struct timeline *t)
{
    places_free(t->places);
    t->places = NULL;
    if (t->r.w)
        resolver_clear(&t->r);
    for (int k = 0; k < QUEUES; k++) {
        free(t->queue[k].at);
        t->queue[k] = (struct queue){0};
    }
}
