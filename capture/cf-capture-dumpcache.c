/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf-capture-dumpcache - imports cache snapshots that the published CacheFlow tool has written, the
 * one of "Observing the Invisible" (Tarapore et al.), section 6.
 *
 * In: folders with cachedump<N>.csv, <pid>-<N>.txt and pids.txt; single such CSV files; binary
 * snapshots as its kernel module hands them out (16 bytes an entry, set by set); and the text of
 * two of its relatives for the Cortex-A72. Out: snapshot, line, map and task.
 * What that tool's snapshots do not say, or say wrongly, is put right where that can be known
 * (capture/dumpcache/entries.h) and is otherwise an option.
 * Memory: two snapshots, the list of files, the last mappings of each process.
 */
#include <stdlib.h>
#include <string.h>

#include "capture/dumpcache/import.h"

static const char usage[] =
    "Usage: cf-capture dumpcache [options] [FILE|FOLDER]...\n"
    "Import snapshots that the published CacheFlow tool has written: folders with\n"
    "cachedump<N>.csv, single such files, or binary snapshots.\n"
    "With no FILE, or when FILE is -, read standard input.\n"
    "\n"
    "  -t, --transparent      the cache was not flushed after each snapshot (the tool's -t)\n"
    "  -a, --asynchronous     the programs were not stopped (the tool's -a)\n"
    "  -e, --event            signals triggered the snapshots, not a timer (its -p 0)\n"
    "  -p, --period MS        time between two snapshots  [unknown: time counts snapshots]\n"
    "  -A, --addresses KIND   page, full, physical, half or auto: see the manual  [auto]\n"
    "  -s, --stale RULE       drop entries that an older snapshot has left in the tool's\n"
    "                         buffer: none, twice (only proven ones), same  [twice]\n"
    "      --keep-pids        keep the pid of a line whose page has no mapping\n"
    "      --sets N, --ways N, --line-size N   shape of the cache  [2048, 16, 64]\n"
    "      --level N          level of the cache  [2]\n"
    "  -o, --output FILE      write a packed file instead of standard output\n"
    "      --probe            report whether this source can be used here, and exit\n"
    "  -q, --quiet, -h, --help, --version\n"
    "\n"
    "Example: cf-capture dumpcache -p 5 dumpcache/ | cf-resolve | cf-heatmap > heat.csv\n";

enum { PROBE = 256, KEEP, SETS, WAYS, LINE, LEVEL };

static const struct option longs[] = {
    {"transparent", no_argument, NULL, 't'},     {"asynchronous", no_argument, NULL, 'a'},
    {"event", no_argument, NULL, 'e'},           {"period", required_argument, NULL, 'p'},
    {"addresses", required_argument, NULL, 'A'}, {"stale", required_argument, NULL, 's'},
    {"keep-pids", no_argument, NULL, KEEP},      {"sets", required_argument, NULL, SETS},
    {"ways", required_argument, NULL, WAYS},     {"line-size", required_argument, NULL, LINE},
    {"level", required_argument, NULL, LEVEL},   {"output", required_argument, NULL, 'o'},
    {"probe", no_argument, NULL, PROBE},         CF_COMMON_OPTIONS,
};

static const char *parse(struct cf_dumpcache *m, int argc, char **argv)
{
    struct cf_tool *t = m->tool;
    const char *output = NULL;
    int c;

    m->mode = CF_MODE_FLUSH | CF_MODE_SYNCHRONOUS;
    m->stale = STALE_TWICE;
    m->level = 2;
    m->line = 64;
    while ((c = getopt_long(argc, argv, "taep:A:s:o:" CF_COMMON_LETTERS, longs, NULL)) != -1) {
        switch (c) {
        case 't':
            m->mode &= ~(unsigned)CF_MODE_FLUSH;
            break;
        case 'a':
            m->mode &= ~(unsigned)CF_MODE_SYNCHRONOUS;
            break;
        case 'e':
            m->mode |= CF_MODE_EVENT;
            break;
        case 'p':
            m->period =
                (uint64_t)(cf_parse_f64(t, "--period", optarg, 1e-6, 1e9, CF_FROM_TO) * 1e6 + 0.5);
            break;
        case 'A':
            m->addresses = cf_parse_word(t, "--addresses", optarg, "auto page full physical half");
            break;
        case 's':
            m->stale = cf_parse_word(t, "--stale", optarg, "none twice same");
            break;
        case KEEP:
            m->keep_pids = 1;
            break;
        case SETS:
            m->sets = (uint32_t)cf_parse_power(t, "--sets", optarg, 1, CF_ENTRIES_MOST);
            break;
        case WAYS:
            m->ways = (uint32_t)cf_parse_u64(t, "--ways", optarg, 1, 256);
            break;
        case LINE:
            m->line = (uint32_t)cf_parse_power(t, "--line-size", optarg, 16, 4096);
            break;
        case LEVEL:
            m->level = (unsigned)cf_parse_u64(t, "--level", optarg, 1, 8);
            break;
        case 'o':
            output = optarg;
            break;
        case PROBE:
            puts("ready: reads files, needs nothing of this machine");
            exit(cf_tool_finish(t, NULL, NULL));
        default:
            cf_common_option(t, c);
        }
    }
    if ((uint64_t)(m->sets ? m->sets : 2048) * (m->ways ? m->ways : 16) > CF_ENTRIES_MOST)
        cf_die(t, CF_EXIT_USAGE, "--sets times --ways: over %d", CF_ENTRIES_MOST);
    return output;
}

int main(int argc, char **argv)
{
    static struct cf_dumpcache m;
    struct cf_tool t;
    const char *output;
    int status, bad;

    cf_tool_init(&t, argc, argv, "cf-capture-dumpcache", usage);
    m.tool = &t;
    output = parse(&m, argc, argv);
    cf_dumpcache_open(&m, argv + optind, argc - optind);
    m.out = cf_tool_recording(&t, output);
    bad = cf_dumpcache_run(&m);
    status = cf_tool_finish(&t, NULL, m.out);
    cf_dumpcache_free(&m);
    cf_lines_raise();
    return status | bad; /* 0, 1 or 3 */
}
