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

/* The high bit of bytes that are 0; of those above the first one it may be wrong. */
static inline uint64_t zeros(uint64_t v)
{
    return (v - CF_SCAN_BYTES(1)) & ~v & CF_SCAN_BYTES(0x80);
}

/* Where the word at p ends. */
static inline const char *word_end(const char *p, const char *end)
{
    for (; p < end; p += 8) {
        const uint64_t v = scan_eight(p);
        const uint64_t found = zeros(v ^ CF_SCAN_BYTES(' ')) | zeros(v ^ CF_SCAN_BYTES('\t')) |
                               zeros(v ^ CF_SCAN_BYTES('}'));

        if (found) {
            p += __builtin_ctzll(found) / 8;
            break;
        }
    }
    return p < end ? p : end;
}

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
    if (**p == '{') {
        const char *close = memchr(start, '}', (size_t)(end - start));

        if (close && !memchr(start + 1, '{', (size_t)(close - start - 1))) {
            *text = start + 1;
            *length = (size_t)(close - start - 1);
            *p = close + 1;
            return 1;
        }
    }
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
    *p = word_end(start, end);
    *text = start;
    *length = (size_t)(*p - start);
    return 1;
}

static int is_number(const char *p, size_t n)
{
    return n > 0 && *p >= '0' && *p <= '9' && !memchr(p, ' ', n);
}

/* A word, or a list of up to four. */
static int words(struct cf_scan *s, const char *p, size_t n, struct cf_scan_row *row)
{
    const char *end = p + n, *text;
    struct cf_scan_row one = {0};

    if (n >= 4 && !(*p >= '0' && *p <= '9') && memmem(p, n, "TRAP", 4)) {
        row->trapped = 1;
        return 1;
    }
    while (row->words < 4 && element(&p, end, &text, &n)) {
        if (!cf_scan_value(s, CF_FIELD_ADDRESS, text, n, s->o.hex ? 16 : 10, &one))
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
    start = q;
    if (end - q > 8 && scan_decimal8(q, &v))
        q += 8;
    for (; q < end && (uint8_t)(*q - '0') < 10; q++)
        v = v * 10 + (uint64_t)(*q - '0');
    if (q == start || q - start > 18 || q == end || !ends_word[(uint8_t)*q])
        return 0;
    *tag = v;
    *p = q;
    return 1;
}

/* What most elements are: 0x and eight digits, one digit, or a word that is not read. Where the
   next one is neither, or this field wants another look, *p stays. `opcode` gets the word of an
   instruction. */
static inline int plain_element(const char **p, const char *end, enum cf_scan_field f,
                                struct cf_scan_row *row, uint32_t *opcode, int *has_opcode)
{
    const char *q = *p;
    uint32_t v;

    while (q < end && *q == ' ')
        q++;
    if (f == CF_FIELD_SYMBOL || f == CF_FIELD_SKIP || f == CF_FIELD_ERROR) {
        if (q == end || *q == '{' || *q == '"' || ends_word[(uint8_t)*q])
            return 0;
        *p = word_end(q, end);
        return 1;
    }
    if (end - q > 10 && q[0] == '0' && q[1] == 'x' && ends_word[(uint8_t)q[10]] &&
        scan_hex8(q + 2, &v)) {
        if (f == CF_FIELD_ADDRESS)
            row->address = v;
        else if (f == CF_FIELD_RESULT && row->words < 4)
            row->word[row->words++] = v;
        else if (f == CF_FIELD_INSTRUCTION || f == CF_FIELD_OPCODE)
            *opcode = v, *has_opcode = 1;
        else
            return 0;
        *p = q + 10;
        return 1;
    }
    if (q == end || *q < '0' || *q > '9' || (q + 1 < end && !ends_word[(uint8_t)q[1]]))
        return 0;
    if (f == CF_FIELD_CPU)
        row->cpu = (uint32_t)(*q - '0');
    else if (f == CF_FIELD_MULTI)
        row->more = (uint8_t)(*q - '0'), row->stated = 1;
    else if (f == CF_FIELD_TRAP)
        row->trapped = (uint8_t)(*q - '0');
    else if (f == CF_FIELD_MASTER)
        row->master = (uint8_t)(*q - '0');
    else if (f != CF_FIELD_MARK && f != CF_FIELD_LOCK && f != CF_FIELD_RESP)
        return 0;
    *p = q + 1;
    return 1;
}

/* What follows a blank: 0x and eight digits. */
static inline int plain_word(const char *p, uint32_t *value)
{
    return (p[0] == ' ') & (p[1] == '0') & (p[2] == 'x') & scan_hex8(p + 3, value);
}

/* An instruction as most are: "0 123 0x40000000 0x01000000 0x00000000 main 0 0 0", in the order in
   which the monitor gives them. 0 where it looks otherwise: entry() then begins anew. */
static inline int plain_inst(const char *p, const char *end, const struct cf_scan_layout *l,
                             struct cf_scan_row *row, uint32_t *opcode)
{
    static const uint8_t usual[] = {CF_FIELD_CPU,         CF_FIELD_TIME,   CF_FIELD_ADDRESS,
                                    CF_FIELD_INSTRUCTION, CF_FIELD_RESULT, CF_FIELD_SYMBOL,
                                    CF_FIELD_MULTI,       CF_FIELD_TRAP,   CF_FIELD_ERROR};
    enum { WORD = 11, FLAGS = 6 };
    struct cf_scan_row r = *row;
    const char *q = p + 1;
    uint8_t digit[4];

    if (l->fields != sizeof usual || memcmp(l->field, usual, sizeof usual) != 0 || end - p < 2)
        return 0;
    digit[0] = (uint8_t)(p[0] - '0');
    if (digit[0] > 9 || *q != ' ' || !plain_time(&q, end, &r.tag) || end - q < 3 * WORD + 2 + FLAGS)
        return 0;
    if (!plain_word(q, &r.address) || !plain_word(q + WORD, opcode) ||
        !plain_word(q + 2 * WORD, &r.word[0]))
        return 0;
    q += 3 * WORD;
    if (*q != ' ' || q[1] == ' ' || q[1] == '{' || q[1] == '"' || ends_word[(uint8_t)q[1]])
        return 0;
    q = word_end(q + 1, end);
    if (end - q < FLAGS || (end - q > FLAGS && !ends_word[(uint8_t)q[FLAGS]]))
        return 0;
    for (int i = 1; i < 4; i++)
        digit[i] = (uint8_t)(q[2 * i - 1] - '0');
    if ((q[0] != ' ') | (q[2] != ' ') | (q[4] != ' ') | (digit[1] > 9) | (digit[2] > 9) |
        (digit[3] > 9))
        return 0;
    r.words = 1;
    r.cpu = digit[0];
    r.more = digit[1];
    r.stated = 1;
    r.trapped = digit[2];
    *row = r;
    return 1;
}

static int entry(struct cf_scan *s, const char *p, const char *end, const struct cf_scan_layout *l,
                 struct cf_scan_row *row, const char **why)
{
    const char *text, *insn = NULL;
    size_t n, insn_length = 0;
    struct cf_scan_row opcode = {0};
    const struct cf_scan_site *t;
    int has_word = 0;

    *why = "an entry that was cut off";
    if (!row->bus && !s->o.hex && plain_inst(p, end, l, row, &opcode.address)) {
        t = cf_scan_by_word(s, row->address, opcode.address);
        row->insn = t->insn;
        row->number = t->number;
        return 1;
    }
    for (unsigned i = 0; i < l->fields; i++) {
        const enum cf_scan_field f = l->field[i];

        if (f == CF_FIELD_TIME && !s->o.hex
                ? plain_time(&p, end, &row->tag)
                : plain_element(&p, end, f, row, &opcode.address, &has_word))
            continue;
        if (!element(&p, end, &text, &n)) {
            /* what follows the results may be missing */
            if (row->bus ? f >= CF_FIELD_LOCK || f == CF_FIELD_MARK
                         : f >= CF_FIELD_SYMBOL && f <= CF_FIELD_MARK)
                break;
            return 0;
        }
        *why = "an entry whose elements are not what they should be: give --inst-fields or "
               "--bus-fields";
        if (f == CF_FIELD_INSTRUCTION || f == CF_FIELD_OPCODE) {
            if (is_number(text, n)) {
                if (!cf_scan_value(s, CF_FIELD_ADDRESS, text, n, s->o.hex ? 16 : 10, &opcode))
                    return 0;
                has_word = 1;
            } else {
                insn = text;
                insn_length = n;
            }
        } else if (f == CF_FIELD_RESULT) {
            if (!words(s, text, n, row))
                return 0;
        } else if (f != CF_FIELD_DATA && !cf_scan_value(s, f, text, n, s->o.hex ? 16 : 10, row)) {
            return 0;
        }
        *why = "an entry that was cut off";
    }
    if (row->bus)
        return 1;
    if (!has_word && !insn)
        return 0;
    t = has_word ? cf_scan_by_word(s, row->address, opcode.address)
                 : cf_scan_by_text(s, row->address, insn, insn_length, insn, insn_length);
    row->insn = t->insn;
    row->number = t->number;
    return 1;
}

int cf_scan_list(struct cf_scan *s, struct cf_scan_row *row)
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
    *row = (struct cf_scan_row){.cpu = s->o.cpu, .bus = (uint8_t)bus, .size = 4, .trans = 2};
    why = "an entry that was cut off";
    if (depth || !entry(s, p, stop, bus ? &s->o.bus : &s->o.inst, row, &why)) {
        cf_lines_bad(&s->lines, 0, "%s: '%.*s'", why, (int)(stop - start < 60 ? stop - start : 60),
                     start);
        return -1;
    }
    return 1;
}
