/* SPDX-License-Identifier: BSD-2-Clause */
/* The seeded hash: keys that meet under one seed do not under another, nor do regular ones. */
#include <string.h>
#include <unistd.h>

#include "formats/base/cf_hash.h"
#include "tap.h"

enum { BITS = 10, KEYS = 4000 };

static unsigned place(struct cf_seed s, uint64_t a, uint64_t b)
{
    return (unsigned)(cf_hash(s, a, b) >> (64 - BITS));
}

/* The most of the keys that meet in one place. */
static unsigned most(struct cf_seed s, const uint64_t *a, const uint64_t *b)
{
    unsigned count[1 << BITS] = {0}, result = 0;

    for (unsigned i = 0; i < KEYS; i++) {
        const unsigned n = ++count[place(s, a[i], b[i])];

        result = n > result ? n : result;
    }
    return result;
}

/* Keys in a row, also with gaps, under seeds near to the fractions of 2^64 with small denominators:
   what is wrong with one product is seldom seen under random seeds. */
static void in_a_row(uint64_t *a, uint64_t *b)
{
    unsigned worst = 0;

    for (uint64_t q = 1; q <= 16; q++)
        for (uint64_t p = 0; p < q; p++) {
            const struct cf_seed s = {UINT64_MAX / q * p + 0x12345679, 0x243f6a8885a308d3};

            for (unsigned shift = 0; shift <= 48; shift += 12) {
                unsigned n;

                for (unsigned i = 0; i < KEYS; i++) {
                    a[i] = 0;
                    b[i] = (uint64_t)i << shift;
                }
                n = most(s, a, b);
                worst = n > worst ? n : worst;
            }
        }
    ok(worst < 40, "keys in a row, under any seed: %u of %u meet at most", worst, KEYS);
}

int main(int argc, char **argv)
{
    static uint64_t a[KEYS], b[KEYS];
    const int first = 1, second = 2;
    const struct cf_seed one = cf_seed(&first), two = cf_seed(&second);
    char again[64];
    FILE *child;

    if (argc > 1) {
        printf("%llx %llx\n", (unsigned long long)one.a, (unsigned long long)one.b);
        return 0;
    }
    ok(one.a != two.a && one.b != two.b, "two tables have two seeds");
    for (unsigned i = 0, n = 0; n < KEYS; i++) {
        a[n] = i % 3;
        b[n] = i;
        n += place(one, a[n], b[n]) == 0;
    }
    is_u64(most(one, a, b), KEYS, "keys that meet under one seed");
    ok(most(two, a, b) < 40, "are apart under another");
    for (unsigned shift = 0; shift <= 48; shift += 6) {
        for (unsigned i = 0; i < KEYS; i++) {
            a[i] = 0;
            b[i] = (uint64_t)i << shift;
        }
        ok(most(one, a, b) < 40, "keys %llu apart", 1ull << shift);
    }
    in_a_row(a, b);
    snprintf(again, sizeof again, "exec '%s' seed", argv[0]);
    child = popen(again, "r");
    need(child && fscanf(child, "%llx", (unsigned long long *)&a[0]) == 1, "a second process");
    pclose(child);
    ok(a[0] != one.a, "a second process has another seed");
    return done();
}
