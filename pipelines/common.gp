# SPDX-License-Identifier: BSD-2-Clause
#
# What the pictures of explore.mk have in common. They are called with
#   gnuplot -e "out='FILE.png'; name='TRACE'; ..." SCRIPT.gp
# and take their numbers from the CSV that is named.

set terminal pngcairo size 1120,640 enhanced font "DejaVu Sans,12" background "#ffffff"
set output out
set datafile separator ","
set encoding utf8
set title font ",15" offset 0,0.3
set border 3 linewidth 1 linecolor "#555555"
set tics nomirror textcolor "#333333"
set grid linetype 1 linewidth 0.7 linecolor "#e2e2e2"
set key noenhanced
set lmargin 11
set bmargin 4.5

# Colours that are told apart also by those who see few, after Okabe and Ito.
blue = "#0072b2"; orange = "#e69f00"; green = "#009e73"; red = "#d55e00"; purple = "#cc79a7"
sky = "#56b4e9"; grey = "#888888"; black = "#222222"

bytes(x) = x < 2**10 ? sprintf("%g B", x) : x < 2**20 ? sprintf("%g KiB", x / 2.0**10) : x < 2**30 ? sprintf("%g MiB", x / 2.0**20) : \
    sprintf("%g GiB", x / 2.0**30)

# Where a logarithmic size axis from `from` to `to` has its labels: at most 13 powers of two.
size_step(from, to) = ceil(log(to / from) / log(2) / 12.0)
exponent(x) = int(floor(log(x) / log(2) + 0.5))
