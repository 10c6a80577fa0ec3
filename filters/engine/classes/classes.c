/* SPDX-License-Identifier: BSD-2-Clause */
/* classes.c - names of the classes of misses. */
#include <stddef.h>
#include <string.h>

#include "filters/engine/classes/classes.h"

static const char *const names[CF_CLASSES] = {
    [CF_CLASS_NONE] = "none",
    [CF_CLASS_COMPULSORY] = "compulsory",
    [CF_CLASS_CAPACITY] = "capacity",
    [CF_CLASS_CONFLICT] = "conflict",
    [CF_CLASS_TRUE_SHARING] = "true_sharing",
    [CF_CLASS_FALSE_SHARING] = "false_sharing",
};

static const char unclassified[] = "unclassified";

const char *cf_class_name(unsigned code)
{
    if (code == CF_CLASS_UNCLASSIFIED)
        return unclassified;
    return code < CF_CLASSES ? names[code] : NULL;
}

unsigned cf_class_find(const char *name)
{
    for (unsigned i = 0; i < CF_CLASSES; i++)
        if (!strcmp(names[i], name))
            return i;
    return strcmp(unclassified, name) ? CF_CLASSES : CF_CLASS_UNCLASSIFIED;
}
