# SPDX-License-Identifier: BSD-2-Clause
#
# A table with a header and no quoted fields, as a picture (SVG) of curves:
#
#   awk -f bbprof-curves.awk -v x=COLUMN -v y=COLUMN -v by="COLUMN..." -v title=TEXT TABLE.csv
#
# One curve for each value of the columns `by`, through its rows in their order. Both axes begin at 0.
BEGIN {
    FS = ","
    keys = split(by, key, " ")
    colours = split("#1f5fa8 #c8502a #2f8f4e #8c4fa3 #a07d12 #3f9aa8 #6b6b6b #c23b78", colour, " ")
    width = 900; height = 500; left = 90; top = 40; right = 210; bottom = 55
}
NR == 1 {
    for (i = 1; i <= NF; i++)
        at[$i] = i
    for (i = 1; i <= keys; i++)
        missing = missing (key[i] in at ? "" : " " key[i])
    missing = missing (x in at ? "" : " " x) (y in at ? "" : " " y)
    if (missing != "")
        exit
    next
}
{
    who = ""
    for (i = 1; i <= keys; i++)
        who = who (i > 1 ? " " : "") $at[key[i]]
    if (!(who in points))
        name[++series] = who
    points[who]++
    px[who, points[who]] = $at[x]
    py[who, points[who]] = $at[y]
    most_x = $at[x] + 0 > most_x ? $at[x] + 0 : most_x
    most_y = $at[y] + 0 > most_y ? $at[y] + 0 : most_y
}
function escaped(text) {
    gsub(/&/, "\\&amp;", text)
    gsub(/</, "\\&lt;", text)
    return text
}
# The distance of ticks, of which there are four to ten up to `most`.
function tick(most,  step) {
    step = 10 ^ int(log(most) / log(10) + 20) / 10 ^ 20
    return most / step < 2 ? step / 5 : most / step < 5 ? step / 2 : step
}
function sx(v) { return left + v / most_x * (width - left - right) }
function sy(v) { return height - bottom - v / most_y * (height - top - bottom) }
function label(px, py, anchor, text) {
    printf "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", px, py, anchor, escaped(text)
}
END {
    if (missing != "" || !series || most_x <= 0 || most_y <= 0) {
        print "bbprof-curves.awk: " (missing != "" ? "the table lacks" missing : "the table has nothing to draw") >"/dev/stderr"
        exit 1
    }
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"13\">\n", width, height
    printf "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n", width, height
    label(left, 24, "start", title)
    for (v = 0; v <= most_x * 1.0001; v += tick(most_x)) {
        printf "<path stroke=\"#ddd\" d=\"M%.1f %.1fV%d\"/>\n", sx(v), sy(0), top
        label(sx(v), sy(0) + 18, "middle", v "")
    }
    for (v = 0; v <= most_y * 1.0001; v += tick(most_y)) {
        printf "<path stroke=\"#ddd\" d=\"M%d %.1fH%d\"/>\n", left, sy(v), width - right
        label(left - 8, sy(v) + 4, "end", sprintf("%.6g", v))
    }
    label((left + width - right) / 2, height - 12, "middle", x)
    printf "<g transform=\"translate(18 %.1f) rotate(-90)\">\n", (top + height - bottom) / 2
    label(0, 0, "middle", y)
    print "</g>"
    for (s = 1; s <= series; s++) {
        who = name[s]
        line = ""
        for (i = 1; i <= points[who]; i++)
            line = line (i > 1 ? "L" : "M") sprintf("%.1f %.1f", sx(px[who, i]), sy(py[who, i]))
        c = colour[(s - 1) % colours + 1]
        dashes = s > colours ? " stroke-dasharray=\"5 3\"" : ""
        if (points[who] == 1)
            printf "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n", sx(px[who, 1]), sy(py[who, 1]), c
        printf "<path fill=\"none\" stroke-width=\"2\" stroke=\"%s\"%s d=\"%s\"/>\n", c, dashes, line
        printf "<path stroke-width=\"3\" stroke=\"%s\"%s d=\"M%d %dh22\"/>\n", c, dashes, width - right + 14, top + 20 * s - 4
        label(width - right + 42, top + 20 * s, "start", who)
    }
    print "</svg>"
}
