# SPDX-License-Identifier: BSD-2-Clause
#
# cf-export: each form holds what the stream holds, as the programs read it that the form is for.
load lib

setup_file() {
    export STREAMS=$BATS_FILE_TMPDIR
    cd "$STREAMS" || return 1
    "$B/test/make_stream" unknown >unknown.cf
    # times and addresses that a double does not hold, two processes, a source line
    printf '%s\n' time,pid,op,size,addr,pc,function,source \
        '9007199254740993,7,load,8,0xfffffffffffffff8,0x10,main,a.c:1' \
        '9007199254740994,7,store,4,0x1000,0x14,main,a.c:2' \
        '9007199254740995,8,load,8,0x1008,0x20,"f,<""x"">",b.c:9' | cf-capture csv -q -o exact.cf
    # no column function here, but dist and class
    printf '%s\n' time,pid,op,size,addr,dist,class 1,7,load,8,0x40,18446744073709551615,1 \
        2,7,load,8,0x44,3,0 | cf-capture csv -q -o other.cf
}

setup() {
    lib_setup
}

# numpy: skips where the system's Python has none. It is a package of `make deps`.
numpy() {
    /usr/bin/python3 -c 'import numpy' 2>/dev/null || skip "no python3-numpy"
}

# back FOLDER TABLE: the table of a folder of arrays as CSV, as `cf-cat --csv --decimal` prints it.
back() {
    /usr/bin/python3 - "$@" <<'END'
import csv, json, sys
import numpy
folder, name = sys.argv[1:]
schema = json.load(open(folder + '/schema.json'))
strings = json.load(open(folder + '/strings.json'))
table = schema['tables'][name]
columns = []
for c in table['columns'].values():
    a = numpy.load(folder + '/' + c['file'])
    assert a.dtype == numpy.dtype(c['dtype']) and len(a) == table['rows'], c
    values = a.tolist()
    if c['type'] == 'string':
        values = [strings[i] for i in values]
    elif c['file'].endswith('.op.npy'):
        values = [c['words'][str(i)] for i in values]
    elif c['type'] == 'f64':
        values = ['%.17g' % v for v in values]
    for first, end in c['missing']:
        assert not a[first:end].any()
        values[first:end] = [''] * (end - first)
    columns.append(values)
out = csv.writer(sys.stdout, lineterminator='\n')
out.writerow(table['columns'])
out.writerows(zip(*columns))
END
}

@test "npy: NumPy reads every row of every table of a recording" {
    numpy
    cf-resolve -q "$ROOT/samples/sort.cf" | cf-cache -q -m raspberry-pi-4 | cf-classify -q -m raspberry-pi-4 -o all.cf
    cf-export --format npy -o cols all.cf
    local t
    for t in access map object task stack switch; do
        cf-cat --csv --decimal --table $t all.cf >want.csv
        [[ $(wc -l <want.csv) -gt 1 ]]
        back cols $t >got.csv
        cmp want.csv got.csv
    done
    # nothing beside them, and each file belongs to a column
    [[ $(ls) == $'all.cf\ncols\ngot.csv\nwant.csv' ]] || fail "$(ls)"
    [[ $(ls cols/*.npy | wc -l) == $(grep -o '"file": "' cols/schema.json | wc -l) ]]
}

@test "npy: a file is what the format says, byte for byte, and as many bytes as rows" {
    cf-export --format npy --table access -o cols "$STREAMS/exact.cf"
    run -0 od -An -v -tx1 -w16 cols/access.time.npy
    [[ ${lines[0]} == ' 93 4e 55 4d 50 59 01 00 76 00 '* ]] || fail "${lines[0]}"
    run -0 bash -c "head -c 128 cols/access.time.npy | tail -c +11"
    is "{'descr': '<u8', 'fortran_order': False, 'shape': (3,), }$(printf '%60s' '')"
    [[ $(tail -c +129 cols/access.time.npy | od -An -v -tu8 -w8) == *9007199254740993*9007199254740994*9007199254740995 ]]
    [[ $(tail -c +129 cols/access.addr.npy | od -An -v -tx8 -w8 | head -n 1) == ' fffffffffffffff8' ]]
    [[ $(stat -c %s cols/access.op.npy cols/access.size.npy cols/access.addr.npy) == $'131\n140\n152' ]]
    # the table that was asked for, and the strings and the schema
    [[ -z $(ls cols | grep -v '^access\.\|^schema.json$\|^strings.json$') ]] || fail "$(ls cols)"
}

@test "npy: rows that lack a column are stated, be they first, in the middle or last" {
    numpy
    cat "$STREAMS/other.cf" "$STREAMS/exact.cf" "$STREAMS/other.cf" "$STREAMS/other.cf" >all.cf
    cf-export --format npy -o cols all.cf
    back cols access >got.csv
    cf-cat --csv --decimal --columns "$(head -n 1 got.csv)" all.cf >want.csv
    # a class is a number there
    same want.csv got.csv
    run -0 /usr/bin/python3 -c "
import json
s = json.load(open('cols/schema.json'))
c = s['tables']['access']['columns']
print(c['function']['missing'], c['dist']['missing'], c['time']['missing'])
print([x['first_row'].get('access') for x in s['segments']])
print(c['dist']['words'], c['class']['words']['1'])"
    is "[[0, 2], [5, 9]] [[2, 5]] []
[None, 2, 5, 7]
{'18446744073709551615': 'compulsory', '18446744073709551614': 'beyond', '18446744073709551613': 'none', '18446744073709551612': 'unsampled'} compulsory"
}

@test "npy: tables and columns that the stream itself declares" {
    numpy
    cf-export --format npy -o cols "$STREAMS/unknown.cf"
    cf-cat --csv --decimal "$STREAMS/unknown.cf" >want.csv
    back cols access >got.csv
    cmp want.csv got.csv
    [[ -s cols/access.their_number.npy && -s cols/access.their_word.npy ]]
}

@test "npy: a name that is a path, or too long, becomes a number" {
    local n
    for n in ../their 'a b' "$(printf '%0200d' 0)"; do
        rm -rf cols
        THEIR_NUMBER=$n "$B/test/make_stream" unknown >named.cf
        cf-export --format npy -o cols named.cf
        [[ -s cols/access.column_40000.npy ]] || fail "$n: $(ls . cols)"
        grep -q '"column_40000": {"file": "access.column_40000.npy"' cols/schema.json
        cf-export --format jsonl named.cf >rows.jsonl
        grep -q '"column_40000":' rows.jsonl
        [[ $(ls) == $'cols\nnamed.cf\nrows.jsonl' ]] || fail "$(ls)"
    done
}

@test "npy: texts that are no UTF-8, or command a terminal, come back as they were" {
    printf 'time,op,addr,function\n1,load,64,a\xff\xc3(\xed\xa0\x80b\n2,load,64,\x1b[1m\xe2\x80\xae"\\\xc3\xa4\n' |
        cf-capture csv -q -o t.cf
    cf-export --format npy -o cols t.cf
    run -0 python3 -c "
import json, sys
for s in json.load(open('cols/strings.json')):
    print(s.encode('utf-8', 'surrogateescape'))"
    has "b'a\\xff\\xc3(\\xed\\xa0\\x80b'"
    has "b'\\x1b[1m\\xe2\\x80\\xae\"\\\\\\xc3\\xa4'"
    run -1 grep -q $'\x1b' cols/strings.json
    cf-export --format jsonl t.cf >rows.jsonl
    [[ $(python3 -c "
import json
print([json.loads(l)['function'].encode('utf-8', 'surrogateescape') for l in open('rows.jsonl')])") == "[b'a\\xff\\xc3(\\xed\\xa0\\x80b', b'\\x1b[1m\\xe2\\x80\\xae\"\\\\\\xc3\\xa4']" ]]
}

@test "npy: what is there is left alone, and what fails leaves nothing" {
    mkdir cols
    run -3 cf-export --format npy -o cols/ "$STREAMS/exact.cf"
    has "cols: is there already: remove it, or name another folder"
    [[ -z $(ls cols) && $(ls) == cols ]] || fail "$(ls . cols)"
    touch file
    run -3 cf-export --format npy -o file "$STREAMS/exact.cf"
    has "is there already"
    # a file that grows too large: of 20000 rows it is that of an address
    run -3 bash -c 'trap "" XFSZ; ulimit -f 100; exec cf-export --format npy -o new "$STREAMS/unknown.cf"'
    has "cannot be written: File too large"
    run -3 bash -c 'ulimit -n 12; exec cf-export --format npy -o new "$STREAMS/unknown.cf"'
    has "cannot be written: Too many open files"
    # what is asked for is not there, and neither is a stream
    run -1 cf-export --format npy -o new --table nosuch "$STREAMS/exact.cf"
    has "--table 'nosuch': the input has no such table"
    run -1 cf-export --format npy -o new /dev/null
    [[ $(ls) == $'cols\nfile' ]] || fail "$(ls)"
}

@test "npy: of a damaged stream what is whole, and status 1" {
    numpy
    "$B/test/make_stream" cut >cut.cf
    run -1 cf-export --format npy -o cols cut.cf
    has "cut off"
    cf-cat -q --csv --decimal cut.cf >want.csv 2>said || :
    back cols access >got.csv
    cmp want.csv got.csv
}

@test "npy: the folder is named, and is no standard output" {
    run -2 cf-export --format npy "$STREAMS/exact.cf"
    has "--format npy: is a folder: name it with -o"
    run -2 cf-export --format npy -o - "$STREAMS/exact.cf"
    run -2 cf-export "$STREAMS/exact.cf"
    has "no format: give one"
    run -2 cf-export --format arrow "$STREAMS/exact.cf"
    has "give one of"
}

@test "jsonl: an object a row, numbers to the last digit, words for codes" {
    run -0 cf-export --format jsonl "$STREAMS/exact.cf"
    is '{"time":9007199254740993,"pid":7,"op":"load","size":8,"addr":18446744073709551608,"pc":16,"function":"main","source":"a.c:1"}
{"time":9007199254740994,"pid":7,"op":"store","size":4,"addr":4096,"pc":20,"function":"main","source":"a.c:2"}
{"time":9007199254740995,"pid":8,"op":"load","size":8,"addr":4104,"pc":32,"function":"f,<\"x\">","source":"b.c:9"}'
    run -0 cf-export --format jsonl "$STREAMS/other.cf"
    is '{"time":1,"pid":7,"op":"load","size":8,"addr":64,"dist":18446744073709551615,"class":"compulsory"}
{"time":2,"pid":7,"op":"load","size":8,"addr":68,"dist":3,"class":"none"}'
}

@test "jsonl: a row has the columns that it has" {
    cf-export --format jsonl "$STREAMS/other.cf" "$STREAMS/exact.cf" -o rows.jsonl
    [[ $(wc -l <rows.jsonl) == 5 && $(grep -c '"function"' rows.jsonl) == 3 && $(grep -c '"dist"' rows.jsonl) == 2 ]]
    [[ $(ls) == rows.jsonl ]] || fail "$(ls)"
}

@test "jsonl: every row of a recording, as CSV has it" {
    cf-resolve -q "$ROOT/samples/sort.cf" -o all.cf
    local t
    for t in access map; do
        cf-export --format jsonl --table $t all.cf >rows.jsonl
        cf-cat --csv --decimal --table $t all.cf >want.csv
        python3 -c "
import csv, json, sys
out = csv.writer(sys.stdout, lineterminator='\n')
for i, line in enumerate(open('rows.jsonl')):
    row = json.loads(line)
    if not i:
        out.writerow(row)
    out.writerow(row.values())" >got.csv
        cmp want.csv got.csv
    done
}

@test "jsonl: the dictionary has its texts" {
    printf '%s\n' addr,function '1,"a ""quoted"", name"' 2,g | stream a.cf
    run -0 cf-export --format jsonl --table string a.cf
    is '{"id":1,"text":"a \"quoted\", name"}
{"id":2,"text":"g"}'
}

@test "jsonl: a table that is not there" {
    run -1 cf-export --format jsonl --table nosuch "$STREAMS/exact.cf" -o rows.jsonl
    has "--table 'nosuch': the input has no such table"
    cf-cache -q -m raspberry-pi-4 --snapshot-every 1 "$STREAMS/exact.cf" -o snapshots.cf
    run -1 cf-export --format jsonl snapshots.cf -o rows.jsonl
    has "none of table access"
    [[ ! -e rows.jsonl ]]
    # one that streams may have
    run -0 cf-export --format jsonl --table object "$STREAMS/exact.cf"
    is ""
}

@test "jsonl: a file takes its name when it is whole" {
    echo old >rows.jsonl
    run -3 bash -c 'trap "" XFSZ; ulimit -f 10; exec cf-export --format jsonl -o rows.jsonl "$STREAMS/unknown.cf"'
    has "rows.jsonl: cannot be written: File too large"
    [[ $(cat rows.jsonl) == old && $(ls) == rows.jsonl ]] || fail "$(ls)"
}

# events FILE: name and total of each.
events() {
    awk '/^events: / { n = split($0, name, " ") }
        /^totals: / { split($0, total, " "); for (i = 2; i <= n; i++) print name[i], total[i] }' "$1"
}

@test "a signal leaves no part of a file, or of a folder" {
    local format pid status
    mkfifo in
    for format in jsonl npy; do
        status=0
        cf-export -q --format $format -o out <in &
        pid=$!
        exec 8>in
        cf-cat "$STREAMS/exact.cf" >&8
        until ls -d out.*.tmp >/dev/null 2>&1; do sleep .02; done
        [[ $format == jsonl ]] || until ls out.*.tmp/access.pc.npy >/dev/null 2>&1; do sleep .02; done
        kill -TERM $pid
        wait $pid || status=$? # no subshell waits for it
        [[ $status == 143 ]]
        exec 8>&-
        [[ $(echo out*) == 'out*' ]]
    done
}

@test "callgrind: totals and functions are those of cf-rank" {
    cf-resolve -q "$ROOT/samples/sort.cf" | cf-cache -q -m raspberry-pi-4 |
        cf-classify -q -m raspberry-pi-4 | cf-latency -q -m raspberry-pi-4 -o all.cf
    cf-export --format callgrind -o callgrind.out all.cf
    events callgrind.out >got
    cf-rank -q --csv --by op --value loads,stores,bytes,l1-misses,l2-misses,misses,compulsory,capacity,conflict,cost all.cf |
        awk -F, 'NR > 1 { for (i = 3; i <= 12; i++) sum[i] += $i } END { for (i = 3; i <= 12; i++) print sum[i] }' >sums
    paste -d ' ' <(printf '%s\n' Ld St Bytes L1m L2m Miss Compulsory Capacity Conflict Cost) sums >want
    same want got
    # the summary at the top is the totals at the bottom
    [[ $(grep '^summary:' callgrind.out | cut -d' ' -f2-) == $(grep '^totals:' callgrind.out | cut -d' ' -f2-) ]]
    # each function, over all of its lines
    awk '/^fn=/ { fn = substr($0, 4); if (fn == "???") fn = "" } /^[0-9]/ { ld[fn] += $2; l1[fn] += $5; cost[fn] += $11 }
        END { for (fn in ld) print fn "," ld[fn] "," l1[fn] "," cost[fn] }' callgrind.out | sort >got
    cf-rank -q --csv --by function --value loads,l1-misses,cost all.cf | tail -n +2 | cut -d, -f2-5 | sort >want
    [[ $(wc -l <want) -gt 50 ]]
    # cf-rank leaves out what has none of these
    comm -13 got want >missing
    [[ ! -s missing ]] || fail "$(cat missing)"
    # each source line
    awk '/^f[li]=/ { file = substr($0, 4) } /^[0-9]/ && file != "???" { st[file ":" $1] += $3 }
        END { for (l in st) if (st[l]) print l "," st[l] }' callgrind.out | sort >got
    cf-rank -q --csv --by source --value stores all.cf | tail -n +2 | cut -d, -f2,3 | grep -v '^,' | sort >want
    same want got
}

@test "callgrind: callgrind_annotate opens it" {
    cf-export --format callgrind "$STREAMS/exact.cf" -o callgrind.out
    # a reader of the file that is no program of ours
    run -0 callgrind_annotate --threshold=100 callgrind.out
    has "Events recorded:  Ld St Bytes"
    [[ $output =~ 2\ .*1\ .*20\ .*PROGRAM\ TOTALS ]] || fail "$output"
    has "a.c:main"
    has 'b.c:f,<"x">'
}

# inclusive VALUE: of each function, what was done while it was on the stack, of fold.cf.
inclusive() {
    cf-fold --value "$1" fold.cf | awk '{
        n = split(substr($0, 1, length($0) - length($NF) - 1), f, ";")
        split("", seen)
        for (i = 1; i <= n; i++) if (!seen[f[i]]++) sum[f[i]] += $NF
    } END { for (name in sum) print name, sum[name] }' | LC_ALL=C sort
}

# annotated EVENT: the same as callgrind_annotate says. Lines of other files than its own a function
# has in rows of their own.
annotated() {
    callgrind_annotate --inclusive=yes --threshold=100 --show="$1" callgrind.out 2>messages |
        sed -n 's/^ *\([0-9,]*\) *([^)]*) *[^:]*:\([^[]*\).*/\1 \2/p' |
        awk '{ gsub(",", "", $1); n = $1 + 0; $1 = ""; f = substr($0, 2); if (n > most[f]) most[f] = n }
            END { for (f in most) if (f != "(root)") print f, most[f] }' | LC_ALL=C sort
}

@test "callgrind: calls, with inclusive sums that callgrind_annotate adds up as the paths have them" {
    local value
    # recursion of one function and of two, a name that a path cannot have, two roots, a function
    # without accesses of its own
    printf '%s\n' pid,stack,parent,pc,function 7,1,0,1,main 7,2,1,2,self 7,3,2,3,self 7,4,1,4,even 7,5,4,5,odd \
        7,6,5,6,even '7,7,1,7,"a;b"' 7,8,0,8,worker >stack.csv
    printf '%s\n' time,pid,op,size,addr,stack,function,source,hit 1,7,load,8,64,0,main,m.c:1,1 \
        2,7,load,8,64,1,self,m.c:5,255 3,7,load,8,64,3,use,u.c:1,255 4,7,load,8,64,2,use,u.c:2,1 \
        5,7,store,8,64,6,use,u.c:1,255 6,7,load,8,64,5,even,m.c:9,1 7,7,load,8,64,7,use,u.c:1,1 \
        8,7,load,8,64,8,main,m.c:2,1 9,7,load,8,64,1,"a;b",m.c:20,255 |
        cf-capture csv -q -w stack=stack.csv -o fold.cf
    cf-export -q --format callgrind -o callgrind.out fold.cf
    for value in loads:Ld bytes:Bytes l1-misses:L1m; do
        inclusive ${value%:*} >want
        annotated ${value#*:} | sed 's/a;b/a:b/' | same want -
        [[ ! -s messages ]]
    done
    run -0 grep -A 4 '^fn=(root)' callgrind.out
    has 'cfn=main'
    has 'cfn=worker'
    # totals are those of the functions themselves, however deep they were called
    [[ $(grep '^totals:' callgrind.out) == 'totals: 8 1 72 4 4' ]]
    # without the column there are no calls
    cf-cat --csv fold.cf | cut -d, -f1-5,7- >flat.csv
    head -n 1 flat.csv | grep -vq stack
    cf-capture csv -q flat.csv | cf-export -q --format callgrind -o flat.out
    run ! grep -q 'calls=\|root' flat.out
}

@test "callgrind: calls of a recording, with threads and exceptions" {
    command -v valgrind >/dev/null || skip "no Valgrind"
    c++ -O1 -g -fno-optimize-sibling-calls -pthread -o p "$ROOT/capture/trace/test/calls.cc" -ldl
    local mode
    for mode in recursion threads; do
        cf-capture-trace -q --calls -o t.cf ./p $mode
        cf-resolve -q t.cf -o fold.cf
        cf-export -q --format callgrind -o callgrind.out fold.cf
        # names of C++ have blanks and brackets, on which the two listings differ
        inclusive loads | sed 's/^\[unknown\]/???/' | grep -v '[(<[].* ' | LC_ALL=C sort >want
        annotated Ld | grep -v '[(<[].* ' | LC_ALL=C sort >got
        [[ $(wc -l <want) -gt 100 ]]
        LC_ALL=C comm -23 want got >missing
        [[ ! -s missing ]] || fail "$(cat missing)"
    done
}

@test "callgrind: a function with lines of other files, without a file, and names that mean something else" {
    printf '%s\n' time,op,size,addr,pc,function,source 1,load,8,64,1,f,a.c:10 2,load,8,64,2,f,b.h:3 \
        3,load,8,64,3,f,a.c:11 4,store,4,64,4,f, 5,load,8,64,5,'(1) g','dir:7/x.c:5' 6,load,8,64,6,,nolines \
        '7,load,8,64,7,"new
line",a.c:99999999999999999999' | cf-capture csv -q -o t.cf
    run -0 cf-export --format callgrind t.cf
    local blank=' '
    is "# callgrind format
version: 1
creator: cf-export
cmd:${blank}
positions: line
event: Ld : Loads
event: St : Stores
event: Bytes : Bytes loaded and stored
events: Ld St Bytes
summary: 6 1 52

fl=nolines
fn=???
0 1 0 8

fl=dir:7/x.c
fn=_(1) g
5 1 0 8

fl=a.c
fn=f
fi=???
0 0 1 4
fi=a.c
10 1 0 8
11 1 0 8
fi=b.h
3 1 0 8

fl=a.c
fn=new\x0aline
9999999999 1 0 8

totals: 6 1 52"
}

@test "callgrind: what is missing is said, and there is no file" {
    run -1 cf-export --format callgrind -o callgrind.out "$ROOT/samples/sort.cf"
    has "table access has no column 'function': first run the stream through cf-resolve"
    cf-cache -q -m raspberry-pi-4 --snapshot-every 1 "$STREAMS/exact.cf" -o snapshots.cf
    run -1 cf-export --format callgrind snapshots.cf -o callgrind.out
    has "none of table access"
    [[ ! -e callgrind.out ]]
    run -2 cf-export --format callgrind --table map "$STREAMS/exact.cf"
    has "--table does not go with --format callgrind"
    # a machine's columns and another's
    for m in tegra-x1 raspberry-pi-4; do
        cf-cache -q -m $m "$STREAMS/exact.cf" -o $m.cf
    done
    run -0 cf-export --format callgrind tegra-x1.cf raspberry-pi-4.cf -o callgrind.out
    has "column hit has different facts in the inputs"
    # of the first columns, what later ones lack
    cf-select --op load,store tegra-x1.cf | cat - "$STREAMS/exact.cf" "$STREAMS/exact.cf" >both.cf
    run -1 cf-export --format callgrind both.cf -o callgrind.out
    has "the accesses have no column that says what missed, unlike those before"
    (($(grep -c 'unlike those before' <<<"$output") == 1)) # of two frames
    # of later columns, what the first lack
    run -1 --separate-stderr cf-export -q --format callgrind "$STREAMS/exact.cf" tegra-x1.cf -o callgrind.out
    [[ ${#stderr_lines[@]} == 1 ]]
    has "L1m and others may be missing: accesses have a column for it" "$stderr"
    # calls that some accesses have, in either order
    cf-capture csv -q <<<$'pid,addr,op,size,function,source,stack\n7,1,load,1,f,a.c:1,0' >calls.cf
    run -1 --separate-stderr cf-export -q --format callgrind "$STREAMS/exact.cf" calls.cf
    has "calls and others may be missing: accesses have a column for it" "$stderr"
    has_not calls=
    run -1 --separate-stderr cf-export -q --format callgrind calls.cf "$STREAMS/exact.cf"
    has "accesses have no column stack, unlike the first" "$stderr"
    has calls=
}

# levels HIT...: the events of misses of a load that each of these levels served, but for Ld.
levels() {
    (echo addr,op,function,source,hit; printf '1,load,main,a.c:1,%s\n' "$@") | cf-capture csv -q |
        cf-export -q --format callgrind -o callgrind.out
    events callgrind.out | paste -sd ' ' | sed 's/Ld [0-9]* *//'
}

@test "callgrind: misses of each level that there is, also of one that served nothing" {
    [[ $(levels 1 1) == '' ]]
    [[ $(levels 1 2 255) == 'L1m 2 L2m 1 Miss 1' ]]
    [[ $(levels 1 3 255) == 'L1m 2 L2m 2 L3m 1 Miss 1' ]]
    # which levels there are, nothing says but the model
    [[ $(levels 1 255) == 'L1m 1 Miss 1' ]]
    cf-cache -q -m raspberry-pi-4 "$STREAMS/exact.cf" | cf-export -q --format callgrind -o callgrind.out
    events callgrind.out >got
    grep -qx 'L1m 3' got
    grep -qx 'L2m 3' got
    run ! grep L3m got
}

@test "memory does not grow with the rows" {
    ! sanitized || skip "the sanitizer has its own memory"
    local n rss=()
    cf-cat "$ROOT/samples/sort.cf" >one.cf
    for n in 1 5; do
        for ((i = 0; i < n; i++)); do cat one.cf; done >many.cf
        rm -rf cols
        rss+=("$(peak cf-export -q --format npy -o cols many.cf)")
        rss+=("$(peak cf-export -q --format jsonl -o rows.jsonl many.cf)")
    done
    [[ ${rss[2]} -lt $((rss[0] * 5 / 4 + 2000)) && ${rss[3]} -lt $((rss[1] * 5 / 4 + 2000)) ]] || fail "${rss[*]} KiB"
}

# peak COMMAND...: KiB of memory that it took.
peak() {
    python3 -c 'import os, resource, sys
pid = os.spawnvp(os.P_NOWAIT, sys.argv[1], sys.argv[1:])
_, status, use = os.wait4(pid, 0)
print(use.ru_maxrss)
sys.exit(status != 0)' "$@"
}
