/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * accesses.c - the second stream of cf-policy, read as far as each snapshot reaches, and given to
 * every policy that could explain the snapshots.
 */
#include <stdlib.h>
#include <string.h>

#include "filters/engine/rows/counts.h"
#include "filters/parts/policy/policy.h"

enum {
    PAGE_SHIFT = 12,  /* larger pages are many of these */
    LONGEST = 1 << 20 /* bytes of an access; what claims to be longer is cut */
};

struct accesses {
    struct cf_tool *tool;
    char *file; /* the reader wants it to stay */
    struct cf_reader *reader;
    struct cf_frame *frame; /* table access, rows from `at` on are to come; or NULL */
    uint32_t at;
    int over;         /* no frame is left, */
    uint64_t segment; /* of the frames that come, from 1 */
    uint64_t wanted;
    struct cf_mix *clock; /* of both streams */
    unsigned level;
    struct cf_counts *frames; /* a: process, b: page + 1; frame + 1 */
    uint64_t unplaced;
};

/* `level`: what inner levels served is left out. */
static struct accesses *open_accesses(struct cf_tool *t, const char *file, unsigned level)
{
    struct accesses *a = cf_tool_room(t, 1, sizeof *a);

    *a = (struct accesses){.tool = t, .level = level};
    a->file = cf_need(t, strdup(file));
    a->frames = cf_need(t, cf_counts_new());
    a->reader = cf_tool_reader(t, &a->file, 1);
    cf_reader_want_each(a->reader, CF_ACCESS, CF_REQUIRED, CF_TIME, CF_ADDR);
    cf_reader_want_each(a->reader, CF_ACCESS, CF_OPTIONAL, CF_PHYS, CF_PID, CF_OP, CF_SIZE, CF_HIT,
                        CF_LEVEL);
    cf_reader_refuse_samples(a->reader);
    return a;
}

/* Page of a process as a snapshot shows it; address 0: whose it is is not known. -1 without
   memory. */
static int learn(struct accesses *a, uint32_t pid, uint64_t addr, uint64_t phys)
{
    uint64_t *frame = addr ? cf_counts_at(a->frames, pid, (addr >> PAGE_SHIFT) + 1) : NULL;

    if (!addr)
        return 0;
    if (!frame)
        return -1;
    *frame = (phys >> PAGE_SHIFT) + 1;
    return 0;
}

/* A frame of accesses with rows left, or nothing when the segment ends. */
static int more(struct accesses *a)
{
    struct cf_frame *f;

    while (!a->over && a->segment <= a->wanted) {
        if (a->frame && a->at < a->frame->rows && a->segment == a->wanted)
            return 1;
        a->frame = NULL;
        if (cf_tool_next(a->tool, a->reader, &f) <= 0) {
            a->over = 1;
        } else if (f->table == CF_HEADER) {
            a->segment++;
            cf_mix_check(a->clock, a->tool, f->header);
        } else if (f->table == CF_ACCESS) {
            if (!a->segment)
                a->segment = 1; /* its header was lost */
            a->frame = f;
            a->at = 0;
        }
    }
    return 0;
}

/* The physical address, CF_TAGS_NONE where it is not known. */
static uint64_t place(const struct accesses *a, uint32_t pid, uint64_t addr)
{
    const uint64_t frame = cf_counts_get(a->frames, pid, (addr >> PAGE_SHIFT) + 1);

    if (!frame)
        return CF_TAGS_NONE;
    return (frame - 1) << PAGE_SHIFT | (addr & ((1u << PAGE_SHIFT) - 1));
}

static int add_row(struct accesses *a, struct cf_candidates *candidates, unsigned shift)
{
    const struct cf_frame *f = a->frame;
    const uint64_t *phys = cf_u64(f, CF_PHYS);
    const uint32_t *pid = cf_u32(f, CF_PID), *size = cf_u32(f, CF_SIZE);
    const uint8_t *op = cf_u8(f, CF_OP);
    const uint8_t *served = cf_u8(f, CF_HIT) ? cf_u8(f, CF_HIT) : cf_u8(f, CF_LEVEL);
    const uint32_t i = a->at, said = size && size[i] ? size[i] : 1;
    const uint32_t n = said < LONGEST ? said : LONGEST;
    const uint64_t addr = phys ? phys[i] : cf_u64(f, CF_ADDR)[i];
    const uint64_t line_size = (uint64_t)1 << shift;
    const uint64_t last = addr + (n - 1) < addr ? UINT64_MAX : addr + (n - 1);

    if (served && served[i] && served[i] < a->level && !(op && op[i] == CF_FLUSH))
        return 0;
    for (uint64_t at = addr & ~(line_size - 1);; at += line_size) {
        const uint64_t where = phys ? at : place(a, pid ? pid[i] : 0, at);

        if (where == CF_TAGS_NONE)
            a->unplaced++;
        else if (cf_candidates_access(candidates, where >> shift, op && op[i] == CF_FLUSH) != 0)
            return -1;
        if (last - at < line_size)
            return 0;
    }
}

static void give_up(struct work *w, const char *why)
{
    cf_fail(&w->tool, CF_EXIT_INPUT, "--accesses: %s: no policy is named", why);
    w->no_candidates = 1;
}

/* A model's caches are empty where it begins, and it goes on where its input does. */
static int begins_empty(const struct cf_snapshot *s)
{
    return s->mode & CF_MODE_MODEL && s->number == 1;
}

static int begin_candidates(struct work *w)
{
    const struct cf_tags *t = &w->snaps->now;

    if (t->caches > 1)
        give_up(w, "snapshots of several caches: choose one with cf-select");
    else if (t->ways > CF_CANDIDATES_WAYS)
        give_up(w, "over 64 ways");
    else if (!t->sets || !t->ways || !w->snaps->info.sets)
        give_up(w, "no row of table snapshot states sets and ways");
    if (w->no_candidates)
        return 0;
    w->judged_sets = t->sets;
    w->judged_ways = t->ways;
    w->numbers = malloc((size_t)t->sets * t->ways * sizeof *w->numbers);
    w->candidates = cf_candidates_new(t->sets, t->ways, begins_empty(&w->snaps->info));
    w->accesses = open_accesses(&w->tool, w->o.accesses, w->snaps->level);
    w->accesses->clock = &w->clock;
    if (!w->numbers || !w->candidates)
        return -1;
    for (uint32_t set = 0; set < t->sets; set++)
        if (set < w->o.set_from || set > w->o.set_to)
            cf_candidates_leave_out(w->candidates, set);
    return 0;
}

/* Lines of the snapshot by number; the pages of those that are new. */
static int take_lines(struct work *w, unsigned shift)
{
    const struct cf_tags *now = &w->snaps->now, *before = &w->snaps->before;

    for (uint32_t set = 0; set < w->judged_sets; set++)
        for (uint32_t way = 0; way < w->judged_ways; way++) {
            const size_t slot = cf_tags_slot(now, 0, set) + way;
            uint64_t number = now->line[slot];

            if (number == CF_TAGS_NONE) {
                number = CF_CACHE_NONE;
            } else {
                w->no_frame |= cf_line_is_virtual(number);
                if (number != before->line[slot] &&
                    learn(w->accesses, now->pid[slot], now->addr[slot], number) != 0)
                    return -1;
                number >>= shift;
                w->misplaced += number % w->judged_sets != set;
            }
            w->numbers[(size_t)set * w->judged_ways + way] = number;
        }
    for (size_t i = 0; i < w->snaps->mores; i++) {
        const struct cf_tags_owner *more = &w->snaps->more[i];

        if (learn(w->accesses, more->pid, more->addr, more->line) != 0)
            return -1;
    }
    return 0;
}

/* Accesses of the segment before a time. -1 without memory. */
static int add_rows(struct work *w, unsigned shift, uint64_t time)
{
    struct accesses *a = w->accesses;

    for (; more(a) && cf_u64(a->frame, CF_TIME)[a->at] < time; a->at++)
        if (add_row(a, w->candidates, shift) != 0)
            return -1;
    return 0;
}

/* The first snapshot of a segment has come, which is not the first of all: a model that goes on has
   had the rest of the accesses before, else nothing of the recording before holds in this one. -1
   without memory. */
static int begin_segment(struct work *w, unsigned shift)
{
    const struct cf_snapshot *s = &w->snaps->info;
    struct accesses *a = w->accesses;

    if (!(s->mode & CF_MODE_MODEL) || begins_empty(s)) {
        cf_candidates_begin(w->candidates, begins_empty(s));
        cf_counts_free(a->frames);
        a->frames = cf_counts_new();
        return a->frames ? 0 : -1;
    }
    for (; a->wanted < s->segment; a->wanted++)
        if (add_rows(w, shift, UINT64_MAX) != 0)
            return -1;
    return 0;
}

int judge_candidates(struct work *w)
{
    const unsigned shift = (unsigned)__builtin_ctzll(w->line_size);
    const struct cf_tags *t = &w->snaps->now;

    if (!w->candidates && begin_candidates(w) != 0)
        return -1;
    if (w->no_candidates)
        return 0;
    if (t->sets != w->judged_sets || t->ways != w->judged_ways || t->caches > 1) {
        give_up(w, "the snapshots are of different caches");
        return 0;
    }
    if (w->snaps->first && w->snaps->count > 1 && begin_segment(w, shift) != 0)
        return -1;
    w->accesses->wanted = w->snaps->info.segment;
    if (take_lines(w, shift) != 0)
        return -1;
    if (w->no_frame) {
        give_up(w, "lines of the snapshots have no physical address, which would show where "
                   "accesses go");
        return 0;
    }
    if (w->misplaced) {
        give_up(w, "the cache does not choose sets by (address / line size) mod sets");
        return 0;
    }
    if (add_rows(w, shift, w->snaps->info.time) != 0)
        return -1;
    return cf_candidates_snapshot(w->candidates, w->numbers, w->judged_ways,
                                  w->snaps->info.mode & CF_MODE_FLUSH);
}

uint64_t accesses_unplaced(const struct accesses *a)
{
    return a->unplaced;
}

void accesses_read_out(struct accesses *a)
{
    struct cf_frame *f;

    while (cf_tool_next(a->tool, a->reader, &f) > 0)
        ;
    cf_tool_fit(a->tool, a->reader);
}

void accesses_close(struct accesses *a)
{
    cf_tool_note(a->tool, cf_tool_problems(a->tool, a->reader));
    cf_reader_close(a->reader);
    cf_counts_free(a->frames);
    free(a->file);
}
