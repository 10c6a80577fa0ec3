/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * conditions.c - which rows of a frame meet all conditions (see conditions.h).
 */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "filters/parts/select/conditions.h"

enum { MEMO = 1 << 14 };

struct memo {
    uint32_t id;
    uint8_t known, verdict;
};

int conditions_cpus_alone(const struct conditions *c)
{
    return c->tests && c->test[0].column == CF_CPU && c->test[c->tests - 1].column == CF_CPU;
}

int conditions_timed(const struct conditions *c)
{
    int timed = 0;

    for (unsigned i = 0; i < c->tests; i++)
        timed |= c->test[i].column == CF_TIME;
    return timed;
}

static void add_test(const struct cf_tool *t, struct conditions *c, struct test new)
{
    unsigned at = c->tests;

    if (c->tests == MAX_TESTS)
        cf_die(t, CF_EXIT_USAGE, "more than %d conditions", MAX_TESTS);
    for (unsigned i = 0; i < c->tests; i++)
        if (c->test[i].column == new.column)
            at = i;
    if (new.glob)
        new.memo = at < c->tests ? c->test[at].memo : cf_tool_room(t, MEMO, sizeof *new.memo);
    memmove(&c->test[at + 1], &c->test[at], (c->tests - at) * sizeof(new));
    c->test[at] = new;
    c->tests++;
}

void conditions_add(const struct cf_tool *t, void *conditions, const char *option, char *text)
{
    struct test new = {.column = cf_column_find(option + strlen("--"))};
    char *part;

    if (cf_column_type(new.column) == CF_STR) {
        new.glob = text;
        add_test(t, conditions, new);
        return;
    }
    while ((part = strsep(&text, ","))) {
        if (new.column == CF_OP)
            new.from = new.to = cf_parse_op(t, option, part);
        else if (new.column == CF_HIT && !strcmp(part, "memory"))
            new.from = new.to = CF_FROM_MEMORY;
        else if (new.column == CF_CLASS)
            new.from = new.to = cf_parse_class(t, option, part, 1);
        else if (new.column == CF_TIME)
            cf_parse_span(t, option, part, &new.span);
        else
            cf_parse_range(t, option, part, &new.from, &new.to);
        add_test(t, conditions, new);
    }
}

/* any[i] |= from <= value[i] <= to, as one unsigned comparison. */
#define OR_RANGE(type)                                                                             \
    do {                                                                                           \
        const type *v = values;                                                                    \
        type low = (type)from, span = (type)(to - from);                                           \
        for (uint32_t i = 0; i < rows; i++)                                                        \
            any[i] |= (type)(v[i] - low) <= span;                                                  \
    } while (0)

static void or_range(uint8_t *any, const void *values, size_t width, uint32_t rows, uint64_t from,
                     uint64_t to)
{
    uint64_t most = width == 1 ? UINT8_MAX : width == 4 ? UINT32_MAX : UINT64_MAX;

    if (from > most)
        return;
    to = to > most ? most : to;
    if (width == 1)
        OR_RANGE(uint8_t);
    else if (width == 4)
        OR_RANGE(uint32_t);
    else
        OR_RANGE(uint64_t);
}

/* Patterns are tried once a string, as long as it stays in a direct-mapped memory of verdicts. */
static void or_globs(const struct cf_reader *r, const struct test *test, unsigned tests,
                     const uint32_t *id, uint32_t rows, uint8_t *any)
{
    for (uint32_t i = 0; i < rows; i++) {
        struct memo *m = &test->memo[(id[i] ^ id[i] >> 24) & (MEMO - 1)];

        if (m->id != id[i] || !m->known) {
            const char *text = cf_reader_text(r, id[i]);

            *m = (struct memo){.id = id[i], .known = 1};
            for (unsigned k = 0; k < tests; k++)
                m->verdict |= fnmatch(test[k].glob, text, 0) == 0;
        }
        any[i] |= m->verdict;
    }
}

unsigned conditions_mask(const struct conditions *c, const struct cf_reader *r,
                         const struct cf_frame *f, uint8_t *mask)
{
    unsigned applied = 0, tests;

    memset(mask, 1, f->rows);
    for (unsigned at = 0; at < c->tests; at += tests) {
        const struct test *test = &c->test[at];
        const void *values = cf_values(f, test->column);

        for (tests = 1; at + tests < c->tests && test[tests].column == test->column;)
            tests++;
        if (!values)
            continue;
        applied++;
        memset(c->any, 0, f->rows);
        if (test->glob)
            or_globs(r, test, tests, values, f->rows, c->any);
        else
            for (unsigned k = 0; k < tests; k++)
                or_range(c->any, values, cf_type_width(cf_column_type(test->column)), f->rows,
                         test[k].from, test[k].to);
        for (uint32_t i = 0; i < f->rows; i++)
            mask[i] &= c->any[i];
    }
    return applied;
}

int conditions_begin(struct conditions *c, struct cf_tool *t, struct cf_reader *r, int inverted)
{
    uint64_t from = UINT64_MAX, to = 0;

    c->any = cf_column_room(t, sizeof *c->any);
    for (unsigned i = 0; i < c->tests; i++) {
        struct test *test = &c->test[i];

        cf_reader_want(r, CF_ACCESS, test->column, CF_REQUIRED);
        if (test->column != CF_TIME)
            continue;
        cf_tool_span(t, r, "--time", &test->span);
        test->from = test->span.from;
        test->to = test->span.to;
        from = test->from < from ? test->from : from;
        to = test->to > to ? test->to : to;
    }
    if (from > to || inverted)
        return 0;
    cf_reader_range(r, from, to);
    return 1;
}

void conditions_forget(struct conditions *c)
{
    for (unsigned i = 0; i < c->tests; i++)
        if (c->test[i].memo)
            memset(c->test[i].memo, 0, MEMO * sizeof *c->test[i].memo);
}
