/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * findings_json.c - findings as JSON, and as a page for a browser that shows the same.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "filters/parts/report/findings.h"
#include "filters/picture/picture.h"

CF_PAGE(findings_page, CF_PAGE_FILE("filters/parts/report/findings.css"),
        CF_PAGE_FILE("filters/parts/report/page.html"),
        CF_PAGE_FILE("filters/parts/report/findings.js"));

static void text(FILE *out, const char *name, const char *value)
{
    cf_json_text(out, name, value);
    fputc(',', out);
}

static void text_id(const struct findings *f, FILE *out, const char *name, uint32_t id)
{
    text(out, name, cf_reader_text(f->reader, id));
}

static void number(FILE *out, const char *name, uint64_t value)
{
    fprintf(out, "\"%s\":%" PRIu64 ",", name, value);
}

/* A share, 0 to 1. */
static void percent(FILE *out, const char *name, double share)
{
    fprintf(out, "\"%s\":%.3f,", name, 100 * share);
}

static void program_counter(FILE *out, uint64_t pc)
{
    fprintf(out, "\"pc\":\"0x%" PRIx64 "\"", pc);
}

static void statements(const struct findings *f, const struct finding *of, FILE *out)
{
    const struct finding_share *share =
        f->list[FINDING_STATEMENTS].share + of->first[FINDING_STATEMENTS];

    fputs("\n \"statements\":[", out);
    for (size_t i = 0; i < of->count[FINDING_STATEMENTS]; i++) {
        const struct finding_statement *s = &f->statement[share[i].id];

        fputs(i ? ",\n  {" : "{", out);
        text_id(f, out, "source", s->source);
        text_id(f, out, "function", s->function);
        number(out, "misses", share[i].misses);
        number(out, "samples", share[i].samples);
        program_counter(out, s->pc);
        fputs(",\"excerpt\":[", out);
        for (unsigned k = 0; k < s->lines; k++) {
            fprintf(out, "%s[%" PRIu64 ",", k ? "," : "", s->first + k);
            cf_json_text(out, "", s->text[k]);
            fputc(']', out);
        }
        fputs("]}", out);
    }
    fputs("],", out);
}

static void stack(const struct findings *f, const struct finding_object *object, FILE *out)
{
    struct finding_node frame[FINDING_FRAMES];
    const unsigned count = object ? findings_stack(f, object, frame) : 0;

    fputs("\"stack\":[", out);
    for (unsigned i = 0; i < count; i++) {
        fputs(i ? ",{" : "{", out);
        text_id(f, out, "source", frame[i].source);
        text_id(f, out, "function", frame[i].function);
        program_counter(out, frame[i].pc);
        fputc('}', out);
    }
    fputs("]}", out);
}

static void related(const struct findings *f, const struct finding *of, FILE *out)
{
    static const char *const kind[] = {"heap", "global", "mapping", "unknown"};
    size_t count;
    struct finding_related *list = findings_related(f, of, &count);

    fputs("\n \"memory\":[", out);
    for (size_t i = 0; i < count; i++) {
        const struct finding_related *r = &list[i];
        const int heap = r->owner->kind == FINDING_HEAP;

        fputs(i ? ",\n  {" : "{", out);
        text(out, "kind", kind[r->owner->kind]);
        text_id(f, out, "name", r->object ? r->object->site : heap ? 0 : r->owner->id);
        number(out, "misses", r->misses);
        if (heap)
            number(out, "objects", r->objects);
        if (r->object) {
            number(out, "least_bytes", r->least);
            number(out, "most_bytes", r->most);
            number(out, "tid", r->object->tid);
        }
        stack(f, r->object, out);
    }
    fputs("],", out);
    free(list);
}

static void threads(const struct findings *f, const struct finding *of, FILE *out)
{
    const struct finding_share *share = f->list[FINDING_THREADS].share + of->first[FINDING_THREADS];

    fputs("\n \"threads\":[", out);
    for (size_t i = 0; i < of->count[FINDING_THREADS]; i++) {
        const struct finding_thread *t = &f->thread[share[i].id];

        fprintf(out, "%s{\"pid\":%u,\"tid\":%u,\"misses\":%" PRIu64 "}", i ? "," : "", t->pid,
                t->tid, share[i].misses);
    }
    fputs("]}", out);
}

static void one(const struct findings *f, const struct finding *of, FILE *out)
{
    text(out, "class", cf_class_name(of->class));
    text(out, "origin", finding_allocators(of) ? "allocator" : "application");
    text(out, "title", finding_title(of));
    number(out, "misses", of->misses);
    percent(out, "share_percent", findings_share(f, of->misses));
    percent(out, "bound_percent", of->bound);
    number(out, "samples", of->samples);
    number(out, "fine_samples", of->fine);
    number(out, "cache_lines", of->lines);
    text(out, "fix", finding_fix(of));
    statements(f, of, out);
    related(f, of, out);
    threads(f, of, out);
}

/* What is said of the whole stream, and the findings. */
static void body(const struct findings *f, FILE *out)
{
    char words[LOST_WORDS];

    number(out, "samples", f->samples);
    number(out, "fine_samples", f->fine);
    number(out, "loads", findings_accesses(f, FINDING_LOAD));
    number(out, "load_misses", findings_misses(f, FINDING_LOAD));
    number(out, "stores", findings_accesses(f, FINDING_STORE));
    number(out, "store_misses", findings_misses(f, FINDING_STORE));
    number(out, "line_size_bytes", f->line_size);
    number(out, "lost_samples", f->lost.samples);
    number(out, "throttled", f->lost.throttled);
    text(out, "lost", lost_words(&f->lost, words, sizeof words) ? words : "");
    findings_price(f, words, sizeof words);
    text(out, "gains", words);
    if (!f->count)
        findings_why_none(f, words, sizeof words);
    text(out, "no_finding", f->count ? "" : words);
    fputs("\"findings\":[", out);
    for (size_t i = 0; i < f->count; i++) {
        fputs(i ? ",\n{" : "\n{", out);
        one(f, &f->finding[i], out);
    }
    fputs("]}", out);
}

void findings_json(const struct findings *f, FILE *out)
{
    fputc('{', out);
    text(out, "command", f->command ? f->command : "");
    text(out, "machine", f->machine_name ? f->machine_name : "");
    body(f, out);
    fputc('\n', out);
}

static void data(const void *findings, FILE *out)
{
    const struct findings *f = findings;
    char summary[640], words[256], few[256];
    const int doubtful = f->count && findings_few(f, few, sizeof few);

    findings_price(f, words, sizeof words);
    snprintf(summary, sizeof summary,
             "%zu finding%s in %" PRIu64 " samples; gains are upper bounds %s%s%s", f->count,
             f->count == 1 ? "" : "s", f->samples, words, doubtful ? "; " : "",
             doubtful ? few : "");
    cf_page_head(out, "Cache misses worth fixing", f->command ? f->command : "", summary);
    body(f, out);
}

int findings_html(const void *findings, FILE *out)
{
    return cf_page(out, &findings_page, data, findings);
}
