/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gather.c - keep some rows of frames (see gather.h).
 *
 * In: frames, and a mask of one byte a row. Out: frames of the rows that are kept. Memory: for the
 * largest frame so far its mask and its row numbers, and the columns of the frame that is being
 * collected, which has fewer than CF_WIRE_ROWS rows more than the largest frame.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "filters/engine/rows/gather.h"
#include "formats/base/cf_memory.h"

struct cf_gather {
    cf_gather_send send;
    void *arg;
    struct cf_frame frame; /* its columns are those below */
    uint8_t *column[CF_MAX_COLUMNS];
    size_t room[CF_MAX_COLUMNS]; /* bytes */
    uint8_t *mask;
    uint32_t *index;
    size_t mask_room, index_room; /* rows */
};

uint32_t cf_gather_count(const uint8_t *mask, uint32_t rows)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < rows; i++)
        n += mask[i];
    return n;
}

/* Numbers of the rows whose mask is 1, in order; `index` has room for `rows`. */
static uint32_t number_rows(const uint8_t *mask, uint32_t rows, uint32_t *index)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < rows; i++) {
        index[n] = i;
        n += mask[i];
    }
    return n;
}

#define GATHER(type)                                                                               \
    do {                                                                                           \
        type *t = to;                                                                              \
        const type *f = from;                                                                      \
        for (uint32_t i = 0; i < count; i++)                                                       \
            t[i] = f[index[i]];                                                                    \
    } while (0)

void cf_gather_values(void *to, const void *from, size_t width, const uint32_t *index,
                      uint32_t count)
{
    switch (width) {
    case 1:
        GATHER(uint8_t);
        break;
    case 2:
        GATHER(uint16_t);
        break;
    case 4:
        GATHER(uint32_t);
        break;
    case 8:
        GATHER(uint64_t);
        break;
    }
}

struct cf_gather *cf_gather_new(cf_gather_send send, void *arg)
{
    struct cf_gather *g = calloc(1, sizeof(*g));

    if (g) {
        g->send = send;
        g->arg = arg;
    }
    return g;
}

void cf_gather_free(struct cf_gather *g)
{
    if (!g)
        return;
    for (unsigned i = 0; i < CF_MAX_COLUMNS; i++)
        free(g->column[i]);
    free(g->index);
    free(g->mask);
    free(g);
}

uint8_t *cf_gather_mask(struct cf_gather *g, uint32_t rows)
{
    return cf_array_room(&g->mask, &g->mask_room, rows + (size_t)1, 1) != 0 ? NULL : g->mask;
}

static int has_row_values(const struct cf_data *c)
{
    return c->values && cf_type_width(c->type);
}

/* Whether rows of `f` can follow what was collected, so that it need not be sent before. */
static int fits(const struct cf_gather *g, const struct cf_frame *f)
{
    unsigned n = 0;

    if (!g->frame.rows)
        return 1;
    if (g->frame.table != f->table || g->frame.header != f->header)
        return 0;
    for (unsigned i = 0; i < f->columns; i++) {
        const struct cf_data *c = &f->column[i];

        if (!has_row_values(c))
            continue;
        if (n == g->frame.columns || g->frame.column[n].id != c->id ||
            g->frame.column[n].type != c->type)
            return 0;
        n++;
    }
    return n == g->frame.columns;
}

static void begin(struct cf_gather *g, const struct cf_frame *f)
{
    unsigned n = 0;

    memcpy(&g->frame, f, offsetof(struct cf_frame, column));
    g->frame.reader = f->reader;
    g->frame.rows = 0;
    for (unsigned i = 0; i < f->columns; i++)
        if (has_row_values(&f->column[i]))
            g->frame.column[n++] =
                (struct cf_data){.id = f->column[i].id, .type = f->column[i].type};
    g->frame.columns = n;
}

static int no_memory(void)
{
    errno = ENOMEM;
    return -1;
}

/* Makes room for `rows` more rows in all columns. */
static int make_room(struct cf_gather *g, uint32_t rows)
{
    for (unsigned i = 0; i < g->frame.columns; i++) {
        size_t bytes = ((size_t)g->frame.rows + rows) * cf_type_width(g->frame.column[i].type);

        if (cf_array_room(&g->column[i], &g->room[i], bytes, 1) != 0)
            return no_memory();
    }
    return 0;
}

int cf_gather_rows(struct cf_gather *g, const struct cf_frame *f, const uint8_t *mask)
{
    if (cf_array_room(&g->index, &g->index_room, f->rows, sizeof(*g->index)) != 0)
        return no_memory();
    return cf_gather_list(g, f, g->index, f->rows ? number_rows(mask, f->rows, g->index) : 0);
}

int cf_gather_list(struct cf_gather *g, const struct cf_frame *f, const uint32_t *index,
                   uint32_t count)
{
    unsigned n = 0;

    if (!count)
        return 0;
    if (!fits(g, f) && cf_gather_flush(g) != 0)
        return -1;
    if (!g->frame.rows)
        begin(g, f);
    if (make_room(g, count) != 0)
        return -1;
    for (unsigned i = 0; i < f->columns; i++) {
        const struct cf_data *c = &f->column[i];
        size_t width = cf_type_width(c->type);

        if (has_row_values(c)) {
            cf_gather_values(g->column[n] + g->frame.rows * width, c->values, width, index, count);
            n++;
        }
    }
    g->frame.rows += count;
    return g->frame.rows >= CF_WIRE_ROWS ? cf_gather_flush(g) : 0;
}

int cf_gather_flush(struct cf_gather *g)
{
    struct cf_frame *f = &g->frame;
    int result;

    if (!f->rows)
        return 0;
    f->first = f->last = 0;
    for (unsigned i = 0; i < f->columns; i++) {
        const uint64_t *time = (const uint64_t *)(const void *)g->column[i];
        uint64_t low = UINT64_MAX, high = 0;

        f->column[i].values = g->column[i];
        if (f->column[i].id != CF_TIME || f->column[i].type != CF_U64)
            continue;
        for (uint32_t k = 0; k < f->rows; k++) {
            low = time[k] < low ? time[k] : low;
            high = time[k] > high ? time[k] : high;
        }
        f->first = low;
        f->last = high;
    }
    result = g->send(g->arg, f);
    f->rows = 0;
    return result;
}
