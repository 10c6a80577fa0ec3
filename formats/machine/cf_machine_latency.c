/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The latency table of a machine description: by level, by operation, and by the operation before
 * at the same level. Reads it, and states one latency as an option does.
 */
#include <inttypes.h>
#include <stdio.h>
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
    for (unsigned op = CF_LOAD; op <= CF_IFETCH; op++) {
        for (unsigned previous = CF_LOAD; previous < OPS; previous++)
            l->stated &= ~bit(op, previous);
        state(l, op, 0, cycles);
    }
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

static const char known_keys[] = "load, store, ifetch, prefetch, flush, and each of them after"
                                 " another, as in store_after_load";

const char *cf_machine_level_name(const struct cf_machine *m, uint32_t level)
{
    return level == m->levels ? "memory" : m->level[level].name;
}

const struct cf_latency *cf_machine_latency(const struct cf_machine *m, uint32_t level)
{
    return level == m->levels ? &m->memory : &m->level[level].latency;
}

static struct cf_latency *table_of(struct cf_machine *m, uint32_t level)
{
    return (struct cf_latency *)cf_machine_latency(m, level);
}

/* Names of the levels and of memory, which is level m->levels; returns how many. */
static uint32_t level_names(const struct cf_machine *m, const char *names[CF_MAX_LEVELS + 1])
{
    for (uint32_t i = 0; i <= m->levels; i++)
        names[i] = cf_machine_level_name(m, i);
    return m->levels + 1;
}

/* What kind of cache a level is that an operation, or the one before it, does not come to; NULL
   where both do. */
static const char *misfit(const struct cf_machine *m, uint32_t level, unsigned op,
                          unsigned previous)
{
    const enum cf_kind kind = level == m->levels ? CF_UNIFIED : m->level[level].kind;
    const int fetches = kind == CF_INSTRUCTION_CACHE;

    if (kind == CF_UNIFIED ||
        ((op == CF_IFETCH) == fetches && (!previous || (previous == CF_IFETCH) == fetches)))
        return NULL;
    return fetches ? "an instruction" : "a data";
}

/* {load: 21, store: 12, store_after_store: 9} */
static int read_operations(const struct report *to, const struct cf_yaml *key,
                           const struct cf_machine *m, uint32_t level, struct cf_latency *l)
{
    const struct cf_yaml *first = key->next->child;

    if (!first)
        return cfm_fail(to, key->line, "latency of %s is empty: give it cycles, or leave it out",
                        key->text);
    for (const struct cf_yaml *k = first; k; k = k->next->next) {
        unsigned op, previous;
        const char *kind;
        uint32_t cycles;

        if (parse_key(k->text, &op, &previous) < 0)
            return cfm_fail(to, k->line, "unknown key '%s' in latency of %s: known are %s", k->text,
                            key->text, known_keys);
        kind = misfit(m, level, op, previous);
        if (kind)
            return cfm_fail(to, k->line, "'%s' in latency of %s, which is %s cache: remove it",
                            k->text, key->text, kind);
        if (cfm_get_u32(to, k, 0, CF_MAX_LATENCY, &cycles) < 0)
            return -1;
        state(l, op, previous, cycles);
    }
    for (const struct cf_yaml *k = first; k; k = k->next->next) {
        unsigned op, previous;

        if (parse_key(k->text, &op, &previous) == 0 && !(l->stated & bit(op, 0)))
            return cfm_fail(to, k->line,
                            "'%s' in latency of %s without '%s', which is what holds after"
                            " anything else: add it",
                            k->text, key->text, cf_op_name(op));
    }
    return 0;
}

int cfm_read_latency(const struct report *to, const struct cf_yaml *n, struct cf_machine *m)
{
    const char *names[CF_MAX_LEVELS + 1];
    const uint32_t count = level_names(m, names);

    if (n->kind != CF_YAML_MAP)
        return cfm_fail(to, n->line, "'latency' is %s: give {LEVEL: cycles, memory: cycles}",
                        cf_yaml_kinds[n->kind]);
    for (const struct cf_yaml *k = n->child; k; k = k->next->next) {
        uint32_t which = (uint32_t)cfm_key_index(k->text, names, count), cycles;

        if (which == count)
            return cfm_unknown_key(to, k, "latency", names, count);
        if (k->next->kind == CF_YAML_MAP) {
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

/* Index of the level that is named by the first `length` bytes, or -1 with a message. */
static int find_level(const struct cf_machine *m, const char *text, size_t length, char *problem,
                      size_t size)
{
    const char *names[CF_MAX_LEVELS + 1];
    const uint32_t count = level_names(m, names);
    char list[CF_MAX_LEVELS * 40];

    for (uint32_t i = 0; i < count; i++)
        if (strlen(names[i]) == length && memcmp(names[i], text, length) == 0)
            return (int)i;
    snprintf(problem, size, "no level '%.*s': give one of %s", (int)(length < 100 ? length : 100),
             text, cfm_name_list(list, sizeof list, names, count));
    return -1;
}

int cf_machine_set_latency(struct cf_machine *m, const char *what, uint32_t cycles, char *problem,
                           size_t size)
{
    int level = find_level(m, what, strlen(what), problem, size);
    const char *dot = strrchr(what, '.'), *kind;
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
    if (dot)
        level = find_level(m, what, (size_t)(dot - what), problem, size);
    if (level < 0)
        return -1;
    if (parse_key(dot + 1, &op, &previous) < 0) {
        snprintf(problem, size, "no operation '%.100s': known are %s", dot + 1, known_keys);
        return -1;
    }
    kind = misfit(m, (uint32_t)level, op, previous);
    if (kind) {
        snprintf(problem, size, "'%.100s' is nothing for %s cache: remove it", dot + 1, kind);
        return -1;
    }
    state(table_of(m, (uint32_t)level), op, previous, cycles);
    return 0;
}
