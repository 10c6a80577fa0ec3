/* SPDX-License-Identifier: BSD-2-Clause */
/* cf_tool_memory.c - memory of a program: what it cannot do without, and what lasts to its end. */
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cf_number.h"
#include "formats/program/cf_tool.h"

void *cf_need(const struct cf_tool *t, void *memory)
{
    if (!memory)
        cf_out_of_memory(t);
    return memory;
}

void cf_must(const struct cf_tool *t, int result)
{
    if (result != 0)
        cf_out_of_memory(t);
}

/* Of the process, which takes it along: what other memory hangs from it may still be in use when a
   program exits. */
static struct room {
    struct room *next;
    _Alignas(max_align_t) uint64_t memory[];
} * rooms;

void *cf_tool_room(const struct cf_tool *t, size_t count, size_t width)
{
    struct room *room = cf_need(t, calloc(1, cf_sum(cf_product(count, width), sizeof(*room))));

    room->next = rooms;
    rooms = room;
    return room->memory;
}

char *cf_tool_text(const struct cf_tool *t, const char *format, ...)
{
    va_list list, again;
    size_t size;
    char *text;

    va_start(list, format);
    va_copy(again, list);
    size = (size_t)vsnprintf(NULL, 0, format, list) + 1;
    text = cf_tool_room(t, size, 1);
    vsnprintf(text, size, format, again);
    va_end(again);
    va_end(list);
    return text;
}

void *cf_column_room(const struct cf_tool *t, size_t width)
{
    return cf_tool_room(t, CF_FILE_ROWS, width);
}

void cf_tool_command(const struct cf_tool *t, char **line, const char *command)
{
    enum { MOST = 4096 }; /* nobody has room for more */
    const size_t n = command ? strlen(command) : 0;

    for (const char *p = *line; p && n; p++) {
        p = strstr(p, command);
        if (!p)
            break;
        if ((p == *line || p[-1] == ' ') && (!p[n] || p[n] == ','))
            return;
    }
    if (!n || (*line && strlen(*line) > MOST))
        return;
    *line = cf_tool_text(t, "%s%s%s", *line ? *line : "", *line ? ", " : "", command);
}
