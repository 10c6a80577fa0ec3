/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * colours.c - what all pictures have in common: colours, and numbers and texts for people.
 *
 * The map of colours for heat runs from violet over blue and green to yellow. Its lightness grows
 * evenly, so that it can be read without colour vision and in grey: its anchors were computed in
 * the OKLab space (Bjoern Ottosson, "A perceptual color space for image processing", 2020), from
 * the least lightness that stands out from the ground. The colours of series are those of Okabe
 * and Ito, which people without full colour vision can distinguish ("Color Universal Design",
 * 2008), and then the same, darker and lighter. What stands out has three times the contrast of
 * its ground, the paper or that of the map (WCAG 2.1, 1.4.11): light ones are darker than theirs.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "filters/picture/picture.h"

const struct cf_rgb cf_heat_ground = {17, 18, 26};
const struct cf_rgb cf_heat_gap = {96, 98, 112};

struct cf_rgb cf_heat_colour(double t)
{
    static const uint8_t anchor[][3] = {
        {130, 68, 194},  {117, 96, 211},  {101, 122, 220}, {91, 148, 206},
        {67, 171, 203},  {75, 190, 187},  {87, 208, 168},  {132, 221, 144},
        {170, 232, 112}, {214, 239, 102}, {255, 244, 90},
    };
    const int last = (int)(sizeof anchor / sizeof *anchor) - 1;
    const double x = t < 0 ? 0 : t > 1 ? last : t * last;
    const int i = x >= last ? last - 1 : (int)x;
    uint8_t c[3];

    for (int k = 0; k < 3; k++)
        c[k] = (uint8_t)lround(anchor[i][k] + (x - i) * (anchor[i + 1][k] - anchor[i][k]));
    return (struct cf_rgb){c[0], c[1], c[2]};
}

struct cf_rgb cf_series_colour(unsigned series)
{
    static const struct cf_rgb colour[] = {
        {0, 114, 178},  {188, 130, 0},  {0, 158, 115},   {195, 116, 160}, {71, 149, 193},
        {213, 94, 0},   {151, 143, 41}, {0, 57, 89},     {115, 79, 0},    {0, 79, 57},
        {102, 60, 83},  {43, 90, 116},  {106, 47, 0},    {120, 114, 33},  {102, 147, 173},
        {162, 138, 85}, {93, 151, 135}, {163, 133, 149}, {114, 146, 163}, {177, 132, 97},
        {146, 142, 94},
    };

    return colour[series % (sizeof colour / sizeof *colour)];
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

int cf_times_even(const uint32_t *number, const uint64_t *time, size_t count, double *zero,
                  double *period)
{
    /* the last one comes with the end, within its period */
    const size_t last = count > 2 ? count - 2 : 1;
    double from, steps;

    if (count < 2)
        return 0;
    from = number ? number[0] : 0;
    steps = (number ? number[last] : (double)last) - from;
    if (steps <= 0 || time[last] <= time[0])
        return 0;
    *period = (double)(time[last] - time[0]) / steps;
    *zero = (double)time[0] - from * *period;
    for (size_t i = 0; i < count; i++) {
        const double late = (double)time[i] - *zero - (number ? number[i] : (double)i) * *period;

        if (late > *period / 2 || late < -*period / (i > last ? 1 : 2))
            return 0;
    }
    return 1;
}

void cf_axis_number(char *out, size_t size, double value, double step, double most)
{
    static const char prefix[] = " kMGTPE";
    int i = 0, digits = 0;

    for (; most >= 1000 && prefix[i + 1]; i++) {
        value /= 1000;
        step /= 1000;
        most /= 1000;
    }
    for (double s = step; digits < 6 && fabs(s - rint(s)) > 1e-6 * s; s *= 10)
        digits++;
    snprintf(out, size, i && value != 0 ? "%.*f %c" : "%.*f", value != 0 ? digits : 0, value,
             prefix[i]);
}

void cf_time_axis(uint64_t start, uint64_t end, const char *unit, unsigned marks,
                  struct cf_time_axis *axis)
{
    static const char *const much[] = {"",          "thousand ",    "million ",    "billion ",
                                       "trillion ", "quadrillion ", "quintillion "};
    static const char *const seconds[] = {"ns", "us", "ms", "s"};
    double largest;
    int power = 0;

    memset(axis, 0, sizeof *axis);
    axis->divisor = 1;
    if (!strcmp(unit, "snapshot")) {
        axis->step = fmax(1, cf_axis_step((double)start, (double)end, marks));
        snprintf(axis->title, sizeof axis->title, "snapshot");
        return;
    }
    /* marks that differ only in the last of many digits cannot be compared at a glance */
    if (start / 4 > end - start)
        axis->zero = start;
    largest = (double)(end - axis->zero);
    while (power < 6 && largest >= 10000) {
        largest /= 1000;
        axis->divisor *= 1000;
        power++;
    }
    axis->step = cf_axis_step((double)(start - axis->zero) / axis->divisor,
                              (double)(end - axis->zero) / axis->divisor, marks);
    for (double s = axis->step; axis->digits < 6 && s < 0.999; s *= 10)
        axis->digits++;
    if (!strcmp(unit, "nanoseconds"))
        snprintf(axis->title, sizeof axis->title, "time (%s%s", much[power > 3 ? power - 3 : 0],
                 seconds[power > 3 ? 3 : power]);
    else
        snprintf(axis->title, sizeof axis->title, "time (%s%s", much[power],
                 *unit ? unit : "ticks");
    if (axis->zero) {
        size_t n = strlen(axis->title);
        snprintf(axis->title + n, sizeof axis->title - n, " after %" PRIu64, axis->zero);
    }
    strncat(axis->title, ")", sizeof axis->title - strlen(axis->title) - 1);
}
