/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables of tags, and what is counted of them (placement, survivors, changes), against slow
 * counting over the same random snapshots. These come in frames of random lengths, rows of table
 * snapshot ahead of their lines, some snapshots without lines, some without a row.
 */
#include <math.h>
#include <string.h>

#include "filters/engine/snapshot/changes.h"
#include "filters/engine/replacement/placement.h"
#include "tap.h"

enum { SNAPS = 40, SETS = 6, WAYS = 5, CACHES = 2, SLOTS = CACHES * SETS * WAYS, ROWS = 9000 };

static uint64_t state = 7;

static uint32_t any(uint32_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 11) % below;
}

/* The truth: what each slot holds in each snapshot, 0 = nothing. */
static uint64_t truth[SNAPS][SLOTS];
static uint8_t states[SNAPS][SLOTS], marks[SNAPS][SLOTS];
static int has_row[SNAPS], ends[SNAPS]; /* a segment ends behind it */

static void make(void)
{
    memset(truth, 0, sizeof truth);
    for (int s = 0; s < SNAPS; s++) {
        const int empty = any(8) == 0;

        has_row[s] = empty || any(5) != 0;
        ends[s] = any(12) == 0;
        for (int i = 0; i < SLOTS; i++) {
            truth[s][i] = s && any(4) ? truth[s - 1][i] : any(9) ? (1 + any(12)) * 4096 : 0;
            if (empty)
                truth[s][i] = 0;
            /* a line stands in one way of a set */
            for (int k = i / WAYS * WAYS; k < i; k++)
                if (truth[s][k] == truth[s][i])
                    truth[s][i] = 0;
            states[s][i] = (uint8_t)(1 + any(2));
            marks[s][i] = any(3) != 0;
        }
    }
}

/* ---- slow counting ---- */

static int where(const uint64_t *t, int set, uint64_t line)
{
    for (int w = 0; w < WAYS; w++)
        if (line && t[set * WAYS + w] == line)
            return set * WAYS + w;
    return -1;
}

static int first_of_segment(int s)
{
    return s == 0 || ends[s - 1];
}

static struct cf_changes slow_changes(int a, int b)
{
    struct cf_changes c = {0};

    for (int i = 0; i < SLOTS; i++) {
        const int at = where(truth[b], i / WAYS, truth[a][i]);

        c.ways += truth[a][i] != truth[b][i];
        c.valid_a += truth[a][i] != 0;
        c.valid_b += truth[b][i] != 0;
        if (truth[a][i])
            c.count[at < 0    ? CF_ONLY_A
                    : at != i ? CF_OTHER_WAY
                              : (states[a][i] != states[b][i] ? CF_OTHER_STATE : CF_SAME)]++;
        if (truth[b][i] && where(truth[a], i / WAYS, truth[b][i]) < 0)
            c.count[CF_ONLY_B]++;
    }
    return c;
}

static void slow_placement(struct cf_placement *p, int marked)
{
    int last[CACHES * SETS];

    memset(p, 0, sizeof *p);
    for (int i = 0; i < CACHES * SETS; i++)
        last[i] = -1;
    for (int s = 1; s < SNAPS; s++)
        for (int set = 0; set < CACHES * SETS; set++) {
            int fresh = 0, others = 0, filled = 0, way = 0;

            if (first_of_segment(s)) {
                last[set] = -1;
                continue;
            }
            for (int w = 0; w < WAYS; w++) {
                const int i = set * WAYS + w;
                const int other = marked && !marks[s][i];

                if (!truth[s][i] || truth[s][i] == truth[s - 1][i])
                    continue;
                if (!truth[s - 1][i]) {
                    p->filled[w] += !other;
                    p->fills += !other;
                    filled++;
                } else {
                    fresh += !other;
                    others += other;
                    way = w;
                }
            }
            if (others == 1 && !fresh && !filled) {
                last[set] = way;
            } else if (fresh == 1 && !others && !filled) {
                p->decisions++;
                p->took[way]++;
                if (last[set] >= 0) {
                    p->steps++;
                    p->step[(way - last[set] + WAYS) % WAYS]++;
                }
                last[set] = way;
            } else if (fresh || others) {
                p->several += (uint64_t)fresh;
                last[set] = -1;
            }
        }
}

/* Numbers of which the engine counts two in the same place. */
static uint32_t rounds_of(int snapshot)
{
    static const uint32_t rounds[] = {0, 7, 16};

    return rounds[snapshot % 3];
}

/* Share of snapshots of `rounds` in which k of n lines are cached, over all sets with n lines. */
static uint64_t slow_survivors(int found, uint32_t rounds, uint32_t n, uint32_t k)
{
    uint64_t count = 0;

    for (int set = 0; set < (found ? CACHES * SETS : 1); set++) {
        uint64_t seen[64] = {0};
        uint32_t lines = 0;

        for (int s = 0; s < SNAPS; s++)
            for (int w = 0; w < WAYS; w++) {
                uint32_t i = 0;

                if (!truth[s][set * WAYS + w] || !marks[s][set * WAYS + w])
                    continue;
                while (i < lines && seen[i] != truth[s][set * WAYS + w])
                    i++;
                seen[i] = truth[s][set * WAYS + w];
                lines += i == lines;
            }
        if (found && lines != n)
            continue;
        for (int s = 0; s < SNAPS; s++) {
            uint32_t cached = 0;

            for (int i = found ? set * WAYS : 0; i < (found ? (set + 1) * WAYS : SLOTS); i++)
                cached += truth[s][i] && marks[s][i];
            count += rounds_of(s) == rounds && cached == k;
        }
    }
    return count;
}

/* ---- the engines ---- */

/* What they gave. */
static struct cf_placement all, marked;
static struct cf_survivors *found, *named;
static int good_tables, good_changes, taken;

static int count_lines(void *arg, const struct cf_tags *t, size_t slot, uint32_t set,
                       enum cf_change kind)
{
    struct cf_changes *c = arg;

    good_changes &= slot / t->way_room % t->set_room == set && t->line[slot] != CF_TAGS_NONE;
    c->count[kind]++;
    return 0;
}

static void take(struct cf_snaps *s)
{
    const int n = taken++;
    struct cf_changes c = {0}, by_line = {0}, ignored = {0}, want;

    if (n >= SNAPS || (int)s->info.number != n + 1 || s->first != first_of_segment(n)) {
        good_tables = 0;
        return;
    }
    for (uint32_t cache = 0; cache < CACHES; cache++)
        for (uint32_t set = 0; set < SETS; set++)
            for (uint32_t w = 0; w < WAYS; w++) {
                const uint32_t i = (cache * SETS + set) * WAYS + w;
                const size_t slot = cf_tags_slot(&s->now, cache, set) + w;
                const int there = cache < s->now.caches && set < s->now.set_room &&
                                  w < s->now.way_room && s->now.line[slot] != CF_TAGS_NONE;

                good_tables &= there == (truth[n][i] != 0);
                if (there)
                    good_tables &= s->now.line[slot] == truth[n][i] &&
                                   s->now.state[slot] == states[n][i] &&
                                   s->now.mark[slot] == marks[n][i];
            }
    if (has_row[n])
        good_tables &= s->info.time == (uint64_t)n * 10 && s->info.cost == 5;
    if (cf_survivors_add(found, &s->before, &s->now, rounds_of(n)) ||
        cf_survivors_add(named, &s->before, &s->now, rounds_of(n)))
        good_tables = 0;
    if (s->first) {
        cf_placement_forget(&all);
        cf_placement_forget(&marked);
        return;
    }
    if (cf_placement_add(&all, &s->before, &s->now, 0) ||
        cf_placement_add(&marked, &s->before, &s->now, 1))
        good_tables = 0;
    want = slow_changes(n - 1, n);
    good_changes &= cf_changes_add(&c, &s->before, &s->now, NULL, NULL) == 0;
    good_changes &= cf_changes_add(&ignored, &s->before, &s->now, count_lines, &by_line) == 0;
    good_changes &= !memcmp(&c, &want, sizeof c) && !memcmp(&ignored, &want, sizeof c) &&
                    !memcmp(by_line.count, want.count, sizeof want.count);
}

static void drain(struct cf_snaps *s)
{
    int r;

    while ((r = cf_snaps_next(s)) > 0)
        take(s);
    good_tables &= r == 0;
}

static void feed(struct cf_snaps *s, struct cf_frame *f, const uint8_t *mark)
{
    if (cf_snaps_frame(s, f) != 0)
        good_tables = 0;
    if (mark)
        cf_snaps_marks(s, mark);
    drain(s);
}

static void feed_header(struct cf_snaps *s)
{
    struct cf_frame f = {.table = CF_HEADER};

    feed(s, &f, NULL);
}

/* The rows of table snapshot from one snapshot up to another. */
static void feed_rows(struct cf_snaps *s, int from, int to, int told)
{
    static uint32_t number[SNAPS], sets[SNAPS], ways[SNAPS];
    static uint64_t time[SNAPS], cost[SNAPS];
    static uint8_t level[SNAPS];
    struct cf_frame f = {.table = CF_SNAPSHOT};

    for (int n = from; n < to; n++)
        if (has_row[n]) {
            number[f.rows] = (uint32_t)n + 1;
            time[f.rows] = (uint64_t)n * 10;
            cost[f.rows] = 5;
            sets[f.rows] = SETS;
            ways[f.rows] = WAYS;
            level[f.rows++] = 2;
        }
    cf_frame_set(&f, CF_SNAP, number);
    cf_frame_set(&f, CF_TIME, time);
    cf_frame_set(&f, CF_COST_TOTAL, cost);
    cf_frame_set(&f, CF_LEVEL, level);
    if (told) {
        cf_frame_set(&f, CF_SETS, sets);
        cf_frame_set(&f, CF_WAYS, ways);
    }
    if (f.rows)
        feed(s, &f, NULL);
}

static void feed_lines(struct cf_snaps *s, int from, int to)
{
    static uint32_t number[ROWS], set[ROWS], way[ROWS], cpu[ROWS];
    static uint64_t phys[ROWS];
    static uint8_t line_state[ROWS], mark[ROWS], level[ROWS];
    uint32_t rows = 0, length;

    for (int n = from; n < to; n++)
        for (uint32_t i = 0; i < SLOTS; i++) {
            if (!truth[n][i])
                continue;
            /* beside each a second one of the same way, and one of another level */
            for (int k = 0; k < 3; k++) {
                number[rows] = (uint32_t)n + 1;
                cpu[rows] = i / (SETS * WAYS) * 4;
                set[rows] = i / WAYS % SETS;
                way[rows] = i % WAYS;
                phys[rows] = truth[n][i] + (k ? 64 : 0);
                line_state[rows] = states[n][i];
                mark[rows] = marks[n][i];
                level[rows++] = k == 2 ? 1 : 2;
            }
        }
    for (uint32_t at = 0; at < rows; at += length) {
        struct cf_frame f = {.table = CF_LINE};

        length = 1 + any(100);
        length = length < rows - at ? length : rows - at;
        f.rows = length;
        cf_frame_set(&f, CF_SNAP, number + at);
        cf_frame_set(&f, CF_SET, set + at);
        cf_frame_set(&f, CF_WAY, way + at);
        cf_frame_set(&f, CF_CPU, cpu + at);
        cf_frame_set(&f, CF_PHYS, phys + at);
        cf_frame_set(&f, CF_STATE, line_state + at);
        cf_frame_set(&f, CF_LEVEL, level + at);
        feed(s, &f, mark + at);
    }
}

static int same_survivors(struct cf_survivors *s, int by_set)
{
    size_t count;
    struct cf_survivors_row *row = cf_survivors_rows(s, &count);
    uint64_t sum = 0, want = (uint64_t)SNAPS * (by_set ? CACHES * SETS : 1);
    int good = row != NULL;

    for (size_t i = 0; i < count && good; i++) {
        good = row[i].count == slow_survivors(by_set, row[i].rounds, row[i].lines, row[i].cached);
        sum += row[i].count;
    }
    /* sets that never held a line with a mark are no experiment */
    for (int set = 0; by_set && set < CACHES * SETS; set++) {
        int any_line = 0;

        for (int n = 0; n < SNAPS; n++)
            for (int w = 0; w < WAYS; w++)
                any_line |= truth[n][set * WAYS + w] && marks[n][set * WAYS + w];
        want -= any_line ? 0 : SNAPS;
    }
    free(row);
    return good && sum == want;
}

static int same_placement(const struct cf_placement *p, int by_mark)
{
    static struct cf_placement want;

    slow_placement(&want, by_mark);
    return !memcmp(p->took, want.took, sizeof want.took) &&
           !memcmp(p->filled, want.filled, sizeof want.filled) &&
           !memcmp(p->step, want.step, sizeof want.step) && p->decisions == want.decisions &&
           p->fills == want.fills && p->steps == want.steps && p->several == want.several;
}

static void against_slow_ones(void)
{
    int good[4] = {1, 1, 1, 1}, counted = 1;

    for (int n = 0; n < 150; n++) {
        struct cf_snaps *s = cf_snaps_new(0, CF_TAGS_STATE | CF_TAGS_MARK);
        const int told = n % 3 != 0; /* else sets and ways show in the lines alone */

        make();
        memset(&all, 0, sizeof all);
        memset(&marked, 0, sizeof marked);
        found = cf_survivors_new(1, 0);
        named = cf_survivors_new(0, SLOTS);
        good_tables = good_changes = 1;
        taken = 0;
        need(s && found && named, "memory");
        feed_header(s);
        for (int from = 0, to; from < SNAPS; from = to) {
            to = from + 1 + (int)any(5);
            for (int k = from; k < to; k++)
                if (k >= SNAPS || ends[k])
                    to = k < SNAPS ? k + 1 : SNAPS;
            feed_rows(s, from, to, told);
            feed_lines(s, from, to);
            if (ends[to - 1] && to < SNAPS)
                feed_header(s);
        }
        cf_snaps_end(s);
        drain(s);
        good[0] &= good_tables && taken == SNAPS;
        good[1] &= good_changes;
        /* a layout that grows forgets the last decisions of its sets */
        good[2] &= !told || (same_placement(&all, 0) && same_placement(&marked, 1));
        good[3] &= same_survivors(found, 1) && same_survivors(named, 0);
        counted &= all.decisions > 20 || !told;
        cf_placement_free(&all);
        cf_placement_free(&marked);
        cf_survivors_free(found);
        cf_survivors_free(named);
        cf_snaps_free(s);
    }
    ok(good[0], "tables hold what the rows say");
    ok(good[1], "changes");
    ok(good[2] && counted, "ways and steps");
    ok(good[3], "k of n lines");
}

static void impossible_places(void)
{
    struct cf_snaps *s = cf_snaps_new(0, 0);
    uint32_t number[] = {1, 1, 1, 1}, set[] = {0, UINT32_MAX, 5, 1u << 24},
             way[] = {1, 0, UINT32_MAX, 0};
    uint64_t phys[] = {64, 128, UINT64_MAX, 0};
    struct cf_frame f = {.table = CF_LINE, .rows = 4};
    int r;

    need(s != NULL, "memory");
    cf_frame_set(&f, CF_SNAP, number);
    cf_frame_set(&f, CF_SET, set);
    cf_frame_set(&f, CF_WAY, way);
    cf_frame_set(&f, CF_PHYS, phys);
    r = cf_snaps_frame(s, &f) | cf_snaps_next(s);
    cf_snaps_end(s);
    ok(r == 0 && cf_snaps_next(s) == 1 && s->refused == 3 && s->worst_set == UINT32_MAX &&
           cf_tags_capacity(&s->now) == 2 && s->now.line[cf_tags_slot(&s->now, 0, 0) + 1] == 64,
       "sets and ways that no cache has are refused");
    cf_snaps_free(s);
}

static void moments(void)
{
    struct cf_moments m = {0};

    for (int i = 0; i < 8; i++)
        cf_moments_add(&m, "\2\4\4\4\5\5\7\11"[i]);
    ok(m.n == 8 && fabs(m.mean - 5) < 1e-12 && m.most == 9 &&
           fabs(cf_moments_deviation(&m) - sqrt(32.0 / 7)) < 1e-12,
       "mean, deviation, largest");
}

int main(void)
{
    against_slow_ones();
    impossible_places();
    moments();
    return done();
}
