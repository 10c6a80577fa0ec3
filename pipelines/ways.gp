# SPDX-License-Identifier: BSD-2-Clause
#
# The chance of each way to be chosen for a new line, as in "Observing the Invisible", Fig. 14. The
# thin lines span two standard deviations of a binomial count; the line is what equal chances give.
# In: data (CSV of cf-policy --choices); name; dir (where common.gp is); out.

load dir . "/common.gp"

set datafile columnheaders
stats data using (column("decisions")) nooutput
all = STATS_sum
ways = int(STATS_records)
even = 100.0 / ways
highest = 2 * even
if (all > 0) {
    stats data using (column("probability")) nooutput
    highest = 118 * STATS_max
}

set title sprintf("Ways that are chosen for new lines: %s, %d decisions", name, all) noenhanced
set xlabel "way"
set ylabel "probability" offset -1
set format y "%g %%"
set yrange [0 : highest]
set xrange [-0.6 : ways - 0.4]
step = ways > 20 ? int(ways / 16) + 1 : 1
set xtics step scale 0
set grid noxtics
set style fill solid 0.92 noborder
set boxwidth 0.72
set key top right
share(x) = 100.0 * column("probability")
spread(x) = all > 0 ? 200 * sqrt(column("probability") * (1 - column("probability")) / all) : 0

plot data using "way":(share(0)) with boxes linecolor rgb blue notitle, \
     data using "way":(share(0)):(spread(0)) with yerrorbars pointtype 0 linecolor rgb black \
         notitle, \
     even with lines linewidth 1.5 dashtype 2 linecolor rgb red \
         title sprintf("equal chances: %.2f %%", even)
