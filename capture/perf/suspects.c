/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * suspects.c - which instruction gets the breakpoint next. See suspects.h.
 */
#include <stdlib.h>

#include "capture/perf/suspects.h"
#include "formats/base/cf_hash.h"
#include "formats/base/cf_memory.h"
#include "formats/base/cf_queue.h"

enum {
    RECENT = 1024, /* threads whose last misses are remembered, by hash */
    ROW = 2,       /* samples of an instruction that missed one after the other */
    WINDOW = 64,   /* last misses of a thread, and how many of them on one set are many */
    SET_MISSES = 8,
    FEWEST = 64, /* slots of the table */
    CODE_MOST = 1u << 30
};

struct code {
    uint64_t pc, misses; /* sampled */
    uint32_t pid, row;   /* misses since its last hit */
    uint8_t waits, had;  /* its turn; had one */
};

struct recent {
    uint32_t tid, next;   /* place of the next miss */
    uint32_t set[WINDOW]; /* of each miss, from 1; 0: none yet */
};

struct cf_suspects {
    uint32_t sets, line_size;
    struct code *code; /* in the order of their first misses */
    size_t count, room;
    uint32_t *slot; /* index of code + 1; 0: free */
    size_t slots;   /* a power of two */
    struct cf_seed seed;
    struct cf_queue queue;
    struct recent recent[RECENT];
};

struct cf_suspects *cf_suspects_new(uint32_t sets, uint32_t line_size)
{
    struct cf_suspects *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->sets = sets;
    s->line_size = line_size;
    s->seed = cf_seed(s);
    return s;
}

void cf_suspects_free(struct cf_suspects *s)
{
    if (!s)
        return;
    cf_queue_free(&s->queue);
    free(s->code);
    free(s->slot);
    free(s);
}

/* Where the instruction is or would be; at most half of the slots are taken. */
static uint32_t *slot_of(const struct cf_suspects *s, uint32_t pid, uint64_t pc)
{
    for (uint64_t at = cf_hash(s->seed, pid, pc);; at++) {
        uint32_t *slot = &s->slot[at & (s->slots - 1)];

        if (!*slot || (s->code[*slot - 1].pid == pid && s->code[*slot - 1].pc == pc))
            return slot;
    }
}

static int more_slots(struct cf_suspects *s)
{
    const size_t slots = s->slots ? s->slots * 2 : FEWEST;
    uint32_t *slot = calloc(slots, sizeof *slot);

    if (!slot)
        return -1;
    free(s->slot);
    s->slot = slot;
    s->slots = slots;
    for (size_t i = 0; i < s->count; i++)
        *slot_of(s, s->code[i].pid, s->code[i].pc) = (uint32_t)i + 1;
    return 0;
}

/* Index of the instruction, -1 without memory. */
static int64_t code_of(struct cf_suspects *s, uint32_t pid, uint64_t pc)
{
    uint32_t *slot;

    if ((s->count + 1) * 2 > s->slots && more_slots(s) != 0)
        return -1;
    slot = slot_of(s, pid, pc);
    if (!*slot) {
        if (s->count == CODE_MOST ||
            cf_array_room(&s->code, &s->room, s->count + 1, sizeof *s->code) != 0)
            return -1;
        s->code[s->count++] = (struct code){.pid = pid, .pc = pc};
        *slot = (uint32_t)s->count;
    }
    return *slot - 1;
}

/* Whether a miss is one of many on its set. */
static int piles_up(struct cf_suspects *s, uint32_t tid, uint64_t addr)
{
    const uint32_t set = (uint32_t)(addr / s->line_size % s->sets) + 1;
    struct recent *r = &s->recent[tid % RECENT];
    unsigned found = 0;

    if (s->sets == 1)
        return 0;
    if (r->tid != tid)
        *r = (struct recent){.tid = tid};
    r->set[r->next] = set;
    r->next = (r->next + 1) % WINDOW;
    for (unsigned i = 0; i < WINDOW; i++)
        found += r->set[i] == set;
    return found >= SET_MISSES;
}

int cf_suspects_sampled(struct cf_suspects *s, uint32_t pid, uint32_t tid, uint64_t pc,
                        uint64_t addr, int missed, int again)
{
    const int piled = missed && piles_up(s, tid, addr);
    const uint32_t known = s->slots ? *slot_of(s, pid, pc) : 0;
    struct code *c;
    int64_t at;

    if (!missed) {
        if (known)
            s->code[known - 1].row = 0;
        return 0;
    }
    at = known ? (int64_t)known - 1 : code_of(s, pid, pc);
    if (at < 0)
        return -1;
    c = &s->code[at];
    c->misses++;
    c->row += c->row < ROW;
    if (c->waits)
        cf_queue_more(&s->queue, (uint32_t)at, c->misses);
    else if ((piled || c->row == ROW) && (!c->had || again)) {
        c->waits = c->had = 1;
        return cf_queue_put(&s->queue, (uint32_t)at, c->misses);
    }
    return 0;
}

uint32_t cf_suspects_waiting(const struct cf_suspects *s)
{
    return s->queue.waiting;
}

void cf_suspects_next(struct cf_suspects *s, uint32_t *pid, uint64_t *pc)
{
    struct code *c = &s->code[cf_queue_take(&s->queue)];

    c->waits = 0;
    *pid = c->pid;
    *pc = c->pc;
}
