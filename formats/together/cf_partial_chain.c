/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_partial_chain.c - what was run on a recording, or on a part before a partial result was made
 * of it, as the chain of the header says (see cf_partial.h). Memory: one text.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cf_memory.h"
#include "formats/together/cf_partial.h"

/* The command at a place of the chain, from 0, up to the end of its line; NULL where none is. */
static const char *command_at(const struct cf_header *h, uint64_t place)
{
    static const char key[] = "\nchain:", item[] = "\n  - ";
    const char *at = h->yaml ? strstr(h->yaml, key) : NULL;

    for (uint64_t i = 0; at && i <= place; i++) {
        at = strstr(at, item);
        at = at ? at + sizeof(item) - 1 : NULL;
    }
    return at ? at + (*at == '"') : NULL;
}

static int is_of(const char *command, const char *program)
{
    const size_t length = strcspn(command, " \"\n");

    return strlen(program) == length && !memcmp(command, program, length);
}

/* Up to the end of the line, without the quote that ends it. */
static size_t command_bytes(const char *command)
{
    const size_t line = strcspn(command, "\n");

    return line - (line && command[line - 1] == '"');
}

const char *cf_partial_left_out(const struct cf_header *h, uint64_t *place, size_t *bytes)
{
    const char *command;

    while ((command = command_at(h, (*place)++))) {
        *bytes = command_bytes(command);
        /* options may be shortened */
        if (is_of(command, "cf-select") ||
            (is_of(command, "cf-cat") &&
             (memmem(command, *bytes, " --s", 4) || memmem(command, *bytes, " --p", 4))))
            break;
    }
    return command;
}

int cf_partial_is_cut(const struct cf_header *h)
{
    uint64_t place = 0;
    size_t bytes;

    return cf_partial_left_out(h, &place, &bytes) != NULL;
}

int cf_partial_ran(const struct cf_header *h, const char *program, const char *behind)
{
    const char *command;
    int ran = 0;

    for (uint64_t place = 0; (command = command_at(h, place)); place++)
        ran = behind && is_of(command, behind) ? 0 : ran || is_of(command, program);
    return ran;
}

/* Programs whose rows depend on rows before, so that those of a part are not those of the whole. */
static const char *const remembers[] = {"cf-distance", "cf-cache", "cf-classify",
                                        "cf-sample",   "cf-merge", "cf-latency"};

/* Whether a program of the chain is one of them; cf-latency is where it states cores, or times
   contain costs. */
static const char *remembers_of(const struct cf_header *h, const char *command)
{
    for (size_t i = 0; i < sizeof(remembers) / sizeof(*remembers); i++)
        if (is_of(command, remembers[i]) &&
            (strcmp(remembers[i], "cf-latency") != 0 || cf_header_fact(h, "cost", "cores") ||
             cf_header_fact(h, "time", "counts")))
            return remembers[i];
    return NULL;
}

const char *cf_partial_remembers(const struct cf_header *h, uint64_t place)
{
    const char *command, *program = NULL;

    while (!program && (command = command_at(h, ++place)))
        program = remembers_of(h, command);
    return program;
}

/* ---- as a text ---- */

/* Options that change no row, and those of which a word behind them is no value. */
static const struct known {
    char letter;
    const char *name;
    int flag, kept;
} known[] = {
    {0, "--part", 0, 0},      {'o', "--output", 0, 0},    {'j', "--jobs", 0, 0},
    {'q', "--quiet", 1, 0},   {0, "--max-strings", 0, 0}, {0, "--invert", 1, 1},
    {0, "--retime", 1, 1},    {0, "--no-inline", 1, 1},   {0, "--trust", 1, 1},
    {0, "--recording", 1, 1}, {0, "--summary", 1, 1},
};

/* The place of the letter in a word of them which may take a value: the first that is no flag. */
static size_t letter_place(const char *word, size_t n)
{
    return 1 + (n > 2 && word[1] == 'q' ? letter_place(word + 1, n - 1) : 0);
}

/* A word of `n` bytes that is an option, by its letter or by its name, which may be shortened to
   three letters: fewer may be the beginning of another option, which is not known here. */
static const struct known *known_option(const char *word, size_t n)
{
    const size_t name = strcspn(word, "= \"\n") < n ? strcspn(word, "= \"\n") : n;
    const char letter = word[letter_place(word, n)];

    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (word[1] == '-'
                ? name > 4 && name <= strlen(known[i].name) && !memcmp(word, known[i].name, name)
                : letter == known[i].letter)
            return &known[i];
    return NULL;
}

/* Bytes of the word of a quoted line up to the blank behind it, or the end. */
static size_t word_bytes(const char *at, size_t most)
{
    size_t n = 0;

    for (int quoted = 0; n < most && (quoted || at[n] != ' '); n++)
        quoted ^= at[n] == '\'';
    return n;
}

/* Writes a command without the options that change no row, and without the names of files: words
   that are no option, and stand behind none that could take them. How many words; `out` may be
   NULL. */
static unsigned put_command(FILE *out, const char *at, size_t bytes)
{
    enum { NONE, VALUE, LEFT_OUT } takes = VALUE; /* what the word behind the last one is */
    const char *const end = at + bytes;
    unsigned words = 0;

    for (size_t n; at < end; at += n + 1) {
        const char *option;
        const struct known *is;
        int kept = takes == VALUE;

        n = word_bytes(at, (size_t)(end - at));
        option = at + (*at == '\''); /* by which a word with blanks and the like begins */
        if (takes == LEFT_OUT || *option != '-' || n < 2) {
            takes = NONE;
        } else {
            is = known_option(option, n);
            kept = !is || is->kept;
            takes = (is && is->flag) || memchr(at, '=', n) ||
                            (option[1] != '-' && n > letter_place(option, n) + 1)
                        ? NONE
                    : kept ? VALUE
                           : LEFT_OUT;
        }
        if (kept && n)
            words++;
        if (kept && n && out)
            fprintf(out, "%s%.*s", words > 1 ? " " : "", (int)n, at);
    }
    return words;
}

char *cf_partial_through(const struct cf_header *h, uint64_t place)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    const char *command, *before = "";

    if (!out)
        return NULL;
    for (; (command = command_at(h, place)); place++) {
        const size_t n = command_bytes(command);

        /* by itself it hands on what it reads */
        if (word_bytes(command, n) == 6 && !memcmp(command, "cf-cat", 6) &&
            put_command(NULL, command, n) == 1)
            continue;
        fputs(before, out);
        (void)put_command(out, command, n);
        before = " | ";
    }
    return cf_memory_text(out, &text);
}
