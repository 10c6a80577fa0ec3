/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Accesses that come in stretches (cf_stretched.h), for the pipeline (hierarchy_pipe.c) of a
 * machine whose first levels are split.
 *
 * The fetches of a stretch have the same addresses whenever it comes, so their runs (runs.h) are
 * made once a frame, and one of the line fetched last goes on with that line's run. Of its other
 * accesses what is known is put down in groups, as they are then needed: without fetches between
 * them, which hierarchy_rows.c would have to take out of the rows again.
 */
#include <stdlib.h>
#include <string.h>

#include "filters/engine/cache/hierarchy_parts.h"
#include "formats/base/cf_memory.h"
#include "formats/stream/cf_stretched.h"

enum {
    GROUP = CF_STRETCHED_GROUP,
    WORD = 8,                /* operations that are moved at once */
    LONGEST = BATCH / 4 - 8, /* data accesses, or lines of fetches, of a stretch */
    MOST = BATCH - 8,        /* that wait: groups are whole */
    MOST_RUNS = 1 << 18,     /* of the fetches of all stretches */
};

typedef uint64_t group64 __attribute__((vector_size(8 * GROUP)));
typedef uint32_t group32 __attribute__((vector_size(4 * GROUP)));

/* Accesses to data, and which rows of the stretch they are. */
struct group {
    uint64_t delta[GROUP], mask[GROUP]; /* mask 0: no slot */
    uint32_t size[GROUP], row[GROUP];
    uint16_t slot[GROUP]; /* where it stands, bytes */
    uint8_t op[GROUP];
};

struct stretch {
    uint32_t group, run, op; /* the first of its groups, runs and operations */
    uint16_t data, runs;     /* how many; runs at most, of one that moves */
    uint16_t rows, slot_bytes;
    uint8_t moves;      /* its one row is a fetch with a slot, in the group */
    uint64_t counts[2]; /* of loads and, in the upper half, stores; of fetches and prefetches */
};

struct cfh_stretches {
    struct stretch *stretch;
    struct group *group;
    uint8_t *ops;                      /* of all rows of all stretches */
    size_t stretches, groups, all_ops; /* room for so many */
    struct cf_cache_list fetches;      /* their runs, with rows of the stretch */
    uint32_t groups_used;

    /* what came, by its rows in the frame: */
    uint8_t *op;
    size_t op_room;
    uint8_t *tail; /* the last slots, with bytes behind them that may be read */
    size_t tail_room;
    uint32_t data; /* accesses that wait in h->apart; runs of fetches do in its runs */
};

void cfh_free_stretches(struct cfh_stretches *s)
{
    if (!s)
        return;
    free(s->stretch);
    free(s->group);
    free(s->ops);
    cf_cache_list_free(&s->fetches);
    free(s->op);
    free(s->tail);
    free(s);
}

int cf_hierarchy_likes_stretches(const struct cf_hierarchy *h)
{
    return h->apart && !h->watched;
}

static uint64_t load64(const uint8_t *p)
{
    uint64_t v;

    memcpy(&v, p, sizeof v);
    return v;
}

static unsigned load16(const uint8_t *p)
{
    uint16_t v;

    memcpy(&v, p, sizeof v);
    return v;
}

/* ---- what stretches there are ---- */

static void put_data(struct cfh_stretches *s, struct stretch *to, uint64_t delta, uint32_t place,
                     uint8_t op, uint32_t size, uint32_t row)
{
    const unsigned lane = to->data % GROUP;
    struct group *g = &s->group[s->groups_used - (lane != 0)];

    if (lane == 0) {
        memset(g, 0, sizeof *g);
        s->groups_used++;
    }
    g->delta[lane] = delta;
    g->size[lane] = size;
    g->row[lane] = row;
    g->op[lane] = op;
    if (place != CF_STRETCH_NO_SLOT) {
        g->mask[lane] = CF_STRETCH_ADDRESS;
        g->slot[lane] = (uint16_t)(CF_STRETCH_SLOT * place);
    }
    to->data++;
}

/* The lines that an access touches. */
struct lines {
    uint64_t first, last;
};

static inline struct lines lines_of(const struct cf_hierarchy *h, uint64_t addr, uint32_t size)
{
    const unsigned shift = h->apart->runs[KIND_FETCH]->shift;

    return (struct lines){addr >> shift, (addr + (size ? size - 1 : 0)) >> shift};
}

/* Appends the runs of a fetch to `n` others, for which there is room, and of which those from
   `begin` on are of fetches just before; returns how many there are then. */
static inline uint32_t put_fetch(uint64_t *line, uint32_t *rows, uint8_t *flags, uint32_t begin,
                                 uint32_t n, struct lines of, uint32_t row, uint64_t space)
{
    for (uint64_t l = of.first; l <= of.last; l++) {
        if (n > begin && line[n - 1] == (l ^ space)) {
            flags[n - 1] |= CF_RUN_AGAIN;
            continue;
        }
        line[n] = l ^ space;
        rows[n] = row;
        flags[n++] = CF_RUN_FETCH | (l != of.first ? CF_RUN_PART : 0);
    }
    return n;
}

/* A fetch of a stretch, which is its only row where it has a slot. As take_stretches(). */
static int take_fetch(struct cf_hierarchy *h, struct stretch *to, uint64_t delta, uint32_t place,
                      uint32_t size, uint32_t row, uint64_t space)
{
    struct cfh_stretches *const s = h->stretches;
    struct cf_cache_list *const l = &s->fetches;
    const struct lines lines = lines_of(h, delta & CF_STRETCH_ADDRESS, size);
    /* where it has a slot, it may touch one line more */
    const uint64_t most = lines.last - lines.first + 2, room = (uint64_t)LONGEST - to->runs;

    if (most > room || l->count + most > MOST_RUNS || (place != CF_STRETCH_NO_SLOT && to->rows > 1))
        return 0;
    if (place != CF_STRETCH_NO_SLOT) {
        put_data(s, to, delta, place, CF_IFETCH, size, row);
        to->data = 0;
        to->runs = (uint16_t)most;
        to->moves = 1;
        return 1;
    }
    if (cf_cache_list_room(l, l->count + most) != 0)
        return -1;
    to->counts[1] += lines.last - lines.first;
    l->count = put_fetch(l->line, l->row, l->flags, to->run, l->count, lines, row, space);
    to->runs = (uint16_t)(l->count - to->run);
    return 1;
}

/* One stretch, whose rows' deltas begin at *delta, which is moved behind them. As take_stretches().
 */
static int take_stretch(struct cf_hierarchy *h, const struct cf_stretched *in, uint32_t number,
                        const uint8_t **delta, uint64_t space)
{
    struct cfh_stretches *const s = h->stretches;
    const struct cf_stretch *const of = &in->stretch[number];
    const uint32_t from = GROUP * of->group;
    struct stretch *const to = &s->stretch[number];

    if (of->slots > UINT16_MAX / CF_STRETCH_SLOT)
        return 0;
    *to = (struct stretch){.group = s->groups_used,
                           .run = s->fetches.count,
                           .op = from,
                           .rows = of->rows,
                           .slot_bytes = (uint16_t)(CF_STRETCH_SLOT * of->slots)};
    for (uint32_t k = 0; k < of->rows; k++, *delta += 8) {
        const uint32_t kind = in->kind[from + k], place = in->place[from + k];
        const uint8_t op = in->op ? in->op[kind] : CF_LOAD;
        const uint32_t size = in->size ? in->size[kind] : 1;
        const enum class class = class_of_op(&op, 0);
        int taken;
        const uint64_t addr = load64(*delta);

        s->ops[from + k] = op;
        to->counts[class >= CLASS_FETCH] +=
            class == CLASS_STORE || class == CLASS_PREFETCH ? UINT64_C(1) << 32 : 1;
        if (op == CF_FLUSH || to->data == LONGEST)
            return 0;
        if (op != CF_IFETCH)
            put_data(s, to, addr, place, op, size, k);
        else if ((taken = take_fetch(h, to, addr, place, size, k, space)) <= 0)
            return taken;
    }
    return 1;
}

/* What each stretch takes when it comes: 1, 0 where one of them is not for here, -1 without memory.
 */
static int take_stretches(struct cf_hierarchy *h, const struct cf_stretched *in, uint64_t space)
{
    struct cfh_stretches *const s = h->stretches;
    const size_t ops = (size_t)GROUP * in->groups + WORD, rows = (size_t)in->rows + 64;
    const uint8_t *delta = in->delta;

    if (cf_array_room(&s->stretch, &s->stretches, in->stretches, sizeof *s->stretch) != 0 ||
        cf_array_room(&s->group, &s->groups, in->groups, sizeof *s->group) != 0 ||
        cf_array_cleared(&s->ops, &s->all_ops, ops, 1) != 0 ||
        cf_array_cleared(&s->op, &s->op_room, rows, 1) != 0)
        return -1;
    s->groups_used = s->fetches.count = 0;
    for (uint32_t i = 0; i < in->stretches; i++) {
        const int taken = take_stretch(h, in, i, &delta, space);

        if (taken <= 0)
            return taken;
    }
    return 1;
}

/* ---- and come ---- */

/* What waits goes through the model. Where the accesses to data are more lines than a batch holds,
   only the fetches before the next one go with them. */
static int flush(struct cf_hierarchy *h, unsigned core, uint64_t space)
{
    struct cfh_stretches *const s = h->stretches;
    struct apart *const a = h->apart;
    struct cf_runs *const data = a->runs[KIND_DATA], fetches = *a->runs[KIND_FETCH];
    const uint32_t *const row = a->row[KIND_DATA];
    uint32_t from = 0, left = fetches.count;

    do {
        uint32_t until;

        from = cf_runs_fill(data, a->addr[KIND_DATA], a->op[KIND_DATA], a->size[KIND_DATA], from,
                            s->data, space);
        cfh_from_rows(data->row, data->count, row);
        cfh_count_parts(h, data, s->op);
        until = from < s->data ? row[from] : UINT32_MAX;
        for (fetches.count = 0; fetches.count < left && fetches.row[fetches.count] < until;)
            fetches.count++;
        if (cfh_pipeline(h, data, &fetches, s->op, core, NULL) != 0)
            return -1;
        fetches.line += fetches.count;
        fetches.row += fetches.count;
        fetches.flags += fetches.count;
        left -= fetches.count;
    } while (from < s->data);
    s->data = 0;
    a->runs[KIND_FETCH]->count = 0;
    return 0;
}

/* Where the next stretch comes. */
struct place {
    size_t token;
    const uint8_t *slot, *end; /* its slots, and where bytes end that may be read */
    uint32_t row;
};

static inline void put_addresses(uint64_t *to, const struct group *g, const uint8_t *slots)
{
    group64 v = {load64(slots + g->slot[0]), load64(slots + g->slot[1]), load64(slots + g->slot[2]),
                 load64(slots + g->slot[3])},
            mask, delta;

    memcpy(&mask, g->mask, sizeof mask);
    memcpy(&delta, g->delta, sizeof delta);
    v = ((v & mask) + delta) & CF_STRETCH_ADDRESS;
    memcpy(to, &v, sizeof v);
}

/* The accesses of a stretch to data go to those that wait. */
static inline void put_groups(struct apart *a, const struct cfh_stretches *s,
                              const struct stretch *t, const struct place *p)
{
    const struct group *g = s->group + t->group;
    uint32_t n = s->data;

    for (unsigned k = 0; k < t->data; k += GROUP, n += GROUP, g++) {
        group32 row;

        memcpy(&row, g->row, sizeof row);
        row += p->row;
        put_addresses(a->addr[KIND_DATA] + n, g, p->slot);
        memcpy(a->size[KIND_DATA] + n, g->size, sizeof g->size);
        memcpy(a->row[KIND_DATA] + n, &row, sizeof row);
        memcpy(a->op[KIND_DATA] + n, g->op, sizeof g->op);
    }
}

/* The runs of its fetches, too; the first goes on with the last one of the same line. */
static inline void put_runs(struct cf_runs *r, const struct cf_cache_list *l,
                            const struct stretch *t, uint32_t row)
{
    uint32_t i = t->run, n = r->count;
    const uint32_t end = i + t->runs;

    if (i < end && n && r->line[n - 1] == l->line[i]) {
        r->flags[n - 1] |= CF_RUN_AGAIN;
        i++;
    }
    for (; i < end; i++, n++) {
        r->line[n] = l->line[i];
        r->row[n] = row + l->row[i];
        r->flags[n] = l->flags[i];
    }
    r->count = n;
}

/* The runs of one that moves; returns how many further lines it touches. */
static uint64_t put_moving(struct cf_hierarchy *h, const struct stretch *t, const struct place *p,
                           uint64_t space)
{
    const struct group *const g = h->stretches->group + t->group;
    struct cf_runs *const r = h->apart->runs[KIND_FETCH];
    uint64_t addr[GROUP];
    struct lines of;

    put_addresses(addr, g, p->slot);
    of = lines_of(h, *addr, g->size[0]);
    r->count = put_fetch(r->line, r->row, r->flags, 0, r->count, of, p->row, space);
    return of.last - of.first;
}

/* Takes in stretches from p->token on, as long as their slots may be read. */
static int come(struct cf_hierarchy *h, const struct cf_stretched *in, struct place *p,
                unsigned core, uint64_t space, uint64_t counts[2])
{
    struct cfh_stretches *const s = h->stretches;
    struct cf_runs *const fetches = h->apart->runs[KIND_FETCH];

    for (; p->token < in->tokens; p->token++) {
        const struct stretch *t = &s->stretch[load16(in->token + 2 * p->token)];
        uint32_t k = 0;

        if (p->end - p->slot < t->slot_bytes + 8)
            break;
        if ((s->data + t->data > MOST || fetches->count + t->runs > MOST) &&
            flush(h, core, space) != 0)
            return -1;
        do {
            memcpy(s->op + p->row + k, s->ops + t->op + k, WORD);
            k += WORD;
        } while (k < t->rows);
        put_groups(h->apart, s, t, p);
        if (__builtin_expect(t->moves, 0))
            counts[1] += put_moving(h, t, p, space);
        else
            put_runs(fetches, &s->fetches, t, p->row);
        counts[0] += t->counts[0];
        counts[1] += t->counts[1];
        s->data += t->data;
        p->row += t->rows;
        p->slot += t->slot_bytes;
    }
    return 0;
}

int cf_hierarchy_stretches(struct cf_hierarchy *h, const struct cf_stretched *in, unsigned core,
                           uint64_t space)
{
    struct place p = {0, in->slot, in->slot + in->slot_bytes, 0};
    uint64_t counts[2] = {0};
    size_t rest;
    int taken;

    core %= h->cores;
    if (!cf_hierarchy_likes_stretches(h) || h->several_cores || (h->has_run && h->core != core))
        return 0;
    if (!h->stretches && !(h->stretches = calloc(1, sizeof *h->stretches)))
        return -1;
    taken = take_stretches(h, in, space);
    if (taken <= 0)
        return taken;
    cfh_take_core(h, core);
    h->apart->runs[KIND_FETCH]->count = 0;
    if (come(h, in, &p, core, space, counts) != 0)
        return -1;
    rest = (size_t)(p.end - p.slot);
    if (cf_array_cleared(&h->stretches->tail, &h->stretches->tail_room, rest + 8, 1) != 0)
        return -1;
    memcpy(h->stretches->tail, p.slot, rest);
    p.slot = h->stretches->tail;
    p.end = p.slot + rest + 8;
    if (come(h, in, &p, core, space, counts) != 0 || flush(h, core, space) != 0)
        return -1;
    cfh_arrived(h, CLASS_LOAD, counts[0] & UINT32_MAX);
    cfh_arrived(h, CLASS_STORE, counts[0] >> 32);
    cfh_arrived(h, CLASS_FETCH, counts[1] & UINT32_MAX);
    cfh_arrived(h, CLASS_PREFETCH, counts[1] >> 32);
    return 1;
}
