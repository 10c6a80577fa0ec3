/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * alloc.c - the shared memory: made, found by the program, given up.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "formats/files/cf_suite.h"
#include "parts.h"

#define MEMORY "cf-alloc" /* its name */

enum { DEPTH = 16, RING_BYTES = 128 << 10, ENDING_MS = 100 };

uint64_t alloc_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void give_up(struct cf_alloc *a)
{
    if (a->base)
        munmap(a->base, cfa_bytes(a->ring_words));
    if (a->fd >= 0)
        close(a->fd);
    for (unsigned i = 0; i < CFA_PROCESSES; i++)
        free(a->process[i].node);
    if (a->sites)
        sites_free(a->sites);
    free(a->edge);
    free(a->image_pid);
    free(a->library);
    free(a->path);
    free(a);
}

/* Where the library is, for LD_PRELOAD. */
static int find_library(struct cf_alloc *a, const char *library, char *text, size_t size)
{
    char beside[PATH_MAX];

    if (!library) {
        snprintf(beside, sizeof(beside), "%s/libcf-alloc.so", cf_suite_dir("libexec/cacheflow"));
        library = beside;
    }
    a->library = realpath(library, NULL);
    if (!a->library) {
        snprintf(text, size, "%s: %s: build again", library, strerror(errno));
        return -1;
    }
    if (strpbrk(a->library, " :")) {
        snprintf(text, size,
                 "%s: the dynamic linker preloads no path with a blank or colon: "
                 "install elsewhere",
                 a->library);
        return -1;
    }
    return 0;
}

static int make_memory(struct cf_alloc *a, uint32_t ring_words, uint32_t depth)
{
    const size_t bytes = cfa_bytes(ring_words);
    char *base;

    a->fd = memfd_create(MEMORY, MFD_CLOEXEC);
    if (a->fd < 0 || ftruncate(a->fd, (off_t)bytes) != 0 ||
        asprintf(&a->path, "/proc/%d/fd/%d", (int)getpid(), a->fd) < 0)
        return -1;
    base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, a->fd, 0);
    if (base == MAP_FAILED)
        return -1;
    a->base = base;
    a->ring_words = ring_words;
    a->header = (struct cfa_header *)base;
    *a->header = (struct cfa_header){.magic = CFA_MAGIC,
                                     .capture = (uint32_t)getpid(),
                                     .depth = depth,
                                     .ring_words = ring_words};
    cfa_namespaces(a->header->namespaces);
    return 0;
}

struct cf_alloc *cf_alloc_begin(const struct cf_alloc_options *o, struct cf_writer *w, char *text,
                                size_t size)
{
    const uint32_t bytes = o->ring_bytes ? o->ring_bytes : RING_BYTES, words = bytes / 8;
    struct cf_alloc *a = calloc(1, sizeof(*a));

    if (!a) {
        snprintf(text, size, "out of memory");
        return NULL;
    }
    a->fd = -1;
    a->w = w;
    a->origin = o->origin;
    a->seed = cf_seed(a);
    a->scanned = a->known = alloc_now();
    if (o->throttle) {
        a->sites = calloc(1, sizeof(*a->sites));
        if (!a->sites) {
            snprintf(text, size, "out of memory");
            give_up(a);
            return NULL;
        }
        a->sites->seed = cf_seed(a->sites);
    }
    if (find_library(a, o->library, text, size) != 0) {
        give_up(a);
        return NULL;
    }
    if (o->depth > CFA_DEPTH_MOST || words < CFA_RING_LEAST || words > CFA_RING_MOST ||
        bytes & (bytes - 1)) {
        snprintf(text, size, "a depth over %d, or a ring of %u bytes", CFA_DEPTH_MOST, bytes);
        give_up(a);
        return NULL;
    }
    if (make_memory(a, words, o->depth ? o->depth : DEPTH) != 0) {
        snprintf(text, size, "memory to share with the program: %s", strerror(errno));
        give_up(a);
        return NULL;
    }
    return a;
}

const char *cf_alloc_library(const struct cf_alloc *a)
{
    return a->library;
}

int cf_alloc_is_memory(const char *name, uint64_t bytes)
{
    static const char memory[] = "/memfd:" MEMORY;

    return strncmp(name, memory, sizeof memory - 1) == 0 && bytes > CFA_PAGE; /* not a look at it */
}

int cf_alloc_environment(const struct cf_alloc *a)
{
    const char *others = getenv("LD_PRELOAD");
    char *preload = NULL;
    int r;

    if (others && *others && asprintf(&preload, "%s:%s", a->library, others) < 0)
        return -1;
    r = setenv("LD_PRELOAD", preload ? preload : a->library, 1) != 0 ||
        setenv(CFA_VARIABLE, a->path, 1) != 0;
    free(preload);
    return r ? -1 : 0;
}

int cf_alloc_leave_out(struct cf_alloc *a, uint32_t pid, uint32_t node)
{
    for (unsigned i = 0; i < CFA_PROCESSES; i++) {
        const struct alloc_process *p = &a->process[i];

        if (!p->image || alloc_process_of(a, i)->pid != pid)
            continue;
        for (size_t stack = 1; stack < p->node_room && stack < CFA_SITES; stack++)
            if (p->node[stack] == node && node) {
                __atomic_or_fetch((uint8_t *)a->base + cfa_sites_at(i) + stack / 8,
                                  (uint8_t)(1 << stack % 8), __ATOMIC_RELAXED);
                __atomic_store_n(&a->header->throttled, 1, __ATOMIC_RELEASE);
                a->result.sites++;
                return 0;
            }
    }
    return -1;
}

int cf_alloc_sampled(struct cf_alloc *a, uint32_t pid, uint64_t addr, uint64_t weight, int missed)
{
    return a->sites ? sites_sampled(a->sites, pid, addr, weight, missed) : 0;
}

int cf_alloc_throttle(struct cf_alloc *a, double fraction, uint64_t least)
{
    struct site_count *c;
    uint32_t node = 1;
    int left_out = 0;

    while (a->sites && (c = sites_next(a->sites, &node, fraction, least)) != NULL) {
        c->left_out = 1;
        left_out += cf_alloc_leave_out(a, c->pid, node) == 0;
    }
    return left_out;
}

int cf_alloc_end(struct cf_alloc *a, struct cf_alloc_result *result)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    uint64_t until;
    int r = 0;

    __atomic_store_n(&a->header->closed, 1, __ATOMIC_SEQ_CST);
    until = alloc_now();
    for (unsigned i = 0; i < ENDING_MS; i++) {
        const uint64_t known = cf_alloc_known(a);

        if (r == 0)
            r = cf_alloc_rows(a, known);
        if (known >= until)
            break;
        nanosleep(&moment, NULL);
    }
    for (unsigned i = 0; i < CFA_RINGS; i++)
        alloc_was_read(a, i);
    for (unsigned i = 0; i < CFA_PROCESSES; i++)
        alloc_bury(a, i);
    a->result.unplaced = a->header->unplaced;
    a->result.foreign = a->header->foreign;
    if (result)
        *result = a->result;
    give_up(a);
    return r;
}
