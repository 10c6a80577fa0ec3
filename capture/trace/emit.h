/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * emit.h - what the decoder hands over becomes rows of a stream.
 */
#ifndef CF_TRACE_EMIT_H
#define CF_TRACE_EMIT_H

#include <stdint.h>

#include "capture/trace/decode.h"
#include "formats/stream/cf.h"

struct cf_trace_emit {
    struct cf_writer *writer;
    int instructions; /* accesses have column insns */
    uint64_t objects; /* rows of heap blocks so far */
};

/* The functions that write to e->writer; `e` must stay. */
struct cf_trace_handler cf_trace_emit_handler(struct cf_trace_emit *e);

#endif
