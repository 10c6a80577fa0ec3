# SPDX-License-Identifier: BSD-2-Clause
#
# cf-rank: rankings by hand, and of random rows against awk and sort.
load lib

setup_file() {
    awk 'BEGIN {
        srand(21); t = 0
        print "time,pid,tid,op,size,addr,weight,region,page,object,site,function,source,symbol,hit,class,cost,insns"
        split("load store ifetch prefetch", op, " ")
        for (i = 0; i < 40000; i++) {
            t += int(rand() * 3); o = int(rand() * rand() * 50); h = rand() < .2 ? 255 : 1 + int(rand() * 3)
            k = 1 + int(rand() * 4)
            printf "%d,%d,%d,%s,%d,%d,%d,r%d,%d,%d,%s,f%d,s.c:%d,v%d,%d,%d,%d,%d\n", t,
                100 + int(rand() * 3), 100 + int(rand() * rand() * 6), op[k], 2 ^ int(rand() * 6),
                rand() * rand() * 65536, 1 + int(rand() * 9), rand() * 3, rand() * rand() * 40, o,
                o ? "site" o % 7 : "", rand() * rand() * 90, rand() * rand() * 500, rand() * 9, h,
                h == 255 ? int(rand() * 4) : 0, 4 + int(rand() * 200), k == 3 ? 1 + int(rand() * 9) : 0
        } }' >"$BATS_FILE_TMPDIR/in.csv"
    {
        echo time,pid,tid,op,addr,bytes,object,site
        for ((i = 1; i < 50; i++)); do
            printf '0,100,100,alloc,0x%x,%d,%d,site%d\n' $((i * 4096)) $((i * 16)) $i $((i % 7))
        done
    } >"$BATS_FILE_TMPDIR/obj.csv"
    printf 'time,pid,tid,parent,op,label\n0,100,100,1,begin,alpha\n0,101,101,1,begin,beta\n1,101,103,1,begin,"worker, two"\n' \
        >"$BATS_FILE_TMPDIR/task.csv"
    PATH=${CF_B:-$BATS_TEST_DIRNAME/../build}/bin:$PATH
    cd "$BATS_FILE_TMPDIR" || return 1
    cf-capture csv -q --with object=obj.csv --with task=task.csv in.csv >in.cf
    cf-cat in.cf -o in.packed.cf
}

setup() {
    lib_setup
    D=$BATS_FILE_TMPDIR
}

# by_awk KEY VALUE CONDITION: "key value" of each key with a value, greatest first, ties by key.
# Columns: 2 pid 3 tid 4 op 5 size 6 addr 7 weight 8 region 9 page 10 object 11 site 12 function
# 13 source 14 symbol 15 hit 16 class 17 cost 18 insns
by_awk() {
    awk -F, "NR > 1 && ($3) { sum[$1] += $2 }
        END { for (k in sum) if (sum[k]) print k \" \" sum[k] }" "$D/in.csv" |
        sort -k2,2nr -k1,1
}

DATA='$4 == "load" || $4 == "store"'

# strings KEY COLUMN VALUE AWK-VALUE AWK-CONDITION OPTION...
strings() {
    local key=$1 column=$2 value=$3 of=$4 condition=$5 f
    shift 5
    by_awk "\$$column" "$of" "$condition" | awk '{ print NR "," $1 "," $2 }' >want
    (($(wc -l <want) > 2))
    for f in in.cf in.packed.cf; do
        cf-rank -q --by "$key" --value "$value" "$@" "$D/$f" >out.csv
        tail -n +2 out.csv | cut -d, -f1-3 | same want - || fail "--by $key --value $value ($f)"
    done
}

@test "on a terminal, what takes long shows how far it is and when it will be done" {
    need script 'makes a terminal'
    cf-cat --slice 0-60 -o small.cf "$ROOT/samples/sort.cf"
    mkfifo slow
    # it waits for as long as we like: for the next piece of the first input
    script -qefc "cf-rank --by op --csv slow '$ROOT/samples/gzip.cf' >out.csv" log </dev/null >/dev/null 8>&- 3>&- &
    local pid=$!
    exec 8>slow
    piece() {
        cat small.cf >&8
        grep -qE 'cf-rank: +[0-9]+ % of 0.7 MiB, [0-9]+:[0-9][0-9] left' log
    }
    eventually piece
    exec 8>&-
    wait $pid
    # nothing of it stands there in the end, nor without a terminal
    [[ $(tail -c 4 log) == *$'\e[K'* ]] || tail -n 1 log | grep -q 'COMMAND_EXIT_CODE' || fail "$(od -c log | tail)"
    run -0 --separate-stderr cf-rank --by op --csv "$ROOT/samples/gzip.cf"
    has_not left "$stderr"
}

@test "strings, by accesses: as awk" {
    strings region 8 accesses '$7' "$DATA"
    strings function 12 accesses '$7' "$DATA"
    strings source 13 accesses '$7' "$DATA"
    strings symbol 14 accesses '$7' "$DATA"
    # rows without a site are a key of their own
    by_awk '$11' '$7' "$DATA" | awk '{ if (NF == 1) print NR ",," $1; else print NR "," $1 "," $2 }' | sort >want
    grep -q ',,' want
    cf-rank -q --by site "$D/in.cf" | tail -n +2 | cut -d, -f1-3 | sort >got
    same want got
}

@test "all values: as awk" {
    strings function 12 bytes '$7 * $5' "$DATA"
    strings function 12 loads '$7' '$4 == "load"'
    strings function 12 stores '$7' '$4 == "store"'
    strings function 12 cost '$7 * $17' "$DATA"
    strings function 12 fetches '$7 * $18' '$4 == "ifetch"'
    strings function 12 misses '$7 * ($16 != 0)' "$DATA" # column class goes first
    strings function 12 misses '$7 * ($15 > 2)' "$DATA" --level 2
    strings function 12 accesses '$7' '$4 == "prefetch" || $4 == "load"' --op prefetch,load
}

@test "several values and keys at once: as awk, sorted by any of them" {
    awk -F, 'NR > 1 && ($4 == "load" || $4 == "store") {
        k = $12 "," $13; n[k] += $7; m[k] += $7 * ($16 != 0); c[k] += $7 * ($16 == 3); b[k] += $7 * $5
    } END { for (k in n) if (n[k]) printf "%s,%d,%d,%.6f,%d,%d\n", k, n[k], m[k], m[k] / n[k], c[k], b[k] }' "$D/in.csv" >sums
    (($(wc -l <sums) > 1000))
    local sort
    for sort in accesses:3 misses:4 ratio:5 conflict:6 bytes:7; do
        sort -t, -k${sort#*:},${sort#*:}gr -k1,1 -k2,2 sums | awk '{ print NR "," $0 }' >want
        cf-rank -q --by function,source --value accesses,misses,ratio,conflict,bytes --sort "${sort%:*}" "$D/in.packed.cf" >out.csv
        if [[ $sort == ratio* ]]; then
            [[ $(head -n 1 out.csv) == rank,function,source,accesses,misses,miss_ratio,conflict,bytes ]]
            # equal ratios are printed alike and may differ in the last bit
            tail -n +2 out.csv | cut -d, -f6 | same <(cut -d, -f6 want) -
            tail -n +2 out.csv | cut -d, -f2- | sort | same <(sort sums) -
        else
            [[ $(head -n 1 out.csv) == rank,function,source,accesses,misses,miss_ratio,conflict,bytes,share_percent,cumulative_percent,knee ]]
            tail -n +2 out.csv | cut -d, -f1-8 | same want - || fail "$sort"
            # shares and the knee are those of what sorts
            awk -F, -v c=$((${sort#*:} + 1)) 'NR > 1 { v[NR - 1] = $c; s[NR - 1] = $9; t += $c; if ($11) k = NR - 1; n = NR - 1 }
                END { for (i = 1; i <= n; i++) { if ((s[i] - 100 * v[i] / t) ^ 2 > 1e-6) exit 1
                          x += v[i]; d = x * n - i * t; if (d > most) { most = d; at = i } }
                      exit !(at == k) }' out.csv
        fi
    done
    # the same sums one by one
    for sort in accesses misses conflict bytes; do
        same <(cf-rank -q --by function,source --value $sort --op load,store "$D/in.cf") \
            <(cf-rank -q --by function,source --value $sort "$D/in.cf")
    done
}

@test "keys of parts that are numbers: pages, threads, lines, classes" {
    cf-rank -q --by class,site,op,cache-line "$D/in.cf" >out.csv
    [[ $(head -n 1 out.csv) == rank,class,site,op,pid,address,accesses,share_percent,cumulative_percent,knee ]]
    awk -F, 'NR > 1 && ($4 == "load" || $4 == "store") {
        for (a = int($6 / 64); a <= int(($6 + $5 - 1) / 64); a++)
            n[sprintf("%s,%s,%s,%d,0x%x", $16 == 0 ? "none" : $16 == 1 ? "compulsory" : $16 == 2 ? "capacity" : "conflict", $11, $4, $2, a * 64)] += $7
    } END { for (k in n) if (n[k]) print k "," n[k] }' "$D/in.csv" | sort >want
    tail -n +2 out.csv | cut -d, -f2-7 | sort | same want -
    awk -F, 'NR > 1 && ($4 == "load" || $4 == "store") { n[$8 "," $9 "," $2 "," $3] += $7 }
        END { for (k in n) if (n[k]) print k "," n[k] }' "$D/in.csv" | sort >want
    cf-rank -q --by page,thread "$D/in.cf" | sed 's/"worker, two"//' | tail -n +2 | cut -d, -f2-5,7 | sort | same want -
    # the process of a line and of a thread is one column
    awk -F, 'NR > 1 && ($4 == "load" || $4 == "store") {
        for (a = int($6 / 64); a <= int(($6 + $5 - 1) / 64); a++) n[sprintf("%d,0x%x,%d", $2, a * 64, $3)] += $7
    } END { for (k in n) if (n[k]) print k "," n[k] }' "$D/in.csv" | sort >want
    cf-rank -q --by cache-line,thread "$D/in.cf" | sed 's/"worker, two"//' >out.csv
    [[ $(head -n 1 out.csv) == rank,pid,address,tid,name,accesses,* ]]
    tail -n +2 out.csv | cut -d, -f2-4,6 | sort | same want -
    # objects keep their details as the second part
    cf-rank -q --by op,object "$D/in.cf" >got
    grep -q ',load,12,0xc000,192,site5,' got
    run -2 cf-rank --by page,region
    has "page and region have a column in common"
    run -2 cf-rank --by thread,process
    run -2 cf-rank --by function,function
    run -2 cf-rank --by function,source,op,class,thread,symbol
    has "more than 5 keys"
}

@test "--before: what changed most first, keys that came and went, and the sum of all" {
    printf 'time,op,addr,function,hit,cost\n1,load,1,a,255,9\n2,load,1,a,1,4\n3,load,1,b,255,9\n4,store,1,gone,255,7\n' >old.csv
    printf 'time,op,addr,function,hit,cost\n1,load,1,b,255,9\n2,load,1,new,1,3\n3,load,1,b,255,9\n4,store,1,b,255,8\n5,load,1,a,255,9\n6,load,1,a,1,4\n' >now.csv
    stream old.cf old.csv
    stream now.cf now.csv
    run -0 --separate-stderr cf-rank --value misses,accesses,ratio --before old.cf now.cf
    is "rank,function,misses_before,misses_after,accesses_before,accesses_after,miss_ratio_before,miss_ratio_after,difference,ratio
1,b,1,3,1,3,1.000000,1.000000,2,3.0000
2,gone,1,0,1,0,1.000000,,-1,0.0000
3,a,1,1,2,2,0.500000,0.500000,0,1.0000
4,new,0,0,0,1,,0.000000,0,"
    [[ $stderr == "cf-rank: misses of all: 3 before, 4 after, +33.33 %" ]]
    run -0 --separate-stderr cf-rank -q --value cost --before old.cf --top 2 --fail-above 45 now.cf
    is "rank,function,cost_cycles_before,cost_cycles_after,difference,ratio
1,b,9,26,17,2.8889
2,gone,7,0,-7,0.0000"
    [[ ! $stderr ]]
    run -1 --separate-stderr cf-rank -q --value cost --before old.cf --fail-above 44.8 now.cf
    has "cost_cycles of all: 29 before, 42 after, +44.83 %" "$stderr"
    has "more than the 44.8 % of --fail-above" "$stderr"
    [[ ${#lines[@]} == 5 ]]
    # it was more before: nothing fails; nothing before: any growth is too much
    run -0 cf-rank -q --value cost --before now.cf --fail-above 0 old.cf
    printf 'time,op,addr,function,hit,cost\n' | stream none.cf
    run -1 cf-rank -q --before none.cf --fail-above 1000 now.cf
    run -1 cf-rank -q --before none.cf --fail-above 0 none.cf
    # a ratio is compared as such
    run -0 --separate-stderr cf-rank --value ratio,accesses --before old.cf --top 1 now.cf
    is "rank,function,miss_ratio_before,miss_ratio_after,accesses_before,accesses_after,difference,ratio
1,gone,1.000000,,1,0,-1.000000,0.0000"
    has "miss_ratio of all: 0.75 before, 0.6666666667 after, -11.11 %" "$stderr"
    # that of no access is none: the gate does not pass, with -q neither
    local files before after side
    for files in 'none.cf now.cf before' 'old.cf none.cf after' 'none.cf none.cf before and after'; do
        read -r before after side <<<"$files"
        run -1 --separate-stderr cf-rank -q --value ratio --before "$before" --fail-above 50 "$after"
        [[ $stderr == "cf-rank: miss_ratio of all: nothing to compare, since no access counts $side, and --fail-above cannot be judged" ]] || fail "$stderr"
        run -0 --separate-stderr cf-rank --value ratio --before "$before" "$after"
        [[ $stderr == *"miss_ratio of all: nothing to compare, since no access counts $side" ]] || fail "$stderr"
        # nor is a sum of none that of a program that misses nothing
        run -1 --separate-stderr cf-rank -q --value misses --before "$before" --fail-above 50 "$after"
        [[ $stderr == "cf-rank: misses of all: nothing to compare, since no access counts $side, and --fail-above cannot be judged" ]] || fail "$stderr"
    done
    printf 'addr,function,op,class\n1,f,store,0\n' | stream hits.cf
    run -0 --separate-stderr cf-rank -q --value misses --before hits.cf --fail-above 50 hits.cf
    run -0 --separate-stderr cf-rank -q --value loads --before hits.cf --fail-above 50 hits.cf
    # standard input may be either
    same <(cf-rank -q --before old.cf now.cf) <(cf-rank -q --before old.cf <now.cf)
    same <(cf-rank -q --before old.cf now.cf) <(cf-rank -q --before - now.cf <old.cf)
    run -2 cf-rank --before - - <old.cf
}

@test "--before: random rows, against the two rankings" {
    awk -F, 'NR == 1 || rand() < .7' "$D/in.csv" | sed '2,$s/,f1[0-9],/,g5,/' >half.csv
    stream half.cf half.csv
    local f
    for f in "$D/in.cf" half.cf; do
        cf-rank -q --by function,op --value accesses "$f" | tail -n +2 | cut -d, -f2-4 | sort >"$(basename "$f").sums"
    done
    join -t: -a 1 -a 2 -e 0 -o 0,1.2,2.2 <(sed 's/,\([^,]*\)$/:\1/' in.cf.sums | sort -t: -k1,1) \
        <(sed 's/,\([^,]*\)$/:\1/' half.cf.sums | sort -t: -k1,1) |
        awk -F: '{ d = $3 - $2; print (d < 0 ? -d : d) ":" $1 "," $2 "," $3 "," d }' |
        sort -t: -k1,1nr | cut -d: -f2 >want
    cf-rank -q --by function,op --before "$D/in.cf" half.cf | tail -n +2 | cut -d, -f2-6 >got
    same <(sort want) <(sort got)
    same <(cut -d, -f5 want) <(cut -d, -f5 got)
    (($(wc -l <want) > 100))
}

@test "--before: a file that cannot be compared is told" {
    printf 'time,op,addr,function,hit\n1,load,1,a,255\n' | stream a.cf
    printf 'time,op,addr\n1,load,1\n' | stream bare.cf
    run -1 --separate-stderr cf-rank --before bare.cf a.cf
    has "'function'" "$stderr"
    [[ ! $output ]]
    run -1 cf-rank --before missing.cf a.cf
    cf-cat a.cf -o p.cf
    head -c -40 p.cf >cut.cf
    run -1 cf-rank --before cut.cf a.cf
    run -1 cf-rank --before a.cf cut.cf
    # of other machines
    cf-cache -q -m raspberry-pi-4 bare.cf -o one.cf
    cf-cache -q -m leon4-n2x bare.cf -o two.cf
    run -0 --separate-stderr cf-rank --by op --value hits --before one.cf two.cf
    has "column hit has different facts in the inputs" "$stderr"
    local by
    for by in object thread process cache-line; do
        run -2 cf-rank --by $by --before a.cf a.cf
        has "mean others in each recording"
    done
    run -2 cf-rank --fail-above 5 a.cf
    run -2 cf-rank --before a.cf --cover a.cf
    run -2 cf-rank --before a.cf --picture p.png a.cf
    run -2 cf-rank --before a.cf --fail-above -1 a.cf
}

@test "the order: greatest first, ties by process and address, of values and addresses of any size" {
    awk 'BEGIN {
        srand(8); print "time,pid,addr,weight,hit"
        for (i = 0; i < 6000; i++) {
            high = rand() < .5 ? 0 : int(rand() * 65536)
            printf "%d,%d,0x%04x%08x,%.0f,%d\n", i, 1 + int(rand() * 3000) * int(rand() * 2), high,
                int(rand() * 2 ^ (1 + int(rand() * 31))), rand() < .6 ? 1 + int(rand() * 3) : rand() * 2 ^ 40, rand() < .5 ? 1 : 255
        } }' | stream a.cf -
    ordered() { # KEYS VALUES: of so many keys with so many values at least
        awk -F, -v keys="$1" -v values="$2" '
            function hex(s, i, x) {
                for (i = 3; i <= length(s); i++) x = x * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
                return x + 0
            }
            NR > 1 {
                v = $4 + 0; p = $2 + 0; a = hex($3)
                if (NR > 2 && !(v < v0 || (v == v0 && (p > p0 || (p == p0 && a > a0))))) { print NR ": " $0; bad = 1 }
                n += v != v0; v0 = v; p0 = p; a0 = a
            }
            END { if (bad || NR <= keys || n < values) { print NR " rows, " n " values"; exit 1 } }'
    }
    cf-rank -q --csv --top 9999 --by address --value accesses a.cf | ordered 4000 1000
    # of few values nearly all are ties
    cf-cat -q --columns time,pid,addr,hit a.cf | cf-rank -q --csv --top 9999 --by address --value ratio | ordered 4000 2
}

@test "a ratio of no accesses is empty; of a ratio there is no share, no cover and no picture" {
    printf 'time,op,addr,function,hit,insns\n1,load,1,a,255,0\n2,load,1,a,1,0\n3,ifetch,1,b,1,5\n4,load,9,c,1,0\n' >a.csv
    stream a.cf a.csv
    run -0 --separate-stderr cf-rank --value ratio,fetches a.cf
    is "rank,function,miss_ratio,instructions
1,a,0.500000,0
2,c,0.000000,0
3,b,,5"
    [[ ! $stderr ]]
    run -0 cf-rank -q --value fetches,ratio a.cf
    is "rank,function,instructions,miss_ratio,share_percent,cumulative_percent,knee
1,b,5,,100.000,100.000,1
2,a,0,0.500000,0.000,100.000,0
3,c,0,0.000000,0.000,100.000,0"
    run -2 cf-rank --value ratio --cover a.cf
    has "--cover is of a sum"
    run -2 cf-rank --value ratio,misses --picture p.png a.cf
    [[ ! -e p.png ]]
    run -0 cf-rank -q --value ratio,misses --sort misses --cover=100 a.cf
    is "share_percent,count,of
100,1,2"
    run -2 cf-rank --value misses --sort hits a.cf
    has "is none of --value"
    run -2 cf-rank --value misses,nonsense a.cf
    run -1 cf-rank --value conflict a.cf
    has "'class'"
}

@test "misses of each level stand beside each other, whatever a miss is" {
    by_awk '$12' '$7 * ($15 > 1)' "$DATA" >l1
    by_awk '$12' '$7 * ($15 > 2)' "$DATA" >l2
    cf-rank -q --value l1-misses,l2-misses,misses --level 2 --sort l2-misses "$D/in.cf" >out.csv
    same <(head -1 out.csv) - <<<"rank,function,l1_misses,l2_misses,misses,share_percent,cumulative_percent,knee"
    tail -n +2 out.csv | awk -F, '$4 { print $2, $4 }' | sort | same - <(sort l2)
    tail -n +2 out.csv | awk -F, '$3 { print $2, $3 }' | sort | same - <(sort l1)
    awk -F, 'NR > 1 && $4 != $5' out.csv | same - /dev/null
    run -2 cf-rank --value l5-misses "$D/in.cf"
    run -2 cf-rank --value l0-misses "$D/in.cf"
    cut -d, -f1-14,16- "$D/in.csv" >no.csv
    cf-capture csv -q no.csv >no.cf
    run -1 --separate-stderr cf-rank -q --value l1-misses no.cf
    has "neither of the columns hit and level" "$stderr"
}

@test "exact addresses are not cut into lines, and count once" {
    by_awk '$2 " " $6' '$7' "$DATA" | sort >want
    cf-rank -q --by address "$D/in.cf" >out.csv
    same <(head -1 out.csv) - <<<"rank,pid,address,accesses,share_percent,cumulative_percent,knee"
    tail -n +2 out.csv | while IFS=, read -r _ pid address sum _; do
        echo "$pid $((address)) $sum"
    done | sort | same - want
    run -2 cf-rank --by address,cache-line "$D/in.cf"
    has "column in common" "$output"
}

@test "misses without classes are those that went to memory; hardware's level is taken last" {
    printf 'time,op,addr,function,hit\n1,load,1,a,255\n2,load,1,b,1\n3,store,1,b,255\n4,load,1,b,255\n' >a.csv
    stream a.cf a.csv
    run -0 bash -c 'cf-rank -q --value misses a.cf | cut -d, -f1-3'
    is "rank,function,misses
1,b,2
2,a,1"
    sed '1s/hit/level/' a.csv >b.csv
    stream b.cf b.csv
    run -0 bash -c 'cf-rank -q --value misses --level 1 b.cf | cut -d, -f1-3'
    is "rank,function,misses
1,b,2
2,a,1"
    sed '1s/,hit//;2,$s/,[0-9]*$//' a.csv >c.csv
    stream c.cf c.csv
    run -1 --separate-stderr cf-rank --value misses c.cf
    has "class, hit and level" "$stderr"
}

@test "of level 254 the first level missed, and no more is known: a message says how many" {
    local said='cf-rank: 6 accesses missed the first level, and which of the others served them is not known (level 254): they count as misses of the first level alone'
    printf 'time,op,addr,function,source,level,weight\n1,load,1,a,a.c:1,1,1\n2,load,1,a,a.c:1,254,3\n3,load,1,a,a.c:1,255,1\n4,ifetch,1,a,a.c:1,254,9\n5,ifetch,1,a,a.c:1,0,7\n' |
        stream half.cf
    cat half.cf half.cf | cf-cat -o in.cf
    run -0 --separate-stderr cf-rank -q --value accesses,misses,hits,l1-misses,l2-misses,l3-misses,l4-misses in.cf
    [[ ${lines[1]} == 1,a,10,2,2,8,2,2,2,* && $stderr == "$said" ]] || fail "$output$stderr"
    run -0 --separate-stderr cf-rank -q --value misses,hits --level 2 in.cf
    [[ ${lines[1]} == 1,a,2,2,* && $stderr == "$said" ]] || fail "$output$stderr"
    run -0 --separate-stderr cf-rank -q -j 2 --value hits in.cf
    [[ ${lines[1]} == 1,a,2,* && $stderr == "$said" ]] || fail "$output$stderr"
    parts 2 in.cf cf-rank -q --value hits
    run -0 --separate-stderr cf-rank -q --value hits p.1.cf p.2.cf
    [[ ${lines[1]} == 1,a,2,* && $stderr == "$said" ]] || fail "$output$stderr"
    run -0 --separate-stderr cf-rank -q --value l2-misses --before half.cf in.cf
    [[ ${lines[1]} == 1,a,1,2,* && $stderr == *"${said/6/3}"*"$said"* ]] || fail "$output$stderr"
    # the first level is known
    run -0 --separate-stderr cf-rank -q --value misses,hits,l1-misses --level 1 in.cf
    [[ ${lines[1]} == 1,a,8,2,8,* && -z $stderr ]] || fail "$output$stderr"
    # nor is it a hit where no class says that it is a miss
    printf 'time,op,addr,function,level,weight,class\n1,load,1,a,1,1,0\n2,load,1,a,254,6,0\n3,load,1,a,254,2,3\n4,load,1,a,255,1,3\n' |
        stream class.cf
    run -0 --separate-stderr cf-rank -q --value accesses,misses,hits class.cf
    [[ ${lines[1]} == 1,a,10,3,1,* && $stderr == "$said" ]] || fail "$output$stderr"
    run -0 --separate-stderr cf-rank -q --value accesses,misses class.cf
    [[ ${lines[1]} == 1,a,10,3,* && -z $stderr ]] || fail "$output$stderr"
    run -0 --separate-stderr cf-rank -q --value hits,l2-misses class.cf
    [[ ${lines[1]} == 1,a,1,1,* && $stderr == "${said/6/8}" ]] || fail "$output$stderr"
    # the same of what else adds up by these rules
    run -0 --separate-stderr cf-annotate --value l2-misses in.cf
    [[ ${lines[1]} == a.c,1,2,* && $stderr == *"${said#*: }"* ]] || fail "$output$stderr"
    run -0 --separate-stderr cf-export --format callgrind -o - in.cf
    [[ $output == *"summary: 10 8 2"* && $stderr == *"${said#*: }"* ]] || fail "$output$stderr"
}

@test "hits; misses of some classes; misses by distance" {
    strings function 12 hits '$7 * ($16 == 0)' "$DATA"
    strings function 12 hits '$7 * ($15 <= 2)' "$DATA" --level 2
    strings function 12 misses '$7 * ($16 == 3)' "$DATA" --class conflict
    strings function 12 misses '$7 * ($16 == 1 || $16 == 2)' "$DATA" --class compulsory,capacity
    {
        echo time,op,addr,function,dist
        printf '%s\n' 1,load,1,a,inf 2,load,1,b,0 3,store,1,b,9 4,load,1,b,10 5,load,1,b,11 \
            6,load,1,c,18446744073709551614
    } >a.csv
    stream a.cf a.csv
    run -0 bash -c 'cf-rank -q --value misses --dist 10 a.cf | cut -d, -f1-3'
    is "rank,function,misses
1,b,2
2,a,1
3,c,1"
    run -0 bash -c 'cf-rank -q --value hits --dist 10 a.cf | cut -d, -f1-3'
    is "rank,function,hits
1,b,2"
    # what is neither told as hit nor as miss
    printf 'time,op,addr,function,hit\n1,load,1,a,0\n2,load,1,a,1\n3,load,1,a,255\n4,load,1,a,2\n' >b.csv
    stream b.cf b.csv
    run -0 --separate-stderr bash -c 'cf-rank -q --value hits b.cf | cut -d, -f1-3'
    is "rank,function,hits
1,a,2"
    run -0 --separate-stderr bash -c 'cf-rank -q --value hits --level 1 b.cf | cut -d, -f1-3'
    is "rank,function,hits
1,a,1"
    # levels that served them
    run -0 bash -c 'cf-rank -q --by hit,function b.cf | cut -d, -f1-4'
    is "rank,hit,function,accesses
1,0,a,1
2,1,a,1
3,2,a,1
4,255,a,1"
    run -1 --separate-stderr cf-rank --value misses --dist 10 b.cf
    has "'dist'" "$stderr"
    run -1 --separate-stderr cf-rank --value misses --class conflict b.cf
    has "'class'" "$stderr"
}

@test "misses by distance: of all lines, without sets, within the bound; and of what has a distance" {
    local said
    # misses and hits are those of cf-mrc
    cf-distance "$ROOT/samples/sort.cf" -o in.cf
    read -r said < <(cf-mrc -q --at 32K in.cf | tail -n 1 | cut -d, -f3-4 | tr , ' ')
    [[ $(cf-rank -q --by process --value accesses,misses,hits --dist 512 in.cf | awk -F, 'NR > 1 { print $4, $5, $4 - $5 == $6 }') == "$said 1" ]] || fail "$said"
    # refuses OPTION MESSAGE: alike whichever way the ranking is made
    refuses() {
        # shellcheck disable=SC2086 # an option and its value
        cf-distance $1 "$ROOT/samples/sort.cf" -o other.cf
        local way
        for way in other.cf '--before in.cf --fail-above 5 other.cf' '--before other.cf in.cf' '-j 2 other.cf'; do
            # shellcheck disable=SC2086
            run -1 --separate-stderr cf-rank -q --by op --value misses --dist 512 $way
            [[ -z $output && $stderr == *"cf-rank: $2"* ]] || fail "$way: $output$stderr"
        done
        run -1 --separate-stderr bash -c 'cf-rank -q --by op --value misses --dist 512 --partial other.cf >p.cf'
        has "cf-rank: $2" "$stderr"
        run -1 cf-rank -q --by op --value misses --dist 512 p.cf
    }
    refuses '--rate 0.1' '--dist: the distances are those of a sample of lines: run cf-distance without --rate'
    cf-cat --columns op,dist other.cf | run -1 cf-rank -q --by op --value misses --dist 512
    refuses '--samples 64' '--dist: the distances are those of a sample of lines'
    refuses '--sets 64' '--dist is of a fully associative cache, and the distances are those within 64 sets: run'
    refuses '--bound 510' '--dist 512: the stream has no distance beyond 510 lines: run cf-distance with a larger'
    # a bound that reaches as far, or that nothing is beyond
    cf-rank -q --by op --value misses,hits --dist 512 in.cf >want
    cf-distance --bound 511 "$ROOT/samples/sort.cf" | cf-rank -q --by op --value misses,hits --dist 512 | same want -
    cf-cat --slice 0-100 "$ROOT/samples/sort.cf" | cf-distance --bound 500 | cf-rank -q --by op --value misses --dist 512 >few
    # of which nothing is stated, also in parts
    cf-distance "$ROOT/samples/sort.cf" | cf-cat --slice 0-9999 --csv | cf-capture csv -q -c instructions -o csv.cf
    for said in '' '-j 2'; do
        # shellcheck disable=SC2086
        run -0 --separate-stderr cf-rank $said --by op --value misses --dist 512 csv.cf
        [[ $(grep -c -- '--dist: the header does not state of what sets the distances are' <<<"$stderr") == 1 ]] || fail "$stderr"
    done
    # operations that have no distance
    printf 'op,addr,source,insns\nifetch,64,a.c:1,3\nload,64,a.c:1,0\nload,64,a.c:1,0\n' | stream fetch.cf
    said=': 2 accesses have no distance, and count neither as misses nor as hits: cf-distance --for says which operations have one'
    cf-distance --for fetches fetch.cf -o f.cf
    run -0 --separate-stderr cf-rank -q --by op --value accesses,misses,hits,ratio --dist 8 f.cf
    [[ ${lines[1]} == 1,load,2,0,0,,* && $stderr == "cf-rank$said" ]] || fail "$output$stderr"
    run -0 --separate-stderr cf-rank -q -j 2 --by op --value hits,ratio,misses --op load,ifetch --dist 8 f.cf
    [[ ${lines[1]} == 1,ifetch,0,1.000000,1,* && $stderr == "cf-rank$said" ]] || fail "$output$stderr"
    run -0 --separate-stderr cf-annotate --dist 8 f.cf
    [[ ${lines[1]} == a.c,1,2,0,* && $stderr == *"cf-annotate$said"* ]] || fail "$output$stderr"
}

@test "pages of mappings without a name are told apart by their numbers" {
    printf 'addr,region,page\n1,,1\n2,,1\n3,,2\n4,a,2\n' | stream in.cf
    run -0 cf-rank -q --by page --html pages.html in.cf
    has '1,,1,2,'
    has '2,,2,1,'
    run -0 cat pages.html
    has '[unknown], page 1'
    has '[unknown], page 2'
}

@test "a key without a name is [unknown] for people, and empty in CSV" {
    printf 'time,op,addr,function\n1,load,1,\n' >c.csv
    stream c.cf c.csv
    run -0 cf-rank -q --term c.cf
    [[ ${lines[1]} =~ ^\ *1\ +\[unknown\]\ +1\  ]]
    run -0 bash -c 'cf-rank -q c.cf | cut -d, -f1-3'
    is "rank,function,accesses
1,,1"
}

@test "other keys: as awk" {
    by_awk '$8 "," $9' '$7' "$DATA" | sed 's/,/ /' | sort -k3,3nr -k1,1 -k2,2n |
        awk '{ print NR "," $1 "," $2 "," $3 }' >want
    cf-rank -q --by page "$D/in.cf" | tail -n +2 | cut -d, -f1-4 | same want -
    by_awk '$2 "," $3' '$7' "$DATA" | sed 's/,/ /' | sort -k3,3nr -k1,1n -k2,2n |
        awk '{ print NR "," $1 "," $2 "," $3 }' >want
    cf-rank -q --by thread "$D/in.packed.cf" | grep -v '^rank' | sed 's/"worker, two"//' | cut -d, -f1-3,5 >got
    same want got
    by_awk '$2' '$7' "$DATA" | awk '{ print NR "," $1 "," $2 }' >want
    cf-rank -q --by process "$D/in.cf" | tail -n +2 | cut -d, -f1,2,4 | same want -
    by_awk '$4' '$7' 1 | awk '{ print NR "," $1 "," $2 }' >want
    cf-rank -q --by op --op load,store,ifetch,prefetch "$D/in.cf" | tail -n +2 | cut -d, -f1-3 | same want -
    by_awk '$10' '$7' "$DATA" | sort -k2,2nr -k1,1n | awk '{ print NR "," $1 "," $2 }' >want
    cf-rank -q --by object "$D/in.cf" | tail -n +2 | cut -d, -f1,2,6 | same want -
}

@test "lines: an access counts for each line that it touches" {
    awk -F, "NR > 1 && ($DATA) {
        for (a = int(\$6 / 32); a <= int((\$6 + \$5 - 1) / 32); a++) n[\$2 \" \" a * 32] += \$7 }
        END { for (k in n) print k, n[k] }" "$D/in.csv" | sort -k3,3nr -k1,1n -k2,2n |
        awk '{ printf "%d,%d,0x%x,%d\n", NR, $1, $2, $3 }' >want
    (($(wc -l <want) > 2000))
    cf-rank -q --by cache-line --line-size 32 "$D/in.cf" | tail -n +2 | cut -d, -f1-4 | same want -
    # of the bytes each line gets its own
    awk -F, "NR > 1 && ($DATA) {
        for (b = 0; b < \$5; b++) n[\$2 \" \" int((\$6 + b) / 32) * 32] += \$7 }
        END { for (k in n) print k, n[k] }" "$D/in.csv" | sort -k3,3nr -k1,1n -k2,2n |
        awk '{ printf "%d,%d,0x%x,%d\n", NR, $1, $2, $3 }' >want
    cf-rank -q --by cache-line --line-size 32 --value bytes "$D/in.cf" | tail -n +2 | cut -d, -f1-4 | same want -
}

@test "an access counts at each line that it touches, however many" {
    printf 'time,pid,op,size,addr\n1,1,store,1048576,0x100020\n2,1,ifetch,8192,0x400000\n' | stream long.cf
    cf-rank -q --by cache-line --value accesses,bytes long.cf | awk -F, 'NR > 1 { n += $4; b += $5 } END { print NR - 1, n, b }' >got
    echo 16385 16385 1048576 | same - got
    cf-rank -q --by set -m xeon-6230 --value accesses,bytes long.cf | awk -F, 'NR > 1 { n += $3; b += $4 } END { print NR - 1, n, b }' >got
    echo 64 16385 1048576 | same - got
    [[ $(cf-rank -q --by cache-line --line-size 4 --op ifetch long.cf | wc -l) == 2049 ]]
    # nothing is beyond the last address
    printf 'addr,size\n0xfffffffffffffffc,200\n' | stream last.cf
    run -0 cf-rank -q --by cache-line --value accesses,bytes last.cf
    is 'rank,pid,address,accesses,bytes,share_percent,cumulative_percent,knee
1,0,0xffffffffffffffc0,1,4,100.000,100.000,0'
    run -0 cf-rank -q --by set -m xeon-6230 --value accesses,bytes last.cf
    is 'rank,set,accesses,bytes,share_percent,cumulative_percent,knee
1,63,1,4,100.000,100.000,0'
    # a damaged size does not take all memory
    printf 'addr,size\n0,4294967295\n' | stream damaged.cf
    run -1 cf-rank -q --by cache-line damaged.cf
    is "cf-rank: an access of more than 1048576 lines: its size is wrong, or --line-size too small"
}

@test "sums that would wrap are refused, also where parts are joined" {
    local value
    printf 'op,addr,size,weight,cost\nload,0,4294967295,4503599627370000,4294967295\n' | stream much.cf
    for value in 'cost --by op' 'bytes --by op' 'bytes --by cache-line --line-size 64K' 'bytes,accesses --by op,cache-line --line-size 64K'; do
        # shellcheck disable=SC2086 # words
        run -1 cf-rank -q --value $value much.cf
        has "--value $(sed 's/[ ,].*//; s/cost/cost_cycles/' <<<"$value"): more than 2^64 in all"
    done
    # two are less
    printf 'op,addr,size,weight,cost\nload,0,8,2147483648,4294967295\n' | stream half.cf
    run -0 cf-rank -q --by op --value cost half.cf half.cf
    has 'load,18446744069414584320'
    cf-cat half.cf half.cf half.cf -o all.cf
    for value in 1 2; do
        cf-cat --part $value/2 all.cf | cf-rank -q --by op --value cost --partial >part.$value
    done
    run -1 cf-rank -q --by op --value cost part.1 part.2
    has 'more than 2^64 in all'
    run -1 cf-rank -q --by op --value cost -j 2 all.cf
    has 'more than 2^64 in all'
}

@test "sets: of the first level or that of --level, for each line that an access touches" {
    printf 'name: odd\nline_size: 32\ncpus: 1\nlevels:\n  - {name: L1I, kind: instruction, size: 4KiB, ways: 1}\n  - {name: L1D, kind: data, size: 768, ways: 2}\n  - {name: L2, size: 4KiB, ways: 2, line_size: 64}\n' >m.yaml
    local line sets level value
    while read -r line sets level; do
        awk -F, -v line="$line" -v sets="$sets" "NR > 1 && ($DATA) {
            for (a = int(\$6 / line); a <= int((\$6 + \$5 - 1) / line); a++) n[a % sets] += \$7
            for (b = 0; b < \$5; b++) bytes[int((\$6 + b) / line) % sets] += \$7 }
            END { for (k in n) print k, n[k], bytes[k] }" "$D/in.csv" | sort -k2,2nr -k1,1n |
            awk '{ printf "%d,%d,%d,%d\n", NR, $1, $2, $3 }' >want
        (($(wc -l <want) == sets))
        # shellcheck disable=SC2086 # two words
        cf-rank -q --by set -m ./m.yaml $level --value accesses,bytes "$D/in.cf" >got
        [[ $(head -n 1 got) == rank,set,accesses,bytes,share_percent,cumulative_percent,knee ]]
        tail -n +2 got | cut -d, -f1-4 | same want -
    done <<'END'
32 12 --level=1
64 32 --level=2
32 12
END
    # with another part that is of lines, and for people
    cf-rank -q --by set,cache-line -m ./m.yaml "$D/in.cf" >got
    local set pid address
    while IFS=, read -r _ set pid address _; do
        ((address / 32 % 12 == set)) || fail "$address is not in $set"
    done < <(sed -n 2,300p got)
    [[ $(tail -n +2 got | cut -d, -f2,5 | awk -F, '{ n[$1] += $2 } END { for (s in n) print s "," n[s] }' | sort) == \
        "$(tail -n +2 <(cf-rank -q --by set -m ./m.yaml "$D/in.cf") | cut -d, -f2,3 | sort)" ]]
    run -0 cf-rank -q --by set -m ./m.yaml --term --top 1 "$D/in.cf"
    has set
    # names are drawn: those of two sets differ
    printf '%s\n' op,addr,size load,0,1 >zero.csv
    printf '%s\n' op,addr,size load,32,1 >one.csv
    for value in zero one; do
        stream $value.cf $value.csv
        cf-rank -q --by set -m ./m.yaml --title x --picture $value.svg $value.cf >got
    done
    ! cmp -s zero.svg one.svg || fail "they do not"
}

@test "sets want a machine, which states their lines" {
    run -2 --separate-stderr cf-rank --by set "$D/in.cf"
    [[ $stderr == *'--by set: needs -m MACHINE, whose sets they are'* && -z $output ]] || fail "$stderr"
    run -2 cf-rank --by address -m xeon-6230 "$D/in.cf"
    has 'goes with --by set alone'
    run -2 cf-rank --by set -m xeon-6230 --line-size 64 "$D/in.cf"
    has '--line-size does not go with --by set'
    run -2 cf-rank --by set -m xeon-6230 --level 4 "$D/in.cf"
    has 'no cache for data at level 4'
    run -2 cf-rank --by set -m no-such-machine "$D/in.cf"
}

@test "details of objects, names of processes and threads" {
    cf-rank -q --by object "$D/in.cf" >got
    [[ $(head -n 1 got) == rank,object,address,size_bytes,site,accesses,share_percent,cumulative_percent,knee ]]
    [[ $(grep -c ',12,0xc000,192,site5,' got) == 1 ]]
    [[ $(grep -c '^[0-9]*,0,,,,' got) == 1 ]] # accesses to no object
    cf-rank -q --by process "$D/in.cf" >got
    grep -q ',100,alpha,' got
    grep -q ',101,beta,' got
    grep -q ',102,,' got
    cf-rank -q --by thread "$D/in.cf" >got
    grep -q ',101,103,"worker, two",' got
    grep -q ',100,103,,' got
}

@test "objects that come and go by the hundred thousand: what was counted keeps its details" {
    awk 'BEGIN { print "time,pid,tid,op,addr,bytes,object,site"
        for (i = 1; i <= 20000; i++) {
            printf "%d,1,1,alloc,0x%x,%d,%d,s%d\n", 10 * i, 4096 + i, i, i, i % 3
            printf "%d,1,1,free,0x%x,%d,%d,\n", 10 * i + 9, 4096 + i, i, i } }' >o.csv
    awk 'BEGIN { print "time,pid,tid,op,addr,size,object"
        for (i = 1; i <= 20000; i++) if (i % 10 == 0)
            for (k = 0; k <= i % 7 + 40; k++) printf "%d,1,1,load,0x%x,1,%d\n", 10 * i + 5, 4096 + i, i }' >a.csv
    stream a.cf --with object=o.csv a.csv
    cf-rank -q --by object a.cf | tail -n +2 | cut -d, -f2-6 | sort >got
    awk 'BEGIN { for (i = 10; i <= 20000; i += 10)
        printf "%d,0x%x,%d,s%d,%d\n", i, 4096 + i, i, i % 3, i % 7 + 41 }' | sort >want
    same want got
}

@test "shares, cumulative shares, the knee" {
    {
        echo time,op,addr,function,weight
        i=0
        for w in 50 30 10 4 3 2 1; do echo "$((++i)),load,0x1,f$i,$w"; done
    } >a.csv
    stream a.cf a.csv
    run -0 --separate-stderr cf-rank a.cf
    # farthest above the chord: 50 - 14.3, 80 - 28.6, 90 - 42.9, 94 - 57.1, ... is greatest at two
    is "rank,function,accesses,share_percent,cumulative_percent,knee
1,f1,50,50.000,50.000,0
2,f2,30,30.000,80.000,1
3,f3,10,10.000,90.000,0
4,f4,4,4.000,94.000,0
5,f5,3,3.000,97.000,0
6,f6,2,2.000,99.000,0
7,f7,1,1.000,100.000,0"
    [[ $stderr == "cf-rank: knee: the first 2 of 7 functions make 80.0 % of the accesses" ]]
    run -0 --separate-stderr cf-rank -q --top 3 a.cf
    [[ ${#lines[@]} == 4 && ${lines[3]} == 3,f3,10,10.000,90.000,0 && -z $stderr ]]
}

@test "no knee where all are equal; the knee of random rows against awk" {
    printf 'time,op,addr,function\n1,load,1,a\n2,load,1,b\n' >a.csv
    stream a.cf a.csv
    run -0 --separate-stderr cf-rank a.cf
    has "knee: none" "$stderr"
    [[ $output != *,1 ]]
    cf-rank -q --by source "$D/in.cf" >got
    tail -n +2 got | awk -F, '{ v[NR] = $3; t += $3; if ($6) k = NR }
        END { for (i = 1; i <= NR; i++) { c += v[i]; d = c * NR - i * t; if (d > m) { m = d; w = i } }
              exit !(k == w && k > 10) }'
}

@test "--cover: the working set" {
    {
        echo time,op,addr,region,page,weight
        i=0
        for w in 50 30 10 4 3 2 1; do echo "$((++i)),load,0x1,r,$i,$w"; done
    } >a.csv
    stream a.cf a.csv
    run -0 cf-rank --by page --cover a.cf
    is "share_percent,count,of,size_bytes
90,3,7,12288
95,5,7,20480
99,6,7,24576"
    run -0 cf-rank --by page --cover=0,80,80.01,100 --page-size 1024 a.cf
    is "share_percent,count,of,size_bytes
0,0,7,0
80,2,7,2048
80.01,3,7,3072
100,7,7,7168"
    run -0 cf-rank --by region --cover=50 a.cf
    is "share_percent,count,of
50,1,1"
    cf-rank --by object --cover=100 "$D/in.cf" >got
    [[ $(tail -n 1 got) == "100,50,50,19600" ]] # 16 * (1 + ... + 49), and no object
    run -2 cf-rank --cover=101 a.cf
    run -2 cf-rank --cover=x a.cf
    run -2 cf-rank --cover -n 3 a.cf
    has "--cover does not go with --top"
}

@test "nothing to count: a header, status 0" {
    printf 'time,op,addr,function\n1,flush,1,a\n' >a.csv
    stream a.cf a.csv
    run -0 cf-rank a.cf
    is "rank,function,accesses,share_percent,cumulative_percent,knee"
    run -0 cf-rank --cover=90 a.cf
    is "share_percent,count,of
90,0,0"
}

@test "two segments: strings are the same by their text, objects are not" {
    printf 'time,op,addr,function,object\n1,load,1,x,1\n2,load,1,y,1\n' >a.csv
    printf 'time,op,addr,function,object\n1,load,1,y,1\n' >b.csv
    printf 'time,pid,op,addr,bytes,object\n0,1,alloc,0x10,5,1\n' >oa.csv
    printf 'time,pid,op,addr,bytes,object\n0,1,alloc,0x20,6,1\n' >ob.csv
    stream a.cf --with object=oa.csv a.csv
    stream b.cf --with object=ob.csv b.csv
    run -0 bash -c 'cat a.cf b.cf | cf-rank -q | cut -d, -f1-3'
    is "rank,function,accesses
1,y,2
2,x,1"
    run -0 bash -c 'cf-rank -q --by object a.cf b.cf | cut -d, -f1-4,6'
    is "rank,object,address,size_bytes,accesses
1,1,0x10,5,2
2,1,0x20,6,1"
}

@test "columns that are missing: status 1, and the program that adds them is named" {
    printf 'time,op,addr\n1,load,1\n' >a.csv
    stream a.cf a.csv
    local by
    for by in page region object site function source symbol; do
        run -1 --separate-stderr cf-rank --by $by a.cf
        has cf-resolve "$stderr"
    done
    run -1 --separate-stderr cf-rank --by op --value cost a.cf
    has "'cost'" "$stderr"
}

@test "a terminal gets the first 20, and is told how many more there are" {
    need script
    awk 'BEGIN { print "time,op,addr,function"; for (i = 0; i < 300; i++) printf "%d,load,1,f%d\n", i, i % 24 }' |
        stream a.cf
    script -qec "cf-rank a.cf" /dev/null </dev/null | tr -d '\r' >out
    [[ $(grep -c ' f[0-9]' out) == 20 ]]
    grep -q '^cf-rank: 4 more functions: --top 24 prints all$' out
    grep -qx 'rank  function  accesses  share_percent  cumulative_percent  knee' out
    script -qec "cf-rank --top 24 a.cf" /dev/null </dev/null | tr -d '\r' >out
    [[ $(grep -c ' f[0-9]' out) == 24 ]]
    ! grep -q 'more functions' out || false
    [[ $(cf-rank -q a.cf | wc -l) == 25 ]]
}

@test "accesses of which nothing says what missed: no header, no picture, status 1" {
    printf 'time,op,addr\n1,load,64\n2,load,128\n' | stream a.cf
    for value in misses l1-misses hits; do
        run -1 --separate-stderr cf-rank --by cache-line --value $value --picture a.svg a.cf
        [[ -z $output && ! -e a.svg ]]
        [[ $value == l1-misses ]] || has 'none of the columns class, hit and level' "$stderr"
        [[ $value != l1-misses ]] || has 'neither of the columns hit and level, which say what missed' "$stderr"
    done
    # those of which something does are ranked, by several processes too
    printf 'time,op,addr,hit\n1,load,64,255\n2,load,192,1\n' | stream hit.cf
    cf-cat hit.cf a.cf >both.cf
    cf-cat -q -o packed.cf both.cf
    for value in misses l1-misses; do
        run -1 --separate-stderr cf-rank -q --by cache-line --value $value packed.cf
        [[ $output == *$'\n'1,0,0x40,1,* && $stderr == *"which say what missed"* ]] || fail "$output"
        one=$output said=$stderr
        run -1 --separate-stderr cf-rank -q -j 2 --by cache-line --value $value packed.cf
        [[ $output == "$one" && $stderr == "$said" ]] || fail "$output$stderr"
    done
    # a class says what missed, but not of which level
    printf 'op,addr,class\nload,64,1\n' | stream class.cf
    for value in l1-misses 'hits --level 2'; do
        # shellcheck disable=SC2086 # words
        run -1 --separate-stderr cf-rank --by cache-line --value $value class.cf
        has 'the accesses have a class, but neither of the columns hit and level, which say what missed' "$stderr"
    done
    run -0 cf-rank -q --by cache-line --value misses class.cf
    run -1 --separate-stderr cf-rank --by op --value misses --before a.cf a.cf
    [[ -z $output ]]
    run -1 --separate-stderr cf-rank --by cache-line --value accesses,misses a.cf
    [[ -z $output ]]
    run -1 --separate-stderr cf-rank --by cache-line --value ratio a.cf
    [[ -z $output ]]
    # of two segments, the one that has them is ranked
    cf-cache -q -m raspberry-pi-4 a.cf >b.cf
    cat a.cf b.cf >both.cf
    run -1 --separate-stderr cf-rank --by cache-line --value misses both.cf
    [[ ${#lines[@]} == 3 ]]
}

@test "wrong options" {
    run -2 cf-rank --by nonsense </dev/null
    run -2 cf-rank --value nonsense </dev/null
    run -2 cf-rank --op map </dev/null
    run -2 cf-rank --op load --value stores </dev/null
    run -2 cf-rank --line-size 48 </dev/null
    run -2 cf-rank --top 0 </dev/null
    run -2 cf-rank --value misses --class none </dev/null
    run -2 cf-rank --value misses --class good </dev/null
    run -2 cf-rank --value hits --class conflict </dev/null
    run -2 cf-rank --value cost --dist 5 </dev/null
    run -2 cf-rank --value misses --dist 0 </dev/null
    run -2 cf-rank --value cost --level 2 </dev/null
    has "--level goes with --value misses or hits"
    run -2 cf-rank --value misses --dist 5 --level 1 </dev/null
    # a name that is empty, as of a variable that is not set, is none
    for option in --by '--value misses --class' --value --sort --op; do
        for name in '' ,; do
            # shellcheck disable=SC2086 # an option, or several
            run -2 cf-rank $option "$name" </dev/null
            has ": give one of "
        done
    done
}

@test "--picture: bars in the order of the ranking, as long as their values" {
    awk 'BEGIN { print "time,op,addr,function"; for (i = 0; i < 300; i++) printf "%d,load,64,%s\n", i, i < 200 ? "first" : "second" }' |
        stream two.cf
    cf-rank -q --picture r.png two.cf >r.csv
    same <(cf-rank -q two.cf) r.csv
    [[ $(file -b r.png) == 'PNG image data, 900 x 500, 8-bit/color RGB, non-interlaced' ]]
    # the first ends at 788 - what the names leave; the second is half as long
    pixels r.png 100,64 400,64 780,64 100,82 400,82 780,82 >colours
    same <(printf '%s\n' 0072b2 0072b2 0072b2 0072b2 0072b2 ffffff) colours
    cf-rank -q --picture - two.cf | cmp - r.png
    cf-rank -q --by op --picture t.svg --picture-size 60x40mm --title '' two.cf >/dev/null
    grep -q '<svg ' t.svg
    run -2 cf-rank --picture r.png --cover two.cf
    printf 'time,op,addr,function\n' | stream none.cf
    cf-rank -q --picture none.pdf none.cf >/dev/null
    [[ $(head -c 5 none.pdf) == %PDF- ]]
    # long names, more than there is room for
    awk 'BEGIN { print "time,op,addr,function"; for (i = 0; i < 3000; i++) printf "%d,load,64,a_function_with_a_long_name_that_is_cut_%d\n", i, i % 60 }' |
        stream many.cf
    cf-rank -q --picture many.png --picture-size 85x60mm many.cf >/dev/null
    mapfile -t edge < <(for p in $(seq 1 7 708); do printf '%s\n' "1002,$p" "1,$p"; done)
    pixels many.png "${edge[@]}" | sort -u >edges
    same <(echo ffffff) edges
}

@test "--picture says how many entries it does not show, of all that there are" {
    for n in 60 160; do
        awk -v n=$n 'BEGIN { print "time,addr,function,weight"
            for (i = 0; i < n; i++) printf "%d,64,f%03d,%d\n", i, i, i < 50 ? 1000000 : 1 }' | stream $n.cf
        cf-rank -q --title '' --picture-size 900x1200 --picture $n.svg $n.cf >/dev/null
    done
    # the entries that are shown are the same, what is said of the rest is not
    run ! cmp -s 60.svg 160.svg
}

@test "--by line is a cache line, which it says" {
    printf 'time,op,addr\n1,load,64\n2,load,65\n3,load,192\n' | stream a.cf
    run -0 --separate-stderr cf-rank -q --by line a.cf
    is "$(cf-rank -q --by cache-line a.cf)"
    [[ ${#lines[@]} == 3 ]]
    [[ $stderr == 'cf-rank: --by line is --by cache-line now, and will be unknown in the next version' ]]
    run -0 --separate-stderr cf-rank -q --by cache-line a.cf
    [[ ! $stderr ]]
    run -2 cf-rank --by nonsense a.cf
    has 'cache-line'
}

# page_rows: table page of the rows on standard input, region,page,runtime_cycles,policy,k
page_rows() {
    { echo region,page,runtime_cycles,policy,k; cat; } >rows.csv
    stream "$1" --table page rows.csv
}

@test "--value gain --of COLUMN: of what was counted, not of the runtime" {
    {
        echo region,page,runtime_cycles,policy,k,misses
        printf '%s\n' ,0,1000,1,0,90 ,0,400,2,0,10 a,0,700,3,0,80 b,3,900,3,0,40 a,1,1000,3,0,95 ,0,500,5,1,30 \
            ,0,450,5,2,10
    } >rows.csv
    stream p.cf --table page rows.csv
    run -0 --separate-stderr cf-rank --by page --value gain --of misses p.cf
    is "rank,region,page,gain_misses,gain_least,gain_most,runs,share_percent,cumulative_percent,best_k_misses,moved_k_misses,working_set
1,b,3,50,50,50,1,83.333,83.333,30,,1
2,a,0,10,10,10,1,16.667,100.000,10,,1
3,a,1,-5,-5,-5,1,0.000,100.000,,,0"
    has 'working set: 2 of 3 pages' "$stderr"
    # of the runtime the other one is first
    cf-rank -q --by page --value gain p.cf | sed -n 2p | cut -d, -f2,3 | same - <(echo a,0)
    cf-rank -q --by page --value gain --of misses --against p.cf p.cf | sed -n 2p | same - <(echo spearman,3,1.0000)
    printf '%s\n' ,0,1000,1,0 a,0,700,3,0 | page_rows q.cf
    run -1 cf-rank --by page --value gain --of misses q.cf
    has "table page has no column 'misses' of whole numbers"
    run -1 cf-rank --by page --value gain --of region q.cf
    cat p.cf q.cf >both.cf
    run -0 --separate-stderr cf-rank --by page --value gain --of misses both.cf
    has "2 rows without column 'misses' are left out" "$stderr"
    has ',b,3,50,50,50,1,'
    run -2 cf-rank --of misses p.cf
    run -2 cf-rank --by page --value gain --of misses --picture p.png p.cf
    run -2 cf-rank --by page --value gain --of mis,ses p.cf
}

@test "--value gain --picture: regions beyond the seventh have the colour of the others, whichever they are" {
    local i name
    for name in lib7 '[heap]' '[stack]'; do
        { printf '%s\n' region,page,runtime_cycles,policy,k ,0,1000,1,0
            for i in {0..6}; do echo "lib$i,0,$((800 + i)),3,0"; done
            printf '%s,0,890,3,0\nlib8,0,891,3,0\n' "$name"; } | cf-capture csv -q --table page >p.cf
        cf-rank -q --by page --value gain --picture p.svg p.cf >/dev/null
        grep -o 'fill:rgb([^)]*)' p.svg | sort -u >"$name"
        same lib7 "$name"
    done
    (($(wc -l <lib7) >= 8))
}

@test "--value gain: pages by what being cached alone gains, with its spread; the knee where no run says more" {
    printf '%s\n' ,0,1000,1,0 ,0,400,2,0 a,0,700,3,0 a,0,720,3,0 b,3,900,3,0 a,1,1000,3,0 | page_rows p.cf
    run -0 --separate-stderr cf-rank --by page --value gain p.cf
    is "rank,region,page,gain_cycles,gain_least,gain_most,runs,share_percent,cumulative_percent,best_k_cycles,moved_k_cycles,working_set
1,a,0,290,280,300,2,74.359,74.359,,,1
2,b,3,100,100,100,1,25.641,100.000,,,0
3,a,1,0,0,0,1,0.000,100.000,,,0"
    has "working set: 1 of 3 pages, by the knee" "$stderr"
    run -0 cf-rank -q --by page --value gain --top 1 p.cf
    [ "${#lines[@]}" -eq 2 ]
    cf-rank -q --by page --value gain --picture gains.svg p.cf >/dev/null
    cf-rank -q --by page --value gain --top 1 --picture one.svg p.cf >/dev/null
    [ -s one.svg ]
    run ! cmp -s one.svg gains.svg
    # and a page that calls it so
    cf-rank -q --by page --value gain --html gains.html p.cf >/dev/null
    grep -q 'no run shows the working set, the knee of gains is at 1' gains.html
    run ! grep -q 'a working set of' gains.html
}

@test "--value gain: what a page loses lies below 0, and 0 has no sign" {
    # the mean of the first two is 1000.5, of which a 3 loses 0.5
    printf '%s\n' ,0,1000,1,0 ,0,1001,1,0 ,0,400,2,0 a,0,700,3,0 a,3,1001,3,0 a,5,1200,3,0 | page_rows p.cf
    run -0 cf-rank -q --by page --value gain --picture loss.png p.cf
    is "rank,region,page,gain_cycles,gain_least,gain_most,runs,share_percent,cumulative_percent,best_k_cycles,moved_k_cycles,working_set
1,a,0,300,300,300,1,100.000,100.000,,,1
2,a,3,0,0,0,1,0.000,100.000,,,0
3,a,5,-200,-200,-200,1,0.000,100.000,,,0"
    # 30 % upwards from 0 and 20 % downwards, of 50 in all
    run -0 pixels loss.png 200,150 200,400 700,150 700,400
    is '009e73
f3f4f7
f3f4f7
009e73'
}

@test "--value gain: runs with the best k count where these are the first k here" {
    printf '%s\n' ,0,1000,1,0 ,0,400,2,0 a,0,700,3,0 a,1,800,3,0 a,2,900,3,0 | page_rows p.cf
    ranked() { cf-rank -q --by page --value gain "$@" | cut -d, -f3,10,12 | tail -n +2 | tr '\n' ' '; }
    # of which nothing says what their pages are
    printf '%s\n' ,0,1000,5,0 ,0,700,5,1 ,0,405,5,2 ,0,400,5,3 | page_rows unnamed.cf
    [ "$(ranked p.cf unnamed.cf)" = "0,700,1 1,405,1 2,400,0 " ]
    printf '%s\n' ,0,1000,5,0 a,0,700,5,1 a,1,405,5,2 a,2,400,5,3 | page_rows same.cf
    [ "$(ranked p.cf same.cf)" = "0,700,1 1,405,1 2,400,0 " ]
    [ "$(ranked same.cf p.cf)" = "0,700,1 1,405,1 2,400,0 " ]
    # the best one is another, and from two on they are the same
    printf '%s\n' ,0,1000,5,0 a,1,402,5,1 a,0,401,5,2 a,2,400,5,3 | page_rows other.cf
    [ "$(ranked p.cf other.cf)" = "0,,1 1,401,1 2,400,0 " ]
    run -0 --separate-stderr cf-rank -q --by page --value gain p.cf other.cf
    has "1 runs with the best k pages cached are left out: these are other pages than the k that gain most here" "$stderr"
    # one that this profile does not have; two orders
    printf '%s\n' ,0,1000,5,0 a,0,700,5,1 b,0,402,5,2 a,1,401,5,3 | page_rows foreign.cf
    [ "$(ranked p.cf foreign.cf)" = "0,700,1 1,,1 2,,1 " ]
    [ "$(ranked p.cf same.cf other.cf)" = "0,,1 1,,1 2,,1 " ]
}

@test "--value gain: without one page each, what its lack costs" {
    printf '%s\n' ,0,400,2,0 a,0,700,4,0 a,1,450,4,0 | page_rows p.cf
    run -0 cf-rank -q --by page --value gain p.cf
    has "1,a,0,300,300,300,1,85.714,85.714,,,1"
    has "2,a,1,50,"
}

@test "--value gain: the working set by runs of the best k, within --wss percent" {
    printf '%s\n' ,0,1000,1,0 ,0,400,2,0 a,0,700,3,0 b,3,900,3,0 a,1,950,3,0 ,0,1000,5,0 ,0,700,5,1 ,0,407,5,2 ,0,400,5,3 | page_rows p.cf
    run -0 --separate-stderr cf-rank --by page --value gain p.cf
    has "working set: 2 of 3 pages, whose run is within 2 %" "$stderr"
    has "1,a,0,300,300,300,1,66.667,66.667,700,,1"
    has "2,b,3,100,100,100,1,22.222,88.889,407,,1"
    has "3,a,1,50,50,50,1,11.111,100.000,400,,0"
    run -0 --separate-stderr cf-rank --by page --value gain --wss 1 p.cf
    has "working set: 3 of 3 pages" "$stderr"
    run -0 --separate-stderr cf-rank --by page --value gain --wss 75 p.cf
    has "working set: 1 of 3 pages" "$stderr"
    # the runs go no further than to two
    printf '%s\n' ,0,1000,1,0 ,0,400,2,0 a,0,700,3,0 b,3,900,3,0 a,1,950,3,0 ,0,700,5,1 ,0,450,5,2 | page_rows short.cf
    run -0 --separate-stderr cf-rank --by page --value gain short.cf
    has "working set: not known, taken as all 3 pages: no run with the best k is within 2 %" "$stderr"
    has "3,a,1,50,50,50,1,11.111,100.000,,,1"
}

@test "--value gain: runs with pages moved stand beside; runs of the other mode and other programs are told of" {
    printf '%s\n' ,0,1000,1,0 ,0,400,2,0 a,0,700,3,0 b,3,900,3,0 ,0,800,6,1 ,0,600,6,1 ,0,500,6,2 a,0,450,4,0 | page_rows p.cf
    run -0 --separate-stderr cf-rank --by page --value gain p.cf
    has "1,a,0,300,300,300,1,75.000,75.000,,700,1"
    has "2,b,3,100,100,100,1,25.000,100.000,,500,0"
    has "1 runs with all pages but one cached are left out" "$stderr"
    ! has "taken for the same" "$stderr" || false
    for name in one two; do
        OBSERVED="$name -x" make_stream through x <p.cf >"$name.cf"
    done
    OBSERVED="one -y" make_stream through x <p.cf >again.cf
    run -0 --separate-stderr cf-rank --by page --value gain one.cf two.cf
    has "runs of one and of two: their pages are taken for the same" "$stderr"
    run -0 --separate-stderr cf-rank --by page --value gain one.cf again.cf p.cf # the last says nothing of what it observed
    ! has "taken for the same" "$stderr" || false
}

@test "--value gain: runs of different calls of the function are told of" {
    calls() { # calls FILE CALL...: of the runs with none, all and one page cached
        { echo region,page,runtime_cycles,policy,call; printf '%s\n' ",0,1000,1,$2" ",0,400,2,$3" "a,0,700,3,$4"; } >rows.csv
        stream "$1" --table page rows.csv
    }
    calls one.cf 1 0 1
    calls two.cf 2 2 2
    run -0 --separate-stderr cf-rank --by page --value gain one.cf two.cf
    has "runs of call 1 and of call 2 of the function are taken for runs of one" "$stderr"
    run -0 --separate-stderr cf-rank --by page --value gain --against two.cf one.cf
    ! has "runs of call" "$stderr" || false
}

@test "--value gain: a picture and a page: bars with what they vary by, the curve of the best k" {
    printf '%s\n' ,0,1000,1,0 ,0,400,2,0 '[heap],0,700,3,0' '[heap],0,720,3,0' '[stack],3,900,3,0' | page_rows bars.cf
    printf '%s\n' ,0,1000,5,0 ,0,710,5,1 ,0,400,5,2 | page_rows best.cf
    cf-rank -q --by page --value gain --picture bars.svg --picture-size 500x400 bars.cf >/dev/null
    cf-rank -q --by page --value gain --picture both.svg --picture-size 500x400 --html both.html bars.cf best.cf >/dev/null
    [ "$(grep -c '<path\|<use\|<rect' both.svg)" -gt "$(grep -c '<path\|<use\|<rect' bars.svg)" ]
    grep -qF '["[heap] 0",290,280,300,"[heap]"]' both.html
    grep -qF '"best":[[0,1000,1000,1000],[1,710,710,710],[2,400,400,400]]' both.html
    grep -qF '"none":1000,"every":400' both.html
    # with a working set of a page that no run is of, none is drawn; with no runs, no curve
    cf-rank -q --by page --value gain --html - bars.cf | grep -qF '"best":[]'
    run -2 cf-rank --by page --value gain --against bars.cf --html x.html bars.cf
    run -2 cf-rank --cover --html x.html bars.cf
    run -2 cf-rank --before bars.cf --html x.html bars.cf
}

@test "--html: a page of any ranking; no page where nothing was ranked" {
    printf '%s\n' addr,function,op 1,f,load 2,f,load '3,"g, ""h"" </script>",load' | stream accesses.cf -
    cf-rank -q --html page.html accesses.cf >/dev/null
    grep -qF '["f","2"]' page.html
    [ "$(grep -c '</script>' page.html)" -eq 2 ]
    cf-rank -q --top 1 --html - accesses.cf >one.html
    ! grep -qF 'h\"' one.html || false
    grep -qF '"all":2' one.html
    # to the last digit
    printf 'op,size,addr,function,weight\nload,8,4096,f,12345678912\n' | cf-capture csv -q | cf-rank -q --html many.html >/dev/null
    grep -qF '["f","12345678912"]' many.html
    grep -qF '"total":12345678912,' many.html
    run -1 cf-rank --value misses --html none.html accesses.cf
    [ ! -e none.html ]
}

@test "--against: the same profile agrees, the turned one does not, others have common pages" {
    for i in 0 1 2 3 4 5 6 7 8 9 10 11; do echo "a,$i,$((900 - 10 * i)),3,0"; done >up
    for i in 0 1 2 3 4 5 6 7 8 9 10 11; do echo "a,$i,$((700 + 10 * i)),3,0"; done >down
    for name in up down; do { echo ,0,1000,1,0; cat $name; } | page_rows $name.cf; done
    run -0 cf-rank -q --by page --value gain --against up.cf up.cf
    is "measure,pages,value
spearman,12,1.0000
kendall,12,1.0000
overlap_of_best,10,1.0000
overlap_of_best,12,1.0000
overlap_of_working_set,6,1.0000"
    run -0 cf-rank -q --by page --value gain --against down.cf up.cf
    has "spearman,12,-1.0000"
    has "kendall,12,-1.0000"
    has "overlap_of_best,10,0.8000"
    # ties, by hand: pages a and b equal in one, apart in the other
    printf '%s\n' ,0,100,1,0 a,0,90,3,0 b,0,90,3,0 c,0,50,3,0 | page_rows x.cf
    printf '%s\n' ,0,100,1,0 a,0,90,3,0 b,0,80,3,0 c,0,50,3,0 d,0,95,3,0 | page_rows y.cf
    run -0 --separate-stderr cf-rank --by page --value gain --against y.cf x.cf
    has "0 pages are in one profile, 1 in the other alone" "$stderr"
    # ranks 2.5 2.5 4 1 and 2 3 4 1; 5 pairs of 6 differ in x, none against
    has "spearman,4,0.9487"
    printf '%s\n' ,0,100,1,0 z,0,90,3,0 | page_rows z.cf
    run -1 --separate-stderr cf-rank --by page --value gain --against z.cf x.cf
    has "z.cf: has no page of the other profile" "$stderr"
    [ -z "$output" ]
    run -0 --separate-stderr cf-rank --by page --value gain --against y.cf x.cf
    has "kendall,4,0.9129"
}

@test "--value gain: what does not go together, and profiles without baselines, are refused" {
    printf '%s\n' ,0,1000,1,0 a,0,700,3,0 | page_rows p.cf
    printf '%s\n' a,0,700,3,0 | page_rows none.cf
    printf '%s\n' a,0,700,4,0 | page_rows all.cf
    printf '%s\n' ,0,700,1,0 ,0,70,2,0 | page_rows base.cf
    run -1 cf-rank --by page --value gain none.cf
    has "no run with no page cached"
    run -1 cf-rank --by page --value gain all.cf
    has "no run with all pages cached"
    run -1 cf-rank --by page --value gain base.cf
    has "no run with one page cached"
    for o in '--value gain' '--by page,op --value gain' '--by page --value gain --op load' '--by page --value gain --cover' \
        '--by page --value gain --before p.cf' '--by page --wss 3' '--by page --against p.cf' '--by page --value gain,misses'; do
        # shellcheck disable=SC2086 # a list of options
        run -2 cf-rank $o p.cf
    done
    printf '%s\n' addr 0 | stream accesses.cf -
    run -1 --separate-stderr cf-rank --by page --value gain accesses.cf
    has "none of table page" "$stderr"
    [ -z "$output" ]
}

@test "what missed and has no class by rule cacheperf is no hit: a message says how many there are" {
    local said='cf-rank: 40 accesses missed the first level and have no class by rule cacheperf: they count as no misses and no hits, but in the ratio; --level 1 counts them'
    # a statement with half of the misses, and one with too few, which is not reported
    awk 'BEGIN { print "time,pid,tid,op,addr,size,pc,level,weight"
        for (i = 0; i < 2000; i++) print i ",7,7,load," i * 4160 ",8,256," (i % 2 ? 255 : 1) ",10"
        for (i = 0; i < 500; i++) print 2000 + i ",7,7,store," i * 8 ",8,512," (i < 4 ? 2 : 1) ",10" }' | stream s.cf
    cf-classify -q --rule cacheperf -m xeon-6230 -o in.packed.cf s.cf 2>/dev/null
    run -0 --separate-stderr cf-rank -q --by op,class --value accesses,misses,hits,ratio in.packed.cf
    [[ $(cut -d, -f2-7 <<<"$output") == 'op,class,accesses,misses,hits,miss_ratio
load,none,10000,0,10000,0.000000
load,capacity,10000,10000,0,1.000000
store,none,5000,0,4960,0.000000' && $stderr == "$said" ]] || fail "$output$stderr"
    parts 2 in.packed.cf cf-rank -q --by op --value hits
    run -0 --separate-stderr cf-rank -q --by op --value hits p.1.cf p.2.cf
    [[ $stderr == "$said" && ${lines[2]} == 2,store,4960,* ]] || fail "$output$stderr"
    # all that missed, or those of a class
    run -0 --separate-stderr cf-rank -q --by op --value misses,hits --level 1 in.packed.cf
    [[ ! $stderr && ${lines[2]} == 2,store,40,4960,* ]] || fail "$output$stderr"
    run -0 --separate-stderr cf-rank -q --by op --value misses --class capacity in.packed.cf
    [[ ! $stderr ]] || fail "$stderr"
}

@test "of level 0 nothing is known: a message says how many there are" {
    local said='cf-rank: what served 7 accesses is not known (level 0): they count neither as misses nor as hits, but in the ratio as accesses'
    printf 'time,op,addr,hit,weight\n1,load,1,1,1\n2,load,1,255,3\n3,store,1,0,5\n4,load,1,0,2\n5,ifetch,1,0,9\n' | stream in.packed.cf
    run -0 --separate-stderr cf-rank -q --by op --value accesses,misses,hits,ratio in.packed.cf
    [[ ${lines[1]} == 1,load,6,3,1,0.5* && $stderr == "$said" ]] || fail "$output$stderr"
    run -0 --separate-stderr cf-rank -q --by op --value hits --level 1 in.packed.cf
    [[ $stderr == "$said" ]] || fail "$stderr"
    run -0 --separate-stderr cf-rank -q --by op --value l1-misses in.packed.cf
    [[ $stderr == "$said" ]] || fail "$stderr"
    parts 2 in.packed.cf cf-rank -q --by op --value misses
    run -0 --separate-stderr cf-rank -q --by op --value misses p.1.cf p.2.cf
    [[ $stderr == "$said" ]] || fail "$stderr"
    run -0 --separate-stderr cf-rank -q --by op --value accesses in.packed.cf
    [[ ! $stderr ]]
}
