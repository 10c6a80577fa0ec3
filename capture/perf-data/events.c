/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * events.c - attributes, and the ids that tell their records apart. Offsets are those of struct
 * perf_event_attr in linux/perf_event.h, of which a file may hold an older or a newer version.
 */
#include "events.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "capture/base/cf_samples.h"
#include "formats/base/cf_memory.h"

enum {
    FLAG_FREQ = 10,
    FLAG_SAMPLE_ID_ALL = 18,
    INTEL_LOADS = 0x1cd,   /* MEM_TRANS_RETIRED.LOAD_LATENCY */
    INTEL_STORES = 0x82d0, /* MEM_INST_RETIRED.ALL_STORES */
    TYPES_STATIC = 6,      /* types from there on are numbers of PMUs */
    IDS_MOST = 1 << 24,
};

void perf_events_free(struct perf_events *e)
{
    for (size_t i = 0; i < e->count; i++)
        free(e->event[i].name);
    free(e->event);
    free(e->id);
    free(e->host);
    free(e->kernel);
    free(e->version);
    free(e->arch);
    free(e->cpu);
    free(e->cpuid);
    free(e->command);
    free(e->build);
    if (e->builds)
        cf_strings_free(e->builds);
}

static uint64_t word_at(const struct perf_events *e, const uint8_t *attr, size_t bytes, size_t at)
{
    return at + 8 <= bytes ? perf_u64(e, attr + at) : 0;
}

/* The bit fields: a big-endian compiler counts them from the top. */
static int flag(const struct perf_events *e, uint64_t flags, unsigned bit)
{
    return flags >> (e->big ? 63 - bit : bit) & 1;
}

int perf_events_add(struct perf_events *e, const uint8_t *attr, size_t bytes)
{
    struct perf_event_of *v;
    uint64_t flags;

    if (bytes < PERF_ATTR_SIZE_VER0 || e->count == PERF_EVENTS_MOST)
        return -1;
    cf_must(e->tool, cf_array_room(&e->event, &e->room, e->count + 1, sizeof *e->event));
    v = &e->event[e->count];
    memset(v, 0, sizeof *v);
    v->type = perf_u32(e, attr);
    v->config = perf_u64(e, attr + 8);
    flags = perf_u64(e, attr + 40);
    v->period = flag(e, flags, FLAG_FREQ) ? 0 : perf_u64(e, attr + 16);
    v->sample_type = perf_u64(e, attr + 24);
    v->read_format = perf_u64(e, attr + 32);
    v->sample_id_all = flag(e, flags, FLAG_SAMPLE_ID_ALL);
    v->branch_type = word_at(e, attr, bytes, 72);
    v->regs_user = (unsigned)__builtin_popcountll(word_at(e, attr, bytes, 80));
    v->regs_intr = (unsigned)__builtin_popcountll(word_at(e, attr, bytes, 96));
    if (v->type == PERF_TYPE_RAW || v->type >= TYPES_STATIC)
        v->op = v->config == INTEL_LOADS ? CF_LOAD : v->config == INTEL_STORES ? CF_STORE : 0;
    return (int)e->count++;
}

static struct perf_id *place_of(const struct perf_events *e, uint64_t id)
{
    size_t at = cf_hash(e->seed, id, 0) & (e->id_room - 1);

    while (e->id[at].event && e->id[at].id != id)
        at = (at + 1) & (e->id_room - 1);
    return &e->id[at];
}

void perf_events_id(struct perf_events *e, uint64_t id, uint32_t event)
{
    struct perf_id *place;

    if (e->ids == IDS_MOST)
        return;
    if (2 * (e->ids + 1) > e->id_room) {
        struct perf_id *old = e->id;
        const size_t room = e->id_room;

        e->id_room = room ? 2 * room : 64;
        e->id = cf_need(e->tool, calloc(e->id_room, sizeof *e->id));
        if (!room)
            e->seed = cf_seed(e);
        for (size_t i = 0; i < room; i++)
            if (old[i].event)
                *place_of(e, old[i].id) = old[i];
        free(old);
    }
    place = place_of(e, id);
    e->ids += place->event == 0;
    *place = (struct perf_id){id, event + 1};
}

struct perf_event_of *perf_events_find(const struct perf_events *e, uint64_t id)
{
    const uint32_t event = e->ids ? place_of(e, id)->event : 0;

    return event ? &e->event[event - 1] : NULL;
}

void perf_events_name(struct perf_events *e, struct perf_event_of *event, const char *name,
                      size_t length)
{
    free(event->name);
    event->name = cf_need(e->tool, strndup(name, length));
    if (!event->op)
        event->op = cf_event_op(event->name, strlen(event->name));
}
