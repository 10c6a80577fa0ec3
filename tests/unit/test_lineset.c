/* SPDX-License-Identifier: BSD-2-Clause */
/* The lines of successive snapshots against lists that are searched from their begin. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "cpus.h"
#include "filters/engine/snapshot/lineset.h"
#include "tap.h"

enum { MOST = 5000 };

static uint64_t state = 7;

static uint32_t next(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33);
}

/* Keys as of lines of a cache, of which some stay; dense; all in one bucket; in any bits. */
static uint64_t key_of(unsigned kind, uint32_t i)
{
    switch (kind) {
    case 0:
        return (uint64_t)(next() % 3) << 20 | i;
    case 1:
        return next() % 4000;
    case 2:
        return (uint64_t)(next() % 2000) << 24;
    default:
        return ((uint64_t)(next() % 8) << 61 | next() % 1000) & ~1ull;
    }
}

static uint64_t run(unsigned kind)
{
    static uint64_t now[MOST], last[MOST];
    static uint8_t before[MOST];
    uint32_t lasts = 0;
    uint64_t wrong = 0, reused = 0;
    struct cf_lineset *s = cf_lineset_new(kind == 1 ? 10 : 4096);

    need(s != NULL, "memory");
    for (unsigned round = 0; round < 20; round++) {
        const uint32_t count = round == 7 ? 0 : next() % MOST;

        for (uint32_t i = 0; i < count; i++)
            now[i] = key_of(kind, i);
        for (uint32_t from = 0, n; from < count; from += n) {
            n = 1 + next() % 900;
            n = n < count - from ? n : count - from;
            wrong += cf_lineset_add(s, now + from, n, before + from) != 0;
        }
        for (uint32_t i = 0; i < count; i++) {
            uint8_t want = 0;

            for (uint32_t k = 0; k < lasts && !want; k++)
                want = last[k] == now[i];
            wrong += before[i] != want;
            reused += want;
        }
        if (round == 13) {
            cf_lineset_clear(s);
            lasts = 0;
            continue;
        }
        wrong += cf_lineset_next(s) != 0;
        memcpy(last, now, count * sizeof *now);
        lasts = count;
    }
    cf_lineset_free(s);
    return reused ? wrong : UINT64_MAX;
}

int main(void)
{
    static const char *const kinds[] = {"lines of a cache", "a set that is made too small",
                                        "keys of one bucket", "keys in high bits"};

    for (unsigned kind = 0; kind < 4; kind++)
        for (unsigned cpu = CF_CPU_BASE; cpu <= best_cpu(); cpu++) {
            take_cpu(cpu);
            is_u64(run(kind), 0, "%s, %s: as the lists say", kinds[kind], cpu_names[cpu]);
        }
    {
        struct rusage before, after;
        struct cf_lineset *s;

        getrusage(RUSAGE_SELF, &before);
        s = cf_lineset_new(SIZE_MAX);
        getrusage(RUSAGE_SELF, &after);
        ok(s && after.ru_maxrss - before.ru_maxrss < 64 << 10,
           "a cache that is said to be huge takes no memory before its lines come");
        cf_lineset_free(s);
    }
    return done();
}
