/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines and reused lines of each group in each snapshot, counted by lists that are searched from
 * their begin: random snapshots of two levels and two caches, announced ahead or not at all, some
 * of them empty, cut into frames anywhere, in two segments. Lines are repeated: by other processes
 * and by the same one, next to each other and anywhere; or they come in the order of their places.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "filters/engine/snapshot/census.h"
#include "tap.h"

enum { SNAPSHOTS = 60, LEVELS = 3, MOST = 300, ROWS = SNAPSHOTS * 2 * MOST };

static uint64_t state = 11;

static uint32_t next(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33);
}

/* All rows of a stream, and where the snapshots begin. */
static struct {
    uint32_t rows;
    uint32_t snap[ROWS], cpu[ROWS], pid[ROWS], region[ROWS], set[ROWS], way[ROWS];
    uint8_t level[ROWS], status[ROWS];
    uint64_t phys[ROWS], addr[ROWS], some[ROWS]; /* some: phys, 0 for odd lines */
} all;

struct shape {
    int phys, addr, cpu, announced;
    int mixed;   /* of odd lines the physical address is not known */
    int placed;  /* set and way are known */
    int ordered; /* each cache after the other, by rising places; some snapshots with repetitions */
    int together;
};

static void make(const struct shape *p)
{
    all.rows = 0;
    for (uint32_t s = 0; s < SNAPSHOTS; s++) {
        const uint32_t count = s % 7 == 3 ? 0 : next() % (2 * MOST), repeats = s % 5 == 2;
        uint32_t line = 0;

        for (uint32_t i = 0; i < count; i++) {
            const uint32_t r = all.rows++;

            line = p->ordered ? i == count / 2 ? 0 : line + !(repeats && next() % 3) : next() % 400;
            all.snap[r] = 2 * s; /* every other number only */
            all.level[r] = (uint8_t)(1 + (next() % 4 != 0));
            all.cpu[r] = p->ordered ? i >= count / 2 ? 2 : 0 : next() % 2 * 2;
            all.pid[r] = next() % 5 ? 4000000 + next() % 4 : 0;
            all.region[r] = next() % 3;
            all.status[r] = (uint8_t)(next() % 5);
            all.phys[r] = (uint64_t)line * 64;
            all.addr[r] = 0x7f0000000000 + (uint64_t)(next() % 100) * 32;
            all.some[r] = all.phys[r] & 64 ? 0 : all.phys[r];
            all.set[r] = line / 4;
            all.way[r] = line % 4;
        }
    }
}

static void put(struct cf_frame *f, unsigned id, enum cf_type type, const void *values)
{
    f->column[f->columns++] =
        (struct cf_data){.id = (uint16_t)id, .type = (uint8_t)type, .values = values};
}

static int feed_lines(struct cf_census *c, const struct shape *p, uint32_t from, uint32_t to)
{
    struct cf_frame f = {.table = CF_LINE, .rows = to - from};

    put(&f, CF_SNAP, CF_U32, all.snap + from);
    put(&f, CF_LEVEL, CF_U8, all.level + from);
    put(&f, CF_PID, CF_U32, all.pid + from);
    put(&f, CF_REGION, CF_STR, all.region + from);
    put(&f, CF_STATE, CF_U8, all.status + from);
    if (p->cpu)
        put(&f, CF_CPU, CF_U32, all.cpu + from);
    if (p->phys)
        put(&f, CF_PHYS, CF_U64, (p->mixed ? all.some : all.phys) + from);
    if (p->addr)
        put(&f, CF_ADDR, CF_U64, all.addr + from);
    if (p->placed) {
        put(&f, CF_SET, CF_U32, all.set + from);
        put(&f, CF_WAY, CF_U32, all.way + from);
    }
    return cf_census_frame(c, &f);
}

/* Announces snapshots [from, to), each for both levels. */
static int announce(struct cf_census *c, uint32_t from, uint32_t to)
{
    static uint32_t snap[2 * SNAPSHOTS], sets[2 * SNAPSHOTS], ways[2 * SNAPSHOTS];
    static uint64_t time[2 * SNAPSHOTS];
    static uint8_t level[2 * SNAPSHOTS], mode[2 * SNAPSHOTS];
    struct cf_frame f = {.table = CF_SNAPSHOT};

    for (uint32_t s = from; s < to; s++)
        for (uint8_t l = 1; l < LEVELS; l++, f.rows++) {
            snap[f.rows] = 2 * s;
            level[f.rows] = l;
            time[f.rows] = 1000 + s;
            mode[f.rows] = CF_MODE_FLUSH;
            sets[f.rows] = 8;
            ways[f.rows] = l;
        }
    put(&f, CF_SNAP, CF_U32, snap);
    put(&f, CF_LEVEL, CF_U8, level);
    put(&f, CF_TIME, CF_U64, time);
    put(&f, CF_MODE, CF_U8, mode);
    put(&f, CF_SETS, CF_U32, sets);
    put(&f, CF_WAYS, CF_U32, ways);
    return cf_census_frame(c, &f);
}

static int feed(struct cf_census *c, const struct shape *p)
{
    struct cf_frame header = {.table = CF_HEADER};
    uint32_t told = 0;
    int bad = cf_census_frame(c, &header);

    for (uint32_t from = 0, to; from < all.rows; from = to) {
        to = from + 1 + next() % 400;
        to = to < all.rows ? to : all.rows;
        /* at least up to the last of the frame */
        if (p->announced && all.snap[to - 1] / 2 >= told) {
            uint32_t upto = all.snap[to - 1] / 2 + 1 + next() % 5;

            upto = upto < SNAPSHOTS ? upto : SNAPSHOTS;
            bad |= announce(c, told, upto);
            told = upto;
        }
        bad |= feed_lines(c, p, from, to);
    }
    if (p->announced && told < SNAPSHOTS)
        bad |= announce(c, told, SNAPSHOTS);
    return bad;
}

static int same_line(const struct shape *p, uint32_t a, uint32_t b)
{
    if (all.level[a] != all.level[b] || (p->cpu && all.cpu[a] != all.cpu[b]))
        return 0;
    if (p->mixed && !(all.some[a] && all.some[b]))
        return !all.some[a] && !all.some[b] && all.pid[a] == all.pid[b] &&
               all.addr[a] == all.addr[b];
    if (p->phys)
        return all.phys[a] == all.phys[b];
    return p->addr && all.pid[a] == all.pid[b] && all.addr[a] == all.addr[b];
}

/* The same line of one snapshot. */
static int same_place(const struct shape *p, uint32_t a, uint32_t b)
{
    if (p->placed)
        return all.level[a] == all.level[b] && (!p->cpu || all.cpu[a] == all.cpu[b]) &&
               all.phys[a] == all.phys[b];
    return a == b || same_line(p, a, b);
}

static int in_group(const struct shape *p, enum cf_census_by by, const struct cf_census_group *g,
                    uint32_t row)
{
    switch (by) {
    case CF_CENSUS_PROCESS:
        return (p->together ? all.pid[row] != 0 : all.pid[row]) == g->pid;
    case CF_CENSUS_REGION:
        return all.pid[row] == g->pid && all.region[row] == g->value;
    case CF_CENSUS_CPU:
        return all.cpu[row] == g->value;
    default:
        return all.status[row] == g->value;
    }
}

/* Lines of a snapshot and level in the group, or of all where that is NULL, and those of which the
   one before has what one of their rows there says. Without announcements a snapshot without lines
   does not exist. */
static void slow(const struct shape *p, enum cf_census_by by, const struct cf_census_group *g,
                 uint32_t number, uint8_t level, uint32_t *lines, uint32_t *reused)
{
    uint32_t last = UINT32_MAX;

    for (uint32_t i = 0; i < all.rows; i++)
        if (all.level[i] == level && all.snap[i] < number)
            last = all.snap[i];
    if (p->announced)
        last = number ? number - 2 : UINT32_MAX;
    *lines = *reused = 0;
    for (uint32_t i = 0; i < all.rows && all.snap[i] <= number; i++) {
        int found = 0, again = 0;

        if (all.snap[i] != number || all.level[i] != level || (g && !in_group(p, by, g, i)))
            continue;
        for (uint32_t k = i; k-- > 0 && all.snap[k] == number && !again;)
            again = same_place(p, k, i) && (!g || in_group(p, by, g, k));
        *lines += !again;
        for (uint32_t m = i; m < all.rows && all.snap[m] == number && !again && !found; m++)
            if (m == i || (same_place(p, m, i) && (!g || in_group(p, by, g, m))))
                for (uint32_t k = 0; k < i && all.snap[k] <= last && !found; k++)
                    found = all.snap[k] == last && same_line(p, k, m);
        *reused += (uint32_t)found;
    }
}

static uint64_t check(const struct cf_census *c, const struct shape *p, enum cf_census_by by,
                      int reuse)
{
    const struct cf_census_cell *cell = c->cell;
    const struct cf_census_snapshot *s = c->snapshot;
    uint64_t wrong = 0;

    if (p->announced)
        wrong += c->snapshots != 2 * 2 * SNAPSHOTS;
    for (size_t i = 0; i < c->snapshots; i++) {
        uint64_t sum = 0;
        size_t at = s[i].first;
        uint32_t want, reused;

        wrong += p->announced && (s[i].is.time != 1000 + s[i].is.number / 2 ||
                                  s[i].is.mode != CF_MODE_FLUSH || s[i].is.ways != s[i].is.level);
        wrong += s[i].is.announced != p->announced;
        wrong += cf_census_room(c, &s[i].is) !=
                 (p->announced ? 8u * s[i].is.level * (p->cpu ? 2 : 1) : 0);
        for (uint32_t g = 0; g < cf_groups_count(c->groups); g++) {
            const struct cf_census_group group = cf_census_group(c, g);

            slow(p, by, &group, s[i].is.number, s[i].is.level, &want, &reused);
            if (!want)
                continue;
            if (at == s[i].first + s[i].cells || cell[at].group != g || cell[at].lines != want ||
                cell[at].reused != (reuse ? reused : 0))
                wrong++;
            at++;
            sum += want;
        }
        slow(p, by, NULL, s[i].is.number, s[i].is.level, &want, &reused);
        wrong += at != s[i].first + s[i].cells || sum != s[i].listed || want != s[i].lines;
    }
    return wrong;
}

static void one(const struct shape *p, enum cf_census_by by, int reuse, const char *what)
{
    struct cf_census *c = cf_census_new(by, reuse, 0);

    need(c != NULL, "memory");
    c->together = p->together;
    make(p);
    ok(feed(c, p) == 0 && feed(c, p) == 0 && cf_census_end(c) == 0, "%s: no error", what);
    is_u64(check(c, p, by, reuse), 0, "%s: as counted slowly", what);
    cf_census_free(c);
}

int main(void)
{
    static const struct shape shapes[] = {
        {.phys = 1, .cpu = 1, .announced = 1},
        {.phys = 1},
        {.addr = 1, .cpu = 1, .announced = 1},
        {.addr = 1},
        {.announced = 1},
        {.phys = 1, .addr = 1, .cpu = 1, .announced = 1, .mixed = 1},
        {.phys = 1, .addr = 1, .cpu = 1, .announced = 1, .mixed = 1, .placed = 1},
        {.addr = 1, .placed = 1},
        {.phys = 1, .cpu = 1, .announced = 1, .placed = 1, .ordered = 1},
        {.placed = 1, .ordered = 1},
        {.phys = 1, .announced = 1, .placed = 1, .together = 1},
    };
    static const char *const names[] = {"physical lines, two caches",
                                        "one cache, not announced",
                                        "virtual lines, two caches",
                                        "virtual lines, not announced",
                                        "no addresses",
                                        "some lines virtual, two caches",
                                        "places, two caches",
                                        "places of virtual lines, not announced",
                                        "places in their order, two caches",
                                        "places in their order, no addresses",
                                        "all known processes together"};
    struct cf_census *c;

    for (unsigned i = 0; i < 11; i++)
        one(&shapes[i], CF_CENSUS_PROCESS, 1, names[i]);
    one(&shapes[0], CF_CENSUS_PROCESS, 0, "without reuse");
    one(&shapes[0], CF_CENSUS_REGION, 1, "by region");
    one(&shapes[0], CF_CENSUS_CPU, 1, "by core");
    one(&shapes[1], CF_CENSUS_STATE, 1, "by state");
    one(&shapes[9], CF_CENSUS_PROCESS, 0, "places in their order, without reuse");

    /* one level of two */
    c = cf_census_new(CF_CENSUS_PROCESS, 0, 2);
    ok(c && feed(c, &shapes[0]) == 0 && cf_census_end(c) == 0, "one level");
    if (c) {
        const struct cf_census_snapshot *s = c->snapshot;
        uint64_t lines = 0, want = 0;

        for (size_t i = 0; i < c->snapshots; i++)
            lines += s[i].is.level == 2 ? s[i].lines : UINT32_MAX;
        for (uint32_t i = 0; i < all.rows; i++) {
            int again = all.level[i] != 2;

            for (uint32_t k = i; k-- > 0 && all.snap[k] == all.snap[i] && !again;)
                again = same_place(&shapes[0], k, i);
            want += !again;
        }
        is_u64(c->snapshots, SNAPSHOTS, "has its snapshots");
        is_u64(lines, want, "and its lines alone");
    }
    cf_census_free(c);
    return done();
}
