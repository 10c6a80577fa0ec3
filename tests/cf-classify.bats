# SPDX-License-Identifier: BSD-2-Clause
#
# cf-classify: classes by hand, and against cf-cache row by row.
load lib

# machine FILE LEVEL...: a description with these levels.
machine() {
    local file=$1 level
    shift
    {
        printf 'name: test\nline_size: 64\ncpus: %s\nlevels:\n' "${CPUS:-1}"
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
        cf-cat --csv --columns hit,class |
        awk -F, -v rows="$rows" 'NR == 1 { next }
            ($1 > 1) != ($2 > 0) { print "row " NR - 1 ": " $0; exit 1 }
            NR > rows { exit 0 }
            END { if (NR < 100000) { print "only " NR " rows"; exit 1 } }' >why ||
        fail "$m $sample $*: $(cat why)"
}

@test "a class exactly where cf-cache found no hit, on all samples and machines" {
    local m s
    for s in "$ROOT"/samples/*.cf; do
        for m in tegra-x1 raspberry-pi-4; do
            agree $m 1e9 "$s"
        done
        agree xeon-6230 4e5 "$s" --cores 1
        agree leon4-n2x 4e5 "$s" --cores 1
    done
    for m in leon4-n2x atom-d525 zynq-ultrascale odroid-xu4; do
        agree $m 2e6 "$ROOT/samples/threads.cf"
    done
}

@test "the classes of a deeper level sum up to what cf-cache sent on" {
    local s=$ROOT/samples/threads.cf
    cf-cache -q -m tegra-x1 "$s" | cf-classify -q -m tegra-x1 --level L2 |
        cf-cat --csv --columns hit,class |
        awk -F, 'NR > 1 && ($1 == 255) != ($2 > 0) { print; bad = 1; exit } END { exit bad }'
}

@test "--summary is the sum of the column, on the samples" {
    local s=$ROOT/samples/threads.cf
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
    cf-classify -q -m tegra-x1 --summary "$s" >got.csv
    cf-classify -q -m tegra-x1 --summary -o out.cf "$s" | same got.csv -
    cf-classify -q -m tegra-x1 "$s" | rows access >a
    rows access out.cf | same a -
}

@test "other tables and columns stay as they are, packed and raw, in one piece and in many" {
    local s=$ROOT/samples/threads.cf table
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
                agree ./m.yaml 1.5e5 "$ROOT/samples/threads.cf"
            done
        done
    done
}

@test "huge accesses and the end of the address space" {
    machine m.yaml 'name: L1, size: 4KiB, ways: 4'
    cat >a.csv <<'END'
time,op,addr,size
1,load,0,4294967295
2,load,0xffffffffffffffff,4
3,store,0xfffffffffffffff0,4294967295
4,load,0,0
END
    stream a.cf a.csv
    run -0 classes -m ./m.yaml a.cf
    is "1 1 0 2"
    run -0 cf-classify -m ./m.yaml --summary a.cf
    has "L1,load,67108866,67108866,67108865,1,0,0,0"
}

@test "what cannot be done is said" {
    machine x.yaml 'name: L1, size: 4KiB, ways: 4' 'name: L2, size: 8KiB, ways: 4, inclusion: exclusive'
    CPUS=4 machine p.yaml 'name: L1, size: 4KiB, ways: 4' 'name: L2, size: 8KiB, ways: 4'
    CPUS=64 machine w.yaml 'name: L1, size: 4KiB, ways: 4'
    printf 'time,op,addr\n1,load,0\n' >a.csv
    stream a.cf a.csv
    run -2 cf-classify a.cf
    has "-m MACHINE"
    run -2 cf-classify -m ./none.yaml a.cf
    run -2 cf-classify -m ./p.yaml --rule nonsense a.cf
    has "no such rule"
    run -2 cf-classify -m ./p.yaml --level L9 a.cf
    has "no such level"
    run -2 cf-classify -m ./p.yaml --cores 0 a.cf
    run -2 cf-classify -m ./p.yaml --level L2 a.cf
    has "--cores 1"
    run -2 cf-classify -m ./x.yaml --level L2 a.cf
    has "exclusive"
    run -2 cf-classify -m ./w.yaml a.cf
    has "--cores"
}
