/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_turns.c - threads that took turns in a recording (see cf_turns.h).
 */
#include "formats/program/cf_turns.h"

void cf_turns_want(struct cf_reader *r)
{
    cf_reader_want(r, CF_SWITCH, CF_TID, CF_OPTIONAL);
}

void cf_turns_check(struct cf_turns *turns, const struct cf_tool *t, const struct cf_frame *f,
                    unsigned cores)
{
    if (turns->warned || cores <= 1)
        return;
    if (f->table == CF_HEADER)
        turns->begun = turns->several = 0;
    if (f->table == CF_SWITCH) {
        const uint32_t *tid = cf_u32(f, CF_TID);

        if (tid && !turns->begun)
            turns->tid = tid[0];
        turns->begun |= tid != NULL;
        for (uint32_t i = 0; tid && i < f->rows; i++)
            turns->several |= tid[i] != turns->tid;
    }
    if (f->table != CF_ACCESS || !turns->several || cf_u32(f, CF_CPU))
        return;
    turns->warned = 1;
    cf_warn(t,
            "threads took turns in this recording: what they share, or evict of each other, is far "
            "less than on %u cores; put them side by side first, by 'cf-merge --interleave --cores "
            "%u', or give --cores 1",
            cores, cores);
}
