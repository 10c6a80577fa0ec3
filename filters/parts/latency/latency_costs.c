/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * latency_costs.c - the cycles of rows, their sums, and what the machine does not state of them.
 */
#include <inttypes.h>

#include "filters/parts/latency/latency.h"
#include "formats/base/cf_number.h"

/* Ends the program: a number that is stated nowhere cannot be made up. The message names all levels
   that have none, so that one correction is enough. */
static void no_latency(const struct latency *l, unsigned key)
{
    const struct cf_machine *m = l->machine;
    int level = cf_latencies_level(l->model, key);
    const char *const name = cf_machine_level_name(m, (uint32_t)level);
    char options[CF_MAX_LEVELS * 64 + 128];
    size_t at = 0;

    if (cf_machine_latency(m, (uint32_t)level)->stated)
        at = (size_t)snprintf(options, sizeof options, " --latency %s.%s=CYCLES", name,
                              cf_op_name(key & 7));
    for (uint32_t i = 0, all = !at; all && i <= m->levels; i++)
        if (!cf_machine_latency(m, i)->stated)
            at += (size_t)snprintf(options + at, sizeof options - at, " --latency %s=CYCLES",
                                   cf_machine_level_name(m, i));
    cf_die(&l->tool, CF_EXIT_USAGE,
           "%s states no latency of a %s at %s: add it there (key latency, see cf-machine(5)), or"
           " give%s",
           m->file, cf_op_name(key & 7), name, options);
}

/* Looks at the keys of a frame before it is handed on. 1 when one is of unknown origin. */
static int check_keys(struct latency *l, const struct cf_frame *f, const uint8_t *seen)
{
    int unknown = 0;

    for (unsigned key = 0; key < CF_LATENCY_KEYS; key++) {
        enum cf_latency_lack lack;

        if (!seen[key])
            continue;
        lack = cf_latencies_lack(l->model, key);
        unknown |= lack == CF_LACKS_ORIGIN;
        if (l->warned[key])
            continue;
        l->warned[key] = 1;
        switch (lack) {
        case CF_LACKS_LATENCY:
            no_latency(l, key);
            break;
        case CF_LACKS_LEVEL:
            cf_fail(&l->tool, CF_EXIT_INPUT,
                    "frame %" PRIu64 ": column %s has a %s that level %u served, which %s does not"
                    " have for it: give the machine that the column was made for",
                    f->number, cf_column_name(l->column), cf_op_name(key & 7), key >> 3,
                    l->machine->file);
            break;
        default:
            break;
        }
    }
    return unknown;
}

void check_order(struct latency *l, const struct cf_header *h)
{
    const char *by = cf_header_fact(h, cf_column_name(l->column), "by");
    const int samples =
        cf_header_fact(h, "weight", "loads") || cf_header_fact(h, "weight", "event");

    if (!cf_latencies_depend(l->model) || l->order_warned ||
        !(samples || cf_partial_ran(h, "cf-select", by)))
        return;
    l->order_warned = 1;
    cf_warn(&l->tool,
            "latencies of %s depend on the access before, and %s: costs are as if those that are "
            "left came one after the other: run cf-latency on all of them, and then take some",
            l->machine->name,
            samples ? "the accesses are samples" : "cf-select has taken accesses out");
}

static unsigned key_of(const uint8_t *level, const uint8_t *op, uint32_t i)
{
    return cf_latency_key(level[i], op ? op[i] : CF_LOAD);
}

static void count(struct latency *l, unsigned key, uint64_t accesses, uint64_t cycles)
{
    struct sum *s = &l->sum[key];

    s->accesses = cf_sum(s->accesses, accesses);
    s->cycles = cf_sum(s->cycles, cycles);
}

/* Gives the frame its column, when its costs are known. */
static void add_costs(struct latency *l, struct cf_frame *f, const uint8_t *level,
                      const uint8_t *op, const uint8_t *seen)
{
    const uint64_t *weight = cf_u64(f, CF_WEIGHT);

    if (check_keys(l, f, seen))
        for (uint32_t i = 0; i < f->rows; i++)
            l->unknown += cf_latencies_lack(l->model, key_of(level, op, i)) == CF_LACKS_ORIGIN;
    for (uint32_t i = 0; l->summary && i < f->rows; i++)
        count(l, key_of(level, op, i), weight ? weight[i] : 1,
              weight ? cf_product(weight[i], l->cost[i]) : l->cost[i]);
    cf_tool_set(&l->tool, f, CF_COST, l->cost);
}

/* Unplaced rows before `time`, where a cost depends on the accesses before. Their operations are
   loads and stores, and their levels those that a column of accesses can have. */
static void waiting(struct latency *l, uint64_t time, uint8_t *seen)
{
    struct cf_aside_row *row;

    while ((row = cf_aside_next(&l->unplaced, time)) != NULL) {
        const uint8_t core = (uint8_t)(row->cpu % l->core_count);
        const uint8_t level = l->column == CF_HIT ? row->hit : row->level;

        cf_latencies_rows(l->model, &level, &row->op, &core, 1, &row->cost, seen);
        l->unknown += cf_latencies_lack(l->model, key_of(&level, &row->op, 0)) == CF_LACKS_ORIGIN;
        if (l->summary)
            count(l, key_of(&level, &row->op, 0), 1, row->cost);
    }
}

static void rows_by_time(struct latency *l, const struct cf_frame *f, const uint8_t *level,
                         const uint8_t *op, const uint8_t *core, uint8_t *seen)
{
    const uint64_t *time = cf_u64(f, CF_TIME);
    uint32_t from = 0, to;

    do {
        to = f->rows;
        if (time && from < to && cf_aside_due(&l->unplaced, time[to - 1]))
            for (to = from; to < f->rows && !cf_aside_due(&l->unplaced, time[to]);)
                to++;
        cf_latencies_rows(l->model, level + from, op ? op + from : NULL, core ? core + from : NULL,
                          to - from, l->cost + from, seen);
        if (to < f->rows)
            waiting(l, time[to], seen);
    } while ((from = to) < f->rows);
}

int add_to_unplaced(struct latency *l, struct cf_frame *f)
{
    const uint8_t *level = cf_u8(f, l->column), *op = cf_u8(f, CF_OP);
    uint8_t seen[CF_LATENCY_KEYS] = {0};

    if (!level || !op)
        return 0;
    if (cf_latencies_depend(l->model)) {
        cf_must(&l->tool, cf_aside_take(&l->unplaced, f));
        return 1;
    }
    cf_latencies_rows(l->model, level, op, NULL, f->rows, l->cost, seen);
    add_costs(l, f, level, op, seen);
    return 0;
}

/* Writes the rows that have waited long enough. */
static void send_unplaced(struct latency *l, struct cf_writer *w)
{
    cf_aside_set(&l->unplaced, CF_COST);
    (void)!cf_aside_write(&l->unplaced, w); /* a failure shows again when the writer is closed */
}

void end_unplaced(struct latency *l, const struct cf_frame *f, struct cf_writer *w)
{
    uint8_t seen[CF_LATENCY_KEYS] = {0};

    waiting(l, UINT64_MAX, seen);
    if (f)
        (void)check_keys(l, f, seen);
    send_unplaced(l, w);
}

void add_to_accesses(struct latency *l, struct cf_frame *f, struct cf_writer *w)
{
    const uint8_t *level = cf_u8(f, l->column), *op = cf_u8(f, CF_OP), *core = NULL;
    uint8_t seen[CF_LATENCY_KEYS] = {0};

    if (l->cores) {
        cf_must(&l->tool, cf_cores_rows(l->cores, cf_u32(f, CF_CPU), cf_u32(f, CF_PID),
                                        cf_u32(f, CF_TID), f->rows, l->core, l->space));
        core = l->core;
    }
    rows_by_time(l, f, level, op, core, seen);
    add_costs(l, f, level, op, seen);
    send_unplaced(l, w);
}
