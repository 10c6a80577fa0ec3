# SPDX-License-Identifier: BSD-2-Clause
#
# tests/run itself: what it counts, and that nothing that went wrong looks like success.
load lib

setup() {
    lib_setup
    reached "the runner of the tests"
    mkdir -p tree/tests tree/build/test
    cp "$ROOT"/tests/{run,sanitizers.bash} tree/tests/
}

suite() { # NAME: a bats suite from standard input, in which 'test:' stands for @test, 'bats:' for what bats is told
    sed 's/^test:/@test/; s/^bats:/# bats/' >"tree/tests/$1.bats"
}

unit() { # NAME: a unit test, as a shell script, from standard input
    { echo '#!/bin/sh' && cat; } >"tree/build/test/test_$1"
    chmod +x "tree/build/test/test_$1"
}

# A bats inside a bats must not see the variables of the outer one.
go() {
    run env -i PATH="/usr/bin:/bin" HOME="$T" tree/tests/run "$@"
}

@test "passes, failures and skips are counted, skips and failures named, the last line tells" {
    suite good <<<'test: "one" { true; }
test: "two # with a number sign" { true; }'
    suite mixed <<<'test: "three" { true; }
test: "four" { echo the reason; false; }
test: "five" { skip "no such hardware"; }'
    unit c <<<'echo "ok 1 - six"; echo "1..1"'
    go
    [[ $status == 1 ]]
    [[ ${lines[-1]} == "4 passed, 1 failed, 1 skipped" ]] || fail "$output"
    has 'not ok 2 four'
    has 'the reason'
    has 'mixed: five # skip no such hardware'
}

@test "when all pass the status is 0" {
    suite good <<<'test: "one" { true; }'
    go
    [[ $status == 0 ]]
    [[ ${lines[-1]} == "1 passed, 0 failed, 0 skipped" ]] || fail "$output"
}

@test "nothing at all is a failure" {
    go
    [[ $status == 1 ]]
    [[ ${lines[-1]} == "0 passed, 1 failed, 0 skipped" ]] || fail "$output"
}

@test "only skips are a failure: nothing ran" {
    suite skips <<<'test: "one" { skip "why"; }'
    go
    [[ $status == 1 ]]
}

@test "a unit test that dies, says nothing, ends early or ends with a bad status has failed" {
    unit dies <<<'echo "ok 1 - a"; kill -SEGV $$'
    unit says_nothing <<<'exit 0'
    unit ends_early <<<'echo "1..3"; echo "ok 1 - a"'
    unit bad_status <<<'echo "ok 1 - a"; echo "1..1"; exit 4'
    go
    [[ $status == 1 ]]
    [[ ${lines[-1]} == "3 passed, 4 failed, 0 skipped" ]] || fail "$output"
    has 'did not run to its end'
    has 'ran 1 of 3 tests'
    has 'exit status 4'
}

@test "a suite that does not parse has failed" {
    suite broken <<<'test: "one" { if true; }'
    suite good <<<'test: "two" { true; }'
    go
    [[ $status == 1 ]]
    [[ ${lines[-1]} =~ ^1\ passed,\ [1-9][0-9]*\ failed, ]] || fail "$output"
}

@test "suites can be chosen; one that does not exist is wrong usage" {
    suite good <<<'test: "one" { true; }'
    suite bad <<<'test: "two" { false; }'
    go good
    [[ $status == 0 ]]
    go none
    [[ $status == 2 ]]
    has "no suite 'none'"
    # its file is no name of it, nor is that beside it
    for other in tests/good.bats build/results good.bats ''; do
        go good "$other"
        [[ $status == 2 ]] || fail "$other: $output"
        is "run: no suite '$other'"
    done
}

@test "a folder with a blank in its name is refused at once" {
    suite good <<<'test: "one" { true; }'
    go -b 'my build' good
    [[ $status == 2 && ! -e "tree/my build" ]]
    mv tree 'a tree'
    run -2 env -i PATH=/usr/bin:/bin HOME="$T" 'a tree/tests/run' good
    is "run: the tree is in '$T/a tree', its build in 'build': give folders without a blank in their names"
}

@test "a description that holds the word is no skip" {
    suite good <<<'test: "one # skipping stones" { true; }
test: "two # skip the third # and go on" { true; }
test: "three # a" { skip "see #12"; }'
    go
    [[ ${lines[-1]} == "2 passed, 0 failed, 1 skipped" ]] || fail "$output"
}

@test "--quick leaves out what is tagged slow, and says so" {
    suite half <<<'test: "one" { true; }
bats: test_tags=slow
test: "two" {
    false
}
bats: test_tags=slow
test: "three" {
    false
}'
    suite whole <<<'bats: file_tags=slow
setup_file() { false; }
test: "four" { true; }'
    go --quick
    [[ $status == 0 && $output == *$'left out'*$'\n  half: two\n  half: three\n  whole\n\n1 passed, 0 failed, 0 skipped' ]] || fail "$output"
    go
    [[ $status == 1 && ${lines[-1]} == "1 passed, "* && $output != *'left out'* ]] || fail "$output"
    go --quick half
    [[ $status == 0 && ${lines[-1]} == "1 passed, 0 failed, 0 skipped" ]] || fail "$output"
}

@test "a second one in the same folder is refused, and leaves the first one's results" {
    suite slow <<<"test: \"one\" { touch $T/begun; until [ -e $T/on ]; do sleep 0.1; done; }"
    suite good <<<'test: "two" { true; }'
    env -i PATH=/usr/bin:/bin HOME="$T" tree/tests/run slow >first 2>&1 3>&- &
    gate begun
    go good
    touch on
    [[ $status == 1 ]]
    has "another tests/run is at work in build, whose results this one would remove"
    wait $!
    [[ $(tail -n 1 first) == "1 passed, 0 failed, 0 skipped" ]] || fail "$(<first)"
    # what has ended is in nobody's way
    go good
    [[ $status == 0 ]]
}

@test "background processes of a test do not hold the runner up" {
    suite waits <<<'test: "one" { sleep 0.1 & wait; }'
    go
    [[ $status == 0 ]]
}

@test "a suite that does nothing, or works for ever, is ended as a failure, with what it started" {
    # of these two none comes near what the other one is ended for, on however busy a machine
    suite sleeps <<<"test: \"one\" { true; }
test: \"two\" { sleep 4321.$$ & sleep 4321.$$; }"
    unit good <<<'echo "ok 1 - b"; sleep 4; echo "1..1"'
    run env -i PATH="/usr/bin:/bin" HOME="$T" CF_SUITE_IDLE=8 tree/tests/run
    [[ $status == 1 ]]
    [[ ${lines[-1]} == "2 passed, 1 failed, 0 skipped" ]] || fail "$output"
    has 'did nothing for 8 seconds, in the test after number 1'
    unit spins <<<'echo "ok 1 - a"; while :; do :; done'
    run env -i PATH="/usr/bin:/bin" HOME="$T" CF_SUITE_CPU=2 tree/tests/run test_spins test_good
    [[ $status == 1 ]]
    [[ ${lines[-1]} == "2 passed, 1 failed, 0 skipped" ]] || fail "$output"
    has 'stopped after 2 seconds of processor time, in the test after number 1'
    ! pgrep -fx "sleep 4321.$$"
}

@test "with CF_SUITE_FIRST the first failure ends a suite" {
    suite fails <<<"test: \"one\" { false; }
test: \"two\" { sleep 600; }"
    run env -i PATH="/usr/bin:/bin" HOME="$T" CF_SUITE_IDLE=40 CF_SUITE_FIRST=1 tree/tests/run
    [[ $status == 1 ]]
    has 'stopped: a test failed'
}

@test "when the runner is stopped, so is what it has started" {
    suite sleeps <<<"test: \"one\" { touch $T/started; sleep 5432.$$; }"
    setsid env -i PATH="/usr/bin:/bin" HOME="$T" tree/tests/run >out 2>&1 3>&- &
    gate started
    kill -TERM -- -$!
    wait $! || true
    stopped() { ! pgrep -fx "sleep 5432.$$"; }
    eventually stopped
}

@test "numbers that are none are refused, and no time that would be for ever is taken" {
    local n
    suite good <<<'test: "one" { true; }'
    for n in 0 abc -1 '' 1e3 100000000; do
        go -j "$n" good
        [[ $status == 2 ]]
        is "run: -j '$n': give a whole number, 1 to 9999"
        run -2 "$ROOT/tests/run-long" -j "$n" no-test
        is "run-long: -j '$n': give a whole number, 1 to 9999"
        run -2 "$ROOT/tests/run-long" -t "$n" no-test
        is "run-long: -t '$n': give a whole number of seconds, 1 to 99999999"
        run -2 make -n -C "$ROOT" DEPS=0 B=build TIME="$n" fuzz
        has "run-long: -t '$n': give a whole number of seconds, 1 to 99999999"
        run -2 make -n -C "$ROOT" DEPS=0 B=build TIME="$n" check-long
        has "run-long: -t '$n'"
    done
    go -j
    [[ $status == 2 ]]
    is "run: -j takes a value; see tests/run --help"
    go -j 3 good
    [[ $status == 0 ]]
    run -2 "$ROOT/tests/run-long" -t 99999999 -j 9999 no-test
    has "no test 'no-test'"
}

@test "run-long: tests and targets that are not there are refused before anything is built or run" {
    run -2 "$ROOT/tests/run-long" killed no-test
    [[ $output == "run-long: no test 'no-test': "* ]]
    for name in no-target 'rank csv' '' '*'; do
        run -2 "$ROOT/tests/run-long" killed "fuzz:$name"
        [[ $output == "run-long: no target '$name': reader "*" rank "* ]]
        run -2 "$ROOT/tests/run-long" killed "inputs:$name" fuzz:reader
        [[ $output == "run-long: no target '$name': "*" rank "* && $output != *reader* ]]
    done
    run -2 make -n -C "$ROOT" DEPS=0 B=build TARGET='rank no-target' fuzz
    has "run-long: no target 'no-target': reader trace "
    has_not install
    run -2 make -n -C "$ROOT" DEPS=0 B=build ENGINE=none fuzz
    has "run-long: no engine 'none': libfuzzer, afl"
    has_not install
    run -0 make -n -C "$ROOT" DEPS=0 B=build TARGET='rank csv' ENGINE=afl fuzz
    has "-e afl fuzz:rank fuzz:csv"
    run -0 "$ROOT/tests/run-long" -n
    is ""
}

@test "run-long: the name of the tree is text to the shells that it starts" {
    ln -s "$ROOT" 'a $(touch pwned) tree'
    CF_ROUNDS=2 run -0 'a $(touch pwned) tree/tests/run-long' -b "$B" killed
    has "killed: 2 pipes"
    [[ -z $(find . -name pwned) && ! -e $ROOT/pwned ]]
}

# bats test_tags=slow
@test "run-long: where no member was killed, or what looks dies in the middle, that is no success" {
    mkdir -p bin long/tests
    printf '#!/bin/sh\nexit 1\n' >bin/pgrep
    printf '#!/bin/sh\n' >bin/make
    chmod +x bin/*
    CF_ROUNDS=0 run -1 "$ROOT/tests/run-long" -b "$B" killed
    CF_ROUNDS=1 PATH=$T/bin:$PATH run -1 "$ROOT/tests/run-long" -b "$B" killed
    has "FAILED killed: 0 pipes"
    ln -s "$ROOT"/* long 2>/dev/null || true
    ln -s "$ROOT"/tests/* long/tests
    rm long/tests/packages
    printf '#!/bin/sh\necho ok one thing\nexit 1\n' >long/tests/packages
    chmod +x long/tests/packages
    PATH=$T/bin:$PATH run -1 long/tests/run-long -b "$B" packages
    has "ok     packages: one thing"
    has "FAILED packages: all was looked at"
    printf '#!/bin/sh\necho ok one thing\necho FAILED another\nexit 1\n' >long/tests/packages
    PATH=$T/bin:$PATH run -1 long/tests/run-long -b "$B" packages
    has "ok     packages: all was looked at"
}

# bats test_tags=slow
@test "run-long: a fuzzer begins with inputs that the program takes, each way it is called; what only refuses is a failure" {
    run -0 "$ROOT/tests/run-long" -b "$B" inputs
    has_not FAILED
    # of each way one is enough, and of no way none
    mkdir -p tree/tests
    ln -s "$ROOT"/{formats,samples} tree/
    ln -s "$ROOT/tests/golden" tree/tests/
    sed "s/\[sets\]=.*/[sets]='{NULL},{\"--lines=none\",NULL}'/; s/\[csv\]=.*/[csv]='{NULL},{\"--table=line\",NULL}'/
        s/\[mrc\]=.*/[mrc]='{\"--by=set\",NULL}'/" "$ROOT/tests/run-long" >tree/tests/run-long
    run -1 bash tree/tests/run-long -b "$B" inputs:sets inputs:csv inputs:mrc
    has "cf-sets --lines=none: takes no input to begin with: 2: "
    has "cf-capture-csv --table=line: takes no input to begin with: none: "
    has "cf-mrc --by=set: takes no input to begin with: "
    has "0 passed, 3 failed"
    run -2 bash tree/tests/run-long -b "$B" inputs:reader
    has "no target 'reader': "
}

@test "run-long: an input to begin with of which the program dies is a failure, though a fuzzer leaves it out" {
    mkdir -p stubs build/fuzz/din/corpus
    ln -s "$B"/{bin,test} build/
    printf '#!/bin/sh\n' | tee stubs/make >stubs/objcopy
    cat >stubs/clang <<'STUB'
#!/bin/bash
# makes a fuzzer, whatever it is asked for
while [ $# -gt 1 ] && [ "$1" != -o ]; do shift; done
cat >"$2" <<'FUZZER'
#!/bin/bash
[[ $1 != -* ]] || exit 0
for file; do
    echo "Running: $file"
    ! grep -q killer "$file" || { echo '==1==ERROR: AddressSanitizer' && exit 1; }
done
FUZZER
chmod +x "$2"
STUB
    chmod +x stubs/*
    PATH=$PWD/stubs:$PATH run -0 "$ROOT/tests/run-long" -b "$PWD/build" -t 1 fuzz:din
    has "ok     fuzz din: 1 seconds"
    echo killer >build/fuzz/din/corpus/old
    PATH=$PWD/stubs:$PATH run -1 "$ROOT/tests/run-long" -b "$PWD/build" -t 1 fuzz:din
    has "Running: corpus/old"
    has "==1==ERROR: AddressSanitizer"
    has "FAILED fuzz din: inputs to begin with"
}
