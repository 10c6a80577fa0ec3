/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * options.c - the command line of cf-cache.
 */
#include "filters/parts/cache/cache_parts.h"
#include "formats/program/cf_options.h"

/* Which option for frames is given, NULL where none is. */
const char *options_for_frames(const struct options *o)
{
    return o->frames               ? "--frames"
           : o->frame.colour_count ? "--colours"
           : o->frame.pools        ? "--pool"
           : o->ram                ? "--ram"
           : o->page_size          ? "--page-size"
                                   : NULL;
}

/* How many page frames there are, as a power of two. */
static void check_frames(struct options *o, const struct cf_tool *t, uint64_t memory, uint64_t page)
{
    const char *asked = options_for_frames(o);
    const int made = o->frames || o->frame.colour_count || o->frame.pools;

    if (o->frame.physical && asked && !(o->page_size && !made && !o->ram))
        cf_die(t, CF_EXIT_USAGE, "%s: with --physical the trace states the frames", asked);
    if (!o->snapshot.every && (o->snapshot_level || o->snapshot.flush))
        cf_die(t, CF_EXIT_USAGE, "%s is for snapshots: give --snapshot-every too",
               o->snapshot_level ? "--snapshot-level" : "--flush");
    if (o->snapshot.every && summary_is_alone(o))
        cf_die(t, CF_EXIT_USAGE,
               "--snapshot-every: --summary alone writes no stream: give --summary=FILE or -o");
    if (!o->snapshot.every && !made && asked)
        cf_die(t, CF_EXIT_USAGE, "%s is for frames: give --frames or --snapshot-every too", asked);
    if (memory / page < 1u << CF_FRAME_COLOUR_BITS || memory / page > 1u << CF_FRAMES_MOST_BITS)
        cf_die(t, CF_EXIT_USAGE, "--ram: must be from %d to %d pages of %llu bytes",
               1 << CF_FRAME_COLOUR_BITS, 1 << CF_FRAMES_MOST_BITS, (unsigned long long)page);
    o->frame.page_shift = (unsigned)__builtin_ctzll(page);
    o->frame.frame_bits = (unsigned)__builtin_ctzll(memory / page);
    o->frame.seed = o->seed;
}

void options_read(struct options *o, struct cf_tool *t, int argc, char **argv)
{
    struct snapshot_options *s = &o->snapshot;
    struct frame_options *f = &o->frame;
    uint64_t memory = (uint64_t)4 << 30, page = 4096;
    const struct cf_option table[] = {
        {"machine", 'm', CF_TEXT(&o->machine), .reads = CF_READS_MACHINE},
        {"summary", 0, CF_FILE(&o->summary_file), .given = &o->summary, .may_lack = 1},
        CF_FORM_OPTIONS,
        {"cores", 0, CF_NUMBER(&o->cores, 1, CF_MAX_CORES)},
        {"prefetch", 0, CF_TEXTS(o->prefetch, &o->prefetches, CF_MAX_LEVELS)},
        {"way-mask", 0, CF_TEXTS(o->mask, &o->masks, MASKS)},
        {"seed", 0, CF_NUMBER(&o->seed, 0, UINT64_MAX)},
        {"physical", 0, CF_FLAG(&f->physical)},
        {"partial", 0, CF_FLAG(&o->partial)},
        {"set-part", 0, CF_CALL(cf_parse_part, &o->sets)},
        {"jobs", 'j', CF_NUMBER(&o->jobs, 1, MOST_JOBS)},
        {"snapshot-every", 0, CF_NUMBER(&s->every, 1, UINT64_MAX)},
        {"snapshot-level", 0, CF_TEXT(&o->snapshot_level)},
        {"flush", 0, CF_FLAG(&s->flush)},
        {"frames", 0, CF_WORD(&f->order, "random sequential coloured", 0), .given = &o->frames},
        {"colours", 0, CF_TEXTS(f->colours, &f->colour_count, COLOUR_OPTIONS)},
        {"pool", 0, CF_TEXTS(f->pool, &f->pools, POOLS)},
        {"ram", 0, CF_POWER(&memory, 1, UINT64_MAX), .given = &o->ram},
        {"memory", 0, CF_OLD("ram")},
        {"page-size", 0, CF_POWER(&page, 4096, 1 << 30), .given = &o->page_size},
        {"page", 0, CF_OLD("page-size")},
        {"output", 'o', CF_FILE(&o->output)},
        CF_COLUMNS_OPTION(t),
        CF_END_INPUT_OPTIONS,
    };

    o->seed = 1;
    cf_options_read(t, argc, argv, table);
    if (o->summary_file && t->form == CF_OPT_JSON)
        cf_die(t, CF_EXIT_USAGE, "--json is for standard output: give --summary without a FILE");
    check_frames(o, t, memory, page);
    cf_tool_unsaid(t, "-j", "--jobs");
}
