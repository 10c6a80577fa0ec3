/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * source_text.c - the lines of a source file that are shown. It is read as far as they are needed.
 * Memory: what is shown.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "filters/parts/annotate/annotate.h"
#include "formats/base/cf_memory.h"

struct text {
    struct annotate *a;
    struct file *f;
    uint32_t context;
    uint64_t lines; /* of the file, so far */
    size_t next;    /* counted line that is the next, */
    size_t edge;    /* and marked one that is the last before, or the first behind, or at */
};

/* The first marked line from `i` on. */
static size_t marked(const struct file *f, size_t i)
{
    while (i < f->lines && !f->over[i])
        i++;
    return i;
}

/* Whether a line is shown: one that is marked stands near it. */
static int is_near(struct text *t, uint64_t number)
{
    const struct file *f = t->f;

    for (; t->edge < f->lines; t->edge = marked(f, t->edge + 1)) {
        const uint64_t at = f->line[t->edge].number;

        if (at && number <= at)
            return at - number <= t->context;
        if (at && number - at <= t->context)
            return 1;
    }
    return 0;
}

static void show(struct text *t, uint64_t number, const uint64_t *sum, const char *words)
{
    struct file *f = t->f;
    struct shown *last = f->shown_lines ? &f->shown[f->shown_lines - 1] : NULL;
    const int gap = !last || number - last->number > 1;

    cf_must(t->a->tool, cf_array_room(&f->shown, &f->room, f->shown_lines + 1, sizeof *f->shown));
    f->shown[f->shown_lines++] =
        (struct shown){number, sum, words ? cf_need(t->a->tool, strdup(words)) : NULL, gap};
}

static int take_line(void *to, uint64_t number, const char *words)
{
    struct text *t = to;
    const struct file *f = t->f;

    t->lines = number;
    if (is_near(t, number)) {
        while (t->next < f->lines && f->line[t->next].number < number)
            t->next++;
        show(t, number,
             t->next < f->lines && f->line[t->next].number == number ? f->line[t->next].sum : NULL,
             words);
    }
    return t->edge >= f->lines;
}

/* Says once why the file's text is missing. */
static void lacks(struct annotate *a, struct file *f, int error)
{
    f->lack = error ? "cannot be read" : "holds no text";
    if (error && cf_is_refusal(error))
        cf_tool_note(a->tool, CF_EXIT_ENVIRONMENT);
    if (!f->warned)
        cf_warn(a->tool, "%s: %s: its lines have no text", f->path,
                error ? strerror(error) : "holds zero bytes: it is no source");
    f->warned = 1;
}

static void check_end(struct annotate *a, struct file *f, uint64_t lines)
{
    const uint64_t last = f->line[f->lines - 1].number;

    if (last > lines && !f->warned) {
        cf_warn(a->tool,
                "%s has only %llu lines, and line %llu was counted: is it the file that was "
                "compiled?",
                f->path, (unsigned long long)lines, (unsigned long long)last);
        f->warned = 1;
    }
}

void text_take(struct annotate *a, struct file *f, uint32_t context)
{
    struct text t = {.a = a, .f = f, .context = context, .edge = marked(f, 0)};
    size_t from;

    /* what was counted of the file, but of no line of it */
    for (; t.edge < f->lines && !f->line[t.edge].number; t.edge = marked(f, t.edge + 1))
        show(&t, 0, f->line[t.edge].sum, NULL);
    if (f->path && t.edge < f->lines) {
        const int end = cf_source_read(f->path, take_line, &t);

        if (end < 0)
            lacks(a, f, errno);
        else if (end == 0)
            check_end(a, f, t.lines);
    }
    /* those that are behind its end */
    from = f->shown_lines ? f->shown[f->shown_lines - 1].number + 1 : 1;
    for (size_t i = marked(f, 0); i < f->lines; i = marked(f, i + 1))
        if (f->line[i].number >= from)
            show(&t, f->line[i].number, f->line[i].sum, NULL);
}
