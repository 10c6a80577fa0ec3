/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * registers_flow.c - whether an instruction can follow those before it.
 *
 * What the processor executes next is given by pc and nPC (V8 manual, 5.2). The trace does not show
 * conditions, so both ways of a branch are kept as pairs of pc and nPC until the next instructions
 * show which was taken; annulled instructions are not in the trace. Where a target is not known,
 * anything can follow. Four pairs are enough for two branches in a row; more become "anything".
 */
#include "capture/leon4/registers.h"

enum { ANY = 1, AFTER = 3 }; /* no addresses, since those are multiples of four */

static void add(struct cf_registers *r, uint32_t pc, uint32_t npc)
{
    for (unsigned i = 0; i < r->paths; i++)
        if (r->path[i].pc == pc && r->path[i].npc == npc)
            return;
    if (r->paths == CF_REGISTERS_PATHS) {
        r->path[0].pc = ANY;
        r->path[0].npc = ANY;
        return;
    }
    r->path[r->paths].pc = pc;
    r->path[r->paths++].npc = npc;
}

static void straight(struct cf_registers *r, uint32_t npc, uint32_t skip)
{
    if (npc == ANY)
        add(r, ANY, AFTER);
    else
        add(r, npc + skip, npc + skip + 4);
}

static void branch(struct cf_registers *r, const struct cf_sparc_insn *n, uint32_t npc)
{
    const uint32_t target = n->flags & CF_SPARC_TARGET ? n->value : ANY;

    if (n->way != CF_SPARC_ALWAYS)
        straight(r, npc, n->flags & CF_SPARC_ANNUL ? 4 : 0);
    if (n->way == CF_SPARC_NEVER)
        return;
    if (n->way == CF_SPARC_ALWAYS && n->flags & CF_SPARC_ANNUL)
        straight(r, target, 0);
    else
        add(r, npc, target);
}

int cf_registers_follows(struct cf_registers *r, const struct cf_registers_entry *e,
                         uint64_t target)
{
    const struct cf_sparc_insn *n = e->insn;
    uint32_t npc[CF_REGISTERS_PATHS];
    unsigned count = 0;
    int fits;

    if (r->paths == 1 && r->path[0].pc == e->pc && n->kind <= CF_SPARC_WRPSR && !e->trapped &&
        r->path[0].npc != ANY) {
        r->path[0].pc = r->path[0].npc;
        r->path[0].npc += 4;
        return 1;
    }
    for (unsigned i = 0; i < r->paths; i++)
        if (r->path[i].pc == e->pc || r->path[i].pc == ANY)
            npc[count++] = r->path[i].npc == AFTER ? e->pc + 4 : r->path[i].npc;
    fits = count > 0;
    if (!fits)
        npc[count++] = ANY; /* it may stand in a delay slot */
    r->paths = 0;
    if (e->trapped || n->kind == CF_SPARC_UNKNOWN) {
        add(r, ANY, AFTER);
        return fits;
    }
    for (unsigned i = 0; i < count; i++)
        switch (n->kind) {
        case CF_SPARC_BRANCH:
            branch(r, n, npc[i]);
            break;
        case CF_SPARC_CALL:
            add(r, npc[i], n->flags & CF_SPARC_TARGET ? n->value : ANY);
            break;
        case CF_SPARC_JMPL:
        case CF_SPARC_RETT:
            add(r, npc[i], target & CF_REGISTERS_KNOWN ? (uint32_t)target : ANY);
            break;
        default:
            straight(r, npc[i], 0);
        }
    return fits;
}
