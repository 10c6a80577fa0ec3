/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * make_probe NAME=VALUE... [-- NAME=VALUE...]...: a stream of table probe on standard output, as
 * experiments on caches of known size, ways and line would give it (probe_truth.h), for
 * cf-infer.bats. Each group of values after -- is one cache more; what a group does not say is as
 * in the one before.
 *
 *   size, ways, line, level, code (0 or 1)     of the cache
 *   hit, miss                                  ticks of an access that it serves, or not
 *   search, paper, latency, tlb                which experiments: 1 or 0; most: KiB of capacity
 *   repeats, jitter, bursts, lost, timed, seed the noise; method, spoilt as in the columns
 *   machine, host, cpu, unit, hz, page, frame  of the header, from the first group
 *   rows                                       a file of rows of our own instead: experiment,
 *                                              parameter, repeat, level, accesses, misses or
 *                                              -, time
 *   rename                                     what the experiments are called instead
 *
 * Memory: the rows of one cache.
 */
#include <stdio.h>

#include "formats/stream/cf.h"
#include "tests/unit/probe_truth.h"

struct group {
    struct truth truth;
    struct disturbance noise;
    unsigned level, code, search, paper, latency, tlb, most, method, spoilt;
    const char *machine, *host, *cpu, *unit, *rename, *rows;
    uint64_t hz, page, frame, seed;
};

struct out {
    struct cf_writer *w;
    const struct group *g;
};

static void die(const char *what)
{
    fprintf(stderr, "make_probe: %s\n", what);
    exit(1);
}

static void take(void *to, const char *what, uint64_t parameter, uint32_t repeat, uint64_t accesses,
                 uint64_t misses, uint64_t time, int counted)
{
    const struct out *o = to;
    const struct group *g = o->g;
    char name[64];
    struct cf_values c[] = {{CF_EXPERIMENT, NULL, 0},
                            {CF_PARAMETER, NULL, parameter},
                            {CF_REPEAT, NULL, repeat},
                            {CF_LEVEL, NULL, g->level},
                            {CF_ACCESSES, NULL, accesses},
                            {CF_TIME, NULL, time},
                            {CF_CPU, NULL, 0},
                            {CF_METHOD, NULL,
                             g->method ? g->method
                             : counted ? 1
                                       : 2},
                            {CF_SPOILT, NULL, g->spoilt},
                            {CF_MISSES, NULL, misses}};

    snprintf(name, sizeof name, "%s%s", g->rename ? g->rename : what, g->code ? ".code" : "");
    c[0].constant = cf_writer_string(o->w, name);
    if (cf_writer_rows(o->w, CF_PROBE, 1, c, counted ? 10 : 9, NULL) != 0)
        die(cf_writer_problem(o->w));
}

static void read_value(struct group *g, const char *text)
{
    const struct {
        const char *name;
        unsigned *number;
        uint64_t *large;
        double *real;
        const char **text;
        int *flag;
    } all[] = {{"size", NULL, &g->truth.size, NULL, NULL, NULL},
               {"ways", NULL, &g->truth.ways, NULL, NULL, NULL},
               {"line", NULL, &g->truth.line, NULL, NULL, NULL},
               {"hz", NULL, &g->hz, NULL, NULL, NULL},
               {"page", NULL, &g->page, NULL, NULL, NULL},
               {"frame", NULL, &g->frame, NULL, NULL, NULL},
               {"seed", NULL, &g->seed, NULL, NULL, NULL},
               {"hit", NULL, NULL, &g->truth.hit, NULL, NULL},
               {"miss", NULL, NULL, &g->truth.miss, NULL, NULL},
               {"jitter", NULL, NULL, &g->noise.jitter, NULL, NULL},
               {"bursts", NULL, NULL, &g->noise.bursts, NULL, NULL},
               {"lost", NULL, NULL, &g->noise.lost, NULL, NULL},
               {"level", &g->level, NULL, NULL, NULL, NULL},
               {"code", &g->code, NULL, NULL, NULL, NULL},
               {"search", &g->search, NULL, NULL, NULL, NULL},
               {"paper", &g->paper, NULL, NULL, NULL, NULL},
               {"latency", &g->latency, NULL, NULL, NULL, NULL},
               {"tlb", &g->tlb, NULL, NULL, NULL, NULL},
               {"most", &g->most, NULL, NULL, NULL, NULL},
               {"method", &g->method, NULL, NULL, NULL, NULL},
               {"spoilt", &g->spoilt, NULL, NULL, NULL, NULL},
               {"repeats", &g->noise.repeats, NULL, NULL, NULL, NULL},
               {"machine", NULL, NULL, NULL, &g->machine, NULL},
               {"host", NULL, NULL, NULL, &g->host, NULL},
               {"cpu", NULL, NULL, NULL, &g->cpu, NULL},
               {"unit", NULL, NULL, NULL, &g->unit, NULL},
               {"rows", NULL, NULL, NULL, &g->rows, NULL},
               {"rename", NULL, NULL, NULL, &g->rename, NULL},
               {"timed", NULL, NULL, NULL, NULL, &g->noise.timed}};
    const char *equal = strchr(text, '=');

    for (size_t i = 0; equal && i < sizeof all / sizeof *all; i++) {
        if (strlen(all[i].name) != (size_t)(equal - text) ||
            memcmp(all[i].name, text, (size_t)(equal - text)) != 0)
            continue;
        if (all[i].text)
            *all[i].text = equal[1] ? equal + 1 : NULL;
        else if (all[i].real)
            *all[i].real = strtod(equal + 1, NULL);
        else if (all[i].large)
            *all[i].large = strtoull(equal + 1, NULL, 0);
        else if (all[i].number)
            *all[i].number = (unsigned)strtoul(equal + 1, NULL, 0);
        else
            *all[i].flag = atoi(equal + 1);
        return;
    }
    die(text);
}

static void write_rows(struct out *o)
{
    struct group g = *o->g;
    struct out to = {o->w, &g};
    FILE *f = fopen(g.rows, "r");
    char what[64], misses[32];
    unsigned long long parameter, accesses, time;
    unsigned repeat;

    if (!f)
        die(g.rows);
    while (fscanf(f, "%63[^,],%llu,%u,%u,%llu,%31[^,],%llu\n", what, &parameter, &repeat, &g.level,
                  &accesses, misses, &time) == 7)
        take(&to, what, parameter, repeat, accesses, strtoull(misses, NULL, 10), time,
             misses[0] != '-');
    if (!feof(f))
        die("a row that is none");
    fclose(f);
}

static void write_group(struct out *o)
{
    const struct group *g = o->g;
    const struct truth *t = &g->truth;

    if (g->rows) {
        write_rows(o);
        return;
    }

    truth_state = g->seed * 2 + 1;
    if (g->search)
        search_truth(t, &g->noise, take, o);
    if (g->paper)
        paper_truth(t, &g->noise, (uint64_t)g->most * 1024, take, o);
    for (uint32_t r = 0; g->latency && r < 3 * g->noise.repeats; r++)
        take(o, "latency", t->size / 4 * (1 + r % 3), r / 3, 1000, 0,
             (uint64_t)(1000 * t->hit * (1 + g->noise.jitter * truth_normal())), 0);
    for (uint32_t p = 1; g->tlb && p < 2 * g->tlb; p++)
        for (uint32_t r = 0; r < g->noise.repeats; r++)
            take(o, "tlb", p, r, 1000, 0,
                 (uint64_t)(1000 * t->hit * (p > g->tlb ? 2.5 : 1) *
                            (1 + g->noise.jitter * truth_normal())),
                 0);
}

int main(int argc, char **argv)
{
    struct group g = {.truth = {24576, 6, 64, 3, 15},
                      .noise = {.repeats = 3},
                      .level = 1,
                      .most = 32,
                      .search = 1,
                      .unit = "cycles",
                      .hz = 1800000000,
                      .seed = 1};
    struct out o = {cf_writer_open(NULL, "make_probe"), &g};
    char problem[512];
    int begun = 0;

    if (!o.w)
        return 1;
    for (int i = 1; i <= argc; i++) {
        if (i < argc && strcmp(argv[i], "--") != 0) {
            read_value(&g, argv[i]);
            continue;
        }
        if (!begun) {
            struct cf_header h = {.clock_unit = (char *)g.unit,
                                  .clock_hz = g.hz,
                                  .machine = (char *)g.machine,
                                  .source = (char *)"make_probe"};

            h.recorded[CF_RECORDED_HOST] = (char *)g.host;
            h.recorded[CF_RECORDED_CPU] = (char *)g.cpu;
            if ((g.page && cf_writer_number(o.w, "parameter", "page_size", g.page) != 0) ||
                (g.frame && cf_writer_number(o.w, "experiment", "frame_bytes", g.frame) != 0) ||
                cf_writer_header(o.w, &h) != 0)
                die(cf_writer_problem(o.w));
            begun = 1;
        }
        write_group(&o);
    }
    if (cf_writer_close(o.w, 1, problem, sizeof problem))
        die(problem);
    return 0;
}
