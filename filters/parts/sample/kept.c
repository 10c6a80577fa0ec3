/* SPDX-License-Identifier: BSD-2-Clause */
/* kept.c - rows that were sampled (see kept.h). */
#include <string.h>

#include "filters/parts/sample/kept.h"

static const unsigned names[KEPT_NAMES] = {CF_FUNCTION, CF_SOURCE, CF_INLINED};

/* Has rows name their instructions. */
static void name_instructions(struct kept *k, struct cf_frame *f)
{
    const uint64_t *pc = cf_u64(f, CF_PC);

    for (uint32_t i = 0; i < f->rows; i++)
        k->pc[i] = k->named[i].moved ? k->named[i].pc : pc[i];
    cf_tool_set(k->tool, f, CF_PC, k->pc);
    for (unsigned n = 0; n < KEPT_NAMES; n++) {
        const uint32_t *text = cf_u32(f, names[n]);

        for (uint32_t i = 0; text && i < f->rows; i++)
            k->text[n][i] = k->named[i].moved ? k->named[i].text[n] : text[i];
        if (text)
            cf_tool_set(k->tool, f, names[n], k->text[n]);
    }
    memset(k->named, 0, f->rows * sizeof(*k->named));
    k->moved = 0;
}

static int send(void *arg, struct cf_frame *f)
{
    struct kept *k = arg;

    if (k->moved)
        name_instructions(k, f);
    cf_tool_set(k->tool, f, CF_LEVEL, k->level);
    cf_tool_set(k->tool, f, CF_WEIGHT, k->weight);
    cf_tool_set(k->tool, f, CF_STAGE, k->stage);
    return cf_writer_frame(k->writer, f);
}

void kept_begin(struct kept *k, struct cf_tool *t, struct cf_writer *w)
{
    k->tool = t;
    k->writer = w;
    k->gather = cf_need(t, cf_gather_new(send, k));
}

void kept_end(struct kept *k)
{
    cf_gather_free(k->gather);
}

int kept_fits(struct kept *k, const struct cf_frame *f)
{
    int same = f->columns == k->columns;

    for (unsigned i = 0; i < f->columns; i++) {
        same &= k->column[i] == f->column[i].id;
        k->column[i] = f->column[i].id;
    }
    k->columns = f->columns;
    return same;
}

int kept_flush(struct kept *k)
{
    return cf_gather_flush(k->gather);
}

static void warn_of_blobs(struct kept *k, const struct cf_frame *f)
{
    for (unsigned i = 0; i < f->columns && !k->blob_warned; i++) {
        if (f->column[i].type == CF_BLOB && f->column[i].id != CF_CODE) {
            cf_warn(k->tool, "column %u is no value a row: left out", f->column[i].id);
            k->blob_warned = 1;
        }
    }
}

int kept_rows(struct kept *k, const struct cf_frame *f, const struct cf_sampled *taken)
{
    const uint8_t *hit = cf_u8(f, CF_HIT);
    const uint64_t *pc = cf_u64(f, CF_PC);

    for (uint32_t i = 0; i < taken->count; i++) {
        const uint32_t to = taken->first + i;

        k->weight[to] = taken->weight[i];
        k->stage[to] = taken->stage[i];
        /* a breakpoint does not say what served the access */
        k->level[to] = taken->stage[i] == CF_STAGE_COARSE ? hit[taken->row[i]] : 0;
    }
    for (uint32_t i = 0; i < taken->moved; i++) {
        struct kept_named *n = &k->named[taken->number[i]];

        *n = (struct kept_named){.pc = pc[taken->named[i]], .moved = 1};
        for (unsigned c = 0; c < KEPT_NAMES; c++)
            if (cf_u32(f, names[c]))
                n->text[c] = cf_u32(f, names[c])[taken->named[i]];
    }
    k->moved += taken->moved;
    k->rows += taken->count;
    warn_of_blobs(k, f);
    return cf_gather_list(k->gather, f, taken->row, taken->count);
}
