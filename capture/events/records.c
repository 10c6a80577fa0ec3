/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * records.c - rings of the kernel. See records.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture/events/owned.h"
#include "capture/events/records.h"
#include "formats/base/cf_memory.h"
#include "formats/base/cf_number.h"

struct ring {
    int fd;
    struct perf_event_mmap_page *page;
    size_t bytes; /* of the data */
    struct cf_aux aux;
};

struct event { /* sorted by id, which the kernel counts up */
    uint64_t id, period;
    int fd;
    enum cf_perf_kind kind;
    uint32_t tid; /* whose it is, and of those that inherit it */
};

struct held {
    uint64_t time, number;
    size_t at;    /* in bytes */
    uint32_t tid; /* of the event */
    enum cf_perf_kind kind;
    uint64_t period;
};

struct cf_records {
    size_t ring_bytes;
    struct ring *ring;
    struct event *event;
    struct held *held;
    struct cf_owned owned;
    size_t execs; /* among those held and not handed out, programs that begin */
    size_t rings, rings_room, events, events_room, count, room, next;
    struct cf_bytes bytes;
    uint64_t now, sure; /* when the last reading began; records before that are all there, */
    uint64_t handed;    /* and before that all were handed out */
    uint64_t number, bad;
    uint64_t lost, told; /* by events that were removed; by records */
    int sorted;
    struct cf_aux_clock clock; /* when the last reading began */
};

enum { TWICE = 2 };
enum { TRAILER = 32 }; /* pid tid, time, cpu, identifier: sample_id_all */

struct cf_records *cf_records_new(size_t bytes)
{
    struct cf_records *r = calloc(1, sizeof *r);

    if (r)
        r->ring_bytes = bytes;
    return r;
}

static void unmap(struct ring *ring)
{
    cf_aux_unmap(&ring->aux);
    munmap(ring->page, ring->bytes + (size_t)sysconf(_SC_PAGESIZE));
}

void cf_records_free(struct cf_records *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->rings; i++)
        unmap(&r->ring[i]);
    for (size_t i = 0; i < r->events; i++)
        close(r->event[i].fd);
    free(r->ring);
    free(r->event);
    free(r->held);
    free(r->owned.thread);
    free(r->bytes.data);
    free(r);
}

static int map(struct cf_records *r, int fd, size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *memory;

    if (cf_array_room(&r->ring, &r->rings_room, r->rings + 1, sizeof *r->ring) != 0)
        return -1;
    memory = mmap(NULL, bytes + page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED) {
        errno = errno == EPERM ? ENOBUFS : errno; /* the event itself is permitted */
        return -1;
    }
    r->ring[r->rings] = (struct ring){.fd = fd, .bytes = bytes};
    r->ring[r->rings++].page = memory;
    return 0;
}

int cf_records_add(struct cf_records *r, int fd, enum cf_perf_kind kind, uint64_t period, pid_t tid,
                   int into, size_t bytes)
{
    uint64_t id;
    size_t at;

    if (ioctl(fd, PERF_EVENT_IOC_ID, &id) != 0 ||
        cf_array_room(&r->event, &r->events_room, r->events + 1, sizeof *r->event) != 0)
        return -1;
    if (into >= 0 ? ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, into) != 0
                  : map(r, fd, bytes ? bytes : r->ring_bytes) != 0)
        return -1;
    for (at = r->events; at > 0 && r->event[at - 1].id > id; at--)
        r->event[at] = r->event[at - 1];
    r->event[at] = (struct event){id, period, fd, kind, (uint32_t)tid};
    r->events++;
    return 0;
}

int cf_records_own(struct cf_records *r, uint32_t tid, uint64_t now)
{
    return cf_owned_add(&r->owned, &(struct cf_owned_thread){tid, tid, now, 0});
}

int cf_records_trace(struct cf_records *r, int fd, int into, int cpu, size_t bytes)
{
    const int owner = into >= 0 ? into : fd;

    for (size_t i = 0; i < r->rings; i++)
        if (r->ring[i].fd == owner && !r->ring[i].aux.bytes)
            return cf_aux_map(&r->ring[i].aux, fd, r->ring[i].page, r->ring[i].bytes, bytes, cpu);
    return 0;
}

/* Copies what is there out of the ring, which goes round. */
static int copy(struct cf_records *r, const struct ring *ring, uint64_t from, size_t bytes)
{
    const uint8_t *data = (const uint8_t *)ring->page + ring->page->data_offset;
    const size_t at = from & (ring->bytes - 1), first = ring->bytes - at;

    return cf_bytes_add(&r->bytes, data + at, bytes < first ? bytes : first) != 0 ||
                   (bytes > first && cf_bytes_add(&r->bytes, data, bytes - first) != 0)
               ? -1
               : 0;
}

static const struct event *event_of(const struct cf_records *r, uint64_t id)
{
    size_t low = 0, high = r->events;

    while (low < high) {
        const size_t middle = (low + high) / 2;

        if (r->event[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < r->events && r->event[low].id == id ? &r->event[low] : NULL;
}

static int is_exec(const uint8_t *record)
{
    struct perf_event_header h;

    memcpy(&h, record, sizeof h);
    return h.type == PERF_RECORD_COMM && h.misc & PERF_RECORD_MISC_COMM_EXEC;
}

/* Notes a whole record at bytes.data + at. */
static int hold(struct cf_records *r, size_t at, const struct perf_event_header *h)
{
    const uint8_t *p = r->bytes.data + at;
    const int sample = h->type == PERF_RECORD_SAMPLE;
    const struct event *e;

    if (h->size < sizeof *h + (sample ? 48 : TRAILER)) {
        r->bad++;
        return 0;
    }
    e = event_of(r, cf_record_word(sample ? p + 8 : p + h->size - 8));
    if (!e) {
        r->bad++;
        return 0;
    }
    if (cf_array_room(&r->held, &r->room, r->count + 1, sizeof *r->held) != 0)
        return -1;
    if (h->type == PERF_RECORD_LOST && h->size >= sizeof *h + 16 + TRAILER)
        r->told += cf_record_word(p + sizeof *h + 8);
    r->execs += (size_t)is_exec(p);
    r->held[r->count++] = (struct held){.time = cf_record_word(sample ? p + 32 : p + h->size - 24),
                                        .number = r->number++,
                                        .at = at,
                                        .tid = e->tid,
                                        .kind = e->kind,
                                        .period = e->period};
    return 0;
}

/* The samples of a trace, of which the record at bytes.data + at says what is new: they are put
   behind all that was copied. */
static int take_trace(struct cf_records *r, const struct ring *ring, size_t at, size_t size)
{
    const uint8_t *p = r->bytes.data + at, *tail = p + size - TRAILER;
    struct cf_aux_source from;

    if (size < 8 + 24 + TRAILER)
        return 0;
    from = (struct cf_aux_source){.id = cf_record_word(tail + 24),
                                  .pid = cf_record_half(tail),
                                  .tid = cf_record_half(tail + 4),
                                  .cpu = cf_record_half(tail + 16)};
    return cf_aux_take(&ring->aux, cf_record_word(p + 8), cf_record_word(p + 16), &from, &r->clock,
                       &r->bytes, &r->bad);
}

static int read_ring(struct cf_records *r, const struct ring *ring)
{
    const uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
    const uint64_t tail = ring->page->data_tail;
    size_t at = r->bytes.used, bytes = (size_t)(head - tail);

    if (!bytes)
        return 0;
    if (bytes > ring->bytes) { /* no kernel does so */
        r->bad++;
        bytes = 0;
    }
    if (copy(r, ring, tail, bytes) != 0)
        return -1;
    __atomic_store_n(&ring->page->data_tail, head, __ATOMIC_RELEASE);
    while (at < r->bytes.used) {
        struct perf_event_header h;

        if (r->bytes.used - at < sizeof h)
            break;
        memcpy(&h, r->bytes.data + at, sizeof h);
        if (h.size < sizeof h || h.size > r->bytes.used - at) {
            r->bad++;
            break;
        }
        if (hold(r, at, &h) != 0 ||
            (h.type == PERF_RECORD_AUX && ring->aux.bytes && take_trace(r, ring, at, h.size) != 0))
            return -1;
        at += h.size;
    }
    r->sorted = 0;
    return 0;
}

/* What was handed out leaves the memory. */
static int compact(struct cf_records *r)
{
    struct cf_bytes left = {0};

    for (size_t i = r->next; i < r->count; i++) {
        struct perf_event_header h;

        memcpy(&h, r->bytes.data + r->held[i].at, sizeof h);
        if (cf_bytes_add(&left, r->bytes.data + r->held[i].at, h.size) != 0) {
            free(left.data);
            return -1;
        }
        r->held[i].at = left.used - h.size;
        r->held[i - r->next] = r->held[i];
    }
    r->count -= r->next;
    r->next = 0;
    free(r->bytes.data);
    r->bytes = left;
    return 0;
}

int cf_records_read(struct cf_records *r, uint64_t now, uint64_t known)
{
    if (r->next && compact(r) != 0)
        return -1;
    r->clock = cf_aux_clock(now);
    for (size_t i = 0; i < r->rings; i++)
        if (read_ring(r, &r->ring[i]) != 0)
            return -1;
    r->handed = r->sure;
    r->sure = r->now < known ? r->now : known;
    r->now = now;
    return 0;
}

/* What an event and those that inherit it had no room for. */
static uint64_t lost(int fd)
{
    uint64_t value[2]; /* the count of the event; PERF_FORMAT_LOST */

    return read(fd, value, sizeof value) == (ssize_t)sizeof value ? value[1] : 0;
}

uint64_t cf_records_untold(const struct cf_records *r)
{
    uint64_t all = r->lost;

    for (size_t i = 0; i < r->events; i++)
        all += lost(r->event[i].fd);
    return all > r->told ? all - r->told : 0;
}

void cf_records_remove(struct cf_records *r, int fd)
{
    for (size_t i = 0; i < r->rings; i++)
        if (r->ring[i].fd == fd) {
            (void)!read_ring(r, &r->ring[i]); /* without memory the next reading says so */
            unmap(&r->ring[i]);
            r->ring[i] = r->ring[--r->rings];
            break;
        }
    for (size_t i = 0; i < r->events; i++)
        if (r->event[i].fd == fd) {
            memmove(&r->event[i], &r->event[i + 1], (--r->events - i) * sizeof *r->event);
            break;
        }
    r->lost += lost(fd);
    close(fd);
}

static int by_time(const void *a, const void *b)
{
    const struct held *x = a, *y = b;

    return x->time != y->time ? cf_order(x->time, y->time) : cf_order(x->number, y->number);
}

#ifdef __x86_64__
static void take_register(struct cf_operands_state *to, unsigned bit, uint64_t value)
{
    static const uint8_t number[] = {
        [PERF_REG_X86_AX] = 0, [PERF_REG_X86_BX] = 3, [PERF_REG_X86_CX] = 1, [PERF_REG_X86_DX] = 2,
        [PERF_REG_X86_SI] = 6, [PERF_REG_X86_DI] = 7, [PERF_REG_X86_BP] = 5, [PERF_REG_X86_SP] = 4};

    if (bit == PERF_REG_X86_IP)
        to->pc = value;
    else if (bit == PERF_REG_X86_FLAGS)
        to->flags = value;
    else if (bit >= PERF_REG_X86_R8)
        to->general[bit - PERF_REG_X86_R8 + 8] = value;
    else
        to->general[number[bit]] = value;
}
#elif defined(__aarch64__)
static void take_register(struct cf_operands_state *to, unsigned bit, uint64_t value)
{
    if (bit == PERF_REG_ARM64_PC)
        to->pc = value;
    else
        to->general[bit] = value; /* sp is 31 there as here */
}
#else
static void take_register(struct cf_operands_state *to, unsigned bit, uint64_t value)
{
    (void)to, (void)bit, (void)value;
}
#endif

/* Of a block that dc zva clears (ARM DDI 0487, DCZID_EL0), 0 where there is no such thing. */
static uint32_t zeroed(void)
{
#ifdef __aarch64__
    uint64_t id;

    __asm__("mrs %0, dczid_el0" : "=r"(id));
    return id & 16 ? 0 : 4u << (id & 15);
#else
    return 0;
#endif
}

/* User registers in the order of their bits. */
static void take_state(const uint8_t *p, size_t left, struct cf_record *to)
{
    size_t at = 8;

    if (left < 8 || cf_record_word(p) == PERF_SAMPLE_REGS_ABI_NONE)
        return;
    for (unsigned bit = 0; bit < 64; bit++) {
        if (!(CF_RECORD_REGISTERS >> bit & 1))
            continue;
        if (left - at < 8)
            return;
        take_register(&to->state, bit, cf_record_word(p + at));
        at += 8;
    }
    to->state.zeroed = zeroed();
    to->has_state = cf_record_word(p) == PERF_SAMPLE_REGS_ABI_64;
}

static void take_sample(const uint8_t *p, size_t size, struct cf_record *to)
{
    size_t at = 56;

    to->ip = cf_record_word(p + 16);
    to->pid = cf_record_half(p + 24);
    to->tid = cf_record_half(p + 28);
    if (size < at)
        return;
    to->addr = cf_record_word(p + 40);
    to->cpu = cf_record_half(p + 48);
    if (to->kind == CF_PERF_FAULTS || to->kind == CF_PERF_BREAKPOINT) {
        take_state(p + at, size - at, to);
    } else if (size >= at + 16) {
        to->latency = cf_record_word(p + at);
        to->data_src = cf_record_word(p + at + 8);
        to->level = size >= at + 24 ? (unsigned)cf_record_word(p + at + 16) : 0; /* of a trace */
    }
}

static int hand_out(struct cf_records *r, int all, struct cf_record *record)
{
    const struct held *h;
    struct perf_event_header head;
    const uint8_t *p;
    int twice;

    if (!r->sorted && r->count > r->next)
        qsort(r->held + r->next, r->count - r->next, sizeof *r->held, by_time);
    r->sorted = 1;
    if (r->next == r->count)
        return 0;
    h = &r->held[r->next];
    if (!all && h->time >= r->sure)
        return 0;
    r->next++;
    p = r->bytes.data + h->at;
    r->execs -= (size_t)is_exec(p);
    memcpy(&head, p, sizeof head);
    *record = (struct cf_record){.type = head.type,
                                 .misc = head.misc,
                                 .time = h->time < r->handed ? r->handed : h->time,
                                 .kind = h->kind,
                                 .period = h->period};
    if (head.type == PERF_RECORD_SAMPLE) {
        take_sample(p, head.size, record);
    } else {
        record->pid = cf_record_half(p + head.size - 32);
        record->tid = cf_record_half(p + head.size - 28);
        record->cpu = cf_record_half(p + head.size - 16);
        record->body = p + sizeof head;
        record->length = head.size - sizeof head - TRAILER;
    }
    twice = cf_owned_twice(&r->owned, record, h->tid, h->time);
    r->bad += twice < 0;
    return twice > 0 ? TWICE : 1;
}

int cf_records_next(struct cf_records *r, int all, struct cf_record *record)
{
    int found;

    do {
        found = hand_out(r, all, record);
    } while (found == TWICE);
    return found;
}

int cf_records_changes(const struct cf_records *r, uint32_t pid)
{
    for (size_t i = r->execs ? r->next : r->count; i < r->count; i++) {
        const uint8_t *p = r->bytes.data + r->held[i].at;

        if (is_exec(p) && cf_record_half(p + sizeof(struct perf_event_header)) == pid)
            return 1;
    }
    return 0;
}

uint64_t cf_records_bad(const struct cf_records *r)
{
    return r->bad;
}

uint64_t cf_records_sure(const struct cf_records *r)
{
    return r->sure;
}
