/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * processes.c - what each process of a recording did, for --info. Memory: 60 to 150 bytes a
 * process and thread.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "filters/engine/rows/turns.h"
#include "filters/parts/cat/cat.h"
#include "formats/together/cf_partial.h"
#include "formats/base/cf_number.h"

struct processes {
    struct cf_tool *tool;
    struct cf_counts *accesses;       /* by process */
    struct cf_counts *named, *parent; /* string id + 1, pid + 1 */
    struct cf_turns_sum turns;        /* whose times are instructions */
    uint64_t last;
};

static struct cf_counts *fresh(struct cf_tool *t, struct cf_counts *old)
{
    cf_counts_free(old);
    return cf_need(t, cf_counts_new());
}

static void forget(struct processes *p)
{
    p->accesses = fresh(p->tool, p->accesses);
    p->named = fresh(p->tool, p->named);
    p->parent = fresh(p->tool, p->parent);
    cf_turns_free(&p->turns);
    cf_must(p->tool, cf_turns_begin(&p->turns));
    p->last = 0;
}

struct processes *processes_new(struct cf_tool *t, struct cf_reader *r)
{
    struct processes *p = cf_tool_room(t, 1, sizeof(*p));

    p->tool = t;
    forget(p);
    cf_reader_want_each(r, CF_TASK, CF_OPTIONAL, CF_PID, CF_TID, CF_PARENT, CF_OP, CF_LABEL);
    cf_reader_want(r, CF_ACCESS, CF_PID, CF_OPTIONAL);
    return p;
}

static void add(struct processes *p, struct cf_counts *to, uint32_t pid, uint64_t n)
{
    *(uint64_t *)cf_need(p->tool, cf_counts_at(to, 0, pid)) += n;
}

static void set(struct processes *p, struct cf_counts *to, uint32_t pid, uint64_t value)
{
    *(uint64_t *)cf_need(p->tool, cf_counts_at(to, 0, pid)) = value;
}

static void take_tasks(struct processes *p, const struct cf_frame *f)
{
    const uint32_t *pid = cf_u32(f, CF_PID), *tid = cf_u32(f, CF_TID),
                   *parent = cf_u32(f, CF_PARENT);
    const uint32_t *label = cf_u32(f, CF_LABEL);
    const uint8_t *op = cf_u8(f, CF_OP);

    for (uint32_t i = 0; pid && i < f->rows; i++) {
        if (tid && tid[i] && tid[i] != pid[i])
            continue;
        add(p, p->accesses, pid[i], 0);
        if (label && label[i])
            set(p, p->named, pid[i], (uint64_t)label[i] + 1);
        if (parent && op && op[i] == CF_BEGIN && parent[i])
            set(p, p->parent, pid[i], (uint64_t)parent[i] + 1);
    }
}

static void take_accesses(struct processes *p, const struct cf_frame *f)
{
    const uint32_t *pid = cf_u32(f, CF_PID);

    for (uint32_t i = 0, from = 0; pid && i < f->rows; i++)
        if (i + 1 == f->rows || pid[i + 1] != pid[from]) {
            add(p, p->accesses, pid[from], i + 1 - from);
            from = i + 1;
        }
}

void processes_header(struct processes *p, const struct cf_header *h)
{
    p->turns.cut = cf_partial_is_cut(h);
}

void processes_frame(struct processes *p, const struct cf_frame *f)
{
    p->last = f->last > p->last ? f->last : p->last;
    cf_must(p->tool, cf_turns_frame(&p->turns, f));
    if (f->table == CF_TASK)
        take_tasks(p, f);
    else if (f->table == CF_ACCESS)
        take_accesses(p, f);
}

/* The most accesses first. */
static int by_accesses(const void *a, const void *b)
{
    const struct cf_count *x = a, *y = b;

    return cf_order(y->value, x->value) ?: cf_order(x->b, y->b);
}

void processes_print(struct processes *p, const struct cf_reader *r)
{
    const size_t count = cf_counts_size(p->accesses);
    const int ran = cf_turns_came(&p->turns);
    struct cf_count *all = cf_need(p->tool, malloc((count + !count) * sizeof(*all)));

    cf_must(p->tool, cf_turns_end(&p->turns, p->last));
    cf_counts_copy(p->accesses, all);
    qsort(all, count, sizeof(*all), by_accesses);
    if (count > 1)
        puts("processes:");
    for (size_t i = 0; count > 1 && i < count; i++) {
        const uint64_t name = cf_counts_get(p->named, 0, all[i].b);
        const uint64_t parent = cf_counts_get(p->parent, 0, all[i].b);
        const char *text = name ? cf_reader_text(r, (uint32_t)(name - 1)) : "";

        printf("  - {pid: %" PRIu64 ", name: ", all[i].b);
        print_quoted(stdout, text, strlen(text));
        if (parent)
            printf(", parent: %" PRIu64, parent - 1);
        printf(", accesses: %" PRIu64, all[i].value);
        if (ran)
            printf(", instructions: %" PRIu64, cf_counts_get(p->turns.ran, 0, all[i].b));
        puts("}");
    }
    free(all);
    forget(p);
}

void processes_free(struct processes *p)
{
    cf_counts_free(p->accesses);
    cf_turns_free(&p->turns);
    cf_counts_free(p->named);
    cf_counts_free(p->parent);
}
