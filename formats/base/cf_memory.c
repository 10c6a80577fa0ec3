/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_memory.c - memory for large buffers. See cf_memory.h.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "cf_memory.h"

enum {
    CACHE_LINE = 64,
    LARGE = 1 << 20,
    LEAST_ROOM = 16,
    HUGE_PAGE = 1 << 21,
};

void *cf_memory_take(size_t bytes)
{
    const size_t whole = bytes / HUGE_PAGE * HUGE_PAGE;
    void *p;

    if (posix_memalign(&p, whole ? HUGE_PAGE : CACHE_LINE, bytes ? bytes : 1) != 0)
        return NULL;
    /* only whole ones, so that no more memory is used; refused, these are common pages */
    if (whole)
        (void)madvise(p, whole, MADV_HUGEPAGE);
    return p;
}

void *cf_memory_grow(void *old, size_t used, size_t bytes)
{
    if (bytes < LARGE)
        return realloc(old, bytes);
    size_t room = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    void *p = room < bytes ? NULL : cf_memory_take(room);
    if (!p)
        return NULL;
    if (used)
        memcpy(p, old, used);
    free(old);
    return p;
}

int cf_array_room(void *array, size_t *room, size_t count, size_t width)
{
    size_t more = *room ? 2 * *room : LEAST_ROOM;
    uint8_t *p;

    if (count <= *room)
        return 0;
    while (more < count)
        more *= 2;
    memcpy(&p, array, sizeof p);
    p = cf_memory_grow(p, *room * width, more * width);
    if (!p)
        return -1;
    memcpy(array, &p, sizeof p);
    *room = more;
    return 0;
}

int cf_array_cleared(void *array, size_t *room, size_t count, size_t width)
{
    const size_t before = *room;
    uint8_t *p;

    if (cf_array_room(array, room, count, width) != 0)
        return -1;
    memcpy(&p, array, sizeof p);
    if (*room > before)
        memset(p + before * width, 0, (*room - before) * width);
    return 0;
}

char *cf_memory_text(FILE *f, char **text)
{
    int bad = ferror(f);

    bad |= fclose(f) != 0;
    if (bad) {
        free(*text);
        return NULL;
    }
    return *text;
}

int cf_bytes_room(struct cf_bytes *b, size_t more)
{
    if (b->room - b->used >= more)
        return 0;
    size_t room = b->used + more + (b->used + more) / 4 + 256;
    uint8_t *data = cf_memory_grow(b->data, b->used, room);
    if (!data)
        return -1;
    b->data = data;
    b->room = room;
    return 0;
}

int cf_bytes_add(struct cf_bytes *b, const void *data, size_t bytes)
{
    if (cf_bytes_room(b, bytes) != 0)
        return -1;
    memcpy(b->data + b->used, data, bytes);
    b->used += bytes;
    return 0;
}
