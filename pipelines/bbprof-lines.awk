# SPDX-License-Identifier: BSD-2-Clause
#
# Accesses as "cf-cat --csv --decimal" prints them: a run of instructions that was recorded as one fetch
# becomes one for each line of 64 bytes that it touches, since each is a miss of its own where fetches
# are what is measured. The instructions of a run are taken to be of equal length. A column that may
# have commas and quotes, such as region, is the last one.
BEGIN { FS = OFS = ","; LINE = 64; PAGE = 4096 }
NR == 1 {
    for (i = 1; i <= NF; i++)
        at[$i] = i
}
NR == 1 || $at["op"] != "ifetch" {
    print
    next
}
{
    addr = $at["addr"]
    left = all = $at["size"]
    insns = $at["insns"]
    time = $at["time"]
    done = 0
    while (left > 0) {
        piece = LINE - addr % LINE
        piece = piece < left ? piece : left
        if (left < all && addr % PAGE == 0)
            $at["page"] = sprintf("%.0f", $at["page"] + 1)
        left -= piece
        upto = int(insns * (all - left) / all)
        $at["addr"] = $at["pc"] = sprintf("%.0f", addr)
        $at["size"] = piece
        $at["time"] = sprintf("%.0f", time + done)
        $at["insns"] = upto - done
        done = upto
        addr += piece
        print
    }
}
