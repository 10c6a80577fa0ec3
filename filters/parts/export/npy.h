/* SPDX-License-Identifier: BSD-2-Clause */
/* npy.h - the folder of columns: its files, and the schema that says what they hold. */
#ifndef NPY_H
#define NPY_H

#include "filters/parts/export/export.h"

struct npy_rows {
    uint64_t from, to; /* to not included */
};

struct npy_column {
    unsigned id, type;
    char *name, *file;
    int fd;
    uint64_t rows;
    struct npy_rows *missing; /* that lack the column */
    size_t misses, missing_room;
};

struct npy_table {
    char *name;
    uint64_t rows;
    struct npy_column *column;
    size_t columns, column_room;
};

struct npy {
    struct export *e;
    char *folder;
    struct npy_table *table;
    size_t tables, table_room;
    uint64_t odd; /* columns that could not be taken */
    FILE *schema;
    unsigned segments;
};

/* Its type as NumPy writes it. */
const char *npy_type(unsigned type);
/* A file of the folder; ends the program with a message where it cannot be written. */
FILE *npy_text(struct npy *n, const char *name);
void npy_text_end(struct npy *n, const char *name, FILE *f);

/* ---- schema.c: schema.json and strings.json ---- */

void schema_begin(struct npy *n);
/* A segment begins: what its header says, and from which rows on. */
void schema_header(struct npy *n, const struct cf_header *h);
void schema_end(struct npy *n);

#endif
