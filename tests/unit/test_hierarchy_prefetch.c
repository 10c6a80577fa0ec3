/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The hierarchy: a level with a prefetcher against lists of lines, reference by reference; and the
 * machines and prefetchers that it refuses.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filters/engine/cache/hierarchy.h"
#include "tap.h"

enum { ROWS = 600 };

static uint64_t state = 11;

static uint32_t next(uint32_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % below;
}

static uint64_t addr[ROWS];
static uint8_t op[ROWS];
static uint32_t size[ROWS];

/* One LRU level with a prefetcher, by lists: lines with the time of their last use and whether they
   were brought and not asked for yet. */
struct brought {
    uint64_t line, used;
    int valid, fresh;
};

static struct brought *find_brought(struct brought *set, unsigned ways, uint64_t line)
{
    for (unsigned w = 0; w < ways; w++)
        if (set[w].valid && set[w].line == line)
            return &set[w];
    return NULL;
}

static void bring_in(struct brought *set, unsigned ways, uint64_t line, uint64_t now, int fresh)
{
    struct brought *oldest = set;

    for (unsigned w = 0; w < ways; w++)
        if (!set[w].valid || (oldest->valid && set[w].used < oldest->used))
            oldest = &set[w];
    *oldest = (struct brought){line, now, 1, fresh};
}

static struct {
    uint64_t page, last;
    int64_t step;
} pages[64];

/* Where two equal steps in a page lead; UINT64_MAX without them. */
static uint64_t after_stride(uint64_t line)
{
    uint64_t wanted = UINT64_MAX;
    const uint64_t number = line / 64, k = number % 64;
    const int64_t step = (int64_t)(line - pages[k].last);

    if (pages[k].page == number && step && step == pages[k].step)
        wanted = line + (uint64_t)step;
    pages[k].step = pages[k].page != number ? 0 : step ? step : pages[k].step;
    pages[k].page = number;
    pages[k].last = line;
    return wanted;
}

static void make_strides(void)
{
    for (uint32_t i = 0, stride = 1; i < ROWS; i++) {
        if (next(9) == 0)
            stride = next(5);
        addr[i] = i && next(12) ? (addr[i - 1] + stride * 64) % (1 << 16) : next(1 << 16);
        op[i] = (uint8_t)(CF_LOAD + next(2));
        size[i] = 1;
    }
}

static unsigned prefetch_round(enum cf_prefetcher kind)
{
    struct cf_machine m = {.levels = 1, .line_size = 64};
    struct cf_hierarchy_options o = {.cores = 1, .prefetch = {kind}};
    unsigned ways = 1 + next(4), sets = 1 + next(20), wrong = 0;
    uint64_t issued = 0, useful = 0, now = 0;
    struct brought *cache = calloc((size_t)sets * ways, sizeof *cache);
    static uint8_t hit[ROWS];
    struct cf_hierarchy *h;
    struct cf_hierarchy_counts c;
    char problem[256];

    memset(pages, 0xff, sizeof pages);
    m.level[0] = (struct cf_level){.size = (uint64_t)sets * ways * 64,
                                   .ways = ways,
                                   .line = 64,
                                   .sets = sets,
                                   .depth = 1,
                                   .shared_by = 1,
                                   .write_back = 1,
                                   .write_allocate = 1};
    h = cf_hierarchy_new(&m, &o, problem, sizeof problem);
    make_strides();
    if (!h || cf_hierarchy_run(h, addr, op, size, 0, ROWS, 0, 0, hit) != 0) {
        free(cache);
        return 1;
    }
    for (uint32_t i = 0; i < ROWS; i++) {
        const uint64_t line = addr[i] / 64;
        struct brought *set = cache + line % sets * ways, *x = find_brought(set, ways, line);
        uint64_t wanted = UINT64_MAX;
        const int fresh = x && x->fresh;

        wrong += hit[i] != (x ? 1 : CF_FROM_MEMORY);
        useful += (unsigned)fresh;
        if (x) {
            x->used = ++now;
            x->fresh = 0;
        } else {
            bring_in(set, ways, line, ++now, 0);
        }
        if (kind == CF_PREFETCH_NEXT_LINE && (!x || fresh))
            wanted = line + 1;
        if (kind == CF_PREFETCH_STRIDE)
            wanted = after_stride(line);
        if (wanted == UINT64_MAX || wanted / 64 != line / 64 ||
            find_brought(cache + wanted % sets * ways, ways, wanted))
            continue;
        issued++;
        bring_in(cache + wanted % sets * ways, ways, wanted, ++now, 1);
    }
    cf_hierarchy_count(h, 0, &c);
    wrong += c.prefetches_issued != issued || c.prefetches_useful != useful;
    cf_hierarchy_free(h);
    free(cache);
    return wrong;
}

static void prefetchers(void)
{
    unsigned bad[2] = {0};

    for (unsigned i = 0; i < 600; i++)
        bad[i % 2] += prefetch_round(i % 2 ? CF_PREFETCH_STRIDE : CF_PREFETCH_NEXT_LINE) != 0;
    is_u64(bad[0], 0, "next line: as a naive one");
    is_u64(bad[1], 0, "stride: as a naive one");
}

static void refusals(void)
{
    static struct {
        struct cf_machine m;
        struct cf_hierarchy_options o;
    } s;
    char problem[256] = "";

    s.o.cores = 2;
    {
        struct cf_hierarchy *h = cf_hierarchy_new(&s.m, &s.o, problem, sizeof problem);
        const uint64_t at[2] = {0, 0};
        uint8_t hit[2] = {0, 0};

        ok(h && cf_hierarchy_run(h, at, NULL, NULL, 0, 2, 0, 0, hit) == 0 && hit[0] == 255 &&
               hit[1] == 255,
           "no level at all: memory serves everything");
        cf_hierarchy_free(h);
    }
    s.m.levels = 2;
    for (unsigned i = 0; i < 2; i++)
        s.m.level[i] = (struct cf_level){.size = 4096,
                                         .ways = 4,
                                         .line = 64,
                                         .sets = 16,
                                         .depth = 1 + i,
                                         .shared_by = 1,
                                         .write_back = 1,
                                         .write_allocate = 1};
    s.m.level[1].line = 32;
    ok(!cf_hierarchy_new(&s.m, &s.o, problem, sizeof problem) && strstr(problem, "shorter"),
       "lines become shorter: %s", problem);
    s.m.level[1].line = 64;
    s.m.level[0].shared_by = 2;
    ok(!cf_hierarchy_new(&s.m, &s.o, problem, sizeof problem) && strstr(problem, "shared_by"),
       "shared, then private: %s", problem);
    s.m.level[0].shared_by = 1;
    s.m.level[1].inclusion = CF_EXCLUSIVE;
    s.o.prefetch[1] = CF_PREFETCH_STRIDE;
    ok(!cf_hierarchy_new(&s.m, &s.o, problem, sizeof problem) && strstr(problem, "exclusive"),
       "prefetcher at an exclusive level: %s", problem);
    s.o.prefetch[1] = CF_PREFETCH_NONE;
    s.m.level[1].sets = 1u << 30;
    ok(!cf_hierarchy_new(&s.m, &s.o, problem, sizeof problem) && strstr(problem, "too large"),
       "too large: %s", problem);
}

int main(void)
{
    prefetchers();
    refusals();
    return done();
}
