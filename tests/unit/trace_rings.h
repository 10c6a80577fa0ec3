/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace_rings.h - stands in for the tool that cf-capture-trace follows: makes ring files and writes
 * tokens; and in place of the writer, notes what came. Memory: some rings of 4 MiB.
 */
#ifndef TRACE_RINGS_H
#define TRACE_RINGS_H

#include "capture/trace/processes.c"
#include "capture/trace/reader.c"
#include "formats/writer/cf_stretches_parts.h"
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

static inline int called(void)
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
    if (hint)
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

/* Accesses come as stretches where a test asks for it. */
static struct cfw_stretches *stretches;
static int with_stretches;

static inline int stretches_out(void)
{
    const uint64_t *time, *addr;
    const uint32_t *hint;
    struct cf_stretches *s = (struct cf_stretches *)stretches, empty;
    uint32_t n;

    if (!s)
        return 0;
    empty = *s;
    empty.rows = empty.tokens = empty.slot_bytes = 0;
    n = cf_stretches_back(s, &empty, &time, &addr, &hint);
    memcpy(times + rows, time, n * sizeof *time);
    memcpy(addrs + rows, addr, n * sizeof *addr);
    memcpy(hints + rows, hint, n * sizeof *hint);
    rows += n;
    cfw_begin_stretches(stretches);
    return n ? called() : 0;
}

int cf_writer_stretched(struct cf_writer *w)
{
    (void)w;
    return stretches_out();
}

struct cf_stretches *cf_writer_stretches(struct cf_writer *w, const struct cf_values *constants,
                                         unsigned count)
{
    (void)w, (void)constants, (void)count;
    if (with_stretches && !stretches)
        stretches = cfw_new_stretches();
    return with_stretches && stretches_out() == 0 ? &stretches->s : NULL;
}

static inline void begin(void)
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
static inline int end(void)
{
    int bad;

    cf_trace_finish(trace);
    stretches_out();
    bad = cf_decode_trouble(&trace->decode) != NULL;
    cf_trace_close(trace);
    close(tokens);
    return bad;
}

static inline void send(struct cf_wire_token token)
{
    if (write(tokens, &token, sizeof(token)) != sizeof(token))
        exit(2);
    cf_trace_read(trace, 0);
}

/* A ring file of a process; its first block is to be filled by the caller, who unmaps it. */
static inline struct cf_wire_ring *make_ring(uint32_t pid)
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

static inline uint8_t *first_block(struct cf_wire_ring *ring)
{
    return (uint8_t *)ring + CF_WIRE_HEADER_BYTES;
}

static inline uint8_t *put(uint8_t *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
    return to + bytes;
}

/* That a thread of the process runs, and a superblock of two instructions with one load. */
static inline uint8_t *put_start(uint8_t *p, uint32_t pid)
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

static inline uint8_t *put_record(uint8_t *p, uint32_t outcome, uint64_t address)
{
    uint32_t word = outcome << CF_WIRE_SLOT_BITS | 1;

    p = put(p, &word, sizeof(word));
    return put(p, &address, CF_WIRE_SLOT_BYTES);
}

/* Superblocks of outcomes 3 and 6, after put_start(): an instruction and a rep movsb at 0x2004, and
 * the same thrice. */
static inline uint8_t *put_strings(uint8_t *p)
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
static inline uint8_t *put_moves(uint8_t *p, uint32_t outcome, unsigned times, uint64_t from,
                                 uint64_t to)
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

static inline void start(uint32_t pid)
{
    send((struct cf_wire_token){.type = CF_WIRE_TOKEN_START, .pid = pid, .origin = CF_WIRE_FIRST});
}

static inline void start_child(uint32_t pid, uint32_t parent, uint32_t outcomes, uint32_t contexts)
{
    send((struct cf_wire_token){.type = CF_WIRE_TOKEN_START,
                                .pid = pid,
                                .origin = CF_WIRE_FORK,
                                .parent = parent,
                                .outcomes = outcomes,
                                .contexts = contexts});
}

static inline void hand_over(uint32_t pid, uint32_t bytes)
{
    send((struct cf_wire_token){.type = CF_WIRE_TOKEN_BLOCK, .pid = pid, .bytes = bytes});
}

/* A whole process: three loads, and its end. */
static inline void right_process(uint32_t pid)
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
static inline void empty_processes(void)
{
    for (uint32_t pid = 1000; pid < 1000 + 2 * ENDED_KEPT; pid++) {
        munmap(make_ring(pid), CF_WIRE_RING_BYTES);
        start(pid);
        send((struct cf_wire_token){.type = CF_WIRE_TOKEN_END, .pid = pid});
    }
}

/* A process whose block is a right beginning and then `bytes` of nonsense. */
static inline void wrong_process(uint32_t pid, const void *nonsense, size_t bytes)
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

/* Superblocks of a load each, which end with this (outcomes from `first` on, of two each). */
static inline uint8_t *put_ends(uint8_t *p, uint32_t first, const struct cf_wire_end *end,
                                unsigned n)
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

#endif
