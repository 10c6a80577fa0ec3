/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * small_stream.h - the small stream that test_damage cuts and changes, in each form that a writer
 * makes: of accesses, with the kinds of rows told, and of cache lines; raw and packed.
 */
#ifndef SMALL_STREAM_H
#define SMALL_STREAM_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/codec/cf_codec.h"
#include "formats/stream/cf.h"
#include "formats/writer/cf_stretches.h"
#include "piped.h"

enum { MOST_BYTES = 60000 /* fits a pipe of 64 KiB */ };

enum form {
    RAW,
    PACKED,
    NUMBERED, /* raw, with the kinds of rows told (cf_writer_kind()) */
    STRETCHES,
    LINES, /* cache lines as a pipe has them */
    PACKED_LINES,
    FORMS
};
static const char *const form_names[] = {"raw",       "packed", "numbered",
                                         "stretches", "lines",  "packed lines"};

/* The codecs from CF_CODES on that must be in a stream of each form. */
static const uint32_t form_codecs[] = {
    0,
    1u << CF_CODES | 1u << CF_BYCODE | 1u << CF_STEPS | 1u << CF_PREDICT,
    1u << CF_ROWCODES | 1u << CF_BYCODE,
    1u << CF_STRETCHES | 1u << CF_CLOCK | 1u << CF_ADDRESSES | 1u << CF_BYCODE,
    1u << CF_RISE8 | 1u << CF_LINES32 | 1u << CF_LINES48,
    1u << CF_NEAR | 1u << CF_PAGES | 1u << CF_LIKE,
};

enum { KINDS = 7, ROWS = 280 };

static inline uint32_t kind_of_row(uint64_t i)
{
    return (uint32_t)(1 + (i * i + i / 5) % KINDS);
}

/* Rows of which the writer knows the kinds, which makes frames with a code a row. */
static inline int write_numbered(struct cf_writer *w, uint64_t start)
{
    const struct cf_values same[] = {{CF_TID, NULL, 5},
                                     {CF_OP, CF_BY_KIND, 0},
                                     {CF_SIZE, CF_BY_KIND, 0},
                                     {CF_PC, CF_BY_KIND, 0}};
    struct cf_place place[] = {{CF_TIME, NULL}, {CF_ADDR, NULL}};
    uint32_t *hint, room = ROWS;

    for (uint32_t k = 1; k <= KINDS; k++)
        if (cf_writer_kind(w, 1000 * k, 0x400000 + 5 * k, k % 3 ? CF_LOAD : CF_STORE, 1u << k % 4,
                           0))
            return -1;
    if (cf_writer_place(w, CF_ACCESS, same, 4, place, 2, &hint, &room) || room < ROWS)
        return -1;
    for (uint64_t i = 0; i < ROWS; i++) {
        ((uint64_t *)place[0].values)[i] = start + i;
        ((uint64_t *)place[1].values)[i] = 0x1000 + i * 8;
        hint[i] = 1000 * kind_of_row(i);
    }
    return cf_writer_placed(w, CF_ACCESS, ROWS) | cf_writer_flush(w);
}

/* Two stretches of rows, of which one has only an address of its own, and a row by itself. */
static inline int write_stretches(struct cf_writer *w, uint64_t start)
{
    const struct cf_values same[] = {{CF_TID, NULL, 5},
                                     {CF_OP, CF_BY_KIND, 0},
                                     {CF_SIZE, CF_BY_KIND, 0},
                                     {CF_PC, CF_BY_KIND, 0}};
    const struct cf_stretch_row row[] = {
        {0x1000, 1000, 0, 1}, {0x2345, 2000, 1, CF_STRETCH_NO_SLOT},
        {-8ull, 3000, 1, 0},  {0, 1000, 2, 0},
        {8, 4000, 2, 1},      {0x777, 2000, 0, CF_STRETCH_NO_SLOT}};
    struct cf_stretches *s;
    int five, one;

    for (uint32_t k = 1; k <= KINDS; k++)
        if (cf_writer_kind(w, 1000 * k, 0x400000 + 5 * k, k % 3 ? CF_LOAD : CF_STORE, 1u << k % 4,
                           0))
            return -1;
    if (!(s = cf_writer_stretches(w, same, 4)) || cf_stretches_wait(s, start) ||
        (five = cf_stretches_add(s, row, 5, 2, 3)) < 0 ||
        (one = cf_stretches_add(s, row + 5, 1, 0, 1)) < 0)
        return -1;
    for (uint64_t i = 0; i < ROWS / 7; i++) {
        const uint64_t slot[] = {0x10000 + 64 * i, 0x7fff00000000 - 8 * i};

        memcpy(s->slot + s->slot_bytes, &slot[0], 8);
        memcpy(s->slot + s->slot_bytes + CF_STRETCH_SLOT, &slot[1], 8);
        cf_stretches_come(s, (uint64_t)five, 5, 2 * CF_STRETCH_SLOT, 0, 2, 3);
        cf_stretches_come(s, (uint64_t)one, 1, 0, 0, 0, 1);
        if (cf_stretches_row(s, s->clock + i % 3, 0x5000 + i, 7000))
            return -1;
    }
    return cf_writer_stretched(w);
}

/* A snapshot of a cache in which each page has eight lines in neighbouring sets. Sets rise by small
   steps to more than a byte holds; physical addresses are within 256 GiB, virtual ones are not. */
static inline int write_lines(struct cf_writer *w, uint32_t rows, uint32_t number, uint64_t time)
{
    enum { LINE_ROWS = 96, WAYS = 4 };
    uint64_t phys[LINE_ROWS], addr[LINE_ROWS];
    uint32_t set[LINE_ROWS], way[LINE_ROWS], pid[LINE_ROWS];
    uint8_t state[LINE_ROWS];
    const struct cf_values snapshot[] = {{CF_SNAP, NULL, number},        {CF_TIME, NULL, time},
                                         {CF_MODE, NULL, CF_MODE_MODEL}, {CF_LEVEL, NULL, 2},
                                         {CF_SETS, NULL, 1024},          {CF_WAYS, NULL, WAYS}};
    const struct cf_values line[] = {
        {CF_SNAP, NULL, number}, {CF_LEVEL, NULL, 2}, {CF_SET, set, 0},   {CF_WAY, way, 0},
        {CF_STATE, state, 0},    {CF_PHYS, phys, 0},  {CF_ADDR, addr, 0}, {CF_PID, pid, 0}};

    for (uint32_t i = 0; i < rows; i++) {
        const uint64_t page = (i / (8 * WAYS) * WAYS + (i + i / WAYS) % WAYS) * 5 % 12 + number;

        set[i] = i / WAYS * 40;
        way[i] = i % WAYS;
        state[i] = page % 2 ? CF_STATE_MODIFIED : CF_STATE_SHARED;
        phys[i] = 0x80000000u + (page * 0x23456 << 12) + (uint64_t)(i / WAYS % 64) * 64;
        addr[i] = 0x400000 + (page * 0x2345678 << 12) + (uint64_t)(i / WAYS % 64) * 64;
        pid[i] = 70000 * (uint32_t)(page % 3);
    }
    return cf_writer_rows(w, CF_SNAPSHOT, 1, snapshot, 6, NULL) |
           cf_writer_rows(w, CF_LINE, rows, line, 8, NULL) | cf_writer_flush(w);
}

/* Writes the small stream, to standard output without a path. */
static inline void write_small(const char *path, enum form form)
{
    const struct cf_header header = {.clock_unit = (char *)"instructions",
                                     .clock_hz = 1000,
                                     .source = (char *)"test_damage",
                                     .command = (char *)"none",
                                     .line_size = 64};
    struct cf_writer *w = cf_writer_open(path, "test_damage");
    uint64_t time[64], addr[64], pc[64], start = 0x1000;
    uint8_t op[64];
    char problem[256];

    if (!w || cf_writer_header(w, &header))
        abort();
    for (uint64_t block = 0; block < (form == RAW || form == PACKED ? 6 : 2); block++) {
        const uint32_t label = cf_writer_string(w, block & 1 ? "odd" : "even, \"quoted\"");
        const struct cf_values map[] = {{CF_TIME, NULL, 400 * block}, {CF_PID, NULL, 5},
                                        {CF_OP, NULL, CF_MAPPED},     {CF_START, &start, 0},
                                        {CF_STOP, NULL, 0x9000},      {CF_LABEL, NULL, label}};
        const struct cf_values access[] = {{CF_TIME, time, 0}, {CF_TID, NULL, 5},  {CF_OP, op, 0},
                                           {CF_SIZE, NULL, 8}, {CF_ADDR, addr, 0}, {CF_PC, pc, 0}};
        for (uint64_t i = 0; i < 64; i++) {
            /* a loop of four instructions: what the packer is made for, with some surprises */
            time[i] = 400 * block + i * 3;
            pc[i] = 0x400000 + (i % 4) * 5;
            addr[i] = 0x1000 * (1 + i % 4) + (i / 4) * 8 + (i % 13 == 5 ? 0x12345678 : 0);
            op[i] = i % 4 == 3 ? CF_STORE : CF_LOAD;
        }
        if (cf_writer_rows(w, CF_MAP, 1, map, 6, NULL) ||
            (form == NUMBERED    ? write_numbered(w, 400 * block)
             : form == STRETCHES ? write_stretches(w, 400 * block)
             : form >= LINES ? write_lines(w, form == LINES ? 32 : 96, (uint32_t)block, 400 * block)
                             : cf_writer_rows(w, CF_ACCESS, 64, access, 6, NULL)) ||
            cf_writer_flush(w))
            abort();
    }
    if (cf_writer_close(w, 1, problem, sizeof(problem))) {
        fprintf(stderr, "%s\n", problem);
        abort();
    }
}

/* The small stream's bytes; exits when it cannot be made. */
static inline size_t make_small(uint8_t *bytes, enum form form)
{
    char name[] = "/tmp/cf-damage-XXXXXX", path[64];
    int fd = mkstemp(name);
    ssize_t n;

    snprintf(path, sizeof(path), "%s.cf", name);
    if (fd < 0)
        abort();
    if (form == PACKED || form == PACKED_LINES) {
        write_small(path, form);
        close(fd);
        fd = open(path, O_RDONLY);
    } else {
        piped_begin(name);
        write_small(NULL, form);
        piped_end();
    }
    n = fd < 0 ? -1 : pread(fd, bytes, MOST_BYTES, 0);
    unlink(name);
    unlink(path);
    close(fd);
    if (n <= 0 || n == MOST_BYTES)
        abort();
    return (size_t)n;
}

#endif
