/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf-fold - writes folded stacks, "main;f;g 12", for flame graphs.
 *
 * In: a stream whose accesses have call stacks and functions. Out: a line for each path of calls,
 * in the order of their texts. Memory: that of a ranking by path, 8 bytes and up to 200 for each.
 *
 * The form is that of stackcollapse-*.pl and flamegraph.pl (Gregg: The Flame Graph, Communications
 * of the ACM 59(6), 2016), which has no escapes: readers cut a line at the last blank that a number
 * follows, then its front at semicolons; a second number there is that of a differential profile.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "filters/ranking/ranking.h"
#include "formats/base/cf_text.h"
#include "formats/together/cf_made.h"

static const char usage[] =
    "Usage: cf-fold [OPTION]... [FILE]...\n"
    "Write folded stacks, a line \"main;f;g VALUE\" for each path of calls, from which\n"
    "flamegraph.pl, inferno and speedscope draw flame graphs: of accesses, misses or cost.\n"
    "The recording must have calls, and names by cf-resolve: see the example.\n"
    "With no FILE, or when FILE is -, read standard input.\n"
    "\n"
    "      --value VALUE    accesses, bytes, loads, stores, misses, hits, cost (cycles, of\n"
    "                       column cost), fetches (instructions), the misses of a level,\n"
    "                       l1-misses to l4-misses, or of a class: compulsory, conflict, ...\n"
    "                       [accesses]\n"
    "      --op LIST        count these operations  [load,store; for fetches ifetch]\n"
    "      --level N        a miss is an access that no level up to N served  [one that memory\n"
    "                       served; with column class: one that has a class]\n"
    "      --class LIST     count misses of these classes: compulsory, conflict, ...\n"
    "      --dist LINES     a miss is what a fully associative cache of LINES lines misses,\n"
    "                       by column dist\n"
    "  -q, --quiet          no progress\n"
    "  -h, --help, --version, --max-strings SIZE\n"
    "\n"
    "Example:\n"
    "  cf-capture trace --calls -- PROGRAM | cf-resolve | cf-cache -m host |\n"
    "    cf-fold --value l1-misses > misses.folded\n"
    "  flamegraph.pl misses.folded > misses.svg\n";

struct fold {
    struct cf_tool *tool;
    struct cf_mix mix;
    struct cf_sums sums;
    struct cf_ranking ranking;
};

static void parse(struct fold *k, int argc, char **argv)
{
    const struct cf_option table[] = {
        CF_SUM_OPTIONS(&k->sums),
        CF_END_INPUT_OPTIONS,
    };

    cf_sums_init(&k->sums, k->tool);
    /* Flame graphs add up what they are of, and ratios have no sum. */
    k->sums.words = CF_SUMS_ADDED CF_SUMS_MISSES;
    cf_options_read(k->tool, argc, argv, table);
    if (k->sums.count != 1)
        cf_die(k->tool, CF_EXIT_USAGE, "--value: a line of folded stacks has one value: give one");
    cf_sums_check(&k->sums);
}

/* Whether the text is a number as flamegraph.pl reads them. */
static int is_number(const char *text, size_t length)
{
    const size_t digits = strspn(text, "0123456789");
    const size_t more =
        digits && text[digits] == '.' ? 1 + strspn(text + digits + 1, "0123456789") : 0;

    return digits && length <= digits + more;
}

/* A function, whose blanks become underscores where a reader would drop them or take what follows
   for a value. */
static void print_function(const char *name, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        const size_t n = strcspn(name + i, " ");
        const size_t word = n < length - i ? n : length - i;

        cf_text_print(stdout, name + i, word, "");
        i += word;
        if (i < length)
            putchar(!i || i + 1 == length || is_number(name + i + 1, length - i - 1) ? '_' : ' ');
    }
}

static int by_path(const void *x, const void *y)
{
    const struct cf_rank_item *i = x, *j = y;

    return strcmp(i->key->text, j->key->text);
}

static void print(const struct cf_ranked *r)
{
    qsort(r->item, r->count, sizeof *r->item, by_path);
    for (size_t i = 0; i < r->count; i++) {
        const char *at = r->item[i].key->text;

        for (;; at++) {
            const size_t length = strcspn(at, ";");

            print_function(at, length);
            at += length;
            if (!*at)
                break;
            putchar(';');
        }
        printf(" %" PRIu64 "\n", r->item[i].sum[0]);
    }
}

int main(int argc, char **argv)
{
    static struct cf_tool tool;
    static struct fold k;
    struct cf_ranked ranked;

    k.tool = &tool;
    cf_tool_init(&tool, argc, argv, "cf-fold", usage);
    parse(&k, argc, argv);
    k.ranking = (struct cf_ranking){.tool = &tool,
                                    .reader = cf_tool_reader(&tool, argv + optind, argc - optind),
                                    .sums = &k.sums,
                                    .by = {CF_RANK_STACK},
                                    .keys = 1,
                                    .line_size = 64};
    cf_ranking_read(&k.ranking, &k.mix);
    ranked = cf_ranking_sort(&k.ranking, 0);
    print(&ranked);
    cf_ranked_free(&ranked);
    cf_ranking_end(&k.ranking);
    cf_mix_free(&k.mix);
    return cf_tool_finish(&tool, k.ranking.reader, NULL);
}
