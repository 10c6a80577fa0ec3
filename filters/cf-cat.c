/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf-cat - concatenates streams, packs them into a file, cuts a time span out of them, prints
 * them as CSV or in full, checks them, and prints what they hold.
 *
 * In: any streams. Out: their segments one after the other, untouched, or text on standard output.
 * Memory: one frame, and the dictionary of the segment.
 */
#include <errno.h>
#include <stdio_ext.h>

#include "filters/parts/cat/cat.h"
#include "formats/together/cf_made.h"
#include "formats/program/cf_rows.h"
#include "formats/program/cf_options.h"

static const char usage[] =
    "Usage: cf-cat [OPTION]... [FILE]...\n"
    "Concatenate streams, or print what they hold.\n"
    "With no FILE, or when FILE is -, read standard input.\n"
    "\n"
    "  -o, --output FILE    write a packed file instead of standard output\n"
    "      --columns A,B    of accesses only these columns, such as addr,op\n"
    "      --slice A-B      only what happened from time A to time B, both included, or\n"
    "                       10%-20% of the time; earlier mappings, objects, tasks are kept\n"
    "      --part I/N       only the I-th of N parts of a packed file; what later rows need is\n"
    "                       in each of them\n"
    "\n"
    "Instead of a stream, text on standard output:\n"
    "      --csv            a table as CSV, which cf-capture csv reads back\n"
    "      --json           the same as an object a row\n"
    "      --table NAME     of these: this table, by name or number  [access]\n"
    "      --columns A,B    of these: these columns  [those of the table's first frame]\n"
    "      --decimal        of these: addresses as decimal numbers, as pandas and databases read\n"
    "      --dump           headers, dictionary, every frame with its columns and rows\n"
    "  -n, --rows N         with --dump: at most N rows of each frame  [10]\n"
    "      --verify         decode everything and print 'FILE: ok, ...' or the first damage\n"
    "      --info           header, programs that wrote it, rows, time span, bytes per row\n"
    "\n"
    "  -q, --quiet          no progress\n"
    "  -h, --help, --version, --max-strings SIZE\n"
    "\n"
    "Examples:\n"
    "  cf-cat a.cf b.cf -o both.cf\n"
    "  cf-cat --csv --table map trace.cf\n"
    "  cf-cat --slice 1000000-2000000 trace.cf | cf-resolve | cf-rank --by function\n";

enum mode { STREAM, CSV, DUMP, VERIFY, INFO };

struct options {
    enum mode mode;
    const char *output, *table, *columns;
    int sliced, decimal;
    struct cf_part_option part;
    struct cf_span slice;
    uint64_t rows;
};

static void set_slice(const struct cf_tool *t, void *slice, const char *option, char *text)
{
    cf_parse_span(t, option, text, slice);
}

static void parse(struct cf_tool *t, struct options *o, int argc, char **argv)
{
    int rows_given = 0, csv = 0, json = 0, dump = 0, verify = 0, info = 0;
    const struct cf_option table[] = {
        {"output", 'o', CF_FILE(&o->output)},
        {"slice", 0, CF_CALL(set_slice, &o->slice), .given = &o->sliced},
        {"part", 0, CF_CALL(cf_parse_part, &o->part)},
        {"csv", 0, CF_FLAG(&csv)},
        {"json", 0, CF_FLAG(&json)},
        {"table", 0, CF_TEXT(&o->table)},
        {"columns", 0, CF_TEXT(&o->columns)},
        {"decimal", 0, CF_FLAG(&o->decimal)},
        {"dump", 0, CF_FLAG(&dump)},
        {"rows", 'n', CF_NUMBER(&o->rows, 0, UINT64_MAX), .given = &rows_given},
        {"verify", 0, CF_FLAG(&verify)},
        {"info", 0, CF_FLAG(&info)},
        CF_END_INPUT_OPTIONS,
    };

    *o = (struct options){.rows = 10};
    cf_options_read(t, argc, argv, table);
    if (csv + json + dump + verify + info > 1)
        cf_die(t, CF_EXIT_USAGE, "give only one of --csv, --json, --dump, --verify and --info");
    if (json)
        t->form = CF_OPT_JSON;
    o->mode = csv || json ? CSV : dump ? DUMP : verify ? VERIFY : info ? INFO : STREAM;
    if ((o->table || o->decimal) && o->mode != CSV)
        cf_die(t, CF_EXIT_USAGE, "--table and --decimal belong to --csv and --json");
    if (o->columns && o->mode != CSV && o->mode != STREAM)
        cf_die(t, CF_EXIT_USAGE, "--columns is for streams, --csv and --json");
    if (rows_given && o->mode != DUMP)
        cf_die(t, CF_EXIT_USAGE, "--rows belongs to --dump");
    if (o->output && o->mode != STREAM)
        cf_die(t, CF_EXIT_USAGE, "-o is for streams: redirect the text of the other modes");
    if (o->sliced && (o->mode == VERIFY || o->mode == INFO))
        cf_die(t, CF_EXIT_USAGE, "--slice does not go with --verify or --info");
    if (o->part.parts && (o->sliced || o->mode == VERIFY || o->mode == INFO))
        cf_die(t, CF_EXIT_USAGE, "--part does not go with --slice, --verify or --info");
}

/* --verify and --info look at each input for itself. */
static int inspect(struct cf_tool *t, const struct options *o, char **files, int count)
{
    static char standard[] = "-";
    char *const only[] = {standard};

    for (int i = 0; i < (count ? count : 1); i++) {
        char *const *file = count ? (char *const *)&files[i] : only;

        (o->mode == VERIFY ? verify_file : info_file)(t, file);
    }
    return cf_tool_finish(t, NULL, NULL);
}

struct output {
    struct cf_tool *tool;
    const struct options *options;
    struct cf_reader *reader;
    struct cf_writer *writer;
    struct csv *csv;
    struct slice *slice;
    struct cf_mix clock; /* of the segments, for a slice */
};

static int send(void *arg, struct cf_frame *f)
{
    struct output *out = arg;

    if (out->writer)
        return cf_writer_frame(out->writer, f);
    if (out->csv)
        csv_frame(out->csv, out->reader, f);
    else
        dump_frame(out->reader, f, out->options->rows);
    return ferror(stdout) ? -1 : 0;
}

/* A failure shows again at the end. */
static void flush(void *arg)
{
    struct output *out = arg;
    int bad = out->slice && slice_flush(out->slice) != 0;

    if (out->writer && !bad)
        (void)cf_writer_flush(out->writer);
    else if (!bad && fflush(stdout) == 0)
        (void)cf_rows_flush();
}

static void run(struct output *out)
{
    struct cf_frame *f;
    int bad = 0;

    errno = 0;
    while (!bad && cf_tool_next(out->tool, out->reader, &f) > 0) {
        /* lines have no time of their own, so from here on the reader cannot leave out any */
        if (out->slice && f->table == CF_SNAPSHOT)
            cf_reader_range(out->reader, 0, UINT64_MAX);
        if (f->table == CF_HEADER)
            cf_mix_check(&out->clock, out->tool, f->header);
        if ((out->options->slice.from || out->options->part.parts) && out->writer &&
            f->table == CF_HEADER)
            cf_made_outdate(f->header, out->writer);
        bad = out->slice ? slice_frame(out->slice, f) : send(out, f);
        if (!bad && out->slice && !out->writer)
            bad = slice_flush(out->slice); /* text needs the strings of this segment */
    }
    if (!bad && out->slice)
        bad = slice_flush(out->slice);
    if (bad && errno == ENOMEM)
        cf_out_of_memory(out->tool);
}

int main(int argc, char **argv)
{
    struct cf_tool t;
    struct options o;
    struct output out = {.tool = &t, .options = &o};

    cf_tool_init(&t, argc, argv, "cf-cat", usage);
    parse(&t, &o, argc, argv);
    if (o.mode == VERIFY || o.mode == INFO)
        return inspect(&t, &o, argv + optind, argc - optind);
    out.reader = cf_tool_reader(&t, argv + optind, argc - optind);
    cf_reader_partials(out.reader);
    if (o.part.parts)
        cf_tool_part(&t, out.reader, "--part", o.part.number, o.part.parts);
    cf_reader_idle(out.reader, flush, &out);
    if (o.sliced || o.mode != STREAM)
        cf_reader_want_all(out.reader);
    if (o.mode == CSV && !o.sliced)
        cf_reader_pieces(out.reader);
    if (o.mode == STREAM) {
        out.writer = cf_tool_writer(&t, o.output);
        t.columns = o.columns;
        (void)cf_tool_only(&t, out.writer, (const unsigned[]){0});
    } else {
        if (cf_rows_json(&t))
            cf_rows_begin(&t);
        /* a lock a field is a third of the time of --csv */
        __fsetlocking(stdout, FSETLOCKING_BYCALLER);
        setvbuf(stdout, NULL, _IOFBF, 1 << 16);
    }
    if (o.mode == CSV)
        out.csv = csv_new(&t, o.table ? o.table : "access", o.columns, o.decimal);
    if (o.sliced) {
        out.clock.column[0] = CF_TIME;
        cf_reader_want(out.reader, CF_ACCESS, CF_TIME, CF_REQUIRED);
        cf_reader_want(out.reader, CF_LINE, 0, CF_REQUIRED); /* other recordings are cut, too, */
        cf_reader_want(out.reader, CF_PAGE, 0, CF_REQUIRED); /* or kept whole */
        cf_reader_want(out.reader, CF_PROBE, 0, CF_REQUIRED);
        cf_tool_span(&t, out.reader, "--slice", &o.slice);
        out.slice = cf_need(&t, slice_new(o.slice.from, o.slice.to, send, &out));
        cf_reader_range(out.reader, o.slice.from, o.slice.to);
    }
    run(&out);
    if (out.csv)
        csv_end(out.csv);
    slice_free(out.slice);
    cf_mix_free(&out.clock);
    return cf_tool_finish(&t, out.reader, out.writer);
}
