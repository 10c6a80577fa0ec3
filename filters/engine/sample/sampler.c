/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sampler.c - which accesses a performance monitoring unit would have sampled (see sampler.h).
 *
 * Hardly a row in a thousand is kept, so rows are counted a block at a time, also where a few
 * threads take turns in it, and looked at one by one where a count becomes full, the breakpoint's
 * instruction may be among them, its turn may end, or a sample waits for its instruction.
 */
#include <stdlib.h>
#include <string.h>

#include "filters/engine/rows/cores.h"
#include "filters/engine/rows/counts.h"
#include "filters/engine/sample/sampler.h"
#include "formats/base/cf_memory.h"

enum { BLOCK = 128, TURNS = 4, RECENT_BITS = 8, LOADS = 0, STORES = 1, NONE = UINT16_MAX };

struct counter {
    uint64_t left, drawn; /* accesses until the count is full, and all of it */
    uint64_t state;       /* of the generator */
};

struct thread {
    struct counter op[2];
    uint32_t number, pid;
    uint64_t insns, pc, time; /* while samples wait for instructions: how many came, the last one */
    uint16_t head, tail;
    uint8_t fetched; /* since its last access */
};

/* A sample that waits. */
struct pending {
    uint64_t due; /* at this number of the thread's instructions */
    uint64_t addr, pc;
    uint32_t thread;
    uint16_t next;
    uint8_t missed, waits;
};

struct recent {
    uint64_t key;
    uint32_t number;
    int known;
};

struct cf_sampler {
    struct cf_sampler_options o;
    struct cf_fine fine;
    int fresh;                 /* no row of the stream has come */
    int instructions;          /* are what its clock counts */
    uint64_t now;              /* time of the last row */
    struct cf_counts *numbers; /* number + 1 of each thread */
    struct thread *threads;
    size_t room;
    uint32_t count;
    struct recent recent[1 << RECENT_BITS];
    struct pending pending[CF_SAMPLER_BATCH];
    struct cf_sampled out;
};

struct cf_sampler *cf_sampler_new(const struct cf_sampler_options *o)
{
    struct cf_sampler *s = calloc(1, sizeof(*s));

    if (!s)
        return NULL;
    s->o = *o;
    s->numbers = cf_counts_new();
    if (cf_fine_begin(&s->fine, &o->fine) != 0 || !s->numbers) {
        cf_sampler_free(s);
        return NULL;
    }
    return s;
}

void cf_sampler_free(struct cf_sampler *s)
{
    if (!s)
        return;
    cf_fine_end(&s->fine);
    cf_counts_free(s->numbers);
    free(s->threads);
    free(s);
}

void cf_sampler_clock(struct cf_sampler *s, uint64_t expire, int instructions)
{
    s->fine.expire = expire;
    s->instructions = instructions;
    s->fresh = 1;
}

/* ---- counts ---- */

/* The generator splitmix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators",
   OOPSLA 2014. */
static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static void draw(struct counter *c, uint64_t period, uint32_t jitter)
{
    uint64_t spread = (period * jitter + 99) / 100;

    spread -= spread && spread == period;
    c->left = UINT64_MAX; /* never full */
    if (period) {
        const uint64_t random = mix(c->state += 0x9e3779b97f4a7c15u);

        c->left = period - spread + (uint64_t)((unsigned __int128)random * (2 * spread + 1) >> 64);
    }
    c->drawn = c->left;
}

/* The counter of an operation, LOADS or STORES, draws. */
static void draw_next(const struct cf_sampler *s, struct thread *t, unsigned op)
{
    draw(&t->op[op], op == LOADS ? s->o.loads : s->o.stores, s->o.jitter);
}

static int add_thread(struct cf_sampler *s, uint32_t pid)
{
    struct thread *t;

    if (cf_array_room(&s->threads, &s->room, s->count + (size_t)1, sizeof(*s->threads)) != 0)
        return -1;
    t = &s->threads[s->count];
    *t = (struct thread){.number = s->count, .pid = pid, .head = NONE};
    for (unsigned op = LOADS; op <= STORES; op++) {
        t->op[op].state = mix(s->o.seed ^ mix(2 * (uint64_t)s->count + op + 1));
        draw_next(s, t, op);
    }
    s->count++;
    return 0;
}

/* NULL without memory; valid until the next call. */
static struct thread *find_thread(struct cf_sampler *s, uint32_t pid, uint32_t tid)
{
    const uint64_t key = (uint64_t)pid << 32 | tid;
    struct recent *r = &s->recent[key * 0x9e3779b97f4a7c15u >> (64 - RECENT_BITS)];

    if (!r->known || r->key != key) {
        uint64_t *number = cf_counts_at(s->numbers, 0, key);

        if (!number || (!*number && add_thread(s, pid) != 0))
            return NULL;
        if (!*number)
            *number = s->count;
        *r = (struct recent){key, (uint32_t)*number - 1, 1};
    }
    return &s->threads[r->number];
}

/* ---- samples, and the instructions that they name ---- */

static int deliver(struct cf_sampler *s, const struct thread *t, uint64_t pc, uint64_t addr,
                   int missed, uint64_t time)
{
    return s->o.fine.most ? cf_fine_sample(&s->fine, t->number, t->pid, pc, addr, missed, time) : 0;
}

/* A sample of kept row `number`, which is row i, waits. */
static void hold(struct cf_sampler *s, struct thread *t, uint32_t number,
                 const struct cf_sampler_rows *r, uint32_t i)
{
    struct pending *p = &s->pending[number];

    if (t->head == NONE) {
        t->head = (uint16_t)number;
        t->pc = r->pc[i];
        t->time = r->time[i];
        t->fetched = 0;
    } else {
        s->pending[t->tail].next = (uint16_t)number;
    }
    t->tail = (uint16_t)number;
    *p = (struct pending){.due = t->insns + s->o.skid,
                          .addr = r->addr[i],
                          .pc = r->pc[i],
                          .thread = t->number,
                          .next = NONE,
                          .missed = r->hit[i] > 1,
                          .waits = 1};
}

/* Row i of a thread of which samples wait: those whose instruction it is are moved to it. */
static int step(struct cf_sampler *s, struct thread *t, const struct cf_sampler_rows *r, uint32_t i)
{
    t->insns += r->pc[i] != t->pc || t->fetched || (s->instructions && r->time[i] != t->time);
    t->pc = r->pc[i];
    t->time = r->time[i];
    t->fetched = 0;
    while (t->head != NONE && s->pending[t->head].due <= t->insns) {
        struct pending *p = &s->pending[t->head];

        s->out.number[s->out.moved] = t->head;
        s->out.named[s->out.moved++] = i;
        t->head = p->next;
        p->waits = 0;
        if (deliver(s, t, r->pc[i], p->addr, p->missed, r->time[i]) != 0)
            return -1;
    }
    return 0;
}

int cf_sampler_full(const struct cf_sampler *s)
{
    return s->out.first + s->out.count == CF_SAMPLER_BATCH;
}

uint32_t cf_sampler_waiting(const struct cf_sampler *s)
{
    return s->fine.queue.waiting;
}

int cf_sampler_settle(struct cf_sampler *s)
{
    const uint32_t kept = s->out.first + s->out.count;

    for (uint32_t i = 0; s->o.skid && i < kept; i++) {
        struct pending *p = &s->pending[i];
        struct thread *t = &s->threads[p->thread];

        if (p->waits && deliver(s, t, p->pc, p->addr, p->missed, s->now) != 0)
            return -1;
        if (p->waits)
            t->head = NONE;
        p->waits = 0;
    }
    s->out.first = s->out.count = s->out.moved = 0;
    return 0;
}

/* ---- rows ---- */

static int one_row(struct cf_sampler *s, struct thread *t, const struct cf_sampler_rows *r,
                   uint32_t i)
{
    struct cf_fine *f = &s->fine;
    struct cf_sampled *out = &s->out;
    const unsigned op = r->op[i];
    uint8_t stage = 0;
    uint64_t weight = 0;

    if (f->queue.waiting && cf_fine_expired(f, r->time[i]))
        cf_fine_next(f, r->time[i]);
    t->fetched |= op == CF_IFETCH;
    if (op == CF_IFETCH)
        return 0;
    if (op == CF_LOAD || op == CF_STORE) {
        struct counter *c = &t->op[op == CF_STORE];

        if (--c->left == 0) {
            stage = CF_STAGE_COARSE;
            weight = c->drawn;
            draw_next(s, t, op == CF_STORE);
        } else if (f->armed && r->pc[i] == f->pc && t->pid == f->pid) {
            stage = CF_STAGE_FINE;
            cf_fine_access(f, r->addr[i], r->time[i]);
        }
    }
    if (t->head != NONE && step(s, t, r, i) != 0)
        return -1;
    if (!stage)
        return 0;
    out->row[out->count] = i;
    out->weight[out->count] = weight;
    out->stage[out->count++] = stage;
    if (stage == CF_STAGE_FINE)
        return 0;
    if (!s->o.skid)
        return deliver(s, t, r->pc[i], r->addr[i], r->hit[i] > 1, r->time[i]);
    hold(s, t, out->first + out->count - 1, r, i);
    return 0;
}

/* What a block has of a thread. */
struct tally {
    uint8_t rows, loads, stores;
};

/* Whether the fine stage must look at a row of a block, `ours`: of the breakpoint's process. */
static int is_fine(const struct cf_fine *f, const struct cf_sampler_rows *r, uint32_t i, int ours)
{
    uint64_t found = 0;

    for (unsigned k = 0; f->armed && ours && k < BLOCK; k++)
        found |= r->pc[i + k] == f->pc;
    for (unsigned k = 0; f->queue.waiting && k < BLOCK; k++)
        found |= (uint64_t)cf_fine_expired(f, r->time[i + k]);
    return found != 0;
}

static int fills(const struct thread *t, const struct tally *n)
{
    return n->loads >= t->op[LOADS].left || n->stores >= t->op[STORES].left;
}

static void count(struct thread *t, const struct tally *n)
{
    t->op[LOADS].left -= n->loads;
    t->op[STORES].left -= n->stores;
}

/* Counts a block; 0 where a row of it must be looked at, and then it is not counted. */
static int skip_block(struct cf_sampler *s, struct thread *t, const struct cf_sampler_rows *r,
                      uint32_t i)
{
    struct tally n = {0};

    for (unsigned k = 0; k < BLOCK; k++) {
        n.loads = (uint8_t)(n.loads + (r->op[i + k] == CF_LOAD));
        n.stores = (uint8_t)(n.stores + (r->op[i + k] == CF_STORE));
    }
    if (fills(t, &n) || is_fine(&s->fine, r, i, t->pid == s->fine.pid))
        return 0;
    count(t, &n);
    return 1;
}

/* What a block has of the thread of its row `first`, by columns that tell threads apart. */
static struct tally tally(const uint32_t *a, const uint32_t *b, const uint8_t *op, unsigned first)
{
    const uint32_t value_a = a[first], value_b = b[first];
    unsigned rows = 0, loads = 0, stores = 0;

    for (unsigned k = 0; k < BLOCK; k++) {
        const unsigned same = !((a[k] ^ value_a) | (b[k] ^ value_b));

        rows += same;
        loads += same & (op[k] == CF_LOAD);
        stores += same & (op[k] == CF_STORE);
    }
    return (struct tally){(uint8_t)rows, (uint8_t)loads, (uint8_t)stores};
}

/* As skip_block(), of a block of several threads; -1 without memory. */
static int skip_turns(struct cf_sampler *s, const struct cf_sampler_rows *r, const uint32_t *a,
                      const uint32_t *b, uint32_t i)
{
    struct tally n[TURNS];
    uint32_t number[TURNS];
    unsigned first[TURNS], turns = 0, rows = 0;

    for (unsigned k = 0; rows < BLOCK; k++) { /* by the first row of each thread */
        const struct thread *t;
        unsigned seen = 0;

        while (seen < turns && (a[i + k] != a[i + first[seen]] || b[i + k] != b[i + first[seen]]))
            seen++;
        if (seen < turns)
            continue;
        if (turns == TURNS)
            return 0;
        t = find_thread(s, r->pid ? r->pid[i + k] : 0, r->tid ? r->tid[i + k] : 0);
        if (!t)
            return -1;
        first[turns] = k;
        number[turns] = t->number;
        n[turns] = tally(a + i, b + i, r->op + i, k);
        if (t->head != NONE || fills(t, &n[turns]))
            return 0;
        rows += n[turns++].rows;
    }
    if (is_fine(&s->fine, r, i, 1))
        return 0;
    for (unsigned k = 0; k < turns; k++)
        count(&s->threads[number[k]], &n[k]);
    return 1;
}

/* The rows [i, end) are of one thread. Returns the row that comes next; `end` + 1 without memory.
 */
static uint32_t take_piece(struct cf_sampler *s, struct thread *t, const struct cf_sampler_rows *r,
                           uint32_t i, uint32_t end)
{
    while (i < end) {
        uint32_t to = end - i < BLOCK ? end : i + BLOCK;

        if (t->head == NONE && end - i >= BLOCK && skip_block(s, t, r, i)) {
            i = to;
            continue;
        }
        for (; i < to; i++) {
            if (cf_sampler_full(s))
                return i;
            if (one_row(s, t, r, i) != 0)
                return end + 1;
        }
    }
    return i;
}

/* Takes rows of one thread, or a block of several. As take_piece(), with the end of all rows.
   Blocks before row *looked must be looked at. */
static uint32_t take_rows(struct cf_sampler *s, const struct cf_sampler_rows *r, uint32_t i,
                          uint32_t *looked)
{
    const uint32_t *a = r->tid ? r->tid : r->pid, *b = r->pid ? r->pid : r->tid;
    const uint32_t end = a ? cf_cores_same(a, b, i, r->rows) : r->rows;
    struct thread *t;

    if (end - i < BLOCK && i >= *looked && r->rows - i >= BLOCK) {
        const int skipped = skip_turns(s, r, a, b, i);

        if (skipped)
            return skipped > 0 ? i + BLOCK : r->rows + 1;
        *looked = i + BLOCK;
    }
    t = find_thread(s, r->pid ? r->pid[i] : 0, r->tid ? r->tid[i] : 0);
    if (!t)
        return r->rows + 1;
    i = take_piece(s, t, r, i, end);
    return i > end ? r->rows + 1 : i;
}

const struct cf_sampled *cf_sampler_take(struct cf_sampler *s, const struct cf_sampler_rows *r,
                                         uint32_t *at)
{
    uint32_t i = *at, looked = i;

    s->out.first += s->out.count;
    s->out.count = s->out.moved = 0;
    if (s->fresh && i < r->rows) {
        s->fine.since = r->time[i];
        s->fresh = 0;
    }
    while (i < r->rows && !cf_sampler_full(s))
        i = take_rows(s, r, i, &looked);
    if (i > r->rows)
        return NULL;
    if (i > *at)
        s->now = r->time[i - 1];
    *at = i;
    return &s->out;
}
