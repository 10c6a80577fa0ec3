/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * findings_source.c - the lines of the source around statements: each file is found as cf-annotate
 * finds it, and read once. Memory: these lines.
 */
#include <stdlib.h>
#include <string.h>

#include "filters/parts/report/findings.h"
#include "formats/base/cf_number.h"

enum { AROUND = 2 }; /* lines before a statement, and after it */

struct place {
    char *file;
    uint64_t line;
    struct finding_statement *statement;
};

static int by_place(const void *x, const void *y)
{
    const struct place *a = x, *b = y;

    return strcmp(a->file, b->file) ?: cf_order(a->line, b->line);
}

/* The places of one file, of which those before `next` are complete. */
struct reading {
    const struct findings *f;
    struct place *place;
    size_t count, next;
};

static int take_line(void *to, uint64_t number, const char *text)
{
    struct reading *r = to;

    while (r->next < r->count && number > r->place[r->next].line + AROUND)
        r->next++;
    for (size_t i = r->next; i < r->count && number + AROUND >= r->place[i].line; i++) {
        struct finding_statement *s = r->place[i].statement;

        if (!s->lines)
            s->first = number;
        s->text[s->lines++] = cf_source_safe(r->f->tool, text);
    }
    return r->next == r->count;
}

/* Reads a file for all of its places. */
static void read_file(struct findings *f, struct place *place, size_t count)
{
    struct reading r = {f, place, count, 0};
    const struct cf_source found = cf_sources_find(f->sources, place->file);

    if (!found.path)
        return;
    (void)cf_sources_newer(f->sources, &found);
    for (size_t i = 0; i < count; i++) {
        place[i].statement->number = place[i].line;
        place[i].statement->text = cf_need(f->tool, calloc(2 * AROUND + 1, sizeof(char *)));
    }
    /* what cannot be read has no lines, as what is not found */
    if (cf_source_read(found.path, take_line, &r) < 0)
        cf_warn(f->tool, "%s: cannot be read, or is no text: its lines are left out", found.path);
}

void findings_sources(struct findings *f)
{
    struct place *place = cf_need(f->tool, calloc(f->statements + 1, sizeof *place));
    size_t count = 0;

    for (size_t i = 0; i < f->statements; i++) {
        const char *source = cf_reader_text(f->reader, f->statement[i].source);
        size_t length;
        const uint64_t line = cf_source_line(source, strlen(source), &length);

        if (!line || !length)
            continue;
        place[count++] =
            (struct place){cf_need(f->tool, strndup(source, length)), line, &f->statement[i]};
    }
    qsort(place, count, sizeof *place, by_place);
    for (size_t i = 0; i < count; i++)
        if (!i || strcmp(place[i].file, place[i - 1].file) != 0)
            cf_sources_want(f->sources, place[i].file);
    cf_sources_look(f->sources);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && !strcmp(place[end].file, place[i].file);)
            end++;
        read_file(f, place + i, end - i);
    }
    cf_sources_rest(f->sources);
    for (size_t i = 0; i < count; i++)
        free(place[i].file);
    free(place);
}
