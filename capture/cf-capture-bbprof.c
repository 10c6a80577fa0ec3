/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf-capture-bbprof - imports profiles of pages of the published BBProf tool, the one of "Governing
 * with Insights" (Ghaemi et al.).
 *
 * In: binary profiles as its option -o writes them, and what it prints: mappings (-l), profiles
 * (-t), rankings (-r). Out: table page. What the profile does not state (the mode, the baselines,
 * names of mappings) is an option, or found in the text.
 * Memory: one profile.
 */
#include <stdlib.h>
#include <sys/stat.h>

#include "capture/bbprof/import.h"
#include "formats/base/cf_number.h"
#include "formats/program/cf_options.h"

static const char usage[] =
    "Usage: cf-capture bbprof [options] [FILE]...\n"
    "Import profiles of pages that the published BBProf tool has written: binary profiles\n"
    "(its -o), or what it printed: mappings (-l), profiles (-t), rankings (-r).\n"
    "With no FILE, or when FILE is -, read standard input.\n"
    "\n"
    "      --mode MODE        cached: only the page was cached (the tool's -m c); uncached: all\n"
    "                         but the page (-m nc)  [by the order in text, else cached]\n"
    "      --none CYCLES      runtime with no page cached, which gains need\n"
    "      --all CYCLES       runtime with all pages cached\n"
    "      --region N=NAME    name of mapping N of the tool's list; may be repeated\n"
    "  -o, --output FILE      write a packed file instead of standard output\n"
    "      --probe            report whether this source can be used here, and exit\n"
    "  -q, --quiet            no remarks, no progress\n"
    "  -h, --help             show this text\n"
    "      --version          show the version\n"
    "\n"
    "Example: cf-capture bbprof layout.txt --none 60079155 loop.prof |\n"
    "             cf-rank --by page --value gain\n";

enum { NAMES_MOST = 1024 };

static void name_mappings(struct bbprof *m, const char *const *text, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        uint64_t index = 0;
        const char *p = cf_scan_number(text[i], CF_READ_DECIMAL, &index);
        struct bbprof_mapping *g;

        if (!p || *p != '=' || !p[1] || index >= BBPROF_MAPPINGS_MOST)
            cf_die(m->tool, CF_EXIT_USAGE, "--region %s: not N=NAME, such as 2=[heap]", text[i]);
        g = bbprof_mapping(m, (uint32_t)index);
        g->name = cf_tool_text(m->tool, "%s", p + 1);
        g->by_option = 1;
    }
}

static void idle(void *arg)
{
    struct bbprof *m = arg;

    (void)cf_writer_flush(m->out);
}

/* ---- inputs ---- */

static void end_input(struct bbprof *m)
{
    const int cut = m->lines.failed;

    m->status |= m->lines.failed;
    m->lines.failed = 0;
    if (m->binary)
        bbprof_binary(m);
    else
        bbprof_text_end(m, cut);
    if (m->bad > 1)
        cf_warn(m->tool, "%s: %llu of its lines or pages were bad in all, the rest was processed",
                m->name, (unsigned long long)m->bad);
    free(m->bytes.data);
    m->bytes = (struct cf_bytes){0};
    m->name = NULL;
}

static void begin_input(struct bbprof *m, const char *name)
{
    m->name = strcmp(name, "-") == 0 ? "standard input" : name;
    m->binary = m->lines.blocks;
    m->bad = 0;
    m->part = BBPROF_OUTSIDE;
    m->current = -1;
    m->profiled = 0;
    m->found = BBPROF_UNSTATED;
}

/* An input of which nothing came, though it could be read. */
static void report_empty(struct bbprof *m, const char *name)
{
    struct stat st;

    if (stat(name, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size)
        return;
    cf_warn(m->tool, "%s: is empty", name);
    m->status |= CF_EXIT_INPUT;
}

/* What came at once of a binary input. */
static void take_bytes(struct bbprof *m)
{
    const size_t n = (size_t)(m->lines.end - m->lines.at);

    if (m->bytes.used + n > BBPROF_BYTES_MOST)
        cf_die(m->tool, CF_EXIT_INPUT, "%s: over %d bytes: this is no profile", m->name,
               BBPROF_BYTES_MOST);
    cf_must(m->tool, cf_bytes_add(&m->bytes, m->lines.at, n));
    m->lines.at = m->lines.end;
}

static void import(struct bbprof *m, char *const *files, int count)
{
    int begun = 0; /* inputs */

    for (;;) {
        const int more = m->lines.at != m->lines.end || cf_lines_fill(&m->lines);
        const int input = more ? m->lines.input : count;
        const char *line;
        size_t length;

        if (m->name && (!more || input != begun))
            end_input(m);
        for (; begun < input - more; begun++)
            report_empty(m, files[begun]);
        if (!more)
            return;
        if (!m->name)
            begin_input(m, count ? files[input - 1] : "-");
        begun = input;
        if (m->binary)
            take_bytes(m);
        else if (cf_lines_next(&m->lines, &line, &length))
            bbprof_line(m, line, length);
    }
}

/* What the profile did not state, and what is missing. */
static void remarks(const struct bbprof *m)
{
    if (m->tool->quiet)
        return;
    if (m->assumed)
        cf_warn(m->tool, "the mode is not in the input: taken for the tool's default, of each run "
                         "only one page cached (--mode)");
    if (m->used == BBPROF_CACHED && !m->has_none)
        cf_warn(m->tool, "there is no run with no page cached, and without it no gains: --none");
    if (m->used == BBPROF_UNCACHED && !m->has_all)
        cf_warn(m->tool, "there is no run with all pages cached, and without it no gains: --all");
    if (m->used == BBPROF_CACHED && m->runs && !m->has_all)
        cf_warn(m->tool, "there is no run with all pages cached, and without it the runs of the "
                         "ranking give no working set: --all");
    if (m->uncached)
        cf_warn(m->tool,
                "%llu runs of a ranking are left out: that all but the best k pages were cached is "
                "no policy of table page",
                (unsigned long long)m->uncached);
    if (m->migrated)
        cf_warn(m->tool,
                "%llu runs with migrated pages are left out: the text does not state how many",
                (unsigned long long)m->migrated);
}

int main(int argc, char **argv)
{
    static struct bbprof m;
    const struct cf_header header = {.clock_unit = (char *)"cycles",
                                     .source = (char *)"cf-capture-bbprof"};
    struct cf_tool t;
    const char *output = NULL, *stated[NAMES_MOST];
    unsigned names = 0;
    uint64_t none = 0, all = 0;
    const struct cf_option options[] = {
        {"mode", 0, CF_WORD(&m.mode, "cached uncached", BBPROF_CACHED)},
        {"none", 0, CF_NUMBER(&none, 1, INT64_MAX)},
        {"all", 0, CF_NUMBER(&all, 1, INT64_MAX)},
        {"region", 0, CF_TEXTS(stated, &names, NAMES_MOST)},
        {"output", 'o', CF_FILE(&output)},
        {"probe", 0, CF_READY("ready: reads files, needs nothing of this machine")},
        CF_END_OPTIONS,
    };

    cf_tool_init(&t, argc, argv, "cf-capture-bbprof", usage);
    m.tool = &t;
    cf_options_read(&t, argc, argv, options);
    name_mappings(&m, stated, names);
    cf_lines_open(&m.lines, &t, argv + optind, argc - optind);
    m.lines.block = 1;
    m.out = cf_tool_recording(&t, output);
    (void)cf_writer_header(m.out, &header); /* a failure shows when the writer is closed */
    cf_lines_idle(&m.lines, idle, &m);
    if (none)
        bbprof_run(&m, CF_PAGES_NONE, 0, 1, none, -1);
    if (all)
        bbprof_run(&m, CF_PAGES_ALL, 0, 1, all, -1);
    m.rows = 0;
    import(&m, argv + optind, argc - optind);
    m.status |= cf_lines_finish(&m.lines);
    if (m.rows)
        remarks(&m);
    free(m.page);
    free(m.mapping);
    return cf_lines_close(&t, m.out, m.status,
                          m.rows ? NULL : "the input holds no page of a profile, and no ranking");
}
