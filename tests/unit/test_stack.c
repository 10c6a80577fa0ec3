/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stack distances against a list in which the line that is referenced moves to the front, over many
 * small traces of many kinds; the code for each processor against the others. Sampling is
 * test_stack_sampling.c's.
 */
#include "stack_list.h"

static uint64_t again[BIG];

/* For which processors the code is run. */
enum { CODES = 2 };
static const char *const code_name[CODES] = {"avx2", "base"};

static struct cf_stack *new_stack(const struct cf_stack_config *c, unsigned code)
{
    setenv("CF_CPU", code_name[code], 1);
    return cf_stack_new(c);
}

/* ---- traces ---- */

enum { KINDS = 10 };

static void make(unsigned kind, uint32_t n, uint32_t lines, uint64_t *x)
{
    static const uint64_t strides[] = {1,
                                       2,
                                       3,
                                       64,
                                       4096,
                                       1 << 16,
                                       (uint64_t)1 << 32,
                                       (uint64_t)1 << 57,
                                       0x9e3779b97f4a7c15u,
                                       0xfffffff0u};
    const uint64_t base = next() % 3 ? next() : next() % 2 ? UINT64_MAX - 5 : 0;
    const uint64_t stride = strides[next() % 10];
    uint64_t at = 0;

    for (uint32_t i = 0; i < n; i++) {
        switch (kind) {
        case 0: /* uniform */
            at = next() % lines;
            break;
        case 1: /* cyclic: every distance is the same */
            at = i % lines;
            break;
        case 2: /* back and forth */
            at = i / lines % 2 ? lines - 1 - i % lines : i % lines;
            break;
        case 3: /* skewed */
            at = next() % (next() % lines + 1) % (next() % lines + 1);
            break;
        case 4: /* a few, and now and then any */
            at = next() % 20 ? next() % 8 : next() % lines;
            break;
        case 5: /* phases, with and without locality */
            at = i / 700 % 2 ? next() % lines : next() % 30;
            break;
        case 6: /* new ones for ever, each twice at some distance */
            at = i % 2 ? i / 2 : i / 2 > lines ? i / 2 - lines : 0;
            break;
        case 7: /* around the size of the front */
            at = i % (28 + i / 500 % 10);
            break;
        case 8: /* the same, a while */
            at = next() % 3 ? at : next() % lines;
            break;
        case 9: /* any 64 bits: low ones, high ones, or both */
            at = next() % 2 ? next() % lines << 58 | next() % 3 : next() % lines;
            break;
        }
        x[i] = (base + at * stride) % ((uint64_t)1 << 62);
    }
}

/* Distances by the engine, in pieces of random length. */
static int run(const struct cf_stack_config *c, unsigned code, const uint64_t *x, uint32_t n,
               int pieces, uint64_t *dist)
{
    struct cf_stack *s = new_stack(c, code);
    int bad = !s;

    for (uint32_t i = 0, part; !bad && i < n; i += part) {
        part = pieces ? (uint32_t)(next() % (next() % 4 ? 40 : 3000)) + 1 : n;
        if (part > n - i)
            part = n - i;
        bad = reference(s, 0, x + i, part, dist + i) != 0;
    }
    cf_stack_free(s);
    return bad;
}

static void small_traces(void)
{
    static const uint32_t set_counts[] = {2, 3, 7, 16, 64, 100, 1023};
    uint64_t wrong[CODES] = {0}, wrong_sets[CODES] = {0}, wrong_max[CODES] = {0}, bad = 0,
             traces = 0;

    for (unsigned round = 0; round < 260; round++)
        for (unsigned kind = 0; kind < KINDS; kind++, traces++) {
            const uint32_t n = (uint32_t)(next() % (round % 16 ? 400 : MOST)) + 1;
            const uint32_t lines = (uint32_t)(next() % (round % 3 ? 60 : 2000)) + 1;
            const uint32_t sets = set_counts[next() % 7];
            const uint64_t max = next() % 100 + 1;

            make(kind, n, lines, line);
            for (unsigned code = 0; code < CODES; code++) {
                struct cf_stack_config c = {0};

                list_distances(line, n, 1, 0, want);
                bad += (uint64_t)run(&c, code, line, n, 0, got);
                wrong[code] += differences(got, want, n);
                bad += (uint64_t)run(&c, code, line, n, 1, got);
                wrong[code] += differences(got, want, n);
                c.max = max;
                list_distances(line, n, 1, max, want);
                bad += (uint64_t)run(&c, code, line, n, 1, got);
                wrong_max[code] += differences(got, want, n);
                c.max = 0;
                c.sets = sets;
                if (n > 1000 && sets > 100)
                    continue; /* the lists would be large */
                list_distances(line, n, sets, 0, want);
                bad += (uint64_t)run(&c, code, line, n, (int)(next() % 2), got);
                wrong_sets[code] += differences(got, want, n);
            }
        }
    note("%llu traces", (unsigned long long)traces);
    is_u64(bad, 0, "no call fails");
    for (unsigned code = 0; code < CODES; code++) {
        is_u64(wrong[code], 0, "%s code: distances, as the list says", code_name[code]);
        is_u64(wrong_sets[code], 0, "%s code: distances within sets", code_name[code]);
        is_u64(wrong_max[code], 0, "%s code: bounded distances", code_name[code]);
    }
}

/* More than a million lines, again and again in the same order: the table becomes a mapping, which
   grows several times. */
static void growth(void)
{
    const uint32_t lines = 1100000;

    for (unsigned code = 0; code < CODES; code++) {
        const struct cf_stack_config config = {0};
        struct cf_stack *s = new_stack(&config, code);
        struct cf_stack_stats stats = {0};
        uint64_t wrong = s ? 0 : 1;

        for (uint32_t i = 0, part; s && !wrong && i < 2 * lines; i += part) {
            part = i < lines && lines - i < MOST ? lines - i : MOST;
            part = part < 2 * lines - i ? part : 2 * lines - i;
            for (uint32_t k = 0; k < part; k++)
                line[k] = ((i + k) % lines * UINT64_C(0x9e3779b97f4a7c15)) >> 2;
            wrong += reference(s, 0, line, part, got) != 0;
            for (uint32_t k = 0; k < part; k++)
                wrong += got[k] != (i < lines ? CF_DIST_COMPULSORY : lines - 1);
        }
        is_u64(wrong, 0, "a million lines, %s code: distances", code_name[code]);
        if (s)
            cf_stack_stats(s, &stats);
        ok(stats.lines == lines && stats.line_bytes <= 32 * stats.lines,
           "a million lines, %s code: at most 32 bytes a line", code_name[code]);
        cf_stack_free(s);
    }
}

/* Lines into `line`, and their distances into `want`, by a tree over time (Fenwick, A new data
   structure for cumulative frequency tables, 1994). Returns the number of different lines. */
static uint64_t large_trace(unsigned kind)
{
    uint64_t *place = calloc(1 << 18, sizeof(*place)), live = 0;
    uint32_t *tree = calloc(BIG + 1, sizeof(*tree));

    need(place && tree, "memory");
    for (uint32_t i = 0; i < BIG; i++) {
        const uint32_t lines = kind == 0 ? 1 << 18 : kind == 1 ? 1000 : 150000;
        uint64_t x = next() % lines;

        if (kind == 2)
            x = i % lines;
        if (kind == 3 && i / 60000 % 2)
            x = x % 20;
        want[i] = CF_DIST_COMPULSORY;
        if (place[x]) {
            uint64_t before = 0;

            for (uint64_t k = place[x]; k; k &= k - 1)
                before += tree[k];
            want[i] = live - before;
            for (uint64_t k = place[x]; k <= BIG; k += k & -k)
                tree[k]--;
        }
        live += !place[x];
        place[x] = i + 1;
        for (uint64_t k = i + 1; k <= BIG; k += k & -k)
            tree[k]++;
        line[i] = x << 20 ^ x;
    }
    free(place);
    free(tree);
    return live;
}

/* Traces that grow the table, compact it, and switch the front off and on. */
static void large_traces(void)
{
    const struct cf_stack_config config = {0};

    for (unsigned kind = 0; kind < 4; kind++) {
        struct cf_stack *a = new_stack(&config, 0), *b = new_stack(&config, CODES - 1);
        struct cf_stack_stats stats;
        const uint64_t cold = large_trace(kind);

        need(a && b && !reference(a, 0, line, BIG, got) && !reference(b, 0, line, BIG, again),
             "large trace %u runs", kind);
        is_u64(differences(got, want, BIG), 0, "large trace %u: as a tree over time says", kind);
        is_u64(differences(got, again, BIG), 0, "large trace %u: for each processor", kind);
        cf_stack_stats(a, &stats);
        is_u64(stats.lines, cold, "large trace %u: lines", kind);
        is_u64(stats.compulsory, cold, "large trace %u: first references", kind);
        ok(stats.compactions > 1, "large trace %u: it was compacted", kind);
        for (unsigned code = 0; code < CODES; code++) {
            struct cf_stack_config near = {.max = kind % 2 ? 700 : 40000};

            for (uint32_t i = 0; i < BIG; i++)
                again[i] =
                    want[i] > near.max && want[i] != CF_DIST_COMPULSORY ? CF_DIST_BEYOND : want[i];
            ok(!run(&near, code, line, BIG, 1, got) && !differences(got, again, BIG),
               "large trace %u, %s code: bounded distances", kind, code_name[code]);
        }
        ok(stats.lines < 10000 || stats.line_bytes <= 30 * stats.lines,
           "large trace %u: at most 30 bytes a line", kind);
        cf_stack_free(a);
        cf_stack_free(b);
    }
}

static void units(void)
{
    struct cf_stack_config c = {0};
    struct cf_stack *s = cf_stack_new(&c);
    static struct list list[50];
    uint64_t wrong = 0;

    for (unsigned u = 0; u < 50; u++)
        list[u].line = malloc(5000 * sizeof(uint64_t));
    for (unsigned i = 0; i < 4000; i++) {
        const uint32_t unit = (uint32_t)(next() % 50), n = (uint32_t)(next() % 10);

        for (uint32_t k = 0; k < n; k++) {
            line[k] = next() % 90;
            want[k] = list_distance(list + unit, line[k]);
        }
        wrong += reference(s, unit, line, n, got) != 0;
        wrong += differences(got, want, n);
    }
    is_u64(wrong, 0, "units have stacks of their own");
    cf_stack_free(s);
    for (unsigned u = 0; u < 50; u++)
        free(list[u].line);
}

/* ---- rows ---- */

static uint64_t addr[MOST];
static uint8_t op[MOST];
static uint32_t size[MOST];

/* Row by row, line by line. */
static void row_distances(unsigned options, unsigned shift, uint32_t rows, uint64_t space,
                          struct list *l)
{
    for (uint32_t i = 0; i < rows; i++) {
        const uint64_t end = addr[i] + (size[i] ? size[i] - 1 : 0);
        const uint64_t last = (end < addr[i] ? UINT64_MAX : end) >> shift;

        want[i] = CF_DIST_NONE;
        if (op[i] == CF_FLUSH || !(options & (op[i] == CF_IFETCH ? CF_RUNS_FETCHES : CF_RUNS_DATA)))
            continue;
        want[i] = 0;
        for (uint64_t x = addr[i] >> shift;; x++) {
            const uint64_t d = list_distance(l, x ^ space);

            want[i] = d > want[i] ? d : want[i];
            if (x == last)
                break;
        }
    }
}

static void rows(void)
{
    uint64_t wrong = 0, bad = 0;

    for (unsigned round = 0; round < 600; round++) {
        static uint64_t held[20 * MOST];
        const unsigned shift = 4 + (unsigned)(next() % 5);
        const unsigned options = 1 + (unsigned)(next() % 3);
        struct cf_stack_config c = {0};
        struct cf_runs *r = cf_runs_new(shift, options, round % 3 ? 4096 : 7);
        struct cf_stack *s = new_stack(&c, round % CODES);
        struct list l = {held, 0};

        for (unsigned piece = 0; piece < 4; piece++) {
            const uint32_t n = (uint32_t)(next() % 300);
            const uint64_t space = cf_space_key((uint32_t)(next() % 3));

            for (uint32_t i = 0; i < n; i++) {
                addr[i] = next() % 4 ? next() % 5000 : UINT64_MAX - next() % 300;
                size[i] = next() % 5 ? 1u << next() % 4 : (uint32_t)(next() % 700);
                op[i] = (uint8_t)(next() % 3 ? CF_LOAD : 1 + next() % 5);
            }
            row_distances(options, shift, n, space, &l);
            bad += cf_stack_rows(s, r, 0, addr, op, size, n, space, got, NULL) != 0;
            wrong += differences(got, want, n);
        }
        cf_runs_free(r);
        cf_stack_free(s);
    }
    is_u64(bad, 0, "rows: no call fails");
    is_u64(wrong, 0, "rows: as the list says, with straddles, flushes and fetches");
}

int main(void)
{
    small_traces();
    growth();
    large_traces();
    units();
    rows();
    return done();
}
