/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf-cache - a hierarchy of caches from a machine description: adds column `hit`, the level that
 * served each access, and on request prints what each level counted.
 *
 * In: any stream whose accesses have addr; op, size, pid, tid and cpu are used where they are, and
 * with --pool region and page. Out: the same with the column, or CSV (--summary). Memory: the tags
 * of the modelled caches, at most 16 bytes a line (see hierarchy.h), a few tens of bytes a thread,
 * one column of one frame, with a summary alone of accesses in stretches at most 25 MB, with frames
 * what frames.h says, and with --jobs what filters/parts/cache/jobs.c says; processes that share
 * sets take as much each.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "filters/parts/cache/cache_parts.h"
#include "formats/together/cf_made.h"
#include "formats/together/cf_processes.h"
#include "formats/program/cf_rows.h"

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
    "      --partial            with --summary: write a result that cf-cache joins with those\n"
    "                           of other parts\n"
    "      --set-part I/N       the I-th of N parts of all sets, as a result that cf-cache joins\n"
    "  -j, --jobs N             make the summary by N threads or processes; it is the same  [1]\n"
    "      --columns A,B        hand on only these columns of accesses, and those that are added\n"
    "  -o, --output FILE        write a packed file instead of standard output\n"
    "  -q, --quiet              no progress\n"
    "  -h, --help, --version, --max-strings SIZE\n"
    "\n"
    "Example:\n"
    "  cf-capture trace -i -- ls | cf-cache -m host --summary\n";

struct cache {
    struct cf_tool tool;
    struct options o;
    struct cf_machine *machine;
    struct cf_hierarchy *model;
    struct cf_cores *cores;
    struct placed *placed; /* NULL: caches are indexed by addresses as they are */
    struct summary alone;  /* or a summary alone */
    struct snapshots *snapshots;
    struct cf_made made; /* column hit */
    const char *stated;  /* its options */
    int stretches;       /* the model takes them, and the summary is all that is made */
    int said;            /* what the model leaves out */
    struct cf_turns turns;
    struct cf_way_mask mask[MASKS];
    uint8_t hit[CF_FILE_ROWS]; /* the reader never hands out a longer frame */
};

/* ---- the model of the machine's caches that the options ask for ---- */

/* Loads the machine and makes c->model and c->cores. Exits where options do not fit the machine. */
static void make_model(struct cache *c)
{
    struct cf_hierarchy_options h = {.seed = c->o.seed, .masks = c->mask};
    char problem[512];
    unsigned prefetched = 0;

    c->machine = cf_tool_machine(&c->tool, c->o.machine);
    c->turns.pids = c->o.frame.physical ? CF_PIDS_ANY : 0;
    c->turns.stated = c->o.cores_stated = c->o.cores;
    h.cores = c->o.cores = cf_tool_cores(c->machine, c->o.cores);
    for (unsigned i = 0; i < c->o.prefetches; i++)
        set_prefetch(&c->tool, c->machine, c->o.prefetch[i], &h, &prefetched);
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
    if (c->o.snapshot.every || options_for_frames(&c->o))
        c->placed = placed_new(&c->tool, &c->o.frame, c->machine);
    c->stated = hit_options(&c->tool, &c->o, c->machine, &h, c->placed);
}

static void model_frame(struct cache *c, struct cf_frame *f)
{
    const uint64_t *addr = cf_u64(f, c->o.frame.physical ? CF_PHYS : CF_ADDR);
    const uint32_t *cpu = cf_u32(f, CF_CPU), *pid = cf_u32(f, CF_PID), *tid = cf_u32(f, CF_TID);
    const uint32_t *size = cf_u32(f, CF_SIZE);
    const uint8_t *op = cf_u8(f, CF_OP);
    uint32_t end;

    if (c->alone.set_part)
        summary_note(&c->alone, f);
    for (uint32_t from = 0; from < f->rows; from = end) {
        uint32_t core;
        uint64_t space;

        end = cf_cores_piece(c->cores, cpu, pid, tid, from, f->rows, &core, &space);
        if (end <= from)
            cf_out_of_memory(&c->tool);
        space = c->o.frame.physical && !c->placed ? 0 : space; /* processes share memory */
        if (c->alone.set_part) {
            cf_must(&c->tool, set_part_run(c->alone.set_part, c->model, addr, op, size, from, end,
                                           core, space));
            continue;
        }
        cf_must(&c->tool,
                c->placed
                    ? placed_run(c->placed, c->model, f, from, end, core, space, c->hit)
                    : cf_hierarchy_run(c->model, addr, op, size, from, end, core, space, c->hit));
    }
}

/* A frame in stretches, of one thread: 1 when it is done, 0 where its rows are to be taken. */
static int model_stretches(struct cache *c, const struct cf_frame *f)
{
    static const unsigned column[] = {CF_CPU, CF_PID, CF_TID};
    struct cf_stretched s;
    uint32_t value[3], core;
    const uint32_t *one[3] = {NULL};
    uint64_t constant, space;
    int done = cf_frame_stretched(f, &s);

    if (done <= 0)
        return done < 0; /* damaged, which is noted */
    for (unsigned k = 0; k < 3; k++) {
        if (cf_frame_constant(f, column[k], &constant)) {
            value[k] = (uint32_t)constant;
            one[k] = &value[k];
        } else if (cf_frame_has(f, column[k])) {
            return 0;
        }
    }
    if (cf_cores_piece(c->cores, one[0], one[1], one[2], 0, 1, &core, &space) == 0)
        cf_out_of_memory(&c->tool);
    done = cf_hierarchy_stretches(c->model, &s, core, space);
    cf_must(&c->tool, done < 0 ? -1 : 0);
    return done;
}

static void want(const struct cache *c, struct cf_reader *r)
{
    cf_reader_want(r, CF_ACCESS, c->o.frame.physical ? CF_PHYS : CF_ADDR, CF_REQUIRED);
    cf_reader_want_each(r, CF_ACCESS, CF_OPTIONAL, CF_OP, CF_SIZE, CF_PID);
    cf_reader_refuse_samples(r);
    if (c->o.cores > 1)
        cf_reader_want_each(r, CF_ACCESS, CF_OPTIONAL, CF_CPU, CF_TID);
    if (c->placed)
        placed_want(c->placed, r);
}

/* Models a frame and hands it on. -1 where the writer failed. */
static int take_frame(struct cache *c, struct cf_frame *f, struct cf_writer *w)
{
    if (c->alone.partial.tool && summary_take(&c->alone, f))
        return 0;
    if (f->table == CF_ACCESS && f->rows)
        cf_tool_modelled(&c->tool, c->machine, &c->said);
    cf_turns_check(&c->turns, &c->tool, f, c->o.cores);
    if (c->placed && f->table == CF_HEADER)
        placed_header(c->placed, f->header);
    if (c->snapshots && f->table == CF_ACCESS)
        return snapshots_frame(c->snapshots, f);
    if (c->snapshots && f->table == CF_HEADER && snapshots_end(c->snapshots) != 0)
        return -1;
    if (c->snapshots && (f->table == CF_SNAPSHOT || f->table == CF_LINE) && f->rows)
        cf_die(&c->tool, CF_EXIT_INPUT,
               "--snapshot-every: the stream has snapshots already, with the numbers that these "
               "would get: give the recording from before it was put together with them");
    if (!c->snapshots && w && f->table == CF_HEADER) {
        cf_made_check(&c->made, f->header, CF_HIT, NULL);
        cf_made_outdate_cost(f->header, w);
    }
    if (f->table == CF_ACCESS && c->alone.part) {
        part_frame(c->alone.part, f);
    } else if (f->table == CF_ACCESS) {
        if (c->stretches && (model_stretches(c, f) || cf_frame_wanted(f) != 0))
            return 0;
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
        c->made.options = c->stated;
        cf_made_state(&c->made, w, CF_HIT);
    }
    want(c, r);
    if (c->alone.chunks) {
        jobs_run(&c->alone, r);
        return;
    }
    if (!w)
        cf_reader_pieces(r);
    c->stretches = !w && !c->alone.set_part && !c->alone.part && !c->placed &&
                   !c->o.frame.physical && cf_hierarchy_likes_stretches(c->model);
    if (c->stretches)
        cf_reader_stretches(r);
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
        summary_table(out, c->machine, &c->alone.counts, c->o.cores);
    else
        summary_csv(out, c->machine, &c->alone.counts);
    return 0;
}

static int finish(struct cache *c, struct cf_reader *r, struct cf_writer *w)
{
    int status;

    if (!cf_reader_lacks(r))
        cf_tool_modelled(&c->tool, c->machine, &c->said);
    if (summary_end(&c->alone, &status))
        return status;
    c->o.summary &= !cf_reader_lacks(r);
    if (c->o.summary && !c->o.summary_file && c->tool.form == CF_OPT_JSON)
        cf_rows_begin(&c->tool);
    if (c->o.summary)
        cf_tool_file(&c->tool, c->o.summary_file ? c->o.summary_file : "-", print_summary, c);
    if (c->placed && !cf_reader_lacks(r))
        placed_end(c->placed);
    return cf_tool_finish(&c->tool, r, w);
}

int main(int argc, char **argv)
{
    static struct cache c;
    struct cf_reader *r;
    struct cf_writer *w = NULL;
    int status;

    cf_tool_init(&c.tool, argc, argv, "cf-cache", usage);
    options_read(&c.o, &c.tool, argc, argv);
    make_model(&c);
    c.alone = (struct summary){
        .tool = &c.tool, .o = &c.o, .machine = c.machine, .model = c.model, .cores = c.cores};
    r = summary_open(&c.alone, argv + optind, argc - optind);
    if (!c.o.summary || c.o.summary_file || c.o.output)
        w = cf_tool_writer(&c.tool, c.o.output);
    (void)cf_tool_only(&c.tool, c.o.snapshot.every ? NULL : w, (const unsigned[]){CF_HIT, 0});
    run(&c, r, w);
    status = finish(&c, r, w);
    snapshots_free(c.snapshots);
    placed_free(c.placed);
    cf_hierarchy_free(c.model);
    cf_cores_free(c.cores);
    summary_free(&c.alone);
    cf_machine_free(c.machine);
    return status;
}
