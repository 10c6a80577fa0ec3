/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cells.c - a cell's text to the number that its column holds.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "capture/csv/import.h"
#include "formats/base/cf_number.h"

static int op_fits(unsigned table, uint64_t op)
{
    switch (table) {
    case CF_ACCESS:
    case CF_UNPLACED:
    case CF_BUS:
        return op >= CF_LOAD && op <= CF_FLUSH;
    case CF_MAP:
        return op == CF_MAPPED || op == CF_UNMAPPED;
    case CF_OBJECT:
        return op == CF_ALLOC || op == CF_FREE;
    case CF_TASK:
        return op == CF_BEGIN || op == CF_EXIT || op == CF_NAMED;
    default:
        return op <= UINT8_MAX && cf_op_name((unsigned)op);
    }
}

/* "r-xp" as in /proc/PID/maps, in any order and with any left out. */
static int scan_perms(const char *s, uint64_t *value)
{
    *value = 0;
    for (; *s; s++)
        *value |= *s == 'r'   ? CF_PERM_R
                  : *s == 'w' ? CF_PERM_W
                  : *s == 'x' ? CF_PERM_X
                  : *s == 's' ? CF_PERM_SHARED
                              : 0;
    return 0;
}

/* Names that stand for a number in some columns. */
static int scan_name(unsigned column, const char *s, uint64_t *value)
{
    static const char states[] = "MOES";

    switch (column) {
    case CF_OP:
        *value = cf_op_find(s);
        return *value ? 0 : -1;
    case CF_PERMS:
        return s[strspn(s, "rwxps-")] ? -1 : scan_perms(s, value);
    case CF_STATE:
        if (!strchr(states, *s) || s[1])
            return -1;
        *value = (uint64_t)(strchr(states, *s) - states) + 1;
        return 0;
    case CF_LEVEL:
    case CF_HIT:
        *value = CF_FROM_MEMORY;
        return strcmp(s, "memory");
    case CF_DIST:
        *value = CF_DIST_COMPULSORY;
        return strcmp(s, "inf");
    default:
        return -1;
    }
}

/* A number with a fraction; `value` holds its bytes. */
static int scan_fraction(const char *s, uint64_t *value)
{
    char *end;
    const double number = strtod(s, &end);

    memcpy(value, &number, sizeof *value);
    return end == s || *end || !isfinite(number) || number < 0 ? -1 : 0;
}

static uint64_t largest(enum cf_type type)
{
    return type == CF_U8    ? UINT8_MAX
           : type == CF_U16 ? UINT16_MAX
           : type == CF_U32 ? UINT32_MAX
                            : UINT64_MAX;
}

/* The value of a cell that is no text; an empty one is 0. */
static int scan(const struct cf_csv_input *in, unsigned column, const char *text, uint64_t *value)
{
    const enum cf_type type = in->type[in->at];

    if (*text && type == CF_F64)
        return scan_fraction(text, value);
    if (*text && cf_read_number(text, CF_READ_NUMBER, UINT64_MAX, value) < 0 &&
        scan_name(column, text, value) != 0)
        return -1;
    if (column == CF_OP)
        return op_fits(in->table, *value) ? 0 : -1;
    return *value <= largest(type) ? 0 : -1;
}

/* What the columns of a kind want, for a message. */
static const char *wanted(unsigned column)
{
    switch (column) {
    case CF_OP:
        return "the name of an operation of this table";
    case CF_PERMS:
        return "letters of rwxps, or a number";
    case CF_STATE:
        return "M, O, E or S, or a number";
    case CF_LEVEL:
    case CF_HIT:
        return "a level from 0 to 255, or memory";
    case CF_DIST_WEIGHT:
        return "a number, also with a fraction";
    default:
        return "a number, hex with 0x";
    }
}

void cf_csv_input_cell(struct cf_csv_input *in, const char *text, size_t length)
{
    unsigned column = in->id[in->at];
    enum cf_type type = in->type[in->at];
    uint64_t v = 0;

    if (memchr(text, '\0', length) || length > CF_MAX_TEXT) {
        cf_lines_bad(&in->lines, in->at + 1, "%s: a text with a zero byte, or over %d bytes long",
                     cf_column_name(column), CF_MAX_TEXT);
        in->row_bad = 1;
        return;
    }
    if (type == CF_STR) {
        v = cf_writer_string(in->m->out, text);
    } else if (length == 0 && column == CF_ADDR && in->table == CF_ACCESS) {
        cf_lines_bad(&in->lines, in->at + 1, "addr is empty: give an address with 0x");
        in->row_bad = 1;
    } else if (scan(in, column, text, &v) != 0) {
        cf_lines_bad(&in->lines, in->at + 1, "%s '%.60s': give %s", cf_column_name(column), text,
                     v > largest(type) ? "a smaller number" : wanted(column));
        in->row_bad = 1;
    }
    in->cell[in->at] = v;
}
