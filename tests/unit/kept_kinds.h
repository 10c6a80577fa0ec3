/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kept_kinds.h - part of kept_stream.c: sums of what is in a stream, and accesses of which the
 * writer knows the kinds, row by row and in stretches.
 */
#ifndef KEPT_KINDS_H
#define KEPT_KINDS_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "formats/stream/cf.h"
#include "formats/writer/cf_stretches.h"

enum { TABLES = 512, COLUMNS = 65536, MOST_ROWS = 1200 };

static struct sum {
    XXH3_state_t *state;
    uint64_t rows;
    unsigned type;
} * sums[TABLES];

static inline void sum_add(unsigned table, unsigned column, unsigned type, uint64_t rows,
                           const void *data, size_t bytes)
{
    struct sum *s;

    if (table >= TABLES || (!sums[table] && !(sums[table] = calloc(COLUMNS, sizeof **sums))))
        abort();
    s = &sums[table][column];
    if (!s->state) {
        s->state = XXH3_createState();
        XXH3_64bits_reset(s->state);
    }
    XXH3_64bits_update(s->state, data, bytes);
    s->rows += rows;
    s->type = type;
}

static inline void sums_print(FILE *out)
{
    fprintf(out, "table,column,type,rows,xxh3\n");
    for (unsigned t = 0; t < TABLES; t++) {
        for (unsigned c = 0; sums[t] && c < COLUMNS; c++)
            if (sums[t][c].state) {
                fprintf(out, "%u,%u,%u,%" PRIu64 ",%016" PRIx64 "\n", t, c, sums[t][c].type,
                        sums[t][c].rows, XXH3_64bits_digest(sums[t][c].state));
                XXH3_freeState(sums[t][c].state);
            }
        free(sums[t]);
        sums[t] = NULL;
    }
}

static inline void must(int status)
{
    if (status) {
        fprintf(stderr, "kept_stream: cannot write\n");
        exit(1);
    }
}

/* Accesses of which the writer knows the kinds. */
static inline void write_kinds(struct cf_writer *w)
{
    enum { KINDS = 7 };
    const struct cf_values same[] = {{CF_TID, NULL, 5},
                                     {CF_OP, CF_BY_KIND, 0},
                                     {CF_SIZE, CF_BY_KIND, 0},
                                     {CF_PC, CF_BY_KIND, 0}};
    struct cf_place place[] = {{CF_TIME, NULL}, {CF_ADDR, NULL}};
    uint32_t *hint, room = MOST_ROWS;

    for (uint32_t k = 0; k < KINDS; k++)
        must(
            cf_writer_kind(w, 1 + k, 0x400000 + 5 * k, k % 3 ? CF_LOAD : CF_STORE, 1u << k % 4, 0));
    must(cf_writer_place(w, CF_ACCESS, same, 4, place, 2, &hint, &room) || room < MOST_ROWS);
    for (uint64_t i = 0; i < MOST_ROWS; i++) {
        const uint32_t k = (uint32_t)(i * i % KINDS), tid = 5, size = 1u << k % 4;
        const uint64_t pc = 0x400000 + 5 * (uint64_t)k;
        const uint8_t op = k % 3 ? CF_LOAD : CF_STORE;
        uint64_t *time = (uint64_t *)place[0].values + i, *addr = (uint64_t *)place[1].values + i;

        *time = i * 2;
        *addr = 0x1000 + i * 8;
        hint[i] = 1 + k;
        sum_add(CF_ACCESS, CF_TIME, CF_U64, 1, time, 8);
        sum_add(CF_ACCESS, CF_TID, CF_U32, 1, &tid, 4);
        sum_add(CF_ACCESS, CF_OP, CF_U8, 1, &op, 1);
        sum_add(CF_ACCESS, CF_SIZE, CF_U32, 1, &size, 4);
        sum_add(CF_ACCESS, CF_ADDR, CF_U64, 1, addr, 8);
        sum_add(CF_ACCESS, CF_PC, CF_U64, 1, &pc, 8);
    }
    must(cf_writer_placed(w, CF_ACCESS, MOST_ROWS));
}

/* Accesses in stretches of one to three rows: one of each has an address of its own. */
static inline void write_stretches(struct cf_writer *w)
{
    enum { KINDS = 3 };
    const struct cf_values same[] = {{CF_TID, NULL, 5},
                                     {CF_OP, CF_BY_KIND, 0},
                                     {CF_SIZE, CF_BY_KIND, 0},
                                     {CF_PC, CF_BY_KIND, 0}};
    struct cf_stretch_row row[KINDS];
    struct cf_stretches *s;
    int number[KINDS];

    for (uint32_t k = 0; k < KINDS; k++)
        must(
            cf_writer_kind(w, 1 + k, 0x400000 + 5 * k, k % 3 ? CF_LOAD : CF_STORE, 1u << k % 4, 0));
    s = cf_writer_stretches(w, same, 4);
    must(!s);
    for (uint16_t k = 0; k < KINDS; k++)
        row[k] = (struct cf_stretch_row){k ? 0x600000 + 8 * (uint64_t)k : 0x10, 1u + k, k,
                                         k ? CF_STRETCH_NO_SLOT : 0};
    for (uint32_t n = 0; n < KINDS; n++)
        must((number[n] = cf_stretches_add(s, row, n + 1, 1, (int32_t)n + 2)) < 0);
    for (uint64_t i = 0; i < MOST_ROWS; i++) {
        const uint32_t n = (uint32_t)(i * i % KINDS);
        const uint64_t slot = 0x7f0000000000 + i * 24;

        for (uint32_t k = 0; k <= n; k++) {
            const uint32_t tid = 5, size = 1u << k % 4;
            const uint64_t pc = 0x400000 + 5 * (uint64_t)k, time = s->clock + k,
                           addr = k ? row[k].delta : slot + row[k].delta;
            const uint8_t op = k % 3 ? CF_LOAD : CF_STORE;

            sum_add(CF_ACCESS, CF_TIME, CF_U64, 1, &time, 8);
            sum_add(CF_ACCESS, CF_TID, CF_U32, 1, &tid, 4);
            sum_add(CF_ACCESS, CF_OP, CF_U8, 1, &op, 1);
            sum_add(CF_ACCESS, CF_SIZE, CF_U32, 1, &size, 4);
            sum_add(CF_ACCESS, CF_ADDR, CF_U64, 1, &addr, 8);
            sum_add(CF_ACCESS, CF_PC, CF_U64, 1, &pc, 8);
        }
        memcpy(s->slot + s->slot_bytes, &slot, 8);
        cf_stretches_come(s, (uint64_t)number[n], n + 1, CF_STRETCH_SLOT, 0, n, n + 2);
    }
    must(cf_writer_stretched(w));
}

#endif
