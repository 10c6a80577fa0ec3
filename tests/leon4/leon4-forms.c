/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * leon4-forms - what a LEON's trace buffers would hold of a program that an emulator has run, in
 * any of the forms in which monitors show them.
 *
 * In: PREFIX.log, PREFIX.bin and PREFIX.lst of one or two programs (see run.c and
 * pipelines/leon4.mk); two run side by side as CPU 0 and CPU 1. Out: text, Tcl lists, the words of
 * the trace buffers, a CSV of the true accesses, or the counters. A tool of the tests and of the
 * samples, which is not installed. Memory grows with the run: about 200 bytes an instruction.
 */
#include <stdlib.h>
#include <string.h>

#include "formats/program/cf_options.h"
#include "tests/leon4/leon4.h"

static const char usage[] =
    "Usage: leon4-forms [options] PREFIX [PREFIX]\n"
    "Turns an emulator's log of a SPARC program into the forms of a LEON's trace.\n"
    "\n"
    "  -f, --form FORM      hist (both), inst, ahb; accesses, stream (with\n"
    "                       fetches), counters                              [hist]\n"
    "  -s, --style STYLE    of hist, inst and ahb: grmon, ftdi, openocd, dsu, tsim,\n"
    "                       tcl, tcl-lines, raw (bytes), words (hex)         [grmon]\n"
    "      --single         one entry an instruction, two for atomics, as LEON4's\n"
    "                       manual has it; else also two for stores, ldd and double\n"
    "                       results, three for std, as LEON3's has it\n"
    "      --from N         begin with the Nth instruction of each CPU, from 0   [0]\n"
    "  -n, --count N        so many instructions of each CPU                   [all]\n"
    "      --cpu N          instructions of this CPU only                      [all]\n"
    "      --start N        time of the first instruction                        [0]\n"
    "      --bus BITS       width of the bus: 32, 64, 128                      [128]\n"
    "      --latency N      cycles from a miss to its first data                [10]\n"
    "      --post N         cycles that a store waits in the write buffer        [2]\n"
    "      --lock           loads of atomic instructions always use the bus\n"
    "      --l2-off         no second level, as after reset: it counts no misses\n"
    "  -q, --quiet          no summary\n"
    "  -h, --help           show this text\n"
    "      --version        show the version\n";

static void check(struct cf_tool *t, const struct print *p)
{
    const int text = p->style == FTDI || p->style == OPENOCD || p->style == DSU;

    if ((p->style == RAW || p->style == WORDS || text) && p->form == HIST)
        cf_die(t, CF_EXIT_USAGE, "this style has no hist: use --form inst or ahb");
    if ((p->style == FTDI || p->style == TSIM) && p->form == AHB)
        cf_die(t, CF_EXIT_USAGE, "this style has no ahb");
    if ((p->style == OPENOCD || p->style == DSU) && p->form == AHB && p->bus != 4)
        cf_die(t, CF_EXIT_USAGE, "this style shows 32 bits of data: use --bus 32");
}

static void print_form(struct cf_tool *t, const struct print *p, struct trace *trace,
                       const struct counters *counters, const uint8_t *const *hit)
{
    if (p->form == COUNTERS)
        print_counters(counters, p->cpus, stdout);
    else if (p->form == ACCESSES || p->form == STREAM)
        print_accesses(p, &trace[0], hit, stdout);
    else if (p->style == RAW || p->style == WORDS)
        print_raw(p, &trace[0], stdout);
    else if (print_text(p, &trace[0], stdout) < 0)
        cf_die(t, CF_EXIT_ENVIRONMENT, "no memory for %zu lines", trace[0].entries);
}

int main(int argc, char **argv)
{
    struct model m = {.bus = 128, .latency = 10, .post = 2};
    struct print p = {.form = HIST, .style = GRMON, .cpu = -1, .count = UINT64_MAX};
    struct run run[2];
    struct trace trace[2];
    struct counters counters[2];
    const uint8_t *hit[2];
    struct cf_tool t;
    uint32_t cpu = 0;
    int cpu_given = 0;
    const struct cf_option options[] = {
        {"form", 'f', CF_WORD(&p.form, "hist inst ahb accesses stream counters", 0)},
        {"style", 's', CF_WORD(&p.style, "grmon ftdi openocd dsu tsim tcl tcl-lines raw words", 0)},
        {"count", 'n', CF_NUMBER(&p.count, 1, UINT32_MAX)},
        {"single", 0, CF_FLAG(&p.single)},
        {"from", 0, CF_NUMBER(&p.from, 0, UINT32_MAX)},
        {"cpu", 0, CF_NUMBER(&cpu, 0, 1), .given = &cpu_given},
        {"start", 0, CF_NUMBER(&m.start, 0, UINT32_MAX)},
        {"bus", 0, CF_NUMBER(&m.bus, 32, 128)},
        {"latency", 0, CF_NUMBER(&m.latency, 0, 1000)},
        {"post", 0, CF_NUMBER(&m.post, 0, 1000)},
        {"lock", 0, CF_FLAG(&m.lock)},
        {"l2-off", 0, CF_FLAG(&m.l2_off)},
        CF_END_OPTIONS,
    };

    cf_tool_init(&t, argc, argv, "leon4-forms", usage);
    cf_options_read(&t, argc, argv, options);
    p.cpu = cpu_given ? (int)cpu : -1;
    if (m.bus != 32 && m.bus != 64 && m.bus != 128)
        cf_die(&t, CF_EXIT_USAGE, "--bus %u: 32, 64 or 128", m.bus);
    m.bus /= 8;
    if (argc - optind < 1 || argc - optind > 2)
        cf_die(&t, CF_EXIT_USAGE, "one or two PREFIXes are expected: see --help");
    p.bus = m.bus;
    p.cpus = (unsigned)(argc - optind);
    p.run = run;
    check(&t, &p);

    for (unsigned i = 0; i < p.cpus; i++) {
        run_read(&t, argv[optind + (int)i], &run[i]);
        model_run(&t, &m, &run[i], i, &trace[i]);
        counters[i] = trace[i].counters;
        hit[i] = trace[i].hit;
        if (!t.quiet)
            fprintf(stderr,
                    "%s: %zu instructions, %u jumped over, %u loads found in memory as they were\n",
                    argv[optind + (int)i], run[i].steps, run[i].annulled, run[i].checked);
    }
    if (p.cpus == 2)
        model_interleave(&t, &trace[0], &trace[1], m.start);

    print_form(&t, &p, trace, counters, hit);
    for (unsigned i = 0; i < p.cpus; i++) {
        trace_free(&trace[i]);
        run_free(&run[i]);
    }
    return cf_tool_finish(&t, NULL, NULL);
}
