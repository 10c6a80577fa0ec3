/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cacheperf_patterns.c - conflict or capacity, by the accesses of each instruction (see
 * cacheperf.h).
 *
 * A run of fine samples is a conflict when enough of them fall on one set, each on another line
 * than the thread's last one there: an array that is walked through stays in a line, and hence in a
 * set, for some accesses, and conflicts with nothing.
 */
#include <stdlib.h>

#include "filters/engine/classes/cacheperf_parts.h"

/* Does access i of the run go to another line of its set than the one before it there, or is it
   the first and one of them does? Of its thread alone, or of all threads. */
static int counts(const struct cfp_access *run, unsigned length, unsigned i, int all)
{
    unsigned other = i;

    while (other > 0)
        if (run[--other].set == run[i].set && (all || run[other].thread == run[i].thread))
            return run[other].line != run[i].line;
    for (other = i + 1; other < length; other++)
        if (run[other].set == run[i].set && (all || run[other].thread == run[i].thread) &&
            run[other].line != run[i].line)
            return 1;
    return 0;
}

/* How many of those in `which` are on the set. */
static unsigned on_set(const struct cfp_access *run, unsigned length, const uint8_t *which,
                       uint32_t set)
{
    unsigned hits = 0;

    for (unsigned i = 0; i < length; i++)
        hits += run[i].set == set && which[i];
    return hits;
}

/* Whether access i goes to another object than one before it of its set and thread. */
static int is_mixed(const struct cf_cacheperf *c, const struct cfp_access *run, unsigned i)
{
    for (unsigned k = 0; k < i; k++)
        if (run[k].set == run[i].set && (run[k].thread == run[i].thread || c->c.literal) &&
            run[k].object && run[i].object && run[k].object != run[i].object)
            return 1;
    return 0;
}

static int set_is_heavy(const struct cf_cacheperf *c, uint32_t set)
{
    return c->c.patterns_only ||
           cfp_more(c->set[set], c->c.set_misses, c->misses[0] + c->misses[1]);
}

void cfp_end_run(struct cf_cacheperf *c)
{
    const struct cfp_sample of = {.pid = (uint32_t)c->run_pid, .pc = c->run_pc};
    const unsigned length = c->run_length;
    const struct cfp_access *run = c->run;
    struct cfp_code *code = length >= c->c.same_set ? cfp_code_of(c, &of) : NULL;
    uint8_t own[CFP_RUN], all[CFP_RUN];
    int same = 0, mixed = 0, enough = 0, unclear = 0;

    c->run_length = 0;
    if (!code)
        return;
    for (unsigned i = 0; i < length; i++) {
        own[i] = (uint8_t)(c->c.literal || counts(run, length, i, 0));
        all[i] = (uint8_t)(c->c.literal || counts(run, length, i, 1));
    }
    for (unsigned i = 0; i < length; i++) {
        if (on_set(run, length, own, run[i].set) < c->c.same_set) {
            unclear |= on_set(run, length, all, run[i].set) >= c->c.same_set;
            continue;
        }
        enough = 1;
        if (set_is_heavy(c, run[i].set)) {
            same = 1;
            mixed |= is_mixed(c, run, i);
        }
    }
    if (unclear && !enough)
        return; /* each thread had too few, of a conflict or of a line of its own */
    code->runs++;
    code->same += (unsigned)same;
    code->mixed += (unsigned)mixed;
}

int cfp_see_fine(struct cf_cacheperf *c, const struct cfp_sample *s)
{
    if (c->run_length == CFP_RUN || c->run_pc != s->pc || c->run_pid != s->pid)
        cfp_end_run(c);
    c->run_pid = s->pid;
    c->run_pc = s->pc;
    if (s->addr)
        c->run[c->run_length++] =
            (struct cfp_access){s->line, s->tid, cf_sets_index(&c->sets, s->line), s->object};
    return 0;
}

int cfp_see_spot(struct cf_cacheperf *c, const struct cfp_sample *s)
{
    const uint64_t code = cf_counts_get(c->codes, s->pid, s->pc);
    struct cfp_spot *spot;
    uint32_t number, set;

    if (!code || !s->addr || c->c.patterns_only || c->code[code - 1].runs ||
        !c->statement[c->code[code - 1].statement].heavy)
        return 0;
    set = cf_sets_index(&c->sets, s->line);
    if (cfp_number(c->spots, code, set, &c->spot, &c->spot_room, sizeof(*c->spot), &number) != 0)
        return -1;
    spot = &c->spot[number];
    if (!spot->samples++)
        *spot = (struct cfp_spot){
            .code = (uint32_t)(code - 1), .set = set, .samples = 1, .line = s->line};
    spot->lines |= spot->line != s->line;
    spot->objects |= spot->object && s->object && spot->object != s->object;
    spot->object = spot->object ? spot->object : s->object;
    return 0;
}

/* An instruction without runs: where its misses land. */
static void judge_spot(struct cf_cacheperf *c, const struct cfp_spot *spot)
{
    struct cfp_code *code = &c->code[spot->code];

    if (spot->samples < c->c.same_set || spot->samples <= code->samples - spot->samples ||
        !set_is_heavy(c, spot->set) || !(spot->lines || c->c.literal))
        return;
    code->class = spot->objects ? CF_CLASS_ALLOCATOR_CONFLICT : CF_CLASS_CONFLICT;
}

/* An instruction with runs: what most of them show; as printed, what one of them shows. */
static void judge_code(const struct cf_cacheperf *c, struct cfp_code *code)
{
    code->class = c->c.patterns_only && !code->runs ? CF_CLASS_NONE : CF_CLASS_CAPACITY;
    if (code->same && (c->c.literal || code->same >= code->runs - code->same))
        code->class = code->mixed && (c->c.literal || code->mixed >= code->same - code->mixed)
                          ? CF_CLASS_ALLOCATOR_CONFLICT
                          : CF_CLASS_CONFLICT;
}

/* Misses of a statement, by the class of its instructions. */
struct by_class {
    uint64_t capacity, own, others; /* conflicts of the program, and of its allocator */
};

static void add_code(struct by_class *to, const struct cfp_code *code)
{
    if (code->class == CF_CLASS_CAPACITY)
        to->capacity += code->misses;
    else if (code->class == CF_CLASS_CONFLICT)
        to->own += code->misses;
    else if (code->class == CF_CLASS_ALLOCATOR_CONFLICT)
        to->others += code->misses;
}

int cfp_judge_statements(struct cf_cacheperf *c)
{
    const size_t statements = cf_counts_size(c->statements);
    struct by_class *sum = calloc(statements + 1, sizeof(*sum));

    if (!sum)
        return -1;
    for (size_t i = 0; i < cf_counts_size(c->codes); i++)
        judge_code(c, &c->code[i]);
    for (size_t i = 0; i < cf_counts_size(c->spots); i++)
        judge_spot(c, &c->spot[i]);
    for (size_t i = 0; i < cf_counts_size(c->codes); i++)
        add_code(&sum[c->code[i].statement], &c->code[i]);
    for (size_t i = 0; i < statements; i++) {
        struct cfp_statement *s = &c->statement[i];
        const uint64_t own = sum[i].own, others = sum[i].others, capacity = sum[i].capacity;

        if (!s->heavy || !(own + others + capacity) ||
            (s->shared && (c->c.literal || (double)s->shared * CFP_FEW >= (double)s->misses)))
            continue;
        s->class = own + others < capacity   ? CF_CLASS_CAPACITY
                   : others && others >= own ? CF_CLASS_ALLOCATOR_CONFLICT
                                             : CF_CLASS_CONFLICT;
    }
    free(sum);
    return 0;
}
