/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * order.c - which pages are best, by an earlier profile: a stream with table page, or CSV as
 * cf-rank prints it, best first.
 *
 * Of a stream, pages with the least mean runtime are best where each was cached alone, those with
 * the greatest where each was not.
 */
#include <csv.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "capture/pages/pages.h"
#include "formats/base/cf_number.h"

struct order {
    struct pages *k;
    double *sum; /* by unit */
    uint64_t *runs;
    size_t named, foreign; /* pages of the profile; of them, those that the program has not */
    uint32_t next;

    /* of CSV */
    size_t field, row;
    int region_at, page_at; /* fields, -1: not found */
    char *region;
    uint64_t page;
};

/* ---- CSV ---- */

static void on_field(void *text, size_t bytes, void *arg)
{
    struct order *o = arg;
    char *field = cf_need(&o->k->tool, strndup(text ? text : "", bytes));
    const int at = (int)o->field++;

    if (!o->row && !strcmp(field, "region"))
        o->region_at = at;
    if (!o->row && !strcmp(field, "page"))
        o->page_at = at;
    if (o->row && at == o->page_at && cf_read_number(field, CF_READ_DECIMAL, UINT32_MAX, &o->page))
        o->page = UINT64_MAX;
    if (o->row && at == o->region_at) {
        free(o->region);
        o->region = field;
        return;
    }
    free(field);
}

/* Exits where the profile has single pages, and groups are asked for. */
static size_t unit_of(const struct order *o, const char *region, uint32_t page)
{
    const struct pages *k = o->k;

    if (page % k->o.group)
        cf_die(&k->tool, CF_EXIT_INPUT,
               "--rank %s: has page %u of %s, with which no group of --group %u begins: make it "
               "with the same --group",
               k->o.rank, page, region, k->o.group);
    return pages_find_unit(k, region, page);
}

static void place(struct order *o, const char *region, uint32_t page)
{
    const size_t at = unit_of(o, region, page);

    o->named++;
    if (at == o->k->units)
        o->foreign++;
    else if (o->k->unit[at].place == UINT32_MAX)
        o->k->unit[at].place = o->next++;
}

static void on_row(int end, void *arg)
{
    struct order *o = arg;

    (void)end;
    if (!o->row && (o->region_at < 0 || o->page_at < 0))
        cf_die(&o->k->tool, CF_EXIT_INPUT,
               "--rank %s: no columns region and page, as 'cf-rank --by page' prints them",
               o->k->o.rank);
    if (o->row && (!o->region || o->page == UINT64_MAX))
        cf_die(&o->k->tool, CF_EXIT_INPUT, "--rank %s: row %zu names no page", o->k->o.rank,
               o->row);
    if (o->row)
        place(o, o->region, (uint32_t)o->page);
    o->page = UINT64_MAX;
    free(o->region);
    o->region = NULL;
    o->field = 0;
    o->row++;
}

static void read_csv(struct order *o, FILE *f)
{
    struct csv_parser p;
    static char bytes[65536];
    size_t n;

    o->region_at = o->page_at = -1;
    if (csv_init(&p, CSV_STRICT | CSV_STRICT_FINI) != 0)
        cf_out_of_memory(&o->k->tool);
    while ((n = fread(bytes, 1, sizeof bytes, f)) > 0)
        if (csv_parse(&p, bytes, n, on_field, on_row, o) != n)
            break;
    if (n || csv_fini(&p, on_field, on_row, o) != 0)
        cf_die(&o->k->tool, CF_EXIT_INPUT, "--rank %s: row %zu: %s", o->k->o.rank, o->row,
               csv_strerror(csv_error(&p)));
    csv_free(&p);
}

/* ---- a stream ---- */

static void take_frame(struct order *o, const struct cf_reader *r, const struct cf_frame *f,
                       unsigned *mode)
{
    const uint64_t *cycles = cf_u64(f, CF_RUNTIME);
    const uint8_t *policy = cf_u8(f, CF_POLICY);
    const uint32_t *region = cf_u32(f, CF_REGION), *page = cf_u32(f, CF_PAGENO);

    for (uint32_t i = 0; cycles && policy && region && page && i < f->rows; i++) {
        size_t at;

        if (policy[i] != CF_PAGES_ONLY && policy[i] != CF_PAGES_BUT)
            continue;
        if (!*mode)
            *mode = policy[i];
        if (policy[i] != *mode)
            cf_die(&o->k->tool, CF_EXIT_INPUT, "--rank %s: has runs of both modes", o->k->o.rank);
        at = unit_of(o, cf_reader_text(r, region[i]), page[i]);
        o->named++;
        o->foreign += at == o->k->units;
        o->sum[at] += (double)cycles[i];
        o->runs[at]++;
    }
}

struct ranked {
    double mean;
    uint32_t unit;
};

static int by_mean(const void *x, const void *y)
{
    const struct ranked *a = x, *b = y;

    return (a->mean > b->mean) - (a->mean < b->mean) ?: cf_order(a->unit, b->unit);
}

static void check_header(const struct pages *k, const struct cf_header *h)
{
    const char *build = cf_header_fact(h, "runtime_cycles", "build");
    const char *group = cf_header_fact(h, "runtime_cycles", "group");
    uint64_t pages;

    if (group &&
        (cf_read_number(group, CF_READ_DECIMAL, UINT32_MAX, &pages) != 0 || pages != k->o.group))
        cf_die(&k->tool, CF_EXIT_INPUT, "--rank %s: is of --group %s, not %u: give the same",
               k->o.rank, group, k->o.group);
    if (build && strcmp(build, k->build) != 0)
        cf_warn(&k->tool,
                "--rank %s: is of another build of the program or its libraries, whose pages may "
                "hold something else: make it again",
                k->o.rank);
}

static void read_stream(struct order *o)
{
    struct cf_tool *t = &o->k->tool;
    char *file[] = {cf_tool_text(t, "%s", o->k->o.rank)};
    struct cf_reader *r = cf_tool_reader(t, file, 1);
    struct ranked *list = cf_tool_room(t, o->k->units + 1, sizeof *list);
    struct cf_frame *f;
    unsigned mode = 0;
    size_t count = 0;

    cf_reader_want_each(r, CF_PAGE, CF_REQUIRED, CF_RUNTIME, CF_POLICY, CF_REGION, CF_PAGENO);
    while (cf_reader_next(r, &f) > 0) {
        if (f->table == CF_HEADER)
            check_header(o->k, f->header);
        if (f->table == CF_PAGE)
            take_frame(o, r, f, &mode);
    }
    cf_tool_fit(t, r);
    if (cf_tool_problems(t, r) == CF_EXIT_ENVIRONMENT)
        exit(CF_EXIT_ENVIRONMENT);
    for (uint32_t i = 0; i < o->k->units; i++)
        if (o->runs[i])
            list[count++] = (struct ranked){
                (mode == CF_PAGES_BUT ? -1 : 1) * o->sum[i] / (double)o->runs[i], i};
    qsort(list, count, sizeof *list, by_mean);
    for (size_t i = 0; i < count; i++)
        o->k->unit[list[i].unit].place = o->next++;
    cf_reader_close(r);
}

/* By which --resume knows the profile again. */
static char *sum_of(const struct pages *k, FILE *f)
{
    XXH3_state_t *sum = cf_need(&k->tool, XXH3_createState());
    char bytes[4096], *text;

    XXH3_64bits_reset(sum);
    for (size_t n; (n = fread(bytes, 1, sizeof bytes, f)) > 0;)
        XXH3_64bits_update(sum, bytes, n);
    rewind(f);
    text = cf_tool_text(&k->tool, "%016" PRIx64, XXH3_64bits_digest(sum));
    XXH3_freeState(sum);
    return text;
}

void pages_order(struct pages *k)
{
    struct order o = {.k = k,
                      .page = UINT64_MAX,
                      .sum = cf_tool_room(&k->tool, k->units + 1, sizeof *o.sum),
                      .runs = cf_tool_room(&k->tool, k->units + 1, sizeof *o.runs)};
    FILE *f = fopen(k->o.rank, "re");
    int first;

    for (size_t i = 0; i < k->units; i++)
        k->unit[i].place = UINT32_MAX;
    if (!f)
        cf_die(&k->tool, CF_EXIT_INPUT, "--rank %s: %s", k->o.rank, strerror(errno));
    if (fseek(f, 0, SEEK_SET) != 0)
        cf_die(&k->tool, CF_EXIT_INPUT, "--rank %s: it is read twice: give a file, not a pipe",
               k->o.rank);
    k->profile = sum_of(k, f);
    first = getc(f);
    rewind(f);
    if (first == 'r') /* "rank,region,..."; streams have a first byte that is no letter */
        read_csv(&o, f);
    else
        read_stream(&o);
    fclose(f);
    if (!o.named)
        cf_die(&k->tool, CF_EXIT_INPUT, "--rank %s: names no page", k->o.rank);
    if (!o.next)
        cf_die(&k->tool, CF_EXIT_INPUT,
               "--rank %s: the program has none of its pages: it is a profile of another one, or "
               "--regions or --group are others",
               k->o.rank);
    if (o.foreign && !k->tool.quiet)
        cf_warn(&k->tool, "--rank %s: %zu of its %zu rows are of pages that the program has not",
                k->o.rank, o.foreign, o.named);
    if (o.next < k->units && !k->tool.quiet)
        cf_warn(&k->tool, "--rank %s: %zu of the %zu pages are not in it: they come last",
                k->o.rank, k->units - o.next, k->units);
    for (size_t i = 0; i < k->units; i++)
        k->unit[i].place = k->unit[i].place == UINT32_MAX ? o.next++ : k->unit[i].place;
}
