/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * canvas.c - boxes, images and text on a picture, by Cairo: PNG, SVG or PDF.
 *
 * The face of all text is the one that Cairo has built in. It needs no font on the machine, so that
 * a picture is the same everywhere. It has ASCII alone: '?' stands for what is not.
 * Memory: 4 bytes a pixel of a PNG.
 */
#include <cairo/cairo-pdf.h>
#include <cairo/cairo-svg.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "filters/picture/picture.h"

const struct cf_rgb cf_ink = {28, 30, 38};
const struct cf_rgb cf_pale_ink = {96, 99, 112};
const struct cf_rgb cf_rule = {196, 198, 206};

enum { TEXT = 12, CAPITAL = 8, PNG_HEADER = 33, LOW = 230, COMMAND_LINES = 2 };
/* A title has as many lines as so many units of height fit, and is cut. */
enum { TITLE_LINE = 90 };

/* One unit in a picture whose size is given in millimetres: text is of 7.5 points then. */
static const double unit_mm = 7.5 / TEXT * 25.4 / 72;

/* A PNG whose size is given in millimetres states its resolution (chunk pHYs, 11811 pixels a metre)
   right after its header. */
static cairo_status_t put(void *canvas, const unsigned char *data, unsigned length)
{
    static const char resolution[] = "\0\0\0\11pHYs\0\0\x2e\x23\0\0\x2e\x23\1\x78\xa5\x3f\x76";
    struct cf_canvas *p = canvas;

    if (p->sheet->form == CF_PNG && p->sheet->mm && p->written == PNG_HEADER)
        fwrite(resolution, 1, sizeof resolution - 1, p->out);
    p->written += length;
    return fwrite(data, 1, length, p->out) == length ? CAIRO_STATUS_SUCCESS
                                                     : CAIRO_STATUS_WRITE_ERROR;
}

struct cf_canvas *cf_canvas_new(const struct cf_sheet *s, FILE *out)
{
    const double unit = s->mm ? unit_mm : 1, mm = s->mm ? 1 : 25.4 / 96;
    /* of a pixel or millimetre of the size: Cairo draws curves of text finer than can be seen where
       the unit of an SVG is smaller than a millimetre */
    const double device = s->form == CF_SVG   ? mm
                          : s->form == CF_PDF ? mm * 72 / 25.4
                                              : (s->mm ? 300 / 25.4 : 1);
    const double width = s->width * device, height = s->height * device;
    /* text grows more slowly than a large picture: there is to be more in it, too */
    const double larger = fmax(1, sqrt(fmin(s->width / unit / 1200, s->height / unit / 600)));
    struct cf_canvas *p = malloc(sizeof *p);
    cairo_surface_t *surface;

    if (!p)
        return NULL;
    errno = 0;
    *p = (struct cf_canvas){.sheet = s, .out = out};
    p->width = s->width / unit / larger;
    p->height = s->height / unit / larger;
    p->dots = s->form == CF_PNG ? device * unit * larger : 3;
    if (s->form == CF_PNG) {
        surface =
            cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)lround(width), (int)lround(height));
    } else if (s->form == CF_SVG) {
        surface = cairo_svg_surface_create_for_stream(put, p, width, height);
        cairo_svg_surface_set_document_unit(surface, CAIRO_SVG_UNIT_MM);
    } else {
        surface = cairo_pdf_surface_create_for_stream(put, p, width, height);
        /* the same input is to give the same bytes */
        cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATE_DATE, "");
    }
    p->cr = cairo_create(surface);
    cairo_surface_destroy(surface);
    cairo_scale(p->cr, device * unit * larger, device * unit * larger);
    cairo_select_font_face(p->cr, "@cairo: medium", CAIRO_FONT_SLANT_NORMAL,
                           CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(p->cr, TEXT);
    cairo_set_line_join(p->cr, CAIRO_LINE_JOIN_ROUND);
    cairo_set_source_rgb(p->cr, 1, 1, 1);
    cairo_paint(p->cr);
    return p;
}

int cf_canvas_finish(struct cf_canvas *p)
{
    cairo_surface_t *surface = cairo_surface_reference(cairo_get_target(p->cr));
    cairo_status_t status = cairo_status(p->cr);

    cairo_destroy(p->cr);
    if (!status && p->sheet->form == CF_PNG)
        status = cairo_surface_write_to_png_stream(surface, put, p);
    cairo_surface_finish(surface);
    if (!status)
        status = cairo_surface_status(surface);
    cairo_surface_destroy(surface);
    free(p);
    /* Cairo goes on without what it has no memory for, such as letters */
    return status || errno == ENOMEM ? -1 : 0;
}

uint32_t cf_canvas_dots(const struct cf_canvas *p, double units)
{
    return (uint32_t)fmax(1, round(units * p->dots));
}

void cf_canvas_colour(struct cf_canvas *p, struct cf_rgb c)
{
    cairo_set_source_rgb(p->cr, c.r / 255.0, c.g / 255.0, c.b / 255.0);
}

/* To the edge of a pixel, for edges that are sharp. */
static void snap(const struct cf_canvas *p, double *x, double *y)
{
    if (p->sheet->form != CF_PNG)
        return;
    cairo_user_to_device(p->cr, x, y);
    *x = round(*x);
    *y = round(*y);
    cairo_device_to_user(p->cr, x, y);
}

void cf_canvas_box(struct cf_canvas *p, double x, double y, double width, double height,
                   struct cf_rgb colour)
{
    double right = x + width, bottom = y + height;

    snap(p, &x, &y);
    snap(p, &right, &bottom);
    cf_canvas_colour(p, colour);
    cairo_rectangle(p->cr, x, y, right - x, bottom - y);
    cairo_fill(p->cr);
}

void cf_canvas_image(struct cf_canvas *p, double x, double y, double width, double height,
                     uint32_t *pixels, uint32_t columns, uint32_t lines)
{
    cairo_surface_t *image = cairo_image_surface_create_for_data(
        (unsigned char *)pixels, CAIRO_FORMAT_RGB24, (int)columns, (int)lines, (int)columns * 4);

    snap(p, &x, &y);
    cairo_save(p->cr);
    cairo_translate(p->cr, x, y);
    if (p->sheet->form == CF_PNG)
        cairo_scale(p->cr, 1 / p->dots, 1 / p->dots);
    else
        cairo_scale(p->cr, width / columns, height / lines);
    cairo_set_source_surface(p->cr, image, 0, 0);
    cairo_pattern_set_filter(cairo_get_source(p->cr), CAIRO_FILTER_NEAREST);
    cairo_paint(p->cr);
    cairo_restore(p->cr);
    cairo_surface_finish(image); /* the pixels are the caller's */
    cairo_surface_destroy(image);
}

/* ---- text ---- */

struct ascii {
    char text[512];
};

static struct ascii in_ascii(const char *text)
{
    struct ascii a;
    size_t n = 0;

    for (uint32_t code; *text && n < sizeof a.text - 1; n++) {
        text += cf_text_character(text, &code);
        a.text[n] = code >= 32 && code < 127 ? (char)code : '?';
    }
    a.text[n] = '\0';
    return a;
}

double cf_canvas_text_width(struct cf_canvas *p, const char *text)
{
    cairo_text_extents_t e;

    cairo_text_extents(p->cr, in_ascii(text).text, &e);
    return e.x_advance;
}

void cf_canvas_text(struct cf_canvas *p, double x, double y, double align, struct cf_rgb colour,
                    const char *text)
{
    cf_canvas_colour(p, colour);
    cairo_move_to(p->cr, x - align * cf_canvas_text_width(p, text), y + CAPITAL);
    cairo_show_text(p->cr, in_ascii(text).text);
    cairo_new_path(p->cr); /* a line does not begin where the text ends */
}

/* The beginning and the end of what is too long. */
static void text_ends(struct cf_canvas *p, double x, double y, double width, struct cf_rgb colour,
                      const char *text)
{
    const struct ascii a = in_ascii(text);
    struct ascii cut = a;
    const size_t n = strlen(a.text);

    for (size_t keep = n; cf_canvas_text_width(p, cut.text) > width + 0.1; keep--) {
        const size_t tail = keep * 2 / 3;

        if (keep < 4)
            return;
        snprintf(cut.text, sizeof cut.text, "%.*s..%s", (int)(keep - tail), a.text,
                 a.text + n - tail);
    }
    cf_canvas_text(p, x, y, 0, colour, cut.text);
}

void cf_canvas_text_cut(struct cf_canvas *p, double x, double y, double width, struct cf_rgb colour,
                        const char *text)
{
    const int whole = *text != '/' || cf_canvas_text_width(p, text) <= width + 0.1;

    text_ends(p, x, y, width, colour, whole ? text : strrchr(text, '/') + 1);
}

void cf_canvas_mark(struct cf_canvas *p, double x, double y, const char *text, double *end)
{
    const double half = cf_canvas_text_width(p, text) / 2;

    if (x - half < *end || x + half > p->width)
        return;
    *end = x + half + 10;
    cf_canvas_box(p, x, y, 1, 5, cf_pale_ink);
    cf_canvas_text(p, x, y + 9, 0.5, cf_ink, text);
}

void cf_canvas_time(struct cf_canvas *p, double x, double width, double y, uint64_t start,
                    uint64_t end, const char *unit)
{
    struct cf_time_axis axis;
    double first, last, past = 0;
    char number[40];

    cf_time_axis(start, end, unit, (unsigned)width / 70 + 1, &axis);
    first = (double)(start - axis.zero) / axis.divisor;
    last = (double)(end - axis.zero) / axis.divisor;
    for (uint64_t k = (uint64_t)(first / axis.step); (double)k * axis.step <= last; k++) {
        const double at = (double)k * axis.step;

        snprintf(number, sizeof number, "%.*f", axis.digits, at);
        if (at >= first)
            cf_canvas_mark(p, x + (at - first) / (last - first) * (width - 1), y, number, &past);
    }
    /* cut, where it would run into that of another drawing beside */
    last = fmin(cf_canvas_text_width(p, axis.title), width + 44);
    x = fmin(x + (width - last) / 2, p->width - last - 6);
    cf_canvas_text_cut(p, x, y + 26, last, cf_pale_ink, axis.title);
}

double cf_canvas_paragraph(struct cf_canvas *p, double x, double y, double width,
                           struct cf_rgb colour, unsigned most, const char *text)
{
    const struct ascii all = in_ascii(text);
    const double top = y;

    for (const char *rest = all.text; *rest; y += CF_LINE_HEIGHT) {
        struct ascii line = in_ascii(rest);
        char *blank;

        while (most != 1 && cf_canvas_text_width(p, line.text) > width &&
               (blank = strrchr(line.text, ' ')))
            *blank = '\0';
        text_ends(p, x, y, width, colour, line.text);
        most -= most > 1;
        rest += strlen(line.text);
        rest += *rest == ' ';
    }
    return y - top;
}

double cf_canvas_head(struct cf_canvas *p, const char *title, const char *command,
                      const char *summary)
{
    const double x = 12, room = p->width - 2 * x;
    double y = 9, used;

    title = p->sheet->title ? p->sheet->title : title;
    if (!*title)
        return y;
    if (p->sheet->form == CF_PDF)
        cairo_pdf_surface_set_metadata(cairo_get_target(p->cr), CAIRO_PDF_METADATA_TITLE,
                                       in_ascii(title).text);
    cairo_save(p->cr);
    cairo_select_font_face(p->cr, "@cairo: semibold", CAIRO_FONT_SLANT_NORMAL,
                           CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(p->cr, p->width < CF_NARROW ? 14 : 18);
    used = cf_canvas_text_width(p, title);
    y += cf_canvas_paragraph(p, x, y + 3, room, cf_ink, (unsigned)fmax(1, p->height / TITLE_LINE),
                             title) +
         (p->width < CF_NARROW ? 4 : 8);
    cairo_restore(p->cr);
    if (p->height < LOW)
        return y;
    if (used + 14 + cf_canvas_text_width(p, command) < room)
        cf_canvas_text(p, x + used + 14, y - CF_LINE_HEIGHT - 2, 0, cf_pale_ink, command);
    else
        y += cf_canvas_paragraph(p, x, y, room, cf_pale_ink, COMMAND_LINES, command);
    return y + cf_canvas_paragraph(p, x, y, room, cf_pale_ink, 0, summary);
}
