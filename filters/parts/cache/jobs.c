/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * jobs.c - the summary by several threads, with the counts of one.
 *
 * The stream is cut into chunks of some frames. A thread unpacks a chunk and runs the first level
 * over it, whichever chunk comes next; then the chunk goes through the levels behind, in the order
 * of the chunks, in whichever thread is free (hierarchy_chunk.h, cf_pool.h). The main thread only
 * reads the bytes of frames.
 *
 * What chunks cannot do is run as one: the chunk waits until all before it are through, and then
 * goes through the whole model, row by row. That is the state that one thread would have.
 *
 * Memory: `jobs` + 2 chunks of 262,144 rows or a frame, or of more where the first level is large,
 * each with the bytes of its frames and what hierarchy_chunk.h says; the columns of 8,192 rows a
 * thread, or of an unpacked frame.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

#include "filters/engine/cache/hierarchy_chunk.h"
#include "filters/parts/cache/cache_parts.h"
#include "formats/base/cf_memory.h"
#include "formats/together/cf_pool.h"
#include "formats/together/cf_processes.h"

/* Rows of a chunk. What is not settled are at most the lines of the first levels, and should cost
   little. */
enum { LEAST_ROWS = 1 << 14, ENOUGH_ROWS = 1 << 18, ROWS_A_LINE = 256, LEAST_A_LINE = 16 };

/* A frame of accesses in a chunk. */
struct taken {
    uint32_t rows;  /* those that can be unpacked */
    size_t stretch; /* its first */
};

/* Rows of a frame up to `to` are on one core and in one space. */
struct stretch {
    uint32_t to, core;
    uint64_t space;
};

struct chunk {
    struct cf_chunk *model;
    struct cf_kept *frames;
    struct taken *taken;
    struct stretch *stretch;
    size_t stretches, taken_room, stretch_room;
    uint64_t rows;
    int as_one; /* it is not for threads */
    int no_memory;
};

struct worker {
    struct cf_reader *reader;
    uint8_t *hit; /* of no interest */
};

struct run {
    struct summary *j;
    struct worker *worker;
    struct cf_pool *pool;
    struct chunk *chunk; /* in a ring */
    unsigned chunks, next;
    uint64_t target; /* rows of a chunk */
    int begun;       /* `core` is known */
    uint32_t core;
    int several; /* another one has come */
    int said;
    struct cf_turns turns;
};

void jobs_say(const struct summary *j, const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (!j->tool->quiet)
        cf_warn(j->tool, "--jobs: %s", text);
}

int jobs_can(const struct summary *j, char *why, size_t size)
{
    const char *frames = options_for_frames(j->o), *text, *name;
    int level;

    if (!summary_is_alone(j->o)) {
        snprintf(why, size, "is for a --summary alone");
    } else if (frames) {
        snprintf(why, size, "with %s what comes first decides on what comes later", frames);
    } else if (!cf_hierarchy_chunks(j->model, &text, &level)) {
        name = level < 0 ? "" : j->machine->level[level].name;
        snprintf(why, size, "%s%s%s", name, *name ? " " : "", text);
    } else {
        return 1;
    }
    return 0;
}

/* ---- a chunk, in a thread ---- */

/* The column of a piece, NULL where there is none. -1 where it does not unpack, which the reader
   then knows. */
static int column(const struct cf_frame *f, unsigned id, const void **values)
{
    *values = cf_late_values(f, id);
    for (unsigned i = 0; !*values && i < f->columns; i++)
        if (f->column[i].id == id && f->column[i].type == cf_column_type(id))
            return -1;
    return 0;
}

/* Rows of a piece, which begin at row `first` of the frame. -1 where the chunk ends with that. */
static int take_piece(struct run *r, struct chunk *c, const struct worker *w,
                      const struct cf_frame *f, const struct stretch *at, uint32_t first,
                      const void *const *of)
{
    const int as_one = c->as_one || cf_chunk_refused(c->model);

    for (uint32_t i = 0, end; i < f->rows; i = end) {
        int bad;

        while (at->to <= first + i)
            at++;
        end = at->to - first < f->rows ? at->to - first : f->rows;
        bad = as_one ? cf_hierarchy_run(r->j->model, of[0], of[1], of[2], i, end, at->core,
                                        at->space, w->hit)
                     : cf_chunk_run(c->model, of[0], of[1], of[2], i, end, at->space, w->hit);
        if (!bad)
            continue;
        c->no_memory |= as_one || !cf_chunk_refused(c->model);
        return -1;
    }
    return 0;
}

static void take_chunk(struct run *r, struct chunk *c, unsigned thread)
{
    struct worker *w = r->worker + thread;
    const unsigned addr = r->j->o->frame.physical ? CF_PHYS : CF_ADDR;

    for (size_t i = 0; i < cf_kept_count(c->frames); i++) {
        struct taken *t = c->taken + i;
        struct cf_frame *f;

        for (uint32_t from = 0; from < t->rows; from += f->rows) {
            const void *of[3];

            if (!cf_kept_piece(c->frames, i, from, w->reader, &f) || column(f, addr, &of[0]) != 0 ||
                column(f, CF_OP, &of[1]) != 0 || column(f, CF_SIZE, &of[2]) != 0) {
                t->rows = from; /* the reader knows why */
                break;
            }
            if (take_piece(r, c, w, f, c->stretch + t->stretch, from, of) != 0)
                return;
        }
    }
}

static void run_first(void *arg, void *job, unsigned thread)
{
    struct run *r = arg;
    struct chunk *c = job;

    cf_chunk_begin(c->model);
    if (!c->as_one)
        take_chunk(r, c, thread);
}

static void run_stage(void *arg, void *job, unsigned stage, unsigned thread)
{
    struct run *r = arg;
    struct chunk *c = job;

    if (c->no_memory)
        return;
    if (!c->as_one && !cf_chunk_refused(c->model)) {
        c->no_memory = cf_chunk_stage(c->model, r->j->model, stage, r->core) != 0;
    } else if (stage == 0) {
        cf_pool_alone(r->pool, stage, thread);
        take_chunk(r, c, thread);
    }
}

/* ---- chunks, in their order ---- */

static void finish(struct run *r, struct chunk *c)
{
    if (c->no_memory)
        cf_out_of_memory(r->j->tool);
    if (!c->as_one && cf_chunk_refused(c->model) && !r->said++)
        jobs_say(r->j, "flushes, or accesses of very many lines: one thread does those parts");
    cf_kept_clear(c->frames);
    c->stretches = 0;
    c->rows = 0;
}

/* Gives the chunk that is being filled to the threads. */
static void give(struct run *r)
{
    struct chunk *const c = r->chunk + r->next;

    if (!cf_kept_count(c->frames))
        return;
    c->as_one = r->several;
    cf_pool_give(r->pool, c);
    r->next = (r->next + 1) % r->chunks;
    if (cf_pool_jobs(r->pool) == r->chunks - 1)
        finish(r, cf_pool_take(r->pool));
}

/* A column that chooses the core or the space: `one` value that all rows have, or one a row; NULL
   where there is none. */
struct chooser {
    int there, same;
    uint32_t one;
    const uint32_t *value;
};

static struct chooser choose(const struct cf_frame *f, unsigned id)
{
    struct chooser c = {0, 1, 0, NULL};
    uint64_t constant;

    for (unsigned i = 0; i < f->columns; i++)
        c.there |= f->column[i].id == id && f->column[i].type == cf_column_type(id);
    if (!c.there)
        return c;
    c.same = cf_frame_constant(f, id, &constant);
    c.one = c.same ? (uint32_t)constant : 0;
    return c;
}

/* 1 where a column does not unpack. */
static int take_values(const struct cf_frame *f, unsigned id, struct chooser *c, int same)
{
    c->value = !c->there ? NULL : same ? &c->one : cf_late_values(f, id);
    return c->there && !c->value;
}

/* Appends the stretches of a frame: 0; 1 where it does not unpack, -1 without memory. */
static int find_stretches(struct run *r, const struct cf_frame *f, struct chunk *c)
{
    const int several = r->j->o->cores > 1;
    struct chooser none = {0, 1, 0, NULL}, pid = choose(f, CF_PID),
                   cpu = several ? choose(f, CF_CPU) : none,
                   tid = several ? choose(f, CF_TID) : none;
    const int same = pid.same && cpu.same && tid.same;
    const uint32_t rows = same ? 1 : f->rows;

    if (take_values(f, CF_PID, &pid, same) || take_values(f, CF_CPU, &cpu, same) ||
        take_values(f, CF_TID, &tid, same))
        return 1;
    for (uint32_t from = 0, to; from < rows; from = to) {
        struct stretch *next;

        if (cf_array_room(&c->stretch, &c->stretch_room, c->stretches + 1, sizeof *next) != 0)
            return -1;
        next = c->stretch + c->stretches++;
        to = cf_cores_piece(r->j->cores, cpu.value, pid.value, tid.value, from, rows, &next->core,
                            &next->space);
        if (!to)
            return -1;
        next->to = same ? f->rows : to;
        next->space = r->j->o->frame.physical ? 0 : next->space; /* processes share memory */
        if (!r->begun)                                           /* before any thread looks at it */
            r->core = next->core;
        r->begun = 1;
        if (next->core == r->core || r->several)
            continue;
        r->several = 1;
        jobs_say(r->j, "a second core runs: one thread does the rest");
    }
    return 0;
}

static void keep(struct run *r, const struct cf_frame *f)
{
    struct chunk *const c = r->chunk + r->next;
    const struct taken taken = {f->rows, c->stretches};
    const int status = f->table == CF_ACCESS && f->rows ? find_stretches(r, f, c) : 1;
    const size_t frames = cf_kept_count(c->frames);

    if (status > 0)
        return;
    cf_must(r->j->tool, status);
    cf_must(r->j->tool, cf_array_room(&c->taken, &c->taken_room, frames + 1, sizeof *c->taken));
    cf_must(r->j->tool, cf_kept_add(c->frames, f));
    c->taken[frames] = taken;
    c->rows += f->rows;
    if (c->rows >= r->target)
        give(r);
}

static void begin(struct run *r, struct cf_reader *in)
{
    struct summary *const j = r->j;
    const unsigned jobs = j->o->jobs;
    uint64_t lines = 0;

    cf_reader_defer(in);
    for (unsigned i = 0; i < j->machine->levels; i++)
        if (j->machine->level[i].depth == 1)
            lines += (uint64_t)j->machine->level[i].sets * j->machine->level[i].ways;
    r->target = lines * ROWS_A_LINE < ENOUGH_ROWS ? lines * ROWS_A_LINE : ENOUGH_ROWS;
    r->target = r->target < lines * LEAST_A_LINE ? lines * LEAST_A_LINE : r->target;
    r->target = r->target < LEAST_ROWS ? LEAST_ROWS : r->target;
    r->chunks = jobs + 2;
    r->chunk = cf_tool_room(j->tool, r->chunks, sizeof *r->chunk);
    for (unsigned i = 0; i < r->chunks; i++) {
        r->chunk[i].frames = cf_need(j->tool, cf_kept_new());
        r->chunk[i].model = cf_need(j->tool, cf_chunk_new(j->machine));
    }
    r->worker = cf_tool_room(j->tool, jobs, sizeof *r->worker);
    for (unsigned i = 0; i < jobs; i++) {
        r->worker[i].reader = cf_need(j->tool, cf_reader_second(in));
        r->worker[i].hit = cf_column_room(j->tool, 1);
    }
    r->pool = cf_pool_new(jobs, r->chunks, run_first, r);
    if (!r->pool)
        cf_die(j->tool, CF_EXIT_ENVIRONMENT, "no %u threads to be had", jobs);
    cf_must(j->tool, cf_pool_stages(r->pool, cf_hierarchy_stages(j->model), run_stage));
}

static void end(struct run *r, struct cf_reader *in)
{
    cf_pool_free(r->pool);
    for (unsigned i = 0; i < r->j->o->jobs; i++) {
        cf_reader_add_problems(in, r->worker[i].reader);
        cf_reader_close(r->worker[i].reader);
    }
    for (unsigned i = 0; i < r->chunks; i++) {
        cf_chunk_free(r->chunk[i].model);
        cf_kept_free(r->chunk[i].frames);
        free(r->chunk[i].taken);
        free(r->chunk[i].stretch);
    }
}

void jobs_run(struct summary *j, struct cf_reader *in)
{
    struct run r = {.j = j,
                    .turns.pids = j->o->frame.physical ? CF_PIDS_ANY : 0,
                    .turns.stated = j->o->cores_stated};
    struct cf_frame *f;

    begin(&r, in);
    while (cf_tool_next(j->tool, in, &f) > 0) {
        if (summary_take(j, f))
            continue;
        cf_turns_check(&r.turns, j->tool, f, j->o->cores);
        keep(&r, f);
    }
    give(&r);
    while (cf_pool_jobs(r.pool))
        finish(&r, cf_pool_take(r.pool));
    end(&r, in);
}
