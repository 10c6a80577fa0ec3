/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_command.c - running a command under observation. See cf_command.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "formats/base/cf_memory.h"

#include "capture/base/cf_command.h"

static const int end_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXFSZ};
enum { END_SIGNALS = sizeof(end_signals) / sizeof(*end_signals) };

/* For the handler: what came, and whom it concerns. */
static volatile sig_atomic_t caught, caught_count;
enum { COMMAND, BESIDE, HANDED_ON };
static volatile pid_t handed_on[HANDED_ON]; /* 0: nobody */

static void on_signal(int s, siginfo_t *info, void *context)
{
    (void)context;
    if (cf_command_own_limit(info))
        return;
    caught = s;
    if (++caught_count > 1 && s != SIGHUP) /* a shell repeats what the terminal has said */
        s = SIGKILL;
    else if (info->si_code == SI_KERNEL) /* a terminal signals the program itself */
        return;
    for (int i = 0; i < HANDED_ON; i++)
        if (handed_on[i])
            kill(handed_on[i], s);
}

int cf_command_find(const char *name, char *path, size_t size)
{
    const char *p = getenv("PATH");
    int found = CF_COMMAND_NOT_FOUND;
    struct stat st;

    if (strchr(name, '/')) {
        snprintf(path, size, "%s", name);
        if (stat(path, &st) != 0)
            return CF_COMMAND_NOT_FOUND;
        return S_ISREG(st.st_mode) && access(path, X_OK) == 0 ? 0 : CF_COMMAND_NOT_EXECUTABLE;
    }
    for (p = p ? p : "/usr/local/bin:/usr/bin:/bin"; *name; p++) {
        size_t n = strcspn(p, ":");

        snprintf(path, size, "%.*s%s%s", (int)n, p, n ? "/" : "", name);
        if (stat(path, &st) == 0 && S_ISREG(st.st_mode)) {
            if (access(path, X_OK) == 0)
                return 0;
            found = CF_COMMAND_NOT_EXECUTABLE;
        }
        p += n;
        if (!*p)
            break;
    }
    return found;
}

void cf_command_print(FILE *f, char *const *argv)
{
    for (int i = 0; argv[i]; i++) {
        const char *s = argv[i];

        if (i)
            fputc(' ', f);
        if (*s && !s[strcspn(s, " \t\n'\"\\$`*?[]{}()<>|&;#~!")]) {
            fputs(s, f);
            continue;
        }
        fputc('\'', f);
        for (; *s; s++)
            if (*s == '\'')
                fputs("'\\''", f);
            else
                fputc(*s, f);
        fputc('\'', f);
    }
}

/* As a string, which the caller frees; NULL: out of memory. */
static char *quoted(char *const *argv)
{
    char *line = NULL;
    size_t size;
    FILE *f = open_memstream(&line, &size);

    if (!f)
        return NULL;
    cf_command_print(f, argv);
    return cf_memory_text(f, &line);
}

int cf_command_header(const struct cf_command *run, struct cf_writer *w, const char *machine,
                      char *const *argv)
{
    const struct cf_header header = {.clock_unit = (char *)"instructions",
                                     .source = (char *)run->tool->name,
                                     .machine = (char *)machine,
                                     .command = quoted(argv),
                                     .here = 1};
    const int status = cf_writer_header(w, &header);

    free(header.command);
    return status;
}

void cf_command_prepare(struct cf_command *c)
{
    c->pipe_action = signal(SIGPIPE, SIG_IGN);
}

static int ignored(int number)
{
    struct sigaction now;

    return sigaction(number, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

void cf_command_end_signals(sigset_t *set)
{
    for (unsigned i = 0; i < END_SIGNALS; i++)
        if (!ignored(end_signals[i]))
            sigaddset(set, end_signals[i]);
}

void cf_command_catch(void (*f)(int, siginfo_t *, void *), int flags)
{
    struct sigaction action = {.sa_sigaction = f, .sa_flags = SA_SIGINFO | flags};

    cf_command_end_signals(&action.sa_mask); /* a second waits for the first */
    for (unsigned i = 0; i < END_SIGNALS; i++)
        if (!ignored(end_signals[i]))
            sigaction(end_signals[i], &action, NULL);
}

int cf_command_own_limit(const siginfo_t *info)
{
    return info->si_signo == SIGXFSZ && info->si_pid == getpid();
}

void cf_command_ended(void)
{
    handed_on[COMMAND] = 0;
}

int cf_command_caught(void)
{
    return caught;
}

pid_t cf_command_fork(struct cf_command *c)
{
    sigset_t block;
    pid_t child;

    /* No signal between the fork and the handlers. */
    sigemptyset(&block);
    cf_command_end_signals(&block);
    sigprocmask(SIG_BLOCK, &block, &c->mask);
    fflush(NULL);
    child = fork();
    if (child == 0)
        return 0;
    if (child > 0) {
        handed_on[COMMAND] = child;
        cf_command_catch(on_signal, SA_RESTART);
        clock_gettime(CLOCK_MONOTONIC_COARSE, &c->flushed);
        c->begun = c->flushed;
    }
    sigprocmask(SIG_SETMASK, &c->mask, NULL);
    return child;
}

struct cf_process cf_process_look(pid_t tid)
{
    struct cf_process is = {0};
    char path[64], line[256];
    FILE *f;

    snprintf(path, sizeof path, "/proc/%d/status", (int)tid);
    f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f)) {
        (void)sscanf(line, "State: %c", &is.state);
        (void)sscanf(line, "Tgid: %d", &is.pid);
        (void)sscanf(line, "PPid: %d", &is.parent);
        (void)sscanf(line, "TracerPid: %d", &is.tracer);
        (void)sscanf(line, "Threads: %d", &is.threads);
    }
    if (f)
        fclose(f);
    return is;
}

void cf_command_attached(struct cf_command *c)
{
    cf_command_catch(on_signal, SA_RESTART);
    clock_gettime(CLOCK_MONOTONIC_COARSE, &c->flushed);
    c->begun = c->flushed;
}

void cf_command_exec(struct cf_command *c, const char *const *argv)
{
    int out = c->standard_output ? c->standard_output : STDERR_FILENO;

    if (c->command_output) {
        out = open(c->command_output, O_WRONLY | O_CREAT | O_TRUNC, 0666);
        if (out < 0) {
            cf_warn(c->tool, "%s: %s", c->command_output, strerror(errno));
            _exit(CF_EXIT_ENVIRONMENT);
        }
    }
    if (c->command_output || !c->output)
        dup2(out, STDOUT_FILENO);
    if (c->command_output && out != STDOUT_FILENO)
        close(out);
    signal(SIGPIPE, c->pipe_action);
    signal(SIGCHLD, c->tool->child_action);
    sigprocmask(SIG_SETMASK, &c->mask, NULL);
    execvp(argv[0], (char *const *)argv);
    cf_warn(c->tool, "%s: %s", argv[0], strerror(errno));
    _exit(CF_EXIT_ENVIRONMENT);
}

int cf_command_flush_due(struct cf_command *c)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    if ((now.tv_sec - c->flushed.tv_sec) * 1000 + (now.tv_nsec - c->flushed.tv_nsec) / 1000000 <
        CF_COMMAND_FLUSH_MS)
        return 0;
    c->flushed = now;
    return 1;
}

/* "1.2 M accesses, 0.3 MiB, 0.4 M accesses a second" */
static char *recorded(const struct cf_command *c, char text[128], uint64_t accesses, uint64_t bytes)
{
    struct timespec now;
    double seconds;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    seconds =
        (double)(now.tv_sec - c->begun.tv_sec) + (double)(now.tv_nsec - c->begun.tv_nsec) / 1e9;
    snprintf(text, 128, "%.2f M accesses, %.2f MiB, %.1f s, %.2f M accesses a second",
             (double)accesses / 1e6, (double)bytes / 1048576.0, seconds,
             seconds > 0 ? (double)accesses / 1e6 / seconds : 0.0);
    return text;
}

void cf_command_show(struct cf_command *c, const struct cf_writer *w, uint64_t accesses)
{
    char text[128];

    if ((c->command_output || (c->output && !isatty(STDOUT_FILENO))) && cf_tool_due(c->tool))
        cf_tool_show(c->tool, "%s", recorded(c, text, accesses, cf_writer_bytes(w)));
}

void cf_command_tell(const struct cf_command *c, const char *file, uint64_t accesses)
{
    struct stat st;
    char text[128];

    if (file && !c->tool->quiet && isatty(STDERR_FILENO) && stat(file, &st) == 0 &&
        S_ISREG(st.st_mode))
        cf_warn(c->tool, "%s: %s", file, recorded(c, text, accesses, (uint64_t)st.st_size));
}

void cf_command_beside(pid_t process)
{
    handed_on[BESIDE] = process;
}

int cf_command_reap(pid_t child, int *ended, int options)
{
    siginfo_t info = {0};

    /* Its number is another process's as soon as it is reaped. */
    while (waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT | options) < 0)
        if (errno != EINTR)
            return 1;
    if (info.si_pid != child)
        return 0;
    for (int i = 0; i < HANDED_ON; i++)
        if (handed_on[i] == child)
            handed_on[i] = 0;
    waitpid(child, ended, 0);
    return 1;
}

int cf_command_close(struct cf_tool *t, struct cf_writer *w, const char *output, int *signalled)
{
    int status;

    /* The last write may be the first that fails, and the writer closes standard output. */
    t->pipe = output ? 0 : fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    status = cf_tool_finish(t, NULL, w);
    if (t->pipe > 0)
        close(t->pipe);
    if (t->unread && !*signalled)
        *signalled = SIGPIPE;
    return status;
}

int cf_command_status(int ended)
{
    return WIFSIGNALED(ended) ? CF_COMMAND_SIGNAL + WTERMSIG(ended) : WEXITSTATUS(ended);
}

void cf_command_raise(int number)
{
    const struct rlimit no_core = {0, 0};
    sigset_t none;

    setrlimit(RLIMIT_CORE, &no_core); /* of us it would show nothing */
    sigemptyset(&none);
    signal(number, SIG_DFL);
    raise(number);
    sigprocmask(SIG_SETMASK, &none, NULL); /* where it was blocked, it comes now */
}

void cf_command_end(struct cf_command *c, struct cf_writer *w)
{
    c->failed = cf_command_close(c->tool, w, c->output, &c->signalled);
}

int cf_command_finish(struct cf_command *c, int status, int ended)
{
    if (caught)
        c->signalled = caught;
    if (c->signalled)
        cf_command_raise(c->signalled);
    if (c->failed > status)
        status = c->failed;
    return status != CF_EXIT_OK ? status : cf_command_status(ended);
}

int cf_command_unbegun(struct cf_command *c, struct cf_writer *w)
{
    cf_command_end(c, w);
    return cf_command_finish(c, CF_EXIT_ENVIRONMENT, 0);
}
