/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf-report - the findings of a trace that other filters have annotated, on one page.
 *
 * In: a stream with the columns that the kind of report needs. Out: text, or CSV. It keeps sums.
 */

#include "filters/parts/report/report.h"
#include "formats/program/cf_options.h"

static const char usage[] =
    "Usage: cf-report --leon4 [OPTION]... [FILE]...\n"
    "Print a report of one page on the misses of a trace and what they cost.\n"
    "With no FILE, or when FILE is -, read standard input.\n"
    "\n"
    "Kinds of report:\n"
    "      --leon4            misses of data cache, instruction cache and second level\n"
    "                         by class, and their cost, as the LEON4 profiling tool\n"
    "                         prints them; needs columns hit and class, and cost if any\n"
    "\n"
    "      --counters FILE    compare with what the statistics unit counted\n"
    "      --l2-event NAME    the counter of the second level's misses\n"
    "                         [external event 1]\n"
    "      --cpu N            this processor only  [all]\n"
    "  -m, --machine MACHINE  machine whose clock converts cycles into time, where the\n"
    "                         stream does not state it  [leon4-n2x]\n"
    "      --csv              CSV instead of text\n"
    "  -q, --quiet            no progress\n"
    "  -h, --help, --version, --max-strings SIZE\n"
    "\n"
    "Example:\n"
    "  cf-classify --rule leon4 -m leon4-n2x run.cf | cf-latency -m leon4-n2x |\n"
    "      cf-report --leon4 --counters run.counters\n";

static void parse(struct report *r, int argc, char **argv)
{
    int leon4 = 0, cpu_given = 0;
    uint32_t cpu = 0;
    const struct cf_option table[] = {
        {"leon4", 0, CF_FLAG(&leon4)},
        {"counters", 0, CF_TEXT(&r->o.counters)},
        {"l2-event", 0, CF_TEXT(&r->o.l2_event)},
        {"cpu", 0, CF_NUMBER(&cpu, 0, UINT32_MAX), .given = &cpu_given},
        {"machine", 'm', CF_TEXT(&r->o.machine)},
        {"csv", 0, CF_FLAG(&r->o.csv)},
        CF_END_INPUT_OPTIONS,
    };

    r->o.machine = "leon4-n2x";
    r->o.l2_event = "external event 1";
    cf_options_read(&r->tool, argc, argv, table);
    r->o.cpu = cpu_given ? (int64_t)cpu : -1;
    if (!leon4)
        cf_die(&r->tool, CF_EXIT_USAGE, "no kind of report: give --leon4: see --help");
}

int main(int argc, char **argv)
{
    static struct report r;
    struct leon4 *l;
    struct cf_reader *in;
    struct cf_frame *f;
    int status;

    cf_tool_init(&r.tool, argc, argv, "cf-report", usage);
    parse(&r, argc, argv);
    r.machine = cf_tool_machine(&r.tool, r.o.machine);
    l = leon4_begin(&r);
    in = cf_tool_reader(&r.tool, argv + optind, argc - optind);
    cf_reader_pieces(in);
    leon4_want(in);
    while (cf_reader_next(in, &f) > 0) {
        cf_tool_progress(&r.tool, in);
        leon4_frame(l, f);
    }
    cf_tool_fit(&r.tool, in);
    leon4_print(l);
    leon4_end(l);
    cf_machine_free(r.machine);
    status = cf_tool_finish(&r.tool, in, NULL);
    return status > r.status ? status : r.status;
}
