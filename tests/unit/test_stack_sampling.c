/* SPDX-License-Identifier: BSD-2-Clause */
/* Sampled stack distances against a list of the sampled lines, their curves against exact ones. */
#include <math.h>

#include "filters/engine/distance/shards.h"
#include "stack_list.h"

/* Skewed lines: line k with a chance of about 1 / k. */
static void make_zipf(uint32_t lines)
{
    for (uint32_t i = 0; i < BIG; i++)
        line[i] = (uint64_t)exp((double)(next() >> 11) / 9007199254740992.0 * log(lines));
}

static double misses(const uint64_t *dist, uint64_t size_lines)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < BIG; i++)
        n += dist[i] >= size_lines;
    return (double)n / BIG;
}

/* The sampled references must have the distances of a list of sampled lines, scaled, under the rule
   of shards.h for a fixed size. */
static void sample_exact(double rate, uint32_t samples)
{
    struct cf_stack_config c = {.rate = rate, .samples = samples};
    struct shards h;
    static uint64_t held[BIG];
    struct list l = {held, 0};
    const uint32_t n = 60000;
    uint64_t wrong = 0, most = 0, count = 0;
    struct cf_stack *s = cf_stack_new(&c);

    shards_init(&h, rate, samples);
    for (uint32_t i = 0; i < n; i++)
        line[i] = next() % (next() % 20000 + 1) << 7;
    for (uint32_t i = 0, part; i < n; i += part) {
        part = (uint32_t)(next() % 5000) + 1;
        part = part > n - i ? n - i : part;
        wrong += reference(s, 0, line + i, part, got + i) != 0;
        struct cf_stack_stats stats;
        cf_stack_stats(s, &stats);
        most = stats.lines > most ? stats.lines : most;
    }
    for (uint32_t i = 0; i < n; i++) {
        want[i] = CF_DIST_UNSAMPLED;
        if (!shards_has(&h, line[i]))
            continue;
        want[i] = list_distance(&l, line[i]);
        if (want[i] != CF_DIST_COMPULSORY)
            want[i] = (uint64_t)((double)want[i] / shards_rate(&h) + 0.5);
        if (samples && want[i] && ++count % (samples / 8) == 0 && l.count > samples / 8 * 7) {
            /* the steps in which the threshold falls */
            const uint64_t t = h.threshold;
            uint64_t keep = 65536;

            for (uint32_t left = l.count; left > samples / 4 * 3;) {
                keep--;
                left = 0;
                for (uint32_t k = 0; k < l.count; k++)
                    left += (shards_hash(l.line[k]) >> 32) * 65536 / t < keep;
            }
            h.threshold = (t * keep + 65535) / 65536;
            uint32_t left = 0;
            for (uint32_t k = 0; k < l.count; k++)
                if (shards_has(&h, l.line[k]))
                    l.line[left++] = l.line[k];
            l.count = left;
        }
    }
    is_u64(wrong + differences(got, want, n), 0, "sample of rate %g, size %u: as its list says",
           rate, samples);
    if (samples)
        ok(most <= samples && h.threshold < (uint64_t)1 << 32,
           "the sample holds at most %u lines: %llu", samples, (unsigned long long)most);
    cf_stack_free(s);
}

/* Miss ratios by the sample against the exact ones, at sizes that it can resolve: off by at most
   three standard errors, where a size may be off by three of those of a distance (shards.h). */
static void sample_error(double rate, uint32_t samples)
{
    enum { ROUNDS = 20 };
    struct cf_stack_config exact = {0}, some = {.rate = rate, .samples = samples};
    static double weight[BIG];
    static uint64_t address[BIG];
    unsigned sizes = 0, out = 0, bad = 0;
    double mean_error = 0, mean_off = 0;

    for (unsigned round = 0; round < ROUNDS; round++) {
        struct cf_stack *a = cf_stack_new(&exact), *b = cf_stack_new(&some);
        struct cf_runs *r = cf_runs_new(6, CF_RUNS_DATA, 5000);
        struct cf_stack_stats stats;

        make_zipf(60000 + round * 1000);
        for (uint32_t i = 0; i < BIG; i++) {
            line[i] += (uint64_t)round << 32; /* another sample */
            address[i] = line[i] << 6;
        }
        bad += reference(a, 0, line, BIG, want) != 0;
        for (uint32_t i = 0; i < BIG; i += 10000)
            bad += cf_stack_rows(b, r, 0, address + i, NULL, NULL, 10000, 0, got + i, weight + i);
        cf_stack_stats(b, &stats);
        bad += stats.references != BIG || stats.lines > (samples ? samples : BIG);
        bad += !samples && fabs(stats.expected - BIG * rate) > 1;
        bad += stats.expected < 1 || stats.sampled > BIG;
        for (uint64_t c = stats.error_from; c < 1 << 15; c *= 2, sizes++) {
            const double slip = 3 * sqrt((double)c * (1 - stats.rate) / stats.rate);
            double sum = 0;

            for (uint32_t i = 0; i < BIG; i++)
                if (got[i] != CF_DIST_UNSAMPLED && got[i] >= c)
                    sum += weight[i];
            sum /= BIG;
            out += sum > misses(want, (uint64_t)((double)c - slip)) + 3 * stats.error ||
                   sum < misses(want, (uint64_t)((double)c + slip)) - 3 * stats.error;
            mean_off += fabs(sum - misses(want, c));
        }
        mean_error += stats.error / ROUNDS;
        cf_stack_free(a);
        cf_stack_free(b);
        cf_runs_free(r);
    }
    mean_off /= sizes;
    note("rate %g, size %u: standard error %.5f, off by %.5f on average", rate, samples, mean_error,
         mean_off);
    is_u64(bad, 0, "rate %g, size %u: it runs, and counts", rate, samples);
    ok(sizes && out * 50 <= sizes, "rate %g, size %u: %u of %u miss ratios are off by more", rate,
       samples, out, sizes);
    ok(mean_error > 0 && mean_error < 8 * mean_off && mean_error < 0.05,
       "rate %g, size %u: the error that is told is no wild guess", rate, samples);
}

int main(void)
{
    sample_exact(0.1, 0);
    sample_exact(0.001, 0);
    sample_exact(1, 512);
    sample_exact(0.5, 1024);
    sample_error(0.1, 0);
    sample_error(0.02, 0);
    sample_error(1, 4096);
    return done();
}
