/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * layout.c - the mappings of a process: what they are called, and whether they are the same.
 *
 * Regions have the names of cf-resolve, and pages its numbers: a stack counts from its top, what is
 * written of a file from where its segment begins, though the first pages are only read from once
 * the dynamic linker is done with them. Memory without a name is named in anon.c.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/base/cf_builds.h"
#include "capture/pages/pages.h"
#include "formats/base/cf_memory.h"

static char *read_file(const char *path, size_t *bytes)
{
    struct cf_bytes b = {0};
    FILE *f = fopen(path, "re");
    size_t n = 1;
    int whole;

    while (f && n && cf_bytes_room(&b, 65536) == 0) {
        n = fread(b.data + b.used, 1, 65535, f);
        b.used += n;
    }
    whole = f && !n && !ferror(f) && b.used;
    if (f)
        fclose(f);
    if (!whole) {
        free(b.data);
        return NULL;
    }
    b.data[b.used] = '\0';
    *bytes = b.used;
    return (char *)b.data;
}

static int named(const struct pages_mapping *m, const char *begin)
{
    return !strncmp(m->name, begin, strlen(begin));
}

int pages_anonymous(const struct pages_mapping *m)
{
    return !*m->name || named(m, "[anon");
}

/* One line; 0 for what is none, and for [vsyscall], which is no mapping of the process. */
static int parse(char *line, struct pages_mapping *m)
{
    char perms[5] = "";
    int at = 0;

    *m = (struct pages_mapping){.kind = PAGES_NO_KIND};
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %n", &m->start, &m->end,
               perms, &m->offset, &at) != 4 ||
        !at)
        return 0;
    m->name = line + at;
    m->base = m->start;
    m->flags = (perms[0] == 'r' ? PAGECTL_READ : 0) | (perms[1] == 'w' ? PAGECTL_WRITE : 0) |
               (perms[2] == 'x' ? PAGECTL_EXEC : 0) | (perms[3] == 's' ? PAGECTL_SHARED : 0);
    return m->end > m->start && !named(m, "[vsyscall]");
}

static int is_library(const struct pages_layout *l, const char *name)
{
    for (size_t i = 0; i < l->count; i++)
        if (l->mapping[i].flags & PAGECTL_EXEC && !strcmp(l->mapping[i].name, name))
            return 1;
    return 0;
}

static enum pages_kind kind_of(const struct pages_layout *l, const struct pages_mapping *m,
                               const char *exe, const struct pages_mapping *bss_of)
{
    if (m->start == l->ours || m->flags & PAGECTL_SHARED ||
        !(m->flags & (PAGECTL_READ | PAGECTL_WRITE | PAGECTL_EXEC)))
        return PAGES_NO_KIND;
    if (bss_of)
        return !strcmp(bss_of->name, exe) ? PAGES_BSS : PAGES_LIB;
    if (named(m, "[heap]"))
        return PAGES_HEAP;
    if (named(m, "[stack"))
        return PAGES_STACK;
    if (pages_anonymous(m))
        return PAGES_ANON;
    if (m->name[0] != '/')
        return PAGES_NO_KIND;
    if (strcmp(m->name, exe) != 0)
        return is_library(l, m->name) ? PAGES_LIB : PAGES_NO_KIND;
    return m->flags & PAGECTL_EXEC    ? PAGES_TEXT
           : m->flags & PAGECTL_WRITE ? PAGES_DATA
                                      : PAGES_RODATA;
}

/* The same mapping with the same permissions comes first: only further ones state their offset. */
static int is_first(const struct pages_layout *l, const struct pages_mapping *m)
{
    for (const struct pages_mapping *o = l->mapping; o < m; o++)
        if (o->flags == m->flags && !strcmp(o->name, m->name))
            return 0;
    return 1;
}

static char *region_of(const struct pages_layout *l, const struct pages_mapping *m,
                       const struct pages_mapping *bss_of)
{
    char perms[5] = "---", *text = NULL;
    int n;

    perms[0] = m->flags & PAGECTL_READ ? 'r' : '-';
    perms[1] = m->flags & PAGECTL_WRITE ? 'w' : '-';
    perms[2] = m->flags & PAGECTL_EXEC ? 'x' : '-';
    if (bss_of)
        n = asprintf(&text, "%s [bss]", bss_of->name);
    else if (pages_anonymous(m))
        n = asprintf(&text, "[anon]");
    else if (m->name[0] != '/')
        n = asprintf(&text, "%s", m->name);
    else if (is_first(l, m))
        n = asprintf(&text, "%s %s", m->name, perms);
    else
        n = asprintf(&text, "%s %s +0x%" PRIx64, m->name, perms, m->offset);
    return n < 0 ? NULL : text;
}

char *pages_layout_build(const struct pages_layout *l)
{
    static struct cf_builds builds;
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);

    for (size_t i = 0; f && i < l->count; i++) {
        const struct pages_mapping *m = &l->mapping[i];

        if (m->flags & PAGECTL_EXEC && m->name[0] == '/' && is_first(l, m))
            fprintf(f, "%s%s %s", ftell(f) ? ", " : "", strrchr(m->name, '/') + 1,
                    cf_builds_find(&builds, m->name, 0, 0));
    }
    return f ? cf_memory_text(f, &text) : NULL;
}

/* Kinds and names, once all mappings are known. */
static int describe(struct pages_layout *l, const char *exe)
{
    for (size_t i = 0; i < l->count; i++) {
        struct pages_mapping *m = &l->mapping[i];
        const struct pages_mapping *before = i ? &l->mapping[i - 1] : NULL, *bss_of = NULL;

        if (before && before->end == m->start && pages_anonymous(m) && before->name[0] == '/' &&
            before->flags & PAGECTL_WRITE && is_library(l, before->name))
            bss_of = before;
        m->kind = kind_of(l, m, exe, bss_of);
        if (m->kind == PAGES_NO_KIND)
            continue;
        if (m->kind == PAGES_STACK)
            m->base = m->end;
        else if (before && before->end == m->start && !strcmp(before->name, m->name) &&
                 m->name[0] == '/' && m->flags == (PAGECTL_READ | PAGECTL_WRITE) &&
                 before->flags == PAGECTL_READ &&
                 before->offset + (before->end - before->start) == m->offset)
            m->base = before->start;
        m->region = region_of(l, m, bss_of);
        if (!m->region)
            return -1;
    }
    return 0;
}

int pages_layout_read(struct pages_layout *l, pid_t pid, uint64_t ours)
{
    char path[64], exe[4096 + 16] = "";
    struct pages_mapping m;

    pages_layout_free(l);
    l->ours = ours;
    snprintf(path, sizeof path, "/proc/%d/exe", pid);
    if (readlink(path, exe, sizeof exe - 1) < 0)
        return -1;
    snprintf(path, sizeof path, "/proc/%d/maps", pid);
    l->text = read_file(path, &l->bytes);
    l->names = l->text ? strdup(l->text) : NULL;
    if (!l->names)
        return -1;
    for (char *line = l->names, *end; *line; line = end) {
        end = strchr(line, '\n');
        if (end)
            *end++ = '\0';
        else
            end = line + strlen(line);
        if (!parse(line, &m))
            continue;
        if (cf_array_room(&l->mapping, &l->room, l->count + 1, sizeof *l->mapping) != 0)
            return -1;
        l->mapping[l->count++] = m;
    }
    return describe(l, exe);
}

void pages_layout_free(struct pages_layout *l)
{
    for (size_t i = 0; i < l->count; i++)
        free(l->mapping[i].region);
    free(l->mapping);
    free(l->text);
    free(l->names);
    *l = (struct pages_layout){0};
}

/* ---- two of them ---- */

static void tell(char *why, size_t size, const char *what, const struct pages_mapping *m)
{
    snprintf(why, size, "%s: %s", *m->name ? m->name : "memory without a name", what);
}

int pages_layout_same(const struct pages_layout *a, const struct pages_layout *b, char *why,
                      size_t size)
{
    for (size_t i = 0; i < a->count && i < b->count; i++) {
        const struct pages_mapping *x = &a->mapping[i], *y = &b->mapping[i];

        if (strcmp(x->name, y->name) != 0 || x->flags != y->flags || x->offset != y->offset)
            tell(why, size, "is not where it was in the list of mappings", y);
        else if (x->end - x->start != y->end - y->start && x->kind != PAGES_STACK)
            tell(why, size, "has another size than before", y);
        else
            continue;
        return 0;
    }
    if (a->count != b->count)
        snprintf(why, size, "%zu mappings, not %zu as before", b->count, a->count);
    return a->count == b->count;
}

int pages_layout_changed(const struct pages_layout *before, const struct pages_layout *now,
                         char *why, size_t size)
{
    if (before->bytes == now->bytes && !memcmp(before->text, now->text, now->bytes))
        return 0;
    for (size_t i = 0; i < before->count && i < now->count; i++) {
        const struct pages_mapping *x = &before->mapping[i], *y = &now->mapping[i];

        if (!strcmp(x->name, y->name) && x->start == y->start && x->end == y->end &&
            x->flags == y->flags)
            continue;
        if (!strcmp(x->name, y->name) && (x->start == y->start || x->end == y->end) &&
            x->flags == y->flags)
            tell(why, size, "its size changed in the function", y);
        else
            tell(why, size, "came, went or changed its permissions in the function", y);
        return 1;
    }
    snprintf(why, size, "%zu mappings became %zu in the function", before->count, now->count);
    return 1;
}

/* The peak of all its mappings (VmPeak), less those that are neither heap nor without a name. */
uint64_t pages_memory(pid_t pid, const struct pages_layout *l)
{
    char path[64], line[256];
    uint64_t peak = 0, others = 0;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%d/status", pid);
    f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "VmPeak: %" SCNu64, &peak) == 1)
            break;
    if (f)
        fclose(f);
    for (size_t i = 0; i < l->count; i++)
        if (l->mapping[i].kind != PAGES_HEAP && l->mapping[i].kind != PAGES_ANON)
            others += l->mapping[i].end - l->mapping[i].start;
    peak *= 1024;
    return peak > others ? peak - others : 0;
}

uint64_t pages_address(const struct pages_layout *l, const struct pages_page *p)
{
    const struct pages_mapping *m = &l->mapping[p->mapping];

    return m->kind == PAGES_STACK ? m->base - (((uint64_t)p->number + 1) << PAGES_SHIFT)
                                  : m->base + ((uint64_t)p->number << PAGES_SHIFT);
}
