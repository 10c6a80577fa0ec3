/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * describe.c - what is known as a machine description, cf-machine(5). Key source names each value
 * as measured or assumed, comments say what is not known, and why.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "filters/parts/infer/infer.h"
#include "formats/base/cf_memory.h"
#include "formats/base/cf_text.h"

enum { TEXT_WIDTH = 98 };

/* Names come from the stream: neither commands to a terminal nor a second line of YAML. */
static void put_safe(FILE *out, const char *text)
{
    char safe[512];

    fputs(cf_text_safe(safe, sizeof safe, text), out);
}

/* A text in quotes, in lines of some length, which YAML reads as blanks. */
static void put_text(FILE *out, const char *text, size_t at)
{
    putc('"', out);
    for (at++; *text; text++, at++) {
        const size_t word = *text == ' ' ? strcspn(text + 1, " ") : 0;

        if (*text == ' ' && text[1] != ' ' && word && at + word + 1 > TEXT_WIDTH) {
            fputs("\n  ", out);
            at = 1;
            continue;
        }
        if (*text == '"' || *text == '\\') {
            putc('\\', out);
            at++;
        }
        putc(*text, out);
    }
    fputs("\"\n", out);
}

static void put_size(FILE *out, uint64_t size)
{
    if (size % (1 << 20) == 0)
        fprintf(out, "%" PRIu64 "MiB", size >> 20);
    else if (size % (1 << 10) == 0)
        fprintf(out, "%" PRIu64 "KiB", size >> 10);
    else
        fprintf(out, "%" PRIu64, size);
}

/* "; " between, and nothing before the first. */
static void next(FILE *out, int *any, const char *before)
{
    fputs((*any)++ ? ", " : before, out);
}

/* Values that are known in one way, of all caches that are described. */
static void list_values(const struct infer *f, FILE *out, enum how how, const char *before)
{
    int any = 0;

    for (unsigned i = 0; i < f->caches; i++) {
        const struct cache *c = &f->cache[i];

        for (unsigned k = 0; k < WHATS; k++) {
            const struct value *v = &c->value[k];

            if (v->how != how || !(c->whole || (k == LATENCY && c->level == CF_FROM_MEMORY)))
                continue;
            next(out, &any, before);
            fprintf(out, "%s of %s", what_names[k], c->name);
            if (how == MEASURED && k != LATENCY)
                fprintf(out, " (%.3f, by %s)", v->confidence, v->by);
            else if (how == MEASURED && v->most == UINT64_MAX)
                fprintf(out, " (at least %" PRIu64 ", by one window)", v->least);
            else if (how == MEASURED)
                fprintf(out, " (%" PRIu64 " to %" PRIu64 ")", v->least, v->most);
            else
                fprintf(out, " (that of %s)", v->by);
        }
    }
    for (unsigned i = 0; how == MEASURED && i < f->caches; i++) {
        const struct policy *p = &f->cache[i].policy;

        if (p->how != MEASURED || !f->cache[i].whole)
            continue;
        next(out, &any, before);
        fprintf(out, "policy of %s (%.3f, by %s)", f->cache[i].name, p->confidence, p->by);
    }
    for (unsigned i = 0; i < f->tlbs; i++)
        if (f->tlb[i].entries.how == how) {
            next(out, &any, before);
            fprintf(out, "entries of tlb %u (%.3f)", i + 1, f->tlb[i].entries.confidence);
        }
    if (any)
        fputs(". ", out);
}

/* Whether that is known: a level that is not exclusive may be inclusive, and the reverse. */
static int inclusion_measured(const struct cache *c)
{
    return c->exclusive == 1 || (c->exclusive == 0 && c->inclusive == 0);
}

static enum cf_inclusion inclusion_of(const struct cache *c)
{
    const enum cf_inclusion is = c->assumed ? c->assumed->inclusion : CF_NON_INCLUSIVE;

    if (c->exclusive == 1)
        return CF_EXCLUSIVE;
    if ((is == CF_EXCLUSIVE && c->exclusive == 0) || (is == CF_INCLUSIVE && c->inclusive == 0))
        return CF_NON_INCLUSIVE;
    return is;
}

/* What no experiment measures. */
static void list_rest(const struct infer *f, FILE *out)
{
    int any = 0;

    for (unsigned i = 0; i < f->caches; i++) {
        const struct cache *c = &f->cache[i];

        if (!c->whole)
            continue;
        next(out, &any, "Assumed: ");
        fprintf(out, "of %s %s%s%show stores are handled", c->name,
                c->policy.how == MEASURED ? "" : "policy, ", c->shared_by ? "" : "sharing, ",
                inclusion_measured(c) ? "" : "inclusion, ");
        if (c->assumed)
            fprintf(out, " (those of %s)", f->assumed->name);
        else
            fprintf(out, " (%s%s%swrite-back with allocation)%s",
                    c->policy.how == MEASURED ? "" : "lru, ", c->shared_by ? "" : "private, ",
                    inclusion_measured(c) ? "" : "non-inclusive, ",
                    c->kind == CF_UNIFIED && c->level == 1
                        ? " and kind, since no level for instructions is known"
                        : "");
    }
    if (any)
        fputs(". ", out);
}

/* What the level does with lines of others. */
static void list_relations(const struct infer *f, FILE *out)
{
    for (unsigned i = 0; i < f->caches; i++) {
        const struct cache *c = &f->cache[i];
        int any = 0;
        char before[64];

        if (!c->whole)
            continue;
        snprintf(before, sizeof before, "Of %s, measured: ", c->name);
        if (c->exclusive >= 0 || c->inclusive == 0) {
            next(out, &any, before);
            fputs(c->exclusive == 1       ? "exclusive"
                  : inclusion_measured(c) ? "neither inclusive nor exclusive"
                  : c->exclusive == 0     ? "not exclusive"
                                          : "not inclusive",
                  out);
        }
        if (c->index >= 0) {
            next(out, &any, before);
            fputs(c->index ? "index hashed" : "index plain", out);
        }
        if (c->shared_by) {
            next(out, &any, before);
            fprintf(out, "shared with %u of %u other CPUs that this process may use",
                    c->shared_by - 1, c->others);
        }
        if (any)
            fputs(". ", out);
        if (c->index_why)
            fprintf(out, "Index of %s cannot be told: %s. ", c->name, c->index_why);
    }
}

/* Where the measurements come from. */
static void put_origin(const struct infer *f, FILE *out)
{
    fprintf(out, "cf-infer, from %zu measurements of ", f->rows);
    put_safe(out, f->machine ? f->machine : f->cpu ? f->cpu : f->host ? f->host : "a machine");
    if (f->cpu && f->machine)
        put_safe(out, ", "), put_safe(out, f->cpu);
    if (f->host && (f->machine || f->cpu))
        put_safe(out, ", host "), put_safe(out, f->host);
    if (f->date)
        put_safe(out, ", "), put_safe(out, f->date);
    if (f->spoilt)
        fprintf(out, ", of which %" PRIu64 " were spoilt", f->spoilt);
}

static void put_source(const struct infer *f, FILE *out)
{
    char *text = NULL;
    size_t size;
    FILE *words = cf_need(&f->tool, open_memstream(&text, &size));

    put_origin(f, words);
    fputs(". ", words);
    if (cf_reader_damages(f->reader))
        fputs("THE RECORDING WAS DAMAGED OR CUT OFF: what is lost was not taken in. ", words);
    list_values(f, words, MEASURED, "Measured, with confidence: ");
    list_relations(f, words);
    list_values(f, words, ASSUMED, "Assumed: ");
    list_rest(f, words);
    cf_need(&f->tool, cf_memory_text(words, &text));
    text[strlen(text) - 1] = '\0'; /* the blank at its end */
    fputs("source: ", out);
    put_text(out, text, 8);
    free(text);
}

/* Why a cache is not described. */
static void put_missing(const struct cache *c, FILE *out)
{
    int any = 0;

    fprintf(out, "  # %s is left out: ", c->name);
    for (unsigned k = SIZE; k <= LINE; k++) {
        const struct value *v = &c->value[k];

        if (is_told(v))
            continue;
        fprintf(out, "%s%s %s", any++ ? "; " : "", what_names[k],
                v->how == NOT_MEASURED ? "was not measured" : "cannot be told: ");
        if (v->how == NOT_TOLD)
            fputs(v->by, out);
        if (v->how == NOT_TOLD && v->is && v->most != UINT64_MAX)
            fprintf(out, ", %" PRIu64 " to %" PRIu64, v->least, v->most);
    }
    fputs(any ? "" : "size is no multiple of ways times line_size", out);
    if (c->value[LATENCY].how == MEASURED)
        fprintf(out, "; its latency is %" PRIu64, c->value[LATENCY].is);
    putc('\n', out);
}

static void put_level(const struct cache *c, uint64_t line, FILE *out)
{
    static const char *const kinds[] = {"unified", "data", "instruction"};
    static const char *const inclusions[] = {"non-inclusive", "inclusive", "exclusive"};
    const struct cf_level *l = c->assumed;

    if (c->policy.how == NOT_TOLD)
        fprintf(out, "  # policy of %s cannot be told: %s\n", c->name, c->policy.by);
    fprintf(out, "  - {name: %s, kind: %s, size: ", c->name, kinds[c->kind]);
    put_size(out, c->value[SIZE].is);
    fprintf(out, ", ways: %" PRIu64, c->value[WAYS].is);
    if (c->value[LINE].is != line)
        fprintf(out, ", line_size: %" PRIu64, c->value[LINE].is);
    if (c->shared_by > 1 || (!c->shared_by && l && l->shared_by > 1))
        fprintf(out, ", shared_by: %" PRIu32, c->shared_by ? c->shared_by : l->shared_by);
    /* a policy that wants a power of two of ways may not get one */
    if (c->policy.how == MEASURED)
        fprintf(out, ", policy: %s", cf_policy_name(c->policy.is));
    else if (l && l->policy != CF_LRU &&
             (c->value[WAYS].is == l->ways || l->policy != CF_TREE_PLRU))
        fprintf(out, ", policy: %s", cf_policy_name(l->policy));
    if (l && !l->write_back)
        fputs(", write: through", out);
    if (l && !l->write_allocate)
        fputs(", allocate: false", out);
    if (inclusion_measured(c) || inclusion_of(c) != CF_NON_INCLUSIVE)
        fprintf(out, ", inclusion: %s", inclusions[inclusion_of(c)]);
    if (c->index == 1 || (c->index < 0 && l && l->indexing == CF_INDEX_HASHED))
        fputs(", index: hashed", out);
    fputs("}\n", out);
}

/* Latencies of what is described, and of memory; 1 where what is left out has one, too. */
static int put_latency_values(const struct infer *f, FILE *out, int *any, int *assumed)
{
    int left = 0;

    for (unsigned i = 0; i < f->caches; i++) {
        const struct cache *c = &f->cache[i];
        const struct value *v = &c->value[LATENCY];

        left |= v->how == MEASURED && !c->whole && c->level != CF_FROM_MEMORY ? 1 : 0;
        left |= is_told(v) && c->level == CF_FROM_MEMORY ? 2 : 0;
        if (!is_told(v) || !(c->whole || c->level == CF_FROM_MEMORY))
            continue;
        fprintf(out, "%s%s: %" PRIu64, (*any)++ ? ", " : "latency: {", c->name, v->is);
        *assumed += v->how == ASSUMED && !(c->code && !c->assumed);
    }
    return left == 3;
}

static void put_latencies(const struct infer *f, FILE *out)
{
    int any = 0, assumed = 0;
    const int left = put_latency_values(f, out, &any, &assumed);
    char text[512];

    if (!any)
        return;
    fputs("}\nlatency_source: ", out);
    snprintf(text, sizeof text, "%s%s",
             assumed
                 ? "estimate: measured where key source says so, else those of another machine; "
                   "loads that depend on each other, fetches and stores are taken to cost as much"
                 : "measured: by loads that depend on each other; that fetches and stores cost "
                   "as much as loads is assumed",
             left ? "; memory's is that of lines which no cache has: a level that is left out "
                    "serves some of them sooner"
                  : "");
    put_text(out, text, 16);
}

static void put_tlbs(const struct infer *f, FILE *out)
{
    uint64_t before = 0;
    int any = 0;

    for (unsigned i = 0; i < f->tlbs; i++) {
        const struct tlb *b = &f->tlb[i];

        if (b->entries.how != MEASURED || b->entries.is <= before) {
            fprintf(out, "# tlb %u is left out: %s\n", i + 1,
                    b->entries.how == MEASURED ? "it has no more entries than the one before it"
                                               : b->entries.by);
            continue;
        }
        before = b->entries.is;
        fprintf(out, "%s  - {entries: %" PRIu64 ", page_size: ", any++ ? "" : "tlb:\n",
                b->entries.is);
        put_size(out, b->page_size);
        fputs("}\n", out);
    }
}

int print_description(const struct infer *f, FILE *out)
{
    const struct cache *first = NULL;
    const char *name = f->machine ? f->machine : f->cpu ? f->cpu : "measured";
    char safe[100];

    for (unsigned i = 0; i < f->caches; i++)
        if (f->cache[i].whole && (!first || first->code))
            first = &f->cache[i];
    if (!first)
        return 0;
    fputs("name: ", out);
    put_text(out, cf_text_safe(safe, sizeof safe, name), 6);
    put_source(f, out);
    if (f->assumed && f->assumed->cpus > 1)
        fprintf(out, "cpus: %" PRIu32 "\n", f->assumed->cpus);
    if (f->hz && f->hz <= UINT64_C(1000000000000))
        fprintf(out, "clock_hz: %" PRIu64 "\n", f->hz);
    fprintf(out, "line_size: %" PRIu64 "\nlevels:\n", first->value[LINE].is);
    for (unsigned i = 0; i < f->caches; i++)
        if (f->cache[i].level != CF_FROM_MEMORY && f->cache[i].whole)
            put_level(&f->cache[i], first->value[LINE].is, out);
        else if (f->cache[i].level != CF_FROM_MEMORY)
            put_missing(&f->cache[i], out);
    put_latencies(f, out);
    put_tlbs(f, out);
    return 1;
}
