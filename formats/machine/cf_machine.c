/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Descriptions of cache hierarchies: finds them by name, and writes them as text again.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/base/cf_memory.h"
#include "formats/base/cf_suite.h"
#include "cf_machine_parts.h"

static int machines_dir(char *to, size_t size)
{
    return (size_t)snprintf(to, size, "%s/machines", cf_suite_dir("share/cacheflow")) < size ? 0
                                                                                             : -1;
}

static int yaml_file(const struct dirent *e)
{
    size_t n = strlen(e->d_name);

    return n > 5 && e->d_name[0] != '.' && strcmp(e->d_name + n - 5, ".yaml") == 0;
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* The installed names, each followed by `separator`. */
static char *list_names(const char *separator)
{
    char dir[4096], *text = NULL;
    struct dirent **entry = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    int count = 0;

    if (!out)
        return NULL;
    errno = 0;
    if (machines_dir(dir, sizeof dir) == 0)
        count = scandir(dir, &entry, yaml_file, by_bytes);
    if (count < 0 && cf_is_refusal(errno)) {
        fclose(out);
        free(text);
        return NULL;
    }
    for (int i = 0; i < count; i++) {
        fprintf(out, "%.*s%s", (int)(strlen(entry[i]->d_name) - 5), entry[i]->d_name, separator);
        free(entry[i]);
    }
    free(entry);
    return cf_memory_text(out, &text);
}

char *cf_machine_list(void)
{
    return list_names("\n");
}

static int load_installed(const struct report *to, const char *name, struct cf_machine *m)
{
    char dir[4096], path[4096 + 300];
    struct stat st;
    struct report at = *to;

    if (strlen(name) < 250 && *name && machines_dir(dir, sizeof dir) == 0) {
        snprintf(path, sizeof path, "%s/%s.yaml", dir, name);
        if (stat(path, &st) == 0) {
            at.file = path;
            return cfm_load_file(&at, path, m);
        }
    }
    {
        char *names = list_names(", ");

        if (names)
            cfm_fail(to, 0,
                     "no machine of this name is installed: give one of %shost, or a FILE.yaml",
                     names);
        else
            cfm_refuse(to, ENOMEM);
        free(names);
    }
    return -1;
}

struct cf_machine *cf_machine_load(const char *name, char *problem, size_t size)
{
    struct cf_machine *m = calloc(1, sizeof *m);
    int refused = 0;
    struct report to = {name, problem, size, &refused};
    size_t length = strlen(name);
    int status;

    if (size)
        problem[0] = '\0';
    if (!m) {
        cfm_refuse(&to, ENOMEM);
        errno = refused;
        return NULL;
    }
    if (strchr(name, '/') || (length > 5 && strcmp(name + length - 5, ".yaml") == 0))
        status = cfm_load_file(&to, name, m);
    else if (strcmp(name, "host") == 0)
        status = cfm_load_host(&to, m);
    else
        status = load_installed(&to, name, m);
    if (status < 0) {
        cf_machine_free(m);
        errno = refused;
        return NULL;
    }
    return m;
}

void cf_machine_free(struct cf_machine *m)
{
    if (!m)
        return;
    free(m->source);
    free(m->file);
    free(m);
}

/* One UTF-8 character of valid text; bytes that are none count as themselves. */
static unsigned take_character(const char **s)
{
    const unsigned char *p = (const unsigned char *)*s;
    unsigned extra = p[0] >= 0xf0 ? 3 : p[0] >= 0xe0 ? 2 : p[0] >= 0xc0 ? 1 : 0;
    unsigned code = extra ? p[0] & (0x3fU >> extra) : p[0];

    for (unsigned i = 1; i <= extra; i++) {
        if ((p[i] & 0xc0) != 0x80) {
            *s += 1;
            return p[0];
        }
        code = code << 6 | (p[i] & 0x3f);
    }
    *s += 1 + extra;
    return code;
}

void cfm_write_text(FILE *out, const char *s)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

    if (*s && !s[strspn(s, plain)]) {
        fputs(s, out);
        return;
    }
    putc('"', out);
    while (*s) {
        const char *start = s;
        unsigned c = take_character(&s);

        /* YAML folds line breaks inside quotes and allows no control characters. */
        if (c == '"' || c == '\\')
            fprintf(out, "\\%c", c);
        else if (c < 0x20 || (c >= 0x7f && c < 0xa0) || (s - start == 1 && c >= 0x80))
            fprintf(out, "\\x%02X", c);
        else if (c == 0x2028 || c == 0x2029 || c == 0xfeff || c == 0xfffe || c == 0xffff)
            fprintf(out, "\\u%04X", c);
        else
            fwrite(start, 1, (size_t)(s - start), out);
    }
    putc('"', out);
}

static void write_size(FILE *out, uint64_t size)
{
    if (size && size % (1 << 20) == 0)
        fprintf(out, "%" PRIu64 "MiB", size >> 20);
    else if (size && size % (1 << 10) == 0)
        fprintf(out, "%" PRIu64 "KiB", size >> 10);
    else
        fprintf(out, "%" PRIu64, size);
}

static const char *choice_name(const char *const *names, size_t count, size_t i)
{
    return i < count ? names[i] : names[0];
}

static void write_level(FILE *out, const struct cf_level *l)
{
    fputs("  - {name: ", out);
    cfm_write_text(out, l->name);
    fprintf(out, ", kind: %s, size: ", choice_name(cfm_kind_names, COUNT(cfm_kind_names), l->kind));
    write_size(out, l->size);
    fprintf(out,
            ", ways: %" PRIu32 ", line_size: %" PRIu32 ", shared_by: %" PRIu32
            ", policy: %s,\n     write: %s, allocate: %s, inclusion: %s, depth: %" PRIu32 "}\n",
            l->ways, l->line, l->shared_by,
            choice_name(cfm_policy_names, COUNT(cfm_policy_names), l->policy),
            cfm_write_names[l->write_back != 0], cfm_bool_names[l->write_allocate != 0],
            choice_name(cfm_inclusion_names, COUNT(cfm_inclusion_names), l->inclusion), l->depth);
}

char *cf_machine_text(const struct cf_machine *m)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        return NULL;
    fputs("name: ", out);
    cfm_write_text(out, m->name);
    if (m->source) {
        fputs("\nsource: ", out);
        cfm_write_text(out, m->source);
    }
    if (m->cpus)
        fprintf(out, "\ncpus: %" PRIu32, m->cpus);
    if (m->clock_hz)
        fprintf(out, "\nclock_hz: %" PRIu64, m->clock_hz);
    fprintf(out, "\nline_size: %" PRIu32 "\nlevels:\n", m->line_size);
    for (uint32_t i = 0; i < m->levels && i < CF_MAX_LEVELS; i++)
        write_level(out, &m->level[i]);
    cfm_write_latency(out, m);
    return cf_memory_text(out, &text);
}
