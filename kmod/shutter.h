/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The parts of cacheflow.ko and what they ask of each other:
 *
 *   device.c     /dev/cacheflow: who may do what, and when
 *   buffer.c     the memory that snapshots are kept in
 *   shutter.c    taking one snapshot while everything else stands still
 *   cycles.c     what it cost
 *   resolve.c    whose the lines are; walk.c finds that in page tables, by resolve.h
 *   backend.c    which CPU this is; cortex.c, ramindex_*.S and model.c read its memories
 *
 * Everything but shutter_read() and what it calls runs in process context under one mutex of
 * device.c, so no part has a lock of its own.
 */
#ifndef CACHEFLOW_SHUTTER_H
#define CACHEFLOW_SHUTTER_H

#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/types.h>
#include <linux/version.h>

#include "cacheflow.h"

#define KERNEL_HAS(a, b) (LINUX_VERSION_CODE >= KERNEL_VERSION(a, b, 0))

/* No cache that we know has more lines than 4 MB of 64 bytes; twice that bounds how long a snapshot
   holds the machine, whatever CCSIDR may say. */
#define SHUTTER_LINES_MAX (1u << 17)

/* ---- backend.c ---- */

/* How the memories of one kind of CPU are read. */
struct shutter_backend {
    const char *name;

    /* Whether the CPU that this runs on is such a one. Interrupts are off. */
    bool (*able)(void);

    /* Fills in the memories of the CPU that this runs on; those that cannot be read stay zero.
       Interrupts are off. */
    void (*probe)(const struct shutter_backend *backend, struct cacheflow_ram ram[CACHEFLOW_RAMS]);

    /* Reads one entry of one memory of the CPU that this runs on, all other CPUs stopped. False
       when the entry is not valid; else fills in the line but for set and way. */
    bool (*entry)(u32 ram, const struct cacheflow_ram *geometry, u32 set, u32 way,
                  struct cacheflow_line *line);

    u32 part;    /* of MIDR, ARM only */
    u32 sure;    /* bit set of cacheflow_ram_id whose layout is documented */
    u32 assumed; /* and of those taken over from a related CPU, for assume=1 */
};

/* The backend that fits a CPU that is online, or the one of that name; ERR_PTR(-ENODEV) where there
   is none, ERR_PTR(-EINVAL) for no such name. Fills in what its memories are, and the CPU's MIDR.
 */
const struct shutter_backend *backend_find(const char *name, bool assume,
                                           struct cacheflow_ram ram[CACHEFLOW_RAMS], u64 *cpu_id);

/* Whether Linux runs in a virtual machine, as far as the device tree or ACPI says. */
bool backend_below_hypervisor(void);

/* Number of online CPUs whose memories it reads. */
u32 backend_count_able(const struct shutter_backend *backend);

/* Fills in a line's address and state. */
static inline void shutter_set_line(struct cacheflow_line *line, u64 phys, u8 state)
{
    line->frame_low = (u32)(phys >> 6);
    line->frame_high = (u16)(phys >> 38);
    line->state = state;
}

#if defined(CONFIG_ARM64) || defined(CONFIG_ARM)
extern const struct shutter_backend backend_cortex[];
extern const unsigned int backend_cortex_count;
#endif
extern const struct shutter_backend backend_model;
extern unsigned int cacheflow_model_sets, cacheflow_model_ways;
extern u64 *cacheflow_model_tags;
int model_make(void); /* 0, -EINVAL for invalid parameters, -ENOMEM */
void model_free(void);

/* ---- buffer.c ---- */

struct shutter_buffer {
    char *base; /* kernel mapping, not cacheable unless flags say so */
    size_t size;
    size_t used;
    u32 flags; /* CACHEFLOW_BUFFER_* */
    u32 snapshots;
    u64 discards;
    phys_addr_t phys;    /* of a reserved region */
    struct page **pages; /* of our own memory */
};

/* Takes `size` bytes at `phys`, which Linux must not use, or its own memory where phys is 0. 0, or
   -EINVAL, -EBUSY, -EIO, -ENOMEM with a message in the kernel log. */
int buffer_make(struct shutter_buffer *buffer, phys_addr_t phys, size_t size);
void buffer_free(struct shutter_buffer *buffer);
void buffer_discard(struct shutter_buffer *buffer);
int buffer_mmap(struct shutter_buffer *buffer, struct vm_area_struct *vma);

/* ---- cycles.c ---- */

struct shutter_cycles {
    u32 source; /* CACHEFLOW_CYCLES_* */
    u64 begin;
    bool ours; /* the CPU's counter was not running: it is turned off again */
    u32 control, enabled, filter;
};

/* Both on the same CPU with interrupts off; the second gives what passed between. */
void cycles_begin(struct shutter_cycles *cycles);
u64 cycles_end(struct shutter_cycles *cycles);
u64 cycles_timer_hz(void);

/* ---- resolve.c ---- */

struct resolver;

/* Memory for a snapshot of so many lines, not touched before it is needed, since touching it would
   change the cache that is about to be read. NULL when there is none. */
struct resolver *resolver_make(u32 lines);
void resolver_free(struct resolver *resolver);

/* Writes the owners of the lines to `owners`, of which there is room for `room`; the rest is
   counted in *missing. Gives their number in *count. 0, or -EINTR when the caller is being killed.
 */
int resolver_run(struct resolver *resolver, const struct cacheflow_line *lines, u32 entries,
                 struct cacheflow_owner *owners, u32 room, u32 *count, u32 *missing);

/* ---- shutter.c ---- */

/* The most bytes that a snapshot of this memory takes (with owners: at one a line). */
size_t shutter_bytes(const struct cacheflow_ram *geometry, u32 flags);

/* The bytes that there are for the next one: all of the buffer where it replaces what is there. */
size_t shutter_room(const struct shutter_buffer *buffer, u32 flags);

/* Takes a snapshot to the end of the buffer, or in place of all that it holds. Errors as in
   cacheflow.h at struct cacheflow_shot. */
int shutter_take(struct shutter_buffer *buffer, const struct shutter_backend *backend,
                 const struct cacheflow_ram *geometry, const struct cacheflow_config *config,
                 u64 number, struct cacheflow_shot *shot);

#endif
