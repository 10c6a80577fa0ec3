/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * files.c - which files an import reads, in which order. See import.h.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "formats/base/cf_memory.h"
#include "formats/base/cf_number.h"

#include "capture/dumpcache/import.h"

static void *grown(struct cf_dumpcache *m, void *list, size_t count, size_t size)
{
    /* at 16, 32, 64 and so on there is no room left */
    if (count && (count < 16 || (count & (count - 1))))
        return list;
    return cf_need(m->tool, realloc(list, (count ? 2 * count : 16) * size));
}

static void add_file(struct cf_dumpcache *m, char *name, int folder, uint64_t number,
                     unsigned level)
{
    m->file = grown(m, m->file, m->files, sizeof *m->file);
    if (!name)
        cf_out_of_memory(m->tool);
    m->file[m->files++] = (struct cf_dumpcache_file){name, folder, number, level};
}

/* "cachedump<N>.csv", or "cachedump.<level>.<N>.csv" of the fork: 1, or 0 where it is called
   otherwise, and -1 where it is so but for the numbers. */
static int is_snapshot(const char *name, uint64_t *number, uint64_t *level)
{
    static const char first[] = "cachedump", last[] = ".csv";
    const size_t length = strlen(name);

    if (length < sizeof first + sizeof last - 2 || strncmp(name, first, sizeof first - 1) != 0 ||
        strcmp(name + length - (sizeof last - 1), last) != 0)
        return 0;
    name += sizeof first - 1;
    *level = 0;
    if (*name == '.') {
        name = cf_scan_number(name + 1, CF_READ_DECIMAL, level);
        if (!name || *level < 1 || *level > 9 || *name++ != '.')
            return -1;
    }
    name = cf_scan_number(name, CF_READ_DECIMAL, number);
    return name && strcmp(name, last) == 0 ? 1 : -1;
}

static int by_number(const void *a, const void *b)
{
    const struct cf_dumpcache_file *x = a, *y = b;

    return x->number != y->number ? (x->number < y->number ? -1 : 1)
           : x->level != y->level ? (int)x->level - (int)y->level
                                  : strcmp(x->name, y->name);
}

static void add_folder(struct cf_dumpcache *m, const char *name)
{
    DIR *d = opendir(name);
    const size_t first = m->files;
    const struct dirent *e;
    char *path;

    if (!d) {
        m->failed |= cf_is_refusal(errno) ? CF_EXIT_ENVIRONMENT : CF_EXIT_INPUT;
        cf_warn(m->tool, "%s: %s", name, strerror(errno));
        return;
    }
    m->folder = grown(m, m->folder, (size_t)m->folders, sizeof *m->folder);
    m->folder[m->folders++] = cf_need(m->tool, strdup(name));
    while ((e = readdir(d)) != NULL) {
        uint64_t number, level;
        const int is = is_snapshot(e->d_name, &number, &level);

        if (is > 0)
            add_file(m, asprintf(&path, "%s/%s", name, e->d_name) < 0 ? NULL : path, m->folders,
                     number, (unsigned)level);
        if (is >= 0)
            continue;
        m->failed |= CF_EXIT_INPUT;
        cf_warn(m->tool,
                "%s/%s: is left out: the name of a snapshot is cachedump<N>.csv or "
                "cachedump.<level>.<N>.csv, with a whole number and a level from 1 to 9",
                name, e->d_name);
    }
    closedir(d);
    if (m->files == first) {
        cf_warn(m->tool, "%s: holds no snapshot: they are called cachedump<N>.csv", name);
        m->failed |= CF_EXIT_INPUT;
        return;
    }
    qsort(m->file + first, m->files - first, sizeof *m->file, by_number);
    for (size_t i = first + 1; i < m->files; i++)
        if (m->file[i].number == m->file[i - 1].number &&
            m->file[i].level == m->file[i - 1].level) {
            cf_warn(m->tool, "%s: has the number of %s: both are imported, in this order",
                    m->file[i].name, m->file[i - 1].name);
            m->failed |= CF_EXIT_INPUT;
        }
}

void cf_dumpcache_add(struct cf_dumpcache *m, const char *name)
{
    struct stat st;

    if (strcmp(name, "-") != 0 && stat(name, &st) == 0 && S_ISDIR(st.st_mode))
        add_folder(m, name);
    else
        add_file(m, strdup(name), 0, m->files, 0);
}

/* Lines that end with CR LF end with LF. */
static size_t without_cr(char *text, size_t length)
{
    size_t to = 0;

    for (size_t i = 0; i < length; i++)
        if (text[i] != '\r' || i + 1 == length || text[i + 1] != '\n')
            text[to++] = text[i];
    text[to] = '\0';
    return to;
}

char *cf_dumpcache_text(struct cf_dumpcache *m, const char *name, size_t *length)
{
    FILE *f = fopen(name, "re");
    char *text = NULL, block[1 << 14];
    FILE *out = open_memstream(&text, length);
    size_t n;

    while (f && out && (n = fread(block, 1, sizeof block, f)) > 0)
        fwrite(block, 1, n, out);
    if ((!f && errno != ENOENT) || (f && ferror(f))) {
        m->failed |= cf_is_refusal(errno) ? CF_EXIT_ENVIRONMENT : CF_EXIT_INPUT;
        cf_warn(m->tool, "%s: %s", name, strerror(errno));
    }
    if (!out || !cf_memory_text(out, &text))
        cf_out_of_memory(m->tool);
    if (!f) {
        free(text);
        return NULL;
    }
    fclose(f);
    if (*length && text[*length - 1] != '\n') {
        cf_warn(m->tool,
                "%s: the last line has no newline at its end: it may have been cut off and is left "
                "out",
                name);
        m->failed |= CF_EXIT_INPUT;
        cf_tool_note(m->tool, CF_EXIT_INPUT);
        while (*length && text[*length - 1] != '\n')
            text[--*length] = '\0';
    }
    *length = without_cr(text, *length);
    return text;
}
