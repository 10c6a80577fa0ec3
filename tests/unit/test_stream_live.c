/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_stream_live: input that pauses, trickles or does not block: what a program holds back gets
 * on its way.
 */
#include <poll.h>
#include <sys/wait.h>

#include "stream.h"

/* What has come, and whom to tell that nothing comes. */
struct heard {
    unsigned idle;
    uint64_t rows, before_go; /* rows of accesses; those that were there when it was told */
    int go;
};

static void on_idle(void *arg)
{
    struct heard *h = arg;

    h->idle++;
    if (h->rows && h->go >= 0) {
        h->before_go = h->rows;
        close(h->go);
        h->go = -1;
    }
}

/* Waits until the reader has told; for so long at most, -1: for ever. */
static int told(int go, int milliseconds)
{
    struct pollfd p = {.fd = go, .events = POLLIN};

    return poll(&p, 1, milliseconds) > 0;
}

/* Forks; returns 0 in the child, whose output then goes to our input; *go is its end of a pipe on
   which it is told, or ours. */
static pid_t fork_writer(int *go, int *saved)
{
    int ends[2], there[2];
    pid_t child;

    fflush(stdout);
    if (pipe(ends) || pipe(there))
        abort();
    child = fork();
    if (child == 0) {
        alarm(600); /* who is never told */
        dup2(ends[1], 1);
        close(ends[0]);
        close(ends[1]);
        close(there[1]);
        *go = there[0];
        return 0;
    }
    close(ends[1]);
    close(there[0]);
    *saved = dup(0);
    dup2(ends[0], 0);
    close(ends[0]);
    *go = there[1];
    return child;
}

/* Reads it all. */
static struct heard listen_to(int go, int saved, pid_t child, unsigned long long *damages)
{
    struct heard h = {.go = go};
    struct cf_reader *in = cf_reader_open(NULL, 0);
    struct cf_frame *f;

    cf_reader_idle(in, on_idle, &h);
    while (cf_reader_next(in, &f) > 0)
        h.rows += f->table == CF_ACCESS ? f->rows : 0;
    *damages = cf_reader_damages(in);
    cf_reader_close(in);
    dup2(saved, 0);
    close(saved);
    waitpid(child, NULL, 0);
    return h;
}

static void test_idle(void)
{
    unsigned long long damages;
    int go, saved;
    struct heard h;
    pid_t child;

    fill(LOOPS, 100);
    child = fork_writer(&go, &saved);
    if (child == 0) {
        struct cf_writer *w = cf_writer_open(NULL, "test_stream child");

        if (!w || cf_writer_header(w, &plain_header) || write_rows(w, 50) || cf_writer_flush(w) ||
            !told(go, -1))
            _exit(1);
        for (int i = 0; i < 50; i++)
            g_time[i] += g_time[99];
        if (write_rows(w, 50) || cf_writer_close(w, 1, problem, sizeof(problem)))
            _exit(1);
        _exit(0);
    }
    h = listen_to(go, saved, child, &damages);
    ok(h.rows == 100 && !damages, "a slow pipe gives all its rows");
    ok(h.before_go == 50, "flushed rows come before others, and then the idle function is called");
}

/* Input that never pauses still calls the function, so that what is held back goes on. */
static void test_trickle(void)
{
    unsigned long long damages;
    int go, saved;
    struct heard h;
    pid_t child = fork_writer(&go, &saved);

    if (child == 0) {
        struct cf_writer *w = cf_writer_open(NULL, "test_stream child");
        int bad = !w || cf_writer_header(w, &plain_header);

        while (!bad && !told(go, 20)) {
            bad = write_rows(w, 5) || cf_writer_flush(w);
            for (int k = 0; k < 5; k++)
                g_time[k] += g_time[99];
        }
        _exit(bad || cf_writer_close(w, 1, problem, sizeof(problem)) ? 1 : 0);
    }
    h = listen_to(go, saved, child, &damages);
    ok(h.idle > 0 && !damages, "the idle function is called while input trickles: %u", h.idle);
}

/* Another program may have made our pipes non-blocking: neither end takes that for an error. */
static void test_non_blocking(void)
{
    int ends[2], saved, status = 1;
    pid_t child;
    struct cf_reader *in;
    struct cf_frame *f;
    uint64_t rows = 0;

    fill(NOISE, 300000);
    fflush(stdout);
    if (pipe(ends) || fcntl(ends[0], F_SETFL, O_NONBLOCK) || fcntl(ends[1], F_SETFL, O_NONBLOCK))
        abort();
    child = fork();
    if (child == 0) {
        struct cf_writer *w;
        int bad;

        dup2(ends[1], 1);
        close(ends[0]);
        close(ends[1]);
        usleep(50000);
        w = cf_writer_open(NULL, "test_stream child");
        bad = !w || cf_writer_header(w, &plain_header) || write_rows(w, 300000);
        _exit(cf_writer_close(w, 1, problem, sizeof(problem)) || bad ? 1 : 0);
    }
    close(ends[1]);
    saved = dup(0);
    dup2(ends[0], 0);
    close(ends[0]);
    in = cf_reader_open(NULL, 0);
    while (cf_reader_next(in, &f) > 0) {
        rows += f->table == CF_ACCESS ? f->rows : 0;
        usleep(1000);
    }
    waitpid(child, &status, 0);
    ok(rows == 300000 && !status && !cf_reader_damages(in),
       "a pipe that does not block carries all rows: %s",
       cf_reader_problem(in) ? cf_reader_problem(in) : "no damage");
    cf_reader_close(in);
    dup2(saved, 0);
    close(saved);
}

int main(void)
{
    begin_streams();
    test_idle();
    test_trickle();
    test_non_blocking();
    return end_streams();
}
