/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * values.c - what a ranking adds up: for each row of a frame the accesses that it stands for, or
 * their bytes, misses, cycles, ...
 */
#include <math.h>
#include <string.h>

#include "filters/parts/rank/rank.h"

const char *value_name(const struct picked *p)
{
    static const char *const name[VALUES] = {"accesses",    "bytes",        "loads",
                                             "stores",      "misses",       "hits",
                                             "cost_cycles", "instructions", "miss_ratio"};

    return p->kind == VALUE_CLASS ? cf_class_name(p->class) : name[p->kind];
}

double value_ratio(const struct rank *k, const struct item *i)
{
    const uint64_t accesses = i->sum[k->o.accesses];

    return accesses ? (double)i->sum[k->o.misses] / (double)accesses : NAN;
}

static int has(const struct options *o, enum value kind)
{
    for (unsigned v = 0; v < o->values; v++)
        if (o->value[v].kind == kind)
            return 1;
    return 0;
}

void values_want(struct rank *k)
{
    struct cf_reader *r = k->reader;
    const struct options *o = &k->o;
    unsigned *mixed = k->mix.column;
    int ops = o->ops_given || has(o, VALUE_LOADS) || has(o, VALUE_STORES) || has(o, VALUE_FETCHES);
    int misses = has(o, VALUE_MISSES) || has(o, VALUE_HITS);

    cf_reader_want(r, CF_ACCESS, CF_OP, ops ? CF_REQUIRED : CF_OPTIONAL);
    cf_reader_want(r, CF_ACCESS, CF_WEIGHT, CF_OPTIONAL);
    if (has(o, VALUE_BYTES))
        cf_reader_want(r, CF_ACCESS, CF_SIZE, CF_REQUIRED);
    if (has(o, VALUE_COST)) {
        *mixed++ = CF_COST;
        cf_reader_want(r, CF_ACCESS, CF_COST, CF_REQUIRED);
    }
    if (has(o, VALUE_FETCHES))
        cf_reader_want(r, CF_ACCESS, CF_INSNS, CF_REQUIRED);
    if (misses) {
        *mixed++ = o->dist_given ? CF_DIST : CF_HIT;
        cf_reader_want(r, CF_ACCESS, CF_HIT, CF_OPTIONAL);
        cf_reader_want(r, CF_ACCESS, CF_LEVEL, CF_OPTIONAL);
    }
    if (o->dist_given)
        cf_reader_want(r, CF_ACCESS, CF_DIST, CF_REQUIRED);
    if (has(o, VALUE_CLASS) || (misses && !o->dist_given && !o->level_given)) {
        *mixed++ = CF_CLASS;
        cf_reader_want(r, CF_ACCESS, CF_CLASS,
                       o->classes_given || has(o, VALUE_CLASS) ? CF_REQUIRED : CF_OPTIONAL);
    }
}

/* value[i] *= whether the access missed, or hit, by its distance. */
static void take_distances(const struct rank *k, const uint64_t *dist, uint32_t rows, int hits,
                           uint64_t *value)
{
    for (uint32_t i = 0; i < rows; i++) {
        int known = dist[i] != CF_DIST_NONE && dist[i] != CF_DIST_UNSAMPLED;

        value[i] *= known && (dist[i] < k->o.dist) == hits;
    }
}

/* The same by what a cache did. 1 when there is no such column. A level of 0 is not known: no hit,
   no miss. */
static int take_misses(const struct rank *k, const struct cf_frame *f, int hits, uint64_t *value)
{
    const uint8_t *class = k->o.level_given ? NULL : cf_u8(f, CF_CLASS);
    const uint8_t *level = cf_u8(f, CF_HIT);
    unsigned above = k->o.level_given ? k->o.level : CF_FROM_MEMORY - 1;

    if (k->o.dist_given) {
        take_distances(k, cf_u64(f, CF_DIST), f->rows, hits, value);
        return 0;
    }
    level = level ? level : class ? NULL : cf_u8(f, CF_LEVEL);
    if (!class && !level)
        return 1;
    if (class && !hits)
        for (uint32_t i = 0; i < f->rows; i++)
            value[i] *= k->o.class[class[i]];
    else if (class)
        for (uint32_t i = 0; i < f->rows; i++)
            value[i] *= class[i] == 0 && (!level || level[i] != 0);
    else if (!hits)
        for (uint32_t i = 0; i < f->rows; i++)
            value[i] *= level[i] > above;
    else
        for (uint32_t i = 0; i < f->rows; i++)
            value[i] *= level[i] != 0 && level[i] <= above;
    return 0;
}

static void multiply(uint64_t *value, const uint32_t *by, uint32_t rows)
{
    for (uint32_t i = 0; i < rows; i++)
        value[i] *= by[i];
}

static int find(struct rank *k, const struct cf_frame *f, const struct picked *p, uint64_t *value)
{
    const uint8_t *op = cf_u8(f, CF_OP), *class = cf_u8(f, CF_CLASS), *take = p->op;
    const uint64_t *weight = cf_u64(f, CF_WEIGHT);

    if (op && weight)
        for (uint32_t i = 0; i < f->rows; i++)
            value[i] = weight[i] * take[op[i]];
    else if (op)
        for (uint32_t i = 0; i < f->rows; i++)
            value[i] = take[op[i]];
    else
        for (uint32_t i = 0; i < f->rows; i++)
            value[i] = weight ? weight[i] : 1;
    switch (p->kind) {
    case VALUE_BYTES:
        if (rank_part(k, BY_LINE) < 0)
            multiply(value, cf_u32(f, CF_SIZE), f->rows);
        return 0;
    case VALUE_COST:
        multiply(value, cf_u32(f, CF_COST), f->rows);
        return 0;
    case VALUE_FETCHES:
        multiply(value, cf_u32(f, CF_INSNS), f->rows);
        return 0;
    case VALUE_CLASS:
        for (uint32_t i = 0; i < f->rows; i++)
            value[i] *= class[i] == p->class;
        return 0;
    case VALUE_RATIO:
        memset(value, 0, f->rows * sizeof *value);
        return 0;
    case VALUE_MISSES:
    case VALUE_HITS:
        return take_misses(k, f, p->kind == VALUE_HITS, value);
    default:
        return 0;
    }
}

int values_find(struct rank *k, const struct cf_frame *f)
{
    for (unsigned v = 0; v < k->o.values; v++)
        if (find(k, f, &k->o.value[v], k->value[v]) != 0)
            return 1;
    for (unsigned v = 0; v < k->o.values && k->o.values > 1; v++)
        for (uint32_t i = 0; i < f->rows; i++)
            k->some[i] = (v ? k->some[i] : 0) | k->value[v][i];
    return 0;
}
