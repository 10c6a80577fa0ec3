#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# README.md: its tour as a new user types it, line by line in one folder, and its table of programs.
# Takes long: recordings under Valgrind.
load lib

# A tree to work in: this one, with a build folder of its own that holds this build.
setup() {
    lib_setup
    reached "a text; its programs have suites"
    local f
    for f in "$ROOT"/*; do
        [[ $f -ef $B || ${f##*/} == build ]] || ln -s "$f" .
    done
    mkdir build
    for f in "$B"/*; do
        # `make` alone builds no tests
        [[ ${f##*/} == san || ${f##*/} == test ]] || ln -s "$f" build
    done
    some_host
}

# tour: its commands, one a line. What stands for a program of the reader's becomes one, and the machine that is
# measured a model: how busy this one is decides what can be told of it.
tour() {
    sed -n 's/^    //p' README.md | sed 's/PROGRAM ARGS/true/; s/^cf-capture probe -o/cf-capture probe --on atom-d525 --by time -o/'
}

# made COMMAND: the files that the command is to write.
made() {
    grep -oE -- '( -o|--picture|--html|--policies|[^2]>) [^ ]+' <<<"$1" | awk '{ print $2 }'
}

# works COMMAND: it does, and what it is to bring is there.
works() {
    local file status=0
    timeout 1800 bash -o pipefail -c "$1" >out 2>err </dev/null || status=$?
    # `| head` goes before its writer has ended
    [[ $status == 0 || ($status == 141 && $1 =~ \|\ head[^|]*$) ]] ||
        fail "status $status: $1" "$(head -n 5 err)" || return
    ! grep -iE 'warning:|unrecognized|damaged|cut off|no breakpoint saw' err || fail "it says so: $1" || return
    for file in $(made "$1"); do
        [[ $file == */dev/null || -s $file ]] || fail "$file is empty or not there: $1" || return
    done
    [[ -n $(made "$1") || -s out || $1 =~ ^export ]] || fail "brings nothing: $1"
}

# bats test_tags=slow
@test "the tour works, line by line" {
    run -0 cf-capture trace --probe
    need aarch64-linux-gnu-gcc "the cross compiler"
    local line n=0
    while IFS= read -r line <&9; do
        case $line in
        make*) continue ;; # below
        sudo* | *tx1.cf*) continue ;; # a board: suites kmod-*, cf-capture-snapshot and cacheflow
        *fine.cf*) # no sample is a breakpoint where none stops
            cf-capture perf --coarse page-faults --fine 64 -q -o untold.cf -- true 2>untold || continue ;;
        esac
        works "$line"
        n=$((n + 1))
    done 9< <(tour)
    [[ $n -ge 40 ]] || fail "only $n commands were found"
    # the source beside its counts
    grep -q ',"    .*;' source.csv || fail "$(head -n 5 source.csv)"
    # the page alone, without what the program prints
    [[ $(head -n 1 report.txt) == 'sort -o sorted.txt README.md' ]] || fail "$(head -n 3 report.txt)"
}

@test "its line for CachePerf finds a defect of each type that a program of its own has, as typed" {
    run -0 cf-capture trace --probe
    local line program class
    line=$(tour | grep 'own-allocator.*cf-report --cacheperf')
    [[ $(wc -l <<<"$line") == 1 && $line == *"-- ./histogram 180 | "* ]] || fail "$line"
    while read -r program class <&9; do
        gcc -O1 -g -D_GNU_SOURCE -pthread -o program "samples/cacheperf/${program%,*}.c"
        eval "${line/.\/histogram 180/./program ${program#*,}} --csv" >found.csv 2>err
        [[ $(sed -n 2p found.csv | cut -d, -f2) == "$class" ]] ||
            fail "$program is $class:" "$(cat found.csv err)"
    done 9<<'END'
histogram,60 false_sharing
counter,120 true_sharing
adi,800 conflict
canneal,160 capacity
END
}

@test "what it has make do there is: these run in other suites" {
    local line makefile goal n=0
    while IFS= read -r line <&9; do
        makefile=Makefile goal=
        [[ $line =~ \ -f\ ([^ ]+) ]] && makefile=${BASH_REMATCH[1]}
        [[ $line =~ \ ([a-z]+)(\ +#.*)?$ ]] && goal=${BASH_REMATCH[1]}
        [[ -f $makefile ]] || fail "$line: no such file"
        [[ -z $goal ]] || grep -qE "^([a-z-]+ )*$goal( [a-z-]+)*:" $makefile || fail "$line: no such target"
        n=$((n + 1))
    done 9< <(tour | grep '^make ' | sed 's/  *#.*//')
    [[ $n -ge 5 ]] || fail "only $n commands were found"
}

@test "every program has its place in the table" {
    local p bad=
    for p in $(programs | grep -v template); do
        case $p in
        cf-capture-*) grep -qE "^\| cf-capture \|.*\`${p#cf-capture-}\`" README.md ;;
        *) grep -qE "^\| $p \| [a-z]" README.md ;;
        esac || bad+="$p "
    done
    [[ -z $bad ]] || fail "README.md does not tell of $bad"
}
