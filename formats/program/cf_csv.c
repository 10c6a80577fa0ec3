/* SPDX-License-Identifier: BSD-2-Clause */
/* cf_csv.c - reading CSV: fields are kept one behind the other, each with a zero at its end. */
#include <csv.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/program/cf_csv.h"

struct fields {
    char text[CF_CSV_BYTES];
    size_t used;
    size_t at[CF_CSV_FIELDS];
    unsigned count;
};

struct cf_csv {
    struct cf_tool *tool;
    const char *file;
    struct fields names, row;
    uint64_t rows;
    const char *const *needs;
    cf_csv_taker *take;
    void *arg;
};

static void take_field(void *text, size_t bytes, void *arg)
{
    struct cf_csv *t = arg;
    struct fields *f = t->rows ? &t->row : &t->names;

    if (f->count == CF_CSV_FIELDS)
        return;
    if (bytes >= CF_CSV_BYTES - f->used)
        cf_die(t->tool, CF_EXIT_INPUT, "%s: row %llu: is longer than %d bytes", t->file,
               (unsigned long long)t->rows + 1, CF_CSV_BYTES);
    f->at[f->count++] = f->used;
    if (bytes)
        memcpy(f->text + f->used, text, bytes);
    f->used += bytes;
    f->text[f->used++] = 0;
}

/* Number of a column, or that of all where there is none of the name. */
static unsigned find(const struct cf_csv *t, const char *name)
{
    unsigned i = 0;

    while (i < t->names.count && strcmp(t->names.text + t->names.at[i], name) != 0)
        i++;
    return i;
}

static void check_names(const struct cf_csv *t)
{
    for (const char *const *need = t->needs; *need; need++)
        if (find(t, *need) == t->names.count)
            cf_die(t->tool, CF_EXIT_INPUT, "%s: row 1 names no column %s", t->file, *need);
}

static void take_row(int end, void *arg)
{
    struct cf_csv *t = arg;

    (void)end;
    if (!t->rows)
        check_names(t);
    else if (t->row.count)
        t->take(t, t->arg);
    t->rows++;
    t->row.used = t->row.count = 0;
}

void cf_csv_read(struct cf_tool *tool, const char *file, const char *const *needs,
                 cf_csv_taker *take, void *arg)
{
    struct cf_csv *t = cf_need(tool, calloc(1, sizeof *t));
    FILE *in = strcmp(file, "-") != 0 ? fopen(file, "re") : stdin;
    struct csv_parser parser;
    char block[1 << 14];
    size_t n;

    if (in == stdin && tool->stdin_taken)
        cf_die(tool, CF_EXIT_USAGE,
               "standard input cannot be two inputs: name a FILE for one of them");
    tool->stdin_taken |= in == stdin;
    if (!in)
        cf_die(tool, CF_EXIT_ENVIRONMENT, "%s: cannot be read: %s", file, strerror(errno));
    cf_must(tool, csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI));
    t->tool = tool;
    t->file = file;
    t->needs = needs;
    t->take = take;
    t->arg = arg;
    while ((n = fread(block, 1, sizeof block, in)) > 0)
        if (csv_parse(&parser, block, n, take_field, take_row, t) != n)
            break;
    if (n || csv_fini(&parser, take_field, take_row, t) != 0)
        cf_fail(tool, CF_EXIT_INPUT, "%s: row %llu: %s", file, (unsigned long long)t->rows + 1,
                csv_strerror(csv_error(&parser)));
    if (ferror(in))
        cf_die(tool, CF_EXIT_ENVIRONMENT, "%s: cannot be read: %s", file, strerror(errno));
    if (!t->rows)
        check_names(t); /* an empty file: reports what it lacks */
    if (in != stdin)
        (void)fclose(in); /* read only */
    csv_free(&parser);
    free(t);
}

const char *cf_csv_field(const struct cf_csv *t, const char *name)
{
    const unsigned i = find(t, name);

    return i < t->row.count ? t->row.text + t->row.at[i] : NULL;
}

uint64_t cf_csv_row(const struct cf_csv *t)
{
    return t->rows + 1;
}
