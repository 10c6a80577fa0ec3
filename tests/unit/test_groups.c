/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers of distinct values against a list that is searched from its begin, for all widths. */
#include <stdlib.h>
#include <string.h>

#include "filters/engine/rows/groups.h"
#include "tap.h"

static uint64_t state = 7;

static uint64_t next(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

enum { ROWS = 3000 };

/* 1 when a column of random values, `distinct` at most and in bursts, gets the right numbers. */
static int random_column(size_t width, unsigned distinct, unsigned bits)
{
    static uint64_t pool[ROWS], seen[ROWS], value[ROWS];
    static uint8_t column[8 * ROWS];
    static uint32_t number[ROWS];
    struct cf_groups *g = cf_groups_new();
    uint32_t count = 0, half = ROWS / 2;
    int same = g != NULL;

    for (unsigned i = 0; i < distinct; i++)
        pool[i] = next() >> (64 - bits);
    for (unsigned i = 0; i < ROWS; i++) {
        value[i] = i && next() % 3 ? value[i - 1] : pool[next() % distinct];
        memcpy(column + i * width, &value[i], width); /* the machine is little-endian */
    }
    /* in two calls, since numbers last */
    same = same && cf_groups_number(g, column, width, half, number) == 0 &&
           cf_groups_number(g, column + half * width, width, ROWS - half, number + half) == 0;
    for (unsigned i = 0; i < ROWS && same; i++) {
        uint32_t at = 0;

        while (at < count && seen[at] != value[i])
            at++;
        if (at == count)
            seen[count++] = value[i];
        same = number[i] == at && cf_groups_value(g, at) == value[i];
    }
    same = same && cf_groups_count(g) == count;
    cf_groups_free(g);
    return same;
}

static void too_many(void)
{
    static uint64_t value[CF_GROUPS_MOST + 1];
    static uint32_t number[CF_GROUPS_MOST + 1];
    struct cf_groups *g = cf_groups_new();

    for (uint32_t i = 0; i <= CF_GROUPS_MOST; i++)
        value[i] = i * 0x9e3779b97f4a7c15u;
    ok(g && cf_groups_number(g, value, 8, CF_GROUPS_MOST, number) == 0, "as many as may be");
    ok(g && cf_groups_number(g, value, 8, CF_GROUPS_MOST, number) == 0, "and again");
    ok(g && cf_groups_number(g, value + CF_GROUPS_MOST, 8, 1, number) == 1, "one more is told");
    cf_groups_free(g);
}

int main(void)
{
    int good = 1;

    for (unsigned n = 0; n < 600 && good; n++) {
        size_t width = (size_t)1 << n % 4;

        good = random_column(width, 1 + (unsigned)(next() % (n % 7 ? 20 : ROWS)),
                             1 + (unsigned)(next() % (8 * width)));
    }
    ok(good, "columns of 1, 2, 4 and 8 bytes: numbers in the order of appearance");
    too_many();
    return done();
}
