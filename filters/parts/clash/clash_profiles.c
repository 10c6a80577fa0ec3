/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * clash_profiles.c - profiles and measured slowdowns.
 *
 * In: a stream of snapshots of one program in isolation, or CSV with a header row. Out: quotas by
 * snapshot. Of a stream, all processes that are known make up the program, since one program may be
 * several processes: what any of them has counts once; lines without an owner (pid 0) are the
 * system's, unless all are. CSV has each process alone: these are added up. It goes through libcsv;
 * a field that is no number is reported with its row. Memory: 16 bytes a snapshot, 32 while CSV is
 * read, and for a stream what census.h says.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cf_memory.h"
#include "filters/parts/clash/clash.h"
#include "filters/engine/snapshot/census.h"
#include "formats/program/cf_csv.h"

static void add_point(const struct clash *c, struct profile *p, double active, double reused)
{
    size_t room = p->room;

    cf_must(&c->tool, cf_array_room(&p->active, &room, p->count + 1, sizeof *p->active));
    cf_must(&c->tool, cf_array_room(&p->reused, &p->room, p->count + 1, sizeof *p->reused));
    p->active[p->count] = active;
    p->reused[p->count++] = reused;
}

/* A program that is never in the cache says nothing. */
static void need_lines(struct clash *c, const struct profile *p, const char *file)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->active[i] > 0)
            return;
    cf_fail(&c->tool, CF_EXIT_INPUT, "%s: no lines of a program in any snapshot", file);
}

/* ---- streams ---- */

static void use_census(struct clash *c, struct profile *p, const struct cf_census *census,
                       const char *file)
{
    const struct cf_census_cell *cell = census->cell;
    size_t points = 0, without = 0, transparent = 0, others = 0;
    const struct cf_census_snapshot *s = census->snapshot;
    uint8_t level = 0;
    int known = 0;

    for (uint32_t g = 0; g < cf_groups_count(census->groups); g++)
        known |= cf_census_group(census, g).pid != 0;
    for (size_t i = 0; i < census->snapshots; i++)
        level = s[i].is.level > level ? s[i].is.level : level;
    for (size_t i = 0; i < census->snapshots; i++) {
        const uint64_t stated = cf_census_room(census, &s[i].is),
                       room = stated ? stated : c->o.lines;
        uint64_t active = 0, reused = 0;

        if (s[i].is.level != level)
            continue;
        points++;
        if (!c->cache.segment)
            c->cache = s[i].is;
        others += !cf_snapshot_alike(&c->cache, &s[i].is);
        without += !room;
        transparent += s[i].is.announced && !(s[i].is.mode & CF_MODE_FLUSH);
        for (uint32_t k = 0; k < s[i].cells; k++) {
            const struct cf_census_cell *one = &cell[s[i].first + k];

            if (known && !cf_census_group(census, one->group).pid)
                continue;
            active += one->lines;
            reused += one->reused;
        }
        if (room)
            add_point(c, p, (double)active / (double)room, (double)reused / (double)room);
    }
    if (without)
        cf_fail(&c->tool, CF_EXIT_INPUT,
                "%s: %zu snapshots do not state the size of the cache: give --lines", file,
                without);
    if (others)
        cf_warn(&c->tool,
                "%s: %zu of %zu snapshots are of another cache than those before, which has %u "
                "sets and %u ways and is of level %u: programs that share no cache do not clash",
                file, others, points, (unsigned)c->cache.sets, (unsigned)c->cache.ways,
                c->cache.level);
    if (transparent && !c->tool.quiet)
        cf_warn(&c->tool,
                "%s: %zu of %zu snapshots are transparent: the metrics are for flush mode", file,
                transparent, points);
    need_lines(c, p, file);
}

void read_stream(struct clash *c, struct profile *p, char *file)
{
    struct cf_reader *r = cf_tool_reader(&c->tool, &file, file ? 1 : 0);
    struct cf_census *census = cf_need(&c->tool, cf_census_new(CF_CENSUS_PROCESS, 1, c->o.level));
    struct cf_frame *f;
    int bad = 0;

    census->together = 1;
    cf_census_want(census, r);
    while (!bad && cf_tool_next(&c->tool, r, &f) > 0)
        bad = cf_census_frame(census, f);
    cf_tool_fit(&c->tool, r);
    if (!bad)
        bad = cf_census_end(census);
    cf_must(&c->tool, bad == CF_CENSUS_NO_MEMORY);
    if (bad)
        cf_die(&c->tool, CF_EXIT_INPUT, "%s: over %d caches of a level: choose some by cf-select",
               p->name, 1 << 16);
    cf_tool_note(&c->tool, cf_tool_problems(&c->tool, r));
    use_census(c, p, census, file && strcmp(file, "-") != 0 ? file : "standard input");
    cf_reader_close(r);
    cf_census_free(census);
}

/* ---- CSV ---- */

/* What rows of a file are added to. */
struct adding {
    struct clash *c;
    const char *name;           /* of the file */
    unsigned warned;            /* wrong rows that were reported */
    struct profile *p, unknown; /* unknown: of lines without an owner, snapshot by snapshot */
    int known;                  /* some rows are of processes */
    double snapshot, level;
    int shared;       /* several processes of a snapshot have lines */
    const char *file; /* of cf-sets: the snapshots' */
};

/* 0, or -1 with a message. */
static int number_of(const struct cf_csv *t, struct adding *a, const char *name, double *value)
{
    enum { REPORTED = 5 };
    const char *text = cf_csv_field(t, name);
    char *end;

    if (text && *text) {
        *value = strtod(text, &end);
        if (!*end && isfinite(*value) && *value >= 0)
            return 0;
    }
    if (a->warned++ < REPORTED)
        cf_warn(&a->c->tool, "%s: row %llu: column %s is '%s', which is no number%s", a->name,
                (unsigned long long)cf_csv_row(t), name, text ? text : "",
                a->warned == REPORTED ? "; further such rows are not reported" : "");
    cf_tool_note(&a->c->tool, CF_EXIT_INPUT);
    return -1;
}

/* A profile is of one program in isolation. */
static void check_file(const struct cf_csv *t, struct adding *a)
{
    const char *file = cf_csv_field(t, "file");

    if (file && !a->file)
        a->file = cf_tool_text(&a->c->tool, "%s", file);
    if (file && strcmp(file, a->file) != 0)
        cf_die(&a->c->tool, CF_EXIT_INPUT,
               "%s: row %llu is of %s, the rows before are of %s: a profile is of one program; run "
               "cf-sets for each file",
               a->name, (unsigned long long)cf_csv_row(t), file, a->file);
}

/* Rows of the same snapshot are added up. */
static void take_point(const struct cf_csv *t, void *arg)
{
    struct adding *a = arg;
    const char *pid = cf_csv_field(t, "pid");
    struct profile *to = pid && !strcmp(pid, "0") ? &a->unknown : a->p;
    double snapshot, active, reused, level = 0;

    check_file(t, a);
    if (number_of(t, a, "snapshot", &snapshot) || number_of(t, a, "active_quota", &active) ||
        number_of(t, a, "reused_quota", &reused))
        return;
    if (cf_csv_field(t, "level") && number_of(t, a, "level", &level))
        return;
    if (a->c->o.level && cf_csv_field(t, "level") && level != a->c->o.level)
        return;
    /* the last level of the hierarchy is the one that programs share */
    if (level > a->level)
        a->p->count = a->unknown.count = 0;
    if (level < a->level)
        return;
    if (!a->p->count || snapshot != a->snapshot || level > a->level) {
        add_point(a->c, a->p, 0, 0);
        add_point(a->c, &a->unknown, 0, 0);
    }
    a->snapshot = snapshot;
    a->level = level;
    a->known |= to == a->p;
    a->shared |= pid && active > 0 && to->active[to->count - 1] > 0;
    to->active[to->count - 1] += active;
    to->reused[to->count - 1] += reused;
}

void read_profile(struct clash *c, struct profile *p, const char *file)
{
    static const char *const needs[] = {"snapshot", "active_quota", "reused_quota", NULL};
    struct adding a = {.c = c, .name = file, .p = p, .level = -1};

    cf_csv_read(&c->tool, file, needs, take_point, &a);
    if (!a.known) {
        const struct profile none = *p;

        a.unknown.name = p->name;
        *p = a.unknown;
        a.unknown = none;
    }
    free(a.unknown.active);
    free(a.unknown.reused);
    if (!p->count)
        cf_fail(&c->tool, CF_EXIT_INPUT, "%s: no snapshots", file);
    else
        need_lines(c, p, file);
    if (a.shared && !c->tool.quiet)
        cf_warn(&c->tool,
                "%s: quotas of several processes are added: a line that two of them map counts "
                "twice; give the snapshots, of which it counts once",
                file);
}

static void take_slowdown(const struct cf_csv *t, void *arg)
{
    struct adding *a = arg;
    const char *observed = cf_csv_field(t, "observed"),
               *interfering = cf_csv_field(t, "interfering");
    struct clash *c = a->c;
    double slowdown;

    if (number_of(t, a, "slowdown", &slowdown) || !observed || !interfering)
        return;
    for (uint32_t i = 0; i < c->profiles; i++)
        for (uint32_t o = 0; o < c->profiles && !strcmp(c->profile[i].name, interfering); o++) {
            struct pair *p = strcmp(c->profile[o].name, observed) ? NULL : clash_pair(c, o, i);

            if (p && !isnan(p->slowdown)) {
                cf_warn(&c->tool, "%s: row %llu: another slowdown of '%s' by '%s': not used",
                        a->name, (unsigned long long)cf_csv_row(t), observed, interfering);
                cf_tool_note(&c->tool, CF_EXIT_INPUT);
            } else if (p) {
                p->slowdown = slowdown;
            }
        }
}

/* A slowdown is that of one pair. */
static void check_names(const struct clash *c)
{
    for (uint32_t i = 0; i < c->profiles; i++)
        for (uint32_t k = 0; k < i; k++)
            if (!strcmp(c->profile[i].name, c->profile[k].name))
                cf_die(&c->tool, CF_EXIT_USAGE,
                       "--slowdown: two programs are called '%s': name them by NAME=FILE or "
                       "--names",
                       c->profile[i].name);
}

void read_slowdowns(struct clash *c, const char *file)
{
    static const char *const needs[] = {"observed", "interfering", "slowdown", NULL};
    struct adding a = {.c = c, .name = file};
    uint32_t without = 0;

    check_names(c);
    cf_csv_read(&c->tool, file, needs, take_slowdown, &a);
    for (uint32_t i = 0; i < c->pairs; i++)
        without += isnan(c->pair[i].slowdown) != 0;
    if (without == c->pairs)
        cf_fail(&c->tool, CF_EXIT_INPUT,
                "%s: no slowdown of any pair of these programs: names must be the same", file);
    else if (without && !c->tool.quiet) {
        cf_warn(&c->tool, "%s: %u of %u pairs have no slowdown; correlation is over the others",
                file, without, c->pairs);
    }
}
