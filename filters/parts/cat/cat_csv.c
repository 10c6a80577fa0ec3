/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cat_csv.c - values as text, and a table as CSV that cf-capture csv reads back to the same rows.
 *
 * Memory: the list of columns. CSV has one header line, so the columns of a table's first frame
 * stand for all: a column that is missing later gives empty fields, one that comes later is
 * reported.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cf_memory.h"

#include "filters/parts/cat/cat.h"

const char *print_column_name(const struct cf_reader *r, unsigned column)
{
    static char number[32];
    const char *name = cf_reader_column_name(r, column);

    if (name)
        return name;
    snprintf(number, sizeof(number), "column_%u", column);
    return number;
}

const char *print_table_name(const struct cf_reader *r, unsigned table)
{
    static char number[32];
    const char *name = cf_reader_table_name(r, table);

    if (name)
        return name;
    snprintf(number, sizeof(number), "table_%u", table);
    return number;
}

void print_quoted(FILE *out, const char *text, size_t length)
{
    putc('"', out);
    cf_text_print(out, text, length, "\"\\");
    putc('"', out);
}

void print_field(FILE *out, int first, const struct cf_reader *r, const struct cf_data *c,
                 uint32_t row, int decimal)
{
    uint64_t number = 0;

    switch (c->type) {
    case CF_U8:
        number = ((const uint8_t *)c->values)[row];
        if (c->id == CF_OP && cf_op_name((unsigned)number)) {
            cf_csv_text(out, first, cf_op_name((unsigned)number));
            return;
        }
        break;
    case CF_U16:
        number = ((const uint16_t *)c->values)[row];
        break;
    case CF_U32:
        number = ((const uint32_t *)c->values)[row];
        break;
    case CF_U64:
        number = ((const uint64_t *)c->values)[row];
        if (!decimal && (c->id == CF_ADDR || c->id == CF_PHYS || c->id == CF_PC ||
                         c->id == CF_START || c->id == CF_STOP)) {
            cf_csv_hex(out, first, number);
            return;
        }
        break;
    case CF_I64:
        fprintf(out, "%s%" PRId64, first ? "" : ",", ((const int64_t *)c->values)[row]);
        return;
    case CF_F64:
        fprintf(out, "%s%.17g", first ? "" : ",", ((const double *)c->values)[row]);
        return;
    case CF_STR:
        cf_csv_text(out, first, cf_reader_text(r, ((const uint32_t *)c->values)[row]));
        return;
    }
    cf_csv_u64(out, first, number);
}

/* ---- CSV ---- */

struct csv {
    struct cf_tool *tool;
    const char *table;
    char *wanted;      /* with NULs where commas were */
    const char **name; /* of each column, in wanted or in names */
    char *names;
    unsigned columns;
    int decimal;                  /* addresses too */
    uint8_t seen[CF_MAX_COLUMNS]; /* some frame has had the column */
    int began, warned, found;
};

struct csv *csv_new(struct cf_tool *t, const char *table, const char *wanted, int decimal)
{
    struct csv *c = cf_tool_room(t, 1, sizeof(*c));

    c->tool = t;
    c->table = table;
    c->decimal = decimal;
    c->wanted = wanted ? cf_need(t, strdup(wanted)) : NULL;
    c->name = cf_tool_room(t, CF_MAX_COLUMNS, sizeof(*c->name));
    for (char *p = c->wanted; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
        if (c->columns == CF_MAX_COLUMNS)
            cf_die(t, CF_EXIT_USAGE, "--columns '%s': more than %d", wanted, CF_MAX_COLUMNS);
        c->name[c->columns++] = p;
    }
    for (unsigned i = 0; i < c->columns; i++) {
        char *end = strchr(c->name[i], ',');

        if (end)
            *end = '\0';
        if (!c->name[i][0])
            cf_die(t, CF_EXIT_USAGE, "--columns '%s': a name is empty", wanted);
    }
    return c;
}

static int is_table(const struct csv *c, const struct cf_reader *r, unsigned table)
{
    char number[32];

    snprintf(number, sizeof(number), "%u", table);
    return !strcmp(c->table, print_table_name(r, table)) || !strcmp(c->table, number);
}

/* The column of that name, NULL where the frame lacks it. */
static const struct cf_data *find(const struct cf_reader *r, const struct cf_frame *f,
                                  const char *name)
{
    for (unsigned i = 0; i < f->columns; i++)
        if (f->column[i].values && !strcmp(print_column_name(r, f->column[i].id), name))
            return &f->column[i];
    return NULL;
}

static void begin(struct csv *c, const struct cf_reader *r, const struct cf_frame *f)
{
    c->began = 1;
    if (!c->wanted) {
        size_t bytes = 0;
        FILE *names = cf_need(c->tool, open_memstream(&c->names, &bytes));

        for (unsigned i = 0; i < f->columns; i++)
            if (f->column[i].values)
                fprintf(names, "%s%c", print_column_name(r, f->column[i].id), 0);
        c->names = cf_need(c->tool, cf_memory_text(names, &c->names));
        for (size_t at = 0; at < bytes; at += strlen(c->names + at) + 1)
            c->name[c->columns++] = c->names + at;
    }
    for (unsigned i = 0; i < c->columns; i++)
        cf_csv_text(stdout, i == 0, c->name[i]);
    cf_csv_end(stdout);
}

/* A dictionary has its texts end to end in one column. */
static void csv_strings(const struct cf_reader *r, const struct cf_frame *f)
{
    const uint32_t *id = cf_u32(f, CF_ID);

    for (uint32_t i = 0; i < f->rows && id; i++) {
        cf_csv_u64(stdout, 1, id[i]);
        cf_csv_text(stdout, 0, cf_reader_text(r, id[i]));
        cf_csv_end(stdout);
    }
}

static int is_blank(const struct cf_reader *r, const struct cf_data *d, uint32_t row)
{
    return !d || (d->type == CF_STR && !*cf_reader_text(r, ((const uint32_t *)d->values)[row]));
}

void csv_frame(struct csv *c, const struct cf_reader *r, const struct cf_frame *f)
{
    const struct cf_data *column[CF_MAX_COLUMNS];

    if (f->table == CF_HEADER || !is_table(c, r, f->table))
        return;
    c->found = 1;
    if (f->table == CF_STRING) {
        if (!c->began)
            fputs("id,text\n", stdout);
        c->began = 1;
        csv_strings(r, f);
        return;
    }
    if (!c->began)
        begin(c, r, f);
    for (unsigned i = 0; i < c->columns; i++)
        c->seen[i] |= (column[i] = find(r, f, c->name[i])) != NULL;
    for (unsigned i = 0; i < f->columns && !c->wanted && !c->warned; i++) {
        const char *name = print_column_name(r, f->column[i].id);
        unsigned k = 0;

        while (k < c->columns && strcmp(name, c->name[k]))
            k++;
        if (k == c->columns && f->column[i].values) {
            cf_warn(c->tool,
                    "from frame %" PRIu64 " on there is a column '%s' that the first rows do not "
                    "have: it is left out: name all columns with --columns",
                    f->number, name);
            c->warned = 1;
        }
    }
    for (uint32_t row = 0; row < f->rows; row++) {
        for (unsigned i = 0; i < c->columns; i++) {
            if (c->columns == 1 && is_blank(r, column[i], row))
                fputs("\"\"", stdout); /* readers pass over an empty line */
            else if (column[i])
                print_field(stdout, i == 0, r, column[i], row, c->decimal);
            else if (i)
                putchar(',');
        }
        cf_csv_end(stdout);
    }
}

void csv_end(struct csv *c)
{
    if (!c->found && !cf_table_find(c->table))
        cf_fail(c->tool, CF_EXIT_INPUT,
                "--table '%s': the input has no such table: --info lists those it has", c->table);
    for (unsigned i = 0; i < c->columns && c->began && c->wanted; i++) {
        const char *adder = cf_column_adder(cf_column_find(c->name[i]));

        if (c->seen[i])
            continue;
        cf_warn(c->tool, "table %s has no column '%s'%s%s%s: its fields are empty", c->table,
                c->name[i], adder ? ", which " : "", adder ? adder : "", adder ? " adds" : "");
    }
    free(c->wanted);
    free(c->names);
}
