/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugin_blocks.c - blocks of words on their way to the reader, and turns.
 *
 * Threads of the emulated program take turns, as they would on one processor: the one whose turn
 * it is runs for QUANTUM translation blocks, or until it makes a system call. So the order in
 * which words are queued is the order in which things happened. Where the emulator itself stops
 * all threads, a thread that waits for its turn would stop it in turn: then the turn is taken
 * from one that makes no progress. Words of two threads never share a block, so that this costs
 * a little order and nothing else.
 *
 * Memory: the shared memory, of which only the blocks in use are ever touched.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "plugin.h"

enum {
    QUANTUM = 20000,
    STEAL_MS = 5,
    LIVE_MS = 100, /* a part of a block goes out that often where there are system calls */
    PATIENCE_MS = 500,
    YIELDS = 100,
};

struct cfq_shared *cfq_shared;
struct slot cfq_slots[CFQ_SLOTS] __attribute__((aligned(64)));
volatile uint32_t cfq_owner; /* slot + 1 */

static pthread_mutex_t *lock;
static volatile uint32_t waiters;   /* of turns */
static volatile uint32_t entered;   /* slots that run */
static volatile pid_t owner_thread; /* the emulator may run several processors in one */
static struct cfq_block *early;     /* descriptions */
static uint64_t sequence;
static int recording;
/* Where words go that nobody wants; threads that all do so may run a little over its end. */
static uint8_t nowhere[CFQ_BLOCK_BYTES + CFQ_SLOTS * 16] __attribute__((aligned(64)));
static struct cfq_block *const sink = (void *)nowhere;
static __thread pid_t thread_id;

static long futex(volatile uint32_t *word, int op, uint32_t value, long ms)
{
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

    return syscall(SYS_futex, word, op, value, ms ? &t : NULL, NULL, 0);
}

static uint64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static pid_t this_thread(void)
{
    if (!thread_id)
        thread_id = (pid_t)syscall(SYS_gettid);
    return thread_id;
}

/* ---- the queue; with the lock held ---- */

static int stopped(void)
{
    return !recording || __atomic_load_n(&cfq_shared->stop, __ATOMIC_ACQUIRE);
}

/* Whoever reads may be gone without a word. */
static void wait_for_reader(uint32_t head)
{
    __atomic_store_n(&cfq_shared->waiting, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&cfq_shared->head, __ATOMIC_SEQ_CST) == head)
        futex(&cfq_shared->head, FUTEX_WAIT, head, PATIENCE_MS);
    if (kill((pid_t)cfq_shared->reader, 0) != 0)
        __atomic_store_n(&cfq_shared->stop, 1, __ATOMIC_SEQ_CST);
}

static void queue(struct cfq_block *b, int last)
{
    uint32_t tail = cfq_shared->tail, head;
    struct cfq_entry *e = &cfq_shared->queue[tail % CFQ_QUEUE];

    while (tail - (head = __atomic_load_n(&cfq_shared->head, __ATOMIC_ACQUIRE)) >= CFQ_PENDING) {
        if (stopped())
            return;
        wait_for_reader(head);
    }
    if (last)
        __atomic_store_n(&b->state, CFQ_QUEUED, __ATOMIC_RELAXED);
    e->block =
        (uint32_t)(((uint8_t *)b - (uint8_t *)cfq_shared - CFQ_SHARED_HEADER) / CFQ_BLOCK_BYTES);
    e->from = b->from;
    e->to = b->used;
    e->last = (uint32_t)last;
    b->from = b->used;
    __atomic_store_n(&cfq_shared->tail, tail + 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&cfq_shared->idle, __ATOMIC_SEQ_CST))
        futex(&cfq_shared->tail, FUTEX_WAKE, 1, 0);
}

/* A free block, or NULL: then the words are lost. */
static struct cfq_block *take_block(void)
{
    for (;;) {
        uint32_t head = __atomic_load_n(&cfq_shared->head, __ATOMIC_ACQUIRE);

        for (uint32_t i = 0; i < CFQ_BLOCKS; i++) {
            struct cfq_block *b = cfq_block(cfq_shared, i);

            if (__atomic_load_n(&b->state, __ATOMIC_ACQUIRE) != CFQ_FREE)
                continue;
            b->used = b->from = 0;
            b->sequence = ++sequence;
            __atomic_store_n(&b->state, CFQ_FILLING, __ATOMIC_RELEASE);
            return b;
        }
        if (stopped() || head == cfq_shared->tail) {
            cfq_shared->lost++;
            return NULL;
        }
        wait_for_reader(head);
    }
}

static void queue_early(void)
{
    if (early && early->used > early->from)
        queue(early, 0);
}

/* Queues what a slot has written; descriptions go first. */
static void queue_slot(struct slot *s, int last)
{
    struct cfq_block *b = s->block;

    if (!b || b == sink)
        return;
    queue_early();
    if (last || b->used > b->from)
        queue(b, last);
    s->queued_ms = now_ms();
}

/* ---- turns ---- */

static void get_block(struct slot *s, unsigned vcpu)
{
    queue_slot(s, 1);
    s->block = stopped() ? NULL : take_block();
    if (!s->block) {
        s->block = sink;
        sink->used = 0;
        return;
    }
    s->block->pid = cfq_system ? 1 : (uint32_t)getpid();
    s->block->tid = cfq_system ? vcpu + 1 : (uint32_t)this_thread();
    s->block->cpu = cfq_system ? vcpu : 0;
}

static void acquire(unsigned vcpu)
{
    const uint32_t mine = vcpu + 1;
    uint32_t seen = 0, used = 0;
    uint64_t block = 0;

    __atomic_add_fetch(&waiters, 1, __ATOMIC_SEQ_CST);
    for (;;) {
        uint32_t owner = __atomic_load_n(&cfq_owner, __ATOMIC_SEQ_CST);
        const struct cfq_block *b = owner ? cfq_slots[owner - 1].block : NULL;

        /* Nobody's; our own thread's, which runs another processor now; or of one that stands. */
        if ((owner == 0 || owner == mine || owner_thread == this_thread() ||
             (owner == seen && b && b->used == used && b->sequence == block)) &&
            __atomic_compare_exchange_n(&cfq_owner, &owner, mine, 0, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST))
            break;
        if (owner == 0)
            continue;
        seen = owner;
        used = b ? b->used : 0;
        block = b ? b->sequence : 0;
        futex(&cfq_owner, FUTEX_WAIT, owner, STEAL_MS);
        if (stopped())
            break;
    }
    __atomic_sub_fetch(&waiters, 1, __ATOMIC_SEQ_CST);
    owner_thread = this_thread();
}

static void release(unsigned vcpu)
{
    uint32_t mine = vcpu + 1;

    if (__atomic_compare_exchange_n(&cfq_owner, &mine, 0, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST) &&
        waiters)
        futex(&cfq_owner, FUTEX_WAKE, 1, 0);
}

void cfq_take_turn(unsigned vcpu)
{
    struct slot *s = &cfq_slots[vcpu];

    if (!s->entered) {
        s->entered = 1;
        __atomic_add_fetch(&entered, 1, __ATOMIC_SEQ_CST);
    }
    if (stopped()) {
        s->block = sink;
        sink->used = 0;
        s->turns = INT64_MAX;
        if (cfq_owner != vcpu + 1 && entered == 1)
            cfq_owner = vcpu + 1;
        return;
    }
    if (cfq_owner == vcpu + 1 && s->turns < 0 && waiters && owner_thread == this_thread()) {
        pthread_mutex_lock(lock);
        queue_slot(s, 0);
        pthread_mutex_unlock(lock);
        release(vcpu);
        for (int i = 0; i < YIELDS && cfq_owner == 0; i++)
            sched_yield();
    }
    if (cfq_owner != vcpu + 1) {
        uint32_t before = cfq_owner;

        /* Another processor in this thread: what it wrote comes before what we shall write. */
        if (before && owner_thread == this_thread()) {
            pthread_mutex_lock(lock);
            queue_slot(&cfq_slots[before - 1], 0);
            pthread_mutex_unlock(lock);
        }
        acquire(vcpu);
    }
    s->turns = QUANTUM;
    if (!s->block || s->block == sink || s->block->used > CFQ_WORDS - CFQ_ROOM) {
        pthread_mutex_lock(lock);
        get_block(s, vcpu);
        pthread_mutex_unlock(lock);
    }
}

void cfq_give_turn(unsigned vcpu)
{
    struct slot *s = &cfq_slots[vcpu];

    if (stopped() || (entered < 2 && now_ms() - s->queued_ms < LIVE_MS))
        return;
    pthread_mutex_lock(lock);
    queue_slot(s, 0);
    pthread_mutex_unlock(lock);
    if (entered > 1)
        release(vcpu);
}

void cfq_leave(unsigned vcpu)
{
    struct slot *s = &cfq_slots[vcpu];
    const struct cf_wire_task exits = {.tid = s->block ? s->block->tid : 0,
                                       .kind = CF_WIRE_TASK_EXIT};

    if (!s->entered || !recording)
        return;
    cfq_put(s, vcpu, CF_WIRE_TASK, &exits, sizeof(exits), "");
    pthread_mutex_lock(lock);
    queue_slot(s, 1);
    pthread_mutex_unlock(lock);
    s->block = sink;
    s->turns = 0;
    s->entered = 0;
    __atomic_sub_fetch(&entered, 1, __ATOMIC_SEQ_CST);
    release(vcpu);
}

/* ---- writing beside executions ---- */

void cfq_more_room(struct slot *s, unsigned vcpu)
{
    if (s->block == sink) {
        sink->used = 0;
        return;
    }
    pthread_mutex_lock(lock);
    get_block(s, vcpu);
    pthread_mutex_unlock(lock);
    cfq_words(s->block)[0] = CF_WIRE_LISTED(s->execution) | CF_WIRE_RESUMED;
    __atomic_store_n(&s->block->used, 1, __ATOMIC_RELEASE);
}

/* With the lock held: the block of what is no thread's, with room for so many words, or NULL. */
static struct cfq_block *early_block(uint32_t words)
{
    if (stopped())
        return NULL;
    if (early && early->used + words > CFQ_WORDS) {
        queue(early, 1);
        early = NULL;
    }
    if (!early && (early = take_block()) != NULL) {
        early->pid = cfq_system ? 1 : (uint32_t)getpid();
        early->tid = 0;
    }
    return early;
}

int cfq_put(struct slot *s, unsigned vcpu, enum cf_wire_event type, const void *event, size_t bytes,
            const char *name)
{
    const uint32_t words = (uint32_t)((bytes + strlen(name) + 7) / sizeof(uint64_t));
    const struct cf_wire_event_header header = {type, words * (uint32_t)sizeof(uint64_t)};
    struct cfq_block *b;

    pthread_mutex_lock(lock);
    if (s && s->block && s->block != sink && s->block->used + words > CFQ_WORDS)
        get_block(s, vcpu);
    b = !s ? early_block(words) : s->block == sink ? NULL : s->block;
    if (b) {
        uint64_t *w = cfq_words(b) + b->used;

        w[words - 1] = 0;
        memcpy(w, event, bytes);
        memcpy(w, &header, sizeof(header));
        memcpy((uint8_t *)w + bytes, name, strlen(name));
        __atomic_store_n(&b->used, b->used + words, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(lock);
    return b ? 0 : -1;
}

void cfq_blind(void)
{
    if (!stopped())
        __atomic_fetch_add(&cfq_shared->blind, 1, __ATOMIC_RELAXED);
}

/* ---- processes ---- */

void cfq_left(int begun)
{
    if (!stopped())
        __atomic_store_n(&cfq_shared->left, begun, __ATOMIC_RELAXED);
}

static void before_fork(void)
{
    pthread_mutex_lock(lock);
}

static void in_parent(void)
{
    pthread_mutex_unlock(lock);
}

/* A child is not recorded: its words go nowhere, and it must not touch what the parent uses. */
static void in_child(void)
{
    static pthread_mutex_t own;

    if (!cfq_system && !__atomic_load_n(&cfq_shared->stop, __ATOMIC_ACQUIRE))
        __atomic_fetch_add(&cfq_shared->forked, 1, __ATOMIC_RELAXED);
    lock = &own;
    pthread_mutex_init(lock, NULL); /* a child of a child has it locked, by before_fork() */
    recording = 0;
    thread_id = 0;
    for (unsigned i = 0; i < CFQ_SLOTS; i++) {
        cfq_slots[i].block = sink;
        cfq_slots[i].turns = 0;
    }
    waiters = 0;
    entered = 1;
}

int cfq_blocks_open(int descriptor)
{
    pthread_mutexattr_t shared;
    struct stat st;
    void *p;

    if (descriptor < 0 || fstat(descriptor, &st) != 0 || st.st_size != CFQ_SHARED_BYTES)
        return -1;
    p = mmap(NULL, CFQ_SHARED_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    close(descriptor); /* the program must not see it */
    if (p == MAP_FAILED)
        return -1;
    cfq_shared = p;
    if (cfq_shared->magic != CFQ_MAGIC || cfq_shared->version != CF_WIRE_VERSION)
        return -1;
    _Static_assert(sizeof(*lock) <= CFQ_PRIVATE, "the lock finds its place");
    lock = (void *)cfq_shared->lock;
    if (pthread_mutexattr_init(&shared) != 0 || pthread_mutex_init(lock, &shared) != 0)
        return -1;
    for (unsigned i = 0; i < CFQ_SLOTS; i++)
        cfq_slots[i].block = sink;
    recording = 1;
    return pthread_atfork(before_fork, in_parent, in_child);
}
