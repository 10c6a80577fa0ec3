/* SPDX-License-Identifier: BSD-2-Clause */
/* page_text.c - the page for a terminal, or as text. Memory: that of the map's drawing. */
#include <inttypes.h>
#include <string.h>

#include "filters/parts/report/page.h"

enum { BAR = 30, SHOWN_LINES = 4, MAP_LINES = 16, MOST_PROCESSES = 20 };

struct text {
    const struct page *p;
    FILE *out;
    struct cf_terminal t;
};

static void heading(const struct text *x, const char *title)
{
    fprintf(x->out, "\n%s%s%s\n", x->t.colours ? "\33[1m" : "", title,
            x->t.colours ? "\33[0m" : "");
}

/* A text for one line of the page: number(v), size_of(v). */
struct words {
    char text[32];
};

static struct words number_text(uint64_t value)
{
    struct words to = {"."};

    if (value)
        cf_text_number(to.text, sizeof to.text, (double)value);
    return to;
}

static struct words size_text(uint64_t bytes)
{
    struct words to;
    unsigned unit = 0;

    while (bytes >= 1024 && bytes % 512 == 0 && unit < 4) {
        if (bytes % 1024 == 0 || unit == 3) {
            bytes /= 1024;
            unit++;
            continue;
        }
        snprintf(to.text, sizeof to.text, "%.1f %ciB", (double)bytes / 1024, " KMGT"[unit + 1]);
        return to;
    }
    snprintf(to.text, sizeof to.text, unit ? "%" PRIu64 " %ciB" : "%" PRIu64 " B", bytes,
             " KMGT"[unit]);
    return to;
}

#define number(value)  (number_text(value).text)
#define size_of(bytes) (size_text(bytes).text)

static double percent(uint64_t part, uint64_t whole)
{
    return whole ? 100 * (double)part / (double)whole : 0;
}

/* What is not on the page. */
static void rest(const struct text *x)
{
    const struct page *p = x->p;
    char words[LOST_WORDS];

    if (lost_words(&p->lost, words, sizeof words))
        fprintf(x->out, "%s\n", words);
    if (page_silent(p))
        fprintf(x->out, "%" PRIu64 " process%s began of which no access is recorded\n",
                page_silent(p), page_silent(p) == 1 ? "" : "es");
    if (p->in_turns)
        fprintf(
            x->out,
            "threads took turns, and when is not known: each went to one of %u cores, and nothing "
            "is said of lines that they share\n",
            p->cores);
    if (p->hosts_differ)
        fputs("further parts were recorded on other computers\n", x->out);
    if (p->problem) {
        fputs("the recording is damaged: ", x->out);
        cf_terminal_text(x->out, &x->t, p->problem, 400);
        fputc('\n', x->out);
    }
}

static void overview(const struct text *x)
{
    const struct page *p = x->p;
    const uint64_t instructions = page_instructions(p);
    const uint64_t pids = page_processes(p);
    uint64_t all = 0, of[PAGE_OPS] = {0};

    for (unsigned op = 0; op < PAGE_OPS; op++)
        for (unsigned hit = 0; hit < PAGE_LEVELS; hit++)
            of[op] += p->served[op][hit];
    all = of[CF_LOAD] + of[CF_STORE];
    cf_terminal_head(x->out, &x->t, p->command ? p->command : "a recording without a command",
                     p->source ? p->source : "");
    for (unsigned i = 0; i < CF_RECORDED; i++) {
        static const char *const name[] = {"recorded ", " on ", ", ", ", ", ", "};

        if (p->recorded[i]) {
            fputs(name[i], x->out);
            cf_terminal_text(x->out, &x->t, p->recorded[i], 200);
        }
    }
    fputs(p->recorded[0] ? "\n" : "", x->out);
    fprintf(x->out, "%" PRIu64 " process%s, ", pids, pids == 1 ? "" : "es");
    if (p->lacks_tid)
        fputs("threads not known (no column tid)", x->out);
    else
        fprintf(x->out, "%zu thread%s", p->ranked[PAGE_THREADS].count,
                p->ranked[PAGE_THREADS].count == 1 ? "" : "s");
    if (instructions)
        fprintf(x->out, ", %s instructions", number(instructions));
    fprintf(x->out, "\n%s accesses: %s loads, %s stores", number(all), number(of[CF_LOAD]),
            number(of[CF_STORE]));
    if (of[CF_IFETCH])
        fprintf(x->out, "; %s runs of instructions", number(of[CF_IFETCH]));
    fprintf(x->out, "\n%s touched, in lines of %" PRIu32 " bytes\n",
            size_of(p->touched * p->machine->line_size), p->machine->line_size);
    if (p->unplaced)
        fprintf(x->out, "%s accesses without an address are not in this page\n",
                number(p->unplaced));
    fputs("on the caches of ", x->out);
    cf_terminal_text(x->out, &x->t, p->machine->name, 200);
    fputc('\n', x->out);
    if (p->interleaved)
        fprintf(x->out,
                p->threaded ? "threads side by side on %u cores\n"
                            : "accesses on the CPUs that the recording states, of %u\n",
                p->cores);
    if (p->cores == 1 && p->ranked[PAGE_THREADS].count > 1)
        fprintf(x->out, "%s %s, as recorded, on one core\n", pids > 1 ? "processes" : "threads",
                p->side_by_side ? "in the order of time" : "one after the other");
    rest(x);
}

static void processes(const struct text *x)
{
    const struct page *p = x->p;

    if (page_processes(p) < 2)
        return;
    heading(x, "Processes");
    fprintf(x->out, "  %10s %12s %10s %10s  %s\n", "process", "instructions", "accesses", "misses",
            "name");
    for (size_t i = 0; i < p->processes && i < MOST_PROCESSES; i++) {
        const struct page_process *o = &p->process[i];

        fprintf(x->out, "  %10" PRIu64 " %12s %10s %10s  ", o->pid,
                number(page_instructions(p) ? o->instructions : 0), number(o->accesses),
                number(o->misses));
        cf_terminal_text(x->out, &x->t, o->name ? o->name : "", 80);
        fputc('\n', x->out);
    }
    if (p->processes > MOST_PROCESSES)
        fprintf(x->out, "  and %zu more\n", p->processes - MOST_PROCESSES);
}

static void levels(const struct text *x)
{
    const struct page *p = x->p;
    const uint64_t instructions = page_instructions(p);
    struct page_level level[CF_MAX_LEVELS];
    const unsigned count = page_levels(p, level);

    heading(x, "Levels");
    fprintf(x->out, "  %-24s %10s %10s %8s%s\n", "", "accesses", "misses", "ratio",
            instructions ? "  per 1,000 instructions" : "");
    for (unsigned i = 0; i < count; i++) {
        const struct page_level *l = &level[i];
        char name[128];

        snprintf(name, sizeof name, "%s, %s", l->level->name, size_of(l->level->size));
        fprintf(x->out, "  %-24s %10s %10s %6.2f %%", name, number(l->accesses), number(l->misses),
                percent(l->misses, l->accesses));
        if (instructions)
            fprintf(x->out, " %12.3f", 1000 * (double)l->misses / (double)instructions);
        fputc('\n', x->out);
    }
}

static void classes(const struct text *x)
{
    const struct page *p = x->p;
    uint64_t misses = 0;

    for (unsigned c = CF_CLASS_COMPULSORY; c < CF_CLASSES_MODELLED; c++)
        misses += p->class[c];
    heading(x, "Why the first level missed loads and stores");
    for (unsigned c = CF_CLASS_COMPULSORY; c < CF_CLASSES_MODELLED; c++) {
        const double part = percent(p->class[c], misses);

        if (c >= CF_CLASS_TRUE_SHARING && !p->interleaved)
            continue;
        fprintf(x->out, "  %-14s %10s %6.2f %%  ", cf_class_name(c), number(p->class[c]), part);
        for (int i = 0; i < (int)(part * BAR / 100 + 0.5); i++)
            fputc('#', x->out);
        fputc('\n', x->out);
    }
}

static void table_head(const struct text *x, enum page_table table)
{
    fprintf(x->out, "  %9s %8s", "misses", "share");
    if (x->p->last_misses)
        fprintf(x->out, " %10s", "of memory");
    fprintf(x->out, " %9s %9s %9s", "compuls.", "capacity", "conflict");
    if (x->p->interleaved)
        fprintf(x->out, " %9s %9s", "true sh.", "false sh.");
    fprintf(x->out, "  %s\n", page_names[table]);
}

static void table(const struct text *x, enum page_table which)
{
    const struct page *p = x->p;
    const uint64_t misses = page_sum(p, p->misses);
    const struct cf_rank_item *i;
    size_t at = 0;
    unsigned shown = 0;

    while (shown < p->o.top && (i = page_item(p, which, &at)) != NULL) {
        const unsigned classes = p->interleaved ? CF_CLASSES_MODELLED : CF_CLASS_TRUE_SHARING;
        const char *advice = page_advice(p, i->sum);

        if (!shown++) {
            heading(x, page_titles[which]);
            table_head(x, which);
        }
        fprintf(x->out, "  %9s %6.2f %%", number(i->sum[p->misses]),
                percent(i->sum[p->misses], misses));
        if (p->last_misses)
            fprintf(x->out, " %10s", number(i->sum[p->last_misses]));
        for (unsigned c = CF_CLASS_COMPULSORY; c < classes; c++)
            fprintf(x->out, " %9s", number(i->sum[p->classes[c]]));
        fputs("  ", x->out);
        cf_terminal_text(x->out, &x->t, page_item_name(p, which, i), 200);
        if (*advice)
            fprintf(x->out, "\n  %18s %s", "", advice);
        fputc('\n', x->out);
    }
}

static void threads(const struct text *x)
{
    const struct page *p = x->p;
    const uint64_t all = page_sum(p, 0);
    const struct cf_rank_item *i;
    size_t at = 0;

    if (p->ranked[PAGE_THREADS].count < 2)
        return;
    heading(x, page_titles[PAGE_THREADS]);
    fprintf(x->out, "  %10s %8s %10s %8s  %s\n", "accesses", "share", "misses", "ratio",
            "process, thread, name");
    while (at < p->o.top && (i = page_item(p, PAGE_THREADS, &at)) != NULL) {
        fprintf(x->out, "  %10s %6.2f %% %10s %6.2f %%  %" PRIu64 " %" PRIu64 " ",
                number(i->sum[0]), percent(i->sum[0], all), number(i->sum[p->misses]),
                percent(i->sum[p->misses], i->sum[0]), i->key->a, i->key->b);
        cf_terminal_text(x->out, &x->t, page_item_name(p, PAGE_THREADS, i), 80);
        fputc('\n', x->out);
    }
}

static void fights(const struct text *x)
{
    const struct page *p = x->p;
    unsigned lines = 0, rows = 0, more = 0;

    if (!p->interleaved)
        return;
    heading(x, "Lines that threads take from each other");
    if (!p->fights)
        fputs("  none\n", x->out);
    for (size_t i = 0; i < p->fights; i++) {
        const struct page_fight *f = &p->fight[i];
        const int anew = !i || f->line != f[-1].line || f->pid != f[-1].pid;

        lines += anew;
        rows = anew ? 0 : rows;
        if (lines > SHOWN_LINES || ++rows > 2 * p->o.top) {
            more++;
            continue;
        }
        if (anew) {
            fprintf(x->out, "  line 0x%" PRIx64 " of process %" PRIu64 "\n", f->line, f->pid);
            fprintf(x->out, "  %8s %8s %10s %10s  %s\n", "offset", "thread", "true sh.",
                    "false sh.", "source line, and what is there");
        }
        fprintf(x->out, "  %8" PRIu64 " %8" PRIu64 " %10s %10s  ", f->addr - f->line, f->tid,
                number(f->sharing[0]), number(f->sharing[1]));
        cf_terminal_text(x->out, &x->t, f->source, 200);
        fputs(*f->name ? ", " : "", x->out);
        cf_terminal_text(x->out, &x->t, f->name, 120);
        fputc('\n', x->out);
    }
    if (more)
        fprintf(x->out, "  and %u more rows, of %u lines in all\n", more, lines);
}

static void curve(const struct text *x)
{
    const struct page *p = x->p;
    const uint32_t line = p->machine->line_size;
    double before = -1;

    heading(x, "Misses of loads and stores by size of a fully associative LRU cache");
    for (size_t i = 0; i < p->sizes && p->curve_all; i++) {
        const double ratio = percent(p->curve_misses[i] + p->compulsory, p->curve_all);
        const char *mark = "";

        for (unsigned l = 0; l < p->machine->levels; l++)
            if (p->machine->level[l].kind != CF_INSTRUCTION_CACHE &&
                p->machine->level[l].size / line == p->size[i])
                mark = p->machine->level[l].name;
        if (!*mark && (p->size[i] & (p->size[i] - 1)))
            continue;
        if (!*mark && before == ratio && p->curve_misses[i] == 0)
            continue;
        before = ratio;
        fprintf(x->out, "  %9s %6.2f %%  ", size_of(p->size[i] * line), ratio);
        for (int b = 0; b < (int)(ratio * BAR / 100 + 0.5); b++)
            fputc('#', x->out);
        fprintf(x->out, "%s%s\n", *mark ? "  <- " : "", mark);
    }
}

void page_print(const struct page *p, FILE *out)
{
    struct text x = {p, out, cf_terminal_here()};

    if (!cf_tool_term(p->tool))
        x.t.colours = 0;
    overview(&x);
    processes(&x);
    levels(&x);
    classes(&x);
    for (unsigned i = 0; i < PAGE_THREADS; i++)
        table(&x, i);
    fights(&x);
    threads(&x);
    curve(&x);
    if (p->map.rows) {
        struct cf_terminal t = x.t;

        t.lines = MAP_LINES;
        fputc('\n', out);
        if (heat_term(&p->map, out, &t) != 0 && !ferror(out))
            cf_out_of_memory(p->tool);
    }
}
