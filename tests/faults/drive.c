/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * drive.c - runs a program again and again, and each time lets one more call fail.
 *
 *     faults [-k KIND] [-m MOST] [-n NTH] [-f FILE]... [-i FILE] [-b COMMAND] [-c COMMAND] [-a]
 *            [-s] [-x TEXT] -- PROGRAM [ARGUMENT]...
 *
 * For each KIND (malloc, open, read, write, close, mmap; all without -k) the first call fails, then
 * the second, until a run ends before any has failed; with -m, only MOST of them, spread evenly;
 * with -n that one alone. Standard input is the file -i, or empty; before each run the shell runs
 * the COMMAND. A run is right when it exits
 *     0  with the same standard output and the same files -f as the run without a fault;
 *     3  with a message that begins with the program's name.
 * So a fault in reading an input is 3 too: the input is none the worse for it. With -a the output
 * differs from run to run, and is not compared; with -c what the shell's COMMAND prints about it
 * is. With -s the calls of processes that the PROGRAM starts fail, and not its own; memory and
 * close only with -k, and of one that runs the same program. A run with the TEXT of a -x in its
 * messages is right however it ends.
 * Each wrong run is one line on standard output; the last line counts the runs. Exit status 0 when
 * all were right, 1 when not, 2 for wrong usage, 3 when runs could not be made.
 *
 * Calls of the C library itself (stdio, the allocator, the loader of locales) are seen too: the
 * kernel asks us about each (seccomp_unotify(2)). Standard error is left alone, where the message
 * goes. Memory and close are the preloaded library's, see preload.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/faults/faults.h"

enum { KINDS = FAULT_MMAP + 1, CALLS = 8, FILES = 8, WALL_MS = 120000, CPU_SECONDS = 60 };

static const struct kind {
    const char *name;
    int error;
    int call[CALLS]; /* ends with 0, which is read(2) and stands first where it is meant */
} kinds[KINDS] = {
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

struct content {
    char *bytes;
    size_t size;
    int there;
};

struct run {
    int status;     /* as from waitpid() */
    int hung, left; /* processes went on after the program's end */
    struct content out, err, seen, file[FILES];
};

static struct faults *page;
static char page_name[] = "/tmp/cf-faults-XXXXXX";
static const char *files[FILES], *input, *before, *compared;
static unsigned file_count;
static const char *excused[FILES];
static unsigned excuses;
static int any_output, started;
static char **command;
static const char *name; /* of the program, in its messages */
static const char *preload;

static void die(const char *what)
{
    fprintf(stderr, "faults: %s: %s\n", what, strerror(errno));
    unlink(page_name);
    exit(3);
}

/* ---- one run ---- */

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
    char c;

    setpgid(0, 0);
    setrlimit(RLIMIT_CORE, &core);
    setrlimit(RLIMIT_CPU, &cpu);
    redirect(input ? input : "/dev/null", O_RDONLY, 0);
    redirect("fault.out", O_WRONLY | O_CREAT | O_TRUNC, 1);
    redirect("fault.err", O_WRONLY | O_CREAT | O_TRUNC, 2);
    setenv("LD_PRELOAD", preload, 1);
    setenv("CF_FAULTS", page_name, 1);
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
    execvp(command[0], command);
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
    if (page->armed == 1 && ask->data.nr != SYS_execve && in_test((pid_t)ask->pid) != started &&
        !(page->kind == FAULT_WRITE && ask->data.args[0] == STDERR_FILENO) &&
        ++page->count == page->nth) {
        reply.flags = 0;
        reply.error = -kinds[page->kind].error;
    }
    (void)ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &reply);
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
        int n = poll(p, 2, ended ? 10000 : WALL_MS);
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

static struct run run_once(enum fault_kind kind, uint64_t nth)
{
    struct run r = {0};
    int gate[2], pidfd, listener = -1;
    pid_t pid = -1;
    char c;

    *page = (struct faults){.kind = kind, .nth = nth, .started = started};
    for (unsigned i = 0; i < file_count; i++)
        unlink(files[i]);
    if (before && system(before) != 0)
        die(before);
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
        unlink(page_name);
        exit(3);
    }
    if (kinds[kind].error &&
        (listener = (int)syscall(SYS_pidfd_getfd, pidfd, (int)(page->armed >> 8), 0)) < 0)
        die("pidfd_getfd");
    if (send(gate[0], "", 1, 0) != 1)
        die("the program's process");
    watch(pid, pidfd, listener, &r);
    close(gate[0]);
    close(pidfd);
    if (listener >= 0)
        close(listener);
    r.out = take("fault.out");
    r.err = take("fault.err");
    for (unsigned i = 0; i < file_count; i++)
        r.file[i] = take(files[i]);
    if (compared && WIFEXITED(r.status) && WEXITSTATUS(r.status) == 0)
        r.seen = printed(compared);
    return r;
}

static void forget(struct run *r)
{
    free(r->out.bytes);
    free(r->err.bytes);
    free(r->seen.bytes);
    for (unsigned i = 0; i < file_count; i++)
        free(r->file[i].bytes);
}

/* ---- what is right ---- */

static int differs(const struct content *a, const struct content *b)
{
    return a->there != b->there || a->size != b->size ||
           (a->size && memcmp(a->bytes, b->bytes, a->size) != 0);
}

/* A line that begins with the program's name, or cf-capture's with that of a capture. */
static int told(const struct run *r)
{
    size_t n = strlen(name);

    for (const char *s = r->err.bytes; s && *s; s = strchr(s, '\n') ? strchr(s, '\n') + 1 : NULL)
        if (strncmp(s, name, n) == 0 && (s[n] == ':' || s[n] == '-'))
            return 1;
    return 0;
}

/* What is wrong with a run, NULL if nothing. */
static const char *wrong(const struct run *r, const struct run *whole)
{
    static char text[128];

    for (unsigned i = 0; i < excuses; i++)
        if (r->err.bytes && strstr(r->err.bytes, excused[i]))
            return NULL;
    if (r->hung)
        return "hangs";
    if (r->left)
        return "leaves processes behind";
    if (WIFSIGNALED(r->status)) {
        snprintf(text, sizeof text, "signal %d", WTERMSIG(r->status));
        return text;
    }
    int status = WEXITSTATUS(r->status);
    if (status == 0) {
        if (differs(&r->seen, &whole->seen))
            return "status 0, other output";
        if (any_output)
            return NULL;
        if (differs(&r->out, &whole->out))
            return "status 0, other output";
        for (unsigned i = 0; i < file_count; i++)
            if (differs(&r->file[i], &whole->file[i]))
                return "status 0, another file";
        return NULL;
    }
    if (status != 3) {
        snprintf(text, sizeof text, "status %d", status);
        return text;
    }
    return told(r) ? NULL : "no message";
}

/* ---- all runs ---- */

static uint64_t runs, bad;

static int try(enum fault_kind kind, uint64_t nth, const struct run *whole)
{
    struct run r = run_once(kind, nth);
    const char *why = wrong(&r, whole);
    int reached = page->count >= nth;

    if (why) {
        bad++;
        printf("%s: %s %" PRIu64 ": %s: %.*s%s", name, kinds[kind].name, nth, why,
               (int)strcspn(r.err.bytes ? r.err.bytes : "", "\n"), r.err.bytes, "\n");
        fflush(stdout);
    }
    runs++;
    forget(&r);
    return reached;
}

static void try_all(enum fault_kind kind, uint64_t most, const struct run *whole)
{
    if (most == 0) {
        for (uint64_t n = 1; try(kind, n, whole); n++)
            ;
        return;
    }
    struct run r = run_once(kind, UINT64_MAX);
    uint64_t all = page->count;
    forget(&r);
    for (uint64_t i = 0; i < most && i < all; i++)
        try(kind, all <= most ? i + 1 : 1 + i * (all - 1) / (most > 1 ? most - 1 : 1), whole);
}

static int kind_named(const char *text)
{
    for (int k = 0; k < KINDS; k++)
        if (strcmp(kinds[k].name, text) == 0)
            return k;
    return -1;
}

int main(int argc, char **argv)
{
    unsigned chosen = 0;
    uint64_t most = 0, only = 0;
    char self[4096];
    int option, fd;
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 32);

    while ((option = getopt(argc, argv, "+k:m:n:f:i:b:c:asx:")) != -1) {
        switch (option) {
        case 'k':
            if (kind_named(optarg) < 0)
                return 2;
            chosen |= 1u << kind_named(optarg);
            break;
        case 'm':
            most = strtoull(optarg, NULL, 10);
            break;
        case 'n':
            only = strtoull(optarg, NULL, 10);
            break;
        case 'f':
            if (file_count < FILES)
                files[file_count++] = optarg;
            break;
        case 'i':
            input = optarg;
            break;
        case 'b':
            before = optarg;
            break;
        case 'c':
            compared = optarg;
            break;
        case 'a':
            any_output = 1;
            break;
        case 's':
            started = 1;
            break;
        case 'x':
            if (excuses < FILES)
                excused[excuses++] = optarg;
            break;
        default:
            return 2;
        }
    }
    command = argv + optind;
    if (!command[0] || n <= 0) {
        fprintf(stderr,
                "usage: faults [-k KIND] [-m MOST] [-n NTH] [-f FILE]... [-i FILE] [-b COMMAND] "
                "[-c COMMAND] [-a] [-s] [-x TEXT]... -- PROGRAM [ARGUMENT]...\n");
        return 2;
    }
    self[n] = '\0';
    strcpy(strrchr(self, '/') + 1, "faults.so");
    preload = self;
    name = strrchr(command[0], '/') ? strrchr(command[0], '/') + 1 : command[0];
    fd = mkstemp(page_name);
    if (fd < 0 || ftruncate(fd, 4096) < 0)
        die(page_name);
    page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (page == MAP_FAILED)
        die("mmap");
    struct run whole = run_once(FAULT_MALLOC, UINT64_MAX);
    if (!WIFEXITED(whole.status) || WEXITSTATUS(whole.status) != 0 || page->armed != 1) {
        fprintf(stderr, "faults: %s fails without a fault: status 0x%x: %s", name,
                (unsigned)whole.status, whole.err.bytes ? whole.err.bytes : "\n");
        unlink(page_name);
        return 3;
    }
    for (int k = 0; k < KINDS; k++)
        if (chosen ? chosen & 1u << k : !started || kinds[k].error) {
            if (only)
                try((enum fault_kind)k, only, &whole);
            else
                try_all((enum fault_kind)k, most, &whole);
        }
    printf("%s: %" PRIu64 " runs, %" PRIu64 " wrong\n", name, runs, bad);
    unlink(page_name);
    return bad ? 1 : 0;
}
