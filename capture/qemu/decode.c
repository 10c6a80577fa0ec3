/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * decode.c - the decoder as its caller sees it: the queue of blocks, threads, rows that wait.
 */
#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "decode_parts.h"

int cfq_no_memory(struct cfq_decoder *d)
{
    d->refused = 1;
    return cfq_problem(d, "out of memory");
}

int cfq_unreadable(struct cfq_decoder *d, const char *path)
{
    d->refused = 1;
    return cfq_problem(d, "%s: %s", path, strerror(errno));
}

int cfq_problem(struct cfq_decoder *d, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    if (!d->problem[0])
        vsnprintf(d->problem, sizeof(d->problem), format, args);
    va_end(args);
    d->failed = 1;
    cfq_decoder_stop(d);
    return -1;
}

int cfq_written(struct cfq_decoder *d, int result)
{
    if (result != 0) {
        d->failed = 1;
        cfq_decoder_stop(d);
    }
    return result == 0 ? 0 : -1;
}

void cfq_decoder_stop(struct cfq_decoder *d)
{
    d->stopping = 1;
    __atomic_store_n(&d->shared->stop, 1, __ATOMIC_SEQ_CST);
    __atomic_add_fetch(&d->shared->waiting, 0, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, &d->shared->head, FUTEX_WAKE, 1 << 30, NULL, NULL, 0);
}

/* ---- rows ---- */

int cfq_close_place(struct cfq_decoder *d)
{
    uint32_t rows = d->row;
    int open = d->room > 0;

    d->row = d->room = 0;
    if (!open || d->failed)
        return d->failed ? -1 : 0;
    d->rows += rows;
    if (cfq_written(d, cf_writer_placed(d->writer, CF_ACCESS, rows)) != 0)
        return -1;
    if (d->options.limit && d->rows >= d->options.limit)
        cfq_decoder_stop(d);
    return 0;
}

int cfq_open_place(struct cfq_decoder *d)
{
    const struct thread *t = &d->threads[d->current - 1];
    struct cf_values constants[7] = {{CF_PID, NULL, t->pid},
                                     {CF_TID, NULL, t->tid},
                                     {CF_OP, CF_BY_KIND, 0},
                                     {CF_SIZE, CF_BY_KIND, 0},
                                     {CF_PC, CF_BY_KIND, 0}};
    struct cf_place p[] = {{CF_TIME, NULL}, {CF_ADDR, NULL}};
    unsigned n = 5;

    if (cfq_close_place(d) != 0 || d->stopping)
        return -1;
    if (d->options.instructions)
        constants[n++] = (struct cf_values){CF_INSNS, CF_BY_KIND, 0};
    if (d->options.system)
        constants[n++] = (struct cf_values){CF_CPU, NULL, t->cpu};
    if (cfq_written(d, cf_writer_place(d->writer, CF_ACCESS, constants, n, p, 2, &d->hint,
                                       &d->room)) != 0) {
        d->room = 0;
        return -1;
    }
    d->time = p[0].values;
    d->addr = p[1].values;
    if (d->options.limit && d->room > d->options.limit - d->rows)
        d->room = (uint32_t)(d->options.limit - d->rows);
    return 0;
}

int cfq_put_task(struct cfq_decoder *d, const struct thread *t, unsigned op, const char *name)
{
    struct cf_values v[] = {{CF_TIME, NULL, d->now}, {CF_PID, NULL, t->pid}, {CF_TID, NULL, t->tid},
                            {CF_PARENT, NULL, 0},    {CF_OP, NULL, op},      {CF_LABEL, NULL, 0}};

    if (cfq_close_place(d) != 0)
        return -1;
    v[5].constant = cf_writer_string(d->writer, name);
    return cfq_written(d, cf_writer_rows(d->writer, CF_TASK, 1, v, 6, NULL));
}

int cfq_decoder_map(struct cfq_decoder *d, uint32_t pid, uint64_t start, uint64_t end,
                    uint64_t offset, uint32_t perms, const char *name)
{
    struct cf_values v[] = {{CF_TIME, NULL, d->now},      {CF_PID, NULL, pid},
                            {CF_OP, NULL, CF_MAPPED},     {CF_START, NULL, start},
                            {CF_STOP, NULL, end},         {CF_OFFSET, NULL, offset},
                            {CF_PERMS, NULL, perms & 15}, {CF_LABEL, NULL, 0}};

    if (cfq_close_place(d) != 0)
        return -1;
    if (!name)
        v[2].constant = CF_UNMAPPED;
    else
        v[7].constant = cf_writer_string(d->writer, name);
    return cfq_written(d, cf_writer_rows(d->writer, CF_MAP, 1, v, 8, NULL));
}

/* ---- threads ---- */

/* The thread of a block, which begins here if it is not known. Others may move in memory. */
static struct thread *find_thread(struct cfq_decoder *d, const struct cfq_block *b)
{
    struct thread *t = NULL;

    for (unsigned i = d->n_threads; i > 0; i--) {
        struct thread *known = &d->threads[i - 1];

        if (known->alive && known->tid == b->tid && known->pid == b->pid)
            return known;
        if (!known->alive && d->current != i && d->n_threads >= KNOWN_THREADS)
            t = known;
    }
    if (!t && d->n_threads == d->threads_room) {
        unsigned room = d->threads_room ? 2 * d->threads_room : 16;

        t = realloc(d->threads, room * sizeof(*t));
        if (!t) {
            cfq_no_memory(d);
            return NULL;
        }
        d->threads = t;
        d->threads_room = room;
        t = NULL;
    }
    if (!t)
        t = &d->threads[d->n_threads++];
    *t = (struct thread){.pid = b->pid, .tid = b->tid, .cpu = b->cpu, .alive = 1};
    t->block = UINT32_MAX;
    if (cfq_put_task(d, t, CF_BEGIN, d->begun++ ? "" : d->options.name) != 0)
        return NULL;
    return t;
}

int cfq_thread_made(struct cfq_decoder *d, const struct thread *maker, uint32_t tid)
{
    struct cfq_block b = {.pid = maker->pid, .tid = tid};

    for (unsigned i = 0; i < d->n_threads; i++)
        if (d->threads[i].tid == tid && d->threads[i].pid == maker->pid)
            return 0;
    return find_thread(d, &b) ? 0 : -1;
}

static int run_thread(struct cfq_decoder *d, struct thread *t)
{
    struct cf_values v[] = {{CF_TIME, NULL, d->now},
                            {CF_PID, NULL, t->pid},
                            {CF_TID, NULL, t->tid},
                            {CF_CPU, NULL, t->cpu},
                            {CF_COUNT, NULL, t->count}};
    unsigned number = (unsigned)(t - d->threads) + 1;

    if (d->current == number)
        return 0;
    if (d->current) {
        if (cfq_end_repeat(d, &d->threads[d->current - 1]) != 0)
            return -1;
        d->threads[d->current - 1].count += d->now - d->run_from;
    }
    if (cfq_close_place(d) != 0)
        return -1;
    d->current = number;
    d->run_from = d->now;
    t->start = d->now;
    t->step = 0;
    return cfq_written(d, cf_writer_rows(d->writer, CF_SWITCH, 1, v, 5, NULL));
}

static int decode_part(struct cfq_decoder *d, const struct cfq_entry *e)
{
    struct cfq_block *block, b;
    struct thread *t = NULL;

    if (e->block >= CFQ_BLOCKS || e->from > e->to || e->to > CFQ_WORDS)
        return cfq_problem(d, "a damaged queue: the trace ends here");
    block = cfq_block(d->shared, e->block);
    b = *block;
    if (b.tid) {
        t = find_thread(d, &b);
        if (!t || run_thread(d, t) != 0)
            return -1;
    }
    /* A copy: the program runs in the process that can write there. */
    memcpy(d->words, cfq_words(block) + e->from, (e->to - e->from) * sizeof(*d->words));
    return cfq_decode(d, &b, t, d->words, d->words + (e->to - e->from));
}

/* ---- what the caller does ---- */

int cfq_decoder_read(struct cfq_decoder *d, int milliseconds)
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
        return cfq_problem(d, "a damaged queue: the trace ends here");
    for (; head != tail; head++) {
        struct cfq_entry e = s->queue[head % CFQ_QUEUE];

        if (!d->failed && !d->stopping && decode_part(d, &e) != 0 && d->failed)
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
static void read_rest(struct cfq_decoder *d)
{
    uint64_t after = 0;

    for (int early = 1; early >= 0; early--, after = 0)
        while (!d->failed && !d->stopping) {
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

void cfq_decoder_finish(struct cfq_decoder *d)
{
    while (!d->failed && cfq_decoder_read(d, 0) > 0)
        ;
    if (!d->failed)
        read_rest(d);
    if (!d->failed && d->shared->lost && !d->stopping)
        cfq_problem(d, "%llu times there was no room for words of the program: they are missing",
                    (unsigned long long)d->shared->lost);
    if (!d->failed && d->shared->blind) {
        d->refused = 1;
        cfq_problem(d,
                    "%u times what is mapped could not be seen, for want of memory or "
                    "descriptors: mappings are missing",
                    d->shared->blind);
    }
    if (cf_writer_problem(d->writer))
        return;
    d->failed = 0;
    if (d->current && !d->stopping)
        (void)cfq_end_repeat(d, &d->threads[d->current - 1]);
    (void)cfq_close_place(d);
    for (unsigned i = 0; i < d->n_threads && !d->failed; i++)
        if (d->threads[i].alive)
            (void)cfq_put_task(d, &d->threads[i], CF_EXIT, "");
}

int cfq_decoder_flush(struct cfq_decoder *d)
{
    return cfq_close_place(d);
}

int cfq_decoder_begun(const struct cfq_decoder *d)
{
    return (int)__atomic_load_n(&d->shared->begun, __ATOMIC_ACQUIRE);
}

int cfq_decoder_ran(const struct cfq_decoder *d)
{
    return d->begun > 0;
}

uint64_t cfq_decoder_rows(const struct cfq_decoder *d)
{
    return d->rows;
}

int cfq_decoder_refused(const struct cfq_decoder *d)
{
    return d->refused;
}

const char *cfq_decoder_problem(const struct cfq_decoder *d)
{
    return d->problem[0] ? d->problem : NULL;
}

int cfq_decoder_descriptor(const struct cfq_decoder *d)
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

struct cfq_decoder *cfq_decoder_open(const struct cfq_options *options, struct cf_writer *writer,
                                     char *text, size_t size)
{
    struct cfq_decoder *d = calloc(1, sizeof(*d));

    if (!d) {
        snprintf(text, size, "out of memory");
        return NULL;
    }
    d->options = *options;
    d->writer = writer;
    d->code.writer = writer;
    d->code.fetch_line = options->fetch_line;
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
    d->shared->version = CFQ_VERSION;
    d->shared->reader = (uint32_t)getpid();
    return d;
}

void cfq_decoder_close(struct cfq_decoder *d)
{
    cfq_decoder_stop(d);
    munmap(d->shared, CFQ_SHARED_BYTES);
    close(d->descriptor);
    code_free(&d->code);
    free(d->threads);
    free(d);
}
