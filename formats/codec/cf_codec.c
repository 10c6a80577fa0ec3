/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_codec.c - the frames of a file: which codec each of their columns gets (cf-stream(5),
 * "CODECS"). cf_unpack.c is the way back, cf_pipe_codec.c has the codecs of a pipe.
 *
 * A file wants few bytes: the columns of accesses are packed together (cf_pack.c), those that name
 * the pages of cache lines are (cf_pack_lines.c), unless a sample says that plain columns under
 * zstd (cf_zip.c) are smaller.
 */
#include <stdlib.h>

#include "cf_pack.h"

enum {
    SAMPLE_PARTS = 4,     /* of a column, on which codecs are compared */
    SAMPLE_VALUES = 1536, /* ... in each part */
    MIN_PACKED_ROWS = 64,
};

struct cf_encoder {
    struct cf_zip zip;
    struct cf_packer *packer;
    struct cf_bytes out;       /* data of all columns */
    struct cf_bytes sample;    /* what a codec made of a sample */
    struct cf_bytes column[4]; /* pc, op, size, insns where they had to be written down */
    const uint32_t *hint;      /* of the frame */
    const struct cf_kinds *kinds;
};

/* Which codec makes least of some parts of a column; and how much that is for all of it. */
static int best_codec(struct cf_encoder *e, unsigned width, const uint8_t *values, size_t rows,
                      double *bytes)
{
    size_t parts = rows > SAMPLE_PARTS * SAMPLE_VALUES ? SAMPLE_PARTS : 1;
    size_t part = parts == 1 ? rows : SAMPLE_VALUES;
    size_t least = SIZE_MAX;
    int best = -1;
    for (int codec = CF_ZSTD; codec <= CF_ZDPLANES; codec++) {
        if (width == 1 && (codec == CF_ZPLANES || codec == CF_ZDPLANES))
            continue;
        e->sample.used = 0;
        for (size_t i = 0; i < parts; i++) {
            const uint8_t *v = values + rows / parts * i * width;
            uint64_t base = 0;
            memcpy(&base, v, width);
            if (cf_zip_values(&e->zip, &e->sample, codec, width, v, part, base) < 0)
                return -1;
        }
        if (e->sample.used < least) {
            least = e->sample.used;
            best = codec;
        }
    }
    *bytes = (double)least * (double)rows / (double)(parts * part);
    return best;
}

/* ---- frames for files ---- */

struct cf_encoder *cf_encoder_new(int level)
{
    struct cf_encoder *e = calloc(1, sizeof *e);
    if (!e)
        return NULL;
    e->zip.zstd = ZSTD_createCCtx();
    if (!e->zip.zstd ||
        ZSTD_isError(ZSTD_CCtx_setParameter(e->zip.zstd, ZSTD_c_compressionLevel, level))) {
        cf_encoder_free(e);
        return NULL;
    }
    return e;
}

void cf_encoder_free(struct cf_encoder *e)
{
    if (!e)
        return;
    ZSTD_freeCCtx(e->zip.zstd);
    free(e->zip.plain.data);
    cf_packer_free(e->packer);
    free(e->out.data);
    free(e->sample.data);
    for (unsigned i = 0; i < 4; i++)
        free(e->column[i].data);
    free(e);
}

/* A column of the frame, on its way to its encoded form. While `out` grows, data is an offset. */
struct job {
    unsigned width;
    const void *values; /* NULL: constant; CF_BY_KIND: not written down yet */
    bool done;
    size_t at;
    struct cf_coded *coded;
};

const char cf_by_kind[1];

void cf_kinds_column(const struct cf_kinds *k, unsigned column, const uint32_t *hint, size_t rows,
                     void *to)
{
    uint64_t *pc = to;
    uint32_t *number = to;
    uint8_t *op = to;
    if (column == CF_PC)
        for (size_t i = 0; i < rows; i++)
            pc[i] = cf_kind_of(k, hint[i])->pc;
    else if (column == CF_OP)
        for (size_t i = 0; i < rows; i++)
            op[i] = cf_kind_of(k, hint[i])->op;
    else if (column == CF_SIZE)
        for (size_t i = 0; i < rows; i++)
            number[i] = cf_kind_of(k, hint[i])->size;
    else
        for (size_t i = 0; i < rows; i++)
            number[i] = cf_kind_of(k, hint[i])->insns;
}

/* Writes down the values of a column that so far only its rows' kinds determine. */
static int materialise(struct cf_encoder *e, struct job *j, size_t rows)
{
    struct cf_bytes *b = &e->column[j->coded->id == CF_PC     ? 0
                                    : j->coded->id == CF_OP   ? 1
                                    : j->coded->id == CF_SIZE ? 2
                                                              : 3];
    if (j->values != CF_BY_KIND)
        return 0;
    b->used = 0;
    if (cf_bytes_room(b, rows * j->width) < 0)
        return -1;
    cf_kinds_column(e->kinds, j->coded->id, e->hint, rows, b->data);
    j->values = b->data;
    return 0;
}

static void finish(struct cf_encoder *e, struct job *j, int codec, size_t at)
{
    j->coded->codec = (uint8_t)codec;
    j->coded->bytes = (uint32_t)(e->out.used - at);
    j->at = at;
    j->done = true;
}

/* Starts a column at a multiple of 8, so that raw ones can be used where they lie. */
static int begin(struct cf_encoder *e, size_t *at)
{
    if (cf_bytes_room(&e->out, 8) < 0)
        return -1;
    while (e->out.used % 8)
        e->out.data[e->out.used++] = 0;
    *at = e->out.used;
    return 0;
}

static int encode_plain(struct cf_encoder *e, struct job *j, size_t rows)
{
    size_t at;
    double expected;
    uint64_t base = 0;
    if (materialise(e, j, rows) < 0)
        return -1;
    int codec = best_codec(e, j->width, j->values, rows, &expected);
    if (codec < 0 || begin(e, &at) < 0)
        return -1;
    memcpy(&base, j->values, j->width);
    codec = cf_zip_values(&e->zip, &e->out, codec, j->width, j->values, rows, base);
    if (codec < 0)
        return -1;
    finish(e, j, codec, at);
    j->coded->base = codec == CF_ZDELTA || codec == CF_ZDPLANES ? base : 0;
    return 0;
}

static int encode_blob(struct cf_encoder *e, struct job *j, size_t bytes)
{
    size_t at;
    if (begin(e, &at) < 0)
        return -1;
    int codec = cf_zip_values(&e->zip, &e->out, CF_ZSTD, 1, j->values, bytes, 0);
    if (codec < 0)
        return -1;
    finish(e, j, codec, at);
    j->coded->base = bytes;
    return 0;
}

static bool constant(unsigned width, const uint8_t *v, size_t rows)
{
    return memcmp(v, v + width, (rows - 1) * width) == 0;
}

static struct job *find_job(struct job *jobs, unsigned count, unsigned column, unsigned width)
{
    for (unsigned i = 0; i < count; i++)
        if (jobs[i].coded->id == column && jobs[i].values && jobs[i].width == width &&
            !jobs[i].done)
            return &jobs[i];
    return NULL;
}

static const void *find_values(struct job *jobs, unsigned count, unsigned column, unsigned width)
{
    struct job *j = find_job(jobs, count, column, width);
    return j && j->values != CF_BY_KIND ? j->values : NULL;
}

/* Roughly the bytes that a column takes when plain, from a small sample. */
static int guess_plain(struct cf_encoder *e, struct job *j, size_t rows, size_t *bytes)
{
    if (materialise(e, j, rows) < 0)
        return -1;
    size_t part = rows < 1024 ? rows / 2 : 512;
    e->sample.used = 0;
    for (size_t i = 0; i < 2; i++) {
        const uint8_t *v = (const uint8_t *)j->values + rows / 2 * i * j->width;
        uint64_t base = 0;
        memcpy(&base, v, j->width);
        if (cf_zip_values(&e->zip, &e->sample, j->width == 8 ? CF_ZDELTA : CF_ZSTD, j->width, v,
                          part, base) < 0)
            return -1;
    }
    *bytes += e->sample.used * rows / (2 * part);
    return 0;
}

/* Keeps the smaller of what some jobs became packed, with so many bytes of codes, and what they
   become plain. That is only tried where it may be smaller, which it is not in a program's trace:
   there a rough guess decides. 1 when they are plain now. */
static int keep_smaller(struct cf_encoder *e, struct job **jobs, unsigned count, size_t rows,
                        size_t codes)
{
    struct cf_coded before[CF_MAX_COLUMNS];
    size_t at[CF_MAX_COLUMNS], packed = codes, guess = 0, end = e->out.used;
    for (unsigned i = 0; i < count; i++)
        packed += jobs[i]->coded->bytes;
    if (packed <= rows / 8)
        return 0;
    for (unsigned i = 0; i < count; i++)
        if (guess_plain(e, jobs[i], rows, &guess) < 0)
            return -1;
    if (guess > 2 * packed)
        return 0;
    for (unsigned i = 0; i < count; i++) {
        before[i] = *jobs[i]->coded;
        at[i] = jobs[i]->at;
        if (encode_plain(e, jobs[i], rows) < 0)
            return -1;
    }
    if (e->out.used - end < packed)
        return 1;
    e->out.used = end;
    for (unsigned i = 0; i < count; i++) {
        *jobs[i]->coded = before[i];
        jobs[i]->at = at[i];
    }
    return 0;
}

static int pack_addresses(struct cf_encoder *e, struct job *j, size_t rows, const uint64_t *pc)
{
    size_t at;
    if (begin(e, &at) < 0 || cf_packer_addresses(e->packer, &e->zip, &e->out, j->values, pc) < 0)
        return -1;
    finish(e, j, CF_PREDICT, at);
    return keep_smaller(e, &j, 1, rows, 0) < 0 ? -1 : 0;
}

/* Packs a column that codes determine. 1, 0 when they do not or it is constant, or -1. */
static int pack_by_code(struct cf_encoder *e, struct job *j, const struct cf_tuple *t)
{
    const void *v = j->values;
    const bool known = v && (v == t->pc || v == t->op || v == t->size || v == t->insns);
    uint64_t same = 0;
    size_t at;
    int result;
    if (begin(e, &at) < 0)
        return -1;
    if (v == t->time && cf_packer_timed(e->packer)) {
        if (cf_packer_steps(e->packer, &e->zip, &e->out) < 0)
            return -1;
        finish(e, j, CF_STEPS, at);
        j->coded->base = t->time[0];
        return 1;
    }
    result =
        cf_packer_by_kind(e->packer, &e->zip, &e->out, j->width, v, known, j->coded->id, &same);
    if (result == 2) {
        j->coded->base = same;
        j->done = true;
    }
    if (result == 0)
        finish(e, j, CF_BYCODE, at);
    return result < 0 ? -1 : result == 0;
}

/* Packs what can be packed. Where rows do not repeat, nothing is done. */
static int pack(struct cf_encoder *e, struct job *jobs, unsigned count, size_t rows,
                const uint32_t *hint, struct job *codes)
{
    const struct cf_tuple t = {
        find_values(jobs, count, CF_TIME, 8),
        find_values(jobs, count, CF_PC, 8),
        find_values(jobs, count, CF_OP, 1),
        find_values(jobs, count, CF_SIZE, 4),
        find_values(jobs, count, CF_INSNS, 4),
        hint,
        e->kinds,
    };
    struct job *pc = find_job(jobs, count, CF_PC, 8);
    struct job *addr = find_job(jobs, count, CF_ADDR, 8), *phys = find_job(jobs, count, CF_PHYS, 8);
    struct job *packed[CF_MAX_COLUMNS];
    unsigned n = 0;
    size_t start;
    if (!e->packer && !(e->packer = cf_packer_new()))
        return -1;
    int result = cf_packer_rows(e->packer, rows, &t);
    if (result)
        return result < 0 ? -1 : 0;
    if (begin(e, &start) < 0 || cf_packer_codes(e->packer, &e->zip, &e->out) < 0)
        return -1;
    finish(e, codes, CF_CODES, start);
    for (unsigned i = 0; i < count; i++) {
        struct job *j = &jobs[i];
        if (j->done || !j->width || j->coded->id == CF_ADDR || j->coded->id == CF_PHYS)
            continue;
        result = pack_by_code(e, j, &t);
        if (result < 0)
            return -1;
        if (result)
            packed[n++] = j;
    }
    const size_t end = e->out.used;
    /* addresses may start out only at a pc that codes determine */
    if ((addr && pack_addresses(e, addr, rows,
                                pc && pc->coded->codec != CF_CONST ? pc->values : NULL) < 0) ||
        (phys && pack_addresses(e, phys, rows, NULL) < 0))
        return -1;
    if (end - start <= rows / 8)
        return 0;
    if (addr && addr->coded->codec == CF_PREDICT)
        packed[n++] = addr;
    if (phys && phys->coded->codec == CF_PREDICT)
        packed[n++] = phys;
    result = keep_smaller(e, packed, n, rows, codes->coded->bytes);
    codes->done = result == 0;
    return result < 0 ? -1 : 0;
}

/* Packs what identifies the pages of cache lines, unless most lines have a page of their own. */
static int pack_lines(struct cf_encoder *e, struct job *jobs, unsigned count, size_t rows,
                      struct job *near)
{
    const struct cf_line_columns c = {find_values(jobs, count, CF_PHYS, 8),
                                      find_values(jobs, count, CF_ADDR, 8),
                                      find_values(jobs, count, CF_PID, 4)};
    struct cf_bytes *work = &e->column[0];
    size_t at;
    if (!c.phys && !c.addr)
        return 0;
    work->used = 0;
    if (cf_bytes_room(work, rows * 9) < 0)
        return -1;
    uint64_t *space = (uint64_t *)(void *)work->data;
    uint8_t *distance = work->data + rows * 8;
    if (cf_pack_near(&c, rows, distance) > rows / 2)
        return 0;
    if (begin(e, &at) < 0 || cf_zip_packet(&e->zip, &e->out, distance, rows) < 0)
        return -1;
    finish(e, near, CF_NEAR, at);
    for (unsigned i = 0; i < count; i++) {
        struct job *j = &jobs[i];
        const void *v = j->values;
        bool pages = v && (v == c.phys || v == c.addr);
        if (j->done || (!pages && (!v || v != c.pid)))
            continue;
        if (begin(e, &at) < 0 ||
            (pages ? cf_pack_pages(&e->zip, &e->out, v, distance, rows, space)
                   : cf_pack_like(&e->zip, &e->out, v, distance, rows, space)) < 0)
            return -1;
        finish(e, j, pages ? CF_PAGES : CF_LIKE, at);
    }
    return 0;
}

int cf_encoder_frame(struct cf_encoder *e, unsigned table, size_t rows,
                     const struct cf_values *columns, unsigned count, const uint32_t *hint,
                     const struct cf_kinds *kinds, size_t blob_bytes, struct cf_coded *out)
{
    struct job jobs[CF_MAX_COLUMNS + 1];
    if (count > CF_MAX_COLUMNS)
        return -1;
    e->out.used = 0;
    e->hint = hint;
    e->kinds = kinds;
    for (unsigned i = 0; i < count; i++) {
        struct job *j = &jobs[i];
        enum cf_type type = cf_column_type(columns[i].column);
        if (!type)
            type = out[i].type;
        if (!type)
            return -1;
        out[i] = (struct cf_coded){(uint16_t)columns[i].column,
                                   (uint8_t)type,
                                   CF_CONST,
                                   0,
                                   columns[i].values ? 0 : columns[i].constant,
                                   NULL};
        *j = (struct job){(unsigned)cf_type_width(type), columns[i].values, false, 0, &out[i]};
        if (type == CF_BLOB) {
            if (encode_blob(e, j, j->values ? blob_bytes : 0) < 0)
                return -1;
        } else if (j->values && j->values != CF_BY_KIND &&
                   (!rows || constant(j->width, j->values, rows))) {
            if (rows)
                memcpy(&j->coded->base, j->values, j->width);
            j->values = NULL;
        }
        j->done |= !j->values;
    }
    jobs[count] = (struct job){.coded = &out[count]};
    if (table == CF_ACCESS && rows >= MIN_PACKED_ROWS && rows <= CF_FILE_ROWS &&
        count < CF_MAX_COLUMNS) {
        out[count] = (struct cf_coded){CF_CODE, CF_BLOB, CF_CODES, 0, 0, NULL};
        if (pack(e, jobs, count, rows, hint, &jobs[count]) < 0)
            return -1;
    } else if (table == CF_LINE && rows >= MIN_PACKED_ROWS && count < CF_MAX_COLUMNS) {
        out[count] = (struct cf_coded){CF_CODE, CF_BLOB, CF_NEAR, 0, 0, NULL};
        if (pack_lines(e, jobs, count, rows, &jobs[count]) < 0)
            return -1;
    }
    for (unsigned i = 0; i < count; i++)
        if (!jobs[i].done && encode_plain(e, &jobs[i], rows) < 0)
            return -1;
    count += jobs[count].done;
    for (unsigned i = 0; i < count; i++)
        if (out[i].bytes)
            out[i].data = e->out.data + jobs[i].at;
    return (int)count;
}

int cf_encoder_by_code(struct cf_encoder *e, struct cf_coded *c)
{
    const uint8_t *lengths = c->data + 1; /* behind the number of planes: plain, and compressed */
    uint64_t plain = 0;
    size_t n = 0;
    do {
        if (1 + 2 * (n + 1) > c->bytes || n == 5)
            return 0;
        plain |= (uint64_t)(lengths[n] & 0x7f) << 7 * n;
    } while (lengths[n++] & 0x80);
    if (memcmp(lengths, lengths + n, n) != 0 || 1 + 2 * n + plain != c->bytes)
        return 0;
    e->out.used = 0;
    if (cf_bytes_add(&e->out, c->data, 1) < 0 ||
        cf_zip_packet(&e->zip, &e->out, lengths + 2 * n, (size_t)plain) < 0)
        return -1;
    c->bytes = (uint32_t)e->out.used;
    c->data = e->out.data;
    return 0;
}
