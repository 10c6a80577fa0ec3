/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Heap blocks as the program itself knows them: what each thread obtains and releases between its
 * first block and the release of that, in order, as lines "PID TID alloc|free ADDRESS BYTES". Of
 * exceptions it knows where they are: "PID TID within ADDRESS 0".
 *
 *     functions  each function of C and C++ that allocates, and how they fail
 *     throws     operator new that throws, whose new-handler allocates, releases and jumps away
 *     signals    a timer's handler, on a stack of its own above this one, interrupts allocations
 *     threads    four threads, which release and reallocate each other's blocks
 *     family     a child by fork, and what it turns into by exec
 */
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include <malloc.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

namespace
{

enum { THREADS = 4, EVENTS = 20000, ROUNDS = 600, FIRST = 4242 };

struct event {
    char kind;
    void *addr;
    size_t bytes;
};

struct journal {
    long tid;
    size_t n;
    event events[EVENTS];
} journals[THREADS];

__thread journal *mine;
void *volatile kept;
char *volatile huge = (char *)(SIZE_MAX / 4); /* bytes; no compiler knows how many */
jmp_buf out;
alignas(64) char place[64];

void note(char kind, void *addr, size_t bytes)
{
    if (mine->n == EVENTS)
        abort();
    mine->events[mine->n++] = {kind, addr, bytes};
}

void *got(void *p, size_t bytes)
{
    kept = p;
    if (p)
        note('a', p, bytes);
    return p;
}

/* Before the block is released. */
void *gone(void *p, size_t bytes)
{
    note('f', p, bytes);
    return p;
}

void *changed(void *p, size_t bytes, void *q, size_t now)
{
    kept = q;
    if (!q && now)
        return p;
    gone(p, bytes);
    return got(q, now);
}

void begin(journal *j)
{
    mine = j;
    j->tid = syscall(SYS_gettid);
    got(malloc(FIRST), FIRST);
    kept = j->events[0].addr;
}

void end()
{
    free(gone(mine->events[0].addr, FIRST));
}

void put(const journal *j)
{
    static char line[128];

    for (size_t i = 0; i < j->n; i++) {
        const event *e = &j->events[i];
        int n = snprintf(line, sizeof line, "%d %ld %s %#lx %zu\n", (int)getpid(), j->tid,
                         e->kind == 'a'   ? "alloc"
                         : e->kind == 'f' ? "free"
                                          : "within",
                         (unsigned long)(uintptr_t)e->addr, e->bytes);

        if (write(STDOUT_FILENO, line, (size_t)n) != n)
            exit(1);
    }
}

struct plain {
    long n[5];
};
struct alignas(128) aligned {
    char c[128];
};
struct counted { /* an array of it has its length before it, and the operator is asked for both */
    int n;
    ~counted()
    {
        kept = this;
    }
};

void c_functions()
{
    void *p = got(malloc(1001), 1001), *q = got(calloc(3, 700), 2100);

    p = changed(p, 1001, realloc(p, 90000), 90000);
    p = changed(p, 90000, realloc(p, 80000), 80000);
    p = changed(p, 80000, realloc(p, 5000000), 5000000); /* mapped on its own */
    p = changed(p, 5000000, realloc(p, 9000000), 9000000);
    p = changed(p, 9000000, realloc(p, (size_t)huge), (size_t)huge);
    free(gone(p, 9000000));
    q = changed(q, 2100, reallocarray(q, 30, 11), 330);
    q = changed(q, 330, reallocarray(q, (size_t)huge, 11), (size_t)huge);
    p = got(realloc(NULL, 77), 77);
    kept = malloc((size_t)huge);
    kept = calloc((size_t)huge, 16);
    free(NULL);
    free(gone(q, 330));
    q = changed(p, 77, realloc(p, 0), 0);
    if (q)
        free(gone(q, 0));
    free(gone(got(malloc(0), 0), 0));
    free(gone(got(memalign(256, 300), 300), 300));
    free(gone(got(aligned_alloc(64, 640), 640), 640));
    free(gone(got(valloc(123), 123), 123));
    if (posix_memalign(&p, 1024, 333) == 0)
        free(gone(got(p, 333), 333));
    p = place;
    if (posix_memalign(&p, 1024, (size_t)huge) == 0 || posix_memalign(&p, 3, 10) == 0)
        abort();
    free(gone(got(malloc(3000000), 3000000), 3000000));
}

void operators()
{
    plain *p = new plain;
    char *c;
    counted *many;
    aligned *a;

    got(p, sizeof *p);
    c = new char[555];
    got(c, 555);
    gone(p, sizeof *p);
    delete p;
    gone(c, 555);
    delete[] c;
    many = new counted[7];
    got((char *)many - sizeof(size_t), 7 * sizeof *many + sizeof(size_t));
    gone((char *)many - sizeof(size_t), 7 * sizeof *many + sizeof(size_t));
    delete[] many;
    a = new aligned;
    got(a, sizeof *a);
    gone(a, sizeof *a);
    delete a;
    a = new (std::nothrow) aligned[3];
    got(a, 3 * sizeof *a);
    gone(a, 3 * sizeof *a);
    delete[] a;
    p = new (std::nothrow) plain;
    got(p, sizeof *p);
    gone(p, sizeof *p);
    operator delete(p, std::nothrow);
    kept = new (std::nothrow) char[(size_t)huge];
    kept = new (place) plain; /* allocates nothing, in a function of nearly that name */
    p = (plain *)operator new(99);
    got(p, 99);
    gone(p, 99);
    operator delete(p, (size_t)99);
}

void *reserve;

void on_user_signal(int)
{
    got(malloc(31), 31);
}

/* What it obtains is a block of its own, although operator new has not returned. */
void spare()
{
    free(gone(reserve, 100));
    got(malloc(222), 222);
    raise(SIGUSR1);
    std::set_new_handler(NULL);
}

void jump()
{
    longjmp(out, 1);
}

void throws()
{
    for (int i = 0; i < 3; i++) {
        reserve = got(malloc(100), 100);
        std::set_new_handler(spare);
        try {
            kept = new char[(size_t)huge];
        } catch (const std::bad_alloc &e) {
            note('w', (void *)&e, 0);
        }
        std::set_new_handler(jump);
        if (!setjmp(out))
            kept = operator new((size_t)huge);
        /* at the same place of the stack as what never returned */
        for (volatile size_t n = 0; n < 2; n++) {
            char *volatile c = NULL;

            std::set_new_handler(NULL);
            try {
                c = new char[n ? 50 : (size_t)huge];
                got(c, 50);
            } catch (const std::bad_alloc &e) {
                note('w', (void *)&e, 0);
            }
            if (c)
                gone(c, 50);
            delete[] c;
        }
    }
}

volatile int handled, sunk;

__attribute__((noinline)) void deeper(int n)
{
    if (n > 0)
        deeper(n - 1);
    sunk = sunk + 1;
}

void on_timer(int)
{
    deeper(5);
    handled = handled + 1;
}

/* Allocations below a stack for signals that stands in this one. */
__attribute__((noinline)) void allocate(int rounds)
{
    void *p[20];

    for (int r = 0; r < rounds; r++) {
        for (size_t i = 0; i < 20; i++)
            p[i] = got(malloc(100 + 1000 * i), 100 + 1000 * i);
        for (size_t i = 0; i < 20; i++)
            free(gone(p[i], 100 + 1000 * i));
    }
}

__attribute__((noinline)) void signals(int rounds, int sig, void (*handler)(int))
{
    char stack[65536];
    stack_t alt = {};
    struct sigaction act = {};
    struct itimerval every = {{0, 500}, {0, 500}}, never = {};

    alt.ss_sp = stack;
    alt.ss_size = sizeof stack;
    sigaltstack(&alt, NULL);
    act.sa_handler = handler;
    act.sa_flags = SA_ONSTACK | SA_RESTART;
    sigaction(sig, &act, NULL);
    if (sig == SIGALRM) {
        setitimer(ITIMER_REAL, &every, NULL);
        allocate(rounds);
        setitimer(ITIMER_REAL, &never, NULL);
    } else {
        throws();
    }
    kept = stack;
    alt.ss_flags = SS_DISABLE;
    sigaltstack(&alt, NULL);
}

struct {
    void *addr;
    size_t bytes;
} shelf[THREADS];
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_barrier_t all;

void *work(void *p)
{
    const size_t me = (size_t)(uintptr_t)p;
    unsigned state = (unsigned)me + 1;

    pthread_barrier_wait(&all);
    begin(&journals[me]);
    for (int i = 0; i < ROUNDS; i++) {
        size_t bytes, old;
        void *q, *taken;

        state = state * 1103515245 + 12345;
        bytes = 1 + (state >> 16) % 3000;
        q = i % 3 ? malloc(bytes) : operator new(bytes);
        got(q, bytes);
        pthread_mutex_lock(&lock);
        taken = shelf[(state >> 8) % THREADS].addr;
        old = shelf[(state >> 8) % THREADS].bytes;
        shelf[(state >> 8) % THREADS].addr = q;
        shelf[(state >> 8) % THREADS].bytes = bytes;
        pthread_mutex_unlock(&lock);
        if (taken && i % 4 == 0) {
            taken = changed(taken, old, realloc(taken, old / 2 + 2000), old / 2 + 2000);
            old = old / 2 + 2000;
        }
        if (taken)
            free(gone(taken, old));
        if (i % 50 == 0)
            sched_yield();
    }
    end();
    return NULL;
}

int threads()
{
    pthread_t t[THREADS];

    pthread_barrier_init(&all, NULL, THREADS);
    for (size_t i = 0; i < THREADS; i++)
        if (pthread_create(&t[i], NULL, work, (void *)(uintptr_t)i) != 0)
            return 1;
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    for (size_t i = 0; i < THREADS; i++)
        put(&journals[i]);
    return 0;
}

int family(const char *self)
{
    pid_t child;
    int status = 1;

    begin(&journals[0]);
    c_functions();
    child = fork();
    if (child == 0) {
        journals[1] = journals[0]; /* what it had it has */
        begin(&journals[2]);
        operators();
        end();
        put(&journals[2]);
        execl(self, self, "functions", (char *)NULL);
        _exit(1);
    }
    operators();
    end();
    waitpid(child, &status, 0);
    put(&journals[0]);
    return status != 0;
}

} // namespace

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";

    if (!strcmp(what, "threads"))
        return threads();
    if (!strcmp(what, "family"))
        return family(argv[0]);
    begin(&journals[0]);
    if (!strcmp(what, "functions")) {
        c_functions();
        operators();
    } else if (!strcmp(what, "throws")) {
        signals(0, SIGUSR1, on_user_signal);
    } else if (!strcmp(what, "signals")) {
        signals(300, SIGALRM, on_timer);
    } else {
        return 2;
    }
    end();
    put(&journals[0]);
    return 0;
}
