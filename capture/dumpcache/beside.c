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

/* The files of each level that has any are as many as announced. */
static void check_count(struct cf_dumpcache *m, int folder, const char *name, uint64_t count)
{
    for (unsigned level = 0; level < 10; level++) {
        uint64_t here = 0;

        for (size_t i = 0; i < m->files; i++)
            here += m->file[i].folder == folder && m->file[i].level == level;
        if (!here || here == count)
            continue;
        cf_warn(m->tool, "%s: announces %" PRIu64 " snapshots, but here are %" PRIu64 "%s", name,
                count, here, level ? cf_tool_text(m->tool, " of level %u", level) : "");
        m->failed |= CF_EXIT_INPUT;
    }
}

/* Notes a pid: whether it was before. `seen` has a bit for each. */
static int is_listed(uint8_t *seen, uint64_t pid)
{
    const uint8_t bit = (uint8_t)(1 << pid % 8);
    const int was = (seen[pid / 8] & bit) != 0;

    seen[pid / 8] |= bit;
    return was;
}

int cf_dumpcache_tasks(struct cf_dumpcache *m, int folder)
{
    char *name, *text;
    const char *at, *end;
    size_t length;
    uint64_t count = 0, value;
    static const char blank[] = "\n\r \t";
    uint32_t parent = 0;
    int line = 0, result = 0;
    uint8_t *const seen = cf_need(m->tool, calloc(PID_MOST / 8 + 1, 1));

    m->processes = 0;
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
        } else if (value == 0 || value > PID_MOST || is_listed(seen, value)) {
            bad(m, name, "a pid is not one, or stands there twice");
        } else {
            m->process =
                cf_need(m->tool, realloc(m->process, (m->processes + 1) * sizeof *m->process));
            m->process[m->processes++] = (struct cf_dumpcache_process){.pid = (uint32_t)value};
            result = task(m, 0, (uint32_t)value, parent, CF_BEGIN, line == 1 ? "snapshot" : "");
            if (line == 1)
                parent = (uint32_t)value;
        }
    }
    if (at && at[strspn(at, blank)])
        bad(m, name, "holds a line that is no number");
    else if (at && !line)
        bad(m, name, "is empty: no task is known by its number");
    if (line)
        check_count(m, folder, name, count);
    free(seen);
    free(text);
    free(name);
    return result;
}

/* A list has come, or none: of one that is missing between others is told. */
static void note_list(struct cf_dumpcache *m, struct cf_dumpcache_process *p, const char *folder,
                      uint64_t number, int came)
{
    if (came && p->missing) {
        cf_warn(m->tool,
                "%s/%u-%" PRIu64 ".txt: is missing, though there is a later list of the process: "
                "what it has mapped at %" PRIu64 " snapshots is not known",
                folder, p->pid, p->number, p->missing);
        m->failed |= CF_EXIT_INPUT;
    }
    p->listed |= came;
    p->missing = came ? 0 : p->missing + 1;
    p->number = number;
}

void cf_dumpcache_ended(const struct cf_dumpcache *m, int folder)
{
    for (size_t i = 0; folder && !m->tool->quiet && i < m->processes; i++)
        if (m->process[i].listed && m->process[i].missing)
            cf_warn(m->tool,
                    "%s: process %u has no list of mappings at the last %" PRIu64
                    " snapshots, as one that has ended",
                    m->folder[folder - 1], m->process[i].pid, m->process[i].missing);
}

int cf_dumpcache_maps(struct cf_dumpcache *m, int folder, uint64_t number, uint64_t time)
{
    const char *const in = m->folder[folder - 1];
    int found = 0;

    for (size_t i = 0; i < m->processes; i++) {
        const uint32_t pid = m->process[i].pid;
        char *name, *text;
        size_t length;
        unsigned bad_lines = 0;
        int result = 0, first;

        if (asprintf(&name, "%s/%u-%" PRIu64 ".txt", in, pid, number) < 0)
            cf_out_of_memory(m->tool);
        text = cf_dumpcache_text(m, name, &length);
        note_list(m, &m->process[i], in, number, text != NULL);
        if (text) {
            found = 1;
            first = cf_maps_find(m->maps, pid, 0) < 0;
            result = cf_maps_update(m->maps, m->out, time, pid, text, length, &bad_lines);
            if (bad_lines)
                bad(m, name, "holds lines that are none of /proc/PID/maps");
            if (first && result == 0 && *cf_maps_program(m->maps, pid))
                result = task(m, time, pid, 0, CF_NAMED, cf_maps_program(m->maps, pid));
        }
        free(text);
        free(name);
        if (result != 0)
            return -1;
    }
    return found;
}
