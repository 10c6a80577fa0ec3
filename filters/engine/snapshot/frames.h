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
 * Memory: 102 to 202 bytes a page that was touched.
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
