/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * heap.c - heap objects beside the samples. See heap.h.
 */
#include <stdlib.h>
#include <string.h>

#include "capture/perf/heap.h"

enum { SECOND = 1000000000 };

void cf_heap_begin(struct cf_heap *h, struct cf_tool *t, const struct cf_heap_options *o,
                   struct cf_writer *w, uint64_t origin)
{
    const struct cf_alloc_options options = {
        .depth = o->depth, .throttle = o->throttle && o->least, .origin = origin};
    char text[512];

    *h = (struct cf_heap){.tool = t, .o = *o};
    if (o->none)
        return;
    h->alloc = cf_alloc_begin(&options, w, text, sizeof text);
    if (!h->alloc)
        cf_warn(t, "no heap objects are recorded: %s", text);
}

int cf_heap_program(struct cf_heap *h, const char *path)
{
    const char *why = h->alloc ? cf_alloc_refuses(path) : NULL;
    char *file = why ? realpath(path, NULL) : NULL;

    for (unsigned i = 0; file && i < h->programs; i++)
        if (strcmp(h->program[i], file) == 0) {
            free(file);
            return 0;
        }
    if (!file || h->programs == CF_HEAP_PROGRAMS) {
        free(file);
        return !why;
    }
    h->program[h->programs++] = file;
    cf_warn(h->tool, "%s %s: its heap objects are missing", path, why);
    return 0;
}

void cf_heap_environment(const struct cf_heap *h)
{
    if (h->alloc && cf_alloc_environment(h->alloc) != 0)
        cf_out_of_memory(h->tool);
}

const char *cf_heap_library(const struct cf_heap *h)
{
    return h->alloc ? cf_alloc_library(h->alloc) : NULL;
}

uint64_t cf_heap_known(struct cf_heap *h)
{
    return h->alloc ? cf_alloc_known(h->alloc) : UINT64_MAX;
}

int cf_heap_pause(const struct cf_heap *h, int most)
{
    const int ms = h->alloc ? cf_alloc_pause(h->alloc) : most;

    return ms < most ? ms : most;
}

int cf_heap_sampled(struct cf_heap *h, uint32_t pid, uint64_t addr, uint64_t weight, int missed)
{
    return h->alloc ? cf_alloc_sampled(h->alloc, pid, addr, weight, missed) : 0;
}

int cf_heap_rows(struct cf_heap *h, uint64_t until, uint64_t now)
{
    if (!h->alloc)
        return 0;
    if (h->o.throttle && h->o.least && now - h->throttled_ns > SECOND) {
        h->throttled_ns = now;
        cf_alloc_throttle(h->alloc, h->o.throttle / 100.0, h->o.least);
    }
    return until ? cf_alloc_rows(h->alloc, until - 1) : 0;
}

int cf_heap_repeat(struct cf_heap *h)
{
    if (!h->alloc)
        return 0;
    cf_warn(h->tool, "heap objects that live now are not known in the segment that begins");
    return cf_alloc_repeat(h->alloc);
}

static void tell(const struct cf_heap *h, const struct cf_alloc_result *r)
{
    const struct {
        uint64_t count;
        const char *what;
    } missing[] = {
        {r->lost, "allocations and releases are missing: the program did not wait longer, or has "
                  "more threads than can be recorded"},
        {r->nested, "allocations and releases are missing, which a signal handler did amidst "
                    "another"},
        {r->unplaced, "processes have no heap objects: too many ran at a time"},
        {r->foreign, "processes have no heap objects: they are in another PID or time namespace"},
        {r->own, "processes have an allocator in their own program, whose heap objects are not "
                 "seen"},
        {r->unknown, "heap objects have no call stack"},
        {r->late, "rows of heap objects have a later time than they should"},
        {r->damaged, "times the program damaged what its heap objects are recorded in"},
    };

    for (unsigned i = 0; i < sizeof missing / sizeof *missing; i++)
        if (missing[i].count)
            cf_warn(h->tool, "%llu %s", (unsigned long long)missing[i].count, missing[i].what);
    if (r->sites && !h->tool->quiet)
        cf_warn(h->tool,
                "%llu allocation sites with few misses were left out, with %llu allocations "
                "(--throttle 0 keeps them)",
                (unsigned long long)r->sites, (unsigned long long)r->left_out);
}

int cf_heap_end(struct cf_heap *h)
{
    struct cf_alloc_result result;
    int status = 0;

    if (h->alloc) {
        status = cf_alloc_end(h->alloc, &result);
        tell(h, &result);
    }
    for (unsigned i = 0; i < h->programs; i++)
        free(h->program[i]);
    h->alloc = NULL;
    h->programs = 0;
    return status;
}
