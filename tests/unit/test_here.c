/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_here.c - the machine at hand as a bench: chains go where they should, what cannot be visited
 * is refused, counters count. Nothing here is decided by time; the way of a counter through the
 * program is tested with one that is exact everywhere, page faults, and fresh pages as misses.
 */
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/probe/bench/chain.h"
#include "capture/probe/bench/frames.h"
#include "capture/probe/bench/here.h"
#include "formats/stream/cf.h"
#include "tests/unit/tap.h"

/* Counters that say what the test wants, where there are none, or others. */
#define cf_perf_open told_open
#include "capture/probe/bench/buffer.c"
#include "capture/probe/bench/chain.c"
#include "capture/probe/bench/counter.c"
#include "capture/probe/bench/frames.c"
#include "capture/probe/bench/here.c"
#include "capture/probe/bench/pace.c"
#undef cf_perf_open
int cf_perf_open(struct perf_event_attr *attr, pid_t pid, int cpu);

static struct {
    int on, error;    /* errno of opening one */
    uint64_t read[3]; /* count, and the times that it was enabled and that it ran */
} told;

int told_open(struct perf_event_attr *attr, pid_t pid, int cpu)
{
    uint64_t all[3 * 1000]; /* read one after the other */
    int fd;

    if (!told.on)
        return cf_perf_open(attr, pid, cpu);
    if (told.error) {
        errno = told.error;
        return -1;
    }
    fd = memfd_create("counter", MFD_CLOEXEC);
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
        all[i] = told.read[i % 3];
    if (fd < 0 || write(fd, all, sizeof all) != (ssize_t)sizeof all)
        return -1;
    return lseek(fd, 0, SEEK_SET) == 0 ? fd : -1;
}

enum { SIZE = 8 << 20, NODES = 1000, FRESH = 300 };

static uint64_t state = 7;

static void some_nodes(uint64_t *offset, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        offset[i] = (uint64_t)i * 4096 / 16 * 16 + below(&state, 255) * 16;
    shuffle(&state, offset, n);
}

static void chains(void)
{
    static unsigned char buffer[NODES * 4096] __attribute__((aligned(4096)));
    struct cf_chain_times t = {0};
    uint32_t each[NODES + 1] = {0};
    uint64_t offset[NODES], longer = 0;
    unsigned char *at = buffer;
    int right = 1;

    some_nodes(offset, NODES);
    cf_chain_link(buffer, offset, NODES);
    for (uint32_t i = 0; i < NODES; i++) {
        at = cf_chain_walk(buffer + offset[0], i);
        right &= at == buffer + offset[i];
    }
    ok(right, "a walk of any length ends at the node of that number");
    ok(cf_chain_walk(buffer + offset[0], 3 * NODES) == buffer + offset[0], "a chain is a ring");
    each[NODES] = 77;
    t.each = each;
    t.limit = UINT64_MAX;
    ok(cf_chain_time(buffer + offset[0], NODES, &t) == buffer + offset[0], "so is a timed one");
    for (uint32_t i = 0; i < NODES; i++)
        t.time -= each[i];
    is_u64(t.time, 0, "the time of a walk is that of its steps");
    is_u64(t.slow, 0, "none is slower than the greatest limit");
    is_u64(each[NODES], 77, "no step more is timed");
    t = (struct cf_chain_times){.each = each};
    (void)cf_chain_time(buffer + offset[0], NODES, &t);
    for (uint32_t i = 0; i < NODES; i++)
        longer += each[i] > 0; /* few, where a tick of the clock is longer than a step */
    is_u64(t.slow, longer, "with a limit of 0 all steps are slow that take a tick");
#if defined(__x86_64__)
    ok(longer > NODES / 2, "as most do");
#endif
}

static int visit(const struct cf_bench *b, const uint64_t *offset, uint32_t n,
                 struct cf_measured *m)
{
    return b->run(
        b->self,
        &(struct cf_visit){.offset = offset, .count = n, .warm = 1, .rounds = 3, .level = 1}, m);
}

static void visits(const struct cf_bench *b)
{
    uint64_t offset[NODES], wrong;
    uint32_t each[NODES];
    struct cf_measured m;

    some_nodes(offset, NODES);
    is_u64(b->size, SIZE, "the buffer is as large as was asked for");
    is_u64(visit(b, offset, NODES, &m), 0, "a visit");
    is_u64(m.accesses, 3 * NODES, "accesses of all rounds that are measured");
    ok(m.time > 0, "they take time");
    wrong = b->size;
    ok(visit(b, &wrong, 1, &m) == -1 && errno == EINVAL, "a node behind the buffer is refused");
    wrong = b->size - 8;
    ok(visit(b, &wrong, 1, &m) == -1 && errno == EINVAL, "so is one that ends behind it");
    wrong = 24;
    ok(visit(b, &wrong, 1, &m) == -1 && errno == EINVAL, "one between nodes");
    ok(visit(b, offset, 0, &m) == -1 && errno == EINVAL, "and none at all");
    is_u64(b->run(b->self,
                  &(struct cf_visit){.offset = offset,
                                     .count = NODES,
                                     .rounds = 1,
                                     .level = 2,
                                     .limit = UINT64_MAX,
                                     .each = each},
                  &m),
           0, "each access by itself");
    ok(m.has_misses && !m.misses && m.method == CF_METHOD_EACH,
       "none misses by the greatest limit");
    ok(b->run(b->self,
              &(struct cf_visit){.offset = offset, .count = 9, .rounds = 1, .cpu = 1 + 70000},
              &m) == -1,
       "a CPU that is not there is refused");
    ok(b->forget(b->self) == 0 || errno == ENOTSUP, "lines can be taken out, or it is said");
    is_u64(visit(b, offset, NODES, &m), 0, "and visited again");
}

static void code(const struct cf_bench *b)
{
    uint64_t offset[NODES];
    struct cf_measured m;
    int status;

    some_nodes(offset, NODES);
    errno = 0;
    status = b->run(
        b->self,
        &(struct cf_visit){
            .offset = offset, .count = NODES, .warm = 1, .rounds = 2, .level = 1, .code = 16},
        &m);
    if (status != 0 && (errno == ENOTSUP || errno == EACCES || errno == EPERM)) {
        ok(1, "jumps: not on this machine");
        return;
    }
    ok(status == 0 && m.accesses == 2 * NODES, "jumps along all nodes end where they should");
    ok(b->run(
           b->self,
           &(struct cf_visit){
               .offset = offset, .count = NODES, .rounds = 2, .level = 1, .code = 16, .single = 1},
           &m) == 0 &&
           m.accesses == 2 * NODES,
       "and so do those behind other instructions that do nothing");
    is_u64(visit(b, offset, NODES, &m), 0, "and the buffer holds data again");
}

/* Not instrumented: what a sanitizer notes of a byte is in a page of its own. */
__attribute__((no_sanitize("address"))) static void touch(unsigned char *fresh, long page)
{
    for (long i = 0; i < FRESH; i++)
        *(volatile unsigned char *)(fresh + i * page) = 1;
}

static void counter(void)
{
    const long page = sysconf(_SC_PAGESIZE);
    struct cf_counter c;
    unsigned char *fresh;
    uint64_t count = 0;
    char why[256] = "";

    ok(cf_counter_open(&c, 1, 0, "NO_SUCH_EVENT", why, sizeof why) == -1 &&
           strstr(why, "NO_SUCH_EVENT"),
       "an event that nobody knows is named");
    ok(cf_counter_open(&c, 1, 0, "PAPI_L9_DCM", why, sizeof why) == -1 && c.fd == -1,
       "there is no preset for level 9: %s", why);
    if (cf_counter_open(&c, 1, 0, "PERF_COUNT_SW_PAGE_FAULTS", why, sizeof why) != 0) {
        ok(1, "page faults are not counted here: %s", why);
        return;
    }
    fresh = mmap(NULL, (size_t)(FRESH * page), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                 /* cppcheck-suppress invalidFunctionArg */
                 -1, 0);
    need(fresh != MAP_FAILED, "fresh pages");
    (void)madvise(fresh, (size_t)(FRESH * page), MADV_NOHUGEPAGE);
    for (unsigned again = 0; again < 2; again++) {
        cf_counter_start(&c);
        touch(fresh, page);
        is_u64(cf_counter_stop(&c, &count), 0, "a counter that counts all the time says so");
        is_u64(count, again ? 0 : FRESH,
               again ? "pages that are there do not miss"
                     : "each fresh page is a miss, and nothing else");
    }
    cf_counter_close(&c);
    ok(c.fd == -1, "a counter is closed");
    munmap(fresh, (size_t)(FRESH * page));
}

/* The bench with counters that are forbidden, count nothing, or not all the time. */
static void told_counters(void)
{
    const struct cf_here_options o = {.size = SIZE, .cpu = -1};
    struct cf_here *h;
    struct cf_measured m;
    uint64_t offset[NODES];
    char reason[256];
    const char *why = "";

    some_nodes(offset, NODES);
    told.on = 1;
    told.error = EACCES;
    h = cf_here_new(&o, reason, sizeof reason);
    need(h != NULL, "a bench");
    ok(!cf_here_event(h, 1, &why) && strstr(why, "paranoid"), "forbidden: %s", why);
    ok(visit(cf_here_bench(h), offset, NODES, &m) == 0 && m.method == CF_METHOD_CLOCK &&
           !m.has_misses,
       "then it is by the clock");
    cf_here_free(h);

    told.error = 0;
    told.read[0] = 0, told.read[1] = told.read[2] = 100;
    h = cf_here_new(&o, reason, sizeof reason);
    need(h != NULL, "a bench");
    ok(!cf_here_event(h, 1, &why) && strstr(why, "counts nothing"), "always 0: %s", why);
    ok(visit(cf_here_bench(h), offset, NODES, &m) == 0 && m.method == CF_METHOD_CLOCK,
       "then it is by the clock, too");
    cf_here_free(h);

    told.read[0] = 5000;
    h = cf_here_new(&o, reason, sizeof reason);
    need(h != NULL, "a bench");
    ok(cf_here_event(h, 1, &why) != NULL, "one that counts is taken");
    ok(visit(cf_here_bench(h), offset, NODES, &m) == 0 && m.method == CF_METHOD_COUNTER &&
           m.has_misses && m.misses == 5000 && m.spoilt != CF_SPOILT_MULTIPLEXED,
       "and its count is that of misses");
    cf_here_free(h);

    told.read[2] = 60;
    h = cf_here_new(&o, reason, sizeof reason);
    need(h != NULL, "a bench");
    /* it is also too slow, and on another CPU than it should be: that is not what is said */
    h->pace.best = 0, h->pace.step = 0, h->cpu = CPU_SETSIZE;
    ok(visit(cf_here_bench(h), offset, NODES, &m) == 0 && m.method == CF_METHOD_COUNTER &&
           m.spoilt == CF_SPOILT_MULTIPLEXED,
       "not all the time: the visit is spoilt");
    cf_here_free(h);
    told.on = 0;
}

/* By how much a clock advances, whatever its ticks are. */
static void steps(void)
{
    uint64_t time[CALIBRATE];

    for (unsigned i = 0; i < CALIBRATE; i++)
        time[i] = (uint64_t)((40 + i * 7 % 50) * 24.45);
    is_u64(step_of(time, CALIBRATE), 24, "a clock of 100 MHz that counts in ticks of 2.445 GHz");
    for (unsigned i = 0; i < CALIBRATE; i++)
        time[i] = 100 + 2 * (i * 7 % 150) + (i % 90 ? 0 : 40000);
    is_u64(step_of(time, CALIBRATE), 2, "one that advances by 2, and two interruptions");
    for (unsigned i = 0; i < CALIBRATE; i++)
        time[i] = i % 9 + (i % 70 ? 0 : 5000);
    is_u64(step_of(time, CALIBRATE), 1, "a slow one, whose times are a few ticks");
    for (unsigned i = 0; i < CALIBRATE; i++)
        time[i] = i % 2;
    is_u64(step_of(time, CALIBRATE), 1, "a slower one");
    for (unsigned i = 0; i < CALIBRATE; i++)
        time[i] = 41 * (i % 3);
    is_u64(step_of(time, CALIBRATE), 41, "one of 24 MHz in nanoseconds");
    memset(time, 0, sizeof time);
    is_u64(step_of(time, CALIBRATE), 0, "all alike");
}

/* What the clock says is no longer true where the processor became slower, or was taken away. */
static void spoilt(struct cf_here *h)
{
    const uint64_t best = h->pace.best;
    struct cf_measured m;
    uint64_t offset[NODES];

    some_nodes(offset, NODES);
    h->pace.best = 1;
    ok(visit(&h->bench, offset, NODES, &m) == 0 && m.spoilt == CF_SPOILT_DRIFT,
       "a reference loop that takes longer spoils a visit");
    h->pace.best = best;
    h->cpu++;
    ok(visit(&h->bench, offset, NODES, &m) == 0 && m.spoilt == CF_SPOILT_MIGRATED,
       "so does another CPU");
    h->cpu--;
}

static void flushed(const struct cf_bench *b)
{
    uint64_t offset[NODES];
    struct cf_measured m;

    some_nodes(offset, NODES);
    errno = 0;
    if (b->run(b->self,
               &(struct cf_visit){.offset = offset, .count = NODES, .rounds = 1, .fresh = 1},
               &m) != 0)
        ok(errno == ENOTSUP, "lines cannot be flushed here");
    else
        ok(m.accesses == NODES && m.time > 0, "flushed lines are visited");
}

static void ordinary_pages(void)
{
    struct cf_here_options o = {.size = SIZE, .cpu = -1, .time = 1, .ordinary = 1};
    char why[256];
    struct cf_here *h = cf_here_new(&o, why, sizeof why);

    need(h != NULL, "a bench");
    is_u64(cf_here_page(h), (uint64_t)sysconf(_SC_PAGESIZE), "ordinary pages");
    ok(!*cf_here_pages_why(h) && huge_bytes(h->buffer.base) == 0, "none of them huge");
    cf_here_free(h);
    if (prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) != 0) {
        ok(1, "huge pages cannot be switched off here");
        return;
    }
    o.ordinary = 0;
    h = cf_here_new(&o, why, sizeof why);
    need(h != NULL, "a bench");
    ok(h->buffer.pages == CF_BUFFER_HUGETLB ||
           (cf_here_page(h) == (uint64_t)sysconf(_SC_PAGESIZE) && *cf_here_pages_why(h)),
       "no huge pages: %s", cf_here_pages_why(h));
    cf_here_free(h);
    (void)prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0);
}

/* Pages whose colours are known: `page` modulo the number of colours, of which each has WAYS. */
enum { COLOURS = 8, WAYS = 5, POOL = 400 };

static unsigned colour_of(uint64_t page)
{
    return (unsigned)((page * 2654435761u >> 7) % COLOURS);
}

static int coloured(void *self, const struct cf_visit *v, struct cf_measured *m)
{
    const unsigned *disturbed = self;
    unsigned of[COLOURS] = {0};

    *m = (struct cf_measured){.accesses = v->count, .has_misses = 1, .method = CF_METHOD_EACH};
    for (uint32_t i = 0; i < v->count; i++)
        of[colour_of(v->offset[i] / 4096)]++;
    for (unsigned i = 0; i < COLOURS; i++)
        m->misses += of[i] > WAYS ? of[i] : 0;
    m->misses += *disturbed;
    return 0;
}

static uint64_t fitted; /* the largest parameter of pages of which all stayed */

static void see_row(void *arg, const char *experiment, uint64_t parameter, uint32_t repeat,
                    const struct cf_measured *m)
{
    (void)arg, (void)repeat;
    if (!strcmp(experiment, "pages") && !m->misses && parameter > fitted)
        fitted = parameter;
}

static void frames(void)
{
    unsigned disturbed = 0;
    const struct cf_bench b = {.self = &disturbed, .run = coloured, .size = POOL * 4096};
    struct cf_frames f = {.bench = &b,
                          .level = 2,
                          .page = 4096,
                          .limit = 1,
                          .refused = 100,
                          .tries = 2,
                          .seed = 1,
                          .row = see_row};
    uint32_t page[POOL];
    int n, same = 1;

    is_u64(cf_frames_size(&f), 0, "pages of a level");
    ok(f.full, "which no further page fits");
    is_u64(f.pages, COLOURS * WAYS, "as many as it has");
    is_u64(fitted, COLOURS * WAYS * 4096, "and rows say so");
    n = cf_frames_colour(&f, page, POOL);
    ok(n > WAYS + 1, "pages of one colour, more than there are ways");
    for (int i = 1; i < n; i++)
        same &= colour_of(page[i]) == colour_of(page[0]);
    ok(same, "all of them are of that colour");
    is_u64((uint64_t)cf_frames_colour(&f, page, 3), 3, "and no more than were asked for");
    free(f.taken);
    disturbed = 1;
    is_u64(cf_frames_size(&f), 0, "of a machine that is always disturbed");
    ok(!f.full && !f.pages, "nothing is found");
    is_u64((uint64_t)cf_frames_colour(&f, page, POOL), 0, "nor a colour");
    free(f.taken);
}

int main(void)
{
    const struct cf_here_options o = {.size = SIZE, .cpu = -1, .time = 1};
    struct cf_here *h;
    char why[256];
    cpu_set_t set;

    chains();
    counter();
    steps();
    frames();
    ok(!cf_here_new(&(struct cf_here_options){.size = SIZE, .cpu = 70000}, why, sizeof why),
       "no such CPU: %s", why);
    ok(!cf_here_new(&(struct cf_here_options){.size = UINT64_MAX, .cpu = -1}, why, sizeof why),
       "no such buffer: %s", why);
    need(sched_getaffinity(0, sizeof set, &set) == 0, "CPUs");
    h = cf_here_new(&o, why, sizeof why);
    need(h != NULL, "a bench");
    ok(CPU_ISSET(cf_here_cpu(h), &set), "on a CPU of this process");
    ok(cf_here_page(h) >= 4096 && (cf_here_pages_why(h)[0] != 0) == (cf_here_page(h) == 4096),
       "pages of %u bytes: %s", (unsigned)cf_here_page(h), cf_here_pages_why(h));
    visits(cf_here_bench(h));
    code(cf_here_bench(h));
    flushed(cf_here_bench(h));
    spoilt(h);
    cf_here_free(h);
    told_counters();
    ordinary_pages();
    return done();
}
