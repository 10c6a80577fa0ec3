/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * page_processes.c - what each process of a recording did: its instructions by page_look.c, its
 * accesses and misses by its threads. Memory: 40 bytes a process and thread.
 */
#include <stdlib.h>

#include "filters/parts/report/page.h"
#include "formats/base/cf_number.h"

static int by_pid(const void *a, const void *b)
{
    return cf_order(((const struct page_process *)a)->pid, ((const struct page_process *)b)->pid);
}

void page_make_processes(struct page *p)
{
    const struct cf_ranked *r = &p->ranked[PAGE_THREADS];
    const size_t ran = p->processes;
    size_t n = 0;

    p->process = cf_need(p->tool, realloc(p->process, (ran + r->count + 1) * sizeof *p->process));
    for (size_t i = 0; i < r->count; i++)
        p->process[p->processes++] = (struct page_process){.pid = r->item[i].key->a,
                                                           .accesses = r->item[i].sum[0],
                                                           .misses = r->item[i].sum[p->misses]};
    qsort(p->process, p->processes, sizeof *p->process, by_pid);
    for (size_t i = 0; i < p->processes; i++) {
        struct page_process *to;

        if (!n || p->process[n - 1].pid != p->process[i].pid) {
            p->process[n++] = p->process[i];
            continue;
        }
        to = &p->process[n - 1];
        to->instructions += p->process[i].instructions;
        to->accesses += p->process[i].accesses;
        to->misses += p->process[i].misses;
    }
    /* not that of one of its threads */
    for (size_t i = 0; i < n; i++)
        p->process[i].name = cf_rank_task(&p->table[PAGE_THREADS], CF_RANK_PROCESS,
                                          &(struct cf_rank_key){.b = p->process[i].pid});
    p->processes = n;
}

static uint64_t count_processes(const struct page *p, int with)
{
    uint64_t count = 0;

    for (size_t i = 0; i < p->processes; i++)
        count += (p->process[i].accesses != 0) == with;
    return count;
}

uint64_t page_processes(const struct page *p)
{
    return count_processes(p, 1);
}

uint64_t page_silent(const struct page *p)
{
    return count_processes(p, 0);
}
