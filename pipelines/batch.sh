#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# batch.sh begin|one NAME|launch|end|status|check|manifest
#
# The work of batch.mk, which alone calls it, or reads it into a shell of its own, with its variables in the environment. Of each trace
# OUT/NAME holds the results, log, and in .batch
#   manifest  what the trace is, a row of OUT/manifest.csv without its header
#   made      what they are made from, and by what, since they were begun; "anew" where other files were there
#   results   the names of all that the recipe makes, when it has
#   whole     written last: what the results were made from, by what, and their names
#   failed    there when the last try failed
#   lock      held by the worker that makes them, and by what it has started
# and OUT/.batch what all were made by: recipe (its name), key, folder (where make was called), and run, which starts workers.
# Exit status: 0, 1 for a trace that failed, 2 wrong usage, 3 what this machine lacks.
set -u -o pipefail

# Of what programs and manifests say, no character acts on a terminal or parts fields.
say() { printf 'batch: %s\n' "${@//[[:cntrl:]]/ }" >&2; }

need() { # PROGRAM PACKAGE
    command -v "$1" >/dev/null && return
    say "no $1 on $(uname -n): it is in Debian's package $2"
    exit 3
}

# write FILE [LINE...]: these lines, or standard input, under its name when it is whole
write() {
    if ! { if (($# > 1)); then printf '%s\n' "${@:2}"; else cat; fi >"$1.$$" && mv -fT "$1.$$" "$1"; }; then
        rm -f "$1.$$"
        say "cannot write $1"
        exit 3
    fi
}

# make -n shows what would be made; we are called all the same, since we start make
flags=${MAKEFLAGS:-}
flags=${flags%% *}
if [[ $flags != -* && $flags != *=* && $flags == *n* ]]; then
    echo "batch.sh $*"
    exit 0
fi

recipe_make() { # NAME LIST TARGET [OPTION...]
    make -s --no-print-directory -I "$SCRIPTS" -f "$RECIPE_FILE" TRACES="$TRACES/$1.cf" OUT="$OUT" LIST="$2" "${@:3}"
}

# key: what results are made by, but for the trace
key() {
    local hash version f files=()
    # those of PATH are none in place of the BIN that is given
    if ! version=$("${BATCH_BIN:+$BATCH_BIN/}cf-cat" --version 2>/dev/null | head -n 1); then
        f=${BATCH_BIN:+" in BIN, which is '$BATCH_BIN'"}
        say "no cf-cat on $(uname -n)${f:-, neither in BIN nor in PATH}: build it there by 'make', or give the folder that has it as BIN"
        exit 3
    fi
    need xxhsum xxhash
    # by the recipe itself, which expands what its variables have; what is wrong in it, each trace will say
    for f in $BATCH_FILES $(recipe_make any /dev/null files 2>/dev/null); do [[ ! -f $f ]] || files+=("$f"); done
    hash=$(cat "$RECIPE_FILE" "$SCRIPTS/stored.mk" "${files[@]}" | xxhsum -H2 2>/dev/null) || exit 3
    echo "$version, recipe ${hash%% *}${BATCH_GIVEN:+, $BATCH_GIVEN}"
}

# other_begun: whether another batch, with other variables, has begun in this folder, of key $key; then $why says so
other_begun() {
    [[ ${key#*, recipe ????????????????????????????????} != "${BATCH_GIVEN:+, $BATCH_GIVEN}" ]] || return
    why="another batch has begun in $OUT: $key"
}

# agreed: is the key of this machine, into $here, that of the batch, into $key? If not, $why says so; 2: here is none.
agreed() {
    key=$(<"$OUT/.batch/key") || exit 3
    here=$(key 2>&1) || { why=${here#batch: }; return 2; }
    why="$(uname -n) has other programs or another recipe, or a file that it reads was changed: $here; the batch was begun by $key"
    [[ $here == "$key" ]]
}

# ---- the manifest ----

modified() { LC_ALL=C stat -L -c '%s,%.9Y' "$TRACES/$1.cf"; }
hash_of() { { xxhsum -H2 <"$TRACES/$1.cf"; } 2>/dev/null; }

# describe NAME [MODIFIED]: the row of a trace. Names and commands are quoted, what comes before has no quotes.
HEADER=bytes,modified,xxh128,records,clock,source,name,command
describe() {
    local facts=${2-} hash info
    [[ $facts ]] || facts=$(modified "$1") && need xxhsum xxhash && hash=$(hash_of "$1") || return
    # of a damaged trace what can be read; the recipe will say what is wrong
    info=$(cf-cat --info "$TRACES/$1.cf" 2>/dev/null | awk '
        function text(s) { sub(/^[a-z]*: "/, "", s); sub(/"$/, "", s); gsub(/\\\\/, "\001", s); gsub(/\\"/, "\"", s); gsub(/\001/, "\\\\", s); gsub(/"/, "\"\"", s); return s }
        $1 == "clock:" && !clock { clock = $0; sub(/.*unit: "/, "", clock); sub(/".*/, "", clock) }
        $1 == "source:" && !source { source = text($0) }
        $1 == "command:" && !command { command = text($0) }
        $1 ~ /^"(access|line|page|probe|bus)":$/ { sub(/,/, "", $3); n += $3 }
        END { gsub(/[,"]/, "", clock); gsub(/[,"]/, "", source); printf "%d,%s,%s\n%s.\n", n, clock, source, command }')
    info=${info%.} # by the dot, an empty line is one
    echo "$facts,${hash%% *},${info%%$'\n'*},\"$1\",\"${info#*$'\n'}\""
}

# as_in ROW WHERE HINT: is the trace of row $now that of another row? If not, $why says so.
as_in() {
    local bytes hash was want
    IFS=, read -r bytes _ hash _ <<<"$now"
    IFS=, read -r was _ want _ <<<"$1"
    [[ $bytes,$hash == "$was,$want" ]] ||
        { why="not the trace of $2: $bytes bytes, XXH128 $hash; there $was bytes, $want$3"; return 1; }
}

# came NAME: is the trace of row $now that of MANIFEST, if there is one? If not, $why says so.
came() {
    local want
    [[ $MANIFEST ]] || return 0
    # no name has a quote, and within quotes each is doubled: this is found in no other place
    want=$(grep -aF ",\"$1\"," "$MANIFEST") || { why="not in $MANIFEST"; return 1; }
    as_in "$want" "$MANIFEST" ""
}

# known NAME: is the trace the one of the manifest? Puts its hash into $hash, or what is wrong into $why.
known() {
    local row=$OUT/$1/.batch/manifest now bytes='' was='' had=''
    [[ ! -e $TRACES/$1.cf || -f $TRACES/$1.cf ]] || { why="$TRACES/$1.cf is no regular file"; return 1; }
    now=$(modified "$1") || { why="no $TRACES/$1.cf"; return 1; }
    [[ ! -s $row ]] || had=$(<"$row")
    IFS=, read -r bytes was hash _ <<<"$had"
    if [[ $bytes,$was == "$now" ]]; then
        now=$had
    else
        now=$(describe "$1" "$now") || { why="cannot read $TRACES/$1.cf"; return 1; }
        IFS=, read -r _ _ hash _ <<<"$now"
        [[ ! $had ]] || as_in "$had" "the manifest" " ('make ... manifest' takes it as it is)" || return
    fi
    came "$1" || return
    [[ $now == "$had" ]] || write "$row" "$now"
}

is_manifest() {
    if [[ $MANIFEST -ef $OUT/manifest.csv ]]; then
        say "MANIFEST=$MANIFEST is the file that the batch writes: give a copy of it"
        exit 2
    fi
    [[ ! $MANIFEST || (-r $MANIFEST && $(head -n 1 "$MANIFEST") == "$HEADER") ]] && return
    say "$MANIFEST is no manifest, whose first line is $HEADER"
    exit 2
}

# absent: "absent name why", tabs between, of each trace that MANIFEST knows and TRACES has not
absent() {
    local name
    [[ ! $MANIFEST ]] || LC_ALL=C sed -n 's/^\([^,]*,\)\{6\}"\([^"]*\)",.*/\2/p' "$MANIFEST" | while read -r name; do
        [[ -e $TRACES/$name.cf ]] || printf 'absent\t%s\tin %s, not in %s\n' "${name//[[:cntrl:]]/ }" "$MANIFEST" "$TRACES"
    done
}

# manifest_of NAME...: manifest.csv, of what is known of each
manifest_of() {
    {
        echo "$HEADER"
        (cd "$OUT" && printf '%s/.batch/manifest\0' "$@" | xargs -0 cat -- 2>/dev/null)
        true
    } | write "$OUT/manifest.csv"
}

# ---- one trace ----

# is_whole NAME KEY: are all results there, made from this trace by this key?
is_whole() {
    local dir=$OUT/$1 hash was f
    [[ -s $dir/.batch/whole ]] && IFS=, read -r _ _ hash _ <"$dir/.batch/manifest" || return
    {
        read -r was && [[ $was == "$hash, $2" ]] || return 1
        while read -r f; do [[ -s $dir/$f ]] || return 1; done
    } <"$dir/.batch/whole"
}

recipe() { # NAME TARGET [OPTION...]
    recipe_make "$1" "$OUT/$1/.batch/results" "${@:2}" >"$OUT/$1/.batch/log" 2>&1
}

# results_of NAME: into $all what the recipe makes, or made when it was last whole
results_of() {
    all=()
    [[ ! -s $OUT/$1/.batch/results ]] || read -ra all <"$OUT/$1/.batch/results"
}

failed() { # of function one(), which ends
    # make's own messages say least, and those from a program behind the one that failed on, only that it did
    [[ $why || ! -s $dir/.batch/log ]] || why=$(LC_ALL=C awk '/^make/ { behind = 0; next }
        /standard input: (empty: |.*what wrote it says)/ { behind = 1 } !behind { why = $0 } END { print why }' "$dir/.batch/log")
    [[ $why || ! -s $dir/.batch/log ]] || why=$(grep -av '^make' "$dir/.batch/log" | tail -n 1)
    [[ $why || ! -s $dir/.batch/log ]] || why=$(tail -n 1 "$dir/.batch/log")
    why=${why:-the recipe failed}
    [[ ! -s $dir/.batch/log ]] || mv -f "$dir/.batch/log" "$dir/log"
    write "$dir/.batch/failed" "$why"
    say "$name: $why"
    exit 1
}

one() {
    local name=$1 dir=$OUT/$1 hash='' why='' key here all bytes was
    [[ -d $dir/.batch ]] || mkdir -p "$dir/.batch" || exit 3
    if ! { exec 9>"$dir/.batch/lock" && { flock -n 9 || { say "$name: waits for another worker, which makes it" && flock 9; }; }; }; then
        say "cannot lock $dir/.batch/lock"
        exit 3
    fi
    # here, begin() has just written it; another machine must find its own programs
    if [[ ${HERE-} ]]; then
        key=$(<"$OUT/.batch/key")
        ! other_begun || { say "$name: $why"; exit 1; }
    else
        agreed || failed
    fi
    why=
    if ! known "$name"; then
        rm -f "$dir/.batch/whole"
        failed
    fi
    is_whole "$name" "$key" && exit 0
    local stopped=
    [[ -e $dir/.batch/whole || -e $dir/.batch/failed ]] || stopped=1
    # as few processes as may be, here and below: they are what a batch costs
    for f in "$dir/.batch/whole" "$dir/.batch/failed" "$dir/log"; do [[ ! -e $f ]] || rm -f "$f"; done
    local made='' anew=''
    [[ ! -s $dir/.batch/made ]] || made=$(<"$dir/.batch/made")
    if [[ $made != "$hash, $key"?(, anew) ]]; then
        # what is there is of another trace, or made otherwise; the recipe may make other files now
        all=("$dir"/*)
        if [[ -e ${all[0]} ]]; then
            results_of "$name"
            ((${#all[@]} == 0)) || why=$(cd "$dir" && rm -f -- "${all[@]}" 2>&1) || failed
            recipe "$name" clean || failed
            # What stays is the user's, or made on the way to a result: that is of another trace, or made otherwise.
            all=("$dir"/*)
            [[ ! -e ${all[0]} ]] || anew=', anew'
        fi
        write "$dir/.batch/made" "$hash, $key$anew"
    else
        [[ ! $stopped ]] || say "$name: taken up where an earlier run was stopped; what it has left half made is removed"
        recipe "$name" tidy || failed
        anew=${made#"$hash, $key"}
    fi
    if recipe "$name" results ${anew:+-W "$TRACES/$name.cf"}; then
        [[ ! -s $dir/.batch/log ]] || mv -f "$dir/.batch/log" "$dir/log"
        if IFS=, read -r bytes was _ <"$dir/.batch/manifest" && [[ $(modified "$name") != "$bytes,$was" ]]; then
            why="$TRACES/$name.cf was changed while its results were made"
            failed
        fi
        here=$(key 2>&1)
        if [[ $here != "$key" ]]; then
            # a part may be of what was there before: none of it is taken up, even when all is as it was again
            rm -f "$dir/.batch/made"
            why="the recipe or a file that it reads was changed while the results were made: $here; they were begun by $key"
            failed
        fi
        results_of "$name"
        for f in "${all[@]}"; do
            [[ -s $dir/$f ]] || { why="the recipe ended well, but $dir/$f is not there, or is empty"; failed; }
        done
        write "$dir/.batch/whole" "$hash, $key" "${all[@]}"
        exit 0
    fi
    failed
}

# other NAME BYTES,MODIFIED: whether the trace is another than that of the manifest, or gone; of another time, by its hash
other() {
    local row=$OUT/$1/.batch/manifest bytes was hash
    [[ -s $row ]] && IFS=, read -r bytes was hash _ <"$row" && [[ $bytes,$was != "$2" ]] || return
    [[ $bytes != "${2%,*}" || $(hash_of "$1") != "$hash "* ]]
}

# state NAME KEY BYTES,MODIFIED: into $state, and into $why what MANIFEST has against one that is whole
state() {
    local dir=$OUT/$1 now
    if other "$1" "$3"; then
        state=changed
    elif is_whole "$1" "$2"; then
        now=$(<"$dir/.batch/manifest")
        state=changed
        ! came "$1" || state=whole
    elif [[ -e $dir/.batch/lock ]] && ! flock -n "$dir/.batch/lock" true; then
        state=running
    elif [[ -s $dir/.batch/failed ]]; then
        state=failed
    else
        state=missing
    fi
}

# states NAME...: "state name why", tabs between; whole is what $now_by made, if given, else what the batch did
states() {
    local name state key why
    local -A facts=()
    key=${now_by:-$(cat "$OUT/.batch/key" 2>/dev/null)}
    while IFS=/ read -r why name; do facts[$name]=$why; done < <(cd "$TRACES" && printf '%s.cf\0' "$@" | LC_ALL=C xargs -0 stat -L -c '%s,%.9Y/%n' -- 2>/dev/null)
    for name; do
        why=
        state "$name" "$key" "${facts[$name.cf]-}"
        [[ $state == failed ]] && why=$(<"$OUT/$name/.batch/failed")
        # what programs have remarked, last
        [[ $state == whole && -s $OUT/$name/log ]] && why=$(tail -n 1 "$OUT/$name/log")
        printf '%s\t%s\t%s\n' "$state" "$name" "${why//[[:cntrl:]]/ }"
    done
}

# counts: of states, in one line; the status is 0 when all are whole
counts() {
    awk -F'\t' '{ n[$1]++ } END {
        all = split("whole running missing absent changed failed", s, " ")
        for (i = 1; i <= all; i++) if (n[s[i]]) { printf "%s%d %s", separator, n[s[i]], s[i]; separator = ", " }
        print ""; exit n["whole"] != NR }'
}

# ---- all of them ----

begin() {
    local key recipe name
    key=$(key) || exit
    is_manifest
    mkdir -p "$OUT/.batch" || exit 3
    recipe=$(basename "$RECIPE_FILE" .mk)
    if [[ -s $OUT/.batch/file && $(basename "$(<"$OUT/.batch/file")") != "$recipe" ]]; then
        say "$OUT holds results of recipe $(<"$OUT/.batch/recipe"): give another OUT"
        exit 2
    fi
    if [[ -s $OUT/.batch/key && $(<"$OUT/.batch/key") != "$key" ]]; then
        for name; do
            [[ ! -e $OUT/$name/.batch/lock ]] || flock -n "$OUT/$name/.batch/lock" true && continue
            say "another batch is at work on $name in $OUT: $(<"$OUT/.batch/key")"
            exit 3
        done
    fi
    write "$OUT/.batch/file" "$recipe"
    case $RECIPE_FILE in
    "$SCRIPTS"*) recipe=${recipe#recipe-} ;;
    *)
        # for who asks from another folder; but make takes no name with a blank
        recipe=$(realpath -s -- "$RECIPE_FILE")
        [[ $recipe != *[[:space:]]* ]] || recipe=$RECIPE_FILE
        ;;
    esac
    write "$OUT/.batch/recipe" "$recipe"
    write "$OUT/.batch/key" "$key"
    write "$OUT/.batch/folder" "$(pwd -P)"
    write "$OUT/.batch/run" '#!/bin/bash' 'unset MAKEFLAGS MFLAGS' "$BATCH_WORKER \"\$@\""
    chmod +x "$OUT/.batch/run"
    printf '%s/.batch\0' "${@/#/$OUT/}" | xargs -0 mkdir -p -- || exit 3
}

launch() {
    local todo at
    at=$(cd "$OUT/.batch" && pwd) && todo=$(states "$@" | awk -F'\t' '$1 != "whole" { print $2 }') || exit 3
    if [[ $todo ]]; then
        "by_$LAUNCH" "$at" "$todo"
    fi
    end "$@"
}

by_parallel() { # DIRECTORY NAMES
    need parallel parallel
    if [[ $(parallel --version 2>/dev/null) != "GNU parallel"* ]]; then
        say "the parallel on $(uname -n) is not GNU parallel: Debian's package parallel"
        exit 3
    fi
    local hosts status
    # shellcheck disable=SC2086,SC2153 # a list
    hosts=$(printf '%s,' $HOSTS)
    # A host without the programs would take all traces in no time. One whose worker of GNU parallel
    # does nothing (it runs what SHELL names) ends well too: each must answer.
    local answers host
    answers=$(parallel --will-cite --nonall --tag --sshlogin "${hosts%,}" "${1@Q}/run" check)
    status=$?
    for host in $HOSTS; do
        grep -qxF "${host##*/}"$'\t'"ready" <<<"$answers" || { say "host $host does not answer"; status=1; }
    done
    if ((status)); then
        say "not every host of '$HOSTS' can work: nothing was started"
        exit 3
    fi
    # What came of each trace, its state tells; here, whether each was begun.
    local all begun log
    all=$(wc -l <<<"$2")
    # without a name, so that none is left when this is killed
    log=$(mktemp) && exec 8<>"$log" && rm "$log" && log=/dev/fd/8 || exit 3
    local again
    for again in "; what is left is started again"{,} ""; do
        parallel --will-cite --sshlogin "${hosts%,}" ${JOBS:+--jobs "$JOBS"} --resume --joblog "$log" \
            "${1@Q}/run" one NAME={} <<<"$2"
        status=$?
        begun=$(awk 'NR > 1' "$log" 2>/dev/null | wc -l)
        ((begun < all)) || break
        ((status < 128)) || again= # by a signal, or it refuses: somebody ended it, or must mend it
        say "GNU parallel ended with status $status when $begun of $all traces were through$again"
        [[ $again ]] || break
    done
}

by_slurm() { # DIRECTORY NAMES
    need sbatch slurm-client
    [[ $ARRAY =~ ^[1-9][0-9]*$ ]] || { say "ARRAY='$ARRAY': give a number of jobs from 1 on"; exit 2; }
    local n from ids='' id submit names
    mapfile -t names <<<"$2"
    n=${#names[@]}
    # shellcheck disable=SC2206 # options
    submit=(sbatch --parsable --job-name=cf-batch $SBATCH)
    for ((from = 0; from < n; from += ARRAY)); do
        # its names are within it: no name has a character of the shell's
        id=$("${submit[@]}" --array="1-$((n - from < ARRAY ? n - from : ARRAY))" --output="$1/slurm-%A-%a.out" --requeue <<END
#!/bin/bash
names=(${names[*]:from:ARRAY})
exec ${1@Q}/run one NAME="\${names[SLURM_ARRAY_TASK_ID - 1]}"
END
        ) || exit 3
        ids+=:${id%%;*}
    done
    # The last one waits for all, however they end, and makes the page.
    submit+=(--dependency="afterany$ids" --output="$1/slurm-end.out")
    if [[ $WAIT == 0 ]]; then
        "${submit[@]}" "$1/run" end >/dev/null || exit 3
        say "$n traces submitted, jobs ${ids#:}: 'make ... status' tells how far they are"
        exit 0
    fi
    say "$n traces submitted, jobs ${ids#:}"
    # its own status does not count: what came of each trace, its state tells
    "${submit[@]}" --wait "$1/run" check >/dev/null || true
}

end() {
    local states=$OUT/.batch/states.$$ name f key why all
    key=$(<"$OUT/.batch/key") || exit 3
    ! other_begun || { say "$why"; exit 3; }
    { states "$@" && absent; } >"$states" || exit 3
    manifest_of "$@" || exit 3
    {
        cat "$states"
        for name; do
            results_of "$name"
            for f in "${all[@]}" log; do [[ ! -s $OUT/$name/$f ]] || printf 'file\t%s/%s\n' "$name" "$f"; done
        done
    } | manifest=$OUT/manifest.csv recipe=$(<"$OUT/.batch/recipe") key=$key LC_ALL=C awk -f "$SCRIPTS/batch-page.awk" |
        write "$OUT/index.html" || exit 3
    awk -F'\t' '$1 != "whole" || $3 { print "batch: " $2 ": " $1 ($3 ? ": " $3 : "") }' "$states" >&2
    counts <"$states"
    local status=$?
    rm -f "$states"
    return $status
}

# Those that stored.mk has looked at. As arguments of ours, or of one program, they could be too many.
case $1 in
begin | launch | end | status | manifest)
    mapfile -t names < <(shopt -s nullglob && LC_ALL=C && cd "$TRACES" && printf '%s\n' *.cf)
    names=("${names[@]%.cf}")
    [[ ${names[0]} ]] || { say "no traces (*.cf) in $TRACES"; exit 3; }
    ;;
esac

case $1 in
begin) begin "${names[@]}" ;;
check)
    agreed || { say "$why"; exit 3; }
    echo ready
    ;;
one) one "$2" ;;
launch) launch "${names[@]}" ;;
end) end "${names[@]}" ;;
status)
    is_manifest
    now_by=
    if [[ -s $OUT/.batch/key ]] && ! { agreed; differs=$?; ((!differs)); }; then
        if [[ ! $BATCH_GIVEN && -x $OUT/.batch/run ]] && other_begun; then
            # asked without variables: with those that the batch was begun with
            folder=$(<"$OUT/.batch/folder")
            [[ -d $folder ]] || { say "the batch was begun in $folder, which is not there: ask with its variables"; exit 3; }
            there() { realpath --relative-to="$folder" -- "$1"; }
            exec "$OUT/.batch/run" TRACES="$(there "$TRACES")" OUT="$(there "$OUT")" ${MANIFEST:+MANIFEST="$(there "$MANIFEST")"} status
        fi
        say "$why"
        ((differs == 2)) || now_by=$here
    fi
    all=$(states "${names[@]}" && absent)
    printf '%s\n' "$all" >&2
    counts <<<"$all"
    ;;
manifest)
    status=0
    for name in "${names[@]}"; do
        mkdir -p "$OUT/$name/.batch" || exit 3
        row=$([[ -f $TRACES/$name.cf ]] && describe "$name") || { say "cannot read $TRACES/$name.cf" && status=1 && continue; }
        write "$OUT/$name/.batch/manifest" "$row"
    done
    manifest_of "${names[@]}" || exit 3
    exit $status
    ;;
esac
