/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * note.c - names and mappings of the processes that are observed, from /proc.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/snapshot/note.h"

static int note_maps(struct cf_emit *e, struct cf_observed_task *o, uint64_t ns)
{
    char path[CF_MAPS_PATH], *text, *copy;
    size_t length;
    int why;

    snprintf(path, sizeof path, "/proc/%d/maps", o->pid);
    errno = 0;
    text = cf_observed_read(path, &length);
    why = errno;
    if (!text) { /* its main thread has ended, or all of it */
        cf_maps_path((uint32_t)o->pid, path);
        text = cf_observed_read(path, &length);
    }
    if (!text) {
        if (why && why != ENOENT && why != ESRCH)
            e->maps_refused = why;
        return 0;
    }
    if (o->maps && o->maps_bytes == length && memcmp(o->maps, text, length) == 0) {
        free(text);
        return 0;
    }
    copy = malloc(length + 1);
    if (!copy) {
        free(text);
        return -1;
    }
    memcpy(copy, text, length + 1);
    free(o->maps);
    o->maps = copy;
    o->maps_bytes = length;
    return cf_emit_maps(e, ns, (uint32_t)o->pid, text, length);
}

static int note_name(struct cf_emit *e, struct cf_observed_task *o, uint64_t ns)
{
    char path[64], *name;
    size_t length;
    int result = 0;

    snprintf(path, sizeof path, "/proc/%d/comm", o->pid);
    name = cf_observed_read(path, &length);
    if (name) {
        name[length - 1] = '\0'; /* the newline that the kernel adds; a name may have others */
        if (strncmp(name, o->name, sizeof o->name - 1) != 0) {
            snprintf(o->name, sizeof o->name, "%s", name);
            result = cf_emit_named(e, ns, (uint32_t)o->pid, name);
        }
    }
    free(name);
    return result;
}

int cf_note_ended(struct cf_emit *e, struct cf_observed *t, pid_t pid, uint64_t ns)
{
    for (size_t i = 0; i < t->count; i++) {
        struct cf_observed_task *o = &t->observed[i];

        if (o->fresh || o->ended || (pid ? o->gone || o->pid != pid : !o->gone))
            continue;
        if (cf_emit_ended(e, ns, (uint32_t)o->pid) != 0)
            return -1;
        o->ended = 1;
    }
    return 0;
}

int cf_note_observed(struct cf_emit *e, struct cf_observed *t, int maps, uint64_t ns)
{
    if (cf_note_ended(e, t, 0, ns) != 0)
        return -1;
    for (size_t i = 0; i < t->count; i++) {
        struct cf_observed_task *o = &t->observed[i];

        if (o->gone || o->ended)
            continue;
        if (o->fresh) {
            const pid_t parent = o->parent == getpid() ? 0 : o->parent;

            if (cf_emit_begin(e, ns, (uint32_t)o->pid, (uint32_t)parent, o->name) != 0)
                return -1;
            o->fresh = 0;
        } else if (note_name(e, o, ns) != 0) {
            return -1;
        }
    }
    /* after all that begin: a child has what its parent had before this time */
    for (size_t i = 0; maps && i < t->count; i++)
        if (!t->observed[i].gone && !t->observed[i].ended && note_maps(e, &t->observed[i], ns) != 0)
            return -1;
    return 0;
}
