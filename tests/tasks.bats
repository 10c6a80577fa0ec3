# SPDX-License-Identifier: BSD-2-Clause
#
# Ten things that people come for, typed as the README says, each on a program whose answer is known.
load lib

setup() {
    lib_setup
    M=raspberry-pi-4
}

# first CSV [COLUMN]: that column of the first row
first() {
    sed -n 2p "$1" | cut -d, -f"${2:-2}"
}

@test "1: false sharing is found by one command, and is gone when it is mended" {
    in_emulation "Valgrind does not run, nor what cf-report records with"
    cat >share.c <<'END'
#include <pthread.h>
#ifndef STEP
#define STEP 1
#endif
_Alignas(64) volatile long hits[4 * STEP];
static void *count(void *at) { volatile long *n = at; for (int i = 0; i < 20000; i++) ++*n; return 0; }
int main(void) {
    pthread_t t[4];
    for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, count, (void *)&hits[i * STEP]);
    for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
}
END
    gcc -O1 -g -pthread -o share share.c
    gcc -O1 -g -pthread -DSTEP=8 -o mended share.c
    run -0 --separate-stderr cf-report -q -m $M -- ./share
    has 'threads write neighbouring words: put them on lines of their own'
    grep -qE '^ +8 +[0-9]+ .*share\.c:6, hits$' <<<"$output"
    run -0 --separate-stderr cf-report -q -m $M -- ./mended
    has_not 'neighbouring words'
}

@test "2: a matrix by columns: capacity or conflict says what to do, and doing it helps" {
    cat >matrix.c <<'END'
#ifndef N
#define N 512
#endif
double m[128][N];
int main(void) {
    double s = 0;
    for (int r = 0; r < 4; r++)
#ifdef ROWS
        for (int i = 0; i < 128; i++) for (int j = 0; j < 64; j++) s += m[i][j];
#else
        for (int j = 0; j < 64; j++) for (int i = 0; i < 128; i++) s += m[i][j];
#endif
    return s != 0;
}
END
    gcc -O1 -g -o columns matrix.c
    gcc -O1 -g -DN=520 -o padded matrix.c
    gcc -O1 -g -DROWS -o rows matrix.c
    for p in columns padded rows; do
        cf-capture trace -q -- ./$p | cf-resolve -q | cf-classify -q -m $M |
            cf-rank -q --by symbol --value misses,conflict,capacity --csv | grep ',m,' >$p.csv
    done
    # 128 rows of 4 KiB lie in one or two sets: nearly each access is a conflict
    IFS=, read -r _ _ misses conflict _ <columns.csv
    ((misses > 30000 && conflict > misses * 8 / 10))
    IFS=, read -r _ _ padded conflict _ <padded.csv
    ((padded < misses / 4))
    IFS=, read -r _ _ rows _ <rows.csv
    ((rows < misses / 7))
}

@test "3: std::map: the time goes to the tree, by its C++ name, in memory of its nodes" {
    need g++
    cat >map.cc <<'END'
#include <map>
int main() {
    std::map<int, int> m;
    unsigned k = 1;
    for (int i = 0; i < 4000; i++) m[(k = k * 1664525 + 1013904223) >> 8] = i;
    long sum = 0;
    for (int i = 0; i < 4000; i++) { auto at = m.find((k = k * 1664525 + 1013904223) >> 8); sum += at != m.end(); }
    return sum == 1;
}
END
    g++ -O0 -g -o map map.cc
    cf-capture trace -q -- ./map | cf-resolve -q | cf-cache -q -m $M >map.cf
    cf-rank -q --by function --value l1-misses --csv map.cf >f.csv
    grep -q 'std::_Rb_tree<int' f.csv
    cf-rank -q --by site --value l1-misses --csv map.cf | grep -v '^[0-9]*,,' >s.csv
    has "map.cc:5" "$(first s.csv)"
}

@test "4: how large must the second level be: the curve falls where the data fits" {
    printf 'char a[98304]; int main(void) { int s = 0; for (int r = 0; r < 12; r++) for (int i = 0; i < 98304; i += 64) s += a[i]; return s; }\n' >walk.c
    gcc -O1 -g -o walk walk.c
    cf-capture trace -q -- ./walk | cf-resolve -q | cf-select -q --symbol a | cf-distance -q | cf-mrc -q --at 64K,96K,128K --csv |
        awk -F, 'NR > 1 { print $1, ($NF > 0.9 ? "misses" : $NF < 0.1 ? "fits" : "?") }' |
        same - <(printf '65536 misses\n98304 fits\n131072 fits\n')
}

@test "5: two versions: what became better, what worse, and a build that fails on it" {
    printf 'char a[65536]; static int touch(int step) { int s = 0; for (int i = 0; i < 65536; i += step) s += a[i]; return s; }\nint main(void) { return touch(STEP); }\n' >v.c
    for step in 64 16; do
        gcc -O1 -g -fno-inline -DSTEP=$step -o v v.c
        cf-capture trace -q -- ./v | cf-resolve -q -o v$step.cf
    done
    run -1 --separate-stderr cf-rank --by function --before v64.cf --fail-above 5 v16.cf
    has 'touch,1025,4097,3072,' "${lines[1]}"
    has 'more than the 5 %' "$stderr"
    run -0 --separate-stderr cf-rank --by function --before v16.cf --fail-above 5 v64.cf
}

@test "6: one phase of a program, by percent of its time" {
    printf 'static int a[4096], b[4096]; static void set(int *p, int n) { for (int r = 0; r < n; r++) for (int i = 0; i < 4096; i++) p[i] += i; }\nvoid one(void) { set(a, 20); } void two(void) { set(b, 20); } int main(void) { one(); two(); return 0; }\n' >phases.c
    gcc -O1 -g -o phases phases.c
    cf-capture trace -q -o phases.cf -- ./phases
    cf-select -q --time 60%-90% phases.cf | cf-resolve -q | cf-rank -q --by symbol --csv >part.csv
    [[ $(first part.csv) == b ]]
    run ! grep -q ',a,' part.csv
}

@test "7: compilers, interpreters and databases are recorded whole" {
    printf 'int f(int a) { return a + 1; }\n' >f.c
    cf-capture trace -q -o gcc.cf -- gcc -c f.c -o f.o
    cf-cat --info gcc.cf >info
    grep -q 'name: "cc1", parent' info
    cf-capture trace -q -o shell.cf -- sh -c '/bin/cat f.c | wc -l' >lines
    [[ $(<lines) == 1 ]]
    [[ $(cf-cat --info shell.cf | grep -c 'parent: ') == 2 ]]
    if command -v sqlite3 >/dev/null; then
        cf-capture trace -q -o sqlite.cf -- sqlite3 :memory: 'create table t(a); insert into t values (3); select a * 2 from t;' >sum
        [[ $(<sum) == 6 ]]
        cf-cat --verify sqlite.cf
    fi
}

@test "8: rows for data frames and profilers" {
    cf-export -q --format npy -o columns "$ROOT/samples/sort.cf"
    cf-rank -q --by op --csv "$ROOT/samples/sort.cf" | tail -n +2 | cut -d, -f2,3 | sort >want
    python3 - <<'END' | sort | same - want
import ast, collections
raw = open('columns/access.op.npy', 'rb').read()
size = int.from_bytes(raw[8:10], 'little')
head = ast.literal_eval(raw[10:10 + size].decode())
assert head['descr'] in ('|u1', '<u1') and len(raw) == 10 + size + head['shape'][0]
names = {1: 'load', 2: 'store'}
for op, n in collections.Counter(raw[10 + size:]).items():
    if op in names: print('%s,%d' % (names[op], n))
END
}

@test "9: a batch over stored recordings" {
    for n in 1 2 3; do
        printf 'char a[1 << 20]; int main(void) { int s = 0; for (int i = 0; i < 1 << 18; i += %d) s += a[i]; return s; }\n' $((n * 16)) >p$n.c
        gcc -O1 -g -o p$n p$n.c
        cf-capture trace -q -o p$n.cf -- ./p$n
    done
    printf 'all: p1.csv p2.csv p3.csv\n%%.csv: %%.cf\n\tcf-resolve -q $< | cf-select -q --symbol a | cf-cache -q -m raspberry-pi-4 --summary --csv > $@\n' >Makefile
    make -s -j2 all
    for n in 1 2 3; do
        awk -F, -v want=$(((262144 + n * 16 - 1) / (n * 16))) '/^L1D,/ { n += $4 } END { exit n != want }' p$n.csv || fail "$(<p$n.csv)"
    done
}

@test "10: what cannot be answered is refused with a word that says what to do" {
    printf 'int main(void) { return 0; }\n' >v.c
    gcc -g -o v v.c
    cf-capture trace -q -o v.cf -- ./v
    printf 'int other(void) { return 1; } int main(void) { return other() - 1; }\n' >v.c
    gcc -g -o v v.c
    run -0 --separate-stderr bash -c 'cf-resolve v.cf | cf-rank -q --by function --csv'
    has 'not the build that was recorded' "$stderr"
    has_not ',other,' "$output"
    run -1 --separate-stderr cf-rank --by function v.cf
    has cf-resolve "$stderr"
    is ""
    head -c 500 v.cf >cut.cf
    run -1 --separate-stderr cf-rank -q --by page cut.cf
    has cut "$stderr"
    run -2 --separate-stderr cf-cache -m no-such-machine v.cf
    has raspberry-pi-4 "$stderr"
}
