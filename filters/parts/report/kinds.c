/* SPDX-License-Identifier: BSD-2-Clause */
/* kinds.c - the table of kinds of report. */
#include <string.h>

#include "filters/parts/report/report.h"

const struct kind *const kinds[] = {&kind_leon4, NULL};

const struct kind *find_kind(const char *name)
{
    for (unsigned i = 0; kinds[i]; i++)
        if (!strcmp(kinds[i]->name, name))
            return kinds[i];
    return NULL;
}
