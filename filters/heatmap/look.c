/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * look.c - what the pictures have in common: colours, scales, numbers and texts for people.
 *
 * The colour map runs from violet over blue and green to yellow. Its lightness grows evenly, so
 * that it can be read without colour vision and in grey: a few anchors in the OKLab space (Bjoern
 * Ottosson, "A perceptual color space for image processing", 2020), straight lines between them.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "filters/heatmap/heat.h"

const struct heat_rgb heat_ground = {17, 18, 26};
const struct heat_rgb heat_gap = {96, 98, 112};

static uint8_t channel(double linear)
{
    double v;

    if (linear <= 0)
        return 0;
    v = linear <= 0.0031308 ? 12.92 * linear : 1.055 * pow(linear, 1 / 2.4) - 0.055;
    return v >= 1 ? 255 : (uint8_t)lround(v * 255);
}

struct heat_rgb heat_colour(double t)
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
    return (struct heat_rgb){
        channel(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
        channel(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
        channel(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s),
    };
}

double heat_scale(const struct heat_map *map, uint64_t value)
{
    if (value >= map->peak)
        return 1;
    if (map->linear)
        return (double)value / (double)map->peak;
    return value > 1 ? log((double)value) / log((double)map->peak) : 0;
}

void heat_number(char *out, size_t size, double value)
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

void heat_page_name(char *out, size_t size, const struct heat_map *map, uint32_t row)
{
    uint64_t page = map->row[row].page;

    if (map->band[map->row[row].band].region)
        snprintf(out, size, "%" PRIu64, page);
    else
        snprintf(out, size, "0x%" PRIx64, page << HEAT_PAGE_SHIFT);
}

double heat_step(double least, double most, unsigned marks)
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

void heat_time_axis(const struct heat_map *map, unsigned marks, struct heat_axis *axis)
{
    static const char *const much[] = {"", "thousand ", "million ", "billion "};
    static const char *const seconds[] = {"ns", "us", "ms", "s"};
    uint64_t start = map->start, end = heat_bin_start(map, map->bins);
    double largest;
    int power = 0;

    memset(axis, 0, sizeof *axis);
    axis->divisor = 1;
    if (!strcmp(map->unit, "snapshot")) {
        axis->step = fmax(1, heat_step((double)start, (double)end, marks));
        snprintf(axis->title, sizeof axis->title, "snapshot");
        return;
    }
    /* marks that differ only in the last of many digits help nobody */
    if (start / 4 > end - start)
        axis->zero = start;
    largest = (double)(end - axis->zero);
    while (power < 3 && largest >= 10000) {
        largest /= 1000;
        axis->divisor *= 1000;
        power++;
    }
    axis->step = heat_step((double)(start - axis->zero) / axis->divisor,
                           (double)(end - axis->zero) / axis->divisor, marks);
    for (double s = axis->step; axis->digits < 6 && s < 0.999; s *= 10)
        axis->digits++;
    if (!strcmp(map->unit, "nanoseconds"))
        snprintf(axis->title, sizeof axis->title, "time (%s", seconds[power]);
    else
        snprintf(axis->title, sizeof axis->title, "time (%s%s", much[power],
                 *map->unit ? map->unit : "ticks");
    if (axis->zero) {
        size_t n = strlen(axis->title);
        snprintf(axis->title + n, sizeof axis->title - n, " after %" PRIu64, axis->zero);
    }
    strncat(axis->title, ")", sizeof axis->title - strlen(axis->title) - 1);
}

size_t heat_character(const char *text, uint32_t *code)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *t = (const unsigned char *)text;
    size_t n = t[0] < 0x80 ? 1 : t[0] >> 5 == 6 ? 2 : t[0] >> 4 == 14 ? 3 : t[0] >> 3 == 30 ? 4 : 0;
    uint32_t c;

    *code = 0xfffd;
    if (!n)
        return 1;
    c = n == 1 ? t[0] : t[0] & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) {
        if ((t[i] & 0xc0) != 0x80)
            return i;
        c = c << 6 | (t[i] & 0x3f);
    }
    if (c < 0x20 || (c >= 0x7f && c < 0xa0) || c < least[n] || c > 0x10ffff ||
        (c >= 0xd800 && c < 0xe000) || (c >= 0x200b && c <= 0x200f) ||
        (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff)
        return n;
    *code = c;
    return n;
}

void heat_title(const struct heat_map *map, char *out, size_t size)
{
    if (!strcmp(map->unit, "snapshot"))
        snprintf(out, size, "Cached lines of each page, by snapshot");
    else
        snprintf(out, size, "%s of each page over time", map->what);
    if (out[0] >= 'a' && out[0] <= 'z')
        out[0] = (char)(out[0] - 'a' + 'A');
}

void heat_summary(const struct heat_map *map, char *out, size_t size)
{
    char total[32], width[32];
    int n;

    heat_number(total, sizeof total, (double)map->total);
    n = snprintf(out, size, "%s %s, %" PRIu32 " page%s in %" PRIu32 " mapping%s", total, map->what,
                 map->rows, map->rows == 1 ? "" : "s", map->bands, map->bands == 1 ? "" : "s");
    if (n < 0 || (size_t)n >= size)
        return;
    if (strcmp(map->unit, "snapshot")) {
        const char *unit = *map->unit ? map->unit : "ticks";
        int length = (int)strlen(unit);

        if (map->width == 1 && unit[length - 1] == 's')
            length--;
        heat_number(width, sizeof width, (double)map->width);
        snprintf(out + n, size - (size_t)n, "; %" PRIu32 " bin%s of %s %.*s", map->bins,
                 map->bins == 1 ? "" : "s", width, length, unit);
    } else {
        snprintf(out + n, size - (size_t)n, "; %" PRIu32 " snapshot%s", map->bins,
                 map->bins == 1 ? "" : "s");
    }
}
