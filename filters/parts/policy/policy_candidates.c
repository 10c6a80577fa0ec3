/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * policy_candidates.c - the accesses between snapshots, given to every policy that could explain
 * them.
 */
#include <stdlib.h>

#include "filters/parts/policy/policy.h"

static void give_up(struct work *w, const char *why)
{
    cf_warn(&w->tool, "--accesses: %s: no policy is named", why);
    w->no_candidates = 1;
}

static int begin_candidates(struct work *w)
{
    const struct cf_tags *t = &w->snaps->now;

    if (t->caches > 1)
        give_up(w, "snapshots of several caches: choose one with cf-select");
    else if (t->ways > CF_CANDIDATES_WAYS)
        give_up(w, "over 64 ways");
    else if (!t->sets || !t->ways || !w->snaps->info.sets)
        give_up(w, "no row of table snapshot states sets and ways");
    if (w->no_candidates)
        return 0;
    w->judged_sets = t->sets;
    w->judged_ways = t->ways;
    w->numbers = malloc((size_t)t->sets * t->ways * sizeof *w->numbers);
    w->candidates = cf_candidates_new(t->sets, t->ways,
                                      w->snaps->info.mode & CF_MODE_MODEL && w->snaps->count == 1);
    w->accesses = accesses_open(&w->tool, w->o.accesses, w->snaps->level);
    if (!w->numbers || !w->candidates || !w->accesses)
        return -1;
    for (uint32_t set = 0; set < t->sets; set++)
        if (set < w->o.set_from || set > w->o.set_to)
            cf_candidates_leave_out(w->candidates, set);
    return 0;
}

/* Lines of the snapshot by number; the pages of those that are new. */
static int take_lines(struct work *w, unsigned shift)
{
    const struct cf_tags *now = &w->snaps->now, *before = &w->snaps->before;

    for (uint32_t set = 0; set < w->judged_sets; set++)
        for (uint32_t way = 0; way < w->judged_ways; way++) {
            const size_t slot = cf_tags_slot(now, 0, set) + way;
            uint64_t number = now->line[slot];

            if (number == CF_TAGS_NONE) {
                number = CF_CACHE_NONE;
            } else {
                w->no_frame |= cf_line_is_virtual(number);
                if (number != before->line[slot] &&
                    accesses_learn(w->accesses, now->pid[slot], now->addr[slot], number) != 0)
                    return -1;
                number >>= shift;
                w->misplaced += number % w->judged_sets != set;
            }
            w->numbers[(size_t)set * w->judged_ways + way] = number;
        }
    return 0;
}

int judge_candidates(struct work *w)
{
    const unsigned shift = (unsigned)__builtin_ctzll(w->line_size);
    const struct cf_tags *t = &w->snaps->now;

    if (!w->candidates && begin_candidates(w) != 0)
        return -1;
    if (w->no_candidates)
        return 0;
    if (t->sets != w->judged_sets || t->ways != w->judged_ways || t->caches > 1) {
        give_up(w, "the snapshots are of different caches");
        return 0;
    }
    accesses_segment(w->accesses, w->snaps->info.segment);
    if (take_lines(w, shift) != 0)
        return -1;
    if (w->no_frame) {
        give_up(w, "lines of the snapshots have no physical address, which would show where "
                   "accesses go");
        return 0;
    }
    if (w->misplaced) {
        give_up(w, "the cache does not choose sets by (address / line size) mod sets");
        return 0;
    }
    if (accesses_until(w->accesses, w->candidates, shift, w->snaps->info.time) != 0)
        return -1;
    return cf_candidates_snapshot(w->candidates, w->numbers, w->judged_ways,
                                  w->snaps->info.mode & CF_MODE_FLUSH);
}
