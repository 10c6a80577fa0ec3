/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * chain.c - what an earlier program of the chain was told, from the header's document.
 *
 * The chain is the last part of the document and has a line for each program, a double-quoted
 * scalar that holds the command line with shell quotes (see cf-stream(5)). Memory: none.
 */
#include <string.h>

#include "filters/parts/mrc/mrc.h"

/* Copies the next word to `word`, cut to its size, without quotes; returns what follows, NULL at
   the end of the line. */
static const char *next_word(const char *p, char *word, size_t size)
{
    size_t n = 0;
    int quoted = 0;

    while (*p == ' ')
        p++;
    if (*p == '"' || *p == '\n' || !*p)
        return NULL;
    for (; *p && *p != '\n' && (quoted || (*p != ' ' && *p != '"')); p++) {
        if (*p == '\'') {
            quoted = !quoted;
            continue;
        }
        if (*p == '\\' && p[1] && p[1] != '\n')
            p++;
        if (n + 1 < size)
            word[n++] = *p;
    }
    word[n] = '\0';
    return p;
}

/* The last line of the chain that `program` has made, after its name; NULL where there is none. */
static const char *last_line(const char *yaml, const char *program)
{
    const char *found = NULL;
    size_t length = strlen(program);

    for (const char *p = strstr(yaml, "\nchain:"); p; p = strchr(p, '\n')) {
        p++;
        if (!strncmp(p, "  - \"", 5) && !strncmp(p + 5, program, length) &&
            (p[5 + length] == ' ' || p[5 + length] == '"'))
            found = p + 5 + length;
    }
    return found;
}

int chain_option(const char *yaml, const char *program, const char *option, char *value,
                 size_t size)
{
    const char *p = yaml ? last_line(yaml, program) : NULL;
    char word[256];
    int found = 0;

    while (p && (p = next_word(p, word, sizeof(word)))) {
        size_t name = strcspn(word, "=");

        if (!strcmp(word, "--"))
            break;
        /* a word that begins the name was clear, or the program had refused it */
        if (name < 3 || strncmp(word, "--", 2) != 0 || strncmp(word + 2, option, name - 2) != 0)
            continue;
        if (word[name] == '=')
            snprintf(value, size, "%s", word + name + 1);
        else
            p = next_word(p, value, size);
        found = p != NULL;
    }
    return found;
}
