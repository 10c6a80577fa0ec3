/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * beside.c - what a folder holds beside snapshots: pids.txt, whose lines are the number of
 * snapshots, the tool's own pid and those of the programs, and <pid>-<N>.txt, the mappings of a
 * program at snapshot N as /proc/PID/maps gave them. See import.h.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "capture/dumpcache/import.h"
#include "formats/base/cf_number.h"

static int task(struct cf_dumpcache *m, uint64_t time, uint32_t pid, uint32_t parent, unsigned op,
                const char *name)
{
    const struct cf_values v[] = {
        {CF_TIME, NULL, time}, {CF_PID, NULL, pid},
        {CF_TID, NULL, pid},   {CF_PARENT, NULL, parent},
        {CF_OP, NULL, op},     {CF_LABEL, NULL, cf_writer_string(m->out, name)}};

    return cf_writer_rows(m->out, CF_TASK, 1, v, 6, NULL);
}

static void bad(struct cf_dumpcache *m, const char *name, const char *what)
{
    cf_warn(m->tool, "%s: %s", name, what);
    m->failed |= CF_EXIT_INPUT;
}

int cf_dumpcache_tasks(struct cf_dumpcache *m, int folder)
{
    char *name, *text;
    const char *at, *end;
    size_t length, in_folder = 0;
    uint64_t count = 0, value;
    static const char blank[] = "\n\r \t";
    uint32_t parent = 0;
    int line = 0, result = 0;

    m->pids = 0;
    if (asprintf(&name, "%s/pids.txt", m->folder[folder - 1]) < 0)
        cf_out_of_memory(m->tool);
    text = cf_dumpcache_text(m, name, &length);
    if (!text)
        bad(m, name, "cannot be read: no task is known by its number");
    for (at = text; at && *at && result == 0; at = end, line++) {
        at += strspn(at, blank);
        end = cf_scan_number(at, CF_READ_DECIMAL, &value);
        if (!end || (*end && !strchr(blank, *end)))
            break;
        if (line == 0) {
            count = value;
        } else if (value == 0 || value > PID_MOST) {
            bad(m, name, "a pid is not one");
        } else {
            m->pid = cf_need(m->tool, realloc(m->pid, (m->pids + 1) * sizeof *m->pid));
            m->pid[m->pids++] = (uint32_t)value;
            result = task(m, 0, (uint32_t)value, parent, CF_BEGIN, line == 1 ? "snapshot" : "");
            if (line == 1)
                parent = (uint32_t)value;
        }
    }
    if (at && at[strspn(at, blank)])
        bad(m, name, "holds a line that is no number");
    for (size_t i = 0; i < m->files; i++)
        in_folder += m->file[i].folder == folder && m->file[i].level < 2;
    if (text && line && count != in_folder) {
        cf_warn(m->tool, "%s: announces %" PRIu64 " snapshots, but here are %zu", name, count,
                in_folder);
        m->failed |= CF_EXIT_INPUT;
    }
    free(text);
    free(name);
    return result;
}

int cf_dumpcache_maps(struct cf_dumpcache *m, int folder, uint64_t number, uint64_t time)
{
    int found = 0;

    for (size_t i = 0; i < m->pids; i++) {
        char *name, *text;
        size_t length;
        unsigned bad_lines = 0;
        int result = 0, first;

        if (asprintf(&name, "%s/%u-%llu.txt", m->folder[folder - 1], m->pid[i],
                     (unsigned long long)number) < 0)
            cf_out_of_memory(m->tool);
        text = cf_dumpcache_text(m, name, &length);
        if (text) {
            found = 1;
            first = cf_maps_find(m->maps, m->pid[i], 0) < 0;
            result = cf_maps_update(m->maps, m->out, time, m->pid[i], text, length, &bad_lines);
            if (bad_lines)
                bad(m, name, "holds lines that are none of /proc/PID/maps");
            if (first && result == 0 && *cf_maps_program(m->maps, m->pid[i]))
                result = task(m, time, m->pid[i], 0, CF_NAMED, cf_maps_program(m->maps, m->pid[i]));
        }
        free(text);
        free(name);
        if (result != 0)
            return -1;
    }
    return found;
}
