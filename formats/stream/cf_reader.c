/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading a stream: finds the segments and frames, hands out those that are whole, and goes on
 * after damage.
 *
 * A frame always stands whole in one buffer, and columns of raw values are handed out in place.
 * The buffer grows as bytes arrive, never because a header claims them. Damage is reported once, at
 * its first place; after it the reader looks for the next frame head whose checksum holds, so that
 * every whole frame of the input is handed out.
 *
 * Memory: one frame and its decoded columns (bounded by CF_MAX_FRAME and the decoder), and the
 * dictionary of the segment, which grows with its distinct strings.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cf_reader.h"

static const char empty_files[] = "-";

struct cf_reader *cf_reader_open(char *const *files, int count)
{
    struct cf_reader *r = calloc(1, sizeof(*r));
    static char *const standard[] = {(char *)empty_files};

    if (!r)
        return NULL;
    r->files = count > 0 ? files : standard;
    r->count = count > 0 ? count : 1;
    r->fd = -1;
    r->name = r->files[0];
    r->most_bytes = MAX_STRINGS;
    r->strings = cf_strings_new();
    r->dict = calloc(CF_CHAIN_MOST + 1, sizeof(*r->dict));
    r->decoder = cf_decoder_new();
    if (!r->strings || !r->dict || !r->decoder) {
        cf_reader_close(r);
        return NULL;
    }
    for (int i = 0; i < r->count; i++) {
        struct stat st;

        if ((strcmp(r->files[i], "-") ? stat(r->files[i], &st) : fstat(0, &st)) == 0 &&
            S_ISREG(st.st_mode))
            r->size += (uint64_t)st.st_size;
    }
    return r;
}

void cf_reader_close(struct cf_reader *r)
{
    if (!r)
        return;
    if (r->dict && r->strings)
        cfr_clear_segment(r);
    if (r->fd >= 0 && r->owned)
        close(r->fd);
    for (unsigned i = 0; i < CF_MAX_COLUMNS; i++)
        free(r->made[i].data);
    cf_strings_free(r->strings);
    cf_decoder_free(r->decoder);
    free(r->dict);
    free(r->named);
    free(r->unopened);
    free(r->total);
    free(r->entry);
    cfr_free_plan(r->plan);
    free(r->seen);
    free(r->want);
    free(r->buf);
    free(r);
}

void cf_reader_want(struct cf_reader *r, unsigned table, unsigned column, enum cf_need need)
{
    if (cfr_room(r, &r->want, &r->want_room, r->wants + 1, sizeof(*r->want)) == 0)
        r->want[r->wants++] = (struct want){(uint16_t)table, (uint16_t)column, need};
}

void cf_reader_want_list(struct cf_reader *r, unsigned table, enum cf_need need,
                         const unsigned *column)
{
    while (*column)
        cf_reader_want(r, table, *column++, need);
}

void cf_reader_want_all(struct cf_reader *r)
{
    r->want_all = 1;
}

void cf_reader_partials(struct cf_reader *r)
{
    r->partials = 1;
}

void cf_reader_unify(struct cf_reader *r)
{
    r->unify = 1;
}

void cf_reader_max_strings(struct cf_reader *r, uint64_t bytes)
{
    r->most_bytes = bytes;
}

void cf_reader_check_index(struct cf_reader *r)
{
    r->check_index = 1;
}

void cf_reader_defer(struct cf_reader *r)
{
    r->defer = 1;
}

void cf_reader_pieces(struct cf_reader *r)
{
    r->pieces = 1;
}

int cf_reader_unified(const struct cf_reader *r)
{
    return r->unify;
}

void cf_reader_range(struct cf_reader *r, uint64_t from, uint64_t to)
{
    r->ranged = 1;
    r->from = from;
    r->to = to;
}

void cf_reader_span(struct cf_reader *r, uint64_t from, uint64_t to)
{
    r->span_from = from;
    r->span_to = to;
}

size_t cf_reader_memory(const struct cf_reader *r)
{
    size_t bytes = r->cap + cf_decoder_memory(r->decoder);

    for (unsigned i = 0; i < CF_MAX_COLUMNS; i++)
        bytes += r->made[i].room;
    return bytes;
}

void cf_reader_idle(struct cf_reader *r, void (*f)(void *), void *arg)
{
    r->idle = f;
    r->idle_arg = arg;
}

/* ---- frames ---- */

static void hand_out_header(struct cf_reader *r, uint64_t offset)
{
    r->in_segment = 1;
    r->segment_start = offset;
    r->number = 0;
    memset(&r->frame, 0, offsetof(struct cf_frame, column));
    r->frame.table = CF_HEADER;
    r->frame.offset = offset;
    r->frame.header = &r->header;
    r->frame.reader = r;
}

/* A header in place of one that was lost, so that the frames after it still come. Its chain has
   many entries, so that the string ids of the programs that it stands for stay theirs. */
static int stand_in_header(struct cf_reader *r)
{
    static const char line[] = "  - \"(lost)\"\n";
    char yaml[64 + LOST_PROGRAMS * sizeof(line)], why[256];
    size_t n = (size_t)snprintf(yaml, sizeof(yaml), "cacheflow: %d\nchain:\n", CF_STREAM_VERSION);

    for (int i = 0; i < LOST_PROGRAMS; i++) {
        memcpy(yaml + n, line, sizeof(line) - 1);
        n += sizeof(line) - 1;
    }
    cfr_clear_segment(r);
    if (cf_header_parse(&r->header, yaml, n, why, sizeof(why)) != 0) {
        cfr_refuse(r, ENOMEM);
        return -1;
    }
    hand_out_header(r, r->base + r->pos);
    r->lost = 1;
    return 0;
}

static void refuse_partial(struct cf_reader *r)
{
    const char *program = cf_header_fact(&r->header, "partial", "program");

    r->part_came |= program != NULL;
    if (r->partials || !program)
        return;
    cfr_damage(r, r->segment_start,
               "a partial result: give it to %s, which made it, as FILE and with the same options",
               program);
    cfr_close_input(r);
    r->in_segment = 0;
}

/* Takes in a segment's head at pos: its length, or 0 when it is damaged or cut off. */
static size_t take_header(struct cf_reader *r)
{
    const uint8_t *p;
    uint64_t offset = r->base + r->pos;
    size_t bytes, total;
    char why[256];
    XXH3_state_t sum;
    int result;

    r->foreign = 0;
    if (!cfr_need(r, CF_SEGMENT_HEAD, READ_AHEAD)) {
        cfr_damage(r, offset, "cut off in the header");
        return 0;
    }
    p = r->buf + r->pos;
    bytes = cf_get32(p + 12);
    total = CF_SEGMENT_HEAD + cf_pad8(bytes);
    if (bytes > CF_MAX_HEADER) {
        cfr_damage(r, offset, "the header claims %zu bytes: damaged", bytes);
        return 0;
    }
    if (!cfr_need(r, total, READ_AHEAD)) {
        cfr_damage(r, offset, "cut off in the header");
        return 0;
    }
    p = r->buf + r->pos;
    XXH3_64bits_reset(&sum);
    XXH3_64bits_update(&sum, p, 24);
    XXH3_64bits_update(&sum, p + CF_SEGMENT_HEAD, total - CF_SEGMENT_HEAD);
    if (XXH3_64bits_digest(&sum) != cf_get64(p + 24)) {
        cfr_damage(r, offset, "the header's checksum does not hold: damaged");
        return 0;
    }
    if (cf_get16(p + 8) != CF_STREAM_VERSION) {
        cfr_damage(r, offset, "version %u of the stream format: this program reads version %d",
                   cf_get16(p + 8), CF_STREAM_VERSION);
        r->foreign = 1;
        return 0;
    }
    cfr_clear_segment(r);
    result =
        cf_header_parse(&r->header, (const char *)p + CF_SEGMENT_HEAD, bytes, why, sizeof(why));
    if (result == -2)
        cfr_refuse(r, ENOMEM);
    else if (result != 0)
        cfr_damage(r, offset, "%s", why);
    if (result != 0)
        return 0;
    hand_out_header(r, offset);
    cfr_load_index(r);
    cfr_part_header(r);
    refuse_partial(r);
    return total;
}

/* 1, or 0 where no further piece of the frame can be handed out. */
static int next_piece(struct cf_reader *r)
{
    /* the program may have set or dropped columns */
    r->pos -= r->frame_bytes;
    cfr_describe(r, r->frame_bytes);
    r->frame.rows = (uint32_t)cf_decoder_piece(r->decoder, r->taken, cfr_piece_rows(r));
    r->taken += r->frame.rows;
    if (r->frame.rows && cfr_decode(r) == 0)
        return 1;
    r->taken = r->frame_rows;
    return 0;
}

/* The length of the frame at pos, all of which is there; 0 when there is none for the program. */
static size_t find_frame(struct cf_reader *r)
{
    const uint64_t offset = r->base + r->pos;
    const char *why, *name;
    const uint8_t *p;
    size_t total;

    if (!cfr_need(r, CF_FRAME_HEAD, READ_AHEAD)) {
        cfr_damage(r, offset, "cut off in a frame head");
        r->pos = r->end;
        return 0;
    }
    (void)cfr_need(r, CF_FRAME_HEAD + (size_t)cf_get16(r->buf + r->pos + 10) * CF_DESCRIPTOR,
                   READ_AHEAD);
    p = r->buf + r->pos;
    total = cfr_check_head(p, r->end - r->pos, &why);
    if (!total) {
        if (r->eof && memcmp(p, CF_FRAME_MAGIC, 4) == 0)
            why = "cut off in a frame head";
        cfr_damage(r, offset, "%s: skipped to the next whole frame", why);
        if (!cfr_resync(r)) {
            r->eof = 1;
            r->pos = r->end;
        }
        return 0;
    }
    if ((cfr_out_of_range(r, cf_get16(p + 8), cf_get64(p + 16), cf_get64(p + 24)) && r->seekable) ||
        cfr_part_leaves(r)) {
        cfr_count_rows(r, cf_get16(p + 8), cf_get32(p + 12));
        cfr_skip(r, total);
        return 0;
    }
    if (cfr_need(r, total, 0))
        return total;
    name = cf_reader_table_name(r, cf_get16(r->buf + r->pos + 8));
    cfr_damage(r, r->base + r->end, "cut off in a frame of table %s", name ? name : "unknown");
    cfr_leave_frame(r, total);
    return 0;
}

/* Looks at what stands at pos: 1 a frame for the program, 0 nothing for it. */
static int take_frame(struct cf_reader *r)
{
    const struct cf_frame *f = &r->frame;
    uint64_t offset;
    size_t total;
    int bad;

    cfr_jump(r);
    if (cfr_part_ends(r))
        return 0;
    offset = r->base + r->pos;
    r->number++;
    total = find_frame(r);
    if (!total || !cfr_part_frame(r))
        return 0;
    cfr_align(r);
    cfr_describe(r, total);
    cf_decoder_frame(r->decoder, f->rows, r->coded, f->columns);
    bad = cfr_bad_column(f);
    if (bad >= 0) {
        const char *table = cf_reader_table_name(r, f->table);
        const char *name = cf_reader_column_name(r, f->column[bad].id);

        cfr_damage(r, offset, "column %s of table %s: its checksum does not hold: frame skipped",
                   name ? name : "(unknown)", table ? table : "(unknown)");
        r->pos -= total;
        cfr_leave_frame(r, total);
        return 0;
    }
    if (f->table == CF_END) {
        cfr_check_end(r, total);
        r->in_segment = 0;
        return 0;
    }
    cfr_check_index(r);
    if (f->table == CF_INDEX)
        return 0;
    cfr_count_rows(r, f->table, f->rows);
    cfr_check_order(r);
    if (cfr_out_of_range(r, f->table, f->first, f->last) || f->rows == 0)
        return 0;
    if ((f->table == CF_STRING && cfr_take_strings(r) != 0) ||
        (f->table == CF_NAME && cfr_take_names(r) != 0)) {
        cfr_damage(r, offset, "damaged dictionary: frame skipped");
        return 0;
    }
    if (cfr_in_pieces(f)) {
        r->frame_bytes = total;
        r->frame_rows = f->rows;
        r->taken = 0;
        return next_piece(r);
    }
    return cfr_decode(r) == 0;
}

/* The input has no further 8 bytes. */
static void end_input(struct cf_reader *r)
{
    const uint64_t left = r->end - r->pos;

    if (!r->seen_any && left == 0 && r->base + r->pos == r->start)
        cfr_damage(r, UINT64_MAX, "empty: not even a header came (did the program before fail?)");
    else if (!r->seen_any)
        cfr_damage(r, r->base + r->pos, "no cacheflow stream");
    else if (r->in_segment || left)
        cfr_damage(r, r->base + r->end, "cut off: there is no end frame");
    cfr_close_input(r);
}

/* The input does not begin with a header: goes on to one, else to the next input. */
static void strange_start(struct cf_reader *r)
{
    cfr_damage(r, r->base + r->pos,
               "no cacheflow stream: it does not begin with a header (for text see cf-capture "
               "--list)");
    if (cfr_resync(r))
        r->seen_any = 1;
    else
        cfr_close_input(r);
}

/* At the magic of a header: 1, or 0 where nothing of the segment is for the program. */
static int begin_segment(struct cf_reader *r)
{
    size_t n;

    if (r->in_segment)
        cfr_damage(r, r->base + r->pos, "cut off: the segment before has no end frame");
    r->seen_any = 1;
    r->in_segment = 0;
    if (!cfr_part_begins(r, r->base + r->pos))
        return 0;
    n = take_header(r);
    if (r->fd < 0)
        return 0;
    if (n) {
        r->pos += n;
        r->came = 1;
        return 1;
    }
    if (!cfr_resync(r)) {
        r->eof = 1;
        r->pos = r->end;
    }
    return 0;
}

int cf_reader_next(struct cf_reader *r, struct cf_frame **frame)
{
    *frame = &r->frame;
    if (r->taken < r->frame_rows && !r->refused && next_piece(r))
        return 1;
    for (;;) {
        if (r->refused || (r->fd < 0 && !cfr_open_next(r)))
            return 0;
        if (!cfr_need(r, 8, READ_AHEAD)) {
            end_input(r);
            continue;
        }
        if (memcmp(r->buf + r->pos, CF_SEGMENT_MAGIC, 8) == 0) {
            if (begin_segment(r))
                return 1;
            continue;
        }
        if (!r->in_segment && !r->seen_any) {
            strange_start(r);
            continue;
        }
        if (!r->in_segment) {
            if (!r->lost)
                cfr_damage(r, r->base + r->pos, "data after the end frame");
            if (stand_in_header(r) != 0) {
                cfr_close_input(r);
                continue;
            }
            return 1;
        }
        if (take_frame(r))
            return 1;
        if (r->eof && r->end - r->pos < 8) {
            cfr_close_input(r);
            r->in_segment = 0;
        }
    }
}

/* The kinds of recordings of which something is required, and the first such table. */
static unsigned needed_kinds(const struct cf_reader *r, unsigned *first)
{
    unsigned kinds = 0;

    *first = 0;
    for (size_t i = r->wants; i-- > 0;)
        if (r->want[i].need != CF_OPTIONAL) {
            *first = r->want[i].table;
            kinds |= 1u << cfr_kind(*first);
        }
    return kinds;
}

enum cf_fit cf_reader_fit(const struct cf_reader *r)
{
    unsigned first;
    const unsigned kinds = needed_kinds(r, &first);

    if (r->needed_came || !first)
        return first ? CF_FIT_WHOLE : CF_FIT_NONE;
    if (r->missing || !r->came)
        return CF_FIT_WITHOUT;
    return r->kinds & kinds ? CF_FIT_KIND : r->kinds & ~1u ? CF_FIT_OTHERS : CF_FIT_NONE;
}

unsigned cf_reader_lacks(const struct cf_reader *r)
{
    const enum cf_fit fit = cf_reader_fit(r);
    const int nothing = fit == CF_FIT_NONE && r->damages && !r->part_came;
    unsigned first;

    (void)needed_kinds(r, &first);
    return nothing || fit == CF_FIT_OTHERS || fit == CF_FIT_WITHOUT ? first : 0;
}
