# SPDX-License-Identifier: BSD-2-Clause
#
# The miss-ratio curve of a trace: all data accesses, loads, stores and instruction fetches.
# In: all, ops, fetches (CSV of cf-mrc, the second with --by op); name; out.

load dir . "/common.gp"

stats all using 1 skip 1 nooutput
from = 2.0 ** floor(log(STATS_min) / log(2))
to = 2.0 ** ceil(log(STATS_max) / log(2))
stats fetches using 1 skip 1 nooutput
fetched = exists("STATS_records") && STATS_records > 1
to = fetched && STATS_max > to ? STATS_max : to
to = to > 4 * from ? to : 4 * from
stats all using ($5 / $3) skip 1 nooutput
first_accesses = STATS_max

set title "Miss ratio of a fully associative LRU cache: " . name noenhanced
set xlabel "cache size"
set ylabel "misses, share of the accesses" offset -1
set logscale x 2
set logscale y 10
set format y "%g %%"
set xrange [from:to]
set yrange [*:100]
set key top right
do for [k = exponent(from) : exponent(to) : size_step(from, to)] {
    set xtics add (bytes(2.0 ** k) 2.0 ** k)
}

# column 1 is the operation where there is one
share(c) = column(c) > 0 ? 100 * column(c) : NaN
plot all using 1:(100 * first_accesses) skip 1 with lines dashtype 3 linewidth 1.5 linecolor rgb grey \
         title "first accesses: no size avoids them", \
     ops using 2:(strcol(1) eq "load" ? share(7) : NaN) skip 1 with lines linewidth 1.5 \
         linecolor rgb sky title "loads", \
     ops using 2:(strcol(1) eq "store" ? share(7) : NaN) skip 1 with lines linewidth 1.5 \
         linecolor rgb orange title "stores", \
     all using 1:(share(6)) skip 1 with lines linewidth 3 linecolor rgb blue \
         title "loads and stores", \
     fetches using 1:(fetched ? share(6) : NaN) skip 1 with lines linewidth 2 linecolor rgb green \
         title (fetched ? "instruction fetches" : "")
