# SPDX-License-Identifier: BSD-2-Clause
#
# cf-latency: costs by hand, and of random rows against awk.
load lib

setup_file() {
    awk 'BEGIN {
        srand(5); split("load store ifetch prefetch flush", op, " "); split("1 1 1 1 1 2 2 3 255 0", hit, " ")
        print "time,pid,tid,op,addr,weight,hit,level"
        for (i = 0; i < 50000; i++) {
            h = hit[1 + int(rand() * 10)]
            printf "%d,%d,%d,%s,0x%x,%d,%d,%d\n", i, 10, 10 + int(rand() * 5), op[1 + int(rand() * 5)],
                4096 + int(rand() * 1e6), 1 + int(rand() * 9), h, hit[1 + int(rand() * 10)]
        } }' >"$BATS_FILE_TMPDIR/in.csv"
    cat >"$BATS_FILE_TMPDIR/plain.yaml" <<'END'
line_size: 64
levels:
  - {name: L1I, kind: instruction, size: 1KiB, ways: 2}
  - {name: L1D, kind: data, size: 1KiB, ways: 2}
  - {name: L2, size: 8KiB, ways: 4}
  - {name: L3, size: 64KiB, ways: 4}
latency: {L1I: 1, L1D: {load: 4, store: 3, flush: 7}, L2: 12, L3: 40, memory: {load: 180, store: 90, ifetch: 200}}
END
    # Four cores; stores go through the first two levels; the second is one for two cores.
    cat >"$BATS_FILE_TMPDIR/state.yaml" <<'END'
line_size: 64
cpus: 4
levels:
  - {name: L1I, kind: instruction, size: 1KiB, ways: 2}
  - {name: L1D, kind: data, size: 1KiB, ways: 2, write: through, allocate: false}
  - {name: L2, size: 8KiB, ways: 4, shared_by: 2, write: through}
  - {name: L3, size: 64KiB, ways: 4, shared_by: 4}
latency:
  L1I: 1
  L1D: {load: 4, store: 3, store_after_store: 1}
  L2: {load: 12, store: 13, ifetch: 14, load_after_store: 15, load_after_ifetch: 16, ifetch_after_prefetch: 17,
       store_after_flush: 18}
  L3: {load: 40, store: 40, ifetch: 40, ifetch_after_load: 44}
  memory: {load: 180, store: 90, ifetch: 200, load_after_load: 150, prefetch: 5}
END
    PATH=${CF_B:-$BATS_TEST_DIRNAME/../build}/bin:$PATH
    cd "$BATS_FILE_TMPDIR" || return 1
    cf-capture csv -q in.csv >in.cf
    cf-cat in.cf -o in.packed.cf
}

setup() {
    lib_setup
    D=$BATS_FILE_TMPDIR
}

# costs OPTION...: the column cost of the random rows, both of the raw and of the packed stream
costs() {
    local f
    for f in in.cf in.packed.cf; do
        cf-latency -q "$@" "$D/$f" | rows access - >out.csv
        column cost out.csv >"$f.got"
    done
    same in.cf.got in.packed.cf.got
    mv in.cf.got got
}

# The state of the machine state.yaml in awk, from the definition: what each cache saw last.
# Columns: 3 tid 4 op 7 hit
state_awk() { # RULE [CORES]
    awk -F, -v cores="${2:-4}" -v added="$([[ $1 == added ]] && echo 1)" '
    function look(key, previous) { return (key "_after_" previous) in c ? c[key "_after_" previous] : c[key] + 0 }
    BEGIN {
        c["1load"] = 4; c["1store"] = 3; c["1store_after_store"] = 1; c["1ifetch"] = 1
        c["2load"] = 12; c["2store"] = 13; c["2ifetch"] = 14; c["2load_after_store"] = 15
        c["2load_after_ifetch"] = 16; c["2ifetch_after_prefetch"] = 17; c["2store_after_flush"] = 18
        c["3load"] = 40; c["3store"] = 40; c["3ifetch"] = 40; c["3ifetch_after_load"] = 44
        c["4load"] = 180; c["4store"] = 90; c["4ifetch"] = 200; c["4load_after_load"] = 150; c["4prefetch"] = 5
    }
    NR > 1 {
        if (!($3 in core)) core[$3] = threads++ % cores
        # the cache of each level that this core has
        id[1] = ($4 == "ifetch" ? "i" : "d") core[$3]; id[2] = "l2" int(core[$3] / 2); id[3] = "l3"; id[4] = "m"
        served = $7 == 255 ? 4 : $7 + 0; cost = 0
        if (served) {
            end = served
            if ($4 == "store") while (end < 3) end++
            for (k = 1; k <= end; k++) {
                if (k == served || (added && k < served)) cost += look(k $4, last[id[k]])
                last[id[k]] = $4
            }
        }
        print cost
    }' "$D/in.csv"
}

@test "costs by level and operation: as awk" {
    awk -F, 'NR > 1 {
        c = 0
        if ($4 == "load") c = $7 == 1 ? 4 : $7 == 2 ? 12 : $7 == 3 ? 40 : $7 == 255 ? 180 : 0
        if ($4 == "store") c = $7 == 1 ? 3 : $7 == 2 ? 12 : $7 == 3 ? 40 : $7 == 255 ? 90 : 0
        if ($4 == "ifetch") c = $7 == 1 ? 1 : $7 == 2 ? 12 : $7 == 3 ? 40 : $7 == 255 ? 200 : 0
        if ($4 == "flush" && $7 == 1) c = 7
        print c }' "$D/in.csv" >want
    costs -m "$D/plain.yaml"
    same want got
}

@test "the column of the hardware's level: as awk" {
    awk -F, 'NR > 1 {
        c = 0
        if ($4 == "load") c = $8 == 1 ? 4 : $8 == 2 ? 12 : $8 == 3 ? 40 : $8 == 255 ? 180 : 0
        if ($4 == "store") c = $8 == 1 ? 3 : $8 == 2 ? 12 : $8 == 3 ? 40 : $8 == 255 ? 90 : 0
        if ($4 == "ifetch") c = $8 == 1 ? 1 : $8 == 2 ? 12 : $8 == 3 ? 40 : $8 == 255 ? 200 : 0
        if ($4 == "flush" && $8 == 1) c = 7
        print c }' "$D/in.csv" >want
    costs -m "$D/plain.yaml" --level-column level
    same want got
    run -2 cf-latency -m "$D/plain.yaml" --level-column hits "$D/in.cf"
    has "give one of hit, level"
}

@test "costs that depend on the access before, private and shared caches: as awk" {
    state_awk total >want
    costs -m "$D/state.yaml"
    same want got
}

@test "--cores: as awk" {
    local n
    for n in 1 2 3; do
        state_awk total $n >want
        costs -m "$D/state.yaml" --cores $n
        same want got
    done
    run -2 cf-latency -m "$D/state.yaml" --cores 0 "$D/in.cf"
    run -2 cf-latency -m "$D/state.yaml" --cores 257 "$D/in.cf"
}

@test "the same, added up over the levels: as awk" {
    state_awk added >want
    { cat "$D/state.yaml" && echo 'latency_rule: added'; } >added.yaml
    costs -m added.yaml
    same want got
    # the two rules differ
    state_awk total >other
    run ! cmp -s want other
}

@test "a stream cut into other frames gives the same costs" {
    cf-latency -q -m "$D/state.yaml" "$D/in.cf" | rows access - >one.csv
    head -n 7001 "$D/in.csv" >a.csv
    { head -n 1 "$D/in.csv" && tail -n +7002 "$D/in.csv"; } >b.csv
    stream a.cf a.csv
    stream b.cf b.csv
    cf-latency -q -m "$D/state.yaml" a.cf b.cf | rows access - >two.csv
    same one.csv two.csv
}

@test "a small LEON4, by hand" {
    cat >leon.yaml <<'END'
line_size: 32
levels:
  - {name: L1, kind: data, size: 1KiB, ways: 4, write: through, allocate: false}
  - {name: L2, size: 4KiB, ways: 4}
latency: {L1: {load: 0, store: 1}, L2: {load: 20, load_after_store: 25, store: 10}, memory: {load: 100, store: 50}}
latency_rule: added
END
    # a store that the first level has comes to the second too
    stream in.cf <<'END'
op,addr,hit
load,0x40,255
load,0x60,2
store,0x60,1
load,0x80,2
load,0x80,1
store,0xa0,255
load,0xc0,255
END
    cf-latency -m leon.yaml in.cf | rows access - >out.csv
    run -0 column cost out.csv
    is "120
20
1
25
0
61
125"
}

@test "a summary alone has the cycles of the column, where they depend on the access before" {
    cat >dep.yaml <<'END'
line_size: 64
levels:
  - {name: L1I, kind: instruction, size: 1KiB, ways: 2}
  - {name: L1D, kind: data, size: 1KiB, ways: 2}
latency: {L1I: {ifetch: 10, ifetch_after_ifetch: 1}, L1D: 1, memory: 100}
END
    printf 'time,op,addr,hit\n1,ifetch,64,1\n' | stream in.cf
    run -0 cf-latency -q -m ./dep.yaml --summary in.cf
    is 'level,op,accesses,cycles,cycles_per_access,share_percent
L1I,ifetch,1,10,10.000,100.000'
    run -0 cf-latency -q -m ./dep.yaml --latency L1I.ifetch=5 --summary in.cf
    has 'L1I,ifetch,1,5,5.000'
}

@test "--latency of a level leaves its prefetches and flushes as they are" {
    cat >flush.yaml <<'END'
line_size: 64
levels: [{name: L1, size: 1KiB, ways: 2}]
latency: {L1: {load: 1, store: 1, ifetch: 1, store_after_load: 9, flush: 50}, memory: {load: 100, store: 100, ifetch: 100, prefetch: 30}}
END
    printf 'time,op,addr,hit\n1,flush,64,1\n2,prefetch,64,255\n3,load,64,1\n4,store,64,1\n' | stream in.cf
    cf-latency -q -m ./flush.yaml --latency memory=120 --latency L1=2 in.cf | rows access - >out.csv
    run -0 column cost out.csv
    is "50
30
2
2"
}

@test "--latency takes the place of what the description states" {
    costs -m "$D/plain.yaml" --latency L2=99 --latency L1D.store=5 --latency memory.load_after_store=7 --latency L3=0
    awk -F, 'NR > 1 {
        c = 0; cached = $4 == "load" || $4 == "store" || $4 == "ifetch"
        if ($7 == 1) c = $4 == "load" ? 4 : $4 == "store" ? 5 : $4 == "ifetch" ? 1 : $4 == "flush" ? 7 : 0
        if ($7 == 2) c = cached ? 99 : 0
        if ($7 == 255) {
            c = $4 == "load" ? (before == "store" ? 7 : 180) : $4 == "store" ? 90 : $4 == "ifetch" ? 200 : 0
            before = $4
        }
        print c }' "$D/in.csv" >want
    same want got
    # the last one about the same holds
    costs -m "$D/plain.yaml" --latency L2.load=1 --latency L2=99 --latency L1D.store=5 --latency L3=0 \
        --latency memory.load_after_store=7
    same want got
}

@test "--latency: wrong ones are refused" {
    local bad
    for bad in L2 L2= =3 L9=3 L2.fetch=3 L1D.ifetch=3 L2=-1 L2=1000000001 L2=x L2.load_after=3 . =; do
        run -2 cf-latency -m "$D/plain.yaml" --latency "$bad" "$D/in.cf"
        has "--latency"
    done
    run -2 cf-latency -m "$D/plain.yaml" --latency L9=3 "$D/in.cf"
    has "no level 'L9': give one of L1I, L1D, L2, L3, memory"
}

@test "a machine is needed, and one that loads" {
    run -2 cf-latency "$D/in.cf"
    has "no machine: give its description with -m"
    run -2 cf-latency -m no-such-machine "$D/in.cf"
    has "no machine of this name"
    printf 'line_size: 64\nlevels:\n  - {name: L1, size: 1KiB, ways: 2}\nlatency: {L1: {lod: 3}}\n' >bad.yaml
    run -2 cf-latency -m bad.yaml "$D/in.cf"
    has "bad.yaml:4: unknown key 'lod' in latency of L1"
}

@test "a latency that nobody states: status 2, the level, the file and what to give are named, no file is left" {
    sed '/^latency:/d' "$D/plain.yaml" >none.yaml
    run -2 --separate-stderr cf-latency -m none.yaml -o out.cf "$D/in.cf"
    has "none.yaml states no latency of a load at L1D" "$stderr"
    has "--latency L1I=CYCLES --latency L1D=CYCLES --latency L2=CYCLES --latency L3=CYCLES --latency memory=CYCLES" "$stderr"
    [[ -z $(find . -name 'out.cf*') ]]
    sed 's/latency:.*/latency: {L1I: 1, L1D: {load: 4}, L2: 12, L3: 40, memory: 180}/' "$D/plain.yaml" >part.yaml
    run -2 --separate-stderr bash -c 'cf-latency -m part.yaml "$1" >out.cf' - "$D/in.cf"
    has "part.yaml states no latency of a store at L1D" "$stderr"
    has "give --latency L1D.store=CYCLES" "$stderr"
    # who reads what was written so far is told that it was cut off
    run -1 cf-cat out.cf
    # levels that no access needs may be missing
    stream loads.cf <<<$'op,addr,hit\nload,0x40,1\nload,0x80,255'
    sed 's/latency:.*/latency: {L1D: {load: 4}, memory: 180}/' "$D/plain.yaml" >part.yaml
    cf-latency -m part.yaml loads.cf | rows access - >out.csv
    run -0 column cost out.csv
    is "4
180"
}

@test "unknown levels cost nothing, which is told" {
    local n
    n=$(awk -F, 'NR > 1 && $7 == 0' "$D/in.csv" | wc -l)
    run -0 --separate-stderr bash -c 'cf-latency -m "$1/plain.yaml" "$1/in.cf" >out.cf' - "$D"
    [[ $stderr == "cf-latency: $n accesses of unknown level or operation cost nothing" ]]
    run -0 --separate-stderr bash -c 'cf-latency -q -m "$1/plain.yaml" "$1/in.cf" >out.cf' - "$D"
    [[ -z $stderr ]]
    # of hardware: the first level missed, and nothing says who served
    stream in.cf <<<$'op,addr,level\nload,0x40,1\nload,0x80,254'
    run -0 --separate-stderr bash -c 'cf-latency --level-column level -m "$1/plain.yaml" in.cf >out.cf' - "$D"
    [[ $stderr == "cf-latency: 1 accesses of unknown level or operation cost nothing" ]]
}

@test "--retime refuses accesses of unknown address, whose costs no time can contain" {
    {
        printf 'time,op,addr,hit\n1,load,64,1\n' | stream /dev/stdout --clock instructions
        printf 'time,op,size,pc\n1,load,4,64\n' | stream /dev/stdout --table unplaced --clock instructions
    } >in.cf
    run -1 --separate-stderr cf-latency --retime -m "$D/plain.yaml" -o out.cf in.cf
    has 'table unplaced has accesses of unknown address, whose cost no time can contain' "$stderr"
    has_not 'cf-select' "$stderr"
}

@test "levels that the machine does not have: status 1, each told once, the rest gets its cost" {
    stream in.cf <<<$'op,addr,hit\nload,0x40,1\nload,0x80,7\nifetch,0x80,4\nload,0x80,7\nstore,0x40,255'
    run -1 --separate-stderr bash -c 'cf-latency -m "$1/plain.yaml" in.cf >out.cf' - "$D"
    has "column hit has a load that level 7 served, which $D/plain.yaml does not have" "$stderr"
    has "column hit has a ifetch that level 4 served" "$stderr"
    [[ $(wc -l <<<"$stderr") == 2 ]]
    wanting out.cf
    cf-cat --csv out.cf >out.csv 2>/dev/null || true
    run -0 column cost out.csv
    is "4
0
0
0
90"
}

@test "a stream without the column: status 1, and the column is named" {
    stream in.cf <<<$'op,addr\nload,0x40'
    run -1 --separate-stderr bash -c 'cf-latency -m "$1/plain.yaml" in.cf >out.cf' - "$D"
    has "column 'hit'" "$stderr"
    run -1 --separate-stderr bash -c 'cf-latency --level-column level -m "$1/plain.yaml" in.cf >out.cf' - "$D"
    has "column 'level'" "$stderr"
}

@test "accesses without operations are loads" {
    stream in.cf <<<$'addr,hit\n0x40,1\n0x80,255'
    cf-latency -m "$D/plain.yaml" in.cf | rows access - >out.csv
    run -0 column cost out.csv
    is "4
180"
}

@test "--summary: the sums of the column, and with -o the stream as well" {
    local f
    cf-latency -q -m "$D/plain.yaml" "$D/in.cf" | rows access - >out.csv
    # by level and operation, in the order of the description
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $at["hit"] == 0 { unknown += $at["weight"]; next }
        { h = $at["hit"]; op = $at["op"]
          name = h == 1 ? (op == "ifetch" ? "1L1I" : "2L1D") : h == 2 ? "3L2" : h == 3 ? "4L3" : "5memory"
          o = op == "load" ? 1 : op == "store" ? 2 : op == "ifetch" ? 3 : op == "prefetch" ? 4 : 5
          k = name o op; n[k] += $at["weight"]; c[k] += $at["weight"] * $at["cost"]; all += $at["weight"] * $at["cost"] }
        END { for (k in n) { l = k; gsub(/^[0-9]|[0-9][a-z]*$/, "", l); o = k; sub(/.*[0-9]/, "", o)
                  printf "%s %s,%s,%d,%d,%.3f,%.3f\n", k, l, o, n[k], c[k], c[k] / n[k], 100 * c[k] / all }
              printf "6 ,,%d,0,0.000,0.000\n", unknown }' out.csv | sort | sed 's/^[^ ]* //' >want
    [[ $(wc -l <want) == 21 ]]
    for f in in.cf in.packed.cf; do
        cf-latency -q -m "$D/plain.yaml" --summary "$D/$f" >got.csv
        [[ $(head -n 1 got.csv) == level,op,accesses,cycles,cycles_per_access,share_percent ]]
        tail -n +2 got.csv | sed 's/""//g' | same want - || fail "$f"
    done
    cf-latency -q -m "$D/plain.yaml" --summary -o both.cf "$D/in.cf" >again.csv
    same got.csv again.csv
    rows access both.cf >both.csv
    same out.csv both.csv
}

@test "sums and costs that are too large stay at the greatest number" {
    {
        echo line_size: 64
        echo levels:
        for i in 1 2 3 4 5; do echo "  - {name: L$i, size: 1KiB, ways: 2}"; done
        echo 'latency: {L1: 1000000000, L2: 1000000000, L3: 1000000000, L4: 1000000000, L5: 1000000000, memory: 0}'
        echo latency_rule: added
    } >large.yaml
    stream in.cf <<<$'addr,hit,weight\n0x40,4,1\n0x80,5,1\n0x80,255,4503599627370494'
    cf-latency -m large.yaml in.cf | rows access - >out.csv
    run -0 column cost out.csv
    is "4000000000
4294967295
4294967295"
    run -0 cf-latency -m large.yaml --summary in.cf
    has "memory,load,4503599627370494,18446744073709551615,"
}

@test "everything else is handed on" {
    local table
    printf 'time,pid,tid,parent,op,label\n0,10,10,1,begin,alpha\n5,10,11,1,begin,"beta, two"\n' >task.csv
    printf 'time,pid,tid,op,addr,bytes\n1,10,10,alloc,0x1000,64\n9,10,10,free,0x1000,64\n' >object.csv
    stream in.cf --with task=task.csv --with object=object.csv "$D/in.csv"
    cf-latency -q -m "$D/state.yaml" in.cf >out.cf
    for table in task object; do
        rows $table in.cf >want.csv
        rows $table out.cf >got.csv
        same want.csv got.csv
        [[ $(wc -l <got.csv) == 3 ]]
    done
    rows access in.cf >want.csv
    rows access out.cf >out.csv
    [[ $(head -n 1 out.csv) == "$(head -n 1 want.csv),cost" ]]
    sed 's/,[^,]*$//' out.csv | same want.csv -
    # a cost that was there is renewed
    cf-latency -q -m "$D/plain.yaml" out.cf | rows access - >again.csv
    cf-latency -q -m "$D/plain.yaml" in.cf | rows access - | same - again.csv
}

@test "unplaced accesses cost as others do, each after the access before it in time" {
    cat >m.yaml <<'END'
line_size: 32
levels:
  - {name: L1I, kind: instruction, size: 1KiB, ways: 2}
  - {name: L1D, kind: data, size: 1KiB, ways: 2, write: through, allocate: false}
  - {name: L2, size: 8KiB, ways: 4}
latency: {L1I: 0, L1D: 0, L2: {load: 10, store: 20, ifetch: 30, load_after_store: 100, load_after_load: 200}, memory: 1000}
latency_rule: added
END
    # the register of the last load is not known: it stands in unplaced
    printf '%s\n' '10  40000000  sethi  %hi(0x40010000), %g1      [40010000]' \
        '11  40000004  st  %g1, [%g1]                [40010000 40010000]' \
        '12  40010000  ahb write, mst=0, size=2         [40010000]' \
        '13  40000008  ldub  [%l0], %g4                 [00000041]' \
        '14  40010000  ahb read,  mst=0, size=4         [00000000]' \
        '15  4000000c  ld  [%g1 + 0x40], %g2         [00000007]' \
        '16  40010040  ahb read,  mst=0, size=4         [00000000]' \
        '17  40000010  nop                              [00000000]' >t.txt
    cf-capture leon4 -q t.txt | cf-classify -q --rule leon4 -m ./m.yaml >t.cf
    cf-latency -m ./m.yaml t.cf >out.cf
    cf-cat --verify out.cf
    run -0 bash -c 'cf-cat --csv --table unplaced --columns time,op,hit,cost out.cf'
    # the line was stored to: the second level has it, and the access before was a store
    is 'time,op,hit,cost
13,load,2,100'
    run -0 bash -c 'cf-cat --csv --columns time,op,hit,cost out.cf | grep -v ifetch'
    is 'time,op,hit,cost
11,store,255,1020
15,load,255,1200'
    # sums have them, too
    run -0 cf-latency -m ./m.yaml --summary t.cf
    has 'L2,load,1,100,'
    sed -i 's/, load_after.*200}/}/' m.yaml
    run -0 cf-latency -m ./m.yaml --summary t.cf
    has 'L2,load,1,10,'
    run -0 bash -c 'cf-latency -m ./m.yaml t.cf | cf-cat --csv --table unplaced --columns time,op,hit,cost'
    is 'time,op,hit,cost
13,load,2,10'
    # rows without the column pass as they are
    cf-capture leon4 -q t.txt | cf-cache -q -m ./m.yaml | cf-latency -q -m ./m.yaml | rows unplaced - >got
    cf-capture leon4 -q t.txt | rows unplaced - | same - got
}

@test "the latencies of leon4-n2x give the cycles of the paper's figure 2" {
    # 266 reads and 59 stores that memory served
    awk 'BEGIN { print "time,op,addr,hit"
        for (i = 0; i < 246; i++) print ++t ",ifetch,0,255"
        for (i = 0; i < 20; i++) print ++t ",load,0,255"
        for (i = 0; i < 59; i++) print ++t ",store,0,255" }' >a.csv
    stream a.cf a.csv
    run -0 bash -c "cf-latency -q -m leon4-n2x --summary a.cf | awk -F, '{ n += \$4 } END { print n }'"
    is 9694
}

@test "each installed description states what every access costs, and where that comes from" {
    local file name remark levels
    printf '%s\n' op,addr,hit load,0x40,1 store,0x40,1 ifetch,0x80,1 load,0x100,255 store,0x100,255 \
        ifetch,0x100,255 >one.csv
    stream one.cf one.csv
    { cat one.csv && printf '%s\n' load,0xc0,2 store,0xc0,2 ifetch,0xc0,2; } | stream two.cf
    for file in "$ROOT"/formats/machines/*.yaml; do
        name=$(basename "$file" .yaml)
        levels=two
        grep -q 'name: L2' "$file" || levels=one
        run -0 --separate-stderr cf-latency -m "$name" --summary $levels.cf
        remark=
        grep -q '^  estimate: ' "$file" && remark="cf-latency: the latencies of $name are an estimate: latency_source in its description says of what; state others by --latency"
        [[ $stderr == "$remark" && $(grep -cE '^(L1|L2|memory)' <<<"$output") == $([[ $levels == two ]] && echo 9 || echo 6) ]] || fail "$name: $stderr" "$output"
        run -0 --separate-stderr cf-latency -q -m "$name" --summary $levels.cf
        [[ -z $stderr ]] || fail "$name: $stderr"
        grep -qE '^  (manual|measured|derived|estimate): ' "$file" || fail "$name: of what grade?"
    done
}

@test "host: the latencies of the nearest described core, and it says whose they are" {
    in_emulation "/proc/cpuinfo is of another processor"
    linux_caches <<<$'1 Data 64K 4\n2 Unified 64K 4\n3 Unified 64K 4'
    stream loads.cf <<<$'op,addr,hit\nload,0x40,1\nload,0x80,2\nload,0x80,255'
    run -0 --separate-stderr cf-latency -m host --summary loads.cf
    [[ $stderr =~ ^"cf-latency: the latencies are those of "([a-z0-9-]+)" ("[^\)]*"), the nearest core that is described, and not this machine's" ]]
    is "$(cf-latency -m "${BASH_REMATCH[1]}" --summary loads.cf)"
    run -0 --separate-stderr cf-latency -q -m host --summary loads.cf
    [[ -z $stderr ]]
    # a level that the other machine does not have has none
    echo 4 >sys/devices/system/cpu/cpu0/cache/index2/level
    stream fourth.cf <<<$'op,addr,hit\nload,0x40,4'
    run -2 cf-latency -q -m host --summary fourth.cf
    has "states no latency of a load at L4"
}

@test "--retime: time is the instructions and costs so far, of random rows against awk" {
    sed 1q "$D/in.csv" >rows.csv
    sed 1d "$D/in.csv" | awk -F, -v OFS=, '{ $1 = 3 * NR; print }' >>rows.csv
    stream in.cf --clock instructions rows.csv
    cf-latency -q -m "$D/plain.yaml" --retime -o out.cf in.cf
    rows access out.cf >out.csv
    column time out.csv >have
    paste -d, <(sed 1d rows.csv) <(column cost out.csv) |
        awk -F, '{ printf "%.0f\n", $1 + sum; sum += $6 * $NF }' | same have -
    [[ $(cf-cat --info out.cf) == *'clock: {unit: "cycles"'* ]]
    # again, by other latencies: as if they were the first
    cf-latency -q -m "$D/plain.yaml" --retime --latency L1D=9 --latency memory=50 in.cf | rows access - >want
    cf-latency -q -m "$D/plain.yaml" --retime --latency L1D=9 --latency memory=50 out.cf | rows access - | same want -
    # not where the costs of what is gone are in its times
    printf 'time,pid,tid,cpu,op,addr,size,pc,hit\n1,1,1,0,load,64,8,7,255\n2,1,1,0,load,64,8,7,1\n3,1,1,0,load,64,8,7,1\n' >whole.csv
    stream whole.cf --clock instructions whole.csv
    cf-latency -q -m "$D/plain.yaml" --retime -o late.cf whole.cf
    for without in 'cf-select --op load' 'cf-cat --slice 2-9000' 'cf-cat --part 2/2' "cf-sample -m $D/plain.yaml --loads 1"; do
        $without -q -o less.cf late.cf
        run -1 cf-latency -q -m "$D/plain.yaml" --retime less.cf
        has "its times contain costs that column cost no longer states, or of accesses that are not there"
    done
    # all that was before is there
    for all in 'cf-cat --slice 0-200' 'cf-select --cpu 0'; do
        $all -q -o begin.cf late.cf
        cf-latency -q -m "$D/plain.yaml" --retime begin.cf | rows access - | same <(rows access begin.cf) -
    done
    cf-merge -q --renumber -o two.cf late.cf late.cf
    run -1 cf-latency -q -m "$D/plain.yaml" --retime two.cf
    has "less than the costs"
}

@test "--retime: rows of other tables get the time of the access that comes next, turns the count of their thread" {
    printf '%s\n' time,pid,tid,op,addr,hit 10,1,1,load,64,255 20,1,2,load,64,1 30,1,1,load,64,1 40,1,1,load,64,255 >a.csv
    printf '%s\n' time,pid,tid,cpu,count 10,1,1,0,0 20,1,2,0,0 25,1,1,0,10 >turns.csv
    printf '%s\n' time,pid,op,addr,bytes 5,1,alloc,64,8 20,1,alloc,128,8 35,1,free,64,0 90,1,free,128,0 >objects.csv
    stream a.cf --clock instructions --with switch=turns.csv --with object=objects.csv a.csv
    cf-latency -q -m "$D/plain.yaml" --retime a.cf >out.cf
    # 180 for memory, 4 for the first level
    run -0 cf-cat --csv --columns time,cost out.cf
    is "time,cost
10,180
200,4
214,4
228,180"
    run -0 cf-cat --csv --table switch --columns time,tid,count out.cf
    is "time,tid,count
10,1,0
200,2,0
209,1,190"
    # accesses that do not say whose they are: their costs are those of what ran
    for less in time,pid,op,addr,hit time,tid,op,addr,hit time,op,addr,hit; do
        cf-cat --columns $less a.cf | cf-latency -q -m "$D/plain.yaml" --retime >less.cf
        cf-cat --csv --table switch --columns time,tid,count less.cf | same <(printf '%s\n' "$output") -
    done
    run -0 cf-cat --csv --table object --columns time,addr out.cf
    is "time,addr
5,0x40
200,0x80
223,0x40
458,0x80"
    cf-cat --verify out.cf
}

@test "--retime: programs that miss fall behind when they are laid side by side" {
    for i in 1 2; do
        awk -v i=$i 'BEGIN { print "time,pid,tid,op,addr,hit"; for (k = 0; k < 100; k++) printf "%d,%d,%d,load,64,%d\n", k, i, i, i == 1 ? 255 : 1 }' |
            stream in$i.cf --clock instructions
        cf-latency -q -m "$D/plain.yaml" --retime -o out$i.cf in$i.cf
    done
    cf-merge -q out1.cf out2.cf | cf-cat --csv --columns pid - >order
    # the second is through when the first has made three accesses
    [[ $(grep -n 2 order | tail -n 1 | cut -d: -f1) == 104 ]] || fail "$(grep -n 2 order | tail -n 1)"
}

@test "--retime: another clock, several CPUs, processes side by side, and a summary alone are refused" {
    run -1 --separate-stderr cf-latency -q -m "$D/plain.yaml" --retime "$D/in.cf"
    has "it must count instructions" "$stderr"
    # of a stream without accesses that is not what is wrong; before and behind accesses it is
    printf 'experiment,time,repeat\nsize,5,0\n' | stream probe.cf --table probe --clock cycles
    run -1 --separate-stderr cf-latency -m "$D/plain.yaml" --retime probe.cf
    [[ $stderr == "cf-latency: probe.cf: there are records, but none of table access, "* && ${#stderr_lines[@]} == 1 ]]
    printf '%s\n' time,op,addr,hit 10,load,64,255 | stream counts.cf --clock instructions
    for files in 'probe.cf counts.cf' 'counts.cf probe.cf'; do
        # shellcheck disable=SC2086 # files
        run -1 --separate-stderr cf-latency -q -m "$D/plain.yaml" --retime $files
        has "the clock of the stream is 'cycles', it must count instructions" "$stderr"
    done
    printf '%s\n' time,pid,tid,cpu,op,addr,hit 10,1,1,0,load,64,255 20,1,1,1,load,64,1 | stream cpus.cf --clock instructions
    run -1 --separate-stderr cf-latency -q -m "$D/plain.yaml" --retime cpus.cf
    has "accesses of several CPUs" "$stderr"
    printf '%s\n' addr 64 | stream none.cf --clock instructions
    run -1 --separate-stderr cf-latency -q -m "$D/plain.yaml" --retime none.cf
    run -2 cf-latency -q -m "$D/plain.yaml" --retime --summary "$D/in.cf"
    # what was retimed, and then got other costs, has times of costs that nothing states
    printf '%s\n' time,op,addr,hit 10,load,64,255 20,load,64,1 | stream in.cf --clock instructions
    cf-latency -q -m "$D/plain.yaml" --retime in.cf | cf-latency -q -m "$D/plain.yaml" --latency memory=7 - >lost.cf
    run -1 --separate-stderr cf-latency -q -m "$D/plain.yaml" --retime lost.cf
    has "retime the stream from before" "$stderr"
}

@test "costs that depend on the access before: accesses that were taken out, or sampled, are reported" {
    local said="latencies of state depend on the access before, and"
    cf-capture csv -q "$D/in.csv" | cf-cat --columns time,pid,tid,op,addr,hit -o all.cf
    awk -F, 'NR == 1 { print $0 ",pc" } NR > 1 { print $0 "," NR }' OFS=, "$D/in.csv" | cut -d, -f1-5,7- |
        cf-capture csv -q -o pc.cf
    cf-sample -q -m "$D/state.yaml" --loads 9 --stores 9 -o samples.cf pc.cf
    cf-select -q --op load -o loads.cf all.cf
    for file in loads.cf samples.cf; do
        cf-latency -q -m "$D/plain.yaml" --summary $file 2>&1 | run ! grep depend
        for to in --summary '-o cost.cf'; do
            # shellcheck disable=SC2086
            run -0 --separate-stderr cf-latency -q -m "$D/state.yaml" $to $file
            has "$said" "$stderr"
        done
    done
    has "and the accesses are samples" "$stderr"
    # a column of what is left, and costs that were added before
    run -0 --separate-stderr cf-latency -q -m "$D/state.yaml" --summary all.cf
    [[ ! $stderr ]]
    cf-cache -q -m "$D/state.yaml" loads.cf -o again.cf
    run -0 --separate-stderr cf-latency -q -m "$D/state.yaml" --summary again.cf
    [[ ! $stderr ]]
}
