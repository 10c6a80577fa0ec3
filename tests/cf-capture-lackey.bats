#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# cf-capture lackey: the text of valgrind --tool=lackey --trace-mem=yes.
load lib

# A slow second opinion: the rows that the importer must make, as CSV. -v runs=1 is -i.
reference() {
    awk -v runs="${1:-0}" '
        function hex(s,    i, v) {
            v = 0
            for (i = 1; i <= length(s); i++)
                v = v * 16 + index("0123456789abcdef", tolower(substr(s, i, 1))) - 1
            return v
        }
        # Addresses for show, kept as text: some awks print no number of more than 32 bits in hex.
        function shown(s) {
            s = tolower(s)
            sub(/^0+/, "", s)
            return "0x" (s == "" ? "0" : s)
        }
        function put(op, size, addr, insns) {
            n++
            row[n] = time "," op
            bytes[n] = size; at[n] = addr; pc[n] = here; count[n] = insns
        }
        /^I  / || /^ [LSM] / {
            split($2, a, ",")
            if ($1 == "I") {
                addr = hex(a[1]); time++
                here = shown(a[1])
                line = int((addr + a[2] - 1) / 64)
                if (!runs) next
                if (run && addr == end && !(data && line != int((end - 1) / 64))) {
                    bytes[run] += a[2]; count[run]++
                } else {
                    put("ifetch", a[2], here, 1); run = n; data = 0
                }
                end = addr + a[2]
                next
            }
            x = shown(a[1]); data = 1
            if ($1 != "S") put("load", a[2], x, 0)
            if ($1 != "L") put("store", a[2], x, 0)
        }
        END {
            print "time,op,size,addr,pc" (runs ? ",insns" : "")
            for (i = 1; i <= n; i++)
                print row[i] "," bytes[i] "," at[i] "," pc[i] (runs ? "," count[i] : "")
        }'
}

sample() {
    cat <<'END'
==42== Lackey, an example Valgrind tool
==42== Command: ./prog -x 1
==42==
I  00001000,3
I  00001003,5
 S 1fff000708,8
I  00001008,4
 L 00002000,4
 M 00002004,2
I  00003000,1
==42== Exit code:       0
END
}

columns=time,op,size,addr,pc

@test "loads, stores and modifies, with the instruction before them" {
    sample | cf-capture lackey >s.cf
    run -0 cf-cat --csv s.cf
    is 'time,op,size,addr,pc,pid,tid
2,store,8,0x1fff000708,0x1003,42,42
3,load,4,0x2000,0x1008,42,42
3,load,2,0x2004,0x1008,42,42
3,store,2,0x2004,0x1008,42,42'
}

@test "lines of a second process in one file: said once, with what to do; files of their own are none" {
    { sample && sample | sed s/42/43/; } >both.txt
    run -1 cf-capture lackey -o both.cf both.txt
    is "cf-capture-lackey: both.txt:12: lines of a second process, 43: lackey does not say whose accesses are, so all are given to process 42: trace with --log-file=NAME.%p, a file for each"
    [[ $(rows access both.cf | cut -d, -f6 | sort -u | tr '\n' ' ') == "42 pid " ]]
    sample >log.42
    sample | sed s/42/43/ >log.43
    run -0 cf-capture lackey -o two.cf log.42 log.43
    is ""
    [[ $(rows access two.cf | cut -d, -f6 | sort -u | tr '\n' ' ') == "42 43 pid " ]]
}

@test "instructions alone without -i: no records, and what takes them, status 1; some access is enough" {
    sample | grep -v '^ ' >i.txt
    run -1 --separate-stderr cf-capture lackey -o i.cf i.txt
    has 'no records: the input holds instructions alone, which -i records' "$stderr"
    [[ ! -e i.cf ]]
    run -0 --separate-stderr cf-capture lackey -i -o i.cf i.txt
    [[ ! $stderr ]] || fail "$stderr"
    echo ' L 8,1' >l.txt
    run -0 --separate-stderr cf-capture lackey -o l.cf i.txt l.txt
    [[ ! $stderr ]] || fail "$stderr"
    [[ $(rows access l.cf | wc -l) == 2 ]]
}

@test "-i: runs of instructions stand before the data of their instructions" {
    sample | cf-capture lackey -i >s.cf
    run -0 cf-cat --csv --columns $columns,insns s.cf
    is 'time,op,size,addr,pc,insns
1,ifetch,12,0x1000,0x1000,3
2,store,8,0x1fff000708,0x1003,0
3,load,4,0x2000,0x1008,0
3,load,2,0x2004,0x1008,0
3,store,2,0x2004,0x1008,0
4,ifetch,1,0x3000,0x3000,1'
}

@test "-i: after data a run ends before an instruction that reaches a further 64-byte line" {
    # 0x3c..0x3f ends its line; with no data in between the run goes on over the line's end.
    printf 'I  1038,4\nI  103c,4\nI  1040,4\n' | cf-capture lackey -i >a.cf
    run -0 cf-cat --csv --columns addr,size,insns a.cf
    is 'addr,size,insns
0x1038,12,3'
    printf 'I  1038,4\n L 9,1\nI  103c,4\nI  1040,4\n' | cf-capture lackey -i >b.cf
    run -0 cf-cat --csv --columns op,addr,size,insns b.cf
    is 'op,addr,size,insns
ifetch,0x1038,8,2
load,0x9,1,0
ifetch,0x1040,4,1'
    # One that begins in the old line and ends in a further one reaches it as well.
    printf 'I  1038,4\n L 9,1\nI  103c,6\nI  1042,2\n S 8,1\nI  1044,1\n' |
        cf-capture lackey -i >c.cf
    run -0 cf-cat --csv --columns op,addr,size,insns c.cf
    is 'op,addr,size,insns
ifetch,0x1038,4,1
load,0x9,1,0
ifetch,0x103c,9,3
store,0x8,1,0'
}

@test "-i: a jump, also one back to itself, begins a new run" {
    printf 'I  10,2\nI  10,2\nI  20,1\nI  21,1\nI  10,2\n' | cf-capture lackey -i >a.cf
    run -0 cf-cat --csv --columns time,addr,size,insns a.cf
    is 'time,addr,size,insns
1,0x10,2,1
2,0x10,2,1
3,0x20,2,2
5,0x10,2,1'
}

@test "a real trace gives what a second implementation makes of it" {
    need valgrind "it makes the trace"
    env -i valgrind --tool=lackey --trace-mem=yes --log-file=all.txt /bin/true
    head -n 40000 all.txt >t.txt
    tail -n 20000 all.txt >>t.txt
    reference <t.txt >want.csv
    cf-capture lackey t.txt | cf-cat --csv --columns $columns >got.csv
    same want.csv got.csv
    reference 1 <t.txt >want.csv
    cf-capture lackey -i -o t.cf t.txt
    cf-cat --csv --columns $columns,insns t.cf >got.csv
    same want.csv got.csv
    [ "$(wc -l <want.csv)" -gt 10000 ]
}

@test "runs stay whole and in order where batches of rows end" {
    # 3 stores an instruction, 8 instructions a line: rows fill batches at every phase of a run.
    awk 'BEGIN { for (i = 0; i < 9000; i++) {
        printf "I  %x,%d\n", 4096 + 8 * i, 8
        for (k = 0; k <= i % 4; k++) printf " S %x,8\n", 1048576 + 64 * i + 8 * k } }' >t.txt
    reference 1 <t.txt >want.csv
    cf-capture lackey -i t.txt | cf-cat --csv --columns $columns,insns >got.csv
    same want.csv got.csv
}

@test "an instruction with more data than a batch holds still gives every row" {
    (printf 'I  1000,4\n'; yes ' L 2000,8' | head -n 20000; printf 'I  1004,4\n') >t.txt
    cf-capture lackey -i t.txt >t.cf
    run -0 bash -c 'cf-cat --csv --columns op t.cf | sort | uniq -c | sort -n'
    [[ $output =~ \ 20000\ load ]] || fail "$output"
    run -0 bash -c "cf-cat --csv --columns op,addr,size,insns t.cf | grep -v load"
    is 'op,addr,size,insns
ifetch,0x1000,4,1
ifetch,0x1004,4,1'
}

@test "the header tells clock, source and command" {
    sample | cf-capture lackey >s.cf
    run -0 cf-cat --dump s.cf
    has instructions
    has cf-capture-lackey
    has './prog -x 1'
}

@test "standard output and -o hold the same rows; the same input gives the same bytes" {
    sample >t.txt
    cf-capture lackey -i t.txt | cat >a.cf
    cf-capture lackey -i - <t.txt >b.cf
    cf-capture lackey -i -o p.cf t.txt
    cf-cat --csv a.cf >a.csv
    cf-cat --csv b.cf >b.csv
    cf-cat --csv p.cf >p.csv
    same a.csv b.csv
    same a.csv p.csv
    cf-capture lackey -i t.txt | cmp - a.cf
}

@test "bad lines are counted, the first is told, the rest is imported" {
    printf 'I  1000,4\n L 2000\nhello world\n L 2000,8\n X 2000,8\n L ,8\n L 2000,0\n L 12345678901234567,8\n L 2000,8 \n S 3000,4\n' >t.txt
    run -1 --separate-stderr bash -c 'cf-capture lackey t.txt >t.cf'
    has "cf-capture-lackey: t.txt:2: " "$stderr"
    has "t.txt: 7 lines were bad in all" "$stderr"
    [ "${#stderr_lines[@]}" -eq 2 ]
    run -0 cf-cat --csv --columns op,addr t.cf
    is 'op,addr
load,0x2000
store,0x3000'
}

@test "a zero byte, binary noise and an endless line are bad lines and nothing worse" {
    head -c 300000 /bin/bash >noise
    printf ' \0 2000,8\n' >zero
    (head -c 300000 /dev/zero; printf '\n L 10,4\n') >long
    run -1 cf-capture lackey -o n.cf noise
    run -1 cf-capture lackey -o z.cf zero
    run -1 cf-capture lackey -o l.cf long
    [ "${#lines[@]}" -eq 1 ]
    has 'long:1: a line of more than 65536 bytes'
    run -0 cf-cat --csv --columns addr l.cf
    is 'addr
0x10'
}

@test "CR LF, superblocks, empty lines, Valgrind's own" {
    printf '==7== a\r\n--7-- b\r\n\nSB 04001000\nI  10,2\r\n L 20,4\r\n S 24,4\n' >t.txt
    run -0 cf-capture lackey -o t.cf t.txt
    is ''
    run -0 cf-cat --csv --columns pid,op,size,addr t.cf
    is 'pid,op,size,addr
7,load,4,0x20
7,store,4,0x24'
}

@test "several files: time goes on, each has its process" {
    printf '==7== a\nI  10,2\n L 20,4\n' >a.txt
    printf '==8== a\nI  10,2\n L 20,4\n' >b.txt
    cf-capture lackey a.txt b.txt >t.cf
    run -0 cf-cat --csv --columns time,pid t.cf
    is 'time,pid
1,7
2,8'
}

@test "a further command is not stated, which is said once; a file without its process has none" {
    for n in 7 8 9; do printf '==%d== Command: ./p %d\nI  10,2\n L 20,4\n' $n $((n / 8)) >$n.txt; done
    run -0 --separate-stderr cf-capture lackey -q -o t.cf 7.txt 8.txt 9.txt
    [[ $stderr == "cf-capture-lackey: 8.txt:1: './p 1' is a further command, which the stream does not state: import each log alone and join the streams by cf-cat, which keeps the command of each" ]]
    run -0 cf-capture lackey -o t.cf 8.txt 9.txt
    is ''
    printf 'I  12,2\n L 30,4\n' >none.txt
    run -0 cf-capture lackey -o t.cf 7.txt none.txt
    is ''
    run -0 bash -c 'cf-cat --json --columns time,pid,addr t.cf'
    has '"pid":7,'
    has '"pid":null,"addr":"0x30"'
    [[ $(grep -c '"pid":7,' <<<"$output") == 1 ]] || fail "$output"
    # one that says it at its end
    echo '==5== end' >>none.txt
    run -0 cf-capture lackey -o t.cf none.txt
    is ''
}

@test "empty input, and input without a record: a stream that says so, a message, status 1" {
    : >empty
    printf '==7== nothing\n' >header
    for f in empty header; do
        run -1 --separate-stderr bash -c "cf-capture lackey $f >$f.cf"
        has 'no records' "$stderr"
        run -1 cf-cat --verify $f.cf
        has "what wrote it says"
    done
}

@test "a file that cannot be read: told, the others are imported, status 1" {
    printf 'I  10,2\n L 20,4\n' >a.txt
    run -1 cf-capture lackey -o t.cf missing a.txt .
    has 'missing: No such file'
    has '.: Is a directory'
    run -1 --separate-stderr cf-cat --csv --columns addr t.cf # it is not all
    is 'addr
0x20'
}

@test "rows arrive while the input is silent" {
    importing lackey 'I  10,2\n L 20,4\nI  12,2\n' 0x20
    exec 8>&-
    wait "$pid" "$copy"
    cf-cat --verify t.cf
}

@test "SIGTERM ends the input: the stream is complete, and we die by the signal" {
    # Only when it has sent the row has it begun to read.
    importing lackey 'I  10,2\n L 20,4\nI  12,2\n L 2' 0x20
    kill -TERM "$pid"
    status=0
    wait "$pid" || status=$?
    exec 8>&-
    wait "$copy"
    [ "$status" -eq 143 ] || fail "status $status"
    run -0 cf-cat --verify t.cf
    run -0 cf-cat --csv --columns addr t.cf
    is 'addr
0x20'
}

@test "a full disk is an error; a closed pipe is none" {
    awk 'BEGIN { for (i = 0; i < 100000; i++) print " L " i ",4" }' >t.txt
    run -3 bash -c 'cf-capture lackey t.txt >/dev/full'
    has 'No space left'
    run -0 bash -c 'cf-capture lackey t.txt | head -c 100 >/dev/null'
    is ''
}

@test "usage: bad option, help, version, probe" {
    run -2 cf-capture lackey --nonsense
    run -0 cf-capture lackey --help
    has 'Usage: cf-capture lackey'
    run -0 cf-capture lackey --probe
    has 'ready: '
    run -3 bash -c 'cf-capture lackey --probe >/dev/full'
}
