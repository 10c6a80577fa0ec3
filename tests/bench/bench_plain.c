/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_plain FILE: what the accesses of a stream take as plain columns under zstd, the baseline of
 * our packed files. Each column of up to 262,144 rows is compressed at level 3 in four ways (as it
 * is, bytes in planes, differences, differences in planes) and the smallest counts. Prints rows and
 * bytes. Memory: one batch of rows.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "formats/stream/cf.h"

struct column {
    unsigned id;
    size_t width;
    uint8_t *rows; /* CF_FILE_ROWS values */
};

static uint64_t value_of(const uint8_t *p, size_t width)
{
    uint64_t v = 0;

    memcpy(&v, p, width);
    return v;
}

static size_t smallest(const struct column *c, size_t rows, ZSTD_CCtx *zstd)
{
    static uint8_t form[CF_FILE_ROWS * 8], packed[CF_FILE_ROWS * 9];
    const size_t bytes = rows * c->width;
    size_t best = SIZE_MAX;

    for (int way = 0; way < 4; way++) {
        const int planes = way & 1, deltas = way & 2;
        uint64_t before = 0;

        for (size_t i = 0; i < rows; i++) {
            const uint64_t v = value_of(c->rows + i * c->width, c->width);
            const uint64_t d = deltas ? v - before : v;

            before = v;
            for (size_t b = 0; b < c->width; b++)
                form[planes ? b * rows + i : i * c->width + b] = (uint8_t)(d >> 8 * b);
        }
        const size_t n = ZSTD_compressCCtx(zstd, packed, sizeof(packed), form, bytes, 3);

        if (!ZSTD_isError(n) && n < best)
            best = n;
    }
    return best;
}

int main(int argc, char **argv)
{
    static const unsigned ids[] = {CF_TIME, CF_TID, CF_OP, CF_SIZE, CF_ADDR, CF_PC, CF_INSNS};
    enum { COLUMNS = sizeof(ids) / sizeof(ids[0]) };
    struct column column[COLUMNS];
    ZSTD_CCtx *zstd = ZSTD_createCCtx();
    struct cf_reader *in = cf_reader_open(argv + 1, argc - 1);
    struct cf_frame *f;
    size_t held = 0;
    uint64_t rows = 0, bytes = 0;

    if (!in || !zstd)
        return 1;
    for (unsigned i = 0; i < COLUMNS; i++) {
        column[i] = (struct column){ids[i], cf_type_width(cf_column_type(ids[i])), NULL};
        column[i].rows = calloc(CF_FILE_ROWS, column[i].width);
        if (!column[i].rows)
            return 1;
        cf_reader_want(in, CF_ACCESS, ids[i], CF_OPTIONAL);
    }
    for (;;) {
        const int more = cf_reader_next(in, &f) > 0;

        if (held && (!more || (f->table == CF_ACCESS && held + f->rows > CF_FILE_ROWS))) {
            for (unsigned i = 0; i < COLUMNS; i++)
                bytes += smallest(&column[i], held, zstd);
            held = 0;
        }
        if (!more)
            break;
        if (f->table != CF_ACCESS)
            continue;
        for (unsigned i = 0; i < COLUMNS; i++) {
            const void *values = cf_values(f, ids[i]);
            uint8_t *to = column[i].rows + held * column[i].width;

            if (values)
                memcpy(to, values, f->rows * column[i].width);
            else
                memset(to, 0, f->rows * column[i].width);
        }
        held += f->rows;
        rows += f->rows;
    }
    if (cf_reader_damages(in)) {
        fprintf(stderr, "bench_plain: %s\n", cf_reader_problem(in));
        return 1;
    }
    cf_reader_close(in);
    printf("%llu %llu\n", (unsigned long long)rows, (unsigned long long)bytes);
    for (unsigned i = 0; i < COLUMNS; i++)
        free(column[i].rows);
    ZSTD_freeCCtx(zstd);
    return 0;
}
