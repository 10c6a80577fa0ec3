/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_number.c - the one reader of whole numbers: what printf writes is read back, the edges of 64
 * bits, and what is refused.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "formats/base/cf_number.h"
#include "tests/unit/tap.h"

enum { UNCHANGED = 77 };

struct sample {
    const char *text;
    int form;
    uint64_t value;
};

static const struct sample good[] = {
    {"0", CF_READ_DECIMAL, 0},
    {"0000000246", CF_READ_DECIMAL, 246},
    {"010", CF_READ_NUMBER, 10},
    {"18446744073709551615", CF_READ_DECIMAL, UINT64_MAX},
    {"0000018446744073709551615", CF_READ_SIZE, UINT64_MAX},
    {"0x0", CF_READ_NUMBER, 0},
    {"0XfFfFfFfFfFfFfFfF", CF_READ_NUMBER, UINT64_MAX},
    {"0x0000ffffffffffffffff", CF_READ_SIZE, UINT64_MAX},
    {"64K", CF_READ_SIZE, 65536},
    {"64k", CF_READ_SIZE, 65536},
    {"64KiB", CF_READ_SIZE, 65536},
    {"64 KiB", CF_READ_SIZE, 65536},
    {"64B", CF_READ_SIZE, 64},
    {"64 B", CF_READ_SIZE, 64},
    {"0x40m", CF_READ_SIZE, 64u << 20},
    {"3MiB", CF_READ_SIZE, 3u << 20},
    {"3G", CF_READ_SIZE, 3ull << 30},
    {"17179869183g", CF_READ_SIZE, 17179869183ull << 30},
    {"0xb", CF_READ_SIZE, 11},
};

/* Refused in every form. */
static const char *const bad[] = {
    "",
    " ",
    "K",
    "-1",
    "+1",
    " 1",
    "1 ",
    "\t1",

    "x1",
    "0x",
    "0X",
    "0xg",
    "0x 1",
    "0x-1",
    "1e3",
    "1.5",
    "1,000",
    "1T",
    "64KB",
    "64Ki",
    "64iB",
    "1KK",
    "1 K ",
    "1K B",
    "0x1.0",
    "a",
    "ff",
    "0b11",
    "1\x80",
    "nan",
    "inf",
    "00x1",
    "0xx1",
    "1-2",
    "1bB",
    "1BB",
    "1MiBB",
    "1 k iB",
    "0x1K1",
    "1_000",
    "18446744073709551616",
    "99999999999999999999",
    "184467440737095516150",
    "0x10000000000000000",
    "17179869184G",
    "18014398509481984K",
};

int main(void)
{
    static const struct {
        const char *unit;
        uint64_t factor;
    } units[] = {{"", 1},          {"K", 1 << 10}, {"k", 1 << 10},    {"M", 1 << 20},
                 {"MiB", 1 << 20}, {"g", 1 << 30}, {" GiB", 1 << 30}, {"B", 1}};
    uint64_t seed = 88172645463325252u, v, back;
    int wrong = 0;
    char text[64];

    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
        const struct sample *g = &good[i];

        v = UNCHANGED;
        ok(cf_read_number(g->text, g->form, UINT64_MAX, &v) == 0 && v == g->value,
           "'%s' is %" PRIu64, g->text, g->value);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        int taken = 0;

        v = UNCHANGED;
        for (int form = CF_READ_DECIMAL; form <= CF_READ_SIZE; form++)
            taken += cf_read_number(bad[i], form, UINT64_MAX, &v) == 0;
        ok(!taken && v == UNCHANGED, "'%s' is no number", bad[i]);
    }
    v = UNCHANGED;
    ok(cf_read_number("0x10", CF_READ_DECIMAL, UINT64_MAX, &v) < 0, "decimal: no 0x");
    ok(cf_read_number("4K", CF_READ_NUMBER, UINT64_MAX, &v) < 0 &&
           cf_read_number("4B", CF_READ_DECIMAL, UINT64_MAX, &v) < 0,
       "no unit behind a number that is no size");
    ok(cf_read_number("9", CF_READ_NUMBER, 9, &v) == 0 && v == 9, "up to the greatest");
    ok(cf_read_number("10", CF_READ_NUMBER, 9, &v) < 0 && v == 9, "not above it");

    for (int i = 0; i < 100000; i++) {
        const unsigned u = (unsigned)(i % 8);

        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        v = (seed >> (seed & 63)) / units[u].factor;
        snprintf(text, sizeof text, i & 8 ? "0x%" PRIx64 "%s" : "%" PRIu64 "%s", v, units[u].unit);
        if (i & 8 && units[u].unit[0] == 'B')
            continue; /* a digit */
        wrong += cf_read_number(text, CF_READ_SIZE, UINT64_MAX, &back) < 0 ||
                 back != v * units[u].factor;
    }
    is_u64(wrong, 0, "numbers as printf writes them");

    is_text(cf_scan_number("12-0x1f", CF_READ_SIZE, &v), "-0x1f", "what follows a number");
    is_u64(v, 12, "the number before it");
    is_text(cf_scan_number("0x1,3", CF_READ_DECIMAL, &v), "x1,3", "decimal: ends before the x");
    is_text(cf_scan_number("4 x", CF_READ_SIZE, &v), " x", "a blank without a unit is not eaten");
    is_text(cf_scan_number("4 Kx", CF_READ_SIZE, &v), "x", "what follows a unit");
    ok(!cf_scan_number("-", CF_READ_SIZE, &v), "no number before what follows");
    return done();
}
