/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * keys.c - from rows to counters: the number of each row's key, the sums of each number.
 *
 * Strings, operations and classes are small numbers themselves; other parts of a key are numbered
 * by a table, and so are pairs of a part and those before it. Rows of which all values are 0 make
 * no number.
 *
 * Memory: 8 bytes a value of each key, and 43 to 85 of each distinct part that is numbered and each
 * distinct pair; some columns of one frame.
 */
#include <stdlib.h>
#include <string.h>

#include "filters/parts/rank/rank.h"
#include "formats/base/cf_memory.h"

enum { MOST_PARTS = 1024 }; /* lines of one access: longer ones are cut, none is that long */

const struct by_kind by_kinds[BY_KINDS] = {
    [BY_PAGE] = {"page", "pages", CF_PAGENO, 0, "region,page"},
    [BY_REGION] = {"region", "regions", CF_REGION, 0, "region"},
    [BY_OBJECT] = {"object", "objects", CF_OBJ, 0, "object,address,size_bytes,site"},
    [BY_SITE] = {"site", "sites", CF_SITE, 0, "site"},
    [BY_SOURCE] = {"source", "source lines", CF_SOURCE, 0, "source"},
    [BY_FUNCTION] = {"function", "functions", CF_FUNCTION, 0, "function"},
    [BY_SYMBOL] = {"symbol", "symbols", CF_SYMBOL, 0, "symbol"},
    [BY_THREAD] = {"thread", "threads", CF_TID, 1, "tid,name"},
    [BY_PROCESS] = {"process", "processes", CF_PID, 1, "name"},
    [BY_LINE] = {"cache-line", "cache lines", CF_ADDR, 1, "address"},
    [BY_OP] = {"op", "operations", CF_OP, 0, "op"},
    [BY_CLASS] = {"class", "classes", CF_CLASS, 0, "class"},
};

static int by_string(enum by by)
{
    return cf_column_type(by_kinds[by].column) == CF_STR;
}

/* Keys that are numbers below 256. */
static int by_code(enum by by)
{
    return cf_column_type(by_kinds[by].column) == CF_U8;
}

int rank_part(const struct rank *k, enum by by)
{
    for (unsigned i = 0; i < k->o.keys; i++)
        if (k->o.by[i] == by)
            return (int)i;
    return -1;
}

static int by_mapping(const struct rank *k)
{
    return rank_part(k, BY_PAGE) >= 0 || rank_part(k, BY_REGION) >= 0;
}

static void want(struct rank *k, enum by by)
{
    static const unsigned column[] = {CF_TIME, CF_OP, CF_ADDR, CF_BYTES, CF_OBJ, CF_SITE};
    struct cf_reader *r = k->reader;

    cf_reader_want(r, CF_ACCESS, by_kinds[by].column, CF_REQUIRED);
    switch (by) {
    case BY_PAGE:
        cf_reader_want(r, CF_ACCESS, CF_REGION, CF_REQUIRED);
        break;
    case BY_LINE:
        cf_reader_want(r, CF_ACCESS, CF_PID, CF_OPTIONAL);
        cf_reader_want(r, CF_ACCESS, CF_SIZE, CF_OPTIONAL);
        break;
    case BY_THREAD:
        cf_reader_want(r, CF_ACCESS, CF_PID, CF_REQUIRED);
        /* fallthrough */
    case BY_PROCESS:
        cf_reader_want(r, CF_TASK, CF_PID, CF_OPTIONAL);
        cf_reader_want(r, CF_TASK, CF_TID, CF_OPTIONAL);
        cf_reader_want(r, CF_TASK, CF_LABEL, CF_OPTIONAL);
        break;
    case BY_OBJECT:
        for (unsigned i = 0; i < sizeof(column) / sizeof(column[0]); i++)
            cf_reader_want(r, CF_OBJECT, column[i], CF_OPTIONAL);
        break;
    default:;
    }
}

void rank_begin(struct rank *k)
{
    struct cf_tool *t = k->tool;

    cf_reader_unify(k->reader);
    values_want(k);
    for (unsigned i = 0; i < k->o.keys; i++) {
        want(k, k->o.by[i]);
        k->number[i] = cf_column_room(t, sizeof(**k->number));
        if (!by_string(k->o.by[i]) && !by_code(k->o.by[i]))
            k->numbers[i] = cf_need(t, cf_counts_new());
        if (i)
            k->joined[i] = cf_need(t, cf_counts_new());
    }
    if (by_mapping(k) && !t->quiet)
        cf_reader_want(k->reader, CF_ACCESS, CF_PID, CF_OPTIONAL);
    for (unsigned v = 0; v < k->o.values; v++)
        k->value[v] = cf_column_room(t, sizeof(**k->value));
    k->some = k->o.values > 1 ? cf_column_room(t, sizeof(*k->some)) : k->value[0];
    k->word[0] = cf_column_room(t, sizeof(**k->word));
    k->word[1] = cf_column_room(t, sizeof(**k->word));
    k->total = cf_column_room(t, sizeof(*k->total));
    k->names = cf_need(t, cf_counts_new());
    k->objects = cf_need(t, objects_new());
}

void rank_end(struct rank *k)
{
    for (unsigned i = 0; i < k->o.keys; i++) {
        cf_counts_free(k->numbers[i]);
        cf_counts_free(k->joined[i]);
    }
    cf_counts_free(k->names);
    objects_free(k->objects);
    free(k->sum);
}

static void widen(uint64_t *to, const uint32_t *from, uint32_t rows)
{
    for (uint32_t i = 0; i < rows; i++)
        to[i] = from ? from[i] : 0;
}

/* The numbers of a part of the key: those of the frame, or in k->number[part]. NULL without
   memory. */
static const uint32_t *number_part(struct rank *k, const struct cf_frame *f, unsigned part)
{
    const enum by by = k->o.by[part];
    uint64_t *a = k->word[0], *b = k->word[1];
    const uint64_t *addr;

    if (by_string(by))
        return cf_u32(f, by_kinds[by].column);
    if (by_code(by)) {
        const uint8_t *code = cf_u8(f, by_kinds[by].column);

        for (uint32_t i = 0; i < f->rows; i++)
            k->number[part][i] = code[i];
        return k->number[part];
    }
    switch (by) {
    case BY_PAGE:
        widen(a, cf_u32(f, CF_REGION), f->rows);
        widen(b, cf_u32(f, CF_PAGENO), f->rows);
        break;
    case BY_OBJECT:
        widen(b, cf_u32(f, CF_OBJ), f->rows);
        for (uint32_t i = 0; i < f->rows; i++)
            a[i] = b[i] ? k->segment : 0;
        break;
    case BY_THREAD:
        widen(a, cf_u32(f, CF_PID), f->rows);
        widen(b, cf_u32(f, CF_TID), f->rows);
        break;
    case BY_PROCESS:
        widen(a, NULL, f->rows);
        widen(b, cf_u32(f, CF_PID), f->rows);
        break;
    default:
        widen(a, cf_u32(f, CF_PID), f->rows);
        addr = cf_u64(f, CF_ADDR);
        for (uint32_t i = 0; i < f->rows; i++)
            b[i] = addr[i] & ~(k->o.line_size - 1);
    }
    return cf_counts_number(k->numbers[part], a, b, k->some, f->rows, k->number[part]) == 0
               ? k->number[part]
               : NULL;
}

/* The numbers of the whole keys, by those of their parts in `number`. NULL without memory. */
static const uint32_t *join(struct rank *k, const uint32_t *const *number, const uint64_t *some,
                            uint32_t rows, uint32_t *total)
{
    const uint32_t *left = number[0];

    for (unsigned i = 1; i < k->o.keys; i++) {
        widen(k->word[0], left, rows);
        widen(k->word[1], number[i], rows);
        if (cf_counts_number(k->joined[i], k->word[0], k->word[1], some, rows, total) != 0)
            return NULL;
        left = total;
    }
    return left;
}

/* Room for the sums of all numbers that there are. */
static int sum_room(struct rank *k)
{
    const unsigned last = k->o.keys - 1;
    const struct cf_counts *c = last ? k->joined[last] : k->numbers[0];
    size_t numbers = c                     ? cf_counts_size(c) + 1
                     : by_code(k->o.by[0]) ? 256
                                           : (size_t)cf_reader_strings(k->reader) + 1;

    return cf_array_cleared(&k->sum, &k->sums, numbers, k->o.values * sizeof(*k->sum));
}

/* The lines of an access that follow its first, with what is left of its bytes. */
static int add_rest(struct rank *k, uint32_t row, uint64_t pid, uint64_t at, uint64_t rest,
                    const uint32_t *const *number)
{
    const uint64_t line = k->o.line_size, one = 1;
    const int lines = rank_part(k, BY_LINE);

    for (unsigned part = 0; rest && part < MOST_PARTS; part++, at += line) {
        const uint64_t here = rest < line ? rest : line;
        uint32_t id[MOST_KEYS], total;
        const uint32_t *of[MOST_KEYS], *whole;

        for (unsigned i = 0; i < k->o.keys; i++) {
            id[i] = number[i][row];
            of[i] = &id[i];
        }
        if (cf_counts_number(k->numbers[lines], &pid, &at, &one, 1, &id[lines]) != 0)
            return -1;
        whole = join(k, of, &one, 1, &total);
        if (!whole || sum_room(k) != 0)
            return -1;
        for (unsigned v = 0; v < k->o.values; v++)
            if (k->o.value[v].kind < VALUE_MISSES)
                k->sum[*whole * (size_t)k->o.values + v] +=
                    k->value[v][row] * (k->o.value[v].kind == VALUE_BYTES ? here : 1);
        rest -= here;
    }
    return 0;
}

/* Accesses and bytes belong to all lines touched; of misses, cost and instructions the share is not
   known, and they stay with the first. */
static int add_straddles(struct rank *k, const struct cf_frame *f, const uint32_t *const *number)
{
    const uint64_t *addr = cf_u64(f, CF_ADDR), line = k->o.line_size;
    const uint32_t *size = cf_u32(f, CF_SIZE), *pid = cf_u32(f, CF_PID);

    for (uint32_t i = 0; i < f->rows; i++) {
        const uint64_t inside = line - (addr[i] & (line - 1));

        if (size[i] > inside && k->some[i] &&
            add_rest(k, i, pid ? pid[i] : 0, addr[i] + inside, size[i] - inside, number) != 0)
            return -1;
    }
    for (unsigned v = 0; v < k->o.values; v++)
        for (uint32_t i = 0; k->o.value[v].kind == VALUE_BYTES && i < f->rows; i++) {
            const uint64_t inside = line - (addr[i] & (line - 1));

            k->value[v][i] *= size[i] < inside ? size[i] : inside;
        }
    return 0;
}

static int add(struct rank *k, const struct cf_frame *f)
{
    const uint32_t *number[MOST_KEYS] = {NULL}, *total;
    const size_t values = k->o.values;

    for (unsigned i = 0; i < k->o.keys; i++) {
        number[i] = number_part(k, f, i);
        if (!number[i])
            return -1;
    }
    total = join(k, number, k->some, f->rows, k->total);
    if (!total)
        return -1;
    if ((rank_part(k, BY_LINE) >= 0 && cf_u32(f, CF_SIZE) && add_straddles(k, f, number) != 0) ||
        sum_room(k) != 0)
        return -1;
    for (size_t v = 0; v < values; v++) {
        const uint64_t *value = k->value[v];
        uint64_t *sum = k->sum + v;

        for (uint32_t i = 0; i < f->rows;) {
            const uint32_t key = total[i];
            uint64_t run = value[i];

            while (++i < f->rows && total[i] == key)
                run += value[i];
            sum[key * values] += run;
        }
    }
    return 0;
}

int rank_accesses(struct rank *k, const struct cf_frame *f)
{
    k->seen = f->last > k->seen ? f->last : k->seen;
    if (by_mapping(k))
        cf_processes_check(&k->processes, k->tool, f,
                           "mappings of one name are added up; choose a process by 'cf-select "
                           "--pid'");
    if (values_find(k, f) != 0)
        return 1;
    return add(k, f);
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

/* ---- sorting ---- */

static int by_key(const struct key *i, const struct key *j)
{
    int order = i->text && j->text ? strcmp(i->text, j->text) : (i->a > j->a) - (i->a < j->a);

    return order ? order : (i->b > j->b) - (i->b < j->b);
}

int rank_by_key(const struct options *o, const struct key *x, const struct key *y)
{
    int order = 0;

    for (unsigned part = 0; !order && part < o->keys; part++)
        order = by_key(&x[part], &y[part]);
    return order;
}

static int by_value(const void *x, const void *y, void *options)
{
    const struct options *o = options;
    const struct item *i = x, *j = y;
    int order = o->value[o->sort].kind == VALUE_RATIO
                    ? (i->ratio < j->ratio) - (i->ratio > j->ratio)
                    : (i->sum[o->sort] < j->sum[o->sort]) - (i->sum[o->sort] > j->sum[o->sort]);

    return order ? order : rank_by_key(o, i->key, j->key);
}

/* The keys of a table by their number; NULL where there is no table. */
static struct cf_count *by_number(const struct rank *k, const struct cf_counts *c)
{
    const size_t size = c ? cf_counts_size(c) : 0;
    struct cf_count *any, *list;

    if (!c)
        return NULL;
    any = cf_need(k->tool, calloc(size + 1, sizeof(*any)));
    list = cf_need(k->tool, calloc(size + 1, sizeof(*list)));
    cf_counts_copy(c, any);
    for (size_t i = 0; i < size; i++)
        list[any[i].value - 1] = any[i];
    free(any);
    return list;
}

/* The parts of the key with a number. */
static void take_apart(const struct rank *k, struct cf_count *const *joined,
                       struct cf_count *const *numbers, uint64_t number, struct key *key)
{
    for (unsigned part = k->o.keys; part-- > 0;) {
        const enum by by = k->o.by[part];
        uint64_t own = part ? joined[part][number].b : number;

        number = part ? joined[part][number].a : 0;
        key[part] = numbers[part] ? (struct key){numbers[part][own].a, numbers[part][own].b, NULL}
                                  : (struct key){.a = own};
        if (by_string(by) || by == BY_PAGE)
            key[part].text = cf_reader_text(k->reader, (uint32_t)key[part].a);
    }
}

struct ranking rank_items(const struct rank *k)
{
    const size_t keys = k->o.keys, values = k->o.values;
    struct cf_count *joined[MOST_KEYS], *numbers[MOST_KEYS];
    struct ranking r = {.count = 0};

    r.item = cf_need(k->tool, calloc(k->sums + 1, sizeof(*r.item)));
    for (size_t i = 0; i < k->sums; i++) {
        const uint64_t *sum = k->sum + i * values;
        uint64_t some = 0;

        for (size_t v = 0; v < values; v++)
            some |= sum[v];
        if (some)
            r.item[r.count++].sum = sum;
    }
    r.keys = cf_need(k->tool, calloc(r.count * keys + 1, sizeof(*r.keys)));
    for (unsigned i = 0; i < keys; i++) {
        joined[i] = by_number(k, k->joined[i]);
        numbers[i] = by_number(k, k->numbers[i]);
    }
    for (size_t i = 0; i < r.count; i++) {
        struct item *item = &r.item[i];

        item->key = &r.keys[i * keys];
        take_apart(k, joined, numbers, (uint64_t)(item->sum - k->sum) / values, &r.keys[i * keys]);
        item->ratio = k->o.value[k->o.sort].kind == VALUE_RATIO ? value_ratio(k, item) : 0;
        item->ratio = item->ratio >= 0 ? item->ratio : -1; /* of none */
    }
    for (unsigned i = 0; i < keys; i++) {
        free(joined[i]);
        free(numbers[i]);
    }
    qsort_r(r.item, r.count, sizeof(*r.item), by_value, (void *)&k->o);
    return r;
}
