/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * frames.h - physical memory for a trace of virtual addresses: each page of each process gets a
 * page frame when it is first touched, as from an operating system; the owner of each is kept.
 *
 * Shared caches are indexed by physical addresses, so how many lines of a program fall into one set
 * is a matter of its frames. Three orders in which frames are given:
 *   random      any frame that is free: a system that has been up for a while
 *   sequential  one after the other
 *   coloured    the low bits of the frame's number are those of the virtual page, so that a cache
 *               of up to 1024 pages a way is indexed as by virtual addresses
 * Where the trace has physical addresses, cf_frames_learn() takes them instead.
 *
 * Page colouring (Liedtke, Haertig and Hohmuth, "OS-Controlled Cache Predictability for Real-Time
 * Systems", RTAS 1997): the colour of a frame is its number modulo the pages in a way of the cache.
 * Pages may be kept to some of the colours. Then the orders choose among these:
 *   random      a colour by seed, process and page alone, so that where one page lies changes
 *               nothing for another; any free frame of it
 *   sequential  the colours in turn, the next frame of each
 *   coloured    the colour whose place among them is the page's number modulo their number
 * A colour without a free frame is passed over for the next one.
 *
 * Memory: 102 to 202 bytes a page that was touched; 4 a colour, and in each set of them 4 more.
 */
#ifndef CF_FRAMES_H
#define CF_FRAMES_H

#include <stdint.h>

enum cf_frame_order { CF_FRAMES_RANDOM, CF_FRAMES_SEQUENTIAL, CF_FRAMES_COLOURED };

enum { CF_FRAMES_MOST_BITS = 28, CF_FRAME_COLOUR_BITS = 10 };

struct cf_frames;

/* Pages of 1 << page_shift bytes (12 to 30), 1 << bits of them (CF_FRAME_COLOUR_BITS to
   CF_FRAMES_MOST_BITS), from number 1 << bits on: no frame has the physical address 0, which in a
   stream stands for one that is not known. `seed` is of the random order. NULL without memory. */
struct cf_frames *cf_frames_new(enum cf_frame_order order, unsigned page_shift, unsigned bits,
                                uint64_t seed);
void cf_frames_free(struct cf_frames *f);

/* Before the first page: there are so many colours, at most as many as frames. -1 without
   memory. */
int cf_frames_colours(struct cf_frames *f, uint32_t colours);

/* A set of `count` colours, from 1, each below their number. Returns its number: 1, 2, ...; 0
   without memory. The set 0 is that of all. */
unsigned cf_frames_set(struct cf_frames *f, const uint32_t *colour, uint32_t count);

/* Has `choose` say of which set a page is, when it gets its frame by row `row` of the call. */
typedef unsigned cf_frames_chooser(void *arg, uint32_t row);
void cf_frames_choose(struct cf_frames *f, cf_frames_chooser *choose, void *arg);

/* phys[i] of addr[i] for the rows of one process, whose pages without a frame get one. Returns how
   many rows were done: all of them, or fewer where no frame is left, and then 0 bytes of memory
   lack; -1 without memory. */
int64_t cf_frames_place(struct cf_frames *f, uint32_t process, const uint64_t *addr, uint32_t rows,
                        uint64_t *phys);

/* Rows of one process of which both addresses are known: the frame is that page's from now on. -1
   without memory. */
int cf_frames_learn(struct cf_frames *f, uint32_t process, const uint64_t *addr,
                    const uint64_t *phys, uint32_t rows);

/* Whose frame holds a physical address, and which virtual address that is. 0 when it
   has no owner. */
int cf_frames_owner(struct cf_frames *f, uint64_t phys, uint32_t *process, uint64_t *addr);

#endif
