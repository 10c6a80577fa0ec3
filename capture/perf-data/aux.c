/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * aux.c - traces of ARM's SPE to samples. See aux.h.
 *
 * Records: tools/lib/perf/include/perf/event.h of Linux (AUXTRACE_INFO, AUXTRACE, TIME_CONV), and
 * linux/perf_event.h. The words of AUXTRACE_INFO are those of tools/perf/util/arm-spe.h: version 1
 * has no number, but the type of the PMU and whether there is a buffer for each CPU.
 */
#include "aux.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"

enum {
    INFO_WORDS = 16,    /* bytes before them */
    VERSION_1 = 16,     /* bytes of its words */
    CPU_PARAMETERS = 3, /* of a CPU in version 2: words before those that are counted */
    CHUNK = 1 << 16,
    FORGET = 1 << 16, /* samples between two times that earlier owners are forgotten */
    BY_THREAD = 1,    /* how the owner of a sample is found: by its thread, */
    BY_CPU = 2,       /* or, where it has none, by its CPU */
    FLAGS_LOSS = PERF_AUX_FLAG_TRUNCATED | PERF_AUX_FLAG_PARTIAL,
};

void perf_aux_free(struct perf_aux *a)
{
    free(a->cpu);
    perf_owners_free(&a->running);
    perf_owners_free(&a->process);
}

/* ---- what the file states ---- */

static int cpus_of_info(struct perf_file *f, const uint8_t *word, size_t words)
{
    struct perf_aux *a = &f->aux;
    const uint64_t head = perf_u64(&f->events, word + 8);
    const uint64_t cpus = perf_u64(&f->events, word + 24);
    size_t at = (size_t)head;

    if (head > words)
        return -1;
    for (uint64_t i = 0; i < cpus; i++) {
        uint64_t more;

        if (words - at < CPU_PARAMETERS + 2)
            return -1;
        more = perf_u64(&f->events, word + 8 * (at + 2));
        if (more < 2 || more > words - at - CPU_PARAMETERS)
            return -1;
        cf_must(f->tool, cf_array_room(&a->cpu, &a->cpu_room, a->cpus + 1, sizeof *a->cpu));
        a->cpu[a->cpus++] =
            (struct perf_aux_cpu){perf_u64(&f->events, word + 8 * (at + 1)),
                                  perf_u64(&f->events, word + 8 * (at + CPU_PARAMETERS)),
                                  perf_u64(&f->events, word + 8 * (at + CPU_PARAMETERS + 1))};
        at += CPU_PARAMETERS + (size_t)more;
    }
    return 0;
}

int perf_aux_info(struct perf_file *f, const uint8_t *record, size_t bytes)
{
    const uint8_t *word = record + INFO_WORDS;
    struct perf_aux *a = &f->aux;
    size_t size;

    if (bytes < INFO_WORDS)
        return -1;
    size = bytes - INFO_WORDS;
    a->kind = perf_u32(&f->events, record + 8);
    if (a->kind != PERF_AUX_SPE)
        return 0;
    f->order.unrounded = 1;
    f->samples.has |= CF_SAMPLES_TASK | CF_SAMPLES_PC | CF_SAMPLES_COST | CF_SAMPLES_DATA_SRC;
    a->cpus = 0;
    if (size < VERSION_1)
        return -1;
    a->pmu = perf_u64(&f->events, word + (size == VERSION_1 ? 0 : 16));
    if (size == VERSION_1)
        return 0;
    return size < 32 ? -1 : cpus_of_info(f, word, size / 8);
}

int perf_aux_time(struct perf_file *f, const uint8_t *record, size_t bytes)
{
    struct perf_aux_clock *c = &f->aux.clock;
    uint64_t shift;

    if (bytes < 8 + 3 * 8)
        return -1;
    shift = perf_u64(&f->events, record + 8);
    *c = (struct perf_aux_clock){.known = shift < 64,
                                 .shift = (unsigned)(shift & 63),
                                 .mult = perf_u64(&f->events, record + 16),
                                 .zero = perf_u64(&f->events, record + 24)};
    if (bytes >= 8 + 5 * 8 + 2) {
        c->cycles = perf_u64(&f->events, record + 32);
        c->mask = perf_u64(&f->events, record + 40);
        c->is_short = record[49] & 1; /* cap_user_time_short */
    }
    return c->known ? 0 : -1;
}

static uint64_t time_of(const struct perf_aux_clock *c, uint64_t count)
{
    if (c->is_short)
        count = c->cycles + ((count - c->cycles) & c->mask);
    return c->zero + (count >> c->shift) * c->mult +
           (((count & ((UINT64_C(1) << c->shift) - 1)) * c->mult) >> c->shift);
}

/* ---- samples ---- */

/* A record of the trace. Its thread is found later: what says who ran may stand behind it. */
static void take(void *file, const struct cf_spe_record *r)
{
    struct perf_file *f = file;
    struct perf_aux *a = &f->aux;
    struct cf_sample s = {.addr = r->addr,
                          .phys = r->phys,
                          .pc = r->pc,
                          .period = a->period,
                          .latency = r->latency,
                          .event = a->event,
                          .unowned = BY_THREAD};

    if (!r->op) {
        a->others++;
        return;
    }
    a->samples++;
    if (r->phys) /* whether or not the event says so */
        f->samples.has |= CF_SAMPLES_PHYS;
    s.data_src = cf_spe_data_src(r, a->midr);
    s.level = (uint8_t)cf_spe_level(r, a->midr);
    if (a->piece_cpu != UINT32_MAX) {
        s.cpu = a->piece_cpu;
        s.unowned = BY_CPU;
    }
    if (r->has & CF_SPE_CONTEXT)
        s.tid = r->context;
    else if (a->piece_tid != UINT32_MAX)
        s.tid = a->piece_tid;
    if (!f->timed) {
        s.time = ++f->now;
    } else if (a->clock.known && r->has & CF_SPE_TIMESTAMP) {
        s.time = time_of(&a->clock, r->timestamp);
    } else {
        s.time = f->now;
        a->timeless++;
    }
    perf_order_sample(&f->order, &s);
}

void perf_aux_owner(void *file, struct cf_sample *s)
{
    struct perf_file *f = file;
    struct perf_aux *a = &f->aux;
    const struct perf_owner *o = NULL;

    if (++a->asked % FORGET == 0)
        perf_owners_forget(&a->running, s->time);
    if (s->tid)
        o = perf_owners_find(&a->process, s->tid, s->time, 1);
    else if (s->unowned == BY_CPU)
        o = perf_owners_find(&a->running, s->cpu, s->time, 0);
    if (!o) {
        a->ownerless++;
        return;
    }
    s->pid = o->pid;
    s->tid = o->tid;
}

/* What is known of the piece's processor, and its event. */
static void find_piece(struct perf_file *f)
{
    struct perf_aux *a = &f->aux;
    uint64_t pmu = a->pmu;
    int alike = a->cpus > 0;

    a->midr = 0;
    for (size_t i = 0; i < a->cpus; i++) {
        alike &= a->cpu[i].midr == a->cpu[0].midr;
        if (a->cpu[i].cpu == a->piece_cpu) {
            a->midr = a->cpu[i].midr;
            pmu = a->cpu[i].pmu;
        }
    }
    if (!a->midr && alike)
        a->midr = a->cpu[0].midr;
    if (!a->cpus && f->events.cpuid)
        a->midr = strtoull(f->events.cpuid, NULL, 16);
    a->period = 1;
    for (size_t i = 0; i < f->events.count; i++) {
        const struct perf_event_of *v = &f->events.event[i];

        if (v->type != pmu && v->type != a->pmu)
            continue;
        a->event = (uint32_t)i;
        a->period = v->period ? v->period : 1;
        if (v->type == pmu)
            break;
    }
}

/* The bytes behind the record, as far as they are there. */
static void take_bytes(struct perf_file *f, uint64_t n, uint64_t at, int decode)
{
    while (n) {
        size_t part = n < CHUNK ? (size_t)n : CHUNK, left;
        const uint8_t *p = perf_input_take(&f->in, part, &left);

        if (!p) {
            part = left;
            p = left ? perf_input_take(&f->in, left, &left) : NULL;
            n = part;
            if (!perf_input_caught())
                perf_file_bad(f, at, "the file was cut off in the data of this record");
        }
        if (p && decode)
            cf_spe_take(&f->aux.trace, p, part);
        n -= part;
    }
}

int perf_aux_trace(struct perf_file *f, const uint8_t *record, size_t bytes, uint64_t at)
{
    struct perf_aux *a = &f->aux;
    const int decode = a->kind == PERF_AUX_SPE;
    uint64_t n, offset;

    a->pieces++;
    if (bytes < 48)
        return -1;
    n = perf_u64(&f->events, record + 8);
    offset = perf_u64(&f->events, record + 16);
    if (f->plain.used) /* what is decompressed has records of the kernel alone */
        return -1;
    if (f->data_end && n > f->data_end - f->in.at)
        return -1;
    a->piece_tid = perf_u32(&f->events, record + 36);
    a->piece_cpu = perf_u32(&f->events, record + 40);
    if (decode) {
        if (perf_file_ready(f, at) != 0)
            return 0;
        find_piece(f);
        a->trace.take = take;
        a->trace.arg = f;
        cf_spe_begin(&a->trace, offset, a->overwrite && offset);
    }
    take_bytes(f, n, at, decode);
    if (decode)
        cf_spe_end(&a->trace);
    return 0;
}

/* ---- the kernel's records ---- */

void perf_aux_thread(struct perf_file *f, uint32_t pid, uint32_t tid, uint64_t time)
{
    if (f->aux.kind == PERF_AUX_SPE)
        perf_owners_add(f->tool, &f->aux.process, tid, time, pid, tid);
}

static void runs(struct perf_file *f, const struct perf_event_of *v, const uint8_t *record,
                 size_t bytes, uint32_t pid, uint32_t tid)
{
    const uint64_t time = perf_record_time(f, v, record, bytes);
    uint32_t cpu;

    if (perf_record_cpu(f, v, record, bytes, &cpu) == 0)
        perf_owners_add(f->tool, &f->aux.running, cpu, time, pid, tid);
}

/* A row of what a trace lacks: how much that is is not known. */
static void lost(struct perf_file *f, const struct perf_event_of *v, const uint8_t *record,
                 size_t bytes, const char *what)
{
    const uint8_t *tail = record + bytes - perf_record_tail(v);
    struct perf_state s = {.time = perf_record_time(f, v, record, bytes),
                           .table = CF_LOST,
                           .count = 1,
                           .label = cf_writer_string(f->out, what)};

    if (v->sample_id_all && v->sample_type & PERF_SAMPLE_TID) {
        s.pid = perf_u32(&f->events, tail);
        s.tid = perf_u32(&f->events, tail + 4);
    }
    (void)!perf_record_cpu(f, v, record, bytes, &s.cpu); /* else it is 0 */
    perf_order_state(&f->order, &s);
}

int perf_aux_state(struct perf_file *f, unsigned type, const uint8_t *record, size_t bytes)
{
    const struct perf_event_of *v = perf_record_event(f, record, bytes);
    const struct perf_events *e = &f->events;
    const int is_out = perf_u16(e, record + 4) & PERF_RECORD_MISC_SWITCH_OUT;
    const uint8_t *tail;
    uint64_t flags;

    if (!v)
        return -1;
    tail = record + bytes - perf_record_tail(v);
    if ((size_t)(tail - record) < 8u + (type == PERF_RECORD_AUX      ? 24
                                        : type == PERF_RECORD_SWITCH ? 0
                                                                     : 8))
        return -1;
    if (f->aux.kind != PERF_AUX_SPE)
        return 0;
    if (type == PERF_RECORD_AUX) {
        flags = perf_u64(e, record + 24);
        f->aux.overwrite |= !!(flags & PERF_AUX_FLAG_OVERWRITE);
        f->aux.truncated += !!(flags & FLAGS_LOSS);
        f->aux.collided += !!(flags & PERF_AUX_FLAG_COLLISION);
        if (flags & FLAGS_LOSS)
            lost(f, v, record, bytes, "truncated");
        if (flags & PERF_AUX_FLAG_COLLISION)
            lost(f, v, record, bytes, "collision");
    } else if (type == PERF_RECORD_ITRACE_START ||
               (type == PERF_RECORD_SWITCH_CPU_WIDE && is_out)) {
        runs(f, v, record, bytes, perf_u32(e, record + 8), perf_u32(e, record + 12));
    } else if (!is_out && v->sample_id_all && v->sample_type & PERF_SAMPLE_TID) {
        /* Who leaves a CPU to threads that are not recorded leaves no samples of theirs. */
        runs(f, v, record, bytes, perf_u32(e, tail), perf_u32(e, tail + 4));
    }
    return 0;
}

/* ---- at the end ---- */

void perf_aux_report(const struct perf_file *f)
{
    const struct perf_aux *a = &f->aux;
    const struct cf_spe *s = &a->trace;
    const char *name = f->in.name;

    if (a->truncated)
        cf_warn(f->tool,
                "%s: the buffer of SPE was full %" PRIu64
                " times, and records were lost: record with a larger one (-m ,SIZE) or a longer "
                "period (-c)",
                name, a->truncated);
    if (a->collided)
        cf_warn(f->tool,
                "%s: samples of SPE collided and were lost, in %" PRIu64
                " parts of the trace: a longer period (-c) avoids it",
                name, a->collided);
    if (s->dropped)
        cf_warn(f->tool, "%s: %" PRIu64 " records of SPE left out that are damaged or cut off",
                name, s->dropped);
    if (s->unknown)
        cf_warn(f->tool, "%s: %" PRIu64 " packets of SPE of unknown types were passed over", name,
                s->unknown);
    if (a->overwrite)
        cf_warn(f->tool, "%s: its traces are snapshots, which may have accesses twice", name);
    if (a->timeless)
        cf_warn(f->tool,
                "%s: %" PRIu64
                " samples of SPE have no time (ts_enable=1 records it): they have that of the "
                "record before",
                name, a->timeless);
    if (a->ownerless)
        cf_warn(f->tool, "%s: of %" PRIu64 " samples of SPE the process is not known", name,
                a->ownerless);
}
