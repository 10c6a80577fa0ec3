/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * file.c - what goes into pictures and pages: texts, the commands of the streams, the size.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "filters/picture/picture.h"

void cf_json_text(FILE *out, const char *name, const char *text)
{
    size_t n;

    fprintf(out, *name ? "\"%s\":\"" : "%s\"", name);
    for (; *text; text += n) {
        uint32_t code;

        n = cf_text_character(text, &code);
        if (code < 0x20 || code == 0xfffd || strchr("<>&'\"\\", code < 128 ? (int)code : ' '))
            fprintf(out, "\\u%04" PRIx32, code);
        else
            fwrite(text, 1, n, out);
    }
    fputc('"', out);
}

void cf_picture_command(const struct cf_tool *t, char **line, const char *command)
{
    enum { MOST = 4096 }; /* no picture has room for more */
    const size_t n = command ? strlen(command) : 0;
    char *longer = NULL;

    for (const char *p = *line; p && n; p++) {
        p = strstr(p, command);
        if (!p)
            break;
        if ((p == *line || p[-1] == ' ') && (!p[n] || p[n] == ','))
            return;
    }
    if (!n || (*line && strlen(*line) > MOST))
        return;
    if (asprintf(&longer, "%s%s%s", *line ? *line : "", *line ? ", " : "", command) < 0)
        cf_out_of_memory(t);
    free(*line);
    *line = longer;
}
