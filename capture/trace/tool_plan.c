/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a superblock does: instructions, accesses and the bases of their addresses, exits.
 *
 * VEX may fold the second test of `a && b` into straight code whose results are thrown away if a
 * does not hold. Nothing in the IR says so but the shape: a conditional branch without an exit, and
 * the next exit guarded by And1(b, a). What lies between is a "section", and the value of a goes
 * into the header of every later outcome, so that instructions that did not run are not counted.
 */
#include "tool.h"

#include "capture/record/cf_repeat.h"
#include "pub_tool_basics.h"
#include "tool_plan.h"

struct cf_plan cf_plan;

static IRExpr *definition(const IRExpr *e)
{
    return e->tag == Iex_RdTmp ? cf_plan.definitions[e->Iex.RdTmp.tmp] : NULL;
}

/* Splits an address into a temporary and a constant, or into a constant alone. */
static void resolve(const IRExpr *e, struct cf_plan_access *a)
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
    struct cf_plan_access *a;

    if (guard && guard->tag == Iex_Const) {
        if (!guard->Iex.Const.con->Ico.U1)
            return;
        guard = NULL;
    }
    tl_assert(cf_plan.n_accesses < CF_WIRE_MAX_ACCESSES && size > 0 && size < 65536 &&
              cf_plan.n_insns);
    a = &cf_plan.accesses[cf_plan.n_accesses++];
    a->guard = guard ? guard->Iex.RdTmp.tmp : IRTemp_INVALID;
    a->statement = statement;
    a->opens = False;
    a->wire.insn = cf_plan.n_insns - 1;
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

/* Whether the instruction at work has loaded this. */
static Bool loaded(const IRExpr *addr, UInt size)
{
    struct cf_plan_access at;
    UInt i;

    resolve(addr, &at);
    for (i = cf_plan.n_accesses; i > 0; i--) {
        const struct cf_plan_access *a = &cf_plan.accesses[i - 1];

        if (a->wire.insn != cf_plan.n_insns - 1)
            break;
        if (a->wire.op == CF_WIRE_LOAD && a->guard == IRTemp_INVALID && a->wire.size == size &&
            a->base == at.base && a->wire.offset == at.wire.offset)
            return True;
    }
    return False;
}

/* VEX makes of a locked read-modify-write a load and a compare-and-swap that expects what the load
 * gave: that is one load. */
static void plan_cas(const IRSB *sb, const IRCAS *cas, Int statement)
{
    UInt size = sizeofIRType(typeOfIRExpr(sb->tyenv, cas->dataLo)) * (cas->dataHi ? 2 : 1);

    if (!loaded(cas->addr, size))
        plan_access(CF_WIRE_LOAD, size, cas->addr, NULL, statement);
    plan_access(CF_WIRE_STORE, size, cas->addr, NULL, statement);
}

/* Whether an instruction of AVX2 gathers: map 0f38 of VEX, opcodes 90 to 93. */
static Bool is_gather(const struct cf_wire_insn *insn)
{
#if defined(VGA_amd64)
    const UChar *code = (const UChar *)(Addr)(insn->pc_length & CF_WIRE_PC_MASK);
    const UChar *end = code + (insn->pc_length >> 56 & CF_WIRE_LENGTH_MASK);

    while (end - code > 4 && (*code == 0x67 || (*code & 0xe7) == 0x26 || (*code & 0xfe) == 0x64))
        code++;
    return end - code > 4 && code[0] == 0xc4 && (code[1] & 0x1f) == 2 && (code[3] & 0xfc) == 0x90;
#else
    return False;
#endif
}

/* VEX has a gather load from the stack where the mask leaves a lane out: its address is an ITE. */
static void plan_load(UInt size, const IRExpr *addr, Int statement)
{
    const IRExpr *choice = definition(addr);

    if (choice && choice->tag == Iex_ITE && is_gather(&cf_plan.insns[cf_plan.n_insns - 1]))
        plan_access(CF_WIRE_LOAD, size, choice->Iex.ITE.iftrue, choice->Iex.ITE.cond, statement);
    else
        plan_access(CF_WIRE_LOAD, size, addr, NULL, statement);
}

static void plan_statement(const IRSB *sb, const IRStmt *st, Int i)
{
    switch (st->tag) {
    case Ist_WrTmp: {
        const IRExpr *e = st->Ist.WrTmp.data;

        if (e->tag == Iex_Load)
            plan_load(sizeofIRType(e->Iex.Load.ty), e->Iex.Load.addr, i);
        break;
    }
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
    case Ist_CAS:
        plan_cas(sb, st->Ist.CAS.details, i);
        break;
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
        struct cf_plan_section *s = &cf_plan.sections[cf_plan.n_sections + open - 1];
        const IRExpr *d = definition(guard);

        while (d && d->tag == Iex_RdTmp) {
            guard = d;
            d = definition(guard);
        }
        if (!d || d->tag != Iex_Binop || d->Iex.Binop.op != Iop_And1)
            return 0;
        if (d->Iex.Binop.arg2->tag == Iex_RdTmp &&
            cf_plan.defined_at[d->Iex.Binop.arg2->Iex.RdTmp.tmp] < s->statement)
            guard = d->Iex.Binop.arg2;
        else if (d->Iex.Binop.arg1->tag == Iex_RdTmp &&
                 cf_plan.defined_at[d->Iex.Binop.arg1->Iex.RdTmp.tmp] < s->statement)
            guard = d->Iex.Binop.arg1;
        else
            return 0;
        s->guard = guard->Iex.RdTmp.tmp;
        s->wire.last = cf_plan.n_insns - 1;
        open--;
    }
    return 1;
}

/* The slot of an earlier access that has the same base; False if there is none. */
static Bool share_slot(struct cf_plan_access *a, UInt before)
{
    UInt k;

    for (k = 0; k < before; k++)
        if (cf_plan.accesses[k].base == a->base && cf_plan.accesses[k].guard == IRTemp_INVALID) {
            a->wire.slot = cf_plan.accesses[k].wire.slot;
            return True;
        }
    return False;
}

static void assign_slots(void)
{
    UInt i, k;

    for (i = 0; i < cf_plan.n_accesses; i++) {
        struct cf_plan_access *a = &cf_plan.accesses[i];

        if (a->guard != IRTemp_INVALID) {
            for (k = 0; k < cf_plan.n_sections; k++)
                if (a->guard == cf_plan.sections[k].guard &&
                    a->wire.insn >= cf_plan.sections[k].wire.first &&
                    a->wire.insn <= cf_plan.sections[k].wire.last)
                    break;
            if (k < cf_plan.n_sections) {
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
        } else if (share_slot(a, i)) {
            continue;
        }
        a->opens = True;
        a->wire.slot = cf_plan.n_slots++;
        tl_assert(cf_plan.n_slots <= CF_WIRE_MAX_SLOTS);
    }
}

/* Whether a value is the stack pointer as it was, moved by what is added or masked out: not one
 * that was kept elsewhere. */
static Bool from_stack_pointer(const IRExpr *e, Int sp)
{
    for (;;) {
        const IRExpr *d = definition(e);

        if (!d)
            return False;
        if (d->tag == Iex_Get)
            return d->Iex.Get.offset == sp;
        if (d->tag == Iex_RdTmp)
            e = d;
        else if (d->tag == Iex_Binop && d->Iex.Binop.arg1->tag == Iex_RdTmp &&
                 (d->Iex.Binop.op == Iop_Add64 || d->Iex.Binop.op == Iop_Sub64 ||
                  d->Iex.Binop.op == Iop_And64))
            e = d->Iex.Binop.arg1;
        else
            return False;
    }
}

/* What the end does to the call stack. The slot of the stack pointer is often one of a push. */
static void plan_end(const IRSB *sb, Int start, Int sp)
{
    const IRExpr *value = NULL;
    const struct cf_wire_insn *last = &cf_plan.insns[cf_plan.n_insns - 1];
    Addr back = (last->pc_length & CF_WIRE_PC_MASK) + (last->pc_length >> 56 & CF_WIRE_LENGTH_MASK);
    Bool moved = False;
    Int i;

    for (i = start; i < sb->stmts_used; i++)
        if (sb->stmts[i]->tag == Ist_Put && sb->stmts[i]->Ist.Put.offset == sp) {
            value = sb->stmts[i]->Ist.Put.data;
            moved |= !from_stack_pointer(value, sp);
        }
    if (sb->jumpkind == Ijk_Ret)
        cf_plan.end.kind = CF_WIRE_RETURNS;
    else if (sb->jumpkind == Ijk_Call &&
             !(sb->next->tag == Iex_Const && sb->next->Iex.Const.con->Ico.U64 == back))
        cf_plan.end.kind = CF_WIRE_CALLS; /* but for code that asks where it is */
    else if (moved)
        cf_plan.end.kind = CF_WIRE_MOVES;
    else
        return;
    VG_(memset)(&cf_plan.top, 0, sizeof cf_plan.top);
    cf_plan.top.guard = IRTemp_INVALID;
    cf_plan.top.base = IRTemp_INVALID;
    cf_plan.top_in_register = !value;
    if (value)
        resolve(value, &cf_plan.top);
    cf_plan.top.opens =
        cf_plan.top.base == IRTemp_INVALID || !share_slot(&cf_plan.top, cf_plan.n_accesses);
    if (cf_plan.top.opens)
        cf_plan.top.wire.slot = cf_plan.n_slots++;
    tl_assert(cf_plan.n_slots <= CF_WIRE_MAX_SLOTS);
    cf_plan.end.slot = cf_plan.top.wire.slot;
    cf_plan.end.offset = cf_plan.top.wire.offset;
    if (cf_plan.end.kind == CF_WIRE_CALLS) {
        cf_plan.end.back = back;
#if defined(VGA_amd64)
        cf_plan.end.pushes = 1;
        cf_plan.end.offset += 8;
#endif
    }
}

/* An empty plan. */
static void begin(const IRSB *sb)
{
    static IRExpr **definitions;
    static Int *defined_at;
    static Int room;

    if (sb->tyenv->types_used > room) {
        room = 2 * sb->tyenv->types_used;
        definitions = VG_(realloc)("cftrace.def", definitions, room * sizeof *definitions);
        defined_at = VG_(realloc)("cftrace.def", defined_at, room * sizeof *defined_at);
    }
    VG_(memset)(definitions, 0, sb->tyenv->types_used * sizeof *definitions);
    VG_(memset)(defined_at, 0, sb->tyenv->types_used * sizeof *defined_at);
    cf_plan.definitions = definitions;
    cf_plan.defined_at = defined_at;
    cf_plan.n_insns = cf_plan.n_accesses = cf_plan.n_exits = cf_plan.n_sections = cf_plan.n_slots =
        0;
}

void cf_plan_make(const IRSB *sb, Int start, Bool calls, Int sp)
{
    UInt open = 0; /* sections begun */
    Bool branch_pending = False;
    Int i;

    begin(sb);
    for (i = start; i < sb->stmts_used; i++) {
        const IRStmt *st = sb->stmts[i];

        if (st->tag == Ist_IMark) {
            tl_assert(cf_plan.n_insns < CF_WIRE_MAX_INSNS);
            if (branch_pending && cf_plan.n_sections + open < CF_WIRE_MAX_SECTIONS) {
                struct cf_plan_section *s = &cf_plan.sections[cf_plan.n_sections + open++];

                s->wire.first = cf_plan.n_insns;
                s->statement = i;
            }
            branch_pending = is_conditional_branch(st->Ist.IMark.addr, st->Ist.IMark.len);
            cf_plan.insns[cf_plan.n_insns++].pc_length =
                (st->Ist.IMark.addr & CF_WIRE_PC_MASK) |
                (ULong)(st->Ist.IMark.len & CF_WIRE_LENGTH_MASK) << 56 |
                repetition(st->Ist.IMark.addr, st->Ist.IMark.len);
        } else if (st->tag == Ist_Exit) {
            struct cf_plan_exit *e = &cf_plan.exits[cf_plan.n_exits++];

            tl_assert(cf_plan.n_exits <= CF_WIRE_MAX_EXITS);
            e->wire.insn = cf_plan.n_insns - 1;
            e->wire.accesses = cf_plan.n_accesses;
            e->closed = cf_plan.n_sections;
            branch_pending = False;
            if (open) {
                if (close_sections(st->Ist.Exit.guard, open))
                    cf_plan.n_sections += open;
                open = 0;
            }
        } else {
            if (st->tag == Ist_WrTmp) {
                cf_plan.definitions[st->Ist.WrTmp.tmp] = st->Ist.WrTmp.data;
                cf_plan.defined_at[st->Ist.WrTmp.tmp] = i;
            }
            plan_statement(sb, st, i);
        }
    }
    assign_slots();
    VG_(memset)(&cf_plan.end, 0, sizeof cf_plan.end);
    if (calls)
        plan_end(sb, start, sp);
}

void cf_plan_describe(void)
{
    struct cf_wire_block block = {.first = cf_plan.first,
                                  .insns = cf_plan.n_insns,
                                  .accesses = cf_plan.n_accesses,
                                  .slots = cf_plan.n_slots,
                                  .exits = cf_plan.n_exits,
                                  .sections = cf_plan.n_sections,
                                  .ends = cf_plan.end.kind != 0};
    UInt bytes = sizeof block + cf_plan.n_insns * sizeof(struct cf_wire_insn) +
                 cf_plan.n_accesses * sizeof(struct cf_wire_access) +
                 cf_plan.n_exits * sizeof(struct cf_wire_exit) +
                 cf_plan.n_sections * sizeof(struct cf_wire_section) +
                 block.ends * sizeof(struct cf_wire_end);
    UChar *p = cf_transport_event(CF_WIRE_BLOCK, bytes);
    UInt i;

    block.header.type = CF_WIRE_BLOCK;
    block.header.bytes = bytes;
    VG_(memcpy)(p, &block, sizeof block);
    p += sizeof block;
    VG_(memcpy)(p, cf_plan.insns, cf_plan.n_insns * sizeof *cf_plan.insns);
    p += cf_plan.n_insns * sizeof *cf_plan.insns;
    for (i = 0; i < cf_plan.n_accesses; i++, p += sizeof(struct cf_wire_access))
        VG_(memcpy)(p, &cf_plan.accesses[i].wire, sizeof(struct cf_wire_access));
    for (i = 0; i < cf_plan.n_exits; i++, p += sizeof(struct cf_wire_exit))
        VG_(memcpy)(p, &cf_plan.exits[i].wire, sizeof(struct cf_wire_exit));
    for (i = 0; i < cf_plan.n_sections; i++, p += sizeof(struct cf_wire_section))
        VG_(memcpy)(p, &cf_plan.sections[i].wire, sizeof(struct cf_wire_section));
    VG_(memcpy)(p, &cf_plan.end, block.ends * sizeof cf_plan.end);
}
