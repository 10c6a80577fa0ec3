/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * decode.c - words of the plugin to rows: queue, threads, executions, events.
 */
#include <errno.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "decode.h"
#include "decode_code.h"
#include "decode_target.h"
#include "protocol.h"

enum { NAME_BYTES = 4096, KNOWN_THREADS = 1024 /* remembered after their end at least */ };

struct thread {
    uint32_t pid, tid, cpu;
    int alive;
    uint64_t count; /* instructions */
    uint32_t block; /* its last execution, */
    uint64_t start; /* the time of that, */
    uint32_t step;  /* and what an instruction's index counts for: nothing, after an interruption */
};

struct cfq_decoder {
    struct cfq_options options;
    struct cf_writer *writer;
    struct cfq_shared *shared;
    int descriptor;
    int failed;   /* nothing is written any more */
    int stopping; /* no more rows of access */
    char problem[512];
    struct code code;
    uint64_t now, rows, run_from;
    uint64_t bias; /* of the program's addresses to those of its file, */
    int loaded;    /* if this is known */
    struct thread *threads;
    unsigned n_threads, threads_room, begun;
    unsigned current; /* threads from 1 on; 0: none */
    /* The open place; room 0: none. */
    uint32_t row, room;
    uint64_t *time, *addr;
    uint32_t *hint;
    uint64_t words[CFQ_WORDS];
};

static int problem(struct cfq_decoder *d, const char *format, ...) CF_PRINTF(2, 3);

static int problem(struct cfq_decoder *d, const char *format, ...)
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

/* The writer has its own message. */
static int written(struct cfq_decoder *d, int result)
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

static int close_place(struct cfq_decoder *d)
{
    uint32_t rows = d->row;
    int open = d->room > 0;

    d->row = d->room = 0;
    if (!open || d->failed)
        return d->failed ? -1 : 0;
    d->rows += rows;
    if (written(d, cf_writer_placed(d->writer, CF_ACCESS, rows)) != 0)
        return -1;
    if (d->options.limit && d->rows >= d->options.limit)
        cfq_decoder_stop(d);
    return 0;
}

static int open_place(struct cfq_decoder *d)
{
    const struct thread *t = &d->threads[d->current - 1];
    struct cf_values constants[7] = {{CF_PID, NULL, t->pid},
                                     {CF_TID, NULL, t->tid},
                                     {CF_OP, CF_BY_KIND, 0},
                                     {CF_SIZE, CF_BY_KIND, 0},
                                     {CF_PC, CF_BY_KIND, 0}};
    struct cf_place p[] = {{CF_TIME, NULL}, {CF_ADDR, NULL}};
    unsigned n = 5;

    if (close_place(d) != 0 || d->stopping)
        return -1;
    if (d->options.instructions)
        constants[n++] = (struct cf_values){CF_INSNS, CF_BY_KIND, 0};
    if (d->options.system)
        constants[n++] = (struct cf_values){CF_CPU, NULL, t->cpu};
    if (written(d, cf_writer_place(d->writer, CF_ACCESS, constants, n, p, 2, &d->hint, &d->room)) !=
        0) {
        d->room = 0;
        return -1;
    }
    d->time = p[0].values;
    d->addr = p[1].values;
    if (d->options.limit && d->room > d->options.limit - d->rows)
        d->room = (uint32_t)(d->options.limit - d->rows);
    return 0;
}

static inline int put_row(struct cfq_decoder *d, uint64_t time, uint64_t addr, uint32_t hint)
{
    if (__builtin_expect(d->row == d->room, 0) && open_place(d) != 0)
        return -1;
    d->time[d->row] = time;
    d->addr[d->row] = addr;
    d->hint[d->row++] = hint;
    return 0;
}

static int put_task(struct cfq_decoder *d, const struct thread *t, unsigned op, const char *name)
{
    struct cf_values v[] = {{CF_TIME, NULL, d->now}, {CF_PID, NULL, t->pid}, {CF_TID, NULL, t->tid},
                            {CF_PARENT, NULL, 0},    {CF_OP, NULL, op},      {CF_LABEL, NULL, 0}};

    if (close_place(d) != 0)
        return -1;
    v[5].constant = cf_writer_string(d->writer, name);
    return written(d, cf_writer_rows(d->writer, CF_TASK, 1, v, 6, NULL));
}

int cfq_decoder_map(struct cfq_decoder *d, uint32_t pid, uint64_t start, uint64_t end,
                    uint64_t offset, uint32_t perms, const char *name)
{
    struct cf_values v[] = {{CF_TIME, NULL, d->now},      {CF_PID, NULL, pid},
                            {CF_OP, NULL, CF_MAPPED},     {CF_START, NULL, start},
                            {CF_STOP, NULL, end},         {CF_OFFSET, NULL, offset},
                            {CF_PERMS, NULL, perms & 15}, {CF_LABEL, NULL, 0}};

    if (close_place(d) != 0)
        return -1;
    if (!name)
        v[2].constant = CF_UNMAPPED;
    else
        v[7].constant = cf_writer_string(d->writer, name);
    return written(d, cf_writer_rows(d->writer, CF_MAP, 1, v, 8, NULL));
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
            problem(d, "out of memory");
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
    if (put_task(d, t, CF_BEGIN, d->begun++ ? "" : d->options.name) != 0)
        return NULL;
    return t;
}

/* A thread has made another. That may have run, and even ended, before its maker came to say so. */
static int thread_made(struct cfq_decoder *d, const struct thread *maker, uint32_t tid)
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
    if (d->current)
        d->threads[d->current - 1].count += d->now - d->run_from;
    if (close_place(d) != 0)
        return -1;
    d->current = number;
    d->run_from = d->now;
    t->start = d->now;
    t->step = 0;
    return written(d, cf_writer_rows(d->writer, CF_SWITCH, 1, v, 5, NULL));
}

/* ---- words ---- */

static int bad(struct cfq_decoder *d, const struct thread *t, const char *what)
{
    return problem(d, "thread %u, instruction %llu: %s: the trace ends here", t ? t->tid : 0,
                   (unsigned long long)d->now, what);
}

static int copy_name(const uint64_t *words, uint32_t count, char *name)
{
    if (count < 1 || words[0] >= NAME_BYTES || words[0] > (count - 1) * sizeof(*words))
        return -1;
    memcpy(name, words + 1, words[0]);
    name[words[0]] = 0;
    return 0;
}

/* A mapping as the host has it. Of the program itself, what is not mapped from its file was read
   from it (its pages may be larger than the host's), and its headers tell which part that is. */
static int take_map(struct cfq_decoder *d, uint32_t pid, const uint64_t *w, const char *name)
{
    uint64_t start = w[1], end = w[2], offset = w[3];
    uint32_t perms = (uint32_t)w[4];
    struct target_segment s;

    /* The emulator maps code as data. */
    if (name[0] == '/' && perms & CF_PERM_R)
        perms |= target_executable(name, offset, end - start, perms) ? CF_PERM_X : 0;
    for (unsigned i = 0; !name[0] && d->loaded && target_segment(d->options.path, i, &s); i++) {
        uint64_t from = s.address + d->bias, to = (from + s.file_bytes + 4095) & ~UINT64_C(4095);

        if (from < start || from >= end || from - start > s.offset)
            continue;
        /* Zero-filled data behind it is a mapping of its own, unless there is nothing else. */
        to = to > end || !s.file_bytes ? end : to;
        if (cfq_decoder_map(d, pid, start, to, s.offset - (from - start), s.perms,
                            d->options.path) != 0)
            return -1;
        start = to;
        break;
    }
    return start < end ? cfq_decoder_map(d, pid, start, end, offset, perms, name) : 0;
}

/* The first segment with code stands at `address`. */
static void take_place(struct cfq_decoder *d, uint64_t address)
{
    struct target_segment s;
    uint64_t least = UINT64_MAX;

    for (unsigned i = 0; target_segment(d->options.path, i, &s); i++)
        if (s.perms & CF_PERM_X && s.address < least)
            least = s.address;
    d->loaded = least != UINT64_MAX;
    d->bias = address - least;
}

static int take_event(struct cfq_decoder *d, const struct cfq_block *b, struct thread *t,
                      const uint64_t *w, uint32_t count)
{
    char name[NAME_BYTES];
    int r;

    switch (w[0] >> CFQ_EVENT_SHIFT & 0x1fff) {
    case CFQ_DESCRIBE:
        r = code_describe(&d->code, w + 1, count - 1);
        if (r == CODE_MEMORY)
            return problem(d, "out of memory");
        return r == 0 ? 0 : bad(d, t, "a description of code that makes no sense");
    case CFQ_MAP:
        if (count < 6 || copy_name(w + 5, count - 5, name) != 0 || w[1] >= w[2])
            break;
        return take_map(d, b->pid, w, name);
    case CFQ_LOADED:
        if (count != 2 || !d->options.path)
            break;
        take_place(d, w[1]);
        return 0;
    case CFQ_UNMAP:
        if (count != 3 || w[1] >= w[2])
            break;
        return cfq_decoder_map(d, b->pid, w[1], w[2], 0, 0, NULL);
    case CFQ_NAMED:
        if (!t || copy_name(w + 1, count - 1, name) != 0)
            break;
        return put_task(d, t, CF_NAMED, name);
    case CFQ_BEGIN:
        if (!t || count != 2 || w[1] - 1 >= INT32_MAX)
            break;
        return thread_made(d, t, (uint32_t)w[1]);
    case CFQ_EXIT:
        if (!t)
            break;
        t->alive = 0;
        return put_task(d, t, CF_EXIT, "");
    default:
        break;
    }
    return bad(d, t, "an event that makes no sense");
}

static int put_access(struct cfq_decoder *d, struct thread *t, const uint64_t *w)
{
    const struct code_block *b = &d->code.block[t->block];
    uint32_t index = w[0] >> CFQ_INSN_SHIFT & (CFQ_MAX_INSNS - 1);
    unsigned kind = w[0] >> CFQ_KIND_SHIFT & (CFQ_KINDS - 1);
    uint64_t addr = w[0] >> CFQ_TAG_SHIFT ? w[1] : (uint64_t)((int64_t)(w[0] << 16) >> 16);
    uint32_t insn, hint;

    if (__builtin_expect(index >= b->insns, 0))
        return bad(d, t, "an access of no instruction");
    insn = d->code.list[b->first + index];
    hint = d->code.insn[insn].hint[kind];
    if (__builtin_expect(!hint, 0)) {
        hint = code_new_hint(&d->code, insn, kind);
        if (!hint)
            return written(d, -1);
    }
    return put_row(d, t->start + index * t->step, addr, hint);
}

/* Words of an access at w, 0 if it is none. */
static unsigned access_words(const uint64_t *w, const uint64_t *end)
{
    unsigned tag = w < end ? w[0] >> CFQ_TAG_SHIFT : CFQ_EVENT;

    return tag == CFQ_ACCESS ? 1 : tag == CFQ_WIDE && end - w > 1 ? 2 : 0;
}

/* One execution with its runs of instructions among its accesses: the words that it took in, or
   -1. Words that come in another part of the block have no more runs to come. */
static int put_execution(struct cfq_decoder *d, struct thread *t, const uint64_t *w,
                         const uint64_t *end)
{
    struct code_block *b = &d->code.block[t->block];
    const uint32_t *crossing = d->code.list + b->first + b->insns;
    const uint64_t *from = w;
    unsigned x = 0, run = 0;

    while (run < b->insns) {
        unsigned stop = b->insns, n;
        uint64_t pc;
        uint32_t hint;

        for (; x < b->crossings; x++) {
            unsigned at = crossing[x] & ~CODE_APART;

            if (at > run &&
                (crossing[x] & CODE_APART ||
                 (access_words(w, end) && (*w >> CFQ_INSN_SHIFT & (CFQ_MAX_INSNS - 1)) < at))) {
                stop = at;
                break;
            }
        }
        hint = code_run_hint(&d->code, b, run, stop - run, &pc);
        if (!hint)
            return cf_writer_problem(d->writer) ? written(d, -1) : problem(d, "out of memory");
        if (put_row(d, t->start + run, pc, hint) != 0)
            return -1;
        while ((n = access_words(w, end)) &&
               (stop == b->insns || (*w >> CFQ_INSN_SHIFT & (CFQ_MAX_INSNS - 1)) < stop)) {
            if (put_access(d, t, w) != 0)
                return -1;
            w += n;
        }
        run = stop;
    }
    return (int)(w - from);
}

/* Words of a part of a block. */
static int decode(struct cfq_decoder *d, const struct cfq_block *b, struct thread *t,
                  const uint64_t *w, const uint64_t *end)
{
    while (w < end) {
        uint32_t number = (uint32_t)*w, count = 1;
        int n;

        switch (*w >> CFQ_TAG_SHIFT) {
        case CFQ_WIDE:
            count = 2;
            /* fall through */
        case CFQ_ACCESS:
            if (!t || t->block == UINT32_MAX || end - w < count)
                return bad(d, t, "an access without an execution");
            if (put_access(d, t, w) != 0)
                return -1;
            break;
        case CFQ_EXECUTE:
        case CFQ_RESUME:
            if (!t || number >= d->code.blocks || !d->code.block[number].insns)
                return bad(d, t, "an execution of code that was not described");
            if (*w >> CFQ_TAG_SHIFT == CFQ_RESUME && t->block == number)
                break;
            t->block = number;
            t->start = d->now;
            t->step = 1;
            d->now += d->code.block[number].insns;
            if (d->options.instructions && *w >> CFQ_TAG_SHIFT == CFQ_EXECUTE) {
                n = put_execution(d, t, w + 1, end);
                if (n < 0)
                    return -1;
                count += (uint32_t)n;
            }
            break;
        case CFQ_EVENT:
            count = *w & 0xffff;
            if (count < 1 || count > CFQ_MAX_EVENT || end - w < count)
                return bad(d, t, "an event of no size");
            if (take_event(d, b, t, w, count) != 0)
                return -1;
            t = t ? &d->threads[d->current - 1] : NULL;
            break;
        default:
            return bad(d, t, "a word that makes no sense");
        }
        w += count;
    }
    return 0;
}

static int decode_part(struct cfq_decoder *d, const struct cfq_entry *e)
{
    struct cfq_block *block, b;
    struct thread *t = NULL;

    if (e->block >= CFQ_BLOCKS || e->from > e->to || e->to > CFQ_WORDS)
        return problem(d, "a damaged queue: the trace ends here");
    block = cfq_block(d->shared, e->block);
    b = *block;
    if (b.tid) {
        t = find_thread(d, &b);
        if (!t || run_thread(d, t) != 0)
            return -1;
    }
    /* A copy: the program runs in the process that can write there. */
    memcpy(d->words, cfq_words(block) + e->from, (e->to - e->from) * sizeof(*d->words));
    return decode(d, &b, t, d->words, d->words + (e->to - e->from));
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
        return problem(d, "a damaged queue: the trace ends here");
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
        problem(d, "%llu times there was no room for words of the program: they are missing",
                (unsigned long long)d->shared->lost);
    if (cf_writer_problem(d->writer))
        return;
    d->failed = 0;
    (void)close_place(d);
    for (unsigned i = 0; i < d->n_threads && !d->failed; i++)
        if (d->threads[i].alive)
            (void)put_task(d, &d->threads[i], CF_EXIT, "");
}

int cfq_decoder_flush(struct cfq_decoder *d)
{
    return close_place(d);
}

int cfq_decoder_begun(const struct cfq_decoder *d)
{
    return (int)__atomic_load_n(&d->shared->begun, __ATOMIC_ACQUIRE);
}

uint64_t cfq_decoder_rows(const struct cfq_decoder *d)
{
    return d->rows;
}

const char *cfq_decoder_problem(const struct cfq_decoder *d)
{
    return d->problem[0] ? d->problem : NULL;
}

int cfq_decoder_descriptor(const struct cfq_decoder *d)
{
    return d->descriptor;
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
    if (d->descriptor >= 0 && ftruncate(d->descriptor, CFQ_SHARED_BYTES) == 0)
        d->shared =
            mmap(NULL, CFQ_SHARED_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, d->descriptor, 0);
    if (d->descriptor < 0 || !d->shared || d->shared == MAP_FAILED) {
        snprintf(text, size, "shared memory: %s", strerror(errno));
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
