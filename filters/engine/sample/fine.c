/* SPDX-License-Identifier: BSD-2-Clause */
/* fine.c - which instruction has the breakpoint (see fine.h). */
#include <stdlib.h>
#include <string.h>

#include "filters/engine/rows/counts.h"
#include "filters/engine/sample/fine.h"
#include "formats/base/cf_memory.h"

struct cf_fine_code {
    uint64_t pc, misses; /* sampled */
    uint32_t pid, row;   /* sampled misses in a row */
    uint8_t had;         /* a turn, or waits for the first */
};

int cf_fine_begin(struct cf_fine *f, const struct cf_fine_options *o)
{
    *f = (struct cf_fine){.o = *o, .sets = cf_sets(o->sets ? o->sets : 1)};
    if (f->sets.sets == 1)
        f->o.same_set = f->o.set_window = 0;
    f->numbers = cf_counts_new();
    return f->numbers ? 0 : -1;
}

void cf_fine_end(struct cf_fine *f)
{
    cf_counts_free(f->numbers);
    free(f->code);
    free(f->window);
    cf_queue_free(&f->queue);
}

static void arm(struct cf_fine *f, const struct cf_fine_code *c, uint64_t time)
{
    f->armed = 1;
    f->pid = c->pid;
    f->pc = c->pc;
    f->since = time;
    f->count = f->run = 0;
}

void cf_fine_next(struct cf_fine *f, uint64_t time)
{
    arm(f, &f->code[cf_queue_take(&f->queue)], time);
}

/* ---- accesses and samples ---- */

void cf_fine_access(struct cf_fine *f, uint64_t addr, uint64_t time)
{
    const uint64_t line = addr / f->o.line_size;
    const uint32_t set = cf_sets_index(&f->sets, line);

    if (!f->count || line != f->line)
        f->run = f->count && set == f->set ? f->run + 1 : 1;
    f->line = line;
    f->set = set;
    f->count++;
    if (f->count < f->o.most && (!f->o.same_set || f->run < f->o.same_set))
        return;
    f->armed = 0;
    f->since = time;
    if (f->queue.waiting)
        cf_fine_next(f, time);
}

/* Adds a miss to the window of a thread: 1 where it is one of many on its set. -1 without memory.
 */
static int piles_up(struct cf_fine *f, uint32_t thread, uint64_t addr)
{
    const size_t stride = (size_t)f->o.set_window + 1;
    const uint32_t set = cf_sets_index(&f->sets, addr / f->o.line_size) + 1;
    uint32_t *at, found = 0;

    if (!f->o.set_window)
        return 0;
    if (cf_array_cleared(&f->window, &f->window_room, (thread + (size_t)1) * stride,
                         sizeof(*f->window)) != 0)
        return -1;
    at = f->window + thread * stride;
    at[1 + at[0]] = set;
    at[0] = (at[0] + 1) % f->o.set_window;
    for (size_t i = 1; i < stride; i++)
        found += at[i] == set;
    return found >= f->o.set_misses;
}

/* The instruction; NULL without memory. */
static struct cf_fine_code *code_of(struct cf_fine *f, uint32_t pid, uint64_t pc)
{
    uint64_t *number = cf_counts_at(f->numbers, pid, pc);

    if (!number)
        return NULL;
    if (!*number) {
        const size_t count = cf_counts_size(f->numbers);

        if (count > UINT32_MAX / 2 ||
            cf_array_cleared(&f->code, &f->code_room, count, sizeof(*f->code)) != 0)
            return NULL;
        *number = count;
        f->code[count - 1].pid = pid;
        f->code[count - 1].pc = pc;
    }
    return &f->code[*number - 1];
}

int cf_fine_sample(struct cf_fine *f, uint32_t thread, uint32_t pid, uint64_t pc, uint64_t addr,
                   int missed, uint64_t time)
{
    const int piled = missed ? piles_up(f, thread, addr) : 0;
    struct cf_fine_code *c = pc ? code_of(f, pid, pc) : NULL;

    if (piled < 0 || (pc && !c))
        return -1;
    if (!pc)
        return 0;
    c->row = missed ? c->row + (c->row < UINT32_MAX) : 0;
    c->misses += missed != 0;
    cf_queue_more(&f->queue, (uint32_t)(c - f->code), c->misses);
    if (!missed || (!piled && c->row < f->o.misses))
        return 0;
    if (c->had) {
        if (!f->armed && cf_fine_expired(f, time))
            arm(f, c, time);
        return 0;
    }
    c->had = 1;
    if (cf_queue_put(&f->queue, (uint32_t)(c - f->code), c->misses) != 0)
        return -1;
    if (!f->armed)
        cf_fine_next(f, time);
    return 0;
}
