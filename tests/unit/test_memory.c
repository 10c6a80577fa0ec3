/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_memory.c - reader, writer and machine descriptions when memory is refused: for every
 * allocation that they make, that one alone fails, or it and all that follow. They then say "out of
 * memory", or give what they give with memory; nothing is called damage of the input, nothing
 * crashes.
 *
 * Memory: streams of a few hundred rows.
 */
#include <errno.h>
#include <malloc.h>

#include "formats/machine/cf_machine.h"
#include "stream.h"

#ifdef CF_SANITIZED
#define CANNOT_REFUSE 1 /* the sanitizer has an allocator of its own */
#else
#define CANNOT_REFUSE 0

static long until = -1; /* allocations until one is refused; -1: none is */
static int all_after;
static long asked;

static int refused(void)
{
    const long n = __atomic_add_fetch(&asked, 1, __ATOMIC_RELAXED);

    if (until < 0 || n < until || (n > until && !all_after))
        return 0;
    errno = ENOMEM;
    return 1;
}

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_realloc(void *p, size_t bytes);
void *__libc_memalign(size_t align, size_t bytes);

void *malloc(size_t bytes)
{
    return refused() ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t n, size_t bytes)
{
    return refused() ? NULL : __libc_calloc(n, bytes);
}

void *realloc(void *p, size_t bytes)
{
    return refused() ? NULL : __libc_realloc(p, bytes);
}

void *aligned_alloc(size_t align, size_t bytes)
{
    return refused() ? NULL : __libc_memalign(align, bytes);
}
#endif

#if !CANNOT_REFUSE
enum { ROWS = 300, MOST = 3000 };

static const char *wrong; /* what a run did that it must not */

/* What a run saw, in one number. */
static uint64_t digest;

static void see(const void *bytes, size_t n)
{
    const uint8_t *p = bytes;

    for (size_t i = 0; i < n; i++)
        digest = (digest ^ p[i]) * 0x100000001b3;
}

static void see_text(const char *text)
{
    see(text, strlen(text) + 1);
}

/* ---- what is refused memory; each returns 0, or -1 where it says that memory is out ---- */

static void write_tables(struct cf_writer *w)
{
    const struct cf_values map[] = {
        {CF_TIME, NULL, 0},       {CF_PID, NULL, 7},
        {CF_OP, NULL, CF_MAPPED}, {CF_START, NULL, 4096},
        {CF_STOP, NULL, 8192},    {CF_LABEL, NULL, cf_writer_string(w, "a mapping")}};
    const struct cf_values access[] = {{CF_TIME, g_time, 0}, {CF_PC, g_pc, 0},
                                       {CF_ADDR, g_addr, 0}, {CF_OP, g_op, 0},
                                       {CF_SIZE, g_size, 0}, {CF_REGION, NULL, map[5].constant},
                                       {40000, g_level, 0}};

    (void)!cf_writer_rows(w, CF_MAP, 1, map, 6, NULL);
    (void)!cf_writer_rows(w, CF_ACCESS, ROWS, access, 7, NULL);
}

static void write_all(struct cf_writer *w)
{
    if (cf_writer_header(w, &plain_header) == 0 &&
        cf_writer_name(w, 40000, CF_U8, "column-of-others") == 0)
        write_tables(w);
}

/* The small stream fits into a pipe. */
static int write_stream(const char *name, int packed)
{
    struct cf_writer *w;
    char bytes[4096];
    int status = -1, fd, ends[2] = {-1, -1}, saved = -1;
    ssize_t n;

    unlink(file_of(name));
    if (!packed) {
        fflush(stdout);
        saved = dup(1);
        if (saved < 0 || pipe(ends) != 0 || dup2(ends[1], 1) < 0)
            abort();
        close(ends[1]);
    }
    w = cf_writer_open(packed ? file_of(name) : NULL, "test_memory");
    if (w) {
        write_all(w);
        status = cf_writer_close(w, 1, problem, sizeof(problem));
        if (status && !strstr(problem, "out of memory") && !strstr(problem, strerror(ENOMEM)))
            wrong = problem;
    }
    if (!packed) {
        dup2(saved, 1);
        close(saved);
    }
    fd = packed ? open(file_of(name), O_RDONLY) : ends[0];
    while (status == 0 && (n = read(fd, bytes, sizeof(bytes))) > 0)
        see(bytes, (size_t)n);
    if (fd >= 0)
        close(fd);
    return status;
}

static int write_raw(void)
{
    return write_stream("w.cf", 0);
}

static int write_packed(void)
{
    return write_stream("w.packed.cf", 1);
}

static void see_frame(const struct cf_reader *r, const struct cf_frame *f)
{
    see(&f->table, sizeof(f->table));
    see(&f->rows, sizeof(f->rows));
    if (f->table == CF_HEADER)
        see_text(f->header->command);
    for (unsigned i = 0; i < f->columns; i++) {
        const char *name = cf_reader_column_name(r, f->column[i].id);

        see_text(name ? name : "");
        if (f->column[i].values && cf_type_width(f->column[i].type))
            see(f->column[i].values, f->rows * cf_type_width(f->column[i].type));
        if (f->column[i].values && f->column[i].type == CF_STR)
            see_text(cf_reader_text(r, *(const uint32_t *)f->column[i].values));
    }
}

static int read_streams(int how)
{
    char *files[] = {file_of("raw.cf"), file_of("packed.cf")};
    struct cf_reader *r = cf_reader_open(files, 2);
    struct cf_frame *f;
    int status;

    if (!r)
        return -1;
    if (how == 0)
        cf_reader_want_all(r);
    cf_reader_want(r, CF_ACCESS, CF_ADDR, CF_REQUIRED);
    cf_reader_want(r, CF_ACCESS, CF_REGION, CF_REQUIRED);
    if (how == 1)
        cf_reader_unify(r);
    if (how == 2)
        cf_reader_range(r, g_time[10], g_time[20]);
    while (cf_reader_next(r, &f) > 0) {
        if (how == 2 && f->table == CF_ACCESS) {
            if (cf_late_values(f, CF_PC))
                see(cf_late_values(f, CF_PC), f->rows * 8);
        }
        see_frame(r, f);
    }
    status = cf_reader_refused(r) ? -1 : 0;
    if (status && !strstr(cf_reader_problem(r), "out of memory"))
        wrong = "a refusal of something else";
    if (cf_reader_damages(r))
        wrong = "damage";
    cf_reader_close(r);
    return status;
}

static int read_all(void)
{
    return read_streams(0);
}

static int read_unified(void)
{
    return read_streams(1);
}

static int read_range(void)
{
    return read_streams(2);
}

static int read_machine(const char *name)
{
    char why[1024];
    struct cf_machine *m = cf_machine_load(name, why, sizeof(why));
    const int error = errno;

    if (!m) {
        if (error != ENOMEM || !strstr(why, "out of memory"))
            wrong = "a description is called bad";
        return -1;
    }
    see(m->level, sizeof(m->level));
    see_text(m->name);
    cf_machine_free(m);
    return 0;
}

static int machine_file(void)
{
    return read_machine(file_of("m.yaml"));
}

static int machine_host(void)
{
    return read_machine("host");
}

/* ---- */

static void refuse_each(const char *title, int (*run)(void))
{
    uint64_t want;
    long needs;
    int bad = 0;

    digest = 0;
    asked = 0;
    until = -1;
    wrong = NULL;
    ok(run() == 0 && !wrong, "%s with all memory", title);
    needs = asked;
    want = digest;
    for (int k = 0; k < 2; k++)
        for (long n = 1; n <= needs && n < MOST; n++) {
            int status;

            digest = 0;
            asked = 0;
            all_after = k;
            until = n;
            status = run();
            until = -1;
            if ((status == 0 && digest != want) || wrong) {
                note("allocation %ld of %ld: %s", n, needs, wrong ? wrong : "other results");
                bad++;
                wrong = NULL;
            }
        }
    ok(!bad && needs > 3, "%s without memory: each of %ld allocations refused", title, needs);
}

static void make_inputs(void)
{
    FILE *f = fopen(file_of("m.yaml"), "w");

    need(f != NULL, "a file for a machine");
    fputs("line_size: 64\nsource: here\nlevels:\n  - {name: L1, size: 1KiB, ways: 2}\n", f);
    fclose(f);
    for (int packed = 0; packed < 2; packed++) {
        struct cf_writer *w = start(packed ? "packed.cf" : "raw.cf", packed, "test_memory");

        write_all(w);
        need(finish(w, 1) == 0, "a stream: %s", problem);
    }
}
#endif

int main(void)
{
#if !CANNOT_REFUSE
    const char *const root = getenv("CF_SYSFS");

    need(mkdtemp(dir) != NULL, "a directory");
    fill(LOOPS, ROWS);
    make_inputs();
    refuse_each("reading all columns", read_all);
    refuse_each("reading with unified strings", read_unified);
    refuse_each("reading a range", read_range);
    refuse_each("writing to a pipe", write_raw);
    refuse_each("writing a packed file", write_packed);
    refuse_each("a machine's description", machine_file);
    if (!root && access("/sys/devices/system/cpu/cpu0/cache/index0", F_OK) == 0)
        refuse_each("this machine", machine_host);
    for (const char *const *n =
             (const char *const[]){"m.yaml", "raw.cf", "packed.cf", "w.cf", "w.packed.cf", NULL};
         *n; n++)
        unlink(file_of(*n));
    rmdir(dir);
#else
    ok(1, "allocations cannot be refused under the sanitizer");
#endif
    return done();
}
