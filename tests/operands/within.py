#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""within.py SEEN.csv TRUE.csv: whether accesses seen at breakpoints (time,tid,pc,op,addr,size) are
some of the true ones (pc,op,addr,size) of a program that makes the same over and over.

The bytes of each operation are compared, of what an instruction does at one time; the true ones may
be of a loop that accesses memory nowhere else, of which each row is one time then. Prints how many
instructions were seen, and how many times; or the first that did something else.
"""
import csv
import itertools
import sys

from compare import merged, runs


def seen(name):
    with open(name, newline='') as f:
        rows = [r for r in csv.DictReader(f) if r['op'] in ('load', 'store')]
    for (_, _, pc), group in itertools.groupby(rows, key=lambda r: (r['time'], r['tid'], r['pc'])):
        ops = {}
        for r in group:
            start = int(r['addr'], 16)
            ops.setdefault(r['op'], []).append((start, start + int(r['size'])))
        yield int(pc, 16), frozen({op: merged(r) for op, r in ops.items()})


def frozen(ops):
    return frozenset((op, tuple(map(tuple, ranges))) for op, ranges in ops.items())


def rows(name):
    with open(name, newline='') as f:
        return {(int(r['pc'], 16), r['op'], int(r['addr'], 16), int(r['addr'], 16) + int(r['size']))
                for r in csv.DictReader(f)}


def rest_of(pc, ops, single):
    """Whether these are some successive elements of a string instruction, whole ones: an interrupt
    came between its elements, after which it is begun anew and stops at the breakpoint again."""
    for op, ranges in ops:
        elements = [r[2:] for r in single if r[:2] == (pc, op)]
        if len(ranges) != 1 or len(elements) < 2 or not (
                ranges[0][0] in {e[0] for e in elements} and ranges[0][1] in {e[1] for e in elements}):
            return False
    return True


def main():
    true = {}
    for pc, ops in runs(sys.argv[2], ('load', 'store')):
        true.setdefault(pc, set()).add(frozen(ops))
    single = rows(sys.argv[2])
    count, interrupted, instructions = 0, 0, set()
    for pc, ops in seen(sys.argv[1]):
        if ops not in true.get(pc, ()) and not {(pc, op, *r) for op, rs in ops for r in rs} <= single:
            if interrupted == 2 or not rest_of(pc, ops, single):
                print(f'0x{pc:x}: {set(ops)} is none of {len(true.get(pc, ()))} accesses there')
                return 1
            interrupted += 1
        count += 1
        instructions.add(pc)
    print(len(instructions), count)
    return 0


sys.exit(main())
