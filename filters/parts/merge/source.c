/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * source.c - one reader over one input: translation of the numbers that mean something else in
 * another input, and queues for rows that must wait for their time.
 *
 * Memory: the frame of accesses that waits, the rows of other tables that came before it, 4 bytes
 * a string and 43 to 85 a snapshot of the segment.
 */
#include <stdlib.h>
#include <string.h>

#include "formats/base/cf_memory.h"
#include "formats/base/cf_number.h"
#include "filters/parts/merge/merge.h"

enum { CHAIN_SHIFT = 24 }; /* a string id is the number of a program and of its string */

void *merge_alloc(const struct merge *m, size_t count, size_t width)
{
    return cf_need(&m->tool, calloc(count ? count : 1, width));
}

void merge_room(const struct merge *m, void *array, size_t *room, size_t count, size_t width)
{
    cf_must(&m->tool, cf_array_cleared(array, room, count, width));
}

void source_open(struct source *s, struct merge *m, const struct input *input, uint64_t from,
                 uint64_t to)
{
    memset(s, 0, sizeof(*s));
    s->merge = m;
    s->input = input;
    s->reader = cf_tool_reader(&m->tool, &input->file, 1);
    /* what waits of an input is a part of a frame, however long its frames are */
    cf_reader_pieces(s->reader);
    if (input->to)
        cf_reader_span(s->reader, input->from, input->to);
    if (from > 0 || to < UINT64_MAX)
        cf_reader_range(s->reader, from, to);
}

static void drop_strings(struct source *s)
{
    for (unsigned i = 0; i < 256; i++) {
        free(s->string[i]);
        s->string[i] = NULL;
        s->strings[i] = 0;
    }
}

/* Strings have new ids from a header on. */
static void take_header(struct source *s, const struct cf_frame *f)
{
    drop_strings(s);
    cf_counts_free(s->snapshot);
    s->snapshot = NULL;
    if (s->headers++ == 1 && !s->input->to)
        cf_fail(&s->merge->tool, CF_EXIT_INPUT,
                "%s: several streams in a pipe, whose numbers of objects and snapshots are taken "
                "for those of one: name files",
                s->input->name);
    output_header(s->merge->out, s, f);
}

int source_next(struct source *s, struct cf_frame **f)
{
    while (cf_reader_next(s->reader, f) > 0) {
        if ((*f)->table == CF_HEADER)
            take_header(s, *f);
        else if ((*f)->table != CF_STRING && (*f)->table != CF_NAME) /* these are written anew */
            return 1;
    }
    return 0;
}

void source_warn(const struct source *s)
{
    const char *problem = s->reader ? cf_reader_problem(s->reader) : NULL;
    struct input *in = s->reader ? &s->merge->input[s->input->number] : NULL;

    if (!problem)
        return;
    if (!in->warned)
        cf_warn(&s->merge->tool, "%s", problem);
    in->warned = 1;
    cf_tool_note(&s->merge->tool,
                 cf_reader_refused(s->reader) ? CF_EXIT_ENVIRONMENT : CF_EXIT_INPUT);
}

void source_check_again(const struct source *s)
{
    const char *problem = cf_reader_problem(s->reader);

    if (problem && !s->input->warned)
        cf_die(&s->merge->tool, CF_EXIT_ENVIRONMENT, "%s: it could be read before", problem);
}

void source_close(struct source *s)
{
    drop_strings(s);
    for (unsigned i = 0; i < s->fifos; i++)
        while (s->fifo[i].first) {
            struct block *b = s->fifo[i].first;

            s->fifo[i].first = b->next;
            free(b);
        }
    for (unsigned i = 0; i < CF_MAX_COLUMNS; i++)
        free(s->translated[i]);
    cf_counts_free(s->snapshot);
    cf_reader_close(s->reader);
    memset(s, 0, sizeof(*s));
}

int source_order(struct source *s, const struct cf_frame *f)
{
    const uint64_t *time = cf_u64(f, CF_TIME);
    int falls = 0;

    for (uint32_t i = 0; i < f->rows; i++) {
        falls |= time[i] < s->last;
        s->last = time[i] > s->last ? time[i] : s->last;
    }
    if (falls && !s->order_warned) {
        s->order_warned = 1;
        cf_fail(&s->merge->tool, CF_EXIT_INPUT,
                "%s: frame %llu: time goes back: inputs must be in the order of time (a pipe must "
                "not hold several streams: name files)",
                s->input->name, (unsigned long long)f->number);
    }
    return falls;
}

void source_timeless(struct source *s, const struct cf_frame *f)
{
    if (!s->order_warned)
        cf_fail(&s->merge->tool, CF_EXIT_INPUT,
                "%s: frame %llu: accesses without column 'time' have no place among those of other "
                "inputs: they come where the input's rows before them do",
                s->input->name, (unsigned long long)f->number);
    s->order_warned = 1;
}

void source_leave_out(struct source *s, unsigned table, const char *owner)
{
    const int snapshot = table == CF_SNAPSHOT || table == CF_LINE;
    const uint64_t bit = (uint64_t)1 << (snapshot ? CF_SNAPSHOT : table);

    if (!(s->left_out & bit))
        cf_warn(&s->merge->tool, "%s: %s%s belong to no %s: they are left out", s->input->name,
                snapshot ? "" : "rows of ", snapshot ? "snapshots" : cf_table_name(table), owner);
    s->left_out |= bit;
    s->merge->left_out = 1;
}

/* Describes a frame's decoded columns. */
static void describe(struct part *p, const struct cf_frame *f)
{
    *p = (struct part){.table = f->table, .rows = f->rows};
    for (unsigned i = 0; i < f->columns; i++)
        if (f->column[i].values && cf_type_width(f->column[i].type))
            p->column[p->columns++] =
                (struct part_column){f->column[i].id, f->column[i].type, f->column[i].values};
}

const void *part_values(const struct part *p, unsigned id)
{
    for (unsigned i = 0; i < p->columns; i++)
        if (p->column[i].id == id)
            return p->column[i].values;
    return NULL;
}

/* ---- numbers ---- */

static uint32_t string_of(struct source *s, uint32_t id)
{
    uint32_t chain = id >> CHAIN_SHIFT, low = id & ((1u << CHAIN_SHIFT) - 1), ours;
    const char *text;

    if (low < s->strings[chain] && s->string[chain][low])
        return s->string[chain][low];
    text = cf_reader_text(s->reader, id);
    if (!*text)
        return 0;
    ours = cf_writer_string(s->merge->writer, text);
    /* the reader has bounded what a stream can define by the bytes that it has */
    merge_room(s->merge, &s->string[chain], &s->strings[chain], low + (size_t)1, sizeof(uint32_t));
    s->string[chain][low] = ours;
    return ours;
}

/* Objects and snapshots of input k of n: number * n + k, which is unique and needs no memory. */
static uint32_t interleaved_number(const struct source *s, uint32_t number)
{
    uint64_t wide = (uint64_t)number * s->merge->inputs + s->input->number;

    if (wide > UINT32_MAX)
        cf_die(&s->merge->tool, CF_EXIT_INPUT,
               "%s: number %u of an object or snapshot is too large to be merged with %u other "
               "inputs",
               s->input->name, number, s->merge->inputs - 1);
    return (uint32_t)wide;
}

uint32_t source_process(const struct source *s, uint32_t id)
{
    if (id == 0)
        return 0;
    if (id > UINT32_MAX - s->input->offset)
        cf_die(&s->merge->tool, CF_EXIT_INPUT,
               "%s: process or thread %u has no place above %u: give a smaller --pid-offset",
               s->input->name, id, s->input->offset);
    return id + s->input->offset;
}

enum translation { AS_IS, STRING, PROCESS, OBJECT, SNAPSHOT };

static enum translation translation_of(const struct source *s, unsigned table, unsigned column,
                                       unsigned type)
{
    if (type == CF_STR)
        return STRING;
    if (s->input->offset && (column == CF_PID || column == CF_TID ||
                             (column == CF_PARENT && cf_table_traits(table) & CF_TABLE_FAMILY)))
        return PROCESS;
    if (s->merge->inputs > 1 && column == CF_OBJ)
        return OBJECT;
    if (s->merge->inputs > 1 && column == CF_SNAP)
        return SNAPSHOT;
    return AS_IS;
}

/* Copies n values as they go out: strings, processes, threads, objects and snapshots get the
   numbers that they have in the output. */
static void copy_values(struct source *s, unsigned table, const struct part_column *c,
                        uint32_t from, uint32_t n, void *to)
{
    size_t width = cf_type_width(c->type);
    const uint32_t *v = (const uint32_t *)c->values + from;
    uint32_t *w = to, last = 0, ours = 0;

    switch (translation_of(s, table, c->id, c->type)) {
    case AS_IS:
        memcpy(to, (const uint8_t *)c->values + from * width, n * width);
        break;
    case STRING:
        for (uint32_t i = 0; i < n; i++) {
            if (v[i] != last) {
                last = v[i];
                ours = string_of(s, last);
            }
            w[i] = ours;
        }
        break;
    case PROCESS:
        for (uint32_t i = 0; i < n; i++)
            w[i] = source_process(s, v[i]);
        break;
    case OBJECT:
        for (uint32_t i = 0; i < n; i++)
            w[i] = v[i] ? interleaved_number(s, v[i] - 1) + 1 : 0;
        break;
    case SNAPSHOT:
        for (uint32_t i = 0; i < n; i++)
            w[i] = interleaved_number(s, v[i]);
    }
}

void source_take(struct source *s, const struct cf_frame *f)
{
    struct part *p = &s->part;

    describe(p, f);
    for (unsigned i = 0; i < p->columns; i++) {
        struct part_column *c = &p->column[i];

        s->original[i] = c->values;
        if (translation_of(s, p->table, c->id, c->type) == AS_IS)
            continue;
        merge_room(s->merge, &s->translated[i], &s->translated_room[i], p->rows, sizeof(uint32_t));
        c->values = s->translated[i];
    }
}

void source_translate(struct source *s, uint32_t from, uint32_t n)
{
    const struct part *p = &s->part;

    for (unsigned i = 0; i < p->columns; i++)
        if (p->column[i].values != s->original[i]) {
            struct part_column c = p->column[i];

            c.values = s->original[i];
            copy_values(s, p->table, &c, from, n, s->translated[i] + from);
        }
}

/* Two processes of one number would become one. What is to be kept apart need not be described: a
   pid anywhere counts then. */
void source_check_clash(struct source *s, const struct cf_frame *f)
{
    struct merge *m = s->merge;
    const uint32_t *pid = cf_u32(f, CF_PID);

    if (!pid || m->clash_warned || m->inputs == 1 || m->o.force ||
        (!m->o.renumber && !(cf_table_traits(f->table) & CF_TABLE_PROCESS)))
        return;
    for (uint32_t i = 0; i < f->rows; i++) {
        uint32_t *looked = &s->looked[pid[i] % (sizeof(s->looked) / sizeof(*s->looked))];
        uint64_t *owner;

        if (*looked == pid[i])
            continue;
        *looked = pid[i];
        if (!pid[i])
            continue;
        owner = cf_need(&m->tool, cf_counts_at(m->owner, 0, source_process(s, pid[i])));
        if (!*owner)
            *owner = s->input->number + 1;
        if (*owner == s->input->number + 1)
            continue;
        m->clash_warned = 1;
        if (m->o.renumber)
            cf_warn(&m->tool,
                    "process %u of %s gets the number of one in %s: give a larger --pid-offset",
                    pid[i], s->input->name, m->input[*owner - 1].name);
        else
            cf_warn(&m->tool,
                    "process %u stands in %s and in %s: if these are two, keep them apart with "
                    "--renumber",
                    pid[i], m->input[*owner - 1].name, s->input->name);
        return;
    }
}

/* ---- rows that wait ---- */

/* Each run of a model hands out frames of its own from the same numbers on. */
static void check_models(struct source *s, const struct cf_frame *f)
{
    struct merge *m = s->merge;
    const uint8_t *mode = cf_u8(f, CF_MODE);

    if (m->models || !mode || !f->rows || !(*mode & CF_MODE_MODEL))
        return;
    m->model = m->model ? m->model : s->input;
    m->models = m->model != s->input;
    if (m->models)
        cf_warn(&m->tool,
                "%s: its snapshots are of another run of a model than those of %s: they show no "
                "common cache, and equal physical addresses are not the same memory: merge the "
                "accesses and model them together",
                s->input->name, m->model->name);
}

static void note_snapshots(struct source *s, const struct cf_frame *f)
{
    const uint32_t *id = cf_u32(f, CF_SNAP);
    const uint64_t *time = cf_u64(f, CF_TIME);

    check_models(s, f);
    if (!s->snapshot)
        s->snapshot = cf_need(&s->merge->tool, cf_counts_new());
    for (uint32_t i = 0; i < f->rows && id && time; i++) {
        uint64_t *at = cf_need(&s->merge->tool, cf_counts_at(s->snapshot, 0, id[i]));

        *at = cf_sum(time[i], 1);
    }
}

uint64_t source_snapshot_time(struct source *s, uint32_t id, uint64_t before)
{
    uint64_t at = s->snapshot ? cf_counts_get(s->snapshot, 0, id) : 0;

    return at ? at - 1 : before;
}

static struct fifo *fifo_of(struct source *s, unsigned table)
{
    unsigned i = 0;

    while (i < s->fifos && s->fifo[i].table != table)
        i++;
    if (i == sizeof(s->fifo) / sizeof(s->fifo[0]))
        cf_die(&s->merge->tool, CF_EXIT_INPUT, "%s: more than %u tables", s->input->name, i);
    if (i == s->fifos) {
        s->fifos++;
        s->fifo[i].table = table;
        s->fifo[i].last = &s->fifo[i].first;
    }
    return &s->fifo[i];
}

static size_t up8(size_t n)
{
    return (n + 7) & ~(size_t)7;
}

/* A copy of the rows `row[0..rows)`, or of the first `rows` when `row` is NULL, translated, with
   room for their keys. */
static struct block *copy_rows(struct source *s, const struct cf_frame *f, const uint32_t *row,
                               uint32_t rows)
{
    struct part whole;
    size_t bytes = up8(sizeof(struct block)) + rows * sizeof(uint64_t);
    struct block *b;
    uint8_t *place;

    describe(&whole, f);
    for (unsigned i = 0; i < whole.columns; i++)
        bytes += up8(rows * cf_type_width(whole.column[i].type));
    b = cf_need(&s->merge->tool, malloc(bytes));
    b->next = NULL;
    b->part = whole;
    b->part.rows = rows;
    place = (uint8_t *)b + up8(sizeof(*b));
    b->key = (uint64_t *)(void *)place;
    place += rows * sizeof(uint64_t);
    for (unsigned i = 0; i < whole.columns; i++) {
        size_t width = cf_type_width(whole.column[i].type);

        b->part.column[i].values = place;
        if (row)
            for (uint32_t k = 0; k < rows; k++)
                copy_values(s, f->table, &whole.column[i], row[k], 1, place + k * width);
        else
            copy_values(s, f->table, &whole.column[i], 0, rows, place);
        place += up8(rows * width);
    }
    return b;
}

void source_queue(struct source *s, const struct cf_frame *f, const uint32_t *row, uint32_t rows,
                  const uint64_t *key)
{
    struct block *b;
    struct fifo *q;

    if (f->table == CF_SNAPSHOT)
        note_snapshots(s, f);
    if (!rows)
        return;
    b = copy_rows(s, f, row, rows);
    memcpy(b->key, key, rows * sizeof(*key));
    q = fifo_of(s, f->table);
    *q->last = b;
    q->last = &b->next;
}

void source_pass(struct source *s, const struct cf_frame *f)
{
    struct block *b = copy_rows(s, f, NULL, f->rows);

    output_rows(s->merge->out, s, &b->part, 0, f->rows, 0, KEEP_CPU, 0);
    free(b);
}

struct fifo *source_first(struct source *s)
{
    struct fifo *first = NULL;

    for (unsigned i = 0; i < s->fifos; i++) {
        struct fifo *q = &s->fifo[i];

        if (q->first && (!first || fifo_key(q) < fifo_key(first) ||
                         (fifo_key(q) == fifo_key(first) && q->table < first->table)))
            first = q;
    }
    return first;
}

void fifo_advance(struct fifo *q, uint32_t rows)
{
    struct block *b = q->first;

    b->part.at += rows;
    if (b->part.at < b->part.rows)
        return;
    q->first = b->next;
    if (!q->first)
        q->last = &q->first;
    free(b);
}
