/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tasks.c - processes, threads, mappings. See tasks.h.
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
#include "capture/base/cf_builds.h"
#include "capture/base/cf_maps.h"
#include "capture/perf/tasks.h"
#include "formats/base/cf_memory.h"

struct mapping {
    uint64_t start, end, offset;
    uint8_t perms;
    char *name, *build;
};

struct process {
    uint32_t pid, parent;
    char name[16];
    uint32_t *tid; /* its threads */
    size_t tids, tid_room;
    struct mapping *map;
    size_t count, room;
    int begins; /* it runs a program of which nothing is mapped yet */
    enum cf_tasks_lack lacks;
};

struct cf_tasks {
    struct cf_writer *out;
    uint64_t start_ns;
    struct process *process;
    size_t count, room;
    struct cf_builds builds;
    int (*program)(void *arg, const char *program, int ended);
    void *arg;
    const char *library; /* or NULL */
    uint64_t lacking[CF_TASKS_LACKS];
};

struct cf_tasks *cf_tasks_new(struct cf_writer *w, uint64_t start_ns)
{
    struct cf_tasks *t = calloc(1, sizeof *t);

    if (t)
        *t = (struct cf_tasks){.out = w, .start_ns = start_ns};
    return t;
}

static void clear(struct process *p)
{
    for (size_t i = 0; i < p->count; i++) {
        free(p->map[i].name);
        free(p->map[i].build);
    }
    p->count = 0;
}

void cf_tasks_free(struct cf_tasks *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->count; i++) {
        clear(&t->process[i]);
        free(t->process[i].map);
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
    clear(p);
    p->pid = pid;
    p->parent = parent;
    p->tids = 0;
    p->begins = 0;
    p->lacks = CF_TASKS_NOTHING;
    snprintf(p->name, sizeof p->name, "%s", name);
    return add_thread(p, pid) == 0 ? p : NULL;
}

/* ---- rows ---- */

static int task_row(struct cf_tasks *t, uint64_t time, uint32_t pid, uint32_t tid, uint32_t parent,
                    enum cf_op op, const char *name)
{
    const struct cf_values v[] = {
        {CF_TIME, NULL, time}, {CF_PID, NULL, pid},
        {CF_TID, NULL, tid},   {CF_PARENT, NULL, parent},
        {CF_OP, NULL, op},     {CF_LABEL, NULL, cf_writer_string(t->out, name)}};

    return cf_writer_rows(t->out, CF_TASK, 1, v, 6, NULL);
}

static int map_row(struct cf_tasks *t, uint64_t time, uint32_t pid, enum cf_op op,
                   const struct mapping *m)
{
    const struct cf_values v[] = {{CF_TIME, NULL, time},
                                  {CF_PID, NULL, pid},
                                  {CF_OP, NULL, op},
                                  {CF_START, NULL, m->start},
                                  {CF_STOP, NULL, m->end},
                                  {CF_OFFSET, NULL, m->offset},
                                  {CF_PERMS, NULL, m->perms},
                                  {CF_LABEL, NULL, cf_writer_string(t->out, m->name)},
                                  {CF_BUILD, NULL, cf_writer_string(t->out, m->build)}};

    return cf_writer_rows(t->out, CF_MAP, 1, v, 9, NULL);
}

/* ---- mappings ---- */

static int append(struct process *p, const struct mapping *m, uint64_t start, uint64_t end)
{
    struct mapping *to;

    if (start >= end)
        return 0;
    if (cf_array_room(&p->map, &p->room, p->count + 1, sizeof *to) != 0)
        return -1;
    to = &p->map[p->count];
    *to = *m;
    to->start = start;
    to->end = end;
    to->offset += start - m->start;
    to->name = strdup(m->name);
    to->build = strdup(m->build);
    if (!to->name || !to->build) {
        free(to->name);
        free(to->build);
        return -1;
    }
    p->count++;
    return 0;
}

/* What lies where m is to be makes place for it. */
static int place(struct process *p, const struct mapping *m)
{
    for (size_t i = 0; i < p->count; i++) {
        struct mapping old = p->map[i];
        int failed;

        if (old.end <= m->start || old.start >= m->end)
            continue;
        p->map[i--] = p->map[--p->count];
        failed = append(p, &old, old.start, m->start) != 0 ||
                 append(p, &old, m->end > old.start ? m->end : old.start, old.end) != 0;
        free(old.name);
        free(old.build);
        if (failed)
            return -1;
    }
    return append(p, m, m->start, m->end);
}

static int add_mapping(struct cf_tasks *t, uint64_t time, struct process *p, struct mapping *m,
                       uint64_t device, uint64_t inode)
{
    const int stack = strcmp(m->name, "[stack]") == 0;
    const uint64_t start = m->start;

    if (m->end <= m->start)
        return 0;
    if (strcmp(m->name, "//anon") == 0)
        m->name = (char *)"";
    if (stack && cf_maps_stack(m->end) < start) /* growth is announced after its page fault */
        m->start = cf_maps_stack(m->end);
    for (size_t i = 0; stack && i < p->count; i++) /* not over what lies there */
        if (p->map[i].end > m->start && p->map[i].end <= start &&
            strcmp(p->map[i].name, m->name) != 0)
            m->start = p->map[i].end;
    m->build = (char *)cf_builds_find(&t->builds, m->name, device, inode);
    return place(p, m) != 0 || map_row(t, time, p->pid, CF_MAPPED, m) != 0 ? -1 : 0;
}

/* ---- processes that run already ---- */

static int attach_maps(struct cf_tasks *t, struct process *p)
{
    char path[CF_MAPS_PATH], line[4352];
    int status = 0;
    FILE *f;

    cf_maps_path(p->pid, path);
    f = fopen(path, "r");
    if (!f)
        return -1;
    while (status == 0 && fgets(line, sizeof line, f)) {
        struct cf_maps_line is;
        struct mapping m;

        if (cf_maps_scan(line, line + strcspn(line, "\n"), &is) != 0)
            continue;
        m = (struct mapping){.start = is.start,
                             .end = is.end,
                             .offset = is.offset,
                             .perms = is.perms,
                             .name = is.name};
        status = add_mapping(t, 0, p, &m, is.device, is.inode);
        free(is.name);
    }
    fclose(f);
    return status;
}

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
    return attach_maps(t, p);
}

/* ---- records ---- */

/* pid tid addr len pgoff maj min ino ino_generation prot flags filename */
static int mapped(struct cf_tasks *t, uint64_t time, const struct cf_record *r)
{
    const uint8_t *b = r->body;
    struct process *p;
    struct mapping m;
    uint32_t prot;

    if (r->length < 65 || !memchr(b + 64, '\0', r->length - 64))
        return 0;
    p = find(t, cf_record_half(b));
    if (!p)
        p = add_process(t, cf_record_half(b), 0, "");
    if (!p)
        return -1;
    prot = cf_record_half(b + 56);
    m = (struct mapping){.start = cf_record_word(b + 8),
                         .end = cf_record_word(b + 8) + cf_record_word(b + 16),
                         .offset = cf_record_word(b + 24),
                         .perms =
                             (uint8_t)((prot & PROT_READ ? CF_PERM_R : 0) |
                                       (prot & PROT_WRITE ? CF_PERM_W : 0) |
                                       (prot & PROT_EXEC ? CF_PERM_X : 0) |
                                       (cf_record_half(b + 60) & MAP_SHARED ? CF_PERM_SHARED : 0)),
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
    return add_mapping(t, time, p, &m, makedev(cf_record_half(b + 32), cf_record_half(b + 36)),
                       cf_record_word(b + 40));
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
        for (size_t i = 0; p && i < p->count; i++)
            if (map_row(t, time, pid, CF_UNMAPPED, &p->map[i]) != 0)
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
    for (size_t i = 0; from && i < from->count; i++)
        if (append(p, &from->map[i], from->map[i].start, from->map[i].end) != 0)
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
        clear(p);
        free(p->map);
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
        for (size_t k = 0; k < p->count; k++)
            if (map_row(t, time, p->pid, CF_MAPPED, &p->map[k]) != 0)
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

    for (size_t i = 0; p && i < p->count; i++) {
        const struct mapping *m = &p->map[i];

        if (m->start > addr || addr >= m->end ||
            (m->name[0] != '/' && strcmp(m->name, "[vdso]") != 0))
            continue;
        *f = (struct cf_tasks_file){m->name, m->build, addr - m->start + m->offset, m->perms};
        return 1;
    }
    return 0;
}

void cf_tasks_places(const struct cf_tasks *t, const char *file, uint64_t offset,
                     void (*f)(void *arg, uint32_t pid, uint64_t addr, const char *build),
                     void *arg)
{
    for (size_t i = 0; i < t->count; i++)
        for (size_t k = 0; k < t->process[i].count; k++) {
            const struct mapping *m = &t->process[i].map[k];

            if (m->perms & CF_PERM_X && m->offset <= offset &&
                offset - m->offset < m->end - m->start && strcmp(m->name, file) == 0)
                f(arg, t->process[i].pid, offset - m->offset + m->start, m->build);
        }
}
