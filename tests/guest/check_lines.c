// SPDX-License-Identifier: BSD-2-Clause
/*
 * What was put into the tags comes out: random fillings line by line, the buffer when it is full,
 * the buffer as mapped memory.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/guest/check.h"

/* What the states of a line can be, as each memory keeps them. */
static uint8_t random_state(uint32_t ram)
{
    static const uint8_t l2[] = {CACHEFLOW_M | CACHEFLOW_E, CACHEFLOW_S | CACHEFLOW_O, 0};
    static const uint8_t l1[] = {CACHEFLOW_M, CACHEFLOW_E, CACHEFLOW_S};
    uint32_t random = random_u32();
    uint8_t secure = random & 0x10000 ? CACHEFLOW_NON_SECURE : 0;

    if (ram == CACHEFLOW_L2_TAG) /* the reserved state seldom; the model's 0 would mean no line */
        return random % 64 == 0 ? l2[2] | CACHEFLOW_NON_SECURE : l2[random & 1] | secure;
    if (ram == CACHEFLOW_L1D_TAG)
        return l1[random % 3] | secure;
    return CACHEFLOW_VALID | secure;
}

/* A random line that can stand in this set: below 2^44, the address bits of the set in place. */
static uint64_t random_phys(uint32_t ram, uint32_t sets, uint32_t set)
{
    uint64_t phys = ((uint64_t)random_u32() << 32 | random_u32()) & 0xfffffffffc0ull;
    uint64_t same = ram == CACHEFLOW_L1I_TAG ? 0xfc0 : (uint64_t)(sets - 1) << 6;

    return (phys & ~same) | ((uint64_t)set << 6 & same);
}

/* `part`: eighths of the ways in use. */
static uint32_t random_lines(const struct cacheflow_ram *ram, uint32_t id, uint32_t part,
                             struct cacheflow_line *lines)
{
    uint32_t count = 0;

    for (uint32_t set = 0; set < ram->sets; set++) {
        for (uint32_t way = 0; way < ram->ways; way++) {
            if (part < 8 && random_u32() % 8 >= part)
                continue;
            struct cacheflow_line *line = &lines[count++];

            line_set_phys(line, random_phys(id, ram->sets, set));
            line->state = random_state(id);
            line->way = (uint8_t)way;
            line->set = set;
        }
    }
    return count;
}

static struct cacheflow_ram geometry(int device, uint32_t ram)
{
    struct cacheflow_info info;

    MUST(ioctl(device, CACHEFLOW_INFO, &info) == 0, "INFO: %s", strerror(errno));
    MUST(info.ram[ram].flags & CACHEFLOW_RAM_PRESENT, "memory %u is not present", ram);
    return info.ram[ram];
}

/* fill RAM FILLINGS SETS WAYS. Entries are read one by one, so a filling of thousands of random
   lines has every bit of a tag and every state at every way. What takes several is that a memory
   may be empty, full, or anything between, after another filling: nine parts in turn. */
void check_fill(int argc, char **argv)
{
    MUST(argc == 4, "fill RAM FILLINGS SETS WAYS");
    uint32_t id = (uint32_t)atoi(argv[0]), fillings = (uint32_t)atoi(argv[1]);
    int device = device_open(id, CACHEFLOW_CPU_ANY, CACHEFLOW_REPLACE);
    struct cacheflow_ram ram = geometry(device, id);
    struct cacheflow_line *lines = calloc(ram.sets * ram.ways, sizeof *lines);
    uint64_t total = 0, cost = 0;

    MUST(ram.sets == (uint32_t)atoi(argv[2]) && ram.ways == (uint32_t)atoi(argv[3]) &&
             ram.line_size == 64,
         "geometry is %u sets of %u ways of %u bytes", ram.sets, ram.ways, ram.line_size);
    for (uint32_t i = 0; i < fillings; i++) {
        uint32_t count = random_lines(&ram, id, i % 9, lines);
        uint32_t seed = random_u32();

        tags_fill(id, lines, count, seed);
        struct snapshot s = snapshot_take(device);

        MUST(s.header->ram == id && s.header->sets == ram.sets && s.header->ways == ram.ways &&
                 s.header->level == ram.level && s.header->line_size == 64,
             "the header has another geometry");
        MUST(s.header->entries == count, "filling %u: %u lines were put in, %u came out", i, count,
             s.header->entries);
        for (uint32_t j = 0; j < count; j++)
            MUST(memcmp(&lines[j], &s.lines[j], sizeof *lines) == 0,
                 "filling %u, line %u: set %u way %u state 0x%x address 0x%llx went in, "
                 "set %u way %u state 0x%x address 0x%llx came out",
                 i, j, lines[j].set, lines[j].way, lines[j].state,
                 (unsigned long long)cacheflow_line_phys(&lines[j]), s.lines[j].set, s.lines[j].way,
                 s.lines[j].state, (unsigned long long)cacheflow_line_phys(&s.lines[j]));
        total += count;
        cost += s.shot.cost_ns;
    }
    note("%u fillings, %llu lines, %.1f ms a snapshot", fillings, (unsigned long long)total,
         (double)cost / fillings / 1e6);
}

static uint64_t sum_of(const char *bytes, uint64_t count)
{
    uint64_t sum = 1469598103934665603u, word;

    MUST(count % sizeof word == 0, "%llu bytes are not whole words", (unsigned long long)count);
    for (uint64_t i = 0; i < count; i += sizeof word) {
        memcpy(&word, bytes + i, sizeof word);
        sum = (sum ^ word) * 1099511628211u;
    }
    return sum;
}

enum { MOST_SHOTS = 4096 };

/* Snapshots until one is refused, and their bytes; errno says why it was. */
static uint32_t fill_buffer(int device, uint64_t first, struct cacheflow_shot *shots,
                            uint64_t *used)
{
    uint32_t taken = 0;

    *used = 0;
    while (ioctl(device, CACHEFLOW_SNAPSHOT, &shots[taken]) == 0) {
        MUST(shots[taken].number == first + taken + 1, "number %llu follows %llu",
             (unsigned long long)shots[taken].number, (unsigned long long)(first + taken));
        MUST(shots[taken].offset == *used, "a snapshot at %llu and not %llu",
             (unsigned long long)shots[taken].offset, (unsigned long long)*used);
        *used += shots[taken].bytes;
        MUST(++taken < MOST_SHOTS, "no end");
    }
    return taken;
}

/* replace: a snapshot that the buffer is too small for does not cost the one before, nor does it
   make who wanted it the owner of the buffer. Needs a buffer for one without owners. */
void check_replace(int argc, char **argv)
{
    (void)argc, (void)argv;
    int device = device_open(CACHEFLOW_L2_TAG, CACHEFLOW_CPU_ANY, CACHEFLOW_REPLACE);
    int other = device_open(CACHEFLOW_L2_TAG, CACHEFLOW_CPU_ANY, CACHEFLOW_RESOLVE);
    struct cacheflow_config config = {.cpu = CACHEFLOW_CPU_ANY,
                                      .flags = CACHEFLOW_REPLACE | CACHEFLOW_RESOLVE};
    struct cacheflow_ram ram = geometry(device, CACHEFLOW_L2_TAG);
    struct cacheflow_line *lines = calloc(ram.sets * ram.ways, sizeof *lines);
    struct cacheflow_shot shot;
    struct cacheflow_state state;

    tags_fill(CACHEFLOW_L2_TAG, lines, random_lines(&ram, CACHEFLOW_L2_TAG, 8, lines), 1);
    MUST(ioctl(other, CACHEFLOW_SNAPSHOT, &shot) < 0 && errno == ENOSPC, "there is room: %s",
         strerror(errno));
    MUST(ioctl(other, CACHEFLOW_STATE, &state) == 0 && state.flags == CACHEFLOW_STATE_FULL,
         "what was refused has made an owner: flags 0x%x", state.flags);
    snapshot_take(device);
    struct snapshot kept = snapshot_take(device);

    MUST(ioctl(device, CACHEFLOW_STATE, &state) == 0 && state.snapshots == 1 &&
             state.bytes_free < state.bytes_used && !(state.flags & CACHEFLOW_STATE_FULL),
         "the next would not take the place of the first: flags 0x%x", state.flags);
    MUST(ioctl(device, CACHEFLOW_CONFIGURE, &config) == 0, "CONFIGURE: %s", strerror(errno));
    MUST(ioctl(device, CACHEFLOW_STATE, &state) == 0 && state.flags & CACHEFLOW_STATE_FULL,
         "one with owners would fit");
    MUST(ioctl(device, CACHEFLOW_SNAPSHOT, &shot) < 0 && errno == ENOSPC, "there is room: %s",
         strerror(errno));
    MUST(ioctl(device, CACHEFLOW_STATE, &state) == 0 && state.snapshots == 1 &&
             state.bytes_used == kept.shot.bytes,
         "what was refused has cost the snapshot before: %u are left", state.snapshots);
    snapshot_read(device, &kept.shot);
}

/* full RAM: a full buffer says so and keeps what it has, under every number of snapshots */
void check_full(int argc, char **argv)
{
    uint32_t id = argc > 0 ? (uint32_t)atoi(argv[0]) : CACHEFLOW_L2_TAG;
    int device = device_open(id, CACHEFLOW_CPU_ANY, 0);
    struct cacheflow_ram ram = geometry(device, id);
    struct cacheflow_line *lines = calloc(ram.sets * ram.ways, sizeof *lines);
    struct cacheflow_shot shots[MOST_SHOTS];
    struct cacheflow_state state;
    struct cacheflow_info info;
    uint32_t count, taken;
    uint64_t used, sum, first;

    MUST(ioctl(device, CACHEFLOW_DISCARD) == 0, "DISCARD: %s", strerror(errno));
    MUST(ioctl(device, CACHEFLOW_STATE, &state) == 0, "STATE: %s", strerror(errno));
    MUST(state.bytes_used == 0 && state.snapshots == 0 && !(state.flags & CACHEFLOW_STATE_FULL),
         "discarding leaves %llu bytes", (unsigned long long)state.bytes_used);
    first = state.last_number;
    ioctl(device, CACHEFLOW_INFO, &info);
    count = random_lines(&ram, id, 6, lines);
    tags_fill(id, lines, count, 1);

    taken = fill_buffer(device, first, shots, &used);
    MUST(errno == ENOSPC, "a full buffer says: %s", strerror(errno));
    MUST(taken >= info.snapshots && taken >= 2, "full after %u, of %u promised", taken,
         info.snapshots);
    MUST(info.buffer_bytes - used < info.snapshot_bytes, "full with room for one more");
    MUST(ioctl(device, CACHEFLOW_STATE, &state) == 0 && (state.flags & CACHEFLOW_STATE_FULL) &&
             state.snapshots == taken && state.bytes_used == used &&
             state.bytes_used + state.bytes_free == info.buffer_bytes &&
             state.last_number == first + taken,
         "the state does not tell of %u snapshots", taken);

    const char *map = mmap(NULL, info.buffer_bytes, PROT_READ, MAP_SHARED, device, 0);

    MUST(map != MAP_FAILED, "mmap: %s", strerror(errno));
    sum = sum_of(map, used);
    for (int i = 0; i < 3; i++)
        MUST(ioctl(device, CACHEFLOW_SNAPSHOT, &shots[taken]) < 0 && errno == ENOSPC,
             "a full buffer takes one more");
    MUST(sum_of(map, used) == sum, "a refused snapshot changed the buffer");
    for (uint32_t i = 0; i < taken; i++) {
        struct snapshot s = snapshot_read(device, &shots[i]);

        MUST(s.header->entries == count && memcmp(s.lines, lines, count * sizeof *lines) == 0,
             "snapshot %u of the full buffer is not what was taken", i);
    }
    MUST(ioctl(device, CACHEFLOW_DISCARD) == 0, "DISCARD: %s", strerror(errno));
    MUST(ioctl(device, CACHEFLOW_STATE, &state) == 0 && state.snapshots == 0 && state.discards > 0,
         "still there");
    struct snapshot last = snapshot_take(device);

    MUST(last.shot.bytes == shots[0].bytes &&
             ((const struct cacheflow_snapshot *)(map + last.shot.bytes))->magic == 0,
         "behind the last snapshot stands the header of an older one");
    note("%u snapshots", taken);
}

static bool can_map(int device, size_t size, int access, off_t offset)
{
    void *map = mmap(NULL, size, access, MAP_SHARED, device, offset);

    return map != MAP_FAILED && munmap(map, size) == 0;
}

/* map: read() and mmap() give the same, neither can be written to, neither goes past the end */
void check_map(int argc, char **argv)
{
    (void)argc, (void)argv;
    int device = device_open(CACHEFLOW_L2_TAG, CACHEFLOW_CPU_ANY, CACHEFLOW_REPLACE);
    struct cacheflow_ram ram = geometry(device, CACHEFLOW_L2_TAG);
    struct cacheflow_line *lines = calloc(ram.sets * ram.ways, sizeof *lines);
    struct cacheflow_info info;
    uint32_t count = random_lines(&ram, CACHEFLOW_L2_TAG, 4, lines);
    char byte;

    tags_fill(CACHEFLOW_L2_TAG, lines, count, 5);
    struct snapshot s = snapshot_take(device);

    ioctl(device, CACHEFLOW_INFO, &info);
    const char *map = mmap(NULL, info.buffer_bytes, PROT_READ, MAP_SHARED, device, 0);

    MUST(map != MAP_FAILED, "mmap: %s", strerror(errno));
    MUST(memcmp(map + s.shot.offset, s.header, s.shot.bytes) == 0, "mmap shows other bytes");
    MUST(mprotect((void *)map, 4096, PROT_READ | PROT_WRITE) < 0 && errno == EACCES,
         "the mapping can be made writable");
    MUST(!can_map(device, 4096, PROT_READ | PROT_WRITE, 0), "a writable mapping is given");
    MUST(!can_map(device, info.buffer_bytes + 4096, PROT_READ, 0),
         "a mapping past the buffer's end is given");
    MUST(!can_map(device, 4096, PROT_READ, (off_t)info.buffer_bytes),
         "a mapping behind the buffer is given");
    MUST(can_map(device, 4096, PROT_READ, (off_t)info.buffer_bytes - 4096),
         "the last page cannot be mapped");
    MUST(pread(device, &byte, 1, (off_t)s.shot.bytes) == 0, "there are bytes behind the end");
    MUST(lseek(device, 0, SEEK_END) == (off_t)s.shot.bytes, "SEEK_END is elsewhere");
    close(device); /* the mapping keeps the module in place */
    MUST(memcmp(map + s.shot.offset, s.header, s.shot.bytes) == 0, "mmap shows other bytes");
    note("%llu bytes", (unsigned long long)s.shot.bytes);
}
