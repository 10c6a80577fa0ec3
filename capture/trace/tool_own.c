/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Heap blocks of the program's own allocator: of one that is linked statically, which no preload
 * library gets into, and of any where that is asked for. Its functions run, are recognised by their
 * names (tool_allocators.c), and tell what they were called with at their entries and what they
 * gave when they return.
 *
 * The outermost call makes the block. What it obtains inside, such as operator new by malloc, is
 * the same block if the result lies in it; else it is a block of its own, such as what a
 * new-handler or an exception obtains.
 */
#include "tool.h"

#include "pub_tool_machine.h"
#include "pub_tool_options.h"

#if defined(VGA_amd64)
#include "libvex_guest_amd64.h"
#define REGISTER(name) offsetof(VexGuestAMD64State, guest_##name)
enum {
    FIRST = REGISTER(RDI),
    SECOND = REGISTER(RSI),
    THIRD = REGISTER(RDX),
    RESULT = REGISTER(RAX),
    RETURN_POPS = 8,
};
#elif defined(VGA_arm64)
#include "libvex_guest_arm64.h"
#define REGISTER(name) offsetof(VexGuestARM64State, guest_##name)
enum {
    FIRST = REGISTER(X0),
    SECOND = REGISTER(X1),
    THIRD = REGISTER(X2),
    RESULT = REGISTER(X0),
    BACK = REGISTER(X30),
    RETURN_POPS = 0,
};
#endif

enum {
    AUXV_BASE = 7,
    AUXV_END = 0,
    DEPTH = 8, /* calls within calls; what is deeper is not looked at */
    INNER = 8,
};

extern UWord *VG_(client_auxv);

/* Calls that a thread is in, outermost first. */
struct call {
    Addr sp;   /* it has returned when the stack is not below this */
    Addr back; /* where it returns to */
    enum cf_allocator kind;
    UInt serial;               /* of the block that is to be reallocated */
    Addr first, second, third; /* arguments */
};
struct thread {
    UInt depth, inner;
    UInt context; /* of the outermost */
    struct call calls[DEPTH];
    struct {
        Addr addr;
        SizeT size;
    } blocks[INNER]; /* which calls within the outermost gave, and none released */
};
static struct thread *threads;
static ThreadId current;
static Bool is_static, checked;

Bool cf_own_heap;

void cf_own_begin(void)
{
    const UWord *a = VG_(client_auxv);

    for (; a && a[0] != AUXV_END && a[0] != AUXV_BASE; a += 2)
        ;
    is_static = a && (a[0] != AUXV_BASE || !a[1]); /* there is no dynamic linker */
    if (!is_static && !cf_tool_options.own_allocator)
        return;
    cf_own_heap = True;
    /* Entries and returns must be where superblocks begin and end. */
    VG_(clo_vex_control).guest_chase = False;
    threads = cf_tool_pages(VG_PGROUNDUP(VG_N_THREADS * sizeof *threads));
}

void cf_own_new_thread(ThreadId tid)
{
    if (threads)
        threads[tid].depth = threads[tid].inner = 0;
}

static void watch(void)
{
    const struct thread *t = &threads[current];

    cf_tool_hot.call_sp = t->depth ? t->calls[t->depth - 1].sp : ~(Addr)0;
}

void cf_own_run(ThreadId tid)
{
    if (threads) {
        current = tid;
        watch();
    }
}

UInt cf_own_entry(Addr pc)
{
    if (is_static && !checked) {
        struct cf_wire_event_header event = {CF_WIRE_NO_HEAP, sizeof event};

        checked = True;
        if (cf_allocators_missing(pc))
            cf_transport_put(CF_WIRE_NO_HEAP, &event, sizeof event, "");
    }
    return cf_allocators_entry(pc);
}

static Addr argument(PtrdiffT offset)
{
    Addr value;

    VG_(get_shadow_regs_area)(current, (UChar *)&value, 0, offset, sizeof value);
    return value;
}

static Addr return_address(Addr sp)
{
#if defined(VGA_amd64)
    return VG_(am_is_valid_for_client)(sp, sizeof(Addr), VKI_PROT_READ) ? *(const Addr *)sp : 0;
#else
    (void)sp;
    return argument(BACK);
#endif
}

static Bool on_signal_stack(Addr sp)
{
    return sp - VG_(thread_get_altstack_min)(current) < VG_(thread_get_altstack_size)(current);
}

/* Whether the stack, as it is, has no room for the call. A signal handler on a stack of its own has
 * not left what was called below it. */
static Bool has_left(const struct call *c, Addr sp)
{
    const Bool here = on_signal_stack(sp), there = on_signal_stack(c->sp - 1);

    return here == there ? c->sp <= sp : there;
}

/* What calls within the outermost one gave, and is not its result, are blocks like any. */
static void keep_inner(struct thread *t)
{
    UInt i;

    for (i = 0; i < t->inner; i++)
        cf_heap_obtained(t->blocks[i].addr, t->blocks[i].size, t->context);
    t->inner = 0;
}

/* Forgets what calls within this one gave, where its result lies in it. */
static void drop_inner(struct thread *t, Addr block)
{
    UInt i;

    for (i = 0; i < t->inner;)
        if (t->blocks[i].addr == block || block - t->blocks[i].addr < t->blocks[i].size)
            t->blocks[i] = t->blocks[--t->inner];
        else
            i++;
}

static void obtained(struct thread *t, Addr block, SizeT size)
{
    drop_inner(t, block);
    if (t->depth && t->inner < INNER) {
        t->blocks[t->inner].addr = block;
        t->blocks[t->inner++].size = size;
    } else {
        cf_heap_obtained(block, size, t->context);
    }
}

static void released(struct thread *t, Addr block)
{
    UInt i;

    for (i = 0; i < t->inner; i++)
        if (t->blocks[i].addr == block) {
            t->blocks[i] = t->blocks[--t->inner];
            return;
        }
    cf_heap_released(block);
}

/* The call has returned, and is no more in the list. */
static void returned(struct thread *t, const struct call *c)
{
    Addr result = argument(RESULT);
    SizeT size = c->first;

    switch (c->kind) {
    case CF_ALLOCATOR_CALLOC:
        if (__builtin_mul_overflow(c->first, c->second, &size))
            return;
        break;
    case CF_ALLOCATOR_REALLOCARRAY:
        if (__builtin_mul_overflow(c->second, c->third, &size))
            return;
        break;
    case CF_ALLOCATOR_REALLOC:
    case CF_ALLOCATOR_MEMALIGN:
        size = c->second;
        break;
    case CF_ALLOCATOR_POSIX_MEMALIGN:
        if ((Int)result != 0 ||
            !VG_(am_is_valid_for_client)(c->first, sizeof result, VKI_PROT_READ))
            return;
        result = *(const Addr *)c->first;
        size = c->third;
        break;
    case CF_ALLOCATOR_FREE:
        return;
    default:
        break;
    }
    /* Another thread may have got the memory since the allocator took it back. */
    if (c->serial && (result || !size) && cf_heap_serial(c->first) == c->serial)
        cf_heap_released(c->first);
    if (result)
        obtained(t, result, size);
}

/* Takes the calls that the stack has no room for any more out of the list. One whose own return
 * this is has a result; others were left by longjmp or an exception. */
static void leave(struct thread *t, Addr sp, Addr to, Bool by_return)
{
    while (t->depth && has_left(&t->calls[t->depth - 1], sp)) {
        const struct call *c = &t->calls[--t->depth];

        if (by_return && c->sp == sp && c->back == to)
            returned(t, c);
    }
    if (!t->depth)
        keep_inner(t);
}

VG_REGPARM(2) void cf_own_enter(UWord kind, Addr sp)
{
    struct thread *t = &threads[current];
    const Addr after = sp + RETURN_POPS, back = return_address(sp);
    struct call *c;

    cf_transport_leave(current);
    /* Nothing tells of every way to leave a function. At an equal stack pointer it is the same
       call, at whose end another function goes on, as operator new does for operator new[]. */
    while (t->depth && has_left(&t->calls[t->depth - 1], after) &&
           (t->calls[t->depth - 1].sp != after || t->calls[t->depth - 1].back != back))
        t->depth--;
    if (!t->depth)
        keep_inner(t);
    c = &t->calls[t->depth];
    if (t->depth < DEPTH && !(t->depth && c[-1].sp == after)) {
        c->sp = after;
        c->back = back;
        c->kind = kind;
        c->first = argument(FIRST);
        c->second = argument(SECOND);
        c->third = argument(THIRD);
        c->serial = kind == CF_ALLOCATOR_REALLOC || kind == CF_ALLOCATOR_REALLOCARRAY
                        ? cf_heap_serial(c->first)
                        : 0;
        if (!t->depth)
            t->context = 0;
        if (!t->context && kind != CF_ALLOCATOR_FREE)
            t->context = cf_heap_stack(current);
        /* From here on another thread may get it. */
        if (kind == CF_ALLOCATOR_FREE)
            released(t, c->first);
        t->depth++;
    }
    cf_transport_enter(current);
    watch();
}

VG_REGPARM(3) void cf_own_leave(Addr sp, Addr to, UWord by_return)
{
    cf_transport_leave(current);
    leave(&threads[current], sp, to, by_return != 0);
    cf_transport_enter(current);
    watch();
}
