/* SPDX-License-Identifier: BSD-2-Clause */
/* Page frames against a list that is searched from its begin: every page one frame, no frame twice,
   offsets kept, owners found. */
#include <string.h>

#include "filters/engine/snapshot/frames.h"
#include "tap.h"

static uint64_t state = 3;

static uint64_t next(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

enum { ROWS = 4000, PAGES = 300 };

static void random_trace(enum cf_frame_order order, unsigned shift, const char *name)
{
    static uint64_t addr[ROWS], phys[ROWS], page_of[ROWS], frame_of[ROWS];
    static uint32_t process_of[ROWS];
    struct cf_frames *f = cf_frames_new(order, shift, 16, 7);
    const uint64_t inside = ((uint64_t)1 << shift) - 1;
    uint32_t known = 0, process = 0;
    int same = 1, owned = 1, coloured = 1;

    for (uint32_t i = 0; i < ROWS; i++)
        addr[i] = (next() % PAGES << shift) + (next() & inside) +
                  (i % 7 == 0 ? 0xffff800000000000u : 0x7f0000000000u);
    for (uint32_t from = 0, rows; from < ROWS; from += rows, process = (uint32_t)(next() % 5)) {
        rows = 1 + (uint32_t)(next() % 40);
        rows = rows < ROWS - from ? rows : ROWS - from;
        same &= cf_frames_place(f, process, addr + from, rows, phys + from) == rows;
        for (uint32_t i = from; i < from + rows && same; i++) {
            const uint64_t page = addr[i] >> shift, frame = phys[i] >> shift;
            uint32_t k = 0, owner;
            uint64_t back;

            while (k < known && (page_of[k] != page || process_of[k] != process))
                k++;
            if (k == known) {
                for (uint32_t j = 0; j < known; j++)
                    same &= frame_of[j] != frame;
                page_of[known] = page;
                process_of[known] = process;
                frame_of[known++] = frame;
            }
            same &= frame_of[k] == frame && (phys[i] & inside) == (addr[i] & inside);
            owned &=
                cf_frames_owner(f, phys[i], &owner, &back) && owner == process && back == addr[i];
            coloured &= frame % 1024 == page % 1024;
        }
    }
    ok(same, "%s, pages of %u bytes: each page has a frame of its own", name, 1u << shift);
    ok(owned, "%s, pages of %u bytes: frames tell their owners", name, 1u << shift);
    if (order == CF_FRAMES_COLOURED)
        ok(coloured, "%s, pages of %u bytes: frames have the pages' low bits", name, 1u << shift);
    cf_frames_free(f);
}

/* All frames are given, each once and none at address 0, and then none. */
static void exhausted(enum cf_frame_order order, const char *name)
{
    enum { ALL = 1 << 12 };
    static uint64_t addr[ALL + 1], phys[ALL + 1];
    static uint8_t given[ALL];
    struct cf_frames *f = cf_frames_new(order, 12, 12, 1);
    uint32_t process;
    uint64_t back;
    int once = 1, spread = 0;

    for (uint32_t i = 0; i <= ALL; i++)
        addr[i] = (uint64_t)i << 12;
    memset(given, 0, sizeof given);
    is_u64((uint64_t)cf_frames_place(f, 0, addr, ALL + 1, phys), ALL, "%s: no frame is left", name);
    for (uint32_t i = 0; i < ALL; i++) {
        once &= phys[i] >> 24 == 1 && !given[phys[i] >> 12 & (ALL - 1)];
        given[phys[i] >> 12 & (ALL - 1)] = 1;
        spread += i && phys[i] != phys[i - 1] + 4096;
    }
    ok(once, "%s: each frame once", name);
    ok(order == CF_FRAMES_RANDOM ? spread > ALL * 9 / 10 : spread < ALL / 512, "%s: order", name);
    ok(!cf_frames_owner(f, 0, &process, &back), "%s: a frame of nobody", name);
    cf_frames_free(f);
}

/* ---- colours ---- */

static unsigned set_of_page(void *arg, uint32_t row)
{
    const unsigned *const *set = arg;

    return (*set)[row];
}

/* Pages of three sets (all colours, 2 and 5, 0) of 7 or 16 colours, however they are asked for. */
static void kept_to_colours(enum cf_frame_order order, uint32_t colours, const char *name)
{
    enum { SOME = 600, ALL_BITS = 12 };
    static uint64_t addr[SOME], phys[SOME];
    static unsigned set[SOME];
    static uint8_t given[2 << ALL_BITS];
    const unsigned *sets = set;
    const uint32_t two[] = {2, 5}, one[] = {0};
    struct cf_frames *f = cf_frames_new(order, 12, ALL_BITS, 5);
    uint32_t turn[3] = {0};
    int kept = 1, once = 1, in_order = 1;

    ok(cf_frames_colours(f, colours) == 0 && cf_frames_set(f, two, 2) == 1 &&
           cf_frames_set(f, one, 1) == 2,
       "%s, %u colours: sets are numbered", name, colours);
    cf_frames_choose(f, set_of_page, &sets);
    memset(given, 0, sizeof given);
    for (uint32_t i = 0; i < SOME; i++) {
        addr[i] = (uint64_t)(i * 7 % SOME) << 12;
        set[i] = i % 3;
    }
    for (uint32_t i = 0; i < SOME; i += 50) {
        sets = set + i;
        if (cf_frames_place(f, 0, addr + i, 50, phys + i) != 50)
            once = 0;
    }
    for (uint32_t i = 0; i < SOME; i++) {
        const uint32_t frame = (uint32_t)(phys[i] >> 12), colour = frame % colours;
        const uint32_t page = (uint32_t)(addr[i] >> 12), n = turn[set[i]]++;

        kept &= set[i] == 0 || (set[i] == 1 && (colour == 2 || colour == 5)) || colour == 0;
        once &= frame >> ALL_BITS == 1 && !given[frame]++;
        if (order == CF_FRAMES_SEQUENTIAL)
            in_order &= colour == (set[i] == 0 ? n % colours : set[i] == 1 ? two[n % 2] : 0);
        if (order == CF_FRAMES_COLOURED)
            in_order &= colour == (set[i] == 0 ? page % colours : set[i] == 1 ? two[page % 2] : 0);
    }
    ok(kept, "%s, %u colours: pages have colours of their sets", name, colours);
    ok(once, "%s, %u colours: each frame once", name, colours);
    ok(in_order, "%s, %u colours: which of them", name, colours);
    cf_frames_free(f);
}

/* Colours of the pages of set 0, where others are of set 1, or are not there. */
static void independent(void)
{
    enum { SOME = 200 };
    uint64_t addr[2 * SOME], phys[2 * SOME], alone[SOME];
    unsigned set[2 * SOME];
    const unsigned *sets = set;
    const uint32_t few[] = {1, 2, 3};
    struct cf_frames *f = cf_frames_new(CF_FRAMES_RANDOM, 12, 14, 5),
                     *g = cf_frames_new(CF_FRAMES_RANDOM, 12, 14, 5);
    uint32_t many[16] = {0};
    int same = 1, spread = 1;

    for (uint32_t i = 0; i < 2 * SOME; i++) {
        addr[i] = (uint64_t)(i + 4000) << 12;
        set[i] = i % 2;
    }
    ok(cf_frames_colours(f, 16) == 0 && cf_frames_set(f, few, 3) == 1, "a set");
    cf_frames_choose(f, set_of_page, &sets);
    is_u64((uint64_t)cf_frames_place(f, 0, addr, 2 * SOME, phys), 2 * SOME, "places");
    ok(cf_frames_colours(g, 16) == 0, "no set");
    for (uint32_t i = 0; i < SOME; i++)
        same &= cf_frames_place(g, 0, addr + 2 * i, 1, alone + i) == 1 &&
                (alone[i] >> 12) % 16 == (phys[2 * i] >> 12) % 16;
    for (uint32_t i = 0; i < SOME; i++)
        many[alone[i] >> 12 & 15]++;
    for (uint32_t c = 0; c < 16; c++)
        spread &= many[c] > 2 && many[c] < 30;
    ok(same, "a page's colour is a matter of itself alone");
    ok(spread, "all colours are given");
    cf_frames_free(f);
    cf_frames_free(g);
}

/* 1024 frames of 3 colours: 341 of each. */
static void no_colour_left(enum cf_frame_order order, const char *name)
{
    static uint64_t addr[1024], phys[1024];
    static unsigned set[1024];
    const unsigned *sets = set;
    const uint32_t one[] = {1};
    struct cf_frames *f = cf_frames_new(order, 12, 10, 5);

    for (uint32_t i = 0; i < 1024; i++) {
        addr[i] = (uint64_t)i << 12;
        set[i] = 1;
    }
    ok(cf_frames_colours(f, 3) == 0 && cf_frames_set(f, one, 1) == 1, "%s: a set", name);
    cf_frames_choose(f, set_of_page, &sets);
    is_u64((uint64_t)cf_frames_place(f, 0, addr, 1024, phys), 341, "%s: frames of a colour", name);
    memset(set, 0, sizeof set);
    is_u64((uint64_t)cf_frames_place(f, 1, addr, 1024, phys), 682, "%s: those of the others", name);
    cf_frames_free(f);
}

static void learnt(void)
{
    const uint64_t addr[] = {0x1000, 0x1040, 0x2000, 0x1008},
                   phys[] = {0xa000, 0xa040, 0xb000, 0xc008};
    struct cf_frames *f = cf_frames_new(CF_FRAMES_RANDOM, 12, 12, 1);
    uint32_t process = 9;
    uint64_t back = 0;

    is_u64((uint64_t)cf_frames_learn(f, 2, addr, phys, 4), 0, "learns");
    ok(cf_frames_owner(f, 0xa7c0, &process, &back) && process == 2 && back == 0x17c0, "a frame");
    ok(cf_frames_owner(f, 0xc000, &process, &back) && back == 0x1000, "its page moved");
    ok(!cf_frames_owner(f, 0xd000, &process, &back), "a frame that was not told");
    cf_frames_free(f);
}

int main(void)
{
    random_trace(CF_FRAMES_RANDOM, 12, "random");
    random_trace(CF_FRAMES_SEQUENTIAL, 12, "sequential");
    random_trace(CF_FRAMES_COLOURED, 12, "coloured");
    random_trace(CF_FRAMES_RANDOM, 21, "random");
    exhausted(CF_FRAMES_RANDOM, "random");
    exhausted(CF_FRAMES_SEQUENTIAL, "sequential");
    kept_to_colours(CF_FRAMES_RANDOM, 7, "random");
    kept_to_colours(CF_FRAMES_RANDOM, 16, "random");
    kept_to_colours(CF_FRAMES_SEQUENTIAL, 7, "sequential");
    kept_to_colours(CF_FRAMES_SEQUENTIAL, 16, "sequential");
    kept_to_colours(CF_FRAMES_COLOURED, 7, "coloured");
    kept_to_colours(CF_FRAMES_COLOURED, 16, "coloured");
    independent();
    no_colour_left(CF_FRAMES_RANDOM, "random");
    no_colour_left(CF_FRAMES_SEQUENTIAL, "sequential");
    no_colour_left(CF_FRAMES_COLOURED, "coloured");
    learnt();
    return done();
}
