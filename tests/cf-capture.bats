#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# cf-capture: finds sources and runs them. Most tests work with an installation of their own, x/,
# whose sources are small scripts, so that nothing depends on what this machine can do.
load lib

setup() {
    lib_setup
    mkdir -p x/bin x/libexec/cacheflow
    cp "$B/bin/cf-capture" x/bin
    X=$T/x/bin/cf-capture
}

# source_at DIR NAME PROBE_STATUS PROBE_TEXT: a source that prints how it was called.
source_at() {
    mkdir -p "$1"
    cat >"$1/cf-capture-$2" <<END
#!/bin/sh
if [ "\$1" = --probe ]; then echo "$4"; exit $3; fi
echo "$2 of $1:"; for a in "\$@"; do echo "<\$a>"; done
exit 7
END
    chmod +x "$1/cf-capture-$2"
}

# only: runs cf-capture of x/ with nothing else in PATH than the system's programs.
only() {
    PATH=${EXTRA:+$EXTRA:}/usr/bin:/bin "$X" "$@"
}

@test "a source gets its arguments as they are, and its status is ours" {
    source_at x/bin one 0 "ready: yes"
    run -7 only one -x 'a b' -- --list ''
    is 'one of x/bin:
<-x>
<a b>
<-->
<--list>
<>'
}

@test "a source can live beside us, in libexec/cacheflow or in PATH, and the first counts" {
    source_at x/libexec/cacheflow two 0 "ready: yes"
    source_at "$T/path" three 0 "ready: yes"
    source_at "$T/path" two 0 "ready: yes"
    run -7 only two
    has 'two of x/libexec/cacheflow:'
    EXTRA=$T/path run -7 only three
    EXTRA=$T/path run -7 only two
    has 'two of x/libexec/cacheflow:'
    source_at x/bin two 0 "ready: yes"
    EXTRA=$T/path run -7 only two
    has 'two of x/bin:'
    run -2 only three
}

@test "a source that does not exist: the known ones, status 2" {
    source_at x/bin one 0 "ready: yes"
    source_at x/bin two 0 "ready: yes"
    run -2 only three
    has "cf-capture: no source 'three': give one of one, two;"
    run -2 only ../bin/one
    run -2 only ''
}

@test "what is not executable, or has an odd name, is no source" {
    source_at x/bin one 0 "ready: yes"
    chmod -x x/bin/cf-capture-one
    mkdir x/bin/cf-capture-two
    source_at x/bin 'three.old' 0 "ready: yes"
    run -0 --separate-stderr only --list
    is ''
    has 'no source found' "$stderr"
}

@test "a program in the place of a source: a hint" {
    run -2 only ls
    has "'ls' is no source but a program: to record it, write 'cf-capture -- ls ...'"
    run -2 only /bin/ls
    has "cf-capture -- /bin/ls"
    run -2 only /bin/no-such-program
    has_not 'is no source but a program'
}

@test "--list: every source, whether it is ready, in order" {
    source_at x/bin zeta 0 "ready: always"
    source_at x/bin trace 3 "no Valgrind"
    source_at x/libexec/cacheflow alpha 3 ""
    printf '#!/bin/sh\nexit 2\n' >x/bin/cf-capture-old
    printf '#!/bin/sh\nkill -9 $$\n' >x/bin/cf-capture-dead
    chmod +x x/bin/*
    run -0 --separate-stderr only --list
    is 'alpha                                               not ready, and does not say why
dead                                                --probe ended by signal 9
old                                                 does not know --probe
trace  every access of a program                    no Valgrind
zeta                                                ready: always'
    [ -z "$stderr" ]
    run -0 only -l
    run -3 bash -c "$X -l >/dev/full"
}

@test "--probe of each source of the suite: 'ready: ...' with status 0, else why not" {
    local p
    for p in $(programs capture importer); do
        [[ $p != cf-capture ]] || continue
        run "$p" --probe
        [[ $status$output == '0ready: '* || ($status == 3 && -n $output && $output != 'ready: '*) ]] || fail "$p: $status: $output"
    done
}

@test "--list stands alone: what else is on the line is wrong usage" {
    local line
    source_at x/bin one 0 "ready: yes"
    for line in '--list x' '-l x' '--list one' '--list -- prog' '-o f.cf --list' '--list --list=x' '-l -l x'; do
        run -2 --separate-stderr only $line
        is ''
        has ': --list takes no arguments' "$stderr"
    done
    for line in '-q --list' '--list -q' '--list --quiet' '--list --list'; do
        run -0 --separate-stderr only $line
        has 'ready: yes'
    done
    run -0 only --list --help
    has 'Usage: cf-capture SOURCE'
}

@test "--list: a source that hangs is given up, and its children with it" {
    printf '#!/bin/sh\nsleep 9876.%d &\nsleep 9876.%d\n' $$ $$ >x/bin/cf-capture-slow
    chmod +x x/bin/cf-capture-slow
    run -0 only --list
    has 'slow                                               gives no answer to --probe in 5 seconds'
    over() { ! pgrep -fx "sleep 9876.$$"; }
    eventually over
}

@test "no source: trace if it is ready" {
    source_at x/bin trace 0 "ready: yes"
    source_at x/bin snapshot 0 "ready: yes"
    run -7 --separate-stderr only -o f -- prog -x
    is 'trace of x/bin:
<-o>
<f>
<-->
<prog>
<-x>'
    [ "$stderr" = "cf-capture: recording with 'trace'" ]
    run -7 --separate-stderr only -- prog
    is 'trace of x/bin:
<-->
<prog>'
}

@test "a command line of 400 KB is recorded; one of 600 KB is refused before the program starts" {
    local long
    long=$(printf './%.0s' {1..500})
    xargs -s 1000000 cf-capture-trace -q -o t.cf -- true <<<"$(yes "$long" | head -n 400)"
    cf-cat --verify t.cf
    run xargs -s 1000000 cf-capture-trace -q -o u.cf -- touch ran <<<"$(yes "$long" | head -n 600)"
    has 'the header grew over 1 MiB'
    [[ $status != 0 && ! -e ran && ! -e u.cf ]]
}

@test "no source: else snapshots, and it says why" {
    source_at x/bin trace 3 "no Valgrind"
    source_at x/bin snapshot 0 "ready: A57"
    run -7 --separate-stderr only -- prog --list --help
    is 'snapshot of x/bin:
<-->
<prog>
<--list>
<--help>'
    [ "$stderr" = "cf-capture: recording with 'snapshot'; trace: no Valgrind" ]
    rm x/bin/cf-capture-trace
    run -7 --separate-stderr only -q -- prog
    has '<-q>'
    [ -z "$stderr" ]
}

@test "no source: the emulator for a program of another architecture" {
    source_at x/bin trace 0 "ready: yes"
    source_at x/bin qemu 0 "ready: yes"
    # a program for the same processor, and the same with another machine, word size or byte order
    cp "$B/bin/cf-cat" foreign
    run -7 only -- ./foreign
    has 'trace of x/bin:'
    local change
    for change in 4=01 5=02 18=7e; do
        cp "$B/bin/cf-cat" foreign
        # shellcheck disable=SC2059 # the escape is meant
        printf "\\x${change#*=}" | dd of=foreign bs=1 seek="${change%=*}" conv=notrunc status=none
        run -7 --separate-stderr only -o f -- ./foreign -x
        is 'qemu of x/bin:
<-o>
<f>
<-->
<./foreign>
<-x>'
        [ "$stderr" = "cf-capture: recording with 'qemu'; './foreign' is made for another architecture" ]
    done
    rm x/bin/cf-capture-qemu
    run -3 only -- ./foreign
    has "nothing here can record a program: './foreign' is made for another architecture; qemu: not installed"
    # scripts and what is not there are for the recorder to judge
    printf '#!/bin/sh\n' >script
    chmod +x script
    for at in ./script ./none; do
        run -7 only -- $at
        has 'trace of x/bin:'
    done
}

@test "no source and nothing can record: status 3 and the reasons" {
    source_at x/bin trace 3 "no Valgrind"
    run -3 only -- prog
    has 'nothing here can record a program: trace: no Valgrind; snapshot: not installed'
    has_not perf
}

@test "a source that cannot be started: status 3" {
    printf '#!/no/such/interpreter\n' >x/bin/cf-capture-one
    chmod +x x/bin/cf-capture-one
    run -3 only one
    has 'cf-capture-one: No such file'
    run -0 only --list
    has 'does not know --probe'
}

@test "wrong usage" {
    run -2 only
    has 'no SOURCE and no PROGRAM'
    run -2 only --
    has 'no PROGRAM'
    run -2 only -o f
    run -2 only -
}

@test "help and version" {
    run -0 only --help
    has 'Usage: cf-capture SOURCE'
    [ "${#lines[@]}" -le 24 ]
    run -0 only -h
    run -0 only --version
    [[ $output =~ ^cf-capture\ \(cacheflow\)\ [0-9] ]]
    run -3 bash -c "$X --help >/dev/full"
}

@test "the sources of this build answer" {
    run -0 cf-capture --list
    for s in csv din lackey; do
        [[ $output =~ (^|$'\n')$s\ .*ready: ]] || fail "$s: $output"
    done
    printf 'addr\n1\n' | cf-capture csv >a.cf
    [ -s a.cf ]
}
