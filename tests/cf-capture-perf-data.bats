#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# cf-capture perf-data: files of perf record, as make_perf_data writes them and as the kernel does.
load lib

# What perf script prints of m.data, as the rows that it stands for: a second opinion, which takes
# operation and level from perf's words. -v: with physical addresses.
by_perf() {
    local fields=pid,tid,cpu,time,period,event,addr,data_src,weight,ip
    [[ ${1:-} != -v ]] || fields+=,phys_addr
    need perf "linux-perf"
    need python3 'reads what perf script prints'
    perf script -i m.data -F "$fields" 2>/dev/null >script.txt
    python3 - script.txt <<'END'
import re, sys
form = re.compile(r'\s*(\d+)/(\d+)\s+\[(\d+)\]\s+(\d+)\.(\d+):\s+(\d+)\s+(\S+):\s+([0-9a-f]+)\s+([0-9a-f]+) '
                  r'\|OP ([^|]*)\|LVL ([^|]*)\|.*?\s(\d+)\s+([0-9a-f]+)(?:\s+([0-9a-f]+))?\s*$')
seen = set()
for line in open(sys.argv[1]):
    pid, tid, cpu, s, us, period, event, addr, src, op, lvl, weight, ip, phys = form.match(line).groups()
    level = (255 if 'RAM' in lvl or lvl == 'L3 miss' else 254 if 'LFB' in lvl or lvl == 'L1 miss' else
             0 if lvl.startswith('N/A') else int(re.match(r'L(\d)', lvl).group(1)))
    key = (s, us, tid, ip, addr)
    if addr == '0' or op == 'N/A' or key in seen:
        continue
    seen.add(key)
    row = [s + us, op.lower(), '0x' + addr, str(level), period, pid, tid, str(int(cpu)), '0x' + ip,
           str(int(src, 16)), weight]
    print(','.join(row + (['0x' + phys] if phys else [])))
END
}

# The same of our rows, with times in microseconds, as perf prints them.
by_us() {
    local columns=time,op,addr,level,weight,pid,tid,cpu,pc,data_src,cost
    [[ ${1:-} != -v ]] || columns+=,phys
    cf-cat --csv --columns "$columns" m.cf | tail -n +2 | awk -F, -v OFS=, '{ $1 = substr($1, 1, length($1) - 3); print }'
}

@test "Intel, AMD and SPE, both endiannesses: the rows that perf script prints" {
    local layout endian v
    for layout in intel amd spe; do
        v=
        [[ $layout != intel ]] || v=-v
        for endian in little big; do
            make_perf_data $layout $endian file 500 7 >m.data
            cf-capture perf-data -o m.cf m.data
            by_perf $v | sort >theirs
            by_us $v | sort >ours
            [[ $(wc -l <ours) -gt 250 ]]
            same theirs ours
        done
    done
}

@test "the form for pipes: the same rows, and in the order of time" {
    local layout endian
    for layout in intel amd spe; do
        for endian in little big; do
            make_perf_data $layout $endian file 500 7 >m.data
            make_perf_data $layout $endian pipe 500 7 >p.data
            cf-capture perf-data m.data | cf-cat --csv >file.csv
            cf-capture perf-data <p.data | cf-cat --csv >pipe.csv
            same file.csv pipe.csv
            column time file.csv | tail -n +2 >times
            sort -n times | cmp - times
        done
    done
    # a file through a pipe, too
    cat m.data | cf-capture perf-data | cf-cat --csv >pipe.csv
    same file.csv pipe.csv
}

@test "header, tasks and mappings" {
    make_perf_data intel big file 20 1 >m.data
    cf-capture perf-data -o m.cf m.data
    run -0 cf-cat --info m.cf
    has 'unit: "nanoseconds", hz: 1000000000'
    has 'host: "bench1"'
    run -0 rows task m.cf
    is 'time,pid,tid,parent,op,label
123456788000,4242,4242,0,begin,demo app
123456788000,4242,4243,0,begin,demo app
123456809000,4242,4243,0,exit,demo app
123456809000,4242,4242,0,exit,demo app'
    run -0 rows map m.cf
    is 'time,pid,op,start,end,offset,perms,label,build
123456788000,4242,map,0x400000,0x402000,0,5,/opt/demo app,build-id:a0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3'
}

@test "a child that took a name on another CPU, and ran a program there, whose records stand before those of its begin" {
    make_perf_data intel little file 5 1 child >m.data
    cf-capture perf-data -o m.cf m.data
    run -0 bash -c 'cf-cat --csv --table task m.cf | grep 4250'
    is '123456788001,4250,4250,4242,begin,demo app
123456788002,4250,4250,0,name,child
123456788003,4250,4250,0,exit,child
123456788003,4250,4250,0,begin,other'
    # another program has none of the mappings of before
    run -0 bash -c 'cf-cat --csv --table map --columns time,pid,op,start,end m.cf | grep 4250'
    is '123456788003,4250,unmap,0x0,0xffffffffffffffff'
}

@test "what is lost or throttled is counted and reported" {
    make_perf_data amd little file 50 1 lost >m.data
    run -0 --separate-stderr cf-capture perf-data -o m.cf m.data
    has 'm.data: perf lost 9 records and 5 samples' "$stderr"
    has 'throttled the events 1 times' "$stderr"
    has 'samples left out that have no address' "$stderr"
    has 'samples left out that state no operation' "$stderr"
    run -0 rows lost --columns time,cpu,pid,tid,count,label m.cf
    is 'time,cpu,pid,tid,count,label
123456788000,0,4242,4242,7,lost
123456788000,0,4242,4242,5,lost
123456788000,0,4242,4242,1,throttled
123456839000,0,0,0,2,lost'
    # perf counts 9 when it ends, of which 7 are known; what a filter of the user left out is not lost
    # --op gives one to those that state none
    run -0 --separate-stderr cf-capture perf-data --op load -o o.cf m.data
    has_not 'no operation' "$stderr"
    [[ $(rows access o.cf | wc -l) -gt $(rows access m.cf | wc -l) ]]
}

@test "newer kernels: fields and records that are not known are passed over, data_src stays, its level does not" {
    make_perf_data intel little file 50 1 strange >m.data
    run -0 --separate-stderr cf-capture perf-data -o m.cf m.data
    has 'samples of event 1 have fields that are not known (bits 0x10000000000 of sample_type)' "$stderr"
    has '2 records of types that are not known' "$stderr"
    [[ $(rows access m.cf | wc -l) == 51 ]]
    [[ $(cf-cat --csv --columns level m.cf | sort -u | tr '\n' ' ') == '0 level ' ]]
    cf-cat --csv --columns data_src m.cf | awk 'NR > 1 && $1 < 2 ^ 60 { exit 1 }'
}

@test "a frequency without periods is not taken for a period" {
    make_perf_data intel little file 5 1 frequency >m.data
    cf-capture perf-data -o m.cf m.data
    cf-cat --csv --columns weight m.cf | awk 'NR > 1 && $1 < 1000 { exit 1 }'
}

@test "samples out of order: put in order, or left out with a message beyond --hold" {
    make_perf_data intel little file 500 3 late >m.data
    cf-capture perf-data -o m.cf m.data
    cf-cat --csv --columns time m.cf | tail -n +2 >times
    [[ $(wc -l <times) == 500 ]]
    sort -n times | cmp - times
    run -1 --separate-stderr cf-capture perf-data --hold 64 -o n.cf m.data
    has 'samples left out that stand behind later ones: raise --hold' "$stderr"
    cf-cat --csv --columns time n.cf | tail -n +2 >times
    sort -n times | cmp - times
    # rounds need no more than what stands between two of them
    make_perf_data intel little file 500 3 >m.data
    run -0 cf-capture perf-data --hold 64 -o n.cf m.data
}

@test "a file that ends anywhere: one message with its place, status 1, and all whole records" {
    make_perf_data intel little file 5 5 >m.data
    local n bytes least=0 rows said
    bytes=$(stat -c %s m.data)
    # records begin and end at multiples of 8
    for ((n = 0; n < bytes; n++)); do
        [[ ${CF_LONG-} ]] || ((n % 8 == 0 || n % 29 == 0)) || continue
        head -c $n m.data >cut.data
        status=0
        cf-capture-perf-data cut.data >cut.cf 2>err || status=$?
        mapfile -t said <err
        [[ $status == 1 && ${#said[@]} == 1 ]] || fail "cut at $n: status $status" "${said[@]}"
        [[ ${said[0]} =~ cut.data:\ byte\ [0-9]+:\  ]] || fail "cut at $n" "${said[@]}"
        ((n % 16)) || {
            rows=$({ cf-cat --csv cut.cf 2>/dev/null || :; } | grep -c 0x7f || :)
            ((rows >= least)) || fail "cut at $n: $rows rows, and fewer bytes gave $least"
            least=$rows
        }
    done
    [[ $least == 5 ]]
}

@test "the form for pipes that ends anywhere: a message; between two records nobody can know" {
    make_perf_data amd big pipe 6 5 >m.data
    local n bytes
    bytes=$(stat -c %s m.data)
    for ((n = 0; n < bytes; n++)); do
        [[ ${CF_LONG-} ]] || ((n % 8 == 0 || n % 29 == 0)) || continue
        status=0
        head -c $n m.data >cut.data
        # behind a round's end nothing shows that more came
        [[ $(tail -c 8 cut.data | od -An -tx1) != ' 00 00 00 44 00 00 00 08' ]] || continue
        cf-capture-perf-data <cut.data >cut.cf 2>err || status=$?
        [[ $status == 1 || ($status == 0 && $(<err) == *'may have been cut off'*) ]] || fail "cut at $n: status $status" "$(<err)"
        [[ -s err ]]
    done
}

@test "what stands behind the end of the file: a message with its place, status 1, and all rows of it" {
    local form bytes at n
    for form in file pipe; do
        make_perf_data intel little $form 20 5 >m.data
        cf-capture perf-data -o m.cf m.data
        bytes=$(stat -c %s m.data)
        cat m.data m.data >two.data
        run -1 --separate-stderr cf-capture perf-data -o t.cf two.data
        has "two.data: byte $bytes: another perf.data file begins here" "$stderr"
        run -1 --separate-stderr cf-capture perf-data -o p.cf < <(cat two.data)
        has "standard input: byte $bytes: another perf.data file begins here" "$stderr"
        cf-cat --csv m.cf >one
        cf-cat --csv t.cf | same one -
        cf-cat --csv p.cf | same one -
    done
    make_perf_data intel little file 20 5 >m.data
    bytes=$(stat -c %s m.data)
    { cat m.data && echo more; } >more.data
    run -1 --separate-stderr cf-capture perf-data -o t.cf more.data
    has "more.data: byte $bytes: what stands behind the end of the perf.data file is not read" "$stderr"
    cf-cat --csv t.cf | same one -

    # its events may stand there
    read -r at n < <(od -An -tu8 -j 24 -N 16 m.data)
    tail -c +$((at + 1)) m.data | head -c "$n" >events
    cat m.data events >behind.data
    printf "$(printf '\\x%02x' $((bytes & 255)) $((bytes >> 8)) 0 0)" |
        dd of=behind.data bs=1 seek=24 conv=notrunc status=none
    run -0 --separate-stderr cf-capture perf-data -o t.cf behind.data
    [[ -z $stderr ]] || fail "$stderr"
    cf-cat --csv t.cf | same one -
}

@test "no such file: text, an older version, a head that lies" {
    printf 'demo 1 [000] 1.0: 1 event: 10 20\n' >t.txt
    mkdir folder.data
    run -1 cf-capture-perf-data folder.data
    has 'perf record --threads'
    run -1 cf-capture-perf-data t.txt
    has 'this is no perf.data file: for perf'"'"'s text there are cf-capture perf-script and perf-mem'
    printf 'PERFFILE0000000000000000' >t.data
    run -1 cf-capture-perf-data t.data
    has 'version 1'
    make_perf_data intel little file 4 5 >m.data
    for at in 16 24 32 40 48; do
        cp m.data l.data
        printf '\377\377\377\377\377\377\377\177' | dd of=l.data bs=1 seek=$at conv=notrunc status=none
        run -1 cf-capture-perf-data l.data
        has 'l.data: byte'
    done
}

@test "the kernel's own files: page faults with mappings, compressed, and through a pipe" {
    need perf "linux-perf"
    perf record -q -e page-faults -c 1 -d -o m.data -- ls / >/dev/null 2>&1 || skip "perf record is refused here"
    run -0 --separate-stderr cf-capture perf-data --op load -o m.cf m.data
    [[ $(rows access m.cf | wc -l) -gt 50 ]]
    run -0 --separate-stderr cf-resolve -q m.cf
    cf-resolve -q m.cf | cf-cat --csv --columns region | grep -q '/ls'
    run -0 cf-cat --info m.cf
    has 'command: "ls /"'
    has "tool: \"perf "
    run -1 --separate-stderr cf-capture perf-data m.data
    has 'state no operation' "$stderr"
    perf script -i m.data -F time,addr 2>/dev/null | awk '{ print "0x" $NF }' >theirs
    cf-cat --csv --columns addr m.cf | tail -n +2 >ours
    same theirs ours
    if perf record -q -z -e page-faults -c 1 -d -o z.data -- ls / >/dev/null 2>&1; then
        perf script -i z.data -F time,addr 2>/dev/null | awk '{ print "0x" $NF }' >theirs
        cf-capture perf-data --op load z.data | cf-cat --csv --columns addr | tail -n +2 >ours
        same theirs ours
        head -c $(($(stat -c %s z.data) / 2)) z.data >y.data
        run -1 --separate-stderr cf-capture perf-data --op load -o y.cf y.data
        has 'y.data: byte' "$stderr"
    fi
    perf record -q -e page-faults -c 1 -d -o - -- ls / 2>/dev/null >p.data
    perf script -i p.data -F time,addr 2>/dev/null | awk '{ print "0x" $NF }' >theirs
    cf-capture perf-data --op load <p.data | cf-cat --csv --columns addr | tail -n +2 >ours
    same theirs ours
}

@test "an event without times beside one that has some: those of the records before, and a warning" {
    need perf "linux-perf"
    perf record -q -d -e 'cpu-clock/freq=1000/,page-faults/period=1,time=0/' -o m.data -- ls / >/dev/null 2>&1 ||
        skip "perf record is refused here"
    run -0 --separate-stderr cf-capture perf-data --op load -o m.cf m.data
    has 'samples of event 2 have no times: they get that of the record before' "$stderr"
    [[ $(rows access m.cf --columns time | tail -n 1) -gt 0 ]]
}

@test "no event has times: a warning where several CPUs recorded, whose records have no order" {
    need perf "linux-perf"
    (($(nproc) > 1)) || skip "one CPU"
    perf record -q -d -e page-faults -c 1 --no-timestamp -o m.data -- ls / >/dev/null 2>&1 ||
        skip "perf record is refused here"
    run -0 --separate-stderr cf-capture perf-data --op load -o m.cf m.data
    has 'the order of accesses is not known' "$stderr"
    perf record -q -d -e page-faults -c 1 --per-thread -o m.data -- ls / >/dev/null 2>&1
    run -0 --separate-stderr cf-capture perf-data --op load -o m.cf m.data
    has_not 'order of accesses' "$stderr"
}

# What perf script makes of the trace of ARM's SPE in m.data: a row for each record that is a load or a
# store ("M": memory). "-" where perf states no level; the period is 1 in all of them.
spe_by_perf() { # LAYOUT
    local fields=pid,tid,cpu,time,addr,data_src,weight,ip,phys_addr
    [[ $1 != thread ]] || fields=pid,tid,addr,data_src,weight,ip,phys_addr
    need perf "linux-perf"
    need python3 'reads what perf script prints'
    perf script --itrace=M -i m.data -F "$fields" 2>/dev/null >script.txt
    python3 - script.txt "$1" <<'END'
import re, sys
place = '()()()' if sys.argv[2] == 'thread' else r'\[(\d+)\]\s+(\d+)\.(\d+):'
form = re.compile(r'\s*(\d+)/(\d+)\s+' + place + r'\s+([0-9a-f]+)\s+([0-9a-f]+) \|OP ([^|]*)\|LVL ([^|]*)\|.*?\s(\d+)'
                  r'\s+([0-9a-f]+)\s+([0-9a-f]+)\s*$')
for line in open(sys.argv[1]):
    pid, tid, cpu, s, us, addr, src, op, lvl, weight, ip, phys = form.match(line).groups()
    if addr == '0':
        continue
    level = ('-' if lvl.startswith('N/A') else 254 if 'Remote' in lvl or lvl == 'L1 miss' else
             255 if 'RAM' in lvl or lvl == 'L3 miss' else int(re.match(r'L(\d)', lvl).group(1)))
    print(','.join([s + us, op.lower(), '0x' + addr, pid, tid, str(int(cpu or 0)), '0x' + ip, str(int(src, 16)),
                    weight, '0x' + phys, str(level)]))
END
}

# The same of our rows in m.cf, without the levels that perf does not state in theirs: SPE has no data
# source for stores, but events.
spe_by_us() { # LAYOUT
    cf-cat --csv --columns time,op,addr,pid,tid,cpu,pc,data_src,cost,phys,level m.cf 2>/dev/null | tail -n +2 |
        awk -F, -v OFS=, -v layout="$1" '{
            if (layout == "thread") { $1 = ""; $6 = 0 } else $1 = substr($1, 1, length($1) - 3); print }' |
        awk -F, -v OFS=, 'NR == FNR { if ($NF == "-") { $NF = ""; none[$0] = 1 } next }
            { level = $NF; $NF = ""; if ($0 in none) level = "-"; $NF = level; print }' theirs -
}

@test "traces of ARM's SPE: a row for each record, as perf script makes them" {
    local layout endian
    for layout in context switch generic thread; do
        for endian in little big; do
            make_perf_spe $layout $endian file 500 7 >m.data
            cf-capture perf-data -o m.cf m.data
            spe_by_perf $layout | sort >theirs
            spe_by_us $layout | sort >ours
            [[ $(wc -l <ours) -gt 350 ]]
            same theirs ours
            # each stands for a period of operations
            [[ $(cf-cat --csv --columns weight m.cf | sort -u | tr '\n' ' ') == '1024 weight ' ]]
        done
    done
}

@test "SPE: stores, of which Neoverse has no data source, have the level that their events say" {
    local layout
    for layout in context generic; do
        make_perf_spe $layout little file 300 7 >m.data
        cf-capture perf-data m.data | cf-cat --csv --columns time,op,level | grep store >$layout.csv
    done
    same generic.csv context.csv
    [[ $(cut -d, -f3 context.csv | sort -un | tr '\n' ' ') == '0 1 3 254 255 ' ]]
}

@test "SPE: physical addresses of the trace, where the event does not say that there are any, too" {
    local fault
    for fault in '' nophys; do
        make_perf_spe context little file 300 7 $fault >m.data
        cf-capture perf-data m.data | cf-cat --csv >m$fault.csv
    done
    same m.csv mnophys.csv
    head -n 1 m.csv | grep -q phys
}

@test "SPE: what perf makes of the same trace for each of its events is taken once, too" {
    need perf "linux-perf"
    make_perf_spe generic little file 300 3 >m.data
    perf inject -i m.data --itrace=fltmM -o i.data 2>/dev/null || skip "perf inject is refused"
    cf-capture perf-data m.data | cf-cat --csv --columns time,op,addr,tid,pc,data_src >direct.csv
    run -0 --separate-stderr cf-capture perf-data -o i.cf i.data
    has 'that repeat an access for another event' "$stderr"
    cf-cat --csv --columns time,op,addr,tid,pc,data_src i.cf >injected.csv
    same direct.csv injected.csv
}

@test "SPE: the form for pipes, and newer metadata, give the same rows" {
    local layout endian place
    for layout in context switch generic thread; do
        for endian in little big; do
            make_perf_spe $layout $endian file 300 5 >m.data
            make_perf_spe $layout $endian pipe 300 5 >p.data
            cf-capture perf-data m.data | cf-cat --csv >file.csv
            cf-capture perf-data <p.data | cf-cat --csv >pipe.csv
            same file.csv pipe.csv
            make_perf_spe $layout $endian file 300 5 v2 >v.data
            cf-capture perf-data v.data | cf-cat --csv >newer.csv
            # states Neoverse V2 for each CPU, whatever the feature says
            [[ $layout == generic ]] || same file.csv newer.csv
            [[ $layout != generic ]] || [[ $(wc -l <file.csv) == $(wc -l <newer.csv) ]]
            [[ $layout == thread ]] || column time file.csv | tail -n +2 | sort -nc
            # where else a trace may stand, first of all, or long after its time; a counter that goes round
            for place in first lag short; do
                make_perf_spe $layout $endian pipe 300 5 $place >f.data
                cf-capture perf-data <f.data | cf-cat --csv >elsewhere.csv
                same file.csv elsewhere.csv
            done
        done
    done
}

@test "SPE: threads by records, by switches of CPUs and by those of a program are the same" {
    local layout
    # enough for earlier switches to be forgotten
    make_perf_spe context little file 60000 5 >m.data
    cf-capture perf-data m.data | cf-cat --csv >stated.csv
    [[ $(cut -d, -f8 stated.csv | sort -u | wc -l) == 3 && $(wc -l <stated.csv) -gt 66000 ]]
    for layout in switch task; do
        make_perf_spe $layout little file 60000 5 >m.data
        cf-capture perf-data m.data | cf-cat --csv >found.csv
        same stated.csv found.csv
    done
    make_perf_spe switch little file 60000 5 nobody >m.data
    run -0 --separate-stderr cf-capture perf-data -o m.cf m.data
    has 'samples of SPE the process is not known' "$stderr"
    [[ $(rows access m.cf | cut -d, -f1-6 | tail -n +2) == $(cut -d, -f1-6 stated.csv | tail -n +2) ]]
    [[ $(cf-cat --csv --columns pid,tid m.cf | sort -u | tr '\n' ' ') == '0,0 pid,tid ' ]]
}

@test "SPE: few samples held, and the thread of each is still right; what comes too late is counted" {
    make_perf_spe switch little file 3000 5 >m.data
    cf-capture perf-data m.data | cf-cat --csv >all.csv
    run -0 --separate-stderr cf-capture perf-data --hold 3000 -o m.cf m.data
    cf-cat --csv m.cf >some.csv
    same all.csv some.csv
    run -1 --separate-stderr cf-capture perf-data --hold 100 -o m.cf m.data
    has 'raise --hold' "$stderr"
    cf-cat --csv m.cf | cut -d, -f1,3 >some.csv
    cut -d, -f1,3 all.csv >all
    [[ $(wc -l <some.csv) -lt $(wc -l <all) ]]
    [[ $(grep -vxFf all some.csv) == '' ]]
}

@test "SPE: what the kernel says is lost is counted, and a clock that is not there is missed" {
    make_perf_spe context little file 300 5 >m.data
    cf-capture perf-data m.data 2>/dev/null | cf-cat --csv >all.csv
    make_perf_spe context little file 300 5 truncated >t.data
    run -0 --separate-stderr cf-capture perf-data -o t.cf t.data
    has 't.data: the buffer of SPE was full 6 times, and records were lost' "$stderr"
    has 't.data: samples of SPE collided and were lost, in 6 parts of the trace' "$stderr"
    rows lost --columns cpu,pid,tid,count,label t.cf | sort | uniq -c | awk '{ print $1, $2 }' >lost
    printf '3 0,4242,4242,1,collision\n3 0,4242,4242,1,truncated\n3 1,4242,4242,1,collision\n3 1,4242,4242,1,truncated\n1 cpu,pid,tid,count,label\n' >expected
    same expected lost
    cf-cat --csv t.cf >some.csv
    same all.csv some.csv
    make_perf_spe context little file 300 5 noclock >t.data
    run -0 --separate-stderr cf-capture perf-data -o t.cf t.data
    has 'samples of SPE have no time' "$stderr"
    [[ $(rows access t.cf | cut -d, -f3 | sort) == $(cut -d, -f3 all.csv | sort) ]]
    # a trace without any time counts samples
    make_perf_spe thread little file 30 5 >t.data
    run -0 --separate-stderr cf-capture perf-data -o t.cf t.data
    has_not 'no time' "$stderr"
    run -0 cf-cat --info t.cf
    has 'unit: "records"'
}

@test "SPE: unknown packets, damaged ones and snapshots: no row that is not there, and a message" {
    make_perf_spe context little file 300 5 >m.data
    cf-capture perf-data m.data 2>/dev/null | cf-cat --csv >all.csv
    make_perf_spe context little file 300 5 unknown >t.data
    run -0 --separate-stderr cf-capture perf-data -o t.cf t.data
    has 't.data: 200 packets of SPE of unknown types were passed over' "$stderr"
    cf-cat --csv t.cf >some.csv
    same all.csv some.csv
    make_perf_spe context little file 300 5 damaged >t.data
    run -0 --separate-stderr cf-capture perf-data -o t.cf t.data
    has 't.data: 66 records of SPE left out that are damaged or cut off' "$stderr"
    cf-cat --csv t.cf >some.csv
    [[ $(grep -vxFf all.csv some.csv) == '' && $(wc -l <some.csv) -gt 350 ]]
    make_perf_spe context little file 300 5 snapshot >t.data
    run -0 --separate-stderr cf-capture perf-data -o t.cf t.data
    has 'its traces are snapshots, which may have accesses twice' "$stderr"
    has 'records of SPE left out that are damaged or cut off' "$stderr"
    cf-cat --csv t.cf >some.csv
    [[ $(grep -vxFf all.csv some.csv) == '' && $(wc -l <some.csv) -gt 400 ]]
}

@test "the trace of another unit is refused, with what to do" {
    make_perf_spe context little file 30 5 pt >t.data
    run -1 --separate-stderr cf-capture perf-data -o t.cf t.data
    has "a hardware unit that is not ARM's SPE: perf inject" "$stderr"
    make_perf_spe context little file 30 5 branches >t.data
    run -1 --separate-stderr cf-capture perf-data -o t.cf t.data
    has "what SPE sampled are neither loads nor stores: record with load_filter=1" "$stderr"
}

# patched TYPE OFFSET VALUE: m.data with 8 bytes of the first record of that type changed, as l.data.
patched() {
    python3 - "$@" <<'END'
import struct, sys
kind, offset, value = (int(a, 0) for a in sys.argv[1:])
b = bytearray(open('m.data', 'rb').read())
at, = struct.unpack_from('<Q', b, 40)
while struct.unpack_from('<I', b, at)[0] != kind:
    at += struct.unpack_from('<H', b, at + 6)[0]
struct.pack_into('<Q', b, at + offset, value)
open('l.data', 'wb').write(b)
END
}

@test "SPE: sizes and counts that lie" {
    need python3 'changes bytes'
    local lie
    make_perf_spe context little file 60 5 v2 >m.data
    cf-capture perf-data m.data 2>/dev/null | cf-cat --csv >all.csv
    # bytes of a trace; words of the head, a CPU's parameters and CPUs of the metadata; the clock's shift
    for lie in '71 8 0xffffffffffffffff' '71 8 0x100000000' '70 24 1000' '70 24 0xffffffffffffffff' '70 64 0xffffffffffffffff' \
        '70 64 1' '70 40 0xffffffffffffffff' '79 8 64'; do
        # shellcheck disable=SC2086 # words
        patched $lie
        run -1 --separate-stderr cf-capture perf-data -o l.cf l.data
        has 'l.data: byte ' "$stderr"
        has 'is damaged' "$stderr"
    done
    # a piece that is shorter than it was: what follows is not read as records
    patched 71 8 3
    run -1 --separate-stderr cf-capture perf-data -o l.cf l.data
    # an offset only shifts what alignment packets skip
    patched 71 16 0x8000000000000000
    run -0 --separate-stderr cf-capture perf-data -o l.cf l.data
    cf-cat --csv l.cf >some.csv
    same all.csv some.csv
    # metadata that is too short for any version
    make_perf_spe context little file 60 5 >m.data
    patched 70 0 $((70 | 24 << 48))
    run -1 --separate-stderr cf-capture perf-data -o l.cf l.data
    has 'is damaged' "$stderr"
}

@test "SPE: a file that ends anywhere: one place, status 1, and all whole records" {
    local n bytes rows least=0
    make_perf_spe context little file 6 5 >m.data
    bytes=$(stat -c %s m.data)
    for ((n = 500; n < bytes; n += 23)); do
        head -c $n m.data >cut.data
        status=0
        cf-capture-perf-data cut.data >cut.cf 2>err || status=$?
        [[ $status == 1 && $(grep -c "cut.data: byte [0-9]*: " err) == 1 ]] || fail "cut at $n: status $status" "$(<err)"
        rows=$({ cf-cat --csv cut.cf 2>/dev/null || :; } | grep -c 0x12 || :)
        ((rows >= least)) || fail "cut at $n: $rows rows, and fewer bytes gave $least"
        least=$rows
    done
    ((least >= 8))
}

@test "damage anywhere: no crash, status 0 or 1" {
    local i bytes
    make_perf_data spe little file 30 5 >m.data
    make_perf_spe switch little file 30 5 >s.data
    RANDOM=1
    for ((i = 0; i < 150; i++)); do
        cp m.data d.data
        ((i % 2)) || cp s.data d.data
        bytes=$(stat -c %s d.data)
        for _ in 1 2 3; do
            # shellcheck disable=SC2059 # the escape is made here
            printf "\\x$(printf %x $((RANDOM % 256)))" |
                dd of=d.data bs=1 seek=$((RANDOM * 32768 % bytes + RANDOM % 300)) conv=notrunc status=none
        done
        status=0
        cf-capture-perf-data d.data >d.cf 2>err || status=$?
        ((status <= 1)) || fail "$i: status $status" "$(<err)"
    done
}
