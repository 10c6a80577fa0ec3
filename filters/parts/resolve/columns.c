/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * columns.c - the columns that cf-resolve adds, run by run: accesses of one process between two
 * events.
 */
#include <string.h>

#include "filters/parts/resolve/columns.h"

const unsigned columns_added[ADDED + 1] = {CF_REGION, CF_PAGENO,   CF_OBJ,    CF_SITE,
                                           CF_SYMBOL, CF_FUNCTION, CF_SOURCE, CF_INLINED};

static int has_code(const struct state *s)
{
    return s->code.pc || s->code.rows.kinds;
}

static unsigned wanted(const struct state *s, const struct cf_frame *f)
{
    unsigned maps = 1 << REGION | 1 << PAGE | 1 << SYMBOL, code = 1 << FUNCTION | 1 << SOURCE;
    unsigned add = s->o->add, can = 0;
    const unsigned inlined = s->nodes && !s->o->places.no_inline ? 1 << INLINED : 0;

    if (f->table == CF_OBJECT)
        return (add ? add : ~0u) & (1 << OBJECT | 1 << SITE | code);
    if (add)
        return f->table == CF_LINE ? add & ~(code | 1 << INLINED) : add;
    if (s->t.has_maps)
        can |= (s->places ? maps : 0) | (has_code(s) ? code | inlined : 0);
    /* With mappings too: the first allocation may come after the first accesses, or never, and
       a ranking of sites needs the column in every frame. Empty it takes no room. */
    if ((s->t.has_maps || s->t.has_objects) && s->places)
        can |= 1 << OBJECT | 1 << SITE;
    return can;
}

/* ---- addresses, and whose they are ---- */

/* Where each row's address lies in its mappings: column addr, or with --physical column phys and
   the offset, but where only addr is known. NULL: not known of any row. */
static const uint64_t *places_of(struct state *s, const struct cf_frame *f)
{
    const uint64_t *addr = cf_u64(f, CF_ADDR), *phys = cf_u64(f, CF_PHYS);

    if (!s->o->physical || !phys)
        return addr;
    for (uint32_t i = 0; i < f->rows; i++)
        s->place[i] = !phys[i] && addr && addr[i] ? addr[i] : phys[i] + s->o->offset;
    return s->place;
}

/* The process whose mappings hold an address: of several the one with the smallest number, 0 where
   there is none. */
static uint32_t owner_of(const struct world *w, uint64_t addr)
{
    uint32_t owner = 0;

    for (size_t i = 0; i < w->count; i++)
        if (w->space[i]->maps && cf_intervals_overlap(w->space[i]->maps->set, addr, addr) &&
            (!owner || w->space[i]->pid < owner))
            owner = w->space[i]->pid;
    return owner;
}

static void clear_places(struct state *s, uint32_t from, uint32_t end)
{
    for (int k = 0; k < FUNCTION; k++)
        memset(s->column[k] + from, 0, (end - from) * sizeof **s->column);
}

static void clear_run(struct state *s, unsigned add, uint32_t from, uint32_t end)
{
    clear_places(s, from, end);
    code_none(s, add, from, end);
}

/* What is asked for at once: places that no recent access was near. */
struct asked {
    uint32_t count;
    uint32_t row[CHUNK]; /* of the run at hand */
    uint64_t addr[CHUNK], key[CHUNK];
    uint64_t first[CHUNK], last[CHUNK]; /* addresses around it with the same answer */
    uint32_t value[CHUNK][RECENT];
    uint32_t slots[CHUNK];
};

/* Narrows what is found at an address to its page, as far as pages of that region are numbered. */
static void find_page(const struct state *s, const struct region *g, struct asked *q, uint32_t i)
{
    const uint64_t inside = ((uint64_t)1 << s->page_shift) - 1, from = q->addr[i] - g->base;
    const uint64_t number = (from ^ g->flip) >> s->page_shift;
    const uint64_t before = from & inside, after = inside - before;

    q->value[i][RECENT_PAGE] = number > UINT32_MAX ? UINT32_MAX : (uint32_t)number;
    if (q->addr[i] - q->first[i] > before)
        q->first[i] = q->addr[i] - before;
    if (q->last[i] - q->addr[i] > after)
        q->last[i] = q->addr[i] + after;
}

/* The variable at an address of a region's file. */
static void find_symbol(struct state *s, const struct region *g, struct asked *q, uint32_t i)
{
    const uint64_t at = q->addr[i] - g->bias;
    uint64_t first = at - (q->addr[i] - q->first[i]), last = at + (q->last[i] - q->addr[i]);

    if (!g->symbols) {
        names_missed(&s->t.r.names, g->name);
        return;
    }
    first = first > at ? at : first; /* no further than the file's addresses go */
    last = last < at ? at : last;
    q->value[i][RECENT_SYMBOL] = symbols_variable(g->symbols, s->out, at, q->key[i], &first, &last);
    q->first[i] = q->addr[i] - (at - first);
    q->last[i] = q->addr[i] + (last - at);
}

static void find_regions(struct state *s, struct space *space, unsigned add, struct asked *q)
{
    struct cf_intervals *maps = space->maps ? space->maps->set : NULL;

    if (!maps)
        return;
    cf_intervals_find_many(maps, q->addr, q->key, q->count, q->slots);
    for (uint32_t i = 0; i < q->count; i++) {
        const uint32_t index = cf_intervals_slots(maps)[q->slots[i]].value;
        struct region *g = &s->t.r.regions[index];

        cf_intervals_around(maps, q->addr[i], &q->first[i], &q->last[i]);
        if (index == 0)
            continue;
        q->value[i][RECENT_REGION] = region_text(&s->t.r, g);
        find_page(s, g, q, i);
        if (add & 1 << SYMBOL)
            find_symbol(s, g, q, i);
    }
}

static void find_objects(struct space *space, struct asked *q)
{
    struct cf_intervals *objects = space->objects ? space->objects->set : NULL;

    if (!objects)
        return;
    cf_intervals_find_many(objects, q->addr, q->key, q->count, q->slots);
    for (uint32_t i = 0; i < q->count; i++) {
        const struct cf_interval *slot = &cf_intervals_slots(objects)[q->slots[i]];

        q->value[i][RECENT_OBJECT] = slot->value;
        q->value[i][RECENT_SITE] = slot->extra;
        cf_intervals_around(objects, q->addr[i], &q->first[i], &q->last[i]);
    }
}

typedef uint32_t four __attribute__((vector_size(16)));

static inline void store_four(uint32_t *to, four v)
{
    memcpy(to, &v, sizeof v);
}

/* Four rows with the first four values of each become columns. */
static inline void store_places(uint32_t *const *column, size_t row, const four *v)
{
    const four a = __builtin_shufflevector(v[0], v[1], 0, 4, 1, 5);
    const four b = __builtin_shufflevector(v[2], v[3], 0, 4, 1, 5);
    const four c = __builtin_shufflevector(v[0], v[1], 2, 6, 3, 7);
    const four d = __builtin_shufflevector(v[2], v[3], 2, 6, 3, 7);

    store_four(column[RECENT_REGION] + row, __builtin_shufflevector(a, b, 0, 1, 4, 5));
    store_four(column[RECENT_PAGE] + row, __builtin_shufflevector(a, b, 2, 3, 6, 7));
    store_four(column[RECENT_OBJECT] + row, __builtin_shufflevector(c, d, 0, 1, 4, 5));
    store_four(column[RECENT_SITE] + row, __builtin_shufflevector(c, d, 2, 3, 6, 7));
}

/* Fills in what recent accesses found, and anything in the other rows. Goes out: how many and which
   rows are left to be asked for. */
static uint32_t find_recent(struct state *s, const struct space *space, uint32_t from, uint32_t end,
                            uint32_t *left)
{
    struct recent *const recent = s->t.r.recent;
    const uint64_t layout = space->layout, *addr = s->places;
    uint32_t *const column[RECENT] = {s->column[REGION], s->column[PAGE], s->column[OBJECT],
                                      s->column[SITE], s->column[SYMBOL]};
    uint32_t count = 0;
    size_t row = from;

    for (; row + 4 <= end; row += 4) {
        four v[4];
#pragma GCC unroll 4
        for (unsigned k = 0; k < 4; k++) {
            const struct recent_entry *e = recent_at(recent, layout, addr[row + k]);

            if (!recent_knows(e, layout, addr[row + k]))
                left[count++] = (uint32_t)row + k;
            memcpy(&v[k], e->value, sizeof v[k]);
            column[RECENT_SYMBOL][row + k] = e->value[RECENT_SYMBOL];
        }
        store_places(column, row, v);
    }
    for (; row < end; row++) {
        const struct recent_entry *e = recent_at(recent, layout, addr[row]);

        if (!recent_knows(e, layout, addr[row]))
            left[count++] = (uint32_t)row;
        for (int k = 0; k < RECENT; k++)
            column[k][row] = e->value[k];
    }
    return count;
}

/* Columns by address, of `count` rows from `from` on. */
static void find_places(struct state *s, struct space *space, unsigned add, uint32_t from,
                        uint32_t count)
{
    static struct asked q;
    uint32_t *const column[RECENT] = {s->column[REGION], s->column[PAGE], s->column[OBJECT],
                                      s->column[SITE], s->column[SYMBOL]};

    q.count = find_recent(s, space, from, from + count, q.row);
    for (uint32_t i = 0; i < q.count; i++) {
        q.addr[i] = s->places[q.row[i]];
        q.key[i] = code_key(s, q.row[i]);
        q.first[i] = q.addr[i] & ~(uint64_t)(RECENT_BYTES - 1);
        q.last[i] = q.addr[i] | (RECENT_BYTES - 1);
    }
    memset(q.value, 0, q.count * sizeof *q.value);
    if (add & (1 << REGION | 1 << PAGE | 1 << SYMBOL))
        find_regions(s, space, add, &q);
    if (add & (1 << OBJECT | 1 << SITE))
        find_objects(space, &q);
    for (uint32_t i = 0; i < q.count; i++) {
        recent_keep(s->t.r.recent, space->layout, q.first[i], q.last[i], q.value[i]);
        for (int k = 0; k < RECENT; k++)
            column[k][q.row[i]] = q.value[i][k];
    }
}

/* Code is no variable. */
static void clear_code(struct state *s, const uint8_t *op, uint32_t from, uint32_t end)
{
    for (uint32_t i = from; i < end; i++)
        if (op[i] == CF_IFETCH)
            s->column[SYMBOL][i] = 0;
}

enum { BLOCK = 64 }; /* rows looked at without a branch, by what compilers make vectors of */

static uint32_t count_set(const uint32_t *column, uint32_t rows)
{
    uint32_t set = 0, i = 0;

    for (; i + BLOCK <= rows; i += BLOCK)
        for (uint32_t k = 0; k < BLOCK; k++)
            set += column[i + k] != 0;
    for (; i < rows; i++)
        set += column[i] != 0;
    return set;
}

/* Accesses of one process between two events. */
static void resolve_run(struct state *s, const struct cf_frame *f, unsigned add,
                        struct space *space, uint32_t from, uint32_t end)
{
    const uint8_t *op = cf_u8(f, CF_OP);

    if (!space) {
        clear_run(s, add, from, end);
        return;
    }
    if (!s->places)
        clear_places(s, from, end);
    for (uint32_t i = from, n; s->places && i < end; i += n) {
        n = end - i < CHUNK ? end - i : CHUNK;
        find_places(s, space, add, i, n);
        if (op && memchr(op + i, CF_IFETCH, n))
            clear_code(s, op, i, i + n);
        for (int k = 0; k < FUNCTION && !s->tool->quiet; k++)
            if (add & 1u << k)
                s->count[k] += count_set(s->column[k] + i, n);
    }
    if (has_code(s))
        code_run(s, add, space, from, end);
    else
        code_none(s, add, from, end);
}

/* Rows of one process at one time. With --physical those without one are of whose mappings hold
   them. */
static void resolve_rows(struct state *s, const struct cf_frame *f, unsigned add,
                         const struct world *w, uint32_t pid, uint32_t from, uint32_t end)
{
    if (!s->o->physical || pid || !s->places) {
        for (uint32_t i = from; s->o->physical && i < end; i++)
            s->owner[i] = pid;
        resolve_run(s, f, add, world_space(w, pid), from, end);
        return;
    }
    for (uint32_t i = from, next; i < end; i = next) {
        for (next = i; next < end; next++) {
            s->owner[next] = owner_of(w, s->places[next]);
            if (s->owner[next] != s->owner[i])
                break;
        }
        resolve_run(s, f, add, world_space(w, s->owner[i]), i, next);
    }
}

/* Rows of table stack are kept back until they are used, since that is when their code is known. */
static void name_nodes(struct state *s, const struct cf_frame *f, struct space *space, uint32_t pid,
                       uint32_t from, uint32_t end)
{
    const uint32_t *node = s->nodes ? cf_u32(f, CF_STACK_ID) : NULL;

    for (uint32_t i = from; node && i < end; i++)
        if (node[i] && (i == from || node[i] != node[i - 1]))
            places_name_node(s->t.places, space, pid, node[i]);
}

/* A row belongs to those from `from` on: of the same process, at a time from `least` to before
   `next`. The columns may be NULL. */
static int belongs(const uint32_t *pids, const uint64_t *time, uint64_t least, uint64_t next,
                   uint32_t from, uint32_t row)
{
    return !(pids && pids[row] != pids[from]) && !(time && time[row] - least >= next - least);
}

static int other_process(const uint32_t *pids, uint32_t pid)
{
    uint32_t other = 0;

    for (uint32_t k = 0; k < BLOCK; k++)
        other |= pids[k] ^ pid;
    return other != 0;
}

/* Bit 63 is set where a time is before `least` or more than `span` after it, or so far away that it
   takes a closer look. */
static int other_time(const uint64_t *time, uint64_t least, uint64_t span)
{
    uint64_t outside = 0;

    for (uint32_t k = 0; k < BLOCK; k++)
        outside |= (time[k] - least) | (span - (time[k] - least));
    return outside >> 63;
}

/* Where these rows end. */
static uint32_t end_of_run(const uint32_t *pids, const uint64_t *time, uint64_t least,
                           uint64_t next, uint32_t from, uint32_t rows)
{
    const uint64_t most = INT64_MAX, span = next - least - 1 < most ? next - least - 1 : most;
    uint32_t end = from + 1;

    while (rows - end >= BLOCK && !(pids && other_process(pids + end, pids[from])) &&
           !(time && other_time(time + end, least, span)))
        end += BLOCK;
    while (end < rows && belongs(pids, time, least, next, from, end))
        end++;
    return end;
}

static void take_accesses(struct state *s, const struct cf_frame *f, unsigned add)
{
    const uint32_t *pids = cf_u32(f, CF_PID);
    /* Accesses without a time come after all that the stream had before them. */
    uint64_t whole = f->last ? f->first : UINT64_MAX, next;
    const uint64_t *time = NULL;

    /* No more lines come of what was before this frame, or they are looked at as of then. */
    if (s->t.has_lines)
        timeline_advance_lines(&s->t, s->reached);
    next = f->last ? timeline_advance(&s->t, f->first) : 0;
    /* Where nothing happens within a frame, its times need not be unpacked. */
    if (f->last >= next || f->first < s->t.horizon)
        time = cf_late_values(f, CF_TIME);
    for (uint32_t i = 0, end; i < f->rows; i = end) {
        uint64_t t = time ? time[i] : whole;
        uint32_t pid = pids ? pids[i] : 0;
        if (t >= next)
            next = timeline_advance(&s->t, t);
        int late = t < s->t.horizon;
        if (late)
            end = end_of_run(pids, time, 0, s->t.horizon < next ? s->t.horizon : next, i, f->rows);
        else
            end = end_of_run(pids, time, s->t.horizon, next, i, f->rows);
        if (late) {
            s->t.odd.late += end - i;
            clear_run(s, add, i, end);
            name_nodes(s, f, NULL, pid, i, end);
            for (uint32_t k = i; s->o->physical && k < end; k++)
                s->owner[k] = pid;
        } else {
            name_nodes(s, f, world_space(&s->t.r.now, pid), pid, i, end);
            resolve_rows(s, f, add, &s->t.r.now, pid, i, end);
        }
    }
    if (f->last > s->reached)
        s->reached = f->last;
    s->rows += f->rows;
    if (!s->tool->quiet)
        code_count(s, add, f->rows);
}

static void take_snapshots(struct state *s, const struct cf_frame *f)
{
    const uint32_t *number = cf_u32(f, CF_SNAP);
    const uint64_t *time = cf_u64(f, CF_TIME);

    timeline_expect_lines(&s->t);
    for (uint32_t i = 0; number && time && i < f->rows; i++) {
        uint64_t at = s->snapshots++ % SNAPSHOTS;
        s->snapshot[at].number = number[i];
        s->snapshot[at].time = time[i];
    }
}

/* Time of a snapshot; of an unknown one 0, so that its lines are looked at as they are. */
static uint64_t snapshot_time(const struct state *s, uint32_t number)
{
    for (uint64_t i = s->snapshots, n = 0; i > 0 && n < SNAPSHOTS; i--, n++)
        if (s->snapshot[(i - 1) % SNAPSHOTS].number == number)
            return s->snapshot[(i - 1) % SNAPSHOTS].time;
    return 0;
}

static void take_lines(struct state *s, const struct cf_frame *f, unsigned add)
{
    const uint32_t *number = cf_u32(f, CF_SNAP), *pids = cf_u32(f, CF_PID);

    timeline_expect_lines(&s->t);
    for (uint32_t i = 0, end; i < f->rows; i = end) {
        uint32_t pid = pids ? pids[i] : 0;
        uint64_t time = number ? snapshot_time(s, number[i]) : 0;
        for (end = i + 1; end < f->rows; end++)
            if ((pids && pids[end] != pid) || (number && number[end] != number[i]))
                break;
        timeline_advance_lines(&s->t, time);
        resolve_rows(s, f, add, &s->t.r.lines, pid, i, end);
    }
    s->line_rows += f->rows;
}

void columns_take(struct state *s, struct cf_frame *f)
{
    const struct object_columns to = {s->column[OBJECT], s->column[SITE], s->column[FUNCTION],
                                      s->column[SOURCE]};
    unsigned add;

    switch (f->table) {
    case CF_HEADER:
        if (timeline_begin(&s->t, s->out, &s->o->where, &s->o->places) < 0)
            s->t.r.failed = 1;
        s->snapshots = s->reached = 0;
        s->nodes = cf_header_fact(f->header, "stack", "depth") != NULL;
        s->named |= cf_header_fact(f->header, "page", "by") != NULL;
        if (s->t.places)
            places_write_nodes(s->t.places, s->nodes);
        return;
    case CF_SNAPSHOT:
        take_snapshots(s, f);
        return;
    case CF_OBJECT:
    case CF_ACCESS:
    case CF_LINE:
        s->places = places_of(s, f);
        s->count = f->table == CF_LINE ? s->line_found : s->found;
        code_begin(s, f);
        if (f->table == CF_ACCESS && !s->nodes && cf_u32(f, CF_STACK_ID)) { /* no such fact */
            s->nodes = 1;
            if (s->t.places)
                places_write_nodes(s->t.places, 1);
        }
        add = wanted(s, f);
        if (f->table == CF_OBJECT)
            timeline_take_objects(&s->t, f, &to);
        else if (f->table == CF_LINE)
            take_lines(s, f, add);
        else
            take_accesses(s, f, add);
        for (int k = 0; k < ADDED; k++)
            if (add & 1u << k && code_set(s, f, columns_added[k], k) < 0)
                s->crowded = 1;
        if (s->o->physical && f->table != CF_OBJECT && cf_frame_set(f, CF_PID, s->owner) < 0)
            s->crowded = 1;
        return;
    default:
        timeline_take(&s->t, s->in, f);
    }
}
