/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf-report - the first answer: what a recording is, where it misses, why, and what would help, on
 * one page; or the LEON4 profiling tool's report; or the cache misses worth fixing, by CachePerf.
 *
 * In: a recording, or a program to record; for --leon4 and --cacheperf a stream with the columns
 * that they need. Out: text, JSON, CSV or a page for a browser. Memory: see page.h and findings.h
 * in filters/parts/report.
 */
#include <string.h>

#include "filters/parts/report/findings.h"
#include "filters/parts/report/page.h"
#include "filters/parts/report/report.h"
#include "filters/ranking/callgrind.h"
#include "formats/program/cf_options.h"

static const char usage[] =
    "Usage: cf-report [OPTION]... [FILE]\n"
    "  or:  cf-report [OPTION]... -- PROGRAM [ARGUMENT]...\n"
    "  or:  cf-report --cacheperf [OPTION]... [FILE]...\n"
    "  or:  cf-report --leon4 [OPTION]... [FILE]...\n"
    "Say on one page what a recording is, where it misses the caches of a machine, why,\n"
    "and what would help. With a PROGRAM, record it first.\n"
    "With no FILE, or when FILE is -, read standard input.\n"
    "\n"
    "  -m, --machine MACHINE  the caches: a description's name, FILE.yaml or host  [host]\n"
    "      --cores N          cores that run the threads  [the machine's CPUs]\n"
    "  -n, --top N            entries of each table  [5]\n"
    "      --html FILE        write a page for a browser instead, in one file\n"
    "      --json, --term     print JSON instead, or text with colours  [on a terminal]\n"
    "      --record FILE      keep the recording of PROGRAM\n"
    "\n"
    "      --cacheperf        the misses worth fixing, by the classes of CachePerf:\n"
    "                         type, instructions, objects, gain, what mends them; also --csv\n"
    "      --ratio N          a miss costs N hits  [the latencies of -m, else of the\n"
    "                         machine that the stream states, else 200]\n"
    "      --callgrind FILE   also write a profile for KCachegrind\n"
    "      --source-dir DIR   source files are below DIR; may be repeated\n"
    "\n"
    "      --leon4            misses of data cache, instruction cache and second level by\n"
    "                         class, and their cost, as the LEON4 profiling tool prints them\n"
    "      --counters FILE    compare with what the statistics unit counted\n"
    "      --l2-event NAME    the counter of the second level's misses  [external event 1]\n"
    "      --cpu N            this processor only  [all]\n"
    "      --csv              CSV instead; -m has the clock of cycles  [leon4-n2x]\n"
    "\n"
    "  -q, --quiet, -h, --help, --version, --max-strings SIZE\n"
    "\n"
    "Examples:\n"
    "  cf-report -m raspberry-pi-4 --html report.html -- ls -l\n"
    "  cf-classify --rule cacheperf -m xeon-6230 samples.cf | cf-report --cacheperf\n";

/* The kinds of report, as bits, since an option may be of several. */
enum { PAGE = 1, LEON4 = 2, CACHEPERF = 4 };

struct given {
    int leon4, cacheperf, cpu, record, html, cores, top, counters, event, ratio, machine;
};

/* Options of one kind of report that were given for another. */
static void check(const struct cf_tool *t, const struct given *g, const struct findings_options *f,
                  int kind, int command)
{
    static const char *const name[] = {[LEON4] = "--leon4",
                                       [CACHEPERF] = "--cacheperf",
                                       [LEON4 | CACHEPERF] = "--leon4 or --cacheperf"};
    const struct {
        int given, kinds;
        const char *name;
    } option[] = {{g->cpu, LEON4, "--cpu"},
                  {g->counters, LEON4, "--counters"},
                  {g->event, LEON4, "--l2-event"},
                  {t->form == CF_OPT_CSV, LEON4 | CACHEPERF, "--csv"},
                  {g->ratio, CACHEPERF, "--ratio"},
                  {f->callgrind != NULL, CACHEPERF, "--callgrind"},
                  {f->dirs != 0, CACHEPERF, "--source-dir"},
                  {g->record, PAGE, "--record"},
                  {g->html, PAGE | CACHEPERF, "--html"},
                  {g->cores, PAGE, "--cores"},
                  {g->top, PAGE | CACHEPERF, "--top"},
                  {t->form == CF_OPT_JSON, PAGE | CACHEPERF, "--json"},
                  {command, PAGE, "a program"}};

    if (g->leon4 && g->cacheperf)
        cf_die(t, CF_EXIT_USAGE, "--leon4 and --cacheperf are different reports: give one of them");
    for (unsigned i = 0; i < sizeof option / sizeof *option; i++)
        if (option[i].given && !(option[i].kinds & kind))
            cf_die(t, CF_EXIT_USAGE, "%s goes %s %s", option[i].name,
                   kind == PAGE ? "with" : "not with", name[kind == PAGE ? option[i].kinds : kind]);
    if (g->record && !command)
        cf_die(t, CF_EXIT_USAGE, "--record: there is no program to record: give one after --");
    if (g->html && (t->form == CF_OPT_JSON || t->form == CF_OPT_CSV))
        cf_die(t, CF_EXIT_USAGE, "--html does not go with --json and --csv");
    if (g->ratio && g->machine)
        cf_die(t, CF_EXIT_USAGE,
               "--ratio does not go with -m: its latencies say what a miss costs");
}

/* The place of "--", behind which a program stands, or argc. */
static int find_command(int argc, char **argv)
{
    int at = 1;

    while (at < argc && strcmp(argv[at], "--") != 0)
        at++;
    return at;
}

static int parse(struct report *r, struct page_options *o, struct findings_options *f, int argc,
                 char **argv)
{
    struct given g = {0};
    uint32_t cpu = 0;
    int kind;
    const int end = find_command(argc, argv);
    const struct cf_option table[] = {
        {"leon4", 0, CF_FLAG(&g.leon4)},
        {"cacheperf", 0, CF_FLAG(&g.cacheperf)},
        {"counters", 0, CF_TEXT(&r->o.counters), .given = &g.counters, .reads = CF_READS_FILE},
        {"l2-event", 0, CF_TEXT(&r->o.l2_event), .given = &g.event},
        {"cpu", 0, CF_NUMBER(&cpu, 0, UINT32_MAX), .given = &g.cpu},
        {"machine", 'm', CF_TEXT(&r->o.machine), .given = &g.machine, .reads = CF_READS_MACHINE},
        {"ratio", 0, CF_FRACTION(&f->ratio, 1, 1e6, 0), .given = &g.ratio},
        {"callgrind", 0, CF_FILE(&f->callgrind)},
        {"source-dir", 0, CF_TEXTS(f->dir, &f->dirs, CF_SOURCE_DIRS)},
        {"cores", 0, CF_NUMBER(&o->cores, 1, CF_MAX_CORES), .given = &g.cores},
        {"top", 'n', CF_NUMBER(&o->top, 1, 1000), .given = &g.top},
        {"html", 0, CF_FILE(&o->html), .given = &g.html},
        {"record", 0, CF_FILE(&o->record), .given = &g.record},
        CF_FORM_OPTIONS,
        CF_END_INPUT_OPTIONS,
    };

    r->o.l2_event = "external event 1";
    *o = (struct page_options){.top = 5};
    cf_options_read(&r->tool, end, argv, table);
    kind = g.leon4 ? LEON4 : g.cacheperf ? CACHEPERF : PAGE;
    if (end < argc - 1)
        o->command = argv + end + 1;
    else if (end < argc)
        cf_die(&r->tool, CF_EXIT_USAGE, "there is no program after --");
    check(&r->tool, &g, f, kind, o->command != NULL);
    if (kind == PAGE && end - optind > (o->command == NULL))
        cf_die(&r->tool, CF_EXIT_USAGE,
               o->command ? "a FILE and a program do not go together"
                          : "more than one recording: cf-cat or cf-merge makes one of them");
    f->machine = r->o.machine;
    f->top = o->top;
    f->html = o->html;
    if (!r->o.machine)
        r->o.machine = kind == LEON4 ? "leon4-n2x" : "host";
    o->machine = r->o.machine;
    r->o.cpu = g.cpu ? (int64_t)cpu : -1;
    r->o.csv = r->tool.form == CF_OPT_CSV;
    return kind;
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

static int findings_report(struct cf_tool *t, const struct findings_options *o, char *const *files,
                           int count)
{
    struct findings f = {.tool = t, .o = *o};
    struct cf_callgrind *profile = NULL;
    struct cf_condense *condense;
    struct cf_condensed rows;
    struct cf_frame *frame;

    f.machine = o->machine ? cf_tool_machine(t, o->machine) : NULL;
    f.sources = cf_sources_new(t, "--source-dir", o->dir, o->dirs);
    f.reader = cf_tool_reader(t, files, count);
    findings_begin(&f);
    if (o->callgrind)
        profile = cf_callgrind_new(t, f.reader);
    condense = cf_condense_new(t, f.reader, profile ? cf_callgrind_alike : findings_alike,
                               findings_others);
    while (cf_tool_next(t, f.reader, &frame) > 0) {
        if (cf_condense_frame(condense, frame, &rows) != 0)
            continue;
        findings_frame(&f, &rows);
        if (profile)
            cf_callgrind_frame(profile, rows.sums);
    }
    cf_condense_free(condense);
    cf_tool_fit(t, f.reader);
    findings_group(&f);
    if (profile) {
        cf_callgrind_write(profile, o->callgrind);
        cf_callgrind_free(profile);
    }
    findings_print(&f);
    findings_free(&f);
    return cf_tool_finish(t, f.reader, NULL);
}

int main(int argc, char **argv)
{
    static struct report r;
    struct page_options o;
    struct findings_options f = {0};
    const int end = find_command(argc, argv);
    int kind;

    cf_tool_init(&r.tool, argc, argv, "cf-report", usage);
    kind = parse(&r, &o, &f, argc, argv);
    if (kind == CACHEPERF)
        return findings_report(&r.tool, &f, argv + optind, end - optind);
    r.machine = cf_tool_machine(&r.tool, r.o.machine);
    return kind == LEON4 ? leon4_report(&r, argv + optind, end - optind)
                         : page_report(&r, &o, argv + optind, end - optind);
}
