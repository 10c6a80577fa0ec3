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

#include "filters/ranking/ranking.h"
#include "filters/ranking/sources.h"
#include "formats/base/cf_memory.h"
#include "formats/base/cf_number.h"

enum {
    TOGETHER = 3,
    MOST_LINES = 1 << 20, /* of one access: a damaged size must not take all memory */
};

const struct cf_rank_kind cf_rank_kinds[CF_RANK_KINDS] = {
    [CF_RANK_PAGE] = {"page", "pages", CF_PAGENO, 0, "region,page"},
    [CF_RANK_REGION] = {"region", "mappings", CF_REGION, 0, "region"},
    [CF_RANK_OBJECT] = {"object", "objects", CF_OBJ, 0, "object,address,size_bytes,site"},
    [CF_RANK_SITE] = {"site", "sites", CF_SITE, 0, "site"},
    [CF_RANK_SOURCE] = {"source", "source lines", CF_SOURCE, 0, "source"},
    [CF_RANK_FUNCTION] = {"function", "functions", CF_FUNCTION, 0, "function"},
    [CF_RANK_SYMBOL] = {"symbol", "symbols", CF_SYMBOL, 0, "symbol"},
    [CF_RANK_THREAD] = {"thread", "threads", CF_TID, 1, "tid,name"},
    [CF_RANK_PROCESS] = {"process", "processes", CF_PID, 1, "name"},
    [CF_RANK_LINE] = {"cache-line", "cache lines", CF_ADDR, 1, "address"},
    [CF_RANK_ADDRESS] = {"address", "addresses", CF_ADDR, 1, "address"},
    [CF_RANK_OP] = {"op", "operations", CF_OP, 0, "op"},
    [CF_RANK_CLASS] = {"class", "classes", CF_CLASS, 0, "class"},
    [CF_RANK_HIT] = {"hit", "levels", CF_HIT, 0, "hit"},
    [CF_RANK_STACK] = {"stack", "stacks", CF_STACK_ID, 0, "stack"},
    [CF_RANK_SET] = {"set", "sets", CF_ADDR, 0, "set"},
};

const char cf_ranking_processes[] =
    "mappings of one name are added up; choose a process by 'cf-select --pid'";

int cf_ranking_by_string(enum cf_rank_by by)
{
    return cf_column_type(cf_rank_kinds[by].column) == CF_STR;
}

int cf_ranking_by_code(enum cf_rank_by by)
{
    return cf_column_type(cf_rank_kinds[by].column) == CF_U8;
}

int cf_ranking_part(const struct cf_ranking *k, enum cf_rank_by by)
{
    for (unsigned i = 0; i < k->keys; i++)
        if (k->by[i] == by)
            return (int)i;
    return -1;
}

/* For whose key an access counts at each line that it touches. */
static int by_lines(const struct cf_ranking *k)
{
    return cf_ranking_part(k, CF_RANK_LINE) >= 0 || cf_ranking_part(k, CF_RANK_SET) >= 0;
}

static int by_mapping(const struct cf_ranking *k)
{
    return cf_ranking_part(k, CF_RANK_PAGE) >= 0 || cf_ranking_part(k, CF_RANK_REGION) >= 0;
}

static void want(struct cf_ranking *k, enum cf_rank_by by)
{
    const enum cf_need need = k->lenient ? CF_OPTIONAL : CF_REQUIRED;
    struct cf_reader *r = k->reader;

    cf_reader_want(r, CF_ACCESS, cf_rank_kinds[by].column, need);
    switch (by) {
    case CF_RANK_PAGE:
        cf_reader_want(r, CF_ACCESS, CF_REGION, need);
        break;
    case CF_RANK_LINE:
    case CF_RANK_SET:
        cf_reader_want(r, CF_ACCESS, CF_SIZE, CF_OPTIONAL);
        /* fallthrough */
    case CF_RANK_ADDRESS:
        cf_reader_want(r, CF_ACCESS, CF_PID, CF_OPTIONAL);
        break;
    case CF_RANK_THREAD:
        cf_reader_want(r, CF_ACCESS, CF_PID, need);
        /* fallthrough */
    case CF_RANK_PROCESS:
        cf_reader_want_each(r, CF_TASK, CF_OPTIONAL, CF_PID, CF_TID, CF_LABEL);
        break;
    case CF_RANK_STACK:
        cf_reader_want(r, CF_ACCESS, CF_FUNCTION, CF_REQUIRED);
        cf_reader_want_each(r, CF_ACCESS, CF_OPTIONAL, CF_INLINED, CF_PID);
        cf_reader_want_each(r, CF_STACK, CF_OPTIONAL, CF_FUNCTION, CF_INLINED, CF_PID, CF_STACK_ID,
                            CF_PARENT);
        cf_reader_want_each(r, CF_TASK, CF_OPTIONAL, CF_PID, CF_OP, CF_PARENT);
        break;
    case CF_RANK_OBJECT:
        cf_reader_want_each(r, CF_OBJECT, CF_OPTIONAL, CF_TIME, CF_OP, CF_ADDR, CF_BYTES, CF_OBJ,
                            CF_SITE);
        break;
    default:;
    }
}

void cf_ranking_begin(struct cf_ranking *k)
{
    struct cf_tool *t = k->tool;

    cf_reader_unify(k->reader);
    k->sums->of_lines |= by_lines(k);
    for (unsigned i = 0; i < k->keys; i++) {
        want(k, k->by[i]);
        k->number[i] = cf_column_room(t, sizeof(**k->number));
        if (!cf_ranking_by_string(k->by[i]) && !cf_ranking_by_code(k->by[i]))
            k->numbers[i] = cf_need(t, cf_counts_new());
        if (i)
            k->joined[i] = cf_need(t, cf_counts_new());
    }
    if (by_mapping(k) && !t->quiet)
        cf_reader_want(k->reader, CF_ACCESS, CF_PID, CF_OPTIONAL);
    k->word[0] = cf_column_room(t, sizeof(**k->word));
    k->word[1] = cf_column_room(t, sizeof(**k->word));
    k->some = cf_column_room(t, sizeof(*k->some));
    k->total = cf_column_room(t, sizeof(*k->total));
    k->processes.silent = k->partial && k->partial->asked;
    k->names = cf_need(t, cf_counts_new());
    k->objects = cf_need(t, cf_objects_new());
    if (k->sources)
        cf_sources_begin(k->sources, k->reader);
    if (cf_ranking_part(k, CF_RANK_STACK) >= 0)
        k->paths = cf_need(t, cf_paths_new(k->reader));
}

void cf_ranking_end(struct cf_ranking *k)
{
    for (unsigned i = 0; i < k->keys; i++) {
        cf_counts_free(k->numbers[i]);
        cf_counts_free(k->joined[i]);
    }
    cf_counts_free(k->names);
    cf_objects_free(k->objects);
    cf_paths_free(k->paths);
    free(k->sum);
}

/* The rows of a frame that count: all, or these. */
struct rows {
    const uint32_t *at;
    uint32_t count;
    const uint64_t *some; /* of each of them; != 0: a value is not 0 */
};

static inline uint32_t row(const struct rows *r, uint32_t i)
{
    return r->at ? r->at[i] : i;
}

/* The part of a key that is an address in a process, of its line or of the set of that. */
static void place(const struct cf_ranking *k, enum cf_rank_by by, uint64_t addr, uint64_t *pid,
                  uint64_t *of)
{
    *of = by == CF_RANK_ADDRESS ? addr : addr & ~(k->line_size - 1);
    if (by == CF_RANK_SET) {
        *of = cf_sets_index(&k->sets, *of / k->line_size);
        *pid = 0; /* processes share a set */
    }
}

static void widen(uint64_t *restrict to, const uint32_t *from, const struct rows *r)
{
    for (uint32_t i = 0; from && !r->at && i < r->count; i++)
        to[i] = from[i];
    for (uint32_t i = 0; (!from || r->at) && i < r->count; i++)
        to[i] = from ? from[r->at[i]] : 0;
}

/* The numbers of a part of the key in these rows: those of the frame, or in k->number[part]. */
static const uint32_t *number_part(struct cf_ranking *k, const struct cf_frame *f,
                                   const struct rows *r, unsigned part)
{
    const enum cf_rank_by by = k->by[part];
    const uint64_t *addr = cf_u64(f, CF_ADDR);
    uint64_t *a = k->word[0], *b = k->word[1];
    uint32_t *number = k->number[part];

    if (cf_ranking_by_string(by)) {
        const uint32_t *id = cf_u32(f, cf_rank_kinds[by].column);

        if (id && !r->at)
            return id;
        for (uint32_t i = 0; i < r->count; i++)
            number[i] = id ? id[row(r, i)] : 0;
        return number;
    }
    if (cf_ranking_by_code(by)) {
        const uint8_t *code = cf_u8(f, cf_rank_kinds[by].column);

        for (uint32_t i = 0; i < r->count; i++)
            number[i] = code[row(r, i)];
        return number;
    }
    switch (by) {
    case CF_RANK_PAGE:
        widen(a, cf_u32(f, CF_REGION), r);
        widen(b, cf_u32(f, CF_PAGENO), r);
        break;
    case CF_RANK_OBJECT:
        widen(b, cf_u32(f, CF_OBJ), r);
        for (uint32_t i = 0; i < r->count; i++)
            a[i] = b[i] ? k->segment : 0;
        break;
    case CF_RANK_STACK:
        cf_must(k->tool, cf_paths_of(k->paths, f, k->sums->some, a));
        for (uint32_t i = 0; r->at && i < r->count; i++)
            a[i] = a[row(r, i)]; /* rows rise */
        widen(b, NULL, r);
        break;
    case CF_RANK_THREAD:
    case CF_RANK_PROCESS:
        widen(a, by == CF_RANK_THREAD ? cf_u32(f, CF_PID) : NULL, r);
        widen(b, cf_u32(f, by == CF_RANK_THREAD ? CF_TID : CF_PID), r);
        break;
    default:
        widen(a, cf_u32(f, CF_PID), r);
        for (uint32_t i = 0; i < r->count; i++)
            place(k, by, addr[row(r, i)], &a[i], &b[i]);
    }
    cf_must(k->tool, cf_counts_number(k->numbers[part], a, b, r->some, r->count, number));
    return number;
}

/* The numbers of the whole keys, by those of their parts in `number`. */
static const uint32_t *join(struct cf_ranking *k, const uint32_t *const *number,
                            const struct rows *r, uint32_t *total)
{
    const struct rows all = {.count = r->count};
    const uint32_t *left = number[0];

    for (unsigned i = 1; i < k->keys; i++) {
        widen(k->word[0], left, &all);
        widen(k->word[1], number[i], &all);
        cf_must(k->tool,
                cf_counts_number(k->joined[i], k->word[0], k->word[1], r->some, r->count, total));
        left = total;
    }
    return left;
}

/* Room for the sums of all numbers that there are. */
static void sum_room(struct cf_ranking *k)
{
    const unsigned last = k->keys - 1;
    const struct cf_counts *c = last ? k->joined[last] : k->numbers[0];
    size_t numbers = c                              ? cf_counts_size(c) + 1
                     : cf_ranking_by_code(k->by[0]) ? 256
                                                    : (size_t)cf_reader_strings(k->reader) + 1;

    cf_must(k->tool,
            cf_array_cleared(&k->sum, &k->room, numbers, k->sums->count * sizeof(*k->sum)));
}

/* What is added to a sum, which is noted; ends the program where it would wrap. */
static uint64_t note_total(struct cf_ranking *k, unsigned v, uint64_t more)
{
    k->all[v] = cf_sum(k->all[v], more);
    if (k->all[v] == UINT64_MAX)
        cf_die(k->tool, CF_EXIT_INPUT,
               "--value %s: more than 2^64 in all, which no recording has: are its weights right?",
               cf_sum_name(&k->sums->list[v]));
    return more;
}

/* The lines of an access that follow its first, with what is left of its bytes. */
static void add_rest(struct cf_ranking *k, uint32_t row, uint64_t pid, uint64_t at, uint64_t rest,
                     const uint32_t *const *number)
{
    const uint64_t line = k->line_size, one = 1;
    const struct rows single = {.count = 1, .some = &one};

    if (rest / line >= MOST_LINES)
        cf_die(k->tool, CF_EXIT_INPUT,
               "an access of more than %d lines: its size is wrong, or --line-size too small",
               MOST_LINES);
    for (uint64_t here; rest && at; rest -= here, at += line) { /* none is beyond 2^64 */
        uint32_t id[CF_MOST_KEYS], total;
        const uint32_t *of[CF_MOST_KEYS] = {NULL}, *whole;

        here = rest < line ? rest : line;
        for (unsigned i = 0; i < k->keys; i++) {
            uint64_t a = pid, b;

            id[i] = number[i][row];
            of[i] = &id[i];
            if (k->by[i] != CF_RANK_LINE && k->by[i] != CF_RANK_SET)
                continue;
            place(k, k->by[i], at, &a, &b);
            cf_must(k->tool, cf_counts_number(k->numbers[i], &a, &b, &one, 1, &id[i]));
        }
        whole = join(k, of, &single, &total);
        sum_room(k);
        for (unsigned v = 0; v < k->sums->count; v++)
            if (k->sums->list[v].kind < CF_SUM_MISSES)
                k->sum[*whole * (size_t)k->sums->count + v] +=
                    note_total(k, v,
                               cf_product(k->sums->value[v][row],
                                          k->sums->list[v].kind == CF_SUM_BYTES ? here : 1));
    }
}

/* Accesses and bytes belong to all lines touched; of misses, cost and instructions the share is not
   known, and they stay with the first. */
static void add_straddles(struct cf_ranking *k, const struct cf_frame *f,
                          const uint32_t *const *number)
{
    const uint64_t *addr = cf_u64(f, CF_ADDR), line = k->line_size;
    const uint32_t *size = cf_u32(f, CF_SIZE), *pid = cf_u32(f, CF_PID);
    const int weighted = cf_u64(f, CF_WEIGHT) != NULL;

    for (uint32_t i = 0; i < f->rows; i++) {
        const uint64_t inside = line - (addr[i] & (line - 1));

        if (size[i] > inside && k->sums->some[i])
            add_rest(k, i, pid ? pid[i] : 0, addr[i] + inside, size[i] - inside, number);
    }
    for (unsigned v = 0; v < k->sums->count; v++)
        for (uint32_t i = 0; k->sums->list[v].kind == CF_SUM_BYTES && i < f->rows; i++) {
            const uint64_t inside = line - (addr[i] & (line - 1)), own = k->sums->value[v][i];
            const uint64_t bytes = size[i] < inside ? size[i] : inside;

            k->sums->value[v][i] = weighted ? cf_product(own, bytes) : own * bytes;
        }
}

/* Columns of values that are added up together. */
struct together {
    unsigned count;
    const uint64_t *value[TOGETHER];
    uint64_t *sum[TOGETHER]; /* of the first key */
};

/* Keys come in runs or take turns: either way the branch is foreseen. */
static inline void add_together(const struct together *columns, unsigned count,
                                const uint32_t *total, uint32_t rows, size_t values)
{
    const struct together g = *columns; /* in registers, for sums may be anywhere */

    for (uint32_t i = 0, end; i < rows; i = end) {
        const uint32_t *t = total + i;
        const int run = rows - i >= 4 && !((t[0] ^ t[1]) | (t[0] ^ t[2]) | (t[0] ^ t[3]));

        end = rows - i < 4 ? rows : i + 4;
        if (run)
#pragma GCC unroll 3
            for (unsigned c = 0; c < count; c++) {
                const uint64_t *value = g.value[c] + i;

                g.sum[c][t[0] * values] += value[0] + value[1] + value[2] + value[3];
            }
        else
            for (uint32_t k = i; k < end; k++)
#pragma GCC unroll 3
                for (unsigned c = 0; c < count; c++)
                    g.sum[c][total[k] * values] += g.value[c][k];
    }
}

static void add_values(struct together *g, const uint32_t *total, uint32_t rows, size_t values)
{
    if (g->count == 1)
        add_together(g, 1, total, rows, values);
    else if (g->count == 2)
        add_together(g, 2, total, rows, values);
    else if (g->count == TOGETHER)
        add_together(g, TOGETHER, total, rows, values);
    g->count = 0;
}

/* Where all sums are of misses, the other rows need no key. */
static struct rows rows_of(struct cf_ranking *k, const struct cf_frame *f)
{
    const struct cf_sums *s = k->sums;
    struct rows r = {.count = s->misses_found, .at = s->missing, .some = k->some};

    for (unsigned v = 0; v < s->count; v++)
        if (!cf_sums_listed(s, v))
            return (struct rows){.count = f->rows, .some = s->some};
    for (uint32_t i = 0; i < r.count; i++)
        k->some[i] = s->some[s->missing[i]];
    return r;
}

void cf_ranking_add(struct cf_ranking *k, const struct cf_frame *f)
{
    const uint32_t *number[CF_MOST_KEYS] = {NULL}, *total;
    const size_t values = k->sums->count;
    const struct rows r = rows_of(k, f);
    struct together g = {.count = 0};

    for (unsigned i = 0; i < k->keys; i++)
        number[i] = number_part(k, f, &r, i);
    total = join(k, number, &r, k->total);
    if (!r.at && by_lines(k) && cf_u32(f, CF_SIZE))
        add_straddles(k, f, number);
    sum_room(k);
    for (unsigned v = 0; v < values; v++) {
        const uint64_t *value = k->sums->value[v];
        const int listed = cf_sums_listed(k->sums, v);
        uint64_t *sum = k->sum + v;

        if (cf_u64(f, CF_WEIGHT))
            (void)note_total(k, v, cf_total(value, listed ? k->sums->misses_found : r.count));
        if (r.at || !listed) {
            g.value[g.count] = value;
            g.sum[g.count++] = sum;
            if (g.count == TOGETHER)
                add_values(&g, total, r.count, values);
        } else
            for (uint32_t i = 0; i < k->sums->misses_found; i++)
                sum[total[k->sums->missing[i]] * values] += value[i];
    }
    add_values(&g, total, r.count, values);
}

void cf_ranking_number(struct cf_ranking *k, unsigned part, const uint64_t *a, const uint64_t *b,
                       uint32_t rows, uint32_t *number)
{
    for (uint32_t i = 0; i < rows; i++)
        k->some[i] = 1;
    cf_must(k->tool, cf_counts_number(k->numbers[part], a, b, k->some, rows, number));
}

void cf_ranking_add_sums(struct cf_ranking *k, const uint32_t *const *number, uint32_t rows,
                         const uint64_t *const *sum)
{
    const struct rows r = {.count = rows, .some = k->some};
    const size_t values = k->sums->count;
    const uint32_t *total;

    for (uint32_t i = 0; i < rows; i++)
        k->some[i] = 1;
    total = join(k, number, &r, k->total);
    sum_room(k);
    for (unsigned v = 0; v < values; v++) {
        (void)note_total(k, v, cf_total(sum[v], rows));
        for (uint32_t i = 0; i < rows; i++)
            k->sum[total[i] * values + v] += sum[v][i];
    }
}

static void note_names(struct cf_ranking *k, const struct cf_frame *f)
{
    const uint32_t *pid = cf_u32(f, CF_PID), *tid = cf_u32(f, CF_TID);
    const uint32_t *label = cf_u32(f, CF_LABEL);

    for (uint32_t i = 0; pid && label && i < f->rows; i++) {
        const uint32_t thread = tid && tid[i] ? tid[i] : pid[i];

        if (label[i])
            *(uint64_t *)cf_need(k->tool, cf_counts_at(k->names, pid[i], thread)) = label[i];
    }
}

void cf_ranking_note(struct cf_ranking *k, const struct cf_frame *f)
{
    const int objects = cf_ranking_part(k, CF_RANK_OBJECT);

    if (k->paths)
        cf_must(k->tool, cf_paths_frame(k->paths, f));
    if (k->sources)
        cf_sources_frame(k->sources, f);
    switch (f->table) {
    case CF_HEADER:
        k->segment++;
        k->seen = 0;
        break;
    case CF_ACCESS:
        k->seen = f->last > k->seen ? f->last : k->seen;
        if (by_mapping(k))
            cf_processes_check(&k->processes, k->tool, f, cf_ranking_processes);
        break;
    case CF_TASK:
        note_names(k, f);
        break;
    case CF_OBJECT:
        if (objects >= 0)
            cf_must(k->tool,
                    cf_objects_frame(k->objects, f, k->segment, k->seen, k->numbers[objects]));
        break;
    default:;
    }
}
