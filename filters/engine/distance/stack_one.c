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
 *   among them, and cost one look at 32 tags. A reference that does not, drives out the oldest,
 *   which only then takes a slot. Where programs have no locality the front is switched off.
 * - Tree. Counts of bits are kept for blocks of 448 bits, and for groups of 32 blocks, 1024 blocks,
 *   ..., each as a prefix within its group: one addition a level to count, one vector subtraction
 *   a level to clear. All bits of slots not given yet are ones, so that giving one changes nothing.
 *   The bits behind a line's are then the live lines less those before it.
 * - Bound. Where only distances up to a number are wanted, a slot is kept below which all lines are
 *   farther away. Such a line is taken like a new one: its bit stays, and nobody counts it.
 * - Table. It finds the slot of a line: buckets of five lines that fill a cache line. It grows in
 *   place (stack_table.c).
 * - Batches. References go in batches through three loops: front, table, tree. So the processor has
 *   the memory of many of them on its way at a time.
 * - Compaction. When the slots run out, lines get the numbers of their order as slots, and the tree
 *   is made anew. It has room for eight times the lines, so that this is rare.
 *
 * Memory: 12.8 bytes a place of the table, of which 47 to 70 % are used, and 1.3 bytes a line for
 * the tree: 20 to 29 bytes a line.
 */
#include <stdlib.h>
#include <string.h>

#include "formats/base/cf_memory.h"
#include "filters/engine/distance/stack_parts.h"

/* Seven eighths of the numbers, less what is lost at the end. */
#define MOST_SLOTS (UINT64_C(7) * (1 << 29) - 4096)

enum {
    LEAST_SPARE = 2000, /* slots of a tree that are more than its lines: over two batches */
    TRIAL = 1 << 14,    /* references after which the use of the front is judged */
    FEW = 5,            /* references that are taken one by one */
    BRIEF = 96,         /* a batch that vector code is not worth preparing for */
};

const uint8_t stack_step8[64] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
};
const uint16_t stack_step16[64] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
};
const uint32_t stack_step32[64] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
};

/* ---- the steps, portable ---- */

/* A list in the order of recency, in which the line that is referenced moves to the front. */
static uint32_t front_portable(struct stack *s, struct stack_work *w, const uint64_t *line,
                               uint32_t n, uint64_t *dist)
{
    uint64_t held[STACK_FRONT];
    uint16_t *origin = w->order;
    uint32_t count = s->count, m = 0;

    memcpy(held, s->front, sizeof held);
    for (unsigned i = 0; i < STACK_FRONT; i++)
        origin[i] = (uint16_t)i;
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t x = line[i];
        uint64_t carried = held[0];
        uint16_t from = origin[0];
        uint32_t d = 0;

        if (carried == x && count) {
            dist[i] = 0;
            continue;
        }
        while (++d < count) {
            const uint64_t next = held[d];
            const uint16_t next_from = origin[d];

            held[d] = carried;
            origin[d] = from;
            carried = next;
            from = next_from;
            if (carried == x)
                break;
        }
        if (d < count) {
            dist[i] = d;
            origin[0] = from;
        } else {
            if (count == STACK_FRONT) {
                w->evicted[m] = from;
            } else {
                if (count) {
                    held[count] = carried;
                    origin[count] = from;
                }
                count++;
            }
            w->line[m] = x;
            w->index[m] = (uint16_t)i;
            origin[0] = (uint16_t)(STACK_FRONT + m++);
        }
        held[0] = x;
    }
    return m;
}

static uint32_t match_portable(const struct stack_bucket *b, uint64_t line)
{
    uint32_t ways = 0;

    for (unsigned k = 0; k < STACK_WAYS; k++)
        ways |= (uint32_t)(b->line[k] == line) << k;
    return ways;
}

static void homes_portable(const struct stack *s, struct stack_work *w, const uint64_t *line,
                           uint32_t m)
{
    stack_homes(s, w, line, 0, m);
}

static uint32_t find_portable(struct stack *s, struct stack_work *w, const uint64_t *line,
                              uint32_t m)
{
    return stack_find_all(s, w, line, m, match_portable);
}

static void rank_portable(struct stack *s, struct stack_work *w, uint32_t m, uint32_t fill,
                          const uint16_t *evicted, uint64_t *dist, uint32_t nexts)
{
    stack_rank_all(s, w, m, fill, evicted, dist, nexts, 0, less16, less32, more8);
}

static void renumber_portable(struct stack *s)
{
    stack_renumber_all(s, 0);
}

const struct stack_code stack_portable = {front_portable, homes_portable, find_portable,
                                          rank_portable, renumber_portable};

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

/* All slots live. Counts of what is not there are never looked at. */
static void fill_tree(const struct stack_tree *t, uint32_t *top)
{
    uint64_t n = over32(t->blocks), count = 448 * 32;

    for (uint64_t b = 0; b < t->blocks; b++) {
        uint64_t *const block = t->word + b * 8;

        t->near[b] = (uint16_t)(b % 32 * 448);
        memset(block, 255, 64);
        block[0] = 0;
        for (unsigned k = 1; k < 7; k++) /* 64 in each word */
            block[0] += (STACK_FIELDS << 9 * k & INT64_MAX) * 64;
    }
    for (unsigned i = 0; i < t->levels; i++, count *= 32, n = over32(n))
        for (uint64_t g = 0; g < over32(n) * 32; g++)
            t->far[i][g] = (uint32_t)(g % 32 * count);
    for (unsigned g = 0; g < 32; g++)
        top[g] = (uint32_t)(g * count);
}

/* Gives all lines new slots, in the same order, so that there is room for more. The memory stays
   the same while it has nearly the room that is wanted. */
static int compact(struct stack *s, const struct stack_code *code)
{
    uint64_t slots = (s->lines + STACK_FRONT) * 8 + LEAST_SPARE;

    if (slots > MOST_SLOTS)
        slots = MOST_SLOTS;
    /* the lines of the front have none, whatever is written there */
    for (uint32_t i = 0; i < s->count; i++)
        *s->slot[i] = STACK_FRESH;
    if (s->tree.word)
        code->renumber(s);
    s->compactions++;
    s->tail = stack_slot(s->live);
    s->oldest = s->max ? stack_slot(0) : 0;
    if ((uint64_t)s->tree.blocks * 448 < slots / 8 * 7) {
        free_tree(&s->tree);
        if (make_tree(&s->tree, slots) != 0)
            return -1;
    }
    fill_tree(&s->tree, s->top);
    return 0;
}

/* ---- a stack ---- */

struct stack *stack_new(uint64_t max)
{
    struct stack *s = calloc(1, sizeof(*s));

    if (!s)
        return NULL;
    s->max = max;
    /* nobody can choose lines that meet in one bucket, who does not know where memory lies */
    s->seed = (uint64_t)(uintptr_t)s * 0x9e3779b97f4a7c15u;
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

static int make_room(struct stack *s, const struct stack_code *code, uint32_t slots)
{
    return spare(s) < slots ? compact(s, code) : 0;
}

/* Moves `oldest` up by whole blocks. The lines behind a slot never become fewer: each that leaves
   its place there gets a later one. */
static void move_oldest(struct stack *s)
{
    if (!s->max || s->live + (uint64_t)s->count <= s->max)
        return;
    for (;;) {
        const uint32_t next = (s->oldest >> 9) * 512 + 512 + 64;

        if (next >= s->tail || s->live + (uint64_t)s->count - stack_rank(s, next, 0) <= s->max)
            return;
        s->oldest = next;
    }
}

/* Lines of the front go into the tree, oldest first. */
static int flush_front(struct stack *s, const struct stack_code *code)
{
    if (make_room(s, code, s->count) != 0)
        return -1;
    while (s->count) {
        *s->slot[--s->count] = s->tail;
        s->tail = stack_next_slot(s->tail);
        s->live++;
    }
    return 0;
}

/* The front costs more than it spares where few references hit in it. */
static int judge_front(struct stack *s, const struct stack_code *code)
{
    const uint64_t near = s->near, seen = s->seen;

    s->near = s->seen = 0;
    if (s->off) {
        s->off = near * 100 <= seen * 60;
        return 0;
    }
    if (near * 100 >= seen * 45)
        return 0;
    s->off = 1;
    return flush_front(s, code);
}

/* Homes of m lines, and the first of them fetched into the cache. */
static void fetch_homes(const struct stack *s, const struct stack_code *code, struct stack_work *w,
                        const uint64_t *line, uint32_t m)
{
    code->homes(s, w, line, m);
    for (uint32_t k = 0; k < m && k < STACK_AHEAD; k++)
        __builtin_prefetch(w->home[k]);
}

/* Places in the table of the m lines that were not in the front, whose homes are noted, and of
   those that are, where the table was made anew. */
static int find(struct stack *s, const struct stack_code *code, struct stack_work *w,
                const uint64_t *line, uint32_t m)
{
    const uint64_t lines = s->lines;
    uint32_t found = code->find(s, w, line, m);

    if (found < m) {
        while (found < m) {
            if (stack_table_grow(s) != 0)
                return -1;
            fetch_homes(s, code, w, line, m);
            found = code->find(s, w, line, m);
        }
        fetch_homes(s, code, w, s->front, s->count);
        (void)code->find(s, w, s->front, s->count);
        memcpy(s->slot, w->slot + STACK_FRONT, sizeof s->slot);
        fetch_homes(s, code, w, line, m);
        (void)code->find(s, w, line, m);
    }
    memcpy(w->slot, s->slot, sizeof s->slot);
    s->cold += s->lines - lines;
    return 0;
}

/* The front after a batch in which m lines came into it. */
static void renew_front(struct stack *s, const struct stack_work *w, const uint64_t *line,
                        uint32_t m)
{
    uint64_t old[STACK_FRONT];

    memcpy(old, s->front, sizeof old);
    s->count = s->count + m < STACK_FRONT ? s->count + m : STACK_FRONT;
    for (uint32_t i = 0; i < s->count; i++) {
        const uint16_t from = w->order[i];

        s->front[i] = from < STACK_FRONT ? old[from] : line[from - STACK_FRONT];
        s->slot[i] = w->slot[from];
    }
}

/* Without a front: batches in which the table's memory for the next is on its way. */
static int far_lines(struct stack *s, const struct stack_code *code, struct stack_work *w,
                     const uint64_t *line, uint32_t n, uint64_t *dist)
{
    uint32_t m = n < STACK_FAR ? n : STACK_FAR;

    fetch_homes(s, code, w, line, m);
    for (uint32_t done = 0, next; done < n; done += m, m = next) {
        next = n - done - m < STACK_FAR ? n - done - m : STACK_FAR;
        if (make_room(s, code, m) != 0 || find(s, code, w, line + done, m) != 0)
            return -1;
        code->homes(s, w, line + done + m, next);
        code->rank(s, w, m, 0, NULL, dist + done, next);
        move_oldest(s);
        for (uint32_t k = 0; k < m; k += 4) /* every fourth tells enough of them */
            if (dist[done + k] < STACK_FRONT)
                s->near += m - k < 4 ? m - k : 4;
    }
    return 0;
}

static int front_lines(struct stack *s, const struct stack_code *code, struct stack_work *w,
                       const uint64_t *line, uint32_t n, uint64_t *dist)
{
    const uint32_t fill = STACK_FRONT - s->count;
    const uint32_t m =
        fill || n < BRIEF ? front_portable(s, w, line, n, dist) : code->front(s, w, line, n, dist);

    s->near += n - m;
    fetch_homes(s, code, w, w->line, m);
    if (make_room(s, code, m > fill ? m - fill : 0) != 0 || find(s, code, w, w->line, m) != 0)
        return -1;
    code->rank(s, w, m, fill, w->evicted, w->dist, 0);
    move_oldest(s);
    for (uint32_t k = 0; k < m; k++)
        dist[w->index[k]] = w->dist[k];
    renew_front(s, w, w->line, m);
    return 0;
}

/* One reference, where a batch would cost more than the work: a stack of a small set. */
static int one_line(struct stack *s, const struct stack_code *code, struct stack_work *w,
                    const uint64_t *line, uint64_t *dist)
{
    const uint64_t x = *line;
    uint32_t *slot;
    uint32_t d = 0;

    while (d < s->count && s->front[d] != x)
        d++;
    if (d == s->count)
        return front_lines(s, code, w, line, 1, dist);
    slot = s->slot[d];
    memmove(s->front + 1, s->front, d * sizeof(*s->front));
    memmove(s->slot + 1, s->slot, d * sizeof(*s->slot));
    s->front[0] = x;
    s->slot[0] = slot;
    s->near++;
    *dist = d;
    return 0;
}

int stack_lines(struct stack *s, const struct stack_code *code, struct stack_work *w,
                const uint64_t *line, uint32_t n, uint64_t *dist)
{
    for (uint32_t done = 0, part; done < n; done += part) {
        uint32_t most;
        int status;

        if (s->seen >= TRIAL && judge_front(s, code) != 0)
            return -1;
        most = s->off ? TRIAL : n < FEW ? 1 : STACK_BATCH;
        part = n - done < most ? n - done : most;
        s->seen += part;
        if (s->off)
            status = far_lines(s, code, w, line + done, part, dist + done);
        else if (n < FEW)
            status = one_line(s, code, w, line + done, dist + done);
        else
            status = front_lines(s, code, w, line + done, part, dist + done);
        if (status != 0)
            return -1;
    }
    return 0;
}

static void remove_slot(struct stack *s, uint32_t slot)
{
    const unsigned levels = s->tree.levels;

    (void)stack_take(&s->tree, slot, levels, 0, less16, less32);
    for (uint32_t i = (slot >> (14 + 5 * levels)) + 1; i < 32; i++)
        s->top[i]--;
    s->live--;
}

int stack_keep(struct stack *s, int (*keep)(uint64_t line, const void *arg), const void *arg)
{
    if (flush_front(s, &stack_portable) != 0)
        return -1;
    return stack_table_keep(s, keep, arg, remove_slot);
}

uint64_t stack_bytes(const struct stack *s)
{
    return (uint64_t)s->tree.blocks * (64 + 2 + 4) + stack_table_bytes(s);
}
