/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * order.c - whether a stream keeps what cf-stream(5) promises under "Order": times that rise in
 * each table and lie in the bounds of the frame's head; mappings, objects and the like before the
 * accesses and lines of their time; strings, names, nodes of call stacks and snapshots before what
 * refers to them.
 *
 * Memory: 86 to 170 bytes a node, 43 to 85 a snapshot and a process of the segment.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "filters/parts/cat/cat.h"
#include "filters/engine/rows/counts.h"

enum {
    UNLISTED_COLUMNS = 32768,
    UNLISTED_TABLES = 256,
    TABLE_BIT = 65536, /* ids of tables in the table name */
    MAX_PARENTS = 4096,
};

/* What the first half of a key in `known` stands for; the second is a number. */
enum known { SNAPSHOT_TIME, SNAPSHOT_LINES, PARENT, USED, NODE, NODE_OF_ANY, TABLE_TIME };

struct order {
    struct cf_tool *tool;
    struct cf_counts *known;
    int any_reached;
    uint64_t reached;  /* time of the accesses and lines so far */
    uint64_t snapshot; /* whose lines come; UINT64_MAX: none */
    uint64_t shown;    /* its time + 1 */
    char problem[256]; /* the first; "": none */
};

struct order *order_new(struct cf_tool *t)
{
    struct order *o = cf_tool_room(t, 1, sizeof(*o));

    o->tool = t;
    return o;
}

void order_free(struct order *o)
{
    cf_counts_free(o->known);
}

const char *order_problem(const struct order *o)
{
    return *o->problem ? o->problem : NULL;
}

static void CF_PRINTF(4, 5) wrong(struct order *o, const struct cf_reader *r,
                                  const struct cf_frame *f, const char *format, ...)
{
    size_t n;
    va_list args;

    if (*o->problem)
        return;
    snprintf(o->problem, sizeof(o->problem),
             "byte %" PRIu64 " (frame %" PRIu64 "): table %s: ", f->offset, f->number,
             print_table_name(r, f->table));
    n = strlen(o->problem);
    va_start(args, format);
    vsnprintf(o->problem + n, sizeof(o->problem) - n, format, args);
    va_end(args);
}

static uint64_t key(enum known what, uint64_t number)
{
    return (uint64_t)what << 56 | number;
}

static uint64_t *place(struct order *o, enum known what, uint64_t a, uint64_t b)
{
    return cf_need(o->tool, cf_counts_at(o->known, key(what, a), b));
}

static void know(struct order *o, enum known what, uint64_t a, uint64_t b, uint64_t value)
{
    *place(o, what, a, b) = value;
}

static uint64_t known(const struct order *o, enum known what, uint64_t a, uint64_t b)
{
    return cf_counts_get(o->known, key(what, a), b);
}

static void begin_segment(struct order *o)
{
    cf_counts_free(o->known);
    o->known = cf_need(o->tool, cf_counts_new());
    o->any_reached = 0;
    o->reached = 0;
    o->snapshot = UINT64_MAX;
    o->shown = 0;
}

static void reach(struct order *o, uint64_t time)
{
    o->any_reached = 1;
    o->reached = time > o->reached ? time : o->reached;
}

static void check_times(struct order *o, const struct cf_reader *r, const struct cf_frame *f)
{
    const uint64_t *time = cf_u64(f, CF_TIME);
    uint64_t first = UINT64_MAX, last = 0, *before;

    if (!time) {
        if (f->first || f->last)
            wrong(o, r, f, "the head has times, but the rows have none");
        return;
    }
    before = place(o, TABLE_TIME, f->table, 0);
    /* that of a probe is how long it took, not when */
    for (uint32_t k = 0; f->table != CF_PROBE && k < f->rows; k++) {
        if (time[k] < *before) {
            wrong(o, r, f, "row %" PRIu32 ": time %" PRIu64 " behind time %" PRIu64, k + 1, time[k],
                  *before);
            break;
        }
        *before = time[k];
    }
    for (uint32_t k = 0; k < f->rows; k++) {
        first = time[k] < first ? time[k] : first;
        last = time[k] > last ? time[k] : last;
    }
    if (first != f->first || last != f->last)
        wrong(o, r, f,
              "times from %" PRIu64 " to %" PRIu64 ", in the head from %" PRIu64 " to %" PRIu64,
              first, last, f->first, f->last);
    if (cf_table_traits(f->table) & CF_TABLE_BEFORE && o->any_reached && first <= o->reached)
        wrong(o, r, f, "time %" PRIu64 " behind accesses or lines of time %" PRIu64, first,
              o->reached);
    if (f->table == CF_ACCESS)
        reach(o, last);
}

static void check_strings(struct order *o, const struct cf_reader *r, const struct cf_frame *f)
{
    for (unsigned i = 0; i < f->columns; i++) {
        const uint32_t *id = f->column[i].values;
        uint32_t good = 0;

        if (f->column[i].type != CF_STR || !id)
            continue;
        for (uint32_t k = 0; k < f->rows; k++) {
            if (id[k] == good || !id[k])
                continue;
            if (!*cf_reader_text(r, id[k])) {
                wrong(o, r, f,
                      "row %" PRIu32 ": string %" PRIu32 " of column %s is not defined yet", k + 1,
                      id[k], print_column_name(r, f->column[i].id));
                break;
            }
            good = id[k];
        }
    }
}

/* A table or column without a name is allowed, but not one that is named later. */
static void check_names(struct order *o, const struct cf_reader *r, const struct cf_frame *f)
{
    const uint32_t *id = cf_u32(f, CF_ID);

    if (f->table == CF_NAME && id)
        for (uint32_t k = 0; k < f->rows; k++)
            if (known(o, USED, id[k], 0))
                wrong(o, r, f, "row %" PRIu32 ": names %s %" PRIu32 ", which was used before",
                      k + 1, id[k] & TABLE_BIT ? "table" : "column", id[k] % TABLE_BIT);
    if (f->table >= UNLISTED_TABLES && !cf_reader_table_name(r, f->table))
        know(o, USED, f->table | TABLE_BIT, 0, 1);
    for (unsigned i = 0; i < f->columns; i++)
        if (f->column[i].id >= UNLISTED_COLUMNS && !cf_reader_column_name(r, f->column[i].id))
            know(o, USED, f->column[i].id, 0, 1);
}

/* Whether a process has a node, or one of its parents, which it may refer to. */
static int has_node(const struct order *o, uint32_t pid, uint32_t node)
{
    for (unsigned i = 0; i < MAX_PARENTS; i++) {
        const uint64_t parent = known(o, PARENT, pid, 0);

        if (known(o, NODE, pid, node))
            return 1;
        if (!parent)
            return 0;
        pid = (uint32_t)(parent - 1);
    }
    return 1;
}

static void check_nodes(struct order *o, const struct cf_reader *r, const struct cf_frame *f)
{
    const uint32_t *pid = cf_u32(f, CF_PID), *node = cf_u32(f, CF_STACK_ID);
    const uint32_t *parent = cf_u32(f, CF_PARENT), *tid = cf_u32(f, CF_TID);
    const uint8_t *op = cf_u8(f, CF_OP);

    if (f->table == CF_TASK)
        for (uint32_t k = 0; pid && parent && op && k < f->rows; k++)
            if (op[k] == CF_BEGIN && (!tid || tid[k] == pid[k]))
                know(o, PARENT, pid[k], 0, (uint64_t)parent[k] + 1);
    for (uint32_t k = 0; f->table != CF_TASK && node && k < f->rows; k++) {
        const uint32_t of = pid ? pid[k] : 0;
        const uint32_t uses = f->table != CF_STACK ? node[k] : parent ? parent[k] : 0;

        /* Nodes have no time: a merge may hand them on before it says whose child a process is. */
        const int early = f->table == CF_STACK && !known(o, PARENT, of, 0);

        if (uses && !(early ? known(o, NODE_OF_ANY, uses, 0) != 0 : has_node(o, of, uses))) {
            wrong(o, r, f,
                  "row %" PRIu32 ": node %" PRIu32 " of process %" PRIu32 " is not there yet",
                  k + 1, uses, of);
            break;
        }
        if (f->table == CF_STACK) {
            know(o, NODE, of, node[k], 1);
            know(o, NODE_OF_ANY, node[k], 0, 1);
        }
    }
}

static void check_snapshots(struct order *o, const struct cf_reader *r, const struct cf_frame *f)
{
    const uint32_t *number = cf_u32(f, CF_SNAP);
    const uint64_t *time = cf_u64(f, CF_TIME);

    if (!number || (f->table != CF_SNAPSHOT && f->table != CF_LINE))
        return;
    for (uint32_t k = 0; k < f->rows; k++) {
        const uint64_t n = number[k];
        const uint64_t announced = known(o, SNAPSHOT_TIME, n, 0);

        if (f->table == CF_SNAPSHOT) {
            if (known(o, SNAPSHOT_LINES, n, 0))
                wrong(o, r, f, "row %" PRIu32 ": snapshot %" PRIu64 " behind its lines", k + 1, n);
            know(o, SNAPSHOT_TIME, n, 0, (time ? time[k] : 0) + 1);
            continue;
        }
        if (n == o->snapshot)
            continue;
        if (!announced)
            wrong(o, r, f,
                  "row %" PRIu32 ": a line of snapshot %" PRIu64 ", which is not there yet", k + 1,
                  n);
        else if (known(o, SNAPSHOT_LINES, n, 0))
            wrong(o, r, f,
                  "row %" PRIu32 ": a line of snapshot %" PRIu64
                  " behind those of snapshot %" PRIu64,
                  k + 1, n, o->snapshot);
        else if (announced < o->shown)
            wrong(o, r, f,
                  "row %" PRIu32 ": lines of snapshot %" PRIu64
                  " behind those of the later one %" PRIu64,
                  k + 1, n, o->snapshot);
        if (!announced || known(o, SNAPSHOT_LINES, n, 0))
            return;
        know(o, SNAPSHOT_LINES, n, 0, 1);
        o->snapshot = n;
        o->shown = announced;
        reach(o, announced - 1);
    }
}

void order_frame(struct order *o, const struct cf_reader *r, const struct cf_frame *f)
{
    if (f->table == CF_HEADER)
        begin_segment(o);
    if (f->table == CF_HEADER || !o->known)
        return;
    check_names(o, r, f);
    check_times(o, r, f);
    check_strings(o, r, f);
    check_nodes(o, r, f);
    check_snapshots(o, r, f);
}
