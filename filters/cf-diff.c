/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf-diff - what changed between two snapshots of a cache: the pollution that taking a snapshot
 * causes, or how a model differs from the hardware.
 *
 * In: a stream with tables snapshot and line, whose consecutive snapshots are compared, or two,
 * snapshot by snapshot. Out: CSV, a row a pair, or with --summary a row a mode of snapshots as in
 * "Observing the Invisible", Table 2, or with --by the sums for each process or set. Memory: two
 * snapshots of each stream, and with --by about 150 bytes a process, or 60 a set.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "filters/parts/diff/diff.h"
#include "filters/survey/problems.h"
#include "formats/base/cf_memory.h"
#include "formats/program/cf_options.h"

static const char usage[] =
    "Usage: cf-diff [OPTION]... [FILE]...\n"
    "Compare each snapshot of a cache with the one before it, or with that of another\n"
    "stream, and print the differences as CSV.\n"
    "With no FILE, or when FILE is -, read standard input.\n"
    "\n"
    "      --pairs          compare 1 with 2, 3 with 4, ... of each segment\n"
    "      --against FILE   compare the first snapshot with the first of FILE, and so on\n"
    "      --virtual        identify a line by process and virtual address\n"
    "      --summary        print mean, standard deviation and maximum for each mode\n"
    "      --by WHAT        print sums for each process or each set\n"
    "      --level N        cache level  [that of the first snapshot]\n"
    "      --csv, --term, --json\n"
    "                       the form of the output  [a table on a terminal, else CSV]\n"
    "  -q, --quiet          no progress, no hints\n"
    "  -h, --help, --version, --max-strings SIZE\n"
    "\n"
    "Examples:\n"
    "  cf-diff --pairs --summary overhead.cf\n"
    "  cf-diff --against model.cf --by set board.cf\n";

static void parse(struct work *w, int argc, char **argv)
{
    const struct cf_tool *t = &w->tool;
    struct options *o = &w->o;
    int summary = 0;
    const struct cf_option table[] = {
        {"pairs", 0, CF_FLAG(&o->pairs)},
        {"against", 0, CF_TEXT(&o->against), .reads = CF_READS_FILE},
        {"virtual", 0, CF_FLAG(&o->virtual)},
        {"summary", 0, CF_FLAG(&summary)},
        {"by", 0, CF_WORD(&o->by, "process set", BY_PROCESS)},
        {"level", 0, CF_NUMBER(&o->level, 1, 254)},
        CF_FORM_OPTIONS,
        CF_END_INPUT_OPTIONS,
    };

    cf_options_read(&w->tool, argc, argv, table);
    if (summary && o->by)
        cf_die(t, CF_EXIT_USAGE, "--summary and --by: give one of them");
    if (summary)
        o->by = BY_MODE;
    if (o->pairs && o->against)
        cf_die(t, CF_EXIT_USAGE, "--pairs and --against: give one of them");
}

/* ---- two streams of snapshots ---- */

static void open_side(struct work *w, struct side *s, char *const *files, int count)
{
    const unsigned keep = CF_TAGS_STATE | (w->o.by == BY_PROCESS ? CF_TAGS_PID : 0) |
                          (w->o.virtual ? CF_TAGS_VIRTUAL : 0);

    s->reader = cf_tool_reader(&w->tool, files, count);
    s->snaps = cf_need(&w->tool, cf_snaps_new(w->o.level, keep));
    cf_snaps_want(s->snaps, s->reader);
}

/* The next snapshot of a side: 0 when there is none. */
static int next(struct work *w, struct side *s)
{
    struct cf_frame *f;
    int r;

    while ((r = cf_snaps_next(s->snaps)) == 0 && !s->over) {
        if (cf_reader_next(s->reader, &f) > 0) {
            r = cf_snaps_frame(s->snaps, f);
            w->streams += f->table == CF_HEADER && s == &w->a;
            if (f->table == CF_TASK && s == &w->a)
                r |= cf_tasks_frame(w->tasks, 0, f) | cf_tasks_frame(w->tasks, w->streams, f);
        } else {
            s->over = 1;
            cf_snaps_end(s->snaps);
        }
        cf_tool_progress(&w->tool, w->a.reader);
        if (r < 0)
            break;
    }
    cf_must(&w->tool, r < 0);
    return r;
}

static int take(void *work, const struct cf_tags *t, size_t slot, uint32_t set, enum cf_change kind)
{
    struct work *w = work;
    const uint32_t key = w->o.by == BY_SET ? set : t->pid[slot];
    uint32_t n;
    const int r = cf_groups_number(w->groups, &key, sizeof key, 1, &n);

    if (r > 0)
        cf_die(&w->tool, CF_EXIT_INPUT, "--by: there are over %d of them", CF_GROUPS_MOST);
    if (r < 0 || cf_array_cleared(&w->sums, &w->room, n + (size_t)1, sizeof *w->sums) != 0)
        return -1;
    w->sums[n][kind]++;
    return 0;
}

/* ---- what a pair gives ---- */

static void check_cache(struct work *w, const struct cf_snapshot *s)
{
    if (w->differ || cf_snapshot_alike(&w->cache, s))
        return;
    w->differ = 1;
    cf_warn(&w->tool,
            "snapshot %" PRIu32 " is of a cache of %" PRIu32 " sets and %" PRIu32
            " ways, level %u, and is compared or added up with one of %" PRIu32 " sets and %" PRIu32
            " ways, level %u",
            s->number, s->sets, s->ways, s->level, w->cache.sets, w->cache.ways, w->cache.level);
}

static void compare(struct work *w, const struct cf_tags *ta, const struct cf_snapshot *a,
                    const struct cf_tags *tb, const struct cf_snapshot *b)
{
    const uint64_t in_a = cf_tags_capacity(ta), in_b = cf_tags_capacity(tb);
    const uint64_t lines = in_a > in_b ? in_a : in_b;
    /* a model knows of no security */
    struct cf_changes c = {.ignored =
                               (a->mode ^ b->mode) & CF_MODE_MODEL ? CF_STATE_NON_SECURE : 0};
    double percent;

    if (w->o.by == BY_PAIR || !w->cache.number)
        w->cache = *a;
    check_cache(w, a);
    check_cache(w, b);
    cf_must(&w->tool, cf_changes_add(&c, ta, tb, w->o.by >= BY_PROCESS ? take : NULL, w));
    percent = lines ? 100.0 * (double)c.ways / (double)lines : NAN;
    if (w->o.by == BY_PAIR)
        print_pair(w, a, b, &c, lines, percent);
    if (w->o.by == BY_MODE && lines) {
        cf_moments_add(&w->polluted[mode_index(a->mode)], percent);
        /* 0: none is stated, as of models */
        if (a->cost)
            cf_moments_add(&w->cost[mode_index(a->mode)], (double)a->cost);
    }
}

static void run_one(struct work *w)
{
    const struct cf_snaps *s = w->a.snaps;

    while (next(w, &w->a)) {
        w->index = s->first ? 1 : w->index + 1;
        if (!s->first && (!w->o.pairs || w->index % 2 == 0))
            compare(w, &s->before, &s->info_before, &s->now, &s->info);
        if (w->index <= 2 || w->o.pairs) /* an odd one waits for another */
            w->left_over += w->index % 2 ? 1 : UINT64_MAX;
    }
    if (w->left_over && !w->tool.quiet)
        cf_warn(&w->tool, "%" PRIu64 " snapshots were not compared: each is %s", w->left_over,
                w->o.pairs ? "the last of an odd number in its segment"
                           : "alone in its segment; --against compares those of two streams");
}

static void run_two(struct work *w)
{
    int a, b;

    while (a = next(w, &w->a), b = next(w, &w->b), a && b)
        compare(w, &w->a.snaps->now, &w->a.snaps->info, &w->b.snaps->now, &w->b.snaps->info);
    /* the rest is read for its damage and its number */
    for (; a; a = next(w, &w->a))
        w->left_over++;
    for (; b; b = next(w, &w->b))
        w->left_over++;
}

static void close_second(struct work *w)
{
    cf_tool_fit(&w->tool, w->a.reader);
    cf_tool_fit(&w->tool, w->b.reader);
    cf_tool_note(&w->tool, cf_snaps_problems(w->b.snaps, &w->tool, w->o.against));
    if (w->left_over)
        cf_fail(&w->tool, CF_EXIT_INPUT,
                "%s: one of the streams has %" PRIu64 " snapshots more: these were not compared",
                w->o.against, w->left_over);
    cf_tool_note(&w->tool, cf_tool_problems(&w->tool, w->b.reader));
    cf_reader_close(w->b.reader);
    cf_snaps_free(w->b.snaps);
}

int main(int argc, char **argv)
{
    static struct work w;

    cf_tool_init(&w.tool, argc, argv, "cf-diff", usage);
    parse(&w, argc, argv);
    open_side(&w, &w.a, argv + optind, argc - optind);
    w.groups = cf_need(&w.tool, cf_groups_new());
    w.tasks = cf_need(&w.tool, cf_counts_new());
    if (w.o.by == BY_PROCESS) {
        cf_reader_unify(w.a.reader);
        cf_tasks_want(w.a.reader);
    }
    if (w.o.against) {
        open_side(&w, &w.b, (char *const *)&w.o.against, 1);
        run_two(&w);
        close_second(&w);
    } else {
        run_one(&w);
        cf_tool_fit(&w.tool, w.a.reader);
    }
    if (w.o.by == BY_PAIR)
        print_head(&w);
    if (w.o.by == BY_MODE)
        print_modes(&w);
    if (w.o.by >= BY_PROCESS)
        print_sums(&w);
    if (w.o.by == BY_PROCESS)
        cf_tasks_problems(&w.tool, w.tasks, w.a.reader);
    cf_tool_note(&w.tool, cf_snaps_problems(w.a.snaps, &w.tool, NULL));
    cf_snaps_free(w.a.snaps);
    cf_groups_free(w.groups);
    free(w.sums);
    cf_counts_free(w.tasks);
    return cf_tool_finish(&w.tool, w.a.reader, NULL);
}
