/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tasks.c - processes and threads. See tasks.h.
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "capture/alloc/alloc.h"
#include "capture/perf/tasks/mappings.h"
#include "capture/perf/tasks/tasks.h"
#include "formats/base/cf_memory.h"

struct process {
    uint32_t pid, parent;
    char name[16];
    uint32_t *tid; /* its threads */
    size_t tids, tid_room;
    struct cf_mappings mapped;
    int begins; /* it runs a program of which nothing is mapped yet */
    enum cf_tasks_lack lacks;
};

struct cf_tasks {
    struct cf_map_rows maps;
    uint64_t start_ns;
    struct process *process;
    size_t count, room;
    int (*program)(void *arg, const char *program, int ended);
    void *arg;
    const char *library; /* or NULL */
    uint64_t lacking[CF_TASKS_LACKS];
};

struct cf_tasks *cf_tasks_new(struct cf_writer *w, uint64_t start_ns)
{
    struct cf_tasks *t = calloc(1, sizeof *t);

    if (t)
        *t = (struct cf_tasks){.maps = {.out = w}, .start_ns = start_ns};
    return t;
}

void cf_tasks_free(struct cf_tasks *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->count; i++) {
        cf_mappings_clear(&t->process[i].mapped);
        free(t->process[i].tid);
    }
    free(t->process);
    free(t);
}

static struct process *find(const struct cf_tasks *t, uint32_t pid)
{
    for (size_t i = 0; i < t->count; i++)
        if (t->process[i].pid == pid)
            return &t->process[i];
    return NULL;
}

/* 1 where it is known: it began while its process was attached. */
static int add_thread(struct process *p, uint32_t tid)
{
    for (size_t i = 0; i < p->tids; i++)
        if (p->tid[i] == tid)
            return 1;
    if (cf_array_room(&p->tid, &p->tid_room, p->tids + 1, sizeof *p->tid) != 0)
        return -1;
    p->tid[p->tids++] = tid;
    return 0;
}

static void remove_thread(struct process *p, uint32_t tid)
{
    for (size_t i = 0; p && i < p->tids; i++)
        if (p->tid[i] == tid)
            p->tid[i] = p->tid[--p->tids];
}

static struct process *add_process(struct cf_tasks *t, uint32_t pid, uint32_t parent,
                                   const char *name)
{
    struct process *p = find(t, pid);

    if (!p) {
        if (cf_array_cleared(&t->process, &t->room, t->count + 1, sizeof *p) != 0)
            return NULL;
        p = &t->process[t->count++];
    }
    cf_mappings_clear(&p->mapped);
    p->pid = pid;
    p->parent = parent;
    p->tids = 0;
    p->begins = 0;
    p->lacks = CF_TASKS_NOTHING;
    snprintf(p->name, sizeof p->name, "%s", name);
    return add_thread(p, pid) == 0 ? p : NULL;
}

static int task_row(struct cf_tasks *t, uint64_t time, uint32_t pid, uint32_t tid, uint32_t parent,
                    enum cf_op op, const char *name)
{
    const struct cf_values v[] = {
        {CF_TIME, NULL, time}, {CF_PID, NULL, pid},
        {CF_TID, NULL, tid},   {CF_PARENT, NULL, parent},
        {CF_OP, NULL, op},     {CF_LABEL, NULL, cf_writer_string(t->maps.out, name)}};

    return cf_writer_rows(t->maps.out, CF_TASK, 1, v, 6, NULL);
}

/* ---- processes that run already ---- */

static int attach_threads(struct cf_tasks *t, struct process *p)
{
    const struct dirent *e;
    char path[64];
    int status = 0;
    DIR *d;

    snprintf(path, sizeof path, "/proc/%u/task", p->pid);
    d = opendir(path);
    while (d && status == 0 && (e = readdir(d)) != NULL) {
        const uint32_t tid = (uint32_t)strtoul(e->d_name, NULL, 10);

        if (tid && tid != p->pid &&
            (add_thread(p, tid) != 0 || task_row(t, 0, p->pid, tid, 0, CF_BEGIN, "") != 0))
            status = -1;
    }
    if (d)
        closedir(d);
    return status;
}

int cf_tasks_attach(struct cf_tasks *t, uint32_t pid)
{
    char path[64], name[17];
    size_t length = 0;
    struct process *p;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%u/comm", pid);
    f = fopen(path, "r");
    if (f) {
        length = fread(name, 1, sizeof name - 1, f);
        fclose(f);
    }
    name[length - (length > 0)] = '\0'; /* the newline that the kernel adds */
    p = add_process(t, pid, 0, name);
    if (!p || task_row(t, 0, pid, pid, 0, CF_BEGIN, name) != 0 || attach_threads(t, p) != 0)
        return -1;
    return cf_mappings_attach(&p->mapped, &t->maps, pid);
}

/* ---- records ---- */

/* pid tid addr len pgoff maj min ino ino_generation prot flags filename */
static int mapped(struct cf_tasks *t, uint64_t time, const struct cf_record *r)
{
    const uint8_t *b = r->body;
    struct process *p;
    struct cf_maps_line m;
    uint32_t prot;

    if (r->length < 65 || !memchr(b + 64, '\0', r->length - 64))
        return 0;
    p = find(t, cf_record_half(b));
    if (!p)
        p = add_process(t, cf_record_half(b), 0, "");
    if (!p)
        return -1;
    prot = cf_record_half(b + 56);
    m = (struct cf_maps_line){
        .start = cf_record_word(b + 8),
        .end = cf_record_word(b + 8) + cf_record_word(b + 16),
        .offset = cf_record_word(b + 24),
        .perms =
            (uint8_t)((prot & PROT_READ ? CF_PERM_R : 0) | (prot & PROT_WRITE ? CF_PERM_W : 0) |
                      (prot & PROT_EXEC ? CF_PERM_X : 0) |
                      (cf_record_half(b + 60) & MAP_SHARED ? CF_PERM_SHARED : 0)),
        .device = makedev(cf_record_half(b + 32), cf_record_half(b + 36)),
        .inode = cf_record_word(b + 40),
        .name = (char *)b + 64};
    if (m.name[0] != '/' || m.name[1] == '/') {
        m.offset = 0; /* of what is no file the kernel states the address here */
    } else if (p->begins) {
        p->begins = 0;
        p->lacks = t->program && t->program(t->arg, m.name, 0) && t->library;
    } else if (p->lacks == CF_TASKS_LIBRARY && strcmp(m.name, t->library) == 0) {
        p->lacks = CF_TASKS_MEMORY;
    } else if (p->lacks && cf_alloc_is_memory(m.name, m.end - m.start)) {
        p->lacks = CF_TASKS_NOTHING;
    }
    return cf_mappings_add(&p->mapped, &t->maps, time, p->pid, &m);
}

static int named(struct cf_tasks *t, uint64_t time, const struct cf_record *r)
{
    const uint8_t *b = r->body;
    const uint32_t pid = r->length > 8 ? cf_record_half(b) : 0,
                   tid = r->length > 8 ? cf_record_half(b + 4) : 0;
    struct process *p;

    if (r->length < 9 || !memchr(b + 8, '\0', r->length - 8))
        return 0;
    p = find(t, pid);
    if (r->misc & PERF_RECORD_MISC_COMM_EXEC) {
        if (p && cf_mappings_rows(&p->mapped, &t->maps, time, pid, CF_UNMAPPED) != 0)
            return -1;
        t->lacking[p ? p->lacks : 0]++;
        p = add_process(t, pid, p ? p->parent : 0, (const char *)b + 8);
        if (!p)
            return -1;
        p->begins = 1;
        return task_row(t, time, pid, pid, p->parent, CF_BEGIN, p->name);
    }
    if (p && pid == tid)
        snprintf(p->name, sizeof p->name, "%s", (const char *)b + 8);
    return task_row(t, time, pid, tid, 0, CF_NAMED, (const char *)b + 8);
}

/* pid ppid tid ptid time */
static int forked(struct cf_tasks *t, uint64_t time, const struct cf_record *r)
{
    const uint8_t *b = r->body;
    struct process *from, *p;
    int status;

    if (r->length < 24)
        return 0;
    if (cf_record_half(b) == cf_record_half(b + 4)) { /* a thread */
        from = find(t, cf_record_half(b));
        status = from ? add_thread(from, cf_record_half(b + 8)) : 0;
        if (status)
            return status < 0 ? -1 : 0;
        return task_row(t, time, cf_record_half(b), cf_record_half(b + 8), 0, CF_BEGIN, "");
    }
    p = add_process(t, cf_record_half(b), cf_record_half(b + 4), "");
    from = find(t, cf_record_half(b + 4)); /* which has moved, perhaps */
    if (!p)
        return -1;
    snprintf(p->name, sizeof p->name, "%s", from ? from->name : "");
    if (from && cf_mappings_copy(&p->mapped, &from->mapped) != 0)
        return -1;
    return task_row(t, time, p->pid, p->pid, p->parent, CF_BEGIN, p->name);
}

static int ended(struct cf_tasks *t, uint64_t time, const struct cf_record *r)
{
    const uint8_t *b = r->body;
    struct process *p;

    if (r->length < 24)
        return 0;
    p = find(t, cf_record_half(b));
    if (p && p->begins && t->program)
        t->program(t->arg, p->name, 1);
    remove_thread(p, cf_record_half(b + 8));
    if (p && !p->tids) {
        t->lacking[p->lacks]++;
        cf_mappings_clear(&p->mapped);
        free(p->tid);
        *p = t->process[--t->count];
        memset(&t->process[t->count], 0, sizeof *p);
    }
    return task_row(t, time, cf_record_half(b), cf_record_half(b + 8), 0, CF_EXIT, "");
}

int cf_tasks_record(struct cf_tasks *t, const struct cf_record *r)
{
    const uint64_t time = r->time > t->start_ns ? r->time - t->start_ns : 0;

    switch (r->type) {
    case PERF_RECORD_MMAP2:
        return mapped(t, time, r);
    case PERF_RECORD_COMM:
        return named(t, time, r);
    case PERF_RECORD_FORK:
        return forked(t, time, r);
    case PERF_RECORD_EXIT:
        return ended(t, time, r);
    default:
        return 0;
    }
}

/* All begin before the first has a mapping, which none inherits so. */
int cf_tasks_repeat(struct cf_tasks *t, uint64_t time)
{
    for (size_t i = 0; i < t->count; i++)
        if (task_row(t, time, t->process[i].pid, t->process[i].pid, t->process[i].parent, CF_BEGIN,
                     t->process[i].name) != 0)
            return -1;
    for (size_t i = 0; i < t->count; i++) {
        const struct process *p = &t->process[i];

        for (size_t k = 0; k < p->tids; k++)
            if (p->tid[k] != p->pid && task_row(t, time, p->pid, p->tid[k], 0, CF_BEGIN, "") != 0)
                return -1;
        if (cf_mappings_rows(&p->mapped, &t->maps, time, p->pid, CF_MAPPED) != 0)
            return -1;
    }
    return 0;
}

/* ---- questions ---- */

void cf_tasks_programs(struct cf_tasks *t, int (*f)(void *arg, const char *program, int ended),
                       void *arg, const char *library)
{
    t->program = f;
    t->arg = arg;
    t->library = library;
}

uint64_t cf_tasks_lacking(const struct cf_tasks *t, enum cf_tasks_lack what)
{
    return t->lacking[what];
}

unsigned cf_tasks_alive(const struct cf_tasks *t)
{
    unsigned alive = 0;

    for (size_t i = 0; i < t->count; i++)
        alive += kill((pid_t)t->process[i].pid, 0) == 0 || errno == EPERM;
    return alive;
}

int cf_tasks_file(const struct cf_tasks *t, uint32_t pid, uint64_t addr, struct cf_tasks_file *f)
{
    const struct process *p = find(t, pid);
    const struct cf_mapping *m = p ? cf_mappings_find(&p->mapped, addr) : NULL;

    if (!m || (m->name[0] != '/' && strcmp(m->name, "[vdso]") != 0))
        return 0;
    *f = (struct cf_tasks_file){m->name, m->build, addr - m->start + m->offset, m->perms};
    return 1;
}

void cf_tasks_places(const struct cf_tasks *t, const char *file, uint64_t offset,
                     void (*f)(void *arg, uint32_t pid, uint64_t addr, const char *build),
                     void *arg)
{
    for (size_t i = 0; i < t->count; i++)
        for (size_t k = 0; k < t->process[i].mapped.count; k++) {
            const struct cf_mapping *m = &t->process[i].mapped.map[k];

            if (m->perms & CF_PERM_X && m->offset <= offset &&
                offset - m->offset < m->end - m->start && strcmp(m->name, file) == 0)
                f(arg, t->process[i].pid, offset - m->offset + m->start, m->build);
        }
}
