/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf-select - keeps the accesses (and cache lines) that fulfil all of the given conditions.
 *
 * In: any stream. Out: the same with fewer rows of the tables access and line; all columns, also
 * those that we do not know; every other table untouched, so that what is left still resolves.
 *
 * Per frame a mask of one byte a row is made without branches, then the row numbers, then each
 * column is gathered. Frames that are kept whole go on as they came, and rows of the others are
 * collected until they fill a frame. Memory: one frame, its shorter copy, the frame that is being
 * filled, and 128 KiB for verdicts on the strings of each column that patterns are for.
 */
#include <errno.h>
#include <string.h>

#include "formats/together/cf_made.h"
#include "formats/program/cf_options.h"
#include "filters/engine/rows/gather.h"
#include "filters/parts/select/conditions.h"

static const char usage[] =
    "Usage: cf-select [OPTION]... [FILE]...\n"
    "Keep only the accesses that meet all conditions. An option that is given again adds an\n"
    "alternative. With no FILE, or when FILE is -, read standard input.\n"
    "\n"
    "      --op LIST         load, store, ifetch, prefetch, flush; several with commas\n"
    "      --pid LIST        processes\n"
    "      --tid LIST        threads\n"
    "      --cpu LIST        processors\n"
    "      --addr A-B        virtual address (of the first byte) from A to B, both included;\n"
    "                        also A+LENGTH, A-, -B, A\n"
    "      --pc A-B          address of the instruction\n"
    "      --time A-B        time, in units of the stream's clock; or of a stored file as\n"
    "                        10%-20% of its time\n"
    "      --size A-B        bytes accessed\n"
    "      --region GLOB     mapping, such as '*libc*'\n"
    "      --function GLOB, --source GLOB  of the instruction, such as 'main' and '*/sort.c:*'\n"
    "      --symbol GLOB     global variable\n"
    "      --object LIST     heap objects, by number; --site GLOB, where they were allocated\n"
    "                        (all these after cf-resolve)\n"
    "      --class LIST      compulsory, capacity, conflict, ...; none  (after cf-classify)\n"
    "      --hit LIST        levels that served the access; memory  (after cf-cache)\n"
    "      --invert          keep only the accesses that do not meet the conditions\n"
    "      --columns A,B     hand on only these columns of accesses\n"
    "  -o, --output FILE     write a packed file instead of standard output\n"
    "  -q, --quiet           no progress\n"
    "  -h, --help, --version, --max-strings SIZE\n"
    "\n"
    "Examples:\n"
    "  cf-select --op store --region '*heap*' resolved.cf | cf-rank --by source\n"
    "  cf-select --addr 0x1000-0x1fff --addr 0x8000+4096 trace.cf -o two-pages.cf\n";

struct select {
    struct cf_tool tool;
    const char *output;
    int invert, timed; /* timed: rows of other times may not even be read */
    struct conditions conditions;
    struct cf_mix clock; /* of the segments, where conditions ask for times */
    struct cf_reader *reader;
    struct cf_writer *writer;
    struct cf_gather *access, *line; /* rows that are being collected */
    uint64_t rows, kept;             /* of table access and line */
    int blob_warned, applied;        /* applied: a condition, to some row */
};

static void parse(struct select *s, int argc, char **argv)
{
    const struct cf_option table[] = {
        {"op", 0, CF_CALL(conditions_add, &s->conditions)},
        {"pid", 0, CF_CALL(conditions_add, &s->conditions)},
        {"tid", 0, CF_CALL(conditions_add, &s->conditions)},
        {"cpu", 0, CF_CALL(conditions_add, &s->conditions)},
        {"addr", 0, CF_CALL(conditions_add, &s->conditions)},
        {"pc", 0, CF_CALL(conditions_add, &s->conditions)},
        {"time", 0, CF_CALL(conditions_add, &s->conditions)},
        {"size", 0, CF_CALL(conditions_add, &s->conditions)},
        {"region", 0, CF_CALL(conditions_add, &s->conditions)},
        {"function", 0, CF_CALL(conditions_add, &s->conditions)},
        {"source", 0, CF_CALL(conditions_add, &s->conditions)},
        {"symbol", 0, CF_CALL(conditions_add, &s->conditions)},
        {"object", 0, CF_CALL(conditions_add, &s->conditions)},
        {"site", 0, CF_CALL(conditions_add, &s->conditions)},
        {"class", 0, CF_CALL(conditions_add, &s->conditions)},
        {"hit", 0, CF_CALL(conditions_add, &s->conditions)},
        {"invert", 0, CF_FLAG(&s->invert)},
        {"output", 'o', CF_FILE(&s->output)},
        CF_COLUMNS_OPTION(&s->tool),
        CF_END_INPUT_OPTIONS,
    };

    cf_options_read(&s->tool, argc, argv, table);
    if (s->conditions.tests == 0)
        cf_die(&s->tool, CF_EXIT_USAGE, "no condition: give one, such as --op load");
}

static int select_rows(struct select *s, struct cf_frame *f)
{
    struct cf_gather *g = f->table == CF_ACCESS ? s->access : s->line;
    uint8_t *mask = cf_need(&s->tool, cf_gather_mask(g, f->rows));
    uint32_t kept = f->rows;

    /* with --columns nothing was asked for of lines */
    if (f->table == CF_LINE && cf_frame_all(f) != 0)
        return 0;
    if (conditions_mask(&s->conditions, s->reader, f, mask) != 0) {
        s->applied = 1;
        for (uint32_t i = 0; s->invert && i < f->rows; i++)
            mask[i] ^= 1;
        kept = cf_gather_count(mask, f->rows);
    }

    s->rows += f->rows;
    s->kept += kept;
    if (kept == f->rows)
        return cf_gather_flush(g) != 0 ? -1 : cf_writer_frame(s->writer, f);
    for (unsigned i = 0; i < f->columns && kept && !s->blob_warned; i++) {
        if (f->column[i].type == CF_BLOB && f->column[i].id != CF_CODE) {
            cf_warn(&s->tool, "column %u is no value a row: left out where rows are dropped",
                    f->column[i].id);
            s->blob_warned = 1;
        }
    }
    return cf_gather_rows(g, f, mask);
}

static int send(void *writer, struct cf_frame *f)
{
    return cf_writer_frame(writer, f);
}

static int flush(struct select *s)
{
    return cf_gather_flush(s->access) != 0 || cf_gather_flush(s->line) != 0 ? -1 : 0;
}

/* Nothing comes at the moment. A failure shows again when the writer is closed. */
static void idle(void *arg)
{
    struct select *s = arg;

    if (flush(s) == 0)
        (void)cf_writer_flush(s->writer);
}

static void run(struct select *s)
{
    struct cf_frame *f;
    int bad = 0;

    errno = 0;
    while (!bad && cf_tool_next(&s->tool, s->reader, &f) > 0) {
        if (f->table == CF_HEADER) {
            bad = flush(s);
            conditions_forget(&s->conditions);
            cf_mix_check(&s->clock, &s->tool, f->header);
            if (!conditions_cpus_alone(&s->conditions))
                cf_made_outdate(f->header, s->writer);
        }
        if (f->table == CF_ACCESS || f->table == CF_LINE)
            bad = select_rows(s, f);
        else if (!bad)
            bad = cf_writer_frame(s->writer, f);
    }
    if (!bad)
        bad = flush(s);
    if (bad && errno == ENOMEM)
        cf_out_of_memory(&s->tool);
    if (!bad && s->timed && !s->kept && !s->tool.quiet)
        cf_warn(&s->tool, "nothing was selected; cf-cat --info prints the first and last time");
    else if (!bad && s->rows && !s->kept && !s->tool.quiet)
        cf_warn(&s->tool, "nothing was selected out of %llu rows", (unsigned long long)s->rows);
    else if (!bad && s->rows && !s->applied && s->conditions.tests && !s->tool.quiet)
        cf_warn(&s->tool, "all there is are cached lines without a column of the conditions: all "
                          "are kept");
}

int main(int argc, char **argv)
{
    static struct select s;
    const unsigned *listed;

    cf_tool_init(&s.tool, argc, argv, "cf-select", usage);
    parse(&s, argc, argv);
    s.reader = cf_tool_reader(&s.tool, argv + optind, argc - optind);
    s.writer = cf_tool_writer(&s.tool, s.output);
    listed = cf_tool_only(&s.tool, s.writer, (const unsigned[]){0});
    s.access = cf_need(&s.tool, cf_gather_new(send, s.writer));
    s.line = cf_need(&s.tool, cf_gather_new(send, s.writer));
    /* a row that is kept takes all of its columns along */
    if (listed)
        cf_reader_want_list(s.reader, CF_ACCESS, CF_OPTIONAL, listed);
    else
        cf_reader_want_all(s.reader);
    s.clock.column[0] = conditions_timed(&s.conditions) ? CF_TIME : 0;
    s.timed = conditions_begin(&s.conditions, &s.tool, s.reader, s.invert);
    cf_reader_want(s.reader, CF_LINE, 0, CF_REQUIRED); /* is chosen from, too */
    cf_reader_idle(s.reader, idle, &s);
    run(&s);
    cf_gather_free(s.access);
    cf_gather_free(s.line);
    cf_mix_free(&s.clock);
    return cf_tool_finish(&s.tool, s.reader, s.writer);
}
