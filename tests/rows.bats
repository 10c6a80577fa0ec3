# SPDX-License-Identifier: BSD-2-Clause
#
# rows: what programs print, as CSV, as a table for people, and as JSON: all by the same code, so
# that one program shows what holds for all.
load lib

setup_rows() { # names that CSV quotes, that no terminal should get, that are long
    local long
    long=$(printf '%060d' 0 | tr 0 x)end
    {
        echo 'time,op,addr,function'
        printf '1,load,1,"a,""b"""\n2,load,1,"a,""b"""\n3,load,1,"a,""b"""\n'
        printf '4,load,1,"c\033[31m"\n5,load,1,"c\033[31m"\n6,load,1,%s\n7,load,1,\n8,load,1,123\n' "$long"
        printf '9,load,1,\303\274\n'
    } | stream a.cf
}

@test "a table: names at the left, numbers at the right, nothing that commands a terminal" {
    setup_rows
    COLUMNS=86 run -0 cf-rank -q --term a.cf
    is 'rank  function                       accesses  share_percent  cumulative_percent  knee
   1  a,"b"                                 3         33.333              33.333     0
   2  c\x1b[31m                             2         22.222              55.556     1
   3  [unknown]                             1         11.111              66.667     0
   4  123                                   1         11.111              77.778     0
   5  ...xxxxxxxxxxxxxxxxxxxxxxxend         1         11.111              88.889     0
   6  ü                                     1         11.111             100.000     0'
    # where there is room, nothing is cut
    cf-rank -q --term a.cf | grep -q 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxend  '
    # and what is too narrow for numbers cuts texts to 16
    COLUMNS=10 cf-rank -q --term a.cf | grep -q '   5  \.\.\.xxxxxxxxxxend         1  '
}

@test "a terminal gets a table without being asked, a pipe CSV" {
    need script
    setup_rows
    script -qec "COLUMNS=86 cf-rank -q a.cf" /dev/null </dev/null | tr -d '\r' >seen
    COLUMNS=86 cf-rank -q --term a.cf | cmp - seen
    cf-rank -q a.cf >csv
    [[ $(head -n 2 csv) == 'rank,function,accesses,share_percent,cumulative_percent,knee
1,"a,""b""",3,33.333,33.333,0' ]]
    script -qec "cf-rank -q --csv a.cf" /dev/null </dev/null | tr -d '\r' | grep -q '^1,"a,""b""",3,33.333,33.333,0$'
}

@test "JSON: an object a row; numbers, texts and nothing are told apart" {
    setup_rows
    cf-rank -q --json a.cf >out
    [[ $(wc -l <out) == 6 ]]
    run -0 head -n 4 out
    is '{"rank":1,"function":"a,\"b\"","accesses":3,"share_percent":33.333,"cumulative_percent":33.333,"knee":0}
{"rank":2,"function":"c\u001b[31m","accesses":2,"share_percent":22.222,"cumulative_percent":55.556,"knee":1}
{"rank":3,"function":null,"accesses":1,"share_percent":11.111,"cumulative_percent":66.667,"knee":0}
{"rank":4,"function":"123","accesses":1,"share_percent":11.111,"cumulative_percent":77.778,"knee":0}'
    # the last of several counts
    cf-rank -q --json --csv a.cf | head -n 1 | grep -qx 'rank,function,.*'
    # without rows there is nothing
    printf 'time,op,addr,function\n' | stream none.cf
    cf-rank -q --json none.cf >out
    [[ ! -s out ]]
}

@test "JSON: names that read as numbers are texts, and numbers are none, whichever program prints them" {
    printf 'op,addr,size,region,page,function\nload,1,8,12,0,0\nload,2,8,12,0,0\nstore,1,8,12,0,-1.5\n' | stream a.cf
    run -0 cf-heatmap -q --json -w 10 a.cf
    is '{"region":"12","page":0,"time_start_records":0,"time_end_records":10,"accesses":3}'
    run -0 cf-rank -q --json --by page a.cf
    is '{"rank":1,"region":"12","page":0,"accesses":3,"share_percent":100.000,"cumulative_percent":100.000,"knee":0}'
    run -0 cf-histogram -q --json --column size --by function a.cf
    is '{"function":"-1.5","bin_low":8,"bin_high":15,"count":1,"share":1.000000,"cumulative_share":1.000000}
{"function":"0","bin_low":8,"bin_high":15,"count":2,"share":1.000000,"cumulative_share":1.000000}'
    run -0 cf-histogram -q --json --column function --by size a.cf
    is '{"size":8,"value":"-1.5","count":1,"share":0.333333,"cumulative_share":0.333333}
{"size":8,"value":"0","count":2,"share":0.666667,"cumulative_share":1.000000}'
    # words and addresses stay texts
    run -0 cf-histogram -q --json --column addr --by op a.cf
    is '{"op":"load","bin_low":"0x1","bin_high":"0x1","count":1,"share":0.500000,"cumulative_share":0.500000}
{"op":"load","bin_low":"0x2","bin_high":"0x3","count":1,"share":0.500000,"cumulative_share":1.000000}
{"op":"store","bin_low":"0x1","bin_high":"0x1","count":1,"share":1.000000,"cumulative_share":1.000000}'
}

@test "every program that prints CSV prints the same numbers as JSON and as a table" {
    printf 'time,pid,tid,op,size,addr,function,hit,class,dist\n' >a.csv
    awk 'BEGIN { for (i = 0; i < 400; i++) printf "%d,7,7,%s,8,%d,f%d,%d,%d,%d\n", i, i % 3 ? "load" : "store",
        i * 37 % 97 * 64, i % 5, i % 4 ? 1 : 255, i % 4 ? 0 : 2, i % 4 * 8 }' >>a.csv
    stream a.cf a.csv
    cf-cache -m raspberry-pi-4 --snapshot-every 100 a.cf -o s.cf
    local p rows
    for p in 'cf-rank -q a.cf' 'cf-rank --cover a.cf' 'cf-histogram --column addr a.cf' 'cf-mrc a.cf' \
        'cf-sweep --max 8K a.cf' 'cf-cache -m raspberry-pi-4 --summary a.cf' \
        'cf-classify -m raspberry-pi-4 --level L1D --summary a.cf' \
        'cf-latency -m leon4-n2x --summary a.cf' 'cf-heatmap -q --value bytes a.cf' 'cf-occupancy -q s.cf' \
        'cf-sets -q s.cf' 'cf-sets -q --summary s.cf' 'cf-diff s.cf' 'cf-diff --summary s.cf' \
        'cf-policy -q s.cf' 'cf-clash -q s.cf s.cf'; do
        # shellcheck disable=SC2086 # a program and its options
        $p --csv >csv 2>err || fail "$p: $(<err)"
        # shellcheck disable=SC2086 # the same
        $p --json >json 2>err || fail "$p --json: $(<err)"
        rows=$(($(wc -l <csv) - 1))
        ((rows > 0)) || fail "$p: no rows"
        [[ $(grep -c '^{"[^{}]*}$' json) == "$rows" && $(wc -l <json) == "$rows" ]] || fail "$p: not $rows objects"
        # the values, in their order, are those of CSV (no text here holds a comma)
        sed 's/"[a-z0-9_]*"://g; s/[{}"]//g; s/null//g' json >values
        tail -n +2 csv | cmp - values || fail "$p: other values"
        [[ $p =~ histogram|heatmap|occupancy|clash|cf-cache|policy ]] && continue # a form of its own for people, or blanks in texts
        # shellcheck disable=SC2086 # the same
        $p --term 2>err >table || fail "$p --term: $(<err)"
        sed 's/^ *//; s/ *$//; s/   */,/g' table | sed 's/,-,/,,/g; s/,-,/,,/g; s/,-$/,/; s/  */,/g' >values
        cmp csv values || fail "$p: another table"
    done
}

@test "rows beyond those that say how wide a column is, and a message amidst them" {
    awk 'BEGIN { print "time,op,addr,function"; for (i = 0; i < 3000; i++) printf "%d,load,1,f%s\n", i, i == 2999 ? "_a_long_name_at_the_end" : i }' |
        stream a.cf
    cf-rank -q --term --top 3000 a.cf >out
    [[ $(wc -l <out) == 3001 ]]
    cf-rank -q a.cf | tail -n +2 | cut -d, -f2 | cmp - <(tail -n +2 out | awk '{ print $2 }')
}

@test "what cannot be written is reported" {
    setup_rows
    run -3 --separate-stderr bash -c 'cf-rank -q --term a.cf >/dev/full'
    has 'standard output: No space left on device' "$stderr"
    run -3 --separate-stderr bash -c 'cf-rank -q --json a.cf >/dev/full'
    has 'standard output: No space left on device' "$stderr"
}
