/* SPDX-License-Identifier: BSD-2-Clause */
/* turns.c - for how long each process ran (see turns.h). */
#include <stdlib.h>
#include <string.h>

#include "filters/engine/rows/cores.h"
#include "filters/engine/rows/turns.h"
#include "formats/base/cf_memory.h"

/* The last turn of a thread. */
struct cf_turn {
    uint32_t pid, cpu;
    int lasts;
    uint64_t since, count; /* `count` is the thread's then */
    uint64_t access;       /* the time of its last one */
};

int cf_turns_begin(struct cf_turns_sum *t)
{
    t->turns = 0;
    t->total = 0;
    t->cut = 0;
    t->first = UINT64_MAX;
    t->last = 0;
    t->endeds = 0;
    cf_counts_free(t->thread);
    cf_counts_free(t->cpu);
    t->thread = cf_counts_new();
    t->cpu = cf_counts_new();
    t->ran = t->ran ? t->ran : cf_counts_new();
    return t->thread && t->cpu && t->ran ? 0 : -1;
}

void cf_turns_free(struct cf_turns_sum *t)
{
    cf_counts_free(t->thread);
    cf_counts_free(t->cpu);
    cf_counts_free(t->ran);
    free(t->turn);
    free(t->ended);
    *t = (struct cf_turns_sum){0};
}

int cf_turns_side_by_side(const struct cf_turns_sum *t)
{
    return cf_counts_size(t->cpu) > 1;
}

int cf_turns_came(const struct cf_turns_sum *t)
{
    return t->turns > 0;
}

static int ran(struct cf_turns_sum *t, uint32_t pid, uint64_t since, uint64_t until)
{
    const uint64_t time = until > since ? until - since : 0;
    uint64_t *sum = time ? cf_counts_at(t->ran, 0, pid) : NULL;

    if (!sum)
        return time ? -1 : 0;
    *sum += time;
    t->total += time;
    return 0;
}

static int end(struct cf_turns_sum *t, struct cf_turn *turn, uint64_t time)
{
    if (!turn->lasts)
        return 0;
    turn->lasts = 0;
    if (!t->cut)
        return ran(t, turn->pid, turn->since, time);
    if (cf_array_room(&t->ended, &t->ended_room, t->endeds + 1, sizeof(*turn)) != 0)
        return -1;
    t->ended[t->endeds] = *turn;
    t->ended[t->endeds++].access = time;
    return 0;
}

/* Of a part of a recording: the turns that ended by its last access so far, and at its end `all`,
   from its first access to its last one. */
static int within(struct cf_turns_sum *t, int all)
{
    size_t left = 0;

    for (size_t i = 0; i < t->endeds; i++) {
        const struct cf_turn *e = &t->ended[i];
        const int later = e->access > t->last;

        if (later && !all)
            t->ended[left++] = *e;
        else if (ran(t, e->pid, e->since > t->first ? e->since : t->first,
                     later ? t->last : e->access) != 0)
            return -1;
    }
    t->endeds = left;
    return 0;
}

static int begin(struct cf_turns_sum *t, const struct cf_turn *next, uint32_t tid)
{
    uint64_t *at = cf_counts_at(t->thread, next->pid, tid),
             *on = cf_counts_at(t->cpu, 0, next->cpu);
    uint64_t until = next->since;
    struct cf_turn *turn;

    if (!at || !on || cf_array_room(&t->turn, &t->room, t->turns + 1, sizeof(*turn)) != 0)
        return -1;
    if (!*at) {
        t->turn[t->turns++] = (struct cf_turn){.pid = next->pid};
        *at = t->turns;
    }
    turn = &t->turn[*at - 1];
    /* it waited meanwhile, for one on another processor of an emulator that runs them by turns; a
       program that is begun anew counts from 0 */
    if (next->count > turn->count && next->count - turn->count < until - turn->since)
        until = turn->since + next->count - turn->count;
    if (end(t, turn, until) != 0)
        return -1;
    if (*on && t->turn[*on - 1].cpu == next->cpu && end(t, &t->turn[*on - 1], next->since) != 0)
        return -1;
    *on = *at;
    *turn = *next;
    return 0;
}

static int switches(struct cf_turns_sum *t, const struct cf_frame *f)
{
    const uint64_t *time = cf_late_values(f, CF_TIME), *count = cf_late_values(f, CF_COUNT);
    const uint32_t *pid = cf_late_values(f, CF_PID), *tid = cf_late_values(f, CF_TID);
    const uint32_t *cpu = cf_late_values(f, CF_CPU);

    for (uint32_t i = 0; time && pid && i < f->rows; i++) {
        const struct cf_turn next = {.pid = pid[i],
                                     .cpu = cpu ? cpu[i] : 0,
                                     .lasts = 1,
                                     .since = time[i],
                                     .count = count ? count[i] : time[i]};

        if (begin(t, &next, tid ? tid[i] : pid[i]) != 0)
            return -1;
    }
    return 0;
}

static void accessed(struct cf_turns_sum *t, uint64_t pid, uint64_t tid, uint64_t time)
{
    const uint64_t at = cf_counts_get(t->thread, pid, tid);

    if (at)
        t->turn[at - 1].access = time;
}

static void accesses(struct cf_turns_sum *t, const struct cf_frame *f)
{
    uint64_t pid = 0, tid = 0;
    const uint32_t *pids = cf_frame_constant(f, CF_PID, &pid) ? NULL : cf_late_values(f, CF_PID);
    const uint32_t *tids = cf_frame_constant(f, CF_TID, &tid) ? NULL : cf_late_values(f, CF_TID);
    const uint32_t *first = pids ? pids : tids, *second = tids ? tids : pids;
    const uint64_t *time = first ? cf_late_values(f, CF_TIME) : NULL;

    tid = tid ? tid : pid;
    if (!time || !second) {
        accessed(t, pid, tid, f->last);
        return;
    }
    for (uint32_t i = 0, to; i < f->rows; i = to) {
        to = cf_cores_same(first, second, i, f->rows);
        pid = pids ? pids[i] : pid;
        accessed(t, pid, tids ? tids[i] : tid ? tid : pid, time[to - 1]);
    }
}

int cf_turns_frame(struct cf_turns_sum *t, const struct cf_frame *f)
{
    if (f->table == CF_SWITCH)
        return switches(t, f);
    if (f->table != CF_ACCESS || !f->rows)
        return 0;
    t->first = f->first < t->first ? f->first : t->first;
    t->last = f->last > t->last ? f->last : t->last;
    if (within(t, 0) != 0)
        return -1;
    if (cf_turns_side_by_side(t))
        accesses(t, f);
    else /* of who runs on the one processor */
        for (size_t i = 0; i < t->turns; i++)
            t->turn[i].access = t->turn[i].lasts ? f->last : t->turn[i].access;
    return 0;
}

int cf_turns_end(struct cf_turns_sum *t, uint64_t time)
{
    for (size_t i = 0; i < t->turns; i++)
        if (end(t, &t->turn[i], cf_turns_side_by_side(t) ? t->turn[i].access : time) != 0)
            return -1;
    return within(t, 1);
}
