/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf-capture-perf-data - imports the files that perf record writes: sampled memory accesses.
 *
 * In: one perf.data file of version 2, or its form for pipes, of either endianness; records may be
 * compressed. Out: tables task and map, of what runs and what is mapped, and access: a row for each
 * sample that has an address and an operation, with the level that data_src states and the period
 * as weight, in the order of time.
 * Memory: the samples between the ends of two of perf's rounds, at most those of --hold (order.h);
 * the events and their ids; each thread once.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "capture/base/cf_command.h"
#include "capture/perf-data/file.h"
#include "formats/program/cf_options.h"

static const char usage[] =
    "Usage: cf-capture perf-data [options] [FILE]\n"
    "Import the samples of memory accesses in a file of 'perf record' or 'perf mem record'.\n"
    "\n"
    "      --op OP          operation of samples that state none: load, store, ... [left out]\n"
    "      --hold SAMPLES   samples that may wait to be put in order [4194304]\n"
    "  -o, --output FILE    write a packed file instead of standard output\n"
    "      --probe          report whether this source can be used here, and exit\n"
    "  -q, --quiet          no progress\n"
    "  -h, --help           show this text\n"
    "      --version        show the version\n"
    "\n"
    "Example: perf mem record -- ls && cf-capture perf-data perf.data | cf-resolve -o ls.cf\n";

static void idle(void *arg)
{
    struct perf_file *f = arg;

    if (f->begun)
        cf_samples_idle(&f->samples);
}

/* What the recording lacks. */
static void report(const struct perf_file *f)
{
    const struct cf_tool *t = f->tool;

    if (f->lost || f->lost_samples)
        cf_warn(t,
                "%s: perf lost %" PRIu64 " records and %" PRIu64
                " samples: record with a larger buffer (-m) or a longer period (-c)",
                f->in.name, f->lost, f->lost_samples);
    if (f->throttled)
        cf_warn(t,
                "%s: the kernel throttled the events %" PRIu64
                " times: samples are missing there; a longer period (-c) avoids it",
                f->in.name, f->throttled);
    if (f->unknown)
        cf_warn(t, "%s: %" PRIu64 " records of types that are not known were passed over",
                f->in.name, f->unknown);
    if (f->strangers)
        cf_warn(t, "%s: %" PRIu64 " samples left out whose event is not in the file", f->in.name,
                f->strangers);
    perf_aux_report(f);
    cf_samples_report(&f->samples, t);
}

/* Why no sample became a row. */
static const char *why_none(const struct perf_file *f)
{
    if (f->aux.pieces && f->aux.kind != PERF_AUX_SPE)
        return "it holds the raw trace of a hardware unit that is not ARM's SPE: perf inject "
               "--itrace=i1i -o NEW makes samples of it";
    if (f->aux.others && !f->aux.samples)
        return "what SPE sampled are neither loads nor stores: record with load_filter=1 and "
               "store_filter=1";
    return "no sample has an address and an operation; record with perf mem record, or with -d and "
           "an event for memory accesses";
}

static int finish(struct perf_file *f)
{
    int status;

    report(f);
    if (f->order.late)
        cf_fail(f->tool, CF_EXIT_INPUT,
                "%s: %" PRIu64 " samples left out that stand behind later ones: raise --hold",
                f->in.name, f->order.late);
    if (!f->samples.taken && !f->told && !f->in.failed && !perf_input_caught())
        cf_fail(f->tool, CF_EXIT_INPUT, "%s: no records: %s", f->in.name, why_none(f));
    if (!f->begun || (!f->samples.taken && !f->told))
        cf_writer_cut(f->out);
    status = cf_tool_finish(f->tool, NULL, f->out);
    perf_order_free(&f->order);
    perf_events_free(&f->events);
    perf_aux_free(&f->aux);
    perf_input_close(&f->in);
    free(f->thread);
    free(f->plain.data);
    ZSTD_freeDStream(f->zstd);
    if (perf_input_caught())
        cf_command_raise(perf_input_caught());
    return status;
}

int main(int argc, char **argv)
{
    static struct perf_file f;
    struct cf_tool t;
    const char *output = NULL;
    uint64_t hold = 1 << 22;
    const struct cf_option options[] = {
        {"op", 0, CF_CALL(cf_samples_set_op, &f.samples)},
        {"hold", 0, CF_NUMBER(&hold, 2, 1 << 30)},
        {"output", 'o', CF_FILE(&output)},
        {"probe", 0, CF_READY("ready: reads files, needs nothing of this machine")},
        CF_END_OPTIONS,
    };
    int opened;

    cf_tool_init(&t, argc, argv, "cf-capture-perf-data", usage);
    cf_options_read(&t, argc, argv, options);
    if (argc - optind > 1)
        cf_die(&t, CF_EXIT_USAGE, "more than one FILE: import each, and join them by cf-merge");
    f.tool = f.events.tool = f.order.tool = &t;
    opened = perf_input_open(&f.in, &t, optind < argc ? argv[optind] : "-");
    f.out = f.samples.out = f.order.out = cf_tool_recording(&t, output);
    f.order.samples = &f.samples;
    f.order.most = hold;
    f.order.owner = perf_aux_owner;
    f.order.task = perf_state_task;
    f.order.arg = &f;
    f.in.idle = idle;
    f.in.arg = &f;
    if (opened == 0 && perf_file_head(&f) == 0) {
        perf_file_features(&f);
        perf_file_records(&f);
        perf_file_tail(&f);
        if (!f.begun && f.events.count)
            perf_file_begin(&f);
    }
    return finish(&f);
}
