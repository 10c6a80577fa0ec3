/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * earlier.c - instructions of an earlier stream. See earlier.h.
 */
#include <stdlib.h>
#include <string.h>

#include "capture/perf/earlier.h"
#include "formats/base/cf_memory.h"
#include "formats/base/cf_number.h"

enum { INSTRUCTIONS_MOST = 1 << 22 };

struct place {
    uint32_t file, build; /* strings, file 0: empty */
    uint64_t offset, misses;
};

struct mapping {
    uint32_t pid, file, build;
    uint64_t time, start, end, offset;
};

struct earlier {
    struct cf_tool *tool;
    struct place *place; /* by hash */
    size_t count, room;
    struct mapping *map; /* later ones hide earlier ones */
    size_t maps, maps_room;
    size_t made;                 /* of them, those before the access at hand */
    const struct mapping *found; /* last, or NULL; */
    uint32_t pid;                /* of what process, */
    uint64_t low, high;          /* and of which addresses; none where both are equal */
    int served;                  /* it says which accesses missed */
    int unstated;                /* it lacks the build of a file */
};

static void take_maps(struct earlier *e, const struct cf_frame *f)
{
    const uint32_t *pid = cf_u32(f, CF_PID), *label = cf_u32(f, CF_LABEL),
                   *build = cf_u32(f, CF_BUILD);
    const uint64_t *start = cf_u64(f, CF_START), *end = cf_u64(f, CF_STOP),
                   *offset = cf_u64(f, CF_OFFSET), *time = cf_u64(f, CF_TIME);
    const uint8_t *op = cf_u8(f, CF_OP), *perms = cf_u8(f, CF_PERMS);

    e->low = e->high = 0;
    for (uint32_t i = 0; pid && i < f->rows; i++) {
        if (op[i] != CF_MAPPED || !(perms[i] & CF_PERM_X))
            continue;
        cf_must(e->tool, cf_array_room(&e->map, &e->maps_room, e->maps + 1, sizeof *e->map));
        e->map[e->maps++] =
            (struct mapping){pid[i], label[i], build ? build[i] : 0, time ? time[i] : 0, start[i],
                             end[i], offset[i]};
    }
}

/* A frame of mappings may have some that come after accesses of the next frame. */
static void pass_time(struct earlier *e, uint64_t time)
{
    const size_t before = e->made;

    while (e->made < e->maps && e->map[e->made].time <= time)
        e->made++;
    if (e->made != before)
        e->low = e->high = 0;
}

/* Whether it is what is there; else the addresses that have the same answer end at it. */
static int covers(const struct mapping *m, uint32_t pid, uint64_t pc, uint64_t *low, uint64_t *high)
{
    if (m->pid == pid && m->end <= pc)
        *low = m->end > *low ? m->end : *low;
    else if (m->pid == pid && m->start > pc)
        *high = m->start < *high ? m->start : *high;
    return m->pid == pid && m->start <= pc && pc < m->end;
}

static const struct mapping *mapped(struct earlier *e, uint32_t pid, uint64_t pc)
{
    const struct mapping *found = NULL;
    uint64_t low = 0, high = UINT64_MAX;

    if (e->pid == pid && e->low <= pc && pc < e->high)
        return e->found;
    for (size_t i = e->made; !found && i-- > 0;)
        if (covers(&e->map[i], pid, pc, &low, &high))
            found = &e->map[i];
    for (size_t i = e->made; !found && i < e->maps; i++) /* threads may be put side by side */
        if (covers(&e->map[i], pid, pc, &low, &high))
            found = &e->map[i];
    if (found) {
        low = found->start > low ? found->start : low;
        high = found->end < high ? found->end : high;
    }
    e->found = found;
    e->pid = pid;
    e->low = low;
    e->high = high;
    return found;
}

static struct place *slot(const struct earlier *e, uint32_t file, uint32_t build, uint64_t offset)
{
    size_t at =
        ((uint64_t)file << 40 ^ (uint64_t)build << 24 ^ offset) * 0x9e3779b97f4a7c15u >> 20 &
        (e->room - 1);

    while (e->place[at].file && (e->place[at].file != file || e->place[at].build != build ||
                                 e->place[at].offset != offset))
        at = (at + 1) & (e->room - 1);
    return &e->place[at];
}

static void grow(struct earlier *e)
{
    struct earlier old = *e;

    e->room = old.room ? 2 * old.room : 1024;
    e->place = cf_need(e->tool, calloc(e->room, sizeof *e->place));
    for (size_t i = 0; i < old.room; i++)
        if (old.place[i].file)
            *slot(e, old.place[i].file, old.place[i].build, old.place[i].offset) = old.place[i];
    free(old.place);
}

static void take_accesses(struct earlier *e, const struct cf_frame *f)
{
    const uint32_t *pid = cf_u32(f, CF_PID);
    const uint64_t *pc = cf_u64(f, CF_PC), *weight = cf_u64(f, CF_WEIGHT),
                   *time = cf_u64(f, CF_TIME);
    const uint8_t *op = cf_u8(f, CF_OP), *hit = cf_u8(f, CF_HIT), *level = cf_u8(f, CF_LEVEL);

    if (!hit)
        hit = level;
    e->served |= hit != NULL;
    for (uint32_t i = 0; i < f->rows; i++) {
        const struct mapping *m;
        struct place *p;

        if ((op[i] != CF_LOAD && op[i] != CF_STORE) || (hit && hit[i] <= 1))
            continue;
        pass_time(e, time ? time[i] : UINT64_MAX);
        m = mapped(e, pid[i], pc[i]);
        if (!m || !m->file)
            continue;
        if (2 * e->count >= e->room && e->count < INSTRUCTIONS_MOST)
            grow(e);
        p = slot(e, m->file, m->build, pc[i] - m->start + m->offset);
        if (!p->file && e->count >= INSTRUCTIONS_MOST)
            continue;
        e->count += !p->file;
        p->file = m->file;
        p->build = m->build;
        p->offset = pc[i] - m->start + m->offset;
        p->misses = cf_sum(p->misses, weight ? weight[i] : 1);
    }
}

static int worst_first(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    return x->misses != y->misses ? cf_order(y->misses, x->misses)
           : x->file != y->file   ? cf_order(x->file, y->file)
                                  : cf_order(x->offset, y->offset);
}

size_t cf_earlier_read(struct cf_tool *t, char *file, struct cf_fine *fine)
{
    struct earlier e = {.tool = t};
    struct cf_reader *in = cf_tool_reader(t, &file, 1);
    struct cf_frame *f;
    size_t n = 0;
    int status;

    cf_reader_unify(in);
    cf_reader_want_each(in, CF_MAP, CF_REQUIRED, CF_PID, CF_OP, CF_START, CF_STOP, CF_OFFSET,
                        CF_PERMS, CF_LABEL);
    cf_reader_want_each(in, CF_MAP, CF_OPTIONAL, CF_TIME, CF_BUILD);
    cf_reader_want_each(in, CF_ACCESS, CF_REQUIRED, CF_PID, CF_PC, CF_OP);
    cf_reader_want_each(in, CF_ACCESS, CF_OPTIONAL, CF_TIME, CF_HIT, CF_LEVEL, CF_WEIGHT);
    grow(&e);
    while (cf_reader_next(in, &f))
        if (f->table == CF_HEADER) /* of another recording, with mappings of its own */
            e.maps = e.made = e.low = e.high = 0;
        else if (f->table == CF_MAP)
            take_maps(&e, f);
        else if (f->table == CF_ACCESS)
            take_accesses(&e, f);
    status = cf_tool_problems(t, in);
    if (status != CF_EXIT_OK)
        exit(status);
    for (size_t i = 0; i < e.room; i++)
        if (e.place[i].file)
            e.place[n++] = e.place[i];
    qsort(e.place, n, sizeof *e.place, worst_first);
    for (size_t i = 0; i < n; i++) {
        const char *name = cf_reader_text(in, e.place[i].file),
                   *build = cf_reader_text(in, e.place[i].build);

        e.unstated |= name[0] == '/' && !*build;
        cf_must(t, cf_fine_place(fine, name, build, e.place[i].offset,
                                 e.served ? e.place[i].misses : 0));
    }
    if (e.unstated && !t->quiet)
        cf_warn(t,
                "%s does not state which builds of its files were mapped: other instructions are "
                "watched where a file has changed since",
                file);
    cf_reader_close(in);
    free(e.place);
    free(e.map);
    return n;
}
