/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * output.c - the tables that go out: runs of rows from many sources become frames.
 *
 * A table has all columns that any source has brought for it so far; rows of a source that lacks
 * one get its neutral value. Memory: one frame of a pipe for each table.
 */
#include <stdlib.h>
#include <string.h>

#include "filters/parts/merge/merge.h"

enum { MOST_TABLES = 64, MOST_RUNS = 2048, LONG_RUN = 16 };

struct out_column {
    uint16_t id;
    uint8_t type, width;
    uint8_t warned; /* that a source lacks it */
    uint8_t *values;
};

/* Rows of a part whose values were not taken yet. */
struct run {
    const struct source *source;
    struct part *part;
    uint32_t from, n;
    uint64_t delta;
    int64_t cpu;
};

struct out_table {
    unsigned id;
    int placeless;    /* of lines: not all of the columns set and way come with them */
    unsigned version; /* changes with the columns */
    uint32_t rows;    /* whose values were taken */
    uint32_t pending; /* rows of the runs, which follow them */
    unsigned runs;
    struct run run[MOST_RUNS];
    uint64_t total;
    int has_cpu;
    unsigned columns;
    struct out_column column[CF_MAX_COLUMNS];
};

struct named {
    uint32_t id;
    char *name; /* NULL: not known */
};

struct output {
    struct merge *merge;
    int began;
    char *clock_unit;
    uint64_t clock_hz;
    struct cf_frame frame; /* to hand rows to the writer */
    struct out_table *table[MOST_TABLES];
    unsigned tables;
    const struct out_table *lines; /* to which the last lines went */
    struct named *named;
    size_t names, named_room;
    /* the rows of short runs: which of `parts` and which row of it */
    const struct part *part[MOST_RUNS];
    unsigned parts;
    uint16_t slot[CF_WIRE_ROWS];
    uint32_t row[CF_WIRE_ROWS];
};

struct output *output_new(struct merge *m)
{
    struct output *out = cf_tool_room(&m->tool, 1, sizeof(*out));

    out->merge = m;
    return out;
}

void output_free(struct output *out)
{
    free(out->named);
}

static const char *clock_text(const char *unit, uint64_t hz, char *text, size_t size)
{
    int n = snprintf(text, size, "%.60s", unit && *unit ? unit : "something unknown");

    if (hz)
        snprintf(text + n, size - (size_t)n, " at %llu Hz", (unsigned long long)hz);
    return text;
}

void output_header(struct output *out, const struct source *s, const struct cf_frame *f)
{
    const struct cf_header *h = f->header;
    const char *unit = h->clock_unit ? h->clock_unit : "";
    char ours[128], theirs[128];

    /* of several inputs, how many rows other parts have is not known of the sum */
    if ((out->merge->inputs > 1 || out->merge->o.interleave) && cf_header_fact(h, "part", "number"))
        cf_die(&out->merge->tool, CF_EXIT_INPUT,
               "%s: a part of a recording, of which other parts have some rows, too: merge the "
               "whole, and take parts of that",
               s->input->name);
    merge_facts(out->merge, s->input->name, h, out->began);
    if (!out->began) {
        merge_outdate(out->merge);
        out->began = 1;
        out->clock_unit = cf_tool_text(&out->merge->tool, "%s", unit);
        out->clock_hz = h->clock_hz;
        out->frame.header = h;
        out->frame.reader = s->reader;
        cf_tool_command(&out->merge->tool, &out->merge->command, h->command);
        if (out->merge->command && (!h->command || strcmp(out->merge->command, h->command) != 0))
            cf_writer_command(out->merge->writer, out->merge->command);
        (void)cf_writer_frame(out->merge->writer, f); /* a failure shows at the next write */
        return;
    }
    if (out->merge->o.force || (!strcmp(out->clock_unit, unit) && out->clock_hz == h->clock_hz))
        return;
    cf_die(&out->merge->tool, CF_EXIT_INPUT,
           "%s: its clock counts %s, that of the inputs before %s: their times cannot be compared: "
           "--force does it nevertheless",
           s->input->name, clock_text(h->clock_unit, h->clock_hz, theirs, sizeof(theirs)),
           clock_text(out->clock_unit, out->clock_hz, ours, sizeof(ours)));
}

int output_needs(const struct output *out, const struct cf_reader *reader)
{
    return out->frame.reader == reader;
}

/* ---- columns ---- */

/* Hands on the name of a column or table that is not listed. -1 when another input calls by that
   number something else. */
static int declare(struct output *out, const struct source *s, uint32_t id, unsigned type,
                   const char *name)
{
    struct named *p;

    for (size_t i = 0; i < out->names; i++)
        if (out->named[i].id == id)
            return name && out->named[i].name && strcmp(name, out->named[i].name) ? -1 : 0;
    merge_room(out->merge, &out->named, &out->named_room, out->names + 1, sizeof(*p));
    p = &out->named[out->names++];
    *p = (struct named){id, name ? cf_tool_text(&s->merge->tool, "%s", name) : NULL};
    if (name)
        (void)cf_writer_name(out->merge->writer, id, type, name);
    return 0;
}

/* Whether rows of a table explain accesses, or lines. */
static int explains(unsigned id)
{
    return id < CF_ACCESS || (cf_table_traits(id) & CF_TABLE_BEFORE) != 0;
}

/* Whether these are lines without a set and way. They go in frames of their own: with the set and
   way 0 they would all be one line. */
static int placeless(const struct part *p)
{
    unsigned places = 0;

    for (unsigned i = 0; i < p->columns; i++)
        places += p->column[i].id == CF_SET || p->column[i].id == CF_WAY;
    return p->table == CF_LINE && places < 2;
}

/* The tables stand in the order in which they go out. */
static struct out_table *table_of(struct output *out, const struct source *s, const struct part *p)
{
    const unsigned id = p->table;
    const int lacks = placeless(p);
    unsigned i = 0;
    struct out_table *t;

    while (i < out->tables && explains(out->table[i]->id) > explains(id))
        i++;
    while (
        i < out->tables && explains(out->table[i]->id) == explains(id) &&
        (out->table[i]->id < id || (out->table[i]->id == id && out->table[i]->placeless < lacks)))
        i++;
    if (i < out->tables && out->table[i]->id == id && out->table[i]->placeless == lacks)
        return out->table[i];
    if (out->tables == MOST_TABLES)
        cf_die(&out->merge->tool, CF_EXIT_INPUT, "%s: more than %d tables", s->input->name,
               MOST_TABLES);
    if (!cf_table_name(id) &&
        declare(out, s, id + 65536, 0, cf_reader_table_name(s->reader, id)) != 0)
        cf_die(&out->merge->tool, CF_EXIT_INPUT,
               "%s: table %u has another name in the inputs before", s->input->name, id);
    t = cf_tool_room(&out->merge->tool, 1, sizeof(*t));
    t->id = id;
    t->placeless = lacks;
    t->version = 1;
    memmove(&out->table[i + 1], &out->table[i], (out->tables - i) * sizeof(t));
    out->table[i] = t;
    out->tables++;
    return t;
}

/* What programs take for the value where the column is missing. */
static uint64_t neutral(const struct out_table *t, unsigned column)
{
    return column == CF_WEIGHT                     ? 1
           : column == CF_DIST                     ? CF_DIST_NONE
           : column == CF_OP && t->id == CF_ACCESS ? CF_LOAD
                                                   : 0;
}

static struct out_column *add_column(struct output *out, struct out_table *t, unsigned id,
                                     unsigned type)
{
    struct out_column *c = &t->column[t->columns];
    const uint64_t value = neutral(t, id);

    if (t->columns == CF_MAX_COLUMNS)
        return NULL;
    *c = (struct out_column){
        .id = (uint16_t)id, .type = (uint8_t)type, .width = (uint8_t)cf_type_width(type)};
    c->values = cf_tool_room(&out->merge->tool, CF_WIRE_ROWS, c->width);
    for (uint32_t i = 0; i < t->rows && value; i++)
        memcpy(c->values + i * c->width, &value, c->width);
    t->columns++;
    t->version++;
    return c;
}

static const char *column_name(const struct source *s, unsigned id)
{
    const char *name = cf_reader_column_name(s->reader, id);

    return name ? name : "(unknown)";
}

static void warn_lack(struct output *out, const struct source *s, const struct out_table *t,
                      struct out_column *c, int before)
{
    const char *table = cf_table_name(t->id);

    if (c->warned || out->merge->tool.quiet || c->id == CF_WEIGHT || c->id == CF_CPU)
        return;
    c->warned = 1;
    cf_warn(&out->merge->tool, "%s: %s '%s' in table %s: %s", s->input->name,
            before ? "inputs before it have no column" : "there is no column",
            column_name(s, c->id), table ? table : "(unknown)",
            before ? "rows so far go without"
            : c->id == CF_OP && t->id == CF_ACCESS
                ? "its rows are loads, as they mix with rows that have one"
            : c->id == CF_DIST  ? "its rows have no distance, as they mix with rows that have one"
            : c->type == CF_STR ? "its rows get no text, as they mix with rows that have it"
                                : "its rows get 0, as they mix with rows that have it");
}

void output_map(struct output *out, const struct source *s, struct part *p)
{
    struct out_table *t = table_of(out, s, p);

    for (unsigned i = 0; i < p->columns; i++) {
        struct part_column *c = &p->column[i];
        unsigned k = 0;

        while (k < t->columns && t->column[k].id != c->id)
            k++;
        if ((k < t->columns && t->column[k].type != c->type) ||
            (!cf_column_name(c->id) &&
             declare(out, s, c->id, c->type, cf_reader_column_name(s->reader, c->id)) != 0)) {
            cf_fail(&out->merge->tool, CF_EXIT_INPUT,
                    "%s: column %u is something else in the inputs before: it is left out",
                    s->input->name, c->id);
            c->id = 0;
            continue;
        }
        if (k == t->columns) {
            struct out_column *new = add_column(out, t, c->id, c->type);

            if (new && t->total)
                warn_lack(out, s, t, new, 1);
        }
    }
    for (unsigned k = 0; k < t->columns; k++) {
        p->from[k] = -1;
        for (unsigned i = 0; i < p->columns; i++)
            if (p->column[i].id == t->column[k].id)
                p->from[k] = (int16_t)i;
        if (p->from[k] < 0)
            warn_lack(out, s, t, &t->column[k], 0);
    }
    p->out = t;
    p->version = t->version;
}

/* ---- rows ---- */

static void settle(struct output *out, struct out_table *t);

static void send_table(struct output *out, struct out_table *t)
{
    struct cf_frame *f = &out->frame;

    settle(out, t);
    if (!t->rows)
        return;
    f->table = t->id;
    f->rows = t->rows;
    f->columns = 0;
    f->first = f->last = 0;
    for (unsigned i = 0; i < t->columns; i++) {
        const struct out_column *c = &t->column[i];
        const uint64_t *time = (const uint64_t *)(const void *)c->values;

        f->column[f->columns++] = (struct cf_data){.id = c->id, .type = c->type, .values = time};
        if (c->id != CF_TIME)
            continue;
        f->first = UINT64_MAX;
        for (uint32_t k = 0; k < t->rows; k++) {
            f->first = time[k] < f->first ? time[k] : f->first;
            f->last = time[k] > f->last ? time[k] : f->last;
        }
    }
    t->total += t->rows;
    t->rows = 0;
    if (cf_writer_frame(out->merge->writer, f) != 0)
        exit(cf_tool_finish(&out->merge->tool, NULL, out->merge->writer)); /* says why */
}

void output_flush(struct output *out)
{
    for (unsigned i = 0; i < out->tables; i++)
        send_table(out, out->table[i]);
}

/* Values of a part for the i-th column that goes out, NULL where it lacks it. */
static const void *values_of(const struct part *p, unsigned i)
{
    return p->from[i] < 0 ? NULL : p->column[p->from[i]].values;
}

/* Takes one value a row from every run. */
#define TAKE(type)                                                                                 \
    do {                                                                                           \
        type *restrict to = (type *)(void *)c->values + t->rows;                                   \
        for (unsigned r = 0; r < t->runs; r++) {                                                   \
            const struct run *run = &t->run[r];                                                    \
            const type *restrict from = values_of(run->part, i);                                   \
            if (c->id == CF_CPU && run->cpu != KEEP_CPU)                                           \
                for (uint32_t k = 0; k < run->n; k++)                                              \
                    to[k] = (type)run->cpu;                                                        \
            else if (!from)                                                                        \
                for (uint32_t k = 0; k < run->n; k++)                                              \
                    to[k] = (type)neutral(t, c->id);                                               \
            else if (c->id == CF_TIME)                                                             \
                for (uint32_t k = 0; k < run->n; k++)                                              \
                    to[k] = (type)(from[run->from + k] + run->delta);                              \
            else                                                                                   \
                for (uint32_t k = 0; k < run->n; k++)                                              \
                    to[k] = from[run->from + k];                                                   \
            to += run->n;                                                                          \
        }                                                                                          \
    } while (0)

/* The same row by row: the ends of short runs cannot be predicted, and to find them anew in every
   column would cost more than the copying. */
#define GATHER(type)                                                                               \
    do {                                                                                           \
        type *restrict to = (type *)(void *)c->values + t->rows;                                   \
        for (uint32_t k = 0; k < t->pending; k++)                                                  \
            to[k] = ((const type *)base[out->slot[k]])[out->row[k]];                               \
    } while (0)

/* Notes for each row where it comes from. */
static void expand(struct output *out, const struct out_table *t)
{
    uint32_t at = 0;

    out->parts = 0;
    for (unsigned r = 0; r < t->runs; r++) {
        const struct run *run = &t->run[r];
        struct part *p = run->part;

        if (p->slot >= out->parts || out->part[p->slot] != p) {
            p->slot = out->parts;
            out->part[out->parts++] = p;
        }
        for (uint32_t k = 0; k < run->n; k++) {
            out->slot[at + k] = (uint16_t)p->slot;
            out->row[at + k] = run->from + k;
        }
        at += run->n;
    }
}

static void settle(struct output *out, struct out_table *t)
{
    int gather = t->pending / LONG_RUN < t->runs, shifted = 0;
    const void *base[MOST_RUNS];

    for (unsigned r = 0; r < t->runs; r++) {
        const struct run *run = &t->run[r];

        if (run->part->version != t->version)
            output_map(out, run->source, run->part);
        shifted |= run->delta != 0;
    }
    if (gather)
        expand(out, t);
    for (unsigned i = 0; i < t->columns; i++) {
        const struct out_column *c = &t->column[i];
        int all = gather && c->id != CF_CPU && (c->id != CF_TIME || !shifted);

        for (unsigned k = 0; k < out->parts && all; k++) {
            base[k] = values_of(out->part[k], i);
            all = base[k] != NULL;
        }
        if (c->width == 1 && all)
            GATHER(uint8_t);
        else if (c->width == 2 && all)
            GATHER(uint16_t);
        else if (c->width == 4 && all)
            GATHER(uint32_t);
        else if (all)
            GATHER(uint64_t);
        else if (c->width == 1)
            TAKE(uint8_t);
        else if (c->width == 2)
            TAKE(uint16_t);
        else if (c->width == 4)
            TAKE(uint32_t);
        else
            TAKE(uint64_t);
    }
    t->rows += t->pending;
    t->pending = 0;
    t->runs = 0;
}

void output_settle(struct output *out)
{
    for (unsigned i = 0; i < out->tables; i++)
        settle(out, out->table[i]);
}

void output_rows(struct output *out, const struct source *s, struct part *p, uint32_t from,
                 uint32_t n, uint64_t delta, int64_t cpu, int later)
{
    struct out_table *t = p->out ? p->out : table_of(out, s, p);

    if (t->id == CF_LINE && out->lines != t) {
        output_flush(out); /* lines stay in their order */
        out->lines = t;
    }
    if (p->version != t->version)
        output_map(out, s, p);
    if (cpu != KEEP_CPU && !t->has_cpu) {
        for (unsigned k = 0; k < t->columns; k++)
            t->has_cpu |= t->column[k].id == CF_CPU;
        if (!t->has_cpu)
            t->has_cpu = add_column(out, t, CF_CPU, CF_U32) != NULL;
    }
    while (n) {
        uint32_t room = CF_WIRE_ROWS - t->rows - t->pending, now = room < n ? room : n;

        t->run[t->runs++] = (struct run){s, p, from, now, delta, cpu};
        t->pending += now;
        from += now;
        n -= now;
        if (t->runs == MOST_RUNS || !later)
            settle(out, t);
        if (t->rows + t->pending < CF_WIRE_ROWS)
            continue;
        if (t->id == CF_ACCESS || t->id == CF_LINE)
            output_flush(out);
        else
            send_table(out, t);
    }
}

void output_switch(struct output *out, const struct source *s, uint64_t time, uint32_t pid,
                   uint32_t tid, uint32_t cpu, uint64_t count)
{
    const struct part_column column[] = {
        {CF_TIME, CF_U64, &time}, {CF_PID, CF_U32, &pid},     {CF_TID, CF_U32, &tid},
        {CF_CPU, CF_U32, &cpu},   {CF_COUNT, CF_U64, &count},
    };
    struct part row = {.table = CF_SWITCH, .rows = 1, .columns = 5};

    memcpy(row.column, column, sizeof(column));
    output_rows(out, s, &row, 0, 1, 0, KEEP_CPU, 0);
}
