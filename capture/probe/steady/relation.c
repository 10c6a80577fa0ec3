/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * relation.c - how the second level goes with addresses, with the first one, and with other CPUs.
 *
 * Index: lines a way apart. More of them than ways conflict where the index is plain and the frames
 * are as far apart as the addresses: a page of the processor's own is as large as a way, at least.
 *
 * Inclusion: a line with four nodes, so that it is visited four times in a round among lines of its
 * set of this level, more than ways. The first level, which sees it again and again, keeps it; this
 * one does not see it any more, and evicts it. An inclusive level takes it out of the first one
 * then, and the next visit is slow. If none ever is, it is not inclusive. If some are, the first
 * level may have lost the line for a reason of its own.
 *
 * Sharing: lines that another CPU has brought in, from nowhere. This one finds them in a level that
 * both share, or farther away. They are linked there, and not touched here before they are timed.
 */
#include <errno.h>

#include "capture/probe/steady/steady.h"

enum {
    LINES = 250,       /* of other CPUs */
    APART = 4160,      /* a page, and another set */
    TIMES = 4,         /* nodes of a line */
    NOT_INCLUSIVE = 7, /* parameter of experiment inclusion */
    ROUNDS = 8,
};

static int failed(struct probe *p)
{
    p->error = p->error ? p->error : errno ? errno : EIO;
    return -1;
}

int steady_index(struct probe *p, const struct cf_frames *f, uint32_t ways, uint32_t repeats)
{
    /* ways that the size is no multiple of were disturbed */
    const uint64_t lines = (uint64_t)ways * p->level[0].line;
    const uint64_t way = ways && p->level[1].size % lines == 0 ? p->level[1].size / ways : 0;

    for (uint32_t i = 0; i < repeats && way >= f->page; i++)
        for (uint32_t n = 1; n <= 2 * ways && n * way <= p->bench->size; n++) {
            struct cf_measured m;

            probe_clear(p);
            probe_add(p, 0, n * way, way);
            probe_order(p);
            if (p->error || p->bench->run(p->bench->self,
                                          &(struct cf_visit){.offset = p->nodes.offset,
                                                             .count = n,
                                                             .warm = 3,
                                                             .rounds = 1,
                                                             .level = 2,
                                                             .limit = f->limit},
                                          &m) != 0)
                return failed(p);
            p->accesses += m.accesses;
            probe_emit(p, "index", n, 2, &m);
        }
    return 0;
}

int steady_inclusion(struct probe *p, const struct cf_frames *f, const uint32_t *page, uint32_t n,
                     uint32_t repeats)
{
    uint64_t offset[TIMES + STEADY_COLOUR];
    uint32_t each[(TIMES + STEADY_COLOUR) * ROUNDS], count = 0;

    for (uint32_t k = 0; k < TIMES; k++) {
        offset[count++] = page[0] * f->page + CF_FRAMES_OFFSET + k * CF_NODE;
        for (uint32_t i = 1 + (n - 1) * k / TIMES; i < 1 + (n - 1) * (k + 1) / TIMES; i++)
            offset[count++] = page[i] * f->page + CF_FRAMES_OFFSET;
    }
    for (uint32_t i = 0; i < repeats; i++) {
        struct cf_measured m;
        uint64_t slow = 0;

        if (p->bench->run(p->bench->self,
                          &(struct cf_visit){.offset = offset,
                                             .count = count,
                                             .warm = 3,
                                             .rounds = ROUNDS,
                                             .level = 2,
                                             .each = each},
                          &m) != 0)
            return failed(p);
        for (uint32_t k = 0; k < count * ROUNDS; k++)
            slow += offset[k % count] / f->page == page[0] && each[k] > f->limit;
        p->accesses += m.accesses;
        m.accesses = TIMES * ROUNDS;
        m.misses = slow;
        m.has_misses = 1;
        probe_emit(p, "inclusion", NOT_INCLUSIVE, 2, &m);
    }
    return 0;
}

static int share_with(struct probe *p, const struct cf_frames *f, unsigned cpu, uint32_t repeats)
{
    for (uint32_t i = 0; i < repeats; i++) {
        struct cf_visit v = {.warm = 1, .rounds = 1, .cpu = 1 + cpu};
        struct cf_measured m;

        probe_clear(p);
        probe_add(p, 0, (uint64_t)LINES * APART, APART);
        probe_order(p);
        if (p->error || probe_forget(p) != 0)
            return -1;
        v.offset = p->nodes.offset;
        v.count = (uint32_t)p->nodes.count;
        if (p->bench->run(p->bench->self, &v, &m) != 0)
            return errno == EINVAL || errno == EPERM ? 1 : failed(p);
        v.warm = v.cpu = 0;
        v.again = 1;
        v.level = 2;
        v.limit = f->limit;
        if (p->bench->run(p->bench->self, &v, &m) != 0)
            return failed(p);
        p->accesses += 3 * m.accesses;
        probe_emit(p, "share", cpu, 2, &m);
    }
    return 0;
}

int steady_share(struct probe *p, const struct cf_frames *f, uint32_t repeats)
{
    int status = 0;

    if ((uint64_t)LINES * APART > p->bench->size)
        return 0;
    for (unsigned i = 0; i < p->others && status >= 0; i++)
        status = steady_late(p, "sharing") ? 0 : share_with(p, f, p->other[i], repeats);
    return status < 0 ? -1 : 0;
}
