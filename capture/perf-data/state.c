/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * state.c - records of tasks and mappings, COMM, FORK, EXIT, MMAP and MMAP2, and of what was lost
 * (linux/perf_event.h).
 */
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"

/* Later than the oldest header that the suite is built with. */
enum {
    MISC_MMAP_BUILD_ID = 1 << 14,
    MISC_LOST_SAMPLES_BPF = 1 << 15, /* perf's: a program of the user left them out */
    THREADS_MOST = 1 << 24
};

static struct perf_thread *place_of(const struct perf_file *f, uint32_t pid, uint32_t tid)
{
    size_t at = cf_hash(f->seed, pid, tid) & (f->thread_room - 1);

    while (f->thread[at].used && (f->thread[at].pid != pid || f->thread[at].tid != tid))
        at = (at + 1) & (f->thread_room - 1);
    return &f->thread[at];
}

static struct perf_thread *find_thread(struct perf_file *f, uint32_t pid, uint32_t tid)
{
    struct perf_thread *place;

    if (2 * (f->threads + 1) > f->thread_room) {
        struct perf_thread *old = f->thread;
        const size_t room = f->thread_room;

        f->thread_room = room ? 2 * room : 64;
        f->thread = cf_need(f->tool, calloc(f->thread_room, sizeof *f->thread));
        if (!room)
            f->seed = cf_seed(f);
        for (size_t i = 0; i < room; i++)
            if (old[i].used)
                *place_of(f, old[i].pid, old[i].tid) = old[i];
        free(old);
    }
    place = place_of(f, pid, tid);
    f->threads += !place->used;
    if (!place->used)
        *place = (struct perf_thread){.pid = pid, .tid = tid, .used = 1};
    return place;
}

int perf_state_task(void *file, struct perf_state *s)
{
    struct perf_file *f = file;
    const uint32_t label = s->forked ? find_thread(f, s->parent, s->maker)->label : s->label;
    const size_t threads = f->threads;
    struct perf_thread *t = find_thread(f, s->pid, s->tid);
    /* the first thread has ended where it was another that began the program */
    const int runs_another = f->threads == threads && s->op == CF_BEGIN && !s->forked;

    if (s->op == CF_EXIT) {
        s->label = t->label;
        t->alive = 0;
        return 1;
    }
    if (s->forked && t->alive)
        return 0;
    if (s->parent == s->pid)
        s->parent = 0;
    if (!t->alive)
        s->op = CF_BEGIN;
    s->label = t->label = label;
    t->alive = 1;
    return 1 + runs_another;
}

/* A text of the record from byte `from` on, up to a zero; what has none is cut at `to`. */
static const char *text_in(struct perf_file *f, const uint8_t *record, size_t from, size_t to,
                           char **copy)
{
    *copy = cf_need(f->tool, strndup((const char *)record + from, to - from));
    return *copy;
}

static int comm(struct perf_file *f, const uint8_t *record, size_t end, uint64_t time)
{
    const int exec = perf_u16(&f->events, record + 4) & PERF_RECORD_MISC_COMM_EXEC;
    struct perf_state s = {.time = time, .table = CF_TASK, .op = exec ? CF_BEGIN : CF_NAMED};
    char *name;

    if (end < 17)
        return -1;
    s.pid = perf_u32(&f->events, record + 8);
    s.tid = perf_u32(&f->events, record + 12);
    s.label = cf_writer_string(f->out, text_in(f, record, 16, end, &name));
    free(name);
    perf_aux_thread(f, s.pid, s.tid, time);
    perf_order_state(&f->order, &s);
    return 0;
}

static int fork_or_exit(struct perf_file *f, unsigned type, const uint8_t *record, size_t end)
{
    const struct perf_events *e = &f->events;
    struct perf_state s = {.table = CF_TASK, .op = CF_EXIT};

    if (end < 32)
        return -1;
    s.pid = perf_u32(e, record + 8);
    s.tid = perf_u32(e, record + 16);
    s.time = f->timed ? perf_u64(e, record + 24) : f->now;
    if (type == PERF_RECORD_FORK) {
        s.op = CF_BEGIN;
        s.forked = 1;
        s.parent = perf_u32(e, record + 12);
        s.maker = perf_u32(e, record + 20);
        perf_aux_thread(f, s.pid, s.tid, s.time);
    }
    perf_order_state(&f->order, &s);
    return 0;
}

static int mmap(struct perf_file *f, unsigned type, const uint8_t *record, size_t end,
                uint64_t time)
{
    const struct perf_events *e = &f->events;
    const int two = type == PERF_RECORD_MMAP2;
    const size_t name_at = two ? 72 : 40;
    const uint16_t misc = perf_u16(e, record + 4);
    struct perf_state s = {.time = time, .table = CF_MAP, .op = CF_MAPPED};
    const char *build;
    char *name;

    if (end < name_at + 1)
        return -1;
    s.pid = perf_u32(e, record + 8);
    s.start = perf_u64(e, record + 16);
    s.end = s.start + perf_u64(e, record + 24);
    s.offset = perf_u64(e, record + 32);
    if (s.pid == UINT32_MAX || s.end <= s.start)
        return 0; /* the kernel's own, or of no bytes */
    if (two)      /* bits of PROT_ and MAP_SHARED */
        s.perms = (uint8_t)((perf_u32(e, record + 64) & (CF_PERM_R | CF_PERM_W | CF_PERM_X)) |
                            (perf_u32(e, record + 68) & 1 ? CF_PERM_SHARED : 0));
    else
        s.perms = misc & PERF_RECORD_MISC_MMAP_DATA ? CF_PERM_R | CF_PERM_W : CF_PERM_R | CF_PERM_X;
    text_in(f, record, name_at, end, &name);
    if (two && misc & MISC_MMAP_BUILD_ID)
        perf_events_build(&f->events, name, record + 44, record[40]);
    build = perf_build_of(&f->events, name);
    s.label = cf_writer_string(f->out, strcmp(name, "//anon") == 0 ? "" : name);
    s.build = cf_writer_string(f->out, build);
    free(name);
    perf_order_state(&f->order, &s);
    return 0;
}

/* LOST, LOST_SAMPLES and THROTTLE: one row each. */
static int lost(struct perf_file *f, unsigned type, const uint8_t *record, size_t end,
                const struct perf_event_of *v)
{
    const int records = type == PERF_RECORD_LOST, throttled = type == PERF_RECORD_THROTTLE;
    const size_t at = records ? 16 : 8;
    const uint8_t *tail = record + end;
    struct perf_state s = {.time = perf_record_time(f, v, record, end + perf_record_tail(v)),
                           .table = CF_LOST,
                           .count = 1};

    if (end < at + 8)
        return -1;
    if (throttled)
        f->throttled++;
    else
        s.count = perf_u64(&f->events, record + at);
    if (v->sample_id_all && v->sample_type & PERF_SAMPLE_TID) {
        s.pid = perf_u32(&f->events, tail);
        s.tid = perf_u32(&f->events, tail + 4);
    }
    if (!records && !throttled && !s.pid && (!f->timed || s.time == 0)) {
        /* perf's own, of the kernel's counters when it ends: they have counted what is lost by LOST
           as well */
        if (!(perf_u16(&f->events, record + 4) & MISC_LOST_SAMPLES_BPF))
            f->counted += s.count;
        return 0;
    }
    if (records)
        f->lost += s.count;
    else if (!throttled)
        f->lost_samples += s.count;
    (void)!perf_record_cpu(f, v, record, end + perf_record_tail(v), &s.cpu); /* else it is 0 */
    s.label = cf_writer_string(f->out, throttled ? "throttled" : "lost");
    perf_order_state(&f->order, &s);
    return 0;
}

void perf_state_end(struct perf_file *f)
{
    struct perf_state s = {.time = f->order.newest, .table = CF_LOST};

    if (f->counted <= f->lost)
        return;
    s.count = f->counted - f->lost;
    s.label = cf_writer_string(f->out, "lost");
    f->lost = f->counted;
    perf_order_state(&f->order, &s);
}

int perf_state_read(struct perf_file *f, unsigned type, const uint8_t *record, size_t bytes)
{
    const struct perf_event_of *v = perf_record_event(f, record, bytes);
    size_t end;
    uint64_t time;

    if (!v)
        return -1;
    end = bytes - perf_record_tail(v);
    time = perf_record_time(f, v, record, bytes);
    if (time) /* perf's own may have none */
        f->now = time;
    if (f->threads >= THREADS_MOST)
        return -1;
    switch (type) {
    case PERF_RECORD_LOST:
    case PERF_RECORD_LOST_SAMPLES:
    case PERF_RECORD_THROTTLE:
        return lost(f, type, record, end, v);
    case PERF_RECORD_COMM:
        return comm(f, record, end, time);
    case PERF_RECORD_FORK:
    case PERF_RECORD_EXIT:
        return fork_or_exit(f, type, record, end);
    default:
        return mmap(f, type, record, end, time);
    }
}
