/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "cf_number.h"

static unsigned digit_of(char c)
{
    return c >= '0' && c <= '9'   ? (unsigned)(c - '0')
           : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
           : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
                                  : 16;
}

/* What follows the unit after a size, if there is one. */
static const char *scan_unit(const char *s, unsigned *shift)
{
    const char *p = s + strspn(s, " ");

    *shift = *p == 'K' || *p == 'k'   ? 10
             : *p == 'M' || *p == 'm' ? 20
             : *p == 'G' || *p == 'g' ? 30
                                      : 0;
    if (*shift)
        return p[1] == 'i' && p[2] == 'B' ? p + 3 : p + 1;
    return *p == 'B' ? p + 1 : s;
}

const char *cf_scan_number(const char *s, enum cf_number_form form, uint64_t *value)
{
    const int hex = form != CF_READ_DECIMAL && s[0] == '0' && (s[1] == 'x' || s[1] == 'X');
    const unsigned base = hex ? 16 : 10;
    const char *p = hex ? s + 2 : s, *first = p;
    uint64_t v = 0;
    unsigned shift = 0, digit;

    for (; (digit = digit_of(*p)) < base; p++)
        if (__builtin_mul_overflow(v, base, &v) || __builtin_add_overflow(v, digit, &v))
            return NULL;
    if (p == first)
        return NULL;
    if (form == CF_READ_SIZE)
        p = scan_unit(p, &shift);
    if (v > UINT64_MAX >> shift)
        return NULL;
    *value = v << shift;
    return p;
}

int cf_read_number(const char *s, enum cf_number_form form, uint64_t most, uint64_t *value)
{
    uint64_t v;
    const char *end = cf_scan_number(s, form, &v);

    if (!end || *end || v > most)
        return -1;
    *value = v;
    return 0;
}
