/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * emit.h - what the decoder hands over becomes rows of a stream.
 */
#ifndef CF_RECORD_EMIT_H
#define CF_RECORD_EMIT_H

#include <stdint.h>

#include "capture/record/decode.h"
#include "formats/stream/cf.h"

struct cf_record_emit {
    struct cf_writer *writer;
    int instructions; /* accesses have column insns, */
    int processors;   /* and cpu */
    uint64_t objects; /* rows of heap blocks so far */
};

/* The functions that write to e->writer; `e` must stay. */
struct cf_record_handler cf_record_emit_handler(struct cf_record_emit *e);

#endif
