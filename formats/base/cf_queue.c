/* SPDX-License-Identifier: BSD-2-Clause */
/* cf_queue.c - a binary heap that knows where each number stands (see cf_queue.h). */
#include <stdlib.h>

#include "formats/base/cf_memory.h"
#include "formats/base/cf_queue.h"

void cf_queue_free(struct cf_queue *q)
{
    free(q->heap);
    free(q->place);
    *q = (struct cf_queue){0};
}

static int is_before(const struct cf_queued *a, const struct cf_queued *b)
{
    return a->count != b->count ? a->count > b->count : a->number < b->number;
}

static void set(struct cf_queue *q, uint32_t place, struct cf_queued c)
{
    q->heap[place - 1] = c;
    q->place[c.number] = place;
}

/* `c` goes to the place or to one nearer to the front. */
static void move_up(struct cf_queue *q, uint32_t place, struct cf_queued c)
{
    while (place > 1 && is_before(&c, &q->heap[place / 2 - 1])) {
        set(q, place, q->heap[place / 2 - 1]);
        place /= 2;
    }
    set(q, place, c);
}

/* `c` goes to the front, or to the place to which it belongs from there. */
static void move_down(struct cf_queue *q, struct cf_queued c)
{
    uint32_t place = 1;

    for (uint64_t next; (next = 2 * (uint64_t)place) <= q->waiting; place = (uint32_t)next) {
        next += next < q->waiting && is_before(&q->heap[next], &q->heap[next - 1]);
        if (!is_before(&q->heap[next - 1], &c))
            break;
        set(q, place, q->heap[next - 1]);
    }
    set(q, place, c);
}

int cf_queue_put(struct cf_queue *q, uint32_t number, uint64_t count)
{
    if (cf_array_room(&q->heap, &q->room, q->waiting + (size_t)1, sizeof *q->heap) != 0 ||
        cf_array_cleared(&q->place, &q->places, number + (size_t)1, sizeof *q->place) != 0)
        return -1;
    move_up(q, ++q->waiting, (struct cf_queued){count, number});
    return 0;
}

void cf_queue_more(struct cf_queue *q, uint32_t number, uint64_t count)
{
    if (number < q->places && q->place[number])
        move_up(q, q->place[number], (struct cf_queued){count, number});
}

uint32_t cf_queue_take(struct cf_queue *q)
{
    const uint32_t first = q->heap[0].number;

    q->place[first] = 0;
    if (--q->waiting)
        move_down(q, q->heap[q->waiting]);
    return first;
}
