/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A process whose pages are treated, for target.c, which restores them, and treat.c.
 */
#ifndef PAGECTL_TARGET_H
#define PAGECTL_TARGET_H

#include <linux/mm.h>
#include <linux/mmu_notifier.h>
#include <linux/rbtree.h>
#include <linux/spinlock.h>

#include "control.h"

struct record {
    struct rb_node node;
    unsigned long address;
    struct page *page; /* pinned */
    u8 policy;
};

struct target {
    struct mmu_notifier notifier;
    struct mm_struct *mm; /* mm_count is held by the notifier, mm_users during requests only */
    struct list_head all;
    spinlock_t lock; /* of what follows */
    struct rb_root records;
    unsigned int changing; /* changes of the address space that are under way */
};

/* The mmap lock for reading, called otherwise before 5.8. 0, or -EINTR. */
int mm_lock(struct mm_struct *mm);
void mm_unlock(struct mm_struct *mm);

/* Of a page that is held. */
void page_let_go(struct page *page);

/* These under the target's lock. */
struct record *record_find(struct target *target, unsigned long address); /* or NULL */
void record_insert(struct target *target, struct record *record); /* there is none of its address */
void record_free(struct target *target, struct record *record);   /* lets go of the page */

/* Whether the page is where it was. */
bool record_stands(const struct record *record, const struct table *table);

/* Restores what is treated there, and frees the records. Without the lock, which is let go of after
   each ENTRIES_MOST; other work comes in between where it may sleep. */
void restore_range(struct target *target, unsigned long start, unsigned long end, bool may_sleep);

#endif
