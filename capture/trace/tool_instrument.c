/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Superblocks. Each is described once, when it is translated (protocol.h), and then emits at every
 * execution a header word and the distinct base addresses of its accesses: an address that is
 * another one plus a constant, through the temporaries of the flat IR, costs nothing at run time.
 *
 * The header tells where the superblock was left. It is written in advance: on entry that of the
 * first exit, after each exit that of the next, at last that of the end. So a side exit costs one
 * store and no test, and a fault finds a header that tells how far execution had come.
 */
#include "tool.h"

#include "pub_tool_machine.h"
#include "tool_plan.h"

/* What a fault needs to know about each superblock, by rising outcome. */
struct range {
    UInt first;
    UShort exits;
    UShort slots;
    UChar sections;
};
static struct range *ranges;
static UInt n_ranges, ranges_room;
static UInt next_outcome = 1;

UInt cf_instrument_outcomes(void)
{
    return next_outcome;
}

static const struct range *find_range(UInt outcome)
{
    UInt low = 0, high = n_ranges;

    while (high - low > 1) {
        UInt middle = (low + high) / 2;

        if (ranges[middle].first <= outcome)
            low = middle;
        else
            high = middle;
    }
    return low < n_ranges ? &ranges[low] : NULL;
}

static void remember_range(void)
{
    if (n_ranges == ranges_room) {
        ranges_room = ranges_room ? 2 * ranges_room : 4096;
        ranges = VG_(realloc)("cftrace.ranges", ranges, ranges_room * sizeof *ranges);
    }
    ranges[n_ranges].first = cf_plan.first;
    ranges[n_ranges].exits = cf_plan.n_exits;
    ranges[n_ranges].slots = cf_plan.n_slots;
    ranges[n_ranges].sections = cf_plan.n_sections;
    n_ranges++;
}

/* The last record before the cursor belongs to the superblock that faulted. */
void cf_instrument_cut(Addr pc)
{
    UChar *p = cf_transport_region(), *last = NULL;
    struct cf_wire_cut cut = {.header = {CF_WIRE_CUT, sizeof cut}, .pc = pc};
    const struct range *range = NULL;
    UInt word, slots, outcome;

    if (!cf_tool_recording || !cf_tool_hot.advance || !p)
        return;
    while (p < cf_tool_hot.cursor) {
        VG_(memcpy)(&word, p, sizeof word);
        if (word < CF_WIRE_EVENTS) {
            struct cf_wire_event_header header;

            VG_(memcpy)(&header, p, sizeof header);
            tl_assert(header.bytes >= sizeof header);
            p += header.bytes;
            continue;
        }
        slots = word & CF_WIRE_SLOTS_LONG;
        if (slots == CF_WIRE_SLOTS_LONG)
            slots = find_range(word >> CF_WIRE_SLOT_BITS)->slots;
        last = p;
        p += 4 + slots * CF_WIRE_SLOT_BYTES;
    }
    if (!last)
        return;
    VG_(memcpy)(&cut.progress, last, sizeof cut.progress);
    range = find_range(cut.progress >> CF_WIRE_SLOT_BITS);
    outcome = range->first + ((range->exits + 1u) << range->sections);
    word = outcome << CF_WIRE_SLOT_BITS | (cut.progress & CF_WIRE_SLOTS_LONG);
    VG_(memcpy)(last, &word, sizeof word);
    VG_(memcpy)(cf_tool_hot.cursor, &cut, sizeof cut); /* within the slack: see CF_TOOL_SLACK */
    cf_tool_hot.cursor += sizeof cut;
}

static IRExpr *u64(ULong value)
{
    return IRExpr_Const(IRConst_U64(value));
}

static IRExpr *u32(UInt value)
{
    return IRExpr_Const(IRConst_U32(value));
}

static IRExpr *assign(IRSB *sb, IRType type, IRExpr *value)
{
    IRTemp t = newIRTemp(sb->tyenv, type);

    addStmtToIRSB(sb, IRStmt_WrTmp(t, value));
    return IRExpr_RdTmp(t);
}

static IRExpr *load_hot(IRSB *sb, const void *field)
{
    return assign(sb, Ity_I64, IRExpr_Load(Iend_LE, Ity_I64, u64((Addr)field)));
}

static void call(IRSB *sb, const HChar *name, void *helper, IRExpr *argument, IRExpr *guard)
{
    IRDirty *d = unsafeIRDirty_0_N(0, name, VG_(fnptr_to_fnentry)(helper),
                                   argument ? mkIRExprVec_1(argument) : mkIRExprVec_0());

    if (guard)
        d->guard = guard;
    addStmtToIRSB(sb, IRStmt_Dirty(d));
}

/* Makes room for the record; returns its address. */
static IRExpr *emit_prologue(IRSB *sb, const VexGuestLayout *layout)
{
    Int at_cursor = layout->total_sizeB + CF_TOOL_SHADOW_CURSOR;
    Int at_limit = layout->total_sizeB + CF_TOOL_SHADOW_LIMIT;
    IRExpr *cursor = assign(sb, Ity_I64, IRExpr_Get(at_cursor, Ity_I64));
    IRExpr *limit = assign(sb, Ity_I64, IRExpr_Get(at_limit, Ity_I64));
    IRExpr *full = assign(sb, Ity_I1, IRExpr_Binop(Iop_CmpLT64U, limit, cursor));
    IRExpr *step = u64(4 + cf_plan.n_slots * CF_WIRE_SLOT_BYTES);
    IRExpr *end;

    call(sb, "cf_transport_flush", &cf_transport_flush, NULL, full);
    cursor = assign(sb, Ity_I64, IRExpr_Get(at_cursor, Ity_I64));
    if (cf_tool_options.function)
        step =
            assign(sb, Ity_I64, IRExpr_Binop(Iop_And64, load_hot(sb, &cf_tool_hot.advance), step));
    end = assign(sb, Ity_I64, IRExpr_Binop(Iop_Add64, cursor, step));
    addStmtToIRSB(sb, IRStmt_Put(at_cursor, end));
    return cursor;
}

/* Writes the header for exit e (0: the end), before which `closed` sections are known; *skips is
 * the part of it that depends on them. */
static void emit_header(IRSB *sb, IRExpr *record, UInt e, UInt closed, IRExpr *executed)
{
    UInt slots = cf_plan.n_slots < CF_WIRE_SLOTS_LONG ? cf_plan.n_slots : CF_WIRE_SLOTS_LONG;
    UInt outcome = cf_plan.first + (e << cf_plan.n_sections | ((1u << closed) - 1));
    IRExpr *header = u32(outcome << CF_WIRE_SLOT_BITS | slots);

    if (closed)
        header = assign(sb, Ity_I32, IRExpr_Binop(Iop_Sub32, header, executed));
    addStmtToIRSB(sb, IRStmt_Store(Iend_LE, record, header));
}

/* Adds to the sum of 1 << (slot bits + i) over the executed sections i that of section i. */
static IRExpr *emit_section(IRSB *sb, UInt i, IRExpr *executed)
{
    /* Valgrind 3.19 has no Iop_1Uto32 on arm64 */
    IRExpr *bit =
        assign(sb, Ity_I64, IRExpr_Unop(Iop_1Uto64, IRExpr_RdTmp(cf_plan.sections[i].guard)));

    bit = assign(sb, Ity_I32, IRExpr_Unop(Iop_64to32, bit));
    bit = assign(sb, Ity_I32,
                 IRExpr_Binop(Iop_Shl32, bit, IRExpr_Const(IRConst_U8(CF_WIRE_SLOT_BITS + i))));
    if (!executed)
        return bit;
    return assign(sb, Ity_I32, IRExpr_Binop(Iop_Add32, executed, bit));
}

static void emit_slot(IRSB *sb, IRExpr *record, const struct cf_plan_access *a)
{
    IRExpr *place =
        assign(sb, Ity_I64,
               IRExpr_Binop(Iop_Add64, record, u64(4 + a->wire.slot * (ULong)CF_WIRE_SLOT_BYTES)));
    IRExpr *value = a->base == IRTemp_INVALID ? u64(a->constant) : IRExpr_RdTmp(a->base);

    if (a->guard != IRTemp_INVALID)
        value = assign(sb, Ity_I64,
                       IRExpr_ITE(IRExpr_RdTmp(a->guard), value, u64(CF_WIRE_ADDRESS_MASK)));
    addStmtToIRSB(sb, IRStmt_Store(Iend_LE, place, value));
}

static IRExpr *stack_pointer(IRSB *sb, const VexGuestLayout *layout)
{
    return assign(sb, Ity_I64, IRExpr_Get(layout->offset_SP, Ity_I64));
}

/* At the end: the stack pointer, where no access has its slot. */
static void emit_top(IRSB *sb, const VexGuestLayout *layout, IRExpr *record)
{
    if (cf_plan.end.kind && cf_plan.top.opens) {
        if (cf_plan.top_in_register)
            cf_plan.top.base = stack_pointer(sb, layout)->Iex.RdTmp.tmp;
        emit_slot(sb, record, &cf_plan.top);
    }
}

/* At a return: the stack is not below what `threshold` holds. */
static IRExpr *has_left(IRSB *sb, IRExpr *sp, const void *threshold)
{
    return assign(sb, Ity_I1, IRExpr_Binop(Iop_CmpLE64U, load_hot(sb, threshold), sp));
}

static void emit_leave(IRSB *sb, const VexGuestLayout *layout)
{
    IRExpr *sp = stack_pointer(sb, layout);

    call(sb, "cf_function_leave", &cf_function_leave, sp, has_left(sb, sp, &cf_tool_hot.leave_sp));
}

/* An allocation function of the program's own begins here, with this register state. */
static void emit_own_enter(IRSB *sb, const VexGuestLayout *layout, UInt function, Addr pc)
{
    IRDirty *d = unsafeIRDirty_0_N(2, "cf_own_enter", VG_(fnptr_to_fnentry)(&cf_own_enter),
                                   mkIRExprVec_2(u64(function), stack_pointer(sb, layout)));

    addStmtToIRSB(sb, IRStmt_Put(layout->offset_IP, u64(pc)));
    addStmtToIRSB(sb, IRStmt_Dirty(d));
}

/* At a return, and at a jump to where a register says, which longjmp is. Where a call leaves the
 * stack pointer as it is, a jump from the end of one function to another looks like that. */
static void emit_own_leave(IRSB *sb, const VexGuestLayout *layout)
{
    const Bool returns = sb->jumpkind == Ijk_Ret;
    IRExpr *sp = stack_pointer(sb, layout);
    IRDirty *d;

#if !defined(VGA_amd64)
    if (!returns)
        return;
#endif
    d = unsafeIRDirty_0_N(3, "cf_own_leave", VG_(fnptr_to_fnentry)(&cf_own_leave),
                          mkIRExprVec_3(sp, sb->next, u64(returns)));
    d->guard = has_left(sb, sp, &cf_tool_hot.call_sp);
    addStmtToIRSB(sb, IRStmt_Dirty(d));
}

/* What may leave a function that is followed. */
static void emit_leaves(IRSB *sb, const VexGuestLayout *layout)
{
    const Bool returns = sb->jumpkind == Ijk_Ret, computed = sb->next->tag == Iex_RdTmp;

    if (cf_tool_options.function && (returns || computed))
        emit_leave(sb, layout);
    if (cf_own_heap && (returns || (sb->jumpkind == Ijk_Boring && computed)))
        emit_own_leave(sb, layout);
}

IRSB *cf_instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout,
                    const VexGuestExtents *extents, const VexArchInfo *host, IRType guest_word,
                    IRType host_word)
{
    IRSB *out;
    IRExpr *record, *executed = NULL;
    UInt access = 0, exit = 0, closed = 0, outcomes, function;
    Addr pc;
    Int i;

    (void)closure, (void)extents, (void)host, (void)guest_word, (void)host_word;
    if (!cf_tool_recording)
        return in;
    for (i = 0; i < in->stmts_used && in->stmts[i]->tag != Ist_IMark; i++)
        ;
    if (i == in->stmts_used)
        return in;

    cf_plan_make(in, i, cf_tool_options.calls, layout->offset_SP);
    outcomes = (cf_plan.n_exits + 2) << cf_plan.n_sections;
    if (next_outcome + outcomes > CF_WIRE_OUTCOMES) {
        cf_transport_event(CF_WIRE_LOST, sizeof(struct cf_wire_event_header));
        return in;
    }
    cf_plan.first = next_outcome;
    next_outcome += outcomes;
    cf_plan_describe();
    remember_range();

    out = deepCopyIRSBExceptStmts(in);
    for (i = 0; in->stmts[i]->tag != Ist_IMark; i++)
        addStmtToIRSB(out, in->stmts[i]);
    pc = in->stmts[i]->Ist.IMark.addr;
    if (cf_tool_options.function && cf_function_is_entry(pc))
        call(out, "cf_function_enter", &cf_function_enter, stack_pointer(out, layout), NULL);
    if (cf_own_heap && (function = cf_own_entry(pc)) != CF_ALLOCATOR_NONE)
        emit_own_enter(out, layout, function, pc);
    record = emit_prologue(out, layout);
    emit_header(out, record, cf_plan.n_exits ? 1 : 0, 0, NULL);

    for (; i < in->stmts_used; i++) {
        for (; access < cf_plan.n_accesses && cf_plan.accesses[access].statement == i; access++)
            if (cf_plan.accesses[access].opens)
                emit_slot(out, record, &cf_plan.accesses[access]);
        addStmtToIRSB(out, in->stmts[i]);
        if (in->stmts[i]->tag == Ist_Exit) {
            UInt known =
                exit + 1 < cf_plan.n_exits ? cf_plan.exits[exit + 1].closed : cf_plan.n_sections;

            for (; closed < known; closed++)
                executed = emit_section(out, closed, executed);
            exit++;
            emit_header(out, record, exit < cf_plan.n_exits ? exit + 1 : 0, closed, executed);
        }
    }
    emit_top(out, layout, record);
    emit_leaves(out, layout);
    return out;
}
