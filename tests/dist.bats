# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154 # bats sets output, status and lines
#
# make dist: a tarball of what is committed, of the same bytes each time, from which the same binaries are
# built wherever it is unpacked. That all of them are is looked at by tests/run-long dist.
# Takes long: two builds.
# bats file_tags=slow
load lib

setup_file() {
    [[ ${B##*/} != san ]] || return 0
    export CLONE=$BATS_FILE_TMPDIR/clone HOME=$BATS_FILE_TMPDIR GIT_CONFIG_NOSYSTEM=1 LC_ALL=C.UTF-8
    mkdir "$CLONE"
    # as the tree stands, committed or not; what was unpacked from a tarball has no list of its files
    (
        cd "$ROOT" || exit 1
        if [[ -e .git ]]; then
            git ls-files -z -co --exclude-standard
        else
            find . -path ./build -prune -o ! -type d -print0
        fi | tar -c --null --ignore-failed-read -T - 2>/dev/null | tar -x -C "$CLONE"
    )
    cd "$CLONE" || return 1
    find . -size +64k -delete # a traces' worth of bytes takes most of the time and tells no more
    git init -q .
    git config user.name tester
    git config user.email tester@localhost
    git add -A
    GIT_COMMITTER_DATE='2026-01-02T03:04:05Z' git commit -q -m all
    make -s B=build dist >&2
    DIST=$(echo "$CLONE"/build/dist/cacheflow-*.tar.gz)
    NAME=$(basename "$DIST" .tar.gz)
    export DIST NAME
}

setup() {
    lib_setup
    reached "a tarball"
}

@test "the tarball holds what is committed, of owner 0 and of the commit's time" {
    [[ $NAME == "$(sed -n 's/^VERSION := /cacheflow-/p' "$ROOT/Makefile")" ]]
    tar -tzf "$DIST" | grep -v '/$' | LC_ALL=C sort >names
    cmp names <(git -C "$CLONE" ls-files | sed "s,^,$NAME/," | LC_ALL=C sort)
    [[ $(tar --numeric-owner -tvzf "$DIST" | awk '{ print $2, $4, $5 }' | sort -u) == "0/0 2026-01-02 03:04" ]]
    # no name and no time in the head of gzip either
    [[ $(od -An -tx1 -j 3 -N 5 "$DIST") == " 00 00 00 00 00" ]]
    # programs can be run, everybody can read, nobody but the owner can write
    tar -xzf "$DIST"
    [[ -x $NAME/.ci/install && -x $NAME/tests/run ]]
    [[ -z $(find "$NAME" ! -type l \( ! -perm -444 -o -perm /022 \)) ]]
    diff -r --exclude=.git --exclude=build "$CLONE" "$NAME"
}

@test "another clone, user mask, language, time zone and day give the same bytes" {
    git clone -q "$CLONE" other
    touch -d 2001-02-03 other/README.md
    (umask 077 && chmod -R go= other && LC_ALL=C TZ=Asia/Tokyo make -s -C other B=build dist)
    cmp "$DIST" "other/build/dist/$NAME.tar.gz"
    SOURCE_DATE_EPOCH=86400 make -s -C other dist B=elsewhere
    [[ $(tar -tvzf "other/elsewhere/dist/$NAME.tar.gz" | awk '{ print $4 }' | sort -u) == 1970-01-02 ]]
    run -3 env SOURCE_DATE_EPOCH=today other/pipelines/package/dist.sh 1 out.tar.gz
    has "SOURCE_DATE_EPOCH is 'today'"
    [[ ! -e out.tar.gz ]]
}

@test "configuration and attributes of git, of tar and gzip give the same bytes" {
    local HOME=$T
    git clone -q "$CLONE" other
    git -C other worktree add -q ../tree
    git clone -q --shared tree third
    cat >.gitconfig <<'END'
[core]
    autocrlf = true
    eol = crlf
    attributesFile = ~/attributes
[tar]
    umask = 0277
[log]
    showSignature = true
[tar "tar"]
    command = cat /dev/null
[filter "other"]
    smudge = rev
END
    echo '*.c text eol=crlf ident' >attributes
    printf '*.md export-ignore\n*.sh filter=other\n*.h export-subst\n' >other/.git/info/attributes
    TAR_OPTIONS=--mode=u+x,g+w GZIP=--rsyncable run -0 --separate-stderr \
        other/pipelines/package/dist.sh "${NAME#*-}" one.tar.gz
    cmp "$DIST" one.tar.gz
    # that of the clone, and of the call
    mv .gitconfig other/.git/more
    git -C other config include.path more
    GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.eol GIT_CONFIG_VALUE_0=crlf \
        other/pipelines/package/dist.sh "${NAME#*-}" two.tar.gz
    cmp "$DIST" two.tar.gz
    # where another folder has the objects
    tree/pipelines/package/dist.sh "${NAME#*-}" three.tar.gz
    cmp "$DIST" three.tar.gz
    third/pipelines/package/dist.sh "${NAME#*-}" four.tar.gz
    cmp "$DIST" four.tar.gz
}

@test "where git refuses the clone, its reason is seen" {
    git clone -q "$CLONE" other
    # as in a folder of another user
    GIT_TEST_ASSUME_DIFFERENT_OWNER=1 run -3 other/pipelines/package/dist.sh 1 out.tar.gz
    has "dubious ownership"
    has "safe.directory"
    has "which says above why"
    echo broken >other/.git/index
    run -3 other/pipelines/package/dist.sh 1 out.tar.gz
    has "index file"
    has "git does not say what is committed"
    [[ ! -e out.tar.gz ]]
}

@test "what is not committed is refused, what is not tracked is named" {
    git clone -q "$CLONE" other
    touch other/new.c
    run -0 other/pipelines/package/dist.sh "${NAME#*-}" one.tar.gz
    has "dist: not tracked, and left out: new.c"
    cmp "$DIST" one.tar.gz
    echo more >>other/README.md
    run -3 other/pipelines/package/dist.sh "${NAME#*-}" two.tar.gz
    has "not committed, and so in no tarball: commit or stash README.md"
    git -C other add README.md new.c
    run -3 other/pipelines/package/dist.sh "${NAME#*-}" two.tar.gz
    has "README.md, new.c"
    run ! make -s -C other B=build dist
    git -C other reset -q --hard
    rm other/LICENSE
    run -3 other/pipelines/package/dist.sh "${NAME#*-}" two.tar.gz
    has "commit or stash LICENSE"
    [[ $(ls) == $'one.tar.gz\nother' && ! -e other/build/dist ]] || fail "$(ls . other)"
    run -2 other/pipelines/package/dist.sh 1
}

@test "an unpacked tree is no clone, not even inside of one; a full disk is an error" {
    tar -xzf "$DIST"
    run -3 "$NAME/pipelines/package/dist.sh" 1 out.tar.gz
    has "no clone"
    git clone -q "$CLONE" other
    mv "$NAME" other/build-of-mine
    run -3 other/build-of-mine/pipelines/package/dist.sh 1 out.tar.gz
    has "no clone"
    git init -q empty
    cp -r other/pipelines empty
    run -3 empty/pipelines/package/dist.sh 1 out.tar.gz
    has "no clone"
    [[ ! -e out.tar.gz ]]
    run -3 bash -c 'ulimit -f 100; trap "" XFSZ; "$@"' bash other/pipelines/package/dist.sh 1 out.tar.gz
    has "out.tar.gz is not written"
    [[ -z $(ls out.tar.gz*) ]]
}

@test "lint looks at an unpacked tree too, at names of any make, and where git refuses the clone" {
    tar -xzf "$DIST"
    rm -r "$NAME"/{capture,filters,kmod,samples}
    seq 501 >"$NAME/tests/it's long.h"
    printf '%s \n' 'x:' >"$NAME/tests/$(printf '\303\266').yaml"
    run -1 "$NAME/.ci/lint" house space
    has "tests/it's: 501 lines"
    has "tests/it's long.h: no SPDX line"
    has "tests/$(printf '\303\266').yaml:1:"
    cd "$NAME"
    git init -q
    git add -A
    run -1 env GIT_TEST_ASSUME_DIFFERENT_OWNER=1 .ci/lint house
    has "tests/it's: 501 lines"
    rm Makefile
    run -1 .ci/lint space
    is "lint: git lists no files of this tree: nothing is looked at"
}

@test "all that is looked at before a change is: where git refuses the clone, its reason is seen" {
    git clone -q "$CLONE" other
    mkdir bin
    printf '#!/bin/sh\n' >bin/make
    chmod +x bin/make
    run -0 env PATH="$T/bin:$PATH" GIT_TEST_ASSUME_DIFFERENT_OWNER=1 DEPS=0 other/.ci/run
    has "dubious ownership"
    has "note: no commit to clone"
}

@test "objects of each rule are the same wherever the tree is unpacked, by a link too" {
    local f objects=(formats/base/cf_text formats/cpu/cf_cpu)
    objects=("${objects[@]/#/build/obj/}")
    for f in alloc/shim_rules trace/tool_plan qemu/plugin_maps; do
        [[ -f $ROOT/capture/$f.c ]] || fail "$f.c is gone"
        objects+=("build/obj/$f")
    done
    command -v valgrind >/dev/null || objects=("${objects[@]/*tool_plan/build/obj/qemu/plugin_maps}")
    mkdir one "a longer name, with it's blank"
    for f in one "a longer name, with it's blank"; do
        tar -xzf "$DIST" -C "$f"
    done
    ln -s "a longer name, with it's blank" link
    (cd "one/$NAME" && make -s B=build DEPS=0 "${objects[@]/%/.o}" >/dev/null)
    (cd "link/$NAME" && make -s B=build DEPS=0 "${objects[@]/%/.o}" >/dev/null)
    for f in "${objects[@]/%/.o}"; do
        cmp "one/$NAME/$f" "link/$NAME/$f"
        ! grep -q "$T" "link/$NAME/$f" || fail "$f has the folder's name"
        readelf -S "link/$NAME/$f" | grep -q debug_info # which would have it
    done
    # and where a warning is an error, it is one in each
    for f in "${objects[@]/#build\/obj\/}"; do
        f=${f/#alloc/capture\/alloc} f=${f/#trace/capture\/trace} f=${f/#qemu/capture\/qemu}
        echo 'static int unused;' >>"one/$NAME/$f.c"
    done
    for f in "${objects[@]}"; do
        run -2 make -s -C "one/$NAME" B=build DEPS=0 WERROR=1 "$f.o"
        has unused
    done
}
