/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * alone.c - what each page gains when it alone is cached, in one reading (see pages.h).
 *
 * In caches without bounds lines do not touch each other, so what has happened to a line (of the
 * longest size of the machine's, which may hold several of a shorter one) is a state of few: which
 * caches hold it, clean or dirty. What an access does in a state is asked once of the hierarchy of
 * the machine with room for that line alone, so that what the machine says of writes, inclusion and
 * coherence holds; from then on it is looked up.
 *
 * Memory: 4 bytes a line of each frame, 8 a frame and core, some hundred a state.
 */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "filters/engine/cache/cache.h"
#include "filters/engine/cache/hierarchy.h"
#include "filters/engine/pages/pages.h"
#include "filters/engine/rows/counts.h"
#include "formats/base/cf_memory.h"

/* What an access does in a state. */
struct step {
    uint32_t next, hit; /* the state after it; the level that serves it, plus one, 0: not known */
    int64_t gain;       /* if it is of one line of the machine's */
};

/* How a state came about first. */
struct origin {
    uint32_t before, input;
};

struct cf_alone {
    const struct cf_paged_machine *m;
    struct cf_machine wide; /* the machine with caches of one line of the longest size */
    struct cf_hierarchy *model;
    unsigned shift, lines;      /* log2 of that size, and of the lines of a page */
    unsigned part[2];           /* log2 of the first level's lines, for data and fetches */
    unsigned parts, input_bits; /* log2 of the most parts in a line, and of the inputs of a state */
    uint32_t *state;            /* by frame and line */
    size_t states;
    int64_t *gain; /* by frame and core */
    size_t gains;
    struct step *step; /* by state and input, which is core, part, operation */
    size_t steps;
    struct origin *origin; /* by state */
    size_t origins;
    uint32_t known;
    struct cf_counts *number; /* of a state, plus one, by what the caches hold */
    uint8_t *held;            /* by cache and line in it: 0: not, 1: clean, 2: dirty */
    size_t helds;
    struct path { /* from an empty cache to a state, and one further */
        uint64_t *addr;
        uint8_t *op, *core, *hit;
        size_t addrs, ops, cores, hits;
    } path;
};

enum { OP_BITS = 3 };

uint32_t cf_alone_frames(const struct cf_paged_machine *m)
{
    uint32_t least = UINT32_MAX;

    for (unsigned i = 0; i < m->machine->levels; i++) {
        const struct cf_level *l = &m->machine->level[i];
        const uint32_t lines = m->page_size / l->line ? m->page_size / l->line : 1;
        const uint32_t together = (lines + l->sets - 1) / l->sets; /* of a frame in a set */
        /* where the core decides on the way, two lines of one core are one too many */
        const uint32_t ways = cf_policy_traits(l->policy) & CF_POLICY_BY_CORE ? 1 : l->ways;

        if (l->line > m->page_size)
            return 0;
        least = ways / together < least ? ways / together : least;
    }
    return least;
}

/* Parts of an access are lines of the first level that it comes to; 0: there is none. */
static unsigned part_shift(const struct cf_alone *a, unsigned other_kind)
{
    unsigned shift = 0, depth = UINT32_MAX;

    for (unsigned i = 0; i < a->wide.levels; i++) {
        const struct cf_level *l = &a->wide.level[i];

        if (l->kind != other_kind && l->depth < depth) {
            depth = l->depth;
            shift = (unsigned)__builtin_ctz(l->line);
        }
    }
    return shift;
}

struct cf_alone *cf_alone_new(const struct cf_paged_machine *m)
{
    const struct cf_hierarchy_options o = {.cores = m->cores};
    struct cf_alone *a = calloc(1, sizeof *a);
    char problem[512];

    if (!a)
        return NULL;
    a->m = m;
    a->wide = *m->machine;
    for (unsigned i = 0; i < a->wide.levels; i++)
        a->shift = a->wide.level[i].line >> a->shift > 1
                       ? (unsigned)__builtin_ctz(a->wide.level[i].line)
                       : a->shift;
    for (unsigned i = 0; i < a->wide.levels; i++) {
        struct cf_level *l = &a->wide.level[i];

        l->sets = (1u << a->shift) / l->line;
        l->ways = 1;
        l->policy = CF_LRU;
        a->helds += (size_t)l->sets * cf_paged_caches(m, l);
    }
    a->part[0] = part_shift(a, CF_INSTRUCTION_CACHE);
    a->part[1] = part_shift(a, CF_DATA_CACHE);
    for (unsigned i = 0; i < 2; i++) /* flushes come to all */
        a->part[i] = a->part[i] ? a->part[i] : a->part[!i];
    a->parts = a->shift - (a->part[0] < a->part[1] ? a->part[0] : a->part[1]);
    a->input_bits = OP_BITS + a->parts;
    a->lines = (unsigned)__builtin_ctz(m->page_size) - a->shift;
    a->model = cf_hierarchy_new(&a->wide, &o, problem, sizeof problem);
    a->number = cf_counts_new();
    a->held = malloc(a->helds + 1);
    if (!a->model || !a->number || !a->held) {
        cf_alone_free(a);
        return NULL;
    }
    return a;
}

void cf_alone_free(struct cf_alone *a)
{
    if (!a)
        return;
    cf_hierarchy_free(a->model);
    cf_counts_free(a->number);
    free(a->state);
    free(a->gain);
    free(a->step);
    free(a->origin);
    free(a->held);
    free(a->path.addr);
    free(a->path.op);
    free(a->path.core);
    free(a->path.hit);
    free(a);
}

/* ---- states ---- */

/* Room for the steps of so many states, of inputs of so many bits. */
static int step_room(struct cf_alone *a, uint32_t states, unsigned bits)
{
    if (cf_array_cleared(&a->step, &a->steps, (size_t)states << bits, sizeof *a->step) != 0)
        return -1;
    if (bits == a->input_bits)
        return 0;
    for (uint32_t s = a->known; s-- > 1;) { /* the first one stays where it is */
        struct step *from = a->step + ((size_t)s << a->input_bits);
        const size_t bytes = sizeof *from << a->input_bits;

        memcpy(a->step + ((size_t)s << bits), from, bytes);
        memset(from, 0, bytes);
    }
    a->input_bits = bits;
    return 0;
}

/* The number of the state that the model is in, plus one; 0 without memory. */
static uint32_t state_of(struct cf_alone *a, struct origin origin)
{
    XXH128_hash_t hash;
    uint64_t *number;
    size_t n = 0;

    for (unsigned i = 0; i < a->wide.levels; i++)
        for (unsigned c = 0; c < cf_hierarchy_caches(a->model, i); c++)
            for (uint32_t set = 0; set < a->wide.level[i].sets; set++) {
                const uint64_t line = cf_hierarchy_line(a->model, i, c, set, 0);

                a->held[n++] = line == CF_CACHE_NONE ? 0 : line & CF_CACHE_DIRTY ? 2 : 1;
            }
    hash = XXH3_128bits(a->held, n);
    number = cf_counts_at(a->number, hash.low64, hash.high64);
    if (number && !*number) {
        if (a->known == UINT32_MAX - 1 || step_room(a, a->known + 1, a->input_bits) != 0 ||
            cf_array_room(&a->origin, &a->origins, a->known + (size_t)1, sizeof *a->origin) != 0)
            return 0;
        a->origin[a->known] = origin;
        *number = ++a->known;
    }
    return number ? (uint32_t)*number : 0;
}

/* Asks the model what an access does in a state. */
static int learn(struct cf_alone *a, uint32_t state, uint32_t input)
{
    struct path *p = &a->path;
    size_t n = 1, at;
    uint32_t next, op = input & ((1u << OP_BITS) - 1);

    for (uint32_t s = state; s; s = a->origin[s].before)
        n++;
    if (n > CF_FILE_ROWS || cf_array_room(&p->addr, &p->addrs, n, sizeof *p->addr) != 0 ||
        cf_array_room(&p->op, &p->ops, n, 1) != 0 ||
        cf_array_room(&p->core, &p->cores, n, 1) != 0 ||
        cf_array_room(&p->hit, &p->hits, n, 1) != 0)
        return -1;
    at = n;
    for (struct origin o = {state, input}; at; o = a->origin[o.before]) {
        p->op[--at] = o.input & ((1u << OP_BITS) - 1);
        p->addr[at] = (uint64_t)(o.input >> OP_BITS & ((1u << a->parts) - 1))
                      << a->part[p->op[at] == CF_IFETCH];
        p->core[at] = (uint8_t)(o.input >> OP_BITS >> a->parts);
    }
    cf_hierarchy_empty(a->model);
    if (cf_hierarchy_rows(a->model, p->addr, p->op, NULL, (uint32_t)n, p->core, cf_paged_space,
                          p->hit) != 0)
        return -1;
    next = state_of(a, (struct origin){state, input});
    a->step[((size_t)state << a->input_bits) + input] =
        (struct step){next - 1, p->hit[n - 1] + 1u,
                      (int64_t)a->m->cost[cf_latency_key(CF_FROM_MEMORY, op)] -
                          (int64_t)a->m->cost[cf_latency_key(p->hit[n - 1], op)]};
    return next ? 0 : -1;
}

/* ---- rows ---- */

static int make_room(struct cf_alone *a, const struct cf_paged *rows)
{
    unsigned bits = OP_BITS + a->parts;

    while ((rows->cores - 1) >> (bits - OP_BITS - a->parts))
        bits++;
    if (!a->known && !state_of(a, (struct origin){0, 0})) /* nothing is cached: the first one */
        return -1;
    if (bits > a->input_bits && step_room(a, a->known, bits) != 0)
        return -1;
    return cf_array_cleared(&a->gain, &a->gains, rows->frames, a->m->cores * sizeof *a->gain) ||
                   cf_array_cleared(&a->state, &a->states, (size_t)rows->frames << a->lines,
                                    sizeof *a->state)
               ? -1
               : 0;
}

/* The step that a part of an access makes, which is made; NULL without memory. */
static inline const struct step *make_step(struct cf_alone *a, uint32_t *state, uint32_t input)
{
    const size_t at = ((size_t)*state << a->input_bits) + input;

    if (!a->step[at].hit && learn(a, *state, input) != 0)
        return NULL;
    *state = a->step[at].next;
    return &a->step[at];
}

/* A row of any parts; its gain, or INT64_MIN without memory. */
static int64_t any_row(struct cf_alone *a, const struct cf_paged *rows, uint32_t i)
{
    const unsigned op = rows->op[i] < CF_LATENCY_OPS ? rows->op[i] : CF_LATENCY_OPS;
    const unsigned shift = a->part[op == CF_IFETCH];
    const uint32_t begin = (uint32_t)rows->addr[i] & (a->m->page_size - 1);
    uint32_t *state = a->state + ((size_t)rows->frame[i] << a->lines);
    uint32_t hit = 0;

    for (uint32_t part = begin >> shift; part <= (begin + rows->size[i] - 1) >> shift; part++) {
        const uint32_t in_line = part & ((1u << (a->shift - shift)) - 1);
        const struct step *step = make_step(a, state + (part >> (a->shift - shift)),
                                            (rows->core[i] << a->parts | in_line) << OP_BITS | op);

        if (!step)
            return INT64_MIN;
        hit = step->hit > hit ? step->hit : hit;
    }
    return (int64_t)cf_paged_uncached(a->m, rows, i) -
           (int64_t)a->m->cost[cf_latency_key(hit - 1, op)];
}

/* As any_row(), where a part is a line of the machine's: the gains of rows of one core and of one
   part, whose step is known, are looked up. Returns the first row that is no such one, or `end`. */
static uint32_t plain_rows(struct cf_alone *a, const struct cf_paged *rows, uint32_t i,
                           uint32_t end)
{
    const unsigned core = rows->core[i];
    const struct step *const steps = a->step + (core << OP_BITS);
    const uint32_t within = a->m->page_size - 1, in_line = (1u << a->shift) - 1;
    const unsigned shift = a->shift;
    /* a product is quicker than to shift by what is known only here */
    const size_t lines = (size_t)1 << a->lines, inputs = (size_t)1 << a->input_bits;
    const size_t cores = a->m->cores;
    uint32_t *const states = a->state;
    int64_t *const gain = a->gain + core;
    /* in registers, since what is written might be anything in memory */
    const uint64_t *const addr = rows->addr;
    const uint32_t *const size = rows->size, *const frame = rows->frame;
    const uint8_t *const ops = rows->op;

    for (; i < end; i++) {
        const unsigned op = ops[i] < CF_LATENCY_OPS ? ops[i] : CF_LATENCY_OPS;
        const uint32_t begin = (uint32_t)addr[i] & within;
        uint32_t *state = states + frame[i] * lines + (begin >> shift);
        const struct step *step = steps + *state * inputs + op;

        if (!step->hit || (begin & in_line) + size[i] - 1 > in_line)
            break;
        /* mostly the same again: a store would hold up the next access to the line */
        if (step->next != *state)
            *state = step->next;
        gain[frame[i] * cores] += step->gain;
    }
    return i;
}

int cf_alone_rows(struct cf_alone *a, const struct cf_paged *rows)
{
    const int plain = !a->parts && a->shift == a->m->line_shift;

    if (make_room(a, rows) != 0)
        return -1;
    for (uint32_t i = 0, end = 0; i < rows->rows; i++) {
        int64_t gain;

        end = i < end ? end : cf_paged_same_core(rows, i);
        if (plain && (i = plain_rows(a, rows, i, end)) == end) {
            i--;
            continue;
        }
        gain = any_row(a, rows, i);
        if (gain == INT64_MIN)
            return -1;
        a->gain[(size_t)rows->frame[i] * a->m->cores + rows->core[i]] += gain;
    }
    return 0;
}

int64_t cf_alone_gain(const struct cf_alone *a, uint32_t frame, unsigned core)
{
    return frame < a->gains ? a->gain[frame * (size_t)a->m->cores + core] : 0;
}
