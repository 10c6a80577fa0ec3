/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * findings_objects.c - heap objects and the calls that allocated them. Accesses come when all
 * verdicts are known, after the rows of the other tables: so each object is kept, also when it has
 * been released.
 */
#include <stdlib.h>
#include <string.h>

#include "filters/parts/report/findings.h"
#include "formats/base/cf_memory.h"
#include "formats/base/cf_number.h"

enum { MOST_PARENTS = 64 }; /* processes whose nodes one may use */

static uint32_t at(const uint32_t *column, uint32_t row)
{
    return column ? column[row] : 0;
}

void findings_take_objects(struct findings *f, const struct cf_frame *frame)
{
    const uint8_t *op = cf_u8(frame, CF_OP);
    const uint32_t *number = cf_u32(frame, CF_OBJ), *pid = cf_u32(frame, CF_PID);
    const uint32_t *tid = cf_u32(frame, CF_TID), *stack = cf_u32(frame, CF_STACK_ID);
    const uint32_t *site = cf_u32(frame, CF_SITE), *function = cf_u32(frame, CF_FUNCTION);
    const uint32_t *source = cf_u32(frame, CF_SOURCE);
    const uint64_t *bytes = cf_u64(frame, CF_BYTES);

    for (uint32_t i = 0; number && i < frame->rows; i++) {
        if (!number[i] || (op && op[i] != CF_ALLOC))
            continue;
        cf_must(f->tool,
                cf_array_room(&f->object, &f->object_room, f->objects + 1, sizeof *f->object));
        f->object[f->objects++] = (struct finding_object){.segment = f->segment,
                                                          .number = number[i],
                                                          .pid = at(pid, i),
                                                          .tid = at(tid, i),
                                                          .stack = at(stack, i),
                                                          .site = at(site, i),
                                                          .function = at(function, i),
                                                          .source = at(source, i),
                                                          .bytes = bytes ? bytes[i] : 0};
    }
}

void findings_take_nodes(struct findings *f, const struct cf_frame *frame)
{
    const uint32_t *id = cf_u32(frame, CF_STACK_ID), *pid = cf_u32(frame, CF_PID);
    const uint32_t *parent = cf_u32(frame, CF_PARENT), *function = cf_u32(frame, CF_FUNCTION);
    const uint32_t *source = cf_u32(frame, CF_SOURCE);
    const uint64_t *pc = cf_u64(frame, CF_PC);

    for (uint32_t i = 0; id && i < frame->rows; i++) {
        cf_must(f->tool, cf_array_room(&f->node, &f->node_room, f->nodes + 1, sizeof *f->node));
        f->node[f->nodes++] = (struct finding_node){.segment = f->segment,
                                                    .pid = at(pid, i),
                                                    .id = id[i],
                                                    .parent = at(parent, i),
                                                    .function = at(function, i),
                                                    .source = at(source, i),
                                                    .pc = pc ? pc[i] : 0};
    }
}

void findings_take_tasks(struct findings *f, const struct cf_frame *frame)
{
    const uint32_t *pid = cf_u32(frame, CF_PID), *parent = cf_u32(frame, CF_PARENT);
    const uint8_t *op = cf_u8(frame, CF_OP);

    for (uint32_t i = 0; pid && parent && op && i < frame->rows; i++)
        if (op[i] == CF_BEGIN && parent[i] && parent[i] != pid[i])
            *(uint64_t *)cf_need(f->tool, cf_counts_at(f->parents, f->segment, pid[i])) =
                (uint64_t)parent[i] + 1;
}

static int by_number(const void *x, const void *y)
{
    const struct finding_object *a = x, *b = y;

    return cf_order(a->segment, b->segment) ?: cf_order(a->number, b->number);
}

static int by_node(const void *x, const void *y)
{
    const struct finding_node *a = x, *b = y;
    const int process = cf_order(a->segment, b->segment) ?: cf_order(a->pid, b->pid);

    return process ?: cf_order(a->id, b->id);
}

/* They come in their order, as a rule. */
static void sort(void *array, size_t count, size_t width, int (*order)(const void *, const void *))
{
    size_t i = 1;

    while (i < count && order((char *)array + (i - 1) * width, (char *)array + i * width) <= 0)
        i++;
    if (i < count)
        qsort(array, count, width, order);
}

void findings_sort_objects(struct findings *f)
{
    sort(f->object, f->objects, sizeof *f->object, by_number);
    sort(f->node, f->nodes, sizeof *f->node, by_node);
}

const struct finding_object *findings_object(const struct findings *f,
                                             const struct finding_owner *owner)
{
    const struct finding_object key = {.segment = owner->segment, .number = owner->id};

    return owner->kind == FINDING_HEAP && f->objects
               ? bsearch(&key, f->object, f->objects, sizeof key, by_number)
               : NULL;
}

/* A forked process goes on with its parent's nodes. */
static const struct finding_node *find(const struct findings *f, uint32_t segment, uint32_t pid,
                                       uint32_t id)
{
    struct finding_node key = {.segment = segment, .pid = pid, .id = id};

    for (unsigned i = 0; id && f->nodes && i < MOST_PARENTS; i++) {
        const struct finding_node *n = bsearch(&key, f->node, f->nodes, sizeof key, by_node);
        const uint64_t parent = n ? 0 : cf_counts_get(f->parents, segment, key.pid);

        if (n || !parent)
            return n;
        key.pid = (uint32_t)(parent - 1);
    }
    return NULL;
}

unsigned findings_stack(const struct findings *f, const struct finding_object *object,
                        struct finding_node frame[FINDING_FRAMES])
{
    const struct finding_node *n = find(f, object->segment, object->pid, object->stack);
    unsigned count = 0, begin = 0;

    for (; n && count < FINDING_FRAMES && (n->function || n->source);
         n = find(f, object->segment, object->pid, n->parent))
        frame[count++] = *n;
    /* what stands before the allocation site is of the allocator */
    while (begin < count &&
           (frame[begin].source != object->source || frame[begin].function != object->function))
        begin++;
    if (begin < count) {
        memmove(frame, frame + begin, (count - begin) * sizeof *frame);
        return count - begin;
    }
    if (!count && (object->function || object->source))
        frame[count++] =
            (struct finding_node){.function = object->function, .source = object->source};
    return count;
}
