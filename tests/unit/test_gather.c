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

int main(void)
{
    static uint64_t time[ROWS];
    static uint32_t pid[ROWS];
    static uint16_t half[ROWS];
    static uint8_t op[ROWS];
    static const char blob[] = "blob";
    struct cf_frame f = {.table = CF_ACCESS, .rows = ROWS, .columns = 6};
    struct cf_gather *g = cf_gather_new(take, NULL);
    uint8_t *mask;
    int bad = 0;

    f.column[0] = (struct cf_data){.id = CF_TIME, .type = CF_U64, .values = time};
    f.column[1] = (struct cf_data){.id = CF_PID, .type = CF_U32, .values = pid};
    f.column[2] = (struct cf_data){.id = 40000, .type = CF_BLOB, .values = blob};
    f.column[3] = (struct cf_data){.id = 40001, .type = CF_U16, .values = half};
    f.column[4] = (struct cf_data){.id = CF_OP, .type = CF_U8, .values = op};
    f.column[5] = (struct cf_data){.id = CF_ADDR, .type = CF_U64, .values = NULL};
    for (unsigned round = 0; round < 30; round++) {
        uint32_t kept = 0;

        mask = cf_gather_mask(g, ROWS);
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
        bad |= cf_gather_count(mask, ROWS) != kept;
        bad |= cf_gather_rows(g, &f, mask) != 0;
    }
    ok(!bad, "counts the rows of a mask");
    is_u64(small, 0, "frames are sent when they are full");
    ok(frames > 2, "and not later");
    ok(cf_gather_flush(g) == 0, "the rest goes at a flush");
    is_u64(got, wanted, "all rows came");
    is_u64(wrong, 0, "with their values, in their order, and the span of time");
    frames = 0;
    ok(cf_gather_flush(g) == 0 && frames == 0, "nothing goes twice");
    cf_gather_free(g);

    g = cf_gather_new(refuse, NULL);
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
    return done();
}
