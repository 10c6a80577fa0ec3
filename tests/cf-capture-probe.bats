#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# cf-capture-probe on models: what it finds is what the description says. The searches themselves are
# held against random machines by test_probe.

load lib

# probed FILE COLUMN...: the rows of table probe, without a header line.
probed() {
    local file=$1
    shift
    cf-cat --csv --table probe --columns "$(IFS=,; echo "$*")" "$file" | tail -n +2
}

@test "the Atom D525 of the paper, by misses: jumps between 24 and 25 KiB, 6 and 7 ways, a fall at 64" {
    cf-capture-probe -q --on atom-d525 -o p.cf
    probed p.cf experiment parameter misses >rows
    grep -qx 'capacity,24576,0' rows
    ! grep -qx 'capacity,24576,[1-9].*' rows || fail "misses in 24 KiB"
    grep -qx 'capacity,25600,[1-9].*' rows
    ! grep -qx 'capacity,25600,0' rows || fail "no misses in 25 KiB"
    grep -qx 'associativity,6,0' rows
    grep -qx 'associativity,7,[1-9].*' rows
    grep -qx 'block,32,[1-9].*' rows
    grep -qx 'block,64,0' rows
    ! grep -qx 'block,64,[1-9].*' rows || fail "misses with the halves a line apart"
    # the searches, of both levels for data
    probed p.cf experiment level parameter misses >rows
    for row in size,1,24576,0 size,1,24640,7 way-size,1,4096,0 way-size,1,4032,7 line,1,64,0 \
        line,1,0,7 size,2,524288,0 size,2,524352,'[1-9]' way-size,2,65536,0 way-size,2,65472,'[1-9]'; do
        grep -qx "$row" rows || fail "no $row" "$(cat rows)"
    done
    # no third
    ! grep -q '^size,3,' rows || fail "a size of a third level"
}

@test "the same by time: no misses of the first level are known, latencies are those described" {
    cf-capture-probe -q --by time --quick --on atom-d525 -o p.cf
    probed p.cf experiment level parameter accesses method time >rows
    grep -qx 'latency,255,0,1,2,222' rows
    grep -qx 'latency,1,16,64,2,192' rows # 3 cycles each
    grep -qx 'latency,2,49152,768,3,11520' rows # 15
    grep -qx 'size,1,24576,384,2,1152' rows
    grep -qx 'size,1,24640,385,2,1239' rows # 7 of 15 instead of 3
    probed p.cf experiment level parameter misses >rows
    grep -qx 'size,2,524352,[1-9]' rows
    ! grep -q '^size,1,.*,[0-9]' rows || fail "misses that nobody counted"
}

@test "by time the latency of a level that is smaller than the window is that of what it serves alone" {
    cat >m.yaml <<'END'
line_size: 64
levels:
  - {name: L1, size: 48KiB, ways: 12, policy: fifo}
  - {name: L2, size: 64KiB, ways: 8, policy: random}
latency: {L1: 1, L2: 31, memory: 278}
END
    cf-capture-probe -q --by time --quick --on ./m.yaml -o p.cf
    probed p.cf experiment level parameter accesses misses time | awk -F, '
        $1 == "latency" && $2 == 2 { found = $3 == 98304 && $4 > 0 && $6 == 31 * $4 && !$5 }
        END { exit !found }' || fail "$(probed p.cf experiment level parameter accesses misses time)"
    run -0 bash -c "cf-infer -q --compare ./m.yaml p.cf | grep ^L2,latency"
    is 'L2,latency,31,31,,1.0000,31,equal,'
}

@test "an inclusive level about as large as the first: its ways are not told as those of the first" {
    local options
    cat >m.yaml <<'END'
line_size: 16
levels:
  - {name: L1, size: 1024000, ways: 64, policy: fifo}
  - {name: L2, size: 1MiB, ways: 16, inclusion: inclusive, line_size: 64}
latency: {L1: 4, L2: 14, memory: 200}
END
    for options in --quick "--quick --by time"; do
        # shellcheck disable=SC2086 # words
        run -0 bash -c "cf-capture-probe -q $options --on ./m.yaml | cf-infer -q --csv"
        has 'L1,ways,cannot tell,16,16,16,0.0000,experiment associativity contradicts way-size'
        has 'L1,size,cannot tell,'
    done
}

@test "an inclusive level as large as the first, with longer lines: no size a line too large is told" {
    local seed
    cat >m.yaml <<'END'
line_size: 32
levels:
  - {name: L1, size: 16KiB, ways: 64, policy: fifo}
  - {name: L2, size: 16KiB, ways: 1, inclusion: inclusive, line_size: 64}
latency: {L1: 4, L2: 14, memory: 100}
END
    for seed in 1 2 3; do
        cf-capture-probe -q --quick --seed $seed --on ./m.yaml -o p.cf
        cf-infer -q --csv p.cf >got
        ! grep '^L2,size,measured' got || fail "seed $seed"
        grep '^L2,size,cannot tell' got >>all
    done
    grep 'about that of the level before, and no ways are known' all
}

@test "an inclusive level that takes blocks away: what is left is not told as random; random is, where none does" {
    local by ways policy inclusion size verdict
    while read -r policy inclusion size ways verdict; do
        cat >m.yaml <<END
line_size: 64
levels:
  - {name: L1, size: 2KiB, ways: 8, policy: $policy}
  - {name: L2, size: $size, ways: $ways, inclusion: $inclusion}
latency: {L1: 4, L2: 14, memory: 200}
END
        for by in misses time; do
            cf-capture-probe -q --quick --by $by --on ./m.yaml -o p.cf
            cf-infer -q --compare ./m.yaml p.cf | grep '^L1,policy' >got
            grep -q "$verdict" got || fail "$policy $inclusion $ways" "$(cat got)"
        done
    done <<'END'
tree-plru inclusive 3KiB 6 cannot.tell.*random
bit-plru inclusive 4KiB 8 equal
random inclusive 4KiB 8 equal
random non-inclusive 8KiB 16 equal
END
}

@test "noise: caches of few lines, of which what is prefetched takes some out, are told right or not" {
    local lines ways seed by
    for lines in "3 1 1" "3 1 2" "2 2 1" "12 1 2" "1 1 1"; do
        read -r lines ways seed <<<"$lines"
        cat >m.yaml <<END
line_size: 64
levels: [{name: L1, size: $((64 * lines)), ways: $ways}]
latency: {L1: 4, memory: 100}
END
        for by in misses time; do
            cf-capture-probe -q --noise --by $by --seed "$seed" --on ./m.yaml -o p.cf 2>said || [ $? = 1 ]
            cf-infer -q --compare ./m.yaml p.cf >got || [ $? = 1 ]
            ! grep '^L1,.*,differs' got || fail "$lines lines by $by"
            [[ $lines == 1 || $by == time ]] || grep -q "^L1,size,.*,equal" got || fail "$lines lines" "$(cat got)"
        done
    done
}

@test "noise by time: latencies are neither too low nor too high, and their bounds hold the truth" {
    local seed
    cat >m.yaml <<'END'
line_size: 64
levels:
  - {name: L1, size: 4KiB, ways: 4}
  - {name: L2, size: 32KiB, ways: 8}
latency: {L1: 20, L2: 48, memory: 165}
END
    for seed in 1 2 3 6; do
        cf-capture-probe -q --noise --by time --seed $seed --on ./m.yaml -o p.cf
        cf-infer -q --compare ./m.yaml p.cf | grep ,latency >got
        [[ $(grep -cE 'equal|within bounds' got) == 3 ]] || fail "seed $seed" "$(cat got)"
    done
}

@test "a level of less than twice the one before, under LRU, hides neither itself nor the next one" {
    local by
    cat >m.yaml <<'END'
line_size: 64
levels:
  - {name: L1, size: 32KiB, ways: 8}
  - {name: L2, size: 48KiB, ways: 12}
  - {name: L3, size: 256KiB, ways: 16}
latency: {L1: 2, L2: 10, L3: 30, memory: 200}
END
    for by in misses time; do
        cf-capture-probe -q --by $by --quick --on ./m.yaml -o p.cf
        run -0 cf-infer -q --compare ./m.yaml p.cf
        has L2,size,49152,49152,49152
        has L3,size,262144,262144,262144
        run ! grep -E ',(differs|cannot tell),|size.*,not measured' <<<"$output"
    done
}

@test "size by search takes at most a twentieth of the accesses of 1 KiB steps, for 8 MiB" {
    cat >m.yaml <<'END'
line_size: 64
levels:
  - {name: L1, size: 8MiB, ways: 16}
END
    cf-capture-probe -q --quick --only size --on ./m.yaml -o p.cf
    probed p.cf parameter misses accesses >rows
    grep -q '^8388608,0,' rows
    grep -q '^8388672,[1-9]' rows
    # a step of S bytes visits S / 64 lines once to warm up and once to be measured, as ours do
    awk -F, '{ sum += $3 } END { for (s = 1024; s <= 8388608 + 1024; s += 1024) steps += s / 64
        if (!sum || sum * 20 > steps) { print sum, steps; exit 1 } }' rows
}

@test "a level whose size is beyond --max is not told, and none behind it looked for" {
    cf-capture-probe -q --quick --max 128K --on atom-d525 -o p.cf
    probed p.cf experiment level parameter misses >rows
    grep -qx 'size,1,24576,0' rows
    ! grep -q '^size,2,.*,[1-9]' rows || fail "a window within --max does not fit"
    ! grep -q '^way-size,2,' rows || fail "ways of a level without a size"
}

@test "--only, --seed: rows of these experiments; the same seed, the same rows" {
    cf-capture-probe -q --only block,size --on atom-d525 >p.cf
    run -0 bash -c "cf-cat --csv --table probe --columns experiment p.cf | tail -n +2 | sort -u"
    is $'block\nsize'
    run -0 --separate-stderr bash -c "cf-capture-probe --only tlb,latency --on atom-d525 | cf-cat --csv --table probe"
    has '--only: none of these experiments was measured: there are no rows' "$stderr"
    run -0 --separate-stderr cf-capture-probe --quick --only pair --on atom-d525 -o p.cf
    [[ -z $stderr ]]
    cf-capture-probe -q --quick --seed 7 --on atom-d525 | cf-cat --csv --table probe >a
    cf-capture-probe -q --quick --seed 7 --on atom-d525 | cf-cat --csv --table probe >b
    same a b
}

@test "repeats are numbered, and the header says what was measured" {
    cf-capture-probe -q --on atom-d525 -o p.cf
    run -0 bash -c "cf-cat --csv --table probe --columns experiment,parameter,repeat p.cf | grep '^capacity,24576,'"
    is $'capacity,24576,0\ncapacity,24576,1\ncapacity,24576,2'
    run -0 cf-cat --info p.cf
    has 'model:atom-d525'
}

# level POLICY [WAYS [SIZE]]: a description of one level in m.yaml
level() {
    printf 'line_size: 64\nlevels:\n  - {name: L1, size: %s, ways: %s, policy: %s}\n' "${3:-32KiB}" "${2:-8}" "$1" >m.yaml
}

@test "policy: each sequence in sets of several places, as often as any other, and as long as documented" {
    level nru
    cf-capture-probe -q --only policy --on ./m.yaml -o p.cf
    probed p.cf experiment level accesses method | sort -u >rows
    same - rows <<<'policy,1,47,1' # 6 times 8 ways, less 1
    probed p.cf parameter repeat | awk -F, '{ print int($1 / 1000), $1 % 1000, $2 }' >rows
    # sets of each quarter of 64
    cut -d' ' -f1 rows | sort -nu | awk '{ print int($1 / 16) }' | tr '\n' ' ' >quarters
    [[ $(cat quarters) == '0 1 2 3 ' ]]
    awk '{ n[$1 " " $2]++; if ($2 > 23) exit 1 } END { for (k in n) { all++; if (n[k] != 3) exit 1 } if (all != 96) exit 1 }' rows
    cf-capture-probe -q --thorough --only policy --on ./m.yaml -o p.cf
    [[ $(probed p.cf parameter | wc -l) == $((4 * 24 * 8)) ]]
}

@test "policy: what a sequence misses does not depend on the seed, nor on the set, but for random" {
    for policy in bit-plru random; do
        level $policy 6 24KiB
        for seed in 1 2; do
            cf-capture-probe -q --quick --seed $seed --only policy --on ./m.yaml |
                cf-cat --csv --table probe --columns parameter,misses | tail -n +2
        done | awk -F, '{ print $1 % 1000, $2 }' | sort -u | wc -l >$policy
    done
    [[ $(cat bit-plru) == 24 ]]
    [[ $(cat random) -gt 48 ]]
}

@test "policy: by time each access is timed; what it needs and is not there leaves it out" {
    cf-capture-probe -q --quick --by time --only policy --on atom-d525 -o p.cf
    probed p.cf accesses method | sort -u >rows
    same - rows <<<'35,3'
    cf-capture-probe -q --quick --only policy --on atom-d525 | cf-cat --csv --table probe --columns parameter,repeat,misses >counted
    cf-cat --csv --table probe --columns parameter,repeat,misses p.cf >timed
    same counted timed
    # more ways than sequences are for
    level lru 65 $((65 * 64 * 4))
    cf-capture-probe -q --quick --on ./m.yaml -o p.cf
    probed p.cf experiment >rows
    grep -qx way-size rows
    ! grep -qx policy rows || fail "sequences for 65 ways"
}

@test "a machine that does not exist, or has no latencies: said by the model, no rows, no file" {
    run -2 cf-capture-probe -q --on nothing-such -o p.cf
    has nothing-such
    [[ ! -e p.cf ]]
    printf 'line_size: 64\nlevels:\n  - {name: L1, size: 1KiB, ways: 2}\n' >m.yaml
    run -2 cf-capture-probe -q --on ./m.yaml --by time -o p.cf
    has latenc
    ! grep -q 'Broken pipe' <<<"$output" || fail "what follows from it is said too" "$output"
    [[ ! -e p.cf ]]
    # nor where a first level costs nothing, which is no time
    run -2 cf-capture-probe -q --on leon4-n2x --by time -o p.cf
    has 'a load that L1D serves costs nothing'
    [[ ! -e p.cf ]]
    cf-capture-probe -q --quick --on ./m.yaml -o p.cf
}

@test "a machine whose lines are shorter than what patterns tell apart is refused, but for instructions" {
    local i
    for i in 4 8; do
        printf 'line_size: %s\nlevels:\n  - {name: L1, size: 1KiB, ways: 2}\n' $i >m$i.yaml
    done
    run -2 cf-capture-probe -q --on ./m4.yaml -o p.cf
    has 'lines of 4 bytes of L1 cannot be told apart: at least 16'
    run -2 cf-capture-probe -q --on ./m8.yaml -o p.cf
    [[ ! -e p.cf ]]
    cat >m16.yaml <<'END'
line_size: 16
levels:
  - {name: L1I, kind: instruction, size: 1KiB, ways: 2, line_size: 8}
  - {name: L1D, kind: data, size: 1KiB, ways: 2}
END
    run -0 bash -c "cf-capture-probe -q --quick --on ./m16.yaml | cf-infer -q --compare ./m16.yaml"
    has L1,line_size,16,16,16,1.0000,16,equal
}

@test "noise: an inclusive level of fewer ways hides none of those before it" {
    for l in '8KiB 8 16KiB 4' '4KiB 4 8KiB 2'; do
        read -r size ways next next_ways <<<"$l"
        cat >small.yaml <<END
line_size: 64
levels:
  - {name: L1, size: $size, ways: $ways}
  - {name: L2, size: $next, ways: $next_ways, inclusion: inclusive}
END
        cf-capture-probe -q --noise --on ./small.yaml -o p.cf
        cf-infer -q --csv p.cf >got
        grep -q "^L1,ways,measured,$ways," got || fail "$l" "$(cat got)"
        grep -q '^L1,policy,measured,lru,' got || fail "$l" "$(cat got)"
    done
}

@test "noise: lines longer than a page stand within the buffer, too" {
    local seed
    printf 'line_size: 8192\nlevels:\n  - {name: L1, size: 64KiB, ways: 2}\n' >m.yaml
    for seed in 1 2 3; do
        cf-capture-probe -q --on ./m.yaml --noise --seed $seed -o p.cf
        run -0 cf-infer -q --compare ./m.yaml p.cf
        has L1,line_size,8192,8192,8192
        has L1,size,65536,65536,65536,1.0000,65536,equal
    done
}

@test "noise: where what leaves the first level shares all sets of the second, no part of its ways is told" {
    local l size ways policy next next_ways line
    for l in '8KiB 1 bit-plru 48KiB 12 128' '32KiB 4 random 128KiB 16 64' '48KiB 2 srrip 128KiB 16 128'; do
        read -r size ways policy next next_ways line <<<"$l"
        cat >shared.yaml <<END
line_size: $line
levels:
  - {name: L1, size: $size, ways: $ways, policy: $policy}
  - {name: L2, size: $next, ways: $next_ways}
END
        cf-capture-probe -q --quick --noise --max 1M --seed 33 --on ./shared.yaml -o p.cf
        cf-infer -q --compare ./shared.yaml --csv p.cf >got
        grep -q "^L1,ways,.*,equal," got || fail "$l" "$(cat got)"
        ! grep ',differs,' got || fail "$l" "$(cat got)"
    done
    # what leaves two levels just has room: it is done alike with a line and without it
    cat >room.yaml <<END
line_size: 128
levels:
  - {name: L1, size: 24KiB, ways: 12, policy: random}
  - {name: L2, size: 48KiB, ways: 2}
  - {name: L3, size: 256KiB, ways: 8, inclusion: inclusive}
END
    cf-capture-probe -q --quick --noise --max 1M --seed 1 --on ./room.yaml -o p.cf
    cf-infer -q --compare ./room.yaml --csv p.cf >got
    grep -q "^L2,ways,.*,equal," got || fail "room" "$(cat got)"
    ! grep ',differs,' got || fail "room" "$(cat got)"
}

@test "noise: the Atom D525 is found all the same, by misses and by time, with either prefetcher; the same seed, the same rows" {
    local by seed
    for by in misses time; do
        for seed in 1 2; do
            cf-capture-probe -q --quick --noise --seed $seed --by $by --on atom-d525 -o p.cf
            cf-infer -q --csv p.cf | cut -d, -f1-4 >told
            for row in L1,size,measured,24576 L1,ways,measured,6 L1,line_size,measured,64 L1,policy,measured,lru \
                L2,size,measured,524288 L2,ways,measured,8 L2,line_size,measured,64; do
                grep -qx "$row" told || fail "no $row by $by, seed $seed" "$(cat told)"
            done
            ! grep -q ^L3 told || fail "a third level by $by, seed $seed"
        done
    done
    cf-cat --csv --table probe p.cf >a
    cf-capture-probe -q --quick --noise --seed 2 --by time --on atom-d525 | cf-cat --csv --table probe >b
    same a b
    head -c 2000 p.cf | grep -aq 'noise: *["'"'"']*5'
}

@test "noise: times of memory vary by 5 %, by nothing with 0; more than is told apart by time finds nothing, by misses all" {
    cf-capture-probe -q --quick --noise --by time --only latency --on atom-d525 -o p.cf
    probed p.cf level time | awk -F, '$1 == 255 { if ($2 < 210 || $2 > 234) exit 1; n += $2 != 222 } END { exit n < 5 }'
    cf-capture-probe -q --quick --noise=0 --by time --only latency --on atom-d525 -o p.cf
    probed p.cf level time | awk -F, '$1 == 255 && $2 != 222 { bad = 1 } END { exit bad }'
    run -1 --separate-stderr cf-capture-probe -q --noise=15 --by time --on atom-d525 -o p.cf
    [[ $stderr == *"no cache was found"* ]]
    cf-capture-probe -q --quick --noise=15 --on atom-d525 | cf-infer -q --csv | grep -q ^L2,ways,measured,8
}

@test "noise in a small buffer: what has no room is not told" {
    local max
    for max in 4K 64K; do
        run --separate-stderr cf-capture-probe -q --noise --max $max --on atom-d525 -o p.cf
        ((status <= 1))
        probed p.cf level experiment >rows
        ! grep -q '^3,\|^2,size' rows || fail "levels with --max $max"
    done
}

@test "wrong usage" {
    run -2 cf-capture-probe --on atom-d525 --quick --thorough -o p.cf
    run -2 cf-capture-probe --on atom-d525 --max 1K -o p.cf
    run -2 cf-capture-probe --on atom-d525 --only nothing -o p.cf
    has capacity
    run -2 cf-capture-probe --on atom-d525 --noise=101 -o p.cf
    run -2 cf-capture-probe --on atom-d525 --noise=much -o p.cf
    run -2 cf-capture-probe --noise -o p.cf
    has 'name one by --on'
    run -2 cf-capture-probe --on atom-d525 file
    run -2 cf-capture-probe --on atom-d525 --cpu 0 -o p.cf
    has 'leave --on out'
    run -2 cf-capture-probe --on atom-d525 --event page-faults -o p.cf
    has 'leave --on out'
    run -2 cf-capture-probe --by time --event page-faults -o p.cf
    has 'leave --by time out'
    [[ ! -e p.cf ]]
    run -0 cf-capture-probe --probe
    has '--on MACHINE'
}

@test "a CPU or an event that is not there: refused with the reason, no file" {
    run -3 cf-capture-probe --quick --cpu 70000 -o p.cf
    has 'CPU 70000'
    # nor one that this process was kept away from, though it could go there
    read -r one other < <(taskset -pc $$ | sed 's/.*: //; s/,.*//; s/-/ /')
    if [[ -n $other ]]; then
        run -3 taskset -c "$one" cf-capture-probe --quick --cpu "$other" -o p.cf
        has "CPU $other: this process may run on CPUs $one"
    fi
    run -3 cf-capture-probe --quick --event no-such-event -o p.cf
    has no-such-event
    [[ ! -e p.cf ]]
}

# bats test_tags=slow
@test "this machine by the clock: rows of both levels' searches, each whole, on the CPU that was asked for" {
    cpu=$(taskset -pc $$ | sed 's/.*[:,-] *//')
    for _ in 1 2 3; do
        cf-capture-probe --quick --by time --cpu "$cpu" -o p.cf 2>said || [[ $? == 1 ]]
        grep -Eq 'no cache was found|not all of it agreed' said || break
    done
    if grep 'no cache was found' said; then
        # it was tried again and again, or nearly nothing could be measured: no search ends like that by itself
        grep -E 'was measured [0-9]+ times|measurements were spoilt' said || fail "no cache at the first try"
        skip "three times the machine was too disturbed to find a cache"
    fi
    grep -q "CPU $cpu, by .*(--by time)" said
    cp p.cf "$BATS_FILE_TMPDIR/here.cf"
    probed p.cf experiment cpu method >rows
    for experiment in size associativity block latency; do
        grep -q "^$experiment," rows && continue
        grep -q 'not all of it agreed: its ways are not told' said || fail "no rows of $experiment"
        skip "three times the machine was too disturbed to search for all of the first level"
    done
    awk -F, -v cpu="$cpu" '$2 != cpu || ($3 != 2 && $3 != 3) { print; wrong = 1 } END { exit wrong }' rows
    probed p.cf time accesses >rows
    awk -F, '$1 + 0 <= 0 || $2 + 0 <= 0 { print NR ": " $0; wrong = 1 } END { exit wrong }' rows
    # of the policy's sequences each access, and in none more misses than there are
    probed p.cf experiment accesses misses method | grep '^policy,' >rows || true
    awk -F, '$4 != 3 || $2 % 6 != 5 || $3 + 0 > $2 || $3 == "" { print; wrong = 1 } END { exit wrong }' rows
    # each parameter as often as is documented, or the search did not take it
    probed p.cf experiment level parameter repeat | grep '^size,1,' | cut -d, -f3 | sort | uniq -c >counts
    awk '$1 < 5 { print; wrong = 1 } END { exit wrong || NR < 10 }' counts
    run -0 cf-cat --info p.cf
    has 'this one'
    has 'clock:'
    has 'page_bytes:'
    # on one CPU alone there is none to share with
    taskset -c "$cpu" cf-capture-probe --quick --by time --max 32K -o p.cf 2>said || [[ $? == 1 ]]
    grep -q 'may run on one CPU alone: sharing is not measured' said
    # -q leaves the remarks out
    cf-capture-probe -q --quick --by time --max 32K -o p.cf 2>said || [[ $? == 1 ]]
    ! grep 'CPU [0-9]*, by' said || fail "a remark under -q"
}

# bats test_tags=slow
@test "where this machine measures as Linux claims, a stored trace misses by its description as by host" {
    compgen -G '/sys/devices/system/cpu/cpu*/cache/index*' >/dev/null || skip "Linux shows no caches of this machine"
    local here=$BATS_FILE_TMPDIR/here.cf of='(L1D?,(size|ways|line_size)|L2,(size|ways)),' again
    for again in 1 2; do
        [[ -e $here ]] || cf-capture-probe -q --quick --by time -o "$here" || [[ $? == 1 ]]
        cf-infer -q --compare host "$here" >compared
        [[ $(grep -E "^$of" compared | grep -c ',equal,') -lt 5 ]] || break
        [[ $again == 2 ]] || rm "$here"
    done
    [[ $(grep -E "^$of" compared | grep -c ',equal,') == 5 ]] ||
        skip "not told, or other than claimed: $(grep -E "^$of" compared | grep -v ',equal,' | cut -d, -f1,2 | tr '\n' ' ')"
    cf-infer -q "$here" >here.yaml
    for machine in ./here.yaml host; do
        cf-select --op load,store "$ROOT/samples/gzip.cf" | cf-cache -q --cores 1 -m $machine |
            cf-cat --csv --table access --columns hit | awk 'NR > 1 { print ($1 > 2 ? "none" : $1) }' >"hits-$(basename $machine)"
    done
    [[ $(sort -u hits-host | wc -l) == 3 ]]
    cmp hits-here.yaml hits-host
    # and what its accesses cost follows
    cf-cache -q -m ./here.yaml "$ROOT/samples/gzip.cf" | cf-latency -q -m ./here.yaml --summary --csv >cost
    [[ -s cost ]]
}

@test "less memory than --max takes: said, no file" {
    in_emulation "the emulator needs memory of its own"
    [[ $B != */san ]] || skip "sanitizers need address space"
    run -3 bash -c 'ulimit -v 60000; exec cf-capture-probe --quick -o p.cf'
    has 'MiB: '
    has 'give a smaller --max'
    [[ ! -e p.cf ]]
}

@test "a clock that stands still, or is too coarse: refused; one for which single accesses are too short finds one level" {
    export CF_TOLD_STEP=0
    run -3 cf-capture-probe-coarse --quick -o p.cf
    has 'stands still'
    CF_TOLD_STEP=5000000
    run -3 cf-capture-probe-coarse --quick -o p.cf
    has 'too coarse'
    [[ ! -e p.cf ]]
    CF_TOLD_STEP=900
    cf-capture-probe-coarse --quick --max 1M -o p.cf 2>said || [[ $? == 1 ]]
    probed p.cf experiment >names
    ! grep -qx pages names || fail "single accesses were timed"
    grep -q 'too coarse to time single accesses' said || grep -q 'no cache was found' said
}

@test "models of one level, and of two: no rows of a level that is not there" {
    printf 'line_size: 64\nlevels:\n  - {name: L1, size: 1KiB, ways: 2}\n' >one.yaml
    cf-capture-probe -q --quick --on ./one.yaml -o p.cf
    probed p.cf experiment level | grep -v '^levels,' | cut -d, -f2 | sort -u >levels
    same - levels <<<1
    cf-infer -q p.cf >one
    ! grep -q 'name: L2' one || fail "a second level"
    cf-capture-probe -q --quick --on atom-d525 -o p.cf
    cf-infer -q p.cf >two
    grep -q 'name: L2' two
    ! grep -q 'name: L3' two || fail "a third level"
}

# walked RECORDER EXPERIMENT PARAMETER OPTION...: the buffer's offsets that the pattern's walk reads, or
# with -i executes, in their order, in file walk
walked() {
    local recorder=$1 experiment=$2 parameter=$3 base op=load
    shift 3
    [[ $* != *-i* ]] || op=ifetch
    [[ $recorder != cf-capture-trace ]] || set -- "$@" --function walk
    "$recorder" -q "$@" -o w.cf --command-output base -- "$WALKER" "$experiment" "$parameter"
    base=$(<base)
    cf-select -q --op "$op" --addr "$base+2097152" w.cf |
        cf-cat --csv --table access --columns addr,size | awk -F, -v base="${base%000000}" "$HEX"'
            NR > 1 { print hex(substr($1, length(base) + 1)), $2 }' >walk
}

# a function of awk, which has none for that: digits as a number
HEX='function hex(text, i, n) {
    for (i = 1; i <= length(text); i++) n = 16 * n + index("0123456789abcdef", substr(text, i, 1)) - 1
    return n }
'

# twice CONDITION: in walk, twice the same offsets, each once, and of each, and of their number n, holds
# the condition; the second time in the same order, as a chain goes, but not rising.
twice() {
    awk -v OFS=, '{ at[NR] = $1 } END {
        n = NR / 2
        if (n < 2 || n != int(n)) { print NR " accesses"; exit 1 }
        for (i = 1; i <= n; i++) {
            if (at[i] != at[n + i]) { print "another order"; exit 1 }
            if (seen[at[i]]++) { print at[i] " twice"; exit 1 }
            falls += i > 1 && at[i] < at[i - 1]
        }
        if (n > 4 && !falls) { print "in rising order"; exit 1 }
        for (i = 1; i <= n; i++) if (!('"$1"')) { print at[i] " of " n; exit 1 } }' walk ||
        fail "not as the experiment says" "$(head -20 walk)"
}

# The lines, sets (64 of them, and 64 bytes) and pages that each experiment is to visit.
patterns_of_data() { # patterns_of_data RECORDER
    walked "$1" size 49216
    twice 'n == 49216 / 64 && at[i] % 64 == 0 && at[i] < 49216'
    # a power of two apart, which is a multiple of a way whatever that is
    walked "$1" associativity 7
    twice 'n == 7 && at[i] % 65536 == 0 && at[i] < 7 * 65536'
}

more_patterns_of_data() { # as it
    walked "$1" capacity 8192
    twice 'n == 128 && at[i] % 64 == 0 && at[i] < 8192'
    # half of the lines are moved by the parameter, into the next set where that is a line
    walked "$1" apart 4096
    twice 'n == 24 && at[i] % 4096 == 0 && at[i] < 24 * 4096'
    walked "$1" apart 3136
    twice 'n == 24 && at[i] % 3136 == 0 && at[i] < 24 * 3136'
    walked "$1" block 64
    twice 'at[i] % 512 == (at[i] < n / 2 * 512 ? 0 : 64)'
    walked "$1" block 32
    twice 'at[i] % 512 == (at[i] < n / 2 * 512 ? 0 : 32)'
    # a line a page; each in the next set
    walked "$1" tlb 50
    twice 'n == 50 && at[i] % 4096 == int(at[i] / 4096) % 64 * 64 && at[i] < 50 * 4096'
    # memory: no page twice
    walked "$1" latency 1048576
    twice 'at[i] % 64 == 0 && !pages[int(at[i] / 4096)]++ && n > 200'
}

@test "patterns are what they claim to be: recorded, they fall into the lines, sets and pages of their rows" {
    in_emulation "Valgrind does not run"
    ! sanitized || skip "Valgrind runs no program that is built with the sanitizers"
    cf-capture trace --probe || skip "nothing can be recorded here"
    WALKER=$B/test/walk_patterns
    patterns_of_data cf-capture-trace
    more_patterns_of_data cf-capture-trace
    # jumps, each line's in its place; what is executed is the whole line
    walked cf-capture-trace size.code 4096 -i
    awk '{ for (at = $1; at < $1 + $2; at += 1) bytes[int(at / 64)]++ }
        END { for (i in bytes) { n++; if (i + 0 >= 64 || bytes[i] != 2 * 64) { print i, bytes[i]; exit 1 } }
            exit n != 64 }' walk || fail "lines of code" "$(head walk)"
    # 7 times 32 lines, as far apart as the level is large, in 32 of its sets
    walked cf-capture-trace associativity.code 7 -i
    awk '{ line = int($1 / 64); sets[line % 64]; lines[line] }
        END { for (i in lines) n++; for (i in sets) if (i + 0 >= 32) exit 1; exit n != 7 * 32 }' walk ||
        fail "sets of code" "$(head walk)"
}

@test "the patterns on an ideal machine, whose answer is known" {
    "$B/test/walk_patterns" >rows
    grep -qx 'L1 49152 64' rows
    grep -qx 'associativity.code 16 1 3' rows
    grep -qx 'associativity.code 17 1 13' rows
    grep -qx 'size.code 65536 1 3' rows
    grep -qx 'index 16 32' rows
    grep -qx 'index 14 0' rows # a megabyte is no multiple of that
    ! grep -q 'ways.code\|latency.code' rows || fail "both distances show the same, and it was not seen"
}

@test "a cache of decoded instructions is not told as the first level for instructions" {
    "$B/test/walk_patterns" decoded >rows
    grep -qx 'L1 49152 64' rows
    grep -qx 'latency.code 12288 0 3' rows
    ! grep -q '^\(size\|associativity\).code' rows || fail "$(grep -m 1 '^\(size\|associativity\).code' rows)"
}

@test "the program itself, recorded: its windows are read from line to line, and nothing else of its buffer" {
    in_emulation "Valgrind does not run"
    ! sanitized || skip "Valgrind runs no program that is built with the sanitizers"
    cf-capture trace --probe || skip "nothing can be recorded here"
    # no cache of 4 KiB: the two windows are all that is measured, unless one was disturbed and seemed to take longer
    for _ in 1 2 3; do
        run cf-capture trace -q -o w.cf -- cf-capture-probe --quick --max 4K -o p.cf
        [[ $status == 1 ]]
        [[ $output == *'was measured'* ]] || break
    done
    [[ $output != *'was measured'* ]] || skip "three times the machine was too disturbed: a window of 4 KiB took longer"
    probed p.cf experiment level parameter | sort -u >rows
    same - rows <<'END'
size,1,2048
size,1,4096
END
    # lines of its page that is read most; the buffer begins on a boundary of 2 MiB
    cf-cat --csv --table access --columns op,addr w.cf | awk -F, '$1 == "load" { print $2 }' |
        sort | uniq -c | awk "$HEX"'$1 > 1000 {
            n = length($2) - 3
            if (substr($2, n - 1, 2) == "00") print substr($2, 1, n), hex(substr($2, n + 1)) / 16, $1 }' >lines
    read -r page _ < <(sort -k3n lines | tail -1)
    # nodes 16 bytes apart, since the line is not known by then; the first 2 KiB in both windows
    sort -k2n lines | awk -v page="$page" '$1 == page {
            if ($2 != n++ || (n > 1 && n != 129 && $3 != last) || (n == 129 && $3 >= last)) { print; exit 1 }
            last = $3 }
        END { if (n != 256) { print n; exit 1 } }' || fail "not the nodes of 4 KiB" "$(grep "$page" lines)"
}

@test "patterns in AArch64 code: the same, in emulation, where their times mean nothing" {
    in_emulation "no emulator loads the plugin"
    cf-capture qemu --probe || skip "no emulator that records"
    command -v aarch64-linux-gnu-gcc >/dev/null || skip "no cross compiler"
    (cd "$ROOT" && aarch64-linux-gnu-gcc -O2 -static -D_GNU_SOURCE -I. -o "$BATS_TEST_TMPDIR/arm64" \
        tests/unit/walk_patterns.c capture/probe/steady/*.c capture/probe/{policy,conflict,pattern,measure}.c \
        capture/probe/bench/{frames,chain}.c capture/base/cf_clock.c formats/base/cf_{sequence,memory}.c)
    WALKER=$BATS_TEST_TMPDIR/arm64
    patterns_of_data cf-capture-qemu
    walked cf-capture-qemu size.code 4096 -i
    awk '{ for (at = $1; at < $1 + $2; at += 4) bytes[int(at / 64)] += 4 }
        END { for (i in bytes) { n++; if (i + 0 >= 64 || bytes[i] != 2 * 64) { print i, bytes[i]; exit 1 } }
            exit n != 64 }' walk || fail "lines of code" "$(head walk)"
}

@test "an event that counts nothing finds no cache, and says so; what was measured is there" {
    run cf-capture-probe -q --quick --max 64K --event page-faults -o p.cf
    [[ $status != 3 ]] || skip "page faults are not counted here"
    [[ $status == 1 ]]
    has 'no cache was found'
    cf-cat p.cf >/dev/null # they are all that was to be measured: nothing of it is cut off
    probed p.cf method misses >rows
    grep -qx '1,0' rows
    ! grep -q '^[23],' rows || fail "rows by the clock though an event was asked for"
    run -1 cf-infer p.cf
    has 'no cache can be described'
}

# told: a library that says on which CPU this is, and lets time go by
told() {
    [[ $B != */san ]] || skip "a library before the sanitizers'"
    cat >told.c <<'END'
#define _GNU_SOURCE
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int sched_getcpu(void)
{
    const char *cpu = getenv("TOLD_CPU");
    unsigned here = 0;
    syscall(SYS_getcpu, &here, NULL, NULL);
    return cpu ? atoi(cpu) : (int)here;
}
int clock_gettime(clockid_t id, struct timespec *t)
{
    static struct timespec begin;
    static long calls; /* the first ones tell how fast the clock is that measures */
    const int status = (int)syscall(SYS_clock_gettime, id, t);
    const char *each = getenv("TOLD_MS");
    if (each && id == CLOCK_MONOTONIC && ++calls <= 8)
        begin = *t;
    else if (each && id == CLOCK_MONOTONIC) {
        t->tv_sec = begin.tv_sec + 1 + calls * atol(each) / 1000;
        t->tv_nsec = calls % 1000000000;
    }
    return status;
}
END
    cc -shared -fPIC -o told.so told.c
}

# bats test_tags=slow
@test "time that is up: what is left out is named; how long it will take is shown" {
    told
    LD_PRELOAD=$T/told.so TOLD_MS=3000 cf-capture-probe --quick --by time --max 256K -o p.cf 2>said || [[ $? == 1 ]]
    grep -q 'the time is up, 8 s: left out from here on: [a-z]' said || fail "$(<said)"
    # with all the time there is, nothing is left out
    LD_PRELOAD=$T/told.so TOLD_MS=0 cf-capture-probe --quick --by time --max 32K -o p.cf 2>said || [[ $? == 1 ]]
    ! grep 'the time is up' said || fail "in no time"
    command -v script >/dev/null || skip "no program script: no terminal"
    # told on the terminal; whoever has read it may leave
    if ! LD_PRELOAD=$T/told.so TOLD_MS=100 script -qec "cf-capture-probe --thorough --by time --max 256K -o p.cf" shown </dev/null |
        grep -qE 'level [0-9], [a-z]+: [0-9.]+ M accesses, [0-9]+ s left'; then
        # of one who finds no first level there is nothing to show
        ! grep -q 'no cache was found' shown || skip "the machine was too disturbed to find its first level"
        fail "$(tail -c 600 shown)"
    fi
}

@test "measurements that are spoilt, more than a tenth of them, are said to be, and tell nothing" {
    in_emulation "the stand-in is not for the same processor"
    told
    cpu=$(taskset -pc $$ | sed 's/.*[:,-] *//')
    LD_PRELOAD=$T/told.so TOLD_CPU=5000 cf-capture-probe --quick --by time --cpu "$cpu" --max 32K -o p.cf 2>said || [[ $? == 1 ]]
    grep -q '100% of the measurements were spoilt' said || fail "$(<said)"
    run -1 cf-infer p.cf
    has 'no cache can be described'
}

@test "a reader that goes away ends it, and the model with it" {
    ends_unread cf-capture-probe -q --on atom-d525
    for _ in $(seq 50); do
        pgrep -f "cf-cache.* atom-d525" -P 1 >left || break
        sleep 0.1
    done
    [[ ! -s left ]] || fail "left behind: $(cat left)"
}
