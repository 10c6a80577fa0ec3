/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf-merge - merges streams by time, interleaves threads that were recorded one at a time, or runs
 * traces as the tasks of one machine.
 *
 * In: streams, each in the order of time. Out: one segment in the order of time, with all tables
 * and columns, strings written anew. Memory: by time, a part of a frame an input and what explains
 * it; interleaving, the same a thread and 40 bytes a thread switch, and pipes as a whole; of a
 * schedule, the same a task.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filters/parts/merge/merge.h"
#include "formats/together/cf_made.h"
#include "formats/program/cf_options.h"

static const char usage[] =
    "Usage: cf-merge [OPTION]... [FILE]...\n"
    "Merge streams into one by time, interleave their threads, or schedule them as tasks of\n"
    "one machine. With no FILE, or when FILE is -, read standard input.\n"
    "\n"
    "      --renumber       keep processes of different inputs apart: those of the second\n"
    "                       get 10,000,000 added, those of the third 20,000,000, ...\n"
    "      --pid-offset N   the same with N instead of 10,000,000\n"
    "      --force          merge even if clocks or columns are of different things\n"
    "\n"
    "      --interleave     order the threads of each input as if they ran in parallel, each by\n"
    "                       its own instruction count (needs table switch of cf-capture trace)\n"
    "      --quantum N      threads of one processor take turns of N instructions  [100000]\n"
    "      --memory SIZE    hold at most SIZE of an input that is a pipe  [1G]\n"
    "      --schedule KIND  run each input as one task: fair[:SLICE], in turns of SLICE ticks\n"
    "                       [1000000]; or fifo, by priority in the order of the inputs\n"
    "      --cores N        number of processors  [interleaving: one per thread; a schedule: 1]\n"
    "\n"
    "  -o, --output FILE    write a packed file instead of standard output\n"
    "  -q, --quiet          no progress, no notes on columns that an input lacks\n"
    "  -h, --help, --version, --max-strings SIZE\n"
    "\n"
    "Example:\n"
    "  cf-merge --interleave --cores 4 resolved.cf -o parallel.cf\n";

static void set_schedule(const struct cf_tool *t, void *merge, const char *option, char *text)
{
    struct merge *m = merge;
    struct options *o = &m->o;

    if (!strcmp(text, "fifo")) {
        o->schedule = SCHEDULE_FIFO;
    } else if (!strcmp(text, "fair") || !strncmp(text, "fair:", 5)) {
        o->schedule = SCHEDULE_FAIR;
        if (text[4])
            o->slice = cf_parse_u64(t, "--schedule fair:", text + 5, 1, (uint64_t)1 << 40);
    } else {
        cf_die(t, CF_EXIT_USAGE, "%s '%s': give one of fair, fair:SLICE, fifo", option, text);
    }
}

static void parse(struct merge *m, int argc, char **argv)
{
    struct options *o = &m->o;
    int tuned = 0, cpus = 0;
    const struct cf_option table[] = {
        {"renumber", 0, CF_FLAG(&o->renumber)},
        {"pid-offset", 0, CF_NUMBER(&o->pid_offset, 1, UINT32_MAX), .given = &o->renumber},
        {"force", 0, CF_FLAG(&o->force)},
        {"interleave", 0, CF_FLAG(&o->interleave)},
        {"cores", 0, CF_NUMBER(&o->cpus, 1, 65536), .given = &cpus},
        {"cpus", 0, CF_OLD("cores")},
        {"quantum", 0, CF_NUMBER(&o->quantum, 1, (uint64_t)1 << 40), .given = &tuned},
        {"memory", 0, CF_SIZE_OF(&o->memory), .given = &tuned},
        {"schedule", 0, CF_CALL(set_schedule, m)},
        {"output", 'o', CF_FILE(&o->output)},
        CF_END_INPUT_OPTIONS,
    };

    *o = (struct options){
        .pid_offset = 10000000, .quantum = 100000, .memory = 1 << 30, .slice = 1000000};
    cf_options_read(&m->tool, argc, argv, table);
    if (o->interleave && o->schedule)
        cf_die(&m->tool, CF_EXIT_USAGE,
               "--interleave and --schedule are two things: pipe one into the other");
    if (tuned && !o->interleave)
        cf_die(&m->tool, CF_EXIT_USAGE, "--quantum and --memory belong to --interleave");
    if (cpus && !o->interleave && !o->schedule)
        cf_die(&m->tool, CF_EXIT_USAGE, "--cores belongs to --interleave or --schedule");
    /* tasks are programs of their own, whatever numbers they had when they were recorded */
    o->renumber |= o->schedule != SCHEDULE_NONE;
}

/* Interleaving reads an input several times at once. */
static void take_in(struct merge *m, struct input *in)
{
    in->file = cf_tool_again(&m->tool, in->file, m->o.memory, "interleaving looks far ahead");
}

static void refuse_fact(const struct merge *m, const char *input, const char *column,
                        const char *key, const char *old, const char *new)
{
    cf_die(&m->tool, CF_EXIT_INPUT,
           "%s: the %s of its column %s is %s, that of the inputs before it %s: such columns "
           "cannot be one: --force does it nevertheless",
           input, key, column, new, old);
}

static void take_fact(struct merge *m, const struct cf_header *h, const struct cf_fact *f)
{
    struct cf_facts *all = &m->stated.facts;
    uint64_t number;

    merge_room(m, &all->fact, &m->fact_room, all->count + (size_t)1, sizeof(*all->fact));
    all->fact[all->count++] = (struct cf_fact){.column = cf_tool_text(&m->tool, "%s", f->column),
                                               .key = cf_tool_text(&m->tool, "%s", f->key),
                                               .value = cf_tool_text(&m->tool, "%s", f->value)};
    /* a failure shows again when the writer is closed */
    if (cf_header_number(h, f->column, f->key, &number) > 0)
        (void)cf_writer_number(m->writer, f->column, f->key, number);
    else
        (void)cf_writer_fact(m->writer, f->column, f->key, f->value);
}

/* Facts that may be stated in one of the two alone. */
static void merge_machine(struct merge *m, const char *input, const struct cf_header *h,
                          const char *column)
{
    const char *key = cf_made_differ(&m->stated, h, column), *old, *new;

    if (!key || m->o.force)
        return;
    old = cf_header_fact(&m->stated, column, key);
    new = cf_header_fact(h, column, key);
    refuse_fact(m, input, column, key, old ? old : "not stated", new ? new : "not stated");
}

/* Whether its distances are what they were: no other process or thread has part in them. */
static int keeps_distances(const struct merge *m)
{
    const char *per = cf_header_fact(&m->stated, "dist", "per");

    return per && (!strcmp(per, "thread") || (!strcmp(per, "process") && !m->o.interleave));
}

void merge_outdate(struct merge *m)
{
    static const unsigned ordered[] = {CF_DIST, CF_HIT, CF_CLASS, CF_CLASS_BEHIND, CF_COST};

    if (m->inputs == 1 && !m->o.interleave)
        return;
    for (unsigned i = keeps_distances(m); i < sizeof(ordered) / sizeof(*ordered); i++) {
        const char *name = cf_column_name(ordered[i]);

        if (cf_header_fact(&m->stated, name, "by"))
            (void)cf_writer_fact(m->writer, name, cf_before, m->tool.name);
    }
}

void merge_facts(struct merge *m, const char *input, const struct cf_header *h, int began)
{
    for (unsigned i = 0; i < h->facts.count; i++) {
        const struct cf_fact *f = &h->facts.fact[i];
        const char *old = cf_header_fact(&m->stated, f->column, f->key);

        if (!strcmp(f->key, "machine"))
            merge_machine(m, input, h, f->column);
        if (!old && !began)
            take_fact(m, h, f);
        else if ((!old || strcmp(old, f->value) != 0) && strcmp(f->key, "by") != 0 &&
                 strcmp(f->key, cf_before) != 0 && !m->o.force)
            refuse_fact(m, input, f->column, f->key, old ? old : "not stated", f->value);
    }
}

static struct input *add_input(struct merge *m, const struct input *in)
{
    uint64_t offset = m->o.renumber ? (uint64_t)m->inputs * m->o.pid_offset : 0;
    struct input *to;

    if (offset > UINT32_MAX)
        cf_die(&m->tool, CF_EXIT_USAGE,
               "process numbers do not reach for %u inputs %u apart: give a smaller --pid-offset",
               m->inputs + 1, m->o.pid_offset);
    merge_room(m, &m->input, &m->input_room, m->inputs + (size_t)1, sizeof(*m->input));
    to = &m->input[m->inputs];
    *to = *in;
    to->number = m->inputs++;
    to->offset = (uint32_t)offset;
    return to;
}

/* Each segment of a file that can be read again is an input of its own. 0 where the file is none
   such, or holds one. */
static int add_segments(struct merge *m, const struct input *in)
{
    uint64_t *at = NULL;
    size_t n = 0, room = 0;
    struct cf_reader *r;
    struct cf_frame *f;
    struct stat st;

    if (!strcmp(in->file, "-") || stat(in->file, &st) != 0 || !S_ISREG(st.st_mode))
        return 0;
    r = cf_tool_reader(&m->tool, &in->file, 1);
    cf_reader_range(r, UINT64_MAX, 0); /* which steps over accesses */
    while (cf_reader_next(r, &f) > 0) {
        if (f->table != CF_HEADER)
            continue;
        merge_facts(m, in->name, f->header, 0);
        cf_tool_command(&m->tool, &m->command, f->header->command);
        merge_room(m, &at, &room, n + 1, sizeof(*at));
        at[n++] = f->offset;
    }
    for (size_t k = 0; k < n && n > 1; k++) {
        struct input *one = add_input(m, in);

        one->from = at[k];
        one->to = k + 1 < n ? at[k + 1] : (uint64_t)st.st_size;
        one->name = cf_tool_text(&m->tool, "%s (segment %zu)", in->name, k + 1);
        one->warned = cf_reader_problem(r) != NULL;
    }
    if (n > 1 && cf_reader_problem(r))
        cf_fail(&m->tool, CF_EXIT_INPUT, "%s", cf_reader_problem(r));
    cf_reader_close(r);
    free(at);
    return n > 1;
}

static void set_inputs(struct merge *m, char **files, int count)
{
    static char standard[] = "-", standard_name[] = "standard input";
    int standard_inputs = 0;

    for (int i = 0; i < (count ? count : 1); i++) {
        struct input in = {.file = count ? files[i] : standard};

        in.name = strcmp(in.file, "-") ? in.file : standard_name;
        standard_inputs += !strcmp(in.file, "-");
        if (standard_inputs > 1)
            cf_die(&m->tool, CF_EXIT_USAGE, "standard input can be merged only once");
        if (m->o.interleave)
            take_in(m, &in);
        if (!add_segments(m, &in))
            add_input(m, &in);
    }
}

int main(int argc, char **argv)
{
    static struct merge m;

    cf_tool_init(&m.tool, argc, argv, "cf-merge", usage);
    parse(&m, argc, argv);
    m.writer = cf_tool_writer(&m.tool, m.o.output);
    set_inputs(&m, argv + optind, argc - optind);
    m.out = output_new(&m);
    m.owner = cf_need(&m.tool, cf_counts_new());
    if (m.o.schedule)
        merge_scheduled(&m);
    else if (m.o.interleave)
        merge_interleaved(&m);
    else
        merge_by_time(&m);
    output_free(m.out);
    cf_counts_free(m.owner);
    free(m.stated.facts.fact);
    free(m.input);
    return cf_tool_finish(&m.tool, NULL, m.writer);
}
