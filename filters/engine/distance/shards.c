/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shards.c - which lines are in the sample, and what is known from it (see shards.h).
 */
#include <math.h>
#include <string.h>

#include "filters/engine/distance/shards.h"
#include "filters/engine/distance/stack.h"

void shards_init(struct shards *h, double rate, uint32_t samples)
{
    memset(h, 0, sizeof(*h));
    h->threshold = (uint64_t)ldexp(rate, 32);
    if (!h->threshold)
        h->threshold = 1;
    h->samples = samples;
    h->until_look = samples / 8;
}

uint32_t shards_pick(const struct shards *h, const uint64_t *from, uint32_t n, uint32_t most,
                     uint64_t *line, uint32_t *index, uint32_t *taken)
{
    const uint64_t threshold = h->threshold;
    uint32_t m = 0, i;

    for (i = 0; i < n && m < most; i++) {
        line[m] = from[i];
        index[m] = i;
        m += shards_hash(from[i]) >> 32 < threshold;
    }
    *taken = i;
    return m;
}

void shards_scale(struct shards *h, const uint64_t *line, uint64_t *dist, uint32_t n)
{
    const double weight = 1 / shards_rate(h);

    for (uint32_t i = 0; i < n; i++) {
        unsigned bits = SHARDS_SIZES;

        if (dist[i] != CF_DIST_COMPULSORY) {
            dist[i] = (uint64_t)((double)dist[i] * weight + 0.5);
            bits = dist[i] ? 64 - (unsigned)__builtin_clzll(dist[i]) : 0;
        }
        h->sum[shards_hash(line[i]) % SHARDS_GROUPS][bits] += weight;
    }
}

/* Sum of a group's weights at distances of 1 << bits and more. */
static double misses(const struct shards *h, unsigned group, unsigned bits)
{
    double sum = 0;

    for (unsigned b = bits + 1; b <= SHARDS_SIZES; b++)
        sum += h->sum[group][b];
    return sum;
}

double shards_error(const struct shards *h, uint64_t *from)
{
    double greatest = 0;
    unsigned first = 4;

    while (first < 63 && ldexp(shards_rate(h), (int)first) < 16)
        first++;
    *from = (uint64_t)1 << first;
    for (unsigned bits = first; h->references && bits < 64; bits++) {
        double sum = 0, squares = 0, mean;

        for (unsigned g = 0; g < SHARDS_GROUPS; g++)
            sum += misses(h, g, bits);
        mean = sum / SHARDS_GROUPS;
        for (unsigned g = 0; g < SHARDS_GROUPS; g++) {
            const double off = misses(h, g, bits) - mean;

            squares += off * off;
        }
        if (squares > greatest)
            greatest = squares;
    }
    /* the second factor: a sample of everything has no error */
    return sqrt(greatest * SHARDS_GROUPS / (SHARDS_GROUPS - 1) * (1 - shards_rate(h))) /
           (double)(h->references ? h->references : 1);
}
