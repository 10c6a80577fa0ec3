/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the checks that run inside a guest kernel. Each check is one process: it returns when
 * all is as it must be and ends by bad() when not. What went wrong is told on the console, from
 * where the suites outside read it.
 */
#ifndef CACHEFLOW_CHECK_H
#define CACHEFLOW_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "tests/guest/tagram.h"

/* Ends the check as failed. */
void bad(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* Adds to what is told of a check that passes. */
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));

#define MUST(condition, ...)                                                                       \
    do {                                                                                           \
        if (!(condition))                                                                          \
            bad(__VA_ARGS__);                                                                      \
    } while (0)

/* Opens the device, configured. */
int device_open(uint32_t ram, int32_t cpu, uint32_t flags);

/* Puts these lines, and nothing else, into a tag memory. */
void tags_fill(uint32_t ram, const struct cacheflow_line *lines, uint32_t count, uint32_t noise);

/* A snapshot in memory of ours, checked for what every snapshot must hold. */
struct snapshot {
    struct cacheflow_shot shot;
    const struct cacheflow_snapshot *header;
    const struct cacheflow_line *lines;
    const struct cacheflow_owner *owners;
};

/* Takes one and reads it. It stays valid until the next call. Ends the check on any error. */
struct snapshot snapshot_take(int device);

/* Reads the one that `shot` tells of. */
struct snapshot snapshot_read(int device, const struct cacheflow_shot *shot);

/* check_memory.c, for check_owners.c */
#define PAGE 4096u
pid_t fork_leaderless(const volatile char *shared, uint32_t count);
char *map_hugetlb(int *file);
uint64_t offline_frame(void);
void check_addresses(int device);

/* ns, after which what has not happened never will, on however busy a machine. */
#define PATIENCE UINT64_C(600000000000)

uint32_t random_u32(void);
uint64_t now_ns(void);
uint64_t file_number(const char *path, const char *key); /* of /proc/meminfo and the like */

/* check_leak.c: objects that are allocated, of slab caches whose name begins so, by callers with
   that in their names. */
uint32_t slab_objects(const char *cache, const char *caller);

static inline void line_set_phys(struct cacheflow_line *line, uint64_t phys)
{
    line->frame_low = (uint32_t)(phys >> 6);
    line->frame_high = (uint16_t)(phys >> 38);
}

/* The checks, by name in check.c. */
void check_fill(int argc, char **argv);
void check_full(int argc, char **argv);
void check_replace(int argc, char **argv);
void check_owners(int argc, char **argv);
void check_free(int argc, char **argv);
void check_hugetlb(int argc, char **argv);
void check_geometry(int argc, char **argv);
void check_truncated(int argc, char **argv);
void check_zeros(int argc, char **argv);
void check_reused(int argc, char **argv);
void check_info(int argc, char **argv);
void check_freeze(int argc, char **argv);
void check_cost(int argc, char **argv);
void check_leak(int argc, char **argv);
void check_clients(int argc, char **argv);
void check_stuck(int argc, char **argv);
void check_unplug(int argc, char **argv);
void check_fuzz(int argc, char **argv);
void check_rights(int argc, char **argv);
void check_unload(int argc, char **argv);
void check_refused(int argc, char **argv);
void check_map(int argc, char **argv);

/* Those of pagectl.ko. */
void check_pages_info(int argc, char **argv);
void check_pages_set(int argc, char **argv);
void check_pages_fault(int argc, char **argv);
void check_pages_data(int argc, char **argv);
void check_pages_busy(int argc, char **argv);
void check_pages_change(int argc, char **argv);
void check_pages_yield(int argc, char **argv);
void check_pages_end(int argc, char **argv);
void check_pages_unload(int argc, char **argv);
void check_pages_errors(int argc, char **argv);
void check_pages_rights(int argc, char **argv);
void check_pages_fuzz(int argc, char **argv);
void check_pages_leak(int argc, char **argv);
void check_pages_huge(int argc, char **argv);
void check_pages_move(int argc, char **argv);

#endif
