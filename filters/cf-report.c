/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf-report - the findings of a trace that other filters have annotated, on one page.
 *
 * In: a stream with the columns that the kind of report needs. Out: text, or CSV. What a kind looks
 * at and keeps, its file in filters/report tells; none keeps more than sums.
 */
#include <stdlib.h>

#include "filters/parts/report/report.h"

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

enum { OPT_LEON4 = 256, OPT_COUNTERS, OPT_L2_EVENT, OPT_CPU, OPT_CSV };

static const struct option longs[] = {
    {"leon4", no_argument, NULL, OPT_LEON4},
    {"counters", required_argument, NULL, OPT_COUNTERS},
    {"l2-event", required_argument, NULL, OPT_L2_EVENT},
    {"cpu", required_argument, NULL, OPT_CPU},
    {"machine", required_argument, NULL, 'm'},
    {"csv", no_argument, NULL, OPT_CSV},
    CF_INPUT_OPTIONS,
};

static const struct kind *parse(struct report *r, int argc, char **argv)
{
    const struct kind *kind = NULL;
    int c;

    r->o = (struct report_options){.l2_event = "external event 1", .cpu = -1};
    while ((c = getopt_long(argc, argv, "m:" CF_COMMON_LETTERS, longs, NULL)) != -1) {
        switch (c) {
        case OPT_LEON4:
            kind = find_kind("leon4");
            break;
        case OPT_COUNTERS:
            r->o.counters = optarg;
            break;
        case OPT_L2_EVENT:
            r->o.l2_event = optarg;
            break;
        case OPT_CPU:
            r->o.cpu = (int64_t)cf_parse_u64(&r->tool, "--cpu", optarg, 0, UINT32_MAX);
            break;
        case 'm':
            r->o.machine = optarg;
            break;
        case OPT_CSV:
            r->o.csv = 1;
            break;
        default:
            cf_common_option(&r->tool, c);
        }
    }
    if (!kind)
        cf_die(&r->tool, CF_EXIT_USAGE, "no kind of report: give --leon4: see --help");
    return kind;
}

int main(int argc, char **argv)
{
    static struct report r;
    const struct kind *kind;
    struct cf_reader *in;
    struct cf_frame *f;
    void *state;
    int status;

    cf_tool_init(&r.tool, argc, argv, "cf-report", usage);
    kind = parse(&r, argc, argv);
    if (r.o.machine || kind->machine) {
        r.machine = cf_tool_machine(&r.tool, r.o.machine ? r.o.machine : kind->machine);
    }
    state = kind->begin(&r);
    in = cf_tool_reader(&r.tool, argv + optind, argc - optind);
    cf_reader_pieces(in);
    kind->want(state, in);
    while (cf_reader_next(in, &f) > 0) {
        cf_tool_progress(&r.tool, in);
        kind->frame(state, f);
    }
    kind->print(state);
    kind->end(state);
    cf_machine_free(r.machine);
    status = cf_tool_finish(&r.tool, in, NULL);
    return status > r.status ? status : r.status;
}
