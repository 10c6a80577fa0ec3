/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scan.h - entries of instruction and bus trace buffers out of text.
 *
 * Three forms, told apart line by line: what monitors show on the screen, whose columns a header
 * line names; lists of the monitor's Tcl commands, whose entries begin with INST or AHB; and the
 * raw words of the debug support unit's trace memory.
 */
#ifndef LEON4_SCAN_H
#define LEON4_SCAN_H

#include "capture/cf_lines.h"
#include "capture/leon4/sparc.h"

enum {
    SCAN_FIELDS = 24,     /* columns in a layout */
    SCAN_SITES = 1 << 15, /* instructions whose decoding is kept */
    SCAN_TEXT = 72,       /* bytes of their text */
    SCAN_CPUS = 16,
    SCAN_KINDS = 1 << 20, /* sites that get a number of their own */
};

enum scan_field {
    FIELD_SKIP,
    FIELD_TIME,
    FIELD_TAG, /* time in hex, with the mark of a continued entry in bit 30 */
    FIELD_CPU,
    FIELD_ADDRESS,
    FIELD_OPCODE,
    FIELD_INSTRUCTION,
    FIELD_RESULT,
    FIELD_SYMBOL,
    FIELD_MULTI,
    FIELD_TRAP,
    FIELD_ERROR,
    FIELD_MARK,
    FIELD_LETTER, /* one that may be missing */
    FIELD_TYPE,
    FIELD_DATA,
    FIELD_TRANS,
    FIELD_SIZE,
    FIELD_BURST,
    FIELD_MASTER,
    FIELD_LOCK,
    FIELD_RESP,
    FIELD_COUNT,
};

struct scan_layout {
    uint8_t field[SCAN_FIELDS]; /* enum scan_field */
    unsigned fields;
};

/* An instruction of the program, decoded once. */
struct scan_site {
    uint32_t pc, word;
    uint32_t number; /* from 1, unlike any other site's; 0 = none left */
    struct sparc_insn insn;
    uint8_t state;  /* 0 empty, 1 `word` counts, 2 `text` counts */
    uint8_t length; /* of the text up to the bracket of the result or the end of the line */
    char text[SCAN_TEXT];
};

/* An entry of a trace buffer. */
struct scan_row {
    uint8_t bus;                               /* a transfer, else an instruction */
    uint8_t more;                              /* continues the instruction before */
    uint8_t stated;                            /* the form says so, or that it does not */
    uint8_t trapped, words;                    /* words: how many results */
    uint8_t write, size, trans, burst, master; /* of a transfer; size in bytes */
    uint32_t cpu;
    uint32_t address; /* of the instruction or transfer */
    uint64_t tag;     /* time as the entry has it */
    uint32_t word[4];
    uint32_t number; /* of the site */
    struct sparc_insn insn;
};

struct scan_options {
    unsigned cpu;                 /* of entries that do not tell it */
    int raw;                      /* the text is words of the trace memory: 1 instructions, 2 bus */
    int wide;                     /* its bus entries take 32 bytes */
    int hex;                      /* numbers of Tcl lists are hex */
    int given_inst, given_bus;    /* the layouts below are the user's */
    struct scan_layout inst, bus; /* of Tcl lists, or the user's for all */
};

struct scan {
    struct cf_lines lines;
    struct scan_options o;
    struct scan_layout layout; /* of the header at hand */
    int layout_bus;            /* it describes transfers */
    int has_results;           /* it has a column for them */
    int generic;               /* it is not: time, address, instruction, result */
    int input;                 /* whose header it is */
    int half;                  /* the second half of a raw bus entry follows */
    const char *rest, *end;    /* of a line that holds a list */
    uint64_t entries;
    uint32_t numbers; /* of sites so far */
    struct scan_site *sites;
    struct scan_site once; /* for text that is too long to be kept */
};

/* Opens the inputs. Exits with CF_EXIT_ENVIRONMENT without memory. */
void scan_open(struct scan *s, struct cf_tool *t, const struct scan_options *o, char *const *files,
               int count);

/* The next entry: 1, or 0 at the end. Bad lines are told and counted by cf_lines_bad(). */
int scan_next(struct scan *s, struct scan_row *row);

/* CF_EXIT_OK or CF_EXIT_INPUT. */
int scan_close(struct scan *s);

/* Takes a list of field names, separated by commas: 0, or -1 with the bad name in *name. */
int scan_fields(const char *text, struct scan_layout *l, const char **name);

/* ---- between the parts of the scanner ---- */

/* The site of an instruction, by its word or by its text (`text`, to compare, and its part that is
   the instruction). */
const struct scan_site *scan_by_word(struct scan *s, uint32_t pc, uint32_t word);
const struct scan_site *scan_by_text(struct scan *s, uint32_t pc, const char *text, size_t length,
                                     const char *insn, size_t insn_length);

/* scan_screen.c: a line with columns; 1 an entry, 0 nothing to see (a header, an empty line), -1
   bad, which was told. */
int scan_screen(struct scan *s, const char *line, size_t length, struct scan_row *row);

/* scan_list.c: the next entry of the list in s->rest; the same, and 0 at its end. */
int scan_list(struct scan *s, struct scan_row *row);

/* scan_raw.c */
int scan_raw(struct scan *s, const char *line, size_t length, struct scan_row *row);

int scan_block(struct scan *s, const char *block, struct scan_row *row);

/* scan_header.c: whether the line is a header; if so it is taken in. */
int scan_header(struct scan *s, const char *line, size_t length);

/* A value of one field, as text; 0 when it is none. `numbers` is its base without 0x. */
int scan_value(struct scan *s, enum scan_field field, const char *text, size_t length, int base,
               struct scan_row *row);

/* The value of a hex digit, -1 where it is none. */
extern const int8_t scan_digit[256];

/* Eight characters, the first in the lowest byte. Lines may be read so far behind their end. */
static inline uint64_t scan_eight(const char *p)
{
    uint64_t v;

    memcpy(&v, p, sizeof v);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    return v;
}

/* The same byte eight times. */
#define SCAN_BYTES(byte) (0x0101010101010101u * (byte))

/* Eight hex digits: 1, or 0 when they are none. Reads eight bytes. Letters are those with bit 6;
   a digit is one that comes out again when its value is written. */
static inline int scan_hex8(const char *p, uint32_t *value)
{
    const uint64_t c = scan_eight(p), letter = c & SCAN_BYTES(0x40);
    const uint64_t v = (c & SCAN_BYTES(15)) + (letter >> 6) * 9;
    const uint64_t tens = (v + SCAN_BYTES(6)) >> 4 & SCAN_BYTES(1);
    const uint64_t again = v + SCAN_BYTES('0') + tens * ('a' - '0' - 10);
    uint64_t n = (v << 4 | v >> 8) & 0x00ff00ff00ff00ffu;

    n = (n << 8 | n >> 16) & 0x0000ffff0000ffffu;
    *value = (uint32_t)(n << 16 | n >> 32);
    return !((v & SCAN_BYTES(0xf0)) | (again ^ (c | letter >> 1)));
}

/* Eight decimal digits: 1, or 0 when they are none. Reads eight bytes. Pairs of digits, then of
   numbers of two and of four digits, are put together in all lanes at once. */
static inline int scan_decimal8(const char *p, uint64_t *value)
{
    const uint64_t c = scan_eight(p), digit = c - SCAN_BYTES('0');
    uint64_t v = digit * 10 + (digit >> 8);

    if ((digit | (c + SCAN_BYTES(0x7f - '9'))) & SCAN_BYTES(0x80))
        return 0;
    v = (v & 0x00ff00ff00ff00ffu) * 100 + (v >> 16 & 0x00ff00ff00ff00ffu);
    v = (v & 0x0000ffff0000ffffu) * 10000 + (v >> 32 & 0xffff);
    *value = (uint32_t)v;
    return 1;
}

#endif
