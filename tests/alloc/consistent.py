# SPDX-License-Identifier: BSD-2-Clause
#
# consistent.py OBJECTS STACKS: whether rows of tables object and stack, as CSV, can be true: times do not
# go back, no address is allocated while it is in use in its process, and every stack is known.
import csv, sys

nodes = {'0'}
for row in csv.DictReader(open(sys.argv[2])):
    if row['stack'] in nodes or row['parent'] not in nodes:
        sys.exit('node %s of %s' % (row['stack'], row['parent']))
    nodes.add(row['stack'])
live, last, allocated, released, odd = set(), 0, 0, 0, 0
for row in csv.DictReader(open(sys.argv[1])):
    key = row['pid'], row['addr']
    if int(row['time']) < last:
        sys.exit('times go back')
    last = int(row['time'])
    if row['stack'] not in nodes:
        sys.exit('no node %s' % row['stack'])
    if row['op'] == 'alloc':
        if key in live:
            odd += 1
        live.add(key)
        allocated += 1
    else:
        released += 1
        live.discard(key)
print(allocated, 'allocated', released, 'released', odd, 'while in use')
sys.exit(odd > 0)
