/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * intervals_bytes.h - how much memory a set of address ranges takes, by what it is made of.
 */
#ifndef INTERVALS_BYTES_H
#define INTERVALS_BYTES_H

#include "filters/engine/rows/intervals_parts.h"

static inline size_t intervals_bytes(const struct cf_intervals *v)
{
    size_t hints = v->near ? (((size_t)1 << v->near_bits) + KEYS) * sizeof *v->near : 0;
    return sizeof *v + v->slots_room * (sizeof *v->slots + sizeof *v->home) +
           v->blocks_room * (sizeof *v->first + sizeof *v->order) + v->pool_room * sizeof *v->pool +
           hints;
}

#endif
