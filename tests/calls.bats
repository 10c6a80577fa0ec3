#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# shellcheck disable=SC2154 # bats sets output, status and lines
#
# cf-capture-trace --calls: contexts of accesses, held against the call stacks that Valgrind unwinds
# for heap blocks, and against paths that are known (calls.cc). Run by `bats`, with CF_B the build
# directory if that is not build/.
# Takes long: recordings under Valgrind.

load lib

setup_file() {
    command -v valgrind >/dev/null || skip "no Valgrind"
    cf-capture-trace --probe
    cd "$BATS_FILE_TMPDIR" || return 1
    c++ -O1 -g -fno-optimize-sibling-calls -pthread -o p "$ROOT/capture/trace/test/calls.cc" -ldl
    c++ -O1 -g -shared -fPIC -DPLUGIN -o plugin.so "$ROOT/capture/trace/test/calls.cc"
}

setup() {
    export P=$BATS_FILE_TMPDIR
    lib_setup
}

record() {
    cf-capture-trace -q --calls --stack-depth 64 -o t.cf "$P/p" "$@"
}

# unwound: of each heap block, whether the context of the last access of its thread is the path that
# Valgrind found by unwinding, with recursion folded: prints how many are, and those that are not. That
# access may be one of the instruction that calls the allocator, whose own accesses are not recorded.
unwound() {
    cf-cat --csv --table stack --columns stack,parent,pc t.cf >nodes.csv
    cf-cat --csv --table object --columns time,pid,tid,op,stack t.cf >objects.csv
    cf-cat --csv --columns time,pid,tid,stack,pc t.cf >accesses.csv
    awk -F , '
        function hex(s,    i, n) {
            for (i = 3; i <= length(s); i++) n = n * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
            return n
        }
        function calls(at, back) { return hex(at) < hex(back) && hex(back) - hex(at) <= 8 }
        function path(node, fold,    text, n, i, k, kept, pcs) {
            for (n = 0; node; node = parent[node]) pcs[++n] = pc[node]
            for (kept = 0; n; n--) {
                for (k = 1; k <= kept && list[k] != pcs[n]; k++) ;
                if (!fold || k > kept) list[++kept] = pcs[n]; else kept = k
            }
            for (i = 1; i <= kept; i++) text = text " " list[i]
            return text
        }
        FNR == 1 { file++; next }
        file == 1 { parent[$1] = $2; pc[$1] = $3 }
        file == 2 && $4 == "alloc" {
            thread = $2 "," $3
            at[thread, ++blocks[thread]] = $1
            stack[thread, blocks[thread]] = $5
        }
        file == 3 {
            thread = $2 "," $3
            for (i = next_[thread] + 1; i <= blocks[thread] && at[thread, i] <= $1; i++) {
                next_[thread] = i
                if (!(thread in last)) continue # what a child has of its parent
                want = path(stack[thread, i], 1)
                got = path(last[thread], 0)
                if (want == got || (want == got " " pc[stack[thread, i]] && calls(from_[thread], pc[stack[thread, i]]))) good++
                else if (bad++ < 5) print "at " at[thread, i] ":" got ", unwound" want
            }
            last[thread] = $4
            from_[thread] = $5
        }
        END { print good + 0 " as unwound, " bad + 0 " not" }' nodes.csv objects.csv accesses.csv
}

# bats test_tags=slow
@test "contexts are those that Valgrind unwinds: recursion, longjmp, exceptions, qsort, threads, children" {
    for mode in recursion longjmp exception pointers threads fork plugin; do
        (cd "$P" && cf-capture-trace -q --calls --stack-depth 64 -o "$BATS_TEST_TMPDIR/t.cf" ./p $mode)
        cf-cat --verify t.cf
        run -0 unwound
        [[ ${lines[-1]} =~ ^[0-9]+\ as\ unwound,\ 0\ not$ ]] || { echo "$mode: $output"; false; }
        [ "${lines[-1]%% *}" -ge 20 ]
    done
}

@test "those of programs as they come" {
    cf-capture-trace -q --calls --stack-depth 64 -o t.cf --command-output out -- \
        sh -c "sort -r '$ROOT/README.md' | awk '{ n[\$1]++ } END { for (i in n) print i, n[i] }'"
    cf-cat --verify t.cf
    run -0 unwound
    # where unwinding fails, in code without unwind tables, or at a stack deeper than 64
    [[ ${lines[-1]} =~ ^([0-9]+)\ as\ unwound,\ ([0-9]+)\ not$ ]]
    [ "${BASH_REMATCH[1]}" -gt 300 ]
    [ "${BASH_REMATCH[2]}" -le $((BASH_REMATCH[1] / 100)) ]
}

@test "without --calls there is no such column, and nothing else is different" {
    cf-capture-trace -q -o plain.cf "$P/p" recursion
    record recursion
    run -0 cf-cat --csv plain.cf
    [[ ${lines[0]} != *stack* ]]
    run ! grep -q depth <(cf-cat --info plain.cf)
    cf-cat --info t.cf | grep -F 'stack: {depth: 65534}'
    # Valgrind leaves out loads whose value nobody uses, and knows of more such in longer superblocks
    for file in plain t; do
        cf-cat --csv --columns op,pc,addr,size $file.cf >$file.csv
        grep -c ^load $file.csv >$file.loads
        grep ^store $file.csv | cut -d , -f 1,2,4 | cmp - <(grep ^store plain.csv | cut -d , -f 1,2,4)
    done
    [ $(($(cat t.loads) - $(cat plain.loads))) -ge 0 ]
    [ $(($(cat t.loads) - $(cat plain.loads))) -lt $(($(cat t.loads) / 10000)) ]
}

@test "--calls=DEPTH: the outermost calls, and one node for what is beyond" {
    cf-capture-trace -q --calls=3 --stack-depth 0 -o t.cf "$P/p" recursion
    cf-cat --verify t.cf
    cf-cat --info t.cf | grep -F 'stack: {depth: 3}'
    cf-cat --csv --table stack --columns stack,parent,pc t.cf | awk -F , '
        NR > 1 { depth[$1] = depth[$2] + 1; if (depth[$1] > most) most = depth[$1]
                 if (($3 == "0x0") != (depth[$1] == 4)) wrong = 1; n += $3 == "0x0" }
        END { exit !(most == 4 && n > 0 && !wrong) }'
    for bad in 0 x 65535 -1; do
        run cf-capture-trace --calls=$bad -o bad.cf true
        [ "$status" -eq 2 ]
        [ ! -e bad.cf ]
    done
}

@test "calls that are deeper than is kept are counted, and said" {
    # main calls forks and self, which calls itself and use, which calls malloc and free
    run -0 --separate-stderr cf-capture-trace --calls=3 --stack-depth 0 --function main -o t.cf "$P/p" recursion
    [[ ${stderr_lines[0]} =~ ^cf-capture-trace:\ ([0-9]+)\ calls\ were\ deeper\ than\ the\ 3\ that\ are\ kept ]]
    local said=${BASH_REMATCH[1]} depth last=0
    # the deeper, the fewer; at the greatest depth none, and no word
    for depth in 4 5 20; do
        run -0 --separate-stderr cf-capture-trace --calls=$depth --stack-depth 0 --function main -o t.cf "$P/p" recursion
        [[ ${stderr_lines[0]} =~ ([0-9]+)\ calls\ were\ deeper ]] && last=${BASH_REMATCH[1]} || last=0
        [[ $last -lt $said ]]
        said=$last
    done
    [[ $last == 0 ]]
    run -0 --separate-stderr cf-capture-trace --calls --function main -o t.cf "$P/p" recursion
    [[ $stderr != *deeper* ]]
    run -0 --separate-stderr cf-capture-trace -q --calls=3 -o t.cf "$P/p" recursion
    [[ -z $stderr ]]
}

# below FUNCTION: folded stacks on standard input, from this function inwards.
below() {
    awk -v f="$1" '{
        value = $NF
        sub(/ [0-9]+$/, "")
        n = split($0, part, ";")
        for (i = 1; i <= n && part[i] != f; i++) ;
        if (i > n) next
        path = f
        while (++i <= n) path = path ";" part[i]
        sum[path] += value
    }
    END { for (path in sum) print path, sum[path] }' | LC_ALL=C sort
}

# Only for functions that are not called below themselves, where recursion is folded otherwise.
# bats test_tags=slow
@test "--calls with --function: the paths below the function are those of the whole recording" {
    local mode functions f
    while read -r mode functions; do
        record $mode
        cf-resolve -q t.cf | cf-fold >whole
        # of each mode one, and of the first all
        for f in $([[ $mode == recursion ]] && echo "$functions" || few "${functions##* }" "$functions"); do
            cf-capture-trace -q --calls --function "$f" -o part.cf "$P/p" $mode
            cf-cat --verify part.cf
            cf-resolve -q part.cf | cf-fold >part
            below "$f" <whole >want
            [[ -s want ]]
            LC_ALL=C sort part | same want - || fail "$mode, $f"
        done
    done <<'END'
recursion main self even use
longjmp land deep
exception outer catcher thrower
pointers pointers compare
threads worker work use
fork forks in_child self
signal interrupted on_signal on_left use
END
    # whoever switches away from a function has left it
    cf-capture-trace -q --calls --function coroutine -o part.cf "$P/p" coroutine
    cf-resolve -q part.cf | cf-fold >part
    run -1 grep -v '^coroutine' part
}

@test "a part of a recording, and recordings merged, have the nodes that they need" {
    record fork
    cf-cat --slice 3000000-3100000 -o part.cf t.cf
    cf-cat --verify part.cf
    cf-merge --renumber -o both.cf t.cf t.cf
    cf-cat --verify both.cf
    cat t.cf part.cf >two.cf
    cf-cat --verify two.cf
    record threads
    cf-merge --interleave --cores 2 -o side.cf t.cf
    cf-cat --verify side.cf
    cf-select --op store -o stores.cf side.cf
    cf-cat --verify stores.cf
}

# stacks MODE: the paths of the stores to each mark, as `mark path` with the library's functions left
# out, each path once.
stacks() {
    (cd "$P" && cf-capture-trace -q --calls -o "$BATS_TEST_TMPDIR/t.cf" ./p "$1")
    cf-resolve -q -o r.cf t.cf
    cf-cat --verify r.cf >/dev/null || return
    cf-select --op store --symbol 'mark_*' r.cf | cf-rank -q --by symbol,stack --csv |
        sed -n 's/^[0-9]*,mark_\([a-z]*\),"\{0,1\}\([^"]*\)"\{0,1\},[0-9]*,[0-9.]*,[0-9.]*,[0-9]*$/\1 \2/p' |
        sed 's/(anonymous namespace)//; s/([^;]*)//g' |
        awk '{
            n = split($2, f, ";"); path = ""
            for (i = 1; i <= n; i++)
                if (f[i] ~ /^(main|self|even|odd|pointers|compare|from_table|circle::draw|land|deep|outer|catcher|thrower|at_end|jumper|worker|work|in_child|forks|interrupted|on_signal|on_alternate|on_left|coroutine|yield|resume|task|start|parse|render|plugged|plugins|use)$/)
                    path = path (path == "" ? "" : ";") f[i]
            if (f[n] == "use") print $1, path }' | sort -u # not the loader, which clears what is new
}

@test "paths that are known: recursion, pointers, longjmp, exceptions, tail calls" {
    run -0 stacks recursion
    is "direct main;self;self;use
direct main;self;use
even main;even;odd;even;use
even main;even;use
inner main;self;self;use"
    run -0 stacks pointers
    is "method main;pointers;circle::draw;use
sorted main;pointers;compare;use
table main;pointers;from_table;use"
    run -0 stacks longjmp
    is "direct main;self;self;use
direct main;self;use
inner main;self;self;use
landed main;land;use"
    run -0 stacks exception
    is "again main;outer;use
caught main;outer;catcher;use
thrown main;outer;catcher;thrower;thrower;use
thrown main;outer;catcher;thrower;use"
    run -0 stacks tail
    is "tail main;at_end;use"
}

@test "paths that are known: threads, children, libraries that come and go" {
    run -0 stacks threads
    is "direct worker;self;self;use
direct worker;self;use
inner worker;self;self;use
worker worker;work;use"
    run -0 stacks fork
    is "child main;forks;in_child;use
child main;forks;use
direct main;forks;in_child;self;self;use
direct main;forks;in_child;self;use
direct main;forks;self;self;use
direct main;forks;self;use
direct main;self;self;use
direct main;self;use
grandchild main;forks;in_child;use
inner main;forks;in_child;self;self;use
inner main;forks;self;self;use
inner main;self;self;use
parent main;forks;use"
    run -0 stacks plugin
    is "plugin main;plugins;plugged;use"
}

@test "paths that are known: signal handlers and coroutines" {
    # raise() in a handler of raise() is recursion, and folded
    run -0 stacks signal
    is "after main;interrupted;use
alternate main;interrupted;on_alternate;use
handler main;interrupted;on_signal;use
left main;interrupted;on_left;use
nested main;interrupted;on_alternate;use"
    run -0 stacks coroutine
    is "coroutine main;resume;coroutine;yield;use
resumer main;resume;use"
    run -0 stacks pool
    is "resumer main;parse;use
resumer main;render;use
task main;parse;start;task;use
task main;render;start;task;use"
}

@test "a program that runs another: each has its own functions; without --calls cf-resolve names the calls that allocated" {
    cf-capture-trace -q --calls -o t.cf -- sh -c "'$P/p' recursion; exec '$P/p' pointers"
    cf-resolve -q -o r.cf t.cf
    cf-cat --verify r.cf
    [ "$(cf-cat --csv --table stack r.cf | wc -l)" = "$(cf-cat --csv --table stack t.cf | wc -l)" ]
    # main of either program is below its own _start only
    cf-rank -q --by stack --csv r.cf >ranked.csv
    run ! grep -E 'main;(self|pointers).*;main;' ranked.csv
    grep -q ';main;self;' ranked.csv
    grep -q ';main;pointers' ranked.csv
    cf-capture-trace -q -o plain.cf "$P/p" recursion
    cf-resolve -q -o named.cf plain.cf
    [[ $(cf-cat --csv --table stack --columns function named.cf | grep -cx main) -ge 1 ]]
    [ "$(cf-cat --csv --table stack named.cf | wc -l)" = "$(cf-cat --csv --table stack plain.cf | wc -l)" ]
    run -1 cf-rank -q --by stack named.cf
    [[ $output == *"stack"* ]]
    cf-capture-trace -q --calls=3 -o few.cf "$P/p" recursion
    cf-resolve -q few.cf | cf-rank -q --by stack --csv | grep -F '[deeper];self'
}

@test "column stack of a stream whose header does not state it: the paths have their names" {
    record recursion
    for table in task map object stack access; do
        cf-cat --csv --table $table t.cf >$table.csv
    done
    cf-capture csv -c instructions -w task=task.csv -w map=map.csv -w object=object.csv \
        -w stack=stack.csv -o csv.cf access.csv
    run ! grep -q depth <(cf-cat --info csv.cf)
    cf-resolve -q -o r.cf csv.cf
    cf-cat --verify r.cf
    cf-resolve -q t.cf | cf-rank -q --by stack --csv >want
    grep -q ';main;self,' want
    cf-rank -q --by stack --csv r.cf | diff want -
}
