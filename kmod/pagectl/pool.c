// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The pool: frames that are taken from Linux when the module is loaded (alloc_contig_range()), so
 * that none but this module gives them away. Pages move there by the kernel's own migration, the
 * way of move_pages(2) with a frame of ours in place of one of another node; that is what BBProf's
 * move_pages_to_pvtpool() does in a changed kernel (section 5.2).
 *
 * A frame that a page was moved to is lent: it is the process's, and goes back to Linux when that
 * frees it. To have it back is the same call as at first, which moves away what is in it, whoever's
 * that is by then. So nothing here depends on when a process ends or unmaps a page.
 *
 * Migration is not there for modules. Its functions are found by name: a kprobe finds
 * kallsyms_lookup_name(), that the rest. Where functions must not be called by addresses that are
 * found so (CFI, indirect branch tracking), there is no pool.
 */
#include <linux/ioport.h>
#include <linux/kprobes.h>
#include <linux/migrate.h>
#include <linux/mm_inline.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <linux/vmstat.h>

#include "control.h"

enum slot_state { SLOT_FREE, SLOT_LENT };

struct slot {
    u8 state;
    const void *owner; /* of a frame that is lent; NULL: gone, and it could not be had back */
};

static DEFINE_MUTEX(lock);
static struct slot *slots;
static unsigned long first; /* frame */
static u32 count, free_count;

/* ---- functions of the kernel ---- */

#if KERNEL_HAS(6, 16)
typedef acr_flags_t kind_t;
#define KIND_PLAIN ACR_FLAGS_NONE
#define KIND_CMA   ACR_FLAGS_CMA
#else
typedef unsigned int kind_t;
#define KIND_PLAIN MIGRATE_MOVABLE
#ifdef CONFIG_CMA
#define KIND_CMA MIGRATE_CMA
#else
#define KIND_CMA KIND_PLAIN
#endif
#endif
static kind_t kind;

static struct {
    int (*alloc)(unsigned long start, unsigned long end, kind_t kind, gfp_t gfp);
    void (*free)(unsigned long start, unsigned long count);
    typeof(&migrate_pages) migrate;
    void (*put_back)(struct list_head *pages);
    void (*drain)(void);
    /* may be NULL: huge pages are not split then */
#if KERNEL_HAS(6, 9)
    int (*split)(struct page *page, struct list_head *list, unsigned int order);
#else
    int (*split)(struct page *page, struct list_head *list);
#endif
#if KERNEL_HAS(6, 3)
    bool (*isolate)(struct folio *folio);
#else
    int (*isolate)(struct page *page);
#endif
} kernel;

static unsigned long (*lookup)(const char *name);

static bool find_lookup(void)
{
    struct kprobe probe = {.symbol_name = "kallsyms_lookup_name"};

#if defined(CONFIG_CFI_CLANG) || defined(CONFIG_CFI)
    return false;
#endif
#ifdef X86_FEATURE_IBT
    if (boot_cpu_has(X86_FEATURE_IBT))
        return false;
#endif
    if (register_kprobe(&probe))
        return false;
    lookup = (void *)probe.addr;
    unregister_kprobe(&probe);
    return true;
}

static bool find_functions(void)
{
    if (!find_lookup())
        return false;
#if KERNEL_HAS(6, 10)
    kernel.alloc = (void *)lookup("alloc_contig_range_noprof");
#else
    kernel.alloc = (void *)lookup("alloc_contig_range");
#endif
    kernel.free = (void *)lookup("free_contig_range");
    kernel.migrate = (void *)lookup("migrate_pages");
    kernel.put_back = (void *)lookup("putback_movable_pages");
    kernel.drain = (void *)lookup("lru_add_drain_all");
#if KERNEL_HAS(6, 9)
    kernel.split = (void *)lookup("split_huge_page_to_list_to_order");
#else
    kernel.split = (void *)lookup("split_huge_page_to_list");
#endif
#if KERNEL_HAS(6, 3)
    kernel.isolate = (void *)lookup("folio_isolate_lru");
#else
    kernel.isolate = (void *)lookup("isolate_lru_page");
#endif
    return kernel.alloc && kernel.free && kernel.migrate && kernel.put_back && kernel.drain &&
           kernel.isolate;
}

/* Memory that is reserved for contiguous allocation has to be called by that name. */
static bool is_cma(unsigned long frame)
{
#ifndef CONFIG_CMA
    return false;
#elif KERNEL_HAS(6, 16)
    enum migratetype (*get)(const struct page *page, unsigned long frame) =
        (void *)lookup("get_pfnblock_migratetype");

    return get && get(pfn_to_page(frame), frame) == MIGRATE_CMA;
#elif KERNEL_HAS(5, 9)
    typeof(&get_pfnblock_flags_mask) get = (void *)lookup("get_pfnblock_flags_mask");

    return get && get(pfn_to_page(frame), frame, MIGRATETYPE_MASK) == MIGRATE_CMA;
#else
    typeof(&get_pfnblock_flags_mask) get = (void *)lookup("get_pfnblock_flags_mask");

    return get && get(pfn_to_page(frame), frame, PB_migrate_end, MIGRATETYPE_MASK) == MIGRATE_CMA;
#endif
}

static bool isolate(struct page *page)
{
#if KERNEL_HAS(6, 3)
    return kernel.isolate(page_folio(page));
#else
    return kernel.isolate(page) == 0;
#endif
}

static int file_page(struct page *page)
{
#if KERNEL_HAS(5, 18)
    return folio_is_file_lru(page_folio(page));
#elif KERNEL_HAS(5, 7)
    return page_is_file_lru(page);
#else
    return page_is_file_cache(page);
#endif
}

/* ---- making and freeing ---- */

static int refuse(u64 phys, u64 size, const char *why, int error)
{
    pr_err("pagectl: pool=0x%llx,0x%llx: %s\n", phys, size, why);
    return error;
}

int pool_make(u64 phys, u64 size)
{
    if (!PAGE_ALIGNED(phys) || !PAGE_ALIGNED(size) || size > 1ull << 40 || phys + size < phys ||
        (phys_addr_t)(phys + size) != phys + size)
        return refuse(phys, size, "not a number of whole pages", -EINVAL);
    if (region_intersects(phys, size, IORESOURCE_SYSTEM_RAM, IORES_DESC_NONE) != REGION_INTERSECTS)
        return refuse(phys, size,
                      "not memory that Linux manages: reserve it as contiguous memory (cma=, or "
                      "reusable in the device tree), not by mem=, memmap= or no-map",
                      -EINVAL);
    if (!find_functions())
        return refuse(phys, size, "this kernel's migration of pages cannot be reached",
                      -EOPNOTSUPP);
    first = phys >> PAGE_SHIFT;
    kind = is_cma(first) ? KIND_CMA : KIND_PLAIN;
    /* Earlier ones want a whole block to be movable, which frames of ours in it are not. */
    if (!KERNEL_HAS(6, 0) && !is_cma(first))
        return refuse(phys, size, "before Linux 6.0 only contiguous memory (cma=) can be had back",
                      -EOPNOTSUPP);
    slots = vzalloc((size >> PAGE_SHIFT) * sizeof(*slots));
    if (!slots)
        return -ENOMEM;
    if (kernel.alloc(first, first + (size >> PAGE_SHIFT), kind, GFP_KERNEL)) {
        vfree(slots);
        slots = NULL;
        return refuse(phys, size,
                      "in use by what cannot be moved: load the module early, or reserve "
                      "contiguous memory (cma=)",
                      -EBUSY);
    }
    count = free_count = size >> PAGE_SHIFT;
    return 0;
}

void pool_free(void)
{
    u32 i, end;

    if (!slots)
        return;
    pool_retake(NULL, true);
    for (i = 0; i < count; i = end) {
        for (end = i; end < count && slots[end].state == SLOT_FREE; end++)
            continue;
        if (end > i)
            kernel.free(first + i, end - i);
        else
            end++; /* what was lent and not had back is Linux's again */
    }
    vfree(slots);
    slots = NULL;
}

bool pool_there(void)
{
    return slots != NULL;
}

bool pool_holds(u64 frame)
{
    return slots && frame >= first && frame - first < count;
}

bool pool_holds_of(const void *owner, u64 frame)
{
    bool holds;

    mutex_lock(&lock);
    holds = pool_holds(frame) && slots[frame - first].owner == owner;
    mutex_unlock(&lock);
    return holds;
}

void pool_info(struct pagectl_info *info)
{
    if (!slots)
        return;
    mutex_lock(&lock);
    info->moves = PAGECTL_MOVES_KERNEL;
    info->pool_phys = (u64)first << PAGE_SHIFT;
    info->pool_pages = count;
    info->pool_free = free_count;
    mutex_unlock(&lock);
}

/* ---- moving: under the mutex ---- */

static struct page *slot_take(const void *owner)
{
    u32 i;

    for (i = 0; free_count && i < count; i++) {
        if (slots[i].state != SLOT_FREE)
            continue;
        slots[i] = (struct slot){.state = SLOT_LENT, .owner = owner};
        free_count--;
        return pfn_to_page(first + i);
    }
    return NULL;
}

static void slot_put(struct page *page)
{
    slots[page_to_pfn(page) - first] = (struct slot){.state = SLOT_FREE};
    free_count++;
}

/* What migrate_pages() asks for a frame, and gives one back that it has not used. */
#if KERNEL_HAS(6, 3)
static struct folio *get_frame(struct folio *from, unsigned long owner)
{
    struct page *page = slot_take((const void *)owner);

    return page ? page_folio(page) : NULL;
}

static void put_frame(struct folio *folio, unsigned long owner)
{
    slot_put(folio_page(folio, 0));
}
#else
static struct page *get_frame(struct page *from, unsigned long owner)
{
    return slot_take((const void *)owner);
}

static void put_frame(struct page *page, unsigned long owner)
{
    slot_put(page);
}
#endif

/* Makes single pages of the transparent huge page that this one is a part of; the caller's is the
   only reference beside those of page tables. */
static bool split(struct page *page)
{
    int error;

    if (!kernel.split || !PageAnon(page) || PageHuge(page))
        return false;
    lock_page(page);
#if KERNEL_HAS(6, 9)
    error = kernel.split(page, NULL, 0);
#else
    error = kernel.split(page, NULL);
#endif
    unlock_page(page);
    return error == 0;
}

void pool_prepare(void)
{
    kernel.drain();
}

enum pagectl_result pool_move(const void *owner, struct page *page)
{
    enum pagectl_result result = PAGECTL_DONE;
    LIST_HEAD(list);
    int failed;

    if (PageCompound(page) && !split(page))
        result = PAGECTL_HUGE;
    else if (atomic_read(&page->_mapcount) > 0)
        result = PAGECTL_SHARED_PAGE;
    else if (!free_count)
        result = PAGECTL_NO_ROOM;
    else if (!isolate(page))
        result = PAGECTL_PINNED;
    else
        list_add(&page->lru, &list);
    if (result == PAGECTL_DONE)
        mod_node_page_state(page_pgdat(page), NR_ISOLATED_ANON + file_page(page), 1);
    put_page(page);
    if (result != PAGECTL_DONE)
        return result;

    mutex_lock(&lock);
#if KERNEL_HAS(5, 15)
    failed = kernel.migrate(&list, get_frame, put_frame, (unsigned long)owner, MIGRATE_SYNC,
                            MR_SYSCALL, NULL);
#else
    failed =
        kernel.migrate(&list, get_frame, put_frame, (unsigned long)owner, MIGRATE_SYNC, MR_SYSCALL);
#endif
    if (failed)
        result = failed == -ENOMEM ? PAGECTL_NO_ROOM : PAGECTL_PINNED;
    if (!list_empty(&list))
        kernel.put_back(&list);
    mutex_unlock(&lock);
    return result;
}

/* The number of those that could not be had back. */
static u32 retake(u32 from, u32 end)
{
    u32 i, failed = 0;

    if (kernel.alloc(first + from, first + end, kind, GFP_KERNEL)) {
        if (end - from == 1)
            return 1;
        for (i = from; i < end; i++)
            failed += retake(i, i + 1);
        return failed;
    }
    for (i = from; i < end; i++)
        slots[i] = (struct slot){.state = SLOT_FREE};
    free_count += end - from;
    return 0;
}

u32 pool_retake(const void *owner, bool last)
{
    u32 i, end, failed = 0;

    mutex_lock(&lock);
    for (i = 0; i < count; i = end + 1) {
        for (end = i; end < count && slots[end].state == SLOT_LENT && slots[end].owner == owner;
             end++)
            continue;
        if (end > i)
            failed += retake(i, end);
    }
    for (i = 0; last && i < count; i++)
        if (slots[i].owner == owner)
            slots[i].owner = NULL;
    mutex_unlock(&lock);
    return failed;
}
