/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tasks.c - the commands under observation. See tasks.h.
 *
 * A process whose parent ends is handed to us (PR_SET_CHILD_SUBREAPER), so all that the commands
 * have brought forth can be found by following children from this process on. A command that
 * survives us, should we be killed, gets a SIGCONT by the kernel, so that it does not stay stopped.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "capture/cf_command.h"
#include "capture/snapshot/tasks.h"

enum { STOP_MS = 100, POLL_US = 20 };

/* ---- starting ---- */

static void run_child(const struct tasks *t, const struct command *c)
{
    const struct sched_param sp = {.sched_priority = c->priority};
    int out = STDERR_FILENO;
    char byte;

    close(t->barrier[1]);
    close(t->ready[0]);
    prctl(PR_SET_PDEATHSIG, SIGCONT);
    if (c->cpu >= 0) {
        cpu_set_t cpus;

        CPU_ZERO(&cpus);
        CPU_SET((size_t)c->cpu, &cpus);
        if (sched_setaffinity(0, sizeof cpus, &cpus) != 0) {
            cf_warn(t->tool, "--cpu %d: %s", c->cpu, strerror(errno));
            _exit(CF_EXIT_ENVIRONMENT);
        }
    }
    if (sched_setscheduler(0, c->policy, &sp) != 0) {
        cf_warn(t->tool, "--sched: %s", strerror(errno));
        _exit(CF_EXIT_ENVIRONMENT);
    }
    if (t->output) {
        out = open(t->output, O_WRONLY | O_CREAT | O_APPEND, 0666);
        if (out < 0) {
            cf_warn(t->tool, "%s: %s", t->output, strerror(errno));
            _exit(CF_EXIT_ENVIRONMENT);
        }
    }
    if (t->output || t->own_output)
        dup2(out, STDOUT_FILENO);
    if (out > STDERR_FILENO)
        close(out);
    close(t->ready[1]); /* all of this is done */
    while (read(t->barrier[0], &byte, 1) < 0 && errno == EINTR)
        ;
    close(t->barrier[0]);
    sigprocmask(SIG_SETMASK, &t->mask, NULL);
    signal(SIGPIPE, t->pipe_action);
    execvp(c->argv[0], c->argv);
    cf_warn(t->tool, "%s: %s", c->argv[0], strerror(errno));
    _exit(CF_COMMAND_NOT_EXECUTABLE);
}

int tasks_start(struct tasks *t)
{
    char byte;

    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (pipe2(t->barrier, O_CLOEXEC) != 0 || pipe2(t->ready, O_CLOEXEC) != 0) {
        cf_warn(t->tool, "pipe: %s", strerror(errno));
        return -1;
    }
    if (t->output && truncate(t->output, 0) != 0 && errno != ENOENT && errno != EINVAL)
        cf_warn(t->tool, "%s: %s", t->output, strerror(errno));
    fflush(NULL);
    for (unsigned i = 0; i < t->commands; i++) {
        struct command *c = &t->command[i];

        c->pid = fork();
        if (c->pid < 0) {
            cf_warn(t->tool, "fork: %s", strerror(errno));
            tasks_kill(t, SIGKILL);
            return -1;
        }
        if (c->pid == 0)
            run_child(t, c);
        t->running++;
    }
    close(t->barrier[0]);
    close(t->ready[1]);
    /* until no child has its end of the pipe open any more */
    while (read(t->ready[0], &byte, 1) < 0 && errno == EINTR)
        ;
    close(t->ready[0]);
    return 0;
}

void tasks_release(struct tasks *t)
{
    close(t->barrier[1]);
}

void tasks_free(struct tasks *t)
{
    for (size_t i = 0; i < t->count; i++)
        free(t->observed[i].maps);
    free(t->observed);
}

void tasks_kill(struct tasks *t, int number)
{
    for (unsigned i = 0; i < t->commands; i++)
        if (t->command[i].pid > 0 && !t->command[i].ended)
            kill(t->command[i].pid, number);
}

void tasks_ended(struct tasks *t, pid_t pid, int status)
{
    for (unsigned i = 0; i < t->commands; i++)
        if (t->command[i].pid == pid && !t->command[i].ended) {
            t->command[i].ended = 1;
            t->command[i].status = status;
            t->running--;
        }
}

/* ---- who is observed ---- */

static size_t read_file(const char *path, char *text, size_t size)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t at = 0;
    ssize_t n = 1;

    while (fd >= 0 && at < size - 1 && (n = read(fd, text + at, size - 1 - at)) > 0)
        at += (size_t)n;
    if (fd >= 0)
        close(fd);
    text[at] = '\0';
    return at;
}

/* State letter and parent of /proc/PID/stat or that of a thread; 0 when it is gone. */
static char read_stat(const char *path, pid_t *parent, char name[16])
{
    char text[1024], state;
    const char *open, *close;
    int ppid;

    if (!read_file(path, text, sizeof text))
        return 0;
    open = strchr(text, '(');
    close = strrchr(text, ')');
    if (!open || !close || sscanf(close + 1, " %c %d", &state, &ppid) != 2)
        return 0;
    if (parent)
        *parent = ppid;
    if (name)
        snprintf(name, 16, "%.*s", (int)(close - open - 1), open + 1);
    return state;
}

static struct observed *find(struct tasks *t, pid_t pid)
{
    for (size_t i = 0; i < t->count; i++)
        if (t->observed[i].pid == pid)
            return &t->observed[i];
    return NULL;
}

/* Returns 1 when the process is a new one. */
static size_t add(struct tasks *t, pid_t pid, pid_t parent)
{
    struct observed *o = find(t, pid);
    char path[64];

    if (o) {
        o->mark = t->mark;
        return 0;
    }
    if (t->count == t->room) {
        const size_t room = t->room ? 2 * t->room : 16;
        struct observed *more = realloc(t->observed, room * sizeof *more);

        if (!more)
            return 0;
        t->observed = more;
        t->room = room;
    }
    o = &t->observed[t->count++];
    *o = (struct observed){.pid = pid, .parent = parent, .fresh = 1, .mark = t->mark};
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    (void)read_stat(path, NULL, o->name);
    return 1;
}

/* Children of one process, by the lists of its threads. */
static size_t add_children(struct tasks *t, pid_t pid)
{
    char path[96], text[16384];
    const struct dirent *e;
    size_t fresh = 0;
    DIR *d;

    snprintf(path, sizeof path, "/proc/%d/task", pid);
    d = opendir(path);
    while (d && (e = readdir(d)) != NULL) {
        char *p = text;

        if (!isdigit((unsigned char)e->d_name[0]))
            continue;
        snprintf(path, sizeof path, "/proc/%d/task/%.20s/children", pid, e->d_name);
        if (!read_file(path, text, sizeof text))
            continue;
        for (char *end; *p; p = end) {
            const long child = strtol(p, &end, 10);

            if (end == p)
                break;
            fresh += add(t, (pid_t)child, pid);
            end += strspn(end, " ");
        }
    }
    if (d)
        closedir(d);
    return fresh;
}

/* Where the kernel has no such lists: all processes whose parent is one of ours, until no more are
   found. */
static size_t add_by_parents(struct tasks *t)
{
    size_t fresh = 0, more;

    do {
        DIR *d = opendir("/proc");
        const struct dirent *e;

        more = 0;
        while (d && (e = readdir(d)) != NULL) {
            const struct observed *o;
            char path[64];
            pid_t parent;

            if (!isdigit((unsigned char)e->d_name[0]))
                continue;
            snprintf(path, sizeof path, "/proc/%.20s/stat", e->d_name);
            if (!read_stat(path, &parent, NULL))
                continue;
            o = find(t, parent);
            if (parent == getpid() || (o && o->mark == t->mark))
                more += add(t, (pid_t)atoi(e->d_name), parent);
        }
        if (d)
            closedir(d);
        fresh += more;
    } while (more);
    return fresh;
}

size_t tasks_find(struct tasks *t)
{
    size_t fresh = 0, kept = 0;

    t->mark++;
    if (!t->no_children && access("/proc/thread-self/children", R_OK) != 0)
        t->no_children = 1;
    if (t->no_children) {
        fresh = add_by_parents(t);
    } else {
        fresh = add_children(t, getpid());
        for (size_t i = 0; i < t->count; i++) /* grows */
            if (t->observed[i].mark == t->mark)
                fresh += add_children(t, t->observed[i].pid);
    }
    for (size_t i = 0; i < t->count; i++) {
        if (t->observed[i].mark == t->mark)
            t->observed[kept++] = t->observed[i];
        else
            free(t->observed[i].maps);
    }
    t->count = kept;
    return fresh;
}

/* ---- stopping ---- */

/* Whether all threads of a process stand still, or are gone. One that waits in the kernel where no
   signal reaches it (D), such as the parent of a vfork, stops before it runs its program again. */
static int stands(pid_t pid)
{
    char path[96];
    const struct dirent *e;
    int still = 1;
    DIR *d;

    snprintf(path, sizeof path, "/proc/%d/task", pid);
    d = opendir(path);
    while (d && still && (e = readdir(d)) != NULL) {
        if (!isdigit((unsigned char)e->d_name[0]))
            continue;
        snprintf(path, sizeof path, "/proc/%d/task/%.20s/stat", pid, e->d_name);
        switch (read_stat(path, NULL, NULL)) {
        case 'R':
        case 'S':
            still = 0;
            break;
        default:
            break;
        }
    }
    if (d)
        closedir(d);
    return still;
}

int tasks_waits(pid_t tid)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/stat", tid);
    return read_stat(path, NULL, NULL) == 'D';
}

static uint64_t now_us(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
}

unsigned tasks_stop(struct tasks *t)
{
    const uint64_t until = now_us() + STOP_MS * 1000;
    /* We may have a higher priority than a task on our CPU that has yet to see its signal. */
    const struct timespec pause = {.tv_nsec = POLL_US * 1000};
    unsigned moving;

    for (size_t i = 0; i < t->count; i++) /* those known from the last time, at once */
        kill(t->observed[i].pid, SIGSTOP);
    do {
        moving = 0;
        if (tasks_find(t))
            moving = 1;
        for (size_t i = 0; i < t->count; i++)
            if (t->observed[i].fresh)
                kill(t->observed[i].pid, SIGSTOP);
        for (size_t i = 0; i < t->count; i++)
            moving += !stands(t->observed[i].pid);
        if (moving)
            clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
    } while (moving && now_us() < until);
    return moving;
}

void tasks_continue(struct tasks *t)
{
    for (size_t i = 0; i < t->count; i++)
        kill(t->observed[i].pid, SIGCONT);
}
