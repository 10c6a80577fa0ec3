/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * aux.c - traces of ARM's SPE while they are recorded. See aux.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture/events/aux.h"

enum { NS = 1000000000 };

struct cf_aux_clock cf_aux_clock(uint64_t ns)
{
    struct cf_aux_clock c = {.ns = ns};

#ifdef __aarch64__
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(c.count));
    __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(c.hz));
#endif
    return c;
}

/* MIDR_EL1 of a CPU, 0 where the system does not state it. */
static uint64_t midr_of(int cpu)
{
    char path[96];
    uint64_t midr = 0;
    FILE *f;

    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/regs/identification/midr_el1", cpu);
    f = fopen(path, "r");
    if (f && fscanf(f, "%" SCNx64, &midr) != 1)
        midr = 0;
    if (f)
        fclose(f);
    return midr;
}

int cf_aux_map(struct cf_aux *a, int fd, struct perf_event_mmap_page *page, size_t data,
               size_t bytes, int cpu)
{
    const size_t offset = data + (size_t)sysconf(_SC_PAGESIZE);
    void *memory;

    page->aux_offset = offset;
    page->aux_size = bytes;
    /* That it can be written says to the kernel not to go on where nothing was read. */
    memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);
    if (memory == MAP_FAILED) {
        errno = errno == EPERM ? ENOBUFS : errno;
        return -1;
    }
    *a = (struct cf_aux){page, memory, bytes, midr_of(cpu)};
    /* cppcheck-suppress memleak */
    return 0;
}

void cf_aux_unmap(struct cf_aux *a)
{
    if (a->bytes)
        munmap((void *)a->memory, a->bytes);
    a->bytes = 0;
}

struct taking {
    const struct cf_aux *aux;
    const struct cf_aux_source *source;
    const struct cf_aux_clock *clock;
    struct cf_bytes *out;
    int failed;
};

static uint64_t time_of(const struct cf_aux_clock *c, uint64_t count)
{
    const int64_t ago = (int64_t)(c->count - count);
    const uint64_t size = ago < 0 ? -(uint64_t)ago : (uint64_t)ago;
    const uint64_t ns = c->hz ? size / c->hz * NS + size % c->hz * NS / c->hz : 0;

    return ago < 0 ? c->ns + ns : ns < c->ns ? c->ns - ns : 0;
}

static void take(void *arg, const struct cf_spe_record *r)
{
    struct taking *t = arg;
    const struct cf_aux_source *from = t->source;
    const struct perf_event_header head = {
        .type = PERF_RECORD_SAMPLE, .misc = PERF_RECORD_MISC_USER, .size = CF_AUX_SAMPLE};
    const uint64_t time =
        r->has & CF_SPE_TIMESTAMP ? time_of(t->clock, r->timestamp) : t->clock->ns;
    const uint64_t word[] = {from->id,
                             r->pc,
                             0, /* pid and tid */
                             time,
                             r->addr,
                             from->cpu,
                             r->latency,
                             cf_spe_data_src(r, t->aux->midr),
                             cf_spe_level(r, t->aux->midr)};
    uint8_t record[CF_AUX_SAMPLE];

    _Static_assert(sizeof head + sizeof word == CF_AUX_SAMPLE, "fields of a sample");
    if (!r->op || t->failed)
        return;
    memcpy(record, &head, sizeof head);
    memcpy(record + sizeof head, word, sizeof word);
    memcpy(record + 24, &from->pid, 4);
    memcpy(record + 28, &from->tid, 4);
    t->failed = cf_bytes_add(t->out, record, sizeof record) != 0;
}

int cf_aux_take(const struct cf_aux *a, uint64_t offset, uint64_t bytes,
                const struct cf_aux_source *source, const struct cf_aux_clock *clock,
                struct cf_bytes *out, uint64_t *bad)
{
    struct taking t = {a, source, clock, out, 0};
    struct cf_spe spe = {.take = take, .arg = &t};
    const size_t at = offset & (a->bytes - 1), first = a->bytes - at;

    if (bytes > a->bytes) { /* no kernel says so */
        ++*bad;
        return 0;
    }
    cf_spe_begin(&spe, offset, 0);
    cf_spe_take(&spe, a->memory + at, bytes < first ? bytes : first);
    if (bytes > first)
        cf_spe_take(&spe, a->memory, bytes - first);
    cf_spe_end(&spe);
    *bad += spe.dropped;
    __atomic_store_n(&a->page->aux_tail, offset + bytes, __ATOMIC_RELEASE);
    return t.failed ? -1 : 0;
}
