/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * slice.c - the rows of a time span, with what is needed to understand them.
 *
 * Accesses, transfers on a bus, lost samples, snapshots and cache lines (whose time is that of
 * their snapshot) are kept from the first to the last moment of the span. Of tasks, mappings, heap
 * objects and thread switches also everything before is kept, since it decides what was there when
 * the span began. Tables without a time, and those that we do not know, are kept whole.
 *
 * Memory: one frame, and 43 to 85 bytes a snapshot of the segment.
 */
#include <stdlib.h>

#include "filters/engine/rows/counts.h"
#include "filters/parts/cat/cat.h"

struct slice {
    uint64_t from, to;
    cf_gather_send send;
    void *arg;
    struct cf_gather *gather;
    struct cf_counts *snapshots; /* of the segment, by number: 1 for those in the span */
};

struct slice *slice_new(uint64_t from, uint64_t to, cf_gather_send send, void *arg)
{
    struct slice *s = calloc(1, sizeof(*s));

    if (!s)
        return NULL;
    s->from = from;
    s->to = to;
    s->send = send;
    s->arg = arg;
    s->gather = cf_gather_new(send, arg);
    s->snapshots = cf_counts_new();
    if (!s->gather || !s->snapshots) {
        slice_free(s);
        return NULL;
    }
    return s;
}

void slice_free(struct slice *s)
{
    if (!s)
        return;
    cf_gather_free(s->gather);
    cf_counts_free(s->snapshots);
    free(s);
}

static int note_snapshots(struct slice *s, const struct cf_frame *f)
{
    const uint32_t *id = cf_u32(f, CF_SNAP);
    const uint64_t *time = cf_u64(f, CF_TIME);

    for (uint32_t i = 0; id && time && i < f->rows; i++) {
        uint64_t *snapshot = cf_counts_at(s->snapshots, 0, id[i]);

        if (!snapshot)
            return -1;
        *snapshot = time[i] >= s->from && time[i] <= s->to;
    }
    return 0;
}

int slice_flush(struct slice *s)
{
    return cf_gather_flush(s->gather);
}

/* Hands on the whole frame, after what was collected before it. */
static int pass(struct slice *s, struct cf_frame *f)
{
    return cf_gather_flush(s->gather) != 0 ? -1 : s->send(s->arg, f);
}

int slice_frame(struct slice *s, struct cf_frame *f)
{
    const uint64_t *time = cf_u64(f, CF_TIME);
    const uint32_t *snapshot = cf_u32(f, CF_SNAP);
    uint64_t from = s->from;
    uint32_t kept;
    uint8_t *mask;

    switch (f->table) {
    case CF_HEADER:
        cf_counts_free(s->snapshots);
        s->snapshots = cf_counts_new();
        return s->snapshots ? pass(s, f) : -1;
    case CF_SNAPSHOT:
        if (note_snapshots(s, f) != 0)
            return -1;
        break;
    case CF_ACCESS:
    case CF_LINE:
        break;
    default:
        if (!(cf_table_traits(f->table) & CF_TABLE_TIMED))
            return pass(s, f);
        if (cf_table_traits(f->table) & CF_TABLE_HOLDS)
            from = 0;
    }
    if (!time && (f->table != CF_LINE || !snapshot))
        return pass(s, f);
    mask = cf_gather_mask(s->gather, f->rows);
    if (!mask)
        return -1;
    if (time)
        for (uint32_t i = 0; i < f->rows; i++)
            mask[i] = (uint8_t)((time[i] >= from) & (time[i] <= s->to));
    else
        for (uint32_t i = 0; i < f->rows; i++)
            mask[i] = i && snapshot[i] == snapshot[i - 1]
                          ? mask[i - 1]
                          : (uint8_t)cf_counts_get(s->snapshots, 0, snapshot[i]);
    kept = cf_gather_count(mask, f->rows);
    return kept == f->rows ? pass(s, f) : cf_gather_rows(s->gather, f, mask);
}
