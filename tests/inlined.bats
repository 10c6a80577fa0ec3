# SPDX-License-Identifier: BSD-2-Clause
# shellcheck disable=SC2154 # bats sets output, status and lines
#
# Inlined functions as such: columns function and inlined of cf-resolve, and the paths that are made of
# them, of a program whose counts are known, as several compilers make it.
load lib

setup_file() {
    command -v valgrind >/dev/null || skip "no Valgrind"
    cd "$BATS_FILE_TMPDIR" || return 1
    cat >p.c <<'END'
#define INLINE static inline __attribute__((always_inline))
#define KEPT static __attribute__((noinline, noclone))
static volatile long table[4096];
INLINE long pick(volatile long *t, long i)
{
    long value = t[i & 4095];

    __asm__("" : "+r"(value)); /* no instruction does this and what the caller does */
    return value;
}
INLINE long mixQmix(volatile long *t, long i)
{
    long a = pick(t, i);

    a += pick(t, i + 7);
    t[i * 3 & 4095] = a * 5;
    return a;
}
KEPT long work(long n)
{
    long s = 0;

    for (long i = 0; i < n; i++)
        s += mixQmix(table, i);
    return s;
}
KEPT void leaf(volatile long *p) { *p = 1; }
INLINE void calls(volatile long *p) { leaf(p); }
KEPT void top(long n)
{
    for (long i = 0; i < n; i++)
        calls(table + i);
}
int main(void)
{
    long s = work(1000);

    top(1000);
    return s == 1;
}
END
}

# recorded COMPILER OPTION...: t.cf, of the stores and loads of `table`.
recorded() {
    "$@" -O2 -w -o p "$BATS_FILE_TMPDIR/p.c"
    cf-capture-trace -q --calls --function main -o t.cf ./p
}

# folded OPTION...: its paths, of table only.
folded() {
    cf-resolve -q "$@" -o r.cf t.cf
    cf-cat --verify r.cf >/dev/null || return
    cf-select --symbol table r.cf | cf-fold
}

# by_function: accesses of table by function.
by_function() {
    cf-select --symbol table r.cf | cf-rank -q --csv | tail -n +2 | cut -d, -f2,3 | LC_ALL=C sort
}

INLINED="main;top;calls;leaf 1000
main;work;mixQmix 1000
main;work;mixQmix;pick 2000"
OUTER="main;top;leaf 1000
main;work 3000"

@test "the innermost function, and on a path all of them: gcc and clang, forms of debug information" {
    local how
    while read -r how; do
        # shellcheck disable=SC2086 # words
        command -v ${how%% *} >/dev/null || continue
        # shellcheck disable=SC2086
        recorded $how
        run -0 folded
        is "$INLINED" || fail "$how"
        run -0 by_function
        is "leaf,1000
mixQmix,1000
pick,2000" || fail "$how"
        run -0 folded --no-inline
        is "$OUTER" || fail "$how"
        run -0 by_function
        is "leaf,1000
work,3000" || fail "$how"
        run ! grep -q inlined <(cf-cat --csv r.cf | head -n 1)
        run ! grep -q inlined <(cf-cat --csv --table stack r.cf | head -n 1)
    done <<'END'
gcc -g
gcc -g -gdwarf-4
gcc -g -gsplit-dwarf
gcc -g -flto
gcc -g -gz
gcc -g -ffunction-sections -freorder-blocks-and-partition
clang -g
clang -gdwarf-4
clang -g -gsplit-dwarf
END
}

@test "split debug information that is not there, or is of another build, is told: inlined functions are not known" {
    recorded gcc -g -gsplit-dwarf
    rm *.dwo
    run -0 cf-resolve -o r.cf t.cf
    has ".dwo: not there, or of another build: code that was inlined from this split debug information counts for the"
    [[ $(by_function) == $'leaf,1000\nwork,3000' ]] || fail "$(by_function)"
    run -0 cf-resolve -q -o r.cf t.cf
    is ""
}

@test "a function in a block of another function, with an inlined one in it" {
    cat >nested.c <<'END'
static volatile long table[64];
static inline __attribute__((always_inline)) long pick(volatile long *t) { return t[1]; }
int main(int argc, char **argv)
{
    long s = 0;

    if (argc) {
        __attribute__((noipa)) long nested(volatile long *t)
        {
            long a = pick(t);

            __asm__("" : "+r"(a));
            t[argc] = a;
            return a;
        }
        for (int i = 0; i < 100; i++)
            s += nested(table);
    }
    return s == 1;
}
END
    gcc -O2 -g -w -o p nested.c
    cf-capture-trace -q --calls --function main -o t.cf ./p
    run -0 folded
    is "main;nested 100
main;nested;pick 100"
    run -0 folded --no-inline
    is "main;nested 200"
}

@test "without debug information: the function that contains the instruction" {
    recorded gcc -g0
    run -0 folded
    is "$OUTER"
    cf-cat --csv --columns function r.cf >inline.csv
    cf-resolve -q --no-inline t.cf | cf-cat --csv --columns function | same inline.csv -
    # and so in a stripped copy of one that had it
    recorded gcc -g
    strip -g p
    run -0 folded
    is "$OUTER"
}

@test "column inlined is there where accesses have calls, or where it is asked for" {
    recorded gcc -g
    cf-resolve -q t.cf -o r.cf
    cf-cat --csv --columns function,inlined r.cf | sort -u >pairs
    grep -qx 'pick,main;work;mixQmix' pairs || grep -qx 'pick,work;mixQmix' pairs
    grep -qx 'mixQmix,work' pairs
    grep -qx 'work,' pairs
    cf-cat --csv --table stack --columns function,inlined r.cf | grep -qx 'calls,top'
    cf-capture-trace -q --function main -o plain.cf ./p
    cf-resolve -q plain.cf -o r.cf
    run ! grep -q inlined <(cf-cat --csv r.cf | head -n 1)
    cf-resolve -q --add function,inlined plain.cf -o r.cf
    cf-cat --csv --columns function,inlined r.cf | grep -qx 'mixQmix,work'
    run -2 cf-resolve --add inlined --no-inline plain.cf -o none.cf
    [[ ! -e none.cf ]]
}

@test "a name with a semicolon is one function of a path" {
    recorded gcc -g
    LC_ALL=C sed -i 's/mixQmix/mix;mix/g' p
    run -0 folded --trust
    is "${INLINED//Q/:}"
}

@test "a call site of an inlined function: allocation sites name it as before" {
    cat >heap.c <<'END'
#include <stdlib.h>
static inline __attribute__((always_inline)) char *made(void) { return malloc(100); }
static __attribute__((noinline)) char *make(void) { char *p = made(); p[1] = 1; return p; }
int main(void) { char *p = make(); free(p); return 0; }
END
    gcc -O2 -g -fno-builtin -o heap heap.c
    cf-capture-trace -q -o t.cf ./heap
    cf-resolve -q --path-parts 1 t.cf | cf-rank -q --csv --by site | grep -q '^[0-9]*,made heap.c:2,'
    cf-resolve -q --path-parts 1 t.cf | cf-cat --csv --table object --columns site,function |
        grep -qx 'made heap.c:2,made'
    cf-resolve -q --no-inline --path-parts 1 t.cf | cf-cat --csv --table object --columns site,function |
        grep -qx 'made heap.c:2,make'
}

@test "debug information that is damaged: names may be missing, but nothing else" {
    local n
    recorded gcc -g
    objcopy --dump-section .debug_info=info --dump-section .debug_abbrev=abbrev p
    cp p whole
    for ((n = 0; n < 40; n++)); do
        python3 - $n <<'END'
import random, sys
random.seed(int(sys.argv[1]))
for name in 'info', 'abbrev':
    data = bytearray(open(name, 'rb').read())
    for _ in range(random.choice((1, 4, 40))):
        data[random.randrange(len(data))] = random.randrange(256)
    open(name + '.bad', 'wb').write(data)
END
        objcopy --update-section .debug_info=info.bad --update-section .debug_abbrev=abbrev.bad whole p
        run -0 cf-resolve -q --trust -o r.cf t.cf
        run -0 cf-cat --verify r.cf
        # all accesses are there, whatever they are called
        same <(cf-cat --csv --columns pc,addr,op r.cf) <(cf-cat --csv --columns pc,addr,op t.cf)
    done
}
