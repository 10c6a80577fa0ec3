/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * jobs.c - the summary by several threads, with the counts of one.
 *
 * The main thread unpacks rows and copies what the rule needs of them into jobs of 16,384, which go
 * through the stages of the rule (classify.h), of one machine after the other, each in the order of
 * the rows, in whichever thread is free (cf_pool.h). When the ring of jobs is full, the main thread
 * takes part in that.
 *
 * Accesses of very many lines would make a job large: they wait until all before are through, and
 * then one thread takes them.
 *
 * Memory: `jobs` + 2 jobs of 25 bytes a row, and for each machine what hill_stages.c says and a
 * byte a row.
 */
#include <string.h>

#include "filters/parts/classify/classify.h"
#include "formats/program/cf_pool.h"

enum { COLUMNS = 6, ROWS = 16384, MOST_BYTES = 1 << 24 /* that a frame accesses */ };

static const struct {
    unsigned id, width;
} column[COLUMNS] = {{CF_ADDR, 8}, {CF_OP, 1}, {CF_SIZE, 4}, {CF_CPU, 4}, {CF_PID, 4}, {CF_TID, 4}};

struct job {
    struct rows rows; /* when it is given */
    uint32_t count;   /* of its rows so far */
    unsigned there;   /* its columns, a bit each */
    void *value[COLUMNS];
    void **piece; /* of each machine */
    uint8_t *class;
    int failed; /* without memory */
};

struct jobs {
    const struct classify *c;
    const struct rule *rule;
    void *const *state;
    unsigned machines, threads; /* beside the main one */
    struct cf_pool *pool;
    struct job *job; /* in a ring */
    unsigned jobs, next;
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
    const unsigned machine = stage / j->rule->stages;

    (void)thread;
    b->failed |= j->failed[stage];
    if (!b->failed)
        b->failed = j->rule->stage(j->state[machine], b->piece[machine], &b->rows,
                                   b->class + (size_t)machine * ROWS, stage % j->rule->stages) != 0;
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
    *j = (struct jobs){.c = c,
                       .rule = rule,
                       .state = state,
                       .machines = machines,
                       .threads = jobs - 1,
                       .jobs = jobs + 2};
    j->job = cf_tool_room(c->tool, j->jobs, sizeof *j->job);
    j->failed = cf_tool_room(c->tool, (size_t)machines * rule->stages, 1);
    for (unsigned i = 0; i < j->jobs; i++) {
        struct job *const b = j->job + i;

        for (unsigned k = 0; k < COLUMNS; k++)
            b->value[k] = cf_tool_room(c->tool, ROWS, column[k].width);
        b->class = cf_tool_room(c->tool, (size_t)machines * ROWS, 1);
        b->piece = cf_tool_room(c->tool, machines, sizeof *b->piece);
        for (unsigned k = 0; k < machines; k++)
            b->piece[k] = cf_need(c->tool, rule->piece_new(state[k]));
    }
    j->pool = cf_pool_new(j->threads, j->jobs, NULL, j);
    if (!j->pool)
        cf_die(c->tool, CF_EXIT_ENVIRONMENT, "no %u threads to be had", j->threads);
    cf_must(c->tool, cf_pool_stages(j->pool, machines * rule->stages, run_stage));
    return j;
}

static void finish(struct jobs *j)
{
    struct job *const b = cf_pool_take_part(j->pool, j->threads);

    if (b->failed)
        cf_out_of_memory(j->c->tool);
    b->count = 0;
}

static const void *value(const struct job *b, unsigned k)
{
    return b->there >> k & 1 ? b->value[k] : NULL;
}

/* Gives the job that is being filled to the threads. */
static void give(struct jobs *j)
{
    struct job *const b = j->job + j->next;

    if (!b->count)
        return;
    b->rows = (struct rows){b->count,    value(b, 0), value(b, 1), value(b, 2),
                            value(b, 3), value(b, 4), value(b, 5)};
    cf_pool_give(j->pool, b);
    j->next = (j->next + 1) % j->jobs;
    if (cf_pool_jobs(j->pool) == j->jobs - 1)
        finish(j);
}

static void give_all(struct jobs *j)
{
    give(j);
    while (cf_pool_jobs(j->pool))
        finish(j);
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
    const void *of[COLUMNS];
    unsigned there = 0;

    if (bytes_of(f) > MOST_BYTES) {
        if (!j->said++)
            say(j->c, "accesses of very many lines: one thread does those parts");
        give_all(j);
        for (unsigned i = 0; i < j->machines; i++)
            j->rule->frame(j->state[i], f, class);
        return;
    }
    for (unsigned k = 0; k < COLUMNS; k++) {
        of[k] = cf_values(f, column[k].id);
        there |= (unsigned)(of[k] != NULL) << k;
    }
    for (uint32_t from = 0, n; from < f->rows; from += n) {
        struct job *b = j->job + j->next;

        if (b->there != there || b->count == ROWS) {
            give(j);
            b = j->job + j->next;
        }
        b->there = there;
        n = f->rows - from < ROWS - b->count ? f->rows - from : ROWS - b->count;
        for (unsigned k = 0; k < COLUMNS; k++)
            if (of[k])
                memcpy((char *)b->value[k] + (size_t)b->count * column[k].width,
                       (const char *)of[k] + (size_t)from * column[k].width,
                       (size_t)n * column[k].width);
        b->count += n;
    }
}

void jobs_end(struct jobs *j)
{
    if (!j)
        return;
    give_all(j);
    cf_pool_free(j->pool);
    for (unsigned i = 0; i < j->jobs; i++)
        for (unsigned k = 0; k < j->machines; k++)
            j->rule->piece_free(j->job[i].piece[k]);
}
