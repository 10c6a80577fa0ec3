/* SPDX-License-Identifier: BSD-2-Clause */
/* Keeping rows of frames, for every width, against a plain loop. */
#include <stdlib.h>
#include <string.h>

#include "filters/engine/rows/gather.h"
#include "tap.h"

enum { ROWS = 5000, MOST = 200000 };

static uint64_t state = 1;

static uint32_t next(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33);
}

static uint64_t want[4][MOST];
static size_t wanted, got, frames, small, wrong;

static uint64_t value(const struct cf_data *c, uint32_t i)
{
    switch (cf_type_width(c->type)) {
    case 1:
        return ((const uint8_t *)c->values)[i];
    case 2:
        return ((const uint16_t *)c->values)[i];
    case 4:
        return ((const uint32_t *)c->values)[i];
    default:
        return ((const uint64_t *)c->values)[i];
    }
}

static int take(void *arg, struct cf_frame *f)
{
    (void)arg;
    frames++;
    small += f->rows < CF_WIRE_ROWS;
    wrong += f->columns != 4 || f->table != CF_ACCESS;
    for (uint32_t i = 0; i < f->rows; i++, got++)
        for (unsigned k = 0; k < 4 && k < f->columns; k++)
            wrong += got >= wanted || value(&f->column[k], i) != want[k][got];
    wrong += f->first != want[0][got - f->rows] || f->last != want[0][got - 1];
    return 0;
}

static int refuse(void *arg, struct cf_frame *f)
{
    (void)arg;
    (void)f;
    return -1;
}

static uint64_t time[ROWS];
static uint32_t pid[ROWS];
static uint16_t half[ROWS];
static uint8_t op[ROWS];
static const char blob[] = "blob";

static const struct cf_frame rows = {
    .table = CF_ACCESS,
    .rows = ROWS,
    .columns = 6,
    .column = {{.id = CF_TIME, .type = CF_U64, .values = time},
               {.id = CF_PID, .type = CF_U32, .values = pid},
               {.id = 40000, .type = CF_BLOB, .values = blob},
               {.id = 40001, .type = CF_U16, .values = half},
               {.id = CF_OP, .type = CF_U8, .values = op},
               {.id = CF_ADDR, .type = CF_U64, .values = NULL}},
};

/* Rows of which a few are kept, in later rounds nearly all. 0 when they were taken. */
static int one_round(struct cf_gather *g, unsigned round)
{
    uint8_t *mask = cf_gather_mask(g, ROWS);
    uint32_t kept = 0;

    for (uint32_t i = 0; i < ROWS; i++) {
        time[i] = round * ROWS + i;
        pid[i] = next();
        half[i] = (uint16_t)next();
        op[i] = (uint8_t)next();
        mask[i] = next() % 30 < round;
        kept += mask[i];
        if (mask[i]) {
            want[0][wanted] = time[i];
            want[1][wanted] = pid[i];
            want[2][wanted] = half[i];
            want[3][wanted++] = op[i];
        }
    }
    return cf_gather_count(mask, ROWS) != kept || cf_gather_rows(g, &rows, mask) != 0;
}

static void kept_rows(void)
{
    struct cf_gather *g = cf_gather_new(take, NULL);
    int bad = 0;

    for (unsigned round = 0; round < 30; round++)
        bad |= one_round(g, round);
    ok(!bad, "counts the rows of a mask");
    is_u64(small, 0, "frames are sent when they are full");
    ok(frames > 2, "and not later");
    ok(cf_gather_flush(g) == 0, "the rest goes at a flush");
    is_u64(got, wanted, "all rows came");
    is_u64(wrong, 0, "with their values, in their order, and the span of time");
    frames = 0;
    ok(cf_gather_flush(g) == 0 && frames == 0, "nothing goes twice");
    cf_gather_free(g);
}

static void refused_rows(void)
{
    struct cf_gather *g = cf_gather_new(refuse, NULL);
    struct cf_frame f = rows;
    uint8_t *mask;

    f.rows = 10;
    mask = cf_gather_mask(g, 10);
    memset(mask, 1, 10);
    ok(cf_gather_rows(g, &f, mask) == 0, "few rows are kept");
    ok(cf_gather_rows(g, &f, mask) == 0, "and more of the same");
    f.table = CF_BUS;
    ok(cf_gather_rows(g, &f, mask) == -1, "another table sends them");
    ok(cf_gather_rows(g, &f, mask) == 0, "few rows of that are kept");
    f.header = (const struct cf_header *)time;
    ok(cf_gather_rows(g, &f, mask) == -1, "another header sends them");
    ok(cf_gather_rows(g, &f, mask) == 0, "few rows of that are kept");
    f.columns = 2;
    ok(cf_gather_rows(g, &f, mask) == -1,
       "so do other columns, and what sending returns comes back");
    f.rows = 0;
    ok(cf_gather_rows(g, &f, mask) == 0, "no rows do nothing");
    cf_gather_free(g);
}

int main(void)
{
    kept_rows();
    refused_rows();
    return done();
}
