/* SPDX-License-Identifier: BSD-2-Clause */
/* diff_sums.h - what changed between snapshots, summed for each process or each set. */
#ifndef DIFF_SUMS_H
#define DIFF_SUMS_H

#include "filters/engine/snapshot/changes.h"
#include "filters/engine/snapshot/tasks.h"
#include "formats/program/cf_tool.h"

struct diff_sums;

struct diff_sums *diff_sums_new(const struct cf_tool *t);
void diff_sums_free(struct diff_sums *s);

/* For cf_changes_add(), with a struct diff_sums: -1 without memory. */
int diff_take_set(void *arg, const struct cf_tags *t, size_t slot, uint32_t set,
                  enum cf_change kind);
int diff_take_processes(void *arg, const struct cf_tags *t, size_t slot, uint32_t set,
                        enum cf_change kind);

/* CSV, by rising number: of processes with the names that `tasks` has, of sets where it is NULL. */
void diff_print_sums(const struct diff_sums *s, const struct cf_counts *tasks,
                     const struct cf_reader *r);

#endif
