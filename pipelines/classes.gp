# SPDX-License-Identifier: BSD-2-Clause
#
# Why accesses miss, on several machines: stacked bars for each level and operation.
# In: data (CSV: machine and what cf-classify --summary prints, rows with references only); name; out.

load dir . "/common.gp"

set datafile columnheaders
stats data using (column("references")) nooutput
rows = exists("STATS_records") ? STATS_records : 0

set title "Why accesses miss: " . name noenhanced
set ylabel "misses, share of the references" offset -1
set format y "%g %%"
set yrange [0:*]
set xrange [-0.6 : (rows > 0 ? rows : 1) - 0.4]
set xtics noenhanced scale 0 font ",11"
set grid noxtics
set bmargin 7
set key outside right center vertical Left reverse
set style fill solid 0.92 noborder
set boxwidth 0.7

share(c) = 100.0 * column(c) / column("references")
# names of machines are broken at the first hyphen, so that nine bars have room
broken(s) = strstrt(s, "-") ? s[1:strstrt(s, "-")] . "\n" . s[strstrt(s, "-") + 1:*] : s . "\n"
label(i) = sprintf("%s\n%s %s", broken(strcol("machine")), strcol("level"), strcol("op"))

# drawn from the top down, each over the rest
plot data using 0:(share("compulsory") + share("capacity") + share("conflict") + \
                   share("true_sharing") + share("false_sharing")):xtic(label(0)) with boxes \
         linecolor rgb purple title "false sharing", \
     data using 0:(share("compulsory") + share("capacity") + share("conflict") + share("true_sharing")) \
         with boxes linecolor rgb sky title "true sharing", \
     data using 0:(share("compulsory") + share("capacity") + share("conflict")) with boxes \
         linecolor rgb red title "conflict", \
     data using 0:(share("compulsory") + share("capacity")) with boxes linecolor rgb orange \
         title "capacity", \
     data using 0:(share("compulsory")) with boxes linecolor rgb grey title "compulsory", \
     data using 0:(100.0 * column("misses") / column("references")): \
         (sprintf("%.2g %%", 100.0 * column("misses") / column("references"))) with labels \
         offset 0,0.7 font ",10" textcolor rgb "#333333" notitle
