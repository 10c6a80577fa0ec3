/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * inspect.c - looks at the stream itself: every frame in full, whether all of it is sound, and
 * what it holds. Memory: one frame, and 64 bytes a table.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "filters/parts/cat/cat.h"
#include "formats/codec/cf_codec.h"
#include "formats/base/cf_number.h"

enum { FRAME_HEAD = 40, DESCRIPTOR = 24, MAX_TABLES = 64 };

static const char *codec_name(unsigned codec)
{
    static const char *const name[] = {
        [CF_RAW] = "raw",           [CF_CONST] = "const",         [CF_NARROW8] = "narrow8",
        [CF_NARROW16] = "narrow16", [CF_NARROW32] = "narrow32",   [CF_ZSTD] = "zstd",
        [CF_ZDELTA] = "zdelta",     [CF_ZPLANES] = "zplanes",     [CF_ZDPLANES] = "zdplanes",
        [CF_CODES] = "codes",       [CF_BYCODE] = "bycode",       [CF_STEPS] = "steps",
        [CF_PREDICT] = "predict",   [CF_ROWCODES] = "rowcodes",   [CF_RISE8] = "rise8",
        [CF_LINES32] = "lines32",   [CF_LINES48] = "lines48",     [CF_NEAR] = "near",
        [CF_PAGES] = "pages",       [CF_LIKE] = "like",           [CF_STRETCHES] = "stretches",
        [CF_CLOCK] = "clock",       [CF_ADDRESSES] = "addresses",
    };

    _Static_assert(sizeof(name) / sizeof(name[0]) == CF_CODECS, "each codec has a name");
    return codec < sizeof(name) / sizeof(name[0]) ? name[codec] : "?";
}

static const char *type_name(unsigned type)
{
    static const char *const name[] = {"?", "u8", "u16", "u32", "u64", "i64", "f64", "str", "blob"};

    return type < sizeof(name) / sizeof(name[0]) ? name[type] : "?";
}

/* A declared name is a text of the input; in a static buffer. */
static const char *safe_name(const char *name)
{
    static char safe[256];

    return cf_text_safe(safe, sizeof(safe), name);
}

/* Bytes that the frame takes in its stream. */
static uint64_t frame_bytes(const struct cf_frame *f)
{
    uint64_t bytes = FRAME_HEAD + (uint64_t)f->columns * DESCRIPTOR;

    for (unsigned i = 0; i < f->columns; i++)
        bytes += (f->column[i].bytes + 7) & ~7u;
    return bytes;
}

static void indent(FILE *out, const char *text, const char *by)
{
    while (text && *text) {
        size_t n = strcspn(text, "\n");

        fputs(by, out);
        cf_text_print(out, text, n, "");
        putc('\n', out);
        text += n + (text[n] == '\n');
    }
}

static void dump_row(const struct cf_reader *r, const struct cf_frame *f, uint32_t row, size_t *at)
{
    fputs("   ", stdout);
    for (unsigned i = 0; i < f->columns; i++) {
        const struct cf_data *c = &f->column[i];

        if (!c->values)
            continue;
        printf(" %s=", safe_name(print_column_name(r, c->id)));
        if (c->type == CF_STR) {
            const char *text = cf_reader_text(r, ((const uint32_t *)c->values)[row]);

            print_quoted(stdout, text, strlen(text));
        } else if (c->type == CF_BLOB) {
            const uint32_t *length = f->table == CF_STRING ? cf_u32(f, CF_LENGTH) : NULL;

            /* the reader has checked that the lengths of a dictionary fit its text */
            if (length) {
                print_quoted(stdout, (const char *)c->values + *at, length[row]);
                *at += length[row];
            } else {
                fputs("...", stdout);
            }
        } else {
            print_field(stdout, 1, r, c, row, 0);
        }
    }
    putchar('\n');
}

void dump_frame(const struct cf_reader *r, const struct cf_frame *f, uint64_t rows)
{
    size_t at = 0;

    if (f->table == CF_HEADER) {
        printf("header at byte %" PRIu64 ":\n", f->offset);
        indent(stdout, f->header->yaml, "  ");
        return;
    }
    printf("frame %" PRIu64 " at byte %" PRIu64 ": table %s, %" PRIu32 " rows, %u columns, %" PRIu64
           " bytes, time %" PRIu64 " to %" PRIu64 "\n",
           f->number, f->offset, safe_name(print_table_name(r, f->table)), f->rows, f->columns,
           frame_bytes(f), f->first, f->last);
    for (unsigned i = 0; i < f->columns; i++) {
        const struct cf_data *c = &f->column[i];

        printf("  column %-10s %-4s %-8s %9" PRIu32 " bytes, base %" PRIu64 ", sum %016" PRIx64
               "\n",
               safe_name(print_column_name(r, c->id)), type_name(c->type), codec_name(c->codec),
               c->bytes, c->base, c->sum);
    }
    for (uint32_t row = 0; row < f->rows && row < rows; row++)
        dump_row(r, f, row, &at);
    if (f->rows > rows)
        printf("    ... %" PRIu64 " more rows\n", f->rows - rows);
}

/* ---- whole files ---- */

struct table {
    unsigned id;
    char name[64];
    uint64_t frames, rows, bytes, first, last;
    int timed;
};

struct tables {
    struct table table[MAX_TABLES];
    unsigned count;
    uint64_t frames;
};

static void count_frame(struct tables *all, const struct cf_reader *r, const struct cf_frame *f)
{
    struct table *t = all->table;
    unsigned i = 0;

    while (i < all->count && t[i].id != f->table)
        i++;
    if (i == MAX_TABLES)
        i--; /* what does not fit is counted with the last */
    t += i;
    if (i == all->count) {
        all->count++;
        *t = (struct table){.id = f->table, .first = UINT64_MAX};
        snprintf(t->name, sizeof(t->name), "%s", print_table_name(r, f->table));
    }
    all->frames++;
    t->frames++;
    t->rows += f->rows;
    t->bytes += frame_bytes(f);
    for (unsigned k = 0; k < f->columns; k++)
        t->timed |= f->column[k].id == CF_TIME;
    t->first = f->first < t->first ? f->first : t->first;
    t->last = f->last > t->last ? f->last : t->last;
}

static int by_id(const void *a, const void *b)
{
    const struct table *x = a, *y = b;

    return cf_order(x->id, y->id);
}

/* The problem of a reader without the input's name in front, which stands there already. */
static const char *problem_of(const struct cf_reader *r, const char *name)
{
    const char *problem = cf_reader_problem(r);
    size_t n = strlen(name);

    return strncmp(problem, name, n) == 0 && strncmp(problem + n, ": ", 2) == 0 ? problem + n + 2
                                                                                : problem;
}

static const char *input_name(const char *file)
{
    return strcmp(file, "-") == 0 ? "standard input" : file;
}

void verify_file(struct cf_tool *t, char *const *file)
{
    struct cf_reader *r = cf_tool_reader(t, file, 1);
    struct tables all = {.count = 0};
    struct cf_frame *f;
    struct order *order = order_new(t);
    const char *first = NULL;
    unsigned damages;

    cf_reader_partials(r);
    cf_reader_want_all(r);
    cf_reader_check_index(r);
    while (cf_tool_next(t, r, &f) > 0) {
        if (f->table != CF_HEADER)
            count_frame(&all, r, f);
        order_frame(order, r, f);
        first = first                  ? first
                : order_problem(order) ? order_problem(order)
                : cf_reader_damages(r) ? problem_of(r, input_name(*file))
                                       : NULL;
    }
    damages = cf_reader_damages(r);
    if (cf_reader_refused(r)) {
        cf_tool_note(t, cf_tool_problems(t, r));
    } else if (first || damages) {
        cf_tool_note(t, CF_EXIT_INPUT);
        cf_text_print(stdout, input_name(*file), strlen(input_name(*file)), "");
        if (!first)
            first = problem_of(r, input_name(*file));
        fputs(": damaged: ", stdout);
        cf_text_print(stdout, first, strlen(first), "");
        /* one frame that is out of its place has many rows that are */
        if (!order_problem(order) && damages > 1)
            printf("; %u places in all", damages);
    } else {
        qsort(all.table, all.count, sizeof(all.table[0]), by_id);
        cf_text_print(stdout, input_name(*file), strlen(input_name(*file)), "");
        printf(": ok, %" PRIu64 " frames", all.frames);
        for (unsigned i = 0; i < all.count; i++)
            printf(", %" PRIu64 " rows of %s", all.table[i].rows, safe_name(all.table[i].name));
    }
    if (!cf_reader_refused(r))
        putchar('\n');
    order_free(order);
    cf_reader_close(r);
}

static void print_tables(struct tables *all)
{
    qsort(all->table, all->count, sizeof(all->table[0]), by_id);
    puts(all->count ? "tables:" : "tables: {}");
    for (unsigned i = 0; i < all->count; i++) {
        const struct table *t = &all->table[i];

        fputs("  ", stdout);
        print_quoted(stdout, t->name, strlen(t->name));
        printf(": {rows: %" PRIu64 ", frames: %" PRIu64, t->rows, t->frames);
        if (t->timed)
            printf(", first: %" PRIu64 ", last: %" PRIu64, t->first, t->last);
        printf(", bytes: %" PRIu64 ", bytes_per_row: %.2f}\n", t->bytes,
               t->rows ? (double)t->bytes / (double)t->rows : 0.0);
    }
    *all = (struct tables){.count = 0};
}

void info_file(struct cf_tool *t, char *const *file)
{
    struct cf_reader *r = cf_tool_reader(t, file, 1);
    struct tables all = {.count = 0};
    struct processes *processes = processes_new(t, r);
    struct cf_frame *f;
    unsigned segment = 0;

    cf_reader_partials(r);
    cf_reader_unify(r); /* the names of a segment are printed when the next one has begun */
    while (cf_tool_next(t, r, &f) > 0) {
        if (f->table != CF_HEADER) {
            count_frame(&all, r, f);
            processes_frame(processes, f);
            continue;
        }
        if (segment++) {
            print_tables(&all);
            processes_print(processes, r);
        }
        processes_header(processes, f->header);
        fputs("---\ninput: {file: ", stdout);
        print_quoted(stdout, *file, strlen(*file));
        printf(", segment: %u}\n", segment);
        indent(stdout, f->header->yaml, "");
    }
    if (segment) {
        print_tables(&all);
        processes_print(processes, r);
    }
    processes_free(processes);
    cf_tool_note(t, cf_tool_problems(t, r));
    cf_reader_close(r);
}
