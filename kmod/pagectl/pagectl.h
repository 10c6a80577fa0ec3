/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR BSD-2-Clause */
/*
 * What the kernel module pagectl.ko and the programs that use it agree on: /dev/pagectl and its
 * ioctls. Described for users in pagectl(4).
 *
 * The module does what the kernel side of BBProf does (Ghaemi et al., "Governing with Insights:
 * Towards Profile-driven Cache Management of Black-Box Applications", section 5): it makes single
 * pages of a process cacheable or not, and moves them to a pool of reserved memory.
 *
 * Everything is in the byte order of the machine that runs the module. There are no pointers and
 * no padding that is not named; a structure is the same for 32-bit and 64-bit programs. Fields
 * called `reserved` are 0 when the module writes them and must be 0 when it reads them.
 *
 * Order of use: open, PAGECTL_INFO, PAGECTL_TARGET, PAGECTL_EXPECT with the mappings of the
 * process, then PAGECTL_SET, PAGECTL_MIGRATE and PAGECTL_QUERY in any order. The process has to
 * stand still meanwhile (ptrace, SIGSTOP): the caller's business. PAGECTL_RESTORE, another
 * PAGECTL_TARGET, closing the descriptor and the end of the process undo what was done.
 */
#ifndef PAGECTL_H
#define PAGECTL_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define PAGECTL_DEVICE "/dev/pagectl"
#define PAGECTL_ABI    1 /* changes when anything below changes its meaning or place */

/* How a page is cached. What the module offers is in pagectl_info.policies. */
enum pagectl_policy {
    PAGECTL_CACHED = 0,          /* as the kernel maps it: write-back */
    PAGECTL_NONCACHEABLE = 1,    /* normal memory, non-cacheable (arm64) */
    PAGECTL_UNCACHED = 2,        /* uncached, UC by the PAT (x86) */
    PAGECTL_WRITE_COMBINING = 3, /* write-combining, WC by the PAT (x86) */
    PAGECTL_OTHER = 15           /* only from PAGECTL_QUERY: none of these */
};

#define PAGECTL_MOVES_KERNEL 1u /* pages move by the kernel's own migration */
#define PAGECTL_MOVES_COPY   2u /* by copy and remap, of anonymous pages: no module does so far */

/* PAGECTL_INFO: what is here. Never fails but with EFAULT. */
struct pagectl_info {
    __u32 abi;        /* PAGECTL_ABI of the module: look at this first */
    __u32 page_size;  /* bytes */
    char version[16]; /* of the module, zero-terminated */
    __u32 policies;   /* bit 1 << enum pagectl_policy of each that SET takes */
    __u32 moves;      /* PAGECTL_MOVES_*; 0: no pool */
    __u64 pool_phys;  /* physical address of the pool */
    __u64 pool_pages; /* pages of the pool */
    __u64 pool_free;  /* of them, not lent to a process, nor lost until RESTORE has them back */
    __u64 reserved[2];
};

/*
 * PAGECTL_TARGET: the process whose pages this descriptor looks after; what it did to another one
 * before is undone, and the list of PAGECTL_EXPECT forgotten, also where it then fails for another
 * reason than EINVAL. A descriptor has one process, and a process one descriptor.
 *
 * ESRCH   no such process, it or its first thread has ended, or it has no memory (a kernel thread)
 * EBUSY   another descriptor has it
 * EINVAL  reserved not 0
 * EPERM   the caller lacks CAP_SYS_PTRACE in the process's user namespace
 */
struct pagectl_target {
    __s32 pid;      /* thread group, in the caller's pid namespace; 0: none any more */
    __u32 reserved; /* 0 */
};

/*
 * PAGECTL_EXPECT: the mappings that the caller believes the process to have (/proc/PID/maps, in
 * that order, without [vsyscall]), in as many calls as it takes; the one with `first` 0 begins
 * anew. Until a list is complete, and agrees, SET and MIGRATE are refused with ESTALE; they compare
 * again each time.
 *
 * ESTALE  the complete list does not agree: `differs` says from which mapping on
 * EINVAL  reserved not 0, flags unknown, count 0 or over PAGECTL_MAPPINGS, first not the number
 *         given so far, end not above start, not ascending, total less than those given, other than
 *         before or over PAGECTL_MAPPINGS_MOST; the list is then as it was
 * ESRCH   no target, or it has ended
 */
#define PAGECTL_MAPPINGS      500
#define PAGECTL_MAPPINGS_MOST 65536
#define PAGECTL_READ          1u
#define PAGECTL_WRITE         2u
#define PAGECTL_EXEC          4u
#define PAGECTL_SHARED        8u /* "s" in maps */
struct pagectl_mapping {
    __u64 start, end; /* bytes, as in maps */
    __u32 flags;      /* PAGECTL_READ... */
    __u32 reserved;
};
struct pagectl_expect {
    __u32 first;   /* number of mapping[0] in the whole list */
    __u32 count;   /* of those here */
    __u32 total;   /* of the whole list */
    __u32 differs; /* out: with ESTALE the first that does not agree */
    struct pagectl_mapping mapping[PAGECTL_MAPPINGS];
};

/* Why a page was not treated, and what a page is. */
enum pagectl_result {
    PAGECTL_DONE = 0,
    PAGECTL_UNMAPPED = 1,    /* no mapping there, or one without any permission (a guard) */
    PAGECTL_SPECIAL = 2,     /* vdso, vvar, memory of a device or with tags (MTE) */
    PAGECTL_HUGE = 3,        /* part of a huge page that could not be split */
    PAGECTL_FILE_PAGE = 4,   /* page of a file's cache: cannot be moved by copy (not given yet) */
    PAGECTL_SHARED_PAGE = 5, /* mapped by another process too */
    PAGECTL_PINNED = 6,      /* held by the kernel or a device: cannot be moved */
    PAGECTL_NO_MEMORY = 7,   /* it could not be faulted in */
    PAGECTL_NO_ROOM = 8,     /* the pool is full */
    PAGECTL_NOT_TRIED = 9    /* the call ended before it: a signal */
};

struct pagectl_page {
    __u64 addr;  /* in: of its first byte, in the process */
    __u64 frame; /* out: physical address / page size, 0 where it is in no frame */
    __u8 policy; /* out: enum pagectl_policy, as it stands in the page table now */
    __u8 result; /* out: enum pagectl_result */
    __u8 pool;   /* out: 1: the frame is one of the pool */
    __u8 reserved[5];
};

/*
 * PAGECTL_SET: pages become cached or not. They are faulted in and pinned; their caches are
 * cleaned and invalidated, and the TLBs of all CPUs, before it returns. A page of which the result
 * is not PAGECTL_DONE is as it was. Whatever changes the address space there (munmap, mremap,
 * mprotect, fork..., or the kernel on its own account) restores pages first, and unpins them.
 * PAGECTL_MIGRATE: pages move to frames of the pool (`policy` is 0 and stays as it is).
 * PAGECTL_QUERY: attributes and frames as they are. Nothing is faulted in; no EXPECT is needed. The
 * result is what the page is, of the first four; PAGECTL_DONE with frame 0 is one not faulted in.
 *
 * EINVAL  count over PAGECTL_PAGES, an address that is no page's, reserved not 0, unknown policy
 * EOPNOTSUPP  a policy, or a pool, that is not offered here
 * ESTALE  the mappings are not those of PAGECTL_EXPECT (SET and MIGRATE)
 * ESRCH   no target, or it has ended
 * EINTR   a deadly signal: the results say how far it came
 * Otherwise 0, though single pages may have failed: `failed` counts them.
 */
#define PAGECTL_PAGES 500
struct pagectl_pages {
    __u32 count;  /* of the pages here */
    __u32 policy; /* enum pagectl_policy: SET only */
    __u32 failed; /* out: those whose result is not PAGECTL_DONE */
    __u32 reserved;
    struct pagectl_page page[PAGECTL_PAGES];
};

/*
 * PAGECTL_RESTORE: undoes all that was done to the process.
 *
 * ESRCH  no target, or it has ended
 * EBUSY  the rest is undone, but pages that something holds have stayed in the pool: try again
 */
#define PAGECTL_IOC     0xCE
#define PAGECTL_INFO    _IOR(PAGECTL_IOC, 0, struct pagectl_info)
#define PAGECTL_TARGET  _IOW(PAGECTL_IOC, 1, struct pagectl_target)
#define PAGECTL_EXPECT  _IOWR(PAGECTL_IOC, 2, struct pagectl_expect)
#define PAGECTL_SET     _IOWR(PAGECTL_IOC, 3, struct pagectl_pages)
#define PAGECTL_MIGRATE _IOWR(PAGECTL_IOC, 4, struct pagectl_pages)
#define PAGECTL_QUERY   _IOWR(PAGECTL_IOC, 5, struct pagectl_pages)
#define PAGECTL_RESTORE _IO(PAGECTL_IOC, 6) /* undoes all that was done */

#endif
