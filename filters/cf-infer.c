/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf-infer - the description of a machine, from measurements of its caches.
 *
 * In: a stream with table probe (cf-capture-probe). Out: a machine description, cf-machine(5), or
 * the estimates as CSV, with bounds. An experiment gives a change point with a confidence
 * (change.h), and the experiments on one cache size, ways and line on which they agree
 * (geometry.h). What they contradict, or noise hides, is left out and named. Memory: some 200
 * bytes a measurement.
 */
#include <stdlib.h>
#include <string.h>

#include "filters/parts/infer/infer.h"
#include "formats/program/cf_rows.h"

static const char usage[] =
    "Usage: cf-infer [OPTION]... [FILE]...\n"
    "Infer from measurements (cf-capture probe) what caches a machine has, and print a machine\n"
    "description, which -m of other programs takes.\n"
    "With no FILE, or when FILE is -, read standard input.\n"
    "\n"
    "      --assume NAME     take what cannot be told from this description, or from host\n"
    "      --compare NAME    print what is measured beside what a description, or host, claims\n"
    "      --least P         tell what has at least this confidence  [0.95]\n"
    "      --csv, --term, --json\n"
    "                        print all estimates, with bounds and confidence, as CSV, a table or\n"
    "                        JSON, instead of a description\n"
    "      --picture FILE    also draw the experiments: .png, .svg or .pdf; with a % in its name\n"
    "                        a file each, such as L1D-size; - is PNG on standard output\n"
    "      --html FILE       also a page to explore in a browser, in one file\n"
    "      --picture-size WxH  in pixels, or in millimetres as WxHmm  [900x540, and larger for "
    "all]\n"
    "      --title TEXT      of the picture, instead of its own; '' for none\n"
    "  -q, --quiet           no progress, no remarks\n"
    "  -h, --help, --version, --max-strings SIZE\n"
    "\n"
    "Examples:\n"
    "  cf-capture probe | cf-infer > here.yaml\n"
    "  cf-infer --compare host --picture 'probe-%.png' probe.cf\n";

static void set_least(const struct cf_tool *t, void *least, const char *option, char *text)
{
    *(double *)least = cf_parse_f64(t, option, text, 0.5, 1, CF_FROM_TO);
}

static void parse(struct infer *f, int argc, char **argv)
{
    struct options *o = &f->o;
    const struct cf_option table[] = {
        {"assume", 0, CF_TEXT(&o->assume), .reads = CF_READS_MACHINE},
        {"compare", 0, CF_TEXT(&o->compare), .reads = CF_READS_MACHINE},
        {"least", 0, CF_CALL(set_least, &o->least)},
        CF_PICTURE_OPTIONS(&o->output),
        CF_FORM_OPTIONS,
        CF_END_INPUT_OPTIONS,
    };

    o->least = 0.95;
    cf_options_read(&f->tool, argc, argv, table);
    cf_output_check(&f->tool, &o->output);
    if (o->assume)
        f->assumed = cf_tool_machine(&f->tool, o->assume);
    if (o->compare)
        f->claimed = cf_tool_machine(&f->tool, o->compare);
}

/* What was left out, for who does not read the comments. */
static void remark(const struct infer *f)
{
    unsigned left = 0;

    for (unsigned i = 0; i < f->caches && !f->tool.quiet; i++) {
        const struct cache *c = &f->cache[i];

        for (unsigned k = 0; k < WHATS; k++)
            if (c->value[k].how == NOT_TOLD && left++ < 8)
                cf_warn(&f->tool, "%s of %s: cannot tell: %s", what_names[k], c->name,
                        c->value[k].by);
        if (c->policy.how == NOT_TOLD && left++ < 8)
            cf_warn(&f->tool, "policy of %s: cannot tell: %s", c->name, c->policy.by);
    }
    if (left > 8)
        cf_warn(&f->tool, "and %u more: --csv lists them", left - 8);
}

static void print_all(struct infer *f)
{
    if (cf_output_stdout(&f->tool, &f->o.output) == CF_STDOUT_PICTURE)
        return;
    if (f->claimed || f->tool.form) {
        cf_rows_begin(&f->tool);
        (f->claimed ? print_comparison : print_estimates)(f, stdout);
        return;
    }
    remark(f);
    if (!print_description(f, stdout))
        cf_fail(&f->tool, CF_EXIT_INPUT, "no cache can be described: --csv lists what is known%s",
                f->assumed ? "" : ", --assume fills up the rest");
}

int main(int argc, char **argv)
{
    static struct infer f;

    cf_tool_init(&f.tool, argc, argv, "cf-infer", usage);
    parse(&f, argc, argv);
    f.reader = cf_tool_reader(&f.tool, argv + optind, argc - optind);
    read_rows(&f);
    find_changes(&f);
    know(&f);
    print_all(&f);
    draw_series(&f);
    cf_machine_free(f.assumed);
    cf_machine_free(f.claimed);
    return cf_tool_finish(&f.tool, f.reader, NULL);
}
