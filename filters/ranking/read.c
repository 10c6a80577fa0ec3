/* SPDX-License-Identifier: BSD-2-Clause */
/* read.c - one ranking of all that a reader has. Memory: that of the ranking. */
#include <string.h>

#include "filters/ranking/ranking.h"
#include "formats/program/cf_made.h"

void cf_ranking_take(struct cf_ranking *k, const struct cf_frame *f)
{
    cf_ranking_note(k, f);
    if (f->table != CF_ACCESS)
        return;
    if (cf_sums_find(k->sums, f) == 0)
        cf_ranking_add(k, f);
    else if (!k->lacking++)
        cf_fail(k->tool, CF_EXIT_INPUT,
                "the accesses have none of the columns class, hit and level, which say what "
                "missed: first run the stream through cf-cache");
}

void cf_ranking_read(struct cf_ranking *k, struct cf_mix *mix)
{
    struct cf_frame *f;

    cf_reader_pieces(k->reader);
    cf_ranking_begin(k);
    cf_sums_begin(k->sums, k->reader);
    memcpy(mix->column, k->sums->mixed, sizeof mix->column);
    while (cf_tool_next(k->tool, k->reader, &f) > 0) {
        if (k->partial && cf_partial_frame(k->partial, f)) {
            cf_ranking_merge(k, f);
            continue;
        }
        if (f->table == CF_HEADER)
            cf_mix_check(mix, k->tool, f->header);
        cf_ranking_take(k, f);
    }
    if (k->partial)
        cf_partial_end(k->partial);
    else
        cf_tool_fit(k->tool, k->reader);
    if (!k->partial || !k->partial->asked)
        cf_sums_remarks(k->sums);
}
