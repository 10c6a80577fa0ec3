/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * runs.c - from accesses to line references (see runs.h).
 *
 * Every reference has a class (load, store, fetch, prefetch, flush). It begins a run when its line
 * differs from that of the reference before, or when the two classes must stay apart, which a
 * small table says. Nearly all rows are loads and stores that touch one line or two: they are taken
 * 64 at a time (runs_simd.c).
 */
#include <stdlib.h>
#include <string.h>

#include "filters/engine/rows/runs_parts.h"
#include "formats/stream/cf.h"

enum class { CLASS_LOAD, CLASS_STORE, CLASS_FETCH, CLASS_PREFETCH, CLASS_FLUSH, CLASS_NONE };

enum {
    FEW = 16,  /* rows that a block does not pay for */
    SLOW = 64, /* rows one by one where a block had few */
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
    r->blocks = cf_cpu() == CF_CPU_NONE ? NULL : CF_SIMD_CHOICE(cf_runs_blocks);
    r->ops = CF_SIMD_CHOICE(cf_runs_count);
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

    if (r->begins && r->begins[row])
        in->class_before[0] = in->class_before[1] = CLASS_NONE;
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

/* Blocks of plain rows, up to the first row that is something else. */
static uint32_t many_rows(struct cf_runs *r, struct cf_runs_input *in, uint32_t from, uint32_t to)
{
    const unsigned same =
        1 << CLASS_LOAD | 1 << CLASS_FETCH | (r->options & CF_RUNS_STORES ? 0 : 1 << CLASS_STORE);
    const uint64_t references = r->references;
    struct cf_runs_before before = {UINT64_MAX, 0, 0};
    uint32_t i;

    if (same >> in->class_before[0] & 1) {
        before.line = in->before[0];
        before.fetch = in->class_before[0] == CLASS_FETCH;
    }
    i = r->blocks(r, in, from, to, &before);
    /* where fetches are kept apart from data, each would make a block begin anew */
    if (i - from < FEW)
        in->slow = i + SLOW;
    if (r->references > references) {
        in->before[0] = before.line;
        in->class_before[0] = before.fetch ? CLASS_FETCH : CLASS_LOAD;
        in->run[0] = r->count - 1;
    } else if (before.cut) {
        in->class_before[0] = CLASS_NONE;
    }
    return i;
}

uint32_t cf_runs_fill(struct cf_runs *r, const uint64_t *addr, const uint8_t *op,
                      const uint32_t *size, uint32_t from, uint32_t to, uint64_t space)
{
    struct cf_runs_input in = {.addr = addr, .op = op, .size = size, .space = space};

    in.class_before[0] = in.class_before[1] = CLASS_NONE;
    r->count = 0;
    while (from < to) {
        /* blocks extend only the newest run */
        if (r->blocks && from >= in.slow && to - from >= FEW && !r->done &&
            (!r->count || in.run[0] == r->count - 1))
            from = many_rows(r, &in, from, to);
        if (from < to && !one_row(r, &in, from))
            break;
        from += from < to;
    }
    return from;
}

void cf_runs_ops(const struct cf_runs *r, const uint8_t *op, uint32_t rows, uint64_t *n)
{
    if (op)
        r->ops(op, rows, n);
    else
        n[CF_LOAD] += rows;
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
    uint64_t key = __builtin_bswap32(number);

    key = (key & 0x0f0f0f0f) << 4 | (key >> 4 & 0x0f0f0f0f);
    key = (key & 0x33333333) << 2 | (key >> 2 & 0x33333333);
    key = (key & 0x55555555) << 1 | (key >> 1 & 0x55555555);
    return key << 31;
}

uint32_t cf_space_number(uint64_t key)
{
    return (uint32_t)(cf_space_key((uint32_t)(key >> 31)) >> 31);
}
