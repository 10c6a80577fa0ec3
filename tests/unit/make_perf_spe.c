/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * make_perf_spe - files as perf record writes them of ARM's SPE: its traces, with records that are
 * drawn at random.
 *
 *     make_perf_spe LAYOUT ENDIAN FORM RECORDS SEED [FAULT] >FILE
 *
 * LAYOUT is context (a trace for each of two CPUs, whose records state their threads; the data
 * sources of Neoverse N1), switch (the same, where the kernel's records state who runs), task (the
 * same of one program's threads), generic (context, of a processor whose data sources are not
 * known) or thread (a trace for one thread, without times). ENDIAN is little or big, FORM file or
 * pipe. FAULT: v2 (newer metadata, of Neoverse V2), noclock (nothing says what counts mean),
 * truncated (the kernel says that records were lost), snapshot (traces begin anywhere), unknown
 * (packets of newer processors), damaged (a byte that is no packet, now and then), branches
 * (nothing else), nobody (no switches), first (traces come before all other records), lag (those of
 * one CPU come at the end), short (counts of 31 bits, which went round), pt (the trace of another
 * unit), nophys (the event does not say that there are physical addresses).
 *
 * Records have packets as DDI 0487 describes them, in the order of Neoverse N1.
 */
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perf_bytes.h"

enum {
    PMU = 9,
    ID = 101,
    ID_DUMMY = 102,
    PID = 4242,
    CPUS = 2,
    PIECES = 3,
    FEATURE_HOST = 3,
    FEATURE_CPUID = 9,
    FEATURE_AUXTRACE = 18,
    STEP = 25, /* counts between two records, of 40 ns */
    INDEX_MOST = 64,
};

static const char *layout, *fault = "";
static int pipe_form, timed;
static uint64_t first_count = UINT64_C(3000000000);
static struct {
    uint64_t at, bytes;
} piece[INDEX_MOST];
static unsigned pieces;

static int is(const char *word, const char *what)
{
    return strcmp(word, what) == 0;
}

/* The bits that the hardware's counter has. */
static uint64_t count_mask(void)
{
    return (UINT64_C(1) << (is(fault, "short") ? 31 : 56)) - 1;
}

static uint64_t time_of(uint64_t count)
{
    return 1000 + 40 * count;
}

/* ---- the trace, which is little-endian anywhere ---- */

static void put_le(struct buffer *b, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        put(b, value >> 8 * i & 255, 1);
}

static void put_packet(struct buffer *b, unsigned header, uint64_t payload)
{
    put_le(b, header, 1);
    put_le(b, payload, 1u << (header >> 4 & 3));
}

static void put_extended(struct buffer *b, unsigned header, unsigned index, uint64_t payload)
{
    put_le(b, 0x20 | index >> 3, 1);
    put_packet(b, header | (index & 7), payload);
}

static unsigned done; /* records */

static uint64_t draw_events(int access)
{
    uint64_t events = 2;

    if (!access)
        return events | (draw(4) == 0) << 7;
    events |= (draw(8) != 0) << 2 | (draw(3) == 0) << 3 | (draw(2) << 4) | (draw(4) == 0) << 5;
    if (draw(3) == 0)
        events |= 1 << 8 | draw(2) << 9;
    return events | (draw(9) == 0) << 10 | draw(2) << 17;
}

/* class: 0 other, 1 load or store, 2 branch. */
static void put_record(struct buffer *b, uint64_t count, uint32_t tid, unsigned class)
{
    static const uint8_t sources[] = {0, 8, 9, 10, 11, 12, 13, 14, 0, 8, 3};
    const int access = class == 1, kernel = draw(6) == 0, store = draw(3) == 0;
    const uint64_t pc = kernel ? UINT64_C(0xa0ff800008000000) : UINT64_C(0x8000000000401000);

    if (is(fault, "damaged") && done % 9 == 8)
        put_le(b, 0x07, 1);
    if (is(fault, "unknown") && done % 3 == 0)
        put_packet(b, 0x7f, 0xb2b2b2b2);
    put_packet(b, 0xb0, pc + 4 * draw(64));
    if (is(layout, "context") || is(layout, "generic"))
        put_packet(b, 0x64, tid);
    put_packet(b, 0x52, draw_events(access));
    put_packet(b, 0x98, 3 + draw(500));
    put_packet(b, 0x99, 1 + draw(3));
    put_packet(b, 0x48 | class, store | draw(2) << 2);
    if (access && draw(20)) {
        put_packet(b, 0xb2,
                   kernel ? UINT64_C(0xfff00010000000) + draw(1 << 20) * 8
                          : draw(256) << 56 | (UINT64_C(0xfff000000000) + draw(1 << 20) * 8));
        put_packet(b, 0xb3, UINT64_C(1) << 63 | (0x123000000 + draw(1 << 20) * 8));
        put_packet(b, 0x9a, draw(30));
    } else if (class == 2) {
        put_packet(b, 0xb1, pc + 4 * draw(64));
    }
    if (access && !store)
        put_packet(b, 0x43, sources[draw(sizeof sources)]);
    if (draw(5) == 0)
        put_extended(b, 0x98, 9, draw(100));
    if (timed)
        put_packet(b, 0x71, count & count_mask());
    else
        put_le(b, 0x01, 1);
    if (draw(7) == 0)
        put_le(b, 0x0022, 2); /* aligned to 8 bytes; what lies between has no meaning */
    while (b->used % 8)
        put_le(b, 0, 1);
    done++;
}

/* ---- the head ---- */

static void put_attr(struct buffer *b, int dummy)
{
    const uint64_t flags = UINT64_C(1) << 18 | 1 << 8 | 1 << 9;
    uint64_t type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID;

    if (timed)
        type |= PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
    if (!dummy)
        type |= PERF_SAMPLE_DATA_SRC | (is(fault, "nophys") ? 0 : PERF_SAMPLE_PHYS_ADDR);
    put(b, dummy ? PERF_TYPE_SOFTWARE : PMU, 4);
    put(b, 128, 4);
    put(b, dummy ? PERF_COUNT_SW_DUMMY : UINT64_C(0x600000003), 8);
    put(b, dummy ? 1 : 1024, 8);
    put(b, type, 8);
    put(b, 0, 8);
    put(b, bit_fields(flags), 8);
    for (unsigned i = 48; i < 128; i += 8)
        put(b, 0, 8);
}

static void put_info(struct buffer *b)
{
    size_t at;

    if (!is(fault, "noclock")) {
        at = begin(b, 79, 0);
        put(b, 24, 8);
        put(b, UINT64_C(40) << 24, 8);
        put(b, 1000, 8);
        put(b, first_count - 1000, 8);
        put(b, count_mask(), 8);
        put(b, 1, 1);
        put(b, 1, 1);
        for (unsigned i = 0; i < 6; i++)
            put(b, 0, 1);
        end(b, at);
    }
    at = begin(b, 70, 0);
    put(b, is(fault, "pt") ? 1 : 4, 4);
    put(b, 0, 4);
    if (is(fault, "v2")) {
        const uint64_t head[] = {2, 4, PMU, CPUS};

        for (unsigned i = 0; i < 4; i++)
            put(b, head[i], 8);
        for (unsigned i = 0; i < CPUS; i++) {
            const uint64_t cpu[] = {UINT64_C(0x1010101010101010), i, 3, 0x410fd4f1, PMU, 256};

            for (unsigned k = 0; k < 6; k++)
                put(b, cpu[k], 8);
        }
    } else {
        put(b, PMU, 8);
        put(b, timed, 8);
    }
    end(b, at);
}

/* ---- the kernel's records ---- */

static void put_id(struct buffer *b, uint64_t time, uint32_t tid, uint32_t cpu, uint64_t id)
{
    put(b, tid ? PID : 0, 4);
    put(b, tid, 4);
    if (timed) {
        put(b, time, 8);
        put(b, cpu, 4);
        put(b, 0, 4);
    }
    put(b, id, 8);
}

static void put_comm(struct buffer *b, uint64_t time)
{
    const size_t at = begin(b, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);

    put(b, PID, 4);
    put(b, PID, 4);
    put_text(b, "demo app");
    put_id(b, time, PID, 0, ID_DUMMY);
    end(b, at);
}

/* A second thread begins, or both end. */
static void put_task(struct buffer *b, unsigned type, uint64_t time, uint32_t tid)
{
    const size_t at = begin(b, type, 0);

    put(b, PID, 4);
    put(b, PID, 4);
    put(b, tid, 4);
    put(b, type == PERF_RECORD_FORK ? PID : tid, 4);
    put(b, time, 8);
    put_id(b, time, tid, 0, ID_DUMMY);
    end(b, at);
}

/* The thread leaves the CPU to another one. */
static void put_switch(struct buffer *b, uint64_t time, uint32_t cpu, uint32_t from, uint32_t to)
{
    const size_t at = begin(b, PERF_RECORD_SWITCH_CPU_WIDE, PERF_RECORD_MISC_SWITCH_OUT);

    put(b, to ? PID : 0, 4);
    put(b, to, 4);
    put_id(b, time, from, cpu, ID_DUMMY);
    end(b, at);
}

/* The same where only the threads of one program are recorded. */
static void put_own_switch(struct buffer *b, uint64_t time, uint32_t cpu, uint32_t from,
                           uint32_t to)
{
    size_t at;

    if (from) {
        at = begin(b, PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT);
        put_id(b, time - 1, from, cpu, ID_DUMMY);
        end(b, at);
        at = begin(b, PERF_RECORD_SWITCH, 0);
        put_id(b, time, to, cpu, ID_DUMMY);
        end(b, at);
        return;
    }
    at = begin(b, PERF_RECORD_ITRACE_START, 0);
    put(b, PID, 4);
    put(b, to, 4);
    put_id(b, time, to, cpu, ID);
    end(b, at);
}

static void put_aux(struct buffer *b, uint64_t time, uint32_t cpu, uint64_t offset, uint64_t bytes)
{
    const size_t at = begin(b, PERF_RECORD_AUX, 0);

    put(b, offset, 8);
    put(b, bytes, 8);
    put(b, is(fault, "truncated") ? 1 | 8 : is(fault, "snapshot") ? 2 : 0, 8);
    put_id(b, time, PID, cpu, ID);
    end(b, at);
}

/* A piece of trace, of which the first `from` bytes were overwritten. */
static void put_trace(struct buffer *b, uint32_t cpu, const struct buffer *trace, size_t from,
                      uint64_t offset)
{
    size_t at;

    piece[pieces].at = b->used;
    piece[pieces++].bytes = 48;
    at = begin(b, 71, 0);
    put(b, trace->used - from, 8);
    put(b, offset + from, 8);
    put(b, 0, 8);
    put(b, cpu, 4);
    put(b, timed ? UINT32_MAX : PID + 1, 4);
    put(b, timed ? cpu : UINT32_MAX, 4);
    put(b, 0, 4);
    end(b, at);
    if (trace->used > from)
        put_bytes(b, trace->data + from, trace->used - from);
}

static uint32_t thread_of(unsigned part, uint32_t cpu)
{
    return PID + (part + cpu) % 2;
}

struct part {
    struct buffer trace, kernel;
    uint64_t offset;
};

/* What a CPU records between two rounds, of two threads one after the other. */
static void make_part(struct part *q, unsigned from, unsigned to, uint32_t cpu)
{
    for (unsigned i = from; i < to; i++) {
        const unsigned half = i - from < (to - from) / 2 ? 0 : 1;
        const uint64_t count = first_count + STEP * (uint64_t)i + 10 * cpu + draw(9);

        if ((is(layout, "switch") || is(layout, "task")) && !is(fault, "nobody") &&
            (i == from || i == from + (to - from) / 2))
            (is(layout, "task") ? put_own_switch : put_switch)(
                &q->kernel, time_of(first_count + STEP * (uint64_t)i), cpu,
                i ? thread_of(half + 1, cpu) : 0, thread_of(half, cpu));
        put_record(&q->trace, count, thread_of(half, cpu),
                   is(fault, "branches") ? 2
                   : draw(6)             ? 1
                                         : 2 * (unsigned)draw(2));
    }
    put_aux(&q->kernel, time_of(first_count + STEP * (uint64_t)to), cpu, q->offset, q->trace.used);
}

static void put_part_trace(struct buffer *b, struct part *q, uint32_t cpu)
{
    put_trace(b, cpu, &q->trace, is(fault, "snapshot") ? 5 : 0, q->offset);
    free(q->trace.data);
}

static void put_pieces(struct buffer *b, unsigned records)
{
    const unsigned each = records / PIECES + 1;
    const uint32_t cpus = timed ? CPUS : 1, late = is(fault, "lag") ? 1 : CPUS;
    struct part part[PIECES][CPUS] = {{{{0}, {0}, 0}}};

    for (unsigned p = 0; p < PIECES; p++)
        for (uint32_t cpu = 0; cpu < cpus; cpu++) {
            const unsigned from = each * p < records ? each * p : records;

            if (p)
                part[p][cpu].offset = part[p - 1][cpu].offset + part[p - 1][cpu].trace.used;
            make_part(&part[p][cpu], from, from + each > records ? records : from + each, cpu);
        }
    for (unsigned p = 0; p < PIECES; p++) {
        for (uint32_t cpu = 0; cpu < cpus; cpu++) {
            struct part *q = &part[p][cpu];

            /* The kernel's records stand before or behind it, as may be. */
            if (p % 2 == 0 && !is(fault, "first"))
                put_bytes(b, q->kernel.data, q->kernel.used);
            if (cpu < late)
                put_part_trace(b, q, cpu);
            if (p % 2 || is(fault, "first"))
                put_bytes(b, q->kernel.data, q->kernel.used);
            free(q->kernel.data);
        }
        end(b, begin(b, 68, 0));
    }
    for (unsigned p = 0; p < PIECES; p++)
        for (uint32_t cpu = late; cpu < cpus; cpu++)
            put_part_trace(b, &part[p][cpu], cpu);
}

/* ---- the two forms ---- */

static void put_string(struct buffer *b, const char *text)
{
    char padded[64] = {0};

    strcpy(padded, text);
    put(b, sizeof padded, 4);
    put_bytes(b, padded, sizeof padded);
}

static void put_cpuid(struct buffer *b)
{
    /* Neoverse N1; one of HiSilicon */
    put_string(b, is(layout, "generic") ? "0x00000000481fd010" : "0x00000000410fd0c1");
}

static void put_pipe_head(struct buffer *b)
{
    size_t at;

    for (int dummy = 0; dummy < 2; dummy++) {
        at = begin(b, 64, 0);
        put_attr(b, dummy);
        put(b, dummy ? ID_DUMMY : ID, 8);
        end(b, at);
    }
    at = begin(b, 80, 0);
    put(b, FEATURE_CPUID, 8);
    put_cpuid(b);
    put(b, 0, 4);
    end(b, at);
}

static void put_file_head(struct buffer *b, size_t data)
{
    put(b, 144, 8);
    put(b, 120, 8);
    put(b, 2 * 144, 8);
    put(b, 120 + 2 * 144, 8);
    put(b, data, 8);
    put(b, 0, 8);
    put(b, 0, 8);
    put(b, 1 << FEATURE_HOST | 1 << FEATURE_CPUID | 1 << FEATURE_AUXTRACE, 8);
    for (unsigned i = 0; i < 3; i++)
        put(b, 0, 8);
    put(b, ID, 8);
    put(b, ID_DUMMY, 8);
    for (int dummy = 0; dummy < 2; dummy++) {
        put_attr(b, dummy);
        put(b, 104 + 8 * (unsigned)dummy, 8);
        put(b, 8, 8);
    }
}

static void put_tail(struct buffer *b, size_t data)
{
    struct buffer section[3] = {{0}};
    size_t at = b->used + 3 * 16;

    put_string(&section[0], "bench1");
    put_cpuid(&section[1]);
    put(&section[2], pieces, 8);
    for (unsigned i = 0; i < pieces; i++) {
        put(&section[2], piece[i].at + data, 8);
        put(&section[2], piece[i].bytes, 8);
    }
    for (unsigned i = 0; i < 3; i++) {
        put(b, at, 8);
        put(b, section[i].used, 8);
        at += section[i].used;
    }
    for (unsigned i = 0; i < 3; i++) {
        put_bytes(b, section[i].data, section[i].used);
        free(section[i].data);
    }
}

int main(int argc, char **argv)
{
    struct buffer records = {0}, all = {0};
    unsigned count;
    int failed;

    if (argc < 6)
        return 2;
    layout = argv[1];
    big = is(argv[2], "big");
    pipe_form = is(argv[3], "pipe");
    count = (unsigned)strtoul(argv[4], NULL, 10);
    state = strtoull(argv[5], NULL, 10);
    if (argc > 6)
        fault = argv[6];
    timed = !is(layout, "thread");
    put(&all, UINT64_C(0x32454c4946524550), 8);
    put(&all, pipe_form ? 16 : 104, 8);
    if (pipe_form)
        put_pipe_head(&all);
    put_info(&records);
    if (is(fault, "first"))
        put_pieces(&records, count);
    put_comm(&records, time_of(first_count) - 2000);
    put_task(&records, PERF_RECORD_FORK, time_of(first_count) - 1000, PID + 1);
    if (!is(fault, "first"))
        put_pieces(&records, count);
    put_task(&records, PERF_RECORD_EXIT, time_of(first_count + STEP * (uint64_t)count + 50),
             PID + 1);
    put_task(&records, PERF_RECORD_EXIT, time_of(first_count + STEP * (uint64_t)count + 50), PID);
    end(&records, begin(&records, 68, 0));
    if (!pipe_form)
        put_file_head(&all, records.used);
    put_bytes(&all, records.data, records.used);
    if (!pipe_form)
        put_tail(&all, 120 + 2 * 144);
    free(records.data);
    failed = fwrite(all.data, 1, all.used, stdout) != all.used || fflush(stdout) != 0;
    free(all.data);
    return failed;
}
