/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hierarchy_shares_parts.h - what the two files of hierarchy_shares.h share.
 */
#ifndef CF_HIERARCHY_SHARES_PARTS_H
#define CF_HIERARCHY_SHARES_PARTS_H

#include "filters/engine/cache/hierarchy_shares.h"
#include "formats/base/cf_cpu.h"

enum { DEAL_AHEAD = 8 }; /* elements more that lists have room for */

/* Which share a line is of: neighbours go to different ones, so that what is used much does not
   meet in one. */
struct dealing {
    unsigned shift;  /* of a line, to the bits that choose a group */
    unsigned groups; /* a power of two, at most CF_MOST_SHARES */
    unsigned shares;
    uint8_t of_group[CF_MOST_SHARES];
    struct cf_share_refs *refs;      /* of the call */
    int drops;                       /* repeated references are dropped once more */
    size_t begin[CF_MOST_SHARES][2]; /* of each list, what a repeated one may be a repeat of */
};

/* What was between two references to a line may be of other shares. Then they are repeated ones in
   the list of theirs, and the second hits and changes nothing: by the rules of runs.h, for first
   levels whose policy does not care and that write back and allocate. */
static inline int cfh_repeats(uint64_t line, unsigned flags, uint64_t before, unsigned flags_before)
{
    enum { APART = CF_RUN_FETCH | CF_RUN_PREFETCH | CF_RUN_FLUSH };

    return line == before && !((flags ^ flags_before) & APART) &&
           !(flags & (CF_RUN_PREFETCH | CF_RUN_FLUSH)) && !(flags & ~flags_before & CF_RUN_STORE);
}

static inline unsigned cfh_share_of(const struct dealing *d, uint64_t line)
{
    return d->of_group[line >> d->shift & (d->groups - 1)];
}

/* Appends runs to the lists of a kind, in which there is room. Their rows are higher by `first`
   there; or numbered: from `first` on. */
typedef void cfh_deal_code(const struct cf_runs *r, uint32_t first, int numbered, unsigned kind,
                           const struct dealing *d);
CF_SIMD_CODE(cfh_deal_code, cfh_deal);

#endif
