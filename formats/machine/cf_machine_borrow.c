/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Latencies for the machine at hand, which /sys does not show: those of the installed description
 * whose core is nearest.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cf_machine_parts.h"
#include "formats/base/cf_number.h"

/* A word of /proc/cpuinfo, and the description that it stands for. The first fit counts, and an
   empty word fits any processor of the architecture. */
static const struct {
    const char *field, *word, *machine;
} near[] = {
#if defined(__x86_64__) || defined(__i386__)
    {"model name", "Atom", "atom-d525"},
    {"model name", "", "xeon-6230"},
#elif defined(__aarch64__) || defined(__arm__)
    {"CPU part", "0xc0f", "odroid-xu4"},
    {"CPU part", "0xd03", "zynq-ultrascale"},
    {"CPU part", "0xd07", "tegra-x1"},
    {"CPU part", "", "raspberry-pi-4"},
#endif
    {NULL, NULL, NULL},
};

/* The description for the first processor of the list, NULL where none fits. -1 with errno where
   the environment refused. */
static int find_nearest(const char **found)
{
    char line[256];
    FILE *f = fopen("/proc/cpuinfo", "re");
    int refused = f || !cf_is_refusal(errno) ? 0 : errno;

    *found = NULL;
    while (f && !*found && fgets(line, sizeof line, f))
        for (unsigned i = 0; near[i].machine && !*found; i++)
            if (strncmp(line, near[i].field, strlen(near[i].field)) == 0 &&
                strstr(line, near[i].word))
                *found = near[i].machine;
    if (f && ferror(f))
        refused = errno;
    if (f)
        fclose(f);
    errno = refused;
    return refused ? -1 : 0;
}

int cfm_borrow_latencies(const struct report *to, struct cf_machine *m)
{
    const char *name;
    struct cf_machine *from;
    int status;

    if (find_nearest(&name) < 0)
        return cfm_refuse(to, errno);
    if (!name)
        return 0;
    from = calloc(1, sizeof *from);
    if (!from)
        return cfm_refuse(to, ENOMEM);
    status = cfm_try_installed(to, name, from);
    if (status <= 0) {
        cf_machine_free(from); /* 0: not installed, so that none is stated */
        return status;
    }
    status = 0;
    for (uint32_t i = 0; i < m->levels; i++) {
        const uint32_t same = cf_machine_level(from, m->level[i].name);

        if (same < from->levels)
            m->level[i].latency = from->level[same].latency;
    }
    m->memory = from->memory;
    m->latency_rule = from->latency_rule;
    m->latency_source = from->latency_source;
    from->latency_source = NULL;
    if (asprintf(&m->latency_of, "%s (%s)", name, from->name) < 0) {
        m->latency_of = NULL;
        status = cfm_refuse(to, ENOMEM);
    }
    cf_machine_free(from);
    return status;
}
