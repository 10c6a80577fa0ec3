/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Call stacks, where they are asked for: what happens to them but for calls and returns, which
 * records of superblocks hold (tool_plan.c). The decoder follows the stacks.
 */
#include "tool.h"

#include "pub_tool_machine.h"
#include "pub_tool_options.h"

static UInt forks;

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

void cf_calls_code_gone(void)
{
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
