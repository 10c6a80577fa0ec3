/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_processes.c - several processes that are counted together, and threads that took turns (see
 * cf_processes.h).
 */
#include <string.h>

#include "formats/program/cf_processes.h"

/* `rows` is above 0. */
static int all_are(const uint32_t *id, uint32_t rows, uint32_t value)
{
    return *id == value && memcmp(id, id + 1, (rows - 1) * sizeof(*id)) == 0;
}

void cf_processes_check(struct cf_processes *p, const struct cf_tool *t, const struct cf_frame *f,
                        const char *what)
{
    const uint32_t *pid = f->table == CF_ACCESS && !p->warned ? cf_u32(f, CF_PID) : NULL;

    if (!pid || !f->rows || t->quiet)
        return;
    if (!p->begun)
        p->pid = pid[0];
    p->begun = 1;
    if (all_are(pid, f->rows, p->pid))
        return;
    p->warned = 1;
    cf_warn(t, "several processes: %s", what);
}

void cf_turns_check(struct cf_turns *turns, const struct cf_tool *t, const struct cf_frame *f,
                    unsigned cores)
{
    const uint32_t *tid;

    if (turns->warned || cores <= 1)
        return;
    if (f->table == CF_HEADER)
        *turns = (struct cf_turns){0};
    turns->switched |= f->table == CF_SWITCH;
    if (f->table != CF_ACCESS || !f->rows || !turns->switched || cf_u32(f, CF_CPU))
        return;
    tid = cf_u32(f, CF_TID);
    if (!tid)
        tid = cf_u32(f, CF_PID);
    if (tid && !turns->begun)
        turns->tid = tid[0];
    turns->begun |= tid != NULL;
    turns->warned = tid && !all_are(tid, f->rows, turns->tid);
    if (turns->warned)
        cf_warn(t,
                "threads took turns in this recording: what they share, or evict of each other, is "
                "far less than on %u cores; put them side by side first, by 'cf-merge --interleave "
                "--cores %u', or model one core, by --cores 1",
                cores, cores);
}
