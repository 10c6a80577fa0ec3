/* SPDX-License-Identifier: BSD-2-Clause */
/* fine.c - which instruction has the breakpoint (see fine.h). */
#include <stdlib.h>
#include <string.h>

#include "filters/engine/rows/counts.h"
#include "filters/engine/sample/fine.h"
#include "formats/base/cf_memory.h"

/* What is known of an instruction: whether it had a turn or waits for the first, and above that bit
   how many of its samples missed in a row. */
enum { KNOWN = 1, MISS = 2 };

int cf_fine_begin(struct cf_fine *f, const struct cf_fine_options *o)
{
    *f = (struct cf_fine){.o = *o, .sets = cf_sets(o->sets ? o->sets : 1)};
    if (f->sets.sets == 1)
        f->o.same_set = f->o.set_window = 0;
    f->instructions = cf_counts_new();
    return f->instructions ? 0 : -1;
}

void cf_fine_end(struct cf_fine *f)
{
    cf_counts_free(f->instructions);
    free(f->window);
    free(f->queue);
}

static void arm(struct cf_fine *f, uint32_t pid, uint64_t pc, uint64_t time)
{
    f->armed = 1;
    f->pid = pid;
    f->pc = pc;
    f->since = time;
    f->count = f->run = 0;
}

void cf_fine_next(struct cf_fine *f, uint64_t time)
{
    const struct cf_fine_waiting w = f->queue[f->head++];

    if (--f->waiting == 0)
        f->head = 0;
    arm(f, w.pid, w.pc, time);
}

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
    if (f->waiting)
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

static int wait(struct cf_fine *f, uint32_t pid, uint64_t pc)
{
    const size_t tail = f->head + f->waiting;

    if (cf_array_room(&f->queue, &f->queue_room, tail + 1, sizeof(*f->queue)) != 0)
        return -1;
    f->queue[tail] = (struct cf_fine_waiting){pc, pid};
    f->waiting++;
    return 0;
}

int cf_fine_sample(struct cf_fine *f, uint32_t thread, uint32_t pid, uint64_t pc, uint64_t addr,
                   int missed, uint64_t time)
{
    const int piled = missed ? piles_up(f, thread, addr) : 0;
    uint64_t *known = pc ? cf_counts_at(f->instructions, pid, pc) : NULL;

    if (piled < 0 || (pc && !known))
        return -1;
    if (!pc)
        return 0;
    *known = missed ? *known + MISS : *known & KNOWN;
    if (!missed || (!piled && *known / MISS < f->o.misses))
        return 0;
    if (*known & KNOWN) {
        if (!f->armed && cf_fine_expired(f, time))
            arm(f, pid, pc, time);
        return 0;
    }
    *known |= KNOWN;
    if (wait(f, pid, pc) != 0)
        return -1;
    if (!f->armed)
        cf_fine_next(f, time);
    return 0;
}
