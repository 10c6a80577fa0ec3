/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads and their names, mappings. They are recorded even while --function keeps accesses off.
 */
#include "tool.h"

#include "pub_tool_clientstate.h"
#include "pub_tool_machine.h"

/* Variables of Valgrind's core that its tool headers do not declare. */
extern Addr VG_(brk_base);
extern Addr VG_(brk_limit);
extern Addr VG_(clstk_end);
extern VexRegisterUpdates VG_(clo_px_file_backed); /* of code in files */
extern VexControl vex_control;                     /* of all other */

enum {
    COMM_BYTES = CF_WIRE_COMM,
    MAX_HEAP_AREAS = 1024,
    PUBLISH_BYTES = 8192,
};

/* Threads. */

static struct {
    UInt tid; /* the kernel's; 0: not known yet */
    HChar name[COMM_BYTES];
} * threads;
static ThreadId running = VG_INVALID_THREADID;
static ThreadId newborn = VG_INVALID_THREADID; /* what the running thread is about to create */
static HChar initial_comm[COMM_BYTES];         /* what the kernel calls the tool itself */
static Bool announced;

static void emit_task(UInt tid, UInt kind, const HChar *name)
{
    struct cf_wire_task task = {.tid = tid, .kind = kind};

    if (cf_tool_recording)
        cf_transport_put(CF_WIRE_TASK, &task, sizeof task, name);
}

static UInt kernel_tid(ThreadId tid)
{
    if (!threads[tid].tid)
        threads[tid].tid = cf_numbers_thread();
    return threads[tid].tid;
}

static void thread_created(ThreadId parent, ThreadId child)
{
    threads[child].tid = 0;
    cf_function_new_thread(child);
    cf_own_new_thread(child);
    if (parent != VG_INVALID_THREADID)
        VG_(memcpy)(threads[child].name, threads[parent].name, COMM_BYTES);
    newborn = child;
}

/* Told while its creator still runs: when the child runs first, others may have run in between, and
   its begin would seem to be their doing. */
static void thread_made(UInt tid)
{
    if (tid && announced && newborn != VG_INVALID_THREADID && !threads[newborn].tid) {
        threads[newborn].tid = tid;
        emit_task(tid, CF_WIRE_TASK_START, threads[newborn].name);
    }
    newborn = VG_INVALID_THREADID;
}

static void thread_started(ThreadId tid)
{
    UInt known = threads[tid].tid;

    threads[tid].tid = cf_numbers_thread();
    if (announced && !known)
        emit_task(threads[tid].tid, CF_WIRE_TASK_START, threads[tid].name);
}

/* A name that another thread gave it shows only in the kernel. */
static void check_name(ThreadId tid)
{
    HChar comm[COMM_BYTES + 1] = "";

    if (VG_(prctl)(VKI_PR_GET_NAME, (Addr)comm, 0, 0, 0) != 0 || !*comm)
        return;
    if (VG_(strcmp)(comm, initial_comm) != 0 && VG_(strcmp)(comm, threads[tid].name) != 0) {
        VG_(strncpy)(threads[tid].name, comm, COMM_BYTES - 1);
        emit_task(kernel_tid(tid), CF_WIRE_TASK_NAME, threads[tid].name);
    }
}

static void thread_exits(ThreadId tid)
{
    if (!announced || !threads[tid].tid)
        return;
    check_name(tid);
    emit_task(threads[tid].tid, CF_WIRE_TASK_EXIT, threads[tid].name);
    threads[tid].tid = 0;
}

void cf_events_exit(void)
{
    UInt i;

    for (i = 1; i < VG_N_THREADS; i++)
        if (threads[i].tid && announced) {
            emit_task(threads[i].tid, CF_WIRE_TASK_EXIT, threads[i].name);
            threads[i].tid = 0;
        }
}

void cf_events_run(ThreadId tid)
{
    if (!cf_tool_recording)
        return;
    if (!announced)
        cf_events_process(False);
    if (tid != running) {
        struct cf_wire_thread thread = {.tid = kernel_tid(tid)};

        cf_transport_put(CF_WIRE_THREAD, &thread, sizeof thread, "");
        running = tid;
    }
    cf_transport_publish(PUBLISH_BYTES);
}

/* A handler of faults may return, after it has made the page accessible or changed a register: then
 * the registers must be those of the instruction that faulted, which Valgrind keeps up to date at
 * accesses, or for a division at each instruction, only where it is told to. */
static void check_handler(Int signal, Addr action)
{
    const VexRegisterUpdates updates =
        signal == VKI_SIGFPE ? VexRegUpdAllregsAtEachInsn : VexRegUpdAllregsAtMemAccess;
    Addr handler;

    if ((signal != VKI_SIGSEGV && signal != VKI_SIGBUS && signal != VKI_SIGFPE) ||
        VG_(clo_px_file_backed) >= updates ||
        !VG_(am_is_valid_for_client)(action, sizeof handler, VKI_PROT_READ))
        return;
    handler = *(const Addr *)action;
    if (handler == (Addr)VKI_SIG_DFL || handler == (Addr)VKI_SIG_IGN)
        return;
    VG_(clo_px_file_backed) = updates;
    vex_control.iropt_register_updates_default = updates;
    cf_transport_translate_again();
}

static void before_syscall(ThreadId tid, UInt number, UWord *args, UInt n_args)
{
    (void)tid;
    /* 1: strict, see prctl(2); Valgrind's own next call is none that it allows */
    if (number == __NR_prctl && n_args > 1 && args[0] == VKI_PR_SET_SECCOMP && args[1] == 1)
        VG_(umsg)("strict seccomp: the kernel kills this process for Valgrind's own calls\n");
    if (number == __NR_rt_sigaction && n_args > 1)
        check_handler(args[0], args[1]);
    if (number != __NR_execve && number != __NR_execveat)
        cf_transport_publish(0); /* it may block for long */
}

static void after_syscall(ThreadId tid, UInt number, UWord *args, UInt n_args, SysRes result)
{
    if (number == __NR_prctl && n_args > 1 && args[0] == VKI_PR_SET_NAME && !sr_isError(result)) {
        HChar name[COMM_BYTES];
        UInt i;

        for (i = 0; i + 1 < sizeof name; i++) {
            if (!VG_(am_is_valid_for_client)(args[1] + i, 1, VKI_PROT_READ))
                break;
            name[i] = ((const HChar *)args[1])[i];
            if (!name[i])
                break;
        }
        name[i] = 0;
        VG_(strcpy)(threads[tid].name, name);
        if (announced)
            emit_task(kernel_tid(tid), CF_WIRE_TASK_NAME, name);
    }
    if (number == __NR_execve || number == __NR_execveat)
        cf_transport_exec(CF_WIRE_EXEC_FAILED, "");
    if (number == __NR_clone) {
        if (!sr_isError(result))
            thread_made(cf_numbers_of_thread((UInt)sr_Res(result)));
        newborn = VG_INVALID_THREADID;
    }
}

/* Mappings. */

static struct {
    Addr start, end;
} heap_areas[MAX_HEAP_AREAS];
static UInt n_heap_areas, last_heap_area;
static Addr stack_start;

static UInt perms_of(const NSegment *s)
{
    return (s->hasR ? 1 : 0) | (s->hasW ? 2 : 0) | (s->hasX ? 4 : 0);
}

/* `file`: the segment, where its file is mapped; else NULL. */
static void emit_map(Addr start, Addr end, const NSegment *file, UInt perms, const HChar *name)
{
    struct cf_wire_map map = {.start = start, .end = end, .perms = perms};

    if (file) {
        map.offset = file->offset + (start - file->start);
        map.device = file->dev;
        map.inode = file->ino;
    }
    if (cf_tool_recording)
        cf_transport_put(CF_WIRE_MAP, &map, sizeof map, name);
}

static void emit_unmap(Addr start, Addr end)
{
    struct cf_wire_map map = {.start = start, .end = end};

    if (cf_tool_recording)
        cf_transport_put(CF_WIRE_UNMAP, &map, sizeof map, "");
}

static Bool client_segment(const NSegment *s)
{
    return s && (s->kind == SkAnonC || s->kind == SkFileC || s->kind == SkShmC);
}

static const HChar *segment_name(const NSegment *s)
{
    const HChar *name = s->kind == SkFileC ? VG_(am_get_filename)(s) : NULL;

    if (name)
        return name;
    if (s->isCH || s->start == VG_(brk_base) ||
        (s->start > VG_(brk_base) && s->start < VG_(brk_limit)))
        return "[heap]";
    if (s->start <= VG_(clstk_end) && VG_(clstk_end) <= s->end)
        return "[stack]";
    return s->kind == SkShmC ? "[shm]" : "";
}

/* Announces start..end as the segments in it are now. */
static void emit_segments(Addr start, Addr end)
{
    while (start < end) {
        const NSegment *s = VG_(am_find_nsegment)(start);
        Addr stop;

        if (!s)
            break;
        stop = s->end + 1;
        if (stop > end || stop == 0)
            stop = end;
        if (s->kind == SkFileC && s->hasX)
            cf_calls_code(s->start, s->end + 1);
        if (client_segment(s))
            emit_map(start, stop, s->kind == SkFileC ? s : NULL, perms_of(s), segment_name(s));
        start = stop;
    }
}

static void forget_heap(Addr start, Addr end)
{
    UInt i;

    for (i = 0; i < n_heap_areas;)
        if (heap_areas[i].start < end && start < heap_areas[i].end)
            heap_areas[i] = heap_areas[--n_heap_areas];
        else
            i++;
    last_heap_area = 0;
}

/* Valgrind's allocator maps areas without telling anybody: look where its blocks are. */
void cf_events_heap_block(Addr block, SizeT size)
{
    const NSegment *s;
    UInt i;

    if (last_heap_area < n_heap_areas && block >= heap_areas[last_heap_area].start &&
        block + size <= heap_areas[last_heap_area].end)
        return;
    for (i = 0; i < n_heap_areas; i++)
        if (block >= heap_areas[i].start && block + size <= heap_areas[i].end) {
            last_heap_area = i;
            return;
        }
    s = VG_(am_find_nsegment)(block);
    if (!client_segment(s))
        return;
    forget_heap(s->start, s->end + 1);
    if (n_heap_areas == MAX_HEAP_AREAS)
        n_heap_areas = 0;
    last_heap_area = n_heap_areas++;
    heap_areas[last_heap_area].start = s->start;
    heap_areas[last_heap_area].end = s->end + 1;
    emit_map(s->start, s->end + 1, NULL, perms_of(s), "[heap]");
}

/* A big block was released: its part of an area may be gone. */
void cf_events_heap_released(Addr block)
{
    Addr from = VG_PGROUNDDN(block), to = from;
    UInt i;

    if (client_segment(VG_(am_find_nsegment)(block)))
        return;
    for (i = 0; i < n_heap_areas; i++)
        if (block >= heap_areas[i].start && block < heap_areas[i].end) {
            while (from > heap_areas[i].start && !client_segment(VG_(am_find_nsegment)(from - 1)))
                from -= VKI_PAGE_SIZE;
            while (to < heap_areas[i].end && !client_segment(VG_(am_find_nsegment)(to)))
                to += VKI_PAGE_SIZE;
            emit_unmap(from, to);
            forget_heap(from, to);
            return;
        }
}

Bool cf_events_is_code(Addr pc)
{
    const NSegment *s = VG_(am_find_nsegment)(pc);

    return client_segment(s) && s->hasX;
}

static void mapped(Addr start, SizeT bytes, Bool r, Bool w, Bool x, ULong handle)
{
    (void)r, (void)w, (void)x, (void)handle;
    if (!announced)
        return;
    forget_heap(start, start + bytes);
    cf_calls_code_gone(start, start + bytes);
    emit_segments(start, start + bytes);
}

static void protection_changed(Addr start, SizeT bytes, Bool r, Bool w, Bool x)
{
    (void)r, (void)w, (void)x;
    if (announced)
        emit_segments(start, start + bytes);
}

static void unmapped(Addr start, SizeT bytes)
{
    if (!announced)
        return;
    forget_heap(start, start + bytes);
    cf_calls_code_gone(start, start + bytes);
    emit_unmap(start, start + bytes);
}

static void moved(Addr from, Addr to, SizeT bytes)
{
    (void)from; /* reported as unmapped on its own */
    if (!announced)
        return;
    forget_heap(to, to + bytes);
    cf_calls_code_gone(to, to + bytes);
    emit_segments(to, to + bytes);
}

static void brk_grown(Addr start, SizeT bytes, ThreadId tid)
{
    (void)tid;
    if (announced)
        emit_map(start, start + bytes, NULL, 3, "[heap]");
}

Bool cf_events_stack_growth(struct cf_wire_map *map)
{
    const NSegment *s;

    if (!announced)
        return False;
    s = VG_(am_find_nsegment)(VG_(clstk_end));
    if (!client_segment(s) || s->start >= stack_start)
        return False;
    stack_start = s->start;
    VG_(memset)(map, 0, sizeof *map);
    map->start = s->start;
    map->end = s->end + 1;
    map->perms = perms_of(s);
    return True;
}

static void emit_all_segments(void)
{
    const NSegment *stack = VG_(am_find_nsegment)(VG_(clstk_end));
    Int room = 256, n, i;
    Addr *starts;

    stack_start = client_segment(stack) ? stack->start : 0;
    n_heap_areas = last_heap_area = 0;
    for (;;) {
        starts = VG_(malloc)("cftrace.maps", room * sizeof *starts);
        n = VG_(am_get_segment_starts)(SkAnonC | SkFileC | SkShmC, starts, room);
        if (n >= 0)
            break;
        VG_(free)(starts);
        room = -n + 64;
    }
    for (i = 0; i < n; i++) {
        const NSegment *s = VG_(am_find_nsegment)(starts[i]);

        if (client_segment(s))
            emit_segments(s->start, s->end + 1);
    }
    VG_(free)(starts);
}

void cf_events_process(Bool forked)
{
    ThreadId tid = VG_(get_running_tid)();
    UInt i;

    announced = True;
    running = VG_INVALID_THREADID;
    if (forked) {
        for (i = 0; i < VG_N_THREADS; i++)
            threads[i].tid = 0;
        if (tid == VG_INVALID_THREADID)
            tid = 1;
    } else {
        tid = 1;
        VG_(prctl)(VKI_PR_GET_NAME, (Addr)initial_comm, 0, 0, 0);
        initial_comm[COMM_BYTES - 1] = 0;
        /* as the kernel has it: a link's own name, a script's */
        VG_(strncpy)(threads[tid].name, VG_(basename)(VG_(args_the_exename)), COMM_BYTES - 1);
    }
    emit_task(kernel_tid(tid), CF_WIRE_TASK_START, threads[tid].name);
    emit_all_segments();
    if (forked)
        cf_heap_announce();
}

const HChar *cf_events_name(ThreadId tid)
{
    return threads[tid].name;
}

void cf_events_register(void)
{
    threads = VG_(calloc)("cftrace.threads", VG_N_THREADS, sizeof *threads);
}

void cf_events_track(void)
{
    VG_(needs_syscall_wrapper)(before_syscall, after_syscall);
    VG_(track_pre_thread_ll_create)(thread_created);
    VG_(track_pre_thread_first_insn)(thread_started);
    VG_(track_pre_thread_ll_exit)(thread_exits);
    VG_(track_new_mem_mmap)(mapped);
    VG_(track_change_mem_mprotect)(protection_changed);
    VG_(track_die_mem_munmap)(unmapped);
    VG_(track_copy_mem_remap)(moved);
    VG_(track_new_mem_brk)(brk_grown);
    VG_(track_die_mem_brk)(unmapped);
}
