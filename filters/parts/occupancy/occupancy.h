/* SPDX-License-Identifier: BSD-2-Clause */
/* occupancy.h - the part of cf-occupancy that writes CSV. */
#ifndef OCCUPANCY_H
#define OCCUPANCY_H

#include "filters/survey/survey.h"

/* A row a snapshot and group that has lines in it; a row a snapshot and a column a group. */
void print_long(const struct cf_survey *s);
void print_wide(const struct cf_survey *s);

#endif
