/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * print: the text forms. Three are copied in shape from the printf formats of monitors whose source
 * is public (FTDI: a monitor for LEON3 and LEON4 on an FTDI adapter; OPENOCD: OpenOCD's port to
 * LEON; DSU: a monitor of LEON4's debug support unit), TSIM from output of that simulator. GRMON's
 * and its Tcl lists rest on recollection alone. Header lines name the columns.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tests/leon4/leon4.h"

unsigned print_results(const struct print *p, const struct step *s, uint32_t words[3])
{
    unsigned n = 0;

    words[0] = 0;
    if (s->trap || s->kind == PLAIN) {
        words[0] = s->value;
        if (!s->pair || s->trap || p->single)
            return 1;
        words[0] = s->loaded[0];
        words[1] = s->loaded[1];
        return 2;
    }
    if (s->kind == STORE)
        words[n++] = s->addr;
    if (s->kind == STORE && p->single)
        return n;
    words[n++] = s->kind == STORE ? s->stored[0] : s->loaded[0];
    if (s->kind == ATOMIC)
        words[n++] = s->addr; /* of its store */
    else if (s->size == 8 && !p->single)
        words[n++] = s->kind == STORE ? s->stored[1] : s->loaded[1];
    return n;
}

int print_wanted(const struct print *p, const struct entry *e)
{
    /* Transfers belong to the instruction that caused them; other masters' are always there. */
    if (p->form == INST && e->ahb)
        return 0;
    if (p->form == AHB && !e->ahb)
        return 0;
    if (e->step < p->from || e->step - p->from >= p->count)
        return 0;
    return e->ahb || p->cpu < 0 || e->cpu == p->cpu;
}

static const struct step *step_of(const struct print *p, const struct entry *e)
{
    return &p->run[e->cpu].step[e->step];
}

static void bus_data(const struct print *p, const struct entry *e, FILE *out)
{
    for (unsigned i = 0; i < p->bus / 4; i++)
        fprintf(out, "%08" PRIx32, e->data[i]);
}

/* "[%08x %08x]" or "[  TRAP  ]" */
static void results(const struct print *p, const struct step *s, char text[32])
{
    uint32_t words[3];
    const unsigned n = print_results(p, s, words);

    if (s->trap)
        strcpy(text, "[  TRAP  ]");
    else if (n == 1)
        sprintf(text, "[%08" PRIx32 "]", words[0]);
    else if (n == 2)
        sprintf(text, "[%08" PRIx32 " %08" PRIx32 "]", words[0], words[1]);
    else
        sprintf(text, "[%08" PRIx32 " %08" PRIx32 " %08" PRIx32 "]", words[0], words[1], words[2]);
}

static void header(const struct print *p, FILE *out)
{
    switch (p->style) {
    case GRMON:
        if (p->form == HIST)
            fputs("     TIME      ADDRESS   INSTRUCTIONS/AHB SIGNALS         RESULT/DATA  SYMBOL\n",
                  out);
        else if (p->form == INST)
            fputs(
                "     TIME      ADDRESS   INSTRUCTION                      RESULT        SYMBOL\n",
                out);
        else
            fprintf(
                out,
                "     TIME      ADDRESS   TYPE   D[%u:0]  TRANS SIZE BURST MST LOCK RESP HIRQ\n",
                p->bus * 8 - 1);
        break;
    case FTDI:
        fprintf(out, "    %9s  %8s  %30s  %10s  %10s\n", "TIME    ", "ADDRESS ",
                "INSTRUCTION        ", "RESULT  ", "SYMBOL");
        break;
    case OPENOCD:
        fputs(p->form == INST ? "  time     address     instruction      result\n"
                              : "  time     address     type      data  trans size burst mst lock "
                                "resp tt pil irl\n",
              out);
        break;
    case DSU:
        fputs(p->form == INST ? "M TimeTag  Result   T E PC       Opcode\n"
                              : "    Bp TimeTag  W Tr Sz Br Mst Lk Rsp Data     Addr\n",
              out);
        break;
    default:
        break;
    }
}

static void instruction(const struct print *p, const struct entry *e, unsigned part, int last,
                        FILE *out)
{
    const struct step *s = step_of(p, e);
    const struct run *r = &p->run[e->cpu];
    const unsigned time = (unsigned)((e->time + part * p->cpus) & TAG);
    const char *text = run_text(r, s->pc), *name;
    uint32_t words[3], offset;
    char result[32];

    results(p, s, result);
    (void)print_results(p, s, words);
    switch (p->style) {
    case FTDI:
        fprintf(out, "    %9u  %08" PRIx32 "  %-30s %s  -\n", time, s->pc, text, result);
        break;
    case OPENOCD:
        fprintf(out, " %10u  %08" PRIX32 "  %-30s  [%08" PRIX32 "]\n", time, s->pc, text,
                words[part]);
        break;
    case DSU:
        fprintf(out, "%s%08x %08" PRIx32 " %c %c %08" PRIx32 " %08" PRIx32 "  %s\n",
                last ? "->" : "  ", time | (part ? 1U << 30 : 0), words[part], s->trap ? 'T' : ' ',
                s->error ? 'E' : ' ', s->pc, s->opcode, text);
        break;
    case TSIM: {
        const size_t mnemonic = strcspn(text, " ");

        fprintf(out, "%9u  %08" PRIx32 "  %08" PRIx32 "  %-8.*s %s\n", time, s->pc, s->opcode,
                (int)mnemonic, text, text + mnemonic + strspn(text + mnemonic, " "));
        break;
    }
    default:
        name = run_symbol(r, s->pc, &offset);
        fprintf(out, "%9u  %08" PRIx32 "  %-31s  %s  %s", time, s->pc, text, result, name);
        fprintf(out, *name && offset ? "+0x%" PRIx32 "\n" : "\n", offset);
    }
}

static void transfer(const struct print *p, const struct entry *e, size_t number, FILE *out)
{
    const unsigned time = (unsigned)(e->time & TAG), trans = e->trans, size = e->size;

    switch (p->style) {
    case OPENOCD:
        fprintf(out,
                " %10u  %08" PRIX32 "  %s  %08" PRIX32
                "   %u    %u    %u    %u    %u    0   00   0   0\n",
                time, e->addr, e->write ? "write" : "read ", e->data[0], trans, size, e->burst,
                e->cpu, e->lock);
        break;
    case DSU:
        fprintf(out, "%04zx:   %08x %c %u  %u  %u  %02x  %c  0   %08" PRIx32 " %08" PRIx32 "\n",
                number & 0xffff, time, e->write ? 'W' : 'R', trans, size, e->burst, e->cpu,
                e->lock ? 'L' : ' ', e->data[0], e->addr);
        break;
    default:
        if (p->form == HIST) {
            char text[40];

            sprintf(text, "ahb %s, mst=%u, size=%u", e->write ? "write" : "read, ", e->cpu, size);
            fprintf(out, "%9u  %08" PRIx32 "  %-31s  [", time, e->addr, text);
            bus_data(p, e, out);
            fputs("]\n", out);
        } else {
            fprintf(out, "%9u  %08" PRIx32 "  %-5s  ", time, e->addr, e->write ? "write" : "read");
            bus_data(p, e, out);
            fprintf(out, "  %u     %u    %u     %u   %u    0    0000\n", trans, size, e->burst,
                    e->cpu, e->lock);
        }
    }
}

/* An element of a Tcl list: all on one line in braces, or one a line as `join` leaves them. */
static void tcl(const struct print *p, const struct entry *e, unsigned part, int first, FILE *out)
{
    const struct step *s = step_of(p, e);
    const unsigned time = (unsigned)((e->time + part * p->cpus) & TAG);
    uint32_t words[3], offset;
    const char *name = run_symbol(&p->run[e->cpu], s->pc, &offset);

    if (p->style == TCL)
        fputs(first ? "{" : " {", out);
    if (e->ahb) {
        fprintf(out, "AHB %u 0x%08" PRIx32 " {", time, e->addr);
        for (unsigned i = 0; i < p->bus / 4; i++)
            fprintf(out, "%s0x%08" PRIx32, i ? " " : "", e->data[i]);
        fprintf(out, "} %s %u %u %u %u 0 0", e->write ? "write" : "read", e->trans, e->size, e->cpu,
                e->lock);
    } else {
        (void)print_results(p, s, words);
        fprintf(out, "INST %u %u 0x%08" PRIx32 " 0x%08" PRIx32 " 0x%08" PRIx32 " %s %u %u %u",
                e->cpu, time, s->pc, s->opcode, words[part], *name ? name : "{}", part > 0, s->trap,
                s->error);
    }
    fputs(p->style == TCL ? "}" : "\n", out);
}

/* What becomes a line: an entry of a trace buffer, or all entries of an instruction at once. */
struct line {
    uint64_t time;
    const struct entry *entry;
    unsigned part;
};

static int by_time(const void *a, const void *b)
{
    const struct line *x = a, *y = b;

    return x->time < y->time ? -1 : x->time > y->time;
}

int print_text(const struct print *p, const struct trace *t, FILE *out)
{
    const int parts = p->style != GRMON && p->style != FTDI && p->style != TSIM;
    struct line *line = reallocarray(NULL, t->entries * 3 + 1, sizeof(*line));
    size_t lines = 0, number = 0;

    if (!line)
        return -1;
    for (size_t i = 0; i < t->entries; i++) {
        const struct entry *e = &t->entry[i];
        uint32_t words[3];
        unsigned n = 1;

        if (!print_wanted(p, e) || (e->ahb && p->style == TSIM))
            continue;
        if (parts && !e->ahb)
            n = print_results(p, step_of(p, e), words);
        for (unsigned part = 0; part < n; part++)
            line[lines++] = (struct line){e->time + part * p->cpus, e, part};
    }
    /* another CPU's entries may stand between those of one instruction */
    qsort(line, lines, sizeof(*line), by_time);
    header(p, out);
    for (size_t i = 0; i < lines; i++) {
        const struct entry *e = line[i].entry;

        if (p->style == TCL || p->style == TCL_LINES)
            tcl(p, e, line[i].part, i == 0, out);
        else if (e->ahb)
            transfer(p, e, number++, out);
        else
            instruction(p, e, line[i].part, i + 1 == lines, out);
    }
    if (p->style == TCL)
        fputc('\n', out);
    free(line);
    return 0;
}
