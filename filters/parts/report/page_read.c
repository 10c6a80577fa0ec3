/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * page_read.c - what the page is made of, in one reading: sums of rows by what served them, by key
 * and by class; the distances between the sizes of the curve; the map of pages over time.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "filters/engine/rows/counts.h"
#include "filters/parts/report/page.h"
#include "formats/base/cf_number.h"

enum { LEAST_SHARE = 1000 };              /* what has fewer misses of all is not shown */
enum { SMALLEST = 1024, DOUBLINGS = 24 }; /* of the curve's sizes, bytes */

static const enum cf_rank_by keys[PAGE_TABLES] = {CF_RANK_FUNCTION, CF_RANK_SOURCE, CF_RANK_SITE,
                                                  CF_RANK_SYMBOL, CF_RANK_THREAD};

/* 1 KiB, 1.5 KiB, 2 KiB, ... and the sizes of the machine's caches. */
static void make_curve(struct page *p)
{
    const uint32_t line = p->machine->line_size;
    uint32_t n = 0;

    p->size = cf_tool_room(p->tool, 2 * DOUBLINGS + CF_MAX_LEVELS, sizeof *p->size);
    for (unsigned i = 0; i < DOUBLINGS; i++) {
        p->size[n++] = ((uint64_t)SMALLEST << i) / line;
        p->size[n++] = ((uint64_t)SMALLEST << i) / 2 * 3 / line;
    }
    for (unsigned i = 0; i < p->machine->levels; i++)
        p->size[n++] = p->machine->level[i].size / line;
    p->sizes = cf_list_rising(p->size, n);
    if (!p->size[0])
        memmove(p->size, p->size + 1, --p->sizes * sizeof *p->size);
    p->curve = cf_need(p->tool, cf_curve_new(p->size, p->sizes));
}

/* The level that is farthest from the core. */
static unsigned deepest(const struct cf_machine *m)
{
    unsigned depth = 0;

    for (unsigned i = 0; i < m->levels; i++)
        depth = m->level[i].depth > depth ? m->level[i].depth : depth;
    return depth;
}

static void want_sums(struct page *p)
{
    char word[] = "l1-misses";
    const unsigned depth = deepest(p->machine);

    cf_sums_init(&p->sums, p->tool);
    p->misses = cf_sums_pick(&p->sums, "", "misses");
    if (depth > 1 && depth < 5) {
        word[1] = (char)('0' + depth);
        p->last_misses = cf_sums_pick(&p->sums, "", word);
    }
    for (unsigned c = CF_CLASS_COMPULSORY; c < CF_CLASSES_MODELLED; c++)
        p->classes[c] = cf_sums_pick(&p->sums, "", cf_class_name(c));
    cf_sums_check(&p->sums);
    cf_sums_begin(&p->sums, p->reader);
    for (unsigned i = 0; i < PAGE_TABLES; i++) {
        p->table[i] = (struct cf_ranking){.tool = p->tool,
                                          .reader = p->reader,
                                          .sums = &p->sums,
                                          .by[0] = keys[i],
                                          .keys = 1,
                                          .lenient = 1,
                                          .line_size = p->machine->line_size};
        cf_ranking_begin(&p->table[i]);
    }
    if (!p->interleaved)
        return;
    cf_sums_init(&p->sharing_sums, p->tool);
    p->sharing_sums.count = 0;
    (void)cf_sums_pick(&p->sharing_sums, "", cf_class_name(CF_CLASS_TRUE_SHARING));
    (void)cf_sums_pick(&p->sharing_sums, "", cf_class_name(CF_CLASS_FALSE_SHARING));
    cf_sums_check(&p->sharing_sums);
    cf_sums_begin(&p->sharing_sums, p->reader);
    p->sharing = (struct cf_ranking){
        .tool = p->tool,
        .reader = p->reader,
        .sums = &p->sharing_sums,
        .by = {CF_RANK_ADDRESS, CF_RANK_THREAD, CF_RANK_SOURCE, CF_RANK_SYMBOL, CF_RANK_SITE},
        .keys = 5,
        .lenient = 1,
        .line_size = p->machine->line_size};
    cf_ranking_begin(&p->sharing);
}

static void begin(struct page *p)
{
    cf_reader_pieces(p->reader);
    cf_reader_want_each(p->reader, CF_ACCESS, CF_OPTIONAL, CF_TIME, CF_PID, CF_OP, CF_SIZE, CF_ADDR,
                        CF_PAGENO, CF_REGION, CF_CLASS);
    cf_reader_want_each(p->reader, CF_ACCESS, CF_REQUIRED, CF_HIT, CF_DIST);
    cf_reader_want(p->reader, CF_UNPLACED, CF_OP, CF_OPTIONAL);
    lost_want(p->reader);
    want_sums(p);
    make_curve(p);
    p->lines = cf_need(p->tool, cf_counts_new());
    p->group = cf_column_room(p->tool, sizeof *p->group);
    p->heat = heat_new(p->tool, PAGE_BINS, 0, 0);
}

static void header(struct page *p, const struct cf_header *h)
{
    struct {
        char **to;
        const char *from;
    } text[] = {{&p->unit, h->clock_unit}, {&p->source, h->source}};

    cf_tool_command(p->tool, &p->command, h->command);
    for (unsigned i = 0; i < sizeof text / sizeof *text; i++)
        if (!*text[i].to && text[i].from)
            *text[i].to = cf_tool_text(p->tool, "%s", text[i].from);
    for (unsigned i = 0; i < CF_RECORDED; i++)
        if (!p->recorded[i] && h->recorded[i])
            p->recorded[i] = cf_tool_text(p->tool, "%s", h->recorded[i]);
}

/* The curve is of loads and stores; the misses of prefetches are a group of their own. */
enum { CURVE, CURVE_PREFETCHES, CURVE_GROUPS };

/* The lines of accesses that touch one for the first time, a bit each: of an access to several, a
   distance says only that one of them is new. */
static void count_lines(struct page *p, const struct cf_frame *f)
{
    const uint64_t *addr = cf_u64(f, CF_ADDR), *dist = cf_u64(f, CF_DIST);
    const uint32_t *pid = cf_u32(f, CF_PID), *size = cf_u32(f, CF_SIZE);
    const uint32_t line = p->machine->line_size;

    for (uint32_t i = 0; addr && i < f->rows; i++) {
        uint64_t more, end;

        if (dist[i] != CF_DIST_COMPULSORY)
            continue;
        more = size && size[i] ? size[i] - 1 : 0;
        end = (addr[i] + more < more ? UINT64_MAX : addr[i] + more) / line;
        for (uint64_t n = addr[i] / line; n <= end; n++) {
            uint64_t *of_64 = cf_need(p->tool, cf_counts_at(p->lines, pid ? pid[i] : 0, n / 64));
            const uint64_t bit = UINT64_C(1) << n % 64;

            p->touched += !(*of_64 & bit);
            *of_64 |= bit;
        }
    }
}

static void count_distances(struct page *p, const struct cf_frame *f)
{
    const uint8_t *op = cf_u8(f, CF_OP);
    const uint32_t *group = NULL;

    if (op && memchr(op, CF_PREFETCH, f->rows)) {
        for (uint32_t i = 0; i < f->rows; i++)
            p->group[i] = op[i] == CF_PREFETCH ? CURVE_PREFETCHES : CURVE;
        group = p->group;
    }
    cf_must(p->tool,
            cf_curve_add(p->curve, cf_u64(f, CF_DIST), group, NULL, f->rows, CURVE_GROUPS));
}

static void count_served(struct page *p, const struct cf_frame *f)
{
    const uint8_t *op = cf_u8(f, CF_OP), *hit = cf_u8(f, CF_HIT), *class = cf_u8(f, CF_CLASS);

    for (uint32_t i = 0; i < f->rows; i++) {
        const unsigned o = op ? op[i] : CF_LOAD;

        if (o >= PAGE_OPS)
            continue;
        p->served[o][hit[i]]++;
        if (class && (o == CF_LOAD || o == CF_STORE) && class[i] < CF_CLASSES_MODELLED)
            p->class[class[i]]++;
    }
}

static void count_pages(struct page *p, const struct cf_frame *f)
{
    static const uint8_t data[256] = {[CF_LOAD] = 1, [CF_STORE] = 1};
    const uint64_t *time = cf_u64(f, CF_TIME), *addr = cf_u64(f, CF_ADDR);
    const uint32_t *region = cf_u32(f, CF_REGION), *page = cf_u32(f, CF_PAGENO);
    const uint8_t *op = cf_u8(f, CF_OP);

    for (uint32_t at = 0, n; at < f->rows; at += n) {
        n = f->rows - at < HEAT_SLICE ? f->rows - at : HEAT_SLICE;
        (void)!heat_add(p->heat, &(struct heat_rows){.rows = n,
                                                     .times = time ? time + at : NULL,
                                                     .region = region && page ? region + at : NULL,
                                                     .page = region && page ? page + at : NULL,
                                                     .addr = addr ? addr + at : NULL,
                                                     .kind = op ? op + at : NULL,
                                                     .pass = data,
                                                     .to = UINT64_MAX});
    }
}

static void accesses(struct page *p, const struct cf_frame *f)
{
    count_served(p, f);
    if (cf_sums_find(&p->sums, f) != 0)
        cf_die(p->tool, CF_EXIT_INPUT, "accesses lack what says whether they missed");
    for (unsigned i = 0; i < PAGE_TABLES; i++)
        cf_ranking_add(&p->table[i], f);
    if (p->interleaved && cf_sums_find(&p->sharing_sums, f) == 0)
        cf_ranking_add(&p->sharing, f);
    count_distances(p, f);
    count_lines(p, f);
    count_pages(p, f);
}

void page_read(struct page *p)
{
    struct cf_frame *f;

    begin(p);
    while (cf_tool_next(p->tool, p->reader, &f) > 0) {
        if (f->table == CF_HEADER)
            header(p, f->header);
        else if (f->table == CF_UNPLACED)
            p->unplaced += f->rows;
        lost_frame(&p->lost, p->reader, f);
        for (unsigned i = 0; i < PAGE_TABLES; i++)
            cf_ranking_note(&p->table[i], f);
        if (p->interleaved)
            cf_ranking_note(&p->sharing, f);
        if (f->table == CF_ACCESS)
            accesses(p, f);
    }
}

/* ---- what comes of it ---- */

static uint64_t all(const struct page_fight *f)
{
    return f->sharing[0] + f->sharing[1];
}

static int by_place(const void *x, const void *y)
{
    const struct page_fight *a = x, *b = y;
    const int line = cf_order(a->pid, b->pid) ?: cf_order(a->line, b->line);
    const int place = line ?: cf_order(a->addr, b->addr);

    return place ?: cf_order(a->tid, b->tid) ?: cf_order(all(b), all(a));
}

/* A line's addresses, and how many. */
struct contended {
    const struct page_fight *first;
    size_t count;
    uint64_t sum;
};

static int by_sum(const void *x, const void *y)
{
    const struct contended *a = x, *b = y;

    return cf_order(b->sum, a->sum) ?: by_place(a->first, b->first);
}

/* Puts the lines with most first, of each its addresses in their order. */
static void sort_lines(struct page *p)
{
    struct contended *line = cf_tool_room(p->tool, p->fights, sizeof *line);
    struct page_fight *sorted = cf_tool_room(p->tool, p->fights, sizeof *sorted);
    size_t lines = 0, n = 0;
    uint64_t sum = 0;

    qsort(p->fight, p->fights, sizeof *p->fight, by_place);
    for (size_t i = 0; i < p->fights; i++) {
        const struct page_fight *f = &p->fight[i];

        if (!i || f->line != f[-1].line || f->pid != f[-1].pid)
            line[lines++].first = f;
        line[lines - 1].count++;
        line[lines - 1].sum += all(f);
        sum += all(f);
    }
    qsort(line, lines, sizeof *line, by_sum);
    for (size_t i = 0; i < lines && line[i].sum > sum / LEAST_SHARE; i++) {
        memcpy(sorted + n, line[i].first, line[i].count * sizeof *sorted);
        n += line[i].count;
    }
    p->fight = sorted;
    p->fights = n;
}

static void find_lines(struct page *p)
{
    struct cf_ranked r = cf_ranking_sort(&p->sharing, 0);

    p->fight = cf_tool_room(p->tool, r.count, sizeof *p->fight);
    for (; p->fights < r.count; p->fights++) {
        const struct cf_rank_item *i = &r.item[p->fights];

        p->fight[p->fights] =
            (struct page_fight){.pid = i->key[0].a,
                                .line = i->key[0].b & ~((uint64_t)p->machine->line_size - 1),
                                .addr = i->key[0].b,
                                .tid = i->key[1].b,
                                .sharing = {i->sum[0], i->sum[1]},
                                .source = *i->key[2].text ? i->key[2].text : "[no source line]",
                                .name = *i->key[3].text ? i->key[3].text : i->key[4].text};
    }
    cf_ranked_free(&r);
    sort_lines(p);
}

/* What the page leaves out or cannot know. */
static void warn_of_rest(struct page *p)
{
    p->in_turns = p->threads && p->cores > 1 && !p->interleaved && !p->placed;
    if (p->in_turns)
        cf_warn(p->tool,
                "the recording has several threads and does not say when each of them ran (table "
                "switch): they cannot be put side by side, and what they take from each other is "
                "not on the page");
}

void page_finish(struct page *p)
{
    for (unsigned i = 0; i < PAGE_TABLES; i++)
        p->ranked[i] = cf_ranking_sort(&p->table[i], i == PAGE_THREADS ? 0 : p->misses);
    if (p->interleaved)
        find_lines(p);
    p->curve_misses = cf_tool_room(p->tool, p->sizes, sizeof *p->curve_misses);
    cf_curve_misses(p->curve, CURVE, p->curve_misses);
    p->compulsory = cf_curve_named(p->curve, CURVE, CF_DIST_COMPULSORY);
    p->curve_all = cf_curve_total(p->curve, CURVE) + p->compulsory;
    page_make_processes(p);
    warn_of_rest(p);
    heat_finish(p->heat, heat_region_name, p->reader, &p->map);
    p->map.what = "accesses";
    p->map.unit = p->unit ? p->unit : "";
    p->map.command = p->command ? p->command : "";
    p->map.top = 6;
}

void page_free(struct page *p)
{
    for (unsigned i = 0; i < PAGE_TABLES; i++) {
        cf_ranked_free(&p->ranked[i]);
        cf_ranking_end(&p->table[i]);
    }
    if (p->interleaved)
        cf_ranking_end(&p->sharing);
    cf_curve_free(p->curve);
    cf_counts_free(p->lines);
    heat_free(p->heat);
    heat_map_free(&p->map);
    free(p->process);
}

/* ---- questions ---- */

uint64_t page_instructions(const struct page *p)
{
    /* side by side, times of threads overlap, unless table switch tells them */
    return p->unit && !strcmp(p->unit, "instructions") && !p->units_differ &&
                   (p->switched || !(p->several && p->placed))
               ? p->ticks
               : 0;
}

uint64_t page_sum(const struct page *p, unsigned sum)
{
    const struct cf_ranked *r = &p->ranked[PAGE_THREADS];
    uint64_t total = 0;

    for (size_t i = 0; i < r->count; i++)
        total += r->item[i].sum[sum];
    return total;
}

unsigned page_levels(const struct page *p, struct page_level *out)
{
    unsigned count = 0;

    for (unsigned l = 0; l < p->machine->levels; l++) {
        const struct cf_level *level = &p->machine->level[l];
        struct page_level *to = &out[count];

        *to = (struct page_level){.level = level};
        for (unsigned op = 0; op < CF_PREFETCH; op++)
            for (unsigned hit = level->depth;
                 hit < PAGE_LEVELS && (level->kind == CF_UNIFIED ||
                                       (level->kind == CF_INSTRUCTION_CACHE) == (op == CF_IFETCH));
                 hit++) {
                to->accesses += p->served[op][hit];
                to->misses += hit > level->depth ? p->served[op][hit] : 0;
            }
        count += to->accesses != 0;
    }
    return count;
}

const char *page_advice(const struct page *p, const uint64_t *sum)
{
    static const char *const advice[CF_CLASSES_MODELLED] = {
        [CF_CLASS_COMPULSORY] = "first touches: touch less memory, or prefetch it",
        [CF_CLASS_CAPACITY] = "its data does not fit: work in blocks, or keep hot fields together",
        [CF_CLASS_CONFLICT] =
            "lines fight over few sets: pad or shift arrays, no power-of-two strides",
        [CF_CLASS_TRUE_SHARING] = "threads exchange data: exchange it less often",
        [CF_CLASS_FALSE_SHARING] =
            "threads write neighbouring words: put them on lines of their own",
    };
    unsigned most = CF_CLASS_COMPULSORY;

    for (unsigned c = CF_CLASS_COMPULSORY; c < CF_CLASSES_MODELLED; c++)
        if (sum[p->classes[c]] > sum[p->classes[most]])
            most = c;
    return sum[p->classes[most]] ? advice[most] : "";
}

const char *page_item_name(const struct page *p, enum page_table table,
                           const struct cf_rank_item *i)
{
    return table == PAGE_THREADS ? cf_rank_task(&p->table[table], CF_RANK_THREAD, i->key)
                                 : i->key->text;
}

const struct cf_rank_item *page_item(const struct page *p, enum page_table table, size_t *at)
{
    const struct cf_ranked *r = &p->ranked[table];
    const uint64_t misses = page_sum(p, p->misses);
    const uint64_t least = misses / LEAST_SHARE + (misses % LEAST_SHARE || !misses);

    while (*at < r->count) {
        const struct cf_rank_item *i = &r->item[(*at)++];

        if (table == PAGE_THREADS || (i->sum[p->misses] >= least && *i->key->text))
            return i;
    }
    return NULL;
}
