/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_maps.c - lists of mappings, and what differs between two of them. See cf_maps.h.
 *
 * Lists come sorted by address, as Linux makes them; where a list is not, the line that goes back
 * counts as bad. So two lists are compared by walking both once.
 */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "capture/base/cf_builds.h"
#include "capture/base/cf_maps.h"

struct process {
    uint32_t pid;
    int listed; /* a list has come */
    struct cf_maps_line *map;
    size_t count;
};

struct cf_maps {
    struct process *process;
    size_t count, room;
    size_t last; /* found last */
    int live;
    struct cf_builds builds;
};

static int lists(const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    char byte;
    const ssize_t n = fd < 0 ? 0 : read(fd, &byte, 1);

    if (fd >= 0)
        close(fd);
    return n == 1;
}

void cf_maps_path(uint32_t pid, char path[CF_MAPS_PATH])
{
    const struct dirent *e = NULL;
    DIR *d;

    snprintf(path, CF_MAPS_PATH, "/proc/%u/maps", pid);
    if (lists(path))
        return;
    snprintf(path, CF_MAPS_PATH, "/proc/%u/task", pid);
    d = opendir(path);
    while (d && (e = readdir(d)) != NULL) {
        snprintf(path, CF_MAPS_PATH, "/proc/%u/task/%.20s/maps", pid, e->d_name);
        if (e->d_name[0] != '.' && lists(path))
            break;
    }
    if (d)
        closedir(d);
    if (!e)
        snprintf(path, CF_MAPS_PATH, "/proc/%u/maps", pid);
}

struct cf_maps *cf_maps_new(int live)
{
    struct cf_maps *m = calloc(1, sizeof(struct cf_maps));

    if (m)
        m->live = live;
    return m;
}

static void free_list(struct cf_maps_line *map, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(map[i].name);
    free(map);
}

void cf_maps_free(struct cf_maps *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->count; i++)
        free_list(m->process[i].map, m->process[i].count);
    free(m->process);
    free(m);
}

static struct process *find(struct cf_maps *m, uint32_t pid)
{
    if (m->last < m->count && m->process[m->last].pid == pid)
        return &m->process[m->last];
    for (size_t i = 0; i < m->count; i++)
        if (m->process[i].pid == pid) {
            m->last = i;
            return &m->process[i];
        }
    return NULL;
}

static struct process *find_or_add(struct cf_maps *m, uint32_t pid)
{
    struct process *p = find(m, pid);

    if (p)
        return p;
    if (m->count == m->room) {
        const size_t room = m->room ? 2 * m->room : 16;
        struct process *more = realloc(m->process, room * sizeof *more);

        if (!more)
            return NULL;
        m->process = more;
        m->room = room;
    }
    p = &m->process[m->count++];
    *p = (struct process){.pid = pid};
    return p;
}

void cf_maps_forget(struct cf_maps *m, uint32_t pid)
{
    struct process *p = find(m, pid);

    if (!p)
        return;
    free_list(p->map, p->count);
    *p = m->process[--m->count];
}

int cf_maps_fork(struct cf_maps *m, uint32_t pid, uint32_t parent)
{
    struct process *p, *from;
    struct cf_maps_line *copy;
    size_t n = 0;

    cf_maps_forget(m, pid);
    p = find_or_add(m, pid);
    from = find(m, parent);
    if (!p)
        return -1;
    p = find(m, pid);
    if (!from || !from->count)
        return 0;
    copy = calloc(from->count, sizeof *copy);
    for (; copy && n < from->count; n++) {
        copy[n] = from->map[n];
        copy[n].name = strdup(from->map[n].name);
        if (!copy[n].name)
            break;
    }
    if (n < from->count) {
        free_list(copy, n);
        return -1;
    }
    p->map = copy;
    p->count = n;
    return 0;
}

/* ---- one line ---- */

static const char *hex(const char *p, const char *end, uint64_t *value)
{
    const char *begin = p;
    uint64_t v = 0;

    for (; p < end; p++) {
        const unsigned digit = *p >= '0' && *p <= '9'   ? (unsigned)(*p - '0')
                               : *p >= 'a' && *p <= 'f' ? (unsigned)(*p - 'a') + 10
                                                        : 16;

        if (digit == 16)
            break;
        v = v << 4 | digit;
    }
    *value = v;
    return p == begin || p - begin > 16 ? NULL : p;
}

int cf_maps_scan(const char *p, const char *end, struct cf_maps_line *map)
{
    uint64_t of_driver, number;
    size_t length;

    *map = (struct cf_maps_line){0};
    p = hex(p, end, &map->start);
    if (!p || p == end || *p++ != '-')
        return -1;
    p = hex(p, end, &map->end);
    if (!p || end - p < 6 || p[0] != ' ' || p[5] != ' ' || map->end <= map->start)
        return -1;
    map->perms = (uint8_t)((p[1] == 'r' ? CF_PERM_R : 0) | (p[2] == 'w' ? CF_PERM_W : 0) |
                           (p[3] == 'x' ? CF_PERM_X : 0) | (p[4] == 's' ? CF_PERM_SHARED : 0));
    p = hex(p + 6, end, &map->offset);
    if (!p)
        return -1;
    p = p < end && *p == ' ' ? hex(p + 1, end, &of_driver) : NULL;
    p = p && p < end && *p == ':' ? hex(p + 1, end, &number) : NULL;
    if (!p || end - p < 2 || p[0] != ' ' || p[1] < '0' || p[1] > '9')
        return -1;
    map->device = makedev((unsigned)of_driver, (unsigned)number);
    for (p++; p < end && *p >= '0' && *p <= '9'; p++)
        map->inode = map->inode * 10 + (unsigned)(*p - '0');
    while (p < end && *p == ' ')
        p++;
    length = (size_t)(end - p) < CF_MAX_TEXT ? (size_t)(end - p) : CF_MAX_TEXT;
    if (memchr(p, '\0', length))
        return -1;
    map->name = strndup(p, length);
    return map->name ? 0 : -1;
}

static struct cf_maps_line *scan_list(const char *text, size_t length, size_t *count, unsigned *bad)
{
    struct cf_maps_line *list = NULL;
    size_t room = 0;

    *count = 0;
    for (const char *p = text, *end = text + length, *next; p < end; p = next) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        struct cf_maps_line *more = list;

        next = newline ? newline + 1 : end;
        if (*count == room) {
            room = room ? 2 * room : 32;
            more = realloc(list, room * sizeof *list);
            if (!more) {
                free_list(list, *count);
                return NULL;
            }
            list = more;
        }
        if (cf_maps_scan(p, newline ? newline : end, &list[*count]) != 0) {
            ++*bad;
        } else if (*count && list[*count].start < list[*count - 1].end) {
            free(list[*count].name);
            ++*bad;
        } else {
            ++*count;
        }
    }
    return list ? list : calloc(1, sizeof *list);
}

/* ---- what has changed ---- */

static int same(const struct cf_maps_line *a, const struct cf_maps_line *b)
{
    return a->start == b->start && a->end == b->end && a->offset == b->offset &&
           a->perms == b->perms && strcmp(a->name, b->name) == 0;
}

/* By its name, or, where the process has mounts of its own (a container), below its root, as
   proc_pid_root(5) shows it. Of a process that has ended: by its name, if that is still the file
   which was mapped. */
static const char *build_of(struct cf_maps *m, uint32_t pid, const struct cf_maps_line *a)
{
    char path[PATH_MAX + 32];
    struct stat its, ours;

    if (a->name[0] != '/')
        return "";
    snprintf(path, sizeof path, "/proc/%u/ns/mnt", pid);
    if (stat(path, &its) != 0)
        return cf_builds_find(&m->builds, a->name, a->device, a->inode);
    if (stat("/proc/self/ns/mnt", &ours) == 0 && its.st_ino == ours.st_ino)
        return cf_builds_find(&m->builds, a->name, 0, 0);
    snprintf(path, sizeof path, "/proc/%u/root%s", pid, a->name);
    return cf_builds_find(&m->builds, path, 0, 0);
}

static int row(struct cf_maps *m, struct cf_writer *w, uint64_t time, uint32_t pid,
               const struct cf_maps_line *a, int gone)
{
    const char *build = gone || !m->live ? "" : build_of(m, pid, a);
    const struct cf_values v[] = {{CF_TIME, NULL, time},
                                  {CF_PID, NULL, pid},
                                  {CF_OP, NULL, gone ? CF_UNMAPPED : CF_MAPPED},
                                  {CF_START, NULL, a->start},
                                  {CF_STOP, NULL, a->end},
                                  {CF_OFFSET, NULL, a->offset},
                                  {CF_PERMS, NULL, a->perms},
                                  {CF_LABEL, NULL, gone ? 0 : cf_writer_string(w, a->name)},
                                  {CF_BUILD, NULL, cf_writer_string(w, build)}};

    return cf_writer_rows(w, CF_MAP, 1, v, m->live ? 9 : 8, NULL);
}

/* Rows for what is in list a and not, with all its properties, in list b. What went needs no row
   where one new mapping takes its whole place. */
static int rows(struct cf_maps *m, struct cf_writer *w, uint64_t time, uint32_t pid,
                const struct cf_maps_line *a, size_t a_count, const struct cf_maps_line *b,
                size_t b_count, int gone)
{
    size_t j = 0;

    for (size_t i = 0; i < a_count; i++) {
        while (j < b_count && b[j].end <= a[i].start)
            j++;
        if (j < b_count && same(&a[i], &b[j]))
            continue;
        if (gone && j < b_count && b[j].start <= a[i].start && b[j].end >= a[i].end)
            continue;
        if (row(m, w, time, pid, &a[i], gone) != 0)
            return -1;
    }
    return 0;
}

int cf_maps_update(struct cf_maps *m, struct cf_writer *w, uint64_t time, uint32_t pid,
                   const char *text, size_t length, unsigned *bad)
{
    struct process *p = find_or_add(m, pid);
    struct cf_maps_line *list;
    size_t count;
    int result;

    list = p ? scan_list(text, length, &count, bad) : NULL;
    if (!list)
        return -1;
    result = rows(m, w, time, pid, p->map, p->count, list, count, 1) != 0 ||
                     rows(m, w, time, pid, list, count, p->map, p->count, 0) != 0
                 ? -1
                 : 0;
    free_list(p->map, p->count);
    p->map = list;
    p->count = count;
    p->listed = 1;
    return result;
}

/* ---- questions ---- */

int cf_maps_find(struct cf_maps *m, uint32_t pid, uint64_t addr)
{
    const struct process *p = find(m, pid);
    size_t low = 0, high = p ? p->count : 0;

    if (!p || !p->listed)
        return -1;
    while (low < high) {
        const size_t middle = (low + high) / 2;

        if (p->map[middle].end <= addr)
            low = middle + 1;
        else
            high = middle;
    }
    return low < p->count && p->map[low].start <= addr;
}

const char *cf_maps_program(struct cf_maps *m, uint32_t pid)
{
    const struct process *p = find(m, pid);

    for (size_t i = 0; p && i < p->count; i++)
        if ((p->map[i].perms & CF_PERM_X) && p->map[i].name[0] == '/')
            return strrchr(p->map[i].name, '/') + 1;
    return "";
}
