#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# shellcheck disable=SC2154 # bats sets output, status and lines
#
# cf-capture-trace --own-allocator: heap blocks are those that the program's allocator gives, as the
# program itself (capture/trace/test/own.cc) tells of them.
# Takes long: recordings under Valgrind.
load lib

setup_file() {
    command -v valgrind >/dev/null || skip "no Valgrind"
    cf-capture-trace --probe
    cd "$BATS_FILE_TMPDIR" || return 1
    local from=$ROOT/capture/trace/test
    g++ -std=c++17 -O0 -pthread -o own "$from/own.cc"
    g++ -std=c++17 -O2 -static-pie -pthread -o pie "$from/own.cc"
    g++ -std=c++17 -O2 -no-pie -pthread -o linked "$from/own.cc" "$(library libtcmalloc_minimal.so.4)"
    cc -O2 -fno-builtin -shared -fPIC -o wrapper.so "$from/wrapper.c"
}

setup() {
    export P=$BATS_FILE_TMPDIR
    lib_setup
}

# library NAME: where that of a package is.
library() {
    PATH=$PATH:/sbin ldconfig -p | awk -v name="$1" '$1 == name { print $NF; exit }'
}

capture() {
    cf-capture-trace -q --own-allocator --command-output truth -o t.cf -- "$@"
}

# What each thread obtains and releases in t.cf, between its first block and the release of that,
# is what it says in truth. An exception has a block, which it does not know the bounds of.
as_in_truth() {
    cf-cat --csv --table object --columns pid,tid,op,addr,bytes t.cf | awk '
        function hex(s,    i, n) {
            for (i = 3; i <= length(s); i++)
                n = n * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
            return n
        }
        function differs(what) {
            if (bad++ < 5) print what > "/dev/stderr"
        }
        BEGIN {
            while ((getline < "truth") > 0) {
                t = $1 " " $2
                said[t, ++n[t]] = $3 " " $4 " " $5
            }
            FS = ","
        }
        NR == 1 { next }
        {
            t = $1 " " $2
            is = $3 " " $4 " " $5
            if ($3 == "alloc" && $5 == 4242 && is == said[t, at[t] + 1]) on[t] = 1
            if (!on[t]) next
            if (is != said[t, at[t] + 1] && $3 == "alloc" && $5 >= 128 && $5 < 200) {
                from[t] = hex($4); bytes[t] = $5; row[t] = $4
                next
            }
            while (split(said[t, at[t] + 1], w, " ") && w[1] == "within") {
                at[t]++
                if (!row[t] || hex(w[2]) < from[t] || hex(w[2]) >= from[t] + bytes[t])
                    differs(t ": no block for the exception at " w[2])
            }
            if ($3 == "free" && $4 == row[t]) { row[t] = ""; next }
            if (is != said[t, ++at[t]])
                differs(t ", " at[t] ": recorded: " is ", in truth: " said[t, at[t]])
            if ($3 == "free" && $5 == 4242) on[t] = 0
        }
        END {
            for (t in n) {
                threads++
                if (at[t] != n[t]) differs(t ": recorded: " at[t] + 0 " of " n[t] " events")
            }
            if (!threads) differs("nothing was said")
            exit bad > 0
        }'
}

# each PROGRAM...: all that the program does.
each() {
    for what in functions throws signals threads family; do
        run -0 capture "$@" $what
        as_in_truth || fail "$* $what"
    done
}

@test "the C library's allocator" {
    each "$P/own"
}

@test "that of a program that is linked statically" {
    each "$P/pie"
}

# bats test_tags=slow
@test "tcmalloc, preloaded and linked" {
    each env LD_PRELOAD="$(library libtcmalloc_minimal.so.4)" "$P/own"
    each "$P/linked"
}

# bats test_tags=slow
@test "jemalloc, preloaded" {
    each env LD_PRELOAD="$(library libjemalloc.so.2)" "$P/own"
}

@test "one on top of another: what the outer one gives" {
    each env LD_PRELOAD="$P/wrapper.so" "$P/own"
}

@test "the blocks of Valgrind's allocator, by default, are right by the same measure" {
    for what in functions signals threads family; do
        run -0 cf-capture-trace -q --command-output truth -o t.cf -- "$P/own" $what
        as_in_truth || fail "$what"
    done
}

@test "blocks lie where the program's allocator puts them; what it accesses itself is recorded" {
    cat >blocks.c <<'END'
#include <stdio.h>
#include <stdlib.h>
static char *volatile a, *volatile b, *volatile c;
__attribute__((noinline)) static void take(void)
{
    a = malloc(24);
    b = malloc(24);
    c = malloc(1 << 20);
}
int main(void)
{
    take();
    printf("%ld\n", (long)(b - a));
    return c == NULL;
}
END
    cc -g -O1 -o blocks blocks.c
    run -0 ./blocks
    native=$output
    run -0 cf-capture-trace -q --own-allocator --command-output out -o t.cf ./blocks
    is ''
    [ "$(<out)" = "$native" ]
    cf-resolve -q -o r.cf t.cf
    rows object r.cf --columns op,bytes,function,source | grep -A2 '^alloc,24,take,.*blocks.c:6$' >got
    grep -q '^alloc,24,take,.*blocks.c:7$' got
    # what is mapped for itself
    grep -q '^alloc,1048576,take,.*blocks.c:8$' got
    cf-rank -q --by function r.cf | grep -q '_int_malloc'
    # and that of Valgrind is there without the option
    run -0 cf-capture-trace -q --command-output out -o t.cf ./blocks
    cf-resolve -q t.cf | cf-rank -q --by function >functions
    run ! grep -q _int_malloc functions
}

@test "an allocation has the stack of its outermost call, and cf-resolve its site" {
    cat >site.cc <<'END'
#include <stdlib.h>
static char *volatile kept;
__attribute__((noinline)) static void makes() { kept = new char[1234]; }
__attribute__((noinline)) static void frees() { delete[] kept; }
__attribute__((noinline)) static void asks() { kept = (char *)malloc(4321); }
int main()
{
    makes();
    frees();
    asks();
    return 0;
}
END
    g++ -g -O1 -o site site.cc
    for preload in '' "$(library libtcmalloc_minimal.so.4)" "$(library libjemalloc.so.2)"; do
        run -0 capture env LD_PRELOAD="$preload" ./site
        cf-resolve -q t.cf | rows object --columns op,bytes,site - | grep -E ',(1234|4321),' >got
        [ "$(cut -d, -f1-2 got)" = $'alloc,1234\nfree,1234\nalloc,4321' ]
        grep -q '^alloc,1234,makes .*site.cc:3$' got
        grep -q '^alloc,4321,asks .*site.cc:5$' got
    done
}

@test "a block that another thread gets while realloc has not returned yet is that thread's" {
    cat >race.c <<'END'
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
static char pool[1 << 20];
static size_t used;
static void *shelf; /* one block, of 4096 bytes like all */
static atomic_int step;
void *malloc(size_t n)
{
    void *p = shelf;
    (void)n;
    shelf = NULL;
    return p ? p : &pool[4096 * used++];
}
void free(void *p) { (void)p; }
void *calloc(size_t n, size_t size) { return malloc(n * size); }
void *realloc(void *p, size_t n)
{
    void *q;
    (void)n;
    if (!p) return malloc(n);
    q = malloc(n);
    shelf = p;
    for (step = 1; step != 2;) ; /* the other thread runs */
    return q;
}
static char *volatile mine, *volatile theirs;
static void *other(void *p)
{
    while (step != 1) ;
    theirs = malloc(333);
    step = 2;
    return p;
}
int main(void)
{
    pthread_t t;
    mine = malloc(111);
    if (pthread_create(&t, NULL, other, NULL)) return 1;
    printf("%p\n", (void *)mine);
    mine = realloc(mine, 222);
    pthread_join(t, NULL);
    return theirs == mine;
}
END
    cc -O1 -pthread -fno-builtin -o race race.c
    run -0 capture ./race
    rows object t.cf --columns op,bytes,addr | grep "$(<truth)" | cut -d, -f1-2 >got
    [ "$(<got)" = $'alloc,111\nfree,111\nalloc,333' ]
}

@test "with --function and --calls, and without call stacks" {
    run -0 cf-capture-trace -q --own-allocator --calls --stack-depth 0 --function allocate \
        --command-output truth -o t.cf -- "$P/own" signals
    as_in_truth
    run -0 cf-capture-trace -q --own-allocator --limit 1000 --command-output truth -o t.cf -- "$P/own" signals
    [ "$(rows access t.cf | wc -l)" = 1001 ]
}

@test "statically linked programs without symbols have no heap blocks: that is said" {
    strip -o stripped "$P/pie"
    run -0 cf-capture-trace --own-allocator --command-output truth -o t.cf -- ./stripped functions
    is "cf-capture-trace: no heap block was seen of 1 process: linked statically, and without an allocation function that is known by its name"
    [ "$(rows object t.cf | wc -l)" -le 1 ]
    run -0 cf-capture-trace --own-allocator --command-output truth -o t.cf -- sh -c './stripped functions; ./stripped signals; exit 0'
    has "no heap block was seen of 2 processes"
    run -0 cf-capture-trace -q --own-allocator --command-output truth -o t.cf -- ./stripped functions
    is ''
    # The dynamic linker is none of them, where it runs a program.
    loader=$(readelf -lW "$P/own" | sed -n 's/.*interpreter: \(.*\)]/\1/p')
    run -0 cf-capture-trace --own-allocator --command-output truth -o t.cf -- "$loader" "$P/own" functions
    is ''
    as_in_truth
}
