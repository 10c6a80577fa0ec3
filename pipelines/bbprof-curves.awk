# SPDX-License-Identifier: BSD-2-Clause
#
# A table with a header and no quoted fields, as a picture (SVG) of curves:
#
#   awk -f bbprof-curves.awk -v x=COLUMN -v y=COLUMN -v by="COLUMN..." -v title=TEXT TABLE.csv
#
# One curve for each value of the columns `by`, through its rows in their order. All axes begin at 0, or
# below it where there are values.
#   xtext, ytext, y2text   what stands at the axes, beside the columns' own names
#   y2                     a further column: dashed curves of the same colours, by an axis at the right
#   panel="COLUMN..."      a panel for each value of these, of the same axes
#   own=1                  each panel has axes of its own
#   shape=bars             bars beside each other in place of curves, x being names
BEGIN {
    FS = ","
    keys = split(by, key, " ")
    panel_keys = split(panel, panel_key, " ")
    colours = split("#1f5fa8 #c8502a #2f8f4e #8c4fa3 #a07d12 #3f9aa8 #6b6b6b #c23b78", colour, " ")
}
NR == 1 {
    for (i = 1; i <= NF; i++)
        at[$i] = i
    wanted = split(by " " panel " " x " " y " " y2, want, " ")
    for (i = 1; i <= wanted; i++)
        missing = missing (want[i] in at ? "" : " " want[i])
    if (missing != "")
        exit
    next
}
function joined(names, count,  text, i) {
    for (i = 1; i <= count; i++)
        text = text (i > 1 ? " " : "") $at[names[i]]
    return text
}
{
    in_panel = joined(panel_key, panel_keys)
    if (!(in_panel in panel_at)) {
        panel_name[++panels] = in_panel
        panel_at[in_panel] = panels
    }
    who = joined(key, keys)
    if (!(who in known)) {
        name[++series] = who
        known[who]
    }
    n = ++points[in_panel, who]
    if (shape == "bars" && !($at[x] in place)) {
        place[$at[x]] = places
        place_name[places++] = $at[x]
    }
    px[in_panel, who, n] = shape == "bars" ? place[$at[x]] : $at[x]
    py[in_panel, who, n] = $at[y]
    raise(most_x_of, in_panel, px[in_panel, who, n])
    raise(most_y_of, in_panel, $at[y])
    raise(less_y_of, in_panel, -$at[y])
    if (y2 != "") {
        py2[in_panel, who, n] = $at[y2]
        most_y2 = $at[y2] + 0 > most_y2 ? $at[y2] + 0 : most_y2
    }
}
# The greatest value of a panel, and in [""] of all.
function raise(of, in_panel, value) {
    if (value + 0 > of[in_panel])
        of[in_panel] = value + 0
    if (value + 0 > of[""])
        of[""] = value + 0
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
# Up to the next tick, so that no curve ends above the last one.
function whole(most, step) { return int(most / step + .999999) * step }
function number(v) { return v >= 1e6 ? sprintf("%.6g M", v / 1e6) : sprintf("%.6g", v) }
# The axes of a panel, or of all
function scale(in_panel) {
    most_x = most_x_of[in_panel] > 0 ? most_x_of[in_panel] : 1
    step_y = most_y_of[in_panel] + less_y_of[in_panel]
    step_y = step_y > 0 ? tick(step_y) : 1
    less_y = whole(less_y_of[in_panel], step_y)
    most_y = whole(most_y_of[in_panel], step_y)
    if (most_y + less_y == 0)
        most_y = 1
}
function sx(v) { return left + v / most_x * wide }
# On an axis from -less to most
function sy(v, most, less) { return top + high - (v + less) / (most + less) * high }
function label(px, py, anchor, text) {
    printf "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", px, py, anchor, escaped(text)
}
function upright(px, py, text) {
    printf "<g transform=\"translate(%.1f %.1f) rotate(-90)\">\n", px, py
    label(0, 0, "middle", text)
    print "</g>"
}
function axes(  v, k, step) {
    step = tick(most_x) * (panels > 1 && most_x / tick(most_x) > 6 ? 2 : 1)
    step = step < 1 && most_x >= 2 ? 1 : step # ranks and numbers of pages are whole
    for (v = 0; shape != "bars" && v <= most_x * 1.0001; v += step) {
        printf "<path stroke=\"#ddd\" d=\"M%.1f %.1fV%.1f\"/>\n", sx(v), top + high, top
        label(sx(v), top + high + 18, "middle", v "")
    }
    for (v = 0; v < places; v++)
        label(left + (v + .5) * wide / places, top + high + 18, "middle", place_name[v])
    for (k = 0 - int(less_y / step_y + .5); k * step_y <= most_y * 1.0001; k++) {
        v = sy(k * step_y, most_y, less_y)
        printf "<path stroke=\"%s\" d=\"M%d %.1fH%d\"/>\n", k || !less_y ? "#ddd" : "#888", left, v, left + wide
        label(left - 8, v + 4, "end", number(k * step_y))
    }
    for (v = 0; y2 != "" && v <= most_y2 * 1.0001; v += tick(most_y2))
        label(left + wide + 8, sy(v, most_y2, 0) + 4, "start", number(v))
}
function curve(in_panel, who, values, most, less, look,  line, i) {
    for (i = 1; i <= points[in_panel, who]; i++)
        line = line (i > 1 ? "L" : "M") \
            sprintf("%.1f %.1f", sx(px[in_panel, who, i]), sy(values[in_panel, who, i], most, less))
    if (points[in_panel, who] == 1)
        printf "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n", sx(px[in_panel, who, 1]),
            sy(values[in_panel, who, 1], most, less), c
    if (line != "")
        printf "<path fill=\"none\" stroke-width=\"2\" stroke=\"%s\"%s d=\"%s\"/>\n", c, look, line
}
function bars(in_panel, who, s,  i, each, from, v) {
    each = wide / places
    for (i = 1; i <= points[in_panel, who]; i++) {
        from = left + (px[in_panel, who, i] + .1 + .8 * (s - 1) / series) * each
        v = py[in_panel, who, i]
        printf "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>\n", from,
            sy(v > 0 ? v : 0, most_y, less_y), .8 * each / series, (v < 0 ? -v : v) / (most_y + less_y) * high, c
    }
}
END {
    scale("")
    if (missing != "" || !series || most_y_of[""] <= 0 || (shape != "bars" && most_x_of[""] <= 0) || (y2 != "" && most_y2 <= 0)) {
        print "bbprof-curves.awk: " (missing != "" ? "the table lacks" missing : "the table has nothing to draw") >"/dev/stderr"
        exit 1
    }
    if (y2 != "")
        most_y2 = whole(most_y2, tick(most_y2))
    across = panels > 3 ? 3 : panels
    down = int((panels + across - 1) / across)
    wide = panels > 1 ? 240 : 600
    high = panels > 1 ? 210 : 405
    gap = panels > 1 ? 75 : 55
    right = (y2 != "" ? 70 : 0) + 210
    beside = own ? 65 : 40
    width = 90 + across * (wide + beside) - beside + right
    height = (panels > 1 ? 60 : 40) + down * (high + gap) - gap + 55
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"13\">\n", width, height
    printf "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n", width, height
    label(90, 24, "start", title)
    for (p = 1; p <= panels; p++) {
        left = 90 + (p - 1) % across * (wide + beside)
        top = (panels > 1 ? 60 : 40) + int((p - 1) / across) * (high + gap)
        if (own)
            scale(panel_name[p])
        axes()
        if (panels > 1)
            label(left + wide / 2, top - 8, "middle", panel_name[p])
        for (s = 1; s <= series; s++) {
            c = colour[(s - 1) % colours + 1]
            dashes = s > colours ? " stroke-dasharray=\"5 3\"" : ""
            if (shape == "bars")
                bars(panel_name[p], name[s], s)
            else
                curve(panel_name[p], name[s], py, most_y, less_y, dashes)
            if (y2 != "")
                curve(panel_name[p], name[s], py2, most_y2, 0, " stroke-dasharray=\"2 4\"")
        }
    }
    label((90 + width - right) / 2, height - 12, "middle", xtext == "" ? x : xtext)
    upright(18, (40 + height - 55) / 2, ytext == "" ? y : ytext)
    if (y2 != "")
        upright(width - 210 + 4, (40 + height - 55) / 2, y2text == "" ? y2 : y2text)
    for (s = 1; s <= series; s++) {
        c = colour[(s - 1) % colours + 1]
        dashes = s > colours ? " stroke-dasharray=\"5 3\"" : ""
        printf "<path stroke-width=\"3\" stroke=\"%s\"%s d=\"M%d %dh22\"/>\n", c, dashes, width - 210 + 14, 40 + 20 * s - 4
        label(width - 210 + 42, 40 + 20 * s, "start", name[s])
    }
    print "</svg>"
}
