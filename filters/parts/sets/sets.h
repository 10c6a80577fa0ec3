/* SPDX-License-Identifier: BSD-2-Clause */
/* sets.h - the part of cf-sets that writes CSV. */
#ifndef SETS_H
#define SETS_H

#include "filters/survey/survey.h"

/* A row a snapshot and process, also where it has no line in it; a row a process. */
void print_profiles(const struct cf_survey *s);
void print_summary(const struct cf_survey *s);

#endif
