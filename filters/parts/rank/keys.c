/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * keys.c - from rows to counters: the value of each row, its key, the sum of each key.
 *
 * Memory: 8 bytes a string, up to 85 any other key, and three columns of one frame.
 */
#include <stdlib.h>
#include <string.h>

#include "filters/parts/rank/rank.h"
#include "formats/base/cf_memory.h"

enum { MOST_PARTS = 1024 }; /* lines of one access: longer ones are cut, none is that long */

const struct by_kind by_kinds[BY_KINDS] = {
    [BY_PAGE] = {"page", "pages", CF_PAGENO},
    [BY_REGION] = {"region", "regions", CF_REGION},
    [BY_OBJECT] = {"object", "objects", CF_OBJ},
    [BY_SITE] = {"site", "sites", CF_SITE},
    [BY_SOURCE] = {"source", "source lines", CF_SOURCE},
    [BY_FUNCTION] = {"function", "functions", CF_FUNCTION},
    [BY_SYMBOL] = {"symbol", "symbols", CF_SYMBOL},
    [BY_THREAD] = {"thread", "threads", CF_TID},
    [BY_PROCESS] = {"process", "processes", CF_PID},
    [BY_LINE] = {"cache-line", "cache lines", CF_ADDR},
    [BY_OP] = {"op", "operations", CF_OP},
};

static int by_string(enum by by)
{
    return cf_column_type(by_kinds[by].column) == CF_STR;
}

static int by_mapping(const struct rank *k)
{
    return k->o.by == BY_PAGE || k->o.by == BY_REGION;
}

void rank_want(struct rank *k)
{
    struct cf_reader *r = k->reader;
    const struct options *o = &k->o;
    int needs_op = o->ops_given || o->by == BY_OP || o->value == VALUE_LOADS ||
                   o->value == VALUE_STORES || o->value == VALUE_FETCHES;

    cf_reader_unify(r);
    cf_reader_want(r, CF_ACCESS, by_kinds[o->by].column, CF_REQUIRED);
    cf_reader_want(r, CF_ACCESS, CF_OP, needs_op ? CF_REQUIRED : CF_OPTIONAL);
    cf_reader_want(r, CF_ACCESS, CF_WEIGHT, CF_OPTIONAL);
    if (o->by == BY_PAGE)
        cf_reader_want(r, CF_ACCESS, CF_REGION, CF_REQUIRED);
    if (by_mapping(k) && !k->tool.quiet)
        cf_reader_want(r, CF_ACCESS, CF_PID, CF_OPTIONAL);
    if (o->by == BY_THREAD)
        cf_reader_want(r, CF_ACCESS, CF_PID, CF_REQUIRED);
    if (o->by == BY_LINE) {
        cf_reader_want(r, CF_ACCESS, CF_PID, CF_OPTIONAL);
        cf_reader_want(r, CF_ACCESS, CF_SIZE, CF_OPTIONAL);
    }
    if (o->by == BY_THREAD || o->by == BY_PROCESS) {
        cf_reader_want(r, CF_TASK, CF_PID, CF_OPTIONAL);
        cf_reader_want(r, CF_TASK, CF_TID, CF_OPTIONAL);
        cf_reader_want(r, CF_TASK, CF_LABEL, CF_OPTIONAL);
    }
    if (o->by == BY_OBJECT) {
        static const unsigned column[] = {CF_TIME, CF_OP, CF_ADDR, CF_BYTES, CF_OBJ, CF_SITE};

        for (unsigned i = 0; i < sizeof(column) / sizeof(column[0]); i++)
            cf_reader_want(r, CF_OBJECT, column[i], CF_OPTIONAL);
    }
    if (o->value == VALUE_BYTES)
        cf_reader_want(r, CF_ACCESS, CF_SIZE, CF_REQUIRED);
    if (o->value == VALUE_COST) {
        k->mix.column[0] = CF_COST;
        cf_reader_want(r, CF_ACCESS, CF_COST, CF_REQUIRED);
    }
    if (o->value == VALUE_FETCHES)
        cf_reader_want(r, CF_ACCESS, CF_INSNS, CF_REQUIRED);
    if (o->dist_given || o->classes_given)
        cf_reader_want(r, CF_ACCESS, o->dist_given ? CF_DIST : CF_CLASS, CF_REQUIRED);
    if (o->value == VALUE_MISSES || o->value == VALUE_HITS) {
        k->mix.column[0] = o->dist_given ? CF_DIST : CF_HIT;
        k->mix.column[1] = o->dist_given || o->level_given ? 0 : CF_CLASS;
        cf_reader_want(r, CF_ACCESS, CF_CLASS, CF_OPTIONAL);
        cf_reader_want(r, CF_ACCESS, CF_HIT, CF_OPTIONAL);
        cf_reader_want(r, CF_ACCESS, CF_LEVEL, CF_OPTIONAL);
    }
}

/* value[i] *= whether the access missed, or hit, by its distance. */
static void take_distances(const struct rank *k, const uint64_t *dist, uint32_t rows)
{
    int hits = k->o.value == VALUE_HITS;

    for (uint32_t i = 0; i < rows; i++) {
        int known = dist[i] != CF_DIST_NONE && dist[i] != CF_DIST_UNSAMPLED;

        k->value[i] *= known && (dist[i] < k->o.dist) == hits;
    }
}

/* The same by what a cache did. 1 when there is no such column. A level of 0 is not known: no hit,
   no miss. */
static int take_misses(const struct rank *k, const struct cf_frame *f)
{
    const uint8_t *class = k->o.level_given ? NULL : cf_u8(f, CF_CLASS);
    const uint8_t *level = cf_u8(f, CF_HIT);
    unsigned above = k->o.level_given ? k->o.level : CF_FROM_MEMORY - 1;
    int hits = k->o.value == VALUE_HITS;

    if (k->o.dist_given) {
        take_distances(k, cf_u64(f, CF_DIST), f->rows);
        return 0;
    }
    level = level ? level : class ? NULL : cf_u8(f, CF_LEVEL);
    if (!class && !level)
        return 1;
    if (class && !hits)
        for (uint32_t i = 0; i < f->rows; i++)
            k->value[i] *= k->o.class[class[i]];
    else if (class)
        for (uint32_t i = 0; i < f->rows; i++)
            k->value[i] *= class[i] == 0 && (!level || level[i] != 0);
    else if (!hits)
        for (uint32_t i = 0; i < f->rows; i++)
            k->value[i] *= level[i] > above;
    else
        for (uint32_t i = 0; i < f->rows; i++)
            k->value[i] *= level[i] != 0 && level[i] <= above;
    return 0;
}

static void multiply(uint64_t *value, const uint32_t *by, uint32_t rows)
{
    for (uint32_t i = 0; i < rows; i++)
        value[i] *= by[i];
}

/* Fills k->value. 1 when the frame lacks what the value needs. */
static int find_values(struct rank *k, const struct cf_frame *f)
{
    const uint8_t *op = cf_u8(f, CF_OP), *take = k->o.op;
    const uint64_t *weight = cf_u64(f, CF_WEIGHT);
    uint64_t *value = k->value;

    if (op && weight)
        for (uint32_t i = 0; i < f->rows; i++)
            value[i] = weight[i] * take[op[i]];
    else if (op)
        for (uint32_t i = 0; i < f->rows; i++)
            value[i] = take[op[i]];
    else
        for (uint32_t i = 0; i < f->rows; i++)
            value[i] = weight ? weight[i] : 1;
    if (k->o.value == VALUE_BYTES && k->o.by != BY_LINE)
        multiply(value, cf_u32(f, CF_SIZE), f->rows);
    else if (k->o.value == VALUE_COST)
        multiply(value, cf_u32(f, CF_COST), f->rows);
    else if (k->o.value == VALUE_FETCHES)
        multiply(value, cf_u32(f, CF_INSNS), f->rows);
    else if (k->o.value == VALUE_MISSES || k->o.value == VALUE_HITS)
        return take_misses(k, f);
    return 0;
}

/* Lines that follow the first of each access. Accesses and bytes belong to all lines touched; of
   misses, cost and instructions the share is not known, and they stay with the first. */
static int add_straddles(struct rank *k, const struct cf_frame *f)
{
    const uint64_t *addr = cf_u64(f, CF_ADDR);
    const uint32_t *size = cf_u32(f, CF_SIZE);
    uint64_t line = k->o.line_size;
    int bytes = k->o.value == VALUE_BYTES;

    if (!size || (k->o.value >= VALUE_MISSES))
        return 0;
    for (uint32_t i = 0; i < f->rows; i++) {
        uint64_t weight = k->value[i], inside = line - (addr[i] & (line - 1)), rest;
        uint64_t at = addr[i] & ~(line - 1);

        rest = size[i] > inside ? size[i] - inside : 0;
        if (bytes)
            k->value[i] = weight * (size[i] - rest);
        for (unsigned part = 0; rest && weight && part < MOST_PARTS; part++) {
            uint64_t here = rest < line ? rest : line;
            uint64_t *count = cf_counts_at(k->counts, k->key[0][i], at += line);

            if (!count)
                return -1;
            *count += bytes ? weight * here : weight;
            rest -= here;
        }
    }
    return 0;
}

static void widen(uint64_t *to, const uint32_t *from, uint32_t rows)
{
    for (uint32_t i = 0; i < rows; i++)
        to[i] = from ? from[i] : 0;
}

/* Strings and operations have small numbers, so their sums stand in an array. */
static int add_sums(struct rank *k, const struct cf_frame *f)
{
    const uint64_t *value = k->value;

    if (k->o.by == BY_OP) {
        const uint8_t *op = cf_u8(f, CF_OP);

        if (cf_array_cleared(&k->sum, &k->sums, 256, sizeof(*k->sum)) != 0)
            return -1;
        for (uint32_t i = 0; i < f->rows; i++)
            k->sum[op[i]] += value[i];
    } else {
        const uint32_t *id = cf_u32(f, by_kinds[k->o.by].column);
        uint64_t *sum;

        if (cf_array_cleared(&k->sum, &k->sums, (size_t)cf_reader_strings(k->reader) + 1,
                             sizeof(*k->sum)) != 0)
            return -1;
        sum = k->sum;
        for (uint32_t i = 0; i < f->rows; i++)
            sum[id[i]] += value[i];
    }
    return 0;
}

static int add_counts(struct rank *k, const struct cf_frame *f)
{
    const uint64_t *addr;

    switch (k->o.by) {
    case BY_PAGE:
        widen(k->key[0], cf_u32(f, CF_REGION), f->rows);
        widen(k->key[1], cf_u32(f, CF_PAGENO), f->rows);
        break;
    case BY_OBJECT:
        widen(k->key[1], cf_u32(f, CF_OBJ), f->rows);
        for (uint32_t i = 0; i < f->rows; i++)
            k->key[0][i] = k->key[1][i] ? k->segment : 0;
        break;
    case BY_THREAD:
        widen(k->key[0], cf_u32(f, CF_PID), f->rows);
        widen(k->key[1], cf_u32(f, CF_TID), f->rows);
        break;
    case BY_PROCESS:
        widen(k->key[0], NULL, f->rows);
        widen(k->key[1], cf_u32(f, CF_PID), f->rows);
        break;
    default:
        widen(k->key[0], cf_u32(f, CF_PID), f->rows);
        addr = cf_u64(f, CF_ADDR);
        for (uint32_t i = 0; i < f->rows; i++)
            k->key[1][i] = addr[i] & ~(k->o.line_size - 1);
        if (add_straddles(k, f) != 0)
            return -1;
    }
    return cf_counts_add(k->counts, k->key[0], k->key[1], k->value, f->rows);
}

int rank_accesses(struct rank *k, const struct cf_frame *f)
{
    k->seen = f->last > k->seen ? f->last : k->seen;
    if (by_mapping(k))
        cf_processes_check(&k->processes, &k->tool, f,
                           "mappings of one name are added up; choose a process by 'cf-select "
                           "--pid'");
    if (find_values(k, f) != 0)
        return 1;
    return by_string(k->o.by) || k->o.by == BY_OP ? add_sums(k, f) : add_counts(k, f);
}

int rank_tasks(struct rank *k, const struct cf_frame *f)
{
    const uint32_t *pid = cf_u32(f, CF_PID), *tid = cf_u32(f, CF_TID);
    const uint32_t *label = cf_u32(f, CF_LABEL);

    if (!pid || !label)
        return 0;
    for (uint32_t i = 0; i < f->rows; i++) {
        uint32_t thread = tid && tid[i] ? tid[i] : pid[i];
        uint64_t *name;

        if (!label[i])
            continue;
        name = cf_counts_at(k->names, pid[i], thread);
        if (!name)
            return -1;
        *name = label[i];
    }
    return 0;
}

static int by_value(const void *x, const void *y)
{
    const struct item *i = x, *j = y;
    int order = (i->value < j->value) - (i->value > j->value);

    if (!order && i->text && j->text)
        order = strcmp(i->text, j->text);
    if (!order && !i->text)
        order = (i->a > j->a) - (i->a < j->a);
    return order ? order : (i->b > j->b) - (i->b < j->b);
}

struct item *rank_items(const struct rank *k, size_t *count)
{
    size_t hashed = cf_counts_size(k->counts), n = 0;
    struct item *item = calloc(k->sums + hashed + 1, sizeof(*item));
    struct cf_count *c = calloc(hashed + 1, sizeof(*c));

    if (!item || !c) {
        free(item);
        free(c);
        return NULL;
    }
    for (size_t i = 0; i < k->sums; i++)
        if (k->sum[i])
            item[n++] = (struct item){.a = i, .value = k->sum[i]};
    cf_counts_copy(k->counts, c);
    for (size_t i = 0; i < hashed; i++)
        if (c[i].value)
            item[n++] = (struct item){.a = c[i].a, .b = c[i].b, .value = c[i].value};
    free(c);
    for (size_t i = 0; i < n; i++)
        if (by_string(k->o.by) || k->o.by == BY_PAGE)
            item[i].text = cf_reader_text(k->reader, (uint32_t)item[i].a);
    qsort(item, n, sizeof(*item), by_value);
    *count = n;
    return item;
}
