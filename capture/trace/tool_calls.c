/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Call stacks, where they are asked for: what happens to them but for calls and returns, which
 * records of superblocks hold (tool_plan.c). The decoder follows the stacks.
 */
#include "tool.h"

#include "pub_tool_machine.h"
#include "pub_tool_options.h"

enum { MAX_CODE_AREAS = 1024 };

static UInt forks;

/* Where the code of files is mapped, of which call stacks may tell. */
static struct {
    Addr start, end;
} code_areas[MAX_CODE_AREAS];
static UInt n_code_areas;

static void put(UInt type)
{
    struct cf_wire_event_header event = {type, sizeof event};

    if (cf_tool_options.calls && cf_tool_recording)
        cf_transport_put(type, &event, sizeof event, "");
}

void cf_calls_unknown(void)
{
    put(CF_WIRE_UNKNOWN);
}

void cf_calls_code(Addr start, Addr end)
{
    UInt i;

    for (i = 0; i < n_code_areas; i++)
        if (code_areas[i].start <= start && end <= code_areas[i].end)
            return;
    if (n_code_areas == MAX_CODE_AREAS)
        n_code_areas = 0;
    code_areas[n_code_areas].start = start;
    code_areas[n_code_areas++].end = end;
}

/* Another file may have its code there from now on, but not beside it. */
void cf_calls_code_gone(Addr start, Addr end)
{
    Bool gone = False;
    UInt i;

    for (i = 0; i < n_code_areas;) {
        const Addr from = code_areas[i].start, to = code_areas[i].end;

        if (from >= end || to <= start) {
            i++;
            continue;
        }
        gone = True;
        code_areas[i] = code_areas[--n_code_areas];
        if (from < start)
            cf_calls_code(from, start);
        if (to > end)
            cf_calls_code(end, to);
    }
    if (!gone)
        return;
    cf_heap_code_gone();
    put(CF_WIRE_GONE);
}

UInt cf_calls_fork(void)
{
    struct cf_wire_fork event = {.number = forks + 1};

    if (!cf_tool_options.calls || !cf_tool_recording)
        return 0;
    cf_transport_put(CF_WIRE_FORKS, &event, sizeof event, "");
    return ++forks;
}

void cf_calls_signal(ThreadId tid, Bool alt_stack)
{
    struct cf_wire_signal event = {.sp = VG_(get_SP)(tid), .pc = VG_(get_IP)(tid)};

    if (!cf_tool_options.calls || !cf_tool_recording)
        return;
    if (alt_stack) {
        event.low = VG_(thread_get_altstack_min)(tid);
        event.high = event.low + VG_(thread_get_altstack_size)(tid);
    }
    cf_events_run(tid);
    cf_transport_put(CF_WIRE_SIGNAL, &event, sizeof event, "");
}

static void after_signal(ThreadId tid, Int signal)
{
    (void)signal;
    if (!cf_tool_options.calls || !cf_tool_recording)
        return;
    cf_events_run(tid);
    put(CF_WIRE_HANDLED);
}

void cf_calls_begin(void)
{
    /* A call must be where a superblock ends. */
    if (cf_tool_options.calls)
        VG_(clo_vex_control).guest_chase = False;
}

void cf_calls_track(void)
{
    VG_(track_post_deliver_signal)(after_signal);
}
