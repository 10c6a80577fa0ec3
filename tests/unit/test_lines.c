/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_lines.c - the reader of text lines, whose read() and poll() are ours here: what is torn by
 * the end of the input, by an error or by a signal, and an input that does not wait.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/unit/tap.h"

struct step {
    const char *data; /* NULL: the end of the input, or an error */
    int error;        /* errno; EINTR comes with SIGTERM */
};

static const struct step *step;
static int polled;

static ssize_t fake_read(int fd, void *to, size_t room);
static int fake_poll(struct pollfd *p, nfds_t n, int timeout);

#define read fake_read
#define poll fake_poll
#include "capture/base/cf_lines.c"
#undef read
#undef poll

static ssize_t fake_read(int fd, void *to, size_t room)
{
    const struct step s = *step;
    const size_t n = s.data ? strlen(s.data) : 0;

    (void)fd;
    (void)room;
    step++;
    if (s.data) {
        memcpy(to, s.data, n);
        return (ssize_t)n;
    }
    if (s.error == EINTR)
        raise(SIGTERM);
    errno = s.error;
    return s.error ? -1 : 0;
}

static int fake_poll(struct pollfd *p, nfds_t n, int timeout)
{
    polled += n == 1 && p->events == POLLIN && timeout == -1;
    return 1;
}

/* What comes of the steps: the lines, each with a '|' behind it, what was said, the status. */
static char *lines, *said;
static int status, list, block;

static void run(const struct step *steps, int files)
{
    static char file[] = "/dev/null";
    char *const names[] = {file, file};
    struct cf_tool tool = {.name = "test"};
    struct cf_lines l;
    const char *line;
    size_t length, size;
    FILE *const terminal = stderr, *out;

    free(lines);
    free(said);
    step = steps;
    polled = caught = 0;
    out = open_memstream(&lines, &size);
    stderr = open_memstream(&said, &size);
    cf_lines_open(&l, &tool, names, files);
    l.lists = list;
    l.block = block;
    while (l.at != l.end || cf_lines_fill(&l)) {
        length = (size_t)block;
        if (l.blocks ? !cf_lines_next_block(&l, &line) : !cf_lines_next(&l, &line, &length))
            break;
        fprintf(out, "%.*s|", (int)length, line);
    }
    status = cf_lines_finish(&l);
    fclose(out);
    fclose(stderr);
    stderr = terminal;
}

#define RUN(files, ...) run((const struct step[]){__VA_ARGS__}, files)

static void torn(void)
{
    RUN(1, {"load,1\nlo", 0}, {"ad,2\n", 0}, {0});
    is_text(lines, "load,1|load,2|", "whole lines");
    ok(status == 0 && !*said, "nothing to say of them");

    RUN(2, {"load,1\nload,2", 0}, {0}, {"load,3\n", 0}, {0});
    is_text(lines, "load,1|load,3|", "no newline at the end: the line is left out");
    ok(status == 1 && strstr(said, "test: /dev/null:2: ") && strstr(said, "cut off"),
       "and told with its place");
    ok(!strchr(said, '\n')[1], "once");

    RUN(1, {"load,1\n", 0}, {"l", 0}, {0});
    is_text(lines, "load,1|", "the same in a piece of its own");
    is_u64(status, 1, "status 1");

    RUN(2, {"load,1\nload,2", 0}, {NULL, EIO}, {"load,3\n", 0}, {0});
    is_text(lines, "load,1|load,3|", "torn by an error: what was read of the line is not taken");
    ok(status == 3 && strstr(said, "test: /dev/null:2: Input/output error"), "told with its place");
    ok(!strchr(said, '\n')[1], "once");

    RUN(2, {NULL, EISDIR}, {"load,3\n", 0}, {0});
    is_text(said, "test: /dev/null: Is a directory\n", "an input that cannot be read at all");
    is_text(lines, "load,3|", "the next one is");
    is_u64(status, 1, "status 1");
}

static void waiting(void)
{
    RUN(1, {"load,1\nlo", 0}, {NULL, EAGAIN}, {NULL, EAGAIN}, {"ad,2\n", 0}, {0});
    is_text(lines, "load,1|load,2|", "an input that does not wait: we do");
    ok(status == 0 && !*said && polled == 2, "it is no error");
}

static void cut_by_signal(void)
{
    RUN(2, {"load,1\nload,2", 0}, {NULL, EINTR}, {"0\n", 0}, {0});
    is_text(lines, "load,1|", "a line that a signal cut is no line");
    ok(status == 0 && !*said && caught == SIGTERM, "and nothing is wrong with that");
}

static void braced(void)
{
    enum { MANY = CF_LINES_MOST / 8 };
    char *text = malloc(16 * MANY), *p;

    list = 1;
    RUN(1, {"{INST 1} {AHB 2} ", 0}, {0}, {0});
    is_text(lines, "{INST 1} {AHB 2} |", "entries of a list have ends of their own");
    ok(status == 0 && !*said, "and need no newline");
    RUN(1, {"{{INST 1} {AHB 2}}", 0}, {0}, {0});
    ok(status == 0 && !*said, "a list in braces that is whole");
    RUN(1, {"{{INST 1} {AHB 2}", 0}, {0}, {0});
    is_text(lines, "{{INST 1} {AHB 2}|", "one that was cut between entries: they are taken");
    ok(status == 1 && strstr(said, "test: /dev/null:1: the list was cut off"), "it is told");
    RUN(1, {"INST 1 2\nINST 1 2", 0}, {0}, {0});
    is_text(lines, "INST 1 2|", "entries without braces end with their line");
    is_u64(status, 1, "status 1");

    /* longer than the buffer: it is handed out in pieces */
    p = text + sprintf(text, "{");
    for (int i = 0; i < MANY; i++)
        p += sprintf(p, "%s{INST %d}", i ? " " : "", i % 10);
    RUN(1, {text, 0}, {"}", 0}, {0}, {0});
    ok(status == 0 && !*said && strlen(lines) > 9 * MANY, "a long list");
    RUN(1, {text, 0}, {0}, {0});
    ok(status == 1 && strstr(said, "cut off") && strlen(lines) > 9 * MANY,
       "a long list that was cut between entries");
    RUN(1, {text, 0}, {"\n{INST 1}", 0}, {0}, {0});
    ok(status == 0, "what follows it is a list of its own");
    list = 0;
    free(text);
}

static void blocks(void)
{
    block = 4;
    RUN(1,
        {"\x01"
         "abc\x01"
         "def\x01g",
         0},
        {0});
    is_text(lines,
            "\x01"
            "abc|\x01"
            "def|",
            "blocks");
    ok(status == 1 && strstr(said, "test: /dev/null:3: the last entry was cut off: 2 of 4 bytes"),
       "a last one that is cut off");
    RUN(1,
        {"\x01"
         "abc\x01"
         "d",
         0},
        {NULL, EIO}, {0});
    is_text(lines,
            "\x01"
            "abc|",
            "or torn by an error");
    ok(strstr(said, "Input/output error") && !strchr(said, '\n')[1], "told once");
    RUN(1, {"a", 0}, {"\n", 0}, {"\x01z", 0}, {0});
    is_text(lines, "a\n\x01z|", "of a slow pipe the first bytes alone do not make it text");
    RUN(1, {"lo", 0}, {"ad\nstore\nlo", 0}, {"ad\n", 0}, {0});
    is_text(lines, "load|store|load|", "text from a slow pipe");
    RUN(1, {"load\nst", 0}, {0}, {0});
    is_text(lines, "load|", "text that ends before it is sure");
    is_u64(status, 1, "what was cut of it is told");
    RUN(2, {"load\n", 0}, {0}, {0},
        {"\x01"
         "abc",
         0},
        {0});
    is_text(lines,
            "load|\x01"
            "abc|",
            "each input is of its own kind");
    RUN(1, {"load,1,2,3,4,5,6\n", 0}, {NULL, EIO}, {0});
    is_text(lines, "load,1,2,3,4,5,6|", "a long line is handed on before more is read");
    RUN(1, {"load\n", 0}, {NULL, EIO}, {0});
    ok(status == 3 && strstr(said, "Input/output error") && !strchr(said, '\n')[1],
       "an error before it is sure: told once");
    RUN(1, {"load\nst", 0}, {NULL, EINTR}, {0});
    is_text(lines, "load|", "a signal before it is sure: whole lines are taken");
    block = 0;
}

int main(void)
{
    torn();
    waiting();
    cut_by_signal();
    braced();
    blocks();
    free(lines);
    free(said);
    return done();
}
