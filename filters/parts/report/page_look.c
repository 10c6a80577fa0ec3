/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * page_look.c - two looks at a recording before it is annotated: at its kind and columns, and, over
 * all of it, at threads, instructions and what is wrong with it. Of columns of accesses it decodes
 * pid and tid alone, where they change inside a frame and what they would show is still open; and
 * for how long each process ran, by table switch, what turns.h says.
 *
 * Memory: 100 bytes a process.
 */
#include <stdlib.h>
#include <string.h>

#include "filters/engine/rows/cores.h"
#include "filters/engine/rows/turns.h"
#include "filters/parts/report/page.h"
#include "formats/base/cf_memory.h"
#include "formats/together/cf_partial.h"
#include "formats/together/cf_processes.h"

struct look {
    struct page *p;
    struct cf_reader *reader;
    struct cf_counts *number; /* plus one; 0, pid: its entry; 1, pid: its first tid of accesses */
    size_t room, pids;        /* pids: of accesses */
    struct cf_turns_sum turns;
    uint64_t first, last;    /* of the segment: of a whole recording, its first turn begins it */
    uint32_t thread;         /* the first by table switch */
    int begun;               /* first is known */
    char *unit, *host, *cpu; /* of the first header */
    unsigned segments;
};

/* Exits where it is no recording of accesses. */
void page_look_at_kind(struct page *p, char *const *file)
{
    struct cf_reader *r = cf_tool_reader(p->tool, file, 1);
    struct cf_frame *f;

    cf_reader_want(r, CF_ACCESS, CF_ADDR, CF_REQUIRED);
    cf_reader_want(r, CF_ACCESS, CF_FUNCTION, CF_OPTIONAL);
    cf_reader_want(r, CF_ACCESS, CF_REGION, CF_OPTIONAL);
    cf_reader_want_each(r, CF_ACCESS, CF_OPTIONAL, CF_CPU, CF_TID);
    cf_reader_refuse_samples(r);
    cf_reader_pieces(r);
    while (cf_reader_next(r, &f) > 0)
        if (f->table == CF_ACCESS) {
            p->lacks_names = !cf_u32(f, CF_FUNCTION) || !cf_u32(f, CF_REGION);
            p->placed = cf_u32(f, CF_CPU) != NULL;
            p->lacks_tid = !cf_u32(f, CF_TID);
            cf_reader_close(r);
            return;
        }
    cf_tool_fit(p->tool, r);
    cf_warn(p->tool, "%s: no accesses were recorded, or kept: there is no page",
            cf_reader_input(r));
    exit(cf_tool_finish(p->tool, r, NULL));
}

static struct page_process *process(struct look *l, uint32_t pid)
{
    struct page *p = l->p;
    uint64_t *number = cf_need(p->tool, cf_counts_at(l->number, 0, pid));

    if (!*number) {
        if (cf_array_room(&p->process, &l->room, p->processes + 1, sizeof *p->process) != 0)
            cf_out_of_memory(p->tool);
        p->process[p->processes] = (struct page_process){.pid = pid};
        *number = ++p->processes;
    }
    return &p->process[*number - 1];
}

static void switches(struct look *l, const struct cf_frame *f)
{
    const uint32_t *tid = cf_u32(f, CF_TID);

    l->p->threaded |= cf_switches_threads(f);
    for (uint32_t i = 0; tid && i < f->rows; i++) {
        if (!l->thread)
            l->thread = tid[i];
        l->p->several |= tid[i] != l->thread;
    }
}

/* A process's accesses by a thread. */
static void accessing(struct look *l, uint64_t pid, uint64_t tid)
{
    uint64_t *first = cf_need(l->p->tool, cf_counts_at(l->number, 1, pid));

    l->p->several |= !*first && l->pids++;
    l->p->threads |= *first && *first != tid + 1;
    *first = *first ? *first : tid + 1;
}

/* Whose accesses they are, where that says which cores they go to. */
static void accesses(struct look *l, const struct cf_frame *f)
{
    uint64_t pid = 0, tid = 0;
    const uint32_t *pids, *tids;

    if (l->p->cores == 1 || l->p->placed || l->p->threaded || l->p->threads)
        return;
    pids = cf_frame_constant(f, CF_PID, &pid) ? NULL : cf_late_values(f, CF_PID);
    tids = cf_frame_constant(f, CF_TID, &tid) ? NULL : cf_late_values(f, CF_TID);
    for (uint32_t i = 0, end = f->rows; i < f->rows; i = end) {
        if (pids || tids)
            end = cf_cores_same(pids ? pids : tids, tids ? tids : pids, i, f->rows);
        accessing(l, pids ? pids[i] : pid, tids ? tids[i] : tid);
    }
}

static void tasks(struct look *l, const struct cf_frame *f)
{
    const uint32_t *pid = cf_u32(f, CF_PID), *tid = cf_u32(f, CF_TID);
    const uint8_t *op = cf_u8(f, CF_OP);

    for (uint32_t i = 0; pid && op && i < f->rows; i++)
        if (op[i] == CF_BEGIN && (!tid || !tid[i] || tid[i] == pid[i]))
            (void)process(l, pid[i]);
}

static void end_segment(struct look *l)
{
    const int overlap = cf_turns_side_by_side(&l->turns);

    cf_must(l->p->tool, cf_turns_end(&l->turns, l->last));
    l->p->side_by_side |= overlap;
    l->p->switched |= cf_turns_came(&l->turns);
    if (l->begun)
        l->p->ticks += overlap ? l->turns.total : l->last - l->first;
    cf_must(l->p->tool, cf_turns_begin(&l->turns));
    l->begun = 0;
    l->first = l->last = 0;
}

static void set_instructions(struct look *l)
{
    const size_t count = cf_counts_size(l->turns.ran);
    struct cf_count *ran = cf_tool_room(l->p->tool, count + 1, sizeof(*ran));

    cf_counts_copy(l->turns.ran, ran);
    for (size_t i = 0; i < count; i++)
        process(l, (uint32_t)ran[i].b)->instructions = ran[i].value;
}

/* Warns once of each thing in which segments differ. */
static void compare(struct look *l, const struct cf_header *h)
{
    struct cf_tool *t = l->p->tool;
    const char *unit = h->clock_unit ? h->clock_unit : "";
    const char *host = h->recorded[CF_RECORDED_HOST] ? h->recorded[CF_RECORDED_HOST] : "";
    const char *cpu = h->recorded[CF_RECORDED_CPU] ? h->recorded[CF_RECORDED_CPU] : "";

    if (!l->segments++) {
        l->unit = cf_tool_text(t, "%s", unit);
        l->host = cf_tool_text(t, "%s", host);
        l->cpu = cf_tool_text(t, "%s", cpu);
        return;
    }
    if (strcmp(unit, l->unit) != 0 && !l->p->units_differ) {
        l->p->units_differ = 1;
        cf_warn(t,
                "the recording counts time in different units, '%s' and '%s': the page states no "
                "instructions, and its map mixes them",
                l->unit, unit);
    }
    if (*host && *l->host && (strcmp(host, l->host) != 0 || strcmp(cpu, l->cpu) != 0) &&
        !l->p->hosts_differ) {
        l->p->hosts_differ = 1;
        cf_warn(t, "the recording is of several computers: the page names the first, '%s'",
                *l->host ? l->host : l->cpu);
    }
}

void page_look_through(struct page *p, char *const *file)
{
    struct look l = {.p = p, .reader = cf_tool_reader(p->tool, file, 1)};
    const char *problem;
    struct cf_frame *f;

    l.number = cf_need(p->tool, cf_counts_new());
    cf_must(p->tool, cf_turns_begin(&l.turns));
    cf_reader_want_each(l.reader, CF_TASK, CF_OPTIONAL, CF_PID, CF_TID, CF_OP);
    cf_reader_want_each(l.reader, CF_SWITCH, CF_OPTIONAL, CF_PID, CF_TID);
    while (cf_reader_next(l.reader, &f) > 0) {
        if (f->table == CF_HEADER) {
            end_segment(&l);
            compare(&l, f->header);
            l.turns.cut = cf_partial_is_cut(f->header);
        }
        if (f->rows && (f->table == CF_ACCESS || (f->table == CF_SWITCH && !l.turns.cut))) {
            l.first = l.begun && l.first < f->first ? l.first : f->first;
            l.begun = 1;
        }
        if (f->table == CF_ACCESS && f->rows)
            accesses(&l, f);
        if (f->table == CF_ACCESS || !l.turns.cut)
            l.last = f->last > l.last ? f->last : l.last;
        cf_must(p->tool, cf_turns_frame(&l.turns, f));
        if (f->table == CF_SWITCH)
            switches(&l, f);
        else if (f->table == CF_TASK)
            tasks(&l, f);
    }
    end_segment(&l);
    set_instructions(&l);
    problem = cf_reader_problem(l.reader);
    p->problem = problem ? cf_tool_text(p->tool, "%s", problem) : NULL;
    cf_reader_close(l.reader);
    cf_counts_free(l.number);
    cf_turns_free(&l.turns);
}
