/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * order.h - puts records into the order of time. perf copies the rings of one CPU after the other
 * into a file, so that only rounds of copying are in order: what was recorded before a round began
 * stands before the end of the next one. Where that is not so, everything is held.
 *
 * Memory: what stands between the ends of two rounds, at most `most` records (at 116 bytes); then
 * the earlier half goes out.
 */
#ifndef PERF_DATA_ORDER_H
#define PERF_DATA_ORDER_H

#include <stdint.h>

#include "capture/base/cf_samples.h"

struct perf_key {
    uint64_t time;
    uint32_t at; /* place of the record */
};

/* A row of table task, map or lost. */
struct perf_state {
    uint64_t time;
    unsigned table;
    uint32_t pid, tid, parent, cpu;
    uint32_t maker;        /* of a thread that is forked: that of `parent` whose name it has */
    uint32_t label, build; /* numbers of the writer's strings */
    uint8_t op, perms, forked;
    uint64_t start, end, offset;
    uint64_t count; /* of what was lost */
};

struct perf_order {
    struct cf_tool *tool;
    struct cf_writer *out;
    struct cf_samples *samples;
    size_t most;
    /* Completes a sample that is unowned, before it is handed on, or NULL. */
    void (*owner)(void *arg, struct cf_sample *sample);
    /* Completes a row of table task, in the order of time: 0 where it is to be left out, 2 where
       its process runs another program from then on. */
    int (*task)(void *arg, struct perf_state *state);
    void *arg;
    int unrounded;            /* samples come long after their time: rounds say nothing of them */
    struct cf_sample *sample; /* held */
    struct perf_key *key, *spare;
    size_t held, room, key_room, spare_room;
    struct perf_state *state;
    size_t states, state_room;
    struct perf_key *state_key, *state_spare;
    size_t state_key_room, state_spare_room;
    uint64_t newest;     /* time of all records so far */
    uint64_t round;      /* the same when the last round ended */
    uint64_t sent;       /* samples up to it were handed on */
    uint64_t state_sent; /* the same of the states */
    int any_sent;
    uint64_t late; /* samples that came after later ones were handed on, and were left out */
};

void perf_order_free(struct perf_order *o);

/* What is added is handed on by the functions below. */
void perf_order_sample(struct perf_order *o, const struct cf_sample *sample);
void perf_order_state(struct perf_order *o, const struct perf_state *state);

/* A round has ended. */
void perf_order_round(struct perf_order *o);

/* Nothing more comes. */
void perf_order_end(struct perf_order *o);

#endif
