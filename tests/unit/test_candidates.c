/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which policy made these snapshots? The snapshots are made by slow models that share no code with
 * the engine's: lists of lines by age, a tree of pointers walked by recursion, a dice.
 */
#include <math.h>
#include <string.h>

#include "filters/engine/replacement/candidates.h"
#include "tap.h"

enum { SETS = 4, WAYS = 8 };

enum { SLOW_LRU, SLOW_FIFO, SLOW_TREE, SLOW_RANDOM, SLOW_KINDS };
static const enum cf_replacement kinds[SLOW_KINDS] = {CF_LRU, CF_FIFO, CF_TREE_PLRU, CF_RANDOM};

static uint64_t state;

static uint32_t any(uint32_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 11) % below;
}

static uint64_t line[SETS][WAYS];
static uint64_t stamp[SETS][WAYS]; /* last use (LRU) or arrival (FIFO) */
static uint8_t side[SETS][WAYS];   /* tree: the child of node n to take for a victim */
static uint64_t now;

static int tree_victim(const uint8_t *t, int node)
{
    return node >= WAYS ? node - WAYS : tree_victim(t, 2 * node + t[node]);
}

static void tree_touch(uint8_t *t, int way)
{
    for (int node = way + WAYS; node > 1; node /= 2)
        t[node / 2] = node % 2 == 0; /* away from where it came */
}

static void slow_access(int kind, uint64_t l)
{
    const int set = (int)(l % SETS);
    int way = -1;

    now++;
    for (int w = 0; w < WAYS; w++)
        if (line[set][w] == l)
            way = w;
    if (way >= 0) {
        if (kind == SLOW_LRU)
            stamp[set][way] = now;
        tree_touch(side[set], way);
        return;
    }
    for (int w = WAYS; w-- > 0;)
        if (line[set][w] == CF_CACHE_NONE)
            way = w;
    if (way < 0 && kind == SLOW_TREE)
        way = tree_victim(side[set], 1);
    if (way < 0 && kind == SLOW_RANDOM)
        way = (int)any(WAYS);
    if (way < 0) {
        way = 0;
        for (int w = 1; w < WAYS; w++)
            if (stamp[set][w] < stamp[set][way])
                way = w;
    }
    line[set][way] = l;
    stamp[set][way] = now;
    tree_touch(side[set], way);
}

static void slow_empty(void)
{
    memset(line, CF_NO_LINE_BYTE, sizeof line);
    memset(stamp, 0, sizeof stamp);
}

struct plan {
    int warm;  /* so many accesses before anybody watches */
    int every; /* accesses between snapshots */
    int snapshots;
    uint32_t lines; /* of each set */
    int flush;      /* the cache is emptied after each */
    int noise;      /* one way in so many snapshots gets a line that nobody accessed */
};

static uint64_t any_line(const struct plan *p)
{
    const uint32_t most = p->lines > 1 ? p->lines : 2;
    const uint32_t l = any(2) ? any(most) : any(most / 2); /* some more often */

    return (uint64_t)l * SETS + any(SETS);
}

/* Runs a plan; the ranking and the totals. -1 without memory. */
static int play(int kind, const struct plan *p, struct cf_candidates_score *score,
                struct cf_candidates_totals *totals)
{
    struct cf_candidates *r = cf_candidates_new(SETS, WAYS, p->warm == 0);
    int bad = !r;

    slow_empty();
    memset(side, 0, sizeof side);
    for (int i = 0; i < p->warm; i++)
        slow_access(kind, any_line(p));
    for (int s = 0; s < p->snapshots && !bad; s++) {
        for (int i = 0; i < p->every && !bad; i++) {
            const uint64_t l = any_line(p);

            slow_access(kind, l);
            bad = cf_candidates_access(r, l, 0) != 0;
        }
        if (p->noise && any((uint32_t)p->noise) == 0)
            line[any(SETS)][any(WAYS)] = (uint64_t)SETS * 1000 + any(100) * SETS;
        /* noise may have put a line into a wrong set; the engine only sees a table */
        if (!bad)
            bad = cf_candidates_snapshot(r, &line[0][0], WAYS, p->flush) != 0;
        if (p->flush)
            slow_empty();
    }
    if (!bad) {
        cf_candidates_rank(r, score);
        *totals = cf_candidates_totals(r);
    }
    cf_candidates_free(r);
    return bad ? -1 : 0;
}

static int find(const struct cf_candidates_score *score, enum cf_replacement policy)
{
    for (int i = 0; i < CF_CANDIDATES_ALL; i++)
        if (score[i].policy == policy)
            return i;
    return 0;
}

static void try_plan(const char *what, const struct plan *p)
{
    for (int k = 0; k < SLOW_KINDS; k++) {
        struct cf_candidates_score score[CF_CANDIDATES_ALL];
        struct cf_candidates_totals totals;
        int named = 1, exact = 1, judged = 1;

        for (state = 1; state < 60 && named; state += 7) {
            const uint64_t seed = state;

            if (play(k, p, score, &totals) != 0)
                exit(1);
            state = seed;
            named = score[0].policy == kinds[k] && score[0].verdict == CF_CANDIDATES_BEST &&
                    score[1].verdict == CF_CANDIDATES_WORSE;
            /* FIFO is not told when a line left and came back between two snapshots */
            exact &= kinds[k] == CF_RANDOM || p->noise ||
                     score[0].exact >=
                         (kinds[k] == CF_FIFO && p->warm ? totals.judged * 9 / 10 : totals.judged);
            judged &= totals.judged > (uint64_t)p->snapshots / 4;
        }
        ok(named && judged, "%s: %s is named", what, cf_policy_name(kinds[k]));
        if (!named)
            note("%s %.2f, %s %.2f, of %d", cf_policy_name(score[0].policy),
                 score[0].log_likelihood, cf_policy_name(score[1].policy), score[1].log_likelihood,
                 (int)totals.judged);
        if (kinds[k] != CF_RANDOM && !p->noise)
            ok(exact, "%s: %s predicts every snapshot", what, cf_policy_name(kinds[k]));
    }
}

/* Both are exact as long as nothing is touched twice. */
static void not_apart(void)
{
    struct cf_candidates *r = cf_candidates_new(1, WAYS, 1);
    struct cf_candidates_score score[CF_CANDIDATES_ALL];
    uint64_t next = 0;
    int bad = !r;

    slow_empty();
    for (int s = 0; s < 200 && !bad; s++) {
        for (int i = 0; i < 3 && !bad; i++) {
            slow_access(SLOW_LRU, next * SETS);
            bad = cf_candidates_access(r, next++ * SETS, 0) != 0;
        }
        bad = bad || cf_candidates_snapshot(r, line[0], WAYS, 0) != 0;
    }
    need(!bad, "memory");
    cf_candidates_rank(r, score);
    ok(score[0].policy == CF_LRU &&
           score[find(score, CF_FIFO)].verdict == CF_CANDIDATES_NOT_APART &&
           score[find(score, CF_FIFO)].differs == 0 &&
           score[find(score, CF_RANDOM)].verdict == CF_CANDIDATES_WORSE,
       "LRU and FIFO cannot be told apart by lines that are never used again");
    cf_candidates_free(r);
}

static void nothing(void)
{
    struct cf_candidates *r = cf_candidates_new(SETS, WAYS, 1);
    struct cf_candidates_score score[CF_CANDIDATES_ALL];
    int bad = !r;

    slow_empty();
    for (int s = 0; s < 50 && !bad; s++) {
        const uint64_t l = any(SETS * WAYS);

        slow_access(SLOW_FIFO, l);
        bad = cf_candidates_access(r, l, 0) || cf_candidates_snapshot(r, &line[0][0], WAYS, 0);
    }
    need(!bad, "memory");
    cf_candidates_rank(r, score);
    ok(score[0].verdict == CF_CANDIDATES_NO_EVIDENCE && cf_candidates_totals(r).judged == 0 &&
           cf_candidates_totals(r).trivial == 50,
       "where everything fits, no policy is named");
    cf_candidates_free(r);
    ok(!cf_candidates_new(SETS, CF_CANDIDATES_WAYS + 1, 1), "more ways than can be judged");
}

/* One access between two snapshots of a full set: the likelihood of random is 1 / ways each. */
static void likelihood(void)
{
    struct cf_candidates *r = cf_candidates_new(1, WAYS, 1);
    struct cf_candidates_score score[CF_CANDIDATES_ALL];
    const int n = 400;
    int bad = !r;

    slow_empty();
    for (uint64_t i = 0; i < WAYS && !bad; i++) {
        slow_access(SLOW_RANDOM, i * SETS);
        bad = cf_candidates_access(r, i * SETS, 0) != 0;
    }
    bad = bad || cf_candidates_snapshot(r, line[0], WAYS, 0) != 0;
    for (int i = 0; i < n && !bad; i++) {
        slow_access(SLOW_RANDOM, (uint64_t)(WAYS + i) * SETS);
        bad = cf_candidates_access(r, (uint64_t)(WAYS + i) * SETS, 0) ||
              cf_candidates_snapshot(r, line[0], WAYS, 0);
    }
    need(!bad, "memory");
    cf_candidates_rank(r, score);
    ok(cf_candidates_totals(r).judged == (uint64_t)n && score[0].policy == CF_RANDOM &&
           fabs(score[0].log_likelihood + n * log(WAYS)) < 1e-6,
       "random: the likelihood of single decisions");
    cf_candidates_free(r);
}

/* Chance that the accesses, in this order, leave the lines `want` of a set of random victims that
   holds `n` lines: over all victims, each on its own. */
static double chance_of(const uint64_t *want, uint32_t ways, const uint64_t *held, uint32_t n,
                        const uint64_t *access, int left)
{
    uint64_t next[WAYS];
    uint32_t same = 0;
    double sum = 0;

    for (uint32_t i = 0; i < n; i++)
        for (uint32_t w = 0; w < ways; w++) {
            same += held[i] == want[w];
            if (left && held[i] == *access)
                return chance_of(want, ways, held, n, access + 1, left - 1);
        }
    if (!left)
        return same == ways;
    for (uint32_t i = n < ways ? n : 0; i < (n < ways ? n + 1 : ways); i++) {
        memcpy(next, held, n * sizeof *next);
        next[i] = *access;
        sum += chance_of(want, ways, next, n < ways ? n + 1 : n, access + 1, left - 1);
    }
    return n < ways ? sum : sum / ways;
}

/* Random victims in one set against the sum over all victims; from an empty cache each time, or
   from what is there. */
static void enumerated(uint32_t ways, int most, uint32_t lines, int flush)
{
    struct cf_candidates *r = cf_candidates_new(1, ways, 1);
    struct cf_candidates_score score[CF_CANDIDATES_ALL];
    uint64_t held[WAYS], before[WAYS], access[10], judged = 0;
    uint32_t n = 0;
    double exact = 0;
    int bad = !r, at;

    memset(held, CF_NO_LINE_BYTE, sizeof held);
    for (int s = 0; s < 3000 && !bad; s++) {
        const uint32_t were = n;
        double chance;

        memcpy(before, held, sizeof before);
        for (int i = 0; i < most && !bad; i++) {
            access[i] = any(lines);
            for (at = 0; (uint32_t)at < n && held[at] != access[i];)
                at++;
            if ((uint32_t)at == n)
                held[n < ways ? n++ : any(ways)] = access[i];
            bad = cf_candidates_access(r, access[i], 0) != 0;
        }
        bad = bad || cf_candidates_snapshot(r, held, ways, flush) != 0;
        chance = chance_of(held, ways, before, were, access, most);
        exact += n == ways ? log(chance) : 0;
        judged += n == ways && chance < 1;
        if (flush) {
            memset(held, CF_NO_LINE_BYTE, sizeof held);
            n = 0;
        }
    }
    need(!bad, "memory");
    cf_candidates_rank(r, score);
    at = find(score, CF_RANDOM);
    ok(at == 0 && judged == cf_candidates_totals(r).judged &&
           fabs(score[at].log_likelihood - exact) < -exact / 100,
       "random: %d of %d accesses in %d ways%s: the sum over all victims", (int)lines, most,
       (int)ways, flush ? ", emptied after each" : "");
    cf_candidates_free(r);
}

int main(void)
{
    try_plan("from an empty cache", &(struct plan){0, 20, 400, 14, 0, 0});
    try_plan("a snapshot after each access", &(struct plan){0, 1, 4000, 14, 0, 0});
    try_plan("emptied after each", &(struct plan){0, 80, 200, 14, 1, 0});
    try_plan("joined in the middle", &(struct plan){1000, 20, 400, 14, 0, 0});
    try_plan("with noise", &(struct plan){0, 20, 600, 14, 0, 10});
    not_apart();
    nothing();
    likelihood();
    for (int flush = 0; flush < 2; flush++) {
        enumerated(2, 4, 4, flush);
        enumerated(2, 6, 4, flush);
        enumerated(2, 8, 3, flush);
        enumerated(3, 6, 5, flush);
        enumerated(4, 6, 6, flush);
    }
    return done();
}
