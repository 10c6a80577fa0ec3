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
#include <string.h>

#include "capture/leon4/import.h"
#include "formats/program/cf_options.h"

static const char usage[] =
    "Usage: cf-capture leon4 [options] [FILE...]\n"
    "Import instruction and bus traces of LEON boards: what monitors print (inst, ahb,\n"
    "hist), lists of their Tcl commands, or raw words of the trace memory.\n"
    "  -b, --bus FILE         read bus transfers from FILE and merge them by time\n"
    "  -r, --raw[=inst|bus]   FILE holds words of the trace memory\n"
    "      --bus-width N      width of the bus in raw entries: 32 or 128 bits [128]\n"
    "  -c, --cpu N            processor of entries that do not state it [0]\n"
    "  -m, --miss RULE        a load missed if a bus read comes after it, before it, or\n"
    "                         after it and in its line: after, before, line; or if any\n"
    "                         transfer does after it, as in the tool's paper: any [after]\n"
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

static char inst_fields[] = "cpu,time,address,instruction,result,symbol,multi,trap,error";
static char bus_fields[] = "time,address,data,type,trans,size,master,lock,resp,bp";

struct setup {
    struct cf_tool tool;
    struct cf_scan_options scan;
    const char *output, *bus;
    struct cf_import *m;
};

/* --inst-fields and --bus-fields */
static void fields(const struct cf_tool *t, void *layout, const char *option, char *text)
{
    struct cf_scan_layout *l = layout;
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

static void raw(const struct cf_tool *t, void *scan, const char *option, char *text)
{
    ((struct cf_scan_options *)scan)->raw =
        1 + cf_parse_word(t, option, text ? text : "inst", "inst bus");
}

static void masters(const struct cf_tool *t, void *options, const char *option, char *text)
{
    struct cf_import_options *o = options;
    uint64_t list[CF_SCAN_CPUS];
    unsigned n;

    o->any_master = strcmp(text, "any") == 0;
    memset(o->master, 255, sizeof o->master);
    n = o->any_master ? 0 : cf_parse_list(t, option, text, 0, 15, CF_SCAN_CPUS, list);
    for (unsigned i = 0; i < n; i++)
        o->master[i] = (uint8_t)list[i];
}

static void address_spaces(const struct cf_tool *t, void *options, const char *option, char *text)
{
    struct cf_registers_options *o = options;
    uint64_t list[256];
    const unsigned n = cf_parse_list(t, option, text, 0, 255, 256, list);

    memset(o->memory_asi, 0, sizeof o->memory_asi);
    for (unsigned i = 0; i < n; i++)
        o->memory_asi[list[i] / 8] |= (uint8_t)(1 << list[i] % 8);
}

static void parse(struct setup *s, int argc, char **argv)
{
    struct cf_import_options *o = &s->m->o;
    struct cf_registers_options *r = &o->registers;
    uint64_t line_size = 32;
    const struct cf_option table[] = {
        {"bus", 'b', CF_TEXT(&s->bus), .reads = CF_READS_FILE},
        {"raw", 'r', CF_CALL(raw, &s->scan), .may_lack = 1},
        {"bus-width", 0, CF_WORD(&s->scan.wide, "32 128", 0)},
        {"cpu", 'c', CF_NUMBER(&s->scan.cpu, 0, CF_SCAN_CPUS - 1)},
        {"miss", 'm', CF_WORD(&o->miss, "after before line any", 0)},
        {"master", 0, CF_CALL(masters, o)},
        {"windows", 'w', CF_NUMBER(&r->windows, 2, CF_REGISTERS_MOST_WINDOWS)},
        {"store", 0, CF_WORD(&r->store, "auto address data", 0)},
        {"atomic", 0, CF_WORD(&r->atomic, "none first last", 0)},
        {"double", 0, CF_WORD(&r->pair, "none first last", 0)},
        {"alone", 0, CF_FLAG(&r->alone)},
        {"asi", 0, CF_CALL(address_spaces, r)},
        {"inst-fields", 0, CF_CALL(fields, &s->scan.inst), .given = &s->scan.given_inst},
        {"bus-fields", 0, CF_CALL(fields, &s->scan.bus), .given = &s->scan.given_bus},
        {"hex", 0, CF_FLAG(&s->scan.hex)},
        {"time-bits", 0, CF_NUMBER(&o->time_bits, 0, 63)},
        {"clock", 0, CF_NUMBER(&o->clock_hz, 1, UINT64_MAX)},
        {"line-size", 0, CF_POWER(&line_size, 4, 4096)},
        {"warm-up", 0, CF_NUMBER(&o->warm_up, 0, UINT64_MAX)},
        {"output", 'o', CF_FILE(&s->output)},
        {"probe", 0, CF_READY("ready: reads text, needs nothing of this machine")},
        CF_END_OPTIONS,
    };

    fields(&s->tool, &s->scan.inst, "--inst-fields", inst_fields);
    fields(&s->tool, &s->scan.bus, "--bus-fields", bus_fields);
    s->scan.wide = 1;
    r->windows = 8;
    r->memory_asi[1] = 0x0f;
    o->time_bits = 30;
    o->warm_up = 1000;
    for (unsigned i = 0; i < CF_SCAN_CPUS; i++)
        o->master[i] = (uint8_t)i;
    cf_options_read(&s->tool, argc, argv, table);
    o->line_size = (uint32_t)line_size;
}

static void idle(void *arg)
{
    cf_import_flush(arg);
}

/* Warns, once, of a time between two that are near to each other: by it a whole period passes. */
static void check_step(const struct cf_import *m, struct cf_import_clock *c,
                       const struct cf_scan *s, uint64_t step)
{
    const uint64_t period = UINT64_C(1) << m->o.time_bits, near = period >> 6;

    if (m->o.time_bits && !c->astray && step >= near && c->step >= near &&
        step + c->step >= period && step + c->step - period < near) {
        c->astray = 1;
        cf_warn(m->tool,
                "%s:%llu: the time of the entry before this one may be damaged: it is far from "
                "those before and behind it, which are near to each other; all from here on are "
                "taken to be a period of the time tag later",
                s->lines.name, (unsigned long long)s->lines.number);
    }
    c->step = step;
}

/* Time of an entry. One that lies before the last is bad, and gets the last one's; one that does
   not fit into the tag is bad, too. The trace memory is a ring: behind its newest entry a dump has
   the oldest one, which lies before it, or after a pause of more than half a period. */
static uint64_t time_of(struct cf_import *m, struct cf_import_clock *c, struct cf_scan *s,
                        const struct cf_scan_row *row)
{
    const unsigned bits = m->o.time_bits;
    const uint64_t before = c->now;
    const int begun = c->started;
    const int ring = s->o.raw && c->input == s->lines.input;
    int backward;
    const uint64_t time = cf_import_time(c, row->tag, bits, &backward);

    check_step(m, c, s, begun ? time - before : 0);
    c->input = s->lines.input;
    if (bits && row->tag >> bits)
        cf_lines_bad(&s->lines, 0,
                     "time %llu has more than %u bits: does it never begin anew (--time-bits 0)?",
                     (unsigned long long)row->tag, bits);
    else if (ring && (backward || (bits && (time - before) >> (bits - 1))))
        cf_lines_bad(&s->lines, 0,
                     "time %llu lies before that of the entry before it or half a period after it: "
                     "is the dump of one buffer? If that was full, its oldest entry stands here: "
                     "put the entries from here on before the others",
                     (unsigned long long)row->tag);
    else if (backward)
        cf_lines_bad(&s->lines, 0,
                     "time %llu lies before that of the entry before it, whose time it gets: is "
                     "the trace sorted, and the dump of one buffer?",
                     (unsigned long long)row->tag);
    return time;
}

static void import(struct cf_import *m, struct cf_scan *trace, struct cf_scan *bus)
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
                cf_import_start(m, row.tag, next.tag);
                bus_time = time_of(m, &m->bus_clock, bus, &next);
            }
        }
        time = time_of(m, &m->clock, trace, &row);
        /* at the same time the instruction comes first: the transfer may be what it asked for */
        while (bus_left && bus_time < time) {
            if (next.bus)
                cf_import_row(m, bus, &next, bus_time);
            bus_left = cf_scan_next(bus, &next);
            if (bus_left)
                bus_time = time_of(m, &m->bus_clock, bus, &next);
        }
        cf_import_row(m, trace, &row, time);
    }
    while (!m->failed && bus && (bus_left || !bus_begun)) {
        if (bus_begun && next.bus)
            cf_import_row(m, bus, &next, bus_time);
        bus_begun = 1;
        bus_left = cf_scan_next(bus, &next);
        if (bus_left)
            bus_time = time_of(m, &m->bus_clock, bus, &next);
    }
    m->counts.wraps = m->clock.wraps > m->bus_clock.wraps ? m->clock.wraps : m->bus_clock.wraps;
    cf_import_end(m);
}

int main(int argc, char **argv)
{
    static struct cf_import m;
    static struct setup s = {.m = &m};
    static struct cf_scan trace, bus;
    struct cf_scan_options bus_options;
    int bad;

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
    cf_import_begin(&m, NULL);
    import(&m, &trace, s.bus ? &bus : NULL);
    if (!s.tool.quiet && trace.entries)
        cf_import_report(&m);
    if (!s.tool.quiet && s.scan.raw && m.counts.wraps)
        cf_warn(&s.tool, "where it began anew, the oldest entry of a full buffer may stand: see "
                         "'Raw words' in the manual");
    bad = cf_scan_close(&trace);
    if (s.bus)
        bad |= cf_scan_close(&bus);
    cf_import_free(&m);
    return cf_lines_close(&s.tool, m.out, bad,
                          m.counts.instructions || m.counts.transfers
                              ? NULL
                              : "the input holds no entry of an instruction or bus trace");
}
