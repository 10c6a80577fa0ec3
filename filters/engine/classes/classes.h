/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * classes.h - why an access missed the cache: the codes of column `class`.
 *
 * Codes below 16 are in the order in which their misses can be avoided: where several lines of one
 * access missed, the access carries the greatest. Codes never change their meaning; rules of their
 * own take new ones.
 */
#ifndef CF_CLASSES_H
#define CF_CLASSES_H

#include <stdint.h>

enum cf_class {
    CF_CLASS_NONE = 0,          /* no miss, or not classified */
    CF_CLASS_COMPULSORY = 1,    /* a cache without bounds would have missed */
    CF_CLASS_CAPACITY = 2,      /* a fully associative LRU cache of equal size would have missed */
    CF_CLASS_CONFLICT = 3,      /* it would have hit */
    CF_CLASS_TRUE_SHARING = 4,  /* lost to another core, which wrote what is accessed now */
    CF_CLASS_FALSE_SHARING = 5, /* lost to another core, which wrote only other words */
    CF_CLASSES = 6,
    CF_CLASS_UNCLASSIFIED = 16, /* hardware missed though the model hits; or of no class (leon4) */
};

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

/* "none", "compulsory", "capacity", ...; NULL for a code that is not listed. */
const char *cf_class_name(unsigned code);
/* CF_CLASSES where no class has this name; codes below and above it otherwise. */
unsigned cf_class_find(const char *name);

#endif
