/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * model.c - the hierarchy of caches that cf-machine(5) and "The model" in cf-cache(1) describe.
 * What is in a cache and how cores take it from one another is in
 * lines.c, how a set chooses the way for a line in policy.c.
 */
#include <stdlib.h>

#include "tests/reference/model.h"

const char *const count_names[COUNTS] = {"loads",
                                         "load_misses",
                                         "stores",
                                         "store_misses",
                                         "ifetches",
                                         "ifetch_misses",
                                         "prefetches",
                                         "prefetch_misses",
                                         "writes",
                                         "write_misses",
                                         "writebacks",
                                         "evictions",
                                         "invalidations",
                                         "back_invalidations",
                                         "flushes",
                                         "prefetches_issued",
                                         "prefetches_useful"};
/* ---- lines come and go ---- */

static void give(struct model *m, int level, struct place p, int dirty);

/* A line was replaced. */
static void replaced(struct model *m, int level, const struct way *old)
{
    const struct place p = {old->process, old->number * m->machine.level[level].line};
    const int next = behind_writes(&m->machine, level);
    int dirty = old->dirty;

    count(m, level, EVICTIONS);
    if (m->machine.level[level].inclusion == INCLUSIVE)
        dirty |= take_before(m, level, here(m, level), p);
    if (dirty)
        count(m, level, WRITEBACKS);
    if (is_exclusive(&m->machine, next)) {
        /* an instruction cache takes no part in coherence: what it gives back to a level of data
           may be out of date */
        if (m->machine.level[level].kind != INSTRUCTION ||
            m->machine.level[next].kind == INSTRUCTION || !dirty_elsewhere(m, p))
            give(m, next, p, dirty);
    } else if (dirty) {
        write_line(m, next, p, m->machine.level[level].line);
    }
}

/* `brought`: by the level's prefetcher. */
static void bring_in(struct model *m, int level, struct place p, int dirty, int brought)
{
    const struct level *l = &m->machine.level[level];
    struct way *w = policy_choose(m, level, here(m, level), set_of(m, level, p)), old = *w;

    w->valid = 1;
    w->dirty = dirty;
    w->process = p.process;
    w->number = p.byte / l->line;
    w->brought = brought;
    policy_touched(m, level, here(m, level), w, 1);
    if (old.valid)
        replaced(m, level, &old);
}

/* exclusive: what the level before takes in dirty removes an older copy here. */
static void forget_older(struct model *m, int level, struct place p)
{
    struct way *w = is_exclusive(&m->machine, level) ? find_here(m, level, p) : NULL;

    if (w)
        w->valid = 0;
}

/* exclusive: a line comes back to such a level, clean ones too. */
static void give(struct model *m, int level, struct place p, int dirty)
{
    struct way *w = find_here(m, level, p);

    count(m, level, WRITES);
    tell(m, level, here(m, level), p, WRITTEN, !w);
    if (w) {
        w->dirty |= dirty;
        touch(m, level, w);
    } else {
        count(m, level, WRITE_MISSES);
        if (dirty)
            forget_older(m, behind_writes(&m->machine, level), p);
        bring_in(m, level, p, dirty, 0);
    }
}

static unsigned read_line(struct model *m, int level, struct place p, int own, int *dirty);

/* A dirty line of `bytes` bytes leaves a level and comes to this one, which takes it in if stores
   allocate there. What is missing of a longer line is read from behind. */
void write_line(struct model *m, int level, struct place p, unsigned bytes)
{
    const int next = level == MEMORY ? MEMORY : behind_writes(&m->machine, level);
    const struct level *l = &m->machine.level[level == MEMORY ? 0 : level];
    struct way *w;
    int through = l->through;

    if (level == MEMORY) {
        count(m, MEMORY, WRITES);
        return;
    }
    if (is_exclusive(&m->machine, level)) {
        give(m, level, p, 1);
        return;
    }
    w = find_here(m, level, p);
    count(m, level, WRITES);
    tell(m, level, here(m, level), p, WRITTEN, !w);
    if (w) {
        touch(m, level, w);
        w->dirty |= !l->through;
    } else {
        int dirty = !l->through;

        count(m, level, WRITE_MISSES);
        if (l->no_allocate) {
            through = 1;
        } else {
            if (bytes < l->line) {
                const int fetch = m->fetch;

                m->fetch = l->kind == INSTRUCTION;
                read_line(m, next, p, 0, m->fetch ? NULL : &dirty);
                m->fetch = fetch;
            } else {
                forget_older(m, next, p);
            }
            bring_in(m, level, p, dirty, 0);
        }
    }
    if (through) {
        count(m, level, WRITEBACKS);
        write_line(m, next, p, bytes);
    }
}

/* ---- accesses ---- */

static void count_op(struct model *m, int level, int missed)
{
    static const enum count what[OPS] = {
        [LOAD] = LOADS, [STORE] = STORES, [IFETCH] = IFETCHES, [PREFETCH] = PREFETCHES};

    count(m, level, what[m->op] + missed);
}

/* Coherence, for a read that leaves a level; one of instructions that leaves the way of data there
   asks on the rest of that way, too. */
static void ask_others(struct model *m, int level, struct place p, int own)
{
    int data = behind(&m->machine, level, 0);

    snoop(m, level, p, own);
    if (m->machine.level[level].kind == UNIFIED && behind(&m->machine, level, m->fetch) != data)
        for (; data != MEMORY; data = behind(&m->machine, data, 0))
            snoop(m, data, p, own);
}

/* A read that comes from the core, or from the level before that missed; `own`: for a store. *dirty
   is set when it gets a dirty line from an exclusive level; NULL where the reader is an instruction
   cache, which holds none. */
static unsigned read_line(struct model *m, int level, struct place p, int own, int *dirty)
{
    int given = 0;
    struct way *w;
    unsigned served;

    count_op(m, level, 0);
    if (level == MEMORY)
        return FROM_MEMORY;
    w = find_here(m, level, p);
    tell(m, level, here(m, level), p, READ, !w);
    prefetcher_sees(m, level, p, w);
    if (w) {
        if (is_exclusive(&m->machine, level)) {
            const int was = w->dirty;

            w->valid = 0;
            if (dirty) {
                *dirty |= was;
            } else if (was) {
                count(m, level, WRITEBACKS);
                write_line(m, behind_writes(&m->machine, level), p, m->machine.level[level].line);
            }
        } else {
            touch(m, level, w);
        }
        if (own)
            take_all(m, level, p);
        return m->machine.level[level].depth;
    }
    count_op(m, level, 1);
    ask_others(m, level, p, own);
    if (is_exclusive(&m->machine, level))
        return read_line(m, behind(&m->machine, level, m->fetch), p, own, dirty);
    served = read_line(m, behind(&m->machine, level, m->fetch), p, own,
                       m->machine.level[level].kind == INSTRUCTION ? NULL : &given);
    bring_in(m, level, p, given, 0);
    return served;
}

/* A store that comes from the core, or from a level before that writes through or did not keep
   it. */
static unsigned store_line(struct model *m, int level, struct place p)
{
    const struct level *l = &m->machine.level[level == MEMORY ? 0 : level];
    const int next = level == MEMORY ? MEMORY : behind(&m->machine, level, 0);
    struct way *w;
    unsigned served;
    int given = 0;

    if (level == MEMORY) {
        count(m, MEMORY, WRITES);
        return FROM_MEMORY;
    }
    count_op(m, level, 0);
    w = find_here(m, level, p);
    tell(m, level, here(m, level), p, STORED, !w);
    prefetcher_sees(m, level, p, w);
    if (w) {
        touch(m, level, w);
        served = l->depth;
        if (!l->through) {
            w->dirty = 1;
            take_all(m, level, p);
            return served;
        }
    } else {
        count_op(m, level, 1);
        snoop(m, level, p, 1);
        if (l->no_allocate || is_exclusive(&m->machine, level))
            return store_line(m, next, p);
        served = read_line(m, next, p, 1, &given);
        bring_in(m, level, p, given || !l->through, 0);
        if (!l->through)
            return served;
    }
    /* write-through: it also goes on */
    snoop(m, level, p, 1);
    store_line(m, next, p);
    return served;
}

/* The first level that holds one of `bytes` bytes, for some core. */
static unsigned held_at(struct model *m, struct place p, unsigned bytes)
{
    unsigned found = FROM_MEMORY;

    for (int i = 0; i < (int)m->machine.levels; i++)
        for (unsigned c = 0; c < caches_of(&m->machine, i); c++)
            for (unsigned at = 0; at < bytes; at += m->machine.level[i].line)
                if (find(m, i, c, (struct place){p.process, p.byte + at}) &&
                    m->machine.level[i].depth < found)
                    found = m->machine.level[i].depth;
    return found;
}

/* flush: takes the line from all caches of all cores; memory gets it if it was dirty. */
static void flush_line(struct model *m, struct place p, unsigned bytes)
{
    int dirty = 0;

    for (int i = 0; i < (int)m->machine.levels; i++) {
        const struct level *l = &m->machine.level[i];

        for (unsigned c = 0; c < caches_of(&m->machine, i); c++) {
            for (unsigned at = 0; at < bytes; at += l->line) {
                const struct place part = {p.process, p.byte + at};
                const int held = find(m, i, c, part) != NULL;

                tell(m, i, c, part, FLUSHED, 0);
                dirty |= take(m, i, c, part, 1, 0, FLUSHES);
                if (held && l->inclusion == INCLUSIVE)
                    dirty |= take_before(m, i, c, part);
            }
        }
    }
    if (dirty)
        count(m, MEMORY, WRITES);
}

/* After the line access that made the prefetchers act. */
static void prefetch(struct model *m)
{
    m->op = PREFETCH;
    for (unsigned i = 0; i < m->wanted_count; i++) {
        const int level = m->wanted[i].level;
        const struct place p = m->wanted[i].place;
        int dirty = 0;

        if (find_here(m, level, p))
            continue;
        m->hardware = 1;
        m->fetch = m->wanted[i].fetch;
        count(m, level, PREFETCHES_ISSUED);
        ask_others(m, level, p, 0);
        read_line(m, behind(&m->machine, level, m->fetch), p, 0,
                  m->machine.level[level].kind == INSTRUCTION ? NULL : &dirty);
        bring_in(m, level, p, dirty, 1);
    }
    m->hardware = 0;
    m->wanted_count = 0;
}

/* Bytes of the lines that an access of a kind is cut into: those of its first level; where there is
   none, those of the other kind. */
static unsigned unit_of(const struct machine *m, int fetch)
{
    int level = first_level(m, fetch);

    if (level == MEMORY)
        level = first_level(m, !fetch);
    return m->level[level].line;
}

unsigned model_row(struct model *m, const struct row *r, unsigned core, uint32_t process)
{
    const enum op op = r->op >= LOAD && r->op <= FLUSH ? (enum op)r->op : LOAD;
    const uint64_t bytes = r->size ? r->size : 1;
    const unsigned unit = unit_of(&m->machine, op == IFETCH);
    const int first = first_level(&m->machine, op == IFETCH);
    unsigned slowest = 0;

    m->core = core;
    m->row_first = r->addr;
    m->row_last = r->addr + bytes - 1 < r->addr ? UINT64_MAX : r->addr + bytes - 1;
    /* what a flush finds is what was there before it, which may take a line along with another */
    for (uint64_t n = m->row_first / unit; op == FLUSH && n <= m->row_last / unit; n++) {
        const unsigned held = held_at(m, (struct place){process, n * unit}, unit);

        slowest = held > slowest ? held : slowest;
    }
    for (uint64_t n = m->row_first / unit; n <= m->row_last / unit; n++) {
        const struct place p = {process, n * unit};
        unsigned served = 0;
        int ignored = 0;

        m->op = op;
        m->fetch = op == IFETCH;
        if (op == FLUSH)
            flush_line(m, p, unit);
        else if (op == STORE)
            served = store_line(m, first, p);
        else
            served = read_line(m, first, p, 0, &ignored);
        if (served > slowest)
            slowest = served;
        prefetch(m);
    }
    return slowest;
}

/* ---- its making ---- */

struct model *model_new(const struct machine *m, listener *f, void *arg)
{
    struct model *n = calloc(1, sizeof(*n));

    if (!n)
        abort();
    n->machine = *m;
    n->listener = f;
    n->listener_arg = arg;
    for (unsigned i = 0; i < m->levels; i++)
        for (unsigned c = 0; c < caches_of(m, (int)i); c++)
            policy_new(n, (int)i, c);
    return n;
}

void model_free(struct model *m)
{
    for (unsigned i = 0; m && i < m->machine.levels; i++)
        for (unsigned c = 0; c < caches_of(&m->machine, (int)i); c++) {
            free(m->cache[i][c].way);
            free(m->cache[i][c].upper_older);
        }
    free(m);
}

const uint64_t *model_counts(const struct model *m, unsigned level)
{
    return m->counts[level];
}
