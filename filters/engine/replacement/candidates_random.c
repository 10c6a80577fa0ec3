/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * candidates_random.c - of candidates.h: how likely random victims are to leave what a snapshot
 * shows.
 *
 * A line that is there in the end was not evicted after its last use. Runs draw their victims among
 * the other lines and count how likely that was (importance sampling): the mean of these chances is
 * that of the snapshot. Whether an access misses is all that differs from run to run, so few runs
 * do, and none is lost: the line that was used last is there, so until then a way is left to evict.
 */
#include <math.h>

#include "filters/engine/replacement/candidates_parts.h"

/* The lines of a run: `may_go` may be evicted, `stay` are there until the end. */
struct run {
    uint32_t may_go[CF_CANDIDATES_WAYS], n, stay;
};

static void begin_run(struct cf_candidates *r, struct run *run)
{
    run->n = run->stay = 0;
    for (uint32_t k = 0; k < r->lines; k++) {
        struct member *m = &r->member[k];

        m->place = 0;
        if (!m->before)
            continue;
        if (m->now && !m->accessed) {
            run->stay++;
        } else {
            run->may_go[run->n] = k;
            m->place = ++run->n;
        }
    }
}

/* ln of the chance that no victim of a run was one that had to stay. */
static double random_run(struct cf_candidates *r)
{
    struct run run;
    double chance = 1, ln = 0;

    begin_run(r, &run);
    for (uint32_t i = 0; i < r->events; i++) {
        const uint32_t k = r->event[i] / 2;
        struct member *m = &r->member[k];

        if (!m->place) {
            uint32_t at = run.n;

            if (run.n + run.stay < r->ways) {
                run.n++;
            } else {
                chance *= (double)run.n / r->ways;
                at = cf_random_below(&r->random, run.n);
                r->member[run.may_go[at]].place = 0;
            }
            run.may_go[at] = k;
            m->place = at + 1;
        }
        if (m->now && m->last_event == i) {
            const uint32_t moved = run.may_go[--run.n];

            run.may_go[m->place - 1] = moved;
            r->member[moved].place = m->place;
            run.stay++;
        }
        if (chance < 1e-200) { /* long before it becomes 0 */
            ln += log(chance);
            chance = 1;
        }
    }
    return ln + log(chance);
}

double cfc_ln_random(struct cf_candidates *r)
{
    double ln[RUNS], most = -INFINITY, sum = 0;

    for (uint32_t i = 0; i < r->events; i++)
        r->member[r->event[i] / 2].last_event = i;
    for (int i = 0; i < RUNS; i++) {
        ln[i] = random_run(r);
        most = fmax(most, ln[i]);
    }
    for (int i = 0; i < RUNS; i++)
        sum += exp(ln[i] - most);
    return most + log(sum / RUNS);
}
