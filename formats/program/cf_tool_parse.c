/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_tool_parse.c - numbers, sizes and ranges in options. What is none ends the program.
 */
#include <inttypes.h>

#include "formats/base/cf_number.h"
#include "cf_tool.h"

uint64_t cf_parse_u64(const struct cf_tool *t, const char *option, const char *text, uint64_t least,
                      uint64_t most)
{
    uint64_t value;

    if (cf_read_number(text, CF_READ_SIZE, UINT64_MAX, &value) < 0)
        cf_die(t, CF_EXIT_USAGE, "%s '%s': not a number: give one such as 1000, 0x40 or 64K",
               option, text);
    if (value < least || value > most) {
        if (most == UINT64_MAX)
            cf_die(t, CF_EXIT_USAGE, "%s '%s': must be at least %" PRIu64, option, text, least);
        cf_die(t, CF_EXIT_USAGE, "%s '%s': must be from %" PRIu64 " to %" PRIu64, option, text,
               least, most);
    }
    return value;
}

uint64_t cf_parse_size(const struct cf_tool *t, const char *option, const char *text)
{
    uint64_t value;

    if (cf_read_number(text, CF_READ_SIZE, UINT64_MAX, &value) < 0)
        cf_die(t, CF_EXIT_USAGE, "%s '%s': not a size: give bytes, or a number with K, M or G",
               option, text);
    return value;
}

void cf_parse_range(const struct cf_tool *t, const char *option, const char *text, uint64_t *from,
                    uint64_t *to)
{
    const char *p = text;
    uint64_t a = 0, b = UINT64_MAX;

    if (*p != '-')
        p = cf_scan_number(p, CF_READ_SIZE, &a);
    if (!p)
        goto bad;
    if (*p == '\0') {
        b = a;
    } else if (*p == '+') {
        uint64_t length;

        p = cf_scan_number(p + 1, CF_READ_SIZE, &length);
        if (!p || *p || length == 0)
            goto bad;
        b = length - 1 > UINT64_MAX - a ? UINT64_MAX : a + (length - 1);
    } else if (*p == '-') {
        p++;
        if (*p) {
            p = cf_scan_number(p, CF_READ_SIZE, &b);
            if (!p || *p)
                goto bad;
        } else if (text[0] == '-') {
            goto bad; /* "-" alone */
        }
    } else {
        goto bad;
    }
    if (b < a)
        cf_die(t, CF_EXIT_USAGE, "%s '%s': the range ends before it begins", option, text);
    *from = a;
    *to = b;
    return;
bad:
    cf_die(t, CF_EXIT_USAGE, "%s '%s': not a range: give A-B, A-, -B, A+LENGTH or A", option, text);
}
