/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A hierarchy in chunks against one that takes all rows in one go, on random machines and rows:
 * what each level counted, and what it holds at the end, wherever chunks end; which machines have
 * no chunks; and chunks that are written down and taken up by others, of which damage is refused.
 */
#include "filters/engine/cache/cache.h"
#include "filters/engine/cache/hierarchy_chunk.h"
#include "cpus.h"
#include "hierarchy_rows.h"

#ifdef CF_SANITIZED
enum { FRAMES = 4, MACHINES = 2000, MACHINES_LONG = 20000 };
#else
enum { FRAMES = 4, MACHINES = 4000, MACHINES_LONG = 100000 };
#endif

enum { CHUNKS = 3 };

static unsigned refused;

/* Rows of one core that a chunk has refused, when all before are through. */
static int run_as_one(struct cf_hierarchy *h, uint32_t from, uint32_t to)
{
    static uint8_t hit[ROWS];

    return cf_hierarchy_rows(h, addr + from, op + from, size + from, to - from, core + from,
                             space + from, hit);
}

/* Chunks that wait for their next stage, the first of which is the oldest. */
struct waiting {
    struct cf_chunk *chunk[CHUNKS];
    unsigned stage[CHUNKS], first, count;
};

/* Takes any chunk through its next stage that can; -1 without memory. */
static int one_stage(struct waiting *w, struct cf_hierarchy *h, unsigned stages)
{
    unsigned k = next(w->count), i = (w->first + k) % CHUNKS;

    while (k && w->stage[i] >= w->stage[(w->first + k - 1) % CHUNKS])
        i = (w->first + --k) % CHUNKS;
    if (cf_chunk_stage(w->chunk[i], h, w->stage[i]++, 0) != 0)
        return -1;
    if (w->stage[i] == stages) {
        w->first = (w->first + 1) % CHUNKS;
        w->count--;
    }
    return 0;
}

/* All rows in chunks of random lengths; a row may come as that of a piece of the arrays. */
static int run_chunks(struct cf_hierarchy *h, struct waiting *w, unsigned stages, unsigned most)
{
    static uint8_t hit[ROWS];
    int bad = 0;

    for (uint32_t from = 0, to; from < ROWS && !bad; from = to) {
        struct cf_chunk *c;
        unsigned i;

        while (w->count == CHUNKS && !bad)
            bad |= one_stage(w, h, stages);
        i = (w->first + w->count) % CHUNKS;
        c = w->chunk[i];
        to = from + 1 + next(most);
        to = to < ROWS ? to : ROWS;
        cf_chunk_begin(c);
        for (uint32_t at = from, end; at < to && !bad && !cf_chunk_refused(c); at = end) {
            const uint32_t base = next(2) ? 0 : at, limit = at + 1 + next(ROWS);

            for (end = at + 1; end < to && end < limit && space[end] == space[at];)
                end++;
            bad |= cf_chunk_run(c, addr + base, op + base, size + base, at - base, end - base,
                                space[at], hit + base) != 0 &&
                   !cf_chunk_refused(c);
        }
        if (!cf_chunk_refused(c)) {
            w->stage[i] = 0;
            w->count++;
            if (next(2))
                bad |= one_stage(w, h, stages);
            continue;
        }
        refused++;
        while (w->count && !bad)
            bad |= one_stage(w, h, stages);
        bad |= run_as_one(h, from, to);
    }
    return bad;
}

static unsigned different(struct cf_hierarchy *const *h, unsigned levels)
{
    struct cf_hierarchy_counts a, b;
    unsigned wrong = 0;

    for (unsigned i = 0; i <= levels; i++) {
        (i < levels) ? cf_hierarchy_count(h[0], i, &a) : cf_hierarchy_memory(h[0], &a);
        (i < levels) ? cf_hierarchy_count(h[1], i, &b) : cf_hierarchy_memory(h[1], &b);
        if (!same_counts(&a, &b)) {
            wrong++;
            note("level %u", i);
            print_counts("in one   ", &a);
            print_counts("in chunks", &b);
        }
    }
    return wrong;
}

static unsigned holds_different(struct cf_hierarchy *const *h, const struct cf_machine *m)
{
    for (unsigned i = 0; i < m->levels; i++)
        for (uint32_t set = 0; set < m->level[i].sets && set < 64; set++)
            for (uint32_t way = 0; way < m->level[i].ways; way++)
                if (cf_hierarchy_line(h[0], i, 0, set, way) !=
                    cf_hierarchy_line(h[1], i, 0, set, way)) {
                    note("level %u set %u way %u", i, set, way);
                    return 1;
                }
    return 0;
}

static int in_chunks(const struct set *s, enum ops ops)
{
    struct cf_hierarchy *h[2];
    struct waiting w = {.first = 0};
    char problem[256];
    unsigned wrong = 0, stages;
    const unsigned most = 1 + next(next(3) ? 40 : ROWS);
    const char *why;
    int level;

    for (unsigned k = 0; k < 2; k++)
        h[k] = cf_hierarchy_new(&s->m, &s->o, problem, sizeof problem);
    if (!h[0] || !h[1] || !cf_hierarchy_chunks(h[1], &why, &level)) {
        cf_hierarchy_free(h[0]);
        cf_hierarchy_free(h[1]);
        return -1;
    }
    stages = cf_hierarchy_stages(h[1]);
    for (unsigned k = 0; k < CHUNKS; k++)
        wrong += (w.chunk[k] = cf_chunk_new(&s->m)) == NULL;
    for (unsigned frame = 0; frame < FRAMES && !wrong; frame++) {
        make_rows(1, ops);
        wrong += run_as_one(h[0], 0, ROWS) != 0;
        wrong += (unsigned)run_chunks(h[1], &w, stages, most) != 0;
    }
    while (w.count && !wrong)
        wrong += one_stage(&w, h[1], stages) != 0;
    wrong += different(h, s->m.levels) + holds_different(h, &s->m);
    for (unsigned k = 0; k < CHUNKS; k++)
        cf_chunk_free(w.chunk[k]);
    cf_hierarchy_free(h[0]);
    cf_hierarchy_free(h[1]);
    if (wrong) {
        note("chunks of up to %u rows", most);
        tell(s);
    }
    return wrong == 0;
}

static void chunks(void)
{
    static const enum style styles[] = {ANY, SIMPLE, LEAN, LEAN, PLAIN, LEAN};
    static struct set s;
    const unsigned machines = thorough() ? MACHINES_LONG : MACHINES;
    unsigned done = 0, bad = 0;

    for (unsigned i = 0; i < machines && bad < 3; i++) {
        int result;

        take_cpu(CF_CPU_NONE + next(1 + best_cpu()));
        make_machine(&s, styles[i % 6]);
        s.o.cores = 1;
        result = in_chunks(&s, (enum ops)next(FETCH_OPS + 1));
        done += result >= 0;
        bad += result == 0;
    }
    is_u64(bad, 0, "in chunks: as in one go (%u machines)", done);
    ok(done > machines / 5, "enough of them");
    ok(refused > 100, "some chunks are refused");
}

/* ---- written down ---- */

static unsigned damaged;

/* Something that no chunk gives: all is as it was when 1 is returned. */
static int refuses_other(struct cf_chunk *to, const struct cf_chunk_events *e)
{
    const unsigned kind = e->marks[1] ? 1 : 0;
    struct cf_chunk_events other = *e;
    struct cf_chunk_mark *m;
    size_t i;
    int result;

    if (!e->marks[kind])
        return 0;
    m = malloc(e->marks[kind] * sizeof *m);
    if (!m)
        return -1;
    memcpy(m, e->mark[kind], e->marks[kind] * sizeof *m);
    i = next((unsigned)e->marks[kind]);
    switch (next(6)) {
    case 0:
        m[i].slot += 1;
        break;
    case 1:
        m[i].slot = UINT32_MAX - next(3);
        break;
    case 2:
        m[i].leaves ^= 1;
        break;
    case 3:
        m[i].class = 4 + (uint8_t)next(100);
        break;
    case 4:
        m[i].line |= UINT64_C(1) << 63;
        break;
    default:
        m[i].at = e->count ? e->count + next(3) : 0;
        m[i].class = e->count ? m[i].class : 9;
    }
    other.mark[kind] = m;
    result = cf_chunk_take_events(to, &other);
    free(m);
    damaged += result == 1;
    return result == 1 ? 1 : -1;
}

static int take_all(const struct cf_chunk *from, struct cf_chunk *to, unsigned levels)
{
    struct cf_hierarchy_counts n;
    struct cf_chunk_slot s;
    int wrong = 0;

    for (unsigned kind = 0; kind < 2; kind++)
        for (uint32_t i = 0; i < cf_chunk_slots(from, kind); i++) {
            if (!cf_chunk_slot(from, kind, i, &s)) {
                s = (struct cf_chunk_slot){i, CF_CACHE_NONE};
                wrong |= cf_chunk_take_slot(to, kind, i, &s) != 1; /* it was not used */
                continue;
            }
            wrong |= cf_chunk_take_slot(to, kind, i, &s) != 0;
            wrong |= cf_chunk_take_slot(to, kind, i, &s) != 1; /* it came */
        }
    for (unsigned i = 0; i <= levels; i++) {
        cf_chunk_counts(from, i, &n);
        cf_chunk_take_counts(to, i, &n);
    }
    return wrong;
}

/* All rows of a frame by one chunk and another; most: rows until events are handed out. */
static int run_written(const struct set *s, struct cf_chunk *from, struct cf_chunk *to,
                       struct cf_hierarchy *h, unsigned most)
{
    static uint8_t hit[ROWS];
    struct cf_chunk_events e;
    int wrong = 0;

    cf_chunk_begin(from);
    cf_chunk_begin(to);
    for (uint32_t at = 0, end; at < ROWS && !wrong; at = end) {
        const uint32_t limit = at + 1 + next(most);

        for (end = at + 1; end < ROWS && end < limit && space[end] == space[at];)
            end++;
        if (cf_chunk_run(from, addr, op, size, at, end, space[at], hit) != 0)
            return cf_chunk_refused(from) ? 2 : 1;
        if (next(2))
            continue;
        cf_chunk_events(from, &e);
        if (next(500) == 0 && refuses_other(to, &e))
            return 3; /* what was taken in part cannot be gone on with */
        wrong |= cf_chunk_take_events(to, &e) != 0 || cf_chunk_join(to, h, 0) != 0;
    }
    cf_chunk_events(from, &e);
    wrong |= cf_chunk_take_events(to, &e) != 0 || cf_chunk_join(to, h, 0) != 0;
    if (next(20) == 0 && cf_chunk_join(to, h, 1) == 1)
        damaged++; /* lines at the end are missing */
    wrong |= take_all(from, to, s->m.levels) != 0 || cf_chunk_join(to, h, 1) != 0;
    return wrong;
}

/* -1: the machine has no chunks, or the rows are refused; else whether it is as in one go. */
static int in_parts(const struct set *s, enum ops ops)
{
    struct cf_hierarchy *h[2];
    struct cf_chunk *c[2] = {NULL, NULL};
    char problem[256];
    const unsigned most = 1 + next(next(3) ? 40 : ROWS);
    const char *why;
    int level, result = -1;

    for (unsigned k = 0; k < 2; k++)
        h[k] = cf_hierarchy_new(&s->m, &s->o, problem, sizeof problem);
    if (h[0] && h[1] && cf_hierarchy_chunks(h[1], &why, &level)) {
        result = 0;
        for (unsigned k = 0; k < 2; k++)
            result |= (c[k] = cf_chunk_new(&s->m)) == NULL;
        for (unsigned part = 0; part < FRAMES && !result; part++) {
            make_rows(1, ops);
            result = run_written(s, c[0], c[1], h[1], most);
            if (!result)
                result = run_as_one(h[0], 0, ROWS) != 0;
        }
        result =
            result >= 2 ? -1 : !result && !different(h, s->m.levels) && !holds_different(h, &s->m);
        if (!result)
            tell(s);
    }
    for (unsigned k = 0; k < 2; k++) {
        cf_chunk_free(c[k]);
        cf_hierarchy_free(h[k]);
    }
    return result;
}

static void parts(void)
{
    static const enum style styles[] = {ANY, SIMPLE, LEAN, LEAN, PLAIN, LEAN};
    static struct set s;
    const unsigned machines = (thorough() ? MACHINES_LONG : MACHINES) / 2;
    unsigned done = 0, bad = 0;

    for (unsigned i = 0; i < machines && bad < 3; i++) {
        int result;

        take_cpu(CF_CPU_NONE + next(1 + best_cpu()));
        make_machine(&s, styles[i % 6]);
        s.o.cores = 1;
        result = in_parts(&s, (enum ops)next(FETCH_OPS + 1));
        done += result >= 0;
        bad += result == 0;
    }
    is_u64(bad, 0, "written down and taken up: as in one go (%u machines)", done);
    ok(done > machines / 10, "enough of them");
    ok(damaged > 50, "what no chunk gives is refused (%u)", damaged);
}

/* Of what a machine has that cannot be, and that nothing else does. */
static void what_has_no_chunks(void)
{
    struct cf_way_mask mask = {.level = 0, .core = 0, .ways = 1};

    for (unsigned i = 0; i < 9; i++) {
        struct cf_hierarchy_options o = {.cores = 1, .masks = &mask};
        struct cf_machine m = {.levels = 2};
        struct cf_hierarchy *h;
        char problem[256];
        const char *why = NULL;
        int level = -2, can;

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
        m.level[0].policy = i == 2 ? CF_FIFO : CF_LRU;
        m.level[1].inclusion = i == 3 ? CF_INCLUSIVE : i == 4 ? CF_EXCLUSIVE : CF_NON_INCLUSIVE;
        m.level[0].write_back = i != 5;
        m.level[0].write_allocate = i != 6;
        o.mask_count = i == 7;
        /* behind the first, all may be */
        m.level[1].policy = i == 8 ? CF_RANDOM : CF_LRU;
        m.level[1].write_allocate = i != 8;
        h = cf_hierarchy_new(&m, &o, problem, sizeof problem);
        can = cf_hierarchy_chunks(h, &why, &level);
        is_u64((unsigned)can, i == 0 || i == 8, "chunks of machine %u", i);
        ok(can || (why && level == (i == 1 || i == 3 || i == 4)), "the level that has none");
        cf_hierarchy_free(h);
    }
}

int main(void)
{
    chunks();
    parts();
    what_has_no_chunks();
    return done();
}
