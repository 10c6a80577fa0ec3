/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf-rank - ranks pages, objects, functions, threads, ... by accesses, bytes, misses or cost, with
 * shares, the cumulative curve, its knee and the working set.
 *
 * In: any stream, where keys other than addresses and threads need cf-resolve. Out: CSV, or a
 * table on a terminal. Memory: one counter a distinct key, 8 bytes for strings and up to 85 for
 * other keys; by object also the objects that live or were counted.
 */
#include <stdlib.h>

#include "filters/parts/rank/rank.h"
#include "formats/program/cf_rows.h"

static const char usage[] =
    "Usage: cf-rank [OPTION]... [FILE]...\n"
    "Rank functions, source lines, pages, heap objects, ... by accesses, misses or cost: CSV, or\n"
    "a table on a terminal. With no FILE, or when FILE is -, read standard input.\n"
    "\n"
    "      --by KEY,...     page, region, object, site, source, function, symbol (these after\n"
    "                       cf-resolve), stack (the same: calls, as main;f;g), thread,\n"
    "                       process, cache-line, set (of the cache of -m at --level, or its\n"
    "                       first), address, op, class, hit (the level that served it);\n"
    "                       several make one key of up to 5 parts  [function]\n"
    "  -m, --machine MACHINE  for --by set\n"
    "      --value VALUE,...  accesses, bytes, loads, stores, misses, hits, ratio (misses an\n"
    "                       access), cost (cycles, of column cost), fetches (instructions),\n"
    "                       the misses of a level, l1-misses to l4-misses, or of a class:\n"
    "                       compulsory, conflict, ...  [accesses]; or gain: of table page,\n"
    "                       with --by page, --wss PERCENT [2], --against PROFILE, --of COLUMN\n"
    "      --sort VALUE     the greatest of this one first  [the first of --value]\n"
    "      --op LIST        count these operations  [load,store; for fetches ifetch]\n"
    "      --level N        a miss is an access that no level up to N served  [one that memory\n"
    "                       served; with column class: one that has a class]\n"
    "      --class LIST     count misses of these classes: compulsory, conflict, ...\n"
    "      --dist LINES     a miss is what a fully associative cache of LINES lines misses,\n"
    "                       by column dist\n"
    "      --line-size SIZE, --page-size SIZE  bytes of a line [64], of a page [as stated]\n"
    "  -n, --top N          print the first N only  [20 on a terminal, else all]\n"
    "      --cover[=LIST]   print how many keys make up LIST percent instead  [90,95,99]\n"
    "      --before FILE    compare with this recording; what changed most first\n"
    "      --before-source-dir DIR, --source-dir DIR  source files then and now\n"
    "      --fail-above PERCENT  with it: exit with 1 where the sum grew by more\n"
    "      --partial        write a result that cf-rank joins with those of other parts\n"
    "  -j, --jobs N         N processes, each on a part of the packed files  [1]\n"
    "      --csv, --term, --json  the form of the output  [a table on a terminal, else CSV]\n"
    "      --picture FILE   also bars of at most 40, .png, .svg or .pdf; - is PNG on standard\n"
    "                       output, then without CSV; --html FILE: a page for a browser\n"
    "      --picture-size WxH, --title TEXT  [900x500 pixels, its own; '' for none]\n"
    "  -q, --quiet          no message about the knee, no progress\n"
    "  -h, --help, --version, --max-strings SIZE\n"
    "\n"
    "Example:\n"
    "  cf-resolve trace.cf | cf-cache -m raspberry-pi-4 |\n"
    "    cf-rank --by function,source --value accesses,misses,ratio --sort misses --top 10\n";

static void count(struct rank *k, char *const *files, int number, struct cf_ranked *r)
{
    struct cf_partial *p = k->c.partial;

    k->c.reader = p ? cf_partial_reader(p, files, number) : cf_tool_reader(k->tool, files, number);
    k->c.sums = &k->sums;
    cf_ranking_read(&k->c, &k->mix);
    if (!p || !p->asked)
        *r = cf_ranking_sort(&k->c, k->o.sort);
}

static void release(struct rank *k, struct cf_ranked *r)
{
    cf_ranked_free(r);
    cf_ranking_end(&k->c);
    if (k->c.sources)
        cf_sources_free(k->c.sources);
}

int main(int argc, char **argv)
{
    static struct cf_tool tool;
    static struct rank k, old;
    struct cf_ranked now = {.count = 0}, before = {.count = 0};
    char *const *files;
    int number, nothing; /* no access of a recording has what the sums need: there is no ranking */

    k.tool = &tool;
    cf_tool_init(&tool, argc, argv, "cf-rank", usage);
    rank_options(&k, argc, argv);
    number = argc - optind;
    if (k.o.gain) {
        rank_profile(&k, argv + optind, argc - optind);
        cf_mix_free(&k.mix);
        return cf_tool_finish(&tool, NULL, NULL);
    }
    files = cf_partial_share(&k.partial, argv + optind, &number);
    old = k;
    old.c.partial = NULL;
    if (k.c.sources)
        old.c.sources =
            cf_sources_new(&tool, "--before-source-dir", k.o.before_dir, k.o.before_dirs);
    if (old.o.before)
        count(&old, (char *const *)&old.o.before, 1, &before);
    k.mix = old.mix; /* so that it is told when these were made of other machines */
    k.sums.missed_before = old.sums.missed_by;
    count(&k, files, number, &now);
    if (k.partial.asked) {
        cf_ranking_write(&k.c);
        return cf_partial_finish(&k.partial);
    }
    nothing = (k.c.lacking && !now.count) || (old.c.lacking && !before.count);
    if ((k.o.output.picture || k.o.output.html) && !nothing)
        rank_draw(&k, &now);
    if (!nothing && cf_output_stdout(&tool, &k.o.output) != CF_STDOUT_PICTURE) {
        cf_rows_begin(&tool);
        if (k.o.before)
            cf_tool_note(&tool, print_changes(&old, &before, &k, &now));
        else
            (k.o.cover ? print_cover : print_ranking)(&k, &now);
    }
    release(&k, &now);
    if (old.c.reader) {
        release(&old, &before);
        cf_tool_note(&tool, cf_tool_problems(&tool, old.c.reader));
        cf_reader_close(old.c.reader);
    }
    cf_mix_free(&k.mix);
    cf_partial_free(&k.partial);
    free(k.o.cover);
    return cf_tool_finish(&tool, k.c.reader, NULL);
}
