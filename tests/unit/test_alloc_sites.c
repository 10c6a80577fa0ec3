/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which sites are left out: objects found by addresses in them, against a list that is searched;
 * and what samples say of their sites.
 */
#include <string.h>

#include "capture/alloc/sites.h"
#include "tests/unit/tap.h"

enum { OBJECTS = 3000, STEPS = 200000, NODES = 40 };

static struct {
    uint64_t addr, bytes;
    uint32_t pid, node;
} object[OBJECTS];

static uint64_t seed = 1;

static uint64_t next(uint64_t below)
{
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (seed >> 33) % below;
}

/* Objects do not overlap: each has a place of its own. */
static void place(unsigned i)
{
    object[i].addr = 0x10000000 + (uint64_t)i * 0x20000 + next(0x8000);
    object[i].bytes = next(3) ? next(500) + 1 : next(10) ? next(60000) + 1 : 65536 + next(20000);
    object[i].pid = 100 + (uint32_t)next(2);
    object[i].node = 1 + (uint32_t)next(NODES);
}

static void against_a_list(void)
{
    struct sites *s = calloc(1, sizeof(*s));
    uint64_t samples[NODES + 1] = {0}, misses[NODES + 1] = {0}, same = 0;

    s->seed = cf_seed(s);
    s->kept = 1;
    for (unsigned step = 0; step < STEPS; step++) {
        const unsigned i = (unsigned)next(OBJECTS);
        uint64_t addr;
        uint32_t pid;

        if (next(3) == 0) {
            if (object[i].bytes && next(2))
                sites_released(s, object[i].pid, object[i].addr);
            if (object[i].bytes && next(50) == 0) {
                /* A process ends. */
                pid = object[i].pid;
                sites_ended(s, pid);
                for (unsigned k = 0; k < OBJECTS; k++)
                    if (object[k].pid == pid)
                        object[k].bytes = 0;
            }
            sites_released(s, object[i].pid, object[i].addr);
            object[i].bytes = 0;
            if (next(4)) {
                place(i);
                if (sites_allocated(s, object[i].pid, object[i].addr, object[i].bytes,
                                    object[i].node) != 0)
                    exit(3);
            }
            continue;
        }
        addr = 0x10000000 + (uint64_t)i * 0x20000 + next(0x20000);
        if (next(2) && object[i].bytes)
            addr = object[i].addr + next(object[i].bytes + 1);
        pid = 100 + (uint32_t)next(2);
        if (object[i].bytes && object[i].pid == pid && addr - object[i].addr < object[i].bytes) {
            samples[object[i].node] += step % 7;
            misses[object[i].node] += step % 2 ? step % 7 : 0;
        }
        if (sites_sampled(s, pid, addr, step % 7, step % 2) != 0)
            exit(3);
    }
    for (unsigned i = 1; i <= NODES; i++)
        same += s->count[i].samples == samples[i] && s->count[i].misses == misses[i] &&
                samples[i] > 100;
    is_u64(same, NODES, "samples count for the site of the object that they lie in");
    sites_free(s);
}

static void far_below_the_mean(void)
{
    struct sites *s = calloc(1, sizeof(*s));
    struct site_count *c;
    uint32_t node = 1;

    s->kept = 1;
    for (uint32_t i = 1; i <= 4; i++)
        if (sites_allocated(s, 1, i * 1000, 10, i) != 0)
            exit(3);
    /* Ratios: 1/2, 1/100, 1/1000 but of few samples, 1/20. */
    for (unsigned i = 0; i < 1000; i++)
        if (sites_sampled(s, 1, 1005, 1, i % 2) != 0 || sites_sampled(s, 1, 2005, 1, i < 10) != 0 ||
            (i < 49 && sites_sampled(s, 1, 3005, 1, 0) != 0) ||
            sites_sampled(s, 1, 4005, 1, i < 50) != 0)
            exit(3);
    c = sites_next(s, &node, 0.1, 50);
    need(c != NULL, "one is far below the mean");
    is_u64(node, 2, "it is the one with a hundredth of misses");
    c->left_out = 1;
    node = 1;
    ok(!sites_next(s, &node, 0.1, 50), "no other: one has too few samples, one is not so far");
    node = 1;
    c = sites_next(s, &node, 0.1, 49);
    ok(c && node == 3, "with fewer samples it would be left out");
    sites_free(s);
}

/* Of small objects one in eight pages is kept, and large ones all; the mean is of all objects. */
static void of_large_and_small(void)
{
    enum { PAGES = 8000, PAGE = 4096, LARGE_AT = 0x40000000 };
    struct sites *s = calloc(1, sizeof(*s));
    uint32_t node = 1;
    int worse;

    if (!s || sites_allocated(s, 1, LARGE_AT, SITES_LARGE, 1) != 0)
        exit(3);
    for (uint64_t i = 1; i <= PAGES; i++)
        if (sites_allocated(s, 1, i * PAGE, 64, 2) != 0 ||
            sites_sampled(s, 1, i * PAGE, 1, i % 50 == 0) != 0)
            exit(3);
    for (unsigned i = 0; i < PAGES / 8; i++)
        if (sites_sampled(s, 1, LARGE_AT + i, 1, i % 2) != 0)
            exit(3);
    /* ratios 1/2 of a ninth and 1/50 of the rest: 0.073, of which 1/50 is more than a fifth */
    worse = sites_next(s, &node, 0.2, 100) != NULL;
    ok(!worse, "a site that misses more than a fifth of the mean stays");
    node = 1;
    ok(sites_next(s, &node, 0.35, 100) && node == 2, "by another fraction it does not");
    sites_free(s);
}

int main(void)
{
    against_a_list();
    of_large_and_small();
    far_below_the_mean();
    return done();
}
