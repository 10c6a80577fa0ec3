# SPDX-License-Identifier: BSD-2-Clause
#
# cacheperf-page.awk - the tables of cacheperf.mk and its picture on one page, which needs no network.
#
# -v out=DIR, where they are; -v machine, seeds, runs, modes, host, date: what ran where
function escaped(text) {
    gsub(/&/, "\\&amp;", text)
    gsub(/</, "\\&lt;", text)
    return text
}

# Whether a text is of digits, a point and a slash: it stands at the right.
function cell(text, mark,    right) {
    right = text ~ /^[0-9.\/]+$/ ? " class=\"n" mark "\"" : mark ? " class=\"" mark "\"" : ""
    return "<td" right ">" escaped(text) "</td>"
}

# Of findings in `runs` runs, `found` are right.
function verdict(found, runs) {
    return cell(found "/" runs, found == runs ? "" : found * 20 >= runs * 19 ? " near" : " lost")
}

# A table as it is, where a pair of columns found,runs becomes one.
function table(name,    line, n, i, field, at, row) {
    print "<table>"
    for (row = 0; (getline line < (out "/" name)) > 0; row++) {
        n = split(line, field, ",")
        printf "<tr>"
        for (i = 1; i <= n; i++) {
            if (row == 0)
                at[field[i]] = i
            if (i == at["runs"])
                continue
            if (row == 0)
                printf "<th>%s</th>", escaped(field[i])
            else
                printf "%s", i == at["found"] ? verdict(field[i], field[at["runs"]]) : cell(field[i])
        }
        print "</tr>"
    }
    close(out "/" name)
    print "</table>"
    return row - 1
}

# Table 5: a row for each defect, a column for each setting.
function settings(    line, field, n, i, k, key, keys, known, set, sets, seen, at) {
    getline line < (out "/table5.csv")
    n = split(line, field, ",")
    for (i = 1; i <= n; i++)
        at[field[i]] = i
    while ((getline line < (out "/table5.csv")) > 0) {
        split(line, field, ",")
        k = field[at["program"]] "</td><td>" field[at["row"]] "</td><td>" field[at["type"]]
        if (!known[k]++)
            key[++keys] = k
        if (!seen[field[1]]++)
            set[++sets] = field[1]
        value[field[1], k] = verdict(field[at["found"]], field[at["runs"]])
    }
    close(out "/table5.csv")
    printf "<table><tr><th>program</th><th>row</th><th>type</th>"
    for (i = 1; i <= sets; i++)
        printf "<th>%s</th>", set[i]
    for (k = 1; k <= keys; k++) {
        printf "</tr>\n<tr><td>%s</td>", key[k]
        for (i = 1; i <= sets; i++)
            printf "%s", value[set[i], key[k]]
    }
    print "</tr></table>"
}

function picture(name,    line) {
    while ((getline line < (out "/" name)) > 0)
        print line
    close(out "/" name)
}

BEGIN {
    print "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>CachePerf's tables</title><style>"
    print "body { font: 14px sans-serif; margin: 2em; max-width: 95em } table { border-collapse: collapse; margin: 1em 0 }"
    print "td, th { border: 1px solid #ccc; padding: 2px 7px; text-align: left } td.n { text-align: right }"
    print "td.near { background: #fe9 } td.lost { background: #f99 }</style></head><body>"
    print "<h1>CachePerf's tables</h1>"
    print "<p>Programs of samples/cacheperf, recorded and run through the model of " escaped(machine) ", sampled with " seeds \
        " seed" (seeds == 1 ? "" : "s") ". Native runs: " runs ", on " escaped(host) ". " date ".</p>"
    print "<h2>Table 2: what is found</h2>\n<p>found: in how many of the seeds type, origin, statement and object are right;" \
        " of a program with nothing to find, in how many nothing was. others: findings, of all seeds, that are none of the program's rows." \
        " scaling: how many times shorter than the paper's the periods are. hill: the class of most misses of the statement by Hill and Smith." \
        " share_off_points: the most that the sampled share of a source line is from the exact one, and of how many missed samples.</p>"
    table("table2.csv")
    print "<h2>Table 5: what other settings lose</h2>"
    settings()
    print "<h2>Other allocators</h2>\n<p>Found says whether the defect is there under that allocator, too: one that lays objects out otherwise has none.</p>"
    if (!table("allocators.csv"))
        print "<p>None was run: none is installed, or none of the programs chosen is among those that are run under others.</p>"
    print "<h2>Table 4: what the settings cost</h2>\n<p>Sums over the programs with a defect, one seed. What hardware costs grows with samples" \
        " and accesses at breakpoints; the model has no counters, so there is no time of theirs.</p>"
    table("table4.csv")
    print "<h2>Fig. 10 and Table 3: real programs</h2>\n<p>Processor time over that of the program alone" \
        (runs > 0 ? ", each the median of " runs " run" (runs == 1 ? "" : "s") : "") "; without what samples by counters, which is hardware." \
        " The tracer's is in the table only, and of one run. Ways to run: " modes ".</p>"
    if (runs > 0 && modes ~ /breakpoints/)
        picture("fig10.svg")
    table("table3.csv")
    print "</body></html>"
}
