/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * decode_calls.c - calling contexts, and the stacks of threads.
 */
#include <stdlib.h>
#include <string.h>

#include "decode_calls.h"
#include "formats/base/cf_memory.h"

enum {
    FIRST_EDGES = 1 << 12, /* powers of two */
    MOST_EDGES = 1 << 23,
    /* How far a stack pointer may be from the frames that are known, bytes: it is this stack's */
    NEAR = 1024,    /* in any case, */
    FAR = 64 << 10, /* or as nothing speaks for another one. */
};

/* From a context, by a call that returns to pc, to another one. */
struct cf_calls_edge {
    uint64_t pc;
    uint32_t from, image, to; /* image 0: free */
};

int cf_calls_init(struct cf_calls *c, uint32_t depth, uint32_t *ids)
{
    memset(c, 0, sizeof(*c));
    c->depth = depth;
    c->ids = ids;
    c->edges_room = FIRST_EDGES;
    c->edge = calloc(c->edges_room, sizeof(*c->edge));
    if (!c->edge || cf_array_cleared(&c->node, &c->nodes_room, 1024, sizeof(*c->node)) != 0 ||
        cf_array_cleared(&c->image, &c->images_room, 16, sizeof(*c->image)) != 0)
        return -1;
    c->nodes = c->written = c->images = 1;
    return 0;
}

void cf_calls_free(struct cf_calls *c)
{
    free(c->node);
    free(c->image);
    free(c->edge);
    memset(c, 0, sizeof(*c));
}

uint32_t cf_calls_image(struct cf_calls *c, uint32_t pid, uint32_t parent, uint32_t nodes)
{
    if (c->images == UINT32_MAX ||
        cf_array_room(&c->image, &c->images_room, c->images + 1, sizeof(*c->image)) != 0)
        return 0;
    c->image[c->images] = (struct cf_calls_image){pid, parent, parent ? nodes : 0};
    return (uint32_t)c->images++;
}

/* ---- contexts ---- */

/* Where an edge is, or belongs. */
static struct cf_calls_edge *find_edge(const struct cf_calls *c, uint32_t image, uint32_t from,
                                       uint64_t pc)
{
    const size_t mask = c->edges_room - 1;
    uint64_t h = (pc ^ (uint64_t)from << 40 ^ from ^ (uint64_t)image << 20) * 0x9e3779b97f4a7c15;
    size_t i = h >> 32 & mask;

    while (c->edge[i].image &&
           (c->edge[i].pc != pc || c->edge[i].from != from || c->edge[i].image != image))
        i = (i + 1) & mask;
    return &c->edge[i];
}

static int grow_edges(struct cf_calls *c)
{
    struct cf_calls_edge *old = c->edge;
    const size_t room = c->edges_room;

    c->edge = calloc(2 * room, sizeof(*c->edge));
    if (!c->edge) {
        c->edge = old;
        return -1;
    }
    c->edges_room = 2 * room;
    for (size_t i = 0; i < room; i++)
        if (old[i].image)
            *find_edge(c, old[i].image, old[i].from, old[i].pc) = old[i];
    free(old);
    return 0;
}

static int remember(struct cf_calls *c, uint32_t image, uint32_t from, uint64_t pc, uint32_t to)
{
    if (2 * (c->edges + 1) > c->edges_room) {
        if (c->edges_room >= MOST_EDGES)
            return 0; /* it is found again the long way */
        if (grow_edges(c) != 0)
            return -1;
    }
    *find_edge(c, image, from, pc) = (struct cf_calls_edge){pc, from, image, to};
    c->edges++;
    return 0;
}

/* What the image that forked knew when it did; 0: nothing. */
static uint32_t inherited(const struct cf_calls *c, uint32_t image, uint32_t from, uint64_t pc)
{
    uint32_t nodes = c->image[image].nodes;

    while (from < nodes) {
        const struct cf_calls_edge *e;

        image = c->image[image].parent;
        e = find_edge(c, image, from, pc);
        if (e->image && e->to < nodes)
            return e->to;
        if (c->image[image].nodes < nodes)
            nodes = c->image[image].nodes;
    }
    return 0;
}

static int64_t new_node(struct cf_calls *c, uint32_t image, uint32_t from, uint64_t pc)
{
    if (*c->ids == UINT32_MAX ||
        cf_array_room(&c->node, &c->nodes_room, c->nodes + 1, sizeof(*c->node)) != 0)
        return -1;
    c->node[c->nodes] = (struct cf_calls_node){.pc = pc,
                                               .parent = from,
                                               .id = ++*c->ids,
                                               .image = image,
                                               .depth = (uint16_t)(c->node[from].depth + 1)};
    c->stubs += !pc;
    return (int64_t)c->nodes++;
}

/* The context of a call from another one: -1 without memory. */
static int64_t callee(struct cf_calls *c, uint32_t image, uint32_t from, uint64_t pc)
{
    const struct cf_calls_edge *e = find_edge(c, image, from, pc);
    int64_t to;

    if (__builtin_expect(e->image != 0, 1))
        return e->to;
    if (from && !c->node[from].pc)
        return from;
    to = inherited(c, image, from, pc);
    for (uint32_t i = from; i && !to; i = c->node[i].parent)
        if (c->node[i].pc == pc)
            to = i;
    if (!to && pc) {
        const int full = c->nodes - c->stubs >= CF_CALLS_NODES;

        if (full || c->node[from].depth >= c->depth)
            to = callee(c, image, from, 0);
    }
    if (!to)
        to = new_node(c, image, from, pc);
    return to < 0 || remember(c, image, from, pc, (uint32_t)to) != 0 ? -1 : to;
}

/* The same for a call that happens now. */
static int64_t called(struct cf_calls *c, uint32_t image, uint32_t from, uint64_t pc)
{
    const int64_t to = callee(c, image, from, pc);

    if (to > 0 && __builtin_expect(!c->node[to].pc, 0))
        ++*(c->node[to].depth > c->depth ? &c->deeper : &c->cut);
    return to;
}

/* ---- stacks ---- */

static struct cf_calls_stack *current(struct cf_calls_thread *t)
{
    return &t->stack[t->now];
}

int cf_calls_thread_init(struct cf_calls_thread *t)
{
    memset(t, 0, sizeof(*t));
    if (cf_array_cleared(&t->stack, &t->stacks_room, 1, sizeof(*t->stack)) != 0)
        return -1;
    t->stacks = 1;
    return 0;
}

void cf_calls_thread_free(struct cf_calls_thread *t)
{
    for (size_t i = 0; i < t->stacks; i++)
        free(t->stack[i].frame);
    free(t->stack);
    memset(t, 0, sizeof(*t));
}

static int thread_copy(struct cf_calls_thread *to, const struct cf_calls_thread *from)
{
    *to = (struct cf_calls_thread){.now = from->now, .switches = from->switches};
    if (cf_array_cleared(&to->stack, &to->stacks_room, from->stacks, sizeof(*to->stack)) != 0)
        return -1;
    for (; to->stacks < from->stacks; to->stacks++) {
        const struct cf_calls_stack *s = &from->stack[to->stacks];
        struct cf_calls_stack copy = *s;

        copy.frame = NULL;
        copy.room = 0;
        if (s->frames && cf_array_room(&copy.frame, &copy.room, s->frames, sizeof(*s->frame)) != 0)
            return -1;
        if (s->frames)
            memcpy(copy.frame, s->frame, s->frames * sizeof(*s->frame));
        to->stack[to->stacks] = copy;
    }
    return 0;
}

static int push(struct cf_calls_stack *s, uint64_t sp, int signal)
{
    if (cf_array_room(&s->frame, &s->room, s->frames + 1, sizeof(*s->frame)) != 0)
        return -1;
    s->frame[s->frames++] = (struct cf_calls_frame){sp, s->node, signal};
    if (sp > s->top)
        s->top = sp;
    return 0;
}

static void pop(struct cf_calls_stack *s)
{
    s->node = s->frame[--s->frames].node;
}

/* The place for one more stack: what is no longer in use, or was used least recently. */
static struct cf_calls_stack *place_stack(struct cf_calls *c, struct cf_calls_thread *t)
{
    struct cf_calls_stack *s = NULL;

    for (size_t i = 0; i < t->stacks; i++) {
        int needed = i == t->now;

        for (size_t k = 0; k < t->stacks; k++)
            needed |= t->stack[k].handler == (int)i + 1;
        if (!needed && (!t->stack[i].live || t->stacks >= CF_CALLS_STACKS) &&
            (!s || !t->stack[i].live || t->stack[i].used < s->used))
            s = &t->stack[i];
        if (s && !s->live)
            break;
    }
    if (s) {
        c->lost_stacks += s->live;
        free(s->frame);
        memset(s, 0, sizeof(*s));
    } else if (t->stacks >= CF_CALLS_STACKS) {
        c->lost_stacks++;
        cf_calls_unknown(t);
        s = &t->stack[1];
    } else {
        if (cf_array_cleared(&t->stack, &t->stacks_room, t->stacks + 1, sizeof(*t->stack)) != 0)
            return NULL;
        s = &t->stack[t->stacks++];
    }
    return s;
}

/* Where its innermost frame is. */
static uint64_t bottom(const struct cf_calls_stack *s)
{
    return s->frames ? s->frame[s->frames - 1].sp : s->top;
}

/* Whether the function that its context began with has returned: what follows is the library's. */
static int is_over(const struct cf_calls_stack *s)
{
    return s->begin && s->frames && bottom(s) > s->begin;
}

/* A new stack, whose first context this is. */
static int new_stack(struct cf_calls *c, struct cf_calls_thread *t, uint64_t top, uint32_t node,
                     int handler)
{
    struct cf_calls_stack *s = place_stack(c, t);

    if (!s)
        return -1;
    current(t)->live = !is_over(current(t));
    *s = (struct cf_calls_stack){.top = top,
                                 .begin = handler ? 0 : top,
                                 .node = node,
                                 .handler = handler,
                                 .live = 1,
                                 .used = ++t->switches};
    t->now = (size_t)(s - t->stack);
    return 0;
}

static void leave_handler(struct cf_calls_thread *t)
{
    struct cf_calls_stack *s = current(t);

    t->now = (size_t)s->handler - 1;
    s->live = s->handler = 0;
}

/* Whether one of its calls returns to where the pointer is. */
static int has_frame(const struct cf_calls_stack *s, uint64_t sp)
{
    size_t i = s->frames;

    while (i && s->frame[i - 1].sp < sp)
        i--;
    return i && s->frame[i - 1].sp == sp;
}

/* Whether the pointer is not the current stack's. A return leads to where a call was, so not far
 * below the last; but a function with much on its stack may set the pointer anew. */
static int is_elsewhere(const struct cf_calls_thread *t, uint64_t sp, unsigned kind)
{
    const struct cf_calls_stack *s = &t->stack[t->now];
    const uint64_t last = bottom(s);

    if (sp >= last || kind == CF_WIRE_CALLS || !s->frames || last - sp <= NEAR)
        return s->top && sp > s->top && sp - s->top > NEAR;
    if (kind == CF_WIRE_RETURNS || last - sp > FAR)
        return 1;
    for (size_t i = 0; i < t->stacks; i++)
        if (i != t->now && t->stack[i].live && has_frame(&t->stack[i], sp))
            return 1;
    return 0;
}

/* Whether the context that was left on this stack goes on at the pointer: where one of its calls
 * returns to, or close below the last, as a jump needs no call to leave. A new one begins at the
 * top, or in memory that was a stack once and where no call returns to. What setjmp() began may
 * have its calls where it began itself. */
static int goes_on(const struct cf_calls_stack *s, uint64_t sp, unsigned kind)
{
    const uint64_t last = bottom(s);

    if (!s->begin)
        return sp >= last || last - sp <= FAR;
    return sp < s->begin + (kind == CF_WIRE_MOVES) &&
           (has_frame(s, sp) || (kind != CF_WIRE_RETURNS && sp < last && last - sp <= NEAR));
}

/* Goes on to the stack that the pointer is in: of several the last used, as it has the memory. */
static int switch_stack(struct cf_calls *c, struct cf_calls_thread *t, uint64_t sp, unsigned kind)
{
    struct cf_calls_stack *was = current(t), *to = NULL;

    for (size_t i = 0; i < t->stacks; i++) {
        struct cf_calls_stack *s = &t->stack[i];

        if (i == t->now || !s->live || sp > s->top + NEAR)
            continue;
        if (!goes_on(s, sp, kind))
            s->live = sp < bottom(s);
        else if (!to || s->used > to->used)
            to = s;
    }
    if (!to)
        return new_stack(c, t, sp, was->node, 0);
    was->live = !is_over(was);
    if (was->handler == (int)(to - t->stack) + 1)
        leave_handler(t);
    t->now = (size_t)(to - t->stack);
    to->used = ++t->switches;
    return 0;
}

/* Frames that are no more on the stack; with `equal` also one at the pointer. */
static void settle(struct cf_calls_stack *s, uint64_t sp, int equal)
{
    while (s->frames &&
           (s->frame[s->frames - 1].sp < sp || (equal && s->frame[s->frames - 1].sp == sp)))
        pop(s);
}

int cf_calls_end(struct cf_calls *c, struct cf_calls_thread *t, uint32_t image,
                 const struct cf_wire_end *end, uint64_t sp)
{
    struct cf_calls_stack *s = current(t);
    int64_t node;

    if (__builtin_expect(is_elsewhere(t, sp, end->kind), 0)) {
        if (switch_stack(c, t, sp, end->kind) != 0)
            return -1;
        s = current(t);
    }
    settle(s, sp, end->kind == CF_WIRE_MOVES || end->pushes);
    if (end->kind == CF_WIRE_RETURNS && s->frames && s->frame[s->frames - 1].sp == sp)
        pop(s);
    if (end->kind != CF_WIRE_CALLS)
        return 0;
    node = called(c, image, s->node, end->back);
    if (node < 0 || push(s, sp, 0) != 0)
        return -1;
    s->node = (uint32_t)node;
    return 0;
}

int cf_calls_signal(struct cf_calls *c, struct cf_calls_thread *t, uint32_t image,
                    const struct cf_wire_signal *signal)
{
    struct cf_calls_stack *s = current(t);
    int64_t node;

    settle(s, signal->sp, 0);
    node = called(c, image, s->node, signal->pc + 1);
    if (node < 0)
        return -1;
    if (signal->high)
        return new_stack(c, t, signal->high, (uint32_t)node, (int)t->now + 1);
    if (push(s, signal->sp, 1) != 0)
        return -1;
    s->node = (uint32_t)node;
    return 0;
}

void cf_calls_handled(struct cf_calls_thread *t)
{
    struct cf_calls_stack *s = current(t);
    size_t i = s->frames;

    while (i > 0 && !s->frame[i - 1].signal)
        i--;
    if (!i && s->handler)
        leave_handler(t);
    while (i && s->frames >= i)
        pop(s);
}

void cf_calls_unknown(struct cf_calls_thread *t)
{
    for (size_t i = 0; i < t->stacks; i++) {
        free(t->stack[i].frame);
        memset(&t->stack[i], 0, sizeof(t->stack[i]));
    }
    t->now = 0;
}

/* ---- forks ---- */

static void drop_fork(struct cf_calls_forks *f, size_t i)
{
    cf_calls_thread_free(&f->fork[i].thread);
    memmove(&f->fork[i], &f->fork[i + 1], (--f->count - i) * sizeof(*f->fork));
}

int cf_calls_fork(const struct cf_calls *c, struct cf_calls_forks *f, uint32_t number,
                  const struct cf_calls_thread *t)
{
    struct cf_calls_fork *new;

    if (f->count == CF_CALLS_FORKS)
        drop_fork(f, 0);
    if (cf_array_room(&f->fork, &f->room, f->count + 1, sizeof(*f->fork)) != 0)
        return -1;
    new = &f->fork[f->count++];
    *new = (struct cf_calls_fork){.number = number, .nodes = (uint32_t)c->nodes};
    return thread_copy(&new->thread, t);
}

int cf_calls_forked(struct cf_calls_forks *f, uint32_t number, struct cf_calls_thread *t,
                    uint32_t *nodes)
{
    for (size_t i = 0; number && i < f->count; i++)
        if (f->fork[i].number == number) {
            *t = f->fork[i].thread;
            *nodes = f->fork[i].nodes;
            memset(&f->fork[i].thread, 0, sizeof(f->fork[i].thread));
            drop_fork(f, i);
            return 1;
        }
    *nodes = 0;
    return 0;
}

void cf_calls_forks_free(struct cf_calls_forks *f)
{
    while (f->count)
        drop_fork(f, f->count - 1);
    free(f->fork);
    memset(f, 0, sizeof(*f));
}
