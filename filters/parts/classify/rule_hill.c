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

/* What asks for data and can miss: not lines given back, and not hardware's own prefetches. */
static int counts_as_miss(unsigned flags)
{
    return !(flags & (CF_REF_WRITE | CF_REF_HARDWARE | CF_RUN_FLUSH));
}

int hill_look(struct watched *w, struct piece *p, const struct cf_hierarchy_refs *refs)
{
    const uint8_t *const found = w->h->found;

    if (cf_threec_look(w->three[refs->cache], refs->line, refs->flags, refs->count, w->h->found) !=
        0)
        return -1;
    for (uint32_t k = 0; k < refs->misses; k++) {
        const uint32_t i = refs->miss[k], row = refs->row[i];
        const uint8_t class = cf_threec_class(found[i]);
        const unsigned op = hill_op(p, row);

        if (w->h->part && found[i] == CF_FULL_NEVER_SEEN) {
            if (hill_part_first(w->h->part, (unsigned)(w - w->h->watch), row, refs->line[i]) != 0)
                return -1;
            continue;
        }
        if (!counts_as_miss(refs->flags[i]) || !is_classified(w, op))
            continue;
        if (p->class)
            cf_class_raise(&p->class[row], class);
        w->counts.misses[op][class]++;
    }
    return 0;
}

void hill_see_alone(void *arg, const struct cf_hierarchy_refs *refs)
{
    struct watched *w = arg;
    struct piece *const p = w->h->at;

    if (p->failed)
        return;
    if (p->later)
        hill_keep(p, (unsigned)(w - w->h->watch), refs);
    else
        p->failed = hill_look(w, p, refs) != 0;
}

void hill_see_shared(void *arg, const struct cf_hierarchy_refs *refs)
{
    struct watched *w = arg;
    struct piece *const p = w->h->at;
    struct miss_list *const l = &p->list[w - w->h->watch];
    size_t room = l->room;

    if (cf_array_room(&l->row, &room, l->misses + (size_t)refs->misses, sizeof(*l->row)) != 0 ||
        cf_array_room(&l->line, &l->room, l->misses + (size_t)refs->misses, sizeof(*l->line)) !=
            0) {
        p->failed = 1;
        return;
    }
    for (uint32_t k = 0; k < refs->misses; k++) {
        const uint32_t i = refs->miss[k];

        if (!counts_as_miss(refs->flags[i]))
            continue;
        l->row[l->misses] = refs->row[i];
        l->line[l->misses++] = refs->line[i];
        w->h->missed[refs->row[i]] = 1;
    }
}

/* The keys that keep processes apart are of the machine's shortest lines (see cf-cache(1)): longer
   lines have shorter ones. Good until the next call. */
static const uint64_t *keys(struct hill *h, unsigned shift)
{
    if (!shift)
        return h->space;
    for (uint32_t i = 0; i < h->at->in.rows; i++)
        h->key[i] = h->space[i] >> shift;
    return h->key;
}

struct cf_coherence_rows hill_shared_rows(struct watched *w)
{
    struct hill *const h = w->h;
    const struct piece *const p = h->at;
    const struct miss_list *const l = &p->list[w - h->watch];

    for (uint32_t i = 0; w->shared > 1 && i < p->in.rows; i++)
        h->cache[i] = w->cache_of[h->core[i]];
    return (struct cf_coherence_rows){.rows = p->in.rows,
                                      .addr = p->in.addr,
                                      .op = p->in.op,
                                      .size = p->in.size,
                                      .core = w->shared > 1 ? h->cache : h->core,
                                      .space = keys(h, w->key_shift),
                                      .missed = h->missed,
                                      .miss_row = l->row,
                                      .miss_line = l->line,
                                      .misses = l->misses};
}

/* Whether the model has something to say about one of the rows. */
static int is_for_model(const struct hill *h, const struct rows *in)
{
    if (!h->own)
        return 1;
    for (uint32_t i = 0; h->model && in->op && i < in->rows; i++)
        if (in->op[i] == CF_IFETCH || in->op[i] == CF_FLUSH)
            return 1;
    return 0;
}

int hill_model(struct hill *h, struct piece *p, const struct rows *in, uint8_t *class)
{
    p->in = *in;
    p->class = class;
    h->at = p;
    if (class)
        memset(class, CF_CLASS_NONE, in->rows);
    memset(h->missed, 0, in->rows);
    for (unsigned i = 0; i < h->watches; i++)
        p->list[i].misses = 0;
    if (cf_cores_rows(h->cores, in->cpu, in->pid, in->tid, in->rows, h->core, h->space) != 0 ||
        (is_for_model(h, in) && cf_hierarchy_rows(h->model, in->addr, in->op, in->size, in->rows,
                                                  h->core, keys(h, h->key_shift), h->hit) != 0))
        return -1;
    return p->failed ? -1 : 0;
}

static void frame(void *state, struct cf_frame *f, uint8_t *class)
{
    struct hill *h = state;
    struct piece *const p = h->one;

    if (f->rows)
        cf_tool_modelled(h->c->tool, h->m, &h->modelled_said);
    for (uint32_t from = 0; from < f->rows; from += p->in.rows) {
        const struct rows in = rows_of(f, from);

        cf_must(h->c->tool, hill_model(h, p, &in, h->c->o.streams ? class + from : NULL));
        for (unsigned i = 0; i < h->watches; i++) {
            struct watched *const w = &h->watch[i];
            struct cf_coherence_rows rows;

            if (!w->shares)
                continue;
            rows = hill_shared_rows(w);
            cf_must(h->c->tool, cf_coherence_run(w->shares, &rows, p->class));
        }
        if (h->part)
            hill_part_piece(h->part, p);
        if (h->all_levels)
            memcpy(h->hits + from, h->hit, in.rows);
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

struct cf_class_counts hill_counts(const struct watched *w)
{
    struct cf_class_counts counts = w->shares ? *cf_coherence_counts(w->shares) : w->counts;
    struct cf_hierarchy_counts n;

    counts.references[CF_FLUSH] = 0;
    if (!w->own && !w->h->joined) {
        cf_hierarchy_count(w->h->model, w->level, &n);
        memset(counts.references, 0, sizeof(counts.references));
        counts.references[CF_LOAD] = w->data ? n.loads : 0;
        counts.references[CF_STORE] = w->data ? n.stores : 0;
        counts.references[CF_IFETCH] = w->fetches ? n.ifetches : 0;
        counts.references[CF_PREFETCH] = w->data ? n.prefetches : 0;
    }
    return counts;
}

static void summary(void *state, struct summary *s)
{
    struct hill *h = state;

    for (unsigned i = 0; i < h->watches; i++) {
        const struct cf_class_counts counts = hill_counts(&h->watch[i]);

        for (unsigned op = CF_LOAD; op < CF_CLASS_OPS; op++)
            summary_add(s, h->watch[i].name, op, counts.references[op], counts.misses[op], 0);
    }
}

static void end(void *state)
{
    struct hill *h = state;

    if (!cf_reader_lacks(h->c->in))
        cf_tool_modelled(h->c->tool, h->m, &h->modelled_said);
    for (unsigned i = 0; i < h->watches; i++) {
        struct watched *w = &h->watch[i];

        for (unsigned k = 0; w->three && k < w->caches; k++)
            cf_threec_free(w->three[k]);
        free(w->three);
        cf_coherence_free(w->shares);
    }
    hill_piece_free(h->one);
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
                               .end = end,
                               .stages = HILL_STAGES,
                               .piece_new = hill_piece_new,
                               .piece_free = hill_piece_free,
                               .first = hill_first,
                               .stage = hill_stage};
