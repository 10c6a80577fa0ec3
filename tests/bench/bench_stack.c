/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_stack [-n REFERENCES] [-r RUNS] [FILE...] - stack distances from columns in memory (addr,
 * op, size) to one distance for every row, against a tree over time.
 *
 * The baseline is what one writes first: a hash table gives the time of a line's last reference, a
 * Fenwick tree over time counts the lines since (Bennett and Kruskal 1975, Fenwick 1994). It takes
 * the line of an access's first byte, all in 32 bits, and its memory grows with the trace. Traces
 * and options: see bench_engine.h.
 */
#include "bench_engine.h"
#include "filters/engine/distance/stack.h"

enum { ROWS = CF_WIRE_ROWS };

struct variant {
    struct cf_stack_config config;
    struct cf_stack_stats stats;
};

/* As the filter does it, frame by frame. */
static uint64_t distances(const struct bench_trace *t, void *arg)
{
    struct variant *v = arg;
    struct cf_stack *s = cf_stack_new(&v->config);
    struct cf_runs *r = cf_runs_new(6, CF_RUNS_DATA, ROWS);
    static uint64_t dist[ROWS];
    static double weight[ROWS];
    uint64_t sum = 0;

    for (size_t at = 0; s && r && at < t->count; at += ROWS) {
        const uint32_t n = t->count - at < ROWS ? (uint32_t)(t->count - at) : ROWS;

        if (cf_stack_rows(s, r, 0, t->addr + at, t->op + at, t->size + at, n, 0, dist, weight) != 0)
            exit(3);
        sum += dist[n - 1];
    }
    if (!s || !r)
        exit(3);
    cf_stack_stats(s, &v->stats);
    cf_stack_free(s);
    cf_runs_free(r);
    return sum;
}

static uint64_t tree_over_time(const struct bench_trace *t, void *arg)
{
    enum { BITS = 22, MASK = (1 << BITS) - 1 };
    uint64_t *line = bench_memory(sizeof(*line) << BITS);
    uint32_t *last = bench_memory(sizeof(*last) << BITS);
    const uint32_t n = (uint32_t)t->count;
    uint32_t *tree = bench_memory((n + 1) * sizeof(*tree)), live = 0;
    uint64_t sum = 0;

    (void)arg;
    for (uint32_t i = 1; i <= n; i++) {
        const uint64_t x = t->addr[i - 1] >> 6;
        uint32_t h = (uint32_t)(x * 0x9e3779b97f4a7c15u >> (64 - BITS)) & MASK;

        while (last[h] && line[h] != x)
            h = (h + 1) & MASK;
        if (last[h]) {
            uint32_t before = 0;

            for (uint32_t k = last[h]; k; k &= k - 1)
                before += tree[k];
            sum += live - before;
            for (uint32_t k = last[h]; k <= n; k += k & -k)
                tree[k]--;
        } else {
            live++;
        }
        line[h] = x;
        last[h] = i;
        for (uint32_t k = i; k <= n; k += k & -k)
            tree[k]++;
        if (live > MASK / 2) {
            fprintf(stderr, "too many lines for the baseline\n");
            exit(3);
        }
    }
    free(line);
    free(last);
    free(tree);
    return sum;
}

int main(int argc, char **argv)
{
    const struct bench_options o = bench_options(argc, argv);
    struct variant exact = {{0}, {0}}, sets = {{.sets = 64}, {0}};
    struct variant sets48 = {{.sets = 48 * 1024}, {0}};
    struct variant max = {{.max = 512}, {0}};
    struct variant rate = {{.rate = 0.01}, {0}}, size = {{.samples = 8192}, {0}};
    struct bench_item items[] = {
        {"exact", distances, &exact, "tree over time", 1, {0}, 0},
        {"within 64 sets", distances, &sets, "tree over time", 1, {0}, 0},
        {"within 49152 sets", distances, &sets48, "tree over time", 1, {0}, 0},
        {"up to 512", distances, &max, "tree over time", 1, {0}, 0},
        {"sampled, rate 0.01", distances, &rate, "tree over time", 1, {0}, 0},
        {"sampled, 8192 lines", distances, &size, "tree over time", 1, {0}, 0},
        {"tree over time", tree_over_time, NULL, NULL, 0, {0}, 0},
    };
    const unsigned count = sizeof items / sizeof *items;

    for (unsigned k = 0; k < BENCH_TRACES; k++) {
        struct bench_trace t = bench_make(&o, k);

        if (t.count) {
            bench_items(items, count, &t, o.runs);
            for (unsigned i = 0; i + 1 < count; i++) {
                const struct variant *v = items[i].arg;

                printf("%-28s %-8s %7.1f bytes a line, %llu lines, %llu compactions\n",
                       items[i].name, t.name, (double)v->stats.line_bytes / (double)v->stats.lines,
                       (unsigned long long)v->stats.lines,
                       (unsigned long long)v->stats.compactions);
            }
        }
        bench_free(&t);
    }
    return 0;
}
