/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A frame in memory: its head checked, its columns described and those decoded that the program
 * wants, and what a program does with them: look up, set, drop.
 */
#include <errno.h>
#include <stdlib.h>

#include "cf_reader.h"

size_t cfr_check_head(const uint8_t *p, size_t have, const char **why)
{
    size_t columns = cf_get16(p + 10), total = cf_get32(p + 4);
    size_t head = CF_FRAME_HEAD + columns * CF_DESCRIPTOR;
    XXH3_state_t sum;
    size_t sized = head;

    *why = "damaged frame head";
    if (memcmp(p, CF_FRAME_MAGIC, 4) != 0 || columns > CF_MAX_COLUMNS || have < head)
        return 0;
    XXH3_64bits_reset(&sum);
    XXH3_64bits_update(&sum, p, 32);
    XXH3_64bits_update(&sum, p + CF_FRAME_HEAD, columns * CF_DESCRIPTOR);
    if (XXH3_64bits_digest(&sum) != cf_get64(p + 32))
        return 0;
    *why = "frame head that contradicts itself";
    if (cf_get32(p + 12) > CF_FILE_ROWS || total > CF_MAX_FRAME || cf_get16(p + 8) == 0)
        return 0;
    for (size_t i = 0; i < columns; i++) {
        const uint8_t *d = p + CF_FRAME_HEAD + i * CF_DESCRIPTOR;
        unsigned known = cf_column_type(cf_get16(d));

        sized += cf_pad8(cf_get32(d + 4));
        if (d[2] > CF_BLOB || d[3] >= CF_CODECS) {
            *why = "frame with a type or codec that only a newer version may know";
            return 0;
        }
        if (d[2] < CF_U8 || (known && known != d[2]))
            return 0;
        for (size_t k = 0; k < i; k++)
            if (cf_get16(p + CF_FRAME_HEAD + k * CF_DESCRIPTOR) == cf_get16(d))
                return 0;
    }
    return sized == total ? total : 0;
}

void cfr_describe(struct cf_reader *r, size_t total)
{
    struct cf_frame *f = &r->frame;
    const uint8_t *p = r->buf + r->pos;
    size_t at;

    f->table = cf_get16(p + 8);
    f->columns = cf_get16(p + 10);
    f->rows = cf_get32(p + 12);
    f->first = cf_get64(p + 16);
    f->last = cf_get64(p + 24);
    f->offset = r->base + r->pos;
    f->number = r->number;
    f->header = &r->header;
    f->reader = r;
    at = CF_FRAME_HEAD + f->columns * CF_DESCRIPTOR;
    r->coded_columns = f->columns;
    for (unsigned i = 0; i < f->columns; i++) {
        const uint8_t *d = p + CF_FRAME_HEAD + i * CF_DESCRIPTOR;
        struct cf_data *c = &f->column[i];

        c->id = cf_get16(d);
        c->type = d[2];
        c->codec = d[3];
        c->bytes = cf_get32(d + 4);
        c->base = cf_get64(d + 8);
        c->sum = cf_get64(d + 16);
        c->wire = p + at;
        c->values = NULL;
        c->of_kind = NULL;
        r->coded[i] = (struct cf_coded){c->id,    c->type, c->codec,
                                        c->bytes, c->base, (const uint8_t *)c->wire};
        at += cf_pad8(c->bytes);
    }
    r->pos += total;
}

int cfr_bad_column(const struct cf_frame *f)
{
    for (unsigned i = 0; i < f->columns; i++)
        if (cf_checksum(f->column[i].wire, cf_pad8(f->column[i].bytes)) != f->column[i].sum)
            return (int)i;
    return -1;
}

/* The reader's numbers for ids of strings. Neighbouring rows have few different ones, but may take
   turns: those that came last are kept by their low bits. */
static void unify(const struct cf_reader *r, const uint32_t *id, uint32_t rows, uint32_t *number)
{
    enum { RECENT = 64 };
    uint32_t recent[RECENT] = {0}, known[RECENT] = {0};

    for (uint32_t k = 0; k < rows; k++) {
        const uint32_t one = id[k], at = one & (RECENT - 1);

        if (recent[at] != one) {
            recent[at] = one;
            known[at] = cfr_number_of(r, one);
        }
        number[k] = known[at];
    }
}

/* Room for values of the i-th column that the decoder does not hold. */
static void *column_room(struct cf_reader *r, unsigned i, size_t width)
{
    r->made[i].used = 0;
    if (cf_bytes_room(&r->made[i], r->frame.rows * width) == 0)
        return r->made[i].data;
    cfr_refuse(r, ENOMEM);
    return NULL;
}

/* The i-th column that came, decoded; NULL when that cannot be done, which is then noted. */
static const void *column_values(struct cf_reader *r, unsigned i, size_t *blob)
{
    const void *values = cf_decoder_column(r->decoder, i, blob);

    if (!values)
        cfr_not_decoded(r, r->frame.column[i].id);
    return values;
}

/* The values of the i-th column that stand once a code, strings with the reader's numbers; NULL
   where there are none. */
static const void *values_of_codes(struct cf_reader *r, unsigned i)
{
    size_t codes;
    bool fresh;
    void *values = cf_decoder_of_codes(r->decoder, i, &codes, &fresh);

    if (values && fresh && r->unify && r->frame.column[i].type == CF_STR)
        unify(r, values, (uint32_t)codes, values);
    return values;
}

/* The i-th column, of strings, with the reader's numbers. Values that stand once a code are
   replaced before they become rows. */
static const void *unified_values(struct cf_reader *r, unsigned i)
{
    const void *of_codes = values_of_codes(r, i);
    size_t blob;
    const uint32_t *id = column_values(r, i, &blob);
    uint32_t *number;

    if (!id || of_codes)
        return id;
    number = column_room(r, i, sizeof *number);
    if (number)
        unify(r, id, r->frame.rows, number);
    return number;
}

/* Adds up the weights of accesses, so that no sum of them wraps. -1 where they are more than may
   be, which is then noted. */
static int weigh(struct cf_reader *r, const uint64_t *weight)
{
    uint64_t left = CF_WEIGHTS_MOST - r->weights;

    for (uint32_t i = 0; i < r->frame.rows; i++) {
        if (weight[i] > left) {
            cfr_damage(r, r->frame.offset,
                       "the weights of accesses add up to more than 2^52, which no recording has: "
                       "what made the stream wrote wrong ones");
            return -1;
        }
        left -= weight[i];
    }
    r->weights = CF_WEIGHTS_MOST - left;
    return 0;
}

static int decode(struct cf_reader *r, const uint8_t *wanted)
{
    struct cf_frame *f = &r->frame;

    for (unsigned i = 0; i < f->columns; i++) {
        struct cf_data *c = &f->column[i];
        size_t blob;

        if ((!wanted[i] && !r->want_all) || c->values || !c->wire || c->id == CF_CODE)
            continue;
        c->values =
            c->type == CF_STR && r->unify ? unified_values(r, i) : column_values(r, i, &blob);
        if (!c->values || (c->id == CF_WEIGHT && f->table == CF_ACCESS && weigh(r, c->values) != 0))
            return -1;
    }
    return 0;
}

void cf_reader_refuse_samples(struct cf_reader *r)
{
    r->no_samples = 1;
}

void cf_reader_refuse_parts(struct cf_reader *r)
{
    r->no_parts = 1;
}

/* Whether the header has facts of a column, which stay where that is left out. */
static int stated(const struct cf_frame *f, const char *column)
{
    const struct cf_facts *facts = &f->header->facts;

    for (unsigned i = 0; i < facts->count; i++)
        if (!strcmp(facts->fact[i].column, column))
            return 1;
    return 0;
}

static int are_samples(const struct cf_frame *f)
{
    return f->table == CF_ACCESS &&
           (stated(f, "weight") || stated(f, "stage") || cfr_column_at(f, CF_WEIGHT) >= 0 ||
            cfr_column_at(f, CF_STAGE) >= 0);
}

/* A sample without its weight is not one access, which a row without one else is. */
static int lacks_weight(const struct cf_frame *f, unsigned column)
{
    return f->table == CF_ACCESS && column == CF_WEIGHT && stated(f, "weight");
}

/* Whether the chain has a program: then a stream has been through it already. */
static int has_run(const struct cf_header *h, const char *program)
{
    char item[64];

    snprintf(item, sizeof item, "\n  - \"%s", program);
    return h->yaml && strstr(h->yaml, item);
}

/* Reports, once of a stream, that a frame is not handed out since it lacks a column. */
static void note_missing(struct cf_reader *r, unsigned column)
{
    const struct cf_frame *f = &r->frame;
    const char *adder = cf_column_adder(column);
    const int ran = adder && has_run(f->header, adder);

    if (r->missing++) /* of one stream, all frames lack it */
        return;
    cfr_damage(r, f->offset, "table %s has no column '%s': %s%s%s", cf_table_name(f->table),
               cf_column_name(column),
               lacks_weight(f, column)
                   ? "the accesses are samples, and it says of how many: keep it in --columns"
               : ran                   ? ""
               : adder                 ? "first run the stream through "
               : column == CF_STACK_ID ? "record it with 'cf-capture trace --calls'"
               : column == CF_LEVEL && f->table == CF_ACCESS
                   ? "samples have it: first run the stream through cf-cache and cf-sample"
                   : "what made the stream did not record it",
               adder ? adder : "",
               ran ? " was run, but had nothing here to make it of, or --columns left it out" : "");
}

static int is_part(const struct cf_header *h)
{
    struct cf_part part;

    return cf_header_part(h, &part) == 1 && part.parts > 1;
}

/* Which columns are wanted. -1 where the frame is not to be handed out: one that is required is not
   there, or it has samples, or lacks their weight, or is of a part, which is then noted. */
static int find_wanted(struct cf_reader *r, uint8_t wanted[CF_MAX_COLUMNS])
{
    struct cf_frame *f = &r->frame;
    int required = 0;

    memset(wanted, 0, CF_MAX_COLUMNS);
    if (r->no_samples && are_samples(f)) {
        if (!r->missing++)
            cfr_damage(r, f->offset,
                       "the accesses are samples (column weight or stage, or facts of them): give "
                       "the recording of all accesses; what samples show, cf-rank prints, and "
                       "'cf-classify --rule cacheperf' with 'cf-report --cacheperf'");
        return -1;
    }
    if (r->no_parts && (f->table == CF_SNAPSHOT || f->table == CF_LINE) && is_part(f->header)) {
        if (!r->missing++)
            cfr_damage(r, f->offset,
                       "a part that 'cf-cat --part' made begins and ends within snapshots: give "
                       "the whole recording");
        return -1;
    }
    for (size_t i = 0; i < r->wants; i++) {
        int at;

        if (r->want[i].table != f->table)
            continue;
        required |= r->want[i].need != CF_OPTIONAL;
        if (!r->want[i].column)
            continue;
        at = cfr_column_at(f, r->want[i].column);
        if (at >= 0) {
            wanted[at] |= r->want[i].need != CF_LATE;
        } else if (r->want[i].need != CF_OPTIONAL || lacks_weight(f, r->want[i].column)) {
            note_missing(r, r->want[i].column);
            return -1;
        }
    }
    r->needed_came |= required;
    return 0;
}

int cfr_decode(struct cf_reader *r)
{
    uint8_t wanted[CF_MAX_COLUMNS];

    if (find_wanted(r, wanted) != 0)
        return -1;
    return r->frame.table == CF_ACCESS && (r->defer || cfr_whole_stretches(&r->frame))
               ? 0
               : decode(r, wanted);
}

int cf_frame_wanted(struct cf_frame *f)
{
    uint8_t wanted[CF_MAX_COLUMNS];

    return find_wanted(f->reader, wanted) != 0 ? -1 : decode(f->reader, wanted);
}

int cf_frame_all(struct cf_frame *f)
{
    for (unsigned i = 0; i < f->columns; i++) {
        struct cf_data *c = &f->column[i];
        size_t blob;

        if (c->values || !c->wire || c->id == CF_CODE)
            continue;
        if (!(c->values = column_values(f->reader, i, &blob)))
            return -1;
    }
    return 0;
}

int cfr_in_pieces(const struct cf_frame *f)
{
    const struct cf_reader *r = f->reader;
    int packed = 0, blobs = 0, wanted = r->want_all;

    for (size_t i = 0; i < r->wants; i++)
        wanted |= r->want[i].table == f->table;
    for (unsigned i = 0; i < f->columns; i++)
        if (f->column[i].id == CF_CODE)
            packed |= f->column[i].codec == CF_CODES || f->column[i].codec == CF_STRETCHES;
        else {
            packed |= f->column[i].codec == CF_ZPLANES;
            blobs |= f->column[i].type == CF_BLOB;
        }
    return r->pieces && wanted && packed && !blobs && f->rows > cfr_piece_rows(r) &&
           !cfr_whole_stretches(f);
}

const void *cf_values(const struct cf_frame *f, unsigned column)
{
    int i = cfr_column_at(f, column);

    return i < 0 ? NULL : f->column[i].values;
}

/* Whether a column came with the frame, has the type that it should have, and can be given. */
static int can_decode(const struct cf_frame *f, int i)
{
    return i >= 0 && f->column[i].wire && f->column[i].type == cf_column_type(f->column[i].id) &&
           (f->column[i].type != CF_STR || f->reader->unify);
}

const void *cf_late_values(const struct cf_frame *f, unsigned column)
{
    const int i = cfr_column_at(f, column);
    size_t blob;

    if (i < 0 || f->column[i].values || !can_decode(f, i))
        return i < 0 ? NULL : f->column[i].values;
    return f->column[i].type == CF_STR ? unified_values(f->reader, (unsigned)i)
                                       : column_values(f->reader, (unsigned)i, &blob);
}

const uint16_t *cf_frame_codes(const struct cf_frame *f, uint32_t *codes)
{
    bool damaged;
    const uint16_t *code = cf_decoder_codes(f->reader->decoder, codes, &damaged);

    if (damaged)
        cfr_not_decoded(f->reader, CF_CODE);
    return code;
}

const void *cf_values_of_codes(const struct cf_frame *f, unsigned column)
{
    const int i = cfr_column_at(f, column);

    return can_decode(f, i) ? values_of_codes(f->reader, (unsigned)i) : NULL;
}

static const void *typed(const struct cf_frame *f, unsigned column, unsigned a, unsigned b)
{
    int i = cfr_column_at(f, column);

    return i < 0 || (f->column[i].type != a && f->column[i].type != b) ? NULL : f->column[i].values;
}

const uint8_t *cf_u8(const struct cf_frame *f, unsigned column)
{
    return typed(f, column, CF_U8, CF_U8);
}

const uint32_t *cf_u32(const struct cf_frame *f, unsigned column)
{
    return typed(f, column, CF_U32, CF_STR);
}

const uint64_t *cf_u64(const struct cf_frame *f, unsigned column)
{
    return typed(f, column, CF_U64, CF_U64);
}

int cf_frame_set(struct cf_frame *f, unsigned column, const void *values)
{
    return cf_frame_set_as(f, column, cf_column_type(column), values);
}

int cf_frame_set_as(struct cf_frame *f, unsigned column, enum cf_type type, const void *values)
{
    int i = cfr_column_at(f, column);

    if (!cf_type_width(type) || (i >= 0 && f->column[i].type != type))
        return -1;
    if (i < 0) {
        if (f->columns >= CF_MAX_COLUMNS)
            return -1;
        i = (int)f->columns++;
        f->column[i].type = (uint8_t)type;
    }
    f->column[i].id = (uint16_t)column;
    f->column[i].wire = NULL;
    f->column[i].values = values;
    f->column[i].of_kind = NULL;
    return 0;
}

int cf_frame_kinds(const struct cf_frame *f, struct cf_row_kinds *k)
{
    const int result = f->reader->pieces ? 0 : cf_decoder_kinds(f->reader->decoder, k);

    if (result < 0)
        cfr_not_decoded(f->reader, CF_PC);
    return result > 0;
}

int cf_frame_set_of_kind(struct cf_frame *f, unsigned column, const uint64_t *values)
{
    if (cf_frame_set(f, column, NULL) != 0)
        return -1;
    f->column[cfr_column_at(f, column)].of_kind = values;
    return 0;
}

const void *cfr_spread(const struct cf_frame *f, unsigned i)
{
    struct cf_reader *r = f->reader;
    const unsigned width = (unsigned)cf_type_width(f->column[i].type);
    void *values = column_room(r, i, width);

    if (values && cf_decoder_spread(r->decoder, f->column[i].of_kind, width, values) == 0)
        return values;
    cfr_refuse(r, ENOMEM);
    return NULL;
}

void cf_frame_drop(struct cf_frame *f, unsigned column)
{
    int i = cfr_column_at(f, column);

    if (i < 0)
        return;
    f->columns--;
    memmove(&f->column[i], &f->column[i + 1], (f->columns - (unsigned)i) * sizeof(f->column[0]));
}
