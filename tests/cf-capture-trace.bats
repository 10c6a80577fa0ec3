#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# shellcheck disable=SC2154 # bats sets output, status and lines
#
# cf-capture-trace against Valgrind's own tools and against programs whose accesses are known
# (programs.c). Run by `bats`, with CF_B the build directory if that is not build/.

# Takes long: recordings under Valgrind.
load lib

SOURCE=$ROOT/capture/trace/test/programs.c

setup_file() {
    # only Valgrind itself may be missing: a tool of ours that does not work is a failure
    command -v valgrind >/dev/null || skip "no Valgrind"
    cf-capture-trace --probe
    cd "$BATS_FILE_TMPDIR" || return 1
    # static programs are those that most tests record: Valgrind starts them in a third of the time, as
    # it need not read what it finds of the C library and the loader
    cc -O1 -g -no-pie -pthread -o p "$SOURCE"
    cc -O1 -g -fPIE -pthread -c -o programs.o "$SOURCE"
    cc -static -pthread -o static programs.o
    cc -static-pie -pthread -o pie programs.o
    cc -O2 -o canonical "${SOURCE%/*}/canonical.c"
    cc -O0 -pthread -o limits "${SOURCE%/*}/limits.c"
    cc -O1 -static -pthread -o replay "${SOURCE%/*}/replay.c"
    same_tools
}

setup() {
    export P=$BATS_FILE_TMPDIR
    lib_setup
}

# capture [OPTION...] PROGRAM...: into t.cf, quietly.
capture() {
    cf-capture-trace -q -o t.cf "$@"
}

rows() {
    cf-cat --csv --table "$1" "${@:2}" t.cf | tail -n +2
}

# awk with hex(), since not every awk knows hex(); %.0f prints what %d may cut. Digit by digit takes
# long, and most addresses come often.
hawk() {
    local options=()
    while [[ $1 == -* ]]; do
        options+=("$1" "$2")
        shift 2
    done
    awk "${options[@]}" '
        function hex(text,    s, i, n) {
            if (text in number_of) return number_of[text]
            s = tolower(text)
            sub(/^0x/, "", s)
            for (i = 1; i <= length(s); i++)
                n = n * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
            return number_of[text] = n
        }'"$1" "${@:2}"
}

# both PROGRAM: into log what lackey has of it, into t.cf what we have; recorded when first asked for.
both() {
    rm -f log t.cf
    if [[ ! -f $P/$1.cf ]]; then
        theirs --tool=lackeyx --trace-mem=yes "$P/$1" mixed
        mv log "$P/$1.log"
        ours "$P/$1" mixed
        mv t.cf "$P/$1.cf"
    fi
    ln -sf "$P/$1.log" log
    ln -sf "$P/$1.cf" t.cf
}

# What both have in common, in one form; lines of instructions, too, if asked for by an argument.
canonical_lackey() {
    "$P/canonical" lackey "$@" <log
}
canonical_ours() {
    rows access --columns op,addr,size,time | "$P/canonical" ours "$@"
}

@test "on a terminal, a recording says how many accesses it has, how large it is and how fast that was" {
    need script 'makes a terminal'
    script -qefc "cf-capture trace -o t.cf -- true" log </dev/null >/dev/null
    grep -qE 'cf-capture-trace: t.cf: 0\.[0-9]{2} M accesses, 0\.[0-9]{2} MiB, [0-9.]+ s, [0-9.]+ M accesses a second' log ||
        fail "$(cat log)"
    # not into a pipe, not with -q, and not where standard error is none
    script -qefc "cf-capture trace -q -o t.cf -- true; cf-capture trace -- true | cat >p.cf" log </dev/null >/dev/null
    run ! grep 'M accesses' log
    run -0 cf-capture trace -o t.cf -- true
    is ""
    # while it lasts: a program that waits for us, and prints nothing here
    mkfifo go
    script -qefc "cf-capture trace --command-output out -o t.cf -- sh -c 'read x <go; echo \$x'" log </dev/null >/dev/null 3>&- &
    local pid=$!
    eventually grep -qE $'\r''cf-capture-trace: 0\.[0-9]{2} M accesses, [0-9.]+ MiB, [0-9.]+ s' log
    echo done >go
    wait $pid
    [[ $(cat out) == done ]]
}

@test "every access, in lackey's order" {
    for program in static pie; do
        both $program
        canonical_lackey >a
        canonical_ours >b
        cmp a b
        [ "$(wc -l <a)" -gt 100000 ]
    done
}

@test "instruction lines and data interleave as lackey has them" {
    both static
    rm t.cf
    ours -i "$P/static" mixed
    canonical_lackey lines >a
    canonical_ours lines >b
    cmp a b
    grep -q '^I' a
    # Runs hold all instructions.
    last=$(rows task --columns time,op | hawk -F , '$2 == "exit" { print $1 }')
    [ "$(rows access --columns op,insns | hawk -F , '{ n += $2 } END { print n }')" = "$last" ]
}

@test "totals equal cachegrind's" {
    for program in static pie; do
        rm -f log
        theirs --tool=cachegr --cache-sim=yes --cachegrind-out-file=/dev/null "$P/$program" mixed
        tr -d ',()' <log >cg
        # Each iteration of a repeated string instruction is an instruction to both of them.
        both $program
        "$P/canonical" again <log >again
        [ -s again ]
        instructions=$(hawk '/I +refs/ { print $NF }' cg)
        reads=$(hawk '/D +refs/ { for (i = 1; i < NF; i++) if ($(i + 1) == "rd") print $i }' cg)
        extra=$(awk '{ n += $2 } END { print n }' again)
        [ "$(rows task --columns time,op | hawk -F , '$2 == "exit" { print $1 }')" = $((instructions - extra)) ]
        extra=$(awk '{ n += $3 } END { print n }' again)
        # Of an atomic read-modify-write it has two loads, as lackey: the first of them is none.
        extra=$((extra + $(awk '$1 == "I" { load = "" } $1 == "L" { load = $2 }
            $1 == "M" && $2 == load { n++ } END { print n + 0 }' log)))
        [ "$(rows access --columns op,pc | grep '^load,' |
            grep -vcxFf <(awk '{ print "load," $1 }' again))" = $((reads - extra)) ]
    done
}

@test "threads: counts, names, switches" {
    capture "$P/static" threads
    rows task --columns tid,op,label >tasks
    [ "$(grep -c begin tasks)" = 3 ]
    [ "$(grep -c exit tasks)" = 3 ]
    grep -q 'name,first' tasks
    grep -q ',second' tasks
    read -r a b < <("$P/static" addresses)
    # Each thread stores 300,000 times into its own array, and nobody else does.
    rows access --columns op,addr,tid | hawk -F , -v a="$a" -v b="$b" '
        BEGIN { a = hex(a); b = hex(b) }
        $1 == "store" { x = hex($2)
            if (x >= a && x < a + 8000) n[$3 " a"]++
            if (x >= b && x < b + 8000) n[$3 " b"]++ }
        END { for (i in n) print n[i] }' >stores
    [ "$(cat stores)" = $'300000\n300000' ]
    # A thread's own count goes on where it was when it stopped.
    rows switch --columns time,tid,count | hawk -F , '
        NR > 1 { ran[tid] += $1 - time }
        { if ($3 != ran[$2] + 0) { print; bad = 1 }; time = $1; tid = $2 }
        END { exit bad || NR < 4 }'
    # Further threads have no parent, those of a child either.
    capture sh -c '"$0" threads; :' "$P/static"
    rows task --columns pid,tid,parent,op | hawk -F , '
        $4 == "begin" && $1 != $2 { threads++; bad += $3 != 0 }
        $4 == "begin" && $1 == $2 && $3 { children++ }
        END { exit bad || threads != 2 || children != 1 }'
}

@test "a thread begins while its creator runs, not when it first runs" {
    cc -O1 -static -pthread -x c -o many - <<'END'
#include <pthread.h>
static volatile int a[16][64];
static void *work(void *p)
{
    for (int i = 0; i < 40000; i++)
        ((volatile int *)p)[i % 64]++;
    return 0;
}
int main(void)
{
    pthread_t t[16];
    for (int i = 0; i < 16; i++)
        pthread_create(&t[i], 0, work, (void *)a[i]);
    for (int i = 0; i < 16; i++)
        pthread_join(t[i], 0);
    return 0;
}
END
    capture ./many
    # The creator makes way at once, so what counts is who ran until then.
    {
        rows switch --columns time,tid
        rows task --columns time,tid,op | grep begin
    } | sort -t , -s -k 1,1n | hawk -F , '
        NR == 1 { main = $2 }
        $3 == "begin" && $1 { n++; bad += (time < $1 ? tid : before) != main }
        $3 == "" { if ($1 > time) before = tid; time = $1; tid = $2 }
        END { exit bad || n != 16 }'
}

@test "children, unless --no-follow: then what ran unrecorded is named" {
    run -0 cf-capture-trace --no-follow -o t.cf "$P/static" fork
    is "cf-capture-trace: ran static, true: not recorded: 2 processes: since --no-follow is given"
    [ "$(rows task --columns pid | sort -u | wc -l)" = 1 ]
    run -0 cf-capture-trace -q --no-follow -o t.cf "$P/static" fork
    is ''
    # A child of a child, one that does not change, and the program that takes the first one's place.
    run -6 cf-capture-trace --no-follow -o t.cf sh -c '(/bin/true; :); (:); exec sh -c "exit 6"'
    is "cf-capture-trace: ran sh, true: not recorded: 4 processes: since --no-follow is given"
    run -2 cf-capture-trace -f --no-follow true
    has 'give one of them'
    run -0 cf-capture-trace -o t.cf "$P/p" fork
    is ''
    [ "$(rows access --columns pid | sort -u | wc -l)" = 3 ]
    rows task --columns pid,parent,op,label >tasks
    [ "$(grep -c begin tasks)" = 3 ]
    [ "$(grep -c exit tasks)" = 3 ]
    grep -q 'name,true' tasks
    # Nobody else holds the trace open while this one changes its image.
    run -5 cf-capture-trace -q -f -o u.cf sh -c 'exec sh -c "exit 5"'
    [ "$(cf-cat --csv --table task u.cf | grep -c name)" = 1 ]
    # The child has its parent's heap block; the stores into it are the child's.
    child=$(hawk -F , '$3 == "begin" { n++; if (n == 2) print $1 }' tasks)
    block=$(rows object --columns pid,op,addr,bytes | hawk -F , -v c="$child" \
        '$1 == c && $2 == "alloc" && $4 == 8000 { print $3 }')
    [ -n "$block" ]
    [ "$(rows access --columns pid,op,addr | hawk -F , -v c="$child" -v a="$block" '
        BEGIN { a = hex(a) }
        $1 == c && $2 == "store" { x = hex($3); if (x >= a && x < a + 8000) n++ }
        END { print n }')" = 1000 ]
}

@test "processes by their names, with what each did" {
    # a link has its own name; vfork() and posix_spawn(), which sh and env use, are followed
    ln -s /usr/bin/sort other
    run -3 cf-capture-trace -o t.cf --command-output out sh -c './other "$0" | wc -l; exit 3' "$SOURCE"
    is ''
    [ "$(cat out)" = "$(wc -l <"$SOURCE")" ]
    cf-cat --info t.cf | sed -n 's/^  - {pid: [0-9]*, \(.*\)}$/\1/p' >info
    [ "$(grep -oE 'name: "[a-z]+"' info | sort | paste -sd ' ')" = 'name: "other" name: "sh" name: "wc"' ]
    [ "$(grep -c parent info)" = 2 ]
    # all accesses and instructions are somebody's
    [ "$(grep -oE 'accesses: [0-9]+' info | hawk '{ n += $2 } END { print n }')" = "$(rows access | wc -l)" ]
    [ "$(grep -oE 'instructions: [0-9]+' info | hawk '{ n += $2 } END { print n }')" = \
        "$(rows task --columns time | tail -n 1)" ]
    # one process needs no list
    capture true
    run -0 cf-cat --info t.cf
    has_not processes
}

@test "processes of PID namespaces have the pid that is known outside, whatever they have inside" {
    unshare -rpf --mount-proc true 2>/dev/null || skip "not permitted: unshare -rpf --mount-proc"
    # three at once, in each of which the processes are 1, 2, ...: one in another, two with a /proc of
    # their own; by the first /proc, each of these programs can say what it is outside. Valgrind names
    # its files by the pid inside, so that one may say that it takes the next name
    run -0 --separate-stderr timeout 900 cf-capture-trace -o t.cf sh -c '
        inside="readlink /proc/self/fd/9/self; $P/static threads 10; :"
        unshare -rpf sh -c "$inside" 9</proc &
        unshare -rpf --mount-proc sh -c "$inside" 9</proc &
        unshare -rpf --mount-proc unshare -pf sh -c "$inside" 9</proc &
        wait'
    rows task --columns pid,tid,op,label >tasks
    [ "$(hawk -F , '$1 == $2 && $3 == "exit" && $4 == "readlink" { print $1 }' tasks | sort)" = "$(sort <<<"$output")" ]
    # one sh, and of each: unshare, sh, readlink, static and its threads; no number is there twice
    [ "$(hawk -F , '$3 == "begin" && $1 == $2' tasks | sort -u | wc -l)" = $((1 + 3 * 4 + 1)) ]
    [ "$(hawk -F , '$3 == "begin" { print $2 }' tasks | sort | uniq | wc -l)" = $((1 + 3 * 6 + 1)) ]
    [ "$(grep -c begin tasks)" = $((1 + 3 * 6 + 1)) ]
    # where /proc is that of another namespace, the number is that of the one where we run
    run -0 unshare -rpf cf-capture-trace -q -o t.cf sh -c 'sh -c "echo \$\$; :"; exec sh -c "echo \$\$; :"'
    [ "$(rows task --columns pid,op | sed -n 's/,exit$//p')" = "$output" ]
}

@test "equal addresses of two processes are different memory to every model" {
    # the second one has the addresses of the first
    env -i PATH="$PATH" setarch -R cf-capture-trace -q -o t.cf sh -c "$P/static mixed; $P/static mixed; exit"
    local pids
    pids=$(rows task --columns pid,label,op | hawk -F , '$2 == "static" && $3 == "exit" { print $1 }' | paste -sd ,)
    cf-select --pid "$pids" t.cf >two.cf
    cf-select --pid "${pids%,*}" t.cf >one.cf
    # twice as many lines are touched for the first time: in all curves, models and counters
    local model one
    for model in "cf-distance -q | cf-mrc | awk -F , 'END { print \$5 }'" \
        "cf-sweep | awk -F , 'END { print \$6 }'" \
        'cf-rank --by cache-line -q | tail -n +2 | wc -l' \
        "cf-cache --cores 1 -m raspberry-pi-4 --summary | awk -F , '/^memory/ { print \$4 }'" \
        "cf-classify --cores 1 -m raspberry-pi-4 --summary | awk -F , '/L1D,store/ { print \$5 }'"; do
        one=$(eval "$model" <one.cf)
        ((one > 500)) || fail "$model: $one"
        [ "$(eval "$model" <two.cf)" = $((2 * one)) ] || fail "$model: $one, then $(eval "$model" <two.cf)"
    done
    # what adds up names and addresses says so, where there are several
    cf-resolve -q -o resolved.cf two.cf
    local filter
    for filter in 'cf-rank --by page' 'cf-rank --by region' cf-heatmap; do
        run -0 --separate-stderr $filter resolved.cf
        [[ $stderr == *"several processes: "*"cf-select --pid"* ]] || fail "$filter: $stderr"
        run -0 --separate-stderr $filter -q resolved.cf
        [ -z "$stderr" ]
        cf-select --pid "${pids%,*}" resolved.cf >alone.cf
        run -0 --separate-stderr $filter alone.cf
        [[ $stderr != *"several processes"* ]]
    done
}

@test "set-user-ID programs and those of another kind run as they do by themselves, and are named" {
    cp /bin/true gains
    run -0 cf-capture-trace -q -o t.cf ./gains
    chmod u+s gains
    # by itself it is not run at all
    run -126 cf-capture-trace -o none.cf ./gains
    is "cf-capture-trace: ./gains: Valgrind runs no program with set-user-ID or set-group-ID bits or capabilities: record a copy without them"
    [ ! -e none.cf ]
    run -1 cf-capture-trace -o t.cf sh -c './gains && ./gains && echo ran'
    is "ran
cf-capture-trace: ran gains: not recorded: 2 processes: Valgrind runs no program with set-user-ID or set-group-ID bits or capabilities"
    cf-cat --verify t.cf
    [ "$(rows task --columns op | grep -c begin)" = 3 ]
    # by way of a script, too
    printf '#!%s\n' "$PWD/gains" >script
    chmod +x script
    run -1 cf-capture-trace -o t.cf sh -c 'exec ./script'
    has "ran script: not recorded: 1 process"
    # 32 bits: exit(0)
    {
        printf '\177ELF\1\1\1\0\0\0\0\0\0\0\0\0\2\0\3\0\1\0\0\0\124\200\4\10\64\0\0\0\0\0\0\0\0\0\0\0\64\0\40\0\1\0\0\0\0\0\0\0'
        printf '\1\0\0\0\0\0\0\0\0\200\4\10\0\200\4\10\140\0\0\0\140\0\0\0\5\0\0\0\0\20\0\0'
        printf '\270\1\0\0\0\61\333\315\200\0\0\0'
    } >narrow
    chmod +x narrow
    if ./narrow; then
        run -1 cf-capture-trace -o t.cf sh -c './narrow && echo ran'
        has "ran"
        has "ran narrow: not recorded: 1 process: made for another architecture or word size"
    fi
}

@test "--limit counts the accesses of all processes" {
    run -0 cf-capture-trace -q --limit 300000 -o t.cf sh -c "$P/p mixed; $P/static mixed; exit 0"
    [ "$(rows access | wc -l)" = 300000 ]
    [ "$(rows access --columns pid | sort -u | wc -l)" -gt 1 ]
    cf-cat --verify t.cf
}

@test "what Valgrind says of a child is shown" {
    run cf-capture-trace -o t.cf --max-threads 100 sh -c '"$P/limits" threads 100; exit 4'
    has "the program made more threads than can be recorded: see --max-threads"
    # a signal that ends one process hides nothing of another, but what Valgrind says of the signal and
    # its translator of the instruction; a FIFO is no program, as always
    cc -O0 -o unknown -x c - <<'END'
#include <errno.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
    for (int i = 0; i < 3; i++, wait(0))
        if (fork() == 0) {
            if (i == 0)
                *(volatile int *)0 = 1;
#ifdef __x86_64__
            if (i == 2)
                __builtin_trap();
#endif
            if (i == 2)
                _exit(0);
            syscall(9999);
            __asm__ volatile(".byte 0x06, 0, 0, 0");
        }
    execl("fifo", "fifo", (char *)0);
    return errno == EACCES ? 7 : 1;
}
END
    mkfifo fifo
    run -7 timeout 600 cf-capture-trace -o t.cf ./unknown
    has "WARNING: unhandled"
    sed -E '/^--/d; s/process [0-9]+/process N/; s/0x[0-9a-f]+/0xN/' <<<"$output" >said
    if [[ $(uname -m) == x86_64 ]]; then # elsewhere that is no ud2
        grep -q 'N: the instruction at 0xN is invalid on every processor (ud2): SIGILL$' said
        sed -i '/(ud2)/d' said
    fi
    echo "cf-capture-trace: process N: the instruction at 0xN is none that Valgrind knows: SIGILL" | same - said
}

@test "execve that fails by itself fails with the same error, and the program goes on" {
    cc -O0 -o tries -x c - <<'END'
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    static char text[400000];
    for (int i = 1; i < argc; i++) {
        int status;
        fflush(stdout);
        if (fork() == 0) {
            execl(argv[i], argv[i], (char *)0);
            printf("%s: %s\n", argv[i], strerror(errno));
            exit(9);
        }
        wait(&status);
        printf("%s: status %d\n", argv[i], WEXITSTATUS(status));
        fflush(stdout);
        if (fork() == 0) {
            char *words[] = {argv[i], 0};
            fexecve(open(argv[i], O_RDONLY), words, environ);
            printf("%s as a descriptor: %s\n", argv[i], strerror(errno));
            execveat(AT_FDCWD, argv[i], words, environ, 0);
            printf("%s in this directory: %s\n", argv[i], strerror(errno));
            execveat(open("..", O_PATH), argv[i], words, environ, 0);
            printf("%s in another directory: %s\n", argv[i], strerror(errno));
            execveat(open(".", O_PATH), argv[i] + 2 * (i > 1), words, environ, 0);
            printf("%s in an open directory: %s\n", argv[i], strerror(errno));
            execveat(-1, argv[i], words, environ, 0);
            printf("%s in none: %s\n", argv[i], strerror(errno));
            exit(9);
        }
        wait(&status);
        printf("%s by *at: status %d\n", argv[i], WEXITSTATUS(status));
    }
    memset(text, 'x', sizeof text - 1);
    for (int bytes = 131070; bytes <= 131073; bytes++) {
        int status;
        text[bytes] = 0;
        fflush(stdout);
        if (fork() == 0) {
            execl("/bin/true", "true", text, (char *)0);
            printf("%d bytes: %s\n", bytes, strerror(errno));
            exit(9);
        }
        wait(&status);
        printf("%d bytes: status %d\n", bytes, WEXITSTATUS(status));
        text[bytes] = 'x';
    }
    for (int n = 100; n <= 200000; n *= 2000) {
        char **many = calloc(n + 1, sizeof *many);
        for (int i = 0; i < n; i++)
            many[i] = "an argument of some length";
        fflush(stdout);
        if (fork() == 0) {
            execv("/bin/true", many);
            printf("%d arguments: %s\n", n, strerror(errno));
            exit(9);
        }
        wait(0);
    }
    return 0;
}
END
    printf 'int main(void) { return 5; }\n' >five.c
    cc -o five five.c
    cc -o nolinker five.c -Wl,--dynamic-linker=/none/ld.so
    cc -o badlinker five.c -Wl,--dynamic-linker="$PWD/five.c"
    : >nothing
    printf '#!/none/sh\n' >missing
    printf '#!/bin/sh\r\nexit 4\n' >crlf
    printf '#!%s\n' "$PWD" >folder
    printf '#!%s/five.c\n' "$PWD" >nofile
    printf '#!%s/nothing\n' "$PWD" >empty
    printf '#!%s/five\n' "$PWD" >one
    for i in one:two two:three three:four four:deep deep:deeper deeper:deepest; do
        printf '#!%s/%s\n' "$PWD" "${i%:*}" >"${i#*:}"
    done
    printf '#!%s/loops\n' "$PWD" >loops
    for bytes in 20 64 70 200; do
        head -c "$bytes" five >"cut$bytes"
    done
    cc -c -o object five.c
    chmod +x nothing missing crlf folder nofile empty one two three four deep deeper deepest loops cut* object
    ulimit -Ss 8192
    set -- ./none ./five ./nolinker ./badlinker ./nothing ./missing ./crlf ./folder ./nofile ./empty ./one ./deep \
        ./deeper ./deepest ./loops . ./cut20 ./cut64 ./cut70 ./cut200 ./object
    ./tries "$@" >want
    run -0 --separate-stderr cf-capture-trace -o t.cf ./tries "$@"
    [[ ! $stderr ]] || fail "$stderr"
    same - want <<<"$output"
}

@test "strict seccomp, in which Valgrind cannot live: what was before it is recorded, and a message says why it ends" {
    cc -O0 -o strict -x c - <<'END'
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int count, char **arguments)
{
    (void)arguments;
    prctl(PR_SET_SECCOMP, count > 1 ? 99 : SECCOMP_MODE_STRICT); /* 99: none that there is */
    syscall(SYS_exit, 5);
}
END
    run -5 ./strict
    run -137 cf-capture-trace -o t.cf ./strict
    has "strict seccomp: the kernel kills this process for Valgrind's own calls"
    [ "$(rows access | wc -l)" -gt 1000 ]
    run -5 cf-capture-trace -o t.cf ./strict other
    is ''
}

@test "a fault ends the program and the trace at its instruction" {
    run -139 cf-capture-trace -q -o t.cf "$P/static" segv
    cf-cat --verify t.cf
    # The last four rows are the stores before the faulting one.
    rows access --columns op,size | tail -4 | sort | uniq -c | grep -q '4 store,8'
}

@test "a fault ends a program of several threads, which end before the one that faulted" {
    cc -O1 -pthread -x c -o threads - <<'END'
#include <pthread.h>
#include <unistd.h>
static volatile int four[4], *volatile none;
static void *waits(void *unused)
{
    for (;;)
        pause();
    return unused;
}
int main(void)
{
    pthread_t thread;

    for (int i = 0; i < 3; i++)
        pthread_create(&thread, NULL, waits, NULL);
    usleep(10000);
    four[0] = four[1] = four[2] = four[3] = 1;
    *none = 1;
    return 0;
}
END
    run -139 cf-capture-trace -o t.cf ./threads
    is ''
    cf-cat --verify t.cf
    # Four stores and the load of the pointer through which nothing is stored.
    [ "$(rows access --columns op,size | tail -5 | sort | uniq -c | tr -s ' ' | tr '\n' ';')" = \
        ' 1 load,8; 4 store,4;' ]
    [ "$(rows task | grep -c ,exit,)" = 4 ]
}

@test "faults that the program survives cut their superblock short" {
    capture "$P/static" recover
    rows access --columns pc,op,addr,size >accesses
    # The function's eight stores: four of them 101 or 102 times (the repaired one is run again
    # from the faulting instruction on), four once.
    hawk -F , '$2 == "store" && $4 == 8 { n[$1]++ } END { for (i in n) print n[i], i }' accesses |
        sort -k2 >counts
    hawk '$1 == 101 { many++ } END { exit many < 4 }' counts
    good=$(hawk '$1 == 101 { print $2; exit }' counts)
    hawk -v g="$good" 'BEGIN { g = hex(g) }
        { x = hex($2) } x >= g && x < g + 80 && $1 == 1 { once++ }
        END { exit once != 4 }' counts
}

@test "a program goes on from where it faulted, with the registers of there" {
    cc -O1 -x c -o barrier - <<'END'
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
#include <sys/mman.h>
enum { PAGE = 4096, PAGES = 100 };
static char *memory;
static volatile int faults;
static void admit(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)context;
    if (++faults > PAGES)
        _exit(1);
    mprotect((char *)info->si_addr - (info->si_addr - (void *)memory) % PAGE, PAGE, 3);
}
int main(void)
{
    struct sigaction action = {.sa_sigaction = admit, .sa_flags = SA_SIGINFO};
    long left = PAGES;
    volatile char *p;

    sigaction(SIGSEGV, &action, NULL);
    p = memory = mmap((void *)0x10000000, PAGES * PAGE, 0,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    for (; left; left--, p += PAGE)
        *p = (char)left;
    for (int i = 0; i < PAGES; i++)
        if (memory[i * PAGE] != PAGES - i)
            return 2;
    return 0;
}
END
    capture ./barrier
    rows access --columns op,addr | grep ,0x100 >accesses
    [ "$(grep -c store accesses)" = 100 ]

    [[ $(uname -m) == x86_64 ]] || return 0 # elsewhere a division does not fault
    cc -O1 -D_GNU_SOURCE -x c -o divides - <<'END'
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>
static int faults;
static void divisor(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)info;
    if (++faults > 100)
        _exit(1);
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_RCX] = 1;
}
int main(void)
{
    struct sigaction action = {.sa_sigaction = divisor, .sa_flags = SA_SIGINFO};
    long left = 100;

    sigaction(SIGFPE, &action, NULL);
    __asm__ volatile("1: xor %%ecx, %%ecx; xor %%edx, %%edx; mov $7, %%eax; div %%ecx;"
                     "dec %0; jnz 1b" : "+r"(left) : : "rax", "rcx", "rdx", "cc");
    return faults != 100;
}
END
    capture ./divides
}

@test "loads and stores under a mask: what the mask lets through" {
    grep -qw avx /proc/cpuinfo || skip "no AVX"
    cc -O1 -static -no-pie -x c -o masks - <<'END'
#include <immintrin.h>
#include <stdio.h>
static float a[64] __attribute__((aligned(64))), b[64] __attribute__((aligned(64)));
__attribute__((noinline, target("avx"))) static void here(void) /* addresses are constants */
{
    const __m256i m = _mm256_set_epi32(-1, 0, -1, 0, 0, -1, 0, -1);
    _mm256_maskstore_ps(b, m, _mm256_maskload_ps(a, m));
}
__attribute__((noinline, target("avx"))) static void there(float *to, const float *from)
{
    const __m256i m = _mm256_set_epi32(0, 0, -1, 0, 0, 0, -1, 0);
    _mm256_maskstore_ps(to + 8, m, _mm256_maskload_ps(from + 8, m));
}
__attribute__((noinline, target("avx"))) static void before(void *to, const float *from)
{
    const __m256 v = _mm256_maskload_ps(from, _mm256_set_epi32(0, 0, 0, -1, 0, 0, -1, 0));
    long n = 8;
    __asm__ volatile("rep stosl" : "+D"(to), "+c"(n) : "a"(7), "x"(v) : "memory");
}
int main(void)
{
    here();
    there(b, a);
    before(b + 32, a + 32); /* a string instruction in the same straight code */
    printf("0x%lx 0x%lx\n", (unsigned long)a, (unsigned long)b);
}
END
    capture ./masks >out
    read -r a b <out
    run -0 bash -c "cf-cat --csv --table access --columns op,addr,size t.cf | tail -n +2 |
        while IFS=, read -r op addr size; do
            ((addr >= $a && addr < $a + 256)) && echo a \$op \$((addr - $a)) \$size
            ((addr >= $b && addr < $b + 256)) && echo b \$op \$((addr - $b)) \$size
            :
        done | paste -sd ';'"
    is 'a load 0 4;a load 8 4;a load 20 4;a load 28 4;b store 0 4;b store 8 4;b store 20 4;b store 28 4;a load 36 4;a load 52 4;b store 36 4;b store 52 4;a load 132 4;a load 144 4;b store 128 32'
}

@test "a gather loads the lanes that its mask lets through, and nothing from the stack" {
    grep -qw avx2 /proc/cpuinfo || skip "no AVX2"
    cc -O1 -static -no-pie -x c -o gathers - <<'END'
#include <immintrin.h>
#include <stdio.h>
static int t[64] __attribute__((aligned(64)));
static double d[64] __attribute__((aligned(64)));
__attribute__((noinline, target("avx2"))) static void ints(const int *from, __m256i i, __m256i m)
{
    __m256i v = _mm256_setzero_si256();
    __asm__ volatile("vpgatherdd %1, (%2,%3,4), %0" : "+x"(v), "+x"(m) : "r"(from), "x"(i));
}
__attribute__((noinline, target("avx2"))) static void doubles(__m256i i, __m256d m)
{
    __m256d v = _mm256_setzero_pd(), n = m;
    __asm__ volatile("vgatherqpd %1, d(,%3,8), %0; vgatherdpd %2, 64(%k4,%x3,8), %0" /* with a prefix */
                     : "+x"(v), "+x"(m), "+x"(n) : "x"(i), "r"(d));
}
__attribute__((target("avx2"))) int main(void)
{
    const __m256i i = _mm256_set_epi32(15, 13, 11, 9, 7, 5, 3, 1), j = _mm256_set_epi64x(7, 5, 3, 2);
    ints(t, i, _mm256_set_epi32(0, -1, 0, 0, 0, -1, 0, -1));
    ints(t, i, _mm256_set1_epi32(-1));
    ints(t, i, _mm256_setzero_si256());
    doubles(j, _mm256_castsi256_pd(_mm256_set_epi64x(-1, 0, -1, 0)));
    printf("0x%lx 0x%lx\n", (long)t, (long)d);
}
END
    for function in ints doubles; do # and the loads of their returns
        capture --function $function ./gathers >out
        read -r t d <out
        rows access --columns op,addr,size | hawk -F , -v t="$t" -v d="$d" '
            BEGIN { t = hex(t); d = hex(d) }
            $1 != "load" { next }
            { x = hex($2) }
            x >= t && x < t + 256 { print "t", x - t, $3; next }
            x >= d && x < d + 512 { print "d", x - d, $3; next }
            { others++ }
            END { print others " others" }'
    done >loads
    run -0 paste -sd ';' loads
    is 't 4 4;t 20 4;t 52 4;t 4 4;t 12 4;t 20 4;t 28 4;t 36 4;t 44 4;t 52 4;t 60 4;3 others;d 24 8;d 56 8;d 64 8;d 64 8;1 others'
}

@test "a read-modify-write is one load and one store, also where it is atomic" {
    cc -O1 -static -no-pie -x c -o atomics - <<'END'
#include <stdatomic.h>
#include <stdio.h>
static struct { _Alignas(64) atomic_long v; } a[6];
static struct { _Alignas(64) atomic_uchar v; } b[2];
static volatile long plain;
int main(void)
{
    long sum = 0;
    for (long i = 0; i < 100; i++) {
        long is = i, other = -1;
        atomic_fetch_add(&a[0].v, i);
        sum += atomic_fetch_add(&a[1].v, i);
        sum += atomic_exchange(&a[2].v, i);
        atomic_fetch_or(&a[3].v, i);
        atomic_compare_exchange_strong(&a[4].v, &is, i + 1);
        atomic_compare_exchange_strong(&a[5].v, &other, i);
        atomic_fetch_sub(&b[0].v, 1);
        sum += atomic_exchange(&b[1].v, 1);
        plain += i;
    }
    printf("0x%lx 0x%lx 0x%lx\n", (long)a, (long)b, (long)&plain);
    return sum == 1;
}
END
    capture ./atomics >out
    read -r a b plain <out
    rows access --columns op,addr,size | hawk -F , -v a="$a" -v b="$b" -v plain="$plain" '
        BEGIN { a = hex(a); b = hex(b); plain = hex(plain) }
        { x = hex($2) }
        x >= a && x < a + 384 { n["a" (x - a) / 64 " " $1 " " $3]++ }
        x >= b && x < b + 128 { n["b" (x - b) / 64 " " $1 " " $3]++ }
        x == plain { n["plain " $1 " " $3]++ }
        END { for (i in n) print i, n[i] }' | sort >counts
    for what in a{0..5} b0 b1 plain; do
        [[ $what == b* ]] && size=1 || size=8
        printf '%s 100\n' "$what load $size" "$what store $size"
    done | diff - counts
}

@test "signal handlers" {
    run -0 capture "$P/static" alarm
    cf-cat --verify t.cf
}

@test "heap blocks" {
    capture "$P/p" heap 6000
    rows object --columns op,addr,bytes,stack >objects
    [ "$(grep -c alloc objects)" = 8000 ]
    [ "$(grep -c free objects)" = 8000 ]
    # A block is released at the address and with the size that it was allocated with, and has a
    # call stack.
    hawk -F , '$4 == 0 { bad = 1 }
        $1 == "alloc" { if ($2 in live) bad = 1; live[$2] = $3 }
        $1 == "free" { if (live[$2] != $3) bad = 1; delete live[$2] }
        END { exit bad }' objects
    hawk -F , '$1 == "alloc" { n[$3]++ } END { exit !(n[24] == 1000 && n[40] == 1000 &&
        n[10] == 1000 && n[100] == 1000 && n[64] == 1000 && n[128] == 1000 && n[200] == 1000 &&
        n[150] == 1000) }' objects
    # whichever function allocates, it is called by this program, not by another of them
    capture --stack-depth 1 "$P/p" heap 6
    cf-resolve -q t.cf | cf-cat --csv --table object --columns op,site >sites
    [ "$(grep -c '^alloc,heap .*programs.c:' sites)" = 8 ]
}

@test "heap blocks of libraries that are loaded to the same place, one after the other: each has its own call stacks" {
    local own text
    plugs
    for own in '' --own-allocator; do
        cf-capture-trace $own -o t.cf ./plugs >places
        plugs_named
        cf-resolve -q t.cf | cf-select --function fill | cf-rank -q --by site --value stores >sites
        [[ $(grep -c 'one.*,300,' sites) == 1 && $(grep -c 'two.*,300,' sites) == 1 ]] ||
            fail "$(cat sites)"
    done
    for _ in 0 1; do
        cf-capture-trace --calls -o t.cf ./plugs >places
        plugs_named
        cf-resolve -q t.cf | cf-select --function fill | cf-fold -q | cut -d' ' -f1 | grep -o 'go;.*' | sort -u |
            same - <(printf 'go;%s;fill\n' one two)
        # again with code in one mapping with the data, which takes the place of a part of it
        text=$(readelf -SW two.so | sed -n 's/.* \.text  *PROGBITS  *\([0-9a-f]*\) .*/\1/p')
        cc -O0 -g -shared -fPIC -DNAME=one -o one.so -Wl,-z,noseparate-code \
            -Wl,--section-start=.text="0x$text" "$BATS_TEST_DIRNAME/alloc/plug.c"
    done
}

@test "more mappings of code than are kept in mind, each replaced in part: the program goes on" {
    cat >many.c <<'END'
#include <fcntl.h>
#include <sys/mman.h>
int main(void)
{
    int fd = open("/proc/self/exe", O_RDONLY);
    for (unsigned long i = 0; i < 2000; i++) { /* of three pages the middle one goes */
        char *at = (char *)0x30000000 + i * 0x4000;
        if (mmap(at, 0x3000, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, 0) != at ||
            (i % 2 && mmap(at - 0x3000, 0x1000, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED))
            return 1;
    }
    return 0;
}
END
    cc -O1 -o many many.c
    timeout 120 cf-capture-trace -q -o t.cf ./many
}

@test "pvalloc: whole pages, as by itself" {
    cc -O1 -g -x c -o paged - <<'END'
#include <malloc.h>
#include <string.h>
#include <unistd.h>
int main(void)
{
    const size_t page = getpagesize();
    char *p = pvalloc(page + 1);
    if (!p || (size_t)p % page || pvalloc(~(size_t)0))
        return 1;
    memset(p, 1, 2 * page);
    free(p);
    return 0;
}
END
    run -0 cf-capture-trace -o t.cf ./paged
    is ''
    cf-resolve -q t.cf | cf-cat --csv --table object --columns op,bytes,site >sites
    [[ $(grep -c . sites) == 3 && $(grep -c ",$((2 * $(getconf PAGESIZE))),main " sites) == 2 ]] || fail "$(cat sites)"
}

@test "every access lies in a mapping" {
    for program in heap\ 100 threads maps; do
        # shellcheck disable=SC2086
        capture "$P/p" $program
        # Together by time; a mapping's rows come before accesses of the same time.
        { rows map --columns time,op,start,end,label | hawk -F , -v OFS=, '{ print $1, 0, $0 }'
          rows access --columns time,addr | hawk -F , -v OFS=, '{ print $1, 1, $0 }'
        } | sort -t, -s -n -k1,1 -k2,2 | hawk -F , '
            $2 == 0 && $4 == "map" { for (x = int(hex($5) / 4096);
                x < hex($6) / 4096; x++) page[x] = 1; next }
            $2 == 0 { for (x = int(hex($5) / 4096); x < hex($6) / 4096; x++)
                delete page[x]; next }
            !(int(hex($4) / 4096) in page) { print; bad++ }
            END { exit bad > 0 }' | head -5
        [ "${PIPESTATUS[1]}" = 0 ]
    done
    rows map --columns label >labels
    grep -qF '[stack]' labels
    grep -qF '[heap]' labels
    grep -qF "$P/p" labels
}

@test "a child of fork has its parent's names and pages of what both have" {
    cat >forks.c <<'END'
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
enum { PAGE = 4096, PAGES = 40 };
static volatile char data[PAGES * PAGE] = {1}, zero[PAGES * PAGE];
static volatile char *a, *b, *heap;
static void touch(void)
{
    for (int i = 0; i < PAGES * PAGE; i += PAGE)
        data[i] = zero[i] = a[i] = b[i] = heap[i] = 1;
}
int main(void)
{
    a = mmap(0, PAGES * PAGE, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    b = mmap(0, PAGES * PAGE, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    heap = malloc(PAGES * PAGE);
    touch();
    pid_t child = fork();
    if (!child) {
        touch();
        _exit(0);
    }
    return waitpid(child, 0, 0) != child;
}
END
    cc -O1 -g -o forks forks.c
    cc -O1 -g -static -o forks-static forks.c
    for program in forks forks-static; do
        for own in --own-allocator ''; do
            # shellcheck disable=SC2086
            capture $own "./$program"
            cf-resolve -q t.cf | cf-select --function touch | cf-cat --csv --columns op,region,page |
                grep ^store | sort | uniq -c | awk '{ print $1 }' >times
            # each of both processes, and nothing by a name of its own
            [[ $(sort -u times) == 2 && $(grep -c . times) == 200 ]] || fail "$program $own: $(sort times | uniq -c)"
        done
    done
}

@test "what Valgrind loads into a program is left out: its mappings, its code, accesses to it" {
    cat >c.c <<'END'
#include <stdlib.h>
#include <unistd.h>
#include <sys/wait.h>

static char *volatile kept;

int main(void)
{
    pid_t child = fork();

    for (int i = 0; i < 1000; i++) {
        kept = malloc(100);
        *kept = 1;
        free(kept);
    }
    return child && wait(NULL) != child;
}
END
    printf '#include <map>\nint main()\n{\n    std::map<int, int> m;\n    for (int i = 0; i < 1000; i++)\n        m[i * 7919 %% 1000] = i;\n    try {\n        throw 1;\n    } catch (int) {\n        return 0;\n    }\n}\n' >cc.cc
    cc -O1 -g -o c c.c
    "${CXX:-c++}" -O1 -g -o cc cc.cc
    for program in c cc; do
        capture -i --calls "./$program"
        rows map --columns label >labels
        grep -q '/libc' labels
        run ! grep vgpreload labels
        # Nothing lies outside of the mappings, as it would where they alone were left out.
        cf-resolve -q -o r.cf t.cf
        cf-rank -q --by region,function --op load,store,ifetch --csv r.cf | tail -n +2 >ranking
        run ! grep -E 'vgpreload|,,' ranking
        cf-fold --value loads r.cf >folded
        run ! grep 'unknown' folded
        # Without instructions of its own time is that of the others.
        last=$(rows task --columns time,op | hawk -F , '$2 == "exit" && $1 > n { n = $1 } END { print n }')
        [ "$(rows access --columns op,insns | hawk -F , '{ n += $2 } END { print n }')" = "$last" ]
    done
    # Calls return from it; its heap blocks are known.
    capture --calls ./c
    cf-resolve -q -o r.cf t.cf
    [ "$(rows object --columns op,bytes | sort | uniq -c | awk '$2 ~ /,100$/ { print $1 $2 }' | paste -sd' ')" = "2000alloc,100 2000free,100" ]
    run -0 cf-rank -q --by source,stack --op store --csv r.cf
    [ "$(grep -c 'c.c:13,' <<<"$output")" = 1 ]
    [[ $output =~ c.c:13,[a-zA-Z_0-9\;]*\;__libc_start_call_main\;main,2000, ]] || fail "$output"
}

@test "execve of a name without a slash is of the folder, not of PATH" {
    cat >bare.c <<'END'
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    char *to[] = {argv[2], NULL}, *none[] = {NULL};
    if (argv[1][0] == 'e') execve(argv[2], to, none);
    else syscall(SYS_execveat, AT_FDCWD, argv[2], to, none, argv[1][0] == 'n' ? AT_SYMLINK_NOFOLLOW : 0);
    return argc != 3 || puts(strerrorname_np(errno)) < 0;
}
END
    cc -o bare bare.c
    printf '#!/bin/sh\necho MINE\n' >ls
    cp "$(type -P true)" cat
    chmod +x ls
    ln -s ls link
    local way name
    for way in e a n; do
        for name in ls cat link nothere tail "$(printf 'n%.0s' {1..256})"; do
            ./bare $way $name >natively
            cf-capture-trace -q --command-output traced -o t.cf -- ./bare $way $name 2>said || fail "$way $name: $(<said)"
            same natively traced || fail "$way $name"
        done
    done
    # where the name has no place below the stack, the call fails
    cat >narrow.c <<'END'
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
static ucontext_t back, narrow;
static int error;
static void call(void) { char *to[] = {"ls", NULL}, *none[] = {NULL}; execve("ls", to, none); error = errno; }
int main(void)
{
    char *two = mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    getcontext(&narrow);
    mprotect(two + 4096, 4096, PROT_READ | PROT_WRITE);
    narrow.uc_stack.ss_sp = two + 4096;
    narrow.uc_stack.ss_size = 4096;
    narrow.uc_link = &back;
    makecontext(&narrow, call, 0);
    swapcontext(&back, &narrow);
    return puts(strerrorname_np(error)) < 0;
}
END
    cc -O1 -o narrow narrow.c
    [[ $(./narrow) == MINE ]]
    cf-capture-trace -q --command-output traced -o t.cf -- ./narrow
    [[ $(<traced) == ENOMEM ]]
}

@test "a pipe carries what a file has, without what Valgrind loads there too" {
    cat >reads.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads Valgrind's libraries, among other accesses. */
int main(void)
{
    static volatile char own[65536];
    FILE *maps = fopen("/proc/self/maps", "r");
    unsigned long start, end, sum = 0;
    char line[4096];

    /* Not to the end: the ring's name has a process's number, in as many digits as that takes. */
    while (fgets(line, sizeof line, maps) && (strstr(line, "vgpreload") || !sum))
        if (strstr(line, "vgpreload") && sscanf(line, "%lx-%lx r", &start, &end) == 2)
            for (unsigned long at = start; at < end; at += 256) {
                sum += *(volatile unsigned char *)at;
                memset((char *)own, 1, at % 4096);
            }
    return sum == 0;
}
END
    cc -O1 -o reads reads.c
    for program in ./reads "$P/static"; do
        for options in -q -qi; do
            cf-capture-trace $options -o file.cf -- "$program" mixed
            cf-capture-trace $options -- "$program" mixed 2>/dev/null | cat >pipe.cf
            cf-cat --verify pipe.cf
            for table in access object; do
                columns=time,op,size,addr,pc
                [ $table = access ] || columns=time,op,addr,bytes
                for form in file pipe; do
                    # the dynamic linker looks at the characters of a path that is another each time
                    cf-cat -q --csv --table $table --columns $columns $form.cf |
                        grep -v ',0x40[0-9a-f]\{5\}$' >$form.csv
                done
                cmp file.csv pipe.csv
            done
        done
    done
    cf-cat --dump -n 0 pipe.cf | grep -q 'addr .* addresses ' # not as rows
}

@test "threads that take turns all the time: no frame for each turn" {
    cat >turns.c <<'END'
#include <pthread.h>
#include <semaphore.h>

enum { TURNS = 3000 };
static sem_t here, there;
static volatile int number;

static void *other(void *arg)
{
    for (int i = 0; i < TURNS; i++) {
        sem_wait(&here);
        number++;
        sem_post(&there);
    }
    return arg;
}

int main(void)
{
    pthread_t thread;

    sem_init(&here, 0, 0);
    sem_init(&there, 0, 0);
    pthread_create(&thread, NULL, other, NULL);
    for (int i = 0; i < TURNS; i++) {
        sem_post(&here);
        sem_wait(&there);
    }
    pthread_join(thread, NULL);
    for (int i = 0; i < 400000; i++)
        number++;
    return 0;
}
END
    cc -O1 -static -pthread -o turns turns.c
    cf-capture-trace -q -i ./turns | cat >t.cf
    cf-cat --verify t.cf
    (($(rows switch | wc -l) >= 6000))
    (($(cf-cat --dump -n 0 t.cf | grep -c 'table access,') < 400))
    # the long turn at the end, 1,200,000 accesses, goes as stretches
    (($(cf-cat --dump -n 0 t.cf | awk '$3 == "at" { n = $8 } $2 == "addr" && $4 == "addresses" { rows += n } END { print rows }') > 1000000))
}

@test "mappings and heap blocks at many points are those that the program finds itself" {
    cc -O1 -no-pie -pthread -o replay "$ROOT/capture/trace/test/replay.c"
    for what in maps 'maps x' heap family; do
        # shellcheck disable=SC2086 # two words
        capture -f --command-output out ./replay $what
        [ "$(grep -c point out)" -gt 9 ]
        # Behind that Valgrind lies, and the stack.
        replayed t.cf ./replay out 58000000 0
    done
    capture --command-output out "$P/replay" heap
    grep -q held out
    replayed t.cf "$P/replay" out 58000000 0
}

@test "--function goes on behind a signal on a stack of its own" {
    capture --function measured "$P/replay" altstack
    marks=$(nm "$P/replay" | awk '$3 == "marks" { print $1 }')
    for i in 10 11; do
        [ "$(rows access --columns op,addr | grep -c "store,$(printf 0x%x $((16#$marks + 8 * i)))")" = 100 ]
    done
}

@test "--function records only while it is on the stack" {
    capture --function measured "$P/static" function
    read -r a b < <("$P/static" addresses)
    rows access --columns op,addr | hawk -F , -v a="$a" -v b="$b" '
        BEGIN { a = hex(a); b = hex(b) }
        $1 == "store" { x = hex($2); if (x >= a && x < a + 8000) in_a++
                        if (x >= b && x < b + 8000) in_b++ }
        END { exit !(in_a == 11 && in_b == 0) }'
    run --separate-stderr cf-capture-trace -o t.cf --function nothing "$P/static" function
    [[ $stderr == *nothing* ]]
}

@test "--limit: exactly so many, wherever a frame, a batch or an allocation falls" {
    for n in 1 2 100 4096 16384 16385 32768 65536; do
        run -0 timeout 1800 cf-capture-trace -q --limit $n -o t.cf "$P/static" mixed
        [ "$(rows access | wc -l)" = $n ]
    done
    run -0 timeout 1800 cf-capture-trace -q --limit 262144 -o t.cf sort -u "$ROOT/formats/stream/cf.h"
    [ "$(rows access | wc -l)" = 262144 ]
}

@test "a TMPDIR that cannot be used ends no program, nor does one that a program gives to the next" {
    mkdir -p relative
    for directory in /nonexistent "" relative "$PWD/t.cf" "$PWD"; do
        run -0 env TMPDIR="$directory" cf-capture-trace -q -o t.cf \
            sh -c 'cd /; TMPDIR=/none/of/these sh -c "echo \$TMPDIR; :"; exec tr "\0" " " </proc/self/cmdline'
        [[ $output == /none/of/these$'\n'"sh -c cd /"* ]] || fail "$directory: $output"
        [ "$(rows task --columns pid,op | grep -c 'begin$')" = 2 ] || fail "$directory"
    done
}

@test "--limit" {
    capture --limit 12345 "$P/static" mixed
    [ "$(rows access | wc -l)" = 12345 ]
    cf-cat --verify t.cf
}

@test "the program's own status and streams" {
    run -7 cf-capture-trace -o t.cf sh -c 'cat; echo e >&2; exit 7' <<<hello
    [ "$output" = $'hello\ne' ]
    run -127 cf-capture-trace -o t.cf ./no-such-program
    echo 'no program' >text
    run -126 cf-capture-trace -o t.cf ./text
    run -2 cf-capture-trace
    run -2 cf-capture-trace --fetch-line 32 -o t.cf true
    has "give -i as well"
    run -3 env PATH=/nonexistent "$B/bin/cf-capture-trace" -o t.cf "$P/p" mixed
    [[ $output == *"install the package valgrind"* ]]
    cf-capture-trace --command-output out sh -c 'echo hello' >t.cf
    [ "$(cat out)" = hello ]
    cf-cat --verify t.cf
}

@test "a program has the environment that it has by itself, and VALGRIND_LIB and LD_PRELOAD" {
    env -i PATH="$PATH" A='b c' env >alone
    env -i PATH="$PATH" A='b c' cf-capture-trace -q -o t.cf -- env >got
    grep -vE '^(VALGRIND_LIB|LD_PRELOAD)=' got | same - alone
    [ "$(grep -cE '^(VALGRIND_LIB|LD_PRELOAD)=' got)" = 2 ]
}

@test "a program has the open files that it has by itself: what is closed stays so" {
    # Valgrind's own are beyond its limit; one that it executes has them, too
    local program='ls /proc/self/fd; exec sh -c "exec ls /proc/self/fd"'
    (
        ulimit -Sn 400
        for closed in '' '<&-' '2>&-' '<&- 2>&-'; do
            eval "sh -c '$program' $closed" >alone
            eval "cf-capture-trace -q -o t.cf sh -c '$program' $closed" >all
            awk '$1 < 400' all | diff alone - || fail "$closed"
        done
    )
    run -0 eval 'cf-capture-trace -q -o t.cf sh -c "echo lost || echo failed >&2" 2>&1 >&-'
    has failed
    has_not lost
}

@test "as the manual has it: 12 descriptors are Valgrind's, and so is the name until one is set" {
    local limits='ulimit -Sn; ulimit -Hn; ulimit -n $(($(ulimit -n) + 1)) 2>/dev/null || echo no'
    run -0 bash -c 'ulimit -n 100; cf-capture-trace -q -o t.cf sh -c "$1"' - "$limits"
    is $'88\n88\nno'
    run -0 bash -c 'ulimit -Sn 100; ulimit -Hn 105; cf-capture-trace -q -o t.cf sh -c "$1"' - "$limits"
    is $'93\n93\nno'
    run -0 bash -c 'ulimit -Sn 100; ulimit -Hn 112; cf-capture-trace -q -o t.cf sh -c "$1"' - "$limits"
    is $'100\n100\nno'
    for n in 12 14 15; do
        run -3 bash -c 'ulimit -n "$1"; cf-capture-trace -o few.cf true' - $n
        is 'cf-capture-trace: the hard limit of open files (ulimit -Hn) must be 16 at least: Valgrind takes 12'
    done
    run -3 bash -c 'ulimit -n 15; cf-capture-trace --probe'
    has 'ulimit -Hn'
    run -2 bash -c 'ulimit -n 16; cf-capture-trace -o few.cf "$1" 2>&1' - "$P/static" # as by itself
    is ''
    run -0 cf-capture-trace -q -o t.cf sh -c 'cat /proc/self/comm; exec cat /proc/self/comm'
    [[ $output =~ ^cftrace-a(md|rm)64-l$'\n'cftrace-a(md|rm)64-l$ ]] || fail "$output"
    rows task --columns op,label | sed -n 's/^name,//p' | same <(printf 'cat\ncat\n') -
}

@test "where /proc is missing, that is what is said; what needs none finds its files" {
    local bin i
    unshare -rm true 2>/dev/null || skip "not permitted: unshare -rm"
    bin=$(command -v cf-capture-trace)
    bin=${bin%/*}
    ln -s "$bin" bin
    cat >without.sh <<'END'
mount -t tmpfs none /proc || exit 77
cf-capture-trace --probe
cf-capture-trace -o "$1/t.cf" true 2>&1
cd "$1"
for name in cf-cache bin/cf-cache "$2/cf-cache"; do
    "$name" -m raspberry-pi-4 --summary "$3" | sed -n 2p
done
END
    run unshare -rm bash without.sh "$T" "$bin" "$ROOT/samples/sort.cf"
    [[ $status != 77 ]] || skip "no tmpfs can be mounted"
    {
        echo '/proc/self/exe cannot be read, nor what else Valgrind needs of /proc: mount it'
        echo 'cf-capture-trace: /proc/self/exe cannot be read, nor what else Valgrind needs of /proc: mount it'
        for i in 1 2 3; do cf-cache -m raspberry-pi-4 --summary "$ROOT/samples/sort.cf" | sed -n 2p; done
    } >said
    same said - <<<"$output"
}

@test "a live stream does not sit on data" {
    mkfifo pipe silent
    exec 8<>silent
    cf-capture-trace -q --command-output out cat <silent >pipe 3>&- 8>&- &
    # It waits for input, so these are not those that the end of the program brings.
    timeout 1800 bash -c 'cf-cat --csv --table access <pipe | head -n 1000 | tail -n 1' >row
    [ -s row ]
    exec 8>&-
    wait || true
}

@test "SIGINT and SIGTERM reach the program and end the stream properly" {
    for signal in INT TERM; do
        run -$((128 + $(kill -l $signal))) env --default-signal=$signal \
            cf-capture-trace -q -o t.cf sh -c "kill -$signal \$PPID; while :; do :; done"
        cf-cat --verify t.cf
    done
}

@test "a signal that meets Valgrind before it handles any: nothing was recorded, and nobody failed" {
    cc -I "$ROOT" -o valgrind "$ROOT/capture/trace/test/stand_in.c"
    echo older >t.cf
    PATH=$PWD:$PATH STAND_IN=early run -143 cf-capture-trace --function f -o t.cf true
    is "cf-capture-trace: t.cf: not written: nothing was recorded"
    [ "$(<t.cf)" = older ]
}

@test "what is in the pipe when a program ends by a signal is recorded" {
    cc -I "$ROOT" -o valgrind "$ROOT/capture/trace/test/stand_in.c"
    PATH=$PWD:$PATH STAND_IN=late run -143 cf-capture-trace -o t.cf true
    is ''
    [ "$(rows map | wc -l)" = 200 ]
}

@test "a signal that was ignored stays ignored, for the program too" {
    run -0 --separate-stderr env --ignore-signal=INT,TERM \
        cf-capture-trace -q -o t.cf sh -c 'kill -INT $$ $PPID; kill -TERM $$ $PPID; echo on'
    is on
    cf-cat --verify t.cf
}

@test "a reader that goes away does not disturb the program" {
    cf-capture-trace -q --command-output out "$P/static" threads 2>err | head -c 1000 >/dev/null || true
    [[ ! -s err ]] || fail "$(<err)"
    run -3 bash -c "cf-capture-trace -q --command-output out '$P/p' mixed >/dev/full"
    ends_unread cf-capture-trace -q --command-output out "$P/replay"
    run -3 unread cf-capture-trace -q --resolve -o none/t.cf "$P/replay"
}

@test "the tool is made for what Valgrind's headers say: one more alignment from 3.22 on" {
    cp -r /usr/include/valgrind newer
    sed -i -E 's/(__VALGRIND_MINOR__ +)[0-9]+$/\122/' newer/valgrind.h
    sed -i -E '/new_aligned|pmemalign/s/SizeT align\b/SizeT align, SizeT orig_align/' newer/pub_tool_tooliface.h
    sed -i -E 's/void\* +(VG_\(am_shadow_alloc\))/SysRes \1/' newer/pub_tool_aspacemgr.h
    cd "$ROOT"
    for include in "$T/newer" /usr/include/valgrind; do
        make -s -f capture/trace/build.mk B="$T/b" VG_INCLUDE="$include" "$T"/b/obj/trace/tool_{heap,transport}.o
        rm -r "$T/b"
    done
    sed -i 's/, SizeT orig_align//' "$T/newer/pub_tool_tooliface.h"
    run make -s -f capture/trace/build.mk B="$T/b" VG_INCLUDE="$T/newer" "$T/b/obj/trace/tool_heap.o"
    [ "$status" != 0 ]
    has "incompatible"
}

# The blocks that limits.c's heap() allocates, and how often each is released.
blocks() {
    rows object --columns op,bytes | grep -E ',(100[1-7]|10000[23]|7028|1088)$' | sort -V | uniq -c | sed 's/^ *//'
}
expected_blocks='1 alloc,1001
1 alloc,1005
1 alloc,1006
1 alloc,1007
1 alloc,1088
1 alloc,7028
1 alloc,100002
1 alloc,100003
1 free,1001
1 free,1005
1 free,1006
1 free,1088
1 free,7028
1 free,100002
1 free,100003'

@test "heap blocks of static programs, and of ones with an allocator of their own" {
    cat >own.c <<'END2'
#include <stddef.h>
#include <string.h>
static char pool[1 << 24];
static size_t used;
void *malloc(size_t n)
{
    size_t *p = (size_t *)(pool + used);
    *p = n;
    used += (n + 31 + 64) & ~(size_t)63;
    return p + 2;
}
void free(void *p) { (void)p; }
void *calloc(size_t a, size_t b) { return malloc(a * b); }
void *realloc(void *p, size_t n)
{
    void *q = malloc(n);
    return p ? memcpy(q, p, ((size_t *)p)[-2] < n ? ((size_t *)p)[-2] : n) : q;
}
END2
    local limits=$ROOT/capture/trace/test/limits.c
    cc -O1 -pthread -o dynamic "$limits"
    cc -O1 -pthread -fno-builtin -o own "$limits" own.c
    cc -O1 -pthread -static -o static "$limits"
    cc -O1 -pthread -static-pie -o static-pie "$limits"
    for program in dynamic own static static-pie; do
        run -0 cf-capture-trace -o t.cf ./$program heap
        is ''
        run blocks
        is "$expected_blocks"
        # A block has the call stack of who asked for it.
        cf-resolve -q t.cf | cf-cat --csv --table object --columns bytes,site | grep -q '^1001,.*heap'
    done
    # Without symbols nothing tells where its allocator is.
    strip static
    run -0 cf-capture-trace -o t.cf ./static heap
    has "no heap block was seen"
    run -0 cf-capture-trace -q -o t.cf ./static heap
    is ''
}

@test "a place with a blank, a colon or a dollar in its name" {
    # shellcheck disable=SC2016 # no expansion is meant
    local place='a b:c $LIB'
    mkdir "$place"
    cp -r "$P/same/bin" "$P/same/libexec" "$place"
    run -0 "$place/bin/cf-capture-trace" -o t.cf "$P/limits" heap
    is ''
    run blocks
    is "$expected_blocks"
    run -0 "$place/bin/cf-capture-trace" -f -o t.cf sh -c '"$P/limits" heap; exit'
    is ''
    run blocks
    is "$expected_blocks"
}

@test "hundreds of threads, a big stack, a program that runs itself" {
    ln "$P/limits" .
    run -0 cf-capture-trace -o t.cf ./limits threads 600
    [ "$(rows task --columns op | grep -c exit)" = 601 ]
    run cf-capture-trace -o t.cf --max-threads 100 ./limits threads 100
    [ "$status" != 0 ]
    has "cf-capture-trace: the program made more threads than can be recorded: see --max-threads"
    run -2 cf-capture-trace --max-threads 99 ./limits
    run -0 bash -c 'ulimit -S -s 65536 && cf-capture-trace -q -o t.cf ./limits stack 40'
    for how in self pid; do
        run -5 cf-capture-trace -o t.cf ./limits $how
        is ''
        run -5 cf-capture-trace -f -o t.cf ./limits $how
        is ''
        rows task --columns op,label >tasks
        grep -qx 'name,limits' tasks
    done
}

@test "a directory that cannot be removed is told" {
    mkdir tmp
    # shellcheck disable=SC2016 # for the shell that is recorded
    run -0 env TMPDIR="$PWD/tmp" cf-capture-trace -q -f -o t.cf -- sh -c 'cd "$TMPDIR"/cf-trace.* && mkdir x'
    is "cf-capture-trace: $(echo "$PWD"/tmp/cf-trace.*): could not be removed"
    run -0 env TMPDIR="$PWD/tmp" cf-capture-trace -q -f -o t.cf -- true
    is ''
}

@test "what could not be removed at first is, when the program has ended; a log that cannot be read is none" {
    mkdir tmp
    if ! sanitized && [[ $(uname -m) == x86_64 ]]; then # the leak sanitizer does not work under strace
        need strace "to have a call fail"
        run -0 env TMPDIR="$PWD/tmp" strace -qqo calls -e trace=rmdir -e inject=rmdir:error=ENOTEMPTY:when=1 \
            cf-capture-trace -q -o t.cf true
        is ''
        [ "$(grep -c ENOTEMPTY calls)" = 1 ]
        run ! test -e "$(sed -n 's/.*"\(.*\)".*ENOTEMPTY.*/\1/p' calls)"
    fi
    unshare -m true 2>/dev/null || skip "not permitted: unshare -m"
    # shellcheck disable=SC2016 # for the shells inside
    run -7 unshare -m --propagation private sh -c 'mount -t tmpfs none /dev/shm &&
        exec cf-capture-trace -o t.cf sh -c "cd /dev/shm/cf-trace.* && rm log && ln -s none log; exit 7"'
    is ''
}

@test "programs for another machine are cf-capture-qemu's" {
    need aarch64-linux-gnu-gcc "the cross compiler"
    echo 'int main(void) { return 0; }' | aarch64-linux-gnu-gcc -o arm64 -x c -
    cp "$P/p" narrow
    printf '\x01' | dd of=narrow bs=1 seek=4 conv=notrunc status=none
    for program in arm64 narrow; do
        run -126 cf-capture-trace -o t.cf ./$program
        is "cf-capture-trace: ./$program: made for another architecture or word size: use 'cf-capture qemu'"
        [ ! -e t.cf ]
    done
}

@test "a recording says when and where it was made, and keeps that; an import does not" {
    SOURCE_DATE_EPOCH=1700000000 cf-capture trace -o a.cf -- true
    cf-cat --info a.cf >info
    grep -q '^recorded: {date: "2023-11-14T22:13:20Z", host: "'"$(uname -n)"'", kernel: "'"$(uname -srm | sed 's/ [^ ]*$//')"' ' info
    grep -q 'tool: "cacheflow [0-9.]*"}$' info
    # by filters and merges, too
    cf-distance a.cf | cf-cat --info | grep '^recorded: ' | cmp - <(grep '^recorded: ' info)
    printf 'time,op,addr\n1,load,1\n' | stream b.cf
    cf-cat --info b.cf >info
    ! grep -q '^recorded: ' info || false
    run -3 --separate-stderr env SOURCE_DATE_EPOCH=soon cf-capture trace -o no.cf -- true
    has 'SOURCE_DATE_EPOCH: no seconds since 1970' "$stderr"
    # what it says of today is today's
    cf-capture trace -o c.cf -- true
    cf-cat --info c.cf | grep -q "^recorded: {date: \"20[0-9][0-9]-"
}

@test "where SIGCHLD is ignored, the program's status is its own" {
    run -7 bash -c 'trap "" CHLD; exec cf-capture trace -o a.cf -- bash -c "exit 7"'
    cf-cat --verify a.cf
    run -0 bash -c 'trap "" CHLD; exec cf-capture trace --resolve -o b.cf -- true'
    cf-cat --verify b.cf
}
