/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrc_header.c - of what the distances are, as options and header state it, and the sizes of caches
 * that follow from that.
 */
#include <stdlib.h>
#include <string.h>

#include "filters/parts/mrc/mrc.h"

uint64_t *mrc_points(uint64_t points, uint64_t most, size_t *count)
{
    uint64_t last = 0, *result = malloc(64 * points * sizeof(*result));

    *count = 0;
    for (unsigned k = 0; k < 48 && result; k++)
        for (uint64_t j = 0; j < points; j++) {
            uint64_t base = (uint64_t)1 << k, lines = base + base * j / points;

            if (lines > last && lines <= most)
                result[(*count)++] = last = lines;
        }
    return result;
}

static void make_points(struct mrc *m)
{
    uint64_t unit = m->line_size * m->sets; /* bytes of one way */

    if (m->o.at) {
        m->lines = malloc(m->o.at_count * sizeof(*m->lines));
        for (size_t i = 0; i < m->o.at_count && m->lines; i++) {
            if (m->o.at[i] % unit != 0)
                cf_die(&m->tool, CF_EXIT_USAGE,
                       "--at: %llu bytes are no whole number of ways of %llu bytes: %llu sets of"
                       " %llu-byte lines",
                       (unsigned long long)m->o.at[i], (unsigned long long)unit,
                       (unsigned long long)m->sets, (unsigned long long)m->line_size);
            m->lines[m->points++] = m->o.at[i] / unit;
        }
    } else {
        m->lines = mrc_points(m->o.points, m->o.most ? m->o.most / unit : UINT64_MAX, &m->points);
    }
    m->exact = m->lines ? cf_curve_new(m->lines, m->points) : NULL;
    if (!m->exact)
        cf_out_of_memory(&m->tool);
}

/* A fact of column dist, from 1 to `most`; 0 where the header does not state it. */
static uint64_t fact(const struct mrc *m, const struct cf_header *h, const char *key, uint64_t most)
{
    uint64_t n = 0;
    const int stated = cf_header_number(h, "dist", key, &n);

    if (stated && (stated < 0 || n == 0 || n > most))
        cf_die(&m->tool, CF_EXIT_INPUT,
               "the header states of column dist the %s '%s', which is out of range: run "
               "cf-distance again",
               key, cf_header_fact(h, "dist", key));
    return n;
}

/* Whether cf-distance added them before it stated facts. */
static int has_old_distances(const struct cf_header *h)
{
    return !cf_header_fact(h, "dist", "by") && strstr(h->yaml, "\n  - \"cf-distance");
}

/* What the option says, which is reported where it contradicts the fact; else the fact. */
static uint64_t option_or_fact(struct mrc *m, const struct cf_header *h, uint64_t option,
                               const char *name, const char *key, uint64_t most)
{
    uint64_t stated;

    if (!option)
        return fact(m, h, key, most);
    if (cf_header_number(h, "dist", key, &stated) > 0 && stated != option && !m->header_seen)
        cf_warn(&m->tool, "%s %llu: the header states of column dist the %s %llu", name,
                (unsigned long long)option, key, (unsigned long long)stated);
    return option;
}

void mrc_header(struct mrc *m, const struct cf_header *h)
{
    uint64_t line = option_or_fact(m, h, m->o.line_size, "--line-size", "line_size", 1 << 30);
    uint64_t sets = option_or_fact(m, h, m->o.sets, "--sets", "sets", UINT32_MAX), bound = 0;

    if (line & (line - 1))
        cf_die(&m->tool, CF_EXIT_INPUT,
               "the header states lines of %llu bytes for column dist, which is no power of two: "
               "run cf-distance again",
               (unsigned long long)line);
    if (cf_header_number(h, "dist", "bound", &bound) < 0)
        bound = fact(m, h, "bound", UINT64_MAX);
    if ((!line || !sets) && has_old_distances(h) && !m->warned && !m->tool.quiet) {
        m->warned = 1;
        cf_warn(&m->tool,
                "a cf-distance that did not state of what its distances are added them: they are "
                "taken for those of %llu-byte lines and %llu sets: give --line-size and --sets, or "
                "run cf-distance again",
                (unsigned long long)(line ? line : 64), (unsigned long long)(sets ? sets : 1));
    }
    line = line ? line : 64;
    sets = sets ? sets : 1;
    if (!m->header_seen) {
        m->header_seen = 1;
        m->line_size = line;
        m->sets = sets;
        m->bound = bound;
        make_points(m);
        return;
    }
    if (line != m->line_size || sets != m->sets)
        cf_die(&m->tool, CF_EXIT_INPUT,
               "the inputs have distances of different line sizes or sets: make a curve of each");
    if (bound && (!m->bound || bound < m->bound))
        m->bound = bound;
}
