/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * partial.c - a summary alone, of a whole recording or of parts: which parts there may be, and the
 * counts of parts of the sets, which add up. What says that those of all parts are of the same
 * recording is how many accesses there were, and a checksum of the columns on which the model
 * depends. Memory: columns of a frame.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "filters/parts/cache/cache_parts.h"
#include "formats/base/cf_memory.h"
#include "formats/base/cf_number.h"

_Static_assert((unsigned)COUNTS <= (unsigned)CF_PARTIAL_SUMS, "a row holds what a level counts");

int summary_is_alone(const struct options *o)
{
    return o->summary && !o->summary_file && !o->output;
}

/* What the counts depend on. */
static char *options_text(const struct summary *w)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = cf_need(w->tool, open_memstream(&text, &bytes));

    fprintf(out, "machine %s; cores %u; seed %" PRIu64 "; addresses %s", w->machine->name,
            w->o->cores, w->o->seed, w->o->frame.physical ? "physical" : "virtual");
    for (unsigned i = 0; i < w->machine->levels; i++) {
        const struct cf_level *l = &w->machine->level[i];

        fprintf(out,
                "; %s kind %d depth %" PRIu32 " sets %" PRIu32 " ways %" PRIu32 " line %" PRIu32
                " shared %" PRIu32 " %s inclusion %d write %d%d",
                l->name, (int)l->kind, l->depth, l->sets, l->ways, l->line, l->shared_by,
                cf_policy_name(l->policy), (int)l->inclusion, l->write_back, l->write_allocate);
    }
    for (unsigned i = 0; i < w->o->masks; i++)
        fprintf(out, "; mask %s", w->o->mask[i]);
    /* there are no partial results with these */
    for (unsigned i = 0; i < w->o->prefetches; i++)
        fprintf(out, "; prefetch %s", w->o->prefetch[i]);
    if (options_for_frames(w->o))
        fprintf(out, "; %s", options_for_frames(w->o));
    return cf_need(w->tool, cf_memory_text(out, &text));
}

/* Some sets alone, of which the result is a partial one. */
static void take_sets(struct summary *w)
{
    w->set_part = set_part_new(w->tool, w->o, w->machine);
    for (unsigned i = 0; i < NOTED; i++) {
        w->noted[i] = cf_need(w->tool, XXH3_createState());
        XXH3_64bits_reset(w->noted[i]);
    }
}

void summary_note(struct summary *w, const struct cf_frame *f)
{
    const unsigned noted[NOTED] = {
        w->o->frame.physical ? CF_PHYS : CF_ADDR, CF_OP, CF_SIZE, CF_PID, CF_TID, CF_CPU};

    w->counts.rows += f->rows;
    for (unsigned i = 0; i < NOTED; i++) {
        const void *values = cf_values(f, noted[i]);

        if (values)
            XXH3_64bits_update(w->noted[i], values,
                               (size_t)f->rows * cf_type_width(cf_column_type(noted[i])));
    }
}

static void check_options(const struct summary *w)
{
    const struct options *o = w->o;
    const char *option = o->partial ? "--partial" : "--set-part";

    if (!o->partial && !o->sets.parts)
        return;
    if (o->partial && o->sets.parts)
        cf_die(w->tool, CF_EXIT_USAGE, "--partial does not go with --set-part: give one of them");
    if (!summary_is_alone(o) || o->snapshot.every)
        cf_die(w->tool, CF_EXIT_USAGE, "%s goes with --summary alone", option);
    if (o->jobs > 1)
        cf_die(w->tool, CF_EXIT_USAGE, "%s does not go with --jobs: take more parts", option);
}

struct cf_reader *summary_open(struct summary *w, char *const *files, int count)
{
    struct cf_partial *const p = &w->partial;
    char why[256] = "";

    check_options(w);
    if (w->o->sets.parts)
        take_sets(w);
    if (w->o->partial)
        w->part = part_new(w);
    w->chunks = w->o->jobs > 1 && jobs_can(w, why, sizeof why);
    if (w->o->jobs > 1 && !w->chunks && summary_is_alone(w->o))
        p->jobs = set_parts_most(w->o, w->machine, w->o->jobs);
    if (summary_is_alone(w->o)) {
        p->tool = w->tool;
        p->options = options_text(w);
        p->sets = w->o->sets;
        p->asked = w->part || w->set_part;
        p->by_sets = 1;
        files = cf_partial_share(p, files, &count);
    }
    if (p->asked && !w->part && !w->set_part) { /* a process of -j */
        w->o->sets = p->sets;
        take_sets(w);
    } else if (*why && p->jobs_list) {
        jobs_say(w, "%s: %" PRIu32 " processes share the sets", why, p->jobs);
    } else if (*why) {
        jobs_say(w, "%s: one thread does it all", why);
    }
    p->ordered = !w->set_part;
    return p->tool ? cf_partial_reader(p, files, count) : cf_tool_reader(w->tool, files, count);
}

/* ---- rows ---- */

void put_counts(struct cf_partial *p, enum entry entry, unsigned level,
                const struct cf_hierarchy_counts *n)
{
    uint64_t sum[COUNTS];

    memcpy(sum, n, sizeof sum);
    cf_partial_row(
        p, &(struct cf_partial_row){
               .entry = (uint8_t)entry, .keys = 2, .sums = COUNTS, .key = {level}, .sum = sum});
}

static void write_sets(struct summary *w)
{
    uint64_t sum[NOTED];

    for (unsigned i = 0; i < NOTED; i++)
        sum[i] = XXH3_64bits_digest(w->noted[i]);
    for (unsigned i = 0; i <= w->machine->levels; i++)
        put_counts(&w->partial, ENTRY_COUNTS, i, &w->counts.level[i]);
    cf_partial_row(&w->partial, &(struct cf_partial_row){
                                    .entry = ENTRY_READ,
                                    .keys = 2,
                                    .key = {w->counts.rows, XXH3_64bits(sum, sizeof sum)},
                                });
}

static void check_read(struct summary *w, uint64_t rows, uint64_t sum)
{
    struct counts *const n = &w->counts;

    if (n->came != w->machine->levels + 1)
        cf_partial_damaged(&w->partial);
    if (n->joined && (rows != n->rows || sum != n->sum))
        cf_die(w->tool, CF_EXIT_INPUT,
               "%s: sets of another recording than those before: %" PRIu64 " accesses with "
               "checksum %016" PRIx64 " instead of %" PRIu64 " with %016" PRIx64,
               cf_reader_file(w->partial.reader), rows, sum, n->rows, n->sum);
    n->rows = rows;
    n->sum = sum;
    n->joined++;
    n->came = 0;
}

static void take_sums(struct summary *w, const struct cf_frame *f, uint32_t row)
{
    const struct cf_partial *const p = &w->partial;
    const uint64_t level = cf_partial_key(p, f, 0)[row];
    uint64_t *to;

    if (level != w->counts.came++ || level > w->machine->levels)
        cf_partial_damaged(p);
    to = (uint64_t *)&w->counts.level[level];
    for (unsigned k = 0; k < COUNTS; k++)
        to[k] = cf_sum(to[k], cf_partial_sum(p, f, k)[row]);
}

int summary_take(struct summary *w, const struct cf_frame *f)
{
    struct cf_partial *const p = &w->partial;
    const uint8_t *entry;

    if (!cf_partial_frame(p, f))
        return 0;
    if (p->segment && !w->joined) /* parts that have an order */
        w->joined = joined_new(w);
    entry = f->table == CF_PARTIAL ? cf_partial_entries(p, f) : NULL;
    if (entry && w->joined) {
        joined_frame(w->joined, f);
        return 1;
    }
    for (uint32_t i = 0; entry && i < f->rows; i++)
        if (entry[i] == ENTRY_READ)
            check_read(w, cf_partial_key(p, f, 0)[i], cf_partial_key(p, f, 1)[i]);
        else if (entry[i] == ENTRY_COUNTS)
            take_sums(w, f, i);
        else
            cf_partial_damaged(p);
    return 1;
}

int summary_end(struct summary *w, int *status)
{
    struct cf_partial *const p = &w->partial;

    if (p->tool)
        cf_partial_end(p);
    if (p->input == CF_INPUT_PARTIALS && !w->joined &&
        (w->counts.came || w->counts.joined != p->part.parts))
        cf_partial_damaged(p);
    if (p->input != CF_INPUT_PARTIALS || w->joined) {
        for (unsigned i = 0; i < w->machine->levels; i++)
            cf_hierarchy_count(w->model, i, &w->counts.level[i]);
        cf_hierarchy_memory(w->model, &w->counts.level[w->machine->levels]);
    }
    if (!p->asked) {
        cf_partial_free(p);
        return 0;
    }
    if (w->part)
        part_end(w->part);
    else
        write_sets(w);
    *status = cf_partial_finish(p);
    return 1;
}

void summary_free(struct summary *w)
{
    set_part_free(w->set_part);
    part_free(w->part);
    joined_free(w->joined);
    for (unsigned i = 0; i < NOTED; i++)
        XXH3_freeState(w->noted[i]);
}
