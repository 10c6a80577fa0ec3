/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * make_perf_data - files as perf record writes them, of samples that are drawn at random.
 *
 *     make_perf_data LAYOUT ENDIAN FORM SAMPLES SEED [FAULT] >FILE
 *
 * LAYOUT is intel (loads and stores as two events, weights of three parts), amd (ibs_op, of which
 * some samples have no address or operation) or spe (each record once for each event of it, as perf
 * inject makes them). ENDIAN is little or big, FORM file or pipe. Samples of two CPUs stand in
 * rounds, one CPU after the other, as perf copies them. FAULT: lost (records of loss), strange
 * (records, sample fields and bits of data_src of newer kernels), frequency, late (no rounds, and
 * one CPU behind the other), child (one whose name stands before its begin).
 */
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perf_bytes.h"

enum { ROUND = 12, EVENTS_MOST = 4, FEATURE_EVENTS = 12, FEATURE_HOST = 3, PID = 4242 };

struct event {
    const char *name;
    uint32_t type;
    uint64_t config, sample_type, id;
};

static int pipe_form;
static const char *fault = "";

/* ---- events ---- */

static unsigned make_events(const char *layout, struct event *e)
{
    const uint64_t common = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
                            PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_CPU |
                            PERF_SAMPLE_PERIOD | PERF_SAMPLE_DATA_SRC;
    const uint64_t intel = common | (UINT64_C(1) << 24) | PERF_SAMPLE_PHYS_ADDR;

    if (strcmp(layout, "intel") == 0) {
        e[0] = (struct event){"cpu/mem-loads,ldlat=30/P", PERF_TYPE_RAW, 0x1cd, intel, 101};
        e[1] = (struct event){"cpu/mem-stores/P", PERF_TYPE_RAW, 0x82d0, intel, 102};
        return 2;
    }
    if (strcmp(layout, "amd") == 0) {
        e[0] = (struct event){"ibs_op//", 9, 0, common | PERF_SAMPLE_WEIGHT, 201};
        return 1;
    }
    for (unsigned i = 0; i < EVENTS_MOST; i++) {
        static const char *const names[] = {"l1d-miss", "l1d-access", "tlb-access", "memory"};

        e[i] = (struct event){names[i], PERF_TYPE_HARDWARE, 1, common | PERF_SAMPLE_WEIGHT,
                              1000000301 + i};
    }
    return EVENTS_MOST;
}

static void put_attr(struct buffer *b, const struct event *e)
{
    const uint64_t flags = UINT64_C(1) << 18 | 1 << 8 | 1 << 9; /* sample_id_all, mmap, comm */
    const int frequency = strcmp(fault, "frequency") == 0;
    put(b, e->type, 4);
    put(b, 128, 4);
    put(b, e->config, 8);
    put(b, frequency ? 4000 : 1000, 8);
    put(b, e->sample_type | (strcmp(fault, "strange") == 0 ? UINT64_C(1) << 40 : 0), 8);
    put(b, 0, 8);
    put(b, bit_fields(flags | (frequency ? 1 << 10 : 0)), 8);
    for (unsigned i = 48; i < 128; i += 8)
        put(b, 0, 8);
}

/* ---- records ---- */

static void put_id(struct buffer *b, uint64_t time, const struct event *e)
{
    put(b, PID, 4);
    put(b, PID, 4);
    put(b, time, 8);
    put(b, 0, 8);
    put(b, e->id, 8);
}

static void put_start(struct buffer *b, const struct event *e, uint64_t time)
{
    size_t at = begin(b, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);

    put(b, PID, 4);
    put(b, PID, 4);
    put_text(b, "demo app");
    put_id(b, time, e);
    end(b, at);
    at = begin(b, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER | 1 << 14);
    put(b, PID, 4);
    put(b, PID, 4);
    put(b, 0x400000, 8);
    put(b, 0x2000, 8);
    put(b, 0, 8);
    put(b, 20, 1);
    put(b, 0, 3);
    for (unsigned i = 0; i < 20; i++)
        put(b, 0xa0 + i, 1);
    put(b, 5, 4);
    put(b, 2, 4);
    put_text(b, "/opt/demo app");
    put_id(b, time, e);
    end(b, at);
    at = begin(b, PERF_RECORD_FORK, 0);
    put(b, PID, 4);
    put(b, PID, 4);
    put(b, PID + 1, 4);
    put(b, PID, 4);
    put(b, time, 8);
    put_id(b, time, e);
    end(b, at);
}

static void put_name(struct buffer *b, const struct event *e, uint64_t time, const char *name,
                     uint16_t misc)
{
    const size_t at = begin(b, PERF_RECORD_COMM, misc);

    put(b, PID + 8, 4);
    put(b, PID + 8, 4);
    put_text(b, name);
    put_id(b, time, e);
    end(b, at);
}

/* A child's name, which it took on another CPU, and the program that it ran then: before the
   records of the CPU that it began on. */
static void put_child(struct buffer *b, const struct event *e, uint64_t time)
{
    size_t at;

    put_name(b, e, time + 2, "child", 0);
    at = begin(b, PERF_RECORD_EXIT, 0); /* another thread of it begins the program */
    put(b, PID + 8, 4);
    put(b, PID, 4);
    put(b, PID + 8, 4);
    put(b, PID, 4);
    put(b, time + 3, 8);
    put_id(b, time + 3, e);
    end(b, at);
    put_name(b, e, time + 3, "other", PERF_RECORD_MISC_COMM_EXEC);
    at = begin(b, PERF_RECORD_FORK, 0);
    put(b, PID + 8, 4);
    put(b, PID, 4);
    put(b, PID + 8, 4);
    put(b, PID, 4);
    put(b, time + 1, 8);
    put_id(b, time + 1, e);
    end(b, at);
}

static void put_exit(struct buffer *b, const struct event *e, uint64_t time, uint32_t tid)
{
    const size_t at = begin(b, PERF_RECORD_EXIT, 0);

    put(b, PID, 4);
    put(b, PID, 4);
    put(b, tid, 4);
    put(b, tid, 4);
    put(b, time, 8);
    put_id(b, time, e);
    end(b, at);
}

static void put_faults(struct buffer *b, const struct event *e, uint64_t time)
{
    size_t at;

    if (strcmp(fault, "lost") == 0) {
        at = begin(b, PERF_RECORD_LOST, 0);
        put(b, e->id, 8);
        put(b, 7, 8);
        put_id(b, time, e);
        end(b, at);
        at = begin(b, PERF_RECORD_LOST_SAMPLES, 0);
        put(b, 5, 8);
        put_id(b, time, e);
        end(b, at);
        for (unsigned misc = 0; misc <= 1 << 15; misc += 1 << 15) { /* perf's own, at its end */
            at = begin(b, PERF_RECORD_LOST_SAMPLES, (uint16_t)misc);
            put(b, 9, 8);
            put(b, 0, 8);
            put(b, 0, 8);
            put(b, 0, 8);
            put(b, e->id, 8);
            end(b, at);
        }
        at = begin(b, PERF_RECORD_THROTTLE, 0);
        put(b, time, 8);
        put(b, e->id, 8);
        put(b, 0, 8);
        put_id(b, time, e);
        end(b, at);
    } else if (strcmp(fault, "strange") == 0) {
        for (uint32_t type = 60; type <= 200; type += 140) {
            at = begin(b, type, 0);
            put(b, 1, 8);
            end(b, at);
        }
    }
}

struct access {
    uint64_t time, pc, addr, phys, period, weight, data_src;
    uint32_t tid, cpu;
};

static void put_sample(struct buffer *b, const struct event *e, const struct access *a)
{
    const size_t at = begin(b, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);

    put(b, e->id, 8);
    put(b, a->pc, 8);
    put(b, PID, 4);
    put(b, a->tid, 4);
    put(b, a->time, 8);
    put(b, a->addr, 8);
    put(b, a->cpu, 4);
    put(b, 0, 4);
    put(b, a->period, 8);
    put(b, a->weight, 8);
    put(b, a->data_src, 8);
    if (e->sample_type & PERF_SAMPLE_PHYS_ADDR)
        put(b, a->phys, 8);
    if (strcmp(fault, "strange") == 0)
        put(b, 0x1234, 8);
    end(b, at);
}

/* Values that FACTS has from real machines, and neighbours of theirs. */
static const uint64_t loads[] = {0x269100142,   0x469100442,    0x651200842,  0x1a89081042,
                                 0x21869080242, 0x103a6a802042, 0x10668100842};
static const uint64_t stores[] = {0x69080144, 0x51080184};
static const uint64_t spe[] = {0x88000182, 0x88000142, 0x88000882, 0x80000144, 0x80000184};

static struct access draw_access(const char *layout, uint64_t time, uint32_t cpu, int store)
{
    const uint64_t none = UINT64_C(0x1e05080021);
    struct access a = {.time = time, .tid = PID + (uint32_t)draw(2), .cpu = cpu};

    a.pc = 0x401000 + draw(64) * 4;
    a.addr = 0x7ffd10000000 + draw(1 << 20) * 8;
    a.phys = 0x123000000 + draw(1 << 20) * 8;
    a.period = 1000 + draw(5);
    a.weight = draw(700);
    if (strcmp(layout, "spe") == 0) {
        a.data_src = spe[draw(5)];
    } else {
        a.data_src = store ? stores[draw(2)] : loads[draw(7)];
        if (strcmp(layout, "intel") == 0)
            a.weight |= draw(90) << 32 | draw(2) << 48;
        else if (draw(5) == 0)
            a.data_src = none;
        else if (draw(5) == 0)
            a.addr = 0;
    }
    if (strcmp(fault, "strange") == 0)
        a.data_src = (a.data_src & ~(UINT64_C(15) << 33)) | UINT64_C(7) << 33 | UINT64_C(1) << 60;
    return a;
}

static void put_samples(struct buffer *b, const char *layout, const struct event *e,
                        unsigned events, unsigned samples)
{
    const int late = strcmp(fault, "late") == 0;
    const unsigned round = late ? samples : ROUND;
    const uint64_t start = UINT64_C(123456789000);

    for (unsigned first = 0; first < samples; first += round) {
        for (uint32_t cpu = 0; cpu < 2; cpu++)
            for (unsigned i = first; i < first + round && i < samples; i++) {
                const int store = strcmp(layout, "intel") == 0 ? (int)draw(2) : i % 3 == 0;
                const struct access a =
                    draw_access(layout, start + 1000 * (uint64_t)i + 300 * cpu, cpu, store);

                if (i % 2 != cpu)
                    continue;
                if (strcmp(layout, "spe") == 0)
                    for (unsigned k = (unsigned)draw(3); k < events; k++)
                        put_sample(b, &e[k], &a);
                else
                    put_sample(b, &e[store && events > 1], &a);
            }
        if (!late)
            end(b, begin(b, 68, 0));
    }
}

/* ---- the two forms ---- */

static void put_names(struct buffer *b, const struct event *e, unsigned events)
{
    put(b, events, 4);
    put(b, 128, 4);
    for (unsigned i = 0; i < events; i++) {
        char name[64] = {0};

        put_attr(b, &e[i]);
        put(b, 1, 4);
        put(b, sizeof name, 4);
        snprintf(name, sizeof name, "%s", e[i].name);
        put_bytes(b, name, sizeof name);
        put(b, e[i].id, 8);
    }
}

static void put_pipe_events(struct buffer *b, const struct event *e, unsigned events)
{
    size_t at;

    for (unsigned i = 0; i < events; i++) {
        at = begin(b, 64, 0);
        put_attr(b, &e[i]);
        put(b, e[i].id, 8);
        end(b, at);
    }
    at = begin(b, 80, 0);
    put(b, FEATURE_EVENTS, 8);
    put_names(b, e, events);
    end(b, at);
}

static void put_head(struct buffer *b, const struct event *e, unsigned events, size_t data)
{
    const size_t ids = 104, attrs = ids + 8 * events, records = attrs + 144 * events;

    put(b, 144, 8);
    put(b, attrs, 8);
    put(b, 144 * events, 8);
    put(b, records, 8);
    put(b, data, 8);
    put(b, 0, 8);
    put(b, 0, 8);
    put(b, 1 << FEATURE_EVENTS | 1 << FEATURE_HOST, 8);
    for (unsigned i = 0; i < 3; i++)
        put(b, 0, 8);
    for (unsigned i = 0; i < events; i++)
        put(b, e[i].id, 8);
    for (unsigned i = 0; i < events; i++) {
        put_attr(b, &e[i]);
        put(b, ids + 8 * i, 8);
        put(b, 8, 8);
    }
}

static void put_tail(struct buffer *b, const struct event *e, unsigned events)
{
    struct buffer names = {0};
    char host[64] = "bench1";
    const size_t at = b->used + 32;

    put_names(&names, e, events);
    put(b, at, 8);
    put(b, 4 + sizeof host, 8);
    put(b, at + 4 + sizeof host, 8);
    put(b, names.used, 8);
    put(b, sizeof host, 4);
    put_bytes(b, host, sizeof host);
    put_bytes(b, names.data, names.used);
    free(names.data);
}

int main(int argc, char **argv)
{
    struct event e[EVENTS_MOST] = {0};
    struct buffer records = {0}, all = {0};
    unsigned events, samples;
    int failed;

    if (argc < 6)
        return 2;
    big = strcmp(argv[2], "big") == 0;
    pipe_form = strcmp(argv[3], "pipe") == 0;
    samples = (unsigned)strtoul(argv[4], NULL, 10);
    state = strtoull(argv[5], NULL, 10);
    if (argc > 6)
        fault = argv[6];
    events = make_events(argv[1], e);
    put(&all, UINT64_C(0x32454c4946524550), 8);
    put(&all, pipe_form ? 16 : 104, 8);
    if (pipe_form)
        put_pipe_events(&all, e, events);
    put_start(&records, e, UINT64_C(123456788000));
    if (strcmp(fault, "child") == 0)
        put_child(&records, e, UINT64_C(123456788000));
    put_faults(&records, e, UINT64_C(123456788000));
    put_samples(&records, argv[1], e, events, samples);
    put_exit(&records, e, UINT64_C(123456789000) + 1000 * (uint64_t)samples, PID + 1);
    put_exit(&records, e, UINT64_C(123456789000) + 1000 * (uint64_t)samples, PID);
    end(&records, begin(&records, 68, 0));
    if (!pipe_form)
        put_head(&all, e, events, records.used);
    put_bytes(&all, records.data, records.used);
    if (!pipe_form)
        put_tail(&all, e, events);
    free(records.data);
    failed = fwrite(all.data, 1, all.used, stdout) != all.used || fflush(stdout) != 0;
    free(all.data);
    return failed;
}
