#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# cf-capture bbprof: profiles of the published tool, made by make_bbprof of runs that are known.
load lib

# import OPTION...: as cf-capture-bbprof, its stream in t.cf.
import() {
    cf-capture-bbprof -q -o t.cf "$@"
}

# summary POLICY: of t.cf, for each page, what truth has of it.
summary() {
    rows page t.cf | awk -F, -v policy="$1" 'NR > 1 && $5 == policy {
            key = $1 "," $2; n[key]++; sum[key] += $4
            if (n[key] != $3) { print key ": sample " $3; exit }
            if (n[key] == 1 || $4 < least[key]) least[key] = $4
            if ($4 > most[key]) most[key] = $4 }
        END { for (key in n) printf "%s,%d,%d,%d,%.3f\n", key, n[key], least[key], most[key],
            sum[key] / n[key] }' | sort
}

# splice FILE BYTE \x...: the bytes put there.
splice() {
    printf '%b' "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

named=(--region '2=[heap]' --region '15=[stack]')

@test "the binary profile: number, least, most and mean of each page's runs, stacks from their top" {
    local n
    for n in 1 2 3 4 7 100; do
        make_bbprof little "$n" "$n" truth >p.prof
        [ "$(stat -c %s p.prof)" = 7376 ]
        import "${named[@]}" p.prof
        sort truth >want
        summary 3 >got
        same want got
        [ "$(wc -l <got)" = 228 ]
        cf-capture-bbprof -q "${named[@]}" <p.prof | cf-cat --csv --table page | cmp - <(rows page t.cf)
    done
}

@test "gains by cf-rank are those of the profile, with the baselines that are stated" {
    make_bbprof little 5 1 truth >p.prof
    import "${named[@]}" --none 70000000 p.prof
    cf-rank -q --by page --value gain --csv t.cf | awk -F, 'NR > 1 { printf "%s,%s,%d,%.0f,%.0f,%.0f\n",
        $2, $3, $7, 70000000 - $6, 70000000 - $5, 70000000 - $4 }' | sort >got
    awk -F, '{ printf "%s,%s,%d,%d,%d,%.0f\n", $1, $2, $3, $4, $5, $6 }' truth | sort >want
    same want got
    # of runs without one page, against the run with all
    import "${named[@]}" --mode uncached --all 1000000 p.prof
    cf-rank -q --by page --value gain --csv t.cf | awk -F, 'NR > 1 { printf "%s,%s,%d,%.0f,%.0f,%.0f\n",
        $2, $3, $7, 1000000 + $5, 1000000 + $6, 1000000 + $4 }' | sort >got
    same want got
    # without: refused there, and said here
    run -0 --separate-stderr cf-capture-bbprof -o t.cf "${named[@]}" p.prof
    has 'the mode is not in the input' "$stderr"
    has 'no run with no page cached, and without it no gains: --none' "$stderr"
    run -1 cf-rank --by page --value gain t.cf
    has 'no run with no page cached'
    run -0 --separate-stderr cf-capture-bbprof -o t.cf "${named[@]}" --mode uncached p.prof
    has 'no run with all pages cached, and without it no gains: --all' "$stderr"
    has_not 'the mode is not' "$stderr"
}

@test "text: mappings and the profile; the order of pages says the mode" {
    make_bbprof text 3 9 truth >p.txt
    sort truth >want
    import p.txt
    summary 3 >got
    same want got
    # behind progress on the same line, indented as in the tool's README, with CR
    sed 's/^\[DBG\] PAGE/\x08\x1b[2K\rPROFILING: [#] (1\/2)[DBG] PAGE/; s/$/\r/' p.txt >q.txt
    import q.txt
    summary 3 >got
    same want got
    sed 's/^/\t/' p.txt >q.txt
    import q.txt
    summary 3 >got
    same want got
    make_bbprof reverse 3 9 truth >p.txt
    import p.txt
    summary 4 >got
    same want got
    run -1 --separate-stderr import --mode cached p.txt
    has 'the order of the pages is that of --mode uncached, which is not the one given' "$stderr"
}

@test "the list of mappings of a text names those of a binary profile after it" {
    make_bbprof text 2 3 truth | sed -n '1,/\[stack\]/p' >layout.txt
    make_bbprof little 2 3 truth >p.prof
    import layout.txt p.prof
    sort truth >want
    summary 3 >got
    same want got
    # without it, mappings are numbers, and their pages as they are in the profile
    run -0 --separate-stderr cf-capture-bbprof -o t.cf --none 1 p.prof
    has 'p.prof: mapping 15 has no name' "$stderr"
    run -0 bash -c 'cf-cat --csv --table page t.cf | cut -d, -f1,2 | sort -u | grep -c "^vma 15,"'
    is 33
    # one of another run
    sed -i 's/7fe57a7000/7fe57a8000/' layout.txt
    run -1 --separate-stderr import layout.txt p.prof
    is ''
    [ "$stderr" = 'cf-capture-bbprof: p.prof: byte 28: mapping 15 has 33 pages, [stack] of the list 32: the list is of another run' ]
    # mappings of files and without a name, as cf-resolve calls them
    sed 's/\[  0\]  /[  0] */; s/\[  3\]  /[  3] */' layout.txt >l.txt
    printf '[DBG] \n- PROFILE (1 samples) -\n= (0/2) VMA index: 0 =\nPAGE: 0x0000 CYCLES: max: 5 min: 5 avg: 5.0\n' >>l.txt
    printf '= (1/2) VMA index: 3 =\nPAGE: 0x0003 CYCLES: max: 6 min: 6 avg: 6.0\n' >>l.txt
    sed -i 's/7fa31a1000-7fa31a5000/7fa31a4000-7fa31a5000/; s/0x0003/0x0000/' l.txt
    printf '%s\n' -------------------------------------------- >>l.txt
    import l.txt
    run -0 rows page t.cf
    is 'region,page,sample,runtime_cycles,policy,k
/root/two_loops r-x,0,1,5,3,0
[anon] 0x7fa31a4000,0,1,6,3,0'
}

@test "text: paths of any length are two mappings where they differ at their ends" {
    local long
    long=/$(printf 'x%.0s' {1..255})/$(printf 'y%.0s' {1..255})/$(printf 'z%.0s' {1..255})
    for i in 0 1; do echo "[DBG] [  $i] * 0000$((i + 1))000-0000$((i + 2))000 r-xp 00000000 00:2a 17   $long/$i"; done >l.txt
    printf '[DBG] \n- PROFILE (1 samples) -\n' >>l.txt
    for i in 0 1; do
        printf '= (%d/2) VMA index: %d =\nPAGE: 0x0000 CYCLES: max: 5 min: 5 avg: 5.0\n' $i $i
    done >>l.txt
    printf '%s\n' -------------------------------------------- >>l.txt
    import l.txt
    run -0 rows page t.cf
    is "region,page,sample,runtime_cycles,policy,k
$long/0 r-x,0,1,5,3,0
$long/1 r-x,0,1,5,3,0"
}

# ranking MODE RUNS: text of a profile of four pages, and so many runs of a ranking.
ranking() {
    local i=0
    make_bbprof "$1" 1 5 truth | awk '
        /VMA index: 2 / { stack = 0; next } /VMA index: 15/ { stack = 1; sub(/1\/2/, "0/1") }
        /PAGE/ && !(stack && /0x000[0-3]/) { next } { sub(/7fe57a7000/, "7fe57c4000"); print }'
    printf '[DBG] \nRANKED TIMING:\n'
    while ((++i <= $2)); do printf '[DBG] %d, C: %d\tM: %d\n' $i $((1000 - i)) $((10 * i)); done
}

@test "a ranking: run n is of the best n - 1 pages, the first is the baseline" {
    ranking text 4 >r.txt
    import r.txt
    run -0 bash -c 'cf-cat --csv --table page --columns region,page,sample,runtime_cycles,policy,k,misses t.cf | grep -E ",(1|2|5),[0-9]+(,[0-9]*)?$"'
    is ',0,1,999,1,0,10
,0,1,999,5,0,10
,0,1,998,5,1,20
,0,1,997,5,2,30
,0,1,996,5,3,40'
    run -0 --separate-stderr cf-capture-bbprof -o t.cf r.txt
    [[ $stderr == *'no working set: --all' && ${#stderr_lines[@]} == 1 ]]
    import --all 900 r.txt
    run -0 cf-rank -q --by page --value gain --csv --wss 11 t.cf
    has ',998,'
    # of the other mode: the first is the other baseline, and what the rest is has no policy
    ranking reverse 4 >r.txt
    run -0 --separate-stderr cf-capture-bbprof -o t.cf r.txt
    has '3 runs of a ranking are left out' "$stderr"
    run -0 bash -c 'cf-cat --csv --table page --columns region,page,sample,runtime_cycles,policy,k,misses t.cf | grep -vE ",4,[0-9]+(,[0-9]*)?$"'
    has ',0,1,999,2,0,10'
    has_not ',998,'
    # without a profile before it
    sed -n '/RANKED/,$p' r.txt >alone.txt
    run -0 --separate-stderr cf-capture-bbprof -o t.cf alone.txt
    has 'the mode is not in the input' "$stderr"
    printf '[DBG] MIGRATION: Run completed. Timing: 2873157, Memory: 11804\n' >>r.txt
    run -0 --separate-stderr cf-capture-bbprof -o t.cf r.txt
    has '1 runs with migrated pages are left out' "$stderr"
}

# refused MESSAGE OPTION...: one message, status 1, and what is left in t.cf a whole stream, which says
# so where the input was cut off.
refused() {
    local message=$1
    shift
    run -1 --separate-stderr import "${named[@]}" "$@"
    is ''
    [ "$stderr" = "cf-capture-bbprof: $message" ] || fail "$stderr"
    run "-$([[ $message == *"cut off"* ]] && echo 1 || echo 0)" cf-cat --verify t.cf
}

# pages: how many pages t.cf has.
pages() {
    rows page t.cf | sed 1d | cut -d, -f1,2 | sort -u | wc -l
}

@test "binary profiles that are cut off or whose counts do not fit: the place, and the rest is read" {
    make_bbprof little 2 3 truth >p.prof
    cp p.prof q.prof
    truncate -s 5000 q.prof # behind 154 pages
    refused 'q.prof: byte 5000: cut off, or its counts are wrong: they make 6312 bytes or more' q.prof
    [ "$(pages)" = 154 ]
    cp p.prof q.prof
    echo more >>q.prof
    refused 'q.prof: byte 7376: its counts are wrong: they make 7376 bytes, but there are 7381' q.prof
    [ "$(pages)" = 228 ]
    # one page fewer in the heap: what follows is no mapping of the list
    cp p.prof q.prof
    splice q.prof 68 '\xc2'
    run -1 --separate-stderr import "${named[@]}" q.prof
    has 'q.prof: byte ' "${stderr_lines[0]}"
    has 'counts are wrong' "${stderr_lines[0]}"
    # as many as never fit, in each count
    for at in 0 52 68; do
        cp p.prof q.prof
        splice q.prof $at '\x00\x04\x00\x00'
        run -1 --separate-stderr import "${named[@]}" q.prof
        has 'q.prof: byte ' "${stderr_lines[0]}"
        splice q.prof $at '\xff\xff\xff\xff'
        run -1 --separate-stderr import "${named[@]}" q.prof
        has 'q.prof: byte ' "${stderr_lines[0]}"
    done
    # every length: one complaint about the form, never harm
    for at in 1 3 4 27 51 52 63 64 71 72 103; do
        head -c $at p.prof >q.prof
        run -1 --separate-stderr cf-capture-bbprof -q q.prof
        has "q.prof: byte $at: " "${stderr_lines[0]}"
    done
}

@test "profiles of other machines are recognised" {
    make_bbprof big 2 3 truth >big.prof
    make_bbprof narrow 2 3 truth >narrow.prof
    make_bbprof little 2 3 truth >p.prof
    refused 'big.prof: byte 0: a profile of a big-endian machine: only little-endian ones are read' big.prof p.prof
    [ "$(pages)" = 228 ]
    refused 'narrow.prof: byte 0: a profile of a 32-bit machine: only 64-bit ones are read' narrow.prof p.prof
    [ "$(pages)" = 228 ]
    printf '\0\0\0\0' >zero.prof
    refused 'zero.prof: byte 0: no profile: it would have 0 mappings, not 1 to 1024' zero.prof p.prof
    : >empty.prof
    refused 'empty.prof: is empty' empty.prof p.prof
    run -1 --separate-stderr import missing.prof p.prof
    has 'missing.prof: No such file' "$stderr"
    [ "$(pages)" = 228 ]
}

@test "pages that cannot be: left out with the place of the first" {
    make_bbprof little 3 3 truth >p.prof
    local at=$((72 + 10 * 32)) # page 10 of the heap
    while IFS='|' read -r where bytes message; do
        cp p.prof q.prof
        splice q.prof $((at + where)) "$bytes"
        refused "q.prof: $message" q.prof
        [ "$(pages)" = 227 ]
    done <<'END'
0|\xc3|byte 392: page 195 of mapping 2, which has 195 pages
3|\x80|byte 392: page -2147483638 of mapping 2, which has 195 pages
0|\x09|byte 392: page 9 of mapping 2 comes twice
END
    # negative, least above most, a mean outside of them, none
    for bytes in '15|\x80' '8|\xff\xff\xff\xff' '31|\x3f' '31|\x7f' '24|\x00\x00\x00\x00\x00\x00\xf8\x7f'; do
        cp p.prof q.prof
        splice q.prof $((at + ${bytes%|*})) "${bytes#*|}"
        run -1 --separate-stderr import "${named[@]}" q.prof
        has 'q.prof: byte 392: page 10 of mapping 2: no 3 runs have min ' "$stderr"
        [ "${#stderr_lines[@]}" = 1 ]
        [ "$(pages)" = 227 ]
    done
    # samples
    cp p.prof q.prof
    splice q.prof 56 '\x01'
    run -1 --separate-stderr import "${named[@]}" q.prof
    has 'page 0 of mapping 2: no 1 runs have min ' "$stderr"
    has '228 of its lines or pages were bad in all' "$stderr"
    splice q.prof 56 '\x00'
    refused "q.prof: byte 72: 0 samples, not 1 to 10000" q.prof p.prof
    splice q.prof 56 '\xff\xff\xff\xff'
    refused "q.prof: byte 72: 4294967295 samples, not 1 to 10000" q.prof p.prof
}

@test "text that is cut off or damaged: the line, and the rest is read" {
    make_bbprof text 2 3 truth >p.txt
    head -n 110 p.txt >q.txt
    refused 'q.txt:110: the profile was cut off: the line of dashes at its end is missing' q.txt
    [ "$(pages)" = 100 ]
    head -c 5000 p.txt >q.txt
    run -1 --separate-stderr import q.txt
    has 'the last line has no newline' "$stderr"
    [ "${#stderr_lines[@]}" = 1 ]
    sed '20s/avg: .*/avg: many/' p.txt >q.txt
    run -1 --separate-stderr import q.txt
    [[ $stderr == *'q.txt:20: '*' is no page with its max, min and avg' && ${#stderr_lines[@]} == 1 ]]
    [ "$(pages)" = 227 ]
    sed '20s/0x..../0x00c3/' p.txt >q.txt
    refused 'q.txt:20: page 195 of mapping 2, which has 195 pages' q.txt
    sed '20s/max: /max: -/' p.txt >q.txt
    run -1 --separate-stderr import q.txt
    has 'q.txt:20: page ' "$stderr"
    grep -v 'PROFILE (' p.txt >q.txt
    run -1 --separate-stderr import q.txt
    has 'a page without the lines before it' "$stderr"
    # a stack of which some pages are missing, and no list of mappings
    sed '/PROFILE (/,$!d' p.txt | sed '/VMA index: 15/,${/0x0003/d}' >q.txt
    run -1 --separate-stderr import "${named[@]}" q.txt
    has 'how many pages the stack has is not known' "$stderr"
    # -v prints it
    { printf '= (1/2) VMA index: 15 =\nTot. Pages:\t33\n'; cat q.txt; } >v.txt
    refused 'v.txt:231: mapping 15 has 33 pages, and the profile 32 of them: is a line lost, or the list of mappings of another run?' "${named[@]}" v.txt
    [ "$(pages)" = 227 ]
    sed '20d' p.txt >q.txt
    run -1 --separate-stderr import q.txt
    has 'mapping 2 has 195 pages, and the profile 194 of them' "$stderr"
    [ "$(pages)" = 227 ]
    # without a list of mappings
    sed '1,/PROFILING/d; /VMA index: 2 /,/VMA index: 15 /{/0x0010/d}' p.txt >q.txt
    run -1 --separate-stderr import "${named[@]}" q.txt
    has 'mapping 2 has 195 pages, and the profile 194 of them' "$stderr"
    sed '/VMA index: 15/d' p.txt >q.txt
    run -1 --separate-stderr import q.txt
    has 'the profile is of 2 mappings, and 1 are here' "${stderr_lines[0]}"
    sed '/VMA index: 2 /,/VMA index: 15 /{/VMA index: 15 /!d}' p.txt >q.txt
    run -1 --separate-stderr import q.txt
    has 'mapping 2 of 2 follows 0 others: a line is lost' "$stderr"
    sed '/VMA index: 15 /,/-----/{/-----/!d}' p.txt >q.txt
    run -1 --separate-stderr import q.txt
    has 'the profile is of 2 mappings, and 1 are here' "$stderr"
    # 2 and 1 where 32 bits are counted
    sed 's/(2 samples/(4294967298 samples/' p.txt >q.txt
    run -1 --separate-stderr import q.txt
    has '4294967295 samples, not 1 to 10000' "$stderr"
    sed 's/VMA index: 15/VMA index: 4294967297/' p.txt >q.txt
    run -1 --separate-stderr import q.txt
    has 'a page without the lines before it that state the samples and the mapping' "$stderr"
    sed 's/\[ 15\]/[4294967297]/' p.txt >q.txt
    run -1 --separate-stderr import q.txt
    has 'is no mapping' "$stderr"
    # a line of the list of mappings that is cut; of the program itself it says nothing
    sed '3s/r*w-p.*//' p.txt >q.txt
    run -1 --separate-stderr import q.txt
    has "q.txt:3: '[  2] *  1f0ed000-1f1b0000 ' is no mapping" "$stderr"
    sed '3i[  2] seconds' p.txt >q.txt
    import q.txt
    # rankings
    ranking text 3 >r.txt
    refused 'r.txt:'"$(wc -l <r.txt)"': the ranking was cut off after run 3: of 4 pages there are as many runs' r.txt
    ranking text 4 | sed 's/2, C: 998/2, C: x/' >r.txt
    run -1 --separate-stderr import r.txt
    has "'2, C: x" "${stderr_lines[0]}"
    has 'is no run of a ranking' "${stderr_lines[0]}"
    ranking text 4 | sed '/ 2, C:/d' >r.txt
    run -1 --separate-stderr import r.txt
    has 'run 3 follows run 1' "$stderr"
}

@test "no profile at all, noise, usage" {
    echo hello >h.txt
    run -1 --separate-stderr cf-capture-bbprof -o t.cf h.txt
    has 'no records: the input holds no page of a profile, and no ranking' "$stderr"
    local i
    for i in 1 2 3 4 5 6; do
        head -c $((i * 3000)) /dev/urandom >r.bin
        run -1 cf-capture-bbprof -q -o t.cf r.bin
        make_bbprof little 2 $i truth >p.prof
        splice p.prof $((i * 60)) '\x91\xa2\xb3\xc4\xd5\xe6\xf7'
        status=0
        cf-capture-bbprof -q p.prof >out 2>err || status=$?
        [ $status -le 1 ]
        cf-cat out >/dev/null
    done
    run -2 cf-capture-bbprof --mode other x
    run -2 cf-capture-bbprof --none 0 x
    run -2 cf-capture-bbprof --region heap x
    has 'not N=NAME'
    run -2 cf-capture-bbprof --region 2= x
    run -2 cf-capture-bbprof --region 1024=x x
    run -0 cf-capture-bbprof --probe
    has ready
}
