/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sample.c - the fields of a sample, in the order of linux/perf_event.h (PERF_RECORD_SAMPLE), and
 * of the words at the end of other records (struct sample_id there).
 */
#include <linux/perf_event.h>

#include "file.h"

/* Later than the oldest header that the suite is built with. */
enum { BRANCH_COUNTERS = 1 << 19, FORMAT_LOST = 1 << 4, SAMPLE_WEIGHT_STRUCT = 1 << 24 };

/* The words of a sample, one after the other: what is not there makes it short. */
struct words {
    const struct perf_events *events;
    const uint8_t *at;
    size_t left; /* bytes */
    int is_short;
};

static uint64_t word(struct words *w)
{
    uint64_t v;

    if (w->left < 8) {
        w->is_short = 1;
        return 0;
    }
    v = perf_u64(w->events, w->at);
    w->at += 8;
    w->left -= 8;
    return v;
}

static void two(struct words *w, uint32_t *a, uint32_t *b)
{
    if (w->left < 8) {
        w->is_short = 1;
        return;
    }
    *a = perf_u32(w->events, w->at);
    *b = perf_u32(w->events, w->at + 4);
    w->at += 8;
    w->left -= 8;
}

static void skip(struct words *w, uint64_t count, size_t width)
{
    if (count > w->left / width) {
        w->is_short = 1;
        return;
    }
    w->at += count * width;
    w->left -= count * width;
}

static void skip_read(struct words *w, uint64_t format)
{
    const unsigned times =
        !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) + !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
    const unsigned each = 1 + !!(format & PERF_FORMAT_ID) + !!(format & FORMAT_LOST);

    if (format & PERF_FORMAT_GROUP) {
        const uint64_t n = word(w);

        skip(w, times, 8);
        skip(w, n, 8 * each);
    } else {
        skip(w, times + each, 8);
    }
}

static void skip_raw(struct words *w)
{
    uint64_t n;

    if (w->left < 4) {
        w->is_short = 1;
        return;
    }
    n = perf_u32(w->events, w->at);
    skip(w, n + 4, 1);
}

static void skip_registers(struct words *w, unsigned count)
{
    if (word(w) != PERF_SAMPLE_REGS_ABI_NONE)
        skip(w, count, 8);
}

/* What stands between period and weight: lists and copies of memory, of no use here. */
static void skip_middle(struct words *w, const struct perf_event_of *v)
{
    const uint64_t type = v->sample_type;

    if (type & PERF_SAMPLE_READ)
        skip_read(w, v->read_format);
    if (type & PERF_SAMPLE_CALLCHAIN)
        skip(w, word(w), 8);
    if (type & PERF_SAMPLE_RAW)
        skip_raw(w);
    if (type & PERF_SAMPLE_BRANCH_STACK) {
        const uint64_t n = word(w);

        if (v->branch_type & PERF_SAMPLE_BRANCH_HW_INDEX)
            skip(w, 1, 8);
        skip(w, n, v->branch_type & BRANCH_COUNTERS ? 32 : 24);
    }
    if (type & PERF_SAMPLE_REGS_USER)
        skip_registers(w, v->regs_user);
    if (type & PERF_SAMPLE_STACK_USER) {
        const uint64_t n = word(w);

        skip(w, n, 1);
        if (n)
            skip(w, 1, 8);
    }
}

enum {
    MIDDLE = PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW | PERF_SAMPLE_BRANCH_STACK |
             PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER
};

static void read_fields(struct perf_file *f, const struct perf_event_of *v, struct words *w,
                        struct cf_sample *s)
{
    const uint64_t type = v->sample_type;
    uint32_t none;

    if (type & PERF_SAMPLE_IDENTIFIER)
        (void)word(w);
    if (type & PERF_SAMPLE_IP)
        s->pc = word(w);
    if (type & PERF_SAMPLE_TID)
        two(w, &s->pid, &s->tid);
    if (type & PERF_SAMPLE_TIME)
        s->time = word(w);
    if (type & PERF_SAMPLE_ADDR)
        s->addr = word(w);
    if (type & PERF_SAMPLE_ID)
        (void)word(w);
    if (type & PERF_SAMPLE_STREAM_ID)
        (void)word(w);
    if (type & PERF_SAMPLE_CPU)
        two(w, &s->cpu, &none);
    s->period = type & PERF_SAMPLE_PERIOD ? word(w) : v->period ? v->period : 1;
    if (type & MIDDLE)
        skip_middle(w, v);
    if (type & (PERF_SAMPLE_WEIGHT | SAMPLE_WEIGHT_STRUCT)) {
        const uint64_t latency = word(w);

        s->latency = type & SAMPLE_WEIGHT_STRUCT ? (uint32_t)latency : latency;
    }
    if (type & PERF_SAMPLE_DATA_SRC)
        s->data_src = word(w);
    if (type & PERF_SAMPLE_TRANSACTION)
        (void)word(w);
    if (type & PERF_SAMPLE_REGS_INTR)
        skip_registers(w, v->regs_intr);
    if (type & PERF_SAMPLE_PHYS_ADDR)
        s->phys = word(w);
    if (!(type & PERF_SAMPLE_TIME))
        s->time = f->timed ? f->now : f->now + 1;
}

int perf_sample_read(struct perf_file *f, const uint8_t *record, size_t bytes)
{
    struct words w = {&f->events, record + 8, bytes - 8, 0};
    const struct perf_event_of *v = f->events.event;
    struct cf_sample s = {0};

    if (f->events.count > 1 && f->id_back) {
        if (w.left / 8 <= f->id_at)
            return -1;
        v = perf_events_find(&f->events, perf_u64(&f->events, w.at + 8 * (size_t)f->id_at));
    }
    if (!v) {
        f->strangers++;
        return 0;
    }
    s.event = (uint32_t)(v - f->events.event);
    s.op = (uint8_t)v->op;
    read_fields(f, v, &w, &s);
    if (w.is_short)
        return -1;
    f->now = s.time;
    perf_order_sample(&f->order, &s);
    return 0;
}

size_t perf_record_tail(const struct perf_event_of *v)
{
    const uint64_t type =
        v->sample_type & (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
                          PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER);

    return v->sample_id_all ? 8 * (size_t)__builtin_popcountll(type) : 0;
}

const struct perf_event_of *perf_record_event(struct perf_file *f, const uint8_t *record,
                                              size_t bytes)
{
    const size_t back = 8 * (size_t)f->id_back;
    const struct perf_event_of *v = f->events.event;

    if (f->events.count > 1 && !f->alike && back && v->sample_id_all && bytes >= 8 + back) {
        v = perf_events_find(&f->events, perf_u64(&f->events, record + bytes - back));
        if (!v) /* as of a record that perf made up */
            v = f->events.event;
    }
    return v && bytes >= 8 + perf_record_tail(v) ? v : NULL;
}

uint64_t perf_record_time(struct perf_file *f, const struct perf_event_of *v, const uint8_t *record,
                          size_t bytes)
{
    const uint8_t *at = record + bytes - perf_record_tail(v);

    if (!v->sample_id_all || !(v->sample_type & PERF_SAMPLE_TIME))
        return f->now;
    return perf_u64(&f->events, at + (v->sample_type & PERF_SAMPLE_TID ? 8 : 0));
}

int perf_record_cpu(const struct perf_file *f, const struct perf_event_of *v, const uint8_t *record,
                    size_t bytes, uint32_t *cpu)
{
    if (!v->sample_id_all || !(v->sample_type & PERF_SAMPLE_CPU))
        return -1;
    *cpu =
        perf_u32(&f->events, record + bytes - (v->sample_type & PERF_SAMPLE_IDENTIFIER ? 16 : 8));
    return 0;
}
