/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * partial.c - the counts of cf-cache --summary as a partial result, which add up, and what says that
 * those of all parts are of the same recording: how many accesses there were, and a checksum of
 * their addresses. Memory: columns of a frame.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "filters/parts/cache/cache_parts.h"
#include "formats/base/cf_memory.h"
#include "formats/base/cf_number.h"

/* What a row is, in cf-stream(5), "Partial results". */
enum { ENTRY_COUNTS = 1, ENTRY_READ = 2 };

enum { COUNTS = sizeof(struct cf_hierarchy_counts) / sizeof(uint64_t) };

_Static_assert((unsigned)COUNTS <= (unsigned)CF_PARTIAL_SUMS, "a row holds what a level counts");

char *partial_options(const struct cf_tool *t, const struct options *o, const struct cf_machine *m)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = cf_need(t, open_memstream(&text, &bytes));

    fprintf(out, "machine %s; cores %u; seed %" PRIu64 "; addresses %s", m->name, o->cores, o->seed,
            o->frame.physical ? "physical" : "virtual");
    for (unsigned i = 0; i < m->levels; i++) {
        const struct cf_level *l = &m->level[i];

        fprintf(out,
                "; %s kind %d depth %" PRIu32 " sets %" PRIu32 " ways %" PRIu32 " line %" PRIu32
                " shared %" PRIu32 " %s inclusion %d write %d%d",
                l->name, (int)l->kind, l->depth, l->sets, l->ways, l->line, l->shared_by,
                cf_policy_name(l->policy), (int)l->inclusion, l->write_back, l->write_allocate);
    }
    for (unsigned i = 0; i < o->masks; i++)
        fprintf(out, "; mask %s", o->mask[i]);
    return cf_need(t, cf_memory_text(out, &text));
}

void partial_read(struct counts *n, const uint64_t *addr, uint32_t rows)
{
    n->rows += rows;
    XXH3_64bits_update(n->sum, addr, rows * sizeof *addr);
}

void partial_write(struct cf_partial *p, const struct counts *n, unsigned levels)
{
    for (unsigned i = 0; i <= levels; i++) {
        uint64_t sum[COUNTS];

        memcpy(sum, &n->level[i], sizeof sum);
        cf_partial_row(
            p, &(struct cf_partial_row){
                   .entry = ENTRY_COUNTS, .keys = 2, .sums = COUNTS, .key = {i}, .sum = sum});
    }
    cf_partial_row(p, &(struct cf_partial_row){
                          .entry = ENTRY_READ,
                          .keys = 2,
                          .sums = COUNTS,
                          .key = {n->rows, XXH3_64bits_digest(n->sum)},
                          .sum = (const uint64_t[COUNTS]){0},
                      });
}

static void check_read(struct counts *n, const struct cf_partial *p, uint64_t rows, uint64_t sum)
{
    if (n->joined++ && (rows != n->rows || sum != n->digest))
        cf_die(p->tool, CF_EXIT_INPUT,
               "%s: sets of another recording than those before: %" PRIu64 " accesses with "
               "checksum %016" PRIx64 " instead of %" PRIu64 " with %016" PRIx64,
               cf_reader_file(p->reader), rows, sum, n->rows, n->digest);
    n->rows = rows;
    n->digest = sum;
}

void partial_merge(struct counts *n, const struct cf_partial *p, const struct cf_frame *f,
                   unsigned levels)
{
    const uint8_t *entry = f->table == CF_PARTIAL ? cf_partial_entries(p, f) : NULL;

    for (uint32_t i = 0; entry && i < f->rows; i++) {
        const uint64_t key = cf_partial_key(p, f, 0)[i];
        uint64_t *to = (uint64_t *)&n->level[entry[i] == ENTRY_COUNTS && key <= levels ? key : 0];

        if (entry[i] == ENTRY_READ)
            check_read(n, p, key, cf_partial_key(p, f, 1)[i]);
        else if (entry[i] != ENTRY_COUNTS || key > levels)
            cf_partial_damaged(p);
        for (unsigned k = 0; entry[i] == ENTRY_COUNTS && k < COUNTS; k++)
            to[k] = cf_sum(to[k], cf_partial_sum(p, f, k)[i]);
    }
}
