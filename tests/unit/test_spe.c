/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets of ARM's SPE to records, in pieces of any size, damaged and cut off; and what a record
   says of where its access was served. */
#include <linux/perf_event.h>
#include <string.h>

#include "capture/base/cf_samples.h"
#include "capture/spe/spe.h"
#include "tap.h"

enum { MOST = 64, N1 = 0x413fd0c1, V2 = 0x410fd4f0, OTHER = 0x481fd010 };
#define AMPERE UINT64_C(0xc00fac40)

static struct cf_spe_record got[MOST];
static unsigned count;

static void take(void *arg, const struct cf_spe_record *r)
{
    (void)arg;
    if (count < MOST)
        got[count] = *r;
    count++;
}

/* Decodes bytes, given in parts of `step`, and then cuts. */
static struct cf_spe decode(const uint8_t *bytes, size_t n, size_t step, uint64_t at, int cut)
{
    struct cf_spe s = {.take = take};

    count = 0;
    memset(got, 0, sizeof got);
    cf_spe_begin(&s, at, cut);
    for (size_t i = 0; i < n; i += step)
        cf_spe_take(&s, bytes + i, n - i < step ? n - i : step);
    cf_spe_end(&s);
    return s;
}

/* A load: all packets that Neoverse N1 writes, in its order. */
static const uint8_t load[] = {
    0xb0, 0x10, 0x10, 0x40, 0,    0, 0, 0, 0x80, /* at 0x401010, not secure, EL0 */
    0x65, 0x92, 0x10, 0,    0,                   /* context of EL2 */
    0x52, 0x16, 0x07,                            /* events */
    0x98, 0x2a, 0x00,                            /* 42 cycles in all, */
    0x99, 0x05, 0x00,                            /* 5 to issue, */
    0x49, 0x00,                                  /* a load of general registers */
    0xb2, 0x38, 0x12, 0x34, 0x12, 0, 0, 0, 0xa5, /* with a tag */
    0x9a, 0x03, 0x00,                            /* 3 to translate */
    0xb3, 0x38, 0x12, 0x56, 1,    0, 0, 0, 0x80, /* */
    0x43, 0x0b,                                  /* the system's cache */
    0x21, 0x99, 0x07, 0x00,                      /* counter 9, by an extended header */
    0x00, 0x00,                                  /* padding */
    0x71, 8,    7,    6,    5,    4, 3, 2, 1,    /* a time */
};

static void test_packets(void)
{
    const struct cf_spe s = decode(load, sizeof load, sizeof load, 0, 0);
    const struct cf_spe_record *r = &got[0];

    is_u64(count, 1, "one record");
    is_u64(s.unknown + s.dropped, 0, "all of it known");
    is_u64(r->pc, 0x401010, "instruction");
    is_u64(r->addr, 0x12341238, "address without its tag");
    is_u64(r->phys, 0x1561238, "physical address");
    is_u64(r->context, 0x1092, "context");
    is_u64(r->events, 0x716, "events");
    is_u64(r->latency, 42, "latency is the counter of all cycles");
    is_u64(r->source, 11, "data source");
    is_u64(r->timestamp, UINT64_C(0x0102030405060708), "time");
    is_u64(r->op, CF_LOAD, "operation");
    is_u64(r->has, CF_SPE_TIMESTAMP | CF_SPE_CONTEXT | CF_SPE_SOURCE, "what it states");
}

static void test_parts(void)
{
    struct cf_spe_record whole;
    unsigned equal = 0, dropped = 0;

    (void)decode(load, sizeof load, sizeof load, 0, 0);
    whole = got[0];
    for (size_t step = 1; step < sizeof load; step++) {
        (void)decode(load, sizeof load, step, 0, 0);
        equal += count == 1 && memcmp(&whole, &got[0], sizeof whole) == 0;
    }
    is_u64(equal, sizeof load - 1, "the same in parts of any size");
    for (size_t n = 1; n < sizeof load; n++)
        for (size_t step = 1; step <= n; step++) {
            const struct cf_spe s = decode(load, n, step, 0, 0);

            dropped += count == 0 && s.dropped == 1;
        }
    is_u64(dropped, sizeof load * (sizeof load - 1) / 2,
           "cut off anywhere: no record, and one counted");
}

static void test_addresses(void)
{
    static const uint8_t kernel[] = {
        0xb0, 0, 0x10, 0, 8, 0, 0x80, 0xff, 0xa0, /* EL1, not secure */
        0xb2, 0, 0x20, 0, 8, 0, 0,    0xff, 0x00, /* bits 55:52 are ones */
        0xb4, 1, 2,    3, 4, 5, 6,    7,    8,    /* the previous branch */
        0xb1, 1, 2,    3, 4, 5, 6,    7,    8,    /* the branch's target */
        0x4a, 1, 1,                               /* a branch; the end */
        0xb0, 0, 0x10, 0, 8, 0, 0x80, 0xff, 0xe0, /* EL3 */
        0x48, 0, 1,
    };
    const struct cf_spe s = decode(kernel, sizeof kernel, 7, 0, 0);

    is_u64(count, 2, "records end without times as well");
    is_u64(got[0].pc, UINT64_C(0xffff800008001000), "an instruction of the kernel");
    is_u64(got[0].addr, UINT64_C(0xffff000008002000), "data of the kernel");
    is_u64(got[1].pc, UINT64_C(0x00ff800008001000), "an instruction elsewhere");
    is_u64(got[0].op + got[1].op, 0, "branches and others access no memory");
    is_u64(got[0].has | s.unknown, 0, "no time, no context, no source");
}

static void test_alignment(void)
{
    /* up to 16 bytes: what lies between is no packet */
    uint8_t bytes[40] = {0x49, 0x01, 0x01, 0x23, 0x00, 0x07, 0xff};
    struct cf_spe s;

    memcpy(bytes + 16, "\x49\x01\x01", 3);
    for (size_t step = 1; step <= 20; step += 19) {
        s = decode(bytes, 19, step, 0, 0);
        ok(count == 2 && !s.dropped, "an alignment packet skips up to a multiple of 16");
    }
    memcpy(bytes + 16 - 9, "\x49\x01\x01", 3);
    s = decode(bytes, 10, 3, 9, 0);
    ok(count == 2 && !s.dropped, "which is one of the offset in the trace");
    s = decode(bytes, 5, 5, 0, 0);
    ok(count == 1 && !s.dropped, "padding that does not come is nothing");
    bytes[3] = 0x20;
    memcpy(bytes + 6, "\x49\x01\x01", 3);
    s = decode(bytes, 9, 9, 0, 0);
    ok(count == 2 && !s.dropped, "to 2 bytes");
}

static void test_strange(void)
{
    static const uint8_t newer[] = {0x49, 1, 0x7f, 1, 2,    3,    4, 5,   6,
                                    7,    8, 0x8f, 1, 0x20, 0xc1, 9, 0x01};
    static const uint8_t none[] = {0x49, 1, 0x07, 0x01,                  /* no packet; the end */
                                   0x49, 0, 0x01,                        /* without pc */
                                   0xb0, 9, 0,    0,    0, 0,   0, 0, 0, /* with one, */
                                   0x49, 0, 0x01, 0x49, 0, 0x01};        /* and again without */
    static const uint8_t torn[] = {0x49, 1, 0x20, 0x07, 0x01, 0xb0, 9, 0,   0,
                                   0,    0, 0,    0,    0,    0x49, 0, 0x01};
    static const uint8_t class3[] = {0x4b, 1, 0x01};
    struct cf_spe s = decode(newer, sizeof newer, 1, 0, 0);

    ok(count == 1 && got[0].op == CF_STORE && s.unknown == 3,
       "packets of unknown types are passed over");
    s = decode(none, sizeof none, 1, 0, 0);
    ok(count == 2 && got[0].pc == 9 && s.dropped == 2,
       "what is no packet costs its record, and what follows without an instruction");
    s = decode(torn, sizeof torn, 3, 0, 0);
    ok(count == 1 && got[0].op == CF_LOAD && s.dropped == 1, "so behind an extended header");
    s = decode(class3, sizeof class3, 3, 0, 0);
    ok(count == 1 && got[0].op == 0, "a class of operations that is not known");
    s = decode(load + 3, sizeof load - 3, 9, 3, 1);
    ok(count == 0 && s.dropped == 1, "a snapshot may begin within a record");
}

/* Each byte changed, each way: no more records than ends, and nothing beyond the bytes. */
static void test_damage(void)
{
    uint8_t bytes[sizeof load];
    unsigned most = 0;

    for (size_t i = 0; i < sizeof load; i++)
        for (unsigned value = 0; value < 256; value++) {
            memcpy(bytes, load, sizeof load);
            bytes[i] = (uint8_t)value;
            (void)decode(bytes, sizeof bytes, 1 + value % 7, 0, 0);
            most = count > most ? count : most;
        }
    ok(most <= sizeof load / 2, "any byte changed");
}

static struct cf_spe_record loaded(unsigned source, uint64_t events)
{
    return (struct cf_spe_record){
        .op = CF_LOAD, .has = CF_SPE_SOURCE, .source = source, .events = events};
}

static void test_levels(void)
{
    static const unsigned neoverse[][2] = {{0, 1},
                                           {8, 2},
                                           {9, 2},
                                           {10, 3},
                                           {11, 3},
                                           {12, 3},
                                           {13, CF_FROM_BEYOND},
                                           {14, CF_FROM_MEMORY}};
    static const unsigned ampere[][2] = {{0, 2}, {3, 3}, {5, CF_FROM_BEYOND}, {7, CF_FROM_MEMORY},
                                         {8, 1}, {9, 2}};
    static const struct {
        uint64_t events;
        unsigned level;
    } events[] = {{0, 0},
                  {CF_SPE_L1D_ACCESS, 1},
                  {CF_SPE_L1D_ACCESS | CF_SPE_L1D_REFILL, CF_FROM_BEYOND},
                  {CF_SPE_L1D_ACCESS | CF_SPE_L1D_REFILL | CF_SPE_LLC_ACCESS, 3},
                  {CF_SPE_L1D_REFILL | CF_SPE_LLC_ACCESS | CF_SPE_LLC_REFILL, CF_FROM_MEMORY},
                  {CF_SPE_L1D_REFILL | CF_SPE_REMOTE, CF_FROM_BEYOND}};
    struct cf_spe_record r;

    for (size_t i = 0; i < sizeof neoverse / sizeof *neoverse; i++) {
        r = loaded(neoverse[i][0], 0);
        is_u64(cf_spe_level(&r, N1), neoverse[i][1], "Neoverse N1, data source %u", r.source);
        is_u64(cf_spe_level(&r, V2), neoverse[i][1], "Neoverse V2, data source %u", r.source);
        is_u64(cf_spe_level(&r, OTHER), 0, "another processor, data source %u", r.source);
    }
    for (size_t i = 0; i < sizeof ampere / sizeof *ampere; i++) {
        r = loaded(ampere[i][0], 0);
        is_u64(cf_spe_level(&r, AMPERE), ampere[i][1], "AmpereOne, data source %u", r.source);
    }
    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        r = (struct cf_spe_record){.op = CF_LOAD, .events = events[i].events};
        is_u64(cf_spe_level(&r, OTHER), events[i].level, "events %zu", i);
        is_u64(cf_spe_level(&r, N1), events[i].level,
               "the same where a load states no data source");
        r.op = CF_STORE;
        is_u64(cf_spe_level(&r, N1), events[i].level, "the same of a store, which states none");
        ok((cf_spe_data_src(&r, N1) & 31) == PERF_MEM_OP_STORE, "which is one in data_src");
        r = loaded(3, events[i].events);
        is_u64(cf_spe_level(&r, N1), events[i].level,
               "the same for a data source that is not known");
    }
    r = loaded(8, CF_SPE_L1D_ACCESS);
    is_u64(cf_spe_level(&r, N1), 2, "a data source says more than the events");
    r.op = 0;
    is_u64(cf_spe_data_src(&r, N1), 0, "what accesses no memory has no data_src");
    r = loaded(0, CF_SPE_TLB_ACCESS | CF_SPE_TLB_WALK);
    is_u64(cf_spe_data_src(&r, N1) >> PERF_MEM_TLB_SHIFT & 0x7f,
           PERF_MEM_TLB_WK | PERF_MEM_TLB_MISS, "a walk of the page table");
}

int main(void)
{
    test_packets();
    test_parts();
    test_addresses();
    test_alignment();
    test_strange();
    test_damage();
    test_levels();
    return done();
}
