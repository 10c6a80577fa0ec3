/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf-export - writes a stream in forms that other programs read: profiles for KCachegrind, JSON
 * Lines, and a folder of NumPy arrays.
 *
 * In: any stream. Out: a file, a folder, or text on standard output. Memory: one frame and the
 * strings, and of a profile its source lines, however long the stream is.
 */
#include <string.h>

#include "filters/parts/export/export.h"
#include "filters/ranking/callgrind.h"
#include "formats/program/cf_options.h"

static const char usage[] =
    "Usage: cf-export --format FORMAT [OPTION]... [FILE]...\n"
    "Write a stream in a form that other programs read.\n"
    "With no FILE, or when FILE is -, read standard input.\n"
    "\n"
    "      --format FORMAT   callgrind: accesses and misses of each source line, for KCachegrind\n"
    "                        jsonl: a JSON object a row, for DuckDB, jq and data frames\n"
    "                        npy: a folder with a NumPy array for each column\n"
    "  -o, --output FILE     write this file, or with npy this folder  [standard output]\n"
    "      --table NAME      this table only, such as map  [jsonl: access; npy: all]\n"
    "  -q, --quiet           no progress\n"
    "  -h, --help, --version, --max-strings SIZE\n"
    "\n"
    "Examples:\n"
    "  cf-export --format npy -o columns trace.cf\n"
    "  cf-resolve trace.cf | cf-cache -m host | cf-export --format callgrind -o callgrind.out\n";

static int export_callgrind(struct export *e)
{
    struct cf_callgrind *c = cf_callgrind_new(e->tool, e->reader);
    struct cf_frame *f;

    while (cf_tool_next(e->tool, e->reader, &f) > 0)
        cf_callgrind_frame(c, f);
    cf_tool_fit(e->tool, e->reader);
    cf_callgrind_write(c, e->output ? e->output : "-");
    cf_callgrind_free(c);
    return CF_EXIT_OK;
}

static const struct form {
    const char *name;
    int (*run)(struct export *e);
} forms[] = {
    {"callgrind", export_callgrind},
    {"jsonl", export_jsonl},
    {"npy", export_npy},
};

enum { FORMS = sizeof forms / sizeof forms[0] };

static void set_format(const struct cf_tool *t, void *form, const char *option, char *text)
{
    *(const struct form **)form =
        &forms[cf_parse_name(t, option, text, forms, sizeof *forms, FORMS)];
}

static const struct form *parse(struct cf_tool *t, struct export *e, int argc, char **argv)
{
    const struct form *form = NULL;
    const struct cf_option table[] = {
        {"format", 0, CF_CALL(set_format, &form)},
        {"output", 'o', CF_FILE(&e->output)},
        {"table", 0, CF_TEXT(&e->table)},
        CF_END_INPUT_OPTIONS,
    };

    cf_options_read(t, argc, argv, table);
    if (!form)
        cf_die(t, CF_EXIT_USAGE, "no format: give one, such as --format npy: see --help");
    if (form->run == export_callgrind && e->table)
        cf_die(t, CF_EXIT_USAGE, "--table does not go with --format callgrind");
    if (form->run == export_npy && (!e->output || !strcmp(e->output, "-")))
        cf_die(t, CF_EXIT_USAGE, "--format npy: is a folder: name it with -o");
    return form;
}

int main(int argc, char **argv)
{
    static struct cf_tool tool;
    struct export e = {.tool = &tool};
    const struct form *form;

    cf_tool_init(&tool, argc, argv, "cf-export", usage);
    form = parse(&tool, &e, argc, argv);
    e.reader = cf_tool_reader(&tool, argv + optind, argc - optind);
    cf_tool_note(&tool, form->run(&e));
    return cf_tool_finish(&tool, e.reader, NULL);
}
