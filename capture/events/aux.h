/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * aux.h - the second ring of an event whose unit writes a trace of its own, as ARM's SPE does
 * (linux/perf_event.h: aux_offset). The kernel's ring says, by records PERF_RECORD_AUX, which bytes
 * of it are new; and since the unit of a thread stops with the thread, all of them are of the one
 * that the record names.
 */
#ifndef CF_EVENTS_AUX_H
#define CF_EVENTS_AUX_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/spe/spe.h"
#include "formats/base/cf_memory.h"

struct cf_aux {
    struct perf_event_mmap_page *page;
    const uint8_t *memory;
    size_t bytes; /* a power of two; 0: there is no such ring */
    uint64_t midr;
};

/* The unit's counter, read when it was that time. Times that it counted before are reckoned from
   there: clocks that are corrected meanwhile do not differ by more than 1 in 2000. */
struct cf_aux_clock {
    uint64_t count, hz, ns;
};

/* This machine's counter at about `ns`: all zero where it has none that programs can read. */
struct cf_aux_clock cf_aux_clock(uint64_t ns);

/* Maps the ring behind the one of `page`, of `data` bytes: 0, or -1 with errno. */
int cf_aux_map(struct cf_aux *a, int fd, struct perf_event_mmap_page *page, size_t data,
               size_t bytes, int cpu);
void cf_aux_unmap(struct cf_aux *a);

/* Of a record, what its samples are made with. */
struct cf_aux_source {
    uint64_t id; /* of the event */
    uint32_t pid, tid, cpu;
};

enum { CF_AUX_SAMPLE = 80 }; /* bytes of a sample that is made */

/* Takes the bytes that a record names, and gives them back to the kernel. Adds its loads and stores
   to `out` as records PERF_RECORD_SAMPLE of the events' layout, with the level behind. Adds to *bad
   what was no record of the unit. -1 without memory. */
int cf_aux_take(const struct cf_aux *a, uint64_t offset, uint64_t bytes,
                const struct cf_aux_source *source, const struct cf_aux_clock *clock,
                struct cf_bytes *out, uint64_t *bad);

#endif
