/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugin.h - what the parts of the plugin share. It runs inside the emulator: plugin.c registers
 * with it and writes executions and accesses, plugin_blocks.c hands blocks to the reader and
 * gives threads their turns, plugin_maps.c reports the program's mappings.
 */
#ifndef CF_QEMU_PLUGIN_H
#define CF_QEMU_PLUGIN_H

#include <stdint.h>

#include "emulator.h"
#include "protocol.h"

enum { CFQ_SLOTS = 4096, CFQ_ROOM = 1024 /* words left where an execution begins */ };

/* One for each thread of a program or processor of a system, by the emulator's number. Only its
   own thread touches it. */
struct slot {
    struct cfq_block *block; /* never NULL: words that nobody wants go to a block of their own */
    int64_t turns;           /* executions until it looks whether others want to run */
    uint64_t argument[6];    /* of the system call that it is in */
    uint32_t execution;      /* outcome of its last translation block */
    uint32_t entered;        /* it counts as one that runs */
    uint64_t queued_ms;      /* when a part of its block was last queued */
    uint64_t pad[6];         /* no two share a line of the cache */
};

extern struct cfq_shared *cfq_shared;
extern struct slot cfq_slots[CFQ_SLOTS];
extern int cfq_system; /* a whole system is emulated, not a program */

/* plugin_blocks.c */
int cfq_blocks_open(int descriptor); /* maps the shared memory; -1 if it is not ours */
/* The turn of a slot: returns when it may run, with CFQ_ROOM words of room. */
void cfq_take_turn(unsigned vcpu);
/* It is going to wait: others may run. */
void cfq_give_turn(unsigned vcpu);
extern volatile uint32_t cfq_owner; /* who has the turn: slot + 1 */
/* Amidst an execution: room for two words at least, in a new block that resumes it. */
void cfq_more_room(struct slot *s, unsigned vcpu);
/* Between executions: an event, whose header is filled in, and a name. Into the blocks that precede
   all others where `s` is NULL. -1 if nothing is recorded. */
int cfq_put(struct slot *s, unsigned vcpu, enum cf_wire_event type, const void *event, size_t bytes,
            const char *name);
/* Everything of a thread is queued and its block given back. */
void cfq_leave(unsigned vcpu);
void cfq_left(int begun); /* it asks to be replaced by another program, or that failed */
void cfq_blind(void);     /* what is mapped could not be seen: the reader is to say so */

/* plugin_maps.c */
void cfq_maps_install(const char *target); /* before the program is loaded */
void cfq_maps_begin(uint64_t base);        /* after; base: host address minus guest address */
void cfq_maps_called(struct slot *s, int64_t number, const uint64_t *argument);
void cfq_maps_returned(struct slot *s, unsigned vcpu, int64_t number, int64_t result);

#endif
