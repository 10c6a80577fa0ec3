# SPDX-License-Identifier: BSD-2-Clause
#
# How many of the lines are cached after so many rounds of accesses: a strip for each number of
# rounds, as in "Observing the Invisible", Fig. 13.
# In: data (CSV of cf-policy --survivors); name; dir (where common.gp is); out.

load dir . "/common.gp"

set datafile columnheaders
stats data using (column("lines")) nooutput
n = int(STATS_max)
# of sets with fewer lines nothing is drawn
rounds = system("awk -F, 'NR > 1 && $2 == " . n . " { print $1 }' '" . data . "' | uniq")
strips = words(rounds)
stats data using (column("lines") == n ? column("probability") : 1 / 0) nooutput
most = STATS_max

set terminal pngcairo size 1120,(120 + 80 * (strips > 3 ? strips : 4)) enhanced \
    font "DejaVu Sans,12" background "#ffffff"
set output out
set title sprintf("Lines of %s that are cached, of %d", name, n) noenhanced
set xlabel "lines cached"
set ylabel "rounds of accesses before the snapshot" offset -1
set xrange [-0.5 : n + 0.5]
set yrange [strips : -0.05]
step = n > 20 ? int(n / 16) + 1 : 1
set xtics step scale 0
set ytics scale 0 ("" 0)
set grid noytics noxtics
set style fill solid 0.92 noborder
unset key
do for [i = 1 : strips] {
    set ytics add (word(rounds, i) i - 0.4)
    set arrow from -0.5, i - 0.05 to n + 0.5, i - 0.05 nohead linecolor rgb "#e2e2e2" linewidth 0.7
}
high(i) = i - 0.05 - 0.75 * column("probability") / most
place(i) = column("lines") == n && column("rounds") == word(rounds, i) + 0 ? column("cached") : 1 / 0
plot for [i = 1 : strips] data using (place(i)):(i - 0.05):(place(i) - 0.36):(place(i) + 0.36): \
         (high(i)):(i - 0.05) with boxxyerror linecolor rgb blue, \
     for [i = 1 : strips] data using (place(i)):(high(i)): \
         (column("probability") < 0.02 ? "" : sprintf("%.0f %%", 100 * column("probability"))) \
         with labels offset 0,0.55 font ",9" textcolor rgb "#333333"
