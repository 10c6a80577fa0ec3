/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_resync.c - the way on after damage: to the next frame or segment that holds.
 */
#include <string.h>

#include "cf_reader.h"

int cfr_resync(struct cf_reader *r)
{
    uint64_t searched = 0;

    cfr_skip(r, r->end > r->pos ? 1 : 0);
    for (;;) {
        const char *why;
        size_t have, at = 0;
        const uint8_t *p;

        if (!cfr_need(r, CF_FRAME_HEAD, 1 << 16))
            return 0;
        p = r->buf + r->pos;
        have = r->end - r->pos;
        while (at + 8 <= have && (r->foreign || memcmp(p + at, CF_FRAME_MAGIC, 4) != 0) &&
               memcmp(p + at, CF_SEGMENT_MAGIC, 8) != 0)
            at++;
        cfr_skip(r, at);
        searched += at;
        if (!r->seen_any && searched > SEARCH_LIMIT)
            return 0;
        if (at + 8 > have)
            continue;
        if (!cfr_need(r, CF_FRAME_HEAD, READ_AHEAD))
            return 0;
        p = r->buf + r->pos;
        if (memcmp(p, CF_SEGMENT_MAGIC, 8) == 0)
            return 1;
        (void)cfr_need(r, CF_FRAME_HEAD + (size_t)CF_DESCRIPTOR * CF_MAX_COLUMNS, 0);
        p = r->buf + r->pos;
        if (cfr_check_head(p, r->end - r->pos, &why))
            return 1;
        cfr_skip(r, 1);
        searched++;
    }
}

/* Where a frame or segment begins among `have` bytes at p, which one frame should have, or NULL. */
static const uint8_t *start_within(const struct cf_reader *r, const uint8_t *p, size_t have)
{
    const uint8_t *const header = memmem(p, have, CF_SEGMENT_MAGIC, 8);
    const uint8_t *const end = header ? header : p + have, *at = p + 1;
    const char *why;

    while (at < end && (at = memmem(at, (size_t)(end - at), CF_FRAME_MAGIC, 4))) {
        const size_t left = r->end - (size_t)(at - r->buf);

        if (left >= CF_FRAME_HEAD && cfr_check_head(at, left, &why))
            return at;
        at++;
    }
    return header;
}

/* A damaged frame may have been cut off, and what comes next joined to it: then a header, or a
   frame's head that holds, stands among what should be its bytes. An input that nests damaged
   frames for the purpose could have the same bytes looked at again and again: not more than a few
   times on the whole. */
void cfr_leave_frame(struct cf_reader *r, size_t total)
{
    const uint8_t *p, *next;
    size_t have;

    r->damaged += total;
    if (r->damaged > 4 * (r->base + r->pos - r->start) + AGAIN_LIMIT) {
        cfr_skip(r, r->eof && total > r->end - r->pos ? r->end - r->pos : total);
        return;
    }
    (void)cfr_need(r, total + CF_FRAME_HEAD + (size_t)CF_DESCRIPTOR * CF_MAX_COLUMNS, 0);
    p = r->buf + r->pos;
    have = r->end - r->pos;
    have = have < total + 7 ? have : total + 7;
    next = start_within(r, p, have);
    r->pos += next && (size_t)(next - p) < total ? (size_t)(next - p) : have < total ? have : total;
}
