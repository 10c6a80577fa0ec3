/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scan.h - entries of instruction and bus trace buffers out of text.
 *
 * Three forms, distinguished line by line: what monitors show on the screen, whose columns a header
 * line names; lists of the monitor's Tcl commands, whose entries begin with INST or AHB; and the
 * raw words of the debug support unit's trace memory.
 */
#ifndef LEON4_SCAN_H
#define LEON4_SCAN_H

#include "capture/base/cf_lines.h"
#include "capture/leon4/sparc.h"

enum {
    CF_SCAN_FIELDS = 24,     /* columns in a layout */
    CF_SCAN_SITES = 1 << 15, /* instructions whose decoding is kept */
    CF_SCAN_TEXT = 72,       /* bytes of their text */
    CF_SCAN_CPUS = 16,
    CF_SCAN_KINDS = 1 << 20, /* sites that get a number of their own */
};

enum cf_scan_field {
    CF_FIELD_SKIP,
    CF_FIELD_TIME,
    CF_FIELD_TAG, /* time in hex, with the mark of a continued entry in bit 30 */
    CF_FIELD_CPU,
    CF_FIELD_ADDRESS,
    CF_FIELD_OPCODE,
    CF_FIELD_INSTRUCTION,
    CF_FIELD_RESULT,
    CF_FIELD_SYMBOL,
    CF_FIELD_MULTI,
    CF_FIELD_TRAP,
    CF_FIELD_ERROR,
    CF_FIELD_MARK,
    CF_FIELD_LETTER, /* one that may be missing */
    CF_FIELD_TYPE,
    CF_FIELD_DATA,
    CF_FIELD_TRANS,
    CF_FIELD_SIZE,
    CF_FIELD_BURST,
    CF_FIELD_MASTER,
    CF_FIELD_LOCK,
    CF_FIELD_RESP,
    CF_FIELD_COUNT,
};

struct cf_scan_layout {
    uint8_t field[CF_SCAN_FIELDS]; /* enum cf_scan_field */
    unsigned fields;
};

/* An instruction of the program, decoded once. */
struct cf_scan_site {
    uint32_t pc, word;
    uint32_t number; /* from 1, unlike any other site's; 0 = none left */
    struct cf_sparc_insn insn;
    uint8_t state;  /* 0 empty, 1 `word` counts, 2 `text` counts */
    uint8_t length; /* of the text up to the bracket of the result or the end of the line */
    char text[CF_SCAN_TEXT];
};

/* An entry of a trace buffer. */
struct cf_scan_row {
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
    struct cf_sparc_insn insn;
};

struct cf_scan_options {
    unsigned cpu;              /* of entries that do not state it */
    int raw;                   /* the text is words of the trace memory: 1 instructions, 2 bus */
    unsigned wide;             /* its bus entries take 32 bytes */
    int hex;                   /* numbers of Tcl lists are hex */
    int given_inst, given_bus; /* the layouts below are the user's */
    struct cf_scan_layout inst, bus; /* of Tcl lists, or the user's for all */
};

struct cf_scan {
    struct cf_lines lines;
    struct cf_scan_options o;
    struct cf_scan_layout layout; /* of the header at hand */
    int layout_bus;               /* it describes transfers */
    int has_results;              /* it has a column for them */
    int generic;                  /* it is not: time, address, instruction, result */
    int input;                    /* whose header it is */
    int half;                     /* the second half of a raw bus entry follows */
    const char *rest, *end;       /* of a line that holds a list */
    uint64_t entries;
    uint32_t numbers; /* of sites so far */
    struct cf_scan_site *sites;
    struct cf_scan_site once; /* for text that is too long to be kept */
};

/* Opens the inputs. Exits with CF_EXIT_ENVIRONMENT without memory. */
void cf_scan_open(struct cf_scan *s, struct cf_tool *t, const struct cf_scan_options *o,
                  char *const *files, int count);

/* The next entry: 1, or 0 at the end. Bad lines are reported and counted by cf_lines_bad(). */
int cf_scan_next(struct cf_scan *s, struct cf_scan_row *row);

/* CF_EXIT_OK or CF_EXIT_INPUT. */
int cf_scan_close(struct cf_scan *s);

/* Takes a list of field names, separated by commas: 0, or -1 with the bad name in *name. */
int cf_scan_fields(const char *text, struct cf_scan_layout *l, const char **name);

/* ---- between the parts of the scanner ---- */

/* The site of an instruction, by its word or by its text (`text`, to compare, and its part that is
   the instruction). */
const struct cf_scan_site *cf_scan_by_word(struct cf_scan *s, uint32_t pc, uint32_t word);
const struct cf_scan_site *cf_scan_by_text(struct cf_scan *s, uint32_t pc, const char *text,
                                           size_t length, const char *insn, size_t insn_length);

/* scan_screen.c: a line with columns; 1 an entry, 0 nothing to see (a header, an empty line), -1
   bad, which was reported. */
int cf_scan_screen(struct cf_scan *s, const char *line, size_t length, struct cf_scan_row *row);

/* scan_list.c: the next entry of the list in s->rest; the same, and 0 at its end. */
int cf_scan_list(struct cf_scan *s, struct cf_scan_row *row);

/* scan_raw.c */
int cf_scan_raw(struct cf_scan *s, const char *line, size_t length, struct cf_scan_row *row);

int cf_scan_block(struct cf_scan *s, const char *block, struct cf_scan_row *row);

/* scan_header.c: whether the line is a header; if so it is taken in. */
int cf_scan_header(struct cf_scan *s, const char *line, size_t length);

/* A value of one field, as text; 0 when it is none. `numbers` is its base without 0x. */
int cf_scan_value(struct cf_scan *s, enum cf_scan_field field, const char *text, size_t length,
                  int base, struct cf_scan_row *row);

/* The value of a hex digit, -1 where it is none. */
extern const int8_t cf_scan_digit[256];

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
#define CF_SCAN_BYTES(byte) (0x0101010101010101u * (byte))

/* Eight hex digits: 1, or 0 when they are none. Reads eight bytes. Letters are those with bit 6;
   a digit is one that comes out again when its value is written. */
static inline int scan_hex8(const char *p, uint32_t *value)
{
    const uint64_t c = scan_eight(p), letter = c & CF_SCAN_BYTES(0x40);
    const uint64_t v = (c & CF_SCAN_BYTES(15)) + (letter >> 6) * 9;
    const uint64_t tens = (v + CF_SCAN_BYTES(6)) >> 4 & CF_SCAN_BYTES(1);
    const uint64_t again = v + CF_SCAN_BYTES('0') + tens * ('a' - '0' - 10);
    uint64_t n = (v << 4 | v >> 8) & 0x00ff00ff00ff00ffu;

    n = (n << 8 | n >> 16) & 0x0000ffff0000ffffu;
    *value = (uint32_t)(n << 16 | n >> 32);
    return !((v & CF_SCAN_BYTES(0xf0)) | (again ^ (c | letter >> 1)));
}

/* Eight decimal digits: 1, or 0 when they are none. Reads eight bytes. Pairs of digits, then of
   numbers of two and of four digits, are put together in all lanes at once. */
static inline int scan_decimal8(const char *p, uint64_t *value)
{
    const uint64_t c = scan_eight(p), digit = c - CF_SCAN_BYTES('0');
    uint64_t v = digit * 10 + (digit >> 8);

    if ((digit | (c + CF_SCAN_BYTES(0x7f - '9'))) & CF_SCAN_BYTES(0x80))
        return 0;
    v = (v & 0x00ff00ff00ff00ffu) * 100 + (v >> 16 & 0x00ff00ff00ff00ffu);
    v = (v & 0x0000ffff0000ffffu) * 10000 + (v >> 32 & 0xffff);
    *value = (uint32_t)v;
    return 1;
}

#endif
