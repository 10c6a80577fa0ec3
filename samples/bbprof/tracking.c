/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tracking - corners of a first image, followed through those that come after it.
 *
 * A pixel is a corner by the gradients around it (Harris); of each cell of the image the best one
 * is followed, by the place nearby at which its surroundings differ least. Cells cover the
 * image evenly, so that the input matters little.
 */
#include "payload.h"

/* Pixels: of a cell's side, from the middle of a corner to its border, and how far it may move. */
enum { CELL = 8, HALF = 2, FAR = 3, MOST = (640 / CELL) * (480 / CELL), FRAMES = 64 };

static const char arguments[] =
    "tracking [sqcif|qcif|cif|vga [def|nor1|nor2|deg1|deg2 [FRAMES [4]]]]";
static struct scene scene;
static int32_t *frame[FRAMES + 1], *across, *down, *strength;
static int frames, features;
static struct feature {
    int x, y;
} feature[MOST];

static void find_gradients(const int32_t *image)
{
    const int w = scene.width, h = scene.height;

    for (int y = 1; y < h - 1; y++)
        for (int x = 1; x < w - 1; x++) {
            across[y * w + x] = (image[y * w + x + 1] - image[y * w + x - 1]) / 2;
            down[y * w + x] = (image[(y + 1) * w + x] - image[(y - 1) * w + x]) / 2;
        }
}

static void find_corners(void)
{
    const int w = scene.width, h = scene.height;

    for (int y = HALF; y < h - HALF; y++)
        for (int x = HALF; x < w - HALF; x++) {
            int64_t xx = 0, yy = 0, xy = 0;
            for (int i = -1; i <= 1; i++)
                for (int j = -1; j <= 1; j++) {
                    const int32_t a = across[(y + i) * w + x + j], d = down[(y + i) * w + x + j];
                    xx += a * a;
                    yy += d * d;
                    xy += a * d;
                }
            strength[y * w + x] =
                (int32_t)((xx * yy - xy * xy - (xx + yy) * (xx + yy) / 16) / 4096);
        }
}

/* The best corner of each cell, but for the cells at the border, from which it may leave. */
static void choose_features(void)
{
    const int w = scene.width;

    for (int top = CELL; top + 2 * CELL <= scene.height; top += CELL)
        for (int from = CELL; from + 2 * CELL <= w; from += CELL) {
            struct feature best = {from, top};
            for (int y = top; y < top + CELL; y++)
                for (int x = from; x < from + CELL; x++)
                    if (strength[y * w + x] > strength[best.y * w + best.x])
                        best = (struct feature){x, y};
            feature[features++] = best;
        }
}

static uint32_t difference(const int32_t *was, const int32_t *is)
{
    uint32_t sum = 0;

    for (int i = -HALF; i <= HALF; i++)
        for (int j = -HALF; j <= HALF; j++) {
            const int32_t d = was[i * scene.width + j] - is[i * scene.width + j];
            sum += (uint32_t)(d * d);
        }
    return sum;
}

static void follow(struct feature *f, const int32_t *was, const int32_t *is)
{
    const int w = scene.width, h = scene.height, border = FAR + HALF;
    const struct feature from = *f;
    uint32_t least = UINT32_MAX;

    if (from.x < border || from.x >= w - border || from.y < border || from.y >= h - border)
        return; /* about to leave the image */
    for (int y = from.y - FAR; y <= from.y + FAR; y++)
        for (int x = from.x - FAR; x <= from.x + FAR; x++) {
            const uint32_t d = difference(&was[from.y * w + from.x], &is[y * w + x]);
            if (d < least) {
                least = d;
                *f = (struct feature){x, y};
            }
        }
}

uint32_t observed(void)
{
    uint32_t sum = 0;

    find_gradients(frame[0]);
    find_corners();
    choose_features();
    for (int k = 1; k <= frames; k++)
        for (int i = 0; i < features; i++) {
            follow(&feature[i], frame[k - 1], frame[k]);
            sum = mix(mix(sum, (uint32_t)feature[i].x), (uint32_t)feature[i].y);
        }
    return sum;
}

int main(int argc, char **argv)
{
    scene = scene_of(argc, argv, arguments);
    frames = (int)number(argc, argv, 3, 4, FRAMES, arguments);

    const size_t bytes = (size_t)(scene.width * scene.height) * sizeof(int32_t);
    across = block(bytes);
    down = block(bytes);
    strength = block(bytes);
    for (int k = 0; k <= frames; k++)
        scene_draw(&scene, k, frame[k] = block(bytes));
    printf("%08x\n", (unsigned)observe());
    return 0;
}
