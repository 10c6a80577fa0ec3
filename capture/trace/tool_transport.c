/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The way out: a ring of blocks in shared memory, of which generated code fills one after the
 * other, and a FIFO of tokens that tells the reader which block to decode next. Nothing is copied,
 * and a system call is made only once in 256 KiB.
 *
 * The program must never suffer from its reader. If that dies, the FIFO has no reader any more: a
 * write fails (its SIGPIPE is taken back before the program could see it), and a wait for a free
 * block ends. Recording is then over, as it is when the reader asks for that: the ring's memory is
 * used as a scratch area until the translations that write to it have been thrown away, from when
 * on the program runs as fast as under a tool that does nothing.
 */
#include "tool.h"

#include "pub_tool_libcsignal.h"
#include "pub_tool_machine.h"

/* Functions of Valgrind's core that its tool headers do not declare. */
extern SysRes VG_(do_syscall)(UWord number, RegWord a1, RegWord a2, RegWord a3, RegWord a4,
                              RegWord a5, RegWord a6);
extern SysRes VG_(mk_SysRes_Error)(UWord error);
extern Int VG_(sigtimedwait_zero)(const vki_sigset_t *set, vki_siginfo_t *info);
extern Int VG_(safe_fd)(Int fd);
extern Int VG_(fcntl)(Int fd, Int command, Addr argument);
extern void VG_(discard_translations)(Addr start, ULong range, const HChar *who);

#define FUTEX_WAIT_SHARED 0
#define POLL_ERR          0x08
#define POLL_NVAL         0x20
#define WAIT_MILLISECONDS 200
#define REMOVE_DIRECTORY  0x200 /* of unlinkat() */

struct cf_tool_hot cf_tool_hot = {.advance = ~(UWord)0, .leave_sp = ~(Addr)0, .call_sp = ~(Addr)0};
Bool cf_tool_recording = False;

static struct cf_ring ring;
static UChar *block_start; /* of the current block */
static UChar *region;      /* where the place-holder of the unpublished part is; NULL: none */
static UInt sequence;      /* of the current block */
static Bool unrecorded;    /* there was no room for a ring */
static Bool alone;         /* a child that is not followed */
static Int fifo = -1, error_output = -1; /* error_output: as the program got it */
static Bool discard_pending;

/* A place-holder opens each part that is handed over or published: growth of the stack, which
 * Valgrind does not report, is noticed at the end of the part and written here, before the accesses
 * that made it grow. */
#define PLACE_BYTES (sizeof(struct cf_wire_map) + 8)
static const HChar stack_name[8] = "[stack]";

static void place_holder(void)
{
    struct cf_wire_event_header pad = {CF_WIRE_PAD, PLACE_BYTES};

    region = cf_tool_hot.cursor;
    VG_(memcpy)(region, &pad, sizeof pad);
    cf_tool_hot.cursor += PLACE_BYTES;
}

static void fill_place(void)
{
    struct cf_wire_map map;

    if (!cf_events_stack_growth(&map))
        return;
    map.header.type = CF_WIRE_MAP;
    map.header.bytes = PLACE_BYTES;
    VG_(memcpy)(region, &map, sizeof map);
    VG_(memcpy)(region + sizeof map, stack_name, sizeof stack_name);
}

static void begin_block(void)
{
    block_start = (UChar *)ring.memory + CF_WIRE_HEADER_BYTES +
                  (UWord)(sequence % ring.blocks) * CF_WIRE_BLOCK_BYTES;
    cf_tool_hot.cursor = block_start;
    cf_tool_hot.limit = block_start + CF_WIRE_BLOCK_BYTES - CF_TOOL_SLACK;
    place_holder();
}

static void stop_recording(void)
{
    cf_tool_recording = False;
    discard_pending = True;
    region = NULL;
    cf_tool_hot.cursor = block_start;
}

/* A write to a pipe that nobody reads must not be a signal to the program. */
static void take_back_pipe(void)
{
    vki_sigset_t pipe;
    vki_siginfo_t info;

    VG_(memset)(&pipe, 0, sizeof pipe);
    pipe.sig[0] = 1UL << (VKI_SIGPIPE - 1);
    VG_(sigtimedwait_zero)(&pipe, &info);
}

static Bool remove_from(const HChar *directory, const HChar *format)
{
    HChar path[VG_(strlen)(directory) + 40];

    VG_(sprintf)(path, format, directory, cf_numbers_process(), ring.number);
    return VG_(unlink)(path) == 0;
}

/* The reader was killed: had it ended otherwise, it would have stopped us or removed the FIFO. The
 * program goes on without it; nobody else can say so, or remove what it has left. */
static void lost(void)
{
    static const HChar text[] = "cf-capture-trace: killed: what it recorded runs on, unrecorded\n";
    const HChar *directories[] = {cf_tool_options.directory, cf_tool_options.spare};
    Bool first = remove_from(directories[0], "%s/tokens");
    UInt i;

    if (ring.memory && !__atomic_load_n(&ring.memory->stop, __ATOMIC_SEQ_CST) &&
        (first || !cf_tool_options.follow) && error_output >= 0 &&
        sr_isError(VG_(do_syscall)(__NR_write, error_output, (Addr)text, sizeof text - 1, 0, 0, 0)))
        take_back_pipe();
    for (i = 0; i < 2 && directories[i]; i++) {
        remove_from(directories[i], "%s/ring.%u.%u");
        remove_from(directories[i], "%s/log");
        VG_(do_syscall)
        (__NR_unlinkat, VKI_AT_FDCWD, (Addr)directories[i], REMOVE_DIRECTORY, 0, 0, 0);
    }
    VG_(close)(fifo);
    fifo = -1;
}

static Bool reader_gone(void)
{
    struct vki_pollfd p = {.fd = fifo, .events = 0, .revents = 0};

    VG_(poll)(&p, 1, 0);
    return (p.revents & (POLL_ERR | POLL_NVAL)) != 0;
}

static Bool send_token(struct cf_wire_token *token)
{
    SysRes r;

    token->pid = cf_numbers_process();
    token->ring = ring.number;
    do {
        r = VG_(do_syscall)(__NR_write, fifo, (Addr)token, sizeof *token, 0, 0, 0);
    } while (sr_isError(r) && sr_Err(r) == VKI_EINTR);
    if (!sr_isError(r) && sr_Res(r) == sizeof *token)
        return True;
    if (sr_isError(r) && sr_Err(r) == VKI_EPIPE) {
        take_back_pipe();
        lost();
    } else if (ring.memory) {
        __atomic_store_n(&ring.memory->lost, sr_isError(r) ? sr_Err(r) : VKI_EIO, __ATOMIC_RELEASE);
    }
    return False;
}

static Bool wait_for_block(void)
{
    struct vki_timespec timeout = {0, WAIT_MILLISECONDS * 1000000L};
    UInt freed;

    while (sequence - (freed = __atomic_load_n(&ring.memory->freed, __ATOMIC_ACQUIRE)) >=
           ring.blocks) {
        if (__atomic_load_n(&ring.memory->stop, __ATOMIC_RELAXED))
            return False;
        __atomic_store_n(&ring.memory->waiting, 1, __ATOMIC_SEQ_CST);
        VG_(do_syscall)
        (__NR_futex, (Addr)&ring.memory->freed, FUTEX_WAIT_SHARED, freed, (Addr)&timeout, 0, 0);
        __atomic_store_n(&ring.memory->waiting, 0, __ATOMIC_RELAXED);
        if (reader_gone()) {
            lost();
            return False;
        }
    }
    return True;
}

/* Sends the current block if it holds anything. */
static void hand_over(void)
{
    struct cf_wire_token token = {.type = CF_WIRE_TOKEN_BLOCK, .sequence = sequence};

    if (!cf_tool_recording)
        return;
    token.bytes = cf_tool_hot.cursor - block_start;
    if (token.bytes <= PLACE_BYTES)
        return;
    fill_place();
    sequence++;
    if (!send_token(&token) || __atomic_load_n(&ring.memory->stop, __ATOMIC_RELAXED) ||
        !wait_for_block())
        stop_recording();
    else
        begin_block();
}

void cf_transport_publish(UWord at_least)
{
    if (!cf_tool_recording || (UWord)(cf_tool_hot.cursor - region) < PLACE_BYTES + at_least ||
        cf_tool_hot.cursor == region + PLACE_BYTES)
        return;
    if (cf_tool_hot.cursor + PLACE_BYTES > cf_tool_hot.limit) {
        hand_over();
        return;
    }
    fill_place();
    __atomic_store_n(&ring.memory->published,
                     (uint64_t)sequence << 32 | (UInt)(cf_tool_hot.cursor - block_start),
                     __ATOMIC_RELEASE);
    place_holder();
}

static void next_block(void)
{
    if (cf_tool_recording)
        hand_over();
    else
        cf_tool_hot.cursor = block_start;
}

void cf_transport_enter(ThreadId tid)
{
    VG_(set_shadow_regs_area)
    (tid, 1, CF_TOOL_SHADOW_CURSOR, sizeof cf_tool_hot.cursor, (const UChar *)&cf_tool_hot.cursor);
    VG_(set_shadow_regs_area)
    (tid, 1, CF_TOOL_SHADOW_LIMIT, sizeof cf_tool_hot.limit, (const UChar *)&cf_tool_hot.limit);
}

void cf_transport_leave(ThreadId tid)
{
    VG_(get_shadow_regs_area)
    (tid, (UChar *)&cf_tool_hot.cursor, 1, CF_TOOL_SHADOW_CURSOR, sizeof cf_tool_hot.cursor);
}

VG_REGPARM(0) void cf_transport_flush(void)
{
    ThreadId tid = VG_(get_running_tid)();

    cf_transport_leave(tid);
    next_block();
    cf_transport_enter(tid);
}

UChar *cf_transport_region(void)
{
    return region;
}

UChar *cf_transport_event(UInt type, UInt bytes)
{
    struct cf_wire_event_header header = {type, bytes};
    UChar *p;

    cf_client_cut();
    if (cf_tool_hot.cursor + bytes > cf_tool_hot.limit)
        next_block();
    p = cf_tool_hot.cursor;
    VG_(memcpy)(p, &header, sizeof header);
    cf_tool_hot.cursor = cf_tool_recording ? p + bytes : p;
    return p;
}

void cf_transport_put(UInt type, const void *event, UInt bytes, const HChar *name)
{
    const UInt head = sizeof(struct cf_wire_event_header);
    UInt length = VG_(strlen)(name);
    UChar *p;

    if (length > CF_WIRE_MAX_NAME)
        length = CF_WIRE_MAX_NAME;
    p = cf_transport_event(type, bytes + length);
    VG_(memcpy)(p + head, (const UChar *)event + head, bytes - head);
    VG_(memcpy)(p + bytes, name, length);
}

void cf_transport_translate_again(void)
{
    discard_pending = True;
}

void cf_transport_poll(void)
{
    if (cf_tool_recording && __atomic_load_n(&ring.memory->stop, __ATOMIC_RELAXED))
        stop_recording();
    if (discard_pending) {
        discard_pending = False;
        VG_(discard_translations)(0, (ULong)1 << 56, "cftrace");
    }
}

/* The reader's pipe, or -1 with an error. */
static SysRes open_fifo(void)
{
    HChar path[VG_(strlen)(cf_tool_options.directory) + 40];
    SysRes r;

    VG_(sprintf)(path, "%s/tokens", cf_tool_options.directory);
    r = VG_(open)(path, VKI_O_WRONLY | VKI_O_NONBLOCK, 0);
    if (!sr_isError(r)) {
        Int flags = VG_(fcntl)(sr_Res(r), VKI_F_GETFL, 0);

        VG_(fcntl)(sr_Res(r), VKI_F_SETFL, flags & ~VKI_O_NONBLOCK);
        fifo = VG_(safe_fd)(sr_Res(r));
    }
    return r;
}

/* From a child that is not followed: it holds the pipe open no longer than that takes. */
static void send_alone(struct cf_wire_token *token)
{
    if (fifo < 0 && sr_isError(open_fifo()))
        return;
    if (send_token(token)) {
        VG_(close)(fifo);
        fifo = -1;
    }
}

void cf_transport_exec(UInt how, const HChar *name)
{
    struct cf_wire_token token = {.type = CF_WIRE_TOKEN_EXEC, .value = how};

    VG_(strncpy)(token.name, name, sizeof token.name - 1);
    cf_numbers_pass(how == CF_WIRE_EXEC_RECORDED);
    cf_exec_pass_log(how == CF_WIRE_EXEC_RECORDED);
    hand_over();
    if (alone)
        send_alone(&token);
    else if (cf_tool_recording)
        send_token(&token);
}

void cf_transport_close(void)
{
    struct cf_wire_token token = {.type = CF_WIRE_TOKEN_END};

    if (!ring.memory)
        return;
    hand_over();
    if (fifo >= 0)
        send_token(&token);
    cf_tool_recording = False;
}

/* Where generated code may write when nothing is recorded. */
static void use_scratch(void)
{
    if (!ring.memory) {
        block_start = cf_tool_pages(CF_WIRE_BLOCK_BYTES);
        cf_tool_hot.limit = block_start + CF_WIRE_BLOCK_BYTES - CF_TOOL_SLACK;
    }
    stop_recording();
}

static void start(struct cf_wire_token *token)
{
    UWord error = fifo < 0 ? 0 : cf_numbers_process() ? cf_ring_make(&ring) : VKI_EIO;

    if (fifo < 0 || error) {
        token->type = CF_WIRE_TOKEN_UNRECORDED;
        token->value = error;
        unrecorded = fifo >= 0;
        if (fifo >= 0)
            send_token(token);
        use_scratch();
        return;
    }
    sequence = 0;
    token->type = CF_WIRE_TOKEN_START;
    token->value = ring.place;
    begin_block();
    cf_tool_recording = True;
    if (!send_token(token))
        stop_recording();
}

/* By the time that a child asks, its parent may be gone. */
static struct cf_wire_token forked;

static void before_fork(ThreadId tid)
{
    const UInt number = cf_calls_fork();

    (void)tid;
    /* The child inherits what the parent described: the reader must have that first. */
    hand_over();
    forked = (struct cf_wire_token){.origin = CF_WIRE_FORK,
                                    .parent = cf_numbers_process(),
                                    .outcomes = cf_instrument_outcomes(),
                                    .contexts = cf_heap_contexts(),
                                    .fork = number};
}

static void in_parent(ThreadId tid)
{
    struct cf_wire_token token = {.type = CF_WIRE_TOKEN_FORKED};

    (void)tid;
    if (cf_tool_options.follow && cf_tool_recording)
        send_token(&token);
}

static void in_child(ThreadId tid)
{
    Bool was_recording = cf_tool_recording;

    cf_numbers_find();
    if (ring.memory)
        VG_(am_munmap_valgrind)((Addr)ring.memory, CF_WIRE_RING(ring.blocks));
    ring.memory = NULL;
    if (cf_tool_options.follow && was_recording) {
        start(&forked);
        cf_events_process(True);
        return;
    }
    if (cf_tool_options.follow && unrecorded) {
        forked.type = CF_WIRE_TOKEN_UNRECORDED;
        send_token(&forked);
    } else if (!cf_tool_options.follow && (was_recording || alone)) {
        forked.type = CF_WIRE_TOKEN_ALONE;
        forked.value = CF_WIRE_EXEC_ALONE;
        VG_(strncpy)(forked.name, cf_events_name(tid), sizeof forked.name - 1);
        alone = True;
        send_alone(&forked);
    } else if (fifo >= 0) {
        VG_(close)(fifo);
        fifo = -1;
    }
    use_scratch();
}

void cf_transport_open(void)
{
    struct cf_wire_token token = {.origin = CF_WIRE_FIRST, .parent = cf_numbers_parent()};
    HChar path[VG_(strlen)(cf_tool_options.directory) + 40];
    SysRes r = cf_numbers_process() ? open_fifo() : VG_(mk_SysRes_Error)(VKI_EIO);

    if (!sr_isError(r)) {
        r = VG_(dup)(2);
        if (!sr_isError(r))
            error_output = VG_(safe_fd)(sr_Res(r));
    } else if (sr_Err(r) != VKI_ENXIO && sr_Err(r) != VKI_ENOENT) {
        /* there is a reader, who finds a ring that nobody announced */
        VG_(sprintf)(path, "%s/ring.%u.0", cf_tool_options.directory, cf_numbers_process());
        r = VG_(open)(path, VKI_O_CREAT | VKI_O_EXCL | VKI_O_RDWR, 0600);
        if (!sr_isError(r))
            VG_(close)(sr_Res(r));
    }
    VG_(atfork)(before_fork, in_parent, in_child);
    start(&token);
}
