/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stack_one.c - the exact distances of one LRU stack.
 *
 * The idea (Bennett and Kruskal, LRU stack processing, IBM Journal of Research and Development
 * 19(4), 1975): each reference takes the next slot of an array of bits and sets its bit; the bit
 * of the line's reference before is cleared. So there is one bit a line, in the order of recency,
 * and the distance is the number of bits behind that of the line. What makes it fast:
 *
 * - Front. The 32 most recent lines stay out of the array. Most references of real programs hit
 *   among them, and cost one look at 32 tags. A reference that does not, evicts the oldest,
 *   which only then takes a slot. Where programs have no locality the front is switched off.
 * - Tree. Counts of bits are kept for blocks of 448 bits, and for groups of 32 blocks, 1024 blocks,
 *   ..., each as a prefix within its group: one addition a level to count, one vector subtraction
 *   a level to clear. All bits of slots not given yet are ones, so that giving one changes nothing.
 *   The bits behind a line's are then the live lines less those before it.
 * - Bound. Where only distances up to a number are wanted, a slot is kept below which all lines are
 *   farther away. Such a line is taken like a new one: its bit stays, and is not counted.
 * - Table. It finds the slot of a line: buckets of five lines that fill a cache line. It grows in
 *   place (stack_table.c).
 * - Batches (stack_simd.c). References go in batches through three loops: front, table, tree. So
 *   the processor has the memory of many of them on its way at a time.
 * - Compaction. When the slots run out, lines get the numbers of their order as slots, and the tree
 *   is made anew. It has room for eight times the lines, so that this is rare.
 *
 * Memory: 12.8 bytes a place of the table, of which 47 to 70 % are used, and 1.3 bytes a line for
 * the tree: 20 to 29 bytes a line.
 */
#include <stdlib.h>
#include <string.h>

#include "formats/base/cf_hash.h"
#include "formats/base/cf_memory.h"
#include "filters/engine/distance/stack_parts.h"

/* Seven eighths of the numbers, less what is lost at the end. */
#define MOST_SLOTS (UINT64_C(7) * (1 << 29) - 4096)

enum { LEAST_SPARE = 2000 }; /* slots of a tree that are more than its lines: over two batches */

/* ---- the tree ---- */

static void free_tree(struct stack_tree *t)
{
    free(t->word);
    free(t->near);
    for (unsigned i = 0; i < t->levels; i++)
        free(t->far[i]);
    memset(t, 0, sizeof(*t));
}

static uint64_t over32(uint64_t n)
{
    return (n + 31) / 32;
}

/* Room for `slots` slots. */
static int make_tree(struct stack_tree *t, uint64_t slots)
{
    const uint64_t blocks = slots / 448 + 1;

    t->blocks = (uint32_t)blocks;
    t->word = cf_memory_take(blocks * 64);
    t->near = cf_memory_take(over32(blocks) * 64);
    for (uint64_t n = over32(blocks); n > 32; n = over32(n))
        t->far[t->levels++] = cf_memory_take(over32(n) * 2 * 64);
    for (unsigned i = 0; i < t->levels; i++)
        if (!t->far[i])
            free_tree(t);
    if (!t->word || !t->near)
        free_tree(t);
    return t->word ? 0 : -1;
}

/* The counts, of the bits. Counts of what is not there are never looked at. */
static void count_tree(const struct stack_tree *t, uint32_t *top)
{
    uint32_t all = 0, before[STACK_LEVELS + 2] = {0};

    for (uint32_t b = 0; b < t->blocks; b++) {
        uint64_t *const block = t->word + (uint64_t)b * 8;
        uint32_t index = b, n = 0;

        /* up from the block to the groups that begin with it */
        for (unsigned i = 0; i <= t->levels + 1; i++, index /= 32) {
            if (index % 32 == 0 && i <= t->levels)
                before[i] = all;
            if (i == 0)
                t->near[index] = (uint16_t)(all - before[i]);
            else if (i <= t->levels)
                t->far[i - 1][index] = all - before[i];
            else
                top[index] = all;
            if (index % 32)
                break;
        }
        block[0] = 0;
        for (unsigned k = 1; k < 8; k++) {
            block[0] |= (uint64_t)n << (9 * k - 9);
            n += stack_ones(block[k]);
        }
        all += n;
    }
}

/* Gives the lines in the tree the first slots in their order, those below `oldest` none, and
   counts them (the tree is not changed). */
static void renumber(struct stack *s)
{
    const uint32_t first = s->oldest ? stack_rank(s, s->oldest) : 0;

    for (uint32_t i = 0; i < s->buckets; i++) {
        struct stack_bucket *b = s->bucket + i;

        for (uint32_t k = 0; k < b->used; k++) {
            if (b->slot[k] < s->oldest)
                b->slot[k] = 0;
            else if (b->slot[k] != STACK_FRESH)
                b->slot[k] = stack_slot(stack_rank(s, b->slot[k]) - first);
        }
    }
    s->live -= first;
}

/* Gives all lines new slots, in the same order, so that there is room for more. The memory stays
   the same while it has nearly the room that is wanted. */
static int compact(struct stack *s)
{
    uint64_t slots = (s->lines + STACK_FRONT) * 8 + LEAST_SPARE;

    if (slots > MOST_SLOTS)
        slots = MOST_SLOTS;
    /* the lines of the front have none, whatever is written there */
    for (uint32_t i = 0; i < s->count; i++)
        *s->slot[i] = STACK_FRESH;
    if (s->tree.word)
        renumber(s);
    s->compactions++;
    s->tail = stack_slot(s->live);
    s->oldest = s->max || s->before ? stack_slot(0) : 0;
    if ((uint64_t)s->tree.blocks * 448 < slots / 8 * 7) {
        free_tree(&s->tree);
        if (make_tree(&s->tree, slots) != 0)
            return -1;
    }
    memset(s->tree.word, 0xff, (size_t)s->tree.blocks * 64);
    count_tree(&s->tree, s->top);
    return 0;
}

/* ---- a stack ---- */

struct stack *stack_new(uint64_t max)
{
    struct stack *s = calloc(1, sizeof(*s));

    if (!s)
        return NULL;
    s->max = max;
    s->seed = cf_seed(s).a;
    if (stack_table_make(s) != 0) {
        stack_free(s);
        return NULL;
    }
    return s;
}

void stack_free(struct stack *s)
{
    if (!s)
        return;
    stack_table_free(s);
    free_tree(&s->tree);
    free(s);
}

/* Slots that are left. */
static uint64_t spare(const struct stack *s)
{
    const uint64_t end = (uint64_t)s->tree.blocks * 512;

    return end > s->tail ? (end - s->tail) / 512 * 448 + (512 - s->tail % 512) % 512 : 0;
}

int stack_make_room(struct stack *s, uint32_t slots)
{
    return spare(s) < slots ? compact(s) : 0;
}

/* Oldest first. */
int stack_flush_front(struct stack *s)
{
    if (stack_make_room(s, s->count) != 0)
        return -1;
    while (s->count) {
        *s->slot[--s->count] = s->tail;
        s->tail = stack_next_slot(s->tail);
        s->live++;
    }
    return 0;
}

/* The counts do not know of it yet. */
static void remove_slot(struct stack *s, uint32_t slot)
{
    s->tree.word[slot >> 6] &= ~((uint64_t)1 << (slot & 63));
    s->live--;
}

int stack_keep(struct stack *s, int (*keep)(uint64_t line, const void *arg), const void *arg)
{
    if (stack_flush_front(s) != 0 || stack_table_keep(s, keep, arg, remove_slot) != 0)
        return -1;
    count_tree(&s->tree, s->top);
    return 0;
}

int stack_forget(struct stack *s)
{
    if (stack_flush_front(s) != 0)
        return -1;
    s->oldest = s->tail;
    s->before = 1;
    return 0;
}

uint32_t stack_order(const struct stack *s, uint64_t *line)
{
    const uint32_t first = s->oldest ? stack_rank(s, s->oldest) : 0;
    uint32_t n = 0;

    for (uint32_t i = 0; i < s->buckets; i++) {
        const struct stack_bucket *const b = s->bucket + i;

        for (uint32_t k = 0; k < b->used; k++)
            if (b->slot[k] >= s->oldest) {
                line[stack_rank(s, b->slot[k]) - first] = b->line[k];
                n++;
            }
    }
    return n;
}

uint64_t stack_bytes(const struct stack *s)
{
    return (uint64_t)s->tree.blocks * (64 + 2 + 4) + stack_table_bytes(s);
}
