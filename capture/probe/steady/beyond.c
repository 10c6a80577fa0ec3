/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * beyond.c - what serves the accesses that the second level does not.
 *
 * Memory: lines are flushed from all caches, and visited once: what they cost is what a hit in any
 * cache saves. There is one line a page, since prefetchers of the second level stay within a page
 * (Intel 64 and IA-32 Architectures Optimization Reference Manual, "Data Prefetching to the L2 and
 * L3"): of two lines in each page, a Xeon of 2024 had the second one half of the time.
 *
 * A third level that guests of a machine share has no size that one of them could see. That it is
 * there shows in windows that the second level does not hold: their accesses take longer than its,
 * and by far less than those to memory. So only its latency is measured, translation included.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "capture/probe/steady/steady.h"
#include "formats/stream/cf.h"

enum {
    WINDOW = 1 << 20, /* bytes of a window of flushed lines */
    APART = 65 * 64,  /* bytes from one to the next: a page, and another set */
    SPARSE = 1024,    /* bytes between lines of windows beyond: as many for each set as of all */
    WINDOWS = 3,
};

static const unsigned times[WINDOWS] = {3, 4, 6}; /* the size of the second level */
static const double near = 1.5; /* times the second level's latency, at least, of a third */
static const double far = 0.6;  /* of the memory's, at most */

static int memory(struct probe *p, uint32_t repeats, double *least)
{
    for (uint32_t i = 0; i < 2 * repeats; i++) {
        const uint64_t from =
            (uint64_t)i * WINDOW % (p->bench->size - WINDOW + 1) / CF_NODE * CF_NODE;
        struct cf_measured m;

        probe_clear(p);
        probe_add(p, from, from + WINDOW, APART);
        probe_order(p);
        if (p->error)
            return -1;
        p->accesses += p->nodes.count;
        errno = 0;
        if (p->bench->run(p->bench->self,
                          &(struct cf_visit){.offset = p->nodes.offset,
                                             .count = (uint32_t)p->nodes.count,
                                             .rounds = 1,
                                             .fresh = 1},
                          &m) != 0) {
            if (errno == ENOTSUP)
                return 0;
            p->error = errno ? errno : EIO;
            return -1;
        }
        probe_emit(p, "latency", WINDOW, CF_FROM_MEMORY, &m);
        if (!m.spoilt)
            *least = steady_lesser(*least, steady_value(&m));
    }
    return 0;
}

static int third(struct probe *p, uint32_t repeats, double memory_takes)
{
    double least[WINDOWS] = {NAN, NAN, NAN};
    struct steady_rows kept = {0};
    int there = 1, status = 0;

    for (uint32_t i = 0; status == 0 && i < repeats; i++)
        for (unsigned k = 0; status == 0 && k < WINDOWS; k++) {
            const uint64_t bytes = times[k] * p->level[1].size;
            struct cf_measured m = {0};

            if (bytes > p->bench->size)
                continue;
            probe_clear(p);
            probe_add(p, 0, bytes, SPARSE);
            probe_order(p);
            status = probe_visit(p, 1, STEADY_WARM, 1, &m);
            if (status == 0 && !m.spoilt)
                least[k] = steady_lesser(least[k], steady_value(&m));
            if (status == 0)
                status = steady_keep(p, &kept, "latency", bytes, &m);
        }
    for (unsigned k = 0; k < WINDOWS; k++)
        there =
            there && least[k] > near * (double)p->level[1].ticks && least[k] < far * memory_takes;
    steady_emit(p, &kept, NULL, status == 0 && there ? 3 : 0);
    return status;
}

int steady_beyond(struct probe *p, uint32_t repeats)
{
    double memory_takes = NAN;

    if (p->bench->size < 2 * WINDOW)
        return 0;
    if (memory(p, repeats, &memory_takes) != 0)
        return -1;
    if (isnan(memory_takes) || p->levels < 2 || !p->level[1].ticks)
        return 0;
    return third(p, repeats, memory_takes);
}
