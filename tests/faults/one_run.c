/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls of the C library itself (stdio, the allocator, the loader of locales) are seen too: the
 * kernel asks us about each (seccomp_unotify(2)). Memory and close are the preloaded library's, see
 * preload.c.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/faults/one_run.h"

enum { CPU_SECONDS = 60 };

const struct kind kinds[KINDS] = {
    [FAULT_MALLOC] = {.name = "malloc"},
    [FAULT_OPEN] = {"open",
                    EMFILE,
                    {
                        SYS_openat,
                        SYS_openat2,
#ifdef SYS_open
                        SYS_open,
                        SYS_creat,
#endif
                    }},
    [FAULT_READ] = {"read", EIO, {SYS_read, SYS_pread64, SYS_readv, SYS_preadv}},
    [FAULT_WRITE] = {"write", ENOSPC, {SYS_write, SYS_pwrite64, SYS_writev, SYS_pwritev}},
    [FAULT_CLOSE] = {.name = "close"},
    [FAULT_MMAP] = {"mmap", ENOMEM, {SYS_mmap, SYS_mremap}},
};

struct setup setup = {.page_name = "/tmp/cf-faults-XXXXXX", .patience = 120000};
struct faults *page;

void die(const char *what)
{
    fprintf(stderr, "faults: %s: %s\n", what, strerror(errno));
    unlink(setup.page_name);
    exit(3);
}

/* Asks the listener about these calls; allows the rest. */
static int filter(const int *call)
{
    struct sock_filter f[CALLS + 5];
    unsigned n = 0, count = 0;

    while (count < CALLS && (call[count] || count == 0))
        count++;
    f[n++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (unsigned i = 0; i < count; i++)
        f[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call[i],
                                              (uint8_t)(count + 1 - i), 0);
    f[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_execve, 1, 0);
    f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
    struct sock_fprog program = {(unsigned short)n, f};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return -1;
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
                        &program);
}

static void redirect(const char *path, int flags, int to)
{
    int fd = open(path, flags, 0600);

    if (fd < 0 || dup2(fd, to) < 0)
        _exit(126);
    close(fd);
}

static void child(int gate)
{
    const struct rlimit core = {0, 0}, cpu = {CPU_SECONDS, CPU_SECONDS};
    char c, folder[4096];

    if (!getcwd(folder, sizeof folder))
        _exit(126);
    setpgid(0, 0);
    setrlimit(RLIMIT_CORE, &core);
    setrlimit(RLIMIT_CPU, &cpu);
    redirect(setup.input ? setup.input : "/dev/null", O_RDONLY, 0);
    redirect("fault.out", O_WRONLY | O_CREAT | O_TRUNC, 1);
    redirect("fault.err", O_WRONLY | O_CREAT | O_TRUNC, 2);
    setenv("LD_PRELOAD", setup.preload, 1);
    setenv("CF_FAULTS", setup.page_name, 1);
    setenv("TMPDIR", folder, 1); /* what stays there is seen */
    if (kinds[page->kind].error) {
        /* As no call that the filter asks about may come before it is heard, the parent takes the
           listener itself; its number is all that it needs. */
        int fd = filter(kinds[page->kind].call);
        page->armed = fd < 0 ? UINT32_MAX : (uint32_t)fd << 8;
    } else {
        page->armed = 1 << 8;
    }
    /* Neither sending nor waiting is among the calls. */
    if (send(gate, "", 1, 0) != 1 || recv(gate, &c, 1, 0) != 1)
        _exit(126);
    page->armed = 0;
    execvp(setup.command[0], setup.command);
    _exit(127);
}

static int in_test(pid_t tid)
{
    char path[64];
    struct stat st;

    snprintf(path, sizeof path, "/proc/%d/task/%d", page->pid, tid);
    return stat(path, &st) == 0;
}

static void answer(int listener, struct seccomp_notif *ask, size_t ask_size)
{
    struct seccomp_notif_resp reply = {0};

    memset(ask, 0, ask_size);
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, ask) < 0)
        return;
    if (ask->data.nr == SYS_execve && in_test((pid_t)ask->pid))
        page->armed = 0; /* the loader of another program is not ours to test */
    reply.id = ask->id;
    reply.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    if (page->armed == 1 && ask->data.nr != SYS_execve &&
        in_test((pid_t)ask->pid) != setup.started &&
        !(page->kind == FAULT_WRITE && ask->data.args[0] == STDERR_FILENO) &&
        ++page->count == page->nth) {
        reply.flags = 0;
        reply.error = -kinds[page->kind].error;
    }
    (void)ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &reply);
}

/* Whether processes that the program has started go on for as long; they have become ours. */
static int outlived(void)
{
    for (int waited = 0; waited <= setup.patience; waited += 10) {
        pid_t one;
        while ((one = waitpid(-1, NULL, WNOHANG)) > 0)
            ;
        if (one < 0)
            return 0;
        poll(NULL, 0, 10);
    }
    return 1;
}

static void watch(pid_t pid, int pidfd, int listener, struct run *r)
{
    struct seccomp_notif_sizes sizes;
    struct seccomp_notif *ask;
    int ended = 0, hung_up = listener < 0;

    if (syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) < 0 ||
        !(ask = malloc(sizes.seccomp_notif)))
        die("seccomp");
    for (;;) {
        struct pollfd p[2] = {{.fd = hung_up ? -1 : listener, .events = POLLIN},
                              {.fd = ended ? -1 : pidfd, .events = POLLIN}};
        int n = poll(p, 2, setup.patience);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            if (ended)
                r->left = 1;
            else
                r->hung = 1;
            kill(-pid, SIGKILL);
            if (!ended)
                waitpid(pid, &r->status, 0);
            break;
        }
        if (p[0].revents & POLLIN)
            answer(listener, ask, sizes.seccomp_notif);
        if (p[1].revents & POLLIN) {
            if (waitpid(pid, &r->status, 0) != pid)
                die("waitpid");
            ended = 1;
        }
        /* no process is left that could ask; the last one may still be ending */
        hung_up |= (p[0].revents & POLLHUP) != 0;
        if (ended && hung_up)
            break;
    }
    free(ask);
}

static struct content take(const char *path)
{
    struct content c = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;

    if (fd < 0)
        return c;
    if (fstat(fd, &st) < 0 || !(c.bytes = malloc((size_t)st.st_size + 1)) ||
        read(fd, c.bytes, (size_t)st.st_size) != st.st_size)
        die(path);
    c.size = (size_t)st.st_size;
    c.bytes[c.size] = '\0';
    c.there = 1;
    close(fd);
    return c;
}

/* What a command of the shell prints, its messages included: some damage is only in these. */
static struct content printed(const char *shell)
{
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        redirect("/dev/null", O_RDONLY, 0);
        redirect("fault.seen", O_WRONLY | O_CREAT | O_TRUNC, 1);
        dup2(1, 2);
        execl("/bin/sh", "sh", "-c", shell, (char *)NULL);
        _exit(127);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        die(shell);
    return take("fault.seen");
}

/* ---- the folder ---- */

static char content_before[] = "what was there before the run\n";
const struct content before_run = {content_before, sizeof content_before - 1, 1};

static char **known; /* names that no run has made, or the first one, and not those of files */
static size_t known_count;

static int is_known(const char *entry)
{
    for (size_t i = 0; i < known_count; i++)
        if (strcmp(known[i], entry) == 0)
            return 1;
    for (unsigned i = 0; i < setup.file_count; i++)
        if (strcmp(setup.files[i], entry) == 0)
            return 1;
    return 0;
}

static void know(const char *entry)
{
    char **more = realloc(known, (known_count + 1) * sizeof *known);

    if (!more || !(more[known_count++] = strdup(entry)))
        die(entry);
    known = more;
}

/* With a run: what it has left, else what it finds. */
static void look_around(struct run *r)
{
    static int ran;
    const struct dirent *e;
    DIR *d = opendir(".");

    if (!d)
        die("the folder");
    while ((e = readdir(d))) {
        if (is_known(e->d_name))
            continue;
        if (!r || !ran) {
            know(e->d_name);
            continue;
        }
        if (!r->err.bytes || !strstr(r->err.bytes, e->d_name))
            snprintf(r->stray, sizeof r->stray, "%s", e->d_name);
        if (unlink(e->d_name) != 0)
            die(e->d_name);
    }
    closedir(d);
    ran |= r != NULL;
}

static void put_before(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    if (fd < 0 || write(fd, before_run.bytes, before_run.size) != (ssize_t)before_run.size ||
        close(fd) != 0)
        die(path);
}

/* ---- a run ---- */

struct run run_once(enum fault_kind kind, uint64_t nth)
{
    struct run r = {0};
    int gate[2], pidfd, listener = -1;
    pid_t pid = -1;
    char c;

    *page = (struct faults){.kind = kind, .nth = nth, .started = setup.started};
    for (unsigned i = 0; i < setup.file_count; i++) {
        unlink(setup.files[i]);
        if (nth % 2 == 0)
            put_before(setup.files[i]);
    }
    /* what the program leaves behind becomes ours, but not what the command before it left */
    if (prctl(PR_SET_CHILD_SUBREAPER, 0) < 0 || (setup.before && system(setup.before) != 0) ||
        prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
        die(setup.before ? setup.before : "prctl");
    look_around(NULL);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, gate) < 0 || (pid = fork()) < 0)
        die("fork");
    if (pid == 0) {
        page->pid = getpid();
        close(gate[0]);
        child(gate[1]);
    }
    close(gate[1]);
    pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (recv(gate[0], &c, 1, 0) != 1 || pidfd < 0)
        die("the program's process");
    if (page->armed == UINT32_MAX) {
        fprintf(stderr, "faults: the kernel does not let us watch system calls\n");
        kill(pid, SIGKILL);
        unlink(setup.page_name);
        exit(3);
    }
    if (kinds[kind].error &&
        (listener = (int)syscall(SYS_pidfd_getfd, pidfd, (int)(page->armed >> 8), 0)) < 0)
        die("pidfd_getfd");
    if (send(gate[0], "", 1, 0) != 1)
        die("the program's process");
    watch(pid, pidfd, listener, &r);
    if (!r.hung && !r.left && outlived()) {
        r.left = 1;
        kill(-pid, SIGKILL);
    }
    close(gate[0]);
    close(pidfd);
    if (listener >= 0)
        close(listener);
    r.out = take("fault.out");
    r.err = take("fault.err");
    for (unsigned i = 0; i < setup.file_count; i++)
        r.file[i] = take(setup.files[i]);
    look_around(&r);
    r.verified = setup.verifies && r.status && system(setup.verifies) == 0;
    if (setup.compared && WIFEXITED(r.status) && WEXITSTATUS(r.status) == 0)
        r.seen = printed(setup.compared);
    return r;
}

void forget(struct run *r)
{
    free(r->out.bytes);
    free(r->err.bytes);
    free(r->seen.bytes);
    for (unsigned i = 0; i < setup.file_count; i++)
        free(r->file[i].bytes);
}
