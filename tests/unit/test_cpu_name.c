/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a processor is called by files as in /proc/cpuinfo: x86-64, 32-bit and 64-bit Arm, and none.
 */
#include <string.h>
#include <unistd.h>

#include "formats/cpu/cf_cpu_name.h"
#include "tap.h"

static void is_named(const char *text, const char *wanted)
{
    char path[] = "/tmp/cf-cpu-name-XXXXXX", *name;
    const int fd = mkstemp(path);
    const ssize_t bytes = (ssize_t)strlen(text);

    if (fd < 0 || write(fd, text, (size_t)bytes) != bytes || close(fd) != 0)
        exit(1);
    name = cf_cpu_name(path);
    if (!ok(name && strcmp(name, wanted) == 0, "named '%s'", wanted))
        note("is '%s'", name ? name : "(nothing)");
    free(name);
    unlink(path);
}

int main(void)
{
    static const char arm[] = "processor\t: 0\n"
                              "BogoMIPS\t: 108.00\n"
                              "Features\t: fp asimd\n"
                              "CPU implementer\t: 0x41\n"
                              "CPU architecture: 8\n"
                              "CPU variant\t: 0x0\n"
                              "CPU part\t: 0xd07\n"
                              "CPU revision\t: 3\n\n";
    char both[1000];

    is_named(
        "processor\t: 0\nmodel\t\t: 85\nmodel name\t: Some CPU @ 2.6: GHz\ncache size\t: 1 KB\n\n"
        "processor\t: 1\nmodel name\t: Another\n",
        "Some CPU @ 2.6: GHz");
    is_named(arm, "implementer 0x41 part 0xd07");
    snprintf(both, sizeof both, "%s%s", arm,
             "processor\t: 1\nCPU implementer\t: 0x51\nCPU part\t: 0x800\n");
    is_named(both, "implementer 0x41 part 0xd07");
    snprintf(both, sizeof both, "%s%s", arm, "Hardware\t: X\nModel\t\t: A Board 4\n");
    is_named(both, "A Board 4");
    is_named("model name\t:\nCPU implementer\t: 0x41\n", "");
    is_named("CPU part : 0xd07\nmodel name", "");
    is_named("", "");
    return done();
}
