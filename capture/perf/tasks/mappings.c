/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mappings.c - what is mapped in a process. See mappings.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "capture/perf/tasks/mappings.h"
#include "formats/base/cf_memory.h"

#define STACK_MOST (UINT64_C(2) << 30) /* where there is no limit */

static int row(struct cf_map_rows *rows, uint64_t time, uint32_t pid, enum cf_op op,
               const struct cf_mapping *m)
{
    const struct cf_values v[] = {{CF_TIME, NULL, time},
                                  {CF_PID, NULL, pid},
                                  {CF_OP, NULL, op},
                                  {CF_START, NULL, m->start},
                                  {CF_STOP, NULL, m->end},
                                  {CF_OFFSET, NULL, m->offset},
                                  {CF_PERMS, NULL, m->perms},
                                  {CF_LABEL, NULL, cf_writer_string(rows->out, m->name)},
                                  {CF_BUILD, NULL, cf_writer_string(rows->out, m->build)}};

    return cf_writer_rows(rows->out, CF_MAP, 1, v, 9, NULL);
}

int cf_mappings_rows(const struct cf_mappings *p, struct cf_map_rows *rows, uint64_t time,
                     uint32_t pid, enum cf_op op)
{
    for (size_t i = 0; i < p->count; i++)
        if (row(rows, time, pid, op, &p->map[i]) != 0)
            return -1;
    return 0;
}

void cf_mappings_clear(struct cf_mappings *p)
{
    for (size_t i = 0; i < p->count; i++) {
        free(p->map[i].name);
        free(p->map[i].build);
    }
    free(p->map);
    *p = (struct cf_mappings){0};
}

static int append(struct cf_mappings *p, const struct cf_mapping *m, uint64_t start, uint64_t end)
{
    struct cf_mapping *to;

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

int cf_mappings_copy(struct cf_mappings *p, const struct cf_mappings *from)
{
    for (size_t i = 0; i < from->count; i++)
        if (append(p, &from->map[i], from->map[i].start, from->map[i].end) != 0)
            return -1;
    return 0;
}

/* What lies where m is to be makes place for it. */
static int place(struct cf_mappings *p, const struct cf_mapping *m)
{
    for (size_t i = 0; i < p->count; i++) {
        struct cf_mapping old = p->map[i];
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

/* Down to where a main thread's stack may grow by our limit, and not over what lies there: growth
   is announced after its page fault. */
static uint64_t stack_start(const struct cf_mappings *p, const struct cf_mapping *stack)
{
    struct rlimit limit = {.rlim_cur = STACK_MOST};
    uint64_t start;

    (void)getrlimit(RLIMIT_STACK, &limit);
    start = stack->end - (limit.rlim_cur < STACK_MOST ? limit.rlim_cur : STACK_MOST);
    for (size_t i = 0; i < p->count; i++)
        if (p->map[i].end > start && p->map[i].end <= stack->start &&
            strcmp(p->map[i].name, stack->name) != 0)
            start = p->map[i].end;
    return start < stack->start ? start : stack->start;
}

int cf_mappings_add(struct cf_mappings *p, struct cf_map_rows *rows, uint64_t time, uint32_t pid,
                    const struct cf_maps_line *is)
{
    struct cf_mapping m = {.start = is->start,
                           .end = is->end,
                           .offset = is->offset,
                           .perms = is->perms,
                           .name = strcmp(is->name, "//anon") == 0 ? (char *)"" : is->name};

    if (m.end <= m.start)
        return 0;
    if (strcmp(m.name, "[stack]") == 0)
        m.start = stack_start(p, &m);
    m.build = (char *)cf_builds_find(&rows->builds, m.name, is->device, is->inode);
    return place(p, &m) != 0 || row(rows, time, pid, CF_MAPPED, &m) != 0 ? -1 : 0;
}

int cf_mappings_attach(struct cf_mappings *p, struct cf_map_rows *rows, uint32_t pid)
{
    char path[CF_MAPS_PATH], line[4352];
    int status = 0;
    FILE *f;

    cf_maps_path(pid, path);
    f = fopen(path, "r");
    if (!f)
        return -1;
    while (status == 0 && fgets(line, sizeof line, f)) {
        struct cf_maps_line is;

        if (cf_maps_scan(line, line + strcspn(line, "\n"), &is) != 0)
            continue;
        status = cf_mappings_add(p, rows, 0, pid, &is);
        free(is.name);
    }
    fclose(f);
    return status;
}

const struct cf_mapping *cf_mappings_find(const struct cf_mappings *p, uint64_t addr)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->map[i].start <= addr && addr < p->map[i].end)
            return &p->map[i];
    return NULL;
}
