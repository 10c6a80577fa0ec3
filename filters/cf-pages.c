/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf-pages - how long a program would run if only some of its pages were cached, by a model.
 *
 * In: accesses with region and page. Out: table page: the runtime with no page cached, with all,
 * and with each page alone (--mode cached), with all but each (--mode uncached), or with the best
 * k of another profile for every k (--rank). Memory: by pages, cores and --memory; a pipe that has
 * to be read several times is kept as it came.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "filters/parts/pages/pages.h"
#include "formats/together/cf_made.h"
#include "formats/program/cf_options.h"

static const char usage[] =
    "Usage: cf-pages -m MACHINE [OPTION]... [FILE]\n"
    "Say how long a program would run with each of its pages alone in the caches: table page,\n"
    "for cf-rank. Accesses to other pages cost what memory does. With no FILE, or when FILE is\n"
    "-, read standard input.\n"
    "\n"
    "  -m, --machine MACHINE   name of a machine description, FILE.yaml or host\n"
    "      --mode MODE         cached: only this page is cached; uncached: all but this page\n"
    "                          [cached]\n"
    "      --rank FILE         instead: the best k pages of the profile FILE cached, for every k\n"
    "      --latency WHAT=CYCLES  as in cf-latency(1); may be repeated\n"
    "      --cores N           cores that run the threads  [the machine's CPUs]\n"
    "      --seed N            seed of random replacement  [1]\n"
    "      --page-size SIZE    bytes of a page  [4096]\n"
    "      --memory SIZE       for simulations beside each other, and for a pipe that has to be\n"
    "                          read again  [1G]\n"
    "  -o, --output FILE       write a packed file instead of standard output\n"
    "  -q, --quiet             no remarks, no progress\n"
    "  -h, --help, --version, --max-strings SIZE\n"
    "\n"
    "Example:\n"
    "  cf-resolve trace.cf | cf-pages -m zynq-ultrascale | cf-rank --by page --value gain\n";

enum { MOST_LATENCIES = 256 };

static void parse(struct pages *p, int argc, char **argv, const char **output)
{
    const char *stated[MOST_LATENCIES];
    struct cf_tool *t = &p->tool;
    unsigned mode = 0;
    uint64_t page_size = 4096;
    int mode_given = 0;
    const struct cf_option table[] = {
        {"machine", 'm', CF_TEXT(&p->machine_name), .reads = CF_READS_MACHINE},
        {"mode", 0, CF_WORD(&mode, "cached uncached", 0), .given = &mode_given},
        {"rank", 0, CF_TEXT(&p->rank), .reads = CF_READS_FILE},
        {"latency", 0, CF_TEXTS(stated, &p->stated, MOST_LATENCIES)},
        {"cores", 0, CF_NUMBER(&p->paged.cores, 1, CF_MAX_CORES)},
        {"seed", 0, CF_NUMBER(&p->paged.seed, 0, UINT64_MAX)},
        {"page-size", 0, CF_POWER(&page_size, 64, 1 << 30)},
        {"memory", 0, CF_SIZE_OF(&p->memory)},
        {"output", 'o', CF_FILE(output)},
        CF_END_INPUT_OPTIONS,
    };
    static char standard[] = "-";

    p->paged.seed = 1;
    p->memory = (uint64_t)1 << 30;
    cf_options_read(t, argc, argv, table);
    if (p->rank && mode_given)
        cf_die(t, CF_EXIT_USAGE, "--mode and --rank are two things: give one");
    if (argc - optind > 1)
        cf_die(t, CF_EXIT_USAGE, "one FILE: 'cat' puts several recordings into one");
    p->mode = p->rank ? PAGES_RANK : (enum pages_mode)mode;
    p->file = argc > optind ? argv[optind] : standard;
    p->machine = cf_tool_machine(t, p->machine_name);
    p->latency_text = cf_tool_latencies(t, p->machine, stated, p->stated);
    p->paged.machine = p->machine;
    p->turns.stated = p->paged.cores;
    p->paged.cores = cf_tool_cores(p->machine, p->paged.cores);
    p->paged.page_size = (uint32_t)page_size;
    p->latencies = cf_need(t, cf_latencies_new(p->machine));
    if (cf_latencies_depend(p->latencies))
        cf_die(t, CF_EXIT_USAGE,
               "%s: its latencies depend on the access before, which is not modelled here: state "
               "one cost for each by --latency, or in a copy of the description",
               p->machine_name);
    cf_paged_costs(&p->paged, p->latencies);
}

/* What the answer leaves out or does not know. */
static void remarks(const struct pages *p, uint64_t outside, uint64_t cut)
{
    for (unsigned key = 0; key < CF_LATENCY_KEYS; key++)
        if (p->seen[key & 7] && cf_latencies_lack(p->latencies, key) == CF_LACKS_LATENCY)
            cf_die(
                &p->tool, CF_EXIT_INPUT,
                "%s states no latency for a %s at %s: give it by --latency", p->machine->name,
                cf_op_name(key & 7),
                cf_machine_level_name(p->machine, (uint32_t)cf_latencies_level(p->latencies, key)));
    if (outside)
        cf_warn(&p->tool, "%" PRIu64 " accesses lie in no mapping and are left out", outside);
    cf_tool_modelled(&p->tool, p->machine, &(int){0});
    cf_tool_estimated(&p->tool, p->machine, p->machine_name, p->stated);
    if (p->tool.quiet)
        return;
    if (p->uncounted)
        cf_warn(&p->tool,
                "the stream does not count instructions: cycles are those of accesses alone");
    if (cut)
        cf_warn(&p->tool, "%" PRIu64 " accesses reach into the next page: that part is left out",
                cut);
    if (p->seen[0] || p->seen[CF_LATENCY_OPS])
        cf_warn(&p->tool, "accesses of unknown operation cost nothing");
}

int main(int argc, char **argv)
{
    static struct pages p;
    static struct cf_made made;
    const char *output = NULL;
    uint64_t none, all;
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);

    cf_tool_init(&p.tool, argc, argv, "cf-pages", usage);
    parse(&p, argc, argv, &output);
    p.threads = cpus > 0 ? (unsigned)cpus : 1;
    if (p.mode != PAGES_CACHED || !cf_alone_frames(&p.paged))
        p.file = cf_tool_again(&p.tool, p.file, p.memory, "it is read several times");
    p.writer = cf_tool_writer(&p.tool, output);
    cf_made_by(&made, &p.tool, p.machine, p.paged.cores);
    made.options = cf_made_seed(&p.tool, p.machine, p.paged.seed, 0);
    cf_made_state(&made, p.writer, CF_RUNTIME);
    if (*p.latency_text)
        (void)cf_writer_fact(p.writer, cf_column_name(CF_RUNTIME), "latency", p.latency_text);
    pages_first(&p, &none, &all);
    if (!p.names && !cf_writer_problem(p.writer))
        cf_die(&p.tool, p.tool.status ? p.tool.status : CF_EXIT_INPUT,
               "no accesses in a mapping: there are no pages (cf-resolve adds mappings)");
    remarks(&p, p.outside, p.cut);
    pages_emit(&p, CF_PAGES_NONE, NULL, 0, none);
    pages_emit(&p, CF_PAGES_ALL, NULL, 0, all);
    if (p.mode == PAGES_RANK)
        pages_best(&p, none, all);
    else
        pages_one_by_one(&p);
    cf_alone_free(p.alone);
    cf_counts_free(p.number);
    cf_counts_free(p.frame);
    free(p.name);
    free(p.page_of);
    cf_latencies_free(p.latencies);
    cf_machine_free(p.machine);
    return cf_tool_finish(&p.tool, NULL, p.writer);
}
