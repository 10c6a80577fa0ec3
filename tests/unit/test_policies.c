/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_policies.c - sequences that distinguish replacement policies, and what measurements of them
 * say, disturbed ones, too. On whole machines: test_probe_policy.c.
 */
#include <stdlib.h>
#include <string.h>

#include "filters/engine/replacement/sequences.h"
#include "tap.h"

enum { ROWS = 8192, BIT_LRU = 1 << CF_LRU };

static uint64_t state;

static uint32_t next(uint32_t below)
{
    return cf_random_below(&state, below);
}

static struct cf_predictions *predicted[CF_SEQUENCE_WAYS + 1];

static const struct cf_predictions *predict(uint32_t ways)
{
    if (!predicted[ways])
        predicted[ways] = cf_predictions_new(ways);
    if (!predicted[ways])
        need(0, "predictions for %u ways", ways);
    return predicted[ways];
}

/* A policy that draws no numbers, and is one with so many ways. */
static int is_fixed(unsigned policy, uint32_t ways)
{
    const unsigned traits = cf_policy_traits((enum cf_replacement)policy);

    return !(traits & (CF_POLICY_RANDOM | CF_POLICY_BY_CORE)) &&
           !((traits & CF_POLICY_POWER_OF_TWO) && (ways & (ways - 1)));
}

/* ---- the sequences ---- */

static void sequences(void)
{
    unsigned beyond = 0, often = 0, twice = 0, alike = 0, two = 0;

    for (uint32_t ways = 1; ways <= CF_SEQUENCE_WAYS; ways++) {
        const struct cf_predictions *p = predict(ways);

        for (uint32_t number = 0; number < CF_SEQUENCES; number++) {
            uint8_t block[CF_SEQUENCE_LONGEST], touches[2 * CF_SEQUENCE_WAYS] = {0};

            cf_sequence_make(ways, number, block);
            for (uint32_t i = 0; i < cf_sequence_length(ways); i++) {
                beyond += block[i] >= 2 * ways;
                twice += i && block[i] == block[i - 1];
                often += ++touches[block[i] % (2 * CF_SEQUENCE_WAYS)] > CF_SEQUENCE_TOUCHES;
            }
        }
        for (unsigned a = 0; a < CF_POLICY_COUNT; a++)
            for (unsigned b = 0; ways > 1 && b < a; b++) {
                int same = is_fixed(a, ways) && is_fixed(b, ways);

                for (uint32_t number = 0; same && number < CF_SEQUENCES; number++)
                    same = cf_predictions_misses(p, (enum cf_replacement)a, number) ==
                           cf_predictions_misses(p, (enum cf_replacement)b, number);
                two += same && ways == 2;
                alike += same && ways > 2;
            }
    }
    is_u64(beyond, 0, "blocks are below twice the ways");
    is_u64(often, 0, "a block has no more accesses than nodes");
    is_u64(twice, 0, "no block is accessed twice in a row");
    is_u64(alike, 0, "from 3 to 64 ways no two policies predict the same");
    is_u64(two, 3, "with 2 ways lru, tree-plru and bit-plru do, and no others");
    ok(!cf_predictions_new(0) && !cf_predictions_new(CF_SEQUENCE_WAYS + 1), "no ways, or too many");
}

static uint32_t run_from(struct cf_cache *c, const uint8_t *block, uint32_t length)
{
    uint64_t victim;
    uint32_t misses = 0;

    for (uint32_t i = 0; i < length; i++)
        misses += (uint32_t)cf_cache_access(c, block[i], 0, CF_CACHE_ALL_WAYS, &victim);
    return misses;
}

/* What was in a set before does not change what a sequence misses. */
static void whatever_was_before(void)
{
    unsigned wrong = 0;

    state = 3;
    for (uint32_t trial = 0; trial < 6000; trial++) {
        const uint32_t ways = 1 + next(trial % 8 ? 12 : CF_SEQUENCE_WAYS),
                       number = next(CF_SEQUENCES);
        const enum cf_replacement policy = (enum cf_replacement)next(CF_POLICY_COUNT);
        struct cf_cache_geometry g = {.sets = 1, .ways = ways, .policy = policy};
        uint8_t block[CF_SEQUENCE_LONGEST];
        struct cf_cache *c;
        uint64_t victim;

        if (!is_fixed(policy, ways))
            continue;
        c = cf_cache_new(&g);
        for (uint32_t i = next(8 * ways); i-- > 0;)
            cf_cache_access(c, next(3 * ways), 0, CF_CACHE_ALL_WAYS, &victim);
        for (uint64_t line = 0; line < 3 * ways; line++)
            cf_cache_access(c, line, CF_RUN_FLUSH, CF_CACHE_ALL_WAYS, &victim);
        cf_sequence_make(ways, number, block);
        wrong += run_from(c, block, cf_sequence_length(ways)) !=
                 cf_predictions_misses(predict(ways), policy, number);
        cf_cache_free(c);
    }
    is_u64(wrong, 0, "the state that a flush leaves makes no difference");
}

/* ---- what measurements say ---- */

struct rows {
    struct cf_sequence_row row[ROWS];
    size_t count;
    struct cf_sequences_set each[16];
    size_t sets;
};
static struct rows rows;

static void add(uint32_t set, uint32_t number, uint32_t misses)
{
    rows.row[rows.count++] = (struct cf_sequence_row){set, number, misses};
}

/* Some repeats of all sequences, of which a share of 100 is disturbed. */
static void add_set(uint32_t set, uint32_t ways, enum cf_replacement policy, uint32_t repeats,
                    uint32_t share)
{
    const uint32_t length = cf_sequence_length(ways);

    for (uint32_t number = 0; number < CF_SEQUENCES; number++)
        for (uint32_t i = 0; i < repeats; i++) {
            uint32_t misses = cf_predictions_misses(predict(ways), policy, number);

            if (next(100) < share)
                misses = ways + next(length - ways + 1);
            add(set, number, misses);
        }
}

static struct cf_sequences_verdict judge(uint32_t ways, int exact)
{
    const struct cf_sequences_verdict v = cf_sequences_judge(
        predict(ways), rows.row, rows.count, exact, 0.95, rows.each, 16, &rows.sets);

    rows.count = 0;
    return v;
}

static void is_verdict(struct cf_sequences_verdict v, enum cf_sequences_state is, unsigned policies,
                       const char *what)
{
    if (!ok(v.state == is && v.policies == policies, "%s", what))
        note("state %d, policies %x, confidence %g", v.state, v.policies, v.confidence);
}

static void judged(void)
{
    is_verdict(judge(4, 1), CF_SEQUENCES_NONE, 0, "nothing measured, nothing said");
    add_set(0, 4, CF_LRU, 1, 0);
    is_verdict(judge(4, 0), CF_SEQUENCES_ONCE, 0, "measured once: not told");
    add_set(0, 4, CF_LRU, 1, 0);
    is_verdict(judge(4, 1), CF_SEQUENCES_NAMED, BIT_LRU, "of a model it is");
    add_set(0, 2, CF_BIT_PLRU, 2, 0);
    is_verdict(judge(2, 0), CF_SEQUENCES_NAMED, BIT_LRU | 1 << CF_TREE_PLRU | 1 << CF_BIT_PLRU,
               "2 ways: three policies are one");
    add_set(0, 1, CF_SRRIP, 2, 0);
    is_verdict(judge(1, 0), CF_SEQUENCES_NAMED, (1u << CF_MASTER_INDEX) - 1, "1 way: all are one");
    for (uint32_t number = 0; number < CF_SEQUENCES; number++)
        if (cf_predictions_misses(predict(4), CF_LRU, number) ==
            cf_predictions_misses(predict(4), CF_TREE_PLRU, number))
            for (int i = 0; i < 3; i++)
                add(0, number, cf_predictions_misses(predict(4), CF_LRU, number));
    is_verdict(judge(4, 0), CF_SEQUENCES_ALIKE, BIT_LRU | 1 << CF_TREE_PLRU,
               "sequences that do not distinguish two policies name none");
    for (uint32_t number = 0; number < CF_SEQUENCES / 2 - 1; number++)
        for (int i = 0; i < 3; i++)
            add(0, number, cf_predictions_misses(predict(8), CF_SRRIP, number));
    is_verdict(judge(8, 0), CF_SEQUENCES_FEW, 0, "less than half of the sequences: not told");
    add_set(0, 8, CF_LRU, 1, 0);
    for (uint32_t i = 0; i < 4; i++)
        rows.row[5 * i].misses++;
    is_verdict(judge(8, 1), CF_SEQUENCES_NOISE, 0, "close to lru is not lru");
    /* sets */
    for (uint32_t set = 0; set < 8; set++)
        add_set(set, 8, set % 4 ? CF_LRU : CF_SRRIP, 3, 0);
    is_verdict(judge(8, 0), CF_SEQUENCES_SETS, BIT_LRU | 1 << CF_SRRIP,
               "sets of two policies: both, and not one");
    is_u64(rows.sets, 8, "each set by itself");
    is_u64(rows.each[4].is.policies, 1 << CF_SRRIP, "and which has which");
    for (uint32_t set = 0; set < 8; set++)
        add_set(set, 8, CF_FIFO, 3, set == 5 ? 100 : 0);
    is_verdict(judge(8, 0), CF_SEQUENCES_NAMED, 1 << CF_FIFO,
               "one set that cannot be told is no other");
    for (uint32_t set = 0; set < 16; set++)
        add_set(set, 8, set ? CF_FIFO : CF_NRU, 3, 0);
    is_verdict(judge(8, 0), CF_SEQUENCES_NAMED, 1 << CF_FIFO, "one set of sixteen is noise");
    for (uint32_t set = 0; set < 16; set++)
        add_set(set, 8, set > 1 ? CF_FIFO : CF_NRU, 3, 0);
    is_verdict(judge(8, 0), CF_SEQUENCES_SETS, 1 << CF_FIFO | 1 << CF_NRU, "two sets are not");
    for (uint32_t set = 0; set < 8; set++)
        add_set(set, 8, CF_FIFO, 3, set < 5 ? 100 : 0);
    is_verdict(judge(8, 0), CF_SEQUENCES_NOISE, 1 << CF_FIFO,
               "most sets cannot be told: nor can all");
}

/* Whatever share is disturbed: the policy, or none. */
static void disturbed(void)
{
    unsigned wrong = 0, told[3] = {0}, all[3] = {0};

    for (uint32_t trial = 0; trial < 600; trial++) {
        const uint32_t ways = 3 + next(14), share = next(100);
        const enum cf_replacement policy = (enum cf_replacement)next(CF_MASTER_INDEX);
        struct cf_sequences_verdict v;

        if (!is_fixed(policy, ways))
            continue;
        add_set(0, ways, policy, 2 + next(10), share);
        v = judge(ways, 0);
        wrong += v.state == CF_SEQUENCES_NAMED && v.policies != 1u << policy;
        wrong += v.state == CF_SEQUENCES_OTHER || v.state == CF_SEQUENCES_SETS;
        told[share * 3 / 100] += v.state == CF_SEQUENCES_NAMED;
        all[share * 3 / 100]++;
    }
    note("told: %u of %u where less than a third is disturbed, %u of %u, %u of %u", told[0], all[0],
         told[1], all[1], told[2], all[2]);
    is_u64(wrong, 0, "noise never makes another policy, nor none of these");
    ok(told[0] * 10 >= all[0] * 9, "and hides it only where there is much");
}

/* Policies that are none of ours: they evict what was used last (MRU), put a line where it goes
   next (LIP, Qureshi et al.), evict what was hit last where all were hit, or turn from LRU to
   MRU. */
static uint32_t other_misses(int kind, uint32_t ways, const uint8_t *block, uint32_t length)
{
    uint8_t line[CF_SEQUENCE_WAYS], hit[CF_SEQUENCE_WAYS] = {0};
    uint32_t n = 0, misses = 0;

    for (uint32_t i = 0; i < length; i++) {
        uint32_t at = 0, to = 0;
        uint8_t was;

        while (at < n && line[at] != block[i])
            at++;
        if (at < n) { /* line[0] is the newest */
            was = 1;
        } else {
            misses++;
            was = 0;
            at = n < ways ? n++ : kind == 0 || (kind == 3 && i >= 4 * ways) ? 0 : n - 1;
            if (n == ways && kind == 2)
                for (uint32_t k = n; k-- > 0;)
                    if (!hit[k]) {
                        at = k;
                        break;
                    }
            to = kind == 1 ? at : 0;
        }
        memmove(line + to + 1, line + to, at - to);
        memmove(hit + to + 1, hit + to, at - to);
        line[to] = block[i];
        hit[to] = was;
    }
    return misses;
}

static void others(void)
{
    unsigned named = 0, other = 0, all = 0;

    for (uint32_t ways = 3; ways <= 24; ways++)
        for (int kind = 0; kind < 4; kind++, all++) {
            struct cf_sequences_verdict v;

            for (uint32_t number = 0; number < CF_SEQUENCES; number++) {
                uint8_t block[CF_SEQUENCE_LONGEST];

                cf_sequence_make(ways, number, block);
                for (int i = 0; i < 3; i++)
                    add(0, number, other_misses(kind, ways, block, cf_sequence_length(ways)));
            }
            v = judge(ways, all % 2);
            named += v.state == CF_SEQUENCES_NAMED;
            other += v.state == CF_SEQUENCES_OTHER;
            if (v.state != CF_SEQUENCES_OTHER)
                note("%u ways, kind %d: state %d, policies %x", ways, kind, v.state, v.policies);
        }
    is_u64(named, 0, "policies that are none of these are not named");
    ok(other * 10 >= all * 9, "but said to be none of these: %u of %u", other, all);
}

/* Tree-PLRU whose tree also chooses among empty ways, as processors have it. */
static uint32_t tree_misses(uint32_t ways, const uint8_t *block, uint32_t length)
{
    uint8_t line[CF_SEQUENCE_WAYS], older[CF_SEQUENCE_WAYS] = {0, 1, 0, 1, 1};
    uint32_t misses = 0;

    memset(line, 255, sizeof line);
    for (uint32_t i = 0; i < length; i++) {
        uint32_t way = 0, node = 1;

        while (way < ways && line[way] != block[i])
            way++;
        if (way == ways) {
            misses++;
            while (node < ways)
                node = 2 * node + older[node];
            way = node - ways;
            line[way] = block[i];
        }
        for (node = way + ways; node > 1; node /= 2)
            older[node / 2] = !(node & 1);
    }
    return misses;
}

/* Misses that scatter about those of one policy or another, in some sets, as on a machine at work:
   however far, they are not taken for random replacement, nor for another policy. */
static void scattered(void)
{
    unsigned named = 0, all = 0;

    for (uint32_t ways = 3; ways <= 16; ways++)
        for (uint32_t width = 1; width < 6; width++)
            for (int kind = 0; kind < 6; kind++, all++) {
                const uint32_t length = cf_sequence_length(ways);
                struct cf_sequences_verdict v;

                for (uint32_t set = 0; set < 4; set++)
                    for (uint32_t number = 0; number < CF_SEQUENCES; number++) {
                        uint8_t block[CF_SEQUENCE_LONGEST];
                        uint32_t misses;

                        cf_sequence_make(ways, number, block);
                        misses = kind < 4 ? other_misses(kind, ways, block, length)
                                          : cf_predictions_misses(predict(ways),
                                                                  kind == 4 ? CF_LRU : CF_BIT_PLRU,
                                                                  number);
                        for (int i = 0; i < 11; i++)
                            add(set, number,
                                misses - next(misses < width ? misses : width) + next(width + 1));
                    }
                for (size_t i = 0; i < rows.count; i++)
                    if (rows.row[i].misses > length)
                        rows.row[i].misses = length;
                v = judge(ways, 0);
                named +=
                    v.state == CF_SEQUENCES_NAMED && v.policies != (kind == 4   ? 1u << CF_LRU
                                                                    : kind == 5 ? 1u << CF_BIT_PLRU
                                                                                : 0);
            }
    is_u64(named, 0, "what scatters is not taken for random, in %u caches", all);
}

static void fills_by_tree(void)
{
    unsigned right = 0, all = 0;

    for (uint32_t ways = 4; ways <= CF_SEQUENCE_WAYS; ways *= 2, all++) {
        struct cf_sequences_verdict v;

        for (uint32_t number = 0; number < CF_SEQUENCES; number++) {
            uint8_t block[CF_SEQUENCE_LONGEST];

            cf_sequence_make(ways, number, block);
            add(0, number, tree_misses(ways, block, cf_sequence_length(ways)));
        }
        v = judge(ways, 1);
        right += v.state == CF_SEQUENCES_NAMED && v.policies == 1 << CF_TREE_PLRU;
    }
    is_u64(right, all, "tree-plru that fills ways in another order is tree-plru");
}

int main(void)
{
    sequences();
    whatever_was_before();
    judged();
    disturbed();
    others();
    scattered();
    fills_by_tree();
    for (uint32_t ways = 0; ways <= CF_SEQUENCE_WAYS; ways++)
        cf_predictions_free(predicted[ways]);
    return done();
}
