/* SPDX-License-Identifier: BSD-2-Clause */
/* classes.h - misses counted by class (enum cf_class). */
#ifndef CF_CLASSES_H
#define CF_CLASSES_H

#include <stdint.h>

#include "formats/stream/cf.h"

enum { CF_CLASS_OPS = 6 };

/* Line references, by operation (enum cf_op; an unknown one is a load), and those that missed by
   class. */
struct cf_class_counts {
    uint64_t references[CF_CLASS_OPS];
    uint64_t misses[CF_CLASS_OPS][CF_CLASSES];
};

/* A row has the greatest class of its lines. */
static inline void cf_class_raise(uint8_t *row, uint8_t class)
{
    *row = *row > class ? *row : class;
}

#endif
