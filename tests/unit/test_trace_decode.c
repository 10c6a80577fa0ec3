/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_trace_decode: what the decoder of cf-capture-trace makes of rings and tokens that no tool of
 * ours would leave. Stands in for the tool: makes ring files and writes tokens. A process that
 * sends nonsense is dropped with a problem, and nothing else happens; run with the sanitizers it
 * shows that nothing of it is used afterwards. Memory: some rings of 4 MiB.
 */
#include "capture/trace/processes.c"
#include "capture/trace/reader.c"
#include "tap.h"

static char directory[] = "/tmp/cf-trace-test-XXXXXX";
static struct cf_trace *trace;
static int tokens;

/* What came. */
static uint64_t times[65536], addrs[65536];
static uint32_t hints[65536], stacks[65536], rows, exits, unmaps, nodes;
static int with_calls; /* the next begin() follows them */

/* The calls of what takes the writer's place, and after which of them it takes no more. */
static unsigned calls, most_calls;

static int called(void)
{
    return ++calls == most_calls;
}

int cf_writer_kind(struct cf_writer *w, uint32_t hint, uint64_t pc, enum cf_op op, uint32_t size,
                   uint32_t insns)
{
    (void)w, (void)hint, (void)pc, (void)op, (void)size, (void)insns;
    return called();
}

uint32_t cf_writer_string(struct cf_writer *w, const char *text)
{
    (void)w, (void)text;
    return 0;
}

int cf_writer_place(struct cf_writer *w, unsigned table, const struct cf_values *constants,
                    unsigned constant_count, struct cf_place *columns, unsigned count,
                    uint32_t **hint, uint32_t *room)
{
    (void)w, (void)table, (void)constants, (void)constant_count, (void)count;
    columns[0].values = times + rows;
    columns[1].values = addrs + rows;
    if (count > 2)
        columns[2].values = stacks + rows;
    *hint = hints + rows;
    *room = 4096;
    return called();
}

int cf_writer_placed(struct cf_writer *w, unsigned table, uint32_t n)
{
    (void)w, (void)table;
    rows += n;
    return called();
}

int cf_writer_rows(struct cf_writer *w, unsigned table, uint32_t n, const struct cf_values *columns,
                   unsigned count, const uint32_t *hint)
{
    (void)w, (void)count, (void)hint;
    nodes += table == CF_STACK ? n : 0;
    exits += table == CF_TASK && columns[4].constant == CF_EXIT;
    unmaps += table == CF_MAP && columns[2].constant == CF_UNMAPPED;
    return called();
}

static void begin(void)
{
    const struct cf_trace_options options = {.follow = 1,
                                             .decode.calls = with_calls ? CF_DECODE_DEPTH : 0};
    char path[PATH_MAX], text[200];

    rows = exits = unmaps = nodes = calls = 0;
    trace = cf_trace_open(directory, &options, NULL, text, sizeof(text));
    snprintf(path, sizeof(path), "%s/tokens", directory);
    tokens = trace ? open(path, O_WRONLY | O_CLOEXEC) : -1;
    if (tokens < 0)
        exit(2);
}

/* 1 if a problem was told. */
static int end(void)
{
    int bad;

    cf_trace_finish(trace);
    bad = cf_decode_trouble(&trace->decode) != NULL;
    cf_trace_close(trace);
    close(tokens);
    return bad;
}

static void send(struct cf_wire_token token)
{
    if (write(tokens, &token, sizeof(token)) != sizeof(token))
        exit(2);
    cf_trace_read(trace, 0);
}

/* A ring file of a process; its first block is to be filled by the caller, who unmaps it. */
static struct cf_wire_ring *make_ring(uint32_t pid)
{
    char path[PATH_MAX];
    struct cf_wire_ring *ring;
    int fd;

    snprintf(path, sizeof(path), "%s/ring.%u.0", directory, pid);
    fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, CF_WIRE_RING_BYTES) != 0)
        exit(2);
    ring = mmap(NULL, CF_WIRE_RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (ring == MAP_FAILED)
        exit(2);
    ring->magic = CF_WIRE_MAGIC;
    ring->version = CF_WIRE_VERSION;
    ring->block_bytes = CF_WIRE_BLOCK_BYTES;
    ring->blocks = CF_WIRE_BLOCKS;
    return ring;
}

static uint8_t *first_block(struct cf_wire_ring *ring)
{
    return (uint8_t *)ring + CF_WIRE_HEADER_BYTES;
}

static uint8_t *put(uint8_t *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
    return to + bytes;
}

/* That a thread of the process runs, and a superblock of two instructions with one load. */
static uint8_t *put_start(uint8_t *p, uint32_t pid)
{
    const struct cf_wire_thread thread = {{CF_WIRE_THREAD, sizeof(thread)}, pid, 0};
    const struct cf_wire_task begun = {{CF_WIRE_TASK, sizeof(begun)}, pid, CF_WIRE_TASK_START};
    const struct cf_wire_insn insns[2] = {{UINT64_C(4) << 56 | 0x1000},
                                          {UINT64_C(4) << 56 | 0x1004}};
    const struct cf_wire_access access = {.slot = 0, .size = 8, .op = CF_WIRE_LOAD};
    struct cf_wire_block block = {.first = 1, .insns = 2, .accesses = 1, .slots = 1};

    block.header.type = CF_WIRE_BLOCK;
    block.header.bytes = sizeof(block) + sizeof(insns) + sizeof(access);
    p = put(p, &begun, sizeof(begun));
    p = put(p, &thread, sizeof(thread));
    p = put(p, &block, sizeof(block));
    p = put(p, insns, sizeof(insns));
    return put(p, &access, sizeof(access));
}

static uint8_t *put_record(uint8_t *p, uint32_t outcome, uint64_t address)
{
    uint32_t word = outcome << CF_WIRE_SLOT_BITS | 1;

    p = put(p, &word, sizeof(word));
    return put(p, &address, CF_WIRE_SLOT_BYTES);
}

/* Superblocks of outcomes 3 and 6, after put_start(): an instruction and a rep movsb at 0x2004, and
 * the same thrice. */
static uint8_t *put_strings(uint8_t *p)
{
    const uint64_t movs = CF_WIRE_REPEATS | CF_WIRE_JOINED | UINT64_C(2) << 56 | 0x2004;

    for (unsigned further = 0; further < 2; further++) {
        const unsigned times = further ? 3 : 1;
        struct cf_wire_insn insns[3] = {{movs}, {movs}, {movs}};
        const struct cf_wire_exit exit = {.insn = (uint16_t)!further};
        struct cf_wire_access accesses[6];
        struct cf_wire_block block = {.first = further ? 6 : 3, .exits = 1};

        if (!further)
            insns[0].pc_length = UINT64_C(4) << 56 | 0x2000;
        block.insns = further ? 3 : 2;
        block.accesses = block.slots = (uint16_t)(2 * times);
        block.header.type = CF_WIRE_BLOCK;
        for (unsigned i = 0; i < 2 * times; i++)
            accesses[i] = (struct cf_wire_access){.insn = (uint16_t)(further ? i / 2 : 1),
                                                  .slot = (uint16_t)i,
                                                  .size = 1,
                                                  .op = i % 2 ? CF_WIRE_STORE : CF_WIRE_LOAD};
        block.header.bytes = (uint32_t)(sizeof(block) + block.insns * sizeof(*insns) +
                                        block.accesses * sizeof(*accesses) + sizeof(exit));
        p = put(p, &block, sizeof(block));
        p = put(p, insns, block.insns * sizeof(*insns));
        p = put(p, accesses, block.accesses * sizeof(*accesses));
        p = put(p, &exit, sizeof(exit));
    }
    return p;
}

/* So many iterations of it, copying from `from` to `to`, in one of those superblocks. */
static uint8_t *put_moves(uint8_t *p, uint32_t outcome, unsigned times, uint64_t from, uint64_t to)
{
    uint32_t word = outcome << CF_WIRE_SLOT_BITS | 2 * times;

    p = put(p, &word, sizeof(word));
    for (unsigned i = 0; i < times; i++) {
        const uint64_t load = from + i, store = to + i;

        p = put(p, &load, CF_WIRE_SLOT_BYTES);
        p = put(p, &store, CF_WIRE_SLOT_BYTES);
    }
    return p;
}

static void start(uint32_t pid)
{
    send((struct cf_wire_token){.type = CF_WIRE_TOKEN_START, .pid = pid, .origin = CF_WIRE_FIRST});
}

static void start_child(uint32_t pid, uint32_t parent, uint32_t outcomes, uint32_t contexts)
{
    send((struct cf_wire_token){.type = CF_WIRE_TOKEN_START,
                                .pid = pid,
                                .origin = CF_WIRE_FORK,
                                .parent = parent,
                                .outcomes = outcomes,
                                .contexts = contexts});
}

static void hand_over(uint32_t pid, uint32_t bytes)
{
    send((struct cf_wire_token){.type = CF_WIRE_TOKEN_BLOCK, .pid = pid, .bytes = bytes});
}

/* A whole process: three loads, and its end. */
static void right_process(uint32_t pid)
{
    struct cf_wire_ring *ring = make_ring(pid);
    uint8_t *p = put_start(first_block(ring), pid);

    for (unsigned i = 0; i < 3; i++)
        p = put_record(p, 1, 0x2000 + 8 * i);
    start(pid);
    hand_over(pid, (uint32_t)(p - first_block(ring)));
    send((struct cf_wire_token){.type = CF_WIRE_TOKEN_END, .pid = pid});
    munmap(ring, CF_WIRE_RING_BYTES);
}

/* Processes that end without having recorded anything: enough for earlier ones to be forgotten. */
static void empty_processes(void)
{
    for (uint32_t pid = 1000; pid < 1000 + 2 * ENDED_KEPT; pid++) {
        munmap(make_ring(pid), CF_WIRE_RING_BYTES);
        start(pid);
        send((struct cf_wire_token){.type = CF_WIRE_TOKEN_END, .pid = pid});
    }
}

/* A process whose block is a right beginning and then `bytes` of nonsense. */
static void wrong_process(uint32_t pid, const void *nonsense, size_t bytes)
{
    struct cf_wire_ring *ring = make_ring(pid);
    uint8_t *p = put_start(first_block(ring), pid);

    p = put_record(p, 1, 0x2000);
    p = put(p, nonsense, bytes);
    start(pid);
    hand_over(pid, (uint32_t)(p - first_block(ring)));
    ok(ring->stop == 1, "and it is told to send no more");
    munmap(ring, CF_WIRE_RING_BYTES);
}

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
    empty_processes();
    right_process(101);
    ok(cf_decode_flush(&trace->decode) == 0, "others go on");
    is_u64(rows, 1 + 3, "with all rows of both");
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

/* Superblocks of a load each, which end with this (outcomes from `first` on, of two each). */
static uint8_t *put_ends(uint8_t *p, uint32_t first, const struct cf_wire_end *end, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        const struct cf_wire_insn insn = {UINT64_C(4) << 56 | (0x3000 + 16 * i)};
        const struct cf_wire_access access = {.size = 8, .op = CF_WIRE_LOAD};
        struct cf_wire_block block = {
            .first = first + 2 * i, .insns = 1, .accesses = 1, .slots = 1, .ends = 1};

        block.header.type = CF_WIRE_BLOCK;
        block.header.bytes = sizeof(block) + sizeof(insn) + sizeof(access) + sizeof(*end);
        p = put(put(p, &block, sizeof(block)), &insn, sizeof(insn));
        p = put(put(p, &access, sizeof(access)), &end[i], sizeof(*end));
    }
    return p;
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
                                      CF_WIRE_FORKS};

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

/* Whatever the bytes are: no crash, and the next process is recorded. */
static void test_noise(void)
{
    uint64_t x = 88172645463325252u;
    int whole = 1;

    for (uint32_t round = 0; round < 400; round++) {
        static const struct cf_wire_end ends[] = {
            {.kind = CF_WIRE_CALLS, .back = 0x3004, .pushes = 1},
            {.kind = CF_WIRE_RETURNS},
            {.kind = CF_WIRE_MOVES}};
        struct cf_wire_ring *ring;
        uint8_t *p;

        with_calls = round & 1;
        begin();
        ring = make_ring(100);
        p = put_ends(put_strings(put_start(first_block(ring), 100)), 9, ends, 3);
        while (p < first_block(ring) + 4096) {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            if (x % 16 < 4) {
                p = put_moves(p, x & 64 ? 6 : 3, x & 64 ? 3 : 1, x >> 16, x >> 24);
            } else if (x % 16 < 14) {
                const uint32_t which = (uint32_t)(x >> 8) % 100;

                p = put_record(p, which < 40 ? 9 + which % 6 : which ? 1 : 2, x >> 16);
            } else {
                const struct cf_wire_event_header header = {(uint32_t)(x >> 8) % 16,
                                                            8 + (uint32_t)(x >> 16) % 48};

                p = put(p, &header, sizeof(header));
                p = put(p, &x, 8);
                p += header.bytes - 8 < 8 ? 0 : header.bytes - 16;
            }
        }
        start(100);
        hand_over(100, (uint32_t)(p - first_block(ring)));
        munmap(ring, CF_WIRE_RING_BYTES);
        right_process(101);
        whole = whole && rows >= 3;
        whole = end() >= 0 && whole;
    }
    ok(whole, "noise is survived");
    with_calls = 0;
}

/* A child may send its start when its parent has long ended. */
static void test_late_child(void)
{
    struct cf_trace_census c;

    for (int known = 1; known >= 0; known--) {
        begin();
        munmap(make_ring(200), CF_WIRE_RING_BYTES);
        start(200);
        if (known)
            send((struct cf_wire_token){.type = CF_WIRE_TOKEN_FORKED, .pid = 200});
        send((struct cf_wire_token){.type = CF_WIRE_TOKEN_END, .pid = 200});
        empty_processes();
        munmap(make_ring(300), CF_WIRE_RING_BYTES);
        start_child(300, 200, 1, 1);
        ok(trace->dropped == !known, "a child of an ended process, %s",
           known ? "announced" : "not announced");
        empty_processes();
        c = cf_trace_census(trace);
        ok(c.all == 2 + 4 * ENDED_KEPT && c.unrecorded == 0, "processes are counted");
        ok(end() == !known, "a problem only where it is one");
    }
}

/* When the limit is reached, nothing more is read: children know more than we do of their
   parents. */
static void test_child_beyond_limit(void)
{
    struct cf_wire_ring *ring;

    begin();
    munmap(make_ring(200), CF_WIRE_RING_BYTES);
    start(200);
    trace->decode.stopping = 1;
    ring = make_ring(300);
    start_child(300, 200, 900, 20);
    ok(trace->dropped == 0 && ring->stop, "a child beyond the limit is let go");
    munmap(ring, CF_WIRE_RING_BYTES);
    ok(!end(), "which is no problem");
}

/* A ring of any size between the least and the most, also in the second directory. */
static void test_rings(void)
{
    char spare[] = "/tmp/cf-trace-spare-XXXXXX", path[2][64];

    if (!mkdtemp(spare))
        exit(2);
    for (uint32_t blocks = 1; blocks <= 32; blocks *= 2) {
        int right = blocks >= CF_WIRE_BLOCKS_LEAST && blocks <= CF_WIRE_BLOCKS;
        struct cf_wire_ring *ring;

        begin();
        snprintf(trace->spare, sizeof(trace->spare), "%s", spare);
        ring = make_ring(100);
        ring->blocks = blocks;
        snprintf(path[0], sizeof(path[0]), "%s/ring.100.0", directory);
        snprintf(path[1], sizeof(path[1]), "%s/ring.100.0", spare);
        if (truncate(path[0], (off_t)CF_WIRE_RING(blocks)) != 0 || rename(path[0], path[1]) != 0)
            exit(2);
        send((struct cf_wire_token){
            .type = CF_WIRE_TOKEN_START, .pid = 100, .origin = CF_WIRE_FIRST, .value = 1});
        ok(trace->dropped == !right && ring->stop == (uint32_t)!right, "a ring of %u blocks%s",
           blocks, right ? "" : " is refused, and the process let go");
        ok(access(path[1], F_OK) != 0, "its file is gone");
        munmap(ring, CF_WIRE_RING_BYTES);
        ok(end() == !right, "which is a problem if it is");
    }
    rmdir(spare);
}

static void test_unrecorded(void)
{
    struct cf_trace_census c;
    char path[64];

    begin();
    right_process(100);
    munmap(make_ring(101), CF_WIRE_RING_BYTES);
    start(101);
    send((struct cf_wire_token){.type = CF_WIRE_TOKEN_EXEC, .pid = 101, .value = 1});
    send((struct cf_wire_token){
        .type = CF_WIRE_TOKEN_UNRECORDED, .pid = 101, .origin = CF_WIRE_FIRST, .value = ENOSPC});
    for (uint32_t i = 0; i < 2 * CF_TRACE_TOLD; i++)
        send((struct cf_wire_token){.type = CF_WIRE_TOKEN_UNRECORDED,
                                    .pid = 200 + i,
                                    .origin = CF_WIRE_FORK,
                                    .parent = 101,
                                    .value = EFBIG});
    c = cf_trace_census(trace);
    ok(c.all == 2 + 2 * CF_TRACE_TOLD && c.unrecorded == 1 + 2 * CF_TRACE_TOLD && c.why == ENOSPC,
       "those without a ring are counted, and the first reason kept");
    ok(c.unrecorded_pid[0] == 101 && c.unrecorded_pid[1] == 200, "and the first of them");
    ok(cf_trace_alive(trace) == 0, "none of them is waited for");
    end();

    begin();
    for (uint32_t pid = 100; pid < 103; pid++) {
        munmap(make_ring(pid), CF_WIRE_RING_BYTES);
        start(pid);
    }
    send((struct cf_wire_token){.type = CF_WIRE_TOKEN_EXEC, .pid = 100, .value = 1});
    send((struct cf_wire_token){.type = CF_WIRE_TOKEN_EXEC, .pid = 101, .value = 1});
    send((struct cf_wire_token){.type = CF_WIRE_TOKEN_EXEC, .pid = 101, .value = 0});
    send((struct cf_wire_token){.type = CF_WIRE_TOKEN_END, .pid = 102});
    ok(!cf_trace_silent(trace, 100) && cf_trace_silent(trace, 101) && !cf_trace_silent(trace, 102),
       "who went on as another program, or said goodbye, is not silent");
    count_silent(trace);
    c = cf_trace_census(trace);
    ok(c.all == 3 && c.unrecorded == 1 && c.unrecorded_pid[0] == 100 && c.why == 0,
       "an image that never came is told");
    ok(c.killed == 1, "and a process that is gone without a word");
    end();

    begin();
    right_process(100);
    munmap(make_ring(150), CF_WIRE_RING_BYTES);
    count_silent(trace);
    c = cf_trace_census(trace);
    ok(c.all == 2 && c.unrecorded == 1 && c.unrecorded_pid[0] == 150 && c.why == EIO,
       "a ring of which nobody told");
    end();

    begin();
    start(150);
    send((struct cf_wire_token){.type = CF_WIRE_TOKEN_EXEC, .pid = 150, .value = 1});
    munmap(make_ring(150), CF_WIRE_RING_BYTES);
    count_silent(trace);
    c = cf_trace_census(trace);
    ok(c.all == 1 && c.unrecorded == 1, "that of an image whose process is known counts once");
    end();
    snprintf(path, sizeof(path), "%s/ring.150.0", directory);
    unlink(path);
}

/* Something of all that is handed over: two threads, mappings, call stacks, heap blocks, a child.
 */
static uint8_t *put_all(uint8_t *p, uint32_t pid)
{
    const struct cf_wire_map map = {.header = {CF_WIRE_MAP, sizeof(map)}, .end = 4096},
                             unmap = {.header = {CF_WIRE_UNMAP, sizeof(unmap)}, .end = 4096};
    const struct cf_wire_context context = {{CF_WIRE_CONTEXT, sizeof(context)}, 1, 0, 0x1000};
    const struct cf_wire_object object = {
        .header = {CF_WIRE_ALLOC, sizeof(object)}, .addr = 0x9000, .size = 8, .context = 1};
    const struct cf_wire_thread other = {{CF_WIRE_THREAD, sizeof(other)}, pid + 1, 0};
    const struct cf_wire_task begun = {{CF_WIRE_TASK, sizeof(begun)}, pid + 1, CF_WIRE_TASK_START},
                              ended = {{CF_WIRE_TASK, sizeof(ended)}, pid + 1, CF_WIRE_TASK_EXIT};

    p = put_strings(put_start(p, pid));
    p = put(p, &map, sizeof(map));
    p = put_record(p, 1, 0x2000);
    p = put(p, &context, sizeof(context));
    p = put(p, &object, sizeof(object));
    p = put_moves(p, 3, 1, 0x4000, 0x6000);
    p = put_moves(p, 6, 3, 0x4001, 0x6001);
    p = put(p, &begun, sizeof(begun));
    p = put(p, &other, sizeof(other));
    p = put_record(p, 1, 0x2008);
    p = put(p, &unmap, sizeof(unmap));
    p = put(p, &ended, sizeof(ended));
    return put_record(p, 1, 0x2010);
}

/* Whatever the call after which the writer takes no more, it is the last one, and reading says so.
 */
static void test_stopped(void)
{
    unsigned all = 0, wrong = 0;

    for (most_calls = 0; most_calls <= all; most_calls++) {
        struct cf_wire_ring *ring;
        uint8_t *p;

        begin();
        trace->decode.rows.instructions = 1;
        ring = make_ring(100);
        p = put_all(first_block(ring), 100);
        start(100);
        hand_over(100, (uint32_t)(p - first_block(ring)));
        munmap(ring, CF_WIRE_RING_BYTES);
        munmap(make_ring(101), CF_WIRE_RING_BYTES);
        send((struct cf_wire_token){.type = CF_WIRE_TOKEN_FORKED, .pid = 100});
        start_child(101, 100, 9, 2);
        send((struct cf_wire_token){.type = CF_WIRE_TOKEN_END, .pid = 101});
        send((struct cf_wire_token){.type = CF_WIRE_TOKEN_END, .pid = 100});
        if (most_calls == 0)
            ok(trace->dropped == 0 && cf_decode_flush(&trace->decode) == 0, "all of it is right");
        else if (cf_trace_read(trace, 0) != CF_TRACE_STOPPED)
            wrong++;
        end();
        if (most_calls == 0)
            all = calls;
        else if (calls != most_calls)
            wrong++;
    }
    most_calls = 0;
    ok(all > 15, "%u calls", all);
    is_u64(wrong, 0, "each may be the last, and then is");
}

/* A message of the process did not get into the pipe. */
static void test_lost(void)
{
    for (int said = 1; said >= 0; said--) {
        struct cf_wire_ring *ring;

        begin();
        ring = make_ring(100);
        start(100);
        ring->lost = ENOMEM;
        if (said)
            send((struct cf_wire_token){.type = CF_WIRE_TOKEN_END, .pid = 100});
        munmap(ring, CF_WIRE_RING_BYTES);
        cf_trace_finish(trace);
        ok(cf_decode_was_refused(&trace->decode) &&
               strstr(cf_decode_trouble(&trace->decode), strerror(ENOMEM)),
           "what could not be sent is told, %s", said ? "at the end" : "without an end");
        end();
    }
}

int main(void)
{
    if (!mkdtemp(directory))
        return 2;
    test_right();
    test_dropped();
    test_tokens();
    test_strings();
    test_contexts();
    test_wrong_ends();
    test_forked_stack();
    test_events();
    test_late_child();
    test_child_beyond_limit();
    test_lost();
    test_rings();
    test_unrecorded();
    test_stopped();
    test_superblocks();
    test_noise();
    rmdir(directory);
    return done();
}
