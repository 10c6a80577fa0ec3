/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * session.h - what cf-capture-probe was asked for, and its run on the machine at hand: memory of
 * both kinds of pages, what is said of how it is measured, how long it may take and still takes.
 */
#ifndef CF_PROBE_SESSION_H
#define CF_PROBE_SESSION_H

#include "capture/base/cf_command.h"
#include "capture/probe/bench/here.h"
#include "capture/probe/probe.h"

enum { ANY_CPU = 0x7fffffff, EXPERIMENTS_MOST = 32 };

enum by { BY_ANY, BY_MISSES, BY_TIME };

struct options {
    const char *on, *output, *event;
    unsigned by;  /* enum by */
    uint32_t cpu; /* ANY_CPU: none was named */
    int quick, thorough;
    uint64_t max, seed;
    int noisy;     /* noise on a model, */
    double noise;  /* percent */
    unsigned only; /* bits, by number in experiments; 0: all */
};

struct capture {
    struct cf_tool tool;
    struct options o;
    struct cf_command command;
    struct cf_writer *writer;
    struct probe probe;
    struct cf_here *here;         /* NULL: a model is measured */
    struct cf_here *ordinary;     /* the same in ordinary pages, or NULL */
    int none;                     /* no cache was found */
    uint64_t began, rows, spoilt; /* began: nanoseconds of CLOCK_MONOTONIC */
    uint64_t written;             /* rows that --only leaves */
    double done, all; /* share that was done, and nanoseconds that all take by it; 0: unknown */
    uint32_t id[EXPERIMENTS_MOST]; /* of the names in the stream */
};

/* Exits where the machine cannot be measured as asked for. */
void session_open(struct capture *k);
void session_close(struct capture *k);
/* Facts of the header, and remarks. */
void session_state(struct capture *k);
/* All experiments, and remarks on what was left out or spoilt; see k->probe for errors. */
void session_measure(struct capture *k);
/* A line of progress. */
void session_show(struct capture *k, const struct probe_row *row);

#endif
