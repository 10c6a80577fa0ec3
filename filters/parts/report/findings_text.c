/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * findings_text.c - findings as text, in the form of CachePerf's figures 5b to 9b.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "filters/parts/report/findings.h"
#include "filters/picture/picture.h"

enum { SHOWN_FRAMES = 10 };

static void safe(FILE *out, const char *text)
{
    cf_text_print(out, text, strlen(text), "");
}

static const char *text_of(const struct findings *f, uint32_t id)
{
    return cf_reader_text(f->reader, id);
}

/* The share of misses of a finding that are of a part of it. */
static double part_of(const struct finding *of, uint64_t misses)
{
    return of->misses ? 100 * (double)misses / (double)of->misses : 0;
}

/* "and 3 more of ...", where the list is longer than what was shown. */
static void more(const struct findings *f, FILE *out, size_t all, const char *what)
{
    if (all > f->o.top)
        fprintf(out, "  - and %zu more %s\n", all - f->o.top, what);
}

static size_t shown(const struct findings *f, size_t all)
{
    return all < f->o.top ? all : f->o.top;
}

/* ---- instructions ---- */

/* "file:line, function", as far as they are known, else the address. */
static void place(const struct findings *f, FILE *out, uint32_t source, uint32_t function,
                  uint64_t pc)
{
    safe(out, text_of(f, source));
    if (function)
        fputs(source ? ", " : "", out);
    safe(out, text_of(f, function));
    if (!source)
        fprintf(out, "%s0x%" PRIx64, function ? ", " : "", pc);
}

static void excerpt(const struct finding_statement *s, FILE *out)
{
    for (unsigned i = 0; i < s->lines; i++)
        fprintf(out, "    %c %6" PRIu64 ": %s\n", s->first + i == s->number ? '>' : ' ',
                s->first + i, s->text[i]);
}

static void statements(const struct findings *f, const struct finding *of, FILE *out)
{
    const struct finding_share *share =
        f->list[FINDING_STATEMENTS].share + of->first[FINDING_STATEMENTS];
    const size_t count = of->count[FINDING_STATEMENTS];

    fprintf(out, "%s, accessed by%s\n", finding_title(of),
            count > 1 ? ":" : " the instruction at:");
    for (size_t i = 0; i < shown(f, count); i++) {
        const struct finding_statement *s = &f->statement[share[i].id];

        if (count > 1)
            fprintf(out, "#%zu instruction at:\n", i);
        fputs("  - ", out);
        place(f, out, s->source, s->function, s->pc);
        if (count > 1)
            fprintf(out, ", %.1f %% of these", part_of(of, share[i].misses));
        fputc('\n', out);
        excerpt(s, out);
    }
    more(f, out, count, "instructions");
}

/* ---- objects ---- */

static void size_of(const struct finding_related *r, FILE *out)
{
    if (r->least == r->most)
        fprintf(out, "%" PRIu64 " bytes", r->most);
    else
        fprintf(out, "%" PRIu64 " to %" PRIu64 " bytes", r->least, r->most);
}

static void stack(const struct findings *f, const struct finding_object *object, FILE *out)
{
    struct finding_node frame[FINDING_FRAMES];
    const unsigned count = object ? findings_stack(f, object, frame) : 0;

    for (unsigned i = 0; i < count && i < SHOWN_FRAMES; i++) {
        fprintf(out, "  - # %u: ", i);
        place(f, out, frame[i].source, frame[i].function, frame[i].pc);
        fputc('\n', out);
    }
    if (count > SHOWN_FRAMES)
        fprintf(out, "  - and %u more callers\n", count - SHOWN_FRAMES);
    if (!count)
        fputs("  - a place that is not known\n", out);
}

/* One of several allocation sites. */
static void site(const struct findings *f, const struct finding *of,
                 const struct finding_related *r, size_t number, FILE *out)
{
    fprintf(out, "# %zu object (", number);
    size_of(r, out);
    if (r->objects > 1)
        fprintf(out, ", %" PRIu64 " of them", r->objects);
    fputs(") is allocated", out);
    if (of->class == CF_CLASS_ALLOCATOR_FALSE_SHARING && r->object)
        fprintf(out, " by thread %u", r->object->tid);
    fputs(" at:\n", out);
    stack(f, r->object, out);
}

static void heap(const struct findings *f, const struct finding *of,
                 const struct finding_related *list, size_t count, FILE *out)
{
    struct finding_related all = list[0];
    uint64_t objects = 0;

    for (size_t i = 0; i < count; i++) {
        objects += list[i].objects;
        all.least = list[i].least < all.least ? list[i].least : all.least;
        all.most = list[i].most > all.most ? list[i].most : all.most;
    }
    if (!all.most && !list->object) {
        fprintf(out, "Related to %s of which nothing is known\n",
                objects > 1 ? "heap objects" : "a heap object");
        return;
    }
    fputs(objects > 1 ? "Related to multiple heap objects (" : "Related to the heap object (", out);
    size_of(&all, out);
    fprintf(out, ") allocated %s\n",
            of->class == CF_CLASS_ALLOCATOR_FALSE_SHARING ? "by different threads:" : "at:");
    if (count == 1 && of->class != CF_CLASS_ALLOCATOR_FALSE_SHARING)
        stack(f, list->object, out);
    else
        for (size_t i = 0; i < shown(f, count); i++)
            site(f, of, &list[i], i, out);
    more(f, out, count, "allocation sites");
}

static void named(const struct findings *f, const char *what, const struct finding_related *list,
                  size_t count, FILE *out)
{
    fprintf(out, "Related to the %s%s:\n", what, count > 1 ? "s" : "");
    for (size_t i = 0; i < shown(f, count); i++) {
        fputs("  - ", out);
        safe(out, text_of(f, list[i].owner->id));
        fputc('\n', out);
    }
    more(f, out, count, "of them");
}

static void related(const struct findings *f, const struct finding *of, FILE *out)
{
    static const char *const what[] = {
        [FINDING_SYMBOL] = "global object", [FINDING_REGION] = "mapping"};
    size_t count;
    struct finding_related *list = findings_related(f, of, &count);

    for (size_t i = 0, end; i < count; i = end) {
        const enum finding_kind kind = list[i].owner->kind;

        for (end = i + 1; end < count && list[end].owner->kind == kind;)
            end++;
        if (kind == FINDING_HEAP)
            heap(f, of, list + i, end - i, out);
        else if (kind == FINDING_NOWHERE)
            fputs(count > 1 ? "" : "Related to memory of which no object is known\n", out);
        else
            named(f, what[kind], list + i, end - i, out);
    }
    free(list);
}

/* ---- the rest ---- */

static void threads(const struct findings *f, const struct finding *of, FILE *out)
{
    const struct finding_share *share = f->list[FINDING_THREADS].share + of->first[FINDING_THREADS];
    const size_t count = of->count[FINDING_THREADS];

    if (count == 1 && !f->thread[share->id].tid) /* there is no column tid */
        return;
    fputs(count > 1 ? "Threads: " : "Thread: ", out);
    for (size_t i = 0; i < shown(f, count); i++) {
        fprintf(out, "%s%u", i ? ", " : "", f->thread[share[i].id].tid);
        if (count > 1)
            fprintf(out, " (%.1f %%)", part_of(of, share[i].misses));
    }
    if (count > f->o.top)
        fprintf(out, " and %zu more", count - f->o.top);
    fputc('\n', out);
}

static void summary(const struct findings *f, FILE *out)
{
    static const char *const name[FINDING_OPS] = {"loads", "stores"};
    char price[256];

    fprintf(out, "%" PRIu64 " samples", f->samples);
    if (f->fine)
        fprintf(out, ", %" PRIu64 " of them fine", f->fine);
    for (unsigned op = 0; op < FINDING_OPS; op++) {
        const uint64_t all = findings_accesses(f, op), misses = findings_misses(f, op);

        if (all && !f->event)
            fprintf(out, "%s%.2f %% of the %s", op && findings_accesses(f, 0) ? " and " : "; ",
                    100 * (double)misses / (double)all, name[op]);
    }
    findings_price(f, price, sizeof price);
    fputs(f->event ? "\nGains are upper bounds "
                   : " missed the first level\nGains are upper bounds ",
          out);
    safe(out, price);
    fputs("\n", out);
}

static void one(const struct findings *f, size_t i, int bold, FILE *out)
{
    const struct finding *of = &f->finding[i];

    fprintf(out, "\n%sFinding %zu: %.1f %% of all misses (%" PRIu64 " sample%s",
            bold ? "\33[1m" : "", i + 1, 100 * findings_share(f, of->misses), of->samples,
            of->samples > 1 ? "s" : "");
    if (of->lines)
        fprintf(out, ", %" PRIu64 " cache line%s", of->lines, of->lines > 1 ? "s" : "");
    fprintf(out, ")%s\n", bold ? "\33[0m" : "");
    statements(f, of, out);
    related(f, of, out);
    threads(f, of, out);
    fprintf(out, "Gain: the time for memory shrinks by at most %.1f %%\n", 100 * of->bound);
    fprintf(out, "To mend it: %s\n", finding_fix(of));
}

static void findings_text(const struct findings *f, FILE *out)
{
    const int bold = cf_tool_term(f->tool) && cf_terminal_here().colours;
    char words[512];

    if (f->count) {
        summary(f, out);
        if (findings_few(f, words, sizeof words))
            fprintf(out, "%s\n", words);
    } else {
        findings_why_none(f, words, sizeof words);
        fprintf(out, "no finding: %s\n", words);
    }
    if (lost_words(&f->lost, words, sizeof words))
        fprintf(out, "%s\n", words);
    for (size_t i = 0; i < f->count; i++)
        one(f, i, bold, out);
}

/* What a table of findings has no place for. */
static void remarks(const struct findings *f)
{
    char words[512];

    if (lost_words(&f->lost, words, sizeof words))
        cf_warn(f->tool, "%s", words);
    if (!f->count) {
        findings_why_none(f, words, sizeof words);
        cf_warn(f->tool, "no finding: %s", words);
    } else if (findings_few(f, words, sizeof words)) {
        cf_warn(f->tool, "%s", words);
    }
}

void findings_print(struct findings *f)
{
    if (f->tool->form == CF_OPT_CSV) {
        if (!f->tool->quiet)
            remarks(f);
        findings_csv(f, stdout);
        return;
    }
    findings_sources(f);
    if (f->o.html)
        cf_tool_file(f->tool, f->o.html, findings_html, f);
    else if (f->tool->form == CF_OPT_JSON)
        findings_json(f, stdout);
    else
        findings_text(f, stdout);
}
