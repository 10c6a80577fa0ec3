# SPDX-License-Identifier: BSD-2-Clause
#
# make install and make uninstall: what is put where, that it works from there, that nothing is left.
# Takes long: a compiler and pipelines of what is installed.
load lib

setup_file() {
    export STREAMS=$BATS_FILE_TMPDIR
    "$B/test/make_stream" full >"$STREAMS/full.cf"
}

setup() {
    lib_setup
    reached "where files are put"
}

put() { # VARIABLE=VALUE...: installs what the build has made, without building
    make -s -C "$ROOT" B="$B" "$@" install-files
}

@test "install with DESTDIR and PREFIX puts every file where it belongs, for everybody, whatever the user mask" {
    umask 077
    run -0 put DESTDIR="$T/root" PREFIX=/opt/cf
    cd root/opt/cf
    local f
    for f in "$ROOT"/filters/cf-*.c "$ROOT"/capture/cf-*.c; do
        [[ -x bin/$(basename "$f" .c) ]] || fail "bin/$(basename "$f" .c) is missing"
    done
    for f in "$ROOT"/*/*.[157] "$ROOT"/*/*/*.[157]; do
        [[ -f $f ]] || continue
        [[ -f share/man/man${f##*.}/${f##*/} ]] || fail "the page ${f##*/} is missing"
    done
    for f in "$ROOT"/formats/machines/*.yaml; do
        cmp "$f" "share/cacheflow/machines/${f##*/}"
    done
    [[ -f lib/libcf.a && -f include/cacheflow/cf.h && -f lib/pkgconfig/cacheflow.pc ]]
    [[ -f share/bash-completion/completions/cf-cat ]]
    # nothing but what is listed, nothing outside, and all of it readable by everybody
    [[ $(ls) == $'bin\ninclude\nlib\nlibexec\nshare' ]] || fail "$(ls)"
    [[ $(ls "$T/root" "$T/root/opt") == *cf* ]]
    [[ -z $(find . ! -type l ! -perm -444) ]] || fail "$(find . ! -type l ! -perm -444)"
    # no link points nowhere
    [[ -z $(find . -xtype l) ]] || fail "$(find . -xtype l)"
}

@test "an installed filter runs" {
    put PREFIX="$T/cf"
    PATH=$T/cf/bin:/usr/bin:/bin
    [[ $(command -v cf-select) == "$T/cf/bin/cf-select" ]]
    run -0 bash -c "cf-select --op store '$STREAMS/full.cf' | cf-cat --csv --table access"
    has addr "${lines[0]}"
    has_not load
}

@test "installed programs find the machine descriptions beside them" {
    put PREFIX="$T/cf"
    local f name
    # Programs look beside themselves, so that this one stands for all of them.
    cp "$B/test/test_machine" cf/bin
    for f in "$ROOT"/formats/machines/*.yaml; do
        name=$(basename "$f" .yaml)
        run -0 "$T/cf/bin/test_machine" "$name"
        has 'levels:'
    done
    # those and no others: without them the name is not found
    mv cf/share/cacheflow/machines gone
    run -1 "$T/cf/bin/test_machine" "$name"
    has "$name"
    # a tree that was moved as a whole still works
    mv gone cf/share/cacheflow/machines
    mv cf moved
    run -0 "$T/moved/bin/test_machine" "$name"
}

@test "an installed capture finds its private programs beside it" {
    put PREFIX="$T/cf"
    PATH=$T/cf/bin:/usr/bin:/bin
    run -0 cf-capture trace -o t.cf -- /bin/true
    run -0 bash -c "cf-cat --csv --table access t.cf | head -n 3"
    has addr "${lines[0]}"
}

@test "the installed library serves a program through pkg-config" {
    put PREFIX="$T/cf"
    cat >count.c <<'END'
#include <cacheflow/cf.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    struct cf_reader *in = cf_reader_open(argv + 1, argc - 1);
    struct cf_frame *f;
    unsigned long rows = 0;
    while (cf_reader_next(in, &f) > 0)
        rows += f->table == CF_ACCESS ? f->rows : 0;
    printf("%lu\n", rows);
    return cf_reader_damages(in) != 0;
}
END
    export PKG_CONFIG_PATH=$T/cf/lib/pkgconfig
    local flags
    flags=$(pkg-config --cflags --libs cacheflow)
    # shellcheck disable=SC2086
    cc -Wall -Werror count.c $flags -o count
    run -0 ./count "$STREAMS/full.cf"
    is 20000
    # shellcheck disable=SC2046
    cc -static count.c $(pkg-config --static --cflags --libs cacheflow) -o count-static
    run -0 ./count-static "$STREAMS/full.cf"
    is 20000
    # of C++, too
    c++ -x c++ -Wall -Werror count.c -x none $flags -o count++
    run -0 ./count++ "$STREAMS/full.cf"
    is 20000
}

@test "completion offers programs' options and machines" {
    put PREFIX="$T/cf"
    PATH=$T/cf/bin:/usr/bin:/bin
    complete_words() { # WORD...: what completion offers for the last word
        bash --norc -c '
            . "$1/share/bash-completion/completions/cacheflow"
            shift
            COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_POINT=${#COMP_LINE}
            f=$(complete -p "$1" | sed "s/.*-F \([^ ]*\).*/\1/")
            "$f" "$1" "${@: -1}" "${@: -2:1}"
            printf "%s\n" "${COMPREPLY[@]}"' bash "$T/cf" "$@"
    }
    run -0 complete_words cf-cat --he
    is --help
    run -0 complete_words cf-select --v
    is --version
    run -0 complete_words cf-capture tr
    is trace
    run -0 complete_words cf-cat -m ''
    local f
    for f in "$ROOT"/formats/machines/*.yaml; do
        has "$(basename "$f" .yaml)"
    done
    has host
    # words that options take, from the programs' own lists
    run -0 complete_words cf-rank --by ''
    has function
    has cache-line
    run -0 complete_words cf-rank --by fu
    is function
    run -0 complete_words cf-rank --by function,so
    is function,source
    run -0 complete_words cf-rank --by = fu
    is function
    run -0 complete_words cf-rank --by =
    has function
    run -0 complete_words cf-rank --value l1
    is l1-misses
    run -0 complete_words cf-rank --value conf
    is conflict
    run -0 complete_words cf-select --op load,ife
    is load,ifetch
    run -0 complete_words cf-select --class comp
    is compulsory
    run -0 complete_words cf-export --format call
    is callgrind
    run -0 complete_words cf-classify --rule le
    is leon4
    run -0 complete_words cf-cache --prefetch ''
    has stride
    run -0 complete_words cf-policy --group cy
    is cycle:
    run -0 complete_words cf-cat --csv --table swi
    is switch
    # columns are those of the recording
    cp "$STREAMS/full.cf" r.cf
    run -0 complete_words cf-histogram r.cf --column func
    is function
    run -0 complete_words cf-cat --csv --table map r.cf --columns start,la
    is start,label
    # files where a file is meant, and nothing is written for asking
    touch here.csv
    run -0 complete_words cf-cat -o he
    is here.csv
    run -0 complete_words cf-cat --output he
    is here.csv
    run -0 complete_words cf-policy --survivors he
    is here.csv
    [[ $(ls) == $'cf\nhere.csv\nr.cf' ]] || fail "$(ls)"
}

@test "every word that a list of values offers is taken" {
    local option word words
    local -a more
    for option in --by --value --op --class; do
        words=$(cf-rank $option '?' 2>&1 </dev/null | sed -n 's/.*: give one of //p' | tr -d ,)
        [[ $(wc -w <<<"$words") -ge 5 ]] || fail "$option: $words"
        for word in $words; do
            if [[ $option == --class ]]; then
                run -0 cf-rank -q --value misses $option "$word" --by op "$STREAMS/full.cf"
            else
                more=()
                [[ $word != set ]] || more=(-m xeon-6230)
                [[ $word != gain ]] || more=(--by page)
                run cf-rank -q $option "$word" "${more[@]}" "$STREAMS/full.cf"
                [[ $status != 2 ]] || fail "$option $word: $output"
            fi
        done
        [[ $option != --value || $words == *' gain' ]] || fail "$option: $words"
    done
    for word in $(cf-fold --value '?' 2>&1 | sed -n 's/.*: give one of //p' | tr -d ,); do
        run cf-fold -q --value "$word" "$STREAMS/full.cf"
        [[ $status != 2 ]] || fail "cf-fold --value $word: $output"
    done
}

@test "installed pipelines run in any folder, with the programs beside them" {
    put PREFIX="$T/cf"
    local at=$T/cf/share/cacheflow
    for f in explore.mk names.mk settings.mk stored.mk batch.mk batch.sh recipe-bbprof.mk cacheflow.mk cacheflow-board.mk cacheperf.mk bbprof.mk; do
        [[ -f $at/pipelines/$f ]] || fail "$f is missing"
    done
    (cd "$ROOT" && printf '%s\n' samples/cacheperf/* samples/bbprof/* pipelines/cacheperf* pipelines/bbprof*) | while read -r f; do
        cmp "$ROOT/$f" "$at/$f" || exit 1
    done
    # those that need the tree stay there
    [[ ! -e $at/pipelines/leon4.mk && ! -e $at/pipelines/samples.mk && ! -e $at/pipelines/demo.mk ]]
    [[ -f $at/samples/cacheflow/synth.c && -x $at/pipelines/cacheflow-time.sh ]]
    mkdir work && cd work
    cf-cat --slice 0-30000 -o one.cf "$ROOT/samples/sort.cf"
    run -0 env -u B PATH=/usr/bin:/bin make -s -f "$at/pipelines/explore.mk" TRACES=one.cf OUT=out MACHINES=raspberry-pi-4
    has "1 traces: results in out"
    [[ -s out/one/curve.csv && -s out/one/curve.png && -s out/one/functions.csv ]]
    # the other one finds what it would build and call: nothing of it is missing
    run -0 env -u B PATH=/usr/bin:/bin make -n -f "$at/pipelines/cacheflow.mk"
    has "$(cd "$at" && pwd)/pipelines/../samples/cacheflow/synth.c"
    need valgrind 'records a program'
    run -0 env -u B PATH=/usr/bin:/bin make -s -f "$at/pipelines/cacheperf.mk" ONLY=clean SEEDS=1 RUNS=0 OUT=perf perf/table2.csv
    is "" # nothing to say
    [[ $(sed -n 2p perf/table2.csv) == clean,,0,nothing,,1,1,* ]] || fail "$(<perf/table2.csv)"
    # a build here comes before what is installed
    mkdir -p build/bin
    printf '#!/bin/sh\nexit 9\n' >build/bin/cf-cat
    for f in distance mrc sweep classify rank resolve cache latency; do cp build/bin/cf-cat build/bin/cf-$f; done
    chmod +x build/bin/*
    run env -u B PATH=/usr/bin:/bin make -s -f "$at/pipelines/explore.mk" TRACES=one.cf OUT=other MACHINES=raspberry-pi-4
    [[ $status != 0 ]]
}

@test "uninstall leaves nothing behind" {
    put DESTDIR="$T/root" PREFIX=/usr
    mkdir -p root/usr/bin
    touch root/usr/bin/theirs
    run -0 make -s -C "$ROOT" B="$B" DESTDIR="$T/root" PREFIX=/usr uninstall
    [[ $(find root ! -type d) == root/usr/bin/theirs ]] || fail "$(find root ! -type d)"
    [[ -z $(find root -name 'cacheflow*') ]] || fail "$(find root -name 'cacheflow*')"
    # and of what is not there there is nothing to say
    run -0 make -s -C "$ROOT" B="$B" DESTDIR="$T/root" PREFIX=/usr uninstall
    is "removed from $T/root/usr"
}

@test "uninstall leaves what others have put into our folders" {
    local theirs
    put PREFIX="$T/cf"
    theirs=$(printf '%s\n' include/cacheflow/mine.h libexec/cacheflow/valgrind/mine.supp lib/mine.a \
        share/cacheflow/machines/my-board.yaml share/cacheflow/mine share/cacheflow/samples/cacheperf/mine.c | sort)
    # shellcheck disable=SC2086 # names
    (cd cf && touch $theirs)
    run -0 make -s -C "$ROOT" B="$B" PREFIX="$T/cf" uninstall
    [[ $(cd cf && find ./* ! -type d | cut -c 3- | sort) == "$theirs" ]] || fail "$(find cf ! -type d)"
    [[ ! -e cf/share/cacheflow/pipelines && ! -e cf/share/cacheflow/samples/bbprof ]]
}

@test "DESTDIR and PREFIX with blanks, quotes, backticks and a leading dash: that folder and no other" {
    local n
    # what an unquoted name would be taken for
    mkdir -p "$T/a" "$T/b/usr/share/cacheflow" "$T/usr/share/cacheflow" dashed
    touch "$T/b/usr/share/cacheflow/theirs" "$T/usr/share/cacheflow/theirs"
    local names=("$T/a b" "$T/a*;touch pwned;\`touch pwned\`" "$T/it's & \"so\"|c <d>")
    [[ -z $(few '' all) ]] ||
        names+=("$T/it's" "$T/say \"so\"" "$T/\`touch pwned\`" "$T/a;touch pwned" "$T/a*" "$T/a & b|c <d>")
    for n in "${names[@]}"; do
        run -0 put DESTDIR="$n" PREFIX="/usr"
        has "installed into $n/usr"
        [[ -x $n/usr/bin/cf-cat && -f $n/usr/share/cacheflow/machines/tegra-x1.yaml ]] || fail "nothing in '$n'"
        # the same as elsewhere
        [[ -n ${want:=$(cd "$n" && find . | sort)} ]]
        [[ $(cd "$n" && find . | sort) == "$want" ]] || fail "$(cd "$n" && find . | diff - <(echo "$want"))"
        run -0 make -s -C "$ROOT" B="$B" DESTDIR="$n" PREFIX=/usr uninstall
        has "removed from $n/usr"
        [[ -z $(find "$n" ! -type d) && -z $(find "$n" -name 'cacheflow*') ]] || fail "$(find "$n")"
        put PREFIX="$n"
        [[ -x $n/bin/cf-cat ]]
        grep -qxF 'libdir=${prefix}/lib' "$n/lib/pkgconfig/cacheflow.pc" || fail "$(<"$n/lib/pkgconfig/cacheflow.pc")"
        make -s -C "$ROOT" B="$B" PREFIX="$n" uninstall
        [[ -z $(find "$n" ! -type d) ]] || fail "$(find "$n" ! -type d)"
    done
    # relative to where make works, so with a tree of its own
    ln -s "$ROOT"/* dashed
    run -0 make -s -C dashed B="$B" DESTDIR=-x PREFIX=/usr install-files
    [[ -x dashed/-x/usr/bin/cf-cat ]]
    run -0 make -s -C dashed B="$B" DESTDIR=-x PREFIX=/usr uninstall
    [[ -z $(find dashed/-x ! -type d) ]]
    [[ -f $T/b/usr/share/cacheflow/theirs && -f $T/usr/share/cacheflow/theirs ]]
    [[ ! -e $ROOT/pwned && ! -e $T/pwned ]]
}

@test "DESTDIR and PREFIX with a dollar sign, of which make would drop a part, are refused" {
    local n goal
    mkdir -p root/usr/share/cacheflow
    touch root/usr/share/cacheflow/theirs
    # shellcheck disable=SC2016
    for n in 'root$(touch pwned)' 'root$x' 'root${y}'; do
        for goal in install-files uninstall; do
            run -2 make -s -C "$ROOT" B="$B" DESTDIR="$T/$n" PREFIX=/usr $goal
            has "DESTDIR holds a dollar sign"
            run -2 env PREFIX="$T/$n" make -s -C "$ROOT" B="$B" $goal
            has "PREFIX holds a dollar sign"
        done
    done
    [[ $(find root ! -type d) == root/usr/share/cacheflow/theirs && ! -e pwned && ! -e $ROOT/pwned ]]
}

@test "pkg-config gives the flags of a PREFIX with a blank as words" {
    put PREFIX="$T/my cf"
    export PKG_CONFIG_PATH="$T/my cf/lib/pkgconfig"
    eval "set -- $(pkg-config --cflags --libs cacheflow)"
    [[ $1 == "-I$T/my cf/include" && $2 == "-L$T/my cf/lib" && $3 == -lcf ]] || fail "$(printf '<%s>\n' "$@")"
    # make takes no such name of a makefile; through a link, as cf-pipelines(7) has it, all is found
    ln -s "my cf" link
    run -0 env -u B PATH=/usr/bin:/bin make -n -f link/share/cacheflow/pipelines/explore.mk TRACES="$ROOT/samples/sort.cf"
    has curve.csv
}

@test "pkg-config is given a whole path, and a build folder with a blank is refused before anything is done" {
    put DESTDIR="$T/root/" PREFIX=my/cf
    grep -q '^prefix=/.*/my/cf$' root/my/cf/lib/pkgconfig/cacheflow.pc
    mkdir my
    run -2 make -s -k -C "$ROOT" DEPS=0 B="$T/my builds" all
    has "give a folder without a blank in its name"
    [[ -d my && ! -e "my builds" ]]
}

@test "what root installs is root's, whoever built it" {
    [[ $(id -u) == 0 ]] || skip "needs root"
    mkdir b
    ln -s "$B"/* b
    rm b/libexec
    cp -R "$B/libexec" b
    chown -R nobody b/libexec
    make -s -C "$ROOT" B="$T/b" DESTDIR="$T/root" install-files
    [[ -n $(find root -name libcf-alloc.so) && -z $(find root ! -user root) ]] || fail "$(find root ! -user root)"
}

@test "make help tells of every target and variable that people use" {
    run -0 make -s -C "$ROOT" help
    local t
    for t in demo check check-long bench lint golden install uninstall deps clean \
        PREFIX DESTDIR CFLAGS SANITIZE TESTS; do
        has "$t"
    done
    [[ $(wc -L <<<"$output") -le 100 ]]
}
