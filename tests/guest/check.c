// SPDX-License-Identifier: BSD-2-Clause
/*
 * check NAME [ARGUMENT...]: one check of cacheflow.ko or pagectl.ko, inside a guest. Prints one
 * line to the console, CHECK ok NAME: what was measured     or     CHECK FAILED NAME: what is wrong
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "tests/guest/check.h"

static const char *name = "check";
static char notes[512];

void bad(const char *format, ...)
{
    char text[400];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    printf("CHECK FAILED %s: %s\n", name, text);
    fflush(stdout);
    _exit(1);
}

void note(const char *format, ...)
{
    size_t used = strlen(notes);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(notes + used, sizeof notes - used, format, arguments);
    va_end(arguments);
}

uint32_t random_u32(void)
{
    static uint32_t state = 2463534242u;

    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t file_number(const char *path, const char *key)
{
    FILE *file = fopen(path, "r");
    char line[256];
    uint64_t number = 0;
    bool found = false;

    MUST(file, "%s: %s", path, strerror(errno));
    while (!found && fgets(line, sizeof line, file)) {
        found = strncmp(line, key, strlen(key)) == 0;
        if (found)
            number = strtoull(line + strlen(key), NULL, 10);
    }
    fclose(file);
    MUST(found, "%s: no %s", path, key);
    return number;
}

int device_open(uint32_t ram, int32_t cpu, uint32_t flags)
{
    struct cacheflow_config config = {.ram = ram, .cpu = cpu, .flags = flags};
    int device = open(CACHEFLOW_DEVICE, O_RDONLY);

    MUST(device >= 0, "%s: %s", CACHEFLOW_DEVICE, strerror(errno));
    MUST(ioctl(device, CACHEFLOW_CONFIGURE, &config) == 0, "CONFIGURE: %s", strerror(errno));
    return device;
}

void tags_fill(uint32_t ram, const struct cacheflow_line *lines, uint32_t count, uint32_t noise)
{
    struct tagram_content *content;
    size_t size = sizeof *content + count * sizeof *lines;
    int tagram = open("/dev/tagram", O_WRONLY);

    MUST(tagram >= 0, "/dev/tagram: %s", strerror(errno));
    content = malloc(size);
    MUST(content, "no memory");
    *content = (struct tagram_content){.ram = ram, .count = count, .noise = noise};
    memcpy(content + 1, lines, count * sizeof *lines);
    MUST(write(tagram, content, size) == (ssize_t)size, "/dev/tagram: %s", strerror(errno));
    free(content);
    close(tagram);
}

struct snapshot snapshot_read(int device, const struct cacheflow_shot *shot)
{
    static char *bytes;
    static size_t room;
    struct snapshot s = {.shot = *shot};
    const struct cacheflow_snapshot *h;
    uint64_t owners_at;

    if (shot->bytes > room) {
        room = shot->bytes;
        free(bytes);
        bytes = malloc(room);
        MUST(bytes, "no memory for %zu bytes", room);
    }
    for (uint64_t have = 0; have < shot->bytes;) {
        ssize_t got = pread(device, bytes + have, shot->bytes - have, (off_t)(shot->offset + have));

        MUST(got > 0, "pread at %llu: %zd %s", (unsigned long long)(shot->offset + have), got,
             strerror(errno));
        have += (uint64_t)got;
    }
    s.header = h = (const struct cacheflow_snapshot *)bytes;
    s.lines = (const struct cacheflow_line *)(bytes + h->header_bytes);
    s.owners = (const struct cacheflow_owner *)(bytes + h->owners_at);

    MUST(h->magic == CACHEFLOW_MAGIC && h->abi == CACHEFLOW_ABI && h->header_bytes == sizeof *h,
         "the header is not one: magic 0x%x, abi %u, %u bytes", h->magic, h->abi, h->header_bytes);
    MUST(h->number == shot->number && h->bytes == shot->bytes && h->time_ns == shot->time_ns &&
             h->cost_cycles == shot->cost_cycles && h->cost_ns == shot->cost_ns &&
             h->entries == shot->entries && h->owners == shot->owners && h->flags == shot->flags,
         "header and answer differ");
    owners_at = (sizeof *h + (uint64_t)h->entries * sizeof *s.lines + 7) / 8 * 8;
    MUST(h->entry_bytes == sizeof *s.lines && h->owner_bytes == sizeof *s.owners &&
             h->owners_at == owners_at &&
             h->bytes == (owners_at + (uint64_t)h->owners * sizeof *s.owners + 63) / 64 * 64,
         "sizes in the header do not add up");
    MUST(h->entries <= h->sets * h->ways, "%u entries in %u sets of %u ways", h->entries, h->sets,
         h->ways);
    for (uint64_t i = owners_at + h->owners * sizeof *s.owners; i < h->bytes; i++)
        MUST(bytes[i] == 0, "byte %llu of the padding is not 0", (unsigned long long)i);
    return s;
}

struct snapshot snapshot_take(int device)
{
    struct cacheflow_shot shot;

    MUST(ioctl(device, CACHEFLOW_SNAPSHOT, &shot) == 0, "SNAPSHOT: %s", strerror(errno));
    return snapshot_read(device, &shot);
}

static const struct {
    const char *name;
    void (*run)(int argc, char **argv);
} checks[] = {
    {"info", check_info},
    {"fill", check_fill},
    {"full", check_full},
    {"replace", check_replace},
    {"owners", check_owners},
    {"free", check_free},
    {"freeze", check_freeze},
    {"cost", check_cost},
    {"leak", check_leak},
    {"clients", check_clients},
    {"unplug", check_unplug},
    {"fuzz", check_fuzz},
    {"rights", check_rights},
    {"unload", check_unload},
    {"map", check_map},
    {"truncated", check_truncated},
    {"zeros", check_zeros},
    {"reused", check_reused},
    {"stuck", check_stuck},
    {"hugetlb", check_hugetlb},
    {"geometry", check_geometry},
    {"refused", check_refused},
    {"pages_info", check_pages_info},
    {"pages_set", check_pages_set},
    {"pages_fault", check_pages_fault},
    {"pages_data", check_pages_data},
    {"pages_busy", check_pages_busy},
    {"pages_change", check_pages_change},
    {"pages_yield", check_pages_yield},
    {"pages_end", check_pages_end},
    {"pages_unload", check_pages_unload},
    {"pages_errors", check_pages_errors},
    {"pages_rights", check_pages_rights},
    {"pages_fuzz", check_pages_fuzz},
    {"pages_leak", check_pages_leak},
    {"pages_huge", check_pages_huge},
    {"pages_move", check_pages_move},
};

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    /* A name may say more behind a dot, such as fill.l1d, to tell two runs of one check apart. */
    name = argv[1];
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        size_t length = strlen(checks[i].name);

        if (strncmp(name, checks[i].name, length) == 0 &&
            (name[length] == '\0' || name[length] == '.')) {
            uint64_t begin = now_ns();

            checks[i].run(argc - 2, argv + 2);
            printf("CHECK ok %s: %s%s%.1f s\n", name, notes, *notes ? ", " : "",
                   (double)(now_ns() - begin) / 1e9);
            return 0;
        }
    }
    bad("no such check");
}
