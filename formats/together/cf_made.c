/* SPDX-License-Identifier: BSD-2-Clause */
/* cf_made.c - of what columns were made (see cf_made.h). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cf_memory.h"
#include "formats/together/cf_made.h"

/* Stage is of the machine of level: one program adds both. */
static const unsigned modelled[] = {CF_HIT, CF_CLASS, CF_CLASS_BEHIND, CF_COST, CF_LEVEL};

enum { MODELLED = sizeof(modelled) / sizeof(*modelled), MIXED = CF_MIXED };

void cf_made_by(struct cf_made *made, const struct cf_tool *t, const struct cf_machine *m,
                unsigned cores)
{
    size_t at = 0;

    *made = (struct cf_made){.tool = t, .cores = cores};
    snprintf(made->machine, sizeof(made->machine), "%s", m->name);
    for (unsigned i = 0; i < m->levels; i++) {
        const struct cf_level *l = &m->level[i];

        at += (size_t)snprintf(made->caches + at, sizeof(made->caches) - at,
                               "%s%s %llu/%u/%u/%u %s%s%s%s", i ? ", " : "", l->name,
                               (unsigned long long)l->size, l->ways, l->line, l->shared_by,
                               cf_policy_name(l->policy), l->write_back ? "" : " through",
                               l->write_allocate ? "" : " no-allocate",
                               l->inclusion == CF_INCLUSIVE   ? " inclusive"
                               : l->inclusion == CF_EXCLUSIVE ? " exclusive"
                                                              : "");
    }
}

const char *cf_made_seed(const struct cf_tool *t, const struct cf_machine *m, uint64_t seed,
                         int draws)
{
    for (unsigned i = 0; i < m->levels; i++)
        draws |= (cf_policy_traits(m->level[i].policy) & CF_POLICY_RANDOM) != 0;
    return draws && seed != 1 ? cf_tool_text(t, "seed %llu", (unsigned long long)seed) : "";
}

void cf_made_state(const struct cf_made *made, struct cf_writer *w, unsigned column)
{
    const char *name = cf_column_name(column);

    cf_writer_forget(w, name); /* what was stated of it in the segment before */
    /* a failure shows again when the writer is closed */
    (void)cf_writer_fact(w, name, "by", made->tool->name);
    (void)cf_writer_fact(w, name, "machine", made->machine);
    (void)cf_writer_fact(w, name, "caches", made->caches);
    if (made->cores)
        (void)cf_writer_number(w, name, "cores", made->cores);
    if (made->options && *made->options)
        (void)cf_writer_fact(w, name, "options", made->options);
}

/* ---- columns beside each other ---- */

enum kind { MACHINE, CACHES, CORES, OPTIONS, RULE, LATENCY, COLUMN, OF, KINDS };

/* What columns of models state. `absent` is what a column without it has, NULL where nothing is
   known then; `advice`, where two columns of one stream can be held against each other, is what to
   do when they differ. */
static const struct {
    const char *key, *absent, *advice;
} kinds[KINDS] = {
    [MACHINE] = {"machine", NULL, "give both the same -m"},
    [CACHES] = {"caches", NULL, "give both the same -m"},
    [CORES] = {"cores", NULL, "give both the same --cores"},
    [OPTIONS] = {"options", "none", "what is made of both mixes the two"},
    [RULE] = {"rule", NULL, "what is made of both mixes the two"},
    [LATENCY] = {"latency", "", NULL},
    [COLUMN] = {"column", "", NULL},
    [OF] = {"of", "", NULL},
};

static const char *fact(const struct cf_header *h, const char *column, enum kind k)
{
    const char *value = cf_header_fact(h, column, kinds[k].key);

    return value ? value : kinds[k].absent;
}

/* As a header states it. */
struct found {
    unsigned column;
    const char *name, *by, *value[KINDS];
};

static struct found find(const struct cf_header *h, unsigned column)
{
    struct found f = {.column = column, .name = cf_column_name(column)};

    f.by = cf_header_fact(h, f.name, "by");
    f.by = f.by ? f.by : "another program";
    for (enum kind k = 0; k < KINDS; k++)
        f.value[k] = fact(h, f.name, k);
    return f;
}

/* Warns where the two disagree; 1 when they do. Where one of them states no machine, it is no
   matter. */
static int compare(const struct cf_tool *t, const struct found *a, const struct found *b)
{
    if (!a->value[MACHINE] || !b->value[MACHINE])
        return 0;
    for (enum kind k = 0; k < KINDS; k++) {
        const char *x = a->value[k], *y = b->value[k];

        if (!kinds[k].advice || !x || !y || strcmp(x, y) == 0)
            continue;
        cf_warn(t, "column %s is of %s '%s' (%s), column %s of '%s' (%s): %s", a->name,
                kinds[k].key, x, a->by, b->name, y, b->by, kinds[k].advice);
        return 1;
    }
    if (!(*a->value[OF] && b->column == CF_HIT) && !(*b->value[OF] && a->column == CF_HIT))
        return 0;
    cf_warn(t, "column cost is of an earlier column hit than the one that is there: run cf-latency "
               "again");
    return 1;
}

void cf_made_check(struct cf_made *made, const struct cf_header *h, unsigned column,
                   const unsigned *but)
{
    const unsigned own[] = {column, 0};
    struct found ours = {.column = column, .name = cf_column_name(column), .by = made->tool->name};
    char cores[24];

    snprintf(cores, sizeof(cores), "%u", made->cores);
    if (made->from)
        made->options = cf_header_fact(h, cf_column_name(made->from), kinds[OPTIONS].key);
    for (enum kind k = 0; k < KINDS; k++)
        ours.value[k] = kinds[k].absent;
    ours.value[MACHINE] = made->machine;
    ours.value[CACHES] = made->caches;
    ours.value[CORES] = made->cores ? cores : NULL;
    ours.value[RULE] = made->rule;
    if (made->options && *made->options)
        ours.value[OPTIONS] = made->options;
    for (unsigned i = 0; i < MODELLED; i++) {
        const struct found theirs = find(h, modelled[i]);
        const unsigned *replaced = but ? but : own;

        while (*replaced && *replaced != modelled[i])
            replaced++;
        if (!*replaced && !(made->warned >> i & 1) && compare(made->tool, &theirs, &ours))
            made->warned |= 1u << i;
    }
}

const char *cf_made_differ(const struct cf_header *a, const struct cf_header *b, const char *column)
{
    if (!fact(a, column, MACHINE) || !fact(b, column, MACHINE))
        return NULL;
    for (enum kind k = 0; k < KINDS; k++)
        if (kinds[k].absent && strcmp(fact(a, column, k), fact(b, column, k)) != 0)
            return kinds[k].key;
    return NULL;
}

void cf_made_pages(const struct cf_tool *t, const struct cf_header *h, uint64_t *page_size)
{
    uint64_t size;

    if (cf_header_number(h, "page", "page_size", &size) <= 0)
        return;
    if (*page_size && *page_size != size)
        cf_die(t, CF_EXIT_INPUT,
               "its pages are of %llu bytes, not %llu as another input or --page-size has it: "
               "give the size with which all were resolved, by 'cf-resolve --page-size'",
               (unsigned long long)size, (unsigned long long)*page_size);
    *page_size = size;
}

/* ---- several ---- */

const char cf_before[] = "before";

void cf_before_check(const struct cf_tool *t, const struct cf_header *h, unsigned column,
                     int *warned)
{
    const struct found f = find(h, column);
    const char *before = f.name ? cf_header_fact(h, f.name, cf_before) : NULL;

    if (!before || *warned)
        return;
    *warned = 1;
    cf_warn(t,
            "column %s was made before %s put the accesses of several recordings or threads among "
            "each other: it is of each of them alone: run %s after %s",
            f.name, before, f.by, before);
}

/* The facts of a column but who stated them, for people; NULL where there are none. That of time is
   the header's clock. */
static char *facts_of(const struct cf_tool *t, const struct cf_header *h, unsigned column)
{
    const char *name = cf_column_name(column);
    char *text = NULL;
    size_t bytes;
    FILE *out = cf_need(t, open_memstream(&text, &bytes));

    for (unsigned i = 0; i < h->facts.count; i++) {
        const struct cf_fact *f = &h->facts.fact[i];

        if (name && !strcmp(f->column, name) && strcmp(f->key, "by") != 0)
            fprintf(out, "%s%s %s", ftell(out) ? ", " : "", f->key, f->value);
    }
    if (column == CF_TIME && h->clock_unit)
        fprintf(out, "%sclock %s", ftell(out) ? ", " : "", h->clock_unit);
    if (column == CF_TIME && h->clock_hz)
        fprintf(out, " at %" PRIu64 " Hz", h->clock_hz);
    text = cf_need(t, cf_memory_text(out, &text));
    if (*text)
        return text;
    free(text);
    return NULL;
}

void cf_mix_check(struct cf_mix *mix, const struct cf_tool *t, const struct cf_header *h)
{
    for (unsigned i = 0; i < MIXED; i++) {
        const unsigned column = mix->column[i];
        char *facts = column ? facts_of(t, h, column) : NULL;
        struct found a, b;

        if (!facts)
            continue;
        cf_before_check(t, h, column, &mix->before[i]);
        a = find(h, column);
        for (unsigned k = i + 1; k < MIXED; k++) {
            if (!mix->column[k] || mix->warned >> MIXED & 1)
                continue;
            b = find(h, mix->column[k]);
            mix->warned |= (unsigned)compare(t, &a, &b) << MIXED;
        }
        if (mix->facts[i] && strcmp(mix->facts[i], facts) != 0 && !(mix->warned >> i & 1)) {
            cf_warn(t,
                    "column %s has different facts in the inputs, which the result mixes: %s; %s",
                    a.name, mix->facts[i], facts);
            mix->warned |= 1u << i;
        }
        free(mix->facts[i]);
        mix->facts[i] = facts;
    }
}

unsigned cf_missed_by(const struct cf_frame *f)
{
    return cf_u8(f, CF_CLASS)   ? CF_MISSED_CLASS
           : cf_u8(f, CF_HIT)   ? CF_MISSED_HIT
           : cf_u8(f, CF_LEVEL) ? CF_MISSED_LEVEL
                                : 0;
}

void cf_missed_check(const struct cf_tool *t, unsigned before, unsigned by)
{
    static const char *const name[] = {"none",  "class",           "hit",           "class and hit",
                                       "level", "class and level", "hit and level", "all three"};
    const unsigned all = before | by;

    if (before && by && (before ^ by) & CF_MISSED_CLASS)
        cf_die(t, CF_EXIT_INPUT,
               "what missed is said by column %s in the recording before, and by column %s now, "
               "which do not compare: run both through the same programs, or give --level",
               name[before], name[by]);
    if (by && all & (all - 1))
        cf_warn(t,
                "what missed is said by different columns in the inputs, which the result %s: "
                "%s: run all through the same programs",
                before ? "compares" : "mixes", name[all]);
}

void cf_mix_free(struct cf_mix *mix)
{
    for (unsigned i = 0; i < MIXED; i++)
        free(mix->facts[i]);
}

const char cf_counts[] = "counts", cf_counts_costs[] = "instructions and cost",
           cf_counts_old_costs[] = "instructions and an earlier cost";

void cf_made_outdate(const struct cf_header *h, struct cf_writer *w)
{
    const char *counts = cf_header_fact(h, "time", cf_counts);

    if (counts && !strcmp(counts, cf_counts_costs))
        (void)cf_writer_fact(w, "time", cf_counts, cf_counts_old_costs);
    else
        cf_writer_forget(w, "time");
}

void cf_made_outdate_cost(const struct cf_header *h, struct cf_writer *w)
{
    const char *cost = cf_column_name(CF_COST);
    uint64_t number;

    cf_writer_forget(w, cost);
    if (!cf_header_fact(h, cost, "machine") || cf_header_fact(h, cost, "column"))
        return;
    for (unsigned i = 0; i < h->facts.count; i++) {
        const struct cf_fact *f = &h->facts.fact[i];

        if (strcmp(f->column, cost) != 0)
            continue;
        if (cf_header_number(h, cost, f->key, &number) > 0)
            (void)cf_writer_number(w, cost, f->key, number);
        else
            (void)cf_writer_fact(w, cost, f->key, f->value);
    }
    (void)cf_writer_fact(w, cost, kinds[OF].key, "an earlier hit");
}
