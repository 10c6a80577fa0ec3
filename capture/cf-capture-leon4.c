/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf-capture-leon4 - imports instruction and bus traces of LEON boards.
 *
 * In: the trace buffers as monitors show them (screen text, Tcl lists) or as they are (words of the
 * debug support unit); with --bus the transfers of a second file, taken in by time.
 * Out: the tables access (each instruction as a fetch; loads and stores whose address follows from
 * replaying the registers), unplaced (those whose address is not known) and bus (transfers).
 * A load has level 1 when it hit the data cache and 2 when the bus shows that it did not.
 * Memory: 4 MiB for decoded instructions, and what the writer keeps for each; see capture/leon4/.
 */
#include <stdlib.h>
#include <string.h>

#include "capture/leon4/import.h"

static const char usage[] =
    "Usage: cf-capture leon4 [options] [FILE...]\n"
    "Import instruction and bus traces of LEON boards: what monitors print (inst, ahb,\n"
    "hist), lists of their Tcl commands, or raw words of the trace memory.\n"
    "  -b, --bus FILE         read bus transfers from FILE and merge them by time\n"
    "  -r, --raw[=inst|bus]   FILE holds words of the trace memory\n"
    "      --bus-width N      width of the bus in raw entries: 32 or 128 bits [128]\n"
    "  -c, --cpu N            processor of entries that do not state it [0]\n"
    "  -m, --miss RULE        a load missed if a bus read comes after it, before it, or\n"
    "                         after it and in its line: after, before, line [after]\n"
    "      --master LIST|any  bus master of processor 0, 1, ... [0,1,2,...]\n"
    "  -w, --windows N        register windows [8]\n"
    "      --store WHAT       meaning of a store's only word: address, data, auto [auto]\n"
    "      --atomic WHAT      which word of an atomic was loaded: first, last, none [none]\n"
    "      --double WHAT      which half a double load's only word is, likewise [none]\n"
    "      --alone            nothing else writes: a load without result gets what was stored\n"
    "      --asi LIST         address spaces that are memory [8,9,10,11]\n"
    "      --inst-fields LIST, --bus-fields LIST   names of the elements of an entry\n"
    "      --hex, --time-bits N   numbers in lists are hex; time wraps at 2^N [30]\n"
    "      --clock HZ, --line-size N, --warm-up LOADS   [not stated, 32, 1000]\n"
    "  -o, --output FILE      write a packed file instead of standard output\n"
    "      --probe, -q, --quiet, -h, --help, --version\n"
    "Example: cf-capture leon4 -o run.cf hist.txt\n";

static const char inst_fields[] = "cpu,time,address,instruction,result,symbol,multi,trap,error";
static const char bus_fields[] = "time,address,data,type,trans,size,master,lock,resp,bp";

struct setup {
    struct cf_tool tool;
    struct cf_scan_options scan;
    const char *output, *bus;
    struct cf_leon4 *m;
};

static void fields(const struct cf_tool *t, const char *option, const char *text,
                   struct cf_scan_layout *l)
{
    const char *name;
    int holds_address = 0;

    if (cf_scan_fields(text, l, &name) != 0)
        cf_die(t, CF_EXIT_USAGE, "%s: '%.*s' is no field, or too many are given: see the manual",
               option, (int)strcspn(name, ","), name);
    for (unsigned i = 0; i < l->fields; i++)
        holds_address |= l->field[i] == CF_FIELD_ADDRESS;
    if (!holds_address)
        cf_die(t, CF_EXIT_USAGE, "%s: the field 'address' is missing", option);
}

static void parse(struct setup *s, int argc, char **argv)
{
    enum {
        PROBE = 256,
        ALONE,
        DOUBLE,
        WIDTH,
        MASTER,
        STORE,
        ATOMIC,
        ASI,
        INST,
        BUS,
        HEX,
        BITS,
        CLOCK,
        LINE,
        WARM
    };
    static const struct option options[] = {{"bus", required_argument, NULL, 'b'},
                                            {"raw", optional_argument, NULL, 'r'},
                                            {"bus-width", required_argument, NULL, WIDTH},
                                            {"cpu", required_argument, NULL, 'c'},
                                            {"miss", required_argument, NULL, 'm'},
                                            {"master", required_argument, NULL, MASTER},
                                            {"windows", required_argument, NULL, 'w'},
                                            {"store", required_argument, NULL, STORE},
                                            {"atomic", required_argument, NULL, ATOMIC},
                                            {"double", required_argument, NULL, DOUBLE},
                                            {"alone", no_argument, NULL, ALONE},
                                            {"asi", required_argument, NULL, ASI},
                                            {"inst-fields", required_argument, NULL, INST},
                                            {"bus-fields", required_argument, NULL, BUS},
                                            {"hex", no_argument, NULL, HEX},
                                            {"time-bits", required_argument, NULL, BITS},
                                            {"clock", required_argument, NULL, CLOCK},
                                            {"line-size", required_argument, NULL, LINE},
                                            {"warm-up", required_argument, NULL, WARM},
                                            {"output", required_argument, NULL, 'o'},
                                            {"probe", no_argument, NULL, PROBE},
                                            CF_COMMON_OPTIONS};
    struct cf_leon4_options *o = &s->m->o;
    struct cf_tool *t = &s->tool;
    uint64_t list[256];
    unsigned n;
    int c;

    fields(t, "--inst-fields", inst_fields, &s->scan.inst);
    fields(t, "--bus-fields", bus_fields, &s->scan.bus);
    s->scan.wide = 1;
    o->registers.windows = 8;
    o->line_size = 32;
    o->time_bits = 30;
    o->warm_up = 1000;
    o->registers.memory_asi[1] = 0x0f;
    for (unsigned i = 0; i < CF_SCAN_CPUS; i++)
        o->master[i] = (uint8_t)i;
    while ((c = getopt_long(argc, argv, "b:r::c:m:w:o:" CF_COMMON_LETTERS, options, NULL)) != -1) {
        switch (c) {
        case 'b':
            s->bus = optarg;
            break;
        case 'r':
            s->scan.raw = 1 + cf_parse_word(t, "--raw", optarg ? optarg : "inst", "inst bus");
            break;
        case WIDTH:
            s->scan.wide = cf_parse_word(t, "--bus-width", optarg, "32 128");
            break;
        case 'c':
            s->scan.cpu = (unsigned)cf_parse_u64(t, "--cpu", optarg, 0, CF_SCAN_CPUS - 1);
            break;
        case 'm':
            o->miss = cf_parse_word(t, "--miss", optarg, "after before line");
            break;
        case MASTER:
            o->any_master = strcmp(optarg, "any") == 0;
            memset(o->master, 255, sizeof o->master);
            n = o->any_master ? 0 : cf_parse_list(t, "--master", optarg, 0, 15, CF_SCAN_CPUS, list);
            for (unsigned i = 0; i < n; i++)
                o->master[i] = (uint8_t)list[i];
            break;
        case 'w':
            o->registers.windows =
                (unsigned)cf_parse_u64(t, "--windows", optarg, 2, CF_REGISTERS_MOST_WINDOWS);
            break;
        case STORE:
            o->registers.store = cf_parse_word(t, "--store", optarg, "auto address data");
            break;
        case ATOMIC:
            o->registers.atomic = cf_parse_word(t, "--atomic", optarg, "none first last");
            break;
        case DOUBLE:
            o->registers.pair = cf_parse_word(t, "--double", optarg, "none first last");
            break;
        case ALONE:
            o->registers.alone = 1;
            break;
        case ASI:
            n = cf_parse_list(t, "--asi", optarg, 0, 255, 256, list);
            memset(o->registers.memory_asi, 0, sizeof o->registers.memory_asi);
            for (unsigned i = 0; i < n; i++)
                o->registers.memory_asi[list[i] / 8] |= (uint8_t)(1 << list[i] % 8);
            break;
        case INST:
            fields(t, "--inst-fields", optarg, &s->scan.inst);
            s->scan.given_inst = 1;
            break;
        case BUS:
            fields(t, "--bus-fields", optarg, &s->scan.bus);
            s->scan.given_bus = 1;
            break;
        case HEX:
            s->scan.hex = 1;
            break;
        case BITS:
            o->time_bits = (unsigned)cf_parse_u64(t, "--time-bits", optarg, 0, 63);
            break;
        case CLOCK:
            o->clock_hz = cf_parse_u64(t, "--clock", optarg, 1, UINT64_MAX);
            break;
        case LINE:
            o->line_size = (uint32_t)cf_parse_power(t, "--line-size", optarg, 4, 4096);
            break;
        case WARM:
            o->warm_up = cf_parse_u64(t, "--warm-up", optarg, 0, UINT64_MAX);
            break;
        case 'o':
            s->output = optarg;
            break;
        case PROBE:
            puts("ready: reads text, needs nothing of this machine");
            exit(cf_tool_finish(t, NULL, NULL));
        default:
            cf_common_option(t, c);
        }
    }
}

static void idle(void *arg)
{
    cf_leon4_flush(arg);
}

/* Time of an entry; one that lies before the last is bad, and gets the last one's. */
static uint64_t time_of(struct cf_leon4 *m, struct cf_leon4_clock *c, struct cf_scan *s,
                        const struct cf_scan_row *row)
{
    int backward;
    const uint64_t time = cf_leon4_time(c, row->tag, m->o.time_bits, &backward);

    if (backward)
        cf_lines_bad(&s->lines, 0,
                     "time %llu lies before that of the entry before it, whose time it gets: is "
                     "the trace sorted, and the dump of one buffer?",
                     (unsigned long long)row->tag);
    return time;
}

static void import(struct cf_leon4 *m, struct cf_scan *trace, struct cf_scan *bus)
{
    struct cf_scan_row row, next = {0};
    uint64_t bus_time = 0;
    int bus_left = 0, bus_begun = 0;

    while (!m->failed && cf_scan_next(trace, &row)) {
        uint64_t time;

        if (bus && !bus_begun) {
            bus_begun = 1;
            bus_left = cf_scan_next(bus, &next);
            if (bus_left) {
                cf_leon4_start(m, row.tag, next.tag);
                bus_time = time_of(m, &m->bus_clock, bus, &next);
            }
        }
        time = time_of(m, &m->clock, trace, &row);
        /* at the same time the instruction comes first: the transfer may be what it asked for */
        while (bus_left && bus_time < time) {
            if (next.bus)
                cf_leon4_row(m, bus, &next, bus_time);
            bus_left = cf_scan_next(bus, &next);
            if (bus_left)
                bus_time = time_of(m, &m->bus_clock, bus, &next);
        }
        cf_leon4_row(m, trace, &row, time);
    }
    while (!m->failed && bus && (bus_left || !bus_begun)) {
        if (bus_begun && next.bus)
            cf_leon4_row(m, bus, &next, bus_time);
        bus_begun = 1;
        bus_left = cf_scan_next(bus, &next);
        if (bus_left)
            bus_time = time_of(m, &m->bus_clock, bus, &next);
    }
    m->counts.wraps = m->clock.wraps > m->bus_clock.wraps ? m->clock.wraps : m->bus_clock.wraps;
    cf_leon4_end(m);
}

int main(int argc, char **argv)
{
    static struct cf_leon4 m;
    static struct setup s = {.m = &m};
    static struct cf_scan trace, bus;
    struct cf_scan_options bus_options;
    int status, bad;

    cf_tool_init(&s.tool, argc, argv, "cf-capture-leon4", usage);
    parse(&s, argc, argv);
    m.tool = &s.tool;
    cf_scan_open(&trace, &s.tool, &s.scan, argv + optind, argc - optind);
    bus_options = s.scan;
    if (bus_options.raw)
        bus_options.raw = 2;
    if (s.bus)
        cf_scan_open(&bus, &s.tool, &bus_options, (char *const *)&s.bus, 1);
    m.out = cf_tool_recording(&s.tool, s.output);
    cf_lines_idle(&trace.lines, idle, &m);
    cf_leon4_begin(&m, NULL);
    import(&m, &trace, s.bus ? &bus : NULL);
    if (!s.tool.quiet && trace.entries)
        cf_leon4_report(&m);
    bad = cf_scan_close(&trace);
    if (s.bus)
        bad |= cf_scan_close(&bus);
    if (m.counts.instructions == 0 && m.counts.transfers == 0) {
        cf_warn(&s.tool, "no records: the input holds no entry of an instruction or bus trace");
        cf_writer_cut(m.out);
        bad |= CF_EXIT_INPUT; /* or worse */
    }
    status = cf_tool_finish(&s.tool, NULL, m.out);
    cf_leon4_free(&m);
    cf_lines_raise();
    return status | bad; /* 0, 1 or 3 */
}
