/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * watch_threads.c - the processes and threads that are traced.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>

#include "capture/base/cf_command.h"
#include "capture/watch/watch_parts.h"
#include "formats/base/cf_hash.h"

struct process *cf_watch_find_process(struct cf_watch *w, pid_t pid)
{
    for (size_t i = 0; i < w->processes; i++)
        if (w->process[i].pid == pid)
            return &w->process[i];
    return NULL;
}

struct thread *cf_watch_find_thread(struct cf_watch *w, pid_t tid)
{
    for (size_t i = 0; i < w->threads; i++)
        if (w->thread[i].tid == tid)
            return &w->thread[i];
    return NULL;
}

uint64_t cf_watch_program(pid_t pid)
{
    static const char table;
    const struct cf_seed seed = cf_seed(&table);
    uint64_t key = 0, word;
    char path[64];
    FILE *f;

    snprintf(path, sizeof path, "/proc/%d/auxv", pid);
    f = fopen(path, "re");
    while (f && fread(&word, sizeof word, 1, f) == 1)
        key = cf_hash(seed, key, word);
    if (f)
        fclose(f);
    return key;
}

/* Whose memory a new process has: its parent's, unless the one that made it is gone by now, or gave
   it another parent (CLONE_PARENT). Then any process of the same program has the same traps. */
static const struct process *origin(struct cf_watch *w, uint64_t program, pid_t parent)
{
    const struct process *from = cf_watch_find_process(w, parent);

    if (!program || (from && from->program == program))
        return from;
    for (size_t i = 0; i < w->processes; i++)
        if (w->process[i].program == program)
            return &w->process[i];
    for (unsigned i = 0; i < ENDED_KEPT; i++)
        if (w->ended[i].program == program)
            return &w->ended[i];
    return NULL;
}

static void add_process(struct cf_watch *w, pid_t pid, pid_t parent)
{
    const struct process *from;
    struct process *p;

    if (cf_watch_find_process(w, pid))
        return;
    if (w->processes == w->process_room) {
        w->process_room = w->process_room ? 2 * w->process_room : 8;
        w->process = cf_need(w->tool, realloc(w->process, w->process_room * sizeof *w->process));
    }
    from = origin(w, cf_watch_program(pid), parent);
    p = &w->process[w->processes++];
    *p = from ? *from : (struct process){0};
    p->pid = pid;
}

struct thread *cf_watch_add_thread(struct cf_watch *w, pid_t tid)
{
    struct thread *t = cf_watch_find_thread(w, tid);
    struct cf_process is;

    if (t)
        return t;
    is = cf_process_look(tid);
    if (!is.pid) /* it is gone */
        is.pid = tid;
    add_process(w, is.pid, is.parent);
    if (w->threads == w->thread_room) {
        w->thread_room = w->thread_room ? 2 * w->thread_room : 16;
        w->thread = cf_need(w->tool, realloc(w->thread, w->thread_room * sizeof *w->thread));
    }
    t = &w->thread[w->threads++];
    *t = (struct thread){.tid = tid, .pid = is.pid, .fresh = 1};
    return t;
}

void cf_watch_add_born(struct cf_watch *w, pid_t tid)
{
    unsigned long born;

    /* a zombie whose end we know is not traced */
    if (ptrace(PTRACE_GETEVENTMSG, tid, NULL, &born) == 0 && cf_process_look((pid_t)born).tracer)
        (void)cf_watch_add_thread(w, (pid_t)born);
}

void cf_watch_drop_thread(struct cf_watch *w, pid_t tid)
{
    struct thread *t = cf_watch_find_thread(w, tid);
    pid_t pid;
    size_t left = 0;

    if (!t)
        return;
    pid = t->pid;
    *t = w->thread[--w->threads];
    for (size_t i = 0; i < w->threads; i++)
        left += w->thread[i].pid == pid;
    for (size_t i = 0; !left && i < w->processes; i++)
        if (w->process[i].pid == pid) {
            w->ended[w->ends++ % ENDED_KEPT] = w->process[i];
            w->process[i] = w->process[--w->processes];
            break;
        }
}
