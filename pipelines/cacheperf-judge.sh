#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# cacheperf-judge.sh SOURCES PROGRAM MENDED FINDINGS.csv
#
# Compares what cf-report --cacheperf --csv found in a program of samples/cacheperf with truth.csv
# beside it. Prints a CSV line for each of the program's rows: program, row, mended, type, origin,
# whether a finding has both and names the statement and the object (1 or 0), the type and origin of
# the first finding that names the statement, and how many findings match no row. A program without
# rows gets one, with "nothing" for a type, which is found when there is no finding.
set -u

[[ $# = 4 && -r $1/truth.csv && -r $4 ]] || { sed -n '4,10s/^# //p' "$0" >&2; exit 2; }
sources=$1 program=$2 mended=$3
# by the environment: -v takes a backslash for the beginning of a sign
export FINDINGS=$4

# lines MARK: numbers of the lines that the mark stands on
lines() { grep -nF "/* $1 */" "$sources/$program.c" | cut -d: -f1 | paste -sd' '; }

while IFS=, read -r name row in type origin line object; do
    [[ $name = "$program" && $in = "$mended" ]] || continue
    case $object in
    heap\ *) object="lines $(lines "${object#heap }")" ;;
    global\ *) object="name ${object#global }" ;;
    esac
    printf '%s\t' "$row" "$type" "$origin" "$(lines "$line")" "$object"
    echo
done <"$sources/truth.csv" |
    awk -F'\t' -v program="$program" -v mended="$mended" '
    # Whether one of the numbers in `list` ends a "file:number" of `text`, which may have folders.
    function names(text, list,    part, n, i) {
        n = split(list, part, " ")
        for (i = 1; i <= n; i++)
            if (text ~ ("(^|[/ ])" program "[.]c:" part[i] "(;| |$)"))
                return 1
        return 0
    }
    function holds(memory, object) {
        return object ~ /^name / ? index("; " memory "; ", "; " substr(object, 6) "; ") > 0 : \
            names(memory, substr(object, 7))
    }
    # Fields of a line of CSV, in which quotes hold commas together.
    function split_csv(line, field,    n, i, c, quoted) {
        field[n = 1] = ""
        for (i = 1; i <= length(line); i++) {
            c = substr(line, i, 1)
            if (c == "\"")
                quoted = !quoted
            else if (c == "," && !quoted)
                field[++n] = ""
            else
                field[n] = field[n] c
        }
    }
    BEGIN {
        findings = ENVIRON["FINDINGS"]
        getline head < findings
        n = split(head, column, ",")
        for (i = 1; i <= n; i++)
            at[column[i]] = i
        if (!at["class"] || !at["origin"] || !at["sources"] || !at["memory"]) {
            print findings ": lacks class, origin, sources or memory" >"/dev/stderr"
            exit failed = 1
        }
        while ((getline line < findings) > 0) {
            split_csv(line, field)
            f++
            type[f] = field[at["class"]]
            sub(/^allocator_/, "", type[f])
            origin[f] = field[at["origin"]]
            source[f] = field[at["sources"]]
            memory[f] = field[at["memory"]]
        }
    }
    {
        rows++
        row[rows] = $1; want[rows] = $2; by[rows] = $3
        for (i = f; i >= 1; i--) {
            if (!names(source[i], $4))
                continue
            first[rows] = i
            if (type[i] == $2 && origin[i] == $3 && holds(memory[i], $5))
                used[i] = hit[rows] = 1
        }
    }
    END {
        if (failed)
            exit 1
        for (i = 1; i <= f; i++)
            others += !used[i]
        if (!rows)
            printf "%s,,%s,nothing,,%d,%s,%s,%d\n", program, mended, f == 0, type[1], origin[1], f
        for (r = 1; r <= rows; r++)
            printf "%s,%s,%s,%s,%s,%d,%s,%s,%d\n", program, row[r], mended, want[r], by[r], \
                hit[r], type[first[r]], origin[first[r]], others
    }'
