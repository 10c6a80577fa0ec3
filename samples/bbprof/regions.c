/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * regions - connected regions that stay as they are over many grey levels (as MSER finds them).
 *
 * Pixels are taken from dark to bright. Each joins the regions of its neighbours that were taken
 * before; the record of the largest, at the pixel where that one began, becomes that of all. A
 * region that hardly grew while the level rose is stable.
 *
 * Which pages matter depends on the image by construction: what is counted of a region is counted
 * in its record, which lies where its darkest pixel is. One colour has one such place, noise has
 * thousands.
 */
#include "payload.h"

enum { LEVELS = 256, STEP = 8 }; /* levels over which growth is judged */

struct region {
    uint32_t parent; /* itself, where the region began */
    uint32_t area;   /* pixels; 0: not taken yet */
    uint32_t level, area_then;
    uint32_t x, y; /* sums */
    uint32_t stable;
    uint32_t brightest;
};

static const char arguments[] = "regions [sqcif|qcif|cif|vga [def|nor1|nor2|deg1|deg2]]";
static struct scene scene;
static int32_t *image;
static uint32_t *order;
static struct region *regions;

static void sort_pixels(void)
{
    const int pixels = scene.width * scene.height;
    uint32_t begin[LEVELS + 1] = {0};

    for (int i = 0; i < pixels; i++)
        begin[image[i] + 1]++;
    for (int l = 0; l < LEVELS; l++)
        begin[l + 1] += begin[l];
    for (int i = 0; i < pixels; i++)
        order[begin[image[i]]++] = (uint32_t)i;
}

static uint32_t root_of(uint32_t at)
{
    while (regions[at].parent != at) {
        regions[at].parent = regions[regions[at].parent].parent;
        at = regions[at].parent;
    }
    return at;
}

static uint32_t join(uint32_t a, uint32_t neighbour)
{
    if (regions[neighbour].area == 0)
        return a;
    const uint32_t b = root_of(neighbour);
    struct region *to = &regions[a], *from = &regions[b];

    if (a == b)
        return a;
    if (to->area < from->area) {
        to = &regions[b];
        from = &regions[a];
    }
    from->parent = to->parent;
    to->area += from->area;
    to->x += from->x;
    to->y += from->y;
    return to->parent;
}

/* The pixel has been added: is its region still about what it was some levels ago? */
static void judge(struct region *region, uint32_t level)
{
    region->brightest = level;
    if (level < region->level + STEP)
        return;
    if ((region->area - region->area_then) * 8 < region->area)
        region->stable++;
    region->level = level;
    region->area_then = region->area;
}

uint32_t observed(void)
{
    const uint32_t w = (uint32_t)scene.width, h = (uint32_t)scene.height;
    uint32_t sum = 0;

    sort_pixels();
    for (uint32_t i = 0; i < w * h; i++) {
        const uint32_t at = order[i], x = at % w, y = at / w, level = (uint32_t)image[at];
        uint32_t a = at;

        regions[at] = (struct region){
            .parent = at, .area = 1, .level = level, .area_then = 1, .x = x, .y = y};
        if (x > 0)
            a = join(a, at - 1);
        if (x + 1 < w)
            a = join(a, at + 1);
        if (y > 0)
            a = join(a, at - w);
        if (y + 1 < h)
            a = join(a, at + w);
        judge(&regions[a], level);
        sum = mix(sum, regions[a].area + regions[a].stable);
    }
    return mix(mix(sum, regions[root_of(0)].x), regions[root_of(0)].y);
}

int main(int argc, char **argv)
{
    scene = scene_of(argc, argv, arguments);

    const size_t pixels = (size_t)(scene.width * scene.height);
    image = block(pixels * sizeof *image);
    order = block(pixels * sizeof *order);
    regions = block(pixels * sizeof *regions);
    scene_draw(&scene, 0, image);
    printf("%08x\n", (unsigned)observe());
    return 0;
}
