/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * accesses.c - the second stream of cf-policy, read as far as each snapshot reaches.
 */
#include <stdlib.h>
#include <string.h>

#include "filters/engine/rows/counts.h"
#include "filters/parts/policy/policy.h"

enum {
    PAGE_SHIFT = 12,  /* larger pages are many of these */
    LONGEST = 1 << 20 /* bytes of an access; what claims to be longer is cut */
};

struct accesses {
    struct cf_tool *tool;
    char *file; /* the reader wants it to stay */
    struct cf_reader *reader;
    struct cf_frame *frame; /* table access, rows from `at` on are to come; or NULL */
    uint32_t at;
    int over;         /* no frame is left, */
    uint64_t segment; /* of the frames that come, from 1 */
    uint64_t wanted;
    unsigned level;
    struct cf_counts *frames; /* a: process, b: page + 1; frame + 1 */
    uint64_t unplaced;
};

struct accesses *accesses_open(struct cf_tool *t, const char *file, unsigned level)
{
    static const unsigned optional[] = {CF_PHYS, CF_PID, CF_OP, CF_SIZE, CF_HIT, CF_LEVEL};
    struct accesses *a = calloc(1, sizeof *a);

    if (!a)
        return NULL;
    a->file = strdup(file);
    a->frames = cf_counts_new();
    if (!a->file || !a->frames) {
        free(a->file);
        cf_counts_free(a->frames);
        free(a);
        return NULL;
    }
    a->tool = t;
    a->level = level;
    a->wanted = 1;
    a->reader = cf_tool_reader(t, &a->file, 1);
    cf_reader_want(a->reader, CF_ACCESS, CF_TIME, CF_REQUIRED);
    cf_reader_want(a->reader, CF_ACCESS, CF_ADDR, CF_REQUIRED);
    for (size_t i = 0; i < sizeof optional / sizeof *optional; i++)
        cf_reader_want(a->reader, CF_ACCESS, optional[i], CF_OPTIONAL);
    return a;
}

int accesses_learn(struct accesses *a, uint32_t pid, uint64_t addr, uint64_t phys)
{
    uint64_t *frame = cf_counts_at(a->frames, pid, (addr >> PAGE_SHIFT) + 1);

    if (!frame)
        return -1;
    *frame = (phys >> PAGE_SHIFT) + 1;
    return 0;
}

/* A frame of accesses with rows left, or nothing when the segment ends. */
static int more(struct accesses *a)
{
    struct cf_frame *f;

    while (!a->over && a->segment <= a->wanted) {
        if (a->frame && a->at < a->frame->rows && a->segment == a->wanted)
            return 1;
        a->frame = NULL;
        if (cf_reader_next(a->reader, &f) <= 0) {
            a->over = 1;
        } else if (f->table == CF_HEADER) {
            a->segment++;
        } else if (f->table == CF_ACCESS) {
            if (!a->segment)
                a->segment = 1; /* its header was lost */
            a->frame = f;
            a->at = 0;
        }
    }
    return 0;
}

/* The physical address, CF_TAGS_NONE where it is not known. */
static uint64_t place(const struct accesses *a, uint32_t pid, uint64_t addr)
{
    const uint64_t frame = cf_counts_get(a->frames, pid, (addr >> PAGE_SHIFT) + 1);

    if (!frame)
        return CF_TAGS_NONE;
    return (frame - 1) << PAGE_SHIFT | (addr & ((1u << PAGE_SHIFT) - 1));
}

static int add_row(struct accesses *a, struct cf_candidates *candidates, unsigned shift)
{
    const struct cf_frame *f = a->frame;
    const uint64_t *phys = cf_u64(f, CF_PHYS);
    const uint32_t *pid = cf_u32(f, CF_PID), *size = cf_u32(f, CF_SIZE);
    const uint8_t *op = cf_u8(f, CF_OP);
    const uint8_t *served = cf_u8(f, CF_HIT) ? cf_u8(f, CF_HIT) : cf_u8(f, CF_LEVEL);
    const uint32_t i = a->at, said = size && size[i] ? size[i] : 1;
    const uint32_t n = said < LONGEST ? said : LONGEST;
    const uint64_t addr = phys ? phys[i] : cf_u64(f, CF_ADDR)[i];
    const uint64_t line_size = (uint64_t)1 << shift;
    const uint64_t last = addr + (n - 1) < addr ? UINT64_MAX : addr + (n - 1);

    if (served && served[i] && served[i] < a->level && !(op && op[i] == CF_FLUSH))
        return 0;
    for (uint64_t at = addr & ~(line_size - 1);; at += line_size) {
        const uint64_t where = phys ? at : place(a, pid ? pid[i] : 0, at);

        if (where == CF_TAGS_NONE)
            a->unplaced++;
        else if (cf_candidates_access(candidates, where >> shift, op && op[i] == CF_FLUSH) != 0)
            return -1;
        if (last - at < line_size)
            return 0;
    }
}

int accesses_until(struct accesses *a, struct cf_candidates *candidates, unsigned line_shift,
                   uint64_t time)
{
    while (more(a) && cf_u64(a->frame, CF_TIME)[a->at] < time) {
        if (add_row(a, candidates, line_shift) != 0)
            return -1;
        a->at++;
    }
    return 0;
}

void accesses_segment(struct accesses *a, uint64_t segment)
{
    a->wanted = segment;
}

uint64_t accesses_unplaced(const struct accesses *a)
{
    return a->unplaced;
}

int accesses_close(struct accesses *a)
{
    struct cf_frame *f;
    int status;

    /* damage is reported wherever it is */
    while (cf_reader_next(a->reader, &f) > 0)
        ;
    status = cf_tool_problems(a->tool, a->reader);
    cf_reader_close(a->reader);
    cf_counts_free(a->frames);
    free(a->file);
    free(a);
    return status;
}
