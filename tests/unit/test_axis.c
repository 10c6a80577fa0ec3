/* SPDX-License-Identifier: BSD-2-Clause */
/* Marks of axes: all of an axis in one unit, with as many digits; the units of times. */
#include <string.h>

#include "filters/picture/picture.h"
#include "tap.h"

/* The marks from 0 up, with blanks between. */
static void axis(double step, double most, const char *want)
{
    char all[256] = "", one[48];

    for (int i = 0; i * step <= most * (1 + 1e-9); i++) {
        cf_axis_number(one, sizeof one, i * step, step, most);
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", i ? ", " : "", one);
    }
    if (!ok(!strcmp(all, want), "an axis to %g by %g", most, step))
        note("%s, and not %s", all, want);
}

/* Four digits before the point at most. */
static void times(uint64_t end, const char *unit, double divisor, const char *title)
{
    struct cf_time_axis a;

    cf_time_axis(0, end, unit, 10, &a);
    if (!ok(a.divisor == divisor && !strcmp(a.title, title), "times up to %g %s", (double)end,
            unit))
        note("by %g, %s", a.divisor, a.title);
}

int main(void)
{
    axis(50e3, 150e3, "0, 50 k, 100 k, 150 k");
    axis(500, 1500, "0, 0.5 k, 1.0 k, 1.5 k");
    axis(200, 800, "0, 200, 400, 600, 800");
    axis(200e3, 1e6, "0, 0.2 M, 0.4 M, 0.6 M, 0.8 M, 1.0 M");
    axis(5e9, 1e10, "0, 5 G, 10 G");
    axis(2e18, 4e18, "0, 2 E, 4 E");
    axis(0.2, 0.6, "0, 0.2, 0.4, 0.6");
    axis(1, 3, "0, 1, 2, 3");
    times(9999, "records", 1, "time (records)");
    times(10000, "records", 1e3, "time (thousand records)");
    times(20000000000000000, "records", 1e15, "time (quadrillion records)");
    times(UINT64_MAX, "records", 1e18, "time (quintillion records)");
    times(9000000000000, "nanoseconds", 1e9, "time (s)");
    times(UINT64_MAX, "nanoseconds", 1e18, "time (billion s)");
    return done();
}
