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

#include "capture/probe/probe.h"
#include "formats/base/cf_sequence.h"
#include "formats/stream/cf.h"

enum {
    SETS = 8,   /* of this machine */
    FAR = 100,  /* ways' bytes, in which a block has one place: no prefetcher follows so far */
    BEYOND = 3, /* times the first level: a window that mostly misses there, and hits behind */
};

struct set {
    uint32_t number, ways;
    uint64_t block[2 * CF_SEQUENCE_WAYS]; /* offset of each */
};

/* Lines of the set, in another order each time: one at a random place in each part, of so many ways'
   bytes, of the buffer. */
static int choose_blocks(struct probe *p, struct set *s, uint32_t part)
{
    const struct probe_level *l = &p->level[0];
    const uint64_t from = s->number * l->line, bytes = part * l->way_size;

    probe_clear(p);
    probe_add(p, from, from + 2 * s->ways * bytes, bytes);
    if (p->error)
        return -1;
    probe_order(p, l->line, 0);
    for (uint32_t b = 0; b < 2 * s->ways; b++)
        s->block[b] = p->nodes.offset[b] + probe_below(&p->seed, part) * l->way_size;
    return 0;
}

static int order_of_ticks(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* Accesses that were not served by the first level. A clock that does not follow the frequency of
   the processor shows the same access now shorter, now longer: the limit is `gap` above the median of
   those that every policy hits. */
static uint64_t count_misses(const struct probe *p, const uint32_t *each, uint32_t ways,
                             uint64_t gap)
{
    uint32_t hit[CF_SEQUENCE_WAYS];
    uint64_t limit = gap ? 0 : probe_limit(p, 1), misses = 0;

    if (gap) {
        memcpy(hit, each + ways, (ways - 1) * sizeof *hit);
        qsort(hit, ways - 1, sizeof *hit, order_of_ticks);
        limit = hit[(ways - 1) / 2] + gap;
    }
    for (uint32_t i = 0; i < cf_sequence_length(ways); i++)
        misses += each[i] > limit;
    return misses;
}

static int measure(struct probe *p, const struct set *s, uint32_t number, uint32_t *each,
                   uint64_t gap)
{
    const uint64_t slots = p->level[0].line / CF_NODE;
    uint8_t block[CF_SEQUENCE_LONGEST], touches[2 * CF_SEQUENCE_WAYS] = {0};
    uint64_t offset[CF_SEQUENCE_LONGEST];
    struct cf_visit v = {.offset = offset,
                         .count = cf_sequence_length(s->ways),
                         .rounds = 1,
                         .level = 1,
                         .each = p->by_time ? each : NULL,
                         .fresh = 1};
    struct cf_measured m = {0};

    cf_sequence_make(s->ways, number, block);
    for (uint32_t i = 0; i < v.count; i++)
        offset[i] = s->block[block[i]] + touches[block[i]]++ % slots * CF_NODE;
    if (!gap && probe_forget(p) != 0)
        return -1;
    if (p->bench->run(p->bench->self, &v, &m) != 0) {
        p->error = errno ? errno : EIO;
        return -1;
    }
    p->accesses += v.count;
    if (v.each) {
        m.method = CF_METHOD_EACH;
        m.misses = count_misses(p, each, s->ways, gap);
        m.has_misses = 1;
    }
    probe_emit(p, "policy", (uint64_t)s->number * CF_SEQUENCE_SET + number, 1, &m);
    return 0;
}

static int measure_set(struct probe *p, struct set *s, uint64_t gap)
{
    const struct probe_level *l = &p->level[0];
    const uint64_t sets = l->way_size / l->line, parts = p->bench->size / (2 * l->size);
    const uint32_t part = !gap ? 1 : parts < FAR ? (uint32_t)parts : FAR;
    void *room;
    int status = 0;

    /* the ticks go to other sets than the one that is measured */
    if (posix_memalign(&room, 1 << 16, l->way_size + (1 << 16)) != 0) {
        p->error = ENOMEM;
        return -1;
    }
    for (uint32_t number = 0; status == 0 && number < CF_SEQUENCES; number++) {
        status = choose_blocks(p, s, part);
        if (status == 0)
            status = measure(
                p, s, number,
                (uint32_t *)((char *)room + (s->number + sets / 4 + 1) % sets * l->line), gap);
    }
    free(room);
    return status;
}

int probe_policy(struct probe *p, uint32_t sets, uint32_t repeats, uint64_t gap)
{
    const struct probe_level *l = &p->level[0];
    const uint64_t ways = l->way_size ? l->size / l->way_size : 0;
    const uint32_t all = ways ? (uint32_t)(l->way_size / l->line) : 0;

    if (!ways || ways > CF_SEQUENCE_WAYS || l->line < CF_NODE || 2 * l->size > p->bench->size ||
        (gap && (ways < 2 || l->line < CF_SEQUENCE_TOUCHES * CF_NODE)))
        return 0;
    sets = sets < all ? sets : all;
    for (uint32_t i = 0; i < repeats; i++)
        for (uint32_t k = 0; k < sets; k++) {
            const uint32_t part = all / sets;
            /* in each part at another place */
            struct set s = {.number = k * part + (7 * k + 3) % part, .ways = (uint32_t)ways};

            if (measure_set(p, &s, gap) != 0)
                return -1;
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
    probe_order(p, p->level[0].line, 0);
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
    if (miss < hit + 2)
        return 0;
    return probe_policy(p, SETS, repeats, (miss - hit) / 2);
}
