/* SPDX-License-Identifier: BSD-2-Clause */
/* export_text.c - names and texts as other programs read them. */
#include <string.h>

#include "filters/parts/export/export.h"
#include "formats/base/cf_text.h"

/* JSON has 16 bits an escape, so that the greatest numbers take two (RFC 8259, 7). */
static void escape(FILE *out, uint32_t code)
{
    if (code < 0x10000)
        fprintf(out, "\\u%04x", (unsigned)code);
    else
        fprintf(out, "\\u%04x\\u%04x", (unsigned)(0xd7c0 + (code >> 10)),
                (unsigned)(0xdc00 | (code & 0x3ff)));
}

static int plain(char c)
{
    return c >= ' ' && c < 0x7f && c != '"' && c != '\\';
}

void export_text(FILE *out, const char *text)
{
    size_t n;

    putc('"', out);
    for (;; text += n) {
        uint32_t code, shown;
        int valid;

        for (n = 0; plain(text[n]); n++)
            ;
        fwrite(text, 1, n, out);
        text += n;
        if (!*text)
            break;
        n = cf_text_decode(text, &code, &valid);
        (void)cf_text_character(text, &shown);
        if (!valid)
            for (size_t i = 0; i < n; i++)
                escape(out, 0xdc00 | (unsigned char)text[i]);
        else if (code != shown)
            escape(out, code);
        else if (*text == '"' || *text == '\\')
            fprintf(out, "\\%c", *text);
        else
            fwrite(text, 1, n, out);
    }
    putc('"', out);
}

/* A name that a stream declares may hold anything: in a file's name it stands for nothing else. */
static const char *name_or_number(const char *name, const char *kind, unsigned number, char *room)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

    if (name && *name && strlen(name) < 64 && !name[strspn(name, plain)])
        snprintf(room, EXPORT_NAME, "%s", name);
    else
        snprintf(room, EXPORT_NAME, "%s_%u", kind, number);
    return room;
}

const char *export_column_name(const struct cf_reader *r, unsigned column, char *room)
{
    return name_or_number(cf_reader_column_name(r, column), "column", column, room);
}

const char *export_table_name(const struct cf_reader *r, unsigned table, char *room)
{
    return name_or_number(cf_reader_table_name(r, table), "table", table, room);
}

int export_no_table(const struct export *e)
{
    cf_warn(e->tool, "--table '%s': the input has no such table: cf-cat --info lists those it has",
            e->table);
    return CF_EXIT_INPUT;
}

const char *export_word(unsigned column, unsigned value)
{
    const char *class;

    switch (column) {
    case CF_OP:
        return cf_op_name(value);
    case CF_CLASS:
    case CF_CLASS_BEHIND:
        class = cf_class_name(value);
        return class && cf_class_find(class) == value ? class : NULL;
    case CF_HIT:
    case CF_LEVEL:
        return value == CF_FROM_MEMORY ? "memory" : NULL;
    default:
        return NULL;
    }
}
