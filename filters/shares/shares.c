/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shares.c - a stream in chunks, by threads, each with a share of the sets (see shares.h).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "filters/shares/shares.h"
#include "formats/base/cf_memory.h"
#include "formats/machine/cf_machine.h"
#include "formats/program/cf_pool.h"
#include "formats/program/cf_processes.h"

enum trouble { FINE, NO_MEMORY, TOO_LARGE, DAMAGED /* of a frame, which the reader then knows */ };

/* A frame of accesses in a chunk. */
struct cf_shares_frame {
    size_t index;   /* among the frames */
    size_t stretch; /* its first */
    uint32_t rows;
    int damaged;
};

/* Rows of a frame up to `to` are on one core and in one space. */
struct cf_shares_stretch {
    uint32_t to, core;
    uint64_t space;
};

enum { MOST_FRAMES = 1024 /* in a chunk */ };

struct worker {
    struct cf_reader *reader;
    struct cf_share_maker *maker;
    uint8_t *hit; /* where no one wants it */
    size_t hit_room;
};

struct run {
    struct cf_shares *s;
    struct worker *worker;
    struct cf_reader *second;
    struct cf_pool *pool;
    struct cf_chunk *chunk; /* in a ring */
    unsigned chunks, next;
    uint8_t *hit; /* of a frame */
    struct cf_turns turns;
    int failed; /* writing */
};

unsigned cf_shares_of(const struct cf_tool *t, const struct cf_machine *m,
                      const struct cf_hierarchy *h, unsigned jobs)
{
    const char *why;
    int level;
    const unsigned most = cf_hierarchy_shares(h, &why, &level);

    if (most == 1 && jobs > 1 && !t->quiet)
        cf_warn(t, "--jobs: %s%s%s: one thread does it all", level < 0 ? "" : m->level[level].name,
                level < 0 ? "" : " ", why);
    return jobs < most ? jobs : most;
}

/* ---- rows to references, in a thread ---- */

/* The column of a piece, NULL where there is none. -1 where it does not decode, which the reader
   then knows. */
static int column(const struct cf_frame *f, unsigned id, const void **values)
{
    *values = cf_late_values(f, id);
    for (unsigned i = 0; !*values && i < f->columns; i++)
        if (f->column[i].id == id && f->column[i].type == cf_column_type(id))
            return -1;
    return 0;
}

/* Rows of a piece, which begin at row `first` of the chunk and `from` of the frame. */
static enum trouble take_piece(struct worker *w, const struct cf_shares *s, struct cf_chunk *c,
                               const struct cf_shares_frame *t, const struct cf_frame *f,
                               uint32_t from, uint32_t first)
{
    const void *addr, *op, *size;
    const struct cf_shares_stretch *at = c->stretch + t->stretch;
    uint8_t *const ops = (s->numbered ? c->row_op : c->op) + first;

    if (column(f, s->physical ? CF_PHYS : CF_ADDR, &addr) != 0 || !addr ||
        column(f, CF_OP, &op) != 0 || column(f, CF_SIZE, &size) != 0)
        return DAMAGED;
    if (op)
        memcpy(ops, op, f->rows);
    else
        memset(ops, CF_LOAD, f->rows);
    for (uint32_t i = 0, end; i < f->rows; i = end) {
        while (at->to <= from + i)
            at++;
        end = at->to - from < f->rows ? at->to - from : f->rows;
        if (cf_share_rows(w->maker, addr, op, size, i, end, at->core, at->space, first, c->refs,
                          s->numbered ? &c->all : NULL) != 0)
            return errno == E2BIG ? TOO_LARGE : NO_MEMORY;
    }
    return FINE;
}

static enum trouble take_frame(struct worker *w, const struct cf_shares *s, struct cf_chunk *c,
                               struct cf_shares_frame *t, uint32_t first)
{
    for (uint32_t from = 0, n; from < t->rows; from += n) {
        struct cf_frame *f;
        enum trouble what;

        t->damaged = 1;
        if (!cf_kept_piece(c->frames, t->index, from, w->reader, &f))
            return FINE; /* the reader knows why */
        n = f->rows;
        what = take_piece(w, s, c, t, f, from, first + from);
        if (what != FINE)
            return what == DAMAGED ? FINE : what;
        t->damaged = 0;
    }
    return FINE;
}

/* Those that are filled when the references are known: of `count` of them, or of all rows. */
static enum trouble make_arrays(const struct cf_shares *s, struct cf_chunk *c, uint32_t count)
{
    for (unsigned k = 0; s->writer && k < s->shares; k++) {
        size_t room = c->hit_room;

        if (count > room) {
            free(c->hit[k]);
            c->hit[k] = NULL;
            room = 0;
        }
        if (cf_array_room(&c->hit[k], &room, (size_t)count + 1, 1) != 0)
            return NO_MEMORY;
        memset(c->hit[k], 0, count);
    }
    if (s->writer && count > c->hit_room)
        c->hit_room = count;
    c->hits = count;
    if (!s->numbered)
        return FINE;
    if (cf_array_room(&c->op, &c->op_room, (size_t)count + 1, 1) != 0)
        return NO_MEMORY;
    for (uint32_t i = 0; i < count; i++)
        c->op[i] = c->row_op[c->all.row[i]];
    return FINE;
}

static void make_refs(void *arg, void *job, unsigned thread)
{
    struct run *const r = arg;
    const struct cf_shares *const s = r->s;
    struct cf_chunk *const c = job;
    int trouble = FINE;
    uint32_t first = 0;

    c->all.count = 0;
    for (unsigned k = 0; k < s->shares; k++)
        cf_share_refs_clear(&c->refs[k]);
    if (cf_array_room(s->numbered ? &c->row_op : &c->op,
                      s->numbered ? &c->row_op_room : &c->op_room, (size_t)c->rows + 1, 1) != 0)
        trouble = NO_MEMORY;
    for (size_t i = 0; i < c->frame_count && trouble == FINE; i++) {
        trouble = take_frame(r->worker + thread, s, c, c->frame + i, first);
        first += c->frame[i].rows;
    }
    if (trouble == FINE)
        trouble = make_arrays(s, c, s->numbered ? (uint32_t)c->all.count : c->rows);
    c->trouble = trouble;
}

/* ---- lanes, in a thread ---- */

static int run_share(struct run *r, struct cf_chunk *c, unsigned share, struct worker *w)
{
    const struct cf_shares *s = r->s;
    uint8_t *hit = c->hit[share];

    if (!s->writer) {
        if (cf_array_room(&w->hit, &w->hit_room, (size_t)c->hits + 1, 1) != 0)
            return -1;
        hit = w->hit;
    }
    if (s->share && s->share(s->arg, c, share) != 0)
        return -1;
    return cf_hierarchy_share(s->model[share], &c->refs[share], c->op, hit);
}

static void run_lane(void *arg, void *job, unsigned lane, unsigned thread)
{
    struct run *const r = arg;
    const struct cf_shares *const s = r->s;
    struct cf_chunk *const c = job;
    int bad;

    if (__atomic_load_n(&c->trouble, __ATOMIC_RELAXED) != FINE)
        return;
    /* those of the program first, which are few and long */
    if (lane < s->lanes)
        bad = s->lane(s->arg, c, lane);
    else
        bad = run_share(r, c, lane - s->lanes, r->worker + thread);
    if (bad)
        __atomic_store_n(&c->trouble, NO_MEMORY, __ATOMIC_RELAXED);
}

/* ---- chunks, in their order ---- */

/* The column of the frame at row `first` of the chunk. */
static void collect_hits(struct run *r, const struct cf_chunk *c, uint32_t first, uint32_t rows,
                         size_t *next)
{
    const struct cf_shares *s = r->s;
    uint8_t *of_share[CF_MOST_SHARES] = {NULL};

    if (!s->numbered) {
        for (unsigned k = 0; k < s->shares; k++)
            of_share[k] = c->hit[k] + first;
        cf_share_hits(s->model[0], c->op + first, rows, of_share, s->shares, r->hit);
        return;
    }
    cf_share_hits(s->model[0], c->row_op + first, rows, of_share, 0, r->hit);
    for (; *next < c->all.count && c->all.row[*next] < first + rows; ++*next) {
        uint8_t *const hit = r->hit + (c->all.row[*next] - first);

        for (unsigned k = 0; k < s->shares; k++)
            *hit = c->hit[k][*next] > *hit ? c->hit[k][*next] : *hit;
    }
}

static void write_chunk(struct run *r, struct cf_chunk *c)
{
    const struct cf_shares_frame *t = c->frame;
    const struct cf_shares *s = r->s;
    size_t next = 0, left = c->frame_count;
    uint32_t first = 0;

    for (size_t i = 0; i < cf_kept_count(c->frames) && !r->failed; i++) {
        const int access = left && t->index == i;
        struct cf_frame *f;

        if (access && !t->damaged)
            collect_hits(r, c, first, t->rows, &next);
        if ((!access || !t->damaged) && cf_kept_frame(c->frames, i, r->second, &f))
            r->failed = (access ? s->frame(s->arg, c, f, first, r->hit)
                                : cf_writer_frame(s->writer, f)) != 0;
        if (access) {
            first += t++->rows;
            left--;
        }
    }
}

static void finish(struct run *r, struct cf_chunk *c)
{
    const struct cf_shares *s = r->s;

    if (c->trouble == TOO_LARGE)
        cf_die(
            s->tool, CF_EXIT_ENVIRONMENT,
            "--jobs: accesses of so many lines that threads cannot keep them: take one, --jobs 1");
    if (c->trouble != FINE)
        cf_out_of_memory(s->tool);
    if (s->done)
        s->done(s->arg, c);
    if (s->writer)
        write_chunk(r, c);
    cf_kept_clear(c->frames);
    c->frame_count = c->stretches = 0;
    c->rows = 0;
}

/* Gives the chunk that is being filled to the threads. */
static void give(struct run *r)
{
    struct cf_chunk *const c = r->chunk + r->next;

    if (!cf_kept_count(c->frames))
        return;
    cf_pool_give(r->pool, c);
    r->next = (r->next + 1) % r->chunks;
    if (cf_pool_jobs(r->pool) == r->chunks - 1)
        finish(r, cf_pool_take(r->pool));
}

static void finish_all(struct run *r)
{
    give(r);
    while (cf_pool_jobs(r->pool))
        finish(r, cf_pool_take(r->pool));
}

/* Nothing more came for a while. */
static void idle(void *of)
{
    struct run *r = of;

    finish_all(r);
    (void)cf_writer_flush(r->s->writer);
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
    c.one = (uint32_t)constant;
    return c;
}

/* 1 where a column does not decode. */
static int take_values(const struct cf_frame *f, unsigned id, struct chooser *c, int same)
{
    c->value = !c->there ? NULL : same ? &c->one : cf_late_values(f, id);
    return c->there && !c->value;
}

/* Appends the stretches of a frame: 0; 1 where it does not decode, -1 without memory. */
static int find_stretches(const struct cf_shares *s, const struct cf_frame *f, struct cf_chunk *c)
{
    const int several = s->core_count > 1;
    struct chooser none = {0, 1, 0, NULL}, pid = choose(f, CF_PID),
                   cpu = several ? choose(f, CF_CPU) : none,
                   tid = several ? choose(f, CF_TID) : none;
    const int same = pid.same && cpu.same && tid.same;
    const uint32_t rows = same ? 1 : f->rows;

    if (take_values(f, CF_PID, &pid, same) || take_values(f, CF_CPU, &cpu, same) ||
        take_values(f, CF_TID, &tid, same))
        return 1;
    for (uint32_t from = 0, to; from < rows; from = to) {
        struct cf_shares_stretch *next;

        if (cf_array_room(&c->stretch, &c->stretch_room, c->stretches + 1, sizeof(*c->stretch)) !=
            0)
            return -1;
        next = c->stretch + c->stretches++;
        to = cf_cores_piece(s->cores, cpu.value, pid.value, tid.value, from, rows, &next->core,
                            &next->space);
        if (!to)
            return -1;
        next->to = same ? f->rows : to;
        next->space = s->physical ? 0 : next->space; /* processes share memory */
    }
    return 0;
}

static void keep(struct run *r, struct cf_frame *f)
{
    struct cf_chunk *const c = r->chunk + r->next;
    const size_t stretch = c->stretches;

    if (f->table == CF_ACCESS && f->rows) {
        const int status = find_stretches(r->s, f, c);

        if (status > 0)
            return;
        cf_must(r->s->tool, status);
        cf_must(r->s->tool,
                cf_array_room(&c->frame, &c->frame_room, c->frame_count + 1, sizeof(*c->frame)));
        c->frame[c->frame_count++] =
            (struct cf_shares_frame){cf_kept_count(c->frames), stretch, f->rows, 0};
        c->rows += f->rows;
    } else if (!r->s->writer) {
        return;
    }
    cf_must(r->s->tool, cf_kept_add(c->frames, f));
    if (c->rows >= CF_CHUNK_ROWS || cf_kept_count(c->frames) >= MOST_FRAMES)
        give(r);
}

static void begin(struct run *r)
{
    struct cf_shares *const s = r->s;

    cf_reader_defer(s->reader);
    r->chunks = s->jobs + 2;
    r->second = cf_need(s->tool, cf_reader_second(s->reader));
    if (s->writer)
        r->hit = cf_column_room(s->tool, 1);
    r->chunk = cf_tool_room(s->tool, r->chunks, sizeof(*r->chunk));
    for (unsigned i = 0; i < r->chunks; i++) {
        r->chunk[i].frames = cf_need(s->tool, cf_kept_new());
        r->chunk[i].refs = cf_tool_room(s->tool, s->shares, sizeof(*r->chunk[i].refs));
        r->chunk[i].hit = cf_tool_room(s->tool, s->shares, sizeof(*r->chunk[i].hit));
    }
    r->worker = cf_tool_room(s->tool, s->jobs, sizeof(*r->worker));
    for (unsigned i = 0; i < s->jobs; i++) {
        r->worker[i].reader = cf_need(s->tool, cf_reader_second(s->reader));
        r->worker[i].maker = cf_need(s->tool, cf_share_maker_new(s->model[0], s->shares));
    }
    r->pool = cf_pool_new(s->jobs, r->chunks, make_refs, r);
    if (!r->pool)
        cf_die(s->tool, CF_EXIT_ENVIRONMENT, "no %u threads to be had", s->jobs);
    cf_must(s->tool, cf_pool_lanes(r->pool, s->lanes + s->shares, run_lane));
    cf_reader_idle(s->reader, s->writer ? idle : NULL, r);
}

static void end(struct run *r)
{
    struct cf_shares *const s = r->s;

    cf_reader_idle(s->reader, NULL, NULL);
    cf_pool_free(r->pool);
    cf_reader_add_problems(s->reader, r->second);
    cf_reader_close(r->second);
    for (unsigned i = 0; i < s->jobs; i++) {
        cf_reader_add_problems(s->reader, r->worker[i].reader);
        cf_reader_close(r->worker[i].reader);
        cf_share_maker_count(r->worker[i].maker, s->model[0]);
        cf_share_maker_free(r->worker[i].maker);
        free(r->worker[i].hit);
    }
    for (unsigned i = 0; i < r->chunks; i++) {
        struct cf_chunk *const c = r->chunk + i;

        for (unsigned k = 0; k < s->shares; k++) {
            cf_share_refs_free(&c->refs[k]);
            free(c->hit[k]);
        }
        cf_share_list_free(&c->all);
        cf_kept_free(c->frames);
        free(c->frame);
        free(c->stretch);
        free(c->op);
        free(c->row_op);
    }
    for (unsigned k = 1; k < s->shares; k++)
        cf_hierarchy_add(s->model[0], s->model[k]);
}

void cf_shares_run(struct cf_shares *s)
{
    struct run r = {.s = s};
    struct cf_frame *f;

    begin(&r);
    while (!r.failed && cf_tool_next(s->tool, s->reader, &f) > 0) {
        cf_turns_check(&r.turns, s->tool, f, s->core_count);
        if (f->table == CF_HEADER && s->writer) {
            finish_all(&r);
            r.failed |= s->header(s->arg, f) != 0; /* cf_tool_finish() reports why */
        } else if (f->table != CF_HEADER) {
            keep(&r, f);
        }
    }
    if (!r.failed)
        finish_all(&r);
    end(&r);
}
