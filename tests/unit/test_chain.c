/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_chain.c - programs of the suite that one of them runs: status, messages, options that are
 * handed on, and what a signal leaves. The programs are scripts in a folder of the test's, beside
 * which a copy of the test stands, since that is where programs look for others.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "formats/program/cf_chain.h"
#include "tests/unit/tap.h"

static char dir[64];
static char said[4096]; /* on standard error, by the last one that ran */
static char read_in[4096];

static void write_file(const char *name, const char *text, mode_t mode)
{
    char path[256];
    FILE *f;

    snprintf(path, sizeof path, "%s/%s", dir, name);
    f = fopen(path, "w");
    if (!f || fputs(text, f) < 0 || fclose(f) != 0 || chmod(path, mode) != 0)
        exit(99);
}

static void read_file(const char *name, char *to)
{
    char path[256];
    FILE *f;
    size_t n = 0;

    snprintf(path, sizeof path, "%s/%s", dir, name);
    if ((f = fopen(path, "r")) != NULL) {
        n = fread(to, 1, 4095, f);
        fclose(f);
    }
    to[n] = '\0';
}

static int there(const char *name)
{
    char path[256];

    snprintf(path, sizeof path, "%s/%s", dir, name);
    return access(path, F_OK) == 0;
}

/* ---- what the copy does ---- */

static int copy(int argc, char **argv)
{
    static struct cf_tool tool;
    static struct cf_chain chain;
    char file[256], bytes[512];
    const char *kind = argv[1];
    ssize_t n;

    snprintf(file, sizeof file, "%s/kept", argv[2]);
    cf_tool_init(&tool, argc, argv, "tester", "");
    tool.quiet = !strcmp(kind, "quiet");
    tool.max_strings = tool.quiet ? 5 << 20 : 0;
    if (!strcmp(kind, "run"))
        return cf_chain_run(&tool, (const char *const *)(argv + 3));
    chain.tool = &tool;
    for (int i = 3; i < argc; i++)
        cf_chain_add(&chain, (const char *[]){argv[i], "last", NULL});
    if (!strcmp(kind, "guard"))
        cf_chain_guard(file);
    cf_chain_begin(&chain);
    while ((n = read(STDIN_FILENO, bytes, sizeof bytes)) > 0)
        if (write(STDOUT_FILENO, bytes, (size_t)n) != n)
            return 98;
    return cf_chain_end(&chain);
}

/* ---- and the test ---- */

static pid_t begin(const char *kind, const char *const *program)
{
    const char *words[16] = {"tester", kind, dir};
    char self[128], err[128], out[128];
    pid_t child;

    for (unsigned i = 0; program[i]; i++)
        words[3 + i] = program[i];
    snprintf(self, sizeof self, "%s/test/tester", dir);
    snprintf(err, sizeof err, "%s/err", dir);
    snprintf(out, sizeof out, "%s/out", dir);
    fflush(NULL);
    child = fork();
    if (child == 0) {
        signal(SIGINT, SIG_DFL); /* what runs in the background may ignore it */
        signal(SIGHUP, SIG_DFL);
        dup2(open(out, O_WRONLY | O_CREAT | O_TRUNC, 0600), STDOUT_FILENO);
        dup2(open(err, O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
        dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
        execv(self, (char *const *)(uintptr_t)words);
        _exit(97);
    }
    return child;
}

static int end(pid_t child)
{
    int status = 0;

    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    read_file("err", said);
    read_file("out", read_in);
    return status;
}

static int run(const char *kind, const char *const *program)
{
    const int status = end(begin(kind, program));

    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

#define RUN(...) run("chain", (const char *[]){__VA_ARGS__, NULL})

static void make_programs(const char *self)
{
    char path[128], text[8192];

    snprintf(path, sizeof path, "%s/bin", dir);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/test", dir);
    mkdir(path, 0700);
    write_file("bin/source", "#!/bin/sh\necho data\n", 0700);
    write_file("bin/pass", "#!/bin/sh\ncat\n", 0700);
    write_file("bin/three", "#!/bin/sh\ncat\nexit 3\n", 0700);
    write_file("bin/one", "#!/bin/sh\ncat\nexit 1\n", 0700);
    write_file("bin/killed", "#!/bin/sh\nkill -KILL $$\n", 0700);
    write_file("bin/unread", "#!/bin/sh\nkill -PIPE $$\n", 0700);
    write_file("bin/words", "#!/bin/sh\necho \"$@\"\n", 0700);
    snprintf(text, sizeof text,
             "#!/bin/sh\necho $$ >%s/pid.new\nmv %s/pid.new %s/pid\nexec sleep 1000\n", dir, dir,
             dir);
    write_file("bin/slow", text, 0700);
    snprintf(text, sizeof text, "cp %s %s/test/tester", self, dir);
    if (system(text) != 0)
        exit(99);
}

static void statuses(void)
{
    is_u64(RUN("source", "pass", "pass"), 0, "all is well");
    ok(!strcmp(read_in, "data\n") && !*said, "what the last one writes is our input");
    is_u64(RUN("source", "three", "pass"), 3, "one in the middle fails");
    ok(!strcmp(read_in, "data\n") && !*said, "and says so itself, not we");
    is_u64(RUN("one", "three", "one"), 3, "the greatest status counts");
    is_u64(RUN("source", "killed", "pass"), CF_EXIT_ENVIRONMENT, "one is ended by a signal");
    ok(!strcmp(said, "tester: killed was ended by signal 9\n"), "which is said");
    is_u64(RUN("source", "unread", "pass"), 0, "SIGPIPE is no fault");
    ok(!*said, "and nothing is said of it");
    is_u64(RUN("source", "missing", "pass"), CF_EXIT_ENVIRONMENT, "one is not there");
    ok(strstr(said, "/bin/missing: No such file") != NULL, "which is named");
    is_u64(run("run", (const char *[]){"three", NULL}), 3, "one alone: its status");
    is_u64(run("run", (const char *[]){"killed", NULL}), CF_EXIT_ENVIRONMENT, "or a signal");
    is_u64(run("run", (const char *[]){"missing", NULL}), CF_EXIT_ENVIRONMENT, "or none");
    (void)RUN("words");
    ok(!strcmp(read_in, "last\n"), "arguments");
    (void)run("quiet", (const char *[]){"words", NULL});
    ok(!strcmp(read_in, "-q --max-strings 5242880 last\n"), "with our own options");
}

/* By a signal to the program alone, not to its children. */
static void interrupted(int sig)
{
    const char *const slow[] = {"source", "slow", NULL};
    char text[4096];
    pid_t child;
    int status;

    write_file("kept", "", 0600);
    child = begin("guard", slow);
    for (int i = 0; i < 60000 && !there("pid"); i++)
        usleep(10000);
    read_file("pid", text);
    kill(child, sig);
    status = end(child);
    ok(WIFSIGNALED(status) && WTERMSIG(status) == sig, "ended by signal %d", sig);
    ok(!there("kept"), "the file is gone");
    ok(atoi(text) > 1 && kill(atoi(text), 0) != 0 && errno == ESRCH, "and so is the child");
    unlink(strcat(strcpy(text, dir), "/pid"));
}

int main(int argc, char **argv)
{
    char text[128], self[4096];
    const char *tmp = getenv("TMPDIR");
    ssize_t n;

    if (argc > 1)
        return copy(argc, argv);
    n = readlink("/proc/self/exe", self, sizeof self - 1);
    snprintf(dir, sizeof dir, "%s/chain.XXXXXX", tmp && strlen(tmp) < 40 ? tmp : "/tmp");
    if (n < 0 || !mkdtemp(dir))
        return 99;
    self[n] = '\0';
    make_programs(self);
    statuses();
    interrupted(SIGTERM);
    interrupted(SIGINT);
    interrupted(SIGHUP);
    snprintf(text, sizeof text, "rm -rf %s", dir);
    ok(system(text) == 0, "nothing is left");
    return done();
}
