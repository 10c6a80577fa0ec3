/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rows.c - frames of accesses and lines, slice by slice, to what heat_add() counts.
 */
#include <string.h>

#include "formats/base/cf_memory.h"
#include "formats/base/cf_number.h"
#include "filters/parts/heatmap/rows.h"

const char rows_processes[] = "pages of mappings of one name, or of one address, are added up; "
                              "choose a process by 'cf-select --pid'";

/* What the rows of a slice count, where that is not 1. */
static const uint64_t *amounts(struct work *w, const struct cf_frame *f, uint32_t at, uint32_t n)
{
    const uint64_t *weight = cf_u64(f, CF_WEIGHT);
    const uint32_t *each = w->o->value == BYTES  ? cf_u32(f, CF_SIZE)
                           : w->o->value == COST ? cf_u32(f, CF_COST)
                                                 : NULL;

    if (each && weight) {
        for (uint32_t i = 0; i < n; i++)
            w->amount[i] = cf_product(each[at + i], weight[at + i]);
    } else if (each) {
        for (uint32_t i = 0; i < n; i++)
            w->amount[i] = each[at + i];
    } else {
        return weight ? weight + at : NULL;
    }
    return w->amount;
}

/* Which rows of a slice are misses of an operation that counts. */
static const uint8_t *find_misses(struct work *w, const struct cf_frame *f, uint32_t at, uint32_t n)
{
    const uint8_t *hit = cf_u8(f, CF_HIT), *class = cf_u8(f, CF_CLASS), *op = cf_u8(f, CF_OP);
    const uint8_t *level = hit || class ? NULL : cf_u8(f, CF_LEVEL);

    w->missed_by |= cf_missed_by(f);
    if (!hit && !class && !level)
        w->no_misses = 1;
    for (uint32_t i = 0; i < n; i++) {
        const int counts = !op || w->o->ops[op[at + i]];
        int miss = (hit && hit[at + i] == CF_FROM_MEMORY) || (class && class[at + i]) ||
                   (level && level[at + i] == CF_FROM_MEMORY);

        w->no_level |= counts && level && level[at + i] == CF_FROM_BEYOND;
        w->counts[i] = miss && counts;
    }
    return w->counts;
}

void rows_too_many(const struct work *w, const struct heat *h)
{
    if (h == w->lines)
        cf_die(w->tool, CF_EXIT_INPUT,
               "the numbers of snapshots span more than %d: choose some by cf-select",
               HEAT_MOST_BINS);
    cf_die(w->tool, CF_EXIT_USAGE,
           "--bin-width: the stream spans more than %d bins: choose wider ones, or --bins",
           HEAT_MOST_BINS);
}

/* Exits where there would be too many bins. */
static void add(struct work *w, struct heat *h, const struct heat_rows *r)
{
    if (heat_add(h, r) != 0)
        rows_too_many(w, h);
}

/* How many of the first rows are of the same snapshot. A snapshot has thousands of them. */
static uint32_t of_one_snapshot(const uint32_t *snapshot, uint32_t rows)
{
    enum { BLOCK = 64 };
    uint32_t n = 0;

    for (; rows - n >= BLOCK; n += BLOCK) {
        uint32_t other = 0;

        for (unsigned i = 0; i < BLOCK; i++)
            other |= snapshot[n + i] ^ *snapshot;
        if (other)
            break;
    }
    while (n < rows && snapshot[n] == *snapshot)
        n++;
    return n;
}

/* Addresses of lines: of those of which only the physical one is known, that. */
static const uint64_t *addresses(struct work *w, const uint64_t *addr, const uint64_t *phys,
                                 uint32_t n)
{
    uint32_t i = 0;

    while (i < n && addr[i])
        i++;
    if (i == n)
        return addr;
    for (i = 0; i < n; i++)
        w->amount[i] = addr[i] ? addr[i] : phys[i];
    return w->amount;
}

void rows_add(struct work *w, const struct cf_frame *f)
{
    static const uint8_t as_is[256] = {0, 1};
    const uint64_t *time = cf_u64(f, CF_TIME), *addr = cf_u64(f, CF_ADDR);
    const uint64_t *phys = cf_u64(f, CF_PHYS);
    const uint32_t *region = cf_u32(f, CF_REGION), *page = cf_u32(f, CF_PAGENO);
    const uint32_t *snapshot = cf_u32(f, CF_SNAP), *function = cf_u32(f, CF_FUNCTION);
    const uint8_t *op = cf_u8(f, CF_OP), *level = cf_u8(f, CF_LEVEL);
    struct heat_rows r = {.from = w->o->from, .to = w->o->to};

    if (!addr)
        addr = phys;
    if (!addr && !(region && page)) {
        w->no_place[f->table == CF_LINE] = 1;
        return;
    }
    cf_processes_check(&w->processes, w->tool, f, rows_processes);
    if (!region || !page)
        w->unresolved_rows += f->rows;
    for (uint32_t at = 0, n; at < f->rows; at += n) {
        n = f->rows - at < HEAT_SLICE ? f->rows - at : HEAT_SLICE;
        if (f->table == CF_LINE && snapshot)
            n = of_one_snapshot(snapshot + at, n);
        r.rows = n;
        r.region = region && page ? region + at : NULL;
        r.page = page ? page + at : NULL;
        r.addr = addr ? addr + at : NULL;
        if (f->table == CF_ACCESS) {
            r.times = time ? time + at : NULL;
            r.amount = amounts(w, f, at, n);
            r.kind = op ? op + at : NULL;
            r.pass = w->o->ops;
            if (w->o->value == MISSES) {
                r.kind = find_misses(w, f, at, n);
                r.pass = as_is;
            }
            add(w, w->accesses, &r);
            if (w->fine)
                add(w, w->fine, &r);
            if (w->names && function)
                heat_names_add(w->names, &r, function + at);
        } else {
            r.time = snapshot ? snapshot[at] : 0;
            if (addr && phys && addr != phys)
                r.addr = addresses(w, addr + at, phys + at, n);
            r.kind = w->o->level_given && level ? level + at : NULL;
            r.pass = w->o->levels;
            add(w, w->lines, &r);
        }
    }
    *(f->table == CF_ACCESS ? &w->access_rows : &w->line_rows) += f->rows;
    if (f->table == CF_LINE && w->line_segments < 2 && w->line_segment != w->segment) {
        w->line_segments++;
        w->line_segment = w->segment;
    }
}

/* One with several levels is announced for each. */
void rows_snapshot(struct work *w, uint32_t number, uint64_t time)
{
    const size_t n = w->snapshots.count;

    if (n && w->snapshots.number[n - 1] == number)
        return;
    cf_must(w->tool, cf_array_room(&w->snapshots.number, &w->snapshots.room, n + 1,
                                   sizeof *w->snapshots.number));
    cf_must(w->tool, cf_array_room(&w->snapshots.time, &w->snapshots.time_room, n + 1,
                                   sizeof *w->snapshots.time));
    w->snapshots.number[n] = number;
    w->snapshots.time[n] = time;
    w->snapshots.count++;
}

void rows_snapshots(struct work *w, const struct cf_frame *f)
{
    const uint32_t *number = cf_u32(f, CF_SNAP);
    const uint64_t *time = cf_u64(f, CF_TIME);

    for (uint32_t i = 0; number && time && i < f->rows; i++)
        rows_snapshot(w, number[i], time[i]);
}

void rows_header(struct work *w, const struct cf_header *h)
{
    const char *unit = h->clock_unit ? h->clock_unit : "";

    cf_tool_command(w->tool, &w->command, h->command);
    w->segment++;
    cf_mix_check(&w->mix, w->tool, h);
    if (!w->unit) {
        w->unit = cf_tool_text(w->tool, "%s", unit);
        w->hz = h->clock_hz;
    }
    w->units_differ |= strcmp(w->unit, unit) != 0 || w->hz != h->clock_hz;
}

void rows_want(struct work *w)
{
    const struct options *o = w->o;

    cf_reader_want_each(w->reader, CF_ACCESS, CF_OPTIONAL, CF_ADDR, CF_PHYS, CF_REGION, CF_PAGENO,
                        CF_OP, CF_WEIGHT);
    cf_reader_want_each(w->reader, CF_LINE, CF_OPTIONAL, CF_ADDR, CF_PHYS, CF_REGION, CF_PAGENO,
                        CF_SNAP);
    if (o->table != CF_LINE)
        cf_reader_want(w->reader, CF_ACCESS, CF_TIME, CF_REQUIRED);
    if (o->table != CF_ACCESS)
        cf_reader_want(w->reader, CF_LINE, 0, CF_REQUIRED);
    if (!w->tool->quiet)
        cf_reader_want(w->reader, CF_ACCESS, CF_PID, CF_OPTIONAL);
    if (o->output.html)
        cf_reader_want(w->reader, CF_ACCESS, CF_FUNCTION, CF_OPTIONAL);
    cf_reader_want_each(w->reader, CF_SNAPSHOT, CF_OPTIONAL, CF_SNAP, CF_TIME);
    if (o->level_given)
        cf_reader_want(w->reader, CF_LINE, CF_LEVEL, CF_REQUIRED);
    if (o->ops_given || o->value == LOADS || o->value == STORES)
        cf_reader_want(w->reader, CF_ACCESS, CF_OP, CF_REQUIRED);
    if (o->value == BYTES)
        cf_reader_want(w->reader, CF_ACCESS, CF_SIZE, CF_REQUIRED);
    if (o->value == COST) {
        w->mix.column[0] = CF_COST;
        cf_reader_want(w->reader, CF_ACCESS, CF_COST, CF_REQUIRED);
    }
    if (o->value == MISSES) {
        w->mix.column[0] = CF_HIT;
        w->mix.column[1] = CF_CLASS;
        w->mix.column[3] = CF_LEVEL;
        cf_reader_want_each(w->reader, CF_ACCESS, CF_OPTIONAL, CF_HIT, CF_CLASS, CF_LEVEL);
    }
    w->mix.column[2] = CF_PAGENO;
    w->processes.silent = w->partial.asked;
    cf_reader_unify(w->reader);
    cf_reader_pieces(w->reader);
    if (o->table == CF_ACCESS && (o->from || o->to != UINT64_MAX))
        cf_reader_range(w->reader, o->from, o->to);
}
