/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a segment says of itself: its strings, the names of columns and tables that we do not know,
 * and the row counts that its end frame is checked against.
 */
#include <errno.h>
#include <stdlib.h>

#include "formats/base/cf_memory.h"
#include "cf_reader.h"

void cfr_clear_segment(struct cf_reader *r)
{
    for (unsigned i = 0; i <= CF_CHAIN_MOST; i++) {
        free(r->dict[i].number);
        memset(&r->dict[i], 0, sizeof(r->dict[i]));
    }
    r->id_bytes = 0;
    r->full = 0;
    r->nameds = 0;
    r->totals = 0;
    r->reached = 0;
    r->any_reached = 0;
    r->disorder = 0;
    r->seens = r->index_rows = 0;
    r->index_at = UINT64_MAX;
    if (!r->unify)
        cf_strings_clear(r->strings);
    cf_header_clear(&r->header);
    r->lost = 0;
}

uint32_t cfr_number_of(const struct cf_reader *r, uint32_t id)
{
    const struct dict *d = &r->dict[id >> CF_CHAIN_SHIFT];
    const uint32_t low = id & (ID_SPACE - 1);

    return low < d->room ? d->number[low] : 0;
}

const char *cf_reader_text(const struct cf_reader *r, uint32_t id)
{
    const char *text = cf_strings_text(r->strings, r->unify ? id : cfr_number_of(r, id));

    return text ? text : "";
}

uint32_t cf_reader_strings(const struct cf_reader *r)
{
    return cf_strings_count(r->strings);
}

static const char *declared(const struct cf_reader *r, uint32_t id)
{
    for (size_t i = 0; i < r->nameds; i++)
        if (r->named[i].id == id)
            return r->named[i].name;
    return NULL;
}

const char *cf_reader_column_name(const struct cf_reader *r, unsigned column)
{
    const char *name = cf_column_name(column);

    return name ? name : declared(r, column);
}

const char *cf_reader_table_name(const struct cf_reader *r, unsigned table)
{
    const char *name = cf_table_name(table);

    return name ? name : declared(r, table + 65536);
}

/* A string for which there is no room. What its id meant before, it means no longer. */
static void leave_out(struct cf_reader *r, uint32_t id)
{
    struct dict *d = &r->dict[id >> CF_CHAIN_SHIFT];
    uint32_t low = id & (ID_SPACE - 1);
    int lost = r->lost;

    if (low < d->room && d->number[low]) {
        d->number[low] = 0;
        d->defined--;
    }
    if (!r->full)
        cfr_damage(r, r->frame.offset,
                   "the strings take more than %llu MiB: further ones are left out: if they are "
                   "meant, give more by --max-strings",
                   (unsigned long long)(r->most_bytes >> 20));
    r->full = 1;
    r->lost = lost; /* no frame is missing */
}

static int define(struct cf_reader *r, uint32_t id, const char *text, size_t length)
{
    struct dict *d = &r->dict[id >> CF_CHAIN_SHIFT];
    uint32_t low = id & (ID_SPACE - 1);
    int fresh;
    uint32_t number;

    if (low == 0 || !length || length > CF_MAX_TEXT || memchr(text, 0, length))
        return -1;
    if (r->full || r->id_bytes + cf_strings_bytes(r->strings) + length > r->most_bytes) {
        leave_out(r, id);
        return 0;
    }
    if (low >= d->room && low > 2 * d->defined + DICT_SLACK)
        return -1;
    r->id_bytes -= d->room * sizeof(*d->number);
    if (cf_array_cleared(&d->number, &d->room, (size_t)low + 1, sizeof(*d->number)) != 0) {
        cfr_refuse(r, ENOMEM);
        return -1;
    }
    r->id_bytes += d->room * sizeof(*d->number);
    number = cf_strings_number(r->strings, text, length, &fresh);
    if (!number) {
        cfr_refuse(r, ENOMEM);
        return -1;
    }
    d->defined += d->number[low] == 0;
    d->number[low] = number;
    return 0;
}

int cfr_column_at(const struct cf_frame *f, unsigned column)
{
    for (unsigned i = 0; i < f->columns; i++)
        if (f->column[i].id == column)
            return (int)i;
    return -1;
}

int cf_frame_has(const struct cf_frame *f, unsigned column)
{
    return cfr_column_at(f, column) >= 0;
}

int cf_frame_constant(const struct cf_frame *f, unsigned column, uint64_t *value)
{
    const int i = cfr_column_at(f, column);

    if (i < 0 || !f->column[i].wire || f->column[i].codec != CF_CONST)
        return 0;
    *value = f->column[i].base;
    return 1;
}

const void *cf_frame_decode(const struct cf_frame *f, unsigned i, size_t *blob_bytes)
{
    const struct cf_reader *r = f->reader;

    if (!f->column[i].wire)
        return f->column[i].of_kind ? cfr_spread(f, i) : f->column[i].values;
    for (unsigned k = 0; k < r->coded_columns; k++) /* columns may have been dropped since */
        if (r->coded[k].id == f->column[i].id)
            return cf_decoder_column(r->decoder, k, blob_bytes);
    return NULL;
}

void cfr_not_decoded(struct cf_reader *r, unsigned column)
{
    const char *name = cf_reader_column_name(r, column), *why = cf_decoder_problem(r->decoder);

    if (why == cf_no_memory)
        cfr_refuse(r, ENOMEM);
    else
        cfr_damage(r, r->frame.offset, "column %s: %s", name ? name : "(unknown)", why);
}

void cf_frame_damaged(const struct cf_frame *f, unsigned i)
{
    cfr_not_decoded(f->reader, f->column[i].id);
}

int cf_frame_intact(const struct cf_frame *f)
{
    const struct cf_reader *r = f->reader;
    unsigned codes = 0, by_code = 0, predicted = 0, pc_came = 0, pc_stayed = 0;

    for (unsigned i = 0; i < r->coded_columns; i++)
        pc_came |= r->coded[i].id == CF_PC && r->coded[i].codec == CF_BYCODE;
    for (unsigned i = 0; i < f->columns; i++) {
        const struct cf_data *c = &f->column[i];

        if (!c->wire)
            continue;
        codes |= c->id == CF_CODE;
        by_code |= is_by_code(c->codec) != 0;
        predicted |= c->codec == CF_PREDICT;
        pc_stayed |= c->id == CF_PC && c->codec == CF_BYCODE;
    }
    return (codes || !by_code) && (pc_stayed || !pc_came || !predicted);
}

static const void *structural(struct cf_reader *r, unsigned column, enum cf_type type,
                              size_t *blob_bytes)
{
    int i = cfr_column_at(&r->frame, column);

    const void *values = NULL;

    if (i < 0 || r->frame.column[i].type != type)
        return NULL;
    values = cf_decoder_column(r->decoder, (unsigned)i, blob_bytes);
    if (!values && cf_decoder_problem(r->decoder) == cf_no_memory)
        cfr_refuse(r, ENOMEM);
    return values;
}

int cfr_take_strings(struct cf_reader *r)
{
    size_t bytes = 0, at = 0;
    const uint32_t *id = structural(r, CF_ID, CF_U32, NULL);
    const uint32_t *length = structural(r, CF_LENGTH, CF_U32, NULL);
    const char *text = structural(r, CF_TEXT, CF_BLOB, &bytes);

    if (!id || !length || !text)
        return -1;
    for (uint32_t i = 0; i < r->frame.rows; i++) {
        if (length[i] > bytes - at || define(r, id[i], text + at, length[i]) != 0)
            return -1;
        at += length[i];
    }
    return at == bytes ? 0 : -1;
}

int cfr_take_names(struct cf_reader *r)
{
    const uint32_t *id = structural(r, CF_ID, CF_U32, NULL);
    const uint8_t *type = structural(r, CF_TYPE, CF_U8, NULL);
    const uint32_t *label = structural(r, CF_LABEL, CF_STR, NULL);

    if (!id || !type || !label)
        return -1;
    for (uint32_t i = 0; i < r->frame.rows; i++) {
        const char *text = cf_strings_text(r->strings, cfr_number_of(r, label[i]));

        if (!text && r->full)
            continue;
        if (!text || r->nameds > 4096 ||
            cfr_room(r, &r->named, &r->named_room, r->nameds + 1, sizeof(*r->named)) != 0)
            return -1;
        r->named[r->nameds++] = (struct named){id[i], type[i], text};
    }
    return 0;
}

static struct total *total_of(const struct cf_reader *r, uint32_t table)
{
    const size_t i = table < TABLES ? r->total_at[table] : r->totals;

    return i < r->totals && r->total[i].table == table ? &r->total[i] : NULL;
}

void cfr_count_rows(struct cf_reader *r, uint32_t table, uint64_t rows)
{
    struct total *t = total_of(r, table);

    if (rows) /* also of frames outside the range */
        r->kinds |= 1u << cfr_kind(table);
    if (t)
        t->rows += rows;
    else if (cfr_room(r, &r->total, &r->total_room, r->totals + 1, sizeof(*r->total)) == 0) {
        r->total_at[table] = (uint16_t)r->totals;
        r->total[r->totals++] = (struct total){table, rows, 0};
    }
}

/* Damage that takes no frame away, reported once. */
static void disorder(struct cf_reader *r, uint64_t before)
{
    const char *name = cf_reader_table_name(r, r->frame.table);
    int lost = r->lost;

    if (!r->disorder)
        cfr_damage(r, r->frame.offset,
                   "table %s: time %llu stands behind time %llu: out of order, so what depends on "
                   "times is wrong",
                   name ? name : "unknown", (unsigned long long)r->frame.first,
                   (unsigned long long)before);
    r->disorder = 1;
    r->lost = lost;
}

void cfr_check_order(struct cf_reader *r)
{
    const struct cf_frame *f = &r->frame;
    struct total *t = total_of(r, f->table);

    /* that of a probe is how long it took, not when */
    if (!t || f->table == CF_PROBE || cfr_column_at(f, CF_TIME) < 0)
        return;
    if (f->first > f->last || f->first < t->last)
        disorder(r, f->first > f->last ? f->last : t->last);
    else if (cf_table_traits(f->table) & CF_TABLE_BEFORE && r->any_reached && f->first < r->reached)
        disorder(r, r->reached);
    t->last = f->last > t->last ? f->last : t->last;
    if (f->table == CF_ACCESS) {
        r->reached = t->last;
        r->any_reached = 1;
    }
}

/* The end frame's totals against what came, by tables: an input may list as many as it likes. */
static void check_totals(struct cf_reader *r, const uint32_t *id, const uint64_t *rows)
{
    for (uint32_t i = 0; i < r->frame.rows && !r->lost; i++) {
        struct total *t = total_of(r, id[i]);
        const uint64_t came = t ? t->rows : 0;
        const char *name = came == rows[i] ? NULL : cf_reader_table_name(r, id[i]);

        if (came != rows[i])
            cfr_damage(r, r->frame.offset,
                       "table %s had %llu rows when it was written, but %llu came: "
                       "frames are missing",
                       name ? name : "unknown", (unsigned long long)rows[i],
                       (unsigned long long)came);
        else if (came)
            t->rows = 0; /* it was listed */
    }
    for (size_t i = 0; i < r->totals && !r->lost; i++) {
        const struct total *t = &r->total[i];
        const char *name = t->rows ? cf_reader_table_name(r, t->table) : NULL;

        if (t->rows)
            cfr_damage(r, r->frame.offset,
                       "table %s had no rows when it was written, but %llu came",
                       name ? name : "unknown", (unsigned long long)t->rows);
    }
}

void cfr_check_end(struct cf_reader *r, size_t total)
{
    const uint32_t *id = structural(r, CF_ID, CF_U32, NULL);
    const uint64_t *rows = structural(r, CF_ROWS, CF_U64, NULL);
    uint64_t offset = r->frame.offset;
    size_t bytes = 0;
    const uint8_t *trailer = structural(r, CF_TRAILER, CF_BLOB, &bytes);

    if (r->lost)
        return;
    if (r->frame.rows && (!id || !rows)) {
        cfr_damage(r, offset, "the end frame has no row counts");
        return;
    }
    check_totals(r, id, rows);
    if (r->lost)
        return;
    cfr_check_trailer(r, trailer, bytes, offset + total);
}
