/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * report_leon4.c - what the LEON4 profiling tool printed (Ntogramatzi, Katsaros, Nikolaidis: Cache
 * activity profiling tool for the LEON4 processor, figures 2 and 4): misses of the data cache, the
 * instruction cache and the second level, by class, and what they cost; and beside it what the
 * statistics unit counted (figures 3 and 5).
 *
 * The data cache's misses are those of loads, which is what its counter counts; a miss of the
 * second level is whatever memory served. Memory: the sums.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cf_number.h"
#include "formats/base/cf_text.h"

#include "filters/parts/report/report.h"

enum { DATA, FETCH, SECOND, CACHES, CODES = 256 };

struct sums {
    uint64_t misses[CODES]; /* by class; 0: without a class */
    uint64_t unknown;       /* hit or miss is not known */
};

struct leon4 {
    struct report *r;
    struct counters counters;
    struct sums sums[CACHES];
    uint64_t fetches, cost;
    uint64_t bare;     /* that missed the first level and have no class */
    uint64_t clock_hz; /* of the streams, 0 = not stated */
    char machine[128]; /* that the costs are of, "" = not stated */
    struct cf_mix mix;
    int has_cost, has_behind, seen;
    int off; /* there is no second level, as after reset: memory serves all misses */
};

static const char *const cache_names[CACHES] = {"dcache", "icache", "l2cache"};

/* Rows of a table, in the paper's order and words; those marked are printed only where there are
   any. */
static const struct row {
    unsigned class;
    const char *text, *item;
    int rare;
} rows[] = {{CF_CLASS_COMPULSORY, "compulsory", "compulsory", 0},
            {CF_CLASS_CONFLICT, "conflict", "conflict", 0},
            {CF_CLASS_CAPACITY, "capacity", "capacity", 0},
            {CF_CLASS_TRUE_SHARING, "true sharing", "true_sharing", 1},
            {CF_CLASS_FALSE_SHARING, "false sharing", "false_sharing", 1},
            {CF_CLASS_UNCLASSIFIED, "unclassified", "unclassified", 0}};

struct leon4 *leon4_begin(struct report *r)
{
    struct leon4 *l = cf_tool_room(&r->tool, 1, sizeof(*l));

    l->r = r;
    l->mix = (struct cf_mix){.column = {CF_HIT, CF_CLASS, CF_CLASS_BEHIND, CF_COST}};
    if (r->o.counters)
        counters_read(r, r->o.counters, &l->counters);
    return l;
}

void leon4_want(struct cf_reader *in)
{
    static const unsigned tables[] = {CF_ACCESS, CF_UNPLACED};

    for (unsigned i = 0; i < 2; i++) {
        const enum cf_need need = tables[i] == CF_ACCESS ? CF_REQUIRED : CF_OPTIONAL;

        cf_reader_want_each(in, tables[i], CF_OPTIONAL, CF_OP, CF_CPU, CF_CLASS_BEHIND, CF_COST);
        cf_reader_want_each(in, tables[i], need, CF_CLASS, CF_HIT);
    }
}

static unsigned entries(const char *list)
{
    unsigned n = 1;

    for (; *list; list++)
        n += *list == ',';
    return n;
}

/* Whether what made the columns had no caches but those whose misses have classes. */
static int is_off(const struct cf_header *h)
{
    const char *caches = cf_header_fact(h, "hit", "caches");
    const char *first = cf_header_fact(h, "class", "level");

    return caches && first && entries(caches) <= entries(first);
}

void leon4_frame(struct leon4 *l, const struct cf_frame *f)
{
    const uint8_t *op = cf_u8(f, CF_OP), *class = cf_u8(f, CF_CLASS), *hit = cf_u8(f, CF_HIT),
                  *behind = cf_u8(f, CF_CLASS_BEHIND);
    const uint32_t *cpu = cf_u32(f, CF_CPU), *cost = cf_u32(f, CF_COST);

    if (f->table == CF_HEADER) {
        const struct cf_header *h = f->header;
        const char *machine = cf_header_fact(h, "cost", "machine");

        cf_mix_check(&l->mix, &l->r->tool, h);
        if (machine)
            snprintf(l->machine, sizeof(l->machine), "%s", machine);
        l->off = is_off(h);
        if (h->clock_hz && h->clock_unit && !strcmp(h->clock_unit, "cycles"))
            l->clock_hz = h->clock_hz;
        return;
    }
    if (f->table != CF_ACCESS && f->table != CF_UNPLACED)
        return;
    l->has_cost |= cost != NULL;
    l->has_behind |= behind != NULL;
    for (uint32_t i = 0; i < f->rows; i++) {
        const unsigned o = op ? op[i] : CF_LOAD;

        if (o < CF_LOAD || o > CF_IFETCH || (l->r->o.cpu >= 0 && cpu && cpu[i] != l->r->o.cpu))
            continue;
        l->seen = 1;
        if (cost)
            l->cost = cf_sum(l->cost, cost[i]);
        l->fetches += o == CF_IFETCH;
        if (o != CF_STORE) {
            struct sums *s = &l->sums[o == CF_IFETCH ? FETCH : DATA];

            if (class && class[i])
                s->misses[class[i]]++;
            else if (!hit || hit[i] == 0)
                s->unknown++;
            else
                l->bare += hit[i] > 1;
        }
        if (hit && hit[i] == CF_FROM_MEMORY && !l->off)
            l->sums[SECOND].misses[behind ? behind[i] : 0]++;
    }
}

/* ---- printing ---- */

static uint64_t misses(const struct leon4 *l, unsigned cache)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < CODES; i++)
        sum += l->sums[cache].misses[i];
    return sum;
}

static uint64_t clock_of(const struct leon4 *l)
{
    return l->clock_hz ? l->clock_hz : l->r->machine->clock_hz;
}

static int is_rare(const struct leon4 *l, const struct row *row)
{
    uint64_t any = 0;

    for (unsigned c = 0; c < CACHES; c++)
        any += l->sums[c].misses[row->class];
    return row->rare && any == 0;
}

/* Whether the stream has the classes of this cache. */
static int has_classes(const struct leon4 *l, unsigned cache)
{
    return cache != SECOND || (l->has_behind && !l->off) || !l->seen;
}

/* What each counter is of ours. */
struct match {
    const char *counter;
    uint64_t value;
};

static unsigned find_matches(const struct leon4 *l, struct match *m)
{
    m[0] = (struct match){"all instructions", l->fetches};
    m[1] = (struct match){"icache miss", misses(l, FETCH)};
    m[2] = (struct match){"dcache miss", misses(l, DATA)};
    m[3] = (struct match){l->r->o.l2_event, misses(l, SECOND)};
    return 4;
}

static const struct match *match_of(const struct match *m, unsigned count, const char *counter)
{
    for (unsigned i = 0; i < count; i++)
        if (!strcasecmp(m[i].counter, counter))
            return &m[i];
    return NULL;
}

static void print_difference(uint64_t here, uint64_t counted)
{
    if (here == counted)
        putchar('0');
    else if (here < counted)
        printf("-%" PRIu64, counted - here);
    else
        printf("+%" PRIu64, here - counted);
}

static void print_counters(const struct leon4 *l)
{
    struct match m[4];
    const unsigned count = find_matches(l, m);

    printf("\n%-18s %12s %12s  %s\n", "counter", "counted", "here", "difference");
    for (unsigned i = 0; i < l->counters.count; i++) {
        const struct counter *c = &l->counters.counter[i];
        const struct match *of = match_of(m, count, c->name);
        char name[256];

        printf("%-18s %12" PRIu64, cf_text_safe(name, sizeof(name), c->name), c->value);
        if (of) {
            printf(" %12" PRIu64 "  ", of->value);
            print_difference(of->value, c->value);
        } else {
            printf(" %12s  %s", "-", "-");
        }
        putchar('\n');
    }
}

static void print_text(const struct leon4 *l)
{
    printf("%-14s", "");
    for (unsigned c = 0; c < CACHES; c++)
        printf(" %12s", cache_names[c]);
    printf("\n%-14s", "misses");
    for (unsigned c = 0; c < CACHES; c++)
        printf(" %12" PRIu64, misses(l, c));
    putchar('\n');
    for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        if (is_rare(l, &rows[i]))
            continue;
        printf("%-14s", rows[i].text);
        for (unsigned c = 0; c < CACHES; c++)
            if (has_classes(l, c))
                printf(" %12" PRIu64, l->sums[c].misses[rows[i].class]);
            else
                printf(" %12s", "-");
        putchar('\n');
    }
    if (l->sums[DATA].unknown || l->sums[FETCH].unknown)
        printf("%-14s %12" PRIu64 " %12" PRIu64 " %12s\n", "hit or miss?", l->sums[DATA].unknown,
               l->sums[FETCH].unknown, "-");
    if (l->off)
        puts("Second level: off, memory serves what misses the first");
    if (!l->has_cost && l->seen) {
        puts("Total cost: unknown, since there is no column cost, which cf-latency adds");
    } else {
        printf("Total cost: %" PRIu64 " cycles\n", l->cost);
        if (clock_of(l))
            printf("Total cost: %.3f us\n", (double)l->cost * 1e6 / (double)clock_of(l));
    }
    if (l->counters.count)
        print_counters(l);
}

static void csv_row(const char *cache, const char *item, uint64_t value)
{
    cf_csv_print(stdout, "%s_%s,%" PRIu64 ",,\n", cache, item, value);
}

static void print_csv(const struct leon4 *l)
{
    struct match m[4];
    const unsigned count = find_matches(l, m);

    puts("item,value,counted,difference");
    for (unsigned c = 0; c < CACHES; c++) {
        csv_row(cache_names[c], "misses", misses(l, c));
        for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++)
            if (has_classes(l, c) && !is_rare(l, &rows[i]))
                csv_row(cache_names[c], rows[i].item, l->sums[c].misses[rows[i].class]);
        if (c != SECOND)
            csv_row(cache_names[c], "unknown", l->sums[c].unknown);
    }
    if (l->has_cost || !l->seen) {
        csv_row("total", "cost_cycles", l->cost);
        if (clock_of(l))
            cf_csv_print(stdout, "total_cost_us,%.3f,,\n",
                         (double)l->cost * 1e6 / (double)clock_of(l));
    }
    for (unsigned i = 0; i < l->counters.count; i++) {
        const struct counter *c = &l->counters.counter[i];
        const struct match *of = match_of(m, count, c->name);

        cf_csv_text(stdout, 1, c->name);
        if (of) {
            cf_csv_print(stdout, ",%" PRIu64 ",%" PRIu64 ",", of->value, c->value);
            print_difference(of->value, c->value);
            putchar('\n');
        } else {
            cf_csv_print(stdout, ",,%" PRIu64 ",\n", c->value);
        }
    }
}

void leon4_print(const struct leon4 *l)
{
    const struct counter *counter = counters_find(&l->counters, l->r->o.l2_event);

    if (l->bare) {
        cf_warn(&l->r->tool,
                "%" PRIu64 " loads and fetches missed the first level by column hit and have no "
                "class: they are missing in its misses; classify those of the first level, without "
                "--level and by rule leon4 or hill",
                l->bare);
        cf_tool_note(&l->r->tool, CF_EXIT_INPUT);
    }
    if (l->has_cost && !l->clock_hz && *l->machine && strcmp(l->machine, l->r->machine->name) != 0)
        cf_warn(&l->r->tool,
                "column cost is of machine '%s', and its time by the clock of '%s': give the first "
                "with -m",
                l->machine, l->r->machine->name);
    if (l->seen && counter && !counter->value && misses(l, SECOND))
        cf_warn(&l->r->tool,
                "counter '%s' stands at 0: was the second level off, as after reset? Then give all "
                "programs -m leon4-n2x-l2-off",
                counter->name);
    if (!l->seen)
        cf_warn(&l->r->tool, "no accesses were recorded, or kept%s: all numbers are 0",
                l->r->o.cpu >= 0 ? ", of this processor" : "");
    if (l->r->o.csv)
        print_csv(l);
    else
        print_text(l);
}

void leon4_end(struct leon4 *l)
{
    cf_mix_free(&l->mix);
    counters_free(&l->counters);
}
