# SPDX-License-Identifier: BSD-2-Clause
#
# What the suites of cf-capture pages share. It runs against fake_pagectl, which answers the calls of
# the kernel module at a socket, and times hot.c, which adds to a file what its uncached pages cost; that
# file is the clock (clock.c), so that times are known to the cycle.

# told_build: the timed programs, in $D.
told_build() {
    export D=$BATS_FILE_TMPDIR
    local source=$BATS_TEST_DIRNAME/told/hot.c
    cc -D_GNU_SOURCE -O1 -g -pthread -o "$D/hot" "$source"
    cc -D_GNU_SOURCE -O1 -g -pthread -Wl,-z,now -o "$D/bound" "$source"
    cc -D_GNU_SOURCE -O1 -g -pthread -static -o "$D/fixed" "$source"
    objcopy --only-keep-debug "$D/hot" "$D/bare.debug"
    objcopy --strip-all --add-gnu-debuglink="$D/bare.debug" "$D/hot" "$D/bare"
}

setup() {
    lib_setup
    head -c 8 /dev/zero >clock
    export CF_TOLD_CLOCK=clock
}

teardown() {
    [[ -z ${MODULE:-} ]] || kill "$MODULE" 2>/dev/null || true
    MODULE=
}

# pagectl [KEY=VALUE...]: the stand-in, in the background
pagectl() {
    teardown
    rm -f sock
    fake_pagectl sock notes state "$@" >/dev/null 2>&1 3>&- &
    MODULE=$!
    eventually test -S sock
}

# capture ARGUMENT...: with the function's name, the stand-in and no input
capture() {
    timeout -k 5 600 cf-capture-pages-told -f observed --device sock "$@" </dev/null
}

# pages ARGUMENT...: of the data of the program
pages() {
    capture --regions data "$@"
}

hot() { # hot MODE ARGUMENT...
    local mode=$1
    shift
    pages -n 1 -o p.cf "$@" -- "$D/hot" "$mode" state clock
}

bound() { # bound ARGUMENT...: of the program without calls that the linker finds later, in mode p
    pages -n 1 -o p.cf "$@" -- "$D/bound" p state clock
}
