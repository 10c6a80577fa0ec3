// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Whose the lines are: from physical address to process and virtual address, in the kernel.
 *
 * The paper (section 6.3) asks the kernel's reverse map for each line, by rmap_walk(), which
 * modules cannot call. Here the mappings are inverted instead: the page frames of a snapshot go
 * into a hash table, then the page tables of every process are walked once, and each entry that
 * points to one of those frames is noted. That takes time in proportion to the memory that is
 * mapped, not to the number of lines, finds every mapping of a shared frame, and needs nothing that
 * is not exported.
 */
#include <linux/capability.h>
#include <linux/highmem.h>
#include <linux/memory_hotplug.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "resolve.h"

/* More mappings than this are counted but not kept: 96 MB. */
#define MAPPINGS_MAX (1u << 22)

struct page *resolver_page(u64 pfn)
{
    return (unsigned long)pfn == pfn && pfn_valid(pfn) ? pfn_to_online_page(pfn) : NULL;
}

void resolver_free(struct resolver *r)
{
    if (!r)
        return;
    vfree(r->mappings);
    vfree(r->frame_of);
    vfree(r->frames);
    vfree(r->table);
    kfree(r);
}

struct resolver *resolver_make(u32 lines)
{
    struct resolver *r = kzalloc(sizeof(*r), GFP_KERNEL);

    if (!r)
        return NULL;
    r->lines_max = lines;
    r->slots = roundup_pow_of_two(2 * lines + 2);
    r->mappings_room = 2 * lines + 1024;
    r->table = vmalloc(r->slots * sizeof(*r->table));
    r->frames = vmalloc(lines * sizeof(*r->frames));
    r->frame_of = vmalloc(lines * sizeof(*r->frame_of));
    r->mappings = vmalloc(r->mappings_room * sizeof(*r->mappings));
    if (!r->table || !r->frames || !r->frame_of || !r->mappings) {
        resolver_free(r);
        return NULL;
    }
    return r;
}

static void take_lines(struct resolver *r, const struct cacheflow_line *lines, u32 entries)
{
    u32 i;

    memset(r->table, 0xff, r->slots * sizeof(*r->table));
    r->frames_used = 0;
    r->mappings_used = 0;
    for (i = 0; i < entries; i++) {
        u64 pfn = cacheflow_line_phys(&lines[i]) >> PAGE_SHIFT;
        u32 slot = resolver_slot(r, pfn);

        if (r->table[slot] == RESOLVER_NONE) {
            r->table[slot] = r->frames_used;
            r->frames[r->frames_used++] =
                (struct frame){.pfn = pfn, .first = RESOLVER_NONE, .last = RESOLVER_NONE};
        }
        r->frame_of[i] = r->table[slot];
    }
}

void resolver_room(struct resolver *r, u32 more)
{
    struct mapping *larger;
    u32 room = r->mappings_room;

    while (room - r->mappings_used < more && room < MAPPINGS_MAX)
        room *= 2;
    if (room == r->mappings_room)
        return;
    larger = vmalloc(room * sizeof(*larger));
    if (!larger)
        return;
    memcpy(larger, r->mappings, r->mappings_used * sizeof(*larger));
    vfree(r->mappings);
    r->mappings = larger;
    r->mappings_room = room;
}

void resolver_note(struct resolver *r, u32 index, u64 virt, u32 pid, u32 flags)
{
    struct frame *frame = &r->frames[index];
    u32 at = r->mappings_used;

    frame->count++;
    if (at == r->mappings_room)
        return;
    r->mappings_used++;
    r->mappings[at] =
        (struct mapping){.virt = virt, .pid = pid, .flags = flags, .next = RESOLVER_NONE};
    if (frame->first == RESOLVER_NONE)
        frame->first = at;
    else
        r->mappings[frame->last].next = at;
    frame->last = at;
}

static bool is_on_list(const struct list_head *at)
{
    return at->next && at->next != at && at->next != LIST_POISON1;
}

/* The first page of a free block alone is marked, and while a CPU keeps the block for itself not
   even that; but no page of it is held, and the first one is on a list. */
static bool is_free(struct page *page, u64 pfn)
{
    unsigned int order;

    for (order = 0; order < ARRAY_SIZE(page_zone(page)->free_area); order++) {
        struct page *head = resolver_page(pfn & ~((1ull << order) - 1));

        if (!head || PageCompound(head) || page_count(head))
            return false;
        if (is_on_list(&head->lru))
            return !PageBuddy(head) || page_private(head) >= order;
    }
    return false;
}

/* What a frame is that no process has mapped. */
static u32 frame_kind(u64 pfn)
{
    struct page *page = resolver_page(pfn);

    if (!page)
        return CACHEFLOW_OWNER_NO_RAM;
    if (PageReserved(page) || PageSlab(compound_head(page)))
        return CACHEFLOW_OWNER_KERNEL;
    if (is_free(page, pfn))
        return CACHEFLOW_OWNER_FREE;
    page = compound_head(page);
    if (PageLRU(page) || PageUptodate(page))
        return CACHEFLOW_OWNER_UNMAPPED;
    return CACHEFLOW_OWNER_KERNEL;
}

/* Of high memory (32-bit) there is no linear address. */
static u64 linear_address(u64 pfn)
{
    return PageHighMem(pfn_to_page(pfn)) ? 0 : (u64)(unsigned long)pfn_to_kaddr(pfn);
}

/* As /proc/kallsyms has it: who may read the kernel's log, unless kptr_restrict forbids it to them,
   which a module learns by what becomes of an address that is printed. */
static bool may_see_addresses(void)
{
    char text[2 * sizeof(void *) + 8];

    if (!capable(CAP_SYSLOG))
        return false;
    snprintf(text, sizeof(text), "%pK", &init_pid_ns);
    return text[strspn(text, "0")] != '\0';
}

struct output {
    struct cacheflow_owner *at;
    u32 room, count, missing;
    u32 later; /* lines that are still to come: there is room for one owner of each */
};

static void put(struct output *output, const struct cacheflow_owner *owner)
{
    if (output->room - output->count <= output->later)
        output->missing++;
    else
        output->at[output->count++] = *owner;
}

static void put_line(const struct resolver *r, struct output *output, u32 entry, u64 phys)
{
    const struct frame *frame = &r->frames[r->frame_of[entry]];
    u32 inside = (u32)(phys & ~PAGE_MASK), i, kept = 0;
    struct cacheflow_owner owner = {.entry = entry, .mappings = frame->count};

    if (frame->count == 0) {
        owner.flags = frame_kind(frame->pfn);
        if (owner.flags == CACHEFLOW_OWNER_KERNEL && r->addresses && linear_address(frame->pfn))
            owner.virt = linear_address(frame->pfn) + inside;
        put(output, &owner);
        return;
    }
    for (i = frame->first; i != RESOLVER_NONE; i = r->mappings[i].next, kept++) {
        owner.virt = r->mappings[i].virt + inside;
        owner.pid = r->mappings[i].pid;
        owner.flags = r->mappings[i].flags | (frame->count > 1 ? CACHEFLOW_OWNER_SHARED : 0);
        put(output, &owner);
    }
    output->missing += frame->count - kept;
}

int resolver_run(struct resolver *r, const struct cacheflow_line *lines, u32 entries,
                 struct cacheflow_owner *owners, u32 room, u32 *count, u32 *missing)
{
    struct output output = {.at = owners, .room = room};
    int error;
    u32 i;

    r->addresses = may_see_addresses();
    take_lines(r, lines, entries);
    error = resolver_walk(r);
    for (i = 0; i < entries && !error; i++) {
        output.later = entries - 1 - i;
        put_line(r, &output, i, cacheflow_line_phys(&lines[i]));
    }
    *count = output.count;
    *missing = output.missing;
    return error;
}
