/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_processes.c - several processes that are counted together, and threads that took turns or did
 * before (see cf_processes.h).
 */
#include <string.h>

#include "formats/together/cf_processes.h"

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
    if (!p->silent)
        cf_warn(t, "several processes: %s", what);
}

void cf_processes_join(struct cf_processes *p, const struct cf_tool *t, uint32_t pid, int several,
                       const char *what)
{
    if (!p->begun)
        p->pid = pid;
    p->begun = 1;
    if (p->warned || t->quiet || (!several && pid == p->pid))
        return;
    p->warned = 1;
    cf_warn(t, "several processes: %s", what);
}

/* Of a column that may not be decoded yet. */
static const uint32_t *ids(const struct cf_frame *f, unsigned column)
{
    return cf_late_values(f, column);
}

/* Whether rows are of a thread beside its process's first. */
static int of_threads(const struct cf_frame *f)
{
    const uint32_t *pid = ids(f, CF_PID), *tid = ids(f, CF_TID);

    for (uint32_t i = 0; pid && tid && i < f->rows; i++)
        if (tid[i] && tid[i] != pid[i])
            return 1;
    return 0;
}

int cf_switches_threads(const struct cf_frame *f)
{
    return f->table == CF_SWITCH && of_threads(f);
}

/* Whether the rows are of first threads alone, those of which tid and pid are one number. */
static int firsts(const uint32_t *tid, const uint32_t *pid, uint32_t rows)
{
    return pid && (!tid || !memcmp(tid, pid, rows * sizeof *tid));
}

void cf_pids_check(unsigned *pids, const struct cf_tool *t, const struct cf_frame *f)
{
    if (f->table == CF_ACCESS && f->rows)
        cf_pids_join(pids, t, cf_frame_has(f, CF_PID));
}

void cf_pids_join(unsigned *pids, const struct cf_tool *t, int known)
{
    if (*pids == CF_PIDS_ANY)
        return;
    *pids |= known ? 1 : 2;
    if (*pids == CF_PIDS_ANY)
        cf_warn(t, "some accesses have no column pid: they are taken for those of the process that "
                   "comes first; model the inputs that have it and those that do not one by one");
}

/* Warns where there are threads, as far as other tables or an option say, and accesses do not say
   which made them. */
static void check_threads(struct cf_turns *turns, const struct cf_tool *t, const struct cf_frame *f,
                          unsigned cores)
{
    if (turns->one)
        return;
    if (f->table == CF_ACCESS)
        turns->lacks |= f->rows && !cf_frame_has(f, CF_TID) && !cf_frame_has(f, CF_CPU);
    else if (f->table == CF_TASK || f->table == CF_SWITCH) {
        turns->told = 1;
        turns->threads = turns->threads || of_threads(f);
    }
    turns->one = turns->lacks && (turns->threads || (turns->stated > 1 && !turns->told));
    if (turns->one)
        cf_warn(
            t,
            "accesses have neither column tid nor cpu: the threads of a process are taken for "
            "one, on one of %u cores, and share nothing; keep column tid, or model one core, by "
            "--cores 1",
            cores);
}

void cf_turns_check(struct cf_turns *turns, const struct cf_tool *t, const struct cf_frame *f,
                    unsigned cores)
{
    const uint32_t *tid;
    uint64_t same;

    cf_pids_check(&turns->pids, t, f);
    if (cores <= 1)
        return;
    if (f->table == CF_HEADER)
        *turns = (struct cf_turns){.pids = turns->pids,
                                   .warned = turns->warned,
                                   .apart = turns->apart,
                                   .one = turns->one,
                                   .stated = turns->stated};
    check_threads(turns, t, f, cores);
    turns->switched |= f->table == CF_SWITCH;
    if (turns->warned || f->table != CF_ACCESS || !f->rows || !turns->switched ||
        (turns->begun && cf_frame_constant(f, CF_TID, &same) && same == turns->tid) ||
        ids(f, CF_CPU))
        return;
    tid = ids(f, CF_TID);
    if (!tid)
        tid = ids(f, CF_PID);
    if (tid && !turns->begun)
        turns->tid = tid[0];
    turns->begun |= tid != NULL;
    if (!tid || all_are(tid, f->rows, turns->tid))
        return;
    turns->warned = !firsts(ids(f, CF_TID), ids(f, CF_PID), f->rows);
    if (!turns->warned && !turns->apart)
        cf_warn(t,
                "processes ran one after the other, or by turns, in this recording: on %u cores "
                "each finds again what it left; model one core, by --cores 1, or where they ran at "
                "the same time put them side by side first, by 'cf-merge --interleave --cores %u'",
                cores, cores);
    turns->apart |= !turns->warned;
    if (turns->warned)
        cf_warn(t,
                "threads took turns in this recording: what they share, or evict of each other, is "
                "far less than on %u cores; put them side by side first, by 'cf-merge --interleave "
                "--cores %u', or model one core, by --cores 1",
                cores, cores);
}

void cf_order_check(struct cf_turns *turns, const struct cf_tool *t, const struct cf_frame *f,
                    const char *what)
{
    if (turns->warned)
        return;
    if (f->table == CF_HEADER)
        *turns = (struct cf_turns){0};
    turns->switched |= cf_switches_threads(f);
    if (f->table != CF_ACCESS || !turns->switched || !cf_u32(f, CF_CPU))
        return;
    turns->warned = 1;
    cf_warn(t, "threads were put side by side before, in an order that no lock kept: %s", what);
}
