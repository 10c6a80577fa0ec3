/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * jobs.c - cf-cache by several threads: each takes a share of the sets at a time (shares.h).
 */
#include <errno.h>

#include "filters/parts/cache/cache_parts.h"
#include "filters/shares/shares.h"

struct cf_hierarchy *new_model(const struct cf_tool *t, const struct cf_machine *m,
                               const struct cf_hierarchy_options *how, const char *name)
{
    char problem[512];
    struct cf_hierarchy *h = cf_hierarchy_new(m, how, problem, sizeof problem);

    if (!h)
        cf_die(t, errno == ENOMEM ? CF_EXIT_ENVIRONMENT : CF_EXIT_USAGE, "%s: %s", name, problem);
    return h;
}

static int take_header(void *arg, struct cf_frame *f)
{
    struct jobs *j = arg;

    cf_made_check(j->made, f->header, CF_HIT, NULL);
    return cf_writer_frame(j->w, f);
}

static int take_frame(void *arg, struct cf_chunk *c, struct cf_frame *f, uint32_t first,
                      uint8_t *hit)
{
    struct jobs *j = arg;

    (void)c;
    (void)first;
    cf_tool_set(j->tool, f, CF_HIT, hit);
    return cf_writer_frame(j->w, f);
}

int run_jobs(struct jobs *j, struct cf_reader *r, struct cf_writer *w)
{
    const struct options *o = j->o;
    const char *asked = o->snapshot.every ? "--snapshot-every" : options_for_frames(o);
    struct cf_shares s = {.tool = j->tool,
                          .reader = r,
                          .writer = w,
                          .cores = j->cores,
                          .core_count = o->cores,
                          .jobs = o->jobs,
                          .shares =
                              asked ? 1 : cf_shares_of(j->tool, j->machine, j->model, o->jobs),
                          .physical = o->frame.physical,
                          .arg = j,
                          .header = take_header,
                          .frame = take_frame};

    if (asked && !j->tool->quiet)
        cf_warn(j->tool,
                "--jobs: with %s what comes first decides on what comes later: one thread does "
                "it all",
                asked);
    if (s.shares == 1)
        return 0;
    j->w = w;
    s.model = cf_tool_room(j->tool, s.shares, sizeof *s.model);
    s.model[0] = j->model;
    for (unsigned i = 1; i < s.shares; i++)
        s.model[i] = new_model(j->tool, j->machine, j->how, o->machine);
    cf_shares_run(&s);
    for (unsigned i = 1; i < s.shares; i++)
        cf_hierarchy_free(s.model[i]);
    return 1;
}
