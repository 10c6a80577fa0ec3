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
    RECENT = 1024, /* threads whose last miss is remembered, by hash */
    FEWEST = 64,   /* slots of the table */
    CODE_MOST = 1u << 30
};

struct code {
    uint64_t pc, misses; /* sampled */
    uint32_t pid;
    uint8_t waits, had; /* its turn; had one */
};

struct recent {
    uint32_t tid, run; /* misses one after the other on one set */
    uint64_t pc, set;
};

struct cf_suspects {
    uint32_t same_set, sets, line_size;
    struct code *code; /* in the order of their first misses */
    size_t count, room;
    uint32_t *slot; /* index of code + 1; 0: free */
    size_t slots;   /* a power of two */
    struct cf_seed seed;
    struct cf_queue queue;
    struct recent recent[RECENT];
};

struct cf_suspects *cf_suspects_new(uint32_t same_set, uint32_t sets, uint32_t line_size)
{
    struct cf_suspects *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->same_set = same_set;
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

int cf_suspects_sampled(struct cf_suspects *s, uint32_t pid, uint32_t tid, uint64_t pc,
                        uint64_t addr, int missed, int again)
{
    struct recent *r = &s->recent[tid % RECENT];
    const uint64_t set = addr / s->line_size % s->sets;
    struct code *c;
    int64_t at;
    int suspect;

    if (!missed) {
        *r = (struct recent){.tid = tid};
        return 0;
    }
    if (r->tid != tid)
        *r = (struct recent){.tid = tid};
    r->run = r->set == set ? r->run + 1 : 1;
    suspect = r->pc == pc || r->run >= s->same_set;
    r->pc = pc;
    r->set = set;
    at = code_of(s, pid, pc);
    if (at < 0)
        return -1;
    c = &s->code[at];
    c->misses++;
    if (c->waits)
        cf_queue_more(&s->queue, (uint32_t)at, c->misses);
    else if (suspect && (!c->had || again)) {
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
