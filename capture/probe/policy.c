/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * policy.c - sequences of accesses to lines of one set, which tell the replacement policy of the
 * first level: cf_sequence.h says which, and on whose methods they rest.
 *
 * Block b of a sequence is a line of the set, in a random order, so that no stride lasts; on a real
 * machine far from the others: of lines 4 KiB apart, an Intel Xeon brought one in forty before it
 * was asked for. There are twice as many blocks as ways. On a model they are the first lines of the
 * buffer: a second level of twice the size of the first holds them all, so that one that is
 * inclusive takes none of them out of the first. Each access of a block is to another node of its
 * line, where the line has nodes enough, since a chain of pointers goes through a node once.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/probe/conflict.h"
#include "formats/base/cf_sequence.h"
#include "formats/stream/cf.h"

enum {
    ALIGNED = 1 << 16,
    SETS = 16,  /* at most */
    TRIES = 8,  /* of a sequence that is disturbed */
    FAR = 100,  /* ways' bytes, in which a block has one place: no prefetcher follows so far */
    ROUNDS = 8, /* of blocks that a level behind may not hold */
    BEYOND = 3, /* times the first level: a window that mostly misses there, and hits behind */
};

struct sequences {
    struct probe *p;
    uint32_t ways, sets;
    uint64_t gap;         /* 0: of a model */
    uint32_t part;        /* so many ways' bytes hold one block */
    unsigned char *room;  /* for ticks: of a way's bytes and more */
    uint32_t set, *ticks; /* that is measured, and what it takes */
    uint64_t block[2 * CF_SEQUENCE_WAYS];
};

/* Where there is noise: lines in a page each, which no prefetcher brings, see conflict.h. */
static int choose_apart(struct sequences *q)
{
    const struct probe_level *l = &q->p->level[0];
    const uint64_t step = conflict_step(l->way_size, l->line),
                   from = q->sets <= 2 ? CONFLICT_PAGE - l->line : q->set * l->line;

    probe_clear(q->p);
    probe_add(q->p, from, from + 2 * q->ways * step, step);
    if (q->p->error)
        return -1;
    probe_order(q->p);
    memcpy(q->block, q->p->nodes.offset, 2 * q->ways * sizeof *q->block);
    return 0;
}

/* Lines of the set, in another order each time: one at some place in each part of the buffer. */
static int choose_blocks(struct sequences *q)
{
    const uint64_t way = q->p->level[0].way_size, bytes = q->part * way,
                   from = q->set * q->p->level[0].line;

    if (q->p->noisy)
        return choose_apart(q);
    probe_clear(q->p);
    probe_add(q->p, from, from + 2 * q->ways * bytes, bytes);
    if (q->p->error)
        return -1;
    probe_order(q->p);
    for (uint32_t b = 0; b < 2 * q->ways; b++)
        q->block[b] = q->p->nodes.offset[b] + probe_below(&q->p->seed, q->part) * way;
    return 0;
}

/* The ticks go to other sets than the one that is measured. */
static void choose_set(struct sequences *q, uint32_t set)
{
    q->set = set;
    q->ticks = (uint32_t *)(q->room + (set + q->sets / 4 + 1) % q->sets * q->p->level[0].line);
}

static int order_of_ticks(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

static uint64_t median(const uint32_t *ticks, uint32_t n)
{
    uint32_t sorted[CF_SEQUENCE_WAYS];

    memcpy(sorted, ticks, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, order_of_ticks);
    return sorted[n / 2];
}

static uint64_t count_slow(const uint32_t *ticks, uint32_t n, uint64_t limit)
{
    uint64_t slow = 0;

    for (uint32_t i = 0; i < n; i++)
        slow += ticks[i] > limit;
    return slow;
}

/* Misses by the ticks of each access. A clock that does not follow the frequency of the processor
   shows the same access now shorter, now longer: the limit is the gap above the median of those
   that every policy hits. Where one of these misses, or one that fills the set hits, another
   program, or what this one itself has in the set, came between. */
static void judge(const struct sequences *q, struct cf_measured *m)
{
    const uint32_t w = q->ways;
    const uint64_t limit = q->gap ? median(q->ticks + w, w - 1) + q->gap : probe_limit(q->p, 1);

    m->method = CF_METHOD_EACH;
    m->misses = count_slow(q->ticks, cf_sequence_length(w), limit);
    m->has_misses = 1;
    if (q->gap && !m->spoilt &&
        (count_slow(q->ticks, w, limit) < w || count_slow(q->ticks + w, w - 1, limit)))
        m->spoilt = CF_SPOILT_DISTURBED;
}

static int measure(struct sequences *q, uint32_t number)
{
    const uint64_t slots = q->p->level[0].line / CF_NODE;
    uint8_t block[CF_SEQUENCE_LONGEST], touches[2 * CF_SEQUENCE_WAYS] = {0};
    uint64_t offset[CF_SEQUENCE_LONGEST];
    struct cf_visit v = {.offset = offset,
                         .count = cf_sequence_length(q->ways),
                         .rounds = 1,
                         .level = 1,
                         .each = q->p->by_time ? q->ticks : NULL,
                         .fresh = 1};
    struct cf_measured m = {0};

    cf_sequence_make(q->ways, number, block);
    for (uint32_t i = 0; i < v.count; i++)
        offset[i] = q->block[block[i]] + touches[block[i]]++ % slots * CF_NODE;
    for (uint32_t i = 0; i == 0 || (m.spoilt && i < TRIES); i++) {
        m = (struct cf_measured){0};
        if (!q->gap && probe_forget(q->p) != 0)
            return -1;
        if (q->p->bench->run(q->p->bench->self, &v, &m) != 0) {
            q->p->error = errno ? errno : EIO;
            return -1;
        }
        q->p->accesses += v.count;
        if (v.each)
            judge(q, &m);
    }
    probe_emit(q->p, "policy", (uint64_t)q->set * CF_SEQUENCE_SET + number, 1, &m);
    return 0;
}

static int measure_all(struct sequences *q, uint32_t *set, uint32_t sets, uint32_t repeats)
{
    const uint32_t part = q->sets / sets;

    for (uint32_t k = 0; k < sets; k++) {
        set[k] = k * part + (7 * k + 3) % part; /* in each part at another place */
    }
    for (uint32_t i = 0; i < repeats; i++)
        for (uint32_t k = 0; k < sets; k++) {
            choose_set(q, set[k]);
            for (uint32_t number = 0; number < CF_SEQUENCES; number++)
                if (choose_blocks(q) != 0 || measure(q, number) != 0)
                    return -1;
        }
    return 0;
}

static void take_blocks(struct sequences *q, uint32_t count)
{
    probe_clear(q->p);
    for (uint32_t b = 0; b < count; b++)
        probe_add(q->p, q->block[b], q->block[b] + 1, 1);
}

/* All blocks in some rounds, the same with the same seed: what misses at the level. */
static int visit_blocks(struct sequences *q, unsigned level, uint64_t seed, struct cf_measured *sum)
{
    struct probe *p = q->p;
    uint64_t slow = 0;

    p->seed = seed;
    take_blocks(q, 2 * q->ways);
    if (probe_forget(p) != 0 || probe_visit(p, 2, 1, 0, sum) != 0)
        return -1;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        probe_order(p);
        if (probe_visit(p, p->by_time ? 2 : level, 0, 1, sum) != 0)
            return -1;
        for (size_t k = 0; p->by_time && k < p->nodes.count; k++)
            slow += p->ticks[k] > probe_limit(p, level);
    }
    sum->misses = p->by_time ? slow : sum->misses;
    return 0;
}

int probe_policy(struct probe *p, uint32_t sets, uint32_t repeats, uint64_t gap)
{
    const struct probe_level *l = &p->level[0];
    const uint64_t ways = l->way_size ? l->size / l->way_size : 0,
                   parts = l->size ? p->bench->size / (2 * l->size) : 0;
    const size_t room = l->way_size + CF_SEQUENCE_LONGEST * sizeof(uint32_t);
    struct sequences q = {.p = p, .ways = (uint32_t)ways, .gap = gap};
    uint32_t set[SETS];
    void *memory;
    int status;

    if (!ways || ways > CF_SEQUENCE_WAYS || l->line < CF_NODE || !parts ||
        (p->noisy && 2 * (ways + 1) * conflict_step(l->way_size, l->line) > p->bench->size) ||
        (gap && (ways < 2 || l->line < CF_SEQUENCE_TOUCHES * CF_NODE)))
        return 0;
    q.sets = (uint32_t)(l->way_size / l->line);
    q.part = !gap ? 1 : parts < FAR ? (uint32_t)parts : FAR;
    sets = sets < q.sets ? sets : q.sets;
    /* its addresses belong to sets, too */
    if (posix_memalign(&memory, ALIGNED, room) != 0) {
        p->error = ENOMEM;
        return -1;
    }
    q.room = memset(memory, 0, room);
    status = measure_all(&q, set, sets < SETS ? sets : SETS, repeats);
    free(memory);
    return status;
}

int probe_policy_behind(struct probe *p)
{
    const struct probe_level *l = &p->level[0];
    struct sequences q = {.p = p, .part = 1};

    if (!l->way_size || l->size < 2 * l->way_size || l->size > CF_SEQUENCE_WAYS * l->way_size ||
        2 * (l->size / l->way_size + 1) * conflict_step(l->way_size, l->line) > p->bench->size)
        return 0;
    q.ways = (uint32_t)(l->size / l->way_size);
    q.sets = (uint32_t)(l->way_size / l->line);
    for (uint32_t i = 0; i < TRIES; i++) {
        struct cf_measured filled = {0}, first = {0}, behind = {0};
        uint64_t seed;

        q.set = i * q.sets / TRIES;
        if (choose_blocks(&q) != 0)
            return -1;
        take_blocks(&q, q.ways);
        seed = p->seed;
        if (probe_forget(p) != 0 || probe_visit(p, 1, 1, 1, &filled) != 0 ||
            visit_blocks(&q, 1, seed, &first) != 0 || visit_blocks(&q, 2, seed, &behind) != 0)
            return -1;
        filled.misses = probe_misses(p, 1, &filled);
        filled.has_misses = 1;
        filled.method = behind.method;
        probe_emit(p, "inclusion", PROBE_FILLED, 1, &filled);
        if (p->levels > 1 && 8 * behind.misses < 7 * first.misses)
            probe_emit(p, "inclusion", PROBE_BLOCKS, 1, &behind);
    }
    return 0;
}

/* ---- on this machine ---- */

/* The median of the ticks of single accesses to a window that was visited before. */
static int median_ticks(struct probe *p, uint64_t bytes, uint64_t *ticks)
{
    struct cf_visit v = {.warm = 3, .rounds = 1, .level = 1};
    struct cf_measured m;
    int status;

    probe_clear(p);
    probe_add(p, 0, bytes, p->level[0].line);
    probe_order(p);
    v.offset = p->nodes.offset;
    v.count = (uint32_t)p->nodes.count;
    v.each = p->error ? NULL : malloc(v.count * sizeof *v.each);
    if (!v.each) {
        p->error = p->error ? p->error : ENOMEM;
        return -1;
    }
    status = p->bench->run(p->bench->self, &v, &m);
    if (status != 0)
        p->error = errno ? errno : EIO;
    qsort(v.each, v.count, sizeof *v.each, order_of_ticks);
    *ticks = v.each[v.count / 2];
    free(v.each);
    return status;
}

int probe_policy_steady(struct probe *p, uint32_t repeats)
{
    const struct probe_level *l = &p->level[0];
    uint64_t hit, miss;

    if (!l->way_size || l->size % l->way_size || l->way_size % l->line ||
        BEYOND * l->size > p->bench->size)
        return 0;
    if (median_ticks(p, l->size / 2, &hit) != 0 || median_ticks(p, BEYOND * l->size, &miss) != 0)
        return -1;
    if (miss < hit + 2 * (p->bench->step ? p->bench->step : 1))
        return 0;
    return probe_policy(p, SETS, repeats, (miss - hit) / 2);
}
