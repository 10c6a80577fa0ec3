/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Most sets are the same in two snapshots: they are compared as a whole first.
 */
#include <stdlib.h>
#include <string.h>

#include "filters/engine/replacement/placement.h"

static int make_last(struct cf_placement *p, const struct cf_tags *t)
{
    const size_t sets = (size_t)t->caches * t->set_room;

    if (sets == p->sets && t->set_room == p->set_room)
        return 0;
    /* another layout: what was known of the sets is forgotten */
    free(p->last);
    p->last = calloc(sets ? sets : 1, sizeof *p->last);
    p->sets = p->last ? sets : 0;
    p->set_room = t->set_room;
    return p->last ? 0 : -1;
}

/* Other lines are not counted, but the next step begins at their way. */
static void decide(struct cf_placement *p, size_t set, uint32_t way, uint32_t looked_at)
{
    p->took[way] += looked_at;
    p->decisions += looked_at;
    if (p->last[set] && looked_at) {
        const uint32_t was = p->last[set] - 1u;

        p->step[way >= was ? way - was : way + p->ways - was]++;
        p->steps++;
    }
    p->last[set] = (uint16_t)(way + 1);
}

int cf_placement_add(struct cf_placement *p, const struct cf_tags *before,
                     const struct cf_tags *now, int marked)
{
    const uint32_t ways = now->ways;
    size_t slot = 0;

    if (make_last(p, now) != 0)
        return -1;
    if (ways > p->ways)
        p->ways = ways;
    for (size_t set = 0; set < p->sets; set++, slot += now->way_room) {
        const uint64_t *a = before->line + slot, *b = now->line + slot;
        uint32_t came = 0, looked_at = 0, filled = 0, way = 0;

        if (!memcmp(a, b, ways * sizeof *a))
            continue;
        for (uint32_t w = 0; w < ways; w++) {
            const uint32_t look = !marked || now->mark[slot + w];

            if (a[w] == b[w] || b[w] == CF_TAGS_NONE)
                continue;
            if (a[w] == CF_TAGS_NONE) {
                p->filled[w] += look;
                p->fills += look;
                filled++;
                continue;
            }
            came++;
            looked_at += look;
            way = w;
        }
        if (came == 1 && !filled) {
            decide(p, set, way, looked_at);
        } else if (came) {
            p->several += looked_at;
            p->last[set] = 0; /* which was the last is not known */
        }
    }
    return 0;
}

void cf_placement_forget(struct cf_placement *p)
{
    if (p->last)
        memset(p->last, 0, p->sets * sizeof *p->last);
}

void cf_placement_free(struct cf_placement *p)
{
    free(p->last);
    p->last = NULL;
}

struct cf_chi_squared cf_placement_ways(const struct cf_placement *p)
{
    return cf_chi_squared(p->took, NULL, p->ways);
}

struct cf_chi_squared cf_placement_steps(const struct cf_placement *p)
{
    double expected[CF_TAGS_WAYS];
    const double all = (double)p->decisions;

    for (uint32_t d = 0; d < p->ways; d++) {
        double chance = 0;

        for (uint32_t w = 0; w < p->ways; w++)
            chance += (double)p->took[w] / all * ((double)p->took[(w + d) % p->ways] / all);
        expected[d] = p->decisions ? chance * (double)p->steps : 0;
    }
    return cf_chi_squared(p->step, expected, p->ways);
}
