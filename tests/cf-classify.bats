# SPDX-License-Identifier: BSD-2-Clause
#
# cf-classify: classes by hand, and against cf-cache row by row.
# Takes long: traces of millions of accesses.
load lib

# machine FILE LEVEL...: a description with these levels.
machine() {
    local file=$1 level
    shift
    {
        printf 'name: test\nline_size: %s\ncpus: %s\nlevels:\n' "${LINE:-64}" "${CPUS:-1}"
        for level in "$@"; do echo "  - {$level}"; done
    } >"$file"
}

# classes OPTION... FILE: the column, on one line.
classes() {
    cf-classify "$@" | cf-cat --csv --columns class | tail -n +2 | paste -s -d ' '
}

@test "compulsory, capacity and conflict by hand" {
    # two sets of one way; as one set of two ways, 0 and 128 would both stay
    machine m.yaml 'name: L1, size: 128, ways: 1'
    cat >a.csv <<'END'
time,op,addr,size
1,load,0,4
2,load,128,4
3,store,0,4
4,load,4,8
5,load,64,4
6,load,128,4
7,load,64,4
8,load,0,4
9,load,64,4
10,ifetch,192,4
END
    stream a.cf a.csv
    run -0 classes -m ./m.yaml a.cf
    # 4 hits; before 6 came 0, 64; 7 and 9 hit; 10 is new to the unified cache
    is "1 1 3 0 1 2 0 2 0 1"
    run -0 cf-classify -m ./m.yaml --summary a.cf
    is "level,op,references,misses,compulsory,capacity,conflict,true_sharing,false_sharing
L1,load,8,5,3,2,0,0,0
L1,store,1,1,0,0,1,0,0
L1,ifetch,1,1,1,0,0,0,0"
}

@test "of two lines that missed, the row has the class that is easier to avoid" {
    machine m.yaml 'name: L1, size: 128, ways: 1'
    cat >a.csv <<'END'
time,op,addr,size
1,load,0,4
2,load,128,4
3,load,60,8
4,load,192,4
5,load,124,8
END
    stream a.cf a.csv
    # 3: line 0 conflict, line 1 new; 5: line 1 conflict, line 2 gone from both caches
    run -0 classes -m ./m.yaml a.cf
    is "1 1 3 1 3"
    run -0 cf-classify -m ./m.yaml --summary a.cf
    is "level,op,references,misses,compulsory,capacity,conflict,true_sharing,false_sharing
L1,load,7,7,4,1,2,0,0"
}

@test "stores that do not allocate: what only they have touched was never in the cache" {
    machine m.yaml 'name: D, kind: data, size: 128, ways: 1, write: through, allocate: false'
    cat >a.csv <<'END'
time,op,addr,size
1,store,0,4
2,store,8,4
3,load,0,4
4,store,0,4
5,load,64,4
6,load,128,4
7,store,0,4
8,load,0,4
END
    stream a.cf a.csv
    # 1 and 2 bring nothing in, so 3 is the first that any cache could have; 7 and 8 were there, and
    # two lines of a fully associative cache do not suffice either
    run -0 classes -m ./m.yaml a.cf
    is "1 1 1 0 1 1 2 2"
    # the same by the engine that knows of other cores
    CPUS=2 machine two.yaml 'name: D, kind: data, size: 128, ways: 1, write: through, allocate: false'
    sed '1s/$/,cpu/; 2,$s/$/,0/' a.csv >b.csv
    printf '9,load,64,4,1\n10,store,8,4,1\n11,load,8,4,0\n12,store,320,4,1\n13,load,320,4,1\n' >>b.csv
    stream b.cf b.csv
    run -0 classes -m ./two.yaml b.cf
    is "1 1 1 0 1 1 2 2 1 1 4 1 1"
    # a program that fits has nothing but these
    cf-capture leon4 -q "$ROOT/samples/leon4/fits.hist" >fits.cf
    cf-classify -q -m leon4-n2x --summary fits.cf >sum.csv
    run -0 column capacity sum.csv
    is $'0\n0\n0'
}

@test "code against the instruction cache, data against the data cache" {
    machine m.yaml 'name: I, kind: instruction, size: 64, ways: 1' 'name: D, kind: data, size: 64, ways: 1'
    cat >a.csv <<'END'
time,op,addr,size,insns
1,ifetch,0,4,1
2,load,0,4,0
3,ifetch,0,4,1
4,load,64,4,0
5,ifetch,4,4,1
6,store,0,4,0
7,flush,0,4,0
8,prefetch,0,4,0
END
    stream a.cf a.csv
    run -0 classes -m ./m.yaml a.cf
    # a flush has no class; what it took is gone from the fully associative cache too
    is "1 1 0 1 0 2 0 2"
    run -0 cf-classify -m ./m.yaml --summary a.cf
    is "level,op,references,misses,compulsory,capacity,conflict,true_sharing,false_sharing
D,load,2,2,2,0,0,0,0
D,store,1,1,0,1,0,0,0
D,prefetch,1,1,0,1,0,0,0
I,ifetch,3,1,1,0,0,0,0"
}

@test "first levels of different depth: each access against the first of its kind alone" {
    machine d.yaml 'name: L1D, kind: data, size: 128, ways: 2' 'name: L2, size: 1KiB, ways: 1'
    printf 'time,op,addr\n1,load,0\n2,load,1024\n3,load,64\n4,load,0\n' >a.csv
    stream a.cf a.csv
    # the fourth misses L2 by conflict, with 1024
    run -0 classes -m ./d.yaml a.cf
    is "1 1 1 2"
    run -0 cf-classify -m ./d.yaml --summary a.cf
    is "level,op,references,misses,compulsory,capacity,conflict,true_sharing,false_sharing
L1D,load,4,4,3,1,0,0,0"
    # with a fetch between them, which finds what the loads brought
    printf 'time,op,addr\n1,load,0\n2,load,1024\n3,ifetch,1024\n4,ifetch,0\n5,load,0\n' >b.csv
    stream b.cf b.csv
    run -0 classes -m ./d.yaml b.cf
    is "1 1 0 3 0"
    run -0 cf-classify -m ./d.yaml --summary b.cf
    is "level,op,references,misses,compulsory,capacity,conflict,true_sharing,false_sharing
L1D,load,3,2,2,0,0,0,0
L2,ifetch,2,1,0,0,1,0,0"
    # a level by its depth
    run -0 cf-classify -m ./d.yaml --level 2 --summary a.cf
    by_depth=$output
    run -0 cf-classify -m ./d.yaml --level L2 --summary a.cf
    is "$by_depth"
    [ "${#lines[@]}" -gt 1 ]
    for level in 0 3 -1 2x; do
        run -2 cf-classify -m ./d.yaml --level=$level --summary a.cf
        has "--level '$level': test has no such level"
    done
    # the other way round, code stands before data
    machine i.yaml 'name: L1I, kind: instruction, size: 128, ways: 2' 'name: L2, size: 1KiB, ways: 1'
    sed 's/load/ifetch/' a.csv >c.csv
    stream c.cf c.csv
    run -0 classes -m ./i.yaml c.cf
    is "1 1 1 2"
}

@test "a flush takes a line from all instruction caches, and what they are compared with" {
    machine m.yaml 'name: I, kind: instruction, size: 1KiB, ways: 2' 'name: D, kind: data, size: 1KiB, ways: 2'
    printf 'time,op,addr\n1,ifetch,0x1000\n2,flush,0x1000\n3,ifetch,0x1000\n4,ifetch,0x1040\n5,flush,0x1000\n6,ifetch,0x1040\n' >a.csv
    stream a.cf a.csv
    run -0 classes -m ./m.yaml a.cf
    is "1 0 2 1 0 0"
    # of any core, whether data has caches of its own or the model's, and however the rows are cut
    for line in 64 32; do
        CPUS=2 machine m.yaml "name: I, kind: instruction, size: 1KiB, ways: 2, line_size: $line" \
            'name: D, kind: data, size: 1KiB, ways: 2'
        printf 'time,cpu,op,addr\n1,1,ifetch,0x1020\n' | stream a.cf
        printf 'time,cpu,op,addr\n1,0,flush,0x1000\n' | stream b.cf
        printf 'time,cpu,op,addr\n1,1,ifetch,0x1020\n2,0,ifetch,0x1020\n3,1,ifetch,0x1020\n' | stream c.cf
        run -0 classes -m ./m.yaml a.cf b.cf c.cf
        is "1 0 2 1 0" || fail "lines of $line bytes"
    done
}

@test "true and false sharing by hand" {
    CPUS=2 machine m.yaml 'name: D, kind: data, size: 4KiB, ways: 4'
    cat >a.csv <<'END'
time,pid,tid,op,addr,size
1,1,1,load,0,4
2,1,2,store,8,4
3,1,1,load,0,4
4,1,2,store,8,4
5,1,1,load,8,8
6,1,2,load,8,4
7,1,1,store,12,4
8,1,2,load,12,4
9,1,2,load,12,4
END
    stream a.cf a.csv
    run -0 classes -m ./m.yaml a.cf
    is "1 1 5 0 4 0 0 4 0"
    # on one core there is nothing to share
    run -0 classes -m ./m.yaml --cores 1 a.cf
    is "1 0 0 0 0 0 0 0 0"
    # column cpu goes before tid
    sed 's/^time,/time,cpu,/;2,$s/^\([0-9]*\),/\1,0,/' a.csv >b.csv
    stream b.cf b.csv
    run -0 classes -m ./m.yaml b.cf
    is "1 0 0 0 0 0 0 0 0"
    # two processes: the same address is other memory
    sed 's/,1,2,/,2,2,/' a.csv >c.csv
    stream c.cf c.csv
    run -0 classes -m ./m.yaml c.cf
    is "1 1 0 0 0 0 0 0 0"
}

@test "--level: the references are those that miss before it" {
    machine m.yaml 'name: L1, size: 64, ways: 1' 'name: L2, size: 256, ways: 1'
    # lines 0 and 4 share a set of L2, where four lines in all have room
    cat >a.csv <<'END'
time,op,addr,size
1,load,0,4
2,load,256,4
3,load,256,4
4,load,0,4
5,load,256,4
END
    stream a.cf a.csv
    run -0 classes -m ./m.yaml --level L2 a.cf
    is "1 1 0 3 3"
    run -0 cf-classify -m ./m.yaml --level L2 --summary a.cf
    is "level,op,references,misses,compulsory,capacity,conflict,true_sharing,false_sharing
L2,load,4,4,2,0,2,0,0"
    run -0 classes -m ./m.yaml --level L1 a.cf
    is "1 1 0 2 2"
}

# agree MACHINE ROWS SAMPLE OPTION...: in the first ROWS accesses there is a class exactly where
# cf-cache says that a level behind the first served. The samples have no flushes.
agree() {
    local m=$1 rows=$2 sample=$3
    shift 3
    cf-cache -q -m "$m" "$@" "$sample" | cf-classify -q -m "$m" "$@" |
        cf-cat --csv --columns hit,class | head -n $((rows + 1)) >rows.csv
    (($(wc -l <rows.csv) > 100000)) || fail "$m $sample $*: only $(wc -l <rows.csv) rows"
    ! grep -nm1 -xE '[01],.*[1-9].*|([2-9]|..+),0' rows.csv >why || fail "$m $sample $*: row $(cat why)"
}

@test "a class exactly where cf-cache found no hit, on all samples and machines" {
    local m s
    for s in "$ROOT"/samples/*.cf; do
        for m in tegra-x1 raspberry-pi-4; do
            agree $m 150000 "$s"
            # of the whole sample the sums, which take a tenth of the time of rows
            cf-cache -q -m $m --summary "$s" >sums.csv
            awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
                $1 == "L1D" { print "load", $at["load_misses"]; print "store", $at["store_misses"] }' sums.csv >want
            cf-classify -q -m $m --summary "$s" |
                awk -F, '$1 == "L1D" && ($2 == "load" || $2 == "store") { print $2, $4 }' | sort >got
            [[ $(wc -l <want) == 2 ]]
            same want got
        done
        agree xeon-6230 150000 "$s" --cores 1
        agree leon4-n2x 150000 "$s" --cores 1
    done
    for m in leon4-n2x atom-d525 zynq-ultrascale odroid-xu4; do
        agree $m 400000 "$ROOT/samples/threads.cf"
    done
}

@test "the classes of a deeper level sum up to what cf-cache sent on" {
    local s=$ROOT/samples/threads.cf
    cf-cache -q -m tegra-x1 "$s" | cf-classify -q -m tegra-x1 --level L2 |
        cf-cat --csv --columns hit,class |
        awk -F, 'NR > 1 && ($1 == 255) != ($2 > 0) { print; bad = 1; exit } END { exit bad }'
}

@test "--summary is the sum of the column, on the samples" {
    # of accesses of 4 bytes and less at multiples of 4, which touch one line each
    awk 'BEGIN { srand(5); print "time,pid,tid,op,addr,size"
        for (i = 0; i < 30000; i++) printf "%d,1,%d,%s,%d,%d\n", i, 1 + int(rand() * 3),
            rand() < .3 ? "store" : "load", 4 * int(rand() * rand() * 20000), 1 + int(rand() * 4) }' >a.csv
    stream a.cf a.csv
    cf-classify -q -m tegra-x1 a.cf | cf-cat --csv --columns op,class |
        awk -F, 'NR > 1 { n[$1]++; m[$1] += $2 > 0; c[$1 "," $2]++ }
            END { for (k in n) printf "L1D,%s,%d,%d,%d,%d,%d,%d,%d\n", k, n[k], m[k], c[k ",1"],
                c[k ",2"], c[k ",3"], c[k ",4"], c[k ",5"] }' | sort >want
    cf-classify -q -m tegra-x1 --summary a.cf >got.csv
    tail -n +2 got.csv | same want -
    awk -F, 'NR > 1 && ($4 != $5 + $6 + $7 + $8 + $9 || !($5 && $7 && $8 && $9)) { exit 1 }' got.csv
    # with -o the stream comes as well
    cf-cat -q --slice 0-300000 "$ROOT/samples/threads.cf" >s.cf
    cf-classify -q -m tegra-x1 --summary s.cf >got.csv
    cf-classify -q -m tegra-x1 --summary -o out.cf s.cf | same got.csv -
    cf-classify -q -m tegra-x1 s.cf | rows access >a
    rows access out.cf | same a -
}

@test "other tables and columns stay as they are, packed and raw, in one piece and in many" {
    local s=s.cf table
    # more than a few frames, of a packed file
    cf-cat -q --slice 0-300000 -o $s "$ROOT/samples/threads.cf"
    cf-classify -q -m raspberry-pi-4 "$s" >out.cf
    for table in task map object; do
        rows $table "$s" >want
        rows $table out.cf | same want -
    done
    cf-cat --csv --columns time,tid,op,size,addr,pc "$s" >want
    cf-cat --csv --columns time,tid,op,size,addr,pc out.cf | same want -
    cf-cat --csv --columns class out.cf >want
    cf-select --op load,store,ifetch,prefetch,flush "$s" | cf-classify -q -m raspberry-pi-4 |
        cf-cat --csv --columns class | same want -
}

@test "geometries: no power of two, one way, 64 ways, lines of 16 and of 256 bytes" {
    local line ways sets
    for line in 16 256; do
        for ways in 1 3 64; do
            for sets in 1 7 16; do
                printf 'line_size: %s\ncpus: 2\nlevels:\n  - {name: L1, kind: data, size: %s, ways: %s}\n' \
                    $line $((line * ways * sets)) $ways >m.yaml
                agree ./m.yaml 150000 "$ROOT/samples/threads.cf"
            done
        done
    done
}

@test "huge accesses and the end of the address space" {
    LINE=1024 machine m.yaml 'name: L1, size: 4KiB, ways: 4'
    cat >a.csv <<'END'
time,op,addr,size
1,load,0,4294967295
2,load,0xffffffffffffffff,4
3,store,0xfffffffffffffff0,4294967295
4,load,0,0
END
    stream a.cf a.csv
    # once for both, since it takes 8 million lines
    run -0 cf-classify -m ./m.yaml --summary -o classed.cf a.cf
    has "L1,load,4194306,4194306,4194305,1,0,0,0"
    run -0 cf-cat --csv --columns class classed.cf
    is "class
1
1
0
2"
}

@test "what cannot be done is said" {
    machine x.yaml 'name: L1, size: 4KiB, ways: 4' 'name: L2, size: 8KiB, ways: 4, inclusion: exclusive'
    CPUS=4 machine p.yaml 'name: L1, size: 4KiB, ways: 4' 'name: L2, size: 8KiB, ways: 4'
    CPUS=64 machine w.yaml 'name: L1, size: 4KiB, ways: 4'
    printf 'time,op,addr\n1,load,0\n' >a.csv
    stream a.cf a.csv
    run -2 cf-classify a.cf
    has 'description with -m'
    run -2 cf-classify -m ./none.yaml a.cf
    run -2 cf-classify -m ./p.yaml --rule nonsense a.cf
    has "--rule 'nonsense': give one of hill, leon4"
    run -2 cf-classify -m ./p.yaml --level L9 a.cf
    has "no such level"
    run -2 cf-classify -m ./p.yaml --cores 0 a.cf
    run -2 cf-classify -m ./p.yaml --level L2 a.cf
    has "--cores 1"
    CPUS=4 machine i.yaml 'name: L1I, kind: instruction, size: 4KiB, ways: 4' 'name: L2, size: 8KiB, ways: 4'
    run -2 cf-classify -m ./i.yaml a.cf
    has "--cores 1"
    run -2 cf-classify -m ./x.yaml --level L2 a.cf
    has "exclusive"
    run -2 cf-classify -m ./w.yaml a.cf
    has "--cores"
}

# ---- rule leon4 ----

# plain MODE FILE: the rule of the LEON4 profiling tool in another way, by times of last use: misses
# of each cache by class from a stream's rows; MODE is paper (no addresses of loads) or known.
plain() {
    {
        cf-cat --csv --table access --columns time,op,addr,level "$2" | sed '1d;s/$/,1/'
        cf-cat --csv --table unplaced --columns time,op,phys,level "$2" | sed '1d;s/$/,0/'
    } | sort -t, -s -k1,1n | awk -F, -v mode="$1" '
        function number(text,  i, v) {
            if (text !~ /^0x/) return text + 0
            for (i = 3; i <= length(text); i++) v = v * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
            return v
        }
        # the distance; enter: 0 only if it is below the ways
        function touch(c, line, sets, ways, enter,  s, d, i, k) {
            s = c "," line % sets
            k = s "," line
            if (!(k in last)) {
                if (enter) { lines[s]++; which[s "," lines[s]] = k; last[k] = ++now }
                return -1
            }
            for (i = 1; i <= lines[s]; i++)
                d += last[which[s "," i]] > last[k]
            if (enter || d < ways) last[k] = ++now
            return d + 0
        }
        function class(d, ways, sets) {
            return d < 0 ? "compulsory" : d < ways ? "" : d < sets ? "conflict" : d > sets ? "capacity" : "unclassified"
        }
        function second(line, op,  k) {
            k = class(touch("L2", line, 2048, 1, 1), 1, 2048)
            if (k != "") n["L2," op "," k]++
        }
        {
            known = $5 == 1 || number($3) > 0
            line = int(number($3) / 32)
            k = ""
            if ($2 == "ifetch") {
                k = class(touch("L1I", line, 128, 4, 1), 4, 128)
                if (k != "") n["L1I,ifetch," k]++
            } else if ($2 == "store") {
                if (!known) next
                touch("L1D", line, 128, 4, 0)
                second(line, "store")
                next
            } else if (mode == "paper") {
                k = $4 == 2 ? "compulsory" : ""
                if (k != "") n["L1D,load," k]++
            } else {
                d = known ? touch("L1D", line, 128, 4, 1) : 0
                k = class(d, 4, 128)
                if ($4 == 1) k = ""
                if ($4 == 2 && k == "") k = "unclassified"
                if (k != "") n["L1D,load," k]++
            }
            if (k != "" && known) second(line, $2)
        }
        END { for (k in n) print k "," n[k] }' | sort
}

# sums CSV: a summary of rule leon4, a line each class that has misses
sums() {
    awk -F, 'NR == 1 { for (i = 5; i <= 8; i++) name[i] = $i; next }
        { for (i = 5; i <= 8; i++) if ($i) print $1 "," $2 "," name[i] "," $i }
        $4 != $5 + $6 + $7 + $8 { print "the sum is wrong: " $0 }' "$1" | sort
}

import() { # PROGRAM [OPTION...]: of samples/leon4, to run.cf
    local s=$ROOT/samples/leon4/$1
    shift
    cf-capture leon4 -q "$@" -r -b "$s.ahb.raw" "$s.inst.raw" >run.cf
}

@test "rule leon4: the paper's procedure and the one with addresses, against a plain one, on the samples" {
    local p
    for p in fits overflow windows single-windows middle-windows long-windows; do
        import $p
        cf-classify -q --rule leon4 -m leon4-n2x --no-addresses --summary run.cf >got.csv
        plain paper run.cf >want
        sums got.csv | same want -
        cf-classify -q --rule leon4 -m leon4-n2x --summary run.cf >got.csv
        plain known run.cf >want
        [[ -s want ]]
        sums got.csv | same want -
    done
}

@test "rule leon4 on random runs of a processor, in the middle and from the beginning" {
    local seed
    for seed in 1 2 3; do
        make_leon4 hist seed=$seed count=12000 skip=$((seed * 1000 - 1000)) >hist.txt
        cf-capture leon4 -q hist.txt >run.cf
        cf-classify -q --rule leon4 -m leon4-n2x --no-addresses --summary run.cf >got.csv
        plain paper run.cf >want
        # fetches and data loads by hardware; the bus of that run is none of a cache, and may bring lines
        # that should have hit: those have no class, and the plain rule does not know them
        sums got.csv | grep L1 | grep -v 'L1I,ifetch,unclassified' | same <(grep L1 want) -
        cf-classify -q --rule leon4 -m leon4-n2x --summary run.cf >got.csv
        plain known run.cf >want
        sums got.csv | grep L1 | grep -v 'L1I,ifetch,unclassified' | same <(grep L1 want) -
    done
}

@test "rule leon4: with recovered addresses, misses are those of the full address stream" {
    local p
    for p in fits overflow windows; do
        import $p --miss line
        cf-classify -q --rule leon4 -m leon4-n2x --summary run.cf | sed 1d | grep -v store >got
        # the true addresses, without what the bus showed, between the same fetches
        {
            echo time,op,size,addr,pc,insns
            cf-cat --csv --table access --columns time,op,size,addr,pc,insns run.cf | grep ,ifetch,
            awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
                { print $at["time"] "," $at["op"] "," $at["size"] "," $at["addr"] "," $at["pc"] ",0" }' "$ROOT/samples/leon4/$p.csv"
        } | { read -r head; echo "$head"; sort -t, -s -k1,1n; } >true.csv
        stream true.cf true.csv
        cf-classify -q --rule leon4 -m leon4-n2x --summary true.cf | sed 1d | grep -v store | same - got
        # and as many as the other rule and cf-cache have
        cf-classify -q --rule hill -m leon4-n2x --summary true.cf | awk -F, '$2 != "store" { print $1, $2, $4 }' | sort >want
        awk -F, '$1 != "L2" { print $1, $2, $4 }' got | sort | same <(grep -v ^level want) -
    done
}

@test "rule leon4: columns by hand; thresholds on both sides" {
    cat >m.yaml <<'END'
line_size: 32
levels:
  - {name: I, kind: instruction, size: 256, ways: 2}
  - {name: D, kind: data, size: 256, ways: 2, write: through, allocate: false}
  - {name: L2, size: 1024, ways: 4, policy: master-index}
END
    # four sets: lines 0, 4, 8, ... share one; distance 1 hits, 2 and 3 conflict, 4 has no class, 5 capacity
    {
        echo time,op,addr,size
        local i t=0
        for i in 0 4 0 4 8 0 4 8 12 0 4 8 12 16 0 4 8 12 16 20 0; do
            echo $((++t)),ifetch,$((i * 32)),4
        done
    } >a.csv
    stream a.cf a.csv
    run -0 classes -m ./m.yaml --rule leon4 a.cf
    is "1 1 0 0 1 3 3 3 1 3 3 3 3 1 16 16 16 16 16 1 2"
    # a store does not bring its line in, and then the load is cold; what hardware says goes first
    cat >b.csv <<'END'
time,op,addr,size,level
1,store,0,4,0
2,load,0,4,0
3,load,4,4,2
4,load,128,4,1
5,store,0,4,0
6,load,8,4,0
END
    stream b.cf b.csv
    run -0 --separate-stderr cf-classify -m ./m.yaml --rule leon4 -o out.cf b.cf
    has '1 loads hit where the distance speaks of a miss' "$stderr"
    run -0 cf-cat --csv --columns op,hit,class,class_behind out.cf
    is "op,hit,class,class_behind
store,255,0,1
load,2,1,0
load,2,16,0
load,1,0,0
store,2,0,0
load,1,0,0"
    run -0 cf-classify -m ./m.yaml --rule leon4 --no-addresses --summary b.cf
    is "level,op,references,misses,compulsory,capacity,conflict,unclassified,unknown
D,load,4,1,1,0,0,0,2
D,store,2,0,0,0,0,0,0
L2,load,1,0,0,0,0,0,0
L2,store,2,1,1,0,0,0,0"
    # of two lines, one of no class, the other one's class counts, whichever comes first
    printf '%s\n' time,op,addr,size,level 1,load,0,4,2 2,load,28,8,2 3,load,96,4,2 4,load,92,8,2 \
        5,load,0,4,2 >c.csv
    stream c.cf c.csv
    run -0 classes -m ./m.yaml --rule leon4 c.cf
    is "1 1 1 1 16"
}

@test "rule leon4: a line that the bus read again is a miss of no class, a load's own read is not" {
    printf '%s\n' '10  40000000  sethi  %hi(0x40000000), %g1      [40000000]' \
        '12  40000000  ahb read,  mst=0, size=4         [0000000000000000 0000000000000000]' \
        '13  40000004  nop                              [00000000]' \
        '14  40000008  ld  [%g1 + 0x10], %g2            [00000007]' \
        '15  40000000  ahb read,  mst=0, size=4         [0000000000000000 0000000000000000]' \
        '16  4000000c  nop                              [00000000]' \
        '17  40000000  ahb read,  mst=3, size=4         [0000000000000000 0000000000000000]' \
        '18  40000010  nop                              [00000000]' >t.txt
    cf-capture leon4 -q t.txt >t.cf
    run -0 cf-classify -q --rule leon4 -m leon4-n2x --summary t.cf
    has 'L1I,ifetch,5,2,1,0,0,1,0'
    has 'L1D,load,1,1,1,0,0,0,0'
    # packed, and through a filter, it is the same
    cf-classify -q --rule leon4 -m leon4-n2x t.cf | cf-cat --csv --columns time,op,hit,class >want
    cf-capture leon4 -q -o t.packed.cf t.txt
    cf-classify -q --rule leon4 -m leon4-n2x t.packed.cf | cf-cat --csv --columns time,op,hit,class | same want -
    cf-select --op load,store,ifetch t.cf | cf-classify -q --rule leon4 -m leon4-n2x | cf-cat --csv --columns time,op,hit,class | same want -
    grep -q '^13,ifetch,2,16$' want
    # on one core alike, whichever CPU that is of; what other masters read is not its
    run -0 cf-classify -q --rule leon4 -m leon4-n2x --cores 1 --summary t.cf
    has 'L1I,ifetch,5,2,1,0,0,1,0'
    sed 's/mst=3/mst=2/;s/mst=0/mst=1/' t.txt | cf-capture leon4 -q -c 1 >t.cf
    for cores in 1 2 4; do
        run -0 cf-classify -q --rule leon4 -m leon4-n2x --cores $cores --summary t.cf
        has 'L1I,ifetch,5,2,1,0,0,1,0'
    done
}

@test "rule leon4: rows of unplaced keep their values and order, and get the columns; segments begin anew" {
    local m=$ROOT/samples/leon4/long-windows
    import long-windows
    cf-cat --csv --table unplaced run.cf >want
    (($(wc -l <want) > 20))
    cf-classify -q --rule leon4 -m leon4-n2x run.cf >out.cf
    cf-cat --verify out.cf
    cf-cat --csv --table unplaced out.cf | cut -d, -f1-7 | same want -
    rows bus run.cf >want
    rows bus out.cf | same want -
    cf-cat --csv --columns time,op,size,addr,pc,level,insns run.cf >want
    cf-cat --csv --columns time,op,size,addr,pc,level,insns out.cf | same want -
    cat run.cf run.cf | cf-classify -q --rule leon4 -m leon4-n2x >two.cf
    run -0 bash -c 'cf-cat --csv --table unplaced two.cf | grep -c ,load,'
    is "$((2 * $(cf-cat --csv --table unplaced run.cf | grep -c ,load,)))"
    # a stream that was cut off: what is there is still done
    head -c $(($(stat -c %s run.cf) / 2)) run.cf >cut.cf
    run -1 --separate-stderr cf-classify -q --rule leon4 -m leon4-n2x --summary cut.cf
    has 'L1D,load'
    [[ -n $stderr ]]
}

@test "rule leon4 wants what it wants" {
    printf 'time,op,addr\n1,load,0\n' >a.csv
    stream a.cf a.csv
    run -2 cf-classify --rule leon4 a.cf
    has 'description with -m'
    machine u.yaml 'name: L1, size: 4KiB, ways: 4'
    run -2 cf-classify --rule leon4 -m ./u.yaml a.cf
    has 'instruction cache'
    machine n.yaml 'name: I, kind: instruction, size: 4KiB, ways: 4' 'name: D, kind: data, size: 4KiB, ways: 4'
    sed -i '$a\  - {name: L2, kind: data, size: 8KiB, ways: 4}' n.yaml
    run -2 cf-classify --rule leon4 -m ./n.yaml a.cf
    has 'unified cache'
    machine l.yaml 'name: I, kind: instruction, size: 4KiB, ways: 4' 'name: D, kind: data, size: 4KiB, ways: 4' \
        'name: L2, size: 8KiB, ways: 4, line_size: 128'
    run -2 cf-classify --rule leon4 -m ./l.yaml a.cf
    has 'one size'
    machine t.yaml 'name: I, kind: instruction, size: 4KiB, ways: 4' 'name: D, kind: data, size: 4KiB, ways: 4' \
        'name: L2, size: 8KiB, ways: 4' 'name: L3, size: 16KiB, ways: 4'
    run -2 cf-classify --rule leon4 -m ./t.yaml a.cf
    has 'has a third level, L3'
    run -2 cf-classify --rule leon4 -m leon4-n2x --level L2 a.cf
    run -2 cf-classify --rule hill -m leon4-n2x --no-addresses a.cf
    has '--rule leon4'
}

@test "rule leon4, second level off: the classes of the first level are the same, and memory serves all misses" {
    local m=$ROOT/samples/leon4/middle-windows rule
    cf-capture leon4 -q "$m.hist" >run.cf
    for rule in leon4 'leon4 --no-addresses'; do
        # shellcheck disable=SC2086
        for machine in leon4-n2x leon4-n2x-l2-off; do
            cf-classify -q --rule $rule -m $machine -o $machine.cf run.cf
            cf-cat --csv --table access --columns op,class,hit,class_behind $machine.cf >$machine.csv
            cf-cat --csv --table unplaced --columns op,class,hit,class_behind $machine.cf >>$machine.csv
            cf-classify -q --rule $rule -m $machine --summary run.cf >$machine.sums
        done
        same <(cut -d, -f1,2 leon4-n2x.csv) <(cut -d, -f1,2 leon4-n2x-l2-off.csv)
        # on the board with a second level some load that misses is served by nobody known
        awk -F, '/^op/ { next } { n[$1, $3]++ } $3 == 2 || $4 { bad++ } $2 && $3 != 255 { bad++ } $1 == "store" && $3 != 255 { bad++ }
            END { exit bad || !n["load", 1] || !n["load", 255] || !n["store", 255] }' leon4-n2x-l2-off.csv
        same <(grep -v ^L2 leon4-n2x.sums) leon4-n2x-l2-off.sums
    done
    cf-cat --info leon4-n2x-l2-off.cf >info
    grep -q 'class_behind: .*level: "none"' info || grep -q none info
}

@test "rule hill adds column hit where the machine states latencies: what cf-cache says" {
    local s=$ROOT/samples/threads.cf
    cf-select --time -200000 "$s" >part.cf
    for cores in 1 4; do
        cf-cache -q -m leon4-n2x --cores $cores part.cf | cf-cat --csv --columns hit >want
        cf-classify -q -m leon4-n2x --cores $cores part.cf >out.cf
        cf-cat --csv --columns hit out.cf | same want -
    done
    sed '/^latency/,$d' "$ROOT/formats/machines/tegra-x1.yaml" >none.yaml
    run -0 bash -c 'cf-classify -q -m none.yaml part.cf | cf-cat --csv | head -n 1'
    has_not hit
    # a column that is there stays
    cf-cache -q -m tegra-x1 --cores 2 part.cf >cache.cf
    cf-cat --csv --columns hit cache.cf >want
    cf-classify -q -m leon4-n2x cache.cf | cf-cat --csv --columns hit | same want -
}

@test "--hit adds the column of any machine, in place of one that is there" {
    local s=$ROOT/samples/threads.cf
    cf-select --time -200000 "$s" >part.cf
    sed '/^latency/,$d' "$ROOT/formats/machines/tegra-x1.yaml" >none.yaml
    for cores in 1 4; do
        cf-cache -q -m none.yaml --cores $cores part.cf | cf-cat --csv --columns hit >want
        cf-cache -q -m leon4-n2x --cores 2 part.cf >other.cf
        for from in part.cf other.cf; do
            run -0 --separate-stderr cf-classify --hit -m none.yaml --cores $cores -o out.cf $from
            [[ $stderr != *"another machine"* && $stderr != *leon4-n2x* ]]
            cf-cat --csv --columns hit out.cf | same want -
            cf-cache -q -m none.yaml --cores $cores part.cf | cf-classify -q -m none.yaml --cores $cores |
                cf-cat --csv --columns hit,class >both
            cf-cat --csv --columns hit,class out.cf | same both -
        done
    done
    run -0 bash -c "cf-cat --info out.cf | grep '^  hit:'"
    has 'by: "cf-classify"'
    has_not LEON4
    run -2 cf-classify --hit --rule leon4 -m leon4-n2x part.cf
    has "--hit is for"
    run -2 cf-classify --hit --summary -m leon4-n2x part.cf
    has "--hit is for"
}

@test "an operation that does not exist is a load, with its classes in the summary" {
    machine m.yaml 'name: L1, size: 128, ways: 1'
    make_stream odd >a.cf
    run -0 cf-classify -m ./m.yaml --summary a.cf
    [ "${lines[1]}" = L1,load,3,3,2,0,1,0,0 ]
    CPUS=2 machine m.yaml 'name: L1, kind: data, size: 128, ways: 1'
    run -0 cf-classify -m ./m.yaml --summary a.cf
    [ "${lines[1]}" = L1,load,3,3,2,0,1,0,0 ]
}

@test "a store takes the longer line of a private second level from the others, both halves" {
    # rule hill leaves out levels that cannot act on the first; this one does
    CPUS=2 machine m.yaml 'name: L1, size: 1KiB, ways: 4' 'name: L2, size: 4KiB, ways: 4, line_size: 128'
    printf 'time,cpu,op,addr\n1,0,load,0\n2,0,load,64\n3,1,store,0\n4,0,load,64\n5,0,load,0\n' | stream a.cf
    # nobody wrote into the second half
    run -0 classes -m ./m.yaml a.cf
    is "1 1 1 3 4"
}

@test "processes, cores and two sizes of lines: a class where cf-cache found no hit" {
    local policy
    printf 'time,cpu,pid,op,addr\n1,1,1,load,0\n2,0,2,load,0\n' | stream a.cf
    CPUS=2 machine m.yaml 'name: L1I, kind: instruction, size: 128, ways: 1' \
        'name: L1D, kind: data, size: 768, ways: 1, line_size: 256, policy: fifo'
    run -0 classes -m ./m.yaml a.cf
    is "1 1"
    # sets that are no power of two, and the level for code behind that for data in the file
    for policy in lru random; do
        CPUS=2 machine m.yaml 'name: L1D, kind: data, size: 768, ways: 1, line_size: 128' \
            "name: L1I, kind: instruction, size: 1344, ways: 3, policy: $policy"
        seq 0 3000 | awk 'BEGIN { print "time,cpu,pid,op,addr" } { printf "%d,%d,%d,%s,%d\n", $1,
            int($1 / 40) % 2, int($1 / 100) % 3, $1 % 3 ? "ifetch" : "load", $1 * $1 % 61 * 64 }' | stream a.cf
        cf-cache -q -m ./m.yaml a.cf | cf-classify -m ./m.yaml | cf-cat --csv --columns hit,class |
            awk -F, 'NR > 1 && ($1 > 1) != ($2 > 0) { n++ } END { exit n > 0 || NR < 3000 }' ||
            fail "they differ with $policy"
    done
}

@test "threads that took turns: a warning once, and none when they are side by side or on one core" {
    local p
    cf-cat -q --slice 0-300000 -o turns.cf "$ROOT/samples/threads.cf"
    cf-merge -q --interleave --cores 2 -o side.cf turns.cf
    for p in cf-cache cf-classify; do
        for how in --summary -q; do
            run -0 --separate-stderr bash -c "$p -m raspberry-pi-4 $how turns.cf >out"
            [[ $stderr == "$p: threads took turns in this recording"*"cf-merge --interleave --cores 4"* &&
                $(wc -l <<<"$stderr") == 1 ]] || fail "$p $how: $stderr"
            for run in "$p -m raspberry-pi-4 $how side.cf" \
                "$p -m raspberry-pi-4 $how --cores 1 turns.cf" \
                "$p -m raspberry-pi-4 $how $ROOT/samples/sort.cf"; do
                run -0 --separate-stderr bash -c "$run >out"
                [[ -z $stderr ]] || fail "$run: $stderr"
            done
        done
    done
}

@test "processes of one thread each: a warning of their own, once, until one has threads" {
    printf 'time,pid,tid,op,addr\n1,1,1,load,0\n3,2,2,load,64\n5,1,1,load,128\n' >a.csv
    printf 'time,pid,tid\n0,1,1\n2,2,2\n4,1,1\n' >switch.csv
    stream a.cf --with switch=switch.csv a.csv
    for p in cf-cache cf-classify; do
        run -0 --separate-stderr bash -c "cat a.cf a.cf | $p -m raspberry-pi-4 --summary"
        [[ $stderr == *"$p: processes ran one after the other"* && $(grep -c 'processes ran' <<<"$stderr") == 1 ]] || fail "$stderr"
        ! has "threads took turns" "$stderr" || false
        run -0 --separate-stderr "$p" -m raspberry-pi-4 --cores 1 --summary a.cf
        ! has "processes ran" "$stderr" || false
    done
    sed 's/^5,1,1/5,1,9/' a.csv | stream b.cf --with switch=switch.csv
    run -0 --separate-stderr bash -c "cat a.cf b.cf | cf-cache -m raspberry-pi-4 --summary"
    has "processes ran one after the other" "$stderr"
    has "threads took turns" "$stderr"
}

@test "threads that took turns: not where column cpu says where they ran, nor in the next segment" {
    printf 'time,tid\n0,1\n2,2\n' >switch.csv
    printf 'time,cpu,tid,op,addr\n1,0,1,load,0\n3,1,2,load,64\n' | stream placed.cf --with switch=switch.csv
    printf 'time,tid,op,addr\n1,1,load,0\n3,2,load,64\n' | stream turns.cf --with switch=switch.csv
    printf 'time,tid,op,addr\n1,1,load,0\n3,2,load,64\n' | stream none.cf
    printf 'time,tid\n0,1\n2,1\n' >switch.csv
    printf 'time,tid,op,addr\n1,1,load,0\n3,1,load,64\n' | stream one.cf --with switch=switch.csv
    # in this part of it one runs, though the others are still listed
    cf-cat -q --slice 2-3 turns.cf >part.cf
    cat placed.cf none.cf one.cf part.cf >quiet.cf
    cat one.cf turns.cf turns.cf >loud.cf
    local p
    for p in cf-cache cf-classify; do
        run -0 --separate-stderr bash -c "$p -m raspberry-pi-4 --summary quiet.cf"
        [[ -z $stderr ]] || fail "$p: $stderr"
        run -0 --separate-stderr bash -c "$p -m raspberry-pi-4 --summary loud.cf"
        [[ $stderr == "$p: threads took turns"* && $(wc -l <<<"$stderr") == 1 ]] || fail "$p: $stderr"
    done
}

@test "threads that accesses do not tell apart: a warning once, where tables or --cores say that there are some" {
    local p how table
    printf 'time,pid,op,addr\n1,1,store,0\n3,1,store,4\n' >rows.csv
    stream plain.cf rows.csv
    printf 'time,pid,tid,op\n0,1,1,begin\n2,1,2,begin\n' >task.csv
    printf 'time,pid,tid\n0,1,1\n2,1,2\n' >switch.csv
    for table in task switch; do
        stream $table.cf --with $table=$table.csv rows.csv
        sed -i 's/,2/,1/g' $table.csv
        stream alone.$table.cf --with $table=$table.csv rows.csv
    done
    sed '1s/$/,cpu/; 2s/$/,0/; 3s/$/,1/' rows.csv | stream cpu.cf
    sed '1s/$/,tid/; 1!s/$/,1/' rows.csv | stream tid.cf
    for p in cf-cache cf-classify; do
        for how in --summary '-o o.cf' '--summary -j 2'; do
            for table in task switch '--cores 2 plain'; do
                run -0 --separate-stderr bash -c "$p -q -m raspberry-pi-4 $how $table.cf ${table##* }.cf"
                [[ $stderr == "$p: accesses have neither column tid nor cpu: the threads of a process are taken for one"* &&
                    $(wc -l <<<"$stderr") == 1 ]] || fail "$p $how $table: $stderr"
            done
            run -0 --separate-stderr bash -c "$p -q -m raspberry-pi-4 $how plain.cf alone.task.cf alone.switch.cf &&
                $p -q -m raspberry-pi-4 $how --cores 1 task.cf && $p -q -m raspberry-pi-4 $how --cores 2 tid.cf cpu.cf alone.task.cf alone.switch.cf"
            [[ -z $stderr ]] || fail "$p $how: $stderr"
        done
    done
}

@test "false sharing is found once the threads are side by side" {
    cat >counters.c <<'END'
#include <pthread.h>
static volatile int counter[2][16] __attribute__((aligned(64)));
static void *count(void *which)
{
    for (int i = 0; i < 20000; i++)
        ((volatile int *)counter)[(long)which]++;
    return which;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, count, (void *)1);
    count((void *)0);
    return pthread_join(t, 0);
}
END
    need valgrind "records the threads"
    ${CC:-cc} -O1 -pthread -o counters counters.c
    cf-capture-trace -q -o t.cf -- ./counters
    cf-merge -q --interleave --cores 2 -o side.cf t.cf
    run -0 bash -c 'cf-classify -q -m raspberry-pi-4 --cores 2 side.cf | cf-cat --csv --columns class | grep -c "^\(5\|false\)"'
    ((output > 10000)) || fail "$output misses by false sharing"
    run bash -c 'cf-classify -q -m raspberry-pi-4 --cores 2 t.cf 2>/dev/null | cf-cat --csv --columns class | grep -c "^\(5\|false\)"'
    ((output < 100)) || fail "$output misses by false sharing while they take turns"
}

@test "several machines: the summary of each, drawn side by side; for a summary of rule hill alone" {
    local s=$ROOT/samples/threads.cf m
    {
        echo "machine,$(cf-classify -q -m tegra-x1 --summary "$s" | head -n 1)"
        for m in tegra-x1 leon4-n2x; do cf-classify -q -m $m --summary "$s" | sed "1d; s/^/$m,/"; done
    } >want.csv
    cf-classify -q -m tegra-x1 -m leon4-n2x --summary --picture both.svg "$s" | same want.csv -
    cf-classify -q -m tegra-x1 --summary --picture one.svg "$s" >out
    (($(grep -c '<use ' both.svg) > $(grep -c '<use ' one.svg)))
    cf-classify -q -m tegra-x1 --summary --picture - "$s" >one.png
    [[ $(file one.png) == *"PNG image data, 900 x 500"* ]]
    run -2 cf-classify -m tegra-x1 -m leon4-n2x "$s"
    run -2 cf-classify -m tegra-x1 -m leon4-n2x --summary -o x.cf "$s"
    run -2 cf-classify --rule leon4 -m leon4-n2x -m leon4-n2x --summary "$s"
    run -2 cf-classify -m tegra-x1 --picture x.png "$s"
    # shellcheck disable=SC2046 # words are meant
    run -2 cf-classify $(printf -- '-m tegra-x1 %.0s' {1..17}) --summary "$s"
}

# agree OPTION... FILE...: their summary by 1 to 4 threads.
agree() {
    jobs_agree "$(few "1 3" "1 2 3 4")" cf-classify --summary "$@"
}

@test "several machines: in a small picture each bar has its name, and no number lies on the heading" {
    cf-classify -q -m raspberry-pi-4 -m xeon-6230 -m zynq-ultrascale --summary --picture small.png --picture-size 300x200 \
        "$ROOT/samples/sort.cf" >/dev/null
    # the second line of the names of two bars, and what is right of the heading
    [[ $(inks small.png 60-80 138-147) -gt 1 && $(inks small.png 98-120 138-147) -gt 1 ]]
    [[ $(inks small.png 219-240 35-48) == 1 ]]
}

@test "-j: byte for byte what one thread says, of levels alone and shared, of several machines" {
    local f
    machine two.yaml 'name: L1, size: 1KiB, ways: 2, policy: random' 'name: L2, size: 8KiB, ways: 4, line_size: 128'
    CPUS=4 machine split.yaml 'name: L1D, kind: data, size: 1KiB, ways: 2' \
        'name: L1I, kind: instruction, size: 1KiB, ways: 1' 'name: L2, size: 16KiB, ways: 4, shared_by: 4'
    CPUS=4 machine back.yaml 'name: L1, size: 1KiB, ways: 2, allocate: false' \
        'name: L2, size: 4KiB, ways: 4, shared_by: 4, inclusion: inclusive'
    # processes and threads, lines of more than one, flushes; more rows than a piece has, and columns that come and go
    awk 'BEGIN { srand(3); print "time,pid,tid,op,size,addr"
        for (i = 0; i < 60000; i++) { if (rand() < .05) { p = int(rand() * 2); t = int(rand() * 4) }
            a = rand() < .5 ? a + 8 : int(rand() * rand() * 65536); r = rand()
            printf "%d,%d,%d,%s,%d,%d\n", i, 1 + p, 10 * p + t, r < .3 ? "store" : r < .5 ? "ifetch" : r < .502 ? "flush" : "load",
                rand() < .02 ? 200 : 4, a } }' | stream mixed.cf
    printf 'op,addr\nload,0x40\nstore,0x80\n' | stream bare.cf
    cf-cat -q -o packed.cf mixed.cf bare.cf mixed.cf
    for f in mixed.cf packed.cf "$ROOT/samples/threads.cf"; do
        agree -q -m ./two.yaml --cores 1 "$f"
        agree -q -m ./two.yaml --cores 1 --level 2 "$f"
        agree -q -m ./split.yaml "$f"
        agree -q -m ./split.yaml --level L2 "$f"
        agree -q -m ./back.yaml "$f"
        agree -q -m ./two.yaml -m ./split.yaml -m ./back.yaml --cores 4 --level L2 "$f"
    done
    agree -q -m ./split.yaml mixed.cf bare.cf mixed.cf
    agree -q -m tegra-x1 "$ROOT/samples/sqlite.cf"
    agree -q -m xeon-6230 -m atom-d525 "$ROOT/samples/sqlite.cf"
    cf-classify -q -m ./split.yaml --summary mixed.cf >one.csv
    cf-cat -q mixed.cf | cf-classify -q -m ./split.yaml -j 2 --summary | same one.csv -
}

@test "-j: what threads cannot do is done by one, which is said" {
    local said
    machine m.yaml 'name: L1, size: 1KiB, ways: 2'
    printf 'op,addr,size\nload,0,4\nstore,0,20000000\nload,8,8\n' | stream long.cf
    printf 'op,addr,size\nload,0,4\nload,64,4\nload,0,4\n' | stream a.cf
    said='accesses of very many lines: one thread does those parts' agree -m ./m.yaml a.cf long.cf a.cf
    said='is for --rule hill alone: one thread does it all' agree -m leon4-n2x --rule leon4 a.cf
    run -0 --separate-stderr bash -c "cf-classify -m ./m.yaml -j 2 a.cf | cmp - <(cf-classify -m ./m.yaml a.cf)"
    [[ $stderr == "cf-classify: --jobs: is for a --summary alone: one thread does it all" ]]
    run -0 --separate-stderr bash -c "cf-classify -q -m ./m.yaml -j 2 a.cf >/dev/null"
    [[ ! $stderr ]]
    run -2 cf-classify -m ./m.yaml -j 0 --summary a.cf
    run -2 cf-classify -m ./m.yaml -j 257 --summary a.cf
}

@test "-j: damage, and a full disk" {
    local at f=$ROOT/samples/sqlite.cf
    machine m.yaml 'name: L1, size: 32KiB, ways: 8'
    for at in 100 200000 300000 $(($(stat -c %s "$f") - 8)); do
        head -c $at "$f" >cut.cf
        agree -m ./m.yaml cut.cf
        cp "$f" bad.cf && printf '\377\377\377' | dd of=bad.cf bs=1 seek=$at conv=notrunc 2>dd.txt
        agree -m ./m.yaml bad.cf
    done
    agree -m tegra-x1 bad.cf "$ROOT/samples/sort.cf" cut.cf
    run -3 --separate-stderr bash -c "cf-classify -q -m ./m.yaml -j 2 --summary '$f' >/dev/full"
    has "No space left" "$stderr"
}

@test "--partial: parts of real traces and of several processes, joined: as of the whole" {
    local f n i
    machine split.yaml 'name: L1D, kind: data, size: 2KiB, ways: 4' 'name: L1I, kind: instruction, size: 1KiB, ways: 2' \
        'name: L2, size: 256KiB, ways: 8, policy: random'
    machine one.yaml 'name: L1, size: 1KiB, ways: 1, policy: fifo'
    machine full.yaml 'name: L1, size: 4KiB, ways: 64' 'name: L2, size: 64KiB, ways: 4'
    machine odd.yaml 'name: L1, size: 3KiB, ways: 4'
    for f in sqlite cc1 sort threads; do
        in_parts 3 "$ROOT/samples/$f.cf" cf-classify -q --summary -m ./split.yaml
        in_parts 7 "$ROOT/samples/$f.cf" cf-classify -q --summary -m ./odd.yaml
        has ,conflict "$(<one.csv)"
    done
    # processes that come in another order in each part, in frames of some hundred rows
    awk 'BEGIN { srand(5); print "time,pid,op,size,addr"
        for (i = 0; i < 60000; i++) { if (rand() < .01) p = int(rand() * 7)
            a = rand() < .5 ? a + 8 : int(rand() * rand() * 16384)
            op = rand() < .3 ? "store" : rand() < .2 ? "ifetch" : rand() < .1 ? "prefetch" : "load"
            printf "%d,%d,%s,%d,%d\n", i, 1 + p, op, rand() < .02 ? 200 : 4, a } }' >rows.csv
    for ((i = 0; i < 60; i++)); do
        { head -n 1 rows.csv; sed -n "$((2 + 1000 * i)),$((1001 + 1000 * i))p" rows.csv; } | cf-capture-csv -q -o f.$i.cf -
    done
    cf-cat -q -o many.cf $(seq -f f.%g.cf 0 59)
    for n in 1 2 7 20; do
        in_parts $n many.cf cf-classify -q --summary -m ./split.yaml
        in_parts $n many.cf cf-classify -q --summary -m ./full.yaml
        # several machines, of which one has a first level only
        in_parts $n many.cf cf-classify -q --summary -m ./one.yaml -m ./split.yaml -m ./full.yaml
    done
    [[ $(wc -l <one.csv) -eq 13 ]]
    in_parts 5 many.cf cf-classify -q --summary -m ./split.yaml --level L1D
    in_parts 5 many.cf cf-classify -q --summary -m ./split.yaml --level L1I
    # without columns that need not be there
    for f in op,addr addr pid,addr,size; do
        cf-cat -q --columns $f -o few.cf many.cf
        in_parts 3 few.cf cf-classify -q --summary -m ./split.yaml
    done
    # where some parts name processes and others do not
    cf-cat -q --columns op,addr -o f.30.cf f.31.cf
    cf-cat -q --columns op,addr -o f.31.cf f.32.cf
    cf-cat -q -o some.cf $(seq -f f.%g.cf 0 59)
    in_parts 60 some.cf cf-classify -q --summary -m ./split.yaml
    # a line that is used for the first time in one part, and in the next in a set that it shares
    in_parts 60 many.cf cf-classify -q --summary -m ./one.yaml
    # each machine's caches go on where the part before has left them, or these would be misses
    cf-classify -q -m ./one.yaml --summary p.2.cf 2>err.txt && fail "a part alone: $(<err.txt)"
    has "p.2.cf: part 2 of 60, where part 1 is due" "$(<err.txt)"
}

@test "--partial: lines that the cache holds alone are older than those of a fully associative one" {
    machine m.yaml 'name: L1, size: 16KiB, ways: 4'
    # half of the sets are filled; then 257 lines of the other half, of which the last 256 come again
    awk 'BEGIN { print "time,addr"
        for (i = 0; i < 128; i++) print ++t "," 64 * (32 + i % 32 + 64 * int(i / 32))
        for (i = 0; i < 257; i++) print ++t "," 64 * (i % 32 + 64 * (10 + int(i / 32))) }' | cf-capture-csv -q -o f.0.cf -
    awk 'BEGIN { print "time,addr"
        for (i = 1; i < 257; i++) print 385 + ++t "," 64 * (i % 32 + 64 * (10 + int(i / 32))) }' | cf-capture-csv -q -o f.1.cf -
    cf-cat -q -o a.cf f.0.cf f.1.cf
    in_parts 2 a.cf cf-classify -q --summary -m ./m.yaml
    [[ $(sed -n 2p two.csv) == L1,load,641,641,385,0,256,0,0 ]] || fail "$(<two.csv)"
}

@test "--partial: what has no such parts, and parts that do not go together, are refused" {
    local options said k
    machine m.yaml 'name: L1, size: 1KiB, ways: 2'
    machine fifo.yaml 'name: L1, size: 1KiB, ways: 2, policy: fifo'
    machine through.yaml 'name: L1, size: 1KiB, ways: 2, write: through'
    machine inclusive.yaml 'name: L1, size: 1KiB, ways: 2' 'name: L2, size: 8KiB, ways: 4, inclusion: inclusive'
    machine two.yaml 'name: L1, size: 1KiB, ways: 2' 'name: L2, size: 8KiB, ways: 4'
    machine three.yaml 'name: L1, size: 384, ways: 2'
    LINE=4 machine short.yaml 'name: L1, size: 256, ways: 2'
    CPUS=2 machine cores.yaml 'name: L1, size: 1KiB, ways: 2'
    awk 'BEGIN { print "time,pid,op,size,addr"
        for (i = 0; i < 3000; i++) print i "," (i < 1500 ? 1 + int(i / 300) % 2 : 3 - int(i / 300) % 2) ",load,4," i * 64 % 4096 }' >rows.csv
    for k in 0 1; do
        { head -n 1 rows.csv; sed -n "$((2 + 1500 * k)),$((1501 + 1500 * k))p" rows.csv; } | cf-capture-csv -q -o f.$k.cf -
    done
    cf-cat -q -o a.cf f.0.cf f.1.cf
    sed 's/,load,4,0$/,flush,4,0/' rows.csv | cf-capture-csv -q -o flush.cf -
    cut -d, -f1,3- rows.csv | cf-capture-csv -q -o nowhere.cf -
    cf-cat -q -o mixed.cf f.0.cf nowhere.cf
    awk -F, -v OFS=, 'NR > 1 { $2 += int(NR / 400) * 100 } { print }' rows.csv | cf-capture-csv -q -o many.cf -
    while IFS='|' read -r options said; do
        # shellcheck disable=SC2086
        run -2 cf-classify --partial $options
        has "$said"
    done <<'END'
-m ./m.yaml a.cf|--partial goes with a --summary of --rule hill alone
-m ./m.yaml --summary -o x.cf a.cf|--partial goes with a --summary of --rule hill alone
-m ./m.yaml --summary --picture x.png a.cf|--partial goes with a --summary of --rule hill alone
-m leon4-n2x --rule leon4 --summary a.cf|--partial goes with a --summary of --rule hill alone
-m ./m.yaml --summary -j 2 a.cf|--partial does not go with --jobs: take more parts
-m ./cores.yaml --summary a.cf|--partial: it is for one core, and there are more: give --cores 1
-m ./fifo.yaml --summary a.cf|L1 does not replace by LRU: run it on the whole
-m ./through.yaml --summary a.cf|L1 writes through, or does not allocate at stores
-m ./inclusive.yaml --summary a.cf|L2 acts on the levels before it
-m ./two.yaml --level L2 --summary a.cf|L2 is not the first level
-m ./m.yaml --summary flush.cf|--partial: flushes take out lines that a part does not know
-m ./short.yaml --summary many.cf|more than 2 processes, which lines of 4 bytes do not allow
END
    run -1 --separate-stderr cf-classify --partial -m ./m.yaml --summary mixed.cf
    has "--partial: some accesses say which process they are of, and some do not" "$stderr"
    in_parts 2 f.0.cf cf-classify -q --summary -m ./short.yaml
    for k in 1 2; do
        cf-cat --part $k/2 a.cf | cf-classify -m ./three.yaml --summary --partial >three.$k.cf
        cf-cat --part $k/2 a.cf | cf-classify -m ./m.yaml --summary --partial >p.$k.cf
    done
    cf-cat -q -o b.cf f.0.cf f.0.cf
    cf-cat --part 2/2 b.cf | cf-classify -m ./m.yaml --summary --partial >b.2.cf
    cf-cat --part 1/3 mixed.cf | cf-classify -m ./m.yaml --summary --partial >third.cf
    # shellcheck disable=SC2016
    run -1 bash -c 'cf-cat --part 2/2 a.cf | cf-classify -q -m ./m.yaml | cf-classify -q -m ./m.yaml --summary --partial >through.cf'
    has "cf-classify was run on the part alone"
    head -c $(($(stat -c %s p.2.cf) - 40)) p.2.cf >cut.cf
    cf-classify -m ./m.yaml --summary a.cf >one.csv
    cat p.1.cf p.2.cf | cf-classify -m ./m.yaml --summary | cmp - one.csv
    cf-classify -q -m ./m.yaml --summary -j 2 p.1.cf p.2.cf | cmp - one.csv
    while IFS='|' read -r options said; do
        # shellcheck disable=SC2086
        run --separate-stderr cf-classify --summary $options
        [[ $status -eq 1 ]] || fail "$options: $output $stderr"
        has "$said" "$stderr"
        [[ ! $output ]]
    done <<'END'
-m ./m.yaml p.2.cf p.1.cf|p.2.cf: part 2 of 2, where part 1 is due
-m ./m.yaml p.1.cf|part 2 of 2 is missing
-m ./m.yaml p.1.cf b.2.cf|a part of another file
-m ./m.yaml p.1.cf p.1.cf|which came already
-m ./m.yaml p.1.cf third.cf|third.cf: a part of another file than the partial results before
-m ./m.yaml p.1.cf cut.cf|not whole
-m ./m.yaml p.1.cf a.cf|a recording behind a partial result
-m ./m.yaml a.cf p.1.cf|a partial result behind a recording
-m ./three.yaml p.1.cf p.2.cf|with other options
-m ./fifo.yaml p.1.cf p.2.cf|with other options
-m ./m.yaml --level L1 -m ./m.yaml p.1.cf p.2.cf|with other options
-m ./m.yaml --partial p.1.cf|cannot make another
-m ./three.yaml three.1.cf three.2.cf|three.2.cf: process 2 is not the same in the order of the part's processes
END
    # other programs, and other uses of this one, refuse it
    run -1 cf-classify -m ./m.yaml -o x.cf p.1.cf
    run -1 cf-cache -m ./m.yaml --cores 1 --summary p.1.cf p.2.cf
}

@test "refused: rows of partial results that cf-classify does not write" {
    local good options
    printf 'time,op,addr\n1,load,0\n' | stream in.cf
    made() { tr '|' '\n' <<<"$1" | make_partial cf-classify "$options" >made.cf; }
    damaged() { # FROM TO: the good one with another text
        [[ $good == *"$1"* ]]
        made "${good/"$1"/"$2"}"
        run -1 --separate-stderr cf-classify --summary -m ./m.yaml made.cf
        has "made.cf: a partial result with rows that no program writes: damaged" "$stderr"
        [[ ! $output ]]
    }
    machine m.yaml 'name: L1D, kind: data, size: 1KiB, ways: 2' 'name: L1I, kind: instruction, size: 1KiB, ways: 2'
    cf-classify -m ./m.yaml --summary --partial in.cf >p.cf
    options=$(grep -ao 'rule hill[^"]*' p.cf | head -n 1)
    good='segment 1|row 1 7 0 0|row 2 0 1 0|row 3 0 1 0|sums 4 0 0 3|sums 4 1 0 3|row 5 0 0 0'
    made "$good"
    cf-classify -m ./m.yaml --summary made.cf >made.csv
    # 3 of each operation, and of the two classes that are written down; one line was used first
    [[ $(sed -n 2p made.csv) == L1D,load,3,7,1,3,3,0,0 ]]
    damaged 'row 1 7 0 0' 'row 1 4294967296 0 0'            # a pid of more than 32 bits
    damaged 'row 1 7 0 0' "row 1 7 0 0$(printf '|row 1 %d 0 0' $(seq 8 50))" # more than there is room for
    damaged 'row 1 7 0 0' 'row 1 7 256 0'                   # of a machine that there is not
    damaged 'row 2 0 1 0' 'row 2 0 257 0'
    damaged 'row 2 0 1 0' 'row 2 0 0 0'                     # no operation
    damaged 'row 2 0 1 0' 'row 2 0 5 0'                     # a flush
    damaged 'row 2 0 1 0' 'row 2 0 6 0'
    damaged 'row 2 0 1 0' 'row 2 0 4294967297 0'            # a process that did not come
    damaged 'row 1 7 0 0|row 2 0 1 0' 'row 2 0 4294967297 0' # nor any
    damaged 'row 3 0 1 0' 'row 3 0 5 0'
    damaged 'sums 4 0 0 3|' ''                              # counts of a level are missing
    damaged 'sums 4 1 0 3|' ''
    damaged 'sums 4 0 0 3' 'sums 4 0 0 3|sums 4 0 0 3'      # twice
    damaged 'sums 4 0 0 3|sums 4 1 0 3' 'sums 4 1 0 3|sums 4 0 0 3'
    damaged 'sums 4 1 0 3' 'sums 4 1 0 3|sums 4 2 0 3'      # of one that there is not
    damaged '|row 5 0 0 0' ''                               # no end
    damaged 'row 5 0 0 0' 'row 5 0 0 0|row 1 8 0 0'         # and something behind it
    damaged 'row 5 0 0 0' 'row 6 0 0 0'                     # no such entry
    damaged 'segment 1' 'segment 2'
    damaged 'segment 1' 'segment 0'
    # of a machine of which no parts are made
    machine m.yaml 'name: L1D, kind: data, size: 1KiB, ways: 2, policy: fifo' 'name: L1I, kind: instruction, size: 1KiB, ways: 2'
    options=${options/cores 1;/cores 1; does not replace by LRU;}
    damaged 'segment 1' 'segment 1'
}

@test "--picture: of many bars each has at least the beginning of its operation" {
    local m machines=()
    for m in raspberry-pi-4 xeon-6230 zynq-ultrascale tegra-x1 atom-d525 odroid-xu4; do machines+=(-m "$m"); done
    { echo time,op,addr; for m in {1..400}; do echo "$m,$(cut -d' ' -f$((m % 4 + 1)) <<<'load store prefetch ifetch'),$((m * 64))"; done; } | stream ops.cf
    cf-classify -q "${machines[@]}" --cores 1 --summary --picture many.png ops.cf >rows.csv
    [[ $(wc -l <rows.csv) == 25 ]]
    # below the second and the third of 24 bars
    [[ $(inks many.png 80-97 470-482) -gt 3 && $(inks many.png 106-122 470-482) -gt 3 ]]
}
