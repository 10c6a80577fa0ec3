#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# libcf-alloc.so and what reads its records, by alloc_shim: what programs say they allocate is recorded,
# with the calls that led there, over several allocators; and no program does anything else for it.

load lib

PRELOADS=('' libtcmalloc_minimal.so.4 libjemalloc.so.2)
! emulated || PRELOADS=('')

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return 1
    local s=$BATS_TEST_DIRNAME/alloc f
    ! emulated || gcc() { "$B/cc" "$@"; } # into whose programs the library can be loaded
    for f in known stress sites scribble between deep; do
        gcc -O2 -g -pthread -D_GNU_SOURCE -o "$f" "$s/$f.c" || return 1
    done
    gcc -O2 -pthread -D_GNU_SOURCE -static -o static "$s/sites.c"
    gcc -O2 -pthread -D_GNU_SOURCE -fno-builtin -o own "$s/known.c" "$s/bump.c"
    gcc -O2 -fno-builtin -fPIC -shared -o bump.so "$s/bump.c"
    ! emulated || return 0
    g++ -O2 -g -std=c++17 -D_GNU_SOURCE -o operators "$s/operators.cc"
    g++ -O2 -g -std=c++17 -fPIC -shared -o plugin.so "$s/plugin.cc"
    g++ -O1 -g -std=c++17 -o determined "$s/determined.cc"
}

# plus_plus: this test's program is of C++.
plus_plus() {
    in_emulation "there is no compiler of C++"
}

setup() {
    lib_setup
    P=$BATS_FILE_TMPDIR
    A=$BATS_TEST_DIRNAME/alloc
}

# recorded OPTION... -- COMMAND...: records into t.cf; rows into objects.csv and stacks.csv, and
# what became of it into result.
recorded() {
    local -a options=()
    while [[ $1 != -- ]]; do
        options+=("$1")
        shift
    done
    shift
    alloc_shim -o t.cf "${options[@]}" "$@" 9>result || return
    cf-cat --verify t.cf >verified || return
    rows object t.cf >objects.csv
    rows stack t.cf >stacks.csv
}

# value NAME: of the last recording.
value() {
    sed -n "s/^$1=//p" result
}

nothing_lost() {
    local name
    for name in lost nested unplaced unknown late damaged own; do
        [[ $(value $name) = 0 ]] || fail "$name: $(value $name)"
    done
}

@test "objects and their stacks are those that the program states, of threads, over each allocator" {
    for l in "${PRELOADS[@]}"; do
        LD_PRELOAD=$l recorded -- "$P/known" log 3 3000
        nothing_lost
        python3 "$A/agree.py" log objects.csv stacks.csv
    done
}

@test "so are those of operators new and delete" {
    plus_plus
    for l in "${PRELOADS[@]}"; do
        LD_PRELOAD=$l recorded -- "$P/operators" log 3000
        nothing_lost
        python3 "$A/agree.py" log objects.csv stacks.csv
    done
}

# Objects of a stream in their order: size, function and line of the site; what a release is for.
objects_of() {
    cf-resolve -q "$1" | cf-cat --csv --table object --columns op,bytes,addr,function,source |
        awk -F, 'NR == 1 { next }
            $1 == "alloc" { n[$3] = ++k; print $1, $2, $4, $5; next }
            { print $1, n[$3]; delete n[$3] }'
}

@test "objects are those that the tracer records of the same program with its own allocator" {
    plus_plus
    local i
    for i in {1..10}; do # until its mappings were read after it had all its libraries
        recorded -- "$P/determined" >/dev/null
        rows map t.cf >map
        ! grep -q libstdc map || break
    done
    nothing_lost
    cf-capture-trace -q --own-allocator -o traced.cf -- "$P/determined" >/dev/null || skip "no tracer"
    objects_of t.cf >ours
    objects_of traced.cf >theirs
    [[ $(grep -c ^alloc ours) -gt 15000 ]]
    same theirs ours
}

@test "stacks are as deep as asked for" {
    for depth in 1 4 64; do
        recorded -d $depth -- "$P/known" log 1 3000
        python3 "$A/agree.py" log objects.csv stacks.csv $depth
        awk -F, -v most=$depth 'NR > 1 { d[$2] = d[$3] + 1; if (d[$2] > most) exit 1; if (d[$2] > deepest) deepest = d[$2] }
            END { exit deepest != most && most < 64 }' stacks.csv
    done
    run alloc_shim -d 65 "$P/sites" 1
    [[ $status = 3 && $output = *'a depth over 64'* ]]
}

# bats test_tags=slow
@test "objects whose stack has no room in table stack are counted as those whose stack is not known" {
    local n
    for n in {1..5}; do # until the machine was not so busy that the capture came too late
        recorded -d 64 -- "$P/deep" 170000
        [[ $(value lost) != 0 ]] || break
    done
    [[ $(value nodes) = 4194304 && $(value lost) = 0 ]]
    n=$(awk -F, '$4 == "alloc" && $7 == 0' objects.csv | wc -l)
    ((n > 1000))
    [[ $(value unknown) = "$n" ]]
}

@test "threads, fork, dlopen and signals: the program's result is the same, and addresses are consistent" {
    plus_plus
    for l in "${PRELOADS[@]}"; do
        LD_PRELOAD=$l "$P/stress" "$P/plugin.so" >without
        LD_PRELOAD=$l recorded -- "$P/stress" "$P/plugin.so" >with
        same without with
        nothing_lost
        # itself, 12 children, and 12 shells
        [[ $(value processes) = 25 ]]
        python3 "$A/consistent.py" objects.csv stacks.csv
    done
}

@test "dlclose() that only drops a reference: call stacks stay the same, they are not repeated" {
    cat >closes.c <<'END'
#include <dlfcn.h>
#include <stdlib.h>
int main(void)
{
    for (int i = 0; i < 100; i++) {
        dlclose(dlopen(NULL, RTLD_NOW));
        free(malloc(77));
    }
}
END
    gcc -O1 -fno-builtin -D_GNU_SOURCE -o closes closes.c -ldl
    recorded -- ./closes
    nothing_lost
    awk -F, '$4 == "alloc" && $6 == 77' objects.csv | cut -d , -f 7 | uniq -c | awk '{ print $1 }' | same - <(echo 100)
}

@test "a signal handler that allocates amidst a record is let through; a child of clone() is itself" {
    plus_plus
    LD_PRELOAD=$P/bump.so "$P/stress" "$P/plugin.so" signals >without
    LD_PRELOAD=$P/bump.so recorded -- "$P/stress" "$P/plugin.so" signals >with
    same without with
    # 12 more children, of which the C library does not know
    [[ $(value processes) = 37 && $(value lost) = 0 ]]
    python3 "$A/consistent.py" objects.csv stacks.csv
}

@test "allocations between one and the one within which it was made: each is recorded once" {
    LD_PRELOAD=$P/bump.so recorded -- "$P/between"
    python3 "$A/consistent.py" objects.csv stacks.csv
    cf-cat -q --csv --table object --columns bytes t.cf | grep -E '^(24|100|100[0-2])$' | sort -n | uniq -c | awk '{ print $2, $1 }' |
        same - <(printf '%s\n' '24 12' '100 12' '1000 1' '1001 1' '1002 1')
}

@test "what one function of an allocator asks another for has the size that was asked for, also after operator new" {
    plus_plus
    cat >sizes.cc <<'END'
#include <cstdlib>
#include <initializer_list>
#include <new>
void *volatile kept[5];
int main()
{
    void *p;
    for (size_t bytes : {1, 81, 140}) { /* before any operator new, and after both */
        if (posix_memalign(&p, 64, bytes)) return 1;
        kept[0] = p;
        kept[1] = ::operator new(96, std::align_val_t(64));
        kept[2] = ::operator new(80);
        if (bytes == 81) kept[3] = ::operator new(100, std::align_val_t(64));
    }
}
END
    g++ -std=c++17 -O1 -fno-builtin -o sizes sizes.cc
    LD_PRELOAD=$P/bump.so recorded -- ./sizes
    nothing_lost
    awk -F, '$4 == "alloc" && $6 < 200 { print $6 }' objects.csv | tail -10 | xargs |
        same - <(echo 1 96 80 81 96 80 100 140 96 80)
}

@test "a small ring that is read seldom lets the program wait; nothing is lost" {
    recorded -r 8192 -n 30 -- "$P/known" log 3 2000
    nothing_lost
    python3 "$A/agree.py" log objects.csv stacks.csv
}

@test "a capture that reads no more loses records, which are counted; the program ends as ever" {
    plus_plus
    "$P/stress" "$P/plugin.so" >without
    recorded -q -r 8192 -- "$P/stress" "$P/plugin.so" >with
    same without with
    [[ $(value lost) -gt 50000 ]]
    python3 "$A/consistent.py" objects.csv stacks.csv
}

@test "a capture that dies lets the program run on" {
    plus_plus
    "$P/stress" "$P/plugin.so" >without
    mkfifo out
    alloc_shim -k -o t.cf "$P/stress" "$P/plugin.so" >out 3>&- &
    cat out >with
    status=0
    wait $! || status=$?
    [[ $status = 137 ]]
    same without with
}

@test "the library goes before others that are preloaded, and both to children, through exec" {
    in_emulation "nothing is loaded into this machine's own programs"
    LD_PRELOAD=$P/bump.so recorded -- sh -c 'exec env sh -c "printenv LD_PRELOAD"' >preload
    [[ $(<preload) = *libexec/cacheflow/libcf-alloc.so:$P/bump.so ]]
    # sh, env, sh and printenv, of two processes at most that ran them in turn
    [[ $(value processes) -ge 4 ]]
}

@test "the program has the descriptors that it would have" {
    in_emulation "nothing is loaded into this machine's own programs"
    ls -l /proc/self/fd 9>result | wc -l >without
    recorded -- ls -l /proc/self/fd >list
    wc -l <list >with
    same without with
    ! grep cf-alloc list
}

@test "a site that is left out is recorded no more, and nobody takes its place" {
    recorded -- "$P/sites" 1
    node=$(awk -F, '$4 == "alloc" && $6 == 1000 { print $7; exit }' objects.csv)
    [[ $(awk -F, '$6 == 1000' objects.csv | wc -l) = 1000 && $(value left_out) = 0 ]]
    recorded -x "$node" -- "$P/sites" 1000
    n=$(awk -F, '$6 == 1000' objects.csv | wc -l)
    [[ $n -ge 1 && $n -lt 1000 && $(value sites) = 1 && $(value left_out) = $((1000 - n)) ]]
    [[ $(awk -F, '$6 == 2000' objects.csv | wc -l) = 1000 ]]
    python3 "$A/consistent.py" objects.csv stacks.csv
    # its releases need no rows either
    [[ $(grep -c ,free, objects.csv) -le $((3000 - 1000 + n + 50)) ]]
}

@test "programs into which nothing is preloaded are refused" {
    run alloc_shim "$P/static"
    [[ $status = 3 && $output = *'is linked statically'* ]]
    if emulated; then gcc -o other "$A/sites.c"; else aarch64-linux-gnu-gcc -o other "$A/sites.c"; fi
    run alloc_shim ./other
    [[ $status = 3 && $output = *'another architecture'* ]]
    [[ $(id -u) = 0 ]] || skip 'only root can make a program of somebody else'
    cp "$P/sites" setuid
    chown nobody setuid
    chmod u+s setuid
    run alloc_shim ./setuid
    [[ $status = 3 && $output = *'setuid'* ]]
}

@test "a program with an allocator of its own is reported" {
    recorded -- "$P/own" log 1 100
    [[ $(value own) = 1 ]]
    recorded -- "$P/known" log 1 100
    [[ $(value own) = 0 ]]
}

@test "what a program writes into the shared memory does the capture no harm" {
    for seed in {1..12}; do
        alloc_shim -o t.cf "$P/scribble" $seed 9>result
        cf-cat --verify t.cf
    done
}
