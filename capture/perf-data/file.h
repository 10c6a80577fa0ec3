/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * file.h - one perf.data file on its way to a stream: its head, its records, and what they become.
 */
#ifndef PERF_DATA_FILE_H
#define PERF_DATA_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <zstd.h>

#include "aux.h"
#include "capture/base/cf_samples.h"
#include "events.h"
#include "formats/base/cf_memory.h"
#include "input.h"
#include "order.h"

/* A thread that is known, and what it is called. */
struct perf_thread {
    uint32_t pid, tid;
    uint32_t label; /* number of the writer's string */
    uint8_t used;   /* the place in the table is not free */
    uint8_t alive;
};

struct perf_file {
    struct cf_tool *tool;
    struct cf_writer *out;
    struct perf_input in;
    struct perf_events events;
    struct perf_order order;
    struct cf_samples samples;
    int pipe;                /* it is of the form that perf writes to pipes */
    uint64_t data, data_end; /* where its records stand; data_end 0: up to the end */
    uint64_t events_end;     /* where its events end, and their ids */
    uint64_t features[PERF_FEATURES / 64];
    int begun;        /* the header of the stream was written */
    int told;         /* that the file is bad: one message is enough */
    int timed;        /* some event has times */
    int alike;        /* all events have records of one layout */
    int round_last;   /* the last record ended a round */
    unsigned id_at;   /* of a sample: words before the id that names its event, */
    unsigned id_back; /* and of other records words from the end; 0: there is none */
    uint64_t now;     /* time of the last record that had one, or number of the last sample */
    struct perf_thread *thread; /* a hash table */
    size_t threads, thread_room;
    struct cf_seed seed;
    ZSTD_DStream *zstd;
    struct cf_bytes plain; /* decompressed, from the first record that is not whole */
    struct perf_aux aux;
    uint64_t records, lost, lost_samples, throttled, strangers, unknown;
    uint64_t counted; /* records that perf says at its end that the kernel lost */
};

/* Reads the head up to the first record: 0, or -1 where it is no such file (reported). */
int perf_file_head(struct perf_file *f) CF_MUST_CHECK;

/* Passes over the features that follow the records: where the file is too short for them, or more
   stands behind them, says so. Call after the records. */
void perf_file_tail(struct perf_file *f);
/* Says that something else begins at byte `at`, where the file ends, of which the first 8 bytes or
   NULL are given. */
void perf_file_more(struct perf_file *f, uint64_t at, const uint8_t *bytes);
/* Whether 8 bytes begin a perf.data file of version 2. */
int perf_file_magic(const uint8_t *bytes);
/* Takes the features in, as far as they can be read, before the records. */
void perf_file_features(struct perf_file *f);

/* Warns that the file is bad at a byte, unless that was said already. */
void perf_file_bad(struct perf_file *f, uint64_t at, const char *format, ...) CF_PRINTF(3, 4);

/* Reads the records to their end. */
void perf_file_records(struct perf_file *f);

/* Writes the header of the stream, once the events are known. */
void perf_file_begin(struct perf_file *f);

/* The first record that is not perf's own comes, at byte `at`: 0, or -1 where the events do not
   permit to read any, which is then reported, and the input ended. */
int perf_file_ready(struct perf_file *f, uint64_t at) CF_MUST_CHECK;

/* A sample, as far as its bytes reach: 0, or -1 where it is too short for what its event says. */
int perf_sample_read(struct perf_file *f, const uint8_t *record, size_t bytes) CF_MUST_CHECK;

/* Which event a record of the kernel is of that is no sample, by the words at its end. NULL where
   that cannot be known. */
const struct perf_event_of *perf_record_event(struct perf_file *f, const uint8_t *record,
                                              size_t bytes);
/* Bytes of the words at its end, and its time. */
size_t perf_record_tail(const struct perf_event_of *event);
uint64_t perf_record_time(struct perf_file *f, const struct perf_event_of *event,
                          const uint8_t *record, size_t bytes);
/* The CPU that they state: 0, or -1 where they state none. */
int perf_record_cpu(const struct perf_file *f, const struct perf_event_of *event,
                    const uint8_t *record, size_t bytes, uint32_t *cpu);

/* Records of tasks, mappings and loss: -1 where one is too short. */
int perf_state_read(struct perf_file *f, unsigned type, const uint8_t *record,
                    size_t bytes) CF_MUST_CHECK;

/* For struct perf_order: completes a row of table task by those before it. The records of one CPU
   stand before those of another, so that only here they are in the order of time. */
int perf_state_task(void *file, struct perf_state *s);

/* No record comes any more: a row of what was lost behind the last of a ring. */
void perf_state_end(struct perf_file *f);

#endif
