# SPDX-License-Identifier: BSD-2-Clause
#
# modeling-page.awk - what modeling.mk made, on one page that needs no network.
#
# -v out=DIR, where it is; -v model, machines, date; -v figures, curves: names of pictures
function escaped(text) {
    gsub(/&/, "\\&amp;", text)
    gsub(/</, "\\&lt;", text)
    return text
}

# Fields of a line of CSV, of which some stand in quotes.
function fields(line, field,    n, text) {
    n = 0
    while (line != "") {
        if (match(line, /^"([^"]|"")*"/)) {
            text = substr(line, 2, RLENGTH - 2)
            gsub(/""/, "\"", text)
        } else {
            match(line, /^[^,]*/)
            text = substr(line, 1, RLENGTH)
        }
        field[++n] = text
        line = substr(line, RLENGTH + 2)
    }
    return n
}

function table(name,    line, n, i, field, row) {
    print "<table>"
    for (row = 0; (getline line < (out "/" name)) > 0; row++) {
        n = fields(line, field)
        printf "<tr>"
        for (i = 1; i <= n; i++)
            printf row ? (field[i] ~ /^[0-9.]+$/ ? "<td class=n>%s</td>" : "<td>%s</td>") : "<th>%s</th>", escaped(field[i])
        print "</tr>"
    }
    close(out "/" name)
    print "</table>"
}

function text(name,    line) {
    print "<pre>"
    while ((getline line < (out "/" name)) > 0)
        print escaped(line)
    close(out "/" name)
    print "</pre>"
}

function picture(name,    encode, data) {
    encode = out "/" name
    gsub(/'/, "'\\''", encode)
    encode = "base64 -w 0 -- '" encode "'"
    encode | getline data
    close(encode)
    print "<figure><img alt=\"\" src=\"data:image/png;base64," data "\"></figure>"
}

BEGIN {
    print "<!DOCTYPE html><html lang=en><meta charset=utf-8><title>Caches by measurements</title><style>"
    print "body{font:15px system-ui,sans-serif;max-width:1000px;margin:2em auto;padding:0 1em;color:#222;background:#fff}"
    print "table{border-collapse:collapse}td,th{padding:.15em .7em;text-align:left;border-bottom:1px solid #ddd}"
    print ".n{text-align:right}figure{margin:1em 0}img{max-width:100%;height:auto}pre{white-space:pre-wrap}"
    print "</style><h1>Caches by measurements</h1>"
    printf "<p>%s. Every curve to point at: <a href=here.html>this machine</a>, ", escaped(date)
    printf "%s <a href=%s.misses.html>by misses</a> and <a href=%s.time.html>by time</a>.</p>\n", escaped(model), model, model
    print "<h2>This machine</h2><p>Measured, and what Linux claims of it, where it claims any.</p>"
    table("claimed.csv")
    text("here.yaml")
    print "<h3>likwid-topology</h3>"
    text("topology.txt")
    printf "<h2>%d random machines</h2><p>Models of one to three levels: values told right, told wrong, and not told.</p>\n", machines
    table("recovery.csv")
    print "<p>Policies of the first levels, and what was told.</p>"
    table("policies.csv")
    printf "<h2>Figure 1 of the paper: %s</h2>\n", escaped(model)
    n = split(figures, f, " ")
    for (i = 1; i <= n; i++)
        picture(f[i])
    print "<h2>Curves of this machine</h2>"
    n = split(curves, f, " ")
    for (i = 1; i <= n; i++)
        picture("here.curves/" f[i])
}
