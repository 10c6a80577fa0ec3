/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * colours.c - what all pictures have in common: colours, and numbers and texts for people.
 *
 * The map of colours for heat runs from violet over blue and green to yellow. Its lightness grows
 * evenly, so that it can be read without colour vision and in grey: a few anchors in the OKLab
 * space (Bjoern Ottosson, "A perceptual color space for image processing", 2020), straight lines
 * between them. The colours of series are those of Okabe and Ito, which people without full colour
 * vision can distinguish ("Color Universal Design", 2008), and then the same, lighter and darker.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "filters/picture/picture.h"

static uint8_t channel(double linear)
{
    double v;

    if (linear <= 0)
        return 0;
    v = linear <= 0.0031308 ? 12.92 * linear : 1.055 * pow(linear, 1 / 2.4) - 0.055;
    return v >= 1 ? 255 : (uint8_t)lround(v * 255);
}

struct cf_rgb cf_heat_colour(double t)
{
    /* lightness, chroma, hue in degrees */
    static const double anchor[][3] = {
        {0.36, 0.140, 303}, {0.48, 0.125, 272}, {0.60, 0.105, 222},
        {0.72, 0.125, 168}, {0.84, 0.165, 132}, {0.95, 0.170, 105},
    };
    const int last = (int)(sizeof anchor / sizeof anchor[0]) - 1;
    double x = t < 0 ? 0 : t > 1 ? last : t * last;
    int i = x >= last ? last - 1 : (int)x;
    double f = x - i, lab[3], l, m, s;
    double h0 = anchor[i][2] * M_PI / 180, h1 = anchor[i + 1][2] * M_PI / 180;

    lab[0] = anchor[i][0] + f * (anchor[i + 1][0] - anchor[i][0]);
    lab[1] = anchor[i][1] * cos(h0) * (1 - f) + anchor[i + 1][1] * cos(h1) * f;
    lab[2] = anchor[i][1] * sin(h0) * (1 - f) + anchor[i + 1][1] * sin(h1) * f;
    l = pow(lab[0] + 0.3963377774 * lab[1] + 0.2158037573 * lab[2], 3);
    m = pow(lab[0] - 0.1055613458 * lab[1] - 0.0638541728 * lab[2], 3);
    s = pow(lab[0] - 0.0894841775 * lab[1] - 1.2914855480 * lab[2], 3);
    return (struct cf_rgb){
        channel(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
        channel(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
        channel(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s),
    };
}

struct cf_rgb cf_series_colour(unsigned series)
{
    static const struct cf_rgb colour[] = {
        {0, 114, 178},  {230, 159, 0}, {0, 158, 115},  {204, 121, 167},
        {86, 180, 233}, {213, 94, 0},  {240, 228, 66},
    };
    const unsigned count = sizeof colour / sizeof *colour;
    struct cf_rgb c = colour[series % count];

    switch (series / count % 3) {
    case 1:
        return (struct cf_rgb){(uint8_t)(c.r / 2), (uint8_t)(c.g / 2), (uint8_t)(c.b / 2)};
    case 2:
        return (struct cf_rgb){(uint8_t)(128 + c.r / 2), (uint8_t)(128 + c.g / 2),
                               (uint8_t)(128 + c.b / 2)};
    }
    return c;
}

void cf_text_number(char *out, size_t size, double value)
{
    static const char prefix[] = " kMGTPE";
    int i = 0;

    if (value < 1000 && value == floor(value)) {
        snprintf(out, size, "%.0f", value);
        return;
    }
    /* 999.5 and above would print as 1000 */
    while (value >= 999.5 && prefix[i + 1]) {
        value /= 1000;
        i++;
    }
    snprintf(out, size, i ? "%.*f %c" : "%.*f",
             value < 9.995   ? 2
             : value < 99.95 ? 1
                             : 0,
             value, prefix[i]);
}

double cf_axis_step(double least, double most, unsigned marks)
{
    double rough = (most - least) / (marks ? marks : 1), power;

    if (!(rough > 0))
        return 1;
    power = pow(10, floor(log10(rough)));
    for (double k = 1; k < 10; k = k == 2 ? 5 : 2 * k)
        if (k * power >= rough * (1 - 1e-9))
            return k * power;
    return 10 * power;
}
