/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Heap blocks of a program that is linked statically. No preload library gets into it, so its
 * allocation functions cannot be replaced: they run, are recognised by their names, and tell what
 * they were called with at their entries and what they gave when the outermost of them returns.
 */
#include "tool.h"

#include "pub_tool_debuginfo.h"
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
    RETURN_POPS = 0,
};
#endif

enum { AUXV_BASE = 7, AUXV_END = 0 };

extern UWord *VG_(client_auxv);

enum kind { NONE, MALLOC, CALLOC, REALLOC, MEMALIGN, POSIX_MEMALIGN, FREE };

static const struct {
    const HChar *name;
    enum kind kind;
} functions[] = {
    {"malloc", MALLOC},
    {"calloc", CALLOC},
    {"realloc", REALLOC},
    {"free", FREE},
    {"cfree", FREE},
    {"memalign", MEMALIGN},
    {"aligned_alloc", MEMALIGN},
    {"posix_memalign", POSIX_MEMALIGN},
    {"valloc", MALLOC},
    {"pvalloc", MALLOC},
    {"operator new", MALLOC},
    {"operator new[]", MALLOC},
    {"operator delete", FREE},
    {"operator delete[]", FREE},
};

/* The outermost allocation function that a thread is in. */
static struct call {
    Addr sp; /* it has returned when the stack is not below this; ~0: in none */
    enum kind kind;
    Addr first, second, third; /* arguments */
    UInt context;
} * calls;
static ThreadId current;

Bool cf_own_heap;

void cf_own_begin(void)
{
    const UWord *a = VG_(client_auxv);
    ThreadId i;

    for (; a && a[0] != AUXV_END && a[0] != AUXV_BASE; a += 2)
        ;
    if (!a || (a[0] == AUXV_BASE && a[1]))
        return; /* there is a dynamic linker */
    cf_own_heap = True;
    /* Entries and returns must be where superblocks begin and end. */
    VG_(clo_vex_control).guest_chase = False;
    calls = VG_(malloc)("cftrace.own", VG_N_THREADS * sizeof *calls);
    for (i = 0; i < VG_N_THREADS; i++)
        calls[i].sp = ~(Addr)0;
}

void cf_own_new_thread(ThreadId tid)
{
    if (calls)
        calls[tid].sp = ~(Addr)0;
}

void cf_own_run(ThreadId tid)
{
    if (calls) {
        current = tid;
        cf_tool_hot.call_sp = calls[tid].sp;
    }
}

static void set_call(Addr sp)
{
    calls[current].sp = sp;
    cf_tool_hot.call_sp = sp;
}

UInt cf_own_entry(Addr pc)
{
    DiEpoch epoch = VG_(current_DiEpoch)();
    const HChar *name, *object;
    UInt i;

    if (!VG_(get_fnname_if_entry)(epoch, pc, &name))
        return NONE;
    if (VG_(strncmp)(name, "__libc_", 7) == 0)
        name += 7;
    for (i = 0; i < sizeof functions / sizeof *functions; i++) {
        SizeT length = VG_(strlen)(functions[i].name);

        if (VG_(strncmp)(name, functions[i].name, length) == 0 &&
            (name[length] == 0 || name[length] == '('))
            break;
    }
    if (i == sizeof functions / sizeof *functions)
        return NONE;
    /* Started through the dynamic linker by name, it has Valgrind's replacements after all. */
    if (VG_(get_objname)(epoch, pc, &object) && VG_(strstr)(object, "/vgpreload_"))
        return NONE;
    return functions[i].kind;
}

static Addr argument(ThreadId tid, PtrdiffT offset)
{
    Addr value;

    VG_(get_shadow_regs_area)(tid, (UChar *)&value, 0, offset, sizeof value);
    return value;
}

VG_REGPARM(2) void cf_own_enter(UWord kind, Addr sp)
{
    struct call *c = &calls[current];

    /* What is called inside is its own affair; a stack that went up was left by longjmp. */
    if (c->sp != ~(Addr)0 && sp + RETURN_POPS <= c->sp)
        return;
    c->kind = kind;
    c->first = argument(current, FIRST);
    c->second = argument(current, SECOND);
    c->third = argument(current, THIRD);
    cf_transport_leave(current);
    c->context = cf_heap_stack(current);
    /* From here on another thread may get it. */
    if (kind == FREE)
        cf_heap_released(c->first);
    cf_transport_enter(current);
    set_call(sp + RETURN_POPS);
}

VG_REGPARM(0) void cf_own_leave(void)
{
    struct call *c = &calls[current];
    Addr result = argument(current, RESULT);
    SizeT size = c->first;

    set_call(~(Addr)0);
    switch (c->kind) {
    case CALLOC:
        if (__builtin_mul_overflow(c->first, c->second, &size))
            return;
        break;
    case REALLOC:
    case MEMALIGN:
        size = c->second;
        break;
    case POSIX_MEMALIGN:
        if ((Int)result != 0 ||
            !VG_(am_is_valid_for_client)(c->first, sizeof result, VKI_PROT_READ))
            return;
        result = *(const Addr *)c->first;
        size = c->third;
        break;
    default:
        break;
    }
    cf_transport_leave(current);
    if (c->kind == REALLOC && c->first && (result || !size))
        cf_heap_released(c->first);
    if (c->kind != FREE && result)
        cf_heap_obtained(result, size, c->context);
    cf_transport_enter(current);
}
