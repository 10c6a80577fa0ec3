/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * print_raw: the words of the trace buffers as the debug support unit shows them in memory, either
 * as bytes, most significant first, or as a memory dump whose addresses count on as if the buffers
 * were large enough (0x90000000 is where LEON3's unit stands; LEON4's is not verified); the true
 * accesses; the counters.
 *
 * An instruction entry is four words (GR740 and GR712RC manuals, tables of the instruction trace
 * buffer). A bus entry is four words where the bus has 32 bits, and eight, with the upper data in
 * the second half, where it is wider.
 */
#include <inttypes.h>
#include <string.h>

#include "tests/leon4/leon4.h"

/* Where a CPU's buffers stand in the address space of the debug support unit. */
enum { UNIT = 0x1000000, INST_BUFFER = 0x100000, AHB_BUFFER = 0x200000 };
static const uint32_t unit = 0x90000000;

/* Four words a line, behind the address that `place` counts up. */
static void words_out(const struct print *p, const uint32_t *word, unsigned count, uint32_t *place,
                      FILE *out)
{
    for (unsigned i = 0; i < count; i++) {
        if (p->style == WORDS) {
            if (i % 4 == 0)
                fprintf(out, "  0x%08" PRIx32 " ", *place + 4 * i);
            fprintf(out, " %08" PRIx32 "%s", word[i], i % 4 == 3 ? "\n" : "");
            continue;
        }
        for (int shift = 24; shift >= 0; shift -= 8)
            putc((int)(word[i] >> shift & 255), out);
    }
    *place += 4 * count;
}

static void raw_transfer(const struct print *p, const struct entry *e, uint32_t *place, FILE *out)
{
    const unsigned words = p->bus / 4;
    uint32_t word[8] = {0};

    word[0] = (uint32_t)(e->time & TAG);
    word[1] = (uint32_t)e->write << 15 | (uint32_t)e->trans << 13 | (uint32_t)e->size << 10 |
              (uint32_t)e->burst << 7 | (uint32_t)e->cpu << 3 | (uint32_t)e->lock << 2;
    word[2] = e->data[words - 1]; /* bits 31:0 of the bus */
    word[3] = e->addr;
    if (words > 1)
        word[4] = e->data[words - 2]; /* 63:32 */
    if (words > 2) {
        word[5] = e->data[0]; /* 127:96 */
        word[6] = e->data[1];
    }
    words_out(p, word, words > 1 ? 8 : 4, place, out);
}

static void raw_instruction(const struct print *p, const struct entry *e, uint32_t *place,
                            FILE *out)
{
    const struct step *s = &p->run[e->cpu].step[e->step];
    uint32_t result[3];
    const unsigned n = print_results(p, s, result);

    for (unsigned i = 0; i < n; i++) {
        const uint32_t word[4] = {
            (uint32_t)((e->time + i * p->cpus) & TAG) | (i ? 1U << 30 : 0),
            result[i],
            s->pc | (uint32_t)s->trap << 1 | s->error,
            s->opcode,
        };

        words_out(p, word, 4, place, out);
    }
}

void print_raw(const struct print *p, const struct trace *t, FILE *out)
{
    for (unsigned cpu = 0; cpu < p->cpus; cpu++) {
        uint32_t bus = unit + AHB_BUFFER, place = unit + cpu * UNIT + INST_BUFFER;

        for (size_t i = 0; i < t->entries; i++) {
            const struct entry *e = &t->entry[i];

            if (!print_wanted(p, e))
                continue;
            if (e->ahb && cpu == 0)
                raw_transfer(p, e, &bus, out); /* all masters share a buffer */
            else if (!e->ahb && e->cpu == cpu)
                raw_instruction(p, e, &place, out);
        }
    }
}

static void access_out(const struct entry *e, const struct step *s, const char *op, unsigned level,
                       FILE *out)
{
    fprintf(out, "%" PRIu64 ",%u,%s,%u,0x%08" PRIx32 ",0x%08" PRIx32 ",%u", e->time, e->cpu, op,
            s->size, s->addr, s->pc, level);
}

void print_accesses(const struct print *p, const struct trace *t, const uint8_t *const *hit,
                    FILE *out)
{
    const int fetches = p->form == STREAM;
    const char *end = fetches ? ",0\n" : "\n";

    fprintf(out, "time,cpu,op,size,addr,pc,level%s\n", fetches ? ",insns" : "");
    for (size_t i = 0; i < t->entries; i++) {
        const struct entry *e = &t->entry[i];
        const struct step *s = &p->run[e->cpu].step[e->step];

        if (e->ahb || !print_wanted(p, e))
            continue;
        if (fetches)
            fprintf(out, "%" PRIu64 ",%u,ifetch,4,0x%08" PRIx32 ",0x%08" PRIx32 ",0,1\n", e->time,
                    e->cpu, s->pc, s->pc);
        if (s->memory && s->kind != STORE) {
            access_out(e, s, "load", hit[e->cpu][e->step] ? 1 : 2, out);
            fputs(end, out);
        }
        if (s->memory && (s->kind == STORE || s->writes)) {
            access_out(e, s, "store", 0, out);
            fputs(end, out);
        }
    }
}

void print_counters(const struct counters *c, unsigned cpus, FILE *out)
{
    fputs("CPU/AHBM   DESCRIPTION                VALUE\n", out);
    for (unsigned i = 0; i < cpus; i++) {
        const struct {
            const char *name;
            uint64_t value;
        } rows[] = {{"all instructions", c[i].instructions},
                    {"icache miss", c[i].icache},
                    {"dcache miss", c[i].dcache},
                    {"external event 1", c[i].l2}};

        for (unsigned k = 0; k < 4; k++)
            fprintf(out, "%u: %u       %-25s  %010" PRIu64 "\n", 4 * i + k, i, rows[k].name,
                    rows[k].value);
    }
}
