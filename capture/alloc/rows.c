/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rows.c - records of all rings, in the order of time, as rows. A program may write into the rings
 * what it likes: numbers are checked before they are used.
 */
#include <string.h>

#include "formats/base/cf_memory.h"
#include "parts.h"

enum { OFTEN = 512 }; /* records, until threads that wait for room are heard */

static int put_objects(struct cf_alloc *a)
{
    struct alloc_objects *o = &a->objects;
    const struct cf_values v[] = {{CF_TIME, o->time, 0},     {CF_PID, o->pid, 0},
                                  {CF_TID, o->tid, 0},       {CF_OP, o->op, 0},
                                  {CF_ADDR, o->addr, 0},     {CF_BYTES, o->bytes, 0},
                                  {CF_STACK_ID, o->stack, 0}};
    const uint32_t count = o->count;

    o->count = 0;
    a->result.objects += count;
    if (alloc_put_nodes(a) != 0)
        return -1;
    return count ? cf_writer_rows(a->w, CF_OBJECT, count, v, 7, NULL) : 0;
}

static int put_object(struct cf_alloc *a, uint64_t owner, enum cf_op op, uint64_t time,
                      uint64_t addr, uint64_t bytes, uint32_t node)
{
    struct alloc_objects *o = &a->objects;
    const uint32_t n = o->count++;

    if (time < a->last) {
        a->result.late++;
        time = a->last;
    }
    a->last = time;
    o->time[n] = time > a->origin ? time - a->origin : 0;
    o->pid[n] = (uint32_t)(owner >> 32);
    o->tid[n] = (uint32_t)owner;
    o->op[n] = (uint8_t)op;
    o->addr[n] = addr;
    o->bytes[n] = bytes;
    o->stack[n] = node;
    if (a->sites && op == CF_FREE)
        sites_released(a->sites, o->pid[n], addr);
    else if (a->sites && sites_allocated(a->sites, o->pid[n], addr, bytes, node) != 0)
        return -1;
    return o->count == ALLOC_BATCH ? put_objects(a) : 0;
}

/* Its stacks have nodes of their own from now on. */
static int new_image(struct cf_alloc *a, struct alloc_process *p, uint64_t owner)
{
    if (cf_array_room(&a->image_pid, &a->image_room, (size_t)a->images + 2,
                      sizeof(*a->image_pid)) != 0)
        return -1;
    p->image = ++a->images;
    a->image_pid[a->images] = (uint32_t)(owner >> 32);
    return 0;
}

/* The place's process, as it is at its first record, in *p; NULL where there is none. */
static int process_of(struct cf_alloc *a, unsigned ring, struct alloc_process **p)
{
    const uint32_t number = alloc_ring_of(a, ring)->process;

    *p = NULL;
    if (!number || number > CFA_PROCESSES)
        return 0;
    *p = &a->process[number - 1];
    return (*p)->image ? 0 : new_image(a, *p, a->ring[ring].owner);
}

static int new_stack(struct cf_alloc *a, struct alloc_process *p, uint64_t owner, uint64_t first,
                     const uint64_t *words, uint64_t at)
{
    const uint32_t number = (uint32_t)first;
    int64_t node;

    /* A process numbers its stacks one after the other. */
    if (number >> CFA_STACK_BITS || number > 2 * p->node_room + CFA_RING_MOST) {
        a->result.damaged++;
        return 0;
    }
    if (cf_array_cleared(&p->node, &p->node_room, (size_t)number + 1, sizeof(*p->node)) != 0)
        return -1;
    if (p->age != cfa_age(first) && new_image(a, p, owner) != 0)
        return -1;
    p->age = cfa_age(first);
    node = alloc_node(a, p->image, (uint32_t)(owner >> 32), words, at + 2, cfa_frames(first));
    if (node < 0)
        return -1;
    p->node[number] = (uint32_t)node;
    return 0;
}

/* The record that begins at `tail`, of so many words. */
static int take(struct cf_alloc *a, unsigned ring, uint64_t first, uint32_t length)
{
    const uint64_t *words = (const uint64_t *)(a->base + cfa_words_at(ring, a->ring_words));
    const uint64_t mask = a->ring_words - 1, at = a->ring[ring].tail;
    const uint64_t time = words[(at + 1) & mask], owner = a->ring[ring].owner;
    struct alloc_process *p;
    uint64_t stack = 0, bytes = 0;
    uint32_t node;

    if (process_of(a, ring, &p) != 0)
        return -1;
    if (!p)
        return 0;
    switch (first >> 56) {
    case CFA_STACK:
        return new_stack(a, p, owner, first, words, at);
    case CFA_FREE:
        return put_object(a, owner, CF_FREE, time, first & CFA_WHAT, 0, 0);
    case CFA_ALLOC:
        stack = words[(at + 2) & mask] >> CFA_SIZE_BITS;
        bytes = words[(at + 2) & mask] & ((1ULL << CFA_SIZE_BITS) - 1);
        break;
    default:
        stack = words[(at + 2) & mask];
        bytes = words[(at + length - 1) & mask];
    }
    node = stack < p->node_room ? p->node[stack] : 0;
    a->result.unknown += stack && !node; /* else the process has counted it */
    return put_object(a, owner, CF_ALLOC, time, first & CFA_WHAT, bytes, node);
}

/* The next record of a ring: its key, first word and length; 0 where there is none. */
static int peek(struct cf_alloc *a, unsigned ring, uint64_t *key, uint64_t *first, uint32_t *length)
{
    const uint64_t *words = (const uint64_t *)(a->base + cfa_words_at(ring, a->ring_words));
    const uint64_t mask = a->ring_words - 1;
    struct alloc_ring *r = &a->ring[ring];

    if (r->tail == r->head)
        return 0;
    *first = __atomic_load_n(&words[r->tail & mask], __ATOMIC_RELAXED);
    *length = cfa_words(*first);
    if (!*length || *length > r->head - r->tail) {
        a->result.damaged++;
        r->tail = r->head;
        return 0;
    }
    *key = words[(r->tail + 1) & mask] << 1 | (*first >> 56 != CFA_STACK);
    return 1;
}

/* A binary heap, the least key on top. */
static void sift_down(struct cf_alloc *a, uint32_t i)
{
    const struct alloc_next moved = a->heap[i];

    for (;;) {
        uint32_t least = 2 * i + 1;

        if (least >= a->heap_count)
            break;
        if (least + 1 < a->heap_count && a->heap[least + 1].key < a->heap[least].key)
            least++;
        if (a->heap[least].key >= moved.key)
            break;
        a->heap[i] = a->heap[least];
        i = least;
    }
    a->heap[i] = moved;
}

int cf_alloc_rows(struct cf_alloc *a, uint64_t until)
{
    uint64_t key, first, records = 0;
    uint32_t length;
    int r = 0;

    if (until > a->known)
        until = a->known;
    a->heap_count = 0;
    for (unsigned i = 0; i < CFA_RINGS; i++)
        if (a->ring[i].owner && peek(a, i, &key, &first, &length))
            a->heap[a->heap_count++] = (struct alloc_next){key, i};
    for (uint32_t i = a->heap_count; i-- > 0;)
        sift_down(a, i);
    while (r == 0 && a->heap_count && a->heap[0].key >> 1 <= until) {
        const unsigned ring = a->heap[0].ring;

        if (peek(a, ring, &key, &first, &length)) {
            r = take(a, ring, first, length);
            a->ring[ring].tail += length;
        }
        if (++records % OFTEN == 0)
            alloc_was_read(a, ring);
        if (peek(a, ring, &a->heap[0].key, &first, &length)) {
            sift_down(a, 0);
        } else {
            alloc_was_read(a, ring);
            a->heap[0] = a->heap[--a->heap_count];
            if (a->heap_count)
                sift_down(a, 0);
        }
    }
    for (uint32_t i = 0; i < a->heap_count; i++)
        alloc_was_read(a, a->heap[i].ring);
    if (a->last <= until)
        a->last = until + 1;
    return put_objects(a) != 0 ? -1 : r;
}
