/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * page_json.c - the page as JSON, which page.html shows, too. Memory: the lines of the map.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "filters/parts/report/page.h"

enum { MAP_HEIGHT = 96, MOST_FIGHTS = 200 };

const char *const page_titles[PAGE_TABLES] = {
    "Functions that miss most", "Source lines that miss most",
    "Heap memory that misses most, by allocation", "Global variables that miss most", "Threads"};
const char *const page_names[PAGE_TABLES] = {"function", "source line", "allocated in", "variable",
                                             "thread"};

CF_PAGE(report_page, CF_PAGE_FILE("filters/parts/report/page.css"),
        CF_PAGE_FILE("filters/parts/report/page.html"),
        CF_PAGE_FILE("filters/parts/report/page.js"));

static void text(FILE *out, const char *name, const char *value)
{
    cf_json_text(out, name, value ? value : "");
    fputc(',', out);
}

static void number(FILE *out, const char *name, uint64_t value)
{
    fprintf(out, "\"%s\":%" PRIu64 ",", name, value);
}

static void overview(const struct page *p, FILE *out)
{
    static const char *const key[CF_RECORDED] = {
#define KEY(id, name) name,
        CF_RECORDED_KEYS(KEY)
#undef KEY
    };
    static const char *const op[PAGE_OPS] = {[CF_LOAD] = "loads",
                                             [CF_STORE] = "stores",
                                             [CF_IFETCH] = "fetches",
                                             [CF_PREFETCH] = "prefetches",
                                             [CF_FLUSH] = "flushes"};
    char words[LOST_WORDS];

    text(out, "command", p->command);
    text(out, "source", p->source);
    text(out, "unit", p->unit);
    for (unsigned i = 0; i < CF_RECORDED; i++)
        if (p->recorded[i])
            text(out, key[i], p->recorded[i]);
    for (unsigned o = CF_LOAD; o < PAGE_OPS; o++) {
        uint64_t sum = 0;

        for (unsigned hit = 0; hit < PAGE_LEVELS; hit++)
            sum += p->served[o][hit];
        number(out, op[o], sum);
    }
    if (page_instructions(p))
        number(out, "instructions", page_instructions(p));
    number(out, "processes", page_processes(p));
    number(out, "thread_count", p->lacks_tid ? 0 : p->ranked[PAGE_THREADS].count);
    number(out, "unplaced", p->unplaced);
    number(out, "lost_samples", p->lost.samples);
    number(out, "throttled", p->lost.throttled);
    text(out, "lost", lost_words(&p->lost, words, sizeof words) ? words : "");
    number(out, "processes_without_accesses", page_silent(p));
    fprintf(out, "\"threads_in_turns\":%s,\"other_computers\":%s,", p->in_turns ? "true" : "false",
            p->hosts_differ ? "true" : "false");
    text(out, "problem", p->problem);
    number(out, "touched_bytes", p->touched * p->machine->line_size);
    number(out, "line_size", p->machine->line_size);
    text(out, "machine", p->machine->name);
    text(out, "machine_source", p->machine->source);
    number(out, "cores", p->cores);
    fprintf(out, "\"interleaved\":%s,\"in_order\":%s,\n", p->interleaved ? "true" : "false",
            p->in_order ? "true" : "false");
}

static void levels(const struct page *p, FILE *out)
{
    struct page_level level[CF_MAX_LEVELS];
    const unsigned count = page_levels(p, level);

    fputs("\"levels\":[", out);
    for (unsigned i = 0; i < count; i++) {
        fputs(i ? ",{" : "{", out);
        text(out, "name", level[i].level->name);
        number(out, "size_bytes", level[i].level->size);
        number(out, "accesses", level[i].accesses);
        fprintf(out, "\"misses\":%" PRIu64 "}", level[i].misses);
    }
    fputs("],\n\"classes\":{", out);
    for (unsigned c = CF_CLASS_COMPULSORY; c < CF_CLASSES_MODELLED; c++)
        fprintf(out, "%s\"%s\":%" PRIu64, c > CF_CLASS_COMPULSORY ? "," : "", cf_class_name(c),
                p->class[c]);
    fputs("},\n", out);
}

static void item(const struct page *p, unsigned table, const struct cf_rank_item *i, FILE *out)
{
    fputc('{', out);
    if (table == PAGE_THREADS) {
        number(out, "pid", i->key->a);
        number(out, "tid", i->key->b);
    }
    text(out, "name", page_item_name(p, table, i));
    number(out, "accesses", i->sum[0]);
    number(out, "misses", i->sum[p->misses]);
    if (p->last_misses)
        number(out, "last_level_misses", i->sum[p->last_misses]);
    for (unsigned c = CF_CLASS_COMPULSORY; c < CF_CLASSES_MODELLED; c++)
        number(out, cf_class_name(c), i->sum[p->classes[c]]);
    cf_json_text(out, "advice", page_advice(p, i->sum));
    fputc('}', out);
}

static void tables(const struct page *p, FILE *out)
{
    static const char *const name[PAGE_TABLES] = {"functions", "source_lines", "sites", "symbols",
                                                  "threads"};

    number(out, "misses", page_sum(p, p->misses));
    for (unsigned t = 0; t < PAGE_TABLES; t++) {
        const struct cf_rank_item *i;
        unsigned shown = 0;
        size_t at = 0;

        fprintf(out, "\"%s\":[", name[t]);
        while (shown < p->o.top && (i = page_item(p, t, &at)) != NULL) {
            fputs(shown++ ? ",\n" : "", out);
            item(p, t, i, out);
        }
        fputs("],\n", out);
    }
}

static void processes(const struct page *p, FILE *out)
{
    fputs("\"process_list\":[", out);
    for (size_t i = 0; i < p->processes; i++) {
        const struct page_process *o = &p->process[i];

        fputs(i ? ",\n{" : "{", out);
        number(out, "pid", o->pid);
        text(out, "name", o->name);
        if (page_instructions(p))
            number(out, "instructions", o->instructions);
        number(out, "accesses", o->accesses);
        fprintf(out, "\"misses\":%" PRIu64 "}", o->misses);
    }
    fputs("],\n", out);
}

static void fights(const struct page *p, FILE *out)
{
    fputs("\"shared_lines\":[", out);
    for (size_t i = 0; i < p->fights && i < MOST_FIGHTS; i++) {
        const struct page_fight *f = &p->fight[i];

        fprintf(out,
                "%s{\"pid\":%" PRIu64 ",\"line\":\"0x%" PRIx64 "\",\"offset\":%" PRIu64
                ",\"tid\":%" PRIu64 ",\"true_sharing\":%" PRIu64 ",\"false_sharing\":%" PRIu64 ",",
                i ? ",\n" : "", f->pid, f->line, f->addr - f->line, f->tid, f->sharing[0],
                f->sharing[1]);
        text(out, "name", f->name);
        cf_json_text(out, "source", f->source ? f->source : "");
        fputc('}', out);
    }
    fputs("],\n", out);
    number(out, "shared_lines_more", p->fights > MOST_FIGHTS ? p->fights - MOST_FIGHTS : 0);
}

static void curve(const struct page *p, FILE *out)
{
    fputs("\"curve\":[", out);
    for (size_t i = 0; i < p->sizes && p->curve_all; i++)
        fprintf(out, "%s[%" PRIu64 ",%.9g]", i ? "," : "", p->size[i] * p->machine->line_size,
                (double)(p->curve_misses[i] + p->compulsory) / (double)p->curve_all);
    fputs("],\n\"caches\":[", out);
    for (unsigned l = 0, n = 0; l < p->machine->levels; l++)
        if (p->machine->level[l].kind != CF_INSTRUCTION_CACHE) {
            fputs(n++ ? ",[" : "[", out);
            cf_json_text(out, "", p->machine->level[l].name);
            fprintf(out, ",%" PRIu64 "]", p->machine->level[l].size);
        }
    fputs("],\n", out);
}

/* Lines of a band, hottest cell of each bin. -1 without memory. */
static int band(const struct heat_map *map, uint32_t b, uint32_t height, FILE *out)
{
    struct heat_line *line = calloc(height + 1, sizeof *line);
    uint64_t *column = calloc(map->bins + 1, sizeof *column);
    int bad = !line || !column || heat_lines(map, &map->band[b], height, 1, line) != 0;

    fputc('{', out);
    text(out, "name", map->band[b].name);
    number(out, "total", map->band[b].total);
    number(out, "pages", map->band[b].rows);
    fputs("\"lines\":[", out);
    for (uint32_t l = 0; !bad && l < height; l++) {
        fputs(l ? "," : "", out);
        if (line[l].skipped) {
            fputs("null", out);
            continue;
        }
        heat_columns(map, &line[l], column, map->bins);
        for (uint32_t x = 0; x < map->bins; x++)
            fprintf(out, "%s%" PRIu64, x ? "," : "[", column[x]);
        fputc(']', out);
    }
    fputs("]}", out);
    free(line);
    free(column);
    return bad ? -1 : 0;
}

static void map(const struct page *p, FILE *out)
{
    const struct heat_map *m = &p->map;
    uint32_t *height = cf_tool_room(p->tool, m->bands, sizeof *height);

    (void)heat_heights(m, MAP_HEIGHT, 2, 2, height);
    fprintf(out,
            "\"map\":{\"start\":\"%" PRIu64 "\",\"width\":\"%" PRIu64 "\",\"bins\":%" PRIu32
            ",\"peak\":%" PRIu64 ",\"total\":%" PRIu64 ",\"mappings\":%" PRIu32 ",\"bands\":[",
            m->start, m->width, m->bins, m->peak, m->total, m->bands);
    for (uint32_t b = 0; b < m->bands && b < m->top; b++) {
        fputs(b ? ",\n" : "", out);
        cf_must(p->tool, band(m, b, height[b], out));
    }
    fputs("]}", out);
}

void page_json(const struct page *p, FILE *out)
{
    fputc('{', out);
    overview(p, out);
    levels(p, out);
    processes(p, out);
    tables(p, out);
    fights(p, out);
    curve(p, out);
    map(p, out);
    fputc('}', out);
}

static void write_data(const void *what, FILE *out)
{
    page_json(what, out);
}

int page_html(const struct page *p, FILE *out)
{
    return cf_page(out, &report_page, write_data, p);
}
