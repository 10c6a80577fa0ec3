/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_trace_decode: what the decoder of cf-capture-trace makes of records that no tool of ours
 * would leave. A process that sends nonsense is dropped with a problem, and nothing else happens;
 * run with the sanitizers it shows that nothing of it is used afterwards. What becomes of processes
 * as a whole is test_trace_processes.c's.
 */
#include "trace_rings.h"

static void test_right(void)
{
    begin();
    right_process(100);
    ok(end() == 0 && rows == 3 && exits == 1, "a right process has its rows and its end");
}

/* Dropped while it is the current one. */
static void test_dropped(void)
{
    const uint32_t nonsense = UINT32_MAX - 1;

    begin();
    wrong_process(100, &nonsense, sizeof(nonsense));
    ok(trace->dropped == 1, "a record of no superblock drops its process");
    ok(strstr(cf_decode_trouble(&trace->decode), "children are missing") != NULL,
       "and the children are told that it does not bring");
    empty_processes();
    right_process(101);
    ok(cf_decode_flush(&trace->decode) == 0 && stretches_out() == 0, "others go on");
    is_u64(rows, 1 + 3, "with all rows of both");
    is_u64(cf_decode_rows(&trace->decode), rows, "which are counted");
    ok(end() == 1, "and the problem is told");
}

/* The word that stands for no link to a next record, wherever a next record may begin. */
static void test_no_link(void)
{
    static uint8_t words[200000];

    memset(words, 0xff, sizeof(words));
    begin();
    wrong_process(100, words, sizeof(words));
    ok(cf_decode_flush(&trace->decode) == 0 && stretches_out() == 0, "it is no record");
    is_u64(rows, 1, "and the one before it has its row");
    ok(end() == 1, "and the problem is told");
}

/* The same by a message that makes no sense, and by a second start without an end. */
static void test_tokens(void)
{
    struct cf_wire_ring *ring;

    begin();
    ring = make_ring(100);
    start(100);
    hand_over(100, (uint32_t)(put_start(first_block(ring), 100) - first_block(ring)));
    send((struct cf_wire_token){.type = CF_WIRE_TOKEN_BLOCK, .pid = 100, .sequence = 7});
    munmap(ring, CF_WIRE_RING_BYTES);
    ok(trace->dropped == 1, "a block out of order drops its process");
    empty_processes();
    right_process(101);
    stretches_out();
    is_u64(rows, 3, "others go on");
    ok(end() == 1, "and the problem is told");

    begin();
    start(100);
    ok(trace->dropped == 1, "a start without a ring");
    ring = make_ring(101);
    ring->blocks = 1;
    start(101);
    munmap(ring, CF_WIRE_RING_BYTES);
    ok(trace->dropped == 2, "a ring of another shape");
    start_child(102, 101, 0, 0);
    ok(trace->dropped == 3, "a fork that inherits nothing");
    send((struct cf_wire_token){.type = 99, .pid = 103});
    right_process(104);
    ok(end() == 1 && rows == 3, "and a right process beside them");
}

/* A copy of 40 bytes, interrupted by a superblock, and then of 3 more. */
static void test_strings(void)
{
    struct cf_wire_ring *ring;
    uint8_t *p;

    begin();
    ring = make_ring(100);
    p = put_strings(put_start(first_block(ring), 100));
    p = put_moves(p, 3, 1, 0x4000, 0x6000);
    for (unsigned i = 1; i < 40; i += 3)
        p = put_moves(p, 6, 3, 0x4000 + i, 0x6000 + i);
    p = put_record(p, 1, 0x8000);
    p = put_moves(p, 6, 3, 0x4028, 0x6028);
    start(100);
    hand_over(100, (uint32_t)(p - first_block(ring)));
    is_u64(trace->decode.time, 2 + 2 + 1, "a string instruction counts once each time it is begun");
    munmap(ring, CF_WIRE_RING_BYTES);
    ok(end() == 0, "and is no problem");
    is_u64(rows, 4 + 1 + 2, "its accesses are joined");
    ok(addrs[0] == 0x4000 && addrs[1] == 0x6000 && addrs[2] == 0x4020 && addrs[3] == 0x6020 &&
           addrs[4] == 0x8000 && addrs[5] == 0x4028 && addrs[6] == 0x6028,
       "in their order");
    ok(times[0] == 1 && times[3] == 1 && times[4] == 2 && times[6] == 4,
       "at the time of the instruction");
}

/* Calls and returns: each access has the context that it had, whether it goes straight to its place
 * or not, and however often a sequence came before. */
static void test_contexts(void)
{
    enum { TIMES = 1500 }; /* over a place of 4096 rows, and sequences become templates */
    const struct cf_wire_end ends[] = {{.kind = CF_WIRE_CALLS, .back = 0x3004, .pushes = 1},
                                       {.kind = CF_WIRE_RETURNS, .offset = 8},
                                       {.kind = CF_WIRE_MOVES}};
    struct cf_wire_ring *ring;
    int right = 1;
    uint8_t *p;

    for (with_calls = 0; with_calls < 2; with_calls++) {
        begin();
        ring = make_ring(100);
        p = put_ends(put_start(first_block(ring), 100), 3, ends, 3);
        for (unsigned i = 0; i < TIMES; i++) {
            p = put_record(p, 3, 0x9000); /* a call */
            p = put_record(p, 1, 0x2000); /* what is called, and the way back */
            if (i % 3 == 0)
                p = put_record(p, 7, 0x8ff0); /* no way back yet */
            p = i % 3 ? put_record(p, 5, 0x8ff8) : put_record(p, 7, 0x9000);
            p = put_record(p, 1, 0x2008); /* outside */
        }
        start(100);
        hand_over(100, (uint32_t)(p - first_block(ring)));
        munmap(ring, CF_WIRE_RING_BYTES);
        right = end() == 0;
        for (unsigned i = 0, k = 0; right && with_calls && i < TIMES; i++) {
            right = right && stacks[k++] == 0; /* the call itself is its caller's */
            right = right && stacks[k++] == 1 && stacks[k++] == 1;
            right = right && (i % 3 || stacks[k++] == 1) && stacks[k++] == 0;
        }
        ok(right, "%s",
           with_calls ? "contexts of accesses" : "what is not asked for is no problem");
        is_u64(nodes, with_calls, "nodes are written");
    }
    with_calls = 0;
}

/* Ends of superblocks that contradict themselves, and events of another size. */
static void test_wrong_ends(void)
{
    static const struct cf_wire_end wrong[] = {{.kind = CF_WIRE_CALLS, .slot = 1},
                                               {.kind = CF_WIRE_MOVES + 1},
                                               {.kind = CF_WIRE_RETURNS, .slot = UINT16_MAX}};
    static const uint32_t events[] = {CF_WIRE_SIGNAL, CF_WIRE_HANDLED, CF_WIRE_UNKNOWN,
                                      CF_WIRE_FORKS,  CF_WIRE_GONE,    CF_WIRE_NO_HEAP};

    with_calls = 1;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong) + 1; i++) {
        const struct cf_wire_end right = {.kind = CF_WIRE_CALLS, .back = 0x3004};
        struct cf_wire_ring *ring;
        uint8_t *p;

        begin();
        ring = make_ring(100);
        p = put_ends(put_start(first_block(ring), 100), 3, i ? &wrong[i - 1] : &right, 1);
        start(100);
        hand_over(100, (uint32_t)(p - first_block(ring)));
        munmap(ring, CF_WIRE_RING_BYTES);
        is_u64(trace->dropped, i > 0, "the end of a superblock, %zu", i);
        end();
    }
    for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++) {
        const struct {
            struct cf_wire_event_header header;
            uint64_t more;
        } event = {{events[i], sizeof(event)}, 0};
        const int sized = events[i] == CF_WIRE_FORKS;

        if (sized)
            continue; /* it has this size */
        begin();
        wrong_process(100, &event, sizeof(event));
        ok(trace->dropped == 1 && end() == 1, "event %u of a wrong size", events[i]);
    }
    with_calls = 0;
}

/* A child begins with the stack that its parent had, whatever that has done since. */
static void test_forked_stack(void)
{
    const struct cf_wire_end ends[] = {{.kind = CF_WIRE_CALLS, .back = 0x3004, .pushes = 1},
                                       {.kind = CF_WIRE_RETURNS, .offset = 8}};
    const struct cf_wire_fork forks = {{CF_WIRE_FORKS, sizeof(forks)}, 1, 0};
    const struct cf_wire_task begun = {{CF_WIRE_TASK, sizeof(begun)}, 200, CF_WIRE_TASK_START};
    const struct cf_wire_thread runs = {{CF_WIRE_THREAD, sizeof(runs)}, 200, 0};

    with_calls = 1;
    for (uint32_t number = 1; number < 3; number++) {
        struct cf_wire_ring *ring;
        uint8_t *p;

        begin();
        ring = make_ring(100);
        p = put_ends(put_start(first_block(ring), 100), 3, ends, 2);
        p = put_record(p, 3, 0x9000);
        p = put(p, &forks, sizeof(forks));
        p = put_record(p, 5, 0x8ff8);
        start(100);
        hand_over(100, (uint32_t)(p - first_block(ring)));
        munmap(ring, CF_WIRE_RING_BYTES);
        ring = make_ring(200);
        p = put(first_block(ring), &begun, sizeof(begun));
        p = put(p, &runs, sizeof(runs));
        p = put_record(p, 1, 0x2000);
        send((struct cf_wire_token){.type = CF_WIRE_TOKEN_START,
                                    .pid = 200,
                                    .origin = CF_WIRE_FORK,
                                    .parent = 100,
                                    .outcomes = 7,
                                    .contexts = 1,
                                    .fork = number});
        hand_over(200, (uint32_t)(p - first_block(ring)));
        munmap(ring, CF_WIRE_RING_BYTES);
        is_u64(cf_decode_stacks_lost(&trace->decode), number > 1,
               "a stack that is not known is counted");
        ok(end() == 0 && rows == 3 && stacks[2] == (number == 1), "a child's stack");
    }
    with_calls = 0;
}

static void test_events(void)
{
    const struct cf_wire_event_header none = {CF_WIRE_MAP, 0}, far = {CF_WIRE_MAP, 1 << 20},
                                      unknown = {63, 8};
    const struct cf_wire_map nothing = {.header = {CF_WIRE_MAP, sizeof(nothing)}, .start = 5};
    const struct cf_wire_object object = {.header = {CF_WIRE_ALLOC, sizeof(object)}, .context = 9};
    const struct cf_wire_context context_far = {{CF_WIRE_CONTEXT, sizeof(context_far)}, 77, 0, 0};
    const struct cf_wire_block block = {.header = {CF_WIRE_BLOCK, sizeof(block)}, .first = 99};
    const struct {
        const char *what;
        const void *bytes;
        size_t size;
    } wrong[] = {
        {"an event of no size", &none, sizeof(none)},
        {"an event that goes on", &far, sizeof(far)},
        {"an unknown event", &unknown, sizeof(unknown)},
        {"a mapping of nothing", &nothing, sizeof(nothing)},
        {"an object of an unknown call stack", &object, sizeof(object)},
        {"a call stack out of order", &context_far, sizeof(context_far)},
        {"a superblock out of order", &block, sizeof(block)},
    };

    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        begin();
        wrong_process(100, wrong[i].bytes, wrong[i].size);
        right_process(101);
        ok(trace->dropped == 1 && end() == 1 && rows == 4, "%s", wrong[i].what);
    }
}

/* A superblock of two instructions, two accesses, an exit and a section, which contradicts itself
 * by one of its parts. */
static void test_superblocks(void)
{
    static const struct {
        const char *what;
        struct cf_wire_access access[2];
        struct cf_wire_exit exit;
        struct cf_wire_section section;
    } list[] = {
#define GOOD {.size = 8, .op = CF_WIRE_LOAD}
#define NEXT                                                                                       \
    {                                                                                              \
        .size = 8, .op = CF_WIRE_STORE, .insn = 1, .slot = 1                                       \
    }
        {"nothing wrong", {GOOD, NEXT}, {1, 2}, {0, 1}},
        {"an access of no instruction", {GOOD, {.size = 8, .op = 1, .insn = 2}}, {1, 2}, {0, 1}},
        {"accesses out of order", {NEXT, GOOD}, {1, 2}, {0, 1}},
        {"an access of no bytes", {GOOD, {.op = 1, .insn = 1}}, {1, 2}, {0, 1}},
        {"an unknown operation", {GOOD, {.size = 8, .op = 3, .insn = 1}}, {1, 2}, {0, 1}},
        {"a slot behind the last", {GOOD, {.size = 8, .op = 1, .slot = 2}}, {1, 2}, {0, 1}},
        {"a condition without a slot",
         {GOOD, {.size = 8, .op = 1 | CF_WIRE_CONDITIONAL, .slot = CF_WIRE_NO_SLOT}},
         {1, 2},
         {0, 1}},
        {"an exit behind the last instruction", {GOOD, NEXT}, {2, 2}, {0, 1}},
        {"an exit behind the last access", {GOOD, NEXT}, {1, 3}, {0, 1}},
        {"a section that ends before it begins", {GOOD, NEXT}, {1, 2}, {1, 0}},
        {"a section behind the last instruction", {GOOD, NEXT}, {1, 2}, {0, 2}},
    };

    for (size_t i = 0; i < sizeof(list) / sizeof(*list); i++) {
        const struct cf_wire_insn insns[2] = {{UINT64_C(4) << 56 | 0x2000},
                                              {UINT64_C(4) << 56 | 0x2004}};
        struct cf_wire_block block = {
            .first = 3, .insns = 2, .accesses = 2, .slots = 2, .exits = 1, .sections = 1};
        uint8_t bytes[sizeof(block) + sizeof(insns) + sizeof(list[i].access) +
                      sizeof(list[i].exit) + sizeof(list[i].section)];
        struct cf_wire_ring *ring;
        uint8_t *p;

        block.header.type = CF_WIRE_BLOCK;
        block.header.bytes = sizeof(bytes);
        p = put(put(bytes, &block, sizeof(block)), insns, sizeof(insns));
        p = put(p, list[i].access, sizeof(list[i].access));
        put(put(p, &list[i].exit, sizeof(list[i].exit)), &list[i].section, sizeof(list[i].section));
        begin();
        ring = make_ring(100);
        p = put(put_start(first_block(ring), 100), bytes, sizeof(bytes));
        start(100);
        hand_over(100, (uint32_t)(p - first_block(ring)));
        munmap(ring, CF_WIRE_RING_BYTES);
        is_u64(trace->dropped, i > 0, "a superblock: %s", list[i].what);
        end();
    }
}

int main(void)
{
    if (!mkdtemp(directory))
        return 2;
    for (with_stretches = 0; with_stretches <= 1; with_stretches++) {
        test_right();
        test_dropped();
        test_no_link();
        test_tokens();
        test_strings();
        test_contexts();
        test_wrong_ends();
        test_forked_stack();
        test_events();
        test_superblocks();
    }
    rmdir(directory);
    return done();
}
