/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_hierarchy [-n REFERENCES] [-r RUNS] [-t TRACE] [-i ITEM] [FILE...]: three levels (32 KiB of
 * 8 ways, 1 MiB of 16, 8 MiB of 16, LRU, lines of 64 bytes) over columns in memory, one result byte
 * an access; also with inclusive outer levels, with prefetchers, and on two cores with private
 * first levels, which take turns every 1,000 references. Each as a ratio to a naive loop: one
 * reference after the other, every set searched for its line and for the oldest.
 */
#include "filters/engine/cache/hierarchy.h"
#include "tests/bench/bench_engine.h"

enum { CHUNK = 1 << 14, TURN = 1000 };

struct setup {
    struct cf_machine m;
    struct cf_hierarchy_options o;
};

static void level(struct cf_machine *m, const char *name, uint64_t size, uint32_t ways,
                  uint32_t shared, enum cf_inclusion inclusion)
{
    struct cf_level *l = &m->level[m->levels++];

    *l = (struct cf_level){.size = size,
                           .ways = ways,
                           .line = 64,
                           .sets = (uint32_t)(size / ways / 64),
                           .depth = m->levels,
                           .shared_by = shared,
                           .inclusion = inclusion,
                           .write_back = 1,
                           .write_allocate = 1};
    snprintf(l->name, sizeof l->name, "%s", name);
}

static struct setup *three(enum cf_inclusion inclusion, unsigned cores)
{
    struct setup *s = calloc(1, sizeof *s);

    if (!s)
        exit(3);
    s->m.line_size = 64;
    s->o.cores = cores;
    level(&s->m, "L1", 32 << 10, 8, 1, CF_NON_INCLUSIVE);
    level(&s->m, "L2", 1 << 20, 16, cores, inclusion);
    level(&s->m, "L3", 8 << 20, 16, cores, inclusion);
    return s;
}

static uint64_t engine(const struct bench_trace *t, void *arg)
{
    const struct setup *s = arg;
    static uint8_t hit[CHUNK];
    char problem[256];
    struct cf_hierarchy *h = cf_hierarchy_new(&s->m, &s->o, problem, sizeof problem);
    const unsigned step = s->o.cores > 1 ? TURN : CHUNK;
    uint64_t sum = 0;
    unsigned turn = 0;

    if (!h) {
        fprintf(stderr, "%s\n", problem);
        exit(3);
    }
    for (size_t i = 0; i < t->count; i += step, turn++) {
        const uint32_t rows = (uint32_t)(t->count - i < step ? t->count - i : step);

        if (cf_hierarchy_run(h, t->addr + i, t->op + i, t->size + i, 0, rows, turn % s->o.cores, 0,
                             hit) != 0)
            exit(3);
        sum += hit[0] + hit[rows - 1];
    }
    for (unsigned i = 0; i < s->m.levels; i++) {
        struct cf_hierarchy_counts c;

        cf_hierarchy_count(h, i, &c);
        sum = sum * 3 + c.load_misses + c.store_misses;
    }
    cf_hierarchy_free(h);
    return sum;
}

struct entry {
    uint64_t line, used;
};

static uint64_t naive(const struct bench_trace *t, void *arg)
{
    const struct setup *s = arg;
    struct entry *cache[3];
    uint64_t clock = 0, sum = 0;

    for (unsigned k = 0; k < 3; k++)
        cache[k] = bench_memory((size_t)s->m.level[k].sets * s->m.level[k].ways * sizeof **cache);
    for (size_t i = 0; i < t->count; i++) {
        const uint64_t last = (t->addr[i] + t->size[i] - 1) / 64;

        for (uint64_t line = t->addr[i] / 64; line <= last; line++)
            for (unsigned k = 0; k < 3; k++) {
                const struct cf_level *l = &s->m.level[k];
                struct entry *set = cache[k] + line % l->sets * l->ways, *oldest = set;
                uint32_t w = 0;

                while (w < l->ways && set[w].line != line + 1) {
                    if (set[w].used < oldest->used)
                        oldest = &set[w];
                    w++;
                }
                if (w < l->ways) {
                    set[w].used = ++clock;
                    break;
                }
                oldest->line = line + 1;
                oldest->used = ++clock;
                sum += k + 1;
            }
    }
    for (unsigned k = 0; k < 3; k++)
        free(cache[k]);
    return sum;
}

int main(int argc, char **argv)
{
    const struct bench_options o = bench_options(argc, argv);
    struct setup *simple = three(CF_NON_INCLUSIVE, 1);
    struct setup *inclusive = three(CF_INCLUSIVE, 1), *cores = three(CF_NON_INCLUSIVE, 2);
    struct setup *prefetch = three(CF_NON_INCLUSIVE, 1);

    prefetch->o.prefetch[1] = CF_PREFETCH_NEXT_LINE;
    for (unsigned which = 0; which < BENCH_TRACES; which++) {
        struct bench_trace t = bench_make(&o, which);
        struct bench_item items[] = {
            {"naive three levels", naive, simple, NULL, 0, {0}, 0},
            {"three levels", engine, simple, "naive three levels", 2, {0}, 0},
            {"three levels, inclusive", engine, inclusive, "naive three levels", 2, {0}, 0},
            {"three levels, next line at 2", engine, prefetch, "naive three levels", 2, {0}, 0},
            {"two cores, MESI", engine, cores, "naive three levels", 2, {0}, 0},
        };

        if (t.count)
            bench_items(items, sizeof items / sizeof *items, &t, o.runs);
        bench_free(&t);
    }
    free(simple);
    free(inclusive);
    free(cores);
    free(prefetch);
    return 0;
}
