/* SPDX-License-Identifier: BSD-2-Clause */
/* read.c - one ranking of all that a reader has. Memory: that of the ranking. */
#include <string.h>

#include "filters/ranking/ranking.h"
#include "formats/together/cf_made.h"

static int needs_levels(const struct cf_sums *s)
{
    for (unsigned v = 0; v < s->count; v++)
        if (s->list[v].kind == CF_SUM_LEVEL)
            return 1;
    return s->level_given;
}

void cf_ranking_lacks(struct cf_ranking *k, unsigned lacking)
{
    if (lacking && !k->lacking && !(k->partial && k->partial->asked))
        cf_fail(k->tool, CF_EXIT_INPUT,
                "the accesses have %s, which say what missed: first run the stream through "
                "cf-cache",
                lacking & 2             ? "a class, but neither of the columns hit and level"
                : needs_levels(k->sums) ? "neither of the columns hit and level"
                                        : "none of the columns class, hit and level");
    k->lacking = k->lacking ? k->lacking : lacking;
}

/* Whether an access counts, for some value; of stores, loads are such as well. */
static void note_counted(struct cf_ranking *k, const struct cf_frame *f)
{
    const uint8_t *op = cf_u8(f, CF_OP);
    const struct cf_sums *s = k->sums;

    for (uint32_t i = 0; !k->counted && i < f->rows; i++) {
        k->counted = !op || s->op[op[i]];
        for (unsigned v = 0; op && v < s->count; v++)
            k->counted |= s->list[v].op[op[i]];
    }
}

void cf_ranking_take(struct cf_ranking *k, const struct cf_frame *f)
{
    cf_ranking_note(k, f);
    if (f->table != CF_ACCESS)
        return;
    note_counted(k, f);
    if (cf_sums_find(k->sums, f) == 0)
        cf_ranking_add(k, f);
    else
        cf_ranking_lacks(k, cf_late_values(f, CF_CLASS) ? 3 : 1);
}

/* The columns of keys and values that the ranking is made of, each once. */
static void mix_columns(const struct cf_ranking *k, struct cf_mix *mix)
{
    memcpy(mix->column, k->sums->mixed, sizeof k->sums->mixed);
    for (unsigned part = 0, i = 0; part < k->keys; part++, i = 0) {
        while (mix->column[i] && mix->column[i] != cf_rank_kinds[k->by[part]].column)
            i++;
        mix->column[i] = cf_rank_kinds[k->by[part]].column;
    }
}

void cf_ranking_read(struct cf_ranking *k, struct cf_mix *mix)
{
    struct cf_frame *f;

    cf_reader_pieces(k->reader);
    cf_ranking_begin(k);
    cf_sums_begin(k->sums, k->reader);
    mix_columns(k, mix);
    while (cf_tool_next(k->tool, k->reader, &f) > 0) {
        if (f->table == CF_HEADER && k->page_size)
            cf_made_pages(k->tool, f->header, k->page_size);
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
