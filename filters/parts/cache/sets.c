/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sets.c - some sets of all caches alone: as N parts that are independent, each of which reads the
 * whole recording and models one N-th of the sets.
 *
 * Lines are dealt out by the lowest bits of the number of the longest line that holds them. Where
 * each level's sets are a multiple of N such lines, all lines of a set are of one part, at each
 * level; so are a line and those that any level moves, evicts or invalidates because of it. What a
 * set holds depends on its own lines alone, but where a policy draws numbers for all sets together,
 * or a prefetcher asks for other lines. Set sampling is as old as the simulation of caches (Puzak,
 * "Analysis of Cache Replacement-Algorithms", 1985); here the samples are all of them.
 */
#include <stdlib.h>

#include "filters/parts/cache/cache_parts.h"

enum { ROWS = CF_HIERARCHY_REFS };

struct set_part {
    unsigned shift;      /* of the longest line */
    uint64_t mask, mine; /* bits of its number, and which they are in this part */
    uint32_t rows;       /* kept and not yet run */
    uint64_t addr[ROWS];
    uint8_t op[ROWS];
    uint32_t size[ROWS];
    uint8_t hit[ROWS]; /* of no interest */
};

/* Of the longest line, by which lines are dealt out. */
static unsigned longest(const struct cf_machine *m)
{
    unsigned shift = 0;

    for (unsigned i = 0; i < m->levels; i++)
        if (m->level[i].line >> shift > 1)
            shift = (unsigned)__builtin_ctz(m->level[i].line);
    return shift ? shift : 6;
}

/* Which level does not allow so many parts, with *why; m->levels where all do. */
static unsigned refuses(const struct cf_machine *m, uint32_t parts, const char **why)
{
    const unsigned shift = longest(m);

    for (unsigned i = 0; i < m->levels; i++) {
        const struct cf_level *l = &m->level[i];
        const uint64_t lines = (uint64_t)parts << shift >> (unsigned)__builtin_ctz(l->line);

        *why = l->sets % lines                                  ? "has fewer sets"
               : cf_policy_traits(l->policy) & CF_POLICY_RANDOM ? "draws numbers for all sets"
                                                                : NULL;
        if (*why && parts > 1)
            return i;
    }
    return m->levels;
}

uint32_t set_parts_most(const struct options *o, const struct cf_machine *m, uint32_t most)
{
    const char *why;
    uint32_t parts = 1;

    if (options_for_frames(o) || o->prefetches)
        return 1;
    while (2 * parts <= most && refuses(m, 2 * parts, &why) == m->levels)
        parts *= 2;
    return parts;
}

struct set_part *set_part_new(const struct cf_tool *t, const struct options *o,
                              const struct cf_machine *m)
{
    const char *frames = options_for_frames(o), *why;
    const unsigned level = refuses(m, o->sets.parts, &why);
    struct set_part *s;

    if (o->sets.parts & (o->sets.parts - 1))
        cf_die(t, CF_EXIT_USAGE, "--set-part: %u parts: give a power of two", o->sets.parts);
    if (frames)
        cf_die(t, CF_EXIT_USAGE,
               "--set-part does not go with %s: on frames all accesses together decide", frames);
    if (o->prefetches)
        cf_die(t, CF_EXIT_USAGE,
               "--set-part does not go with --prefetch: prefetchers ask for lines of other sets");
    if (level < m->levels)
        cf_die(t, CF_EXIT_USAGE, "--set-part: %u parts: %s %s: give at most %u", o->sets.parts,
               m->level[level].name, why, set_parts_most(o, m, o->sets.parts));
    s = cf_need(t, calloc(1, sizeof *s));
    s->shift = longest(m);
    s->mask = o->sets.parts - 1;
    s->mine = o->sets.number - 1;
    return s;
}

void set_part_free(struct set_part *s)
{
    free(s);
}

static int run_kept(struct set_part *s, struct cf_hierarchy *h, const uint8_t *op, unsigned core,
                    uint64_t space)
{
    const uint32_t rows = s->rows;

    s->rows = 0;
    return rows ? cf_hierarchy_run(h, s->addr, op ? s->op : NULL, s->size, 0, rows, core, space,
                                   s->hit)
                : 0;
}

/* Of an access of several lines, each that is in this part becomes one. */
static int take_lines(struct set_part *s, struct cf_hierarchy *h, uint64_t from, uint64_t last,
                      const uint8_t *op, unsigned core, uint64_t space)
{
    uint64_t line = from >> s->shift;

    for (line += (s->mine - line) & s->mask; line <= last >> s->shift; line += s->mask + 1) {
        const uint64_t begin = line << s->shift, end = begin | ((UINT64_C(1) << s->shift) - 1);
        const uint64_t at = begin > from ? begin : from;

        s->addr[s->rows] = at;
        s->size[s->rows] = (uint32_t)((end < last ? end : last) - at) + 1;
        s->op[s->rows] = op ? *op : CF_LOAD;
        if (++s->rows == ROWS && run_kept(s, h, op, core, space) != 0)
            return -1;
    }
    return 0;
}

int set_part_run(struct set_part *s, struct cf_hierarchy *h, const uint64_t *addr,
                 const uint8_t *op, const uint32_t *size, uint32_t from, uint32_t to, unsigned core,
                 uint64_t space)
{
    for (uint32_t i = from; i < to; i++) {
        const uint64_t more = size && size[i] ? size[i] - 1 : 0;
        const uint64_t last = addr[i] > UINT64_MAX - more ? UINT64_MAX : addr[i] + more;
        const uint64_t line = addr[i] >> s->shift;

        if (__builtin_expect(line == last >> s->shift, 1)) {
            /* written anyhow: which part a line is in cannot be foretold */
            s->addr[s->rows] = addr[i];
            s->size[s->rows] = (uint32_t)more + 1;
            s->op[s->rows] = op ? op[i] : CF_LOAD;
            s->rows += (line & s->mask) == s->mine;
            if (s->rows == ROWS && run_kept(s, h, op, core, space) != 0)
                return -1;
        } else if (take_lines(s, h, addr[i], last, op ? op + i : NULL, core, space) != 0) {
            return -1;
        }
    }
    return run_kept(s, h, op, core, space);
}
