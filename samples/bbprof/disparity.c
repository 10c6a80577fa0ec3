/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * disparity - how near things are, by two eyes: what moved more from one image to the other.
 *
 * For each shift, the squares of differences between the left image and the shifted right one are
 * added up over a window at each pixel, by sums over all that is above and left of it. The shift
 * with the least sum is that of the pixel. Which memory is used how often does not depend on what
 * the images show, but for the stores of a new least sum.
 */
#include "payload.h"

enum { HALF = 4 }; /* pixels from the middle of a window to its border */

static const char arguments[] =
    "disparity [sqcif|qcif|cif|vga [def|nor1|nor2|deg1|deg2 [SHIFTS [16]]]]";
static struct scene scene;
static int32_t *left, *right;
static uint32_t *sums, *least, *nearest;
static int shifts;

/* sums[y][x] is that of all pixels above and left of (x, y), and of it. */
static void add_up(int shift)
{
    const int w = scene.width, h = scene.height;

    for (int y = 0; y < h; y++) {
        uint32_t row = 0;
        for (int x = 0; x < w; x++) {
            const int from = x >= shift ? x - shift : 0;
            const int32_t d = left[y * w + x] - right[y * w + from];
            row += (uint32_t)(d * d);
            sums[y * w + x] = row + (y > 0 ? sums[(y - 1) * w + x] : 0);
        }
    }
}

static void choose(uint32_t shift)
{
    const int w = scene.width, h = scene.height;

    for (int y = HALF + 1; y < h - HALF; y++)
        for (int x = HALF + 1; x < w - HALF; x++) {
            const uint32_t *above = &sums[(y - HALF - 1) * w + x],
                           *below = &sums[(y + HALF) * w + x];
            const uint32_t cost = below[HALF] - below[-HALF - 1] - above[HALF] + above[-HALF - 1];
            if (shift == 0 || cost < least[y * w + x]) {
                least[y * w + x] = cost;
                nearest[y * w + x] = shift;
            }
        }
}

uint32_t observed(void)
{
    uint32_t sum = 0;

    for (int s = 0; s < shifts; s++) {
        add_up(s);
        choose((uint32_t)s);
    }
    for (int i = 0; i < scene.width * scene.height; i++)
        sum = mix(mix(sum, nearest[i]), least[i]);
    return sum;
}

int main(int argc, char **argv)
{
    scene = scene_of(argc, argv, arguments);
    shifts = (int)number(argc, argv, 3, 16, 64, arguments);

    const size_t bytes = (size_t)(scene.width * scene.height) * sizeof(int32_t);
    left = block(bytes);
    right = block(bytes);
    sums = block(bytes);
    least = block(bytes);
    nearest = block(bytes);
    scene_draw(&scene, 0, left);
    scene_draw(&scene, 1, right);
    printf("%08x\n", (unsigned)observe());
    return 0;
}
