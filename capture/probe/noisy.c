/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * noisy.c - level after level where noise hides the misses of single lines in windows: windows say
 * roughly how large a level is, sets of lines that evict each other (conflict.h) how many ways it
 * has and how large they are, which must be as large as the windows say.
 */
#include <stdlib.h>
#include <string.h>

#include "capture/probe/conflict.h"
#include "capture/probe/window.h"

enum {
    PAGE = CONFLICT_PAGE,
    LONGEST_LINE = 65536,
    REPEATS = 5,
    PLACED = 64,
    APART = 8,   /* as of probe_limit() */
    CLOSE = 12,  /* times of a latency are within such a part of it */
    SINGLE = 15, /* accesses of which the median time is taken */
    MOST_WAYS = 64,
    MOST_TRIED = 20000000, /* accesses to sets that there may be */
    QUICK = 12,            /* trials of one, at least */
    LESS = 3,              /* as many without a line as evicted with it */
    SELDOM = 4,            /* more trials than evictions: as many more passes */
    NEAREST = 512,
    NEARER = 8,      /* parts of lines that it may have more, or less */
    MANY = 3,        /* times as many lines as ways, which evict in one */
    MANY_TRIALS = 5, /* of so many */
    PLACES = 7,      /* of lines that are tried, */
    MINIMAL = 5,     /* and those that must be what they seem */
    ROWS = 2,        /* at least, that show what was found */
    PASSES = 8,      /* of the first level, */
    PASSES_BEHIND = 4,
    STEPS = 3,      /* that are tried between lines */
    NEXT = 200,     /* trials that see a line evicted, at most, */
    NEXT_SEEN = 16, /* and evictions */
    NEXT_RARE = 8,  /* such a part of these is no chance; */
    NEXT_MORE = 5,  /* of more, so many times as many are looked at */
};

static int order_of_ticks(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static uint64_t median(uint64_t *value, size_t n)
{
    qsort(value, n, sizeof *value, order_of_ticks);
    return value[n / 2];
}

/* Whether sorted times of one latency are so close that none is taken for another level's: their
   middle, too, is off by some of that. */
static int are_close(const uint64_t *value, size_t n)
{
    const uint64_t middle = value[n / 2];

    return value[n - 1] <= middle + middle / CLOSE + 1 && value[0] + 1 >= middle - middle / CLOSE;
}

static unsigned passes(unsigned level)
{
    return level == 1 ? PASSES : PASSES_BEHIND;
}

/* One of the first places of so many bytes. */
static uint64_t somewhere(struct probe *p, uint64_t bytes)
{
    const uint64_t places = p->bench->size / bytes;

    return probe_below(&p->seed, places < PLACED ? (uint32_t)places : PLACED) * bytes;
}

/* ---- the line ---- */

/* Of two accesses the second is to the lower address, in pages that were not visited: no prefetcher
   brings it. 1: it misses, 0: it does not, 2: now this, now that, -1: p->error. */
static int apart(struct probe *p, unsigned level, uint64_t d)
{
    unsigned missed = 0;

    for (unsigned i = 0; i < REPEATS; i++) {
        const uint64_t at = somewhere(p, 2 * LONGEST_LINE);
        struct cf_measured m = {0};

        /* what was prefetched there goes, too */
        probe_clear(p);
        probe_add(p, at, at + PAGE, CF_NODE);
        probe_add(p, at + d / PAGE * PAGE, at + d / PAGE * PAGE + (d < PAGE ? 0 : PAGE), CF_NODE);
        if (probe_visit(p, level, 1, 0, &m) != 0 || probe_forget(p) != 0)
            return -1;
        probe_clear(p);
        probe_add(p, at + d, at + d + 1, 1);
        probe_add(p, at, at + 1, 1);
        if (probe_visit(p, level, 0, 1, &m) != 0)
            return -1;
        probe_emit(p, "pair", d, level, &m);
        missed += m.misses > 1;
    }
    return missed == REPEATS ? 1 : missed <= REPEATS / 2 ? 0 : 2;
}

static int find_line(struct probe *p, unsigned level)
{
    const uint64_t before = level > 1 ? p->level[level - 2].line : 0;

    for (uint64_t d = before > CF_NODE ? before / 2 : CF_NODE; d <= LONGEST_LINE; d *= 2) {
        const int now = apart(p, level, d);

        /* of a single line, what is prefetched takes the line itself out */
        if (now == 1 && d == CF_NODE && apart(p, level, 0) != 0)
            return p->error ? -1 : 0;
        if (now) {
            p->level[level - 1].line = now == 1 ? d : 0;
            p->bench->behind = p->level[0].line; /* what is prefetched */
            return now == 1 ? 1 : now < 0 ? -1 : 0;
        }
    }
    return 0;
}

/* ---- ways, and how large they are ---- */

static void emit(struct probe *p, const char *experiment, uint64_t parameter, unsigned level,
                 const struct cf_measured *row, unsigned rows)
{
    for (unsigned i = 0; i < rows; i++)
        probe_emit(p, experiment, parameter, level, &row[i]);
}

/* What was seen of some lines of a set, as rows of what a window of `bytes`, one without the last
   `part` of it, and one that begins at `begin`, have of these; where they evict, each row has
   evictions. */
static void show(struct probe *p, unsigned level, const struct conflict_seen *s, int evicts,
                 uint64_t bytes, uint64_t part, uint64_t lines, uint64_t begin)
{
    struct cf_measured row[ROWS] = {{0}};
    const unsigned enough = s->evicted / ROWS, half = s->trials / ROWS;
    unsigned n = 0;

    for (unsigned i = 0; i < s->trials; i++) {
        row[n].accesses++;
        row[n].misses += s->out[i];
        row[n].has_misses = 1;
        row[n].method = 3;
        if (n + 1 < ROWS && (evicts ? row[n].misses >= enough : row[n].accesses >= half))
            n++;
    }
    emit(p, "size", bytes, level, row, ROWS);
    emit(p, "way-size", part, level, row, ROWS);
    emit(p, "associativity", lines, level, row, ROWS);
    emit(p, "line", begin, level, row, ROWS);
}

/* The last line of some page, or one that is longer than that. */
static uint64_t place_of(struct probe *p, uint64_t line)
{
    const uint64_t bytes = line > PAGE ? line : PAGE;

    return somewhere(p, bytes) + bytes - line;
}

/* Trials without one of the lines, which must not evict: of a part of the ways' bytes twice as many
   lines evict, and half as often without one of them. That is to be seen, too, where evictions are
   rare, as those of a level of many ways under random replacement are. */
static unsigned rarely(const struct conflict_seen *more)
{
    const unsigned trials = LESS * more->trials;

    return trials < QUICK ? QUICK : trials < CONFLICT_TRIALS ? trials : CONFLICT_TRIALS;
}

/* The same lines with and without one of them: 1: they evict, and do not without it; 0: they do not
   evict, 2: they do without it, too, or it is not clear. -1: p->error. */
static int is_minimal(struct probe *p, struct conflict *c, struct conflict_seen *more,
                      struct conflict_seen *less)
{
    int now;

    c->at = place_of(p, p->level[c->level - 1].line);
    c->without = 0;
    c->quick = 0;
    now = conflict_decide(p, c, more);
    if (now != CONFLICT_EVICTED)
        return now == CONFLICT_STAYS ? 0 : now;
    c->without = 1;
    c->quick = rarely(more);
    now = conflict_decide(p, c, less);
    return now < 0 ? -1 : now == CONFLICT_STAYS ? 1 : 2;
}

/* Whether many more such lines than ways evict: 0: not, so that there are none. */
static int many_evict(struct probe *p, const struct conflict *c)
{
    const uint64_t most = (p->bench->size - PLACED * PAGE) / c->step;
    struct conflict many = *c;
    int now = CONFLICT_STAYS;

    many.passes = 1;
    many.lines = MANY * c->lines;
    if (many.lines >= most)
        many.lines = most > c->lines + 1 ? (uint32_t)most - 1 : c->lines + 1;
    for (unsigned i = 0; i < MANY_TRIALS && now == CONFLICT_STAYS; i++) {
        struct cf_measured m = {0};

        now = conflict_once(p, &many, 0, &m);
    }
    return now;
}

/* 1: a level of so many ways, a multiple of `way` bytes apart; 0: not; -1: p->error. Where a level
   behind is inclusive, and has too many of some lines, they are evicted whatever the others are:
   so they are tried in several places, and must evict in all. */
static int has_ways(struct probe *p, unsigned level, uint32_t ways, uint64_t way)
{
    const uint64_t line = p->level[level - 1].line;
    struct conflict c = {.level = level,
                         .at = place_of(p, line),
                         .step = conflict_step(way, line),
                         .way = way,
                         .lines = ways,
                         .passes = passes(level),
                         .choices = 1};
    struct conflict_seen more[MINIMAL], less[MINIMAL];
    unsigned minimal = 0;
    int now = many_evict(p, &c);

    if (now <= 0 || (now = conflict_decide(p, &c, more)) != CONFLICT_EVICTED)
        return now < 0 ? -1 : 0;
    if ((now = conflict_few_sets(p, &c)) <= 0)
        return now;
    if (more->evicted * SELDOM < more->trials)
        c.passes *= SELDOM;
    /* until they are, or too few places are left */
    for (unsigned i = 0; minimal < MINIMAL && minimal + PLACES - i >= MINIMAL; i++) {
        now = is_minimal(p, &c, &more[minimal], &less[minimal]);
        if (now <= 0)
            return now;
        minimal += now == 1;
    }
    for (unsigned i = 0; minimal == MINIMAL && i < MINIMAL; i++) {
        show(p, level, &more[i], 1, way * ways + line, way - line, ways + 1,
             line - p->level[0].line);
        show(p, level, &less[i], 0, way * ways, way, ways, line);
    }
    return minimal == MINIMAL;
}

static int try_ways(struct probe *p, unsigned level, const struct window_range *r, uint32_t ways,
                    uint64_t sets)
{
    struct probe_level *l = &p->level[level - 1];
    int now;

    if (!sets || p->accesses > r->until)
        return 0;
    now = has_ways(p, level, ways, sets * l->line);
    if (now > 0) {
        l->way_size = sets * l->line;
        l->size = ways * l->way_size;
    }
    return now;
}

/* All ways and sets with lines that differ from what the windows say by such a part at most. */
static int try_all(struct probe *p, unsigned level, const struct window_range *r, uint64_t part)
{
    const uint64_t about = r->exact ? r->exact : r->least + (r->most - r->least) / 2,
                   least = about - about / part, most = about + about / part;
    int now = 0;

    for (uint32_t ways = 1; !now && ways <= MOST_WAYS; ways++)
        for (uint64_t sets = (most < r->most ? most : r->most) / ways;
             !now && sets && sets * ways >= (least > r->least ? least : r->least) &&
             p->accesses < r->until;
             sets--)
            now = try_ways(p, level, r, ways, sets);
    return now;
}

/* Sets that are a power of two, as most are. */
static int find_powers(struct probe *p, unsigned level, const struct window_range *r)
{
    int now = 0;

    for (uint32_t ways = 1; !now && ways <= MOST_WAYS; ways++)
        for (uint64_t sets = 1; !now && sets * ways <= r->most; sets *= 2)
            if (sets * ways >= r->least)
                now = try_ways(p, level, r, ways, sets);
    return now;
}

/* Ways that divide what the windows say exactly; then others, the nearest first. */
static int find_others(struct probe *p, unsigned level, struct window_range *r)
{
    int now = 0;

    r->until = p->accesses + MOST_TRIED;
    for (uint32_t ways = 1; !now && ways <= MOST_WAYS; ways++)
        if (r->exact && r->exact % ways == 0)
            now = try_ways(p, level, r, ways, r->exact / ways);
    for (uint64_t part = NEAREST; !now && part; part /= NEARER)
        now = try_all(p, level, r, part);
    return now;
}

/* How far the level reaches below what windows say. */
static uint64_t least_lines(const struct probe *p, unsigned level, uint64_t least)
{
    const struct probe_level *l = &p->level[level - 1];

    if (probe_may_be_exclusive(p, level))
        least -= least < l[-1].reach / l->line ? least : l[-1].reach / l->line;
    return least;
}

/* Few ways first: as many lines of a part of the way evict each other. */
static int find_level(struct probe *p, unsigned level)
{
    struct window_range r = {0}, wide;
    int now = find_line(p, level);

    if (now <= 0 || (now = window_range(p, level, &r)) <= 0)
        return now;
    wide = r;
    wide.least = least_lines(p, level, r.least);
    wide.until = UINT64_MAX;
    if ((now = find_powers(p, level, &wide)) != 0)
        return now;
    if (window_exact(p, level, &r) < 0)
        return -1;
    r.least = least_lines(p, level, r.least);
    return find_others(p, level, &r);
}

/* ---- which levels there are ---- */

/* By time: what an access to a line that is in the first level takes, and one to memory. */
static int first_ticks(struct probe *p)
{
    uint64_t memory[SINGLE], level[SINGLE];
    struct cf_measured m;

    for (unsigned i = 0; i < SINGLE; i++) {
        const uint64_t at = somewhere(p, PAGE);

        probe_clear(p);
        probe_add(p, at, at + 1, 1);
        m = (struct cf_measured){0};
        if (probe_forget(p) != 0 || probe_visit(p, 1, 0, 1, &m) != 0)
            return -1;
        memory[i] = m.time;
        m.has_misses = 0;
        m.method = 2;
        probe_emit(p, "latency", 0, 255, &m);
        m = (struct cf_measured){0};
        if (probe_visit(p, 1, 0, 1, &m) != 0)
            return -1;
        level[i] = m.time;
    }
    p->memory_ticks = median(memory, SINGLE);
    p->level[0].ticks = median(level, SINGLE);
    /* of a single line, what is prefetched takes out each that was visited */
    if (p->memory_ticks <= probe_limit(p, 1))
        return 0;
    for (unsigned i = 0; i < SINGLE; i++) {
        m = (struct cf_measured){.accesses = 1, .time = level[i], .method = 2};
        probe_emit(p, "latency", CF_NODE, 1, &m);
    }
    return are_close(memory, SINGLE) && level[SINGLE - 1] <= probe_limit(p, 1);
}

/* Whether times of a level, and of those behind, leave a gap above its limit: the next level takes
   a quarter longer. */
static int are_apart(const struct probe *p, unsigned level, const uint64_t *ticks, unsigned n)
{
    const uint64_t limit = probe_limit(p, level);

    for (unsigned i = 0; i < n; i++)
        if (ticks[i] > limit && ticks[i] * 24 <= limit * 25)
            return 0;
    return 1;
}

/* Of so many trials more, how many evict a line from the level. */
static int count_evicted(struct probe *p, struct conflict *c, unsigned level, uint64_t trials,
                         struct cf_measured *m)
{
    c->counted = level;
    for (uint64_t i = 0; i < trials; i++)
        if (conflict_once(p, c, i % 4, m) < 0)
            return -1;
    return 0;
}

/* By misses: whether less than half as many lines are evicted from the next level as were from the
   last one found. Under random replacement half may be chance. */
static int serves_misses(struct probe *p, unsigned level, struct conflict *c, int last,
                         struct cf_measured *here)
{
    const uint64_t trials = here->accesses;
    struct cf_measured next = {0};
    int found = 1;

    for (unsigned i = 0; i < NEXT_MORE && found; i++) {
        if ((i && count_evicted(p, c, level - 1, trials, here) != 0) ||
            count_evicted(p, c, level, trials, &next) != 0)
            return -1;
        found = 2 * next.misses < here->misses;
        if (NEXT_RARE * next.misses <= here->misses)
            break;
    }
    if (found || last) {
        probe_emit(p, "levels", 2 * p->level[level - 2].size, level - 1, here);
        probe_emit(p, "levels", 2 * p->level[level - 2].size, level, &next);
    }
    return found;
}

/* Whether lines that such conflicts evict from the last level found are in another one; by time,
   what that takes. */
static int serves(struct probe *p, unsigned level, struct conflict *c, int last)
{
    const struct probe_level *l = &p->level[level - 2];
    uint64_t ticks[NEXT_SEEN], middle;
    struct cf_measured here = {.has_misses = 1};
    unsigned seen = 0;
    int found;

    c->counted = 0;
    for (unsigned i = 0; i < NEXT && seen < NEXT_SEEN; i++) {
        struct cf_measured m = {0};
        const int now = conflict_once(p, c, i % 4, &m);

        if (now < 0)
            return -1;
        here.accesses++;
        here.misses += m.misses;
        if (now == CONFLICT_EVICTED)
            ticks[seen++] = m.time;
    }
    if (seen < NEXT_SEEN)
        return 0;
    if (p->by_time) {
        p->level[level - 1].ticks = middle = median(ticks, seen);
        found = middle + middle / APART < p->memory_ticks && are_apart(p, level, ticks, seen);
        for (unsigned i = 0; (found || last) && i < seen; i++) {
            const struct cf_measured m = {.accesses = 1, .time = ticks[i], .method = 3};

            probe_emit(p, "latency", 2 * l->size, level, &m);
        }
        return found;
    }
    return serves_misses(p, level, c, last, &here);
}

/* Lines so far apart may be too many of a set of the next level, too: then others are tried. */
static int has_next(struct probe *p, unsigned level)
{
    const struct probe_level *l = &p->level[level - 2];
    const uint64_t part =
        l->way_size <= 2 * l->line ? conflict_multiple(CONFLICT_PAGE, l->way_size) : l->way_size;
    struct conflict c = {.level = level - 1,
                         .at = place_of(p, l->line),
                         .step = conflict_step(l->way_size, l->line),
                         .way = l->way_size,
                         .lines = (uint32_t)(l->size / l->way_size),
                         .passes = passes(level - 1)};
    int now = 0;

    for (unsigned i = 1; now == 0 && i <= STEPS; i++, c.step += 2 * part)
        now = serves(p, level, &c, i == STEPS);
    return now;
}

int probe_noisy(struct probe *p)
{
    int now = p->by_time ? first_ticks(p) : 1;

    for (unsigned level = 1; now > 0 && level <= PROBE_LEVELS; level++) {
        if (level > 1)
            now = has_next(p, level);
        if (now > 0) {
            p->levels = level;
            now = find_level(p, level);
        }
    }
    return now < 0 ? -1 : 0;
}
