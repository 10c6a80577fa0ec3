/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf-cache - a hierarchy of caches from a machine description: adds column `hit`, the level that
 * served each access, and on request prints what each level counted.
 *
 * In: any stream whose accesses have addr; op, size, pid, tid and cpu are used where they are, and
 * with --pool region and page. Out: the same with the column, or CSV (--summary). Memory: the tags
 * of the modelled caches, at most 16 bytes a line (see hierarchy.h), a few tens of bytes a thread,
 * one column of one frame, and with frames what frames.h says.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "filters/parts/cache/cache_parts.h"
#include "formats/program/cf_made.h"
#include "formats/program/cf_processes.h"
#include "formats/program/cf_rows.h"
#include "formats/program/cf_options.h"

static const char usage[] =
    "Usage: cf-cache -m MACHINE [OPTION]... [FILE]...\n"
    "Add column 'hit' to each access: the cache level that served it, 255 for memory.\n"
    "With no FILE, or when FILE is -, read standard input.\n"
    "\n"
    "  -m, --machine MACHINE    name of a machine description, FILE.yaml or host\n"
    "      --summary[=FILE]     print counts for each level instead of the stream: CSV, or a\n"
    "                           table on a terminal; with =FILE or -o, print both\n"
    "      --csv, --term, --json    form of the summary  [a table on a terminal, else CSV]\n"
    "      --cores N            cores that run the threads  [the machine's cpus]\n"
    "      --prefetch KIND[:LEVEL]  prefetcher of a level: none, next-line or stride\n"
    "                           [none; the first level for data]; may be repeated\n"
    "      --way-mask CORE:MASK[:LEVEL]  ways (bits) that a core may fill  [all; the last\n"
    "                           level]; may be repeated\n"
    "      --seed N             seed of random replacement  [1]\n"
    "      --physical           index by the column phys instead of addr\n"
    "      --frames ORDER       index by page frames, which processes get when they touch\n"
    "                           pages: random, sequential or coloured\n"
    "      --colours CPU:LIST   page colours (0-3,8) that what runs on a CPU gets frames of\n"
    "      --pool PAGES.csv:LIST[@CPU]  the same for listed pages; both may be repeated\n"
    "      --snapshot-every T   write a snapshot of a cache every T ticks instead of the\n"
    "                           accesses; with --snapshot-level LEVEL, --flush\n"
    "      --ram SIZE, --page-size SIZE  of frames  [4GiB, 4KiB]\n"
    "      --columns A,B        hand on only these columns of accesses, and those that are added\n"
    "  -o, --output FILE        write a packed file instead of standard output\n"
    "  -q, --quiet              no progress\n"
    "  -h, --help, --version, --max-strings SIZE\n"
    "\n"
    "Example:\n"
    "  cf-capture trace -i -- ls | cf-cache -m host --summary\n";

enum { MASKS = 1024 };

struct options {
    const char *machine, *output, *summary_file;
    int summary;
    unsigned cores; /* 0: the machine's */
    const char *prefetch[CF_MAX_LEVELS], *mask[MASKS];
    unsigned prefetches, masks;
    const char *snapshot_level;
    int frames, ram, page_size; /* options for frames that are given */
    uint64_t seed;
    struct frame_options frame;
    struct snapshot_options snapshot; /* every 0: none */
};

struct cache {
    struct cf_tool tool;
    struct options o;
    struct cf_machine *machine;
    struct cf_hierarchy *model;
    struct cf_cores *cores;
    struct placed *placed; /* NULL: caches are indexed by addresses as they are */
    struct snapshots *snapshots;
    struct cf_made made; /* column hit */
    struct cf_turns turns;
    struct cf_way_mask mask[MASKS];
    uint8_t hit[CF_FILE_ROWS]; /* the reader never hands out a longer frame */
};

/* Which option for frames is given, NULL where none is. */
static const char *frames_asked(const struct options *o)
{
    return o->frames               ? "--frames"
           : o->frame.colour_count ? "--colours"
           : o->frame.pools        ? "--pool"
           : o->ram                ? "--ram"
           : o->page_size          ? "--page-size"
                                   : NULL;
}

/* How many page frames there are, as a power of two. */
static void check_frames(struct cache *c, uint64_t memory, uint64_t page)
{
    struct options *o = &c->o;
    const char *asked = frames_asked(o);
    const int made = o->frames || o->frame.colour_count || o->frame.pools;

    if (o->frame.physical && asked && !(o->page_size && !made && !o->ram))
        cf_die(&c->tool, CF_EXIT_USAGE, "%s: with --physical the trace states the frames", asked);
    if (!o->snapshot.every && (o->snapshot_level || o->snapshot.flush))
        cf_die(&c->tool, CF_EXIT_USAGE, "%s is for snapshots: give --snapshot-every too",
               o->snapshot_level ? "--snapshot-level" : "--flush");
    if (!o->snapshot.every && !made && asked)
        cf_die(&c->tool, CF_EXIT_USAGE, "%s is for frames: give --frames or --snapshot-every too",
               asked);
    if (memory / page < 1u << CF_FRAME_COLOUR_BITS || memory / page > 1u << CF_FRAMES_MOST_BITS)
        cf_die(&c->tool, CF_EXIT_USAGE, "--ram: must be from %d to %d pages of %llu bytes",
               1 << CF_FRAME_COLOUR_BITS, 1 << CF_FRAMES_MOST_BITS, (unsigned long long)page);
    o->frame.page_shift = (unsigned)__builtin_ctzll(page);
    o->frame.frame_bits = (unsigned)__builtin_ctzll(memory / page);
    o->frame.seed = o->seed;
}

static void parse(struct cache *c, int argc, char **argv)
{
    struct cf_tool *t = &c->tool;
    struct options *o = &c->o;
    struct snapshot_options *s = &o->snapshot;
    struct frame_options *f = &o->frame;
    uint64_t memory = (uint64_t)4 << 30, page = 4096;
    const struct cf_option table[] = {
        {"machine", 'm', CF_TEXT(&o->machine)},
        {"summary", 0, CF_TEXT(&o->summary_file), .given = &o->summary, .may_lack = 1},
        CF_FORM_OPTIONS,
        {"cores", 0, CF_NUMBER(&o->cores, 1, CF_MAX_CORES)},
        {"prefetch", 0, CF_TEXTS(o->prefetch, &o->prefetches, CF_MAX_LEVELS)},
        {"way-mask", 0, CF_TEXTS(o->mask, &o->masks, MASKS)},
        {"seed", 0, CF_NUMBER(&o->seed, 0, UINT64_MAX)},
        {"physical", 0, CF_FLAG(&f->physical)},
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
        {"output", 'o', CF_TEXT(&o->output)},
        CF_COLUMNS_OPTION(t),
        CF_END_INPUT_OPTIONS,
    };

    o->seed = 1;
    cf_options_read(t, argc, argv, table);
    if (o->summary_file && t->form == CF_OPT_JSON)
        cf_die(t, CF_EXIT_USAGE, "--json is for standard output: give --summary without a FILE");
    check_frames(c, memory, page);
}

/* ---- the model of the machine's caches that the options ask for ---- */

/* Loads the machine and makes c->model and c->cores. Exits where options do not fit the machine. */
static void make_model(struct cache *c)
{
    struct cf_hierarchy_options h = {.seed = c->o.seed, .masks = c->mask};
    char problem[512];

    c->machine = cf_tool_machine(&c->tool, c->o.machine);
    cf_tool_modelled(&c->tool, c->machine);
    h.cores = c->o.cores = cf_tool_cores(c->machine, c->o.cores);
    for (unsigned i = 0; i < c->o.prefetches; i++)
        set_prefetch(&c->tool, c->machine, c->o.prefetch[i], &h);
    for (unsigned i = 0; i < c->o.masks; i++)
        set_mask(&c->tool, c->machine, c->o.mask[i], &c->mask[h.mask_count++]);
    if (c->o.snapshot.every) {
        const char *name = c->o.snapshot_level;

        c->o.snapshot.level = find_level(&c->tool, c->machine,
                                         name ? "--snapshot-level" : "--snapshot-every", name, 1);
        h.placed = 1u << c->o.snapshot.level;
    }
    c->model = cf_hierarchy_new(c->machine, &h, problem, sizeof problem);
    if (!c->model)
        cf_die(&c->tool, errno == ENOMEM ? CF_EXIT_ENVIRONMENT : CF_EXIT_USAGE, "%s: %s",
               c->o.machine, problem);
    c->cores = cf_need(&c->tool, cf_cores_new(c->o.cores));
    c->o.frame.cores = c->o.cores;
    if (c->o.snapshot.every || frames_asked(&c->o))
        c->placed = placed_new(&c->tool, &c->o.frame, c->machine);
}

static void model_frame(struct cache *c, struct cf_frame *f)
{
    const uint64_t *addr = cf_u64(f, c->o.frame.physical ? CF_PHYS : CF_ADDR);
    uint32_t end;

    for (uint32_t from = 0; from < f->rows; from = end) {
        uint32_t core;
        uint64_t space;

        end = cf_cores_next(c->cores, f, from, f->rows, &core, &space);
        if (end <= from)
            cf_out_of_memory(&c->tool);
        space = c->o.frame.physical && !c->placed ? 0 : space; /* processes share memory */
        cf_must(&c->tool,
                c->placed ? placed_run(c->placed, c->model, f, from, end, core, space, c->hit)
                          : cf_hierarchy_run(c->model, addr, cf_u8(f, CF_OP), cf_u32(f, CF_SIZE),
                                             from, end, core, space, c->hit));
    }
}

static void want(const struct cache *c, struct cf_reader *r)
{
    cf_reader_want(r, CF_ACCESS, c->o.frame.physical ? CF_PHYS : CF_ADDR, CF_REQUIRED);
    cf_reader_want_each(r, CF_ACCESS, CF_OPTIONAL, CF_OP, CF_SIZE, CF_PID);
    if (c->o.cores > 1)
        cf_reader_want_each(r, CF_ACCESS, CF_OPTIONAL, CF_CPU, CF_TID);
    if (c->placed)
        placed_want(c->placed, r);
}

/* Models a frame and hands it on. -1 where the writer failed. */
static int take_frame(struct cache *c, struct cf_frame *f, struct cf_writer *w)
{
    cf_turns_check(&c->turns, &c->tool, f, c->o.cores);
    if (c->placed && f->table == CF_HEADER)
        placed_header(c->placed, f->header);
    if (c->snapshots && f->table == CF_ACCESS)
        return snapshots_frame(c->snapshots, f);
    if (c->snapshots && f->table == CF_HEADER && snapshots_end(c->snapshots) != 0)
        return -1;
    if (!c->snapshots && w && f->table == CF_HEADER)
        cf_made_check(&c->made, f->header, CF_HIT, NULL);
    if (f->table == CF_ACCESS) {
        model_frame(c, f);
        if (w)
            cf_tool_set(&c->tool, f, CF_HIT, c->hit);
    }
    return w ? cf_writer_frame(w, f) : 0;
}

static void run(struct cache *c, struct cf_reader *r, struct cf_writer *w)
{
    struct cf_frame *f;

    if (w && c->o.snapshot.every) {
        c->snapshots =
            snapshots_new(&c->tool, &c->o.snapshot, c->machine, c->model, c->cores, c->placed, w);
        cf_reader_want(r, CF_ACCESS, CF_TIME, CF_REQUIRED);
        cf_reader_want(r, CF_ACCESS, CF_ADDR, c->o.frame.physical ? CF_OPTIONAL : CF_REQUIRED);
    } else if (w) {
        cf_made_by(&c->made, &c->tool, c->machine, c->o.cores);
        cf_made_state(&c->made, w, CF_HIT);
    }
    want(c, r);
    cf_tool_idle(r, w);
    while (cf_tool_next(&c->tool, r, &f) > 0)
        if (take_frame(c, f, w) != 0)
            return; /* cf_tool_finish() reports why */
    if (c->snapshots)
        (void)snapshots_end(c->snapshots); /* the same */
}

static int print_summary(const void *cache, FILE *out)
{
    const struct cache *c = cache;

    if (c->o.summary_file ? c->tool.form == CF_OPT_TERM : cf_tool_term(&c->tool))
        summary_table(out, c->machine, c->model, c->o.cores);
    else
        summary_csv(out, c->machine, c->model);
    return 0;
}

int main(int argc, char **argv)
{
    static struct cache c;
    struct cf_reader *r;
    struct cf_writer *w = NULL;
    int status;

    cf_tool_init(&c.tool, argc, argv, "cf-cache", usage);
    parse(&c, argc, argv);
    make_model(&c);
    r = cf_tool_reader(&c.tool, argv + optind, argc - optind);
    if (!c.o.summary || c.o.summary_file || c.o.output)
        w = cf_tool_writer(&c.tool, c.o.output);
    else
        cf_reader_pieces(r);
    (void)cf_tool_only(&c.tool, c.o.snapshot.every ? NULL : w, (const unsigned[]){CF_HIT, 0});
    run(&c, r, w);
    c.o.summary &= !cf_reader_lacks(r);
    if (c.o.summary && !c.o.summary_file && c.tool.form == CF_OPT_JSON)
        cf_rows_begin(&c.tool);
    if (c.o.summary)
        cf_tool_file(&c.tool, c.o.summary_file ? c.o.summary_file : "-", print_summary, &c);
    if (c.placed && !cf_reader_lacks(r))
        placed_end(c.placed);
    status = cf_tool_finish(&c.tool, r, w);
    snapshots_free(c.snapshots);
    placed_free(c.placed);
    cf_hierarchy_free(c.model);
    cf_cores_free(c.cores);
    cf_machine_free(c.machine);
    return status;
}
