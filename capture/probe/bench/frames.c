/* SPDX-License-Identifier: BSD-2-Clause */
/* frames.c - sets of pages whose lines stay in a level together. See frames.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "capture/probe/bench/frames.h"

enum {
    WARM = 3, /* rounds, until what was there before is gone */
    MEASURED = 1,
    AGAIN = 5,            /* times that a disturbed machine is tried */
    MOST_DISTURBED = 100, /* questions without an answer, after which there is none at all */
    NOBODY_KNOWS = 2,
    MORE = 4,           /* pages of a colour, than its set has ways */
    PAUSE_NS = 2000000, /* before another try, and longer before each that follows */
};

static uint32_t below(uint64_t *state, uint32_t n)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*state >> 32) * n >> 32);
}

static void shuffle(uint64_t *state, uint64_t *offset, uint32_t n)
{
    for (uint32_t i = n; i > 1; i--) {
        const uint32_t j = below(state, i);
        const uint64_t o = offset[i - 1];

        offset[i - 1] = offset[j];
        offset[j] = o;
    }
}

int cf_frames_visit(struct cf_frames *f, const uint32_t *page, uint32_t n, uint64_t *offset,
                    struct cf_measured *m)
{
    for (uint32_t k = 0; k < n; k++)
        offset[k] = page[k] * f->page + CF_FRAMES_OFFSET;
    shuffle(&f->seed, offset, n);
    if (f->bench->run(f->bench->self,
                      &(struct cf_visit){.offset = offset,
                                         .count = n,
                                         .warm = WARM,
                                         .rounds = MEASURED,
                                         .level = f->level,
                                         .limit = f->limit},
                      m) != 0)
        return -1;
    if (!m->has_misses) {
        errno = ENOTSUP;
        return -1;
    }
    return 0;
}

/* Do the lines of these pages stay? 1 or 0, or -1 with errno. Other programs take lines away, but
   none of them brings lines back: one visit without misses is enough. */
static int stay(struct cf_frames *f, const uint32_t *page, uint32_t n, uint64_t *offset,
                const char *experiment, uint64_t parameter)
{
    for (uint32_t i = 0; i < f->tries; i++) {
        struct cf_measured m;

        if (cf_frames_visit(f, page, n, offset, &m) != 0)
            return -1;
        if (experiment)
            f->row(f->arg, experiment, parameter, i, &m);
        if (!m.misses)
            return 1;
    }
    return 0;
}

/* The same, where the pages taken are known to stay: unless they do so now as well, it is the
   machine that is disturbed, and the answer is NOBODY_KNOWS. */
static int stay_beside(struct cf_frames *f, const uint32_t *page, uint32_t n, uint64_t *offset,
                       const char *experiment, uint64_t parameter)
{
    int status = 0;

    for (unsigned i = 0; i < AGAIN && !status; i++) {
        const struct timespec pause = {.tv_nsec = PAUSE_NS * (long)i};

        if (i)
            nanosleep(&pause, NULL);
        status = stay(f, page, n, offset, experiment, parameter);
        if (status)
            return status;
        /* a line alone stays in every cache */
        status = f->pages ? stay(f, f->taken, f->pages, offset, NULL, 0) : 0;
    }
    if (status)
        return status < 0 ? -1 : 0;
    f->disturbed++;
    return NOBODY_KNOWS;
}

static int is_late(const struct cf_frames *f)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return f->until && (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec >= f->until;
}

int cf_frames_size(struct cf_frames *f)
{
    const uint32_t most = (uint32_t)(f->bench->size / f->page);
    uint64_t *offset = calloc((size_t)most + 1, sizeof *offset);
    uint32_t refused = 0;

    f->pages = f->disturbed = 0;
    f->taken = calloc((size_t)most + f->refused, sizeof *f->taken);
    for (uint32_t i = 0; offset && f->taken && i < most && refused < f->refused &&
                         f->disturbed < MOST_DISTURBED && !is_late(f);
         i++) {
        int yes;

        f->taken[f->pages] = i;
        yes = stay_beside(f, f->taken, f->pages + 1, offset, "pages", (f->pages + 1) * f->page);
        if (yes < 0) {
            free(offset);
            return -1;
        }
        if (yes == 1)
            f->pages++;
        refused = yes == 1 ? 0 : refused + (yes == 0);
    }
    f->full = refused >= f->refused;
    if (!offset || !f->taken) {
        free(offset);
        return -1;
    }
    free(offset);
    return 0;
}

int cf_frames_colour(struct cf_frames *f, uint32_t *page, uint32_t most)
{
    const uint32_t after = f->pages ? f->taken[f->pages - 1] + 1 : 0;
    uint64_t *offset = calloc((size_t)f->pages + most + 1, sizeof *offset);
    uint32_t *with = calloc((size_t)f->pages + 1, sizeof *with);
    uint32_t n = 0, ways;
    int status = offset && with ? 0 : -1;

    if (!f->full || status)
        goto out;
    /* all that come after the last one that was taken were refused */
    page[n++] = after;
    for (uint32_t out = 0; out < f->pages && n < most; out++) {
        memcpy(with, f->taken, f->pages * sizeof *with);
        with[out] = after;
        status = stay_beside(f, with, f->pages, offset, NULL, 0);
        if (status < 0 || f->disturbed >= MOST_DISTURBED)
            goto out;
        if (status == 1)
            page[n++] = f->taken[out];
    }
    ways = n - 1;
    for (uint32_t i = 1; i < f->refused && n < most && n < ways + MORE; i++) {
        /* beside the pages of the colour that were taken, which fill its set */
        memcpy(with, page + 1, ways * sizeof *with);
        with[ways] = page[n] = after + i;
        status = stay_beside(f, with, ways + 1, offset, NULL, 0);
        if (status < 0 || f->disturbed >= MOST_DISTURBED)
            goto out;
        n += status == 0;
    }
out:
    free(offset);
    free(with);
    return status < 0 ? -1 : f->full && f->disturbed < MOST_DISTURBED ? (int)n : 0;
}
