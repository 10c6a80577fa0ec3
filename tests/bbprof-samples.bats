# SPDX-License-Identifier: BSD-2-Clause
#
# samples/bbprof: the programs compute the same with every compiler, and something else of other
# inputs; their pages have the gains that samples/README.md states.
load lib

setup() {
    lib_setup
    reached "a model"
}

# built PROGRAM...
built() {
    local program
    for program; do
        gcc -std=c11 -O1 -g -o "$program" "$ROOT/samples/bbprof/$program.c"
    done
}

# profile NAME PROGRAM [ARGUMENT]...: NAME.cf is the profile of the observed function, NAME.csv its ranks. The
# program's heap memory is that of brk(), also in large pieces, as cf-capture-pages' runs have it.
profile() {
    local name=$1
    shift
    (set -o pipefail && MALLOC_MMAP_MAX_=0 MALLOC_TOP_PAD_=1048576 cf-capture trace -q -i --own-allocator \
        --function observed -- "$@" 2>messages | cf-resolve -q | cf-pages -q -m zynq-ultrascale -o "$name.cf") || fail "$(<messages)" || return
    cf-rank -q --by page --value gain "$name.cf" >"$name.csv"
}

# correlation A B: of the ranks of their pages, in thousandths
correlation() {
    cf-rank -q --by page --value gain --against "$1.cf" "$2.cf" | awk -F, '$1 == "spearman" { printf "%d\n", $3 * 1000 }'
}

@test "each compiles without a warning, and prints the same with every compiler" {
    local source program compiler level small
    for source in "$ROOT"/samples/bbprof/*.c; do
        program=$(basename "$source" .c)
        case $program in
        staircase) small=10 ;;
        c2isbm) small=3 ;;
        interf) small='16 4' ;;
        *) small='sqcif nor1' ;;
        esac
        for compiler in gcc clang; do
            [[ $compiler == gcc ]] || command -v clang >/dev/null || continue
            for level in -O0 -O2; do
                $compiler -std=c11 -pedantic -Wall -Wextra -Werror $level -o p "$source"
                # shellcheck disable=SC2086 # several words
                ./p $small >>"$program.sums"
                [[ $(nm p | grep -c ' T observed$') == 1 ]] || fail "$program: not one function observed"
            done
        done
        [[ $(sort -u "$program.sums" | grep -cE '^[0-9a-f]{8}$') == 1 ]] || fail "$program: $(<"$program.sums")"
    done
    [[ $(cat ./*.sums | sort -u | wc -l) == 6 ]]
}

@test "other arguments are other work: sizes, inputs, how often; wrong ones are refused" {
    built staircase c2isbm interf disparity regions tracking
    local program input size arguments
    for program in disparity regions tracking; do
        for input in def nor1 nor2 deg1 deg2; do ./$program sqcif $input; done >sums
        for size in qcif cif vga; do ./$program $size; done >>sums
        [[ $(sort -u sums | wc -l) == 8 ]] || fail "$program: $(<sums)"
        [[ $(./$program) == $(./$program sqcif def) ]]
    done
    [[ $(./disparity sqcif def 2) != $(./disparity) && $(./tracking sqcif def 2) != $(./tracking) ]]
    [[ $(./staircase 10) != $(./staircase 20) && $(./c2isbm 1) != $(./c2isbm 2) ]]
    [[ $(./interf 8 2) != $(./interf 8 3) && $(./interf 8 2) != $(./interf 12 2) ]]
    while read -r program arguments <&9; do
        # shellcheck disable=SC2086 # several words
        run -2 ./$program $arguments
        has "Usage: $program "
    done 9<<'END'
staircase 12
staircase 0
c2isbm -1
c2isbm 1x
interf 0
interf 4 99999999999999999999
disparity hd
disparity sqcif deg3
disparity sqcif def 65
regions def
tracking sqcif def 0
END
}

@test "staircase: five steps of 20 pages, one to five times the first" {
    built staircase
    profile stair ./staircase 20
    awk -F, '$2 == "[heap]" { print $3, $4 }' stair.csv | sort -n >gains
    [[ $(wc -l <gains) == 100 ]] || fail "$(<stair.csv)"
    awk '{ step = int((NR - 1) / 20) + 1
           if (NR % 20 == 1) first[step] = $2
           bad += $2 != first[step] || $2 < .94 * step * first[1] || $2 > 1.06 * step * first[1] }
        END { exit bad }' gains || fail "$(<gains)"
}

@test "c2isbm: 65 text pages that matter alike; interf: as many heap pages as it was told" {
    built c2isbm interf
    profile nops ./c2isbm 3
    # the last of them has the end of the function, its neighbour what calls it
    awk -F, '$2 ~ /c2isbm r-x$/ && ++n && !($4 > 0) { bad++ }
        $2 ~ /c2isbm r-x$/ { last = $3 > last ? $3 : last; first = first == "" || $3 < first ? $3 : first; most = $4 > most ? $4 : most }
        END { exit bad || n < 65 || n > 66 || last - first != n - 1 }' nops.csv || fail "$(<nops.csv)"
    profile stores ./interf 48 3
    [[ $(grep -c '\[heap\]' stores.csv) == 12 ]] || fail "$(<stores.csv)"
}

@test "the order of pages depends on the input in regions, and hardly in disparity and tracking" {
    built disparity tracking regions
    local program input
    for program in disparity tracking regions; do
        for input in def nor1 deg1; do
            # shellcheck disable=SC2046 # nothing, or a word: few shifts and frames
            profile $program-$input ./$program sqcif $input $([[ $program == regions ]] || echo 4)
        done
        for input in nor1 deg1; do correlation $program-def $program-$input; done >$program.is
    done
    awk '$1 < 850 { exit 1 }' disparity.is tracking.is || fail "$(head ./*.is)"
    awk '$1 > 600 { exit 1 }' regions.is || fail "$(head ./*.is)"
    # an order against itself
    [[ $(correlation regions-def regions-def) == 1000 ]]
}
