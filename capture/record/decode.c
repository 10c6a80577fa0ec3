/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * decode.c - blocks, processes, problems. What is written goes through decode_place.c, events
 * are taken in by decode_events.c, and the rows are made in decode_rows.c of superblocks and in
 * decode_listed.c of translation blocks.
 *
 * Memory: per process the descriptions of all code that it ever translated, the templates of what
 * it ran, and 4 bytes a context.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode_parts.h"
#include "formats/base/cf_memory.h"

void cf_decode_problem(struct cf_decode *t, const char *format, ...)
{
    va_list args;

    if (t->problem[0])
        return;
    va_start(args, format);
    vsnprintf(t->problem, sizeof(t->problem), format, args);
    va_end(args);
}

int cf_decode_called(struct cf_decode *t, int result)
{
    if (result != 0)
        t->stopped = 1;
    return t->stopped ? -1 : 0;
}

int cf_decode_no_memory(struct cf_decode *t)
{
    cf_decode_problem(t, "out of memory");
    t->stopped = t->refused = 1;
    return -1;
}

void cf_decode_refused(struct cf_decode *t, const char *what, int error)
{
    cf_decode_problem(t, "%s: %s: the trace ends here", what, strerror(error));
    t->refused = 1;
}

uint64_t cf_decode_rows(const struct cf_decode *t)
{
    return t->total + t->out.rows;
}

const char *cf_decode_trouble(const struct cf_decode *t)
{
    return t->problem[0] ? t->problem : NULL;
}

int cf_decode_was_refused(const struct cf_decode *t)
{
    return t->refused;
}

uint64_t cf_decode_calls_cut(const struct cf_decode *t)
{
    return t->calls.cut;
}

uint64_t cf_decode_calls_deeper(const struct cf_decode *t)
{
    return t->calls.deeper;
}

uint64_t cf_decode_stacks_lost(const struct cf_decode *t)
{
    return t->calls.lost_stacks;
}

uint64_t cf_decode_heapless(const struct cf_decode *t)
{
    return t->heapless;
}

int cf_decode_init(struct cf_decode *t, const struct cf_decode_options *options,
                   struct cf_writer *writer)
{
    t->options = *options;
    t->writer = writer;
    t->map = cf_decode_map;
    if (options->calls && cf_calls_init(&t->calls, options->calls, &t->last_context) != 0) {
        cf_calls_free(&t->calls);
        return -1;
    }
    if (cf_rows_init(&t->rows, options, writer) == 0)
        return 0;
    cf_calls_free(&t->calls);
    return -1;
}

void cf_decode_free(struct cf_decode *t)
{
    cf_rows_free(&t->rows);
    cf_calls_free(&t->calls);
}

/* The program that a process runs, and where calls are followed, how its first thread begins. */
static int begin_calls(struct cf_decode *t, struct cf_decode_process *p,
                       struct cf_decode_process *parent, uint32_t fork)
{
    uint32_t nodes = 0;

    if (!t->options.calls)
        return 0;
    if (parent && !cf_calls_forked(&parent->forks, fork, &p->first, &nodes))
        t->calls.lost_stacks++;
    p->image = cf_calls_image(&t->calls, p->pid, parent ? parent->image : 0, nodes);
    return p->image && (p->first.stacks || cf_calls_thread_init(&p->first) == 0) ? 0 : -1;
}

int cf_decode_process_init(struct cf_decode *t, struct cf_decode_process *p)
{
    p->running = CF_DECODE_NO_THREAD;
    p->n_contexts = 1;
    if (begin_calls(t, p, NULL, 0) != 0)
        return -1;
    return cf_array_cleared(&p->contexts, &p->contexts_room, 1024, sizeof(*p->contexts)) != 0 ||
                   cf_rows_code_init(&p->code) != 0
               ? -1
               : 0;
}

int cf_decode_process_inherit(struct cf_decode *t, struct cf_decode_process *p,
                              struct cf_decode_process *parent, uint32_t outcomes,
                              uint32_t contexts, uint32_t fork)
{
    p->running = CF_DECODE_NO_THREAD;
    if (outcomes < 1 || outcomes > parent->code.outcomes || contexts < 1 ||
        contexts > parent->n_contexts)
        return -2;
    if (begin_calls(t, p, parent, fork) != 0 ||
        cf_array_room(&p->contexts, &p->contexts_room, contexts, sizeof(*p->contexts)) != 0 ||
        cf_rows_code_inherit(&p->code, &parent->code, outcomes) != 0)
        return -1;
    memcpy(p->contexts, parent->contexts, contexts * sizeof(*p->contexts));
    p->n_contexts = contexts;
    return 0;
}

void cf_decode_process_free(struct cf_decode_process *p)
{
    cf_rows_code_free(&p->code);
    for (int i = 0; i < p->n_threads; i++)
        cf_calls_thread_free(&p->threads[i].calls);
    cf_calls_thread_free(&p->first);
    cf_calls_forks_free(&p->forks);
    free(p->contexts);
    free(p->threads);
}

int cf_decode_block(struct cf_decode *t, struct cf_decode_process *p, const uint8_t *from,
                    const uint8_t *end)
{
    struct cf_rows_thread thread;
    struct cf_stretches *stretches;
    enum cf_rows_result result;
    int r = 0;

    if (t->current != p) {
        if (cf_decode_end_repeat(t) != 0)
            return -1;
        cf_decode_pause(t);
        t->current = p;
        if (cf_decode_resume(t) != 0)
            return -1;
    }
    while (r == 0 && from < end && !t->stopping) {
        uint32_t staged = 0;

        if (p->code.listed) {
            r = cf_decode_listed(t, p, &from, end);
            if (r != 0 || from == end || t->stopping)
                break;
        }
        if (t->calls.nodes - t->calls.written >= CF_DECODE_CONTEXTS && cf_decode_flush(t) != 0)
            return -1;
        thread = cf_decode_running(t);
        stretches = cf_decode_stretches(t);
        if (t->stopped)
            return -1;
        result = stretches ? cf_rows_gather(&t->rows, &p->code, &thread, &from, end, stretches,
                                            &t->time, &staged)
                           : cf_rows_expand(&t->rows, &p->code, &thread, &from, end, &t->out,
                                            &t->time, &staged);
        if (stretches && cf_decode_gathered(t) != 0)
            return -1;
        switch (result) {
        case CF_ROWS_DONE:
            break;
        case CF_ROWS_FULL:
            r = cf_decode_stretches_full(t);
            break;
        case CF_ROWS_EVENT:
            r = cf_decode_event(t, p, &from, end);
            break;
        case CF_ROWS_STAGED:
            r = cf_decode_put_staged(t, staged);
            break;
        case CF_ROWS_BAD:
            r = -2;
            break;
        case CF_ROWS_MEMORY:
            r = cf_decode_no_memory(t);
            break;
        }
    }
    return r;
}
