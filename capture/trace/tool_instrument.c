/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Superblocks. Each is described once, when it is translated (protocol.h), and then emits at every
 * execution a header word and the distinct base addresses of its accesses: an address that is
 * another one plus a constant, through the temporaries of the flat IR, costs nothing at run time.
 *
 * The header tells where the superblock was left. It is written in advance: on entry that of the
 * first exit, after each exit that of the next, at last that of the end. So a side exit costs one
 * store and no test, and a fault finds a header that tells how far execution had come.
 *
 * VEX may fold the second test of `a && b` into straight code whose results are thrown away if a
 * does not hold. Nothing in the IR says so but the shape: a conditional branch without an exit, and
 * the next exit guarded by And1(b, a). What lies between is a "section", and the value of a goes
 * into the header of every later outcome, so that instructions that did not run are not counted.
 */
#include "tool.h"

#include "../cf_repeat.h"
#include "pub_tool_machine.h"

struct access {
    IRTemp base;  /* IRTemp_INVALID: constant address */
    IRTemp guard; /* IRTemp_INVALID: unconditional */
    Int statement;
    Bool opens;     /* its slot is written here */
    ULong constant; /* what is written if there is no base */
    struct cf_wire_access wire;
};

struct exit {
    struct cf_wire_exit wire;
    UInt closed; /* sections known before its header is written */
};

struct section {
    struct cf_wire_section wire;
    IRTemp guard;  /* holds: the section was executed */
    Int statement; /* its first */
};

/* The plan of the superblock at work. Only one is instrumented at a time. */
static struct {
    struct cf_wire_insn insns[CF_WIRE_MAX_INSNS];
    struct access accesses[CF_WIRE_MAX_ACCESSES];
    struct exit exits[CF_WIRE_MAX_EXITS + 1];
    struct section sections[CF_WIRE_MAX_SECTIONS];
    UInt n_insns, n_accesses, n_exits, n_sections, n_slots;
    UInt first;           /* outcome */
    IRExpr **definitions; /* of each temporary, or NULL */
    Int *defined_at;      /* statement */
    Int temporaries;
} plan;

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
    ranges[n_ranges].first = plan.first;
    ranges[n_ranges].exits = plan.n_exits;
    ranges[n_ranges].slots = plan.n_slots;
    ranges[n_ranges].sections = plan.n_sections;
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

/* First half: what the superblock does. */

static IRExpr *definition(const IRExpr *e)
{
    return e->tag == Iex_RdTmp ? plan.definitions[e->Iex.RdTmp.tmp] : NULL;
}

/* Splits an address into a temporary and a constant, or into a constant alone. */
static void resolve(const IRExpr *e, struct access *a)
{
    ULong offset = 0;

    for (;;) {
        const IRExpr *d;

        if (e->tag == Iex_Const) {
            tl_assert(e->Iex.Const.con->tag == Ico_U64);
            a->base = IRTemp_INVALID;
            a->wire.offset = e->Iex.Const.con->Ico.U64 + offset;
            return;
        }
        d = definition(e);
        if (d && (d->tag == Iex_RdTmp || d->tag == Iex_Const)) {
            e = d;
            continue;
        }
        if (d && d->tag == Iex_Binop &&
            (d->Iex.Binop.op == Iop_Add64 || d->Iex.Binop.op == Iop_Sub64)) {
            IRExpr *left = d->Iex.Binop.arg1, *right = d->Iex.Binop.arg2;
            Bool add = d->Iex.Binop.op == Iop_Add64;

            if (right->tag == Iex_Const) {
                offset += add ? right->Iex.Const.con->Ico.U64 : -right->Iex.Const.con->Ico.U64;
                e = left;
                continue;
            }
            if (add && left->tag == Iex_Const) {
                offset += left->Iex.Const.con->Ico.U64;
                e = right;
                continue;
            }
        }
        a->base = e->Iex.RdTmp.tmp;
        a->wire.offset = offset;
        return;
    }
}

static void plan_access(UInt op, UInt size, const IRExpr *addr, const IRExpr *guard, Int statement)
{
    struct access *a;

    if (guard && guard->tag == Iex_Const) {
        if (!guard->Iex.Const.con->Ico.U1)
            return;
        guard = NULL;
    }
    tl_assert(plan.n_accesses < CF_WIRE_MAX_ACCESSES && size > 0 && size < 65536 && plan.n_insns);
    a = &plan.accesses[plan.n_accesses++];
    a->guard = guard ? guard->Iex.RdTmp.tmp : IRTemp_INVALID;
    a->statement = statement;
    a->opens = False;
    a->wire.insn = plan.n_insns - 1;
    a->wire.size = size;
    a->wire.op = op;
    a->wire.reserved = 0;
    if (guard && addr->tag == Iex_RdTmp) {
        a->base = addr->Iex.RdTmp.tmp; /* resolved later if the guard turns out to be a section's */
        a->wire.offset = 0;
    } else {
        resolve(addr, a);
    }
}

static void plan_statement(const IRSB *sb, const IRStmt *st, Int i)
{
    switch (st->tag) {
    case Ist_WrTmp:
        if (st->Ist.WrTmp.data->tag == Iex_Load) {
            const IRExpr *load = st->Ist.WrTmp.data;

            plan_access(CF_WIRE_LOAD, sizeofIRType(load->Iex.Load.ty), load->Iex.Load.addr, NULL,
                        i);
        }
        break;
    case Ist_Store:
        plan_access(CF_WIRE_STORE, sizeofIRType(typeOfIRExpr(sb->tyenv, st->Ist.Store.data)),
                    st->Ist.Store.addr, NULL, i);
        break;
    case Ist_LoadG: {
        const IRLoadG *g = st->Ist.LoadG.details;
        IRType result, loaded;

        typeOfIRLoadGOp(g->cvt, &result, &loaded);
        plan_access(CF_WIRE_LOAD, sizeofIRType(loaded), g->addr, g->guard, i);
        break;
    }
    case Ist_StoreG: {
        const IRStoreG *g = st->Ist.StoreG.details;

        plan_access(CF_WIRE_STORE, sizeofIRType(typeOfIRExpr(sb->tyenv, g->data)), g->addr,
                    g->guard, i);
        break;
    }
    case Ist_CAS: {
        const IRCAS *cas = st->Ist.CAS.details;
        UInt size = sizeofIRType(typeOfIRExpr(sb->tyenv, cas->dataLo)) * (cas->dataHi ? 2 : 1);

        plan_access(CF_WIRE_LOAD, size, cas->addr, NULL, i);
        plan_access(CF_WIRE_STORE, size, cas->addr, NULL, i);
        break;
    }
    case Ist_LLSC:
        if (!st->Ist.LLSC.storedata)
            plan_access(CF_WIRE_LOAD, sizeofIRType(typeOfIRTemp(sb->tyenv, st->Ist.LLSC.result)),
                        st->Ist.LLSC.addr, NULL, i);
        else
            plan_access(CF_WIRE_STORE,
                        sizeofIRType(typeOfIRExpr(sb->tyenv, st->Ist.LLSC.storedata)),
                        st->Ist.LLSC.addr, NULL, i);
        break;
    case Ist_Dirty: {
        const IRDirty *d = st->Ist.Dirty.details;

        if (d->mFx == Ifx_Read || d->mFx == Ifx_Modify)
            plan_access(CF_WIRE_LOAD, d->mSize, d->mAddr, d->guard, i);
        if (d->mFx == Ifx_Write || d->mFx == Ifx_Modify)
            plan_access(CF_WIRE_STORE, d->mSize, d->mAddr, d->guard, i);
        break;
    }
    default:
        break;
    }
}

static Bool is_conditional_branch(Addr pc, UInt length)
{
    const UChar *code = (const UChar *)pc;

#if defined(VGA_amd64)
    while (length > 2 && (*code == 0xf2 || *code == 0x2e || *code == 0x3e)) {
        code++;
        length--;
    }
    return (length == 2 && ((code[0] & 0xf0) == 0x70 || (code[0] & 0xfc) == 0xe0)) ||
           (length == 6 && code[0] == 0x0f && (code[1] & 0xf0) == 0x80);
#elif defined(VGA_arm64)
    UInt word;

    if (length != 4)
        return False;
    VG_(memcpy)(&word, code, sizeof word);
    return (word & 0xff000010) == 0x54000000 || (word & 0x7c000000) == 0x34000000;
#else
#error "no conditional branches known for this architecture"
#endif
}

static ULong repetition(Addr pc, UInt length)
{
#if defined(VGA_amd64)
    UInt kind = cf_repeat_kind((const UChar *)pc, length);

    return (kind ? CF_WIRE_REPEATS : 0) | (kind == CF_REPEAT_JOINED ? CF_WIRE_JOINED : 0);
#else
    return 0;
#endif
}

/* Takes apart And1(b, And1(..., a)): the innermost open section belongs to the outermost And1. */
static UInt close_sections(const IRExpr *guard, UInt open)
{
    while (open) {
        struct section *s = &plan.sections[plan.n_sections + open - 1];
        const IRExpr *d = definition(guard);

        while (d && d->tag == Iex_RdTmp) {
            guard = d;
            d = definition(guard);
        }
        if (!d || d->tag != Iex_Binop || d->Iex.Binop.op != Iop_And1)
            return 0;
        if (d->Iex.Binop.arg2->tag == Iex_RdTmp &&
            plan.defined_at[d->Iex.Binop.arg2->Iex.RdTmp.tmp] < s->statement)
            guard = d->Iex.Binop.arg2;
        else if (d->Iex.Binop.arg1->tag == Iex_RdTmp &&
                 plan.defined_at[d->Iex.Binop.arg1->Iex.RdTmp.tmp] < s->statement)
            guard = d->Iex.Binop.arg1;
        else
            return 0;
        s->guard = guard->Iex.RdTmp.tmp;
        s->wire.last = plan.n_insns - 1;
        open--;
    }
    return 1;
}

static void make_plan(const IRSB *sb, Int start)
{
    static IRExpr **definitions;
    static Int *defined_at;
    static Int room;
    UInt open = 0; /* sections begun */
    Bool branch_pending = False;
    Int i;

    if (sb->tyenv->types_used > room) {
        room = 2 * sb->tyenv->types_used;
        definitions = VG_(realloc)("cftrace.def", definitions, room * sizeof *definitions);
        defined_at = VG_(realloc)("cftrace.def", defined_at, room * sizeof *defined_at);
    }
    VG_(memset)(definitions, 0, sb->tyenv->types_used * sizeof *definitions);
    VG_(memset)(defined_at, 0, sb->tyenv->types_used * sizeof *defined_at);
    plan.definitions = definitions;
    plan.defined_at = defined_at;
    plan.n_insns = plan.n_accesses = plan.n_exits = plan.n_sections = plan.n_slots = 0;

    for (i = start; i < sb->stmts_used; i++) {
        const IRStmt *st = sb->stmts[i];

        if (st->tag == Ist_IMark) {
            tl_assert(plan.n_insns < CF_WIRE_MAX_INSNS);
            if (branch_pending && plan.n_sections + open < CF_WIRE_MAX_SECTIONS) {
                struct section *s = &plan.sections[plan.n_sections + open++];

                s->wire.first = plan.n_insns;
                s->statement = i;
            }
            branch_pending = is_conditional_branch(st->Ist.IMark.addr, st->Ist.IMark.len);
            plan.insns[plan.n_insns++].pc_length =
                (st->Ist.IMark.addr & CF_WIRE_PC_MASK) |
                (ULong)(st->Ist.IMark.len & CF_WIRE_LENGTH_MASK) << 56 |
                repetition(st->Ist.IMark.addr, st->Ist.IMark.len);
        } else if (st->tag == Ist_Exit) {
            struct exit *e = &plan.exits[plan.n_exits++];

            tl_assert(plan.n_exits <= CF_WIRE_MAX_EXITS);
            e->wire.insn = plan.n_insns - 1;
            e->wire.accesses = plan.n_accesses;
            e->closed = plan.n_sections;
            branch_pending = False;
            if (open) {
                if (close_sections(st->Ist.Exit.guard, open))
                    plan.n_sections += open;
                open = 0;
            }
        } else {
            if (st->tag == Ist_WrTmp) {
                definitions[st->Ist.WrTmp.tmp] = st->Ist.WrTmp.data;
                defined_at[st->Ist.WrTmp.tmp] = i;
            }
            plan_statement(sb, st, i);
        }
    }
}

static void assign_slots(void)
{
    UInt i, k;

    for (i = 0; i < plan.n_accesses; i++) {
        struct access *a = &plan.accesses[i];

        if (a->guard != IRTemp_INVALID) {
            for (k = 0; k < plan.n_sections; k++)
                if (a->guard == plan.sections[k].guard &&
                    a->wire.insn >= plan.sections[k].wire.first &&
                    a->wire.insn <= plan.sections[k].wire.last)
                    break;
            if (k < plan.n_sections) {
                a->guard = IRTemp_INVALID;
                if (a->base != IRTemp_INVALID) {
                    IRExpr *e = IRExpr_RdTmp(a->base);

                    resolve(e, a);
                }
            }
        }
        if (a->guard != IRTemp_INVALID) {
            a->wire.op |= CF_WIRE_CONDITIONAL;
            if (a->base == IRTemp_INVALID) {
                a->constant = a->wire.offset;
                a->wire.offset = 0;
            }
        } else if (a->base == IRTemp_INVALID) {
            a->wire.slot = CF_WIRE_NO_SLOT;
            continue;
        } else {
            for (k = 0; k < i; k++)
                if (plan.accesses[k].base == a->base && plan.accesses[k].guard == IRTemp_INVALID)
                    break;
            if (k < i) {
                a->wire.slot = plan.accesses[k].wire.slot;
                continue;
            }
        }
        a->opens = True;
        a->wire.slot = plan.n_slots++;
        tl_assert(plan.n_slots <= CF_WIRE_MAX_SLOTS);
    }
}

static void describe(void)
{
    struct cf_wire_block block = {.first = plan.first,
                                  .insns = plan.n_insns,
                                  .accesses = plan.n_accesses,
                                  .slots = plan.n_slots,
                                  .exits = plan.n_exits,
                                  .sections = plan.n_sections};
    UInt bytes = sizeof block + plan.n_insns * sizeof(struct cf_wire_insn) +
                 plan.n_accesses * sizeof(struct cf_wire_access) +
                 plan.n_exits * sizeof(struct cf_wire_exit) +
                 plan.n_sections * sizeof(struct cf_wire_section);
    UChar *p = cf_transport_event(CF_WIRE_BLOCK, bytes);
    UInt i;

    block.header.type = CF_WIRE_BLOCK;
    block.header.bytes = bytes;
    VG_(memcpy)(p, &block, sizeof block);
    p += sizeof block;
    VG_(memcpy)(p, plan.insns, plan.n_insns * sizeof *plan.insns);
    p += plan.n_insns * sizeof *plan.insns;
    for (i = 0; i < plan.n_accesses; i++, p += sizeof(struct cf_wire_access))
        VG_(memcpy)(p, &plan.accesses[i].wire, sizeof(struct cf_wire_access));
    for (i = 0; i < plan.n_exits; i++, p += sizeof(struct cf_wire_exit))
        VG_(memcpy)(p, &plan.exits[i].wire, sizeof(struct cf_wire_exit));
    for (i = 0; i < plan.n_sections; i++, p += sizeof(struct cf_wire_section))
        VG_(memcpy)(p, &plan.sections[i].wire, sizeof(struct cf_wire_section));
}

/* Second half: the code. */

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
    IRExpr *step = u64(4 + plan.n_slots * CF_WIRE_SLOT_BYTES);
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
    UInt slots = plan.n_slots < CF_WIRE_SLOTS_LONG ? plan.n_slots : CF_WIRE_SLOTS_LONG;
    UInt outcome = plan.first + (e << plan.n_sections | ((1u << closed) - 1));
    IRExpr *header = u32(outcome << CF_WIRE_SLOT_BITS | slots);

    if (closed)
        header = assign(sb, Ity_I32, IRExpr_Binop(Iop_Sub32, header, executed));
    addStmtToIRSB(sb, IRStmt_Store(Iend_LE, record, header));
}

/* Adds to the sum of 1 << (slot bits + i) over the executed sections i that of section i. */
static IRExpr *emit_section(IRSB *sb, UInt i, IRExpr *executed)
{
    IRExpr *bit =
        assign(sb, Ity_I32, IRExpr_Unop(Iop_1Uto32, IRExpr_RdTmp(plan.sections[i].guard)));

    bit = assign(sb, Ity_I32,
                 IRExpr_Binop(Iop_Shl32, bit, IRExpr_Const(IRConst_U8(CF_WIRE_SLOT_BITS + i))));
    if (!executed)
        return bit;
    return assign(sb, Ity_I32, IRExpr_Binop(Iop_Add32, executed, bit));
}

static void emit_slot(IRSB *sb, IRExpr *record, const struct access *a)
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

    make_plan(in, i);
    assign_slots();
    outcomes = (plan.n_exits + 2) << plan.n_sections;
    if (next_outcome + outcomes > CF_WIRE_OUTCOMES) {
        cf_transport_event(CF_WIRE_LOST, sizeof(struct cf_wire_event_header));
        return in;
    }
    plan.first = next_outcome;
    next_outcome += outcomes;
    describe();
    remember_range();

    out = deepCopyIRSBExceptStmts(in);
    for (i = 0; in->stmts[i]->tag != Ist_IMark; i++)
        addStmtToIRSB(out, in->stmts[i]);
    pc = in->stmts[i]->Ist.IMark.addr;
    if (cf_tool_options.function && cf_function_is_entry(pc))
        call(out, "cf_function_enter", &cf_function_enter, stack_pointer(out, layout), NULL);
    if (cf_own_heap && (function = cf_own_entry(pc)) != 0)
        emit_own_enter(out, layout, function, pc);
    record = emit_prologue(out, layout);
    emit_header(out, record, plan.n_exits ? 1 : 0, 0, NULL);

    for (; i < in->stmts_used; i++) {
        for (; access < plan.n_accesses && plan.accesses[access].statement == i; access++)
            if (plan.accesses[access].opens)
                emit_slot(out, record, &plan.accesses[access]);
        addStmtToIRSB(out, in->stmts[i]);
        if (in->stmts[i]->tag == Ist_Exit) {
            UInt known = exit + 1 < plan.n_exits ? plan.exits[exit + 1].closed : plan.n_sections;

            for (; closed < known; closed++)
                executed = emit_section(out, closed, executed);
            exit++;
            emit_header(out, record, exit < plan.n_exits ? exit + 1 : 0, closed, executed);
        }
    }
    if (cf_tool_options.function && (in->jumpkind == Ijk_Ret || in->next->tag == Iex_RdTmp))
        emit_leave(out, layout);
    if (cf_own_heap && in->jumpkind == Ijk_Ret)
        call(out, "cf_own_leave", &cf_own_leave, NULL,
             has_left(out, stack_pointer(out, layout), &cf_tool_hot.call_sp));
    return out;
}
