#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# shellcheck disable=SC2154 # bats sets output, status and lines
#
# The man pages' commands, page by page and in their order, each as it stands there, in a folder
# with the programs and files that they speak of. Those that cannot run in a test are listed with
# the reason. README.md's are in suite readme.
# Takes long: recordings under Valgrind.
load lib

# What a page's reader has: small recordings, texts, programs, and the source tree's folders.
setup_file() {
    command -v valgrind >/dev/null || skip "no Valgrind"
    mkdir -p "$BATS_FILE_TMPDIR/have/version1" && cd "$BATS_FILE_TMPDIR/have" || return 1
    local f
    ln -s "$ROOT/samples" "$ROOT/pipelines" "$ROOT/Makefile" "$ROOT/formats" .
    cf-resolve -q "$ROOT/samples/gzip.cf" | cf-cat --slice 980000-1030000 -o trace.cf
    cf-cat --slice 0-60000 -o b.cf "$ROOT/samples/sort.cf"
    cf-cat --slice 0-60000 -o threads.cf "$ROOT/samples/threads.cf"
    for f in a c resolved sort program other board r old now; do cp trace.cf $f.cf; done
    cf-cat --csv --columns time,op,addr,size trace.cf | sed '1s/$/,pid/; 1!s/$/,7/' | head -n 30000 |
        cf-capture csv -q -o seven.cf
    cf-cache -q -m raspberry-pi-4 --snapshot-level L2 --snapshot-every 5000 -o steps.cf seven.cf
    cf-cache -q -m raspberry-pi-4 --snapshot-every 20000 -o snapshots.cf trace.cf
    for f in round1 round2 round4; do cp steps.cf $f.cf; done
    for f in transparent resolve flush model board-snapshots; do cp snapshots.cf $f.cf; done
    make_probe latency=1 -- level=2 size=524288 ways=8 hit=15 miss=200 | cat >probe.cf
    cf-capture probe -q --quick --by time --on atom-d525 | cf-infer -q >here.yaml
    cf-cat --csv --table line snapshots.cf >lines.csv
    cf-cat --csv --table snapshot snapshots.cf >s.csv
    zcat -f <<<$'0 1000\n1 1008\n2 400000' | gzip >cc1.din.gz
    for f in text file in in.dat big.txt words.txt; do head -n 40 "$ROOT/README.md" >$f; done
    cp "$ROOT/samples/leon4/fits.hist" hist.txt
    cp "$ROOT/samples/leon4/fits.counters" run.counters
    cp "$ROOT/samples/leon4/overflow.inst.raw" inst.txt
    cp "$ROOT/samples/leon4/overflow.ahb.raw" ahb.txt
    printf '#include <stdio.h>\n#ifndef N\n#define N 999\n#endif\nstatic int a[N];\nvoid solve(void);\nvoid __attribute__((noinline)) solve(void) { for (int i = 0; i < N; i++) a[i] += i; }\nint main(void) { solve(); puts("x"); return a[3] != 3; }\n' |
        tee filter.c program.c >hello.c
    # static, which Valgrind starts in a third of the time
    cc -g -O1 -static -o program hello.c
    { echo pid,tid,op,size,addr,pc,level,weight,source && seq 100 |
        awk '{print "7,1,load,8," $1 * 4096 ",1,memory,20000,a.c:1"}'; } >samples.csv
    printf '%s\n' op,addr,size load,0x1000,8 store,0x1008,8 load,0x2000,8 >a.csv
    printf '%s\n' op,addr,level,weight,class,function,source load,0x1000,2,900,2,solve,hello.c:4 load,0x2000,1,100,0,main,hello.c:5 |
        cf-capture csv -o classified.cf
    printf '%s\n' pid,op,start,end,perms,name '7,map,0x1000,0x3000,rw-p,[heap]' >m.csv
    printf '%s\n' observed,interfering,slowdown a,b,1.4 b,a,1.1 a,c,1.2 >measured.csv
    for f in filter simulation prog; do cp program $f; done
    cc -g -O1 -static -DN=99999 -o server hello.c # enough to sample
    cp filter.c program.c version1
    sed 's/^ *//' >why <<'END'
        cf-capture snapshot	needs a board, and the kernel module
        cf-capture pages	needs the kernel module; its own suite has a stand-in
        cf-resolve s.cf | cf-heatmap --picture heat.png	shows what the command before it recorded
        insmod	needs root
        dmesg	needs root
        make kmod	needs the kernel's headers; suites kmod-*
        make -j -f pipelines/explore.mk	suite explore
        make -f pipelines/explore.mk	suite explore
        make -j2 -f pipelines/batch.mk	suite batch
        make -f pipelines/batch.mk	suite batch
        make -j2 -f pipelines/cacheflow.mk	suite cacheflow
        make -f pipelines/cacheflow.mk	suite cacheflow
        make -j2 -f pipelines/cacheperf.mk	suite cacheperf-pipeline
        make -f pipelines/cacheperf.mk	suite cacheperf-pipeline
        make -j2 -f pipelines/bbprof.mk	suite bbprof-pipeline
        make -f pipelines/bbprof.mk	suite bbprof-pipeline
        make -j2 -f pipelines/modeling.mk	suite modeling-pipeline
        make -f pipelines/modeling.mk	suite modeling-pipeline
        cf-capture probe -o probe.cf	measures this machine, however busy it is: suite cf-capture-probe
        cf-capture probe | cf-infer > here.yaml	likewise
        make -f pipelines/leon4.mk tables	runs an emulator; suite leon4-samples
        make program	stands for the reader's own way to build
        cf-capture dumpcache	needs snapshots of the published tool; its own suite makes some
        cf-capture bbprof	needs a profile of the published tool; its own suite makes some
        cf-diff --against model.cf	needs a board's snapshots
        cf-resolve --sysroot /srv/board	needs a board's file system
        cf-capture qemu --system	needs a program for a board; suite cf-capture-qemu
END
    ! emulated || sed 's/^ *//' >>why <<'END'
        cf-cache -m host	in emulation, /proc/cpuinfo is of another processor
        cf-report --html report.html -- sort	in emulation, Valgrind does not run, nor what cf-report records with
        cf-capture -o ls.cf	nor what cf-capture starts
        cf-capture perf --coarse page-faults	in emulation, there is no perf_event_open
        cf-capture qemu	in emulation, no emulator loads the plugin
        cf-resolve filter.cf	is of that recording
END
    cf-capture-perf --coarse page-faults --fine 64 -q -o t.cf -- true 2>said ||
        printf 'cf-capture perf --coarse earlier.cf\t%s\n' "$(tail -n 1 said)" >>why
    rm -f said t.cf
}

setup() {
    lib_setup
    reached "manuals; its programs have suites"
    cp -R "$BATS_FILE_TMPDIR/have/." .
    some_host
}

# examples PAGE: its commands, one a line, but those of Makefiles and C.
examples() {
    local all=0
    [[ $1 != *.7 ]] || all=1
    [[ $1 != */cf-machine.5 && $1 != */cf-stream.5 ]] || return 0
    awk -v all=$all -f "$ROOT/tests/examples.awk" "$1" |
        grep -E '^(# )?(cf-|valgrind|make|for |env |zcat|cat |insmod|dmesg|mkdir|aarch64)'
}

# why COMMAND: the reason for not running it, or nothing; the line of the list is marked as used.
why() {
    local begin reason
    while IFS=$'\t' read -r begin reason; do
        [[ ${1#\# } != "$begin"* ]] || { echo "$begin" >>"$BATS_FILE_TMPDIR/used" && echo "$reason"; return; }
    done <"$BATS_FILE_TMPDIR/have/why"
}

# works COMMAND: it does, and no program warns of the command itself.
works() {
    local status=0
    timeout 1800 bash -o pipefail -c "$1" >out 2>err </dev/null || status=$?
    [[ $status == 0 || ($status == 141 && $1 =~ \|\ head[^|]*$) ]] ||
        fail "status $status: $1" "$(head -n 5 err)" || return
    ! grep -E 'warning:|unrecognized|damaged|cut off|earlier name|is now' err || fail "it says so: $1" || return
    # a recording may have no rows of these tables
    [[ -s out || $1 =~ --table\ (object|unplaced) || $1 =~ (\ -o\ |\>|--picture|--html|log-file|out=) || $1 == mkdir* ]] || fail "brings nothing: $1"
}

# runs PAGE...: the commands of these pages, each in a folder of its own.
runs() {
    local page command bad=
    for page; do
        rm -rf work && mkdir work && cp -R "$BATS_FILE_TMPDIR/have/." work && cd work || return
        while IFS= read -r command <&9; do
            [[ -z $(why "$command") ]] || continue
            echo "$command" >>"$BATS_FILE_TMPDIR/ran"
            works "${command#\# }" 2>said || bad+="${page##*/}: $(cat said)"$'\n'
        done 9< <(examples "$page")
        cd .. || return
    done
    [[ -z $bad ]] || fail "$bad"
}

# bats test_tags=slow
@test "the examples of the filters' pages work" {
    runs "$ROOT"/filters/*.1
}

# bats test_tags=slow
@test "the examples of the captures' pages work" {
    need aarch64-linux-gnu-gcc "the cross compiler"
    runs "$ROOT"/capture/*.1
}

@test "the commands of cf-pipelines(7), and the rest, work" {
    runs "$ROOT/pipelines/cf-pipelines.7" "$ROOT"/kmod/*.4
}

# bats test_tags=slow
@test "what is not run is in some page, and enough is run" {
    need aarch64-linux-gnu-gcc "the cross compiler, without which a part above is left out"
    local begin reason
    while IFS=$'\t' read -r begin reason; do
        [[ -n $reason ]] || fail "$begin: no reason"
        grep -qxF -e "$begin" "$BATS_FILE_TMPDIR/used" || fail "in no page: $begin"
    done <"$BATS_FILE_TMPDIR/have/why"
    [[ $(wc -l <"$BATS_FILE_TMPDIR/ran") -ge 80 ]] || fail "only $(wc -l <"$BATS_FILE_TMPDIR/ran") were run"
}
