# SPDX-License-Identifier: BSD-2-Clause
#
# cf-policy: the policies of models are named, the paper's two experiments come out as chance says,
# and a skewed choice of ways is seen.
load lib

setup_file() {
    export D=$BATS_FILE_TMPDIR
    PATH=${CF_B:-$BATS_TEST_DIRNAME/../build}/bin:$PATH
    cd "$D" || return 1
    # Sixteen sets of eight ways: more lines than that, some more often.
    awk 'BEGIN {
        srand(3); print "time,pid,op,size,addr"
        for (i = 0; i < 40000; i++) {
            set = int(rand() * 16); line = int(rand() * rand() * 14)
            print i + 1 ",7," (rand() < .3 ? "store" : "load") ",8," 1048576 + line * 1024 + set * 64 }
        }' | cf-capture csv -q -o any.cf
    # REPL of the paper, on sets of 16 ways: other lines come in, then A1 to A16 so many times.
    # A snapshot every 1000 ticks shows the end of each run.
    for rounds in 1 2 4 8; do
        awk -v rounds=$rounds 'BEGIN {
            print "time,pid,op,size,addr"
            for (run = 0; run < 300; run++) {
                t = run * 1000
                for (i = 0; i < 80; i++) print t++ ",7,load,8," 16777216 + ((run * 80 + i) % 4000) * 4096
                for (r = 0; r < rounds; r++)
                    for (i = 0; i < 16; i++) print t++ ",7,load,8," 1048576 + i * 4096 }
            }' | cf-capture csv -q -o repl$rounds.cf
    done
    # Its variant: a snapshot after each of the lines; what comes in between takes one tick.
    awk 'BEGIN {
        print "time,pid,op,size,addr"
        for (run = 0; run < 250; run++) {
            t = run * 17
            for (i = 0; i < 120; i++) print t ",7,load,8," 16777216 + ((run * 120 + i) % 4000) * 4096
            for (i = 0; i < 16; i++) print ++t ",7,load,8," 1048576 + i * 4096 }
        }' | cf-capture csv -q -o steps.cf
}

setup() {
    lib_setup
    A=0x100000-0x10ffff # A1 to A16
    POLICIES=$(policies)
    POLICIES=${POLICIES/ master-index/} # which depends on the core, not on the lines
    COUNT=$(wc -w <<<"$POLICIES")
}

# machine POLICY SIZE WAYS
machine() {
    printf 'line_size: 64\nlevels:\n  - {name: L2, size: %s, ways: %s, policy: %s}\n' "$2" "$3" "$1" \
        >"$1-$3.yaml"
    echo "$1-$3.yaml"
}

# value RESULT: of the summary in `out`
value() {
    awk -F, -v r="$1" '$1 == r { print $2; n++ } END { exit n != 1 }' out || fail "no $1 in:" "$(cat out)"
}

# gives RESULT VALUE
gives() {
    [[ $(value "$1") == "$2" ]] || fail "$1 is '$(value "$1")' and not '$2':" "$(cat out)"
}

# wrong: a stream of snapshots whose sets choose ways with the weights $1 (awk: w[1..16])
choices() {
    awk -v weights="$1" -v n="$2" 'BEGIN {
        srand(9)
        for (i = 1; i <= 16; i++) w[i] = 1
        if (weights == "skewed") for (i = 7; i <= 11; i++) w[i] = .73
        for (i = 1; i <= 16; i++) sum += w[i]
        print "snapshot,level,set,way,state,phys,addr,pid" >"line.csv"
        print "snapshot,time,mode,level,sets,ways" >"snapshot.csv"
        for (s = 1; s <= n; s++) {
            print s "," s ",0,2,8,16" >"snapshot.csv"
            for (set = 0; set < 8; set++) {
                r = rand() * sum; way = 0
                while ((r -= w[way + 1]) > 0 && way < 15) way++
                if (s > 1) tag[set, way] = ++fresh; else for (k = 0; k < 16; k++) tag[set, k] = ++fresh
                for (k = 0; k < 16; k++) {
                    a = (tag[set, k] * 8 + set) * 64
                    print s ",2," set "," k ",E," a "," a ",7" >"line.csv" } } }
        }'
    cf-capture csv -q -t line --with snapshot=snapshot.csv line.csv
}

@test "names each policy on snapshots of its model" {
    local p
    for p in $POLICIES; do
        cf-cache -q -m "$(machine "$p" 8KiB 8)" --snapshot-every 100 "$D/any.cf" |
            cf-policy -q --accesses "$D/any.cf" --policies rank.csv >out
        gives policy "$p"
        gives not_explained 0
        gives accesses_without_frame 0
        (($(value judged_sets) > 2000))
        [[ $(awk -F, 'NR == 2 { print $2 "," $3 }' rank.csv) == "$p,best" ]]
        [[ $(wc -l <rank.csv) == $((COUNT + 1)) ]]
        # the model's own policy is exact in every set
        [[ $p == random ]] || awk -F, 'NR == 2 { exit !($5 == $4 && $6 == 1 && $7 == 1 && $9 == 0) }' rank.csv
        [[ $(column verdict rank.csv | sort | uniq -c | tr -s ' ') == *"$((COUNT - 1)) worse"* ]]
    done
}

@test "the same where the cache is emptied after each snapshot, and from files" {
    local p
    for p in $POLICIES; do
        cf-cache -q -m "$(machine "$p" 8KiB 8)" --snapshot-every 700 --flush -o s.cf "$D/any.cf"
        cf-policy -q --accesses "$D/any.cf" s.cf >out
        gives policy "$p"
        gives decisions 0
        gives way_choice 'too few decisions'
    done
}

@test "the same of the second level, where the trace tells what the first one served" {
    local p
    # what the first level writes back is not seen, so loads alone
    cf-select --op load "$D/any.cf" -o loads.cf
    for p in $POLICIES; do
        printf 'line_size: 64\nlevels:\n  - {name: L1, size: 512, ways: 2}\n  - {name: L2, size: 8KiB, ways: 8, policy: %s}\n' \
            "$p" >two.yaml
        cf-cache -q -m two.yaml -o hits.cf loads.cf
        cf-cache -q -m two.yaml --snapshot-every 100 -o s.cf loads.cf
        cf-policy -q --accesses hits.cf s.cf >out
        gives policy "$p"
        # who does not know that is wrong at times
        cf-policy -q --accesses loads.cf --policies rank.csv s.cf >out
        [[ $p != lru ]] || awk -F, '$2 == "lru" { exit !($6 < 1) }' rank.csv
    done
}

@test "physical addresses of the trace; sets that are chosen" {
    cf-cat --csv --columns time,pid,op,size,addr "$D/any.cf" |
        awk -F, -v OFS=, 'NR == 1 { print $0, "phys"; next } { print $0, sprintf("0x%x", $5 + 0 ? $5 + 65536 : 0) }' >p.csv
    cf-cat --csv --columns time,pid,op,size,addr "$D/any.cf" >a.csv
    # addresses are hex: the same low bits, another page
    sed -E '1s/$/,phys/; 2,$s/(.*),0x10(....)$/\1,0x10\2,0x77\2/' a.csv | cf-capture csv -q -o p.cf
    cf-cache -q -m "$(machine tree-plru 8KiB 8)" --physical --snapshot-every 100 -o s.cf p.cf
    cf-policy -q --accesses p.cf --set 3-4 s.cf >out
    gives policy tree-plru
    gives accesses_without_frame 0
    judged=$(value judged_sets)
    cf-policy -q --accesses p.cf s.cf >out
    gives policy tree-plru
    (($(value judged_sets) > 6 * judged && judged > 100))
}

@test "several files: each with its part of the trace" {
    cf-select --time 0-20000 "$D/any.cf" -o one.cf
    cf-select --time 20001- "$D/any.cf" -o two.cf
    cat one.cf two.cf >both.cf
    for p in fifo lru; do
        cf-cache -q -m "$(machine $p 8KiB 8)" --snapshot-every 100 both.cf >s.cf
        cf-policy -q --accesses both.cf --policies rank.csv s.cf >out
        gives policy $p
        awk -F, 'NR == 2 { exit !($6 == 1) }' rank.csv
        judged=$(value judged_sets)
        # of runs of their own, what one left in its cache is not in that of the next
        cf-cache -q -m $p-8.yaml --snapshot-every 100 one.cf >s.cf
        cf-cache -q -m $p-8.yaml --snapshot-every 100 two.cf >>s.cf
        cf-policy -q --accesses both.cf --policies rank.csv s.cf >out
        gives policy $p
        awk -F, 'NR == 2 { exit !($6 == 1) }' rank.csv
        (($(value judged_sets) > judged * 9 / 10))
    done
}

@test "policies that the accesses do not tell apart" {
    # no line is used again: LRU, FIFO, NRU and others do the same
    awk 'BEGIN { print "time,pid,op,size,addr"; for (i = 0; i < 4000; i++) print i ",7,load,8," 1048576 + i * 64 }' |
        cf-capture csv -q -o once.cf
    cf-cache -q -m "$(machine lru 8KiB 8)" --snapshot-every 200 once.cf |
        cf-policy -q --accesses once.cf --policies rank.csv >out
    has "lru or fifo" "$(value policy)"
    has_not random "$(value policy)"
    [[ $(awk -F, '$2 == "fifo" { print $3 "," $9 }' rank.csv) == "cannot be told apart,0" ]]
    # nothing is replaced: nothing is known
    head -60 <(cf-cat --csv --columns time,pid,op,size,addr once.cf) | cf-capture csv -q -o few.cf
    cf-cache -q -m "$(machine lru 8KiB 8)" --snapshot-every 10 few.cf | cf-policy -q --accesses few.cf >out
    gives policy 'no evidence'
    gives judged_sets 0
}

@test "k of n lines after so many rounds: as a dice says, and all of them under LRU" {
    local r p
    for p in random lru; do
        for r in 1 2 4 8; do
            cf-cache -q -m "$(machine $p 64KiB 16)" --snapshot-every 1000 "$D/repl$r.cf" >"$p$r.cf"
        done
        cf-policy -q --addr "$A" --rounds 1,2,4,8 --survivors $p.csv "$p"{1,2,4,8}.cf >out
        gives snapshots 1200
        awk -F, 'NR > 1 { p[$1] += $5; n[$1] += $4; if ($2 != 16) bad = 1 }
            END { for (r in p) { c++; if (p[r] < .9999 || p[r] > 1.0001 || n[r] != 300) bad = 1 }; exit bad || c != 4 }' $p.csv
    done
    [[ $(cut -d, -f1,3,5 lru.csv | paste -sd' ') == "rounds,cached,probability 1,16,1.000000 2,16,1.000000 4,16,1.000000 8,16,1.000000" ]]
    awk 'BEGIN {
        srand(2)
        for (rounds = 1; rounds <= 8; rounds *= 2) {
            sum = 0
            for (run = 0; run < 3000; run++) {
                split("", way); split("", at)
                for (r = 0; r < rounds; r++)
                    for (i = 1; i <= 16; i++)
                        if (!(i in at)) {
                            w = int(rand() * 16)
                            if (w in way) delete at[way[w]]
                            way[w] = i; at[i] = w }
                for (i in at) sum++ }
            print rounds, sum / 3000 }
        }' >want
    awk -F, 'NR > 1 { sum[$1] += $3 * $5 } END { for (r = 1; r <= 8; r *= 2) print r, sum[r] }' random.csv >got
    paste want got | awk '{ if ($2 - $4 > .25 || $4 - $2 > .25) bad = 1 } END { exit bad || NR != 4 }' ||
        fail "means by a dice and by snapshots:" "$(paste want got)"
}

@test "rounds by cycles and by blocks of snapshots, lines by name" {
    local lines
    lines=$(awk 'BEGIN { for (i = 0; i < 16; i++) printf "%s0x%x", i ? "," : "", 1048576 + i * 4096 }')
    cf-cache -q -m "$(machine random 64KiB 16)" --snapshot-every 1000 "$D/repl1.cf" >s.cf
    cf-policy -q --watch "$lines" --survivors by-lines.csv s.cf >out
    cf-policy -q --addr "$A" --survivors by-region.csv s.cf >out
    same by-region.csv by-lines.csv
    cf-policy -q --watch "$lines" --group block:100 --survivors - s.cf >b.csv
    [[ $(column rounds b.csv | sort -u | paste -sd,) == 1,2,3 ]]
    cf-policy -q --watch "$lines" --group cycle:3 --rounds 5,7,9 --survivors - s.cf >c.csv
    [[ $(column rounds c.csv | sort -nu | paste -sd,) == 5,7,9 ]]
    # together they are what all is
    for f in b.csv c.csv; do
        awk -F, -v OFS=, 'NR > 1 { n[$3] += $4 } END { for (k in n) print k, n[k] }' $f | sort -n >sums
        awk -F, -v OFS=, 'NR > 1 { print $3, $4 }' by-lines.csv | same - sums
    done
    # two sets: each is an experiment, and what they have in common is one row
    awk 'BEGIN { print "time,pid,op,size,addr"; for (s = 0; s < 200; s++) for (i = 0; i < 32; i++)
        print ++t ",7,load,8," 1048576 + int(i / 2) * 4096 + i % 2 * 64 }' | cf-capture csv -q -o two.cf
    cf-cache -q -m "$(machine random 64KiB 16)" --snapshot-every 32 two.cf |
        cf-policy -q --pid 7 --survivors two.csv >out
    [[ -z $(tail -n +2 two.csv | cut -d, -f1-3 | sort | uniq -d) ]]
    [[ $(awk -F, 'NR > 1 && $2 == 16 { n += $4 } END { print n }' two.csv) == 400 ]]
    # a line that is nowhere counts among the n
    cf-policy -q --watch "$lines,0x7f0000000" --survivors - s.cf >more.csv
    [[ $(column lines more.csv | sort -u) == 17 ]]
    run -2 cf-policy -q --watch "$lines" --group block:100 --rounds 1,2 --survivors - s.cf
    has "--rounds"
}

@test "a line that several processes map, or one twice, is one of each, at each of its addresses" {
    printf '%s\n' snapshot,level,set,way,phys,addr,pid 1,2,0,0,0x40,0x1000,7 1,2,0,0,0x40,0x2000,8 \
        1,2,0,0,0x40,0x3000,8 1,2,0,1,0x80,0x4000,7 | stream s.cf -t line
    for p in 7 8; do
        run -0 cf-policy -q --pid $p --survivors - s.cf
        is "rounds,lines,cached,snapshots,probability
1,$((9 - p)),$((9 - p)),1,1.000000"
    done
    for p in 0x2000 0x3000; do
        run -0 cf-policy -q --watch $p --survivors - s.cf
        [[ ${lines[1]} == 1,1,1,1,* ]]
    done
}

@test "ways: a line that is not looked at makes several of one, but is not counted" {
    # 1 to 2: two lines come; 2 to 3, 3 to 4, 4 to 5: one each, into ways 0, 1, 3
    printf 'snapshot,time,mode,cost_cycles,level,sets,ways\n' >snaps.csv
    printf '%d,%d,32,0,1,1,4\n' 1 1 2 2 3 3 4 4 5 5 >>snaps.csv
    awk 'BEGIN { print "snapshot,level,set,way,phys,addr,pid"
        n = split("1:7 2:8 3:7 4:8|5:7 6:8 3:7 4:8|9:7 6:8 3:7 4:8|9:7 10:8 3:7 4:8|9:7 10:8 3:7 11:7", s, "|")
        for (i = 1; i <= n; i++) { split(s[i], w, " ")
            for (k = 1; k <= 4; k++) { split(w[k], l, ":")
                printf "%d,1,0,%d,%d,%d,%d\n", i, k - 1, l[1] * 4096, l[1] * 4096, l[2] } } }' |
        stream s.cf -t line -w snapshot=snaps.csv
    cf-policy -q --choices all.csv s.cf >out
    gives decisions 3
    gives several_in_a_set 2
    cf-policy -q --pid 7 --choices - s.cf | cut -d, -f1,2 >7.csv
    [[ $(tail -n +2 7.csv | tr '\n' ' ') == '0,1 1,0 2,0 3,1 ' ]]
    cf-policy -q --pid 7 s.cf >out
    gives decisions 2
    gives several_in_a_set 1
}

@test "lines whose addresses are not known, which is 0, are not those at address 0" {
    printf '%s\n' snapshot,set,way,phys,addr 1,0,0,0x40,0 1,0,1,0,0x1000 >line.csv
    stream s.cf -t line <line.csv
    lines() { cf-policy -q --survivors - "$@" s.cf | tail -n +2; }
    [[ $(lines --watch 0) == 1,1,0,1,1.000000 ]]
    [[ $(lines --watch 0x40) == 1,1,1,1,1.000000 ]]
    [[ $(lines --watch 0x1000) == 1,1,1,1,1.000000 ]]
    [[ -z $(lines --addr 0-0xfff) ]]
    [[ $(lines --addr 0-0x1fff) == 1,1,1,1,1.000000 ]]
    # without a virtual address it is one
    echo 1,0,2,0,0 >>line.csv
    stream s.cf -t line <line.csv
    [[ $(lines --watch 0) == 1,1,1,1,1.000000 ]]
}

@test "--accesses: a line whose owner is not known is no page of a process" {
    printf 'snapshot,time,level,sets,ways\n1,10,1,1,4\n2,20,1,1,4\n' >snaps.csv
    printf '%s\n' snapshot,set,way,phys,addr 1,0,0,0x40,0 2,0,0,0x40,0 2,0,1,0x2040,0x1040 |
        stream s.cf -t line -w snapshot=snaps.csv
    printf '%s\n' time,op,size,addr 1,load,8,0x40 12,load,8,0x40 13,load,8,0x1040 | cf-capture csv -q -o a.cf
    cf-policy -q --accesses a.cf s.cf >out
    gives accesses_without_frame 2
}

@test "ways: of one snapshot, and of flush mode, nothing is known, which is told where choices are asked for" {
    local how
    for how in '--snapshot-every 1000000000' '--snapshot-every 100 --flush'; do
        cf-cache -q -m "$(machine random 64KiB 16)" $how "$D/steps.cf" >one.cf
        for o in '--choices w.csv' '--choices w.csv --survivors s.csv' '--picture p.png'; do
            run -0 --separate-stderr cf-policy $o one.cf
            has 'no snapshot follows another without a flush' "$stderr"
        done
        [[ $(<w.csv) == 'way,decisions,probability,uniform_probability,into_invalid' ]]
        for o in '' '--survivors s.csv --picture p.png'; do
            run -0 --separate-stderr cf-policy $o one.cf
            [[ -z $stderr ]] || fail "$stderr"
        done
    done
}

@test "ways: random choice is uniform and independent, FIFO goes around" {
    cf-cache -q -m "$(machine random 64KiB 16)" --snapshot-every 1 "$D/steps.cf" |
        cf-policy -q --addr "$A" --choices ways.csv >out
    gives way_choice uniform
    gives successive_choices independent
    (($(value decisions) > 3000))
    [[ $(wc -l <ways.csv) == 17 ]]
    [[ $(awk -F, 'NR > 1 { n += $2; p += $3 } END { print n, (p > .9999 && p < 1.0001) }' ways.csv) == "$(value decisions) 1" ]]
    cf-cache -q -m "$(machine fifo 64KiB 16)" --snapshot-every 1 "$D/steps.cf" |
        cf-policy -q --addr "$A" >out
    gives way_choice uniform
    gives successive_choices 'not independent'
}

@test "ways: a step is from one decision to the next of its own recording" {
    # 12 decisions that go around 4 ways are 11 steps of one; in two recordings 22, each of which adds 3
    awk 'BEGIN { print "snapshot,set,way,phys"; for (s = 1; s <= 13; s++) {
        line[(s + 2) % 4] = s; for (w = 0; w < 4; w++) print s ",0," w "," (line[w] ? 64 * line[w] : 6400 * (w + 1)) } }' |
        stream around.cf -t line
    cf-policy -q around.cf around.cf >out
    gives decisions 24
    gives way_chi_squared 0.000
    gives step_chi_squared 66.000
}

@test "snapshots of caches of other sizes are added up with a warning" {
    for ways in 2 4; do
        printf 'snapshot,time,level,sets,ways\n1,1,2,2,%d\n' $ways >s.csv
        printf 'snapshot,level,set,way,phys\n1,2,0,0,0x40\n' | stream $ways.cf -t line --with snapshot=s.csv
    done
    run -0 --separate-stderr cf-policy 2.cf 2.cf
    [[ ! $stderr ]] || fail "$stderr"
    run -0 --separate-stderr cf-policy 2.cf 4.cf 2.cf
    [[ $(grep -c 'of a cache of 2 sets and 4 ways, and is added up with those of one of 2 sets and 2 ways' <<<"$stderr") == 1 ]]
}

@test "ways: a choice that is skewed as in the paper is not uniform, the same without skew is" {
    local p
    choices skewed 800 >s.cf
    cf-policy -q --choices ways.csv s.cf >out
    gives decisions 6392
    gives way_choice 'not uniform'
    gives successive_choices independent
    # ways 7 to 11, counted from 1, are the rare ones
    awk -F, 'NR > 1 { if ($1 >= 6 && $1 <= 10) rare += $2 / 5; else others += $2 / 11 }
        END { exit !(rare < .85 * others && rare > .6 * others) }' ways.csv
    choices even 800 >e.cf
    cf-policy -q e.cf >out
    gives decisions 6392
    gives way_choice uniform
    # the p-value by the statistic, from the counts
    cf-policy -q --choices w.csv e.cf >out
    awk -F, 'NR > 1 { n[NR] = $2; sum += $2 } END { for (i in n) x += (n[i] - sum / 16) ^ 2 / (sum / 16); printf "%.3f\n", x }' w.csv >want
    [[ $(value way_chi_squared) == "$(cat want)" ]]
    p=$(value way_p_value)
    cf-policy -q --alpha "$(awk -v p="$p" 'BEGIN { print p + .001 }')" e.cf >out
    gives way_choice 'not uniform'
    cf-policy -q <(choices even 8) >out
    gives way_choice 'too few decisions'
}

@test "a trace that counts another time than the snapshots is told" {
    cf-cache -q -m "$(machine lru 8KiB 8)" --snapshot-every 1000 -o s.cf "$D/any.cf"
    run -0 --separate-stderr cf-policy -q --accesses "$D/any.cf" s.cf
    [[ ! $stderr ]] || fail "$stderr"
    cf-cat --csv "$D/any.cf" | stream other.cf --clock nanoseconds -
    run -0 --separate-stderr cf-policy -q --accesses other.cf s.cf
    has "column time has different facts in the inputs, which the result mixes: clock records; clock nanoseconds" "$stderr"
}

@test "what a trace cannot explain is told" {
    cf-cache -q -m "$(machine lru 8KiB 8)" --snapshot-every 100 -o s.cf "$D/any.cf"
    # every third access is missing
    cf-cat --csv --columns time,pid,op,size,addr "$D/any.cf" | awk 'NR % 3 != 0 || NR == 1' | cf-capture csv -q -o part.cf
    cf-policy -q --accesses part.cf s.cf >out
    (($(value not_explained) > 100 && $(value state_not_known) > 1000))
    gives policy lru
    # samples
    cf-cat --csv part.cf | sed '1s/$/,weight/; 1!s/$/,3/' | cf-capture csv -q -o samples.cf
    run -1 --separate-stderr cf-policy -q --accesses samples.cf s.cf
    has "the accesses are samples" "$stderr"
    has_not policy,
    # a cache that is indexed in another way
    cf-cat --csv --table line s.cf | awk -F, -v OFS=, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } NR > 1 { $at["set"] = 15 - $at["set"] } 1' >line.csv
    cf-cat --csv --table snapshot s.cf >snapshot.csv
    cf-capture csv -q -t line --with snapshot=snapshot.csv line.csv >odd.cf
    run -1 --separate-stderr cf-policy -q --accesses "$D/any.cf" odd.cf
    has "mod sets" "$stderr"
    has_not policy,
}

@test "impossible sets and ways, snapshots without a row, wrong options, a cut-off trace" {
    printf 'snapshot,set,way,phys\n1,0,0,64\n1,4000000000,1,64\n2,0,0,128\n' | cf-capture csv -q -t line - >s.cf
    run -1 --separate-stderr cf-policy -q s.cf
    has "set 4000000000" "$stderr"
    has "snapshots,2"
    has "decisions,1"
    cf-cache -q -m "$(machine lru 8KiB 8)" --snapshot-every 100 -o s.cf "$D/any.cf"
    run -1 --separate-stderr cf-policy -q --accesses none.cf s.cf
    has none.cf "$stderr"
    head -c 9000 "$D/any.cf" >cut.cf
    run -1 --separate-stderr cf-policy -q --accesses cut.cf s.cf
    has cut.cf "$stderr"
    is ""
    for bad in '--policies x' '--alpha 0' '--alpha x' '--group odd' '--group cycle:0' '--line-size 48' '--line-size 0' '--watch 1,x' \
        '--choices - --survivors -' '--pid x' '--set 5-2' '--rounds' '--rounds 1,2' '--group cycle:2'; do
        # shellcheck disable=SC2086 # words are meant
        run -2 cf-policy -q $bad s.cf
    done
    run -3 --separate-stderr cf-policy -q --choices /nowhere/x s.cf
    has /nowhere/x "$stderr"
}

# picture FILE: a PNG that is not empty paper
picture() {
    [[ $(file "$1") == *"PNG image data, 900 x 500"* ]] || fail "$(file "$1")"
    (($(stat -c %s "$1") > 5000)) || fail "$1 shows nothing: $(stat -c %s "$1") bytes"
}

@test "pictures of both experiments" {
    cf-cache -q -m "$(machine random 64KiB 16)" --snapshot-every 1000 "$D/repl1.cf" >1.cf
    cf-cache -q -m "$(machine random 64KiB 16)" --snapshot-every 1000 "$D/repl8.cf" >8.cf
    cf-cache -q -m "$(machine random 64KiB 16)" --snapshot-every 1 "$D/steps.cf" >steps.cf
    run -0 cf-policy -q --addr "$A" --rounds 1,8 --survivors - --picture 13.png 1.cf 8.cf
    [[ ${lines[0]} == rounds,* ]]
    picture 13.png
    run -0 cf-policy -q --addr "$A" --choices w.csv --picture 14.png steps.cf
    [[ ${lines[0]} == result,value ]]
    picture 14.png
    # the axis ends above the highest bar with its spread, and says the chances
    cf-policy -q --addr "$A" --picture 14.svg --title '' steps.cf >out
    [[ $(grep -c '<path' 14.svg) -gt 20 ]]
    # where nothing was decided there is a picture too; on standard output it stands alone
    cf-policy -q --addr "$A" --picture - 1.cf >none.png
    [[ $(file none.png) == *"PNG image data"* ]]
    run -2 cf-policy --picture x.png --choices a --survivors b 1.cf
    run -2 cf-policy --picture - --choices - 1.cf
    run -2 cf-policy --picture x.gif 1.cf
}

@test "lines without a physical address: ways and survivors by process and address, but no policy" {
    printf 'snapshot,time,mode,level,sets,ways\n1,10,0,2,1,2\n2,20,0,2,1,2\n3,30,0,2,1,2\n' >s.csv
    # the second is another line by its process alone, the third is the same
    printf 'snapshot,level,set,way,phys,addr,pid\n1,2,0,0,0,0x1000,7\n1,2,0,1,0,0x2000,7\n2,2,0,0,0,0x1000,8\n2,2,0,1,0,0x2000,7\n3,2,0,0,0,0x1000,8\n3,2,0,1,0,0x2000,7\n' >l.csv
    for columns in 1-7 1-4,6-7; do
        cut -d, -f$columns l.csv | stream v.cf -t line --with snapshot=s.csv
        run -0 --separate-stderr cf-policy v.cf
        has 'decisions,1' "$output"
        run -0 --separate-stderr cf-policy --watch 0x2000,0x9000 --survivors - v.cf
        has '1,2,1,3,1.000000' "$output"
        printf 'time,op,size,addr,pid\n1,load,8,0x1000,7\n' | stream a.cf
        run -1 --separate-stderr cf-policy --accesses a.cf v.cf
        has 'no physical address' "$stderr"
        has 'decisions,1' "$output"
    done
}

@test "standard input cannot be the snapshots and the accesses" {
    printf 'snapshot,time,sets,ways\n1,10,1,2\n' >s.csv
    printf 'snapshot,set,way,phys\n1,0,0,0x40\n' | stream s.cf -t line --with snapshot=s.csv
    run -2 --separate-stderr cf-policy --accesses - - <s.cf
    has 'cannot be two inputs' "$stderr"
}

@test "a frame that two processes map: accesses of both, at the address of each" {
    cf-cache -q -m "$(machine lru 8KiB 8)" --snapshot-every 100 "$D/any.cf" >s.cf
    cf-cat --csv --table snapshot s.cf >s.csv
    # process 8 has the same frames 0x700000 higher, and does every third access
    cf-cat --csv --table line s.cf | awk -F, -v OFS=, 'NR > 1 { print; sub(/^0x1/, "0x8", $7); $8 = 8 } 1' >l.csv
    stream both.cf -t line --with snapshot=s.csv <l.csv
    cf-cat --csv --columns time,pid,addr "$D/any.cf" |
        awk -F, -v OFS=, 'NR % 3 == 2 { $2 = 8; sub(/^0x1/, "0x8", $3) } 1' | stream a.cf
    cf-policy -q --accesses a.cf both.cf >out
    gives accesses_without_frame 0
    gives not_explained 0
    gives policy lru
}
