/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cacheperf.c - CachePerf's classes of sampled misses (see cacheperf.h): the windows, the sums, and
 * the class of a row.
 *
 * The rows are walked four times: which misses the windows let through; what lines, sets and
 * statements sum up to; of those that have many misses, words and patterns; and with the lines'
 * verdicts, the statements'.
 */
#include <stdlib.h>
#include <string.h>

#include "filters/engine/classes/cacheperf_parts.h"
#include "formats/base/cf_memory.h"

struct cf_cacheperf *cf_cacheperf_new(const struct cf_cacheperf_config *config)
{
    struct cf_cacheperf *c = calloc(1, sizeof(*c));
    struct cf_counts **const all[] = {&c->objects,    &c->windows, &c->lines, &c->codes,
                                      &c->statements, &c->cells,   &c->spots};

    if (!c)
        return NULL;
    c->c = *config;
    c->sets = cf_sets(config->sets);
    c->word_shift = config->line_shift > 6 ? config->line_shift - 4 : 2;
    c->set = calloc(config->sets, sizeof(*c->set));
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
        if (!(*all[i] = cf_counts_new()) || !c->set) {
            cf_cacheperf_free(c);
            return NULL;
        }
    return c;
}

void cf_cacheperf_free(struct cf_cacheperf *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->window_room; i++)
        free(c->window[i].miss);
    cf_counts_free(c->objects);
    cf_counts_free(c->windows);
    cf_counts_free(c->lines);
    cf_counts_free(c->codes);
    cf_counts_free(c->statements);
    cf_counts_free(c->cells);
    cf_counts_free(c->spots);
    free(c->window);
    free(c->line);
    free(c->code);
    free(c->statement);
    free(c->cell);
    free(c->spot);
    free(c->taken);
    free(c->set);
    free(c);
}

int cf_cacheperf_object(struct cf_cacheperf *c, uint32_t object, uint32_t tid)
{
    uint64_t *thread = cf_counts_at(c->objects, 0, object);

    if (!thread)
        return -1;
    *thread = tid + UINT64_C(1);
    return 0;
}

int cf_cacheperf_takes(const struct cf_cacheperf_rows *part, uint32_t i)
{
    const unsigned op = part->op ? part->op[i] : CF_LOAD;

    return op != CF_IFETCH && op != CF_PREFETCH && op != CF_FLUSH &&
           (!part->stage || part->stage[i]);
}

/* Row i of a part: 0 where it takes no part. */
static int sample(const struct cf_cacheperf *c, const struct cf_cacheperf_rows *part, uint32_t i,
                  struct cfp_sample *s)
{
    static const uint64_t most = UINT64_C(1) << 36;
    const uint64_t weight = part->weight ? part->weight[i] : 1;
    const unsigned level = part->level ? part->level[i] : 0;

    if (!cf_cacheperf_takes(part, i))
        return 0;
    *s = (struct cfp_sample){
        .addr = part->addr[i],
        .pc = part->pc[i],
        .weight = weight < most ? weight : most,
        .line = part->addr[i] >> c->c.line_shift,
        .pid = part->pid ? part->pid[i] : 0,
        .tid = part->tid ? part->tid[i] : 0,
        .object = part->object ? part->object[i] : 0,
        .source = part->source && !c->c.literal ? part->source[i] : 0,
        .size = part->size && part->size[i] ? part->size[i] : 1,
        .store = part->op && part->op[i] == CF_STORE,
        .miss = level > 1,
        .known = level > 0,
        .fine = part->stage ? part->stage[i] == CF_STAGE_FINE : !weight,
    };
    return 1;
}

int cfp_number(struct cf_counts *counts, uint64_t a, uint64_t b, void *array, size_t *room,
               size_t width, uint32_t *number)
{
    uint64_t *value = cf_counts_at(counts, a, b);

    if (!value)
        return -1;
    if (!*value) {
        if (cf_counts_size(counts) > UINT32_MAX / 2 ||
            cf_array_cleared(array, room, cf_counts_size(counts), width) != 0)
            return -1;
        *value = cf_counts_size(counts);
    }
    *number = (uint32_t)(*value - 1);
    return 0;
}

/* The line of a sample; NULL where there is none. */
static struct cfp_line *line_of(const struct cf_cacheperf *c, const struct cfp_sample *s)
{
    const uint64_t number = s->addr ? cf_counts_get(c->lines, s->pid, s->line) : 0;

    return number ? &c->line[number - 1] : NULL;
}

struct cfp_code *cfp_code_of(const struct cf_cacheperf *c, const struct cfp_sample *s)
{
    const uint64_t number = cf_counts_get(c->codes, s->pid, s->pc);

    return number ? &c->code[number - 1] : NULL;
}

static uint64_t statement_space(const struct cfp_sample *s)
{
    return s->source ? UINT64_MAX : s->pid;
}

static struct cfp_statement *statement_of(const struct cf_cacheperf *c, const struct cfp_sample *s)
{
    const uint64_t number =
        cf_counts_get(c->statements, statement_space(s), s->source ? s->source : s->pc);

    return number ? &c->statement[number - 1] : NULL;
}

/* ---- 3.2: which misses the windows let through ---- */

static int append_miss(struct cfp_window *w, uint64_t at, uint64_t row)
{
    if (w->first > w->count / 2) { /* so that what left the window makes room */
        w->count -= w->first;
        w->untaken -= w->first;
        memmove(w->miss, w->miss + w->first, w->count * sizeof(*w->miss));
        w->first = 0;
    }
    if (cf_array_room(&w->miss, &w->room, w->count + 1, sizeof(*w->miss)) != 0)
        return -1;
    w->miss[w->count++] = (struct cfp_miss){at, row};
    return 0;
}

/* A sample of a thread's loads or stores. -1 without memory. */
static int see_window(struct cf_cacheperf *c, const struct cfp_sample *s, uint64_t row)
{
    struct cfp_window *w;
    uint64_t held;
    uint32_t number;

    if (cfp_number(c->windows, (uint64_t)s->pid << 32 | s->tid, (uint64_t)s->store, &c->window,
                   &c->window_room, sizeof(*c->window), &number) != 0)
        return -1;
    w = &c->window[number];
    while (w->first < w->count && w->miss[w->first].at + c->c.window <= w->seen)
        w->first++;
    w->untaken = w->untaken > w->first ? w->untaken : w->first;
    if (s->miss && append_miss(w, w->seen, row) != 0)
        return -1;
    w->seen++;
    held = w->seen < c->c.window ? w->seen : c->c.window;
    if (!cfp_more(w->count - w->first, c->c.window_ratio, held))
        return 0;
    for (; w->untaken < w->count; w->untaken++)
        c->taken[w->miss[w->untaken].row] = 1;
    return 0;
}

/* ---- 3.4: the sums ---- */

static int sum_row(struct cf_cacheperf *c, const struct cfp_sample *s, int taken)
{
    struct cfp_code *code;
    struct cfp_statement *of;
    uint32_t number, statement;

    if (cfp_number(c->codes, s->pid, s->pc, &c->code, &c->code_room, sizeof(*c->code), &number) !=
            0 ||
        cfp_number(c->statements, statement_space(s), s->source ? s->source : s->pc, &c->statement,
                   &c->statement_room, sizeof(*c->statement), &statement) != 0)
        return -1;
    code = &c->code[number];
    code->statement = statement;
    of = &c->statement[statement];
    of->accesses += s->weight;
    if (!taken)
        return 0;
    of->misses += s->weight;
    code->misses += s->weight;
    code->samples++;
    if (!s->addr)
        return 0;
    if (cfp_number(c->lines, s->pid, s->line, &c->line, &c->line_room, sizeof(*c->line), &number) !=
        0)
        return -1;
    c->line[number].misses += s->weight;
    c->line[number].set = cf_sets_index(&c->sets, s->line);
    c->set[c->line[number].set] += s->weight;
    return 0;
}

/* ---- the walks ---- */

enum walk { WINDOWS, SUMS, DETAILS, STATEMENTS };

static int see_details(struct cf_cacheperf *c, const struct cfp_sample *s, int taken)
{
    if (s->fine)
        return cfp_see_fine(c, s);
    return s->addr ? cfp_see_word(c, s, taken) : 0;
}

static int see_statement(struct cf_cacheperf *c, const struct cfp_sample *s)
{
    const struct cfp_line *line = line_of(c, s);
    struct cfp_statement *statement = statement_of(c, s);

    if (line && line->class && statement)
        statement->shared += s->weight;
    return cfp_see_spot(c, s);
}

static int see_row(struct cf_cacheperf *c, enum walk walk, const struct cfp_sample *s, uint64_t row)
{
    if (walk == DETAILS)
        return see_details(c, s, c->taken[row]);
    if (s->fine || !s->known)
        return 0;
    if (walk == WINDOWS) {
        c->accesses[s->store] += s->weight;
        c->misses[s->store] += s->miss ? s->weight : 0;
        return see_window(c, s, row);
    }
    if (walk == SUMS)
        return sum_row(c, s, c->taken[row]);
    return c->taken[row] ? see_statement(c, s) : 0;
}

static int walk_rows(struct cf_cacheperf *c, enum walk walk, const struct cf_cacheperf_rows *part,
                     size_t parts)
{
    struct cfp_sample s;
    uint64_t row = 0;

    for (size_t p = 0; p < parts; p++)
        for (uint32_t i = 0; i < part[p].rows; i++, row++)
            if (sample(c, &part[p], i, &s) && see_row(c, walk, &s, row) != 0)
                return -1;
    return 0;
}

/* The first filter: of the program as a whole. */
static int reports(const struct cf_cacheperf *c)
{
    const double loads = (double)c->accesses[0], stores = (double)c->accesses[1];

    return (c->misses[0] && (double)c->misses[0] * 100 >= c->c.load_misses * loads) ||
           (c->misses[1] && (double)c->misses[1] * 100 >= c->c.store_misses * stores);
}

int cf_cacheperf_judge(struct cf_cacheperf *c, const struct cf_cacheperf_rows *part, size_t parts)
{
    uint64_t rows = 0;

    for (size_t p = 0; p < parts; p++)
        rows += part[p].rows;
    c->taken = calloc(rows + 1, 1);
    if (!c->taken || walk_rows(c, WINDOWS, part, parts) != 0)
        return -1;
    if (!reports(c))
        return 0;
    if (walk_rows(c, SUMS, part, parts) != 0 || cfp_find_heavy(c) != 0 ||
        walk_rows(c, DETAILS, part, parts) != 0)
        return -1;
    cfp_end_run(c);
    return cfp_judge_lines(c) != 0 || walk_rows(c, STATEMENTS, part, parts) != 0
               ? -1
               : cfp_judge_statements(c);
}

void cf_cacheperf_class(const struct cf_cacheperf *c, const struct cf_cacheperf_rows *part,
                        uint8_t *class)
{
    struct cfp_sample s;

    memset(class, CF_CLASS_NONE, part->rows);
    for (uint32_t i = 0; i < part->rows; i++) {
        const struct cfp_line *line;
        const struct cfp_statement *statement;

        if (!sample(c, part, i, &s) || !s.miss)
            continue;
        line = line_of(c, &s);
        statement = statement_of(c, &s);
        if (line && line->class)
            class[i] = line->class;
        else if (statement)
            class[i] = statement->class;
    }
}
