/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * order.c - sorts by merging what is in order already: the records of one ring are, and so there
 * are hardly more runs in order than CPUs. Records of one time keep their order.
 */
#include "order.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/cf_memory.h"

void perf_order_free(struct perf_order *o)
{
    free(o->sample);
    free(o->key);
    free(o->spare);
    free(o->state);
    free(o->state_key);
    free(o->state_spare);
}

/* Where the run ends that begins at i. */
static size_t run_end(const struct perf_key *k, size_t i, size_t n)
{
    for (i++; i < n && k[i - 1].time <= k[i].time; i++)
        ;
    return i;
}

static void merge(const struct perf_key *a, size_t na, const struct perf_key *b, size_t nb,
                  struct perf_key *to)
{
    while (na && nb) {
        if (b->time < a->time) {
            *to++ = *b++;
            nb--;
        } else {
            *to++ = *a++;
            na--;
        }
    }
    memcpy(to, a, na * sizeof *a);
    memcpy(to + na, b, nb * sizeof *b);
}

/* Puts n keys in order, with a spare array of the same length; returns that of the two where they
   are then. */
static struct perf_key *sort(struct perf_key *k, struct perf_key *spare, size_t n)
{
    while (n && run_end(k, 0, n) < n) {
        struct perf_key *swap = k;

        for (size_t i = 0; i < n;) {
            const size_t middle = run_end(k, i, n);
            const size_t end = middle < n ? run_end(k, middle, n) : n;

            merge(k + i, middle - i, k + middle, end - middle, spare + i);
            i = end;
        }
        k = spare;
        spare = swap;
    }
    return k;
}

/* Sorted keys of all that is held; *other is the other array. */
#define SORTED(o, keys, key_room, spares, spare_room, n)                                           \
    (cf_must((o)->tool, cf_array_room(&(o)->spares, &(o)->spare_room, (n), sizeof *(o)->spares)),  \
     sort((o)->keys, (o)->spares, (n)))

static void send_state(struct perf_order *o, const struct perf_state *s, uint64_t time)
{
    const struct cf_values task[] = {{CF_TIME, NULL, time},  {CF_PID, NULL, s->pid},
                                     {CF_TID, NULL, s->tid}, {CF_PARENT, NULL, s->parent},
                                     {CF_OP, NULL, s->op},   {CF_LABEL, NULL, s->label}};
    const struct cf_values map[] = {
        {CF_TIME, NULL, time},      {CF_PID, NULL, s->pid},     {CF_OP, NULL, s->op},
        {CF_START, NULL, s->start}, {CF_STOP, NULL, s->end},    {CF_OFFSET, NULL, s->offset},
        {CF_PERMS, NULL, s->perms}, {CF_LABEL, NULL, s->label}, {CF_BUILD, NULL, s->build},
    };
    const struct cf_values lost[] = {{CF_TIME, NULL, time},      {CF_CPU, NULL, s->cpu},
                                     {CF_PID, NULL, s->pid},     {CF_TID, NULL, s->tid},
                                     {CF_COUNT, NULL, s->count}, {CF_LABEL, NULL, s->label}};
    const int is_map = s->table == CF_MAP;

    if (cf_writer_rows(o->out, s->table, 1,
                       is_map                ? map
                       : s->table == CF_LOST ? lost
                                             : task,
                       is_map ? 9 : 6, NULL) < 0)
        o->samples->failed = 1; /* reported when the writer is closed */
}

/* With another program the memory of a process is another, which the kernel does not announce. */
static void send_task(struct perf_order *o, struct perf_state *s)
{
    const struct perf_state none = {
        .table = CF_MAP, .pid = s->pid, .op = CF_UNMAPPED, .end = UINT64_MAX};
    const int what = o->task(o->arg, s);

    if (what)
        send_state(o, s, o->state_sent);
    if (what == 2)
        send_state(o, &none, o->state_sent);
}

static void send_states(struct perf_order *o, uint64_t up_to)
{
    const struct perf_key *k =
        SORTED(o, state_key, state_key_room, state_spare, state_spare_room, o->states);
    size_t n = 0, rest = 0;

    while (n < o->states && k[n].time <= up_to)
        n++;
    for (size_t i = 0; i < n; i++) {
        struct perf_state *s = &o->state[k[i].at];

        /* What was there when perf began has time 0, wherever it stands. */
        if (k[i].time > o->state_sent)
            o->state_sent = k[i].time;
        if (s->table == CF_TASK)
            send_task(o, s);
        else
            send_state(o, s, o->state_sent);
        s->table = 0;
    }
    for (size_t i = 0; i < o->states; i++)
        if (o->state[i].table) {
            o->state[rest] = o->state[i];
            o->state_key[rest] = (struct perf_key){o->state[i].time, (uint32_t)rest};
            rest++;
        }
    o->states = rest;
}

/* Hands on the samples of the first n keys, which are in order; the others stay. */
static void send_samples(struct perf_order *o, struct perf_key *k, size_t n)
{
    const size_t rest = o->held - n;
    struct cf_sample *left;

    for (size_t i = 0; i < n && !o->samples->failed; i++) {
        if (i + 8 < n)
            __builtin_prefetch(&o->sample[k[i + 8].at]);
        if (o->sample[k[i].at].unowned)
            o->owner(o->arg, &o->sample[k[i].at]);
        cf_samples_add(o->samples, &o->sample[k[i].at]);
    }
    if (n) {
        o->sent = k[n - 1].time;
        o->any_sent = 1;
    }
    if (rest) {
        left = cf_need(o->tool, malloc(rest * sizeof *left));
        for (size_t i = 0; i < rest; i++)
            left[i] = o->sample[k[n + i].at];
        for (size_t i = 0; i < rest; i++)
            o->key[i] = (struct perf_key){left[i].time, (uint32_t)i};
        memcpy(o->sample, left, rest * sizeof *left);
        free(left);
    }
    o->held = rest;
}

/* Hands on what is not later than `up_to`, or at least `least` samples. */
static void send(struct perf_order *o, uint64_t up_to, size_t least)
{
    struct perf_key *k = SORTED(o, key, key_room, spare, spare_room, o->held);
    size_t n = 0;

    while (n < o->held && (n < least || k[n].time <= up_to))
        n++;
    if (n && k[n - 1].time > up_to)
        up_to = k[n - 1].time;
    send_states(o, up_to);
    send_samples(o, k, n);
}

void perf_order_sample(struct perf_order *o, const struct cf_sample *sample)
{
    if (o->held == o->most)
        send(o, 0, o->most / 2 + 1);
    if (o->any_sent && sample->time < o->sent) {
        o->late++;
        return;
    }
    cf_must(o->tool, cf_array_room(&o->sample, &o->room, o->held + 1, sizeof *o->sample));
    cf_must(o->tool, cf_array_room(&o->key, &o->key_room, o->held + 1, sizeof *o->key));
    o->sample[o->held] = *sample;
    o->key[o->held] = (struct perf_key){sample->time, (uint32_t)o->held};
    o->held++;
    if (sample->time > o->newest)
        o->newest = sample->time;
}

void perf_order_state(struct perf_order *o, const struct perf_state *state)
{
    if (o->states == o->most)
        send_states(o, UINT64_MAX);
    cf_must(o->tool, cf_array_room(&o->state, &o->state_room, o->states + 1, sizeof *o->state));
    cf_must(o->tool,
            cf_array_room(&o->state_key, &o->state_key_room, o->states + 1, sizeof *o->state_key));
    o->state[o->states] = *state;
    o->state_key[o->states] = (struct perf_key){state->time, (uint32_t)o->states};
    o->states++;
    if (state->time > o->newest)
        o->newest = state->time;
}

void perf_order_round(struct perf_order *o)
{
    if (o->unrounded)
        return;
    send(o, o->round, 0);
    o->round = o->newest;
}

void perf_order_end(struct perf_order *o)
{
    send(o, UINT64_MAX, 0);
    cf_samples_send(o->samples);
}
