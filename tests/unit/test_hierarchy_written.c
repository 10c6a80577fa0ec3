/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A chunk that is taken up: each check, by one damage that no other check finds, of a machine with
 * 4 sets of 2 ways for data and for fetches, and a level behind both. That what is whole gives the
 * counts of one go, test_hierarchy_chunk.c shows.
 */
#include <string.h>

#include "filters/engine/cache/cache.h"
#include "filters/engine/cache/hierarchy_chunk.h"
#include "formats/stream/cf.h"
#include "tap.h"

enum { SETS = 4, WAYS = 2, USES = 8 };

static struct cf_machine split(unsigned levels)
{
    struct cf_machine m = {.levels = levels};

    for (unsigned k = 0; k < 3; k++)
        m.level[k] = (struct cf_level){.size = 512,
                                       .sets = SETS,
                                       .ways = WAYS,
                                       .line = 64,
                                       .depth = k < 2 ? 1 : 2,
                                       .kind = k == 0   ? CF_DATA_CACHE
                                               : k == 1 ? CF_INSTRUCTION_CACHE
                                                        : CF_UNIFIED,
                                       .shared_by = 1,
                                       .write_back = 1,
                                       .write_allocate = 1};
    return m;
}

struct piece {
    uint64_t line[USES];
    uint32_t op[USES];
    uint8_t flags[USES];
    struct cf_chunk_mark mark[2][USES];
    struct cf_chunk_events e;
};

/* Lines 0, 8, 1 and 9 are loaded and then fetched, each for the first time. */
static void make_piece(struct piece *p, struct cf_chunk *c)
{
    static const uint64_t where[USES] = {0, 512, 64, 576, 0, 512, 64, 576};
    static const uint8_t what[USES] = {0, 0, 0, 0, CF_IFETCH, CF_IFETCH, CF_IFETCH, CF_IFETCH};
    uint8_t depth[USES];

    cf_chunk_begin(c);
    (void)!cf_chunk_run(c, where, what, NULL, 0, USES, 0, depth);
    cf_chunk_events(c, &p->e);
    if (p->e.count) {
        memcpy(p->line, p->e.line, sizeof p->line);
        memcpy(p->op, p->e.op, sizeof p->op);
        memcpy(p->flags, p->e.flags, sizeof p->flags);
    }
    for (unsigned k = 0; k < 2; k++)
        memcpy(p->mark[k], p->e.mark[k], p->e.marks[k] * sizeof *p->mark[k]);
    p->e = (struct cf_chunk_events){p->e.count,
                                    p->line,
                                    p->op,
                                    p->flags,
                                    {p->mark[0], p->mark[1]},
                                    {p->e.marks[0], p->e.marks[1]}};
}

static void damage_events(void)
{
    const struct cf_machine m = split(3);
    struct cf_chunk *from = cf_chunk_new(&m), *to = cf_chunk_new(&m);

    for (unsigned i = 0; i <= 13; i++) {
        static struct piece p;
        struct cf_chunk_mark *d = p.mark[0], *f = p.mark[1];

        make_piece(&p, from);
        is_u64(p.e.count == USES && p.e.marks[0] == 4 && p.e.marks[1] == 4, 1, "all miss");
        switch (i) {
        case 1:
            p.line[2] |= CF_CACHE_DIRTY;
            break;
        case 2:
            p.op[2] = CF_FLUSH;
            break;
        case 3: /* of an event without a mark */
            p.e.marks[1]--;
            p.flags[7] |= 32;
            break;
        case 4: /* not in their order */
            d[1].at = 2;
            d[2].at = 1;
            break;
        case 5: /* another mark is about it */
            f[0].at = d[0].at;
            break;
        case 6:
            d[3].at = USES;
            break;
        case 7:
            d[3].line |= CF_CACHE_DIRTY;
            break;
        case 8: /* of another set */
            d[3].line = 2;
            break;
        case 9: /* a second one at that place */
            d[1].slot--;
            break;
        case 10:
            d[2].class = 4;
            break;
        case 11: /* another line leaves than is there */
            d[1] = (struct cf_chunk_mark){.line = 8, .at = 1, .leaves = 1};
            break;
        case 12: /* from where none was used */
            d[1].leaves = 1;
            break;
        case 13:
            d[0].slot = SETS * WAYS;
            break;
        default:
            break;
        }
        cf_chunk_begin(to);
        is_u64((uint64_t)cf_chunk_take_events(to, &p.e), i != 0, "damage %u", i);
    }
    cf_chunk_free(from);
    cf_chunk_free(to);
}

static void damage_slots(void)
{
    static const struct cf_chunk_slot good = {8, 0};
    const struct cf_machine m = split(3);
    struct cf_chunk *from = cf_chunk_new(&m), *to = cf_chunk_new(&m);

    for (unsigned i = 0; i <= 7; i++) {
        struct cf_chunk_slot s = good;
        struct piece p;
        uint32_t slot = 0;
        unsigned kind = 0;

        make_piece(&p, from);
        cf_chunk_begin(to);
        is_u64((uint64_t)cf_chunk_take_events(to, &p.e), 0, "events");
        switch (i) {
        case 1:
            slot = SETS * WAYS;
            break;
        case 2:
            slot = 2 * WAYS;
            s = (struct cf_chunk_slot){2, CF_CACHE_NONE};
            break; /* unused */
        case 3:    /* a number that would be of that set */
            slot = WAYS;
            s = (struct cf_chunk_slot){CF_CACHE_NONE, CF_CACHE_NONE};
            break;
        case 4:
            s.line = 1;
            break; /* of another set */
        case 5:
            s.stays = 8;
            break; /* not that which was used first there */
        case 6:
            kind = 1;
            s.stays = 4;
            break;
        case 7:
            (void)!cf_chunk_take_slot(to, 0, 0, &good);
            break; /* it came */
        default:
            break;
        }
        is_u64((uint64_t)cf_chunk_take_slot(to, kind, slot, &s), i != 0, "damage %u at the end", i);
    }
    cf_chunk_free(from);
    cf_chunk_free(to);
}

/* What a machine without that level, or those marks, never gives. */
static void damage_levels(void)
{
    const struct cf_machine m = split(3), none = split(1);
    struct cf_chunk *from = cf_chunk_new(&m), *to = cf_chunk_new(&none);
    char problem[256];
    struct cf_hierarchy *h =
        cf_hierarchy_new(&m, &(struct cf_hierarchy_options){.cores = 1}, problem, sizeof problem);
    struct piece p;

    make_piece(&p, from);
    p.e.marks[1] = 0;
    cf_chunk_begin(to);
    is_u64((uint64_t)cf_chunk_take_events(to, &p.e), 1, "events, and no level behind");
    make_piece(&p, from);
    p.e.count = 0;
    p.e.marks[0] = 0;
    is_u64((uint64_t)cf_chunk_take_events(to, &p.e), 1, "marks of fetches, and no level for them");
    is_u64((uint64_t)cf_chunk_take_slot(to, 1, 0, &(struct cf_chunk_slot){0, 0}), 1, "nor slots");
    cf_chunk_free(to);
    to = cf_chunk_new(&m);
    cf_chunk_begin(to);
    make_piece(&p, from);
    is_u64((uint64_t)cf_chunk_take_events(to, &p.e), 0, "events");
    is_u64((uint64_t)cf_chunk_join(to, h, 0), 0, "which are joined");
    is_u64((uint64_t)cf_chunk_join(to, h, 1), 1,
           "but without what stands in the slots there is no end");
    cf_hierarchy_free(h);
    cf_chunk_free(from);
    cf_chunk_free(to);
}

int main(void)
{
    damage_events();
    damage_slots();
    damage_levels();
    return done();
}
