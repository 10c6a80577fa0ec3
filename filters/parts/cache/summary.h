/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * summary.h - what each level counted, as CSV or as a table for people. Private to cf-cache.
 */
#ifndef CACHE_SUMMARY_H
#define CACHE_SUMMARY_H

#include <stdio.h>

#include "filters/engine/cache/hierarchy.h"

/* One CSV row a level, and one for memory. */
void summary_csv(FILE *out, const struct cf_machine *m, const struct cf_hierarchy *h);

/* The same for a terminal, without the columns that are zero everywhere. */
void summary_table(FILE *out, const struct cf_machine *m, const struct cf_hierarchy *h,
                   unsigned cores);

#endif
