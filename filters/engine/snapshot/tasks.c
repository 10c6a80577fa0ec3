/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tasks.c - names of processes (see tasks.h).
 *
 * In: frames of table task. Out: a string for each process. Rows of further threads, whose tid is
 * not their pid, name threads and are left out.
 */
#include "filters/engine/snapshot/tasks.h"

void cf_tasks_want(struct cf_reader *r)
{
    cf_reader_want_each(r, CF_TASK, CF_OPTIONAL, CF_PID, CF_TID, CF_LABEL);
}

int cf_tasks_frame(struct cf_counts *names, uint32_t stream, const struct cf_frame *f)
{
    const uint32_t *pid = cf_u32(f, CF_PID), *tid = cf_u32(f, CF_TID), *name = cf_u32(f, CF_LABEL);

    for (uint32_t i = 0; pid && name && i < f->rows; i++) {
        uint64_t *at;

        if (!name[i] || (tid && tid[i] != pid[i] && tid[i]))
            continue;
        if (!(at = cf_counts_at(names, stream, pid[i])))
            return -1;
        *at = name[i];
    }
    return 0;
}

uint32_t cf_tasks_name(const struct cf_counts *names, uint32_t stream, uint32_t pid)
{
    return (uint32_t)cf_counts_get(names, stream, pid);
}
