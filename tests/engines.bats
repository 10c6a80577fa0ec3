# SPDX-License-Identifier: BSD-2-Clause
#
# What the programs around the engines say of the same accesses has to agree: a cache misses where
# the stack distance is too large, a miss has a class, a curve and a sweep count what a cache of that
# size misses. Every identity is exact. It is tested row by row on random accesses and on slices of
# the samples, and by sums on whole samples.
# Takes long: slow references in awk.
load lib

setup_file() {
    export D=$BATS_FILE_TMPDIR
    PATH=${CF_B:-$BATS_TEST_DIRNAME/../build}/bin:$PATH
    local samples name
    samples=$(cd "$BATS_TEST_DIRNAME/../samples" && pwd)
    cd "$D" || return 1
    # Accesses of any size, which straddle lines: near ones, strides, far ones, and the same again.
    awk 'BEGIN {
        srand(11); print "pid,tid,op,size,addr,insns"
        for (i = 0; i < 40000; i++) {
            r = rand(); k = rand(); insns = 0
            if (r < .3) a = 65536 + int(rand() * rand() * 8192)
            else if (r < .5) a = 1048576 + (i % 700) * 512
            else if (r < .6) a = 4294967296 + int(rand() * 1e7)
            else if (r < .8) a = 2097152 + int(rand() * rand() * rand() * 300000)
            op = k < .5 ? "load" : k < .75 ? "store" : k < .8 ? "prefetch" : "ifetch"
            size = k >= .8 ? 4 + int(rand() * 100) : rand() < .05 ? int(rand() * 400) : 2 ^ int(rand() * 4)
            if (op == "ifetch") { a = 4194304 + a % 60000; insns = 1 + int(size / 4) }
            printf "7,%d,%s,%d,%d,%d\n", 7 + int(i / 300) % 3, op, size, a, insns
        } }' >random.csv
    # At the two ends of the address space; of size 0 and of many lines. Numbers that awk cannot
    # hold are put together from text.
    awk 'BEGIN {
        srand(12); print "pid,tid,op,size,addr"
        for (i = 0; i < 4000; i++) {
            size = rand() < .02 ? 100000 * int(rand() * 3) : int(rand() * 70)
            printf "7,%d,%s,%d,%s%04x\n", 7 + i % 2, rand() < .3 ? "store" : "load", size,
                rand() < .5 ? "0xffffffffffff" : "0x", int(rand() * 65536)
        } }' >ends.csv
    # Inside one line of 16 bytes each.
    awk 'BEGIN {
        srand(13); print "op,size,addr"
        for (i = 0; i < 30000; i++)
            printf "%s,4,%d\n", rand() < .3 ? "store" : "load",
                4 * int(rand() < .5 ? rand() * rand() * 3000 : (i % 300) * 64 + rand() * 2)
    }' >whole.csv
    # With lines removed in between.
    awk -F, 'BEGIN { srand(14) } { if (NR > 1 && $3 != "ifetch" && rand() < .1) sub(/load|store|prefetch/, "flush"); print }' \
        random.csv >flush.csv
    for name in random ends whole flush; do
        cf-capture csv -q $name.csv >$name.cf
        cf-capture csv -q -o $name.packed.cf $name.csv
        # as a slow pipe brings it: in frames of other lengths
        awk '{ print } NR == 101 || NR == 1012 || NR == 3003 { fflush(); system("sleep 0.3") }' $name.csv |
            cf-capture csv -q >$name.cut.cf
    done
    # two of them longer than a frame
    for name in gzip:180000 sort:220000 sqlite:180000 cc1:180000 threads:220000; do
        cf-cat --slice "150000-${name#*:}" "$samples/${name%:*}.cf" >"${name%:*}.cf"
        name=${name%:*}
        cf-cat -o $name.packed.cf $name.cf
    done
}

setup() {
    lib_setup
    STREAMS="random ends whole gzip sort sqlite cc1 threads"
    SAMPLES=$ROOT/samples
}

# one SETS WAYS LINE [KIND [POLICY]]: name of a description of one LRU cache for one core
one() {
    local file=one-$1-$2-$3-${4:-unified}-${5:-lru}.yaml
    printf 'line_size: %d\nlevels:\n  - {name: L1, size: %d, ways: %d, kind: %s, policy: %s}\n' \
        "$3" $(($1 * $2 * $3)) "$2" "${4:-unified}" "${5:-lru}" >"$file"
    echo "$file"
}

# GEOMETRIES: sets ways line
geometries() {
    cat <<'END'
64 8 64
1 16 32
1 1 64
48 3 64
7 5 16
128 4 32
1 1024 64
16 64 256
3 2 4096
END
}

# count COLUMN AWK-CONDITION-ON-v FILE: rows whose value fulfils the condition
count() {
    cf-cat --csv --columns "$1" "$3" | awk "NR > 1 { v = \$1 + 0; if ($2) n++ } END { print n + 0 }"
}

# field FILE.csv KEY-COLUMN KEY COLUMN...: sums of the columns over the rows with that key
field() {
    awk -F, -v key="$3" -v by="$2" -v columns="${*:4}" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; n = split(columns, name, " ")
                  for (i = 1; i <= n; i++) if (!(name[i] in at)) { print "no column " name[i] > "/dev/stderr"; exit 1 }
                  next }
        by == "" || $at[by] == key { for (i = 1; i <= n; i++) sum += $at[name[i]] }
        END { print sum + 0 }' "$1"
}

@test "a cache of one level misses exactly where the distance in the set is not below the ways, and these misses have a class" {
    local s sets ways line m
    for s in $STREAMS; do
        while read -r sets ways line; do
            m=$(one "$sets" "$ways" "$line")
            cf-cache -q -m "$m" "$D/$s.cf" | cf-distance -q --for unified --sets "$sets" --line-size "$line" |
                cf-classify -q -m "$m" | cf-cat --csv --columns dist,hit,class >rows.csv
            # of all equal rows, the first
            awk -F, -v ways="$ways" '
                NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
                $0 in known { next }
                { known[$0]; miss = $at["hit"] == 255; seen[miss]++
                  far = $at["dist"] + 0 >= ways
                  if (miss != far || miss != ($at["class"] != 0 && $at["class"] != "none")) { print "row " NR - 1 ": " $0; if (++bad == 5) exit 1 } }
                END { if (bad || !seen[0] && ways > 1 || !seen[1]) { print bad + 0 " wrong, hits " seen[0] + 0 ", misses " seen[1] + 0; exit 1 } }' \
                rows.csv >wrong || fail "$s, $sets sets of $ways ways of $line bytes:" "$(cat wrong)"
        done < <(geometries)
    done
}

@test "the class of a miss follows from the distance in the whole: compulsory, capacity, conflict" {
    local sets ways
    # accesses of one line each: of one that straddles, the row tells only the greatest
    while read -r sets ways _; do
        m=$(one "$sets" "$ways" 16)
        cf-classify -q -m "$m" "$D/whole.cf" | cf-distance -q --line-size 16 |
            cf-cat --csv --columns dist,class >whole.csv
        cf-distance -q --line-size 16 --sets "$sets" "$D/whole.cf" | cf-cat --csv --columns dist >set.csv
        paste -d, whole.csv set.csv | awk -F, -v ways="$ways" -v lines=$((sets * ways)) '
            NR == 1 { for (i = 1; i <= 2; i++) at[$i] = i; next }
            { whole = $at["dist"]; class = $at["class"]
              want = $3 + 0 < ways ? 0 : whole == "18446744073709551615" ? 1 : whole + 0 >= lines ? 2 : 3
              n[want]++
              if (class != want) { print "row " NR - 1 ": " $0 ", expected class " want; if (++bad == 5) exit 1 } }
            END { exit bad != 0 || !n[0] && ways > 1 || !n[1] }' >wrong ||
            fail "$sets sets of $ways ways:" "$(cat wrong)"
    done < <(geometries)
}

# sums_agree FILE SETS WAYS LINE KIND FOR
sums_agree() {
    local m want
    m=$(one "$2" "$3" "$4" "$5")
    cf-cache -q -m "$m" --summary "$1" >cache.csv
    want=$(field cache.csv level L1 misses prefetch_misses) # misses are those that a core waits for
    cf-classify -q -m "$m" --summary "$1" >class.csv
    [[ $(field class.csv level L1 misses) == "$want" ]] ||
        fail "$*: cf-classify has other misses" "$(cat cache.csv class.csv)"
    [[ $(field class.csv level L1 compulsory capacity conflict true_sharing false_sharing) == "$want" ]] ||
        fail "$*: the classes do not add up to $want" "$(cat class.csv)"
    cf-sweep -q --for "$6" --line-size "$4" --sets "$2-$2" --ways "$3" --min 64 "$1" >sweep.csv
    [[ $(field sweep.csv ways "$3" misses) == "$want" ]] ||
        fail "$*: cf-sweep has other misses" "$(cat cache.csv sweep.csv)"
    [[ $(field sweep.csv ways "$3" references) == "$(field cache.csv level L1 line_accesses prefetches)" ]] ||
        fail "$*: cf-sweep has other references" "$(cat cache.csv sweep.csv)"
}

@test "sums: cache, classes and sweep count the same references and misses, on whole samples, slices and random accesses" {
    local s f
    for s in gzip sort sqlite cc1 threads random ends; do
        f=$SAMPLES/$s.cf
        # of the others, and under the sanitizers, a slice has all the code, too
        [[ $s =~ gzip|cc1|threads ]] && ! sanitized || f=$D/$s.cf
        while read -r sets ways line; do
            sums_agree "$f" "$sets" "$ways" "$line" data data
        done < <(printf '%s\n' '64 8 64' '1 16 32' '1 1 64' '128 4 32')
    done
    sanitized && SAMPLES=$D
    for f in "$SAMPLES/cc1.cf" "$D/random.cf"; do
        sums_agree "$f" 32 4 64 instruction fetches
        sums_agree "$f" 1 64 128 instruction fetches
        sums_agree "$f" 32 4 64 unified unified
        sums_agree "$f" 512 2 16 unified unified
    done
}

@test "a curve has at each size the misses of a fully associative cache of that size, and with --sets of one with sets" {
    local s lines sets
    for s in $STREAMS; do
        cf-distance -q "$D/$s.cf" | cf-mrc -q --at 64,1K,4K,16K,64K >curve.csv
        for lines in 1 16 64 256 1024; do
            m=$(one 1 $lines 64 data)
            cf-cache -q -m "$m" "$D/$s.cf" | cf-select -q --op load,store,prefetch >hit.cf
            [[ $(field curve.csv size_bytes $((lines * 64)) misses) == "$(count hit 'v == 255' hit.cf)" ]] ||
                fail "$s, $lines lines: $(count hit 'v == 255' hit.cf) misses" "$(cat curve.csv)"
        done
        for sets in 16 48; do
            cf-distance -q --sets $sets "$D/$s.cf" | cf-mrc -q --at $((sets * 64 * 4)),$((sets * 64 * 8)) >curve.csv
            for ways in 4 8; do
                m=$(one $sets $ways 64 data)
                cf-cache -q -m "$m" "$D/$s.cf" | cf-select -q --op load,store,prefetch >hit.cf
                [[ $(field curve.csv size_bytes $((sets * ways * 64)) misses) == "$(count hit 'v == 255' hit.cf)" ]] ||
                    fail "$s, $sets sets of $ways: $(count hit 'v == 255' hit.cf) misses" "$(cat curve.csv)"
            done
        done
    done
}

@test "several processes and sets that are no power of two: distance, cache and sweep agree" {
    awk 'BEGIN {
        srand(3); print "time,pid,tid,op,size,addr"
        for (i = 0; i < 20000; i++)
            printf "%d,%d,%d,load,4,%d\n", i, 7 + int(rand() * 3), 1, int(rand() * 300) * 64
    }' | stream p.cf
    printf 'line_size: 64\nlevels:\n  - {name: L1, size: 12288, ways: 4}\n' >p.yaml
    cache=$(cf-cache -q -m ./p.yaml --cores 1 --summary p.cf | awk -F, '$1 == "L1" { print $5 }')
    curve=$(cf-distance -q --sets 48 p.cf | cf-mrc -q --at 12288 | awk -F, 'NR == 2 { print $5 }')
    sweep=$(cf-sweep -q --sets 48 --ways 4 p.cf | awk -F, 'NR == 2 { print $6 }')
    ((cache > 1000))
    [[ $cache == "$curve" && $cache == "$sweep" ]] || fail "cache $cache, curve $curve, sweep $sweep"
}

@test "a histogram of distances counts what a cache of any ways hits" {
    local s
    for s in random cc1; do
        cf-distance -q --sets 16 "$D/$s.cf" >dist.cf
        cf-histogram --column dist --bins exact dist.cf >histogram.csv
        for ways in 1 3 9; do
            m=$(one 16 $ways 64 data)
            cf-cache -q -m "$m" "$D/$s.cf" | cf-select -q --op load,store,prefetch >hit.cf
            [[ $(awk -F, -v ways=$ways 'NR > 1 && $1 ~ /^[0-9]+$/ && $1 < ways { for (i = 1; i <= NF; i++) if (h[i] == "count") n += $i }
                NR == 1 { for (i = 1; i <= NF; i++) h[i] = $i } END { print n }' histogram.csv) == "$(count hit 'v == 1' hit.cf)" ]] ||
                fail "$s, $ways ways: $(count hit 'v == 1' hit.cf) hits" "$(head -n 12 histogram.csv)"
        done
    done
}

@test "split first levels: data and instructions each have their own cache" {
    local s
    cat >split.yaml <<'END'
line_size: 64
levels:
  - {name: L1I, kind: instruction, size: 4KiB, ways: 2}
  - {name: L1D, kind: data, size: 2KiB, ways: 4}
END
    for s in random cc1; do
        cf-cache -q -m split.yaml "$D/$s.cf" | cf-classify -q -m split.yaml | cf-distance -q --for data --sets 8 >data.cf
        cf-distance -q --for fetches --sets 32 "$D/$s.cf" | cf-cat --csv --columns dist >fetch.csv
        cf-cat --csv --columns op,dist,hit,class data.cf | paste -d, - fetch.csv | awk -F, '
            NR == 1 { for (i = 1; i < NF; i++) at[$i] = i; next }
            { fetch = $at["op"] == "ifetch"
              far = fetch ? $5 + 0 >= 2 : $at["dist"] + 0 >= 4
              miss = $at["hit"] == 255; n[fetch miss]++
              if (miss != far || miss != ($at["class"] != 0)) { print "row " NR - 1 ": " $0; if (++bad == 5) exit 1 } }
            END { exit bad != 0 || !n["00"] || !n["01"] || !n["10"] || !n["11"] }' >wrong || fail "$s:" "$(cat wrong)"
    done
}

@test "the first level of a hierarchy is that of a cache alone, and the second sees its misses only" {
    local s
    cat >two.yaml <<'END'
line_size: 64
levels:
  - {name: L1, size: 2KiB, ways: 4}
  - {name: L2, size: 16KiB, ways: 8}
END
    m=$(one 8 4 64)
    for s in $STREAMS; do
        cf-cache -q -m "$m" "$D/$s.cf" | cf-cat --csv --columns hit | sed 's/255/2/' >one.csv
        cf-cache -q -m two.yaml "$D/$s.cf" | cf-cat --csv --columns hit | sed 's/255/2/' >two.csv
        same one.csv two.csv
        cf-cache -q -m two.yaml --summary "$D/$s.cf" >summary.csv
        cf-classify -q -m two.yaml --level L2 --summary "$D/$s.cf" >class.csv
        [[ $(field summary.csv level L2 misses prefetch_misses) == "$(field class.csv level L2 misses)" ]] ||
            fail "$s: the second level's misses differ" "$(cat summary.csv class.csv)"
        [[ $(field summary.csv level L1 misses prefetch_misses) == "$(field class.csv level L2 references)" ]] ||
            fail "$s: the second level's references are not the first's misses" "$(cat summary.csv class.csv)"
    done
}

# agree STREAM DEEPEST MACHINE OPTION...: a row has a class exactly where no level up to DEEPEST, which
# is the one that is classified, has served it. A flush is no miss.
agree() {
    local s=$1 deepest=$2
    shift 2
    cf-cache -q -m "${1}" "${@:2}" "$D/$s.cf" | cf-classify -q -m "$@" ${LEVEL:+--level "$LEVEL"} |
        cf-cat --csv --columns op,hit,class >rows.csv
    awk -F, -v deepest="$deepest" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $0 in known { next }
        { known[$0]; miss = $at["op"] != "flush" && $at["hit"] > deepest; seen[miss]++
          if (miss != ($at["class"] != 0)) { print "row " NR - 1 ": " $0; if (++bad == 5) exit 1 } }
        END { exit bad != 0 || !seen[0] || !seen[1] }' rows.csv >wrong ||
        fail "$s, $* ${LEVEL:-}:" "$(cat wrong)"
}

@test "cache and classes agree row by row: real machines, several cores, every policy, deeper levels, flushes" {
    local s m policy inclusion LEVEL
    for s in $STREAMS flush; do
        for m in raspberry-pi-4 tegra-x1 leon4-n2x xeon-6230 atom-d525; do
            agree "$s" 1 $m
            agree "$s" 1 $m --cores 1
        done
    done
    for policy in $(policies); do
        m=$(one 16 4 64 unified $policy)
        for s in random flush sqlite; do
            agree $s 1 "$m"
        done
    done
    for inclusion in non-inclusive inclusive exclusive; do
        printf 'line_size: 64\ncpus: 2\nlevels:\n  - {name: L1, size: 1KiB, ways: 2}\n  - {name: L2, size: 8KiB, ways: 4, shared_by: 2, inclusion: %s}\n' \
            $inclusion >$inclusion.yaml
        for s in random flush threads; do
            LEVEL=L1 agree $s 1 $inclusion.yaml
            [[ $inclusion != exclusive ]] || continue # of which cf-classify has no classes
            LEVEL=L2 agree $s 2 $inclusion.yaml
            LEVEL=L2 agree $s 2 $inclusion.yaml --cores 1
        done
    done
}

@test "costs are the levels' latencies times their accesses" {
    local s
    cat >cost.yaml <<'END'
line_size: 64
levels:
  - {name: L1, size: 2KiB, ways: 4}
  - {name: L2, size: 16KiB, ways: 8}
latency: {L1: 3, L2: 11, memory: 170}
END
    for s in $STREAMS; do
        cf-cache -q -m cost.yaml "$D/$s.cf" >hit.cf
        cf-latency -q -m cost.yaml hit.cf | cf-cat --csv --columns op,hit,cost >cost.csv
        cf-latency -q -m cost.yaml --summary hit.cf >summary.csv
        want=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } $at["op"] == "prefetch" { next }
            { h = $at["hit"]; sum += h == 1 ? 3 : h == 2 ? 11 : h == 255 ? 170 : -1e9 } END { print sum }' cost.csv)
        [[ $(field cost.csv "" "" cost) == "$want" ]] || fail "$s: costs add up to $(field cost.csv "" "" cost), not $want"
        [[ $(field summary.csv "" "" cycles) == "$want" ]] || fail "$s: not $want:" "$(cat summary.csv)"
        [[ $(field summary.csv "" "" accesses) == "$(($(wc -l <cost.csv) - 1))" ]] || fail "$s:" "$(cat summary.csv)"
    done
}

# the programs of this suite with arguments, one a line
annotators() {
    cat <<END
cf-distance
cf-distance --for unified --sets 48 --line-size 32
cf-distance --per thread --bound 100
cf-distance --rate 0.25
cf-distance --samples 100
cf-cache -m raspberry-pi-4
cf-cache -m leon4-n2x
cf-cache -m $T/all.yaml
cf-classify -m raspberry-pi-4
cf-classify -m $T/all.yaml
cf-classify -m $T/all.yaml --level L2
END
}

reducers() {
    cat <<END
cf-cache -m $T/all.yaml --summary
cf-classify -m $T/all.yaml --summary
cf-sweep
cf-histogram --column size
END
}

all_kinds() {
    cat >"$T/all.yaml" <<'END'
line_size: 64
cpus: 2
levels:
  - {name: L1I, kind: instruction, size: 1KiB, ways: 2, policy: fifo}
  - {name: L1D, kind: data, size: 1KiB, ways: 4}
  - {name: L2, size: 6KiB, ways: 3, shared_by: 2, policy: random, inclusion: inclusive}
  - {name: L3, size: 64KiB, ways: 16, shared_by: 2, policy: srrip}
latency: {L1I: 1, L1D: {load: 3, store: 2, load_after_store: 4}, L2: 9, L3: 30, memory: 100}
END
}

@test "the same input gives the same rows: twice, packed, and cut into other frames" {
    local s kind line p
    all_kinds
    for s in random ends; do
        cf-cat --csv "$D/$s.cf" >a.csv
        cf-cat --csv "$D/$s.cut.cf" >b.csv
        same a.csv b.csv
        run ! cmp -s "$D/$s.cf" "$D/$s.cut.cf" # the frames do differ
        while read -r line; do
            read -r -a p <<<"$line"
            "${p[@]}" -q "$D/$s.cf" >first.cf
            "${p[@]}" -q "$D/$s.cf" >second.cf
            cmp first.cf second.cf || fail "$line: other bytes when run again ($s)"
            cf-cat --csv first.cf >want.csv
            for kind in packed cut; do
                "${p[@]}" -q "$D/$s.$kind.cf" | cf-cat --csv >got.csv
                same want.csv got.csv || fail "$line: $s.$kind.cf gives other rows"
            done
            "${p[@]}" -q -o file.cf "$D/$s.packed.cf"
            cf-cat --csv file.cf >got.csv
            same want.csv got.csv || fail "$line: -o from $s.packed.cf gives other rows"
        done < <(annotators)
    done
}

@test "the same input gives the same table: twice, packed, cut into other frames, as file and as pipe" {
    local s kind line p
    all_kinds
    for s in random ends; do
        while read -r line; do
            read -r -a p <<<"$line"
            "${p[@]}" -q "$D/$s.cf" >want.csv
            [[ -s want.csv ]]
            for kind in "" .packed .cut; do
                "${p[@]}" -q "$D/$s$kind.cf" >got.csv
                same want.csv got.csv || fail "$line: $s$kind.cf gives another table"
                "${p[@]}" -q <"$D/$s$kind.cf" >got.csv
                same want.csv got.csv || fail "$line: $s$kind.cf as standard input gives another table"
            done
        done < <(reducers)
        for kind in "" .packed .cut; do
            cf-distance -q "$D/$s$kind.cf" | cf-mrc -q >mrc$kind.csv
            cf-distance -q "$D/$s$kind.cf" | cf-histogram -q >histogram$kind.csv
            cf-cache -q -m all.yaml "$D/$s$kind.cf" | cf-latency -q -m all.yaml --summary >latency$kind.csv
        done
        for p in mrc histogram latency; do
            same $p.csv $p.packed.csv
            same $p.csv $p.cut.csv
        done
    done
}
