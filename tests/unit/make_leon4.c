/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * make_leon4 FORM [key=value ...]: the trace of a random SPARC V8 program in one of the forms that
 * cf-capture leon4 reads, or the accesses that are true of it.
 *
 * A small interpreter executes code that is made up where it is first executed (leon4_program.h).
 * Conditions, carries and quotients are random, since no importer can know them.
 *
 * FORM: hist inst ahb list raw rawbus words monitor truth. Keys: seed, count (instructions),
 * skip (of them, not printed), cpus, store=2|a|d (words beside a store: both, address, data),
 * time (of the first entry), bus=0 (no transfers).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/leon4_program.h"
#include "tests/unit/leon4_text.h"

enum { MEMORY = 1 << 16, LINES = 128, CLEAN = 0x40100000 };

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

static uint32_t memory[MEMORY], cached[16][LINES], fetched[16][LINES];
static uint64_t now;
static unsigned long step;
static int printing, wants_list;
/* A load waits for the next entry, which tells its level. */
static char pending[512];
static int pending_load;

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

static unsigned size_of(unsigned op3)
{
    const unsigned plain = op3 & 15;

    if (op3 == 0x3c) /* casa */
        return 4;
    if (op3 >= 0x20 && op3 < 0x30)
        return (plain & 3) == 3 ? 8 : 4;
    return plain == 3 || plain == 7                  ? 8
           : plain == 0 || plain == 4 || plain == 15 ? 4
           : plain == 2 || plain == 6 || plain == 10 ? 2
                                                     : 1;
}

static void put_part(uint32_t address, unsigned size, unsigned shift, uint32_t value)
{
    const uint32_t mask = size < 4 ? (1U << 8 * size) - 1 : ~0U;

    *at(address) = (*at(address) & ~(mask << shift)) | (value & mask) << shift;
}

/* The words that the trace shows of an access; how many they are. */
static unsigned results(struct machine *m, uint32_t word, uint32_t address, uint32_t old,
                        uint32_t new, uint32_t *result)
{
    const unsigned op3 = word >> 19 & 63, rd = word >> 25 & 31, plain = op3 & 15,
                   size = size_of(op3);
    const int is_float = op3 >= 0x20 && op3 < 0x30;
    const int both = op3 == 0x3c || (op3 < 0x20 && (plain == 13 || plain == 15));
    unsigned words = 0;

    if ((plain & 4) && !both) {
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
    return words;
}

static void access_memory(struct machine *m, uint32_t word, uint32_t a, uint32_t b)
{
    const unsigned op3 = word >> 19 & 63, rd = word >> 25 & 31, plain = op3 & 15;
    const int is_float = op3 >= 0x20 && op3 < 0x30, cas = op3 == 0x3c;
    const int both = cas || (op3 < 0x20 && (plain == 13 || plain == 15));
    const int store = both || (plain & 4);
    const unsigned size = size_of(op3);
    const uint32_t address = cas ? a : a + b, line = address / 32;
    int stored = store;
    uint32_t old, new, result[4];
    unsigned words, shift = (4 - size - (address & 3)) * 8;

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
    words = results(m, word, address, old, new, result);
    entry(m, word, result, words, 0);
    if (!store || both)
        truth(m, 0, size, address);
    stored = store && !(cas && old != *reg(m, word & 31));
    if (stored)
        truth(m, 1, size, address);
    if (stored) {
        put_part(address, size, shift, plain == 13 ? ~0U : new);
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
            random_state = strtoull(text + 1, NULL, 0) * 0x9e3779b97f4a7c15ULL + 1;
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
