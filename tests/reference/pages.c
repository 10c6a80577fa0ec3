/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pages.c - cf-pages against the model: a run for every page and for every k, one after the other,
 * as cf-pages(1) defines them.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tests/reference/programs.h"

enum { MOST_PAGES = 64, MEMORY_CYCLES = 100, OPTIONS = 64 };

/* What one comparison has. */
struct paged {
    struct run run;
    uint64_t page_size;
    unsigned pages;
    unsigned *core;
    /* what cf-pages says */
    uint64_t none, all, page[MOST_PAGES + 1];
    unsigned seen;
};

static unsigned cycles_of(const struct machine *m, unsigned hit)
{
    for (unsigned i = 0; i < m->levels; i++)
        if (m->level[i].depth == hit)
            return 3 + 7 * hit;
    return MEMORY_CYCLES;
}

/* Is the page cached in the run? By the policy of table page, and by k. */
static int cached(enum cf_page_policy policy, unsigned k, unsigned page)
{
    switch (policy) {
    case CF_PAGES_NONE:
        return 0;
    case CF_PAGES_ALL:
        return 1;
    case CF_PAGES_ONLY:
        return page == k;
    case CF_PAGES_BUT:
        return page != k;
    default:
        return page < k;
    }
}

/* Cycles of the slowest core. */
static uint64_t model_cycles(const struct paged *p, enum cf_page_policy policy, unsigned k)
{
    const struct stream *s = &p->run.stream;
    struct model *m = model_new(&p->run.machine, NULL, NULL);
    const unsigned line = p->run.machine.level[0].line; /* the machine's line_size */
    uint64_t cycles[CORES] = {0}, most = 0;

    for (unsigned i = 0; i < s->rows; i++) {
        struct row row = s->row[i];
        const uint64_t left = p->page_size - row.addr % p->page_size;
        const unsigned core = p->core[i];
        unsigned hit = FROM_MEMORY, lines = 1;

        row.size = s->has_size && row.size ? row.size : 1;
        row.size = row.size > left ? (uint32_t)left : row.size;
        row.op = s->has_op ? row.op : LOAD;
        if (cached(policy, k, row.page))
            hit = model_row(m, &row, core, 0);
        if (hit == FROM_MEMORY && !cached(policy, k, row.page))
            lines = (unsigned)((row.addr + row.size - 1) / line - row.addr / line + 1);
        if (row.op >= LOAD && row.op <= IFETCH) /* what a latency is stated of: cf-machine(5) */
            cycles[core] += cycles_of(&p->run.machine, hit) * lines;
    }
    model_free(m);
    for (unsigned c = 0; c < CORES; c++)
        most = cycles[c] > most ? cycles[c] : most;
    return most;
}

/* Numbers pages in the order in which they come. 0: there are too many, or one. */
static int number_pages(struct paged *p)
{
    uint64_t known[MOST_PAGES];

    p->pages = 0;
    for (unsigned i = 0; i < p->run.stream.rows; i++) {
        struct row *r = &p->run.stream.row[i];
        unsigned k = 0;

        while (k < p->pages && known[k] != r->addr / p->page_size)
            k++;
        if (k == MOST_PAGES)
            return 0;
        known[k] = r->addr / p->page_size;
        p->pages += k == p->pages;
        r->page = k;
    }
    return p->pages > 1;
}

static void take(void *arg, const struct cf_frame *f)
{
    struct paged *p = arg;
    const uint64_t *cycles = cf_u64(f, CF_RUNTIME);
    const uint32_t *page = cf_u32(f, CF_PAGENO), *k = cf_u32(f, CF_BEST);
    const uint8_t *policy = cf_u8(f, CF_POLICY);

    for (uint32_t i = 0; f->table == CF_PAGE && i < f->rows; i++) {
        const unsigned at = policy[i] == CF_PAGES_BEST ? k[i] : page[i];

        if (policy[i] == CF_PAGES_NONE)
            p->none = cycles[i];
        else if (policy[i] == CF_PAGES_ALL)
            p->all = cycles[i];
        else if (at <= MOST_PAGES)
            p->page[at] = cycles[i];
        p->seen++;
    }
}

/* Runs cf-pages and compares: rows of `policy`, for k from 0 to `most`. */
static int compare(struct paged *p, const char *const *options, enum cf_page_policy policy,
                   unsigned most, char *what, size_t size)
{
    const uint64_t none = model_cycles(p, CF_PAGES_NONE, 0), all = model_cycles(p, CF_PAGES_ALL, 0);

    p->seen = 0;
    if (run_other("cf-pages", options, what, size) != 0)
        return -1;
    if (!read_frames(take, p) || p->seen != most + 3 || p->none != none || p->all != all) {
        snprintf(what, size,
                 "cf-pages: %u rows, %" PRIu64 " and %" PRIu64 " cycles, by the model "
                 "%u, %" PRIu64 ", %" PRIu64,
                 p->seen, p->none, p->all, most + 3, none, all);
        return -1;
    }
    for (unsigned k = 0; k <= most; k++) {
        const uint64_t want = model_cycles(p, policy, k);

        if (p->page[k] != want) {
            snprintf(what, size,
                     "cf-pages, policy %d, %u of %u: %" PRIu64 ", by the model %" PRIu64, policy, k,
                     most, p->page[k], want);
            return -1;
        }
    }
    return 0;
}

/* The order of a profile that says it: the model's best k are the first in number, so pages are
   numbered anew by their places. */
static int renumber(struct paged *p)
{
    unsigned place[MOST_PAGES] = {0};

    for (unsigned i = 0; i < p->pages; i++)
        for (unsigned k = 0; k < p->pages; k++)
            if (p->page[k] < p->page[i] || (k < i && p->page[k] == p->page[i]))
                place[i]++;
    for (unsigned i = 0; i < p->run.stream.rows; i++)
        p->run.stream.row[i].page = place[p->run.stream.row[i].page];
    return 1;
}

/* A machine and rows of which all k are done in one reading, but for one trait that rules it out;
   others than these come in machines as they are. */
enum trait { PLAIN, INCLUDING, NOT_ALLOCATING, SPLIT, TRAITS };

static void make_plain(struct run *r, enum trait trait)
{
    if (!r->machine.levels || r->machine.level[0].depth != 1)
        return;
    for (unsigned i = 1; i < r->machine.levels; i++) /* all of one kind need depths that rise */
        if (r->machine.level[i].depth + (r->machine.level[i].depth == 1) <=
            r->machine.level[i - 1].depth)
            return;
    for (unsigned i = 0; i < r->machine.levels; i++) {
        struct level *l = &r->machine.level[i];

        l->policy = CF_LRU;
        l->through = 0;
        l->no_allocate = trait == NOT_ALLOCATING;
        l->inclusion = trait == INCLUDING && l->depth > 1 ? INCLUSIVE : NON_INCLUSIVE;
        l->line = r->machine.level[0].line;
        l->shared_by = 1;
        if (l->depth > 1)
            l->kind = trait == SPLIT ? DATA : UNIFIED;
    }
    r->machine.cores = 1;
    for (unsigned i = 0; i < r->stream.rows; i++)
        if (r->stream.row[i].op == FLUSH)
            r->stream.row[i].op = LOAD;
}

/* Each of the policies that most processors have, on 1 to 4 cores. */
static const enum cf_replacement common[] = {CF_LRU, CF_FIFO, CF_TREE_PLRU, CF_RANDOM};

static void make_common(struct run *r)
{
    const unsigned cores = 1 + (unsigned)(r->seed / 16 % 4);

    for (unsigned i = 0; i < r->machine.levels; i++) {
        struct level *l = &r->machine.level[i];
        const enum cf_replacement policy = common[r->seed / 4 % 4];

        if (policy != CF_TREE_PLRU || !(l->ways & (l->ways - 1)))
            l->policy = policy;
        l->shared_by = l->shared_by >= r->machine.cores ? cores : l->shared_by;
    }
    r->machine.cores = cores;
    r->stream.has_cpu = 1;
    for (unsigned i = 0; i < r->stream.rows; i++)
        r->stream.row[i].cpu = i / 3 * 7 % 5 % cores;
}

/* How many of what was compared had caches of a policy, so many of them in a row, so many cores
   that ran. */
static unsigned of_policy[CF_POLICY_COUNT], of_depth[LEVELS + 1], of_cores[CORES + 1];

static void note_kind(const struct paged *p)
{
    const struct machine *m = &p->run.machine;
    unsigned had = 0, depth = 0, cores = 0, ran = 0;

    for (unsigned i = 0; i < m->levels; i++) {
        had |= 1u << m->level[i].policy;
        depth = m->level[i].depth > depth ? m->level[i].depth : depth;
    }
    for (unsigned i = 0; i < p->run.stream.rows; i++)
        ran |= 1u << p->core[i];
    for (unsigned i = 0; i < CF_POLICY_COUNT; i++)
        of_policy[i] += had >> i & 1;
    for (; ran; ran &= ran - 1)
        cores++;
    of_depth[depth]++;
    of_cores[cores]++;
}

int compared_pages(char *what, size_t size)
{
    unsigned least = UINT32_MAX;
    size_t at = 0;

    for (unsigned i = 0; i < 4; i++) {
        least = of_policy[common[i]] < least ? of_policy[common[i]] : least;
        at += (size_t)snprintf(what + at, size - at, "%s %u, ", cf_policy_name(common[i]),
                               of_policy[common[i]]);
    }
    for (unsigned i = 1; i <= 2; i++) {
        least = of_depth[i] < least ? of_depth[i] : least;
        at += (size_t)snprintf(what + at, size - at, "%u levels %u, ", i, of_depth[i]);
    }
    for (unsigned i = 1; i <= 4; i++) {
        least = of_cores[i] < least ? of_cores[i] : least;
        at += (size_t)snprintf(what + at, size - at, "%u cores %u%s", i, of_cores[i],
                               i < 4 ? ", " : "");
    }
    return least > 0;
}

int compare_pages(const struct run *r, char *what, size_t size)
{
    struct paged p = {.run = *r, .page_size = 64};
    const char *options[OPTIONS] = {"-q", "--latency=memory=100"};
    char text[OPTIONS][64];
    unsigned n = 2;
    int result = 1;

    p.run.stream.has_pid = p.run.stream.physical = 0;
    p.run.stream.has_page = 1;
    for (unsigned i = 0; i < r->machine.levels; i++) {
        struct level *l = &p.run.machine.level[i];

        l->prefetcher = NO_PREFETCHER;
        memset(l->mask, 0, sizeof l->mask);
        l->latency = 0;
        snprintf(text[n], sizeof text[n], "--latency=L%u=%u", i, 3 + 7 * l->depth);
        options[n] = text[n];
        n++;
    }
    if (r->seed % 2)
        make_plain(&p.run, r->seed / 2 % 2 ? r->seed / 4 % TRAITS : PLAIN);
    else if (r->seed / 2 % 2)
        make_common(&p.run);
    p.page_size <<= r->seed % 7;
    while (!number_pages(&p))
        if (!p.run.stream.rows || (p.page_size *= 4) > 1 << 20)
            return 1;
    snprintf(text[n], sizeof text[n], "--page-size=%" PRIu64, p.page_size);
    options[n] = text[n];
    snprintf(text[n + 1], sizeof text[n], "--cores=%u", p.run.machine.cores);
    options[n + 1] = text[n + 1];
    snprintf(text[n + 2], sizeof text[n], "--seed=%" PRIu64, r->machine.seed);
    options[n + 2] = text[n + 2];
    n += 3;
    p.core = array(p.run.stream.rows, sizeof *p.core);
    cores_of(&p.run, p.core);
    write_run(&p.run);
    options[n] = "--mode=uncached";
    result = compare(&p, options, CF_PAGES_BUT, p.pages - 1, what, size);
    options[n] = "--mode=cached";
    if (!result)
        result = compare(&p, options, CF_PAGES_ONLY, p.pages - 1, what, size);
    snprintf(text[n], sizeof text[n], "--rank=%s", output_file());
    options[n] = text[n];
    if (!result && renumber(&p))
        result = compare(&p, options, CF_PAGES_BEST, p.pages, what, size);
    if (!result)
        note_kind(&p);
    free(p.core);
    return result;
}
