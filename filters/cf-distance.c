/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf-distance - adds column `dist`: the LRU stack distance (reuse distance) of each access.
 *
 * In: any stream with accesses. Out: the same, table access with the column `dist`, the number of
 * distinct other lines since the last access to the line, or a marker (stack.h). With
 * sampling also `dist_weight`. All other tables and columns pass untouched. How distances are found
 * stands in stack_one.c.
 *
 * Memory: at most 32 bytes a distinct line; 0.9 to 1.3 KiB a stack (one a process, thread or set,
 * where it is asked for); 14 MiB for a frame; 60 bytes a process or thread. What --jobs takes
 * stands in parts/distance/parallel.c, what partial results take in partial.c and join.c there.
 */
#include <stdlib.h>

#include "filters/parts/distance/distance.h"
#include "formats/base/cf_memory.h"
#include "formats/program/cf_options.h"

static const char usage[] =
    "Usage: cf-distance [OPTION]... [FILE]...\n"
    "Add column 'dist' to each access: its exact LRU stack distance (reuse distance), in\n"
    "lines. With no FILE, or when FILE is -, read standard input.\n"
    "\n"
    "      --for WHAT        data, fetches, or unified: both in one stack  [data]\n"
    "      --line-size SIZE  bytes of a line, a power of two from 4 to 64K  [64]\n"
    "      --sets N          distance within the set: line modulo N  [1]\n"
    "      --per WHAT        a stack for each process or thread  [one for all]\n"
    "      --bound N         mark distances over N lines as 'beyond', such as 8K\n"
    "      --rate R          sample this part of the lines, such as 0.01 (SHARDS)\n"
    "      --samples N       sample at most N lines, such as 8K, at a falling rate\n"
    "  -j, --jobs N          by N threads; the output is the same  [1]\n"
    "      --partial         write a result that cf-distance joins with those of other parts\n"
    "      --columns A,B     hand on only these columns of accesses, and those that are added\n"
    "      --stats           print lines, memory and sampling error on standard error\n"
    "  -o, --output FILE     write a packed file instead of standard output\n"
    "  -q, --quiet           no progress\n"
    "  -h, --help, --version, --max-strings SIZE\n"
    "\n"
    "Examples:\n"
    "  cf-distance trace.cf | cf-mrc > curve.csv\n"
    "  cf-distance --sets 64 --per thread trace.cf | cf-cat --csv\n";

struct distance {
    struct cf_tool tool;
    struct cf_partial partial;
    const char *output;
    struct settings set;
    int stats;
    struct stacks stacks;
    struct cf_cores *cores;
    struct share share;
};

static const char *const for_words[] = {
    [CF_RUNS_DATA] = "data", [CF_RUNS_FETCHES] = "fetches", [CF_RUNS_ALL] = "unified"};
static const char *const per_words[] = {"all", "process", "thread"};

/* Which partial results go together. */
static void name_options(struct distance *d)
{
    const struct cf_stack_config *s = &d->set.config;
    char *text = NULL;
    size_t bytes;
    FILE *out = cf_need(&d->tool, open_memstream(&text, &bytes));

    fprintf(out, "for %s; per %s; line-size %u; sets %u", for_words[d->set.what],
            per_words[d->set.per], 1u << d->set.shift, s->sets ? s->sets : 1);
    if (s->max)
        fprintf(out, "; bound %llu", (unsigned long long)s->max);
    if (s->rate > 0)
        fprintf(out, "; rate %.17g", s->rate);
    if (s->samples)
        fprintf(out, "; samples %u", s->samples);
    if (d->tool.columns)
        fprintf(out, "; columns %s", d->tool.columns);
    d->partial.tool = &d->tool;
    d->partial.annotates = 1;
    d->partial.options = cf_need(&d->tool, cf_memory_text(out, &text));
}

static void parse(struct distance *d, int argc, char **argv)
{
    struct cf_stack_config *s = &d->set.config;
    uint64_t line_size = 64;
    const struct cf_option table[] = {
        {"for", 0, CF_WORD(&d->set.what, "data fetches unified", CF_RUNS_DATA)},
        {"line-size", 0, CF_POWER(&line_size, 4, 65536)},
        {"sets", 0, CF_NUMBER(&s->sets, 1, 1u << 24)},
        {"per", 0, CF_WORD(&d->set.per, "process thread", PER_PROCESS)},
        {"bound", 0, CF_NUMBER(&s->max, 1, UINT64_MAX)},
        {"max", 0, CF_OLD("bound")},
        {"rate", 0, CF_FRACTION(&s->rate, 0, 1, CF_ABOVE)},
        {"samples", 0, CF_NUMBER(&s->samples, 64, 1 << 30)},
        {"jobs", 'j', CF_NUMBER(&d->set.jobs, 1, 256)},
        CF_PARTIAL_OPTION(&d->partial),
        {"stats", 0, CF_FLAG(&d->stats)},
        CF_COLUMNS_OPTION(&d->tool),
        {"output", 'o', CF_FILE(&d->output)},
        CF_END_INPUT_OPTIONS,
    };

    d->set.what = CF_RUNS_DATA;
    cf_options_read(&d->tool, argc, argv, table);
    d->set.shift = (unsigned)__builtin_ctzll(line_size);
    d->set.sampling = d->set.config.rate > 0 || d->set.config.samples;
    if (d->set.config.sets > 1 && d->set.sampling)
        cf_die(&d->tool, CF_EXIT_USAGE,
               "--sets does not go with --rate and --samples: a set has too few lines to sample");
    cf_tool_unsaid(&d->tool, "-j", "--jobs");
    if (d->set.config.samples && d->set.jobs > 1)
        cf_die(&d->tool, CF_EXIT_USAGE,
               "--samples does not go with --jobs: its rate depends on all accesses before: sample "
               "at a fixed rate, by --rate");
    if (d->partial.asked && d->set.config.samples)
        cf_die(&d->tool, CF_EXIT_USAGE,
               "--partial does not go with --samples: its rate depends on all parts before: sample "
               "at a fixed rate, by --rate");
    if (d->partial.asked && d->set.jobs > 1)
        cf_die(&d->tool, CF_EXIT_USAGE, "--partial does not go with --jobs: take more parts");
    name_options(d);
}

/* A failure shows again when the writer is closed. */
static void state_facts(const struct distance *d, struct cf_writer *w)
{
    (void)cf_writer_fact(w, "dist", "by", d->tool.name);
    (void)cf_writer_number(w, "dist", "line_size", (uint64_t)1 << d->set.shift);
    (void)cf_writer_number(w, "dist", "sets", d->set.config.sets ? d->set.config.sets : 1);
    (void)cf_writer_number(w, "dist", "bound", d->set.config.max);
    (void)cf_writer_fact(w, "dist", "for", for_words[d->set.what]);
    (void)cf_writer_fact(w, "dist", "per", per_words[d->set.per]);
}

static void want(const struct distance *d, struct cf_reader *r)
{
    const struct settings *set = &d->set;

    cf_reader_want(r, CF_ACCESS, CF_ADDR, CF_REQUIRED);
    cf_reader_want(r, CF_ACCESS, CF_OP, set->what == CF_RUNS_FETCHES ? CF_REQUIRED : CF_OPTIONAL);
    cf_reader_want(r, CF_ACCESS, CF_SIZE, CF_OPTIONAL);
    if (set->per != PER_ALL)
        cf_reader_want(r, CF_ACCESS, CF_PID, set->per == PER_PROCESS ? CF_REQUIRED : CF_OPTIONAL);
    if (set->per == PER_THREAD)
        cf_reader_want(r, CF_ACCESS, CF_TID, CF_REQUIRED);
    cf_reader_refuse_samples(r);
}

static void take_whole(struct distance *d, struct cf_writer *w, struct cf_frame *f)
{
    struct pieces pieces = {0};
    int failed = 0; /* cf_tool_finish() reports why */

    for (; f && !failed; f = next_frame(&d->partial, &d->stacks)) {
        enum trouble what;

        if (f->table != CF_ACCESS || !f->rows) {
            failed = cf_writer_frame(w, f) != 0;
            continue;
        }
        if (d->set.per == PER_ALL) {
            int status;

            pieces.count = 0;
            status = find_pieces(d->cores, f, &pieces);
            if (status > 0)
                continue;
            cf_must(&d->tool, status);
        }
        what = stacks_frame(&d->stacks, f, pieces.piece, 0);
        if (what != FINE)
            report(&d->tool, what);
        failed = hand_on(&d->tool, &d->stacks, f, d->stacks.weight, w) != 0;
    }
    free(pieces.piece);
}

static void run(struct distance *d, struct cf_writer *w)
{
    struct cf_reader *const r = d->partial.reader;
    struct cf_frame *f;

    cf_tool_idle(r, w);
    f = next_frame(&d->partial, &d->stacks); /* a header */
    if (d->partial.input == CF_INPUT_PARTIALS) {
        cf_reader_want(r, CF_ACCESS, CF_DIST, CF_REQUIRED);
        join_partials(&d->tool, &d->stacks, d->cores, &d->partial, w, f);
        return;
    }
    want(d, r);
    if (d->partial.asked)
        write_partial(&d->tool, &d->stacks, d->cores, &d->partial, f);
    else if (d->set.jobs > 1)
        take_in_parts(&d->tool, &d->stacks, d->cores, &d->partial, w, &d->share, f);
    else
        take_whole(d, w, f);
    if (stacks_mix(&d->stacks))
        cf_warn(
            &d->tool,
            "distances may be wrong, lines of different processes be taken for one: " STACKS_MIX,
            1u << (d->set.shift - 1), 1u << d->set.shift);
}

static void print_stats(const struct distance *d)
{
    struct cf_stack_stats s;

    cf_stack_stats(d->stacks.stack, &s);
    fprintf(stderr,
            "cf-distance: %llu references to lines, %llu first ones, %llu lines kept, "
            "%.1f bytes each, %llu bytes in all\n",
            (unsigned long long)s.references, (unsigned long long)s.compulsory,
            (unsigned long long)s.lines, s.lines ? (double)s.line_bytes / (double)s.lines : 0.0,
            (unsigned long long)s.bytes);
    if (d->set.sampling && !s.sampled)
        fprintf(stderr,
                "cf-distance: rate %.6g, no reference is in the sample: no miss ratio is known; "
                "give a larger --rate\n",
                s.rate);
    else if (d->set.sampling)
        fprintf(stderr,
                "cf-distance: rate %.6g, %llu references sampled, %.0f expected; standard error of "
                "a miss ratio at most %.5f (caches from %llu lines)\n",
                s.rate, (unsigned long long)s.sampled, s.expected, s.error,
                (unsigned long long)s.error_from);
    if (d->share.parts)
        fprintf(stderr,
                "cf-distance: %llu parts; their joins took %.1f%% of the processor's time\n",
                (unsigned long long)d->share.parts, 100 * d->share.joins / d->share.all);
}

int main(int argc, char **argv)
{
    static struct distance d;
    struct cf_reader *r;
    struct cf_writer *w;
    int status;

    cf_tool_init(&d.tool, argc, argv, "cf-distance", usage);
    parse(&d, argc, argv);
    w = cf_tool_writer(&d.tool, d.output);
    if (d.partial.asked) {
        cf_writer_framed(w); /* as the join will write them */
        d.partial.out = w;
    }
    r = cf_partial_reader(&d.partial, argv + optind, argc - optind);
    (void)cf_tool_only(&d.tool, w, (const unsigned[]){CF_DIST, CF_DIST_WEIGHT, 0});
    state_facts(&d, w);
    stacks_prepare(&d.tool, &d.stacks, &d.set);
    d.stacks.stack = cf_need(&d.tool, cf_stack_new(&d.set.config));
    d.cores = cf_need(&d.tool, cf_cores_new(1));
    run(&d, w);
    if (d.partial.asked) {
        status = cf_partial_finish(&d.partial);
    } else {
        cf_partial_free(&d.partial);
        status = cf_tool_finish(&d.tool, r, w);
    }
    if (d.stats)
        print_stats(&d);
    stacks_release(&d.stacks);
    cf_cores_free(d.cores);
    return status;
}
