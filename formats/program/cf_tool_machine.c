/* SPDX-License-Identifier: BSD-2-Clause */
/* cf_tool_machine.c - the machine that options -m, --cores and --latency name. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cf_memory.h"
#include "formats/machine/cf_machine.h"
#include "formats/program/cf_tool.h"

struct cf_machine *cf_tool_machine(const struct cf_tool *t, const char *name)
{
    char problem[4096];
    struct cf_machine *m;

    if (!name)
        cf_die(t, CF_EXIT_USAGE,
               "no machine: give its description with -m, as in -m host: see --help");
    m = cf_machine_load(name, problem, sizeof problem);
    if (!m)
        cf_die(t, errno ? CF_EXIT_ENVIRONMENT : CF_EXIT_USAGE, "%s", problem);
    return m;
}

static void set_latency(const struct cf_tool *t, struct cf_machine *m, const char *text)
{
    const char *equal = strrchr(text, '=');
    char *what, problem[1024];
    uint32_t cycles;

    if (!equal || equal == text)
        cf_die(t, CF_EXIT_USAGE, "--latency '%s': not LEVEL=CYCLES, as in L2=21", text);
    cycles = (uint32_t)cf_parse_u64(t, "--latency", equal + 1, 0, CF_MAX_LATENCY);
    what = cf_need(t, strndup(text, (size_t)(equal - text)));
    if (cf_machine_set_latency(m, what, cycles, problem, sizeof problem) < 0)
        cf_die(t, CF_EXIT_USAGE, "--latency '%s': %s", text, problem);
    free(what);
}

/* Of all levels, but for those after another operation which are as after any, and those that are
   so where nothing is stated. */
static const char *latencies_of(const struct cf_tool *t, const struct cf_machine *m)
{
    static const struct cf_latency none;
    char *text = NULL;
    size_t bytes;
    FILE *out = cf_need(t, open_memstream(&text, &bytes));

    for (uint32_t i = 0; i <= m->levels; i++) {
        const struct cf_latency *l = cf_machine_latency(m, i);

        for (unsigned op = CF_LOAD; op < CF_LATENCY_OPS; op++)
            for (unsigned previous = 0; previous < CF_LATENCY_OPS; previous++) {
                const int64_t cycles = cf_latency_cycles(l, op, previous);

                if (cycles == cf_latency_cycles(previous ? l : &none, op, 0))
                    continue;
                fprintf(out, "%s%s.%s%s%s=%lld", ftell(out) ? ", " : "",
                        cf_machine_level_name(m, i), cf_op_name(op), previous ? "_after_" : "",
                        previous ? cf_op_name(previous) : "", (long long)cycles);
            }
    }
    return cf_need(t, cf_memory_text(out, &text));
}

const char *cf_tool_latencies(const struct cf_tool *t, struct cf_machine *m,
                              const char *const *stated, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        set_latency(t, m, stated[i]);
    return latencies_of(t, m);
}

void cf_tool_estimated(const struct cf_tool *t, const struct cf_machine *m, const char *name,
                       unsigned count)
{
    if (m->latency_of && !t->quiet)
        cf_warn(t,
                "the latencies are those of %s, the nearest core that is described, and not this "
                "machine's: state those by --latency, or in a copy of a description",
                m->latency_of);
    else if (m->latency_source && !count && !t->quiet &&
             strncmp(m->latency_source, "estimate:", 9) == 0)
        cf_warn(t,
                "the latencies of %s are an estimate: latency_source in its description says of "
                "what; state others by --latency",
                name);
}

void cf_tool_modelled(const struct cf_tool *t, const struct cf_machine *m, int *said)
{
    for (uint32_t i = *said || t->quiet ? m->levels : 0; i < m->levels; i++)
        if (m->level[i].indexing == CF_INDEX_HASHED) {
            cf_warn(t,
                    "%s: %s has index: hashed, by a function that is not described: it is modelled "
                    "with plain sets, so misses of single sets differ from the machine's",
                    m->name, m->level[i].name);
            break;
        }
    *said = 1;
}

unsigned cf_tool_cores(const struct cf_machine *m, unsigned stated)
{
    return stated ? stated : m->cpus < CF_MAX_CORES ? m->cpus : CF_MAX_CORES;
}
