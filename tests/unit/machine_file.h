/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * machine_file.h - descriptions of machines in a directory of the test's own: written, read, held
 * against each other.
 */
#ifndef MACHINE_FILE_H
#define MACHINE_FILE_H

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "formats/machine/cf_machine.h"
#include "tests/unit/machine_text.h"
#include "tests/unit/tap.h"

static char dir[256], file[300], problem[2048];

static inline void put(const char *path, const char *text, size_t size)
{
    FILE *f = fopen(path, "w");

    if (!f || fwrite(text, 1, size, f) != size || fclose(f) != 0) {
        note("%s: %s", path, strerror(errno));
        exit(1);
    }
}

static inline struct cf_machine *load_bytes(const char *text, size_t size)
{
    /* Some file systems write a file that was truncated to the disk at once, which takes long. */
    unlink(file);
    put(file, text, size);
    return cf_machine_load(file, problem, sizeof problem);
}

static inline struct cf_machine *load(const char *text)
{
    return load_bytes(text, strlen(text));
}

static inline int same_latency(const struct cf_latency *a, const struct cf_latency *b)
{
    return a->stated == b->stated && memcmp(a->cycles, b->cycles, sizeof a->cycles) == 0;
}

/* The description is refused at the line, with this in the message. */
static inline void refused(const char *text, int line, const char *what)
{
    struct cf_machine *m = load(text);
    char place[400];

    if (line)
        snprintf(place, sizeof place, "%s:%d: ", file, line);
    else
        snprintf(place, sizeof place, "%s: ", file);
    if (!ok(!m && strncmp(problem, place, strlen(place)) == 0 && strstr(problem, what),
            "refused: %s", what))
        note("said: %s; expected line %d", m ? "(nothing)" : problem, line);
    cf_machine_free(m);
}

static inline int same(const struct cf_machine *a, const struct cf_machine *b)
{
    if (strcmp(a->name, b->name) ||
        strcmp(a->source ? a->source : "", b->source ? b->source : "") ||
        strcmp(a->latency_source ? a->latency_source : "",
               b->latency_source ? b->latency_source : "") ||
        a->cpus != b->cpus || a->clock_hz != b->clock_hz || a->line_size != b->line_size ||
        a->levels != b->levels || a->latency_rule != b->latency_rule ||
        !same_latency(&a->memory, &b->memory) || a->tlbs != b->tlbs ||
        memcmp(a->tlb, b->tlb, a->tlbs * sizeof *a->tlb))
        return 0;
    for (uint32_t i = 0; i < a->levels; i++) {
        const struct cf_level *x = &a->level[i], *y = &b->level[i];

        if (strcmp(x->name, y->name) || x->kind != y->kind || x->size != y->size ||
            x->ways != y->ways || x->line != y->line || x->sets != y->sets ||
            x->depth != y->depth || x->shared_by != y->shared_by || x->policy != y->policy ||
            x->inclusion != y->inclusion || x->indexing != y->indexing ||
            x->write_back != y->write_back || x->write_allocate != y->write_allocate ||
            !same_latency(&x->latency, &y->latency))
            return 0;
    }
    return 1;
}

static inline void round_trip(const struct cf_machine *m, const char *what)
{
    char *text = machine_text(m);
    struct cf_machine *again = text ? load(text) : NULL;

    if (!ok(again && same(m, again), "%s: writing and reading give the same", what))
        note("%s in: %s", again ? "differs" : problem, text ? text : "(no text)");
    cf_machine_free(again);
    free(text);
}

#define HEAD  "line_size: 64\nlevels:\n"
#define L1    "  - {name: L1, size: 1KiB, ways: 2}\n"
#define SMALL HEAD L1

static inline void make_directory(void)
{
    const char *tmp = getenv("TMPDIR");

    snprintf(dir, sizeof dir, "%s/cf_machine.XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(dir))
        need(0, "a directory to work in");
    snprintf(file, sizeof file, "%s/m.yaml", dir);
}

static inline void remove_directory(void)
{
    unlink(file);
    rmdir(dir);
}

#endif
