/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * programs.c - runs cf-cache and cf-classify over the stream of a run, and reads what they say.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "formats/stream/cf.h"
#include "tests/reference/programs.h"

extern char **environ;

static char dir[] = "/tmp/cf-reference-XXXXXX";
static char programs[4000], summary[65536];

static void __attribute__((noreturn, format(printf, 1, 2))) die(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, ": %s\n", strerror(errno));
    exit(3);
}

static const char *file_of(const char *name)
{
    static char path[4][64];
    static unsigned at;

    at = (at + 1) % 4;
    snprintf(path[at], sizeof(path[at]), "%s/%s", dir, name);
    return path[at];
}

void programs_begin(const char *build)
{
    snprintf(programs, sizeof(programs), "%s/bin", build);
    if (!mkdtemp(dir))
        die("%s", dir);
}

static const char *const files[] = {"machine.yaml", "in.cf",  "out.cf",
                                    "summary.csv",  "errors", "new.cf"};

void programs_end(void)
{
    for (unsigned i = 0; i < sizeof(files) / sizeof(*files); i++)
        unlink(file_of(files[i]));
    rmdir(dir);
}

/* ---- the stream ---- */

/* Every column of the stream, as arrays. */
struct columns {
    uint64_t *time, *addr, *phys;
    uint32_t *size, *cpu, *pid, *tid, *page;
    uint8_t *op;
};

void *array(unsigned rows, size_t size)
{
    void *a = calloc(rows ? rows : 1, size);

    if (!a)
        abort();
    return a;
}

static void take_columns(struct columns *c, const struct stream *s)
{
    const unsigned n = s->rows;

    *c = (struct columns){array(n, 8), array(n, 8), array(n, 8), array(n, 4), array(n, 4),
                          array(n, 4), array(n, 4), array(n, 4), array(n, 1)};
    for (unsigned i = 0; i < n; i++) {
        c->time[i] = i;
        c->addr[i] = s->row[i].addr;
        c->phys[i] = s->row[i].phys;
        c->size[i] = s->row[i].size;
        c->cpu[i] = s->row[i].cpu;
        c->pid[i] = s->row[i].pid;
        c->tid[i] = s->row[i].tid;
        c->page[i] = s->row[i].page;
        c->op[i] = s->row[i].op;
    }
}

static void free_columns(struct columns *c)
{
    free(c->time);
    free(c->addr);
    free(c->phys);
    free(c->size);
    free(c->cpu);
    free(c->pid);
    free(c->tid);
    free(c->page);
    free(c->op);
}

static void write_frames(struct cf_writer *w, const struct stream *s, const struct columns *c)
{
    for (unsigned from = 0, to; from < s->rows; from = to) {
        struct cf_values v[10];
        unsigned n = 0;

        for (to = from + 1; to < s->rows && !s->row[to - 1].cut; to++)
            ;
        v[n++] = (struct cf_values){CF_TIME, c->time + from, 0};
        v[n++] = (struct cf_values){CF_ADDR, c->addr + from, 0};
        if (s->physical)
            v[n++] = (struct cf_values){CF_PHYS, c->phys + from, 0};
        if (s->has_op)
            v[n++] = (struct cf_values){CF_OP, c->op + from, 0};
        if (s->has_size)
            v[n++] = (struct cf_values){CF_SIZE, c->size + from, 0};
        if (s->has_cpu)
            v[n++] = (struct cf_values){CF_CPU, c->cpu + from, 0};
        if (s->has_pid)
            v[n++] = (struct cf_values){CF_PID, c->pid + from, 0};
        if (s->has_tid)
            v[n++] = (struct cf_values){CF_TID, c->tid + from, 0};
        if (s->has_page) {
            v[n++] = (struct cf_values){CF_REGION, NULL, cf_writer_string(w, "pages")};
            v[n++] = (struct cf_values){CF_PAGENO, c->page + from, 0};
        }
        if (cf_writer_rows(w, CF_ACCESS, to - from, v, n, NULL) != 0 || cf_writer_flush(w) != 0)
            die("%s", cf_writer_problem(w));
    }
}

static void write_stream(const struct stream *s)
{
    static const struct cf_header header = {.source = (char *)"reference"};
    const int fd = open(file_of("in.cf"), O_WRONLY | O_CREAT | O_TRUNC, 0600), saved = dup(1);
    struct columns c;
    struct cf_writer *w;
    char problem[512];

    if (fd < 0 || saved < 0 || dup2(fd, 1) < 0)
        die("%s", file_of("in.cf"));
    take_columns(&c, s);
    w = cf_writer_open(NULL, "reference");
    if (!w || cf_writer_header(w, &header) != 0)
        abort();
    write_frames(w, s, &c);
    if (cf_writer_close(w, 1, problem, sizeof(problem)) != 0)
        die("%s", problem);
    free_columns(&c);
    dup2(saved, 1);
    close(saved);
    close(fd);
}

static void write_machine(const struct machine *m)
{
    FILE *out = fopen(file_of("machine.yaml"), "w");

    if (!out)
        die("%s", file_of("machine.yaml"));
    print_machine(out, m);
    if (fclose(out) != 0)
        die("%s", file_of("machine.yaml"));
}

void write_run(const struct run *r)
{
    write_machine(&r->machine);
    write_stream(&r->stream);
}

/* ---- the programs ---- */

/* Adds an argument; the list ends with NULL. */
static void __attribute__((format(printf, 2, 3))) add(char **argv, const char *format, ...)
{
    va_list args;
    unsigned n = 0;

    while (argv[n])
        n++;
    if (n == 255)
        abort();
    va_start(args, format);
    if (vasprintf(&argv[n], format, args) < 0)
        abort();
    va_end(args);
}

static void cache_options(char **argv, const struct run *r)
{
    static const char *const kinds[] = {"none", "next-line", "stride"};
    const struct machine *m = &r->machine;

    add(argv, "%s/cf-cache", programs);
    for (unsigned i = 0; i < m->levels; i++) {
        if (m->level[i].prefetcher)
            add(argv, "--prefetch=%s:L%u", kinds[m->level[i].prefetcher], i);
        for (unsigned c = 0; c < m->cores; c++)
            if (m->level[i].mask[c])
                add(argv, "--way-mask=%u:0x%" PRIx64 ":L%u", c, m->level[i].mask[c], i);
    }
    if (r->stream.physical)
        add(argv, "--physical");
}

static void classify_options(char **argv, const struct run *r)
{
    add(argv, "%s/cf-classify", programs);
    if (r->classify_level >= 0)
        add(argv, "--level=L%d", r->classify_level);
}

static void all_options(char **argv, const struct run *r, int classify, const char *machine,
                        const char *out)
{
    if (classify)
        classify_options(argv, r);
    else
        cache_options(argv, r);
    add(argv, "-q");
    add(argv, "-m%s", machine);
    add(argv, "--cores=%u", r->machine.cores);
    add(argv, "--seed=%" PRIu64, r->machine.seed);
    add(argv, "--summary");
    add(argv, "-o%s", out);
}

static int run_program(char **argv)
{
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int status, bad;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, file_of("in.cf"), O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, file_of("summary.csv"),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_addopen(&actions, 2, file_of("errors"), O_WRONLY | O_CREAT | O_TRUNC,
                                     0600);
    bad = posix_spawn(&pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (bad) {
        errno = bad;
        die("%s", argv[0]);
    }
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            die("%s", argv[0]);
    for (unsigned i = 0; argv[i]; i++)
        free(argv[i]);
    return status;
}

/* What the program said, in one line. */
static void read_errors(char *what, size_t size, int status)
{
    FILE *in = fopen(file_of("errors"), "r");
    char line[512] = "";

    if (in && fgets(line, sizeof(line), in))
        line[strcspn(line, "\n")] = '\0';
    if (in)
        fclose(in);
    snprintf(what, size, "it ended with status 0x%x: %s", (unsigned)status, line);
}

uint8_t *read_column(unsigned column, unsigned rows)
{
    char *name = (char *)file_of("out.cf");
    struct cf_reader *in = cf_reader_open(&name, 1);
    uint8_t *values = array(rows, 1);
    struct cf_frame *f;
    unsigned n = 0;

    if (!in)
        abort();
    cf_reader_want(in, CF_ACCESS, column, CF_OPTIONAL);
    while (cf_reader_next(in, &f) > 0)
        if (f->table == CF_ACCESS && cf_u8(f, column) && n + f->rows <= rows) {
            memcpy(values + n, cf_u8(f, column), f->rows);
            n += f->rows;
        }
    if (n != rows || cf_reader_problem(in)) {
        free(values);
        values = NULL;
    }
    cf_reader_close(in);
    return values;
}

int read_frames(void (*f)(void *arg, const struct cf_frame *frame), void *arg)
{
    char *name = (char *)file_of("out.cf");
    struct cf_reader *in = cf_reader_open(&name, 1);
    struct cf_frame *frame;
    int whole;

    if (!in)
        abort();
    for (unsigned c = 0; c < 3; c++)
        cf_reader_want(in, CF_PAGE, (const unsigned[]){CF_RUNTIME, CF_POLICY, CF_BEST}[c],
                       CF_OPTIONAL);
    cf_reader_want(in, CF_PAGE, CF_PAGENO, CF_OPTIONAL);
    while (cf_reader_next(in, &frame) > 0)
        f(arg, frame);
    whole = cf_reader_problem(in) == NULL;
    cf_reader_close(in);
    return whole;
}

int run_other(const char *program, const char *const *options, char *what, size_t size)
{
    char *argv[256] = {NULL};
    int status;

    add(argv, "%s/%s", programs, program);
    for (; *options; options++)
        add(argv, "%s", *options);
    add(argv, "-m%s", file_of("machine.yaml"));
    add(argv, "-o%s", file_of("new.cf"));
    status = run_program(argv);
    read_errors(what, size, status);
    return status == 0 && rename(file_of("new.cf"), file_of("out.cf")) == 0 ? 0 : -1;
}

const char *output_file(void)
{
    return file_of("out.cf");
}

int summary_number(const char *key, const char *column, uint64_t *value)
{
    const char *name = summary, *row = summary;

    while (row && strncmp(row, key, strlen(key)) != 0)
        row = (row = strchr(row, '\n')) ? row + 1 : NULL;
    if (!row)
        return 0;
    while (strncmp(name, column, strlen(column)) != 0 ||
           (name[strlen(column)] != ',' && name[strlen(column)] != '\n')) {
        name += strcspn(name, ",\n");
        row += strcspn(row, ",\n");
        if (*name != ',' || *row != ',')
            return 0;
        name++;
        row++;
    }
    *value = strtoull(row, NULL, 10);
    return 1;
}

static void read_summary(void)
{
    FILE *in = fopen(file_of("summary.csv"), "r");
    size_t n = 0;

    if (in) {
        n = fread(summary, 1, sizeof(summary) - 1, in);
        fclose(in);
    }
    summary[n] = '\0';
}

int run_one(const struct run *r, int classify, char *what, size_t size)
{
    char *argv[256] = {NULL};
    int status;

    all_options(argv, r, classify, file_of("machine.yaml"), file_of("out.cf"));
    status = run_program(argv);
    if (status) {
        read_errors(what, size, status);
        return -1;
    }
    read_summary();
    return 0;
}

void print_commands(FILE *out, const struct run *r)
{
    for (int classify = 0; classify < 1 + (r->classify_level > -2); classify++) {
        char *argv[256] = {NULL};

        all_options(argv, r, classify, "machine.yaml", "out.cf");
        for (unsigned i = 0; argv[i]; i++) {
            fprintf(out, "%s%s", argv[i], argv[i + 1] ? " " : " in.cf\n");
            free(argv[i]);
        }
    }
}
