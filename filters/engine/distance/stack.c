/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stack.c - stack distances of units and sets, of samples, and of rows (see stack.h).
 *
 * Each unit and set has a stack of its own (stack_one.c), made when it is first used. Where there
 * are sets, the lines of a piece are put in the order of their sets, so that every stack gets its
 * share at once, and the distances are put back.
 *
 * Memory: besides the stacks, arrays for a piece of 16,384 lines, and 12 bytes a set.
 */
#include <stdlib.h>
#include <string.h>

#include "filters/engine/distance/stack_all.h"
#include "formats/base/cf_memory.h"

struct cf_stack *cf_stack_new(const struct cf_stack_config *config)
{
    struct cf_stack *s = calloc(1, sizeof(*s));
    int good;

    if (!s)
        return NULL;
    s->config = *config;
    s->sets = config->sets ? config->sets : 1;
    s->run = CF_SIMD_CHOICE(stack_lines);
    s->work = malloc(sizeof(*s->work));
    good = s->work != NULL;
    s->samples = config->samples || (config->rate > 0 && config->rate < 1);
    if (s->samples) {
        shards_init(&s->shards, config->rate > 0 && config->rate < 1 ? config->rate : 1,
                    config->samples);
        s->picked = malloc(PIECE * sizeof(*s->picked));
        s->picked_index = malloc(PIECE * sizeof(*s->picked_index));
        s->picked_dist = malloc(PIECE * sizeof(*s->picked_dist));
        good = good && s->picked && s->picked_index && s->picked_dist;
    }
    if (s->sets > 1) {
        s->index = cf_sets(s->sets);
        s->line = malloc(PIECE * sizeof(*s->line));
        s->dist = malloc(PIECE * sizeof(*s->dist));
        s->set = malloc(PIECE * sizeof(*s->set));
        s->touched = malloc(PIECE * sizeof(*s->touched));
        s->end = calloc(s->sets, sizeof(*s->end));
        good = good && s->line && s->dist && s->set && s->touched && s->end;
    }
    if (!good) {
        cf_stack_free(s);
        return NULL;
    }
    return s;
}

void cf_stack_free(struct cf_stack *s)
{
    if (!s)
        return;
    for (uint32_t u = 0; u < s->units; u++) {
        for (uint32_t i = 0; s->stack[u] && i < s->sets; i++)
            stack_free(s->stack[u][i]);
        free(s->stack[u]);
    }
    free(s->stack);
    free(s->work);
    free(s->picked);
    free(s->picked_index);
    free(s->picked_dist);
    free(s->line);
    free(s->dist);
    free(s->set);
    free(s->touched);
    free(s->end);
    free(s->run_dist);
    free(s->run_weight);
    free(s);
}

struct stack **stack_of_unit(struct cf_stack *s, uint32_t unit)
{
    if (cf_array_cleared(&s->stack, &s->units, unit + (size_t)1, sizeof(*s->stack)) != 0)
        return NULL;
    if (!s->stack[unit])
        s->stack[unit] = calloc(s->sets, sizeof(**s->stack));
    return s->stack[unit];
}

/* Lines from before a part are new to it: what has the top bit becomes CF_DIST_COMPULSORY. */
static void find_firsts(uint64_t *dist, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if ((n - i) % STACK_BLOCK == 0 && stack_all_known(dist + i))
            i += STACK_BLOCK - 1;
        else
            dist[i] |= -(dist[i] >> 63);
}

static int one_stack(struct cf_stack *s, struct stack **stack, const uint64_t *line, uint32_t n,
                     uint64_t *dist)
{
    if (!*stack) /* a sample's are not yet scaled, and those of parts not yet joined */
        *stack = stack_new(s->samples || s->in_parts ? 0 : s->config.max);
    if (!*stack || s->run(*stack, s->work, line, n, dist) != 0)
        return -1;
    if (s->in_parts)
        find_firsts(dist, n);
    return 0;
}

/* At most PIECE lines, set by set. */
static int by_set(struct cf_stack *s, struct stack **stack, const uint64_t *line, uint32_t n,
                  uint64_t *dist)
{
    uint32_t touched = 0, start = 0;

    for (uint32_t i = 0; i < n; i++) {
        const uint32_t set = cf_sets_index(&s->index, line[i]);

        s->set[i] = set;
        s->touched[touched] = set;
        touched += s->end[set]++ == 0;
    }
    for (uint32_t k = 0; k < touched; k++) {
        const uint32_t lines = s->end[s->touched[k]];

        s->end[s->touched[k]] = start;
        start += lines;
    }
    for (uint32_t i = 0; i < n; i++)
        s->line[s->end[s->set[i]]++] = line[i];
    start = 0;
    for (uint32_t k = 0; k < touched; k++) {
        const uint32_t set = s->touched[k], end = s->end[set];

        if (k + 1 < touched)
            __builtin_prefetch(stack[s->touched[k + 1]]);
        if (one_stack(s, stack + set, s->line + start, end - start, s->dist + start) != 0)
            return -1;
        s->end[set] = start;
        start = end;
    }
    for (uint32_t i = 0; i < n; i++)
        dist[i] = s->dist[s->end[s->set[i]]++];
    for (uint32_t k = 0; k < touched; k++)
        s->end[s->touched[k]] = 0;
    return 0;
}

int stack_all_lines(struct cf_stack *s, struct stack **stack, const uint64_t *line, uint32_t n,
                    uint64_t *dist)
{
    if (s->sets == 1)
        return one_stack(s, stack, line, n, dist);
    for (uint32_t done = 0, part; done < n; done += part) {
        part = n - done < PIECE ? n - done : PIECE;
        if (by_set(s, stack, line + done, part, dist + done) != 0)
            return -1;
    }
    return 0;
}

/* ---- sampling ---- */

static uint64_t count_lines(const struct cf_stack *s)
{
    uint64_t lines = 0;

    for (uint32_t u = 0; u < s->units; u++)
        for (uint32_t i = 0; s->stack[u] && i < s->sets; i++)
            lines += s->stack[u][i] ? s->stack[u][i]->lines : 0;
    return lines;
}

enum { STEPS = 1 << 16 };

struct spread {
    uint64_t threshold;
    uint32_t count[STEPS]; /* lines by hash, in equal steps up to the threshold */
};

static void spread_line(uint64_t line, void *arg)
{
    struct spread *p = arg;

    p->count[(shards_hash(line) >> 32) * STEPS / p->threshold]++;
}

static int sampled(uint64_t line, const void *shards)
{
    return shards_has(shards, line);
}

/* Lowers the threshold where the sample has become large. */
static int look_at_size(struct cf_stack *s)
{
    const uint64_t lines = count_lines(s), stay = (uint64_t)s->shards.samples * 3 / 4;
    struct spread *p;
    uint64_t kept = 0;
    uint32_t step = 0;

    s->shards.until_look = s->shards.samples / 8;
    if (lines <= (uint64_t)s->shards.samples * 7 / 8)
        return 0;
    p = calloc(1, sizeof(*p));
    if (!p)
        return -1;
    p->threshold = s->shards.threshold;
    for (uint32_t u = 0; u < s->units; u++)
        for (uint32_t i = 0; s->stack[u] && i < s->sets; i++)
            if (s->stack[u][i])
                stack_each(s->stack[u][i], spread_line, p);
    while (kept + p->count[step] <= stay)
        kept += p->count[step++];
    free(p);
    /* the first hash whose step is `step` */
    s->shards.threshold = (s->shards.threshold * step + STEPS - 1) / STEPS;
    if (!s->shards.threshold)
        s->shards.threshold = 1;
    for (uint32_t u = 0; u < s->units; u++)
        for (uint32_t i = 0; s->stack[u] && i < s->sets; i++)
            if (s->stack[u][i] && stack_keep(s->stack[u][i], sampled, &s->shards) != 0)
                return -1;
    return 0;
}

/* At most PIECE lines. */
static int sampled_lines(struct cf_stack *s, struct stack **stack, const uint64_t *line, uint32_t n,
                         uint64_t *dist, double *weight)
{
    for (uint32_t done = 0, taken; done < n; done += taken) {
        const uint32_t most = s->shards.samples ? s->shards.until_look : n;
        const uint32_t m = shards_pick(&s->shards, line + done, n - done, most, s->picked,
                                       s->picked_index, &taken);

        uint32_t apart = 0;

        if (stack_all_lines(s, stack, s->picked, m, s->picked_dist) != 0)
            return -1;
        /* repeats do not count: runs.h drops some of them, depending on how the rows are cut */
        for (uint32_t i = 0; i < m; i++)
            apart += s->picked_dist[i] != 0;
        shards_scale(&s->shards, s->picked, s->picked_dist, m);
        for (uint32_t i = 0; i < taken; i++)
            dist[done + i] = CF_DIST_UNSAMPLED;
        for (uint32_t i = 0; weight && i < taken; i++)
            weight[done + i] = 1 / shards_rate(&s->shards);
        for (uint32_t i = 0; i < m; i++)
            dist[done + s->picked_index[i]] = s->picked_dist[i];
        s->shards.sampled += m;
        s->shards.expected += taken * shards_rate(&s->shards);
        if (s->shards.samples && apart && !(s->shards.until_look -= apart) && look_at_size(s) != 0)
            return -1;
    }
    return 0;
}

void stack_bound(const struct cf_stack *s, uint64_t *dist, size_t n)
{
    const uint64_t first = s->config.max + 1, span = CF_DIST_LEAST - first;

    if (!s->config.max)
        return;
    /* always written: which are beyond, cannot be guessed */
    for (size_t i = 0; i < n; i++)
        dist[i] = dist[i] - first < span ? CF_DIST_BEYOND : dist[i];
}

/* `weight` may be NULL, and is left alone without sampling. */
static int some_lines(struct cf_stack *s, uint32_t unit, const uint64_t *line, uint32_t count,
                      uint64_t *dist, double *weight)
{
    struct stack **stack = stack_of_unit(s, unit);

    if (!stack)
        return -1;
    if (!s->samples) {
        if (stack_all_lines(s, stack, line, count, dist) != 0)
            return -1;
    } else {
        for (uint32_t done = 0, part; done < count; done += part) {
            part = count - done < PIECE ? count - done : PIECE;
            if (sampled_lines(s, stack, line + done, part, dist + done,
                              weight ? weight + done : NULL) != 0)
                return -1;
        }
    }
    stack_bound(s, dist, count);
    return 0;
}

/* ---- rows ---- */

#define EIGHT(byte) ((byte)*UINT64_C(0x0101010101010101))

/* Whether all are loads and stores: eight at a time. What an op borrows from the one above, it
   gives away by its own upper bits. */
static int plain(const uint8_t *op, uint32_t rows)
{
    uint64_t any = 0;
    uint32_t i = 0;

    for (; i + 8 <= rows; i += 8) {
        uint64_t eight;

        memcpy(&eight, op + i, sizeof eight);
        any |= eight - EIGHT(CF_LOAD);
    }
    for (; i < rows; i++)
        any |= (uint64_t)op[i] - CF_LOAD;
    return !(any & ~EIGHT(CF_STORE - CF_LOAD));
}

/* 0 for rows that take part, CF_DIST_NONE for the others. Returns whether there are flushes. */
static int preset(const struct cf_runs *r, const uint8_t *op, uint32_t rows, uint64_t *dist)
{
    const uint64_t data = r->options & CF_RUNS_DATA ? 0 : CF_DIST_NONE;
    const uint64_t fetch = r->options & CF_RUNS_FETCHES ? 0 : CF_DIST_NONE;
    uint64_t take[256]; /* by op */

    if (!data && (!op || plain(op, rows))) {
        memset(dist, 0, rows * sizeof(*dist));
        return 0;
    }
    for (unsigned i = 0; i < 256; i++)
        take[i] = data;
    take[CF_IFETCH] = fetch;
    take[CF_FLUSH] = CF_DIST_NONE;
    for (uint32_t i = 0; i < rows; i++)
        dist[i] = take[op ? op[i] : CF_LOAD];
    return op && memchr(op, CF_FLUSH, rows);
}

static void scatter(const struct cf_runs *r, const uint64_t *from, uint64_t *dist)
{
    const uint32_t count = r->count, *const row = r->row;
    uint32_t k = 0;

    while (k < count) {
        uint64_t eight; /* the arrays are longer than `count` */

        memcpy(&eight, r->flags + k, sizeof eight);
        if (k + 8 <= count && !(eight & EIGHT(CF_RUN_PART))) {
            for (unsigned i = 0; i < 8; i++)
                dist[row[k + i]] = from[k + i];
            k += 8;
            continue;
        }
        if (r->flags[k] & CF_RUN_PART)
            cf_stack_merge(dist + row[k], from[k]);
        else
            dist[row[k]] = from[k];
        k++;
    }
}

/* The same for a sample: references that were dropped are in it if the line before them is. Rows
   from *done on are new; the batch ends before row `end`. */
static void scatter_sampled(struct cf_stack *s, const struct cf_runs *r, uint32_t *done,
                            uint32_t end, uint64_t *dist, double *weight)
{
    double now = 1 / shards_rate(&s->shards);
    uint32_t row = *done;
    int in = 0; /* whether the line before is in the sample */

    for (uint32_t k = 0; k <= r->count; k++) {
        const uint32_t to = k < r->count ? r->row[k] + !!(r->flags[k] & CF_RUN_PART) : end;

        for (; row < to; row++) {
            weight[row] = dist[row] ? 1 : now;
            if (dist[row])
                continue; /* takes no part */
            if (in)
                s->shards.sampled++;
            else
                dist[row] = CF_DIST_UNSAMPLED;
        }
        if (k == r->count)
            break;
        if (r->flags[k] & CF_RUN_PART)
            cf_stack_merge(dist + r->row[k], s->run_dist[k]);
        else
            dist[r->row[k]] = s->run_dist[k];
        weight[r->row[k]] = now = s->run_weight[k];
        row = r->row[k] + 1;
        in = s->run_dist[k] != CF_DIST_UNSAMPLED;
    }
    *done = row;
}

static int make_run_room(struct cf_stack *s, uint32_t runs)
{
    if (s->run_room >= runs)
        return 0;
    free(s->run_dist);
    free(s->run_weight);
    s->run_dist = malloc(runs * sizeof(*s->run_dist));
    s->run_weight = s->samples ? malloc(runs * sizeof(*s->run_weight)) : NULL;
    s->run_room = s->run_dist && (s->run_weight || !s->samples) ? runs : 0;
    return s->run_room ? 0 : -1;
}

int cf_stack_rows(struct cf_stack *s, struct cf_runs *r, uint32_t unit, const uint64_t *addr,
                  const uint8_t *op, const uint32_t *size, uint32_t rows, uint64_t space,
                  uint64_t *dist, double *weight)
{
    uint32_t done = 0;
    int flushes;

    if (make_run_room(s, r->capacity) != 0)
        return -1;
    flushes = preset(r, op, rows, dist);
    for (uint32_t at = 0; at < rows;) {
        const uint64_t before = r->references;
        const uint32_t next = cf_runs_fill(r, addr, op, size, at, rows, space);
        const uint64_t references =
            r->references - before - (flushes ? cf_runs_drop_flushes(r) : 0);

        s->references += references;
        if (s->samples) {
            s->shards.references += references;
            s->shards.expected += (double)(references - r->count) * shards_rate(&s->shards);
        }
        if (some_lines(s, unit, r->line, r->count, s->run_dist, s->run_weight) != 0)
            return -1;
        if (s->part && stack_note_firsts(s, r, unit) != 0)
            return -1;
        if (s->samples)
            scatter_sampled(s, r, &done, next, dist, weight);
        else
            scatter(r, s->run_dist, dist);
        at = next;
    }
    return 0;
}

void cf_stack_stats(const struct cf_stack *s, struct cf_stack_stats *stats)
{
    memset(stats, 0, sizeof(*stats));
    stats->bytes = sizeof(*s) + sizeof(*s->work) + s->run_room * (s->samples ? 16 : 8);
    if (s->samples)
        stats->bytes += PIECE * (2 * sizeof(uint64_t) + sizeof(uint32_t));
    if (s->sets > 1)
        stats->bytes +=
            PIECE * (2 * sizeof(uint64_t) + 2 * sizeof(uint32_t)) + s->sets * sizeof(*s->end);
    for (uint32_t u = 0; u < s->units; u++) {
        stats->bytes += sizeof(*s->stack) + (s->stack[u] ? s->sets * sizeof(**s->stack) : 0);
        for (uint32_t i = 0; s->stack[u] && i < s->sets; i++) {
            const struct stack *one = s->stack[u][i];

            if (!one)
                continue;
            stats->bytes += sizeof(*one);
            stats->line_bytes += stack_bytes(one);
            stats->lines += one->lines;
            stats->compulsory += one->compulsory;
            stats->compactions += one->compactions;
        }
    }
    stats->bytes += stats->line_bytes;
    stats->references = s->references;
    stats->rate = s->samples ? shards_rate(&s->shards) : 1;
    stats->sampled = s->samples ? s->shards.sampled : s->references;
    stats->expected = s->samples ? s->shards.expected : (double)s->references;
    if (s->samples)
        stats->error = shards_error(&s->shards, &stats->error_from);
}
