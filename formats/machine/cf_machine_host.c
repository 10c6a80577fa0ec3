/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * This machine's own caches, as Linux shows them under /sys/devices/system/cpu (or under CF_SYSFS,
 * for tests). What is missing there is left out; what contradicts itself is reported.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cf_machine_parts.h"
#include "formats/cpu/cf_cpu_name.h"
#include "formats/base/cf_number.h"

#define MOST_BYTES (UINT64_C(1) << 46)

/* What is not there is left out; what cannot be read ends in a problem. */
static void note_refusal(const struct report *to, int error)
{
    if (cf_is_refusal(error))
        *to->refused = error;
}

/* First line of a small file, without its newline; -1 where there is none. */
static int sys_text(const struct report *to, const char *dir, const char *name, char *text,
                    size_t size)
{
    char path[4096];
    FILE *f;
    int status = -1;

    if ((size_t)snprintf(path, sizeof path, "%s/%s", dir, name) >= sizeof path)
        return -1;
    f = fopen(path, "re");
    if (!f) {
        note_refusal(to, errno);
        return -1;
    }
    if (fgets(text, (int)size, f)) {
        text[strcspn(text, "\n")] = '\0';
        status = *text ? 0 : -1;
    } else if (ferror(f) && errno == EIO) {
        *to->refused = EIO; /* other errors are how /sys says that there is nothing */
    } else if (ferror(f)) {
        note_refusal(to, errno);
    }
    fclose(f);
    return status;
}

static uint64_t sys_number(const struct report *to, const char *dir, const char *name)
{
    char text[64];
    uint64_t value;

    if (sys_text(to, dir, name, text, sizeof text) < 0 ||
        cf_read_number(text, CF_READ_SIZE, UINT64_MAX, &value) < 0)
        return 0;
    return value;
}

/* CPUs in a list such as "0-3,8"; 0 when it is none. */
static uint32_t count_list(const char *s)
{
    uint64_t count = 0;

    while (*s) {
        uint64_t from, to;

        s = cf_scan_number(s, CF_READ_DECIMAL, &from);
        to = from;
        if (s && *s == '-')
            s = cf_scan_number(s + 1, CF_READ_DECIMAL, &to);
        if (!s || to < from || to - from > 65535 || (*s && *s != ','))
            return 0;
        count += to - from + 1;
        s += *s == ',';
    }
    return count <= 65536 ? (uint32_t)count : 0;
}

static uint32_t sys_sharers(const struct report *to, const char *dir)
{
    char text[4096];
    uint32_t n = 0;

    if (sys_text(to, dir, "shared_cpu_list", text, sizeof text) == 0)
        n = count_list(text);
    else if (sys_text(to, dir, "shared_cpu_map", text, sizeof text) == 0)
        for (const char *s = text; *s; s++)
            n += *s >= '0' && *s <= '9'   ? (uint32_t)__builtin_popcount((unsigned)(*s - '0'))
                 : *s >= 'a' && *s <= 'f' ? (uint32_t)__builtin_popcount((unsigned)(*s - 'a' + 10))
                                          : 0;
    return n ? n : 1;
}

/* What a cache directory says, and what follows from it. */
struct shape {
    uint64_t level, ways, line, sets, size;
};

/* Any one of ways, line, sets and size that is missing follows from the other three. 1, 0 when
   the size stays unknown, or -1. */
static int complete(const struct report *to, const char *dir, const char *name, struct shape *s)
{
    if (s->ways > UINT32_MAX || s->line > UINT32_MAX || s->sets > UINT32_MAX ||
        s->size > MOST_BYTES)
        return cfm_fail(
            to, 0,
            "%s has impossible numbers: write a description of this machine (cf-machine(5))"
            " and name that file",
            dir);
    if (s->size == 0 && s->ways && s->line && s->sets &&
        s->sets <= MOST_BYTES / (s->ways * s->line))
        s->size = s->ways * s->line * s->sets;
    if (s->size == 0)
        return 0;
    if (s->line == 0 && s->ways && s->sets && s->size % (s->ways * s->sets) == 0)
        s->line = s->size / (s->ways * s->sets);
    if (s->line && s->ways == 0 && s->sets && s->size % (s->sets * s->line) == 0)
        s->ways = s->size / (s->sets * s->line);
    if (s->ways == 0 || s->line == 0)
        return cfm_fail(to, 0,
                        "%s does not say how many %s %s has: write a description of this machine"
                        " (cf-machine(5)) and name that file",
                        dir, s->line ? "ways" : "bytes a line of", name);
    if (s->ways > CF_MAX_WAYS)
        return cfm_fail(to, 0,
                        "%s: %s has %" PRIu64 " ways, more than the %d that are supported: write a"
                        " description with fewer (cf-machine(5)) and name that file",
                        dir, name, s->ways, CF_MAX_WAYS);
    if (!cf_is_power_of_two(s->line) || s->line < 4 || s->line > 65536)
        return cfm_fail(to, 0, "%s: a line of %" PRIu64 " bytes is no power of two from 4 to 65536",
                        dir, s->line);
    if (s->size % (s->ways * s->line) || (s->sets && s->sets != s->size / (s->ways * s->line)))
        return cfm_fail(to, 0,
                        "%s: size %" PRIu64 " is not %" PRIu64 " sets times %" PRIu64
                        " ways times %" PRIu64 " bytes: write a description of this machine"
                        " (cf-machine(5)) and name that file",
                        dir, s->size, s->sets, s->ways, s->line);
    return 1;
}

/* One cache directory: 1, 0 when it does not say how large the cache is, or -1. */
static int sys_level(const struct report *to, const char *dir, struct cf_level *l)
{
    char text[64];
    struct shape s = {.level = sys_number(to, dir, "level"),
                      .ways = sys_number(to, dir, "ways_of_associativity"),
                      .line = sys_number(to, dir, "coherency_line_size"),
                      .sets = sys_number(to, dir, "number_of_sets"),
                      .size = sys_number(to, dir, "size")};
    int known;

    *l = (struct cf_level){.depth = (uint32_t)s.level, .write_back = 1, .write_allocate = 1};
    if (sys_text(to, dir, "type", text, sizeof text) == 0)
        l->kind = text[0] == 'D'   ? CF_DATA_CACHE
                  : text[0] == 'I' ? CF_INSTRUCTION_CACHE
                                   : CF_UNIFIED;
    snprintf(l->name, sizeof l->name, "L%u%s", l->depth,
             l->kind == CF_UNIFIED      ? ""
             : l->kind == CF_DATA_CACHE ? "D"
                                        : "I");
    known = complete(to, dir, l->name, &s);
    if (known <= 0)
        return known;
    l->size = s.size;
    l->ways = (uint32_t)s.ways;
    l->line = (uint32_t)s.line;
    l->shared_by = sys_sharers(to, dir);
    if (sys_text(to, dir, "write_policy", text, sizeof text) == 0)
        l->write_back = strcmp(text, "WriteThrough") != 0;
    if (sys_text(to, dir, "allocation_policy", text, sizeof text) == 0)
        l->write_allocate = strcmp(text, "ReadAllocate") != 0;
    return 1;
}

/* Number in a directory's name such as cpu12, -1 if it is another kind of name. */
static long name_number(const char *name, const char *prefix)
{
    size_t n = strlen(prefix);
    uint64_t value;

    if (strncmp(name, prefix, n) != 0 ||
        cf_read_number(name + n, CF_READ_DECIMAL, 1000000, &value) < 0)
        return -1;
    return (long)value;
}

/* Lowest-numbered CPU that shows its caches (the first may be switched off); counts CPUs. */
static long first_cpu(const struct report *to, const char *root, uint32_t *count)
{
    DIR *d = opendir(root);
    struct dirent *e;
    long best = -1;

    if (!d)
        note_refusal(to, errno);
    *count = 0;
    while (d && (e = readdir(d))) {
        char path[4096 + 300];
        struct stat st;
        long n = name_number(e->d_name, "cpu");

        if (n < 0)
            continue;
        ++*count;
        snprintf(path, sizeof path, "%s/%s/cache/index0", root, e->d_name);
        if ((best < 0 || n < best) && stat(path, &st) == 0)
            best = n;
    }
    if (d)
        closedir(d);
    return best;
}

static void host_name(const struct report *to, char *name, size_t size)
{
    char *cpu = cf_cpu_name(NULL);

    if (!cpu)
        *to->refused = errno;
    snprintf(name, size, "%s", cpu && *cpu ? cpu : "host");
    free(cpu);
}

/* By depth, and in a depth by the kernel's index. */
static int sys_levels(const struct report *to, const char *cpu, struct cf_machine *m)
{
    for (unsigned at = 0; at < CF_MAX_LEVELS * 2 * CF_MAX_LEVELS; at++) {
        const unsigned depth = at / (2 * CF_MAX_LEVELS) + 1, index = at % (2 * CF_MAX_LEVELS);
        char dir[2300];
        struct stat st;
        struct cf_level l;
        int known;

        snprintf(dir, sizeof dir, "%s/cache/index%u", cpu, index);
        if (stat(dir, &st) < 0 || sys_number(to, dir, "level") != depth)
            continue;
        known = sys_level(to, dir, &l);
        if (known < 0)
            return -1;
        if (known == 0)
            continue;
        if (m->levels == CF_MAX_LEVELS)
            return cfm_fail(to, 0, "%s/cache has more than %d levels", cpu, CF_MAX_LEVELS);
        m->level[m->levels] = l;
        if (cfm_settle_level(to, 0, m, m->levels) < 0)
            return -1;
        m->levels++;
        if (m->line_size == 0 && l.kind != CF_INSTRUCTION_CACHE)
            m->line_size = l.line;
    }
    if (m->levels == 0)
        return cfm_fail(to, 0,
                        "%s/cache does not say how large any cache is: name a machine description"
                        " instead",
                        cpu);
    return 0;
}

static int load(const struct report *to, struct cf_machine *m)
{
    const char *other = getenv("CF_SYSFS");
    char root[2048], cpu[2200], text[4096];
    uint32_t count;
    long first;

    if ((size_t)snprintf(root, sizeof root, "%s/devices/system/cpu", other ? other : "/sys") >=
        sizeof root)
        return cfm_fail(to, 0, "CF_SYSFS is too long");
    first = first_cpu(to, root, &count);
    if (first < 0)
        return cfm_fail(to, 0,
                        "%s shows no cache of any CPU, as in many virtual machines: name a machine"
                        " description instead",
                        root);
    snprintf(cpu, sizeof cpu, "%s/cpu%ld", root, first);
    if (sys_levels(to, cpu, m) < 0)
        return -1;
    if (m->line_size == 0)
        m->line_size = m->level[0].line;
    m->cpus = sys_text(to, root, "online", text, sizeof text) == 0 ? count_list(text) : 0;
    if (m->cpus == 0)
        m->cpus = count;
    m->clock_hz = sys_number(to, cpu, "cpufreq/cpuinfo_max_freq"); /* kHz */
    m->clock_hz = m->clock_hz <= 1000000000 ? m->clock_hz * 1000 : 0;
    if (other)
        snprintf(m->name, sizeof m->name, "host");
    else
        host_name(to, m->name, sizeof m->name);
    snprintf(text, sizeof text,
             "sysfs, cpu%ld of this machine; replacement and inclusion are not shown there, LRU and"
             " non-inclusive are assumed",
             first);
    m->source = strdup(text);
    m->file = strdup(root);
    if (!m->source || !m->file)
        return cfm_refuse(to, ENOMEM);
    return cfm_settle_cpus(to, 0, m) < 0 ? -1 : cfm_borrow_latencies(to, m);
}

int cfm_load_host(const struct report *to, struct cf_machine *m)
{
    const int status = load(to, m);

    return *to->refused ? cfm_refuse(to, *to->refused) : status;
}
