/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * findings.h - the parts of cf-report --cacheperf: what the classes of rule cacheperf come to, as
 * findings that a programmer can act on.
 *
 *     findings_read.c      sampled accesses to cells: a shared cache line, or a statement
 *     findings_objects.c   heap objects and call stacks
 *     findings_group.c     cells to findings, worst first, and what each could gain
 *     findings_source.c    the source around statements
 *     findings_words.c     what is said of each, whatever the form
 *     findings_text.c, findings_csv.c, findings_json.c    output
 *
 * Memory: 256 KiB, and that of condense.h; 40 bytes an allocation and a node of a call stack; 200
 * bytes a cell and 130 for each statement, object and thread of one.
 */
#ifndef FINDINGS_H
#define FINDINGS_H

#include "filters/engine/rows/counts.h"
#include "filters/parts/report/lost.h"
#include "filters/ranking/condense.h"
#include "filters/ranking/sources.h"
#include "formats/machine/cf_machine.h"
#include "formats/together/cf_made.h"
#include "formats/program/cf_tool.h"

struct findings_options {
    const char *machine; /* NULL: the one that the stream states */
    double ratio;        /* a miss costs so many hits; 0: as the machine has it */
    uint32_t top;        /* entries of each list of the text */
    const char *html, *callgrind, *dir[CF_SOURCE_DIRS];
    unsigned dirs;
};

/* What served an access: 0 is not known, 1 the first level, 6 the sixth or a further one. */
enum { FINDING_SERVED = 8, FINDING_MEMORY = 7, FINDING_RATIO = 200 };

enum finding_op { FINDING_LOAD, FINDING_STORE, FINDING_OPS };
typedef uint64_t finding_served[FINDING_OPS][FINDING_SERVED];

/* What a finding has lists of. */
enum finding_part { FINDING_STATEMENTS, FINDING_OWNERS, FINDING_THREADS, FINDING_PARTS };

/* An entry of such a list. */
struct finding_share {
    uint32_t of, id; /* which cell or finding; which statement, owner or thread */
    uint64_t misses, samples;
};

struct finding_list {
    struct cf_counts *at; /* place + 1, by cell and id */
    struct finding_share *share;
    size_t count, room;
};

/* A line of the source, or an instruction of which no line is known. */
struct finding_statement {
    uint32_t source, function; /* string ids */
    uint64_t pc;               /* of the first sample */
    uint64_t first;            /* number of the first line of `text`, which is line[0] */
    uint64_t number;           /* of the line that it is */
    char **text;               /* its neighbours and it; NULL: not known */
    unsigned lines;
};

enum finding_kind { FINDING_HEAP, FINDING_SYMBOL, FINDING_REGION, FINDING_NOWHERE };

/* What the memory belongs to. */
struct finding_owner {
    enum finding_kind kind;
    uint32_t segment, id; /* number of the object, or string id of the name */
    uint32_t origin;      /* number of its allocation site or name */
};

struct finding_thread {
    uint32_t pid, tid;
};

/* A cell, and then a finding: the sum of cells. */
struct finding {
    unsigned class;
    uint32_t into;                  /* while cells are joined: one that it belongs to */
    uint64_t lines;                 /* of the cache; 0 where it is of statements */
    uint64_t misses, samples, fine; /* by weight; rows; rows of the fine stage */
    finding_served served;
    size_t first[FINDING_PARTS], count[FINDING_PARTS]; /* its part of each list */
    double bound; /* by how much the time for memory could shrink, 0 to 1 */
};

struct finding_object {
    uint32_t segment, number, pid, tid, stack, site, function, source;
    uint64_t bytes;
};

struct finding_node {
    uint32_t segment, pid, id, parent, function, source;
    uint64_t pc;
};

/* Where samples of one kind are counted: rows repeat themselves. */
enum { FINDING_RECENT = 4096 };
struct finding_recent {
    uint64_t key[5];
    uint32_t known, of, share[FINDING_PARTS]; /* the cell, and the place in each list */
};

struct findings {
    struct cf_tool *tool;
    struct cf_reader *reader;
    struct findings_options o;
    struct cf_sources *sources;
    struct cf_mix mix;
    struct cf_machine *machine;   /* NULL: --ratio, or none is known */
    char *machine_name, *command; /* NULL: not stated */
    uint64_t line_size;           /* bytes */
    uint32_t segment;             /* from 1 */
    unsigned foreign;             /* a class that the rule does not give, or 0 */

    const char *event; /* what the coarse samples are, in words; NULL: of a counter */
    uint64_t samples, fine;
    struct lost lost;
    finding_served served; /* by weight */

    struct finding *finding; /* cells; after findings_group() findings, the worst first */
    size_t count, room;
    struct cf_counts *at; /* place + 1 of a cell, by its key */
    struct finding_recent *recent;
    struct finding_list list[FINDING_PARTS];

    struct finding_statement *statement;
    size_t statements, statement_room;
    struct finding_owner *owner;
    size_t owners, owner_room;
    struct finding_thread *thread;
    size_t threads, thread_room;
    struct cf_counts *numbers[FINDING_PARTS]; /* number + 1 of each statement, owner and thread */

    struct finding_object *object; /* once sorted by segment and number */
    size_t objects, object_room;
    struct finding_node *node; /* the same, by segment, process and number */
    size_t nodes, node_room;
    struct cf_counts *parents; /* process + 1, by segment and process */

    double cost[FINDING_OPS][FINDING_SERVED]; /* of an access, in cycles or hits */
};

/* ---- findings_read.c ---- */

/* Asks for the columns. */
void findings_begin(struct findings *f);
/* Takes a frame of any table. Exits where the classes are of another rule. */
void findings_frame(struct findings *f, const struct cf_condensed *rows);
/* What findings need of accesses, for cf_condense_new(). */
extern const unsigned findings_alike[], findings_others[];
void findings_free(struct findings *f);
/* By weight: all accesses of an operation, those that missed. */
uint64_t findings_accesses(const struct findings *f, enum finding_op op);
uint64_t findings_misses(const struct findings *f, enum finding_op op);

/* ---- findings_objects.c ---- */

void findings_take_objects(struct findings *f, const struct cf_frame *frame);
void findings_take_nodes(struct findings *f, const struct cf_frame *frame);
void findings_take_tasks(struct findings *f, const struct cf_frame *frame);
/* When all is read, before the others. */
void findings_sort_objects(struct findings *f);
/* NULL where nothing is known of it. */
const struct finding_object *findings_object(const struct findings *f,
                                             const struct finding_owner *owner);
enum { FINDING_FRAMES = 64 };
/* The calls that allocated an object, the innermost first; how many. */
unsigned findings_stack(const struct findings *f, const struct finding_object *object,
                        struct finding_node frame[FINDING_FRAMES]);

/* ---- findings_group.c ---- */

/* When all is read: the findings. */
void findings_group(struct findings *f);

/* ---- findings_words.c ---- */

/* What a finding is related to: objects of one allocation site, of one thread where threads
   matter, or a variable or mapping. */
struct finding_related {
    const struct finding_owner *owner;   /* the one with most misses */
    const struct finding_object *object; /* the same, or NULL */
    uint64_t objects, least, most;       /* bytes */
    uint64_t misses;
};
/* Those of a finding, the most missed first; the caller frees. */
struct finding_related *findings_related(const struct findings *f, const struct finding *of,
                                         size_t *count);
/* The share of a finding in all misses, 0 to 1. */
double findings_share(const struct findings *f, uint64_t misses);
int finding_allocators(const struct finding *of); /* not the application's */
const char *finding_title(const struct finding *of);
const char *finding_fix(const struct finding *of);
/* Why there is none, as a sentence without its begin. */
void findings_why_none(const struct findings *f, char *text, size_t size);
/* Are samples so few that findings depend on chance? Then a sentence that says so. */
int findings_few(const struct findings *f, char *text, size_t size);
/* By what misses are priced, as the end of a sentence on gains. */
void findings_price(const struct findings *f, char *text, size_t size);

/* ---- findings_source.c ---- */

/* Finds the source of the findings' statements, where it is there. */
void findings_sources(struct findings *f);

/* ---- findings_text.c, findings_csv.c, findings_json.c ---- */

void findings_csv(const struct findings *f, FILE *out);
void findings_json(const struct findings *f, FILE *out);
/* The form that was asked for. */
void findings_print(struct findings *f);
/* For cf_tool_file(). */
int findings_html(const void *findings, FILE *out) CF_MUST_CHECK;

#endif
