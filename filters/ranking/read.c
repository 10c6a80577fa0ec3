/* SPDX-License-Identifier: BSD-2-Clause */
/* read.c - one ranking of all that a reader has. Memory: that of the ranking. */
#include <string.h>

#include "filters/ranking/ranking.h"
#include "formats/program/cf_made.h"

int cf_ranking_read(struct cf_ranking *k, struct cf_mix *mix)
{
    struct cf_frame *f;
    int status = CF_EXIT_OK;

    cf_reader_pieces(k->reader);
    cf_ranking_begin(k);
    cf_sums_begin(k->sums, k->reader);
    memcpy(mix->column, k->sums->mixed, sizeof mix->column);
    while (cf_reader_next(k->reader, &f) > 0) {
        cf_tool_progress(k->tool, k->reader);
        if (f->table == CF_HEADER)
            cf_mix_check(mix, k->tool, f->header);
        if (cf_ranking_note(k, f) != 0)
            cf_out_of_memory(k->tool);
        if (f->table != CF_ACCESS)
            continue;
        if (cf_sums_find(k->sums, f) == 0) {
            if (cf_ranking_add(k, f) != 0)
                cf_out_of_memory(k->tool);
        } else if (!status) {
            cf_warn(k->tool, "the accesses have none of the columns class, hit and level, which "
                             "say what missed: first run the stream through cf-cache");
            status = CF_EXIT_INPUT;
        }
    }
    cf_tool_fit(k->tool, k->reader);
    return status;
}
