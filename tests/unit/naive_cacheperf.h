/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * naive_cacheperf.h - CachePerf's classes by a slow model that is written from the paper's words
 * and the decisions of cf-classify(1): it keeps all samples in one array, and counts anew whatever
 * it wants to know.
 */
#ifndef NAIVE_CACHEPERF_H
#define NAIVE_CACHEPERF_H

#include "cacheperf_rows.h"

static uint8_t taken[MOST], want[MOST];
static double all_accesses, all_misses;

static int takes_part(unsigned i)
{
    return row[i].stage && row[i].op != CF_IFETCH && row[i].op != CF_PREFETCH &&
           row[i].op != CF_FLUSH;
}
static int is_fine(unsigned i)
{
    return takes_part(i) && row[i].stage == CF_STAGE_FINE;
}
static int is_coarse(unsigned i)
{
    return takes_part(i) && row[i].stage != CF_STAGE_FINE;
}
static int is_store(unsigned i)
{
    return row[i].op == CF_STORE;
}
static int is_miss(unsigned i)
{
    return takes_part(i) && row[i].level > 1;
}
static uint64_t line(unsigned i)
{
    return row[i].addr >> g.line_shift;
}
static uint32_t set(unsigned i)
{
    return (uint32_t)(line(i) % g.sets);
}
static int same_line(unsigned i, unsigned k)
{
    return row[i].addr && row[k].addr && row[i].pid == row[k].pid && line(i) == line(k);
}
static int same_code(unsigned i, unsigned k)
{
    return row[i].pid == row[k].pid && row[i].pc == row[k].pc;
}
static int same_statement(unsigned i, unsigned k)
{
    if (g.literal || (!row[i].source && !row[k].source))
        return same_code(i, k);
    return row[i].source == row[k].source;
}

/* Every access computes the ratio of its buffer; above the threshold, its misses are handled. */
static void windows(void)
{
    memset(taken, 0, sizeof(taken));
    for (unsigned i = 0; i < rows; i++) {
        unsigned in[MOST], n = 0, misses = 0;

        for (unsigned k = i + 1; k-- > 0 && n < g.window && is_coarse(i) && row[i].level;)
            if (is_coarse(k) && row[k].level && row[k].pid == row[i].pid &&
                row[k].tid == row[i].tid && is_store(k) == is_store(i))
                in[n++] = k;
        for (unsigned k = 0; k < n; k++)
            misses += is_miss(in[k]);
        for (unsigned k = 0; k < n && misses * 100.0 > g.window_ratio * n; k++)
            taken[in[k]] |= is_miss(in[k]);
    }
}

static int program_is_reported(void)
{
    double accesses[2] = {0, 0}, misses[2] = {0, 0};

    for (unsigned i = 0; i < rows; i++)
        if (is_coarse(i) && row[i].level) {
            accesses[is_store(i)] += (double)row[i].weight;
            misses[is_store(i)] += is_miss(i) ? (double)row[i].weight : 0;
        }
    all_accesses = accesses[0] + accesses[1];
    all_misses = misses[0] + misses[1];
    return (misses[0] > 0 && misses[0] * 100 >= g.load_misses * accesses[0]) ||
           (misses[1] > 0 && misses[1] * 100 >= g.store_misses * accesses[1]);
}

static double line_misses(unsigned i)
{
    double sum = 0;

    for (unsigned k = 0; k < rows; k++)
        sum += taken[k] && same_line(i, k) ? (double)row[k].weight : 0;
    return sum;
}

static double set_misses(uint32_t of)
{
    double sum = 0;

    for (unsigned k = 0; k < rows; k++)
        sum += taken[k] && row[k].addr && set(k) == of ? (double)row[k].weight : 0;
    return sum;
}

/* Lines of its set that have half its misses are more than the set has ways. */
static int fights_for_set(unsigned i)
{
    const double mine = line_misses(i);
    unsigned rivals = 0;

    for (unsigned k = 0; k < rows; k++) {
        int seen = 0;

        for (unsigned j = 0; j < k; j++)
            seen |= taken[j] && same_line(j, k);
        rivals +=
            taken[k] && row[k].addr && !seen && set(k) == set(i) && line_misses(k) * 2 >= mine;
    }
    return rivals > g.ways;
}

static int touches(unsigned i, unsigned word)
{
    const unsigned bytes = g.line_shift > 6 ? 1u << (g.line_shift - 4) : 4;
    const uint64_t at = row[i].addr & ((1u << g.line_shift) - 1), size = row[i].size;

    return word * bytes < 1u << g.line_shift && at < (word + 1) * bytes &&
           at + (size ? size : 1) > word * bytes;
}

/* What a line's threads do: misses that were handled, and stores. */
static int is_act(unsigned i, int stores)
{
    if (stores)
        return is_coarse(i) && is_store(i) && (taken[i] || !g.literal);
    return taken[i];
}

static double acts(unsigned of, uint32_t tid, unsigned word, int stores)
{
    double sum = 0;

    for (unsigned i = 0; i < rows; i++)
        if (same_line(of, i) && row[i].tid == tid && touches(i, word) && is_act(i, stores))
            sum += (double)row[i].weight;
    return sum;
}

enum { THREADS = 5, WORDS = 16 };

/* Whether the thread does more than a few things to the word. */
static void find_kept(unsigned of, uint8_t kept[THREADS][WORDS])
{
    double most[2] = {0, 0}, sum[2][THREADS][WORDS];

    for (int stores = 0; stores < 2; stores++)
        for (uint32_t t = 0; t < THREADS; t++)
            for (unsigned w = 0; w < WORDS; w++) {
                sum[stores][t][w] = acts(of, t, w, stores);
                if (sum[stores][t][w] > most[stores])
                    most[stores] = sum[stores][t][w];
            }
    for (uint32_t t = 0; t < THREADS; t++)
        for (unsigned w = 0; w < WORDS; w++) {
            kept[t][w] = 0;
            for (int stores = 0; stores < 2; stores++)
                kept[t][w] |=
                    sum[stores][t][w] > 0 && (g.literal || sum[stores][t][w] * 20 >= most[stores]);
        }
}

/* Of how many words of its line a sample is. */
static unsigned words_of(unsigned i)
{
    unsigned n = 0;

    for (unsigned w = 0; w < WORDS; w++)
        n += (unsigned)touches(i, w);
    return n;
}

/* Sums over the acts of the kept threads and words; -1: of all. An act of several words is in equal
   parts on each: times 1680 they are whole for all but 9, 11 and 13 words. */
static double kept_sum(unsigned of, uint8_t kept[THREADS][WORDS], int thread, int object, int word,
                       int stores)
{
    double sum = 0;

    for (unsigned i = 0; i < rows; i++)
        for (int w = word < 0 ? 0 : word; w < (word < 0 ? WORDS : word + 1); w++)
            if (same_line(of, i) && kept[row[i].tid][w] && touches(i, (unsigned)w) &&
                is_act(i, stores) && (thread < 0 || row[i].tid == (uint32_t)thread) &&
                (object < 0 || row[i].object == (uint32_t)object))
                sum += (double)row[i].weight * 1680 / words_of(i);
    return sum;
}

static int threads_of(unsigned of, uint8_t kept[THREADS][WORDS], int object, int word)
{
    int n = 0;

    for (int t = 0; t < THREADS; t++)
        n += kept_sum(of, kept, t, object, word, 0) + kept_sum(of, kept, t, object, word, 1) > 0;
    return n;
}

static int allocators(unsigned of, uint8_t kept[THREADS][WORDS])
{
    double sum[THREADS] = {0}, most = 0;
    int n = 0, threads = 0;

    for (int o = 1; o < OBJECTS; o++)
        if (allocator[o])
            sum[allocator[o]] +=
                kept_sum(of, kept, -1, o, -1, 0) + kept_sum(of, kept, -1, o, -1, 1);
    for (int a = 0; a < THREADS; a++)
        most = sum[a] > most ? sum[a] : most;
    for (int a = 0; a < THREADS; a++)
        n += sum[a] > 0 && (g.literal || sum[a] * 20 >= most);
    for (int t = 0; t < THREADS; t++) {
        int uses = 0;

        for (int o = 1; o < OBJECTS; o++)
            if (allocator[o] && (g.literal || sum[allocator[o]] * 20 >= most))
                uses |= kept_sum(of, kept, t, o, -1, 0) + kept_sum(of, kept, t, o, -1, 1) > 0;
        threads += uses;
    }
    return n > 1 && (g.literal || threads > 1);
}

static int class_of_line(unsigned of)
{
    uint8_t kept[THREADS][WORDS];
    double same = 0, all;
    int threads;

    if (!row[of].addr || line_misses(of) * 100 <= g.line_misses * all_misses ||
        (!g.literal && fights_for_set(of)))
        return 0;
    find_kept(of, kept);
    threads = threads_of(of, kept, -1, -1);
    all = kept_sum(of, kept, -1, -1, -1, 0);
    if (threads < 2 || (!g.literal && kept_sum(of, kept, -1, -1, -1, 1) * (threads - 1) * 4 < all))
        return 0;
    for (int w = 0; w < WORDS; w++)
        for (int o = g.literal ? -1 : 0; o < (g.literal ? 0 : OBJECTS); o++)
            if (threads_of(of, kept, o, w) > 1 &&
                (g.literal || kept_sum(of, kept, -1, o, w, 1) > 0))
                same += kept_sum(of, kept, -1, o, w, 0);
    if (same > 0 && (g.literal || same * 2 >= all))
        return CF_CLASS_TRUE_SHARING;
    return allocators(of, kept) ? CF_CLASS_ALLOCATOR_FALSE_SHARING : CF_CLASS_FALSE_SHARING;
}

static int heavy_set(uint32_t of)
{
    return set_misses(of) * 100 > g.set_misses * all_misses;
}

/* A run of fine samples: 0 too short, 1 no conflict, 2 conflict, 3 on several objects. */
static int see_run(const unsigned *run, unsigned n)
{
    int result = 1, enough = 0, unclear = 0;

    if (n < g.same_set)
        return 0;
    for (uint32_t s = 0; s < g.sets; s++) {
        unsigned hits = 0, all = 0, of_all = 0, last = 0;
        int mixed = 0;

        for (unsigned i = 0; i < n; i++)
            if (set(run[i]) == s) {
                all += of_all && line(run[i]) != line(last);
                last = run[i];
                of_all++;
            }
        unclear |= all && all + 1 >= g.same_set;
        for (uint32_t t = 0; t < THREADS; t++) {
            unsigned mine[MOST], k = 0, changes = 0;

            for (unsigned i = 0; i < n; i++)
                if (set(run[i]) == s && row[run[i]].tid == t)
                    mine[k++] = run[i];
            for (unsigned i = 1; i < k; i++)
                changes += line(mine[i]) != line(mine[i - 1]);
            hits += g.literal ? k : changes ? changes + 1 : 0;
        }
        for (unsigned i = 0; i < n; i++)
            for (unsigned k = 0; k < n; k++)
                mixed |= set(run[i]) == s && set(run[k]) == s && row[run[i]].object &&
                         row[run[k]].object && row[run[i]].object != row[run[k]].object &&
                         (g.literal || row[run[i]].tid == row[run[k]].tid);
        enough |= hits >= g.same_set;
        if (hits >= g.same_set && heavy_set(s))
            result = mixed || result == 3 ? 3 : 2;
    }
    return unclear && !enough && !g.literal ? 0 : result;
}

static int class_of_spots(unsigned of)
{
    unsigned all = 0;

    for (unsigned i = 0; i < rows; i++)
        all += taken[i] && same_code(of, i);
    for (uint32_t s = 0; s < g.sets; s++) {
        unsigned mine[MOST], n = 0;
        int lines = 0, objects = 0;

        for (unsigned i = 0; i < rows; i++)
            if (taken[i] && row[i].addr && same_code(of, i) && set(i) == s)
                mine[n++] = i;
        for (unsigned i = 0; i < n; i++)
            for (unsigned k = 0; k < i; k++) {
                const uint32_t a = row[mine[i]].object, b = row[mine[k]].object;

                lines |= line(mine[i]) != line(mine[k]);
                objects |= a && b && a != b;
            }
        if (n >= g.same_set && n * 2 > all && heavy_set(s) && (lines || g.literal))
            return objects ? CF_CLASS_ALLOCATOR_CONFLICT : CF_CLASS_CONFLICT;
    }
    return CF_CLASS_CAPACITY;
}

static int class_of_code(unsigned of)
{
    unsigned run[MOST], n = 0, runs[4] = {0}, judged, same;

    for (unsigned i = 0; i <= rows; i++) {
        if (i < rows && !is_fine(i))
            continue;
        /* another instruction ends the run, and so do 64 accesses */
        if (n && (i == rows || !same_code(i, of) || n == 64)) {
            runs[see_run(run, n)]++;
            n = 0;
        }
        if (i < rows && same_code(i, of) && row[i].addr)
            run[n++] = i;
    }
    judged = runs[1] + runs[2] + runs[3];
    same = runs[2] + runs[3];
    if (!judged)
        return class_of_spots(of);
    if (!same || (!g.literal && same * 2 < judged))
        return CF_CLASS_CAPACITY;
    return runs[3] && (g.literal || runs[3] * 2 >= same) ? CF_CLASS_ALLOCATOR_CONFLICT
                                                         : CF_CLASS_CONFLICT;
}

static uint8_t line_class[MOST], code_class[MOST];

static int class_of_statement(unsigned of)
{
    double accesses = 0, misses = 0, shared = 0, sum[CF_CLASSES] = {0};

    for (unsigned i = 0; i < rows; i++) {
        if (!is_coarse(i) || !row[i].level || !same_statement(of, i))
            continue;
        accesses += (double)row[i].weight;
        if (!taken[i])
            continue;
        misses += (double)row[i].weight;
        shared += line_class[i] ? (double)row[i].weight : 0;
        sum[code_class[i]] += (double)row[i].weight;
    }
    if (misses <= 0 || accesses * 100 < g.code_accesses * all_accesses ||
        misses * 100 < g.code_misses * all_misses)
        return 0;
    if (shared > 0 && (g.literal || shared * 20 >= misses))
        return 0;
    if (sum[CF_CLASS_CONFLICT] + sum[CF_CLASS_ALLOCATOR_CONFLICT] < sum[CF_CLASS_CAPACITY])
        return CF_CLASS_CAPACITY;
    return sum[CF_CLASS_ALLOCATOR_CONFLICT] > 0 &&
                   sum[CF_CLASS_ALLOCATOR_CONFLICT] >= sum[CF_CLASS_CONFLICT]
               ? CF_CLASS_ALLOCATOR_CONFLICT
               : CF_CLASS_CONFLICT;
}

/* A value that is looked up for many rows, and found once for each of equal ones. */
static void by_equal(uint8_t *result, int (*same)(unsigned, unsigned), int (*of)(unsigned))
{
    for (unsigned i = 0; i < rows; i++) {
        unsigned k = 0;

        while (!same(i, k) && k < i)
            k++;
        result[i] = k < i ? result[k] : (uint8_t)of(i);
    }
}

__attribute__((unused)) static void model(void)
{
    static uint8_t statement[MOST];

    memset(want, 0, sizeof(want));
    windows();
    if (!program_is_reported())
        return;
    by_equal(line_class, same_line, class_of_line);
    by_equal(code_class, same_code, class_of_code);
    by_equal(statement, same_statement, class_of_statement);
    for (unsigned i = 0; i < rows; i++)
        if (is_miss(i))
            want[i] = line_class[i] ? line_class[i] : statement[i];
}

#endif
