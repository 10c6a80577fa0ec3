#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# cf-capture pages: what it measures, of a program whose times are known. What programs, options and
# the module can do to it is in cf-capture-pages-cases.
load lib
load told/told

setup_file() {
    told_build
}

@test "each page alone, and all but each" {
    pagectl
    run -5 --separate-stderr pages -n 2 -o p.cf -- "$D/hot" - state clock
    [ "$(grep -c done <<<"$output")" = 40 ]
    cf-rank -q --by page --value gain p.cf | cut -d, -f4,7 | sed -n 2,13p >gains
    seq 12 -1 1 | sed 's/$/000,2/' | same - gains
    pagectl
    run -5 pages -n 1 --mode uncached -o q.cf -- "$D/hot" - state clock
    cf-rank -q --by page --value gain q.cf | cut -d, -f4 | sed -n 2,13p >gains
    seq 12 -1 1 | sed 's/$/000/' | same - gains
    run ! grep -q differ notes
    # nothing runs while pages change, and all is restored
    run ! grep -q '^set,.*,[1-9][0-9]*$' notes
    [ "$(grep -c ^target notes)" = "$(grep -c '^restore,0' notes)" ]
}

@test "baselines come first, between the others, and last" {
    pagectl
    run -5 hot -
    rows page p.cf | sed 1d | cut -d, -f3,5 | tr '\n' ' ' >order
    printf '%s' 1,1 ' ' 1,2 ' ' >want
    printf '1,3 %.0s' {1..7} >>want
    printf '2,1 2,2 ' >>want
    printf '1,3 %.0s' {1..7} >>want
    printf '3,1 3,2 ' >>want
    same want order
    pagectl
    run -5 pages -n 2 --bisect -o b.cf -- "$D/hot" - state clock
    rows page b.cf | sed 1d | cut -d, -f5 | uniq | tr '\n' ' ' >order
    same order - < <(printf '1 2 3 1 2 3 1 2 ')
    rows page b.cf | awk -F, '$5 < 3 { print $3 "," $5 }' | same - <(printf '%s\n' 1,1 1,2 2,1 2,2 3,1 3,2)
}

@test "the best k, by a stream and by CSV; migration; resume" {
    pagectl
    run -5 hot -
    cf-rank -q --by page --value gain p.cf >ranked.csv
    for file in p.cf ranked.csv; do
        pagectl
        run -5 pages -n 1 --rank "$file" -o k.cf -- "$D/hot" - state clock
        rows page k.cf | awk -F, '$5 == 5 { print $6, $4 }' | sort -nu >curve
        awk 'BEGIN { t = 83000; print 0, t; for (k = 1; k <= 14; k++) { t -= k < 13 ? (13 - k) * 1000 : 0; print k, t } }' |
            same - curve
    done
    pagectl moves=1
    run -5 pages -n 1 --rank p.cf --migrate 1 -o m.cf -- "$D/hot" - state clock
    rows page m.cf | grep -q ',4[89][0-9][0-9],6,1,1$'
    pagectl
    run -3 pages -n 1 --rank p.cf --migrate 1 -o m.cf -- "$D/hot" - state clock
    has 'no pool'
    # what is there is not run again
    pagectl
    run -5 --separate-stderr pages -n 2 --resume -o p.cf -- "$D/hot" - state clock
    has '20 of 38 runs are there' "$stderr"
    [ "$(rows page p.cf | tail -n +2 | wc -l)" = 38 ]
    pagectl
    run -1 pages -n 2 --resume -o p.cf -- "$D/hot" C state clock
    has 'of another program'
}

@test "groups, the best by bisection, and where the program writes" {
    pagectl
    run -5 --separate-stderr pages -n 1 --group 4 --command-output said -o g.cf -- "$D/hot" - state clock
    is ""
    same said - <<<done
    # pages count from the segment's begin, of which the array has 12: each row counts its pages
    rows page g.cf | awk -F, '$5 == 3 { pages += $6; bad += $2 % 4 } END { exit bad || pages < 12 }'
    # which cf-cache --pool, of a table of them, knows nothing of
    run -0 --separate-stderr cf-rank -q --by page --value gain g.cf
    has 'rows are of groups of up to 4 pages (cf-capture pages --group), which have the name of their first' "$stderr"
    run -2 pages -n 1 --group 0 -o g.cf -- "$D/hot" - state clock
    pagectl
    run -5 --separate-stderr pages -n 2 --bisect -o b.cf -- "$D/hot" - state clock
    has '--bisect: the 10 best of 14 pages' "$stderr"
    sed -n 's/^cf-capture-pages: \([0-9]*\): .* page \([0-9]*\)$/\2/p' <<<"$stderr" >found
    pagectl
    pages -n 1 -o a.cf -- "$D/hot" - state clock >/dev/null || [ $? -eq 5 ]
    cf-rank -q --by page --value gain a.cf | sed -n 2,11p | cut -d, -f3 | same found -
    pagectl
    run -5 --separate-stderr pages -n 1 --bisect -o b.cf -- "$D/hot" - state clock
    has 'confidence not known' "$stderr"
    run -2 pages --bisect --resume -o b.cf -- "$D/hot" - state clock
}

# counted: the kernel's work may be counted, too
counted() {
    [[ $(id -u) == 0 || $(</proc/sys/kernel/perf_event_paranoid) -le 1 ]] ||
        skip "users may not count what the kernel does: kernel.perf_event_paranoid"
}

@test "counters: what the kernel does is not permitted to all users: the message says so" {
    local user=() folder
    [[ -r /proc/sys/kernel/perf_event_paranoid && $(</proc/sys/kernel/perf_event_paranoid) -ge 2 ]] ||
        skip "users may count what the kernel does"
    [[ $(id -u) != 0 ]] || user=(setpriv --reuid=65534 --clear-groups)
    pagectl
    chmod 777 . sock
    folder=$(mktemp -d /tmp/cf-counters-XXXXXX)
    chmod 755 "$folder"
    cp "$(command -v cf-capture-pages-told)" "$folder"
    run -3 --separate-stderr "${user[@]}" "$folder/cf-capture-pages-told" -f observed --device sock -n 1 \
        --counters page-faults -o p.cf -- ls /
    rm -r "$folder"
    has '--counters page-faults: what the kernel does counts, too, which is not permitted' "$stderr"
    has 'ask for page-faults:u' "$stderr"
}

@test "counters: of all threads, without the stops; names, and what is not counted here" {
    counted
    local said
    said=$(cf-capture-perf --coarse page-faults -q -o needed.cf -- true 2>&1) || skip "perf_event_open: $said"
    pagectl
    run -5 bound --call 2 --counters page-faults,context-switches,TASK-CLOCK
    rows page p.cf >got
    [ "$(head -1 got)" = region,page,sample,runtime_cycles,policy,k,call,page_faults,context_switches,task_clock ]
    sed 1d got | cut -d, -f8 | sort -u | same - <(echo 12)
    # three waits, and two of the other thread, of which the last may come too late
    [ "$(sed 1d got | cut -d, -f9 | sort -n | head -1)" -ge 4 ]
    sed 1d got | awk -F, '$10 < 1000 { exit 1 }'
    cf-cat --dump p.cf | grep 'event: .TASK-CLOCK'
    run -0 cf-rank -q --by page --value gain --of page_faults --top 1 p.cf
    has 'page,gain_page_faults,'
    has ',0,0,0,1,0.000,'
    # what was counted stays with its row, in whatever order
    pagectl
    run -5 bound --call 2 -n 2 --resume --counters task-clock,context-switches,page-faults
    rows page p.cf | head -n "$(wc -l <got)" | awk -F, -v OFS=, '{ t = $8; $8 = $10; $10 = t; print }' | same got -
    [ "$(rows page p.cf | sed 1d | cut -d, -f10 | sort | uniq -c | xargs)" = '36 12' ]
    cp p.cf q.cf
    for said in task-clock task-clock,context-switches,page-faults,cpu-migrations; do
        pagectl
        run -1 bound --call 2 -n 2 --resume --counters "$said"
        has 'has other counters than --counters'
        cmp p.cf q.cf
    done
    pagectl
    run -1 bound --call 2 -n 2 --resume
    has 'has other counters'
    # a function that waits for nothing is not stopped but by us, in one run of many at least
    cp p.cf waits.cf
    pagectl
    run -5 hot - --counters context-switches
    rows page p.cf | sed 1d | cut -d, -f8 | sort -n | head -1 | same - <(echo 0)
    mv waits.cf p.cf
    # by --bisect too, and rows of other counters beside them
    pagectl
    run -5 bound --call 2 -n 2 --bisect --counters page-faults
    rows page p.cf | sed 1d | cut -d, -f8 | sort -u | same - <(echo 12)
    pagectl
    run -5 pages -n 1 -o r.cf --counters cpu-migrations -- "$D/bound" - state clock
    cat p.cf r.cf | cf-cat --csv --table page --columns page_faults,cpu_migrations | sort -u |
        grep -v ',.' | same - <(echo 12,)
    run -2 bound --counters nothing
    has "'nothing': event not found"
    run -2 bound --counters page-faults,perf::PAGE-FAULTS,page-faults
    has 'given twice'
    run -2 bound --counters ,
    if [[ $(uname -m) == x86_64 ]]; then
        said=amd64_fam17h_zen2::RETIRED_INSTRUCTIONS
        ! grep -q AuthenticAMD /proc/cpuinfo || said=skl::INST_RETIRED
        run -3 bound --counters "$said"
        has 'is an event of another processor'
    fi
    run -2 bound --counters cpu-clock,task-clock,page-faults,context-switches,cpu-migrations,minor-faults,major-faults,cycles,instructions
    has 'at most 8'
}

@test "a counter that the processor does not have is said before anything runs" {
    counted
    local said
    said=$(cf-capture-perf --coarse page-faults -q -o needed.cf -- true 2>&1) || skip "perf_event_open: $said"
    ! cf-capture-perf --probe >/dev/null || skip "this machine has a PMU"
    pagectl
    run -3 --separate-stderr hot - --counters page-faults,cycles
    has '--counters cycles: this processor, or this virtual machine, does not count it' "$stderr"
    is ''
}

@test "functions: none, static, stripped, by address, several calls, recursion, threads, children" {
    local how
    for how in r t f b; do
        pagectl
        run -5 hot "$how"
        [ "$(rows page p.cf | sed -n 3p | cut -d, -f4)" = 5000 ]
    done
    pagectl
    run -5 pages -n 1 -o p.cf -- "$D/fixed" - state clock
    pagectl
    run -5 pages -n 1 -o p.cf -- "$D/bare" - state clock
    pagectl
    run -5 timeout 600 cf-capture-pages-told -f "0x$(nm "$D/hot" | awk '$3 == "observed" { print $1 }')" \
        --regions data -n 1 --device sock -o p.cf -- "$D/hot" - state clock
    pagectl
    run -2 timeout 600 cf-capture-pages-told -f nothing --device sock -o p.cf -- "$D/hot" - state clock
    has 'such a function'
    pagectl
    run -1 hot C --call 9
    has 'called 3 times, not 9'
}

@test "what gives no time: not called, left, crashed, mappings that change" {
    pagectl
    run -1 hot n
    has 'was not called'
    pagectl
    run -1 hot x
    has 'did not return'
    pagectl
    run -1 hot e
    has 'left by exit(), exec or longjmp()'
    pagectl
    run -1 hot j
    has 'did not return'
    pagectl
    run -134 hot c
    has 'crashed'
    pagectl
    run -1 hot m
    has 'in the function'
}

@test "pages that are cached again, or no more in the pool, when the function returns: no sample" {
    pagectl forgets=1
    run -5 --separate-stderr hot -
    has 'is cached again at the return' "$stderr"
    has '17 samples were dropped in all' "$stderr"
    # all of them cached needs nothing of the module
    rows page p.cf | tail -n +2 | cut -d, -f4,5 | same - <(printf '%s\n' 5000,2 5000,2 5000,2)
    pagectl
    hot - || true
    pagectl moves=1 forgets=2
    run -5 --separate-stderr pages -n 1 --rank p.cf --migrate 1 -o m.cf -- "$D/hot" - state clock
    has 'not in the pool any more' "$stderr"
    rows page m.cf | tail -n +2 | cut -d, -f5 | same - <(printf '%s\n' 1 2 1 2)
}

@test "the module: missing, another version, pages that it refuses" {
    run -3 pages -o p.cf -- "$D/hot" - state clock
    has 'pagectl.ko'
    run -3 cf-capture-pages --probe
    pagectl abi=9
    run -3 hot -
    has 'version 9'
    pagectl result=/hot:3
    run -1 hot -
    has 'left out: in a huge page'
    pagectl error=3:13
    run -3 hot -
    has 'Permission denied'
}

@test "memory without a name is called as in a trace: profiles are joined, and pools" {
    command -v valgrind >/dev/null || skip "no Valgrind"
    gcc -O1 -g -D_GNU_SOURCE -o memory "$BATS_TEST_DIRNAME/told/memory.c"
    cf-capture trace -i --own-allocator --function observed -q -- ./memory | cf-resolve -q -o t.cf
    cf-pages -q -m zynq-ultrascale -o model.cf t.cf
    pagectl
    run -0 capture -n 1 --regions anon -o p.cf -- ./memory state clock
    run ! grep -q differ notes
    # the module is given the mappings that the kernel has, and the right pages are changed
    grep -q '^expect,.*,agree' notes
    cf-rank -q --csv --by page --value gain p.cf >native.csv
    best() { grep -o '\[anon\] [0-9]*,[0-9]*' | head -n 8; }
    best <native.csv | cut -d, -f2 | xargs | same - <(echo 1 0 0 5 3 1 2 0)
    cf-rank -q --csv --by page --value gain model.cf | best | same <(best <native.csv) -
    sed -n '2,9s/^[^,]*,[^,]*,[^,]*,\([0-9]*\),.*/\1/p' native.csv | same - <(seq 8000 -1000 1000)
    head -n 9 native.csv >pool.csv
    run -0 --separate-stderr cf-cache -m zynq-ultrascale --pool pool.csv:0-3 --summary t.cf
    ! grep 'pool' <<<"$stderr"
}
