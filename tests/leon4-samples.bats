# SPDX-License-Identifier: BSD-2-Clause
#
# samples/leon4: the stored traces of bare-metal LEON programs are what the sources, the emulator and
# leon4-forms give; their forms agree with each other; and the model's misses are those of cf-cache.
load lib

setup() {
    lib_setup
    S=$ROOT/samples/leon4
    # what one test has made, all have
    mkdir -p "$BATS_FILE_TMPDIR/out"
    ln -s "$BATS_FILE_TMPDIR/out" out
}

# words FILE: the words of a raw file, four a line.
words() {
    od -An -v -tx4 --endian=big -w16 "$1" | sed 's/^ *//'
}

# entries FILE.inst.raw: "tag pc opcode trap result...", one line an instruction.
entries() {
    words "$1" | awk '
        function hex(text,  i, v) {
            for (i = 1; i <= length(text); i++) v = v * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
            return v
        }
        { tag = hex($1); more = int(tag / 1073741824) % 2; tag %= 1073741824
          last = hex(substr($3, 8)); low = last % 4
          pc = substr($3, 1, 7) substr("048c", int(last / 4) + 1, 1)
          if (more) { line = line " " $2; next }
          if (line != "") print line
          line = tag " " pc " " $4 " " int(low / 2) " " (low >= 2 ? "-" : $2) }
        END { print line }'
}

# fetches FILE.inst.raw: its instructions as CSV
fetches() {
    echo op,size,addr,pc,insns
    entries "$1" | awk '{ print "ifetch,4,0x" $2 ",0x" $2 ",1" }'
}

# counter NAME PROGRAM
counter() {
    sed -n "s/.* $1  *0*\([0-9]\)/\1/p" "$S/$2.counters"
}

# tools: skips without the cross compiler and the emulator.
tools() {
    local t
    for t in sparc64-linux-gnu-gcc sparc64-linux-gnu-objdump qemu-system-sparc; do
        need $t "the packages gcc-sparc64-linux-gnu and qemu-system-sparc, which 'make deps' installs"
    done
}

leon4() {
    make -s -C "$ROOT" -f pipelines/leon4.mk B="$B" OUT="$BATS_FILE_TMPDIR/out" STORE="$T/store" "$@"
}

@test "made again from source, every stored sample is the same" {
    tools
    local version
    version=$(sparc64-linux-gnu-gcc -dumpfullversion)
    [[ $version == 12.2.0 ]] || skip "the samples are what gcc 12.2.0 gives; here is $version"
    mkdir store
    leon4 samples
    local f n=0
    for f in store/*; do
        cmp "$f" "$S/${f##*/}"
        n=$((n + 1))
    done
    # and none is stored that is not made
    [[ $n == $(find "$S" -type f ! -name '*.[cS]' ! -name '*.ld' | wc -l) ]]
    ((n >= 35))
}

@test "with any compiler: programs come to their end, every load is found in memory, all forms are made" {
    tools
    leon4 >said
    grep -q '^windows$' said
    local p f
    for p in fits overflow windows two; do
        for f in hist inst ahb tcl.hist tcl-lines.hist tsim.hist ftdi.inst openocd.inst dsu.inst words.inst words.ahb csv; do
            (($(wc -c <"out/$p.$f") > 20000)) || fail "$p.$f has $(wc -c <"out/$p.$f") bytes"
        done
    done
    run -0 --separate-stderr leon4-forms -f counters out/windows
    [[ $stderr =~ windows:\ ([0-9]+)\ instructions,\ ([0-9]+)\ jumped\ over,\ ([0-9]+)\ loads ]] || fail "$stderr"
    # annulled delay slots are among them, and most loads have a register to look at
    ((BASH_REMATCH[1] > 10000 && BASH_REMATCH[2] >= 12))
    ((BASH_REMATCH[3] * 10 > $(grep -c ,load, out/windows.csv) * 9))
    # the same log, the same result
    leon4-forms -q out/fits | cmp - out/fits.hist
    # a program for a second CPU stands elsewhere
    grep -q ',0,[a-z]*,[0-9],0x400' out/two.csv
    grep -q ',1,[a-z]*,[0-9],0x401' out/two.csv
    if grep -q ',1,[a-z]*,[0-9],0x400' out/two.csv; then fail "CPU 1 touches the memory of CPU 0"; fi
}

@test "the tables: misses of each cache by class are as many as were counted" {
    tools
    leon4 tables BIN="$B/bin" >said
    local p kind counter
    for p in fits overflow windows; do
        grep -q "^$p, by the paper's procedure: *$p, with recovered addresses:$" said
        for kind in paper leon4 hill; do
            for counter in 'icache miss' 'dcache miss' 'external event 1'; do
                grep -qE "^$counter +[0-9]+ +[0-9]+  0$" "out/$p.report.$kind.txt" ||
                    fail "$p $counter" "$(cat "out/$p.report.$kind.txt")"
            done
        done
        # the true addresses have the same misses of the first level as those that were recovered
        for kind in 'L1I,ifetch icache' 'L1D,load dcache'; do
            read -r row counter <<<"$kind"
            [[ $(sed -n "s/^$row,[0-9]*,\([0-9]*\),.*/\1/p" "out/$p.report.truth.txt") == \
                $(sed -n "s/.* $counter miss  *0*//p" "out/$p.counters") ]] || fail "$p" "$(cat said)"
        done
    done
    grep -qE '^compulsory +45 +34 +81 +compulsory +45 +34 +81$' said
    grep -qE '^conflict +0 +522 +2 +conflict +687 +522 +2$' said
}

@test "the tables of a board whose second level is off: its counter and the misses stand at 0" {
    tools
    leon4 tables BIN="$B/bin" L2=off OUT="$BATS_FILE_TMPDIR/off" >said
    local p kind counter
    for p in fits overflow windows; do
        for kind in paper leon4 hill; do
            for counter in 'icache miss' 'dcache miss' 'external event 1'; do
                grep -qE "^$counter +[0-9]+ +[0-9]+  0$" "$BATS_FILE_TMPDIR/off/$p.report.$kind.txt" ||
                    fail "$p $counter" "$(cat "$BATS_FILE_TMPDIR/off/$p.report.$kind.txt")"
            done
        done
    done
    (($(grep -c 'Second level: off.*Second level: off' said) == 3))
    grep -qE '^external event 1 +0 +0  0 +external event 1 +0 +0  0$' said
    # it stays off with options for the forms; and where it is switched off by these, the machine's is off, too
    for p in L2=off "FORMSARGS=--post 4 --l2-off"; do
        rm -rf "$T/off"
        leon4 tables BIN="$B/bin" OUT="$T/off" FORMSARGS="--post 4" "$p" >said 2>&1
        (($(grep -cE '^external event 1 +0 +0  0 +external event 1 +0 +0  0$' said) == 3)) || fail "$p" "$(<said)"
    done
    run -2 make -n -C "$ROOT" -f pipelines/leon4.mk B="$B" OUT="$T/none" L2=no tables
    has "L2='no': it is on or off"
    run -0 make -n -C "$ROOT" -f pipelines/leon4.mk B="$B" L2=off tables
    has /leon4-l2-off
}

@test "a log that is cut off, or does not tell the truth, is refused with its line" {
    tools
    leon4 "$BATS_FILE_TMPDIR"/out/windows.{log,bin,lst}
    local total
    cp out/windows.bin out/windows.lst .
    total=$(wc -l <out/windows.log)
    head -n $((total / 2)) out/windows.log >windows.log
    run -1 leon4-forms windows
    has "leon4-forms: windows.log: line $((total / 2)): "
    # the last instruction is missing, all the rest is whole
    grep -n -m1 "^pc: $(sed -n 's/^\([0-9a-f]*\):.*\tta  0.*/\1/p' windows.lst)" out/windows.log | cut -d: -f1 >end
    head -n $(($(cat end) - 2)) out/windows.log >windows.log
    run -1 leon4-forms windows
    has "did not come to its end"
    # a register that the window's handler has loaded, %i6, holds something else after that
    awk -v at="$(sed -n 's/^\([0-9a-f]*\):.*ldd  \[ %sp + 0x38 \], %fp.*/\1/p' windows.lst)" '
        $0 ~ "^pc: " at { seen = 1 } seen && /^Trace/ { seen++ }
        seen > 1 && /^%i0-7/ && !done { $8 = "12345678"; done = 1 } { print }' \
        out/windows.log >windows.log
    run -1 leon4-forms windows
    has "windows.log: line "
    has "does not hold what memory has"
    : >windows.lst
    run -1 leon4-forms windows
    has "windows.lst: line 0: no instruction"
    rm windows.lst
    run -1 leon4-forms windows
    has "windows.lst: No such file"
}

@test "wrong usage: status 2" {
    run -2 leon4-forms
    run -2 leon4-forms --form none x
    has "--form 'none': give one of"
    run -2 leon4-forms --style raw x
    run -2 leon4-forms --style ftdi --form ahb x
    run -2 leon4-forms --style openocd --form ahb x
    has "--bus 32"
    run -2 leon4-forms --bus 48 x
    run -2 leon4-forms a b c
    run -1 leon4-forms none
    has "none.lst"
    leon4-forms --help >help
    [[ $(wc -l <help) -le 24 && $(wc -L <help) -le 80 ]]
}

@test "the model's misses are those that cf-cache and cf-classify find" {
    local p
    for p in fits overflow windows; do
        cf-capture csv -q "$S/$p.csv" >data.cf
        cf-cache -q -m leon4-n2x --summary data.cf >summary.csv
        [[ $(awk -F, '$1 == "L1D" { print $8 }' summary.csv) == $(counter "dcache miss" $p) ]]
        [[ $(grep -c ',load,.*,2$' "$S/$p.csv") == $(counter "dcache miss" $p) ]]
        # row by row, what was served by the first level and what was not
        cf-cache -q -m leon4-n2x data.cf | cf-cat --csv >rows.csv
        paste -d, <(column op rows.csv) <(column hit rows.csv) | sed -n 's/^load,//p' | sed 's/^[^1].*/2/' >model
        sed -n 's/.*,load,.*,//p' "$S/$p.csv" | same - model
        fetches "$S/$p.inst.raw" | cf-capture csv -q >fetches.cf
        [[ $(cf-cache -q -m leon4-n2x --summary fetches.cf | awk -F, '$1 == "L1I" { print $12 }') == $(counter "icache miss" $p) ]]
        # all that are not trapped
        [[ $(entries "$S/$p.inst.raw" | awk '!$4' | wc -l) == $(counter "all instructions" $p) ]]
        # the bus carries each line in two parts, and each store
        [[ $(words "$S/$p.ahb.raw" | awk 'NR % 2 && $2 !~ /^....[89a-f]/' | wc -l) == $((2 * ($(counter "icache miss" $p) + $(counter "dcache miss" $p)))) ]]
        [[ $(words "$S/$p.ahb.raw" | awk 'NR % 2 && $2 ~ /^....[89a-f]/' | wc -l) == $(grep -c ,store, "$S/$p.csv") ]]
    done
}

@test "fits misses only what it touches first; overflow has conflicts on purpose" {
    fetches "$S/fits.inst.raw" | cf-capture csv -q | cf-classify -q -m leon4-n2x --summary >fits.csv
    awk -F, '$1 == "L1I" && $2 == "ifetch" && $4 > 20 && $4 == $5 { good = 1 } END { exit !good }' fits.csv || fail "$(cat fits.csv)"
    fetches "$S/overflow.inst.raw" | cf-capture csv -q | cf-classify -q -m leon4-n2x --summary >overflow.csv
    awk -F, '$1 == "L1I" && $2 == "ifetch" && $5 > 768 && $7 > 400 { good = 1 } END { exit !good }' overflow.csv || fail "$(cat overflow.csv)"
    cf-capture csv -q "$S/overflow.csv" | cf-classify -q -m leon4-n2x --summary >data.csv
    awk -F, '$1 == "L1D" && $2 == "load" && $6 >= 600 && $7 >= 40 { good = 1 } END { exit !good }' data.csv || fail "$(cat data.csv)"
}

@test "windows has what is hard to follow" {
    entries "$S/windows.inst.raw" >all
    # traps of six kinds: save, restore, ta, ld, udiv, and the end
    [[ $(awk '$4 { print substr($3, 1, 1) }' all | sort -u | paste -sd' ') == "8 9 c" ]]
    # more calls in a row than there are windows
    awk '$3 ~ /^9de3/ { n += !$4 } $3 ~ /^81c7e008/ { n-- } n > most { most = n } END { exit !(most > 20) }' all
    # swap, ldstub, casa, and the two kinds of double words, with their words
    local op3
    for op3 in 15 13; do
        awk -v op3=$op3 'function d(c) { return index("0123456789abcdef", c) - 1 }
            substr($3, 1, 1) ~ /[c-f]/ && (d(substr($3, 2, 1)) % 2) * 32 + d(substr($3, 3, 1)) * 2 + int(d(substr($3, 4, 1)) / 8) == op3 && NF == 6 { found++ }
            END { exit !(found >= 2) }' all || fail "no atomic $op3"
    done
    grep -q ' c9e68179 0 [0-9a-f]* [0-9a-f]*$' all
    grep -q ' e03b8000 0 [0-9a-f]* [0-9a-f]* [0-9a-f]*$' all
    grep -q ' e01b8000 0 [0-9a-f]* [0-9a-f]*$' all
    # byte and half-word accesses stand in the truth, and a store that casa did not make does not
    for n in 1 2 4 8; do
        grep -q ",load,$n," "$S/windows.csv"
        grep -q ",store,$n," "$S/windows.csv"
    done
}

@test "the forms of one part agree: times, addresses, opcodes, results, traps" {
    local m=$S/middle-windows
    entries $m.inst.raw >raw
    [[ $(wc -l <raw) == 800 ]]
    # the time tag wraps in it
    (($(awk 'NR > 1 && $1 < last { n++ } { last = $1 } END { print n + 0 }' raw) == 1))
    grep -q ' 1 -$' raw
    # the dump of words holds the bytes
    sed 's/^  0x[0-9a-f]*  //' $m.words.inst | same <(words $m.inst.raw) -
    sed 's/^  0x[0-9a-f]*  //' $m.words.ahb | same <(words $m.ahb.raw) -
    # screens: time, pc, results
    cut -d' ' -f1,2,5- raw | sed 's/-$/TRAP/' >want
    for f in $m.inst $m.ftdi.inst; do
        sed -n '2,$s/^ *\([0-9]*\)  \([0-9a-f]*\)  .*\[ *\([^]]*[^ ]\) *\].*/\1 \2 \3/p' $f | same want -
    done
    grep -v ' ahb ' $m.hist | sed -n '2,$s/^ *\([0-9]*\)  \([0-9a-f]*\)  .*\[ *\([^]]*[^ ]\) *\].*/\1 \2 \3/p' | same want -
    # lists, once in braces and once in lines
    sed 's/} {/}\n{/g' $m.tcl.hist | sed 's/^{//;s/}$//' | same <(sed 's/}$//;s/^{//' $m.tcl-lines.hist) -
    awk '$1 == "INST" && $8 == 0 { print $3, substr($4, 3), substr($5, 3), $9 }' $m.tcl-lines.hist | same <(cut -d' ' -f1-4 raw) -
    # a simulator's: no result
    awk '{ print $1, $2, $3 }' $m.tsim.hist | same <(cut -d' ' -f1-3 raw) -
    # those with a bus of 32 bits have other times
    awk 'NR > 1 { $1 = $1; print }' $m.openocd.inst | awk '{ print tolower($2) }' | uniq | same <(cut -d' ' -f2 raw | uniq) -
    [[ $(sed -n '2,$p' $m.dsu.inst | cut -c21-24 | grep -c T) -ge $(grep -c ' 1 -$' raw) ]]
    # transfers: screen and words
    awk 'NR > 1 { print $1, $2, $3, $4, $5, $6 }' $m.ahb >screen
    awk '$1 == "AHB" { print $2, substr($3, 3) }' $m.tcl-lines.hist | same <(cut -d' ' -f1,2 screen) -
    [[ $(wc -l <screen) == $(($(words $m.ahb.raw | wc -l) / 2)) ]]
    [[ $(grep -c ' ahb ' $m.hist) == $(wc -l <screen) ]]
}

@test "stores stand in the truth with the address that the trace has, in order, loads between" {
    local p
    for p in fits overflow windows; do
        # op is 3 and op3 one of st, stb, sth, std: the first word of the entry is the address
        entries "$S/$p.inst.raw" | awk 'function d(c) { return index("0123456789abcdef", c) - 1 }
            !$4 && substr($3, 1, 1) ~ /[c-f]/ {
                op3 = (d(substr($3, 2, 1)) % 2) * 32 + d(substr($3, 3, 1)) * 2 + int(d(substr($3, 4, 1)) / 8)
                if (op3 >= 4 && op3 <= 7) print $1 ",0x" $5 ",0x" $2 }' >stores
        awk -F, '$3 == "store" { print $1 "," $5 "," $6 }' "$S/$p.csv" | grep -Fx -c -f stores >found
        [[ $(cat found) == $(wc -l <stores) && $(cat found) -gt 40 ]] || fail "$p: $(cat found) of $(wc -l <stores)"
        awk -F, 'NR > 2 && $1 < last { exit 1 } { last = $1 }' "$S/$p.csv"
    done
}

@test "two CPUs: each has its instructions, transfers tell the master, times differ" {
    local m=$S/cpus-two
    [[ $(awk '$1 == "INST" { print $2 }' $m.tcl-lines.hist | sort -u | paste -sd' ') == "0 1" ]]
    [[ $(sed -n 's/.*ahb .*mst=\([0-9]\).*/\1/p' $m.cpu0.hist | sort -u | paste -sd' ') == "0 1" ]]
    [[ $(grep -c ' ahb ' $m.cpu0.hist) == $(grep -c ' ahb ' $m.cpu1.hist) ]]
    [[ $(awk '{ print $1 == "INST" ? $3 : $2 }' $m.tcl-lines.hist | sort | uniq -d | wc -l) == 0 ]]
    # the list is sorted, though an instruction's second entry may stand behind one of the other CPU
    awk '{ print $1 == "INST" ? $3 : $2 }' $m.tcl-lines.hist | sort -nc
    (($(awk '$1 == "INST" && $8 && cpu != $2 { n++ } $1 == "INST" { cpu = $2 } END { print n + 0 }' $m.tcl-lines.hist) > 5))
    [[ $(entries $m.cpu0.inst.raw | wc -l) == 700 && $(entries $m.cpu1.inst.raw | wc -l) == 700 ]]
    [[ $(cut -d, -f2 $m.csv | sort -u | paste -sd' ') == "0 1 cpu" ]]
}

@test "one entry an instruction: stores without data, ldd with one word, atomics with two" {
    entries "$S/single-windows.inst.raw" | cut -d' ' -f1-5 | same <(entries "$S/middle-windows.inst.raw" | cut -d' ' -f1-5) -
    [[ $(words "$S/single-windows.inst.raw" | wc -l) == 800 ]]
    cmp "$S/single-windows.ahb.raw" "$S/middle-windows.ahb.raw"
    cmp "$S/single-windows.csv" "$S/middle-windows.csv"
}

@test "after the first 20 loads over 95 % of the addresses are known on every sample, and all that are known are true" {
    local f p n=0
    share() { # OPTION... FILE
        cf-capture leon4 --warm-up 20 -o t.cf "$@" 2>err
        # one that has less loads has nothing after them
        local s
        s=$(sed -nE 's/.*after the first .*\(([0-9.]+) %\)/\1/p' err)
        [[ -n $s ]] || { grep -qE 'of 0 loads' err || fail "$*: $(cat err)"; return 0; }
        awk -v s="$s" 'BEGIN { exit !(s >= 95) }' || fail "$*: $(cat err)"
        n=$((n + 1))
    }
    for f in "$S"/*.inst.raw; do
        case $f in
        *cpus-two*) share -r -b "$S/cpus-two.ahb.raw" "$f" ;;
        *)
            p=${f%.inst.raw}
            share -r -b "$p.ahb.raw" "$f"
            # of each known access the truth has one, as often as it is there
            cf-cat --csv --table access --columns time,op,size,addr,pc t.cf | grep -E ',(load|store),' >got
            awk -F, 'FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
                { print $at["time"] "," $at["op"] "," $at["size"] "," $at["addr"] "," $at["pc"] }' "$p.csv" | sort >want
            # compare and swap that found another value is a store here, as its manual says
            [[ $(sort got | comm -23 - want | wc -l) -le 1 ]] || fail "$f: $(sort got | comm -23 - want | head -n 3)"
            ;;
        esac
    done
    for f in "$S"/*.hist; do
        # a simulator's screen shows no results
        [[ $f == *tsim* ]] || share "$f"
    done
    ((n >= 15))
}

@test "both lists of two CPUs are in the order of time" {
    sed 's/} {/}\n{/g' "$S/cpus-two.tcl.hist" | sed 's/^{*//;s/}*$//' | awk '{ print $1 == "INST" ? $3 : $2 }' >times
    (($(wc -l <times) > 1500))
    sort -nc times
}

@test "what is stored stays small" {
    (($(find "$S" -type f -printf '%s\n' | awk '{ n += $1 } END { print n }') < 6000000))
    [[ -z $(find "$S" -type f -size +2000k) ]]
}

@test "a tree that was only made: the pipeline builds what it takes by itself" {
    cd "$ROOT"
    run -0 make -n -f pipelines/leon4.mk B="$T/none" OUT="$T/out" "$T/none/test/leon4-forms"
    has "tests/leon4/leon4-forms.c"
}
