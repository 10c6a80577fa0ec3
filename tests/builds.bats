#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# shellcheck disable=SC2154 # bats sets output, status and lines
#
# Which builds of files were mapped: recorded by cf-capture-trace, handed on by all that read and write
# streams, and looked at by cf-resolve. What cf-resolve makes of them in all cases is in its suite.
# And names that are given while the program runs (--resolve).

load lib

SOURCE=$ROOT/capture/trace/test/programs.c

setup_file() {
    # only Valgrind itself may be missing: a tool of ours that does not work is a failure
    command -v valgrind >/dev/null || skip "no Valgrind"
    cf-capture-trace --probe
    cd "$BATS_FILE_TMPDIR" || return 1
    cc -O1 -g -no-pie -pthread -c -o p.o "$SOURCE"
    cc -no-pie -pthread -o p p.o
}

setup() {
    export P=$BATS_FILE_TMPDIR
    lib_setup
}

# capture PROGRAM...: into t.cf, quietly.
capture() {
    cf-capture-trace -q -o t.cf "$@"
}

mapped() {
    cf-cat --csv --table map --columns op,label,build t.cf | tail -n +2
}

# builds FILE: what table map has of the file.
builds() {
    mapped | sed -n "s,^map\,$(realpath -m "$1")\,,,p" | sort -u
}

build_id() {
    readelf -n "$1" | awk '/Build ID/ { print "build-id:" $3 }'
}

@test "mappings state which build of a file they have" {
    capture "$P/p" fork
    [ "$(builds "$P/p")" = "$(build_id "$P/p")" ]
    libc=$(ldd "$P/p" | awk '/libc.so/ { print $3 }')
    [ "$(builds "$libc")" = "$(build_id "$libc")" ]
    # Of memory nothing is stated, of every file something is.
    [ -z "$(mapped | awk -F , '$1 == "map" && ($2 ~ "^/") != ($3 != "")')" ]
    cc -no-pie -static -Wl,--build-id=none -pthread -o none "$P/p.o"
    capture ./none fork
    [ "$(builds none)" = "$(stat -c 'size:%s mtime:%.9Y' none)" ]
    cc -no-pie -static -Wl,--build-id=0xab -pthread -o short "$P/p.o"
    capture ./short fork
    [ "$(builds short)" = build-id:ab ]
}

@test "a file that is replaced right after it was mapped is none of the new build" {
    cat >replaces.c <<'END'
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int fd = open("mapped", O_RDONLY);
    /* The recorder sees nothing until all is done. */
    kill(getppid(), SIGSTOP);
    void *p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
    int bad = p == MAP_FAILED || (argc == 3 ? rename(argv[1], argv[2]) : unlink(argv[1]));
    kill(getppid(), SIGCONT);
    return bad;
}
END
    cc -static -o replaces replaces.c
    cp "$P/p" mapped
    cp "$P/p" new && strip -g new
    capture ./replaces new mapped
    [ "$(builds mapped)" = unknown ]
    [ "$(builds replaces)" = "$(build_id replaces)" ]
    capture ./replaces mapped
    [ "$(builds mapped)" = unknown ]
    # What is still there is looked at, however late.
    cp "$P/p" mapped
    touch other
    capture ./replaces other
    [ "$(builds mapped)" = "$(build_id "$P/p")" ]
    # Notes that end beyond their data, or are of no length; headers that are not there.
    at=$(readelf -SW "$P/p" | awk '{ sub(/^ *\[ */, "") } $2 == ".note.gnu.build-id" { print $5 }')
    for size in '\xff\xff\xff\xff' '\x00\x00\x00\x00' '\x00\x10\x00\x00' cut; do
        # shellcheck disable=SC2059
        printf "$size" | dd of=mapped bs=1 seek=$((0x$at + 4)) conv=notrunc status=none
        [ "$size" != cut ] || truncate -s 100 mapped
        touch other
        capture ./replaces other
        [ "$(builds mapped)" = "$(stat -c 'size:%s mtime:%.9Y' mapped)" ]
    done
}

@test "builds pass through what reads and writes streams" {
    capture "$P/p" fork
    mapped | grep ^map | sort -u >want
    [ -s want ]
    passed() {
        cf-cat --csv --table map --columns op,label,build "$1" | grep '^map,' | sort -u | diff want -
    }
    cf-merge -q -o merged.cf t.cf
    passed merged.cf
    cf-merge -q --interleave --cores 2 -o side.cf t.cf
    passed side.cf
    cf-merge -q --schedule fair:1000 -o scheduled.cf t.cf
    passed scheduled.cf
    cf-select -q --op store -o stores.cf t.cf
    passed stores.cf
    cf-resolve -q -o resolved.cf t.cf
    passed resolved.cf
    cf-cat -q -o packed.cf t.cf
    passed packed.cf
    cf-cat -q --slice "$(($(cf-cat --csv --columns time t.cf | tail -n 1) - 10))-" -o slice.cf t.cf
    passed slice.cf
    cf-cat --csv t.cf >access.csv
    cf-cat --csv --table map t.cf >map.csv
    cf-capture csv -q -o imported.cf --with map=map.csv access.csv
    passed imported.cf
}

@test "a rebuilt program is not named after what it has become" {
    cat >fill.c <<'END'
int words[1000];
__attribute__((noinline)) void fill_first(void)
{
    for (int i = 0; i < 1000; i++)
        words[i] = i;
}
int main(void)
{
    fill_first();
    return 0;
}
END
    cc -O1 -g -static -o fill fill.c
    capture ./fill
    run -0 --separate-stderr bash -c 'cf-resolve t.cf | cf-rank --by function --csv'
    has fill_first
    has_not build "$stderr"
    sed -i 's/fill_first/something_else/; 1i int more;' fill.c
    cc -O1 -g -static -o fill fill.c
    run -0 --separate-stderr bash -c 'cf-resolve t.cf | cf-rank --by function --csv'
    has_not something_else
    has_not fill_first
    [ "$(grep -c 'not the build that was recorded' <<<"$stderr")" = 1 ]
}

@test "--resolve: the same as recording and resolving; the program keeps its output and status" {
    cat >says.c <<'END'
#include <stdio.h>
int main(int argc, char **argv)
{
    printf("%s\n", argv[argc - 1]);
    return 5;
}
END
    cc -g -static -o says says.c
    run -5 --separate-stderr cf-capture-trace --resolve -o named.cf ./says "to standard output"
    is "to standard output"
    has "with function" "$stderr"
    run -5 --separate-stderr cf-capture-trace -q --resolve -o named.cf ./says quietly
    is quietly
    [ -z "$stderr" ]
    run -5 cf-capture-trace -q -o t.cf ./says quietly
    cf-resolve -q -o later.cf t.cf
    # What runs before and after depends on the environment.
    names() {
        cf-cat --csv --columns region,object,function,source "$1" | grep ',main,'
    }
    names later.cf >want
    names named.cf | same want -
    [ "$(wc -l <want)" -gt 5 ]
    # Into a pipe, where the program's output goes to standard error.
    bash -c 'cf-capture-trace -q --resolve ./says piped 2>said; [ $? = 5 ]' >piped.cf
    [ "$(cat said)" = piped ]
    names piped.cf | same want -
    bash -c 'cf-capture-trace -q --resolve --command-output told ./says filed; [ $? = 5 ]' >piped.cf
    [ "$(cat told)" = filed ]
    rm says
    run -0 cf-rank --by function --csv named.cf
    has main
}

@test "--resolve: signals, readers that go away, a full disk, no cf-resolve" {
    in_emulation "Valgrind does not run"
    cat >waits.c <<'END'
#include <fcntl.h>
#include <unistd.h>
int main(void)
{
    close(open("started", O_CREAT | O_WRONLY, 0666));
    for (;;)
        pause();
}
END
    cc -static -o waits waits.c
    # The whole group gets the signal: what was recorded is whole.
    set -m
    cf-capture-trace -q --resolve -o t.cf ./waits 2>/dev/null 3>&- &
    set +m
    gate started
    kill -TERM -- -$! # SIGINT may be ignored where a suite runs
    wait $! || ended=$?
    [ "$ended" = 143 ]
    cf-cat --verify t.cf
    cf-cat --csv --columns function t.cf | grep -q .
    run -141 unread env --default-signal=PIPE cf-capture-trace -q --resolve "$P/p" fork
    run -3 cf-capture-trace -q --resolve -o /dev/full "$P/p" fork
    has "cf-resolve: /dev/full: cannot write: No space left on device"
    mkdir -p alone/bin alone/libexec
    cp "$B/bin/cf-capture-trace" alone/bin
    ln -s "$B/libexec/cacheflow" alone/libexec
    run -3 env PATH=/usr/bin:/bin alone/bin/cf-capture-trace --resolve -o none.cf true
    has "--resolve: cf-resolve is missing beside this program"
    [ ! -e none.cf ]
    # one that does not end: the first signal leaves it its time, the second ends it
    printf '#!/bin/sh\ncat >got\ntouch drained\nexec sleep 600\n' >alone/bin/cf-resolve
    chmod +x alone/bin/cf-resolve
    for late in '' 'strace -qqo calls -e trace=dup2,dup3,kill -e inject=dup2,dup3:delay_exit=500000'; do
        # leaks are not found under strace; how late it learns that the other process has its input at an end
        ! sanitized || [[ ! $late ]] || continue
        rm -f drained
        $late alone/bin/cf-capture-trace --resolve -o none.cf true 2>said 3>&- &
        gate drained
        capture=$!
        [[ ! $late ]] || capture=$(pgrep -P $!)
        kill -TERM "$capture"
        kill -XFSZ "$capture" # two of one kind may come as one
        wait $! || ended=$?
        [[ $ended == 143 || $ended == 153 ]]
        has "cf-resolve was ended by signal 9" "$(<said)"
        # the program, whose number may be another's by now, gets nothing any more
        if [[ $late ]]; then
            grep -q SIGKILL calls
            run ! grep 'SIG.*ESRCH' calls
        fi
    done
}

@test "--resolve of a program of another architecture" {
    in_emulation "this machine's emulators load no plugin for another"
    need aarch64-linux-gnu-gcc "the cross compiler"
    need qemu-aarch64 "the emulator"
    aarch64-linux-gnu-gcc -O1 -g -pthread -o arm64 "$ROOT/capture/qemu/test/programs.c"
    cf-capture-qemu -q --resolve -o t.cf ./arm64 known 1
    rm arm64
    run -0 cf-rank --by function --csv t.cf
    has known
}
