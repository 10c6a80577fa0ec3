#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# shellcheck disable=SC2154 # bats sets output, status and lines
#
# cf-capture-qemu: one C source (programs.c) compiled for several architectures, whose accesses
# follow from the source; and for this machine's own, cf-capture-trace as witness.

# Takes long: an emulator.
load lib

ARCHS="aarch64 arm riscv64 sparc64 x86_64"

setup_file() {
    command -v qemu-aarch64 >/dev/null || skip "no qemu-user (the package, not -static)"
    cf-capture-qemu --probe
    cd "$BATS_FILE_TMPDIR" || return 1
    local arch cc flags
    for arch in $ARCHS; do
        cc=$(compiler_of "$arch")
        flags=
        # One whose accesses do not move, so that they can be compared with another recording.
        [[ $arch == x86_64 ]] && flags="-static -no-pie"
        command -v "$cc" >/dev/null || continue
        # shellcheck disable=SC2086
        "$cc" -O1 -g $flags -pthread -o "$arch" "$ROOT/capture/qemu/test/programs.c"
    done
}

setup() {
    P=$BATS_FILE_TMPDIR
    lib_setup
}

compiler_of() {
    case $1 in
    arm) echo arm-linux-gnueabihf-gcc ;;
    x86_64) [[ $(uname -m) == x86_64 ]] && echo gcc || echo x86_64-linux-gnu-gcc ;;
    *) echo "$1-linux-gnu-gcc" ;;
    esac
}

# needs ARCH: skips the test without its compiler or emulator.
needs() {
    need "$(compiler_of "$1")" "the cross compiler"
    need "qemu-$1" "the emulator"
    [[ -x $P/$1 ]] || fail "$1 was not compiled"
}

capture() {
    cf-capture-qemu -q -o t.cf "$@"
}

table() {
    cf-cat --csv --table "$1" "${@:2}" t.cf | tail -n +2
}

# What known() does to the arrays, as "op size array index".
expected() {
    awk 'BEGIN {
        for (i = 0; i < 1000; i++) print "load", 4, "words", i
        for (i = 999; i >= 0; i--) print "store", 4, "words", i
        for (i = 0; i < 1000; i += 3) { print "load", 1, "bytes", i; print "store", 2, "halves", i }
    }'
}

# The same of a recording, from resolved columns, with the addresses from the ELF file's symbols.
# $1 the file, and of it the places of the arrays; $2 resolved recording
observed() {
    nm "$1" >symbols
    cf-cat --csv --table access --columns op,size,addr,symbol,function "$2" |
        awk -F, '
            function hex(s,    i, n) {
                for (i = 1; i <= length(s); i++)
                    n = n * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
                return n
            }
            FILENAME == "symbols" { split($0, s, " "); at[s[3]] = hex(s[1]); next }
            $1 == "op" || $5 != "known" || !($4 in at) || $4 !~ /^(words|bytes|halves)$/ { next }
            {
                a = hex(substr($3, 3)) - at[$4]
                # Where a position-independent program lies is the same for all its arrays.
                if (!known) { bias = a; known = 1 }
                print $1, $2, $4, (a - bias) / ($4 == "words" ? 4 : $4 == "halves" ? 2 : 1)
            }' symbols -
}

agrees() {
    needs "$1"
    capture "$P/$1"
    cf-resolve -q -o r.cf t.cf
    expected >a
    observed "$P/$1" r.cf >b
    [ "$(wc -l <b)" = 2668 ]
    same a b
    # Function and source line of foreign code have names.
    cf-cat --csv --table access --columns function,source r.cf | grep -q '^known,.*programs.c:'
}

@test "aarch64: the test function's accesses are what its source says" {
    agrees aarch64
}

@test "arm: the test function's accesses are what its source says" {
    agrees arm
}

@test "riscv64: the test function's accesses are what its source says" {
    agrees riscv64
}

@test "sparc64: the test function's accesses are what its source says" {
    agrees sparc64
}

@test "sparc32plus: the test function's accesses are what its source says" {
    needs sparc64
    need qemu-sparc32plus "the emulator"
    # There are no 32-bit libraries in the packages that we ask for.
    { sed -n '/^uint32_t words/,/^static void \*thread/p' "$ROOT/capture/qemu/test/programs.c" | sed '$d' |
        sed 's/^static void.*//'; } >body.c
    cat - body.c >main.c <<'END'
#include <stdint.h>
enum { N = 1000 };
END
    cat >>main.c <<'END'
void start(void)
{
    known();
    __asm__ volatile("mov 7, %%o0; mov 1, %%g1; ta 0x10" ::: "memory");
}
END
    sparc64-linux-gnu-gcc -m32 -O1 -g -ffreestanding -nostdlib -static -fno-pic -no-pie -Wl,-e,start \
        -o sparc32plus main.c
    run -7 cf-capture-qemu -q -o t.cf ./sparc32plus
    cf-resolve -q -o r.cf t.cf
    expected >a
    observed ./sparc32plus r.cf >b
    same a b
}

@test "x86_64: the test function's accesses are what its source says" {
    agrees x86_64
}

@test "x86_64: known() does what cf-capture-trace sees, runs of instructions included" {
    needs x86_64
    [[ $(uname -m) == x86_64 ]] || skip "this machine is no x86-64"
    command -v valgrind >/dev/null || skip "no Valgrind"
    capture -i "$P/x86_64"
    cf-resolve -q -o r.cf t.cf
    cf-capture-trace -q -i -o v.cf "$P/x86_64"
    cf-resolve -q -o w.cf v.cf
    for f in r w; do
        # Lines of instructions, not runs: how far a run goes is the recorder's affair. The stack
        # lies elsewhere.
        cf-cat --csv --table access --columns op,size,addr,function,region $f.cf | awk -F, '
            function hex(s,    i, n) {
                for (i = 3; i <= length(s); i++)
                    n = n * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
                return n
            }
            $4 != "known" { next }
            $1 == "ifetch" {
                a = hex($3)
                for (x = int(a / 64); x <= int((a + $2 - 1) / 64); x++)
                    if (x != last) { last = x; print "I", x }
                next
            }
            { print $1, $2, $5 == "[stack]" ? "stack" : $3 }' >$f
    done
    [ "$(grep -c -v I r)" -gt 2668 ]
    same w r
}

@test "x86_64: a repeated string instruction is one, and its accesses are joined" {
    needs x86_64
    [[ $(uname -m) == x86_64 ]] || skip "this machine is no x86-64"
    command -v valgrind >/dev/null || skip "no Valgrind"
    gcc -O1 -g -static -no-pie -o strings "$ROOT/capture/qemu/test/strings.c"
    capture -i ./strings
    cf-capture-trace -q -i -o v.cf ./strings
    # Offsets in the arrays, in pieces that end where an aligned 32 bytes end: forwards, unless what
    # was stored is loaded again; words that reach over the end, and what goes downwards, as it is.
    cat >want <<'END2'
load from+0 32
store to+0 32
load from+32 32
store to+32 32
load to+0 1
store to+1 1
load to+1 1
store to+2 1
load to+2 1
store to+3 1
store to+7 25
store to+32 32
store to+64 23
load from+100 24
store to+87 8
store to+95 8
load from+124 8
load from+132 8
store to+103 24
load from+2 1
store to+2 1
load from+1 1
store to+1 1
load from+0 1
store to+0 1
load to+100 1
load to+101 1
load to+102 1
END2
    for f in t v; do
        cf-resolve -q --no-inline -o r.cf $f.cf
        { nm strings; cf-cat --csv --table access --columns op,addr,size,symbol,function r.cf; } | awk '
            function hex(s,    i, n) {
                for (i = 1; i <= length(s); i++)
                    n = n * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
                return n
            }
            $3 == "from" || $3 == "to" { at[$3] = hex($1) }
            split($0, c, ",") == 5 && c[5] == "strings" && c[4] in at {
                print c[1], c[4] "+" hex(substr(c[2], 3)) - at[c[4]], c[3]
            }' >got
        same want got
        # Each is one instruction, fetched and counted once: times are those of the runs.
        cf-cat --csv --table access --columns time,op,insns r.cf | awk -F, '
            $2 == "ifetch" { if ($1 != next_time) exit bad = 1; next_time = $1 + $3; n += $3 }
            NR > 1 && $1 >= next_time { exit bad = 1 }
            END { exit bad || n < 1000 }' next_time=0
    done
    # Where the program lies is the same for both, so its times in the function are too.
    cf-resolve -q v.cf | cf-cat --csv --table access --columns time,op,size,function |
        awk -F, '$4 == "strings" { if (!from) from = $1; print $1 - from, $2, $3 }' | grep -v ifetch >a
    cf-resolve -q t.cf | cf-cat --csv --table access --columns time,op,size,function |
        awk -F, '$4 == "strings" { if (!from) from = $1; print $1 - from, $2, $3 }' | grep -v ifetch >b
    same a b
}

@test "two recordings of one program are the same" {
    for arch in aarch64 riscv64 x86_64; do
        command -v "$(compiler_of "$arch")" >/dev/null || continue
        for i in 1 2; do
            cf-capture-qemu -q -i -o t.cf --emulator-option=-seed --emulator-option=1 "$P/$arch" known 3
            table access --columns time,op,size,addr,pc,insns >$i
            table map --columns time,op,start,end,offset,perms,label >>$i
        done
        cmp 1 2
    done
}

@test "mappings of the emulator are none of the program's, wherever it puts that" {
    for arch in aarch64 x86_64; do
        command -v "$(compiler_of "$arch")" >/dev/null || continue
        cf-capture-qemu -q -o t.cf "$P/$arch" known 3
        table map --columns label | sort -u >want
        cf-capture-qemu -q -o t.cf --emulator-option=-B --emulator-option=0x10000000 "$P/$arch" known 3
        table map --columns label | sort -u >got
        same want got
        [ "$(table map --columns start,label | awk -F, '$2 !~ /^\[/ && length($1) >= 14 && $1 > "0x500000000000"' | wc -l)" = 0 ]
    done
}

@test "instructions: runs hold all of them, in order with the data" {
    needs aarch64
    capture -i "$P/aarch64"
    last=$(table task --columns time,op | awk -F, '$2 == "exit" { print $1 }')
    table access --columns time,op,size,addr,pc,insns >rows
    [ "$(awk -F, '{ n += $6 } END { print n }' rows)" = "$last" ]
    # Times do not fall, and data lies in the run before it, at the instruction that its time says.
    awk -F, '
        function hex(s,    i, n) {
            for (i = 3; i <= length(s); i++)
                n = n * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
            return n
        }
        $1 < t { print "time falls: " $0; bad = 1; exit }
        { t = $1 }
        $2 == "ifetch" { start = hex($5); from = $1; n = $6; if ($3 != 4 * n) bad = 1; next }
        $1 - from >= n || hex($5) != start + 4 * ($1 - from) { print "not in its run: " $0; bad = 1; exit }
        END { exit bad }' rows
    # A line that is larger or smaller means fewer or more runs, and the same instructions.
    few=$(grep -c ifetch rows)
    capture -i --fetch-line 16 "$P/aarch64"
    [ "$(table access --columns op | grep -c ifetch)" -gt "$few" ]
    [ "$(table access --columns insns | awk '{ n += $1 } END { print n }')" -gt 0 ]
}

@test "every access lies in a mapping; program, stack, heap and libraries have names" {
    for arch in $ARCHS; do
        command -v "$(compiler_of "$arch")" >/dev/null || continue
        capture "$P/$arch" maps
        table map >maps
        grep -q 'map,.*\[stack\]' maps
        grep -q "map,.*$P/$arch" maps
        cf-resolve -q t.cf | cf-cat --csv --table access --columns addr,region >where
        # What has no name may be anonymous memory; what has no mapping has no page either.
        cf-resolve t.cf 2>&1 >/dev/null | grep -q '(100.0%)' ||
            fail "$arch: $(cf-resolve t.cf 2>&1 >/dev/null)"
    done
}

@test "mappings state which build of a file they have" {
    needs aarch64
    capture "$P/aarch64" known 1
    id=$(readelf -n "$P/aarch64" | awk '/Build ID/ { print $3 }')
    [ "$(table map --columns label,build | grep -F "$P/aarch64," | sort -u)" = "$P/aarch64,build-id:$id" ]
    [ -z "$(table map --columns op,label,build | awk -F , '$1 == "map" && ($2 ~ "^/") != ($3 != "")')" ]
    # One that is gone by the time the recorder looks: it is stopped until then.
    cat >goes.c <<'END'
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <fcntl.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int fd = open("mapped", O_RDONLY), recorder = atoi(argv[1]);
    kill(recorder, SIGSTOP);
    void *p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
    int bad = p == MAP_FAILED || rename("new", "mapped");
    kill(recorder, SIGCONT);
    return bad;
}
END
    aarch64-linux-gnu-gcc -o goes goes.c
    cp "$P/aarch64" mapped
    cp goes new
    # shellcheck disable=SC2016
    bash -c 'exec cf-capture-qemu -q -o t.cf ./goes $$'
    [ "$(table map --columns label,build | grep -F "$PWD/mapped,")" = "$PWD/mapped,unknown" ]
}

@test "mappings that come and go" {
    needs riscv64
    place=$(capture "$P/riscv64" maps)
    table map --columns op,start,end >maps
    grep -q "^map,$place," maps
    grep -q "^unmap,$place," maps
}

@test "shared memory that is attached and detached, and what is moved: mappings with their permissions" {
    cat >shared.c <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/shm.h>
int main(int argc, char **argv)
{
    int id = shmget(IPC_PRIVATE, 65000, 0600 | IPC_CREAT), fd = open(argv[argc - 1], O_RDONLY);
    volatile char *m = shmat(id, NULL, 0), *r = shmat(id, NULL, SHM_RDONLY);
    void *file = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
    shmctl(id, IPC_RMID, NULL);
    for (int i = 0; i < 16; i++)
        m[i * 4096] = 1;
    const char *own = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, open(argv[0], O_RDONLY), 0);
    printf("%p %p %p\n", (void *)m, (void *)r, (void *)own);
    shmdt((void *)r);
    return mremap(file, 4096, 8192, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)0x40000000) == MAP_FAILED;
}
END
    local arch m r own end
    for arch in aarch64 arm riscv64 x86_64; do
        needs "$arch"
        "$(compiler_of "$arch")" -static -o shared shared.c
        capture --command-output out ./shared shared.c
        read -r m r own <out
        table map --columns op,start,end,perms,label >maps
        printf -v end '%#x' $((m + 65536))
        grep -qx "map,$m,$end,11,\[shm\]" maps
        printf -v end '%#x' $((r + 65536))
        grep -qx "map,$r,$end,9,\[shm\]" maps
        grep -qx "unmap,$r,$end,0," maps
        grep -qx "map,$own,.*,1,$PWD/shared" maps # code, but asked for as data
        grep -q "^map,0x40000000,0x4000[12]000,1,$PWD/shared.c" maps
        cf-resolve -q t.cf | cf-cat --csv --table access --columns op,addr,region >accesses
        [ "$(grep -c '^store,.*\[shm\]' accesses)" = 16 ]
    done
}

@test "mappings at many points are those that the program finds itself" {
    for arch in aarch64 riscv64 x86_64; do
        needs "$arch"
        "$(compiler_of "$arch")" -O1 -no-pie -pthread -o replay "$ROOT/capture/trace/test/replay.c"
        capture --command-output out ./replay maps
        [ "$(grep -c point out)" -gt 9 ]
        # Behind that is the emulator itself, and it does not tell the program all that is there.
        replayed t.cf ./replay out 500000000000 1
    done
}

@test "what the emulator says of a signal's frame is no instruction's access" {
    needs x86_64
    # The frame is reported with the number of whatever made the last system call.
    cat >timer.c <<'END2'
#include <signal.h>
#include <sys/time.h>
volatile long marks[8];
static void handler(int number)
{
    marks[1] += number > 0;
}
__attribute__((noinline)) static void wait_for_signals(void)
{
    while (marks[1] < 20)
        marks[2]++;
}
int main(void)
{
    const struct itimerval often = {{0, 2000}, {0, 2000}};
    signal(SIGALRM, handler);
    setitimer(ITIMER_REAL, &often, 0);
    wait_for_signals();
    return 0;
}
END2
    "$(compiler_of x86_64)" -O1 -g -static -no-pie -o timer timer.c
    capture ./timer
    cf-resolve -q t.cf | cf-cat --csv --table access --columns op,size,symbol,function |
        grep ',wait_for_signals$' | sort -u >got
    printf '%s\n' load,8,,wait_for_signals load,8,marks,wait_for_signals store,8,marks,wait_for_signals >want
    same want got
}

@test "code that is overwritten, unmapped and mapped again is what it is then" {
    needs x86_64
    [[ $(uname -m) == x86_64 ]] || skip "this machine is no x86-64"
    cat >code.c <<'END2'
#include <string.h>
#include <sys/mman.h>
volatile unsigned long marks[8];
/* A function at one place, again and again: loads from or stores to marks[n]. */
static const unsigned char load[] = {0x48, 0x8b, 0x07, 0xc3}, store[] = {0x48, 0x89, 0x37, 0xc3};
static void *map(void *at)
{
    return mmap(at, 4096, 7, MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0), -1, 0);
}
int main(void)
{
    unsigned char *code = map(0);
    for (int i = 0; i < 60; i++) {
        void (*f)(volatile unsigned long *, long) = (void *)code;
        memcpy(code, i & 1 ? store : load, 4);
        f(&marks[i % 6], i);
        if (i % 3 == 0) {
            munmap(code, 4096);
            map(code);
        }
    }
    return 0;
}
END2
    gcc -O1 -static -no-pie -o code code.c
    capture ./code
    marks=$(nm code | awk '$3 == "marks" { print $1 }')
    place=$(table map --columns op,start,perms,label | awk -F, '$1 == "map" && $3 == 7 { print $2; exit }')
    # What lies there did 60 times what it was then, the return address aside.
    table access --columns op,addr,pc | awk -F, -v pc="$place" '$3 == pc { print $1, $2 }' >got
    for ((i = 0; i < 60; i++)); do
        printf '%s 0x%x\n' "$( ((i & 1)) && echo store || echo load)" $((16#$marks + 8 * (i % 6)))
    done >want
    same want got
}

@test "threads: each has its accesses, and atomic instructions load and store" {
    for arch in $ARCHS; do
        command -v "$(compiler_of "$arch")" >/dev/null || continue
        capture "$P/$arch" threads
        table task --columns tid,op,label >tasks
        grep -q 'name,first' tasks
        [ "$(grep -c begin tasks)" = 3 ]
        [ "$(grep -c exit tasks)" = 3 ]
        grep -q "begin,$arch" tasks
        cf-resolve -q t.cf | cf-cat --csv --table access --columns op,tid,symbol >rows
        # 100,000 stores of each thread into its own array.
        [ "$(awk -F, '$1 == "store" && $3 == "own" { n[$2]++ } END { for (t in n) print n[t] }' rows |
            tr '\n' ' ')" = "100000 100000 " ]
        # No atomic addition is lost; one that has to try again is more than one load.
        awk -F, '$3 == "together" { n[$1]++ }
            END { exit !(n["load"] >= 200000 && n["store"] >= 200000) }' rows
        # They took turns.
        [ "$(table switch | wc -l)" -gt 3 ]
        table access --columns time | sort -C -n
    done
}

@test "children are not recorded and do not disturb" {
    needs aarch64
    capture "$P/aarch64"
    table access >alone
    run -0 cf-capture-qemu -o t.cf "$P/aarch64" fork
    is "cf-capture-qemu: 1 child process was not recorded"
    [ "$(table task --columns pid | sort -u | wc -l)" = 1 ]
    cf-resolve -q -o r.cf t.cf
    observed "$P/aarch64" r.cf >b
    [ "$(wc -l <b)" = 2668 ]
}

@test "a child that has a child, as of a shell, runs to its end" {
    needs x86_64
    cat >nested.c <<'END'
#include <sys/wait.h>
#include <unistd.h>
static volatile int x[1000];
static int deeper(int depth)
{
    int status = 0;

    if (depth && fork() == 0) {
        for (int i = 0; i < 1000; i++) /* code that is new to the emulator */
            x[i] = depth;
        _exit(deeper(depth - 1));
    }
    if (depth)
        wait(&status);
    return WEXITSTATUS(status) + 1;
}
int main(void) { return deeper(3); }
END
    cc -O1 -o nested nested.c
    run -4 timeout -s KILL 100 cf-capture-qemu -o t.cf ./nested
    is "cf-capture-qemu: 3 child processes were not recorded"
}

@test "a program that changes to another one: that this was not recorded is told, unless it failed" {
    needs x86_64
    cat >changes.c <<'END'
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    char *const words[] = {"true", 0};

    execv("/nowhere/true", words);
    if (vfork() == 0) {
        execv("/bin/true", words);
        _exit(1);
    }
    wait(0);
    if (argc > 1)
        execv("/bin/true", words);
    return 0;
}
END
    cc -O1 -w -o changes changes.c
    run -0 cf-capture-qemu -o t.cf ./changes
    is "cf-capture-qemu: 1 child process was not recorded"
    run -0 cf-capture-qemu -o t.cf ./changes yes
    has "cf-capture-qemu: the program was replaced by another one, which was not recorded"
    run -0 cf-capture-qemu -q -o t.cf ./changes yes
    is ""
}

@test "the program's own status and streams" {
    needs arm
    run -5 --separate-stderr bash -c "echo hello | cf-capture-qemu -q -o t.cf '$P/arm' echo"
    is hello
    has error "$stderr"
    run -5 --separate-stderr bash -c "echo hello | cf-capture-qemu -q '$P/arm' echo | cf-cat --csv | wc -l; exit \${PIPESTATUS[1]}"
    has hello "$stderr"
    run -5 bash -c "echo hello | cf-capture-qemu -q -o t.cf --command-output out '$P/arm' echo 2>/dev/null"
    is ""
    [ "$(cat out)" = hello ]
}

@test "a program that dies by a signal leaves all that it did" {
    for arch in aarch64 arm riscv64 x86_64; do
        command -v "$(compiler_of "$arch")" >/dev/null || continue
        ulimit -c 0
        run -139 cf-capture-qemu -q -o t.cf "$P/$arch" die
        cf-resolve -q -o r.cf t.cf
        expected >a
        observed "$P/$arch" r.cf >b
        same a b
        table task --columns op | grep -q exit
    done
}

@test "an emulator that is killed leaves all that the program did" {
    needs aarch64
    cf-capture-qemu -q -o t.cf --command-output out "$P/aarch64" sleep 3>&- &
    local capture=$!
    eventually grep -q done out
    kill -KILL "$(pgrep -P $capture)"
    local status=0
    wait $capture || status=$?
    [ $status = 137 ]
    cf-resolve -q -o r.cf t.cf
    expected >a
    observed "$P/aarch64" r.cf >b
    same a b
}

@test "SIGTERM reaches the program and ends the stream properly" {
    needs aarch64
    cf-capture-qemu -q -o t.cf --command-output out "$P/aarch64" sleep 3>&- &
    local capture=$!
    eventually test -s out
    kill -TERM $capture
    local status=0
    wait $capture || status=$?
    [ $status = 143 ]
    run -0 cf-cat --info t.cf
}

@test "a program without a path is looked for in PATH, and keeps its name" {
    needs x86_64
    run -0 --separate-stderr cf-capture-qemu -q -o t.cf sh -c 'echo "$0"'
    is sh
    run -0 cf-cat --csv --table task --columns label t.cf
    has sh
}

@test "a signal that was ignored stays ignored, for the program too" {
    needs x86_64
    run -0 --separate-stderr env --ignore-signal=INT,TERM \
        cf-capture-qemu -q -a x86_64 -o t.cf sh -c 'kill -INT $$ $PPID; kill -TERM $$ $PPID; echo on'
    is on
    cf-cat --verify t.cf
}

@test "a live stream does not sit on data" {
    needs aarch64
    mkfifo pipe
    cf-capture-qemu -q --command-output out "$P/aarch64" sleep >pipe 3>&- &
    local capture=$!
    timeout 1800 bash -c 'cf-cat --csv --table access <pipe | head -n 1000 | tail -n 1' >row
    [ -s row ]
    kill -KILL "$(pgrep -P $capture)" 2>/dev/null || true
    wait $capture || true
}

@test "threads, signals and children go on behind the limit, wherever it falls" {
    needs x86_64
    cc -O1 -pthread -x c -o busy - <<'END'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile long x[4][4096];
static volatile int caught;
static void on(int s)
{
    caught += s == SIGUSR1;
}
static void *run(void *row)
{
    for (long i = 0; i < 1000000; i++)
        x[(long)row][i & 4095] += i;
    return NULL;
}
int main(void)
{
    pthread_t t[4];

    signal(SIGUSR1, on);
    for (long i = 0; i < 4; i++)
        pthread_create(&t[i], NULL, run, (void *)i);
    for (int i = 0; i < 5; i++) {
        if (fork() == 0) {
            run(NULL);
            execl("/bin/true", "true", (char *)NULL);
        }
        for (int k = 0; k < 100; k++)
            raise(SIGUSR1);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    while (wait(NULL) > 0)
        continue;
    printf("%d\n", caught);
    return 7;
}
END
    for limit in 1000 100000 300000 1000000 3000000; do # it is a race
        run -7 cf-capture-qemu -q -n $limit -o t.cf ./busy
        is 500
        [[ $(cf-cat --csv --table access t.cf | wc -l) == $((limit + 1)) ]]
    done
}

@test "--limit: exactly so many, and the program runs to its end" {
    needs aarch64
    for n in 1 1000 16384 20001; do
        run -5 --separate-stderr bash -c "echo hello | cf-capture-qemu -q -o t.cf -n $n '$P/aarch64' echo"
        is hello
        [ "$(table access | wc -l)" = "$n" ]
    done
    capture -n 5000 "$P/aarch64" threads
    [ "$(table access | wc -l)" = 5000 ]
}

@test "a reader that goes away does not disturb the program; a full disk is told" {
    needs aarch64
    run bash -c "cf-capture-qemu -q --command-output out '$P/aarch64' threads | head -c 100 >/dev/null; echo \${PIPESTATUS[0]}"
    is 141
    run -3 bash -c "cf-capture-qemu -q '$P/aarch64' threads >/dev/full"
    has "No space left"
    run -3 cf-capture-qemu -q -o /dev/full "$P/aarch64"
    ends_unread cf-capture-qemu -q --command-output out "$P/aarch64"
}

@test "what cannot be recorded is told, with the way out" {
    run -127 cf-capture-qemu -o t.cf ./missing
    has "no such program"
    printf '#!/bin/sh\n' >script
    run -126 cf-capture-qemu -o t.cf ./script
    has "cannot be executed"
    chmod +x script
    run -126 cf-capture-qemu -o t.cf ./script
    has "no ELF file"
    needs aarch64
    # A machine that nobody emulates, and an ELF file cut short.
    { head -c 18 "$P/aarch64" && printf '\xfe\xca' && tail -c +21 "$P/aarch64"; } >odd
    head -c 40 "$P/aarch64" >short
    chmod +x odd short
    run -2 cf-capture-qemu -o t.cf ./odd
    has "machine 51966 (64 bits, little-endian)"
    run -126 cf-capture-qemu -o t.cf ./short
    run -3 cf-capture-qemu -o t.cf --arch nonsense "$P/aarch64"
    has "qemu-nonsense is missing"
    [ ! -e t.cf ]
}

@test "an emulator that ends before the program begins: an older file stays" {
    needs aarch64
    echo 'int main(void) { return 0; }' >dynamic.c
    "$(compiler_of aarch64)" -o dynamic dynamic.c
    capture "$P/aarch64"
    cp t.cf old.cf
    run -3 --separate-stderr cf-capture-qemu -L "$T" -o t.cf ./dynamic
    has "ended before the program began" "$stderr"
    has "t.cf: not written: nothing was recorded" "$stderr"
    cmp t.cf old.cf
}

@test "without an emulator: told, and --probe says so" {
    needs aarch64
    mkdir -p bin libexec
    cp "$B/bin/cf-capture-qemu" bin
    run -3 env PATH="$T/bin" "$T/bin/cf-capture-qemu" --probe
    has "plugin is missing"
    ln -s "$B/libexec/cacheflow" libexec/cacheflow
    run -3 env PATH="$T/bin" "$T/bin/cf-capture-qemu" --probe
    has "install the package qemu-user"
    run -3 env PATH="$T/bin" "$T/bin/cf-capture-qemu" -o t.cf "$P/aarch64"
    has "qemu-aarch64 is missing"
    # One that does not know plugins, as Debian's static ones.
    printf '#!/bin/sh\nexit 1\n' >bin/qemu-aarch64
    chmod +x bin/qemu-aarch64
    run -3 env PATH="$T/bin:/bin" "$T/bin/cf-capture-qemu" -o t.cf "$P/aarch64"
    has "did not load the plugin"
    # shellcheck disable=SC2030,SC2031
    PATH=$B/bin:$PATH run -0 cf-capture --list
    has "programs of other architectures"
}

@test "a signal that ends the emulator before it has the plugin: no word of the plugin" {
    printf '#!/bin/sh\n: >begun\nexec sleep 1000\n' >emulator
    chmod +x emulator
    cf-capture-qemu -a ./emulator -o t.cf "$(command -v sleep)" 2>said 3>&- &
    gate begun
    kill -TERM $!
    local status=0
    wait $! || status=$?
    [[ $status == 143 ]] || fail "$status"
    echo 'cf-capture-qemu: t.cf: not written: nothing was recorded' | same - said
}

@test "bad usage" {
    run -2 cf-capture-qemu
    run -2 cf-capture-qemu --fetch-line 3 true
    run -2 cf-capture-qemu --fetch-line 32 true
    has "give -i as well"
    run -2 cf-capture-qemu --limit 0 true
    run -2 cf-capture-qemu --nonsense true
    run -2 cf-capture-qemu --image x true
    run -2 cf-capture-qemu --system --arch arm true
    run -2 cf-capture-qemu --sysroot none true
    has "--sysroot none: No such file"
    run -2 cf-capture-qemu --system
}

@test "a system: a bare-metal program of a LEON3, its functions named" {
    need sparc64-linux-gnu-gcc "the cross compiler"
    need qemu-system-sparc "the emulator"
    cat >ld.ld <<'END'
ENTRY(start)
SECTIONS { . = 0x40000000; .text : { *(.text*) } .rodata : { *(.rodata*) } .data : { *(.data*) }
           .bss : { *(.bss*) *(COMMON) } }
END
    cat >crt0.S <<'END'
        .global start
start:  wr %g0, 0xc0, %psr
        wr %g0, 2, %wim
        nop; nop; nop
        set 0x40200000, %sp
        call main
        nop
        ta 0
1:      ba 1b
        nop
END
    cat >main.c <<'END'
int words[100];
__attribute__((noinline)) static int known(void)
{
    int s = 0;
    for (int i = 0; i < 100; i++)
        s += words[i];
    for (int i = 0; i < 100; i++)
        words[i] = s;
    return s;
}
int main(void)
{
    return known();
}
END
    sparc64-linux-gnu-gcc -g -m32 -mcpu=leon3 -mflat -O1 -ffreestanding -fno-pic -fno-pie -nostdlib \
        -static -no-pie -Wl,--build-id=none,-z,noexecstack,-melf32_sparc -T ld.ld -o a.elf crt0.S main.c
    timeout 1800 cf-capture-qemu -q --system -i --image a.elf -o t.cf -- \
        qemu-system-sparc -M leon3_generic -nographic -no-reboot -kernel a.elf
    cf-resolve -q t.cf | cf-cat --csv --table access --columns op,size,symbol,function,cpu |
        awk -F, '$4 == "known" && $3 == "words" { print $1, $2, $5 }' | uniq -c | sed 's/^ *//' >got
    printf '%s\n' '100 load 4 0' '100 store 4 0' >want
    same want got
    run -2 cf-capture-qemu -q --system --image crt0.S -o u.cf -- qemu-system-sparc -version
    has "no ELF file"
}
