/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stack_join.c - the parts of a trace: what crosses their ends, and the join (see stack_join.h).
 */
#include <stdlib.h>
#include <string.h>

#include "filters/engine/distance/stack_all.h"
#include "formats/base/cf_memory.h"

int cf_stack_begin_part(struct cf_stack *s, struct cf_stack_part *p)
{
    s->part = p;
    s->in_parts = 1;
    s->references = 0;
    s->shards = (struct shards){.threshold = s->shards.threshold};
    p->firsts = p->lasts = 0;
    for (uint32_t u = 0; u < s->units; u++)
        for (uint32_t i = 0; s->stack[u] && i < s->sets; i++)
            if (s->stack[u][i] && stack_forget(s->stack[u][i]) != 0)
                return -1;
    return 0;
}

void cf_stack_part_free(struct cf_stack_part *p)
{
    free(p->first);
    free(p->last);
    memset(p, 0, sizeof(*p));
}

int stack_note_firsts(struct cf_stack *s, const struct cf_runs *r, uint32_t unit)
{
    struct cf_stack_part *const p = s->part;

    for (uint32_t k = 0; k < r->count; k++) {
        if ((r->count - k) % STACK_BLOCK == 0 && stack_all_known(s->run_dist + k)) {
            k += STACK_BLOCK - 1;
            continue;
        }
        if (s->run_dist[k] != CF_DIST_COMPULSORY)
            continue;
        if (cf_array_room(&p->first, &p->first_room, p->firsts + 1, sizeof(*p->first)) != 0)
            return -1;
        p->first[p->firsts++] =
            (struct cf_stack_first){.line = r->line[k], .row = p->row + r->row[k], .unit = unit};
        s->run_dist[k] = 0;
        p->lasts++;
    }
    return 0;
}

int cf_stack_end_part(struct cf_stack *s)
{
    struct cf_stack_part *const p = s->part;
    uint64_t *room = malloc((p->lasts + 1) * sizeof(*room));
    int bad = !room || cf_array_room(&p->last, &p->last_room, p->lasts + 1, sizeof(*p->last)) != 0;
    size_t n = 0;

    for (uint32_t u = 0; !bad && u < s->units; u++)
        for (uint32_t i = 0; !bad && s->stack[u] && i < s->sets; i++) {
            struct stack *const one = s->stack[u][i];
            uint32_t lines = 0;

            bad = one && stack_flush_front(one) != 0;
            if (one && !bad)
                lines = stack_order(one, room);
            for (uint32_t k = 0; k < lines; k++)
                p->last[n++] = (struct cf_stack_last){.line = room[k], .unit = u};
        }
    free(room);
    p->references = s->references;
    if (s->samples)
        p->shards = s->shards;
    s->part = NULL;
    return bad ? -1 : 0;
}

/* ---- the join ---- */

/* What the part counted, but for its first references, whose distances it did not know. */
static void add_counts(struct cf_stack *s, const struct cf_stack_part *p)
{
    s->references += p->references;
    if (!s->samples)
        return;
    s->shards.references += p->shards.references;
    s->shards.sampled += p->shards.sampled;
    s->shards.expected += p->shards.expected;
    for (unsigned g = 0; g < SHARDS_GROUPS; g++)
        for (unsigned b = 0; b < SHARDS_SIZES; b++)
            s->shards.sum[g][b] += p->shards.sum[g][b];
}

/* Elements whose units and lines are taken together, as one stack takes references. */
enum { SHARE = PIECE };

static int join_firsts(struct cf_stack *s, const struct cf_stack_part *p, const uint32_t *unit,
                       uint64_t *line, uint64_t *dist)
{
    for (size_t at = 0, n; at < p->firsts; at += n) {
        const struct cf_stack_first *const f = p->first + at;
        struct stack **stack = stack_of_unit(s, unit[f->unit]);

        for (n = 0; n < SHARE && at + n < p->firsts && f[n].unit == f->unit; n++)
            line[n] = f[n].line;
        if (!stack || stack_all_lines(s, stack, line, (uint32_t)n, dist + at) != 0)
            return -1;
        if (s->samples)
            shards_scale(&s->shards, line, dist + at, (uint32_t)n);
        stack_bound(s, dist + at, n);
    }
    return 0;
}

static int renew_order(struct cf_stack *s, const struct cf_stack_part *p, const uint32_t *unit,
                       uint64_t *line, uint64_t *dist)
{
    for (size_t at = 0, n; at < p->lasts; at += n) {
        const struct cf_stack_last *const l = p->last + at;
        struct stack **stack = stack_of_unit(s, unit[l->unit]);

        for (n = 0; n < SHARE && at + n < p->lasts && l[n].unit == l->unit; n++)
            line[n] = l[n].line;
        if (!stack || stack_all_lines(s, stack, line, (uint32_t)n, dist) != 0)
            return -1;
    }
    return 0;
}

int cf_stack_join(struct cf_stack *s, const struct cf_stack_part *p, const uint32_t *unit,
                  uint64_t *dist)
{
    uint64_t *room = malloc(2 * SHARE * sizeof(*room));
    const int bad = !room || join_firsts(s, p, unit, room, dist) != 0 ||
                    renew_order(s, p, unit, room, room + SHARE) != 0;

    free(room);
    add_counts(s, p);
    return bad ? -1 : 0;
}
