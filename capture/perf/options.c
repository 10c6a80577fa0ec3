/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * options.c - the command line. See options.h.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/perf/options.h"
#include "formats/program/cf_options.h"

enum { SAMPLES_ENOUGH = 100 }; /* of the objects of a site, to leave it out */

const char cf_perf_usage[] =
    "Usage: cf-capture-perf [OPTION]... [--] PROGRAM [ARGUMENT...]\n"
    "       cf-capture-perf [OPTION]... --pid PID\n"
    "Sample loads and stores by the processor's counters, and record every access of the\n"
    "instructions that miss, by hardware breakpoints.\n"
    "\n"
    "  -o, --output FILE          write a packed file; PROGRAM keeps its standard output\n"
    "      --pid PID              record a process that runs, until it ends or an interrupt\n"
    "      --loads N, --stores N  events between two samples  [20000, 50000]\n"
    "      --event LOADS[,STORES] sample these events, by their names in libpfm4\n"
    "      --jitter PERCENT       by which each period is changed  [10]\n"
    "      --seed N               of the jitter  [1]\n"
    "      --coarse WHAT          page-faults: sample these; or FILE: take instructions from\n"
    "                             this stream, worst first; neither needs counters\n"
    "      --fine N               accesses recorded of an instruction, 0: none  [64]\n"
    "      --same-set N           so many running on one cache set end it early  [8]\n"
    "      --expire MS            time of a breakpoint when another waits  [100]\n"
    "      --no-objects           record no heap objects\n"
    "      --stack-depth N        callers kept for each heap object, 1 to 64  [16]\n"
    "      --throttle PERCENT     leave out objects of allocation sites whose share of misses is\n"
    "                             below so much of the mean, 0: none  [10]\n"
    "      --buffer SIZE          of each ring, a power of two from 4K  [512K]\n"
    "      --command-output FILE  where PROGRAM's standard output goes; without -o it\n"
    "                             goes to standard error\n"
    "      --dry-run              print the events' attributes, and exit\n"
    "      --vendor NAME          intel, amd, arm: for --dry-run  [this machine's]\n"
    "      --probe                report whether this machine can sample, and exit\n"
    "  -q, --quiet                print no remarks\n"
    "  -h, --help, --version\n"
    "\n"
    "Signal USR1 ends a segment of the stream, for a report while it runs.\n"
    "Example: cf-capture-perf --coarse page-faults -o ls.cf ls -l\n";

/* Whether the event can be opened for this process. */
static int usable(struct cf_perf_event *e, char *why, size_t size)
{
    char text[256];
    int fd = -1;

    if (e->pmu && e->attr.type == UINT32_MAX) {
        snprintf(why, size, "this processor, or this virtual machine, has no PMU %s", e->pmu);
        return 0;
    }
    fd = cf_perf_open(&e->attr, 0, -1);
    if (fd >= 0) {
        close(fd);
        return 1;
    }
    if (errno == ENOENT || errno == EOPNOTSUPP || errno == EINVAL || errno == ENODEV)
        snprintf(why, size,
                 "no PMU that samples %s with addresses: a virtual machine, or a processor that "
                 "cannot (%s)",
                 e->name, strerror(errno));
    else
        snprintf(why, size, "%s", cf_perf_why(errno, text, sizeof text));
    return 0;
}

/* 1 if the PMU can be sampled, else 0 with the reason. */
static int pmu_ready(const struct cf_perf_options *o, char *why, size_t size)
{
    struct cf_perf_event e[CF_PERF_EVENTS];
    const unsigned n = cf_perf_events(o, e);

    if (!n)
        snprintf(why, size, "no events are known for the PMU of this processor");
    for (unsigned i = 0; i < n; i++)
        if (!usable(&e[i], why, size))
            return 0;
    return n > 0;
}

/* A traced event has two rings, together as large as the one of others: so much may be locked. */
uint64_t cf_perf_trace_bytes(const struct cf_perf_options *o)
{
    struct cf_perf_event e[CF_PERF_EVENTS];
    const uint64_t least = 2 * (uint64_t)sysconf(_SC_PAGESIZE);

    if (cf_perf_events(o, e) == 0 || !e[0].traced)
        return 0;
    return o->buffer / 2 < least ? least : o->buffer / 2;
}

unsigned cf_perf_events(const struct cf_perf_options *o, struct cf_perf_event *e)
{
    if (o->file)
        return 0;
    if (o->names) {
        memcpy(e, o->named, sizeof o->named);
        return (unsigned)o->names;
    }
    if (!o->faults)
        return cf_perf_sampled(o->vendor, o->loads, o->stores, e);
    cf_perf_faults(e);
    return 1;
}

static void dry_run(const struct cf_perf_options *o)
{
    struct cf_perf_event e[CF_PERF_EVENTS];
    const unsigned n = cf_perf_events(o, e);

    for (unsigned i = 0; i < n; i++)
        cf_perf_print(stdout, &e[i]);
    if (o->fine.most) {
        struct cf_perf_event b = {.kind = CF_PERF_BREAKPOINT, .name = "breakpoint"};

        cf_perf_breakpoint(&b.attr, 0);
        cf_perf_print(stdout, &b);
    }
}

/* Exits where what is asked for cannot be had. */
static void check(const struct cf_tool *t, const struct cf_perf_options *o)
{
    struct cf_perf_event e;
    char why[512], text[256];
    int fd;

    if (!o->coarse && !pmu_ready(o, why, sizeof why))
        cf_die(t, CF_EXIT_ENVIRONMENT,
               "%s: use --coarse page-faults or --coarse FILE, which need none, or 'cf-capture "
               "trace'",
               why);
    cf_perf_faults(&e);
    fd = cf_perf_open(&e.attr, 0, -1);
    if (fd < 0)
        cf_die(t, CF_EXIT_ENVIRONMENT, "%s", cf_perf_why(errno, text, sizeof text));
    close(fd);
}

static void geometry(struct cf_fine_options *f)
{
    const long size = sysconf(_SC_LEVEL1_DCACHE_SIZE), ways = sysconf(_SC_LEVEL1_DCACHE_ASSOC),
               line = sysconf(_SC_LEVEL1_DCACHE_LINESIZE);

    f->line_size = line > 0 && line <= 4096 ? (uint32_t)line : 64;
    f->sets = size > 0 && ways > 0 && size / ways / f->line_size > 0
                  ? (uint32_t)(size / ways / f->line_size)
                  : 64;
}

static void read_options(struct cf_tool *t, struct cf_perf_options *o, int argc, char **argv,
                         int *probe, int *dry)
{
    uint32_t expire = 100;
    unsigned vendor = 0;
    int vendor_given = 0;
    const struct cf_option table[] = {
        {"output", 'o', CF_FILE(&o->output)},
        {"pid", 0, CF_NUMBER(&o->pid, 1, INT_MAX)},
        {"loads", 0, CF_NUMBER(&o->loads, 100, UINT32_MAX)},
        {"stores", 0, CF_NUMBER(&o->stores, 100, UINT32_MAX)},
        {"event", 0, CF_TEXT(&o->event)},
        {"jitter", 0, CF_NUMBER(&o->jitter, 0, 50)},
        {"seed", 0, CF_NUMBER(&o->seed, 0, UINT64_MAX)},
        {"coarse", 0, CF_TEXT(&o->coarse)},
        {"fine", 0, CF_NUMBER(&o->fine.most, 0, 100000), .given = &o->fine_given},
        {"same-set", 0, CF_NUMBER(&o->fine.same_set, 2, 100000)},
        {"expire", 0, CF_NUMBER(&expire, 1, 3600000)},
        {"no-objects", 0, CF_FLAG(&o->heap.none)},
        {"stack-depth", 0, CF_NUMBER(&o->heap.depth, 1, 64)},
        {"throttle", 0, CF_NUMBER(&o->heap.throttle, 0, 100)},
        {"buffer", 0, CF_POWER(&o->buffer, 4096, 1 << 30)},
        {"command-output", 0, CF_FILE(&o->command_output)},
        {"dry-run", 0, CF_FLAG(dry)},
        {"vendor", 0, CF_WORD(&vendor, CF_PERF_VENDORS, 0), .given = &vendor_given},
        {"probe", 0, CF_FLAG(probe)},
        CF_END_COMMAND_OPTIONS,
    };

    cf_options_read(t, argc, argv, table);
    o->fine.expire_ns = expire * 1000000ull;
    if (vendor_given && !*dry)
        cf_die(t, CF_EXIT_USAGE, "--vendor: only with --dry-run");
    if (o->event && (vendor_given || o->coarse))
        cf_die(t, CF_EXIT_USAGE, "--event: without --coarse and --vendor");
    if (vendor_given)
        o->vendor = (enum cf_perf_vendor)vendor;
}

void cf_perf_options(struct cf_tool *t, struct cf_perf_options *o, int argc, char **argv)
{
    int probe = 0, dry = 0;
    char why[512];

    *o = (struct cf_perf_options){.loads = 20000,
                                  .stores = 50000,
                                  .jitter = 10,
                                  .seed = 1,
                                  .buffer = 512 << 10,
                                  .vendor = cf_perf_vendor(),
                                  .heap = {.depth = 16, .throttle = 10},
                                  .fine = {.most = 64, .same_set = 8}};
    geometry(&o->fine);
    read_options(t, o, argc, argv, &probe, &dry);
    if (o->event) {
        o->names = cf_perf_named(o->event, o->loads, o->stores, o->named, why, sizeof why);
        if (o->names < 0)
            cf_die(t, CF_EXIT_USAGE, "--event: %s", why);
    }
    o->faults = o->coarse && strcmp(o->coarse, "page-faults") == 0;
    o->file = o->coarse && !o->faults ? (char *)o->coarse : NULL;
    o->heap.least = o->coarse ? 0 : SAMPLES_ENOUGH * o->loads;
    if (probe) {
        const int ready = pmu_ready(o, why, sizeof why);

        puts(ready ? "ready: samples loads and stores by the PMU" : why);
        exit(ready ? CF_EXIT_OK : CF_EXIT_ENVIRONMENT);
    }
    if (dry) {
        dry_run(o);
        exit(cf_tool_finish(t, NULL, NULL));
    }
    if (o->output && !strcmp(o->output, "-"))
        o->output = NULL;
    if (!o->pid && optind == argc)
        cf_die(t, CF_EXIT_USAGE, "no PROGRAM and no --pid given: see --help");
    if (o->pid && optind < argc)
        cf_die(t, CF_EXIT_USAGE, "--pid and PROGRAM: give one of them");
    if (o->buffer < (uint64_t)sysconf(_SC_PAGESIZE))
        o->buffer = (uint64_t)sysconf(_SC_PAGESIZE);
    if (o->file && !o->fine.most)
        cf_die(t, CF_EXIT_USAGE, "--coarse FILE with --fine 0 records nothing");
    check(t, o);
}
