/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The latency table of a machine description: by level, by operation, and by the operation before
 * at the same level. Reads and writes it, and states one latency as an option does.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cf_machine_parts.h"

enum { OPS = CF_LATENCY_OPS };

static uint64_t bit(unsigned op, unsigned previous)
{
    return UINT64_C(1) << (op * OPS + previous);
}

static void state(struct cf_latency *l, unsigned op, unsigned previous, uint32_t cycles)
{
    l->stated |= bit(op, previous);
    l->cycles[op][previous] = cycles;
}

/* A number for the whole level: what a program waits for, whatever came before. */
static void state_all(struct cf_latency *l, uint32_t cycles)
{
    *l = (struct cf_latency){0};
    for (unsigned op = CF_LOAD; op <= CF_IFETCH; op++)
        state(l, op, 0, cycles);
}

/* The number that state_all() was given, or -1. */
static int64_t one_number(const struct cf_latency *l)
{
    uint32_t cycles = l->cycles[CF_LOAD][0];

    if (l->stated != (bit(CF_LOAD, 0) | bit(CF_STORE, 0) | bit(CF_IFETCH, 0)) ||
        l->cycles[CF_STORE][0] != cycles || l->cycles[CF_IFETCH][0] != cycles)
        return -1;
    return cycles;
}

int64_t cf_latency_cycles(const struct cf_latency *l, unsigned op, unsigned previous)
{
    if (op < CF_LOAD || op >= OPS || previous >= OPS)
        return -1;
    if (l->stated & bit(op, previous))
        return l->cycles[op][previous];
    if (l->stated & bit(op, 0))
        return l->cycles[op][0];
    return op == CF_PREFETCH || op == CF_FLUSH ? 0 : -1;
}

int cf_latency_has_previous(const struct cf_latency *l)
{
    for (unsigned op = CF_LOAD; op < OPS; op++)
        for (unsigned previous = CF_LOAD; previous < OPS; previous++)
            if (l->stated & bit(op, previous))
                return 1;
    return 0;
}

/* The operation that is named by the first `length` bytes, or 0. */
static unsigned find_op(const char *text, size_t length)
{
    for (unsigned op = CF_LOAD; op < OPS; op++) {
        const char *name = cf_op_name(op);

        if (strlen(name) == length && memcmp(name, text, length) == 0)
            return op;
    }
    return 0;
}

/* OPERATION or OPERATION_after_OPERATION. */
static int parse_key(const char *key, unsigned *op, unsigned *previous)
{
    static const char after[] = "_after_";
    const char *at = strstr(key, after);

    *op = find_op(key, at ? (size_t)(at - key) : strlen(key));
    *previous = at ? find_op(at + strlen(after), strlen(at + strlen(after))) : 0;
    return *op && (!at || *previous) ? 0 : -1;
}

static int kind_serves(enum cf_kind kind, unsigned op)
{
    return kind == CF_UNIFIED || (kind == CF_INSTRUCTION_CACHE) == (op == CF_IFETCH);
}

static const char known_keys[] = "load, store, ifetch, prefetch, flush, and each of them after"
                                 " another, as in store_after_load";

static struct cf_latency *table_of(struct cf_machine *m, uint32_t level)
{
    return level == m->levels ? &m->memory : &m->level[level].latency;
}

static enum cf_kind kind_of(const struct cf_machine *m, uint32_t level)
{
    return level == m->levels ? CF_UNIFIED : m->level[level].kind;
}

/* {load: 21, store: 12, store_after_store: 9} */
static int read_operations(const struct report *to, const struct node *key,
                           const struct cf_machine *m, uint32_t level, struct cf_latency *l)
{
    const struct node *first = key->next->child;

    if (!first)
        return cfm_fail(to, key->line, "latency of %s is empty: give it cycles, or leave it out",
                        key->text);
    for (const struct node *k = first; k; k = k->next->next) {
        unsigned op, previous;
        uint32_t cycles;

        if (parse_key(k->text, &op, &previous) < 0)
            return cfm_fail(to, k->line, "unknown key '%s' in latency of %s: known are %s", k->text,
                            key->text, known_keys);
        if (!kind_serves(kind_of(m, level), op) ||
            (previous && !kind_serves(kind_of(m, level), previous)))
            return cfm_fail(to, k->line, "'%s' in latency of %s, which is %s cache: remove it",
                            k->text, key->text,
                            kind_of(m, level) == CF_DATA_CACHE ? "a data" : "an instruction");
        if (cfm_get_u32(to, k, 0, CF_MAX_LATENCY, &cycles) < 0)
            return -1;
        state(l, op, previous, cycles);
    }
    for (const struct node *k = first; k; k = k->next->next) {
        unsigned op, previous;

        if (parse_key(k->text, &op, &previous) == 0 && !(l->stated & bit(op, 0)))
            return cfm_fail(to, k->line,
                            "'%s' in latency of %s without '%s', which is what holds after"
                            " anything else: add it",
                            k->text, key->text, cf_op_name(op));
    }
    return 0;
}

int cfm_read_latency(const struct report *to, const struct node *n, struct cf_machine *m)
{
    const char *names[CF_MAX_LEVELS + 1];

    if (n->kind != NODE_MAP)
        return cfm_fail(to, n->line, "'latency' is %s: give {LEVEL: cycles, memory: cycles}",
                        cfm_node_names[n->kind]);
    for (uint32_t i = 0; i < m->levels; i++)
        names[i] = m->level[i].name;
    names[m->levels] = "memory";
    for (const struct node *k = n->child; k; k = k->next->next) {
        uint32_t which = (uint32_t)cfm_key_index(k, names, m->levels + 1), cycles;

        if (which > m->levels)
            return cfm_unknown_key(to, k, "latency", names, m->levels + 1);
        if (k->next->kind == NODE_MAP) {
            if (read_operations(to, k, m, which, table_of(m, which)) < 0)
                return -1;
            continue;
        }
        if (cfm_get_u32(to, k, 0, CF_MAX_LATENCY, &cycles) < 0)
            return -1;
        state_all(table_of(m, which), cycles);
    }
    return 0;
}

static void write_operations(FILE *out, const struct cf_latency *l)
{
    const char *before = "{";

    for (unsigned op = CF_LOAD; op < OPS; op++)
        for (unsigned previous = 0; previous < OPS; previous++) {
            if (!(l->stated & bit(op, previous)))
                continue;
            fprintf(out, "%s%s", before, cf_op_name(op));
            if (previous)
                fprintf(out, "_after_%s", cf_op_name(previous));
            fprintf(out, ": %" PRIu32, l->cycles[op][previous]);
            before = ", ";
        }
    putc('}', out);
}

void cfm_write_latency(FILE *out, const struct cf_machine *m)
{
    int any = 0;

    for (uint32_t i = 0; i <= m->levels && m->levels <= CF_MAX_LEVELS; i++) {
        const struct cf_latency *l = i == m->levels ? &m->memory : &m->level[i].latency;
        int64_t number = one_number(l);

        if (!l->stated)
            continue;
        fputs(!any ? "latency: {" : number >= 0 ? ", " : ",\n          ", out);
        any = 1;
        cfm_write_text(out, i == m->levels ? "memory" : m->level[i].name);
        fputs(": ", out);
        if (number >= 0)
            fprintf(out, "%" PRId64, number);
        else
            write_operations(out, l);
    }
    if (any)
        fputs("}\n", out);
    if (m->latency_rule != CF_LATENCY_TOTAL)
        fprintf(out, "latency_rule: %s\n", cfm_rule_names[CF_LATENCY_ADDED]);
}

/* Index of the level that is named by the first `length` bytes (levels: memory), or -1. */
static int find_level(const struct cf_machine *m, const char *text, size_t length)
{
    for (uint32_t i = 0; i <= m->levels; i++) {
        const char *name = i == m->levels ? "memory" : m->level[i].name;

        if (strlen(name) == length && memcmp(name, text, length) == 0)
            return (int)i;
    }
    return -1;
}

static int no_level(const struct cf_machine *m, const char *text, size_t length, char *problem,
                    size_t size)
{
    const char *names[CF_MAX_LEVELS + 1];
    char list[CF_MAX_LEVELS * 40];

    for (uint32_t i = 0; i < m->levels; i++)
        names[i] = m->level[i].name;
    names[m->levels] = "memory";
    snprintf(problem, size, "no level '%.*s': give one of %s", (int)(length < 100 ? length : 100),
             text, cfm_name_list(list, sizeof list, names, m->levels + 1));
    return -1;
}

int cf_machine_set_latency(struct cf_machine *m, const char *what, uint32_t cycles, char *problem,
                           size_t size)
{
    int level = find_level(m, what, strlen(what));
    const char *dot = strrchr(what, '.');
    struct cf_latency *l;
    unsigned op, previous;

    if (cycles > CF_MAX_LATENCY) {
        snprintf(problem, size, "%" PRIu32 " cycles are out of range: give 0 to %d", cycles,
                 CF_MAX_LATENCY);
        return -1;
    }
    if (level >= 0) {
        state_all(table_of(m, (uint32_t)level), cycles);
        return 0;
    }
    if (!dot)
        return no_level(m, what, strlen(what), problem, size);
    level = find_level(m, what, (size_t)(dot - what));
    if (level < 0)
        return no_level(m, what, (size_t)(dot - what), problem, size);
    if (parse_key(dot + 1, &op, &previous) < 0) {
        snprintf(problem, size, "no operation '%.100s': known are %s", dot + 1, known_keys);
        return -1;
    }
    l = table_of(m, (uint32_t)level);
    if (!kind_serves(kind_of(m, (uint32_t)level), op) ||
        (previous && !kind_serves(kind_of(m, (uint32_t)level), previous))) {
        snprintf(problem, size, "'%.100s' is nothing for %s cache: remove it", dot + 1,
                 kind_of(m, (uint32_t)level) == CF_DATA_CACHE ? "a data" : "an instruction");
        return -1;
    }
    state(l, op, previous, cycles);
    return 0;
}
