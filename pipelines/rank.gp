# SPDX-License-Identifier: BSD-2-Clause
#
# Bars of a ranking's first entries.
# In: data (CSV of cf-rank: rank, key, value, share_percent, cumulative_percent, knee); what is
# ranked, by what, in words: title; name; out.

load dir . "/common.gp"

most = 15
stats data using 3 skip 1 nooutput
rows = exists("STATS_records") ? STATS_records : 0
all = rows ? STATS_sum : 1
if (rows) { stats data using ($1 <= most ? $3 : 0) skip 1 nooutput }
shown = rows ? STATS_sum : 0
rows = rows < most ? rows : most
# the end of a path tells more than its begin
short(s) = strlen(s) == 0 ? "(unknown)" : strlen(s) > 44 ? "…" . substr(s, strlen(s) - 42, strlen(s)) : s

widest = 10
if (rows) {
    stats data using ($1 <= most ? strlen(short(strcol(2))) : 0) skip 1 nooutput
    widest = STATS_max
}

set title sprintf("%s: %s", title, name) noenhanced
set xlabel sprintf("share of all %s (these %d have %.1f %% of %.0f)", what, rows, 100 * shown / all, all)
set format x "%g %%"
set xrange [0:*]
set yrange [most - 0.4 : -0.6]
set ytics noenhanced scale 0
set lmargin 3 + 0.95 * widest
set rmargin 8
set key off
set grid noytics
set style fill solid 0.9 noborder
if (rows == 0) {
    set xrange [0:100]
    unset ytics
    set label 1 sprintf("no %s", what) at graph 0.5, 0.5 center
    plot NaN notitle
} else {
    plot data using ($1 <= most ? 0 : NaN):($1 - 1):(0):4:($1 - 1.35):($1 - 0.65):ytic($1 <= most ? short(strcol(2)) : "") \
             skip 1 with boxxyerror linecolor rgb blue, \
         data using ($1 <= most ? $4 : NaN):($1 - 1):(sprintf(" %.1f %%", $4)) skip 1 \
             with labels left font ",10" textcolor rgb "#333333"
}
