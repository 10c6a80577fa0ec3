# SPDX-License-Identifier: BSD-2-Clause
#
# What holds for every program alike. Each test goes through all programs of its kind (the table is
# in lib.bash) and names each one that breaks the rule.
# Takes long: thousands of runs.
load lib

setup_file() {
    # Streams that no program of ours would write come from a C program of the unit tests.
    export MAKE_STREAM=$B/test/make_stream STREAMS=$BATS_FILE_TMPDIR
    local kind
    for kind in plain full bare empty cut; do
        "$MAKE_STREAM" $kind >"$STREAMS/$kind.cf"
        "$MAKE_STREAM" $kind "$STREAMS/$kind.packed.cf"
    done
    "$MAKE_STREAM" unknown >"$STREAMS/unknown.cf"
    cf-cat -o "$STREAMS/unknown.packed.cf" "$STREAMS/unknown.cf"
}

setup() {
    lib_setup
    PATH=${PATH#"$B/here/bin:"}
    # not at each command of what is called thousands of times: that takes longer than the programs do,
    # and what fails here says so itself
    # shellcheck disable=SC2046 # names
    declare +t -f $(compgen -A function -X 'bats_*')
    # of a program that hangs, in seconds of the processor; one that waits is ended by tests/run
    ulimit -S -t 600
    bad=
}

complain() { # PROGRAM WHAT [FILE]: notes that a program breaks the rule of this test
    bad+="$1: $2"$'\n'
    [[ -n ${3:-} && -s $3 ]] && bad+=$(head -n 5 "$3" | sed 's/^/    /')$'\n'
    return 0
}

verdict() {
    [[ -z $bad ]] || fail "$bad"
}

# go PROGRAM [ARGUMENT...]: runs the program as it is meant to be run, with standard input as it is,
# to `out` and `err`; puts its exit status into `status`.
go() {
    local p=$1
    shift
    program_args "$p"
    status=0
    "$p" "${args[@]}" "$@" >out 2>err || status=$?
    # A sanitizer's find, a signal other than SIGPIPE and a hang are wrong in every test.
    case $status in
    99) complain "$p" "the sanitizer found something with: $*" err ;;
    137 | 152) complain "$p" "hangs with: $*" ;;
    132 | 134 | 135 | 136 | 139) complain "$p" "dies by signal $((status - 128)) with: $*" err ;;
    esac
}

# expect PROGRAM STATUS WHAT: what `go` has seen.
expect() {
    [[ $status == "$2" ]] || complain "$1" "exit status $status and not $2 $3" err
}

# names TEXT: it stands in what the program said on standard error.
names() {
    local said
    read -r -d '' said <err || :
    [[ $said == *"$1"* ]]
}

# told PROGRAM WHAT: a message on standard error that begins with the program's name.
told() {
    local said
    read -r -d '' said <err || :
    [[ $'\n'$said == *$'\n'"$1: "* ]] || complain "$1" "says nothing, or not '$1: ...', $2" err
}

@test "every program of the tree is built and stands in the table" {
    local f p
    for f in "$ROOT"/filters/cf-*.c "$ROOT"/capture/cf-*.c; do
        p=$(basename "$f" .c)
        program_is "$p" || complain "$p" "is not in program_table of tests/lib.bash"
        [[ -x $B/bin/$p ]] || complain "$p" "is not built"
    done
    for p in $(program_table | awk '{ print $1 }'); do
        [[ $p != cf-template ]] || continue
        [[ -f $ROOT/filters/$p.c || -f $ROOT/capture/$p.c ]] ||
            complain "$p" "is in the table but not in the tree"
    done
    verdict
}

@test "--help: status 0, on standard output, fits a screen, names the program" {
    local p option line said
    for p in $(programs); do
        for option in --help -h; do
            status=0
            "$p" $option >out 2>err </dev/null || status=$?
            expect "$p" 0 "for $option"
            [[ ! -s err ]] || complain "$p" "$option writes to standard error" err
            # cf-capture-NAME may call itself "cf-capture NAME"
            mapfile -t said <out
            [[ ${said[0]} =~ ^[Uu]sage:\ ($p|${p/capture-/capture })(\ |$) ]] ||
                complain "$p" "$option does not begin with 'usage: $p'" out
            [[ ${#said[@]} -le 40 ]] || complain "$p" "$option has ${#said[@]} lines, over 40"
            for line in "${said[@]}"; do
                [[ ${#line} -le 100 && $line != *$'\t'* ]] ||
                    complain "$p" "$option has a line of over 100 columns, or a tab: $line"
            done
        done
    done
    verdict
}

@test "--version: status 0, one line with name and version" {
    local p said
    for p in $(programs); do
        status=0
        "$p" --version >out 2>err </dev/null || status=$?
        expect "$p" 0 "for --version"
        mapfile -t said <out
        [[ ${said[0]} =~ ^$p\ .*[0-9]+\.[0-9]+ && ${#said[@]} == 1 && ! -s err ]] ||
            complain "$p" "--version says" out
    done
    verdict
}

@test "a bad option: status 2, points to --help, nothing on standard output" {
    local p
    for p in $(programs); do
        for option in --no-such-option -%; do
            go "$p" $option </dev/null
            expect "$p" 2 "for $option"
            names --help || complain "$p" "does not point to --help after $option" err
            [[ ! -s out ]] || complain "$p" "writes to standard output after $option" out
        done
    done
    verdict
}

@test "an option that is called otherwise now: its old name works, and warns" {
    local p old now before
    while read -r p old now; do
        # no value is right for it, so that the option is all that is looked at
        go "$p" "--$old" @ </dev/null
        [[ $(head -n 1 err) == "$p: --$old is --$now now, and will be unknown in the next version" ]] ||
            complain "$p" "no warning of --$old" err
        before=$status
        tail -n +2 err | cat - out >said
        go "$p" "--$now" @ </dev/null
        cat err out | sed "s/--$now/--$old/" >as
        sed "s/--$now/--$old/" said | cmp -s - as && [[ $before == "$status" ]] ||
            complain "$p" "--$old is not what --$now is" said
        "$p" --help >out
        grep -q -e "--$now[ ,]" out || complain "$p" "--$now is not in --help"
        ! grep -q -e "--$old[ ,]" out || complain "$p" "--$old is in --help"
    done <<'END'
cf-cache memory ram
cf-cache page page-size
cf-capture-snapshot memory cache
cf-clash table term
cf-distance max bound
cf-heatmap size picture-size
cf-merge cpus cores
cf-occupancy size picture-size
cf-policy lines watch
cf-policy region addr
cf-policy ways choices
cf-sets size picture-size
END
    verdict
}

@test "--help and --version to a full disk are errors" {
    local p option
    for p in $(programs); do
        for option in --help --version; do
            status=0
            "$p" $option >/dev/full 2>err </dev/null || status=$?
            expect "$p" 3 "for $option with a full disk"
        done
    done
    verdict
}

@test "values of options: a number, power, fraction, list or word that is none ends with status 2 and says why" {
    refused() { # MESSAGE PROGRAM ARGUMENT...
        run -2 --separate-stderr "${@:2}" </dev/null
        [[ $stderr == "$2: --"*"': $1"* ]] || complain "$2" "says '$stderr' and not '$1'"
    }
    taken() { # PROGRAM ARGUMENT...: of an empty input
        run -1 --separate-stderr "$@" </dev/null
        [[ $stderr != *"'${*: -1}'"* ]] || complain "$1" "refuses: $stderr"
    }
    local value

    for value in 0 -1 1.01 nan inf x '' 0.5x; do
        refused 'must be a number above 0 and at most 1' cf-distance --rate "$value"
    done
    taken cf-distance --rate 1
    for value in 0 1 2; do
        refused 'must be a number above 0 and below 1' cf-policy --alpha "$value"
    done
    for value in -0.1 100.1; do
        refused 'must be a number from 0 to 100' cf-rank --by op --cover="$value"
    done
    taken cf-rank --by op --cover=0,100
    for value in 0 2 48 128K; do
        refused 'must be a power of two from 4 to 65536' cf-distance --line-size "$value"
    done
    taken cf-distance --line-size 4
    taken cf-distance --line-size 64K
    for value in 0 48; do
        refused 'must be a power of two' cf-mrc --line-size "$value"
    done
    taken cf-mrc --line-size 1
    for value in '' lode 'load store' loads; do
        refused 'give one of load, store, ifetch, prefetch, flush' cf-select --op load --op "$value"
    done
    run -2 cf-select --op load, </dev/null
    taken cf-select --op load,flush
    refused 'give one of page, region, object, site, source, function, symbol, thread, process, cache-line, address, op' \
        cf-rank --by pages
    refused 'must be from 1 to 1024' cf-sweep --ways 0
    run -2 cf-sweep --ways 1,2, </dev/null
    run -2 cf-sweep --ways "$(seq -s, 33)" </dev/null
    has '--ways: more than 32 numbers'
    taken cf-sweep --ways "$(seq -s, 32)"
    verdict
}

@test "empty input: status 1 and a message" {
    local p
    for p in $(programs annotator reducer maker importer); do
        go "$p" </dev/null
        expect "$p" 1 "with no input at all"
        told "$p" "with no input at all"
        ! program_is "$p" reducer || [[ ! -s out ]] || complain "$p" "prints a result of nothing" out
        program_is "$p" annotator || continue
        # a file that is there stays, one that is not does not come
        rm -f none.cf
        echo old >old.cf
        go "$p" -o old.cf </dev/null
        [[ $status == 1 && $(<old.cf) == old ]] || complain "$p" "leaves nothing where a file was" err
        go "$p" -o none.cf </dev/null
        [[ $status == 1 && ! -e none.cf ]] || complain "$p" "makes a file of nothing" err
    done
    verdict
}

@test "a stream with a header only: status 0, and annotators hand it on" {
    local p
    for p in $(programs annotator reducer maker); do
        go "$p" <"$STREAMS/empty.cf"
        if [[ $status != 0 ]]; then
            # A reducer without a row may have nothing to say, if it says so.
            expect "$p" 1 "for a stream without rows"
            told "$p" "for a stream without rows"
            program_is "$p" reducer || program_is "$p" maker ||
                complain "$p" "fails for a stream without rows" err
        fi
        if program_is "$p" annotator; then
            cp out copy.cf
            go cf-cat <copy.cf
            [[ $status == 0 ]] || complain "$p" "hands on a header-only stream that does not read" err
        fi
    done
    verdict
}

@test "a stream of another kind: status 1, one message, and reducers print nothing" {
    local p kind
    printf 'time,op,addr,size\n1,load,64,8\n2,store,128,8\n' | stream accesses.cf
    printf 'snapshot,set,way,state,phys,pid\n1,0,0,1,64,7\n' >lines.csv
    stream lines.cf --table line lines.csv
    for p in cf-cache cf-classify cf-distance cf-latency cf-sample cf-pages cf-histogram cf-mrc cf-rank cf-report \
        cf-sweep cf-clash cf-diff cf-occupancy cf-policy cf-sets; do
        kind=lines
        [[ ! $p =~ clash|diff|occupancy|policy|sets ]] || kind=accesses
        go "$p" $kind.cf
        expect "$p" 1 "for a stream of $kind"
        [[ $(<err) == "$p: $kind.cf: there are records, but none of table "* && $(wc -l <err) == 1 ]] ||
            complain "$p" "does not say which records are missing" err
        program_is "$p" reducer && [[ -s out ]] && complain "$p" "prints a result for a stream of $kind" out
    done
    # nor does a remark stand before it: on a machine whose latencies are an estimate, or whose index is not
    # described, or on too few samples
    sed 's/name: L2,/&  index: hashed,/' "$ROOT/formats/machines/raspberry-pi-4.yaml" >hashed.yaml
    for p in cf-latency 'cf-latency --summary' cf-pages cf-cache 'cf-cache --summary' cf-classify \
        'cf-classify --summary' 'cf-classify --rule cacheperf'; do
        # shellcheck disable=SC2086 # a program and its options
        status=0 && $p -m ./hashed.yaml lines.cf >out 2>err || status=$?
        [[ $status == 1 && $(wc -l <err) == 1 ]] || complain "${p%% *}" "remarks on what it refuses" err
    done
    # a column that is missing, alike
    for p in 'cf-rank --by function' cf-mrc cf-histogram cf-report; do
        # shellcheck disable=SC2086 # a program and its options
        go $p accesses.cf
        expect "$p" 1 "without its column"
        [[ $(wc -l <err) == 1 ]] || complain "${p%% *}" "remarks on what it refuses" err
        told "${p%% *}" "without its column"
        [[ ! -s out ]] || complain "$p" "prints a result without its column" out
    done
    # also as a second input, and beside the stream of an annotator
    printf 'snapshot,time,mode,level,sets,ways\n1,100,33,2,4,2\n' >snapshots.csv
    printf 'snapshot,set,way,state,phys,addr,pid\n1,1,0,E,64,64,7\n' |
        stream filled.cf --table line --with snapshot=snapshots.csv
    for p in 'cf-diff --against accesses.cf filled.cf' 'cf-policy --accesses filled.cf filled.cf' \
        'cf-cache --summary filled.cf' 'cf-cache --summary -o o.cf filled.cf' \
        'cf-classify --summary -o o.cf filled.cf'; do
        # shellcheck disable=SC2086 # a program and its options
        go $p
        expect "$p" 1 "with an input of the wrong kind"
        [[ $(<err) == *'none of table '* && ! -s out ]] || complain "$p" "takes an input of the wrong kind" out err
    done
    go cf-select --function main filled.cf
    expect cf-select 0 "for lines without the column of a condition"
    told cf-select "for lines without the column of a condition"
    # rows whose addresses are not known, and transfers, belong to accesses, in whatever part of them
    printf 'time,op,size,pc\n1,load,4,64\n' | stream unplaced.cf --table unplaced
    printf 'snapshot,time,mode,level,sets,ways\n1,100,33,2,4,2\n' >snapshots.csv
    printf 'snapshot,set,way,state\n' | stream empty.cf --table line --with snapshot=snapshots.csv
    for p in cf-sweep cf-report 'cf-heatmap --value bytes' 'cf-select --op store'; do
        # shellcheck disable=SC2086 # a program and its options
        go $p -q unplaced.cf
        expect "$p" 0 "for rows without addresses"
        # shellcheck disable=SC2086 # the same
        go $p -q empty.cf
        [[ $p == cf-select* ]] || expect "$p" 1 "for snapshots of an empty cache"
    done
    go cf-occupancy -q empty.cf
    expect cf-occupancy 0 "for snapshots of an empty cache"
    go cf-heatmap -q unplaced.cf
    expect cf-heatmap 0 "for rows without addresses"
    # nor does a part of the time make one kind of another
    go cf-heatmap -q --value stores --time 5-6 lines.cf
    expect cf-heatmap 1 "for a part of the time of lines"
    cf-cat -o packed.cf accesses.cf
    for kind in accesses.cf packed.cf; do
        go cf-heatmap -q --value stores --time 5-6 $kind
        expect cf-heatmap 0 "for a part of the time without accesses"
    done
    # an input without any records is none of another kind
    printf 'time,op,addr,size\n' | stream none.cf
    for p in cf-rank cf-diff; do
        go "$p" -q none.cf
        expect "$p" 0 "for a stream without records"
    done
    verdict
}

@test "a whole stream, raw and packed: status 0, no message, the same result twice and from both" {
    local p
    for p in $(programs annotator reducer maker); do
        # what a program finds remarkable may go to standard error, but not with -q
        go "$p" -q "$STREAMS/full.cf"
        expect "$p" 0 "for a whole stream"
        [[ ! -s err ]] || complain "$p" "has something to say about a whole stream with -q" err
        [[ -s out ]] || complain "$p" "gives nothing for a whole stream"
        mv out first
        go "$p" -q "$STREAMS/full.cf"
        cmp -s first out || complain "$p" "gives something else when run again"
        if program_is "$p" reducer; then
            go "$p" "$STREAMS/full.packed.cf"
            cmp -s first out || complain "$p" "gives something else for the packed file"
            go "$p" <"$STREAMS/full.cf"
            cmp -s first out || complain "$p" "gives something else from standard input"
        elif program_is "$p" maker; then
            cf-cat --csv --table page first >first.csv
            go "$p" "$STREAMS/full.packed.cf"
            cf-cat --csv --table page <out | cmp -s first.csv || complain "$p" "gives something else for the packed file"
            go "$p" <"$STREAMS/full.cf"
            cf-cat --csv --table page <out | cmp -s first.csv || complain "$p" "gives something else from standard input"
        else
            cf-cat --csv --table access first >first.csv
            go "$p" "$STREAMS/full.packed.cf"
            cf-cat --csv --table access <out >second.csv
            cmp -s first.csv second.csv || complain "$p" "gives other rows for the packed file"
        fi
    done
    verdict
}

# Each process hashes with a seed of its own. Here all keys have equal counts, so that only an order
# that is total makes the output one.
@test "where many keys are equal, the output does not depend on the seed of the hash" {
    local command first again n=0
    awk 'BEGIN {
        print "time,pid,tid,op,size,addr,phys,region,page,object,function,dist"
        for (i = 0; i < 3000; i++) {
            p = i % 20; k = i % 300
            printf "%d,%d,%d,load,8,%d,%d,r%d,%d,%d,f%d,%d\n", i, p + 1, p + 100 * (k % 3), k * 4096 + p * 64,
                p * 1048576 + k * 4096 + p * 64, k % 50, k, k + 1, k % 60, 1000 + k
        } }' | cf-capture csv -q -o ties.cf -
    cf-cache -q -m tegra-x1 --snapshot-every 500 --snapshot-level L2 --frames random --ram 1G ties.cf >snaps.cf
    while read -r command; do
        n=$((n + 1))
        first=$($command) || complain "$command" "fails"
        for again in 1 2 3; do
            again=$($command) || true
            [[ $first && $again == "$first" ]] || complain "$command" "gives something else when run again"
        done
    done <<END
cf-rank -q --by page ties.cf
cf-rank -q --by object ties.cf
cf-rank -q --by thread ties.cf
cf-rank -q --by process ties.cf
cf-rank -q --by cache-line ties.cf
cf-rank -q --by function ties.cf
cf-histogram -q --bins exact ties.cf
cf-histogram -q --bins exact --by pid ties.cf
cf-histogram -q --column region --by pid ties.cf
cf-mrc -q --by tid ties.cf
cf-cat -q --info ties.cf
cf-cat -q --csv --table line snaps.cf
cf-occupancy -q snaps.cf
cf-sets -q --summary snaps.cf
cf-diff -q --by process snaps.cf
cf-diff -q --virtual snaps.cf
cf-clash -q a=snaps.cf b=snaps.cf
cf-policy -q --set 0-63 --group cycle:3 --survivors /dev/stdout snaps.cf
cf-policy -q --accesses ties.cf --policies /dev/stdout snaps.cf
END
    [[ $n == 19 ]]
    verdict
}

@test "without the columns of other filters: status 0, or status 1 and the missing column is named" {
    local p
    for p in $(programs annotator reducer maker); do
        go "$p" "$STREAMS/plain.cf"
        [[ $status == 0 ]] && continue
        expect "$p" 1 "without the columns of other filters"
        told "$p" "without the columns of other filters"
    done
    verdict
}

@test "accesses and lines of which nothing but the time is known: one message that names what lacks" {
    local p
    for p in $(programs annotator reducer maker); do
        go "$p" -q "$STREAMS/bare.cf"
        case $p in
        # what needs none of the columns, or takes a line without an owner for nobody's
        cf-cat | cf-export | cf-merge | cf-resolve | cf-occupancy | cf-sets | cf-clash)
            expect "$p" 0 "for accesses that have a time only"
            ;;
        cf-infer)
            expect "$p" 1 "for accesses that have a time only"
            grep -q 'none of table probe' err || complain "$p" "does not name the table" err
            ;;
        *)
            expect "$p" 1 "for accesses that have a time only"
            grep -qE "^$p: .*table (access|line) has no column '(addr|op|set|dist|hit|class|function|source|stack|region)'" err ||
                complain "$p" "does not name the column" err
            ;;
        esac
        # one for each table at the most
        [[ $(wc -l <err) -le 2 ]] || complain "$p" "says too much" err
    done
    # the first column that the filter needs, also where options bring in another way
    for p in cf-distance 'cf-cache -m tegra-x1' 'cf-cache -m tegra-x1 --summary' \
        'cf-classify -m tegra-x1' 'cf-classify -m leon4-n2x --rule leon4' \
        'cf-classify -m leon4-n2x --rule leon4 --no-addresses' 'cf-sweep'; do
        run -1 bash -c "$p '$STREAMS/bare.cf' 2>&1 >/dev/null"
        has "table access has no column 'addr'"
        [[ ${#lines[@]} == 1 ]] || complain "$p" "says: $output"
    done
    run -1 bash -c "cf-mrc '$STREAMS/bare.cf' 2>&1 >/dev/null"
    has "no column 'dist': first run the stream through cf-distance"
    run -1 bash -c "cf-latency -m tegra-x1 '$STREAMS/bare.cf' 2>&1 >/dev/null"
    has "no column 'hit': first run the stream through cf-cache"
    verdict
}

# refuses FILE PROGRAM [ARGUMENT...]: takes all accesses, and makes nothing of samples.
refuses() {
    local file=$1 column
    shift
    "$@" all.cf >"$file" 2>err || complain "$*" "refuses all accesses" err
    for column in weight stage facts; do
        status=0
        "$@" $column.cf >"$file" 2>err || status=$?
        expect "$*" 1 "for samples, by column $column"
        [[ $(grep -c 'the accesses are samples (column weight or stage, or facts of them): give the recording' err) == 1 ]] ||
            complain "$*" "does not say what is wrong, by column $column" err
        [[ $file == text && ! -s text ]] || [[ $file == out && -z $(rows access out) ]] ||
            complain "$*" "makes something of samples, by column $column" "$file"
    done
}

@test "samples are no recording of all accesses: what models caches of them refuses them" {
    local column p
    printf '%s\n' time,pid,tid,op,size,addr,pc,region,page,hit 1,7,7,load,8,0x1000,1,a,1,1 >all.csv
    stream all.cf --clock instructions all.csv
    for column in weight stage; do
        sed "1s/\$/,$column/; 2s/\$/,1/" all.csv | stream $column.cf --clock instructions
    done
    # of which only the header still says it
    make_stream through x weight loads 10 <all.cf >facts.cf
    refuses out cf-cache -m tegra-x1
    refuses out cf-cache -m tegra-x1 --snapshot-every 10
    refuses out cf-classify -m tegra-x1 --hit
    refuses out cf-distance
    refuses out cf-distance -j 2
    refuses out cf-sample -m tegra-x1 --loads 1
    refuses text cf-cache -m tegra-x1 --summary
    refuses text cf-cache -m tegra-x1 --summary -j 2
    refuses text cf-classify -m tegra-x1 --summary -j 2
    refuses text cf-classify -m leon4-n2x --rule leon4 --summary
    refuses text cf-sweep
    refuses text cf-report -q -m tegra-x1
    # the rest is processed, and there is no result of parts of samples
    for p in 'cf-cache -m tegra-x1 --cores 1 --summary' 'cf-classify -m tegra-x1 --cores 1 --summary'; do
        run -1 bash -c "$p all.cf weight.cf 2>err"
        is "$($p all.cf)"
        run -1 bash -c "$p --partial stage.cf >p.cf 2>err"
        run -1 bash -c "$p p.cf 2>err"
        is ""
    done
    verdict
}

@test "something that is no stream: status 1 and a message that names the input" {
    local p
    printf 'time,op,addr\n1,load,0x10\n' >text.cf
    head -c 100000 /dev/zero >zero.cf
    { printf '\x89CFL\r\n\x1a\n' && head -c 60 /dev/zero; } >head.cf
    { printf '\x89CFL\r\n\x1a\n\xff\xff' && tail -c +11 "$STREAMS/full.cf"; } >newer.cf
    for p in $(programs annotator reducer maker); do
        for file in text.cf zero.cf head.cf newer.cf; do
            go "$p" $file
            expect "$p" 1 "for $file"
            told "$p" "for $file"
            names $file || complain "$p" "does not name $file" err
            # behind a segment of another version comes one that is read
            ! program_is "$p" reducer || [[ ! -s out || $file == newer.cf ]] ||
                complain "$p" "prints a result of $file" out
        done
    done
    verdict
}

# readers PLACE FEW...: who is tried with a stream that is damaged there. All programs read by the same
# library, of which test_damage tries every place; so all of them see a few, in the head, in the rows
# and at the end, and the rest one that reads all and one that skips what it need not read.
readers() {
    if [[ " ${*:2} " == *" $1 "* ]]; then programs annotator reducer maker; else printf '%s\n' cf-cat cf-select; fi
}

@test "a stream cut off at many places: status 1 and a message, annotators end their output and say of what it is" {
    local p kind n size
    for kind in full.cf full.packed.cf; do
        size=$(stat -c %s "$STREAMS/$kind")
        # the first head and frames, places all over, and the last bytes
        for n in 1 7 31 32 33 100 400 999 $((size / 7)) $((size / 3)) $((size / 2)) \
            $((size * 9 / 10)) $((size - 40)) $((size - 9)) $((size - 1)); do
            head -c "$n" "$STREAMS/$kind" >cut.cf
            for p in $(readers "$n" 1 33 $((size / 2)) $((size * 9 / 10)) $((size - 1))); do
                go "$p" cut.cf
                expect "$p" 1 "for $kind cut off after $n of $size bytes"
                told "$p" "for $kind cut off after $n bytes"
                if [[ $n -gt 1000 ]] && program_is "$p" annotator; then
                    cp out copy.cf
                    wanting copy.cf || complain "$p" "leaves another stream when its input is cut off after $n" err
                fi
            done
        done
    done
    verdict
}

@test "behind a program whose input was cut off: status 1 and a message, in a pipe and from a file, packed or not" {
    local p file
    head -c $(($(stat -c %s "$STREAMS/full.cf") * 9 / 10)) "$STREAMS/full.cf" >cut.cf
    cf-cat cut.cf 2>/dev/null >raw.cf || [[ $? == 1 ]]
    cf-cat raw.cf 2>/dev/null | cat >piped.cf || [[ $? == 1 ]]
    cf-cat -o packed.cf cut.cf 2>/dev/null || [[ $? == 1 ]]
    for p in $(programs annotator reducer maker); do
        for file in piped.cf packed.cf; do
            go "$p" - <$file
            expect "$p" 1 "for what a program made that found its input cut off"
            names 'its own input was cut off' || complain "$p" "does not tell" err
        done
    done
    verdict
}

@test "an input that is damaged before its first record: status 1 and a message, and reducers print nothing" {
    local p
    cf-capture csv no-such-file 2>/dev/null >raw.cf || [[ $? == 1 ]]
    head -c $(($(stat -c %s raw.cf) - 1)) raw.cf >cut.cf
    for p in $(programs reducer); do
        for file in raw.cf cut.cf; do
            go "$p" $file
            expect "$p" 1 "for $file"
            told "$p" "for $file"
            [[ ! -s out ]] || complain "$p" "prints a result of $file" out
        done
    done
    verdict
}

@test "a stream without its end frame: status 1 and a message" {
    local p
    for p in $(programs annotator reducer maker); do
        for kind in cut.cf cut.packed.cf; do
            go "$p" "$STREAMS/$kind"
            expect "$p" 1 "for $kind"
            told "$p" "for $kind"
        done
    done
    verdict
}

@test "a byte changed at many places: status 1 and a message" {
    local p kind n size byte
    for kind in full.cf full.packed.cf; do
        size=$(stat -c %s "$STREAMS/$kind")
        for n in 9 20 40 200 600 1500 $((size / 5)) $((size / 2)) $((size * 4 / 5)) $((size - 20)); do
            cp "$STREAMS/$kind" changed.cf
            byte=$(od -An -tu1 -j "$n" -N 1 changed.cf)
            printf '%b' "\\x$(printf %02x $((byte ^ 0x55)))" |
                dd of=changed.cf bs=1 seek="$n" conv=notrunc status=none
            for p in $(readers "$n" 20 600 $((size / 2)) $((size - 20))); do
                go "$p" changed.cf
                expect "$p" 1 "for $kind with byte $n changed"
                told "$p" "for $kind with byte $n changed"
            done
        done
    done
    verdict
}

@test "a file that does not exist, a directory: status 1 and a message that names it" {
    local p
    mkdir dir.cf
    for p in $(programs annotator reducer maker importer); do
        for file in none.cf dir.cf; do
            go "$p" $file </dev/null
            expect "$p" 1 "for $file"
            told "$p" "for $file"
            names $file || complain "$p" "does not name $file" err
            ! program_is "$p" reducer || [[ ! -s out ]] || complain "$p" "prints a result of $file" out
        done
    done
    verdict
}

@test "standard output on a full disk: status 3 and a message" {
    local p
    for p in $(programs annotator reducer maker); do
        program_args "$p"
        status=0
        timeout 1800 "$p" "${args[@]}" "$STREAMS/full.cf" >/dev/full 2>err || status=$?
        expect "$p" 3 "when standard output is full"
        told "$p" "when standard output is full"
    done
    verdict
}

@test "messages stay out of the output where standard streams are closed" {
    local p
    head -c $(($(stat -c %s "$STREAMS/full.cf") / 2)) "$STREAMS/full.cf" >cut.cf
    cf-cat -o good.cf cut.cf 2>err || [ $? -eq 1 ]
    status=0
    cf-cat -o good.cf <cut.cf 2>&- || status=$?
    [ $status -eq 1 ]
    wanting good.cf || complain cf-cat "wrote its message into its output" err
    verdict
}

@test "the reader of our output has gone: we end at once and say nothing" {
    local p
    for p in $(programs annotator reducer maker); do
        program_args "$p"
        # bats may have told its children to ignore SIGPIPE; a shell does not.
        status=0
        unread env --default-signal=PIPE timeout 1800 "$p" -q "${args[@]}" "$STREAMS/full.cf" 2>err || status=$?
        [[ ! -s err ]] || complain "$p" "complains when nobody reads its output" err
        [[ $status == 141 ]] || complain "$p" "ends with status $status, not by SIGPIPE"
    done
    verdict
}

@test "binary output is not written to a terminal: status 2 and a message" {
    local p
    printf 'time,op,addr\n1,load,0x10\n' >in.csv
    for p in $(programs annotator) cf-capture-csv; do
        [[ -x $B/bin/$p ]] || continue
        program_args "$p"
        file=$STREAMS/full.cf
        [[ $p == cf-capture-csv ]] && file=in.csv
        status=0
        timeout 1800 script -qec "$p ${args[*]} $file" /dev/null </dev/null >out 2>err || status=$?
        expect "$p" 2 "when standard output is a terminal"
        grep -q "^$p: .*terminal" out || complain "$p" "does not tell of the terminal" out
        ! grep -qa CFL out || complain "$p" "writes a stream to the terminal"
    done
    verdict
}

@test "no control or format character of an input reaches a terminal, in output, CSV or messages" {
    need script 'makes a terminal'
    local p evil file long
    evil=$'a\e]0;x\a\e[31m \302\233 \233 \177 \330\234 \342\200\216 \342\200\217 \342\200\252 \342\200\256 \342\201\246 \342\201\251 z'
    long=$(printf '\302\233%.0s' {1..60})
    printf 'time,pid,op,start,end,label\n0,7,map,0x1000,0x9000,"%s"\n' "$evil" >m.csv
    {
        printf 'time,pid,tid,op,size,addr,pc,region,page,function,hit,class,cost,dist\n'
        printf '1,7,7,load,8,0x1000,0x400000,"%s",1,"%s",1,2,4,3\n' "$evil" "$evil"
        printf '2,7,7,store,8,0x2000,0x400004,"%s",2,"%s",255,1,9,5\n' "$long" "$long"
    } | stream evil.cf --with map=m.csv --clock "$evil"
    file=$'b\302\233 \233 \342\200\256 \e[31m.cf'
    cp evil.cf "$file"
    printf '%s' 'line_size: 64
levels: [{name: "L\e\u009B\u202E", size: 1KiB, ways: 2}]
latency: {memory: 9}
name: "m\e\u009B\u202E"' >evil.yaml
    for p in $(programs reducer) 'cf-cat --csv' 'cf-cat --dump' 'cf-cat --info' 'cf-cat --verify' \
        'cf-cat --csv --table map' 'cf-cache -m evil.yaml --summary' 'cf-rank --by function' \
        'cf-rank --csv --by function' 'cf-histogram --column function' 'cf-histogram --by region' \
        'cf-histogram --csv --by region' 'cf-heatmap --csv' 'cf-cache -m evil.yaml -o x.cf'; do
        program_args "${p%% *}"
        [[ $p == *' '* ]] && args=()
        printf '%q ' $p "${args[@]}" "$file" "none$file" >command
        script -qec "bash command" /dev/null </dev/null >out 2>&1 || :
        [[ -s out ]] || complain "$p" "says nothing"
        # escape sequences may only be ours, for colours and to clear a line
        ! LC_ALL=C grep -aqP '[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f]|\x1b(?!\[[0-9;]*[mK])|\x1b\[31m|\xc2[\x80-\x9f]|(?<![\x80-\xff])[\x80-\xbf]|\xd8\x9c|\xe2\x80[\x8b-\x8f\xaa-\xae]|\xe2\x81[\xa6-\xa9]' out ||
            complain "$p" "hands on what commands a terminal" out
    done
    # elsewhere the bytes stay
    cf-cat --csv --table map --columns label "$file" | grep -aqF "$evil"
    cf-rank --csv --by function "$file" | grep -aqF "$evil"
    # messages are the same everywhere
    run -1 cf-cat "none$file"
    is "cf-cat: noneb\\u009b \\x9b \\u202e \\x1b[31m.cf: No such file or directory"
    run -2 cf-rank --by "$evil" "$file"
    has 'a\x1b]0;x\x07\x1b[31m \u009b \x9b \x7f \u061c \u200e \u200f \u202a \u202e \u2066 \u2069 z'
    verdict
}

@test "standard input from a terminal: status 2 and a message" {
    local p
    for p in $(programs annotator reducer maker importer); do
        program_args "$p"
        status=0
        timeout 1800 script -qec "$p ${args[*]} >out" /dev/null </dev/null >err 2>&1 || status=$?
        expect "$p" 2 "when standard input is a terminal"
        grep -q "^$p: .*terminal" err || complain "$p" "does not tell of the terminal" err
    done
    verdict
}

@test "-o into a directory that does not exist: status 3 and a message that names it" {
    local p
    printf 'time,op,addr\n1,load,0x10\n' >in.csv
    for p in $(programs annotator) cf-capture-csv; do
        [[ -x $B/bin/$p ]] || continue
        file=$STREAMS/full.cf
        [[ $p == cf-capture-csv ]] && file=in.csv
        go "$p" -o no/such/dir.cf "$file"
        expect "$p" 3 "for -o no/such/dir.cf"
        told "$p" "for -o no/such/dir.cf"
        grep -q 'no/such/dir.cf' err || complain "$p" "does not name the file" err
    done
    verdict
}

@test "two results in one file: status 2, before anything is read or written" {
    local p options
    mkdir -p folder
    ln -sf x.svg link
    ln -sf x link.cf
    while read -r p options; do
        [[ -x $B/bin/$p ]] || continue
        # shellcheck disable=SC2086
        go "$p" $options no-such-input.cf </dev/null
        expect "$p" 2 "for $options"
        grep -q 'both write' err || complain "$p" "does not say that one result would be lost: $options" err
        [[ ! -e x.svg && ! -e x.partial ]] || complain "$p" "has written a file"
    done <<'END'
cf-cache -m raspberry-pi-4 --summary=x.svg -o x.svg
cf-heatmap --picture x.svg --html ./folder/../x.svg
cf-mrc --picture x.svg --html link
cf-rank --picture - --html -
cf-policy --accesses a.cf --choices x.svg --policies x.svg
cf-report --cacheperf --callgrind x.svg --html x.svg
cf-capture-trace -o x.svg --command-output x.svg -- true
cf-capture-trace -o x --command-output ./x.partial -- true
cf-capture-snapshot --command-output x.partial -o link.cf -- true
END
    # a file without a name, as of a variable that is not set, is noticed then, too
    for p in 'cf-cat -o' 'cf-heatmap --html' 'cf-capture-trace -o' 'cf-capture-qemu --command-output'; do
        # shellcheck disable=SC2086
        run -2 $p '' ./none
        has "an empty name: name a file"
        [ ! -e .partial ] || complain "$p" "has written .partial"
    done
    # standard output is one of them, but for -o
    for p in 'cf-heatmap --picture out.svg' 'cf-rank --html ./out.svg' 'cf-cache -m raspberry-pi-4 --summary=out.svg' \
        'cf-capture-trace --command-output out.svg -- true'; do
        options=0
        # shellcheck disable=SC2086
        $p </dev/null >out.svg 2>err || options=$?
        [[ $options == 2 ]] || complain "$p" "status $options where standard output is the same file" err
        grep -q 'both write' err || complain "$p" "does not say that one result would be lost" err
    done
    run -0 sh -c "cf-cat -o out.svg '$STREAMS/full.cf' >out.svg && cf-cat --verify out.svg"
    # what is no file takes several
    run -0 cf-cache -q -m raspberry-pi-4 --summary=/dev/null -o /dev/null "$STREAMS/full.cf"
    # and what is no recording is not written as FILE.partial
    run -0 cf-cache -q -m raspberry-pi-4 --summary=x.partial -o x "$STREAMS/full.cf"
    [[ -s x.partial && -s x ]]
    verdict
}

@test "an output that is an input: status 2, before it is replaced" {
    local p f options kept
    cp "$STREAMS/full.cf" x.cf
    printf 'addr\n1\n' >x.csv
    cp x.csv y.csv
    ln -sf x.cf link.cf
    mkdir -p folder
    cp x.csv folder/cachedump0.csv
    cp "$ROOT/formats/machines/raspberry-pi-4.yaml" m.yaml
    kept=$(cat x.cf x.csv y.csv m.yaml folder/* | sha256sum)
    while read -r p options; do
        # shellcheck disable=SC2086
        go "$p" $options <x.cf
        expect "$p" 2 "for $options"
        grep -q 'is an input, which the output would replace' err || complain "$p" "does not say that its input would be lost: $options" err
        [[ $(cat x.cf x.csv y.csv m.yaml folder/* | sha256sum) == "$kept" && -L link.cf ]] || complain "$p" "has written a file: $options"
    done <<'END'
cf-cat -o x.cf x.cf
cf-cat -o x.cf
cf-select --op load -o ./link.cf x.csv x.cf
cf-heatmap --html x.cf --picture y.svg link.cf
cf-capture-din -o x.csv x.csv
cf-capture-din -o x.csv y.csv x.csv
cf-capture-perf-data -o x.csv x.csv
cf-capture-csv -o x.csv --with map=x.csv y.csv
cf-capture-csv -o x.csv --with map=y.csv x.csv
cf-capture-dumpcache -o folder/cachedump0.csv folder
cf-cache -o m.yaml -m m.yaml x.cf
cf-cache --summary=m.yaml -m ./folder/../m.yaml x.cf
cf-classify -o m.yaml -m raspberry-pi-4 -m ./m.yaml x.cf
cf-infer --picture m.yaml --assume ./m.yaml x.cf
cf-rank --picture x.csv --before x.csv x.cf
cf-pages -o x.csv --rank x.csv x.cf
cf-capture-leon4 -b x.csv -o x.csv y.csv
cf-capture-qemu --system --image x.csv -o x.csv -- qemu-system-sparc
cf-capture-probe -o m.yaml --on ./m.yaml
END
    # nor does standard output, which need not empty the file first
    for p in 'cf-cat x.cf' 'cf-cat <x.cf' 'cf-rank --by address link.cf' 'cf-cat --csv y.csv x.cf' \
        'cf-rank --before x.cf y.csv' 'cf-capture-csv x.csv' 'cf-capture-csv --with map=x.csv y.csv' \
        'cf-capture-dumpcache folder/cachedump0.csv'; do
        for f in x.cf x.csv folder/cachedump0.csv; do
            [[ ${p/link/x} == *"$f"* ]] || continue
            options=0
            eval "$p" '1<>"$f" 2>err' || options=$?
            [[ $options == 2 ]] || complain "$p" "status $options where standard output is $f" err
            grep -q 'standard output is an input' err || complain "$p" "does not say that its input would be lost" err
        done
    done
    [[ $(cat x.cf x.csv y.csv m.yaml folder/* | sha256sum) == "$kept" ]] || complain "standard output" "damages an input"
    # a machine that is installed is no file of its name
    cp x.cf raspberry-pi-4
    run -0 cf-cache -q -m raspberry-pi-4 -o raspberry-pi-4 x.cf
    # what a program is given is its own
    run -0 cf-capture-trace -q -o x.csv --command-output /dev/null -- cat x.csv
    verdict
}

@test "an input that cannot be read to its end: status 3, and no file of its begin, in place of another" {
    local p
    for p in $(programs annotator) cf-heatmap cf-mrc cf-rank cf-sweep; do
        echo before >there.png
        if program_is "$p" reducer; then
            go "$p" --picture there.png "$STREAMS/full.cf" /proc/self/mem
        else
            go "$p" -o there.png "$STREAMS/full.cf" /proc/self/mem
        fi
        expect "$p" 3 "for an input that cannot be read to its end"
        told "$p" "for an input that cannot be read to its end"
        [[ $(tr -d '\0' <there.png) == before ]] || complain "$p" "makes a file of its begin"
    done
    "$B/bin/cf-cache" -q -m raspberry-pi-4 --snapshot-every 900 "$STREAMS/plain.cf" >lines.cf
    while read -r p options; do
        # shellcheck disable=SC2086
        go "$p" $options /proc/self/mem
        expect "$p" 3 "for an input that cannot be read to its end"
        [[ ! -e x.svg ]] || complain "$p" "makes a file of its begin: $options"
        rm -f x.svg
    done <<END
cf-policy --choices x.svg lines.cf
cf-classify -m xeon-6230 --summary --picture x.svg $STREAMS/full.cf
END
    verdict
}

@test "-o FILE: a packed file with the rows that a pipe gets, and no other file beside it" {
    local p
    for p in $(programs annotator); do
        mkdir "$p"
        go "$p" "$STREAMS/full.cf"
        mv out pipe.cf
        go "$p" -o "$p/file.cf" "$STREAMS/full.cf"
        expect "$p" 0 "for -o FILE"
        [[ ! -s out ]] || complain "$p" "writes to standard output in spite of -o"
        [[ $(ls "$p") == file.cf ]] || complain "$p" "leaves beside its output: $(ls "$p")"
        cf-cat --csv --table access pipe.cf >pipe.csv
        cf-cat --csv --table access "$p/file.cf" >file.csv
        cmp -s pipe.csv file.csv || complain "$p" "-o FILE holds other rows than the pipe"
    done
    verdict
}

@test "what is recorded and what every annotator writes keeps the order that cf-stream(5) promises" {
    local p file
    run -0 cf-cat --verify "$ROOT"/samples/*.cf "$STREAMS"/{plain,full,bare,empty,unknown}*.cf
    for p in $(programs annotator); do
        for file in full.cf full.packed.cf bare.cf unknown.cf; do
            go "$p" "$STREAMS/$file"
            ended=$status
            cf-cat --verify out >said || [[ $ended == 1 && $(<said) == *"its own input was"* ]] ||
                complain "$p" "$file becomes" said
        done
        go "$p" -o file.cf "$STREAMS/full.cf"
        cf-cat --verify file.cf >said || complain "$p" "writes a file" said
    done
    verdict
}

@test "unknown tables and columns pass through every annotator" {
    local p kind
    for p in $(programs annotator); do
        for kind in unknown.cf unknown.packed.cf; do
            go "$p" "$STREAMS/$kind"
            expect "$p" 0 "for a stream with unknown tables and columns"
            "$MAKE_STREAM" check <out >said || complain "$p" "harms what it does not know ($kind)" said
        done
        go "$p" -o packed.cf "$STREAMS/unknown.cf"
        "$MAKE_STREAM" check packed.cf >said || complain "$p" "harms what it does not know, into a file" said
    done
    verdict
}

@test "unknown tables and columns do not disturb a reducer" {
    local p
    for p in $(programs reducer); do
        go "$p" "$STREAMS/full.cf"
        mv out known
        go "$p" "$STREAMS/unknown.cf"
        expect "$p" 0 "for a stream with unknown tables and columns"
        # which writes all columns
        [[ $p != cf-export ]] || { grep -q their_number out && sed -i 's/,"their_number":.*/}/' out; }
        cmp -s known out || complain "$p" "says something else when unknown columns are there"
    done
    for p in $(programs maker); do
        go "$p" "$STREAMS/full.cf"
        cf-cat --csv --table page out >known
        go "$p" "$STREAMS/unknown.cf"
        expect "$p" 0 "for a stream with unknown tables and columns"
        cf-cat --csv --table page out | cmp -s known || complain "$p" "says something else when unknown columns are there"
    done
    verdict
}

@test "annotators add themselves to the chain of the header" {
    local p
    for p in $(programs annotator maker); do
        go "$p" "$STREAMS/full.cf"
        head -c 4096 out | grep -qa "$p" || complain "$p" "is not in the header of its output"
    done
    verdict
}

@test "two streams one after the other, as cat gives them, and as two files" {
    local p
    cat "$STREAMS/full.cf" "$STREAMS/full.packed.cf" >two.cf
    for p in $(programs annotator reducer maker); do
        go "$p" two.cf
        expect "$p" 0 "for two streams in one file"
        mv out one
        if program_is "$p" annotator; then
            cp one copy.cf
            go cf-cat copy.cf
            [[ $status == 0 ]] || complain "$p" "makes a damaged stream of two" err
        fi
    done
    verdict
}


@test "a live stream is handed on while it lasts" {
    local p part
    # 16,384 of the 20,000 accesses stand in the first frame
    part=$(($(stat -c %s "$STREAMS/full.cf") * 9 / 10))
    for p in $(programs annotator); do
        rm -f go out
        program_args "$p"
        # The rest is held back until the first part has come out, however long that takes.
        {
            head -c $part "$STREAMS/full.cf"
            gate go
            tail -c +$((part + 1)) "$STREAMS/full.cf"
        } | (
            set -o pipefail
            timeout 1800 "$p" -q "${args[@]}" | cat >out # into a file, rows would wait for others
        ) &
        eventually at_least out $((part / 5)) ||
            complain "$p" "sits on its data: $(stat -c %s out) bytes"
        touch go
        wait $! || complain "$p" "fails for a stream that comes in two parts"
    done
    verdict
}
