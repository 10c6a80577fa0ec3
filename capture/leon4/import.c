/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * import.c - from entries of the trace buffers to records (see import.h).
 *
 * An instruction waits until the next entry of its processor has come, because that may be its
 * second result or the bus read that shows a miss; where several processors take turns, those that
 * came later wait behind it, so that the rows stay in the order of time. At most CF_LEON4_HELD
 * wait: others take far longer for as many than memory does for a read. Then it is replayed, and
 * gives a fetch and, for a load or store, an access: in the table access when its address is known,
 * and else in the table unplaced, which engines do not look at.
 * Memory: three batches of rows, 1 MiB of words, 1 MiB of what waits, and 4 KiB of registers for
 * each processor.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "capture/leon4/import.h"

void cf_import_begin(struct cf_import *m, const char *command)
{
    struct cf_header h = {.clock_unit = (char *)"cycles",
                          .clock_hz = m->o.clock_hz,
                          .line_size = m->o.line_size,
                          .source = (char *)"cf-capture-leon4",
                          .command = (char *)command};

    (void)cf_writer_header(m->out, &h); /* a failure shows when the writer is closed */
}

static uint64_t period_mask(unsigned bits)
{
    return bits ? (1ULL << bits) - 1 : ~0ULL;
}

void cf_import_start(struct cf_import *m, uint64_t tag, uint64_t bus_tag)
{
    const uint64_t mask = period_mask(m->o.time_bits), behind = (tag - bus_tag) & mask;

    if (!m->o.time_bits) /* they do not wrap */
        return;
    m->clock = (struct cf_import_clock){.started = 1, .now = tag & mask};
    m->bus_clock = m->clock;
    if (behind > mask / 2) /* the bus begins later */
        return;
    if (behind > m->clock.now)
        m->clock.now += mask + 1;
    m->bus_clock.now = m->clock.now - behind;
}

uint64_t cf_import_time(struct cf_import_clock *c, uint64_t tag, unsigned bits, int *backward)
{
    const uint64_t mask = period_mask(bits);
    uint64_t step;

    *backward = 0;
    tag &= mask;
    if (!c->started) {
        c->started = 1;
        c->now = tag;
        return tag;
    }
    step = (tag - c->now) & mask;
    if (bits ? step > mask - (mask >> 6) : tag < c->now) {
        *backward = 1;
        return c->now;
    }
    c->wraps += tag < (c->now & mask);
    c->now += step;
    return c->now;
}

/* ---- rows ---- */

static void send(struct cf_import *m, struct rows *r, const struct cf_values *columns,
                 unsigned count, unsigned table)
{
    if (r->count && cf_writer_rows(m->out, table, r->count, columns, count,
                                   table == CF_ACCESS && !r->unhinted ? r->hint : NULL) != 0)
        m->failed = 1; /* reported when the writer is closed */
    r->count = 0;
    r->unhinted = 0;
}

/* First what must stand before the accesses. */
static void send_all(struct cf_import *m)
{
    const struct cf_values unplaced[] = {
        {CF_TIME, m->unplaced.time, 0}, {CF_CPU, m->unplaced.cpu, 0},
        {CF_OP, m->unplaced.op, 0},     {CF_SIZE, m->unplaced.size, 0},
        {CF_PC, m->unplaced.pc, 0},     {CF_LEVEL, m->unplaced.level, 0},
        {CF_PHYS, m->unplaced.addr, 0},
    };
    const struct cf_values access[] = {
        {CF_TIME, m->rows.time, 0},   {CF_CPU, m->rows.cpu, 0},     {CF_OP, m->rows.op, 0},
        {CF_SIZE, m->rows.size, 0},   {CF_ADDR, m->rows.addr, 0},   {CF_PC, m->rows.pc, 0},
        {CF_LEVEL, m->rows.level, 0}, {CF_INSNS, m->rows.insns, 0},
    };
    const struct cf_values bus[] = {
        {CF_TIME, m->bus.time, 0},   {CF_OP, m->bus.op, 0},      {CF_SIZE, m->bus.size, 0},
        {CF_ADDR, m->bus.addr, 0},   {CF_MASTER, m->bus.cpu, 0}, {CF_TRANSFER, m->bus.level, 0},
        {CF_BURST, m->bus.insns, 0},
    };

    send(m, &m->unplaced, unplaced, sizeof unplaced / sizeof *unplaced, CF_UNPLACED);
    send(m, &m->bus, bus, sizeof bus / sizeof *bus, CF_BUS);
    send(m, &m->rows, access, sizeof access / sizeof *access, CF_ACCESS);
}

static inline uint32_t row_for(struct cf_import *m, struct rows *r, uint64_t time, uint32_t cpu,
                               uint8_t op, uint32_t size, uint64_t addr)
{
    uint32_t i;

    if (r->count == CF_LEON4_BATCH)
        send_all(m);
    i = r->count++;
    r->time[i] = time;
    r->cpu[i] = cpu;
    r->op[i] = op;
    r->size[i] = size;
    r->addr[i] = addr;
    return i;
}

/* Each instruction of the program has four kinds of rows. */
static inline void access_row(struct cf_import *m, const struct held *h, uint8_t op, uint32_t size,
                              uint64_t addr, uint8_t level)
{
    const uint32_t i = row_for(m, &m->rows, h->time, h->row.cpu, op, size, addr);

    m->rows.pc[i] = h->row.address;
    m->rows.insns[i] = op == CF_IFETCH;
    m->rows.level[i] = level;
    m->rows.hint[i] = h->row.number * 4 + op;
    m->rows.unhinted |= h->row.number == 0;
}

static void unplaced_row(struct cf_import *m, const struct held *h, uint8_t op, uint8_t level,
                         uint32_t bus)
{
    const uint32_t i = row_for(m, &m->unplaced, h->time, h->row.cpu, op, h->row.insn.size, bus);

    m->unplaced.pc[i] = h->row.address;
    m->unplaced.level[i] = level;
}

/* ---- instructions ---- */

/* Whether a bus read shows that this load missed, -1 where it may; *bus gets its address, 0 where
   none does. */
static int missed(const struct cf_import *m, const struct held *h, uint64_t address, uint32_t *bus)
{
    const uint32_t line = ~(m->o.line_size - 1);

    *bus = 0;
    switch (m->o.miss) {
    case CF_READ_BEFORE:
        *bus = h->before == 1 ? h->before_at : 0;
        return h->before == 1;
    case CF_READ_AFTER:
    case CF_TRANSFER_AFTER:
        *bus = h->after == 1 && h->reads ? h->read_at[0] : 0;
        return h->after == 1 || (h->after && m->o.miss == CF_TRANSFER_AFTER);
    default:
        for (uint32_t i = 0; i < h->reads && i < CF_LEON4_READS; i++)
            if (!(address & CF_REGISTERS_KNOWN) || !(((uint32_t)address ^ h->read_at[i]) & line)) {
                *bus = h->read_at[i];
                return 1;
            }
        return h->reads > CF_LEON4_READS ? -1 : 0;
    }
}

/* 0 unknown, 1 a hit, 2 served by what is behind the first level. */
static uint8_t level_of(struct cf_import *m, const struct held *h, uint64_t address, uint32_t *bus)
{
    const int miss = missed(m, h, address, bus);

    if (!m->bus_seen)
        return 0;
    if (miss > 0) {
        m->counts.misses++;
        return 2;
    }
    /* the trace ends here, and the read might have come */
    if (h->open && (m->o.miss == CF_READ_LINE || (m->o.miss != CF_READ_BEFORE && !h->after))) {
        m->counts.cut++;
        return 0;
    }
    m->counts.crowded += miss < 0;
    m->counts.hits += miss == 0;
    return miss == 0;
}

static void memory(struct cf_import *m, const struct held *h, uint64_t address)
{
    const struct cf_sparc_insn *n = &h->row.insn;
    const int known = address >> 32 & 1;
    uint32_t bus = 0;
    uint8_t level = 0;

    if (cf_registers_elsewhere(&m->o.registers, n)) {
        m->counts.elsewhere++;
        return;
    }
    if (n->flags & CF_SPARC_LOADS) {
        level = level_of(m, h, address, &bus);
        m->counts.loads++;
        m->counts.loads_known += (uint64_t)known;
        if (m->counts.loads > m->o.warm_up) {
            m->counts.late++;
            m->counts.late_known += (uint64_t)known;
        }
        if (known)
            access_row(m, h, CF_LOAD, n->size, (uint32_t)address, level);
        else
            unplaced_row(m, h, CF_LOAD, level, bus);
    }
    if (n->flags & CF_SPARC_STORES && !(address & CF_REGISTERS_NO_STORE)) {
        m->counts.stores++;
        m->counts.stores_known += (uint64_t)known;
        if (known)
            access_row(m, h, CF_STORE, n->size, (uint32_t)address, 0);
        else
            unplaced_row(m, h, CF_STORE, 0, 0);
    }
}

static void overwritten(struct cf_import *m, uint32_t address, unsigned size)
{
    for (uint32_t at = 0; m->memory && (at < size || at == 0); at += 4)
        cf_registers_remember(m->memory, address + at, 0, 4);
}

static void commit(struct cf_import *m, const struct held *h)
{
    const struct cf_scan_row *row = &h->row;
    struct cf_registers_entry e = {
        .insn = &row->insn, .pc = row->address, .words = row->words, .trapped = row->trapped != 0};
    uint64_t address;

    memcpy(e.word, row->word, sizeof e.word);
    if (h->partial) /* instructions that are not shown may have written any register */
        cf_registers_forget(m->registers[row->cpu]);
    address = cf_registers_step(m->registers[row->cpu], &e);
    if (h->written == 255)
        cf_registers_forget_memory(m->memory);
    else if (h->written)
        overwritten(m, h->written_at, h->written);
    m->counts.instructions++;
    access_row(m, h, CF_IFETCH, 4, row->address, 0);
    if (row->trapped)
        m->counts.trapped++;
    else if (row->insn.kind == CF_SPARC_MEMORY)
        memory(m, h, address);
    else if (row->insn.kind == CF_SPARC_UNKNOWN)
        m->counts.unknown++;
}

/* Commits from the front what waits for nothing, and at least `least`. */
static void drain(struct cf_import *m, unsigned least)
{
    while (m->waiting && (!m->held[m->first].open || least)) {
        struct held *h = &m->held[m->first];

        if (m->open[h->row.cpu] == h)
            m->open[h->row.cpu] = NULL;
        if (m->last == h)
            m->last = NULL;
        commit(m, h);
        m->waiting--;
        m->first = m->waiting ? (m->first + 1) % CF_LEON4_HELD : 0; /* where memory is in a cache */
        least -= least > 0;
    }
}

/* Some monitors show each entry of an instruction as if it were one of its own: whether this one
   may continue the one before. */
static int repeats(const struct cf_import *m, const struct held *h, const struct cf_scan_row *row,
                   int input)
{
    const struct cf_sparc_insn *a = &h->row.insn, *b = &row->insn;

    return !row->stated && m->grouped != input && h->row.address == row->address &&
           a->kind == CF_SPARC_MEMORY && b->kind == a->kind && a->flags == b->flags &&
           a->rd == b->rd && a->rs1 == b->rs1 && a->simm == b->simm &&
           (a->flags & CF_SPARC_STORES || a->size == 8) && row->words == 1 && !h->row.trapped;
}

/* It is certain where all instructions are in the trace, not loads and stores alone (the trace
   buffer can filter them): then none follows itself unless a branch before its delay slot goes
   there. */
static int continues(struct cf_import *m, const struct held *h, const struct cf_scan_row *row,
                     int input)
{
    if (!h || !repeats(m, h, row, input))
        return 0;
    if (m->mixed[row->cpu] == input && !h->again)
        return 1;
    m->counts.alike++;
    return 0;
}

static void instruction(struct cf_import *m, const struct cf_scan_row *row, uint64_t time,
                        int input)
{
    const unsigned cpu = row->cpu;
    struct held *h = m->open[cpu];
    const int again = h && h->row.insn.flags & CF_SPARC_TARGET && h->row.insn.value == row->address;

    if (row->words > 1)
        m->grouped = input;
    if (row->insn.kind != CF_SPARC_MEMORY && row->insn.kind != CF_SPARC_UNKNOWN)
        m->mixed[cpu] = input;
    if (row->more || continues(m, h, row, input)) {
        if (!h || h->row.address != row->address || h->row.words + row->words > 4) {
            m->counts.orphans++; /* the trace begins inside an instruction */
            return;
        }
        for (unsigned i = 0; i < row->words; i++)
            h->row.word[h->row.words++] = row->word[i];
        h->row.trapped |= row->trapped;
        return;
    }
    if (h)
        h->open = 0;
    drain(m, m->waiting == CF_LEON4_HELD);
    h = &m->held[(m->first + m->waiting++) % CF_LEON4_HELD];
    h->row = *row;
    h->time = time;
    h->open = 1;
    h->again = (uint8_t)again;
    h->partial = m->mixed[cpu] != input;
    h->after = 0;
    h->reads = 0;
    h->written = 0;
    h->before = m->before[cpu];
    h->before_at = m->before_at[cpu];
    m->before[cpu] = 0;
    m->open[cpu] = m->last = h;
}

/* ---- the bus ---- */

static void note_transfer(struct cf_import *m, struct held *h, unsigned cpu,
                          const struct cf_scan_row *row)
{
    const uint8_t what = row->write ? 2 : 1;

    if (h && !h->after)
        h->after = what;
    /* the further transfers of a burst are in the same line */
    if (h && !row->write && row->trans == 2 && h->reads++ < CF_LEON4_READS)
        h->read_at[h->reads - 1] = row->address;
    m->before[cpu] = what;
    m->before_at[cpu] = row->address;
}

/* Somebody else writes; what waits is done before that. */
static void foreign_write(struct cf_import *m, const struct cf_scan_row *row)
{
    struct held *h = m->last;

    if (!h) {
        overwritten(m, row->address, row->size);
        return;
    }
    h->written = h->written ? 255 : row->size;
    h->written_at = row->address;
}

static void transfer(struct cf_import *m, const struct cf_scan_row *row, uint64_t time)
{
    const uint32_t i = row_for(m, &m->bus, time, row->master, row->write ? CF_STORE : CF_LOAD,
                               row->size, row->address);

    m->bus.level[i] = row->trans;
    m->bus.insns[i] = row->burst;
    m->bus_seen = 1;
    m->counts.transfers++;
    if (row->trans < 2) /* idle and busy move nothing */
        return;
    if (m->o.any_master) {
        if (m->last)
            note_transfer(m, m->last, m->last->row.cpu, row);
        return;
    }
    for (unsigned cpu = 0; cpu < CF_SCAN_CPUS; cpu++)
        if (m->o.master[cpu] == row->master) {
            note_transfer(m, m->open[cpu], cpu, row);
            if (m->registers[cpu]) /* whose stores the trace has */
                return;
        }
    if (row->write)
        foreign_write(m, row);
}

void cf_import_row(struct cf_import *m, struct cf_scan *scan, const struct cf_scan_row *row,
                   uint64_t time)
{
    if (row->bus) {
        transfer(m, row, time);
        return;
    }
    if (row->cpu >= CF_SCAN_CPUS || row->address & 3) {
        cf_lines_bad(&scan->lines, 0,
                     row->address & 3 ? "an instruction at 0x%08" PRIx32
                                        ", which is no multiple of 4"
                                      : "an entry of processor %" PRIu32 ": at most 16 are known",
                     row->address & 3 ? row->address : row->cpu);
        return;
    }
    if (!m->registers[row->cpu]) {
        m->registers[row->cpu] = cf_need(m->tool, malloc(sizeof(struct cf_registers)));
        if (!m->memory)
            m->memory = cf_need(m->tool, cf_registers_memory_new());
        cf_registers_begin(m->registers[row->cpu], &m->o.registers, m->memory);
    }
    instruction(m, row, time, scan->lines.input);
}

void cf_import_flush(struct cf_import *m)
{
    send_all(m);
    (void)cf_writer_flush(m->out);
}

void cf_import_end(struct cf_import *m)
{
    drain(m, m->waiting);
    send_all(m);
}

void cf_import_free(struct cf_import *m)
{
    for (unsigned i = 0; i < CF_SCAN_CPUS; i++)
        free(m->registers[i]);
    free(m->memory);
}

/* ---- what is reported at the end ---- */

static double share(uint64_t part, uint64_t whole)
{
    /* rounded down, so that 100.00 means all of them */
    return whole ? (double)(part * 10000 / whole) / 100 : 0;
}

static void say(const struct cf_import *m, uint64_t count, const char *what)
{
    if (count)
        cf_warn(m->tool, "%" PRIu64 " %s", count, what);
}

void cf_import_report(const struct cf_import *m)
{
    const struct cf_import_counts *c = &m->counts;
    struct cf_registers_counts r = {0};

    for (unsigned i = 0; i < CF_SCAN_CPUS; i++)
        if (m->registers[i]) {
            r.contradictions += m->registers[i]->counts.contradictions;
            r.gaps += m->registers[i]->counts.gaps;
            r.narrow += m->registers[i]->counts.narrow;
        }
    cf_warn(m->tool,
            "%" PRIu64 " instructions, %" PRIu64 " bus transfers; address known of %" PRIu64
            " of %" PRIu64 " loads (%.2f %%) and %" PRIu64 " of %" PRIu64 " stores (%.2f %%)",
            c->instructions, c->transfers, c->loads_known, c->loads,
            share(c->loads_known, c->loads), c->stores_known, c->stores,
            share(c->stores_known, c->stores));
    if (c->late)
        cf_warn(m->tool,
                "after the first %" PRIu64 " loads: of %" PRIu64 " of %" PRIu64 " (%.2f %%)",
                m->o.warm_up, c->late_known, c->late, share(c->late_known, c->late));
    if (m->bus_seen)
        cf_warn(m->tool, "data cache, by the bus: %" PRIu64 " loads hit, %" PRIu64 " missed",
                c->hits, c->misses);
    say(m, c->trapped, "instructions trapped");
    say(m, c->unknown, "instructions are not known: all registers forgotten at each");
    say(m, r.gaps, "instructions cannot follow the one before: all registers forgotten at each");
    say(m, r.contradictions,
        "results differ from what the registers give: all forgotten at each; "
        "if these are many, is --windows right?");
    say(m, r.narrow, "narrow loads show a whole word: their value is not used");
    say(m, c->orphans, "entries continue an instruction that is not there");
    say(m, c->alike,
        "entries are like the store or double word load before them, and the trace does not say "
        "whether they continue it: taken for instructions of their own");
    say(m, c->elsewhere, "accesses go to address spaces that are not memory (--asi): left out");
    say(m, c->cut,
        "loads have no entry of their processor after them, or only behind thousands of others: "
        "hit or miss is not known");
    say(m, c->crowded,
        "loads have more bus reads after them than are kept, and none of those is of their line: "
        "hit or miss is not known");
    say(m, c->wraps, "times the time tag began anew");
}
