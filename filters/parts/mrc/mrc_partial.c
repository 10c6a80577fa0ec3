/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrc_partial.c - curves as a partial result: how many distances lie between two sizes.
 *
 * A count stands at the least distance of its interval. Weights of samples are rounded row by row
 * to whole numbers (FIXED), so that no order matters. Memory: the sizes of one curve; of a frame
 * of a result, columns.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "formats/base/cf_memory.h"
#include "filters/parts/mrc/mrc.h"

/* What a row is, in cf-stream(5), "Partial results". */
enum { ENTRY_EXACT = 1, ENTRY_SAMPLED = 2, ENTRY_FINE = 3, ENTRY_GROUP = 4, ENTRY_BOUND = 5 };

char *mrc_options(const struct mrc *m)
{
    const struct options *o = &m->o;
    char *text = NULL;
    size_t bytes;
    FILE *out = cf_need(&m->tool, open_memstream(&text, &bytes));

    fprintf(out, "by %s", o->by ? o->by : "none");
    if (o->at.count)
        fputs("; at", out);
    for (size_t i = 0; i < o->at.count; i++)
        fprintf(out, " %" PRIu64, o->at.value[i]);
    if (!o->at.count)
        fprintf(out, "; points %" PRIu64, o->points);
    if (o->most)
        fprintf(out, "; max %" PRIu64, o->most);
    if (o->line_size)
        fprintf(out, "; line-size %" PRIu64, o->line_size);
    if (o->sets)
        fprintf(out, "; sets %" PRIu64, o->sets);
    return cf_need(&m->tool, cf_memory_text(out, &text));
}

/* ---- writing ---- */

struct row {
    uint8_t entry;
    size_t group;
    uint64_t dist, part;
    const uint64_t *sum;
    unsigned sums;
};

static void put(struct mrc *m, const struct row *r)
{
    const uint64_t by = m->by ? cf_groups_value(m->groups, (uint32_t)r->group) : 0;
    const int text = cf_column_type(m->by) == CF_STR;

    cf_partial_row(&m->partial, &(struct cf_partial_row){
                                    .entry = r->entry,
                                    .keys = 3,
                                    .texts = 1,
                                    .sums = r->sums,
                                    .key = {text ? 0 : by, r->dist, r->part},
                                    .text = {text ? cf_reader_text(m->reader, (uint32_t)by) : ""},
                                    .sum = r->sum,
                                });
}

static void put_count(struct mrc *m, struct row r, uint64_t dist, uint64_t count)
{
    r.dist = dist;
    r.sum = &count;
    r.sums = 1;
    if (count)
        put(m, &r);
}

/* The counts of group `of` of a curve of such sizes. */
static void put_curve(struct mrc *m, const struct cf_curve *c, size_t of, const uint64_t *lines,
                      size_t points, struct row r)
{
    uint64_t *misses = cf_need(&m->tool, malloc((points + 1) * sizeof(*misses)));

    cf_curve_misses(c, of, misses);
    misses[points] = 0;
    put_count(m, r, 0, cf_curve_total(c, of) - misses[0]);
    for (size_t i = 0; i < points; i++)
        put_count(m, r, lines[i], misses[i] - misses[i + 1]);
    for (uint64_t name = CF_CURVE_NAMED; name; name++)
        put_count(m, r, name, cf_curve_named(c, of, name));
    free(misses);
}

static void put_group(struct mrc *m, size_t g)
{
    const uint64_t none = 0;
    uint64_t sums[2];

    /* which also keeps a group of which all rows count 0 */
    put(m, &(struct row){.entry = ENTRY_EXACT, .group = g, .sum = &none, .sums = 1});
    put_curve(m, m->exact, g, m->lines, m->points, (struct row){.entry = ENTRY_EXACT, .group = g});
    if (!m->sampled)
        return;
    sums[0] = m->accesses[g];
    sums[1] = m->samples[g];
    put(m, &(struct row){.entry = ENTRY_GROUP, .group = g, .sum = sums, .sums = 2});
    put_curve(m, m->fine, g, m->fine_lines, m->fine_points,
              (struct row){.entry = ENTRY_FINE, .group = g});
    for (uint64_t part = 0; part < PARTS; part++)
        put_curve(m, m->sampled, g * PARTS + part, m->lines, m->points,
                  (struct row){.entry = ENTRY_SAMPLED, .group = g, .part = part});
}

void mrc_write(struct mrc *m)
{
    const size_t groups = m->by ? cf_groups_count(m->groups) : 1;

    if (!m->exact)
        return;
    cf_partial_row(&m->partial,
                   &(struct cf_partial_row){.entry = ENTRY_BOUND, .keys = 1, .key = {m->bound}});
    if (m->sampled)
        samples_room(m, groups);
    for (size_t g = 0; g < groups; g++)
        put_group(m, g);
}

/* ---- merging ---- */

/* The groups of rows from `at` on, NULL where there is one, and how many there are. */
static const uint32_t *groups_of(struct mrc *m, const struct cf_frame *f, uint32_t at,
                                 uint32_t rows, size_t *groups)
{
    const int text = cf_column_type(m->by) == CF_STR;

    *groups = 1;
    if (!m->by)
        return NULL;
    number_groups(m,
                  text ? (const void *)(cf_partial_text(&m->partial, f, 0) + at)
                       : cf_partial_key(&m->partial, f, 0) + at,
                  text ? 4 : 8, rows);
    *groups = cf_groups_count(m->groups);
    return m->group;
}

static void merge_samples(struct mrc *m, const struct cf_frame *f, uint32_t at, uint32_t rows,
                          const uint32_t *group, size_t groups)
{
    const uint64_t *part = cf_partial_key(&m->partial, f, 2) + at;
    const uint64_t *count = cf_partial_sum(&m->partial, f, 0) + at;

    for (uint32_t i = 0; i < rows; i++) {
        if (part[i] >= PARTS)
            cf_partial_damaged(&m->partial);
        m->part[i] = (group ? group[i] : 0) * PARTS + (uint32_t)part[i];
    }
    cf_must(&m->tool, cf_curve_add(m->sampled, cf_partial_key(&m->partial, f, 1) + at, m->part,
                                   count, rows, groups * PARTS));
}

static void merge_totals(struct mrc *m, const struct cf_frame *f, uint32_t at, uint32_t rows,
                         const uint32_t *group)
{
    const uint64_t *accesses = cf_partial_sum(&m->partial, f, 0) + at;
    const uint64_t *samples = cf_partial_sum(&m->partial, f, 1) + at;

    for (uint32_t i = 0; i < rows; i++) {
        m->accesses[group ? group[i] : 0] += accesses[i];
        m->samples[group ? group[i] : 0] += samples[i];
    }
}

static void merge_rows(struct mrc *m, const struct cf_frame *f, uint32_t at, uint32_t rows,
                       uint8_t entry)
{
    const uint64_t *dist = cf_partial_key(&m->partial, f, 1) + at;
    const uint64_t *count = cf_partial_sum(&m->partial, f, 0) + at;
    size_t groups;
    const uint32_t *group = groups_of(m, f, at, rows, &groups);

    if (!m->exact || entry < ENTRY_EXACT || entry > ENTRY_GROUP)
        cf_partial_damaged(&m->partial);
    if (entry != ENTRY_EXACT) {
        samples_begin(m);
        samples_room(m, groups);
    }
    if (entry == ENTRY_EXACT)
        cf_must(&m->tool, cf_curve_add(m->exact, dist, group, count, rows, groups));
    else if (entry == ENTRY_FINE)
        cf_must(&m->tool, cf_curve_add(m->fine, dist, group, count, rows, groups));
    else if (entry == ENTRY_SAMPLED)
        merge_samples(m, f, at, rows, group, groups);
    else
        merge_totals(m, f, at, rows, group);
}

void mrc_merge(struct mrc *m, const struct cf_frame *f)
{
    const uint8_t *entry = f->table == CF_PARTIAL ? cf_partial_entries(&m->partial, f) : NULL;

    for (uint32_t i = 0, end; entry && i < f->rows; i = end) {
        for (end = i + 1; end < f->rows && entry[end] == entry[i];)
            end++;
        if (entry[i] != ENTRY_BOUND) {
            merge_rows(m, f, i, end - i, entry[i]);
            continue;
        }
        for (uint32_t k = i; k < end; k++) {
            const uint64_t bound = cf_partial_key(&m->partial, f, 0)[k];

            m->bound = bound && (!m->bound || bound < m->bound) ? bound : m->bound;
        }
    }
}
