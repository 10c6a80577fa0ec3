/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_reader.h - private to libcf: what the parts of the reader share.
 */
#ifndef CF_READER_H
#define CF_READER_H

#include <string.h>

#include "formats/base/cf_memory.h"
#include "cf_wire.h"

enum {
    READ_AHEAD = 1 << 12,    /* bytes asked for where a frame head is expected */
    PIPE_BYTES = 1 << 20,    /* of a pipe: larger ones are not faster */
    SEARCH_LIMIT = 1 << 22,  /* bytes searched for a frame in what never was a stream */
    AGAIN_LIMIT = 1 << 28,   /* bytes of damaged frames that are looked into in any case */
    TRAILERS_MOST = 1 << 16, /* of an input, that are read on the way to indexes */
    TABLES = 1 << 16,        /* that a frame can be of */
    DICT_SLACK = 1 << 16,    /* ids that may be skipped in a dictionary */
    IDLE_MS = 100,
    OVERDUE_MS = 1000,     /* for what a program holds back while input keeps coming */
    LOST_PROGRAMS = 16,    /* in the chain of a header that stands in for a lost one */
    MAX_STRINGS = 1 << 30, /* bytes for strings, where no others are stated */
    ID_SPACE = 1 << CF_CHAIN_SHIFT,
};

struct want {
    uint16_t table, column;
    uint8_t need;
};

/* The strings of one program in the chain. */
struct dict {
    uint32_t *number; /* in r->strings, by the low bits of the id; 0 = undefined */
    uint32_t defined;
    size_t room;
};

struct total {
    uint32_t table;
    uint64_t rows;
    uint64_t last; /* largest time in the frames that were read */
};

struct unopened {
    const char *name, *why;
};

struct named {
    uint32_t id;
    uint8_t type;
    const char *name; /* in r->strings */
};

struct cf_reader {
    char *const *files;
    int count, next_file;

    int fd;
    const char *name;
    int seekable, is_pipe, owned;
    uint64_t start; /* offset in the input where we began */
    uint64_t base;  /* offset in the input of buf[0] */
    uint64_t all, size;
    uint64_t damaged; /* bytes of damaged frames, of each that was looked into again */
    uint8_t *buf;
    size_t pos, end, cap;
    int eof;

    struct want *want;
    size_t wants, want_room;
    int want_all, unify, ranged, pieces, defer, stretches, partials, no_samples, no_parts;
    uint64_t from, to;
    uint64_t span_from, span_to; /* bytes of the file; to 0: all */
    void (*idle)(void *);
    void *idle_arg;
    int64_t idle_last; /* milliseconds of a monotonic clock; 0: not yet set */

    struct cf_header header;
    struct cf_strings *strings;
    struct dict *dict;   /* CF_CHAIN_MOST + 1 */
    uint64_t id_bytes;   /* that they take */
    uint64_t most_bytes; /* for strings and ids */
    int full;            /* further strings of the segment are left out, which was reported */
    struct named *named;
    size_t nameds, named_room;
    struct total *total;
    size_t totals, total_room;
    uint16_t total_at[TABLES]; /* where that of a table stands, if it does */
    uint64_t reached;          /* largest time of the accesses so far */
    int any_reached;
    int disorder; /* the segment breaks the order of times, which was reported */
    int in_segment, seen_any;
    int foreign; /* the segment is of a version that we do not read */
    uint64_t segment_start;

    struct cf_decoder *decoder;
    struct cf_frame frame;
    struct cf_coded coded[CF_MAX_COLUMNS]; /* the frame's columns as they came */
    unsigned coded_columns;
    struct cf_bytes made[CF_MAX_COLUMNS]; /* values that the decoder does not hold */
    uint64_t weights;                     /* of the accesses decoded so far, added up */
    uint64_t number;
    size_t frame_bytes, frame_rows, taken; /* of the packed frame before pos, and rows handed out */

    struct cf_index_entry *entry; /* of the segment, where a range is wanted, or all of a part's */
    size_t entries, entry_room, next_entry; /* the segment's end before `entries` */
    struct cfr_plan *plan;                  /* where a part is wanted */
    uint32_t trailers;                      /* of the input, that were read on the way to indexes */
    int check_index;
    struct cf_index_entry *seen; /* frames of the segment, where the index is to be checked */
    size_t seens, seen_room;
    size_t index_rows; /* that came */
    uint64_t index_at; /* offset of the first index frame; UINT64_MAX: none came */

    unsigned damages,
        wanting;      /* in all; streams that say that they are made of an input with one */
    int came;         /* a segment */
    int part_came;    /* one of partial results */
    int refused;      /* by the environment: nothing more is handed out */
    int needed_came;  /* records with all that is required */
    unsigned kinds;   /* that came: bits by cfr_kind() */
    unsigned missing; /* frames not handed out for want of a column, or since they are samples */
    struct unopened *unopened;
    size_t unopeneds, unopened_room;
    int lost; /* frames of this segment are lost: its totals cannot be checked */
    char problem[1024];
};

/* What kind of recording the rows of a table belong to: 0 any, 1 accesses, 2 snapshots, 3 and 4
   their own, 5 one that we do not know. */
static inline unsigned cfr_kind(unsigned table)
{
    return table == CF_ACCESS || table == CF_UNPLACED || table == CF_BUS ? 1
           : table == CF_LINE || table == CF_SNAPSHOT                    ? 2
           : table == CF_PAGE                                            ? 3
           : table == CF_PROBE                                           ? 4
           : table > CF_PARTIAL                                          ? 5
                                                                         : 0;
}

/* cf_input.c */
/* Remembers a problem with its place (offset UINT64_MAX: none); only the first one is kept. */
void cfr_damage(struct cf_reader *r, uint64_t offset, const char *format, ...) CF_PRINTF(3, 4);
/* The environment refused what reading goes on with: memory (error ENOMEM), a descriptor, the bytes
   of a file. That is no damage, and nothing more is handed out. */
void cfr_refuse(struct cf_reader *r, int error);
/* cf_array_room(), which refuses without memory. */
int cfr_room(struct cf_reader *r, void *array, size_t *room, size_t count, size_t width);
/* Takes in that the decoder could not decode a column of the frame at hand, which `name` names. */
void cfr_not_decoded(struct cf_reader *r, unsigned column);
/* Makes n bytes stand at pos; reads no further than `ahead`. 0 where the input ends before. */
int cfr_need(struct cf_reader *r, size_t n, size_t ahead);
/* Makes pos a multiple of 8 in memory: frames after damage may stand anywhere. */
void cfr_align(struct cf_reader *r);
/* Passes over n bytes, of which some may not have been read yet where the input is seekable. */
void cfr_skip(struct cf_reader *r, size_t n);
int cfr_open_next(struct cf_reader *r); /* 1, or 0 when no input is left */
void cfr_close_input(struct cf_reader *r);

/* cf_part.c */
struct cfr_plan;
void cfr_free_plan(struct cfr_plan *p);
/* These end the reading where nothing more is wanted, or what comes is none of the part. */
int cfr_part_begins(struct cf_reader *r, uint64_t offset); /* whether a segment is of the part */
void cfr_part_header(struct cf_reader *r);                 /* states the part in the header */
int cfr_part_ends(struct cf_reader *r);                    /* before the frame at r->next_entry */
int cfr_part_frame(struct cf_reader *r); /* whether the head at pos is as the index says */
/* Whether the part leaves out the frame of an index entry, and that at pos. */
int cfr_part_skips(const struct cf_reader *r, size_t entry);
int cfr_part_leaves(const struct cf_reader *r);

/* cf_index.c */
/* Loads the index frames from `at` on of the segment from `start` to `end` into r->entry, and says
   what stands behind them. 0; -1 where there are none, or damaged ones, or -2 without memory. */
int cfr_index_of(struct cf_reader *r, uint64_t start, uint64_t at, uint64_t end, uint64_t *after);
/* Whether the end frame, which stands from `at` to `end`, has the row counts that the entries of
   its segment have. */
int cfr_index_ends(const struct cf_reader *r, const struct cf_index_entry *entry, size_t entries,
                   uint64_t at, uint64_t end);
void cfr_load_index(struct cf_reader *r); /* of the segment at r->segment_start */
int cfr_out_of_range(const struct cf_reader *r, unsigned table, uint64_t first, uint64_t last);
/* Notes the frame at hand, and holds index frames against those that were noted. */
void cfr_check_index(struct cf_reader *r);
/* The end frame's trailer, after which the segment ends at `end` of the input. */
void cfr_check_trailer(struct cf_reader *r, const uint8_t *trailer, size_t bytes, uint64_t end);
void cfr_jump(struct cf_reader *r); /* to the next frame that is not out of range */

/* cf_frame.c */
/* The frame head at p and its descriptors, `have` bytes of which are there: the length of the
   frame, or 0 when this is no whole and undamaged head. `*why` says what is wrong. */
size_t cfr_check_head(const uint8_t *p, size_t have, const char **why);
/* The frame of `total` bytes at pos, which is then left. Its bytes stay until the next cfr_need().
 */
void cfr_describe(struct cf_reader *r, size_t total);
/* The index of the first column whose checksum does not hold, -1 when all do. */
int cfr_bad_column(const struct cf_frame *f);
/* Adds unified ids or plain values for what is wanted. 0; -1 when the frame cannot be handed out.
 */
int cfr_decode(struct cf_reader *r);
/* The i-th column, which was set by kind, as one value a row; NULL without memory. */
const void *cfr_spread(const struct cf_frame *f, unsigned i);
/* Rows of a piece: where columns are not decoded, more stay inside the second-level cache. */
static inline uint32_t cfr_piece_rows(const struct cf_reader *r)
{
    return r->defer ? CF_DEFERRED_ROWS : CF_PIECE_ROWS;
}

/* Whether a frame goes out in pieces: it is unpacked row by row, so that they save memory. */
int cfr_in_pieces(const struct cf_frame *f);

/* cf_stretched.c */
/* Whether a frame is of stretches that the program takes as they are. */
int cfr_whole_stretches(const struct cf_frame *f);

/* As messages call a file; one name is standard input that is opened once more. */
static inline const char *cfr_name(const char *file)
{
    return !strcmp(file, "-") || !strcmp(file, "/proc/self/fd/0") ? "standard input" : file;
}

/* cf_resync.c */
/* Goes to the next place that begins like a frame or segment with a checksum that holds (in a
   segment of another version: to the next segment): 1, or 0 when the input ends before. */
int cfr_resync(struct cf_reader *r);
/* Leaves the frame at pos, which takes `total` bytes and is damaged. */
void cfr_leave_frame(struct cf_reader *r, size_t total);

/* cf_dict.c */
int cfr_column_at(const struct cf_frame *f, unsigned column); /* -1 where there is none */
/* The reader's number of a string by its id in the stream; 0 where it is not defined. */
uint32_t cfr_number_of(const struct cf_reader *r, uint32_t id);
int cfr_take_strings(struct cf_reader *r); /* of r->frame; -1 when damaged, or refused */
int cfr_take_names(struct cf_reader *r);
void cfr_count_rows(struct cf_reader *r, uint32_t table, uint64_t rows);
/* Whether the times of the frame at hand go on from those before it, by the heads of the frames. */
void cfr_check_order(struct cf_reader *r);
void cfr_check_end(struct cf_reader *r, size_t total);
void cfr_clear_segment(struct cf_reader *r);

#endif
