/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Accesses that come in stretches, against the same as rows to another model, on random machines,
 * most of them of the kind that takes stretches. What a model does not take is
 * test_hierarchy_refuses.c's.
 */
#include "cpus.h"
#include "stretched_pair.h"

#ifdef CF_SANITIZED
enum { MACHINES = 100, MACHINES_LONG = 3000 };
#else
enum { MACHINES = 150, MACHINES_LONG = 10000 };
#endif

enum { ROWS_MOST = 400 }; /* of a stretch */

static uint64_t base[6], span;

static uint64_t random_address(void)
{
    return (base[next(3) ? 0 : next(6)] + next((uint32_t)span)) & CF_STRETCH_ADDRESS;
}

static void random_kinds(void)
{
    static const uint8_t others[] = {0, CF_PREFETCH, CF_PREFETCH, 6, 7, 9, 255};

    span = 1u << (6 + next(8));
    for (unsigned i = 0; i < 6; i++)
        base[i] =
            next(8) == 0 ? CF_STRETCH_ADDRESS - next(300) : ((uint64_t)next(1 << 20) << next(28));
    for (unsigned i = 0; i < KINDS; i++) {
        kind_op[i] = (uint8_t)(next(10) < 4 ? CF_LOAD : next(3) == 0 ? CF_STORE : CF_IFETCH);
        if (next(8) == 0)
            kind_op[i] = others[next(sizeof others)];
        kind_size[i] = next(8) ? 1u << next(5) : next(16) ? next(120) : 1000 + next(7000);
    }
}

/* Lines that an access may touch, wherever it is. */
static uint32_t most_lines(uint32_t size, uint32_t line)
{
    return size / line + 3;
}

/* Rows of a stretch, as far as the model takes them. */
static uint16_t random_stretch(struct frame_row *row, uint16_t rows, uint16_t slots, uint32_t line,
                               int loads, int bytes)
{
    uint32_t lines = 0;
    uint64_t fetch = random_address();

    for (unsigned k = 0; k < rows; k++) {
        struct frame_row *r = &row[k];
        unsigned kind = next(KINDS);
        const uint32_t most = most_lines(bytes ? 1 : kind_size[kind], line);
        int fetches = !loads && kind_op[kind] == CF_IFETCH;

        while (fetches && lines + most > LONGEST - 2 && rows > 1) {
            kind = next(KINDS);
            fetches = kind_op[kind] == CF_IFETCH;
        }
        if (fetches && most > LONGEST - 2)
            return 0;
        *r = (struct frame_row){random_address(), (uint16_t)kind, CF_STRETCH_NO_SLOT};
        if (fetches) {
            lines += most;
            r->delta = next(4) ? fetch : r->delta; /* most go on */
            fetch = r->delta + kind_size[kind];
        }
        if (slots && (!fetches || rows == 1) && next(3)) {
            r->place = (uint16_t)next(slots);
            r->delta = next(3) ? (uint64_t)next(200) - 100 : next((uint32_t)span);
        } else if (next(10) == 0) {
            r->delta |= (uint64_t)next(1 << 16) << 48; /* is left out */
        }
    }
    return rows;
}

static void random_frame(struct cf_stretched *s, uint32_t line)
{
    static struct frame_row row[ROWS_MOST];
    uint64_t slot[40];
    const int loads = next(12) == 0, bytes = next(12) == 0;
    const unsigned stretches = next(20) ? 1 + next(30) : 300;
    const uint32_t wanted = next(4) ? 200 + next(2000) : next(20) ? 8000 : 40000;
    unsigned hot;

    if (next(3) == 0)
        random_kinds();
    frame_begin(KINDS);
    while (made.stretches < stretches) {
        const unsigned shape = next(16);
        uint16_t rows = (uint16_t)(shape == 0   ? 0
                                   : shape < 5  ? 1
                                   : shape < 15 ? 1 + next(14)
                                                : 1 + next(ROWS_MOST));
        const uint16_t slots = (uint16_t)(next(4) ? next(5) : next(40));

        if (rows)
            rows = random_stretch(row, rows, slots, line, loads, bytes);
        (void)frame_stretch(row, rows, slots, next(100));
    }
    hot = next(made.stretches);
    for (unsigned tries = 0; made.rows < wanted && tries < 4 * wanted; tries++) {
        const unsigned number = next(3) ? hot : next(made.stretches);

        if (next(30) == 0)
            hot = next(made.stretches);
        for (unsigned i = 0; i < 40; i++)
            slot[i] = next(20) ? random_address() : (uint64_t)next(1 << 30) << 18;
        if (!frame_come((int)number, slot))
            break;
    }
    frame_end(s, loads ? NULL : kind_op, bytes ? NULL : kind_size);
}

/* A machine that takes stretches, with few exceptions. */
static void random_pair_of_levels(struct set *s)
{
    static const enum style styles[] = {SIMPLE, POLICIES, LEAN};
    const int other = next(10) == 0;

    do
        make_machine(s, other ? ANY : styles[next(3)]);
    while (!other && s->m.level[0].kind == CF_UNIFIED);
    if (next(3) == 0)
        s->o.cores = 1 + next(4);
}

static int against_rows(const struct set *s, unsigned *given, unsigned *taken)
{
    struct pair p;
    unsigned wrong = 0;
    int likes;

    if (!pair_new(&p, s)) {
        pair_free(&p);
        return -1;
    }
    likes = cf_hierarchy_likes_stretches(p.stretches);
    for (unsigned frame = 0; frame < 4 && !wrong; frame++) {
        struct cf_stretched f;
        int result;

        p.space = cf_space_key(next(3) ? 0 : next(5));
        random_frame(&f, s->m.level[0].line);
        result = give(&p, &f);
        *given += likes;
        *taken += likes && result;
        wrong += (!likes && result) || different_counts(&p, s->m.levels);
        if (next(3) == 0) { /* what comes as rows to both */
            const uint32_t rows = made.rows < 20 || next(2) ? made.rows : 1 + next(made.rows);

            (void)frame_rows(&f);
            run_rows(p.stretches, rows, p.core, p.space);
            run_rows(p.rows, rows, p.core, p.space);
            wrong += different_counts(&p, s->m.levels);
        }
        frame_free(&f);
    }
    wrong += different_lines(&p, &s->m);
    pair_free(&p);
    if (wrong)
        tell(s);
    return wrong == 0;
}

static void random_machines(void)
{
    static struct set s;
    const unsigned best = best_cpu(), machines = thorough() ? MACHINES_LONG : MACHINES;

    random_kinds();
    for (unsigned cpu = CF_CPU_NONE; cpu <= best; cpu++) {
        unsigned done = 0, bad = 0, given = 0, taken = 0;

        take_cpu(cpu);
        for (unsigned i = 0; i < (cpu == CF_CPU_NONE ? machines / 20 : machines) && bad < 3; i++) {
            int result;

            random_pair_of_levels(&s);
            result = against_rows(&s, &given, &taken);
            done += result >= 0;
            bad += result == 0;
        }
        is_u64(bad, 0, "%s: as rows (%u machines)", cpu_names[cpu], done);
        if (cpu == CF_CPU_NONE)
            is_u64(given, 0, "%s: no machine takes stretches", cpu_names[cpu]);
        else
            ok(taken == given && given > 2 * done, "%s: %u frames of %u were taken as stretches",
               cpu_names[cpu], taken, given);
    }
}

int main(void)
{
    random_machines();
    return done();
}
