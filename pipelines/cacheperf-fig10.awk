# SPDX-License-Identifier: BSD-2-Clause
#
# cacheperf-fig10.awk - draws table3.csv as the paper's Fig. 10: for each program the processor time with
# each way to record it at nearly its own speed, over that of the program alone, and their geometric means:
# that of a way is over the programs that it recorded.
function bar(x, value, mode) {
    printf "<rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%.1f\" fill=\"%s\"/>", x, y(value), WIDE, y(0) - y(value), colour[mode]
    printf "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%.2f</text>\n", x + WIDE / 2, y(value) - 4, value
}

function y(value) {
    return 30 + HIGH * (1 - value / top)
}

function line(value, dash) {
    printf "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#999\"%s/>", LEFT, right, y(value), y(value), dash
    if (value || y(0) - y(1) >= 12) # else 0 and 1 would lie on each other
        printf "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n", LEFT - 6, y(value) + 4, value
}

BEGIN {
    FS = ","
    WIDE = 34
    HIGH = 200
    LEFT = 56
    LEGEND = 120
    split("#4477aa #ee7733 #228833 #aa3377", colours, " ")
}
NR > 1 && $2 != "alone" && $2 != "trace" {
    if (!known[$2]++) {
        mode[++modes] = $2
        colour[$2] = colours[(modes - 1) % 4 + 1]
    }
    if (!($1 in times))
        program[++programs] = $1
    times[$1] = 1
    value[$1, $2] = $6
    if ($6 > 0) {
        logs[$2] += log($6)
        count[$2]++
    }
    top = $6 > top ? $6 : top
}
END {
    for (apart = 0.5; top > 6 * apart; apart *= 2)
        ;
    top = top < 1.5 ? 1.5 : (int(top / apart) + 1) * apart
    step = modes * WIDE + 30 < 96 ? 96 : modes * WIDE + 30
    program[++programs] = "geometric mean"
    right = LEFT + 10 + programs * step
    if (right < LEFT + modes * LEGEND)
        right = LEFT + modes * LEGEND
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" font-size=\"11\">\n", right, HIGH + 70
    printf "<text transform=\"translate(14 %d) rotate(-90)\" text-anchor=\"middle\">processor time, that of the program alone is 1</text>\n", 30 + HIGH / 2
    for (v = 0; v <= top; v += apart)
        if (v != 1)
            line(v, " stroke-dasharray=\"2 4\"")
    line(1, "")
    for (p = 1; p <= programs; p++) {
        x = LEFT + (step - modes * WIDE) / 2 + (p - 1) * step
        for (m = 1; m <= modes; m++) {
            v = p < programs ? value[program[p], mode[m]] : count[mode[m]] ? exp(logs[mode[m]] / count[mode[m]]) : 0
            if (v > 0)
                bar(x + (m - 1) * WIDE, v, mode[m])
        }
        printf "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", x + modes * WIDE / 2, y(0) + 16, program[p]
    }
    for (m = 1; m <= modes; m++)
        printf "<rect x=\"%d\" y=\"%d\" width=\"10\" height=\"10\" fill=\"%s\"/><text x=\"%d\" y=\"%d\">%s</text>\n", \
            LEFT + (m - 1) * LEGEND, HIGH + 55, colour[mode[m]], LEFT + 16 + (m - 1) * LEGEND, HIGH + 64, mode[m]
    print "</svg>"
}
