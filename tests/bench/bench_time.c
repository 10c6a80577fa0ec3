/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_time [-n TIMES] [-p FILE] [-r WORK] COMMAND BASELINE: runs two shell commands in turn, so
 * that a busy machine slows both, and prints one line:
 *
 *     wall cpu base_wall base_cpu ratio_wall ratio_cpu rate base_rate
 *
 * Seconds are the least of all runs; the ratios are medians of COMMAND over BASELINE in the same
 * turn; rates are WORK (such as a number of records) per second of wall clock. CPU is that of the
 * command and all it has waited for. With -p both commands stand in the middle of a pipe: FILE is
 * fed into them, what they write is read and dropped, each through a pipe of 1 MiB; CPU is then
 * that of the command alone. Exits with 1 when a command fails. Memory: FILE, mapped.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_TURNS = 101, PIPE_BYTES = 1 << 20 };

struct cost {
    double wall, cpu; /* seconds */
};

static const char *feed_bytes;
static size_t feed_size;

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void die(const char *what)
{
    fprintf(stderr, "bench_time: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void close_both(const int ends[2])
{
    close(ends[0]);
    close(ends[1]);
}

static pid_t start_feeder(const int to[2], const int from[2])
{
    const pid_t pid = fork();
    size_t at = 0;

    if (pid)
        return pid;
    close(to[0]);
    close_both(from);
    signal(SIGPIPE, SIG_DFL);
    while (at < feed_size) {
        const size_t left = feed_size - at;
        const ssize_t n = write(to[1], feed_bytes + at, left < PIPE_BYTES ? left : PIPE_BYTES);

        if (n < 0)
            _exit(1);
        at += (size_t)n;
    }
    _exit(0);
}

static pid_t start_sink(const int to[2], const int from[2])
{
    static char buffer[PIPE_BYTES];
    const pid_t pid = fork();

    if (pid)
        return pid;
    close_both(to);
    close(from[1]);
    while (read(from[0], buffer, sizeof(buffer)) > 0)
        ;
    _exit(0);
}

static struct cost run(const char *command)
{
    int to[2], from[2], status;
    struct rusage used;
    struct cost c;
    pid_t feeder = 0, sink = 0, pid;
    double begin;

    if (feed_bytes) {
        if (pipe(to) || pipe(from))
            die("pipe");
        /* where the system allows less, both commands get less */
        fcntl(to[1], F_SETPIPE_SZ, PIPE_BYTES);
        fcntl(from[1], F_SETPIPE_SZ, PIPE_BYTES);
    }
    begin = now();
    pid = fork();
    if (pid < 0)
        die("fork");
    if (pid == 0) {
        if (feed_bytes) {
            dup2(to[0], 0);
            dup2(from[1], 1);
            close_both(to);
            close_both(from);
        }
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    if (feed_bytes) {
        feeder = start_feeder(to, from);
        sink = start_sink(to, from);
        close_both(to);
        close_both(from);
    }
    if (wait4(pid, &status, 0, &used) < 0)
        die("wait");
    if (feed_bytes) {
        waitpid(sink, NULL, 0);
        kill(feeder, SIGKILL);
        waitpid(feeder, NULL, 0);
    }
    c.wall = now() - begin;
    c.cpu = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
            (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-6;
    if (!WIFEXITED(status) || WEXITSTATUS(status)) {
        fprintf(stderr, "bench_time: fails with status 0x%x: %s\n", status, command);
        exit(1);
    }
    return c;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof(values[0]), compare);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

int main(int argc, char **argv)
{
    double wall[MOST_TURNS], cpu[MOST_TURNS], work = 0;
    struct cost best = {1e30, 1e30}, base = {1e30, 1e30};
    int turns = 3, option;

    while ((option = getopt(argc, argv, "n:p:r:")) != -1) {
        if (option == 'n') {
            turns = atoi(optarg);
        } else if (option == 'r') {
            work = atof(optarg);
        } else if (option == 'p') {
            const int fd = open(optarg, O_RDONLY);
            struct stat st;

            if (fd < 0 || fstat(fd, &st))
                die(optarg);
            feed_size = (size_t)st.st_size;
            feed_bytes = mmap(NULL, feed_size, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, 0);
            if (feed_bytes == MAP_FAILED)
                die(optarg);
        } else {
            return 2;
        }
    }
    if (argc - optind != 2 || turns < 1 || turns > MOST_TURNS) {
        fprintf(stderr, "usage: bench_time [-n TIMES] [-p FILE] [-r WORK] COMMAND BASELINE\n");
        return 2;
    }
    for (int i = 0; i < turns; i++) {
        const struct cost a = run(argv[optind]), b = run(argv[optind + 1]);

        best.wall = a.wall < best.wall ? a.wall : best.wall;
        best.cpu = a.cpu < best.cpu ? a.cpu : best.cpu;
        base.wall = b.wall < base.wall ? b.wall : base.wall;
        base.cpu = b.cpu < base.cpu ? b.cpu : base.cpu;
        wall[i] = a.wall / b.wall;
        /* the clock of CPU time may be as coarse as a few milliseconds */
        cpu[i] = a.cpu / (b.cpu > 1e-3 ? b.cpu : 1e-3);
    }
    printf("%.4f %.4f %.4f %.4f %.3f %.3f %.4g %.4g\n", best.wall, best.cpu, base.wall, base.cpu,
           median(wall, turns), median(cpu, turns), work / best.wall, work / base.wall);
    return 0;
}
