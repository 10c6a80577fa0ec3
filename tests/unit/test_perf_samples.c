/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_perf_samples.c - what rows of cf-capture perf say of samples that no processor here
 * delivers.
 */
#include "formats/stream/cf.h"

#define note                                          note_loss /* tap.h has one, too */
#define cf_writer_rows(out, table, rows, values, ...) ((void)(values), 0)
#include "capture/perf/samples.c"
#undef cf_writer_rows
#undef note
#include "tests/unit/tap.h"

static unsigned seen[2], of_objects[2]; /* by whether they missed */

int cf_fine_decode(struct cf_fine *f, const struct cf_record *r, struct cf_access *access)
{
    (void)f, (void)r, (void)access;
    return 1;
}

int cf_fine_sampled(struct cf_fine *f, const struct cf_record *r, int missed)
{
    (void)f, (void)r;
    seen[missed]++;
    return 0;
}

int cf_fine_accesses(struct cf_fine *f, const struct cf_record *r, struct cf_access *access,
                     uint64_t *misses)
{
    (void)f, (void)r;
    *access = (struct cf_access){0};
    *misses = 0;
    return 0;
}

const char *cf_heap_library(const struct cf_heap *h)
{
    (void)h;
    return NULL;
}

int cf_heap_sampled(struct cf_heap *h, uint32_t pid, uint64_t addr, uint64_t weight, int missed)
{
    (void)h, (void)pid, (void)addr, (void)weight;
    of_objects[missed]++;
    return 0;
}

int cf_tasks_file(const struct cf_tasks *t, uint32_t pid, uint64_t addr, struct cf_tasks_file *f)
{
    (void)t, (void)pid, (void)addr, (void)f;
    return 0;
}

static struct cf_perf_rows s;

static void sample(uint64_t latency)
{
    const struct cf_record r = {
        .kind = CF_PERF_LOADS, .ip = 4096, .addr = 64, .period = 1, .level = 1, .latency = latency};

    if (cf_perf_rows_take(&s, &r) != 0)
        exit(3);
}

/* A sample of this level; where it was counted: hits and misses of instructions and of objects. */
static unsigned counted(unsigned level)
{
    const struct cf_record r = {
        .kind = CF_PERF_LOADS, .ip = 4096, .addr = 64, .period = 1, .level = (uint8_t)level};

    seen[0] = seen[1] = of_objects[0] = of_objects[1] = 0;
    if (cf_perf_rows_take(&s, &r) != 0 || cf_perf_rows_put(&s) != 0)
        exit(3);
    return seen[0] * 1000 + seen[1] * 100 + of_objects[0] * 10 + of_objects[1];
}

static void unknown_levels(void)
{
    cf_perf_rows_begin(&s, NULL, NULL, NULL, NULL, 0);
    is_u64(counted(1), 1010, "a hit");
    is_u64(counted(2), 101, "a miss");
    is_u64(counted(0), 0, "a sample of unknown level is neither");
    is_u64(s.rows, 3, "and its row is there");
    cf_perf_rows_free(&s);
}

int main(void)
{
    unknown_levels();
    cf_perf_rows_begin(&s, NULL, NULL, NULL, NULL, 0);
    s.latencies = 1;
    sample(UINT32_MAX);
    is_u64(s.long_cost, 0, "the longest latency that the column has");
    sample(UINT32_MAX + 1ull);
    sample(UINT64_MAX);
    is_u64(s.long_cost, 2, "latencies that are cut are counted");
    is_u64(s.count, 3, "and their rows kept");
    s.latencies = 0;
    sample(UINT64_MAX);
    is_u64(s.long_cost, 2, "where there is no column, none is");
    cf_perf_rows_free(&s);
    return done();
}
