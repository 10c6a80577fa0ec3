/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * entries.c - from entries to lines. See entries.h.
 */
#include "capture/dumpcache/entries.h"

static int empty(const struct entry *a)
{
    return a->addr == 0;
}

/* Whether an address can be the physical one of a line of that set. */
static int in_set(const struct cf_entries *e, uint64_t addr, uint32_t set)
{
    return addr % e->line == 0 && addr / e->line % e->sets == set;
}

/* The same for an address that stands among virtual ones. The tool makes it from 32 bits that hold
   physical address / 2, so there is none from 2^33 on, where most virtual ones are. */
static int in_set_unresolved(const struct cf_entries *e, uint64_t addr, uint32_t set)
{
    return addr >> 33 == 0 && in_set(e, addr, set);
}

static int page_aligned(uint64_t addr)
{
    return addr % PAGE_BYTES == 0;
}

/* Place in the page that a line of that set has, which virtual and physical address share. */
static uint64_t place(const struct cf_entries *e, uint32_t set)
{
    return (uint64_t)set * e->line % PAGE_BYTES;
}

static int in_page(const struct cf_entries *e, uint64_t addr, uint32_t set)
{
    return addr % PAGE_BYTES / e->line * e->line == place(e, set);
}

/* The kind that the fewest entries do not fit, so that a damaged one does not make all wrong. */
enum addresses cf_entries_kind(const struct cf_entries *e)
{
    uint32_t half = 0, physical = 0, page = 0, full = 0;

    for (uint32_t i = 0; i < e->sets * e->ways; i++) {
        const struct entry *a = &e->now[i];
        const uint32_t set = i / e->ways;

        if (empty(a))
            continue;
        half += a->pid || !in_set(e, a->addr * 2, set);
        physical += a->pid || !in_set(e, a->addr, set);
        page += !in_set_unresolved(e, a->addr, set) && !page_aligned(a->addr);
        full += !in_page(e, a->addr, set);
    }
    return half <= physical && half <= page && half <= full ? ADDRESSES_HALF
           : physical <= page && physical <= full           ? ADDRESSES_PHYSICAL
           : page <= full                                   ? ADDRESSES_PAGE
                                                            : ADDRESSES_FULL;
}

/* ---- leftovers ---- */

static int same(const struct entry *a, const struct entry *b)
{
    return a->addr == b->addr && a->pid == b->pid;
}

static int as_before(const struct cf_entries *e, uint32_t i)
{
    return e->before && same(&e->now[i], &e->before[i]);
}

/* A physical address is that of one line, whatever pid stands with it: that of some entry before.
   A virtual one is so with its process alone. */
static int same_line(const struct entry *a, const struct entry *b, enum addresses kind)
{
    const int virtual = kind == ADDRESSES_PAGE ? page_aligned(a->addr) : kind == ADDRESSES_FULL;

    return a->addr == b->addr && (!virtual || (a->pid == b->pid && a->pid != PID_UNKNOWN));
}

/* How many other entries of the set name the same line, of which one alone is not left over, and
   how many of those did not stand there before. */
static uint32_t others(const struct cf_entries *e, uint32_t i, enum addresses kind, uint32_t *fresh)
{
    const uint32_t first = i - i % e->ways;
    uint32_t n = 0;

    *fresh = 0;
    for (uint32_t k = first; k < first + e->ways; k++)
        if (k != i && same_line(&e->now[i], &e->now[k], kind)) {
            n++;
            *fresh += !as_before(e, k);
        }
    return n;
}

static int is_stale(const struct cf_entries *e, uint32_t i, enum addresses kind,
                    struct cf_entries_count *count)
{
    const int old = as_before(e, i);
    uint32_t fresh;

    count->same += (uint32_t)old;
    if (e->stale == STALE_SAME && old)
        return 1;
    if (e->stale == STALE_NONE || !others(e, i, kind, &fresh))
        return 0;
    if (old && fresh)
        return 1;
    count->doubtful += old || fresh;
    return 0;
}

/* ---- addresses ---- */

struct range {
    uint64_t low, high;
};

/* Physical addresses that cannot be anything else, for those that might be. */
static struct range sure_physical(const struct cf_entries *e)
{
    struct range r = {UINT64_MAX, 0};

    for (uint32_t i = 0; i < e->sets * e->ways; i++) {
        const uint64_t addr = e->now[i].addr;

        if (empty(&e->now[i]) || page_aligned(addr) || !in_set_unresolved(e, addr, i / e->ways))
            continue;
        r.low = addr < r.low ? addr : r.low;
        r.high = addr > r.high ? addr : r.high;
    }
    return r;
}

/* Of resolved entries: whether this one was not, and holds a physical address. */
static int is_physical(const struct cf_entries *e, const struct entry *a, uint32_t set,
                       enum addresses kind, const struct range *sure,
                       struct cf_entries_count *count)
{
    const int fits = in_set_unresolved(e, a->addr, set);
    const int mapped = a->pid && a->pid != PID_UNKNOWN ? e->mapped(e->arg, a->pid, a->addr) : -1;

    if (mapped == 1 || !fits)
        return 0;
    if (kind == ADDRESSES_PAGE && !page_aligned(a->addr))
        return 1;
    if (mapped == 0 || !a->pid)
        return 1;
    count->guessed++;
    return a->addr >= sure->low - sure->low % PAGE_BYTES && a->addr <= sure->high;
}

uint32_t cf_entries_lines(const struct cf_entries *e, struct cf_entries_line *lines,
                          struct cf_entries_count *count)
{
    const enum addresses kind = e->addresses == ADDRESSES_AUTO ? cf_entries_kind(e) : e->addresses;
    const struct range sure = sure_physical(e);
    uint32_t n = 0;

    for (uint32_t i = 0; i < e->sets * e->ways; i++) {
        const struct entry *a = &e->now[i];
        const uint32_t set = i / e->ways;
        struct cf_entries_line *l = &lines[n];

        if (empty(a))
            continue;
        if (is_stale(e, i, kind, count)) {
            count->stale++;
            continue;
        }
        *l = (struct cf_entries_line){.set = set, .way = i % e->ways};
        if (kind == ADDRESSES_HALF || kind == ADDRESSES_PHYSICAL) {
            l->phys = kind == ADDRESSES_HALF ? a->addr * 2 : a->addr;
            count->unfit += !in_set(e, l->phys, set);
            l->pid = e->keep_pids ? a->pid : 0;
        } else if (is_physical(e, a, set, kind, &sure, count)) {
            l->phys = a->addr;
            l->pid = e->keep_pids ? a->pid : 0;
        } else {
            l->addr = a->addr;
            l->pid = a->pid;
            if (kind == ADDRESSES_PAGE && page_aligned(a->addr)) {
                l->addr |= place(e, set);
                count->placeless += (uint64_t)e->sets * e->line < PAGE_BYTES;
            } else {
                count->unfit += !(kind == ADDRESSES_PAGE ? in_set_unresolved(e, a->addr, set)
                                                         : in_page(e, a->addr, set));
            }
        }
        if (l->pid == PID_UNKNOWN)
            l->pid = 0;
        if (!l->pid)
            l->addr = 0; /* an address without its process says nothing */
        n++;
    }
    return n;
}
