/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * condense.c - accesses that say the same become one row (see condense.h).
 *
 * In: packed frames, or pieces of them, whose columns `alike` are each constant or stated once a
 * code. Out: for sums one row for all of a code that were served alike; else one for those of a
 * code that hit, and all others. With column stack, which varies more, rows are alike where that is
 * the same too. Frames of which that would leave most are decoded and go as they are, and so do
 * others.
 *
 * Memory: 560 KiB, and 110 bytes a row of a piece.
 */
#include <stdlib.h>
#include <string.h>

#include "filters/engine/rows/gather.h"
#include "filters/ranking/condense.h"
#include "formats/base/cf_memory.h"

enum { KIND_BITS = 12 /* log2 of the kinds of rows that are counted at a time */ };

/* So that no weight of a condensed row overflows. */
static const uint64_t most_each = UINT32_MAX;

/* Rows that are alike: how many, and one of them. */
struct alike {
    uint32_t count, last;
};

/* The same, by code, what served them, and whose stack. */
struct kind {
    uint64_t code, stack;
    struct alike rows;
};

struct cf_condense {
    const struct cf_tool *tool;
    const unsigned *alike, *others;
    struct alike *of_code; /* all 0 between frames, */
    struct kind kind[1 << KIND_BITS];
    uint32_t used[1 << KIND_BITS], kinds; /* and those that are used none */
    struct cf_frame sums, rows;
    struct cf_bytes column[CF_MAX_COLUMNS]; /* of both: those of `rows` begin in the middle */
    struct cf_bytes row, weight;            /* of each row that is left */
    struct cf_bytes missed;                 /* the rows that did not hit */
    uint32_t left, misses;
};

struct cf_condense *cf_condense_new(const struct cf_tool *t, struct cf_reader *r,
                                    const unsigned *alike, const unsigned *others)
{
    struct cf_condense *c = cf_need(t, calloc(1, sizeof *c));

    c->tool = t;
    c->alike = alike;
    c->others = others;
    c->of_code = cf_need(t, calloc(CF_MAX_CODES + 1, sizeof *c->of_code));
    cf_reader_unify(r);
    cf_reader_defer(r);
    return c;
}

void cf_condense_free(struct cf_condense *c)
{
    for (unsigned i = 0; i < CF_MAX_COLUMNS; i++)
        free(c->column[i].data);
    free(c->row.data);
    free(c->weight.data);
    free(c->missed.data);
    free(c->of_code);
    free(c);
}

static const struct cf_data *find(const struct cf_frame *f, unsigned column)
{
    for (unsigned i = 0; i < f->columns; i++)
        if (f->column[i].id == column)
            return &f->column[i];
    return NULL;
}

/* The weight of each row where all have the same and rows of a code are alike; else 0. */
static uint64_t weight_of_each(const struct cf_condense *c, const struct cf_frame *f)
{
    uint64_t value = 1;

    for (const unsigned *a = c->alike; *a; a++)
        if (find(f, *a) && *a != CF_STACK_ID && *a != CF_PID && *a != CF_WEIGHT &&
            !cf_frame_constant(f, *a, &value) && !cf_values_of_codes(f, *a))
            return 0;
    value = 1;
    if (find(f, CF_WEIGHT) && !cf_frame_constant(f, CF_WEIGHT, &value))
        return 0;
    return value <= most_each ? value : 0;
}

/* Columns by which rows differ: what served them, 0 or 1 where they hit the first level; and whose
   stack. NULL: not known, or the same for all. */
struct columns {
    const uint16_t *code;
    const uint8_t *class, *level, *hit;
    const uint32_t *stack, *pid;
};

/* Filters hand one on as the other. */
static int is_same(const struct cf_data *a, const struct cf_data *b)
{
    return a && b && a->codec == b->codec && a->base == b->base && a->bytes == b->bytes &&
           a->type == b->type && !memcmp(a->wire, b->wire, a->bytes);
}

static int is_alike(const struct cf_condense *c, unsigned column)
{
    const unsigned *a = c->alike;

    while (*a && *a != column)
        a++;
    return *a != 0;
}

/* -1 where one is damaged. */
static int find_columns(const struct cf_condense *c, const struct cf_frame *f, struct columns *h)
{
    const struct cf_data *class = find(f, CF_CLASS), *level = find(f, CF_LEVEL);
    const struct cf_data *hit = find(f, CF_HIT);
    const int stack = is_alike(c, CF_STACK_ID) && find(f, CF_STACK_ID);
    uint64_t value;
    const int pid = stack && find(f, CF_PID) && !cf_frame_constant(f, CF_PID, &value);

    h->class = class ? cf_late_values(f, CF_CLASS) : NULL;
    h->level = level ? cf_late_values(f, CF_LEVEL) : NULL;
    h->hit = !hit ? NULL : is_same(level, hit) ? h->level : cf_late_values(f, CF_HIT);
    h->stack = stack ? cf_late_values(f, CF_STACK_ID) : NULL;
    h->pid = pid ? cf_late_values(f, CF_PID) : NULL;
    return (class && !h->class) || (level && !h->level) || (hit && !h->hit) ||
                   (stack && !h->stack) || (pid && !h->pid)
               ? -1
               : 0;
}

/* ---- which rows are left ---- */

static inline uint64_t eight(const uint8_t *values, uint32_t i, uint64_t otherwise)
{
    if (values)
        memcpy(&otherwise, values + i, sizeof otherwise);
    return otherwise;
}

static inline int is_hit(const struct columns *h, uint32_t i)
{
    return (!h->class || h->class[i] == CF_CLASS_NONE) && (!h->level || h->level[i] == 1) &&
           (!h->hit || h->hit[i] == 1);
}

/* Whether rows i to i + 7 all hit. */
static inline int are_hits(const struct columns *h, uint32_t i)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);

    return !(eight(h->class, i, 0) | (eight(h->level, i, ones) ^ ones) |
             (eight(h->hit, i, ones) ^ ones));
}

static void leave(struct cf_condense *c, uint32_t row, uint64_t weight)
{
    ((uint32_t *)(void *)c->row.data)[c->left] = row;
    ((uint64_t *)(void *)c->weight.data)[c->left++] = weight;
}

static inline void count(struct alike *a, uint32_t row)
{
    a->count++;
    a->last = row;
}

/* Counts a row by its kind; one that stood in its place is left. */
static inline void count_kind(struct cf_condense *c, const struct columns *h, uint64_t code,
                              uint32_t row, uint64_t each)
{
    const uint64_t pid = h->pid ? h->pid[row] : 0, stack = h->stack ? h->stack[row] : 0;
    const uint64_t whose = pid << 32 | stack;
    const uint64_t hash =
        (code ^ whose * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xff51afd7ed558ccd);
    struct kind *k = &c->kind[hash >> (64 - KIND_BITS)];

    if (__builtin_expect(k->code != code || k->stack != whose || !k->rows.count, 0)) {
        if (k->rows.count)
            leave(c, k->rows.last, k->rows.count * each);
        else
            c->used[c->kinds++] = (uint32_t)(k - c->kind);
        *k = (struct kind){code, whose, {0, 0}};
    }
    count(&k->rows, row);
}

static void leave_kinds(struct cf_condense *c, uint64_t each)
{
    for (uint32_t i = 0; i < c->kinds; i++) {
        struct kind *k = &c->kind[c->used[i]];

        leave(c, k->rows.last, k->rows.count * each);
        k->rows.count = 0;
    }
    c->kinds = 0;
}

static void count_misses(struct cf_condense *c, const struct cf_frame *f, const struct columns *h,
                         uint64_t each)
{
    uint32_t *missed = (void *)c->missed.data;

    c->misses = 0;
    for (uint32_t i = 0; i < f->rows;)
        if (f->rows - i >= 8 && are_hits(h, i)) {
            i += 8;
        } else {
            missed[c->misses] = i;
            c->misses += !is_hit(h, i++);
        }
    for (uint32_t j = 0; j < c->misses; j++) {
        const uint32_t i = missed[j];
        const uint64_t class = h->class ? h->class[i] : 0, level = h->level ? h->level[i] : 0;
        const uint64_t hit = h->hit ? h->hit[i] : 0;

        count_kind(c, h, hit << 32 | level << 24 | class << 16 | h->code[i], i, each);
    }
    leave_kinds(c, each);
}

static void count_hits(struct cf_condense *c, const struct cf_frame *f, const struct columns *h,
                       uint32_t codes, uint64_t each)
{
    for (uint32_t i = 0, end; i < f->rows; i = end) {
        int all;

        end = f->rows - i < 8 ? f->rows : i + 8;
        all = end - i == 8 && are_hits(h, i);
        for (uint32_t k = i; k < end; k++)
            if (!all && !is_hit(h, k))
                continue;
            else if (h->stack)
                count_kind(c, h, h->code[k], k, each);
            else
                count(&c->of_code[h->code[k]], k);
    }
    leave_kinds(c, each);
    for (uint32_t i = 0; !h->stack && i < codes; i++)
        if (c->of_code[i].count) {
            leave(c, c->of_code[i].last, c->of_code[i].count * each);
            c->of_code[i] = (struct alike){0, 0};
        }
}

/* ---- their columns ---- */

/* From row `first` on those of c->rows. */
static int add_values(struct cf_condense *c, unsigned column, const void *values,
                      const uint16_t *code, uint32_t first)
{
    const size_t width = cf_type_width(cf_column_type(column));
    const uint32_t *row = (const void *)c->row.data;
    struct cf_bytes *to = &c->column[c->rows.columns];

    to->used = 0;
    cf_must(c->tool, cf_bytes_room(to, c->left * width));
    if (!code)
        cf_gather_values(to->data, values, width, row, c->left);
    else if (width == 8)
        for (uint32_t i = 0; i < c->left; i++)
            ((uint64_t *)(void *)to->data)[i] = ((const uint64_t *)values)[code[row[i]]];
    else if (width == 4)
        for (uint32_t i = 0; i < c->left; i++)
            ((uint32_t *)(void *)to->data)[i] = ((const uint32_t *)values)[code[row[i]]];
    else
        for (uint32_t i = 0; i < c->left; i++)
            to->data[i] = ((const uint8_t *)values)[code[row[i]]];
    return cf_frame_set(&c->sums, column, to->data) != 0 ||
                   cf_frame_set(&c->rows, column, to->data + first * width) != 0
               ? -1
               : 0;
}

static int add_column(struct cf_condense *c, const struct cf_frame *f, unsigned column,
                      const uint16_t *code, uint32_t first)
{
    const void *of_codes, *values;

    if (!find(f, column) || find(&c->rows, column))
        return 0;
    of_codes = cf_values_of_codes(f, column);
    values = of_codes ? of_codes : cf_late_values(f, column);
    return values ? add_values(c, column, values, of_codes ? code : NULL, first) : -1;
}

/* An empty frame like `f`. */
static void begin_frame(struct cf_frame *to, const struct cf_frame *f, uint32_t rows)
{
    memcpy(to, f, offsetof(struct cf_frame, column));
    to->reader = f->reader;
    to->columns = 0;
    to->rows = rows;
}

/* The first `sums` rows are those of c->sums, from `first` on those of c->rows. */
static int add_columns(struct cf_condense *c, const struct cf_frame *f, const struct columns *h,
                       uint32_t first, uint32_t sums)
{
    const unsigned *const lists[] = {c->alike, c->others};
    uint64_t *weight = (void *)c->weight.data;
    const struct {
        unsigned column;
        const uint8_t *values;
    } served[] = {{CF_CLASS, h->class}, {CF_LEVEL, h->level}, {CF_HIT, h->hit}};

    begin_frame(&c->sums, f, sums);
    begin_frame(&c->rows, f, c->left - first);
    if (cf_frame_set(&c->sums, CF_WEIGHT, weight) != 0 ||
        cf_frame_set(&c->rows, CF_WEIGHT, weight + first) != 0)
        return -1;
    for (unsigned i = 0; i < sizeof served / sizeof *served; i++)
        if (served[i].values && add_values(c, served[i].column, served[i].values, NULL, first) != 0)
            return -1;
    for (unsigned i = 0; i < sizeof lists / sizeof *lists; i++)
        for (const unsigned *column = lists[i]; *column; column++)
            if (add_column(c, f, *column, h->code, first) != 0)
                return -1;
    return 0;
}

/* 1 where the frame was condensed, 0 where it cannot be, -1 where it is damaged. */
static int condense(struct cf_condense *c, const struct cf_frame *f, uint64_t each,
                    struct cf_condensed *to)
{
    uint32_t codes, first, sums;
    struct columns h = {.code = cf_frame_codes(f, &codes)};

    if (!h.code)
        return 0;
    if (find_columns(c, f, &h) != 0)
        return -1;
    c->left = 0;
    c->row.used = c->weight.used = c->missed.used = 0;
    cf_must(c->tool, cf_bytes_room(&c->row, 2 * f->rows * sizeof(uint32_t)));
    cf_must(c->tool, cf_bytes_room(&c->weight, 2 * f->rows * sizeof(uint64_t)));
    cf_must(c->tool, cf_bytes_room(&c->missed, (f->rows + 1) * sizeof(uint32_t)));
    count_misses(c, f, &h, each);
    first = c->left;
    count_hits(c, f, &h, codes, each);
    sums = c->left;
    for (uint32_t j = 0; j < c->misses; j++)
        leave(c, ((const uint32_t *)(const void *)c->missed.data)[j], each);
    if (sums > f->rows / 2)
        return 0;
    *to = (struct cf_condensed){&c->sums, &c->rows, each, f,
                                (const uint32_t *)(const void *)c->row.data + first};
    return add_columns(c, f, &h, first, sums) != 0 ? -1 : 1;
}

int cf_condense_frame(struct cf_condense *c, struct cf_frame *f, struct cf_condensed *to)
{
    const uint64_t each = f->table == CF_ACCESS ? weight_of_each(c, f) : 0;
    const int condensed = each ? condense(c, f, each, to) : 0;

    if (condensed)
        return condensed > 0 ? 0 : -1;
    *to = (struct cf_condensed){.sums = f, .rows = f, .in = f};
    return f->table == CF_ACCESS ? cf_frame_wanted(f) : 0;
}
