/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shim.h - private to libcf-alloc.so, which runs inside the program. Nothing here calls what is
 * interposed, takes a lock of the C library, or waits without a limit; errno stays as it was.
 */
#ifndef CF_ALLOC_SHIM_H
#define CF_ALLOC_SHIM_H

#include <stddef.h>
#include <stdint.h>

#include "shared.h"

/* What is interposed, in a section of its own: see shim_walk.c. */
#define SHIM_EXPORT      __attribute__((visibility("default"), section("shim_calls")))
#define SHIM_LIKELY(x)   __builtin_expect(!!(x), 1)
#define SHIM_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* A frame: where it goes on, the stack pointer then, and the frame pointer. */
struct shim_frame {
    uintptr_t pc, sp, fp;
};

/* The caller of the function in which it stands, which must keep a frame pointer. */
#define SHIM_CALLER                                                                                \
    ((struct shim_frame){(uintptr_t)__builtin_return_address(0), (uintptr_t)__builtin_dwarf_cfa(), \
                         *(const uintptr_t *)__builtin_frame_address(0)})

/* How to go on from a frame to its caller: where the frame ends (CFA). */
enum shim_step {
    SHIM_BY_SP = 1, /* at an offset from the stack pointer, */
    SHIM_BY_FP,     /* or from the frame pointer */
    SHIM_BY_SLOT,   /* that stands in memory, at an offset from the frame pointer */
    SHIM_BY_CHAIN,  /* no unwind information: as code does that keeps frame pointers */
    SHIM_END,       /* there is no caller, or nothing says how */
};

struct shim_rule {
    enum shim_step step;
    int32_t end;       /* offset of the frame's end */
    int32_t ra, fp;    /* offsets from there, of return address and frame pointer */
    unsigned fp_saved; /* or it is as it was; 2: its offset is from the frame pointer */
};

/* shim_cfi.c: by the unwind information of the code before `pc`. */
struct shim_rule shim_cfi_rule(uintptr_t pc);

/* shim_rules.c: the same in a word, remembered. */
enum {
    SHIM_RULE_WAYS = 2,
    SHIM_RULE_SETS = 4096,
    SHIM_STEP_BITS = 3,
    SHIM_SAVED_BITS = 2,
    SHIM_OFFSET_BITS = 13, /* of ra and fp, in words */
    SHIM_END_BITS = 64 - SHIM_STEP_BITS - SHIM_SAVED_BITS - 2 * SHIM_OFFSET_BITS,
};

struct shim_way {
    uint64_t key, rule; /* both 0: free */
};

extern struct shim_way shim_ways[SHIM_RULE_SETS][SHIM_RULE_WAYS];
extern uint32_t shim_code_age; /* counts what follows */
uint64_t shim_rule_new(uintptr_t pc);
void shim_rules_forget(void); /* code has been unmapped */

static inline struct shim_way *shim_set(uintptr_t pc)
{
    return shim_ways[(pc * 0x9e3779b97f4a7c15ULL >> 40) % SHIM_RULE_SETS];
}

static inline uint64_t shim_rule(uintptr_t pc)
{
    const struct shim_way *set = shim_set(pc);

    for (unsigned i = 0; i < SHIM_RULE_WAYS; i++) {
        const uint64_t rule = __atomic_load_n(&set[i].rule, __ATOMIC_RELAXED);

        if (SHIM_LIKELY((__atomic_load_n(&set[i].key, __ATOMIC_RELAXED) ^ rule) == pc))
            return rule;
    }
    return shim_rule_new(pc);
}

static inline enum shim_step shim_step(uint64_t rule)
{
    return (enum shim_step)(rule & ((1 << SHIM_STEP_BITS) - 1));
}

static inline unsigned shim_fp_saved(uint64_t rule)
{
    return (unsigned)(rule >> SHIM_STEP_BITS) & ((1 << SHIM_SAVED_BITS) - 1);
}

/* Offsets in bytes. */
static inline intptr_t shim_ra(uint64_t rule)
{
    const unsigned before = SHIM_STEP_BITS + SHIM_SAVED_BITS;

    return ((int64_t)(rule << (64 - before - SHIM_OFFSET_BITS)) >> (64 - SHIM_OFFSET_BITS)) * 8;
}

static inline intptr_t shim_fp(uint64_t rule)
{
    return ((int64_t)(rule << SHIM_END_BITS) >> (64 - SHIM_OFFSET_BITS)) * 8;
}

static inline intptr_t shim_end(uint64_t rule)
{
    return (int64_t)rule >> (64 - SHIM_END_BITS);
}

enum { SHIM_PAGES = 16 };

/* A stack, with the places that it was read from. */
struct shim_chain {
    uint32_t count;
    uint32_t ended; /* the last frame has no caller, else more were not looked at */
    struct shim_frame frame[CFA_DEPTH_MOST + 1];
    const uintptr_t *ra_at[CFA_DEPTH_MOST + 1]; /* pc of frame[i + 1] */
    const uintptr_t *fp_at[CFA_DEPTH_MOST + 1]; /* and its fp; NULL: that of frame[i] */
    const uintptr_t *sp_at[CFA_DEPTH_MOST + 1]; /* and its sp; NULL: it follows from frame[i] */
    uint32_t slots;                             /* such an sp came from memory */
};

/* The last stack of a thread, and room for the next. */
struct shim_walker {
    uint32_t now, age;
    uint32_t within; /* the frames before were of one interposed function that called another */
    struct shim_chain chain[2];
    uintptr_t page[SHIM_PAGES]; /* that can be read */
};

/* shim_walk.c: takes in the stack from `from` on, `depth` frames at most, 1 if it is as it was. */
int shim_walk(struct shim_walker *w, const struct shim_frame *from, uint32_t depth);

/* A signal handler may allocate as often, or one less, between an allocation and the one around
   it. */
enum { SHIM_LAST = 16 };

struct shim_thread {
    uint32_t generation; /* the process for which `ring` is */
    uint32_t busy;       /* amidst a record */
    struct cfa_ring *ring;
    uint64_t *words;
    uint64_t head, tail, mask;
    uint32_t calls;              /* allocations that came, */
    uint32_t releases;           /* and releases */
    const void *last[SHIM_LAST]; /* allocations: number n at n % SHIM_LAST */
    const void *last_released;
    const void *inner;     /* the last allocation that came from within another */
    const void *releasing; /* a release that has been recorded is about to be done */
    /* By operator new, as long as it runs, which asks malloc for up to `asked_more` bytes more. */
    size_t asked, asked_more;
    uint32_t retry; /* records until it looks for a ring again */
    uint32_t lossy; /* it has waited in vain */
    uint32_t stack; /* the last one's number */
    struct shim_walker walker;
};

struct shim_stacks;

/* What is of one process: zero in a child of fork() (MADV_WIPEONFORK), which so begins anew. */
struct shim_process {
    uint32_t generation; /* its pid, once it is set up */
    uint32_t setting_up;
    uint32_t off; /* it is not recorded */
    uint32_t stacks_lock;
    struct shim_stacks *stacks;
    struct cfa_process *place;
    uint32_t number; /* of the place */
    uint32_t stack_count;
};

extern __thread struct shim_thread shim_thread __attribute__((tls_model("initial-exec")));
extern struct shim_process *shim_process;
extern struct cfa_header *shim_shared; /* NULL: nobody records */

/* shim_calls.c: whether the program has an allocator of its own, which nobody can stand before. */
int shim_own_malloc(void);

/* shim_process.c: places for the process and the thread; 0 where there is none. */
int shim_ready(struct shim_thread *t);
/* Makes room for so many words; 0: there is none, and that is counted. */
int shim_wait(struct shim_thread *t, uint32_t words);

/* shim_stacks.c: number of the thread's stack, 0 if it cannot be kept. */
uint32_t shim_stack_number(struct shim_thread *t);

/* shim_record.c: what has happened. */
void shim_allocated(const void *p, size_t bytes, const struct shim_frame *from);
void shim_released(const void *p);
/* Before and after a reallocation of `old`, which gave p. */
struct shim_move {
    uint64_t time, head;
    uint32_t calls, releases;
};
struct shim_move shim_before_move(void);
void shim_moved(const struct shim_move *m, const void *old, const void *p, size_t bytes,
                const struct shim_frame *from);

/* Whether an allocation within this one, which began when `calls` of them had come, gave p too, so
   that it is recorded. */
static inline int shim_known(uint32_t calls, const void *p)
{
    struct shim_thread *t = &shim_thread;
    int known;

    if (SHIM_LIKELY(t->calls == calls))
        return 0;
    /* The last, but where a signal handler has allocated since. */
    known = t->inner == p;
    for (uint32_t n = t->calls; !known && n != calls && t->calls - n < SHIM_LAST; n--)
        known = t->last[(n - 1) % SHIM_LAST] == p;
    t->inner = NULL;
    return known;
}

static inline int shim_room(struct shim_thread *t, uint32_t words)
{
    return SHIM_LIKELY(t->head + words - t->tail <= t->mask + 1) || shim_wait(t, words);
}

static inline void shim_put(const struct shim_thread *t, uint32_t at, uint64_t word)
{
    t->words[(t->head + at) & t->mask] = word;
}

static inline void shim_commit(struct shim_thread *t, uint32_t words)
{
    t->head += words;
    __atomic_store_n(&t->ring->head, t->head, __ATOMIC_RELEASE);
}

uint64_t shim_now(void);

#endif
