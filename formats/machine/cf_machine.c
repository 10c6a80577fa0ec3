/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Descriptions of cache hierarchies: finds them by name, and says what is wrong with them.
 */
#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/base/cf_memory.h"
#include "formats/files/cf_suite.h"
#include "cf_machine_parts.h"

int cfm_fail(const struct report *to, size_t line, const char *format, ...)
{
    va_list list;
    int n;

    if (to->size == 0)
        return -1;
    n = line ? snprintf(to->text, to->size, "%s:%zu: ", to->file, line)
             : snprintf(to->text, to->size, "%s: ", to->file);
    if (n < 0 || (size_t)n >= to->size)
        return -1;
    va_start(list, format);
    vsnprintf(to->text + n, to->size - (size_t)n, format, list);
    va_end(list);
    return -1;
}

int cfm_refuse(const struct report *to, int error)
{
    *to->refused = error;
    return cfm_fail(to, 0, "%s", error == ENOMEM ? "out of memory" : strerror(error));
}

const char *cfm_name_list(char *to, size_t size, const char *const *names, size_t count)
{
    size_t at = 0;

    to[0] = '\0';
    for (size_t i = 0; i < count && at < size; i++) {
        int n = snprintf(to + at, size - at, "%s%s", i ? ", " : "", names[i]);

        if (n < 0)
            break;
        at += (size_t)n;
    }
    return to;
}

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

/* Without the endings, or "a-b" would come before "a". */
static int by_name(const struct dirent **a, const struct dirent **b)
{
    const size_t n = strlen((*a)->d_name) - 5, m = strlen((*b)->d_name) - 5;
    const int differ = memcmp((*a)->d_name, (*b)->d_name, n < m ? n : m);

    return differ ? differ : (n > m) - (n < m);
}

/* The installed names, each followed by a comma. */
static char *list_names(void)
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
        count = scandir(dir, &entry, yaml_file, by_name);
    if (count < 0 && cf_is_refusal(errno)) {
        fclose(out);
        free(text);
        return NULL;
    }
    for (int i = 0; i < count; i++) {
        fprintf(out, "%.*s, ", (int)(strlen(entry[i]->d_name) - 5), entry[i]->d_name);
        free(entry[i]);
    }
    free(entry);
    return cf_memory_text(out, &text);
}

int cfm_try_installed(const struct report *to, const char *name, struct cf_machine *m)
{
    char dir[4096], path[4096 + 300];
    struct stat st;
    struct report at = *to;

    if (strlen(name) >= 250 || !*name || machines_dir(dir, sizeof dir) != 0)
        return 0;
    snprintf(path, sizeof path, "%s/%s.yaml", dir, name);
    if (stat(path, &st) != 0)
        return 0;
    at.file = path;
    return cfm_load_file(&at, path, m) < 0 ? -1 : 1;
}

static int load_installed(const struct report *to, const char *name, struct cf_machine *m)
{
    const int there = cfm_try_installed(to, name, m);
    char *names;

    if (there)
        return there < 0 ? -1 : 0;
    names = list_names();
    if (!names)
        return cfm_refuse(to, ENOMEM);
    cfm_fail(to, 0, "no machine of this name is installed: give one of %shost, or a FILE.yaml",
             names);
    free(names);
    return -1;
}

int cf_machine_is_file(const char *name)
{
    const size_t length = strlen(name);

    return strchr(name, '/') || (length > 5 && strcmp(name + length - 5, ".yaml") == 0);
}

struct cf_machine *cf_machine_load(const char *name, char *problem, size_t size)
{
    struct cf_machine *m = calloc(1, sizeof *m);
    int refused = 0;
    struct report to = {name, problem, size, &refused};
    int status;

    if (size)
        problem[0] = '\0';
    if (!m) {
        cfm_refuse(&to, ENOMEM);
        errno = refused;
        return NULL;
    }
    if (cf_machine_is_file(name))
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

struct cf_machine *cf_machine_titled(const char *name)
{
    char *names = list_names(), *rest = names, problem[256];
    struct cf_machine *m = NULL;

    for (const char *one; !m && (one = strsep(&rest, ", "));)
        if (*one && (m = cf_machine_load(one, problem, sizeof problem)) && strcmp(m->name, name)) {
            cf_machine_free(m);
            m = NULL;
        }
    free(names);
    if (!m && (m = cf_machine_load("host", problem, sizeof problem)) && strcmp(m->name, name)) {
        cf_machine_free(m);
        m = NULL;
    }
    return m;
}

void cf_machine_free(struct cf_machine *m)
{
    if (!m)
        return;
    free(m->source);
    free(m->latency_source);
    free(m->latency_of);
    free(m->file);
    free(m);
}

uint32_t cf_machine_level(const struct cf_machine *m, const char *name)
{
    uint32_t i = 0;

    while (i < m->levels && strcmp(m->level[i].name, name) != 0)
        i++;
    return i;
}
