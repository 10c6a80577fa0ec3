/* SPDX-License-Identifier: BSD-2-Clause */
/* rules.c - the table of rules, and the rows that they take. */
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

struct rows rows_of(const struct cf_frame *f, uint32_t from)
{
    const uint64_t *addr = cf_u64(f, CF_ADDR);
    const uint8_t *op = cf_u8(f, CF_OP);
    const uint32_t *size = cf_u32(f, CF_SIZE), *cpu = cf_u32(f, CF_CPU), *pid = cf_u32(f, CF_PID),
                   *tid = cf_u32(f, CF_TID);

    return (struct rows){.rows = f->rows - from < PIECE ? f->rows - from : PIECE,
                         .addr = addr + from,
                         .op = op ? op + from : NULL,
                         .size = size ? size + from : NULL,
                         .cpu = cpu ? cpu + from : NULL,
                         .pid = pid ? pid + from : NULL,
                         .tid = tid ? tid + from : NULL};
}
