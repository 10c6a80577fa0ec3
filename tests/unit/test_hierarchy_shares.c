/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A hierarchy in shares of its sets against one that takes all, on random machines and rows: hits
 * and counts, however rows are cut into stretches; and which machines have no shares.
 */
#include "filters/engine/cache/hierarchy_shares.h"
#include "cpus.h"
#include "hierarchy_rows.h"

#ifdef CF_SANITIZED
enum { FRAMES = 4, MACHINES = 1000, MACHINES_LONG = 10000 };
#else
enum { FRAMES = 4, MACHINES = 2500, MACHINES_LONG = 50000 };
#endif

enum { MOST_SHARES = 9 };

/* All rows through the shares, in stretches of which each is dealt out as a whole. */
static int run_shares(struct cf_hierarchy *const *h, unsigned shares, uint8_t *hit)
{
    static struct cf_share_refs refs[MOST_SHARES];
    static uint8_t of_share[MOST_SHARES][ROWS];
    struct cf_share_maker *m = cf_share_maker_new(h[0], shares);
    uint8_t *pointer[MOST_SHARES];
    int bad = !m;

    memset(of_share, 0, sizeof of_share);
    for (unsigned k = 0; k < shares; k++)
        pointer[k] = of_share[k];
    for (uint32_t from = 0, to; from < ROWS && !bad; from = to) {
        const uint32_t end = from + 1 + next(next(2) ? 40 : ROWS);

        for (unsigned k = 0; k < shares; k++)
            cf_share_refs_clear(&refs[k]);
        for (to = from; to < ROWS && to < end && !bad;) {
            uint32_t i = to + 1, at = next(2) ? 0 : to;

            while (i < ROWS && i < end && core[i] == core[to] && space[i] == space[to])
                i++;
            /* rows may come as those of a piece of the arrays */
            bad |= cf_share_rows(m, addr + at, op + at, size + at, to - at, i - at, core[to],
                                 space[to], at, refs, NULL) != 0;
            to = i;
        }
        for (unsigned k = 0; k < shares; k++)
            bad |= cf_hierarchy_share(h[k], &refs[k], op, of_share[k]) != 0;
    }
    cf_share_hits(h[0], op, ROWS, pointer, shares, hit);
    cf_share_maker_count(m, h[0]);
    cf_share_maker_free(m);
    for (unsigned k = 0; k < shares; k++)
        cf_share_refs_free(&refs[k]);
    memset(refs, 0, sizeof refs);
    return bad;
}

/* Hits and counts of shares against a hierarchy that takes all. */
static int in_shares(const struct set *s, enum ops ops)
{
    static uint8_t hit[2][ROWS];
    struct cf_hierarchy *h[1 + MOST_SHARES] = {NULL};
    struct cf_hierarchy_counts a, b;
    unsigned wrong = 0, shares, most;
    char problem[256];
    const char *why;
    int level;

    h[0] = cf_hierarchy_new(&s->m, &s->o, problem, sizeof problem);
    most = h[0] ? cf_hierarchy_shares(h[0], &why, &level) : 1;
    if (most == 1) {
        cf_hierarchy_free(h[0]);
        return -1;
    }
    shares = 2 + next((most < MOST_SHARES ? most : MOST_SHARES) - 1);
    for (unsigned k = 1; k <= shares; k++)
        h[k] = cf_hierarchy_new(&s->m, &s->o, problem, sizeof problem);
    for (unsigned frame = 0; frame < FRAMES && !wrong; frame++) {
        make_rows(s->o.cores, ops);
        wrong += cf_hierarchy_rows(h[0], addr, op, size, ROWS, core, space, hit[0]) != 0;
        wrong += (unsigned)run_shares(h + 1, shares, hit[1]);
        for (uint32_t i = 0; i < ROWS && !wrong; i++)
            if (hit[0][i] != hit[1][i]) {
                wrong++;
                note("frame %u row %u op %u: %u alone, %u in %u shares", frame, i, op[i], hit[0][i],
                     hit[1][i], shares);
            }
    }
    for (unsigned k = 2; k <= shares; k++)
        cf_hierarchy_add(h[1], h[k]);
    for (unsigned i = 0; i <= s->m.levels; i++) {
        (i < s->m.levels) ? cf_hierarchy_count(h[0], i, &a) : cf_hierarchy_memory(h[0], &a);
        (i < s->m.levels) ? cf_hierarchy_count(h[1], i, &b) : cf_hierarchy_memory(h[1], &b);
        if (!same_counts(&a, &b)) {
            wrong++;
            note("level %u, %u shares", i, shares);
            print_counts("alone ", &a);
            print_counts("shares", &b);
        }
    }
    for (unsigned k = 0; k <= shares; k++)
        cf_hierarchy_free(h[k]);
    if (wrong)
        tell(s);
    return wrong == 0;
}

static void shares(void)
{
    static const enum style styles[] = {ANY, SIMPLE, POLICIES, PLAIN, LEAN, SEVERAL};
    static struct set s;
    const unsigned machines = thorough() ? MACHINES_LONG : MACHINES;
    unsigned done = 0, bad = 0;

    for (unsigned i = 0; i < machines && bad < 3; i++) {
        int result;

        take_cpu(CF_CPU_NONE + next(1 + best_cpu()));
        make_machine(&s, styles[i % 6]);
        result = in_shares(&s, (enum ops)next(FETCH_OPS + 1));
        done += result >= 0;
        bad += result == 0;
    }
    is_u64(bad, 0, "in shares of the sets: as a model of all (%u machines)", done);
    ok(done > machines / 20, "enough of them");
}

/* Of what a machine has that keeps its sets together, and that nothing else does. */
static void what_has_no_shares(void)
{
    struct cf_hierarchy_options o = {.cores = 1};
    struct cf_machine m = {.levels = 2};
    char problem[256];

    for (unsigned i = 0; i < 6; i++) {
        struct cf_hierarchy *h;
        const char *why;
        unsigned most;
        int level;

        for (unsigned k = 0; k < 2; k++)
            m.level[k] = (struct cf_level){.size = 4096u << k,
                                           .ways = 2,
                                           .line = 64,
                                           .depth = k + 1,
                                           .sets = 32u << k,
                                           .shared_by = 1,
                                           .write_back = 1,
                                           .write_allocate = 1};
        o.prefetch[1] = i == 1 ? CF_PREFETCH_STRIDE : CF_PREFETCH_NONE;
        m.level[1].policy = i == 2 ? CF_RANDOM : CF_LRU;
        m.level[1].sets = i == 3 ? 63 : i == 5 ? 24 : 64;
        m.level[1].line = i == 4 ? 4096 : 64;
        h = cf_hierarchy_new(&m, &o, problem, sizeof problem);
        most = cf_hierarchy_shares(h, &why, &level);
        is_u64(most, i == 0 ? 32 : i == 5 ? 8 : 1, "shares of machine %u", i);
        is_u64((unsigned)(level + 1), i == 1 || i == 2 ? 2 : 0, "the level that has none");
        ok((why != NULL) == (most == 1), "and a reason");
        cf_hierarchy_free(h);
    }
}

int main(void)
{
    shares();
    what_has_no_shares();
    return done();
}
