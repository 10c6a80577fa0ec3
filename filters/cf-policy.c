/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf-policy - the replacement policy of a cache, from snapshots of its contents.
 *
 * In: a stream with tables snapshot and line; by option the trace of the accesses in between. Out:
 * CSV: how evenly new lines take the ways, how many of certain lines are cached after so many
 * rounds of accesses, and which policy predicts the snapshots best. Memory: two snapshots, about
 * 150 bytes a line of the cache with a trace (see candidates.h); 43 to 85 bytes for each line
 * that --survivors counts and for each page of the trace. It does not grow with the snapshots.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cf_number.h"
#include "filters/survey/problems.h"
#include "filters/parts/policy/policy.h"
#include "formats/program/cf_options.h"

static const char usage[] =
    "Usage: cf-policy [OPTION]... [FILE]...\n"
    "Infer from snapshots of a cache how it replaces lines. Prints a summary as CSV;\n"
    "FILE may be - in the options below.\n"
    "With no FILE, or when FILE is -, read standard input.\n"
    "\n"
    "      --choices FILE    how often each way was chosen\n"
    "      --survivors FILE  how many of the lines are cached, by rounds of accesses\n"
    "      --accesses TRACE  infer the policy from the accesses between the snapshots\n"
    "      --policies FILE   the ranking of the policies (with --accesses)\n"
    "      --watch ADDR,...  look at these lines (physical or virtual addresses),\n"
    "      --pid PID, --set SET[-SET], --addr A-B  or at those found there\n"
    "      --group HOW       which snapshots had equally many rounds: each file or\n"
    "                        segment (file), every Nth (cycle:N), N in a row\n"
    "                        (block:N)  [file]\n"
    "      --rounds N,...    the rounds of each group  [1,2,3,...]\n"
    "      --level N         cache level  [that of the first snapshot]\n"
    "      --line-size SIZE  bytes of a line  [the stream's, else 64]\n"
    "      --alpha P         error of the tests  [0.01]\n"
    "      --picture FILE    also draw the survivors, if these are asked for, else the\n"
    "                        choices: .png, .svg or .pdf; - is PNG on standard output\n"
    "      --picture-size WxH  in pixels, or in millimetres as WxHmm  [900x500]\n"
    "      --title TEXT      of the picture, instead of its own; '' for none\n"
    "      --csv, --term, --json\n"
    "                        the form of the output  [a table on a terminal, else CSV]\n"
    "  -q, --quiet           no progress, no hints\n"
    "  -h, --help, --version, --max-strings SIZE\n"
    "\n"
    "Example:\n"
    "  cf-policy --pid 7 --survivors s.csv --choices w.csv --accesses t.cf snapshots.cf\n";

/* ---- options ---- */

static void set_group(const struct cf_tool *t, void *work, const char *option, char *text)
{
    struct work *w = work;
    struct options *o = &w->o;

    if (!strcmp(text, "file")) {
        o->grouping = BY_FILE;
        return;
    }
    if (!strncmp(text, "cycle:", 6) || !strncmp(text, "block:", 6)) {
        o->grouping = *text == 'c' ? IN_CYCLES : IN_BLOCKS;
        o->group = cf_parse_u64(t, option, text + 6, 1, UINT32_MAX);
        return;
    }
    cf_die(t, CF_EXIT_USAGE, "%s '%s': give one of file, cycle:N, block:N", option, text);
}

static void set_rounds(const struct cf_tool *t, void *work, const char *option, char *text)
{
    struct work *w = work;
    struct options *o = &w->o;
    uint64_t rounds[ROUNDS_MOST];

    o->rounds_count = cf_parse_list(t, option, text, 0, UINT32_MAX, ROUNDS_MOST, rounds);
    for (uint32_t i = 0; i < o->rounds_count; i++)
        o->rounds[i] = (uint32_t)rounds[i];
}

static void check(struct work *w)
{
    struct options *o = &w->o;
    const char *const file[] = {o->ways, o->survivors, o->policies};

    for (int i = 0; i < 3; i++)
        o->to_stdout += file[i] && !strcmp(file[i], "-");
    if (o->output.picture && o->ways && o->survivors)
        cf_die(&w->tool, CF_EXIT_USAGE,
               "--picture: only one of --choices and --survivors is drawn");
    if (o->policies && !o->accesses)
        cf_die(&w->tool, CF_EXIT_USAGE, "--policies: needs --accesses TRACE");
    if ((o->group || o->rounds_count) && !o->survivors)
        cf_die(&w->tool, CF_EXIT_USAGE, "--%s: needs --survivors FILE",
               o->group ? "group" : "rounds");
}

static void parse(struct work *w, int argc, char **argv)
{
    struct options *o = &w->o;
    const struct cf_option table[] = {
        {"choices", 0, CF_FILE(&o->ways)},
        {"ways", 0, CF_OLD("choices")},
        {"survivors", 0, CF_FILE(&o->survivors)},
        {"accesses", 0, CF_TEXT(&o->accesses), .reads = CF_READS_FILE},
        {"policies", 0, CF_FILE(&o->policies)},
        {"watch", 0, CF_CALL(cf_parse_rising, &o->line), .given = &o->filtered},
        {"lines", 0, CF_OLD("watch")},
        {"pid", 0, CF_NUMBER(&o->pid, 0, UINT32_MAX), .given = &o->pid_given},
        {"addr", 0, CF_RANGE(&o->from, &o->to), .given = &o->region_given},
        {"region", 0, CF_OLD("addr")},
        {"set", 0, CF_RANGE(&o->set_from, &o->set_to), .given = &o->filtered},
        {"group", 0, CF_CALL(set_group, w)},
        {"rounds", 0, CF_CALL(set_rounds, w)},
        {"level", 0, CF_NUMBER(&o->level, 1, 254)},
        {"line-size", 0, CF_POWER(&o->line_size, LEAST_LINE, MOST_LINE)},
        {"alpha", 0, CF_FRACTION(&o->alpha, 0, 1, CF_ABOVE | CF_BELOW)},
        CF_DRAW_OPTIONS(&o->output),
        CF_FORM_OPTIONS,
        CF_END_INPUT_OPTIONS,
    };

    *o = (struct options){.to = UINT64_MAX,
                          .set_to = UINT64_MAX,
                          .alpha = 0.01,
                          .line = {0, UINT64_MAX, LINES_MOST, 0, NULL},
                          .output.sheet = {.width = 900, .height = 500}};
    cf_options_read(&w->tool, argc, argv, table);
    o->filtered |= o->pid_given | o->region_given;
    cf_output_check(&w->tool, &o->output);
    check(w);
}

/* ---- the lines that are looked at ---- */

static int named(const struct options *o, uint64_t address)
{
    return cf_list_has(o->line.value, o->line.count, address);
}

/* One pass a condition, so that each is a loop without branches. A virtual address of 0 is not
   known, and beside another one, a physical address of 0. */
static void mark_rows(struct work *w, const struct cf_frame *f)
{
    const struct options *o = &w->o;
    const uint32_t *set = cf_u32(f, CF_SET), *pid = cf_u32(f, CF_PID);
    const uint64_t *addr = cf_u64(f, CF_ADDR), *phys = cf_u64(f, CF_PHYS);
    const uint32_t from = (uint32_t)o->set_from;
    const uint32_t to = o->set_to < UINT32_MAX ? (uint32_t)o->set_to : UINT32_MAX;
    uint8_t *mark = w->mark;

    for (uint32_t i = 0; i < f->rows; i++)
        mark[i] = (set[i] >= from) & (set[i] <= to) & (o->set_from <= UINT32_MAX);
    for (uint32_t i = 0; i < f->rows && o->pid_given; i++)
        mark[i] &= (pid ? pid[i] : 0) == o->pid;
    for (uint32_t i = 0; i < f->rows && o->region_given; i++)
        mark[i] &= addr && addr[i] && (addr[i] >= o->from) & (addr[i] <= o->to);
    for (uint32_t i = 0; i < f->rows && o->line.count; i++) {
        const uint64_t virtual = addr ? addr[i] : 0;

        mark[i] = mark[i] && ((virtual && named(o, virtual)) ||
                              (phys && (phys[i] || !virtual) && named(o, phys[i])));
    }
    cf_snaps_marks(w->snaps, mark);
}

static uint32_t rounds_of(const struct work *w)
{
    const struct options *o = &w->o;
    uint64_t group = w->snaps->info.segment - 1;

    if (o->grouping == IN_CYCLES)
        group = (w->snaps->count - 1) % o->group;
    else if (o->grouping == IN_BLOCKS)
        group = (w->snaps->count - 1) / o->group;
    if (group < o->rounds_count)
        return o->rounds[group];
    if (o->rounds_count)
        cf_die(&w->tool, CF_EXIT_USAGE, "--rounds: there are more groups than the %u of the list",
               o->rounds_count);
    return group < UINT32_MAX ? (uint32_t)group + 1 : UINT32_MAX;
}

/* ---- the loop ---- */

/* Ways of one cache say nothing of another. */
static void check_cache(struct work *w, const struct cf_snapshot *s)
{
    const struct cf_snapshot *first = &w->cache;

    if (!first->segment)
        w->cache = *s;
    if (w->differ || cf_snapshot_alike(first, s))
        return;
    w->differ = 1;
    cf_warn(&w->tool,
            "snapshot %" PRIu32 " is of a cache of %" PRIu32 " sets and %" PRIu32
            " ways, and is added up with those of one of %" PRIu32 " sets and %" PRIu32 " ways",
            s->number, s->sets, s->ways, first->sets, first->ways);
}

static int take_snapshot(struct work *w)
{
    struct cf_snaps *s = w->snaps;
    const int flushed = s->info_before.mode & CF_MODE_FLUSH;

    check_cache(w, &s->info);
    if (s->first)
        cf_placement_forget(&w->placement);
    /* after a flush every line fills an invalid way */
    if (!s->first && !flushed &&
        cf_placement_add(&w->placement, &s->before, &s->now, w->o.filtered) != 0)
        return -1;
    if (w->survivors && cf_survivors_add(w->survivors, &s->before, &s->now, rounds_of(w)) != 0)
        return -1;
    if (w->o.accesses && !w->no_candidates && judge_candidates(w) != 0)
        return -1;
    return 0;
}

static void run(struct work *w)
{
    struct cf_frame *f;
    int over = 0;

    while (!over) {
        int r;

        if (cf_tool_next(&w->tool, w->reader, &f) > 0) {
            if (f->table == CF_HEADER && w->o.accesses)
                cf_mix_check(&w->clock, &w->tool, f->header);
            if (f->table == CF_HEADER && !w->o.line_size &&
                cf_is_power_of_two(f->header->line_size) && f->header->line_size >= LEAST_LINE &&
                f->header->line_size <= MOST_LINE)
                w->line_size = f->header->line_size;
            r = cf_snaps_frame(w->snaps, f);
            if (f->table == CF_LINE && (w->o.filtered || w->survivors))
                mark_rows(w, f);
        } else {
            cf_snaps_end(w->snaps);
            over = 1;
            r = 0;
        }
        while (r == 0 && (r = cf_snaps_next(w->snaps)) > 0)
            r = take_snapshot(w);
        cf_must(&w->tool, r < 0);
    }
}

int main(int argc, char **argv)
{
    static struct work w;

    cf_tool_init(&w.tool, argc, argv, "cf-policy", usage);
    parse(&w, argc, argv);
    w.line_size = w.o.line_size ? w.o.line_size : 64;
    w.clock.column[0] = CF_TIME;
    w.reader = cf_tool_reader(&w.tool, argv + optind, argc - optind);
    w.snaps = cf_need(
        &w.tool, cf_snaps_new(w.o.level, (w.o.accesses ? CF_TAGS_OWNER : 0) |
                                             (w.o.filtered || w.o.survivors ? CF_TAGS_MARK : 0)));
    if (w.o.survivors)
        w.survivors = cf_need(&w.tool, cf_survivors_new(!w.o.line.count, w.o.line.count));
    cf_snaps_want(w.snaps, w.reader);
    if (w.o.line.count)
        cf_reader_want(w.reader, CF_LINE, CF_PHYS, CF_OPTIONAL);
    if (w.o.line.count || w.o.region_given)
        cf_reader_want(w.reader, CF_LINE, CF_ADDR, CF_OPTIONAL);
    if (w.o.pid_given)
        cf_reader_want(w.reader, CF_LINE, CF_PID, CF_OPTIONAL);
    run(&w);
    cf_tool_fit(&w.tool, w.reader);
    cf_tool_note(&w.tool, cf_snaps_problems(w.snaps, &w.tool, NULL));
    if (w.accesses)
        accesses_read_out(w.accesses);
    print_results(&w);
    if (w.accesses)
        accesses_close(w.accesses);
    cf_snaps_free(w.snaps);
    cf_survivors_free(w.survivors);
    cf_placement_free(&w.placement);
    cf_candidates_free(w.candidates);
    free(w.numbers);
    cf_mix_free(&w.clock);
    return cf_tool_finish(&w.tool, w.reader, NULL);
}
