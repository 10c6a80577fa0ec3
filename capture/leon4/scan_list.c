/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scan_list.c - entries out of the lists that a monitor's Tcl commands return.
 *
 * An entry is a list whose first element is INST or AHB: in braces, several a line, or one a line
 * without them. What the elements after it are, the layouts of the options say. An element may be a
 * list of its own: of words, or the text of an instruction.
 */
#include "capture/leon4/scan.h"

static const uint8_t ends_word[256] = {[' '] = 1, ['\t'] = 1, ['}'] = 1};

/* Element at *p, of a list that ends before `end`; braces around it are taken off. 0 at the end. */
static inline int element(const char **p, const char *end, const char **text, size_t *length)
{
    int depth = 0;
    const char *start;

    while (*p < end && (**p == ' ' || **p == '\t'))
        (*p)++;
    if (*p == end || **p == '}')
        return 0;
    start = *p;
    if (**p == '{' || **p == '"') {
        const char close = **p == '{' ? '}' : '"';

        do {
            if (close == '}' && **p == '{')
                depth++;
            else if (**p == close)
                depth -= close == '}' || *p > start;
            (*p)++;
            if (close == '"' && *p == start + 1)
                depth = 1;
        } while (depth > 0 && *p < end);
        *text = start + 1;
        *length = (size_t)(*p - start) - (depth == 0 ? 2 : 1);
        return depth == 0;
    }
    for (start = *p; start < end && !ends_word[(uint8_t)*start]; start++)
        ;
    *text = *p;
    *length = (size_t)(start - *p);
    *p = start;
    return 1;
}

static int is_number(const char *p, size_t n)
{
    return n > 0 && *p >= '0' && *p <= '9' && !memchr(p, ' ', n);
}

/* A word, or a list of up to four. */
static int words(struct scan *s, const char *p, size_t n, struct scan_row *row)
{
    const char *end = p + n, *text;
    struct scan_row one = {0};

    if (n >= 4 && !(*p >= '0' && *p <= '9') && memmem(p, n, "TRAP", 4)) {
        row->trapped = 1;
        return 1;
    }
    while (row->words < 4 && element(&p, end, &text, &n)) {
        if (!scan_value(s, FIELD_ADDRESS, text, n, s->o.hex ? 16 : 10, &one))
            return 0;
        row->word[row->words++] = one.address;
    }
    return 1;
}

/* A decimal time of up to 18 digits; 0 where the element is something else. */
static inline int plain_time(const char **p, const char *end, uint64_t *tag)
{
    const char *q = *p, *start;
    uint64_t v = 0;

    while (q < end && *q == ' ')
        q++;
    for (start = q; q < end && (uint8_t)(*q - '0') < 10; q++)
        v = v * 10 + (uint64_t)(*q - '0');
    if (q == start || q - start > 18 || q == end || !ends_word[(uint8_t)*q])
        return 0;
    *tag = v;
    *p = q;
    return 1;
}

/* What most elements are: 0x and eight digits, or one digit. Where the next one is neither, or this
   field wants another look, *p stays. `opcode` gets the word of an instruction. */
static inline int plain_element(const char **p, const char *end, enum scan_field f,
                                struct scan_row *row, uint32_t *opcode, int *has_opcode)
{
    const char *q = *p;
    uint32_t v;

    while (q < end && *q == ' ')
        q++;
    if (end - q > 10 && q[0] == '0' && q[1] == 'x' && ends_word[(uint8_t)q[10]] &&
        scan_hex8(q + 2, &v)) {
        if (f == FIELD_ADDRESS)
            row->address = v;
        else if (f == FIELD_RESULT && row->words < 4)
            row->word[row->words++] = v;
        else if (f == FIELD_INSTRUCTION || f == FIELD_OPCODE)
            *opcode = v, *has_opcode = 1;
        else
            return 0;
        *p = q + 10;
        return 1;
    }
    if (q == end || *q < '0' || *q > '9' || (q + 1 < end && !ends_word[(uint8_t)q[1]]))
        return 0;
    if (f == FIELD_CPU)
        row->cpu = (uint32_t)(*q - '0');
    else if (f == FIELD_MULTI)
        row->more = (uint8_t)(*q - '0');
    else if (f == FIELD_TRAP)
        row->trapped = (uint8_t)(*q - '0');
    else if (f != FIELD_SYMBOL && f != FIELD_SKIP && f != FIELD_ERROR)
        return 0;
    *p = q + 1;
    return 1;
}

static int entry(struct scan *s, const char *p, const char *end, const struct scan_layout *l,
                 struct scan_row *row, const char **why)
{
    const char *text, *insn = NULL;
    size_t n, insn_length = 0;
    struct scan_row opcode = {0};
    const struct scan_site *t;
    int has_word = 0;

    *why = "an entry that was cut off";
    for (unsigned i = 0; i < l->fields; i++) {
        const enum scan_field f = l->field[i];

        if (f == FIELD_TIME && !s->o.hex
                ? plain_time(&p, end, &row->tag)
                : plain_element(&p, end, f, row, &opcode.address, &has_word))
            continue;
        if (!element(&p, end, &text, &n)) {
            /* what follows the results may be missing */
            if (f >= FIELD_SYMBOL && f <= FIELD_MARK && !row->bus)
                break;
            if (row->bus && f >= FIELD_LOCK)
                break;
            if (row->bus && f == FIELD_MARK)
                break;
            return 0;
        }
        *why = "an entry whose elements are not what they should be: give --inst-fields or "
               "--bus-fields";
        if (f == FIELD_INSTRUCTION || f == FIELD_OPCODE) {
            if (is_number(text, n)) {
                if (!scan_value(s, FIELD_ADDRESS, text, n, s->o.hex ? 16 : 10, &opcode))
                    return 0;
                has_word = 1;
            } else {
                insn = text;
                insn_length = n;
            }
        } else if (f == FIELD_RESULT) {
            if (!words(s, text, n, row))
                return 0;
        } else if (f != FIELD_DATA && !scan_value(s, f, text, n, s->o.hex ? 16 : 10, row)) {
            return 0;
        }
        *why = "an entry that was cut off";
    }
    if (row->bus)
        return 1;
    if (!has_word && !insn)
        return 0;
    t = has_word ? scan_by_word(s, row->address, opcode.address)
                 : scan_by_text(s, row->address, insn, insn_length, insn, insn_length);
    row->insn = t->insn;
    row->number = t->number;
    return 1;
}

int scan_list(struct scan *s, struct scan_row *row)
{
    const char *p = s->rest, *end = s->end, *stop, *why, *start;
    int depth = 0, bus;

    for (; p < end && (*p == ' ' || *p == '{' || *p == '}'); p++)
        depth = *p == '{' || (*p == ' ' && depth);
    if (p == end)
        return 0;
    start = p;
    bus = end - p >= 4 && memcmp(p, "AHB ", 4) == 0;
    if (!bus && !(end - p >= 5 && memcmp(p, "INST ", 5) == 0)) {
        s->rest = NULL;
        cf_lines_bad(&s->lines, 0, "an entry that begins neither with INST nor with AHB: '%.*s'",
                     (int)(end - p < 60 ? end - p : 60), p);
        return -1;
    }
    /* a braced entry ends at its own brace */
    stop = end;
    if (depth)
        for (stop = p; stop < end && depth; stop++)
            depth += (*stop == '{') - (*stop == '}');
    s->rest = stop;
    p += bus ? 4 : 5;
    *row = (struct scan_row){.cpu = s->o.cpu, .bus = (uint8_t)bus, .size = 4, .trans = 2};
    why = "an entry that was cut off";
    if (depth || !entry(s, p, stop, bus ? &s->o.bus : &s->o.inst, row, &why)) {
        cf_lines_bad(&s->lines, 0, "%s: '%.*s'", why, (int)(stop - start < 60 ? stop - start : 60),
                     start);
        return -1;
    }
    return 1;
}
