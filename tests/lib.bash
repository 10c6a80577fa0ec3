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
export ROOT B PATH
# Results must not depend on who runs the tests, and a sanitizer's find must not look like one of
# our own exit statuses.
export LC_ALL=C.UTF-8 TZ=UTC
export ASAN_OPTIONS=exitcode=99:detect_leaks=1:abort_on_error=0
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
unset MAKEFLAGS MFLAGS MAKELEVEL CDPATH

lib_setup() {
    T=$BATS_TEST_TMPDIR
    cd "$T" || return 1
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

# stream FILE [OPTION...]: makes a raw stream from the CSV on standard input, where the options are
# those of cf-capture csv. A name that ends in .packed.cf makes a packed file.
stream() {
    local file=$1
    shift
    case $file in
    *.packed.cf) cf-capture csv -q -o "$file" "$@" ;;
    *) cf-capture csv -q "$@" >"$file" ;;
    esac
}

# importing SOURCE TEXT ADDR: starts an importer on a pipe that stays open behind TEXT and returns
# when t.cf holds a row with that address, which must not take the end of the input. Puts the
# importer's process into $pid; the pipe is descriptor 8.
importing() {
    mkfifo in
    exec 8<>in
    cf-capture "$1" <in 8>&- >t.cf 3>&- &
    pid=$!
    # shellcheck disable=SC2059 # the escapes in TEXT are meant
    printf "$2" >&8
    for _ in {1..600}; do
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

# eventually COMMAND...: it succeeds within half a minute, however slow the machine is.
eventually() {
    local n
    for ((n = 0; n < 600; n++)); do
        "$@" && return
        sleep 0.05
    done
    fail "not within 30 seconds: $*"
}

# gate FILE: waits until the file is there, a minute at most.
gate() {
    local n
    for ((n = 0; n < 1200; n++)); do
        [[ -e $1 ]] && return
        sleep 0.05
    done
}

# same EXPECTED ACTUAL: the two files hold the same text; else shows the difference.
same() {
    diff -u --label expected --label actual "$1" "$2" >&2
}

# is TEXT: what `run` has put into $output is exactly this.
is() {
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

# sanitized: true when the programs were built with the sanitizers.
sanitized() {
    [[ $B == */san ]]
}

# ---- all programs, for the loop in all-programs.bats ----
#
# NAME KIND ARGUMENTS: every program stands here once; the loop fails for one that does not.
#   annotator   stream in, stream out: what it does not know must pass through
#   reducer     stream in, CSV or text out
#   importer    foreign text or bytes in, stream out
#   capture     no input, stream out: needs hardware, rights or a command to run
# ARGUMENTS are what the program needs beside a stream to do its normal work.
# cf-template is filters/template.c, what new filters start from; it is not installed.
# M stands for a machine description and $T may be used.
program_table() {
    cat <<'END'
cf-resolve           annotator
cf-select            annotator  --op load
cf-merge             annotator
cf-cat               annotator
cf-distance          annotator
cf-cache             annotator  -m M
cf-classify          annotator  -m M
cf-latency           annotator  -m M
cf-heatmap           reducer
cf-occupancy         reducer
cf-sets              reducer
cf-clash             reducer    --lines 128 --names program
cf-rank              reducer
cf-histogram         reducer
cf-mrc               reducer
cf-sweep             reducer
cf-report            reducer    --leon4
cf-policy            reducer
cf-diff              reducer
cf-capture           capture
cf-capture-trace     capture
cf-capture-qemu      capture
cf-capture-snapshot  capture
cf-capture-csv       importer
cf-capture-din       importer
cf-capture-dumpcache importer
cf-capture-lackey    importer
cf-capture-leon4     importer
cf-template          annotator
END
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
    program_table | awk -v n="$1" '$1 == n { print $2 }'
}

# program_args NAME: puts the arguments into the array `args`.
program_args() {
    local line
    line=$(program_table | awk -v n="$1" '$1 == n { $1 = $2 = ""; print }')
    read -r -a args <<<"$line"
    local i
    for i in "${!args[@]}"; do
        [[ ${args[i]} == M ]] && args[i]=$(a_machine)
    done
    return 0
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
