/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * machine_text.h - a machine description as YAML text that cf_machine_load() reads back to the
 * same, for what tests hold against each other or show.
 */
#ifndef MACHINE_TEXT_H
#define MACHINE_TEXT_H

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "formats/base/cf_memory.h"
#include "formats/machine/cf_machine.h"

/* One UTF-8 character of valid text; bytes that are none count as themselves. */
static unsigned take_character(const char **s)
{
    const unsigned char *p = (const unsigned char *)*s;
    unsigned extra = p[0] >= 0xf0 ? 3 : p[0] >= 0xe0 ? 2 : p[0] >= 0xc0 ? 1 : 0;
    unsigned code = extra ? p[0] & (0x3fU >> extra) : p[0];

    for (unsigned i = 1; i <= extra; i++) {
        if ((p[i] & 0xc0) != 0x80) {
            *s += 1;
            return p[0];
        }
        code = code << 6 | (p[i] & 0x3f);
    }
    *s += 1 + extra;
    return code;
}

static void write_text(FILE *out, const char *s)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

    if (*s && !s[strspn(s, plain)]) {
        fputs(s, out);
        return;
    }
    putc('"', out);
    while (*s) {
        const char *start = s;
        unsigned c = take_character(&s);

        /* YAML folds line breaks inside quotes and allows no control characters. */
        if (c == '"' || c == '\\')
            fprintf(out, "\\%c", c);
        else if (c < 0x20 || (c >= 0x7f && c < 0xa0) || (s - start == 1 && c >= 0x80))
            fprintf(out, "\\x%02X", c);
        else if (c == 0x2028 || c == 0x2029 || c == 0xfeff || c == 0xfffe || c == 0xffff)
            fprintf(out, "\\u%04X", c);
        else
            fwrite(start, 1, (size_t)(s - start), out);
    }
    putc('"', out);
}

static void write_size(FILE *out, uint64_t size)
{
    if (size && size % (1 << 20) == 0)
        fprintf(out, "%" PRIu64 "MiB", size >> 20);
    else if (size && size % (1 << 10) == 0)
        fprintf(out, "%" PRIu64 "KiB", size >> 10);
    else
        fprintf(out, "%" PRIu64, size);
}

static void write_level(FILE *out, const struct cf_level *l)
{
    static const char *const kind[] = {"unified", "data", "instruction"};
    static const char *const inclusion[] = {"non-inclusive", "inclusive", "exclusive"};

    fputs("  - {name: ", out);
    write_text(out, l->name);
    fprintf(out, ", kind: %s, size: ", kind[l->kind]);
    write_size(out, l->size);
    fprintf(out,
            ", ways: %" PRIu32 ", line_size: %" PRIu32 ", shared_by: %" PRIu32
            ", policy: %s,\n     write: %s, allocate: %s, inclusion: %s, depth: %" PRIu32 "%s}\n",
            l->ways, l->line, l->shared_by, cf_policy_name(l->policy),
            l->write_back ? "back" : "through", l->write_allocate ? "true" : "false",
            inclusion[l->inclusion], l->depth,
            l->indexing == CF_INDEX_HASHED ? ", index: hashed" : "");
}

/* The number that state_all() was given, or -1. */
static int64_t one_number(const struct cf_latency *l)
{
    uint32_t cycles = l->cycles[CF_LOAD][0];

    if (l->stated != (1 << CF_LOAD * CF_LATENCY_OPS | 1 << CF_STORE * CF_LATENCY_OPS |
                      1 << CF_IFETCH * CF_LATENCY_OPS) ||
        l->cycles[CF_STORE][0] != cycles || l->cycles[CF_IFETCH][0] != cycles)
        return -1;
    return cycles;
}

static void write_operations(FILE *out, const struct cf_latency *l)
{
    const char *before = "{";

    for (unsigned op = CF_LOAD; op < CF_LATENCY_OPS; op++)
        for (unsigned previous = 0; previous < CF_LATENCY_OPS; previous++) {
            if (!(l->stated >> (op * CF_LATENCY_OPS + previous) & 1))
                continue;
            fprintf(out, "%s%s", before, cf_op_name(op));
            if (previous)
                fprintf(out, "_after_%s", cf_op_name(previous));
            fprintf(out, ": %" PRIu32, l->cycles[op][previous]);
            before = ", ";
        }
    putc('}', out);
}

static void write_latency(FILE *out, const struct cf_machine *m)
{
    int any = 0;

    for (uint32_t i = 0; i <= m->levels && m->levels <= CF_MAX_LEVELS; i++) {
        const struct cf_latency *l = i == m->levels ? &m->memory : &m->level[i].latency;
        int64_t number = one_number(l);

        if (!l->stated)
            continue;
        fputs(!any ? "latency: {" : number >= 0 ? ", " : ",\n          ", out);
        any = 1;
        write_text(out, i == m->levels ? "memory" : m->level[i].name);
        fputs(": ", out);
        if (number >= 0)
            fprintf(out, "%" PRId64, number);
        else
            write_operations(out, l);
    }
    if (any)
        fputs("}\n", out);
    if (m->latency_rule != CF_LATENCY_TOTAL)
        fprintf(out, "latency_rule: %s\n", "added");
}

static void write_tlbs(FILE *out, const struct cf_machine *m)
{
    for (uint32_t i = 0; i < m->tlbs && i < CF_MAX_TLBS; i++) {
        fprintf(out, "%s  - {entries: %" PRIu32, i ? "" : "tlb:\n", m->tlb[i].entries);
        if (m->tlb[i].ways)
            fprintf(out, ", ways: %" PRIu32, m->tlb[i].ways);
        fputs(", page_size: ", out);
        write_size(out, m->tlb[i].page_size);
        fputs("}\n", out);
    }
}

static inline char *machine_text(const struct cf_machine *m)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        return NULL;
    fputs("name: ", out);
    write_text(out, m->name);
    if (m->source) {
        fputs("\nsource: ", out);
        write_text(out, m->source);
    }
    if (m->latency_source) {
        fputs("\nlatency_source: ", out);
        write_text(out, m->latency_source);
    }
    if (m->cpus)
        fprintf(out, "\ncpus: %" PRIu32, m->cpus);
    if (m->clock_hz)
        fprintf(out, "\nclock_hz: %" PRIu64, m->clock_hz);
    fprintf(out, "\nline_size: %" PRIu32 "\nlevels:\n", m->line_size);
    for (uint32_t i = 0; i < m->levels && i < CF_MAX_LEVELS; i++)
        write_level(out, &m->level[i]);
    write_latency(out, m);
    write_tlbs(out, m);
    return cf_memory_text(out, &text);
}

#endif
