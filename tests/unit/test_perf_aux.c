/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_perf_aux.c - rings of an event that writes a trace, as the kernel and ARM's SPE would fill
 * them: records in one, the trace in the other, both going round.
 */
#include "capture/events/aux.c"
#include "capture/events/owned.c"
#include "capture/events/records.c"
#include "tests/unit/tap.h"

enum {
    PAGE = 4096,
    DATA = 4096,
    TRACE = 256,
    ID = 77,
    TRACK = 76,
    PERIOD = 1024,
    FD = 1000,   /* none that is open */
    RECORD = 32, /* bytes of a record of the trace */
};

static struct cf_records *r;
static uint8_t *memory, *trace;
static uint64_t trace_head;

static struct perf_event_mmap_page *page(void)
{
    return (struct perf_event_mmap_page *)memory;
}

static void begin(void)
{
    free(memory);
    free(trace);
    memory = calloc(1, PAGE + DATA);
    trace = calloc(1, TRACE);
    r = cf_records_new(DATA);
    if (!memory || !trace || !r ||
        cf_array_room(&r->ring, &r->rings_room, 1, sizeof *r->ring) != 0 ||
        cf_array_room(&r->event, &r->events_room, 2, sizeof *r->event) != 0)
        exit(3);
    page()->data_offset = PAGE;
    page()->data_head = page()->data_tail = DATA - 40; /* the next record goes round */
    trace_head = page()->aux_tail = 3 * TRACE - 40;
    r->ring[r->rings++] = (struct ring){.fd = FD, .page = page(), .bytes = DATA};
    r->ring[0].aux = (struct cf_aux){page(), trace, TRACE, 0x410fd0c1};
    r->event[r->events++] = (struct event){TRACK, 0, FD, CF_PERF_TRACK, 0};
    r->event[r->events++] = (struct event){ID, PERIOD, FD + 1, CF_PERF_BOTH, 0};
}

static void end(void)
{
    r->rings = r->events = 0; /* what no kernel has made */
    cf_records_free(r);
}

static void put(const void *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        memory[PAGE + (page()->data_head + i) % DATA] = ((const uint8_t *)bytes)[i];
    page()->data_head += n;
}

static void put_u64(uint64_t value)
{
    put(&value, sizeof value);
}

/* A record of 3 words, and the words behind it. */
static void put_record(uint32_t type, const uint64_t *word, uint32_t tid, uint64_t time,
                       uint64_t id)
{
    const struct perf_event_header h = {.type = type, .size = sizeof h + 24 + TRAILER};
    const uint32_t who[] = {4242, tid};

    put(&h, sizeof h);
    put(word, 24);
    put(who, sizeof who);
    put_u64(time);
    put_u64(3); /* cpu */
    put_u64(id);
}

/* All that came to the trace since `from`. */
static void put_aux(uint64_t from, uint64_t flags, uint32_t tid, uint64_t time)
{
    put_record(PERF_RECORD_AUX, (const uint64_t[]){from, trace_head - from, flags}, tid, time, ID);
}

static void trace_bytes(const void *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        trace[(trace_head + i) % TRACE] = ((const uint8_t *)bytes)[i];
    trace_head += n;
}

static void trace_record(uint8_t class, uint8_t payload, uint64_t addr, uint64_t count)
{
    uint8_t bytes[RECORD] = {0x49, 0, 0x98, 9, 0, 0xb2};

    bytes[0] = 0x48 | class;
    bytes[1] = payload;
    memcpy(bytes + 6, &addr, 8); /* little-endian, as both machines are that have run this */
    bytes[14] = 0x43;
    bytes[15] = 8; /* L2 */
    bytes[16] = 0x71;
    memcpy(bytes + 17, &count, 8);
    trace_bytes(bytes, RECORD);
}

/* Reads what is there, when the counter stands at 5000 and the clock at 1,000,000 ns. */
static void read_all(void)
{
    if (cf_records_read(r, 1000000, UINT64_MAX) != 0)
        exit(3);
}

/* The counter of this machine is not SPE's: the reading takes that of the test. */
static void set_clock(void)
{
    r->clock = (struct cf_aux_clock){.count = 5000, .hz = 100000000, .ns = 1000000};
}

static struct cf_record next(void)
{
    struct cf_record record;

    if (!cf_records_next(r, 1, &record))
        record.type = 0;
    return record;
}

static void read_with_clock(void)
{
    set_clock();
    if (read_ring(r, &r->ring[0]) != 0)
        exit(3);
}

static void test_samples(void)
{
    struct cf_record s;
    uint64_t first;

    begin();
    first = trace_head;
    trace_record(1, 0, 0x1000, 4900); /* a load */
    trace_record(2, 0, 0x2000, 4950); /* a branch */
    trace_record(1, 1, 0x3000, 4990); /* a store, around the end of the ring */
    put_aux(first, 0, 4243, 1000);
    first = trace_head;
    trace_record(1, 0, 0x4000, 4800);
    put_aux(first, 0, 4244, 1001);
    read_with_clock();
    s = next();
    ok(s.type == PERF_RECORD_AUX && s.tid == 4243, "the kernel's records come through");
    ok(next().type == PERF_RECORD_AUX, "both");
    s = next();
    ok(s.type == PERF_RECORD_SAMPLE && s.addr == 0x4000 && s.tid == 4244,
       "samples are put in order");
    s = next();
    ok(s.addr == 0x1000 && s.pid == 4242 && s.tid == 4243 && s.cpu == 3,
       "of the thread that the record states");
    is_u64(s.time, 1000000 - 1000, "the time is reckoned from the counter");
    is_u64(s.period, PERIOD, "the period is the event's");
    is_u64(s.latency, 9, "latency");
    ok((s.data_src & 31) == PERF_MEM_OP_LOAD && s.level == 2, "a load that hit the second level");
    s = next();
    ok(s.addr == 0x3000 && (s.data_src & 31) == PERF_MEM_OP_STORE, "around the end of the ring");
    is_u64(s.time, 1000000 - 100, "its time");
    is_u64(next().type, 0, "a branch is none");
    is_u64(page()->aux_tail, trace_head, "the trace is given back to the kernel");
    is_u64(page()->data_tail, page()->data_head, "the records, too");
    is_u64(cf_records_bad(r), 0, "all was understood");
    end();
}

/* What no kernel writes, and what it writes when the ring is full. */
static void test_damage(void)
{
    const struct perf_event_header tiny = {.type = PERF_RECORD_AUX,
                                           .size = sizeof tiny + 8 + TRAILER};
    uint64_t first;
    struct cf_record s;

    begin();
    first = trace_head;
    trace_record(1, 0, 0x1000, 4900);
    trace_bytes("\x49\x00\xb2", 3); /* cut off */
    put_aux(first, PERF_AUX_FLAG_TRUNCATED | PERF_AUX_FLAG_PARTIAL, 4243, 1000);
    put_record(PERF_RECORD_AUX, (const uint64_t[]){trace_head, TRACE + 1, 0}, 4243, 1001, ID);
    put(&tiny, sizeof tiny); /* without what it should state */
    put_u64(1);
    put_u64(4242);
    put_u64(1002);
    put_u64(0);
    put_u64(ID);
    read_with_clock();
    s = next();
    ok(s.type == PERF_RECORD_AUX && cf_record_word(s.body + 16) == 5, "flags come through");
    ok(next().type == PERF_RECORD_AUX && next().type == PERF_RECORD_AUX, "all of them");
    s = next();
    ok(s.type == PERF_RECORD_SAMPLE && s.addr == 0x1000, "what is whole is taken");
    is_u64(next().type, 0, "and nothing else");
    is_u64(cf_records_bad(r), 2, "a record cut off, and more bytes than the ring has, are counted");
    is_u64(page()->aux_tail, trace_head, "these are not given back");
    end();
}

static void test_other(void)
{
    const uint64_t words[] = {0, 0, 0};

    begin();
    trace_record(1, 0, 0x1000, 4900);
    put_record(PERF_RECORD_AUX, (const uint64_t[]){trace_head - RECORD, RECORD, 0}, 4243, 1000,
               999);
    put_record(PERF_RECORD_LOST, words, 4243, 1001, TRACK);
    read_with_clock();
    ok(next().type == PERF_RECORD_LOST && next().type == 0,
       "of an event that is not known nothing comes");
    is_u64(cf_records_bad(r), 2, "which is counted");
    end();
    begin();
    r->ring[0].aux.bytes = 0;
    put_aux(trace_head - RECORD, 0, 4243, 1000);
    read_all();
    ok(next().type == PERF_RECORD_AUX && next().type == 0, "a ring without trace");
    ok(cf_aux_clock(5).ns == 5, "a clock is of the time that it is asked for");
#ifdef __aarch64__
    ok(cf_aux_clock(5).hz && cf_aux_clock(6).count, "the counter of ARM can be read");
#endif
    ok(time_of(&(struct cf_aux_clock){.count = 10, .ns = 7}, 3) == 7,
       "a counter without frequency has no times");
    ok(time_of(&(struct cf_aux_clock){.count = 10, .hz = 1000, .ns = 5}, 3) == 0,
       "nothing is before the clock");
    ok(time_of(&(struct cf_aux_clock){.count = 10, .hz = 1000, .ns = 5}, 11) == 1000005,
       "what is later");
    end();
}

int main(void)
{
    test_samples();
    test_damage();
    test_other();
    free(memory);
    free(trace);
    return done();
}
