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
    {"skip", FIELD_SKIP},
    {"-", FIELD_SKIP},
    {"time", FIELD_TIME},
    {"timetag", FIELD_TAG},
    {"tag", FIELD_TAG},
    {"cpu", FIELD_CPU},
    {"address", FIELD_ADDRESS},
    {"addr", FIELD_ADDRESS},
    {"pc", FIELD_ADDRESS},
    {"opcode", FIELD_OPCODE},
    {"instruction", FIELD_INSTRUCTION},
    {"instructions", FIELD_INSTRUCTION},
    {"instructions/ahb", FIELD_INSTRUCTION},
    {"inst", FIELD_INSTRUCTION},
    {"result", FIELD_RESULT},
    {"result/data", FIELD_RESULT},
    {"symbol", FIELD_SYMBOL},
    {"(symbol)", FIELD_SYMBOL},
    {"symb", FIELD_SYMBOL},
    {"multi", FIELD_MULTI},
    {"mc", FIELD_MULTI},
    {"t", FIELD_TRAP},
    {"trap", FIELD_TRAP},
    {"e", FIELD_ERROR},
    {"em", FIELD_ERROR},
    {"error", FIELD_ERROR},
    {"m", FIELD_MARK},
    {"bp", FIELD_MARK},
    {"type", FIELD_TYPE},
    {"rw", FIELD_TYPE},
    {"w", FIELD_TYPE},
    {"data", FIELD_DATA},
    {"trans", FIELD_TRANS},
    {"tr", FIELD_TRANS},
    {"size", FIELD_SIZE},
    {"sz", FIELD_SIZE},
    {"burst", FIELD_BURST},
    {"br", FIELD_BURST},
    {"master", FIELD_MASTER},
    {"mst", FIELD_MASTER},
    {"lock", FIELD_LOCK},
    {"lk", FIELD_LETTER},
    {"resp", FIELD_RESP},
    {"rsp", FIELD_RESP},
};

/* FIELD_COUNT when nobody calls a column so. */
static enum scan_field find(const char *text, size_t length)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i].name) == length && strncasecmp(names[i].name, text, length) == 0)
            return names[i].field;
    /* D[31:0], D[127:0] */
    if (length > 2 && (text[0] == 'D' || text[0] == 'd') && text[1] == '[')
        return FIELD_DATA;
    return FIELD_COUNT;
}

int scan_fields(const char *text, struct scan_layout *l, const char **name)
{
    l->fields = 0;
    for (;;) {
        const size_t n = strcspn(text, ",");
        const enum scan_field f = find(text, n);

        *name = text;
        if (f == FIELD_COUNT || l->fields == SCAN_FIELDS)
            return -1;
        l->field[l->fields++] = f;
        if (!text[n])
            return 0;
        text += n + 1;
    }
}

static int holds(const struct scan_layout *l, enum scan_field f)
{
    for (unsigned i = 0; i < l->fields; i++)
        if (l->field[i] == f)
            return 1;
    return 0;
}

int scan_header(struct scan *s, const char *line, size_t length)
{
    static const uint8_t usual[] = {FIELD_TIME, FIELD_ADDRESS, FIELD_INSTRUCTION, FIELD_RESULT};
    struct scan_layout l = {.fields = 0};
    const char *p = line, *end = line + length;

    while (p < end && l.fields < SCAN_FIELDS) {
        const char *start;
        enum scan_field f;

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
        l.field[l.fields++] = f == FIELD_COUNT ? FIELD_SKIP : f;
    }
    if (!(holds(&l, FIELD_TIME) || holds(&l, FIELD_TAG)) || !holds(&l, FIELD_ADDRESS) ||
        l.fields < 3)
        return 0;
    if (s->o.given_inst || s->o.given_bus)
        return 1; /* the user knows better */
    s->layout = l;
    s->has_results = holds(&l, FIELD_RESULT);
    s->layout_bus = holds(&l, FIELD_TYPE);
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
            any |= scan_digit[(uint8_t)p[i]];
            v = v << 4 | (scan_digit[(uint8_t)p[i]] & 15);
        }
        *value = v;
        return any >= 0;
    }
    for (size_t i = 0; i < n; i++) {
        const int d = scan_digit[(uint8_t)p[i]];

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

int scan_value(struct scan *s, enum scan_field field, const char *p, size_t n, int base,
               struct scan_row *row)
{
    /* what is not an address, an instruction or a result is decimal also where those are hex */
    const int count_base = base == 16 && !s->o.hex ? 10 : base;
    uint64_t v;

    switch (field) {
    case FIELD_TIME:
        return integer(p, n, count_base, &row->tag);
    case FIELD_TAG:
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
    case FIELD_CPU:
        return word(p, n, count_base, &row->cpu);
    case FIELD_ADDRESS:
        return word(p, n, base, &row->address);
    case FIELD_MULTI:
        row->stated = 1;
        return small(p, n, count_base, UINT8_MAX, &row->more);
    case FIELD_TRAP:
        return small(p, n, count_base, UINT8_MAX, &row->trapped);
    case FIELD_TYPE:
        if (n == 0)
            return 0;
        row->write = *p == 'w' || *p == 'W' || *p == '1';
        return row->write || *p == 'r' || *p == 'R' || *p == '0';
    case FIELD_SIZE:
        if (!small(p, n, count_base, 7, &row->size))
            return 0;
        row->size = (uint8_t)(1U << row->size);
        return 1;
    case FIELD_TRANS:
        if (!small(p, n, count_base, 3, &row->trans)) /* or a word, such as NONSEQ */
            row->trans = n && (*p == 's' || *p == 'S') ? 3 : 2;
        return 1;
    case FIELD_BURST:
        if (!small(p, n, count_base, 7, &row->burst))
            row->burst = 0;
        return 1;
    case FIELD_MASTER:
        return small(p, n, count_base, 15, &row->master);
    default:
        return 1;
    }
}
