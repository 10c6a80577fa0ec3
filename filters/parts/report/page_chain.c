/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * page_chain.c - a recording on its way to the page: cf-capture, where a program is to be recorded;
 * then cf-merge where threads are to stand side by side, cf-resolve where there are no names yet,
 * cf-classify, which says what cf-cache does too, and cf-distance, side by side as in a shell.
 *
 * Two looks at the file come first: at its kind and columns, and at its threads.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "filters/parts/report/page.h"

static char temporary[PATH_MAX]; /* a recording that goes with the program, or "" */

static void remove_temporary(void)
{
    if (*temporary)
        unlink(temporary);
}

/* A name for a recording that nobody wants to keep. */
static const char *make_temporary(const struct cf_tool *t)
{
    const char *dir = getenv("TMPDIR");
    int fd;

    snprintf(temporary, sizeof temporary, "%s/cf-report.XXXXXX", dir && *dir ? dir : "/tmp");
    fd = mkstemp(temporary);
    if (fd < 0) {
        const char *why = strerror(errno);

        *temporary = '\0';
        cf_die(t, CF_EXIT_ENVIRONMENT, "%s: %s", dir && *dir ? dir : "/tmp", why);
    }
    close(fd);
    atexit(remove_temporary);
    return temporary;
}

/* The program's own standard input and output stay its own. */
static void record(struct page *p, const char *file)
{
    unsigned count = 0, n = 0;
    const char **words;

    while (p->o.command[count])
        count++;
    words = cf_tool_room(p->tool, count + 8, sizeof *words);
    words[n++] = "cf-capture";
    words[n++] = "trace";
    if (p->tool->quiet)
        words[n++] = "-q";
    words[n++] = "-o";
    words[n++] = file;
    words[n++] = "--";
    memcpy(words + n, p->o.command, count * sizeof *words);
    cf_tool_note(p->tool, cf_chain_run(p->tool, words));
    if (p->tool->status && access(file, R_OK) == 0)
        cf_warn(p->tool, "the recording ended with status %d: the page is of what there is",
                p->tool->status);
}

/* Exits where it is no recording of accesses. 1 when names are missing. */
static int look_at_kind(struct page *p, char *const *file)
{
    struct cf_reader *r = cf_tool_reader(p->tool, file, 1);
    struct cf_frame *f;
    int lacks = 1;

    cf_reader_want(r, CF_ACCESS, CF_ADDR, CF_REQUIRED);
    cf_reader_want_each(r, CF_ACCESS, CF_OPTIONAL, CF_FUNCTION, CF_REGION);
    cf_reader_pieces(r);
    while (cf_reader_next(r, &f) > 0)
        if (f->table == CF_ACCESS) {
            lacks = !cf_u32(f, CF_FUNCTION) || !cf_u32(f, CF_REGION);
            cf_reader_close(r);
            return lacks;
        }
    cf_tool_fit(p->tool, r);
    exit(cf_tool_finish(p->tool, r, NULL));
}

/* Whether more than one thread ran, and where is not known yet. */
static int look_at_threads(struct page *p, char *const *file)
{
    struct cf_reader *r = cf_tool_reader(p->tool, file, 1);
    struct cf_frame *f;
    uint32_t first = 0;
    int several = 0;

    cf_reader_want(r, CF_SWITCH, CF_TID, CF_OPTIONAL);
    while (cf_reader_next(r, &f) > 0) {
        const uint32_t *tid = f->table == CF_SWITCH ? cf_u32(f, CF_TID) : NULL;

        for (uint32_t i = 0; tid && i < f->rows; i++) {
            first = first ? first : tid[i];
            several |= tid[i] != first;
        }
    }
    cf_reader_close(r);
    return several;
}

struct cf_chain page_chain(struct page *p, char *const *files, int count)
{
    static char cores[16];
    const char *machine = p->o.machine;
    const char *file = p->o.record ? p->o.record : count ? files[0] : "-";
    struct cf_chain c = {.tool = p->tool};
    int lacks_names;

    if (p->o.command) {
        file = p->o.record ? p->o.record : make_temporary(p->tool);
        record(p, file);
    } else if (!strcmp(file, "-")) {
        const char *words[] = {"cf-cat", "-o", make_temporary(p->tool), NULL};

        if (isatty(STDIN_FILENO))
            cf_die(p->tool, CF_EXIT_USAGE,
                   "no recording: give a FILE, or a program after --: see --help");
        file = temporary;
        cf_tool_note(p->tool, cf_chain_run(p->tool, words));
    }
    if (p->tool->status && access(file, R_OK) != 0)
        exit(p->tool->status);
    lacks_names = look_at_kind(p, (char *const *)&file);
    p->interleaved = p->cores > 1 && look_at_threads(p, (char *const *)&file);
    if (freopen(file, "r", stdin) == NULL)
        cf_die(p->tool, CF_EXIT_ENVIRONMENT, "%s: %s", file, strerror(errno));
    snprintf(cores, sizeof cores, "%u", p->cores);
    if (p->interleaved)
        cf_chain_add(&c, (const char *[]){"cf-merge", "--interleave", "--cores", cores, NULL});
    if (lacks_names)
        cf_chain_add(&c, (const char *[]){"cf-resolve", NULL});
    cf_chain_add(&c,
                 (const char *[]){"cf-classify", "--hit", "-m", machine, "--cores", cores, NULL});
    cf_chain_add(&c, (const char *[]){"cf-distance", NULL});
    cf_chain_begin(&c);
    return c;
}
