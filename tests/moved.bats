#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# shellcheck disable=SC2154 # bats sets output, status and lines
#
# cf-rank --before: two versions of a program, compared line by line although lines have moved.

load lib

# version NAME DATE: makes NAME/prog.c from standard input, NAME/prog from that at a date, and records
# it into NAME.cf.
version() {
    mkdir -p "$1"
    cat >"$1/prog.c"
    touch -d "$2" "$1/prog.c"
    cc -g -O0 -o "$1/prog" "$1/prog.c"
    touch -d "$2" "$1/prog"
    SOURCE_DATE_EPOCH=1700001000 cf-capture trace -q --resolve -o "$1.cf" -- "$1/prog"
}

# first and second: the program, before and after a change. A function moves, one is new, the hot
# loop is 6 lines farther down, line 12 is changed, and line 13 is gone.
first() {
    cat <<'END'
#include <stdlib.h>
static volatile long a[4096];
static long hot(void)
{
    long s = 0;
    for (int i = 0; i < 4096; i++)
        s += a[i];
    return s;
}
static void fill(void)
{
    a[1] = 4;
    a[2] = 5;
    for (int i = 9; i < 4096; i++)
        a[i] = i;
}
int main(void)
{
    long *p = malloc(800);
    p[7] = hot();
    fill();
    return p[7] == 9;
}
END
}

second() {
    cat <<'END'
#include <stdlib.h>
static volatile long a[4096];
static void fill(void)
{
    a[1] = 44;
    for (int i = 9; i < 4096; i++)
        a[i] = i;
}
static long twice(long x)
{
    return 2 * x;
}
static long hot(void)
{
    long s = 0;
    for (int i = 0; i < 4096; i++)
        s += a[i];
    return s;
}
int main(void)
{
    long *p = malloc(800);
    p[7] = hot();
    if (twice(3) == 6)
        fill();
    return p[7] == 9;
}
END
}

# row FIELDS...: CSV of standard input has a row that ends so, without its rank.
row() {
    cut -d, -f2- out | grep -Fxq -- "$1" || fail "no row '$1' in:" "$(grep prog.c out)"
}

@test "two versions in two directories: lines that moved are one row, those that came and went have one each" {
    need valgrind 'records'
    first | version v1 @1700000000
    second | version v2 @1700000000
    cf-rank --by source --before v1.cf v2.cf >out 2>err
    [[ $(<err) == "cf-rank: accesses of all: "*" %" && $(wc -l <err) == 1 ]]
    [[ $(head -n 1 out) == rank,source,source_before,accesses_before,accesses_after,difference,ratio ]]
    row v2/prog.c:17,v1/prog.c:7,16384,16384,0,1.0000 # the hot loop
    row v2/prog.c:16,v1/prog.c:6,12290,12290,0,1.0000
    row v2/prog.c:19,v1/prog.c:9,2,2,0,1.0000 # each function has its brace
    row v2/prog.c:8,v1/prog.c:16,2,2,0,1.0000
    row v2/prog.c:7,v1/prog.c:15,12261,12261,0,1.0000 # moved across
    row v2/prog.c:25,v1/prog.c:21,1,1,0,1.0000 # indented
    row v2/prog.c:5,,0,1,1, # changed
    row ,v1/prog.c:12,1,0,-1,0.0000
    row ,v1/prog.c:13,1,0,-1,0.0000 # gone
    row v2/prog.c:11,,0,1,1, # new
    # each line is there once, and nothing is lost
    local v
    for v in 1 2; do
        cf-rank -q --by source "v$v.cf" | awk -F, -v v=$v '$2 ~ /prog.c/ { print $2 "," $3 }' | sort >want
        awk -F, -v v=$v 'NR > 1 && $2 $3 ~ /prog.c/ { p = v == 1 ? $3 : $2; if (p) print p "," $(3 + v) }' out |
            sort >got
        (($(wc -l <want) > 15))
        same want got
    done
    # by function and line, and by the site of an allocation
    cf-rank -q --by function,source --before v1.cf v2.cf >out
    row hot,v2/prog.c:17,v1/prog.c:7,16384,16384,0,1.0000
    row fill,,v1/prog.c:12,1,0,-1,0.0000
    cf-rank -q --by site --before v1.cf v2.cf >out
    row 'main v2/prog.c:22,main v1/prog.c:19,2,2,0,1.0000'
    [[ $(grep -c prog.c out) == 1 ]]
    # a limit is of the sum, as by function
    cf-rank -q --by source --before v1.cf --fail-above 1 v2.cf >out
    run -1 cf-rank -q --by source --before v1.cf --fail-above 0 v2.cf
    has 'more than the 0 % of --fail-above'
    # the same by JSON, and as a table
    cf-rank -q --by source --before v1.cf --json v2.cf | grep prog.c:17 >out
    grep -q '"source":"v2/prog.c:17","source_before":"v1/prog.c:7"' out
    cf-rank -q --by source --before v1.cf --term --top 5000 v2.cf | grep -Eq ' v2/prog.c:17 +v1/prog.c:7 +16384 +16384 +0 +1.0000$'
}

@test "a file that was overwritten is told of, unless its earlier text is named or it is as old as both programs" {
    need valgrind 'records'
    need git 'keeps the earlier text'
    export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
    first | version one @1700000000
    mv one.cf old.cf
    git init -q one
    git -C one add prog.c
    git -C one commit -q -m first
    second | version one @1700000500
    cf-rank --by source --before old.cf one.cf >out 2>err
    [[ $(head -n 1 err) == "cf-rank: one/prog.c: has changed since the earlier recording, and its text of then is not there, so lines that moved are not matched: --before-source-dir DIR says where it is as it was then, such as in a directory by 'git worktree add DIR COMMIT'" ]]
    [[ $(wc -l <err) == 2 ]]
    row one/prog.c:17,,0,16384,16384,
    row one/prog.c:7,,16384,12261,-4123,0.7484
    # what cannot be right is said with -q, too
    cf-rank -q --by source --before old.cf one.cf 2>&1 >out | grep -q 'has changed since'
    # and not where nothing is compared by line
    run -0 --separate-stderr cf-rank -q --by function --before old.cf one.cf
    [[ -z $stderr ]]
    git -C one worktree add -q ../then HEAD
    cf-rank --by source --before old.cf --before-source-dir then one.cf >out 2>err
    [[ $(wc -l <err) == 1 ]]
    row one/prog.c:17,one/prog.c:7,16384,16384,0,1.0000
    row ,one/prog.c:13,1,0,-1,0.0000
    # two recordings of one program: its source may be anything
    second >one/prog.c
    cp one.cf again.cf
    run -0 --separate-stderr cf-rank -q --by source --before again.cf one.cf
    [[ -z $stderr ]]
    has ',one/prog.c:17,,16384,16384,0,1.0000'
    # a program linked again from the same source: only what is newer may have moved
    touch -d @1700000500 one/prog.c
    touch -d @1700000600 one/prog
    SOURCE_DATE_EPOCH=1700001000 cf-capture trace -q --resolve -o again.cf -- one/prog
    run -0 --separate-stderr cf-rank -q --by source --before one.cf again.cf
    [[ -z $stderr ]]
    has ',one/prog.c:17,,16384,16384,0,1.0000'
    touch -d @1700000700 one/prog.c
    run -0 --separate-stderr cf-rank -q --by source --before one.cf again.cf
    has 'one/prog.c: newer than the program that was compiled from it: its lines may have moved since' "$stderr"
    has 'one/prog.c: has changed since the earlier recording' "$stderr"
    # the present text may be elsewhere, too
    mkdir now
    second >now/prog.c
    touch -d @1700000500 now/prog.c
    mv one/prog.c one/gone.c
    run -0 --separate-stderr cf-rank -q --by source --before old.cf --before-source-dir then one.cf
    [[ $stderr == "cf-rank: one/prog.c: not found, so lines that moved are not matched: --source-dir DIR says below which directory it is" ]]
    run -0 --separate-stderr cf-rank -q --by source --before old.cf --before-source-dir then --source-dir now one.cf
    [[ -z $stderr ]]
    has ',one/prog.c:17,one/prog.c:7,16384,16384,0,1.0000'
    run -0 --separate-stderr cf-rank -q --by source --before old.cf --source-dir now one.cf
    [[ $stderr == "cf-rank: one/prog.c: its text of the earlier recording is not found, so"*"--before-source-dir DIR says below which directory it is" ]]
}

# recorded NAME.cf SOURCE:COUNT...: a stream with so many accesses of each.
recorded() {
    local to=$1 place i
    shift
    {
        echo time,addr,source,site
        for place in "$@"; do
            for ((i = 0; i < ${place##*=}; i++)); do echo "1,0x10,${place%=*},${SITE-}"; done
        done
    } >rows.csv
    stream "$to" ${FILES:+--with file="$FILES"} rows.csv
}

@test "a file that is not there, of which no time is known, or that is no text: lines keep their numbers, and that is said" {
    printf '%s\n' a b c d >was.c
    printf '%s\n' x a b c d >is.c
    recorded old.cf src/x.c:1=3 src/x.c:4=1 alone.c:7=1
    recorded now.cf src/x.c:2=3 src/x.c:4=2 new.c:7=1
    compare() {
        run -0 --separate-stderr cf-rank -q --by source --before old.cf "$@" now.cf
    }
    compare
    is 'rank,source,source_before,accesses_before,accesses_after,difference,ratio
1,src/x.c:1,,3,0,-3,0.0000
2,src/x.c:2,,0,3,3,
3,alone.c:7,,1,0,-1,0.0000
4,new.c:7,,0,1,1,
5,src/x.c:4,,1,2,1,2.0000'
    [[ $stderr == 'cf-rank: src/x.c: not found, so lines that moved are not matched: --source-dir DIR says below which directory it is' ]]
    mkdir -p src then
    mv is.c src/x.c
    compare
    [[ ${#lines[@]} == 6 && $stderr == 'cf-rank: src/x.c: may have changed since the earlier recording, which states no time, so '* ]]
    mv was.c then/x.c
    # line 4 has become 5, of which nothing was counted; the present line 4 is another one
    compare --before-source-dir then
    is 'rank,source,source_before,accesses_before,accesses_after,difference,ratio
1,src/x.c:4,,0,2,2,
2,alone.c:7,,1,0,-1,0.0000
3,new.c:7,,0,1,1,
4,src/x.c:5,src/x.c:4,1,0,-1,0.0000
5,src/x.c:2,src/x.c:1,3,3,0,1.0000'
    [[ -z $stderr ]]
    # nothing but text is read
    local what
    for what in 'mkdir then/x.c' 'mkfifo then/x.c' 'ln -s /dev/zero then/x.c'; do
        rm -r then/x.c
        $what
        compare --before-source-dir then
        [[ $stderr == *'src/x.c: may have changed since'* ]]
    done
    rm -r then/x.c
    printf 'a\nb\0\n' >then/x.c
    compare --before-source-dir then
    [[ $stderr == 'cf-rank: src/x.c: cannot be read, or is no source, so lines that moved are not matched: '* ]]
    truncate -s 1G then/x.c
    compare --before-source-dir then
    has 'src/x.c: cannot be read, or is no source' "$stderr"
    # a text that is too short is not what was compiled
    printf '%s\n' a b >then/x.c
    compare --before-source-dir then
    [[ $stderr == 'cf-rank: src/x.c: its earlier text has only 2 lines, and lines behind these were counted: is it the file that was compiled?' ]]
    has ',,src/x.c:4,1,0,-1,0.0000'
    : >then/x.c
    compare --before-source-dir then
    has 'has only 0 lines' "$stderr"
    # of several files one is named
    recorded old.cf src/x.c:1=3 src/y.c:1=1 src/z.c:2=1
    recorded now.cf src/x.c:1=3 src/y.c:1=1 src/z.c:2=1
    rm -r src
    compare
    [[ $stderr == 'cf-rank: src/x.c and 2 more files: not found, so '* ]]
}

@test "files of other names are the same where most of their paths is, and only one is meant" {
    mkdir -p v1/a v1/b v2/a v2/b
    printf '%s\n' a1 a2 a3 >v1/a/util.c
    printf '%s\n' new a1 a2 a3 >v2/a/util.c
    printf '%s\n' b1 b2 b3 >v1/b/util.c
    printf '%s\n' b2 b3 >v2/b/util.c
    cp v1/a/util.c v1/only.c
    cp v2/a/util.c v2/a/only.c
    cp v2/a/util.c v2/b/only.c
    recorded old.cf "$T"/v1/{a,b}/util.c:2=5 "$T"/v1/only.c:2=1
    recorded now.cf "$T"/v2/a/util.c:3=5 "$T"/v2/b/util.c:1=6 "$T"/v2/a/only.c:2=1 "$T"/v2/b/only.c:2=1
    run -0 --separate-stderr cf-rank -q --by source --before old.cf now.cf
    [[ -z $stderr ]]
    has ",$T/v2/a/util.c:3,$T/v1/a/util.c:2,5,5,0,1.0000"
    has ",$T/v2/b/util.c:1,$T/v1/b/util.c:2,5,6,1,1.2000"
    has ",$T/v1/only.c:2,,1,0,-1,0.0000"
    has ",$T/v2/a/only.c:2,,0,1,1,"
    # without their texts such files are not taken for one
    rm -r v1
    run -0 --separate-stderr cf-rank -q --by source --before old.cf now.cf
    has ",$T/v1/a/util.c:2,,5,0,-5,0.0000"
    has ",$T/v2/a/util.c:3,,0,5,5,"
    has "v1/a/util.c and 1 more files: its text of the earlier recording is not found" "$stderr"
}

@test "sites: each place of a chain of calls, and names with blanks" {
    mkdir then now
    printf '%s\n' one two three >then/s.c
    printf '%s\n' new one two 'th ree' >now/s.c
    site() { # NAME.cf TEXT
        SITE=\"$2\" recorded "$1" x.c:1=1
    }
    site old.cf 'f(int, char) s.c:1 < main s.c:3 < lib.so+0x12'
    site now.cf 'f(int, char) s.c:2 < main s.c:4 < lib.so+0x12'
    run -0 --separate-stderr cf-rank -q --by site --before old.cf --before-source-dir then --source-dir now now.cf
    [[ -z $stderr ]]
    is 'rank,site,site_before,accesses_before,accesses_after,difference,ratio
1,"f(int, char) s.c:2 < main s.c:4 < lib.so+0x12","f(int, char) s.c:1 < main s.c:3 < lib.so+0x12",1,1,0,1.0000'
    # one of them is gone: so is the site
    printf '%s\n' new one two >now/s.c
    run -0 cf-rank -q --by site --before old.cf --before-source-dir then --source-dir now now.cf
    has '1,,"f(int, char) s.c:1 < main s.c:3 < lib.so+0x12",1,0,-1,0.0000'
    has '"f(int, char) s.c:2 < main s.c:4 < lib.so+0x12",,0,1,1,'
}

@test "directories of sources: wrong usage" {
    recorded a.cf x.c:1=1
    run -2 cf-rank --by source --before a.cf --before-source-dir nowhere a.cf
    has '--before-source-dir nowhere: No such file or directory'
    run -2 cf-rank --by source --before a.cf --source-dir a.cf a.cf
    has '--source-dir a.cf: Not a directory'
    run -2 cf-rank --by source --source-dir . a.cf
    has '--source-dir: needs --before FILE and --by source or site'
    run -2 cf-rank --by function --before a.cf --before-source-dir . a.cf
    has '--before-source-dir: needs --before FILE and --by source or site'
}
