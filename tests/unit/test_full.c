/* SPDX-License-Identifier: BSD-2-Clause */
/* Slots, and the fully associative LRU cache against a list that is searched from its front. */
#include <stdlib.h>
#include <string.h>

#include "filters/engine/classes/full.h"
#include "tap.h"

static uint64_t state = 1;

static uint32_t next(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33);
}

enum { MOST = 20000 };

/* What is slow and right: the lines in the cache from the newest to the oldest, and all lines that
   were ever touched. */
struct list {
    uint64_t line[MOST], seen[MOST];
    unsigned lines, count, known;
};

static int seen(struct list *l, uint64_t line)
{
    for (unsigned i = 0; i < l->known; i++)
        if (l->seen[i] == line)
            return 1;
    return 0;
}

static int reference(struct list *l, uint64_t line, int how)
{
    int found = CF_FULL_GONE;
    unsigned i;

    for (i = 0; i < l->count && l->line[i] != line; i++)
        ;
    if (i < l->count)
        found = CF_FULL_HIT;
    else if (!seen(l, line))
        found = CF_FULL_NEVER_SEEN;
    if (how == CF_FULL_FLUSH) {
        if (found == CF_FULL_HIT)
            memmove(l->line + i, l->line + i + 1, (--l->count - i) * sizeof(*l->line));
        return found;
    }
    if (how == CF_FULL_NO_ALLOCATE && found != CF_FULL_HIT)
        return found;
    if (found == CF_FULL_NEVER_SEEN)
        l->seen[l->known++] = line;
    if (found != CF_FULL_HIT)
        i = l->count < l->lines ? l->count++ : l->count - 1;
    memmove(l->line + 1, l->line, i * sizeof(*l->line));
    l->line[0] = line;
    return found;
}

/* Line numbers of one of several makes. */
static uint64_t line_of(unsigned make, unsigned i, unsigned range)
{
    uint64_t top = next() & 1 ? UINT64_MAX - range : 0;

    switch (make) {
    case 0:
        return next() % range;
    case 1:
        return i % range; /* cyclic: LRU's worst */
    case 2:
        return (uint64_t)(i % range) << 40; /* sparse, with a stride */
    case 3:
        return top + next() % range + 1; /* both ends of the address space */
    case 4:
        return (uint64_t)(next() % range) * 0x9e3779b97f4a7c15u;
    case 5:
        return next() % 4 ? next() % 3 : next() % range; /* some lines stay */
    default:
        return i / 7 % range + (next() % 16 == 0 ? next() % range : 0);
    }
}

static unsigned bad_traces, traces;

/* Times say which lines are there, and in which order they were referenced. */
static int wrong_times(const struct cf_full *f, struct cf_slots *s, const struct list *l)
{
    uint32_t slot, time, before = UINT32_MAX;
    unsigned there = 0;

    for (unsigned i = 0; i < l->count; i++) {
        if (cf_slots_find(s, &l->line[i], 1, &slot) != 0)
            return 1;
        time = cf_full_time(f, slot);
        if (!time || time >= before)
            return 1;
        before = time;
    }
    for (unsigned i = 0; i < l->known; i++)
        there += cf_slots_find(s, &l->seen[i], 1, &slot) == 0 && cf_full_time(f, slot) != 0;
    return there != l->count;
}

static void compare(unsigned make, unsigned lines, unsigned range, unsigned count,
                    unsigned how_odds)
{
    static struct list l;
    static uint64_t line[MOST];
    static uint32_t slot[MOST];
    static uint8_t found[MOST];
    struct cf_slots *s = cf_slots_new();
    struct cf_full *f = cf_full_new(lines);
    int bad = !s || !f;

    memset(&l, 0, sizeof(l));
    l.lines = lines;
    for (unsigned i = 0; i < count; i++)
        line[i] = line_of(make, i, range);
    for (unsigned from = 0, n; from < count && !bad; from += n) {
        n = 1 + next() % 300;
        n = n < count - from ? n : count - from;
        bad |= cf_slots_find(s, line + from, n, slot + from) != 0;
        if (how_odds) {
            for (unsigned i = from; i < from + n; i++) {
                int how = next() % how_odds == 0 ? (int)(next() % 2 + 1) : CF_FULL_TOUCH;

                bad |= cf_full_one(f, s, slot[i], how) != reference(&l, line[i], how);
            }
            continue;
        }
        bad |= cf_full_touch(f, s, slot + from, n, found) != 0;
        for (unsigned i = 0; i < n; i++)
            bad |= found[i] != reference(&l, line[from + i], CF_FULL_TOUCH);
    }
    bad = bad || wrong_times(f, s, &l);
    if (bad && !bad_traces)
        note("make %u, %u lines, range %u, %u references", make, lines, range, count);
    bad_traces += bad;
    traces++;
    cf_full_free(f);
    cf_slots_free(s);
}

/* Pages with one line each, at some stride. */
static void test_slots(uint64_t low, uint64_t high)
{
    enum { N = 200000 };
    uint64_t *line = malloc(N * sizeof(*line));
    uint32_t *slot = malloc(2 * N * sizeof(*slot));
    struct cf_slots *s = cf_slots_new();
    unsigned bad = 0;
    uint32_t most = 0;
    uint8_t *taken;

    need(line && slot && s, "memory");
    for (unsigned i = 0; i < N; i++)
        line[i] = i * high ^ i * low;
    ok(cf_slots_find(s, line, N, slot) == 0, "finds new lines");
    for (unsigned i = 0; i < N; i++)
        most = slot[i] > most ? slot[i] : most;
    is_u64(most / CF_SLOTS_PAGE + 1, N, "a page for each");
    ok(cf_slots_find(s, line, N, slot + N) == 0 && !memcmp(slot, slot + N, N * sizeof(*slot)),
       "and finds the same slots again");
    taken = calloc(N, 1);
    need(taken != NULL, "memory");
    for (unsigned i = 0; i < N; i++)
        bad += slot[i] / CF_SLOTS_PAGE >= N || taken[slot[i] / CF_SLOTS_PAGE]++;
    is_u64(bad, 0, "no two lines have the same slot");
    free(taken);
    cf_slots_free(s);
    free(slot);
    free(line);
}

/* A long trace, so that the times begin anew often: against the sum over a cycle that is known. */
static void test_long(void)
{
    enum { BATCH = 4096 };
    static uint64_t line[BATCH];
    static uint32_t slot[BATCH];
    static uint8_t found[BATCH];
    struct cf_slots *s = cf_slots_new();
    struct cf_full *f = cf_full_new(100);
    uint64_t sum[3] = {0}, i = 0;

    need(s && f, "memory");
    /* 99 lines in turn and one that comes every 1,000th time, a line in 5,000 that is new: the
       cycle hits while nothing new has come within its length */
    for (unsigned batch = 0; batch < 1000; batch++) {
        for (unsigned k = 0; k < BATCH; k++, i++)
            line[k] = i % 5000 == 4999 ? 1000 + i : i % 1000 == 999 ? 500 : i % 98;
        if (cf_slots_find(s, line, BATCH, slot) != 0 ||
            cf_full_touch(f, s, slot, BATCH, found) != 0)
            break;
        for (unsigned k = 0; k < BATCH; k++)
            sum[found[k]]++;
    }
    is_u64(i, 1000 * BATCH, "a trace of four million references");
    is_u64(sum[CF_FULL_NEVER_SEEN], 98 + 1 + i / 5000, "new lines are new once");
    /* 98 lines, the one of every 1,000 and the newest of the rest are 100: the cache holds them */
    is_u64(sum[CF_FULL_GONE], 0, "and what is used stays in the cache");
    cf_full_free(f);
    cf_slots_free(s);
}

int main(void)
{
    static const unsigned sizes[] = {1, 2, 3, 8, 63, 64, 65, 200, 1000};

    test_slots((uint64_t)1 << 6, (uint64_t)1 << 47);
    /* a Fibonacci number is the stride at which multiples of the golden ratio meet */
    test_slots(0, (uint64_t)1134903170 << 12);
    for (unsigned round = 0; round < 6; round++)
        for (unsigned make = 0; make < 7; make++)
            for (unsigned k = 0; k < 9; k++) {
                unsigned range = 1 + next() % (2 * sizes[k] + 2);

                compare(make, sizes[k], range, 1 + next() % 1500, 0);
                compare(make, sizes[k], range, 1 + next() % 1500, 1 + next() % 6);
            }
    ok(traces > 700 && bad_traces == 0, "%u traces equal the list", traces);
    traces = bad_traces = 0;
    for (unsigned i = 0; i < 200; i++)
        compare(i % 7, 1 + next() % 12, 1 + next() % 24, 20000, i % 3);
    ok(traces == 200 && bad_traces == 0, "%u traces in which times begin anew equal the list",
       traces);
    traces = bad_traces = 0;
    for (unsigned i = 0; i < 7; i++)
        compare(i, UINT32_MAX, 1000, 2000, 0);
    ok(traces == 7 && bad_traces == 0, "a cache greater than all memory only misses new lines");
    test_long();
    return done();
}
