/* SPDX-License-Identifier: BSD-2-Clause */
/* read.c - the rows of table probe, sorted into series, and whose they are. */
#include <stdlib.h>
#include <string.h>

#include "filters/parts/infer/infer.h"
#include "formats/base/cf_memory.h"

const struct experiment_kind experiment_kinds[X_KNOWN] = {
    [X_SIZE] = {"size", "bytes visited", GEOMETRY, CF_OF_SIZE, {.window = 1}},
    [X_CAPACITY] = {"capacity", "bytes visited", GEOMETRY, CF_OF_SIZE, {.window = 1}},
    [X_ASSOCIATIVITY] = {"associativity", "lines of one set", GEOMETRY, CF_OF_WAYS, {0}},
    [X_LINE] = {"line", "bytes left out at the beginning", GEOMETRY, CF_OF_LINE, {.falls = 1}},
    [X_BLOCK] = {"block", "offset of the second half, bytes", GEOMETRY, CF_OF_LINE, {.falls = 1}},
    [X_WAY_SIZE] =
        {"way-size", "bytes left out at the end", GEOMETRY, CF_OF_WAY_SIZE, {.falls = 1}},
    [X_APART] = {"apart", "bytes between lines", GEOMETRY, CF_OF_WAY_SIZE, {.first = 1}},
    [X_PAIR] = {"pair", "bytes between two accesses", GEOMETRY, CF_OF_LINE, {.first = 1}},
    [X_PAGES] = {"pages", "bytes of the pages of a line each", GEOMETRY, CF_OF_SIZE, {0}},
    [X_LATENCY] = {"latency", "bytes visited", NO_CHANGE, CF_OF_SIZE, {0}},
    [X_TLB] = {"tlb", "pages visited", REACH, CF_OF_SIZE, {0}},
    [X_INCLUSION] = {"inclusion", "question", NO_CHANGE, CF_OF_SIZE, {0}},
    [X_WAYS] = {"ways", "parts of the size", NO_CHANGE, CF_OF_WAYS, {0}},
    [X_LEVELS] = {"levels", "bytes visited", NO_CHANGE, CF_OF_SIZE, {0}},
    [X_WINDOW] = {"window", "bytes visited", NO_CHANGE, CF_OF_SIZE, {0}},
    [X_INDEX] = {"index", "lines a way apart", NO_CHANGE, CF_OF_WAYS, {0}},
    [X_SHARE] = {"share", "the other CPU", NO_CHANGE, CF_OF_SIZE, {0}},
    [X_REFERENCE] = {"reference", "", NO_CHANGE, CF_OF_SIZE, {0}},
    [X_POLICY] = {"policy", "1000 times the set, and the sequence", NO_CHANGE, CF_OF_SIZE, {0}},
};

static char *copy(const struct cf_tool *t, const char *text)
{
    return text ? cf_need(t, strdup(text)) : NULL;
}

/* Measurements of two machines, or by two clocks, make no series together. */
static void must_be(const struct infer *f, const char *what, const char *first, const char *now)
{
    if ((first || now) && strcmp(first ? first : "", now ? now : "") != 0)
        cf_die(&f->tool, CF_EXIT_INPUT,
               "the inputs are of two machines, with %s '%s' and '%s': infer each by itself", what,
               first ? first : "", now ? now : "");
}

static void must_be_number(const struct infer *f, const char *what, uint64_t first, uint64_t now)
{
    if (first != now)
        cf_die(&f->tool, CF_EXIT_INPUT,
               "the inputs do not belong together, with %s of %llu and %llu: infer each by itself",
               what, (unsigned long long)first, (unsigned long long)now);
}

static void take_header(struct infer *f, const struct cf_header *h)
{
    const struct cf_tool *t = &f->tool;
    uint64_t page = 0;

    if (cf_header_number(h, "parameter", "page_size", &page) <= 0)
        page = 0;
    if (f->header_seen) {
        must_be(f, "name", f->machine, h->machine);
        must_be(f, "host", f->host, h->recorded[CF_RECORDED_HOST]);
        must_be(f, "CPU", f->cpu, h->recorded[CF_RECORDED_CPU]);
        must_be(f, "clock", f->unit, h->clock_unit);
        must_be_number(f, "a clock", f->hz, h->clock_hz);
        must_be_number(f, "pages", f->page_size, page);
        return;
    }
    f->header_seen = 1;
    f->machine = copy(t, h->machine);
    f->host = copy(t, h->recorded[CF_RECORDED_HOST]);
    f->cpu = copy(t, h->recorded[CF_RECORDED_CPU]);
    f->date = copy(t, h->recorded[CF_RECORDED_DATE]);
    f->unit = copy(t, h->clock_unit);
    f->hz = h->clock_hz;
    f->page_size = page;
    if (cf_header_number(h, "experiment", "frame_bytes", &f->frame_size) <= 0)
        f->frame_size = 0;
}

/* The experiment of a name, which may have the ending of those of instructions. */
static enum experiment find_kind(const char *name, int *code)
{
    static const char ending[] = ".code";
    const size_t whole = strlen(name);
    size_t length = whole;
    enum experiment is = 0;

    *code = whole >= sizeof ending && !strcmp(name + whole + 1 - sizeof ending, ending);
    if (*code)
        length -= sizeof ending - 1;
    while (is < X_KNOWN && (strlen(experiment_kinds[is].name) != length ||
                            memcmp(experiment_kinds[is].name, name, length) != 0))
        is++;
    return is;
}

/* An experiment that is not known: counted, for a message. */
static void leave_out(struct infer *f, uint32_t string)
{
    unsigned i = 0;

    while (i < f->unknowns && f->unknown[i].string != string)
        i++;
    if (i == UNKNOWN_MOST)
        i--;
    else if (i == f->unknowns)
        f->unknown[f->unknowns++].string = string;
    f->unknown[i].rows++;
}

/* Number of the series, or -1. */
static int find_series(struct infer *f, uint32_t string, uint8_t level)
{
    struct series s = {.level = level, .string = string};

    for (unsigned i = f->count; i-- > 0;)
        if (f->series[i].string == string && f->series[i].level == level)
            return (int)i;
    s.is = find_kind(cf_reader_text(f->reader, string), &s.code);
    if (s.is == X_KNOWN)
        return -1;
    if (f->count == SERIES_MOST)
        cf_die(&f->tool, CF_EXIT_INPUT, "more than %d experiments and levels: this is no probe",
               SERIES_MOST);
    f->series[f->count] = s;
    return (int)f->count++;
}

static void take_frame(struct infer *f, const struct cf_frame *frame)
{
    const uint32_t *experiment = cf_u32(frame, CF_EXPERIMENT);
    const uint64_t *parameter = cf_u64(frame, CF_PARAMETER), *misses = cf_u64(frame, CF_MISSES);
    const uint64_t *accesses = cf_u64(frame, CF_ACCESSES), *time = cf_u64(frame, CF_TIME);
    const uint8_t *level = cf_u8(frame, CF_LEVEL), *method = cf_u8(frame, CF_METHOD);
    const uint8_t *spoilt = cf_u8(frame, CF_SPOILT);
    const uint32_t *repeat = cf_u32(frame, CF_REPEAT);
    int series = -1;

    cf_must(&f->tool, cf_array_room(&f->row, &f->room, f->rows + frame->rows, sizeof *f->row));
    for (uint32_t i = 0; i < frame->rows; i++) {
        const uint8_t at = level ? level[i] : 1;
        struct cf_measurement *m = &f->row[f->rows];

        if (series < 0 || f->series[series].string != experiment[i] ||
            f->series[series].level != at)
            series = find_series(f, experiment[i], at);
        if (series < 0)
            leave_out(f, experiment[i]);
        if (series < 0 || f->series[series].is == X_REFERENCE)
            continue;
        *m = (struct cf_measurement){.parameter = parameter[i],
                                     .accesses = accesses ? accesses[i] : 1,
                                     .misses = misses ? misses[i] : 0,
                                     .time = time ? time[i] : 0,
                                     .series = (uint32_t)series,
                                     .order = (uint32_t)f->rows,
                                     .repeat = repeat ? repeat[i] : 0,
                                     .spoilt = spoilt ? spoilt[i] : 0};
        m->counted = misses && !(method && method[i] == CF_METHOD_CLOCK) &&
                     f->series[series].is != X_LATENCY;
        if (!m->accesses || (!m->counted && !time))
            m->spoilt = 1; /* nothing was measured */
        f->spoilt += m->spoilt != 0;
        f->rows++;
    }
}

void read_rows(struct infer *f)
{
    struct cf_reader *r = f->reader;
    struct cf_frame *frame;

    cf_reader_unify(r);
    cf_reader_want_each(r, CF_PROBE, CF_REQUIRED, CF_EXPERIMENT, CF_PARAMETER);
    cf_reader_want_each(r, CF_PROBE, CF_OPTIONAL, CF_LEVEL, CF_ACCESSES, CF_MISSES, CF_TIME,
                        CF_METHOD, CF_SPOILT, CF_REPEAT);
    while (cf_tool_next(&f->tool, r, &frame) > 0) {
        if (frame->table == CF_HEADER)
            take_header(f, frame->header);
        else if (frame->table == CF_PROBE)
            take_frame(f, frame);
    }
    cf_tool_fit(&f->tool, r);
    for (unsigned i = 0; i < f->unknowns; i++)
        cf_warn(&f->tool, "experiment '%s'%s is not known: %llu measurements are left out",
                cf_reader_text(r, f->unknown[i].string),
                i == UNKNOWN_MOST - 1 ? ", or another one," : "",
                (unsigned long long)f->unknown[i].rows);
}
