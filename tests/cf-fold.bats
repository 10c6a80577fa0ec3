# SPDX-License-Identifier: BSD-2-Clause
# shellcheck disable=SC2154 # bats sets output, status and lines
#
# cf-fold: folded stacks, held against cf-rank --by stack, and against how flamegraph.pl and inferno
# read a line.
# Takes long: recordings under Valgrind.
load lib

# recorded MODE: r.cf, a recording of calls.cc with names and levels.
recorded() {
    command -v valgrind >/dev/null || skip "no Valgrind"
    [[ -e $BATS_FILE_TMPDIR/p ]] ||
        c++ -O1 -g -fno-optimize-sibling-calls -pthread -o "$BATS_FILE_TMPDIR/p" "$ROOT/capture/trace/test/calls.cc" -ldl
    cf-capture-trace -q -i --calls -o t.cf "$BATS_FILE_TMPDIR/p" "$1"
    cf-resolve -q t.cf | cf-cache -q -m raspberry-pi-4 | cf-classify -q -m raspberry-pi-4 |
        cf-latency -q -m raspberry-pi-4 -o r.cf
}

# ranked VALUE FILE...: the same from cf-rank.
ranked() {
    local value=$1
    shift
    cf-rank -q --csv --by stack --value "$value" "$@" |
        python3 -c 'import csv, sys
for row in list(csv.reader(sys.stdin))[1:]: print(row[1], row[2])' | LC_ALL=C sort
}

# total: of the values of the lines on standard input, by the rule of flamegraph.pl.
total() {
    perl -ne '/^(.*)\s+?(\d+(?:\.\d*)?)$/ or die "bad: $_"; $t += $2;
        $1 =~ /^(.*)\s+?(\d+(?:\.\d*)?)$/ and die "two values: $_"; END { print $t + 0, "\n" }'
}

@test "sums are those of cf-rank --by stack: recursion, threads, children, signals, C++" {
    local mode value values of
    for mode in recursion threads fork signal exception; do
        recorded $mode
        [[ $mode == recursion ]] && values='accesses bytes loads misses l1-misses compulsory cost fetches' ||
            values=$(few 'accesses misses' "$values")
        for value in $values; do
            cf-fold --value $value r.cf >got
            ranked $value r.cf >want
            LC_ALL=C sort got | same want -
            of=$(cf-rank -q --csv --by op --value $value r.cf | awk -F , '{ n += $3 } END { print n }')
            [[ $(total <got) == "$of" ]] || fail "$mode, $value: $(total <got), not $of"
            [[ $of -gt 0 ]]
        done
        cf-fold r.cf >got
        grep -q ';main;' got || [[ $mode == threads ]]
    done
    LC_ALL=C sort -c <(sed 's/ [0-9]*$//' got)
}

@test "a child of fork that has ended before its rows come has the paths of its parent's calls" {
    cat >forks.c <<'END'
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) static void fill(size_t bytes)
{
    volatile char *p = malloc(bytes);
    for (size_t i = 0; i < bytes; i++)
        p[i] = 1;
    free((void *)p);
}
int main(void)
{
    fill(500);
    if (!fork()) {
        fill(700);
        _exit(0);
    }
    wait(NULL);
    fill(300);
}
END
    command -v valgrind >/dev/null || skip "no Valgrind"
    cc -O1 -g -o forks forks.c
    cf-capture-trace -q --calls -o t.cf ./forks
    local from
    from=$(cf-cat --csv --table task --columns time,op t.cf | awk -F, '$2 == "begin" { t = $1 } END { print t + 1 }')
    cf-cat --slice "$from-" t.cf | cf-resolve -q | cf-fold >got
    cf-resolve -q t.cf | cf-cat --slice "$from-" | cf-fold | same - got
    grep -q '^_start;.*;main;fill 10[0-9][0-9]$' got
}

@test "options that say what a miss is are cf-rank's" {
    recorded recursion
    cf-fold --value misses --level 1 r.cf >got
    cf-fold --value l1-misses r.cf | same - got
    cf-fold --value misses --class conflict,capacity r.cf >got
    cf-rank -q --csv --by op --value misses --class conflict,capacity r.cf |
        awk -F , '{ n += $3 } END { print n + 0 }' >want
    total <got | same want -
    [[ $(cat want) -gt 0 ]]
    cf-fold --op store r.cf >got
    cf-fold --value stores r.cf | same - got
}

# paths: nodes 1 (called from the root) and 2 (from 1), with these names, and accesses in them.
paths() { # NAME NAME NAME ACCESSES
    printf 'pid,stack,parent,pc,function\n7,1,0,0x10,"%s"\n7,2,1,0x20,"%s"\n' "$1" "$2" >stack.csv
    {
        echo time,pid,op,size,addr,stack,function,weight
        printf '1,7,load,8,0x40,2,"%s",%s\n' "$3" "$4"
    } | cf-capture csv -q -w stack=stack.csv -o in.cf
}

@test "names that a reader would take to pieces" {
    local name want
    while IFS='|' read -r name want; do
        name=${name//TAB/$'\t'} name=${name//NL/$'\n'} name=${name//BYTE/$'\xff'}
        paths "$name" "$name" "$name" 5
        run -0 --separate-stderr cf-fold in.cf
        is "$want;$want;$want 5"
        [[ $(total <<<"$output") == 5 ]]
    done <<'END'
f|f
a;b|a:b
aNLb|a:b
operator new(unsigned long)|operator new(unsigned long)
f<int, 5>|f<int, 5>
f 12|f_12
f  12|f _12
f 1.5|f_1.5
f 1.|f_1.
f .5|f .5
f 1.5x|f 1.5x
12 f|12 f
12|12
 f|_f
f |f_
 |_
  |__
a TABb|a \x09b
aBYTE|a\xff
#f|#f
END
    paths '' '' '' 5
    run -0 cf-fold in.cf
    is '[unknown];[unknown];[unknown] 5'
}

@test "samples count by their weight, and what is 0 is no line" {
    paths a b c 1000000007
    run -0 cf-fold in.cf
    is "a;b;c 1000000007"
    run -0 cf-fold --value bytes in.cf
    is "a;b;c 8000000056"
    run -0 --separate-stderr cf-fold --value stores in.cf
    is ''
    [[ -z $stderr ]]
}

@test "a stream of the wrong kind: exit 1, what is missing and what adds it, and no line" {
    run -1 --separate-stderr cf-fold "$ROOT/samples/sort.cf"
    is ''
    [[ $stderr == *"no column 'stack': record it with 'cf-capture trace --calls'" ]]
    printf 'time,op,size,addr,stack\n1,load,8,0x40,0\n' | cf-capture csv -q -o unnamed.cf
    run -1 --separate-stderr cf-fold unnamed.cf
    is ''
    [[ $stderr == *"no column 'function': first run the stream through cf-resolve" ]]
    paths a b c 1
    for value in misses l1-misses hits; do
        run -1 --separate-stderr cf-fold --value $value in.cf
        is ''
        lacking='none of the columns class, hit and level'
        [[ $value != l1-misses ]] || lacking='neither of the columns hit and level'
        [[ $stderr == *"$lacking, which say what missed: first run the stream through cf-cache" ]]
    done
    run -1 --separate-stderr cf-fold --value cost in.cf
    is ''
    [[ $stderr == *"first run the stream through cf-latency" ]]
}

@test "one value, and no ratio" {
    paths a b c 1
    run -2 --separate-stderr cf-fold --value accesses,bytes in.cf
    [[ $stderr == *'has one value'* ]]
    run -2 --separate-stderr cf-fold --value ratio in.cf
    [[ $stderr == *"--value 'ratio': give one of accesses"* ]]
    run -2 --separate-stderr cf-fold --value '' in.cf
    run -2 --separate-stderr cf-fold --value nonsense in.cf
    [[ $stderr == *'give one of accesses'* ]]
    run -2 --separate-stderr cf-fold --class conflict in.cf
    run -2 --separate-stderr cf-fold --value l1-misses --level 2 in.cf
    [[ $stderr == *'--level goes with --value misses or hits' ]]
}
