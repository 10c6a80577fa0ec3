/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scan_header.c - the columns of a trace: from a header line, or from names that the user gives.
 *
 * A monitor's header names its columns, each monitor in its own way; the names below are those of
 * the programs that the manual lists. What no name is known for is passed over.
 */
#include <string.h>
#include <strings.h>

#include "capture/leon4/scan.h"

static const struct {
    const char *name;
    uint8_t field;
} names[] = {
    {"skip", CF_FIELD_SKIP},
    {"-", CF_FIELD_SKIP},
    {"time", CF_FIELD_TIME},
    {"timetag", CF_FIELD_TAG},
    {"tag", CF_FIELD_TAG},
    {"cpu", CF_FIELD_CPU},
    {"address", CF_FIELD_ADDRESS},
    {"addr", CF_FIELD_ADDRESS},
    {"pc", CF_FIELD_ADDRESS},
    {"opcode", CF_FIELD_OPCODE},
    {"instruction", CF_FIELD_INSTRUCTION},
    {"instructions", CF_FIELD_INSTRUCTION},
    {"instructions/ahb", CF_FIELD_INSTRUCTION},
    {"inst", CF_FIELD_INSTRUCTION},
    {"result", CF_FIELD_RESULT},
    {"result/data", CF_FIELD_RESULT},
    {"symbol", CF_FIELD_SYMBOL},
    {"(symbol)", CF_FIELD_SYMBOL},
    {"symb", CF_FIELD_SYMBOL},
    {"multi", CF_FIELD_MULTI},
    {"mc", CF_FIELD_MULTI},
    {"t", CF_FIELD_TRAP},
    {"trap", CF_FIELD_TRAP},
    {"e", CF_FIELD_ERROR},
    {"em", CF_FIELD_ERROR},
    {"error", CF_FIELD_ERROR},
    {"m", CF_FIELD_MARK},
    {"bp", CF_FIELD_MARK},
    {"type", CF_FIELD_TYPE},
    {"rw", CF_FIELD_TYPE},
    {"w", CF_FIELD_TYPE},
    {"data", CF_FIELD_DATA},
    {"trans", CF_FIELD_TRANS},
    {"tr", CF_FIELD_TRANS},
    {"size", CF_FIELD_SIZE},
    {"sz", CF_FIELD_SIZE},
    {"burst", CF_FIELD_BURST},
    {"br", CF_FIELD_BURST},
    {"master", CF_FIELD_MASTER},
    {"mst", CF_FIELD_MASTER},
    {"lock", CF_FIELD_LOCK},
    {"lk", CF_FIELD_LETTER},
    {"resp", CF_FIELD_RESP},
    {"rsp", CF_FIELD_RESP},
};

/* CF_FIELD_COUNT when no monitor calls a column so. */
static enum cf_scan_field find(const char *text, size_t length)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i].name) == length && strncasecmp(names[i].name, text, length) == 0)
            return names[i].field;
    /* D[31:0], D[127:0] */
    if (length > 2 && (text[0] == 'D' || text[0] == 'd') && text[1] == '[')
        return CF_FIELD_DATA;
    return CF_FIELD_COUNT;
}

int cf_scan_fields(const char *text, struct cf_scan_layout *l, const char **name)
{
    l->fields = 0;
    for (;;) {
        const size_t n = strcspn(text, ",");
        const enum cf_scan_field f = find(text, n);

        *name = text;
        if (f == CF_FIELD_COUNT || l->fields == CF_SCAN_FIELDS)
            return -1;
        l->field[l->fields++] = f;
        if (!text[n])
            return 0;
        text += n + 1;
    }
}

static int holds(const struct cf_scan_layout *l, enum cf_scan_field f)
{
    for (unsigned i = 0; i < l->fields; i++)
        if (l->field[i] == f)
            return 1;
    return 0;
}

int cf_scan_header(struct cf_scan *s, const char *line, size_t length)
{
    static const uint8_t usual[] = {CF_FIELD_TIME, CF_FIELD_ADDRESS, CF_FIELD_INSTRUCTION,
                                    CF_FIELD_RESULT};
    struct cf_scan_layout l = {.fields = 0};
    const char *p = line, *end = line + length;

    while (p < end && l.fields < CF_SCAN_FIELDS) {
        const char *start;
        enum cf_scan_field f;

        while (p < end && (*p == ' ' || *p == '\t'))
            p++;
        start = p;
        while (p < end && *p != ' ' && *p != '\t')
            p++;
        if (p == start)
            break;
        /* "INSTRUCTIONS/AHB SIGNALS" is one column */
        if (p - start == 7 && strncasecmp(start, "signals", 7) == 0)
            continue;
        f = find(start, (size_t)(p - start));
        l.field[l.fields++] = f == CF_FIELD_COUNT ? CF_FIELD_SKIP : f;
    }
    if (!(holds(&l, CF_FIELD_TIME) || holds(&l, CF_FIELD_TAG)) || !holds(&l, CF_FIELD_ADDRESS) ||
        l.fields < 3)
        return 0;
    if (s->o.given_inst || s->o.given_bus)
        return 1; /* the user knows better */
    s->layout = l;
    s->has_results = holds(&l, CF_FIELD_RESULT);
    s->layout_bus = holds(&l, CF_FIELD_TYPE);
    s->generic = l.fields < 4 || memcmp(l.field, usual, sizeof usual) != 0;
    return 1;
}

/* ---- values ---- */

static inline int integer(const char *p, size_t n, int base, uint64_t *value)
{
    uint64_t v = 0;

    if (n > 2 && p[0] == '0' && (p[1] == 'x' || p[1] == 'X')) {
        base = 16;
        p += 2;
        n -= 2;
    }
    if (n == 0 || n > (base == 16 ? 16 : 19))
        return 0;
    if (base == 16) {
        int any = 0; /* negative where a digit is none */

        for (size_t i = 0; i < n; i++) {
            any |= cf_scan_digit[(uint8_t)p[i]];
            v = v << 4 | (cf_scan_digit[(uint8_t)p[i]] & 15);
        }
        *value = v;
        return any >= 0;
    }
    for (size_t i = 0; i < n; i++) {
        const int d = cf_scan_digit[(uint8_t)p[i]];

        if (d < 0 || d >= base)
            return 0;
        v = v * (unsigned)base + (unsigned)d;
    }
    *value = v;
    return 1;
}

static int word(const char *p, size_t n, int base, uint32_t *value)
{
    uint64_t v;

    if (!integer(p, n, base, &v) || v > UINT32_MAX)
        return 0;
    *value = (uint32_t)v;
    return 1;
}

static int small(const char *p, size_t n, int base, uint64_t most, uint8_t *value)
{
    uint64_t v;

    if (!integer(p, n, base, &v) || v > most)
        return 0;
    *value = (uint8_t)v;
    return 1;
}

/* A number, or the word of one; the list of these ends with NULL. */
static int small_or_word(const char *p, size_t n, int base, uint64_t most, const char *const *words,
                         uint8_t *value)
{
    if (small(p, n, base, most, value))
        return 1;
    for (*value = 0; words[*value]; ++*value)
        if (strlen(words[*value]) == n && strncasecmp(words[*value], p, n) == 0)
            return 1;
    return 0;
}

int cf_scan_value(struct cf_scan *s, enum cf_scan_field field, const char *p, size_t n, int base,
                  struct cf_scan_row *row)
{
    /* AMBA Specification 2.0, tables 3-1 and 3-2 */
    static const char *const trans[] = {"IDLE", "BUSY", "NONSEQ", "SEQ", NULL};
    static const char *const burst[] = {"SINGLE", "INCR",   "WRAP4",  "INCR4", "WRAP8",
                                        "INCR8",  "WRAP16", "INCR16", NULL};
    /* what is not an address, an instruction or a result is decimal also where those are hex */
    const int count_base = base == 16 && !s->o.hex ? 10 : base;
    uint64_t v;

    switch (field) {
    case CF_FIELD_TIME:
        return integer(p, n, count_base, &row->tag);
    case CF_FIELD_TAG:
        if (n && *p == '*') { /* a breakpoint was hit */
            p++;
            n--;
        }
        if (!integer(p, n, 16, &v) || v > UINT32_MAX)
            return 0;
        row->more = v >> 30 & 1;
        row->stated = 1;
        row->tag = v & 0x3fffffff;
        return 1;
    case CF_FIELD_CPU:
        return word(p, n, count_base, &row->cpu);
    case CF_FIELD_ADDRESS:
        return word(p, n, base, &row->address);
    case CF_FIELD_MULTI:
        row->stated = 1;
        return small(p, n, count_base, UINT8_MAX, &row->more);
    case CF_FIELD_TRAP:
        return small(p, n, count_base, UINT8_MAX, &row->trapped);
    case CF_FIELD_TYPE:
        if (n == 0)
            return 0;
        row->write = *p == 'w' || *p == 'W' || *p == '1';
        return row->write || *p == 'r' || *p == 'R' || *p == '0';
    case CF_FIELD_SIZE:
        if (!small(p, n, count_base, 7, &row->size))
            return 0;
        row->size = (uint8_t)(1U << row->size);
        return 1;
    case CF_FIELD_TRANS:
        return small_or_word(p, n, count_base, 3, trans, &row->trans);
    case CF_FIELD_BURST:
        return small_or_word(p, n, count_base, 7, burst, &row->burst);
    case CF_FIELD_MASTER:
        return small(p, n, count_base, 15, &row->master);
    default:
        return 1;
    }
}
