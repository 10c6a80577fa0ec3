/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * clean_page(), for both modules: cleans and invalidates a page in the data caches of all CPUs, up
 * to memory (the point of coherency). `page` is any cacheable kernel address of it.
 */
#ifndef CACHEFLOW_CLEAN_H
#define CACHEFLOW_CLEAN_H

#include <linux/mm.h>

#if defined(CONFIG_ARM64)

static inline void clean_page(void *page)
{
    u64 ctr, line;
    char *at = page;

    asm("mrs %0, ctr_el0" : "=r"(ctr));
    line = 4u << (ctr >> 16 & 0xf);
    for (; at < (char *)page + PAGE_SIZE; at += line)
        asm volatile("dc civac, %0" ::"r"(at) : "memory");
    asm volatile("dsb sy" ::: "memory");
}

#elif defined(CONFIG_ARM)
#include <asm/cacheflush.h>
#include <asm/outercache.h>

static inline void clean_page(void *page)
{
    __cpuc_flush_dcache_area(page, PAGE_SIZE);
    outer_flush_range(__pa(page), __pa(page) + PAGE_SIZE);
}
#endif

#endif
