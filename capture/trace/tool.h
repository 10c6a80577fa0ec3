/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cftrace, a Valgrind tool: what its parts share.
 *
 *     tool_main.c        options, registration, the --function switch, the end
 *     tool_plan.c        superblocks: what they do, described once
 *     tool_instrument.c  superblocks: the code that packs the addresses
 *     tool_events.c      threads, mappings
 *     tool_exec.c        other programs in a process's place, what they are given
 *     tool_heap.c        heap blocks and their call stacks
 *     tool_own.c         heap blocks of the program's own allocator
 *     tool_allocators.c  which functions those of an allocator are
 *     tool_calls.c       what happens to call stacks but for calls and returns
 *     tool_transport.c   blocks of the ring, tokens, fork, stopping
 *     tool_ring.c        making the ring
 *     tool_numbers.c     by which numbers the reader knows this process and its threads
 */
#ifndef CF_TRACE_TOOL_H
#define CF_TRACE_TOOL_H

#include "pub_tool_basics.h"
#include "pub_tool_aspacemgr.h"
#include "pub_tool_clreq.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_threadstate.h"
#include "pub_tool_tooliface.h"

#include "protocol.h"

/* Whether this is Valgrind 3.minor or later. */
#define CF_TOOL_SINCE(minor)                                                                       \
    (__VALGRIND_MAJOR__ > 3 || (__VALGRIND_MAJOR__ == 3 && __VALGRIND_MINOR__ >= (minor)))

/* Pages of zeros for the tool's own use; there is no way on without them. */
static inline void *cf_tool_pages(SizeT bytes)
{
#if CF_TOOL_SINCE(21)
    SysRes r = VG_(am_shadow_alloc)(bytes);
    void *p = sr_isError(r) ? NULL : (void *)sr_Res(r);
#else
    void *p = VG_(am_shadow_alloc)(bytes);
#endif
    tl_assert(p);
    return p;
}

/* Bytes kept free behind `limit`: the largest record and a CUT event. */
#define CF_TOOL_SLACK (4 + CF_WIRE_SLOT_BYTES * CF_WIRE_MAX_SLOTS + 256)

/* What generated code reads and writes. While a thread runs, cursor and limit are in the first
 * shadow of its registers, where generated code reaches them at no cost; cf_transport_enter() puts
 * them there, cf_transport_leave() fetches them. */
struct cf_tool_hot {
    UChar *cursor; /* end of what is recorded in the current block */
    UChar *limit;  /* past it there is not surely room for a record */
    UWord advance; /* all ones; 0 while --function keeps recording off */
    Addr leave_sp; /* the running thread leaves the function when its stack is not below */
    Addr call_sp;  /* the same for an allocation function of the program's own */
};
extern struct cf_tool_hot cf_tool_hot;
#define CF_TOOL_SHADOW_CURSOR 0
#define CF_TOOL_SHADOW_LIMIT  8

struct cf_tool_options {
    const HChar *directory;
    const HChar *spare;    /* where rings are that find no room there, or NULL */
    const HChar *function; /* or NULL */
    Int stack_depth;
    Bool follow, calls, own_allocator;
};
extern struct cf_tool_options cf_tool_options;

/* False once recording is over for this process: limit reached, reader gone, unfollowed child. */
extern Bool cf_tool_recording;

/* tool_transport.c */
void cf_transport_open(void);              /* makes the first ring; recording begins */
void cf_transport_publish(UWord at_least); /* lets the reader see what is complete, if that much */
void cf_transport_close(void);             /* hands over and says that the process ends */
void cf_transport_exec(UInt how, const HChar *name); /* enum cf_wire_exec, and the program's name */
void cf_transport_poll(void);                        /* outside generated code: obeys a stop */
void cf_transport_translate_again(void);             /* at the next poll, all code */
UChar *cf_transport_event(UInt type, UInt bytes);    /* room for an event, header filled in */
/* An event, whose header is filled in, and a name. */
void cf_transport_put(UInt type, const void *event, UInt bytes, const HChar *name);
void cf_transport_enter(ThreadId tid); /* generated code is about to run */
void cf_transport_leave(ThreadId tid);
UChar *cf_transport_region(void); /* first record since the last hand-over or publication */
VG_REGPARM(0) void cf_transport_flush(void); /* helper: the block is full */

/* tool_ring.c */
struct cf_ring {
    struct cf_wire_ring *memory; /* or NULL */
    UInt number;                 /* of its file */
    UInt blocks;
    UInt place; /* 1: in the spare directory */
};
UWord cf_ring_make(struct cf_ring *ring); /* 0, or an error; then it has a number only */

/* tool_numbers.c: pids and tids here are those of the reader's PID namespace; 0: not known */
Bool cf_numbers_option(const HChar *value); /* of --proc */
void cf_numbers_begin(void);                /* after options */
void cf_numbers_find(void);                 /* a process begins */
void cf_numbers_pass(Bool recorded);        /* as cf_exec_pass() */
UInt cf_numbers_process(void);
UInt cf_numbers_parent(void);
UInt cf_numbers_thread(void);        /* the running one */
UInt cf_numbers_of_thread(UInt own); /* of this process, by the number that it knows itself by */

/* tool_instrument.c */
IRSB *cf_instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout,
                    const VexGuestExtents *extents, const VexArchInfo *host, IRType guest_word,
                    IRType host_word);
void cf_instrument_cut(Addr pc);   /* a fault at pc: cut the record that was being made */
UInt cf_instrument_outcomes(void); /* first unused outcome */

/* tool_events.c */
void cf_events_track(void);          /* before options: registers with the core */
void cf_events_register(void);       /* after options */
void cf_events_process(Bool forked); /* announces the process: task, mappings, heap blocks */
void cf_events_run(ThreadId tid);    /* tid is about to run */
Bool cf_events_stack_growth(struct cf_wire_map *map); /* fills it in if the stack has grown */
void cf_events_exit(void);                            /* the process ends */
void cf_events_heap_block(Addr block, SizeT size);    /* announces its area if that is new */
void cf_events_heap_released(Addr block);             /* a big block: its area may be gone */
Bool cf_events_is_code(Addr pc);                      /* in an executable mapping of the program */

const HChar *cf_events_name(ThreadId tid);

/* tool_exec.c */
void cf_exec_log(void); /* after options */
/* The process is about to run another image, recorded or not, or could not: if it is recorded, the
 * file stays open, and the option that begins with `name` becomes `whole`, which is kept. */
void cf_exec_pass(Bool recorded, Int fd, const HChar *name, HChar *whole);
void cf_exec_pass_log(Bool recorded);

/* tool_heap.c */
void cf_heap_track(void);         /* before options */
void cf_heap_announce(void);      /* a forked child has its parent's blocks */
UInt cf_heap_contexts(void);      /* first unused context */
void cf_heap_code_gone(void);     /* stacks from now on have contexts of their own */
UInt cf_heap_stack(ThreadId tid); /* context of the call stack of an allocation function */
void cf_heap_obtained(Addr block, SizeT size, UInt context);
SizeT cf_heap_released(Addr block); /* its size; 0 if there is no such block */
UInt cf_heap_serial(Addr block);    /* of the live block there; 0 if there is none */

/* tool_calls.c */
void cf_calls_track(void);                /* before options */
void cf_calls_begin(void);                /* after options */
void cf_calls_unknown(void);              /* the running thread's stack is not followed any more */
void cf_calls_code(Addr start, Addr end); /* of a file, is mapped there */
void cf_calls_code_gone(Addr start, Addr end); /* what is called from now on is told from it */
UInt cf_calls_fork(void);                      /* a fork is about to happen: its number, or 0 */
void cf_calls_signal(ThreadId tid, Bool alt_stack); /* a handler is about to run */

/* tool_allocators.c */
enum cf_allocator { /* what its arguments are */
                    CF_ALLOCATOR_NONE,
                    CF_ALLOCATOR_MALLOC,         /* (size, ...) */
                    CF_ALLOCATOR_CALLOC,         /* (count, size) */
                    CF_ALLOCATOR_REALLOC,        /* (block, size) */
                    CF_ALLOCATOR_REALLOCARRAY,   /* (block, count, size) */
                    CF_ALLOCATOR_MEMALIGN,       /* (alignment, size) */
                    CF_ALLOCATOR_POSIX_MEMALIGN, /* (where the result goes, alignment, size) */
                    CF_ALLOCATOR_FREE,           /* (block, ...) */
};
enum cf_allocator cf_allocators_entry(Addr pc); /* what function begins here */
/* Whether the program, of which pc is the first instruction, has none that is known. */
Bool cf_allocators_missing(Addr pc);

/* tool_own.c */
extern Bool cf_own_heap; /* entries and returns of allocation functions are looked at */
void cf_own_begin(void); /* before the first superblock is translated */
void cf_own_new_thread(ThreadId tid);
void cf_own_run(ThreadId tid);
UInt cf_own_entry(Addr pc); /* enum cf_allocator of what begins here */
VG_REGPARM(2) void cf_own_enter(UWord kind, Addr sp);
VG_REGPARM(3) void cf_own_leave(Addr sp, Addr to, UWord by_return);

/* tool_main.c */
void cf_client_cut(void); /* before what another thread records than the one that ran */
VG_REGPARM(0) void cf_function_enter(Addr sp);
VG_REGPARM(0) void cf_function_leave(Addr sp);
Bool cf_function_is_entry(Addr pc);
void cf_function_new_thread(ThreadId tid);

#endif
