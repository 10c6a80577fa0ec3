/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf-capture-pages - how long a function of a program takes, by which pages of the program are
 * cached: the UProfiler of "Governing with Insights" (Ghaemi et al.), sections 4 and 5.1.
 *
 * In: a command, and /dev/pagectl, by which the kernel module makes pages uncached or moves them.
 * Out: table page. The command is run once to find how much memory it takes, once to find its
 * mappings and pages with its heap made so large from the begin, and then once for each row.
 * Memory: some 100 bytes a page and run.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "capture/base/cf_clock.h"
#include "capture/pages/pages.h"

static const char usage[] =
    "Usage: cf-capture pages --function NAME [option]... [--] PROGRAM [ARGUMENT]...\n"
    "Time a function of a program with one page after the other cached, or not: table page, for\n"
    "cf-rank. PROGRAM is run once for each time. Needs the kernel module pagectl.\n"
    "\n"
    "  -f, --function NAME  the function: its symbol, or its address in the program's file as\n"
    "                       0xADDRESS\n"
    "      --call N         which of its calls is timed  [1]\n"
    "      --regions LIST   pages of text, rodata, data, bss, heap, stack, anon, lib  [all]\n"
    "  -n, --samples N      runs of each kind  [5]\n"
    "      --mode MODE      cached: only this page is cached; uncached: all but this page\n"
    "                       [cached]\n"
    "      --group N        treat N adjacent pages as one  [1]\n"
    "      --bisect         find the 10 best pages by some 15 % of the runs\n"
    "      --rank FILE      instead: the best k pages of a profile cached, for every k; FILE has\n"
    "                       table page, or is the CSV that cf-rank prints of one\n"
    "      --migrate K      with --rank instead: the best K pages moved to the module's pool\n"
    "      --counters LIST  count these events too, by their names in libpfm4: a column each\n"
    "      --resume         go on with an output that was cut off\n"
    "  -c, --cpu N          run on this CPU\n"
    "  -s, --sched fifo:N   run with this real-time priority\n"
    "      --device FILE    the module's device  [/dev/pagectl]\n"
    "      --command-output FILE   where the program's standard output goes: that of its last run\n"
    "  -o, --output FILE    write a packed file; the program keeps its standard output\n"
    "      --probe          report whether this source can be used here, and exit\n"
    "  -q, --quiet          no remarks, no progress\n"
    "  -h, --help, --version\n"
    "\n"
    "Example: cf-capture pages -f solve --regions heap,stack -o p.cf -- ./simulation &&\n"
    "             cf-rank --by page --value gain p.cf\n";

static void state(struct pages *k, const char *key, const char *value)
{
    pages_earlier_check(k, key, value);
    (void)cf_writer_fact(k->writer, "runtime_cycles", key, value);
}

static void header(struct pages *k)
{
    struct cf_header h = {.clock_unit = (char *)"cycles",
                          .clock_hz = cf_clock_hz(),
                          .source = (char *)"cf-capture-pages",
                          .here = 1};
    char *line = NULL, *kinds = pages_regions(k), group[16];
    size_t size;
    FILE *f = open_memstream(&line, &size);

    if (f)
        cf_command_print(f, k->o.argv);
    if (!f || fclose(f) != 0 || !line)
        cf_out_of_memory(&k->tool);
    h.command = line;
    state(k, "clock", cf_clock_name());
    state(k, "read", *k->at_stops ? "at the stops" : "in the program");
    state(k, "function", k->o.function);
    state(k, "build", k->build);
    state(k, "region", kinds);
    snprintf(group, sizeof group, "%u", k->o.group);
    state(k, "group", group);
    if (k->profile)
        state(k, "profile", k->profile);
    pages_counters_fact(k);
    if (cf_writer_header(k->writer, &h) != 0)
        exit(cf_command_unbegun(&k->command, k->writer));
    pages_counters_declare(k);
    free(line);
    free(kinds);
}

/* A run without which there is no use in others. */
static int first_run(struct pages *k, enum pages_purpose purpose)
{
    struct pages_run run = {.purpose = purpose};

    if (pages_run(k, &run) != 0)
        return 0;
    if (!*run.why)
        return 1;
    if (run.lost && purpose == PAGES_LAYOUT && !*k->at_stops) {
        /* The first run, which was left alone but for two stops, did not fail so. */
        snprintf(k->at_stops, sizeof k->at_stops, "it does not bear another return address: %.180s",
                 run.why);
        k->calls.count = k->calls.firsts = 0;
        return first_run(k, purpose);
    }
    cf_warn(&k->tool, "%s: %s", k->o.function, run.why);
    exit(WIFSIGNALED(k->ended) ? cf_command_status(k->ended) : CF_EXIT_INPUT);
}

static void measure(struct pages *k)
{
    if (!first_run(k, PAGES_MEMORY) || !first_run(k, PAGES_LAYOUT))
        return;
    if (!k->pages)
        cf_die(&k->tool, CF_EXIT_INPUT, "the program has no page to look into: see --regions");
    pages_units(k);
    k->build = cf_need(&k->tool, pages_layout_build(&k->layout));
    if (!k->tool.quiet)
        cf_warn(&k->tool,
                "%zu pages; left out are %llu that are not touched, and %llu of other mappings; "
                "time by %s, %s%s",
                k->pages, (unsigned long long)k->untouched, (unsigned long long)k->other,
                cf_clock_name(), *k->at_stops ? "at the stops: " : "read in the program",
                k->at_stops);
    if (k->o.rank)
        pages_order(k);
    header(k);
    if (k->o.bisect)
        pages_bisect(k);
    else
        pages_plan(k);
}

int main(int argc, char **argv)
{
    static struct pages k;
    int status = CF_EXIT_OK;

    cf_tool_init(&k.tool, argc, argv, "cf-capture-pages", usage);
    k.command.tool = &k.tool;
    pages_options(&k, argc, argv);
    k.command.output = k.o.output;
    pages_open_device(&k);
    if (k.o.resume)
        pages_earlier_read(&k);
    k.writer = cf_tool_recording(&k.tool, k.o.output);
    cf_command_prepare(&k.command);
    measure(&k);
    if (k.dropped && !cf_command_caught())
        cf_warn(&k.tool, "%llu samples were dropped in all", (unsigned long long)k.dropped);
    if (!k.rows)
        status = CF_EXIT_INPUT;
    if (!k.rows || cf_command_caught()) /* pages that were not measured have no rows */
        cf_writer_cut(k.writer);
    cf_command_end(&k.command, k.writer);
    if (k.o.resume && !k.command.failed && k.rows)
        pages_earlier_done(&k);
    pages_layout_free(&k.layout);
    free(k.page);
    free(k.unit);
    free(k.earlier);
    free(k.earlier_fact);
    free(k.build);
    free(k.event);
    cf_device_close(&k.device);
    return cf_command_finish(&k.command, status, k.ended);
}
