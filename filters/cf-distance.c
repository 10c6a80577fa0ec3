/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf-distance - adds column `dist`: the LRU stack distance (reuse distance) of each access.
 *
 * In: any stream with accesses. Out: the same, table access with the column `dist`, the number of
 * distinct other lines since the last access to the line, or a marker (stack.h). With
 * sampling also `dist_weight`. All other tables and columns pass untouched. How distances are found
 * stands in stack_one.c.
 *
 * Memory: at most 32 bytes a distinct line; 0.9 to 1.3 KiB a stack (one a process, thread or set,
 * where it is asked for); 14 MiB for a frame; 60 bytes a process or thread.
 */
#include <stdlib.h>

#include "filters/engine/distance/stack.h"
#include "filters/engine/rows/cores.h"
#include "filters/engine/rows/gather.h"
#include "filters/engine/rows/groups.h"
#include "formats/program/cf_options.h"

static const char usage[] =
    "Usage: cf-distance [OPTION]... [FILE]...\n"
    "Add column 'dist' to each access: its exact LRU stack distance (reuse distance), in\n"
    "lines. With no FILE, or when FILE is -, read standard input.\n"
    "\n"
    "      --for WHAT        data, fetches, or unified: both in one stack  [data]\n"
    "      --line-size SIZE  bytes of a line, a power of two from 4 to 64K  [64]\n"
    "      --sets N          distance within the set: line modulo N  [1]\n"
    "      --per WHAT        a stack for each process or thread  [one for all]\n"
    "      --bound N         mark distances over N lines as 'beyond', such as 8K\n"
    "      --rate R          sample this part of the lines, such as 0.01 (SHARDS)\n"
    "      --samples N       sample at most N lines, such as 8K, at a falling rate\n"
    "      --columns A,B     hand on only these columns of accesses, and those that are added\n"
    "      --stats           print lines, memory and sampling error on standard error\n"
    "  -o, --output FILE     write a packed file instead of standard output\n"
    "  -q, --quiet           no progress\n"
    "  -h, --help, --version, --max-strings SIZE\n"
    "\n"
    "Examples:\n"
    "  cf-distance trace.cf | cf-mrc > curve.csv\n"
    "  cf-distance --sets 64 --per thread trace.cf | cf-cat --csv\n";

enum per { PER_ALL, PER_PROCESS, PER_THREAD };

struct distance {
    struct cf_tool tool;
    /* options */
    const char *output;
    struct cf_stack_config config;
    enum per per;
    unsigned what;  /* enum cf_runs_option */
    unsigned shift; /* log2 of the line size */
    int sampling, stats;
    /* the work */
    struct cf_stack *stack;
    struct cf_runs *runs;
    struct cf_cores *cores;
    struct cf_groups *units;
    /* of a frame */
    uint64_t *dist;
    double *weight;
    uint32_t *unit;
    uint64_t *thread;
    /* rows of one unit out of many */
    uint32_t *index, *size;
    uint64_t *addr, *part;
    uint8_t *op;
};

static void parse(struct distance *d, int argc, char **argv)
{
    struct cf_stack_config *s = &d->config;
    uint64_t line_size = 64;
    const struct cf_option table[] = {
        {"for", 0, CF_WORD(&d->what, "data fetches unified", CF_RUNS_DATA)},
        {"line-size", 0, CF_POWER(&line_size, 4, 65536)},
        {"sets", 0, CF_NUMBER(&s->sets, 1, 1u << 24)},
        {"per", 0, CF_WORD(&d->per, "process thread", PER_PROCESS)},
        {"bound", 0, CF_NUMBER(&s->max, 1, UINT64_MAX)},
        {"max", 0, CF_OLD("bound")},
        {"rate", 0, CF_FRACTION(&s->rate, 0, 1, CF_ABOVE)},
        {"samples", 0, CF_NUMBER(&s->samples, 64, 1 << 30)},
        {"stats", 0, CF_FLAG(&d->stats)},
        CF_COLUMNS_OPTION(&d->tool),
        {"output", 'o', CF_TEXT(&d->output)},
        CF_END_INPUT_OPTIONS,
    };

    d->what = CF_RUNS_DATA;
    cf_options_read(&d->tool, argc, argv, table);
    d->shift = (unsigned)__builtin_ctzll(line_size);
    d->sampling = d->config.rate > 0 || d->config.samples;
    if (d->config.sets > 1 && d->sampling)
        cf_die(&d->tool, CF_EXIT_USAGE,
               "--sets does not go with --rate and --samples: a set has too few lines to sample");
}

static void prepare(struct distance *d)
{
    d->stack = cf_need(&d->tool, cf_stack_new(&d->config));
    d->runs = cf_need(&d->tool, cf_runs_new(d->shift, d->what, CF_WIRE_ROWS));
    d->cores = cf_need(&d->tool, cf_cores_new(1));
    d->units = cf_need(&d->tool, cf_groups_new());
    d->dist = cf_column_room(&d->tool, sizeof(*d->dist));
    if (d->sampling)
        d->weight = cf_column_room(&d->tool, sizeof(*d->weight));
    for (uint32_t i = 0; d->weight && i < CF_FILE_ROWS;)
        d->weight[i++] = 1; /* of a rate of 1, which the stack takes for no sampling */
    if (d->per == PER_ALL)
        return;
    d->unit = cf_column_room(&d->tool, sizeof(*d->unit));
    d->thread = cf_column_room(&d->tool, sizeof(*d->thread));
    d->index = cf_column_room(&d->tool, sizeof(*d->index));
    d->addr = cf_column_room(&d->tool, sizeof(*d->addr));
    d->part = cf_column_room(&d->tool, sizeof(*d->part));
    d->size = cf_column_room(&d->tool, sizeof(*d->size));
    d->op = cf_column_room(&d->tool, sizeof(*d->op));
}

static void release(struct distance *d)
{
    cf_stack_free(d->stack);
    cf_runs_free(d->runs);
    cf_cores_free(d->cores);
    cf_groups_free(d->units);
}

/* ---- distances of a frame: in one stack, in which a process is a space, or in one a unit ---- */

/* Rows from `at` up to `to`, of one unit and space. Taken in shares that stay in the cache. */
static void rows(struct distance *d, uint32_t unit, const uint64_t *addr, const uint8_t *op,
                 const uint32_t *size, uint32_t at, uint32_t to, uint64_t space, uint64_t *dist,
                 double *weight)
{
    for (uint32_t n; at < to; at += n) {
        n = to - at < CF_WIRE_ROWS ? to - at : CF_WIRE_ROWS;
        if (cf_stack_rows(d->stack, d->runs, unit, addr + at, op ? op + at : NULL,
                          size ? size + at : NULL, n, space, dist + at,
                          weight ? weight + at : NULL) != 0)
            cf_die(&d->tool, CF_EXIT_ENVIRONMENT, "out of memory, or over 2^31 lines");
    }
}

/* The same of a frame. */
static void piece(struct distance *d, const struct cf_frame *f, uint32_t unit, uint32_t from,
                  uint32_t to, uint64_t space)
{
    rows(d, unit, cf_u64(f, CF_ADDR), cf_u8(f, CF_OP), cf_u32(f, CF_SIZE), from, to, space, d->dist,
         d->weight);
}

static void stacks_one(struct distance *d, const struct cf_frame *f)
{
    for (uint32_t from = 0, to; from < f->rows; from = to) {
        uint32_t core;
        uint64_t space;

        to = cf_cores_next(d->cores, f, from, f->rows, &core, &space);
        cf_must(&d->tool, !to);
        piece(d, f, 0, from, to, space);
    }
}

/* Numbers the processes or threads of the rows; returns how many pieces of one unit there are. */
static uint32_t find_units(struct distance *d, const struct cf_frame *f)
{
    const uint32_t *pid = cf_u32(f, CF_PID), *tid = cf_u32(f, CF_TID);
    uint32_t pieces = 1;
    int status;

    for (uint32_t i = 0; i < f->rows; i++)
        d->thread[i] = (uint64_t)(pid ? pid[i] : 0) << 32 | (d->per == PER_THREAD ? tid[i] : 0);
    status = cf_groups_number(d->units, d->thread, sizeof(*d->thread), f->rows, d->unit);
    cf_must(&d->tool, status < 0);
    if (status > 0)
        cf_die(&d->tool, CF_EXIT_ENVIRONMENT,
               "more than %d processes or threads: take a part with cf-select", CF_GROUPS_MOST);
    for (uint32_t i = 1; i < f->rows; i++)
        pieces += d->unit[i] != d->unit[i - 1];
    return pieces;
}

/* Where units take turns at every few rows: the rows of each at once, unit by unit. */
static void gathered(struct distance *d, const struct cf_frame *f)
{
    const uint64_t *addr = cf_u64(f, CF_ADDR);
    const uint8_t *op = cf_u8(f, CF_OP);
    const uint32_t *size = cf_u32(f, CF_SIZE);
    const uint32_t units = cf_groups_count(d->units);
    uint32_t *end = cf_need(&d->tool, calloc((size_t)units + 1, sizeof(*end)));

    for (uint32_t i = 0; i < f->rows; i++)
        end[d->unit[i] + 1]++;
    for (uint32_t u = 0; u < units; u++)
        end[u + 1] += end[u];
    for (uint32_t i = 0; i < f->rows; i++)
        d->index[end[d->unit[i]]++] = i;
    cf_gather_values(d->addr, addr, sizeof(*addr), d->index, f->rows);
    if (op)
        cf_gather_values(d->op, op, sizeof(*op), d->index, f->rows);
    if (size)
        cf_gather_values(d->size, size, sizeof(*size), d->index, f->rows);
    for (uint32_t u = 0, from = 0; u < units; from = end[u++])
        rows(d, u, d->addr, op ? d->op : NULL, size ? d->size : NULL, from, end[u], 0, d->part,
             NULL);
    for (uint32_t i = 0; i < f->rows; i++)
        d->dist[d->index[i]] = d->part[i];
    free(end);
}

static void stacks_units(struct distance *d, const struct cf_frame *f)
{
    enum { SHORT = 256 };

    /* a sample's rate depends on the order of all rows */
    if (find_units(d, f) > f->rows / SHORT + 1 && !d->sampling) {
        gathered(d, f);
        return;
    }
    for (uint32_t from = 0, to; from < f->rows; from = to) {
        for (to = from + 1; to < f->rows && d->unit[to] == d->unit[from];)
            to++;
        piece(d, f, d->unit[from], from, to, 0);
    }
}

/* A failure shows again when the writer is closed. */
static void state_facts(const struct distance *d, struct cf_writer *w)
{
    (void)cf_writer_fact(w, "dist", "by", d->tool.name);
    (void)cf_writer_number(w, "dist", "line_size", (uint64_t)1 << d->shift);
    (void)cf_writer_number(w, "dist", "sets", d->config.sets ? d->config.sets : 1);
    (void)cf_writer_number(w, "dist", "bound", d->config.max);
}

static void run(struct distance *d, struct cf_reader *r, struct cf_writer *w)
{
    struct cf_frame *f;

    cf_reader_want(r, CF_ACCESS, CF_ADDR, CF_REQUIRED);
    cf_reader_want(r, CF_ACCESS, CF_OP, d->what == CF_RUNS_FETCHES ? CF_REQUIRED : CF_OPTIONAL);
    cf_reader_want(r, CF_ACCESS, CF_SIZE, CF_OPTIONAL);
    cf_reader_want(r, CF_ACCESS, CF_PID, d->per == PER_PROCESS ? CF_REQUIRED : CF_OPTIONAL);
    if (d->per == PER_THREAD)
        cf_reader_want(r, CF_ACCESS, CF_TID, CF_REQUIRED);
    cf_tool_idle(r, w);
    while (cf_tool_next(&d->tool, r, &f) > 0) {
        if (f->table == CF_ACCESS && f->rows) {
            (d->per == PER_ALL ? stacks_one : stacks_units)(d, f);
            /* that of an earlier cf-distance, which is not true of the new distances */
            cf_frame_drop(f, CF_DIST_WEIGHT);
            cf_tool_set(&d->tool, f, CF_DIST, d->dist);
            if (d->sampling)
                cf_tool_set(&d->tool, f, CF_DIST_WEIGHT, d->weight);
        }
        if (cf_writer_frame(w, f) != 0)
            break; /* cf_tool_finish() reports why */
    }
}

static void print_stats(const struct distance *d)
{
    struct cf_stack_stats s;

    cf_stack_stats(d->stack, &s);
    fprintf(stderr,
            "cf-distance: %llu references to lines, %llu first ones, %llu lines kept, "
            "%.1f bytes each, %llu bytes in all\n",
            (unsigned long long)s.references, (unsigned long long)s.compulsory,
            (unsigned long long)s.lines, s.lines ? (double)s.line_bytes / (double)s.lines : 0.0,
            (unsigned long long)s.bytes);
    if (d->sampling)
        fprintf(stderr,
                "cf-distance: rate %.6g, %llu references sampled, %.0f expected; standard error of "
                "a miss ratio at most %.5f (caches from %llu lines)\n",
                s.rate, (unsigned long long)s.sampled, s.expected, s.error,
                (unsigned long long)s.error_from);
}

int main(int argc, char **argv)
{
    static struct distance d;
    struct cf_reader *r;
    struct cf_writer *w;
    int status;

    cf_tool_init(&d.tool, argc, argv, "cf-distance", usage);
    parse(&d, argc, argv);
    r = cf_tool_reader(&d.tool, argv + optind, argc - optind);
    w = cf_tool_writer(&d.tool, d.output);
    (void)cf_tool_only(&d.tool, w, (const unsigned[]){CF_DIST, CF_DIST_WEIGHT, 0});
    state_facts(&d, w);
    prepare(&d);
    run(&d, r, w);
    status = cf_tool_finish(&d.tool, r, w);
    if (d.stats)
        print_stats(&d);
    release(&d);
    return status;
}
