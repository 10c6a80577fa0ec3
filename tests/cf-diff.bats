# SPDX-License-Identifier: BSD-2-Clause
#
# cf-diff: by hand, of random snapshots against awk, and of models with themselves.
load lib

setup_file() {
    export D=$BATS_FILE_TMPDIR
    PATH=${CF_B:-$BATS_TEST_DIRNAME/../build}/bin:$PATH
    cd "$D" || return 1
    # Two series of snapshots of 8 sets of 4 ways, which have much in common; modes in turn.
    for name in a b; do
        awk -v seed="$name" 'BEGIN {
            srand(seed == "a" ? 4 : 5)
            print "snapshot,level,set,way,state,phys,addr,pid" >"line.csv"
            print "snapshot,time,mode,cost_cycles,level,sets,ways" >"snapshot.csv"
            for (s = 1; s <= 60; s++) {
                print s "," s * 10 "," (s % 4 < 2 ? 2 : 15) "," 1000 + s % 7 ",2,8,4" >"snapshot.csv"
                for (set = 0; set < 8; set++) {
                    split("", used)
                    for (way = 0; way < 4; way++) {
                        k = int(rand() * 5) + (rand() < .2 ? 5 : 0)
                        if (rand() < .15 || k in used) continue
                        used[k] = 1
                        a = (k * 8 + 8 + set) * 64
                        print s ",2," set "," way "," (rand() < .7 ? "E" : "M") "," a "," a + 1048576 "," 7 + k % 2 >"line.csv" } } }
            }'
        cf-capture csv -q -t line --with snapshot=snapshot.csv -o $name.cf line.csv
        cp line.csv $name.csv
        cp snapshot.csv $name.snapshot.csv
    done
}

setup() {
    lib_setup
}

# slow A.csv B.csv SHIFT: compares snapshot s of A with s + SHIFT of B, by awk; prints what cf-diff
# prints between mode and cost
slow() {
    awk -F, -v shift="$3" '
        FNR == 1 { file++; next }
        { s = $1 - (file == 2 ? shift : 0); line[file, s, $3, $4] = $6; state[file, s, $3, $4] = $5 }
        END {
            for (s = 1; s <= 60 - shift; s++) {
                va = vb = same = st = way = oa = ob = ch = 0
                for (set = 0; set < 8; set++)
                    for (w = 0; w < 4; w++) {
                        a = line[1, s, set, w]; b = line[2, s, set, w]; ch += a != b
                        if (a != "") {
                            va++; found = 0
                            for (k = 0; k < 4; k++) if (line[2, s, set, k] == a) found = 1
                            if (a == b && state[1, s, set, w] == state[2, s, set, w]) same++
                            else if (a == b) st++
                            else if (found) way++
                            else oa++ }
                        if (b != "") {
                            vb++; found = 0
                            for (k = 0; k < 4; k++) if (line[1, s, set, k] == b) found = 1
                            ob += !found } }
                printf "%d,%d,32,%d,%d,%d,%d,%d,%d,%d,%d,%.4f\n", s, s + shift, va, vb, same, st, way, oa, ob, ch, ch / 32 * 100 } }' "$1" "$2"
}

@test "consecutive snapshots: as awk counts, raw and packed" {
    slow "$D/a.csv" "$D/a.csv" 1 >want
    (($(wc -l <want) == 59))
    cf-diff "$D/a.cf" >got
    [[ $(head -n 1 got) == snapshot_a,snapshot_b,time,mode,lines,valid_a,valid_b,same,other_state,other_way,only_a,only_b,changed,changed_percent,cost_cycles ]]
    tail -n +2 got | cut -d, -f1,2,5-14 | same want -
    cf-cat "$D/a.cf" | cf-diff | same got -
    [[ $(awk -F, 'NR == 3 { print $3 "," $4 "," $15 }' got) == "20,full flush,1002" ]]
}

@test "pairs: one with two, three with four, in each segment" {
    slow "$D/a.csv" "$D/a.csv" 1 | awk -F, '$1 % 2' >want
    cf-diff --pairs "$D/a.cf" | tail -n +2 | cut -d, -f1,2,5-14 | same want -
    cat want want >twice
    cf-diff --pairs "$D/a.cf" "$D/a.cf" | tail -n +2 | cut -d, -f1,2,5-14 | same twice -
}

@test "a snapshot that there is no other one for is told" {
    local n
    for n in 1 2 3; do
        printf 'snapshot,time,level,sets,ways\n' >s.csv
        seq 1 $n | sed 's/.*/&,&,2,2,2/' >>s.csv
        { echo snapshot,level,set,way,phys; seq 1 $n | sed 's/.*/&,2,0,0,0x40/'; } |
            cf-capture csv -q -t line --with snapshot=s.csv -o $n.cf
    done
    for n in 2 3; do
        run -0 --separate-stderr cf-diff $n.cf
        [[ -z $stderr ]]
    done
    run -0 --separate-stderr cf-diff 1.cf 2.cf 1.cf
    has '2 snapshots were not compared: each is alone in its segment' "$stderr"
    run -0 --separate-stderr cf-diff --pairs 2.cf 2.cf
    [[ -z $stderr ]]
    run -0 --separate-stderr cf-diff --pairs 3.cf 1.cf 2.cf
    has '2 snapshots were not compared: each is the last of an odd number in its segment' "$stderr"
    [[ ${#lines[@]} == 3 ]]
}

@test "two streams: as awk counts" {
    slow "$D/a.csv" "$D/b.csv" 0 >want
    cf-diff --against "$D/b.cf" "$D/a.cf" | tail -n +2 | cut -d, -f1,2,5-14 | same want -
    cf-diff --against "$D/a.cf" "$D/a.cf" | awk -F, 'NR > 1 && ($13 != 0 || $9 + $10 + $11 + $12) { exit 1 }'
}

@test "the sums for processes and sets are the sums of the pairs" {
    cf-diff --against "$D/b.cf" "$D/a.cf" >pairs
    awk -F, -v OFS=, 'NR > 1 { for (i = 8; i <= 12; i++) n[i] += $i } END { print n[8], n[9], n[10], n[11], n[12] }' pairs >want
    cf-diff --against "$D/b.cf" --by process "$D/a.cf" >process
    awk -F, -v OFS=, 'NR > 1 { for (i = 3; i <= 7; i++) n[i] += $i } END { print n[3], n[4], n[5], n[6], n[7] }' process | same want -
    [[ $(cut -d, -f1 process | paste -sd,) == pid,7,8 ]]
    cf-diff --against "$D/b.cf" --by set "$D/a.cf" >set
    awk -F, -v OFS=, 'NR > 1 { for (i = 2; i <= 6; i++) n[i] += $i } END { print n[2], n[3], n[4], n[5], n[6] }' set | same want -
    [[ $(cut -d, -f1 set | paste -sd,) == set,0,1,2,3,4,5,6,7 ]]
    # lines that are only in a, of a set and of a process, by awk
    awk -F, 'FNR == 1 { file++; next } { at[file, $1, $6] = 1; if (file == 1) row[++n] = $1 "," $6 "," $3 "," $8 }
        END { for (i = 1; i <= n; i++) { split(row[i], f, ","); if (!((2, f[1], f[2]) in at)) { s[f[3]]++; p[f[4]]++ } }
            print s[3] + 0, p[8] + 0 }' "$D/a.csv" "$D/b.csv" >want
    echo "$(awk -F, '$1 == 3 { print $5 }' set) $(awk -F, '$1 == 8 { print $6 }' process)" | same want -
}

@test "names of processes" {
    printf 'time,pid,tid,op,name\n0,7,7,begin,alpha\n0,8,8,begin,"be,ta"\n0,8,9,begin,thread\n' >task.csv
    cf-capture csv -q -t line --with snapshot="$D/a.snapshot.csv" --with task=task.csv "$D/a.csv" | cf-diff --by process >got
    [[ $(cut -d, -f1,2 got | sed -n 2p) == 7,alpha ]]
    has '8,"be,ta"' "$(cat got)"
    # of one number in two streams
    sed s/alpha/gamma/ task.csv >other.csv
    for n in task other; do
        cf-capture csv -q -t line --with snapshot="$D/a.snapshot.csv" --with task=$n.csv "$D/a.csv" >$n.cf
    done
    run -0 --separate-stderr cf-diff --by process task.cf other.cf
    has "process 7 is called 'alpha' in one stream and 'gamma' in another, and counted as one" "$stderr"
    run -0 --separate-stderr cf-diff --by process task.cf task.cf
    [[ ! $stderr ]]
}

@test "summary: mean, deviation and maximum of each mode, as awk has them" {
    cf-diff --pairs "$D/a.cf" >pairs
    awk -F, 'NR > 1 { n[$4]++; for (i = 14; i <= 15; i++) { s[$4, i] += $i; q[$4, i] += $i * $i; if ($i > m[$4, i]) m[$4, i] = $i } }
        END { for (k in n) { printf "%s,%d", k, n[k]
            for (i = 14; i <= 15; i++) { mean = s[k, i] / n[k]; printf ",%.2f,%.2f,%.2f", mean, sqrt((q[k, i] - n[k] * mean * mean) / (n[k] - 1)), m[k, i] }
            print "" } }' pairs | sort >want
    (($(wc -l <want) == 2))
    cf-diff --pairs --summary "$D/a.cf" >got
    [[ $(head -n 1 got) == mode,pairs,changed_percent_mean,changed_percent_stddev,changed_percent_max,cost_cycles_mean,cost_cycles_stddev,cost_cycles_max ]]
    # as in the paper, what does most comes first
    [[ $(sed -n 2p got) == "full flush,"* && $(sed -n 3p got) == "full transparent,"* ]]
    tail -n +2 got | awk -F, '{ printf "%s,%s", $1, $2; for (i = 3; i <= 8; i++) printf ",%.2f", $i; print "" }' | sort | same want -
}

@test "all modes have their names" {
    for mode in 0 8 4 12 1 9 5 13; do
        printf 'snapshot,time,mode,sets,ways\n1,1,%d,4,2\n2,2,%d,4,2\n' $mode $mode >s.csv
        printf 'snapshot,set,way,phys\n1,0,0,0\n2,0,0,256\n' | cf-capture csv -q -t line --with snapshot=s.csv - >one.cf
        cat one.cf
    done >all.cf
    [[ $(cf-diff --summary all.cf | cut -d, -f1-5 | tail -n +2 | paste -sd' ') == "full flush,1,12.5000,,12.5000 flush+resolve,1,12.5000,,12.5000 flush+layout,1,12.5000,,12.5000 flush,1,12.5000,,12.5000 resolve+layout,1,12.5000,,12.5000 resolve,1,12.5000,,12.5000 layout,1,12.5000,,12.5000 full transparent,1,12.5000,,12.5000" ]]
}

@test "a model against itself with other frames: the same lines by virtual address" {
    awk 'BEGIN { srand(8); print "time,pid,op,size,addr"
        for (i = 0; i < 30000; i++) print i "," 7 + int(i / 1000) % 2 ",load,8," 1048576 + int(rand() * rand() * 1600) * 64 }' |
        cf-capture csv -q -o t.cf
    # sets within a page, so that frames change no set
    printf 'line_size: 64\nlevels:\n  - {name: L2, size: 64KiB, ways: 16}\n' >m.yaml
    cf-cache -q -m m.yaml --snapshot-every 1000 --frames sequential t.cf >one.cf
    cf-cache -q -m m.yaml --snapshot-every 1000 --frames random t.cf >two.cf
    cf-diff --against two.cf one.cf >got
    # a model has no cost
    [[ $(cut -d, -f15 got | sort -u | paste -sd,) == ,cost_cycles ]] || fail "$(<got)"
    cf-diff --summary one.cf >sums
    [[ $(tail -n 1 sums) == resolve,29,*,,, ]] || fail "$(<sums)"
    awk -F, 'NR > 1 && $13 < 500 { exit 1 }' got
    cf-diff --virtual --against two.cf one.cf >got
    [[ $(wc -l <got) == 31 ]]
    awk -F, 'NR > 1 && ($13 || $8 != $6 || $6 < 500) { exit 1 }' got
}

@test "streams of different length, impossible sets, wrong options" {
    cf-cat --csv --table line "$D/a.cf" | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "snapshot") c = i } NR == 1 || $c <= 50' |
        cf-capture csv -q -t line - >short.cf
    run -1 --separate-stderr cf-diff -q --against short.cf "$D/a.cf"
    has "10 snapshots more" "$stderr"
    [[ ${#lines[@]} == 51 ]]
    run -1 --separate-stderr cf-diff -q --against "$D/a.cf" short.cf
    has "10 snapshots more" "$stderr"
    run -1 --separate-stderr cf-diff -q --against none.cf "$D/a.cf"
    has none.cf "$stderr"
    printf 'snapshot,set,way,phys\n1,0,0,64\n2,0,0,128\n2,7,5000,64\n' | cf-capture csv -q -t line - >odd.cf
    run -1 --separate-stderr cf-diff -q odd.cf
    has "way 5000" "$stderr"
    [[ ${lines[1]} == 1,2,0,"full transparent",1,1,1,0,0,0,1,1,1,100.0000, ]]
    # nor one that the snapshot's own cache does not have
    printf 'snapshot,sets,ways\n1,1,2\n2,1,2\n' >s.csv
    printf 'snapshot,set,way,phys\n1,0,0,64\n2,0,0,64\n2,1,0,128\n2,0,2,192\n' | stream odd.cf -t line --with snapshot=s.csv
    run -1 --separate-stderr cf-diff -q odd.cf
    has "set 1, way 0: the cache is not so large; 2 such lines were left out" "$stderr"
    [[ ${lines[1]} == 1,2,0,"full transparent",2,1,1,1,0,0,0,0,0,0.0000, ]]
    for bad in '--by way' '--by set --summary' '--pairs --against x' '--level 0' '--level 255'; do
        # shellcheck disable=SC2086 # words are meant
        run -2 cf-diff -q $bad "$D/a.cf"
    done
}

@test "one level at a time" {
    printf 'snapshot,level,set,way,phys\n1,2,0,0,64\n1,1,0,0,64\n2,2,0,0,64\n2,1,0,0,192\n' | cf-capture csv -q -t line - >s.cf
    run -0 --separate-stderr cf-diff s.cf
    has "levels" "$stderr"
    [[ $(cut -d, -f13 <<<"${lines[1]}") == 0 ]]
    run -0 cf-diff -q --level 1 s.cf
    [[ $(cut -d, -f13 <<<"${lines[1]}") == 1 ]]
}

@test "lines without a physical address are known by process and virtual address" {
    cat >lines.csv <<'END'
snapshot,set,way,phys,addr,pid
1,0,0,0,0x1000,7
1,0,1,0x40,0,0
2,0,0,0,0x1000,7
2,0,1,0x40,0x9000,3
3,0,0,0,0x2000,7
3,0,1,0x40,0,0
4,0,0,0,0x2000,8
4,0,1,0x80,0,0
END
    stream mixed.packed.cf -t line <lines.csv
    run -0 --separate-stderr cf-diff mixed.packed.cf
    [[ $(cut -d, -f8-13 <<<"$output") == $'same,other_state,other_way,only_a,only_b,changed\n2,0,0,0,0,0\n1,0,0,1,1,1\n0,0,0,2,2,2' ]] || fail "$output"
    [[ -z $stderr ]]
    # no column phys at all
    cut -d, -f1-3,5-6 lines.csv | grep -v ',0,0$' | stream virtual.cf -t line
    run -0 --separate-stderr cf-diff virtual.cf
    [[ $(cut -d, -f8,11-12 <<<"$output") == $'same,only_a,only_b\n1,0,1\n0,2,1\n0,1,1' ]] || fail "$output"
    [[ -z $stderr ]]
    # --virtual the other way round: a line that only has a physical address is known by it
    run -0 cf-diff --virtual mixed.packed.cf
    [[ $(cut -d, -f8,11-12 <<<"$output") == $'same,only_a,only_b\n1,1,1\n0,2,2\n0,2,2' ]] || fail "$output"
    # neither
    cut -d, -f1-3 lines.csv | stream none.cf -t line
    run -1 --separate-stderr cf-diff none.cf
    has '8 lines have neither' "$stderr"
}

@test "snapshots of the published tool, some lines resolved and some not: as awk counts" {
    mkdir page
    make_dumpcache page 4 page 3
    cf-capture dumpcache -q -o d.cf page
    rows line d.cf | awk -F, '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { s = $at["snapshot"]; phys += $at["phys"] != "0x0"; none += $at["phys"] == "0x0"
          is = $at["phys"] != "0x0" ? $at["phys"] : $at["pid"] ":" $at["addr"]
          if (((s - 1) "," $at["set"] "," $at["way"]) in line) same[s] += line[(s - 1) "," $at["set"] "," $at["way"]] == is
          line[s "," $at["set"] "," $at["way"]] = is }
        END { if (!phys || !none) exit 1
              for (s = 2; s <= 4; s++) print s "," same[s] + 0 }' >want
    cf-diff -q d.cf | awk -F, 'NR > 1 { print $2 "," $8 }' | same want -
}

@test "other states: what cannot be the same; a model knows nothing of security" {
    # each state in a snapshot of its own: 5 may be 1 or 3, 6 may be 2 or 4, 0 anything, 128 is non-secure
    i=0
    for state in 1 5 3 1 5 6 2 6 4 0 1 129 133 134; do
        echo "$((++i)),0,0,0x40,$state"
    done | { echo snapshot,set,way,phys,state && cat; } | stream s.cf -t line
    [[ $(cf-diff s.cf | awk -F, 'NR > 1 { printf "%d", $9 }') == 0010100000101 ]] || fail "$(cf-diff s.cf)"
    printf 'snapshot,time,mode,sets,ways\n1,1,32,1,2\n' >model.csv
    printf 'snapshot,time,mode,sets,ways\n1,1,0,1,2\n' >board.csv
    printf 'snapshot,set,way,phys,state\n1,0,0,0x40,1\n1,0,1,0x80,3\n' | stream model.cf -t line --with snapshot=model.csv
    printf 'snapshot,set,way,phys,state\n1,0,0,0x40,133\n1,0,1,0x80,134\n' | stream board.cf -t line --with snapshot=board.csv
    [[ $(cf-diff --against model.cf board.cf | tail -n 1 | cut -d, -f8-9) == 1,1 ]]
    [[ $(cf-diff --against board.cf board.cf | tail -n 1 | cut -d, -f8-9) == 2,0 ]]
}

@test "caches of a level are compared by their cpu, whichever comes first" {
    printf 'snapshot,cpu,set,way,phys\n1,0,0,0,0x40\n1,1,0,0,0x80\n' | stream a.cf -t line
    printf 'snapshot,cpu,set,way,phys\n1,1,0,0,0x80\n1,2,0,0,0xc0\n1,0,0,0,0x40\n' | stream b.cf -t line
    [[ $(cf-diff --against b.cf a.cf | tail -n 1 | cut -d, -f6-13) == 2,3,2,0,0,0,1,1 ]]
    [[ $(cf-diff --against a.cf b.cf | tail -n 1 | cut -d, -f6-13) == 3,2,2,0,0,1,0,1 ]]
    # those of another stream are no caches of this one
    printf 'snapshot,cpu,set,way,phys\n1,1,0,0,0x80\n2,1,0,1,0x80\n' | stream c.cf -t line
    [[ $(cf-diff b.cf c.cf | tail -n 1 | cut -d, -f5-14) == 2,1,1,0,0,1,0,0,2,100.0000 ]]
}

@test "standard input cannot be both streams" {
    run -2 --separate-stderr cf-diff --against - - <"$D/a.cf"
    has 'cannot be two inputs' "$stderr"
    [[ -z $output ]]
    run -0 cf-diff -q --against - "$D/a.cf" <"$D/a.cf"
}

@test "snapshots of different caches are told, with cf-clash too, and by cf-merge those of several models" {
    for i in 1 2 3; do
        printf 'snapshot,time,mode,level,sets,ways\n1,1,33,2,%d,2\n2,2,33,2,%d,2\n' $((i == 2 ? 4 : 2)) $((i == 2 ? 4 : 2)) >s.csv
        printf 'snapshot,level,pid,set,way,phys\n1,2,7,0,0,0x40\n2,2,7,0,0,0x40\n' | stream $i.cf -t line --with snapshot=s.csv
    done
    for by in '' --summary '--by set' '--against 2.cf'; do
        # shellcheck disable=SC2086
        run -0 --separate-stderr cf-diff $by 1.cf
        [[ $by == *2.cf || ! $stderr ]] || fail "$stderr"
        [[ $by != *2.cf ]] || has "is of a cache of 4 sets and 2 ways, level 2, and is compared or added up with one of 2 sets" "$stderr"
        # shellcheck disable=SC2086
        [[ $by == *2.cf ]] || run -0 --separate-stderr cf-diff $by 1.cf 2.cf
        [[ ! $by || $by == *2.cf ]] || has "is of a cache of 4 sets and 2 ways" "$stderr"
    done
    # each is a share of its own cache
    [[ $(cf-diff 1.cf 2.cf 3.cf | cut -d, -f5 | tr '\n' ' ') == 'lines 4 8 4 ' ]]
    run -0 --separate-stderr cf-diff --against 3.cf 1.cf
    [[ ! $stderr ]]
    run -0 --separate-stderr cf-clash 1.cf 3.cf
    [[ ! $stderr ]] || fail "$stderr"
    run -0 --separate-stderr cf-clash 1.cf 2.cf
    has "2.cf: 2 of 2 snapshots are of another cache than those before, which has 2 sets and 2 ways and is of level 2" "$stderr"
    run -0 --separate-stderr bash -c 'cf-merge --renumber 1.cf 3.cf >m.cf'
    has "3.cf: its snapshots are of another run of a model than those of 1.cf" "$stderr"
    # of hardware, frames are the machine's
    sed -i 's/,33,/,1,/' s.csv
    printf 'snapshot,level,pid,set,way,phys\n1,2,7,0,0,0x40\n' | stream board.cf -t line --with snapshot=s.csv
    run -0 --separate-stderr bash -c 'cf-merge --renumber board.cf board.cf 1.cf >m.cf'
    [[ ! $stderr ]] || fail "$stderr"
}

@test "parts, which begin and end within snapshots, are refused by what needs all of each" {
    printf 'snapshot,time,mode,level,sets,ways\n1,1,33,2,4,2\n2,2,33,2,4,2\n' >s.csv
    printf 'snapshot,level,pid,set,way,phys\n1,2,7,0,0,0x40\n2,2,7,0,0,0x40\n' | stream s.cf -t line --with snapshot=s.csv
    cf-cat -q -o whole.cf s.cf
    for i in 1 2; do
        cf-cat --part $i/2 whole.cf >p$i.cf
    done
    for program in cf-diff cf-occupancy cf-sets cf-clash cf-policy; do
        # alone, too
        for parts in 'p1.cf p2.cf' p2.cf; do
            # shellcheck disable=SC2086
            run -1 --separate-stderr $program $parts
            has "a part that 'cf-cat --part' made begins and ends within snapshots: give the whole recording" "$stderr"
        done
    done
    cf-cat --part 1/1 whole.cf | cf-diff | same <(cf-diff s.cf) -
}

@test "of several inputs, each that cannot be opened is named with its reason, and is no damaged place" {
    mkdir -p folder
    run -1 --separate-stderr cf-diff none.cf "$D/a.cf" folder gone.cf
    has "$(cf-diff "$D/a.cf")"
    [[ $stderr == "cf-diff: none.cf: No such file or directory
cf-diff: folder: is a directory: name files
cf-diff: gone.cf: No such file or directory" ]] || fail "$stderr"
    # the damage of what could be opened is counted beside
    head -c 100 "$D/a.cf" >cut.cf
    run -1 --separate-stderr cf-diff cut.cf none.cf cut.cf
    [[ $stderr == "cf-diff: cut.cf: byte"*"
cf-diff: none.cf: No such file or directory
cf-diff: 3 places of the input are damaged in all; what could be read was processed" ]] || fail "$stderr"
}
