/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * font.c - a small stroke font of our own for the texts in a picture: ASCII 32 to 126, drawn
 * smoothly in any whole size.
 *
 * A glyph is a list of polylines, separated by blanks. A point is a column a..e and a line 0..8:
 * capitals stand on line 6 and reach up to 0, small letters reach up to 2, descenders down to 8.
 * At size 1 a column is one pixel wide and a line 1.5 pixels high, rounded to whole pixels so that
 * upright and level strokes stay sharp.
 */
#include <math.h>
#include <string.h>

#include "filters/picture/picture.h"

enum { ADVANCE = 7, FIRST = 32, LAST = 126 };

static const char *const glyphs[LAST - FIRST + 1] = {
    /*   */ "",
    /* ! */ "c0c4 c6",
    /* " */ "b0b2 d0d2",
    /* # */ "b0b6 d0d6 a2e2 a4e4",
    /* $ */ "e1b1a2b3d3e4d5a5 c0c6",
    /* % */ "a0b0b1a1a0 e6d6d5e5e6 e0a6",
    /* & */ "e6b2b1c0d1d2a4a5b6c6e4",
    /* ' */ "c0c2",
    /* ( */ "d0c1c5d6",
    /* ) */ "b0c1c5b6",
    /* * */ "c1c5 a2e4 a4e2",
    /* + */ "c1c5 a3e3",
    /* , */ "c5c6b7",
    /* - */ "a3e3",
    /* . */ "c5c6",
    /* / */ "e0a6",
    /* 0 */ "b0d0e1e5d6b6a5a1b0 d2b4",
    /* 1 */ "b1c0c6 b6d6",
    /* 2 */ "a1b0d0e1e2a6e6",
    /* 3 */ "a1b0d0e1e2d3c3 d3e4e5d6b6a5",
    /* 4 */ "d6d0a4e4",
    /* 5 */ "e0a0a2d2e3e5d6b6a5",
    /* 6 */ "e1d0b0a1a5b6d6e5e4d3b3a4",
    /* 7 */ "a0e0b6",
    /* 8 */ "b0d0e1e2d3b3a2a1b0 b3a4a5b6d6e5e4d3",
    /* 9 */ "e2d3b3a2a1b0d0e1e5d6b6a5",
    /* : */ "c2 c5",
    /* ; */ "c2 c5c6b7",
    /* < */ "e1a3e5",
    /* = */ "a2e2 a4e4",
    /* > */ "a1e3a5",
    /* ? */ "a1b0d0e1e2c3c4 c6",
    /* @ */ "d2b2b4d4d2 d4e4e1d0b0a1a5b6e6",
    /* A */ "a6a2c0e2e6 a4e4",
    /* B */ "a0a6d6e5e4d3a3 d3e2e1d0a0",
    /* C */ "e1d0b0a1a5b6d6e5",
    /* D */ "a0a6d6e5e1d0a0",
    /* E */ "e0a0a6e6 a3d3",
    /* F */ "e0a0a6 a3d3",
    /* G */ "e1d0b0a1a5b6d6e5e3c3",
    /* H */ "a0a6 e0e6 a3e3",
    /* I */ "b0d0 c0c6 b6d6",
    /* J */ "e0e5d6b6a5",
    /* K */ "a0a6 e0a3e6",
    /* L */ "a0a6e6",
    /* M */ "a6a0c3e0e6",
    /* N */ "a6a0e6e0",
    /* O */ "b0d0e1e5d6b6a5a1b0",
    /* P */ "a6a0d0e1e2d3a3",
    /* Q */ "b0d0e1e5d6b6a5a1b0 c5e7",
    /* R */ "a6a0d0e1e2d3a3 c3e6",
    /* S */ "e1d0b0a1a2b3d3e4e5d6b6a5",
    /* T */ "a0e0 c0c6",
    /* U */ "a0a5b6d6e5e0",
    /* V */ "a0c6e0",
    /* W */ "a0a6c4e6e0",
    /* X */ "a0e6 e0a6",
    /* Y */ "a0c3e0 c3c6",
    /* Z */ "a0e0a6e6",
    /* [ */ "d0b0b6d6",
    /* \ */ "a0e6",
    /* ] */ "b0d0d6b6",
    /* ^ */ "a2c0e2",
    /* _ */ "a7e7",
    /* ` */ "b0c1",
    /* a */ "b2d2e3e6 e4b4a5b6d6e5",
    /* b */ "a0a6 a3b2d2e3e5d6b6a5",
    /* c */ "e3d2b2a3a5b6d6e5",
    /* d */ "e0e6 e3d2b2a3a5b6d6e5",
    /* e */ "a4e4e3d2b2a3a5b6e6",
    /* f */ "e0d0c1c6 b2e2",
    /* g */ "e2e7d8b8a7 e3d2b2a3a5b6d6e5",
    /* h */ "a0a6 a3b2d2e3e6",
    /* i */ "c0 b2c2c6 b6d6",
    /* j */ "d0 c2d2d7c8b8",
    /* k */ "a0a6 e2a4e6",
    /* l */ "b0c0c6 b6d6",
    /* m */ "a6a2 a3b2c3c6 c3d2e3e6",
    /* n */ "a6a2 a3b2d2e3e6",
    /* o */ "b2d2e3e5d6b6a5a3b2",
    /* p */ "a8a2 a3b2d2e3e5d6b6a5",
    /* q */ "e8e2 e3d2b2a3a5b6d6e5",
    /* r */ "a6a2 a4c2d2e3",
    /* s */ "e3d2b2a3b4d4e5d6b6a5",
    /* t */ "b0b5c6d6e5 a2d2",
    /* u */ "a2a5b6d6e5 e2e6",
    /* v */ "a2c6e2",
    /* w */ "a2a5b6c5d6e5e2 c5c4",
    /* x */ "a2e6 e2a6",
    /* y */ "a2a5b6d6e5 e2e7d8b8a7",
    /* z */ "a2e2a6e6",
    /* { */ "d0c1c2b3c4c5d6",
    /* | */ "c0c7",
    /* } */ "b0c1c2d3c4c5b6",
    /* ~ */ "a3b2d4e3",
};

struct stroke {
    double x0, y0, x1, y1;
};

static unsigned glyph_strokes(const char *g, int size, struct stroke *stroke, unsigned most)
{
    unsigned n = 0;
    int begun = 0;
    double x = 0, y = 0;

    for (; *g; g++) {
        double nx, ny;

        if (*g == ' ') {
            begun = 0;
            continue;
        }
        nx = (g[0] - 'a') * size + (size - 1) / 2.0;
        ny = floor((g[1] - '0') * 1.5 * size + 0.5) + (size - 1) / 2.0;
        g++;
        /* a single point is a stroke without length */
        if (!begun && g[1] && g[1] != ' ') {
            begun = 1;
        } else if (n < most) {
            stroke[n++] = (struct stroke){begun ? x : nx, begun ? y : ny, nx, ny};
            begun = 1;
        }
        x = nx;
        y = ny;
    }
    return n;
}

static double distance(const struct stroke *s, double x, double y)
{
    double dx = s->x1 - s->x0, dy = s->y1 - s->y0, length = dx * dx + dy * dy;
    double t = length > 0 ? ((x - s->x0) * dx + (y - s->y0) * dy) / length : 0;

    t = t < 0 ? 0 : t > 1 ? 1 : t;
    return hypot(x - s->x0 - t * dx, y - s->y0 - t * dy);
}

static void draw_glyph(const char *g, int x, int y, int size,
                       void (*dot)(void *, int x, int y, unsigned coverage), void *arg)
{
    struct stroke stroke[16];
    unsigned n = glyph_strokes(g, size, stroke, sizeof stroke / sizeof stroke[0]);

    for (int py = -1; n && py <= 13 * size; py++) {
        for (int px = -1; px <= 5 * size; px++) {
            double near = 1e9, coverage;
            for (unsigned i = 0; i < n; i++)
                near = fmin(near, distance(&stroke[i], px, py));
            coverage = size * 0.5 + 0.6 - near;
            if (coverage > 0)
                dot(arg, x + px, y + py, coverage >= 1 ? 255 : (unsigned)(coverage * 255));
        }
    }
}

void cf_font_draw(const char *text, int x, int y, int size,
                  void (*dot)(void *, int x, int y, unsigned coverage), void *arg)
{
    for (size_t n; *text; text += n, x += ADVANCE * size) {
        uint32_t code;

        n = cf_text_character(text, &code);
        if (code < FIRST || code > LAST)
            code = '?';
        draw_glyph(glyphs[code - FIRST], x, y, size, dot, arg);
    }
}

int cf_font_width(const char *text, int size)
{
    int characters = 0;

    for (uint32_t code; *text; text += cf_text_character(text, &code))
        characters++;
    return characters * ADVANCE * size;
}
