/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stack distances of a trace in parts of random lengths, also empty ones: as a list says, and as
 * the whole trace has them in one run, with sets, units, a bound and samples. Parts are joined at
 * once, or in pieces whose first references were taken out on the way.
 */
#include <math.h>

#include "filters/engine/distance/stack_join.h"
#include "formats/base/cf_memory.h"
#include "stack_list.h"

enum { UNITS = 5 };

/* ---- a trace ---- */

static uint64_t addr[BIG], dist[BIG];
static uint32_t size[BIG], unit[BIG], space[BIG];
static uint8_t op[BIG];
static double weight[BIG], got_weight[BIG];

static void make(uint32_t n, uint32_t lines, unsigned units, int lines_only)
{
    const unsigned kind = (unsigned)(next() % 5);
    uint32_t at = 0, u = 0, process = 0;

    for (uint32_t i = 0; i < n; i++) {
        switch (kind) {
        case 0:
            at = (uint32_t)(next() % lines);
            break;
        case 1:
            at = i % lines;
            break;
        case 2:
            at = (uint32_t)(next() % (next() % lines + 1));
            break;
        case 3:
            at = (uint32_t)(next() % 20 ? next() % 8 : next() % lines);
            break;
        default:
            at = next() % 3 ? at : (uint32_t)(next() % lines);
        }
        if (next() % 30 == 0)
            u = (uint32_t)(next() % units);
        if (next() % 50 == 0)
            process = (uint32_t)(next() % 3);
        unit[i] = u;
        space[i] = lines_only ? 0 : process;
        addr[i] = (uint64_t)at * 16 + (lines_only ? 0 : next() % 16);
        size[i] = lines_only || next() % 4 ? 1 : (uint32_t)(next() % 60);
        op[i] = lines_only || next() % 8 ? CF_LOAD : (uint8_t)(1 + next() % 5);
    }
}

static struct cf_runs *runs;

/* First references that were taken out of a part. */
static struct cf_stack_first *taken;
static size_t takens, taken_room;

static void take_out(struct cf_stack_part *p)
{
    if (cf_array_room(&taken, &taken_room, takens + p->firsts + 1, sizeof(*taken)) != 0)
        abort();
    if (p->firsts)
        memcpy(taken + takens, p->first, p->firsts * sizeof(*taken));
    takens += p->firsts;
    p->firsts = 0;
}

/* Rows from `from` to `to` by calls that each are of one unit and space, and of random length. The
   stacks have the unit u of the trace as number (u + turn) % UNITS. */
static int take(struct cf_stack *s, struct cf_stack_part *p, uint32_t turn, uint32_t from,
                uint32_t to, uint64_t *d, double *w)
{
    for (uint32_t end; from < to; from = end) {
        const uint32_t most = (uint32_t)(next() % (next() % 4 ? 40 : 20000)) + 1;

        for (end = from + 1;
             end < to && end - from < most && unit[end] == unit[from] && space[end] == space[from];)
            end++;
        if (p)
            p->row = from;
        if (cf_stack_rows(s, runs, (unit[from] + turn) % UNITS, addr + from, op + from, size + from,
                          end - from, cf_space_key(space[from]), d + from, w + from) != 0)
            return -1;
        if (p && next() % 2)
            take_out(p);
    }
    return 0;
}

/* Stacks that take some of the parts. */
struct worker {
    struct cf_stack *s;
    uint32_t turn;
    struct cf_stack_part part;
};

/* As cf_stack_join(), in pieces; merges the distances, too. */
static int join_pieces(struct cf_stack *all, struct cf_stack_part *p, const uint32_t *number)
{
    struct cf_stack_part piece = *p;
    int bad = 0;

    take_out(p);
    piece.references = 0;
    piece.shards = (struct shards){0};
    for (size_t at = 0, n; at < takens && !bad; at += n) {
        n = next() % (takens - at) + 1;
        piece.first = taken + at;
        piece.firsts = n;
        piece.lasts = 0;
        bad = cf_stack_join(all, &piece, number, dist);
        for (size_t k = 0; k < n && !bad; k++)
            cf_stack_merge(got + taken[at + k].row, dist[k]);
    }
    takens = 0;
    for (size_t at = 0, n; at < p->lasts && !bad; at += n) {
        n = next() % (p->lasts - at) + 1;
        piece.firsts = 0;
        piece.last = p->last + at;
        piece.lasts = n;
        bad = cf_stack_join(all, &piece, number, dist);
    }
    piece = *p;
    piece.firsts = piece.lasts = 0;
    return bad || cf_stack_join(all, &piece, number, dist);
}

/* Rows from `from` to `to` as a part, joined to those before. */
static int take_part(struct cf_stack *all, struct worker *w, const struct cf_stack_config *c,
                     uint32_t from, uint32_t to)
{
    uint32_t number[UNITS];

    if (!w->s) {
        w->s = cf_stack_new(c);
        w->turn = (uint32_t)(next() % UNITS);
    }
    for (uint32_t u = 0; u < UNITS; u++)
        number[(u + w->turn) % UNITS] = u;
    if (!w->s || cf_stack_begin_part(w->s, &w->part) != 0 ||
        take(w->s, &w->part, w->turn, from, to, got, got_weight) != 0 ||
        cf_stack_end_part(w->s) != 0)
        return -1;
    if (takens || next() % 2)
        return join_pieces(all, &w->part, number);
    if (cf_stack_join(all, &w->part, number, dist) != 0)
        return -1;
    for (size_t k = 0; k < w->part.firsts; k++)
        cf_stack_merge(got + w->part.first[k].row, dist[k]);
    return 0;
}

/* n rows in parts; then one more run of the same stacks shows that their order is right. */
static int in_parts(const struct cf_stack_config *c, uint32_t n, unsigned parts,
                    struct cf_stack_stats *stats)
{
    enum { WORKERS = 3 };
    struct worker worker[WORKERS] = {{0}};
    struct cf_stack *all = cf_stack_new(c);
    const uint32_t end = n - n / 8;
    int bad = !all;

    for (uint32_t from = 0, k = 1, to; !bad && k <= parts; k++, from = to) {
        to = from + (uint32_t)(next() % 3 ? next() % (end - from + 1) : 0);
        if (k == parts)
            to = end;
        bad = take_part(all, worker + next() % WORKERS, c, from, to);
    }
    bad = bad || take(all, NULL, 0, end, n, got, got_weight);
    if (!bad)
        cf_stack_stats(all, stats);
    cf_stack_free(all);
    for (unsigned i = 0; i < WORKERS; i++) {
        cf_stack_free(worker[i].s);
        cf_stack_part_free(&worker[i].part);
    }
    return bad;
}

static int in_one(const struct cf_stack_config *c, uint32_t n, struct cf_stack_stats *stats)
{
    struct cf_stack *s = cf_stack_new(c);
    const int bad = !s || take(s, NULL, 0, 0, n, want, weight) != 0;

    if (!bad)
        cf_stack_stats(s, stats);
    cf_stack_free(s);
    return bad;
}

/* ---- what is right ---- */

static void by_lists(void)
{
    static const uint32_t set_counts[] = {1, 1, 3, 16};
    uint64_t wrong = 0, bad = 0, far = 0;

    for (unsigned round = 0; round < 1200; round++) {
        const uint32_t n = (uint32_t)(next() % (round % 8 ? 500 : 4000)) + 1;
        const struct cf_stack_config c = {.sets = set_counts[next() % 4],
                                          .max = next() % 3 ? 0 : next() % 60 + 1};
        struct cf_stack_stats stats = {0};

        make(n, (uint32_t)(next() % (round % 3 ? 60 : 1500)) + 1, 1, 1);
        for (uint32_t i = 0; i < n; i++)
            line[i] = addr[i] >> 4;
        list_distances(line, n, c.sets, c.max, want);
        bad += (uint64_t)(in_parts(&c, n, (unsigned)(next() % 9) + 1, &stats) != 0);
        wrong += differences(got, want, n);
        for (uint32_t i = 0; i < n; i++)
            far += want[i] == CF_DIST_BEYOND;
    }
    is_u64(bad, 0, "in parts: no call fails");
    is_u64(wrong, 0, "in parts: distances, as the list says, within sets and bounded");
    ok(far > 1000, "in parts: some are beyond the bound");
}

static int near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fabs(a) + 1e-9;
}

static void compare(const struct cf_stack_config *c, uint32_t n, unsigned parts, uint64_t *wrong)
{
    struct cf_stack_stats one = {0}, joined = {0};

    if (in_one(c, n, &one) != 0 || in_parts(c, n, parts, &joined) != 0) {
        wrong[0]++;
        return;
    }
    wrong[1] += differences(got, want, n);
    for (uint32_t i = 0; c->rate > 0 && i < n; i++)
        wrong[2] += got_weight[i] != weight[i];
    wrong[3] += one.references != joined.references || one.compulsory != joined.compulsory ||
                one.lines != joined.lines || one.sampled != joined.sampled ||
                !near(one.expected, joined.expected) || !near(one.error, joined.error);
}

static void by_one_run(void)
{
    uint64_t wrong[4] = {0};

    for (unsigned round = 0; round < 800; round++) {
        const uint32_t n = (uint32_t)(next() % (round % 8 ? 2000 : 30000)) + 1;
        struct cf_stack_config c = {0};

        if (round % 4 == 1)
            c.sets = (uint32_t)(next() % 100) + 2;
        if (round % 4 == 2)
            c.max = next() % 300 + 1;
        if (round % 4 == 3)
            c.rate = (double)(next() % 9 + 1) / 10;
        make(n, (uint32_t)(next() % (round % 3 ? 200 : 5000)) + 1, round % 5 + 1, 0);
        compare(&c, n, (unsigned)(next() % 9) + 1, wrong);
    }
    is_u64(wrong[0], 0, "rows in parts: no call fails");
    is_u64(wrong[1], 0, "rows in parts: as in one run, with units, spaces, straddles and samples");
    is_u64(wrong[2], 0, "rows in parts: weights of samples");
    is_u64(wrong[3], 0, "rows in parts: what was counted, and the error of samples");
}

/* Traces that grow and compact the stacks, and switch their fronts off. */
static void large(void)
{
    for (unsigned kind = 0; kind < 6; kind++) {
        const struct cf_stack_config c = {.max = kind == 2 ? 30000 : 0,
                                          .rate = kind == 3 ? 0.1 : 0};
        uint64_t wrong[4] = {0};

        make(BIG, kind % 2 ? 150000 : 40000, 1, kind == 4);
        compare(&c, BIG, 9, wrong);
        is_u64(wrong[0] + wrong[1] + wrong[2] + wrong[3], 0, "large trace %u: as in one run", kind);
    }
}

int main(void)
{
    runs = cf_runs_new(4, CF_RUNS_DATA, 1 << 12);
    need(runs != NULL, "memory");
    by_lists();
    by_one_run();
    large();
    cf_runs_free(runs);
    free(taken);
    return done();
}
