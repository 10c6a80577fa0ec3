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

#include "capture/dumpcache/import.h"
#include "formats/program/cf_options.h"

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
    "      --level N          level of the cache  [2; 1 of ramindex]\n"
    "  -o, --output FILE      write a packed file instead of standard output\n"
    "      --probe            report whether this source can be used here, and exit\n"
    "  -q, --quiet, -h, --help, --version\n"
    "\n"
    "Example: cf-capture dumpcache -p 5 dumpcache/ | cf-resolve | cf-heatmap > heat.csv\n";

/* --period in ms, of which ns are wanted */
static void period(const struct cf_tool *t, void *to, const char *option, char *text)
{
    *(uint64_t *)to = (uint64_t)(cf_parse_f64(t, option, text, 1e-6, 1e9, CF_FROM_TO) * 1e6 + 0.5);
}

static const char *parse(struct cf_dumpcache *m, int argc, char **argv)
{
    struct cf_tool *t = m->tool;
    const char *output = NULL;
    int transparent = 0, asynchronous = 0, event = 0;
    uint64_t sets = 0, line = 64;
    const struct cf_option options[] = {
        {"transparent", 't', CF_FLAG(&transparent)},
        {"asynchronous", 'a', CF_FLAG(&asynchronous)},
        {"event", 'e', CF_FLAG(&event)},
        {"period", 'p', CF_CALL(period, &m->period)},
        {"addresses", 'A', CF_WORD(&m->addresses, "auto page full physical half", 0)},
        {"stale", 's', CF_WORD(&m->stale, "none twice same", 0)},
        {"keep-pids", 0, CF_FLAG(&m->keep_pids)},
        {"sets", 0, CF_POWER(&sets, 1, CF_ENTRIES_MOST)},
        {"ways", 0, CF_NUMBER(&m->ways, 1, 256)},
        {"line-size", 0, CF_POWER(&line, 16, 4096)},
        {"level", 0, CF_NUMBER(&m->level, 1, 8)},
        {"output", 'o', CF_FILE(&output)},
        {"probe", 0, CF_READY("ready: reads files, needs nothing of this machine")},
        CF_END_OPTIONS,
    };

    m->stale = STALE_TWICE;
    cf_options_read(t, argc, argv, options);
    m->mode = (transparent ? 0 : CF_MODE_FLUSH) | (asynchronous ? 0 : CF_MODE_SYNCHRONOUS) |
              (event ? CF_MODE_EVENT : 0);
    m->sets = (uint32_t)sets;
    m->line = (uint32_t)line;
    if ((uint64_t)(m->sets ? m->sets : 2048) * (m->ways ? m->ways : 16) > CF_ENTRIES_MOST)
        cf_die(t, CF_EXIT_USAGE, "--sets times --ways: over %d", CF_ENTRIES_MOST);
    return output;
}

int main(int argc, char **argv)
{
    static struct cf_dumpcache m;
    struct cf_tool t;
    const char *output;
    int bad;

    cf_tool_init(&t, argc, argv, "cf-capture-dumpcache", usage);
    m.tool = &t;
    output = parse(&m, argc, argv);
    cf_dumpcache_open(&m, argv + optind, argc - optind);
    for (size_t i = 0; i < m.files; i++)
        cf_tool_apart(&t, output ? output : "-", m.file[i].name);
    m.out = cf_tool_recording(&t, output);
    bad = cf_dumpcache_run(&m);
    cf_dumpcache_free(&m);
    return cf_lines_close(&t, m.out, bad, NULL);
}
