/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * import.h - profiles of the published BBProf tool as rows of table page.
 *
 * binary.c reads the file that the tool keeps, text.c what it prints; both collect the pages of a
 * profile. profile.c checks these, names their mappings and makes rows of them.
 */
#ifndef CF_BBPROF_IMPORT_H
#define CF_BBPROF_IMPORT_H

#include "capture/base/cf_lines.h"
#include "formats/base/cf_memory.h"

enum {
    BBPROF_MAPPINGS_MOST = 1024,        /* as the tool has it */
    BBPROF_SAMPLES_MOST = 10000,        /* rows of a page */
    BBPROF_BYTES_MOST = 256 * (1 << 20) /* of a binary profile: 32 GB of pages */
};

enum bbprof_mode { BBPROF_UNSTATED, BBPROF_CACHED, BBPROF_UNCACHED };

/* A page as the profile has it. */
struct bbprof_page {
    uint32_t mapping; /* its place in the list of mappings of the process */
    uint32_t page;    /* from the start of the mapping */
    uint64_t place;   /* line or byte, for messages */
    uint64_t least, most;
    double mean; /* ticks */
};

/* What is known of a mapping beside the profile. */
struct bbprof_mapping {
    uint32_t index, pages; /* pages 0: not known */
    char *name;            /* or NULL */
    int by_option;         /* the name */
    int profiled;
};

struct bbprof {
    struct cf_tool *tool;
    unsigned mode; /* enum bbprof_mode as an option states it */

    struct cf_writer *out;
    struct cf_lines lines;
    const char *name; /* of the current input */
    int binary;       /* it is a binary profile */
    uint64_t bad;     /* of the current input */
    int status;
    struct cf_bytes bytes; /* of a binary input */
    uint64_t rows;

    struct bbprof_mapping *mapping;
    size_t mappings, mapping_room;
    struct bbprof_page *page; /* of the current profile */
    size_t pages, page_room;
    uint32_t samples;

    /* of text */
    enum bbprof_part { BBPROF_OUTSIDE, BBPROF_PROFILE, BBPROF_RANKED } part;
    int64_t current;      /* the mapping of the lines that follow, -1 none */
    uint32_t next, parts; /* mappings of this profile so far, and how many it says it has */
    uint64_t runs, last;  /* of a ranking: how many there were, and the last one's number */
    uint64_t profiled;    /* pages of the last profile of this input */
    unsigned found;       /* enum bbprof_mode: what the order of its pages says */

    /* for remarks at the end */
    uint64_t has_none, has_all;  /* runs */
    uint64_t uncached, migrated; /* runs left out */
    unsigned used;               /* enum bbprof_mode of the last profile */
    int assumed;                 /* that mode was stated nowhere */
};

/* "NAME:LINE: what" or "NAME: byte N: what" of the first of an input, and counts. */
void bbprof_bad(struct bbprof *m, uint64_t place, const char *format, ...) CF_PRINTF(3, 4);
/* Where the input was cut off, which the stream says, too. */
#define bbprof_cut(m, ...) (cf_tool_note((m)->tool, CF_EXIT_INPUT), bbprof_bad(m, __VA_ARGS__))

/* binary.c: the whole input is in m->bytes. */
void bbprof_binary(struct bbprof *m);

/* text.c: one line, and the end of the input; `cut`: that its last line was cut is reported. */
void bbprof_line(struct bbprof *m, const char *line, size_t length);
void bbprof_text_end(struct bbprof *m, int cut);

/* profile.c: the mapping with this place in the list, added where it is new. */
struct bbprof_mapping *bbprof_mapping(struct bbprof *m, uint32_t index);
/* The same, or NULL. */
struct bbprof_mapping *bbprof_find(struct bbprof *m, uint32_t index);
/* A new list of mappings begins: what an earlier one said is forgotten, but for options. */
void bbprof_forget(struct bbprof *m);
void bbprof_add(struct bbprof *m, const struct bbprof_page *page);
/* The mode of the last profile of the input, as stated, found or assumed. */
unsigned bbprof_mode(struct bbprof *m);
/* The profile has ended: its rows. `cut`: that pages are missing is reported. */
void bbprof_profile(struct bbprof *m, int cut);
/* One run with none, all or the best k pages cached; misses < 0: not counted. */
void bbprof_run(struct bbprof *m, unsigned policy, uint32_t k, uint32_t sample, uint64_t ticks,
                int64_t misses);

#endif
