# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
#
# For the suites that boot a guest kernel: `load guest/suite` after `load lib`. setup_file builds and
# boots once, each test then looks for one result in what a guest has said.
#
#   $G     where the guests' files are
#   $S     where what is built stands, for all suites of this build
#   $WHY   why there is no guest, when there is none: every test is skipped by that
#   $WHY_PROGRAMS   why there are no programs of ours in it, when there are none

guest_build() { # guest_build ARCH: into $S/ARCH, and what a guest takes of it into $G/ARCH
    export G=$BATS_FILE_TMPDIR S=$B/guest${CF_GUEST_RELEASE:+-$CF_GUEST_RELEASE} WHY='' WHY_PROGRAMS=''
    local said status=0
    if sanitized; then
        WHY="nothing that runs in the guest is built with the sanitizers"
        return
    fi
    said=$("$ROOT/tests/guest/guest" build "$1" "$S/$1" 2>&1) || status=$?
    case $status in
    0) mkdir "$G/$1" && ln -s "$S/$1"/{image,busybox,check,*.ko} "$G/$1" ;;
    3) WHY=${said##*$'\n'} ;;
    *) fail "$1 does not build:" "$said" ;;
    esac
}

# guest_programs ARCH: what runs in it beside the checks
guest_programs() {
    local said status=0
    [[ -z $WHY ]] || return 0
    said=$(CF_B=$B "$ROOT/tests/guest/guest" programs "$1" "$S/$1" 2>&1) || status=$?
    case $status in
    0) ln -s "$S/$1/extra" "$G/$1" ;;
    3) WHY_PROGRAMS=${said##*$'\n'} ;;
    *) fail "the programs for $1 do not build:" "$said" ;;
    esac
}

# guest_boot ARCH NAME [OPTION...] <SCRIPT
guest_boot() {
    local arch=$1 name=$2 status=0
    shift 2
    "$ROOT/tests/guest/guest" boot "$arch" "$G/$arch" "$name" "$@" >"$G/$name.said" 2>&1 || status=$?
    cp "$G/$arch/$name.console" "$G/$name.console" 2>/dev/null
    # A machine without the emulator skips; a guest that did not come to its end fails test by test.
    [[ $status != 3 ]] || cp "$G/$name.said" "$G/why"
    return 0
}

guest_here() {
    [[ -z $WHY ]] || skip "$WHY"
    [[ ! -f $G/why ]] || skip "$(<"$G/why")"
}

programs_here() {
    guest_here
    [[ -z $WHY_PROGRAMS ]] || skip "$WHY_PROGRAMS"
}

# passed NAME CHECK: the guest of that name has passed that check, and what it measured is shown
passed() {
    guest_here
    local console=$G/$1.console line
    line=$(tr -d '\r' <"$console" | grep -a "CHECK [A-Za-z]* $2:") || {
        fail "the guest '$1' does not tell of '$2'; it ends with:" "$(tail -n 30 "$console")"
        return
    }
    [[ $line == *"CHECK ok $2:"* && $line != *FAILED* ]] || fail "${line##*CHECK }" || return
    echo "# ${line##*CHECK }" >&3
}
