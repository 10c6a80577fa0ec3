/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * registers.c - registers from an instruction trace (see registers.h).
 *
 * In: instructions in their order, with the results that the trace shows. Out: the addresses of
 * memory accesses. A result is taken from the trace; without one it is computed where the operands
 * are known. Going the other way, a result and one operand of an addition, subtraction or exclusive
 * or give the other operand, as does the address of a store: that is how registers become known
 * that were written before the trace begins. Results of instructions whose rd is %g0 are not used,
 * since it is not certain what a trace shows there.
 * Memory: 4 KiB a processor.
 */
#include <string.h>

#include "capture/leon4/registers.h"

void cf_registers_forget(struct cf_registers *r)
{
    memset(r->global, 0, sizeof r->global);
    memset(r->window, 0, sizeof r->window);
    r->global[0] = CF_REGISTERS_KNOWN;
    r->absolute = -1;
}

void cf_registers_begin(struct cf_registers *r, const struct cf_registers_options *o,
                        struct cf_registers_memory *m)
{
    memset(r, 0, sizeof *r);
    r->memory = m;
    r->o = *o;
    r->path[0].pc = 1; /* anything can come first, and in a delay slot too */
    r->path[0].npc = 1;
    r->paths = 1;
    cf_registers_forget(r);
}

static inline uint64_t *reg(struct cf_registers *r, unsigned n)
{
    unsigned at = r->cwp * 16 + n - 8;

    if (n < 8)
        return &r->global[n];
    return &r->window[at < r->o.windows * 16 ? at : at - r->o.windows * 16];
}

/* %g0 stays 0. */
static inline void set(struct cf_registers *r, unsigned n, uint64_t value)
{
    if (n)
        *reg(r, n) = value;
}

static inline uint64_t second(struct cf_registers *r, const struct cf_sparc_insn *n)
{
    return n->flags & CF_SPARC_IMMEDIATE ? CF_REGISTERS_KNOWN | n->simm : *reg(r, n->rs2);
}

static inline uint64_t sum(uint64_t a, uint64_t b)
{
    return (a & b & CF_REGISTERS_KNOWN) | (uint32_t)(a + b);
}

/* A register that was not known has become so. */
static void learn(struct cf_registers *r, unsigned n, uint32_t value)
{
    uint64_t *p = reg(r, n);

    if (*p & CF_REGISTERS_KNOWN)
        return;
    *p = CF_REGISTERS_KNOWN | value;
    r->counts.learned++;
}

/* The sum of the operands is `value`. */
static void learn_sum(struct cf_registers *r, const struct cf_sparc_insn *n, uint32_t value)
{
    const uint64_t a = *reg(r, n->rs1), b = second(r, n);

    if (b & CF_REGISTERS_KNOWN)
        learn(r, n->rs1, value - (uint32_t)b);
    else if (a & CF_REGISTERS_KNOWN)
        learn(r, n->rs2, value - (uint32_t)a);
}

static void learn_operands(struct cf_registers *r, const struct cf_sparc_insn *n, uint32_t value)
{
    const uint64_t a = *reg(r, n->rs1), b = second(r, n);

    switch (n->alu) {
    case CF_SPARC_ADD:
        learn_sum(r, n, value);
        break;
    case CF_SPARC_SUB:
        if (b & CF_REGISTERS_KNOWN)
            learn(r, n->rs1, value + (uint32_t)b);
        else if (a & CF_REGISTERS_KNOWN)
            learn(r, n->rs2, (uint32_t)a - value);
        break;
    case CF_SPARC_XOR:
        if (b & CF_REGISTERS_KNOWN)
            learn(r, n->rs1, value ^ (uint32_t)b);
        else if (a & CF_REGISTERS_KNOWN)
            learn(r, n->rs2, value ^ (uint32_t)a);
        break;
    case CF_SPARC_OR: /* a move */
        if (b == CF_REGISTERS_KNOWN)
            learn(r, n->rs1, value);
        else if (a == CF_REGISTERS_KNOWN)
            learn(r, n->rs2, value);
        break;
    default:
        break;
    }
}

static uint64_t compute(const struct cf_sparc_insn *n, uint64_t a, uint64_t b)
{
    const uint32_t x = (uint32_t)a, y = (uint32_t)b;
    uint32_t v = 0;

    if (!(a & b & CF_REGISTERS_KNOWN))
        return 0;
    switch (n->alu) {
    case CF_SPARC_ADD:
        v = x + y;
        break;
    case CF_SPARC_SUB:
        v = x - y;
        break;
    case CF_SPARC_AND:
        v = x & y;
        break;
    case CF_SPARC_OR:
        v = x | y;
        break;
    case CF_SPARC_XOR:
        v = x ^ y;
        break;
    case CF_SPARC_ANDN:
        v = x & ~y;
        break;
    case CF_SPARC_ORN:
        v = x | ~y;
        break;
    case CF_SPARC_XNOR:
        v = ~(x ^ y);
        break;
    case CF_SPARC_SLL:
        v = x << (y & 31);
        break;
    case CF_SPARC_SRL:
        v = x >> (y & 31);
        break;
    case CF_SPARC_SRA:
        v = x >> (y & 31) | (x >> 31 && y & 31 ? ~0U << (32 - (y & 31)) : 0);
        break;
    case CF_SPARC_MUL:
        v = x * y;
        break;
    default:
        return 0;
    }
    return CF_REGISTERS_KNOWN | v;
}

/* What the trace shows and what we hold differ: we have lost the thread. */
static void contradicted(struct cf_registers *r)
{
    r->counts.contradictions++;
    cf_registers_forget(r);
}

/* The value that goes to rd: from the trace, else computed. Forgets everything when both are there
   and differ. */
static uint64_t result(struct cf_registers *r, const struct cf_registers_entry *e,
                       uint64_t computed)
{
    uint64_t value;

    if (!e->words)
        return computed;
    value = CF_REGISTERS_KNOWN | e->word[0];
    if (computed & CF_REGISTERS_KNOWN && computed != value && e->insn->rd)
        contradicted(r);
    return value;
}

static void turn(struct cf_registers *r, unsigned by)
{
    r->cwp = (r->cwp + by) % r->o.windows;
    if (r->absolute >= 0)
        r->absolute = (int)(((unsigned)r->absolute + by) % r->o.windows);
}

/* ---- memory ---- */

/* Whether a single word beside a store is its address: 1, 0 if it is the data, -1 unknown. */
static int shows_address(struct cf_registers *r, const struct cf_registers_entry *e,
                         uint64_t address)
{
    const uint64_t data = *reg(r, e->insn->rd);
    const unsigned bits = e->insn->size < 4 ? 8U * e->insn->size : 32;
    const uint32_t mask = bits == 32 ? ~0U : (1U << bits) - 1;
    const int both = e->insn->flags & CF_SPARC_INTEGER && e->insn->size <= 4 &&
                     address & data & CF_REGISTERS_KNOWN;
    int is_address, is_data;

    if (e->words > 1 || r->o.store == CF_REGISTERS_STORE_ADDRESS)
        return 1;
    if (r->o.store == CF_REGISTERS_STORE_DATA)
        return 0;
    is_address = (uint32_t)address == e->word[0];
    is_data = ((uint32_t)data & mask) == (e->word[0] & mask);
    /* Once one of the two was seen without the other, it holds for all; but where only one of them
       is known, or half of the data, the word may be the other one and be equal by chance. */
    if (both && is_address != is_data && !r->votes)
        r->votes = is_address ? 1 : -1;
    return r->votes > 0 ? 1 : r->votes < 0 ? 0 : -1;
}

/* Whether a store to an address space that is not memory leaves what loads find as it is, by the
   GR740 manual, 6.9: control registers, tags and instructions in the caches, flushes, snoop tags,
   and those from 0x80 that are there to be traced. Through others memory is written all the same (1
   and 0x1c), what the data cache holds (0xf), or which memory an address means (0x18, 0x19). */
static int leaves_memory(unsigned asi)
{
    return asi == 2 || (asi >= 0xc && asi <= 0xe) || asi == 0x10 || asi == 0x11 || asi == 0x13 ||
           asi == 0x1e || asi >= 0x80;
}

/* What a store leaves in memory: from the trace, else from the registers. */
static void remember_store(struct cf_registers *r, const struct cf_registers_entry *e,
                           uint64_t address)
{
    const struct cf_sparc_insn *n = e->insn;
    const int integer = n->flags & CF_SPARC_INTEGER;
    uint64_t low = integer ? *reg(r, n->rd) : 0, high = integer ? *reg(r, n->rd | 1) : 0;

    if (cf_registers_elsewhere(&r->o, n)) {
        if (!leaves_memory(n->asi))
            cf_registers_forget_memory(r->memory);
        return;
    }
    if (!(address & CF_REGISTERS_KNOWN)) {
        cf_registers_forget_memory(r->memory);
        return;
    }
    if (e->words > 1)
        low = CF_REGISTERS_KNOWN | e->word[1];
    if (e->words > 2)
        high = CF_REGISTERS_KNOWN | e->word[2];
    cf_registers_remember(r->memory, (uint32_t)address, low, n->size < 4 ? n->size : 4);
    if (n->size == 8)
        cf_registers_remember(r->memory, (uint32_t)address + 4, high, 4);
}

static uint64_t store(struct cf_registers *r, const struct cf_registers_entry *e, uint64_t address)
{
    const struct cf_sparc_insn *n = e->insn;
    const int shown = e->words ? shows_address(r, e, address) : -1;

    if (shown > 0) {
        if (address & CF_REGISTERS_KNOWN && (uint32_t)address != e->word[0])
            contradicted(r);
        address = CF_REGISTERS_KNOWN | e->word[0];
        learn_sum(r, n, e->word[0]);
    }
    if (n->flags & CF_SPARC_INTEGER && n->size >= 4 && e->words) {
        if (shown > 0 && e->words > 1)
            learn(r, n->rd, e->word[1]);
        if (shown > 0 && e->words > 2 && n->size == 8)
            learn(r, n->rd | 1, e->word[2]);
        if (shown == 0 && n->size == 4)
            learn(r, n->rd, e->word[0]);
    }
    remember_store(r, e, address);
    return address;
}

static uint64_t loaded(struct cf_registers *r, const struct cf_sparc_insn *n, uint32_t word)
{
    const unsigned shift = 32 - 8U * n->size;
    uint32_t narrow;

    if (n->size >= 4)
        return CF_REGISTERS_KNOWN | word;
    narrow = word << shift >> shift;
    if (n->flags & CF_SPARC_SIGNED && narrow >> (8U * n->size - 1))
        narrow |= ~0U << 8 * n->size;
    if (narrow == word)
        return CF_REGISTERS_KNOWN | word;
    r->counts.narrow++; /* a whole word, of which we do not know the right part */
    return 0;
}

/* A double word: two words in the trace, or one of which the trace does not say which half it is;
   then memory says when one of its halves is that word. */
static void load_double(struct cf_registers *r, const struct cf_registers_entry *e,
                        uint64_t address)
{
    uint64_t low = 0, high = 0;

    if (e->words > 1) {
        low = CF_REGISTERS_KNOWN | e->word[0];
        high = CF_REGISTERS_KNOWN | e->word[1];
    } else if (address & CF_REGISTERS_KNOWN) {
        low = cf_registers_recall(r->memory, (uint32_t)address);
        high = cf_registers_recall(r->memory, (uint32_t)address + 4);
        if (e->words ? low != (CF_REGISTERS_KNOWN | e->word[0]) &&
                           high != (CF_REGISTERS_KNOWN | e->word[0])
                     : !r->o.alone)
            low = high = 0;
    }
    if (e->words == 1 && r->o.pair == CF_REGISTERS_FIRST)
        low = CF_REGISTERS_KNOWN | e->word[0];
    if (e->words == 1 && r->o.pair == CF_REGISTERS_LAST)
        high = CF_REGISTERS_KNOWN | e->word[0];
    if (address & CF_REGISTERS_KNOWN) {
        cf_registers_remember(r->memory, (uint32_t)address, low, 4);
        cf_registers_remember(r->memory, (uint32_t)address + 4, high, 4);
    }
    if (e->insn->flags & CF_SPARC_INTEGER) {
        set(r, e->insn->rd & 30, low);
        set(r, e->insn->rd | 1, high);
    }
}

static void load(struct cf_registers *r, const struct cf_registers_entry *e, uint64_t address)
{
    const struct cf_sparc_insn *n = e->insn;
    uint64_t value = e->words ? loaded(r, n, e->word[0]) : 0;

    if (!e->words && r->o.alone && n->size == 4 && address & CF_REGISTERS_KNOWN)
        value = cf_registers_recall(r->memory, (uint32_t)address);
    if (value & CF_REGISTERS_KNOWN && address & CF_REGISTERS_KNOWN && n->size == 4)
        cf_registers_remember(r->memory, (uint32_t)address, value, 4);
    if (n->flags & CF_SPARC_INTEGER)
        set(r, n->rd, value);
}

/* Load and store in one, whose words may be anything: see --atomic. */
static uint64_t atomic(struct cf_registers *r, const struct cf_registers_entry *e, uint64_t address)
{
    const struct cf_sparc_insn *n = e->insn;
    uint64_t value = 0;

    if (r->o.atomic != CF_REGISTERS_NONE && e->words)
        value = loaded(r, n, e->word[r->o.atomic == CF_REGISTERS_FIRST ? 0 : e->words - 1]);
    if (address & CF_REGISTERS_KNOWN && !cf_registers_elsewhere(&r->o, n))
        cf_registers_remember(r->memory, (uint32_t)address & ~3U, 0, 4);
    else
        cf_registers_forget_memory(r->memory);
    if (sparc_compares(n) && value & *reg(r, n->rs2) & CF_REGISTERS_KNOWN &&
        value != *reg(r, n->rs2))
        address |= CF_REGISTERS_NO_STORE;
    set(r, n->rd, value);
    return address;
}

static uint64_t memory(struct cf_registers *r, const struct cf_registers_entry *e)
{
    const struct cf_sparc_insn *n = e->insn;
    const uint64_t address = sum(*reg(r, n->rs1), second(r, n));
    /* as if its address were not known, a load neither shows nor takes what is in memory */
    const uint64_t held_at = cf_registers_elsewhere(&r->o, n) ? 0 : address;

    if (!(n->flags & CF_SPARC_LOADS))
        return store(r, e, address);
    if (n->flags & CF_SPARC_STORES)
        return atomic(r, e, address);
    if (n->size == 8)
        load_double(r, e, held_at);
    else
        load(r, e, held_at);
    return address;
}

/* ---- the processor state register ---- */

static void read_psr(struct cf_registers *r, const struct cf_registers_entry *e)
{
    if (e->words && e->insn->rd) {
        const int cwp = e->word[0] & 31;

        if (r->absolute >= 0 && r->absolute != cwp)
            contradicted(r);
        r->absolute = (unsigned)cwp < r->o.windows ? cwp : -1;
    }
    set(r, e->insn->rd, e->words ? CF_REGISTERS_KNOWN | e->word[0] : 0);
}

static void write_psr(struct cf_registers *r, const struct cf_sparc_insn *n)
{
    const uint64_t a = *reg(r, n->rs1), b = second(r, n);
    const unsigned cwp = (uint32_t)(a ^ b) & 31;
    const int known = a & b & CF_REGISTERS_KNOWN && cwp < r->o.windows;

    if (known && r->absolute >= 0) {
        turn(r, cwp + r->o.windows - (unsigned)r->absolute);
        return;
    }
    memset(r->window, 0, sizeof r->window);
    r->absolute = known ? (int)cwp : -1;
}

/* V8 manual, 7.1: a new window, whose %l1 and %l2 get pc and nPC */
static void trap(struct cf_registers *r, uint32_t pc)
{
    turn(r, r->o.windows - 1);
    set(r, 17, CF_REGISTERS_KNOWN | pc);
    set(r, 18, 0);
}

uint64_t cf_registers_step(struct cf_registers *r, const struct cf_registers_entry *e)
{
    const struct cf_sparc_insn *n = e->insn;
    const int jumps = n->kind == CF_SPARC_JMPL || n->kind == CF_SPARC_RETT;
    uint64_t a, b, value = jumps ? sum(*reg(r, n->rs1), second(r, n)) : 0;

    if (!cf_registers_follows(r, e, value)) {
        r->counts.gaps++;
        cf_registers_forget(r);
    }
    if (e->trapped) {
        trap(r, e->pc);
        return 0;
    }
    switch (n->kind) {
    case CF_SPARC_ALU:
        a = *reg(r, n->rs1);
        b = second(r, n);
        value = result(r, e, compute(n, a, b));
        if (e->words && n->rd && !(a & b & CF_REGISTERS_KNOWN))
            learn_operands(r, n, e->word[0]);
        set(r, n->rd, value);
        return 0;
    case CF_SPARC_SETHI:
        set(r, n->rd, result(r, e, CF_REGISTERS_KNOWN | n->value));
        return 0;
    case CF_SPARC_MEMORY:
        return memory(r, e);
    case CF_SPARC_RESULT:
        set(r, n->rd, e->words ? CF_REGISTERS_KNOWN | e->word[0] : 0);
        return 0;
    case CF_SPARC_CALL:
    case CF_SPARC_JMPL:
        set(r, n->rd, CF_REGISTERS_KNOWN | e->pc);
        return 0;
    case CF_SPARC_SAVE:
    case CF_SPARC_RESTORE:
        value = result(r, e, sum(*reg(r, n->rs1), second(r, n)));
        if (e->words && n->rd)
            learn_sum(r, n, e->word[0]);
        turn(r, n->kind == CF_SPARC_SAVE ? r->o.windows - 1 : 1);
        set(r, n->rd, value);
        return 0;
    case CF_SPARC_RETT:
        turn(r, 1);
        return 0;
    case CF_SPARC_RDPSR:
        read_psr(r, e);
        return 0;
    case CF_SPARC_WRPSR:
        write_psr(r, n);
        return 0;
    case CF_SPARC_UNKNOWN:
        cf_registers_forget(r); /* it may have written anything */
        return 0;
    default:
        return 0;
    }
}
