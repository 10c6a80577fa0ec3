#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# shellcheck disable=SC2154 # bats sets output, status and lines
#
# How recordings begin and end: starts that fail, signals, full disks and limits, members that are
# killed. After each, what the file holds, what was said, and that nothing is left behind.

# Takes long: recordings under Valgrind.
load lib

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return 1
    # work N M [BEGUN GO [BUSY]]: N stores in order, M scattered ones, then the file BEGUN is made
    # and the file GO waited for: with BUSY by further stores, and a byte in that file for each million
    cat >work.c <<'END'
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static volatile char a[1 << 22];
int main(int argc, char **argv)
{
    uint64_t x = 1;
    long in_order = atol(argv[1]), scattered = atol(argv[2]);
    for (long i = 0; i < in_order; i++)
        a[i & (sizeof a - 1)] = (char)i;
    for (long i = 0; i < scattered; i++)
        a[(x = x * 6364136223846793005u + 1442695040888963407u) >> 42] = (char)i;
    if (argc > 4) {
        FILE *rounds = argc > 5 ? fopen(argv[5], "w") : NULL;
        fclose(fopen(argv[3], "w"));
        while (access(argv[4], F_OK) != 0)
            if (rounds) {
                for (long i = 0; i < 1000000; i++)
                    a[i & (sizeof a - 1)] = (char)x++;
                fputc('.', rounds);
                fflush(rounds);
            } else
                usleep(10000);
    }
    puts("end");
    return 4;
}
END
    # static: Valgrind starts it in a third of the time
    cc -O1 -g -static -o work work.c
    # kids N [BEGUN GO]: N children, each of which says that it is there and waits for all others
    # orphans N: N children of its own parent, and N of children that do not wait for them
    cat >kids.c <<'END'
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile int a[1000];
static void store(void)
{
    for (int i = 0; i < 1000; i++)
        a[i] = i;
    _exit(0);
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), there[2], go[2];
    char byte = 0;
    if (strstr(argv[0], "orphans")) {
        for (int i = 0; i < n; i++)
            if (syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0) == 0)
                store();
        for (int i = 0; i < n; i++)
            if (fork() == 0) {
                if (fork() == 0)
                    store();
                _exit(0);
            }
        while (wait(NULL) > 0)
            ;
        return 0;
    }
    if (pipe(there) != 0 || pipe(go) != 0)
        return 1;
    for (int i = 0; i < n; i++)
        if (fork() == 0) {
            close(go[1]);
            if (write(there[1], &byte, 1) != 1 || read(go[0], &byte, 1) != 0)
                _exit(1);
            store();
        }
    for (int i = 0; i < n; i++)
        if (read(there[0], &byte, 1) != 1)
            return 1;
    close(go[1]);
    while (wait(NULL) > 0)
        ;
    return 0;
}
END
    cc -O1 -g -static -o kids kids.c
    ln -s kids orphans
}

setup() {
    lib_setup
    W=$BATS_FILE_TMPDIR/work
    K=$BATS_FILE_TMPDIR/kids
    export -f eventually gate fail # for shells with mounts of their own
}

# Whoever waits for one of these after a failure does so no longer.
teardown() {
    touch "$T/go" "$T/no"
}

# No process of ours runs here any more, though one may take a moment to go, and no file lies about.
clean() {
    eventually nobody
    [[ -z $(compgen -G '*.tmp*') ]]
}
nobody() {
    local p
    for p in /proc/[0-9]*; do
        [[ $p/cwd -ef $T ]] || continue
        [[ $(tr '\0' ' ' 2>/dev/null <"$p/cmdline") != *@(cf-capture-|valgrind|"$W ")* ]] || return 1
    done
}

# holds FILE N: more than so many lines of accesses are in it by now
holds() {
    (($(cf-cat --csv --table access "$1" 2>/dev/null | wc -l) > $2))
}

# kept FILE: more than the first full frame of accesses, and no end
kept() {
    run -1 --separate-stderr bash -c "cf-cat --csv --table access '$1' | wc -l; exit \${PIPESTATUS[0]}"
    has 'cut off' "$stderr"
    ((output > 524288)) || fail "$1 holds $output lines"
}

# dies SIGNAL PID [SIGNAL]: after the signal the process, our child, dies by it (or by the other one)
dies() {
    local status=0
    kill "-$1" "$2"
    eventually gone "$2" || { kill -KILL "$2" && return 1; }
    wait "$2" || status=$?
    [[ $status == $((128 + $(kill -l "${3:-$1}"))) ]] || fail "it ended with status $status"
}

need_trace() {
    command -v valgrind >/dev/null || skip "no Valgrind"
}

# private COMMAND...: with mounts of its own
private() {
    unshare -m true 2>/dev/null || skip "not permitted: unshare -m"
    unshare -m --propagation private "$@"
}

shutter() {
    fake_shutter sock notes "$@" >/dev/null 2>&1 3>&- &
    eventually test -S sock
}

dins() { # dins N: as many stores
    awk -v n="$1" 'BEGIN { for (i = 0; i < n; i++) printf "1 %x\n", i * 64 % 65536 }'
}

has_file() { # PROCESS: one that has no name yet
    compgen -G "/proc/$1/fd/*" | xargs readlink | grep -q '(deleted)$'
}

@test "a start that fails leaves an earlier output alone, and one that is cut off" {
    need_trace
    echo earlier >t.cf
    echo part >t.cf.partial
    # nothing begins to run under Valgrind that cannot find its tool
    mkdir -p bad/bin bad/libexec/cacheflow/valgrind
    cp "$B/bin/cf-capture-trace" bad/bin
    for f in "$B"/libexec/cacheflow/valgrind/*; do
        [[ $f == */cftrace-* ]] || cp -P "$f" bad/libexec/cacheflow/valgrind
    done
    printf '#!/bin/sh\nexit 1\n' >"bad/libexec/cacheflow/valgrind/$(basename "$B"/libexec/cacheflow/valgrind/cftrace-*)"
    chmod +x bad/libexec/cacheflow/valgrind/cftrace-*
    run -3 bad/bin/cf-capture-trace -o t.cf "$W" 10 0
    has 't.cf: not written: nothing was recorded'
    run -1 cf-capture-din -o t.cf /nonexistent
    has 't.cf: not written: nothing was recorded'
    [[ $(cat t.cf t.cf.partial) == earlier$'\n'part ]]
    shutter wrong=magic
    run -1 cf-capture-snapshot --device sock -p 1ms -o t.cf -- sh -c 'until grep -q client notes; do sleep 0.01; done'
    has 'snapshot 1'
    [[ $(cat t.cf) == earlier ]]
    clean
}

@test "an emulator that loads no plugin leaves an earlier output alone" {
    need qemu-x86_64 "no emulator"
    mkdir bin
    printf '#!/bin/sh\necho other\n' >bin/qemu-x86_64
    chmod +x bin/qemu-x86_64
    echo earlier >t.cf
    PATH=$PWD/bin:$PATH run -3 cf-capture-qemu -a x86_64 -o t.cf "$W" 10 0
    has 'did not load the plugin'
    has 't.cf: not written: nothing was recorded'
    [[ $(cat t.cf) == earlier ]]
    clean
}

@test "trace: HUP, QUIT, XFSZ, INT, TERM: the program gets it, the file is whole, we die of it" {
    need_trace
    for signal in HUP QUIT XFSZ INT TERM; do
        rm -f begun
        env --default-signal=$signal cf-capture-trace -q -o $signal.cf "$W" 1000 0 begun no 3>&- &
        gate begun
        dies $signal $!
        cf-cat --verify $signal.cf
        [[ $(rows access $signal.cf | wc -l) -gt 1000 && ! -e $signal.cf.partial ]]
    done
    [[ -z $(compgen -G 'core*') ]]
    clean
}

@test "qemu: HUP, QUIT, XFSZ: the program gets it, the file is whole, we die of it" {
    need qemu-x86_64 "no emulator"
    for signal in HUP QUIT XFSZ; do
        rm -f begun
        env --default-signal=$signal cf-capture-qemu -q -o $signal.cf "$W" 1000 0 begun no 3>&- &
        gate begun
        dies $signal $!
        cf-cat --verify $signal.cf
        [[ $(rows access $signal.cf | wc -l) -gt 1000 && ! -e $signal.cf.partial ]]
    done
    clean
}

@test "snapshot: HUP, QUIT, XFSZ: the programs get it, the file is whole, we die of it" {
    for signal in HUP QUIT XFSZ; do
        rm -f sock begun
        shutter
        env --default-signal=$signal cf-capture-snapshot --device sock -p 5ms -o $signal.cf -- \
            "$W" 1 1 begun no 3>&- &
        gate begun
        dies $signal $!
        cf-cat --verify $signal.cf
    done
    clean
}

@test "probe: a signal cuts it off, since its search is not whole: an earlier file stays" {
    echo earlier >p.cf
    for signal in INT TERM; do
        rm -f p.cf.partial
        env --default-signal=$signal cf-capture-probe -q --on xeon-6230 --noise --thorough -o p.cf 2>err 3>&- &
        eventually has_file $!
        dies $signal $!
        [[ $(cat p.cf) == earlier ]]
        # or it came before the first row
        grep -q 'p.cf: not written: nothing was recorded' err || {
            grep -q 'p.cf: cut off: what was recorded until then is in .*p.cf.partial' err
            [[ $(rows probe p.cf.partial 2>/dev/null | wc -l) -gt 1 ]]
        }
    done
    clean
}

@test "importers: HUP, QUIT, XFSZ end the input, the file is whole, we die of it" {
    mkfifo in
    for signal in HUP QUIT XFSZ; do
        exec 8<>in
        env --default-signal=$signal cf-capture-din -o $signal.cf in 3>&- 8>&- &
        dins 600000 >&8
        eventually test -s $signal.cf.partial
        dies $signal $!
        exec 8>&-
        run -0 cf-cat --verify $signal.cf
        [[ $(rows access $signal.cf | wc -l) -gt 524288 && ! -e $signal.cf.partial ]]
    done
    clean
}

@test "a full disk: what is whole is kept, it is told at once, the program runs on to its end" {
    need_trace
    mkdir small
    # shellcheck disable=SC2016
    private bash -c '
        mount -t tmpfs -o size=1m none small
        echo earlier >small/t.cf
        cf-capture-trace -o small/t.cf "$0" 600000 1200000 begun go >out 2>err &
        gate begun && eventually grep -q unrecorded err && [[ -d /proc/$! && ! -s out ]] || exit
        touch go
        wait $!
        echo $? >status
        cp small/* .
        ls -A small >left' "$W"
    [[ $(cat status out t.cf) == 3$'\n'end$'\n'earlier ]]
    run -0 cat err
    has 'No space left on device: cut off: what was recorded until then is in'
    has 'small/t.cf.partial'
    [[ $output =~ [12]\ process(es\ run|\ runs)\ on,\ unrecorded ]]
    [[ $(cat left) == t.cf$'\n't.cf.partial ]]
    kept t.cf.partial
    clean
}

@test "qemu and importers: a full disk keeps what is whole" {
    need qemu-x86_64 "no emulator"
    mkdir small
    # shellcheck disable=SC2016
    private bash -c '
        mount -t tmpfs -o size=1m none small
        cf-capture-qemu -o small/t.cf "$0" 600000 1200000 begun go >out 2>err &
        eventually grep -q unrecorded err || exit
        touch go
        wait $!
        echo $? >status
        cp small/t.cf.partial .
        ls -A small >left
        rm small/*
        awk "BEGIN { srand(1); for (i = 0; i < 1800000; i++)
            printf \"1 %x\\n\", i < 600000 ? i : rand() * 1e9 }" | cf-capture-din -o small/d.cf 2>>err
        echo $? >>status
        cp small/d.cf.partial .
        ls -A small >>left' "$W"
    [[ $(cat status out left) == 3$'\n'3$'\n'end$'\n't.cf.partial$'\n'd.cf.partial ]]
    run -0 cat err
    has 't.cf.partial'
    has 'the program runs on, unrecorded'
    has 'd.cf.partial'
    kept t.cf.partial
    kept d.cf.partial
    clean
}

@test "a limit of file sizes is not a signal to the programs: what is whole is kept" {
    need_trace
    run -3 bash -c "ulimit -f 900; awk 'BEGIN { srand(1); for (i = 0; i < 1800000; i++)
        printf \"1 %x\\n\", i < 600000 ? i : rand() * 1e9 }' | cf-capture-din -o d.cf"
    has 'File too large'
    kept d.cf.partial
    # the same where no thread packs, whose signals are blocked
    run -3 bash -c "ulimit -f 1; awk 'BEGIN { srand(1); for (i = 0; i < 3000; i++)
        printf \"1 %x\\n\", rand() * 1e9 }' | cf-capture-din -o e.cf"
    has 'File too large'
    [[ ! -e e.cf ]]
    clean
}

@test "a capture that is killed: what is whole stays, with a name" {
    mkfifo in
    exec 8<>in
    cf-capture-din -o d.cf in 3>&- 8>&- &
    dins 600000 >&8
    eventually holds d.cf.partial 524288
    # a second one would write the same file
    run -3 cf-capture-din -o d.cf <<<'0 40'
    has 'd.cf.partial: another program is writing it'
    kill -KILL $!
    wait $! || true
    exec 8>&-
    [[ ! -e d.cf ]]
    kept d.cf.partial
    # and the next recording takes its place
    cf-capture-din -o d.cf <<<'0 40'
    cf-cat --verify d.cf
    clean
}

@test "a name to which .partial cannot be added is refused before a program begins" {
    need_trace
    local long name
    printf -v long '%250s' ''
    long=${long// /x}
    mkdir folder.partial
    for name in folder "$long"; do
        run -3 cf-capture-trace -o "$name" touch begun
        [[ ! -e begun ]]
    done
    has "$long.partial: File name too long"
    run -3 cf-capture-din -o folder <<<'0 40'
    has 'folder.partial: Is a directory'
    rmdir folder.partial
    clean
}

@test "two recordings of one name, neither of which shows yet: the one that ends last keeps its own file" {
    local earlier
    for earlier in '' '0 80'; do
        rm -f d.cf d.cf.partial
        [[ -z $earlier ]] || cf-capture-din -o d.cf <<<"$earlier"
        rm -f in
        mkfifo in
        exec 8<>in
        cf-capture-din -o d.cf in 2>err 3>&- 8>&- &
        eventually has_file $!
        cf-capture-din -o d.cf <<<'0 40'
        dins 10 >&8
        exec 8>&-
        status=0
        wait $! || status=$?
        [[ $status == 3 ]]
        grep -q 'd.cf: another program has written it since this recording began: .* is in .*d.cf.partial' err
        [[ $(rows access --columns addr d.cf) == $'addr\n0x40' ]]
        [[ $(rows access --columns op d.cf.partial | grep -c store) == 10 ]]
    done
    clean
}

@test "importers: an input that is slow, too, is kept after some seconds" {
    mkfifo in
    exec 8<>in
    cf-capture-din -o d.cf in 3>&- 8>&- &
    dins 10 >&8
    eventually holds d.cf.partial 10
    kill -KILL $!
    wait $! || true
    exec 8>&-
    run -1 cf-cat --csv d.cf.partial
    [[ $(grep -c store <<<"$output") == 10 ]]
    clean
}

# begun FILE: processes in it
begun() {
    rows task --columns op,pid,tid "$1" | awk -F, '$1 == "begin" && $2 == $3' | wc -l
}

@test "children whose parent is not their creator, or has gone, are recorded" {
    need_trace
    cf-capture-trace -o t.cf "${K%kids}orphans" 10
    [[ $(begun t.cf) == 31 ]]
    # each with its accesses
    rows access --columns pid,op t.cf | awk -F, '$2 == "store" { n[$1]++ }
        END { for (p in n) if (n[p] >= 1000) whole++; exit whole < 20 }'
    clean
}

@test "little shared memory: rings are smaller, or elsewhere; all processes are recorded" {
    need_trace
    mkdir spare
    # shellcheck disable=SC2016
    private bash -c '
        mount -t tmpfs -o size=2m none /dev/shm
        TMPDIR=$PWD/spare cf-capture-trace -o t.cf "$0" 12
        echo $? >status
        ls -A /dev/shm spare >left' "$K"
    [[ $(cat status) == 0 && $(begun t.cf) == 13 ]]
    cf-cat --verify t.cf
    is_empty left
    clean
}
is_empty() {
    ! grep -q cf-trace "$1"
}

@test "no shared memory left: each process that is not recorded is counted, status 1" {
    need_trace
    mkdir spare
    # shellcheck disable=SC2016
    private bash -c '
        mount -t tmpfs -o size=2m none /dev/shm
        mount -t tmpfs -o size=1m none spare
        export TMPDIR=$PWD/spare
        cf-capture-trace -o t.cf "$0" 12 2>err
        echo $? >status
        dd if=/dev/zero of=/dev/shm/all bs=4k 2>/dev/null
        dd if=/dev/zero of=spare/all bs=4k 2>/dev/null
        echo earlier >u.cf
        cf-capture-trace -o u.cf "$0" 2 2>>err
        echo $? >>status
        ls -A /dev/shm spare >left' "$K"
    [[ $(cat status) == 1$'\n'1 ]]
    run -0 cat err
    [[ $output =~ ([0-9]+)" of 13 processes could not be recorded: " ]]
    ((BASH_REMATCH[1] > 0 && BASH_REMATCH[1] + $(begun t.cf) == 13))
    cf-cat --verify t.cf
    has '3 of 3 processes could not be recorded'
    has 'u.cf: not written: nothing was recorded'
    [[ $(cat u.cf) == earlier ]]
    is_empty left
    clean
}

@test "children of a process that changed its user or root directory: none is recorded, and that is the reason" {
    need_trace
    cc -static -D_DEFAULT_SOURCE -x c -o change - <<'END'
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1 ? setuid(65534) : chroot("."))
        return 3;
    for (int i = 0; i < 2; i++)
        if (fork() == 0)
            return 0;
    while (wait(NULL) > 0)
        ;
    return 8;
}
END
    local n=0
    if unshare -r true 2>/dev/null; then
        run -1 unshare -r cf-capture-trace -o t.cf ./change
        [[ $output =~ "2 of 3 processes could not be recorded: "[0-9]+" "[0-9]+": they changed to a user or a root directory without access" ]]
        n=1
    fi
    if ((EUID == 0)); then
        run -1 cf-capture-trace -o t.cf ./change user
        [[ $output =~ "2 of 3 processes could not be recorded: "[0-9]+" "[0-9]+": they changed to a user or a root directory without access" ]]
        n=1
    fi
    clean
    ((n)) || skip "not permitted: setuid, unshare -r"
}

@test "a limit of file sizes: a smaller ring, or a message; never a signal to the program" {
    need_trace
    run -4 bash -c "ulimit -f 1100; cf-capture-trace -q -o t.cf '$W' 1000 1"
    has end
    cf-cat --verify t.cf
    # the superuser may lift it
    run bash -c "ulimit -f 100; cf-capture-trace -q -o u.cf '$W' 1000 1"
    has end
    if [[ $status == 4 ]]; then
        cf-cat --verify u.cf
    else
        ((status == 1))
        has '1 of 1 processes could not be recorded'
        has 'ulimit -f'
        [[ ! -e u.cf ]]
    fi
    clean
}

@test "what a process turns into and that cannot be recorded is told" {
    need_trace
    cp "$W" other
    printf '\001' | dd of=other bs=1 seek=4 conv=notrunc 2>/dev/null # of 32 bits
    run -1 cf-capture-trace -o t.cf sh -c './other 2>/dev/null; exit 0'
    has 'ran other: not recorded: 1 process: made for another architecture or word size'
    # a file that is cut off behind its headers is found out late
    head -c 1500 "$(type -P true)" >other
    run -1 cf-capture-trace -o t.cf sh -c './other 2>/dev/null; exit 0'
    has '1 of 2 processes could not be recorded'
    has 'Valgrind did not run what they turned into'
    # one that fails is none
    cf-capture-trace -o t.cf sh -c 'exec /nonexistent 2>/dev/null || :' 2>err || true
    [[ ! -s err ]]
    clean
}

@test "trace: TERM ends the recording although grandchildren live, and says so" {
    need_trace
    cf-capture-trace -o t.cf sh -c "'$W' 600000 1 begun go & exec '$W' 1 1 second no" 2>err 3>&- &
    gate begun
    gate second
    dies TERM $!
    run -0 cat err
    [[ $output =~ [12]\ process(es\ run|\ runs)\ on,\ unrecorded ]]
    cf-cat --verify t.cf
    [[ $(begun t.cf) == 2 ]]
    run ! nobody
    touch go
    clean
}

# ring PID: what is in its shared memory
ring() {
    local from to
    IFS=' -' read -r from to _ < <(grep -F cf-trace. "/proc/$1/maps") || return
    dd if="/proc/$1/mem" bs=4096 skip=$((0x$from / 4096)) count=$(((0x$to - 0x$from) / 4096)) 2>/dev/null |
        md5sum
}

# rounds N: so many more are over
rounds() {
    eventually at_least rounds $(($(stat -c %s rounds) + $1))
}

@test "the capture is killed: code that was translated for the recording is not run any more" {
    need_trace
    local program before
    cf-capture-trace -q -o t.cf "$W" 1 1 begun go rounds 2>err 3>&- &
    gate begun
    program=$(pgrep -P $!)
    kill -KILL $!
    eventually grep -q 'runs on, unrecorded' err
    # it may be in a loop that is left within a hundred thousand superblocks
    rounds 2
    # more than a ring's worth of stores later
    before=$(ring "$program")
    rounds 3
    [[ $(ring "$program") == "$before" ]]
    touch go
    clean
}

@test "the capture is killed: what is whole stays, the program runs on, and says so" {
    need_trace
    # shellcheck disable=SC2016
    for option in -q -f; do
        rm -f begun go
        private bash -c '
            mount -t tmpfs none /dev/shm
            cf-capture-trace $1 -o t.cf "$0" 600000 1 begun go >out 2>err 3>&- &
            whole() { cf-cat --info t.cf.partial 2>&1 | grep -q "\"access\": {rows: [5-9].....,"; }
            eventually whole || exit
            kill -KILL $!
            wait $! 2>/dev/null
            touch go
            swept() { [[ -z $(ls -A /dev/shm) ]]; }
            eventually grep -q end out && eventually swept' "$W" $option
        eventually nobody
        [[ $(cat out) == end && ! -e t.cf ]]
        run -0 cat err
        has 'cf-capture-trace: killed: what it recorded runs on, unrecorded'
        kept t.cf.partial
        clean
        rm t.cf.partial
    done
}

@test "Valgrind is killed: the file is whole up to there, and it is told" {
    need_trace
    cf-capture-trace -o t.cf "$W" 600000 1 begun no 2>err 3>&- &
    gate begun
    kill -KILL "$(pgrep -P $!)"
    wait $! && return 1 || [[ $? == 137 ]]
    run -0 cat err
    has '1 process ended abruptly'
    cf-cat --verify t.cf
    [[ $(rows access t.cf | wc -l) -gt 600000 ]]
    rm begun
    # shellcheck disable=SC2016
    run -0 cf-capture-trace -o t.cf sh -c '
        "$0" 1 1 begun no & while [ ! -e begun ]; do :; done; kill -KILL $!; exit 0' "$W"
    has '1 process ended abruptly'
    clean
}

@test "who heeds no signal is killed by the second, unless that is HUP, which a shell repeats" {
    need_trace
    # shellcheck disable=SC2016
    env --default-signal=HUP,TERM cf-capture-trace -q -o t.cf sh -c 'trap "" HUP TERM; : >begun
        until [ -e go ]; do sleep 0.05; done; : >on; until [ -e "$0" ]; do :; done' "$T/never" 2>said 3>&- &
    local pid=$!
    gate begun
    kill -HUP $pid
    kill -HUP $pid
    : >go
    eventually test -e on
    # It finds two at once, as on a machine with much to do: none comes in the middle of the other.
    kill -STOP $pid
    eventually grep -q '^State:.T' /proc/$pid/status
    kill -HUP $pid
    kill -TERM $pid
    dies CONT $pid TERM
    [ ! -s said ] # nobody runs on
    cf-cat --verify t.cf
    clean
    ! pgrep -f "$T/never"
}
