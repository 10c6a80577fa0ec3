/* SPDX-License-Identifier: BSD-2-Clause */
/* session.c - see session.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "capture/base/cf_clock.h"
#include "capture/probe/session.h"

enum {
    ORDINARY = 16 << 20, /* bytes in pages of which each is translated by itself */
    SMALLEST_FRAME = 4096,
    SECONDS_QUICK = 8,
    SECONDS = 60,
    SECONDS_THOROUGH = 170,
};

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void session_open(struct capture *k)
{
    const struct cf_here_options with = {.size = 2 * k->o.max,
                                         .cpu = k->o.cpu == ANY_CPU ? -1 : (int)k->o.cpu,
                                         .time = k->o.by == BY_TIME,
                                         .event = k->o.event};
    struct cf_here_options ordinary = with;
    char why[256];

    k->began = now_ns();
    k->here = cf_here_new(&with, why, sizeof why);
    if (!k->here)
        cf_die(&k->tool, CF_EXIT_ENVIRONMENT, "%s", why);
    ordinary.ordinary = 1;
    ordinary.size = with.size < ORDINARY ? with.size : ORDINARY;
    k->ordinary = cf_here_new(&ordinary, why, sizeof why);
    if (!k->ordinary)
        cf_warn(&k->tool, "the translation of addresses is not measured: %s", why);
}

void session_close(struct capture *k)
{
    cf_here_free(k->here);
    cf_here_free(k->ordinary);
}

/* In a virtual machine the host's pages are the frames, of whatever size they are. */
static uint64_t frame_bytes(const struct capture *k)
{
    char line[8192];
    int own = 0;
    FILE *f = fopen("/proc/cpuinfo", "re");

    while (f && !own && fgets(line, sizeof line, f))
        own = !strncmp(line, "flags", 5) && !strstr(line, " hypervisor");
    if (f)
        fclose(f);
    return own ? cf_here_page(k->here) : SMALLEST_FRAME;
}

/* What is measured how, for the stream and for the user. */
void session_state(struct capture *k)
{
    const char *why, *event = cf_here_event(k->here, 1, &why);
    const uint64_t page = cf_here_page(k->here);

    (void)cf_writer_fact(k->writer, "experiment", "clock", cf_clock_name());
    (void)cf_writer_number(k->writer, "experiment", "page_bytes", page);
    (void)cf_writer_number(k->writer, "experiment", "frame_bytes", frame_bytes(k));
    if (k->ordinary) /* what parameter counts in experiment tlb */
        (void)cf_writer_number(k->writer, "parameter", "page_size", cf_here_page(k->ordinary));
    if (event)
        (void)cf_writer_fact(k->writer, "experiment", "event", event);
    else if (k->o.by == BY_MISSES || k->o.event)
        cf_die(&k->tool, CF_EXIT_ENVIRONMENT, "misses are not counted here: %s", why);
    if (k->tool.quiet)
        return;
    cf_warn(&k->tool, "CPU %u, by %s%s%s%s", cf_here_cpu(k->here), event ? event : cf_clock_name(),
            event ? "" : ", since misses are not counted here: ", event ? "" : why,
            k->o.by == BY_TIME ? " (--by time)" : "");
    if (cf_here_pages_why(k->here)[0])
        cf_warn(&k->tool, "pages of %" PRIu64 " KiB: %s", page / 1024, cf_here_pages_why(k->here));
}

void session_measure(struct capture *k)
{
    const struct options *o = &k->o;
    struct probe *p = &k->probe;
    const unsigned seconds = o->quick ? SECONDS_QUICK : o->thorough ? SECONDS_THOROUGH : SECONDS;

    p->paper = !o->quick;
    p->others = cf_here_others(k->here, p->other, PROBE_OTHERS);
    if (!p->others && !k->tool.quiet)
        cf_warn(&k->tool, "this process may run on one CPU alone: sharing is not measured");
    if (k->ordinary) {
        p->ordinary = cf_here_bench(k->ordinary);
        p->page = cf_here_page(k->ordinary);
    }
    p->until = k->began + (uint64_t)seconds * 1000000000;
    if (probe_steady(p, o->quick ? 15 : o->thorough ? 51 : 21) != 0 || k->tool.quiet)
        return;
    if (p->attempts > 1)
        cf_warn(&k->tool, "the first level was measured %u times%s", p->attempts,
                p->level[0].way_size ? ", until all of it agreed"
                                     : ", and not all of it agreed: its ways are not told");
    if (p->coarse)
        cf_warn(&k->tool, "the clock is too coarse to time single accesses: only the first level "
                          "is looked for");
    if (p->late)
        cf_warn(&k->tool, "the time is up, %u s: left out from here on: %s", seconds, p->late);
    if (k->spoilt * 10 > k->rows)
        cf_warn(&k->tool,
                "%.0f%% of the measurements were spoilt, by other programs or other guests of the "
                "host: what is hidden so is not told",
                100 * (double)k->spoilt / (double)k->rows);
}

/* The share of the work that is done is known where some experiment ends. */
void session_show(struct capture *k, const struct probe_row *row)
{
    const struct probe *p = &k->probe;
    const double taken = (double)(now_ns() - k->began);
    char left[64] = "";

    if (p->done != k->done && p->done > 0) {
        k->done = p->done;
        k->all = taken / p->done;
    }
    if (k->all > taken)
        snprintf(left, sizeof left, ", %.0f s left", (k->all - taken) / 1e9 + 0.5);
    cf_tool_show(&k->tool, "level %u, %s: %.1f M accesses%s", row->level, row->experiment,
                 (double)p->accesses / 1e6, left);
}
