# SPDX-License-Identifier: BSD-2-Clause
#
# cf-histogram: by hand, and of random rows against awk.
load lib

setup_file() {
    PATH=${CF_B:-$BATS_TEST_DIRNAME/../build}/bin:$PATH
    cd "$BATS_FILE_TMPDIR" || return 1
    awk 'BEGIN {
        srand(5)
        print "time,pid,tid,op,size,addr,weight,function,dist,hit,class,cost,dist_weight"
        split("load store ifetch", op, " ")
        for (i = 0; i < 40000; i++) {
            r = rand(); dist = int(2 ^ (rand() * 30))
            if (r < .25) dist = r < .1 ? "inf" : r < .15 ? "18446744073709551614" : r < .2 ? "18446744073709551613" : "18446744073709551612"
            printf "%d,%d,%d,%s,%d,%d,%d,f%d,%s,%d,%d,%d,1\n", i, 100 + int(rand() * 3), 7, op[1 + int(rand() * 3)],
                2 ^ int(rand() * 6), 4096 + rand() * 65536, 1 + int(rand() * 9), rand() * rand() * 300, dist,
                rand() < .1 ? 255 : 1 + int(rand() * 3), rand() * 4, rand() * rand() * 5000
        }
        }' >in.csv
    cf-capture csv -q in.csv >in.cf
    cf-cat in.cf -o in.packed.cf
}

setup() {
    lib_setup
    D=$BATS_FILE_TMPDIR
}

# Columns: 1 time 2 pid 3 tid 4 op 5 size 6 addr 7 weight 8 function 9 dist 10 hit 11 class 12 cost 13 dist_weight

# counted KEY VALUE: "key sum" by awk, rows in no order
counted() {
    awk -F, "NR > 1 { sum[$1] += $2 } END { for (k in sum) if (sum[k]) print k \",\" sum[k] }" "$D/in.csv"
}

# Shares and cumulative shares, of lines "...,count" (the last field), grouped by the first G fields.
# Prints what cf-histogram prints.
with_shares() {
    awk -F, -v groups="$1" '{ line[NR] = $0; key[NR] = groups ? $1 : ""; n[NR] = $NF; sum[key[NR]] += $NF }
        END { for (i = 1; i <= NR; i++) { so[key[i]] += n[i]
            printf "%s,%.6f,%.6f\n", line[i], n[i] / sum[key[i]], so[key[i]] / sum[key[i]] } }'
}

@test "exact bins: as awk, raw and packed" {
    counted '$12' '$7' | sort -t, -k1,1n | with_shares 0 >want
    (($(wc -l <want) > 1000))
    for f in in.cf in.packed.cf; do
        cf-histogram --column cost --bins exact "$D/$f" >got
        [[ $(head -n 1 got) == value,count,share,cumulative_share ]]
        tail -n +2 got | same want -
    done
}

@test "exact bins are usual for texts and small columns; values have their names" {
    counted '$8' '$7' | LC_ALL=C sort -t, -k1,1 | with_shares 0 >want
    (($(wc -l <want) > 200))
    cf-histogram --column function "$D/in.cf" | tail -n +2 | same want -
    counted '($10 == 255 ? "memory" : $10)' '$7' | sort -t, -k1,1 | with_shares 0 >want
    cf-histogram --column hit "$D/in.cf" | tail -n +2 | same want -
    counted '$4' '$7' | sort | with_shares 0 | sort >want
    cf-histogram --column op "$D/in.cf" | tail -n +2 | cut -d, -f1-3 | sort >got
    cut -d, -f1-3 want | same - got
    counted '$2' 1 | sort | with_shares 0 >want
    cf-histogram --column pid --weight none "$D/in.cf" | tail -n +2 | same want -
    cf-histogram --column class "$D/in.cf" | cut -d, -f1 >got
    printf '%s\n' value none compulsory capacity conflict | same - got
}

@test "powers of two, and groups: as awk" {
    awk -F, 'NR > 1 { b = 0; for (v = $12; v >= 1; v = int(v / 2)) b++; n[$4 "," (b ? 2 ^ (b - 1) : 0) "," 2 ^ b - 1] += $7 }
        END { for (k in n) print k "," n[k] }' "$D/in.csv" | sort -t, -k1,1 -k2,2n | with_shares 1 >want
    (($(wc -l <want) > 30))
    cf-histogram --column cost --by op "$D/in.cf" >got
    [[ $(head -n 1 got) == op,bin_low,bin_high,count,share,cumulative_share ]]
    # groups are in the order of their numbers: load, store, ifetch
    tail -n +2 got | sort -t, -k1,1 -k2,2n | same want -
    [[ $(cut -d, -f1 got | uniq | paste -sd,) == op,load,store,ifetch ]]
}

@test "groups of texts, of exact large values" {
    counted '$8 "," $12' '$7' | LC_ALL=C sort -t, -k1,1 -k2,2n | with_shares 1 >want
    (($(wc -l <want) > 20000))
    cf-histogram --column cost --bins exact --by function "$D/in.cf" | tail -n +2 | same want -
}

@test "equal bins: the least power of two with which all fit, whatever the order of the values" {
    for n in 1 7 100 4096; do
        awk -F, -v most=$n 'NR > 1 { v[NR] = $6 + 0; if (NR == 2 || v[NR] < low) low = v[NR]; if (v[NR] > high) high = v[NR]; w[NR] = $7 }
            END { for (width = 1; int(high / width) - int(low / width) >= most; width *= 2);
                for (i = 2; i <= NR; i++) sum[int(v[i] / width)] += w[i]
                for (b = int(low / width); b <= int(high / width); b++)
                    printf "0x%x,0x%x,%d\n", b * width, b * width + width - 1, sum[b] }' "$D/in.csv" | with_shares 0 >want
        (($(wc -l <want) <= n && 2 * $(wc -l <want) >= n))
        cf-histogram --column addr --bins $n "$D/in.cf" | tail -n +2 | same want - || fail "--bins $n"
    done
    printf 'time,addr\n1,0xffffffffffffffff\n2,0x8000000000000000\n3,0x7fffffffffffffff\n4,0x7000000000000000\n' | stream a.cf
    run -0 cf-histogram --column addr --bins 4 a.cf
    is "bin_low,bin_high,count,share,cumulative_share
0x4000000000000000,0x7fffffffffffffff,2,0.500000,0.500000
0x8000000000000000,0xbfffffffffffffff,1,0.250000,0.750000
0xc000000000000000,0xffffffffffffffff,1,0.250000,1.000000"
    # one bin of all that 64 bits hold, whether they come at once or in frames of their own
    printf 'time,addr\n1,1\n2,2\n' | stream b.cf
    run -0 timeout 10 cf-histogram --column addr --bins 1 b.cf a.cf
    is "bin_low,bin_high,count,share,cumulative_share
0x0,0xffffffffffffffff,6,1.000000,1.000000"
    [[ $(timeout 10 cf-histogram --column addr --bins 1 a.cf | tail -n 1) == 0x0,0xffffffffffffffff,4,* ]]
}

@test "distances: what is none has a name and comes last, what is unknown has no share" {
    printf 'time,op,addr,dist_weight,dist\n1,load,1,1,inf\n2,load,1,1,0\n3,load,1,1,5\n4,load,1,1,18446744073709551614\n5,ifetch,1,0,18446744073709551613\n6,load,1,0,18446744073709551612\n' | stream a.cf
    run -0 cf-histogram a.cf
    is "bin_low,bin_high,count,share,cumulative_share
0,0,1,0.250000,0.250000
1,1,0,0.000000,0.250000
2,3,0,0.000000,0.250000
4,7,1,0.250000,0.500000
beyond,,1,0.250000,0.750000
first_access,,1,0.250000,1.000000
not_sampled,,1,,
none,,1,,"
    run -0 cf-histogram --bins exact --by op a.cf
    is "op,value,count,share,cumulative_share
load,0,1,0.250000,0.250000
load,5,1,0.250000,0.500000
load,beyond,1,0.250000,0.750000
load,first_access,1,0.250000,1.000000
load,not_sampled,1,,
ifetch,none,1,,"
    # and against awk
    awk -F, 'NR > 1 { k = $9 == "inf" ? "first_access" : $9 ~ /709551614$/ ? "beyond" : $9 ~ /709551613$/ ? "none" : $9 ~ /709551612$/ ? "not_sampled" : $9
        n[k] += $7 } END { for (k in n) print k "," n[k] }' "$D/in.csv" | sort >want
    cf-histogram --bins exact "$D/in.cf" | tail -n +2 | cut -d, -f1,2 | sort | same want -
    cf-histogram --bins 16 "$D/in.packed.cf" >got
    [[ $(cut -d, -f1 got | tail -n 4 | paste -sd,) == beyond,first_access,not_sampled,none ]]
    (($(wc -l <got) <= 21))
}

@test "weights of which the sum would wrap are refused, also where parts are joined" {
    printf 'time,op,addr,size\n9223372036854775807,store,0,8\n' | stream one.cf
    run -0 cf-histogram --column op --weight time one.cf one.cf
    has 'store,18446744073709551614'
    cf-cat -q one.cf one.cf one.cf -o all.cf
    run -1 cf-histogram --column op --weight time all.cf
    has 'the weights add up to more than 2^64'
    local i
    for i in 1 2; do
        cf-cat --part $i/2 all.cf | cf-histogram --column op --weight time --partial >part.$i
    done
    run -1 cf-histogram --column op --weight time part.1 part.2
    has 'the weights add up to more than 2^64'
    printf 'time,op,addr,bytes,object\n1,alloc,64,18446744073709551615,1\n2,alloc,128,16,2\n' | stream objects.cf --table object
    run -1 cf-histogram --table object --column op --weight bytes objects.cf
    has 'the weights add up to more than 2^64'
}

@test "sampled distances without what they stand for: refused, unless rows are counted" {
    cf-distance -q --rate 0.1 "$ROOT/samples/sort.cf" | cf-cat --columns op,addr,dist -o bare.cf
    for options in "" "--by op" --partial; do
        # shellcheck disable=SC2086 # words
        run -1 --separate-stderr cf-histogram $options bare.cf
        [[ $output != *bin_low* && $stderr == "cf-histogram: table access has no column 'dist_weight', which sampled distances need: keep it in --columns, or give --weight none to count the sample" ]] || fail "$stderr"
    done
    same <(cf-distance -q --rate 0.1 "$ROOT/samples/sort.cf" | cf-histogram --weight none) <(cf-histogram --weight none bare.cf)
    cf-histogram --column op bare.cf
}

@test "fractions have no histogram, and are no groups" {
    cf-distance -q --rate 0.1 "$ROOT/samples/sort.cf" -o s.cf
    run -1 --separate-stderr cf-histogram --column size --by dist_weight s.cf
    has "column 'dist_weight' cannot be used by --by" "$stderr"
    for options in '--column dist_weight' '--column size --weight dist_weight'; do
        # shellcheck disable=SC2086 # words
        run -1 --separate-stderr cf-histogram $options s.cf
        has "column 'dist_weight' holds neither whole numbers from 0 up nor texts" "$stderr"
    done
}

@test "weights: where the cycles go" {
    counted '$10' '$12 * $7' | sed 's/^255/memory/' | sort -t, -k1,1 | with_shares 0 >want
    cf-histogram --column hit --weight cost "$D/in.cf" >got
    [[ $(head -n 1 got) == value,cost_cycles,share,cumulative_share ]]
    tail -n +2 got | same want -
    # each sample as often as its weight says, and not at all with 0; as cf-rank adds them up
    printf 'op,addr,size,cost,weight\nload,1,8,5,10\nload,2,8,5,0\nstore,3,4,2,100\n' | stream a.cf
    for what in cost bytes; do
        cf-rank -q --by op --value $what a.cf | cut -d, -f2,3 | tail -n +2 | sort >want
        cf-histogram --column op --weight ${what/bytes/size} a.cf | cut -d, -f1,2 | tail -n +2 | same want -
    done
    same <(printf 'load,80\nstore,400\n') want
    run -0 cf-histogram --column op --weight none a.cf
    has load,2,
    # of distances, too
    printf 'addr,size,dist,weight,cost\n1,8,3,10,5\n2,8,3,0,7\n3,4,8,100,2\n' | stream d.cf
    run -0 cf-histogram --bins exact --weight cost d.cf
    [[ ${lines[1]},${lines[2]} == 3,50,*,8,200,* ]] || fail "$output"
    # a product that is too great does not begin anew
    printf 'op,addr,cost,weight\nload,1,4294967295,4503599627370495\n' | stream big.cf
    run -1 cf-histogram --column op --weight cost big.cf
    has 'the weights add up to more than 2^64'
    run -2 cf-histogram --weight dist "$D/in.cf"
    run -2 cf-histogram --weight function "$D/in.cf"
}

@test "other tables, and columns that only the stream knows" {
    printf 'time,pid,op,addr,bytes,object\n0,1,alloc,0x10,5,1\n1,1,alloc,0x20,6,2\n2,1,free,0x20,6,2\n' >o.csv
    printf 'time,addr\n1,1\n' | stream a.cf --with object=o.csv
    run -0 cf-histogram --table object --column bytes --by op --bins exact a.cf
    is "op,value,count,share,cumulative_share
alloc,5,1,0.500000,0.500000
alloc,6,1,0.500000,1.000000
free,6,1,1.000000,1.000000"
    run -1 --separate-stderr cf-histogram --column shoesize a.cf
    has "table access has no column 'shoesize', it has " "$stderr"
    has ", addr" "$stderr"
    [[ -z $output ]]
    # what packed files have beside, and nobody can count, is none to choose
    run -1 --separate-stderr cf-histogram --column shoesize "$ROOT/samples/sort.cf"
    has ", pc" "$stderr"
    has_not code "$stderr"
    run -1 cf-histogram --table horses --column addr a.cf
    is "cf-histogram: --table 'horses': the input has no such rows: cf-cat --info lists those it has"
}

@test "a column that is missing: status 1, and the program that adds it is named" {
    printf 'time,op,addr\n1,load,1\n' | stream a.cf
    run -1 --separate-stderr cf-histogram a.cf
    has "'dist'" "$stderr"
    run -1 --separate-stderr cf-histogram --column op --by function a.cf
    has cf-resolve "$stderr"
    run -1 --separate-stderr cf-histogram --column op --weight cost a.cf
    has "'cost'" "$stderr"
}

@test "two segments: texts are the same by what they say" {
    printf 'time,addr,function\n1,1,x\n2,1,y\n' | stream a.cf
    printf 'time,addr,function\n1,1,y\n' | stream b.cf
    run -0 cf-histogram --column function a.cf b.cf
    is "value,count,share,cumulative_share
x,1,0.333333,0.333333
y,2,0.666667,1.000000"
}

@test "more groups than may be" {
    awk 'BEGIN { print "time,addr,op"; for (i = 0; i < 65537; i++) print i "," i * 64 ",load" }' | stream a.cf
    run -1 --separate-stderr cf-histogram --column op --by addr a.cf
    has "more than 65536 values" "$stderr"
}

@test "a terminal gets a table with bars, and no escape sequences of the input" {
    need script
    printf 'time,op,addr,function\n1,load,1,"a\033[31m"\n2,load,1,b\n3,load,1,b\n4,load,1,b\n' | stream a.cf
    script -qec "cf-histogram --column function a.cf" /dev/null </dev/null | tr -d '\r' >out
    grep -q '^function  *count    share$' out
    grep -q '^a\\x1b\[31m  *1  25.00 % ##########$' out
    grep -q '^b  *3  75.00 % ##############################$' out
    cf-histogram --term --column function a.cf | grep -q '^b  *3  75.00 % #*$'
    script -qec "cf-histogram --csv --column function a.cf" /dev/null </dev/null | tr -d '\r' | grep -q '^b,3,0.750000,1.000000$'
}

@test "wrong options" {
    run -2 cf-histogram --bins 0 </dev/null
    run -2 cf-histogram --bins 65537 </dev/null
    run -2 cf-histogram --bins few </dev/null
    run -2 cf-histogram --column function --bins log2 "$D/in.cf"
}

@test "parts of a recording one after the other: tables that are in each count once" {
    printf 'time,op,addr,bytes,object\n0,alloc,64,8,1\n90,alloc,128,40,2\n' >o.csv
    { echo time,addr && seq 1 100 | sed 's/$/,64/'; } | stream all.packed.cf --with object=o.csv
    cf-cat all.packed.cf all.packed.cf -o two.cf
    for i in 1 2; do cf-cat --part $i/2 two.cf -o part.$i.cf; done
    same <(cf-histogram --table object --column bytes two.cf) <(cf-histogram --table object --column bytes part.1.cf part.2.cf)
    cat part.1.cf part.2.cf | cf-histogram --table object --column bytes --by op | same <(cf-histogram --table object --column bytes --by op two.cf) -
    # the second by itself has those of its own
    [[ $(cf-histogram --table object --column bytes --bins exact part.2.cf | cut -d, -f1,2) == $'value,count\n8,1\n40,1' ]]
}
