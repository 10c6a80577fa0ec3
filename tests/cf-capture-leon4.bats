#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# cf-capture leon4: instruction and bus traces of LEON boards.
#
# The traces are those of make_leon4, a small SPARC V8 interpreter that executes random programs and
# knows the address of each access; forms that it does not print are written out here.
load lib

columns=time,cpu,op,size,addr,pc,level,insns

# trace KEY=VALUE...: every form of one run, and the truth about it.
trace() {
    local form
    for form in hist list raw rawbus monitor inst ahb; do
        make_leon4 $form "$@" >$form.txt
    done
    make_leon4 truth "$@" >truth.csv
}

import() { # NAME OPTION...: NAME.cf, NAME.csv and NAME.err
    local name=$1
    shift
    cf-capture leon4 --atomic first "$@" >"$name.cf" 2>"$name.err"
    cf-cat --csv --table access --columns $columns "$name.cf" >"$name.csv"
}

# true_rows FILE: each of its rows stands in truth.csv, as often as there.
true_rows() {
    awk 'NR == FNR { n[$0]++; next } n[$0]-- <= 0 { print "not true: " $0; bad = 1 }
        END { exit bad }' truth.csv "$1" >wrong || fail "$(head -n 5 wrong)"
}

bytes() { # hex digits to the bytes that they stand for
    printf '%b' "$(tr -d '\n' | sed 's/../\\x&/g')"
}

# late_share FILE.err: per cent of the loads after the warm-up whose address is known
late_share() {
    sed -nE 's/.*after the first .*\(([0-9.]+) %\)/\1/p' "$1"
}

@test "every form of a run gives the same rows, and they are true" {
    local seed
    for seed in 1 2 3 4; do
        trace seed=$seed count=8000
        import hist hist.txt
        import list list.txt
        import raw --raw --bus rawbus.txt --bus-width 32 raw.txt
        import inst --bus ahb.txt inst.txt
        import monitor --bus ahb.txt monitor.txt
        [ "$(wc -l <hist.csv)" -gt 8000 ]
        true_rows hist.csv
        same hist.csv list.csv
        same hist.csv raw.csv
        same hist.csv inst.csv
        same hist.csv monitor.csv
        # nothing is lost: what is not in access is in unplaced
        unplaced=$(cf-cat --csv --table unplaced hist.cf | tail -n +2 | wc -l)
        [ $(($(wc -l <hist.csv) + unplaced)) -eq "$(wc -l <truth.csv)" ]
    done
}

@test "of long runs every known address is right, and after the warm-up over 95 % are known" {
    local seed
    for seed in 11 12 13 14 15 16; do
        make_leon4 truth seed=$seed count=60000 >truth.csv
        make_leon4 hist seed=$seed count=60000 >hist.txt
        import hist --warm-up 100 hist.txt
        true_rows hist.csv
        awk -v s="$(late_share hist.err)" 'BEGIN { exit !(s >= 95) }' || fail "$(cat hist.err)"
    done
}

@test "a trace that begins in the middle, in any window: what is known is right" {
    local skip
    for skip in 1 777 5000 12345; do
        make_leon4 truth seed=21 count=30000 skip=$skip >truth.csv
        make_leon4 hist seed=21 count=30000 skip=$skip >hist.txt
        import hist hist.txt
        true_rows hist.csv
        run -0 cat hist.err
        has_not 'differ from what'
    done
}

@test "without instruction words in the text, its words alone, and no results at all" {
    trace seed=5 count=3000
    make_leon4 words seed=5 count=3000 >words.txt
    import hist hist.txt
    import words words.txt
    true_rows <(sed 's/,[012],\([01]\)$/,0,\1/' words.csv) || {
        # no bus in it, so that no level is known: the truth without levels
        sed -i -E 's/,[012],([01])$/,0,\1/' truth.csv
        true_rows words.csv
    }
    run -0 grep -c ifetch words.csv
    is 3000
}

@test "one entry an instruction: a store shows its address or its data" {
    local what
    for what in a d; do
        make_leon4 truth seed=6 count=20000 store=$what >truth.csv
        make_leon4 hist seed=6 count=20000 store=$what >hist.txt
        import auto hist.txt
        true_rows auto.csv
        import given --store $([ $what = a ] && echo address || echo data) hist.txt
        true_rows given.csv
        awk -v s="$(late_share auto.err)" 'BEGIN { exit !(s >= 95) }' || fail "$(cat auto.err)"
    done
}

@test "a store's only word: what it is follows where address and data are known, not from a chance" {
    # 2.0, a double word's half, and a pointer that is loaded are 0x40000000 and stored there
    local first
    for first in 'st  %f0, [%g1]' 'std  %g4, [%g1]' 'st  %l0, [%g1]'; do
        printf '%d  400010%02x  %s  [%08x]\n' 9 0 'mov  1, %g4' 1 \
            10 4 'sethi  %hi(0x40000000), %g1' 0x40000000 11 8 "$first" 0x40000000 \
            12 12 'mov  64, %g2' 64 13 16 'st  %g2, [%g1 + 4]' 64 >t.txt
        run -0 cf-capture leon4 -o t.cf t.txt
        has_not 'differ from'
        run -0 bash -c 'cf-cat --csv --columns time,op,addr t.cf | grep store | tr "\n" " "'
        is '11,store,0x40000000 13,store,0x40000004 '
    done
}

@test "several processors in one trace" {
    make_leon4 truth seed=7 count=30000 cpus=3 | sort -t, -s -n -k1,1 -k2,2 >truth.csv
    make_leon4 list seed=7 count=30000 cpus=3 >list.txt
    import list list.txt
    run -0 bash -c "tail -n +2 list.csv | cut -d, -f2 | sort -u | tr '\n' ' '"
    is '0 1 2 '
    # the level depends on the next entry of the same processor, which the truth does not look at
    sed -i -E 's/,[012],([01])$/,\1/' truth.csv list.csv
    true_rows <(tail -n +2 list.csv)
    # on the screen nothing tells them apart: told, and nothing false is made of it
    make_leon4 hist seed=7 count=30000 cpus=3 bus=0 >hist.txt
    import hist hist.txt
    run -0 cat hist.err
    has 'cannot follow the one before'
}

@test "a load waits for its bus read while other processors execute hundreds of instructions" {
    # of processor 0 a load that misses; processor 1 executes N instructions before the read
    slow() { # N
        printf 'INST 0 %d 0x%x 0x%x 0x40000000 {} 0 0 0\n' 10 0x40001000 0x03100000 11 0x40001004 0xc4006100
        awk -v n="$1" 'BEGIN { for (i = 0; i < n; i++)
            printf "INST 1 %d 0x%x 0x01000000 0 {} 0 0 0\n", 12 + i, 1073745920 + 4 * i }'
        echo "AHB $((12 + $1)) 0x40000100 0 read 2 2 0 0 0 0"
        echo "INST 0 $((13 + $1)) 0x40001008 0x01000000 0 {} 0 0 0"
    }
    slow 1000 >slow.txt
    run -0 cf-capture leon4 -o slow.cf slow.txt
    has '0 loads hit, 1 missed'
    run -0 bash -c 'cf-cat --csv --columns op,addr,level slow.cf | grep load'
    is 'load,0x40000100,2'
    # the wait has an end: it is none of the trace, and no hit
    { echo 'AHB 9 0x40000000 0 read 2 2 9 0 0 0'; slow 5000; } >slower.txt
    run -0 cf-capture leon4 -o slower.cf slower.txt
    has '0 loads hit, 0 missed'
    has '1 loads have no entry of their processor after them, or only behind thousands of others'
}

@test "the time tag wraps" {
    trace seed=8 count=2000 time=1073741500
    import hist hist.txt
    true_rows hist.csv
    run -0 cat hist.err
    has '1 times the time tag began anew'
    import raw --raw --bus rawbus.txt --bus-width 32 raw.txt
    same hist.csv raw.csv
}

# dump WORD...: a raw dump, four words an entry
dump() {
    while (($# >= 4)); do
        printf '%s %s %s %s\n' "$1" "$2" "$3" "$4"
        shift 4
    done
}

# accesses FILE OPTION...: "op,addr" of loads and stores, known or not (0x0)
accesses() {
    local file=$1
    shift
    cf-capture leon4 -o a.cf "$@" "$file" 2>a.err || return
    { cf-cat --csv --table access --columns time,op,addr a.cf
      cf-cat --csv --table unplaced --columns time,op a.cf | sed 's/$/,?/'; } |
        grep -E 'load|store' | sort -s -n -t, -k1,1 | cut -d, -f2- | tr '\n' ' '
}

@test "the processor's filter for loads and stores: each store is one, in raw words by bit 126" {
    # st %g2, [%g1 + %g3] in a loop, of which nothing else is in the trace
    local st=c4206000 pc=40000100 t w
    for t in 10 14 18 1c 20; do
        w+=" 000000$t 400100$t $pc $st"
    done
    dump $w >raw.txt
    run -0 accesses raw.txt --raw --store address
    is 'store,0x40010010 store,0x40010014 store,0x40010018 store,0x4001001c store,0x40010020 '
    # the same words of one store and its data, which bit 126 marks
    dump ${w/00000014/40000014} >two.txt
    run -0 accesses two.txt --raw
    is 'store,0x40010010 store,? store,? store,? '
    # lists and the DSU's screen have that bit too
    printf 'INST 0 %d 0x40000100 {st %%g2, [%%g1 + %%g3]} 0x400100%x {} 0 0 0\n' 16 16 20 20 24 24 >list.txt
    run -0 accesses list.txt --store address
    is 'store,0x40010010 store,0x40010014 store,0x40010018 '
    { echo 'M TimeTag  Result   T E PC       Opcode'
      printf '   %08x 400100%x     40000100 c4206000  st\n' 16 16 20 20 24 24; } >dsu.txt
    run -0 accesses dsu.txt --store address
    is 'store,0x40010010 store,0x40010014 store,0x40010018 '
    # a screen that shows all words of an instruction in one row has none that continue another
    printf '%d  40000100  %s\n' 10 'st  %g2, [%g1]   [40010010 00000001]' \
        14 'ldd  [%g1], %g2   [00000001]' 18 'ldd  [%g1], %g2   [00000001]' >rows.txt
    run -0 accesses rows.txt
    is 'store,0x40010010 load,? load,? '
    # what happens between two entries is not shown: registers learned from one say nothing later
    dump ${w/00000014/40000014} 00000024 00000007 40000110 c6004000 00000028 00000007 40000114 c6004000 >load.txt
    run -0 accesses load.txt --raw --store address
    is 'store,0x40010010 store,0x40010018 store,0x4001001c store,0x40010020 load,? load,? '
    { cat load.txt; dump 0000002a 00000000 40000118 01000000; } >mixed.txt
    run -0 accesses mixed.txt --raw --store address
    is 'store,0x40010010 store,0x40010018 store,0x4001001c store,0x40010020 load,? load,? '
}

@test "a screen with one word a row: what continues a store is certain where other instructions are shown" {
    # OpenOCD: address and data of a store, each in a row of its own
    { echo '  time     address     instruction      result'
      printf ' %10u  %08X  %-30s  [%08X]\n' \
        10 0x40000000 'sethi  %hi(0x40010000), %g1' 0x40010000 \
        11 0x40000004 'st  %g2, [%g1 + 4]' 0x40010004 12 0x40000004 'st  %g2, [%g1 + 4]' 7 \
        13 0x40000008 'ldd  [%g1], %g2' 1 14 0x40000008 'ldd  [%g1], %g2' 2; } >o.txt
    run -0 accesses o.txt
    is 'store,0x40010004 load,0x40010000 '
    run -0 cat a.err
    has_not 'does not say'
    # loads and stores alone: it is not, and it is said
    sed -i /sethi/d o.txt
    run -0 accesses o.txt
    is 'store,? store,? load,? load,? '
    run -0 cat a.err
    has '2 entries are like the store or double word load before them, and the trace does not say'
    # what another file shows does not count
    printf '1  40000000  nop   [00000000]\n' >nop.txt
    run -0 cf-capture leon4 -o a.cf nop.txt o.txt
    has '2 entries are like the store'
    # the delay slot of a branch to it is executed twice
    printf ' %d  %x  %s  [%08x]\n' 10 0x40000000 'ba  0x40000004' 0 \
        11 0x40000004 'st  %g2, [%g1]' 0x40010000 12 0x40000004 'st  %g2, [%g1]' 0x40010000 >slot.txt
    run -0 accesses slot.txt --store address
    is 'store,0x40010000 store,0x40010000 '
}

@test "a store to another address space is none to memory" {
    # 0xb is stored; a store of 0x40010004 to the same address follows, in address space 2 or 1
    local asi
    for asi in 2 1; do
        printf '%s\n' '10  40000000  sethi  %hi(0x40010000), %g1' '11  40000004  mov  0xb, %g2' \
            '12  40000008  st  %g2, [%g1]' '13  4000000c  or  %g1, 4, %g3' \
            "14  40000010  sta  %g3, [%g1] 0x$asi" '15  40000014  ld  [%g1], %g4' \
            '16  40000018  ldub  [%g4], %g5' >$asi.txt
    done
    run -0 accesses 2.txt --alone
    is 'store,0x40010000 load,0x40010000 load,0xb '
    # 1 reaches memory all the same: what is there is not known
    run -0 accesses 1.txt --alone
    is 'store,0x40010000 load,0x40010000 load,? '
    run -0 accesses 2.txt --alone --asi 2
    is 'store,0x40010000 store,0x40010000 load,0x40010000 load,0x40010004 '
    # nor does a load from there give what is stored in memory
    sed 's/sta  %g3, \[%g1\] 0x2/lda  [%g1] 0x2, %g6/; s/\[%g4\]/[%g6]/' 2.txt >load.txt
    run -0 accesses load.txt --alone
    is 'store,0x40010000 load,0x40010000 load,? '
}

@test "pauses of any length below the period of the time tag; what lies a little back is out of order" {
    local half=536870912 period=1073741824
    times() { # OPTION...: of the fetches
        cf-capture leon4 -o a.cf "$@" 2>a.err || return
        cf-cat --csv --columns time a.cf | tail -n +2 | tr '\n' ' '
    }
    printf '%d  4000000%x  nop  [00000000]\n' 100 0 $((101 + half)) 4 $((102 + half)) 8 \
        50 12 1050000000 4 >t.txt
    run -0 times t.txt
    is "100 $((101 + half)) $((102 + half)) $((50 + period)) $((1050000000 + period)) "
    run -0 cat a.err
    has '1 times the time tag began anew'
    # back by less than a 64th of the period, and by that
    printf '%d  4000000%x  nop  [00000000]\n' 20000000 0 $((20000001 - period / 64)) 4 20000001 8 >t.txt
    run -1 cf-capture leon4 -o a.cf t.txt
    has 't.txt:2: time 3222785 lies before'
    run -0 cf-cat --csv --columns time a.cf
    is $'time\n20000000\n20000000\n20000001'
    sed -i "2s/3222785/3222784/" t.txt
    run -0 times t.txt
    is "20000000 $((3222784 + period)) $((20000001 + period)) "
    # one time astray moves all that follow
    for at in 3222784 500000000; do
        sed "2s/^[0-9]*/$at/" t.txt >astray.txt
        run -0 cf-capture leon4 -q -o a.cf astray.txt
        is 'cf-capture-leon4: astray.txt:3: the time of the entry before this one may be damaged: it is far from those before and behind it, which are near to each other; all from here on are taken to be a period of the time tag later'
    done
    # the same where the first two are far from each other
    printf '%d  4000000%x  nop  [00000000]\n' 1053741824 0 20000000 4 20000001 8 >first.txt
    run -0 cf-capture leon4 -q -o a.cf first.txt
    is ''
    # a tag that does not wrap
    run -1 times --time-bits 0 t.txt
}

@test "a time of more bits than the tag has is bad: a simulator's does not begin anew" {
    printf '%s  4000000%x  nop  [00000000]\n' 1073741823 0 1073741824 4 9000000000 8 >t.txt
    run -1 cf-capture leon4 -o t.cf t.txt
    has 't.txt:2: time 1073741824 has more than 30 bits: does it never begin anew (--time-bits 0)?'
    run -0 cf-capture leon4 --time-bits 0 -o t.cf t.txt
    run -0 cf-cat --csv --columns time t.cf
    is $'time\n1073741823\n1073741824\n9000000000'
}

@test "bus entries before a wrap at the start have their time" {
    printf '%d  4001000%x  ahb read, mst=0, size=2  [00000007]\n' 1073741800 0 1073741810 4 5 8 >bus.txt
    printf '%d  4000000%x  nop  [00000000]\n' 3 0 6 4 >inst.txt
    run -0 cf-capture leon4 -b bus.txt -o a.cf inst.txt
    has '1 times the time tag began anew'
    run -0 cf-cat --csv --table bus --columns time,addr a.cf
    is 'time,addr
1073741800,0x40010000
1073741810,0x40010004
1073741829,0x40010008'
    run -0 cf-cat --csv --table access --columns time,addr a.cf
    is 'time,addr
1073741827,0x40000000
1073741830,0x40000004'
    # instructions before the wrap, transfers behind it
    sed -i 1,2d bus.txt
    sed -i 's/^3 /1073741820 /' inst.txt
    run -0 cf-capture leon4 -b bus.txt -o a.cf inst.txt
    run -0 cf-cat --csv --table bus --columns time a.cf
    is $'time\n1073741829'
}

sample() {
    cat <<'END'
      TIME     ADDRESS   INSTRUCTIONS/AHB SIGNALS         RESULT/DATA  SYMBOL
       100  40000000  sethi  %hi(0x40010000), %g1      [40010000]  _start+0x0
       101  40000004  ld  [%g1 + 0x10], %g2            [00000007]  _start+0x4
       103  40010000  ahb read,  mst=0, size=4         [0000000000000000 0000000000000000]
       104  40000008  ld  [%g1 + 0x14], %g3            [00000008]  _start+0x8
       105  4000000c  st  %g2, [%g1 + %g3]             [40010008 00000007]  _start+0xc
       106  40010008  ahb write, mst=0, size=2         [00000007]
       107  40000010  ldub  [%l0], %g4                 [00000041]  _start+0x10
       108  40000014  ta  0                            [  TRAP  ]  _start+0x14
END
}

@test "rows, levels, unplaced accesses and transfers of a small trace" {
    sample >t.txt
    run -0 --separate-stderr cf-capture leon4 -o t.cf t.txt
    has '6 instructions, 2 bus transfers; address known of 2 of 3 loads (66.66 %) and 1 of 1 stores' "$stderr"
    has '2 loads hit, 1 missed' "$stderr"
    has '1 instructions trapped' "$stderr"
    run -0 cf-cat --csv --table access --columns $columns t.cf
    is 'time,cpu,op,size,addr,pc,level,insns
100,0,ifetch,4,0x40000000,0x40000000,0,1
101,0,ifetch,4,0x40000004,0x40000004,0,1
101,0,load,4,0x40010010,0x40000004,2,0
104,0,ifetch,4,0x40000008,0x40000008,0,1
104,0,load,4,0x40010014,0x40000008,1,0
105,0,ifetch,4,0x4000000c,0x4000000c,0,1
105,0,store,4,0x40010008,0x4000000c,0,0
107,0,ifetch,4,0x40000010,0x40000010,0,1
108,0,ifetch,4,0x40000014,0x40000014,0,1'
    run -0 cf-cat --csv --table unplaced --columns time,cpu,op,size,pc,level,phys t.cf
    is 'time,cpu,op,size,pc,level,phys
107,0,load,1,0x40000010,1,0x0'
    run -0 cf-cat --csv --table bus --columns time,op,size,addr,master t.cf
    is 'time,op,size,addr,master
103,load,16,0x40010000,0
106,store,4,0x40010008,0'
}

@test "--miss: after, before, in the line, any transfer" {
    # a write stands between the load and its read; the second read is an instruction fetch
    printf '%s\n' '10  40000000  sethi  %hi(0x40010000), %g1      [40010000]' \
        '11  40000004  ld  [%g1], %g2            [00000007]' \
        '12  40020000  ahb write, mst=0, size=2         [00000007]' \
        '13  40010000  ahb read, mst=0, size=2         [00000007]' \
        '14  40000008  ld  [%g1], %g2            [00000007]' \
        '15  40000020  ahb read, mst=0, size=2         [00000007]' \
        '16  4000000c  nop                        [00000000]' >t.txt
    for rule in after before line any; do
        cf-capture leon4 -q -m $rule t.txt >$rule.cf
        cf-cat --csv --table access --columns op,level $rule.cf | grep load | tr '\n' ' ' >$rule
    done
    [ "$(cat after)" = 'load,1 load,2 ' ]
    [ "$(cat before)" = 'load,1 load,2 ' ]
    [ "$(cat line)" = 'load,2 load,1 ' ]
    [ "$(cat any)" = 'load,2 load,2 ' ]
    # and a trace that ends at the load says nothing of it
    head -n 2 t.txt | cat - <(printf '10  40010000  ahb read, mst=0, size=2  [00000007]\n') | sort -n >end.txt
    cf-capture leon4 -q -m any end.txt | cf-cat --csv --table access --columns op,level | grep -x load,0
}

@test "--miss line: the read of the line may be one of many, and come after a walk of page tables" {
    after() { # N: a load, N reads of other lines, and that of its own
        printf '10  40000000  sethi  %%hi(0x40010000), %%g1      [40010000]\n'
        printf '11  40000004  ld  [%%g1], %%g2            [00000007]\n'
        awk -v n="$1" 'BEGIN { for (i = 0; i < n; i++)
            printf "%d  480%05x  ahb read, mst=0, size=2  [00000007]\n", 12 + i, i * 4096 }'
        printf '%d  40010000  ahb read, mst=0, size=2         [00000007]\n' $((12 + $1))
    }
    level() { cf-cat --csv --columns op,level t.cf | grep load; }
    { after 31; echo '90  40000008  nop  [00000000]'; } >t.txt
    run -0 cf-capture leon4 -m line -o t.cf t.txt
    run -0 level
    is load,2
    { after 32; echo '90  40000008  nop  [00000000]'; } >t.txt
    run -0 cf-capture leon4 -m line -o t.cf t.txt
    has '0 loads hit, 0 missed'
    has '1 loads have more bus reads after them than are kept'
    # a trace that ends within them: the read of the line is not there yet
    after 31 | sed '$d' >t.txt
    run -0 cf-capture leon4 -m line -o t.cf t.txt
    has '1 loads have no entry of their processor after them'
    run -0 level
    is load,0
}

@test "--master: whose transfers count" {
    sample | sed 's/mst=0/mst=5/' >t.txt
    for master in 0 5 any; do
        cf-capture leon4 -q --master $master t.txt >t.cf
        cf-cat --csv --table access --columns op,level t.cf | grep load | tr '\n' ' ' >$master
    done
    [ "$(cat 0)" = 'load,1 load,1 ' ]
    [ "$(cat 5)" = 'load,2 load,1 ' ]
    same 5 any
}

@test "an operand follows from a result: a register that was written before the trace begins" {
    printf '%s\n' '10  40000000  add  %l0, 8, %g1      [40010008]' \
        '11  40000004  ld  [%l0], %g2            [00000007]' \
        '12  40000008  st  %g2, [%l1 + 4]         [40020004 00000007]' \
        '13  4000000c  ldsb  [%l1 - 1], %g2         [ffffffff]' >t.txt
    cf-capture leon4 -q t.txt >t.cf
    run -0 bash -c 'cf-cat --csv --columns op,addr t.cf | grep -v ifetch'
    is 'op,addr
load,0x40010000
store,0x40020004
load,0x4001ffff'
}

@test "compare and swap stores only when it found what it compares with" {
    printf '%s\n' '10  40000000  sethi  %hi(0x40010000), %g1      [40010000]' \
        '11  40000004  mov  7, %g2            [00000007]' \
        '12  40000008  casa  [%g1] 0xa, %g2, %g3            [00000007 00000000]' \
        '13  4000000c  casa  [%g1] 0xa, %g2, %g3            [00000008 00000000]' \
        '14  40000010  lda  [%g1] 0x1, %g3            [00000008]' >t.txt
    run -0 cf-capture leon4 --atomic first -o t.cf t.txt
    has '1 accesses go to address spaces that are not memory'
    run -0 bash -c 'cf-cat --csv --columns time,op t.cf | grep -v ifetch | tr "\n" " "'
    is 'time,op 12,load 12,store 13,load '
    run -0 cf-capture leon4 --asi 1,10 -o t.cf t.txt
    run -0 bash -c 'cf-cat --csv --columns time,op t.cf | grep -c "14,load"'
    is 1
}

@test "double words with one word shown, and loads without results" {
    # a pair is stored and loaded; the load shows its second half
    printf '%s\n' '10  40000000  sethi  %hi(0x40010000), %g1      [40010000]' \
        '11  40000004  sethi  %hi(0x40020000), %l0      [40020000]' \
        '12  40000008  sethi  %hi(0x40030000), %l1      [40030000]' \
        '13  4000000c  std  %l0, [%g1]          [40010000]' \
        '14  40000010  ldd  [%g1], %o2            [40030000]' \
        '15  40000014  ld  [%o2], %g2            [00000001]' \
        '16  40000018  ldd  [%g1], %o4            [12345678]' \
        '17  4000001c  ld  [%o4], %g2            [00000001]' >t.txt
    run -0 cf-capture leon4 --store address -o t.cf t.txt
    run -0 bash -c 'cf-cat --csv --columns time,op,addr t.cf | grep ,load | tail -n +2'
    is '15,load,0x40020000
16,load,0x40010000'
    # what another master writes is not remembered
    sed -i '4a13  40010000  ahb write, mst=7, size=3         [00000007]' t.txt
    run -0 cf-capture leon4 --store address -o t.cf t.txt
    run -0 bash -c 'cf-cat --csv --columns time,op t.cf | grep -c ,load'
    is 2
    # nor of two masters' writes either, in any order, between two instructions
    for n in 40020000 40010004; do
        sed "5i13  $n  ahb write, mst=6, size=2         [00000007]" t.txt >two.txt
        sed -i '6s/40010000/40020004/' two.txt
        [ $n = 40010004 ] || sed -i '6s/40020004/40010000/' two.txt
        run -0 cf-capture leon4 --store address -o t.cf two.txt
        run -0 bash -c 'cf-cat --csv --columns time,op t.cf | grep -c ,load'
        is 2
    done
    run -0 cf-capture leon4 -q --double first -o t.cf t.txt
    run -0 bash -c 'cf-cat --csv --columns time,op,addr t.cf | grep -E "1[57],load"'
    is '15,load,0x40030000
17,load,0x12345678'
    run -0 cf-capture leon4 -q --double last -o t.cf t.txt
    run -1 bash -c 'cf-cat --csv --columns time,op,addr t.cf | grep -E "1[57],load"'
    # no results at all
    printf '%s\n' '10  40000000  03100040  sethi  %hi(0x40010000), %g1' \
        '11  40000004  c2204000  st  %g1, [%g1]' '12  40000008  c4004000  ld  [%g1], %g2' \
        '13  4000000c  c6008000  ld  [%g2], %g3' >t.txt
    run -0 cf-capture leon4 -o t.cf t.txt
    has 'address known of 1 of 2 loads'
    run -0 cf-capture leon4 --alone -o t.cf t.txt
    has 'address known of 2 of 2 loads'
}

@test "the stream goes through the engines" {
    make_leon4 hist seed=31 count=20000 >hist.txt
    cf-capture leon4 -q -o t.cf hist.txt
    run -0 bash -c "cf-classify --rule hill -m leon4-n2x t.cf | cf-cat --csv --columns op,class - |
        cut -d, -f2 | sort -u | wc -l"
    [ "$output" -gt 2 ]
    run -0 bash -c "cf-distance --for fetches t.cf | cf-cat --csv --columns dist - | sort -u | wc -l"
    [ "$output" -gt 10 ]
}

# ---- bad input ----

@test "an entry that was cut off, at any place: told, the rest is imported" {
    local cut
    sample >whole.txt
    # the third line holds 74 characters; where it ends with its bracket it is whole
    for cut in 9 12 19 24 30 40 52 58; do
        { sed -n 1,2p whole.txt; sed -n 3p whole.txt | cut -c -$cut; sed -n '4,$p' whole.txt; } >t.txt
        run cf-capture leon4 -o t.cf t.txt
        [ "$status" -eq 1 ] || fail "cut at $cut: status $status"
        has 'cf-capture-leon4: t.txt:3: '
        run -0 cf-cat --csv --columns time,op t.cf
        has '104,load'
    done
    head -n 5 whole.txt | head -c -30 >t.txt
    run -1 cf-capture leon4 -o t.cf t.txt
    has 't.txt:5: the last line has no newline'
    head -n 5 whole.txt | head -c -30 | sed '$s/$/\n/' >t.txt
    run -1 cf-capture leon4 -o t.cf t.txt
    has 't.txt:5: an entry without the results'
}

@test "a result that is no word of eight digits is told, with and without a header; an address in brackets is none" {
    local text
    for text in 'add %g1, 1, %g2          [000000001]' 'nop                     [0000001]' '01000000  [000000001]' \
        'ld [%g1], %g2 [0 1]' 'st %g1, [ %g2 + 4 ]  [00000001'; do
        printf '%s\n' "10  40000000  $text" '11  40000004  nop   [00000000]' >t.txt
        run -1 --separate-stderr cf-capture leon4 -o t.cf t.txt
        has 't.txt:1: results that were cut off' "$stderr"
        { echo 'TIME ADDRESS INSTRUCTION RESULT'; cat t.txt; } | cf-capture leon4 -o h.cf 2>err && fail "$text"
        has 'standard input:2: results that were cut off' "$(cat err)"
    done
    for text in 'st %g1, [64]' 'clr  [4000000]' 'call 0x400 <f<int [3]>>' 'call 0x400 <f[abi:cxx11]>' 'ld [ %l0 + 4 ], %g1'; do
        echo "10  40000000  $text" >t.txt
        run -0 cf-capture leon4 -o t.cf t.txt
    done
}

@test "mixed-up text: other lines are told, prompts are not, headers may change" {
    { echo 'grmon3> inst 3'; make_leon4 inst seed=1 count=3; echo 'grmon3> ahb 2'
      echo 'Segmentation fault'; make_leon4 ahb seed=1 count=3 time=8800 | head -n 3
      sample | sed -E 's/^ *(1[0-9][0-9]) / 10\1 /'; } >t.txt
    run -1 --separate-stderr cf-capture leon4 -o t.cf t.txt
    has 't.txt:7: no trace entry and no header of one' "$stderr"
    [ "$(grep -c 'were bad' <<<"$stderr")" -eq 0 ] || fail "$stderr"
    run -0 cf-cat --csv --table access --columns op,addr t.cf
    has 'load,0x40010010'
}

@test "unknown instructions are counted, and what they may have written is not used" {
    printf '%s\n' '10  40000000  sethi  %hi(0x40010000), %g1      [40010000]' \
        '11  40000004  quux  %g1, %g2            [00000007]' \
        '12  40000008  ld  [%g1], %g2            [00000007]' >t.txt
    run -0 cf-capture leon4 -o t.cf t.txt
    has '1 instructions are not known'
    has 'address known of 0 of 1 loads'
    # an instruction word that is none
    printf '%s\n' '10  40000000  03100040  sethi' '11  40000004  81480000  rd' \
        '12  40000008  b1780000  ?' '13  4000000c  c4004000  ld' >t.txt
    run -0 cf-capture leon4 -o t.cf t.txt
    has '1 instructions are not known'
}

@test "time tags out of order: told with their place, rows stay in order" {
    sample | sed 's/^ *105 /        99 /' >t.txt
    run -1 cf-capture leon4 -o t.cf t.txt
    has 't.txt:6: time 99 lies before'
    run -0 cf-cat --verify t.cf
    run -0 bash -c 'cf-cat --csv --columns time t.cf | tail -n +2 | sort -n -c'
}

@test "annulled and trapped instructions; entries are missing" {
    # the delay slot of an untaken branch with the annul bit is not in the trace
    printf '%s\n' '10  40000000  sethi  %hi(0x40010000), %g1      [40010000]' \
        '11  40000004  bne,a  0x40000040         [00000000]' \
        '12  4000000c  ld  [%g1 + 4], %g2            [00000007]' \
        '13  40000010  save  %sp, -96, %sp            [  TRAP  ]' \
        '14  40001050  rd  %wim, %l3                  [00000002]' \
        '15  40001054  ld  [%l1], %l4                  [00000002]' >t.txt
    run -0 cf-capture leon4 -o t.cf t.txt
    has 'address known of 2 of 2 loads'
    has_not 'cannot follow'
    run -0 cf-cat --csv --columns op,addr t.cf
    has 'load,0x40000010'
    # one entry lost: nothing is known behind it
    sed -i 3d t.txt
    run -0 cf-capture leon4 -o t.cf t.txt
    sed -i '/4000000c/d' t.txt
    printf '%s\n' '16  40002000  ld  [%g1], %l4                  [00000002]' >>t.txt
    run -0 cf-capture leon4 -o t.cf t.txt
    has 'cannot follow the one before'
    has 'address known of 1 of 2 loads'
}

@test "lists: one entry a line, other orders of fields, one endless line, nonsense" {
    local f field column bad
    printf '%s\n' 'INST 0 10 0x40000000 0x03100040 0x40010000 {} 0 0 0' \
        'INST 0 11 0x40000004 0xc4006010 7 {} 0 0 0' 'AHB 12 0x40010000 {1 2 3 4} read 2 4 0 0 0 0' >a.txt
    printf '%s\n' '{{INST 0x40000000 10 {sethi %hi(0x40010000), %g1} {0x40010000}} {INST 0x40000004 11 {ld [%g1+16], %g2} 0x7} {AHB W 0x40010000 12}}' >b.txt
    run -0 cf-capture leon4 -q -o a.cf a.txt
    run -0 cf-capture leon4 -q --inst-fields address,time,instruction,result \
        --bus-fields type,address,time -o b.cf b.txt
    cf-cat --csv --table access --columns op,addr,size a.cf >a.csv
    cf-cat --csv --table access --columns op,addr,size b.cf >b.csv
    same a.csv b.csv
    has 'load,0x40010010' "$(cat a.csv)"
    # how a transfer goes on, and its burst, in words or as the numbers of HTRANS and HBURST
    printf 'AHB %s 0x40010000 12\n' SEQ nonseq 0 IDLE busy 1 2 3 >trans.txt
    printf 'AHB %s 0x40010000 12\n' single INCR Wrap4 incr4 WRAP8 INCR8 WRAP16 INCR16 0 7 >burst.txt
    for f in trans:transfer:4 burst:burst:8; do
        IFS=: read -r field column bad <<<"$f"
        run -0 cf-capture leon4 -q --bus-fields $field,address,time -o c.cf $field.txt
        run -0 bash -c "cf-cat --csv --table bus --columns $column c.cf | tail -n +2 | paste -s -d ' '"
        [[ $field == burst ]] || is '3 2 0 0 1 1 2 3'
        [[ $field == trans ]] || is '0 1 2 3 4 5 6 7 0 7'
        for bad in "$bad" S SEQQ -1 x {}; do
            printf 'AHB %s 0x40010000 12\n' 1 "$bad" 1 >bad.txt
            run -1 cf-capture leon4 -q --bus-fields $field,address,time -o c.cf bad.txt
            has 'bad.txt:2: an entry whose elements are not what they should be'
            run -0 bash -c 'cf-cat --csv --table bus --columns op c.cf | wc -l'
            is 3
        done
    done
    printf '%s  40010000  ahb read, mst=0, size=2, burst=%s  [00000007]\n' 10 1 11 INCR4 12 8 13 zz >screen.txt
    run -1 cf-capture leon4 -o c.cf screen.txt
    has 'screen.txt:3: a bus transfer with a bad number'
    run -0 bash -c "cf-cat --csv --table bus --columns burst c.cf | tail -n +2 | paste -s -d ' '"
    is '1 3'
    printf '%s\n' 'TIME ADDRESS TYPE DATA TRANS SIZE BURST MST' '10 40010000 read 0 NONSEQ 2 INCR 0' \
        '11 40010004 read 0 SEQU 2 1 0' '12 40010008 read 0 3 2 ? 0' >head.txt
    run -1 cf-capture leon4 -o c.cf head.txt
    has 'head.txt:3: an entry whose fields are not what its header says'
    has '2 lines were bad in all'
    make_leon4 list seed=2 count=20000 bus=0 | tr -d '\n' >long.txt
    [ "$(stat -c %s long.txt)" -gt 1000000 ]
    run -0 cf-capture leon4 -q -o l.cf long.txt
    run -0 bash -c 'cf-cat --csv --columns op l.cf | grep -c ifetch'
    is 20000
    printf '%s\n' 'INST 0 10' '{INST 0 10 0x4000' 'AHB 1 x y' 'INST 0 12 0x40000000 nop 0' \
        'INST 99 12 0x40000000 nop 0' 'INST 0 12 0x40000001 nop 0' >t.txt
    run -1 cf-capture leon4 -o t.cf t.txt
    has 't.txt:1: an entry that was cut off'
    has '5 lines were bad in all'
}

@test "raw words: binary and text, a dump that was cut off, words that are none" {
    trace seed=9 count=2000
    import text --raw --bus-width 32 --bus rawbus.txt raw.txt
    # the same as bytes
    awk '{ printf "%s%s%s%s", $2, $3, $4, $5 }' raw.txt | bytes >raw.bin
    awk '{ printf "%s%s%s%s", $1, $2, $3, $4 }' rawbus.txt | bytes >rawbus.bin
    import binary --raw --bus-width 32 --bus rawbus.bin raw.bin
    same text.csv binary.csv
    # a dump of all memory: the address tells whose an entry is
    awk '{ printf "0x902%05x  %s\n", NR * 16, $0 }' rawbus.txt | sort -s -k 2.4,2.10 raw.txt - >both.txt
    import both --raw --bus-width 32 both.txt
    cmp text.csv both.csv
    # transfers of a 128-bit bus take twice as much
    awk '{ printf "%s%s%s%s%032d", $1, $2, $3, $4, 0 }' rawbus.txt | bytes >wide.bin
    import wide --raw --bus wide.bin raw.bin
    same text.csv wide.csv
    head -c 1000 raw.bin >cut.bin
    run -1 cf-capture leon4 --raw -o t.cf cut.bin
    has 'cut.bin:63: the last entry was cut off: 8 of 16 bytes'
    head -n 10 raw.txt | head -c -32 >cut.txt
    run -1 cf-capture leon4 --raw -o t.cf cut.txt
    has 'cut.txt:10: the last line has no newline'
    echo >>cut.txt
    run -1 cf-capture leon4 --raw -o t.cf cut.txt
    has 'no four words of trace memory'
    head -c 100000 /dev/urandom >noise.bin
    run -1 cf-capture leon4 --raw -o t.cf noise.bin
    run -0 cf-cat --verify t.cf
}

@test "raw words of a 128-bit bus without addresses: a bad line is one of an entry's two" {
    times() { cf-cat --csv --table bus --columns time t.cf | tail -n +2 | paste -s -d ' '; }
    local i cut
    for i in 10 20 30 40; do
        printf '000000%s 00004800 00000007 40000000\n11111111 22222222 33333333 44444440\n' $i
    done >whole.txt
    for cut in 3 4; do # a first and a second half
        sed "${cut}s/....\$//" whole.txt >t.txt
        run -1 cf-capture leon4 --raw=bus -o t.cf t.txt
        has "t.txt:$cut: no four words"
        run -0 times
        is "16 $([ $cut = 3 ] || echo '32 ')48 64"
    done
    # what is no line of a dump is none
    sed '3i Segmentation fault' whole.txt >t.txt
    run -1 cf-capture leon4 --raw=bus -o t.cf t.txt
    run -0 times
    is '16 32 48 64'
}

@test "raw words: the dump of a full buffer, which is a ring, is reported with its oldest entry's place" {
    # ring CYCLES: 16 entries so far apart, of which the oldest stands in line 6
    ring() {
        for i in {11..15} {0..10}; do
            printf '901000%02x: %08x 00000000 %08x 01000000\n' $((n++ % 16 * 16)) \
                $((1000 + $1 * i)) $((0x40001000 + 4 * i))
        done
    }
    local step where='If that was full, its oldest entry stands here: put the entries from here on before'
    for step in 1 3000000 30000000; do
        ring $step >ring.txt
        run -1 cf-capture leon4 --raw -o t.cf ring.txt
        has "ring.txt:6: time 1000 lies before that of the entry before it or half a period"
        has "$where"
        cut -d: -f2 ring.txt | tr -d ' ' | bytes >ring.bin
        run -1 cf-capture leon4 --raw -o t.cf ring.bin
        has "ring.bin:6: time 1000 lies"
        { tail -n +6 ring.txt; head -n 5 ring.txt; } >order.txt
        run -0 cf-capture leon4 --raw -o t.cf order.txt
        has_not 'began anew'
        run -0 bash -c 'cf-cat --csv --columns time t.cf | sed -n "2p;\$p"'
        is $'1000\n'$((1000 + 15 * step))
    done
    # over half a period it cannot be told from a tag that begins anew
    ring 60000000 >ring.txt
    run -0 cf-capture leon4 --raw -o t.cf ring.txt
    has '1 times the time tag began anew'
    has 'the oldest entry of a full buffer may stand'
    # from one dump to the next any time may pass
    printf '00000010 00000000 40001000 01000000\n' >one.txt
    printf '30000010 00000000 40001000 01000000\n' >two.txt
    run -0 cf-capture leon4 --raw -o t.cf one.txt two.txt
    run -1 cf-capture leon4 --raw -o t.cf <(cat one.txt two.txt)
    has "$where"
}

@test "noise, zero bytes and an endless line are bad lines and nothing worse" {
    head -c 300000 /bin/bash >noise
    (head -c 300000 /dev/zero; echo; sample) >long
    run -1 cf-capture leon4 -o n.cf noise
    run -1 cf-capture leon4 -q -o l.cf long
    has 'a line of more than 65536 bytes'
    [ "$(grep -c 'more than 65536' <<<"$output")" = 1 ]
    run -0 bash -c 'cf-cat --csv --columns op l.cf | grep -c ifetch'
    is 6
    # transfers in columns of which the last are missing
    make_leon4 ahb seed=1 count=9 | awk 'NR == 3 { $0 = substr($0, 1, 40) } 1' >few
    run -1 cf-capture leon4 -o f.cf few
    has 'few:3: an entry with fewer fields than its header'
    # every line of a good trace, cut at a random place and glued to the next
    make_leon4 hist seed=3 count=3000 | awk '{ n = (NR * 7919) % 70; printf "%s%s", substr($0, 1, n), NR % 3 ? "\n" : "" }' >t.txt
    run -1 cf-capture leon4 -o t.cf t.txt
    run -0 cf-cat --verify t.cf
}

@test "empty input, and input without an entry: a stream that says so, a message, status 1" {
    : >empty
    sample | head -n 1 >header
    for f in empty header; do
        run -1 --separate-stderr bash -c "cf-capture leon4 $f >$f.cf"
        has 'no records' "$stderr"
        run -1 cf-cat --verify $f.cf
        has "what wrote it says"
    done
}

@test "a file that cannot be read: told, the others are imported, status 1" {
    sample >a.txt
    run -1 cf-capture leon4 -o t.cf missing a.txt
    has 'missing: No such file'
    run -1 cf-cat --csv --columns op t.cf # it is not all
    has load
    run -1 cf-capture leon4 -o t.cf --bus missing a.txt
    has 'missing: No such file'
}

@test "standard output and -o hold the same rows; the same input gives the same bytes" {
    sample >t.txt
    cf-capture leon4 -q t.txt | cat >a.cf
    cf-capture leon4 -q t.txt | cmp - a.cf
    cf-capture leon4 -q -o p.cf t.txt
    cf-cat --csv a.cf >a.csv
    cf-cat --csv p.cf >p.csv
    same a.csv p.csv
}

@test "a full disk is an error; a closed pipe is none" {
    make_leon4 hist count=50000 >t.txt
    run -3 bash -c 'cf-capture leon4 -q t.txt >/dev/full'
    has 'No space left'
    run -0 bash -c 'cf-capture leon4 -q t.txt | head -c 100 >/dev/null'
    is ''
}

@test "usage" {
    sample >t.txt
    run -2 cf-capture leon4 --nonsense
    run -2 cf-capture leon4 --miss never t.txt
    has 'after, before, line'
    run -2 cf-capture leon4 --windows 1 t.txt
    run -2 cf-capture leon4 --windows 33 t.txt
    run -2 cf-capture leon4 --line-size 33 t.txt
    run -2 cf-capture leon4 --inst-fields time,foo t.txt
    has "'foo' is no field"
    run -2 cf-capture leon4 --inst-fields time,result t.txt
    has "'address' is missing"
    run -2 cf-capture leon4 --master 0,x t.txt
    run -2 cf-capture leon4 --raw=both t.txt
    run -2 cf-capture leon4 --asi 256 t.txt
    run -0 cf-capture leon4 --help
    has 'Usage: cf-capture leon4'
    [ "${#lines[@]}" -le 24 ] || fail "${#lines[@]} lines"
    run -0 cf-capture leon4 --probe
    has 'ready: '
}
