/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * jobs.c - the summary by several threads, with the counts of one.
 *
 * The main thread unpacks rows and does the first stage of the rule (classify.h) while they are in
 * its caches. What that leaves is a job, which goes through the other stages, each in the order of
 * the rows, in whichever thread is free (cf_pool.h). Of several machines the main thread copies
 * the rows instead, and a job goes through all stages of one after the other.
 *
 * When the ring of jobs is full, the main thread takes part until a quarter of it is done: were it
 * one job, it would always be at the stage for which the others wait.
 *
 * Accesses of very many lines would make a job large: they wait until all before are through, and
 * then one thread takes them.
 *
 * Memory: 32 jobs of up to 16,384 rows, for each machine what hill_stages.c says, and of several
 * the copy, 25 bytes a row.
 */
#include <string.h>

#include "filters/parts/classify/classify.h"
#include "formats/together/cf_pool.h"

enum {
    RING = 32,           /* jobs: the threads have work while a frame is unpacked */
    MOST_BYTES = 1 << 22 /* that a frame accesses */
};

/* A copy of rows. */
struct copy {
    uint64_t addr[PIECE];
    uint32_t size[PIECE], cpu[PIECE], pid[PIECE], tid[PIECE];
    uint8_t op[PIECE];
};

struct job {
    struct copy *copy; /* for several machines; else NULL */
    struct rows rows;  /* in the copy */
    void **piece;      /* of each machine */
    int failed;        /* without memory */
};

struct jobs {
    const struct classify *c;
    const struct rule *rule;
    void *const *state;
    unsigned machines, threads; /* beside the main one */
    struct cf_pool *pool;
    struct job job[RING];
    unsigned next;
    uint8_t *failed; /* by stage */
    int said;
};

static void say(const struct classify *c, const char *text)
{
    if (!c->tool->quiet)
        cf_warn(c->tool, "--jobs: %s", text);
}

/* A stage that failed is of no more use to those behind. */
static void run_stage(void *arg, void *job, unsigned stage, unsigned thread)
{
    struct jobs *j = arg;
    struct job *b = job;
    const unsigned at = stage + !b->copy, machine = at / j->rule->stages;
    void *const state = j->state[machine], *const piece = b->piece[machine];

    (void)thread;
    b->failed |= j->failed[stage];
    if (!b->failed)
        b->failed = (at % j->rule->stages ? j->rule->stage(state, piece, at % j->rule->stages)
                                          : j->rule->first(state, piece, &b->rows)) != 0;
    j->failed[stage] = (uint8_t)b->failed;
}

struct jobs *jobs_begin(const struct classify *c, const struct rule *rule, void *const *state,
                        unsigned machines, unsigned jobs)
{
    struct jobs *j;

    if (jobs < 2)
        return NULL;
    if (c->o.streams || !rule->stages) {
        say(c, c->o.streams ? "is for a --summary alone: one thread does it all"
                            : "is for --rule hill alone: one thread does it all");
        return NULL;
    }
    j = cf_tool_room(c->tool, 1, sizeof *j);
    *j = (struct jobs){
        .c = c, .rule = rule, .state = state, .machines = machines, .threads = jobs - 1};
    j->failed = cf_tool_room(c->tool, (size_t)machines * rule->stages, 1);
    for (unsigned i = 0; i < RING; i++) {
        struct job *const b = j->job + i;

        b->piece = cf_tool_room(c->tool, machines, sizeof *b->piece);
        if (machines > 1)
            b->copy = cf_tool_room(c->tool, 1, sizeof *b->copy);
        for (unsigned k = 0; k < machines; k++)
            b->piece[k] = cf_need(c->tool, rule->piece_new(state[k]));
    }
    j->pool = cf_pool_new(j->threads, RING, NULL, j);
    if (!j->pool)
        cf_die(c->tool, CF_EXIT_ENVIRONMENT, "no %u threads to be had", j->threads);
    cf_must(c->tool, cf_pool_stages(j->pool, machines * rule->stages - (machines == 1), run_stage));
    return j;
}

/* Until so many jobs are left in the pool. */
static void finish(struct jobs *j, unsigned left)
{
    while (cf_pool_jobs(j->pool) > left) {
        const struct job *const b = cf_pool_take_part(j->pool, j->threads);

        if (b->failed)
            cf_out_of_memory(j->c->tool);
    }
}

#define COPY(column)                                                                               \
    (b->rows.column =                                                                              \
         rows->column ? memcpy(b->copy->column, rows->column, rows->rows * sizeof *rows->column)   \
                      : NULL)

static void copy(struct job *b, const struct rows *rows)
{
    b->rows.rows = rows->rows;
    COPY(addr);
    COPY(op);
    COPY(size);
    COPY(cpu);
    COPY(pid);
    COPY(tid);
}

static uint64_t bytes_of(const struct cf_frame *f)
{
    const uint32_t *size = cf_u32(f, CF_SIZE);
    uint64_t bytes = 0;

    for (uint32_t i = 0; size && i < f->rows; i++)
        bytes += size[i];
    return bytes;
}

void jobs_frame(struct jobs *j, struct cf_frame *f, uint8_t *class)
{
    if (bytes_of(f) > MOST_BYTES) {
        if (!j->said++)
            say(j->c, "accesses of very many lines: one thread does those parts");
        finish(j, 0);
        for (unsigned i = 0; i < j->machines; i++)
            j->rule->frame(j->state[i], f, class);
        return;
    }
    for (uint32_t from = 0; from < f->rows;) {
        const struct rows rows = rows_of(f, from);
        struct job *const b = j->job + j->next;

        if (b->copy)
            copy(b, &rows);
        else
            cf_must(j->c->tool, j->rule->first(*j->state, *b->piece, &rows));
        cf_pool_give(j->pool, b);
        j->next = (j->next + 1) % RING;
        if (cf_pool_jobs(j->pool) == RING)
            finish(j, RING * 3 / 4);
        from += rows.rows;
    }
}

void jobs_end(struct jobs *j)
{
    if (!j)
        return;
    finish(j, 0);
    cf_pool_free(j->pool);
    for (unsigned i = 0; i < RING; i++)
        for (unsigned k = 0; k < j->machines; k++)
            j->rule->piece_free(j->job[i].piece[k]);
}
