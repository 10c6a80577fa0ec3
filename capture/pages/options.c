/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * options.c - the command line of cf-capture-pages.
 */
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/base/cf_elf.h"
#include "capture/pages/pages.h"
#include "formats/base/cf_memory.h"
#include "formats/base/cf_number.h"
#include "formats/program/cf_options.h"

static const char kinds[] = "text rodata data bss heap stack anon lib";

static void take_regions(const struct cf_tool *t, void *to, const char *option, char *list)
{
    unsigned *bits = to;
    char *rest;

    *bits = 0;
    for (char *word = strtok_r(list, ",", &rest); word; word = strtok_r(NULL, ",", &rest))
        *bits |= 1u << cf_parse_word(t, option, word, kinds);
    if (!*bits)
        cf_die(t, CF_EXIT_USAGE, "%s: give some of %s, with commas between", option, kinds);
}

char *pages_regions(const struct pages *k)
{
    char words[sizeof kinds], *text = NULL, *rest;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    unsigned i = 0;

    memcpy(words, kinds, sizeof kinds);
    for (char *word = strtok_r(words, " ", &rest); f && word; word = strtok_r(NULL, " ", &rest))
        if (k->o.kinds >> i++ & 1)
            fprintf(f, "%s%s", ftell(f) ? "," : "", word);
    return cf_need(&k->tool, f ? cf_memory_text(f, &text) : NULL);
}

static void take_cpu(const struct cf_tool *t, void *to, const char *option, char *text)
{
    *(int *)to = (int)cf_parse_u64(t, option, text, 0, CPU_SETSIZE - 1);
}

static void take_sched(const struct cf_tool *t, void *to, const char *option, char *text)
{
    if (strncmp(text, "fifo:", 5) != 0)
        cf_die(t, CF_EXIT_USAGE, "%s: '%s': give fifo:PRIORITY", option, text);
    *(int *)to =
        (int)cf_parse_u64(t, option, text + 5, (uint64_t)sched_get_priority_min(SCHED_FIFO),
                          (uint64_t)sched_get_priority_max(SCHED_FIFO));
}

static void probe(struct pages *k) __attribute__((noreturn));

static void probe(struct pages *k)
{
    const char *path = k->o.device, *why = cf_watch_unable(k->point, 2);
    int status;

    if (why)
        printf("%s\n", why);
    else if (cf_device_open(&k->device, path) != 0)
        printf("%s: %s: load the kernel module pagectl.ko, as root\n", path, strerror(errno));
    else if (cf_device_call(&k->device, PAGECTL_INFO, &k->info) != 0 || k->info.abi != PAGECTL_ABI)
        printf("%s: no pagectl of this version\n", path);
    else if (!(k->info.policies & (1u << PAGECTL_NONCACHEABLE | 1u << PAGECTL_UNCACHED)))
        printf("%s: it cannot make pages uncached here\n", path);
    else {
        printf("ready: pagectl %.16s\n", k->info.version);
        exit(cf_tool_finish(&k->tool, NULL, NULL));
    }
    status = cf_tool_finish(&k->tool, NULL, NULL);
    exit(status ? status : CF_EXIT_ENVIRONMENT);
}

/* A program that ptrace cannot serve. */
static void check_program(struct pages *k)
{
    const char *program = k->o.argv[0];
    char path[PATH_MAX];
    struct stat st;
    int status;

    if (!program)
        cf_die(&k->tool, CF_EXIT_USAGE, "no program given: see --help");
    status = cf_command_find(program, path, sizeof path);
    if (status)
        cf_die(&k->tool, status, "%s: %s", program,
               status == CF_COMMAND_NOT_FOUND ? "no such program" : "cannot be executed");
    if (cf_elf_foreign(path))
        cf_die(&k->tool, CF_EXIT_INPUT,
               "%s: is made for another processor or word size than this program", program);
    if (stat(path, &st) == 0 &&
        ((st.st_mode & S_ISUID && st.st_uid != geteuid()) ||
         ((st.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) && st.st_gid != getegid())))
        cf_die(&k->tool, CF_EXIT_INPUT,
               "%s: is setuid or setgid: traced, it would run without these rights: run it as "
               "their owner",
               program);
}

static void check(struct pages *k, int mode_given)
{
    struct pages_options *o = &k->o;
    const char *why;

    if (!o->function)
        cf_die(&k->tool, CF_EXIT_USAGE, "--function is missing: which function is to be timed?");
    if (o->rank && mode_given)
        cf_die(&k->tool, CF_EXIT_USAGE, "--mode and --rank are two things: give one");
    if (o->migrate && !o->rank)
        cf_die(&k->tool, CF_EXIT_USAGE, "--migrate: --rank FILE says which pages are the best");
    if (o->bisect && (o->rank || o->resume))
        cf_die(&k->tool, CF_EXIT_USAGE, "--bisect excludes --rank and --resume");
    if (o->resume && !o->output)
        cf_die(&k->tool, CF_EXIT_USAGE, "--resume: there must be a file, by --output");
    if (o->function[0] >= '0' && o->function[0] <= '9') {
        k->point[0].linked = 1;
        if (cf_read_number(o->function, CF_READ_NUMBER, UINT64_MAX, &k->point[0].offset) != 0 ||
            !k->point[0].offset)
            cf_die(&k->tool, CF_EXIT_USAGE, "--function %s: is neither a name nor an address",
                   o->function);
    } else {
        k->point[0].symbol = o->function;
    }
    why = cf_watch_unable(k->point, 2);
    if (why)
        cf_die(&k->tool, CF_EXIT_ENVIRONMENT, "--function: %s", why);
    check_program(k);
}

/* The programs that we start inherit both. */
static void take_place(const struct pages *k)
{
    const struct sched_param sp = {.sched_priority = k->o.priority};
    cpu_set_t cpus;

    if (k->o.cpu >= 0) {
        CPU_ZERO(&cpus);
        CPU_SET((size_t)k->o.cpu, &cpus);
        if (sched_setaffinity(0, sizeof cpus, &cpus) != 0)
            cf_die(&k->tool, CF_EXIT_ENVIRONMENT, "--cpu %d: %s", k->o.cpu, strerror(errno));
    }
    if (k->o.priority && sched_setscheduler(0, SCHED_FIFO, &sp) != 0)
        cf_die(&k->tool, CF_EXIT_ENVIRONMENT, "--sched fifo:%d: %s", k->o.priority,
               strerror(errno));
}

/* What each run is to read from its begin. */
static void find_input(struct pages *k)
{
    struct stat st;

    k->input = lseek(STDIN_FILENO, 0, SEEK_CUR);
    if (k->input < 0 && !k->tool.quiet && fstat(STDIN_FILENO, &st) == 0 &&
        (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)))
        cf_warn(&k->tool, "standard input is a pipe, of which the first run may leave nothing to "
                          "the others: give a file");
}

void pages_options(struct pages *k, int argc, char **argv)
{
    struct pages_options *o = &k->o;
    int probing = 0, mode_given = 0;
    const struct cf_option table[] = {
        {"function", 'f', CF_TEXT(&o->function)},
        {"call", 0, CF_NUMBER(&o->call, 1, UINT32_MAX)},
        {"regions", 0, CF_CALL(take_regions, &o->kinds)},
        {"samples", 'n', CF_NUMBER(&o->samples, 1, 1000000)},
        {"mode", 0, CF_WORD(&o->mode, "cached uncached", CF_PAGES_ONLY), .given = &mode_given},
        {"group", 0, CF_NUMBER(&o->group, 1, 1 << 20)},
        {"bisect", 0, CF_FLAG(&o->bisect)},
        {"rank", 0, CF_TEXT(&o->rank), .reads = CF_READS_FILE},
        {"migrate", 0, CF_NUMBER(&o->migrate, 1, UINT32_MAX)},
        {"resume", 0, CF_FLAG(&o->resume)},
        {"counters", 0, CF_TEXT(&o->counters)},
        {"cpu", 'c', CF_CALL(take_cpu, &o->cpu)},
        {"sched", 's', CF_CALL(take_sched, &o->priority)},
        {"device", 0, CF_TEXT(&o->device)},
        {"command-output", 0, CF_FILE(&k->command.command_output)},
        {"output", 'o', CF_FILE(&o->output)},
        {"probe", 0, CF_FLAG(&probing)},
        CF_END_COMMAND_OPTIONS,
    };

    *o = (struct pages_options){.device = PAGECTL_DEVICE,
                                .call = 1,
                                .samples = 5,
                                .group = 1,
                                .mode = CF_PAGES_ONLY,
                                .kinds = (1u << PAGES_KINDS) - 1,
                                .cpu = -1};
    cf_options_read(&k->tool, argc, argv, table);
    if (o->output && strcmp(o->output, "-") == 0)
        o->output = NULL;
    o->argv = argv + optind;
    if (probing)
        probe(k);
    check(k, mode_given);
    if (o->counters)
        pages_counters_take(k, cf_tool_text(&k->tool, "%s", o->counters));
    take_place(k);
    find_input(k);
}
