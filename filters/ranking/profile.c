/* SPDX-License-Identifier: BSD-2-Clause */
/* profile.c - table page as a profile (see profile.h). */
#include <stdlib.h>
#include <string.h>

#include "filters/ranking/profile.h"
#include "formats/base/cf_memory.h"
#include "formats/base/cf_number.h"

void cf_profile_begin(struct cf_profile *p, const struct cf_tool *t, struct cf_reader *r)
{
    *p = (struct cf_profile){.tool = t,
                             .reader = r,
                             .number = cf_need(t, cf_counts_new()),
                             .last = cf_need(t, cf_counts_new())};
    cf_reader_unify(r);
    cf_reader_want_each(r, CF_PAGE, CF_REQUIRED, CF_RUNTIME, CF_POLICY);
    cf_reader_want_each(r, CF_PAGE, CF_OPTIONAL, CF_REGION, CF_PAGENO, CF_BEST, CF_CALL_NUMBER);
}

void cf_profile_of(struct cf_profile *p, const char *column)
{
    p->of = column;
    cf_reader_want_all(p->reader); /* it may have no fixed number */
}

/* What is taken for the runtime, or NULL. */
static const uint64_t *values_of(const struct cf_profile *p, const struct cf_frame *f)
{
    for (unsigned i = 0; p->of && i < f->columns; i++) {
        const char *name = cf_reader_column_name(p->reader, f->column[i].id);

        if (name && f->column[i].type == CF_U64 && !strcmp(name, p->of))
            return f->column[i].values;
    }
    return p->of ? NULL : cf_u64(f, CF_RUNTIME);
}

double cf_runtimes_mean(const struct cf_runtimes *r)
{
    return r->count ? r->sum / (double)r->count : 0;
}

static void add(struct cf_runtimes *to, uint64_t cycles)
{
    to->least = !to->count || cycles < to->least ? cycles : to->least;
    to->most = cycles > to->most ? cycles : to->most;
    to->sum += (double)cycles;
    to->count++;
}

static struct cf_profile_page *page_of(struct cf_profile *p, uint32_t region, uint32_t page)
{
    uint64_t *at = cf_need(p->tool, cf_counts_at(p->number, region, page));

    if (!*at) {
        cf_must(p->tool, cf_array_cleared(&p->page, &p->page_room, p->pages + 1, sizeof *p->page));
        p->page[p->pages].region = cf_reader_text(p->reader, region);
        p->page[p->pages].page = page;
        *at = ++p->pages;
    }
    return &p->page[*at - 1];
}

static void add_k(struct cf_profile *p, struct cf_runtimes **list, size_t *count, size_t *room,
                  uint32_t k, uint64_t cycles)
{
    enum { MOST = 1 << 26 }; /* a k beyond all pages that a table can name in memory */

    if (k >= MOST) {
        p->unknown++;
        return;
    }
    cf_must(p->tool, cf_array_cleared(list, room, k + (size_t)1, sizeof **list));
    *count = k >= *count ? k + (size_t)1 : *count;
    add(&(*list)[k], cycles);
}

/* The page that a row of the best k names. Where rows of one k differ, none is right. */
static void note_last(struct cf_profile *p, uint32_t k, uint32_t region, uint32_t page)
{
    uint64_t *at = cf_need(p->tool, cf_counts_at(p->last, 0, k));
    const uint64_t key = (uint64_t)region << 32 | page;

    *at = !*at || *at == key ? key : UINT64_MAX;
}

/* Drops the runs with the best k whose pages are not the first k here. `rank` is by the number of a
   page, from 0. */
static void drop_astray(struct cf_profile *p, const size_t *rank)
{
    size_t last = 0; /* the latest rank, from 1, of the pages so far */

    for (size_t k = 1; k < p->ks; k++) {
        const uint64_t key = cf_counts_get(p->last, 0, k);
        const uint64_t at = key ? cf_counts_get(p->number, key >> 32, (uint32_t)key) : 0;
        const size_t place = !key ? 0 : at ? rank[at - 1] + 1 : SIZE_MAX;

        last = place > last ? place : last;
        if (last <= k || !p->best[k].count)
            continue;
        p->best[k].count = 0;
        p->astray++;
    }
}

/* Which program the runs are of: the first word of what was observed. */
static void header(struct cf_profile *p, const struct cf_header *h)
{
    const char *command = h->command ? h->command : "";
    char *program = cf_need(p->tool, strndup(command, strcspn(command, " \t")));

    if (!*program)
        free(program);
    else if (!p->program)
        p->program = program;
    else if (!p->other && strcmp(p->program, program) != 0)
        p->other = program;
    else
        free(program);
}

/* Which calls of the function the runs are of. */
static void note_calls(struct cf_profile *p, const struct cf_frame *f)
{
    const uint32_t *call = f->table == CF_PAGE ? cf_u32(f, CF_CALL_NUMBER) : NULL;

    for (uint32_t i = 0; call && i < f->rows; i++) {
        if (!p->call)
            p->call = call[i];
        else if (call[i] && call[i] != p->call && !p->other_call)
            p->other_call = call[i];
    }
}

void cf_profile_frame(struct cf_profile *p, const struct cf_frame *f)
{
    const uint64_t *cycles = f->table == CF_PAGE ? values_of(p, f) : NULL;
    const uint8_t *policy = cf_u8(f, CF_POLICY);
    const uint32_t *region = cf_u32(f, CF_REGION), *page = cf_u32(f, CF_PAGENO);
    const uint32_t *k = cf_u32(f, CF_BEST);

    if (f->table == CF_HEADER)
        header(p, f->header);
    note_calls(p, f);
    if (f->table == CF_PAGE && !cycles)
        p->lacking += f->rows;
    for (uint32_t i = 0; f->table == CF_PAGE && cycles && policy && i < f->rows; i++)
        switch (policy[i]) {
        case CF_PAGES_NONE:
            add(&p->none, cycles[i]);
            break;
        case CF_PAGES_ALL:
            add(&p->all, cycles[i]);
            break;
        case CF_PAGES_ONLY:
            p->group = k && k[i] > p->group ? k[i] : p->group;
            add(&page_of(p, region ? region[i] : 0, page ? page[i] : 0)->only, cycles[i]);
            break;
        case CF_PAGES_BUT:
            p->group = k && k[i] > p->group ? k[i] : p->group;
            add(&page_of(p, region ? region[i] : 0, page ? page[i] : 0)->but, cycles[i]);
            break;
        case CF_PAGES_BEST:
            if (region && page && region[i])
                note_last(p, k ? k[i] : 0, region[i], page[i]);
            add_k(p, &p->best, &p->ks, &p->best_room, k ? k[i] : 0, cycles[i]);
            break;
        case CF_PAGES_MIGRATED:
            add_k(p, &p->moved, &p->moves, &p->moved_room, k ? k[i] : 0, cycles[i]);
            break;
        default:
            p->unknown++;
        }
}

static int by_gain(const void *x, const void *y)
{
    const struct cf_profile_page *a = x, *b = y;
    const int order = (a->gain < b->gain) - (a->gain > b->gain);

    return order ?: strcmp(a->region, b->region) ?: cf_order(a->page, b->page);
}

void cf_profile_sort(struct cf_profile *p)
{
    uint64_t only = 0, but = 0;
    size_t *rank;

    for (size_t i = 0; i < p->pages; i++) {
        only += p->page[i].only.count;
        but += p->page[i].but.count;
    }
    if (!only && !but)
        return;
    p->mode = only ? CF_PAGES_ONLY : CF_PAGES_BUT;
    p->unused = only ? but : 0;
    if (only ? !p->none.count : !p->all.count)
        cf_die(p->tool, CF_EXIT_INPUT,
               "table page has no run with %s: what pages gain is not known without",
               only ? "no page cached" : "all pages cached");
    for (size_t i = 0; i < p->pages; i++) {
        struct cf_profile_page *g = &p->page[i];
        const struct cf_runtimes *r = only ? &g->only : &g->but;
        const double base = cf_runtimes_mean(only ? &p->none : &p->all), sign = only ? 1 : -1;

        if (!r->count)
            continue;
        g->gain = sign * (base - cf_runtimes_mean(r));
        g->gain_least = sign * (base - (double)(only ? r->most : r->least));
        g->gain_most = sign * (base - (double)(only ? r->least : r->most));
    }
    for (size_t i = 0; i < p->pages; i++)
        p->page[i].number = i;
    qsort(p->page, p->pages, sizeof *p->page, by_gain);
    rank = cf_tool_room(p->tool, p->pages + 1, sizeof *rank);
    for (size_t i = 0; i < p->pages; i++)
        rank[p->page[i].number] = i;
    drop_astray(p, rank);
}

void cf_profile_free(struct cf_profile *p)
{
    cf_counts_free(p->number);
    cf_counts_free(p->last);
    free(p->page);
    free(p->best);
    free(p->moved);
    free(p->program);
    free(p->other);
}
