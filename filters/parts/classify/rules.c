/* SPDX-License-Identifier: BSD-2-Clause */
/* rules.c - the table of rules, and the summary that all of them print. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "filters/parts/classify/classify.h"

const struct rule *const rules[] = {&rule_hill, &rule_leon4, NULL};

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

void print_counts_header(void)
{
    fputs("level,op,references,misses", stdout);
    for (unsigned k = CF_CLASS_COMPULSORY; k < CF_CLASSES; k++)
        cf_csv_text(stdout, 0, cf_class_name(k));
    cf_csv_end(stdout);
}

void print_counts(const char *level, const struct cf_class_counts *counts)
{
    for (unsigned op = CF_LOAD; op < CF_CLASS_OPS; op++) {
        uint64_t misses = 0;

        if (!counts->references[op])
            continue;
        for (unsigned k = CF_CLASS_COMPULSORY; k < CF_CLASSES; k++)
            misses += counts->misses[op][k];
        cf_csv_print(stdout, "%s,%s,%" PRIu64 ",%" PRIu64, level, cf_op_name(op),
                     counts->references[op], misses);
        for (unsigned k = CF_CLASS_COMPULSORY; k < CF_CLASSES; k++)
            cf_csv_u64(stdout, 0, counts->misses[op][k]);
        cf_csv_end(stdout);
    }
}
