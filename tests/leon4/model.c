/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * model: the bus transfers that a LEON4 would have made, and when. An emulator has neither bus nor
 * cache nor time, so all of this is a model and no measurement.
 *
 * Caches: the paper's, 4 ways of 4 KiB, lines of 32 bytes, LRU; the data cache writes through and
 * does not allocate at a store. Time: an entry of the instruction buffer takes a cycle; a miss 3
 * cycles, the latency, and a cycle for each transfer of its line; a trap 4 more. A store goes to
 * the bus some cycles later, from a write buffer with one place: anything else that needs the bus
 * waits until it is empty. Fetches for instructions that were annulled, and fetches ahead, are not
 * modelled. No two entries have the same time.
 */
#include <stdlib.h>
#include <string.h>

#include "filters/engine/cache/cache.h"
#include "tests/leon4/leon4.h"

enum { LINE = 32, SETS = 128, WAYS = 4, L2_SETS = 2048, TRAP = 4, MISS = 3, NOTHING = UINT32_MAX };

struct machine {
    struct cf_tool *tool;
    const struct model *m;
    const struct run *run;
    struct trace *out;
    struct cf_cache *icache, *dcache, *l2;
    uint8_t *memory;
    unsigned cpu;
    uint64_t now, last; /* last: time of the latest entry */
    uint32_t pending;   /* step whose store waits in the write buffer, or NOTHING */
    uint64_t due;
};

static struct entry *emit(struct machine *x, uint64_t time, uint32_t step)
{
    struct trace *o = x->out;
    struct entry *e;

    if (o->entries == o->room) {
        o->room = o->room ? 2 * o->room : 65536;
        o->entry = reallocarray(o->entry, o->room, sizeof(*o->entry));
        if (!o->entry)
            cf_die(x->tool, CF_EXIT_ENVIRONMENT, "no memory for %zu entries", o->room);
    }
    if (o->entries && time <= x->last)
        time = x->last + 1;
    x->last = time;
    e = &o->entry[o->entries++];
    memset(e, 0, sizeof(*e));
    e->time = time;
    e->step = step;
    e->cpu = (uint8_t)x->cpu;
    return e;
}

/* What the bus carries: the word at an address in its place, and in every place for a store, as the
   processor drives it. */
static void fill_data(const struct machine *x, struct entry *e, const uint32_t *stored)
{
    const unsigned words = x->m->bus / 4;

    for (unsigned i = 0; i < words; i++) {
        const uint8_t *at = x->memory + ((e->addr & ~(x->m->bus - 1)) - x->run->base) + 4 * i;

        if (!stored)
            e->data[i] =
                (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
        else if (e->size == 0)
            e->data[i] = (stored[0] & 255) * 0x01010101u;
        else if (e->size == 1)
            e->data[i] = (stored[0] & 65535) * 0x00010001u;
        else
            e->data[i] = stored[e->size == 3 ? i & 1 : 0];
    }
}

static unsigned log2_of(uint32_t bytes)
{
    unsigned n = 0;

    while (bytes > 1) {
        bytes /= 2;
        n++;
    }
    return n;
}

static void second_level(struct machine *x, uint32_t addr, int store)
{
    uint64_t victim;

    if (x->m->l2_off)
        return;
    if (cf_cache_access(x->l2, addr / LINE, store ? CF_RUN_STORE : 0, CF_CACHE_ALL_WAYS, &victim))
        x->out->counters.l2++;
}

/* The store of a step reaches the bus, and memory. */
static void write_out(struct machine *x, uint32_t step, uint64_t time, int lock)
{
    const struct step *s = &x->run->step[step];
    const uint32_t width = s->size < x->m->bus ? s->size : x->m->bus;

    for (uint32_t done = 0; done < s->size; done += width) {
        struct entry *e = emit(x, time++, step);

        e->ahb = e->write = 1;
        e->trans = done ? 3 : 2;
        e->burst = width < s->size;
        e->size = (uint8_t)log2_of(width);
        e->addr = s->addr + done;
        e->lock = (uint8_t)lock;
        fill_data(x, e, s->stored + done / 4);
    }
    for (unsigned i = 0; i < s->size; i++)
        x->memory[s->addr - x->run->base + i] =
            (uint8_t)(s->stored[i / 4] >> 8 * ((s->size < 4 ? s->size : 4) - 1 - i % 4));
    second_level(x, s->addr, 1);
}

static void drain(struct machine *x, uint64_t until)
{
    if (x->pending == NOTHING || x->due > until)
        return;
    write_out(x, x->pending, x->due, 0);
    x->pending = NOTHING;
}

/* The bus is needed: what waits goes first. */
static void need_bus(struct machine *x)
{
    if (x->pending != NOTHING)
        drain(x, x->due);
    if (x->now <= x->last)
        x->now = x->last + 1;
}

static void fill_line(struct machine *x, uint32_t addr, uint32_t step)
{
    need_bus(x);
    x->now += x->m->latency;
    for (uint32_t done = 0; done < LINE; done += x->m->bus) {
        struct entry *e = emit(x, x->now, step);

        x->now = e->time + 1;
        e->ahb = 1;
        e->trans = done ? 3 : 2;
        e->burst = 1;
        e->size = (uint8_t)log2_of(x->m->bus);
        e->addr = (addr & ~(uint32_t)(LINE - 1)) + done;
        fill_data(x, e, NULL);
    }
    x->now += MISS;
    second_level(x, addr, 0);
}

/* One read outside the cache, with the bus kept for the write that follows. */
static void read_locked(struct machine *x, const struct step *s, uint32_t step)
{
    struct entry *e;

    need_bus(x);
    x->now += x->m->latency;
    e = emit(x, x->now, step);
    x->now = e->time + MISS;
    e->ahb = e->lock = 1;
    e->trans = 2;
    e->size = (uint8_t)log2_of(s->size);
    e->addr = s->addr;
    fill_data(x, e, NULL);
    second_level(x, s->addr, 0);
}

static void one(struct machine *x, uint32_t i)
{
    const struct step *s = &x->run->step[i];
    struct trace *o = x->out;
    uint64_t victim;
    struct entry *e;

    if (cf_cache_access(x->icache, s->pc / LINE, 0, CF_CACHE_ALL_WAYS, &victim)) {
        o->counters.icache++;
        fill_line(x, s->pc, i);
    }
    drain(x, x->now);
    e = emit(x, x->now, i);
    o->counters.instructions += !s->trap;
    x->now = e->time + 1;
    /* further entries of the same instruction have the times after the first */
    x->now +=
        (s->kind == STORE || s->kind == ATOMIC) + (s->kind != PLAIN && s->size == 8) + s->pair;
    x->last = x->now - 1;
    if (s->trap)
        x->now += TRAP;
    if (!s->memory)
        return;
    if (s->kind != STORE) {
        const int miss = cf_cache_access(x->dcache, s->addr / LINE, 0, CF_CACHE_ALL_WAYS, &victim);

        o->hit[i] = !miss;
        o->counters.dcache += (uint64_t)miss;
        if (s->kind == ATOMIC && x->m->lock)
            read_locked(x, s, i);
        else if (miss)
            fill_line(x, s->addr, i);
    }
    if (s->kind == LOAD || (s->kind == ATOMIC && !s->writes))
        return;
    (void)cf_cache_access(x->dcache, s->addr / LINE, CF_RUN_STORE, CF_CACHE_ALL_WAYS, &victim);
    need_bus(x);
    if (s->kind == ATOMIC) {
        write_out(x, i, x->now, 1);
        x->now = x->last + 1;
    } else {
        x->pending = i;
        x->due = x->now + x->m->post;
    }
}

static struct cf_cache *cache(struct cf_tool *t, uint32_t sets, uint32_t ways, uint32_t options)
{
    const struct cf_cache_geometry g = {sets, ways, CF_LRU, options, 1};
    struct cf_cache *c = cf_cache_new(&g);

    if (!c)
        cf_die(t, CF_EXIT_ENVIRONMENT, "no memory for a cache");
    return c;
}

void model_run(struct cf_tool *t, const struct model *m, const struct run *r, unsigned cpu,
               struct trace *out)
{
    struct machine x = {.tool = t, .m = m, .run = r, .out = out, .cpu = cpu};

    memset(out, 0, sizeof(*out));
    out->hit = calloc(r->steps + 1, 1);
    x.memory = malloc(MEMORY);
    if (!out->hit || !x.memory)
        cf_die(t, CF_EXIT_ENVIRONMENT, "no memory for %zu instructions", r->steps);
    memcpy(x.memory, r->memory, MEMORY);
    x.icache = cache(t, SETS, WAYS, 0);
    x.dcache = cache(t, SETS, WAYS, CF_CACHE_WRITE_THROUGH | CF_CACHE_NO_ALLOCATE);
    /* one way of the second level is one CPU's under the master-index policy */
    x.l2 = cache(t, L2_SETS, 1, 0);
    x.now = m->start;
    x.pending = NOTHING;
    for (size_t i = 0; i < r->steps; i++)
        one(&x, (uint32_t)i);
    drain(&x, UINT64_MAX);
    cf_cache_free(x.icache);
    cf_cache_free(x.dcache);
    cf_cache_free(x.l2);
    free(x.memory);
}

void model_interleave(struct cf_tool *t, struct trace *a, struct trace *b, uint64_t start)
{
    const size_t all = a->entries + b->entries;
    struct entry *merged = reallocarray(NULL, all + 1, sizeof(*merged));
    size_t i = 0, k = 0;

    if (!merged)
        cf_die(t, CF_EXIT_ENVIRONMENT, "no memory for %zu entries", all);
    for (size_t n = 0; n < all; n++) {
        const int first =
            k == b->entries || (i < a->entries && a->entry[i].time <= b->entry[k].time);

        merged[n] = first ? a->entry[i++] : b->entry[k++];
        merged[n].time = start + 2 * (merged[n].time - start) + merged[n].cpu;
    }
    free(a->entry);
    a->entry = merged;
    a->entries = a->room = all;
    b->entries = 0;
}

void trace_free(struct trace *t)
{
    free(t->entry);
    free(t->hit);
}
