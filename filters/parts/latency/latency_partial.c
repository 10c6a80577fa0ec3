/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * latency_partial.c - the sums of cf-latency --summary as a partial result: accesses and cycles of
 * each level and operation, which can be added in any order. Memory: columns of a frame.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "formats/base/cf_memory.h"
#include "formats/base/cf_number.h"
#include "filters/parts/latency/latency.h"

/* What a row is, in cf-stream(5), "Partial results". */
enum { ENTRY_SUM = 1, ENTRY_UNKNOWN = 2 };

/* The cycles of all levels and operations stand for the machine and options --latency. */
char *latency_options(struct latency *l)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = cf_need(&l->tool, open_memstream(&text, &bytes));

    fprintf(out, "machine %s; column %s", l->machine->name, cf_column_name(l->column));
    /* where they depend on the access before, there are no partial results, and to ask for one
       would be an access */
    for (unsigned key = 0; !cf_latencies_depend(l->model) && key < CF_LATENCY_KEYS; key++) {
        const uint8_t level = (uint8_t)(key >> 3), op = key & 7;
        uint8_t seen[CF_LATENCY_KEYS] = {0};
        uint32_t cost;

        if (cf_latencies_lack(l->model, key) != CF_LACKS_NOTHING)
            continue;
        cf_latencies_rows(l->model, &level, &op, NULL, 1, &cost, seen);
        fprintf(out, "; %s %s %" PRIu32,
                cf_machine_level_name(l->machine, (uint32_t)cf_latencies_level(l->model, key)),
                cf_op_name(op), cost);
    }
    return cf_need(&l->tool, cf_memory_text(out, &text));
}

void latency_write(struct latency *l)
{
    for (unsigned key = 0; key < CF_LATENCY_KEYS; key++)
        if (l->sum[key].accesses || l->sum[key].cycles)
            cf_partial_row(&l->partial,
                           &(struct cf_partial_row){
                               .entry = ENTRY_SUM,
                               .keys = 1,
                               .sums = 2,
                               .key = {key},
                               .sum = (const uint64_t[]){l->sum[key].accesses, l->sum[key].cycles},
                           });
    cf_partial_row(&l->partial,
                   &(struct cf_partial_row){.entry = ENTRY_UNKNOWN, .sums = 1, .sum = &l->unknown});
}

void latency_merge(struct latency *l, const struct cf_frame *f)
{
    const struct cf_partial *p = &l->partial;
    const uint8_t *entry = f->table == CF_PARTIAL ? cf_partial_entries(p, f) : NULL;

    for (uint32_t i = 0; entry && i < f->rows; i++) {
        const uint64_t one = cf_partial_sum(p, f, 0)[i];
        const uint64_t key = entry[i] == ENTRY_SUM ? cf_partial_key(p, f, 0)[i] : 0;

        if (key >= CF_LATENCY_KEYS || (entry[i] != ENTRY_SUM && entry[i] != ENTRY_UNKNOWN))
            cf_partial_damaged(p);
        if (entry[i] == ENTRY_UNKNOWN) {
            l->unknown += one;
            continue;
        }
        l->sum[key].accesses = cf_sum(l->sum[key].accesses, one);
        l->sum[key].cycles = cf_sum(l->sum[key].cycles, cf_partial_sum(p, f, 1)[i]);
    }
}
