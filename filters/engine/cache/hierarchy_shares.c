/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hierarchy_shares.c - rows to references for each share of the sets, and a share through its model
 * (see hierarchy_shares.h).
 *
 * Rows become runs (runs.h) before these are dealt out, since two thirds of the references go away
 * there: what is dropped hits, whichever share it is of.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "filters/engine/cache/hierarchy_parts.h"
#include "filters/engine/cache/hierarchy_shares_parts.h"
#include "formats/base/cf_memory.h"
#include "formats/stream/cf.h"

/* so few rows are not worth a batch of runs */
enum { FEW_ROWS = 32 };

/* At most BATCH references of each list. In order: both kinds are in the first list. */
struct cf_share_stretch {
    uint32_t count[KINDS];
    uint16_t core;
    uint8_t in_order, flushes;
};

struct cf_share_maker {
    unsigned cores;
    struct dealing d;
    cfh_deal_code *deal;
    struct cf_runs *runs;
    struct apart *apart; /* or NULL */
    uint64_t arrived[CLASSES];
    struct cf_share_list *all;            /* of the call, or NULL */
    size_t before[CF_MOST_SHARES][KINDS]; /* what lists had before a batch */
};

/* ---- which lines can never meet ---- */

/* The bits of an address that are part of the number of a set in all levels: from the lowest up to
   *end. Of a number of sets that is no power of two, those that divide it. */
static unsigned common_bits(const struct cf_hierarchy *h, unsigned *end)
{
    unsigned low = 0;

    *end = 64;
    for (unsigned i = 0; i < h->levels; i++) {
        const struct tier *t = &h->tier[i];
        const unsigned top = t->shift + (unsigned)__builtin_ctz(t->spec.sets);

        low = t->shift > low ? t->shift : low;
        *end = top < *end ? top : *end;
    }
    return low;
}

unsigned cf_hierarchy_shares(const struct cf_hierarchy *h, const char **why, int *level)
{
    unsigned end, low = common_bits(h, &end);

    *why = "a machine without caches has no sets to share";
    *level = -1;
    if (!h->levels)
        return 1;
    for (unsigned i = 0; i < h->levels; i++) {
        *level = (int)i;
        *why = "has a prefetcher, which looks at the lines of many sets";
        if (h->tier[i].prefetcher)
            return 1;
        *why = "replaces at random, by numbers that all its sets draw in one order";
        if (cf_policy_traits(h->tier[i].spec.policy) & CF_POLICY_RANDOM)
            return 1;
    }
    *level = -1;
    *why = "the first levels have lines of different sizes";
    if (h->two_runs)
        return 1;
    *why = "no bit of an address is part of the number of a set in all levels";
    if (low >= end)
        return 1;
    *why = NULL;
    return end - low < 8 ? 1u << (end - low) : CF_MOST_SHARES;
}

struct cf_share_maker *cf_share_maker_new(const struct cf_hierarchy *h, unsigned shares)
{
    struct cf_share_maker *m = calloc(1, sizeof(*m));
    const char *why;
    unsigned end;
    int level;

    if (!m)
        return NULL;
    m->cores = h->cores;
    m->d.shares = shares;
    m->d.groups = cf_hierarchy_shares(h, &why, &level);
    m->d.shift = common_bits(h, &end) - h->runs[0]->shift;
    for (unsigned i = 0; i < m->d.groups; i++)
        m->d.of_group[i] = (uint8_t)(i % shares);
    m->deal = CF_SIMD_CHOICE(cfh_deal);
    m->d.drops = !(h->runs[0]->options & CF_RUNS_STORES);
    for (unsigned kind = 0; kind < KINDS; kind++)
        if (h->first[kind] != MEMORY)
            m->d.drops &=
                !(cf_policy_traits(h->tier[h->first[kind]].spec.policy) & CF_POLICY_REPEATS);
    m->runs = cf_runs_new(h->runs[0]->shift, h->runs[0]->options, BATCH);
    m->apart = h->apart ? cfh_apart_new(h->runs[0]) : NULL;
    if (m->runs && (m->apart || !h->apart))
        return m;
    cf_share_maker_free(m);
    return NULL;
}

void cf_share_maker_free(struct cf_share_maker *m)
{
    if (!m)
        return;
    cf_runs_free(m->runs);
    cfh_apart_free(m->apart);
    free(m);
}

/* ---- lists ---- */

void cf_share_refs_clear(struct cf_share_refs *refs)
{
    refs->list[0].count = refs->list[1].count = refs->count = 0;
}

void cf_share_list_free(struct cf_share_list *l)
{
    free(l->line);
    free(l->row);
    free(l->flags);
}

void cf_share_refs_free(struct cf_share_refs *refs)
{
    for (unsigned kind = 0; kind < KINDS; kind++)
        cf_share_list_free(&refs->list[kind]);
    free(refs->stretch);
}

/* And some elements more, which are written to: see cfh_merge_kinds(), cfh_deal(). */
static int make_room(struct cf_share_list *l, size_t count)
{
    size_t lines, rows, flags;

    if (count + DEAL_AHEAD <= l->room)
        return 0;
    lines = rows = flags = l->room;
    if (count > CF_MOST_REFS) {
        errno = E2BIG;
        return -1;
    }
    if (cf_array_room(&l->line, &lines, count + DEAL_AHEAD, sizeof(*l->line)) != 0 ||
        cf_array_room(&l->row, &rows, count + DEAL_AHEAD, sizeof(*l->row)) != 0 ||
        cf_array_room(&l->flags, &flags, count + DEAL_AHEAD, sizeof(*l->flags)) != 0)
        return -1;
    l->room = lines;
    return 0;
}

/* Whether references are of the same core and kept in the same way as those before them. */
static int goes_on(const struct cf_share_refs *refs, unsigned core, int in_order, int flushes)
{
    const struct cf_share_stretch *last = refs->count ? refs->stretch + refs->count - 1 : NULL;

    return last && last->core == core && last->in_order == in_order && last->flushes == flushes;
}

/* Counts references that were appended to the lists of a share. */
static int note(struct cf_share_refs *refs, const uint32_t *count, unsigned core, int in_order,
                int flushes)
{
    struct cf_share_stretch *last = refs->count ? refs->stretch + refs->count - 1 : NULL;

    if (!goes_on(refs, core, in_order, flushes) || last->count[0] + count[0] > BATCH ||
        last->count[1] + count[1] > BATCH) {
        if (cf_array_room(&refs->stretch, &refs->room, refs->count + 1, sizeof(*refs->stretch)) !=
            0)
            return -1;
        last = refs->stretch + refs->count++;
        *last = (struct cf_share_stretch){
            .core = (uint16_t)core, .in_order = (uint8_t)in_order, .flushes = (uint8_t)flushes};
    }
    last->count[0] += count[0];
    last->count[1] += count[1];
    return 0;
}

/* Appends runs in their order to m->all, and by their numbers there to the lists; apart: those of
   fetches to other lists than those of data. */
static int deal_numbered(struct cf_share_maker *m, const struct cf_runs *r, uint32_t first,
                         int apart)
{
    struct cf_share_list *const all = m->all;

    const size_t number = all->count;

    if (make_room(all, number + r->count) != 0)
        return -1;
    memcpy(all->line + number, r->line, r->count * sizeof(*r->line));
    memcpy(all->flags + number, r->flags, r->count);
    for (uint32_t i = 0; i < r->count; i++)
        all->row[number + i] = r->row[i] + first;
    all->count += r->count;
    if (!apart) {
        m->deal(r, (uint32_t)number, 1, KIND_DATA, &m->d);
        return 0;
    }
    for (uint32_t i = 0; i < r->count; i++) {
        const unsigned kind = r->flags[i] & CF_RUN_FETCH ? KIND_FETCH : KIND_DATA;
        struct cf_share_list *l = &m->d.refs[cfh_share_of(&m->d, r->line[i])].list[kind];
        const size_t n = l->count++;

        l->line[n] = r->line[i];
        l->row[n] = (uint32_t)number + i;
        l->flags[n] = r->flags[i];
    }
    return 0;
}

/* Appends a batch of runs of both kinds, or, where `fetches` is NULL, in their order. */
static int append(struct cf_share_maker *m, const struct cf_runs *data,
                  const struct cf_runs *fetches, uint32_t first, unsigned core, int flushes)
{
    for (unsigned s = 0; s < m->d.shares; s++)
        for (unsigned kind = 0; kind < KINDS; kind++) {
            struct cf_share_list *l = &m->d.refs[s].list[kind];
            const struct cf_runs *r = kind ? fetches : data;

            m->before[s][kind] = l->count;
            m->d.begin[s][kind] = goes_on(&m->d.refs[s], core, !fetches, flushes) ? 0 : l->count;
            if (make_room(l, l->count + (r ? r->count : 0)) != 0)
                return -1;
        }
    if (m->all && fetches)
        cfh_merge_kinds(data, fetches, m->apart->both);
    if (m->all && deal_numbered(m, fetches ? m->apart->both : data, first, fetches != NULL) != 0)
        return -1;
    if (!m->all)
        m->deal(data, first, 0, KIND_DATA, &m->d);
    if (!m->all && fetches)
        m->deal(fetches, first, 0, KIND_FETCH, &m->d);
    for (unsigned s = 0; s < m->d.shares; s++) {
        const struct cf_share_list *l = m->d.refs[s].list;
        const uint32_t count[KINDS] = {(uint32_t)(l[0].count - m->before[s][0]),
                                       (uint32_t)(l[1].count - m->before[s][1])};

        if (count[0] + count[1] && note(&m->d.refs[s], count, core, !fetches, flushes) != 0)
            return -1;
    }
    return 0;
}

/* ---- rows ---- */

/* Appends a reference to a list, or to `all` and by its number there to the list. */
static int put(struct cf_share_list *l, uint64_t line, uint32_t row, uint8_t flags,
               struct cf_share_list *all)
{
    if (all) {
        const uint32_t number = (uint32_t)all->count;

        if (put(all, line, row, flags, NULL) != 0)
            return -1;
        row = number;
    }
    if (make_room(l, l->count + 1) != 0)
        return -1;
    l->line[l->count] = line;
    l->row[l->count] = row;
    l->flags[l->count++] = flags;
    return 0;
}

/* Each line of each row by itself, where that is less work than runs are. */
static int few_rows(struct cf_share_maker *m, const uint64_t *addr, const uint8_t *op,
                    const uint32_t *size, uint32_t from, uint32_t to, unsigned core, uint64_t space,
                    uint32_t first, int flushes)
{
    static const uint8_t flags_of_op[CF_FLUSH + 1] = {
        0, 0, CF_RUN_STORE, CF_RUN_FETCH, CF_RUN_PREFETCH, CF_RUN_FLUSH};
    static const uint32_t one[KINDS] = {1, 0};

    for (uint32_t i = from; i < to; i++) {
        const uint8_t flags = op && op[i] <= CF_FLUSH ? flags_of_op[op[i]] : 0;
        const uint64_t end = addr[i] + (size && size[i] ? size[i] - 1 : 0);
        const uint64_t last = (end < addr[i] ? UINT64_MAX : end) >> m->runs->shift;
        const uint64_t begin = addr[i] >> m->runs->shift;

        for (uint64_t line = begin;; line++) {
            struct cf_share_refs *refs = &m->d.refs[cfh_share_of(&m->d, line ^ space)];
            struct cf_share_list *l = &refs->list[0];

            if (put(l, line ^ space, i + first, (uint8_t)(flags | (line > begin ? CF_RUN_PART : 0)),
                    m->all) != 0 ||
                note(refs, one, core, 1, flushes) != 0)
                return -1;
            if (line > begin && !(flags & CF_RUN_FLUSH))
                m->arrived[class_of_op(op, i)]++;
            if (line == last)
                break;
        }
    }
    return 0;
}

static int in_order(struct cf_share_maker *m, const uint64_t *addr, const uint8_t *op,
                    const uint32_t *size, uint32_t from, uint32_t to, unsigned core, uint64_t space,
                    uint32_t first, int flushes)
{
    while (from < to) {
        from = cf_runs_fill(m->runs, addr, op, size, from, to, space);
        cfh_count_parts(m->runs, op, m->arrived);
        if (append(m, m->runs, NULL, first, core, flushes) != 0)
            return -1;
    }
    return 0;
}

int cf_share_rows(struct cf_share_maker *m, const uint64_t *addr, const uint8_t *op,
                  const uint32_t *size, uint32_t from, uint32_t to, unsigned core, uint64_t space,
                  uint32_t first, struct cf_share_refs *refs, struct cf_share_list *all)
{
    int flushes, status = 0;

    m->d.refs = refs;
    m->all = all;
    core %= m->cores;
    flushes = cfh_count_rows(m->runs, op, from, to, m->arrived) != 0;
    if (to - from < FEW_ROWS)
        return few_rows(m, addr, op, size, from, to, core, space, first, flushes);
    if (!m->apart || !op || flushes)
        return in_order(m, addr, op, size, from, to, core, space, first, flushes);
    for (uint32_t end; from < to && status == 0; from = end) {
        /* see run_apart() in hierarchy_rows.c */
        end = to - from > BATCH / 4 * 3 ? from + BATCH / 4 * 3 : to;
        if (!cfh_take_apart(m->apart, addr, op, size, from, end, space)) {
            status = in_order(m, addr, op, size, from, end, core, space, first, 0);
            continue;
        }
        for (unsigned kind = 0; kind < KINDS; kind++)
            cfh_count_parts(m->apart->runs[kind], op, m->arrived);
        status = append(m, m->apart->runs[KIND_DATA], m->apart->runs[KIND_FETCH], first, core, 0);
    }
    return status;
}

/* ---- a share ---- */

int cf_hierarchy_share(struct cf_hierarchy *h, const struct cf_share_refs *refs, const uint8_t *op,
                       uint8_t *hit)
{
    struct cf_runs runs[KINDS];

    for (unsigned kind = 0; kind < KINDS; kind++)
        runs[kind] = (struct cf_runs){.line = refs->list[kind].line,
                                      .row = refs->list[kind].row,
                                      .flags = refs->list[kind].flags};
    for (size_t i = 0; i < refs->count; i++) {
        const struct cf_share_stretch *s = &refs->stretch[i];
        enum code code;
        int status = 0;

        cfh_on_core(h, s->core);
        code = h->pipeline && !h->several_cores && !s->flushes && !(s->in_order && h->split)
                   ? PIPELINE
                   : SERIAL;
        runs[KIND_DATA].count = s->count[KIND_DATA];
        runs[KIND_FETCH].count = s->count[KIND_FETCH];
        if (!s->in_order)
            status = cfh_run_kinds(h, &runs[KIND_DATA], &runs[KIND_FETCH], op, s->core, code, hit);
        else if (code == PIPELINE)
            status = cfh_pipeline(h, &runs[KIND_DATA], NULL, op, s->core, hit);
        else
            h->serial(h, &runs[KIND_DATA], op, s->core, hit);
        if (status != 0)
            return -1;
        for (unsigned kind = 0; kind < KINDS; kind++) {
            if (!s->count[kind])
                continue; /* there may be no list */
            runs[kind].line += s->count[kind];
            runs[kind].row += s->count[kind];
            runs[kind].flags += s->count[kind];
        }
    }
    return 0;
}

void cf_share_hits(const struct cf_hierarchy *h, const uint8_t *op, uint32_t rows,
                   uint8_t *const *of_share, unsigned shares, uint8_t *hit)
{
    cfh_preset(h, op, 0, rows, hit);
    for (uint32_t i = 0; i < rows; i++)
        hit[i] = op[i] == CF_FLUSH ? 0 : hit[i];
    for (unsigned s = 0; s < shares; s++)
        for (uint32_t i = 0; i < rows; i++)
            hit[i] = of_share[s][i] > hit[i] ? of_share[s][i] : hit[i];
}

/* ---- counts ---- */

void cf_share_maker_count(const struct cf_share_maker *m, struct cf_hierarchy *h)
{
    cfh_all_arrived(h, m->arrived);
}

static void add(uint64_t *to, const uint64_t *more, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] += more[i];
}

void cf_hierarchy_add(struct cf_hierarchy *h, const struct cf_hierarchy *more)
{
    for (unsigned i = 0; i < h->levels; i++) {
        struct tier *t = &h->tier[i];
        const struct tier *m = &more->tier[i];

        add(t->arrived, m->arrived, CLASSES);
        add(t->missed, m->missed, CLASSES);
        /* which holds counts and nothing else */
        add(&t->n.loads, &m->n.loads, sizeof(t->n) / sizeof(t->n.loads));
    }
    add(h->memory, more->memory, CLASSES);
    h->memory_writes += more->memory_writes;
}
