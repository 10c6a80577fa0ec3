/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf-report - the first answer: what a recording is, where it misses, why, and what would help, on
 * one page; or the LEON4 profiling tool's report.
 *
 * In: a recording, or a program to record; for --leon4 a stream with the columns that it needs.
 * Out: text, JSON or a page for a browser. Memory: see filters/parts/report/page.h.
 */
#include <string.h>

#include "filters/parts/report/page.h"
#include "filters/parts/report/report.h"
#include "formats/program/cf_options.h"

static const char usage[] =
    "Usage: cf-report [OPTION]... [FILE]\n"
    "  or:  cf-report [OPTION]... -- PROGRAM [ARGUMENT]...\n"
    "  or:  cf-report --leon4 [OPTION]... [FILE]...\n"
    "Say on one page what a recording is, where it misses the caches of a machine, why,\n"
    "and what would help. With a PROGRAM, record it first.\n"
    "With no FILE, or when FILE is -, read standard input.\n"
    "\n"
    "  -m, --machine MACHINE  the caches: a description's name, FILE.yaml or host  [host]\n"
    "      --cores N          cores that run the threads  [the machine's CPUs]\n"
    "  -n, --top N            entries of each table  [5]\n"
    "      --html FILE        write a page for a browser instead, in one file\n"
    "      --json             print JSON instead\n"
    "      --term             print text with colours  [on a terminal]\n"
    "      --record FILE      keep the recording of PROGRAM\n"
    "\n"
    "      --leon4            misses of data cache, instruction cache and second level\n"
    "                         by class, and their cost, as the LEON4 profiling tool\n"
    "                         prints them; needs columns hit and class, and cost if any\n"
    "      --counters FILE    compare with what the statistics unit counted\n"
    "      --l2-event NAME    the counter of the second level's misses\n"
    "                         [external event 1]\n"
    "      --cpu N            this processor only  [all]\n"
    "      --csv              CSV instead of text; -m is the machine whose clock converts\n"
    "                         cycles, where the stream does not state it  [leon4-n2x]\n"
    "\n"
    "  -q, --quiet            no progress\n"
    "  -h, --help, --version, --max-strings SIZE\n"
    "\n"
    "Examples:\n"
    "  cf-report -m raspberry-pi-4 trace.cf\n"
    "  cf-report --html report.html -- ls -l\n"
    "  cf-classify --rule leon4 -m leon4-n2x run.cf | cf-latency -m leon4-n2x |\n"
    "      cf-report --leon4 --counters run.counters\n";

struct given {
    int leon4, cpu, record, html, cores, top, counters, event;
};

/* Options of one kind of report that were given for the other. */
static void check(const struct cf_tool *t, const struct given *g, int command)
{
    const struct {
        int given, leon4;
        const char *name;
    } option[] = {{g->cpu, 1, "--cpu"},
                  {g->counters, 1, "--counters"},
                  {g->event, 1, "--l2-event"},
                  {t->form == CF_OPT_CSV, 1, "--csv"},
                  {g->record, 0, "--record"},
                  {g->html, 0, "--html"},
                  {g->cores, 0, "--cores"},
                  {g->top, 0, "--top"},
                  {t->form == CF_OPT_JSON, 0, "--json"},
                  {command, 0, "a program"}};

    for (unsigned i = 0; i < sizeof option / sizeof *option; i++)
        if (option[i].given && option[i].leon4 != g->leon4)
            cf_die(t, CF_EXIT_USAGE, "%s goes %s --leon4", option[i].name,
                   g->leon4 ? "not with" : "with");
    if (g->record && !command)
        cf_die(t, CF_EXIT_USAGE, "--record: there is no program to record: give one after --");
    if (g->html && t->form == CF_OPT_JSON)
        cf_die(t, CF_EXIT_USAGE, "--html does not go with --json");
}

/* The place of "--", behind which a program stands, or argc. */
static int find_command(int argc, char **argv)
{
    int at = 1;

    while (at < argc && strcmp(argv[at], "--") != 0)
        at++;
    return at;
}

static void parse(struct report *r, struct page_options *o, int argc, char **argv, int *leon4)
{
    struct given g = {0};
    uint32_t cpu = 0;
    const int end = find_command(argc, argv);
    const struct cf_option table[] = {
        {"leon4", 0, CF_FLAG(&g.leon4)},
        {"counters", 0, CF_TEXT(&r->o.counters), .given = &g.counters},
        {"l2-event", 0, CF_TEXT(&r->o.l2_event), .given = &g.event},
        {"cpu", 0, CF_NUMBER(&cpu, 0, UINT32_MAX), .given = &g.cpu},
        {"machine", 'm', CF_TEXT(&r->o.machine)},
        {"cores", 0, CF_NUMBER(&o->cores, 1, CF_MAX_CORES), .given = &g.cores},
        {"top", 'n', CF_NUMBER(&o->top, 1, 1000), .given = &g.top},
        {"html", 0, CF_TEXT(&o->html), .given = &g.html},
        {"record", 0, CF_TEXT(&o->record), .given = &g.record},
        CF_FORM_OPTIONS,
        CF_END_INPUT_OPTIONS,
    };

    r->o.l2_event = "external event 1";
    *o = (struct page_options){.top = 5};
    cf_options_read(&r->tool, end, argv, table);
    if (end < argc - 1)
        o->command = argv + end + 1;
    else if (end < argc)
        cf_die(&r->tool, CF_EXIT_USAGE, "there is no program after --");
    check(&r->tool, &g, o->command != NULL);
    if (!g.leon4 && end - optind > (o->command == NULL))
        cf_die(&r->tool, CF_EXIT_USAGE,
               o->command ? "a FILE and a program do not go together"
                          : "more than one recording: cf-cat or cf-merge makes one of them");
    if (!r->o.machine)
        r->o.machine = g.leon4 ? "leon4-n2x" : "host";
    o->machine = r->o.machine;
    r->o.cpu = g.cpu ? (int64_t)cpu : -1;
    r->o.csv = r->tool.form == CF_OPT_CSV;
    *leon4 = g.leon4;
}

static int leon4_report(struct report *r, char *const *files, int count)
{
    struct leon4 *l = leon4_begin(r);
    struct cf_reader *in = cf_tool_reader(&r->tool, files, count);
    struct cf_frame *f;

    cf_reader_pieces(in);
    leon4_want(in);
    while (cf_tool_next(&r->tool, in, &f) > 0)
        leon4_frame(l, f);
    cf_tool_fit(&r->tool, in);
    leon4_print(l);
    leon4_end(l);
    cf_machine_free(r->machine);
    return cf_tool_finish(&r->tool, in, NULL);
}

static int write_page(const void *page, FILE *out)
{
    return page_html(page, out);
}

static int page_report(struct report *r, const struct page_options *o, char *const *files,
                       int count)
{
    static struct page p;
    struct cf_chain chain;

    p.tool = &r->tool;
    p.o = *o;
    p.machine = r->machine;
    p.cores = cf_tool_cores(p.machine, o->cores);
    chain = page_chain(&p, files, count);
    p.reader = cf_tool_reader(&r->tool, NULL, 0);
    page_read(&p);
    cf_tool_note(&r->tool, cf_chain_end(&chain));
    cf_tool_fit(&r->tool, p.reader);
    page_finish(&p);
    if (o->html)
        cf_tool_file(&r->tool, o->html, write_page, &p);
    else if (r->tool.form == CF_OPT_JSON)
        page_json(&p, stdout), putchar('\n');
    else
        page_print(&p, stdout);
    page_free(&p);
    cf_machine_free(r->machine);
    return cf_tool_finish(&r->tool, p.reader, NULL);
}

int main(int argc, char **argv)
{
    static struct report r;
    struct page_options o;
    const int end = find_command(argc, argv);
    int leon4;

    cf_tool_init(&r.tool, argc, argv, "cf-report", usage);
    parse(&r, &o, argc, argv, &leon4);
    r.machine = cf_tool_machine(&r.tool, r.o.machine);
    return leon4 ? leon4_report(&r, argv + optind, end - optind)
                 : page_report(&r, &o, argv + optind, end - optind);
}
