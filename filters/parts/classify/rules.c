/* SPDX-License-Identifier: BSD-2-Clause */
/* rules.c - the table of rules. */
#include "filters/parts/classify/classify.h"

const struct rule *const rules[] = {&rule_hill, &rule_leon4, &rule_cacheperf, NULL};

const struct rule *find_rule(const struct cf_tool *t, const char *option, const char *name)
{
    const char *names[8];
    unsigned count = 0;

    while (rules[count]) {
        names[count] = rules[count]->name;
        count++;
    }
    return rules[cf_parse_name(t, option, name, names, sizeof *names, count)];
}
