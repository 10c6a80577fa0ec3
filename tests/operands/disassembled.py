#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""disassembled.py COUNT SEED: compares what capture/operands (print_operands) says of random words
among the loads and stores of AArch64 with what LLVM's disassembler prints of them.

The text has base, index and offset; what is accessed, and how much, follows from the mnemonic and the
registers. Both must refuse the same words. Prints how many words were loads and stores, of how many
mnemonics; or the first few that differ.
"""
import random
import re
import subprocess
import sys

FEATURES = '+v8.7a,+mte,+lse,+rcpc-immo,+pauth,+fullfp16,+ls64'
# Known to the disassembler, and refused: memory's tags alone, 64 bytes of a device.
REFUSED = re.compile(r'^(ldg|stg|st2g|ldgm|stgm|stzgm|ld64b|st64bv?0?)$')
ATOMIC = re.compile(r'^(cas|swp|(ld|st)(add|clr|eor|set|[su](max|min))(?!r))')
REGISTERS = {'b': 1, 'h': 2, 's': 4, 'w': 4, 'd': 8, 'x': 8, 'q': 16}
PC = 0x10000000


def register(name):
    if name == 'sp':
        return value(31)
    whole = 0 if name[1:] == 'zr' else value(int(name[1:]))
    return whole & 0xffffffff if name[0] == 'w' else whole


def value(i):
    return 0x7f0000000000 + (i << 32) + (i % 2 << 31) + i * 0x1010


def number(text):
    return int(text.lstrip('#'), 0)


def address(text, line):
    """Of the operands behind the registers; a literal's is printed as that of the line plus offset."""
    if not text.startswith('['):
        return PC + number(text) - line & (1 << 56) - 1
    m = re.match(r'\[(\w+)(?:, (#-?\w+|\w+))?(?:, (\w+)(?: (#\w+))?)?\](!)?(?:, (#?-?\w+))?$', text)
    if not m:
        raise ValueError(text)
    base, second, extend, shift = m.group(1, 2, 3, 4)
    at = register(base)
    if second and second.startswith('#'):
        at += number(second)
    elif second:
        index = register(second)
        if extend == 'sxtw' and index >> 31:
            index -= 1 << 32
        at += index << (number(shift) if shift else 0)
    return at & (1 << 56) - 1


def widths(mnemonic, registers):
    """Bytes of each register that is moved."""
    if '{' in registers:
        inside, lane = re.match(r'\{ ?(.*?) ?\}(\[\d+\])?', registers).groups()
        kinds = re.findall(r'v\d+\.(\d*)([bhsd])', inside)
        one = lane or mnemonic.endswith('r')
        return [REGISTERS[k] * (1 if one else int(n)) for n, k in kinds]
    names = [r for r in registers.split(', ') if r]
    # ldp and the like have two, of the same width; others the one before the address
    pair = 2 if re.match(r'^(ld|st)(n|x|ax|lx)?p(sw)?$|^stgp$|^casp', mnemonic) else 1
    if mnemonic.startswith(('stg', 'stz')) and mnemonic != 'stgp':
        return [16] * (2 if '2' in mnemonic else 1)
    if mnemonic.endswith('sw'):
        each = 4
    elif re.search(r'b$', mnemonic) and mnemonic != 'ldrab':
        each = 1
    elif re.search(r'h$', mnemonic):
        each = 2
    else:
        each = REGISTERS[names[-1][0]]
    return [each] * pair


def expected(mnemonic, operands, line):
    if mnemonic == '<unknown>' or REFUSED.match(mnemonic):
        return 'unknown'
    registers, place = re.match(r'(.*?)(?:, )?(\[[a-z].*|0x\w+)$', operands).groups()
    if mnemonic in ('prfm', 'prfum'):
        # a range, of which this version knows nothing
        if registers.startswith('#') and number(registers) >> 3 == 3 and re.search(', [wx]', place):
            return 'unknown'
        return f'prefetch,0x{address(place, line):x},1'
    at = address(place, line)
    operations = ['load', 'store'] if ATOMIC.match(mnemonic) else ['load' if mnemonic[:2] == 'ld' else 'store']
    out = []
    for op in operations:
        to = at
        for width in widths(mnemonic, registers):
            out.append(f'{op},0x{to:x},{width}')
            to += width
    return ' '.join(out)


def disassemble(words):
    text = '\n'.join(f'.inst 0x{w:08x}' for w in words)
    subprocess.run(['llvm-mc', '-triple=aarch64', '-filetype=obj', '-o', 'words.o'],
                   input=text, text=True, check=True)
    out = subprocess.run(['llvm-objdump', '-d', f'--mattr={FEATURES}', 'words.o'],
                         stdout=subprocess.PIPE, text=True, check=True).stdout
    for line in out.splitlines():
        m = re.match(r'\s*([0-9a-f]+):\s+(?:[0-9a-f]{2} ){4}\s+(\S+)\s*(.*)$', line)
        if m:
            yield m.group(2), re.sub(r'\s*(<|//).*$', '', m.group(3)), int(m.group(1), 16)


def main():
    draw = random.Random(int(sys.argv[2]))
    words = [draw.getrandbits(32) & ~(1 << 25) | 1 << 27 for _ in range(int(sys.argv[1]))]
    printed = subprocess.run(['print_operands'], input='\n'.join(f'{w:x}' for w in words), text=True,
                             stdout=subprocess.PIPE, check=True).stdout.splitlines()
    known, mnemonics, differ = 0, set(), 0
    for word, line, (mnemonic, operands, at) in zip(words, printed, disassemble(words), strict=True):
        got, want = line.partition(': ')[2], expected(mnemonic, operands, at)
        if want != 'unknown':
            known += 1
            mnemonics.add(mnemonic)
        if got != want:
            differ += 1
            if differ <= 20:
                print(f'{word:08x} {mnemonic} {operands}: {got} is not {want}')
    print(known, len(mnemonics))
    return 1 if differ else 0


if __name__ == '__main__':
    sys.exit(main())
