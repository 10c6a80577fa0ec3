/* SPDX-License-Identifier: BSD-2-Clause */
/* estimates.c - what is known as rows: with bounds, or beside what a description claims. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "filters/parts/infer/infer.h"

void series_name(const struct infer *f, const struct series *s, char *to, size_t size)
{
    char level[8] = "";
    const char *of = level;

    if (s->level)
        snprintf(level, sizeof level, "L%u", s->level);
    for (unsigned i = 0; i < f->caches; i++)
        if (f->cache[i].level == s->level && f->cache[i].code == s->code)
            of = f->cache[i].name;
    snprintf(to, size, "%s%s%s%s", of, *of ? " " : "", experiment_kinds[s->is].name,
             s->code && of == level ? ".code" : "");
}

/* A number, or nothing. */
static void put_number(FILE *out, uint64_t value, int known)
{
    if (known && value != UINT64_MAX)
        cf_csv_u64(out, 0, value);
    else
        cf_csv_text(out, 0, "");
}

static void put_value(FILE *out, const char *of, const char *what, const struct value *v)
{
    const int any = v->is != 0;

    if (v->how == NOT_MEASURED && !any)
        return;
    cf_csv_text(out, 1, of);
    cf_csv_text(out, 0, what);
    cf_csv_text(out, 0, how_names[v->how]);
    put_number(out, v->is, any);
    put_number(out, v->least, any);
    put_number(out, v->most, any);
    cf_csv_f64(out, 0, v->how == ASSUMED ? NAN : v->confidence, 4);
    cf_csv_text(out, 0, v->by);
    cf_csv_end(out);
}

/* "lru/tree-plru": those that no sequence distinguishes, or nothing. */
static void put_policies(FILE *out, const struct policy *p)
{
    char names[128] = "";
    size_t at = 0;

    for (unsigned k = 0; p->how == MEASURED && k < CF_POLICY_COUNT; k++)
        if (p->same >> k & 1 && at < sizeof names)
            at += (size_t)snprintf(names + at, sizeof names - at, "%s%s", at ? "/" : "",
                                   cf_policy_name((enum cf_replacement)k));
    cf_csv_text(out, 0, names);
}

static void put_policy(FILE *out, const struct cache *c)
{
    const struct policy *p = &c->policy;

    if (p->how == NOT_MEASURED)
        return;
    cf_csv_text(out, 1, c->name);
    cf_csv_text(out, 0, "policy");
    cf_csv_text(out, 0, how_names[p->how]);
    put_policies(out, p);
    cf_csv_text(out, 0, "");
    cf_csv_text(out, 0, "");
    cf_csv_f64(out, 0, p->confidence, 4);
    cf_csv_text(out, 0, p->by);
    cf_csv_end(out);
}

/* A row an experiment: its change, before the others are asked. */
static void put_change(const struct infer *f, const struct series *s, FILE *out)
{
    const struct cf_change *c = &s->change;
    const int any = c->state != CF_CHANGE_NONE && c->state != CF_CHANGE_FEW;
    char name[80];

    series_name(f, s, name, sizeof name);
    cf_csv_text(out, 1, name);
    cf_csv_text(out, 0, c->first ? "first" : "last");
    cf_csv_text(out, 0, any && c->confidence >= f->o.least ? "measured" : "cannot tell");
    put_number(out, c->value, any);
    put_number(out, c->least, any);
    put_number(out, c->most, any);
    cf_csv_f64(out, 0, c->confidence, 4);
    cf_csv_print(out, ",%u measurements\n", s->points.good);
}

void print_estimates(const struct infer *f, FILE *out)
{
    char name[80];

    fputs("of,what,how,estimate,least,most,confidence,by\n", out);
    for (unsigned i = 0; i < f->caches; i++) {
        for (unsigned k = 0; k < WHATS; k++)
            put_value(out, f->cache[i].name, what_names[k], &f->cache[i].value[k]);
        put_policy(out, &f->cache[i]);
    }
    for (unsigned i = 0; i < f->tlbs; i++) {
        snprintf(name, sizeof name, "tlb %u", i + 1);
        put_value(out, name, "entries", &f->tlb[i].entries);
    }
    for (unsigned i = 0; i < f->count; i++)
        if (f->series[i].points.point && experiment_kinds[f->series[i].is].use != NO_CHANGE)
            put_change(f, &f->series[i], out);
}

/* What the description claims; 0 where it states none, or cycles of another clock. */
static uint64_t claim(const struct infer *f, const struct cache *c, unsigned k)
{
    const struct cf_level *l = level_like(f->claimed, c->level, c->code);

    if (k == LATENCY)
        return !f->claimed->latency_of && f->unit && !strcmp(f->unit, "cycles") &&
                       (!f->claimed->clock_hz || !f->hz || f->claimed->clock_hz == f->hz)
                   ? stated_latency(f->claimed, c->level, c->code)
                   : 0;
    return !l ? 0 : k == SIZE ? l->size : k == WAYS ? l->ways : l->line;
}

static void compare(FILE *out, const char *of, const char *what, const struct value *v,
                    uint64_t claimed)
{
    const int told = v->how == MEASURED;
    const char *verdict = !told                                       ? how_names[v->how]
                          : !claimed                                  ? "not claimed"
                          : v->is == claimed                          ? "equal"
                          : claimed >= v->least && claimed <= v->most ? "within bounds"
                                                                      : "differs";

    if (v->how == NOT_MEASURED && !claimed)
        return;
    cf_csv_text(out, 1, of);
    cf_csv_text(out, 0, what);
    put_number(out, v->is, v->is && v->how != ASSUMED);
    put_number(out, v->least, v->is && v->how != ASSUMED);
    put_number(out, v->most, v->is && v->how != ASSUMED);
    cf_csv_f64(out, 0, v->how == NOT_MEASURED || v->how == ASSUMED ? NAN : v->confidence, 4);
    put_number(out, claimed, claimed != 0);
    cf_csv_text(out, 0, verdict);
    cf_csv_text(out, 0, v->how == NOT_TOLD ? v->by : "");
    cf_csv_end(out);
}

/* Linux states no policy. */
static void compare_policy(const struct infer *f, FILE *out, const struct cache *c)
{
    const struct cf_level *l =
        strcmp(f->o.compare, "host") ? level_like(f->claimed, c->level, c->code) : NULL;
    const struct policy *p = &c->policy;

    if (p->how == NOT_MEASURED)
        return;
    cf_csv_text(out, 1, c->name);
    cf_csv_text(out, 0, "policy");
    put_policies(out, p);
    cf_csv_text(out, 0, "");
    cf_csv_text(out, 0, "");
    cf_csv_f64(out, 0, p->confidence, 4);
    cf_csv_text(out, 0, l ? cf_policy_name(l->policy) : "");
    cf_csv_text(out, 0,
                p->how != MEASURED         ? how_names[p->how]
                : !l                       ? "not claimed"
                : p->same >> l->policy & 1 ? "equal"
                                           : "differs");
    cf_csv_text(out, 0, p->how == NOT_TOLD ? p->by : "");
    cf_csv_end(out);
}

void print_comparison(const struct infer *f, FILE *out)
{
    fputs("of,what,measured,least,most,confidence,claimed,verdict,why\n", out);
    for (unsigned i = 0; i < f->caches; i++) {
        for (unsigned k = 0; k < WHATS; k++)
            compare(out, f->cache[i].name, what_names[k], &f->cache[i].value[k],
                    claim(f, &f->cache[i], k));
        compare_policy(f, out, &f->cache[i]);
    }
    for (unsigned i = 0; i < f->tlbs; i++) {
        char name[32];

        snprintf(name, sizeof name, "tlb %u", i + 1);
        compare(out, name, "entries", &f->tlb[i].entries,
                i < f->claimed->tlbs ? f->claimed->tlb[i].entries : 0);
    }
    /* caches that no experiment has found */
    for (uint32_t i = 0; i < f->claimed->levels; i++) {
        const struct cf_level *l = &f->claimed->level[i];
        const struct value none = {.how = NOT_MEASURED};
        unsigned k = 0;

        while (k < f->caches && (f->cache[k].level != l->depth ||
                                 f->cache[k].code != (l->kind == CF_INSTRUCTION_CACHE)))
            k++;
        if (k < f->caches)
            continue;
        compare(out, l->name, what_names[SIZE], &none, l->size);
        compare(out, l->name, what_names[WAYS], &none, l->ways);
        compare(out, l->name, what_names[LINE], &none, l->line);
    }
}
