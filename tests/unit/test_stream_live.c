/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_stream_live: input that pauses, trickles or does not block: what a program holds back gets
 * on its way.
 */
#include <poll.h>
#include <sys/wait.h>
#include <time.h>

#include "stream.h"

static void count_idle(void *arg)
{
    ++*(unsigned *)arg;
}

static void test_idle(void)
{
    int ends[2], saved;
    pid_t child;
    struct cf_reader *in;
    struct cf_frame *f;
    struct timespec t0, t1;
    unsigned idle = 0;
    uint64_t rows = 0, early = UINT64_MAX;

    fill(LOOPS, 100);
    fflush(stdout);
    if (pipe(ends))
        abort();
    child = fork();
    if (child == 0) {
        struct cf_writer *w;

        dup2(ends[1], 1);
        close(ends[0]);
        close(ends[1]);
        w = cf_writer_open(NULL, "test_stream child");
        if (!w || cf_writer_header(w, &plain_header) || write_rows(w, 50) || cf_writer_flush(w))
            _exit(1);
        /* long enough to be idle in, however busy the machine is */
        usleep(600000);
        for (int i = 0; i < 50; i++)
            g_time[i] += g_time[99];
        if (write_rows(w, 50) || cf_writer_close(w, 1, problem, sizeof(problem)))
            _exit(1);
        _exit(0);
    }
    close(ends[1]);
    saved = dup(0);
    dup2(ends[0], 0);
    close(ends[0]);
    clock_gettime(CLOCK_MONOTONIC, &t0);
    in = cf_reader_open(NULL, 0);
    cf_reader_idle(in, count_idle, &idle);
    while (cf_reader_next(in, &f) > 0) {
        rows += f->table == CF_ACCESS ? f->rows : 0;
        clock_gettime(CLOCK_MONOTONIC, &t1);
        if (f->table == CF_ACCESS && early == UINT64_MAX)
            early =
                (uint64_t)((t1.tv_sec - t0.tv_sec) * 1000 + (t1.tv_nsec - t0.tv_nsec) / 1000000);
    }
    ok(rows == 100 && !cf_reader_damages(in), "a slow pipe gives all its rows");
    ok(early < 500, "flushed rows come at once, after %llu ms", (unsigned long long)early);
    ok(idle > 0, "the idle function is called while nothing comes: %u times", idle);
    cf_reader_close(in);
    dup2(saved, 0);
    close(saved);
    waitpid(child, NULL, 0);
}

/* Input that never pauses still calls the function, so that what is held back goes on. */
static void test_trickle(void)
{
    int ends[2], saved;
    pid_t child;
    struct cf_reader *in;
    struct cf_frame *f;
    unsigned idle = 0;

    fflush(stdout);
    if (pipe(ends))
        abort();
    child = fork();
    if (child == 0) {
        struct cf_writer *w;
        int bad;

        dup2(ends[1], 1);
        close(ends[0]);
        close(ends[1]);
        w = cf_writer_open(NULL, "test_stream child");
        bad = !w || cf_writer_header(w, &plain_header);
        for (int i = 0; !bad && i < 110; i++) {
            bad = write_rows(w, 5) || cf_writer_flush(w);
            for (int k = 0; k < 5; k++)
                g_time[k] += g_time[99];
            usleep(20000);
        }
        _exit(bad || cf_writer_close(w, 1, problem, sizeof(problem)) ? 1 : 0);
    }
    close(ends[1]);
    saved = dup(0);
    dup2(ends[0], 0);
    close(ends[0]);
    in = cf_reader_open(NULL, 0);
    cf_reader_idle(in, count_idle, &idle);
    while (cf_reader_next(in, &f) > 0)
        ;
    ok(idle > 0 && !cf_reader_damages(in), "the idle function is called while input trickles: %u",
       idle);
    cf_reader_close(in);
    dup2(saved, 0);
    close(saved);
    waitpid(child, NULL, 0);
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
