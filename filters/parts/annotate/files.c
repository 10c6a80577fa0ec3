/* SPDX-License-Identifier: BSD-2-Clause */
/* files.c - where the files are of which something is shown. Memory: their paths. */
#include <string.h>

#include "filters/parts/annotate/annotate.h"

void files_find(struct annotate *a)
{
    int any = 0;

    for (size_t i = 0; i < a->files; i++)
        if (a->file[i].wanted && !a->file[i].sought) {
            cf_sources_want(a->sources, a->file[i].name);
            any = 1;
        }
    if (any)
        cf_sources_look(a->sources);
    for (size_t i = 0; i < a->files; i++) {
        struct file *f = &a->file[i];

        if (!f->wanted || f->sought)
            continue;
        const struct cf_source found = cf_sources_find(a->sources, f->name);
        f->sought = 1;
        f->path = found.path;
        f->lack = found.lack;
        if (f->path)
            (void)cf_sources_newer(a->sources, &found);
    }
}

void files_remarks(const struct annotate *a)
{
    const struct file *first = NULL;
    size_t lost = 0;

    for (size_t i = 0; i < a->files; i++) {
        const struct file *f = &a->file[i];

        if (!f->sought || f->path || !f->lack || strcmp(f->lack, "not found") != 0)
            continue;
        first = first ? first : f;
        lost++;
    }
    cf_sources_rest(a->sources);
    if (lost == 1)
        cf_warn(a->tool,
                "%s: not found, so its lines have no text: --source-dir DIR says below "
                "which directory it is",
                first->name);
    else if (lost)
        cf_warn(a->tool,
                "%zu files, such as %s, were not found, so their lines have no text: "
                "--source-dir DIR says below which directory they are",
                lost, first->name);
}
