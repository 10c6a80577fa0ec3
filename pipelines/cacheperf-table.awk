# SPDX-License-Identifier: BSD-2-Clause
#
# cacheperf-table.awk - adds to the judgements of each program: by how much periods were shorter, the
# class that most misses of the statement have exactly, by how many points the sampled share of misses
# of a source line differs from the exact one at most and how many samples missed, and how much faster
# the mended program runs.
#
# -v out=DIR      what the pipeline made, -v sources=DIR  the programs, -v head=COLUMNS
BEGIN {
    FS = OFS = ","
    while ((getline line < (out "/speed.txt")) > 0) {
        split(line, part, " ")
        if (part[3] > 0)
            faster[part[1]] = sprintf("%.2f", part[2] / part[3])
    }
    while ((getline line < (sources "/truth.csv")) > 0) {
        split(line, part, ",")
        mark[part[1] "," part[2]] = part[6]
    }
    print head, "scaling", "hill", "share_off_points", "missed_samples", "mended_times_faster"
}

# The class with the most misses on the lines of `program` that the mark stands on.
function exact(program, mended, mark,    file, line, n, i, head, field, at, wanted, sum, best, more, source) {
    if (mark == "")
        return ""
    file = sources "/" program ".c"
    for (n = 1; (getline line < file) > 0; n++)
        if (index(line, "/* " mark " */"))
            wanted[program ".c:" n] = 1
    close(file)
    file = out "/hill/" program "." mended ".csv"
    getline line < file
    n = split(line, head, ",")
    for (i = 1; i <= n; i++)
        at[head[i]] = i
    while ((getline line < file) > 0) {
        # a source may have commas, in the names of its folders
        more = split(line, field, ",") - n
        source = field[at["source"] + more]
        sub(/.*\//, "", source)
        sub(/"$/, "", source)
        if (source in wanted)
            for (i = at["source"] + 1; i <= n; i++)
                sum[head[i]] += field[i + more]
    }
    close(file)
    for (i = 1; i <= n; i++)
        if (head[i] ~ /^(compulsory|capacity|conflict|true_sharing|false_sharing)$/ && sum[head[i]] > sum[best])
            best = head[i]
    return best
}

{
    getline periods < (out "/trace/" $1 "." $3 ".periods")
    close(out "/trace/" $1 "." $3 ".periods")
    split(periods, part, " ")
    scaling = part[4]
    part[1] = part[2] = ""
    if ($4 != "nothing" && (getline shares < (out "/shares/" $1 "." $3 ".txt")) > 0) {
        close(out "/shares/" $1 "." $3 ".txt")
        split(shares, part, " ")
    }
    print $0, scaling, exact($1, $3, mark[$1 "," $2]), part[1], part[2], $4 != "nothing" ? faster[$1 "." $3] : ""
}
