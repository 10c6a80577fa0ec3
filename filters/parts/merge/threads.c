/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * threads.c - reads the inputs once for their threads: when each was born, by whom, and how its own
 * clock (the instructions that it has executed) goes with the time of the input.
 *
 * A row of table switch says that a thread runs from then on, having executed so many
 * instructions; until the next switch of its processor its clock goes with the time. A thread is
 * born with its row `begin` of table task or at its first switch, whichever is first, and its
 * creator is the thread of the same process that runs at that moment, or that of the process's
 * parent where it is the process's first. In an input whose threads stand side by side already,
 * several do: then it is the one of them that began to run last.
 *
 * Memory: 40 bytes a switch, 200 a thread, 85 a processor.
 */
#include <limits.h>
#include <stdlib.h>

#include "formats/base/cf_number.h"
#include "filters/parts/merge/merge.h"

enum { MOST_LOOKED = 256 };

/* Index + 1 of a key; a new one gets the number `next`. */
static uint64_t *place(struct threads *t, struct cf_counts *c, const struct input *input,
                       uint32_t pid, uint32_t tid)
{
    return cf_need(&t->merge->tool, cf_counts_at(c, (uint64_t)input->number << 32 | pid, tid));
}

static struct process *process_of(struct threads *t, const struct input *input, uint32_t pid)
{
    uint64_t *at = place(t, t->process_at, input, pid, 0);

    if (!*at) {
        struct process *p;

        merge_room(t->merge, &t->process, &t->process_room, t->processes + 1, sizeof(*t->process));
        p = cf_tool_room(&t->merge->tool, 1, sizeof(*p));
        *p = (struct process){.input = input, .pid = pid, .first_thread = -1};
        t->process[t->processes++] = p;
        *at = t->processes;
    }
    return t->process[*at - 1];
}

static struct thread *thread_of(struct threads *t, const struct input *input, uint32_t pid,
                                uint32_t tid, uint64_t time)
{
    uint64_t *at = place(t, t->thread_at, input, pid, tid);
    struct thread *th;

    if (!*at) {
        struct process *p = process_of(t, input, pid);

        merge_room(t->merge, &t->thread, &t->room, t->count + 1, sizeof(*t->thread));
        th = &t->thread[t->count];
        *th = (struct thread){.input = input,
                              .process = p,
                              .pid = pid,
                              .tid = tid,
                              .index = (unsigned)t->count,
                              .born = time,
                              .first = UINT64_MAX,
                              .creator = -1};
        if (p->first_thread < 0)
            p->first_thread = (int)t->count;
        *at = ++t->count;
    }
    th = &t->thread[*at - 1];
    th->born = time < th->born ? time : th->born;
    return th;
}

struct thread *threads_get(struct threads *t, const struct input *input, uint32_t pid, uint32_t tid)
{
    uint64_t at = cf_counts_get(t->thread_at, (uint64_t)input->number << 32 | pid, tid);

    return at ? &t->thread[at - 1] : NULL;
}

/* Number of elements, each of which begins with its time, up to `time`. */
static size_t up_to(const void *list, size_t count, size_t width, uint64_t time)
{
    size_t low = 0;

    while (low < count) {
        const size_t middle = low + (count - low) / 2;
        const uint64_t *at = (const void *)((const char *)list + middle * width);

        if (*at <= time)
            low = middle + 1;
        else
            count = middle;
    }
    return low;
}

/* The stretch of a thread that began last, NULL where none did. */
static struct stretch *stretch_at(const struct thread *th, uint64_t time)
{
    size_t low = up_to(th->stretch, th->stretches, sizeof(*th->stretch), time);

    return low ? &th->stretch[low - 1] : NULL;
}

/* Index of the thread that runs in a process, of those that come before `but` in the order of
   threads; where none does, of the one that began to run last. -1 where there is none. */
static int running(const struct threads *t, const struct process *p, uint64_t time, unsigned but)
{
    size_t low = up_to(p->running, p->runs, sizeof(*p->running), time);
    int last = -1;

    /* side by side are some, and of what began long ago the most has ended */
    for (unsigned looked = 0; low > 0 && looked < MOST_LOOKED; low--, looked++) {
        const unsigned i = p->running[low - 1].thread;

        if (i >= but)
            continue;
        if (stretch_at(&t->thread[i], time)->end > time)
            return (int)i;
        last = last < 0 ? (int)i : last;
    }
    return last;
}

struct thread *threads_running(struct threads *t, const struct input *input, uint32_t pid,
                               uint64_t time)
{
    uint64_t at = cf_counts_get(t->process_at, (uint64_t)input->number << 32 | pid, 0);
    const struct process *p;
    int by;

    if (!at)
        return NULL;
    p = t->process[at - 1];
    by = running(t, p, time, UINT_MAX);
    by = by < 0 ? p->first_thread : by;
    return by >= 0 ? &t->thread[by] : NULL;
}

uint64_t thread_clock(const struct thread *th, uint64_t time)
{
    const struct stretch *s = stretch_at(th, time);
    uint64_t own = time;

    if (s) {
        own = s->count + ((time < s->end ? time : s->end) - s->time);
        own = own < s->count ? UINT64_MAX : own;
    } else if (th->stretches) {
        /* before its first switch: it can only have been on its way to it */
        own = th->stretch[0].time - time;
        own = th->stretch[0].count > own ? th->stretch[0].count - own : 0;
    }
    /* a larger clock is damage, and sums of clocks must not overflow */
    return own < (uint64_t)1 << 61 ? own : (uint64_t)1 << 61;
}

/* ---- reading ---- */

static void take_switches(struct threads *t, const struct input *input, const struct cf_frame *f)
{
    const uint64_t *time = cf_u64(f, CF_TIME), *count = cf_u64(f, CF_COUNT);
    const uint32_t *pid = cf_u32(f, CF_PID), *tid = cf_u32(f, CF_TID), *cpu = cf_u32(f, CF_CPU);

    for (uint32_t i = 0; i < f->rows; i++) {
        struct thread *th = thread_of(t, input, pid[i], tid[i], time[i]);
        uint64_t *on = place(t, t->cpu_at, input, cpu ? cpu[i] : 0, 0);
        struct process *p = th->process;
        uint64_t when = time[i];

        /* in the order of time even where the input is not, so that they can be searched */
        if (p->runs && p->running[p->runs - 1].time > when)
            when = p->running[p->runs - 1].time;
        merge_room(t->merge, &th->stretch, &th->stretch_room, th->stretches + 1,
                   sizeof(*th->stretch));
        /* unless it went on elsewhere */
        if (*on && t->thread[*on - 1].cpu == (cpu ? cpu[i] : 0)) {
            const struct thread *before = &t->thread[*on - 1];

            before->stretch[before->stretches - 1].end = when;
        }
        *on = th->index + 1;
        th->cpu = cpu ? cpu[i] : 0;
        th->stretch[th->stretches++] = (struct stretch){when, count[i], UINT64_MAX};
        merge_room(t->merge, &p->running, &p->run_room, p->runs + 1, sizeof(*p->running));
        p->running[p->runs++] = (struct running){when, th->index};
    }
}

static void take_tasks(struct threads *t, const struct input *input, const struct cf_frame *f)
{
    const uint64_t *time = cf_u64(f, CF_TIME);
    const uint32_t *pid = cf_u32(f, CF_PID), *tid = cf_u32(f, CF_TID);
    const uint32_t *parent = cf_u32(f, CF_PARENT);
    const uint8_t *op = cf_u8(f, CF_OP);

    for (uint32_t i = 0; time && pid && i < f->rows; i++) {
        struct process *p = process_of(t, input, pid[i]);

        if (parent && parent[i] && op && op[i] == CF_BEGIN && !p->parent)
            p->parent = parent[i];
        if (tid && tid[i] && op && op[i] == CF_BEGIN)
            thread_of(t, input, pid[i], tid[i], time[i]);
    }
}

static void take_accesses(struct threads *t, const struct input *input, const struct cf_frame *f)
{
    const uint32_t *pid = cf_u32(f, CF_PID), *tid = cf_u32(f, CF_TID);
    const uint64_t *time = cf_u64(f, CF_TIME);
    struct thread *th;

    for (uint32_t i = 0; i < f->rows; i++) {
        if (i && pid[i] == pid[i - 1] && tid[i] == tid[i - 1])
            continue;
        th = thread_of(t, input, pid[i], tid[i], time[i]);
        th->first = f->first < th->first ? f->first : th->first;
        th->last = f->last > th->last ? f->last : th->last;
    }
}

static void take_frame(struct threads *t, struct source *s, const struct cf_frame *f)
{
    const struct input *input = s->input;
    const uint32_t *pid = cf_u32(f, CF_PID);

    switch (f->table) {
    case CF_SWITCH:
        take_switches(t, input, f);
        break;
    case CF_TASK:
        take_tasks(t, input, f);
        break;
    case CF_ACCESS:
        take_accesses(t, input, f);
        break;
    case CF_STACK:
        /* without a time, it must be there before what refers to it */
        source_pass(s, f);
        break;
    case CF_MAP:
    case CF_OBJECT:
        for (uint32_t i = 0; pid && i < f->rows; i++)
            if (i == 0 || pid[i] != pid[i - 1])
                process_of(t, input, pid[i]);
        break;
    case CF_SNAPSHOT:
    case CF_LINE:
    case CF_UNPLACED:
    case CF_BUS:
        source_leave_out(s, f->table, "thread");
    }
}

static void read_input(struct threads *t, struct source *s, const struct input *input)
{
    static const struct {
        uint16_t table, column, need;
    } want[] = {
        {CF_ACCESS, CF_TIME, 1},   {CF_ACCESS, CF_PID, 1},     {CF_ACCESS, CF_TID, 1},
        {CF_TASK, CF_TIME, 0},     {CF_TASK, CF_PID, 0},       {CF_TASK, CF_TID, 0},
        {CF_TASK, CF_OP, 0},       {CF_TASK, CF_PARENT, 0},    {CF_SWITCH, CF_TIME, 1},
        {CF_SWITCH, CF_PID, 1},    {CF_SWITCH, CF_TID, 1},     {CF_SWITCH, CF_COUNT, 1},
        {CF_SWITCH, CF_CPU, 0},    {CF_STACK, CF_PID, 0},      {CF_STACK, CF_STACK_ID, 0},
        {CF_STACK, CF_PARENT, 0},  {CF_STACK, CF_PC, 0},       {CF_MAP, CF_PID, 0},
        {CF_OBJECT, CF_PID, 0},    {CF_STACK, CF_FUNCTION, 0}, {CF_STACK, CF_SOURCE, 0},
        {CF_STACK, CF_INLINED, 0},
    };
    struct merge *m = t->merge;
    uint64_t accesses = 0, switches = 0;
    struct cf_frame *f;

    source_open(s, m, input, 0, UINT64_MAX);
    for (unsigned i = 0; i < sizeof(want) / sizeof(want[0]); i++)
        cf_reader_want(s->reader, want[i].table, want[i].column, want[i].need);
    while (source_next(s, &f)) {
        cf_tool_progress(&m->tool, s->reader);
        accesses += f->table == CF_ACCESS ? f->rows : 0;
        switches += f->table == CF_SWITCH ? f->rows : 0;
        source_check_clash(s, f);
        take_frame(t, s, f);
    }
    source_warn(s);
    t->accesses += accesses;
    if (!output_needs(m->out, s->reader))
        source_close(s);
    if (accesses && !switches)
        cf_fail(&m->tool, CF_EXIT_INPUT,
                "%s: there is no table switch, so the instructions of each thread are not known: "
                "its threads keep their times (cf-capture trace records it)",
                input->name);
}

/* ---- births ---- */

static int by_birth(const void *a, const void *b)
{
    const struct thread *x = a, *y = b;

    return cf_order(x->born, y->born) ?: cf_order(x->index, y->index);
}

static int by_own(const void *a, const void *b)
{
    const struct child *x = a, *y = b;

    return cf_order(x->own, y->own) ?: cf_order(x->thread, y->thread);
}

/* Numbers the threads in the order of their birth. */
static void sort_threads(struct threads *t)
{
    unsigned *moved;

    if (!t->count)
        return;
    moved = merge_alloc(t->merge, t->count, sizeof(*moved));
    qsort(t->thread, t->count, sizeof(*t->thread), by_birth);
    for (unsigned i = 0; i < t->count; i++) {
        struct thread *th = &t->thread[i];

        moved[th->index] = i;
        th->index = i;
        *place(t, t->thread_at, th->input, th->pid, th->tid) = i + 1;
    }
    for (size_t i = 0; i < t->processes; i++) {
        struct process *p = t->process[i];

        p->first_thread = p->first_thread < 0 ? -1 : (int)moved[p->first_thread];
        for (size_t k = 0; k < p->runs; k++)
            p->running[k].thread = moved[p->running[k].thread];
    }
    free(moved);
}

/* The thread that ran in the process until `th` was born, for it may have made way for another at
   that very moment, and the one that ran in the parent where it was the same; -1 where there
   is none. A creator is always older, so that no thread is its own ancestor. */
static int creator_of(const struct threads *t, const struct thread *th)
{
    const struct process *p = th->process;

    for (int parent = 0; parent < 2; parent++) {
        const int by = running(t, p, th->born ? th->born - 1 : 0, th->index);
        uint64_t at;

        if (by >= 0)
            return by;
        at = p->parent
                 ? cf_counts_get(t->process_at, (uint64_t)th->input->number << 32 | p->parent, 0)
                 : 0;
        if (!at || t->process[at - 1] == p)
            break;
        p = t->process[at - 1];
    }
    return -1;
}

struct threads *threads_find(struct merge *m)
{
    struct threads *t = cf_tool_room(&m->tool, 1, sizeof(*t));

    t->merge = m;
    t->thread_at = cf_need(&m->tool, cf_counts_new());
    t->process_at = cf_need(&m->tool, cf_counts_new());
    t->cpu_at = cf_need(&m->tool, cf_counts_new());
    t->source = cf_tool_room(&m->tool, m->inputs, sizeof(*t->source));
    for (unsigned i = 0; i < m->inputs; i++)
        read_input(t, &t->source[i], &m->input[i]);
    /* a process of which only mappings are known has done that by some thread */
    for (size_t i = 0; i < t->processes; i++)
        if (t->process[i]->first_thread < 0)
            thread_of(t, t->process[i]->input, t->process[i]->pid, t->process[i]->pid, 0);
    sort_threads(t);
    for (unsigned i = 0; i < t->count; i++) {
        struct thread *th = &t->thread[i], *by;

        th->passes = !m->input[th->input->number].passed;
        m->input[th->input->number].passed = 1;
        th->creator = creator_of(t, th);
        if (th->creator < 0)
            continue;
        by = &t->thread[th->creator];
        merge_room(m, &by->child, &by->child_room, by->children + 1, sizeof(*by->child));
        by->child[by->children++] = (struct child){thread_clock(by, th->born), i};
    }
    for (unsigned i = 0; i < t->count; i++)
        if (t->thread[i].children)
            qsort(t->thread[i].child, t->thread[i].children, sizeof(struct child), by_own);
    return t;
}

void threads_free(struct threads *t)
{
    for (size_t i = 0; i < t->count; i++) {
        free(t->thread[i].stretch);
        free(t->thread[i].child);
    }
    for (size_t i = 0; i < t->processes; i++)
        free(t->process[i]->running);
    for (unsigned i = 0; i < t->merge->inputs; i++)
        if (t->source[i].reader)
            source_close(&t->source[i]);
    cf_counts_free(t->thread_at);
    cf_counts_free(t->process_at);
    cf_counts_free(t->cpu_at);
    free(t->thread);
    free(t->process);
}
