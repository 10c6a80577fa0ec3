/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * placed.c - accesses by where they lie in physical memory.
 *
 * The neighbour of a page is another frame. So an access that crosses the end of a page becomes one
 * for each of its pages. Frames are given in the order of first touches, however the rows
 * come in frames.
 */
#include <stdlib.h>
#include <string.h>

#include "filters/parts/cache/cache_parts.h"
#include "formats/base/cf_memory.h"
#include "formats/together/cf_made.h"

struct placed {
    struct cf_tool *tool;
    const struct frame_options *o;
    struct cf_frames *frames;
    struct colours *colours; /* or NULL */
    uint32_t *pid;           /* by number of the process */
    size_t pids;
    /* the page that gets a frame */
    const struct cf_frame *frame;
    uint32_t first; /* row of the call to cf_frames_place() */
    uint32_t core, ahead;
    uint64_t phys[CF_FILE_ROWS];
    uint32_t size[CF_FILE_ROWS];
};

/* By the page of its row, or so many behind it. The pages of a stack are counted from its top. */
static unsigned choose(void *arg, uint32_t row)
{
    const struct placed *p = arg;
    const uint32_t *region = cf_u32(p->frame, CF_REGION), *page = cf_u32(p->frame, CF_PAGENO);
    const char *name = NULL;
    uint32_t number = 0;

    row += p->first;
    if (region && page) {
        name = cf_reader_text(p->frame->reader, region[row]);
        number = strncmp(name, "[stack", 6) ? page[row] + p->ahead : page[row] - p->ahead;
    }
    return colours_of(p->colours, p->core, name, number);
}

struct placed *placed_new(struct cf_tool *t, const struct frame_options *o,
                          const struct cf_machine *m)
{
    struct placed *p = cf_need(t, calloc(1, sizeof *p));

    p->tool = t;
    p->o = o;
    p->frames = cf_need(t, cf_frames_new(o->order, o->page_shift, o->frame_bits, o->seed));
    p->colours = colours_new(t, o, m, p->frames);
    if (p->colours)
        cf_frames_choose(p->frames, choose, p);
    return p;
}

void placed_free(struct placed *p)
{
    if (!p)
        return;
    colours_free(p->colours);
    cf_frames_free(p->frames);
    free(p->pid);
    free(p);
}

void placed_text(const struct placed *p, FILE *out)
{
    static const char *const orders[] = {"random", "sequential", "coloured"};

    fprintf(out, "frames %s; ram %llu; page-size %llu; ", orders[p->o->order],
            1ull << p->o->frame_bits << p->o->page_shift, 1ull << p->o->page_shift);
    if (p->colours)
        colours_text(p->colours, out);
}

void placed_want(const struct placed *p, struct cf_reader *r)
{
    if (p->colours && colours_by_name(p->colours))
        cf_reader_want_each(r, CF_ACCESS, CF_REQUIRED, CF_REGION, CF_PAGENO);
}

void placed_header(const struct placed *p, const struct cf_header *h)
{
    uint64_t page_size = (uint64_t)1 << p->o->page_shift;

    if (p->colours && colours_by_name(p->colours))
        cf_made_pages(p->tool, h, &page_size);
}

int placed_owner(const struct placed *p, uint64_t phys, uint32_t *pid, uint64_t *addr)
{
    uint32_t process;

    if (!cf_frames_owner(p->frames, phys, &process, addr))
        return 0;
    *pid = process < p->pids ? p->pid[process] : 0;
    return 1;
}

void placed_end(const struct placed *p)
{
    if (p->colours)
        colours_end(p->colours);
}

/* Number of the process that has this key, which is its bits in the other order. */
static uint32_t process_of(uint64_t space)
{
    return (uint32_t)(cf_space_key((uint32_t)(space >> 31)) >> 31);
}

/* Of `rows` addresses to p->phys. -1 without memory. */
static int place(struct placed *p, uint32_t process, const uint64_t *addr, uint32_t rows)
{
    const int64_t done = cf_frames_place(p->frames, process, addr, rows, p->phys);

    if (done >= 0 && done < rows)
        cf_die(p->tool, CF_EXIT_ENVIRONMENT,
               "more pages are touched than there is memory%s: give a larger --ram",
               p->colours || p->o->order == CF_FRAMES_COLOURED ? " of their colours" : "");
    return done < 0 ? -1 : 0;
}

/* Bytes of a row that lie in the page of its first. */
static uint32_t in_page(const struct placed *p, uint64_t addr, uint32_t size)
{
    const uint64_t page = (uint64_t)1 << p->o->page_shift, left = page - (addr & (page - 1));

    return size < left ? size : (uint32_t)left;
}

/* A row that crosses the ends of pages: page by page. The slowest serves it. */
static int run_across(struct placed *p, struct cf_hierarchy *h, uint32_t row, uint32_t process,
                      uint8_t *hit)
{
    const uint8_t *op = cf_u8(p->frame, CF_OP);
    uint64_t addr = cf_u64(p->frame, CF_ADDR)[row];
    uint32_t left = cf_u32(p->frame, CF_SIZE)[row];
    uint8_t served;

    hit[row] = 0;
    p->first = row;
    for (p->ahead = 0; left; p->ahead++) {
        p->size[0] = in_page(p, addr, left);
        if (place(p, process, &addr, 1) != 0 ||
            cf_hierarchy_run(h, p->phys, op ? op + row : NULL, p->size, 0, 1, p->core, 0,
                             &served) != 0)
            return -1;
        hit[row] = served > hit[row] ? served : hit[row];
        left -= p->size[0];
        addr += p->size[0];
        if (!addr)
            break; /* the top of the address space */
    }
    p->ahead = 0;
    return 0;
}

/* Rows that have physical addresses. What one has of the next page, whose frame is not known, is
   left out. */
static int run_physical(struct placed *p, struct cf_hierarchy *h, uint32_t from, uint32_t to,
                        uint32_t process, uint8_t *hit)
{
    const uint64_t *addr = cf_u64(p->frame, CF_ADDR), *phys = cf_u64(p->frame, CF_PHYS);
    const uint32_t *size = cf_u32(p->frame, CF_SIZE);

    if (addr && cf_frames_learn(p->frames, process, addr + from, phys + from, to - from) != 0)
        return -1;
    for (uint32_t i = from; i < to; i++)
        p->size[i] = in_page(p, phys[i], size ? size[i] : 1);
    return cf_hierarchy_run(h, phys, cf_u8(p->frame, CF_OP), p->size, from, to, p->core, 0, hit);
}

int placed_run(struct placed *p, struct cf_hierarchy *h, const struct cf_frame *f, uint32_t from,
               uint32_t to, uint32_t core, uint64_t space, uint8_t *hit)
{
    const uint64_t *addr = cf_u64(f, CF_ADDR);
    const uint32_t *size = cf_u32(f, CF_SIZE), *pid = cf_u32(f, CF_PID);
    const uint32_t process = process_of(space);
    const uint8_t *op = cf_u8(f, CF_OP);

    if (cf_array_cleared(&p->pid, &p->pids, process + (size_t)1, sizeof *p->pid) != 0)
        return -1;
    p->pid[process] = pid ? pid[from] : 0;
    p->frame = f;
    p->core = core;
    if (p->o->physical)
        return run_physical(p, h, from, to, process, hit);
    for (uint32_t end; from < to; from = end) {
        for (end = from; end < to && (!size || in_page(p, addr[end], size[end]) == size[end]);)
            end++;
        if (end == from) {
            if (run_across(p, h, end++, process, hit) != 0)
                return -1;
            continue;
        }
        p->first = from;
        if (place(p, process, addr + from, end - from) != 0 ||
            cf_hierarchy_run(h, p->phys, op ? op + from : NULL, size ? size + from : NULL, 0,
                             end - from, core, 0, hit + from) != 0)
            return -1;
    }
    return 0;
}
