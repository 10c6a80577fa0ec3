/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lines.c - what caches hold, and how other cores take it: "The model" in cf-cache(1), inclusive
 * and coherence.
 */
#include "tests/reference/model.h"

/* Processes are told apart: the number of each, in the order of appearance, is XORed with the
   line's, its bits reversed from bit 62 down, counted in the machine's shortest lines. That chooses
   other sets only where their number is no power of two. */
unsigned set_of(const struct model *m, int level, struct place p)
{
    unsigned shortest = UINT32_MAX;
    uint64_t key = 0;

    for (unsigned i = 0; i < m->machine.levels; i++)
        if (m->machine.level[i].line < shortest)
            shortest = m->machine.level[i].line;
    for (unsigned bit = 0; bit < 32; bit++)
        if (p.process >> bit & 1)
            key |= UINT64_C(1) << (62 - bit);
    key /= m->machine.level[level].line / shortest;
    return (unsigned)(((p.byte / m->machine.level[level].line) ^ key) %
                      m->machine.level[level].sets);
}

struct way *find(struct model *m, int level, unsigned cache, struct place p)
{
    const struct level *l = &m->machine.level[level];
    struct way *set = m->cache[level][cache].way + (size_t)set_of(m, level, p) * l->ways;

    for (unsigned w = 0; w < l->ways; w++)
        if (set[w].valid && set[w].process == p.process && set[w].number == p.byte / l->line)
            return &set[w];
    return NULL;
}

unsigned here(const struct model *m, int level)
{
    return cache_of(&m->machine, level, m->core);
}

struct way *find_here(struct model *m, int level, struct place p)
{
    return find(m, level, here(m, level), p);
}

void count(struct model *m, int level, enum count what)
{
    m->counts[level == MEMORY ? m->machine.levels : (unsigned)level][what]++;
}

void tell(struct model *m, int level, unsigned cache, struct place p, enum how how, int missed)
{
    const struct reference r = {
        level, cache, p.process, p.byte / m->machine.level[level].line, m->row_first, m->row_last,
        m->op, how,   missed};

    if (m->listener)
        m->listener(m->listener_arg, &r);
}

void touch(struct model *m, int level, struct way *w)
{
    policy_touched(m, level, here(m, level), w, 0);
}

/* Takes the lines that hold one of `bytes` bytes from `p` on out of a cache, or makes them clean.
   Returns whether one was dirty. */
int take(struct model *m, int level, unsigned cache, struct place p, unsigned bytes, int clean_only,
         enum count what)
{
    const unsigned line = m->machine.level[level].line;
    int dirty = 0;

    for (unsigned at = 0; at < bytes; at += line) {
        struct way *w = find(m, level, cache, (struct place){p.process, p.byte + at});

        if (!w)
            continue;
        if (w->dirty)
            count(m, level, WRITEBACKS);
        dirty |= w->dirty;
        w->dirty = 0;
        if (clean_only)
            continue;
        w->valid = 0;
        count(m, level, what);
    }
    return dirty;
}

/* inclusive: what such a level loses, the levels before it lose too. */
int take_before(struct model *m, int level, unsigned cache, struct place p)
{
    const unsigned line = m->machine.level[level].line;
    int dirty = 0;

    p.byte = p.byte / line * line;
    for (int i = 0; i < level; i++)
        for (unsigned c = 0; is_before(&m->machine, i, level) && c < caches_of(&m->machine, i); c++)
            if (same_core(&m->machine, i, c, level, cache))
                dirty |= take(m, i, c, p, line, 0, BACK_INVALIDATIONS);
    return dirty;
}

/* ---- cf-cache(1), The model: coherence ---- */

/* Is it one of the data caches that others have on their way to cache `next` of our core, as far
   from it as `level` is on ours? */
static int is_other(const struct model *m, int i, unsigned c, int level, int next)
{
    if (m->machine.level[i].kind == INSTRUCTION ||
        (i != level && !is_before(&m->machine, i, level)) ||
        same_core(&m->machine, i, c, level, here(m, level)))
        return 0;
    return next == MEMORY || same_core(&m->machine, i, c, next, here(m, next));
}

static int others_hold_dirty(struct model *m, int level, int next, struct place p)
{
    const unsigned bytes = m->machine.level[level].line;

    for (int i = 0; i <= level; i++)
        for (unsigned c = 0; c < caches_of(&m->machine, i); c++)
            for (unsigned at = 0; is_other(m, i, c, level, next) && at < bytes;
                 at += m->machine.level[i].line) {
                struct way *w = find(m, i, c, (struct place){p.process, p.byte + at});

                if (w && w->dirty)
                    return 1;
            }
    return 0;
}

/* Is the line dirty in a cache that our core does not use? */
int dirty_elsewhere(struct model *m, struct place p)
{
    for (int i = 0; i < (int)m->machine.levels; i++)
        for (unsigned c = 0; c < caches_of(&m->machine, i); c++) {
            const struct way *w = find(m, i, c, p);

            if (m->machine.level[i].kind != INSTRUCTION && w && w->dirty && c != here(m, i))
                return 1;
        }
    return 0;
}

/* What leaves `level` on its way outwards asks the other caches that meet it at the next level: a
   store takes the line from them, a load makes it clean there, and what was dirty is written to
   that next level. A dirty line of an exclusive level has no copies before it: a load that gets one
   there takes it from the others like a store. Instruction caches take no part: neither are they
   asked, nor do they ask. */
void snoop(struct model *m, int level, struct place p, int own)
{
    const unsigned line = m->machine.level[level].line;
    const int next = behind(&m->machine, level, 0);
    int dirty = 0;

    if (m->machine.level[level].kind == INSTRUCTION)
        return;
    p.byte = p.byte / line * line;
    if (is_exclusive(&m->machine, next)) {
        const struct way *w = find_here(m, next, p);

        own |= (w && w->dirty) || others_hold_dirty(m, level, next, p);
    }
    for (int i = 0; i <= level; i++)
        for (unsigned c = 0; c < caches_of(&m->machine, i); c++) {
            const unsigned bytes = m->machine.level[i].line; /* at most `line` */

            for (unsigned at = 0; is_other(m, i, c, level, next) && at < line; at += bytes) {
                const struct place q = {p.process, p.byte + at};
                const int held = find(m, i, c, q) != NULL;

                dirty |= take(m, i, c, q, bytes, !own, INVALIDATIONS);
                if (own && held && m->machine.level[i].inclusion == INCLUSIVE)
                    dirty |= take_before(m, i, c, q);
            }
        }
    if (dirty)
        write_line(m, next, p, line);
}

/* A store to a line that our core holds: all other copies go. */
void take_all(struct model *m, int level, struct place p)
{
    for (int i = level; i != MEMORY && m->machine.level[i].kind != INSTRUCTION;
         i = behind(&m->machine, i, 0))
        snoop(m, i, p, 1);
}
