/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_calls: call stacks that are known by their stack pointers, and the tree of calling contexts.
 * Each case says what happens, and what the path is then: return addresses from the outside.
 */
#include <string.h>

#include "capture/record/decode_calls.c"
#include "tap.h"

static struct cf_calls calls;
static struct cf_calls_thread thread;
static uint32_t ids, image;

static void begin(uint32_t depth)
{
    ids = 0;
    if (cf_calls_init(&calls, depth, &ids) != 0 || cf_calls_thread_init(&thread) != 0)
        exit(2);
    image = cf_calls_image(&calls, 1, 0, 0);
}

static void end(void)
{
    cf_calls_thread_free(&thread);
    cf_calls_free(&calls);
}

static void event(unsigned kind, uint64_t sp, uint64_t back)
{
    const struct cf_wire_end e = {.kind = (uint16_t)kind, .back = back, .pushes = 1};

    if (cf_calls_end(&calls, &thread, image, &e, sp) != 0)
        exit(2);
}

/* As on x86-64: sp is what it is before a call and after the return from there. */
static void call(uint64_t sp, uint64_t back)
{
    event(CF_WIRE_CALLS, sp, back);
}

static void ret(uint64_t sp)
{
    struct cf_wire_end e = {.kind = CF_WIRE_RETURNS};

    if (cf_calls_end(&calls, &thread, image, &e, sp) != 0)
        exit(2);
}

static void moved(uint64_t sp)
{
    struct cf_wire_end e = {.kind = CF_WIRE_MOVES};

    if (cf_calls_end(&calls, &thread, image, &e, sp) != 0)
        exit(2);
}

static void signalled(uint64_t sp, uint64_t pc, uint64_t low, uint64_t high)
{
    const struct cf_wire_signal s = {.sp = sp, .pc = pc, .low = low, .high = high};

    if (cf_calls_signal(&calls, &thread, image, &s) != 0)
        exit(2);
}

static void is_path(const char *want, const char *what)
{
    uint32_t node = thread.stack[thread.now].node, path[100] = {0}, n = 0;
    char got[1000] = "";

    for (; node && n < 100; node = calls.node[node].parent)
        path[n++] = node;
    while (n--)
        snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%llx", *got ? " " : "",
                 (unsigned long long)calls.node[path[n]].pc);
    if (!ok(strcmp(got, want) == 0, "%s", what))
        note("got '%s', want '%s'", got, want);
}

static void test_plain(void)
{
    uint32_t first;

    begin(100);
    is_path("", "a thread begins at the root");
    call(0x1000, 0xa);
    call(0xf00, 0xb);
    is_path("a b", "two calls");
    first = cf_calls_now(&calls, &thread);
    ret(0xf00);
    is_path("a", "a return");
    call(0xf00, 0xb);
    ok(cf_calls_now(&calls, &thread) == first && calls.nodes == 3,
       "the same call is the same node");
    ret(0xf00);
    call(0xe80, 0xc);
    is_path("a c", "from the same frame with more on the stack");
    ret(0xe70);
    is_path("a c", "a return that belongs to no call, below");
    ret(0xe90);
    is_path("a", "a return that takes arguments from the stack");
    ret(0x1000);
    is_path("", "back at the root");
    ret(0x1008);
    is_path("", "and no farther");
    end();
}

static void test_left(void)
{
    begin(100);
    call(0x1000, 0xa);
    call(0xf00, 0xb);
    call(0xe00, 0xc);
    call(0xd00, 0xd);
    moved(0xe80);
    is_path("a b", "longjmp: frames below it are gone");
    moved(0xf00);
    is_path("a", "also one whose call was there");
    call(0xf00, 0xe);
    call(0xe00, 0xf);
    call(0xf00, 0x11);
    is_path("a 11", "a call where there was one that did not return");
    call(0xe00, 0xf);
    ret(0xf00);
    is_path("a", "an exception: a return from where another function was called");
    call(0x0f00, 0xb);
    moved(0xe00);
    is_path("a b", "more room on the stack changes nothing");
    end();
}

/* As on AArch64: a call pushes nothing, and functions may use no stack at all. */
static void test_no_push(void)
{
    struct cf_wire_end e = {.kind = CF_WIRE_CALLS, .back = 0xa};

    begin(100);
    cf_calls_end(&calls, &thread, image, &e, 0x1000);
    e.back = 0xb;
    cf_calls_end(&calls, &thread, image, &e, 0x1000);
    is_path("a b", "two calls at one place");
    signalled(0x1000, 0x20, 0, 0);
    is_path("a b 21", "a signal in a function without a frame of its own");
    cf_calls_handled(&thread);
    ret(0x1000);
    is_path("a", "a return takes one of them");
    ret(0x1000);
    is_path("", "and the next the other");
    end();
}

static void test_recursion(void)
{
    begin(100);
    call(0x1000, 0xa);
    for (unsigned i = 0; i < 50; i++)
        call(0xf00 - 16 * i, i % 2 ? 0xb : 0xc);
    is_path("a c b", "recursion: a call site stands on a path once");
    ok(calls.nodes == 4, "and makes no more nodes");
    call(0x900, 0xd);
    is_path("a c b d", "what is called goes on from there");
    ret(0x900);
    for (unsigned i = 50; i-- > 10;)
        ret(0xf00 - 16 * i);
    is_path("a c b", "returns lead back the same way");
    ret(0xf00 - 16 * 9);
    ret(0xf00 - 16 * 8);
    is_path("a c b", "at any depth");
    moved(0xf80);
    is_path("a", "and out of it");
    end();
}

static void test_depth(void)
{
    begin(2);
    call(0x1000, 0xa);
    call(0xf00, 0xb);
    call(0xe00, 0xc);
    is_path("a b 0", "beyond the depth one node stands for all");
    call(0xd00, 0xd);
    is_path("a b 0", "however deep");
    call(0xd00, 0xd);
    ok(calls.deeper == 3 && calls.cut == 0, "each such call is counted, as what was asked for");
    ret(0xd00);
    ret(0xe00);
    is_path("a b", "returns count there, too");
    end();
}

static void test_full(void)
{
    begin(CF_CALLS_NODES);
    for (uint64_t i = 0; i < CF_CALLS_NODES - 1; i++) {
        call(0x1000, i + 1);
        ret(0x1000);
    }
    call(0x1000, 5);
    call(0xf00, 6);
    is_path("5 0", "no more nodes: one stands for all");
    ok(calls.cut == 1, "which is counted");
    call(0xe00, 7);
    ok(calls.cut == 2 && calls.deeper == 0, "and so is what is called from there");
    ret(0xe00);
    ret(0xf00);
    call(0xf00, 8);
    is_path("5 0", "others share it");
    ret(0xf00);
    ret(0x1000);
    call(0x1000, 6);
    is_path("6", "those that are known go on");
    for (uint64_t i = 0; i < CF_CALLS_NODES; i++)
        call(0x100, UINT64_C(1) << 40 | i);
    ok(calls.edges_room <= MOST_EDGES && calls.nodes <= CF_CALLS_NODES + 2, "memory is bounded");
    end();
}

static void test_signals(void)
{
    begin(100);
    call(0x10000, 0xa);
    signalled(0xff00, 0x20, 0, 0);
    is_path("a 21", "a handler stands below what it interrupts");
    call(0xfe00, 0xb);
    is_path("a 21 b", "and calls");
    ret(0xfe00);
    ret(0xfe80);
    is_path("a 21", "its return does not leave it yet");
    cf_calls_handled(&thread);
    is_path("a", "but its end does");
    cf_calls_handled(&thread);
    is_path("a", "an end of nothing is none");

    signalled(0xff00, 0x20, 0x80000, 0x90000);
    call(0x8ff00, 0xb);
    is_path("a 21 b", "one on a stack of its own, above");
    ret(0x8ff00);
    cf_calls_handled(&thread);
    is_path("a", "and its end");
    ok(thread.now == 0, "where it was");
    signalled(0xff00, 0x20, 0x80000, 0x90000);
    call(0x8ff00, 0xb);
    signalled(0x8fe00, 0x30, 0, 0);
    is_path("a 21 b 31", "another one there");
    cf_calls_handled(&thread);
    is_path("a 21 b", "ends first");
    moved(0x10000);
    is_path("", "siglongjmp out of it, and of what it interrupted");
    call(0x10000, 0xc);
    signalled(0xff00, 0x20, 0x80000, 0x90000);
    ok(thread.stacks == 2, "its stack is used again");
    cf_calls_handled(&thread);

    signalled(0xff00, 0x20, 0x1000, 0x2000);
    call(0x1f00, 0xb);
    is_path("c 21 b", "one on a stack of its own, below");
    moved(0xff80);
    is_path("c", "left by siglongjmp");
    end();
}

static void test_coroutines(void)
{
    begin(100);
    call(0x800000, 0xa);
    call(0x7ff000, 0xb); /* swapcontext() */
    ret(0x400000);       /* into a new one */
    is_path("a b", "a coroutine stands below who resumed it first");
    call(0x3fff00, 0xc);
    call(0x3ffe00, 0xd);
    ret(0x7ff000);
    is_path("a", "the stack that it left goes on where it was");
    call(0x7ff000, 0xe);
    ret(0x3ffe00);
    is_path("a b c", "and so does the coroutine");
    ret(0x3fff00);
    is_path("a b", "to its end");
    ret(0x7ff000);
    is_path("a", "also where it has no frames");
    for (uint64_t i = 1; i <= 2 * CF_CALLS_STACKS; i++) {
        call(0x7ff000, 0xf);
        ret(0x800000 + i * 0x100000);
        call(0x7fff00 + i * 0x100000, 0x10);
        ret(0x7ff000);
    }
    is_path("a", "many of them");
    ok(thread.stacks == CF_CALLS_STACKS && calls.lost_stacks == CF_CALLS_STACKS + 2,
       "those used least recently are forgotten, and counted");
    for (uint64_t i = 1; i <= 2 * CF_CALLS_STACKS; i++)
        signalled(0x7fe000, 0x20, i << 24, (i << 24) + 0x10000);
    ok(thread.stacks <= CF_CALLS_STACKS, "handlers that are never left are bounded");
    end();
}

/* A coroutine from its start at `top` to where it is left, in a call that stands at `at`. */
static void left_at(uint64_t by, uint64_t top, uint64_t at, const char *want, const char *what)
{
    call(0x7ff000, by);
    ret(top);
    call(top - 0x18, 0xc);
    call(at, 0xd);
    is_path(want, what);
    ret(0x7ff000);
}

static void test_used_again(void)
{
    begin(100);
    call(0x800000, 0xa);
    left_at(0xb, 0x408008, 0x407000, "a b c d", "a coroutine that is left for ever");
    left_at(0xe, 0x408008, 0x407000, "a e c d", "another one at the same top");
    left_at(0xf, 0x407ff8, 0x406000, "a f c d", "one a little below, between the frames of that");
    left_at(0x10, 0x405ff8, 0x405000, "a 10 c d", "one close below its last frame");
    call(0x7ff000, 0x11);
    ret(0x405000);
    is_path("a 10 c", "it goes on below who resumed it first");
    ret(0x405fe0);
    ret(0x406000); /* its first function returns */
    call(0x406008, 0x12);
    ret(0x7ff000);
    is_path("a", "and ends");
    left_at(0x13, 0x405ff8, 0x405000, "a 13 c d", "the next one there begins anew");
    ok(thread.stacks == 3, "the ended ones have given their places away");
    for (uint64_t i = 1; i <= 2 * CF_CALLS_STACKS; i++) {
        call(0x7ff000, 0xf);
        ret(0x800008 + i * 0x10000);
        call(0x7ffff0 + i * 0x10000, 0x10);
        ret(0x7ffff0 + i * 0x10000);
        ret(0x800010 + i * 0x10000);
        call(0x800010 + i * 0x10000, 0x12);
        ret(0x7ff000);
    }
    ok(thread.stacks == 4 && !calls.lost_stacks, "at any number of places, without a loss");
    end();
}

/* Of stacks side by side each has its own. */
static void test_neighbours(void)
{
    begin(100);
    call(0x800000, 0xa);
    left_at(0xb, 0x408008, 0x407f00, "a b c d", "a coroutine");
    left_at(0xe, 0x404008, 0x403f00, "a e c d", "one on a stack of 16 KB right below");
    call(0x7ff000, 0x10);
    ret(0x407f00);
    call(0x407f00, 0x11);
    ret(0x403f00);
    is_path("a e c", "which the first resumes");
    call(0x403f00, 0x12);
    moved(0x407f00);
    is_path("a b c", "left by longjmp()");
    call(0x407f00, 0x11);
    moved(0x403f00);
    is_path("a e c", "and resumed by it");
    call(0x403f00, 0x11);
    ret(0x7ff000);
    call(0x7ff000, 0x13);
    moved(0x502000); /* where setjmp() was called in a handler */
    call(0x502000, 0x14);
    moved(0x7ff000);
    call(0x7ff000, 0x15);
    moved(0x502000);
    is_path("a 13", "what setjmp() began goes on where it began");
    call(0x502000, 0x14);
    moved(0x7ff000);
    call(0x7ff000, 0x16);
    moved(0x501e00);
    is_path("a 13 14", "a jump to below its last call");
    end();
}

static void test_forks(void)
{
    struct cf_calls_forks forks = {0};
    struct cf_calls_thread parent;
    uint32_t nodes, child;

    begin(100);
    call(0x1000, 0xa);
    call(0xf00, 0xb);
    if (cf_calls_fork(&calls, &forks, 7, &thread) != 0)
        exit(2);
    ret(0xf00);
    call(0xf00, 0xc);
    ok(!cf_calls_forked(&forks, 8, &parent, &nodes), "a fork that was not told");
    parent = thread;
    ok(cf_calls_forked(&forks, 7, &thread, &nodes) && forks.count == 0, "a fork");
    child = cf_calls_image(&calls, 2, image, nodes);
    image = child;
    is_path("a b", "the child has the stack of then");
    ret(0xf00);
    call(0xf00, 0xb);
    ok(thread.stack[0].node < nodes, "and the nodes that were there");
    ret(0xf00);
    call(0xf00, 0xc);
    is_path("a c", "but not those that came later");
    ok(thread.stack[0].node != parent.stack[0].node, "to its parent");
    if (cf_calls_fork(&calls, &forks, 1, &thread) != 0)
        exit(2);
    cf_calls_thread_free(&thread);
    cf_calls_forked(&forks, 1, &thread, &nodes);
    image = cf_calls_image(&calls, 3, child, nodes);
    ret(0xf00);
    call(0xf00, 0xb);
    ok(thread.stack[0].node < calls.image[child].nodes, "a grandchild has those of both");
    ret(0xf00);
    call(0xf00, 0xc);
    ok(calls.node[thread.stack[0].node].image == child, "each from whom made it");
    for (uint32_t i = 0; i < 2 * CF_CALLS_FORKS; i++)
        if (cf_calls_fork(&calls, &forks, i, &thread) != 0)
            exit(2);
    ok(forks.count == CF_CALLS_FORKS, "children that never begin are bounded");
    cf_calls_forks_free(&forks);
    cf_calls_thread_free(&parent);
    cf_calls_unknown(&thread);
    is_path("", "what is not known is the root");
    end();
}

int main(void)
{
    test_plain();
    test_left();
    test_no_push();
    test_recursion();
    test_depth();
    test_full();
    test_signals();
    test_coroutines();
    test_used_again();
    test_neighbours();
    test_forks();
    return done();
}
