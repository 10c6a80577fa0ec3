/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_text.c - which characters reach people as they are. See cf_text.h.
 */
#include <inttypes.h>
#include <string.h>

#include "cf_text.h"

enum { REPLACEMENT = 0xfffd, LONGEST = 12 /* of an escape, with its end */ };

/* Controls, and what is called a format character: joiners, marks and embeddings of direction,
   separators of lines, tags. */
static int shown(uint32_t c)
{
    static const uint32_t hidden[][2] = {
        {0, 0x1f},          {0x7f, 0x9f},       {0xad, 0xad},       {0x600, 0x605},
        {0x61c, 0x61c},     {0x6dd, 0x6dd},     {0x70f, 0x70f},     {0x180e, 0x180e},
        {0x200b, 0x200f},   {0x2028, 0x202e},   {0x2060, 0x206f},   {0xd800, 0xdfff},
        {0xfdd0, 0xfdef},   {0xfeff, 0xfeff},   {0xfff9, 0xfffb},   {0xfffe, 0xffff},
        {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe007f},
    };

    for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]) && hidden[i][0] <= c; i++)
        if (c <= hidden[i][1])
            return 0;
    return 1;
}

size_t cf_text_decode(const char *text, uint32_t *code, int *valid)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *t = (const unsigned char *)text;
    size_t n = t[0] < 0x80 ? 1 : t[0] >> 5 == 6 ? 2 : t[0] >> 4 == 14 ? 3 : t[0] >> 3 == 30 ? 4 : 0;
    uint32_t c;

    *valid = 0;
    *code = REPLACEMENT;
    if (!n)
        return 1;
    c = n == 1 ? t[0] : t[0] & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) {
        if ((t[i] & 0xc0) != 0x80)
            return i;
        c = c << 6 | (t[i] & 0x3f);
    }
    if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        return n;
    *valid = 1;
    *code = c;
    return n;
}

size_t cf_text_character(const char *text, uint32_t *code)
{
    int valid;
    size_t n = cf_text_decode(text, code, &valid);

    if (!valid || !shown(*code))
        *code = REPLACEMENT;
    return n;
}

/* One character as it is, or the escape for it, or for one of its bytes. Returns how many bytes it
   stands for. */
static size_t escape(const char *text, char to[LONGEST])
{
    uint32_t code;
    int valid;
    size_t n = cf_text_decode(text, &code, &valid);

    if (valid && shown(code)) {
        memcpy(to, text, n);
        to[n] = 0;
        return n;
    }
    snprintf(to, LONGEST,
             !valid || code < 0x80 ? "\\x%02" PRIx32
             : code < 0x10000      ? "\\u%04" PRIx32
                                   : "\\U%08" PRIx32,
             valid ? code : (uint32_t)(unsigned char)*text);
    return valid ? n : 1;
}

char *cf_text_safe(char *to, size_t size, const char *text)
{
    size_t at = 0;

    while (*text) {
        char one[LONGEST];
        size_t n = escape(text, one), more = strlen(one);

        if (at + more >= size)
            break;
        memcpy(to + at, one, more);
        at += more;
        text += n;
    }
    if (size)
        to[at] = 0;
    return to;
}

void cf_text_print(FILE *out, const char *text, size_t length, const char *more)
{
    const char *end = text + length;

    while (text < end && *text) {
        char one[LONGEST];
        size_t n;

        if (strchr(more, *text))
            putc('\\', out);
        n = escape(text, one);
        /* what is cut at the end is no character */
        if (n > (size_t)(end - text)) {
            fprintf(out, "\\x%02x", (unsigned char)*text);
            n = 1;
        } else {
            fputs(one, out);
        }
        text += n;
    }
}

void cf_text_json(FILE *out, const char *text, const char *more)
{
    size_t n;

    putc('"', out);
    for (; *text; text += n) {
        uint32_t code;
        int valid;

        n = cf_text_decode(text, &code, &valid);
        if (*text == '"' || *text == '\\')
            fprintf(out, "\\%c", *text);
        else if (!valid || code < 0x20 || code == 0x7f || (code < 0x80 && strchr(more, *text)))
            fprintf(out, "\\u%04" PRIx32, valid ? code : REPLACEMENT);
        else
            fwrite(text, 1, n, out);
    }
    putc('"', out);
}

const char *cf_text_end(const char *text, size_t width)
{
    size_t n = strlen(text);

    if (n <= width)
        return text;
    text += n - width;
    while ((*text & 0xc0) == 0x80)
        text++;
    return text;
}
