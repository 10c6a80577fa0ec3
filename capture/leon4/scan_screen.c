/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scan_screen.c - entries out of what a monitor shows on the screen, a line each.
 *
 * The usual columns are time (decimal), address, the instruction's text or word, and its results in
 * brackets; between them lines whose text begins with "ahb" are transfers. They take a path of
 * their own, because they come by the million. Other columns go by the header, field by field.
 */
#include <endian.h>

#include "capture/leon4/scan.h"

static int bad(struct cf_scan *s, const char *line, size_t length, const char *what)
{
    cf_lines_bad(&s->lines, 0, "%s: '%.*s'", what, (int)(length < 70 ? length : 70), line);
    return -1;
}

static const char *blanks(const char *p)
{
    while (*p == ' ' || *p == '\t')
        p++;
    return p;
}

static const uint32_t power_of_ten[] = {1,      10,      100,      1000,     10000,
                                        100000, 1000000, 10000000, 100000000};

/* The blanks of a column, up to eight at once; tabs are not passed over. Reads eight bytes. */
static inline const char *skip_blanks(const char *p)
{
    uint64_t x;

    for (;;) {
        memcpy(&x, p, sizeof x);
        x = le64toh(x);
        x ^= 0x2020202020202020;
        if (x)
            return p + __builtin_ctzll(x) / 8;
        p += 8;
    }
}

/* Decimal digits, at most eight at once: *p comes to stand behind them. Reads eight bytes. */
static inline uint64_t decimal(const char **p)
{
    uint64_t value = 0, x, digits;
    unsigned n;

    do {
        memcpy(&x, *p, sizeof x);
        x = le64toh(x);
        x ^= 0x3030303030303030;
        /* the top bit of each byte that is over 9 */
        digits = ((x & 0x7f7f7f7f7f7f7f7f) + 0x7676767676767676) | x;
        digits &= 0x8080808080808080;
        n = digits ? (unsigned)__builtin_ctzll(digits) / 8 : 8;
        if (n == 0)
            break;
        /* the digits move to the top, so that zeros stand before them; then pairs, fours, all */
        x <<= 64 - 8 * n;
        x = (x * 10 + (x >> 8)) & 0x00ff00ff00ff00ff;
        x = (x * 100 + (x >> 16)) & 0x0000ffff0000ffff;
        x = (x * 10000 + (x >> 32)) & 0xffffffff;
        value = value * power_of_ten[n] + x;
        *p += n;
    } while (n == 8);
    return value;
}

/* The results after their bracket: words of eight digits, or TRAP; where they end, or NULL. */
static const char *results(const char *p, const char *end, struct cf_scan_row *row)
{
    p = blanks(p);
    if (end - p >= 4 && memcmp(p, "TRAP", 4) == 0) {
        row->trapped = 1;
        p = blanks(p + 4);
        return p < end && *p == ']' ? p + 1 : NULL;
    }
    for (;;) {
        if (end - p < 9 || row->words == 4 || !scan_hex8(p, &row->word[row->words]))
            return NULL;
        row->words++;
        p += 8;
        if (*p == ']')
            return p + 1;
        if (*p != ' ')
            return NULL;
        p = blanks(p);
    }
}

/* Whether the bracket behind `text` is no operand's, but holds results that are not whole: digits
   and blanks alone, where neither a comma nor the mnemonic stands before it. */
static int is_damaged(const char *text, const char *bracket, const char *end)
{
    const char *last = bracket, *q = bracket + 1;
    uint32_t word;

    while (last > text && last[-1] == ' ')
        last--;
    while (q < end && (*q == ' ' || cf_scan_digit[(uint8_t)*q] >= 0))
        q++;
    if (last == text || last == bracket || last[-1] == ',' || blanks(bracket + 1) >= q ||
        (q < end && (*q != ']' || (q + 1 < end && q[1] != ' '))))
        return 0;
    return bracket - last > 3 || memchr(text, ' ', (size_t)(last - text)) ||
           (last - text == 8 && scan_hex8(text, &word));
}

/* The bracket of the results, unlike those of an address: eight hex digits follow it, or TRAP, or
   what results() refuses. NULL where there is none. */
static const char *find_results(const char *text, const char *end)
{
    for (const char *p = text; (p = memchr(p, '[', (size_t)(end - p))) != NULL; p++) {
        const char *q = blanks(p + 1);
        uint32_t v;

        if (end - q >= 4 && memcmp(q, "TRAP", 4) == 0)
            return p;
        if (end - q >= 8 && scan_hex8(q, &v) && (end - q == 8 || q[8] == ' ' || q[8] == ']'))
            return p;
        if (is_damaged(text, p, end))
            return p;
    }
    return NULL;
}

/* Where an instruction's text ends when no bracket follows: before a wide gap after its operands.
 */
static const char *end_of_text(const char *p, const char *end)
{
    const char *q = p;

    while (q < end && *q != ' ')
        q++;
    while (q < end && *q == ' ')
        q++;
    for (; q < end; q++)
        if (end - q >= 2 && q[0] == ' ' && q[1] == ' ')
            return q;
    return end;
}

static void use(struct cf_scan_row *row, const struct cf_scan_site *t)
{
    row->insn = t->insn;
    row->number = t->number;
}

/* "ahb read,  mst=0, size=2   [4000123c]" */
static int transfer(struct cf_scan *s, const char *line, size_t length, const char *p,
                    const char *end, struct cf_scan_row *row)
{
    row->bus = 1;
    row->trans = 2;
    row->size = 4;
    p = blanks(p + 3);
    if (!cf_scan_value(s, CF_FIELD_TYPE, p, (size_t)(end - p), 10, row))
        return bad(s, line, length, "a bus transfer that is neither read nor write");
    while (p < end && *p != '[') {
        const char *name = p, *value;

        while (p < end && *p != '=' && *p != ',' && *p != ' ' && *p != '[')
            p++;
        if (p < end && *p == '=') {
            const size_t n = (size_t)(p - name);

            for (value = ++p; p < end && *p != ',' && *p != ' ' && *p != '[';)
                p++;
            if ((n == 3 && memcmp(name, "mst", 3) == 0 &&
                 !cf_scan_value(s, CF_FIELD_MASTER, value, (size_t)(p - value), 10, row)) ||
                (n == 4 && memcmp(name, "size", 4) == 0 &&
                 !cf_scan_value(s, CF_FIELD_SIZE, value, (size_t)(p - value), 10, row)) ||
                (n == 5 && memcmp(name, "burst", 5) == 0 &&
                 !cf_scan_value(s, CF_FIELD_BURST, value, (size_t)(p - value), 10, row)))
                return bad(s, line, length, "a bus transfer with a bad number");
        }
        while (p < end && (*p == ',' || *p == ' '))
            p++;
    }
    /* what the transfer carried is not used, but shows that the line is whole */
    if (p == end || !memchr(p, ']', (size_t)(end - p)))
        return bad(s, line, length, "a bus transfer that was cut off");
    return 1;
}

/* The usual columns from the text on, for an instruction that was not seen before. */
static int instruction(struct cf_scan *s, const char *line, size_t length, const char *p,
                       const char *end, struct cf_scan_row *row)
{
    const char *bracket = find_results(p, end), *last = bracket ? bracket : end_of_text(p, end);
    uint32_t word;

    if (last - p >= 8 && scan_hex8(p, &word) && (last - p == 8 || p[8] == ' ')) {
        use(row, cf_scan_by_word(s, row->address, word));
    } else {
        const char *text = p;

        while (last > p && last[-1] == ' ')
            last--;
        if (last == p)
            return bad(s, line, length, "an entry that was cut off");
        if (!bracket && s->has_results)
            return bad(s, line, length, "an entry without the results that the header announces");
        if (!bracket && memchr(p, '[', (size_t)(last - p)) && !memchr(p, ']', (size_t)(last - p)))
            return bad(s, line, length, "an entry that was cut off");
        /* with the newline, so that the next comparison sees that nothing follows */
        use(row, cf_scan_by_text(s, row->address, text,
                                 (size_t)((bracket ? bracket : line + length) - text) + 1, p,
                                 (size_t)(last - p)));
    }
    if (bracket && !results(bracket + 1, end, row))
        return bad(s, line, length, "results that were cut off or are no words of eight digits");
    return 1;
}

static int usual(struct cf_scan *s, const char *line, size_t length, const char *p,
                 struct cf_scan_row *row)
{
    const char *end = line + length, *start = p;
    const struct cf_scan_site *t;
    uint64_t time;

    time = decimal(&p);
    if (p - start > 19 || (*p != ' ' && *p != '\t'))
        return bad(s, line, length, "no trace entry");
    p = skip_blanks(p);
    if (end - p < 9 || !scan_hex8(p, &row->address) || (p[8] != ' ' && p[8] != '\t'))
        return bad(s, line, length, "an entry without an address of eight digits");
    row->tag = time;
    p = skip_blanks(p + 8);
    if (end - p > 4 && memcmp(p, "ahb ", 4) == 0)
        return transfer(s, line, length, p, end, row);
    t = &s->sites[(row->address >> 2 ^ row->address >> 17) & (CF_SCAN_SITES - 1)];
    if (t->state == 2 && t->pc == row->address && (size_t)(end + 1 - p) >= t->length &&
        memcmp(t->text, p, t->length) == 0 &&
        (t->text[t->length - 1] == '[' || t->text[t->length - 1] == '\n')) {
        use(row, t);
        if (t->text[t->length - 1] == '\n')
            return 1;
        p += t->length;
        /* one word, nearly always */
        if (end - p > 8 && scan_hex8(p, &row->word[0]) && p[8] == ']') {
            row->words = 1;
            return 1;
        }
        if (!results(p, end, row))
            return bad(s, line, length,
                       "results that were cut off or are no words of eight digits");
        return 1;
    }
    return instruction(s, line, length, p, end, row);
}

/* A field that may be missing, where n bytes from `start` on may be it: how many of them are. */
static size_t optional(enum cf_scan_field f, const char *start, size_t n, struct cf_scan_row *row)
{
    switch (f) {
    case CF_FIELD_MARK: /* may be empty, stick to what follows, or be the number of the entry */
        if (n > 2 && memcmp(start, "->", 2) == 0)
            return 2;
        return n && n <= 5 && (start[n - 1] == ':' || *start == '*' || *start == '-') ? n : 0;
    case CF_FIELD_TRAP:
        if (n != 1 || *start != 'T')
            return 0;
        row->trapped = 1;
        return n;
    case CF_FIELD_ERROR:
        return n == 1 && *start == 'E' ? n : 0;
    default: /* CF_FIELD_LETTER */
        return n == 1 && *start == 'L' ? n : 0;
    }
}

/* A result without brackets: where it ends, NULL when it is none. */
static const char *one_result(const char *start, size_t n, struct cf_scan_row *row)
{
    if (n != 8 || !scan_hex8(start, &row->word[0]))
        return NULL;
    row->words = 1;
    return start + n;
}

/* An instruction that only its text states; NULL: nothing does. */
static int instruction_text(struct cf_scan *s, const char *line, size_t length, const char *text,
                            const char *end, struct cf_scan_row *row)
{
    size_t n = text ? (size_t)(end - text) : 0;

    while (n && text[n - 1] == ' ')
        n--;
    if (!n)
        return bad(s, line, length, "an entry without an instruction");
    use(row, cf_scan_by_text(s, row->address, text, n, text, n));
    return 1;
}

/* Field by field, as the header names them. */
static int by_header(struct cf_scan *s, const char *line, size_t length, const char *p,
                     struct cf_scan_row *row)
{
    const struct cf_scan_layout *l = &s->layout;
    const char *end = line + length, *text = NULL, *text_end = NULL;
    int has_word = 0;
    uint32_t word = 0;

    row->bus = (uint8_t)s->layout_bus;
    for (unsigned i = 0; i < l->fields; i++) {
        const enum cf_scan_field f = l->field[i];
        const char *const start = p = blanks(p);
        size_t n;

        while (p < end && *p != ' ' && *p != '\t')
            p++;
        n = (size_t)(p - start);
        switch (f) {
        case CF_FIELD_MARK:
        case CF_FIELD_TRAP:
        case CF_FIELD_ERROR:
        case CF_FIELD_LETTER:
            p = start + optional(f, start, n, row);
            break;
        case CF_FIELD_INSTRUCTION:
            text = start;
            text_end = find_results(start, end);
            if (end - start > 4 && memcmp(start, "ahb ", 4) == 0)
                return transfer(s, line, length, start, end, row);
            if (!text_end)
                text_end = end_of_text(start, end);
            p = text_end;
            break;
        case CF_FIELD_OPCODE:
            if (n != 8 || !scan_hex8(start, &word))
                return bad(s, line, length, "an instruction word that is not eight digits");
            has_word = 1;
            break;
        case CF_FIELD_RESULT:
            p = *start == '[' ? results(start + 1, end, row) : one_result(start, n, row);
            if (!p)
                return bad(s, line, length,
                           "results that were cut off or are no words of eight digits");
            break;
        case CF_FIELD_LOCK:
        case CF_FIELD_SYMBOL:
        case CF_FIELD_SKIP:
            break;
        default:
            if (n == 0)
                return bad(s, line, length, "an entry with fewer fields than its header");
            if (!cf_scan_value(s, f, start, n, 16, row))
                return bad(s, line, length, "an entry whose fields are not what its header says");
        }
    }
    if (has_word && !row->bus)
        use(row, cf_scan_by_word(s, row->address, word));
    return row->bus || has_word || instruction_text(s, line, length, text, text_end, row);
}

int cf_scan_screen(struct cf_scan *s, const char *line, size_t length, struct cf_scan_row *row)
{
    const char *p = skip_blanks(line);

    *row = (struct cf_scan_row){.cpu = s->o.cpu};
    if (!s->generic && *p >= '0' && *p <= '9')
        return usual(s, line, length, p, row);
    if (p >= line + length || strncmp(p, "grmon", 5) == 0 || strncmp(p, "tsim", 4) == 0)
        return 0; /* prompts with the commands typed */
    if (cf_scan_header(s, line, length))
        return 0;
    if (s->generic && (cf_scan_digit[(uint8_t)*p] >= 0 || *p == '*' || *p == '-'))
        return by_header(s, line, length, p, row);
    return bad(s, line, length, "no trace entry and no header of one");
}
