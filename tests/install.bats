# SPDX-License-Identifier: BSD-2-Clause
#
# make install and make uninstall: what is put where, that it works from there, that nothing is left.
load lib

setup_file() {
    export STREAMS=$BATS_FILE_TMPDIR
    "$B/test/make_stream" full >"$STREAMS/full.cf"
}

put() { # VARIABLE=VALUE...: installs what the build has made, without building
    make -s -C "$ROOT" B="$B" "$@" install-files
}

@test "install with DESTDIR and PREFIX puts every file where it belongs" {
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
    sanitized && skip "the library needs the sanitizers' runtime"
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
}

@test "uninstall leaves nothing behind" {
    put DESTDIR="$T/root" PREFIX=/usr
    mkdir -p root/usr/bin
    touch root/usr/bin/theirs
    run -0 make -s -C "$ROOT" B="$B" DESTDIR="$T/root" PREFIX=/usr uninstall
    [[ $(find root ! -type d) == root/usr/bin/theirs ]] || fail "$(find root ! -type d)"
    [[ -z $(find root -name 'cacheflow*') ]] || fail "$(find root -name 'cacheflow*')"
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
