#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# cf-capture pages: programs of all sorts, what the module refuses, and recordings that were cut off.
load lib
load told/told

setup_file() {
    told_build
    cat >"$D/library.c" <<'END'
#include <stdint.h>
#include <unistd.h>
void observed(int fd)
{
    uint64_t now = 0;
    if (pread(fd, &now, 8, 0) == 8) { now += 7000; fd = pwrite(fd, &now, 8, 0); }
}
END
    cat >"$D/user.c" <<'END'
#include <fcntl.h>
void observed(int fd);
char area[4096 * 3] = {1};
int main(int argc, char **argv) { observed(open(argv[argc - 1], O_RDWR)); return 3; }
END
    cc -shared -fPIC -o "$D/libone.so" "$D/library.c"
    cp "$D/libone.so" "$D/libtwo.so"
    cc -o "$D/user" "$D/user.c" -L"$D" -lone -Wl,-rpath,"$D"
    cc -o "$D/doubled" "$D/user.c" -L"$D" -Wl,-rpath,"$D" -Wl,--no-as-needed -lone "$D/libtwo.so"
    printf 'static void observed(void) { __asm__ volatile(""); }\nvoid other(void) { observed(); }\n' >"$D/b.c"
    printf 'void other(void);\n__attribute__((noinline)) static void observed(void) { __asm__ volatile(""); }\n' >"$D/a.c"
    printf 'int main(void) { observed(); return 0; }\n' >>"$D/a.c"
    cc -fno-inline -o "$D/two" "$D/a.c" "$D/b.c"
}

samples() { # samples FILE: "sample,runtime,policy" of its rows
    rows page "$1" | sed 1d | cut -d, -f3-5
}

@test "a name that several functions have is refused with their addresses, one of which serves" {
    local addresses
    addresses=$(nm "$D/two" | sed -n 's/^0*\([0-9a-f]*\) t observed$/0x\1/p' | sort | paste -sd' ' | sed 's/ /, /g')
    pagectl
    run -2 --separate-stderr capture -o p.cf -- "$D/two"
    has "there are several of that name: give the address of one, of $addresses" "$stderr"
    [ ! -e p.cf ]
    pagectl
    run -2 --separate-stderr capture -o p.cf -- "$D/doubled" clock
    [[ $stderr == *"there are several of that name: in $D/lib"*".so, $D/lib"*.so ]] || fail "$stderr"
    has libone.so "$stderr"
    has libtwo.so "$stderr"
    # one library's
    pagectl
    run -3 --separate-stderr capture --regions data -n 1 -o p.cf -- "$D/user" clock
    samples p.cf | cut -d, -f2 | sort -u | same - <(echo 7000)
    # no code, or no beginning of a function
    local what
    for what in 0x1 0x100000000 area; do
        pagectl
        run -1 timeout 60 cf-capture-pages-told -f $what --device sock -o p.cf -- "$D/hot" - state clock
        has 'is no code of the program'
    done
    what=$(nm "$D/hot" | awk '$3 == "observed" { print $1 }')
    pagectl
    run -2 timeout 60 cf-capture-pages-told -f "0x$(printf %x $((0x$what + 4)))" --device sock -o p.cf -- \
        "$D/hot" - state clock
    has 'this is not the first instruction of a function'
    for what in 0x 0 1z; do
        run -2 timeout 60 cf-capture-pages-told -f $what --device sock -o p.cf -- "$D/hot" - state clock
        has 'is neither a name nor an address'
    done
    pagectl
    run -1 hot K # a child calls it
    has 'was not called'
}

@test "programs that are none, setuid, or of another word size or processor" {
    run -2 pages
    has 'no program given'
    pagectl
    run -127 pages -o p.cf -- ./nothing
    echo text >text
    run -126 pages -o p.cf -- ./text
    chmod +x text
    pagectl
    run -2 pages -o p.cf -- ./text # the shell's
    has 'such a function'
    echo '#!/nowhere' >text
    pagectl
    run -3 pages -o p.cf -- ./text
    has 'was not executed'
    # the first 20 bytes of headers: 32 bits of x86, the other byte order, another processor
    printf '\x7fELF\x01\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\x03\0' >small
    printf '\x7fELF\x02\x02\x01\0\0\0\0\0\0\0\0\0\0\x02\0\x15' >big
    printf '\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\xf7\0' >other
    for file in small big other; do
        head -c 4096 /dev/zero >>$file
        chmod +x $file
        run -1 pages -o p.cf -- ./$file
        has 'is made for another processor or word size'
    done
    cp "$D/hot" suid
    chown 12345:12345 suid 2>/dev/null || skip 'no right to give files away'
    pagectl
    run -5 pages -n 1 -o p.cf -- ./suid - state clock
    for bit in u g; do
        chmod u-s,g-s suid
        chmod $bit+s suid
        run -1 pages -o p.cf -- ./suid - state clock
        has 'is setuid or setgid'
    done
}

@test "the program's input, output, signals, stops and status are its own" {
    local last
    seq 3 >input
    pagectl
    run -5 --separate-stderr bash -c 'cf-capture-pages-told -q -f observed --regions data --group 100 -n 1 \
        --device sock -o p.cf -- "$D/hot" i state clock <input'
    # two runs to look at it, and seven with one unit
    [ "$output" = "$(for last in {1..7}; do printf '1\n2\n3\ndone\n'; done)" ]
    pagectl
    run -5 --separate-stderr bash -c 'cat input | cf-capture-pages-told -f observed --regions data --group 100 -n 1 \
        --device sock -o p.cf -- "$D/hot" i state clock'
    has 'standard input is a pipe' "$stderr"
    # one before the function, one in it, in each run; and one at its end
    pagectl
    run -5 --separate-stderr hot s
    [ "$(grep -c '^heard 2$' <<<"$output")" = "$(grep -c '^done$' <<<"$output")" ]
    pagectl
    run -143 hot a
    [ "$(samples p.cf | wc -l)" = 20 ]
    pagectl
    run -137 hot k
    has 'ended by signal 9'
    # a stream on standard output: the program's goes elsewhere
    pagectl
    run -5 --separate-stderr bash -c 'cf-capture-pages-told -f observed --regions data --group 100 -n 1 \
        --device sock -- "$D/hot" - state clock >s.cf </dev/null'
    has done "$stderr"
    samples s.cf | cut -d, -f2 | sort -nu | same - <(printf '%s\n' 5000 83000)
}

@test "a signal to us is handed to the program, ends the recording, and us; an older profile stays; --resume goes on" {
    pagectl
    run -5 hot - -n 1
    mv p.cf older.cf
    cp older.cf p.cf
    pagectl
    export RUNS=ran
    HOLD=1 cf-capture-pages-told -q -f observed --regions data -n 1 --device sock -o p.cf -- \
        "$D/hot" - state clock </dev/null >/dev/null 3>&- &
    local us=$!
    eventually at_least ran 11
    kill -TERM $us
    local there=0
    wait $us || there=$?
    [ $there = 143 ]
    cmp older.cf p.cf
    run -1 cf-rank --by page --value gain p.cf.partial # of these pages alone
    has 'cut off'
    rm p.cf
    rows page p.cf.partial >there || true
    there=$(($(wc -l <there) - 1))
    ((there >= 8))
    rm ran
    pagectl
    run -5 --separate-stderr hot - --resume
    has "$there of 20 runs are there" "$stderr"
    at_least ran $((22 - there))
    ! at_least ran $((23 - there)) || fail 'measured again'
    [ ! -e p.cf.partial ]
    [ ! -e p.cf.resumed ]
    samples p.cf | sort | uniq -d | cut -d, -f3 | sort -u | same - <(echo 3)
}

@test "--resume after kill -9: what is in the file is not measured again; nor after another one" {
    local us there rows
    pagectl
    export RUNS=ran
    HOLD=1 cf-capture-pages-told -q -f observed --regions data -n 1 --device sock -o p.cf -- \
        "$D/hot" - state clock </dev/null >/dev/null 3>&- &
    us=$!
    eventually at_least ran 11
    kill -9 $us
    wait $us || true
    rows page p.cf.partial >there || true
    there=$(($(wc -l <there) - 1))
    ((there >= 5))
    # of another program, or with other options: nothing is changed
    cp p.cf.partial kept
    pagectl
    run -1 hot C --resume
    has 'is of another program'
    pagectl
    run -1 hot - --resume --mode uncached
    has 'rows are of other pages or options'
    pagectl
    run -1 hot - --resume --call 2
    has 'called 1 times, not 2'
    pagectl
    run -1 hot - --resume --rank kept
    cmp kept p.cf.partial
    # killed once more before anything new is there
    rm ran
    pagectl
    HOLD=1 timeout -s KILL 600 bash -c 'echo $$ >pid; exec cf-capture-pages-told -q -f observed --regions data -n 1 \
        --device sock --resume -o p.cf -- "$D/hot" - state clock' </dev/null >/dev/null 2>&1 3>&- &
    us=$!
    eventually at_least ran 3
    kill -9 "$(<pid)"
    wait $us || true
    rm ran
    pagectl
    run -5 --separate-stderr hot - --resume
    rows=$(sed -n 's/.*: \([0-9]*\) of 20 runs are there/\1/p' <<<"$stderr")
    ((rows >= there))
    at_least ran $((22 - rows))
    ! at_least ran $((23 - rows)) || fail 'measured again'
    rows page p.cf | head -$((there + 1)) | same there -
    cf-cat --verify p.cf
    rows page p.cf | cut -d, -f1-3,5 | sort | uniq -d | same - /dev/null
}

@test "--resume of another build of the program, or another function, is refused; --rank of one is told" {
    local program=$PWD/built
    cc -D_GNU_SOURCE -O1 -g -pthread -o built "$ROOT/tests/told/hot.c"
    pagectl
    run -5 pages -q -n 1 -o p.cf -- "$program" - state clock
    cp p.cf kept.cf
    pagectl
    run -1 --separate-stderr pages -q -n 2 -f pread --resume -o p.cf -- "$program" - state clock
    has '--resume: p.cf has runs with another function,' "$stderr"
    cc -D_GNU_SOURCE -O1 -g -pthread -Wl,--build-id=0xc0ffee -o built "$ROOT/tests/told/hot.c"
    pagectl
    run -1 --separate-stderr pages -q -n 2 --resume -o p.cf -- "$program" - state clock
    has '--resume: p.cf has runs with another build,' "$stderr"
    cmp p.cf kept.cf
    pagectl
    run -5 --separate-stderr pages -q -n 1 --rank kept.cf -o k.cf -- "$program" - state clock
    has '--rank kept.cf: is of another build' "$stderr"
    cf-cat --info k.cf | grep -q 'build: "built build-id:c0ffee, '
    pagectl
    run -5 --separate-stderr pages -q -n 2 --rank kept.cf --resume -o k.cf -- "$program" - state clock
}

@test "--resume with another --group is refused, though its groups begin at pages that are there" {
    pagectl
    run -5 hot - --group 4
    cp p.cf kept.cf
    local group
    for group in 1 2; do
        pagectl
        run -1 --separate-stderr hot - --group $group --resume -n 2
        has '--resume: p.cf has runs with another group,' "$stderr"
        cmp p.cf kept.cf
    done
    pagectl
    run -5 --separate-stderr hot - --group 4 --resume -n 2
    has ' runs are there' "$stderr"
    # nor the best of groups for the best pages
    cf-rank -q --by page --value gain kept.cf >groups.csv
    pagectl
    run -5 pages -n 1 --group 4 --rank groups.csv -o k.cf -- "$D/hot" - state clock
    pagectl
    run -1 --separate-stderr pages -n 1 --rank groups.csv --resume -o k.cf -- "$D/hot" - state clock
    has '--resume: k.cf has runs with another group,' "$stderr"
}

@test "--group: pages of one region are one group though they lie in several mappings" {
    pagectl
    run -5 capture --regions anon --group 4 -n 1 -o p.cf -- "$D/hot" g state clock
    # "[anon] N" of eight pages, the fourth of them with other permissions
    rows page p.cf | awk -F, '$5 == 3 { print $1 "," $2 "," $6 }' | sort >groups
    run -0 cut -d, -f1,2 groups
    is "$(sort -u <<<"$output")"
    local region
    region=$(grep -B 1 ',4,4$' groups | sed -n '1s/,.*//p')
    [ "$(grep -c "^\[anon\].*,4$" groups)" = 2 ]
    grep -qxF "$region,0,4" groups
    # all runs are found again, and the best come in the order of their groups
    pagectl
    run -5 --separate-stderr capture --regions anon --group 4 -n 1 --resume -o p.cf -- "$D/hot" g state clock
    [[ $stderr =~ 'resume: '([0-9]+)' of '([0-9]+)' runs are there' ]]
    [ "${BASH_REMATCH[1]}" = "${BASH_REMATCH[2]}" ]
    pagectl
    run -5 --separate-stderr capture --regions anon --group 4 -n 1 --rank p.cf -o k.cf -- "$D/hot" g state clock
    run ! grep -q 'come last' <<<"$stderr"
}

@test "--rank by a profile of other groups is refused" {
    pagectl
    run -5 hot - --group 4
    cf-rank -q --by page --value gain p.cf >groups.csv
    pagectl
    run -5 pages -n 1 --group 4 --rank groups.csv -o k.cf -- "$D/hot" - state clock
    local group
    for group in 1 2 8; do
        pagectl
        run -1 --separate-stderr pages -q -n 1 --group $group --rank p.cf -o new.cf -- "$D/hot" - state clock
        has "--rank p.cf: is of --group 4, not $group: give the same" "$stderr"
    done
    pagectl
    run -5 hot -
    cf-rank -q --by page --value gain p.cf >pages.csv
    # as that of cf-pages, which states no group
    rows page p.cf | cf-capture-csv --table page -o bare.cf
    for file in pages.csv bare.cf; do
        pagectl
        run -1 --separate-stderr pages -q -n 1 --group 4 --rank $file -o new.cf -- "$D/hot" - state clock
        has "of $D/hot rw-, with which no group of --group 4 begins: make it with the same --group" "$stderr"
    done
    [ ! -e new.cf ]
}

@test "--resume with other regions, or with another profile of --rank, is refused" {
    pagectl
    run -5 hot -
    cp p.cf kept.cf
    pagectl
    run -1 --separate-stderr capture --regions data,rodata -n 2 --resume -o p.cf -- "$D/hot" - state clock
    has '--resume: p.cf has runs with another region,' "$stderr"
    cmp p.cf kept.cf
    cf-rank -q --by page --value gain p.cf >best.csv
    (head -1 best.csv && sed 1d best.csv | tac) >worst.csv
    pagectl
    run -5 pages -n 1 --rank best.csv -o k.cf -- "$D/hot" - state clock
    # a run of k pages names the last of them
    cf-cat -q --csv --table page --columns policy,k,region,page k.cf | awk -F, '$1 == 5 && $2 { print $2 "," $3 "," $4 }' |
        sort -n -u >named
    tail -n +2 best.csv | cut -d , -f 1-3 >ranks
    same ranks named
    cp k.cf kept.cf
    pagectl
    run -1 --separate-stderr pages -n 2 --rank worst.csv --resume -o k.cf -- "$D/hot" - state clock
    has '--resume: k.cf has runs with another profile,' "$stderr"
    cmp k.cf kept.cf
    pagectl
    run -5 pages -n 2 --rank best.csv --resume -o k.cf -- "$D/hot" - state clock
}

@test "--resume of a stream that is cut in a frame: the frames before it count" {
    pagectl
    run -5 hot -
    mv p.cf first.cf
    pagectl
    run -5 hot - -n 2
    cat first.cf p.cf >whole
    local size
    for size in 1 30 200; do
        rm -f p.cf
        head -c -$size whole >p.cf.partial
        # in the end frame of the second all rows are there; in its rows, the first 20
        pagectl
        run -5 --separate-stderr hot - --resume -n 2
        rows page p.cf | sed 1d | wc -l | same - <(echo 38)
    done
    head -c $(($(stat -c %s first.cf) + 900)) whole >p.cf.partial
    pagectl
    run -5 --separate-stderr hot - --resume -n 2
    has '20 of 38 runs are there' "$stderr"
    # not even a header; and no recording
    : >p.cf.partial
    pagectl
    run -5 --separate-stderr hot - --resume
    seq 1000 >p.cf.partial
    pagectl
    hot - --resume || [ $? = 5 ]
    run -2 pages --resume -- "$D/hot" - state clock
    has 'there must be a file'
}

@test "--cpu and --sched: for the program; without the right, said" {
    pagectl
    run -5 hot q --cpu 0
    has 'cpu 0 policy 0'
    run -3 hot q --cpu 1023
    has '--cpu 1023'
    run -2 hot q --sched fifo:0
    run -2 hot q --sched fifo:100
    run -2 hot q --sched rr:1
    has 'give fifo:PRIORITY'
    local without=(setpriv --bounding-set=-sys_nice)
    [[ $EUID == 0 ]] || without=()
    pagectl
    run -3 "${without[@]}" bash -c 'ulimit -r 0; cf-capture-pages-told -f observed --regions data -n 1 --sched fifo:7 \
        --device sock -o q.cf -- "$D/hot" q state clock'
    has '--sched fifo:7: Operation not permitted'
    [ ! -e q.cf ]
    chrt -f 7 true 2>/dev/null || skip 'no right to real-time priorities'
    pagectl
    run -5 hot q --sched fifo:7
    has 'policy 1'
}

# named KIND: regions of the rows with --regions KIND, of a program with mappings of all sorts.
named() {
    pagectl
    capture -q -n 1 --group 1000000 --regions "$1" -o r.cf -- "$D/hot" R state clock >/dev/null || [ $? = 5 ]
    rows page r.cf | awk -F, '$5 == 3 { print $1 }' | sort -u
}

@test "regions, each; never shared memory, guards, the kernel's, or files that are no programs" {
    named text | same - <(echo "$D/hot r-x")
    named data | same - <(echo "$D/hot rw-")
    named bss | same - <(echo "$D/hot [bss]")
    named heap | same - <(echo '[heap]')
    named stack | same - <(echo '[stack]')
    named rodata >got
    grep -q "^$D/hot r--" got
    run ! grep -qv "^$D/hot r--" got
    named lib >got
    grep -q '/libc' got
    run ! grep -qv '^/.*\.so[.0-9]* ' got
    named anon >got
    grep -q '^\[anon\] 1$' got
    run ! grep -qv '^\[anon\] [0-9]*$' got
    named heap,data | same - <(printf '%s\n' "$D/hot rw-" '[heap]')
    named text,rodata,data,bss,heap,stack,anon,lib >all
    ((($(wc -l <all)) > 12))
    run ! grep -qE 'vdso|vvar|vsyscall|zero|clock|/dev|SYSV' all
    # the vdso, its data, a shared page, a file twice, and a guard, at least, are said to be left out
    pagectl
    run --separate-stderr capture -n 1 --group 1000000 -o r.cf -- "$D/hot" R state clock
    [[ $stderr =~ 'and '([0-9]+)' of other mappings' ]]
    ((BASH_REMATCH[1] >= 8))
    # written to before it was mapped away: its pages are the file's, whether they are touched or not
    run -2 capture --regions data,code -o r.cf -- "$D/hot" R state clock
    has "'code'"
    run -2 capture --regions , -o r.cf -- "$D/hot" R state clock
    pagectl
    run -1 capture --regions heap -o r.cf -- "$D/user" clock
    has 'no page to look into'
}

@test "over 500 mappings and pages; processes that are gone, taken, or seen otherwise by the module" {
    pagectl
    run -5 --separate-stderr capture --regions heap --group 1000000 -n 1 -o p.cf -- "$D/hot" L state clock
    run ! grep -q differ notes
    awk -F, '$1 == "expect" && $2 < 1200 { exit 1 }' notes
    # all are tried once, and of the three runs two have none of them cached
    [ "$(grep -c '^set,500,' notes)" = 9 ]
    [ "$(awk -F, '$1 == "set" { n += $2 } END { print n % 3, (n > 5700) }' notes)" = '0 1' ]
    local call error
    while read -r call error text; do
        pagectl error="$call:$error"
        run -3 hot -
        has "$text"
    done <<'END'
1 3 No such process
1 16 another program uses it on this process
1 1 Operation not permitted
2 116 the module sees other mappings
3 95 not offered on this machine
6 16 could not be restored
END
    # a process that ends meanwhile: what is left to do is none
    pagectl error=6:3
    run -5 hot -
}

@test "pages that the module cannot change are left out, with the reason, or their samples dropped" {
    local result text
    while read -r result text; do
        pagectl "result=/hot:$result"
        run -1 --separate-stderr hot -
        has "14 pages are left out: $text" "$stderr"
        has 'no page to look into' "$stderr"
        # behind the call of the second run
        pagectl "result=/hot:$result" late=2
        run -5 --separate-stderr hot -
        has "a sample is dropped: $D/hot rw- page" "$stderr"
        has ": $text" "$stderr"
        samples p.cf | cut -d, -f3 | sort -u | same - <(echo 2)
    done <<'END'
1 not mapped, or a guard
2 of the kernel or a device
3 in a huge page
4 of a file
5 shared
6 held by the kernel
7 cannot be read in
8 the pool is full
9 not tried
END
    pagectl "result=/hot:77" late=2
    run -5 --separate-stderr hot -
    has 'of unknown kind' "$stderr"
    # a pool that is full before the best three have moved
    pagectl
    run -5 hot -
    pagectl moves=1 pool=2
    run -5 --separate-stderr pages -n 1 --rank p.cf --migrate 3 -o m.cf -- "$D/hot" - state clock
    has 'the pool is full' "$stderr"
    samples m.cf | cut -d, -f3 | sort -u | same - <(printf '%s\n' 1 2)
    pagectl page_size=16384
    run -3 hot -
    has 'pages of 16384 bytes'
    pagectl policies=1
    run -3 hot -
    has 'it cannot make pages uncached here'
}

@test "mappings that change in the function: new, gone, other permissions, a heap that begins there" {
    local mode
    for mode in m u o; do
        pagectl
        run -1 hot $mode
        has 'in the function'
    done
    pagectl
    run -1 hot B
    has '[heap]: came, went or changed its permissions in the function'
    # one that is there has all its memory from the begin
    pagectl
    run -5 hot b
}

@test "children in the function, and a thread that calls it too" {
    pagectl
    run -5 hot F
    samples p.cf | cut -d, -f2 | sort -nu | head -1 | same - <(echo 5000)
    pagectl
    run -5 hot T --call 2 --group 100
    [ "$(samples p.cf | wc -l)" -ge 1 ]
}

@test "threads that all call the function: none is ended by a trap that is gone, none slips past one" {
    local call
    cc -O1 -pthread -o "$D/crowd" "$BATS_TEST_DIRNAME/told/crowd.c"
    for call in 2 50; do
        pagectl
        run -5 --separate-stderr pages -n 30 --call $call --group 100 -o p.cf -- "$D/crowd" 8 clock
        [[ $stderr != *'ended by signal'* && $stderr != *'did not return'* && $stderr != *'was called'* ]] ||
            fail "$stderr"
        [ "$(samples p.cf | wc -l)" -gt 1 ]
    done
}

@test "threads whose children call the function too: who has ended by the time it is said to be born is gone" {
    local n
    cc -D_GNU_SOURCE -O1 -pthread -o "$D/crowd" "$BATS_TEST_DIRNAME/told/crowd.c"
    pagectl
    # threads that are awaited for ever cost a tenth of a second and the sample at each stop: no end comes;
    # where a busy machine alone keeps one from stopping, once more
    for n in {1..20}; do
        run --separate-stderr pages -n 10 --call 50 --group 100 -o p.cf -- "$D/crowd" 4 f clock
        [[ $status == 1 && $stderr == *'did not stop at the entry'* ]] || break
    done
    [[ $status == 5 && $stderr != *'ended by signal'* ]] || fail "status $status" "$stderr"
    [ "$(samples p.cf | wc -l)" -gt 1 ]
}

# borne MODE [ARGUMENT...]: times the program that looks whether that changes anything in it
borne() {
    local mode=$1
    shift
    [[ $(uname -m) == x86_64 ]] || skip 'time is read in programs of x86-64 only'
    [[ -x $D/borne ]] || gcc -D_GNU_SOURCE -O1 -o "$D/borne" "$BATS_TEST_DIRNAME/told/borne.c"
    pagectl
    run --separate-stderr pages -n 2 -o b.cf "$@" -- "$D/borne" "$mode" clock
    [ "$status" = 5 ] || fail "status $status" "$stderr"
    run ! grep -q differ notes
}

@test "time read in the program: registers, flags, code and signals stay as they are" {
    local mode
    borne r
    has 'time by told, read in the program' "$stderr"
    samples b.cf | cut -d, -f2 | sort -u | same - <(echo 7000)
    # its pages are none of the program's: there are as many where it is not
    for mode in r s; do
        pagectl
        capture --regions anon,text -n 1 -o $mode.cf -- "$D/borne" $mode clock || [ $? = 5 ]
        rows page $mode.cf | cut -d, -f1 | sort | uniq -c >$mode.regions
    done
    same r.regions s.regions
}

@test "time read in the program: children that return from the function, before it ends and after" {
    local mode
    for mode in f l; do
        borne $mode
        has 'read in the program' "$stderr"
        samples b.cf | cut -d, -f2 | sort -u | same - <(echo 7000)
    done
}

@test "time is taken at the stops where the program does not bear another return address, filters calls, or may map nothing" {
    borne b
    has 'at the stops: it does not bear another return address: the program crashed' "$stderr"
    samples b.cf | cut -d, -f2 | sort -u | same - <(echo 7000)
    cf-cat --dump b.cf | grep 'read: "at the stops"'
    borne s
    has 'at the stops: it filters its system calls' "$stderr"
    samples b.cf | cut -d, -f2 | sort -u | same - <(echo 7000)
    borne a
    has 'at the stops: it may not map memory' "$stderr"
    samples b.cf | cut -d, -f2 | sort -u | same - <(echo 7000)
}

@test "the processor's counter, by the program that is installed" {
    local rows
    [[ $(uname -m) == x86_64 ]] || skip 'time is read in programs of x86-64 only'
    gcc -D_GNU_SOURCE -O1 -o clocked "$BATS_TEST_DIRNAME/told/borne.c"
    pagectl
    run -5 --separate-stderr cf-capture-pages -f observed --regions data -n 2 --device sock -o b.cf -- ./clocked c clock
    has 'read in the program' "$stderr"
    [[ $stderr == *'time by tsc'* ]] || skip 'no steady counter'
    rows=$(samples b.cf | awk -F, '$2 >= 500000' | wc -l)
    [ "$rows" = "$(samples b.cf | wc -l)" ]
    [ "$rows" -ge 7 ]
}

@test "a function that takes no longer than its stops gives no sample" {
    pagectl
    run -1 --separate-stderr hot z
    has 'a sample is dropped: the function takes no longer than an empty one, whose time is subtracted' "$stderr"
    has '20 samples were dropped in all' "$stderr"
    [ ! -e p.cf ]
}

@test "--rank of a pipe is refused" {
    pagectl
    run -5 hot -
    pagectl
    run -1 --separate-stderr pages -n 1 --rank <(cf-rank -q --by page --value gain p.cf) -o k.cf -- "$D/hot" - state clock
    has 'it is read twice: give a file, not a pipe' "$stderr"
}

@test "--rank: profiles of another program, of both modes, without pages, without their baselines" {
    pagectl
    run -5 hot -
    pagectl
    run -1 --separate-stderr pages -n 1 --rank p.cf -o k.cf -- "$D/fixed" - state clock
    has 'the program has none of its pages: it is a profile of another one' "$stderr"
    [ ! -e k.cf ]
    # a profile needs no baselines to order pages
    rows page p.cf | grep -v ',[12],0,1$' | cf-capture-csv --table page -o alone.cf
    pagectl
    run -5 pages -n 1 --rank alone.cf -o k.cf -- "$D/hot" - state clock
    # but to say what they gain
    run -1 cf-rank -q --by page --value gain alone.cf
    has 'no run with no page cached'
    pagectl
    run -5 pages -n 1 --mode uncached -o u.cf -- "$D/hot" - state clock
    cat p.cf u.cf >both.cf
    rows page p.cf | grep ',[12],0,1$' >base.csv || true
    sed '1i rank,pages' base.csv >wrong.csv
    printf 'rank,region,page\n1,%s,x\n' "$D/hot rw-" >words.csv
    printf 'rank,region,page\n1,"%s" x,1\n2,"y",2\n' "$D/hot rw-" >quotes.csv
    printf 'rank,region,page\n1,%s,1\n2,"y\n' "$D/hot rw-" >open.csv
    printf 'rank,region,page\n1,%s,99999\n1,%s,1\n' "$D/hot rw-" "$D/hot rw-" >some.csv
    rows page p.cf | grep -v ',3,0,1$' | cf-capture-csv --table page -o empty.cf
    while read -r file text; do
        pagectl
        run -1 pages -n 1 --rank "$file" -o k.cf -- "$D/hot" - state clock
        has "$text"
    done <<'END'
both.cf has runs of both modes
wrong.csv no columns region and page
quotes.csv row 1: error parsing data while strict checking enabled
open.csv row 2: error parsing data while strict checking enabled
words.csv row 1 names no page
nowhere.cf No such file
empty.cf names no page
/dev/null empty: not even a header came
END
    pagectl
    run -5 --separate-stderr pages -n 1 --rank some.csv -o k.cf -- "$D/hot" - state clock
    has '1 of its 2 rows are of pages that the program has not' "$stderr"
    has '13 of the 14 pages are not in it: they come last' "$stderr"
    pagectl moves=1
    run -2 pages -n 1 --rank p.cf --migrate 15 -o k.cf -- "$D/hot" - state clock
    run -2 pages -n 1 --migrate 1 -o k.cf -- "$D/hot" - state clock
    run -2 pages -n 1 --rank p.cf --mode cached -o k.cf -- "$D/hot" - state clock
}
