// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The memory that snapshots are kept in: a region that Linux does not use (the paper's section 6.3
 * takes it from `mem=`), or pages of our own. Either is mapped contiguously and not cacheable, so
 * that writing a snapshot does not change the cache that is being read. Our own pages keep their
 * cacheable linear mapping, which is not used; their lines are cleaned and invalidated once at
 * first. x86 has no such mapping of memory in use, and no cache to be careful of with
 * backend=model: there it is cacheable.
 */
#include <linux/highmem.h>
#include <linux/io.h>
#include <linux/ioport.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "clean.h"
#include "shutter.h"

#if defined(CONFIG_ARM64) || defined(CONFIG_ARM)
#define BUFFER_FLAGS      0
#define buffer_prot(prot) pgprot_writecombine(prot)
#else
#define BUFFER_FLAGS      CACHEFLOW_BUFFER_CACHEABLE
#define buffer_prot(prot) (prot)
#define clean_page(page)                                                                           \
    do {                                                                                           \
    } while (0)
#endif

/* Writes a word of each page where `put`, and reads it back. */
static bool reads_back(const struct shutter_buffer *buffer, bool put)
{
    size_t i;

    for (i = 0; i < buffer->size; i += PAGE_SIZE) {
        u32 *word = (u32 *)(buffer->base + i), value = CACHEFLOW_MAGIC ^ (u32)(i >> PAGE_SHIFT);

        if (put)
            WRITE_ONCE(*word, value);
        mb();
        if (READ_ONCE(*word) != value)
            return false;
    }
    return true;
}

/* Whether there is memory: the first page that does not keep what is written to it is the last one
   that is touched. Again when all is written, since memory may repeat itself where less is wired
   than there are addresses. */
static bool keeps(const struct shutter_buffer *buffer)
{
    return reads_back(buffer, true) && reads_back(buffer, false);
}

static int make_reserved(struct shutter_buffer *buffer)
{
    phys_addr_t last = buffer->phys + buffer->size - 1;

    if (!PAGE_ALIGNED(buffer->phys) || last < buffer->phys) {
        pr_err("cacheflow: phys=%pa: not the start of a page, or size too large\n", &buffer->phys);
        return -EINVAL;
    }
    if (region_intersects(buffer->phys, buffer->size, IORESOURCE_SYSTEM_RAM, IORES_DESC_NONE) !=
        REGION_DISJOINT) {
        pr_err("cacheflow: phys=%pa size=%zu: Linux uses memory there; boot with mem= or memmap=, "
               "or reserve it in the device tree with no-map\n",
               &buffer->phys, buffer->size);
        return -EBUSY;
    }
    if (!request_mem_region(buffer->phys, buffer->size, "cacheflow")) {
        pr_err("cacheflow: phys=%pa size=%zu: in use, see /proc/iomem\n", &buffer->phys,
               buffer->size);
        return -EBUSY;
    }
    /* Memory, mapped as memory that is not cached: plain accesses are right. */
    buffer->base = (__force char *)ioremap_wc(buffer->phys, buffer->size);
    if (!buffer->base) {
        release_mem_region(buffer->phys, buffer->size);
        return -ENOMEM;
    }
    if (!keeps(buffer)) {
        pr_err("cacheflow: phys=%pa size=%zu: there is no memory, or less: give what mem= or "
               "memmap= left out\n",
               &buffer->phys, buffer->size);
        buffer_free(buffer);
        return -EIO;
    }
    buffer->flags = CACHEFLOW_BUFFER_RESERVED;
    memset(buffer->base, 0, buffer->size);
    return 0;
}

static void free_pages_of(struct shutter_buffer *buffer)
{
    size_t i;

    for (i = 0; i < buffer->size >> PAGE_SHIFT && buffer->pages[i]; i++)
        __free_page(buffer->pages[i]);
    vfree(buffer->pages);
    buffer->pages = NULL;
}

static int make_own(struct shutter_buffer *buffer)
{
    size_t i, count = buffer->size >> PAGE_SHIFT;

    buffer->pages = vzalloc(count * sizeof(*buffer->pages));
    if (!buffer->pages)
        return -ENOMEM;
    for (i = 0; i < count; i++) {
        /* Without __GFP_NOWARN and retries as usual: a size that is too large fails, no more. */
        buffer->pages[i] = alloc_page(GFP_KERNEL | __GFP_ZERO | __GFP_NORETRY | __GFP_NOWARN);
        if (!buffer->pages[i]) {
            free_pages_of(buffer);
            return -ENOMEM;
        }
        clean_page(page_address(buffer->pages[i]));
    }
    buffer->base = vmap(buffer->pages, count, VM_MAP, buffer_prot(PAGE_KERNEL));
    if (!buffer->base) {
        free_pages_of(buffer);
        return -ENOMEM;
    }
    buffer->flags = BUFFER_FLAGS;
    return 0;
}

int buffer_make(struct shutter_buffer *buffer, phys_addr_t phys, size_t size)
{
    int error;

    memset(buffer, 0, sizeof(*buffer));
    if (size < PAGE_SIZE || size > SZ_1G * 2ULL || !PAGE_ALIGNED(size)) {
        pr_err("cacheflow: size=%zu: not a number of pages, or over 2 GB\n", size);
        return -EINVAL;
    }
    buffer->phys = phys;
    buffer->size = size;
    error = phys ? make_reserved(buffer) : make_own(buffer);
    if (error == -ENOMEM)
        pr_err("cacheflow: no memory for a buffer of %zu bytes\n", size);
    return error;
}

void buffer_free(struct shutter_buffer *buffer)
{
    if (buffer->pages) {
        vunmap(buffer->base);
        free_pages_of(buffer);
    } else if (buffer->base) {
        iounmap((__force void __iomem *)buffer->base);
        release_mem_region(buffer->phys, buffer->size);
    }
    buffer->base = NULL;
}

void buffer_discard(struct shutter_buffer *buffer)
{
    if (buffer->used == 0)
        return;
    /* Who walks through a mapping finds the end at once. */
    WRITE_ONCE(((struct cacheflow_snapshot *)buffer->base)->magic, 0);
    wmb();
    buffer->used = 0;
    buffer->snapshots = 0;
    buffer->discards++;
}

int buffer_mmap(struct shutter_buffer *buffer, struct vm_area_struct *vma)
{
    unsigned long size = vma->vm_end - vma->vm_start, i;
    int error = 0;

    if (vma->vm_flags & VM_WRITE)
        return -EACCES;
    if (vma->vm_pgoff > buffer->size >> PAGE_SHIFT ||
        size > buffer->size - (vma->vm_pgoff << PAGE_SHIFT))
        return -EINVAL;
#if KERNEL_HAS(6, 3)
    vm_flags_mod(vma, VM_DONTEXPAND | VM_DONTDUMP, VM_MAYWRITE);
#else
    vma->vm_flags |= VM_DONTEXPAND | VM_DONTDUMP;
    vma->vm_flags &= ~VM_MAYWRITE;
#endif
    vma->vm_page_prot = buffer_prot(vma->vm_page_prot);
    if (!buffer->pages)
        return remap_pfn_range(vma, vma->vm_start, (buffer->phys >> PAGE_SHIFT) + vma->vm_pgoff,
                               size, pgprot_writecombine(vma->vm_page_prot));
    for (i = 0; i < size && !error; i += PAGE_SIZE)
        error = vm_insert_page(vma, vma->vm_start + i,
                               buffer->pages[vma->vm_pgoff + (i >> PAGE_SHIFT)]);
    return error;
}
