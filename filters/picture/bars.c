/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bars.c - a ranking as level bars, the greatest value above: name, bar, value and share.
 * Memory: that of the canvas.
 */
#include <math.h>

#include "filters/picture/chart.h"

int cf_bars_picture(const void *what, const struct cf_sheet *sheet, FILE *out)
{
    enum { LEFT = 12, ROW = 18, VALUE = 112 };
    const struct cf_bars *b = what;
    struct cf_canvas *p = cf_canvas_new(sheet, out);
    char words[64], number[32];
    double y, names = 0, left, room;
    size_t fit, shown;

    if (!p)
        return -1;
    y = cf_canvas_head(p, b->title, "", b->summary) + 10;
    fit = (size_t)fmax(1, (p->height - y - 6) / ROW);
    shown = b->count < fit ? b->count : fit;
    if (shown == fit && shown < b->all)
        shown--; /* for the row that says that there are more */
    for (size_t i = 0; i < shown; i++)
        names = fmax(names, cf_canvas_text_width(p, b->name[i]));
    names = fmin(names, (p->width - LEFT - VALUE) * 0.6);
    left = LEFT + names + 8;
    room = p->width - left - VALUE;
    for (size_t i = 0; i < shown; i++, y += ROW) {
        const double bar = room * b->value[i] / b->value[0];

        cf_canvas_text_cut(p, LEFT, y + 3, names, cf_ink, b->name[i]);
        cf_canvas_box(p, left, y, fmax(1, bar), ROW - 4, cf_series_colour(0));
        cf_text_number(number, sizeof number, b->value[i]);
        snprintf(words, sizeof words, "%s, %.1f %%", number, 100 * b->value[i] / b->total);
        cf_canvas_text(p, left + bar + 6, y + 3, 0, cf_pale_ink, words);
    }
    snprintf(words, sizeof words, "and %zu more", b->all - shown);
    if (shown < b->all || !b->count)
        cf_canvas_text(p, LEFT, y + 3, 0, cf_pale_ink, b->count ? words : "nothing was counted");
    return cf_canvas_finish(p);
}
