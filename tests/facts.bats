# SPDX-License-Identifier: BSD-2-Clause
#
# Facts of columns in the header (cf-stream(5), columns): who states them, who hands them on, who
# reads them, and what is said where they disagree, are not there or are none.
load lib

setup() {
    lib_setup
    awk 'BEGIN { print "time,pid,tid,op,addr,size"
        for (i = 0; i < 400; i++) printf "%d,1,%d,%s,%d,4\n", i, 1 + i % 2, i % 3 ? "load" : "store", i * 52 % 8192 }' |
        stream a.cf
    machine m.yaml m 1KiB
    machine n.yaml n 1KiB
    machine big.yaml m 2KiB
}

machine() { # FILE NAME SIZE
    cat >"$1" <<END
name: $2
line_size: 64
cpus: 2
levels: [{name: L1, size: $3, ways: 2}]
latency: {L1: {load: 4, store: 1, load_after_load: 5}, memory: 100}
END
}

# facts [FILE]: the lines of the header's `columns`, of all its segments.
facts() {
    cf-cat --info "$@" | sed -n '/^columns:/,/^chain:/{/^  /p}'
}

# quiet COMMAND...: it succeeds and says nothing on standard error.
quiet() {
    "$@" 2>err >out || return
    [[ ! -s err ]] || fail "$(<err)"
}

# warns TEXT COMMAND...: it succeeds and says this once.
warns() {
    local text=$1
    shift
    "$@" 2>err >out || fail "status $?: $(<err)"
    [[ $(grep -cF -- "$text" err) == 1 ]] || fail "not once '$text' in:" "$(<err)"
}

@test "every filter that adds a column states its facts" {
    cf-distance --line-size 32 --sets 4 --bound 8K a.cf | cf-cache -m ./m.yaml | cf-classify -m ./m.yaml |
        cf-latency -m ./m.yaml >b.cf
    run -0 facts b.cf
    is '  dist: {by: "cf-distance", line_size: 32, sets: 4, bound: 8192, for: "data", per: "all"}
  hit: {by: "cf-cache", machine: "m", caches: "L1 1024/2/64/1 lru", cores: 2}
  class: {by: "cf-classify", machine: "m", caches: "L1 1024/2/64/1 lru", cores: 2, rule: "hill", level: "L1"}
  cost: {by: "cf-latency", machine: "m", caches: "L1 1024/2/64/1 lru", cores: 2, latency: "L1.load=4, L1.load_after_load=5, L1.store=1, memory.load=100, memory.store=100, memory.ifetch=100"}'
    # defaults
    run -0 bash -c 'cf-distance a.cf | cf-cat --info'
    has '  dist: {by: "cf-distance", line_size: 64, sets: 1, bound: 0, for: "data", per: "all"}'
    # those of a column that is added again are gone, those of others stay
    cf-distance <b.cf | cf-cache --cores 1 -m ./n.yaml 2>/dev/null >c.cf
    run -0 facts c.cf
    has 'dist: {by: "cf-distance", line_size: 64, sets: 1, bound: 0, for: "data", per: "all"}'
    has 'hit: {by: "cf-cache", machine: "n", caches: "L1 1024/2/64/1 lru", cores: 1}'
    has 'class: {by: "cf-classify", machine: "m"'
    ((${#lines[@]} == 4))
}

@test "rule hill states hit where it adds it, rule leon4 all three of its columns" {
    run -0 bash -c 'cf-classify -m ./m.yaml --cores 1 a.cf | cf-cat --info'
    has '  hit: {by: "cf-classify", machine: "m", caches: "L1 1024/2/64/1 lru", cores: 1}'
    sed -i /latency/d m.yaml
    run -0 bash -c 'cf-classify -m ./m.yaml a.cf | cf-cat --info'
    has '  class: {by: "cf-classify"'
    has_not '  hit:'
    run -0 bash -c 'cf-classify -q -m leon4-n2x --rule leon4 a.cf | cf-cat --info'
    has '  hit: {by: "cf-classify", machine: "LEON4-N2X"'
    has 'rule: "leon4", level: "L1D, L1I"}'
    has 'rule: "leon4", level: "L2"}'
}

@test "what only counts and what takes snapshots states nothing" {
    run -0 bash -c 'cf-cache -m ./m.yaml --snapshot-every 100 a.cf | cf-cat --info'
    has_not columns:
    run -0 cf-cat --info a.cf
    has_not columns:
}

@test "segments, files, pipes and programs that know nothing of the columns hand facts on" {
    cf-cache -m ./m.yaml a.cf >b.cf
    facts b.cf >want
    [[ $(wc -l <want) == 1 ]]
    cf-select --op load b.cf | facts | same want -
    cf-cat -o c.cf b.cf
    facts c.cf | same want -
    cf-merge c.cf | facts | same want -
    make_stream through x <c.cf | facts | same want -
    # a segment each, as they were
    cf-distance a.cf >d.cf
    cf-cat b.cf d.cf a.cf >e.cf
    cat b.cf d.cf a.cf | facts >want
    facts e.cf | same want -
    [[ $(wc -l <want) == 2 ]]
}

@test "cf-mrc: whoever stands between, however long the command line was" {
    cf-distance --line-size 256 --sets 2 a.cf | make_stream through 'cf-distance --line-size 16' |
        cf-select --op load,store >b.cf
    run -0 --separate-stderr cf-mrc b.cf
    [[ $stderr == "" && ${lines[1]} == 512,2,1,* ]]
}

@test "cf-mrc: facts that are none are refused, unless options stand in" {
    cf-distance a.cf >d.cf
    local bad
    for bad in "line_size 0" "line_size 48" "line_size many" "line_size 2147483648" "sets 0" "sets 4294967296" \
        "sets -1" "bound x" "sets 99999999999999999999"; do
        # shellcheck disable=SC2086 # a key and a value
        make_stream through x dist $bad <d.cf >b.cf
        run -1 --separate-stderr cf-mrc b.cf
        has "column dist" "$stderr"
        has "run cf-distance again" "$stderr"
    done
    make_stream through x dist line_size 48 dist sets many <d.cf >b.cf
    run -0 cf-mrc --line-size 64 --sets 1 b.cf
}

@test "cf-mrc: distances of which no lines and sets are stated are told, once; with options not" {
    printf 'time,addr,dist\n1,0,inf\n2,64,inf\n' | stream import.cf
    warns 'taken for those of 64-byte lines and 1 sets' cf-mrc import.cf
    # as CSV, which has no facts
    cf-distance --line-size 32 --sets 64 a.cf | cf-cat --csv | stream round.cf
    warns 'does not state of what lines and sets the distances are' cf-mrc round.cf
    quiet cf-mrc --line-size 32 --sets 64 round.cf
    make_stream through 'cf-distance --line-size 256' <import.cf >old.cf
    cat old.cf old.cf >b.cf
    warns 'taken for those of 64-byte lines and 1 sets: give --line-size and --sets' cf-mrc b.cf
    grep -q ^64,1, out
    warns 'taken for those of 256-byte lines and 1 sets' cf-mrc --line-size 256 b.cf
    grep -q ^256,1, out
    quiet cf-mrc --line-size 256 --sets 1 b.cf
    quiet cf-mrc -q b.cf
}

@test "filters that disagree about the machine say so, with both names; those that agree do not" {
    cf-cache -m ./m.yaml a.cf >hit.cf
    quiet cf-classify -m ./m.yaml hit.cf
    quiet cf-latency -m ./m.yaml hit.cf
    cf-classify -m ./m.yaml hit.cf | cf-latency -m ./m.yaml >all.cf
    quiet cf-latency -m ./m.yaml all.cf
    quiet cf-cache -m ./m.yaml all.cf
    warns "column hit is of machine 'm' (cf-cache), column class of 'n' (cf-classify)" cf-classify -m ./n.yaml hit.cf
    warns "column hit is of machine 'm' (cf-cache), column cost of 'n' (cf-latency)" cf-latency -m ./n.yaml hit.cf
    warns "column hit is of machine 'm'" cf-latency -m ./n.yaml --summary hit.cf
    warns "column cost is of machine 'm' (cf-latency), column class of 'n'" cf-classify -m ./n.yaml all.cf
    warns "column class is of machine 'm' (cf-classify), column hit of 'n' (cf-cache)" cf-cache -m ./n.yaml all.cf
    warns "column cost is of machine 'm' (cf-latency), column hit of 'n' (cf-cache)" cf-cache -m ./n.yaml all.cf
    # another description of that name, with its caches
    warns "column hit is of caches 'L1 1024/2/64/1 lru' (cf-cache), column cost of 'L1 2048/2/64/1 lru' (cf-latency): give both the same -m" \
        cf-latency -m ./big.yaml hit.cf
    local other
    for other in 'write: through' 'allocate: false' 'inclusion: inclusive' 'inclusion: exclusive'; do
        sed "s/ways: 2}\]/ways: 2}, {name: L2, size: 8KiB, ways: 2}]/" m.yaml >two.yaml
        sed "s/size: 8KiB,/& $other,/" two.yaml >other.yaml
        warns "column hit is of caches 'L1 1024/2/64/1 lru, L2 8192/2/64/1 lru' (cf-cache)" \
            bash -c 'cf-cache -m ./two.yaml a.cf | cf-classify --level L1 -m ./other.yaml'
    done
    warns "column hit is of cores '2' (cf-cache), column class of '1' (cf-classify)" cf-classify --cores 1 -m ./m.yaml hit.cf
    warns "column hit is of cores '2' (cf-cache), column cost of '1' (cf-latency)" cf-latency --cores 1 -m ./m.yaml hit.cf
    # once, however many segments
    warns "column hit is of machine 'm'" cf-latency -m ./n.yaml hit.cf hit.cf
}

@test "no disagreement where a column is replaced, not looked at, or states nothing" {
    cf-cache -m ./m.yaml a.cf >hit.cf
    cf-cache -m ./m.yaml a.cf | cf-latency -m ./m.yaml >cost.cf
    quiet cf-cache -m ./n.yaml hit.cf
    sed -i 's/, load_after_load: 5//' m.yaml
    # costs that do not depend on cores
    quiet cf-latency --cores 1 -m ./m.yaml hit.cf
    quiet cf-classify -q -m leon4-n2x --rule leon4 hit.cf
    quiet cf-cache -m ./n.yaml --summary cost.cf
    printf 'time,op,addr,size,hit,level\n1,load,0,4,1,1\n' | stream hand.cf
    quiet cf-latency -m ./n.yaml hand.cf
    make_stream through x hit machine m <hand.cf >b.cf
    quiet cf-latency --level-column level -m ./n.yaml b.cf
    warns "(another program)" cf-latency -m ./n.yaml b.cf
    # of what is stated, the rest is no matter
    make_stream through x hit machine n <hand.cf >b.cf
    quiet cf-latency -m ./n.yaml b.cf
    make_stream through x hit machine n hit cores many <hand.cf >b.cf
    warns "column hit is of cores 'many' (another program)" cf-latency -m ./n.yaml b.cf
    make_stream through x hit cores 7 <hand.cf >b.cf
    quiet cf-latency -m ./n.yaml b.cf
}

@test "rule hill beside a column hit of which nothing is stated: it stays, which is told" {
    printf 'time,op,addr,size,hit\n1,load,0,4,7\n2,load,4,4,7\n' | stream hand.cf
    warns "a column hit already, of which no machine is stated: it stays, and is taken to be of 'm'" \
        cf-classify -m ./m.yaml hand.cf hand.cf
    quiet cf-classify -q -m ./m.yaml hand.cf
    run -0 cf-cat --csv --columns hit out
    is 'hit
7
7'
    # of one machine in a segment, of none in the next
    cf-cache -m ./n.yaml hand.cf >b.cf
    cat b.cf a.cf | cf-classify -m ./m.yaml >c.cf 2>/dev/null
    run -0 facts c.cf
    has 'hit: {by: "cf-cache", machine: "n"' "${lines[0]}"
    has 'class: {by: "cf-classify", machine: "m"' "${lines[1]}"
    has 'class: {by: "cf-classify", machine: "m"' "${lines[2]}"
    has 'hit: {by: "cf-classify", machine: "m"' "${lines[3]}"
    cat a.cf b.cf | cf-classify -m ./m.yaml 2>/dev/null | facts >got
    grep -q 'hit: {by: "cf-cache", machine: "n"' got
}

@test "results made of columns that disagree: cf-report, cf-rank, cf-heatmap" {
    cf-cache -m ./m.yaml a.cf | cf-classify -q -m ./m.yaml | cf-latency -m ./m.yaml >same.cf
    make_stream through x class machine n class by me <same.cf >other.cf
    local said="column hit is of machine 'm' (cf-cache), column class of 'n' (me)"
    quiet cf-report -m ./m.yaml --leon4 same.cf
    warns "$said" cf-report -m ./m.yaml --leon4 other.cf
    quiet cf-rank -q --by thread --value misses same.cf
    warns "$said" cf-rank -q --by thread --value misses other.cf
    quiet cf-rank -q --by thread --value misses --level 1 other.cf
    quiet cf-rank -q --by thread --value cost other.cf
    quiet cf-heatmap -q --value misses --csv same.cf
    warns "$said" cf-heatmap -q --value misses --csv other.cf
    quiet cf-heatmap -q --value accesses --csv other.cf
    # once, however many segments
    warns "$said" cf-report -m ./m.yaml --leon4 other.cf other.cf
    # whose clock
    warns "column cost is of machine 'm', and its time by the clock of 'LEON4-N2X'" cf-report --leon4 same.cf
}

@test "inputs whose columns are of different things: cf-histogram, cf-rank, cf-heatmap, cf-report, cf-mrc" {
    cf-distance a.cf >d64.cf
    cf-distance --line-size 32 a.cf >d32.cf
    local said='different facts in the inputs, which the result mixes: line_size 64, sets 1, bound 0, for data, per all; line_size 32, sets 1, bound 0, for data, per all'
    quiet cf-histogram d64.cf d64.cf
    quiet cf-histogram --column size d64.cf d32.cf
    warns "column dist has $said" cf-histogram d64.cf d32.cf d64.cf d32.cf
    warns "column dist has $said" cf-histogram --column size --by dist d64.cf d32.cf
    warns "column dist has $said" cf-rank -q --by thread --value misses --dist 10 d64.cf d32.cf
    for f in d64 d32; do cf-cache -q -m ./m.yaml $f.cf >$f.hit.cf; done
    warns "column dist has $said" cf-rank -q --by thread --value misses,l1-misses --dist 10 d64.hit.cf d32.hit.cf
    quiet cf-rank -q --by thread d64.cf d32.cf
    # nothing is stated in one of them
    printf 'time,addr,dist\n1,0,inf\n' | stream import.cf
    quiet cf-histogram d64.cf import.cf d64.cf
    cf-cache -m ./m.yaml a.cf | cf-classify -q -m ./m.yaml | cf-latency -m ./m.yaml >m.cf
    cf-cache -m ./n.yaml a.cf | cf-classify -q -m ./n.yaml | cf-latency -m ./n.yaml >n.cf
    warns "column hit has different facts" cf-heatmap -q --value misses --csv m.cf n.cf
    printf 'time,addr\n1,0\n' | cf-capture csv -c cycles >cycles.cf
    warns "column time has different facts in the inputs, which the result mixes: clock records; clock cycles" \
        cf-histogram --csv --column time m.cf cycles.cf
    warns "column class has different facts" cf-report -m ./m.yaml --leon4 m.cf n.cf
    warns "column cost has different facts" cf-rank -q --by thread --value cost m.cf n.cf
    # keys that mean another thing in each
    quiet cf-rank -q --by hit,class m.cf m.cf
    quiet cf-rank -q --by thread m.cf n.cf
    warns "column hit has different facts" cf-rank -q --by hit m.cf n.cf
    warns "column class has different facts" cf-rank -q --by thread,class m.cf n.cf
    warns "column hit has different facts" cf-rank -q --by hit --before m.cf n.cf
    warns "column hit has different facts" cf-mrc --by hit <(cf-distance m.cf) <(cf-distance n.cf)
    warns "column class is of machine 'n' (cf-classify), column hit of 'm' (cf-cache)" \
        cf-rank -q --by hit --value conflict <(cf-cat m.cf | make_stream through x class machine n class by cf-classify)
    run -1 --separate-stderr cf-mrc d64.cf d32.cf
    has "different line sizes" "$stderr"
    # of which one curve would be a sum of two kinds; what does not say of which kind it is may be either
    cf-distance --for unified a.cf >unified.cf
    cf-distance --per thread a.cf >thread.cf
    quiet cf-mrc -q unified.cf unified.cf
    quiet cf-mrc -q thread.cf import.cf thread.cf
    run -1 --separate-stderr cf-mrc d64.cf unified.cf
    is ""
    has "the inputs have distances for data and for unified, by cf-distance: make a curve of each" "$stderr"
    run -1 --separate-stderr cf-mrc thread.cf d64.cf
    is ""
    has "the inputs have distances per thread and per all, by cf-distance: make a curve of each" "$stderr"
    warns "column dist has different facts" cf-histogram d64.cf unified.cf
    warns "column dist has different facts" cf-histogram d64.cf thread.cf
}

@test "what missed by class of the first level in one input, and by memory in another: cf-rank, cf-heatmap, cf-annotate" {
    cf-resolve -q "$ROOT/samples/sort.cf" | cf-cache -q -m ./m.yaml -o hit.cf
    cf-classify -q -m ./m.yaml hit.cf -o class.cf
    printf 'time,op,addr,level\n1,load,0,255\n' | stream level.cf
    local said='what missed is said by different columns in the inputs, which the result mixes: class and hit: run'
    local value
    for value in misses hits ratio; do
        quiet cf-rank -q --by op --value $value hit.cf hit.cf
        quiet cf-rank -q --by op --value $value class.cf class.cf
        warns "$said" cf-rank -q --by op --value $value class.cf hit.cf class.cf
    done
    warns "$said" cf-rank -q -j 3 --by op --value misses class.cf hit.cf
    warns "$said" cf-heatmap -q --value misses --csv hit.cf class.cf
    warns "$said" cf-heatmap -q -j 3 --value misses --csv hit.cf class.cf
    warns "$said" cf-annotate -q --value misses hit.cf class.cf
    warns "${said/class and hit/hit and level}" cf-rank -q --by op --value misses hit.cf level.cf
    said=${said/mixes/compares}
    warns "${said/class and hit/hit and level}" cf-rank -q --by op --value misses --before hit.cf level.cf
    # of the same level, and no misses
    quiet cf-rank -q --by op --value misses --level 1 hit.cf class.cf
    warns "${said/class and hit/hit and level}" cf-rank -q --by op --value misses --level 1 --before hit.cf level.cf
    quiet cf-rank -q --by op --value l1-misses hit.cf class.cf
    quiet cf-rank -q --by op hit.cf class.cf
    quiet cf-heatmap -q --csv hit.cf class.cf
    # the difference of the two would be one of their definitions
    run -1 --separate-stderr cf-rank -q --by op --value misses --before hit.cf --fail-above 1 class.cf
    [[ ! $output ]] && has "what missed is said by column hit in the recording before, and by column class now" "$stderr"
    run -1 --separate-stderr cf-rank -q --by op --value ratio --before class.cf hit.cf
    [[ ! $output ]] && has "by column class in the recording before, and by column hit now" "$stderr"
    quiet cf-rank -q --by op --value misses --level 1 --before hit.cf --fail-above 1 class.cf
}

@test "pages of different sizes: cf-rank, cf-heatmap, cf-mrc" {
    cf-distance "$ROOT/samples/sort.cf" -o s.cf
    cf-resolve -q --page-size 64K s.cf -o p64.cf
    cf-resolve -q s.cf -o p4.cf
    local said='column page has different facts in the inputs, which the result mixes: page_size'
    quiet cf-rank -q --by page p64.cf p64.cf
    quiet cf-rank -q --by region p64.cf p4.cf
    warns "$said 65536; page_size 4096" cf-rank -q --by page p64.cf p4.cf
    warns "$said 65536; page_size 4096" cf-rank -q --by object,page p64.cf p4.cf
    warns "$said 4096; page_size 65536" cf-rank -q --by page --before p4.cf p64.cf
    warns "$said 65536; page_size 4096" cf-heatmap -q --csv p64.cf p4.cf
    warns "$said 65536; page_size 4096" cf-mrc -q --by page p64.cf p4.cf
    # the working set in bytes
    run -0 cf-rank -q --by page --cover=99 p64.cf
    [[ ${lines[1]} == 99,17,*,1114112 ]] || fail "$output"
    run -0 cf-rank -q --by page --cover=99 -j 2 p64.cf
    [[ ${lines[1]} == 99,17,*,1114112 ]] || fail "$output"
    parts 2 p64.cf cf-rank -q --by page
    cf-rank -q --by page --cover=99 p.1.cf p.2.cf | same <(echo "$output") -
    run -0 cf-rank -q --by page --cover=99 --page-size 64K p64.cf
    [[ ${lines[1]} == 99,17,*,1114112 ]] || fail "$output"
    local way
    said='its pages are of 65536 bytes, not '
    for way in 'p64.cf --page-size 1M' 'p.1.cf p.2.cf --page-size 1M' '-j 2 p64.cf --page-size 1M' 'p4.cf p64.cf'; do
        # shellcheck disable=SC2086
        run -1 --separate-stderr cf-rank -q --by page --cover $way
        [[ -z $output && $stderr == *"$said"* ]] || fail "$way: $output$stderr"
    done
    # it is of no page, and nothing says of what size pages are
    quiet cf-rank -q --by cache-line --cover --page-size 1M p64.cf
    printf 'time,addr,region,page\n1,0,a,7\n' | stream import.cf
    run -0 cf-rank -q --by page --cover=99 import.cf
    [[ ${lines[1]} == 99,1,1,4096 ]]
}

@test "cf-merge: facts of all inputs, and none that disagree" {
    cf-distance a.cf >d64.cf
    cf-distance --line-size 32 a.cf >d32.cf
    cf-cache -m ./m.yaml a.cf >hit.cf
    # of what depends on the accesses before, that it is of each input alone
    merged() { facts "$@" | sed 's/}$/, before: "cf-merge"}/'; }
    quiet cf-merge --renumber d64.cf d64.cf
    facts out | same <(merged d64.cf) -
    # that the first lacks
    cf-merge -q --renumber hit.cf d32.cf >b.cf
    facts b.cf | same <(merged hit.cf d32.cf) -
    run -1 --separate-stderr cf-merge --renumber d64.cf d32.cf
    has "d32.cf: the line_size of its column dist is 32, that of the inputs before it 64" "$stderr"
    [[ $output == "" ]]
    quiet cf-merge --force --renumber d64.cf d32.cf
    facts out | same <(merged d64.cf) -
    # segments of one file, and pipes, whose headers come when that of the output is written
    cat d64.cf d32.cf >s.cf
    run -1 --separate-stderr cf-merge s.cf
    has "line_size" "$stderr"
    run -1 --separate-stderr cf-merge --renumber <(cat d64.cf) <(cat d32.cf)
    has "that of the inputs before it 64" "$stderr"
    run -1 --separate-stderr cf-merge -q --renumber <(cat a.cf) <(cat d32.cf)
    has "that of the inputs before it not stated" "$stderr"
    cf-merge -q --renumber <(cat d32.cf) <(cat a.cf) | facts | same <(merged d32.cf) -
    # who has stated it is no matter
    make_stream through x dist by me dist line_size 64 dist sets 1 dist bound 0 <d64.cf >e.cf
    quiet cf-merge --renumber d64.cf e.cf
}

# options COLUMN [FILE]: what its facts state as options, or nothing.
options() {
    facts "${@:2}" | sed -n "s/^  $1: .*options: \"\([^\"]*\)\".*/\1/p"
}

@test "options that change column hit are facts of it, in one order however they were given; others are not" {
    local o
    has_options() { # WANT OPTION...
        run -0 bash -c 'cf-cache -q "$@" a.cf | cf-cat --info' _ -m ./m.yaml "${@:2}"
        o=$(sed -n 's/^  hit: .*cores: 2\(.*\)}$/\1/p' <<<"$output")
        [[ $o == "${1:+, options: \"$1\"}" ]] || fail "${*:2}: $o"
    }
    has_options ""
    has_options "" --seed 7 --prefetch none --way-mask 1:3
    has_options "prefetch next-line:L1" --prefetch next-line
    has_options "way-mask 0:0x1:L1; way-mask 1:0x2:L1" --way-mask 1:1 --way-mask 1:2 --way-mask 0:0x1:L1
    has_options "frames random; ram 4294967296; page-size 4096" --frames random --seed 1
    has_options "frames random; ram 1073741824; page-size 65536; seed 7" --frames random --seed 7 --ram 1G --page-size 64K
    has_options "frames sequential; ram 4294967296; page-size 4096" --frames sequential --seed 7
    sed -i 's/ways: 2/ways: 2, policy: random/' m.yaml
    has_options "" --seed 1
    has_options "seed 7" --seed 7
    has_options "prefetch stride:L1; seed 7" --seed 7 --prefetch stride
    run -0 bash -c 'cf-classify -m ./m.yaml --seed 7 a.cf | cf-cat --info'
    has 'hit: {by: "cf-classify", machine: "m", caches: "L1 1024/2/64/1 random", cores: 2, options: "seed 7"}'
    has 'cores: 2, options: "seed 7", rule: "hill", level: "L1"}'
    printf 'time,op,addr,phys\n1,load,0,4096\n' | stream phys.cf
    cf-cache -m ./n.yaml --physical phys.cf >b.cf
    [[ $(options hit b.cf) == physical ]]
}

@test "colours and pools as facts of hit: the same pages and colours are, however they are written" {
    printf 'time,op,addr,region,page\n1,load,0,a,7\n2,load,4096,b,1\n' | stream p.cf
    sed -i 's/1KiB/64KiB/' m.yaml
    printf 'region,page\na,7\nb,1\n' >one.csv
    printf 'page,region\n1,b\n7,a\n7,a\n' >two.csv
    printf 'region,page\na,1\nb,7\n' >other.csv
    cf-cache -q -m ./m.yaml --colours 1:0-2,4 --colours 0:5- --pool one.csv:3@1 p.cf >one.cf
    cf-cache -q -m ./m.yaml --colours 0:7,6,5 --colours 1:4,2,0-1 --pool two.csv:3@1 p.cf >two.cf
    cf-cache -q -m ./m.yaml --colours 1:0-2,4 --colours 0:5- --pool other.csv:3@1 p.cf >other.cf
    run -0 options hit one.cf
    [[ $output == "frames random; ram 4294967296; page-size 4096; colours 0:5-7; colours 1:0-2,4; pool "*:3@1 ]]
    facts two.cf | same <(facts one.cf) -
    [[ $(options hit other.cf) != "$output" ]]
}

@test "columns of models with other options, in one stream and in several" {
    cf-cache -m ./m.yaml a.cf >hit.cf
    cf-cache -m ./m.yaml --prefetch next-line a.cf >next.cf
    local said="column hit is of options 'prefetch next-line:L1' (cf-cache), column class of 'none' (cf-classify)"
    warns "$said" cf-classify -m ./m.yaml next.cf
    mv out class.cf
    warns "$said" cf-rank -q --by op --value misses,l1-misses class.cf
    warns "$said" cf-rank -q -j 2 --by op --value misses,l1-misses class.cf
    warns "column hit has different facts in the inputs" cf-rank -q --by op --value misses --before hit.cf next.cf
    warns "options prefetch next-line:L1" cf-rank -q --by op --value misses hit.cf next.cf
    warns "column hit has different facts in the inputs" cf-heatmap -q --value misses --csv hit.cf next.cf
    quiet cf-rank -q --by op --value misses next.cf next.cf
    # those of the inputs, of which one states none
    said="the options of its column hit is prefetch next-line:L1, that of the inputs before it not stated"
    run -1 --separate-stderr cf-merge -q --renumber hit.cf next.cf
    has "next.cf: $said" "$stderr"
    run -1 --separate-stderr cf-merge -q --renumber next.cf hit.cf
    has "hit.cf: the options of its column hit is not stated, that of the inputs before it prefetch" "$stderr"
    run -1 --separate-stderr cf-merge -q --renumber <(cat hit.cf) <(cat next.cf)
    has "$said" "$stderr"
    quiet cf-merge -q --force --renumber hit.cf next.cf
    quiet cf-merge -q --renumber next.cf next.cf
    [[ $(options hit out) == "prefetch next-line:L1" ]]
    # a column that states no machine says nothing of options
    cf-merge -q --renumber a.cf next.cf >b.cf
    [[ $(options hit b.cf) == "prefetch next-line:L1" ]]
}

# samples [OPTION...]: what cf-sample takes of a modelled stream.
samples() {
    awk 'BEGIN { print "time,pid,tid,op,addr,size,pc"
        for (i = 0; i < 400; i++) printf "%d,1,1,load,%d,4,%d\n", i, i * 52 % 8192, 4 * (i % 9) }' |
        cf-capture csv -q | cf-cache "$@" | cf-sample -q --loads 3 "${@:1:2}"
}

@test "what is made of a column has its options; parts and partial results have them" {
    cf-cache -m ./m.yaml --prefetch next-line a.cf >next.cf
    quiet cf-latency -m ./m.yaml next.cf
    mv out cost.cf
    [[ $(options cost cost.cf) == "prefetch next-line:L1" ]]
    sed 's/, load_after_load: 5//' m.yaml >plain.yaml
    samples -m ./m.yaml --prefetch next-line >s.cf
    [[ $(options level s.cf) == "prefetch next-line:L1" && $(options stage s.cf) == "prefetch next-line:L1" ]]
    quiet cf-latency -q -m ./plain.yaml --level-column level s.cf
    [[ $(options cost out) == "prefetch next-line:L1" ]]
    quiet cf-classify -q -m ./m.yaml --rule cacheperf s.cf
    [[ $(options class out) == "prefetch next-line:L1" ]]
    quiet cf-classify -q -m ./m.yaml --rule cacheperf --summary s.cf
    # of each segment its own
    cf-cache -m ./m.yaml a.cf >hit.cf
    cat next.cf hit.cf next.cf | cf-latency -m ./m.yaml >b.cf
    facts b.cf | grep -c 'cost: .*options' | same <(echo 2) -
    facts b.cf | sed -n '4{/cost/{/options/!p}}' | grep -q cost
    cf-cat -o packed.cf cost.cf
    cf-cat --part 1/2 packed.cf >p.1.cf
    facts p.1.cf | grep -v '^  part:' | same <(facts cost.cf) -
    cf-rank -q --by op --value cost --partial p.1.cf >r.cf
    facts r.cf | grep '^  \(hit\|cost\):' | same <(facts cost.cf) -
}

@test "costs by other latencies, and by another column, have different facts" {
    cf-cache -m ./m.yaml a.cf >hit.cf
    cf-latency -m ./m.yaml hit.cf >cost.cf
    run -0 facts cost.cf
    has 'cores: 2, latency: "L1.load=4, L1.load_after_load=5, L1.store=1, memory.load=100, memory.store=100, memory.ifetch=100"}'
    cf-latency -m ./m.yaml --latency memory=100 --latency L1.load=4 hit.cf | facts | same <(facts cost.cf) -
    cf-latency -m ./m.yaml --latency memory=1 --latency memory.load=90 --latency L1.load=3 hit.cf >other.cf
    run -0 facts other.cf
    has 'cores: 2, latency: "L1.load=3, L1.load_after_load=5, L1.store=1, memory.load=90, memory.store=1, memory.ifetch=1"}'
    warns "column cost has different facts in the inputs" cf-rank -q --by op --value cost cost.cf other.cf
    run -1 --separate-stderr cf-merge -q --renumber other.cf cost.cf
    has "cost.cf: the latency of its column cost is L1.load=4, L1.load_after_load=5" "$stderr"
    # what earlier programs made states those of option --latency alone
    printf 'time,op,addr\n1,load,0\n' | stream hand.cf
    make_stream through x cost machine m <hand.cf >old.cf
    make_stream through x cost machine m cost latency L1.load=3 <hand.cf >changed.cf
    run -1 --separate-stderr cf-merge -q --renumber old.cf changed.cf
    has "changed.cf: the latency of its column cost is L1.load=3, that of the inputs before it not stated" "$stderr"
    # a description of the same name and caches
    sed 's/memory: 100/memory: 99/' m.yaml >other.yaml
    cf-latency -m ./other.yaml hit.cf >other.cf
    warns "column cost has different facts in the inputs" cf-rank -q --by op --value cost cost.cf other.cf
    run -1 --separate-stderr cf-merge -q --renumber other.cf cost.cf
    samples -m ./m.yaml >s.cf
    cf-latency -q -m ./m.yaml --level-column level s.cf >level.cf
    cf-latency -q -m ./m.yaml s.cf >hits.cf
    run -0 facts level.cf
    has 'memory.ifetch=100", column: "level"}'
    warns "column cost has different facts in the inputs" cf-rank -q --by op --value cost level.cf hits.cf
}

@test "a cost of an earlier column hit is said to be one, until cf-latency runs again" {
    cf-cache -m ./m.yaml --cores 1 a.cf >hit.cf
    sed 's/, load_after_load: 5//' m.yaml >plain.yaml
    cf-latency -q -m ./plain.yaml hit.cf >cost.cf
    local said="column cost is of an earlier column hit than the one that is there: run cf-latency again" cost
    quiet cf-rank -q --by op --value cost,l1-misses cost.cf
    cost=$(facts cost.cf | grep cost:)
    # of a cache for each core, on which cost states nothing
    quiet cf-cache -q -m ./m.yaml --cores 2 cost.cf
    mv out b.cf
    facts b.cf | grep cost: | same <(echo "${cost%\}}, of: \"an earlier hit\"}") -
    warns "$said" cf-rank -q --by op --value cost,l1-misses b.cf
    cf-cat -o packed.cf b.cf
    warns "$said" cf-rank -q --by op --value cost,l1-misses --partial <(cf-cat --part 1/2 packed.cf)
    run -1 --separate-stderr cf-merge -q --renumber cost.cf b.cf
    has "column hit is 2, that of the inputs before it 1" "$stderr"
    quiet cf-latency -q -m ./plain.yaml b.cf
    mv out again.cf
    quiet cf-rank -q --by op --value cost,l1-misses again.cf
    # also by cf-classify; what is of column level stays
    cf-classify -q -m ./m.yaml --hit --cores 1 cost.cf >b.cf
    warns "$said" cf-rank -q --by op --value cost,l1-misses b.cf
    # of each segment its own
    cat cost.cf hit.cf | cf-cache -q -m ./m.yaml --cores 1 | facts | grep -c cost: | same <(echo 1) -
    printf 'time,op,addr,level\n1,load,0,1\n' | stream level.cf
    cf-latency -q -m ./m.yaml --level-column level level.cf | cf-cache -q -m ./m.yaml | facts >got
    run -0 cat got
    has 'column: "level"}'
}

@test "levels of one machine, costs and classes of another: cf-latency, cf-classify, also by --summary" {
    samples -m ./m.yaml >s.cf
    samples -m ./n.yaml >t.cf
    local said="column level is of machine 'm' (cf-sample), column cost of 'n' (cf-latency): give both the same -m"
    warns "$said" cf-latency -q -m ./n.yaml --level-column level s.cf
    warns "$said" cf-latency -q -m ./n.yaml --level-column level --summary s.cf
    said="column level is of machine 'm' (cf-sample), column class of 'n' (cf-classify): give both the same -m"
    warns "$said" cf-classify -q -m ./n.yaml --rule cacheperf s.cf
    warns "$said" cf-classify -q -m ./n.yaml --rule cacheperf --summary s.cf
    # of what is not looked at, nothing is said
    quiet cf-classify -q -m ./m.yaml --rule cacheperf --summary s.cf
    make_stream through x level machine n <s.cf >b.cf
    sed 's/, load_after_load: 5//' m.yaml >plain.yaml
    quiet cf-latency -q -m ./plain.yaml --summary b.cf
    # added up
    for f in s t; do cf-cat --columns time,op,addr,weight,level $f.cf >$f.level.cf; done
    warns "column level has different facts in the inputs" cf-rank -q --by op --value misses s.level.cf t.level.cf
    warns "column level has different facts in the inputs" cf-heatmap -q --value misses --csv s.level.cf t.level.cf
}

@test "class and class_behind by different rules: cf-classify, cf-report" {
    cf-classify -q -m leon4-n2x --rule leon4 a.cf >leon4.cf
    quiet cf-report -m leon4-n2x --leon4 leon4.cf
    warns "column class_behind is of rule 'leon4' (cf-classify), column class of 'hill' (cf-classify)" \
        cf-classify -q -m leon4-n2x leon4.cf
    mv out both.cf
    warns "column class is of rule 'hill' (cf-classify), column class_behind of 'leon4' (cf-classify)" \
        cf-report -m leon4-n2x --leon4 both.cf
    quiet cf-classify -q -m leon4-n2x --rule leon4 both.cf
    warns "column class_behind is of machine 'LEON4-N2X'" cf-classify -q -m ./m.yaml leon4.cf
}

@test "columns made before cf-merge put accesses among each other: who uses them warns, once; who replaces them does not" {
    local use
    cf-cache -m ./m.yaml a.cf | cf-classify -m ./m.yaml | cf-distance | cf-latency -q -m ./m.yaml -o all.cf
    cf-merge -q --renumber all.cf all.cf -o m.cf
    for use in hit:'cf-latency -q -m ./m.yaml --summary' dist:cf-mrc hit:'cf-rank -q --by op --value hits --level 1' \
        cost:'cf-rank -q --by op --value cost' dist:'cf-histogram --column dist'; do
        run -0 --separate-stderr ${use#*:} m.cf
        [[ $(grep -c "column ${use%%:*} was made before cf-merge .* alone: run cf-.* after cf-merge" <<<"$stderr") == 1 ]] || fail "$use: $stderr"
        quiet ${use#*:} all.cf
    done
    run --separate-stderr cf-sample -q -m ./m.yaml --loads 5 -o s.cf m.cf # which has no column pc
    has 'column hit was made before cf-merge' "$stderr"
    # merged once more, with one that is as it was made, it goes on so
    cf-merge -q --renumber m.cf all.cf | facts | same <(facts m.cf) -
    # made anew, and what no other has part in
    quiet bash -c 'cf-cache -m ./m.yaml m.cf | cf-latency -q -m ./m.yaml --summary'
    quiet bash -c 'cf-distance m.cf | cf-mrc'
    printf 'time,pid,tid,count\n0,7,7,0\n5,7,8,0\n' >sw.csv
    printf 'time,pid,tid,addr\n1,7,7,0\n6,7,8,0\n' | stream turns.cf --with switch=sw.csv
    cf-distance --per process turns.cf >p.cf
    cf-distance --per thread turns.cf >t.cf
    quiet bash -c 'cf-merge --renumber p.cf p.cf | cf-mrc'
    quiet bash -c 'cf-merge --interleave --renumber t.cf t.cf | cf-mrc'
    run -0 --separate-stderr bash -c 'cf-merge --interleave p.cf | cf-mrc'
    has 'column dist was made before cf-merge' "$stderr"
    # one input by time is as it was
    quiet bash -c 'cf-merge all.cf | cf-mrc'
}
