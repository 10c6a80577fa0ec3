# SPDX-License-Identifier: BSD-2-Clause
#
# agree.py LOG OBJECTS STACKS [DEPTH]: whether the rows of tables object and stack, as CSV, are what
# `known` says in LOG: each thread's events in their order, addresses, sizes and return addresses.
import csv, sys

depth = int(sys.argv[4]) if len(sys.argv) > 4 else 16
want, got, wrong = {}, {}, 0
for line in open(sys.argv[1]):
    word = line.split()
    event = (word[1], int(word[2], 16), int(word[3]) if len(word) > 3 else 0)
    want.setdefault(word[0], []).append((event, [int(w, 16) for w in word[4:]]))
node = {}
for row in csv.DictReader(open(sys.argv[3])):
    assert row['stack'] not in node, 'a node is defined twice'
    node[row['stack']] = (row['parent'], int(row['pc'], 16))
live, last = {}, 0
for row in csv.DictReader(open(sys.argv[2])):
    address, size, time = int(row['addr'], 16), int(row['bytes']), int(row['time'])
    if time < last:
        sys.exit('times go back')
    last = time
    if row['op'] == 'alloc':
        if address in live:
            sys.exit('%#x is allocated while it is in use' % address)
        live[address] = size
        if size % 64 != 33:
            continue
        frames, at = [], row['stack']
        while at != '0':
            at, pc = node[at]
            frames.append(pc)
        got.setdefault(row['tid'], []).append((('alloc', address, size), frames))
    elif live.pop(address, 0) % 64 == 33:
        got.setdefault(row['tid'], []).append((('free', address, 0), []))
if want.keys() != got.keys():
    sys.exit('threads %s, not %s' % (sorted(got), sorted(want)))
events = 0
for tid, list in want.items():
    if len(list) != len(got[tid]):
        sys.exit('thread %s: %d events, not %d' % (tid, len(got[tid]), len(list)))
    for (event, frames), (its, its_frames) in zip(list, got[tid]):
        events += 1
        if event != its:
            sys.exit('thread %s: %s, not %s' % (tid, its, event))
        # The first is in the function that allocates, which calls backtrace() elsewhere.
        if event[0] == 'alloc':
            its_frames = its_frames[1:]
            n = min(len(its_frames), len(frames))
            if n < min(depth - 1, len(frames)) or its_frames[:n] != frames[:n]:
                wrong += 1
                if wrong < 4:
                    print('stack', [hex(f) for f in its_frames], 'not', [hex(f) for f in frames])
print(events, 'events agree,', wrong, 'stacks do not')
sys.exit(wrong > 0)
