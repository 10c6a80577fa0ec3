/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * candidates_random.c - of candidates.h: how likely random victims are to leave what a snapshot
 * shows.
 *
 * Runs show how many of the accessed lines survive, and how likely each of them does. The chance of
 * the very lines, given their number, follows from the second: runs alone could never show each of
 * the many choices.
 */
#include <math.h>

#include "filters/engine/replacement/gamma.h"
#include "filters/engine/replacement/candidates_parts.h"

/* Accessed lines that survive one run with random victims. */
static uint32_t random_run(struct cf_candidates *r, const struct view *v)
{
    uint32_t in[CF_CANDIDATES_WAYS], n = 0, survived = 0;

    for (uint32_t k = 0; k < r->lines; k++)
        r->member[k].place = 0;
    for (uint32_t w = 0; w < r->ways; w++)
        if (v->before[w] != CF_CACHE_NONE) {
            in[n] = (uint32_t)cfc_number_of(r, v->before[w]);
            r->member[in[n]].place = n + 1;
            n++;
        }
    for (uint32_t i = 0; i < r->events; i++) {
        const uint32_t k = r->event[i] / 2;
        uint32_t at;

        if (r->member[k].place)
            continue;
        if (n < r->ways) {
            at = n++;
        } else {
            at = cf_random_below(&r->random, r->ways);
            r->member[in[at]].place = 0;
        }
        in[at] = k;
        r->member[k].place = at + 1;
    }
    for (uint32_t k = 0; k < r->lines; k++) {
        const int there = r->member[k].accessed && r->member[k].place;

        survived += there;
        r->member[k].kept += there;
    }
    return survived;
}

/* Odds of an accessed line to survive. */
static double odds(const struct cf_candidates *r, uint32_t k)
{
    const uint32_t kept = r->member[k].kept;

    return (kept + 0.5) / (RUNS - kept + 0.5);
}

/* ln of the sum, over all choices of `n` of the accessed lines but `last`, of the product of their
   odds: the elementary symmetric polynomial, line by line. */
static double ln_all_choices(const struct cf_candidates *r, uint32_t last, uint32_t n)
{
    double sum[CF_CANDIDATES_WAYS + 1] = {1}, scale = 0;

    for (uint32_t k = 0; k < r->lines; k++) {
        if (!r->member[k].accessed || k == last)
            continue;
        for (uint32_t i = n; i > 0; i--)
            sum[i] += sum[i - 1] * odds(r, k);
        for (uint32_t i = 0; i <= n; i++)
            if (sum[i] > 1e200) {
                for (uint32_t m = 0; m <= n; m++)
                    sum[m] *= 1e-200;
                scale += 200 * log(10);
            }
    }
    return log(sum[n]) + scale;
}

double cfc_ln_random(struct cf_candidates *r, const struct view *v, uint32_t numbers)
{
    const uint32_t last = r->event[r->events - 1] / 2;
    uint32_t as_here = 0;
    double chance = -cf_ln_choose(v->others, v->others_left);

    if (v->accessed == 1)
        return chance;
    for (uint32_t k = 0; k < r->lines; k++)
        r->member[k].kept = 0;
    for (int i = 0; i < RUNS; i++)
        as_here += random_run(r, v) == v->survived;
    chance += log((as_here + 1.0) / (RUNS + (double)numbers));
    for (uint32_t k = 0; k < r->lines; k++)
        if (r->member[k].accessed && r->member[k].now && k != last)
            chance += log(odds(r, k));
    return chance - ln_all_choices(r, last, v->survived - 1);
}
