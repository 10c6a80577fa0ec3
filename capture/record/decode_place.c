/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * decode_place.c - what is written: places for accesses, stretches of them, rows that wait for
 * their turn, and the thread that runs.
 */
#include <string.h>

#include "decode_parts.h"

struct cf_rows_thread cf_decode_running(struct cf_decode *t)
{
    struct cf_decode_process *p = t->current;
    struct cf_rows_thread thread = {.calls = &t->calls};

    if (t->options.calls && p && p->running != CF_DECODE_NO_THREAD) {
        thread.thread = &p->threads[p->running].calls;
        thread.image = p->image;
    }
    return thread;
}

/* The id of the running thread's context. */
static uint32_t context_now(struct cf_decode *t)
{
    const struct cf_rows_thread thread = cf_decode_running(t);

    return thread.thread ? cf_calls_now(thread.calls, thread.thread) : 0;
}

/* ---- what is left out ---- */

int cf_decode_is_left_out(const struct cf_decode_left_out *l, uint64_t addr)
{
    for (unsigned i = 0; i < l->ranges; i++)
        if (addr - l->start[i] < l->end[i] - l->start[i])
            return 1;
    return 0;
}

void cf_decode_leave_out(struct cf_decode *t, uint64_t start, uint64_t end, int out)
{
    struct cf_decode_left_out *l = &t->current->left_out, old = *l;

    l->ranges = 0;
    for (unsigned i = 0; i < old.ranges; i++) {
        const uint64_t parts[][2] = {{old.start[i], old.end[i] < start ? old.end[i] : start},
                                     {old.start[i] > end ? old.start[i] : end, old.end[i]}};

        for (unsigned k = 0; k < 2; k++)
            if (parts[k][0] < parts[k][1] && l->ranges < CF_DECODE_LEFT_OUT) {
                l->start[l->ranges] = parts[k][0];
                l->end[l->ranges++] = parts[k][1];
            }
    }
    if (out && l->ranges < CF_DECODE_LEFT_OUT) {
        l->start[l->ranges] = start;
        l->end[l->ranges++] = end;
    }
    if (memcmp(l, &old, sizeof(old)) != 0) /* what comes is looked through anew */
        (void)cf_decode_called(t, cf_writer_stretched(t->writer));
}

/* Takes the rows of accesses to what is left out away; how many stay. Most places have none: so all
   addresses are first looked at in a way that compilers make vectors of: bit 63 stays set where all
   are before the first range or after the last. */
static uint32_t rows_kept(const struct cf_rows_output *out, const struct cf_decode_left_out *l)
{
    const struct cf_rows_columns *c = &out->columns;
    enum { BLOCK = 64 };
    uint64_t low = UINT64_MAX, high = 0, outside = UINT64_MAX;
    uint32_t kept = 0, at = 0;

    for (unsigned i = 0; i < l->ranges; i++) {
        low = l->start[i] < low ? l->start[i] : low;
        high = l->end[i] > high ? l->end[i] : high;
    }
    for (; high && at + BLOCK <= out->rows; at += BLOCK) {
        const uint64_t *const addr = c->addr + at;
        uint64_t inside = 0;

        for (unsigned i = 0; i < BLOCK; i++)
            inside |= ~((addr[i] - low) | (high - 1 - addr[i]));
        outside &= ~inside;
    }
    for (; high && at < out->rows; at++)
        outside &= (c->addr[at] - low) | (high - 1 - c->addr[at]);
    if (outside >> 63)
        return out->rows;
    for (uint32_t i = 0; i < out->rows; i++) {
        if (cf_decode_is_left_out(l, c->addr[i]))
            continue;
        c->time[kept] = c->time[i];
        c->addr[kept] = c->addr[i];
        c->hint[kept] = c->hint[i];
        if (out->stack)
            out->stack[kept] = out->stack[i];
        kept++;
    }
    return kept;
}

/* The accesses so far are written; what comes next gets a place of its own. */
static int close_place(struct cf_decode *t)
{
    int open = t->out.room > 0;
    uint32_t rows;

    if (t->stretches)
        t->total += t->stretches->rows - t->counted;
    t->stretches = NULL;

    cf_rows_stack(&t->out, context_now(t));
    rows = open ? rows_kept(&t->out, t->left_out) : 0;
    t->out.rows = t->out.room = t->out.stacked = 0;
    t->out.stack = NULL;
    if (!open || t->stopped)
        return t->stopped ? -1 : 0;
    t->total += rows;
    if (cf_decode_called(t, cf_writer_placed(t->writer, CF_ACCESS, rows)) != 0)
        return -1;
    if (t->options.limit && t->total >= t->options.limit)
        t->stopping = 1;
    return 0;
}

static int put_rows(struct cf_decode *t, unsigned table, uint32_t rows, const struct cf_values *v,
                    unsigned columns)
{
    return rows ? cf_decode_called(t, cf_writer_rows(t->writer, table, rows, v, columns, NULL)) : 0;
}

/* The contexts of calls that are not written yet. */
static int put_nodes(struct cf_decode *t)
{
    enum { AT_ONCE = 256 };
    struct cf_calls *c = &t->calls;
    uint32_t pid[AT_ONCE], id[AT_ONCE], parent[AT_ONCE], n;
    uint64_t pc[AT_ONCE];
    const struct cf_values v[] = {
        {CF_PID, pid, 0}, {CF_STACK_ID, id, 0}, {CF_PARENT, parent, 0}, {CF_PC, pc, 0}};

    while (c->written < c->nodes) {
        for (n = 0; n < AT_ONCE && c->written < c->nodes; n++, c->written++) {
            const struct cf_calls_node *node = &c->node[c->written];

            pid[n] = c->image[node->image].pid;
            id[n] = node->id;
            parent[n] = c->node[node->parent].id;
            pc[n] = node->pc;
        }
        if (put_rows(t, CF_STACK, n, v, 4) != 0)
            return -1;
    }
    return 0;
}

int cf_decode_flush(struct cf_decode *t)
{
    const struct cf_values contexts[] = {{CF_PID, t->context_pid, 0},
                                         {CF_STACK_ID, t->context_id, 0},
                                         {CF_PARENT, t->context_parent, 0},
                                         {CF_PC, t->context_pc, 0}};
    const struct cf_values objects[] = {
        {CF_TIME, t->object_time, 0},     {CF_PID, NULL, t->objects_pid},
        {CF_TID, t->object_tid, 0},       {CF_OP, t->object_op, 0},
        {CF_ADDR, t->object_addr, 0},     {CF_BYTES, t->object_bytes, 0},
        {CF_STACK_ID, t->object_stack, 0}};
    uint32_t n_contexts = t->n_contexts, n_objects = t->n_objects;

    if (close_place(t) != 0)
        return -1;
    t->n_contexts = t->n_objects = 0;
    return put_rows(t, CF_STACK, n_contexts, contexts, 4) != 0 || put_nodes(t) != 0 ||
                   put_rows(t, CF_OBJECT, n_objects, objects, 7) != 0
               ? -1
               : 0;
}

/* The columns of the running thread's accesses that are the same for all of them or depend on their
   kind; how many. */
enum { SAME_COLUMNS = 7 };

static unsigned same_columns(const struct cf_decode *t, struct cf_values *same)
{
    const struct cf_decode_process *p = t->current;
    const struct cf_decode_thread none = {.tid = p->pid}, *th = p->running == CF_DECODE_NO_THREAD
                                                                    ? &none
                                                                    : &p->threads[p->running];
    unsigned n = 0;

    same[n++] = (struct cf_values){CF_PID, NULL, p->pid};
    same[n++] = (struct cf_values){CF_TID, NULL, th->tid};
    same[n++] = (struct cf_values){CF_OP, CF_BY_KIND, 0};
    same[n++] = (struct cf_values){CF_SIZE, CF_BY_KIND, 0};
    same[n++] = (struct cf_values){CF_PC, CF_BY_KIND, 0};
    if (t->options.instructions)
        same[n++] = (struct cf_values){CF_INSNS, CF_BY_KIND, 0};
    if (t->options.processors)
        same[n++] = (struct cf_values){CF_CPU, NULL, th->cpu};
    return n;
}

static int open_place(struct cf_decode *t)
{
    struct cf_values same[SAME_COLUMNS];
    struct cf_place places[] = {{CF_TIME, NULL}, {CF_ADDR, NULL}, {CF_STACK_ID, NULL}};
    uint32_t rows = 0, *hint;

    if (cf_decode_called(t, cf_writer_place(t->writer, CF_ACCESS, same, same_columns(t, same),
                                            places, t->options.calls ? 3 : 2, &hint, &rows)) != 0)
        return -1;
    if (t->options.limit && rows > t->options.limit - t->total)
        rows = (uint32_t)(t->options.limit - t->total);
    t->left_out = &t->current->left_out;
    t->out = (struct cf_rows_output){
        {places[0].values, places[1].values, hint}, 0, rows, places[2].values, 0};
    return 0;
}

/* ---- stretches ---- */

struct cf_stretches *cf_decode_stretches(struct cf_decode *t)
{
    const struct cf_decode_left_out *l = &t->current->left_out;
    struct cf_values same[SAME_COLUMNS];
    uint64_t low = UINT64_MAX, high = 0;

    if (t->stretches || t->out.room || t->options.calls || t->options.limit ||
        t->current->code.listed)
        return t->stretches;
    if (t->n_objects && cf_decode_flush(t) != 0) /* what came before may go out now */
        return NULL;
    t->stretches = cf_writer_stretches(t->writer, same, same_columns(t, same));
    if (!t->stretches)
        return NULL;
    for (unsigned i = 0; i < l->ranges; i++) {
        low = l->start[i] < low ? l->start[i] : low;
        high = l->end[i] > high ? l->end[i] : high;
    }
    t->stretches->low = high ? low : 0;
    t->stretches->high = high;
    t->stretched = *t->stretches;
    t->counted = t->stretches->rows;
    return t->stretches;
}

int cf_decode_stretches_full(struct cf_decode *t)
{
    return cf_decode_flush(t) != 0 ? -1 : cf_decode_called(t, cf_writer_stretched(t->writer));
}

/* Rows to stretches, one by one, without what is left out. */
static int put_stretches(struct cf_decode *t, const uint64_t *time, const uint64_t *addr,
                         const uint32_t *hint, uint32_t rows)
{
    for (uint32_t i = 0; i < rows; i++) {
        if (cf_decode_is_left_out(&t->current->left_out, addr[i]))
            continue;
        if (cf_stretches_row(t->stretches, time[i], addr[i], hint[i]) == 0)
            continue;
        if (cf_decode_stretches_full(t) != 0 || !cf_decode_stretches(t) ||
            cf_stretches_row(t->stretches, time[i], addr[i], hint[i]) != 0)
            return cf_decode_called(t, -1);
    }
    t->stretched = *t->stretches;
    return 0;
}

int cf_decode_gathered(struct cf_decode *t)
{
    const uint64_t *time, *addr;
    const uint32_t *hint;
    uint32_t rows;

    if (!t->stretches->high || !cf_stretches_reach(t->stretches, &t->stretched)) {
        t->stretched = *t->stretches;
        return 0;
    }
    rows = cf_stretches_back(t->stretches, &t->stretched, &time, &addr, &hint);
    return put_stretches(t, time, addr, hint, rows);
}

int cf_decode_put_staged(struct cf_decode *t, uint32_t staged)
{
    const struct cf_rows_columns *s = &t->rows.staging;
    const uint32_t context = context_now(t); /* after them, perhaps */
    uint32_t done = 0;

    if (!staged || t->stopping)
        return 0;
    /* A full place may go on its way at once: what was kept back must go before it. */
    if (!t->stretches && staged >= t->out.room - t->out.rows &&
        (t->n_objects || t->n_contexts || t->calls.written < t->calls.nodes) &&
        cf_decode_flush(t) != 0)
        return -1;
    while (done < staged) {
        const struct cf_rows_columns *c = &t->out.columns;
        uint32_t row = t->out.rows, n;

        if (t->stopping)
            return 0;
        if (t->out.room == 0) { /* from here on, too, those of a long turn may go as stretches */
            if (cf_decode_stretches(t))
                return put_stretches(t, s->time + done, s->addr + done, s->hint + done,
                                     staged - done);
            if (open_place(t) != 0)
                return -1;
            continue;
        }
        n = staged - done < t->out.room - row ? staged - done : t->out.room - row;
        memcpy(c->time + row, s->time + done, n * sizeof(*c->time));
        memcpy(c->addr + row, s->addr + done, n * sizeof(*c->addr));
        memcpy(c->hint + row, s->hint + done, n * sizeof(*c->hint));
        cf_rows_stack(&t->out, context);
        t->out.rows += n;
        cf_rows_stack(&t->out, t->rows.context);
        done += n;
        if (t->out.rows == t->out.room && close_place(t) != 0)
            return -1;
    }
    return 0;
}

int cf_decode_end_repeat(struct cf_decode *t)
{
    uint32_t staged = 0;

    if (!t->current || !t->current->code.repeat.pc)
        return 0;
    t->rows.context = context_now(t);
    if (cf_rows_repeat_end(&t->rows, &t->current->code, &staged) == CF_ROWS_MEMORY)
        return cf_decode_no_memory(t);
    return cf_decode_put_staged(t, staged);
}

/* Threads. */

int cf_decode_leave(struct cf_decode *t, const struct cf_decode_process *p)
{
    if (t->current != p)
        return 0;
    if (!t->stopped && cf_decode_end_repeat(t) != 0)
        return -1;
    cf_decode_pause(t);
    t->current = NULL;
    return close_place(t);
}

void cf_decode_pause(struct cf_decode *t)
{
    if (t->current && t->current->running != CF_DECODE_NO_THREAD)
        t->current->threads[t->current->running].count += t->time - t->run_from;
    t->run_from = t->time;
    cf_rows_stack(&t->out, context_now(t));
}

/* The current process's running thread runs from now on. */
int cf_decode_resume(struct cf_decode *t)
{
    struct cf_decode_process *p = t->current;
    struct cf_decode_thread *th;

    t->run_from = t->time;
    if (p->running == CF_DECODE_NO_THREAD)
        return close_place(t);
    th = &p->threads[p->running];
    if (close_place(t) != 0)
        return -1;
    const struct cf_values v[] = {{CF_TIME, NULL, t->time},
                                  {CF_PID, NULL, p->pid},
                                  {CF_TID, NULL, th->tid},
                                  {CF_CPU, NULL, th->cpu},
                                  {CF_COUNT, NULL, th->count}};

    return put_rows(t, CF_SWITCH, 1, v, 5);
}

int cf_decode_task(struct cf_decode *t, const struct cf_decode_process *p, uint32_t tid,
                   unsigned op, const char *name)
{
    struct cf_values v[] = {
        {CF_TIME, NULL, t->time}, {CF_PID, NULL, p->pid},
        {CF_TID, NULL, tid},      {CF_PARENT, NULL, tid == p->pid ? p->parent : 0},
        {CF_OP, NULL, op},        {CF_LABEL, NULL, 0}};

    if (cf_decode_flush(t) != 0)
        return -1;
    v[5].constant = cf_writer_string(t->writer, name);
    return put_rows(t, CF_TASK, 1, v, 6);
}

int cf_decode_map(struct cf_decode *t, uint32_t pid, const struct cf_wire_map *map,
                  const char *name)
{
    const struct cf_values v[] = {
        {CF_TIME, NULL, t->time},
        {CF_PID, NULL, pid},
        {CF_OP, NULL, map->header.type == CF_WIRE_UNMAP ? CF_UNMAPPED : CF_MAPPED},
        {CF_START, NULL, map->start},
        {CF_STOP, NULL, map->end},
        {CF_OFFSET, NULL, map->offset},
        {CF_PERMS, NULL, map->perms & 15},
        {CF_LABEL, NULL, cf_writer_string(t->writer, name)},
        {CF_BUILD, NULL,
         cf_writer_string(t->writer, cf_builds_find(&t->builds, name, map->device, map->inode))}};

    return put_rows(t, CF_MAP, 1, v, 9);
}
