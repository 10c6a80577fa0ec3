/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * second.c - the second level of a machine that is disturbed, by pages (frames.h): its size and
 * ways, and what follows from the pages that were found.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "capture/probe/steady/steady.h"
#include "formats/stream/cf.h"

enum {
    APART = 512,   /* bytes, at least, from a line to the next */
    FRAME = 4096,  /* the smallest page of any host */
    REFUSED = 400, /* with 64 colours one that is not full is missed once in 500 searches */
    TRIES = 12,
    COARSE = 4,     /* steps of the clock: what takes less is not timed by itself, nor what is not
                       told from a hit by two */
    ATTEMPTS = 3,   /* to find the second level of a machine that is disturbed */
    BEYOND = 8,     /* pages more than fit */
    SAMPLES = 4096, /* accesses timed by themselves */
};

static int order_of_ticks(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* Ticks of single accesses to a window, at a part of 100 of them in their order. */
static int ticks_at(struct probe *p, uint64_t bytes, unsigned percent, uint64_t *ticks)
{
    const uint64_t step = bytes / SAMPLES / CF_NODE * CF_NODE;
    struct cf_measured m;
    uint32_t *each;
    int status;

    probe_clear(p);
    probe_add(p, 0, bytes, step > APART ? step : APART);
    probe_order(p);
    each = malloc(p->nodes.count * sizeof *each);
    if (!each || p->error) {
        free(each);
        return -1;
    }
    status = p->bench->run(p->bench->self,
                           &(struct cf_visit){.offset = p->nodes.offset,
                                              .count = (uint32_t)p->nodes.count,
                                              .warm = STEADY_WARM,
                                              .rounds = 1,
                                              .level = 2,
                                              .each = each},
                           &m);
    if (status == 0) {
        qsort(each, p->nodes.count, sizeof *each, order_of_ticks);
        *ticks = each[(p->nodes.count - 1) * percent / 100];
    }
    free(each);
    return status;
}

static void frames_row(void *arg, const char *experiment, uint64_t parameter, uint32_t repeat,
                       const struct cf_measured *m)
{
    const struct probe_row row = {experiment, parameter, repeat, 2, *m};
    struct probe *p = arg;

    p->accesses += m->accesses;
    p->row(p->arg, &row);
}

static int latency_of_second(struct probe *p, const struct cf_frames *f, uint32_t repeats)
{
    const uint64_t bytes = (uint64_t)(f->pages / 2) * f->page;
    struct cf_measured m;
    double value, least = NAN;

    for (uint32_t i = 0; i < repeats && bytes > 4 * p->level[0].size; i++) {
        probe_clear(p);
        for (uint32_t k = 0; k < f->pages / 2; k++)
            probe_add(p, f->taken[k] * f->page, (f->taken[k] + 1) * f->page, 4 * CF_NODE);
        if (steady_visit(p, &m, &value) != 0)
            return -1;
        probe_emit(p, "latency", bytes, 2, &m);
        least = steady_lesser(least, value);
    }
    p->level[1].ticks = isnan(least) ? 0 : (uint64_t)(least + 0.5);
    return 0;
}

/* The search asks once whether one more page fits: here all numbers of pages again, up to some more
   than fit. */
static int size_of_second(struct probe *p, struct cf_frames *f, uint32_t repeats)
{
    const uint32_t most = f->pages + BEYOND;
    uint64_t *offset = calloc(most, sizeof *offset);
    int status = offset ? 0 : -1;

    for (uint32_t i = 0; i < BEYOND; i++)
        f->taken[f->pages + i] = f->taken[f->pages - 1] + 1 + i;
    for (uint32_t i = 0; status == 0 && i < repeats && !(i > 2 && steady_late(p, "repeats")); i++)
        for (uint32_t n = 1; status == 0 && n <= most; n++) {
            struct cf_measured m;

            status = cf_frames_visit(f, f->taken, n, offset, &m);
            if (status == 0)
                frames_row(p, "pages", n * f->page, TRIES + i, &m);
        }
    free(offset);
    return status;
}

/* Lines of one set, one more each time. */
static int ways_of_second(struct probe *p, struct cf_frames *f, uint32_t repeats)
{
    uint64_t offset[STEADY_COLOUR];
    uint32_t page[STEADY_COLOUR], ways = 0;
    const int n = cf_frames_colour(f, page, STEADY_COLOUR);

    for (uint32_t i = 0; i < repeats && n > 0; i++)
        for (uint32_t k = 1; k <= (uint32_t)n; k++) {
            struct cf_measured m;

            /* those that were taken first: the one that was refused is page[0] */
            if (cf_frames_visit(f, page + n - k, k, offset, &m) != 0)
                return -1;
            frames_row(p, "associativity", k, i, &m);
            if (!m.misses && k > ways)
                ways = k;
        }
    if (n < 0 || steady_index(p, f, ways, repeats) != 0)
        return -1;
    return ways && (uint32_t)n > ways + 1 ? steady_inclusion(p, f, page, (uint32_t)n, repeats) : 0;
}

/* Ticks of the second level are those of most accesses to four times what the first one holds; what
   takes two fifths more comes from behind it, if a large window has such at all. */
int steady_second(struct probe *p, uint32_t repeats)
{
    struct cf_frames f = {.bench = p->bench,
                          .level = 2,
                          .page = FRAME,
                          .refused = REFUSED,
                          .tries = TRIES,
                          .seed = p->seed,
                          .until = p->until,
                          .row = frames_row,
                          .arg = p};
    uint64_t near, far;
    int status;

    if (ticks_at(p, 4 * p->level[0].size, 75, &near) != 0 ||
        ticks_at(p, p->bench->size, 50, &far) != 0) {
        p->error = p->error ? p->error : errno;
        return -1;
    }
    f.limit = near + near * 2 / 5;
    if (f.limit <= COARSE * p->bench->step || f.limit - near < 2 * p->bench->step) {
        p->coarse = 1;
        return 0;
    }
    if (far <= f.limit)
        return 0;
    status = cf_frames_size(&f);
    for (unsigned i = 1; i < ATTEMPTS && status == 0 && !f.full && !steady_late(p, NULL); i++) {
        free(f.taken);
        status = cf_frames_size(&f);
    }
    if (status == 0 && !f.full)
        (void)steady_late(p, "the second level");
    if (status == 0 && f.full) {
        p->level[1].size = f.pages * f.page;
        p->levels = 2;
        status = size_of_second(p, &f, repeats);
        if (status == 0)
            status = ways_of_second(p, &f, repeats);
        if (status == 0)
            status = latency_of_second(p, &f, repeats);
        if (status == 0)
            status = steady_share(p, &f, repeats);
    }
    free(f.taken);
    if (status != 0 && !p->error)
        p->error = errno ? errno : EIO;
    return status;
}
