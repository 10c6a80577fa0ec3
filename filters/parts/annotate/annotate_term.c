/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * annotate_term.c - the annotated source for a terminal, laid out as cg_annotate(1) of Valgrind
 * does: totals, files, then the lines of each with their values at the left, a dot for nothing, and
 * "-- line N --" where lines are left out. Memory: one line.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "filters/parts/annotate/annotate.h"
#include "formats/base/cf_text.h"

enum { FIELD = 64, RULE = 78, LEAST_TEXT = 20, TEXT = 40 };

struct page {
    const struct annotate *a;
    FILE *out;
    const struct cf_terminal *t;
    unsigned width[CF_MOST_SUMS]; /* of each column */
    unsigned numbers;             /* and of the numbers of lines */
    unsigned most;                /* columns of the terminal, 0 = any */
    int shares;                   /* in percent, where they fit beside a text */
    double hottest;
};

/* "1,234,567" */
static void group(char *to, uint64_t value)
{
    char digits[FIELD];
    const int n = snprintf(digits, sizeof digits, "%" PRIu64, value);

    for (int i = 0; i < n; i++) {
        *to++ = digits[i];
        if ((n - i) % 3 == 1 && i + 1 < n)
            *to++ = ',';
    }
    *to = '\0';
}

static void value_text(const struct page *p, unsigned v, const uint64_t *sum, char *to)
{
    const struct annotate *a = p->a;
    const double ratio = line_is_ratio(a, v) ? cf_sums_ratio(&a->sums, sum) : 0;

    if (line_is_ratio(a, v) && !isnan(ratio)) {
        snprintf(to, FIELD, "%.2f%%", 100 * ratio);
    } else if (line_is_ratio(a, v) || !sum[v]) {
        strcpy(to, line_is_ratio(a, v) ? "" : ".");
    } else {
        group(to, sum[v]);
        if (p->shares)
            snprintf(to + strlen(to), FIELD - strlen(to), " (%5.1f%%)",
                     100 * line_share(a, v, sum));
    }
}

/* The widths of columns; their sum. */
static unsigned measure(struct page *p)
{
    const struct annotate *a = p->a;
    unsigned used = 0;
    uint64_t last = 0;

    for (unsigned i = 0; i < a->columns; i++) {
        const unsigned name = (unsigned)strlen(cf_sum_name(&a->sums.list[a->column[i]]));
        char text[FIELD];

        /* no sum is longer than that of all; ratios may be */
        value_text(p, a->column[i], a->sum[ALL], text);
        p->width[i] =
            line_is_ratio(a, a->column[i]) ? (unsigned)strlen("100.00%") : (unsigned)strlen(text);
        p->width[i] = name > p->width[i] ? name : p->width[i];
        used += p->width[i] + 2;
    }
    for (size_t i = 0; i < a->files; i++)
        if (a->file[i].shown_lines && a->file[i].shown[a->file[i].shown_lines - 1].number > last)
            last = a->file[i].shown[a->file[i].shown_lines - 1].number;
    p->numbers = (unsigned)snprintf(NULL, 0, "%" PRIu64, last);
    return used + p->numbers;
}

static void put_names(const struct page *p)
{
    for (unsigned i = 0; i < p->a->columns; i++)
        fprintf(p->out, "%s%*s", i ? "  " : "", (int)p->width[i],
                cf_sum_name(&p->a->sums.list[p->a->column[i]]));
    fputc('\n', p->out);
}

/* Values in their columns, of nothing by dots; returns the columns of the terminal. */
static unsigned put_values(const struct page *p, const uint64_t *sum)
{
    unsigned used = 0;

    for (unsigned i = 0; i < p->a->columns; i++) {
        char text[FIELD] = ".";

        if (sum)
            value_text(p, p->a->column[i], sum, text);
        fprintf(p->out, "%*s  ", (int)p->width[i], text);
        used += p->width[i] + 2;
    }
    return used;
}

/* A text in what is left of a line; its end is left out where it does not fit. */
static void put_text(const struct page *p, const char *text, unsigned used)
{
    const unsigned room = !p->most                      ? UINT32_MAX
                          : p->most < used + LEAST_TEXT ? LEAST_TEXT
                                                        : p->most - used;
    char *safe = cf_source_safe(p->a->tool, text);
    unsigned columns = 0;
    size_t fits = 0;

    for (const char *c = safe; *c;) {
        uint32_t code;
        const size_t n = cf_text_character(c, &code);
        const int wide = code < 128 ? 1 : wcwidth((wchar_t)code);

        columns += wide < 0 ? 1 : (unsigned)wide;
        c += n;
        if (columns + 2 <= room)
            fits = (size_t)(c - safe);
    }
    if (columns > room)
        strcpy(safe + fits, "..");
    fputs(safe, p->out);
    free(safe);
}

static void put_rule(const struct page *p, const char *what, const char *more)
{
    char *safe = cf_source_safe(p->a->tool, what), *beside = cf_source_safe(p->a->tool, more);
    const size_t used = strlen(safe) + strlen(beside) + 4;

    fprintf(p->out, "\n%s-- %s%s ", p->t->colours ? "\33[1m" : "", safe, beside);
    for (size_t i = used; i < RULE; i++)
        fputc('-', p->out);
    fprintf(p->out, "%s\n\n", p->t->colours ? "\33[0m" : "");
    free(safe);
    free(beside);
}

static int is_nothing(const struct annotate *a, const uint64_t *sum)
{
    for (unsigned v = 0; v < a->sums.count; v++)
        if (sum[v])
            return 0;
    return 1;
}

static void put_totals(const struct page *p)
{
    put_rule(p, "totals", "");
    put_names(p);
    for (int part = 0; part < PARTS; part++) {
        if (part != ALL && is_nothing(p->a, p->a->sum[part]))
            continue;
        put_values(p, p->a->sum[part]);
        fprintf(p->out, "%s\n", part_name(part));
    }
}

static void put_files(const struct page *p)
{
    uint64_t rest[CF_MOST_SUMS];
    const size_t left_out = lines_rest(p->a, rest);

    put_rule(p, "files", "");
    put_names(p);
    for (size_t i = 0; i < p->a->files; i++) {
        const struct file *f = &p->a->file[i];

        if (!f->wanted)
            continue;
        put_text(p, f->name, put_values(p, f->sum));
        fprintf(p->out, "%s%s\n", f->lack ? ": " : "", f->lack ? f->lack : "");
    }
    if (left_out) {
        put_values(p, rest);
        fprintf(p->out, "%zu file%s of which no line is shown\n", left_out,
                left_out == 1 ? "" : "s");
    }
}

static void put_line(const struct page *p, const struct shown *s)
{
    const struct cf_terminal *t = p->t;
    const double heat = s->sum ? line_heat(p->a, s->sum, p->hottest) : 0;
    unsigned used = put_values(p, s->sum);

    if (t->colours && heat > 0)
        cf_terminal_colour(p->out, t, 1, cf_heat_colour(heat));
    fprintf(p->out, " %s", t->colours && heat > 0 ? "\33[0m" : "");
    if (s->number)
        fprintf(p->out, "%*" PRIu64 "  ", (int)p->numbers, s->number);
    else
        fprintf(p->out, "%*s  ", (int)p->numbers, "-");
    used += 1 + p->numbers + 2;
    if (s->text)
        put_text(p, s->text, used);
    fputc('\n', p->out);
}

static void put_file(const struct page *p, const struct file *f)
{
    char more[FIELD * 2];

    snprintf(more, sizeof more, "%s%s", f->lack ? ": " : "", f->lack ? f->lack : "");
    put_rule(p, f->path ? f->path : f->name, more);
    put_names(p);
    for (size_t i = 0; i < f->shown_lines; i++) {
        const struct shown *s = &f->shown[i];

        if (s->behind_gap && s->number > 1 && (i || s->text))
            fprintf(p->out, "-- line %" PRIu64 " ----\n", s->number);
        put_line(p, s);
    }
}

int draw_term(const void *annotate, FILE *out, const struct cf_terminal *t)
{
    const struct annotate *a = annotate;
    struct page p = {.a = a,
                     .out = out,
                     .t = t,
                     .most = cf_tool_columns(),
                     .shares = 1,
                     .hottest = lines_hottest(a)};
    char summary[512];

    if (measure(&p) + TEXT > p.most && p.most) {
        p.shares = 0;
        (void)measure(&p);
    }
    lines_summary(a, summary, sizeof summary);
    fputs(t->colours ? "\33[1m" : "", out);
    put_text(&p, a->command && *a->command ? a->command : "annotated source", 0);
    fprintf(out, "%s\n", t->colours ? "\33[0m" : "");
    put_text(&p, summary, 0);
    fputc('\n', out);
    put_totals(&p);
    put_files(&p);
    for (size_t i = 0; i < a->files; i++)
        if (a->file[i].wanted)
            put_file(&p, &a->file[i]);
    return ferror(out) ? -1 : 0;
}
