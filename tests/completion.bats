# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154 # bats sets output, status and lines
#
# What bash, zsh and fish offer for a word of a command line: the same, and what --help has. The words that
# options take in bash are looked at in install.bats.
load lib

setup_file() {
    [[ ${B##*/} != san ]] || return 0
    export PUT=$BATS_FILE_TMPDIR/cf
    make -s -C "$ROOT" B="$B" PREFIX="$PUT" install-files >/dev/null
}

setup() {
    lib_setup
    reached "completion"
    PATH=$PUT/bin:/usr/bin:/bin
    # nothing of whoever runs the tests
    export HOME=$T XDG_CONFIG_HOME=$T XDG_DATA_HOME=$T XDG_CACHE_HOME=$T ZDOTDIR=$T TERM=xterm
}

# offered SHELL: what it offers for each line of standard input; a shell that is missing is no failure.
offered() {
    local share=$PUT/share with
    case $1 in
    bash) with=(bash --norc) FUNCTIONS=$share/bash-completion/completions ;;
    zsh) with=(zsh -f) FUNCTIONS=$share/zsh/site-functions ;;
    fish) with=(fish --no-config) FUNCTIONS=$share/fish/vendor_completions.d ;;
    esac
    cat >in
    : >out
    IN=in OUT=out FUNCTIONS=$FUNCTIONS timeout 300 "${with[@]}" "$ROOT/tests/completion/offer.$1" 3>&- || return
    # in one order, each once, without the last slash of a folder
    awk '/^> / { n++ } { sub(/\/$/, ""); print n "\t" (/^> / ? 0 : 1) "\t" $0 }' out | sort -u | cut -f 3
}

every_option() { # a line for each program, and for one behind cf-capture
    local p
    for p in $(programs); do
        [[ $p != cf-template ]] || continue
        echo "$p --"
    done
    echo "cf-capture trace --"
}

@test "bash offers the options that --help has, of every program" {
    every_option >lines
    [[ $(wc -l <lines) -gt 40 ]]
    offered bash <lines >bash.txt
    while read -r line; do
        echo "> $line"
        line=${line% --}
        "${line/cf-capture /cf-capture-}" --help | grep -oE -e '--[a-z][-a-z0-9]+' | sort -u
    done <lines >help.txt
    # sorted by the place of the program, as above
    awk '/^> / { n++ } { print n "\t" (/^> / ? 0 : 1) "\t" $0 }' help.txt | sort -u | cut -f 3 | diff - bash.txt
    [[ $(grep -c -x -e --version bash.txt) == "$(wc -l <lines)" ]]
}

cases() {
    # the last blank is one
    tr _ ' ' <<'CASES'
cf-capture tr
cf-capture pe
cf-rank --by_
cf-rank --by fu
cf-rank --by function,so
cf-cat --csv --table swi
cf-cat -m tegra
cf-cat --no-such-option-
cf-capture csv --fo
CASES
}

@test "zsh and fish offer what bash does" {
    local shell
    {
        every_option
        cases
    } >lines
    offered bash <lines >bash.txt
    for shell in zsh fish; do
        command -v $shell >/dev/null || continue
        offered $shell <lines >$shell.txt
        diff bash.txt $shell.txt || fail $shell
    done
}

@test "the list of programs in zsh's is ours, so that no command of others is taken" {
    head -n 1 "$PUT/share/zsh/site-functions/_cacheflow" >names
    [[ $(<names) == "#compdef "* && $(tr ' ' '\n' <names | tail -n +2 | sort) == "$(ls "$PUT/bin")" ]]
}

@test "zsh and fish: a value behind =, files, and the words of a command after --" {
    local shell
    mkdir bin
    printf '#!/bin/sh\n' >bin/a-command-of-theirs
    chmod +x bin/a-command-of-theirs
    touch zebra.csv
    PATH=$T/bin:$PATH
    for shell in zsh fish; do
        command -v $shell >/dev/null || continue
        offered $shell >got <<'CASES'
cf-rank --by=fu
cf-rank --by=function,so
cf-cat --csv --table=map --output=zeb
cf-cat zeb
cf-capture trace -- a-comm
cf-capture trace -o x.cf -- a-command-of-theirs zeb
CASES
        # zsh has the file's name without the option
        sed -i 's/^--output=zebra/zebra/' got
        diff - got <<'END' || fail "$shell"
> cf-rank --by=fu
--by=function
> cf-rank --by=function,so
--by=function,source
> cf-cat --csv --table=map --output=zeb
zebra.csv
> cf-cat zeb
zebra.csv
> cf-capture trace -- a-comm
a-command-of-theirs
> cf-capture trace -o x.cf -- a-command-of-theirs zeb
zebra.csv
END
    done
}

@test "as a script: words, and by its status what a shell has to add; nothing is run" {
    local script=$PUT/share/bash-completion/completions/cacheflow
    run -0 bash "$script" cf-cat --he
    is --help
    run -0 bash "$script" cf-rank --by=function,so
    is --by=function,source
    run -0 bash "$script" cf-rank --by=
    has --by=cache-line
    run -10 bash "$script" cf-cat --output=zeb
    is ""
    run -10 bash "$script" cf-cat -m tegra
    is tegra-x1
    run -11 bash "$script" cf-capture trace -- touch here
    is ""
    run -2 bash "$script"
    has usage
    run -2 bash "$script" cf-cat
    # what is on the line is text, no command and no format
    # shellcheck disable=SC2016
    {
        run -10 bash "$script" cf-cat '$(touch pwned)'
        run bash "$script" cf-rank '--by=$(touch pwned)%s'
        run -10 bash "$script" cf-none '`touch pwned`'
    }
    is ""
    [[ ! -e pwned && ! -e here ]]
    # columns of the recording on the line, whose table is given in either form
    "$B/test/make_stream" full >r.cf
    run -0 bash "$script" cf-cat --table map r.cf --columns=la
    is --columns=label
    run -0 bash "$script" cf-cat --table=map r.cf --columns la
    is label
    # shellcheck disable=SC2088 # as it stands on the line
    run -0 bash "$script" cf-cat --table map '~/r.cf' --columns la
    is label
    # machines, or a file with one
    run -10 bash "$script" cf-infer --compare teg
    is tegra-x1
    run -10 bash "$script" cf-capture probe --on ''
    [[ $(sort <<<"$output") == "$({ ls "$PUT/share/cacheflow/machines" && echo host; } | sed 's/\.yaml$//' | sort)" ]] ||
        fail "$output"
}

# What a shell would run if it looked at more than the text.
# shellcheck disable=SC2016
hostile=('$(touch${IFS}pwned)' '`touch${IFS}pwned`' '${X:=$(touch${IFS}pwned)}' '$((a[$(touch${IFS}pwned)]))'
    '<(touch${IFS}pwned)')

@test "a column that the recording names is text to every shell, which runs nothing of it" {
    local shell name
    for name in "${hostile[@]}"; do
        THEIR_NUMBER=$name "$B/test/make_stream" unknown >r.cf
        for shell in bash zsh fish; do
            command -v $shell >/dev/null || continue
            offered $shell >got <<<'cf-cat r.cf --columns '
            [[ ! -e pwned ]] || fail "$shell has run $name"
            grep -qxF -e "$name" got && grep -qx their_word got || fail "$shell, $name:" "$(<got)"
        done
    done
    # a blank parts no words, and what a list cannot hold is left out
    for name in 'two words' 'one, "two"' $'line one\nline two' '-e' '*'; do
        THEIR_NUMBER=$name "$B/test/make_stream" unknown >r.cf
        bash "$PUT/share/bash-completion/completions/cacheflow" cf-cat r.cf --columns '' >got
        [[ ! $name =~ [,$'\n'] ]] || {
            run ! grep -E 'one|two' got
            continue
        }
        grep -qxF -e "$name" got && grep -qx their_word got || fail "$name:" "$(<got)"
    done
}

@test "a name of a file, whatever it holds, is text and no option" {
    local script=$PUT/share/bash-completion/completions/cacheflow name
    for name in "${hostile[@]/%/.cf}" 'two words.cf' $'two\nlines.cf' -oout.cf -n.cf '*.cf'; do
        "$B/test/make_stream" full >"./$name"
        run -0 bash "$script" cf-cat --table map "$name" --columns la
        is label || fail "$name"
        run bash "$script" cf-cat "$name"
        run bash "$script" cf-cat "--columns=$name"
        run bash "$script" cf-cat "$name" ''
        rm "./$name"
        [[ -z $(ls) ]] || fail "$name:" "$(ls)"
    done
    # a word that begins like an option, and would be more than a word of sed's
    run -10 bash "$script" cf-cat '-a/b/w out
#' ''
    run -10 bash "$script" cf-cat '-a/b/;e touch pwned
#' ''
    [[ -z $(ls) ]]
    mkdir '$(touch pwned)' '`touch pwned`'
    touch {'$(touch pwned)','`touch pwned`'}/zebra
    run -10 bash "$script" cf-cat '$(touch pwned)/ze'
    run -10 bash "$script" cf-cat '`touch pwned`/ze'
    [[ ! -e pwned ]]
}

@test "no program and no script of the folder one is in is run, unless it is called" {
    local script=$PUT/share/bash-completion/completions/cacheflow
    mkdir -p cf-capture-a here share/bash-completion/completions
    printf '#!/bin/sh\ntouch "%s/pwned"\n' "$T" >cf-capture-a/b
    cp cf-capture-a/b share/bash-completion/completions/cacheflow
    chmod +x cf-capture-a/b
    run -0 bash "$script" cf-capture a/b --he
    is --help
    [[ ! -e pwned ]]
    cd here
    PATH=/usr/bin:/bin
    for shell in zsh fish; do
        command -v $shell >/dev/null || continue
        offered $shell <<<'cf-cat --' >got
        [[ ! -e ../pwned ]] || fail "$shell"
    done
}

@test "fish: a word of a command after -- is no option of fish's" {
    command -v fish >/dev/null || skip "fish is missing"
    offered fish <<<'cf-capture trace -- -hx' >got 2>&1
    [[ $(head -n 1 got) == '> cf-capture trace -- -hx' ]] || fail "$(<got)"
    run ! grep complete got
    offered fish <<<'cf-capture trace -- ' >got 2>&1
    grep -qx cf-capture-trace got || fail "$(head got)"
    run ! grep '^complete:' got
}

@test "fish: names of files that the line has in quotes, with ~ or by a variable, and a program that is not there" {
    command -v fish >/dev/null || skip "fish is missing"
    mkdir 'a b' '$(touch pwned)' '(touch pwned)'
    touch 'a b/x.cf' '$(touch pwned)/x.cf' zebra.csv
    # shellcheck disable=SC2016
    offered fish >got 2>&1 <<'CASES'
cf-rank a\ b/
cf-rank 'a b/
cf-rank --output=a\ b/
cf-rank ~/zeb
cf-rank $HOME/zeb
cf-rank '$(touch pwned)/
cf-rank (touch pwned)/
cf-rank $(touch pwned)/
./cf-rank zeb
CASES
    [[ ! -e pwned ]]
    # shellcheck disable=SC2016
    diff - got <<'END'
> cf-rank a\ b
a b/x.cf
> cf-rank 'a b
a b/x.cf
> cf-rank --output=a\ b
--output=a b/x.cf
> cf-rank ~/zeb
~/zebra.csv
> cf-rank $HOME/zeb
$HOME/zebra.csv
> cf-rank '$(touch pwned)
$(touch pwned)/x.cf
> cf-rank (touch pwned)
> cf-rank $(touch pwned)
> ./cf-rank zeb
zebra.csv
END
}

@test "a program without the script beside it: zsh and fish offer files" {
    local shell
    mkdir -p alone/bin
    cp "$B/bin/cf-cat" alone/bin
    touch zebra.csv
    PATH=$T/alone/bin:$PATH
    for shell in zsh fish; do
        command -v $shell >/dev/null || continue
        [[ $(offered $shell <<<'cf-cat zeb') == $'> cf-cat zeb\nzebra.csv' ]] || fail "$shell: $(<out)"
    done
}
