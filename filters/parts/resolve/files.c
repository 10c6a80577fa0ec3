/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * files.c - what is said of files that names could not be taken from.
 */
#include <stdlib.h>
#include <string.h>

#include "filters/parts/resolve/columns.h"

enum { REFUSALS = 10 }; /* files named one by one of those that could not be read */

static void refused(void *state, const char *file, const char *why)
{
    struct state *s = state;

    if (s->refused++ < REFUSALS)
        cf_warn(s->tool, "%s: %s: names of its functions, lines and variables are missing", file,
                why);
}

static void changed(void *state, const char *file)
{
    struct state *s = state;

    if (s->changed++ < REFUSALS)
        cf_warn(s->tool,
                "%s: not the build that was recorded: names of its functions, lines and variables "
                "are missing (--debug-dir: where that build's debug file is; --trust: take this "
                "file)",
                file);
}

static void missing(void *state, const char *file)
{
    struct state *s = state;

    if (!s->missing++)
        s->gone = cf_need(s->tool, strdup(file));
}

static void part(void *state, const char *file)
{
    struct state *s = state;

    if (!s->parts++)
        s->part = cf_need(s->tool, strdup(file));
}

void files_tell(struct state *s, struct where *where)
{
    where->refused = refused;
    where->changed = changed;
    where->missing = missing;
    where->part = part;
    where->arg = s;
}

/* Of files of which one has been named. */
static const char *others(const struct state *s, uint64_t files)
{
    return files > 1 ? cf_tool_text(s->tool, ", and %llu more files", (unsigned long long)files - 1)
                     : "";
}

void files_rest(struct state *s)
{
    if (s->refused > REFUSALS)
        cf_warn(s->tool, "%llu more files could not be read",
                (unsigned long long)(s->refused - REFUSALS));
    if (s->changed > REFUSALS)
        cf_warn(s->tool, "%llu more files are not the build that was recorded",
                (unsigned long long)(s->changed - REFUSALS));
    if (s->missing && !s->tool->quiet)
        cf_warn(s->tool,
                "%s%s: not there: names of its functions, lines and variables are missing "
                "(--sysroot, --debug-dir; 'cf-capture trace --resolve' takes names at once)",
                s->gone, others(s, s->missing));
    if (s->parts && !s->tool->quiet)
        cf_warn(s->tool,
                "%s%s: not there, or of another build: code that was inlined from this split debug "
                "information counts for the functions that contain it",
                s->part, others(s, s->parts));
    if (s->named && (s->missing || s->changed))
        cf_warn(s->tool, "the input had names from an earlier cf-resolve; those of files that are "
                         "not there, or are another build, are lost in the output");
    free(s->gone);
    free(s->part);
}
