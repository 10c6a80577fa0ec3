/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_trace_processes: what cf-capture-trace makes of noise, of children and rings that come late
 * or never, of processes that are not recorded, of a writer that takes no more, and of messages
 * that were lost.
 */
#include "trace_rings.h"

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

    begin();
    right_process(100);
    munmap(make_ring(101), CF_WIRE_RING_BYTES);
    start(101);
    send((struct cf_wire_token){.type = CF_WIRE_TOKEN_EXEC, .pid = 101, .value = 1});
    send((struct cf_wire_token){
        .type = CF_WIRE_TOKEN_UNRECORDED, .pid = 101, .origin = CF_WIRE_FIRST, .value = ENOSPC});
    for (uint32_t i = 0; i < 2 * CF_TRACE_LISTED; i++)
        send((struct cf_wire_token){.type = CF_WIRE_TOKEN_UNRECORDED,
                                    .pid = 200 + i,
                                    .origin = CF_WIRE_FORK,
                                    .parent = 101,
                                    .value = EFBIG});
    c = cf_trace_census(trace);
    ok(c.all == 2 + 2 * CF_TRACE_LISTED && c.unrecorded == 1 + 2 * CF_TRACE_LISTED &&
           c.why == ENOSPC,
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
}

/* A process that the user's signal ended before anything of its first image ran, or of its next. */
static void test_early(void)
{
    for (uint32_t image = 0; image < 2; image++) {
        begin();
        munmap(make_ring(100), CF_WIRE_RING_BYTES);
        start(100);
        if (image) {
            send((struct cf_wire_token){.type = CF_WIRE_TOKEN_EXEC, .pid = 100, .value = 1});
            munmap(make_ring(100), CF_WIRE_RING_BYTES);
            start(100);
        }
        count_silent(trace);
        is_u64(cf_trace_census(trace).killed, 1, "a process that is gone without a word");
        cf_trace_early(trace, 100);
        is_u64(cf_trace_census(trace).killed, 0, "before anything of it ran: nothing is missing");
        ok(cf_trace_begun(trace) == (int)image, "of its first image there is no recording");
        end();
    }
    begin();
    munmap(make_ring(100), CF_WIRE_RING_BYTES);
    count_silent(trace);
    is_u64(cf_trace_census(trace).unrecorded, 1, "a ring of which nobody told");
    cf_trace_early(trace, 100);
    is_u64(cf_trace_census(trace).unrecorded, 0, "which was not needed any more");
    start(100);
    end();
}

/* A ring whose process sent nothing. */
static void test_found(void)
{
    struct cf_trace_census c;
    char path[64];

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
    test_late_child();
    test_child_beyond_limit();
    test_lost();
    test_rings();
    test_unrecorded();
    test_found();
    test_early();
    test_stopped();
    test_noise();
    rmdir(directory);
    return done();
}
