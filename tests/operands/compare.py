#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""compare.py A.csv B.csv: whether two lists of accesses (pc,op,addr,size) mean the same bytes.

Rows of one instruction may be split, joined and ordered differently: of each run of rows with one
pc, the bytes of each operation are compared. Prints the number of such runs, or the first difference.
"""
import csv
import itertools
import sys


def merged(ranges):
    out = []
    for start, end in sorted(ranges):
        if out and start <= out[-1][1]:
            out[-1][1] = max(out[-1][1], end)
        else:
            out.append([start, end])
    return out


def runs(name, keep):
    with open(name, newline='') as f:
        rows = ((r['pc'], r['op'], int(r['addr'], 16), int(r['size']))
                for r in csv.DictReader(f) if r['op'] in keep)
        for pc, group in itertools.groupby(rows, key=lambda r: r[0]):
            ops = {}
            for _, op, addr, size in group:
                ops.setdefault(op, []).append((addr, addr + size))
            yield int(pc, 16), {op: merged(r) for op, r in ops.items()}


def main():
    keep = ('load', 'store')
    count = 0
    for a, b in itertools.zip_longest(runs(sys.argv[1], keep), runs(sys.argv[2], keep)):
        if a != b:
            print(f'run {count}: {a} is not {b}')
            return 1
        count += 1
    print(count)
    return 0


if __name__ == '__main__':
    sys.exit(main())
