/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * observed.c - the commands under observation. See observed.h.
 *
 * A process whose parent ends is handed to us (PR_SET_CHILD_SUBREAPER), so all that the commands
 * have brought forth can be found by following children from this process on. Who survives us,
 * should we be killed, does not stay stopped: see guard.c.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/kcmp.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "capture/base/cf_command.h"
#include "capture/snapshot/guard.h"
#include "capture/snapshot/observed.h"
#include "formats/base/cf_memory.h"
#include "formats/base/cf_number.h"

enum { STOP_MS = 100, POLL_US = 20 };

/* ---- starting ---- */

static void run_child(const struct cf_observed *t, const struct cf_observed_command *c)
{
    const struct sched_param sp = {.sched_priority = c->priority};
    const char *name = strrchr(c->argv[0], '/');
    int out = STDERR_FILENO;
    char byte;

    close(t->barrier[1]);
    close(t->ready[0]);
    if (t->alive >= 0)
        close(t->alive); /* one that stands before it is the program must not keep it open */
    /* with others before it, it may be observed for a while before it is the program */
    prctl(PR_SET_NAME, name ? name + 1 : c->argv[0]);
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

int cf_observed_start(struct cf_observed *t)
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
        struct cf_observed_command *c = &t->command[i];

        c->pid = fork();
        if (c->pid < 0) {
            cf_warn(t->tool, "fork: %s", strerror(errno));
            cf_observed_kill(t, SIGKILL);
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

void cf_observed_release(struct cf_observed *t)
{
    close(t->barrier[1]);
}

void cf_observed_free(struct cf_observed *t)
{
    for (size_t i = 0; i < t->count; i++)
        free(t->observed[i].maps);
    free(t->observed);
}

void cf_observed_kill(struct cf_observed *t, int number)
{
    for (unsigned i = 0; i < t->commands; i++)
        if (t->command[i].pid > 0 && !t->command[i].ended)
            kill(t->command[i].pid, number);
}

void cf_observed_ended(struct cf_observed *t, pid_t pid, int status)
{
    for (unsigned i = 0; i < t->commands; i++)
        if (t->command[i].pid == pid && !t->command[i].ended) {
            t->command[i].ended = 1;
            t->command[i].status = status;
            t->running--;
        }
}

int cf_observed_status(const struct cf_observed *t)
{
    int status = CF_EXIT_OK;

    for (unsigned i = 0; status == CF_EXIT_OK && i < t->commands; i++)
        status = cf_command_status(t->command[i].status);
    return status;
}

char *cf_observed_line(const struct cf_observed *t)
{
    char *line = NULL;
    size_t size;
    FILE *f = open_memstream(&line, &size);

    for (unsigned i = 0; f && i < t->commands; i++) {
        fputs(i ? " -- " : "", f);
        cf_command_print(f, t->command[i].argv);
    }
    return f ? cf_memory_text(f, &line) : NULL;
}

/* ---- who is observed ---- */

char *cf_observed_read(const char *path, size_t *length)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    char *text = NULL;
    size_t room = 0;
    ssize_t n = fd < 0 ? -1 : 1;

    *length = 0;
    while (n > 0) {
        if (room - *length < 2) {
            char *more = realloc(text, room ? 2 * room : 8192);

            n = more ? 1 : -1;
            if (!more)
                break;
            text = more;
            room = room ? 2 * room : 8192;
        }
        n = read(fd, text + *length, room - *length - 1);
        *length += n > 0 ? (size_t)n : 0;
    }
    if (fd >= 0)
        close(fd);
    if (n < 0 || *length == 0) {
        free(text);
        *length = 0;
        return NULL;
    }
    text[*length] = '\0';
    return text;
}

struct stat_line {
    char state;
    pid_t parent;
    unsigned long long start; /* ticks since the boot: with the pid, this identifies a process */
    char name[16];
};

/* What /proc/PID/stat or that of a thread says; 0 when it is gone, or where the system refuses: see
   is_gone(). */
static int read_stat(const char *path, struct stat_line *s)
{
    char text[1024];
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    const char *left, *right;

    if (fd >= 0)
        close(fd);
    if (n <= 0)
        return 0;
    text[n] = '\0';
    left = strchr(text, '(');
    right = strrchr(text, ')');
    if (!left || !right ||
        sscanf(right + 1,
               " %c %d %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu",
               &s->state, &s->parent, &s->start) != 3)
        return 0;
    snprintf(s->name, sizeof s->name, "%.*s", (int)(right - left - 1), left + 1);
    return 1;
}

/* After read_stat() has given nothing. */
static int is_gone(void)
{
    return errno == ENOENT || errno == ESRCH;
}

static int read_stat_of(pid_t pid, struct stat_line *s)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    return read_stat(path, s);
}

static struct cf_observed_task *find(struct cf_observed *t, pid_t pid)
{
    for (size_t i = 0; i < t->count; i++)
        if (t->observed[i].pid == pid && !t->observed[i].gone)
            return &t->observed[i];
    return NULL;
}

/* Returns 1 when the process is a new one, perhaps with the number of one that is gone. A list of
   children may be old by now: who has no parent among us is none of ours. */
static size_t add(struct cf_observed *t, pid_t pid)
{
    struct cf_observed_task *o = find(t, pid);
    struct stat_line s;

    if (!read_stat_of(pid, &s))
        return 0;
    if (o && s.start == o->start) {
        o->mark = t->mark;
        return 0;
    }
    if (o)
        o->gone = 1;
    if (s.parent != getpid() && !find(t, s.parent))
        return 0;
    if (t->count == t->room) {
        const size_t room = t->room ? 2 * t->room : 16;
        struct cf_observed_task *more = realloc(t->observed, room * sizeof *more);

        if (!more)
            return 0;
        t->observed = more;
        t->room = room;
    }
    o = &t->observed[t->count];
    *o = (struct cf_observed_task){
        .pid = pid, .parent = s.parent, .start = s.start, .fresh = 1, .mark = t->mark};
    memcpy(o->name, s.name, sizeof o->name);
    if (cf_guard_add(t, o) != 0)
        return 0;
    t->count++;
    return 1;
}

/* Children of one process, by the lists of its threads. */
static size_t add_children(struct cf_observed *t, pid_t pid)
{
    char path[96];
    const struct dirent *e;
    size_t fresh = 0, length;
    DIR *d;

    snprintf(path, sizeof path, "/proc/%d/task", pid);
    d = opendir(path);
    while (d && (e = readdir(d)) != NULL) {
        const char *p;
        uint64_t child;
        char *text;

        if (!isdigit((unsigned char)e->d_name[0]))
            continue;
        snprintf(path, sizeof path, "/proc/%d/task/%.20s/children", pid, e->d_name);
        p = text = cf_observed_read(path, &length);
        while (p && *p) { /* a blank behind each */
            p = cf_scan_number(p, CF_READ_DECIMAL, &child);
            if (!p || *p++ != ' ')
                break;
            fresh += add(t, (pid_t)child);
        }
        free(text);
    }
    if (d)
        closedir(d);
    return fresh;
}

/* Where the kernel has no such lists: all processes whose parent is one of ours, until no more are
   found. */
static size_t add_by_parents(struct cf_observed *t)
{
    size_t fresh = 0, more;

    do {
        DIR *d = opendir("/proc");
        const struct dirent *e;

        more = 0;
        while (d && (e = readdir(d)) != NULL) {
            const struct cf_observed_task *o;
            struct stat_line s;
            uint64_t pid;

            if (cf_read_number(e->d_name, CF_READ_DECIMAL, INT_MAX, &pid) != 0 ||
                !read_stat_of((pid_t)pid, &s))
                continue;
            o = find(t, s.parent);
            if (s.parent == getpid() || (o && o->mark == t->mark))
                more += add(t, (pid_t)pid);
        }
        if (d)
            closedir(d);
        fresh += more;
    } while (more);
    return fresh;
}

size_t cf_observed_find(struct cf_observed *t)
{
    size_t fresh = 0, kept = 0;

    t->mark++;
    if (!t->no_children && access("/proc/thread-self/children", R_OK) != 0)
        t->no_children = 1;
    if (t->no_children) {
        fresh = add_by_parents(t);
    } else {
        /* ours at any rate: one that stands must be let go, whatever a list lacks */
        for (unsigned i = 0; i < t->commands; i++)
            fresh += t->command[i].ended ? 0 : add(t, t->command[i].pid);
        fresh += add_children(t, getpid());
        for (size_t i = 0; i < t->count; i++) /* grows */
            if (t->observed[i].mark == t->mark)
                fresh += add_children(t, t->observed[i].pid);
    }
    for (size_t i = 0; i < t->count; i++) {
        struct cf_observed_task *o = &t->observed[i];
        struct stat_line s;

        /* lists of children may leave some out while others end: proc_tid_children(5) */
        if (o->mark != t->mark && (read_stat_of(o->pid, &s) ? s.start != o->start : is_gone()))
            o->gone = 1;
        if (!o->gone || !(o->fresh || o->ended))
            t->observed[kept++] = *o;
        else
            free(o->maps);
    }
    t->count = kept;
    return fresh;
}

/* ---- stopping ---- */

/* Whether a process has a child that shares its memory, as the parent of a vfork has while it
   waits. Where the kernel has no kcmp(2), or does not let us ask, any child is taken for one. */
static int has_lent_memory(const struct cf_observed *t, pid_t pid)
{
    for (size_t i = 0; i < t->count; i++)
        if (t->observed[i].parent == pid && !t->observed[i].gone) {
            const long differs = syscall(SYS_kcmp, pid, t->observed[i].pid, KCMP_VM, 0, 0);

            if (differs == 0 || (differs < 0 && errno != ESRCH))
                return 1;
        }
    return 0;
}

/* Whether all threads of a process stand still, or are gone. One in an uninterruptible sleep (D)
   may be in the midst of a fork, and its child would run; the parent of a vfork sleeps so until its
   child is done, and is stopped before it runs its program again. */
static int stands(const struct cf_observed *t, pid_t pid)
{
    char path[96];
    const struct dirent *e;
    int still = 1;
    DIR *d;

    snprintf(path, sizeof path, "/proc/%d/task", pid);
    d = opendir(path);
    while (d && still && (e = readdir(d)) != NULL) {
        struct stat_line s;

        if (!isdigit((unsigned char)e->d_name[0]))
            continue;
        snprintf(path, sizeof path, "/proc/%d/task/%.20s/stat", pid, e->d_name);
        still = !read_stat(path, &s) || (s.state != 'R' && s.state != 'S' && s.state != 'D') ||
                (s.state == 'D' && has_lent_memory(t, pid));
    }
    if (d)
        closedir(d);
    return still;
}

/* To this process and no other: its number may be another's by now, which a pidfd that was opened
   before we look rules out. Linux before 5.3 has none. Where the system does not let us look, a
   process is not stopped, but is let go: it would stand for ever. */
void cf_observed_signal(struct cf_observed_task *o, int number)
{
    struct stat_line s;
    int fd, known;

    if (o->gone)
        return;
    fd = (int)syscall(SYS_pidfd_open, o->pid, 0);
    known = read_stat_of(o->pid, &s);
    if (known ? s.start != o->start : is_gone())
        o->gone = 1;
    else if (known || number == SIGCONT)
        (void)(fd >= 0 ? syscall(SYS_pidfd_send_signal, fd, number, NULL, 0)
                       : kill(o->pid, number));
    if (fd >= 0)
        close(fd);
}

static uint64_t now_us(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
}

static unsigned count_moving(const struct cf_observed *t)
{
    unsigned moving = 0;

    for (size_t i = 0; i < t->count; i++)
        moving += !t->observed[i].gone && !stands(t, t->observed[i].pid);
    return moving;
}

/* A signal that was sent is not obeyed at once: who had no child when we searched may have forked
   before it stood. So the last search is one that began when all stood. We may have a higher
   priority than a task on our CPU that has yet to see its signal: between two looks it gets as much
   of the CPU as we took to look. Where looks are slow, there are three at least: one finds, in one
   they stop, and one sees that all stood. */
unsigned cf_observed_stop(struct cf_observed *t)
{
    uint64_t began = now_us(), took;
    const uint64_t until = began + STOP_MS * 1000;
    unsigned moving, moved;

    for (size_t i = 0; i < t->count; i++) /* those known from the last time, at once */
        cf_observed_signal(&t->observed[i], SIGSTOP);
    moved = count_moving(t);
    for (unsigned looks = 1;; looks++) {
        moving = (cf_observed_find(t) != 0) + moved;
        for (size_t i = 0; i < t->count; i++)
            if (t->observed[i].fresh)
                cf_observed_signal(&t->observed[i], SIGSTOP);
        moved = count_moving(t);
        moving += moved;
        if (!moving || (looks >= 3 && began >= until))
            return moving;
        took = now_us() - began;
        usleep((useconds_t)(took > POLL_US ? took : POLL_US));
        began = now_us();
    }
}

void cf_observed_continue(struct cf_observed *t)
{
    for (size_t i = 0; i < t->count; i++)
        cf_observed_signal(&t->observed[i], SIGCONT);
}
