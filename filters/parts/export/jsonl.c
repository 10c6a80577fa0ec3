/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * jsonl.c - the rows of a table as JSON Lines: an object a row, with the columns that the row has.
 *
 * Memory: one frame, and the strings of the segment.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio_ext.h>
#include <string.h>

#include "filters/parts/export/export.h"

struct jsonl {
    struct export *e;
    struct cf_frame *frame; /* the first of the table; NULL: there is none */
};

static void number(FILE *out, uint64_t value)
{
    cf_csv_u64(out, 1, value);
}

static void value(FILE *out, const struct cf_reader *r, const struct cf_data *c, uint32_t row)
{
    const char *word;
    double f64;

    switch (c->type) {
    case CF_U8:
        word = export_word(c->id, ((const uint8_t *)c->values)[row]);
        if (word && c->id != CF_HIT && c->id != CF_LEVEL) /* these are numbers as a rule */
            export_text(out, word);
        else
            number(out, ((const uint8_t *)c->values)[row]);
        return;
    case CF_U16:
        number(out, ((const uint16_t *)c->values)[row]);
        return;
    case CF_U32:
        number(out, ((const uint32_t *)c->values)[row]);
        return;
    case CF_U64:
        number(out, ((const uint64_t *)c->values)[row]);
        return;
    case CF_I64:
        fprintf(out, "%" PRId64, ((const int64_t *)c->values)[row]);
        return;
    case CF_F64:
        f64 = ((const double *)c->values)[row];
        fprintf(out, isfinite(f64) ? "%.17g" : "null", f64);
        return;
    case CF_STR:
        export_text(out, cf_reader_text(r, ((const uint32_t *)c->values)[row]));
    }
}

/* A dictionary has its texts end to end in one column. */
static void strings(FILE *out, const struct cf_reader *r, const struct cf_frame *f)
{
    const uint32_t *id = cf_u32(f, CF_ID);

    for (uint32_t i = 0; i < f->rows && id && !ferror(out); i++) {
        fprintf(out, "{\"id\":%" PRIu32 ",\"text\":", id[i]);
        export_text(out, cf_reader_text(r, id[i]));
        fputs("}\n", out);
    }
}

static void rows(FILE *out, const struct cf_reader *r, const struct cf_frame *f)
{
    char key[CF_MAX_COLUMNS][EXPORT_NAME + 5], name[EXPORT_NAME];
    const struct cf_data *column[CF_MAX_COLUMNS];
    unsigned columns = 0;

    for (unsigned i = 0; i < f->columns; i++) {
        if (!f->column[i].values || f->column[i].type == CF_BLOB)
            continue;
        snprintf(key[columns], sizeof key[0], "%s\"%s\":", columns ? "," : "",
                 export_column_name(r, f->column[i].id, name));
        column[columns++] = &f->column[i];
    }
    for (uint32_t row = 0; row < f->rows && !ferror(out); row++) {
        putc('{', out);
        for (unsigned i = 0; i < columns; i++) {
            fputs(key[i], out);
            value(out, r, column[i], row);
        }
        fputs("}\n", out);
    }
}

static int is_table(const struct export *e, const struct cf_frame *f)
{
    char name[EXPORT_NAME];

    return f->table != CF_HEADER && !strcmp(e->table, export_table_name(e->reader, f->table, name));
}

/* What waits for a full buffer is for those who follow a recording. */
static void flush(void *out)
{
    (void)fflush(out);
}

/* For cf_tool_file(). */
static int write_rows(const void *what, FILE *out)
{
    const struct jsonl *j = what;
    struct cf_reader *r = j->e->reader;
    struct cf_frame *f = j->frame;

    __fsetlocking(out, FSETLOCKING_BYCALLER);
    cf_reader_idle(r, flush, out);
    while (f) {
        cf_tool_progress(j->e->tool, r);
        if (is_table(j->e, f))
            (f->table == CF_STRING ? strings : rows)(out, r, f);
        if (ferror(out))
            return -1;
        if (cf_reader_next(r, &f) == 0)
            break;
    }
    cf_reader_idle(r, NULL, NULL);
    if (!cf_reader_refused(r) || cf_tool_problems(j->e->tool, r) == CF_EXIT_OK)
        return 0;
    errno = ECANCELED; /* a part is not to take the place of the whole */
    return -1;
}

int export_jsonl(struct export *e)
{
    struct jsonl j = {.e = e};
    struct cf_frame *f;
    unsigned table;

    e->table = e->table ? e->table : "access";
    table = cf_table_find(e->table);
    cf_reader_want_all(e->reader);
    cf_reader_pieces(e->reader);
    if (table)
        cf_reader_want(e->reader, table, 0, CF_REQUIRED);
    while (!j.frame && cf_reader_next(e->reader, &f) > 0)
        j.frame = is_table(e, f) ? f : NULL;
    if (!j.frame)
        cf_tool_fit(e->tool, e->reader);
    if (!j.frame && !table)
        return export_no_table(e);
    cf_tool_file(e->tool, e->output ? e->output : "-", write_rows, &j);
    return CF_EXIT_OK;
}
