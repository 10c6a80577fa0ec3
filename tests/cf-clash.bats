#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# cf-clash: metrics of pairs of programs. The metrics themselves, and the coefficients of the paper's
# own Table 3, are tested by tests/unit/test_clash.c.

load lib

# Profiles: a uses 0.75, 1, 0.5, 0.25 and reuses 0, 0.5, 0.25, 0; b uses 0.5, 0 and reuses 0, 0.
profiles() {
    printf 'snapshot,active_quota,reused_quota\n1,0.75,0\n2,1,0.5\n3,0.5,0.25\n4,0.25,0\n' >a.csv
    printf 'snapshot,active_quota,reused_quota\n1,0.5,0\n2,0,0\n' >b.csv
}

@test "every ordered pair, a program with itself too; the shorter one repeats" {
    profiles
    run -0 cf-clash a.csv b.csv
    # a alone: excess (0.5 + 1 + 0 + 0) / 4, eviction (0.5 * 1 + 0.25 * 0.5) / 4
    # a under b: (0.25 + 0 + 0 + 0) / 4, (0 + 0 + 0.25 * 0.5 + 0) / 4; b under a: (0.25 + 0) / 2
    is 'observed,interfering,active_set_excess,reused_set_eviction
a,a,0.375000,0.156250
b,a,0.125000,0.000000
a,b,0.062500,0.031250
b,b,0.000000,0.000000'
    run -0 cf-clash --names 'x y,z' a.csv b.csv
    [[ ${lines[2]} == 'z,x y,0.125000,0.000000' ]]
    run -2 cf-clash --names x a.csv b.csv
    run -2 cf-clash --names x,y,z a.csv b.csv
    run -0 cf-clash --no-self a.csv b.csv
    [[ ${#lines[@]} == 3 && ${lines[1]} == b,a,* && ${lines[2]} == a,b,* ]]
}

@test "--lengths: once, stretch, phases" {
    profiles
    one() { cf-clash --lengths "$1" a.csv b.csv | awk -F, '$1 == "a" && $2 == "b" { print $3, $4 }'; }
    [[ $(one once) == '0.062500 0.000000' ]]
    [[ $(one stretch) == '0.187500 0.062500' ]]                # 0.5 0.5 0 0: (0.25 + 0.5) / 4
    [[ $(one phases) == '0.093750 0.046875' ]]                 # (0.25 + 0.5) / 8; 0.1875 * 0.25
    run -2 cf-clash --lengths sideways a.csv b.csv
    has "'sideways': give one of repeat, stretch, once, phases"
}

@test "a profile of a file with a long name is of that file" {
    local name
    name=$(printf 'd%.0s/' {1..200})s.cf
    printf 'file,snapshot,active_quota,reused_quota\n%s,1,0.5,0.5\n%s,2,0.5,0.5\n' "$name" "$name" >a.csv
    run -0 cf-clash a.csv
    is 'observed,interfering,active_set_excess,reused_set_eviction
a,a,0.000000,0.250000'
    sed -i '$s/s.cf/t.cf/' a.csv
    run -1 cf-clash a.csv
    has "row 3 is of $(printf 'd%.0s/' {1..200})t.cf, the rows before are of $name"
}

@test "streams and their profiles by cf-sets give the same" {
    local s
    printf 'line_size: 64\nlevels:\n  - {name: L1, size: 4KiB, ways: 2}\n  - {name: L2, size: 32KiB, ways: 4}\n' >m.yaml
    for s in gzip sort sqlite; do
        cf-cache -q -m ./m.yaml --snapshot-every 20000 --flush -o $s.cf "$ROOT/samples/$s.cf"
        cf-sets $s.cf >$s.csv
    done
    run -0 --separate-stderr cf-clash gzip.cf sort.cf sqlite.cf
    [[ -z $stderr && ${#lines[@]} == 10 ]]
    echo "$output" >want.csv
    cf-clash gzip.csv sort.csv sqlite.csv >got.csv
    same want.csv got.csv
    # something clashes
    awk -F, 'NR > 1 { e += $3; v += $4 } END { exit !(e > 0.1 && v > 0.1) }' want.csv
    # profiles of two files in one are nobody's
    cf-sets gzip.cf sort.cf >two.csv
    run -1 --separate-stderr cf-clash two.csv sqlite.csv
    [[ -z $output && $stderr == *'two.csv: row '*' is of sort.cf, the rows before are of gzip.cf: a profile is of one program'* ]]
    # from standard input, and with names
    cf-clash zip=gzip.cf - <sort.cf >named.csv
    [[ $(sed -n '2p' named.csv) == "zip,zip,$(sed -n '2s/^gzip,gzip,//p' want.csv)" ]]
    [[ $(sed -n '3p' named.csv) == "-,zip,$(sed -n '3s/^sort,gzip,//p' want.csv)" ]]
}

@test "of a stream, all known processes are the program, and the last level counts" {
    printf 'snapshot,time,mode,level,sets,ways\n1,10,1,1,1,2\n1,10,1,2,2,4\n2,20,1,2,2,4\n' >snapshots.csv
    stream s.cf -t line --with snapshot=snapshots.csv <<'END'
snapshot,level,phys,pid
1,1,0x40,7
1,2,0x40,7
1,2,0x80,8
1,2,0xc0,0
2,2,0x40,7
2,2,0xc0,0
END
    run -0 cf-clash s.cf
    # active 2/8 and 1/8, reused 0 and 1/8
    is "$(printf 'observed,interfering,active_set_excess,reused_set_eviction\ns,s,0.000000,%.6f' 0.0078125)"
    # where nobody is known, all is the program
    printf 'snapshot,phys\n1,0x40\n2,0x40\n2,0x80\n' | stream n.cf -t line
    run -0 cf-clash --lines 2 n.cf
    is 'observed,interfering,active_set_excess,reused_set_eviction
n,n,0.500000,0.250000'
    # of profiles likewise
    cf-sets --lines 2 n.cf >n.csv
    run -0 cf-clash n.csv
    is 'observed,interfering,active_set_excess,reused_set_eviction
n,n,0.500000,0.250000'
    cf-sets s.cf >s.csv
    run -0 --separate-stderr cf-clash s.csv
    [[ ${lines[1]} == s,s,0.000000,0.0078* ]]
}

@test "a line that several processes of the program map, or one of them twice, is one line" {
    local how
    printf 'snapshot,time,mode,level,sets,ways\n1,10,1,2,4,2\n2,20,1,2,4,2\n' >snapshots.csv
    for how in '7 0x1000' '7 0x1000 8 0x5000' '7 0x1000 7 0x5000 9 0x9000'; do
        # shellcheck disable=SC2086
        for s in 1 2; do for set in 0 1 2; do printf "$s,2,$set,0,0x%x,%d,%s\n" $(printf "$((set * 64)) %s %s " $how); done; done | { echo snapshot,level,set,way,phys,pid,addr && cat; } |
            stream s.cf -t line --with snapshot=snapshots.csv
        run -0 --separate-stderr cf-clash s.cf
        # active 3/8 in both, reused 0 and 3/8
        is "$(printf 'observed,interfering,active_set_excess,reused_set_eviction\ns,s,0.000000,%.6f' 0.0703125)"
        [[ -z $stderr ]]
        cf-sets s.cf >p.csv
        run -0 --separate-stderr cf-clash p.csv
        [[ $how == '7 0x1000' ]] && [[ -z $stderr ]] || has 'p.csv: quotas of several processes are added' "$stderr"
    done
}

@test "--slowdown: correlation over the pairs that are there" {
    profiles
    printf 'interfering,slowdown,observed\na,1.4,a\na,1.1,b\nb,1.05,a\nb,1,b\nx,9,y\n' >measured.csv
    run -0 --separate-stderr cf-clash --slowdown measured.csv a.csv b.csv
    [[ ${lines[0]} == *,slowdown && ${lines[1]} == a,a,*,1.400000 && ${lines[2]} == b,a,*,1.100000 ]]
    [[ -z $stderr ]]
    run -0 cf-clash --slowdown measured.csv --correlation a.csv b.csv
    is 'metric,pairs,correlation
active_set_excess,4,0.996262
reused_set_eviction,4,0.954566'
    run -0 cf-clash --slowdown measured.csv --correlation --no-self a.csv b.csv
    [[ ${lines[1]} == active_set_excess,2,1.000000 && ${lines[2]} == reused_set_eviction,2,-1.000000 ]]
    run -2 cf-clash --correlation a.csv b.csv
    printf 'observed,interfering,slowdown\na,a,1.2\n' >one.csv
    run -0 --separate-stderr cf-clash --slowdown one.csv --correlation a.csv b.csv
    is 'metric,pairs,correlation
active_set_excess,1,
reused_set_eviction,1,'
    has '3 of 4 pairs have no slowdown' "$stderr"
}

@test "--correlation: none with a value that all pairs have, whose mean rounding moves" {
    local o i
    printf 'observed,interfering,slowdown\n' >flat.csv
    for o in a b c; do
        printf 'snapshot,active_quota,reused_quota\n1,0.56,0.3\n' >$o.csv
        for i in a b c; do echo $o,$i,1.02 >>flat.csv; done
    done
    run -0 cf-clash --slowdown flat.csv --correlation a.csv b.csv c.csv
    is 'metric,pairs,correlation
active_set_excess,9,
reused_set_eviction,9,'
}

@test "--term: three groups as in the paper" {
    profiles
    printf 'observed,interfering,slowdown\na,a,1.4\nb,a,1.1\na,b,1.05\nb,b,1\n' >measured.csv
    cf-clash --term --slowdown measured.csv a.csv b.csv | sed 's/ *$//' >table
    cat >want <<'END'
Rows: interfering program; columns: observed program

Slowdown              a             b
  a                   1.40          1.10
  b                   1.05          1.00

Active set excess     a             b
  a                   0.38          0.12
  b                   0.06          0.00
  correlation coefficient: 1.00, of 4 pairs

Reused set eviction   a             b
  a                   0.16          0.00
  b                   0.03          0.00
  correlation coefficient: 0.95, of 4 pairs

END
    same want table
}

@test "bad profiles and slowdowns: status 1, the row or column is named, the rest is used" {
    profiles
    printf 'snapshot,active_quota\n1,0.5\n' >column.csv
    run -1 --separate-stderr cf-clash column.csv
    has 'column.csv: row 1 names no column reused_quota' "$stderr"
    : >empty.csv
    run -1 --separate-stderr cf-clash empty.csv
    has 'names no column' "$stderr"
    { cat a.csv && printf '5,much,0\n6,nan,0\n7,-1,0\n8\n'; } >rows.csv
    run -1 --separate-stderr cf-clash rows.csv
    has "rows.csv: row 6: column active_quota is 'much'" "$stderr"
    has 'row 7' "$stderr"
    has 'row 8' "$stderr"
    has 'row 9' "$stderr"
    [[ ${lines[1]} == rows,rows,0.375000,0.156250 ]]
    printf 'snapshot,active_quota,reused_quota\n1,"0.5,0\n' >quote.csv
    run -1 cf-clash quote.csv
    printf 'observed,interfering,slowdown\nx,y,1.2\n' >other.csv
    run -1 --separate-stderr cf-clash --slowdown other.csv a.csv b.csv
    has 'names must be the same' "$stderr"
    printf 'observed,interfering,slowdown\na,b,1.5\na,b,9\n' >twice.csv
    run -1 --separate-stderr cf-clash --slowdown twice.csv a.csv b.csv
    has "twice.csv: row 3: another slowdown of 'a' by 'b'" "$stderr"
    [[ ${lines[3]} == a,b,*,1.500000 ]]
    run -2 --separate-stderr cf-clash --slowdown twice.csv a.csv a=b.csv
    has "two programs are called 'a'" "$stderr"
    run -0 cf-clash -q a.csv a=b.csv
    run -3 cf-clash /no/such/file.csv
    run -3 cf-clash --slowdown /no/such/file a.csv
}

@test "snapshots of unknown caches, transparent ones, streams without lines" {
    printf 'snapshot,phys\n1,0x40\n' | stream bare.cf -t line
    run -1 --separate-stderr cf-clash bare.cf
    has 'bare.cf: 1 snapshots do not state the size of the cache: give --lines' "$stderr"
    printf 'snapshot,time,mode,level,sets,ways\n1,10,0,2,2,4\n' >snapshots.csv
    printf 'snapshot,level,phys,pid\n1,2,0x40,7\n' | stream t.cf -t line --with snapshot=snapshots.csv
    run -0 --separate-stderr cf-clash t.cf
    has 'transparent' "$stderr"
    printf 'snapshot,level,phys,pid\n' | stream none.cf -t line --with snapshot=snapshots.csv
    run -1 --separate-stderr cf-clash none.cf
    has 'no lines of a program' "$stderr"
    printf 'snapshot,active_quota,reused_quota\n1,0,0\n2,0,0\n' >zeros.csv
    run -1 --separate-stderr cf-clash zeros.csv
    has 'zeros.csv: no lines of a program in any snapshot' "$stderr"
    head -c 300 t.cf >cut.cf
    run -1 --separate-stderr cf-clash t.cf cut.cf
    has 'cut.cf' "$stderr"
}

@test "standard input is one input only" {
    printf 'snapshot,pid,phys\n1,7,0x40\n' | stream one.cf -t line
    run -2 --separate-stderr cf-clash -q --lines 4 - - <one.cf
    has 'cannot be two inputs' "$stderr"
    run -2 --separate-stderr cf-clash -q --lines 4 --slowdown - - <one.cf
    has 'cannot be two inputs' "$stderr"
}

@test "slowdowns go to their pairs, with and without the pairs of a program with itself" {
    printf 'snapshot,pid,phys\n1,7,0x40\n' | stream one.cf -t line
    printf 'observed,interfering,slowdown\nc,a,4\na,b,2\nb,b,9\nb,c,3\n' >slow.csv
    cf-clash -q --lines 4 --slowdown slow.csv a=one.cf b=one.cf c=one.cf | awk -F, 'NR > 1 && $5 { print $1 $2 $5 }' >got
    printf '%s\n' ca4.000000 ab2.000000 bb9.000000 bc3.000000 | same <(sort) <(sort got)
    cf-clash -q --lines 4 --no-self --slowdown slow.csv a=one.cf b=one.cf c=one.cf >got.csv
    awk -F, 'NR > 1 && $5 { print $1 $2 $5 }' got.csv >got
    printf '%s\n' ca4.000000 ab2.000000 bc3.000000 | same <(sort) <(sort got)
    cf-clash -q --lines 4 --no-self --term --slowdown slow.csv a=one.cf b=one.cf c=one.cf >table
    [[ $(sed -n 4,6p table | tr -s ' ' | paste -sd/) == ' a - - 4.00 / b 2.00 - - / c - 3.00 - ' ]] || fail "$(cat table)"
}
