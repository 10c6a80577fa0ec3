/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hill_join.c - the parts of a recording, in their order, joined (hill_part.c).
 *
 * First uses of lines go through the caches as accesses: between two of them as many lines of a
 * set, or of all, are used as were in truth, so that they find what they would have found in the
 * whole. What a part held at its end then brings the caches into the state of the whole; what that
 * misses is not counted.
 *
 * Memory: 17 bytes for each of 16,384 rows.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "filters/parts/classify/hill.h"
#include "formats/base/cf_memory.h"
#include "formats/base/cf_number.h"
#include "formats/together/cf_processes.h"

struct machine {
    struct hill_joined *all;
    struct hill *h;
    /* of the part at hand */
    uint32_t processes, *pid;
    size_t pid_room;
    unsigned counted; /* levels of which counts came */
};

struct hill_joined {
    struct cf_partial *partial;
    struct machine machine[MOST_MACHINES];
    unsigned machines;
    unsigned pids; /* for cf_pids_join(), of all parts */
    uint64_t addr[PIECE];
    uint8_t op[PIECE], class[PIECE];
    uint32_t pid[PIECE];
};

struct hill_joined *hill_joined_new(struct cf_partial *partial, void *const *state,
                                    unsigned machines)
{
    struct hill_joined *j = cf_need(partial->tool, calloc(1, sizeof *j));

    j->partial = partial;
    j->machines = machines;
    for (unsigned i = 0; i < machines; i++) {
        j->machine[i] = (struct machine){.all = j, .h = state[i]};
        j->machine[i].h->joined = 1;
    }
    return j;
}

void hill_joined_free(struct hill_joined *j)
{
    for (unsigned i = 0; j && i < j->machines; i++)
        free(j->machine[i].pid);
    free(j);
}

static void take_process(struct machine *p, uint64_t pid)
{
    struct hill *const h = p->h;
    const uint32_t process = (uint32_t)pid;
    uint8_t core;
    uint64_t space;

    if (pid >> 32 || p->processes >> (__builtin_ctz(h->shortest) - 1))
        cf_partial_damaged(p->all->partial);
    cf_must(p->all->partial->tool, cf_cores_rows(h->cores, NULL, &process, NULL, 1, &core, &space));
    cf_must(p->all->partial->tool,
            cf_array_room(&p->pid, &p->pid_room, p->processes + 1, sizeof *p->pid));
    for (unsigned i = 0; i < h->watches && space != cf_space_key(p->processes); i++) {
        const uint32_t sets = h->m->level[h->watch[i].level].sets;

        if (sets & (sets - 1))
            cf_die(p->all->partial->tool, CF_EXIT_INPUT,
                   "%s: process %" PRIu32 " is not the same in the order of the part's processes "
                   "as in that of the whole, on which sets whose number is no power of two depend: "
                   "run cf-classify on the whole",
                   cf_reader_file(p->all->partial->reader), process);
    }
    p->pid[p->processes++] = process;
}

/* Lines as accesses; what `held` ones miss is not counted. */
static void take_lines(struct machine *p, const uint64_t *addr, const uint64_t *key, uint32_t n,
                       int held)
{
    struct hill_joined *const all = p->all;
    struct cf_class_counts before[WATCHES];
    const struct rows in = {
        .rows = n, .addr = all->addr, .op = all->op, .pid = p->processes ? all->pid : NULL};

    cf_pids_join(&all->pids, all->partial->tool, p->processes != 0);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t process = (uint32_t)(key[i] >> 32);
        const unsigned op = (uint8_t)key[i];

        if (op < CF_LOAD || op >= CF_CLASS_OPS || op == CF_FLUSH ||
            process >= (p->processes ? p->processes : 1))
            cf_partial_damaged(all->partial);
        all->addr[i] = addr[i];
        all->op[i] = (uint8_t)op;
        all->pid[i] = p->processes ? p->pid[process] : 0;
    }
    for (unsigned i = 0; i < p->h->watches; i++)
        before[i] = p->h->watch[i].counts;
    cf_must(all->partial->tool, hill_model(p->h, p->h->one, &in, all->class));
    for (unsigned i = 0; held && i < p->h->watches; i++)
        p->h->watch[i].counts = before[i];
}

static void take_counts(struct machine *p, const struct cf_frame *f, uint32_t row, uint64_t watch)
{
    uint64_t *to[HILL_SUMS];

    if (watch != p->counted++ || watch >= p->h->watches)
        cf_partial_damaged(p->all->partial);
    hill_sums(&p->h->watch[watch].counts, to);
    for (unsigned k = 0; k < HILL_SUMS; k++)
        *to[k] = cf_sum(*to[k], cf_partial_sum(p->all->partial, f, k)[row]);
}

static void end_of_part(struct hill_joined *p)
{
    for (unsigned i = 0; i < p->machines; i++) {
        if (p->machine[i].counted != p->machine[i].h->watches)
            cf_partial_damaged(p->partial);
        p->machine[i].counted = 0;
        p->machine[i].processes = 0;
    }
    p->partial->ended = 1;
}

/* Rows of one kind and machine, of which processes, counts and ends come one by one. */
static uint32_t together(const uint8_t *entry, const uint64_t *key, uint32_t from, uint32_t rows)
{
    uint32_t to = from + 1;

    if (entry[from] != HILL_FIRST && entry[from] != HILL_HELD)
        return 1;
    while (to < rows && to - from < PIECE && entry[to] == entry[from] &&
           (uint32_t)key[to] >> 8 == (uint32_t)key[from] >> 8)
        to++;
    return to - from;
}

void hill_joined_frame(struct hill_joined *p, const struct cf_frame *f)
{
    const uint8_t *entry = cf_partial_entries(p->partial, f);
    const uint64_t *a = cf_partial_key(p->partial, f, 0), *b = cf_partial_key(p->partial, f, 1);

    for (uint32_t i = 0, n; entry && i < f->rows; i += n) {
        const uint32_t machine = (uint32_t)b[i] >> 8;
        struct machine *const k = machine < p->machines ? &p->machine[machine] : NULL;

        n = together(entry, b, i, f->rows);
        if (!k || p->partial->ended)
            cf_partial_damaged(p->partial);
        switch (entry[i]) {
        case HILL_PROCESS:
            take_process(k, a[i]);
            break;
        case HILL_FIRST:
        case HILL_HELD:
            take_lines(k, a + i, b + i, n, entry[i] == HILL_HELD);
            break;
        case HILL_COUNTS:
            take_counts(k, f, i, a[i]);
            break;
        case HILL_END:
            end_of_part(p);
            break;
        default:
            cf_partial_damaged(p->partial);
        }
    }
}
