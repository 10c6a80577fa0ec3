/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Accesses in stretches that a model takes and those that it does not, of which rows must then be
 * given: after these it is as before. Batches that are filled up to each place, and slots at the
 * end of their memory.
 */
#include "cpus.h"
#include "stretched_pair.h"

enum {
    MOST_SLOTS = 10922, /* of a stretch that is taken */
    MOST_RUNS = 1 << 18 /* lines of the fetches of all stretches */
};

enum { LOADS, STORES, FETCHES, LONG_FETCHES, FLUSHES, LONG_LOADS };

static void plain_kinds(void)
{
    static const uint8_t ops[] = {CF_LOAD, CF_STORE, CF_IFETCH, CF_IFETCH, CF_FLUSH, CF_LOAD};

    memset(kind_op, CF_LOAD, sizeof kind_op);
    memcpy(kind_op, ops, sizeof ops);
    for (unsigned i = 0; i < KINDS; i++)
        kind_size[i] = 4;
}

static void plain_machine(struct set *s, int split)
{
    memset(s, 0, sizeof *s);
    s->o.cores = 4;
    s->m.cpus = 4;
    s->m.line_size = 64;
    for (unsigned i = split ? 0 : 1; i < 3; i++) {
        struct cf_level *l = &s->m.level[s->m.levels++];

        snprintf(l->name, sizeof l->name, "L%u", i);
        l->kind = i == 2 || !split ? CF_UNIFIED : i == 1 ? CF_DATA_CACHE : CF_INSTRUCTION_CACHE;
        l->depth = 1 + i / 2;
        l->shared_by = i == 2 ? 4 : 1;
        l->sets = i == 2 ? 16 : 4;
        l->ways = 4;
        l->line = 64;
        l->size = (uint64_t)l->sets * l->ways * l->line;
        l->policy = CF_LRU;
        l->write_back = l->write_allocate = 1;
    }
}

/* A few accesses that any model that likes stretches takes. */
static void common_frame(struct cf_stretched *s)
{
    const struct frame_row row[] = {{0x1000, FETCHES, CF_STRETCH_NO_SLOT},
                                    {0, LOADS, 0},
                                    {0x1004, FETCHES, CF_STRETCH_NO_SLOT},
                                    {8, STORES, 1},
                                    {0x1040, FETCHES, CF_STRETCH_NO_SLOT}};
    uint64_t slot[2];
    int number;

    frame_begin(KINDS);
    number = frame_stretch(row, 5, 2, 3);
    for (unsigned i = 0; i < 100; i++) {
        slot[0] = next(1 << 12);
        slot[1] = next(1 << 12);
        (void)frame_come(number, slot);
    }
    frame_end(s, kind_op, kind_size);
}

/* Whether a frame of one stretch, which comes between others, is taken; all counts and lines must
   be those of rows, before and after. */
static int takes_one(const struct frame_row *row, unsigned rows, unsigned slots, const char *what)
{
    static uint64_t slot[UINT16_MAX];
    struct cf_stretched common, one;
    struct set s;
    struct pair p;
    unsigned wrong = 0, before;
    int taken;

    plain_machine(&s, 1);
    if (!pair_new(&p, &s))
        abort();
    common_frame(&common);
    before = give(&p, &common) == 1;
    frame_begin(KINDS);
    for (unsigned i = 0; i < slots; i++)
        slot[i] = 0x100000 + 64 * (uint64_t)next(200);
    /* another before it, so that some of it was looked at already */
    (void)frame_come(frame_stretch((const struct frame_row[]){{64, STORES, 0}}, 1, 1, 1), slot);
    (void)frame_come(frame_stretch(row, (uint16_t)rows, (uint16_t)slots, 1), slot);
    frame_end(&one, kind_op, kind_size);
    taken = give(&p, &one);
    wrong += different_counts(&p, s.m.levels);
    wrong += give(&p, &common) != 1 || !before;
    wrong += different_counts(&p, s.m.levels) + different_lines(&p, &s.m);
    frame_free(&one);
    frame_free(&common);
    pair_free(&p);
    is_u64(wrong, 0, "%s: as rows", what);
    return taken;
}

static void frames_not_taken(void)
{
    static struct frame_row row[UINT16_MAX];
    static const struct {
        unsigned kind, rows;
        int taken;
        const char *what;
    } some[] = {{LOADS, LONGEST, 1, "as many loads as may be"},
                {LOADS, LONGEST + 1, 0, "one more"},
                {FETCHES, LONGEST - 1, 1, "as many lines of fetches as may be"},
                {FETCHES, LONGEST + 1, 0, "two more"},
                {FLUSHES, 1, 0, "a flush"}};

    for (unsigned i = 0; i < sizeof some / sizeof *some; i++) {
        for (unsigned k = 0; k < some[i].rows; k++)
            row[k] =
                (struct frame_row){0x4000 + 64 * k, (uint16_t)some[i].kind, CF_STRETCH_NO_SLOT};
        ok(takes_one(row, some[i].rows, 0, some[i].what) == some[i].taken, "%s: %s", some[i].what,
           some[i].taken ? "taken" : "not taken");
    }
    kind_size[LONG_FETCHES] = 64 * (LONGEST - 1);
    row[0] = (struct frame_row){0x4000, LONG_FETCHES, CF_STRETCH_NO_SLOT};
    ok(takes_one(row, 1, 0, "one fetch of as many") == 1, "taken");
    row[0].place = 0;
    ok(takes_one(row, 1, 1, "the same with a slot") == 1, "taken");
    kind_size[LONG_FETCHES] = 64 * (LONGEST + 1);
    ok(takes_one(row, 1, 1, "two lines more") == 0, "not taken");
    row[0].place = CF_STRETCH_NO_SLOT;
    ok(takes_one(row, 1, 0, "and without a slot") == 0, "not taken");
    ok(takes_one((const struct frame_row[]){{0x40, FETCHES, 0}, {0x80, LOADS, CF_STRETCH_NO_SLOT}},
                 2, 1, "a fetch with a slot, of two rows") == 0,
       "not taken");
    ok(takes_one((const struct frame_row[]){{0x40, FETCHES, 0}}, 1, 1, "alone") == 1, "taken");
    for (unsigned k = 0; k < 8; k++)
        row[k] = (struct frame_row){8 * k, k % 2 ? LOADS : STORES, (uint16_t)(MOST_SLOTS - 1 - k)};
    ok(takes_one(row, 8, MOST_SLOTS, "as many slots as may be") == 1, "taken");
    ok(takes_one(row, 8, MOST_SLOTS + 1, "one more slot") == 0, "not taken");
    ok(takes_one(row, 8, 20000, "20,000 slots") == 0, "not taken");
}

/* Of 67 million lines, which would take long as rows. */
static void longest_fetch(void)
{
    const struct frame_row row[] = {{0x40, FETCHES, CF_STRETCH_NO_SLOT},
                                    {UINT64_MAX, LONG_FETCHES, CF_STRETCH_NO_SLOT}};
    struct cf_stretched f;
    struct set s;
    struct pair p;

    plain_machine(&s, 1);
    if (!pair_new(&p, &s))
        abort();
    kind_size[LONG_FETCHES] = UINT32_MAX;
    frame_begin(KINDS);
    (void)frame_come(frame_stretch(row, 2, 0, 1), NULL);
    frame_end(&f, kind_op, kind_size);
    ok(cf_hierarchy_stretches(p.stretches, &f, 0, 0) == 0, "the longest fetch: not taken");
    ok(!different_counts(&p, s.m.levels) && !different_lines(&p, &s.m), "nothing was done");
    frame_free(&f);
    pair_free(&p);
}

/* Stretches whose fetches are so many lines together that memory would be taken for nothing. */
static void many_lines(void)
{
    struct cf_stretched f;
    struct set s;
    struct pair p;
    const struct frame_row row = {0x4000, LONG_FETCHES, CF_STRETCH_NO_SLOT};
    int first = 0;

    plain_machine(&s, 1);
    if (!pair_new(&p, &s))
        abort();
    kind_size[LONG_FETCHES] = 64 * 1000;
    for (unsigned times = 0; times < 3; times++) {
        const unsigned more = times == 2;

        frame_begin(KINDS);
        for (unsigned i = 0; i < MOST_RUNS / 1000 + more; i++)
            first = frame_stretch(&row, 1, 0, 1);
        (void)frame_come(first, NULL);
        frame_end(&f, kind_op, kind_size);
        ok(give(&p, &f) == !more, "%u lines of fetches: %s", made.stretches * 1000,
           more ? "not taken" : "taken");
        frame_free(&f);
    }
    ok(!different_counts(&p, s.m.levels) && !different_lines(&p, &s.m), "as rows");
    pair_free(&p);
}

/* A frame whose batches are filled up to each place in turn. */
static void full_batches(void)
{
    static struct frame_row row[LONGEST];
    const struct frame_row moving = {0, LONG_FETCHES, 0}, few = {0x40, FETCHES, CF_STRETCH_NO_SLOT};
    unsigned wrong = 0, taken = 0, frames = 0;
    struct set s;
    struct pair p;

    plain_machine(&s, 1);
    if (!pair_new(&p, &s))
        abort();
    kind_size[LONG_FETCHES] = 64 * (LONGEST - 2);
    kind_size[LONG_LOADS] = 300000;
    for (unsigned what = 0; what < 4; what++)
        for (unsigned before = 3000; before < 4200; before += 1 + next(60), frames++) {
            static const unsigned kinds[] = {LOADS, FETCHES, LONG_FETCHES, STORES};
            struct cf_stretched f;
            uint64_t slot;
            int one, next_one;

            frame_begin(KINDS);
            for (unsigned k = 0; k < LONGEST - 1; k++)
                row[k] = (struct frame_row){64 * k, (uint16_t)kinds[what], CF_STRETCH_NO_SLOT};
            if (what == 3)
                row[LONGEST / 2].kind = LONG_LOADS;
            one = what == 1 ? frame_stretch(&few, 1, 0, 1)
                            : frame_stretch(&(const struct frame_row){0, LOADS, 0}, 1, 1, 1);
            if (what == 2)
                one = frame_stretch(&(const struct frame_row){0, FETCHES, 0}, 1, 1, 1);
            next_one =
                what == 2 ? frame_stretch(&moving, 1, 1, 1) : frame_stretch(row, LONGEST - 1, 0, 1);
            for (unsigned k = 0; k < before; k++) {
                slot = k % 2 ? 0x4000 : 64 * next(100);
                (void)frame_come(one, &slot);
            }
            for (unsigned k = 0; k < 4; k++)
                (void)frame_come(next_one, &(uint64_t){0x70000});
            frame_end(&f, kind_op, kind_size);
            taken += give(&p, &f) == 1;
            wrong += different_counts(&p, s.m.levels);
            if (frames % 5 == 0) { /* its rows: what is put too far may be of those */
                (void)frame_rows(&f);
                run_rows(p.stretches, made.rows, p.core, 0);
                run_rows(p.rows, made.rows, p.core, 0);
                wrong += different_counts(&p, s.m.levels);
            }
            frame_free(&f);
        }
    wrong += different_lines(&p, &s.m);
    pair_free(&p);
    is_u64(wrong, 0, "however full a batch is: as rows (%u frames)", frames);
    is_u64(taken, frames, "all of them taken");
}

/* Slots at the end of the memory that they are in, one stretch after the other. */
static void last_slots(void)
{
    unsigned wrong = 0, taken = 0, frames = 0;
    struct set s;
    struct pair p;

    plain_machine(&s, 1);
    if (!pair_new(&p, &s))
        abort();
    for (unsigned slots = 0; slots < 5; slots++)
        for (unsigned times = 0; times < 8; times++, frames++) {
            const struct frame_row row[] = {
                {0, LOADS, slots ? (uint16_t)(slots - 1) : CF_STRETCH_NO_SLOT},
                {0x1000, LOADS, CF_STRETCH_NO_SLOT}};
            const uint64_t slot[] = {64 * frames, 128 * frames, 192 * frames, 0x5000};
            struct cf_stretched f;
            int one;

            frame_begin(KINDS);
            one = frame_stretch(row, 2, (uint16_t)slots, 1);
            for (unsigned i = 0; i < times; i++)
                (void)frame_come(one, slot);
            frame_end(&f, kind_op, kind_size);
            taken += give(&p, &f) == 1;
            wrong += different_counts(&p, s.m.levels);
            frame_free(&f);
        }
    wrong += different_lines(&p, &s.m);
    pair_free(&p);
    is_u64(wrong, 0, "few slots: as rows");
    is_u64(taken, frames, "all of them taken");
}

static void ignore(void *arg, const struct cf_hierarchy_refs *r)
{
    (void)arg;
    (void)r;
}

enum refusal { NONE, UNIFIED, LINES, PREFETCHER, INCLUSIVE, EXCLUSIVE, WATCHED, CORES, REFUSALS };

static void models_that_refuse(void)
{
    static const char *const name[REFUSALS] = {"plain",
                                               "a unified first level",
                                               "lines of two sizes",
                                               "a prefetcher",
                                               "inclusive",
                                               "exclusive",
                                               "watched",
                                               "cores that share lines"};

    for (unsigned i = NONE; i < REFUSALS; i++) {
        struct cf_stretched f;
        struct set s;
        struct pair p;
        int likes, taken;

        plain_machine(&s, i != UNIFIED);
        if (i == LINES)
            s.m.level[0].line = 32;
        s.m.level[0].size = (uint64_t)s.m.level[0].sets * s.m.level[0].ways * s.m.level[0].line;
        if (i == PREFETCHER)
            s.o.prefetch[1] = CF_PREFETCH_NEXT_LINE;
        s.m.level[s.m.levels - 1].inclusion = i == INCLUSIVE   ? CF_INCLUSIVE
                                              : i == EXCLUSIVE ? CF_EXCLUSIVE
                                                               : CF_NON_INCLUSIVE;
        if (!pair_new(&p, &s))
            abort();
        p.core = 0;
        if (i == WATCHED && cf_hierarchy_watch(p.stretches, 2, ignore, NULL, 1) != 0)
            abort();
        likes = cf_hierarchy_likes_stretches(p.stretches);
        common_frame(&f);
        taken = give(&p, &f);
        ok(taken == (i == NONE || i == CORES) && likes == taken &&
               !different_counts(&p, s.m.levels) && !different_lines(&p, &s.m),
           "%s: %s", name[i], taken ? "taken" : "not taken");
        /* another core, that again, and the first after it */
        for (unsigned k = 0; i == CORES && k < 4; k++) {
            p.core = k < 2 ? (p.core + 1 - k) % 4 : 0;
            taken = give(&p, &f);
            ok(!taken && !different_counts(&p, s.m.levels) && !different_lines(&p, &s.m),
               "then core %u: not taken", p.core);
        }
        frame_free(&f);
        pair_free(&p);
    }
}

/* A frame that is refused says nothing of the core that runs. */
static void refused_at_first(void)
{
    struct cf_stretched bad, good;
    struct set s;
    struct pair p;

    plain_machine(&s, 1);
    if (!pair_new(&p, &s))
        abort();
    frame_begin(KINDS);
    (void)frame_come(
        frame_stretch(&(const struct frame_row){0, FLUSHES, CF_STRETCH_NO_SLOT}, 1, 0, 1), NULL);
    frame_end(&bad, kind_op, kind_size);
    common_frame(&good);
    ok(cf_hierarchy_stretches(p.stretches, &bad, 0, 0) == 0 &&
           cf_hierarchy_stretches(p.stretches, &good, 1, 0) == 1,
       "after a frame of core 0 that was not taken, one of core 1 is");
    (void)frame_rows(&good);
    run_rows(p.rows, good.rows, 1, 0);
    ok(!different_counts(&p, s.m.levels) && !different_lines(&p, &s.m), "as rows");
    ok(cf_hierarchy_stretches(p.stretches, &good, 5, 0) == 1, "core 5 of 4 is core 1");
    run_rows(p.rows, good.rows, 5, 0);
    ok(!different_counts(&p, s.m.levels) && !different_lines(&p, &s.m), "as rows");
    frame_free(&bad);
    frame_free(&good);
    pair_free(&p);
}

int main(void)
{
    if (best_cpu() == CF_CPU_NONE) {
        ok(1, "no code for this processor takes stretches");
        return done();
    }
    plain_kinds();
    frames_not_taken();
    longest_fetch();
    many_lines();
    full_batches();
    last_slots();
    models_that_refuse();
    refused_at_first();
    return done();
}
