/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scan.c - entries out of text: opens, distinguishes the forms, keeps decoded instructions.
 *
 * Programs run loops, so each instruction's text comes many times. It is decoded once and kept by
 * its address; then a line costs a comparison. Memory: 4 MiB for these sites.
 */
#include <stdlib.h>
#include <string.h>

#include "capture/leon4/scan.h"

#define X (-1)
const int8_t cf_scan_digit[256] = {
    X, X,  X,  X,  X,  X,  X,  X, X, X, X, X, X, X, X, X,
    X, X,  X,  X,  X,  X,  X,  X, X, X, X, X, X, X, X, X, //
    X, X,  X,  X,  X,  X,  X,  X, X, X, X, X, X, X, X, X,
    0, 1,  2,  3,  4,  5,  6,  7, 8, 9, X, X, X, X, X, X, //
    X, 10, 11, 12, 13, 14, 15, X, X, X, X, X, X, X, X, X,
    X, X,  X,  X,  X,  X,  X,  X, X, X, X, X, X, X, X, X, //
    X, 10, 11, 12, 13, 14, 15, X, X, X, X, X, X, X, X, X,
    X, X,  X,  X,  X,  X,  X,  X, X, X, X, X, X, X, X, X, //
    X, X,  X,  X,  X,  X,  X,  X, X, X, X, X, X, X, X, X,
    X, X,  X,  X,  X,  X,  X,  X, X, X, X, X, X, X, X, X, //
    X, X,  X,  X,  X,  X,  X,  X, X, X, X, X, X, X, X, X,
    X, X,  X,  X,  X,  X,  X,  X, X, X, X, X, X, X, X, X, //
    X, X,  X,  X,  X,  X,  X,  X, X, X, X, X, X, X, X, X,
    X, X,  X,  X,  X,  X,  X,  X, X, X, X, X, X, X, X, X, //
    X, X,  X,  X,  X,  X,  X,  X, X, X, X, X, X, X, X, X,
    X, X,  X,  X,  X,  X,  X,  X, X, X, X, X, X, X, X, X, //
};
#undef X

void cf_scan_open(struct cf_scan *s, struct cf_tool *t, const struct cf_scan_options *o,
                  char *const *files, int count)
{
    *s = (struct cf_scan){.o = *o};
    s->sites = cf_need(t, calloc(CF_SCAN_SITES, sizeof *s->sites));
    cf_lines_open(&s->lines, t, files, count);
    s->lines.lists = !o->raw;
    if (o->raw)
        s->lines.block = o->raw == 2 && o->wide ? 32 : 16;
}

int cf_scan_close(struct cf_scan *s)
{
    free(s->sites);
    return cf_lines_finish(&s->lines);
}

static struct cf_scan_site *site_at(struct cf_scan *s, uint32_t pc)
{
    return &s->sites[(pc >> 2 ^ pc >> 17) & (CF_SCAN_SITES - 1)];
}

static uint32_t next_number(struct cf_scan *s)
{
    return s->numbers < CF_SCAN_KINDS ? ++s->numbers : 0;
}

const struct cf_scan_site *cf_scan_by_word(struct cf_scan *s, uint32_t pc, uint32_t word)
{
    struct cf_scan_site *t = site_at(s, pc);

    if (t->state == 1 && t->pc == pc && t->word == word)
        return t;
    t->state = 1;
    t->pc = pc;
    t->word = word;
    t->length = 0;
    t->number = next_number(s);
    cf_sparc_decode(word, pc, &t->insn);
    return t;
}

const struct cf_scan_site *cf_scan_by_text(struct cf_scan *s, uint32_t pc, const char *text,
                                           size_t length, const char *insn, size_t insn_length)
{
    struct cf_scan_site *t = length <= CF_SCAN_TEXT ? site_at(s, pc) : &s->once;

    if (t != &s->once) {
        if (t->state == 2 && t->pc == pc && t->length == length &&
            memcmp(t->text, text, length) == 0)
            return t;
        t->state = 2;
        t->pc = pc;
        t->length = (uint8_t)length;
        memcpy(t->text, text, length);
    }
    t->number = next_number(s);
    cf_sparc_parse(insn, insn_length, &t->insn);
    return t;
}

static int is_list(const char *p, const char *end)
{
    while (p < end && (*p == '{' || *p == ' '))
        p++;
    return end - p > 5 && (memcmp(p, "INST ", 5) == 0 || memcmp(p, "AHB ", 4) == 0);
}

int cf_scan_next(struct cf_scan *s, struct cf_scan_row *row)
{
    const char *line;
    size_t length;

    for (;;) {
        int found;

        if (s->rest) {
            found = cf_scan_list(s, row);
            if (found > 0)
                break;
            if (found == 0)
                s->rest = NULL;
            continue;
        }
        if (s->lines.at == s->lines.end && !cf_lines_fill(&s->lines))
            return 0;
        if (s->lines.blocks) {
            if (!cf_lines_next_block(&s->lines, &line))
                return 0;
            if (cf_scan_block(s, line, row))
                break;
            continue;
        }
        if (!cf_lines_next(&s->lines, &line, &length))
            return 0;
        if (s->input != s->lines.input) { /* a header counts for its own file */
            s->input = s->lines.input;
            s->layout.fields = 0;
            s->generic = s->layout_bus = s->half = s->has_results = 0;
            if (s->o.given_inst || s->o.given_bus) {
                s->layout = s->o.given_inst ? s->o.inst : s->o.bus;
                s->layout_bus = !s->o.given_inst;
                s->generic = 1;
            }
        }
        if (length && line[length - 1] == '\r')
            length--;
        if (s->o.raw) {
            found = cf_scan_raw(s, line, length, row);
        } else if (length && (*line == '{' || *line == 'I' || *line == 'A') &&
                   is_list(line, line + length)) {
            s->rest = line;
            s->end = line + length;
            continue;
        } else {
            found = cf_scan_screen(s, line, length, row);
        }
        if (found > 0)
            break;
    }
    s->entries++;
    return 1;
}
