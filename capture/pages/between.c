/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * between.c - the time between the two stops of a run.
 *
 * It is read in the program (watch_stub.h), so that neither the stops nor what they leave behind in
 * caches and predictors is in it. Where that cannot be, in the run that only looks how much memory
 * there is, and by a clock that a program cannot read, it is taken here: right before the thread
 * goes on, and first thing at the return; then each may come late where the machine is busy.
 *
 * What either takes of an empty function is measured at the entry, and subtracted: in the second
 * case that is the thread's own trap, at which it stands. Counters are read at the stops in both.
 */
#include <string.h>

#include "capture/base/cf_clock.h"
#include "capture/pages/pages.h"

enum { TRIES = 20, TRIES_INSIDE = 5 };

static int by_program(const struct pages_between *b)
{
    return b->stub.page && strcmp(cf_clock_name(), "tsc") == 0;
}

static void drop(struct pages_run *run, const char *why)
{
    if (!*run->why)
        snprintf(run->why, sizeof run->why, "%s", why);
}

void pages_between_map(struct pages *k, struct cf_watch *w, pid_t tid, struct pages_between *b,
                       struct pages_run *run)
{
    const char *why;

    if (*k->at_stops || run->purpose == PAGES_MEMORY)
        return;
    why = strcmp(cf_clock_name(), "clock_monotonic") != 0
              ? cf_watch_stub_map(w, tid, &b->stub)
              : "the processor's counter does not tick steadily";
    if (why && run->purpose == PAGES_LAYOUT)
        snprintf(k->at_stops, sizeof k->at_stops, "%s", why);
    else if (why)
        drop(run, why);
}

/* One try, or with the traps the least of some. */
static uint64_t empty(struct cf_watch *w, pid_t tid, const struct pages_between *b, unsigned tries)
{
    uint64_t ticks, from;

    if (!b->stub.page)
        return cf_watch_least(w, tid, tries, cf_clock);
    from = cf_clock();
    ticks = cf_watch_stub_empty(w, tid, &b->stub);
    return ticks == UINT64_MAX || by_program(b) ? ticks : cf_clock() - from;
}

static void measure_empty(struct pages *k, struct cf_watch *w, pid_t tid, struct pages_between *b)
{
    const unsigned tries = b->stub.page && !k->counters ? TRIES_INSIDE : TRIES;
    const unsigned once = k->counters || b->stub.page ? 1 : TRIES;

    memset(&b->cost, 0xff, sizeof b->cost);
    for (unsigned i = 0; i < tries; i += once) {
        struct pages_reading before = {0}, behind = {0};

        if (k->counters && pages_counters_read(k, &before) != 0)
            break;
        behind.cycles = empty(w, tid, b, once);
        if (behind.cycles == UINT64_MAX || (k->counters && pages_counters_read(k, &behind) != 0))
            continue;
        if (behind.cycles < b->cost.cycles)
            b->cost.cycles = behind.cycles;
        for (unsigned c = 0; c < k->counters; c++)
            if (behind.counter[c] - before.counter[c] < b->cost.counter[c])
                b->cost.counter[c] = behind.counter[c] - before.counter[c];
    }
}

int pages_between_ready(struct pages *k, struct cf_watch *w, pid_t tid, struct pages_between *b,
                        uint64_t to)
{
    if (!b->stub.page)
        measure_empty(k, w, tid, b); /* at the trap that is still there */
    else if (cf_watch_stub_enter(tid, &b->stub) != 0)
        return -1;
    if (cf_watch_move(w, tid, PAGES_ENTRY, 0) != 0 ||
        cf_watch_move(w, tid, PAGES_RETURN, b->stub.page ? b->stub.trap : to) != 0)
        return -1;
    if (b->stub.page)
        measure_empty(k, w, tid, b);
    return 0;
}

static const char few[] = "a counter did not count all the time: there are too many at once";

void pages_between_begin(struct pages *k, struct cf_watch *w, pid_t tid, struct pages_between *b,
                         struct pages_run *run)
{
    cf_watch_pass(w);
    if (b->stub.page && cf_watch_stub_go(tid, &b->stub) != 0)
        drop(run, "it was gone at the entry");
    if (pages_counters_read(k, &b->start) != 0)
        drop(run, few);
    b->start.cycles = cf_clock();
}

void pages_between_end(struct pages *k, pid_t tid, const struct pages_between *b, uint64_t now,
                       struct pages_run *run)
{
    struct pages_reading end = {0}, *r = &run->reading;
    uint64_t took = now - b->start.cycles;

    if (pages_counters_read(k, &end) != 0)
        drop(run, few);
    for (unsigned i = 0; i < k->counters; i++) {
        const uint64_t counted = end.counter[i] - b->start.counter[i];

        r->counter[i] = counted > b->cost.counter[i] ? counted - b->cost.counter[i] : 0;
    }
    pages_counters_close(k);
    if (by_program(b) && cf_watch_stub_read(tid, &b->stub, &took) != 0)
        drop(run, "it was gone at the return");
    if (b->cost.cycles == UINT64_MAX)
        drop(run, "what an empty function takes could not be measured");
    else if (run->purpose == PAGES_SAMPLE && took <= b->cost.cycles)
        drop(run, "the function takes no longer than an empty one, whose time is subtracted");
    r->cycles = took > b->cost.cycles ? took - b->cost.cycles : 0;
}
