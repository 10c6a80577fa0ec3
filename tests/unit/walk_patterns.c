/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * walk_patterns EXPERIMENT PARAMETER: lets cf-capture-probe's own functions measure an ideal
 * machine, a first level of 48 KiB and 12 ways and one for instructions of 64 KiB and 16, both of
 * lines of 64 bytes. It is measured twice: the first time tells which visit that row is of, since
 * some rows are written when others are known, too. The second time the visit's pattern is linked,
 * or written as jumps, and walked twice around, and the program ends: to be recorded, and compared
 * with what the experiment says. Prints where the buffer begins, at a multiple of 16 MiB.
 * With none of both it goes to the end and prints what was found, and how many rows there are of
 * lines a way apart in a level whose size the ways divide, and in one whose they do not. With
 * "decoded" alone a cache of decoded instructions serves the fetches, which holds three lines of a
 * set, of instructions of which no two are decoded as one a single line.
 *
 * It needs neither counters nor a clock, so that it runs in emulation of another processor as well.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "capture/probe/bench/chain.h"
#include "capture/probe/steady/steady.h"
#include "formats/stream/cf.h"

enum {
    SIZE = 2 << 20,
    ALIGN = 16 << 20,
    LINE = 64,
    SETS = 64,
    PAGE = 4096,
    ROUNDS = 2,
    HIT = 3,
    MISS = 13
};

static struct {
    const char *experiment;
    uint64_t parameter;
    unsigned char *buffer;
    unsigned visits, wanted; /* so far; the one that is walked, 0: not known yet */
    unsigned of_index;
    int decoded;
} w;

static __attribute__((noinline)) void walk(const struct cf_visit *v)
{
    static const unsigned char *target[ROUNDS * SIZE / LINE + 1];
    uint64_t seed = 1;

    printf("0x%" PRIxPTR "\n", (uintptr_t)w.buffer);
    fflush(stdout);
    if (!v->code) {
        cf_chain_link(w.buffer, v->offset, v->count);
        (void)cf_chain_walk(w.buffer + v->offset[0], (uint64_t)ROUNDS * v->count);
        exit(0);
    }
    if (cf_chain_code(w.buffer, v->offset, v->count, v->code, v->single) != 0)
        exit(77);
    cf_chain_list(target, w.buffer, v->offset, v->count, ROUNDS, &seed);
    cf_chain_go(target);
    exit(0);
}

/* Lines of a set miss where there are more of them than ways. */
static uint64_t time_of(const struct cf_visit *v)
{
    static unsigned char seen[SIZE / LINE];
    const uint32_t ways = !v->code ? 12 : !w.decoded ? 16 : v->single ? 1 : 3;
    uint32_t lines[SETS] = {0};
    uint64_t time = 0;

    memset(seen, 0, sizeof seen);
    for (uint32_t i = 0; i < v->count; i++) {
        const uint64_t line = v->offset[i] / LINE;

        lines[line % SETS] += !seen[line];
        seen[line] = 1;
    }
    for (uint32_t i = 0; i < v->count; i++)
        time += v->fresh || lines[v->offset[i] / LINE % SETS] > ways ? MISS : HIT;
    return time * v->rounds;
}

static int run(void *self, const struct cf_visit *v, struct cf_measured *m)
{
    (void)self;
    for (uint32_t i = 0; i < v->count; i++) /* as on this machine */
        if (v->offset[i] % CF_NODE || v->offset[i] > SIZE - CF_NODE) {
            errno = EINVAL;
            return -1;
        }
    if (++w.visits == w.wanted)
        walk(v);
    *m = (struct cf_measured){.accesses = (uint64_t)v->count * v->rounds,
                              .time = time_of(v),
                              .cpu = w.visits, /* by which a row finds its visit */
                              .method = CF_METHOD_CLOCK};
    for (uint32_t i = 0; v->each && i < v->count * v->rounds; i++)
        v->each[i] = MISS;
    return 0;
}

static int forget(void *self)
{
    (void)self;
    return 0;
}

static void row(void *arg, const struct probe_row *r)
{
    (void)arg;
    w.of_index += !strcmp(r->experiment, "index");
    if (w.experiment && !w.wanted && !strcmp(r->experiment, w.experiment) &&
        r->parameter == w.parameter)
        w.wanted = r->m.cpu;
    if (!w.experiment && strstr(r->experiment, ".code"))
        printf("%s %" PRIu64 " %u %.0f\n", r->experiment, r->parameter, r->level,
               (double)r->m.time / (double)r->m.accesses);
}

static void index_of(struct probe *p, uint32_t ways)
{
    const struct cf_frames f = {.page = PAGE};

    w.of_index = 0;
    p->level[1].size = SIZE / 2;
    if (steady_index(p, &f, ways, 1) != 0)
        exit(1);
    printf("index %u %u\n", ways, w.of_index);
}

static int measure(struct cf_bench *b, struct probe *p)
{
    *p = (struct probe){.bench = b,
                        .most = SIZE / 2,
                        .by_time = 1,
                        .paper = 1,
                        .ordinary = b,
                        .page = PAGE,
                        .seed = 1,
                        .row = row};
    w.visits = 0;
    return probe_steady(p, 1);
}

static void release(struct probe *p)
{
    free(p->nodes.offset);
    free(p->spare.offset);
    free(p->seen);
    free(p->ticks);
}

int main(int argc, char **argv)
{
    struct cf_bench b = {.run = run, .forget = forget, .size = SIZE};
    struct probe p;
    unsigned char *mapped =
        mmap(NULL, 2 * ALIGN, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
             /* cppcheck-suppress invalidFunctionArg */
             -1, 0);

    if (mapped == MAP_FAILED)
        return 77;
    w.buffer = (unsigned char *)(((uintptr_t)mapped + ALIGN - 1) / ALIGN * ALIGN);
    w.decoded = argc == 2;
    if (argc == 3) {
        w.experiment = argv[1];
        w.parameter = strtoull(argv[2], NULL, 10);
    }
    if (measure(&b, &p) != 0)
        exit(1);
    if (w.experiment) { /* it ends in the second one */
        release(&p);
        exit(w.wanted && measure(&b, &p) == 0 ? 2 : 1);
    }
    printf("L1 %" PRIu64 " %" PRIu64 "\n", p.level[0].size, p.level[0].line);
    index_of(&p, 16);
    index_of(&p, 14);
    release(&p);
    munmap(mapped, 2 * ALIGN);
    return 0;
}
