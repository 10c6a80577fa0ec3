/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * counters.c - what a LEON's statistics unit counted, as a monitor shows it: figures 3 and 5 of
 * Ntogramatzi, Katsaros, Nikolaidis: Cache activity profiling tool for the LEON4 processor.
 *
 *     CPU/AHBM   DESCRIPTION                VALUE
 *     0: 0       all instructions           0000031529
 *
 * The first number is that of the counter, the second that of the processor or bus master.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "filters/parts/report/report.h"
#include "formats/base/cf_memory.h"
#include "formats/base/cf_number.h"

enum { MOST_COUNTERS = 1024 };

static const char *skip_blanks(const char *p)
{
    while (*p == ' ' || *p == '\t')
        p++;
    return p;
}

/* 1: a counter. 0: another line. -1: begins like a counter. */
static int parse_line(const char *p, uint64_t *cpu, struct counter *c)
{
    uint64_t index;
    const char *end;
    size_t length;

    p = cf_scan_number(skip_blanks(p), CF_READ_DECIMAL, &index);
    if (!p || *skip_blanks(p) != ':')
        return 0;
    p = cf_scan_number(skip_blanks(skip_blanks(p) + 1), CF_READ_DECIMAL, cpu);
    if (!p)
        return -1;
    p = skip_blanks(p);
    end = p + strlen(p);
    while (end > p && isspace((unsigned char)end[-1]))
        end--;
    length = (size_t)(end - p);
    while (length && isdigit((unsigned char)p[length - 1]))
        length--;
    /* the number stands apart, and is the end of the line */
    if (length == 0 || !isspace((unsigned char)p[length - 1]) ||
        cf_scan_number(p + length, CF_READ_DECIMAL, &c->value) != end)
        return -1;
    while (length && isspace((unsigned char)p[length - 1]))
        length--;
    if (length == 0 || length >= sizeof(c->name))
        return -1;
    memcpy(c->name, p, length);
    c->name[length] = '\0';
    return 1;
}

static void add(struct report *r, struct counters *c, const struct counter *new)
{
    for (size_t i = 0; i < c->count; i++)
        if (!strcmp(c->counter[i].name, new->name)) {
            c->counter[i].value = cf_sum(c->counter[i].value, new->value);
            return;
        }
    if (c->count == MOST_COUNTERS)
        cf_die(&r->tool, CF_EXIT_INPUT, "%s:%" PRIu64 ": more than %d counters", r->o.counters,
               new->at, MOST_COUNTERS);
    cf_must(&r->tool, cf_array_room(&c->counter, &c->room, c->count + 1, sizeof(*c->counter)));
    c->counter[c->count++] = *new;
}

void counters_read(struct report *r, const char *file, struct counters *c)
{
    FILE *in = fopen(file, "r");
    char *line = NULL;
    size_t room = 0;
    struct counter one = {.at = 0};
    uint64_t cpu;
    ssize_t n;
    int bad = 0;

    *c = (struct counters){NULL, 0, 0};
    if (!in)
        cf_die(&r->tool, cf_is_refusal(errno) ? CF_EXIT_ENVIRONMENT : CF_EXIT_INPUT, "%s: %s", file,
               strerror(errno));
    while ((n = getline(&line, &room, in)) >= 0) {
        int kind;

        /* The last number may have lost digits, and the reading may have failed there. */
        if (n == 0 || line[n - 1] != '\n')
            break;
        one.at++;
        kind = parse_line(line, &cpu, &one);
        if (kind < 0 && !bad) {
            bad = 1;
            cf_warn(&r->tool,
                    "%s:%" PRIu64 ": not a counter, as in '0: 0  icache miss  0000000246': passed "
                    "over",
                    file, one.at);
        }
        if (kind > 0 && (r->o.cpu < 0 || cpu == (uint64_t)r->o.cpu))
            add(r, c, &one);
    }
    if (!feof(in)) { /* getline() takes memory too */
        if (cf_is_refusal(errno))
            cf_die(&r->tool, CF_EXIT_ENVIRONMENT, "%s:%" PRIu64 ": %s", file, one.at + 1,
                   strerror(errno));
        cf_warn(&r->tool, "%s:%" PRIu64 ": %s", file, one.at + 1, strerror(errno));
        bad = 1;
    } else if (n >= 0) {
        cf_warn(&r->tool,
                "%s:%" PRIu64 ": the last line has no newline at its end: it may have been cut off "
                "and is left out",
                file, one.at + 1);
        bad = 1;
    }
    if (c->count == 0 && !bad)
        cf_warn(&r->tool, "%s: no counter in it, as in '0: 0  icache miss  0000000246'", file);
    if (c->count == 0 || bad)
        cf_tool_note(&r->tool, CF_EXIT_INPUT);
    free(line);
    fclose(in);
}

const struct counter *counters_find(const struct counters *c, const char *name)
{
    for (size_t i = 0; i < c->count; i++)
        if (!strcasecmp(c->counter[i].name, name))
            return &c->counter[i];
    return NULL;
}

void counters_free(struct counters *c)
{
    free(c->counter);
    c->counter = NULL;
    c->count = 0;
}
