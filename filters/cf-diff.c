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

#include "filters/engine/rows/groups.h"
#include "filters/engine/snapshot/changes.h"
#include "filters/engine/snapshot/tags.h"
#include "filters/engine/snapshot/tasks.h"
#include "filters/survey/problems.h"
#include "formats/base/cf_memory.h"
#include "formats/program/cf_rows.h"
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

enum by { BY_PAIR, BY_MODE, BY_PROCESS, BY_SET };

struct options {
    int pairs, virtual;
    const char *against;
    enum by by;
    unsigned level;
};

struct side {
    struct cf_reader *reader;
    struct cf_snaps *snaps;
    int over;
};

/* A direct-mapped cache of recent numbers: the lines of several processes or sets take turns. */
struct recent {
    uint32_t key, known; /* number + 1, 0 = none */
};

enum { MODES = 8, RECENT_BITS = 8 };

struct work {
    int headed; /* the first line of the CSV is printed */
    struct cf_tool tool;
    struct options o;
    char *against[1];
    struct side a, b;
    uint64_t index; /* of the snapshot in its segment, from 1 */
    uint64_t pairs, left_over;
    struct cf_moments polluted[MODES], cost[MODES];
    struct cf_groups *groups;          /* processes or sets */
    uint64_t (*sums)[CF_CHANGE_KINDS]; /* of each, by number */
    size_t room;
    struct recent recent[1 << RECENT_BITS];
    struct cf_counts *tasks; /* names of processes, of the first stream */
};

static void parse(struct work *w, int argc, char **argv)
{
    const struct cf_tool *t = &w->tool;
    struct options *o = &w->o;
    int summary = 0;
    const struct cf_option table[] = {
        {"pairs", 0, CF_FLAG(&o->pairs)},
        {"against", 0, CF_TEXT(&o->against)},
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
            if (f->table == CF_TASK && s == &w->a)
                r |= cf_tasks_frame(w->tasks, 0, f);
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

/* ---- sums ---- */

/* The number of a process or set, for which there are sums then: 0, or -1 without memory. */
static int find_sums(struct work *w, uint32_t key, struct recent *recent)
{
    uint32_t n;
    int r;

    if ((r = cf_groups_number(w->groups, &key, sizeof key, 1, &n)) != 0) {
        if (r > 0)
            cf_die(&w->tool, CF_EXIT_INPUT, "--by: there are over %d of them", CF_GROUPS_MOST);
        return -1;
    }
    *recent = (struct recent){key, n + 1};
    return cf_array_cleared(&w->sums, &w->room, n + (size_t)1, sizeof *w->sums);
}

static int take(void *work, const struct cf_tags *t, size_t slot, uint32_t set, enum cf_change kind)
{
    struct work *w = work;
    const uint32_t key = w->o.by == BY_SET ? set : t->pid[slot];
    struct recent *r = &w->recent[key * 0x9e3779b1u >> (32 - RECENT_BITS)];

    if ((r->key != key || !r->known) && find_sums(w, key, r) != 0)
        return -1;
    w->sums[r->known - 1][kind]++;
    return 0;
}

static void print_sums(const struct work *w)
{
    struct cf_group *key = cf_need(&w->tool, cf_groups_sorted(w->groups, NULL));

    cf_rows_begin(&w->tool);
    printf("%s,same,other_state,other_way,only_a,only_b\n", w->o.by == BY_SET ? "set" : "pid,name");
    for (uint32_t i = 0; i < cf_groups_count(w->groups); i++) {
        cf_csv_u64(stdout, 1, key[i].value);
        if (w->o.by == BY_PROCESS)
            cf_csv_text(
                stdout, 0,
                cf_reader_text(w->a.reader, cf_tasks_name(w->tasks, 0, (uint32_t)key[i].value)));
        for (int k = 0; k < CF_CHANGE_KINDS; k++)
            cf_csv_u64(stdout, 0, w->sums[key[i].number][k]);
        cf_csv_end(stdout);
    }
    free(key);
}

/* ---- what a pair gives ---- */

static unsigned mode_index(unsigned mode)
{
    return (mode & CF_MODE_FLUSH ? 4 : 0) | (mode & CF_MODE_RESOLVED ? 2 : 0) |
           (mode & CF_MODE_LAYOUT ? 1 : 0);
}

/* As the paper calls them; it has flush mode only with both. */
static const char *const mode_names[MODES] = {
    "full transparent", "layout",        "resolve",    "resolve+layout", "flush",
    "flush+layout",     "flush+resolve", "full flush",
};

/* Once, and not before there is a pair, or it is known that the input is of the right kind. */
static void head(struct work *w)
{
    if (w->headed++)
        return;
    cf_rows_begin(&w->tool);
    puts("snapshot_a,snapshot_b,time,mode,lines,valid_a,valid_b,same,other_state,other_way,"
         "only_a,only_b,changed,changed_percent,cost_cycles");
}

static void print_pair(const struct cf_snapshot *a, const struct cf_snapshot *b,
                       const struct cf_changes *c, uint64_t lines, double percent)
{
    cf_csv_print(stdout, "%u,%u,%" PRIu64 ",%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64, a->number,
                 b->number, a->time, mode_names[mode_index(a->mode)], lines, c->valid_a,
                 c->valid_b);
    for (int k = 0; k < CF_CHANGE_KINDS; k++)
        cf_csv_u64(stdout, 0, c->count[k]);
    cf_csv_print(stdout, ",%" PRIu64 ",%.4f,%" PRIu64 "\n", c->ways, percent, a->cost);
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

    cf_must(&w->tool, cf_changes_add(&c, ta, tb, w->o.by >= BY_PROCESS ? take : NULL, w));
    w->pairs++;
    percent = lines ? 100.0 * (double)c.ways / (double)lines : NAN;
    if (w->o.by == BY_PAIR) {
        head(w);
        print_pair(a, b, &c, lines, percent);
    }
    if (w->o.by == BY_MODE && lines) {
        cf_moments_add(&w->polluted[mode_index(a->mode)], percent);
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
    }
}

static void run_two(struct work *w)
{
    int a, b;

    for (;;) {
        a = next(w, &w->a);
        b = next(w, &w->b);
        if (!a || !b)
            break;
        compare(w, &w->a.snaps->now, &w->a.snaps->info, &w->b.snaps->now, &w->b.snaps->info);
    }
    /* the rest is read for its damage and its number */
    for (; a; a = next(w, &w->a))
        w->left_over++;
    for (; b; b = next(w, &w->b))
        w->left_over++;
}

/* ---- results ---- */

static void print_modes(const struct work *w)
{
    cf_rows_begin(&w->tool);
    puts("mode,pairs,changed_percent_mean,changed_percent_stddev,changed_percent_max,"
         "cost_cycles_mean,cost_cycles_stddev,cost_cycles_max");
    /* in the order of the paper's table: what does most first */
    for (int k = MODES - 1; k >= 0; k--) {
        const struct cf_moments *p = &w->polluted[k], *c = &w->cost[k];

        if (p->n)
            cf_csv_print(stdout, "%s,%" PRIu64 ",%.4f,%.4f,%.4f,%.2f,%.2f,%.2f\n", mode_names[k],
                         p->n, p->mean, cf_moments_deviation(p), p->most, c->mean,
                         cf_moments_deviation(c), c->most);
    }
}

static void close_second(struct work *w)
{
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
        w.against[0] = (char *)w.o.against;
        open_side(&w, &w.b, w.against, 1);
        run_two(&w);
        close_second(&w);
    } else {
        run_one(&w);
    }
    cf_tool_fit(&w.tool, w.a.reader);
    if (w.o.by == BY_PAIR)
        head(&w);
    if (w.o.by == BY_MODE)
        print_modes(&w);
    if (w.o.by >= BY_PROCESS)
        print_sums(&w);
    cf_tool_note(&w.tool, cf_snaps_problems(w.a.snaps, &w.tool, NULL));
    cf_snaps_free(w.a.snaps);
    cf_groups_free(w.groups);
    free(w.sums);
    cf_counts_free(w.tasks);
    return cf_tool_finish(&w.tool, w.a.reader, NULL);
}
