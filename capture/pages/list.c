/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * list.c - the pages that are looked into, and what is changed together.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/pages/pages.h"
#include "formats/base/cf_memory.h"
#include "formats/base/cf_number.h"

/* Bits of an entry of /proc/PID/pagemap (the kernel's Documentation/admin-guide/mm/pagemap.rst). */
#define PRESENT ((uint64_t)1 << 63)
#define SWAPPED ((uint64_t)1 << 62)

static void add(struct pages *k, uint32_t mapping, uint64_t addr)
{
    const struct pages_mapping *m = &k->layout.mapping[mapping];
    const uint64_t number = m->kind == PAGES_STACK ? (m->base - 1 - addr) >> PAGES_SHIFT
                                                   : (addr - m->base) >> PAGES_SHIFT;

    if (number > UINT32_MAX)
        cf_die(&k->tool, CF_EXIT_INPUT, "%s: over 2^32 pages", m->region);
    cf_must(&k->tool, cf_array_room(&k->page, &k->page_room, k->pages + 1, sizeof *k->page));
    k->page[k->pages++] = (struct pages_page){.mapping = mapping, .number = (uint32_t)number};
}

void pages_list(struct pages *k, pid_t pid)
{
    char path[64];
    int fd;

    snprintf(path, sizeof path, "/proc/%d/pagemap", pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        cf_die(&k->tool, CF_EXIT_ENVIRONMENT, "%s: cannot be read", path);
    k->pages = 0;
    for (size_t i = 0; i < k->layout.count; i++) {
        const struct pages_mapping *m = &k->layout.mapping[i];
        static uint64_t entry[4096];
        ssize_t n;

        if (m->kind == PAGES_NO_KIND || !(k->o.kinds >> m->kind & 1)) {
            k->other += (m->end - m->start) >> PAGES_SHIFT;
            continue;
        }
        for (uint64_t at = m->start; at < m->end; at += (uint64_t)n / 8 << PAGES_SHIFT) {
            const uint64_t left = (m->end - at) >> PAGES_SHIFT;

            n = pread(fd, entry, 8 * (left < 4096 ? left : 4096), (off_t)(at >> PAGES_SHIFT << 3));
            if (n < 8)
                cf_die(&k->tool, CF_EXIT_ENVIRONMENT, "%s: cannot be read", path);
            for (ssize_t j = 0; j < n / 8; j++)
                if (entry[j] & (PRESENT | SWAPPED))
                    add(k, (uint32_t)i, at + ((uint64_t)j << PAGES_SHIFT));
                else
                    k->untouched++;
        }
    }
    close(fd);
}

static int by_number(const void *x, const void *y)
{
    const struct pages_page *a = x, *b = y;

    return cf_order(a->mapping, b->mapping) ?: cf_order(a->number, b->number);
}

/* Mappings of one region, such as the parts of the bss, follow each other: the units of a region
   are few beside all, and are looked for from the first mapping that has the name. */
size_t pages_find_unit(const struct pages *k, const char *region, uint32_t number)
{
    for (uint32_t m = 0; m < k->layout.count; m++) {
        size_t from = 0, to = k->units;

        if (!k->layout.mapping[m].region || strcmp(k->layout.mapping[m].region, region) != 0)
            continue;
        while (from < to) {
            const size_t mid = from + (to - from) / 2;
            const struct pages_unit *u = &k->unit[mid];
            const int order = cf_order(u->mapping, m) ?: cf_order(u->number, number);

            if (!order)
                return mid;
            if (order < 0)
                from = mid + 1;
            else
                to = mid;
        }
    }
    return k->units;
}

/* The unit of a page: where a region has several mappings, a group may begin in an earlier one. */
static size_t unit_of(const struct pages *k, const struct pages_page *p, uint32_t number)
{
    const struct pages_unit *last = k->units ? &k->unit[k->units - 1] : NULL;

    if (last && last->mapping == p->mapping)
        return k->units - (last->number == number);
    if (k->o.group == 1)
        return k->units;
    return pages_find_unit(k, k->layout.mapping[p->mapping].region, number);
}

void pages_units(struct pages *k)
{
    const uint32_t group = k->o.group;

    qsort(k->page, k->pages, sizeof *k->page, by_number);
    k->units = 0;
    for (size_t i = 0; i < k->pages; i++) {
        struct pages_page *p = &k->page[i];
        const uint32_t number = p->number / group * group;
        const size_t at = unit_of(k, p, number);

        if (at == k->units) {
            cf_must(&k->tool,
                    cf_array_room(&k->unit, &k->unit_room, k->units + 1, sizeof *k->unit));
            k->unit[k->units++] = (struct pages_unit){.mapping = p->mapping, .number = number};
        }
        k->unit[at].pages++;
        p->unit = (uint32_t)at;
    }
}
