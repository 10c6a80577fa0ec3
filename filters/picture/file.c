/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * file.c - what goes into pictures and pages: texts, data, the commands of the streams.
 */
#include <stdlib.h>
#include <string.h>

#include "filters/picture/picture.h"

void cf_json_text(FILE *out, const char *name, const char *text)
{
    fprintf(out, *name ? "\"%s\":" : "%s", name);
    cf_text_json(out, text, "<>&'");
}

int cf_page(FILE *out, const char *page, void (*data)(const void *what, FILE *out),
            const void *what)
{
    static const char mark[] = "@DATA@";
    const char *at = strstr(page, mark);

    fwrite(page, 1, (size_t)(at - page), out);
    data(what, out);
    fputs(at + strlen(mark), out);
    return ferror(out) ? -1 : 0;
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
