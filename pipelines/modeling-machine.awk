# SPDX-License-Identifier: BSD-2-Clause
#
# modeling-machine.awk - a machine description of one to three levels, drawn at random: lines of 16 to
# 256 bytes, 1 to 24 ways, 1 KiB to 8 MiB, sets that are no power of two, every policy and inclusion.
#
# -v seed=N: the same one each time
function next_of(n) {
    # Park and Miller, "Random number generators: good ones are hard to find", CACM 31(10), 1988
    state = state * 16807 % 2147483647
    return int(state / 65536) % n
}

# A size of at least `least` bytes, all magnitudes up to `most` alike.
function magnitude(least, most,    span) {
    for (span = 0; least * 2 ^ (span + 1) <= most; span++)
        ;
    least *= 2 ^ next_of(span + 1)
    return least + next_of(int(least / 16)) * 16
}

function level(i,    least, most, sets, bits) {
    least = i > 1 ? 2 * size[i - 1] : 1024
    most = 8388608 / 4 ^ (levels - i)
    line[i] = i > 1 ? line[i - 1] : 2 ^ (4 + next_of(5))
    if (i > 1 && line[i] < 256 && next_of(4) == 0)
        line[i] *= 2
    policy[i] = policies[1 + next_of(7)]
    ways[i] = policy[i] == "tree-plru" ? 2 ^ next_of(5) : 1 + next_of(24)
    if (least > most)
        return 0
    sets = int(magnitude(least, most) / ways[i] / line[i])
    if (next_of(2)) {
        for (bits = 1; 2 * bits <= sets; bits *= 2)
            ;
        sets = sets ? bits : 0
    }
    size[i] = sets * ways[i] * line[i]
    inclusion[i] = i > 1 ? inclusions[1 + next_of(3)] : "non-inclusive"
    if (inclusion[i] == "exclusive" && line[i] != line[1])
        inclusion[i] = "non-inclusive"
    return size[i] >= least && size[i] <= most
}

BEGIN {
    # Each has its own part of one sequence: those that begin with 1, 2, 3, ... are alike in the same place for long.
    state = 1
    for (i = 0; i < 500 * seed; i++)
        next_of(2)
    split("lru fifo random tree-plru bit-plru nru srrip", policies, " ")
    split("non-inclusive inclusive exclusive", inclusions, " ")
    levels = 1 + next_of(3)
    for (i = 1; i <= levels; i++)
        while (!level(i))
            ;
    print "name: \"random-" seed "\"\nline_size: " line[1] "\nlevels:"
    for (i = 1; i <= levels; i++) {
        cycles = i > 1 ? cycles + int(cycles / 4) + 1 + next_of(30) : 1 + next_of(6)
        latency = latency "L" i ": " cycles ", "
        printf "  - {name: L%d, kind: unified, size: %d, ways: %d, line_size: %d, policy: %s, inclusion: %s}\n",
            i, size[i], ways[i], line[i], policy[i], inclusion[i]
    }
    print "latency: {" latency "memory: " cycles + int(cycles / 4) + 1 + next_of(30) "}"
    print "latency_source: \"estimate: drawn at random\""
}
