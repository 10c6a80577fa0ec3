/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows run through the model piece by piece, a piece being of one process and one period.
 */
#include <stdlib.h>

#include "filters/parts/cache/cache_parts.h"
#include "filters/engine/cache/cache.h"

struct snapshots {
    const struct cf_tool *tool;
    struct snapshot_options o;
    const struct cf_machine *machine;
    struct cf_hierarchy *model;
    struct cf_cores *cores;
    struct cf_writer *writer;
    struct placed *placed;
    uint32_t number;           /* snapshots so far */
    int started;               /* an access came, which set the clock */
    int touched;               /* there was one in this period */
    uint64_t next;             /* end of the period */
    uint64_t last;             /* time of the last access */
    uint8_t hit[CF_FILE_ROWS]; /* of no interest */
    uint32_t lines;
    struct line_rows { /* one piece of memory, from `phys` on */
        uint64_t *phys, *addr;
        uint32_t *set, *way, *pid, *cpu;
        uint8_t *state;
    } row;
};

struct snapshots *snapshots_new(const struct cf_tool *t, const struct snapshot_options *o,
                                const struct cf_machine *m, struct cf_hierarchy *h,
                                struct cf_cores *cores, struct placed *placed, struct cf_writer *w)
{
    const struct cf_level *l = &m->level[o->level];
    const size_t most = (size_t)l->sets * l->ways * cf_hierarchy_caches(h, o->level);
    struct snapshots *s = cf_need(t, calloc(1, sizeof *s));
    struct line_rows *r = &s->row;

    s->tool = t;
    s->o = *o;
    s->machine = m;
    s->model = h;
    s->cores = cores;
    s->writer = w;
    s->placed = placed;
    r->phys = cf_need(t, malloc(most * (2 * sizeof *r->phys + 4 * sizeof *r->set + 1)));
    r->addr = r->phys + most;
    r->set = (uint32_t *)(r->addr + most);
    r->way = r->set + most;
    r->pid = r->way + most;
    r->cpu = r->pid + most;
    r->state = (uint8_t *)(r->cpu + most);
    return s;
}

void snapshots_free(struct snapshots *s)
{
    if (!s)
        return;
    free(s->row.phys);
    free(s);
}

/* ---- a snapshot ---- */

static void add_line(struct snapshots *s, uint64_t entry, uint32_t set, uint32_t way, uint32_t cpu)
{
    struct line_rows *r = &s->row;
    const uint32_t i = s->lines++;

    r->phys[i] = (entry & ~CF_CACHE_DIRTY) * s->machine->level[s->o.level].line;
    r->set[i] = set;
    r->way[i] = way;
    r->cpu[i] = cpu;
    r->state[i] = entry & CF_CACHE_DIRTY ? CF_STATE_MODIFIED : CF_STATE_EXCLUSIVE;
    if (!placed_owner(s->placed, r->phys[i], &r->pid[i], &r->addr[i]))
        r->addr[i] = r->pid[i] = 0;
}

static int take(struct snapshots *s, uint64_t time)
{
    const struct cf_level *l = &s->machine->level[s->o.level];
    const unsigned caches = cf_hierarchy_caches(s->model, s->o.level);
    const unsigned mode =
        CF_MODE_MODEL | CF_MODE_SYNCHRONOUS | CF_MODE_RESOLVED | (s->o.flush ? CF_MODE_FLUSH : 0);
    const struct cf_values snapshot[] = {
        {CF_SNAP, NULL, ++s->number}, {CF_TIME, NULL, time},      {CF_MODE, NULL, mode},
        {CF_COST_TOTAL, NULL, 0},     {CF_LEVEL, NULL, l->depth}, {CF_SETS, NULL, l->sets},
        {CF_WAYS, NULL, l->ways},
    };
    const struct cf_values line[] = {
        {CF_SNAP, NULL, s->number}, {CF_LEVEL, NULL, l->depth},  {CF_SET, s->row.set, 0},
        {CF_WAY, s->row.way, 0},    {CF_STATE, s->row.state, 0}, {CF_PHYS, s->row.phys, 0},
        {CF_ADDR, s->row.addr, 0},  {CF_PID, s->row.pid, 0},     {CF_CPU, s->row.cpu, 0},
    };

    s->lines = 0;
    for (unsigned k = 0; k < caches; k++)
        for (uint32_t set = 0; set < l->sets; set++)
            for (uint32_t way = 0; way < l->ways; way++) {
                uint64_t entry = cf_hierarchy_line(s->model, s->o.level, k, set, way);

                if (entry != CF_CACHE_NONE)
                    add_line(s, entry, set, way, k * l->shared_by);
            }
    if (s->o.flush)
        cf_hierarchy_empty(s->model);
    s->touched = 0;
    if (cf_writer_rows(s->writer, CF_SNAPSHOT, 1, snapshot, 7, NULL) != 0)
        return -1;
    if (!s->lines)
        return 0;
    return cf_writer_rows(s->writer, CF_LINE, s->lines, line, 8 + (caches > 1), NULL);
}

int snapshots_end(struct snapshots *s)
{
    const int due = s->started && s->touched;

    s->started = 0;
    return due ? take(s, s->last + (s->last < UINT64_MAX)) : 0;
}

/* ---- accesses ---- */

/* The first row from `from` on that is beyond the period. */
static uint32_t until(const struct snapshots *s, const uint64_t *time, uint32_t from, uint32_t to)
{
    while (from < to && time[from] < s->next)
        from++;
    return from;
}

/* The period of a row, with the snapshot of the one before. */
static int begin_period(struct snapshots *s, uint64_t time)
{
    if (!s->started) {
        s->started = 1;
        s->next = time + s->o.every < time ? UINT64_MAX : time + s->o.every;
    } else if (time >= s->next && s->next != UINT64_MAX) {
        const uint64_t end = s->next + (time - s->next) / s->o.every * s->o.every;

        if (s->touched && take(s, s->next) != 0)
            return -1;
        s->next = end + s->o.every < end ? UINT64_MAX : end + s->o.every;
    }
    return 0;
}

int snapshots_frame(struct snapshots *s, const struct cf_frame *f)
{
    const uint64_t *time = cf_u64(f, CF_TIME);
    uint32_t end, period = 0; /* `period`: the end of its rows */

    for (uint32_t from = 0; from < f->rows; from = end) {
        uint32_t core;
        uint64_t space;

        if (from >= period) {
            if (begin_period(s, time[from]) != 0)
                return -1;
            period = until(s, time, from, f->rows);
            if (period == from)
                period = f->rows; /* no later time can be written */
        }
        end = cf_cores_next(s->cores, f, from, period, &core, &space);
        if (end <= from || placed_run(s->placed, s->model, f, from, end, core, space, s->hit) != 0)
            cf_out_of_memory(s->tool);
        s->touched = 1;
        s->last = time[end - 1];
    }
    return 0;
}
