/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs whose call paths are known; the first argument names one. Where a path is reached,
 * `mark_NAME` is stored to, by a function that has no other purpose: so the stores to it are those
 * of one path. Each also allocates memory wherever it goes, so that its stack is unwound.
 *
 *     recursion   a function that calls itself, and two that call each other
 *     pointers    functions called by others' pointers: qsort, a table, a virtual function
 *     longjmp     out of five frames, twice
 *     exception   thrown through five frames and caught, rethrown and caught again
 *     tail        a jump in place of a call
 *     threads     four at a time
 *     fork        a child of a child, in the middle of calls
 *     signal      handlers: on the same stack, on one of its own, left by siglongjmp, in a handler
 *     coroutine   two stacks that switch to each other
 *     pool        coroutines one after the other on one stack: some end, some are given up
 *     plugin      a library that is loaded and unloaded twice
 */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <stdexcept>

#define KEPT __attribute__((noinline, noclone))

static void *volatile block;

static KEPT void use(volatile long *mark)
{
    (*mark)++;
    block = malloc(24);
    free(block);
}

#define MARK(name) volatile long mark_##name

#ifdef PLUGIN

extern "C" {
MARK(plugin);
KEPT void plugged(void);
KEPT void plugged(void)
{
    use(&mark_plugin);
}
}

#else

extern "C" {
MARK(direct);
MARK(inner);
MARK(even);
MARK(sorted);
MARK(table);
MARK(method);
MARK(landed);
MARK(thrown);
MARK(caught);
MARK(again);
MARK(tail);
MARK(worker);
MARK(child);
MARK(grandchild);
MARK(parent);
MARK(handler);
MARK(alternate);
MARK(nested);
MARK(left);
MARK(after);
MARK(coroutine);
MARK(resumer);
MARK(task);

KEPT long self(int n)
{
    if (n == 0)
        use(&mark_inner);
    long sum = n > 0 ? self(n - 1) + 1 : 0;

    use(&mark_direct);
    return sum;
}

KEPT long odd(int n);
KEPT long even(int n)
{
    use(&mark_even);
    return n > 0 ? odd(n - 1) + 1 : 0;
}

KEPT long odd(int n)
{
    return n > 0 ? even(n - 1) + 1 : 0;
}

static int compare(const void *a, const void *b)
{
    use(&mark_sorted);
    return *(const int *)a - *(const int *)b;
}

KEPT void from_table(void)
{
    use(&mark_table);
}

static void (*volatile chosen)(void) = from_table;

static jmp_buf out;

KEPT void deep(int n)
{
    if (n == 0)
        longjmp(out, 1);
    block = malloc(16);
    if (block)
        deep(n - 1);
    use(&mark_direct);
}

KEPT void land(void)
{
    if (!setjmp(out))
        deep(5);
    use(&mark_landed);
}

KEPT void thrower(int n)
{
    use(&mark_thrown);
    if (n == 0)
        throw std::runtime_error("deep");
    thrower(n - 1);
    use(&mark_direct);
}

KEPT void catcher(void)
{
    try {
        thrower(5);
    } catch (const std::exception &) {
        use(&mark_caught);
        throw;
    }
}

KEPT void outer(void)
{
    try {
        catcher();
    } catch (const std::exception &) {
        use(&mark_again);
    }
    use(&mark_again);
}

KEPT void at_end(void)
{
    use(&mark_tail);
}

/* Jumps where its compiler would call. */
__asm__(".globl jumper\n.type jumper, @function\njumper:\n"
#if defined(__x86_64__)
        "jmp at_end\n"
#else
        "b at_end\n"
#endif
        ".size jumper, . - jumper\n");
void jumper(void);

KEPT void work(void)
{
    use(&mark_worker);
}

static void *worker(void *)
{
    for (int i = 0; i < 50; i++)
        work();
    self(3);
    return NULL;
}

static void threads(void)
{
    pthread_t t[4];

    for (pthread_t &one : t)
        pthread_create(&one, NULL, worker, NULL);
    for (pthread_t one : t)
        pthread_join(one, NULL);
}

KEPT void in_child(void)
{
    use(&mark_child);
    if (fork() == 0) {
        use(&mark_grandchild);
        self(3);
        _exit(0);
    }
    wait(NULL);
    self(2);
}

KEPT void forks(void)
{
    if (fork() == 0) {
        in_child();
        use(&mark_child);
        _exit(0);
    }
    use(&mark_parent);
    wait(NULL);
    self(2);
}

static sigjmp_buf away;

static void on_signal(int)
{
    use(&mark_handler);
}

static void on_alternate(int)
{
    use(&mark_alternate);
    raise(SIGUSR1);
    use(&mark_nested);
}

static void on_left(int)
{
    use(&mark_left);
    siglongjmp(away, 1);
}

static void handle(int number, void (*handler)(int), int flags)
{
    struct sigaction action;

    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = flags;
    sigaction(number, &action, NULL);
}

KEPT void interrupted(void)
{
    raise(SIGUSR1);
    raise(SIGUSR2);
    if (!sigsetjmp(away, 1))
        raise(SIGTERM);
    use(&mark_after);
}

static void signals(void)
{
    stack_t own = {};

    own.ss_size = 1 << 16;
    own.ss_sp = malloc(own.ss_size);
    sigaltstack(&own, NULL);
    handle(SIGUSR1, on_signal, 0);
    handle(SIGUSR2, on_alternate, SA_ONSTACK);
    handle(SIGTERM, on_left, SA_ONSTACK);
    interrupted();
    interrupted();
}

static ucontext_t here, there;

KEPT void yield(void)
{
    use(&mark_coroutine);
    swapcontext(&there, &here);
    use(&mark_coroutine);
}

static void coroutine(void)
{
    yield();
    yield();
}

KEPT void resume(void)
{
    swapcontext(&here, &there);
    use(&mark_resumer);
}

static void coroutines(void)
{
    getcontext(&there);
    there.uc_stack.ss_size = 1 << 16;
    there.uc_stack.ss_sp = malloc(there.uc_stack.ss_size);
    there.uc_link = &here;
    makecontext(&there, coroutine, 0);
    for (int i = 0; i < 3; i++)
        resume();
}

static KEPT void task(void)
{
    use(&mark_task);
    swapcontext(&there, &here); /* every second one is not resumed */
}

static KEPT void start(int end)
{
    static char stack[1 << 16];

    getcontext(&there);
    there.uc_stack.ss_size = sizeof(stack);
    there.uc_stack.ss_sp = stack;
    there.uc_link = &here;
    makecontext(&there, task, 0);
    swapcontext(&here, &there);
    if (end)
        swapcontext(&here, &there);
}

KEPT void parse(void)
{
    for (int i = 0; i < 4; i++)
        start(i % 2);
    use(&mark_resumer);
}

KEPT void render(void)
{
    for (int i = 0; i < 4; i++)
        start(i % 2);
    use(&mark_resumer);
}

KEPT void plugins(void)
{
    for (int i = 0; i < 2; i++) {
        void *library = dlopen("./plugin.so", RTLD_NOW);
        void (*run)(void) = library ? (void (*)(void))dlsym(library, "plugged") : NULL;

        if (!run)
            exit(1);
        for (int k = 0; k < 20; k++)
            run();
        dlclose(library);
    }
}
}

struct shape {
    virtual ~shape() {}
    virtual void draw() = 0;
};
struct circle : shape {
    KEPT void draw() override
    {
        use(&mark_method);
    }
};

static KEPT void pointers(shape *s)
{
    int numbers[20];

    for (int i = 0; i < 20; i++)
        numbers[i] = i * 7919 % 20;
    qsort(numbers, 20, sizeof *numbers, compare);
    chosen();
    s->draw();
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    circle c;

    if (!strcmp(mode, "recursion")) {
        self(10);
        self(3);
        even(7);
    } else if (!strcmp(mode, "pointers")) {
        pointers(&c);
    } else if (!strcmp(mode, "longjmp")) {
        land();
        land();
        self(5);
    } else if (!strcmp(mode, "exception")) {
        outer();
        outer();
    } else if (!strcmp(mode, "tail")) {
        jumper();
    } else if (!strcmp(mode, "threads")) {
        threads();
    } else if (!strcmp(mode, "fork")) {
        forks();
        self(20);
    } else if (!strcmp(mode, "signal")) {
        signals();
    } else if (!strcmp(mode, "coroutine")) {
        coroutines();
    } else if (!strcmp(mode, "pool")) {
        parse();
        render();
        parse();
    } else if (!strcmp(mode, "plugin")) {
        plugins();
    } else {
        return 2;
    }
    return 0;
}

#endif
