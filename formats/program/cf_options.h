/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_options.h - the options of a program as one table: how each is called, what it takes, and
 * where that goes.
 *
 *     const struct cf_option table[] = {
 *         {"sets", 0, CF_NUMBER(&o->sets, 1, UINT32_MAX)},
 *         {"line-size", 0, CF_POWER(&o->line_size, 4, 65536)},
 *         {"output", 'o', CF_TEXT(&o->output)},
 *         CF_END_INPUT_OPTIONS,
 *     };
 *
 *     cf_options_read(t, argc, argv, table);
 *
 * The options that all programs share come by the end of the table.
 */
#ifndef CF_OPTIONS_H
#define CF_OPTIONS_H

#include <getopt.h> /* optind */

#include "formats/program/cf_tool.h"

enum cf_takes {
    CF_TAKES_END,
    CF_TAKES_INPUT_END,
    CF_TAKES_COMMAND_END,
    CF_TAKES_OLD,
    CF_TAKES_FORM,
    CF_TAKES_FLAG,
    CF_TAKES_TEXT,
    CF_TAKES_TEXTS,
    CF_TAKES_U8,
    CF_TAKES_U32,
    CF_TAKES_U64,
    CF_TAKES_F64,
    CF_TAKES_SIZE,
    CF_TAKES_POWER,
    CF_TAKES_RANGE,
    CF_TAKES_WORD,
    CF_TAKES_OPS,
    CF_TAKES_READY,
    CF_TAKES_CALL,
};

/* What a text names that the program reads, and must not write: a file; a machine, which is one
   where cf_machine_is_file() says so. */
enum cf_reads { CF_READS_NONE, CF_READS_FILE, CF_READS_MACHINE };

struct cf_option {
    const char *name; /* without the dashes */
    char letter;      /* short name, 0 for none */
    enum cf_takes takes;
    void *to, *second;
    uint64_t least, most;
    unsigned ends; /* enum cf_ends */
    const char *words;
    void (*call)(const struct cf_tool *t, void *to, const char *option, char *text);
    int *given;  /* set to 1 where the option is given, or NULL */
    int written; /* the text names a file that the program writes */
    enum cf_reads reads;
    int may_lack; /* --name or --name=TEXT: the text is NULL where there is none */
};

/* What goes to a variable, whose type is checked: 1; the text; one more text, of at most `room`; a
   number (of 8, 32 or 64 bits, or with a fraction: see cf_parse_f64()); bytes; a power of two; the
   ends of a range; `first` and the place of the word in the list; 1 for each operation. */
#ifdef __cppcheck__ /* does not know _Generic */
#define CF_POINTER(p, type) (p)
#define CF_WIDTH_OF(p)      CF_TAKES_U64
#else
/* clang-format off */
#define CF_POINTER(p, type) _Generic((p), type *: (p))
#define CF_WIDTH_OF(p)                                                                             \
    _Generic((p), uint8_t *: CF_TAKES_U8, uint32_t *: CF_TAKES_U32, uint64_t *: CF_TAKES_U64)
/* clang-format on */
#endif
#define CF_FLAG(p) .takes = CF_TAKES_FLAG, .to = CF_POINTER(p, int)
#define CF_TEXT(p) .takes = CF_TAKES_TEXT, .to = CF_POINTER(p, const char *)
/* Of a file that is written: cf_options_read() refuses two of one name, or of that which a
   recording has at first, and one that is read. */
#define CF_FILE(p) .takes = CF_TAKES_TEXT, .to = CF_POINTER(p, const char *), .written = 1
#define CF_TEXTS(array, count, room)                                                               \
    .takes = CF_TAKES_TEXTS, .to = CF_POINTER(array, const char *),                                \
    .second = CF_POINTER(count, unsigned), .most = (room)
#define CF_NUMBER(p, from, up_to)                                                                  \
    .takes = CF_WIDTH_OF(p), .to = (p), .least = (from), .most = (up_to)
#define CF_FRACTION(p, from, up_to, which)                                                         \
    .takes = CF_TAKES_F64, .to = CF_POINTER(p, double), .least = (from), .most = (up_to),          \
    .ends = (which)
#define CF_SIZE_OF(p) .takes = CF_TAKES_SIZE, .to = CF_POINTER(p, uint64_t)
#define CF_POWER(p, from, up_to)                                                                   \
    .takes = CF_TAKES_POWER, .to = CF_POINTER(p, uint64_t), .least = (from), .most = (up_to)
#define CF_RANGE(a, b)                                                                             \
    .takes = CF_TAKES_RANGE, .to = CF_POINTER(a, uint64_t), .second = CF_POINTER(b, uint64_t)
#define CF_WORD(p, list, first)                                                                    \
    .takes = CF_TAKES_WORD, .to = CF_POINTER(p, unsigned), .words = (list), .least = (first)
#define CF_OPS(p) .takes = CF_TAKES_OPS, .to = CF_POINTER(p, uint8_t)
/* Takes nothing; prints the text, and the program ends well: --probe of what is always ready. */
#define CF_READY(text) .takes = CF_TAKES_READY, .words = (text)
/* Anything else: function(t, arg, "--name", text). */
#define CF_CALL(function, arg) .takes = CF_TAKES_CALL, .call = (function), .to = (arg)
/* An earlier name of another option of the table: taken with a warning, once each time. */
#define CF_OLD(now) .takes = CF_TAKES_OLD, .words = (now)

/* --columns of programs that hand accesses on: see cf_tool_only(). */
#define CF_COLUMNS_OPTION(t)                                                                       \
    {                                                                                              \
        "columns", 0, CF_TEXT(&(t)->columns)                                                       \
    }

/* --csv, --term and --json: see cf_rows.h. */
#define CF_FORM_OPTIONS                                                                            \
    {"csv", .takes = CF_TAKES_FORM, .least = CF_OPT_CSV},                                          \
        {"term", .takes = CF_TAKES_FORM, .least = CF_OPT_TERM},                                    \
    {                                                                                              \
        "json", .takes = CF_TAKES_FORM, .least = CF_OPT_JSON                                       \
    }

/* The last of the table, with what all programs have, what all have that read streams, and where
   the first argument that is no option ends them, since it is a command with options of its own. */
#define CF_END_OPTIONS                                                                             \
    {                                                                                              \
        .takes = CF_TAKES_END                                                                      \
    }
#define CF_END_INPUT_OPTIONS                                                                       \
    {                                                                                              \
        .takes = CF_TAKES_INPUT_END                                                                \
    }

#define CF_END_COMMAND_OPTIONS                                                                     \
    {                                                                                              \
        .takes = CF_TAKES_COMMAND_END                                                              \
    }

/* Acts on all options of the command line in their order; optind is then the first argument that is
   none. Exits with CF_EXIT_USAGE and a message where one is unknown or its value bad, where two
   name the same file to be written, or one names a file that another reads, or that is among the
   arguments behind. */
void cf_options_read(struct cf_tool *t, int argc, char **argv, const struct cf_option *table);

#endif
