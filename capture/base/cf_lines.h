/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_lines.h - lines of text for the importers: fast, with their place for messages, and without
 * letting a pipe behind us sit on data while the one before us is silent.
 */
#ifndef CF_LINES_H
#define CF_LINES_H

#include <stdint.h>
#include <string.h>

#include "formats/program/cf_tool.h"

enum {
    CF_LINES_MOST = 1 << 16, /* bytes in a line; a longer one counts as bad */
    CF_LINES_BEYOND = 8,     /* bytes behind a line's newline that may be read, whatever they are */
};

struct cf_lines {
    const char *at, *end; /* lines not yet handed out, all complete */
    const char *name;     /* of the current input, in messages */
    uint64_t number;      /* of the line handed out last, from 1 */
    uint64_t bad;         /* calls of cf_lines_bad() */
    uint64_t reported;    /* how many of them print their message: 1 unless changed */
    int input;            /* counts up with each input */
    int failed;           /* an input was cut off, or could not be opened or read: exit status */
    int block;            /* a binary input is handed out in blocks of as many bytes, 0: all
                             input is text */
    int blocks;           /* the current input is such a one */
    int lists;            /* the input may be one long Tcl list: where a line does not fit into the
                  buffer, it is cut between two of the list's elements */
    struct cf_lines_more *more;
};

/* The inputs one after the other; "-" or count 0 is standard input, which must not be a terminal
   (CF_EXIT_USAGE). The signals that ask captures to end (cf_command.h) end the input from now on,
   so that what came until then is written; cf_lines_close() passes them on. Exits with
   CF_EXIT_ENVIRONMENT without memory. */
void cf_lines_open(struct cf_lines *l, struct cf_tool *t, char *const *files, int count);

/* Calls f(arg) when no input came for 100 ms after data had come. */
void cf_lines_idle(struct cf_lines *l, void (*f)(void *), void *arg);

/* Fetches more lines: 0 at the end of the last input. For cf_lines_next(). */
int cf_lines_fill(struct cf_lines *l);

/* Next line: 1, or 0 at the end. A '\n' always stands at line[length]. What an input holds behind
   its last newline may have been cut anywhere, even inside a number: it is reported and left out,
   but for a list whose elements are in braces. Valid until the next call. */
static inline int cf_lines_next(struct cf_lines *l, const char **line, size_t *length)
{
    const char *newline;

    if (l->at == l->end && !cf_lines_fill(l))
        return 0;
    newline = (const char *)memchr(l->at, '\n', (size_t)(l->end - l->at));
    *line = l->at;
    *length = (size_t)(newline - l->at);
    l->at = newline + 1;
    l->number++;
    return 1;
}

/* The same for a block of an input that is binary. */
static inline int cf_lines_next_block(struct cf_lines *l, const char **block)
{
    if (l->at == l->end && !cf_lines_fill(l))
        return 0;
    *block = l->at;
    l->at += l->block;
    l->number++;
    return 1;
}

/* Hex digits, at most 16 of them, without a 0x: returns where they end, or NULL if there are none
   or too many. A line's newline stops it. */
extern const uint8_t cf_lines_digit[256]; /* 1 + value of a hex digit, else 0 */
static inline const char *cf_lines_hex(const char *p, uint64_t *value)
{
    const char *start = p;
    uint64_t v = 0;
    uint8_t d;

    for (; (d = cf_lines_digit[(uint8_t)*p]) != 0; p++)
        v = v << 4 | (uint8_t)(d - 1);
    *value = v;
    return p == start || p - start > 16 ? NULL : p;
}

/* Counts the current line as bad; the first `reported` ones get a message: "name: file:line: what",
   or with a column other than 0 "name: file:line:column: what". */
void cf_lines_bad(struct cf_lines *l, unsigned column, const char *format, ...) CF_PRINTF(3, 4);

/* Warns how many lines were bad and frees; CF_EXIT_INPUT if there were any, or an input could not
   be read or was cut off, else CF_EXIT_OK. */
int cf_lines_finish(struct cf_lines *l);

/* Why an input has nothing: `why`, unless a signal has ended it. */
const char *cf_lines_none(const char *why);

/* The last of a program: where `none` says why there are no records, warns, has the stream say that
   it is not whole and keeps the output from its name; closes the output; when a signal ended the
   input, dies by it. Returns the exit status, `bad` being that of the inputs. */
int cf_lines_close(struct cf_tool *t, struct cf_writer *w, int bad, const char *none);

#endif
