# SPDX-License-Identifier: BSD-2-Clause
#
# pipelines/cacheflow.mk with DEVICE in a guest, whose kernel has cacheflow.ko: make, the programs and the
# module are the real ones, on x86, whose cache is a table in memory (backend=model) that
# tests/guest/occupy.c fills with lines of the programs that run.
# Takes long: a guest.
# bats file_tags=slow
load lib
load guest/suite

# pipeline_files: what make and the recipes take, into the guest's files; kernels and inputs are built here
pipeline_files() {
    local x=$G/amd64/extra file
    mkdir -p "$x/bin" "$x/suite/formats" "$x/suite/samples" "$x/out"
    cp -r "$ROOT/pipelines" "$x/suite" && cp -r "$ROOT/samples/cacheflow" "$x/suite/samples" &&
        cp -r "$ROOT/formats/machines" "$x/suite/formats"
    gcc -O2 -static -Wall -Wextra -Werror -I"$ROOT" -o "$x/bin/occupy" "$ROOT/tests/guest/occupy.c"
    echo 'volatile long cell; int main(void) { for (int i = 0; i < 9; i++) cell = i; }' |
        gcc -O1 -static -x c -o "$x/bin/nine" -
    cp -L "$B"/bin/cf-{capture,capture-snapshot,capture-perf,cat,resolve,heatmap,select,occupancy,sets,clash,diff,policy} "$x/bin"
    for file in awk bash cat cksum cut date flock gzip make mv paste realpath rm sed seq setsid sleep sort stat tail taskset \
        wc xargs; do
        cp -L "$(command -v "$file")" "$x/bin"
    done
    strip "$x"/bin/cf-*
    for file in "$x"/bin/*; do ldd "$file" 2>/dev/null | grep -oE '/[^ ]+\.so[^ ]*'; done | sort -u | while read -r file; do
        mkdir -p "$x/${file%/*}" && cp -L "$file" "$x/$file"
    done
    (cd "$ROOT" && unset CC && eval "settings=($settings)" && make -s -f pipelines/cacheflow.mk OUT="$x/out" "${settings[@]}" \
        "$x"/out/{synth,bomb,repl,text.txt,script.sql,unit.i})
}

setup_file() {
    guest_build amd64
    [[ -z $WHY ]] || return 0
    [[ $(uname -m) == x86_64 ]] || { WHY="the programs of this build do not run in a guest of x86-64" && return; }
    # -icount: the guest's clock counts instructions, so that nothing there depends on how busy this computer is; QEMU 7.2
    # starts no second processor with it
    local times='SYNTH_SNAP=5ms SNAP=20ms LEAD=10ms' occupy='occupy 128 16 20' size=16777216 unlooked settings
    local -a computer=(-smp 1 -icount 'shift=1,sleep=off')
    # each byte of freed memory the kernel looks at in kmod-x86, too; here that is a third of the time
    unlooked=$(few 'page_poison=0 slub_debug=-' '')
    if [[ ${CF_GUEST_RELEASE-} == debug ]]; then
        # a kernel that looks for errors is many times as slow: occupy then has a processor of its own, and snapshots that
        # are kept until SYNTH ends are many
        times='SYNTH_SNAP=200ms SNAP=200ms LEAD=100ms' occupy='taskset 2 occupy 128 16 50' size=134217728 unlooked=
        computer=(-smp 2)
    fi
    # here and in the guest, or the pipeline refuses what was made here; a way is as large as 128 sets make it
    # SYNTH runs for several times as long as occupy pauses, and REPL for longer than once
    settings='DEVICE=/dev/cacheflow PROGRAMS="gzip mine" COMMAND_mine="sort /out/text.txt" COMMAND_bomb="/out/bomb 2621440 100"
        SYNTH_BYTES=4194304 TEXT=20000 ROWS=10 UNIT=samples/cacheflow/repl.c PASSES2=1000 PAIRS2=1 RUNS=1 OTHER=0 THREE=0 WAY_BYTES=8192
        REPL_SETS=128 REPL_TIMES=2 REPL_PASSES=1000'
    settings=$(tr -s ' \n' ' ' <<<"$settings $times")
    pipeline_files
    sed "s|SETTINGS|$settings|; s|OCCUPY|$occupy|; s|SIZE|$size|" <<'END' |
insmod /cacheflow.ko backend=model model_sets=128 size=SIZE
insmod /tagram.ko
echo 3 >/proc/sys/vm/nr_hugepages
OCCUPY &
occupy=$!
cd /suite
make -s -f pipelines/cacheflow.mk BIN=/bin OUT=/out PICTURES=0 SETTINGS >/tmp/said 2>&1
status=$?
kill $occupy
cat /tmp/said
[ $status = 0 ] && echo "CHECK ok made: $(tail -n 1 /tmp/said)" || echo "CHECK FAILED made: status $status: $(tail -n 5 /tmp/said | paste -sd" ")"
# its processor has debug registers, unlike that of some virtual machines
cf-capture snapshot -q --device /dev/cacheflow -r -e write:cell -o /tmp/d.cf -- /bin/nine && [ $(cf-cat -q --csv --table snapshot /tmp/d.cf | wc -l) = 10 ] &&
    cf-capture perf -q --coarse page-faults --fine 64 --no-objects -o /tmp/p.cf -- /bin/nine
[ $? = 0 ] && echo "CHECK ok breakpoints: 9" || echo "CHECK FAILED breakpoints: $(cf-cat --csv --table snapshot /tmp/d.cf 2>&1 | wc -l)"
cd /out
# of heat maps, whose lines a serial port takes seconds for, some, and all that a test must not find
for f in *.csv; do sed -n "/unresolved/s/^/ROW $f /p;t;1,99s/^/ROW $f /p" "$f"; done
END
        guest_boot amd64 board "${computer[@]}" -m 512 -append "$unlooked"
}

# rows FILE: its lines without the header
rows() {
    tr -d '\r' <"$G/board.console" | sed -n "s/^ROW $1 //p" | tail -n +2
}

@test "a board: make ends well, and says what it has not made" {
    passed board made
    tr -d '\r' <"$G/board.console" | grep 'CHECK ok made' | grep -v 'huge pages' | grep -q 'Not made: fig6'
    passed board kernel-log
}

@test "programs stand still at each snapshot, however long a look at them takes" {
    passed board made
    [[ ${CF_GUEST_RELEASE-} != debug ]] || skip "a kernel that looks for errors may take longer than programs are waited for"
    run ! grep -a 'did not stop' "$G/board.console"
}

@test "breakpoints of data are tried, found to stop, and each write is a snapshot" {
    passed board breakpoints
}

@test "heat maps are of the programs alone, whatever else is in the cache" {
    guest_here
    rows fig4.csv | grep -q .
    run ! grep -q unresolved <(rows fig4.csv; rows fig5.csv; rows fig7.csv; rows fig8.csv)
    # the buffers of SYNTH
    rows fig5.csv | grep -q .
    [[ $(rows fig5.csv | cut -d, -f1 | sort -u) == '[anon]'* ]] || fail "$(rows fig5.csv | head -n 3)"
}

# names FIGURE...: whose lines these figures show, of whatever pass. A busy emulator may be seen before it has let a
# process begin its program: that one is counted under the name which it has later.
names() {
    local f
    for f; do rows "$f.csv"; done | awk -F, '$5 != "cf-capture-snap" { print $5; later[$4] } $5 == "cf-capture-snap" { early[$4] }
        END { for (p in early) if (!(p in later)) print "cf-capture-snap" }' | sort -u | paste -sd' '
}

# A pass of a busy emulator may find one program ended; over all passes each is there.
@test "who occupies the cache: the programs by their names, and nobody else" {
    guest_here
    local f
    for f in fig9 fig10 fig11 fig12; do
        rows $f.csv | grep -q . || fail "$f is empty"
    done
    [[ $(names fig9 fig10 fig11) == 'gzip sort' ]] || fail "$(names fig9 fig10 fig11)"
    [[ $(names fig9 fig10 fig11 fig12) == 'bomb gzip sort' ]] || fail "$(names fig9 fig10 fig11 fig12)"
}

@test "BOMB's buffer is memory of its own: none of its lines is counted twice" {
    guest_here
    rows fig12.csv | awk -F, '$8 > 1 { print; bad = 1 } $5 == "bomb" && $8 > most { most = $8 } END { exit bad || most <= 0 }' ||
        fail "$(rows fig12.csv)"
}

@test "the replacement policy: lines of REPL after each number of rounds, and each way" {
    guest_here
    [[ $(rows fig13.csv | cut -d, -f1 | sort -u | paste -sd' ') == '1 2 3 4 5 6 7 8' ]] ||
        fail "$(rows fig13.csv)"
    [[ $(rows fig14.csv | wc -l) == 16 ]]
}

@test "tables: five modes, and each of two programs by each of three" {
    guest_here
    [[ $(rows table2.csv | wc -l) == 5 ]]
    [[ $(rows slowdown.csv | wc -l) == 6 ]]
    # the active sets' excess: a share, at most 1
    rows table3.csv | awk -F, '$3 > 1 { print; exit 1 }'
}
