/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * names.c - what the name of a mapping means. A path is a file, perhaps an ELF file; nothing or
 * "[anon...]" is memory without a name; "[stack...]" grows down; the rest, such as "[heap]" and the
 * memories of an embedded system, are areas that keep their name when they grow.
 * Memory: each distinct name, and the symbols of those that are ELF files and were asked for.
 */
#include <stdlib.h>
#include <string.h>

#include "filters/parts/resolve/resolve.h"

static uint32_t hash_text(const char *text)
{
    uint32_t h = 2166136261u;

    for (; *text; text++)
        h = (h ^ (uint8_t)*text) * 16777619u;
    return h;
}

static enum kind kind_of(const char *text)
{
    if (!*text || !strncmp(text, "[anon", 5) || !strncmp(text, "//anon", 6) ||
        !strncmp(text, "/dev/zero", 9))
        return KIND_ANON;
    if (!strncmp(text, "[stack", 6))
        return KIND_STACK;
    return strchr(text, '/') ? KIND_FILE : KIND_NAMED;
}

static int is_allocator(const char *text)
{
    static const char *const begins[] = {
        "libc.so",   "libc-2", "ld-linux",   "ld-2",        "ld.so",       "ld64.so",    "ld-musl",
        "libstdc++", "libc++", "vgpreload_", "libjemalloc", "libtcmalloc", "libmimalloc"};
    const char *slash = strrchr(text, '/');
    const char *base = slash ? slash + 1 : text;

    for (unsigned i = 0; i < sizeof begins / sizeof *begins; i++)
        if (!strncmp(base, begins[i], strlen(begins[i])))
            return 1;
    return 0;
}

static int rehash(struct names *n)
{
    uint32_t size = n->table_size ? n->table_size * 2 : 64;
    uint32_t *table = calloc(size, sizeof *table);

    if (!table)
        return -1;
    for (uint32_t i = 1; i <= n->count; i++) {
        uint32_t h = hash_text(n->at[i].text) & (size - 1);
        while (table[h])
            h = (h + 1) & (size - 1);
        table[h] = i;
    }
    free(n->table);
    n->table = table;
    n->table_size = size;
    return 0;
}

uint32_t names_find(struct names *n, const char *text)
{
    if (n->count * 2 >= n->table_size && rehash(n) < 0)
        return 0;
    uint32_t h = hash_text(text) & (n->table_size - 1);
    for (; n->table[h]; h = (h + 1) & (n->table_size - 1))
        if (!strcmp(n->at[n->table[h]].text, text))
            return n->table[h];
    if (n->count + 2 > n->room) {
        uint32_t room = n->room ? n->room * 2 : 32;
        struct name *at = realloc(n->at, room * sizeof *at);
        if (!at)
            return 0;
        n->at = at;
        n->room = room;
    }
    char *copy = strdup(text);
    if (!copy)
        return 0;
    n->at[++n->count] =
        (struct name){.text = copy, .kind = kind_of(text), .allocator = is_allocator(text)};
    n->table[h] = n->count;
    return n->count;
}

struct symbols *names_symbols(struct names *n, uint32_t name)
{
    struct name *m = &n->at[name];

    if (!m->opened && m->kind == KIND_FILE && m->text[0] == '/')
        m->symbols = symbols_open(m->text, n->where);
    m->opened = 1;
    return m->symbols;
}

void names_clear(struct names *n)
{
    for (uint32_t i = 1; i <= n->count; i++) {
        symbols_close(n->at[i].symbols);
        free(n->at[i].text);
    }
    free(n->at);
    free(n->table);
    *n = (struct names){.where = n->where};
}
