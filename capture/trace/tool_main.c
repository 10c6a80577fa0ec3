/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tool's beginning and end, its options, and the switch that records only while a function is
 * on the stack.
 */
#include "tool.h"

#include "pub_tool_debuginfo.h"
#include "pub_tool_machine.h"
#include "pub_tool_options.h"
#include "pub_tool_replacemalloc.h"

extern Bool VG_(is_exiting)(ThreadId tid);
#define CF_TOOL_READ_LINES __wrap_vgModuleLocal_read_debuginfo_dwarf3

enum { DEFAULT_STACK_DEPTH = 8 };

/* The stack pointer at a function's return is not below this above that at its entry. */
#if defined(VGA_amd64)
#define RETURN_POPS 8 /* the return address */
#else
#define RETURN_POPS 0
#endif

struct cf_tool_options cf_tool_options = {.stack_depth = DEFAULT_STACK_DEPTH};
static ThreadId client; /* generated code of it runs, or VG_INVALID_THREADID */

/* The function switch: one threshold a thread, ~0 while the function is not on its stack. */
static Addr *leave_sps;
static ThreadId current;

Bool cf_function_is_entry(Addr pc)
{
    const HChar *name;
    const HChar *wanted = cf_tool_options.function;
    UInt length = VG_(strlen)(wanted);

    if (!VG_(get_fnname_if_entry)(VG_(current_DiEpoch)(), pc, &name))
        return False;
    return VG_(strncmp)(name, wanted, length) == 0 && (name[length] == 0 || name[length] == '(');
}

static void switch_to(Addr leave_sp)
{
    cf_tool_hot.leave_sp = leave_sp;
    cf_tool_hot.advance = leave_sp == ~(Addr)0 ? 0 : ~(UWord)0;
    leave_sps[current] = leave_sp;
}

void cf_function_new_thread(ThreadId tid)
{
    if (leave_sps)
        leave_sps[tid] = ~(Addr)0;
}

VG_REGPARM(0) void cf_function_enter(Addr sp)
{
    /* An inner call changes nothing; a stack that went up without a return was left by longjmp. */
    if (cf_tool_hot.leave_sp != ~(Addr)0 && sp + RETURN_POPS <= cf_tool_hot.leave_sp)
        return;
    switch_to(sp + RETURN_POPS);
    cf_transport_leave(current);
    cf_calls_unknown();
    cf_transport_enter(current);
}

VG_REGPARM(0) void cf_function_leave(Addr sp)
{
    const Addr low = VG_(thread_get_altstack_min)(current);
    const SizeT size = VG_(thread_get_altstack_size)(current);

    /* A signal handler on a stack of its own has not left the function, unless that was called
       there. */
    if (sp - low < size && cf_tool_hot.leave_sp - low >= size)
        return;
    switch_to(~(Addr)0);
}

/* Takes the place of the core's reader of line tables (build.mk): nothing here asks for source
 * lines, and to unpack and sort those of the C library takes longer than many a program does.
 * Symbols and unwind tables are read as ever. */
void CF_TOOL_READ_LINES(void);
void CF_TOOL_READ_LINES(void)
{
}

static void client_starts(ThreadId tid, ULong blocks_done)
{
    (void)blocks_done;
    cf_transport_poll();
    cf_events_run(tid);
    if (cf_tool_options.function && tid != current) {
        current = tid;
        switch_to(leave_sps[tid]);
    }
    cf_own_run(tid);
    cf_transport_enter(tid);
    client = tid;
}

/* A signal that is delivered while generated code runs is a fault in mid-superblock, and so is what
 * makes the running thread exit; other signals wait until a superblock ends. */
static void leave_client(ThreadId tid, Bool fault)
{
    if (client == VG_INVALID_THREADID)
        return;
    client = VG_INVALID_THREADID;
    cf_transport_leave(tid);
    if (fault)
        cf_instrument_cut(VG_(get_IP)(tid));
}

static void client_stops(ThreadId tid, ULong blocks_done)
{
    (void)blocks_done;
    leave_client(tid, VG_(is_exiting)(tid));
}

/* Where a fault ends the process, Valgrind lets the other threads end before it stops the one that
 * faulted: what they record comes after the superblock that was cut. */
void cf_client_cut(void)
{
    if (client != VG_INVALID_THREADID && client != VG_(get_running_tid)())
        leave_client(client, True);
}

static void before_signal(ThreadId tid, Int signal, Bool alt_stack)
{
    (void)signal;
    leave_client(tid, True);
    cf_calls_signal(tid, alt_stack);
}

static Bool process_option(const HChar *arg)
{
    const HChar *proc;

    if VG_STR_CLO (arg, "--directory", cf_tool_options.directory) {
    } else if VG_STR_CLO (arg, "--proc", proc) {
        return cf_numbers_option(proc);
    } else if VG_STR_CLO (arg, "--spare", cf_tool_options.spare) {
    } else if VG_STR_CLO (arg, "--function", cf_tool_options.function) {
    } else if VG_BINT_CLO (arg, "--stack-depth", cf_tool_options.stack_depth, 0, 64) {
    } else if VG_BOOL_CLO (arg, "--follow", cf_tool_options.follow) {
    } else if VG_BOOL_CLO (arg, "--calls", cf_tool_options.calls) {
    } else if VG_BOOL_CLO (arg, "--own-allocator", cf_tool_options.own_allocator) {
    } else
        return VG_(replacement_malloc_process_cmd_line_option)(arg);
    return True;
}

static void print_usage(void)
{
    VG_(printf)
    ("    --directory=DIR        where the reader waits (required; see protocol.h)\n"
     "    --proc=FD[,LEVEL]      the reader's /proc (required; see tool_numbers.c)\n"
     "    --spare=DIR            where there is room for memory if it has none\n"
     "    --function=NAME        record accesses only while NAME is on the stack\n"
     "    --stack-depth=N        frames of an allocation's call stack [%d]\n"
     "    --follow=no|yes        record forked children, too [no]\n"
     "    --calls=no|yes         record what calls and returns do to the stack, too [no]\n"
     "    --own-allocator=no|yes the program's allocator runs [no]\n",
     DEFAULT_STACK_DEPTH);
}

static void print_debug_usage(void)
{
    VG_(printf)("    (none)\n");
}

static void after_options(void)
{
    ThreadId i;

    if (!cf_tool_options.directory)
        VG_(fmsg_bad_option)("--directory", "the option is required\n");
    if (cf_tool_options.function) {
        /* Entries and returns must be where superblocks begin and end. */
        VG_(clo_vex_control).guest_chase = False;
        leave_sps = VG_(malloc)("cftrace.function", VG_N_THREADS * sizeof *leave_sps);
        for (i = 0; i < VG_N_THREADS; i++)
            leave_sps[i] = ~(Addr)0;
        cf_tool_hot.advance = 0;
    }
    cf_exec_log();
    cf_numbers_begin();
    cf_numbers_find();
    cf_own_begin();
    cf_calls_begin();
    cf_events_register();
    cf_transport_open();
}

static void finish(Int status)
{
    (void)status;
    cf_events_exit();
    cf_transport_close();
}

static void before_options(void)
{
    VG_(details_name)("cftrace");
    VG_(details_version)(NULL);
    VG_(details_description)("records memory accesses");
    VG_(details_copyright_author)("part of cacheflow; GPL-2.0-or-later");
    VG_(details_bug_reports_to)("the cacheflow project");
    VG_(details_avg_translation_sizeB)(400);

    VG_(basic_tool_funcs)(after_options, cf_instrument, finish);
    VG_(needs_command_line_options)(process_option, print_usage, print_debug_usage);
    VG_(track_start_client_code)(client_starts);
    VG_(track_stop_client_code)(client_stops);
    VG_(track_pre_deliver_signal)(before_signal);
    cf_events_track();
    cf_heap_track();
    cf_calls_track();
}

VG_DETERMINE_INTERFACE_VERSION(before_options)
