/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf-latency - adds column `cost`, the cycles that each access cost by the latencies of a machine
 * description, or sums them up by level and operation.
 *
 * In: a stream whose accesses have column `hit` (cf-cache) or `level` (hardware). Out: the same,
 * table access with column `cost`, and so table unplaced where it has that column; with --retime
 * in the time that the costs take; or CSV. All other tables and columns pass untouched. Memory: a
 * few columns of one frame, and where latencies depend on earlier accesses 32 bytes a thread and 56
 * a row of unplaced that waits for the accesses of its time; --retime as in retime.h.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "filters/parts/latency/latency.h"
#include "formats/base/cf_number.h"
#include "formats/program/cf_rows.h"
#include "formats/program/cf_options.h"

static const char usage[] =
    "Usage: cf-latency -m MACHINE [OPTION]... [FILE]...\n"
    "Add column 'cost' to each access: its cycles, by the level that served it and the\n"
    "latencies of MACHINE. With no FILE, or when FILE is -, read standard input.\n"
    "\n"
    "  -m, --machine MACHINE    the levels: a description's name, FILE.yaml or host\n"
    "      --latency WHAT=CYCLES\n"
    "                           latency to use instead of the description's: of a level\n"
    "                           or memory (L2), of an operation at it (L2.store), or of\n"
    "                           one after another (L2.store_after_load); may be repeated\n"
    "      --cores N            cores, as given to cf-cache  [CPUs of the machine]\n"
    "      --level-column NAME  column with the level: hit (from cf-cache) or level\n"
    "                           (from the hardware)  [hit]\n"
    "      --retime             make time cycles: instructions so far and costs so far\n"
    "      --summary            print cycles by level and operation as CSV; and no\n"
    "                           stream, unless -o is given\n"
    "      --partial            with --summary: write a result that cf-latency joins with those\n"
    "                           of other parts\n"
    "      --columns A,B        hand on only these columns of accesses, and those that are added\n"
    "  -o, --output FILE        write a packed file instead of standard output\n"
    "      --csv, --term, --json\n"
    "                           the form of the summary  [a table on a terminal, else CSV]\n"
    "  -q, --quiet              no remarks, no progress\n"
    "  -h, --help, --version, --max-strings SIZE\n"
    "\n"
    "Example:\n"
    "  cf-cache -m tegra-x1 trace.cf | cf-latency -m tegra-x1 --summary\n";

static void parse(struct latency *l, int argc, char **argv)
{
    const char **stated = cf_tool_room(&l->tool, (size_t)argc, sizeof *stated);
    unsigned level_column = 0;
    const struct cf_option table[] = {
        {"machine", 'm', CF_TEXT(&l->machine_name), .reads = CF_READS_MACHINE},
        {"latency", 0, CF_TEXTS(stated, &l->stated, (unsigned)argc)},
        {"cores", 0, CF_NUMBER(&l->core_count, 1, CF_MAX_CORES)},
        {"level-column", 0, CF_WORD(&level_column, "hit level", 0)},
        {"retime", 0, CF_FLAG(&l->retimes)},
        {"summary", 0, CF_FLAG(&l->summary)},
        {"output", 'o', CF_FILE(&l->output)},
        CF_PARTIAL_OPTION(&l->partial),
        CF_COLUMNS_OPTION(&l->tool),
        CF_FORM_OPTIONS,
        CF_END_INPUT_OPTIONS,
    };

    cf_options_read(&l->tool, argc, argv, table);
    if (l->retimes && l->summary && !l->output)
        cf_die(&l->tool, CF_EXIT_USAGE,
               "--retime is for a stream, and --summary writes none: give -o");
    if (l->partial.asked && (!l->summary || l->output))
        cf_die(&l->tool, CF_EXIT_USAGE, "--partial goes with --summary, and not with -o");
    l->column = level_column ? CF_LEVEL : CF_HIT;
    l->machine = cf_tool_machine(&l->tool, l->machine_name);
    l->core_count = cf_tool_cores(l->machine, l->core_count);
    l->latencies = cf_tool_latencies(&l->tool, l->machine, stated, l->stated);
}

static void state_facts(const struct latency *l, struct cf_writer *w)
{
    const char *cost = cf_column_name(CF_COST);

    cf_made_state(&l->made, w, CF_COST);
    /* a failure shows again when the writer is closed */
    if (*l->latencies)
        (void)cf_writer_fact(w, cost, "latency", l->latencies);
    if (l->column != CF_HIT)
        (void)cf_writer_fact(w, cost, "column", cf_column_name(l->column));
}

static int begin_segment(struct latency *l, const struct cf_frame *f, struct cf_writer *w)
{
    const unsigned but[] = {CF_COST, l->column == CF_HIT ? CF_LEVEL : CF_HIT, 0};

    end_unplaced(l, f, w);
    cf_before_check(&l->tool, f->header, l->column, &l->before);
    check_order(l, f->header);
    cf_made_check(&l->made, f->header, CF_COST, but);
    if (w)
        state_facts(l, w);
    if (l->retime && retime_end(l->retime, w) != 0)
        return -1;
    if (l->retime)
        retime_begin(l->retime, f->header, w);
    else if (w)
        cf_made_outdate(f->header, w);
    return 0;
}

/* -1 where the writer failed. */
static int take_frame(struct latency *l, struct cf_frame *f, struct cf_writer *w)
{
    if (f->table == CF_HEADER && begin_segment(l, f, w) != 0)
        return -1;
    if (l->retime && retime_take(l->retime, f))
        return 0;
    if (f->table == CF_ACCESS) {
        const uint32_t *old = l->retime ? cf_u32(f, CF_COST) : NULL;

        add_to_accesses(l, f, w);
        if (l->retime && retime_accesses(l->retime, f, old, l->cost, w) != 0)
            return -1;
    }
    if (f->table == CF_UNPLACED && add_to_unplaced(l, f))
        return 0;
    return w ? cf_writer_frame(w, f) : 0;
}

/* `w` is NULL where only the sums are wanted. */
static void run(struct latency *l, struct cf_reader *r, struct cf_writer *w)
{
    struct cf_frame *f;

    cf_aside_begin(&l->unplaced, CF_UNPLACED, r);
    if (cf_latencies_depend(l->model))
        cf_reader_want(r, CF_ACCESS, CF_TIME, CF_OPTIONAL);
    cf_reader_want(r, CF_ACCESS, l->column, CF_REQUIRED);
    cf_reader_want(r, CF_ACCESS, CF_OP, CF_OPTIONAL);
    if (l->summary)
        cf_reader_want(r, CF_ACCESS, CF_WEIGHT, CF_OPTIONAL);
    if (l->cores)
        cf_reader_want_each(r, CF_ACCESS, CF_OPTIONAL, CF_CPU, CF_PID, CF_TID);
    if (l->retimes)
        l->retime = retime_new(&l->tool, l->machine->clock_hz, r);
    cf_made_by(&l->made, &l->tool, l->machine, cf_latencies_depend(l->model) ? l->core_count : 0);
    l->made.from = l->column;
    cf_tool_idle(r, w);
    while (cf_tool_next(&l->tool, r, &f) > 0)
        if (!w && cf_partial_frame(&l->partial, f))
            latency_merge(l, f);
        else if (take_frame(l, f, w) != 0)
            break; /* cf_tool_finish() reports why */
    end_unplaced(l, NULL, w);
    if (l->retime)
        (void)retime_end(l->retime, w); /* the same */
    cf_aside_end(&l->unplaced);
}

/* One row of the summary: all keys of a level and an operation. */
static void print_row(const char *level, const char *op, const struct sum *s, uint64_t all)
{
    if (s->accesses == 0)
        return;
    cf_csv_print(stdout, "%s,%s,%" PRIu64 ",%" PRIu64 ",%.3f,%.3f\n", level, op, s->accesses,
                 s->cycles, (double)s->cycles / (double)s->accesses,
                 all ? 100.0 * (double)s->cycles / (double)all : 0);
}

static void print_summary(const struct latency *l)
{
    struct sum all = {0, 0}, unknown = {0, 0};

    for (unsigned key = 0; key < CF_LATENCY_KEYS; key++) {
        all.accesses = cf_sum(all.accesses, l->sum[key].accesses);
        all.cycles = cf_sum(all.cycles, l->sum[key].cycles);
        if (cf_latencies_lack(l->model, key) != CF_LACKS_NOTHING)
            unknown.accesses = cf_sum(unknown.accesses, l->sum[key].accesses);
    }
    cf_rows_begin(&l->tool);
    puts("level,op,accesses,cycles,cycles_per_access,share_percent");
    for (int i = 0; i <= (int)l->machine->levels; i++)
        for (unsigned key = 0; key < CF_LATENCY_KEYS; key++)
            if (cf_latencies_lack(l->model, key) == CF_LACKS_NOTHING &&
                cf_latencies_level(l->model, key) == i)
                print_row(cf_machine_level_name(l->machine, (uint32_t)i), cf_op_name(key & 7),
                          &l->sum[key], all.cycles);
    print_row("", "", &unknown, all.cycles);
}

/* A summary alone may be of partial results, and be one. */
static struct cf_reader *open_inputs(struct latency *l, char *const *files, int count)
{
    if (!l->summary || l->output)
        return cf_tool_reader(&l->tool, files, count);
    if (l->partial.asked && cf_latencies_depend(l->model))
        cf_die(&l->tool, CF_EXIT_USAGE,
               "--partial: latencies of %s depend on the access before, which a part does not know "
               "of its first: run it on the whole",
               l->machine->name);
    l->partial.tool = &l->tool;
    l->partial.options = latency_options(l);
    return cf_partial_reader(&l->partial, files, count);
}

int main(int argc, char **argv)
{
    static struct latency l;
    struct cf_reader *r;
    struct cf_writer *w = NULL;
    int status;

    cf_tool_init(&l.tool, argc, argv, "cf-latency", usage);
    parse(&l, argc, argv);
    l.model = cf_need(&l.tool, cf_latencies_new(l.machine));
    r = open_inputs(&l, argv + optind, argc - optind);
    if (!l.summary || l.output)
        w = cf_tool_writer(&l.tool, l.output);
    else
        cf_reader_pieces(r);
    (void)cf_tool_only(&l.tool, w, (const unsigned[]){CF_COST, 0});
    l.cost = cf_column_room(&l.tool, sizeof *l.cost);
    if (cf_latencies_depend(l.model) && l.core_count > 1) {
        l.cores = cf_need(&l.tool, cf_cores_new(l.core_count));
        l.core = cf_column_room(&l.tool, 1);
        l.space = cf_column_room(&l.tool, sizeof *l.space);
    }
    run(&l, r, w);
    if (!w)
        cf_partial_end(&l.partial);
    if (!cf_reader_lacks(r))
        cf_tool_estimated(&l.tool, l.machine, l.machine_name, l.stated);
    if (l.partial.asked)
        latency_write(&l);
    else if (l.summary)
        print_summary(&l);
    status = l.partial.asked ? cf_partial_finish(&l.partial) : cf_tool_finish(&l.tool, r, w);
    cf_partial_free(&l.partial);
    if (l.unknown && !l.tool.quiet && !l.partial.asked)
        cf_warn(&l.tool, "%" PRIu64 " accesses of unknown level or operation cost nothing",
                l.unknown);
    retime_free(l.retime);
    cf_cores_free(l.cores);
    cf_latencies_free(l.model);
    cf_machine_free(l.machine);
    return status;
}
