/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * names.c - what the name of a mapping means. One path has as many names as builds of its file were
 * recorded. A path is a file, perhaps an ELF file; nothing or
 * "[anon...]" is memory without a name; "[stack...]" grows down; the rest, such as "[heap]" and the
 * memories of an embedded system, are areas that keep their name when they grow.
 * Memory: each distinct name, and the symbols of those that are ELF files and were asked for.
 */
#include <stdlib.h>
#include <string.h>

#include "formats/base/cf_memory.h"
#include "formats/base/cf_strings.h"
#include "filters/parts/resolve/resolve.h"

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

uint32_t names_find(struct names *n, const char *text, const char *build)
{
    const size_t length = strlen(text), more = strlen(build);
    char key[2 * CF_MAX_TEXT + 2];
    uint32_t number;
    int fresh;

    if (!n->texts)
        n->texts = cf_strings_new();
    if (!n->texts)
        return 0;
    if (cf_array_room(&n->at, &n->room, cf_strings_count(n->texts) + (size_t)2, sizeof *n->at) != 0)
        return 0;
    if (length > CF_MAX_TEXT || more > CF_MAX_TEXT)
        return 0;
    memcpy(key, text, length + 1);
    memcpy(key + length + 1, build, more + 1);
    number = cf_strings_number(n->texts, key, length + 1 + more, &fresh);
    if (number && fresh)
        n->at[number] = (struct name){.text = cf_strings_text(n->texts, number),
                                      .build = cf_strings_text(n->texts, number) + length + 1,
                                      .kind = kind_of(text),
                                      .allocator = is_allocator(text)};
    return number;
}

void names_missed(struct names *n, uint32_t name)
{
    struct name *m = &n->at[name];

    if (m->lack && !m->said)
        (m->lack == OTHER_BUILD ? n->where->changed : n->where->missing)(n->where->arg, m->text);
    m->said = 1;
}

struct symbols *names_symbols(struct names *n, uint32_t name)
{
    struct name *m = &n->at[name];

    if (!m->opened && m->kind == KIND_FILE && m->text[0] == '/')
        m->symbols = symbols_open(m->text, m->build, n->where, &m->lack);
    m->opened = 1;
    return m->symbols;
}

void names_clear(struct names *n)
{
    for (uint32_t i = 1; n->texts && i <= cf_strings_count(n->texts); i++)
        symbols_close(n->at[i].symbols);
    cf_strings_free(n->texts);
    free(n->at);
    *n = (struct names){.where = n->where};
}
