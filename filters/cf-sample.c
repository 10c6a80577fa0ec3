/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf-sample - what a performance monitoring unit and a breakpoint would have delivered of a trace:
 * keeps the loads and stores that it would have sampled, with the level that served them, and those
 * of an instruction that misses, for a while.
 *
 * In: any stream whose accesses have time, op, addr, pc and hit; pid and tid are used where they
 * are. Out: the same with the accesses that are kept, all of their columns, and level, weight and
 * stage; every other table untouched. Which ones are kept: filters/engine/sample. Memory: what its
 * headers say, one frame, and the frame that is being filled.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "filters/engine/sample/sampler.h"
#include "filters/parts/sample/kept.h"
#include "formats/together/cf_made.h"
#include "formats/program/cf_options.h"
#include "formats/together/cf_processes.h"

static const char usage[] =
    "Usage: cf-sample -m MACHINE [OPTION]... [FILE]...\n"
    "Keep the accesses that a performance monitoring unit would sample, and every access of\n"
    "the instruction that has a breakpoint, with columns level, weight and stage.\n"
    "With no FILE, or when FILE is -, read standard input.\n"
    "\n"
    "  -m, --machine MACHINE  name of a machine description, FILE.yaml or host\n"
    "      --loads N          every how many loads of a thread one is sampled; 0: none  [20000]\n"
    "      --stores N         the same of stores  [50000]\n"
    "      --jitter PERCENT   each period differs from that by up to so much  [10]\n"
    "      --skid N           a sample names the N-th instruction after its own  [0]\n"
    "      --seed N           seed of the periods  [1]\n"
    "      --fine N           accesses under the breakpoint, at most; 0: no breakpoint  [64]\n"
    "      --same-set N       successive ones on one set of the first level end it  [8]\n"
    "      --expire MS        time after which an instruction that waits gets it  [100]\n"
    "      --misses N         sampled misses in a row make an instruction wait  [2]\n"
    "      --set-misses N     so do N sampled misses on its set  [8]\n"
    "      --set-window N     among the last N of the thread; 0: no matter  [64]\n"
    "      --columns A,B      hand on only these columns of accesses, and those that are added\n"
    "  -o, --output FILE      write a packed file instead of standard output\n"
    "  -q, --quiet            no progress\n"
    "  -h, --help, --version, --max-strings SIZE\n"
    "\n"
    "Example:\n"
    "  cf-cache -m xeon-6230 trace.cf | cf-sample -m xeon-6230 --loads 200 --stores 500 |\n"
    "      cf-rank --by address --value accesses,misses\n";

struct sample {
    struct cf_tool tool;
    const char *machine_name, *output;
    struct cf_sampler_options o;
    double expire; /* milliseconds */
    struct cf_machine *machine;
    struct cf_made made;
    struct cf_turns turns;
    struct cf_reader *reader;
    struct cf_writer *writer;
    struct cf_sampler *sampler;
    uint64_t rows;
    unsigned cores; /* of the model that column hit is of */
    int hz_warned;
    int before;       /* for cf_before_check() */
    struct kept kept; /* rows that are being collected */
};

static void parse(struct sample *s, int argc, char **argv)
{
    struct cf_fine_options *f = &s->o.fine;
    const uint64_t longest = (uint64_t)1 << 48;
    const struct cf_option table[] = {
        {"machine", 'm', CF_TEXT(&s->machine_name), .reads = CF_READS_MACHINE},
        {"loads", 0, CF_NUMBER(&s->o.loads, 0, longest)},
        {"stores", 0, CF_NUMBER(&s->o.stores, 0, longest)},
        {"jitter", 0, CF_NUMBER(&s->o.jitter, 0, 99)},
        {"skid", 0, CF_NUMBER(&s->o.skid, 0, 1000000)},
        {"seed", 0, CF_NUMBER(&s->o.seed, 0, UINT64_MAX)},
        {"fine", 0, CF_NUMBER(&f->most, 0, UINT32_MAX)},
        {"same-set", 0, CF_NUMBER(&f->same_set, 1, UINT32_MAX)},
        {"expire", 0, CF_FRACTION(&s->expire, 0, 1e9, CF_FROM_TO)},
        {"misses", 0, CF_NUMBER(&f->misses, 1, UINT32_MAX)},
        {"set-misses", 0, CF_NUMBER(&f->set_misses, 1, UINT32_MAX)},
        {"set-window", 0, CF_NUMBER(&f->set_window, 0, 65536)},
        {"output", 'o', CF_FILE(&s->output)},
        CF_COLUMNS_OPTION(&s->tool),
        CF_END_INPUT_OPTIONS,
    };

    s->o = (struct cf_sampler_options){.loads = 20000, .stores = 50000, .jitter = 10, .seed = 1};
    *f = (struct cf_fine_options){
        .most = 64, .same_set = 8, .misses = 2, .set_misses = 8, .set_window = 64};
    s->expire = 100;
    cf_options_read(&s->tool, argc, argv, table);
    if (!s->o.loads && !s->o.stores)
        cf_die(&s->tool, CF_EXIT_USAGE, "--loads 0 --stores 0: nothing would be sampled");
    if (f->set_window && f->set_misses > f->set_window)
        cf_die(&s->tool, CF_EXIT_USAGE, "--set-misses %u: more than --set-window %u", f->set_misses,
               f->set_window);
}

static void load_machine(struct sample *s)
{
    unsigned first = 0;

    s->machine = cf_tool_machine(&s->tool, s->machine_name);
    while (first < s->machine->levels && s->machine->level[first].kind == CF_INSTRUCTION_CACHE)
        first++;
    if (first == s->machine->levels)
        cf_die(&s->tool, CF_EXIT_USAGE, "%s has no data cache", s->machine->name);
    s->o.fine.sets = s->machine->level[first].sets;
    s->o.fine.line_size = s->machine->level[first].line;
}

/* ---- what is stated, and what is held against it ---- */

static void state_facts(struct sample *s)
{
    const struct cf_sampler_options *o = &s->o;
    struct cf_writer *w = s->writer;

    /* a failure shows again when the writer is closed */
    cf_made_state(&s->made, w, CF_LEVEL);
    (void)cf_writer_fact(w, "weight", "by", s->tool.name);
    (void)cf_writer_number(w, "weight", "loads", o->loads);
    (void)cf_writer_number(w, "weight", "stores", o->stores);
    (void)cf_writer_number(w, "weight", "jitter_percent", o->jitter);
    (void)cf_writer_number(w, "weight", "skid", o->skid);
    (void)cf_writer_number(w, "weight", "seed", o->seed);
    cf_made_state(&s->made, w, CF_STAGE);
    (void)cf_writer_number(w, "stage", "fine", o->fine.most);
    (void)cf_writer_number(w, "stage", "same_set", o->fine.same_set);
    (void)cf_writer_number(w, "stage", "expire_us", (uint64_t)(s->expire * 1000 + 0.5));
    (void)cf_writer_number(w, "stage", "misses", o->fine.misses);
    (void)cf_writer_number(w, "stage", "set_misses", o->fine.set_misses);
    (void)cf_writer_number(w, "stage", "set_window", o->fine.set_window);
}

/* Ticks of a stream's clock in a second. One that counts no time is taken to count the cycles of
   the machine: an instruction takes one. */
static uint64_t ticks_per_second(struct sample *s, const struct cf_header *h)
{
    static const struct {
        const char *unit;
        uint64_t hz;
    } units[] = {{"nanoseconds", 1000000000}, {"microseconds", 1000000}, {"milliseconds", 1000}};

    if (h->clock_hz)
        return h->clock_hz;
    for (unsigned i = 0; h->clock_unit && i < sizeof(units) / sizeof(*units); i++)
        if (!strcmp(h->clock_unit, units[i].unit))
            return units[i].hz;
    if (s->machine->clock_hz)
        return s->machine->clock_hz;
    if (!s->hz_warned && s->o.fine.most && !s->tool.quiet)
        cf_warn(&s->tool, "%s states no clock_hz: --expire takes it to be 1 GHz", s->machine->name);
    s->hz_warned = 1;
    return 1000000000;
}

static void take_header(struct sample *s, const struct cf_header *h)
{
    const double expire = (double)ticks_per_second(s, h) * s->expire / 1000;
    uint64_t cores;

    cf_sampler_clock(s->sampler, expire < 1e19 ? (uint64_t)expire : UINT64_MAX,
                     h->clock_unit && !strcmp(h->clock_unit, "instructions"));
    cf_before_check(&s->tool, h, CF_HIT, &s->before);
    cf_made_check(&s->made, h, CF_LEVEL, NULL);
    state_facts(s);
    cf_made_outdate(h, s->writer);
    s->cores = cf_tool_cores(s->machine, 0);
    if (cf_header_number(h, "hit", "cores", &cores) > 0 && cores <= CF_MAX_CORES)
        s->cores = (unsigned)cores;
}

/* ---- rows ---- */

static int flush(struct sample *s)
{
    if (kept_flush(&s->kept) != 0)
        return -1;
    cf_must(&s->tool, cf_sampler_settle(s->sampler));
    return 0;
}

static int take_accesses(struct sample *s, struct cf_frame *f)
{
    const struct cf_sampler_rows rows = {f->rows,          cf_u64(f, CF_TIME), cf_u64(f, CF_ADDR),
                                         cf_u64(f, CF_PC), cf_u32(f, CF_PID),  cf_u32(f, CF_TID),
                                         cf_u8(f, CF_OP),  cf_u8(f, CF_HIT)};
    int bad = kept_fits(&s->kept, f) ? 0 : flush(s);

    s->rows += f->rows;
    for (uint32_t at = 0; at < f->rows && !bad;) {
        const struct cf_sampled *taken = cf_sampler_take(s->sampler, &rows, &at);

        if (!taken)
            cf_out_of_memory(&s->tool);
        if (taken->count + taken->moved && cf_frame_all(f) != 0)
            return flush(s); /* of a damaged frame nothing more is kept */
        bad = kept_rows(&s->kept, f, taken);
        if (!bad && cf_sampler_full(s->sampler))
            bad = flush(s);
    }
    return bad;
}

static void run(struct sample *s)
{
    struct cf_frame *f;
    int bad = 0;

    errno = 0;
    while (!bad && cf_tool_next(&s->tool, s->reader, &f) > 0) {
        cf_turns_check(&s->turns, &s->tool, f, s->cores);
        if (f->table == CF_ACCESS) {
            bad = take_accesses(s, f);
            continue;
        }
        if (f->table == CF_HEADER) {
            bad = flush(s);
            take_header(s, f->header);
        }
        bad = bad || cf_writer_frame(s->writer, f) != 0;
    }
    if (!bad)
        bad = flush(s);
    if (bad && errno == ENOMEM)
        cf_out_of_memory(&s->tool);
    if (!bad && s->rows && !s->kept.rows && !s->tool.quiet)
        cf_warn(&s->tool,
                "none of %" PRIu64 " accesses was sampled: give shorter periods, by --loads and "
                "--stores",
                s->rows);
    if (!bad && cf_sampler_waiting(s->sampler) && !s->tool.quiet)
        cf_warn(
            &s->tool,
            "instructions that still waited for the breakpoint at the end: %u; a short recording "
            "wants --expire as much shorter as its periods are",
            cf_sampler_waiting(s->sampler));
}

/* Nothing comes at the moment. Samples that wait for their instruction stay. A failure shows again
   when the writer is closed. */
static void idle(void *arg)
{
    struct sample *s = arg;

    if (s->o.skid || flush(s) == 0)
        (void)cf_writer_flush(s->writer);
}

int main(int argc, char **argv)
{
    static struct sample s;
    int status;

    cf_tool_init(&s.tool, argc, argv, "cf-sample", usage);
    parse(&s, argc, argv);
    load_machine(&s);
    s.reader = cf_tool_reader(&s.tool, argv + optind, argc - optind);
    s.writer = cf_tool_writer(&s.tool, s.output);
    (void)cf_tool_only(&s.tool, s.writer, (const unsigned[]){CF_LEVEL, CF_WEIGHT, CF_STAGE, 0});
    kept_begin(&s.kept, &s.tool, s.writer);
    s.sampler = cf_need(&s.tool, cf_sampler_new(&s.o));
    cf_made_by(&s.made, &s.tool, s.machine, 0);
    s.made.from = CF_HIT;
    cf_reader_want_each(s.reader, CF_ACCESS, CF_REQUIRED, CF_TIME, CF_OP, CF_ADDR, CF_PC, CF_HIT);
    cf_reader_want_each(s.reader, CF_ACCESS, CF_OPTIONAL, CF_PID, CF_TID, CF_CPU);
    cf_reader_refuse_samples(s.reader);
    cf_reader_pieces(s.reader);
    cf_reader_idle(s.reader, idle, &s);
    run(&s);
    status = cf_tool_finish(&s.tool, s.reader, s.writer);
    kept_end(&s.kept);
    cf_sampler_free(s.sampler);
    cf_machine_free(s.machine);
    return status;
}
