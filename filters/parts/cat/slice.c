/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * slice.c - the rows of a time span, with what is needed to understand them.
 *
 * Accesses, snapshots and cache lines (whose time is that of their snapshot) are kept from the
 * first to the last moment of the span. Of tasks, mappings, heap objects and thread switches also
 * everything before is kept, since it decides what was there when the span began. Tables without a
 * time, and those that we do not know, are kept whole.
 *
 * Memory: one frame, and 16 bytes a snapshot of the segment.
 */
#include <errno.h>
#include <stdlib.h>

#include "formats/base/cf_memory.h"
#include "filters/parts/cat/cat.h"

struct snapshot {
    uint32_t id;
    uint64_t time;
};

struct slice {
    uint64_t from, to;
    cf_gather_send send;
    void *arg;
    struct cf_gather *gather;
    struct snapshot *snapshot; /* in the order of the stream */
    size_t snapshots, room;
    size_t last; /* index of the snapshot found last: lines come snapshot by snapshot */
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
    if (!s->gather) {
        free(s);
        return NULL;
    }
    return s;
}

void slice_free(struct slice *s)
{
    if (!s)
        return;
    cf_gather_free(s->gather);
    free(s->snapshot);
    free(s);
}

static int note_snapshots(struct slice *s, const struct cf_frame *f)
{
    const uint32_t *id = cf_u32(f, CF_SNAP);
    const uint64_t *time = cf_u64(f, CF_TIME);

    if (!id || !time)
        return 0;
    for (uint32_t i = 0; i < f->rows; i++) {
        if (cf_array_room(&s->snapshot, &s->room, s->snapshots + 1, sizeof(*s->snapshot)) != 0)
            return -1;
        s->snapshot[s->snapshots++] = (struct snapshot){id[i], time[i]};
    }
    return 0;
}

/* Whether the snapshot lies in the span; 0 for one that the stream has not announced. */
static int snapshot_kept(struct slice *s, uint32_t id)
{
    if (s->last >= s->snapshots || s->snapshot[s->last].id != id) {
        size_t i = s->snapshots;

        while (i > 0 && s->snapshot[i - 1].id != id)
            i--;
        if (i == 0)
            return 0;
        s->last = i - 1;
    }
    return s->snapshot[s->last].time >= s->from && s->snapshot[s->last].time <= s->to;
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
        s->snapshots = 0;
        return pass(s, f);
    case CF_SNAPSHOT:
        if (note_snapshots(s, f) != 0)
            return -1;
        break;
    case CF_ACCESS:
    case CF_LINE:
        break;
    default:
        if (!(cf_table_traits(f->table) & CF_TABLE_HOLDS))
            return pass(s, f);
        from = 0;
    }
    if (!time && (f->table != CF_LINE || !snapshot))
        return pass(s, f);
    mask = cf_gather_mask(s->gather, f->rows);
    if (!mask) {
        errno = ENOMEM;
        return -1;
    }
    if (time)
        for (uint32_t i = 0; i < f->rows; i++)
            mask[i] = (uint8_t)((time[i] >= from) & (time[i] <= s->to));
    else
        for (uint32_t i = 0; i < f->rows; i++)
            mask[i] = (uint8_t)snapshot_kept(s, snapshot[i]);
    kept = cf_gather_count(mask, f->rows);
    return kept == f->rows ? pass(s, f) : cf_gather_rows(s->gather, f, mask);
}
