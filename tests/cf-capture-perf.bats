#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# cf-capture perf on the kernel of this machine: attributes, page faults, breakpoints, rings. What
# needs counters has no test but its attributes and its refusal.
load lib

setup_file() {
    export D=$BATS_FILE_TMPDIR
    cat >"$D/walk.c" <<'END'
#include <pthread.h>
#include <stdlib.h>
static volatile long cells[1024];
static __thread volatile long own;
static void *work(void *a)
{
    for (long n = *(long *)a; n > 0; n--)
        for (long i = 0; i < 1024; i++) { cells[i] += n; own++; }
    return 0;
}
int main(int argc, char **argv)
{
    pthread_t t[8];
    long n = atol(argv[1]);
    int threads = argc > 2 ? atoi(argv[2]) : 1;
    for (int i = 0; i < threads; i++) pthread_create(&t[i], 0, work, &n);
    for (int i = 0; i < threads; i++) pthread_join(t[i], 0);
    return 7;
}
END
    gcc -g -O1 -pthread -o "$D/walk" "$D/walk.c"
    # A walk through one object, and one word each of objects that lie on one set.
    cat >"$D/heap.c" <<'END'
#include <stdlib.h>
enum { OBJECTS = 64, WORDS = 1 << 20 };
static volatile long *column[OBJECTS];
int main(int argc, char **argv)
{
    volatile long *row = calloc(WORDS, sizeof *row);
    long rounds = atol(argv[1]);
    for (int i = 0; i < OBJECTS; i++)
        column[i] = aligned_alloc(4096, 8192);
    for (long r = 0; r < rounds; r++) {
        for (int k = 0; k < 1024; k++)
            for (int i = 0; i < OBJECTS; i++)
                *column[i] += r; /* conflict */
        for (long i = 0; i < WORDS / 16; i++)
            row[(r * WORDS / 16 + i) % WORDS] += r; /* capacity */
    }
    for (int i = 0; i < OBJECTS; i += 2)
        free((void *)column[i]);
    return 7;
}
END
    gcc -g -O1 -o "$D/heap" "$D/heap.c"
    gcc -g -O1 -static -o "$D/static" "$D/heap.c"
    cf-capture-trace -q --own-allocator -- "$D/heap" 4 | cf-cache -q -m xeon-6230 -o "$D/misses.cf"
    cf-capture-trace -q -o "$D/earlier.cf" -- "$D/walk" 3 || [[ $? == 7 ]]
}

samples() { # WORD...: of page faults, or the test is skipped
    local said
    said=$(cf-capture-perf --coarse page-faults "${@---fine=0}" -q -o needed.cf -- true 2>&1) || without "$said"
}

breakpoints() {
    samples --fine=64
}

@test "attributes of Intel are those of the paper's Table 1" {
    run -0 cf-capture-perf --dry-run --vendor intel --fine 0
    [[ ${lines[0]} == "loads: type=4 config=0x1cd config1=0x3 sample_period=20000 precise_ip=3 sample_type=IDENTIFIER|IP|TID|TIME|ADDR|CPU|WEIGHT|DATA_SRC "* ]]
    [[ ${lines[1]} == "stores: type=4 config=0x82d0 config1=0x0 sample_period=50000 precise_ip=1 "* ]]
    run -0 cf-capture-perf --dry-run --vendor amd --fine 0 --loads 20001
    [[ ${lines[0]} == "loads-and-stores: type=ibs_op config=0x80000 "*"sample_period=20000 "* ]]
}

@test "attributes of ARM: SPE with times, loads and stores, and periods that it has" {
    run -0 cf-capture-perf --dry-run --vendor arm --fine 0
    [[ ${lines[0]} == "loads-and-stores: type=arm_spe_0 config=0x600000001 config1=0x0 sample_period=19968 precise_ip=0 "*" exclude_kernel=1" ]]
    run -0 cf-capture-perf --dry-run --vendor arm --fine 0 --loads 100
    [[ ${lines[0]} == *" sample_period=256 "* ]]
}

# wrong_events EVENT: what is none, and where events have no place
wrong_events() {
    run -2 cf-capture-perf --dry-run --event "${1%%::*}::NO_SUCH"
    has "'${1%%::*}::NO_SUCH': event not found"
    run -2 cf-capture-perf --dry-run --event "$1",
    run -2 cf-capture-perf --coarse page-faults --event "$1" -- true
    ! cf-capture-perf --probe || skip "this machine has counters"
    run -3 cf-capture-perf --event "$1" -- true
    has "--coarse page-faults"
}

@test "events by the names of libpfm4: those of Table 1 have its values, others their own" {
    [[ $(built_for) == x86_64 ]] || skip "libpfm4 knows those of its own architecture alone"
    run -0 cf-capture-perf --dry-run --vendor intel --fine 0
    local intel=$output
    run -0 cf-capture-perf --dry-run --fine 0 --event \
        clx::MEM_TRANS_RETIRED:LOAD_LATENCY:ldlat=3:precise=3,clx::MEM_INST_RETIRED:ALL_STORES:precise=1
    is "$intel"
    run -0 cf-capture-perf --dry-run --fine 0 --loads 700 --event nhm::MEM_INST_RETIRED:LATENCY_ABOVE_THRESHOLD:ldlat=9
    [[ ${#lines[@]} == 1 && ${lines[0]} == "loads: type=4 config=0x100b config1=0x9 sample_period=700 precise_ip=2 "* ]]
    wrong_events clx::MEM_INST_RETIRED:ALL_LOADS
}

@test "events of ARM by the names of libpfm4" {
    [[ $(built_for) == aarch64 ]] || skip "libpfm4 knows those of its own architecture alone"
    run -0 cf-capture-perf --dry-run --fine 0 --loads 700 --event arm_n1::MEM_ACCESS_RD
    [[ ${#lines[@]} == 1 && ${lines[0]} == "loads: type=4 config=0x66 config1=0x0 sample_period=700 "* ]]
    wrong_events arm_n1::MEM_ACCESS_RD
}

@test "breakpoints that stop nothing: said, or refused where they are asked for" {
    [[ $(uname -m) == x86_64 ]] || skip "the stand-in is for x86-64"
    samples
    untold_breakpoints
    run -0 env LD_PRELOAD="$PWD/untold.so" cf-capture-perf --coarse page-faults -q -o t.cf -- true
    has "debug registers can be set and stop nothing, as in some virtual machines: samples alone are recorded"
    run -3 env LD_PRELOAD="$PWD/untold.so" cf-capture-perf --coarse page-faults --fine 64 -o no.cf -- true
    run -3 env LD_PRELOAD="$PWD/untold.so" cf-capture-perf --coarse "$D/misses.cf" -o no.cf -- true
    has "stop nothing"
    [[ ! -e no.cf ]]
    run -0 env LD_PRELOAD="$PWD/untold.so" cf-capture-perf --coarse page-faults -q --fine 0 -o t.cf -- true
    is ""
    # what breakpoints end after is in the header, for cf-classify
    [[ $(cf-cat --info t.cf) == *"stage: {fine: 0, same_set: 8}"* ]]
}

@test "killed while it tries what breakpoints stop: no process of it is left" {
    samples
    sanitized && skip "the sanitizer's library must be loaded first"
    cc -shared -fPIC -o late.so -x c - <<'END'
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int prctl(int what, ...)
{
    if (what != PR_SET_PDEATHSIG)
        return 0;
    FILE *f = fopen("child", "w");
    const pid_t parent = getppid();
    fprintf(f, "%d\n", (int)getpid());
    fclose(f);
    kill(parent, SIGKILL);
    while (getppid() == parent)
        usleep(1000);
    return (int)syscall(SYS_prctl, what, SIGKILL, 0, 0, 0);
}
END
    LD_PRELOAD=$PWD/late.so cf-capture-perf --coarse page-faults -o t.cf -- true >said 2>&1 3>&- || true
    # it ends, or waits for ever
    # shellcheck disable=SC2016
    eventually sh -c 'state=$(cut -d" " -f3 "/proc/$1/stat" 2>/dev/null); [ "${state:-Z}" = Z ] || [ "$state" = t ]' - "$(<child)"
    run grep State "/proc/$(<child)/status"
    kill -9 "$(<child)" 2>/dev/null || true
    has_not tracing
}

@test "without counters it is refused, and the message says what to do" {
    ! cf-capture-perf --probe || skip "this machine has counters"
    run -3 cf-capture-perf -- true
    [[ $output == *"--coarse page-faults"* ]]
}

@test "a breakpoint sees the addresses one after the other, of two threads and of a thread's own memory" {
    breakpoints
    # All 64 accesses may be of the thread that begins first: what is seen must be right each time,
    # and both threads in one of these runs.
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        run -7 cf-capture-perf --coarse "$D/earlier.cf" --expire 5000 -o t.cf -- "$D/walk" 200000 2
        cf-cat --csv --columns tid,op,size,addr,pc,stage,weight t.cf >t.csv
        run python3 - <<'END'
import csv, collections, sys
by = collections.defaultdict(list)
for r in csv.DictReader(open('t.csv')):
    assert (r['stage'], r['weight'], r['size']) == ('2', '0', '8'), r
    by[r['pc'], r['tid']].append((r['op'], int(r['addr'], 16)))
walked = fixed = 0
for rows in by.values():
    steps = {b[1] - a[1] for a, b in zip(rows, rows[1:])}
    walked += steps <= {8, 8 - 8192} and 8 in steps
    fixed += steps == {0}
assert walked >= 1 and fixed >= 1, (walked, fixed)
sys.exit(0 if walked >= 2 and fixed >= 2 else 9)
END
        [[ $status == 9 ]] || break
    done
    [[ $status == 0 ]] || fail "status $status" "$output"
}

@test "a walk that stays in a line for eight accesses does not end its breakpoint early; lines of one set do" {
    breakpoints
    cc -g -O1 -x c -o stroll - <<'END'
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    const volatile long *p = aligned_alloc(4096, 200 * 4096);
    long step = atol(argv[1]), sum = 0, wait = atol(argv[2]);
    for (long i = 0; i < 200; i++, wait && usleep(wait))
        sum += p[i * step];
    return sum == 1;
}
END
    local step wait=2000
    for step in 1 512; do
        cf-capture-trace -q -- ./stroll "$step" 0 | cf-resolve -q | cf-cache -q -m xeon-6230 | cf-select -q --source '*:8' -o e.cf
        run -0 cf-capture-perf -q --coarse e.cf --expire 60000 -o t.cf -- ./stroll "$step" "$wait"
        cf-cat --csv --columns stage t.cf | grep -c '^2$' >"seen$step"
        wait=20000
    done
    [[ $(<seen1) == 64 && $(<seen512) -ge 8 && $(<seen512) -lt 64 ]] || fail "$(cat seen*)"
    # where no other instruction waits, its time does not end it either
    cf-capture-perf -q --coarse e.cf --expire 1 -o t.cf -- ./stroll 512 20000
    [[ $(cf-cat --csv --columns stage t.cf | grep -c '^2$') -ge 8 ]]
}

@test "an instruction whose breakpoint went to one that runs no more gets it again" {
    breakpoints
    cc -g -O1 -D_GNU_SOURCE -x c -o seldom - <<'END'
#include <sys/mman.h>
#include <unistd.h>
static void __attribute__((noinline)) seldom(volatile char *p) { *p = 1; }
static void __attribute__((noinline)) once(volatile char *p) { for (int i = 0; i < 4; i++) p[i << 12] = 1; }
int main(void)
{
    char *p = mmap(0, 400 << 12, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(p, 400 << 12, MADV_NOHUGEPAGE);
    for (int i = 0; i < 80; i++, usleep(30000)) {
        seldom(p + (i << 12));
        if (i == 3)
            once(p + (200 << 12));
    }
}
END
    cf-capture-perf -q --coarse page-faults --no-objects -o t.cf -- ./seldom
    cf-resolve -q t.cf | cf-select -q --function seldom | cf-cat --csv --columns stage | grep -c '^2$' >seen
    [[ $(<seen) -ge 10 ]] || fail "$(cat seen)"
}

@test "--coarse FILE: an instruction of a library that another one took the place of is watched in its own" {
    breakpoints
    local name
    for name in a b; do
        { [[ $name == a ]] || echo 'int other(int a, int b) { return a * b + 17 * a - b * 3 + a / b; }'
          echo 'long walk(volatile long *p, long n) { long s = 0; for (; n; n--) for (int i = 0; i < 1024; i++) s += p[i]; return s; }'
        } >"walk_$name.c"
        cc -g -O1 -shared -fPIC -o "lib$name.so" "walk_$name.c"
    done
    cc -g -O1 -x c -o both - <<'END'
#include <dlfcn.h>
#include <stdlib.h>
static long cells[1024];
int main(int argc, char **argv)
{
    for (int k = 1; k <= 2; k++) {
        void *library = dlopen(k == 1 ? "./liba.so" : "./libb.so", RTLD_NOW);
        long (*walk)(volatile long *, long) = (long (*)(volatile long *, long))dlsym(library, "walk");
        walk(cells, atol(argv[1]));
        dlclose(library);
    }
}
END
    cf-capture-trace -q -- ./both 1 | cf-resolve -q -o e.cf
    for name in a b; do
        cf-select -q --source "*walk_$name.c:*" -o "$name.cf" e.cf
        cf-capture-perf -q --coarse "$name.cf" --expire 60000 -o t.cf -- ./both 400000
        cf-resolve -q t.cf | cf-select -q --source "*walk_$name.c:*" | cf-cat --csv --columns stage >stages
        [[ $(grep -c '^2$' stages) -ge 64 ]] || fail "$name: $(wc -l <stages)"
    done
}

@test "what a small ring loses is counted in the stream and reported" {
    samples
    # in one of so many runs mappings are among it, by which a program is known to have heap objects
    for size in 4K 4K 8K 8K; do
        run -0 cf-capture-perf --coarse page-faults --fine 0 --buffer $size -o t.cf -- \
            sh -c 'kill -STOP $PPID; ls -R /usr/share/doc >/dev/null; kill -CONT $PPID'
        [[ $output == *"records were lost"* ]] || fail "$output"
        [[ $output != *'have no heap objects: '* || $output == *'unless the records that show it were lost'* ]] || fail "$output"
    done
    sum=$(rows lost t.cf | awk -F, 'NR > 1 { s += $(NF - 1) } END { print s }')
    [[ $output == *"$sum records were lost"* ]]
    cf-cat --verify t.cf
}

@test "processes that run on are told, by whether they are there: records that say that they ended may be lost" {
    samples
    run -0 cf-capture-perf --coarse page-faults --fine 0 -o t.cf -- sh -c 'sleep 60 >/dev/null 2>&1 3>&- & echo $! >pid'
    kill "$(<pid)"
    has '1 processes that it started run on, unrecorded'
    cc -O1 -pthread -x c -o faults - <<'END'
#include <pthread.h>
#include <sys/mman.h>
static void *fault(void *arg)
{
    char *p = mmap(0, 4096 * 2000, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(p, 4096 * 2000, MADV_NOHUGEPAGE);
    for (int i = 0; i < 2000; i++)
        p[4096 * i] = 1;
    return arg;
}
int main(void)
{
    pthread_t t[8];
    for (int i = 0; i < 8; i++)
        pthread_create(&t[i], 0, fault, 0);
    for (int i = 0; i < 8; i++)
        pthread_join(t[i], 0);
    return 0;
}
END
    run -0 cf-capture-perf --coarse page-faults --fine 0 --buffer 4K -o t.cf -- \
        sh -c 'kill -STOP $PPID; ./faults; kill -CONT $PPID'
    [[ $output == *"records were lost"* ]] || fail "$output"
    [[ $output != *'run on'* ]] || fail "$output"
}

@test "a program that runs nothing of what missed, or ends too soon: that no access was seen is said, with the reason" {
    breakpoints
    run -0 cf-capture-perf -q --coarse "$D/earlier.cf" --expire 70 -o t.cf -- true
    is "cf-capture-perf: no breakpoint saw an access: the program ended before, or runs nothing of what missed in $D/earlier.cf, or only in threads that end within 10 ms: let it run longer, or give a shorter --expire (70 ms)"
    # an instruction that no program has gets none, and so none expires
    run -0 cf-capture-perf --coarse "$D/earlier.cf" --expire 20 -o t.cf -- sleep 0.3
    [[ $output =~ on\ ([0-9]+)\ instructions:\ 0\ saw.*,\ 0\ ended.*,\ ([0-9]+)\ expired,\ ([0-9]+)\ at\ the\ end ]]
    ((BASH_REMATCH[2] <= BASH_REMATCH[1] && BASH_REMATCH[2] + BASH_REMATCH[3] == BASH_REMATCH[1]))
}

@test "a program that cannot begin: status 3, and an earlier output stays" {
    samples
    printf '#!/nonexistent/interpreter\n' >lacking
    chmod +x lacking
    echo earlier >t.cf
    run -3 cf-capture-perf --coarse page-faults --fine 0 -q -o t.cf ./lacking
    has "./lacking: No such file or directory"
    has "t.cf: not written: nothing was recorded"
    run -3 cf-capture-perf --coarse page-faults --fine 0 -q -o t.cf --command-output none/out true
    has "t.cf: not written: nothing was recorded"
    [[ $(cat t.cf*) == earlier ]]
}

@test "an attached process that ends ends the recording" {
    breakpoints
    "$D/walk" 2000000 2 3>&- &
    run -0 cf-capture-perf --pid $! --coarse "$D/earlier.cf" -o t.cf
    [[ $(rows access t.cf | wc -l) -gt 64 ]]
    run -3 cf-capture-perf --pid 4194303 --coarse page-faults -o t.cf
}

@test "a kernel before Linux 6.0, which counts no lost records, records without these counts" {
    samples
    cat >old.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/syscall.h>
long syscall(long number, ...)
{
    long a[6];
    va_list all;
    va_start(all, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(all, long);
    va_end(all);
    if (number == SYS_perf_event_open && ((struct perf_event_attr *)a[0])->read_format & 1 << 4) {
        fclose(fopen("refused", "w"));
        errno = EINVAL;
        return -1;
    }
    long (*next)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
END
    gcc -shared -fPIC -o old.so old.c
    run -0 env LD_PRELOAD="$PWD/old.so" cf-capture-perf -q --no-objects --coarse page-faults --fine 0 -o t.cf -- ls
    [[ -f refused && $(cf-cat --csv t.cf | wc -l) -gt 10 ]]
}

@test "--pid of a thread is refused; a process that ended ends the recording also where nobody waits for it" {
    samples
    cat >zombie.c <<'END'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
#include <sys/wait.h>
static void *thread(void *file)
{
    fprintf(file, "%d", gettid());
    fclose(file);
    pause();
    return NULL;
}
int main(void)
{
    pthread_t t;
    FILE *file = fopen("tid.part", "w");
    pid_t child = fork();
    if (child == 0) {
        while (access("go", F_OK) != 0)
            usleep(1000);
        return 0;
    }
    FILE *ended = fopen("child.part", "w");
    fprintf(ended, "%d", child);
    fclose(ended);
    rename("child.part", "child");
    alarm(600);
    pthread_create(&t, NULL, thread, file);
    while (pthread_tryjoin_np(t, NULL) != 0)
        usleep(100000);
    return 0;
}
END
    gcc -O1 -pthread -o zombie zombie.c
    ./zombie 3>&- &
    local main=$!
    gate child
    eventually test -s tid.part
    run -3 cf-capture-perf --coarse page-faults --pid "$(<tid.part)" -o t.cf
    has "--pid $(<tid.part): a thread of process $main: give its number"
    touch go
    eventually grep -q '^State:.Z' "/proc/$(<child)/status"
    run -0 timeout 300 cf-capture-perf -q --coarse page-faults --fine 0 --pid "$(<child)" -o t.cf
    kill $main
}

@test "children have their parent's name, however many there are" {
    samples
    # What is freed is overwritten; none ends before all have begun.
    mkfifo go
    MALLOC_PERTURB_=85 run -0 cf-capture-perf -q --no-objects --coarse page-faults --fine 0 --buffer 4M -o t.cf -- \
        bash -c 'exec 3<>go
            for i in {1..80}; do (read -r -u 3) & done
            printf "\n%.0s" {1..80} >&3
            wait'
    run -0 cf-rank -q --by process t.cf
    [[ ${#lines[@]} -gt 40 ]]
    [[ -z $(sed 1d <<<"$output" | awk -F, '$3 != "bash"') ]] || fail "$output"
}

@test "a process of more threads than can be recorded is refused" {
    samples
    ulimit -n 20000 2>/dev/null || skip "open files are limited to $(ulimit -Hn)"
    cat >many.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static void *thread(void *arg)
{
    pause();
    return arg;
}
int main(void)
{
    pthread_attr_t small;
    pthread_t t;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 16384);
    alarm(600);
    for (int i = 0; i < 4100; i++)
        if (pthread_create(&t, &small, thread, NULL) != 0)
            return 1;
    fclose(fopen("all", "w"));
    pause();
}
END
    gcc -O1 -pthread -o many many.c
    ./many 3>&- &
    local many=$!
    gate all
    run -3 timeout 300 cf-capture-perf -q --coarse page-faults --fine 0 --buffer 4K --pid $many -o t.cf
    has 'the process has more than 4096 threads, more than can be recorded'
    kill $many
}

# late_threads HOW: makes late.so, with which a process gets a thread, by file "late", whenever all its
# threads are attached (once; then there is a file "attached"), or seems to get one each time (ever).
late_threads() {
    gcc -O1 -fPIC -shared -Wall -x c -DEVER="$([[ $1 == ever ]] && echo 1 || echo 0)" -o late.so - <<'END'
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int lists, extra;
DIR *opendir(const char *path)
{
    DIR *(*real)(const char *) = (DIR *(*)(const char *))dlsym(RTLD_NEXT, "opendir");
    if (strstr(path, "/task") && strncmp(path, "/proc/", 6) == 0) {
        extra = EVER;
        if (++lists == 2 && !EVER) {
            fclose(fopen("late", "w"));
            while (access("begun", F_OK) != 0)
                usleep(1000);
        }
        if (lists == 3)
            fclose(fopen("attached", "w"));
    }
    return real(path);
}
struct dirent *readdir(DIR *d)
{
    struct dirent *(*real)(DIR *) = (struct dirent * (*)(DIR *)) dlsym(RTLD_NEXT, "readdir");
    static struct dirent none;
    if (!extra)
        return real(d);
    extra = 0;
    snprintf(none.d_name, sizeof none.d_name, "%d", 4194303 - lists);
    return &none;
}
END
}

@test "--pid: threads that begin while it attaches are recorded once, and what they begin" {
    samples
    late_threads once
    cat >spawns.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
static void fault(void)
{
    char *at = mmap(NULL, 64 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 64; i++)
        at[i * 4096] = 1;
}
static void *second(void *arg)
{
    fault();
    return arg;
}
static void *first(void *arg)
{
    pthread_t t;
    fclose(fopen("begun", "w"));
    while (access("attached", F_OK) != 0)
        usleep(1000);
    fault();
    pthread_create(&t, NULL, second, NULL);
    pthread_join(t, NULL);
    return arg;
}
int main(void)
{
    pthread_t t;
    alarm(600);
    fclose(fopen("there", "w"));
    while (access("late", F_OK) != 0)
        usleep(1000);
    pthread_create(&t, NULL, first, NULL);
    pthread_join(t, NULL);
    fault();
    return 0;
}
END
    gcc -O1 -pthread -o spawns spawns.c
    ./spawns 3>&- &
    gate there
    env LD_PRELOAD="$PWD/late.so" cf-capture-perf -q --coarse page-faults --fine 0 --buffer 4M --pid $! \
        -o t.cf 2>said 3>&- &
    wait $!
    [[ ! -s said ]] || fail "$(<said)"
    rows access --columns addr t.cf | sed 1d | sort | uniq -d >twice
    [[ ! -s twice ]] || fail "$(wc -l <twice) addresses twice"
    [[ $(rows access --columns addr t.cf | wc -l) -gt 192 ]]
    rows task --columns tid,op t.cf | sed 1d | sort | uniq -d >twice
    [[ ! -s twice ]] || fail "$(<twice)"
}

@test "--pid of a process whose threads begin as fast as they are attached: said" {
    samples
    late_threads ever
    "$D/walk" 400000 3>&- &
    run -0 env LD_PRELOAD="$PWD/late.so" cf-capture-perf -q --coarse page-faults --fine 0 --pid $! -o t.cf
    has 'threads of the process begin as fast as they are attached: some may be missing'
}

@test "instructions are those of the program that ran them, not of the one that their process runs since" {
    samples
    [[ $(uname -m) == x86_64 ]] || skip "the instructions are of x86-64"
    # At one address a store of a byte in one program, a load of eight in the other: in their files, and
    # in memory that has none. The second stays until it is read.
    cat >other.c <<'END'
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
__attribute__((section(".touch"), noinline)) static void touch(char *at)
{
#ifdef FIRST
    __asm__ volatile("movb $1, (%0); nop" ::"r"(at));
#else
    __asm__ volatile("movq (%0), %%rax; nop" ::"r"(at) : "rax");
#endif
}
int main(int argc, char **argv)
{
    const int all = MAP_PRIVATE | MAP_ANONYMOUS;
    char *code = mmap((void *)0x10000000, 4096, 7, all | MAP_FIXED, -1, 0);
    char *data = mmap((void *)0x20000000, 1 << 20, 3, all | MAP_FIXED, -1, 0);
    memcpy(code, (const void *)touch, 64);
#ifdef FIRST
    for (int i = 0; i < 128; i++)
        (i % 2 ? touch : (void (*)(char *))code)(data + i * 4096);
    execv(argv[1], argv);
#else
    usleep(300000);
#endif
    return argc > 9;
}
END
    gcc -O1 -fcf-protection=none -no-pie -Wl,--section-start=.touch=0x500000 -DFIRST -o first other.c
    gcc -O1 -fcf-protection=none -no-pie -Wl,--section-start=.touch=0x500000 -o second other.c
    run -0 cf-capture-perf -q --coarse page-faults --fine 0 --no-objects --buffer 4M -o t.cf -- ./first ./second
    [[ $output =~ ^cf-capture-perf:\ [1-9][0-9]*" samples of page faults were left out: their instructions could not be read or decoded"$ ]] ||
        fail "$output"
    rows access --columns op,size,addr,pc t.cf | awk -F, '$3 >= "0x20000000" && length($3) == 10' >touched
    [[ $(grep -c ',0x5000' touched) == 64 ]] || fail "$(<touched)"
    [[ $(grep -cv '^store,1,' touched) == 0 ]] || fail "$(<touched)"
}

@test "a breakpoint sees each thread's own memory, also where their numbers are equal modulo 1,024" {
    breakpoints
    [[ $(uname -m) == x86_64 ]] || skip "its own memory is by a segment on x86-64"
    cat >twins.c <<'END'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static __thread volatile long own;
static pid_t first;
static volatile int ready;
static long rounds = 200000000;
static void *work(void *arg)
{
    if (first && gettid() % 1024 != first % 1024)
        return NULL;
    if (!first)
        first = gettid();
    printf("%d,%p\n", gettid(), (void *)&own);
    for (ready++; ready < 2;)
        usleep(100);
    for (long i = 0; i < rounds; i++)
        own++;
    return arg ? arg : (void *)1;
}
int main(int argc, char **argv)
{
    pthread_t a, b;
    void *done = NULL;
    if (argc > 1) {
        rounds = 100000;
        ready = 1;
        return work(NULL) == argv;
    }
    pthread_create(&a, NULL, work, NULL);
    while (!first || ready < 1)
        usleep(100);
    while (ready < 2) {
        pthread_create(&b, NULL, work, NULL);
        while (ready < 2 && pthread_tryjoin_np(b, &done) != 0)
            ;
    }
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
END
    gcc -g -O1 -pthread -o twins twins.c
    cf-capture-trace -q -o earlier.cf -- ./twins alone >/dev/null
    # Those of the first thread may be all that are seen; none may be wrong.
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        run -0 cf-capture-perf --coarse earlier.cf --expire 5000 --fine 4096 --same-set 100000 -o t.cf \
            --command-output at -- ./twins
        run python3 - <(rows access --columns tid,addr t.cf) <<'END'
import csv, sys
at = dict(csv.reader(open('at')))
assert len(at) == 2, at
mine = {int(a, 16) for a in at.values()}
rows = [r for r in csv.DictReader(open(sys.argv[1])) if r['tid'] in at and
        (int(r['addr'], 16) in mine or int(r['addr'], 16) >> 47)]
assert all(int(at[r['tid']], 16) == int(r['addr'], 16) for r in rows), rows[:99]
sys.exit(0 if len({r['tid'] for r in rows}) == 2 else 9)
END
        [[ $status == 9 ]] || break
    done
    [[ $status == 0 ]] || fail "status $status" "$output"
}

@test "a page fault has the bytes that its instruction accesses of that page" {
    samples
    [[ $(uname -m) == x86_64 ]] || skip "the instructions are of x86-64"
    cat >over.c <<'END'
#include <stdint.h>
#include <sys/mman.h>
int main(void)
{
    const int all = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
    char *at = mmap((void *)0x20000000, 64 * 4096, 3, all, -1, 0);
    long count = 16 * 4096 - 100;
    madvise(at, 64 * 4096, MADV_NOHUGEPAGE);
    __asm__ volatile("movq $1, (%0)" ::"r"(at + 4096 - 4) : "memory");
    at += 4 * 4096 + 100;
    __asm__ volatile("rep stosb" : "+D"(at), "+c"(count) : "a"(0) : "memory");
    return 0;
}
END
    gcc -O1 -o over over.c
    run -0 cf-capture-perf -q --coarse page-faults --fine 0 --no-objects --buffer 4M -o t.cf -- ./over
    run -0 awk -F, '$3 ~ /^0x200[01]....$/' <(rows access --columns op,size,addr t.cf)
    is "$(
        echo store,4,0x20000ffc
        echo store,4,0x20001000
        echo store,3996,0x20004064
        for n in {5..19}; do printf 'store,4096,0x200%02x000\n' "$n"; done
    )"
}

@test "a page fault of an instruction that addresses by a mask has one element" {
    samples
    grep -qw avx /proc/cpuinfo || skip "the instruction is of AVX"
    gcc -O1 -mavx -o masked -x c - <<'END'
#include <immintrin.h>
#include <sys/mman.h>
int main(void)
{
    float *at = mmap((void *)0x20000000, 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    _mm256_maskstore_ps(at, _mm256_set1_epi32(-1), _mm256_set1_ps(1));
    return 0;
}
END
    run -0 cf-capture-perf -q --coarse page-faults --fine 0 --no-objects -o t.cf -- ./masked
    run -0 grep ',0x20000000$' <(rows access --columns op,size,addr t.cf)
    is "store,4,0x20000000"
}

@test "programs that cannot reach what heap objects are recorded in: said" {
    samples
    local words='programs have no heap objects: they cannot reach what these are recorded in'
    run -7 cf-capture-perf -q --coarse page-faults --fine 0 -o t.cf -- "$D/heap" 2
    is ""
    run -7 cf-capture-perf -q --coarse page-faults --fine 0 -o t.cf -- env -u CF_ALLOC_SHARED "$D/heap" 2
    has "1 $words"
    run -7 cf-capture-perf -q --coarse page-faults --fine 0 -o t.cf -- \
        bash -c 'ulimit -v 30000; exec "$0" 2' "$D/heap"
    has "1 $words"
    [[ $(id -u) == 0 ]] && unshare --pid --fork true 2>/dev/null || skip "no namespaces can be made here"
    run -7 cf-capture-perf -q --coarse page-faults --fine 0 -o t.cf -- \
        unshare --pid --fork --mount-proc "$D/heap" 2
    has "1 $words"
    # Where the file can be reached and the numbers are others, no object has one of them.
    run -7 cf-capture-perf -q --coarse page-faults --fine 0 -o t.cf -- unshare --pid --fork "$D/heap" 2
    has "processes have no heap objects: they are in another PID or time namespace"
    [[ -z $(comm -13 <(rows task --columns pid t.cf | sort -u) <(rows object --columns pid t.cf | sort -u)) ]]
}

@test "an attached process whose main thread has ended: its accesses and mappings are there" {
    samples
    cat >late.c <<'END'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
enum { PAGES = 64 };
static volatile char *page;
static void *work(void *arg)
{
    pthread_join(*(pthread_t *)arg, NULL);
    fclose(fopen("alone", "w"));
    while (access("enough", F_OK) != 0) {
        for (int i = 0; i < PAGES; i++)
            page[4096 * i] = 1;
        madvise((void *)page, PAGES * 4096, MADV_DONTNEED);
        usleep(1000);
    }
    exit(0);
}
int main(void)
{
    static pthread_t own;
    pthread_t t;
    own = pthread_self();
    page = mmap(NULL, PAGES * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    alarm(600);
    pthread_create(&t, NULL, work, &own);
    pthread_exit(NULL);
}
END
    gcc -O1 -pthread -o late late.c
    ./late 3>&- &
    local late=$! capture
    gate alone
    cf-capture-perf -q --coarse page-faults --pid $late >t.cf 3>&- &
    capture=$!
    eventually at_least t.cf 1000
    touch enough
    wait $capture
    rows map t.cf | grep -q "$PWD/late,build-id"
    [[ $(rows access t.cf | wc -l) -gt 64 ]]
}

@test "--pid: a newline in a program's name is part of it" {
    samples
    cp "$(command -v sleep)" $'c\nd'
    ./$'c\nd' 600 3>&- &
    local pid=$! capture
    eventually grep -qx d "/proc/$pid/comm"
    cf-capture-perf -q --coarse page-faults --fine 0 --pid $pid >t.cf 3>&- &
    capture=$!
    eventually at_least t.cf 500
    kill $pid
    wait $capture
    run -0 rows task t.cf
    has $'begin,"c\nd"'
}

@test "a reader that goes away is no error, also where the last that is written is the first it misses" {
    samples
    ends_unread cf-capture-perf --coarse page-faults -q true
}

@test "signal USR1 begins another segment" {
    breakpoints
    cf-capture-perf --coarse page-faults -o t.cf -- sh -c 'sleep 0.2; kill -USR1 $PPID; sleep 0.2; ls'
    [[ $(grep -ao 'cacheflow: 1' t.cf | wc -l) == 2 ]]
    cf-cat --verify t.cf
}

# findings FILE: class and source line of what cf-report finds.
findings() {
    cf-resolve -q "$1" | cf-classify -q --rule cacheperf -m xeon-6230 | cf-report -q --cacheperf --json |
        python3 -c 'import json, sys
for f in json.load(sys.stdin)["findings"]: print(f["class"], f["statements"][0]["source"])'
}

# line_of TEXT: of heap.c.
line_of() {
    grep -n -- "$1" "$D/heap.c" | sed 's/:.*//; s/^/heap.c:/'
}

@test "heap objects are those of the program, and accesses at breakpoints lie in them" {
    breakpoints
    run -7 cf-capture-perf -q --coarse "$D/misses.cf" -o t.cf -- "$D/heap" 2000
    cf-cat --verify t.cf
    [[ $(rows object t.cf | grep -c ,alloc,.*,8192,) == 64 && $(rows object t.cf | grep -c ,free,) == 32 ]]
    cf-resolve -q t.cf >r.cf
    cf-rank -q --by site r.cf >sites
    grep -q "$(line_of aligned_alloc)" sites
    grep -q "$(line_of calloc)" sites
    findings t.cf >found
    grep -q "^allocator_conflict .*$(line_of '/. conflict')" found
    grep -q "^capacity .*$(line_of '/. capacity')" found
}

@test "heap objects of libraries that are loaded to the same place, one after the other: each has its own call stacks" {
    samples
    plugs
    cf-capture-perf -q --coarse page-faults --fine 0 -o t.cf -- ./plugs >places
    plugs_named
    cf-cat --verify t.cf
}

@test "page faults lead to the instructions of a pattern as well" {
    breakpoints
    run -7 cf-capture-perf -q --coarse page-faults -o t.cf -- "$D/heap" 2000
    findings t.cf >found
    grep -q "^capacity .*$(line_of '/. capacity')" found
    # without breakpoints nothing is said of patterns
    run -7 cf-capture-perf -q --coarse page-faults --fine 0 -o t.cf -- "$D/heap" 200
    findings t.cf >found
    [[ ! -s found ]]
    run -0 bash -c 'cf-resolve -q t.cf | cf-classify --rule cacheperf -m xeon-6230 -o c.cf'
    has_not "depend on chance"
    run -0 bash -c 'cf-resolve -q t.cf | cf-classify -q --rule cacheperf -m xeon-6230 | cf-report --cacheperf'
    has "page faults"
}

@test "anonymous memory keeps its name and pages when more is mapped beside it" {
    samples
    cat >beside.c <<'END'
#include <sys/mman.h>
static void touch(volatile char *p, int n)
{
    for (int i = 0; i < n; i++)
        p[i * 4096] = 1;
}
int main(void)
{
    char *a = mmap(0, 100 * 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *b;
    touch(a, 50);
    b = mmap(0, 100 * 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    touch(b, 7);
    touch(a + 50 * 4096, 50);
    return 0;
}
END
    gcc -O1 -g -o beside beside.c
    cf-capture-perf -q --coarse page-faults --fine 0 -o t.cf -- ./beside
    cf-resolve -q t.cf | cf-select --function touch --region '*anon*' |
        cf-cat --csv --columns region,page | tail -n +2 >faults
    [[ $(cut -d, -f1 faults | uniq -c | awk '{ print $1 }' | paste -sd' ') == "50 7 50" ]]
    [[ $(tail -n 1 faults) == "$(head -n 1 faults | cut -d, -f1),99" ]]
}

# other_limit KIB COMMAND...: with that limit of stacks
other_limit() {
    (ulimit -s "$1" 2>err) || skip "the limit of stacks is fixed: $(cat err)"
    (ulimit -s "$1" && shift && "$@")
}

@test "a stack without a limit: its pages lie in it as it grows" {
    samples
    cat >deep.c <<'END'
static int deep(int n)
{
    volatile char b[4096];
    b[100] = n;
    return n ? deep(n - 1) + b[100] : 0;
}
int main(void) { return deep(500) & 1; }
END
    gcc -O0 -g -o deep deep.c
    other_limit unlimited cf-capture-perf -q --coarse page-faults --fine 0 -o t.cf -- ./deep
    cf-resolve -q t.cf | cf-select --function deep | cf-cat --csv --columns region | tail -n +2 | sort | uniq -c >regions
    [[ $(wc -l <regions) == 1 && $(cat regions) == *" [stack]" ]]
}

@test "--pid: a stack that may not grow as far as ours leaves the libraries below it their names" {
    samples
    need setarch "no setarch"
    cat >fill.c <<'END'
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
int main(void)
{
    for (;;) {
        char *m = mmap(0, 65536, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        memset(m, 1, 65536);
        munmap(m, 65536);
        usleep(1000);
    }
}
END
    gcc -O1 -g -fno-builtin -o fill fill.c
    setarch -R ./fill 3>&- &
    local program=$!
    sleep 0.3
    other_limit 4000000 timeout --preserve-status -s INT 0.5 \
        cf-capture-perf -q --coarse page-faults --fine 0 -o t.cf --pid $program || true
    kill $program
    [[ $(cf-cat --csv --table map t.cf | grep -c libc) -gt 2 ]]
    [[ $(cf-resolve -q t.cf | cf-rank -q --by function | grep -c stack) == 0 ]]
}

@test "what runs in the library that records objects is no sample; without objects it is not there" {
    samples
    run -7 --separate-stderr cf-capture-perf --coarse page-faults --fine 0 -o t.cf -- "$D/heap" 2
    has "of the library that records heap objects" "$stderr"
    [[ $(cf-resolve -q t.cf | cf-rank -q --by function | grep -c shim_) == 0 ]]
    rows map t.cf | grep -q libcf-alloc.so
    LD_PRELOAD=/none cf-capture-perf -q --coarse page-faults --no-objects -o t.cf -- \
        sh -c 'printenv LD_PRELOAD' 2>/dev/null
    [[ $(rows map t.cf | grep -c libcf-alloc.so) == 0 && $(rows object t.cf | wc -l) -le 1 ]]
}

@test "what has no heap objects is named: static and setuid programs, also started ones, and --pid" {
    samples
    run -7 cf-capture-perf --coarse page-faults -o t.cf -- "$D/static" 2
    [[ $(grep -c "$D/static is linked statically" <<<"$output") == 1 ]]
    [[ $(rows access t.cf | wc -l) -gt 64 && $(rows object t.cf | wc -l) -le 1 ]]
    run -7 cf-capture-perf --coarse page-faults -o t.cf -- sh -c '"$0" 2; "$0" 2' "$D/static"
    [[ $(grep -c "$D/static is linked statically" <<<"$output") == 1 ]]
    [[ $(rows object t.cf | wc -l) -gt 1 ]]
    [[ $output != *LD_PRELOAD* ]]
    run -7 cf-capture-perf --coarse page-faults -o t.cf -- sh -c 'env -i "$0" 2' "$D/heap"
    has "1 programs have no heap objects: LD_PRELOAD was taken from their environment"
    sleep 60 3>&- &
    run -0 timeout -s INT 1 cf-capture-perf --coarse page-faults --pid $! -o t.cf || [[ $status == 124 || $status == 130 ]]
    kill $!
    has "no heap objects are recorded of a process that runs already"
}

@test "a program that changes its user ends its recording, which is said" {
    samples
    [[ $(id -u) == 0 ]] || skip 'only root can make a program of somebody else'
    local folder
    folder=$(mktemp -d /tmp/cf-setuid-XXXXXX)
    chmod 755 "$folder"
    cp "$D/heap" "$folder/changes"
    chmod 4755 "$folder/changes"
    status=0
    setpriv --reuid=65534 --clear-groups env PATH="$PATH" cf-capture-perf --coarse page-faults \
        -- sh -c '"$0" 2; ls /' "$folder/changes" >t.cf 2>said || status=$?
    rm -r "$folder"
    [[ $status != 127 && $status != 126 && $status != 3 ]] || skip "$(<said)"
    [[ $status == 0 ]]
    grep -q "changes changes its user or group: the kernel has ended its recording" said
    cf-cat --verify t.cf
    rows task t.cf | grep -q begin,ls
}

@test "a process that runs another program has none of the mappings and objects of the one before" {
    samples
    run -7 cf-capture-perf -q --coarse page-faults -o t.cf -- bash -c 'a=(); for i in {1..5000}; do a[i]=$i; done; exec "$0" 2' "$D/heap"
    cf-cat --verify t.cf
    rows map t.cf >maps
    grep -q ,unmap,.*/bash maps
    # all of what was mapped at the exec, of which nothing is left
    awk -F, '$3 == "map" && /\/bash/ { n++ } $3 == "unmap" && /\/bash/ { m++ } END { exit !(n && m >= n) }' maps
    run -0 cf-rank -q --by function <(cf-resolve -q t.cf)
    has main
    [[ $(rows task t.cf | grep -c ",begin,") == 2 ]]
}

@test "children are recorded like their parent, and each runs into the breakpoint" {
    breakpoints
    run -0 cf-capture-perf -q --coarse "$D/earlier.cf" --expire 60000 --fine 2000 --same-set 2000 -o t.cf -- \
        sh -c '"$0" 3000000 & "$0" 3000000 & wait' "$D/walk"
    cf-cat --verify t.cf
    cf-resolve -q t.cf | rows access | grep ',work,.*walk.c:8' >walked
    [[ $(cut -d, -f3 walked | sort | uniq -c | awk '$1 > 10' | wc -l) == 2 ]]
}

@test "--coarse FILE: what no program has at the moment does not keep the breakpoint from what waits" {
    breakpoints
    cp "$D/walk" gone
    cp "$D/walk" prog
    { cf-capture-trace -q -- sh -c './gone 30; ./prog 3' || true; } | cf-resolve -q | cf-select --function work -o e.cf
    run -7 cf-capture-perf -q --coarse e.cf --expire 60000 -o t.cf -- ./prog 1000000
    [[ $(rows access t.cf | wc -l) -gt 1 ]]
}

@test "a program that was built again since the earlier stream gets no breakpoints, and is named" {
    breakpoints
    cp "$D/walk" prog
    { cf-capture-trace -q -- ./prog 3 || true; } | cf-resolve -q | cf-select --function work -o e.cf
    # watches gt|eq [STREAM]: more accesses of breakpoints than none, or none
    watches() {
        run -7 cf-capture-perf --coarse "${2-e.cf}" --expire 2000 -o t.cf -- ./prog 1000000
        test "$(rows access t.cf | tail -n +2 | wc -l)" "-$1" 0
    }
    watches gt
    has_not 'not the build'
    { cat "$D/walk.c" && echo 'int more(void) { return 1; }'; } >again.c
    gcc -g -O1 -pthread -o prog again.c
    watches eq
    has "$PWD/prog: not the build that was recorded in e.cf: no breakpoints were set there"
    cp "$D/walk" prog
    cf-cat --csv --table map e.cf | cut -d, -f1-8 >maps.csv
    cf-cat --csv e.cf | stream unstated.cf --with map=maps.csv
    watches gt unstated.cf
    has "unstated.cf does not state which builds of its files were mapped"
    has_not 'not the build'
}

@test "rings that a user may not lock: the message says so" {
    breakpoints
    local user=() folder
    [[ $(id -u) != 0 ]] || user=(setpriv --reuid=65534 --clear-groups)
    folder=$(mktemp -d /tmp/cf-rings-XXXXXX)
    chmod 755 "$folder"
    cp "$D/walk" "$folder/prog"
    cp "$(command -v cf-capture-perf)" "$folder"
    "${user[@]}" "$folder/cf-capture-perf" -q --coarse page-faults --fine 0 -- ls / >/dev/null 2>said || {
        rm -r "$folder"
        skip "of users: $(<said)"
    }
    { cf-capture-trace -q -- "$folder/prog" 3 || true; } | cf-resolve -q | cf-select --function work -o e.cf
    # limited WORD...: by a user who may lock no more than what all may
    limited() {
        status=0
        "${user[@]}" bash -c 'ulimit -l 0 && exec "$0" "$@" 2>&3' "$folder/cf-capture-perf" "$@" -- "$folder/prog" 1000000 \
            3>said >t.cf || status=$?
    }
    limited --coarse e.cf --fine 100000
    has 'breakpoints could not be set: the rings take more memory than a user may lock (kernel.perf_event_mlock_kb is' "$(<said)"
    [ $status = 7 ]
    limited --coarse page-faults --fine 0 --buffer 64M
    has 'the rings take more memory than a user may lock (kernel.perf_event_mlock_kb is' "$(<said)"
    has_not paranoid "$(<said)"
    [ $status = 3 ]
    rm -r "$folder"
}

@test "threads that begin late get the breakpoint; more of them than it has registers as well" {
    breakpoints
    [[ $(id -u) == 0 ]] || skip "only root may lock the memory of so many rings"
    cat >late.c <<'END'
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static volatile long cell[64][64];
static volatile int end;
static void *work(void *a) { while (!end) { ++*(volatile long *)a; usleep(1000); } return 0; }
int main(int argc, char **argv)
{
    pthread_t t[32];
    int n = argc > 1 ? atoi(argv[1]) : 1;
    for (int i = 0; i < n; i++) { pthread_create(&t[i], 0, work, (void *)cell[i]); usleep(i == n / 2 ? 500000 : 0); }
    usleep(4000000);
    end = 1;
    for (int i = 0; i < n; i++) pthread_join(t[i], 0);
}
END
    gcc -g -O1 -pthread -o late late.c
    cf-capture-trace -q -- ./late 1 | cf-resolve -q | cf-select --function work -o only.cf
    # its first instruction alone, which all threads run
    cf-capture-perf -q --coarse only.cf --fine 100000 --same-set 100000 --expire 60000 -o t.cf -- ./late 12
    [[ $(rows access t.cf | cut -d, -f4 | sort | uniq -c | awk '$1 > 10' | wc -l) == 12 ]]
}

@test "a breakpoint that others have taken is reported" {
    breakpoints
    cat >taken.c <<'END'
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
static volatile long cell;
int main(int argc, char **argv)
{
    for (int i = 0; i < 4; i++) {
        struct perf_event_attr a = {.type = PERF_TYPE_BREAKPOINT, .size = sizeof a, .exclude_kernel = 1,
            .bp_type = HW_BREAKPOINT_W, .bp_addr = (unsigned long)&cell + 4096 + 8 * i, .bp_len = 8, .sample_period = 1};
        if (syscall(SYS_perf_event_open, &a, 0, -1, -1, 0) < 0) return 9;
    }
    for (int i = 0; i < 300 * atoi(argv[1]); i++) { cell++; usleep(1000); }
}
END
    gcc -g -O1 -o taken taken.c
    cf-capture-trace -q -o e.cf -- ./taken 1 || true
    cf-resolve -q e.cf | cf-select --function main -o only.cf
    run cf-capture-perf --coarse only.cf -o t.cf -- ./taken 2
    [[ $status != 9 ]] || skip "no four breakpoints"
    has "breakpoints of this machine are taken"
}

@test "signal USR1: each segment is a whole one, with tasks, mappings and call stacks" {
    samples
    cat >allocates.c <<'END'
#include <stdlib.h>
#include <unistd.h>
static void *one(void) { return malloc(5000); }
int main(void)
{
    for (int i = 0; i < 1000; i++) { char *p = one(); for (int k = 0; k < 5000; k += 64) p[k] = 1; if (i % 3) free(p); usleep(1000); }
}
END
    gcc -g -O0 -o allocates allocates.c
    run -0 cf-capture-perf --coarse page-faults -o t.cf -- sh -c './allocates & sleep 0.4; kill -USR1 $PPID; wait'
    has "not known in the segment that begins"
    cf-cat --verify t.cf
    cf-resolve -q t.cf >r.cf
    cf-cat --info r.cf >info
    [[ $(grep -c "^input" info) == 2 ]]
    cf-cat --csv --table object r.cf >objects
    # objects of the second segment have their site, whose nodes the first one had
    awk -F, '$4 == "alloc" && $6 == 5000 { n++; named += /allocates.c:3/ } END { exit !(n == 1000 && named == n) }' objects
    cf-rank -q --by function r.cf | grep -q ,main,
}

@test "signal USR1: what came until then can be read while the program runs on" {
    samples
    local pid
    cf-capture-perf --coarse page-faults -o t.cf -- sh -c '"$0" 50; kill -USR1 $PPID; exec sleep 60' "$D/heap" \
        2>said 3>&- &
    pid=$!
    eventually grep -q "not known in the segment that begins" said
    eventually test -s t.cf.partial
    run -1 bash -c 'cf-resolve -q t.cf.partial >r.cf'
    has "cut off"
    kill -TERM $pid
    wait $pid || true
    [[ $(rows access r.cf | grep -c "$(line_of '/. capacity')") -gt 1000 ]]
}

@test "the instruction with the most sampled misses is watched next, however many wait" {
    breakpoints
    # 300 instructions that miss twice and never run again; then one that misses again and again,
    # until it has been seen.
    python3 - >many.c <<'END'
print('''#include <sys/mman.h>
#include <unistd.h>
static volatile char *fresh(void)
{
    return mmap(0, 1 << 21, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}
static void __attribute__((noinline)) often(volatile char *p, long n) { for (long i = 0; i < n; i++) p[i << 12] = 1; }
int main(int argc, char **argv)
{
    volatile char *p = fresh();
    madvise((void *)p, 1 << 21, MADV_NOHUGEPAGE);''')
for i in range(300):
    print('    for (long i = 0; i < 2; i++, p += 4096) *p = 1;')
    if i % 100 == 99:
        print('    p = fresh(); madvise((void *)p, 1 << 21, MADV_NOHUGEPAGE);')
print('''    for (long i = 0; i < 200000 && access("seen", F_OK) != 0; i++) {
        madvise((void *)p, 1 << 21, MADV_DONTNEED);
        often(p, 64);
        usleep(100);
    }
    return access("seen", F_OK) != 0;
}''')
END
    gcc -g -O0 -o many many.c
    run -0 bash -c 'cf-capture-perf -q --coarse page-faults --no-objects --expire 1000 -- ./many |
        cf-resolve -q | tee >(cf-select --function often | cf-cat --csv --columns stage |
            while read -r s; do [[ $s != 2 ]] || : >seen; done) >t.cf; exit "${PIPESTATUS[0]}"'
    cf-cat --csv --columns pc,stage t.cf >t.csv
    # all of those before are suspects
    [[ $(awk -F, '$2 == 1' t.csv | sort | uniq -c | awk '$1 == 2' | wc -l) -ge 300 ]]
}
