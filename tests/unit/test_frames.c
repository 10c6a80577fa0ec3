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
    learnt();
    return done();
}
