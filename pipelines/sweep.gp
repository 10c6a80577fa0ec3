# SPDX-License-Identifier: BSD-2-Clause
#
# Misses over size, a line for each number of ways, and the fully associative cache below them.
# In: data (CSV of cf-sweep), full (CSV of cf-mrc); name; out.

load dir . "/common.gp"

stats data using 3 skip 1 nooutput
from = 2.0 ** floor(log(STATS_min) / log(2))
to = 2.0 ** ceil(log(STATS_max) / log(2))
stats data using ($7 > 0 ? 100 * $7 : NaN) skip 1 nooutput
low = STATS_min

set title "Miss ratio of LRU caches by size and associativity: " . name noenhanced
set xlabel "cache size"
set ylabel "misses, share of the references" offset -1
set logscale x 2
set logscale y 10
set format y "%g %%"
set xrange [from:to]
set yrange [low / 1.2 : *]
set key top right
do for [k = exponent(from) : exponent(to) : size_step(from, to)] {
    set xtics add (bytes(2.0 ** k) 2.0 ** k)
}

# few ways warm colours, many cold ones
array colour[5] = [red, orange, green, sky, blue]
array ways[5] = [1, 2, 4, 8, 16]
plot for [i = 1:5] data using 3:($2 == ways[i] && $7 > 0 ? 100 * $7 : 1/0) skip 1 \
         with linespoints linewidth 1.8 pointtype 7 pointsize 0.7 linecolor rgb colour[i] \
         title (ways[i] == 1 ? "direct mapped" : sprintf("%d ways", ways[i])), \
     full using 1:($6 > 0 ? 100 * $6 : NaN) skip 1 with lines dashtype 2 linewidth 1.8 \
         linecolor rgb black title "fully associative"
