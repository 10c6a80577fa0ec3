/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * records.c - the records of a perf.data file: those of the kernel (linux/perf_event.h), and from
 * 64 on those that perf itself adds (tools/lib/perf/include/perf/event.h says which).
 */
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"

enum {
    KERNEL_KNOWN = 21, /* PERF_RECORD_AUX_OUTPUT_HW_ID */
    USER_FIRST = 64,
    HEADER_ATTR = 64,
    HEADER_TRACING_DATA = 66,
    HEADER_BUILD_ID = 67,
    FINISHED_ROUND = 68,
    AUXTRACE_INFO = 70,
    AUXTRACE = 71,
    EVENT_UPDATE = 78,
    TIME_CONV = 79,
    HEADER_FEATURE = 80,
    COMPRESSED = 81,
    FINISHED_INIT = 82,
    COMPRESSED2 = 83,
    UPDATE_NAME = 2,
    SAMPLE_BITS_KNOWN = (1 << 25) - 1,
    CHUNK = 1 << 16,
};

static int shape_of_ids(struct perf_file *f)
{
    const uint64_t before = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR;

    f->alike = 1;
    for (size_t i = 0; i < f->events.count; i++) {
        const struct perf_event_of *v = &f->events.event[i];
        const uint64_t type = v->sample_type;
        unsigned at = 0, back = 0;

        if (type & PERF_SAMPLE_IDENTIFIER) {
            back = 1;
        } else if (type & PERF_SAMPLE_ID) {
            at = (unsigned)__builtin_popcountll(type & before);
            back = 1 + !!(type & PERF_SAMPLE_CPU) + !!(type & PERF_SAMPLE_STREAM_ID);
        }
        if (i == 0) {
            f->id_at = at;
            f->id_back = back;
        } else if (f->id_at != at || f->id_back != back) {
            return -1;
        }
        f->alike &= type == f->events.event->sample_type &&
                    v->sample_id_all == f->events.event->sample_id_all;
        if (i && !back && v->op != f->events.event->op)
            f->events.event->op = 0; /* whose a sample is cannot be known */
    }
    return f->id_back || f->alike ? 0 : -1;
}

/* What the events have, and so the stream. */
static void shape(struct perf_file *f)
{
    static const struct {
        uint64_t bit;
        unsigned has;
    } columns[] = {
        {PERF_SAMPLE_IP, CF_SAMPLES_PC},
        {PERF_SAMPLE_TID, CF_SAMPLES_TASK},
        {PERF_SAMPLE_CPU, CF_SAMPLES_CPU},
        {PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT, CF_SAMPLES_COST},
        {PERF_SAMPLE_DATA_SRC, CF_SAMPLES_DATA_SRC},
        {PERF_SAMPLE_PHYS_ADDR, CF_SAMPLES_PHYS},
    };

    for (size_t i = 0; i < f->events.count; i++) {
        const struct perf_event_of *v = &f->events.event[i];
        const uint64_t strange = v->sample_type & ~(uint64_t)SAMPLE_BITS_KNOWN;

        for (size_t k = 0; k < sizeof columns / sizeof *columns; k++)
            if (v->sample_type & columns[k].bit)
                f->samples.has |= columns[k].has;
        f->timed |= !!(v->sample_type & PERF_SAMPLE_TIME);
        if (strange)
            cf_warn(f->tool,
                    "%s: samples of event %zu have fields that are not known (bits 0x%" PRIx64
                    " of sample_type): what stands behind the known ones is passed over",
                    f->in.name, i + 1, strange);
        if (!v->period && !(v->sample_type & PERF_SAMPLE_PERIOD))
            cf_warn(
                f->tool,
                "%s: event %zu states a frequency, and its samples no period: their weight is 1",
                f->in.name, i + 1);
    }
    for (size_t i = 0; f->timed && i < f->events.count; i++)
        if (!(f->events.event[i].sample_type & PERF_SAMPLE_TIME))
            cf_warn(f->tool,
                    "%s: samples of event %zu have no times: they get that of the record before",
                    f->in.name, i + 1);
    if (!f->timed && f->events.ids > f->events.count)
        cf_warn(
            f->tool,
            "%s: no event has times, and what several CPUs or threads recorded stands one after "
            "the other: the order of accesses is not known, nor which mappings they found",
            f->in.name);
    f->samples.timed = f->timed;
}

void perf_file_begin(struct perf_file *f)
{
    struct perf_events *e = &f->events;
    struct cf_header h = {.clock_unit = (char *)(f->timed ? "nanoseconds" : "records"),
                          .source = (char *)"cf-capture-perf-data",
                          .command = e->command};
    char *kernel = NULL, *tool = NULL;

    if (f->begun)
        return;
    f->begun = 1;
    if (f->timed)
        h.clock_hz = 1000000000;
    if (e->kernel)
        kernel = cf_tool_text(f->tool, "Linux %s%s%s", e->kernel, e->arch ? " " : "",
                              e->arch ? e->arch : "");
    if (e->version)
        tool = cf_tool_text(f->tool, "perf %s", e->version);
    h.recorded[CF_RECORDED_HOST] = e->host;
    h.recorded[CF_RECORDED_KERNEL] = kernel;
    h.recorded[CF_RECORDED_CPU] = e->cpu;
    h.recorded[CF_RECORDED_TOOL] = tool;
    (void)cf_writer_header(f->out, &h); /* a failure shows when the writer is closed */
}

int perf_file_ready(struct perf_file *f, uint64_t at)
{
    if (f->begun)
        return 0;
    shape(f);
    perf_file_begin(f);
    if (f->events.count && shape_of_ids(f) == 0)
        return 0;
    perf_file_bad(f, at,
                  f->events.count
                      ? "its events put their ids at different places: whose a record is cannot be "
                        "known"
                      : "a record before the events");
    f->in.ended = 1;
    f->in.start = f->in.end;
    return -1;
}

/* An event of the form for pipes: its attributes, and after them its ids. */
static int new_event(struct perf_file *f, const uint8_t *record, size_t bytes)
{
    size_t size;
    int n;

    if (bytes < 8 + 64)
        return -1;
    size = perf_u32(&f->events, record + 12);
    if (size == 0)
        size = PERF_ATTR_SIZE_VER0;
    if (size > bytes - 8)
        return -1;
    n = perf_events_add(&f->events, record + 8, size);
    if (n < 0)
        return -1;
    for (size_t at = 8 + size; at + 8 <= bytes; at += 8)
        perf_events_id(&f->events, perf_u64(&f->events, record + at), (uint32_t)n);
    return f->begun && (shape(f), shape_of_ids(f)) != 0 ? -1 : 0;
}

static int update_event(struct perf_file *f, const uint8_t *record, size_t bytes)
{
    struct perf_event_of *v;

    if (bytes < 24)
        return -1;
    v = perf_events_find(&f->events, perf_u64(&f->events, record + 16));
    if (v && perf_u64(&f->events, record + 8) == UPDATE_NAME)
        perf_events_name(&f->events, v, (const char *)record + 24, bytes - 24);
    return 0;
}

static int skip_after(struct perf_file *f, uint64_t n, uint64_t at)
{
    if (f->plain.used) /* what is decompressed has records of the kernel alone */
        return -1;
    if (f->data_end && n > f->data_end - f->in.at)
        return -1;
    if (perf_input_skip(&f->in, n) != 0)
        perf_file_bad(f, at, "the file was cut off in the data of this record");
    return 0;
}

/* A compressed record's payload, which holds records: -1 where it cannot be decompressed. */
static int unpack(struct perf_file *f, const uint8_t *payload, size_t bytes, uint64_t at);

/* A record that perf has added: -1 where it is damaged. */
static int user_record(struct perf_file *f, unsigned type, const uint8_t *record, size_t bytes,
                       uint64_t at)
{
    const struct perf_events *e = &f->events;

    switch (type) {
    case HEADER_ATTR:
        return f->pipe ? new_event(f, record, bytes) : 0;
    case HEADER_TRACING_DATA:
        return bytes < 12 ? -1 : skip_after(f, perf_u32(e, record + 8), at);
    case HEADER_BUILD_ID:
        return perf_events_feature(&f->events, PERF_FEATURE_BUILD_ID, record, bytes);
    case FINISHED_ROUND:
        perf_order_round(&f->order);
        return 0;
    case AUXTRACE_INFO:
        return perf_aux_info(f, record, bytes);
    case AUXTRACE:
        return perf_aux_trace(f, record, bytes, at);
    case TIME_CONV:
        return perf_aux_time(f, record, bytes);
    case EVENT_UPDATE:
        return update_event(f, record, bytes);
    case HEADER_FEATURE:
        return bytes < 16 ? -1
                          : perf_events_feature(&f->events, (unsigned)perf_u64(e, record + 8),
                                                record + 16, bytes - 16);
    case COMPRESSED:
        return unpack(f, record + 8, bytes - 8, at);
    case COMPRESSED2:
        if (bytes < 16 || perf_u64(e, record + 8) > bytes - 16)
            return -1;
        return unpack(f, record + 16, (size_t)perf_u64(e, record + 8), at);
    default:
        f->unknown += type > COMPRESSED2;
        return 0;
    }
}

static int kernel_record(struct perf_file *f, unsigned type, const uint8_t *record, size_t bytes)
{
    switch (type) {
    case PERF_RECORD_SAMPLE:
        return perf_sample_read(f, record, bytes);
    case PERF_RECORD_COMM:
    case PERF_RECORD_FORK:
    case PERF_RECORD_EXIT:
    case PERF_RECORD_MMAP:
    case PERF_RECORD_MMAP2:
    case PERF_RECORD_LOST:
    case PERF_RECORD_LOST_SAMPLES:
    case PERF_RECORD_THROTTLE:
        return perf_state_read(f, type, record, bytes);
    case PERF_RECORD_AUX:
    case PERF_RECORD_ITRACE_START:
    case PERF_RECORD_SWITCH:
    case PERF_RECORD_SWITCH_CPU_WIDE:
        return perf_aux_state(f, type, record, bytes);
    default:
        f->unknown += type > KERNEL_KNOWN || type == 0;
        return 0;
    }
}

/* Takes one record, whose bytes are all there, and which stands at byte `at` of the file. */
static void take_record(struct perf_file *f, const uint8_t *record, size_t bytes, uint64_t at)
{
    const uint32_t type = perf_u32(&f->events, record);
    int result;

    f->records++;
    f->round_last = type == FINISHED_ROUND;
    if (type >= USER_FIRST) {
        result = user_record(f, type, record, bytes, at);
    } else {
        if (perf_file_ready(f, at) != 0)
            return;
        result = f->events.count ? kernel_record(f, type, record, bytes) : -1;
    }
    if (result != 0)
        perf_file_bad(f, at, "a record of type %" PRIu32 " with %zu bytes is damaged", type, bytes);
}

/* Records that were decompressed, as far as they are whole. */
static int plain_records(struct perf_file *f, uint64_t at)
{
    size_t done = 0;

    while (f->plain.used - done >= 8) {
        const uint8_t *record = f->plain.data + done;
        const size_t bytes = perf_u16(&f->events, record + 6);
        const uint32_t type = perf_u32(&f->events, record);

        if (bytes < 8 || type == COMPRESSED || type == COMPRESSED2)
            return -1;
        if (bytes > f->plain.used - done)
            break;
        take_record(f, record, bytes, at);
        done += bytes;
    }
    memmove(f->plain.data, f->plain.data + done, f->plain.used - done);
    f->plain.used -= done;
    return 0;
}

static int unpack(struct perf_file *f, const uint8_t *payload, size_t bytes, uint64_t at)
{
    ZSTD_inBuffer in = {payload, bytes, 0};
    int more = 1;

    if (!f->zstd)
        f->zstd = cf_need(f->tool, ZSTD_createDStream());
    while (in.pos < in.size || more) {
        ZSTD_outBuffer out;
        size_t r;

        cf_must(f->tool, cf_bytes_room(&f->plain, CHUNK));
        out = (ZSTD_outBuffer){f->plain.data + f->plain.used, CHUNK, 0};
        r = ZSTD_decompressStream(f->zstd, &out, &in);
        if (ZSTD_isError(r)) {
            f->plain.used = 0;
            return -1;
        }
        f->plain.used += out.pos;
        more = out.pos == CHUNK; /* there may be more in it */
        if (plain_records(f, at) != 0) {
            f->plain.used = 0;
            return -1;
        }
        if (out.pos == 0 && in.pos < in.size && r == 0)
            continue;
        if (out.pos == 0 && !more && in.pos == in.size)
            break;
    }
    return 0;
}

/* What ends before it should. */
static void cut(struct perf_file *f, size_t left)
{
    if (!perf_input_caught())
        perf_file_bad(f, f->in.at + left,
                      left ? "the file was cut off in a record"
                           : "the file was cut off between two records");
}

void perf_file_records(struct perf_file *f)
{
    while (!f->samples.failed && (!f->data_end || f->in.at < f->data_end)) {
        const uint64_t at = f->in.at;
        size_t left, bytes;
        const uint8_t *record = perf_input_peek(&f->in, 8, &left);

        if (!record) {
            if (left || (f->data_end && !f->in.failed))
                cut(f, left);
            break;
        }
        if (perf_file_magic(record)) {
            perf_file_more(f, at, record);
            break;
        }
        bytes = perf_u16(&f->events, record + 6);
        if (bytes < 8 || (f->data_end && bytes > f->data_end - at)) {
            perf_file_bad(f, at, "no record can have %zu bytes here: the rest is not read", bytes);
            break;
        }
        record = perf_input_take(&f->in, bytes, &left);
        if (!record) {
            cut(f, left);
            break;
        }
        take_record(f, record, bytes, at);
    }
    if (f->plain.used && !f->told)
        perf_file_bad(f, f->in.at, "the file was cut off in a compressed record");
    if (f->pipe && f->records && !f->round_last && !f->told && !perf_input_caught())
        cf_warn(f->tool,
                "%s: ends without the end of a round, which perf record writes last: unless perf "
                "inject wrote it, it may have been cut off",
                f->in.name);
    perf_state_end(f);
    perf_order_end(&f->order);
}
