/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * parse.c - SPARC V8 instructions from their text (see cf_sparc_parse() in sparc.h).
 *
 * Understands what monitors and binutils print: the manual's names and its synthetic instructions
 * (V8 manual, appendix A and table A-1), numbers in decimal and hex, signs before or inside hex,
 * %hi() and %lo(). An operand is a register, a number or an address in brackets; the mnemonic says
 * what they mean. What is not understood becomes CF_SPARC_UNKNOWN. Memory: none; importers keep
 * what was parsed for each instruction of the program.
 */
#include <string.h>

#include "capture/leon4/parse.h"

struct cursor {
    const char *at, *end;
};

static void blanks(struct cursor *s)
{
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\t'))
        s->at++;
}

static int take(struct cursor *s, char c)
{
    blanks(s);
    if (s->at == s->end || *s->at != c)
        return 0;
    s->at++;
    return 1;
}

static int is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.';
}

static int digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : 99;
}

/* A number with sign: decimal, or hex after 0x. */
static int number(struct cursor *s, uint32_t *value)
{
    int minus = 0, base = 10;
    const char *start;
    uint64_t v = 0;

    blanks(s);
    while (s->at < s->end && (*s->at == '-' || *s->at == '+' || *s->at == ' '))
        minus ^= *s->at++ == '-';
    if (s->end - s->at > 2 && s->at[0] == '0' && (s->at[1] == 'x' || s->at[1] == 'X')) {
        s->at += 2;
        base = 16;
    }
    for (start = s->at; s->at < s->end && digit(*s->at) < base; s->at++) {
        v = v * (unsigned)base + (unsigned)digit(*s->at);
        if (v > UINT32_MAX)
            return 0;
    }
    if (s->at == start || (s->at < s->end && is_word(*s->at)))
        return 0;
    *value = minus ? 0 - (uint32_t)v : (uint32_t)v;
    return 1;
}

/* What follows a %: a register, a state register, or %hi(...), %lo(...). */
static int percent(struct cursor *s, struct operand *o)
{
    static const char *const states[] = {"y", "psr", "wim", "tbr", "fsr", "fq", "csr", "cq"};
    static const char bank[] = "goli";
    const char *name = s->at;
    size_t n = 0;

    while (s->at < s->end && is_word(*s->at))
        s->at++;
    n = (size_t)(s->at - name);
    if (n == 2 && s->at < s->end && *s->at == '(') {
        s->at++;
        if (!number(s, &o->value) || !take(s, ')'))
            return 0;
        o->kind = NUMBER;
        if (memcmp(name, "lo", 2) == 0)
            o->value &= 0x3ff;
        else if (memcmp(name, "hi", 2) == 0)
            o->value >>= 10;
        else
            return 0;
        return 1;
    }
    o->kind = REGISTER;
    if (n == 2 && (memcmp(name, "sp", 2) == 0 || memcmp(name, "fp", 2) == 0)) {
        o->reg = name[0] == 's' ? 14 : 30;
        return 1;
    }
    if (n == 2 && strchr(bank, name[0]) && name[1] >= '0' && name[1] <= '7') {
        o->reg = (uint8_t)((strchr(bank, name[0]) - bank) * 8 + name[1] - '0');
        return 1;
    }
    if ((n == 2 || n == 3) && (name[0] == 'r' || name[0] == 'f' || name[0] == 'c') &&
        digit(name[1]) < 10 && (n == 2 || digit(name[2]) < 10)) {
        const int which = n == 2 ? digit(name[1]) : 10 * digit(name[1]) + digit(name[2]);

        o->kind = name[0] == 'r' ? REGISTER : FLOATING;
        o->reg = (uint8_t)which;
        return which < 32;
    }
    o->kind = STATE;
    o->reg = OTHER_STATE;
    for (unsigned i = 0; i < sizeof states / sizeof *states; i++)
        if (strlen(states[i]) == n && memcmp(states[i], name, n) == 0) {
            o->reg = i == 0 ? Y_STATE : i == 1 ? PSR_STATE : OTHER_STATE;
            return 1;
        }
    return n >= 4 && memcmp(name, "asr", 3) == 0;
}

/* A register, a number, or the sum of a register and one of both. */
static int sum(struct cursor *s, struct operand *o)
{
    struct operand more = {0};

    blanks(s);
    if (!take(s, '%')) {
        o->kind = NUMBER;
        return number(s, &o->value);
    }
    if (!percent(s, o))
        return 0;
    blanks(s);
    if (o->kind != REGISTER || s->at == s->end || (*s->at != '+' && *s->at != '-'))
        return 1;
    o->is_sum = 1;
    if (*s->at == '+') {
        struct cursor after = {s->at + 1, s->end};

        if (take(&after, '%')) {
            *s = after;
            if (!percent(s, &more) || (more.kind != REGISTER && more.kind != NUMBER))
                return 0;
            o->has_imm = more.kind == NUMBER;
            o->index = more.reg;
            o->value = more.value;
            return 1;
        }
    }
    o->has_imm = 1;
    return number(s, &o->value);
}

static int operand(struct cursor *s, struct operand *o)
{
    struct cursor start;
    uint32_t asi;

    *o = (struct operand){0};
    blanks(s);
    start = *s;
    if (take(s, '[')) {
        if (!sum(s, o) || !take(s, ']') || (o->kind != REGISTER && o->kind != NUMBER))
            return 0;
        if (o->kind == NUMBER) { /* [number] counts from %g0 */
            o->reg = 0;
            o->has_imm = 1;
        }
        o->kind = ADDRESS;
        blanks(s);
        if (s->at < s->end && *s->at == '(') /* an address space in parentheses */
            s->at++;
        if (s->at < s->end && *s->at != ',' && *s->at != '%') {
            if (!number(s, &asi))
                return 0;
            o->asi = (uint8_t)asi;
            o->has_asi = 1;
            (void)take(s, ')');
        }
        return 1;
    }
    if (sum(s, o))
        return 1;
    /* a symbol */
    *s = start;
    o->kind = TEXT;
    while (s->at < s->end && *s->at != ',')
        s->at++;
    return s->at > start.at;
}

void cf_sparc_parse(const char *text, size_t length, struct cf_sparc_insn *i)
{
    struct cursor s = {text, text + length};
    struct operand o[3] = {{0}};
    unsigned count = 0;
    int annul = 0;
    size_t n;

    *i = (struct cf_sparc_insn){0};
    for (const char *p = text; p < s.end; p++)
        if (*p == '<' || *p == '!') /* <symbol> and comments */
            s.end = p;
    while (s.end > text && s.end[-1] == ' ')
        s.end--;
    while (s.at < s.end && is_word(*s.at))
        s.at++;
    n = (size_t)(s.at - text);
    if (s.end - s.at >= 2 && s.at[0] == ',' && s.at[1] == 'a') {
        annul = 1;
        s.at += 2;
    }
    blanks(&s);
    while (s.at < s.end) {
        if (count == 3 || !operand(&s, &o[count]))
            break;
        count++;
        blanks(&s);
        if (s.at < s.end && !take(&s, ','))
            break;
        blanks(&s);
    }
    if (n == 0 || s.at != s.end || !cf_sparc_mnemonic(text, n, annul, o, count, i))
        *i = (struct cf_sparc_insn){.kind = CF_SPARC_UNKNOWN};
}
