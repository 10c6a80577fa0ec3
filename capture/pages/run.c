/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run.c - one run of the program: from its start to its end, with a stop at the entry of the
 * function and one at its return ("Governing with Insights", sections 4.3.1 and 5.1).
 *
 * At the entry all threads stand still; the trap there goes, one is put behind the return, what is
 * asked for is done to the pages, and the time runs from when the thread goes on (between.c). After
 * the return the program runs on untraced.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/base/cf_clock.h"
#include "capture/pages/pages.h"
#include "capture/watch/watch_arch.h"

enum phase { BEFORE, INSIDE, BEHIND };

struct state {
    struct pages *k;
    struct pages_run *run;
    struct cf_watch *w;
    enum phase phase;
    pid_t pid, tid; /* of the program, and of the thread that measures */
    int ended;
    int named; /* the function's name was looked at */
    uint32_t calls;
    uint64_t to, sp; /* where it returns to, and with which stack pointer */
    struct pages_between between;
    struct pages_layout before; /* at the entry */
};

static void on_ended(void *arg, pid_t pid, int status)
{
    struct state *s = arg;

    if (pid != s->pid)
        return;
    s->k->ended = status;
    s->ended = 1;
    cf_command_ended();
}

/* Ends the program, since no run of it can be of use. */
static void give_up(struct state *s)
{
    kill(s->pid, SIGKILL);
    while (!s->ended && cf_watch_wait() == 0)
        if (cf_watch_handle(s->w, on_ended, s))
            cf_watch_continue(s->w);
}

/* Past a trap, with which no other thread of the program may slip past meanwhile. */
static void go_past(struct state *s)
{
    (void)cf_watch_stop(s->w, on_ended, s);
    cf_watch_continue(s->w);
}

static void drop(struct state *s, const char *why)
{
    if (!*s->run->why)
        snprintf(s->run->why, sizeof s->run->why, "%s", why);
}

/* ---- the entry ---- */

static void refused(struct state *s, const char *what, int error)
{
    give_up(s);
    cf_die(&s->k->tool, CF_EXIT_ENVIRONMENT, "%s: %s: %s", s->k->o.argv[0], what, strerror(error));
}

static int read_layout(struct state *s, struct pages_layout *l)
{
    static const char what[] = "its mappings cannot be read";

    if (pages_layout_read(l, s->pid, s->between.stub.page) == 0) {
        if (s->run->purpose == PAGES_SAMPLE && pages_layout_like(l, &s->k->layout) != 0)
            cf_out_of_memory(&s->k->tool);
        return 0;
    }
    if (cf_is_refusal(errno))
        refused(s, what, errno);
    drop(s, what);
    return -1;
}

/* Whether the place that a function returns to is code of the program. */
static int is_code(const struct pages_layout *l, uint64_t addr)
{
    for (size_t i = 0; i < l->count; i++)
        if (addr >= l->mapping[i].start && addr < l->mapping[i].end)
            return (l->mapping[i].flags & PAGECTL_EXEC) != 0;
    return 0;
}

/* What is asked for is done to the pages. Traps stand by then: putting one into a page gives the
   process a page of its own there, which must not happen after its attributes were changed. */
static void prepare(struct state *s)
{
    struct pages *k = s->k;

    if (s->run->purpose == PAGES_LAYOUT) {
        pages_layout_free(&k->layout);
        if (pages_layout_read(&k->layout, s->pid, s->between.stub.page) != 0 ||
            pages_layout_divide(&k->layout, &k->calls) != 0)
            cf_out_of_memory(&k->tool);
    }
    if (s->run->purpose != PAGES_SAMPLE ||
        !pages_layout_same(&k->layout, &s->before, s->run->why, sizeof s->run->why) ||
        (!s->run->off && !s->run->move))
        return;
    pages_target(k, s->pid, &s->before);
    (void)pages_apply(k, &s->before, s->run);
}

static void enter(struct state *s, pid_t tid)
{
    struct pages *k = s->k;

    if (cf_watch_stop(s->w, on_ended, s) != 0)
        drop(s, "a thread did not stop at the entry within 100 ms");
    cf_watch_calls(s->w, NULL, NULL);
    if (!s->ended && cf_watch_arch_call(tid, &s->to, &s->sp) == 0)
        pages_between_map(k, s->w, tid, &s->between, s->run);
    else
        drop(s, "it was gone at the entry");
    if (*s->run->why || read_layout(s, &s->before) != 0) {
        cf_watch_continue(s->w);
        return;
    }
    if (!is_code(&s->before, s->to)) {
        give_up(s);
        cf_die(&k->tool, CF_EXIT_USAGE,
               "--function %s: what it returns to, 0x%llx, is no code: this is not the first "
               "instruction of a function",
               k->o.function, (unsigned long long)s->to);
    }
    if (s->run->purpose == PAGES_SAMPLE)
        pages_counters_open(k, s->pid);
    if (pages_between_ready(k, s->w, tid, &s->between, s->to) != 0) {
        give_up(s);
        cf_die(&k->tool, CF_EXIT_ENVIRONMENT, "ptrace: %s", strerror(errno));
    }
    s->phase = INSIDE;
    s->tid = tid;
    prepare(s);
    pages_between_begin(k, s->w, tid, &s->between, s->run);
    cf_watch_continue(s->w);
}

/* ---- the return ---- */

static void leave(struct state *s, uint64_t now)
{
    struct pages_layout after = {0};
    struct pages *k = s->k;
    char why[sizeof s->run->why];

    pages_between_end(k, s->tid, &s->between, now, s->run);
    (void)cf_watch_stop(s->w, on_ended, s);
    s->phase = BEHIND;
    if (read_layout(s, &after) == 0 && s->run->purpose != PAGES_MEMORY &&
        pages_layout_changed(&s->before, &after, why, sizeof why))
        drop(s, why);
    if (s->run->purpose == PAGES_MEMORY) {
        k->pad = pages_memory(s->pid, &after);
    } else if (s->run->purpose == PAGES_LAYOUT && !*s->run->why) {
        pages_list(k, s->pid);
        pages_target(k, s->pid, &after);
        pages_try(k);
        pages_restore(k);
    } else if (s->run->off || s->run->move) {
        if (!*s->run->why)
            (void)pages_held(k, &s->before, s->run);
        pages_restore(k);
    }
    pages_layout_free(&after);
    cf_watch_release(s->w);
}

static void on_return(struct state *s, const struct cf_watch_hit *hit, uint64_t now)
{
    uint64_t sp = 0;

    if (hit->tid != s->tid || s->phase != INSIDE || cf_watch_arch_sp(hit->tid, &sp) != 0 ||
        sp < s->sp) {
        go_past(s); /* another thread; or a call that the function made of itself */
        return;
    }
    if (sp != s->sp)
        drop(s, "the function was left by longjmp() or an exception");
    leave(s, now);
}

/* ---- all of it ---- */

/* Refuses a name that several functions have, as soon as the program has been loaded. */
static void check_name(struct state *s)
{
    const char *name = s->k->o.function;

    if (s->named || !cf_watch_found(s->w, PAGES_ENTRY))
        return;
    s->named = 1;
    if (cf_watch_found(s->w, PAGES_ENTRY) == 1)
        return;
    give_up(s);
    cf_die(&s->k->tool, CF_EXIT_USAGE, "--function %s: there are several of that name: %s", name,
           cf_watch_places(s->w));
}

static void on_call(void *arg, const struct cf_watch_call *call)
{
    struct state *s = arg;

    if (call->pid == s->pid && pages_calls_take(&s->k->calls, call) != 0)
        cf_out_of_memory(&s->k->tool);
}

static void on_hit(struct state *s, uint64_t now)
{
    struct cf_watch_hit hit;

    if (cf_watch_get_hit(s->w, &hit) != 0 || hit.pid != s->pid) {
        cf_watch_continue(s->w); /* in a child: not observed */
        return;
    }
    if (hit.point == PAGES_RETURN) {
        on_return(s, &hit, now);
        return;
    }
    if (++s->calls == s->k->o.call)
        enter(s, hit.tid);
    else
        go_past(s);
}

static void child(struct pages *k, const struct pages_run *run, int barrier)
    __attribute__((noreturn));

static void child(struct pages *k, const struct pages_run *run, int barrier)
{
    char text[32], byte;

    while (read(barrier, &byte, 1) < 0 && errno == EINTR)
        ;
    if (run->purpose != PAGES_MEMORY) {
        snprintf(text, sizeof text, "%llu", (unsigned long long)k->pad);
        setenv("MALLOC_TOP_PAD_", text, 1);
        setenv("MALLOC_MMAP_MAX_", "0", 1);
    }
    cf_command_exec(&k->command, (const char *const *)k->o.argv);
}

static void start(struct state *s)
{
    struct pages *k = s->k;
    int barrier[2];

    if (k->input >= 0)
        (void)lseek(STDIN_FILENO, k->input, SEEK_SET);
    if (pipe2(barrier, O_CLOEXEC) != 0)
        cf_die(&k->tool, CF_EXIT_ENVIRONMENT, "pipe: %s", strerror(errno));
    s->pid = cf_command_fork(&k->command);
    if (s->pid < 0)
        cf_die(&k->tool, CF_EXIT_ENVIRONMENT, "fork: %s", strerror(errno));
    if (s->pid == 0) {
        close(barrier[1]);
        child(k, s->run, barrier[0]);
    }
    close(barrier[0]);
    if (cf_watch_seize(s->w, s->pid) != 0) {
        const int why = errno;

        kill(s->pid, SIGKILL);
        cf_die(&k->tool, CF_EXIT_ENVIRONMENT, "ptrace: %s: programs cannot be traced here",
               strerror(why));
    }
    close(barrier[1]);
}

/* How the program ended, where it did not get behind the function. */
static void no_return(struct state *s)
{
    struct pages *k = s->k;
    const char *f = k->o.function;

    s->run->lost = s->phase == INSIDE;
    if (!cf_watch_begun(s->w)) {
        cf_warn(&k->tool, "%s: was not executed", k->o.argv[0]);
        exit(CF_EXIT_ENVIRONMENT);
    }
    if (s->phase == BEFORE && cf_watch_refused(s->w))
        refused(s, "it cannot be looked into", cf_watch_refused(s->w));
    if (cf_command_caught() || (WIFSIGNALED(k->ended) && s->phase == BEFORE && s->run->purpose)) {
        drop(s, "the program was ended by a signal");
    } else if (s->phase == INSIDE && WIFSIGNALED(k->ended)) {
        cf_warn(&k->tool, "%s: ended by signal %d (%s) in %s", k->o.argv[0], WTERMSIG(k->ended),
                strsignal(WTERMSIG(k->ended)), f);
        drop(s, "the program crashed in the function");
    } else if (s->phase == INSIDE) {
        drop(s, "the function did not return: left by exit(), exec or longjmp()");
    } else if (!cf_watch_found(s->w, PAGES_ENTRY)) {
        cf_die(&k->tool, CF_EXIT_USAGE,
               "--function %s: neither the program nor the libraries that it was started with have "
               "such a function: is it stripped, inlined, or of another name (nm(1))?",
               f);
    } else if (!s->calls) {
        drop(s, "the function was not called");
    } else if (!*s->run->why) {
        snprintf(s->run->why, sizeof s->run->why, "the function was called %u times, not %u",
                 s->calls, k->o.call);
    }
}

int pages_run(struct pages *k, struct pages_run *run)
{
    struct state s = {.k = k, .run = run, .phase = BEFORE};

    run->why[0] = '\0';
    run->lost = 0;
    run->reading = (struct pages_reading){0};
    s.w = cf_need(&k->tool, cf_watch_new(&k->tool, "--function", k->point, 2));
    cf_watch_single(s.w);
    if (run->purpose == PAGES_LAYOUT)
        cf_watch_calls(s.w, on_call, &s);
    start(&s);
    while (!s.ended && cf_watch_wait() == 0) {
        const uint64_t now = cf_clock();

        const unsigned hit = cf_watch_handle(s.w, on_ended, &s);

        check_name(&s);
        if (hit)
            on_hit(&s, now);
    }
    if (s.phase != BEHIND) {
        (void)cf_watch_end(s.w, on_ended, &s);
        no_return(&s);
    }
    pages_counters_close(k);
    cf_watch_free(s.w);
    pages_layout_free(&s.before);
    return cf_command_caught() ? -1 : 0;
}
