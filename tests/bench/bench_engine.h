/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_engine.h - traces and time for the benchmarks of engines.
 *
 *     bench_X [-n REFERENCES] [-r RUNS] [-t TRACE] [-i ITEM] [FILE...]
 *
 * Traces: "real", the data references of the files, at most REFERENCES of each; "zipf" (alpha 1,
 * 1,048,576 lines of 64 bytes, scattered by a permutation) and "uniform" (over 64 MiB), of
 * REFERENCES each [20,000,000]; a third of these two are stores, all are 8 bytes, aligned. Each
 * figure is the best CPU time of RUNS runs [5], told as a ratio to a simple loop that ran in
 * turn with it. With -t and -i only that trace, and only that item, without what it is a ratio of.
 *
 * Memory: 17 bytes a reference.
 */
#ifndef BENCH_ENGINE_H
#define BENCH_ENGINE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "formats/cpu/cf_cpu.h"
#include "formats/stream/cf.h"

#define BENCH_UNUSED __attribute__((unused))

struct bench_trace {
    const char *name;
    size_t count;
    uint64_t *addr;
    uint32_t *size;
    uint32_t *tid; /* 0 where the input has none */
    uint8_t *op;
};

struct bench_options {
    size_t count; /* references a trace, of real ones a file */
    unsigned runs;
    const char *trace; /* NULL: all */
    char **files;
    int file_count;
};

static BENCH_UNUSED const char *bench_only; /* item; NULL: all */

static BENCH_UNUSED struct bench_options bench_options(int argc, char **argv)
{
    struct bench_options o = {.count = 20000000, .runs = 5};
    int option;

    while ((option = getopt(argc, argv, "n:r:t:i:")) != -1) {
        if (option == 'n')
            o.count = strtoull(optarg, NULL, 10);
        else if (option == 'r')
            o.runs = (unsigned)strtoul(optarg, NULL, 10);
        else if (option == 't')
            o.trace = optarg;
        else if (option == 'i')
            bench_only = optarg;
        else
            exit(2);
    }
    if (!o.count || o.count > 1u << 30 || !o.runs) {
        fprintf(stderr, "-n takes 1 to 1073741824, -r at least 1\n");
        exit(2);
    }
    o.files = argv + optind;
    o.file_count = argc - optind;
    return o;
}

static BENCH_UNUSED void *bench_memory(size_t bytes)
{
    enum { HUGE_PAGE = 1 << 21 };
    const size_t room = (bytes + HUGE_PAGE) / HUGE_PAGE * HUGE_PAGE;
    void *p = aligned_alloc(HUGE_PAGE, room);

    if (p)
        (void)madvise(p, room, MADV_HUGEPAGE); /* the engine is to be measured, not the pages */
    if (!p) {
        fprintf(stderr, "no memory for the trace: take a smaller -n\n");
        exit(3);
    }
    memset(p, 0, bytes);
    return p;
}

static BENCH_UNUSED struct bench_trace bench_room(const char *name, size_t count)
{
    return (struct bench_trace){.name = name,
                                .addr = bench_memory(count * sizeof(uint64_t)),
                                .size = bench_memory(count * sizeof(uint32_t)),
                                .tid = bench_memory(count * sizeof(uint32_t)),
                                .op = bench_memory(count)};
}

static BENCH_UNUSED void bench_free(struct bench_trace *t)
{
    free(t->addr);
    free(t->size);
    free(t->tid);
    free(t->op);
}

/* Loads and stores of the files, one after the other, at most `most` of each. */
static BENCH_UNUSED struct bench_trace bench_real(const struct bench_options *o)
{
    struct bench_trace t = bench_room("real", o->count * (size_t)o->file_count);

    for (int k = 0; k < o->file_count; k++) {
        struct cf_reader *in = cf_reader_open(o->files + k, 1);
        const size_t end = t.count + o->count;
        struct cf_frame *f;

        if (!in)
            exit(3);
        cf_reader_want(in, CF_ACCESS, CF_ADDR, CF_REQUIRED);
        cf_reader_want(in, CF_ACCESS, CF_OP, CF_REQUIRED);
        cf_reader_want(in, CF_ACCESS, CF_SIZE, CF_REQUIRED);
        cf_reader_want(in, CF_ACCESS, CF_TID, CF_OPTIONAL);
        while (t.count < end && cf_reader_next(in, &f) > 0) {
            const uint32_t *tid = f->table == CF_ACCESS ? cf_u32(f, CF_TID) : NULL;

            for (uint32_t i = 0; f->table == CF_ACCESS && i < f->rows && t.count < end; i++) {
                const uint8_t op = cf_u8(f, CF_OP)[i];

                if (op != CF_LOAD && op != CF_STORE)
                    continue;
                t.addr[t.count] = cf_u64(f, CF_ADDR)[i];
                t.size[t.count] = cf_u32(f, CF_SIZE)[i];
                t.tid[t.count] = tid ? tid[i] : 0;
                t.op[t.count++] = op;
            }
        }
        if (cf_reader_damages(in)) {
            fprintf(stderr, "%s\n", cf_reader_problem(in));
            exit(1);
        }
        cf_reader_close(in);
    }
    return t;
}

/* splitmix64 (Steele, Lea, Flood, OOPSLA 2014): the same numbers on every machine. */
static BENCH_UNUSED uint64_t bench_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* The rest of a reference whose line is known. */
static BENCH_UNUSED void bench_reference(struct bench_trace *t, uint64_t line, uint64_t random)
{
    t->addr[t->count] = 0x10000000 + line * 64 + random % 8 * 8;
    t->op[t->count] = (random >> 8) % 3 == 0 ? CF_STORE : CF_LOAD;
    t->size[t->count++] = 8;
}

static BENCH_UNUSED struct bench_trace bench_uniform(size_t count)
{
    struct bench_trace t = bench_room("uniform", count);
    uint64_t state = 1;

    while (t.count < count) {
        const uint64_t random = bench_random(&state);

        bench_reference(&t, random >> 44, random);
    }
    return t;
}

/* The rank is found in the cumulative distribution, from where a guide table says. */
static BENCH_UNUSED struct bench_trace bench_zipf(size_t count)
{
    enum { LINES = 1 << 20 };
    struct bench_trace t = bench_room("zipf", count);
    double *below = bench_memory((LINES + 1) * sizeof(*below)); /* chance of a smaller rank */
    uint32_t *guide = bench_memory((LINES + 1) * sizeof(*guide));
    uint32_t *line = bench_memory(LINES * sizeof(*line));
    uint64_t state = 2;

    for (uint32_t i = 0; i < LINES; i++) {
        const uint32_t k = (uint32_t)(bench_random(&state) % (i + 1));

        below[i + 1] = below[i] + 1.0 / (i + 1);
        line[i] = line[k];
        line[k] = i;
    }
    for (uint32_t i = 0, k = 0; i < LINES; i++) {
        while (k + 1 < LINES && below[k + 1] / below[LINES] <= (double)i / LINES)
            k++;
        guide[i] = k;
    }
    while (t.count < count) {
        const uint64_t random = bench_random(&state);
        const double u = (double)(random >> 11) / (double)(1ull << 53);
        uint32_t k = guide[(uint32_t)(u * LINES)];

        while (k + 1 < LINES && below[k + 1] / below[LINES] <= u)
            k++;
        bench_reference(&t, line[k], bench_random(&state));
    }
    free(below);
    free(guide);
    free(line);
    return t;
}

/* Trace 0, 1, 2 of the list above; count is 0 where there is none. */
enum { BENCH_TRACES = 3 };

static BENCH_UNUSED struct bench_trace bench_make(const struct bench_options *o, unsigned which)
{
    static const char *const name[BENCH_TRACES] = {"real", "zipf", "uniform"};

    if (o->trace && strcmp(o->trace, name[which]) != 0)
        return (struct bench_trace){0};
    return which == 0 ? bench_real(o) : which == 1 ? bench_zipf(o->count) : bench_uniform(o->count);
}

static BENCH_UNUSED double bench_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Something to measure; it returns a sum, so that the compiler cannot leave the work out. */
typedef uint64_t (*bench_work)(const struct bench_trace *t, void *arg);

struct bench_item {
    const char *name;
    bench_work work;
    void *arg;
    const char *baseline; /* name of the item that it is a ratio of, NULL = none */
    int each;             /* 1: by the code for each processor that this one can do (cf_cpu.h);
                             2: and by the definition alone */
    /* of each enum cf_cpu; what is not by each, at the best */
    double seconds[CF_CPUS]; /* best */
    uint64_t sum;
};

static BENCH_UNUSED int bench_left_out(const struct bench_item *item)
{
    return bench_only && strcmp(bench_only, item->name) != 0;
}

static BENCH_UNUSED unsigned bench_first(const struct bench_item *item, unsigned best)
{
    return item->each == 2 ? CF_CPU_NONE : item->each ? CF_CPU_BASE : best;
}

static const char *const bench_cpu[CF_CPUS] = {"none", "base", "avx2", "avx512"};

/* Runs all items in turn, `runs` times, and prints for each: name, trace, what the work returned,
   and for each processor million references a CPU second and the ratio to the baseline. The code of
   all must return the same. */
static BENCH_UNUSED void bench_items(struct bench_item *item, unsigned items,
                                     const struct bench_trace *t, unsigned runs)
{
    const unsigned best = cf_cpu();

    for (unsigned r = 0; r < runs; r++)
        for (unsigned i = 0; i < items; i++)
            for (unsigned cpu = bench_first(&item[i], best);
                 cpu <= best && !bench_left_out(&item[i]); cpu++) {
                double start, seconds;
                uint64_t sum;

                setenv("CF_CPU", bench_cpu[cpu], 1);
                start = bench_seconds();
                sum = item[i].work(t, item[i].arg);
                seconds = bench_seconds() - start;
                if (r == 0 || seconds < item[i].seconds[cpu])
                    item[i].seconds[cpu] = seconds;
                if (r || cpu > bench_first(&item[i], best))
                    if (sum != item[i].sum) {
                        fprintf(stderr, "%s: other results for %s\n", item[i].name, bench_cpu[cpu]);
                        exit(1);
                    }
                item[i].sum = sum;
            }
    for (unsigned i = 0; i < items; i++) {
        const struct bench_item *base = &item[i];

        if (bench_left_out(base))
            continue;
        for (unsigned k = 0; item[i].baseline && k < items; k++)
            if (!strcmp(item[k].name, item[i].baseline))
                base = &item[k];
        printf("%-28s %-8s", item[i].name, t->name);
        for (unsigned cpu = bench_first(&item[i], best); cpu <= best; cpu++)
            printf("  %s%s%.1f M/s %.2f x", item[i].each ? bench_cpu[cpu] : "",
                   item[i].each ? " " : "", (double)t->count / item[i].seconds[cpu] / 1e6,
                   base->seconds[best] / item[i].seconds[cpu]);
        printf("  of %s  (%llu)\n", base == &item[i] ? "itself" : base->name,
               (unsigned long long)item[i].sum);
    }
    fflush(stdout);
}

#endif
