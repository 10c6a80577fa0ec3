# SPDX-License-Identifier: BSD-2-Clause
#
# Streams that an earlier version has written (tests/golden/streams) are read as they were meant; and a
# reader that is older than a stream says so.
load lib

setup_file() {
    export KEPT=$BATS_TEST_DIRNAME/golden/streams
}

# each COMMAND...: with the path of each kept stream as last argument; its output is what is in the stream
each() {
    local f
    for f in "$KEPT"/*.cf; do
        "$@" "$f" >sums.csv || fail "$f"
        diff "${f%.cf}.csv" sums.csv >diff.txt || fail "$f: $(cat diff.txt)"
    done
}

@test "every table, column, type and codec of this version stands in a stream that is kept" {
    kept_stream holds "$KEPT"/*.cf | sort -u >holds
    kept_stream known | sort -u >known
    (($(wc -l <known) > 100))
    [[ -z $(comm -13 holds known) ]] ||
        fail "add streams with these ('kept_stream make', names with a version in front): $(comm -13 holds known)"
}

@test "all their values, as they were written" {
    each kept_stream sums
}

@test "the same after cf-cat has handed them on, to a pipe, a packed file, and both" {
    piped() { cf-cat -q "$1" | kept_stream sums; }
    packed() { cf-cat -q -o p.cf "$1" && kept_stream sums p.cf; }
    both() { cf-cat -q <"$1" | cf-cat -q | cf-cat -q -o q.cf && cf-cat -q q.cf | kept_stream sums; }
    each piped
    each packed
    each both
}

@test "programs read them: what they say of the accesses" {
    local f
    for f in "$KEPT"/*.cf; do
        [[ $f != *-partial.cf ]] || continue # which is no recording
        [[ $f == *-kinds.cf || $f == *-stretches.cf ]] ||
            cf-rank -q --csv --by function --value accesses,misses "$f" >"rank-${f##*/}"
        cf-cat -q --columns time,pid,tid,op,size,addr "$f" | cf-distance -q --line-size 32 | cf-mrc -q >"mrc-${f##*/}"
    done
    cf-cat -q -o s.cf "$KEPT/0.1-pipe-stretches.cf"
    cf-distance -q --line-size 32 s.cf | cf-mrc -q >mrc-0.1-packed-stretches.cf
    for f in "$KEPT"/*-pipe*.cf; do
        f=${f##*/}
        cmp "mrc-$f" "mrc-${f/-pipe/-packed}"
        [[ $f != *-pipe.cf ]] || cmp "rank-$f" "rank-${f/-pipe/-packed}"
    done
    (($(wc -l <rank-0.1-packed.cf) > 2))
}

@test "a codec of a newer version is said to be one, and the other frames are read" {
    local f
    for f in "$KEPT"/0.1-pipe.cf "$KEPT"/0.1-packed.cf; do
        kept_stream newer "$f" >newer.cf
        run -1 --separate-stderr cf-cat --csv --columns level newer.cf
        has "frame with a type or codec that only a newer version may know" "$stderr"
        run -1 --separate-stderr cf-cat --csv --table probe newer.cf
        is "$(cf-cat --csv --table probe "$f")"
    done
}
