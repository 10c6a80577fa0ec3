/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf-mrc - miss-ratio curve: how many accesses an LRU cache misses, for every size.
 *
 * In: a stream with column dist (cf-distance). Out: CSV. An access misses a cache of n lines if and
 * only if its distance is n or more (Mattson, Gecsei, Slutz, Traiger 1970), so the curve is a sum
 * over a histogram: see curve.h. Sampled distances (SHARDS: Waldspurger, Park, Garthwaite, Ahmad,
 * "Efficient MRC construction with SHARDS", FAST 2015) count as what they stand for, and an error
 * is printed: see mrc_samples.c. Memory: some 2 KiB a curve, 39 times that with samples; nothing
 * that grows with the stream.
 */
#include <stdlib.h>
#include <string.h>

#include "filters/parts/mrc/mrc.h"
#include "formats/program/cf_options.h"

static const char usage[] =
    "Usage: cf-mrc [OPTION]... [FILE]...\n"
    "Print the miss-ratio curve as CSV: how many accesses an LRU cache of each size misses,\n"
    "from column dist, which cf-distance adds.\n"
    "With no FILE, or when FILE is -, read standard input.\n"
    "\n"
    "      --by COLUMN      a curve for each value: pid, tid, op, region, ...\n"
    "      --points N       sizes in each doubling, 1 to 1024  [4]\n"
    "      --max SIZE       largest cache  [where all misses left are first accesses]\n"
    "      --at LIST        these sizes only, such as 32K,1M\n"
    "      --line-size SIZE bytes of a line  [from the stream, else 64]\n"
    "      --sets N         sets within which distances count  [from the stream, else 1]\n"
    "      --partial        write a result that cf-mrc joins with those of other parts of what\n"
    "                       cf-distance has written\n"
    "      --csv, --term, --json\n"
    "                       the form of the output  [a table on a terminal, else CSV]\n"
    "      --picture FILE   also a picture, .png, .svg or .pdf; - is PNG on standard\n"
    "                       output, then without CSV\n"
    "      --html FILE      also a page to explore in a browser, in one file\n"
    "      --picture-size WxH  in pixels, or in millimetres as WxHmm  [900x540]\n"
    "      --title TEXT     of the picture, instead of its own; '' for none\n"
    "  -m, --machine NAME   mark the sizes of the machine's caches in the picture\n"
    "  -q, --quiet          no progress, no remarks\n"
    "  -h, --help, --version, --max-strings SIZE\n"
    "\n"
    "Examples:\n"
    "  cf-distance trace.cf | cf-mrc > curve.csv\n"
    "  cf-distance --sets 64 trace.cf | cf-mrc --at 16K,32K,64K --by op\n";

static void set_by(const struct cf_tool *t, void *mrc, const char *option, char *text)
{
    struct mrc *m = mrc;

    m->o.by = text;
    m->by = cf_column_find(text);
    if (!m->by || !cf_type_width(cf_column_type(m->by)) || m->by == CF_DIST ||
        m->by == CF_DIST_WEIGHT)
        cf_die(t, CF_EXIT_USAGE,
               "%s '%s': give a column of accesses, such as pid, tid, cpu, op, region, object, "
               "site, symbol, function, source or class",
               option, text);
}

static void parse(struct mrc *m, int argc, char **argv)
{
    int points = 0;
    const struct cf_option table[] = {
        {"by", 0, CF_CALL(set_by, m)},
        {"points", 0, CF_NUMBER(&m->o.points, 1, 1024), .given = &points},
        {"max", 0, CF_NUMBER(&m->o.most, 1, UINT64_MAX)},
        {"at", 0, CF_CALL(cf_parse_rising, &m->o.at)},
        {"line-size", 0, CF_POWER(&m->o.line_size, 1, UINT64_MAX)},
        {"sets", 0, CF_NUMBER(&m->o.sets, 1, UINT32_MAX)},
        {"machine", 'm', CF_TEXT(&m->o.machine), .reads = CF_READS_MACHINE},
        CF_PARTIAL_OPTION(&m->partial),
        CF_PICTURE_OPTIONS(&m->o.output),
        CF_FORM_OPTIONS,
        CF_END_INPUT_OPTIONS,
    };

    m->o = (struct options){.points = 4,
                            .at = {1, UINT64_MAX, UINT32_MAX, 0, NULL},
                            .output.sheet = {.width = 900, .height = 540}};
    cf_options_read(&m->tool, argc, argv, table);
    if (m->o.at.count && (m->o.most || points))
        cf_die(&m->tool, CF_EXIT_USAGE, "--at does not go with --%s", points ? "points" : "max");
    cf_output_check(&m->tool, &m->o.output);
    if (m->partial.asked && (m->o.output.picture || m->o.output.html))
        cf_die(&m->tool, CF_EXIT_USAGE, "--partial does not go with --%s",
               m->o.output.picture ? "picture" : "html");
    if (m->o.machine && !m->o.output.picture && !m->o.output.html)
        cf_die(&m->tool, CF_EXIT_USAGE,
               "--machine marks sizes in a picture: give --picture or --html, or for these sizes "
               "alone --at");
    m->partial.tool = &m->tool;
    m->partial.options = mrc_options(m);
}

/* ---- of what the distances are, and the sizes of caches that follow from that ---- */

static void make_points(struct mrc *m)
{
    uint64_t unit = m->line_size * m->sets; /* bytes of one way */

    if (m->o.most && m->o.most < unit)
        cf_die(&m->tool, CF_EXIT_USAGE, "--max: %llu bytes are less than one way, which has %llu",
               (unsigned long long)m->o.most, (unsigned long long)unit);
    if (m->o.at.count) {
        m->lines = cf_tool_room(&m->tool, m->o.at.count, sizeof(*m->lines));
        for (size_t i = 0; i < m->o.at.count; i++) {
            if (m->o.at.value[i] % unit != 0)
                cf_die(&m->tool, CF_EXIT_USAGE,
                       "--at: %llu bytes are no whole number of ways of %llu bytes: %llu sets of"
                       " %llu-byte lines",
                       (unsigned long long)m->o.at.value[i], (unsigned long long)unit,
                       (unsigned long long)m->sets, (unsigned long long)m->line_size);
            m->lines[m->points++] = m->o.at.value[i] / unit;
        }
    } else {
        m->lines = make_sizes(&m->tool, m->o.points, m->o.most ? m->o.most / unit : UINT64_MAX,
                              &m->points);
    }
    m->exact = cf_need(&m->tool, cf_curve_new(m->lines, m->points));
}

/* A fact of column dist, from 1 to `most`; 0 where the header does not state it. */
static uint64_t fact(const struct mrc *m, const struct cf_header *h, const char *key, uint64_t most)
{
    uint64_t n = 0;
    const int stated = cf_header_number(h, "dist", key, &n);

    if (stated && (stated < 0 || n == 0 || n > most))
        cf_die(&m->tool, CF_EXIT_INPUT,
               "the header states of column dist the %s '%s', which is out of range: run "
               "cf-distance again",
               key, cf_header_fact(h, "dist", key));
    return n;
}

/* What the option says, which is reported, once, where it contradicts the fact; else the fact. */
static uint64_t option_or_fact(const struct mrc *m, const struct cf_header *h, uint64_t option,
                               const char *name, const char *key, uint64_t most, int *told)
{
    uint64_t stated;

    if (!option)
        return fact(m, h, key, most);
    if (cf_header_number(h, "dist", key, &stated) > 0 && stated != option && !*told) {
        *told = 1;
        cf_warn(&m->tool, "%s %llu: the header states of column dist the %s %llu", name,
                (unsigned long long)option, key, (unsigned long long)stated);
    }
    return option;
}

/* Ends the program where distances of other operations or stacks than before would be added. */
static void check_kind(struct mrc *m, const struct cf_header *h)
{
    static const char *const key[] = {"for", "per"};

    for (unsigned i = 0; i < 2; i++) {
        const char *fact = cf_header_fact(h, "dist", key[i]);

        if (fact && m->of[i] && strcmp(fact, m->of[i]) != 0)
            cf_die(
                &m->tool, CF_EXIT_INPUT,
                "the inputs have distances %s %s and %s %s, by cf-distance: make a curve of each",
                key[i], m->of[i], key[i], fact);
        if (fact && !m->of[i])
            m->of[i] = cf_tool_text(&m->tool, "%s", fact);
    }
}

/* Takes in what a header states of column dist; the first one decides on the sizes. */
static void take_header(struct mrc *m, const struct cf_header *h)
{
    uint64_t line =
        option_or_fact(m, h, m->o.line_size, "--line-size", "line_size", 1 << 30, &m->told[0]);
    uint64_t sets = option_or_fact(m, h, m->o.sets, "--sets", "sets", UINT32_MAX, &m->told[1]),
             bound = 0;

    check_kind(m, h);
    cf_before_check(&m->tool, h, CF_DIST, &m->before);
    if (line & (line - 1))
        cf_die(&m->tool, CF_EXIT_INPUT,
               "the header states lines of %llu bytes for column dist, which is no power of two: "
               "run cf-distance again",
               (unsigned long long)line);
    if (cf_header_number(h, "dist", "bound", &bound) < 0)
        bound = fact(m, h, "bound", UINT64_MAX);
    m->unknown |= !line || !sets;
    line = line ? line : 64;
    sets = sets ? sets : 1;
    if (!m->header_seen) {
        m->header_seen = 1;
        m->line_size = line;
        m->sets = sets;
        m->bound = bound;
        make_points(m);
        return;
    }
    if (line != m->line_size || sets != m->sets)
        cf_die(&m->tool, CF_EXIT_INPUT,
               "the inputs have distances of different line sizes or sets: make a curve of each");
    if (bound && (!m->bound || bound < m->bound))
        m->bound = bound;
}

/* ---- counting ---- */

void number_groups(struct mrc *m, const void *values, size_t width, uint32_t rows)
{
    const int bad = cf_groups_number(m->groups, values, width, rows, m->group);

    if (bad > 0)
        cf_die(&m->tool, CF_EXIT_INPUT, "--by '%s': more than %d values: choose another column",
               m->o.by, CF_GROUPS_MOST);
    cf_must(&m->tool, bad);
}

static void count_frame(struct mrc *m, const struct cf_frame *f)
{
    const uint64_t *weight = cf_u64(f, CF_WEIGHT);
    const double *stands_for = cf_values(f, CF_DIST_WEIGHT);
    const uint32_t *group = NULL;
    size_t groups = 1;

    if (m->by) {
        number_groups(m, cf_values(f, m->by), cf_type_width(cf_column_type(m->by)), f->rows);
        group = m->group;
        groups = cf_groups_count(m->groups);
    }
    cf_must(&m->tool, stands_for ? samples_count(m, f, group, weight, stands_for, groups)
                                 : cf_curve_add(m->exact, cf_u64(f, CF_DIST), group, weight,
                                                f->rows, groups));
}

static void run(struct mrc *m)
{
    struct cf_reader *r = m->reader;
    struct cf_frame *f;

    cf_reader_unify(r);
    cf_reader_pieces(r);
    cf_reader_want(r, CF_ACCESS, CF_DIST, CF_REQUIRED);
    cf_reader_want_each(r, CF_ACCESS, CF_OPTIONAL, CF_WEIGHT, CF_DIST_WEIGHT);
    if (m->by)
        cf_reader_want(r, CF_ACCESS, m->by, CF_REQUIRED);
    m->mix.column[0] = m->by;
    while (cf_tool_next(&m->tool, r, &f) > 0) {
        const int partial = cf_partial_frame(&m->partial, f);

        if (f->table == CF_HEADER && !partial)
            cf_mix_check(&m->mix, &m->tool, f->header);
        if (f->table == CF_HEADER)
            take_header(m, f->header);
        else if (partial)
            mrc_merge(m, f);
        else if (f->table == CF_ACCESS)
            count_frame(m, f);
    }
    cf_partial_end(&m->partial);
    if (m->unknown && !m->tool.quiet)
        cf_warn(&m->tool,
                "the header does not state of what lines and sets the distances are: they are "
                "taken for those of %llu-byte lines and %llu sets: give --line-size and --sets, or "
                "run cf-distance again",
                (unsigned long long)m->line_size, (unsigned long long)m->sets);
    samples_check(m);
}

int main(int argc, char **argv)
{
    static struct mrc m;

    cf_tool_init(&m.tool, argc, argv, "cf-mrc", usage);
    parse(&m, argc, argv);
    m.reader = cf_partial_reader(&m.partial, argv + optind, argc - optind);
    m.groups = cf_need(&m.tool, cf_groups_new());
    m.group = cf_column_room(&m.tool, sizeof(*m.group));
    m.part = cf_column_room(&m.tool, sizeof(*m.part));
    m.dist = cf_column_room(&m.tool, sizeof(*m.dist));
    m.weight = cf_column_room(&m.tool, sizeof(*m.weight));
    run(&m);
    if (m.partial.asked)
        mrc_write(&m);
    else
        print_curves(&m);
    cf_groups_free(m.groups);
    cf_curve_free(m.exact);
    cf_curve_free(m.sampled);
    cf_curve_free(m.fine);
    free(m.accesses);
    free(m.samples);
    cf_mix_free(&m.mix);
    if (m.partial.asked)
        return cf_partial_finish(&m.partial);
    cf_partial_free(&m.partial);
    return cf_tool_finish(&m.tool, m.reader, NULL);
}
