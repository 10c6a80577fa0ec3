/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * schema.c - what the files of the folder hold, as JSON.
 *
 * What is known of a segment is written as it comes; memory does not grow here.
 */
#include <inttypes.h>
#include <string.h>

#include "filters/parts/export/npy.h"

static const char schema[] = "schema.json", strings[] = "strings.json";

void schema_begin(struct npy *n)
{
    n->schema = npy_text(n, schema);
    fputs("{\n \"format\": \"cacheflow columns 1\",\n \"program\": ", n->schema);
    export_text(n->schema, n->e->tool->line);
    fprintf(n->schema, ",\n \"strings\": \"%s\",\n \"segments\": [", strings);
}

void schema_header(struct npy *n, const struct cf_header *h)
{
    FILE *out = n->schema;

    fprintf(out, "%s\n  {\"header\": ", n->segments++ ? "," : "");
    export_text(out, h->yaml);
    fputs(", \"first_row\": {", out);
    for (size_t i = 0; i < n->tables; i++) {
        fputs(i ? ", " : "", out);
        export_text(out, n->table[i].name);
        fprintf(out, ": %" PRIu64, n->table[i].rows);
    }
    fputs("}}", out);
}

/* What numbers of the column mean. */
static void words(FILE *out, unsigned column)
{
    unsigned count = 0;

    for (unsigned value = 0; value < 256; value++) {
        const char *word = export_word(column, value);

        if (!word)
            continue;
        fprintf(out, "%s\"%u\": ", count++ ? ", " : ", \"words\": {", value);
        export_text(out, word);
    }
    if (column == CF_DIST)
        fprintf(out,
                ", \"words\": {\"%" PRIu64 "\": \"compulsory\", \"%" PRIu64
                "\": \"beyond\", \"%" PRIu64 "\": \"none\", \"%" PRIu64 "\": \"unsampled\"",
                CF_DIST_COMPULSORY, CF_DIST_BEYOND, CF_DIST_NONE, CF_DIST_UNSAMPLED);
    if (count || column == CF_DIST)
        putc('}', out);
}

static void print_column(FILE *out, const struct npy_column *c)
{
    static const char *const type[] = {"?", "u8", "u16", "u32", "u64", "i64", "f64", "string"};

    export_text(out, c->name);
    fputs(": {\"file\": ", out);
    export_text(out, c->file);
    fprintf(out, ", \"type\": \"%s\", \"dtype\": \"%s\"", type[c->type], npy_type(c->type));
    words(out, c->id);
    fputs(", \"missing\": [", out);
    for (size_t i = 0; i < c->misses; i++)
        fprintf(out, "%s[%" PRIu64 ", %" PRIu64 "]", i ? ", " : "", c->missing[i].from,
                c->missing[i].to);
    fputs("]}", out);
}

static void print_strings(struct npy *n)
{
    FILE *out = npy_text(n, strings);

    fputs("[\"\"", out);
    for (uint32_t id = 1; id <= cf_reader_strings(n->e->reader); id++) {
        fputs(",\n", out);
        export_text(out, cf_reader_text(n->e->reader, id));
    }
    fputs("]\n", out);
    npy_text_end(n, strings, out);
}

void schema_end(struct npy *n)
{
    FILE *out = n->schema;

    fputs("\n ],\n \"tables\": {", out);
    for (size_t i = 0; i < n->tables; i++) {
        const struct npy_table *t = &n->table[i];

        fputs(i ? ",\n  " : "\n  ", out);
        export_text(out, t->name);
        fprintf(out, ": {\"rows\": %" PRIu64 ", \"columns\": {", t->rows);
        for (size_t k = 0; k < t->columns; k++) {
            fputs(k ? ",\n   " : "\n   ", out);
            print_column(out, &t->column[k]);
        }
        fputs("}}", out);
    }
    fputs("\n }\n}\n", out);
    npy_text_end(n, schema, out);
    print_strings(n);
}
