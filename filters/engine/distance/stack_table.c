/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stack_table.c - the table of lines of one stack, which grows in place.
 *
 * The home of a line rises with its hash, so that in a larger table all lines keep their order.
 * Then nothing is needed but the memory behind the table: from the last bucket down, each is
 * emptied, and its lines go to homes farther up that were emptied before. Only the first buckets,
 * where old and new homes are close together or the same, are copied aside.
 *
 * A large table is a mapping of its own, which the system enlarges without a copy. What is read at
 * random needs huge pages, and malloc() may give memory back that is known to be in small ones.
 *
 * Memory: 64 bytes a bucket, also for each that is copied aside; while a table is small, the old
 * and the new one at a time.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "formats/base/cf_memory.h"
#include "filters/engine/distance/stack_parts.h"

enum {
    HUGE_PAGE = 1 << 21,
    MAPPED = 2 * HUGE_PAGE, /* bytes of a table from which on it is a mapping */
    FIRST = 2,              /* buckets of a new table */
};

static size_t bytes_of(uint64_t buckets)
{
    return buckets * sizeof(struct stack_bucket);
}

/* Address space that begins with a huge page. NULL where there is none. */
static void *map(size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), whole = (bytes + page - 1) / page * page;
    char *p, *begin;

    /* cppcheck-suppress invalidFunctionArg */
    p = mmap(NULL, whole + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    begin = (char *)(((uintptr_t)p + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE);
    (void)munmap(begin + whole, (size_t)(p + HUGE_PAGE - begin));
    if (begin != p)
        (void)munmap(p, (size_t)(begin - p));
    return begin;
}

/* As realloc(); what is new is 0. */
static struct stack_bucket *resize(struct stack_bucket *old, uint64_t from, uint64_t to)
{
    const size_t had = bytes_of(from), bytes = bytes_of(to);
    void *p;

    if (bytes < MAPPED) {
        p = cf_memory_take(bytes);
        if (p)
            memset((char *)p + had, 0, bytes - had);
    } else {
        p = map(bytes);
        if (p)
            (void)madvise(p, bytes, MADV_HUGEPAGE); /* refused, these are common pages */
    }
    if (!p)
        return NULL;
    if (had >= MAPPED) {
        if (mremap(old, had, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, p) != MAP_FAILED)
            return p;
        (void)munmap(p, bytes);
        return NULL;
    }
    if (had)
        memcpy(p, old, had);
    free(old);
    return p;
}

static void release(struct stack_bucket *b, uint64_t buckets)
{
    if (bytes_of(buckets) < MAPPED)
        free(b);
    else
        (void)munmap(b, bytes_of(buckets));
}

/* At least 1.4 times as many; of whole huge pages where that comes near. */
static uint64_t more(uint64_t buckets)
{
    const uint64_t most = buckets < 64 ? buckets * 2 : buckets + buckets / 2;
    const uint64_t whole = bytes_of(most) / HUGE_PAGE * (HUGE_PAGE / bytes_of(1));

    return whole * 5 >= buckets * 7 ? whole : most;
}

/* Puts in what is known not to be there. */
static void put(struct stack *s, uint64_t line, uint32_t slot)
{
    struct stack_bucket *b = stack_home(s, stack_hash(s->seed, line));
    uint32_t behind = 0;

    for (; b->used == STACK_WAYS; behind++)
        b = stack_behind(s, b);
    b->line[b->used] = line;
    b->slot[b->used++] = slot;
    if (behind > s->behind)
        s->behind = behind;
}

static void put_all(struct stack *s, const struct stack_bucket *from)
{
    for (uint32_t k = 0; k < from->used; k++)
        put(s, from->line[k], from->slot[k]);
}

int stack_table_make(struct stack *s)
{
    s->bucket = resize(NULL, 0, FIRST);
    s->buckets = s->bucket ? FIRST : 0;
    return s->bucket ? 0 : -1;
}

void stack_table_free(struct stack *s)
{
    if (s->bucket)
        release(s->bucket, s->buckets);
}

int stack_table_grow(struct stack *s)
{
    const uint32_t old = s->buckets;
    const uint64_t buckets = more(old);
    /* A line in bucket i has its home at i - behind or later, and 1.4 times that is above i from
       i = 3.5 * behind + 2.5 on. Lines that went around the end are among the first, too. */
    const uint64_t near = 4 * (uint64_t)s->behind + 16, aside = near < old ? near : old;
    struct stack_bucket *first, *b;

    if (s->lines >= (uint64_t)1 << 31)
        return -1;
    first = malloc(bytes_of(aside));
    if (!first)
        return -1;
    b = resize(s->bucket, old, buckets);
    if (!b) {
        free(first);
        return -1;
    }
    s->bucket = b;
    s->buckets = (uint32_t)buckets;
    s->behind = 0;
    memcpy(first, b, bytes_of(aside));
    memset(b, 0, bytes_of(aside));
    for (uint32_t i = old; i-- > aside;) {
        const struct stack_bucket here = b[i];

        b[i].used = 0;
        put_all(s, &here);
    }
    for (uint32_t i = 0; i < aside; i++)
        put_all(s, first + i);
    free(first);
    return 0;
}

int stack_table_keep(struct stack *s, int (*keep)(uint64_t line, const void *arg), const void *arg,
                     void (*dropped)(struct stack *s, uint32_t slot))
{
    struct stack_bucket *old = s->bucket, *b = resize(NULL, 0, s->buckets);

    if (!b)
        return -1;
    s->bucket = b;
    s->behind = 0;
    for (uint32_t i = 0; i < s->buckets; i++)
        for (uint32_t k = 0; k < old[i].used; k++) {
            if (keep(old[i].line[k], arg)) {
                put(s, old[i].line[k], old[i].slot[k]);
            } else {
                dropped(s, old[i].slot[k]);
                s->lines--;
            }
        }
    release(old, s->buckets);
    return 0;
}

void stack_each(const struct stack *s, void (*f)(uint64_t line, void *arg), void *arg)
{
    for (uint32_t i = 0; i < s->buckets; i++)
        for (uint32_t k = 0; k < s->bucket[i].used; k++)
            f(s->bucket[i].line[k], arg);
}

uint64_t stack_table_bytes(const struct stack *s)
{
    return bytes_of(s->buckets);
}
