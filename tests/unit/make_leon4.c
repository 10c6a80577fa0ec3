/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * make_leon4 FORM [key=value ...]: the trace of a random SPARC V8 program in one of the forms that
 * cf-capture leon4 reads, or the accesses that are true of it.
 *
 * A small interpreter executes code that is made up where it is first executed: functions that call
 * each other deeper than there are windows, with real overflow and underflow handlers, branches of
 * all kinds, accesses of all sizes, misaligned ones that trap. Conditions, carries and quotients
 * are random, since no importer can know them. Code that is executed twice is the same twice.
 *
 * FORM: hist inst ahb list raw rawbus words monitor truth. Keys: seed, count (instructions),
 * skip (of them, not printed), cpus, store=2|a|d (words beside a store: both, address, data),
 * time (of the first entry), bus=0 (no transfers).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/leon4_text.h"

enum { WINDOWS = 8, CODE = 1 << 14, MEMORY = 1 << 16, LINES = 128, FUNCTIONS = 12, TRAPS = 0x4000 };
enum { BASE = 0x40000000, CLEAN = 0x40100000 };

struct machine {
    uint32_t g[8], w[16 * WINDOWS];
    unsigned cwp, wim, cpu;
    uint32_t pc, npc;
};

static struct {
    const char *form;
    unsigned long count, skip, cpus, bus;
    char store;
    uint64_t time;
} o = {"hist", 2000, 0, 1, 1, '2', 8715};

static uint32_t code[CODE], memory[MEMORY], cached[16][LINES], fetched[16][LINES];
static uint8_t made[CODE];
static uint64_t state = 1, now;
static unsigned long step;
static int printing, wants_list;
/* A load waits for the next entry, which tells its level. */
static char pending[512];
static int pending_load;

static uint32_t random32(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 16);
}

static unsigned below(unsigned n)
{
    return random32() % n;
}

static uint32_t *reg(struct machine *m, unsigned n)
{
    static uint32_t zero;

    if (n == 0) {
        zero = 0;
        return &zero;
    }
    return n < 8 ? &m->g[n] : &m->w[(m->cwp * 16 + n - 8) % (16 * WINDOWS)];
}

static uint32_t *at(uint32_t address)
{
    return &memory[address >> 2 & (MEMORY - 1)];
}

/* ---- code ---- */

static uint32_t three(unsigned op, unsigned op3, unsigned rd, unsigned rs1, int immediate,
                      uint32_t second)
{
    return op << 30 | rd << 25 | op3 << 19 | rs1 << 14 | (immediate ? 1U << 13 : 0) |
           (immediate ? second & 0x1fff : second & 31);
}

#define ALU(op3, rd, rs1, imm) three(2, op3, rd, rs1, 1, (uint32_t)(imm))

/* Handlers, at TRAPS + 256 * type: 1 overflow, 2 underflow, 3 skip the instruction. */
static void put(uint32_t *at_, uint32_t word)
{
    code[*at_ >> 2 & (CODE - 1)] = word;
    made[*at_ >> 2 & (CODE - 1)] = 1;
    *at_ += 4;
}

static void handlers(void)
{
    uint32_t p = BASE + TRAPS + 256;

    put(&p, ALU(0x2a, 19, 0, 0)); /* rd %wim, %l3 */
    put(&p, ALU(0x02, 23, 1, 0)); /* mov %g1, %l7 */
    put(&p, ALU(0x26, 1, 19, 1)); /* srl %l3, 1, %g1 */
    put(&p, ALU(0x25, 20, 19, WINDOWS - 1));
    put(&p, three(2, 0x02, 1, 20, 0, 1));
    put(&p, ALU(0x3c, 0, 0, 0)); /* save */
    put(&p, ALU(0x32, 0, 1, 0)); /* wr %g1, %wim */
    put(&p, NOP);
    for (unsigned i = 0; i < 8; i++) /* std %l0, [%sp] ... std %i6, [%sp + 56] */
        put(&p, three(3, 7, 16 + 2 * i, 14, 1, 8 * i));
    put(&p, ALU(0x3d, 0, 0, 0));
    put(&p, ALU(0x02, 1, 23, 0));
    put(&p, ALU(0x38, 0, 17, 0));
    put(&p, ALU(0x39, 0, 18, 0));
    p = BASE + TRAPS + 512;
    put(&p, ALU(0x2a, 19, 0, 0));
    put(&p, ALU(0x25, 20, 19, 1));
    put(&p, ALU(0x26, 21, 19, WINDOWS - 1));
    put(&p, three(2, 0x02, 20, 20, 0, 21));
    put(&p, ALU(0x32, 0, 20, 0));
    put(&p, NOP);
    put(&p, ALU(0x3d, 0, 0, 0));
    put(&p, ALU(0x3d, 0, 0, 0));
    for (unsigned i = 0; i < 8; i++)
        put(&p, three(3, 3, 16 + 2 * i, 14, 1, 8 * i));
    put(&p, ALU(0x3c, 0, 0, 0));
    put(&p, ALU(0x3c, 0, 0, 0));
    put(&p, ALU(0x38, 0, 17, 0));
    put(&p, ALU(0x39, 0, 18, 0));
    p = BASE + TRAPS + 768;
    put(&p, ALU(0x29, 16, 0, 0)); /* rd %psr, %l0 */
    put(&p, ALU(0x29, 7, 0, 0));
    put(&p, ALU(0x31, 0, 7, 1)); /* wr %g7, 1, %psr: another window */
    put(&p, NOP);
    put(&p, ALU(0x00, 21, 21, 8)); /* which changes */
    put(&p, ALU(0x31, 0, 7, 0));
    put(&p, NOP);
    put(&p, ALU(0x38, 0, 18, 0)); /* goes on behind the instruction */
    put(&p, ALU(0x39, 0, 18, 4));
}

/* Registers that programs count with, and those that they point with. */
static unsigned number_reg(void)
{
    static const uint8_t list[] = {1, 2, 3, 5, 8, 9, 10, 11, 16, 17, 18, 19, 22, 24, 25, 26, 27};

    return list[below(sizeof list)];
}

static unsigned pointer_reg(void)
{
    static const uint8_t list[] = {4, 12, 20, 28, 14, 30};

    return list[below(sizeof list)];
}

static uint32_t make_memory(void)
{
    static const uint8_t loads[] = {0, 0, 0, 1, 2, 9, 10, 3}, stores[] = {4, 4, 5, 6, 7};
    static const uint8_t others[] = {0x0d, 0x0f, 0x20, 0x24, 0x23, 0x27, 0x10, 0x14, 0x1f};
    const unsigned kind = below(20);
    unsigned op3 = kind < 11   ? loads[below(sizeof loads)]
                   : kind < 18 ? stores[below(sizeof stores)]
                               : others[below(sizeof others)];
    const int wide = op3 == 3 || op3 == 7 || op3 == 0x23 || op3 == 0x27;
    unsigned rd = number_reg(), base = below(12) ? pointer_reg() : number_reg();

    if (wide)
        rd = 2 + 8 * below(3);
    if (op3 >= 0x10 && op3 < 0x20) /* alternate space 10, no immediate */
        return three(3, op3, rd, base, 0, 0) | 10U << 5;
    if (op3 == 0x3c)
        return three(3, op3, rd, base, 0, number_reg()) | 10U << 5;
    return three(3, op3, rd, base, 1, 8 * (below(64) - 32) + (op3 == 1 || op3 == 5 ? below(8) : 0));
}

static uint32_t make_plain(void)
{
    static const uint8_t alu[] = {0,    1,    2,    3,    4,    5,    6,    7,
                                  0x10, 0x11, 0x12, 0x14, 0x25, 0x26, 0x27, 0x08,
                                  0x0c, 0x0a, 0x0b, 0x0e, 0x24, 0x20, 0x28};
    const unsigned what = below(40), rd = number_reg();

    if (what < 16)
        return make_memory();
    if (what < 18) /* a pointer is made in two steps, as compilers do */
        return 4U << 22 | pointer_reg() % 32 << 25 | (BASE >> 10 | below(64));
    if (what < 20) {
        unsigned p = 4 + 8 * below(4);

        return below(2) ? ALU(0x02, p, p, 8 * below(100)) : ALU(0x00, p, p, 8 * (below(40) - 20));
    }
    if (what == 20)
        return NOP;
    if (what < 23)
        return ALU(0x14, 0, number_reg(), below(100)); /* cmp */
    if (what == 23)
        return 4U << 22 | rd << 25 | random32() % (1U << 22);
    if (what == 24)
        return ALU(0x30, 0, rd, 0); /* wr %y */
    if (what == 25)
        return ALU(0x02, pointer_reg() & 28, pointer_reg(), 0); /* a pointer moves */
    return below(2) ? three(2, alu[below(sizeof alu)], rd, number_reg(), 0, number_reg())
                    : ALU(alu[below(sizeof alu)], rd, number_reg(), below(8192));
}

/* Forward in every way there is, back only on a condition, so that no loop is endless. */
static uint32_t make_branch(uint32_t offset)
{
    const int back = offset > 40 && below(3) == 0;
    const unsigned condition = back ? 1 + below(7) + 8 * below(2) : below(16);
    const uint32_t distance = back ? 0U - 1 - below(8) : 2 + below(3);

    return (back && condition == 8 ? 9 : condition) << 25 | below(2) << 29 | 2U << 22 |
           (distance & 0x3fffff);
}

/* The word at pc, made up if need be. */
static uint32_t fetch(uint32_t pc, int delayed)
{
    const uint32_t index = pc >> 2 & (CODE - 1), offset = pc & 0x3ff;
    const unsigned f = pc >> 10 & 15;
    uint32_t word;

    if (made[index])
        return code[index];
    if (offset == 0)
        word = ALU(0x3c, 14, 14, -96);
    else if (offset <= 12) /* pointers that point somewhere, also the %i4 of what is called */
        word = 4U << 22 | (BASE >> 10 | below(64)) |
               (offset == 4   ? 20U
                : offset == 8 ? 12U
                : f == 0      ? 4U
                              : 28U)
                   << 25;
    else if (offset == 0x200)
        word = f == 0 ? 0x10800000U | ((0U - 0x1f0U / 4) & 0x3fffff) : ALU(0x38, 0, 31, 8);
    else if (offset == 0x204)
        word = f == 0 ? NOP : ALU(0x3d, number_reg() | 8, number_reg(), below(16));
    else if (!delayed && offset < 0x1f0 && below(9) == 0)
        word = make_branch(offset);
    else if (!delayed && offset < 0x1f0 && f + 1 < FUNCTIONS && below(14) == 0)
        word =
            1U << 30 | ((((f + 1 + below(3)) % 16 < FUNCTIONS ? f + 1 + below(1) : f + 1) * 1024 -
                         (pc & 0x3fff)) >>
                            2 &
                        0x3fffffff);
    else if (below(60) == 0)
        word = 0x91d02000U | below(64); /* ta */
    else
        word = make_plain();
    code[index] = word;
    made[index] = 1;
    return word;
}

/* ---- entries ---- */

static void flush_pending(int read_follows)
{
    if (pending_load)
        printf(pending, read_follows ? 2 : 1);
    pending_load = 0;
}

static int is(const char *form)
{
    return strcmp(o.form, form) == 0;
}

static void bus(const struct machine *m, uint32_t address, int write, unsigned size, uint32_t data)
{
    const unsigned tag = (unsigned)(now & 0x3fffffff);

    if (!printing || !o.bus)
        return;
    flush_pending(!write);
    if (is("hist"))
        printf("%10u  %08x  ahb %s,  mst=%u, size=%u                  [%08x]\n", tag, address,
               write ? "write" : "read", m->cpu, size, data);
    else if (is("ahb"))
        printf("%10u  %08X  %s  %08X   %d    %u    %d    %u    0    0   00   0   0\n", tag, address,
               write ? "write" : "read ", data, 2, size, 0, m->cpu);
    else if (is("list"))
        printf("%s{AHB %u 0x%08x 0x%08x %s 2 %u %u 0 0 0}", wants_list++ ? " " : "", tag, address,
               data, write ? "W" : "R", size, m->cpu);
    else if (is("rawbus"))
        printf("%08x %08x %08x %08x\n", tag,
               (unsigned)write << 15 | 2U << 13 | size << 10 | m->cpu << 3, data, address);
}

static void entry(const struct machine *m, uint32_t word, const uint32_t *result, unsigned words,
                  int trapped)
{
    const unsigned tag = (unsigned)(now & 0x3fffffff);
    char text[80];

    if (!printing)
        return;
    flush_pending(0);
    disassemble(text, sizeof text, word, m->pc);
    if (is("hist") || is("inst")) {
        printf("%10u  %08x  %-30s [", tag, m->pc, text);
        for (unsigned i = 0; i < words && !trapped; i++)
            printf("%s%08x", i ? " " : "", result[i]);
        printf("%s]  -\n", trapped ? "  TRAP  " : "");
    } else if (is("words")) {
        printf("%10u  %08x  %08x  %s\n", tag, m->pc, word, text);
    } else if (is("list")) {
        for (unsigned i = 0; i < words; i++)
            printf("%s{INST %u %u 0x%08x {%s} 0x%08x {} %d %d 0}", wants_list++ ? " " : "", m->cpu,
                   tag, m->pc, text, result[i], i > 0, trapped);
    } else if (is("raw")) {
        for (unsigned i = 0; i < words; i++)
            printf("%x:  %08x  %08x  %08x  %08x  ....\n",
                   0x90100000 + (m->cpu << 24) + (unsigned)(step * 48 + i * 16) % 0x100000,
                   tag | (i > 0 ? 1U << 30 : 0), result[i], m->pc | (trapped ? 2 : 0), word);
    } else if (is("monitor")) {
        for (unsigned i = 0; i < words; i++)
            printf("   %08x %08x %s   %08x %08x  %s\n", tag | (i > 0 ? 1U << 30 : 0), result[i],
                   trapped ? "T" : " ", m->pc, word, text);
    } else if (is("truth")) {
        printf("%" PRIu64 ",%u,ifetch,4,0x%x,0x%x,0,1\n", now, m->cpu, m->pc, m->pc);
    }
}

static void truth(const struct machine *m, int store, unsigned size, uint32_t address)
{
    if (!printing || !is("truth"))
        return;
    if (store) {
        /* a read-modify-write waits with its load */
        snprintf(pending + (pending_load ? strlen(pending) : 0), sizeof pending / 2,
                 "%" PRIu64 ",%u,store,%u,0x%x,0x%x,0,0\n", now, m->cpu, size, address, m->pc);
        if (!pending_load)
            fputs(pending, stdout);
        return;
    }
    snprintf(pending, sizeof pending, "%" PRIu64 ",%u,load,%u,0x%x,0x%x,%%d,0\n", now, m->cpu, size,
             address, m->pc);
    pending_load = 1;
}

/* ---- execution ---- */

static void trap(struct machine *m, uint32_t word, unsigned type)
{
    const uint32_t garbage = random32();

    entry(m, word, &garbage, 1, 1);
    m->cwp = (m->cwp + WINDOWS - 1) % WINDOWS;
    *reg(m, 17) = m->pc;
    *reg(m, 18) = m->npc;
    m->pc = BASE + TRAPS + 256 * type;
    m->npc = m->pc + 4;
}

static void advance(struct machine *m, uint32_t npc)
{
    m->pc = m->npc;
    m->npc = npc;
}

static void access_memory(struct machine *m, uint32_t word, uint32_t a, uint32_t b)
{
    const unsigned op3 = word >> 19 & 63, rd = word >> 25 & 31, plain = op3 & 15;
    const int is_float = op3 >= 0x20 && op3 < 0x30, cas = op3 == 0x3c;
    const int both = cas || (op3 < 0x20 && (plain == 13 || plain == 15));
    const int store = both || (plain & 4);
    const unsigned size = cas                                       ? 4
                          : is_float                                ? ((plain & 3) == 3 ? 8 : 4)
                          : plain == 3 || plain == 7                ? 8
                          : plain == 0 || plain == 4 || plain == 15 ? 4
                          : plain == 2 || plain == 6 || plain == 10 ? 2
                                                                    : 1;
    const uint32_t address = cas ? a : a + b, line = address / 32;
    int stored = store;
    uint32_t old, new, result[4];
    unsigned words = 0, shift = (4 - size - (address & 3)) * 8;

    if (address & (size - 1)) {
        trap(m, word, 3);
        return;
    }
    if (size >= 4)
        shift = 0;
    old = *at(address) >> shift;
    if (size < 4)
        old &= (1U << 8 * size) - 1;
    if ((plain == 9 && old >> 7) || (plain == 10 && old >> 15))
        old |= ~0U << 8 * size;
    new = is_float ? random32() : *reg(m, rd);
    if (store && !both) {
        if (o.store != 'd')
            result[words++] = address;
        if (o.store != 'a')
            result[words++] = new;
        if (o.store == '2' && size == 8)
            result[words++] = is_float ? random32() : *reg(m, rd | 1);
    } else {
        result[words++] = old;
        if (both)
            result[words++] = plain == 13 ? ~0U : new;
        else if (size == 8)
            result[words++] = *at(address + 4);
    }
    entry(m, word, result, words, 0);
    if (!store || both)
        truth(m, 0, size, address);
    stored = store && !(cas && old != *reg(m, word & 31));
    if (stored)
        truth(m, 1, size, address);
    if (stored) {
        const uint32_t mask = size < 4 ? (1U << 8 * size) - 1 : ~0U;

        *at(address) = (*at(address) & ~(mask << shift)) | ((plain == 13 ? ~0U : new) & mask)
                                                               << shift;
        if (size == 8 && !is_float)
            *at(address + 4) = *reg(m, rd | 1);
    }
    now++;
    if (!store || both) {
        if (both || cached[m->cpu][line % LINES] != line)
            bus(m, address & ~31U, 0, 2, old);
        cached[m->cpu][line % LINES] = line;
    }
    if (stored)
        bus(m, address, 1, size == 8 ? 3 : size / 2, new);
    if ((!store || both) && !is_float && rd) {
        const uint32_t other = *at(address + 4);

        *reg(m, size == 8 ? rd & 30 : rd) = old;
        if (size == 8)
            *reg(m, rd | 1) = other;
    }
    advance(m, m->npc + 4);
}

static void arithmetic(struct machine *m, uint32_t word, uint32_t a, uint32_t b)
{
    const unsigned op3 = word >> 19 & 63, rd = word >> 25 & 31, s = b & 31;
    const uint32_t psr = 0xf30000c0U | m->cwp, sum = a + b;
    const uint32_t basic[] = {a + b, a & b, a | b, a ^ b, a - b, a & ~b, a | ~b, ~(a ^ b)};
    uint32_t r = random32() % 4096;

    if (op3 < 0x20 && (op3 & 15) < 8)
        r = basic[op3 & 7];
    else if (op3 == 0x0a || op3 == 0x0b)
        r = a * b;
    else if (op3 == 0x20)
        r = a + b;
    else if (op3 >= 0x25 && op3 <= 0x27)
        r = op3 == 0x25 ? a << s : op3 == 0x26 ? a >> s : (uint32_t)((int32_t)a >> s);
    else if (op3 == 0x2a)
        r = m->wim;
    else if (op3 == 0x29)
        r = psr;
    if (op3 == 0x3a) {
        trap(m, word, 3);
        return;
    }
    if (op3 == 0x3c || op3 == 0x3d) {
        const unsigned to = (m->cwp + (op3 == 0x3c ? WINDOWS - 1 : 1)) % WINDOWS;

        if (m->wim >> to & 1) {
            trap(m, word, op3 == 0x3c ? 1 : 2);
            return;
        }
        entry(m, word, &sum, 1, 0);
        m->cwp = to;
        *reg(m, rd) = sum;
        advance(m, m->npc + 4);
        return;
    }
    if (op3 == 0x38 || op3 == 0x39) {
        const uint32_t shown = op3 == 0x38 ? m->pc : random32();

        entry(m, word, &shown, 1, 0);
        if (op3 == 0x39)
            m->cwp = (m->cwp + 1) % WINDOWS;
        else
            *reg(m, rd) = m->pc;
        advance(m, sum);
        return;
    }
    if (op3 >= 0x30 && op3 <= 0x33) {
        const uint32_t shown = a ^ b;

        entry(m, word, &shown, 1, 0);
        if (op3 == 0x31)
            m->cwp = (a ^ b) % WINDOWS;
        if (op3 == 0x32)
            m->wim = (a ^ b) & ((1U << WINDOWS) - 1);
    } else {
        entry(m, word, &r, 1, 0);
        *reg(m, rd) = r;
    }
    advance(m, m->npc + 4);
}

static void branch(struct machine *m, uint32_t word)
{
    const unsigned condition = word >> 25 & 15, annul = word >> 29 & 1;
    const int taken = condition == 8 || (condition != 0 && below(2));
    const uint32_t target = m->pc + (uint32_t)((int)(word << 10) >> 8), garbage = random32();

    entry(m, word, &garbage, 1, 0);
    if (taken && !(condition == 8 && annul)) {
        advance(m, target);
    } else if (taken) {
        m->pc = target;
        m->npc = target + 4;
    } else if (annul) {
        m->pc = m->npc + 4;
        m->npc = m->pc + 4;
    } else {
        advance(m, m->npc + 4);
    }
}

static void execute(struct machine *m)
{
    const uint32_t word = fetch(m->pc, m->npc != m->pc + 4), line = m->pc / 32;
    const unsigned op = word >> 30;
    const uint32_t a = *reg(m, word >> 14 & 31);
    const uint32_t b = word >> 13 & 1 ? (uint32_t)((int)(word << 19) >> 19) : *reg(m, word & 31);
    uint32_t shown = word << 10;

    printing = step >= o.skip;
    now += 1 + below(3);
    if (fetched[m->cpu][line % LINES] != line) {
        fetched[m->cpu][line % LINES] = line;
        bus(m, m->pc & ~31U, 0, 2, word);
        now++;
    }
    if (op == 3) {
        access_memory(m, word, a, b);
    } else if (op == 2) {
        arithmetic(m, word, a, b);
    } else if (op == 1) {
        entry(m, word, &m->pc, 1, 0);
        *reg(m, 15) = m->pc;
        advance(m, m->pc + (word << 2));
    } else if ((word >> 22 & 7) == 4) {
        entry(m, word, &shown, 1, 0);
        *reg(m, word >> 25 & 31) = shown;
        advance(m, m->npc + 4);
    } else {
        branch(m, word);
    }
}

int main(int argc, char **argv)
{
    static struct machine m[4];
    const char *text;

    if (argc < 2)
        return 2;
    o.form = argv[1];
    for (int i = 2; i < argc; i++) {
        text = strchr(argv[i], '=');
        if (!text)
            return 2;
        if (strncmp(argv[i], "seed=", 5) == 0)
            state = strtoull(text + 1, NULL, 0) * 0x9e3779b97f4a7c15ULL + 1;
        else if (strncmp(argv[i], "count=", 6) == 0)
            o.count = strtoul(text + 1, NULL, 0);
        else if (strncmp(argv[i], "skip=", 5) == 0)
            o.skip = strtoul(text + 1, NULL, 0);
        else if (strncmp(argv[i], "cpus=", 5) == 0)
            o.cpus = strtoul(text + 1, NULL, 0) % 5;
        else if (strncmp(argv[i], "bus=", 4) == 0)
            o.bus = strtoul(text + 1, NULL, 0);
        else if (strncmp(argv[i], "time=", 5) == 0)
            o.time = strtoull(text + 1, NULL, 0);
        else if (strncmp(argv[i], "store=", 6) == 0)
            o.store = text[1];
        else
            return 2;
    }
    now = o.time;
    handlers();
    for (unsigned i = 0; i < MEMORY; i++)
        memory[i] = below(3) ? random32() % 512 : CLEAN + random32() % 4096 * 8;
    for (unsigned i = 0; i < o.cpus; i++) {
        m[i] = (struct machine){.cpu = i, .wim = 2, .pc = BASE, .npc = BASE + 4};
        *reg(&m[i], 14) = BASE + 0x30000 + i * 0x8000;
    }
    if (is("hist"))
        puts("      TIME     ADDRESS   INSTRUCTIONS/AHB SIGNALS        RESULT/DATA  (SYMBOL)");
    else if (is("inst"))
        puts("         TIME      ADDRESS              INSTRUCTION            RESULT        SYMBOL");
    else if (is("ahb"))
        puts("  time     address     type      data  trans size burst mst lock resp tt pil irl");
    else if (is("monitor"))
        puts("M TimeTag  Result   T E PC       Opcode");
    else if (is("truth"))
        puts("time,cpu,op,size,addr,pc,level,insns");
    for (step = 0; step < o.count; step++)
        execute(&m[o.cpus > 1 ? below((unsigned)o.cpus) : 0]);
    /* the last load has nothing behind it */
    if (pending_load)
        printf(pending, 0);
    if (wants_list)
        putchar('\n');
    return fflush(stdout) != 0;
}
