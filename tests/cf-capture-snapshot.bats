#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# cf-capture snapshot against fake_shutter, which answers the calls of the kernel module at a socket
# and notes in what state it found the observed tasks at each snapshot. Stopping, priorities, CPUs,
# mappings, signals, breakpoints are those of this machine's kernel. The module itself is tested in
# guests (kmod-*.bats).
load lib

setup_file() {
    export D=$BATS_FILE_TMPDIR
    cat >"$D/work.c" <<'END'
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
volatile long counter, cell[4];
__attribute__((noinline, noclone)) void here(int i) { __atomic_add_fetch(&counter, i, __ATOMIC_RELAXED); __asm__ volatile("" ::: "memory"); }
static void *thread(void *arg)
{
    int n = *(int *)arg;
    for (int i = 0; i < n; i++) { here(i); usleep(500); }
    return NULL;
}
/* Snapshots that were noted so far. */
static int snapshots(int notes)
{
    static char text[1 << 16];
    const ssize_t bytes = pread(notes, text, sizeof text - 1, 0);
    int count = 0;
    text[bytes > 0 ? bytes : 0] = 0;
    for (const char *p = text; (p = strstr(p, "client,")) != NULL; p++) count++;
    return count;
}
static pthread_t first;
static void *last(void *arg)
{
    char **argv = arg;
    int notes = open(argv[3], O_RDONLY), n = atoi(argv[2]);
    pthread_join(first, NULL);
    memset(mmap((void *)0x10000000, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0), 1, 4096);
    while (snapshots(notes) < n) { here(1); usleep(500); }
    exit(5);
}
int main(int argc, char **argv)
{
    int n = atoi(argv[2]);
    first = pthread_self();
    int forever = INT_MAX, capture, notes = argc > 3 ? open(argv[3], O_RDONLY) : STDIN_FILENO;
    int each = argc > 4 ? atoi(argv[4]) : 1;
    pthread_t t[4];
    alarm(600); /* means never */
    switch (argv[1][0]) {
    case 'l': /* loop through here() and cell[1] */
        for (int i = 0; i < n; i++) { here(i); cell[1] = i; }
        break;
    case 'm': /* a new mapping each time, then a signal to the parent, until argv[4] more snapshots are
                 noted in argv[3] or standard input */
        for (int i = 0; i < n; i++) {
            char *p = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            memset(p, i, 1 << 20);
            kill(getppid(), SIGRTMAX - 1);
            while (snapshots(notes) < (i + 1) * each) usleep(500);
        }
        break;
    case 's': /* stops itself */
        for (int i = 0; i < n; i++) raise(SIGSTOP);
        break;
    case 't': /* threads */
        for (int i = 0; i < 4; i++) pthread_create(&t[i], NULL, thread, &n);
        for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
        break;
    case 'u': /* threads, until argv[3] has n snapshots, or with argv[4] n more */
        n += argc > 4 ? snapshots(notes) : 0;
        for (int i = 0; i < 4; i++) pthread_create(&t[i], NULL, thread, &forever);
        while (snapshots(notes) < n) usleep(500);
        puts("enough");
        return 5;
    case 'f': /* a child process goes through here() too */
        if (fork() == 0) { for (int i = 0; i < n; i++) here(i); _exit(0); }
        wait(NULL);
        here(1);
        break;
    case 'e': /* the main thread ends; then another one maps something and goes through here() until argv[3]
                 has n snapshots */
        pthread_create(&t[0], NULL, last, argv);
        pthread_exit(NULL);
    case 'g': /* between two stops a mapping comes, and then a child, which has it too */
        raise(SIGSTOP);
        memset(mmap((void *)0x10000000, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0), 1, 4096);
        const pid_t child = fork();
        while (child == 0) pause();
        raise(SIGSTOP);
        kill(child, SIGKILL);
        wait(NULL);
        break;
    case 'o': /* a child outlives the program and the capture, and goes through all of it after that */
        here(1);
        capture = getppid();
        if (fork() == 0) {
            alarm(600);
            while (kill(capture, 0) == 0) usleep(1000);
            here(1);
            cell[1] = 1;
            fclose(fopen(argv[3], "w"));
            _exit(0);
        }
        return 5;
    }
    printf("%ld\n", counter);
    return 5;
}
END
    cc -O1 -g -pthread -o "$D/work" "$D/work.c"
    cc -O1 -s -o "$D/stripped" "$D/work.c"
}

setup() {
    lib_setup
    W=$D/work
    once='until grep -q ^client notes; do sleep 0.01; done' # a program that sees a snapshot
}

# shutter [KEY=VALUE...]: in the background; its notes go to `notes`
shutter() {
    teardown # one that nobody has called still waits
    rm -f sock
    fake_shutter sock notes "$@" >/dev/null 2>&1 3>&- &
    SHUTTER=$!
    eventually test -S sock
}

teardown() {
    [[ -z ${SHUTTER:-} ]] || kill "$SHUTTER" 2>/dev/null || true
    SHUTTER=
}

# What a user without the right to a real-time priority asks for, who would be warned.
own=()
[[ $(id -u) == 0 ]] || own=(--own-priority none)

# snap ARGUMENT...: with a Shutter of its own, into s.cf
snap() {
    shutter
    timeout -k 5 1800 cf-capture-snapshot --device sock "${own[@]}" -o s.cf "$@"
}

# count TABLE: rows
count() {
    rows "$1" s.cf | tail -n +2 | wc -l
}

# calm STATUS ARGUMENT...: snap, which ends with that status; again where a busy machine kept a program
# from stopping in time, as the capture tells
calm() {
    local want=$1 n
    shift
    for n in {1..50}; do
        run --separate-stderr snap "$@"
        [[ $status == "$want" ]] || fail "status $status: $output $stderr" || return
        [[ $stderr == *"did not stop within"* ]] || return 0
    done
    fail "late each time: $stderr"
}

# at_rest STATES NS: at each snapshot all programs were in one of these states, and none ran for longer
# than it takes to come to rest; but now and then a CPU is taken away while that is under way, which counts
# as if the program ran on
at_rest() {
    awk -F, -v states="$1" -v ns="$2" '
        /^client/ { all++ }
        /^child/ && !index(states, $5) { print; bad = 1 }
        /^child/ && $8 > ns { ran[$2] }
        END { exit bad || !all || 3 * length(ran) > all }' notes >&2
}

# noted N: so many snapshots were noted by now
noted() {
    (($(grep -c ^client notes) >= $1))
}

root() {
    [[ $(id -u) == 0 ]] || skip "only root may set priorities and read page frames"
}

# is_state LETTER PID: T is stopped, S sleeps
is_state() {
    [[ $(sed 's/.*) \(.\).*/\1/' "/proc/$2/stat") == "$1" ]]
}

@test "periodic: the tasks stand still at each snapshot and run between them; status and output are theirs" {
    root
    calm 5 -p 2ms -- "$W" u 6 notes
    is enough
    run -1 grep -vE '^$|snapshots fell due while' <<<"$stderr" # as a busy machine may say
    [ "$(count snapshot)" -ge 6 ]
    at_rest T 1000000
    run -0 rows snapshot s.cf
    has ',3,'
    # a program runs for a period at least between two
    run -0 bash -c "cf-cat --csv --table snapshot s.cf | awk -F, 'NR > 2 && \$2 - t < 2000000 { print } NR > 1 { t = \$2 }'"
    is ''
}

@test "asynchronous: nobody is stopped" {
    root
    run -5 snap -a -p 5ms -- "$W" u 3 notes
    [ "$(count snapshot)" -ge 3 ]
    run -0 bash -c "grep -c ^child.*,T, notes || true"
    is 0
    run -0 bash -c "cf-cat --csv --table snapshot s.cf | sed -n 2p | cut -d, -f3"
    is 1
}

@test "descendants are stopped too, also those that leave their parents" {
    # until each has been seen
    calm 0 -p 10ms -- sh -c "setsid sleep 600 >/dev/null 2>&1 3>&- & ($W u 4 notes >/dev/null &)
        until grep -q ,sleep, notes && grep -q ,work, notes; do sleep 0.01; done
        $W u 4 notes >/dev/null; kill \$!"
    at_rest TD 1000000000
}

@test "descendants end in table task before others begin, and once" {
    local options
    for options in '' '-t' '-a' '-e break:usleep'; do
        # shellcheck disable=SC2086 # words
        run -5 snap -p 3ms $options -- sh -c "$W u 2 notes more; $W u 2 notes more; $W u 2 notes more; exit 5"
        run -0 cf-cat --csv --table task --columns pid,op,label s.cf
        awk -F, '$2 == "begin" && alive[$1]++ { bad = 1 } $2 == "exit" && alive[$1]-- != 1 { bad = 1 }
            $2 == "begin" && NR > 2 { n++; for (p in of) if (alive[p]) bad = 1; of[$1] }
            END { for (p in alive) if (alive[p]) bad = 1; exit bad || n != 3 }' <<<"$output" || fail "$options" "$output"
    done
}

@test "the highest real-time priority for itself, the scheduling that was asked for the programs" {
    root
    local cpus
    cpus=$(nproc)
    run -5 snap -n 2 -p 3ms --cpu 0,$((cpus - 1)) --sched fifo:7,rr:3 -- "$W" u 2 notes -- "$W" u 2 notes
    run -0 bash -c "grep -m 1 ^client notes | cut -d, -f6"
    is fifo:99
    run -0 bash -c "grep ^child.*,T, notes | cut -d, -f6,7 | sort -u"
    is "fifo:7,0 of 1
rr:3,$((cpus - 1)) of 1"
}

@test "a program that others keep from beginning has its name already" {
    sanitized && skip "the sanitizer's library must be loaded first"
    cc -shared -fPIC -o late.so -x c - -ldl <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include <unistd.h>
int execvp(const char *file, char *const argv[])
{
    while (strstr(file, "second") && access("go", F_OK) != 0) usleep(1000);
    return ((int (*)(const char *, char *const *))dlsym(RTLD_NEXT, "execvp"))(file, argv);
}
END
    shutter
    cp /bin/true second
    # shellcheck disable=SC2016
    LD_PRELOAD=$T/late.so run -5 timeout -k 5 1800 cf-capture-snapshot --device sock -o s.cf -n 2 -p 3ms -- \
        sh -c '"$0" u 2 notes; status=$?; : >go; exit $status' "$W" -- "$T/second"
    run -0 bash -c "cf-cat --csv --table task --columns op,label s.cf | sort -u"
    has second
    has_not cf-capture-snap
}

@test "a newline in a program's name is part of it" {
    cp /bin/sh $'c\nd'
    # shellcheck disable=SC2016
    run -0 snap -p 2ms -- $'./c\nd' -c 'until [ "$(grep -c "^client" notes)" -ge 3 ]; do sleep 0.01; done; : end'
    run -0 bash -c "cf-cat --csv --table task --columns op,pid,label s.cf | grep -A 1 -m 1 '^begin' | cut -d, -f3"
    is '"c
d"'
    ! rows task s.cf | grep ',name,"*c' || false
}

@test "its own priority can be left as it is" {
    root
    run -5 snap -n 1 -p 3ms --own-priority none -- "$W" u 1 notes
    run -0 bash -c "grep -m 1 ^client notes | cut -d, -f6"
    is other:0
}

@test "--own-cpu that is none" {
    run -3 snap -p 1ms --own-cpu 1023 -- true
    has '--own-cpu 1023: '
}

@test "programs that end on its own CPU, at lower priorities, do not hold it for ever" {
    root
    local i pid status
    for i in {1..10}; do # it is a race
        shutter
        cf-capture-snapshot --device sock -o s.cf -n 2 -p 1ms --own-cpu 0 \
            --cpu 0 --sched fifo:7,rr:3 -- "$W" t 10 -- "$W" t 10 3>&- &
        pid=$!
        # A priority that lets the others run ends it.
        eventually gone $pid || {
            chrt -o -p 0 $pid || kill -KILL $pid
            return 1
        }
        status=0
        wait $pid || status=$?
        [ "$status" = 5 ]
    done
}

@test "without the right to real-time priorities: a warning, and it works" {
    root
    command -v setpriv >/dev/null || skip "setpriv is missing"
    shutter
    run -5 --separate-stderr setpriv --bounding-set=-sys_nice --inh-caps=-sys_nice -- \
        cf-capture-snapshot --device sock -o s.cf -n 1 -p 3ms -- "$W" u 1 notes
    has 'no real-time priority for this program' "$stderr"
    [ "$(count snapshot)" = 1 ]
}

@test "events: SIGRTMAX-1 from the program" {
    run -5 snap -e signal -m -r -- "$W" m 5 notes
    [ "$(count snapshot)" = 5 ]
    run -0 bash -c "cf-cat --csv --table snapshot s.cf | cut -d, -f3 | tail -n +2 | sort -u"
    is 31
}

@test "events: a program that stops itself goes on after its snapshot" {
    run -5 snap -e stop -- "$W" s 6
    [ "$(count snapshot)" = 6 ]
    run -5 snap -e stop -n 2 -- "$W" s 6
    [ "$(count snapshot)" = 2 ]
}

@test "events: an instruction, in a loop, in threads, in a child process" {
    run -5 --separate-stderr snap -e break:here -- "$W" l 20
    is 190
    [ "$(count snapshot)" = 20 ]
    calm 5 -e break:here -- "$W" t 10
    is 180
    [ "$(count snapshot)" = 40 ]
    at_rest t 1000000
    run -5 --separate-stderr snap -e break:here -- "$W" f 7
    [ "$(count snapshot)" = 8 ]
    [ "$(count task)" -ge 3 ]
    # a program that another one runs
    run -5 --separate-stderr snap -e break:here -- sh -c "$W l 3; $W l 4"
    [ "$(count snapshot)" = 7 ]
    # an address
    cc -O1 -g -pthread -no-pie -o fixed "$D/work.c"
    run -5 snap -e "break:0x$(nm fixed | awk '$3 == "here" { print $1 }')" -- ./fixed l 3
    [ "$(count snapshot)" = 3 ]
}

@test "events: an instruction that waits in the kernel for longer than a step is waited for" {
    local place
    cat >nap.c <<'END'
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
long nap(long number, const struct timespec *t, void *left);
#if defined(__x86_64__)
__asm__(".globl nap\nnap: mov %rdi, %rax\n mov %rsi, %rdi\n mov %rdx, %rsi\nwaits: syscall\n ret");
#elif defined(__aarch64__)
__asm__(".globl nap\nnap: mov x8, x0\n mov x0, x1\n mov x1, x2\nwaits: svc 0\n ret");
#endif
int main(void)
{
    const struct timespec t = {.tv_nsec = 300000000};
    for (volatile int i = 0; i < 3; i++)
        nap(SYS_nanosleep, &t, NULL);
    puts("done");
    return 5;
}
END
    cc -O1 -no-pie -o nap nap.c
    place=$(nm nap | awk '$3 == "waits" { print $1 }')
    run -5 --separate-stderr snap -e "break:0x$place" -- ./nap
    is 'done'
    [ "$(count snapshot)" = 3 ]
    # and while it does, others stop it
    run -5 --separate-stderr snap -e "break:0x$place" -e signal -- sh -c \
        '(while sleep 0.05 && kill -s RTMAX-1 $PPID; do :; done) & ./nap; status=$?; kill $!; exit $status'
    is 'done'
    [ "$(count snapshot)" -gt 3 ]
}

@test "events: a child with another parent, one made at the trap itself, and one that ends there by vfork" {
    local place mode
    cat >born.c <<'END'
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
long call(long number, long a, long b, long c);
#if defined(__x86_64__)
__asm__(".globl call\ncall: mov %rdi, %rax\n mov %rsi, %rdi\n mov %rdx, %rsi\n mov %rcx, %rdx\n xor %r10, %r10\n"
        "traps: syscall\n ret");
#elif defined(__aarch64__)
__asm__(".globl call\ncall: mov x8, x0\n mov x0, x1\n mov x1, x2\n mov x2, x3\n mov x3, 0\n mov x4, 0\n"
        "traps: svc 0\n ret");
#endif
int main(int argc, char **argv)
{
    int status = 0, gone[2];
    char end;
    pid_t child;
    (void)argc;
    switch (argv[1][0]) {
    case 'p': /* a sibling, of which only the end of the pipe tells: 2 calls */
        if (pipe(gone) != 0 || call(SYS_getppid, 0, 0, 0) <= 0)
            return 1;
        child = (pid_t)syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);
        if (child == 0) {
            call(SYS_getppid, 0, 0, 0);
            _exit(write(gone[1], "x", 1) != 1);
        }
        close(gone[1]);
        return read(gone[0], &end, 1) == 1 ? 5 : 2;
    case 'f': /* 1 call that makes the child, 6 in it */
        child = (pid_t)call(SYS_clone, SIGCHLD, 0, 0);
        if (child == 0) {
            for (int i = 0; i < 5; i++)
                call(SYS_getppid, 0, 0, 0);
            call(SYS_exit_group, 7, 0, 0);
        }
        break;
    default: /* 1 call in the child, 5 afterwards */
        child = vfork();
        if (child == 0)
            call(SYS_exit_group, 7, 0, 0);
        for (int i = 0; i < 5; i++)
            call(SYS_getppid, 0, 0, 0);
        break;
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 7 ? 5 : 2;
}
END
    cc -D_GNU_SOURCE -O1 -no-pie -o born born.c
    place=$(nm born | awk '$3 == "traps" { print $1 }')
    for mode in p:2 f:7 v:6; do
        run --separate-stderr snap -e "break:0x$place" -- ./born "${mode%:*}"
        [ "$status" = 5 ] || fail "$mode: status $status" "$stderr"
        [ "$(count snapshot)" = "${mode#*:}" ] || fail "$mode: $(count snapshot) snapshots"
    done
}

# data_stops: or the test is skipped
data_stops() {
    run --separate-stderr snap -e write:optind -- sh -c "exec date -u +x"
    [[ $status != 3 ]] || without "$stderr"
}

# points: ./points, what a thread may be at when it comes to a point
points() {
    [[ $(uname -m) == x86_64 ]] || skip "its instructions are those of x86-64"
    cat >points.c <<'END'
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
volatile long cell;
char filled[64];
void f(long *), g(long *), fault(void), flags(void), fill(void), add(void), here(long *);
long call(long number, long a, long b, long c);
__asm__(".globl f, g, fault, flags, fill, fills, add, here, call, calls\n"
        "f:\ng: push %rbx\n incq (%rdi)\n pop %rbx\n ret\n"
        "fault: movl $1, 0\n ret\n"
        "flags: pushf\n popf\n ret\n"
        "fill: mov $filled, %edi\n mov $64, %ecx\n mov $7, %al\nfills: rep stosb\n ret\n"
        "add: incq cell(%rip)\n ret\n"
        "here: lock incq (%rdi)\n ret\n"
        "call: mov %rdi, %rax\n mov %rsi, %rdi\n mov %rdx, %rsi\n mov %rcx, %rdx\ncalls: syscall\n ret\n");
static sigjmp_buf back;
static volatile int got, wrong;
static long *shared;
static int ends[2];
static void on_fault(int number) { siglongjmp(back, number); }
static void on_queued(int number, siginfo_t *i, void *u)
{
    (void)u;
    got++;
    wrong += number != SIGRTMIN || i->si_code != SI_QUEUE || i->si_value.sival_int != 77;
}
static void *loop(void *arg) { for (;;) here(shared); return arg; }
static void *reads(void *arg) { char c; call(SYS_read, ends[0], (long)&c, 1); return arg; }
int main(int argc, char **argv)
{
    const pid_t self = getpid();
    long n = 0;
    int status = 0;
    pid_t child;
    pthread_t t;
    shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    alarm(600); /* means never */
    switch (argv[1][0]) {
    case 't': for (int i = 0; i < 3; i++) f(&n); printf("%ld\n", n); break;
    case 'h': signal(SIGSEGV, on_fault); /* falls through */
    case 'c': if (!sigsetjmp(back, 1)) fault(); puts("handled"); break;
    case 'p': flags(); puts("alive"); break;
    case 'r': fill(); fill(); for (int i = 0; i < 64; i++) n += filled[i]; printf("%ld\n", n); break;
    case 'w': for (int i = 0; i < 10; i++) add(); printf("%ld\n", cell); break;
    case 'q': /* signals come while it goes through here() */
        sigaction(SIGRTMIN, &(struct sigaction){.sa_sigaction = on_queued, .sa_flags = SA_SIGINFO}, NULL);
        if (fork() == 0) {
            for (int i = 0; i < 200; i++) {
                while (sigqueue(self, SIGRTMIN, (union sigval){.sival_int = 77}) != 0) usleep(100);
                usleep(200);
            }
            _exit(0);
        }
        while (waitpid(-1, &status, WNOHANG) == 0) here(&n);
        printf("%d %d\n", got, wrong);
        break;
    case 's': /* what goes through here() is stopped: how often it went on */
        if ((child = fork()) == 0) { for (int i = 0; i < 3; i++) pthread_create(&t, NULL, loop, NULL); for (;;) pause(); }
        for (int i = 0; i < 20; i++) {
            while (*(volatile long *)shared < 3 * i) usleep(100);
            kill(child, SIGSTOP);
            waitpid(child, &status, WUNTRACED);
            n = *(volatile long *)shared;
            usleep(30000);
            wrong += *(volatile long *)shared != n;
            kill(child, SIGCONT);
        }
        kill(child, SIGKILL);
        printf("%d\n", wrong);
        break;
    case 'f': /* a child goes on from the point, and meets it */
        if ((child = (pid_t)call(SYS_fork, 0, 0, 0)) == 0) { for (int i = 0; i < 5; i++) call(SYS_getppid, 0, 0, 0); _exit(0); }
        waitpid(child, &status, 0);
        printf("%d\n", status);
        break;
    case 'v': /* a child that has its parent's memory ends at the point */
        if ((child = vfork()) == 0) call(SYS_exit_group, 0, 0, 0);
        waitpid(child, &status, 0);
        for (int i = 0; i < 5; i++) call(SYS_getppid, 0, 0, 0);
        printf("%d\n", status);
        break;
    case 'd': /* the same, killed by the instruction at the point */
        if ((child = vfork()) == 0) fault();
        waitpid(child, &status, 0);
        signal(SIGSEGV, on_fault);
        for (volatile int i = 0; i < 5; i++) if (!sigsetjmp(back, 1)) fault();
        printf("%d\n", WTERMSIG(status));
        break;
    case 'a': /* a thread waits in the kernel at the point, and others come to it */
        if (pipe(ends) != 0) return 1;
        pthread_create(&t, NULL, reads, NULL);
        usleep(200000); /* or they come earlier, which must do, too */
        for (int i = 0; i < 5; i++) call(SYS_getppid, 0, 0, 0);
        if (write(ends[1], "x", 1) != 1) return 1;
        pthread_join(t, NULL);
        puts("joined");
    }
    return 5;
}
END
    cc -O1 -w -no-pie -pthread -o points points.c
}

# at PLACE... -- MODE [ARGUMENT]: ./points
at() {
    local events=()
    while [[ $1 != -- ]]; do
        events+=(-e "$1")
        shift
    done
    run --separate-stderr snap "${events[@]}" -- ./points "${@:2}"
    # shellcheck disable=SC2154
    echo "status $status: $output $stderr" >&2
}

@test "events: several at one instruction are one snapshot, and the program is as it was" {
    points
    at break:f break:g -- t
    [[ $status == 5 && $(count snapshot) == 3 ]]
    is 3
    at break:f break:f -- t
    [[ $status == 5 && $(count snapshot) == 3 ]]
    is 3
    run -5 --separate-stderr snap -e break:f -e break:g -n 1 -- ./points t
    is 3
    run -5 --separate-stderr snap -e break:_start -e break:nowhere -n 1 -- ./points t
    is 3
}

@test "events: an instruction that faults, which the program handles or not" {
    points
    at break:fault -- h
    [[ $status == 5 && $(count snapshot) == 1 ]]
    is handled
    at break:fault -- c
    [[ $status == 139 && $(count snapshot) == 1 ]]
    at break:fault -- d
    [[ $status == 5 && $(count snapshot) == 6 ]]
    is 11
}

@test "events: signals that come at an instruction come once, and as they were sent" {
    points
    at break:here -- q
    [[ $status == 5 ]]
    is '200 0'
}

@test "events: what is stopped at an instruction stays so" {
    points
    at break:here -- s
    [[ $status == 5 ]]
    is 0
}

@test "events: an instruction that writes data which are watched, too" {
    data_stops
    points
    at break:add write:cell:8 -- w
    [[ $status == 5 && $(count snapshot) == 20 ]]
    is 10
}

@test "events: a repeated string instruction is executed once; flags that are pushed are the program's" {
    points
    at break:fills -- r
    [[ $status == 5 && $(count snapshot) == 2 ]]
    is 448
    at break:flags -- p
    [[ $status == 5 && $(count snapshot) == 1 ]]
    is alive
}

@test "events: a system call that makes a child, ends one, or waits: none slips past" {
    points
    at break:calls -- f
    [[ $status == 5 && $(count snapshot) == 6 ]]
    is 0
    at break:calls -- v
    [[ $status == 5 && $(count snapshot) == 6 ]]
    is 0
    calm 5 -e break:calls -- ./points a
    [[ $(count snapshot) == 6 ]]
    is joined
}

@test "events: an instruction whose page another thread of the program provides" {
    [[ $(uname -m) == x86_64 ]] || skip "its instructions are those of x86-64"
    cat >page.c <<'END'
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
void touch(char *), fill(char *);
__asm__(".globl touch, fill, fills\ntouch: movb $1, (%rdi)\n ret\n"
        "fill: mov $8192, %ecx\n mov $7, %al\nfills: rep stosb\n ret\n");
static int fd;
static void *provide(void *arg)
{
    static char page[4096];
    for (struct uffd_msg m;;)
        if (read(fd, &m, sizeof m) == sizeof m) {
            struct uffdio_copy c = {.dst = m.arg.pagefault.address & -4096UL, .src = (unsigned long)page, .len = 4096};
            ioctl(fd, UFFDIO_COPY, &c);
        }
    return arg;
}
int main(int argc, char **argv)
{
    struct uffdio_api api = {.api = UFFD_API};
    char *area = mmap(NULL, 4 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct uffdio_register r = {.range = {(unsigned long)area, 4 * 4096}, .mode = UFFDIO_REGISTER_MODE_MISSING};
    pthread_t t;
    alarm(600); /* means never */
    fd = (int)syscall(SYS_userfaultfd, 1 /* UFFD_USER_MODE_ONLY */);
    if (fd < 0 || ioctl(fd, UFFDIO_API, &api) != 0 || ioctl(fd, UFFDIO_REGISTER, &r) != 0)
        return 77;
    pthread_create(&t, NULL, provide, NULL);
    for (int i = 0; argc == 1 && i < 4; i++) touch(area + i * 4096);
    if (argc > 1) fill(area);
    printf("%d\n", area[1]);
    fflush(stdout);
    _exit(5);
}
END
    cc -O1 -w -no-pie -pthread -o page page.c
    run ./page
    [[ $status != 77 ]] || skip "userfaultfd is not allowed here"
    run -5 --separate-stderr snap -e break:touch -- ./page
    is 0
    [ "$(count snapshot)" -ge 4 ]
    # a string goes on from the page that was awaited
    run -5 --separate-stderr snap -e break:fills -- ./page all
    is 7
    [ "$(count snapshot)" -lt 100 ]
}

@test "events: debug registers that stop nothing are refused" {
    [[ $(uname -m) == x86_64 ]] || skip "the stand-in is for x86-64"
    untold_breakpoints
    LD_PRELOAD=$PWD/untold.so run -3 --separate-stderr snap -e write:cell -- "$W" l 9
    has "debug registers can be set and stop nothing, as in some virtual machines" "$stderr"
    LD_PRELOAD=$PWD/untold.so run -5 --separate-stderr snap -e break:here -- "$W" l 9
    [ "$(count snapshot)" = 9 ]
}

@test "events: in the libraries of a program" {
    calm 5 -e break:usleep -- "$W" t 5
    is 40
    [ -z "$stderr" ]
    [ "$(count snapshot)" = 20 ]
    # both kinds at once; the program's own symbol comes first
    calm 5 -e break:usleep -e break:here -- "$W" t 2
    [ "$(count snapshot)" = 16 ]
    run -5 --separate-stderr snap -e break:puts -e break:printf -e break:_start -- "$W" l 2
    [ "$(count snapshot)" -ge 2 ]
    # a function that is chosen at run time is none
    run -5 --separate-stderr snap -e break:memcpy -- "$W" l 2
    has "no program that ran has a symbol 'memcpy'" "$stderr"
}

@test "events: data, written and read" {
    data_stops
    [[ $status == 0 && $(count snapshot) -ge 1 ]]
    run -5 --separate-stderr snap -e write:cell+8 -- "$W" l 9
    is 36
    [ "$(count snapshot)" = 9 ]
    # here() reads counter and writes it: one instruction or two
    run -5 snap -e access:counter:8 -n 4 -- "$W" t 10
    [ "$(count snapshot)" = 4 ]
    rm s.cf
    run -5 --separate-stderr snap -e write:cell:8 -- "$W" l 9
    has "no snapshot was taken" "$stderr"
    run -5 --separate-stderr snap -q -e write:cell -- "$W" l 9
    has "--event: cell+0x0: has more bytes than can be watched: only its first are" "$stderr"
    run -5 --separate-stderr snap -q -e access:counter -n 1 -- "$W" l 9
    [ -z "$stderr" ] || fail "$stderr"
    run -5 --separate-stderr snap -e write:cell+9:4 -- "$W" l 1
    has 'no multiple' "$stderr"
}

@test "after the last snapshot a watched program runs on without traps" {
    run -5 --separate-stderr snap -e break:here -n 3 -- "$W" l 1000
    is 499500
    [ "$(count snapshot)" = 3 ]
}

@test "a process that outlives the watched program lives on, without traps" {
    run -5 snap -e break:here -- "$W" o 0 lived
    [ "$(count snapshot)" = 1 ]
    eventually test -e lived
    # one that has stopped itself stays so (in a session of its own: Linux wakes an orphaned group)
    run -5 snap -e break:here -- sh -c "setsid sh -c 'kill -STOP \$\$; touch lived.stopped' >/dev/null 2>&1 3>&- & echo \$! >pid; exec $W l 1"
    eventually is_state T "$(cat pid)"
    kill -CONT "$(cat pid)"
    eventually test -e lived.stopped
}

@test "debug registers: none after the last snapshot, nor in a process that outlives the watched program" {
    data_stops
    run -5 --separate-stderr snap -e write:cell+8 -n 3 -- "$W" t 40
    is 3120
    run -5 snap -e write:cell+8 -e break:usleep -- "$W" o 0 lived.too
    eventually test -e lived.too
}

@test "a symbol that is nowhere is told; signals of a watched program are its own" {
    run -5 --separate-stderr snap -e break:here -- "$D/stripped" l 3
    has "no program that ran has a symbol 'here'" "$stderr"
    run -143 snap -e break:nothing -- sh -c 'kill -TERM $$'
    run -1 --separate-stderr snap -e break:nothing -- sh -c 'trap "echo usr1" USR1; kill -USR1 $$'
    is usr1
    run -1 --separate-stderr snap -e break:nothing -- sh -c \
        '(until test -e went; do sleep 0.1; kill -CONT $$; done) & kill -STOP $$; touch went; wait; echo on'
    is on
    run -133 snap -e break:nothing -- sh -c 'kill -TRAP $$'
}

@test "a symbol that several functions of a program have is told, since one of them is watched" {
    printf 'static void twin(void) { __asm__ volatile(""); }\nvoid other(void) { twin(); }\n' >b.c
    printf 'void other(void);\nstatic void twin(void) { __asm__ volatile(""); }\n' >a.c
    printf 'int main(void) { twin(); other(); return 0; }\n' >>a.c
    cc -O0 -fno-inline -o twins a.c b.c
    run -0 --separate-stderr snap -q -e break:twin -- ./twins
    has "--event: several functions, data or libraries of a program have the symbol 'twin'" "$stderr"
    [ "$(count snapshot)" = 1 ]
    run -0 --separate-stderr snap -q -e break:other -- ./twins
    [ -z "$stderr" ] || fail "$stderr"
}

@test "a variable of each thread, whose symbol is no address, is told" {
    data_stops
    printf '__thread volatile int mine;\nint main(void) { mine = 1; return 0; }\n' >own.c
    cc -O0 -o own own.c
    run -0 --separate-stderr snap -q -e break:main -e write:mine -- ./own
    has "no program that ran has a symbol 'mine'" "$stderr"
    has 'a variable of each thread' "$stderr"
}

@test "flush: each snapshot is read at once; transparent: at the end, from the buffer" {
    run -5 snap -p 3ms -n 4 -- "$W" u 4 notes
    run -0 bash -c "cut -d, -f1,2 notes | grep -v child | paste -sd ' '"
    is 'client,1 read,1 client,2 read,2 client,3 read,3 client,4 read,4'
    run -5 snap -t -p 3ms -n 4 -- "$W" u 4 notes
    run -0 bash -c "cut -d, -f1,2 notes | grep -v child | paste -sd ' '"
    is 'client,1 client,2 client,3 client,4 read,4 read,4 read,4 read,4'
    run -0 bash -c "cf-cat --csv --table snapshot s.cf | cut -d, -f1,3,4 | tail -n +2"
    is '1,2,1001
2,2,1002
3,2,1003
4,2,1004'
}

@test "flush: each line of what thrashes the cache is written to after each snapshot" {
    root
    shutter thrash=1 sets=64
    run -5 cf-capture-snapshot --device sock -o s.cf -p 1ms -n 4 -- "$W" u 4 notes
    run -0 grep ^thrash notes
    is 'thrash,1,8192,1,1
thrash,2,8192,2,2
thrash,3,8192,3,3
thrash,4,8192,4,4'
    # nothing of that in transparent mode
    shutter thrash=1 sets=64
    run -5 cf-capture-snapshot --device sock -o s.cf -t -p 1ms -n 2 -- "$W" u 2 notes
    run -1 grep ^thrash notes
}

@test "--owners: of lines that others map too, the observed process alone, the first, or all" {
    root
    local which
    for which in observed first all; do
        shutter shared=1
        run -5 cf-capture-snapshot --device sock -r -e break:here --owners $which -o s.cf -- "$W" l 1
        # how many rows have the program's number, the only one of a task, and how many another's
        rows task s.cf >tasks.csv
        rows line s.cf >lines.csv
        column pid tasks.csv | sort -u >pid
        [ "$(wc -l <pid)" = 1 ]
        column pid lines.csv | awk -v own="$(cat pid)" '{ n[$1 == own]++ } END { print (n[1] > 0), (n[0] > 0), (n[0] == n[1]) }' >>said
    done
    [ "$(cat said)" = '1 0 0
0 1 0
1 1 1' ]
}

@test "--resolve in a PID namespace, where lines have other numbers than processes, is refused" {
    unshare -rpf --mount-proc true || skip "no namespaces of users"
    local inside=(unshare -rpf --mount-proc cf-capture-snapshot --own-priority none -o s.cf)
    shutter
    run -3 --separate-stderr "${inside[@]}" --device sock -r -p 5ms -- sh -c "$once"
    has '--resolve: lines have the numbers that processes have outside of this PID namespace' "$stderr"
    shutter
    run -0 "${inside[@]}" --device sock -p 5ms -- sh -c "$once"
    shutter
    run -0 "${inside[@]}" --device sock -ar --owners all -n 1 -p 5ms
    # a device is in the first namespace
    run -3 --separate-stderr "${inside[@]}" --device /dev/null -r -- true
    has 'outside of this PID namespace' "$stderr"
    run -3 --separate-stderr "${inside[@]}" --device /dev/null -- true
    has 'is no Shutter' "$stderr"
}

@test "a time namespace, where snapshots would have a time of outside, is refused" {
    unshare -rT --monotonic 1000 true || skip "no namespaces of time"
    local inside=(unshare -rT --monotonic 1000) device
    shutter
    for device in sock /dev/null; do
        run -3 --separate-stderr "${inside[@]}" cf-capture-snapshot --device $device -o s.cf -- true
        has 'snapshots have the time of outside of this time namespace' "$stderr"
    done
    # not where who answers is inside, too
    rm sock
    run -0 "${inside[@]}" sh -c 'fake_shutter sock notes & until test -S sock; do sleep .01; done
        cf-capture-snapshot --own-priority none --device sock -p 5ms -o s.cf -- sh -c "$1"' sh "$once"
    [ "$(count snapshot)" -ge 1 ]
}

@test "twice: two snapshots while the tasks stand still" {
    calm 5 -2 -t -e signal -- "$W" m 6 notes 2
    [ "$(count snapshot)" = 12 ]
    at_rest T 1000000
    # from the first to the second it did not run, but to come to rest, and from there to the next it did
    awk -F, '/^child/ { if ($2 % 2 ? $9 == ran : $9 - ran > 1000000) bad++; ran = $9 } END { exit bad > 2 }' notes
}

@test "a full buffer is told, and what it holds comes out" {
    root # without page frames snapshots are of nothing but their header
    shutter buffer=9000 sets=32
    run -1 --separate-stderr cf-capture-snapshot --device sock -t -e break:here -o s.cf -- "$W" l 100
    has 'its buffer is full after' "$stderr"
    [ "$(count snapshot)" -ge 1 ]
    has "after $(count snapshot) snapshots" "$stderr"
}

@test "a buffer that has no room for one is refused before anything runs, and how much it takes is told" {
    shutter buffer=90000 # lines: 49152
    run -3 --separate-stderr cf-capture-snapshot --device sock -r -p 5ms -o s.cf -- touch ran
    has 'a snapshot may take 147648 bytes, and its buffer has 90000: load the module with a size of that or more, or leave --resolve out' "$stderr"
    [[ ! -e ran && ! -e s.cf ]]
    shutter buffer=90000
    run -0 cf-capture-snapshot --device sock -p 5ms -o s.cf -- sh -c "$once"
}

@test "lines: their owners are mappings of the programs, at their time" {
    root
    shutter sets=8192
    run -5 cf-capture-snapshot --device sock -o s.cf -e signal -m -r -- "$W" m 5 notes
    rows line s.cf >lines.csv
    rows map s.cf >maps.csv
    [ "$(wc -l <lines.csv)" -gt 500 ]
    # every address lies in a mapping of its process; each snapshot brings the new one
    run -0 bash -c "cf-resolve -q s.cf | cf-cat --csv --table line | awk -F, '
        NR == 1 { for (i = 1; i <= NF; i++) if (\$i == \"region\") r = i; next }
        { n[\$1]++; if (r && \$r == \"\") none++ } END { print (none > NR / 100); print (n[5] > n[1]) }'"
    is '0
1'
    [ "$(grep -c ',map,' maps.csv)" -ge 10 ]
}

@test "mappings: rows only of what has changed" {
    run -5 snap -e signal -m -- "$W" m 4 notes
    # at the second snapshot and later only the mapping grows that is new
    run -0 bash -c "cf-cat --csv --table map s.cf | tail -n +2 | cut -d, -f1 | uniq -c | awk 'NR > 1 && \$1 > 4'"
    is ''
    run -5 snap -t -e signal -m -- "$W" m 4 notes
    [ "$(rows map s.cf | tail -n +2 | cut -d, -f1 | uniq | wc -l)" -ge 4 ]
}

@test "mappings that a process and its child have both had since the last snapshot are rows of both" {
    run -5 snap -e stop -m -- "$W" g 0
    [ "$(rows map s.cf | grep ',map,0x10000000,0x10001000,' | cut -d, -f2 | sort -u | wc -l)" = 2 ]
}

@test "a program whose main thread has ended: its mappings, and it stands still as others do" {
    calm 5 -p 3ms -m -- "$W" e 5 notes
    rows map s.cf | grep -q ',map,0x10000000,0x10001000,'
    rows map s.cf | grep -q '/work,build-id:'
    calm 5 -e break:here -n 3 -- "$W" e 3 notes
    [ "$(count snapshot)" = 3 ]
}

@test "mappings that may not be read are told" {
    [ "$(id -u)" = 0 ] || skip "root may give its rights up"
    cat >secret.c <<'END'
#include <signal.h>
#include <sys/prctl.h>
int main(void) { prctl(PR_SET_DUMPABLE, 0); return raise(SIGSTOP); }
END
    cc -o secret secret.c
    chmod 777 .
    shutter
    chmod 777 sock
    run -0 --separate-stderr setpriv --reuid 65534 --clear-groups "$(command -v cf-capture-snapshot)" \
        -q --device sock --own-priority none -m -e stop -o s.cf -- ./secret
    has "--maps: mappings of programs are missing, which could not be read: Permission denied" "$stderr"
    shutter
    rm -f s.cf
    run -0 --separate-stderr cf-capture-snapshot -q --device sock --own-priority none -m -e stop -o s.cf -- ./secret
    [ -z "$stderr" ] || fail "$stderr"
}

@test "mappings: the build is that of the file which the process has by that name" {
    unshare -rm true || skip "no namespaces of users"
    mkdir -p root/bin root/old
    touch notes # what is open there is in all namespaces
    cc -O1 -static -pthread -Wl,--build-id=0xc0ffee -o root/bin/true "$D/work.c"
    [[ -e /bin/true ]] # ours is another
    run -5 snap -e signal -m -- unshare -rm sh -c 'mount --bind root root && cd root && PATH=$PATH:/sbin pivot_root . old && exec /bin/true m 1' <notes
    rows map s.cf | grep -q ',/bin/true,build-id:c0ffee$'
    ! rows map s.cf | grep '/bin/true' | grep -v 'build-id:c0ffee$' || false
    # nor is another root another file
    run -5 snap -e signal -m -- unshare -r --root=root /bin/true m 1 <notes
    rows map s.cf | grep -q '/root/bin/true,build-id:c0ffee$'
}

@test "mappings: the build, too, where snapshots are read after the program has ended; none of another file" {
    cc -O1 -pthread -Wl,--build-id=0xc0ffee -o own "$D/work.c"
    run -5 snap -t -e signal -m -- ./own m 1 notes
    rows map s.cf | grep -q '/own,build-id:c0ffee$'
    ! rows map s.cf | grep '/own' | grep -v 'build-id:c0ffee$' || false
    run -5 snap -t -e signal -m -- ./own m 1 notes -- sh -c 'until grep -q ^client notes; do sleep .01; done; cp own other && mv other own'
    rows map s.cf | grep -q '/own,unknown$'
    ! rows map s.cf | grep '/own' | grep -v ',unknown$' || false
}

@test "a delay before the first" {
    run -5 snap -d 60ms -p 1ms -n 2 -- "$W" u 2 notes
    run -0 bash -c "cf-cat --csv --table snapshot s.cf | sed -n 2p | cut -d, -f2"
    [ "$output" -ge 60000000 ]
}

@test "to a pipe: the programs' output goes elsewhere; their standard input is their own" {
    shutter
    echo 3 | cf-capture-snapshot --device sock -p 2ms --command-output said -- \
        sh -c "read n; $W u 2 notes >/dev/null; echo \"<\$n>\"" >s.cf
    [ "$(cat said)" = '<3>' ]
    [ "$(count snapshot)" -ge 2 ]
    shutter
    cf-capture-snapshot -q --own-priority none --device sock -- sh -c "echo to stderr; $once" >s.cf 2>err
    [ "$(cat err)" = 'to stderr' ]
}

@test "several programs: the status is that of the first that fails; no program: the machine" {
    run -5 snap -- true -- "$W" t 1 -- false
    run -0 snap -- true -- sh -c "$once"
    run -0 snap -a -n 3 -p 2ms
    [ "$(count snapshot)" = 3 ]
    run -127 cf-capture-snapshot --device none -- true -- no-such-program
    run -126 cf-capture-snapshot --device none -- "$T"
}

@test "SIGTERM: the programs get it, the stream ends well, we die of it" {
    shutter
    local pid status=0
    cf-capture-snapshot --device sock -p 5ms -o s.cf -- sh -c 'echo $$ >pid; exec sleep 600' 3>&- &
    pid=$!
    eventually noted 5
    eventually test -s pid
    kill -TERM $pid
    wait $pid || status=$?
    [ "$status" = 143 ]
    [ "$(count snapshot)" -ge 5 ]
    cf-cat --verify s.cf
    gone "$(cat pid)"
}

@test "when the reader goes away the program runs on" {
    shutter
    run -0 bash -c "cf-capture-snapshot --device sock ${own[*]} -p 2ms --command-output said -- sh -c 'until test -e gone; do sleep 0.01; done; sleep 0.1; echo end' 2>err | { head -c 10 >/dev/null; exec <&-; touch gone; }; cat err"
    is ''
    [ "$(cat said)" = end ]
}

@test "a signal that was ignored stays ignored, for the program too" {
    shutter
    run -0 env --ignore-signal=INT,TERM,PIPE cf-capture-snapshot --device sock "${own[@]}" -o s.cf -p 5ms -- \
        sh -c 'kill -INT $$ $PPID; kill -TERM $$ $PPID; kill -PIPE $$; '"$once"'; echo on'
    is on
    cf-cat --verify s.cf
}

@test "the header tells the commands as a shell would read them" {
    shutter
    run -0 cf-capture-snapshot --device sock -o s.cf -- sh -c "$once" -- true 'a b'
    run -0 cf-cat --info s.cf
    has "command: \"sh -c '$once' -- true 'a b'\""
}

@test "the stand-in can be called as soon as its name is there" {
    strace -qq -o trace -e trace=listen -e inject=listen:delay_enter=300000 \
        fake_shutter sock notes >/dev/null 2>&1 3>&- &
    SHUTTER=$!
    eventually test -S sock
    run -0 cf-capture-snapshot --device sock --probe
}

@test "killed in the middle, it leaves no program stopped" {
    local capture
    shutter late=300
    cf-capture-snapshot --device sock -p 2ms -o s.cf -- sh -c 'echo $$ >pid; exec sleep 600' 3>&- &
    capture=$!
    eventually test -s pid
    # A snapshot takes far longer than what lies between two.
    eventually is_state T "$(cat pid)"
    kill -KILL $capture
    eventually is_state S "$(cat pid)"
    kill "$(cat pid)"
}

@test "killed in the middle, with or without its process group, it leaves no descendant stopped that survives" {
    local capture whom
    for whom in '' -; do
        shutter late=300
        rm -f pid child orphan
        setsid cf-capture-snapshot --device sock -p 2ms -o s.cf -- \
            sh -c 'sh -c "echo \$\$ >child; exec sleep 600" & (setsid sh -c "echo \$\$ >orphan; exec sleep 600" &)
                until test -s child -a -s orphan; do sleep 0.01; done; echo $$ >pid; exec sleep 600' 3>&- &
        capture=$!
        eventually test -s pid
        eventually is_state T "$(cat child)"
        eventually is_state T "$(cat orphan)"
        kill -KILL -- "$whom$capture"
        eventually is_state S "$(cat orphan)"
        [[ -n $whom ]] || eventually is_state S "$(cat child)"
        kill "$(cat orphan)" $([[ -n $whom ]] || cat child pid)
    done
}

@test "killed before the programs have begun, which wait for their output: nothing of it stays" {
    local capture guard child
    shutter
    mkfifo output
    cf-capture-snapshot --device sock --command-output output -o s.cf -- sleep 600 3>&- &
    capture=$!
    eventually pgrep -P "$capture" -x sleep
    child=$(pgrep -P "$capture" -x sleep)
    # of its name, its folder, and a session of its own
    for guard in $(pgrep -x cf-capture-snap); do
        [[ $(ps -o sid= -p "$guard") -ne $guard || $(readlink "/proc/$guard/cwd") != "$PWD" ]] || break
    done
    [[ $guard != "$capture" && $(readlink "/proc/$guard/cwd") == "$PWD" ]]
    kill -KILL $capture
    eventually gone "$guard"
    kill -KILL "$child"
}

@test "killed while traps stand in programs, it takes them along, as its manual says" {
    local capture
    shutter
    cf-capture-snapshot --device sock -e break:nothing -o s.cf -- sh -c 'echo $$ >pid; exec sleep 600' 3>&- &
    capture=$!
    eventually test -s pid
    kill -KILL $capture
    eventually gone "$(cat pid)"
}

@test "a Shutter that is not there, of another version, or lies: status and a message" {
    run -3 --separate-stderr cf-capture-snapshot --device none -o s.cf -- true
    has 'none: No such file' "$stderr"
    run -3 cf-capture-snapshot --device none --probe
    has 'load the kernel module'
    shutter
    run -0 cf-capture-snapshot --device sock --probe
    is 'ready: fake'
    shutter abi=9
    run -3 --separate-stderr cf-capture-snapshot --device sock -o s.cf -- true
    has 'version 9' "$stderr"
    local wrong
    for wrong in magic size set owner; do
        # of lines, which are those of page frames that only root may read
        [[ $(id -u) == 0 || $wrong =~ ^(magic|size)$ ]] || continue
        shutter wrong=$wrong
        run -1 --separate-stderr cf-capture-snapshot --device sock -r -e break:here -o s.cf -- "$W" l 3
        has 'sock: snapshot 1' "$stderr"
    done
    shutter
    run -3 --separate-stderr cf-capture-snapshot --device sock --cache l1d -o s.cf -- true
    has 'cannot read it' "$stderr"
}

@test "of a cache that each CPU has, which one it is has to be said" {
    local own args
    own=$(taskset -cp $$ | sed 's/.*[ ,-]//')
    for args in "" "--cache l2:$own" "--own-cpu $own"; do
        shutter private=1
        # shellcheck disable=SC2086 # words
        run -5 --separate-stderr cf-capture-snapshot --device sock -q $args -e break:here -o s.cf -- "$W" l 3
        if [[ $args ]]; then has_not '--cache' "$stderr"; else has '--cache: each CPU has its own' "$stderr"; fi
    done
}

@test "no snapshot, or fewer than --count: told, and an older file stays" {
    snap -- sh -c "$once"
    cp s.cf old.cf
    printf '#!/nonexistent\n' >bad
    chmod +x bad
    local options
    for options in '-p 600s' '-d 600s' '-e signal' '-e break:_exit_never'; do
        # shellcheck disable=SC2086 # two words
        run -1 --separate-stderr snap -q $options -- true
        has 'no snapshot was taken: the programs ended before one was due' "$stderr"
        has 's.cf: not written: nothing was recorded' "$stderr"
    done
    run -126 --separate-stderr snap -e signal -- ./bad
    has 's.cf: not written: nothing was recorded' "$stderr"
    cmp s.cf old.cf
    run -5 --separate-stderr snap -e stop -n 9 -- "$W" s 6
    has 'the programs ended after 6 of the 9 snapshots of --count' "$stderr"
    # a pipe may carry none
    shutter
    run -1 bash -c 'cf-capture-snapshot --device sock -e signal -- true >none.cf'
    cf-cat --verify none.cf
}

@test "what is missing is told with -q, too" {
    shutter late=20 wrong=room
    run -0 --separate-stderr cf-capture-snapshot -q -ar -p 1ms -n 3 --device sock -o s.cf
    has ' snapshots fell due while one was being taken and were left out' "$stderr"
    has "21 owners of lines had no room in the Shutter's buffer" "$stderr"
}

@test "physical addresses are for the owner alone, as the device is; a file that is there keeps its mode" {
    snap -- sh -c "$once"
    [[ $(stat -c %a s.cf) == 600 ]]
    chmod 640 s.cf
    snap -- sh -c "$once"
    [[ $(stat -c %a s.cf) == 640 ]]
    run -0 cf-cat --verify s.cf
}

@test "wrong usage: status 2" {
    run -2 cf-capture-snapshot --device none
    run -2 cf-capture-snapshot -- true --
    run -2 cf-capture-snapshot -- true -- -- true
    run -2 cf-capture-snapshot -p 0 -- true
    run -2 cf-capture-snapshot -p 5min -- true
    run -2 cf-capture-snapshot -e sometimes -- true
    run -2 cf-capture-snapshot -e write:x:3 -- true
    run -2 cf-capture-snapshot -e break: -- true
    run -2 cf-capture-snapshot -s fifo:0 -- true
    run -2 cf-capture-snapshot -s idle -- true
    run -2 cf-capture-snapshot -c 0,1 -- true
    run -2 cf-capture-snapshot -a -e break:main -- true
    run -2 cf-capture-snapshot --cache l3 -- true
    run -2 cf-capture-snapshot --own-cpu 1024 -- true
    run -2 cf-capture-snapshot --cache l2:1024 -- true
    run -2 cf-capture-snapshot --owners first -- true
    has '--owners: lines have none without --resolve'
    run -2 cf-capture-snapshot -t --thrash 4 -- true
    has '--thrash: with --transparent the cache is left alone'
    run -2 cf-capture-snapshot -am -n 1
    has '--maps: is of programs, and none is given'
    run -3 cf-capture-snapshot -e write:a -e write:b -e write:c -e write:d -e write:e -- true
}
