/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_tool.h - what every program of the suite does alike: messages, options, opening and closing.
 * A filter's main() is: parse options, open, loop over frames, finish.
 */
#ifndef CF_TOOL_H
#define CF_TOOL_H

#include <stdio.h>

#include "formats/stream/cf.h"

enum { CF_EXIT_OK = 0, CF_EXIT_INPUT = 1, CF_EXIT_USAGE = 2, CF_EXIT_ENVIRONMENT = 3 };

/* What is printed: see cf_tool_term(). */
enum { CF_OPT_CSV = 1002, CF_OPT_TERM, CF_OPT_JSON };

struct cf_machine;

struct cf_tool {
    const char *name;  /* of the program, in messages */
    const char *usage; /* text of --help, fits a screen */
    char *line; /* the command line, quoted for a shell: the chain's entry; freed at finish */
    void (*child_action)(int); /* what SIGCHLD did before, for programs that we start */
    int quiet;
    int status;           /* the worst so far of what was wrong, for cf_tool_finish() */
    int refused;          /* the environment refused what the result needs */
    int form;             /* of what is printed: 0, or such an option */
    int stdin_taken;      /* a reader reads it */
    int pipe;             /* as standard output: that nobody reads it is not reported; or 0 */
    int unread;           /* nobody did */
    uint64_t max_strings; /* bytes, see cf_reader_max_strings(); 0: not stated */
    const char *columns;  /* of --columns, or NULL */
};

/* Prepares `t`: name, usage, command line. Call first in main(). */
void cf_tool_init(struct cf_tool *t, int argc, char **argv, const char *name, const char *usage);

/* A command line, quoted for a shell; the caller frees. NULL without memory. */
char *cf_tool_quoted(int argc, char **argv, const char *name);

/* Takes an option with an argument, such as "-j" and "--jobs", out of the line of the chain: one
   that makes no difference to the output. Before the output is opened. */
void cf_tool_unsaid(struct cf_tool *t, const char *letter, const char *name);

/* Acts on a common option: --help and --version print and exit 0, -q, --max-strings, --csv,
   --term and --json are noted; anything else (a bad option, which getopt has reported) exits with
   CF_EXIT_USAGE after pointing to --help. */
void cf_common_option(struct cf_tool *t, int option);

/* "name: message\n" on standard error, made safe by cf_text_safe(). */
void cf_warn(const struct cf_tool *t, const char *format, ...) CF_PRINTF(2, 3);

/* Warns and exits with `status`. */
void cf_die(const struct cf_tool *t, int status, const char *format, ...) CF_PRINTF(3, 4)
    __attribute__((noreturn));

/* Warns, and notes the status. */
void cf_fail(struct cf_tool *t, int status, const char *format, ...) CF_PRINTF(3, 4);
/* Notes an exit status: the worst one is the program's. */
void cf_tool_note(struct cf_tool *t, int status);

/* Exits with CF_EXIT_ENVIRONMENT: "out of memory". */
void cf_out_of_memory(const struct cf_tool *t) __attribute__((noreturn));

/* What an allocation returned; where that is NULL, the program ends as above. */
void *cf_need(const struct cf_tool *t, void *memory);
/* The result of what fails only without memory; where it is not 0, the program ends as above. */
void cf_must(const struct cf_tool *t, int result);
/* Zeroed room for `count` elements of `width` bytes, which last as long as the program; exits as
   above. */
void *cf_tool_room(const struct cf_tool *t, size_t count, size_t width) CF_MUST_CHECK;
/* The same for a text as by printf(). */
char *cf_tool_text(const struct cf_tool *t, const char *format, ...) CF_PRINTF(2, 3) CF_MUST_CHECK;
/* Adds the command of a further stream to those that were observed, `*line`, which is NULL at
   first; one that stands there already is not added, nor are those behind the first 4,096 bytes. */
void cf_tool_command(const struct cf_tool *t, char **line, const char *command);
/* The same for a column of the longest frame that a reader hands out. */
void *cf_column_room(const struct cf_tool *t, size_t width) CF_MUST_CHECK;

/* Opens the inputs; exits with CF_EXIT_ENVIRONMENT without memory, and with CF_EXIT_USAGE when
   standard input is asked for and is a terminal, or another reader took it. */
struct cf_reader *cf_tool_reader(struct cf_tool *t, char *const *files, int count);

/* The name of an input that can be opened any number of times: `file` ("-": standard input), or
   where that is a pipe a copy in memory. Exits with CF_EXIT_ENVIRONMENT where that is of more than
   `most` bytes: "FILE: longer than MOST bytes: REASON: ...". */
char *cf_tool_again(const struct cf_tool *t, char *file, uint64_t most, const char *reason);

/* The description of a machine by its name or file, see cf_machine_load(); exits where there is
   none, with CF_EXIT_USAGE where `name` is NULL since option -m was not given. */
struct cf_machine *cf_tool_machine(const struct cf_tool *t, const char *name) CF_MUST_CHECK;

/* Takes what options --latency WHAT=CYCLES state (cf_machine_set_latency()). Returns the latencies
   of all levels, for the fact `latency` of cost; "" for none. */
const char *cf_tool_latencies(const struct cf_tool *t, struct cf_machine *m,
                              const char *const *stated, unsigned count);
/* Warns where cycles are estimates or another machine's, unless -q is given: once it is known that
   the input is of the right kind. `name`: of option -m; `count`: of options --latency. */
void cf_tool_estimated(const struct cf_tool *t, const struct cf_machine *m, const char *name,
                       unsigned count);

/* Warns, unless -q is given, of what a model of its caches leaves out: a hashed index. Once for all
   calls with the same `said`, 0 at first: at the first accesses, where it is known that the input
   is of the right kind, or at the end. */
void cf_tool_modelled(const struct cf_tool *t, const struct cf_machine *m, int *said);

/* The cores of a model of the machine: `stated` by --cores, or with 0 its CPUs, at most
   CF_MAX_CORES. */
unsigned cf_tool_cores(const struct cf_machine *m, unsigned stated);

/* cf_reader_part(); where that can't be had, says what `option` needs and exits. */
void cf_tool_part(const struct cf_tool *t, struct cf_reader *r, const char *option, uint32_t number,
                  uint32_t parts);

/* Exits with CF_EXIT_USAGE where standard output is a terminal; `instead`: what to do. */
void cf_tool_no_terminal(const struct cf_tool *t, const char *instead);

/* Opens the output: path NULL is standard output, which must not be a terminal (CF_EXIT_USAGE). */
struct cf_writer *cf_tool_writer(struct cf_tool *t, const char *path);

/* Where --columns is given: has accesses handed on with the columns that it lists and with `added`,
   which ends with a 0 (cf_writer_only()), and returns the listed ones, which end with a 0, too;
   else NULL. Exits with CF_EXIT_USAGE where a column is none of accesses, or no stream is written:
   `w` is then NULL. */
const unsigned *cf_tool_only(const struct cf_tool *t, struct cf_writer *w, const unsigned *added);

/* The same for captures: see cf_writer_recording(). */
struct cf_writer *cf_tool_recording(struct cf_tool *t, const char *path);

/* Hands on what `w` has whenever `r` waits for more; `w` may be NULL. */
void cf_tool_idle(struct cf_reader *r, struct cf_writer *w);

/* cf_frame_set(); exits with CF_EXIT_INPUT where the frame has no room for one more column. */
void cf_tool_set(const struct cf_tool *t, struct cf_frame *f, unsigned column, const void *values);

/* Shows progress, and when it will be done, on standard error when it is a terminal, -q is not
   given and the work takes more than a second. Call once a frame; cheap. */
void cf_tool_progress(struct cf_tool *t, const struct cf_reader *r);
/* cf_reader_next(), and progress; notes it where the environment refuses to read on. */
int cf_tool_next(struct cf_tool *t, struct cf_reader *r, struct cf_frame **f);

/* The same for work of which nobody knows the end: whether it is time for a line, and the line. */
int cf_tool_due(const struct cf_tool *t);
void cf_tool_show(const struct cf_tool *t, const char *format, ...) CF_PRINTF(2, 3);

/* Of how many there are, in what is printed then. */
#define CF_PLACES_DAMAGED "places of the input are damaged"

/* Prints what went wrong with an input and returns the exit status for it: damage gives
   CF_EXIT_INPUT, an environment that refused CF_EXIT_ENVIRONMENT. */
int cf_tool_problems(const struct cf_tool *t, const struct cf_reader *r) CF_MUST_CHECK;

/* For programs that print: once all is read and before anything is printed. Where the input was of
   the wrong kind (see cf_reader_lacks()), says so and exits with CF_EXIT_INPUT. */
void cf_tool_fit(struct cf_tool *t, struct cf_reader *r);
/* What it says of an input without records of a table, and the exit status; CF_EXIT_OK with 0. */
int cf_tool_lacks(const struct cf_tool *t, const char *input, unsigned table) CF_MUST_CHECK;

/* Closes what is given (either may be NULL), and standard output if there is no writer; prints the
   problems; returns the exit status, the worst of these and of what was noted before. A damaged
   input gives CF_EXIT_INPUT, and the end frame is still written since the damage was reported, and
   so does an output that was cut off. An input that the environment refused, and failed output,
   give CF_EXIT_ENVIRONMENT; the first, or a note of it, leaves out the end frame, and a file
   without its name. Output that failed since nobody reads t->pipe any more sets t->unread alone. */
int cf_tool_finish(struct cf_tool *t, struct cf_reader *r, struct cf_writer *w);

/* Whether what goes to standard output is for people, a table or a drawing, and not CSV or JSON: as
   --csv, --term and --json say, the last of them, else where it is a terminal. See cf_rows.h. */
int cf_tool_term(const struct cf_tool *t);

/* Columns of the terminal that standard output is, or as COLUMNS says; 0: neither. */
unsigned cf_tool_columns(void);

/* Exits with CF_EXIT_USAGE where a file that is written is one that is read, and would replace it.
   `output` may be NULL, both "-". cf_options_read() looks at the arguments behind options. */
void cf_tool_apart(const struct cf_tool *t, const char *output, const char *input);

/* Has `write` write a file beside `path`, which takes its name when it is whole; "-" is standard
   output, and a device or pipe is written as it is. `write` returns 0, or -1 when that failed.
   Exits with CF_EXIT_ENVIRONMENT and without the file when anything fails; where that was noted
   before, writes none. */
void cf_tool_file(const struct cf_tool *t, const char *path,
                  int (*write)(const void *what, FILE *out), const void *what);

/* Parse helpers: exit with CF_EXIT_USAGE and the option's name in the message when `text` is no
   such number, in the form CF_READ_SIZE of cf_number.h. */
uint64_t cf_parse_u64(const struct cf_tool *t, const char *option, const char *text, uint64_t least,
                      uint64_t most);
uint64_t cf_parse_size(const struct cf_tool *t, const char *option, const char *text);
/* A power of two from `least` to `most`. */
uint64_t cf_parse_power(const struct cf_tool *t, const char *option, const char *text,
                        uint64_t least, uint64_t most);
/* Ends the program where there is no such directory. */
void cf_parse_directory(const struct cf_tool *t, const char *option, const char *path);
/* A number with a fraction, from `least` to `most`, which themselves are left out by the bits
   CF_ABOVE and CF_BELOW of `ends`. */
enum cf_ends { CF_FROM_TO = 0, CF_ABOVE = 1, CF_BELOW = 2 };
double cf_parse_f64(const struct cf_tool *t, const char *option, const char *text, double least,
                    double most, unsigned ends);
/* Numbers with commas between, each from `least` to `most`, into value[0 .. room); returns how many
   there are, at least 1. */
uint32_t cf_parse_list(const struct cf_tool *t, const char *option, const char *text,
                       uint64_t least, uint64_t most, uint32_t room, uint64_t *value);
/* The same into memory that lasts as long as the program, each number once, in rising order. `list`
   is a struct cf_list, and may have numbers already, which go: for CF_CALL() of cf_options.h. */
struct cf_list {
    uint64_t least, most;
    uint32_t room, count;
    uint64_t *value;
};
void cf_parse_rising(const struct cf_tool *t, void *list, const char *option, char *text);
/* Puts numbers into rising order, each once; returns how many are left. */
uint32_t cf_list_rising(uint64_t *value, uint32_t count);
/* Whether a number is one of such. */
int cf_list_has(const uint64_t *value, uint32_t count, uint64_t wanted);
/* The place of `text` among words that have a blank between, from 0; the message
   lists the words. */
unsigned cf_parse_word(const struct cf_tool *t, const char *option, const char *text,
                       const char *words);
/* The same for `count` elements of a table, `width` bytes each, that begin with a pointer to their
   word. */
unsigned cf_parse_name(const struct cf_tool *t, const char *option, const char *text,
                       const void *table, size_t width, unsigned count);
/* An operation of an access, CF_LOAD to CF_FLUSH, by its name. */
unsigned cf_parse_op(const struct cf_tool *t, const char *option, const char *text);
/* Sets op[o] to 1 for each such operation of a list with commas, which is taken to pieces. */
void cf_parse_ops(const struct cf_tool *t, const char *option, char *list, uint8_t *op);
/* A class of misses by its name; `none` says whether that is one, too. */
unsigned cf_parse_class(const struct cf_tool *t, const char *option, const char *text, int none);
/* "A-B", "A-", "-B", "A+LENGTH" or "A" into [*from, *to], both included. */
void cf_parse_range(const struct cf_tool *t, const char *option, const char *text, uint64_t *from,
                    uint64_t *to);

/* "I/N": the I-th of N parts, for CF_CALL(): `part` is a struct cf_part_option. */
struct cf_part_option {
    uint32_t number, parts;
};
void cf_parse_part(const struct cf_tool *t, void *part, const char *option, char *text);

/* A span of time as an option gives it: in ticks of the clock, as by cf_parse_range(), or as
   "10%-20%", "10%-" or "-20%" of the recording's time, of which the ends are not known before its
   index is read. */
struct cf_span {
    uint64_t from, to; /* both included */
    double part_from, part_to;
    int parts; /* the parts, from 0 to 1, are what was given */
};
void cf_parse_span(const struct cf_tool *t, const char *option, const char *text,
                   struct cf_span *span);
/* Turns parts into ticks: those from a share of the time on and before the other, so that spans
   that meet have no tick in common. Exits where the inputs have no index, as pipes have none, or
   are parts of a recording. */
void cf_tool_span(const struct cf_tool *t, const struct cf_reader *r, const char *option,
                  struct cf_span *span);

/* One CSV field with the quotes that RFC 4180 wants (by libcsv), and the separator before it unless
   it is the first. Rows end with cf_csv_end(). What is no finite number is an empty field; names
   of columns that need no quotes may be printed as they are. The bytes stay as they are, but to
   a terminal the text is made safe by cf_text_safe(). */
void cf_csv_text(FILE *out, int first, const char *text);
void cf_csv_u64(FILE *out, int first, uint64_t value);
void cf_csv_hex(FILE *out, int first, uint64_t value);
void cf_csv_f64(FILE *out, int first, double value, int digits);
void cf_csv_end(FILE *out);
/* A further name of a column: "NAME_UNIT", or "NAME" where the unit is "". One that comes from a
   damaged or foreign header stays one word. */
void cf_csv_unit(FILE *out, const char *name, const char *unit);

/* A row, or part of one, as by printf(), with the commas and the end that stand in the format: %s
   is a field as by cf_csv_text(), %f one as by cf_csv_f64(), %u (also with l, ll and z) a number.
   It knows no other conversion, and no width. For many rows the functions above are faster. */
void cf_csv_print(FILE *out, const char *format, ...) CF_PRINTF(2, 3);

#endif
