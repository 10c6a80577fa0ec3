/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The parts of pagectl.ko and what they ask of each other:
 *
 *   device.c   /dev/pagectl: who may ask for what
 *   target.c   one process: the pages that are other than the kernel had them, and restoring them
 *   treat.c    the requests that treat its pages
 *   entry.c    entries of page tables, and changing how some of them are cached
 *   arch.c     what a policy is in an entry, caches, TLBs
 *   pool.c     the frames that pages move to
 *
 * Locks, from the outermost: mutex of a descriptor (device.c), list of targets (target.c), mmap
 * lock of the process, mutex of the pool, spin lock of the target, spin lock of the page table.
 */
#ifndef PAGECTL_CONTROL_H
#define PAGECTL_CONTROL_H

#include <linux/mm.h>
#include <linux/module.h>
#include <linux/types.h>
#include <linux/version.h>

#include "pagectl.h"

#define KERNEL_HAS(a, b) (LINUX_VERSION_CODE >= KERNEL_VERSION(a, b, 0))

/* ---- arch.c ---- */

/* Bit set of the policies that there are here. */
u32 arch_policies(void);

/* The policy of an entry of this value, which is that of a large page or not. */
u8 arch_policy(u64 entry, bool large);

/* Whether its memory type may be changed and restored: plain write-back, of no other kind. */
bool arch_plain(pte_t entry);

/* The entry with another policy, one of arch_policies(). */
pte_t arch_with_policy(pte_t entry, u8 policy);

/* Makes an entry valid that ptep_get_and_clear() has made invalid. */
void arch_set(struct mm_struct *mm, unsigned long address, pte_t *at, pte_t entry);

/* Invalidates the TLBs of all CPUs for these pages of the process. Interrupts are on. */
void arch_flush_tlbs(struct mm_struct *mm, const unsigned long *addresses, u32 count);

/* Cleans and invalidates a page in the data caches, up to memory. */
void arch_clean(struct page *page);

/* Invalidates the instruction caches of all CPUs, once after any number of arch_clean(). */
void arch_clean_end(void);

/* ---- entry.c ---- */

struct entry {
    bool present; /* it maps a frame; else the rest is 0 */
    bool large;   /* as part of a large page */
    bool plain;   /* arch_plain() */
    u8 policy;
    u64 frame;
};

/* Reads the entry of a page, which is in a mapping; the mmap lock is held. */
struct entry entry_read(struct mm_struct *mm, unsigned long address);

/* The page that is there, with a reference (put_page()), or NULL. That of zeros does not count. */
struct page *entry_page(struct mm_struct *mm, unsigned long address);

/* A page table, locked: its entries do not change, but by hardware that sets bits in them. */
struct table {
    pte_t *first; /* of the addresses that share PMD_MASK */
    spinlock_t *lock;
};

/* False where there is none. Page tables of that address must not be freed meanwhile: it is in a
   mapping, and the mmap lock, or a lock of the mapping's reverse map, is held, or the process has
   ended. */
bool table_lock(struct mm_struct *mm, unsigned long address, struct table *table);
void table_unlock(struct table *table);
pte_t *table_entry(const struct table *table, unsigned long address);

/* Gives entries of a locked table another policy; all are present and different. */
#define ENTRIES_MOST 32u /* bounds how long locks are held */
void entries_change(struct mm_struct *mm, const struct table *table, const unsigned long *addresses,
                    u32 count, u8 policy);

/* ---- target.c, treat.c ---- */

struct target;

/* The process of that number in the caller's pid namespace. ERR_PTR as at PAGECTL_TARGET. */
struct target *target_make(pid_t pid);

/* Undoes everything, and lets go of the process. Without a lock of the target's, mmap lock
 * included.
 */
void target_free(struct target *target);

/* The number of the first mapping that differs, or -1 where none does, -ESRCH, -EINTR. */
long target_compare(struct target *target, const struct pagectl_mapping *mappings, u32 count);

/* The requests of these names; compared with the mappings first, but for the query. 0, or an error
   as at PAGECTL_SET. The results of pages are PAGECTL_NOT_TRIED before. */
long target_set(struct target *target, const struct pagectl_mapping *mappings, u32 total,
                struct pagectl_pages *pages);
long target_migrate(struct target *target, const struct pagectl_mapping *mappings, u32 total,
                    struct pagectl_pages *pages);
long target_query(struct target *target, struct pagectl_pages *pages);

/* Undoes everything. 0, -ESRCH, or -EBUSY where pages have stayed in the pool. */
long target_restore(struct target *target);

/* ---- pool.c ---- */

/* Takes the frames from Linux. 0, or an error with a message in the kernel log. */
int pool_make(u64 phys, u64 size);
void pool_free(void);
void pool_info(struct pagectl_info *info);
bool pool_there(void);
bool pool_holds(u64 frame);

/* Whether it does, and lent the frame to this owner, for whom it stays there. */
bool pool_holds_of(const void *owner, u64 frame);

/* Before any number of pool_move(): after the pages were faulted in, since what a CPU has just used
   it may still hold. */
void pool_prepare(void);

/* Moves the page to a frame of the pool, for this owner. The caller has one reference to it, which
   is used up. The mmap lock is held for reading. */
enum pagectl_result pool_move(const void *owner, struct page *page);

/* Moves what is in the frames of this owner elsewhere, and has the frames back. The number of those
   where it failed; with `last`, they have the owner NULL then. */
u32 pool_retake(const void *owner, bool last);

#endif
