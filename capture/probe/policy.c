/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * policy.c - sequences of accesses to lines of one set, which tell the replacement policy of the
 * first level: cf_sequence.h says which, and on whose methods they rest.
 *
 * Block b of a sequence is a line of the set, one of the first ones of the buffer in a random order,
 * so that no stride lasts. There are twice as many as ways: a second level of twice the size of the
 * first holds them all, so that one that is inclusive takes none of them out of the first. Each
 * access of a block is to another node of its line, where the line has nodes enough, since a chain
 * of pointers goes through a node once.
 */
#include <errno.h>

#include "capture/probe/probe.h"
#include "formats/base/cf_sequence.h"
#include "formats/stream/cf.h"

struct set {
    uint32_t number, ways;
    uint64_t block[2 * CF_SEQUENCE_WAYS]; /* offset of each */
};

/* Lines of the set, in another order each time. */
static int choose_blocks(struct probe *p, struct set *s)
{
    const struct probe_level *l = &p->level[0];
    const uint64_t from = s->number * l->line;

    probe_clear(p);
    probe_add(p, from, from + 2 * s->ways * l->way_size, l->way_size);
    if (p->error)
        return -1;
    probe_order(p, l->line, 0);
    for (uint32_t b = 0; b < 2 * s->ways; b++)
        s->block[b] = p->nodes.offset[b];
    return 0;
}

static int measure(struct probe *p, const struct set *s, uint32_t number, uint64_t limit)
{
    const uint64_t line = p->level[0].line, slots = line / CF_NODE;
    const uint32_t length = cf_sequence_length(s->ways);
    uint8_t block[CF_SEQUENCE_LONGEST], touches[2 * CF_SEQUENCE_WAYS] = {0};
    uint64_t offset[CF_SEQUENCE_LONGEST];
    uint32_t each[CF_SEQUENCE_LONGEST];
    struct cf_visit v = {
        .offset = offset, .count = length, .rounds = 1, .level = 1, .limit = limit, .fresh = 1};
    struct cf_measured m = {0};

    cf_sequence_make(s->ways, number, block);
    for (uint32_t i = 0; i < length; i++)
        offset[i] = s->block[block[i]] + touches[block[i]]++ % slots * CF_NODE;
    if (p->by_time && !limit)
        v.each = each;
    if (!limit && probe_forget(p) != 0)
        return -1;
    if (p->bench->run(p->bench->self, &v, &m) != 0) {
        p->error = errno ? errno : EIO;
        return -1;
    }
    p->accesses += length;
    if (v.each) {
        m.method = CF_METHOD_EACH;
        m.misses = 0;
        m.has_misses = 1;
        for (uint32_t i = 0; i < length; i++)
            m.misses += each[i] > probe_limit(p, 1);
    }
    probe_emit(p, "policy", (uint64_t)s->number * CF_SEQUENCE_SET + number, 1, &m);
    return 0;
}

int probe_policy(struct probe *p, uint32_t sets, uint32_t repeats, uint64_t limit)
{
    const struct probe_level *l = &p->level[0];
    const uint64_t ways = l->way_size ? l->size / l->way_size : 0;
    const uint32_t all = ways ? (uint32_t)(l->way_size / l->line) : 0;

    if (!ways || ways > CF_SEQUENCE_WAYS || l->line < CF_NODE || 2 * l->size > p->bench->size ||
        (limit && l->line < CF_SEQUENCE_TOUCHES * CF_NODE))
        return 0;
    sets = sets < all ? sets : all;
    for (uint32_t i = 0; i < repeats; i++)
        for (uint32_t k = 0; k < sets; k++) {
            const uint32_t part = all / sets;
            /* in each part at another place */
            struct set s = {.number = k * part + (7 * k + 3) % part, .ways = (uint32_t)ways};

            for (uint32_t number = 0; number < CF_SEQUENCES; number++)
                if (choose_blocks(p, &s) != 0 || measure(p, &s, number, limit) != 0)
                    return -1;
        }
    return 0;
}
