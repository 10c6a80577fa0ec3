/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scan_raw.c - entries out of the words of the debug support unit's trace memory.
 *
 * Binary: 16 bytes an entry, 32 for transfers of a 128-bit bus, most significant byte first.
 * Text: a line is four words in hex, as a monitor's memory dump prints them: with or without their
 * address before them (ending in a colon or beginning with 0x) and anything behind them. Where the
 * address is there, it gives processor and buffer: the processors' windows are 16 MiB apart, the
 * instruction buffer stands at 1 MiB in it and the bus buffer at 2 MiB (GR712RC and GR740 manuals).
 * The fields of the words: GR712RC manual, tables 40 to 43.
 */
#include "capture/leon4/scan.h"

static const char *token(const char **p, const char *end, size_t *length)
{
    const char *start;

    while (*p < end && (**p == ' ' || **p == '\t'))
        (*p)++;
    start = *p;
    while (*p < end && **p != ' ' && **p != '\t')
        (*p)++;
    *length = (size_t)(*p - start);
    return start;
}

static int word(const char *p, size_t n, uint32_t *value)
{
    uint32_t v = 0;

    if (n > 2 && p[0] == '0' && (p[1] == 'x' || p[1] == 'X')) {
        p += 2;
        n -= 2;
    } else if (n != 8) { /* cut off */
        return 0;
    }
    if (n == 0 || n > 8)
        return 0;
    for (size_t i = 0; i < n; i++) {
        const int d = cf_scan_digit[(uint8_t)p[i]];

        if (d < 0)
            return 0;
        v = v << 4 | (uint32_t)d;
    }
    *value = v;
    return 1;
}

static void instruction(struct cf_scan *s, const uint32_t *w, struct cf_scan_row *row)
{
    const struct cf_scan_site *t;

    row->more = w[0] >> 30 & 1;
    row->stated = 1;
    row->address = w[2] & ~3U;
    row->trapped = w[2] >> 1 & 1;
    row->words = 1;
    row->word[0] = w[1];
    t = cf_scan_by_word(s, row->address, w[3]);
    row->insn = t->insn;
    row->number = t->number;
}

static void transfer(const uint32_t *w, struct cf_scan_row *row)
{
    row->bus = 1;
    row->write = w[1] >> 15 & 1;
    row->trans = w[1] >> 13 & 3;
    row->size = (uint8_t)(1U << (w[1] >> 10 & 7));
    row->burst = w[1] >> 7 & 7;
    row->master = w[1] >> 3 & 15;
    row->address = w[3];
}

static uint32_t big_endian(const char *p)
{
    const uint8_t *b = (const uint8_t *)p;

    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

int cf_scan_block(struct cf_scan *s, const char *block, struct cf_scan_row *row)
{
    uint32_t w[4];

    for (unsigned i = 0; i < 4; i++)
        w[i] = big_endian(block + 4 * i);
    *row = (struct cf_scan_row){.cpu = s->o.cpu};
    if (!(w[0] | w[1] | w[2] | w[3])) /* never written */
        return 0;
    row->tag = w[0] & 0x3fffffff;
    if (s->o.raw == 2)
        transfer(w, row);
    else
        instruction(s, w, row);
    return 1;
}

int cf_scan_raw(struct cf_scan *s, const char *line, size_t length, struct cf_scan_row *row)
{
    const char *p = line, *end = line + length, *text[5];
    uint32_t w[4], address = 0;
    size_t size[5];
    unsigned tokens, first, bus = s->o.raw == 2;

    for (tokens = 0; tokens < 5; tokens++) {
        text[tokens] = token(&p, end, &size[tokens]);
        if (size[tokens] == 0)
            break;
    }
    if (tokens == 0 || strncmp(text[0], "grmon", 5) == 0)
        return 0;
    first = tokens == 5 && (text[0][size[0] - 1] == ':' || memcmp(text[0], "0x", 2) == 0);
    if (first && text[0][size[0] - 1] == ':')
        size[0]--;
    *row = (struct cf_scan_row){.cpu = s->o.cpu};
    if (tokens - first < 4 || (first && !word(text[0], size[0], &address)))
        goto bad;
    for (unsigned i = 0; i < 4; i++)
        if (!word(text[first + i], size[first + i], &w[i]))
            goto bad;
    if (first) {
        bus = address >> 20 & 2;
        row->cpu = address >> 24 & 15;
    }
    if (bus && s->o.wide) {
        const int second = first ? (int)(address >> 4 & 1) : s->half;

        s->half = !second;
        if (second)
            return 0; /* the upper words of the data, which are not used */
    }
    row->tag = w[0] & 0x3fffffff;
    /* an entry that was never written */
    if (!(w[0] | w[1] | w[2] | w[3]))
        return 0;
    if (bus)
        transfer(w, row);
    else
        instruction(s, w, row);
    return 1;
bad:
    /* a line that is no dump's is none of the two that an entry takes */
    s->half ^= s->o.raw == 2 && s->o.wide && word(text[0], size[0], &w[0]);
    cf_lines_bad(&s->lines, 0,
                 "no four words of trace memory: '%.*s': was the dump cut off, or is it text for "
                 "which --raw is wrong?",
                 (int)(length < 60 ? length : 60), line);
    return -1;
}
