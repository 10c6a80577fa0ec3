/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * findings_words.c - what is said of a finding, whatever the form: its title, how such a thing is
 * mended, and what its memory is.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "filters/engine/classes/cacheperf.h"
#include "filters/parts/report/findings.h"
#include "formats/base/cf_number.h"

/* CachePerf, sections 2.1 and 4.2. */
static const struct {
    const char *title, *fix;
} words[CF_CLASSES] = {
    [CF_CLASS_CAPACITY] = {"Application's capacity misses",
                           "what is accessed again does not fit into the cache: tile, fuse or "
                           "interchange loops, and group arrays that are used together"},
    [CF_CLASS_CONFLICT] = {"Application's conflict misses",
                           "the accesses step through few sets: interchange the loops, or pad rows "
                           "so that their length is no multiple of a power of two"},
    [CF_CLASS_TRUE_SHARING] = {"Application's true sharing",
                               "threads write the same words: add up in thread-local variables, "
                               "and write the shared ones less often"},
    [CF_CLASS_FALSE_SHARING] = {"Application's false sharing",
                                "threads use different words of a line: align and pad what each of "
                                "them uses to a whole line, or keep it in memory of its own"},
    [CF_CLASS_ALLOCATOR_CONFLICT] = {"Allocator's conflict misses",
                                     "the allocator placed objects on the same sets: use another "
                                     "allocator, change their size or alignment, or allocate them "
                                     "as one array"},
    [CF_CLASS_ALLOCATOR_FALSE_SHARING] = {"Allocator's false sharing",
                                          "the allocator placed objects of several threads on one "
                                          "line: use another allocator, or align these objects to "
                                          "a line and pad them to a whole one"},
};

const char *finding_title(const struct finding *of)
{
    return words[of->class].title;
}

const char *finding_fix(const struct finding *of)
{
    return words[of->class].fix;
}

int finding_allocators(const struct finding *of)
{
    return of->class == CF_CLASS_ALLOCATOR_CONFLICT ||
           of->class == CF_CLASS_ALLOCATOR_FALSE_SHARING;
}

double findings_share(const struct findings *f, uint64_t misses)
{
    const uint64_t all =
        cf_sum(findings_misses(f, FINDING_LOAD), findings_misses(f, FINDING_STORE));

    return all ? (double)misses / (double)all : 0;
}

/* ---- what the memory is ---- */

struct piece {
    struct finding_related r;
    uint32_t origin, tid;
    uint32_t place; /* in the finding's list */
};

static int by_origin(const void *x, const void *y)
{
    const struct piece *a = x, *b = y;

    const int origin = cf_order(a->origin, b->origin) ?: cf_order(a->tid, b->tid);

    return origin ?: cf_order(a->place, b->place);
}

static int by_misses(const void *x, const void *y)
{
    const struct piece *a = x, *b = y;

    return cf_order(a->r.owner->kind, b->r.owner->kind) ?: cf_order(b->r.misses, a->r.misses)
           ?: cf_order(a->place, b->place);
}

struct finding_related *findings_related(const struct findings *f, const struct finding *of,
                                         size_t *count)
{
    const struct finding_share *s = f->list[FINDING_OWNERS].share + of->first[FINDING_OWNERS];
    const size_t all = of->count[FINDING_OWNERS];
    struct piece *piece = cf_need(f->tool, calloc(all + 1, sizeof *piece));
    struct finding_related *list = cf_need(f->tool, calloc(all + 1, sizeof *list));
    size_t kept = 0;

    for (uint32_t i = 0; i < all; i++) {
        const struct finding_owner *o = &f->owner[s[i].id];
        const struct finding_object *object = findings_object(f, o);
        const uint64_t bytes = object ? object->bytes : 0;

        piece[i] = (struct piece){
            .r = {o, object, 1, bytes, bytes, s[i].misses},
            .origin = o->origin,
            .tid = object && of->class == CF_CLASS_ALLOCATOR_FALSE_SHARING ? object->tid : 0,
            .place = i};
    }
    qsort(piece, all, sizeof *piece, by_origin);
    for (size_t i = 0; i < all; i++) {
        struct piece *last = piece + kept - 1;

        if (!kept || last->origin != piece[i].origin || last->tid != piece[i].tid) {
            piece[kept++] = piece[i];
            continue;
        }
        last->r.objects++;
        last->r.least = piece[i].r.least < last->r.least ? piece[i].r.least : last->r.least;
        last->r.most = piece[i].r.most > last->r.most ? piece[i].r.most : last->r.most;
        last->r.misses = cf_sum(last->r.misses, piece[i].r.misses);
    }
    qsort(piece, kept, sizeof *piece, by_misses);
    for (size_t i = 0; i < kept; i++)
        list[i] = piece[i].r;
    free(piece);
    *count = kept;
    return list;
}

/* ---- sentences ---- */

static double ratio(const struct findings *f, enum finding_op op)
{
    const uint64_t all = findings_accesses(f, op);

    return all ? 100 * (double)findings_misses(f, op) / (double)all : 0;
}

void findings_why_none(const struct findings *f, char *text, size_t size)
{
    const double loads = ratio(f, FINDING_LOAD), stores = ratio(f, FINDING_STORE);
    size_t at;

    if (!f->samples)
        snprintf(text, size, "no access was sampled");
    else if (f->event)
        snprintf(text, size,
                 "the samples are %s: of no statement that has 1 %% of them breakpoints showed "
                 "enough accesses",
                 f->event);
    else if (loads <= 0 && stores <= 0)
        snprintf(text, size, "no sampled access missed");
    else if (loads < 3 && stores < 1)
        snprintf(text, size,
                 "%.2f %% of the loads and %.2f %% of the stores missed: the program is below the "
                 "rule's filter, which by default wants 3 %% of the loads or 1 %% of the stores",
                 loads, stores);
    else
        snprintf(text, size,
                 "%.2f %% of the loads and %.2f %% of the stores missed, but of no line, set or "
                 "statement are there more misses than the rule's filters want, by default 1 %% of "
                 "all, in windows of which many missed",
                 loads, stores);
    if (f->samples && f->samples - f->fine < CF_CACHEPERF_FEW && (at = strlen(text)) < size)
        snprintf(text + at, size - at,
                 "; too few samples to say more (%" PRIu64 "): record a longer run, or take more "
                 "by shorter --loads and --stores",
                 f->samples - f->fine);
}

int findings_few(const struct findings *f, char *text, size_t size)
{
    const uint64_t samples = f->samples - f->fine;

    if (f->event || samples >= CF_CACHEPERF_FEW)
        return 0;
    snprintf(text, size,
             "%" PRIu64 " sample%s: with fewer than %d findings depend on chance: record a longer "
             "run, or take more by shorter --loads and --stores",
             samples, samples == 1 ? "" : "s", CF_CACHEPERF_FEW);
    return 1;
}

void findings_price(const struct findings *f, char *text, size_t size)
{
    const char *of = f->event ? f->event : "";
    const char *and = f->event ? "; the samples are " : "";

    if (f->o.ratio <= 0)
        snprintf(text, size, "by the latencies of %s%s%s", f->machine->name, and, of);
    else
        snprintf(text, size, "for misses that cost %.6g hits each%s%s", f->o.ratio, and, of);
}
