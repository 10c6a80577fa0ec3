/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * emit.c - rows of snapshots and notes. See emit.h.
 */
#include <stdlib.h>
#include <string.h>

#include "capture/snapshot/emit.h"

enum { BATCH = 16384 };

struct cf_note {
    struct cf_note *next;
    uint64_t ns;
    uint32_t pid, parent;
    unsigned op; /* CF_BEGIN, CF_NAMED, CF_EXIT, CF_MAPPED */
    char *text;
    size_t length;
};

int cf_emit_open(struct cf_emit *e, struct cf_writer *out)
{
    *e = (struct cf_emit){.out = out, .maps = cf_maps_new(1)};
    e->last = &e->first;
    return e->maps ? 0 : -1;
}

static void free_note(struct cf_note *n)
{
    free(n->text);
    free(n);
}

void cf_emit_free(struct cf_emit *e)
{
    while (e->first) {
        struct cf_note *n = e->first;

        e->first = n->next;
        free_note(n);
    }
    cf_maps_free(e->maps);
    free(e->pid);
    free(e->phys);
    free(e->addr);
    free(e->set);
    free(e->way);
    free(e->owner);
    free(e->state);
}

/* ---- notes ---- */

/* Takes `text` over; NULL without memory. */
static struct cf_note *add_note(struct cf_emit *e, uint64_t ns, uint32_t pid, unsigned op,
                                char *text, size_t length)
{
    struct cf_note *n = calloc(1, sizeof *n);

    if (!n || !text) {
        free(n);
        free(text);
        return NULL;
    }
    *n = (struct cf_note){.ns = ns, .pid = pid, .op = op, .text = text, .length = length};
    *e->last = n;
    e->last = &n->next;
    return n;
}

int cf_emit_begin(struct cf_emit *e, uint64_t ns, uint32_t pid, uint32_t parent, const char *name)
{
    struct cf_note *n = add_note(e, ns, pid, CF_BEGIN, strdup(name), 0);

    if (n)
        n->parent = parent;
    return n ? 0 : -1;
}

int cf_emit_named(struct cf_emit *e, uint64_t ns, uint32_t pid, const char *name)
{
    return add_note(e, ns, pid, CF_NAMED, strdup(name), 0) ? 0 : -1;
}

int cf_emit_ended(struct cf_emit *e, uint64_t ns, uint32_t pid)
{
    return add_note(e, ns, pid, CF_EXIT, strdup(""), 0) ? 0 : -1;
}

int cf_emit_maps(struct cf_emit *e, uint64_t ns, uint32_t pid, char *text, size_t length)
{
    return add_note(e, ns, pid, CF_MAPPED, text, length) ? 0 : -1;
}

static uint64_t stream_time(const struct cf_emit *e, uint64_t ns)
{
    return ns > e->start_ns ? ns - e->start_ns : 0;
}

static int observe(struct cf_emit *e, uint32_t pid)
{
    uint32_t *more = realloc(e->pid, (e->pids + 1) * sizeof *more);

    if (!more)
        return -1;
    e->pid = more;
    e->pid[e->pids++] = pid;
    return 0;
}

/* Its number may be another program's from now on. */
static void forget(struct cf_emit *e, uint32_t pid)
{
    for (size_t i = 0; i < e->pids; i++)
        if (e->pid[i] == pid)
            e->pid[i--] = e->pid[--e->pids];
}

static int write_note(struct cf_emit *e, const struct cf_note *n)
{
    const uint64_t time = stream_time(e, n->ns);
    const struct cf_values v[] = {
        {CF_TIME, NULL, time},  {CF_PID, NULL, n->pid},
        {CF_TID, NULL, n->pid}, {CF_PARENT, NULL, n->parent},
        {CF_OP, NULL, n->op},   {CF_LABEL, NULL, cf_writer_string(e->out, n->text)}};

    if (n->op == CF_MAPPED)
        return cf_maps_update(e->maps, e->out, time, n->pid, n->text, n->length, &e->bad_maps);
    if (n->op == CF_BEGIN &&
        (observe(e, n->pid) != 0 || cf_maps_fork(e->maps, n->pid, n->parent) != 0))
        return -1;
    if (n->op == CF_EXIT) {
        forget(e, n->pid);
        cf_maps_forget(e->maps, n->pid);
    }
    return cf_writer_rows(e->out, CF_TASK, 1, v, 6, NULL);
}

int cf_emit_notes(struct cf_emit *e, uint64_t until_ns)
{
    while (e->first && e->first->ns <= until_ns) {
        struct cf_note *n = e->first;
        const int result = write_note(e, n);

        e->first = n->next;
        if (!e->first)
            e->last = &e->first;
        free_note(n);
        if (result != 0)
            return -1;
    }
    return 0;
}

/* ---- snapshots ---- */

static uint8_t state_of(uint8_t bits)
{
    const uint8_t secure = bits & CACHEFLOW_NON_SECURE ? CF_STATE_NON_SECURE : 0;

    switch (bits & (CACHEFLOW_M | CACHEFLOW_O | CACHEFLOW_E | CACHEFLOW_S)) {
    case CACHEFLOW_M:
        return CF_STATE_MODIFIED | secure;
    case CACHEFLOW_O:
        return CF_STATE_OWNED | secure;
    case CACHEFLOW_E:
        return CF_STATE_EXCLUSIVE | secure;
    case CACHEFLOW_S:
        return CF_STATE_SHARED | secure;
    case CACHEFLOW_M | CACHEFLOW_E:
        return CF_STATE_UNIQUE | secure;
    case CACHEFLOW_O | CACHEFLOW_S:
        return CF_STATE_COMMON | secure;
    default:
        return secure;
    }
}

static int is_observed(const struct cf_emit *e, uint32_t pid)
{
    for (size_t i = 0; i < e->pids; i++)
        if (e->pid[i] == pid)
            return 1;
    return 0;
}

/* What is wrong with a snapshot's header, or NULL. */
static const char *damage(const struct cacheflow_snapshot *h, size_t length)
{
    uint64_t lines_end;

    if (length < sizeof *h || h->magic != CACHEFLOW_MAGIC)
        return "holds no snapshot where one should be";
    if (h->abi != CACHEFLOW_ABI)
        return "has another version of the interface than this program";
    lines_end = h->header_bytes + (uint64_t)h->entries * h->entry_bytes;
    if (h->bytes != length || h->header_bytes < sizeof *h ||
        h->entry_bytes < sizeof(struct cacheflow_line) || lines_end > length ||
        (h->owners &&
         (h->owner_bytes < sizeof(struct cacheflow_owner) || h->owners_at < h->header_bytes ||
          h->owners_at + (uint64_t)h->owners * h->owner_bytes > length)))
        return "has sizes in a snapshot's header that do not add up";
    if (h->header_bytes % 4 || h->entry_bytes % 4 || h->owner_bytes % 8 || h->owners_at % 8)
        return "has sizes in a snapshot's header that are not aligned";
    return NULL;
}

static const struct cacheflow_owner *owner_at(const struct cacheflow_snapshot *h, uint32_t i)
{
    return (const void *)((const char *)h + h->owners_at + (size_t)i * h->owner_bytes);
}

static int grow(struct cf_emit *e)
{
    const size_t room = BATCH;

    if (e->room)
        return 0;
    e->phys = malloc(room * sizeof *e->phys);
    e->addr = malloc(room * sizeof *e->addr);
    e->set = malloc(room * sizeof *e->set);
    e->way = malloc(room * sizeof *e->way);
    e->owner = malloc(room * sizeof *e->owner);
    e->state = malloc(room);
    if (!e->phys || !e->addr || !e->set || !e->way || !e->owner || !e->state)
        return -1;
    e->room = room;
    return 0;
}

struct rows {
    struct cf_emit *e;
    const struct cacheflow_snapshot *h;
    uint32_t count;
    int resolved;
};

static int send_rows(struct rows *r)
{
    const struct cf_emit *e = r->e;
    struct cf_values v[9] = {{CF_SNAP, NULL, e->number}, {CF_LEVEL, NULL, r->h->level},
                             {CF_SET, e->set, 0},        {CF_WAY, e->way, 0},
                             {CF_STATE, e->state, 0},    {CF_PHYS, e->phys, 0}};
    unsigned columns = 6;

    if (r->h->level == 1) /* its CPU's own */
        v[columns++] = (struct cf_values){CF_CPU, NULL, r->h->cpu};
    if (r->resolved) {
        v[columns++] = (struct cf_values){CF_ADDR, e->addr, 0};
        v[columns++] = (struct cf_values){CF_PID, e->owner, 0};
    }
    if (r->count && cf_writer_rows(e->out, CF_LINE, r->count, v, columns, NULL) != 0)
        return -1;
    r->count = 0;
    return 0;
}

static int add_row(struct rows *r, const struct cacheflow_line *l, uint64_t addr, uint32_t pid)
{
    struct cf_emit *e = r->e;
    const uint32_t i = r->count++;

    e->phys[i] = cacheflow_line_phys(l);
    e->addr[i] = pid ? addr : 0;
    e->owner[i] = pid;
    e->set[i] = l->set;
    e->way[i] = l->way;
    e->state[i] = state_of(l->state);
    return r->count == e->room ? send_rows(r) : 0;
}

/* The rows of one line, whose owners are [from, to). */
static int line_rows(struct rows *r, const struct cacheflow_line *l, uint32_t from, uint32_t to)
{
    int given = 0;

    for (uint32_t i = from; i < to; i++) {
        const struct cacheflow_owner *o = owner_at(r->h, i);

        if (r->e->owners == OWNERS_FIRST && given)
            break;
        if (r->e->owners == OWNERS_OBSERVED && !is_observed(r->e, o->pid))
            continue;
        given = 1;
        if (add_row(r, l, o->virt, o->pid) != 0)
            return -1;
    }
    if (given)
        return 0;
    return from < to ? add_row(r, l, owner_at(r->h, from)->virt, owner_at(r->h, from)->pid)
                     : add_row(r, l, 0, 0);
}

static int write_lines(struct rows *r)
{
    const struct cacheflow_snapshot *h = r->h;
    uint32_t owner = 0;

    for (uint32_t i = 0; i < h->entries; i++) {
        const struct cacheflow_line *l =
            (const void *)((const char *)h + h->header_bytes + (size_t)i * h->entry_bytes);
        const uint32_t from = owner;

        if (l->set >= h->sets || l->way >= h->ways) {
            r->e->problem = "has a line in a set or way that its cache does not have";
            return -1;
        }
        while (owner < h->owners && owner_at(h, owner)->entry == i)
            owner++;
        if (line_rows(r, l, from, owner) != 0)
            return -1;
    }
    if (owner != h->owners) {
        r->e->problem = "has owners of lines out of order";
        return -1;
    }
    return send_rows(r);
}

int cf_emit_snapshot(struct cf_emit *e, const void *bytes, size_t length, unsigned mode)
{
    const struct cacheflow_snapshot *h = bytes;
    struct rows rows = {.e = e, .h = h};
    const char *wrong = damage(h, length);

    e->problem = wrong ? wrong : grow(e) != 0 ? "needs more memory than there is" : NULL;
    if (e->problem)
        return -1;
    rows.resolved = (h->flags & CACHEFLOW_SNAP_RESOLVED) != 0;
    mode |= rows.resolved ? CF_MODE_RESOLVED : 0;
    e->number++;
    e->owners_missing += h->owners_missing;

    const struct cf_values v[] = {
        {CF_SNAP, NULL, e->number}, {CF_TIME, NULL, stream_time(e, h->time_ns)},
        {CF_MODE, NULL, mode},      {CF_COST_TOTAL, NULL, h->cost_cycles},
        {CF_LEVEL, NULL, h->level}, {CF_SETS, NULL, h->sets},
        {CF_WAYS, NULL, h->ways},
    };

    if (cf_emit_notes(e, h->time_ns) != 0 ||
        cf_writer_rows(e->out, CF_SNAPSHOT, 1, v, 7, NULL) != 0)
        return -1;
    return write_lines(&rows);
}
