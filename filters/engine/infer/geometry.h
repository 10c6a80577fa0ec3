/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * geometry.h - size, ways and line of a cache on which all experiments on it agree best.
 *
 * Every triple that some experiment allows is weighed by the product of the chances that all of
 * them give it (change.h), which takes them for independent; a number of sets that is no power of
 * two ("Usually [...] a power of two", Abel and Reineke, section 3) counts a fiftieth, which
 * decides only where the experiments do not, such as steps of 1 KiB between which several sizes
 * lie. A line divides the size of a way, and ways times lines divide the size. An experiment that
 * has, with the triple that is chosen, a fiftieth of its own best chance contradicts it: then
 * what it measures is not known. Lines of a set that all fit say that there are as many ways, and
 * contradict fewer.
 *
 * Memory: 40 bytes a triple, at most 65,536 of them.
 */
#ifndef CF_GEOMETRY_H
#define CF_GEOMETRY_H

#include "filters/engine/infer/change.h"

enum cf_trait { CF_TRAIT_SIZE, CF_TRAIT_WAYS, CF_TRAIT_LINE, CF_TRAITS };

/* What an experiment measures. */
enum cf_measures { CF_OF_SIZE, CF_OF_WAYS, CF_OF_LINE, CF_OF_WAY_SIZE };

struct cf_evidence {
    enum cf_measures of;
    const char *name; /* of the experiment */
    const struct cf_change *change;
    uint64_t unit; /* of which the size is a multiple; 0 and 1 are the same */
};

struct cf_estimate {
    uint64_t value; /* 0: none */
    uint64_t least, most;
    double confidence;
    unsigned by;       /* experiments that say so, by bit as in the evidence */
    int against, with; /* which of them contradict each other, or -1 */
};

/* estimate[CF_TRAITS]. No line is shorter than `least_line`, that of the level before, or 0.
   -1 without memory. */
int cf_geometry_agree(struct cf_estimate *estimate, const struct cf_evidence *e, unsigned count,
                      uint64_t least_line) CF_MUST_CHECK;

#endif
