/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sums.c - what a ranking adds up: for each row of a frame the accesses that it stands for, or
 * their bytes, misses, cycles, ...
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "filters/ranking/ranking.h"
#include "formats/base/cf_number.h"
#include "formats/together/cf_made.h"

enum { MOST_LEVELS = 4 }; /* that have a word of their own */

const char *cf_sum_name(const struct cf_sum *sum)
{
    static const char *const name[] = {"accesses",    "bytes",        "loads",
                                       "stores",      "misses",       "hits",
                                       "cost_cycles", "instructions", "miss_ratio"};
    static const char *const level[MOST_LEVELS] = {"l1_misses", "l2_misses", "l3_misses",
                                                   "l4_misses"};

    return sum->kind == CF_SUM_CLASS   ? cf_class_name(sum->number)
           : sum->kind == CF_SUM_LEVEL ? level[sum->number - 1]
                                       : name[sum->kind];
}

double cf_sums_ratio(const struct cf_sums *s, const uint64_t *sum)
{
    const uint64_t accesses = sum[s->accesses] + (s->dist_given ? sum[s->misses] : 0);

    return accesses ? (double)sum[s->misses] / (double)accesses : NAN;
}

static int has(const struct cf_sums *s, enum cf_sum_kind kind)
{
    for (unsigned v = 0; v < s->count; v++)
        if (s->list[v].kind == kind)
            return 1;
    return 0;
}

/* ---- options ---- */

void cf_sums_init(struct cf_sums *s, struct cf_tool *t)
{
    *s = (struct cf_sums){.tool = t,
                          .words = CF_SUMS_ADDED CF_SUMS_RATIO CF_SUMS_MISSES,
                          .list[0].kind = CF_SUM_ACCESSES,
                          .shown = 1,
                          .count = 1};
    memset(s->class + 1, 1, sizeof(s->class) - 1);
}

static unsigned pick(struct cf_sums *s, const char *option, const char *word, const char *words)
{
    const unsigned class = cf_class_find(word);
    struct cf_sum sum = {.kind = CF_SUM_CLASS, .number = class};
    unsigned v;

    if (strlen(word) == strlen("l1-misses") && word[0] == 'l' && !strcmp(word + 2, "-misses") &&
        word[1] > '0' && word[1] <= '0' + MOST_LEVELS)
        sum = (struct cf_sum){.kind = CF_SUM_LEVEL, .number = (unsigned)(word[1] - '0')};
    else if (class == CF_CLASSES || class == CF_CLASS_NONE)
        sum = (struct cf_sum){.kind = cf_parse_word(s->tool, option, word, words)};
    if (sum.kind >= CF_SUM_KINDS)
        cf_die(s->tool, CF_EXIT_USAGE, "%s: %s goes with no other value", option, word);
    for (v = 0; v < s->count; v++)
        if (s->list[v].kind == sum.kind && s->list[v].number == sum.number)
            return v;
    if (v == CF_MOST_SUMS)
        cf_die(s->tool, CF_EXIT_USAGE, "%s: more than %d values", option, CF_MOST_SUMS);
    s->list[s->count++] = sum;
    return v;
}

unsigned cf_sums_pick(struct cf_sums *s, const char *option, const char *word)
{
    return pick(s, option, word, CF_SUMS_ADDED CF_SUMS_RATIO CF_SUMS_MISSES);
}

void cf_sums_values(const struct cf_tool *t, void *sums, const char *option, char *text)
{
    struct cf_sums *s = sums;
    char *part;

    (void)t;
    s->count = 0;
    while ((part = strsep(&text, ",")))
        (void)pick(s, option, part, s->words);
    s->shown = s->count;
}

void cf_sums_classes(const struct cf_tool *t, void *sums, const char *option, char *text)
{
    struct cf_sums *s = sums;
    char *part;

    memset(s->class, 0, sizeof(s->class));
    while ((part = strsep(&text, ",")))
        s->class[cf_parse_class(t, option, part, 0)] = 1;
}

void cf_sums_check(struct cf_sums *s)
{
    struct cf_tool *t = s->tool;
    const int ratio = has(s, CF_SUM_RATIO);
    const int misses = ratio || has(s, CF_SUM_MISSES);

    if (ratio) {
        s->misses = cf_sums_pick(s, "--value", "misses");
        s->accesses = cf_sums_pick(s, "--value", s->dist_given ? "hits" : "accesses");
    }
    if (s->ops_given && (has(s, CF_SUM_LOADS) || has(s, CF_SUM_STORES)))
        cf_die(t, CF_EXIT_USAGE, "--op does not go with --value loads or stores");
    if (s->dist_given + s->classes_given + s->level_given > 1)
        cf_die(t, CF_EXIT_USAGE, "of --level, --class and --dist only one can say what a miss is");
    if (s->classes_given && !misses)
        cf_die(t, CF_EXIT_USAGE, "--class goes with --value misses");
    if (s->dist_given && !misses && !has(s, CF_SUM_HITS))
        cf_die(t, CF_EXIT_USAGE, "--dist goes with --value misses or hits");
    if (s->level_given && !s->of_sets && !misses && !has(s, CF_SUM_HITS))
        cf_die(t, CF_EXIT_USAGE, "--level goes with --value misses or hits");
    if (!s->ops_given)
        s->op[CF_LOAD] = s->op[CF_STORE] = 1;
    for (unsigned v = 0; v < s->count; v++) {
        struct cf_sum *sum = &s->list[v];

        memcpy(sum->op, s->op, sizeof sum->op);
        if (sum->kind == CF_SUM_FETCHES && !s->ops_given)
            sum->op[CF_LOAD] = sum->op[CF_STORE] = 0, sum->op[CF_IFETCH] = 1;
        else if (sum->kind == CF_SUM_LOADS || sum->kind == CF_SUM_STORES)
            sum->op[sum->kind == CF_SUM_LOADS ? CF_STORE : CF_LOAD] = 0;
    }
}

/* ---- reading ---- */

void cf_sums_begin(struct cf_sums *s, struct cf_reader *r)
{
    unsigned *mixed = s->mixed;
    const int misses = has(s, CF_SUM_MISSES) || has(s, CF_SUM_HITS);
    const int classes = has(s, CF_SUM_CLASS), levels = has(s, CF_SUM_LEVEL);
    const int ops =
        s->ops_given || has(s, CF_SUM_LOADS) || has(s, CF_SUM_STORES) || has(s, CF_SUM_FETCHES);

    cf_reader_want(r, CF_ACCESS, CF_OP, ops ? CF_REQUIRED : CF_OPTIONAL);
    cf_reader_want(r, CF_ACCESS, CF_WEIGHT, CF_OPTIONAL);
    if (has(s, CF_SUM_BYTES))
        cf_reader_want(r, CF_ACCESS, CF_SIZE, CF_REQUIRED);
    if (has(s, CF_SUM_COST)) {
        *mixed++ = CF_COST;
        cf_reader_want(r, CF_ACCESS, CF_COST, CF_REQUIRED);
    }
    if (has(s, CF_SUM_FETCHES))
        cf_reader_want(r, CF_ACCESS, CF_INSNS, CF_REQUIRED);
    if (misses || levels) {
        if (levels || !s->dist_given) {
            *mixed++ = CF_HIT;
            *mixed++ = CF_LEVEL;
        }
        cf_reader_want_each(r, CF_ACCESS, CF_OPTIONAL, CF_HIT, CF_LEVEL);
    }
    if (s->dist_given) {
        *mixed++ = CF_DIST;
        cf_reader_want(r, CF_ACCESS, CF_DIST, CF_REQUIRED);
    }
    if (classes || (misses && !s->dist_given && !s->level_given)) {
        *mixed++ = CF_CLASS;
        cf_reader_want(r, CF_ACCESS, CF_CLASS,
                       s->classes_given || classes ? CF_REQUIRED : CF_OPTIONAL);
    }
    for (unsigned v = 0; v < s->count; v++)
        s->value[v] = cf_column_room(s->tool, sizeof(**s->value));
    s->some = cf_column_room(s->tool, sizeof(*s->some));
    s->missing = cf_column_room(s->tool, sizeof(*s->missing));
}

static const uint8_t *level_of(const struct cf_frame *f)
{
    const uint8_t *hit = cf_u8(f, CF_HIT);

    return hit ? hit : cf_u8(f, CF_LEVEL);
}

/* Ends the program where a fully associative cache of so many lines cannot be told by such
   distances. */
static void check_distances(const struct cf_sums *s, const struct cf_header *h, int sampled,
                            int beyond)
{
    uint64_t sets = 1, bound = 0;

    if (sampled)
        cf_die(s->tool, CF_EXIT_INPUT,
               "--dist: the distances are those of a sample of lines: run cf-distance without "
               "--rate and --samples, or take cf-mrc, which counts what they stand for");
    if (cf_header_number(h, "dist", "sets", &sets) < 0 || sets != 1)
        cf_die(s->tool, CF_EXIT_INPUT,
               "--dist is of a fully associative cache, and the distances are those within %s "
               "sets: run cf-distance without --sets, or take cf-mrc",
               cf_header_fact(h, "dist", "sets"));
    if (beyond && cf_header_number(h, "dist", "bound", &bound) > 0 && bound && bound < s->dist - 1)
        cf_die(s->tool, CF_EXIT_INPUT,
               "--dist %" PRIu64 ": the stream has no distance beyond %" PRIu64
               " lines: run cf-distance with a larger --bound",
               s->dist, bound);
}

/* value[i] *= whether the access missed, or hit, by its distance. One that column dist does not
   count does neither; returns how many these are. */
static uint64_t take_distances(const struct cf_sums *s, const struct cf_frame *f, int hits,
                               uint64_t *value)
{
    const uint64_t *dist = cf_u64(f, CF_DIST);
    int sampled = cf_late_values(f, CF_DIST_WEIGHT) != NULL, beyond = 0;
    uint64_t none = 0;

    for (uint32_t i = 0; i < f->rows; i++) {
        const int known = dist[i] != CF_DIST_NONE;

        sampled |= dist[i] == CF_DIST_UNSAMPLED;
        beyond |= dist[i] == CF_DIST_BEYOND;
        none += known ? 0 : value[i];
        value[i] *= known && (dist[i] < s->dist) == hits;
    }
    check_distances(s, f->header, sampled, beyond);
    return none;
}

/* Whether no level up to this one served the access. Of 254 only the first is known to have missed.
 */
static inline int missed_levels(unsigned level, unsigned number)
{
    return level > number && (level != CF_FROM_BEYOND || number == 1);
}

/* Whether the classes are verdicts on samples, of which many that missed get none. */
static int are_verdicts(const struct cf_frame *f)
{
    const char *rule = cf_header_fact(f->header, "class", "rule");

    return rule && !strcmp(rule, "cacheperf");
}

/* value[i] *= whether the access hit. A level of 0, and of 254 where it is not the first, is not
   known: no hit, and without a class no miss. 1 when there is no column that says what missed. */
static int take_hits(const struct cf_sums *s, const struct cf_frame *f, uint64_t *value)
{
    const uint8_t *class = s->level_given ? NULL : cf_u8(f, CF_CLASS);
    const uint8_t *level = level_of(f);
    const unsigned above = s->level_given             ? s->level
                           : !class                   ? CF_FROM_MEMORY - 1
                           : level && are_verdicts(f) ? 1
                                                      : CF_FROM_MEMORY;

    for (uint32_t i = 0; (class || level) && i < f->rows; i++)
        value[i] *= !(class && class[i]) &&
                    (!level || (level[i] != 0 && level[i] <= above && level[i] != CF_FROM_BEYOND));
    return !class && !level;
}

static void multiply(uint64_t *value, const struct cf_frame *f, unsigned column)
{
    const uint32_t *by = cf_u32(f, column);

    if (cf_u64(f, CF_WEIGHT))
        for (uint32_t i = 0; i < f->rows; i++)
            value[i] = cf_product(value[i], by[i]); /* too much: see note_total() */
    else
        for (uint32_t i = 0; i < f->rows; i++)
            value[i] *= by[i];
}

static void weigh(const struct cf_frame *f, const uint8_t *take, uint64_t *value)
{
    const uint8_t *op = cf_u8(f, CF_OP);
    const uint64_t *weight = cf_u64(f, CF_WEIGHT);

    if (op && weight)
        for (uint32_t i = 0; i < f->rows; i++)
            value[i] = weight[i] * take[op[i]];
    else if (op)
        for (uint32_t i = 0; i < f->rows; i++)
            value[i] = take[op[i]];
    else
        for (uint32_t i = 0; i < f->rows; i++)
            value[i] = weight ? weight[i] : 1;
}

static int find(struct cf_sums *s, const struct cf_frame *f, const struct cf_sum *sum,
                uint64_t *value)
{
    uint64_t none;

    weigh(f, sum->op, value);
    switch (sum->kind) {
    case CF_SUM_BYTES:
        if (!s->of_lines)
            multiply(value, f, CF_SIZE);
        return 0;
    case CF_SUM_COST:
        multiply(value, f, CF_COST);
        return 0;
    case CF_SUM_FETCHES:
        multiply(value, f, CF_INSNS);
        return 0;
    case CF_SUM_RATIO:
        memset(value, 0, f->rows * sizeof *value);
        return 0;
    case CF_SUM_MISSES: /* by distance: else cf_sums_listed() */
    case CF_SUM_HITS:
        if (!s->dist_given)
            return take_hits(s, f, value);
        none = take_distances(s, f, sum->kind == CF_SUM_HITS, value);
        if (sum->kind == CF_SUM_MISSES || !has(s, CF_SUM_MISSES)) /* once */
            s->no_dist += none;
        return 0;
    default:
        return 0;
    }
}

int cf_sums_listed(const struct cf_sums *s, unsigned v)
{
    const struct cf_sum *sum = &s->list[v];

    return sum->kind == CF_SUM_CLASS || sum->kind == CF_SUM_LEVEL ||
           (sum->kind == CF_SUM_MISSES && !s->dist_given);
}

/* Whether a row counts in such a sum. A level of 0 is not known: no miss. */
static int missed(const struct cf_sums *s, const struct cf_sum *sum, unsigned class, unsigned level,
                  int by_class)
{
    if (sum->kind == CF_SUM_CLASS)
        return class == sum->number;
    if (sum->kind == CF_SUM_LEVEL)
        return missed_levels(level, sum->number);
    return by_class ? s->class[class]
                    : missed_levels(level, s->level_given ? s->level : CF_FROM_MEMORY - 1);
}

/* Whether a sum depends on which level behind the first served an access. */
static int is_of_levels(const struct cf_sums *s, const struct cf_sum *sum, int by_class)
{
    if (sum->kind == CF_SUM_LEVEL)
        return sum->number > 1;
    return (sum->kind == CF_SUM_MISSES || sum->kind == CF_SUM_HITS) && !by_class &&
           !s->dist_given && (!s->level_given || s->level > 1);
}

/* Counts the accesses of which such a sum, or by class (else NULL) the hits, do not know whether
   they missed. */
static void count_unknown(struct cf_sums *s, const uint8_t *level, const uint8_t *op,
                          const uint64_t *weight, const uint8_t *class)
{
    int of_levels = 0, hits = 0;

    for (unsigned v = 0; v < s->count; v++) {
        of_levels |= is_of_levels(s, &s->list[v], class != NULL);
        hits |= class && !s->dist_given && s->list[v].kind == CF_SUM_HITS;
    }
    for (uint32_t j = 0; (of_levels || hits) && j < s->misses_found; j++) {
        const uint32_t i = s->missing[j];

        if (level[i] == CF_FROM_BEYOND && (of_levels || !class[i]))
            s->no_level += (weight ? weight[i] : 1) * (op ? s->op[op[i]] : 1);
    }
}

/* Counts the accesses of which misses and hits do not know what they are: most frames have none. */
static void count_no_hit(struct cf_sums *s, const struct cf_frame *f)
{
    const uint8_t *class = s->level_given ? NULL : cf_u8(f, CF_CLASS), *op = cf_u8(f, CF_OP);
    const uint8_t *level = level_of(f);
    const uint64_t *weight = cf_u64(f, CF_WEIGHT);
    const int verdicts = class && !s->classes_given && are_verdicts(f);
    const uint8_t *at = level && !verdicts ? memchr(level, 0, f->rows) : level;

    for (uint32_t i = at ? (uint32_t)(at - level) : f->rows; i < f->rows; i++)
        if (!(class && class[i]) &&
            (!level[i] || (verdicts && level[i] > 1 && level[i] != CF_FROM_BEYOND)))
            *(level[i] ? &s->no_class : &s->no_hit) +=
                (weight ? weight[i] : 1) * (op ? s->op[op[i]] : 1);
}

static uint64_t eight(const uint8_t *column, uint32_t row)
{
    uint64_t values = 0;

    if (column)
        memcpy(&values, column + row, sizeof values);
    return values;
}

/* The rows that may be misses; most are none, and are passed over eight at a time. */
static uint32_t list_missing(const uint8_t *class, const uint8_t *level, uint32_t rows,
                             uint32_t *missing)
{
    uint32_t n = 0;

    for (uint32_t i = 0, end; (class || level) && i < rows; i = end) {
        end = rows - i < 8 ? rows : i + 8;
        if (end == i + 8 && !eight(class, i) && !(eight(level, i) & UINT64_C(0xfefefefefefefefe)))
            continue;
        for (uint32_t k = i; k < end; k++) {
            missing[n] = k;
            n += (class && class[k]) || (level && level[k] > 1);
        }
    }
    return n;
}

/* 1 when there is no column that says what missed. */
static int find_misses(struct cf_sums *s, const struct cf_frame *f)
{
    const uint8_t *class = cf_u8(f, CF_CLASS), *level = level_of(f), *op = cf_u8(f, CF_OP);
    const uint64_t *weight = cf_u64(f, CF_WEIGHT);
    const uint32_t n = list_missing(class, level, f->rows, s->missing);
    const int by_class = class && !s->level_given;

    s->misses_found = n;
    for (unsigned v = 0; v < s->count; v++) {
        const struct cf_sum *sum = &s->list[v];

        if (!cf_sums_listed(s, v))
            continue;
        if (!level && (sum->kind == CF_SUM_LEVEL || (sum->kind == CF_SUM_MISSES && !by_class)))
            return 1;
        for (uint32_t j = 0; j < n; j++) {
            const uint32_t i = s->missing[j];

            s->value[v][j] = 0;
            if (missed(s, sum, class ? class[i] : 0, level ? level[i] : 0, by_class))
                s->value[v][j] = (weight ? weight[i] : 1) * (op ? sum->op[op[i]] : 1);
            s->some[i] |= s->value[v][j];
        }
    }
    if (level)
        count_unknown(s, level, op, weight, by_class ? class : NULL);
    return 0;
}

void cf_sums_remarks(const struct cf_sums *s)
{
    cf_missed_check(s->tool, s->missed_before, s->missed_by);
    if (s->no_level)
        cf_warn(s->tool,
                "%" PRIu64 " accesses missed the first level, and which of the others served them "
                "is not known (level 254): they count as misses of the first level alone",
                s->no_level);
    if (s->no_hit)
        cf_warn(s->tool,
                "what served %" PRIu64 " accesses is not known (level 0): they count neither as "
                "misses nor as hits, but in the ratio as accesses",
                s->no_hit);
    if (s->no_class)
        cf_warn(s->tool,
                "%" PRIu64 " accesses missed the first level and have no class by rule cacheperf: "
                "they count as no misses and no hits, but in the ratio; --level 1 counts them",
                s->no_class);
    if (s->unstated && !s->tool->quiet)
        cf_warn(s->tool, "--dist: the header does not state of what sets the distances are: they "
                         "are taken for those of one: run cf-distance again");
    if (s->no_dist)
        cf_warn(s->tool,
                "%" PRIu64 " accesses have no distance, and count neither as misses nor as hits: "
                "cf-distance --for says which operations have one",
                s->no_dist);
}

int cf_sums_find(struct cf_sums *s, const struct cf_frame *f)
{
    const int misses = has(s, CF_SUM_MISSES) || has(s, CF_SUM_HITS);
    int some = 0;

    if ((misses && !s->dist_given) || has(s, CF_SUM_LEVEL)) {
        s->missed_by |= misses && !s->level_given ? cf_missed_by(f)
                        : cf_u8(f, CF_HIT)        ? CF_MISSED_HIT
                        : cf_u8(f, CF_LEVEL)      ? CF_MISSED_LEVEL
                                                  : 0;
        count_no_hit(s, f);
    }
    s->unstated |= s->dist_given && !cf_header_fact(f->header, "dist", "sets");
    for (unsigned v = 0; v < s->count; v++) {
        if (cf_sums_listed(s, v))
            continue;
        if (find(s, f, &s->list[v], s->value[v]) != 0)
            return 1;
        for (uint32_t i = 0; some && i < f->rows; i++)
            s->some[i] |= s->value[v][i];
        if (!some)
            memcpy(s->some, s->value[v], f->rows * sizeof *s->some);
        some = 1;
    }
    if (!some)
        memset(s->some, 0, f->rows * sizeof *s->some);
    return find_misses(s, f);
}
