/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_number.h - whole numbers in options, headers and files, all of one syntax: digits, or 0x and
 * hex digits; no sign, no blank before, no octal. What does not fit into 64 bits is no number.
 */
#ifndef CF_NUMBER_H
#define CF_NUMBER_H

#include <stdint.h>

#include "formats/stream/cf.h"

enum cf_number_form {
    CF_READ_DECIMAL, /* 0x is not taken */
    CF_READ_NUMBER,
    CF_READ_SIZE, /* K, M or G may follow, in either case, also as KiB: powers of 1024; or B. There
                may be blanks before it. */
};

/* Reads a number at the start of `s`: returns what follows it, NULL when there is none. */
CF_MUST_CHECK const char *cf_scan_number(const char *s, enum cf_number_form form, uint64_t *value);

/* Reads a number that is all of `s`: 0, or -1 when it is none or above `most`. `value` is then
   unchanged. */
CF_MUST_CHECK int cf_read_number(const char *s, enum cf_number_form form, uint64_t most,
                                 uint64_t *value);

/* Sum and product, or UINT64_MAX where that is less. */
static inline uint64_t cf_sum(uint64_t a, uint64_t b)
{
    uint64_t sum;

    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static inline uint64_t cf_product(uint64_t a, uint64_t b)
{
    uint64_t product;

    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

/* The sum of fewer than 2^32 values, likewise; as fast as a loop without a look at each. */
static inline uint64_t cf_total(const uint64_t *value, uint32_t count)
{
    uint64_t low = 0, high = 0;

    for (uint32_t i = 0; i < count; i++) {
        low += (uint32_t)value[i];
        high += value[i] >> 32;
    }
    return high >> 32 ? UINT64_MAX : cf_sum(high << 32, low);
}

/* As qsort() wants it. */
static inline int cf_order(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static inline int cf_is_power_of_two(uint64_t n)
{
    return n && !(n & (n - 1));
}

#endif
