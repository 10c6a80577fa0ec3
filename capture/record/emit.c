/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * emit.c - rows of accesses, tasks, mappings, heap blocks and call stacks.
 */
#include "capture/record/emit.h"

static int origin(void *arg, uint32_t hint, const struct cf_record_origin *o)
{
    struct cf_record_emit *e = arg;

    return cf_writer_kind(e->writer, hint, o->pc, o->op, o->size, o->insns);
}

static int place(void *arg, uint32_t pid, uint32_t tid, uint32_t cpu, struct cf_record_columns *c,
                 uint32_t *rows)
{
    struct cf_record_emit *e = arg;
    struct cf_values constants[7] = {{CF_PID, NULL, pid},
                                     {CF_TID, NULL, tid},
                                     {CF_OP, CF_BY_KIND, 0},
                                     {CF_SIZE, CF_BY_KIND, 0},
                                     {CF_PC, CF_BY_KIND, 0}};
    struct cf_place p[] = {{CF_TIME, NULL}, {CF_ADDR, NULL}};
    unsigned n = 5;

    if (e->instructions)
        constants[n++] = (struct cf_values){CF_INSNS, CF_BY_KIND, 0};
    if (e->processors)
        constants[n++] = (struct cf_values){CF_CPU, NULL, cpu};
    if (cf_writer_place(e->writer, CF_ACCESS, constants, n, p, 2, &c->hint, rows) != 0)
        return -1;
    c->time = p[0].values;
    c->addr = p[1].values;
    return 0;
}

static int placed(void *arg, uint32_t rows)
{
    struct cf_record_emit *e = arg;

    return cf_writer_placed(e->writer, CF_ACCESS, rows);
}

static int switched(void *arg, uint64_t time, uint32_t pid, uint32_t tid, uint32_t cpu,
                    uint64_t count)
{
    struct cf_record_emit *e = arg;
    struct cf_values v[] = {{CF_TIME, NULL, time},
                            {CF_PID, NULL, pid},
                            {CF_TID, NULL, tid},
                            {CF_CPU, NULL, cpu},
                            {CF_COUNT, NULL, count}};

    return cf_writer_rows(e->writer, CF_SWITCH, 1, v, 5, NULL);
}

static int task(void *arg, const struct cf_record_task *t)
{
    struct cf_record_emit *e = arg;
    unsigned op = t->kind == CF_RECORD_BEGIN   ? CF_BEGIN
                  : t->kind == CF_RECORD_NAMED ? CF_NAMED
                                               : CF_EXIT;
    struct cf_values v[] = {
        {CF_TIME, NULL, t->time}, {CF_PID, NULL, t->pid},
        {CF_TID, NULL, t->tid},   {CF_PARENT, NULL, t->parent},
        {CF_OP, NULL, op},        {CF_LABEL, NULL, cf_writer_string(e->writer, t->name)}};

    return cf_writer_rows(e->writer, CF_TASK, 1, v, 6, NULL);
}

static int map(void *arg, const struct cf_record_map *m)
{
    struct cf_record_emit *e = arg;
    struct cf_values v[] = {{CF_TIME, NULL, m->time},
                            {CF_PID, NULL, m->pid},
                            {CF_OP, NULL, m->kind == CF_RECORD_MAPPED ? CF_MAPPED : CF_UNMAPPED},
                            {CF_START, NULL, m->start},
                            {CF_STOP, NULL, m->end},
                            {CF_OFFSET, NULL, m->offset},
                            {CF_PERMS, NULL, m->perms},
                            {CF_LABEL, NULL, cf_writer_string(e->writer, m->name)}};

    return cf_writer_rows(e->writer, CF_MAP, 1, v, 8, NULL);
}

static int objects(void *arg, const struct cf_record_objects *o)
{
    struct cf_record_emit *e = arg;
    uint8_t op[1024];

    e->objects += o->rows;
    for (uint32_t done = 0, n; done < o->rows; done += n) {
        struct cf_values v[] = {{CF_TIME, o->time + done, 0},     {CF_PID, NULL, o->pid},
                                {CF_TID, o->tid + done, 0},       {CF_OP, op, 0},
                                {CF_ADDR, o->addr + done, 0},     {CF_BYTES, o->bytes + done, 0},
                                {CF_STACK_ID, o->stack + done, 0}};

        n = o->rows - done < sizeof(op) ? o->rows - done : (uint32_t)sizeof(op);
        for (uint32_t i = 0; i < n; i++)
            op[i] = o->kind[done + i] == CF_RECORD_ALLOC ? CF_ALLOC : CF_FREE;
        if (cf_writer_rows(e->writer, CF_OBJECT, n, v, 7, NULL) != 0)
            return -1;
    }
    return 0;
}

static int context(void *arg, const struct cf_record_context *c)
{
    struct cf_record_emit *e = arg;
    struct cf_values v[] = {{CF_PID, NULL, c->pid},
                            {CF_STACK_ID, NULL, c->stack},
                            {CF_PARENT, NULL, c->parent},
                            {CF_PC, NULL, c->pc}};

    return cf_writer_rows(e->writer, CF_STACK, 1, v, 4, NULL);
}

struct cf_record_handler cf_record_emit_handler(struct cf_record_emit *e)
{
    return (struct cf_record_handler){e,    origin, place,   placed, switched,
                                      task, map,    objects, context};
}
