/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * disorder_stream raw|packed DIR: a stream of 20 small frames as DIR/whole.cf, and in DIR what
 * comes of it when a frame is swapped with another, moved, written twice or left out, its head
 * states a wrong time, or in a raw one two times inside it change places, all checksums being
 * right. Names begin with `bad` where that breaks what cf-stream(5) promises under "Order", "End
 * frame" or "Index", and with `good` where not. What must stand before what is listed here by hand.
 *
 * Index, row counts and trailer are made anew; with `kept` in the name they are as they were. Bytes
 * are made by reseal.h, not by the library.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/stream/cf.h"
#include "piped.h"
#include "reseal.h"

enum { MOST = 64, ROOM = 1 << 16, ROWS = 10, MINE = 40000 };

static void must(int bad, const char *what)
{
    if (bad) {
        fprintf(stderr, "disorder_stream: %s\n", what);
        exit(1);
    }
}

/* ---- the stream ---- */

static void write_access(struct cf_writer *w, uint64_t from, unsigned column, uint64_t value)
{
    uint64_t time[ROWS];
    const struct cf_values c[] = {
        {CF_TIME, time, 0}, {CF_ADDR, NULL, 0x1000}, {column, NULL, value}};

    for (uint64_t i = 0; i < ROWS; i++)
        time[i] = from + i;
    must(cf_writer_rows(w, CF_ACCESS, ROWS, c, column ? 3 : 2, NULL), "accesses");
    must(cf_writer_flush(w), "flush");
}

static void write_events(struct cf_writer *w, uint64_t time, uint32_t node, uint32_t label)
{
    const uint32_t nodes[] = {node, node + 1}, parents[] = {node - 1, node};
    const struct cf_values map[] = {{CF_TIME, NULL, time},    {CF_PID, NULL, 7},
                                    {CF_OP, NULL, CF_MAPPED}, {CF_START, NULL, 0x1000},
                                    {CF_STOP, NULL, 0x2000},  {CF_LABEL, NULL, label}};
    const struct cf_values stack[] = {
        {CF_PID, NULL, 7}, {CF_STACK_ID, nodes, 0}, {CF_PARENT, parents, 0}, {CF_PC, NULL, 5}};
    const struct cf_values object[] = {{CF_TIME, NULL, time},   {CF_PID, NULL, 7},
                                       {CF_OP, NULL, CF_ALLOC}, {CF_ADDR, NULL, 0x1000},
                                       {CF_BYTES, NULL, 16},    {CF_STACK_ID, NULL, node + 1}};

    must(cf_writer_rows(w, CF_MAP, 1, map, 6, NULL), "mappings");
    must(cf_writer_rows(w, CF_STACK, 2, stack, 4, NULL), "nodes");
    must(cf_writer_rows(w, CF_OBJECT, 1, object, 6, NULL), "objects");
}

static void write_task(struct cf_writer *w, uint64_t time, enum cf_op op, uint32_t label)
{
    const struct cf_values c[] = {{CF_TIME, NULL, time},
                                  {CF_PID, NULL, 7},
                                  {CF_TID, NULL, 7},
                                  {CF_OP, NULL, op},
                                  {CF_LABEL, NULL, label}};

    must(cf_writer_rows(w, CF_TASK, 1, c, 5, NULL), "tasks");
}

static void write_snapshot(struct cf_writer *w, uint32_t number, uint64_t time)
{
    /* other columns each time, so that a file has a frame for each */
    const struct cf_values snapshot[] = {
        {CF_SNAP, NULL, number}, {CF_TIME, NULL, time}, {CF_MODE, NULL, 0}};
    const struct cf_values line[] = {{CF_SNAP, NULL, number},
                                     {number == 1 ? CF_SET : CF_WAY, NULL, 3}};

    must(cf_writer_rows(w, CF_SNAPSHOT, 1, snapshot, 1 + number, NULL), "snapshots");
    must(cf_writer_rows(w, CF_LINE, 2, line, 2, NULL), "lines");
    must(cf_writer_flush(w), "flush");
}

static void write_stream(struct cf_writer *w)
{
    const struct cf_values thread[] = {{CF_TIME, NULL, 0}, {CF_PID, NULL, 7}, {CF_TID, NULL, 7}};
    const struct cf_header header = {.clock_unit = (char *)"instructions"};
    char problem[256];
    uint32_t label;

    must(!w || cf_writer_header(w, &header), "header");
    must(cf_writer_name(w, MINE, CF_U64, "mine"), "name");
    label = cf_writer_string(w, "a mapping");
    write_task(w, 0, CF_BEGIN, cf_writer_string(w, "program"));
    write_events(w, 0, 1, label);
    must(cf_writer_rows(w, CF_SWITCH, 1, thread, 3, NULL), "switches");
    write_access(w, 10, 0, 0);
    write_access(w, 20, MINE, 1);
    write_events(w, 35, 3, label);
    must(cf_writer_flush(w), "flush");
    write_access(w, 40, CF_REGION, cf_writer_string(w, "another"));
    write_snapshot(w, 1, 60);
    write_snapshot(w, 2, 70);
    write_task(w, 80, CF_EXIT, 0);
    must(cf_writer_close(w, 1, problem, sizeof(problem)), "close");
}

/* ---- what must stand before what ---- */

#define T(table, nth) ((table)*8 + (nth))

static const unsigned before[][2] = {
    /* strings and names before their use */
    {T(CF_STRING, 1), T(CF_NAME, 1)},
    {T(CF_NAME, 1), T(CF_ACCESS, 2)},
    {T(CF_STRING, 2), T(CF_TASK, 1)},
    {T(CF_STRING, 2), T(CF_MAP, 1)},
    {T(CF_STRING, 2), T(CF_MAP, 2)},
    {T(CF_STRING, 3), T(CF_ACCESS, 3)},
    /* nodes before what refers to them */
    {T(CF_STACK, 1), T(CF_STACK, 2)},
    {T(CF_STACK, 1), T(CF_OBJECT, 1)},
    {T(CF_STACK, 2), T(CF_OBJECT, 2)},
    /* times rise in each table */
    {T(CF_TASK, 1), T(CF_TASK, 2)},
    {T(CF_MAP, 1), T(CF_MAP, 2)},
    {T(CF_OBJECT, 1), T(CF_OBJECT, 2)},
    {T(CF_SNAPSHOT, 1), T(CF_SNAPSHOT, 2)},
    {T(CF_LINE, 1), T(CF_LINE, 2)},
    {T(CF_ACCESS, 1), T(CF_ACCESS, 2)},
    {T(CF_ACCESS, 2), T(CF_ACCESS, 3)},
    {T(CF_ACCESS, 1), T(CF_ACCESS, 3)},
    /* a snapshot before its lines */
    {T(CF_SNAPSHOT, 1), T(CF_LINE, 1)},
    {T(CF_SNAPSHOT, 2), T(CF_LINE, 2)},
};

/* Rows that go before the accesses and lines of their time, and before which of those. */
static const struct {
    unsigned event, time;
} events[] = {
    {T(CF_TASK, 1), 0},      {T(CF_MAP, 1), 0},       {T(CF_OBJECT, 1), 0},
    {T(CF_SWITCH, 1), 0},    {T(CF_MAP, 2), 35},      {T(CF_OBJECT, 2), 35},
    {T(CF_SNAPSHOT, 1), 60}, {T(CF_SNAPSHOT, 2), 70}, {T(CF_TASK, 2), 80},
};
static const struct {
    unsigned frame, last;
} reached[] = {{T(CF_ACCESS, 1), 19},
               {T(CF_ACCESS, 2), 29},
               {T(CF_ACCESS, 3), 49},
               {T(CF_LINE, 1), 60},
               {T(CF_LINE, 2), 70}};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* ---- frames ---- */

static uint8_t whole[ROOM], made[4 * ROOM];
static size_t whole_bytes, made_bytes, head_bytes, tail_at;
static int indexed;

static struct frame {
    const uint8_t *p;
    size_t bytes;
    unsigned label; /* T(table, nth) */
} frame[MOST];
static unsigned frames;

static uint64_t u64_at(const uint8_t *p)
{
    return reseal_u32(p) | (uint64_t)reseal_u32(p + 4) << 32;
}

static void walk(void)
{
    unsigned nth[256] = {0};

    head_bytes = reseal_size(whole, whole_bytes);
    for (size_t at = head_bytes, n; at < whole_bytes; at += n) {
        const unsigned table = whole[at + 8];

        n = reseal_size(whole + at, whole_bytes - at);
        must(!n || frames == MOST, "no stream");
        indexed |= table == CF_INDEX;
        if (table == CF_INDEX || table == CF_END) {
            tail_at = tail_at ? tail_at : at;
            continue;
        }
        frame[frames++] = (struct frame){whole + at, n, T(table, ++nth[table])};
    }
}

static void put(const void *p, size_t n)
{
    must(made_bytes + n > sizeof(made), "too long");
    memcpy(made + made_bytes, p, n);
    made_bytes += n;
}

static void put_number(uint64_t v, size_t bytes)
{
    uint8_t p[8];

    reseal_put64(p, v);
    put(p, bytes);
}

struct column {
    unsigned id, type;
    const uint64_t *values;
};

static void put_frame(unsigned table, unsigned rows, const struct column *c, unsigned columns)
{
    const size_t at = made_bytes;

    put("CFfr", 4);
    put_number(0, 4);
    put_number(table, 2);
    put_number(columns, 2);
    put_number(rows, 4);
    put_number(0, 8);
    put_number(0, 8);
    put_number(0, 8);
    for (unsigned i = 0; i < columns; i++) {
        const size_t width = c[i].type == CF_U32 ? 4 : 8;
        const size_t bytes = c[i].type == CF_BLOB ? 32 : rows * width;

        put_number(c[i].id, 2);
        put_number(c[i].type, 1);
        put_number(0, 1);
        put_number(bytes, 4);
        put_number(c[i].type == CF_BLOB ? 32 : 0, 8);
        put_number(0, 8);
    }
    for (unsigned i = 0; i < columns; i++) {
        const unsigned n = c[i].type == CF_BLOB ? 4 : rows;

        for (unsigned k = 0; k < n; k++)
            put_number(c[i].values[k], c[i].type == CF_U32 ? 4 : 8);
        while (made_bytes % 8)
            put_number(0, 1);
    }
    for (int i = 0; i < 4; i++)
        made[at + 4 + (size_t)i] = (uint8_t)((made_bytes - at) >> 8 * i);
    reseal_one(made + at, made_bytes - at);
}

/* Index and end frame for the frames that were put. */
static void put_tail(void)
{
    uint64_t v[5][MOST] = {{0}}, id[MOST] = {0}, rows[MOST] = {0}, trailer[4] = {0};
    const struct column index[] = {{CF_OFFSET, CF_U64, v[0]},
                                   {CF_ID, CF_U32, v[1]},
                                   {CF_ROWS, CF_U64, v[2]},
                                   {CF_FIRST, CF_U64, v[3]},
                                   {CF_LAST, CF_U64, v[4]}};
    const struct column end[] = {
        {CF_ID, CF_U32, id}, {CF_ROWS, CF_U64, rows}, {CF_TRAILER, CF_BLOB, trailer}};
    const size_t index_at = made_bytes;
    unsigned n = 0, tables = 0;

    for (size_t at = head_bytes; at < index_at; at += reseal_size(made + at, index_at - at), n++) {
        unsigned t = 0;

        must(n == MOST, "too many frames");
        v[0][n] = at;
        v[1][n] = made[at + 8];
        v[2][n] = reseal_u32(made + at + 12);
        v[3][n] = u64_at(made + at + 16);
        v[4][n] = u64_at(made + at + 24);
        while (t < tables && id[t] != v[1][n])
            t++;
        tables += t == tables;
        id[t] = v[1][n];
        rows[t] += v[2][n];
    }
    if (indexed)
        put_frame(CF_INDEX, n, index, 5);
    trailer[1] = made_bytes + 40 + 3 * 24 + ((tables * 4 + 7) & ~7u) + tables * 8 + 32;
    trailer[0] = indexed ? trailer[1] - index_at : 0;
    memcpy(&trailer[3], "CFend\r\n\x1a", 8);
    put_frame(CF_END, tables, end, 3);
}

static void save(const char *dir, const char *name, const uint8_t *bytes, size_t n)
{
    char path[512];
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s.cf", dir, name);
    f = fopen(path, "wb");
    must(!f || fwrite(bytes, 1, n, f) != n || fclose(f) != 0, path);
}

/* ---- mutants ---- */

static int place_of(const unsigned *order, unsigned n, unsigned label)
{
    for (unsigned i = 0; i < n; i++)
        if (frame[order[i]].label == label)
            return (int)i;
    return -1;
}

/* Whether this order of all frames breaks a promise. */
static int breaks(const unsigned *order, unsigned n)
{
    for (size_t i = 0; i < COUNT(before); i++)
        if (place_of(order, n, before[i][0]) > place_of(order, n, before[i][1]))
            return 1;
    for (size_t i = 0; i < COUNT(events); i++)
        for (size_t k = 0; k < COUNT(reached); k++)
            if (events[i].time <= reached[k].last &&
                place_of(order, n, events[i].event) > place_of(order, n, reached[k].frame))
                return 1;
    return 0;
}

/* Whether index, counts and trailer as they were fit these frames too. */
static int tail_fits(const unsigned *order, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        const struct frame *a = &frame[order[i]], *b = &frame[i];

        /* table, rows and times */
        if (indexed && (a->bytes != b->bytes || memcmp(a->p + 8, b->p + 8, 2) != 0 ||
                        memcmp(a->p + 12, b->p + 12, 20) != 0))
            return 0;
    }
    return n == frames;
}

static void make(const char *dir, const char *what, const unsigned *order, unsigned n, int bad)
{
    const int kept_bad = bad || !tail_fits(order, n);
    char name[256];
    size_t end;

    made_bytes = 0;
    put(whole, head_bytes);
    for (unsigned i = 0; i < n; i++)
        put(frame[order[i]].p, frame[order[i]].bytes);
    end = made_bytes;
    put(whole + tail_at, whole_bytes - tail_at);
    snprintf(name, sizeof(name), "%s-kept-%s", kept_bad ? "bad" : "good", what);
    save(dir, name, made, made_bytes);
    made_bytes = end;
    put_tail();
    snprintf(name, sizeof(name), "%s-%s", bad ? "bad" : "good", what);
    save(dir, name, made, made_bytes);
}

/* What is missing where this frame is. */
static int needed(unsigned label)
{
    const unsigned table = label / 8;

    return table == CF_STRING || table == CF_STACK || table == CF_SNAPSHOT;
}

/* Frame i in the place of each other. */
static void make_moves(const char *dir, unsigned i)
{
    unsigned order[MOST + 1];
    char what[64];

    for (unsigned k = 0; k < frames; k++) {
        unsigned n = 0;
        int bad;

        for (unsigned f = 0; f < frames; f++) {
            if (f == i)
                continue;
            if (n == k)
                order[n++] = i;
            order[n++] = f;
        }
        if (n < frames)
            order[n++] = i;
        bad = breaks(order, frames);
        snprintf(what, sizeof(what), "move-%u-to-%u", i + 1, k + 1);
        if (k + 1 < i || k > i + 1) /* a neighbour's place is a swap */
            make(dir, what, order, frames, bad);
    }
}

/* Two times of a raw frame of accesses, a byte each behind the base, change places. */
static void make_inside(const char *dir, unsigned i, const unsigned *order)
{
    uint8_t *const p = whole + (frame[i].p - whole);
    uint8_t *const time = p + RESEAL_FRAME + (size_t)p[10] * RESEAL_COLUMN;
    char what[64];

    if (indexed || frame[i].label / 8 != CF_ACCESS)
        return;
    snprintf(what, sizeof(what), "inside-%u", i + 1);
    for (unsigned k = 0; k < 2; k++) { /* and back */
        const uint8_t early = time[4];

        time[4] = time[5];
        time[5] = early;
        reseal_one(p, frame[i].bytes);
        if (k == 0)
            make(dir, what, order, frames, 1);
    }
}

static void make_all(const char *dir)
{
    unsigned order[MOST + 1];
    char what[64];

    for (unsigned i = 0; i < frames; i++)
        order[i] = i;
    make(dir, "whole", order, frames, 0);
    for (unsigned i = 0; i < frames; i++) {
        for (unsigned k = i + 1; k < frames; k++) {
            int bad;

            order[i] = k;
            order[k] = i;
            bad = breaks(order, frames);
            snprintf(what, sizeof(what), "swap-%u-%u", i + 1, k + 1);
            make(dir, what, order, frames, bad);
            order[i] = i;
            order[k] = k;
        }
        make_moves(dir, i);
        for (unsigned f = 0, n = 0; f < frames; f++) {
            order[n++] = f;
            if (f == i)
                order[n++] = f;
        }
        snprintf(what, sizeof(what), "twice-%u", i + 1);
        make(dir, what, order, frames + 1, frame[i].label / 8 == CF_ACCESS);
        for (unsigned f = 0, n = 0; f < frames; f++)
            if (f != i)
                order[n++] = f;
        snprintf(what, sizeof(what), "without-%u", i + 1);
        make(dir, what, order, frames - 1, needed(frame[i].label));
        for (unsigned f = 0; f < frames; f++)
            order[f] = f;
        make_inside(dir, i, order);
        for (int by = 1; by >= -1; by -= 2) { /* the largest time that the head tells */
            uint8_t *p = whole + (frame[i].p - whole);

            p[24] = (uint8_t)(p[24] + by);
            reseal_one(p, frame[i].bytes);
            snprintf(what, sizeof(what), "head-%u", i + 1);
            if (by == 1)
                make(dir, what, order, frames, 1);
        }
    }
}

int main(int argc, char **argv)
{
    char path[512];
    FILE *f;

    must(argc != 3 || strlen(argv[2]) > 200, "usage: disorder_stream raw|packed DIR");
    snprintf(path, sizeof(path), "%s/whole.cf", argv[2]);
    if (strcmp(argv[1], "raw") == 0)
        piped_begin(path);
    write_stream(cf_writer_open(strcmp(argv[1], "raw") ? path : NULL, "disorder_stream"));
    piped_end();
    f = fopen(path, "rb");
    must(!f, path);
    whole_bytes = fread(whole, 1, ROOM, f);
    fclose(f);
    walk();
    must(frames != 20 || indexed != (strcmp(argv[1], "raw") != 0),
         "not the frames that were meant");
    make_all(argv[2]);
    return 0;
}
