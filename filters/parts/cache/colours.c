/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * colours.c - which colours a page may have: those of the core that touches it first, or of the
 * pool whose list names it. So a hypervisor gives colours to cores, and a kernel module keeps a
 * pool of others to which chosen pages are moved: "Governing with Insights" (BBProf), section 6.
 *
 * Memory: 43 to 85 bytes a page of a list.
 */
#include <stdlib.h>
#include <string.h>

#include "filters/engine/rows/counts.h"
#include "filters/parts/cache/cache_parts.h"
#include "formats/base/cf_memory.h"
#include "formats/base/cf_number.h"
#include "formats/base/cf_strings.h"
#include "formats/program/cf_csv.h"

enum { LISTED = 1, ACCESSED = 2, EVERY_CORE = CF_MAX_CORES, MOST_COLOURS = 1 << 16 };

struct pool {
    const char *file, *list; /* the list of colours, as colours_text() writes it */
    uint64_t sum;            /* of its pages, in whatever order */
    uint32_t core;           /* EVERY_CORE: whichever */
    unsigned set;
    struct cf_counts *page; /* by number of the mapping's name and page */
    uint32_t accessed;
};

struct colours {
    struct cf_tool *tool;
    struct cf_frames *frames;
    const char *level; /* whose colours these are */
    uint32_t count, cores;
    unsigned set[CF_MAX_CORES]; /* by core, 0: all */
    const char *list[CF_MAX_CORES];
    struct cf_strings *names;
    struct pool pool[POOLS];
    unsigned pools;
};

/* "0-3,8" of what a list names. */
static const char *list_text(const struct colours *c, const uint8_t *named)
{
    char *text = NULL, *kept;
    size_t bytes;
    FILE *out = cf_need(c->tool, open_memstream(&text, &bytes));

    for (uint32_t k = 0, end; k < c->count; k = end + 1) {
        for (end = k; end < c->count && named[end];)
            end++;
        if (end > k)
            fprintf(out, "%s%u", ftell(out) ? "," : "", k);
        if (end > k + 1)
            fprintf(out, "-%u", end - 1);
    }
    text = cf_need(c->tool, cf_memory_text(out, &text));
    kept = cf_tool_text(c->tool, "%s", text);
    free(text);
    return kept;
}

/* "0-3,8,12-": the set of these colours. The text is taken to pieces. */
static unsigned read_set(struct colours *c, const char *option, char *list, const char **text)
{
    uint8_t *named = cf_tool_room(c->tool, c->count, 1);
    uint32_t *colour = cf_tool_room(c->tool, c->count, sizeof *colour), n = 0;
    const char *item;
    unsigned set;

    while ((item = strsep(&list, ",")) != NULL) {
        uint64_t from, to;

        cf_parse_range(c->tool, option, item, &from, &to);
        if (from >= c->count || (to >= c->count && to != UINT64_MAX))
            cf_die(c->tool, CF_EXIT_USAGE, "%s: '%s': %s has the colours 0 to %u", option, item,
                   c->level, c->count - 1);
        for (uint64_t k = from; k <= to && k < c->count; k++)
            named[k] = 1;
    }
    for (uint32_t k = 0; k < c->count; k++)
        if (named[k])
            colour[n++] = k;
    *text = list_text(c, named);
    set = cf_frames_set(c->frames, colour, n);
    cf_must(c->tool, set ? 0 : -1);
    return set;
}

/* --colours CPU:LIST */
static void limit_core(struct colours *c, const char *text)
{
    char *list = cf_tool_text(c->tool, "%s", text);
    const char *name = strsep(&list, ":");
    uint64_t core;

    if (!list)
        cf_die(c->tool, CF_EXIT_USAGE, "--colours '%s': give CPU:LIST, such as 0:0-3", text);
    core = cf_parse_u64(c->tool, "--colours", name, 0, c->cores - 1);
    if (c->set[core])
        cf_die(c->tool, CF_EXIT_USAGE, "--colours: CPU %s is given twice", name);
    c->set[core] = read_set(c, "--colours", list, &c->list[core]);
}

struct reading {
    struct colours *c;
    struct pool *pool;
};

static void take_page(const struct cf_csv *row, void *arg)
{
    const struct reading *r = arg;
    const char *region = cf_csv_field(row, "region"), *text = cf_csv_field(row, "page");
    uint64_t page, *at;
    uint32_t name;
    int fresh;

    if (!region || !*region || !text ||
        cf_read_number(text, CF_READ_DECIMAL, UINT32_MAX, &page) != 0)
        cf_die(r->c->tool, CF_EXIT_INPUT, "%s: row %llu: region '%s', page '%s' name no page",
               r->pool->file, (unsigned long long)cf_csv_row(row), region ? region : "",
               text ? text : "");
    name = cf_strings_number(r->c->names, region, strlen(region), &fresh);
    at = name ? cf_counts_at(r->pool->page, name, page) : NULL;
    if (!*(uint64_t *)cf_need(r->c->tool, at))
        r->pool->sum += XXH3_64bits_withSeed(region, strlen(region), page);
    *at = LISTED;
}

/* --pool PAGES.csv:LIST[@CPU] */
static void read_pool(struct colours *c, const char *text)
{
    static const char *const needs[] = {"region", "page", NULL};
    char *file = cf_tool_text(c->tool, "%s", text), *list = strrchr(file, ':'), *core;
    struct pool *p = &c->pool[c->pools++];
    struct reading r = {c, p};

    if (!list || list == file)
        cf_die(c->tool, CF_EXIT_USAGE,
               "--pool '%s': give PAGES.csv:LIST, such as best.csv:12-15, or PAGES.csv:LIST@CPU",
               text);
    *list++ = 0;
    core = strchr(list, '@');
    p->core = EVERY_CORE;
    if (core) {
        *core++ = 0;
        p->core = (uint32_t)cf_parse_u64(c->tool, "--pool", core, 0, c->cores - 1);
    }
    p->file = file;
    p->set = read_set(c, "--pool", list, &p->list);
    p->page = cf_need(c->tool, cf_counts_new());
    cf_csv_read(c->tool, file, needs, take_page, &r);
}

struct colours *colours_new(struct cf_tool *t, const struct frame_options *o,
                            const struct cf_machine *m, struct cf_frames *frames)
{
    const char *const option = o->colour_count ? "--colours" : "--pool";
    const struct cf_level *l;
    struct colours *c;
    uint64_t count;

    if (!o->colour_count && !o->pools)
        return NULL;
    l = &m->level[find_level(t, m, option, NULL, 1)];
    count = (uint64_t)l->sets * l->line >> o->page_shift;
    if (count < 2 || count << o->page_shift != (uint64_t)l->sets * l->line || count > MOST_COLOURS)
        cf_die(t, CF_EXIT_USAGE,
               "%s: a way of %s must be of 2 to %d whole pages to have colours, it has %llu bytes",
               option, l->name, MOST_COLOURS, (unsigned long long)l->sets * l->line);
    if (count >> o->frame_bits)
        cf_die(t, CF_EXIT_USAGE, "--ram: %s has %llu colours, and there are fewer pages", l->name,
               (unsigned long long)count);
    c = cf_need(t, calloc(1, sizeof *c));
    c->tool = t;
    c->frames = frames;
    c->level = l->name;
    c->count = (uint32_t)count;
    c->cores = o->cores;
    c->names = cf_need(t, cf_strings_new());
    cf_must(t, cf_frames_colours(frames, c->count));
    for (unsigned i = 0; i < o->colour_count; i++)
        limit_core(c, o->colours[i]);
    for (unsigned i = 0; i < o->pools; i++)
        read_pool(c, o->pool[i]);
    return c;
}

void colours_free(struct colours *c)
{
    if (!c)
        return;
    for (unsigned i = 0; i < c->pools; i++)
        cf_counts_free(c->pool[i].page);
    cf_strings_free(c->names);
    free(c);
}

void colours_text(const struct colours *c, FILE *out)
{
    for (uint32_t core = 0; core < c->cores; core++)
        if (c->set[core])
            fprintf(out, "colours %u:%s; ", core, c->list[core]);
    for (unsigned i = 0; i < c->pools; i++) {
        const struct pool *p = &c->pool[i];

        fprintf(out, "pool %016llx:%s", (unsigned long long)p->sum, p->list);
        if (p->core != EVERY_CORE)
            fprintf(out, "@%u", p->core);
        fputs("; ", out);
    }
}

unsigned colours_of(struct colours *c, uint32_t core, const char *region, uint32_t page)
{
    uint32_t name = 0;
    int fresh;

    if (c->pools && region && *region) {
        name = cf_strings_number(c->names, region, strlen(region), &fresh);
        cf_must(c->tool, name ? 0 : -1);
    }
    for (unsigned i = 0; name && i < c->pools; i++) {
        struct pool *p = &c->pool[i];

        if ((p->core != EVERY_CORE && p->core != core) || !cf_counts_get(p->page, name, page))
            continue;
        uint64_t *at = cf_need(c->tool, cf_counts_at(p->page, name, page));

        p->accessed += *at != ACCESSED;
        *at = ACCESSED;
        return p->set;
    }
    return c->set[core];
}

int colours_by_name(const struct colours *c)
{
    return c->pools != 0;
}

void colours_end(const struct colours *c)
{
    for (unsigned i = 0; !c->tool->quiet && i < c->pools; i++) {
        const struct pool *p = &c->pool[i];
        const size_t listed = cf_counts_size(p->page);

        if (p->accessed < listed)
            cf_warn(c->tool, "--pool: %s: %zu of its %zu pages were not accessed", p->file,
                    listed - p->accessed, listed);
    }
}
