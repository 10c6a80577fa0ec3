/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A debugging aid: runs a program under the tool and prints what the decoder makes of it as text,
 * or with -s only totals.
 *
 *     dump [-ismF] [-f FUNCTION] [-l LIMIT] [-d STACK_DEPTH] [-x VALGRIND_OPTION] -- PROGRAM ...
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "decode.h"

enum { ROWS = 16384, MAX_ARGS = 4096 };

struct dump {
    FILE *out;
    int summary, instructions;
    uint32_t pid, tid;
    struct cf_trace_columns c;
    uint64_t rows[4], insns, switches, maps, unmaps, allocs, frees, contexts, tasks;
    uint64_t bad_order, bad_hint;
    uint64_t last_time;
    struct {
        uint64_t pc;
        uint32_t size, insns;
        uint8_t op;
    } * seen; /* by hint */
    uint32_t seen_room;
};

static int place(void *arg, uint32_t pid, uint32_t tid, struct cf_trace_columns *c, uint32_t *rows)
{
    struct dump *d = arg;

    d->pid = pid;
    d->tid = tid;
    *c = d->c;
    *rows = ROWS;
    return 0;
}

static void check(struct dump *d, uint32_t i)
{
    const struct cf_trace_columns *c = &d->c;
    uint32_t insns = d->instructions ? c->insns[i] : 0;

    if (c->time[i] < d->last_time)
        d->bad_order++;
    d->last_time = c->time[i];
    while (c->hint[i] >= d->seen_room) {
        uint32_t room = d->seen_room ? 2 * d->seen_room : 65536;

        d->seen = realloc(d->seen, room * sizeof(*d->seen));
        memset(d->seen + d->seen_room, 0, (room - d->seen_room) * sizeof(*d->seen));
        d->seen_room = room;
    }
    if (!d->seen[c->hint[i]].op) {
        d->seen[c->hint[i]].pc = c->pc[i];
        d->seen[c->hint[i]].size = c->size[i];
        d->seen[c->hint[i]].insns = insns;
        d->seen[c->hint[i]].op = c->op[i];
    } else if (d->seen[c->hint[i]].pc != c->pc[i] || d->seen[c->hint[i]].size != c->size[i] ||
               d->seen[c->hint[i]].insns != insns || d->seen[c->hint[i]].op != c->op[i]) {
        d->bad_hint++;
    }
}

static int placed(void *arg, uint32_t rows)
{
    struct dump *d = arg;
    const struct cf_trace_columns *c = &d->c;

    if (d->summary == 2) {
        d->rows[0] += rows;
        return 0;
    }
    for (uint32_t i = 0; i < rows; i++) {
        d->rows[c->op[i] & 3]++;
        if (d->instructions)
            d->insns += c->insns[i];
        check(d, i);
        if (!d->summary)
            fprintf(d->out, "%s %" PRIu64 " %u %" PRIx64 " %" PRIx64 " %u %u\n",
                    c->op[i] == CF_TRACE_LOAD    ? "L"
                    : c->op[i] == CF_TRACE_STORE ? "S"
                                                 : "I",
                    c->time[i], d->tid, c->pc[i], c->addr[i], c->size[i],
                    d->instructions ? c->insns[i] : 0);
    }
    return 0;
}

static int switched(void *arg, uint64_t time, uint32_t pid, uint32_t tid, uint64_t count)
{
    struct dump *d = arg;

    d->switches++;
    if (!d->summary)
        fprintf(d->out, "switch %" PRIu64 " %u %u %" PRIu64 "\n", time, pid, tid, count);
    return 0;
}

static int task(void *arg, const struct cf_trace_task *t)
{
    struct dump *d = arg;

    d->tasks++;
    if (!d->summary)
        fprintf(d->out, "task %s %" PRIu64 " %u %u %u %s\n",
                t->kind == CF_TRACE_BEGIN   ? "begin"
                : t->kind == CF_TRACE_NAMED ? "named"
                                            : "exit",
                t->time, t->pid, t->tid, t->parent, t->name);
    return 0;
}

static int map(void *arg, const struct cf_trace_map *m)
{
    struct dump *d = arg;

    *(m->kind == CF_TRACE_MAPPED ? &d->maps : &d->unmaps) += 1;
    if (!d->summary)
        fprintf(d->out, "%s %" PRIu64 " %u %" PRIx64 "-%" PRIx64 " %" PRIx64 " %c%c%c %s\n",
                m->kind == CF_TRACE_MAPPED ? "map" : "unmap", m->time, m->pid, m->start, m->end,
                m->offset, m->perms & 1 ? 'r' : '-', m->perms & 2 ? 'w' : '-',
                m->perms & 4 ? 'x' : '-', m->name);
    return 0;
}

static int objects(void *arg, const struct cf_trace_objects *o)
{
    struct dump *d = arg;

    for (uint32_t i = 0; i < o->rows; i++) {
        *(o->kind[i] == CF_TRACE_ALLOC ? &d->allocs : &d->frees) += 1;
        if (!d->summary)
            fprintf(d->out, "%s %" PRIu64 " %u %u %" PRIx64 " %" PRIu64 " %u\n",
                    o->kind[i] == CF_TRACE_ALLOC ? "alloc" : "free", o->time[i], o->pid, o->tid[i],
                    o->addr[i], o->bytes[i], o->stack[i]);
    }
    return 0;
}

static int context(void *arg, const struct cf_trace_context *c)
{
    struct dump *d = arg;

    d->contexts++;
    if (!d->summary)
        fprintf(d->out, "context %u %u %u %" PRIx64 "\n", c->pid, c->stack, c->parent, c->pc);
    return 0;
}

int main(int argc, char **argv)
{
    static uint64_t time[ROWS], addr[ROWS], pc[ROWS];
    static uint32_t size[ROWS], insns[ROWS], hint[ROWS];
    static uint8_t op[ROWS];
    struct dump d = {.out = stderr};
    struct cf_trace_options options = {0};
    struct cf_trace_handler handler = {&d, place, placed, switched, task, map, objects, context};
    char directory[] = "/dev/shm/cftrace.XXXXXX", option[6][PATH_MAX], problem[256];
    char library[PATH_MAX], *run[MAX_ARGS], *slash;
    int c, n = 0, k = 0, r, status = 0;
    struct rusage usage;
    struct cf_trace *t;
    pid_t child;

    run[n++] = "valgrind";
    run[n++] = "--tool=cftrace";
    run[n++] = "-q";
    while ((c = getopt(argc, argv, "+ismFf:l:d:x:o:L:")) != -1)
        switch (c) {
        case 'i':
            d.instructions = options.instructions = 1;
            break;
        case 's':
            d.summary = 1;
            break;
        case 'm':
            d.summary = 2;
            break;
        case 'F':
            options.follow = 1;
            run[n++] = "--follow=yes";
            run[n++] = "--trace-children=yes";
            break;
        case 'f':
            snprintf(option[k], sizeof(option[k]), "--function=%s", optarg);
            run[n++] = option[k++];
            break;
        case 'd':
            snprintf(option[k], sizeof(option[k]), "--stack-depth=%s", optarg);
            run[n++] = option[k++];
            break;
        case 'l':
            options.limit = strtoull(optarg, NULL, 0);
            break;
        case 'L':
            options.fetch_line = (uint32_t)strtoul(optarg, NULL, 0);
            break;
        case 'x':
            run[n++] = optarg;
            break;
        case 'o':
            d.out = fopen(optarg, "w");
            break;
        default:
            exit(2);
        }
    if (optind >= argc || argc - optind + n + 2 > MAX_ARGS || !d.out || !mkdtemp(directory))
        exit(2);
    snprintf(option[5], sizeof(option[5]), "--directory=%s", directory);
    run[n++] = option[5];
    for (int i = optind; i < argc; i++)
        run[n++] = argv[i];
    run[n] = NULL;

    /* BUILD/obj/trace/dump, BUILD/libexec/cacheflow/valgrind */
    r = (int)readlink("/proc/self/exe", library, sizeof(library) - 1);
    library[r < 0 ? 0 : r] = 0;
    for (int i = 0; i < 3; i++)
        if ((slash = strrchr(library, '/')))
            *slash = 0;
    strncat(library, "/libexec/cacheflow/valgrind", sizeof(library) - strlen(library) - 1);
    setenv("VALGRIND_LIB", library, 1);

    d.c = (struct cf_trace_columns){time, addr, pc, op, size, insns, hint};
    t = cf_trace_open(directory, &options, &handler, problem, sizeof(problem));
    if (!t) {
        fprintf(stderr, "dump: %s\n", problem);
        exit(3);
    }
    child = fork();
    if (child == 0) {
        execvp(run[0], run);
        _exit(127);
    }
    while ((r = cf_trace_read(t, 100)) > 0)
        if (r == CF_TRACE_IDLE && !cf_trace_begun(t) && waitpid(child, &status, WNOHANG) == child) {
            child = 0;
            break;
        }
    cf_trace_finish(t);
    if (child)
        wait4(child, &status, 0, &usage);
    fprintf(stderr,
            "totals: instructions %" PRIu64 " loads %" PRIu64 " stores %" PRIu64 " runs %" PRIu64
            " run-instructions %" PRIu64 " rows %" PRIu64 "\n",
            cf_trace_time(t), d.rows[1], d.rows[2], d.rows[3], d.insns, cf_trace_rows(t));
    fprintf(stderr,
            "events: switches %" PRIu64 " tasks %" PRIu64 " maps %" PRIu64 " unmaps %" PRIu64
            " allocs %" PRIu64 " frees %" PRIu64 " contexts %" PRIu64 "\n",
            d.switches, d.tasks, d.maps, d.unmaps, d.allocs, d.frees, d.contexts);
    if (d.bad_order || d.bad_hint)
        fprintf(stderr, "WRONG: order %" PRIu64 " hint %" PRIu64 "\n", d.bad_order, d.bad_hint);
    fprintf(stderr,
            "program: %s %d, cpu %ld.%03ld s; decoder: ", WIFSIGNALED(status) ? "signal" : "status",
            WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
            usage.ru_utime.tv_sec + usage.ru_stime.tv_sec,
            (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1000);
    getrusage(RUSAGE_SELF, &usage);
    fprintf(stderr, "cpu %ld.%03ld+%ld.%03ld s\n", usage.ru_utime.tv_sec,
            usage.ru_utime.tv_usec / 1000, usage.ru_stime.tv_sec, usage.ru_stime.tv_usec / 1000);
    if (cf_trace_problem(t))
        fprintf(stderr, "problem: %s\n", cf_trace_problem(t));
    r = cf_trace_dropped(t) || d.bad_order || d.bad_hint;
    cf_trace_close(t);
    rmdir(directory);
    if (d.out != stderr)
        fclose(d.out);
    return r;
}
