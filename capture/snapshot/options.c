/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * options.c - the command line of cf-capture-snapshot. See options.h.
 */
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "capture/base/cf_command.h"
#include "capture/base/cf_device.h"
#include "capture/snapshot/options.h"
#include "formats/program/cf_options.h"

const char cf_snapshot_usage[] =
    "Usage: cf-capture snapshot [option]... [--] PROGRAM [ARGUMENT]... [-- PROGRAM ...]...\n"
    "Run programs and take snapshots of what a cache of this machine holds meanwhile.\n"
    "  -p, --period TIME    time that programs run between snapshots: 500us, 5ms, 1s  [5ms]\n"
    "  -e, --event WHAT     take snapshots at an event instead: signal (this program gets\n"
    "                       SIGRTMAX-1), stop (a program stops itself), break:WHERE (a\n"
    "                       program gets there), write:WHERE[:BYTES], access:WHERE[:BYTES];\n"
    "                       WHERE is SYMBOL[+N] or 0xADDRESS\n"
    "  -n, --count N, -d, --delay TIME   number of snapshots; time before the first one\n"
    "  -t, --transparent    leave the cache alone; write all at the end  [flush after each]\n"
    "      --thrash N       flush with N times the cache's size  [8]\n"
    "  -a, --asynchronous   do not stop the programs  [stop them during a snapshot]\n"
    "  -m, --maps           record the programs' mappings at each snapshot\n"
    "  -r, --resolve        let the kernel find the owners of lines\n"
    "      --owners WHICH   owners of a line that has several: observed, first, all\n"
    "                       [observed]\n"
    "  -2, --twice          take two back to back: the second shows what the first changed\n"
    "  -c, --cpu LIST, -s, --sched LIST   for each program a CPU; other, fifo:N or rr:N\n"
    "      --own-cpu N, --own-priority N|none   CPU and priority of this program  [any, highest]\n"
    "      --cache l2|l1d|l1i[:CPU], --device FILE    what to read  [l2, /dev/cacheflow]\n"
    "      --command-output FILE   where the programs' standard output goes\n"
    "  -o, --output FILE    write a packed file; the programs keep their standard output\n"
    "      --probe, -q, --quiet, -h, --help, --version\n"
    "Example: cf-capture snapshot -mr -p 2ms -o s.cf -- ./synth -- gzip -k file\n";

/* --period and --delay, in ns */
static void take_time(const struct cf_tool *t, void *to, const char *option, char *text)
{
    static const struct {
        const char *unit;
        double ns;
    } units[] = {{"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"", 1e6}};
    char *end;
    const double value = strtod(text, &end);

    for (unsigned i = 0; end != text && i < 4; i++)
        if (strcmp(end, units[i].unit) == 0 && value * units[i].ns >= 1000 &&
            value * units[i].ns <= 1e15) {
            *(uint64_t *)to = (uint64_t)(value * units[i].ns + 0.5);
            return;
        }
    cf_die(t, CF_EXIT_USAGE, "%s: '%s' is no time such as 500us, 5ms or 1s", option, text);
}

static int priority(const struct cf_tool *t, const char *option, const char *text, int policy)
{
    return (int)cf_parse_u64(t, option, text, (uint64_t)sched_get_priority_min(policy),
                             (uint64_t)sched_get_priority_max(policy));
}

static void parse_sched(const struct cf_tool *t, struct cf_observed_command *c, const char *text)
{
    const char *colon = strchr(text, ':');

    c->policy = SCHED_OTHER;
    c->priority = 0;
    if (strcmp(text, "other") == 0)
        return;
    if (!colon || (strncmp(text, "fifo:", 5) != 0 && strncmp(text, "rr:", 3) != 0))
        cf_die(t, CF_EXIT_USAGE, "--sched: '%s': give other, fifo:PRIORITY or rr:PRIORITY", text);
    c->policy = *text == 'f' ? SCHED_FIFO : SCHED_RR;
    c->priority = priority(t, "--sched", colon + 1, c->policy);
}

static void parse_cpu(const struct cf_tool *t, struct cf_observed_command *c, const char *text)
{
    c->cpu =
        strcmp(text, "any") == 0 ? -1 : (int)cf_parse_u64(t, "--cpu", text, 0, CPU_SETSIZE - 1);
}

/* One element of a list for each command; the last one counts for all that follow. */
static void each(const struct cf_tool *t, struct cf_observed *tasks, const char *option, char *list,
                 void (*parse)(const struct cf_tool *, struct cf_observed_command *, const char *))
{
    char *next = list;

    for (unsigned i = 0; i < tasks->commands; i++) {
        if (next) {
            list = next;
            next = strchr(list, ',');
            if (next)
                *next++ = '\0';
        }
        parse(t, &tasks->command[i], list);
    }
    if (next)
        cf_die(t, CF_EXIT_USAGE, "%s: more elements than programs", option);
}

static void take_cache(const struct cf_tool *t, void *options, const char *option, char *text)
{
    struct cf_snapshot_options *o = options;
    char *colon = strchr(text, ':');

    if (colon) {
        *colon = '\0';
        o->ram_cpu = (int)cf_parse_u64(t, option, colon + 1, 0, CPU_SETSIZE - 1);
    }
    o->ram = cf_parse_word(t, option, text, "l2 l1d l1i"); /* as enum cacheflow_ram_id */
}

static void take_event(const struct cf_tool *t, void *options, const char *option, char *text)
{
    struct cf_snapshot_options *o = options;

    if (strcmp(text, "signal") == 0) {
        o->on_signal = 1;
    } else if (strcmp(text, "stop") == 0) {
        o->on_stop = 1;
    } else {
        if (o->points == CF_WATCH_POINTS)
            cf_die(t, CF_EXIT_USAGE, "%s: over %d places", option, CF_WATCH_POINTS);
        if (cf_watch_parse(text, &o->point[o->points++]) != 0)
            cf_die(t, CF_EXIT_USAGE,
                   "%s: '%s': give signal, stop, break:WHERE, write:WHERE[:BYTES] or "
                   "access:WHERE[:BYTES]",
                   option, text);
    }
}

static void take_own_cpu(const struct cf_tool *t, void *to, const char *option, char *text)
{
    *(int *)to = (int)cf_parse_u64(t, option, text, 0, CPU_SETSIZE - 1);
}

static void take_own_priority(const struct cf_tool *t, void *to, const char *option, char *text)
{
    *(int *)to = strcmp(text, "none") == 0 ? PRIORITY_NONE : priority(t, option, text, SCHED_FIFO);
}

static void probe(struct cf_tool *t, const char *path) __attribute__((noreturn));

static void probe(struct cf_tool *t, const char *path)
{
    struct cacheflow_info info;
    struct cf_device d;

    if (cf_device_open(&d, path) != 0) {
        printf("%s: %s: load the kernel module cacheflow.ko, as root\n", path, strerror(errno));
        (void)cf_tool_finish(t, NULL, NULL);
        exit(CF_EXIT_ENVIRONMENT);
    }
    if (cf_device_call(&d, CACHEFLOW_INFO, &info) != 0 || info.abi != CACHEFLOW_ABI) {
        printf("%s: no Shutter of this version\n", path);
        (void)cf_tool_finish(t, NULL, NULL);
        exit(CF_EXIT_ENVIRONMENT);
    }
    printf("ready: %.16s\n", info.backend);
    exit(cf_tool_finish(t, NULL, NULL));
}

/* The command line behind the options: commands with `--` between them. */
static void split(struct cf_tool *t, struct cf_observed *tasks, char **argv)
{
    char path[PATH_MAX];

    while (*argv) {
        struct cf_observed_command *c;
        int status;

        if (tasks->commands == COMMANDS_MOST)
            cf_die(t, CF_EXIT_USAGE, "over %d programs", COMMANDS_MOST);
        c = &tasks->command[tasks->commands++];
        *c = (struct cf_observed_command){.argv = argv, .cpu = -1, .policy = SCHED_OTHER};
        while (*argv && strcmp(*argv, "--") != 0)
            argv++;
        if (argv == c->argv)
            cf_die(t, CF_EXIT_USAGE, "no program between '--' and '--'");
        if (*argv) {
            *argv++ = NULL;
            if (!*argv)
                cf_die(t, CF_EXIT_USAGE, "no program after '--'");
        }
        status = cf_command_find(c->argv[0], path, sizeof path);
        if (status)
            cf_die(t, status, "%s: %s", c->argv[0],
                   status == CF_COMMAND_NOT_FOUND ? "no such program" : "cannot be executed");
    }
}

static void check(struct cf_tool *t, const struct cf_snapshot_options *o,
                  const struct cf_observed *tasks)
{
    const char *why = cf_watch_unable(o->point, o->points);

    if (why)
        cf_die(t, CF_EXIT_ENVIRONMENT, "--event: %s", why);
    if (o->points && o->on_stop)
        cf_die(t, CF_EXIT_USAGE, "--event stop and places in programs exclude each other");
    if (o->points && o->asynchronous)
        cf_die(t, CF_EXIT_USAGE,
               "--asynchronous: what reaches a place in a program stands still anyway");
    if (!tasks->commands && (!o->asynchronous || o->points || o->on_stop))
        cf_die(t, CF_EXIT_USAGE,
               "no program given: see --help; --asynchronous observes the whole machine");
}

void cf_snapshot_options(struct cf_snapshot_options *o, struct cf_observed *observed, int argc,
                         char **argv)
{
    struct cf_tool *t = observed->tool;
    const char *cpu = NULL, *sched = NULL;
    int probing = 0, events = 0, owners = 0, thrash = 0;
    const struct cf_option table[] = {
        {"period", 'p', CF_CALL(take_time, &o->period_ns)},
        {"event", 'e', CF_CALL(take_event, o), .given = &events},
        {"count", 'n', CF_NUMBER(&o->count, 1, UINT32_MAX / 2)},
        {"delay", 'd', CF_CALL(take_time, &o->delay_ns)},
        {"transparent", 't', CF_FLAG(&o->transparent)},
        {"thrash", 0, CF_NUMBER(&o->thrash, 0, 1024), .given = &thrash},
        {"asynchronous", 'a', CF_FLAG(&o->asynchronous)},
        {"maps", 'm', CF_FLAG(&o->maps)},
        {"resolve", 'r', CF_FLAG(&o->resolve)},
        {"owners", 0, CF_WORD(&o->owners, "observed first all", 0), .given = &owners},
        {"twice", '2', CF_FLAG(&o->twice)},
        {"cpu", 'c', CF_TEXT(&cpu)},
        {"sched", 's', CF_TEXT(&sched)},
        {"own-cpu", 0, CF_CALL(take_own_cpu, &o->own_cpu)},
        {"own-priority", 0, CF_CALL(take_own_priority, &o->own_priority)},
        {"cache", 0, CF_CALL(take_cache, o)},
        {"memory", 0, CF_OLD("cache")},
        {"device", 0, CF_TEXT(&o->device)},
        {"command-output", 0, CF_FILE(&observed->output)},
        {"output", 'o', CF_FILE(&o->output)},
        {"probe", 0, CF_FLAG(&probing)},
        CF_END_COMMAND_OPTIONS,
    };

    *o = (struct cf_snapshot_options){
        .device = CACHEFLOW_DEVICE, .own_cpu = -1, .ram_cpu = CACHEFLOW_CPU_ANY, .thrash = 8};
    cf_options_read(t, argc, argv, table);
    if (o->output && strcmp(o->output, "-") == 0)
        o->output = NULL;
    argv += optind;
    if (probing)
        probe(t, o->device);
    if (!o->period_ns && !events)
        o->period_ns = 5000000;
    split(t, observed, argv);
    check(t, o, observed);
    if (owners && !o->resolve)
        cf_die(t, CF_EXIT_USAGE, "--owners: lines have none without --resolve");
    if (thrash && o->transparent)
        cf_die(t, CF_EXIT_USAGE, "--thrash: with --transparent the cache is left alone");
    if (o->maps && !observed->commands)
        cf_die(t, CF_EXIT_USAGE, "--maps: is of programs, and none is given");
    if (cpu)
        each(t, observed, "--cpu", (char *)cpu, parse_cpu);
    if (sched)
        each(t, observed, "--sched", (char *)sched, parse_sched);
}
