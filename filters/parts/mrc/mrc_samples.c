/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrc_samples.c - counting sampled distances, and how far a curve of them may be off.
 *
 * A sample of lines errs in two ways, which are added as independent standard errors:
 * - Lines differ in how often they miss. The sampled lines are divided among PARTS by a hash of
 *   their own; each part's misses are one of PARTS equal draws, so the variance of their sum is
 *   PARTS / (PARTS - 1) times the sum of squares about their mean, and the part of the lines that
 *   was sampled takes away as much of it (W. G. Cochran, "Sampling Techniques", 3rd edition 1977,
 *   chapters 2 and 9).
 * - A distance of n lines is inferred from n * rate sampled ones (SHARDS, section 3: cf-mrc.c), a
 *   binomial count: n errs by sqrt(n * (1 - rate) / rate), so that the curve may fall so much
 *   earlier or later. Where it falls in steps, as in walks over the same lines, which all have one
 *   distance, its slope at a size says nothing of a step nearby: what counts is how much it changes
 *   within two such errors.
 * Memory: 39 times that of an exact curve.
 */
#include <math.h>
#include <stdlib.h>

#include "filters/parts/mrc/mrc.h"
#include "formats/base/cf_memory.h"

void samples_room(struct mrc *m, size_t groups)
{
    size_t room = m->room;

    cf_must(&m->tool, cf_array_cleared(&m->accesses, &room, groups, sizeof(*m->accesses)));
    cf_must(&m->tool, cf_array_cleared(&m->samples, &m->room, groups, sizeof(*m->samples)));
}

void samples_begin(struct mrc *m)
{
    if (m->sampled)
        return;
    m->sampled = cf_need(&m->tool, cf_curve_new(m->lines, m->points));
    m->fine_lines = make_sizes(&m->tool, FINE, UINT64_MAX, &m->fine_points);
    m->fine = cf_need(&m->tool, cf_curve_new(m->fine_lines, m->fine_points));
}

uint64_t *make_sizes(struct cf_tool *t, uint64_t points, uint64_t most, size_t *count)
{
    uint64_t last = 0, *result = cf_tool_room(t, 64 * points, sizeof(*result));

    *count = 0;
    for (unsigned k = 0; k < 48; k++)
        for (uint64_t j = 0; j < points; j++) {
            uint64_t base = (uint64_t)1 << k, lines = base + base * j / points;

            if (lines > last && lines <= most)
                result[(*count)++] = last = lines;
        }
    return result;
}

/* Another hash than the one that chose the sample, which sampled lines have in common. */
static inline uint32_t part_of(uint64_t line)
{
    uint64_t h = (line ^ line >> 31) * 0xbf58476d1ce4e5b9u;

    h = (h ^ h >> 29) * 0x94d049bb133111ebu;
    return (uint32_t)(h >> 32) % PARTS;
}

/* Decoded for these distances alone. NULL where it is damaged, which the reader has noted. */
static const uint64_t *addresses(const struct mrc *m, const struct cf_frame *f)
{
    for (unsigned i = 0; i < f->columns; i++)
        if (f->column[i].id == CF_ADDR)
            return cf_late_values(f, CF_ADDR);
    cf_die(&m->tool, CF_EXIT_INPUT,
           "table access has no column 'addr', which sampled distances need: keep it in --columns");
}

int samples_count(struct mrc *m, const struct cf_frame *f, const uint32_t *group,
                  const uint64_t *weight, const double *stands_for, size_t groups)
{
    const uint64_t *dist = cf_u64(f, CF_DIST), *addr = addresses(m, f);
    const unsigned shift = 63 - (unsigned)__builtin_clzll(m->line_size);
    uint64_t *accesses;
    uint32_t n = 0, none = 0;

    if (!addr)
        return 0;
    samples_begin(m);
    samples_room(m, groups);
    accesses = m->accesses;
    /* a few rows among the others: no branch, which would be foreseen badly */
    for (uint32_t i = 0; i < f->rows; i++) {
        m->part[n] = i;
        n += dist[i] - CF_DIST_UNSAMPLED > 1; /* NONE is the next value */
        if (group || weight)
            accesses[group ? group[i] : 0] += dist[i] != CF_DIST_NONE ? weight ? weight[i] : 1 : 0;
        else
            none += dist[i] == CF_DIST_NONE;
    }
    if (!group && !weight)
        accesses[0] += f->rows - none;
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t i = m->part[k], g = group ? group[i] : 0;
        const uint64_t w = weight ? weight[i] : 1;
        const double s = stands_for[i] >= 1 && stands_for[i] < 1e12 ? stands_for[i] : 1;

        m->weighed += (double)w * s;
        m->samples[g] += w;
        m->dist[k] = dist[i];
        m->weight[k] = w * (uint64_t)(s * FIXED + 0.5);
        m->part[k] = g * PARTS + part_of(addr[i] >> shift);
    }
    if (m->weighed * FIXED > 0x1p63)
        cf_die(&m->tool, CF_EXIT_INPUT,
               "the samples stand for more than 2^47 accesses, which no recording has: "
               "what made column weight or dist_weight wrote wrong numbers");
    if (cf_curve_add(m->sampled, m->dist, m->part, m->weight, n, groups * PARTS) != 0)
        return -1;
    for (uint32_t i = 0; group && i < n; i++)
        m->part[i] /= PARTS;
    return cf_curve_add(m->fine, m->dist, group ? m->part : NULL, m->weight, n, groups);
}

void samples_check(const struct mrc *m)
{
    const size_t groups = m->by ? cf_groups_count(m->groups) : 1;

    for (size_t g = 0; m->exact && g < groups; g++)
        if (cf_curve_named(m->exact, g, CF_DIST_UNSAMPLED))
            cf_die(
                &m->tool, CF_EXIT_INPUT,
                "table access has no column 'dist_weight', which sampled distances need: keep it "
                "in --columns");
}

uint64_t part_misses(const struct cf_curve *c, size_t group, uint64_t *misses, size_t points)
{
    uint64_t compulsory = cf_curve_named(c, group, CF_DIST_COMPULSORY);
    uint64_t always = compulsory + cf_curve_named(c, group, CF_DIST_BEYOND);

    cf_curve_misses(c, group, misses);
    for (size_t i = 0; i < points; i++)
        misses[i] += always;
    return compulsory;
}

/* How far the curve may lie off at a size, in misses, since distances are estimates: half of what
   it changes up to two standard errors of the size, on the side where it changes more. `fine`:
   sampled misses by fine size; there, in FIXED, are `here` at `lines` and `all` without a cache. */
static double sideways(const struct mrc *m, const uint64_t *fine, double lines, double here,
                       double all, double rate)
{
    const double two = 2 * sqrt(lines * (1 - rate) / rate);
    double below = all, above = here;
    size_t i = 0;

    for (; i < m->fine_points && (double)m->fine_lines[i] <= lines - two; i++)
        below = (double)fine[i];
    while (i + 1 < m->fine_points && (double)m->fine_lines[i] < lines + two)
        i++;
    if (i < m->fine_points)
        above = (double)fine[i];
    return fmax(below - here, here - above) / 2 / FIXED;
}

static void find_errors(const struct mrc *m, const uint64_t *part, const uint64_t *fine,
                        struct line *l)
{
    double left = 1 - l->rate, all = (double)l->accesses;

    for (size_t i = 0; i < m->points; i++) {
        double mean = 0, squares = 0, off;

        for (unsigned p = 0; p < PARTS; p++)
            mean += (double)part[p * m->points + i] / FIXED / PARTS;
        for (unsigned p = 0; p < PARTS; p++) {
            off = (double)part[p * m->points + i] / FIXED - mean;
            squares += off * off;
        }
        off = l->rate > 0 && left > 0 ? sideways(m, fine, (double)m->lines[i], mean * PARTS * FIXED,
                                                 all * FIXED, l->rate)
                                      : 0;
        squares = left * squares * PARTS / (PARTS - 1) + off * off;
        /* parts that do not differ, since nothing missed, say nothing of the lines left out */
        l->error[i] = squares > 0 || left <= 0 ? sqrt(squares) / all : NAN;
    }
}

void samples_add(const struct mrc *m, size_t group, struct line *l)
{
    uint64_t *part = cf_need(&m->tool, malloc((PARTS * m->points + 1) * sizeof(*part)));
    uint64_t *fine = cf_need(&m->tool, malloc(m->fine_points * sizeof(*fine)));
    uint64_t accesses = m->accesses[group], compulsory = 0;
    double stand_for;

    for (unsigned p = 0; p < PARTS; p++)
        compulsory += part_misses(m->sampled, group * PARTS + p, part + p * m->points, m->points);
    for (size_t i = 0; i < m->points; i++) {
        uint64_t sum = 0;

        for (unsigned p = 0; p < PARTS; p++)
            sum += part[p * m->points + i];
        sum = (sum + FIXED / 2) / FIXED;
        l->misses[i] += sum < accesses ? sum : accesses;
    }
    l->accesses += accesses;
    compulsory = (compulsory + FIXED / 2) / FIXED;
    l->compulsory += compulsory < accesses ? compulsory : accesses;
    stand_for =
        (double)(part_misses(m->fine, group, fine, m->fine_points) +
                 cf_curve_total(m->fine, group) + cf_curve_named(m->fine, group, CF_DIST_BEYOND));
    /* that of lines, which the distances err by: the group may have more or less of its own */
    l->rate = !accesses ? 1 : stand_for > 0 ? (double)m->samples[group] * FIXED / stand_for : 0;
    find_errors(m, part, fine, l);
    free(part);
    free(fine);
}
