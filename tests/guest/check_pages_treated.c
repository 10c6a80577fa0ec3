// SPDX-License-Identifier: BSD-2-Clause
/*
 * Pages that pagectl.ko has treated are what was asked for, nothing else has changed, and all is as
 * it was after whatever ends it.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/guest/check_pages.h"

/* pages_info FRAMES: what is here, and a pool of that many frames */
void check_pages_info(int argc, char **argv)
{
    MUST(argc == 1, "pages_info FRAMES");
    struct pagectl_info info = pages_info(pages_open());
    uint64_t frames = (uint64_t)atoll(argv[0]);
    uint32_t policies = 1;

    for (uint32_t i = 0; pages_policy(i); i++)
        policies |= 1u << pages_policy(i);
    MUST(info.abi == PAGECTL_ABI && info.page_size == PAGE && info.version[0], "abi %u", info.abi);
    MUST(info.policies == policies, "policies 0x%x and not 0x%x", info.policies, policies);
    MUST(info.moves == (frames ? PAGECTL_MOVES_KERNEL : 0u) && info.pool_pages == frames &&
             info.pool_free == frames && !info.pool_phys == !frames,
         "moves %u, %llu of %llu frames", info.moves, (unsigned long long)info.pool_free,
         (unsigned long long)info.pool_pages);
    MUST(!info.reserved[0] && !info.reserved[1], "reserved is not 0");
    note("version %s, policies 0x%x", info.version, info.policies);
}

/* Bits that the processor or the kernel sets when a page is used: accessed, dirty. */
#ifdef __x86_64__
#define USED UINT64_C(0x60)
#else
#define USED (UINT64_C(1) << 10 | UINT64_C(1) << 55 | UINT64_C(1) << 7)
#endif

/* Sets every third page from there on; those between are as before, and all are after RESTORE. */
static void treat(int device, pid_t pid, uint64_t address, uint32_t policy)
{
    struct pagectl_pages list = {.policy = policy}, query;
    struct pagetab before[VICTIM_PAGES];

    for (uint32_t i = 0; i < VICTIM_PAGES; i++)
        before[i] = pages_look(pid, address + i * PAGE);
    /* Backwards, and one twice. */
    for (uint32_t i = VICTIM_PAGES; i-- > 0;)
        if (i % 3 == 0)
            list.page[list.count++].addr = address + i * PAGE;
    list.page[list.count] = list.page[0];
    list.count++;
    MUST(pages_request(device, PAGECTL_SET, &list) == 0 && list.failed == 0, "SET: %u failed",
         list.failed);
    for (uint32_t i = 0; i < VICTIM_PAGES; i++)
        pages_are(pid, address + i * PAGE, 1, i % 3 ? PAGECTL_CACHED : policy, i % 3 == 0);
    query = list;
    query.policy = 0;
    MUST(pages_request(device, PAGECTL_QUERY, &query) == 0 && query.failed == 0, "QUERY");
    for (uint32_t i = 0; i < list.count; i++) {
        struct pagetab look = pages_look(pid, list.page[i].addr);

        MUST(list.page[i].policy == policy && query.page[i].policy == policy &&
                 !list.page[i].pool && !list.page[i].result,
             "page %u: policy %u, %u", i, list.page[i].policy, query.page[i].policy);
        MUST(list.page[i].frame == query.page[i].frame &&
                 list.page[i].frame == (look.entry >> 12 & 0xfffffffff),
             "page %u: frame 0x%llx", i, (unsigned long long)list.page[i].frame);
    }
    pages_restore(device);
    for (uint32_t i = 0; i < VICTIM_PAGES; i++) {
        struct pagetab look = pages_look(pid, address + i * PAGE);

        MUST(((look.entry ^ before[i].entry) & ~USED) == 0 && look.pins < 1024,
             "page %u was 0x%llx (%lld references) and is 0x%llx (%lld)", i,
             (unsigned long long)before[i].entry, (long long)before[i].pins,
             (unsigned long long)look.entry, (long long)look.pins);
    }
}

static uint64_t add_one(uint64_t value)
{
    return value + 1;
}

/* pages_set: memory of each kind, of each policy */
void check_pages_set(int argc, char **argv)
{
    (void)argc, (void)argv;
    struct victim v = victim_make();
    int device = pages_attach(&v);
    uint64_t code = (uint64_t)(uintptr_t)add_one;

    victim_ask(&v, VICTIM_FILL, v.anon, VICTIM_PAGES, 1);
    victim_ask(&v, VICTIM_FILL, v.shared, VICTIM_PAGES, 2);
    victim_ask(&v, VICTIM_FILL, v.data, VICTIM_PAGES, 3);
    for (uint32_t i = 0; i < VICTIM_PAGES; i++) /* faults the file in */
        victim_ask(&v, VICTIM_VERIFY, v.text + i * PAGE, 1, 4);
    for (uint32_t i = 0; pages_policy(i); i++) {
        treat(device, v.pid, v.anon, pages_policy(i));
        treat(device, v.pid, v.shared, pages_policy(i));
        treat(device, v.pid, v.data, pages_policy(i));
        treat(device, v.pid, v.text, pages_policy(i));
        /* It runs from there. */
        pages_do(device, PAGECTL_SET, code & ~(uint64_t)(PAGE - 1), 1, pages_policy(i));
        MUST(victim_ask(&v, VICTIM_CALL, code, 0, 41) == 42, "code does not run");
        pages_restore(device);
    }
    MUST(victim_ask(&v, VICTIM_VERIFY, v.anon, VICTIM_PAGES, 1) == 0 &&
             victim_ask(&v, VICTIM_VERIFY, v.shared, VICTIM_PAGES, 2) == 0 &&
             victim_ask(&v, VICTIM_VERIFY, v.data, VICTIM_PAGES, 3) == 0,
         "data was lost");
    victim_end(&v);
}

/* pages_fault: pages that nobody has touched are faulted in, and stay when they are written to */
void check_pages_fault(int argc, char **argv)
{
    (void)argc, (void)argv;
    struct victim v = victim_make();
    int device = pages_attach(&v);
    uint32_t policy = pages_policy(0);
    struct pagectl_pages *list = pages_do(device, PAGECTL_QUERY, v.anon, VICTIM_PAGES, 0);

    for (uint32_t i = 0; i < VICTIM_PAGES; i++)
        MUST(list->page[i].frame == 0, "page %u is there already", i);
    pages_do(device, PAGECTL_SET, v.anon, VICTIM_PAGES, policy);
    pages_do(device, PAGECTL_SET, v.data, VICTIM_PAGES, policy);
    victim_ask(&v, VICTIM_FILL, v.anon, VICTIM_PAGES, 1);
    victim_ask(&v, VICTIM_FILL, v.data, VICTIM_PAGES, 2);
    pages_are(v.pid, v.anon, VICTIM_PAGES, policy, true);
    pages_are(v.pid, v.data, VICTIM_PAGES, policy, true);
    /* Cached ones are pinned as well. */
    pages_do(device, PAGECTL_SET, v.anon, VICTIM_PAGES, PAGECTL_CACHED);
    pages_are(v.pid, v.anon, VICTIM_PAGES, PAGECTL_CACHED, true);
    pages_restore(device);
    pages_are(v.pid, v.anon, VICTIM_PAGES, PAGECTL_CACHED, false);
    pages_are(v.pid, v.data, VICTIM_PAGES, PAGECTL_CACHED, false);
    MUST(victim_ask(&v, VICTIM_VERIFY, v.anon, VICTIM_PAGES, 1) == 0, "data was lost");
    victim_end(&v);
}

/* Writes to the process by the kernel's own mapping of its memory. */
static void write_other(pid_t pid, uint64_t to, uint64_t pages, uint64_t value)
{
    static uint64_t words[PAGE / sizeof(uint64_t)];
    struct iovec from = {words, sizeof words}, into;

    for (uint64_t i = 0; i < pages; i++) {
        for (size_t k = 0; k < PAGE / sizeof *words; k++)
            words[k] = value + i;
        into = (struct iovec){(void *)(uintptr_t)(to + i * PAGE), PAGE};
        MUST(process_vm_writev(pid, &from, 1, &into, 1, 0) == PAGE, "process_vm_writev: %s",
             strerror(errno));
    }
}

/* pages_data ROUNDS: what is written by one attribute is there by the other */
void check_pages_data(int argc, char **argv)
{
    MUST(argc == 1, "pages_data ROUNDS");
    struct victim v = victim_make();
    int device = pages_attach(&v), rounds = atoi(argv[0]);
    uint64_t areas[] = {v.anon, v.shared, v.data}, seed = 1;

    for (int round = 0; round < rounds; round++)
        for (uint32_t i = 0; i < 3; i++) {
            uint64_t at = areas[i];

            victim_ask(&v, VICTIM_FILL, at, VICTIM_PAGES, ++seed);
            for (uint32_t p = 0; pages_policy(p); p++) {
                pages_do(device, PAGECTL_SET, at, VICTIM_PAGES, pages_policy(p));
                MUST(!victim_ask(&v, VICTIM_VERIFY, at, VICTIM_PAGES, seed), "lost by SET");
                victim_ask(&v, VICTIM_FILL, at, VICTIM_PAGES, ++seed);
            }
            if (round % 2)
                pages_restore(device);
            else
                pages_do(device, PAGECTL_SET, at, VICTIM_PAGES, PAGECTL_CACHED);
            MUST(!victim_ask(&v, VICTIM_VERIFY, at, VICTIM_PAGES, seed), "lost by %s",
                 round % 2 ? "RESTORE" : "SET cached");
            pages_restore(device);
            write_other(v.pid, at, 2, seed);
            pages_do(device, PAGECTL_SET, at, VICTIM_PAGES, pages_policy(0));
            MUST(victim_ask(&v, VICTIM_VERIFY, at + 2 * PAGE, 1, seed) > 0, "pages are mixed up");
        }
    note("%d rounds", rounds);
    victim_end(&v);
}

/* ---- a process that does not stand still ---- */

#define BUSY 2u
static volatile uint64_t *busy_words;
static volatile bool busy_stop;

static void *count_up(void *arg)
{
    uintptr_t thread = (uintptr_t)arg;
    uint64_t rounds = 0;

    for (; !busy_stop; rounds++)
        for (uint32_t page = 0; page < VICTIM_PAGES; page++)
            busy_words[page * PAGE / 8 + thread]++;
    return (void *)(uintptr_t)rounds;
}

static void on_stop(int signal)
{
    (void)signal;
    busy_stop = true;
}

static void be_busy(uint64_t memory, int ready)
{
    pthread_t threads[BUSY];

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGUSR1, on_stop);
    busy_words = (volatile uint64_t *)(uintptr_t)memory;
    for (uintptr_t i = 0; i < BUSY; i++)
        if (pthread_create(&threads[i], NULL, count_up, (void *)i))
            _exit(10);
    if (write(ready, "", 1) != 1)
        _exit(12);
    for (uintptr_t i = 0; i < BUSY; i++) {
        void *rounds;

        while (!busy_stop)
            pause();
        pthread_join(threads[i], &rounds);
        for (uint32_t page = 0; page < VICTIM_PAGES; page++)
            if (busy_words[page * PAGE / 8 + i] != (uintptr_t)rounds)
                _exit(11);
    }
    _exit(0);
}

/* pages_busy ROUNDS: of what threads count while their pages are treated, nothing is lost */
void check_pages_busy(int argc, char **argv)
{
    MUST(argc == 1, "pages_busy ROUNDS");
    void *memory =
        /* cppcheck-suppress invalidFunctionArg */
        mmap(NULL, VICTIM_PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct victim v = {.anon = (uint64_t)(uintptr_t)memory};
    int rounds = atoi(argv[0]), status, ready[2];
    uint32_t moved = 0;
    char byte;

    MUST(pipe(ready) == 0, "pipe: %s", strerror(errno));
    v.pid = fork();
    if (v.pid == 0)
        be_busy(v.anon, ready[1]);
    MUST(read(ready[0], &byte, 1) == 1, "no threads"); /* which are mappings, too */
    int device = pages_attach(&v);
    bool pool = pages_info(device).pool_pages >= VICTIM_PAGES;

    for (int i = 0; i < rounds; i++) {
        pages_do(device, PAGECTL_SET, v.anon, VICTIM_PAGES, pages_policy(0));
        if (pool && i % 4 == 0)
            moved += pages_do(device, PAGECTL_MIGRATE, v.anon, VICTIM_PAGES, 0)->count;
        if (i % 2)
            pages_restore(device);
        else
            pages_do(device, PAGECTL_SET, v.anon, VICTIM_PAGES, PAGECTL_CACHED);
    }
    kill(v.pid, SIGUSR1);
    waitpid(v.pid, &status, 0);
    MUST(status == 0, "the process ended with 0x%x", status);
    note("%d rounds, %u pages moved", rounds, moved);
}

/* ---- what happens to pages that are treated ---- */

/* pages_change: the process unmaps, moves, protects, discards and copies them */
void check_pages_change(int argc, char **argv)
{
    (void)argc, (void)argv;
    struct victim v = victim_make();
    int device = pages_attach(&v);
    uint32_t policy = pages_policy(0);
    uint64_t moved = v.guard;

    victim_ask(&v, VICTIM_FILL, v.anon, VICTIM_PAGES, 1);
    pages_do(device, PAGECTL_SET, v.anon, VICTIM_PAGES, policy);
    pages_do(device, PAGECTL_SET, v.text, VICTIM_PAGES, policy);
    pages_do(device, PAGECTL_SET, v.shared, VICTIM_PAGES, policy);

    pid_t child = (pid_t)victim_ask(&v, VICTIM_FORK, 0, 0, 0);

    pages_are(v.pid, v.anon, VICTIM_PAGES, PAGECTL_CACHED, false);
    pages_are(child, v.anon, VICTIM_PAGES, PAGECTL_CACHED, false);
    kill(child, SIGKILL);
    /* Its pages are its own again when it is gone, or by the copy that SET asks for. */
    pages_do(device, PAGECTL_SET, v.anon, VICTIM_PAGES, policy);
    MUST(victim_ask(&v, VICTIM_MOVE, v.anon + 8 * PAGE, 8, moved) == 0, "mremap");
    pages_are(v.pid, moved, 8, PAGECTL_CACHED, false);
    pages_are(v.pid, v.anon, 8, policy, true);
    MUST(pages_expect(device, v.pid) == 0, "EXPECT");
    pages_do(device, PAGECTL_SET, moved, 8, policy);
    MUST(victim_ask(&v, VICTIM_READONLY, moved, 4, 0) == 0, "mprotect");
    pages_are(v.pid, moved, 4, PAGECTL_CACHED, false);
    pages_are(v.pid, moved + 4 * PAGE, 4, policy, true);
    MUST(victim_ask(&v, VICTIM_UNMAP, moved, 8, 0) == 0, "munmap");
    MUST(victim_ask(&v, VICTIM_DISCARD, v.anon, 4, 0) == 0, "madvise");
    victim_ask(&v, VICTIM_FILL, v.anon, 4, 5);
    pages_are(v.pid, v.anon, 4, PAGECTL_CACHED, false);
    pages_are(v.pid, v.anon + 4 * PAGE, 4, policy, true);
    pages_restore(device);
    pages_are(v.pid, v.anon, 8, PAGECTL_CACHED, false);
    victim_end(&v);
}

/* pages_end: close, another target, exit and death of either */
void check_pages_end(int argc, char **argv)
{
    (void)argc, (void)argv;
    struct victim v = victim_make(), w = victim_make();
    struct pagectl_target target = {.pid = v.pid};
    uint32_t policy = pages_policy(0), n = VICTIM_PAGES;
    int device = pages_attach(&v), other = pages_open(), ready[2];
    struct pagectl_pages one = {.count = 0};
    char byte;

    pages_do(device, PAGECTL_SET, v.anon, n, policy);
    MUST(ioctl(other, PAGECTL_TARGET, &target) < 0 && errno == EBUSY, "two have one process");
    close(device);
    pages_are(v.pid, v.anon, n, PAGECTL_CACHED, false);
    pages_target(other, v.pid);
    close(other);

    device = pages_attach(&v);
    pages_do(device, PAGECTL_SET, v.anon, n, policy);
    pages_target(device, w.pid);
    pages_are(v.pid, v.anon, n, PAGECTL_CACHED, false);
    MUST(pages_expect(device, w.pid) == 0, "EXPECT");
    pages_do(device, PAGECTL_SET, w.anon, n, policy);
    pages_target(device, 0);
    pages_are(w.pid, w.anon, n, PAGECTL_CACHED, false);

    /* Who treats it is killed. */
    MUST(pipe(ready) == 0, "pipe");
    pid_t child = fork();

    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        pages_do(pages_attach(&v), PAGECTL_SET, v.anon, n, policy);
        if (write(ready[1], "", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    MUST(read(ready[0], &byte, 1) == 1, "read");
    pages_are(v.pid, v.anon, n, policy, true);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    pages_are(v.pid, v.anon, n, PAGECTL_CACHED, false);

    /* It ends itself, and is killed. */
    device = pages_attach(&v);
    pages_do(device, PAGECTL_SET, v.anon, n, policy);
    pages_do(device, PAGECTL_SET, v.text, n, policy);
    victim_ask(&v, VICTIM_EXIT, 0, 0, 0);
    waitpid(v.pid, NULL, 0);
    MUST(pages_request(device, PAGECTL_QUERY, &one) == ESRCH, "a process that has ended is there");
    MUST(ioctl(device, PAGECTL_RESTORE) < 0 && errno == ESRCH, "RESTORE of one that has ended");
    pages_target(device, w.pid);
    MUST(pages_expect(device, w.pid) == 0, "EXPECT");
    pages_do(device, PAGECTL_SET, w.anon, n, policy);
    pages_do(device, PAGECTL_SET, w.text, n, policy);
    kill(w.pid, SIGKILL);
    waitpid(w.pid, NULL, 0);
    MUST(pages_request(device, PAGECTL_QUERY, &one) == ESRCH, "a process that was killed is there");
    /* The file's pages live on in its cache: those of the next who maps it are not held. */
    struct victim next = victim_make();

    victim_ask(&next, VICTIM_VERIFY, next.text, 1, 0);
    pages_are(next.pid, next.text, 1, PAGECTL_CACHED, false);
    victim_end(&next);
    close(device);
}

/* pages_unload: refused while somebody has the device, and then nothing has changed */
void check_pages_unload(int argc, char **argv)
{
    (void)argc, (void)argv;
    struct victim v = victim_make();
    int device = pages_attach(&v);

    pages_do(device, PAGECTL_SET, v.anon, VICTIM_PAGES, pages_policy(0));
    MUST(syscall(SYS_delete_module, "pagectl", O_NONBLOCK) < 0 && errno == EAGAIN,
         "unloading with an open descriptor: %s", strerror(errno));
    pages_are(v.pid, v.anon, VICTIM_PAGES, pages_policy(0), true);
    close(device);
    pages_are(v.pid, v.anon, VICTIM_PAGES, PAGECTL_CACHED, false);
    MUST(syscall(SYS_delete_module, "pagectl", O_NONBLOCK) == 0, "unloading: %s", strerror(errno));
    MUST(access(PAGECTL_DEVICE, F_OK) < 0, "the device stays");
    victim_end(&v);
}
