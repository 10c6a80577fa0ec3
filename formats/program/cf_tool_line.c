/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_tool_line.c - the command line as the chain of a stream has it.
 */
#include <stdlib.h>
#include <string.h>

#include "cf_tool.h"

static int is_plain(const char *s)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-+=./:,@%^";

    return *s && s[strspn(s, plain)] == '\0';
}

char *cf_tool_quoted(int argc, char **argv, const char *name)
{
    size_t room = strlen(name) + 1;
    char *line, *p;

    for (int i = 1; i < argc; i++)
        room += 3 + 4 * strlen(argv[i]);
    line = malloc(room);
    if (!line)
        return NULL;
    p = stpcpy(line, name);
    for (int i = 1; i < argc; i++) {
        *p++ = ' ';
        if (is_plain(argv[i])) {
            p = stpcpy(p, argv[i]);
            continue;
        }
        *p++ = '\'';
        for (const char *s = argv[i]; *s; s++) {
            if (*s == '\'')
                p = stpcpy(p, "'\\''");
            else
                *p++ = *s;
        }
        *p++ = '\'';
        *p = '\0';
    }
    return line;
}

/* The end of the word of a quoted line that begins at `s`, behind its blank. */
static char *word_end(char *s)
{
    int quoted = 0;

    for (; *s && (quoted || *s != ' '); s++)
        quoted ^= *s == '\'';
    return s;
}

void cf_tool_unsaid(struct cf_tool *t, const char *letter, const char *name)
{
    char *from = word_end(t->line), *to = from;

    while (*from) {
        char *const word = from + 1, *end = word_end(word);
        const size_t n = strlen(name);
        const int by_letter = !strncmp(word, letter, 2);
        const int by_name = !strncmp(word, name, n) && (word[n] == '=' || word + n == end);

        if (by_letter || by_name) {
            if (*end && end == word + (by_letter ? 2 : n))
                end = word_end(end + 1);
        } else {
            memmove(to, from, (size_t)(end - from));
            to += end - from;
        }
        from = end;
    }
    *to = '\0';
}
