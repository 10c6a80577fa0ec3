/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rule_hill.c - compulsory, capacity and conflict misses by Hill and Smith, and sharing between
 * cores.
 *
 * The caches are those of hierarchy.h, so that what misses here is what cf-cache says; which of
 * them are modelled, and which engine has the class, is decided in hill_model.c.
 *
 * Memory: the caches, and up to some 11 bytes a distinct line and core (threec.h, coherence.h); 12
 * bytes a miss of 16,384 rows.
 */
#include <stdlib.h>
#include <string.h>

#include "formats/base/cf_memory.h"
#include "filters/parts/classify/hill.h"

static const struct need needs[] = {
    {CF_ADDR, CF_REQUIRED}, {CF_OP, CF_OPTIONAL},  {CF_SIZE, CF_OPTIONAL}, {CF_CPU, CF_OPTIONAL},
    {CF_PID, CF_OPTIONAL},  {CF_TID, CF_OPTIONAL}, {CF_HIT, CF_OPTIONAL},  {0, CF_OPTIONAL}};

/* Of what reaches a level, some may be classified at one before it. */
static int is_classified(const struct watched *w, unsigned op)
{
    return op == CF_IFETCH ? w->fetches : w->data;
}

static unsigned op_of_row(const struct hill *h, uint32_t row)
{
    const unsigned op = h->op ? h->op[row] : CF_LOAD;

    return op && op < CF_CLASS_OPS ? op : CF_LOAD;
}

/* What asks for data and can miss: not lines given back, and not hardware's own prefetches. */
static int counts_as_miss(unsigned flags)
{
    return !(flags & (CF_REF_WRITE | CF_REF_HARDWARE | CF_RUN_FLUSH));
}

void hill_see_alone(void *arg, const struct cf_hierarchy_refs *refs)
{
    struct watched *w = arg;
    struct hill *h = w->h;

    if (h->failed || cf_threec_look(w->three[refs->cache], refs->line, refs->flags, refs->count,
                                    h->found) != 0) {
        h->failed = 1;
        return;
    }
    for (uint32_t k = 0; k < refs->misses; k++) {
        const uint32_t i = refs->miss[k], row = refs->row[i];
        const uint8_t class = cf_threec_class(h->found[i]);
        const unsigned op = op_of_row(h, row);

        if (!counts_as_miss(refs->flags[i]) || !is_classified(w, op))
            continue;
        cf_class_raise(&h->class[row], class);
        w->counts.misses[op][class]++;
    }
}

void hill_see_shared(void *arg, const struct cf_hierarchy_refs *refs)
{
    struct watched *w = arg;
    size_t room = w->room;

    if (cf_array_room(&w->miss_row, &room, w->misses + (size_t)refs->misses,
                      sizeof(*w->miss_row)) != 0 ||
        cf_array_room(&w->miss_line, &w->room, w->misses + (size_t)refs->misses,
                      sizeof(*w->miss_line)) != 0) {
        w->h->failed = 1;
        return;
    }
    for (uint32_t k = 0; k < refs->misses; k++) {
        const uint32_t i = refs->miss[k];

        if (!counts_as_miss(refs->flags[i]))
            continue;
        w->miss_row[w->misses] = refs->row[i];
        w->miss_line[w->misses++] = refs->line[i];
        w->h->missed[refs->row[i]] = 1;
    }
}

/* The keys that keep processes apart are of the machine's shortest lines (see cf-cache(1)): longer
   lines have shorter ones. Good until the next call. */
static const uint64_t *keys(struct hill *h, unsigned shift, uint32_t rows)
{
    if (!shift)
        return h->space;
    for (uint32_t i = 0; i < rows; i++)
        h->key[i] = h->space[i] >> shift;
    return h->key;
}

static void share(struct hill *h, struct watched *w, const uint64_t *addr, const uint8_t *op,
                  const uint32_t *size, uint32_t rows)
{
    const struct cf_coherence_rows in = {.rows = rows,
                                         .addr = addr,
                                         .op = op,
                                         .size = size,
                                         .core = w->shared > 1 ? h->cache : h->core,
                                         .space = keys(h, w->key_shift, rows),
                                         .missed = h->missed,
                                         .miss_row = w->miss_row,
                                         .miss_line = w->miss_line,
                                         .misses = w->misses};

    for (uint32_t i = 0; w->shared > 1 && i < rows; i++)
        h->cache[i] = w->cache_of[h->core[i]];
    cf_must(h->c->tool, cf_coherence_run(w->shares, &in, h->class));
}

/* Whether the model has something to say about one of the rows. */
static int is_for_model(const struct hill *h, uint32_t rows)
{
    if (!h->own)
        return 1;
    for (uint32_t i = 0; h->model && h->op && i < rows; i++)
        if (h->op[i] == CF_IFETCH || h->op[i] == CF_FLUSH)
            return 1;
    return 0;
}

static void frame(void *state, struct cf_frame *f, uint8_t *class)
{
    struct hill *h = state;
    const uint64_t *addr = cf_u64(f, CF_ADDR);
    const uint32_t *size = cf_u32(f, CF_SIZE), *cpu = cf_u32(f, CF_CPU), *pid = cf_u32(f, CF_PID),
                   *tid = cf_u32(f, CF_TID);
    const uint8_t *op = cf_u8(f, CF_OP);

    memset(class, CF_CLASS_NONE, f->rows);
    for (uint32_t from = 0, n; from < f->rows; from += n) {
        const uint8_t *ops = op ? op + from : NULL;
        const uint32_t *sizes = size ? size + from : NULL;

        n = f->rows - from < PIECE ? f->rows - from : PIECE;
        h->class = class + from;
        h->op = ops;
        memset(h->missed, 0, n);
        for (unsigned i = 0; i < h->watches; i++)
            h->watch[i].misses = 0;
        if (cf_cores_rows(h->cores, cpu ? cpu + from : NULL, pid ? pid + from : NULL,
                          tid ? tid + from : NULL, n, h->core, h->space) != 0 ||
            (is_for_model(h, n) && cf_hierarchy_rows(h->model, addr + from, ops, sizes, n, h->core,
                                                     keys(h, h->key_shift, n), h->hit) != 0) ||
            h->failed)
            cf_out_of_memory(h->c->tool);
        for (unsigned i = 0; i < h->watches; i++)
            if (h->watch[i].shares)
                share(h, &h->watch[i], addr + from, ops, sizes, n);
        if (h->all_levels)
            memcpy(h->hits + from, h->hit, n);
    }
    if (h->c->hit_stated && !h->c->o.hit && cf_u8(f, CF_HIT) && !h->hit_warned &&
        !h->c->tool->quiet) {
        h->hit_warned = 1;
        cf_warn(h->c->tool,
                "the accesses have a column hit already, of which no machine is stated: it stays, "
                "and is taken to be of '%s'",
                h->c->made.machine);
    }
    if (h->all_levels && (h->c->o.hit || !cf_u8(f, CF_HIT)))
        cf_tool_set(h->c->tool, f, CF_HIT, h->hits);
}

static void summary(void *state, struct summary *s)
{
    struct hill *h = state;

    for (unsigned i = 0; i < h->watches; i++) {
        struct watched *w = &h->watch[i];
        struct cf_class_counts counts = w->shares ? *cf_coherence_counts(w->shares) : w->counts;
        struct cf_hierarchy_counts n;

        counts.references[CF_FLUSH] = 0;
        if (!w->own) {
            cf_hierarchy_count(h->model, w->level, &n);
            memset(counts.references, 0, sizeof(counts.references));
            counts.references[CF_LOAD] = w->data ? n.loads : 0;
            counts.references[CF_STORE] = w->data ? n.stores : 0;
            counts.references[CF_IFETCH] = w->fetches ? n.ifetches : 0;
            counts.references[CF_PREFETCH] = w->data ? n.prefetches : 0;
        }
        for (unsigned op = CF_LOAD; op < CF_CLASS_OPS; op++)
            summary_add(s, w->name, op, counts.references[op], counts.misses[op], 0);
    }
}

static void end(void *state)
{
    struct hill *h = state;

    for (unsigned i = 0; i < h->watches; i++) {
        struct watched *w = &h->watch[i];

        for (unsigned k = 0; w->three && k < w->caches; k++)
            cf_threec_free(w->three[k]);
        free(w->three);
        cf_coherence_free(w->shares);
        free(w->miss_row);
        free(w->miss_line);
    }
    cf_hierarchy_free(h->model);
    cf_cores_free(h->cores);
    cf_machine_free(h->m);
    free(h);
}

static const uint8_t classes[] = {CF_CLASS_COMPULSORY,   CF_CLASS_CAPACITY,      CF_CLASS_CONFLICT,
                                  CF_CLASS_TRUE_SHARING, CF_CLASS_FALSE_SHARING, 0};

const struct rule rule_hill = {.name = "hill",
                               .needs = needs,
                               .adds = {CF_CLASS},
                               .begin = hill_begin,
                               .frame = frame,
                               .summary = summary,
                               .classes = classes,
                               .end = end};
