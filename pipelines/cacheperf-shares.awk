# SPDX-License-Identifier: BSD-2-Clause
#
# cacheperf-shares.awk - reads rankings of source lines by misses, one behind the other: the exact one,
# and of each seed a line "missed,NUMBER" and that of the samples. Prints by how many points the share
# of a line differs from the exact one, at most, how many samples missed, at least, and the line.
function compare(    s, d) {
    for (s in exact)
        sampled[s] += 0
    for (s in sampled) {
        d = sampled[s] - exact[s]
        d = d < 0 ? -d : d
        if (d >= most) {
            most = d
            where = s
        }
    }
    delete sampled
}
BEGIN {
    FS = ","
}
$1 == "missed" {
    if (seeds++)
        compare()
    least = seeds == 1 || $2 < least ? $2 : least
    next
}
$1 == "rank" {
    for (i = heads = NF; i >= 1; i--)
        at[$i] = i
    next
}
# A source may have commas.
{
    source = $at["source"]
    for (i = 1; i <= NF - heads; i++)
        source = source FS $(at["source"] + i)
    share = $(at["share_percent"] + NF - heads)
}
!seeds {
    exact[source] += share
    next
}
{
    sampled[source] += share
}
END {
    if (!seeds)
        exit 1
    compare()
    printf "%.2f %d %s\n", most, least, where
}
