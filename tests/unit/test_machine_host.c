/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_machine_host.c - the machine `host`, from made-up sysfs trees, and this one. Works in a
 * directory of its own, which is removed at the end.
 */
#include <sys/stat.h>

#include "tests/unit/machine_file.h"

static void sys(const char *name, const char *text)
{
    char path[600];

    snprintf(path, sizeof path, "%s/devices/system/cpu/%s", dir, name);
    for (char *p = path + strlen(dir) + 1; (p = strchr(p, '/')); p++) {
        *p = '\0';
        mkdir(path, 0777);
        *p = '/';
    }
    put(path, text, strlen(text));
}

static void sys_cache(int cpu, int index, const char *level, const char *type, const char *size,
                      const char *ways, const char *line, const char *sets, const char *shared)
{
    static const char *const names[] = {
        "level",          "type",           "size", "ways_of_associativity", "coherency_line_size",
        "number_of_sets", "shared_cpu_list"};
    const char *values[] = {level, type, size, ways, line, sets, shared};
    char name[200];

    for (size_t i = 0; i < 7; i++) {
        snprintf(name, sizeof name, "cpu%d/cache/index%d/%s", cpu, index, names[i]);
        if (values[i])
            sys(name, values[i]);
    }
}

static void sys_clear(void)
{
    char command[400];

    snprintf(command, sizeof command, "rm -rf '%s/devices'", dir);
    if (system(command) != 0)
        exit(1);
}

/* In emulation /proc/cpuinfo is of the processor below. */
static int processor_named(void)
{
#if defined(__x86_64__)
    return system("grep -q '^model name' /proc/cpuinfo") == 0;
#elif defined(__aarch64__)
    return system("grep -q '^CPU part' /proc/cpuinfo") == 0;
#else
    return 0;
#endif
}

static void host_refused(const char *what)
{
    struct cf_machine *m = cf_machine_load("host", problem, sizeof problem);

    if (!ok(!m && strstr(problem, what), "host refused: %s", what))
        note("said: %s", m ? "(nothing)" : problem);
    cf_machine_free(m);
    sys_clear();
}

static void complete(void)
{
    struct cf_machine *m;

    host_refused("shows no cache of any CPU");

    sys_cache(0, 0, "1\n", "Data\n", "48K\n", "12\n", "64\n", "64\n", "0,2\n");
    sys_cache(0, 1, "1\n", "Instruction\n", "32K\n", "8\n", "64\n", "64\n", "0,2\n");
    sys_cache(0, 2, "2\n", "Unified\n", "1280K\n", "20\n", "64\n", "1024\n", "0,2\n");
    sys_cache(0, 3, "3\n", "Unified\n", "36M\n", "12\n", "64\n", "49152\n", "0-3\n");
    sys("online", "0-3\n");
    sys("cpu0/cpufreq/cpuinfo_max_freq", "4500000\n");
    sys("cpu0/cache/index3/write_policy", "WriteThrough\n");
    sys("cpu0/cache/index3/allocation_policy", "ReadAllocate\n");
    m = cf_machine_load("host", problem, sizeof problem);
    need(m != NULL, "a complete host: %s", problem);
    is_text(m->name, "host", "its name, with CF_SYSFS");
    is_u64(m->cpus, 4, "its CPUs");
    is_u64(m->clock_hz, 4500000000, "its clock");
    is_u64(m->line_size, 64, "its line size");
    is_u64(m->levels, 4, "its levels");
    is_text(m->level[0].name, "L1D", "first level");
    is_u64(m->level[0].ways, 12, "ways");
    is_u64(m->level[0].shared_by, 2, "shared by two");
    is_text(m->level[1].name, "L1I", "instruction level");
    is_text(m->level[2].name, "L2", "second level");
    is_u64(m->level[3].sets, 49152, "sets that are no power of two");
    is_u64(m->level[3].shared_by, 4, "shared by all");
    ok(!m->level[3].write_back && !m->level[3].write_allocate && m->level[0].write_back,
       "write and allocation policy are taken where shown");
    round_trip(m, "host");
    cf_machine_free(m);
    sys_clear();
}

/* What device trees often leave out. */
static void left_out(void)
{
    struct cf_machine *m;

    sys_cache(3, 0, "1\n", "Data\n", "32K\n", NULL, "64\n", "256\n", NULL);
    sys_cache(3, 1, "1\n", "Instruction\n", NULL, "3\n", "64\n", "256\n", NULL);
    sys_cache(3, 2, "2\n", "Unified\n", "1M\n", "16\n", NULL, "1024\n", NULL);
    sys_cache(3, 3, "3\n", "Unified\n", NULL, NULL, NULL, NULL, NULL);
    sys("cpu3/cache/index2/shared_cpu_map", "f,0000000f\n");
    sys("cpu4/x", "\n");
    sys("cpu5/x", "\n");
    sys("cpufreq/x", "\n");
    for (int i = 6; i < 12; i++) {
        char name[32];

        snprintf(name, sizeof name, "cpu%d/x", i);
        sys(name, "\n");
    }
    m = cf_machine_load("host", problem, sizeof problem);
    need(m != NULL, "a host that tells little: %s", problem);
    is_u64(m->levels, 3, "a cache without any size is left out");
    is_u64(m->level[0].ways, 2, "ways from size, sets and line");
    is_u64(m->level[1].size, 48 << 10, "size from the others");
    is_u64(m->level[2].line, 64, "line from the others");
    is_u64(m->level[2].shared_by, 8, "sharers from the map");
    is_u64(m->level[0].shared_by, 1, "private where nothing is said");
    is_u64(m->cpus, 9, "CPUs are counted");
    is_u64(m->clock_hz, 0, "no clock");
    ok(m->source && strstr(m->source, "cpu3"), "the source names the CPU that was read");
    if (processor_named())
        ok(m->latency_of && m->latency_source && m->memory.stated,
           "the latencies are those of a described core: %s",
           m->latency_of ? m->latency_of : "none");
    else
        ok(!m->latency_of && !m->latency_source && !m->memory.stated,
           "no latencies where /proc/cpuinfo is of another architecture");
    cf_machine_free(m);
    sys_clear();
}

static void contradictions(void)
{
    struct cf_machine *m;

    sys_cache(0, 0, "1\n", "Data\n", "32K\n", "0\n", "64\n", NULL, NULL);
    host_refused("does not say how many ways L1D has");
    sys_cache(0, 0, "1\n", "Data\n", "32K\n", "8\n", NULL, NULL, NULL);
    host_refused("does not say how many bytes a line of L1D has");
    sys_cache(0, 0, "1\n", "Data\n", "33K\n", "8\n", "64\n", "64\n", NULL);
    host_refused("size 33792 is not 64 sets times 8 ways times 64 bytes");
    sys_cache(0, 0, "1\n", "Data\n", "33K\n", "10\n", "64\n", NULL, NULL);
    host_refused("size 33792 is not");
    sys_cache(0, 0, "1\n", "Data\n", "1M\n", "16384\n", "64\n", NULL, NULL);
    host_refused("16384 ways, more than");
    sys_cache(0, 0, "1\n", "Data\n", "6K\n", "2\n", "48\n", "64\n", NULL);
    host_refused("no power of two");
    sys_cache(0, 0, "1\n", "Data\n", NULL, "8\n", NULL, NULL, NULL);
    host_refused("does not say how large any cache is");
    sys_cache(0, 0, "1\n", "Unified\n", "32K\n", "8\n", "64\n", "64\n", NULL);
    sys_cache(0, 1, "1\n", "Data\n", "32K\n", "8\n", "64\n", "64\n", NULL);
    host_refused("from the core outwards");
    sys_cache(0, 0, "1\n", "Data\n", NULL, "4294967295\n", "2147483648\n", "4294967295\n", NULL);
    host_refused("does not say how large");
    sys_cache(0, 0, "1\n", "Data\n", "32K\n", "8\n", "64\n", "64\n", "0-9\n");
    sys("online", "0-1\n");
    host_refused("shared by 10 of 2 CPUs");
    sys_cache(0, 0, "1\n", "Data\n", "32K\n", "8\n", "64\n", "64\n", "9-0,x\n");
    m = cf_machine_load("host", problem, sizeof problem);
    ok(m && m->level[0].shared_by == 1, "a list of sharers that is none");
    cf_machine_free(m);
    sys_clear();
}

static void this_machine(void)
{
    struct cf_machine *m = cf_machine_load("host", problem, sizeof problem);

    ok(m ? m->levels > 0 && m->line_size > 0 && m->name[0] : problem[0] != '\0', "this machine: %s",
       m ? m->name : problem);
    cf_machine_free(m);
}

int main(void)
{
    make_directory();
    setenv("CF_SYSFS", dir, 1);
    complete();
    left_out();
    contradictions();
    unsetenv("CF_SYSFS");
    this_machine();
    remove_directory();
    return done();
}
