/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * anon.c - memory without a name: which mmap() it is of.
 *
 * Its address is another one in each run, and the kernel makes one mapping of neighbours. So it is
 * told by the calls of the run that finds the mappings, and has the number that cf-resolve gives it
 * from a trace (filters/parts/resolve/mappings.c): the place of its address among all where the
 * program mapped such memory, in the order in which it did so first. Memory by mappings.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "capture/pages/pages.h"
#include "formats/base/cf_memory.h"

/* ---- calls ---- */

/* The first of `all` that ends behind `addr`, or `count`. */
static size_t at_or_behind(const struct pages_call *all, size_t count, uint64_t addr)
{
    size_t from = 0;

    while (from < count) {
        const size_t mid = from + (count - from) / 2;

        if (all[mid].end > addr)
            count = mid;
        else
            from = mid + 1;
    }
    return from;
}

static int insert(struct pages_call **all, size_t *count, size_t *room, size_t at,
                  struct pages_call call)
{
    if (cf_array_room(all, room, *count + 1, sizeof **all) != 0)
        return -1;
    memmove(*all + at + 1, *all + at, (*count - at) * sizeof **all);
    (*all)[at] = call;
    ++*count;
    return 0;
}

/* The number of memory that begins there. */
static int number_of(struct pages_calls *c, uint64_t start, uint32_t *number)
{
    const size_t at = at_or_behind(c->first, c->firsts, start);

    if (at == c->firsts || c->first[at].start != start) {
        const struct pages_call call = {
            .start = start, .end = start + 1, .number = (uint32_t)c->firsts + 1};

        if (insert(&c->first, &c->firsts, &c->first_room, at, call) != 0)
            return -1;
    }
    *number = c->first[at].number;
    return 0;
}

/* Nothing is mapped there any more. Pages of what is left keep their numbers; but what loses its
   begin counts anew, since programs that align memory cut as much as the address asks for. */
static int cut(struct pages_calls *c, uint64_t start, uint64_t end)
{
    size_t at = at_or_behind(c->live, c->count, start), to;

    if (at < c->count && c->live[at].start < start) {
        struct pages_call rest = c->live[at];

        c->live[at++].end = start;
        rest.start = end;
        if (rest.end > end)
            return insert(&c->live, &c->count, &c->room, at, rest);
    }
    if (at == c->count)
        return 0;
    for (to = at; to < c->count && c->live[to].end <= end; to++)
        ;
    memmove(c->live + at, c->live + to, (c->count - to) * sizeof *c->live);
    c->count -= to - at;
    if (at < c->count && c->live[at].start < end) {
        if (c->live[at].base == c->live[at].start)
            c->live[at].base = end;
        c->live[at].start = end;
    }
    return 0;
}

static int put(struct pages_calls *c, uint64_t start, uint64_t end, uint32_t number)
{
    const struct pages_call call = {start, end, start, number};

    if (cut(c, start, end) != 0)
        return -1;
    return insert(&c->live, &c->count, &c->room, at_or_behind(c->live, c->count, start), call);
}

static const struct pages_call *live_at(const struct pages_calls *c, uint64_t addr)
{
    const size_t at = at_or_behind(c->live, c->count, addr);

    return at < c->count && c->live[at].start <= addr ? &c->live[at] : NULL;
}

/* What the dynamic linker maps behind the data of a file is its bss. */
static int on_mmap(struct pages_calls *c, uint64_t start, uint64_t end, uint64_t flags)
{
    const struct pages_call *there = live_at(c, start), *before = live_at(c, start - 1);
    uint32_t number = 0;

    if (flags & MAP_ANONYMOUS) {
        if (there && there->number && there->end >= end)
            return 0;
        if (!(flags & MAP_FIXED && before && !before->number) && number_of(c, start, &number) != 0)
            return -1;
    }
    return put(c, start, end, number);
}

static int on_mremap(struct pages_calls *c, uint64_t old, uint64_t old_end, uint64_t start,
                     uint64_t end)
{
    const struct pages_call *there = live_at(c, old);
    uint32_t number = 0;

    if (!there)
        return 0;
    if (start == old && end <= old_end)
        return cut(c, end, old_end);
    if ((there->number && number_of(c, start, &number) != 0) || cut(c, old, old_end) != 0)
        return -1;
    return put(c, start, end, number);
}

int pages_calls_take(struct pages_calls *c, const struct cf_watch_call *call)
{
    const uint64_t *arg = call->argument, result = (uint64_t)call->result, up = PAGES_SIZE - 1;

    if (call->result < 0 && call->result >= -4095)
        return 0;
    switch (call->number) {
    case SYS_mmap:
        return on_mmap(c, result, (result + arg[1] + up) & ~up, arg[3]);
    case SYS_munmap:
        return cut(c, arg[0], (arg[0] + arg[1] + up) & ~up);
    case SYS_mremap:
        return on_mremap(c, arg[0], (arg[0] + arg[1] + up) & ~up, result,
                         (result + arg[2] + up) & ~up);
    default:
        return 0;
    }
}

/* ---- layouts ---- */

/* Into `l` a part of a mapping. */
static struct pages_mapping *add_part(struct pages_layout *l, const struct pages_mapping *of,
                                      uint64_t start, uint64_t end)
{
    struct pages_mapping *m;

    if (cf_array_room(&l->mapping, &l->room, l->count + 1, sizeof *l->mapping) != 0)
        return NULL;
    m = &l->mapping[l->count++];
    *m = *of;
    m->start = start;
    m->end = end;
    m->part = start != of->start;
    m->region = of->region ? strdup(of->region) : NULL;
    return of->region && !m->region ? NULL : m;
}

static int name_part(struct pages_mapping *m, const struct pages_call *call, uint32_t *others)
{
    char *text = NULL;

    if (call && call->number) {
        m->kind = PAGES_ANON;
        m->base = call->base;
    }
    if (m->kind != PAGES_ANON)
        return 0;
    /* of what no call made, the place */
    if (asprintf(&text, "[anon] %u", call && call->number ? call->number : ++*others) < 0)
        return -1;
    free(m->region);
    m->region = text;
    return 0;
}

int pages_layout_divide(struct pages_layout *l, const struct pages_calls *c)
{
    struct pages_layout into = {.text = l->text, .names = l->names, .bytes = l->bytes};
    uint32_t others = (uint32_t)c->firsts;
    int status = 0;

    for (size_t i = 0; i < l->count && !status; i++) {
        const struct pages_mapping *m = &l->mapping[i];
        const int divides =
            m->kind == PAGES_ANON || (m->kind != PAGES_NO_KIND && pages_anonymous(m));

        for (uint64_t at = m->start, to; at < m->end && !status; at = to) {
            const size_t next = at_or_behind(c->live, c->count, at);
            const struct pages_call *call = next < c->count ? &c->live[next] : NULL;
            struct pages_mapping *part;

            to = m->end;
            if (call && call->start > at) { /* of no call up to there */
                to = call->start < to ? call->start : to;
                call = NULL;
            } else if (call && call->end < to) {
                to = call->end;
            }
            to = divides ? to : m->end;
            part = add_part(&into, m, at, to);
            status = !part || (divides && name_part(part, call, &others) != 0) ? -1 : 0;
        }
    }
    l->text = l->names = NULL;
    pages_layout_free(l);
    *l = into;
    return status;
}

int pages_layout_like(struct pages_layout *l, const struct pages_layout *of)
{
    struct pages_layout into = {.text = l->text, .names = l->names, .bytes = l->bytes};
    size_t at = 0;
    int status = 0;

    for (size_t i = 0; i < l->count && !status; i++) {
        const struct pages_mapping *m = &l->mapping[i], *first = of->mapping + at;
        const int known = at < of->count;
        size_t parts = (size_t)known;

        while (at + parts < of->count && first[parts].part)
            parts++;
        at += parts;
        if (!known || first[parts - 1].end - first->start != m->end - m->start)
            parts = 1;
        for (size_t j = 0; j < parts && !status; j++) {
            const uint64_t moved = parts > 1 ? m->start - first->start : 0;
            struct pages_mapping *part =
                parts > 1 ? add_part(&into, m, first[j].start + moved, first[j].end + moved)
                          : add_part(&into, m, m->start, m->end);

            status = part ? 0 : -1;
            if (part && known && pages_anonymous(m) && first[j].kind == PAGES_ANON) {
                part->kind = PAGES_ANON;
                part->base = part->start - (first[j].start - first[j].base);
            }
        }
    }
    l->text = l->names = NULL;
    pages_layout_free(l);
    *l = into;
    return status;
}
