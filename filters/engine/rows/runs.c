/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * runs.c - from accesses to line references (see runs.h).
 *
 * Every reference has a class (load, store, fetch, prefetch, flush). It begins a run when its line
 * differs from that of the reference before, or when the two classes must stay apart, which a
 * small table says. Nearly all rows are loads and stores that touch one line: they take a loop of
 * their own without branches. It writes each row as if it began a run and counts it only if it
 * does, so that the next row overwrites one that did not.
 */
#include <stdlib.h>
#include <string.h>

#include "filters/engine/rows/runs_parts.h"
#include "formats/stream/cf.h"

enum class { CLASS_LOAD, CLASS_STORE, CLASS_FETCH, CLASS_PREFETCH, CLASS_FLUSH, CLASS_NONE };

enum {
    FEW = 16,  /* plain rows in one go that vectors do not pay for */
    ROWS = 64, /* a block */
};

static const uint8_t class_flags[] = {0, CF_RUN_STORE, CF_RUN_FETCH, CF_RUN_PREFETCH, CF_RUN_FLUSH};

/* Which classes before a reference of each class end a run even on the same line. */
static void make_apart(uint8_t *apart, unsigned options)
{
    enum {
        FETCH = 1 << CLASS_FETCH,
        PREFETCH = 1 << CLASS_PREFETCH,
        STORE = 1 << CLASS_STORE,
        DATA = 1 << CLASS_LOAD | STORE | PREFETCH,
        ALWAYS = 1 << CLASS_FLUSH | 1 << CLASS_NONE,
        ALL = DATA | FETCH | ALWAYS,
    };

    apart[CLASS_LOAD] = ALWAYS | FETCH | PREFETCH;
    apart[CLASS_STORE] = ALWAYS | FETCH | PREFETCH;
    apart[CLASS_FETCH] = ALWAYS | DATA;
    apart[CLASS_PREFETCH] = ALWAYS | FETCH;
    apart[CLASS_FLUSH] = ALL;
    if (options & CF_RUNS_STORES) {
        for (unsigned c = 0; c < CLASS_NONE; c++)
            apart[c] |= STORE;
        apart[CLASS_STORE] = ALL;
    }
}

struct cf_runs *cf_runs_new(unsigned shift, unsigned options, uint32_t capacity)
{
    struct cf_runs *r = calloc(1, sizeof(*r));
    const size_t room = (size_t)capacity + 64;

    if (!r)
        return NULL;
    r->capacity = capacity;
    r->options = (uint8_t)options;
    if ((options & CF_RUNS_ALL) != CF_RUNS_ALL)
        r->options &= (uint8_t)~CF_RUNS_SPLIT; /* there is nothing to keep apart */
    r->shift = (uint8_t)shift;
    make_apart(r->apart, options);
#ifdef __x86_64__
    if (!(options & CF_RUNS_PORTABLE) && __builtin_cpu_supports("avx2") &&
        __builtin_cpu_supports("bmi2"))
        r->vectors = !(options & CF_RUNS_NARROW) && __builtin_cpu_supports("avx512f") &&
                             __builtin_cpu_supports("avx512bw") &&
                             __builtin_cpu_supports("avx512vl")
                         ? 3
                         : 2;
#endif
    r->line = malloc(room * sizeof(*r->line));
    r->row = malloc(room * sizeof(*r->row));
    r->flags = malloc(room);
    if (!r->line || !r->row || !r->flags) {
        cf_runs_free(r);
        return NULL;
    }
    return r;
}

void cf_runs_free(struct cf_runs *r)
{
    if (!r)
        return;
    free(r->line);
    free(r->row);
    free(r->flags);
    free(r);
}

static unsigned class_of(unsigned op)
{
    switch (op) {
    case CF_STORE:
        return CLASS_STORE;
    case CF_IFETCH:
        return CLASS_FETCH;
    case CF_PREFETCH:
        return CLASS_PREFETCH;
    case CF_FLUSH:
        return CLASS_FLUSH;
    default:
        return CLASS_LOAD;
    }
}

static uint64_t last_byte(uint64_t addr, uint32_t size)
{
    const uint64_t last = addr + (size ? size - 1 : 0);

    return last < addr ? UINT64_MAX : last;
}

/* One row, of any class and any number of lines: 0 when the batch is full before its end. */
static int one_row(struct cf_runs *r, struct cf_runs_input *in, uint32_t row)
{
    const unsigned class = in->op ? class_of(in->op[row]) : CLASS_LOAD;
    const unsigned fetch = class == CLASS_FETCH;
    const unsigned kind = fetch && (r->options & CF_RUNS_SPLIT);
    const uint64_t addr = in->addr[row], first = addr >> r->shift;
    const uint64_t last = last_byte(addr, in->size ? in->size[row] : 1) >> r->shift;

    if (!(r->options & (fetch ? CF_RUNS_FETCHES : CF_RUNS_DATA)))
        return 1;
    for (uint64_t line = first + r->done; line <= last; line++) {
        if (line != in->before[kind] || r->apart[class] >> in->class_before[kind] & 1) {
            if (r->count == r->capacity) {
                r->done = line - first;
                return 0;
            }
            r->line[r->count] = line ^ in->space;
            r->row[r->count] = row;
            r->flags[r->count] = class_flags[class] | (line != first ? CF_RUN_PART : 0);
            in->run[kind] = r->count++;
        } else {
            r->flags[in->run[kind]] |= (class_flags[class] & CF_RUN_STORE) | CF_RUN_AGAIN;
        }
        r->references++;
        in->before[kind] = line;
        in->class_before[kind] = class;
        /* what follows a flush is of neither kind's run */
        if (class == CLASS_FLUSH)
            in->class_before[0] = in->class_before[1] = CLASS_FLUSH;
    }
    r->done = 0;
    return 1;
}

/* Loads and stores of one line each, up to the first row that is something else, or a full batch:
   returns that row. *before is the line of the reference before, UINT64_MAX for one that ends a
   run. */
static inline __attribute__((always_inline)) uint32_t
plain_rows(struct cf_runs *r, const struct cf_runs_input *in, uint32_t from, uint32_t to,
           uint64_t *before, int has_op, int has_size)
{
    uint64_t *const lines = r->line;
    uint32_t *const rows = r->row;
    uint8_t *const flags = r->flags;
    const uint64_t space = in->space;
    const unsigned shift = r->shift, apart = (r->options & CF_RUNS_STORES) != 0;
    uint64_t last = *before;
    uint32_t n = r->count, i;
    unsigned known = n ? flags[n - 1] : 0;

    for (i = from; i < to && n < r->capacity; i++) {
        const uint64_t addr = in->addr[i], line = addr >> shift;
        const uint64_t end = addr + (has_size ? in->size[i] - (in->size[i] != 0) : 0);
        const unsigned store = has_op ? in->op[i] - CF_LOAD : 0;
        const unsigned begins = (line != last) | (apart & store);

        if (__builtin_expect((line != end >> shift) | (store > 1), 0))
            break;
        lines[n] = line ^ space;
        rows[n] = i;
        known = begins ? store : known | store | CF_RUN_AGAIN;
        n += begins;
        flags[n - 1] = (uint8_t)known;
        last = apart & store ? UINT64_MAX : line;
    }
    r->references += i - from;
    r->count = n;
    *before = last;
    return i;
}

/* Vectors, where they can be used, then that loop. */
static uint32_t many_rows(struct cf_runs *r, struct cf_runs_input *in, uint32_t from, uint32_t to)
{
    const unsigned same =
        1 << CLASS_LOAD | 1 << CLASS_FETCH | (r->options & CF_RUNS_STORES ? 0 : 1 << CLASS_STORE);
    const uint64_t references = r->references;
    struct cf_runs_before before = {UINT64_MAX, 0};
    uint32_t i = from;

    if (same >> in->class_before[0] & 1) {
        before.line = in->before[0];
        before.fetch = in->class_before[0] == CLASS_FETCH;
    }
#ifdef __x86_64__
    if (r->vectors && in->op && in->size && from >= in->slow) {
        i += (r->vectors == 3 ? cf_runs_blocks_avx512 : cf_runs_blocks_avx2)(r, in, from, to - from,
                                                                             &before);
        /* where fetches are kept apart from data, each would make a block begin anew */
        if ((r->options & CF_RUNS_SPLIT) && i - from < FEW)
            in->slow = i + ROWS;
    }
#endif
    if (r->options & CF_RUNS_DATA) {
        const uint32_t done = i;
        uint64_t line = before.fetch ? UINT64_MAX : before.line;

        if (in->op)
            i = in->size ? plain_rows(r, in, i, to, &line, 1, 1)
                         : plain_rows(r, in, i, to, &line, 1, 0);
        else
            i = in->size ? plain_rows(r, in, i, to, &line, 0, 1)
                         : plain_rows(r, in, i, to, &line, 0, 0);
        if (i > done)
            before = (struct cf_runs_before){line, 0};
    }
    if (r->references > references) {
        in->before[0] = before.line;
        in->class_before[0] = before.fetch ? CLASS_FETCH : CLASS_LOAD;
        in->run[0] = r->count - 1;
    }
    return i;
}

uint32_t cf_runs_fill(struct cf_runs *r, const uint64_t *addr, const uint8_t *op,
                      const uint32_t *size, uint32_t from, uint32_t to, uint64_t space)
{
    struct cf_runs_input in = {.addr = addr, .op = op, .size = size, .space = space};
    const int plain = (r->options & CF_RUNS_DATA) || r->vectors;

    in.class_before[0] = in.class_before[1] = CLASS_NONE;
    r->count = 0;
    while (from < to) {
        /* the plain loop extends only the newest run */
        if (plain && !r->done && (!r->count || in.run[0] == r->count - 1))
            from = many_rows(r, &in, from, to);
        if (from < to && !one_row(r, &in, from))
            break;
        from += from < to;
    }
    return from;
}

uint8_t cf_runs_flags(const uint8_t *flags, uint32_t count)
{
    uint64_t any = 0, eight;
    uint32_t i;

    for (i = 0; i + sizeof(eight) <= count; i += sizeof(eight)) {
        memcpy(&eight, flags + i, sizeof(eight));
        any |= eight;
    }
    for (; i < count; i++)
        any |= flags[i];
    any |= any >> 32;
    any |= any >> 16;
    return (uint8_t)(any | any >> 8);
}

uint32_t cf_runs_drop_flushes(struct cf_runs *r)
{
    const uint32_t count = r->count;
    uint32_t n = 0;

    for (uint32_t i = 0; i < count; i++) {
        r->line[n] = r->line[i];
        r->row[n] = r->row[i];
        r->flags[n] = r->flags[i];
        n += !(r->flags[i] & CF_RUN_FLUSH);
    }
    r->count = n;
    return count - n;
}

uint64_t cf_space_key(uint32_t number)
{
    uint64_t key = 0;

    for (unsigned bit = 0; bit < 32; bit++)
        if (number >> bit & 1)
            key |= (uint64_t)1 << (62 - bit);
    return key;
}
