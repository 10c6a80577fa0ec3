/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * profile.c - pages of a profile are checked and become rows. See import.h.
 *
 * The tool keeps of each page the least, the most and the mean of its runs. These become as many
 * rows as there were runs: one of the least, one of the most, and the others share equally what the
 * mean leaves, so that least, most, mean and number are those of the profile.
 */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#include "capture/bbprof/import.h"
#include "formats/base/cf_number.h"

enum { BATCH = 4096 };

void bbprof_bad(struct bbprof *m, uint64_t place, const char *format, ...)
{
    va_list list;
    char text[1024];

    m->status |= CF_EXIT_INPUT;
    if (m->bad++)
        return;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (m->binary)
        cf_warn(m->tool, "%s: byte %" PRIu64 ": %s", m->name, place, text);
    else
        cf_warn(m->tool, "%s:%" PRIu64 ": %s", m->name, place, text);
}

struct bbprof_mapping *bbprof_find(struct bbprof *m, uint32_t index)
{
    for (size_t i = 0; i < m->mappings; i++)
        if (m->mapping[i].index == index)
            return &m->mapping[i];
    return NULL;
}

struct bbprof_mapping *bbprof_mapping(struct bbprof *m, uint32_t index)
{
    struct bbprof_mapping *g = bbprof_find(m, index);

    if (g)
        return g;
    cf_must(m->tool,
            cf_array_cleared(&m->mapping, &m->mapping_room, m->mappings + 1, sizeof *m->mapping));
    m->mapping[m->mappings].index = index;
    return &m->mapping[m->mappings++];
}

void bbprof_forget(struct bbprof *m)
{
    for (size_t i = 0; i < m->mappings; i++) {
        struct bbprof_mapping *g = &m->mapping[i];

        g->pages = 0;
        g->profiled = 0;
        if (!g->by_option)
            g->name = NULL;
    }
}

void bbprof_add(struct bbprof *m, const struct bbprof_page *page)
{
    cf_must(m->tool, cf_array_room(&m->page, &m->page_room, m->pages + 1, sizeof *m->page));
    m->page[m->pages++] = *page;
}

unsigned bbprof_mode(struct bbprof *m)
{
    m->used = m->mode ? m->mode : m->found;
    m->assumed |= !m->used;
    m->used = m->used ? m->used : BBPROF_CACHED; /* the tool's default */
    return m->used;
}

/* The tool prints pages that matter most first: fast ones where only they are cached, else slow
   ones. */
static void find_mode(struct bbprof *m)
{
    uint64_t rising = 0, falling = 0;

    for (size_t i = 1; i < m->pages && !m->binary; i++) {
        const struct bbprof_page *a = &m->page[i - 1], *b = &m->page[i];

        rising += a->mapping == b->mapping && a->mean < b->mean;
        falling += a->mapping == b->mapping && a->mean > b->mean;
    }
    m->found = rising > falling ? BBPROF_CACHED : falling > rising ? BBPROF_UNCACHED : 0;
    if (m->mode && m->found && m->mode != m->found)
        bbprof_bad(m, m->page[0].place,
                   "the order of the pages is that of --mode %s, which is not the one given",
                   m->found == BBPROF_CACHED ? "cached" : "uncached");
}

static int by_page(const void *x, const void *y)
{
    const struct bbprof_page *a = x, *b = y;

    return cf_order(a->mapping, b->mapping)
               ?: cf_order(a->page, b->page) ?: cf_order(a->place, b->place);
}

/* What the runs beside the one of the least and the one of the most took together; -1 where no runs
   have these numbers. The mean is a rounded one. */
static int64_t rest(const struct bbprof_page *p, uint32_t samples)
{
    const double sum = p->mean * samples, error = 1 + sum * 1e-12;
    const double most = 0x1p62;
    uint64_t ends, others;

    if (p->least > p->most || !(sum >= 0 && sum < most) || p->most >= (uint64_t)1 << 62)
        return -1;
    ends = samples == 1 ? p->least : p->least + p->most;
    others = samples > 2 ? samples - 2 : 0;
    if (samples == 1 && p->least != p->most)
        return -1;
    if (sum + error < (double)(ends + others * (double)p->least) ||
        sum - error > (double)(ends + others * (double)p->most))
        return -1;
    if (sum < (double)ends + (double)others * (double)p->least)
        return (int64_t)(others * p->least);
    if (sum > (double)ends + (double)others * (double)p->most)
        return (int64_t)(others * p->most);
    return others ? llround(sum - (double)ends) : 0;
}

/* Rows of one page, sample by sample. */
static void emit_page(struct bbprof *m, uint32_t region, uint32_t number,
                      const struct bbprof_page *p, uint64_t others)
{
    static uint64_t ticks[BATCH];
    static uint32_t sample[BATCH];
    const unsigned policy = m->used == BBPROF_CACHED ? CF_PAGES_ONLY : CF_PAGES_BUT;
    const struct cf_values v[] = {{CF_REGION, NULL, region}, {CF_PAGENO, NULL, number},
                                  {CF_SAMPLE, sample, 0},    {CF_RUNTIME, ticks, 0},
                                  {CF_POLICY, NULL, policy}, {CF_BEST, NULL, 0}};
    const uint64_t n = m->samples > 2 ? m->samples - 2 : 1;
    uint32_t rows = 0;

    for (uint32_t i = 0; i < m->samples; i++) {
        sample[rows] = i + 1;
        ticks[rows++] = !i                   ? p->least
                        : i + 1 < m->samples ? others / n + (i - 1 >= n - others % n)
                                             : p->most;
        if (rows < BATCH && i + 1 < m->samples)
            continue;
        (void)cf_writer_rows(m->out, CF_PAGE, rows, v, 6, NULL); /* the writer keeps its problem */
        m->rows += rows;
        rows = 0;
    }
}

void bbprof_run(struct bbprof *m, unsigned policy, uint32_t k, uint32_t sample, uint64_t ticks,
                int64_t misses)
{
    const struct cf_values v[] = {{CF_REGION, NULL, cf_writer_string(m->out, "")},
                                  {CF_PAGENO, NULL, 0},
                                  {CF_SAMPLE, NULL, sample},
                                  {CF_RUNTIME, NULL, ticks},
                                  {CF_POLICY, NULL, policy},
                                  {CF_BEST, NULL, k},
                                  {CF_MISSES, NULL, misses < 0 ? 0 : (uint64_t)misses}};

    (void)cf_writer_rows(m->out, CF_PAGE, 1, v, misses < 0 ? 6 : 7, NULL);
    m->has_none += policy == CF_PAGES_NONE;
    m->has_all += policy == CF_PAGES_ALL;
    m->rows++;
}

/* The pages of one mapping, in rising order. */
static void emit_mapping(struct bbprof *m, const struct bbprof_page *p, size_t count)
{
    const struct bbprof_mapping *g = bbprof_mapping(m, p->mapping);
    const int stack = g->name && strncmp(g->name, "[stack", 6) == 0;
    const uint64_t pages = g->pages                                   ? g->pages
                           : count == p[count - 1].page + (uint64_t)1 ? count
                                                                      : 0;
    char number[32];
    uint32_t region;

    snprintf(number, sizeof number, "vma %" PRIu32, p->mapping);
    region = cf_writer_string(m->out, g->name ? g->name : number);
    if (!g->name && !m->tool->quiet)
        cf_warn(m->tool,
                "%s: mapping %" PRIu32
                " has no name: give what the tool printed with -l before it, or "
                "--region %" PRIu32 "=NAME, such as [heap]",
                m->name, p->mapping, p->mapping);
    for (size_t i = 0; i < count; i++, p++) {
        const int64_t others = rest(p, m->samples);

        if (p->page > INT32_MAX || (pages && p->page >= pages))
            bbprof_bad(m, p->place,
                       "page %" PRId32 " of mapping %" PRIu32 ", which has %" PRIu64 " pages",
                       (int32_t)p->page, p->mapping, pages);
        else if (i && p->page == p[-1].page)
            bbprof_bad(m, p->place, "page %" PRIu32 " of mapping %" PRIu32 " comes twice", p->page,
                       p->mapping);
        else if (stack && !pages)
            bbprof_bad(m, p->place,
                       "how many pages the stack has is not known, from whose top they "
                       "are counted");
        else if (others < 0)
            bbprof_bad(m, p->place,
                       "page %" PRIu32 " of mapping %" PRIu32 ": no %" PRIu32
                       " runs have min %" PRId64 ", max %" PRId64 " and avg %f",
                       p->page, p->mapping, m->samples, (int64_t)p->least, (int64_t)p->most,
                       p->mean);
        else
            emit_page(m, region, stack ? (uint32_t)pages - 1 - p->page : p->page, p,
                      (uint64_t)others);
    }
}

/* The tool keeps all pages of each mapping that it profiles. */
static void check_pages(struct bbprof *m, const struct bbprof_page *p, size_t count)
{
    const struct bbprof_mapping *g = bbprof_mapping(m, p->mapping);
    const uint64_t pages = g->pages ? g->pages : p[count - 1].page + (uint64_t)1;

    if (!m->bad && count < pages)
        bbprof_bad(m, p[count - 1].place,
                   "mapping %" PRIu32 " has %" PRIu64 " pages, and the profile %zu of them: is a "
                   "line lost, or the list of mappings of another run?",
                   p->mapping, pages, count);
}

void bbprof_profile(struct bbprof *m, int cut)
{
    if (m->pages && (!m->samples || m->samples > BBPROF_SAMPLES_MOST)) {
        bbprof_bad(m, m->page[0].place, "%" PRIu32 " samples, not 1 to %d", m->samples,
                   BBPROF_SAMPLES_MOST);
    } else if (m->pages) {
        find_mode(m);
        (void)bbprof_mode(m);
        qsort(m->page, m->pages, sizeof *m->page, by_page);
        for (size_t i = 0, n; i < m->pages; i += n) {
            for (n = 1; i + n < m->pages && m->page[i + n].mapping == m->page[i].mapping;)
                n++;
            emit_mapping(m, m->page + i, n);
            if (!cut)
                check_pages(m, m->page + i, n);
        }
    }
    m->profiled = m->pages;
    m->pages = 0;
}
