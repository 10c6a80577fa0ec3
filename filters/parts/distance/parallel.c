/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * parallel.c - distances by several threads, with the same output as by one.
 *
 * The stream is cut into parts of some frames. Threads find the distances within parts; this one
 * reads, joins the parts in their order (stack_join.h), and writes. A part is small, so that
 * little waits to be written, while few lines are new to it; else it grows, since its first
 * references to lines are what a join costs.
 *
 * Memory: `jobs` + 1 parts. A part has the bytes of its frames, a distance in as many bytes as the
 * largest of 4,096 needs, 1 to 8, and 40 bytes a distinct line. And what stack.h says of the lines
 * of all the stream, once more for each thread.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "filters/parts/distance/distance.h"
#include "formats/base/cf_memory.h"
#include "formats/together/cf_pool.h"

enum {
    LEAST = 1 << 21, /* rows of a part */
    MOST_ROWS = 1 << 25,
    OFTEN = 100, /* a part grows where more than one row in so many is a first reference ... */
    GROWTH = 4,  /* ... so many times */
};

/* A frame of accesses in a part. */
struct taken {
    size_t index; /* among the frames */
    size_t piece; /* its first */
    uint32_t rows;
    int damaged;
    size_t at; /* of its distances */
};

struct part {
    struct cf_kept *frames;
    struct taken *taken;
    size_t count, room;
    struct pieces pieces;
    uint64_t rows;
    /* what a thread finds */
    struct cf_bytes dist;
    struct cf_stack_part ends;
    uint64_t *unit; /* its processes or threads by their numbers in it */
    size_t units, unit_room;
    enum trouble trouble;
    double seconds;
};

struct worker {
    struct stacks stacks;
    struct cf_reader *reader;
};

struct parallel {
    struct cf_tool *tool;
    struct stacks *all;
    struct cf_cores *cores;
    struct cf_reader *reader, *second;
    struct cf_writer *writer;
    struct share *share;
    struct worker *worker;
    struct cf_pool *pool;
    struct part *part; /* jobs + 1 of them, in a ring */
    unsigned parts, next;
    uint64_t target; /* rows of a part */
    uint64_t rows;   /* that were kept so far */
    uint64_t *joined;
    size_t joined_room;
    double rate;
    int failed; /* writing */
};

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- distances in as few bytes as those of a block need: 16 more than each, so that the marks are
   small ---- */

enum { MARKS = 16, BLOCK = 4096, HEAD = 8 /* bytes of a block's width */ };

/* The inner loops are of a known length, so that compilers make vectors of them. `dist` has room
   for whole blocks. */
#define SQUEEZE(bits)                                                                              \
    static void squeeze_##bits(const uint64_t *restrict dist, void *restrict to)                   \
    {                                                                                              \
        uint##bits##_t *restrict out = to;                                                         \
                                                                                                   \
        for (uint32_t i = 0; i < BLOCK; i++)                                                       \
            out[i] = (uint##bits##_t)(dist[i] + MARKS);                                            \
    }                                                                                              \
    static void widen_##bits(const void *restrict from, uint64_t *restrict dist)                   \
    {                                                                                              \
        const uint##bits##_t *restrict in = from;                                                  \
                                                                                                   \
        for (uint32_t i = 0; i < BLOCK; i++)                                                       \
            dist[i] = (uint64_t)in[i] - MARKS;                                                     \
    }
SQUEEZE(8)
SQUEEZE(16)
SQUEEZE(32)
SQUEEZE(64)

static unsigned width_of(const uint64_t *dist)
{
    uint64_t any[4] = {0}, all;

    for (uint32_t i = 0; i < BLOCK; i += 4)
        for (unsigned k = 0; k < 4; k++)
            any[k] |= dist[i + k] + MARKS;
    all = any[0] | any[1] | any[2] | any[3];
    return all >> 32 ? 8 : all >> 16 ? 4 : all >> 8 ? 2 : 1;
}

/* Appends the distances of a frame; those behind its end in `dist` may be any. -1 without memory.
 */
static int squeeze(const uint64_t *dist, uint32_t rows, struct cf_bytes *to)
{
    for (uint32_t i = 0; i < rows; i += BLOCK) {
        const uint64_t width = width_of(dist + i);
        uint8_t *place;

        if (cf_bytes_room(to, HEAD + BLOCK * width) != 0)
            return -1;
        place = to->data + to->used;
        memcpy(place, &width, HEAD);
        (width == 1   ? squeeze_8
         : width == 2 ? squeeze_16
         : width == 4 ? squeeze_32
                      : squeeze_64)(dist + i, place + HEAD);
        to->used += HEAD + BLOCK * width;
    }
    return 0;
}

static void widen(const uint8_t *from, uint32_t rows, uint64_t *dist)
{
    for (uint32_t i = 0; i < rows; i += BLOCK) {
        uint64_t width;

        memcpy(&width, from, HEAD);
        (width == 1   ? widen_8
         : width == 2 ? widen_16
         : width == 4 ? widen_32
                      : widen_64)(from + HEAD, dist + i);
        from += HEAD + BLOCK * width;
    }
}

/* ---- a part, in a thread ---- */

static enum trouble take_frame(struct worker *k, struct part *p, struct taken *t, uint64_t first)
{
    struct cf_frame *f;
    enum trouble what;

    t->damaged = 1;
    if (!cf_kept_frame(p->frames, t->index, k->reader, &f) || cf_frame_wanted(f) != 0)
        return FINE; /* the reader knows why */
    what = stacks_frame(&k->stacks, f, p->pieces.count ? p->pieces.piece + t->piece : NULL, first);
    if (what != FINE)
        return what;
    t->damaged = 0;
    t->at = p->dist.used;
    return squeeze(k->stacks.dist, f->rows, &p->dist) != 0 ? NO_MEMORY : FINE;
}

static void take_part(void *of, void *job, unsigned thread)
{
    struct worker *const k = (struct worker *)of + thread;
    struct part *const p = job;
    const double before = seconds();
    uint64_t first = 0;

    p->dist.used = 0;
    k->stacks.part = &p->ends;
    p->trouble = FINE;
    /* room that is usually enough, so that it grows once and is not copied */
    if (cf_bytes_room(&p->dist, p->rows * 4) != 0 ||
        cf_stack_begin_part(k->stacks.stack, &p->ends) != 0)
        p->trouble = NO_MEMORY;
    for (size_t i = 0; i < p->count && p->trouble == FINE; i++) {
        p->trouble = take_frame(k, p, p->taken + i, first);
        first += p->taken[i].rows;
    }
    p->units = cf_groups_count(k->stacks.units);
    if (p->trouble == FINE &&
        (cf_stack_end_part(k->stacks.stack) != 0 ||
         cf_array_room(&p->unit, &p->unit_room, p->units, sizeof(*p->unit)) != 0))
        p->trouble = NO_MEMORY;
    for (uint32_t u = 0; p->trouble == FINE && u < p->units; u++)
        p->unit[u] = cf_groups_value(k->stacks.units, u);
    p->seconds = seconds() - before;
}

/* ---- the parts, in their order ---- */

/* Numbers in the whole stream of the part's processes or threads. */
static uint32_t *number_units(struct parallel *a, const struct part *p)
{
    uint32_t *number = cf_need(a->tool, calloc(p->units + 1, sizeof(*number)));
    const int status =
        cf_groups_number(a->all->units, p->unit, sizeof(*p->unit), (uint32_t)p->units, number);

    if (status != 0)
        report(a->tool, status < 0 ? NO_MEMORY : MANY_UNITS);
    return number;
}

static void join(struct parallel *a, const struct part *p)
{
    const double before = seconds();
    uint32_t *number = number_units(a, p);

    cf_must(a->tool,
            cf_array_room(&a->joined, &a->joined_room, p->ends.firsts + 1, sizeof(*a->joined)));
    if (cf_stack_join(a->all->stack, &p->ends, number, a->joined) != 0)
        report(a->tool, NO_MEMORY);
    free(number);
    a->share->joins += seconds() - before;
    a->share->all += p->seconds;
    a->share->parts++;
}

/* Writes a frame of accesses; *next: the first references that earlier frames have. */
static int write_taken(struct parallel *a, const struct part *p, const struct taken *t,
                       struct cf_frame *f, uint64_t first, size_t *next)
{
    uint64_t *const dist = a->all->dist;

    widen(p->dist.data + t->at, f->rows, dist);
    for (; *next < p->ends.firsts && p->ends.first[*next].row < first + f->rows; ++*next)
        cf_stack_merge(dist + (p->ends.first[*next].row - first), a->joined[*next]);
    return hand_on(a->tool, a->all, f, stacks_weigh(a->all, f->rows, a->rate), a->writer);
}

static void write_part(struct parallel *a, struct part *p)
{
    const struct taken *t = p->taken;
    size_t next = 0, left = p->count;
    uint64_t first = 0;

    for (size_t i = 0; i < cf_kept_count(p->frames) && !a->failed; i++) {
        const int access = left && t->index == i;
        struct cf_frame *f;

        if (cf_kept_frame(p->frames, i, a->second, &f) && (!access || !t->damaged))
            a->failed = (access ? write_taken(a, p, t, f, first, &next)
                                : cf_writer_frame(a->writer, f)) != 0;
        if (access) {
            first += t++->rows;
            left--;
        }
    }
}

/* Larger parts, but at least one for each thread of what is left. */
static void grow(struct parallel *a)
{
    const uint64_t bytes = cf_reader_bytes(a->reader), size = cf_reader_size(a->reader);
    uint64_t most = MOST_ROWS;

    if (size > bytes) {
        const double left = (double)a->rows * (double)(size - bytes) / (double)bytes;

        if (left / a->all->set->jobs < (double)most)
            most = (uint64_t)(left / a->all->set->jobs);
    }
    if (most > a->target * GROWTH)
        most = a->target * GROWTH;
    if (most > a->target)
        a->target = most;
}

/* Joins and writes a part that a thread has taken. */
static void finish(struct parallel *a, struct part *p)
{
    if (p->trouble != FINE)
        report(a->tool, p->trouble);
    join(a, p);
    write_part(a, p);
    if (p->ends.firsts > p->rows / OFTEN && p->rows >= a->target)
        grow(a);
    cf_kept_clear(p->frames);
    p->count = p->pieces.count = 0;
    p->rows = 0;
}

/* Gives the part that is being filled to the threads. */
static void give(struct parallel *a)
{
    struct part *const p = a->part + a->next;
    struct part *done = NULL;

    if (!cf_kept_count(p->frames))
        return;
    if (cf_pool_jobs(a->pool) == a->all->set->jobs)
        done = cf_pool_take(a->pool);
    cf_pool_give(a->pool, p);
    a->next = (a->next + 1) % a->parts;
    if (done)
        finish(a, done);
}

static void finish_all(struct parallel *a)
{
    give(a);
    while (cf_pool_jobs(a->pool))
        finish(a, cf_pool_take(a->pool));
}

/* Nothing more came for a while. */
static void idle(void *of)
{
    struct parallel *a = of;

    finish_all(a);
    (void)cf_writer_flush(a->writer);
}

static void keep(struct parallel *a, struct cf_frame *f)
{
    struct part *const p = a->part + a->next;
    const size_t piece = p->pieces.count;

    if (f->table == CF_ACCESS && f->rows) {
        const int status = a->all->set->per == PER_ALL ? find_pieces(a->cores, f, &p->pieces) : 0;

        if (status > 0)
            return;
        cf_must(a->tool, status);
        cf_must(a->tool, cf_array_room(&p->taken, &p->room, p->count + 1, sizeof(*p->taken)));
        p->taken[p->count++] = (struct taken){cf_kept_count(p->frames), piece, f->rows, 0, 0};
    }
    cf_must(a->tool, cf_kept_add(p->frames, f));
    p->rows += f->table == CF_ACCESS ? f->rows : 0;
    a->rows += f->table == CF_ACCESS ? f->rows : 0;
    if (p->rows >= a->target)
        give(a);
}

static void begin(struct parallel *a)
{
    const unsigned jobs = a->all->set->jobs;

    a->rate = stacks_rate(a->all);
    a->target = LEAST;
    a->parts = jobs + 1;
    a->second = cf_need(a->tool, cf_reader_second(a->reader));
    a->part = cf_tool_room(a->tool, a->parts, sizeof(*a->part));
    for (unsigned i = 0; i < a->parts; i++)
        a->part[i].frames = cf_need(a->tool, cf_kept_new());
    a->worker = cf_tool_room(a->tool, jobs, sizeof(*a->worker));
    for (unsigned i = 0; i < jobs; i++) {
        stacks_prepare(a->tool, &a->worker[i].stacks, a->all->set);
        a->worker[i].stacks.stack = cf_need(a->tool, cf_stack_new(&a->all->set->config));
        a->worker[i].reader = cf_need(a->tool, cf_reader_second(a->reader));
    }
    a->pool = cf_pool_new(jobs, a->parts, take_part, a->worker);
    if (!a->pool)
        cf_die(a->tool, CF_EXIT_ENVIRONMENT, "no %u threads to be had", jobs);
    cf_reader_idle(a->reader, idle, a);
}

static void end(struct parallel *a)
{
    cf_pool_free(a->pool);
    cf_reader_add_problems(a->reader, a->second);
    for (unsigned i = 0; i < a->all->set->jobs; i++) {
        cf_reader_add_problems(a->reader, a->worker[i].reader);
        cf_reader_close(a->worker[i].reader);
        a->all->keys |= a->worker[i].stacks.keys;
        a->all->edges |= a->worker[i].stacks.edges;
        stacks_release(&a->worker[i].stacks);
    }
    for (unsigned i = 0; i < a->parts; i++) {
        cf_kept_free(a->part[i].frames);
        cf_stack_part_free(&a->part[i].ends);
        free(a->part[i].taken);
        free(a->part[i].unit);
        free(a->part[i].pieces.piece);
        free(a->part[i].dist.data);
    }
    free(a->joined);
    cf_reader_close(a->second);
}

void take_in_parts(struct cf_tool *t, struct stacks *all, struct cf_cores *cores,
                   struct cf_partial *partial, struct cf_writer *w, struct share *share,
                   struct cf_frame *f)
{
    struct cf_reader *const r = partial->reader;
    struct parallel a = {
        .tool = t, .all = all, .cores = cores, .reader = r, .writer = w, .share = share};
    const double before = seconds();

    cf_reader_defer(r);
    begin(&a);
    for (; f && !a.failed; f = next_frame(partial, all)) {
        if (f->table == CF_HEADER) {
            finish_all(&a);
            a.failed |= cf_writer_frame(w, f) != 0; /* cf_tool_finish() reports why */
        } else {
            keep(&a, f);
        }
    }
    if (!a.failed)
        finish_all(&a);
    cf_reader_idle(r, NULL, NULL);
    end(&a);
    share->all += seconds() - before;
}
