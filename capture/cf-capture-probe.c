/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf-capture-probe - what caches a machine has, by measurements of synthetic access patterns: the
 * experiments of Abel and Reineke, "Automatic Cache Modeling by Measurements", and searches for the
 * size, line and ways of every level.
 *
 * In: nothing; with --on a machine description, whose model runs beside. Out: table probe, a row a
 * measurement. Memory: 16 bytes a node of the longest pattern, and a buffer of twice the largest
 * cache that is looked for; that of a model is not there.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/base/cf_clock.h"
#include "capture/probe/bench/model.h"
#include "capture/probe/noise.h"
#include "capture/probe/session.h"
#include "formats/program/cf_options.h"

static const char usage[] =
    "Usage: cf-capture probe [option]...\n"
    "Measure access patterns that show which caches a machine has: table probe, for cf-infer.\n"
    "\n"
    "      --on MACHINE     a model in place of this machine: an installed description, FILE.yaml, "
    "host\n"
    "      --noise[=PERCENT]  jitter of times, another program and a prefetcher on the model  [5]\n"
    "      --by WHAT        misses, or time  [misses where they are counted]\n"
    "      --event NAME     of libpfm4 or PAPI, that counts misses here\n"
    "      --cpu N          the CPU that is measured  [the one it runs on]\n"
    "      --quick          only what the searches need, without the steps of the paper\n"
    "      --thorough       more of the paper's steps, and more repeats\n"
    "      --only LIST      write these experiments alone: capacity, associativity, block, size,\n"
    "                       line, ways, way-size, apart, pair, levels, latency, inclusion, pages,\n"
    "                       window, policy, index, share, tlb, size.code, associativity.code,\n"
    "                       ways.code, latency.code\n"
    "      --max SIZE       the largest cache that is looked for  [32M]\n"
    "      --seed N         seed of the orders, of random replacement, and of noise  [1]\n"
    "  -o, --output FILE    write a packed file instead of standard output\n"
    "      --probe          report whether this source can be used here, and exit\n"
    "  -q, --quiet          no remarks, no progress\n"
    "  -h, --help, --version\n"
    "\n"
    "Example: cf-capture probe | cf-infer > here.yaml\n"
    "         cf-capture probe --on atom-d525 -o probe.cf\n";

/* clang-format off */
static const char *const experiments[] = {
    "capacity", "associativity", "block", "size", "line", "ways", "way-size", "apart", "pair",
    "levels", "latency", "inclusion", "pages", "window", "policy", "index", "share", "tlb",
    "size.code", "associativity.code", "ways.code", "latency.code",
};
/* clang-format on */

enum {
    EXPERIMENTS = sizeof experiments / sizeof *experiments,
    LONGEST_LINE = 65536,
    STEPS = 256 << 10, /* bytes that are gone through in steps of 1 KiB */
    STEPS_THOROUGH = 1 << 20,
    POLICY_SETS = 4,      /* of a model */
    MODEL_ROOM = 1 << 30, /* where lines of one set of all levels are: it takes no memory */
    MOST_NOISE = 100,
};
#define MAX_LEAST ((uint64_t)1 << 12)
#define MAX_MOST  ((uint64_t)1 << 30)

/* --only LIST. */
static void parse_only(const struct cf_tool *t, void *to, const char *option, char *text)
{
    unsigned *only = to;
    char *rest;

    for (char *word = strtok_r(text, ",", &rest); word; word = strtok_r(NULL, ",", &rest))
        *only |=
            1u << cf_parse_name(t, option, word, experiments, sizeof *experiments, EXPERIMENTS);
    if (!*only)
        cf_die(t, CF_EXIT_USAGE, "%s: names no experiment", option);
}

/* --noise[=PERCENT]. */
static void parse_noise(const struct cf_tool *t, void *to, const char *option, char *text)
{
    if (text)
        *(double *)to = cf_parse_f64(t, option, text, 0, MOST_NOISE, 0);
}

static void parse(struct capture *k, int argc, char **argv)
{
    struct options *o = &k->o;
    const struct cf_option table[] = {
        {"on", 0, CF_TEXT(&o->on), .reads = CF_READS_MACHINE},
        {"noise", 0, CF_CALL(parse_noise, &o->noise), .given = &o->noisy, .may_lack = 1},
        {"by", 0, CF_WORD(&o->by, "misses time", BY_MISSES)},
        {"event", 0, CF_TEXT(&o->event)},
        {"cpu", 'c', CF_NUMBER(&o->cpu, 0, ANY_CPU - 1)},
        {"quick", 0, CF_FLAG(&o->quick)},
        {"thorough", 0, CF_FLAG(&o->thorough)},
        {"only", 0, CF_CALL(parse_only, &o->only)},
        {"max", 0, CF_SIZE_OF(&o->max)},
        {"seed", 0, CF_NUMBER(&o->seed, 0, UINT64_MAX)},
        {"output", 'o', CF_FILE(&o->output)},
        {"probe", 0,
         CF_READY("ready: the caches of this machine, by the clock where no event counts misses; "
                  "models of machines, with --on MACHINE")},
        CF_END_OPTIONS,
    };

    o->max = 32 << 20;
    o->cpu = ANY_CPU;
    o->seed = 1;
    o->noise = 5;
    cf_options_read(&k->tool, argc, argv, table);
    if (optind < argc)
        cf_die(&k->tool, CF_EXIT_USAGE, "'%s': takes no input: see --help", argv[optind]);
    if (o->quick && o->thorough)
        cf_die(&k->tool, CF_EXIT_USAGE, "--quick and --thorough: give one of them");
    if (o->max < MAX_LEAST || o->max > MAX_MOST)
        cf_die(&k->tool, CF_EXIT_USAGE, "--max: must be from 4K to 1G");
    if (o->on && (o->event || o->cpu != ANY_CPU))
        cf_die(&k->tool, CF_EXIT_USAGE,
               "--%s: is for this machine, not for a model: leave --on out",
               o->event ? "event" : "cpu");
    if (o->noisy && !o->on)
        cf_die(&k->tool, CF_EXIT_USAGE, "--noise: is for a model: name one by --on");
    if (o->event && o->by == BY_TIME)
        cf_die(&k->tool, CF_EXIT_USAGE, "--event: counts misses: leave --by time out");
}

static unsigned number_of(const char *experiment)
{
    unsigned i = 0;

    while (strcmp(experiments[i], experiment) != 0)
        if (++i == EXPERIMENTS)
            abort(); /* a name that is missing above */
    return i;
}

static void write_row(void *arg, const struct probe_row *row)
{
    struct capture *k = arg;
    const unsigned number = number_of(row->experiment);
    struct cf_values c[10] = {
        {CF_EXPERIMENT, NULL, k->id[number]}, {CF_PARAMETER, NULL, row->parameter},
        {CF_REPEAT, NULL, row->repeat},       {CF_LEVEL, NULL, row->level},
        {CF_ACCESSES, NULL, row->m.accesses}, {CF_CPU, NULL, row->m.cpu},
        {CF_METHOD, NULL, row->m.method},     {CF_SPOILT, NULL, row->m.spoilt}};
    unsigned n = 8;

    if (cf_command_caught())
        k->probe.error = EINTR;
    if (cf_tool_due(&k->tool))
        session_show(k, row);
    k->rows++;
    k->spoilt += row->m.spoilt != 0;
    if (k->o.only && !(k->o.only >> number & 1))
        return;
    k->written++;
    if (row->m.has_misses)
        c[n++] = (struct cf_values){CF_MISSES, NULL, row->m.misses};
    if (row->m.time)
        c[n++] = (struct cf_values){CF_TIME, NULL, row->m.time};
    if (cf_writer_rows(k->writer, CF_PROBE, 1, c, n, NULL) != 0)
        k->probe.error = EPIPE; /* reported when the writer is closed */
    if (cf_command_flush_due(&k->command))
        (void)cf_writer_flush(k->writer);
}

static void state_model(struct capture *k)
{
    (void)cf_writer_fact(k->writer, "experiment", "clock",
                         k->o.by == BY_TIME ? "latencies of the description" : "none");
    (void)cf_writer_number(k->writer, "experiment", "page_bytes", MAX_MOST);
    if (k->o.noisy)
        (void)cf_writer_fact(k->writer, "experiment", "noise",
                             cf_tool_text(&k->tool, "%g", k->o.noise));
}

static void header(struct capture *k)
{
    char *machine = k->o.on ? cf_tool_text(&k->tool, "model:%s", k->o.on) : NULL;
    const char *unit = k->o.on || !strcmp(cf_clock_name(), "tsc")    ? "cycles"
                       : !strcmp(cf_clock_name(), "clock_monotonic") ? "nanoseconds"
                                                                     : "ticks";
    struct cf_header h = {.clock_unit = (char *)unit,
                          .clock_hz = k->o.on ? 0 : cf_clock_hz(),
                          .source = (char *)"cf-capture-probe",
                          .machine = machine,
                          .here = !machine};

    (void)cf_writer_fact(k->writer, "experiment", "machine", machine ? machine : "this one");
    (k->here ? session_state : state_model)(k);
    (void)cf_writer_number(k->writer, "experiment", "seed", k->o.seed);
    if (cf_writer_header(k->writer, &h) != 0)
        exit(cf_command_unbegun(&k->command, k->writer));
    for (unsigned i = 0; i < EXPERIMENTS; i++)
        k->id[i] = cf_writer_string(k->writer, experiments[i]);
}

/* ---- measurements ---- */

static void measure_model(struct capture *k)
{
    struct probe *p = &k->probe;

    if ((k->o.noisy ? probe_noisy(p) : probe_search(p)) != 0 ||
        probe_policy(p, POLICY_SETS, k->o.thorough ? 8 : 3, 0) != 0 || probe_policy_behind(p) != 0)
        return;
    if (!k->o.quick && !k->o.noisy)
        (void)probe_paper(p, k->o.thorough ? STEPS_THOROUGH : STEPS, k->o.thorough ? 8 : 3);
}

/* The exit status but for what the writer has to say. */
static int measure(struct capture *k, struct cf_model *model)
{
    const struct options *o = &k->o;
    static struct noise noise;
    struct probe *p = &k->probe;
    int status = CF_EXIT_OK;

    if (o->noisy)
        noise_begin(&noise, cf_model_bench(model), o->noise / 100, o->seed);
    *p = (struct probe){.bench = o->noisy ? &noise.bench
                                 : model  ? cf_model_bench(model)
                                          : cf_here_bench(k->here),
                        .seed = o->seed,
                        .most = o->max,
                        .by_time = o->by == BY_TIME || k->here,
                        .noisy = o->noisy,
                        .row = write_row,
                        .arg = k};
    if (model)
        measure_model(k);
    else
        session_measure(k);
    if (model)
        status = cf_model_free(model);
    if (status == CF_EXIT_OK && p->error == ENOMEM)
        cf_out_of_memory(&k->tool);
    if (status == CF_EXIT_OK && p->error && p->error != EINTR && p->error != EPIPE)
        cf_fail(&k->tool, CF_EXIT_ENVIRONMENT, "a pattern cannot run: %s", strerror(p->error));
    k->none = status == CF_EXIT_OK && !p->error && !p->levels;
    if (k->none) /* the rows are whole all the same: who infers from them says what is missing */
        cf_warn(&k->tool, "no cache was found: see the rows");
    else if (k->rows && !k->written)
        cf_warn(&k->tool, "--only: none of these experiments was measured: there are no rows");
    if (status || p->error)
        cf_writer_cut(k->writer);
    return status;
}

static struct cf_model *open_model(struct capture *k)
{
    const struct model_options with = {.machine = k->o.on,
                                       .size = 2 * k->o.max + LONGEST_LINE +
                                               (k->o.noisy ? NOISE_ROOM : MODEL_ROOM),
                                       .seed = k->o.seed,
                                       .by_time = k->o.by == BY_TIME,
                                       .prefetch = !k->o.noisy     ? NULL
                                                   : k->o.seed % 2 ? "next-line"
                                                                   : "stride"};

    return cf_model_new(&k->tool, &with);
}

int main(int argc, char **argv)
{
    static struct capture k;
    int status;

    cf_tool_init(&k.tool, argc, argv, "cf-capture-probe", usage);
    k.command.tool = &k.tool;
    parse(&k, argc, argv);
    k.command.output = k.o.output;
    k.writer = cf_tool_recording(&k.tool, k.o.output);
    cf_command_prepare(&k.command);
    cf_command_attached(&k.command);
    if (!k.o.on)
        session_open(&k);
    header(&k);
    status = measure(&k, k.o.on ? open_model(&k) : NULL);
    probe_free(&k.probe);
    session_close(&k);
    cf_command_end(&k.command, k.writer);
    return cf_command_finish(&k.command, k.none ? CF_EXIT_INPUT : status, 0);
}
