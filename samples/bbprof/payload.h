/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * payload.h - what the programs share: the function that is observed, their arguments, and the
 * scenes that the image programs look at.
 *
 * Memory is allocated and filled before observed() is called, and nothing is freed, so that the
 * pages at its beginning are those at its end. Every program prints one number, by which two
 * runs with the same arguments are known to have computed the same.
 */
#ifndef PAYLOAD_H
#define PAYLOAD_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096 };

/* The payload, in each program under this name. */
uint32_t observed(void);

/* It is called through a pointer that the compiler does not see through: so there is one function
   of its name, and calls of it, whatever is optimized. */
static uint32_t (*volatile observe)(void) = observed;

/* Heap memory from the begin of a page on, filled with zeros. */
static inline void *block(size_t bytes)
{
    const size_t whole = (bytes + PAGE - 1) / PAGE * PAGE;
    void *memory = aligned_alloc(PAGE, whole);

    if (!memory) {
        fprintf(stderr, "not enough memory\n");
        exit(3);
    }
    memset(memory, 0, whole);
    return memory;
}

static inline void usage(const char *arguments)
{
    fprintf(stderr, "Usage: %s\n", arguments);
    exit(2);
}

/* Argument `at` as a number from 1 to `most`, or the usual one where it is not given. */
static inline unsigned number(int argc, char **argv, int at, unsigned usual, unsigned most,
                              const char *arguments)
{
    if (argc <= at)
        return usual;
    char *end;
    const unsigned long value = strtoul(argv[at], &end, 10);

    if (argv[at][0] < '0' || argv[at][0] > '9' || *end != 0 || value < 1 || value > most)
        usage(arguments);
    return (unsigned)value;
}

/* One step of a sum over what was computed; zeros count too. */
static inline uint32_t mix(uint32_t sum, uint32_t value)
{
    return (sum ^ value) * 16777619u + 1;
}

/* ---- scenes ---- */

static const struct size {
    const char *name;
    int width, height; /* pixels */
} sizes[] = {{"sqcif", 128, 96}, {"qcif", 176, 144}, {"cif", 352, 288}, {"vga", 640, 480}};

/* Three scenes, and two inputs without one: random noise, and one colour. */
static const char *const inputs[] = {"def", "nor1", "nor2", "deg1", "deg2"};
enum { NOISE = 3, ONE_COLOUR = 4, OBJECTS = 12 };

struct scene {
    int width, height, input;
};

/* Size and input by the first two arguments. */
static inline struct scene scene_of(int argc, char **argv, const char *arguments)
{
    size_t s = 0, i = 0;

    while (argc > 1 && s < sizeof sizes / sizeof *sizes && strcmp(argv[1], sizes[s].name) != 0)
        s++;
    while (argc > 2 && i < sizeof inputs / sizeof *inputs && strcmp(argv[2], inputs[i]) != 0)
        i++;
    if (s == sizeof sizes / sizeof *sizes || i == sizeof inputs / sizeof *inputs)
        usage(arguments);
    return (struct scene){sizes[s].width, sizes[s].height, (int)i};
}

/* A number that looks random, of any other one. */
static inline uint32_t scrambled(uint32_t x)
{
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

/* Draws the scene: discs and rectangles with a texture before a gradient. What is nearer moves
   more from view to view: these are two eyes, or the frames of a film. */
static inline void scene_draw(const struct scene *scene, int view, int32_t *image)
{
    const int w = scene->width, h = scene->height;
    const uint32_t seed = 1000u * (uint32_t)scene->input;

    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            const uint32_t at = (uint32_t)(y * w + x);
            int32_t grey = 40 + 60 * y / h + 50 * x / w;

            for (uint32_t k = 0; k < OBJECTS; k++) {
                const uint32_t r = scrambled(seed + k), depth = k / 2 + 1;
                const int size = w / 16 + (int)(r % 97) * w / 1000;
                const int dx = x + view * (int)depth - (int)(r >> 8 & 1023) * w / 1024;
                const int dy = y - (int)(r >> 18 & 1023) * h / 1024;

                if (k % 3 ? abs(dx) < size && abs(dy) < size : dx * dx + dy * dy < size * size)
                    grey = (int32_t)(r % 200) +
                           (int32_t)(scrambled(seed + (uint32_t)((dy + h) * 4096 + dx + w)) % 12);
            }
            image[at] = scene->input == NOISE ? (int32_t)(scrambled(at * 8 + (uint32_t)view) & 255)
                        : scene->input == ONE_COLOUR ? 128
                                                     : grey;
        }
}

#endif
