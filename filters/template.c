/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * template - what a new filter starts from: adds column `set`, the cache set of each access.
 *
 * In: any stream. Out: the same, table access with the column `set` = (addr / line size) mod sets.
 * All other tables and columns pass untouched. Memory: one column of one frame.
 *
 * To make a filter of it: copy it to filters/cf-NAME.c, write filters/cf-NAME.1 and
 * tests/cf-NAME.bats, and add the program to the list in tests/lib.bash. The computation goes to
 * filters/engine/ when another program could need it or when it outgrows a page. A filter that
 * prints a result instead of a stream has no writer: it prints CSV with the functions cf_csv_*()
 * and hands NULL to cf_tool_finish().
 */

#include "formats/stream/cf.h"
#include "formats/program/cf_options.h"

static const char usage[] =
    "Usage: cf-template [OPTION]... [FILE]...\n"
    "Add column 'set' to each access: the number of the cache set that it falls into.\n"
    "With no FILE, or when FILE is -, read standard input.\n"
    "\n"
    "      --sets N          sets of the cache  [64]\n"
    "      --line-size SIZE  bytes of a cache line, a power of two  [64]\n"
    "      --columns A,B     hand on only these columns of accesses, and those that are added\n"
    "  -o, --output FILE     write a packed file instead of standard output\n"
    "  -q, --quiet           no progress\n"
    "  -h, --help, --version, --max-strings SIZE\n"
    "\n"
    "Example:\n"
    "  cf-template --sets 128 trace.cf | cf-cat --csv\n";

struct options {
    const char *output;
    uint32_t sets;
    uint64_t line_size; /* bytes */
};

static void parse(struct cf_tool *t, struct options *o, int argc, char **argv)
{
    const struct cf_option table[] = {
        {"sets", 0, CF_NUMBER(&o->sets, 1, UINT32_MAX)},
        {"line-size", 0, CF_POWER(&o->line_size, 1, UINT64_MAX)},
        {"output", 'o', CF_FILE(&o->output)},
        CF_COLUMNS_OPTION(t),
        CF_END_INPUT_OPTIONS,
    };

    *o = (struct options){.sets = 64, .line_size = 64};
    cf_options_read(t, argc, argv, table);
}

static void find_sets(const struct options *o, const uint64_t *addr, uint32_t *set, uint32_t rows)
{
    unsigned shift = (unsigned)__builtin_ctzll(o->line_size);

    for (uint32_t i = 0; i < rows; i++)
        set[i] = (uint32_t)((addr[i] >> shift) % o->sets);
}

static void run(struct cf_tool *t, const struct options *o, struct cf_reader *r,
                struct cf_writer *w)
{
    uint32_t *set = cf_column_room(t, sizeof(*set));
    struct cf_frame *f;

    /* what readers of the column need to know; a failure shows again when the writer is closed */
    (void)cf_writer_fact(w, "set", "by", t->name);
    (void)cf_writer_number(w, "set", "sets", o->sets);
    (void)cf_writer_number(w, "set", "line_size", o->line_size);
    cf_reader_want(r, CF_ACCESS, CF_ADDR, CF_REQUIRED);
    cf_tool_idle(r, w);
    while (cf_tool_next(t, r, &f) > 0) {
        if (f->table == CF_ACCESS) {
            find_sets(o, cf_u64(f, CF_ADDR), set, f->rows);
            cf_tool_set(t, f, CF_SET, set);
        }
        if (cf_writer_frame(w, f) != 0)
            break; /* cf_tool_finish() reports why */
    }
}

int main(int argc, char **argv)
{
    struct cf_tool t;
    struct options o;
    struct cf_reader *r;
    struct cf_writer *w;

    cf_tool_init(&t, argc, argv, "cf-template", usage);
    parse(&t, &o, argc, argv);
    r = cf_tool_reader(&t, argv + optind, argc - optind);
    w = cf_tool_writer(&t, o.output);
    (void)cf_tool_only(&t, w, (const unsigned[]){CF_SET, 0});
    run(&t, &o, r, w);
    return cf_tool_finish(&t, r, w);
}
