# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154 # bats sets output, status and lines
#
# What every suite begins with: `load lib`.
#
# Gives each test
#   $ROOT   the source tree            $B     the build directory, absolute
#   $T      an empty directory, in which the test starts ($BATS_TEST_TMPDIR)
# and PATH with the programs of this build in front. A suite that needs its own setup() calls
# lib_setup first. `run -N`, `run !` and `run --separate-stderr` are available.

bats_require_minimum_version 1.5.0

ROOT=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
B=${CF_B:-build}
[[ $B == /* ]] || B=$ROOT/$B
PATH=$B/bin:$B/test:$PATH
# In emulation Valgrind does not run, so that what records is this machine's (tests/arm64).
[[ ! -d $B/here ]] || PATH=$B/here/bin:$PATH
# Where pipelines find the programs; not exported, since one without BIN is to find them by itself.
# shellcheck disable=SC2034 # of suites
BIN=${PATH%%:*}
export ROOT B PATH
# Results must not depend on who runs the tests, nor on how: tests/run and `bats FILE` are the same.
export LC_ALL=C.UTF-8 TZ=UTC
. "$ROOT/tests/sanitizers.bash"
unset MAKEFLAGS MFLAGS MAKELEVEL CDPATH

lib_setup() {
    T=$BATS_TEST_TMPDIR
    cd "$T" || return 1
    # bats looks at each command, to say which one failed; in its own functions, too, where that takes
    # longer than most programs do. Here it looks at those of the suites, and is asked for no others.
    set +T
    # shellcheck disable=SC2046 # names of functions; the two of bats that keep where it failed stay
    declare -ft $(compgen -A function -X 'bats_[!ec]*')
    declare +t -f run
}

setup() {
    lib_setup
}

# fail MESSAGE...: the test fails here, with the message.
fail() {
    printf '%s\n' "$@" >&2
    return 1
}

# need COMMAND REASON: skips the test when the machine lacks a command that no package of
# `make deps` can bring. A program of ours that is missing is a failure, never a skip.
need() {
    command -v "$1" >/dev/null || skip "$1 is missing: ${2:-}"
}

# stream FILE [OPTION...]: makes a stream as in a pipe from the CSV on standard input, where the
# options are those of cf-capture csv. A name that ends in .packed.cf makes a packed file.
stream() {
    local file=$1
    shift
    case $file in
    *.packed.cf) cf-capture csv -q -o "$file" "$@" ;;
    *) (
        set -o pipefail
        cf-capture csv -q "$@" | cat >"$file"
    ) ;;
    esac
}

# untold_breakpoints: makes untold.so, with which debug registers can be set and stop nothing, as in some
# virtual machines.
untold_breakpoints() {
    gcc -O1 -fPIC -shared -x c -o untold.so - <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <sys/user.h>
long ptrace(int request, long pid, long addr, long data)
{
    static long (*real)(int, ...);
    if (!real) real = (long (*)(int, ...))dlsym(RTLD_NEXT, "ptrace");
    if (request == 6 /* PTRACE_POKEUSER */ && addr >= (long)offsetof(struct user, u_debugreg))
        return 0;
    return real(request, pid, addr, data);
}
END
}

# few SOME ALL: SOME, and with CF_LONG=1 ALL: how many are tried of what need not be tried whole at each change
# (`tests/run-long suites` does).
few() {
    if [[ -n ${CF_LONG-} ]]; then echo "$2"; else echo "$1"; fi
}

# jobs_agree "J..." PROGRAM OPTION...: with -j J, for each of them, it prints what it does without, ends with the same
# status and says the same, and of --jobs what is in $said, once, or nothing where that is empty.
jobs_agree() {
    local counts=$1 j was=0 now told
    shift
    "$@" >one.out 2>one.err || was=$?
    for j in $counts; do
        now=0
        "$1" -j "$j" "${@:2}" >out 2>err || now=$?
        [[ $now == "$was" ]] || fail "-j $j $*: status $now, alone $was" "$(<err)"
        same one.out out || fail "-j $j $*"
        grep -v -- '--jobs: ' err | same one.err - || fail "-j $j $*"
        [[ $j != 1 ]] || continue
        told=$(grep -- '--jobs: ' err) || true
        [[ $told == *"${said:-}"* && $told != *$'\n'* && (-n ${said:-} || -z $told) ]] || fail "-j $j $*" "$told"
    done
}

# inks FILE.png X0-X1 Y0-Y1: how many colours there are in this box of pixels.
inks() {
    local x y places=()
    for ((y = ${3%-*}; y <= ${3#*-}; y++)); do
        for ((x = ${2%-*}; x <= ${2#*-}; x++)); do places+=("$x,$y"); done
    done
    pixels "$1" "${places[@]}" | sort -u | wc -l
}

# built_for: the processor of this build's programs, as uname -m calls it, by their e_machine (ELF).
built_for() {
    case $(od -A n -t u2 -j 18 -N 2 "$B/bin/cf-cat") in
    *' 62') echo x86_64 ;;
    *' 183') echo aarch64 ;;
    *) uname -m ;;
    esac
}

# emulated: true where that is not this machine's, so that they run in emulation (tests/arm64).
emulated() {
    [[ $(built_for) != "$(uname -m)" ]]
}

# in_emulation WHY: skips the test where programs run in emulation, which does not do what it needs.
in_emulation() {
    ! emulated || skip "in emulation $1"
}

# without SAID: skips the test, since a program of ours says that it cannot do what is needed. That breakpoints stop
# nothing must be so.
without() {
    [[ $1 != *"stop nothing"* ]] || ! debug_register || fail "debug registers do stop: $1" || return
    skip "$1"
}

# linux_caches: makes the `host` of this test from lines "LEVEL TYPE SIZE WAYS SETS", as Linux shows caches.
linux_caches() {
    local level type size ways sets i=0 at f
    while read -r level type size ways sets; do
        at=sys/devices/system/cpu/cpu0/cache/index$((i++))
        mkdir -p $at
        for f in "level:$level" "type:$type" "size:$size" "ways_of_associativity:$ways" coherency_line_size:64 \
            ${sets:+number_of_sets:$sets}; do
            echo "${f#*:}" >"$at/${f%:*}"
        done
    done
    export CF_SYSFS=$PWD/sys
}

# some_host: where Linux shows no cache, as in many virtual machines, those of another machine are `host`.
some_host() {
    ! compgen -G '/sys/devices/system/cpu/cpu*/cache/index*' >/dev/null || return 0
    linux_caches <<<$'1 Data 48K 12 64\n1 Instruction 32K 8 64\n2 Unified 1024K 16 1024\n3 Unified 32768K 16 32768'
}

# importing SOURCE TEXT ADDR: starts an importer on a pipe that stays open behind TEXT and returns
# when t.cf holds a row with that address, which must not take the end of the input. Puts the
# importer's process into $pid; the pipe is descriptor 8.
importing() {
    mkfifo in out
    exec 8<>in
    cat <out >t.cf 8>&- 3>&- &
    # shellcheck disable=SC2034 # the caller waits for it
    copy=$!
    cf-capture "$1" <in 8>&- 3>&- >out &
    pid=$!
    # shellcheck disable=SC2059 # the escapes in TEXT are meant
    printf "$2" >&8
    for _ in {1..6000}; do
        cf-cat --csv --columns addr t.cf 2>/dev/null | grep -qx "$3" && return
        sleep 0.1
    done
    kill "$pid"
    fail "cf-capture $1 sits on its data"
}

# rows TABLE FILE...: the rows of one table, as CSV with a header line.
rows() {
    local table=$1
    shift
    cf-cat --csv --table "$table" "$@"
}

# Valgrind as cf-capture-trace runs it: Debian's command is a script, which puts more into the environment
valgrind_itself() {
    command -v valgrind.bin || command -v valgrind
}

# What start-up code does depends on the length of environment variables, into which Valgrind puts the
# names of the tool and of its directory: in same/ of this folder they are equally long for all tools.
same_tools() {
    mkdir -p same/bin same/libexec/cacheflow/valgrind
    cp "$B/bin/cf-capture-trace" same/bin
    cp -P "$B"/libexec/cacheflow/valgrind/* same/libexec/cacheflow/valgrind
    (
        cd same/libexec/cacheflow/valgrind || return
        for tool in lackey cachegrind; do
            name=${tool}xxx
            name=${name:0:7}
            for real in "/usr/libexec/valgrind/$tool"-*-linux; do
                [[ $real == *x86-* ]] && continue
                ln -s "$real" "$name${real#/usr/libexec/valgrind/"$tool"}"
                core=(vgpreload_core-*.so)
                ln -s "${core[0]}" "${core[0]/core/"$name"}"
            done
        done
    )
}

# Another tool (lackeyx, cachegr), and ours, which records into t.cf, in the same environment. P: the folder of same/.
theirs() {
    env -i PATH="$PATH" VALGRIND_LIB="$P/same/libexec/cacheflow/valgrind" setarch -R \
        "$(valgrind_itself)" --vex-guest-chase=no --log-file=log "$@"
}
ours() {
    env -i PATH="$PATH" setarch -R "$P/same/bin/cf-capture-trace" -q -o t.cf "$@"
}

# eventually COMMAND...: it succeeds at last, after as long as the busiest machine may take:
# CF_PATIENCE seconds [600], which matter only where it never does.
eventually() {
    local n
    for ((n = 0; n < 20 * ${CF_PATIENCE:-600}; n++)); do
        "$@" && return
        sleep 0.05
    done
    fail "not within ${CF_PATIENCE:-600} seconds: $*"
}

# gate FILE: waits until the file is there, for as long.
gate() {
    eventually test -e "$1"
}

# at_least FILE BYTES: it is there, and that long.
at_least() {
    [[ -f $1 && $(stat -c %s "$1") -ge $2 ]]
}

# gone PID: there is no such process.
gone() {
    ! kill -0 "$1" 2>/dev/null
}

# unread COMMAND...: runs it with a standard output whose reader has gone.
unread() {
    (
        mkfifo unread
        # shellcheck disable=SC2094 # it is to be both for a moment
        exec 8<>unread 9>unread 8>&-
        rm unread
        "$@" >&9 9>&-
    )
}

# ends_unread CAPTURE...: it dies by SIGPIPE, without a message, where its reader has gone before the header, and where
# it goes after that and the rest is written at the end.
ends_unread() {
    local status=0
    unread env --default-signal=PIPE "$@" 2>err || status=$?
    [[ $status == 141 && ! -s err ]] || fail "unread from the beginning: $status, $(<err)" || return
    for _ in {1..20}; do # on a busy machine all may be written before the reader goes
        "$@" 2>err | head -c 10 >/dev/null
        status=${PIPESTATUS[0]}
        [[ $status == 0 && ! -s err ]] || break
    done
    [[ $status == 141 && ! -s err ]] || fail "unread from the header on: $status, $(<err)"
}

# same EXPECTED ACTUAL: the two files hold the same text; else shows the difference. Of what two commands print there
# must be some: where both fail, neither prints anything.
same() {
    local expected=$1
    if [[ $1 == /dev/fd/* && $2 == /dev/fd/* ]]; then
        expected=$(mktemp "$BATS_FILE_TMPDIR/same.XXXXXX")
        cat "$1" >"$expected"
        [[ -s $expected ]] || fail "nothing was printed that could be the same" || return
    fi
    diff -u --label expected --label actual "$expected" "$2" >&2
}

# pixels FILE.png X,Y...: the colour of each, as hex, of a picture of 8-bit RGB.
pixels() {
    need python3 'looks at single pixels'
    python3 - "$@" <<'END'
import struct, sys, zlib
data = open(sys.argv[1], 'rb').read()
wanted = [tuple(map(int, text.split(','))) for text in sys.argv[2:]]
at, raw = 8, b''
while at < len(data):
    size, kind = struct.unpack('>I4s', data[at:at + 8])
    body = data[at + 8:at + 8 + size]
    assert zlib.crc32(kind + body) == struct.unpack('>I', data[at + 8 + size:at + 12 + size])[0]
    if kind == b'IHDR':
        width, height = struct.unpack('>II', body[:8])
    if kind == b'IDAT':
        raw += body
    at += size + 12
raw, stride, last, colour = zlib.decompress(raw), 3 * width, bytes(3 * width), {}
most = 3 * max(x + 1 for x, y in wanted) # a byte follows from those to its left and above
for y in range(max(y for x, y in wanted) + 1):
    kind, row = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
    for i in range(most if kind else 0): # PNG, 9.2: what the bytes to the left and above say
        a, b, c = row[i - 3] if i > 2 else 0, last[i], last[i - 3] if i > 2 else 0
        if kind == 4:
            p = a + b - c
            a = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
        row[i] = (row[i] + (0, a, b, (a + b) // 2, a)[kind]) & 255
    last = row
    colour.update((p, row[3 * p[0]:3 * p[0] + 3].hex()) for p in wanted if p[1] == y)
for p in wanted:
    print(colour[p])
END
}

# is TEXT: what `run` has put into $output is exactly this.
is() {
    [ $# = 1 ] || fail "is: of $# texts"
    [[ $output == "$1" ]] || {
        diff -u --label expected --label actual <(printf '%s\n' "$1") <(printf '%s\n' "$output") >&2
        return 1
    }
}

# has TEXT [IN]: $output, or IN, contains the text.
has() {
    local in=${2-$output}
    [[ $in == *"$1"* ]] || fail "no '$1' in:" "$in"
}

# wanting FILE: it is whole, and its end says that what it was made from was not; cf-cat's words are in `err`
wanting() {
    ! cf-cat "$1" >/dev/null 2>err && [[ $(wc -l <err) == 1 && $(<err) == *"what wrote it says that its own input was"* ]]
}

# has_not TEXT [IN]
has_not() {
    local in=${2-$output}
    [[ $in != *"$1"* ]] || fail "there is '$1' in:" "$in"
}

# golden NAME FILE: the file equals tests/golden/NAME. `make golden` writes the golden instead;
# nothing else does.
golden() {
    local want=$ROOT/tests/golden/$1
    if [[ ${CF_GOLDEN:-} == 1 ]]; then
        mkdir -p "${want%/*}"
        cp "$2" "$want"
        return
    fi
    [[ -f $want ]] || fail "tests/golden/$1 does not exist: 'make golden' writes it" || return
    diff -u --label "tests/golden/$1" --label actual "$want" "$2" >&2
}

# column NAME FILE.csv: the values of one column of a CSV file without quoted commas.
column() {
    awk -F, -v name="$1" '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i
                  if (!c) { print "no column " name > "/dev/stderr"; exit 1 } next }
        { print $c }' "$2"
}

# replayed RECORDING PROGRAM OUTPUT TOP [EMULATED]: replays the rows of map and object of a recording of
# capture/trace/test/replay.c and compares, at each point that the program told of in OUTPUT, the
# mappings below TOP (hexadecimal, less the main stack and what Valgrind loads) with /proc/self/maps there, and the live heap
# blocks with those that the program held. Blocks of others than the program, which have other sizes
# than it allocates, are passed over. Shows what differs. Valgrind keeps pages behind the break mapped,
# so what is there of them follows from the break.
replayed() {
    local marks top=$4
    marks=$(nm "$2" | awk '$3 == "marks" { print $1 }')
    {
        cf-cat --csv --table map --columns time,pid,op,start,end,offset,perms,label "$1" | sed 's/,/,0,/'
        cf-cat --csv --table object --columns time,pid,op,addr,bytes "$1" | sed 's/,/,0,/'
        cf-cat --csv --table access --columns time,pid,op,addr "$1" | grep ',store,' | sed 's/,/,1,/'
    } | sort -s -t, -k1,1n -k2,2n | awk -F, -v marks="$marks" -v top="$top" -v emulated="${5:-0}" '
        function hex(s,    i, n) {
            sub(/^0x/, "", s)
            for (i = 1; i <= length(s); i++)
                n = n * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
            return n
        }
        # What a mapping is, the same for all its pages: permissions, of a file also which part.
        # Valgrind has heaps executable. An emulator has its own idea of what is.
        function kind(perms, offset, start, name) {
            if (emulated || name !~ /^\//) perms %= 4
            if (emulated && !perms) return "nothing"
            return name ~ /^\// ? sprintf("%d %s%+.0f", perms, name, offset - start) : perms
        }
        function wipe(pid, from, to,    i, n) {
            n = count[pid]
            for (i = 1; i <= n; i++) {
                if (start[pid, i] >= to || stop[pid, i] <= from) continue
                if (stop[pid, i] > to) add(pid, to, stop[pid, i], what[pid, i])
                if (start[pid, i] < from) stop[pid, i] = from
                else {
                    start[pid, i] = start[pid, count[pid]]
                    stop[pid, i] = stop[pid, count[pid]]
                    what[pid, i--] = what[pid, count[pid]--]
                    if (n > count[pid]) n = count[pid]
                }
            }
        }
        function add(pid, from, to, of) {
            count[pid]++
            start[pid, count[pid]] = from; stop[pid, count[pid]] = to; what[pid, count[pid]] = of
        }
        # Pages that stand in one of the two only, as changes of what is there.
        function compare(pid, point,    i, edge, edges, n, a, b, x, x2) {
            n = 0
            for (i = 1; i <= count[pid]; i++) { edge[++n] = start[pid, i]; edge[++n] = stop[pid, i] }
            for (i = 1; i <= real[pid, point]; i++) {
                edge[++n] = rfrom[pid, point, i]; edge[++n] = rto[pid, point, i]
            }
            for (x = 1; x <= n; x++) {
                if (edge[x] >= limit || edge[x] in edges) continue
                edges[edge[x]] = 1
                a = b = "nothing"
                for (i = 1; i <= count[pid]; i++)
                    if (start[pid, i] <= edge[x] && edge[x] < stop[pid, i]) a = what[pid, i]
                for (i = 1; i <= real[pid, point]; i++)
                    if (rfrom[pid, point, i] <= edge[x] && edge[x] < rto[pid, point, i])
                        b = is[pid, point, i]
                if (a != b && shown++ < 9) {
                    printf "point %d of %d, page %.0f: %s recorded, %s there\n", point, pid, edge[x] / 4096, a, b
                }
                wrong += a != b
            }
            for (i in live) {
                split(i, x2, SUBSEP)
                if (x2[1] == pid && (live[i] in ours) && held[pid, point, x2[2]] != live[i]) {
                    printf "point %d of %d: %.0f+%d is not held\n", point, pid, x2[2], live[i]
                    wrong = 1
                }
            }
            for (i in held) {
                split(i, x2, SUBSEP)
                if (x2[1] == pid && x2[2] == point && live[pid, x2[3]] != held[i]) {
                    printf "point %d of %d: %.0f+%d is held\n", point, pid, x2[3], held[i]
                    wrong = 1
                }
            }
        }
        BEGIN { CONVFMT = "%.0f"; limit = hex(top); first = hex(marks) }
        FILENAME != "/dev/stdin" {
            split($0, w, " ")
            if (w[1] == "point") { pid = w[3]; p = ++points[pid]; all++ }
            else if (w[1] == "brk") {
                for (i = 1; i <= real[pid, p]; i++)
                    if (rfrom[pid, p, i] < hex(w[2]) && rto[pid, p, i] > hex(w[2]))
                        rto[pid, p, i] = hex(w[2])
            } else if (w[1] == "held") { held[pid, p, hex(w[2])] = w[3]; ours[w[3]] = 1 }
            else {
                split(w[1], r, "-")
                if (hex(r[1]) >= limit || w[6] == "[stack]" || w[6] ~ /\/vgpreload_/) next
                i = ++real[pid, p]
                rfrom[pid, p, i] = hex(r[1]); rto[pid, p, i] = hex(r[2])
                is[pid, p, i] = kind((w[2] ~ /^r/) + 2 * (w[2] ~ /^.w/) + 4 * (w[2] ~ /^..x/),
                    hex(w[3]), hex(r[1]), w[6])
            }
            next
        }
        $4 == "map" && $9 == "[stack]" { wipe($3, hex($5), hex($6)); next }
        $4 == "map" {
            wipe($3, hex($5), hex($6))
            add($3, hex($5), hex($6), kind($8, $7, hex($5), $9))
            next
        }
        $4 == "unmap" {
            wipe($3, hex($5), hex($6))
            if (hex($6) > 2 ^ 63)
                for (i in live) { split(i, x1, SUBSEP); if (x1[1] == $3) delete live[i] }
            next
        }
        $4 == "alloc" { live[$3, hex($5)] = $6; next }
        $4 == "free" {
            if (live[$3, hex($5)] != $6) { print "freed, not allocated: " $0; wrong = 1 }
            delete live[$3, hex($5)]
            next
        }
        $4 == "store" {
            x = hex($5) - first
            if (x >= 0 && x < 512 && x % 8 == 0) { compare($3, ++seen[$3]); done++ }
        }
        END {
            if (done != all || !all) { print done + 0 " points recorded, " all + 0 " told"; wrong = 1 }
            exit wrong > 0
        }' "$3" /dev/stdin >&2
}

# sanitized: true when the programs were built with the sanitizers.
sanitized() {
    [[ $B == */san ]]
}

# reached WHAT: skips, under the sanitizers, a test that they can find nothing in: of scripts and
# texts, or of programs that another suite runs in the same way.
reached() {
    ! sanitized || skip "sanitizers find nothing new in $1"
}

# ---- all programs, for the loop in all-programs.bats ----
#
# NAME KIND ARGUMENTS: every program stands here once; the loop fails for one that does not.
#   annotator   stream in, stream out: what it does not know must pass through
#   reducer     stream in, CSV or text out
#   maker       stream in, a stream of another table out
#   importer    foreign text or bytes in, stream out
#   capture     no input, stream out: needs hardware, rights or a command to run
# ARGUMENTS are what the program needs beside a stream to do its normal work.
# cf-template is filters/template.c, what new filters start from; it is not installed.
# M stands for a machine description and $T may be used.
PROGRAM_TABLE='
cf-resolve           annotator
cf-select            annotator  --op load
cf-merge             annotator
cf-cat               annotator
cf-distance          annotator
cf-cache             annotator  -m M
cf-classify          annotator  -m M
cf-latency           annotator  -m M
cf-sample            annotator  -m M
cf-pages             maker      -m M
cf-heatmap           reducer
cf-occupancy         reducer
cf-sets              reducer
cf-clash             reducer    --lines 128 --names program
cf-rank              reducer
cf-fold              reducer
cf-annotate          reducer
cf-histogram         reducer
cf-export            reducer    --format jsonl
cf-mrc               reducer
cf-sweep             reducer
cf-report            reducer    --leon4
cf-policy            reducer
cf-infer             reducer    --csv
cf-diff              reducer
cf-capture           capture
cf-capture-trace     capture
cf-capture-qemu      capture
cf-capture-perf      capture
cf-capture-pages     capture
cf-capture-probe     capture
cf-capture-snapshot  capture
cf-capture-bbprof    importer
cf-capture-csv       importer
cf-capture-din       importer
cf-capture-dumpcache importer
cf-capture-lackey    importer
cf-capture-leon4     importer
cf-capture-perf-data importer
cf-capture-perf-mem  importer
cf-capture-perf-script importer
cf-template          annotator
'
program_table() {
    printf %s "${PROGRAM_TABLE#?}"
}

# programs [KIND...]: names of the programs that the build has made, of these kinds or all.
programs() {
    local name kind rest
    while read -r name kind rest; do
        [[ $# == 0 || " $* " == *" $kind "* ]] && [[ -x $B/bin/$name || -x $B/test/$name ]] && echo "$name"
    done < <(program_table)
    return 0
}

# program_kind NAME
program_kind() {
    [[ ! $PROGRAM_TABLE =~ $'\n'"$1 "\ *([a-z]+) ]] || echo "${BASH_REMATCH[1]}"
}

# The next two are called for each run of a program, and start no process.
#
# program_is NAME [KIND]: it stands in the table, as one of that kind.
program_is() {
    [[ $PROGRAM_TABLE =~ $'\n'"$1 "\ *"${2:-}" ]]
}

# program_args NAME: puts the arguments into the array `args`.
program_args() {
    args=()
    [[ $PROGRAM_TABLE =~ $'\n'"$1 "\ *[a-z]+\ *([^$'\n']*) ]] || return 0
    read -r -a args <<<"${BASH_REMATCH[1]}"
    local i
    for i in "${!args[@]}"; do
        [[ ${args[i]} != M ]] || { a_machine >/dev/null && args[i]=$BATS_TEST_TMPDIR/machine.yaml; }
    done
}

# parts N FILE COMMAND...: p.1.cf to p.N.cf, the partial results of the N parts of a packed file
parts() {
    local n=$1 file=$2 i
    shift 2
    for ((i = 1; i <= n; i++)); do
        cf-cat --part "$i/$n" "$file" | "$@" --partial >p.$i.cf || fail "part $i of $n: $*"
    done
}

# in_parts N FILE COMMAND...: what it prints of N parts, joined in their order, it prints of the whole
in_parts() {
    local n=$1 file=$2
    shift 2
    "$@" "$file" >one.csv
    parts "$n" "$file" "$@"
    "$@" $(seq -f p.%g.cf 1 "$n") >two.csv || fail "joining $n: $*"
    cmp one.csv two.csv >&2 || fail "$n parts: $*"
}

# policies: the words of all replacement policies, as a refused description lists them.
policies() {
    local all
    all=$(cf-cache -m /dev/stdin /dev/null 2>&1 \
        <<<'{line_size: 64, levels: [{name: L1, size: 64, ways: 1, policy: none}]}') || :
    all=${all##*give one of }
    echo "${all//,/}"
}

# plugs: a program of that name, and two libraries that it loads to the same place, one after the other.
plugs() {
    local name
    for name in one two; do
        cc -O0 -g -shared -fPIC -DNAME=$name -o $name.so "$BATS_TEST_DIRNAME/alloc/plug.c"
    done
    cc -O0 -g -o plugs "$BATS_TEST_DIRNAME/alloc/plugs.c" -ldl
}

# plugs_named: of each of them a call stack in t.cf has the functions, where the file places says that
# they lay at the same place.
plugs_named() {
    [[ $(sort -u places | wc -l) == 1 ]] || skip "the libraries lie at different places"
    cf-resolve -q t.cf | cf-cat --csv --table stack --columns function | grep -x 'one\|two' | sort -u |
        same - <(printf '%s\n' one two)
}

# a_machine: file name of a small machine description, made when first asked for.
a_machine() {
    local file=$BATS_TEST_TMPDIR/machine.yaml
    [[ -f $file ]] || cat >"$file" <<'END'
name: small machine of the tests
line_size: 64
cpus: 1
clock_hz: 1000000000
levels:
  - {name: L1I, kind: instruction, size: 1KiB, ways: 2}
  - {name: L1D, kind: data, size: 1KiB, ways: 2}
  - {name: L2, size: 8KiB, ways: 4}
latency: {L1D: 4, L1I: 4, L2: 20, memory: 180}
END
    echo "$file"
}
