/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * counters.c - events that are counted beside the time: what "Governing with Insights" leaves for
 * later (section 8, limitation iii). Names are those of libpfm4, as in cf-capture-perf; the kernel
 * counts (perf_event_open(2)) in all threads of the process, from the entry to the return.
 *
 * Each is pinned: it counts all the time, or the kernel says that it did not; what is scaled up
 * from a part of the time would be no measurement of a page.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/pages/pages.h"
#include "capture/events/events.h"
#include "formats/base/cf_memory.h"

enum { OWN_COLUMNS = 32768 }; /* from here on numbers are free for columns without a fixed name */

static int open_one(const struct pages_counter *c, pid_t tid)
{
    struct perf_event_attr a = {.size = sizeof a,
                                .type = c->is.type,
                                .config = c->is.config,
                                .config1 = c->is.config1,
                                .config2 = c->is.config2,
                                .read_format =
                                    PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
                                .pinned = 1,
                                .inherit = 1,
                                .inherit_thread = 1, /* since Linux 5.13; before, children too */
                                .exclude_user = c->is.no_user != 0,
                                .exclude_kernel = c->is.no_kernel != 0,
                                .exclude_hv = 1};
    int fd = cf_perf_open(&a, tid, -1);

    if (fd >= 0 || errno != EINVAL)
        return fd;
    a.inherit_thread = 0;
    return cf_perf_open(&a, tid, -1);
}

static int read_one(int fd, uint64_t *count)
{
    uint64_t value[3]; /* the count; for how long it was enabled, and counted */

    if (read(fd, value, sizeof value) != sizeof value || value[1] != value[2])
        return -1;
    *count += value[0];
    return 0;
}

static void refuse(struct pages *k, const struct pages_counter *c, int error)
{
    char text[256];
    const char *why = cf_perf_why(error, text, sizeof text);

    if ((error == EACCES || error == EPERM) && !c->is.no_kernel && geteuid() != 0)
        why = cf_tool_text(&k->tool,
                           "what the kernel does counts, too, which is not permitted: set "
                           "kernel.perf_event_paranoid to 1 or less, run as root, or ask for %s:u",
                           c->name);
    cf_die(&k->tool, CF_EXIT_ENVIRONMENT, "--counters %s: %s", c->name, why);
}

/* Whether all of them can be counted, and at a time. */
static void check(struct pages *k)
{
    struct pages_reading r = {0};

    for (unsigned i = 0; i < k->counters; i++) {
        const int fd = open_one(&k->counter[i], 0);
        const int error = errno;

        if (fd < 0 &&
            (error == ENOENT || error == EOPNOTSUPP || error == EINVAL || error == ENODEV))
            cf_die(&k->tool, CF_EXIT_ENVIRONMENT,
                   "--counters %s: this processor, or this virtual machine, does not count it (%s)",
                   k->counter[i].name, strerror(error));
        if (fd < 0)
            refuse(k, &k->counter[i], error);
        cf_must(&k->tool, cf_array_room(&k->event, &k->event_room, k->events + 1, sizeof(int)));
        k->event[k->events++] = fd;
    }
    if (pages_counters_read(k, &r) != 0)
        cf_die(&k->tool, CF_EXIT_ENVIRONMENT,
               "--counters: this processor cannot count all of them at a time: ask for fewer");
    pages_counters_close(k);
}

/* A column has one number in all recordings, so that those of different counters can be joined. */
static unsigned number_of(const char *column)
{
    uint32_t hash = 2166136261u; /* FNV-1a (Fowler, Noll, Vo) */

    for (const char *p = column; *p; p++)
        hash = (hash ^ (unsigned char)*p) * 16777619u;
    return OWN_COLUMNS + hash % (65536 - OWN_COLUMNS);
}

static void add(struct pages *k, const char *name)
{
    struct pages_counter *c = &k->counter[k->counters];
    char why[256], *column = cf_tool_text(&k->tool, "%s", name);

    if (k->counters == PAGES_COUNTERS)
        cf_die(&k->tool, CF_EXIT_USAGE, "--counters: at most %d", PAGES_COUNTERS);
    *c = (struct pages_counter){.name = cf_tool_text(&k->tool, "%s", name), .column = column};
    if (cf_perf_name(name, &c->is, why, sizeof why) != 0)
        cf_die(&k->tool, CF_EXIT_USAGE, "--counters: %s", why);
    if (c->is.foreign)
        cf_die(&k->tool, CF_EXIT_ENVIRONMENT,
               "--counters %s: is an event of another processor than this one", name);
    for (char *p = column; *p; p++)
        *p = *p >= 'A' && *p <= 'Z'                                 ? (char)(*p + 32)
             : (*p >= 'a' && *p <= 'z') || (*p >= '0' && *p <= '9') ? *p
                                                                    : '_';
    c->id = number_of(column);
    if (cf_column_find(column) || strlen(column) >= CF_MAX_FACT_NAME)
        cf_die(&k->tool, CF_EXIT_USAGE, "--counters %s: cannot be the name of a column", name);
    for (unsigned i = 0; i < k->counters; i++)
        if (!strcmp(k->counter[i].column, column))
            cf_die(&k->tool, CF_EXIT_USAGE, "--counters: %s is given twice", name);
        else if (k->counter[i].id == c->id)
            cf_die(&k->tool, CF_EXIT_USAGE,
                   "--counters: %s and %s would have one number as columns: ask for one of them",
                   k->counter[i].name, name);
    k->counters++;
}

void pages_counters_take(struct pages *k, char *list)
{
    char *rest;

    for (char *name = strtok_r(list, ",", &rest); name; name = strtok_r(NULL, ",", &rest))
        add(k, name);
    if (!k->counters)
        cf_die(&k->tool, CF_EXIT_USAGE, "--counters: give names of events, with commas between");
    check(k);
}

void pages_counters_fact(struct pages *k)
{
    for (unsigned i = 0; i < k->counters; i++)
        (void)cf_writer_fact(k->writer, k->counter[i].column, "event", k->counter[i].name);
}

void pages_counters_declare(struct pages *k)
{
    for (unsigned i = 0; i < k->counters; i++)
        (void)cf_writer_name(k->writer, k->counter[i].id, CF_U64, k->counter[i].column);
}

/* ---- of one run ---- */

static void open_thread(struct pages *k, pid_t tid)
{
    for (unsigned i = 0; i < k->counters; i++) {
        const int fd = open_one(&k->counter[i], tid);

        if (fd < 0 && errno == ESRCH) { /* it was killed meanwhile */
            for (; i; i--)
                close(k->event[--k->events]);
            return;
        }
        if (fd < 0)
            refuse(k, &k->counter[i], errno);
        cf_must(&k->tool, cf_array_room(&k->event, &k->event_room, k->events + 1, sizeof(int)));
        k->event[k->events++] = fd;
    }
}

void pages_counters_open(struct pages *k, pid_t pid)
{
    const struct dirent *e;
    char path[64];
    DIR *d;

    if (!k->counters)
        return;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    d = opendir(path);
    while (d && (e = readdir(d)) != NULL)
        if (e->d_name[0] != '.')
            open_thread(k, (pid_t)strtol(e->d_name, NULL, 10));
    if (d)
        closedir(d);
}

int pages_counters_read(const struct pages *k, struct pages_reading *r)
{
    memset(r->counter, 0, sizeof r->counter);
    for (size_t i = 0; i < k->events; i++)
        if (read_one(k->event[i], &r->counter[i % k->counters]) != 0)
            return -1;
    return 0;
}

void pages_counters_close(struct pages *k)
{
    while (k->events)
        close(k->event[--k->events]);
}
