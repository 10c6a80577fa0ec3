/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * reader.c - the queue of blocks; the threads that wrote them; mappings of the emulated program,
 * some of which its file completes.
 */
#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "capture/record/decode_parts.h"
#include "protocol.h"
#include "reader.h"
#include "target.h"

struct cfq_reader {
    struct cf_decode decode; /* first: put_map() gets it */
    struct cf_decode_process process;
    struct cfq_options options;
    struct cfq_shared *shared;
    int descriptor;
    int failed;    /* nothing is read any more */
    int ran;       /* a thread */
    uint64_t bias; /* of the program's addresses to those of its file, */
    int loaded;    /* if this is known */
    uint64_t words[CFQ_WORDS + CF_ROWS_TAIL];
};

/* No more recording; the program runs on. */
static void stop(struct cfq_reader *d)
{
    d->decode.stopping = 1;
    __atomic_store_n(&d->shared->stop, 1, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, &d->shared->head, FUTEX_WAKE, 1 << 30, NULL, NULL, 0);
}

/* ---- mappings ---- */

/* By errno. */
static int unreadable(struct cfq_reader *d, const char *path)
{
    d->decode.refused = 1;
    cf_decode_problem(&d->decode, "%s: %s", path, strerror(errno));
    return -1;
}

/* The first segment with code stands where the plugin says. */
static int find_place(struct cfq_reader *d)
{
    struct target_segment s;
    uint64_t least = UINT64_MAX, code = d->shared->code;
    int there = 0;

    if (d->loaded || !d->options.path || !code)
        return 0;
    for (unsigned i = 0; (there = target_segment(d->options.path, i, &s)) > 0; i++)
        if (s.perms & CF_PERM_X && s.address < least)
            least = s.address;
    d->loaded = least != UINT64_MAX;
    d->bias = code - least;
    return there < 0 ? unreadable(d, d->options.path) : 0;
}

/* A mapping as the host has it. Of the program itself, what is not mapped from its file was read
   from it (its pages may be larger than the host's), and its headers state which part that is. */
static int put_map(struct cf_decode *t, uint32_t pid, const struct cf_wire_map *map,
                   const char *name)
{
    struct cfq_reader *d = (struct cfq_reader *)t;
    struct cf_wire_map m = *map, file = *map;
    struct target_segment s;
    int there = 0;

    if (m.header.type == CF_WIRE_UNMAP)
        return cf_decode_map(t, pid, map, name);
    if (find_place(d) != 0)
        return -1;
    m.perms &= ~(uint32_t)CFQ_PERM_ASKED;
    if (name[0] == '/' && m.perms & CF_PERM_R && m.perms == map->perms) {
        there = target_executable(name, m.offset, m.end - m.start, m.perms);
        if (there < 0)
            return unreadable(d, name);
        m.perms |= there ? CF_PERM_X : 0;
    }
    for (unsigned i = 0;
         !name[0] && d->loaded && (there = target_segment(d->options.path, i, &s)) > 0; i++) {
        uint64_t from = s.address + d->bias, to = (from + s.file_bytes + 4095) & ~UINT64_C(4095);

        if (from < m.start || from >= m.end || from - m.start > s.offset)
            continue;
        /* Zero-filled data behind it is a mapping of its own, unless there is nothing else. */
        file.end = to > m.end || !s.file_bytes ? m.end : to;
        file.offset = s.offset - (from - m.start);
        file.perms = s.perms;
        m.start = file.end;
        if (cf_decode_map(t, pid, &file, d->options.path) != 0)
            return -1;
        break;
    }
    if (there < 0)
        return unreadable(d, d->options.path);
    return m.start < m.end ? cf_decode_map(t, pid, &m, name) : 0;
}

int cfq_reader_map(struct cfq_reader *d, uint64_t start, uint64_t end, uint64_t offset,
                   uint32_t perms, const char *name)
{
    const struct cf_wire_map m = {.start = start, .end = end, .offset = offset, .perms = perms};

    return cf_decode_map(&d->decode, 1, &m, name);
}

/* ---- blocks ---- */

static int fail(struct cfq_reader *d)
{
    d->failed = 1;
    stop(d);
    return -1;
}

static int damaged(struct cfq_reader *d)
{
    cf_decode_problem(&d->decode, "a damaged queue: the trace ends here");
    return fail(d);
}

/* Decodes a part of a block; -1 when nothing more is to be read. */
static int decode_part(struct cfq_reader *d, const struct cfq_entry *e)
{
    struct cf_decode *t = &d->decode;
    struct cf_decode_process *p = &d->process;
    uint8_t *words = (uint8_t *)d->words;
    struct cfq_block *block, b;
    int running = p->running, r;

    if (e->block >= CFQ_BLOCKS || e->from > e->to || e->to > CFQ_WORDS)
        return damaged(d);
    block = cfq_block(d->shared, e->block);
    b = *block;
    p->pid = b.pid;
    t->current = p;
    if (b.tid) {
        r = cf_decode_begin(t, p, b.tid, d->ran ? "" : d->options.name);
        d->ran = 1;
        if (r != 0 || cf_decode_run(t, p, b.tid, b.cpu) != 0)
            return fail(d);
    } else {
        p->running = CF_DECODE_NO_THREAD; /* what it says is no thread's: no accesses */
    }
    /* A copy: the program runs in the process that can write there. */
    memcpy(words, cfq_words(block) + e->from, (e->to - e->from) * sizeof(*d->words));
    r = cf_decode_block(t, p, words, words + (e->to - e->from) * sizeof(*d->words));
    if (r == -2)
        cf_decode_problem(
            t, "thread %u, instruction %llu: its records are invalid: the trace ends here", b.tid,
            (unsigned long long)t->time);
    if (!b.tid)
        p->running = running;
    if (t->stopping) /* for the limit, perhaps */
        stop(d);
    return r ? fail(d) : 0;
}

/* ---- what the caller does ---- */

int cfq_reader_read(struct cfq_reader *d, int milliseconds)
{
    struct cfq_shared *s = d->shared;
    struct timespec wait = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    uint32_t head = s->head, tail = __atomic_load_n(&s->tail, __ATOMIC_ACQUIRE);

    if (tail == head && milliseconds) {
        __atomic_store_n(&s->idle, 1, __ATOMIC_SEQ_CST);
        if (__atomic_load_n(&s->tail, __ATOMIC_SEQ_CST) == tail)
            syscall(SYS_futex, &s->tail, FUTEX_WAIT, tail, &wait, NULL, 0);
        __atomic_store_n(&s->idle, 0, __ATOMIC_SEQ_CST);
        tail = __atomic_load_n(&s->tail, __ATOMIC_ACQUIRE);
    }
    if (tail - head > CFQ_QUEUE)
        return damaged(d);
    for (; head != tail; head++) {
        struct cfq_entry e = s->queue[head % CFQ_QUEUE];

        if (!d->failed && !d->decode.stopping && decode_part(d, &e) != 0)
            return -1;
        if (e.last && e.block < CFQ_BLOCKS)
            __atomic_store_n(&cfq_block(s, e.block)->state, CFQ_FREE, __ATOMIC_RELEASE);
        __atomic_store_n(&s->head, head + 1, __ATOMIC_SEQ_CST);
        if (__atomic_load_n(&s->waiting, __ATOMIC_SEQ_CST)) {
            __atomic_store_n(&s->waiting, 0, __ATOMIC_SEQ_CST);
            syscall(SYS_futex, &s->head, FUTEX_WAKE, 1 << 30, NULL, NULL, 0);
        }
        if (head + 1 == tail)
            return d->failed ? -1 : 1;
    }
    return d->failed ? -1 : 0;
}

/* The blocks that were being filled when the emulator ended: descriptions first, then in the order
   in which they were begun. */
static void read_rest(struct cfq_reader *d)
{
    uint64_t after = 0;

    for (int early = 1; early >= 0; early--, after = 0)
        while (!d->failed && !d->decode.stopping) {
            struct cfq_entry next = {.block = CFQ_BLOCKS};
            uint64_t least = UINT64_MAX;

            for (uint32_t i = 0; i < CFQ_BLOCKS; i++) {
                const struct cfq_block *b = cfq_block(d->shared, i);

                if (b->state == CFQ_FILLING && (b->tid == 0) == early && b->sequence > after &&
                    b->sequence < least) {
                    least = b->sequence;
                    next = (struct cfq_entry){i, b->from, b->used, 1};
                }
            }
            if (next.block == CFQ_BLOCKS)
                break;
            after = least;
            if (decode_part(d, &next) != 0)
                break;
            cfq_block(d->shared, next.block)->state = CFQ_FREE;
        }
}

void cfq_reader_finish(struct cfq_reader *d)
{
    struct cf_decode *t = &d->decode;

    while (!d->failed && cfq_reader_read(d, 0) > 0)
        ;
    if (!d->failed)
        read_rest(d);
    if (!d->failed && d->shared->lost && !t->stopping)
        cf_decode_problem(t,
                          "%llu times there was no room for words of the program: they are missing",
                          (unsigned long long)d->shared->lost);
    if (!d->failed && d->shared->blind) {
        t->refused = 1;
        cf_decode_problem(t,
                          "%u times what is mapped could not be seen, for want of memory or "
                          "descriptors: mappings are missing",
                          d->shared->blind);
    }
    if (cf_writer_problem(t->writer))
        return;
    t->stopped = 0;
    if (cf_decode_leave(t, &d->process) != 0 || cf_decode_flush(t) != 0)
        return;
    for (int i = 0; i < d->process.n_threads; i++) {
        const struct cf_decode_thread *th = &d->process.threads[i];

        if (th->alive && cf_decode_task(t, &d->process, th->tid, CF_EXIT, "") != 0)
            return;
    }
}

int cfq_reader_begun(const struct cfq_reader *d)
{
    return (int)__atomic_load_n(&d->shared->begun, __ATOMIC_ACQUIRE);
}

int cfq_reader_ran(const struct cfq_reader *d)
{
    return d->ran;
}

unsigned cfq_reader_children(const struct cfq_reader *d)
{
    return __atomic_load_n(&d->shared->forked, __ATOMIC_RELAXED);
}

int cfq_reader_left(const struct cfq_reader *d)
{
    return (int)__atomic_load_n(&d->shared->left, __ATOMIC_RELAXED);
}

struct cf_decode *cfq_reader_decoder(struct cfq_reader *d)
{
    return &d->decode;
}

int cfq_reader_descriptor(const struct cfq_reader *d)
{
    return d->descriptor;
}

/* Memory is no file: a limit on the size of files, which the program may have, is not for it. */
static int set_size(int descriptor)
{
    struct rlimit old, most = {RLIM_INFINITY, RLIM_INFINITY};
    void (*action)(int) = signal(SIGXFSZ, SIG_IGN);
    int result, why;

    if (getrlimit(RLIMIT_FSIZE, &old) == 0 && setrlimit(RLIMIT_FSIZE, &most) != 0) {
        most = (struct rlimit){old.rlim_max, old.rlim_max};
        (void)setrlimit(RLIMIT_FSIZE, &most);
    }
    result = ftruncate(descriptor, CFQ_SHARED_BYTES);
    why = errno;
    (void)setrlimit(RLIMIT_FSIZE, &old);
    signal(SIGXFSZ, action);
    errno = why;
    return result;
}

struct cfq_reader *cfq_reader_open(const struct cfq_options *options, struct cf_writer *writer,
                                   char *text, size_t size)
{
    struct cfq_reader *d = calloc(1, sizeof(*d));

    if (!d) {
        snprintf(text, size, "out of memory");
        return NULL;
    }
    d->options = *options;
    d->descriptor = memfd_create("cacheflow", MFD_CLOEXEC);
    if (d->descriptor >= 0 && set_size(d->descriptor) == 0)
        d->shared =
            mmap(NULL, CFQ_SHARED_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, d->descriptor, 0);
    if (d->descriptor < 0 || !d->shared || d->shared == MAP_FAILED) {
        snprintf(text, size, "shared memory: %s%s", strerror(errno),
                 errno == EFBIG ? ": raise the limit of file sizes (ulimit -f)" : "");
        if (d->descriptor >= 0)
            close(d->descriptor);
        free(d);
        return NULL;
    }
    d->shared->magic = CFQ_MAGIC;
    d->shared->version = CF_WIRE_VERSION;
    d->shared->reader = (uint32_t)getpid();
    if (cf_decode_init(&d->decode, &options->decode, writer) == 0 &&
        cf_decode_process_init(&d->decode, &d->process) == 0) {
        d->decode.map = put_map;
        return d;
    }
    snprintf(text, size, "out of memory");
    cfq_reader_close(d);
    return NULL;
}

void cfq_reader_close(struct cfq_reader *d)
{
    stop(d);
    munmap(d->shared, CFQ_SHARED_BYTES);
    close(d->descriptor);
    cf_decode_process_free(&d->process);
    cf_decode_free(&d->decode);
    free(d);
}
