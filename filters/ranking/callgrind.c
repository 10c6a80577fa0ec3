/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * callgrind.c - what each source line of each function did, as KCachegrind and callgrind_annotate
 * read it ("Callgrind Format Specification" in Valgrind's manual, version 1).
 *
 * Calls are those on the paths of column stack; without it all costs are of the functions
 * themselves. Events are sums by the
 * rules of cf-rank, of the columns that the first accesses have; those that are 0 are left out, and
 * so are levels behind the last that served an access or is stated of column hit.
 *
 * Memory: that of a ranking by function and source line, and 48 bytes for each such pair.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filters/ranking/callgrind.h"
#include "formats/base/cf_memory.h"
#include "formats/base/cf_strings.h"
#include "formats/base/cf_text.h"
#include "formats/together/cf_made.h"

/* An event, the value of cf-rank that it is, and the columns of which the stream has one. */
static const struct event {
    const char *name, *value, *words;
    unsigned column, other;
} events[] = {
    {"Ld", "loads", "Loads", CF_OP, 0},
    {"St", "stores", "Stores", CF_OP, 0},
    {"Ir", "fetches", "Instructions fetched", CF_INSNS, 0},
    {"Bytes", "bytes", "Bytes loaded and stored", CF_SIZE, 0},
    {"L1m", "l1-misses", "Misses of level 1", CF_HIT, CF_LEVEL},
    {"L2m", "l2-misses", "Misses of levels 1 and 2", CF_HIT, CF_LEVEL},
    {"L3m", "l3-misses", "Misses of levels 1 to 3", CF_HIT, CF_LEVEL},
    {"L4m", "l4-misses", "Misses of levels 1 to 4", CF_HIT, CF_LEVEL},
    {"Miss", "misses", "Misses", CF_CLASS, CF_HIT},
    {"Compulsory", "compulsory", "Compulsory misses", CF_CLASS, 0},
    {"Capacity", "capacity", "Capacity misses", CF_CLASS, 0},
    {"Conflict", "conflict", "Conflict misses", CF_CLASS, 0},
    {"TrueSharing", "true_sharing", "Misses by true sharing", CF_CLASS, 0},
    {"FalseSharing", "false_sharing", "Misses by false sharing", CF_CLASS, 0},
    {"AllocatorConflict", "allocator_conflict", "Conflict misses by the allocator", CF_CLASS, 0},
    {"AllocatorFalseSharing", "allocator_false_sharing", "Misses by the allocator's false sharing",
     CF_CLASS, 0},
    {"Unclassified", "unclassified", "Misses of no class", CF_CLASS, 0},
    {"Cost", "cost", "Cycles", CF_COST, 0},
};

enum { EVENTS = sizeof events / sizeof events[0] };

/* What one source line of a function did. */
struct line {
    const char *function, *file;
    size_t file_length;
    uint64_t line;
    const uint64_t *sum;
};

struct cf_callgrind {
    struct cf_tool *tool;
    struct cf_reader *reader;
    struct cf_mix mix;
    struct cf_sums sums;
    struct cf_ranking ranking, paths;
    int begun, calls; /* calls: the first accesses have column stack */
    int more;         /* it was said that later accesses have other columns */
    unsigned levels;  /* that models state */
    struct cf_calls *edges;
    struct cf_strings *homes; /* functions by name, */
    const struct line **home; /* and a line of the file that each is in */
    size_t home_room;
    const struct event *event[EVENTS]; /* by the place of its sum */
    int shown[EVENTS];
    char *command;
    struct line *line;
    size_t lines;
    uint64_t total[EVENTS];
};

static int has_column(const struct cf_frame *f, unsigned column)
{
    return f && column && cf_frame_has(f, column);
}

static int has_event(const struct cf_frame *f, const struct event *e)
{
    return has_column(f, e->column) || has_column(f, e->other);
}

/* With the first accesses, or NULL where there are none. */
static void begin(struct cf_callgrind *c, const struct cf_frame *f)
{
    cf_sums_init(&c->sums, c->tool);
    c->sums.count = 0;
    for (unsigned i = 0; i < EVENTS; i++)
        if (has_event(f, &events[i])) {
            c->event[c->sums.count] = &events[i];
            (void)cf_sums_pick(&c->sums, "--format", events[i].value);
        }
    if (!c->sums.count) { /* accesses of which nothing more is known */
        static const struct event accesses = {.name = "Acc", .words = "Accesses"};

        c->event[0] = &accesses;
        (void)cf_sums_pick(&c->sums, "--format", "accesses");
    }
    cf_sums_check(&c->sums);
    c->ranking = (struct cf_ranking){.tool = c->tool,
                                     .reader = c->reader,
                                     .sums = &c->sums,
                                     .by = {CF_RANK_FUNCTION, CF_RANK_SOURCE},
                                     .keys = 2,
                                     .line_size = 64};
    cf_ranking_begin(&c->ranking);
    cf_sums_begin(&c->sums, c->reader);
    memcpy(c->mix.column, c->sums.mixed, sizeof c->sums.mixed);
    if (f)
        cf_mix_check(&c->mix, c->tool, f->header);
    c->calls = has_column(f, CF_STACK_ID);
    c->begun = 1;
}

/* Fails, once, of an event or of calls that some accesses have and others have not. */
static void check_more(struct cf_callgrind *c, const struct cf_frame *f)
{
    const int calls = has_column(f, CF_STACK_ID);
    const char *more = calls && !c->calls ? "calls" : NULL;

    for (unsigned i = 0, v; i < EVENTS && !more; i++) {
        for (v = 0; v < c->sums.count && c->event[v] != &events[i];)
            v++;
        if (v == c->sums.count && has_event(f, &events[i]))
            more = events[i].name;
    }
    if (more && !c->more++)
        cf_fail(c->tool, CF_EXIT_INPUT,
                "%s and others may be missing: accesses have a column for it that the first "
                "accesses have not: run all inputs through the same programs",
                more);
    else if (!more && calls < c->calls && !c->more++)
        cf_fail(c->tool, CF_EXIT_INPUT,
                "accesses have no column stack, unlike the first: what called their functions is "
                "missing");
}

/* "L1D ..., L2 ...": the number of the last. */
static void note_levels(struct cf_callgrind *c, const struct cf_header *h)
{
    const char *caches = cf_header_fact(h, "hit", "caches");
    unsigned level;

    for (; caches; caches = strchr(caches, ',')) {
        caches += strspn(caches, ", ");
        if (sscanf(caches, "L%u", &level) == 1 && level > c->levels)
            c->levels = level;
    }
}

const unsigned cf_callgrind_alike[] = {CF_OP,     CF_SIZE,     CF_INSNS,   CF_COST, CF_FUNCTION,
                                       CF_SOURCE, CF_STACK_ID, CF_INLINED, CF_PID,  CF_WEIGHT,
                                       0};

struct cf_callgrind *cf_callgrind_new(struct cf_tool *t, struct cf_reader *r)
{
    struct cf_callgrind *c = cf_need(t, calloc(1, sizeof *c));

    c->tool = t;
    c->reader = r;
    cf_reader_want_each(r, CF_ACCESS, CF_REQUIRED, CF_FUNCTION, CF_SOURCE);
    cf_reader_want_each(r, CF_ACCESS, CF_OPTIONAL, CF_OP, CF_SIZE, CF_INSNS, CF_HIT, CF_LEVEL,
                        CF_CLASS, CF_COST, CF_WEIGHT);
    cf_reader_unify(r);
    cf_reader_pieces(r);
    c->paths = (struct cf_ranking){.tool = t,
                                   .reader = r,
                                   .sums = &c->sums,
                                   .by = {CF_RANK_STACK},
                                   .keys = 1,
                                   .line_size = 64,
                                   .lenient = 1};
    cf_ranking_begin(&c->paths);
    return c;
}

void cf_callgrind_frame(struct cf_callgrind *c, const struct cf_frame *f)
{
    if (f->table == CF_HEADER && !c->command && f->header->command)
        c->command = cf_need(c->tool, strdup(f->header->command));
    if (f->table == CF_HEADER)
        note_levels(c, f->header);
    if (f->table == CF_HEADER && c->begun)
        cf_mix_check(&c->mix, c->tool, f->header);
    cf_ranking_note(&c->paths, f);
    if (f->table != CF_ACCESS)
        return;
    if (!c->begun)
        begin(c, f);
    check_more(c, f);
    if (cf_sums_find(&c->sums, f) != 0) {
        if (!c->ranking.lacking++)
            cf_fail(c->tool, CF_EXIT_INPUT,
                    "frame %" PRIu64 ": the accesses have no column that says what missed, unlike "
                    "those before: left out",
                    f->number);
        return;
    }
    cf_ranking_add(&c->ranking, f);
    if (c->calls)
        cf_ranking_add(&c->paths, f);
}

/* ---- lines in their order ---- */

/* "FILE:LINE" into its parts; what is none is a file, and line 0. */
static void split(struct line *l, const char *source)
{
    const char *colon = strrchr(source, ':');
    uint64_t number = 0;

    l->file = source;
    l->file_length = strlen(source);
    if (!colon || !isdigit((unsigned char)colon[1]) || colon[1 + strspn(colon + 1, "0123456789")])
        return;
    for (const char *p = colon + 1; *p && number < UINT32_MAX; p++)
        number = 10 * number + (uint64_t)(*p - '0');
    l->file_length = (size_t)(colon - source);
    l->line = number;
}

static int by_file(const struct line *x, const struct line *y)
{
    const size_t n = x->file_length < y->file_length ? x->file_length : y->file_length;
    const int order = memcmp(x->file, y->file, n);

    return order ? order : (x->file_length > y->file_length) - (x->file_length < y->file_length);
}

static int by_place(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    int order = strcmp(x->function, y->function);

    order = order ? order : by_file(x, y);
    return order ? order : (x->line > y->line) - (x->line < y->line);
}

/* Of a level that is not there, the misses are those of the last that is. */
static void choose_events(struct cf_callgrind *c)
{
    unsigned level = 0, last = c->levels ? c->levels : 1;

    for (unsigned v = 0; v < c->sums.count; v++)
        if (c->event[v]->other == CF_LEVEL && ++level > last && c->total[v] != c->total[v - 1])
            last = level;
    level = 0;
    for (unsigned v = 0; v < c->sums.count; v++)
        c->shown[v] = !v || (c->total[v] && (c->event[v]->other != CF_LEVEL || ++level <= last));
}

static void sort_lines(struct cf_callgrind *c, const struct cf_ranked *r)
{
    const unsigned sums = c->sums.count;

    c->lines = r->count;
    c->line = cf_need(c->tool, calloc(r->count + 1, sizeof *c->line));
    for (size_t i = 0; i < r->count; i++) {
        struct line *l = &c->line[i];

        l->function = r->item[i].key[0].text;
        l->sum = r->item[i].sum;
        split(l, r->item[i].key[1].text);
        for (unsigned v = 0; v < sums; v++)
            c->total[v] += l->sum[v];
    }
    choose_events(c);
    qsort(c->line, c->lines, sizeof *c->line, by_place);
}

/* ---- the file ---- */

/* What begins like the number of a name, "(1)", would be taken for one. */
static void print_name(FILE *out, const char *what, const char *name, size_t length)
{
    fprintf(out, "%s=", what);
    if (!length)
        fputs("\?\?\?", out);
    if (length > 1 && name[0] == '(' && isdigit((unsigned char)name[1]))
        putc('_', out);
    cf_text_print(out, name, length, "");
    putc('\n', out);
}

static void print_sums(FILE *out, const struct cf_callgrind *c, const uint64_t *sum,
                       const char *before)
{
    fputs(before, out);
    for (unsigned v = 0; v < c->sums.count; v++)
        if (c->shown[v])
            fprintf(out, " %" PRIu64, sum[v]);
    putc('\n', out);
}

static void print_head(FILE *out, const struct cf_callgrind *c)
{
    fputs("# callgrind format\nversion: 1\ncreator: ", out);
    fprintf(out, "%s\ncmd: ", c->tool->name);
    cf_text_print(out, c->command ? c->command : "", c->command ? strlen(c->command) : 0, "");
    fputs("\npositions: line\n", out);
    for (unsigned v = 0; v < c->sums.count; v++)
        if (c->shown[v])
            fprintf(out, "event: %s : %s\n", c->event[v]->name, c->event[v]->words);
    fputs("events:", out);
    for (unsigned v = 0; v < c->sums.count; v++)
        if (c->shown[v])
            fprintf(out, " %s", c->event[v]->name);
    print_sums(out, c, c->total, "\nsummary:");
}

/* The function is said to be in the file of which most of its first event is; what lies elsewhere
   was inlined, or has a name that several have. */
static const struct line *home(const struct line *l, const struct line *end)
{
    const struct line *best = l;
    uint64_t most = 0;

    while (l < end) {
        const struct line *file = l;
        uint64_t sum = 0;

        for (; l < end && !by_file(l, file); l++)
            sum += l->sum[0];
        if (sum > most && file->file_length) {
            most = sum;
            best = file;
        }
    }
    return best;
}

/* The function as paths have it: a semicolon and a new line in it are colons. */
static uint32_t home_number(const struct cf_callgrind *c, const char *name)
{
    char *copy = cf_need(c->tool, strdup(*name ? name : "[unknown]"));
    uint32_t number;
    int fresh;

    for (char *at = copy; (at = strpbrk(at, ";\n")); at++)
        *at = ':';
    number = cf_strings_number(c->homes, copy, strlen(copy), &fresh);
    free(copy);
    if (!number)
        cf_out_of_memory(c->tool);
    return number;
}

/* Remembers in which file each function is, and under which name. */
static void find_homes(struct cf_callgrind *c)
{
    const struct line *l = c->line, *const last = l + c->lines;

    c->homes = cf_need(c->tool, cf_strings_new());
    for (const struct line *end = l; l < last; l = end) {
        const uint32_t number = home_number(c, l->function);

        while (end < last && !strcmp(end->function, l->function))
            end++;
        if (cf_array_cleared(&c->home, &c->home_room, number + (size_t)1, sizeof *c->home) != 0)
            cf_out_of_memory(c->tool);
        if (!c->home[number])
            c->home[number] = home(l, end);
    }
}

/* "fl=" and "fn=", or "cfi=" and "cfn=", of a function that a path has. */
static void print_function(FILE *out, const struct cf_callgrind *c, const char *file,
                           const char *what, const char *name)
{
    const uint32_t number = home_number(c, name);
    const struct line *l = number < c->home_room ? c->home[number] : NULL;

    if (l)
        name = l->function;
    print_name(out, file, l ? l->file : "", l ? l->file_length : 0);
    print_name(out, what, name, strlen(name));
}

static void print_calls(FILE *out, const struct cf_callgrind *c)
{
    struct cf_call call;

    for (size_t i = 0; c->edges && i < cf_calls_get(c->edges, i, &call); i++) {
        putc('\n', out);
        print_function(out, c, "fl", "fn", call.caller);
        print_function(out, c, "cfi", "cfn", call.callee);
        fputs("calls=1 0\n", out); /* how often it was called is not recorded */
        print_sums(out, c, call.sum, "0");
    }
}

/* For cf_tool_file(). */
static int print(const void *what, FILE *out)
{
    const struct cf_callgrind *c = what;
    const struct line *l = c->line, *const last = l + c->lines;

    print_head(out, c);
    while (l < last) {
        const struct line *end = l, *in;
        char number[32];

        while (end < last && !strcmp(end->function, l->function))
            end++;
        in = home(l, end);
        putc('\n', out);
        print_name(out, "fl", in->file, in->file_length);
        print_name(out, "fn", l->function, strlen(l->function));
        for (; l < end; l++) {
            if (by_file(l, in))
                print_name(out, "fi", l->file, l->file_length);
            in = l;
            snprintf(number, sizeof number, "%" PRIu64, l->line);
            print_sums(out, c, l->sum, number);
        }
    }
    print_calls(out, c);
    print_sums(out, c, c->total, "\ntotals:");
    return ferror(out) ? -1 : 0;
}

void cf_callgrind_write(struct cf_callgrind *c, const char *path)
{
    struct cf_ranked ranked, paths;

    if (!c->begun)
        begin(c, NULL);
    cf_sums_remarks(&c->sums);
    ranked = cf_ranking_sort(&c->ranking, 0);
    sort_lines(c, &ranked);
    find_homes(c);
    paths = cf_ranking_sort(&c->paths, 0);
    c->edges = cf_calls_new(c->tool, &paths, c->sums.count);
    if (!cf_reader_refused(c->reader))
        cf_tool_file(c->tool, path, print, c);
    cf_calls_free(c->edges);
    cf_ranked_free(&paths);
    cf_ranked_free(&ranked);
}

void cf_callgrind_free(struct cf_callgrind *c)
{
    cf_strings_free(c->homes);
    free(c->home);
    free(c->line);
    free(c->command);
    cf_ranking_end(&c->paths);
    cf_ranking_end(&c->ranking);
    cf_mix_free(&c->mix);
    free(c);
}
