/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * text.c - what the tool prints: the list of mappings (-l), a profile (-t), the runs of a ranking
 * (-r). Other lines, such as those of the program itself, say nothing and pass. See import.h.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>

#include "capture/bbprof/import.h"

enum { LINE_MOST = CF_LINES_MOST }; /* bytes; those that count are shorter: a path has 4,096 */

static int is_end(const char *s)
{
    return s[strspn(s, " \t\r")] == '\0';
}

/* Name of a mapping as cf-resolve(1) has it, but for files that are mapped several times. */
static char *region_name(const struct bbprof *m, const char *path, const char *perms,
                         uint64_t start)
{
    if (path[0] == '[')
        return cf_tool_text(m->tool, "%s", path);
    if (path[0])
        return cf_tool_text(m->tool, "%s %.3s", path, perms);
    return cf_tool_text(m->tool, "[anon] 0x%" PRIx64, start);
}

/* "[  2] *  1f0ed000-1f1b0000 rw-p 00000000 00:00 0   [heap]": the star marks what is profiled. */
static int take_mapping(struct bbprof *m, char *s)
{
    uint64_t start, end;
    uint64_t index;
    char perms[5], star;
    int at = 0;
    struct bbprof_mapping *g;

    if (sscanf(s, "[%" SCNu64 "] %c", &index, &star) != 2 || !strchr(s, ']'))
        return 0;
    s = strchr(s, ']') + 1;
    s += strspn(s, star == '*' ? " *" : " ");
    if (sscanf(s, "%" SCNx64 "-%" SCNx64 " %4s %*x %*s %*u%n", &start, &end, perms, &at) != 3 ||
        !at)
        return 0;
    if (!index)
        bbprof_forget(m);
    s += at;
    s += strspn(s, " \t");
    s[strcspn(s, "\r")] = '\0';
    if (end <= start || (end - start) >> 12 > INT32_MAX || index >= BBPROF_MAPPINGS_MOST) {
        bbprof_bad(m, m->lines.number, "'%s' is no mapping", s);
        return 1;
    }
    g = bbprof_mapping(m, (uint32_t)index);
    g->pages = (uint32_t)((end - start) >> 12);
    g->profiled = star == '*';
    if (!g->by_option)
        g->name = region_name(m, s, perms, start);
    return 1;
}

static void take_page(struct bbprof *m, const char *s)
{
    struct bbprof_page p = {.mapping = (uint32_t)m->current, .place = m->lines.number};
    int at = 0;

    if (sscanf(s, "PAGE: 0x%8" SCNx32 " CYCLES: max: %" SCNu64 " min: %" SCNu64 " avg: %lf%n",
               &p.page, &p.most, &p.least, &p.mean, &at) != 4 ||
        !is_end(s + at))
        bbprof_bad(m, p.place, "'%s' is no page with its max, min and avg", s);
    else if (m->part != BBPROF_PROFILE || m->current < 0)
        bbprof_bad(m, p.place,
                   "a page without the lines before it that state the samples and the "
                   "mapping");
    else
        bbprof_add(m, &p);
}

/* How many runs a ranking should have: as many as there are pages. */
static void end_ranking(struct bbprof *m, int cut)
{
    uint64_t pages = m->profiled;

    if (m->part != BBPROF_RANKED)
        return;
    m->part = BBPROF_OUTSIDE;
    for (size_t i = 0; i < m->mappings && !m->profiled; i++)
        pages += m->mapping[i].profiled ? m->mapping[i].pages : 0;
    if (!cut && pages && m->last < pages)
        bbprof_cut(m, m->lines.number,
                   "the ranking was cut off after run %" PRIu64 ": of %" PRIu64
                   " pages there are as many runs",
                   m->last, pages);
}

/* Line n is of the run with the best n - 1 pages: the tool counts from 0 and prints from 1. */
static void take_run(struct bbprof *m, const char *s)
{
    uint64_t n, ticks, misses;
    uint32_t k;
    int at = 0;

    if (sscanf(s, "%" SCNu64 ", C: %" SCNu64 " M: %" SCNu64 "%n", &n, &ticks, &misses, &at) != 3 ||
        !is_end(s + at) || !n || n > 1 << 26 || ticks > INT64_MAX || misses > INT64_MAX) {
        bbprof_bad(m, m->lines.number, "'%s' is no run of a ranking", s);
        return;
    }
    if (n != m->last + 1)
        bbprof_bad(m, m->lines.number, "run %" PRIu64 " follows run %" PRIu64, n, m->last);
    m->last = n;
    k = (uint32_t)(n - 1);
    m->runs++;
    if (bbprof_mode(m) == BBPROF_CACHED) {
        if (!k)
            bbprof_run(m, CF_PAGES_NONE, 0, 1, ticks, (int64_t)misses);
        bbprof_run(m, CF_PAGES_BEST, k, 1, ticks, (int64_t)misses);
    } else if (!k) {
        bbprof_run(m, CF_PAGES_ALL, 0, 1, ticks, (int64_t)misses);
    } else {
        m->uncached++;
    }
}

static void end_profile(struct bbprof *m, int cut)
{
    if (m->part != BBPROF_PROFILE)
        return;
    if (!cut && !m->bad && m->next < m->parts)
        bbprof_bad(m, m->lines.number,
                   "the profile is of %" PRIu32 " mappings, and %" PRIu32 " are here", m->parts,
                   m->next);
    bbprof_profile(m, cut);
    m->part = BBPROF_OUTSIDE;
}

/* "(0/2) VMA index: 2": the mapping of the pages that follow. */
static void begin_mapping(struct bbprof *m, uint32_t part, uint32_t parts, uint64_t index)
{
    m->current = index < BBPROF_MAPPINGS_MOST ? (int64_t)index : -1;
    if (m->part != BBPROF_PROFILE)
        return;
    if (part != m->next)
        bbprof_bad(m, m->lines.number,
                   "mapping %" PRIu32 " of %" PRIu32 " follows %" PRIu32 " others: a line is lost",
                   part + 1, parts, m->next);
    m->next = part + 1;
    m->parts = parts;
}

static const char prefix[] = "[DBG] ";

/* Copies the text behind the last prefix, which stands behind what others have printed without an
   end of line; else all of it. */
static void message(const char *line, size_t length, char *to)
{
    const char *at = line, *end = line + length;
    const char *found;
    size_t n;

    while ((found = memmem(at, (size_t)(end - at), prefix, sizeof prefix - 1)) != NULL)
        at = found + sizeof prefix - 1;
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    n = (size_t)(end - at) < LINE_MOST - 1 ? (size_t)(end - at) : LINE_MOST - 1;
    memcpy(to, at, n);
    to[n] = '\0';
}

void bbprof_line(struct bbprof *m, const char *line, size_t length)
{
    static char s[LINE_MOST];
    uint64_t number; /* of one that is too large, the largest */
    uint32_t part, parts;

    message(line, length, s);
    s[strcspn(s, "\r")] = '\0';
    if (strncmp(s, "PAGE:", 5) == 0) {
        take_page(m, s);
    } else if (sscanf(s, "%*[-] PROFILE (%" SCNu64 " samples", &number) == 1) {
        bbprof_text_end(m, 0);
        m->part = BBPROF_PROFILE;
        m->samples = number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
        m->current = -1;
        m->next = m->parts = 0;
    } else if (sscanf(s, "%*[=] (%" SCNu32 "/%" SCNu32 ") VMA index: %" SCNu64, &part, &parts,
                      &number) == 3) {
        begin_mapping(m, part, parts, number);
    } else if (sscanf(s, "Tot. Pages: %" SCNu64, &number) == 1) {
        if (m->current >= 0 && number && number <= INT32_MAX)
            bbprof_mapping(m, (uint32_t)m->current)->pages = (uint32_t)number;
    } else if (s[0] == '-' && strspn(s, "-") > 40 && is_end(s + strspn(s, "-"))) {
        end_profile(m, 0);
    } else if (strncmp(s, "RANKED TIMING:", 14) == 0) {
        bbprof_text_end(m, 0);
        m->part = BBPROF_RANKED;
        m->last = 0;
    } else if (m->part == BBPROF_RANKED && strncmp(s + strspn(s, "0123456789"), ", C:", 4) == 0) {
        take_run(m, s);
    } else if (s[0] == '[') {
        if (!take_mapping(m, s) && memmem(line, length, prefix, sizeof prefix - 1) &&
            isdigit((unsigned char)s[1 + strspn(s + 1, " ")]))
            bbprof_bad(m, m->lines.number, "'%s' is no mapping", s);
    } else if (strncmp(s, "MIGRATION: Run completed.", 25) == 0) {
        m->migrated++;
    }
}

void bbprof_text_end(struct bbprof *m, int cut)
{
    if (m->part == BBPROF_PROFILE && !cut)
        bbprof_cut(m, m->lines.number,
                   "the profile was cut off: the line of dashes at its end is "
                   "missing");
    end_profile(m, cut);
    end_ranking(m, cut);
}
