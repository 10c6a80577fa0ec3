/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf-clash - will programs hurt each other on a shared cache? "Observing the Invisible", section
 * 7.6 and Table 3.
 *
 * In: for each program the snapshots that were taken of it alone in flush mode, a stream each, or
 * its profile as cf-sets writes it. Out: for each ordered pair of an observed and an interfering
 * program how far their active sets together exceed the cache, and how much of the observed one's
 * reused set the other evicts; and, with measured slowdowns, how well either predicts these.
 *
 * One pass over each input. Memory: 16 bytes a snapshot, and while a stream is read what
 * census.h says. The metrics are in clash.c, input and output in clash/.
 */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "filters/parts/clash/clash.h"
#include "formats/program/cf_options.h"
#include "formats/program/cf_rows.h"

static const char usage[] =
    "Usage: cf-clash [OPTION]... [NAME=]FILE...\n"
    "Estimate for each pair of programs how much of a shared cache the interfering one would\n"
    "take from the observed one. Each FILE has snapshots of one program that ran alone, or is\n"
    "its profile.csv from cf-sets. Writes CSV, or a table where standard output is a terminal.\n"
    "With no FILE, or when FILE is -, read standard input.\n"
    "\n"
    "      --names LIST     names of the programs, with commas            [as their files]\n"
    "      --lengths HOW    bring the interfering profile to the observed one's length:\n"
    "                       repeat, stretch, once, or phases (mean over all starts) [repeat]\n"
    "      --slowdown FILE  CSV of measured slowdowns: observed, interfering, slowdown\n"
    "      --correlation    print how well the metrics correlate with the slowdowns instead\n"
    "      --no-self        leave out the pairs of a program with itself\n"
    "      --level N        only cache level N                                  [the last]\n"
    "      --lines N        lines of the cache, where snapshots do not state its size\n"
    "      --csv, --term, --json\n"
    "                       the form of the output  [a matrix on a terminal, else CSV]\n"
    "  -q, --quiet          no progress, no hints\n"
    "  -h, --help, --version, --max-strings SIZE\n"
    "\n"
    "Example:\n"
    "  cf-clash --slowdown measured.csv a.cf b.cf bomb=bomb.csv\n";

enum { MOST_PROGRAMS = 1024 };

static void parse(struct cf_tool *t, struct clash_options *o, int argc, char **argv)
{
    const struct cf_option table[] = {
        {"names", 0, CF_TEXT(&o->names)},
        {"lengths", 0, CF_WORD(&o->lengths, "repeat stretch once phases", 0)},
        {"slowdown", 0, CF_TEXT(&o->slowdown), .reads = CF_READS_FILE},
        {"correlation", 0, CF_FLAG(&o->correlation)},
        {"no-self", 0, CF_FLAG(&o->no_self)},
        {"level", 0, CF_NUMBER(&o->level, 1, 255)},
        {"lines", 0, CF_NUMBER(&o->lines, 1, UINT32_MAX)},
        CF_FORM_OPTIONS,
        {"table", 0, CF_OLD("term")},
        CF_END_INPUT_OPTIONS,
    };

    cf_options_read(t, argc, argv, table);
    if (o->correlation && !o->slowdown)
        cf_die(t, CF_EXIT_USAGE, "--correlation: with what? give --slowdown FILE");
}

static int ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);

    return n >= m && !strcmp(text + n - m, end);
}

/* "NAME=FILE", or the file's own name without its directory and ending. A file whose path has a "="
   only after a "/" has no name before it. */
static void read_program(struct clash *c, struct profile *p, char *argument)
{
    char *is = argument ? strchr(argument, '=') : NULL, *file = argument;
    const char *slash = argument ? strchr(argument, '/') : NULL;

    if (is && is != argument && (!slash || slash > is)) {
        file = is + 1;
        p->name = cf_tool_text(&c->tool, "%.*s", (int)(is - argument), argument);
    } else if (!file || !strcmp(file, "-")) {
        p->name = cf_tool_text(&c->tool, "-");
    } else {
        const char *base = strrchr(file, '/') ? strrchr(file, '/') + 1 : file;
        const char *dot = strrchr(base, '.');

        p->name = cf_tool_text(&c->tool, "%.*s", (int)(dot ? dot - base : INT_MAX), base);
    }
    if (file && ends_with(file, ".csv"))
        read_profile(c, p, file);
    else
        read_stream(c, p, file);
}

/* The names of --names, of which there must be one a program. */
static void rename_programs(struct clash *c)
{
    char *rest = cf_tool_text(&c->tool, "%s", c->o.names);

    for (uint32_t i = 0; i < c->profiles; i++) {
        const char *name = strsep(&rest, ",");

        if (!name || (i + 1 == c->profiles && rest))
            cf_die(&c->tool, CF_EXIT_USAGE, "--names '%s': not one for each of %u programs",
                   c->o.names, c->profiles);
        c->profile[i].name = cf_tool_text(&c->tool, "%s", name);
    }
}

static void make_pairs(struct clash *c)
{
    c->pair = cf_tool_room(&c->tool, (size_t)c->profiles * c->profiles, sizeof *c->pair);
    for (uint32_t i = 0; i < c->profiles; i++)
        for (uint32_t o = 0; o < c->profiles; o++) {
            const struct profile *observed = &c->profile[o], *other = &c->profile[i];

            if (c->o.no_self && o == i)
                continue;
            c->pair[c->pairs++] = (struct pair){
                .observed = o,
                .interfering = i,
                .excess = cf_clash_excess(observed->active, observed->count, other->active,
                                          other->count, c->o.lengths),
                .eviction = cf_clash_eviction(observed->reused, observed->count, other->active,
                                              other->count, c->o.lengths),
                .slowdown = NAN,
            };
        }
}

struct pair *clash_pair(const struct clash *c, uint32_t observed, uint32_t interfering)
{
    if (!c->o.no_self)
        return &c->pair[(size_t)interfering * c->profiles + observed];
    if (observed == interfering)
        return NULL;
    return &c->pair[(size_t)interfering * (c->profiles - 1) + observed - (observed > interfering)];
}

/* ---- pairs as CSV and as the paper's Table 3, and correlation. Memory: 16 bytes a pair ---- */

enum metric { SLOWDOWN, EXCESS, EVICTION };

static double value_of(const struct pair *p, enum metric m)
{
    return m == SLOWDOWN ? p->slowdown : m == EXCESS ? p->excess : p->eviction;
}

static void print_pairs(const struct clash *c)
{
    cf_rows_begin(&c->tool);
    printf("observed,interfering,active_set_excess,reused_set_eviction%s\n",
           c->o.slowdown ? ",slowdown" : "");
    for (uint32_t i = 0; i < c->pairs; i++) {
        const struct pair *p = &c->pair[i];

        cf_csv_print(stdout, "%s,%s,%.6f,%.6f", c->profile[p->observed].name,
                     c->profile[p->interfering].name, p->excess, p->eviction);
        if (c->o.slowdown)
            cf_csv_f64(stdout, 0, p->slowdown, 6);
        cf_csv_end(stdout);
    }
}

/* Over the pairs that have both, and how many these are. */
static double correlation(const struct clash *c, enum metric m, size_t *n)
{
    double *x = cf_tool_room(&c->tool, c->pairs, sizeof *x);
    double *y = cf_tool_room(&c->tool, c->pairs, sizeof *y);

    *n = 0;
    for (uint32_t i = 0; i < c->pairs; i++) {
        if (isnan(c->pair[i].slowdown) || isnan(value_of(&c->pair[i], m)))
            continue;
        x[*n] = value_of(&c->pair[i], m);
        y[(*n)++] = c->pair[i].slowdown;
    }
    return cf_clash_correlation(x, y, *n);
}

static void print_correlation(const struct clash *c)
{
    static const char *const names[] = {"", "active_set_excess", "reused_set_eviction"};

    cf_rows_begin(&c->tool);
    puts("metric,pairs,correlation");
    for (enum metric m = EXCESS; m <= EVICTION; m++) {
        size_t n;
        const double r = correlation(c, m, &n);

        cf_csv_print(stdout, "%s,%zu,%.6f\n", names[m], n, r);
    }
}

/* A name in the table: names come from the command line and files, whose control characters stay
   out of a terminal. */
static void put_name(const char *name, int width)
{
    int n = 0;

    for (; *name && n < width; name++, n++)
        putchar(*name >= 32 && *name < 127 ? *name : '?');
    printf("%*s", width - n, "");
}

static void print_group(const struct clash *c, enum metric m, const char *title)
{
    enum { WIDTH = 14 };

    put_name(title, 22);
    for (uint32_t o = 0; o < c->profiles; o++)
        put_name(c->profile[o].name, WIDTH - 1), putchar(' ');
    putchar('\n');
    for (uint32_t i = 0; i < c->profiles; i++) {
        fputs("  ", stdout);
        put_name(c->profile[i].name, 19);
        putchar(' ');
        for (uint32_t o = 0; o < c->profiles; o++) {
            const struct pair *p = clash_pair(c, o, i);
            const double v = p ? value_of(p, m) : NAN;

            if (isnan(v))
                printf("%-*s", WIDTH, "-");
            else
                printf("%-*.2f", WIDTH, v);
        }
        putchar('\n');
    }
    if (m != SLOWDOWN && c->o.slowdown) {
        size_t n;
        const double r = correlation(c, m, &n);

        if (isnan(r))
            printf("  correlation coefficient: none, of %zu pairs\n", n);
        else
            printf("  correlation coefficient: %.2f, of %zu pairs\n", r, n);
    }
    putchar('\n');
}

static void print_table(const struct clash *c)
{
    puts("Rows: interfering program; columns: observed program\n");
    if (c->o.slowdown)
        print_group(c, SLOWDOWN, "Slowdown");
    print_group(c, EXCESS, "Active set excess");
    print_group(c, EVICTION, "Reused set eviction");
}

int main(int argc, char **argv)
{
    static struct clash c;
    int files;

    cf_tool_init(&c.tool, argc, argv, "cf-clash", usage);
    parse(&c.tool, &c.o, argc, argv);
    files = argc - optind;
    if (files > MOST_PROGRAMS)
        cf_die(&c.tool, CF_EXIT_USAGE, "%d programs: at most %d", files, MOST_PROGRAMS);
    c.profiles = files ? (uint32_t)files : 1;
    c.profile = cf_tool_room(&c.tool, c.profiles, sizeof *c.profile);
    for (uint32_t i = 0; i < c.profiles; i++)
        read_program(&c, &c.profile[i], files ? argv[optind + (int)i] : NULL);
    if (c.tool.refused)
        return c.tool.status; /* what is missing would be taken for another number of programs */
    if (c.o.names)
        rename_programs(&c);
    make_pairs(&c);
    if (c.o.slowdown)
        read_slowdowns(&c, c.o.slowdown);
    if (c.o.correlation)
        print_correlation(&c);
    else if (cf_tool_term(&c.tool))
        print_table(&c);
    else
        print_pairs(&c);
    for (uint32_t i = 0; i < c.profiles; i++) {
        free(c.profile[i].active);
        free(c.profile[i].reused);
    }
    return cf_tool_finish(&c.tool, NULL, NULL);
}
