// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Taking one snapshot, after the paper's section 6.3 and its figure 3: stop the other CPUs, read
 * the tag memory entry by entry, store what is valid into the buffer, let the CPUs go, then look
 * for owners. The CPUs are stopped by stop_machine(), which brings each of them into a loop with
 * interrupts off; the paper has them spin on a lock in an interrupt, which amounts to the same but
 * does not survive that one of them is unplugged meanwhile.
 *
 * The time with interrupts off is bounded by the number of entries, at most SHUTTER_LINES_MAX.
 */
#include <linux/ktime.h>
#include <linux/smp.h>
#include <linux/stop_machine.h>

#include "shutter.h"

struct shot {
    const struct shutter_backend *backend;
    const struct cacheflow_ram *geometry;
    struct cacheflow_line *lines;
    u64 time_ns, cost_ns, cost_cycles;
    u32 ram, cpu, entries, cycles_source;
    int error; /* -ENODEV until it has run on the wanted CPU */
};

size_t shutter_bytes(const struct cacheflow_ram *geometry, u32 flags)
{
    size_t lines = (size_t)geometry->sets * geometry->ways;
    size_t bytes =
        ALIGN(sizeof(struct cacheflow_snapshot) + lines * sizeof(struct cacheflow_line), 8);

    if (flags & CACHEFLOW_RESOLVE)
        bytes += lines * sizeof(struct cacheflow_owner);
    return ALIGN(bytes, 64);
}

size_t shutter_room(const struct shutter_buffer *buffer, u32 flags)
{
    return buffer->size - (flags & CACHEFLOW_REPLACE ? 0 : buffer->used);
}

/* Everything else stands still. Nothing is printed, allocated or locked here. */
static int shutter_read(void *arg)
{
    struct shot *shot = arg;
    struct cacheflow_ram ram[CACHEFLOW_RAMS] = {};
    const struct cacheflow_ram *geometry = shot->geometry;
    struct cacheflow_line *at = shot->lines;
    struct shutter_cycles cycles;
    u32 set, way;

    if (!shot->backend->able())
        return 0;
    shot->backend->probe(shot->backend, ram);
    if (ram[shot->ram].sets != geometry->sets || ram[shot->ram].ways != geometry->ways ||
        ram[shot->ram].line_size != geometry->line_size) {
        shot->error = -EIO;
        return 0;
    }
    shot->cpu = raw_smp_processor_id();
    shot->time_ns = ktime_get_ns();
    cycles_begin(&cycles);
    for (set = 0; set < geometry->sets; set++) {
        for (way = 0; way < geometry->ways; way++) {
            struct cacheflow_line line;

            if (!shot->backend->entry(shot->ram, geometry, set, way, &line))
                continue;
            line.way = (u8)way;
            line.set = set;
            *at++ = line;
        }
    }
    shot->cost_cycles = cycles_end(&cycles);
    shot->cost_ns = ktime_get_ns() - shot->time_ns;
    shot->cycles_source = cycles.source;
    shot->entries = (u32)(at - shot->lines);
    shot->error = 0;
    return 0;
}

/* On the wanted CPU; where any will do, on the caller's, or if that cannot be read or goes just
   now, on the first one that can. */
static int stop_and_read(struct shot *shot, s32 wanted)
{
    unsigned int cpu = wanted == CACHEFLOW_CPU_ANY ? raw_smp_processor_id() : (unsigned int)wanted;
    int error = stop_machine(shutter_read, shot, cpumask_of(cpu));
    unsigned int other;

    if (!error && shot->error == -ENODEV && wanted == CACHEFLOW_CPU_ANY) {
        for_each_online_cpu(other)
        {
            if (error || shot->error != -ENODEV)
                break;
            error = stop_machine(shutter_read, shot, cpumask_of(other));
        }
    }
    return error ? error : shot->error;
}

/* Zeros behind that many bytes, up to a multiple of `to`, which is returned. */
static size_t pad(void *base, size_t bytes, size_t to)
{
    memset((char *)base + bytes, 0, ALIGN(bytes, to) - bytes);
    return ALIGN(bytes, to);
}

/* Owners of the lines of a shot, to owners_at of the snapshot that begins at `base` and may take
   `room` bytes. */
static int add_owners(struct cacheflow_snapshot *head, struct resolver *resolver,
                      const struct shot *shot, char *base, size_t room)
{
    const u64 begin = ktime_get_ns();
    /* The room is a multiple of 64, as every size in the buffer is. */
    const size_t most = (room - head->owners_at) / sizeof(struct cacheflow_owner);
    int error;

    if (!resolver)
        return 0;
    error = resolver_run(resolver, shot->lines, shot->entries,
                         (struct cacheflow_owner *)(base + head->owners_at),
                         (u32)min_t(size_t, most, U32_MAX), &head->owners, &head->owners_missing);
    head->flags |= CACHEFLOW_SNAP_RESOLVED;
    if (head->owners_missing)
        head->flags |= CACHEFLOW_SNAP_TRUNCATED;
    head->resolve_ns = ktime_get_ns() - begin;
    return error;
}

static void describe(struct cacheflow_snapshot *head, const struct cacheflow_ram *geometry,
                     const struct shot *shot)
{
    head->abi = CACHEFLOW_ABI;
    head->header_bytes = sizeof(*head);
    head->time_ns = shot->time_ns;
    head->cost_cycles = shot->cost_cycles;
    head->cost_ns = shot->cost_ns;
    head->cycles_source = shot->cycles_source;
    head->ram = shot->ram;
    head->level = geometry->level;
    head->cpu = shot->cpu;
    head->sets = geometry->sets;
    head->ways = geometry->ways;
    head->line_size = geometry->line_size;
    head->entries = shot->entries;
    head->entry_bytes = sizeof(struct cacheflow_line);
    head->owner_bytes = sizeof(struct cacheflow_owner);
}

/* The magic last: then all of it is there. What follows is not a snapshot yet. */
static void publish(const struct shutter_buffer *buffer, struct cacheflow_snapshot *header,
                    const struct cacheflow_snapshot *head)
{
    memcpy(header, head, sizeof(*head));
    if (buffer->size - buffer->used - head->bytes >= sizeof(*header))
        ((struct cacheflow_snapshot *)((char *)header + head->bytes))->magic = 0;
    wmb();
    WRITE_ONCE(header->magic, CACHEFLOW_MAGIC);
}

int shutter_take(struct shutter_buffer *buffer, const struct shutter_backend *backend,
                 const struct cacheflow_ram *geometry, const struct cacheflow_config *config,
                 u64 number, struct cacheflow_shot *result)
{
    u64 begin = ktime_get_ns();
    size_t room = shutter_room(buffer, config->flags), bytes;
    struct cacheflow_snapshot *header = (void *)(buffer->base + buffer->size - room);
    struct cacheflow_snapshot head = {};
    struct resolver *resolver = NULL;
    struct shot shot = {.backend = backend,
                        .geometry = geometry,
                        .lines = (struct cacheflow_line *)(header + 1),
                        .ram = config->ram,
                        .error = -ENODEV};
    int error;

    if (room < shutter_bytes(geometry, config->flags))
        return -ENOSPC;
    if (config->flags & CACHEFLOW_RESOLVE) {
        resolver = resolver_make(geometry->sets * geometry->ways);
        if (!resolver)
            return -ENOMEM;
    }
    if (config->flags & CACHEFLOW_REPLACE)
        buffer_discard(buffer);
    /* Until the header is complete, who walks through a mapping finds the end here. */
    WRITE_ONCE(header->magic, 0);
    error = stop_and_read(&shot, config->cpu);
    if (error)
        goto done;

    bytes = pad(header, sizeof(head) + shot.entries * sizeof(struct cacheflow_line), 8);
    head.flags = geometry->flags & CACHEFLOW_RAM_VIRTUAL ? CACHEFLOW_SNAP_VIRTUAL : 0;
    head.owners_at = (u32)bytes;
    error = add_owners(&head, resolver, &shot, (char *)header, room);
    if (error)
        goto done;
    bytes = pad(header, bytes + head.owners * sizeof(struct cacheflow_owner), 64);
    describe(&head, geometry, &shot);
    head.bytes = bytes;
    head.number = number;
    publish(buffer, header, &head);

    *result = (struct cacheflow_shot){.number = number,
                                      .offset = buffer->used,
                                      .bytes = bytes,
                                      .time_ns = shot.time_ns,
                                      .cost_cycles = shot.cost_cycles,
                                      .cost_ns = shot.cost_ns,
                                      .total_ns = ktime_get_ns() - begin,
                                      .entries = shot.entries,
                                      .owners = head.owners,
                                      .flags = head.flags};
    buffer->used += bytes;
    buffer->snapshots++;
done:
    resolver_free(resolver);
    return error;
}
