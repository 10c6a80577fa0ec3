/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exclusive.c - whether a level holds what the level before it does not hold.
 *
 * Lines that fit an exclusive level are those that it and the level before it hold together, if
 * the way size of that one is a multiple of its own, so that sets of both have the same lines.
 * Then experiment inclusion asks one of two things. 1: lines of one set of the level before, more
 * than a set of this one holds of them if it is exclusive, and no more if it is not: they miss,
 * or fit. Or of a line that is visited after each other one, 2: the level before kept it all the
 * time, no access of it missed there; 3: when it left that level, this one had it, as an
 * exclusive one does that got it then, and as another does not; 4: no access of it missed this
 * one, as of an exclusive one none does; 5: as 3, of lines that the level before kept by chance.
 * 6 is one line more than the level has: its set misses, if size and ways are what they seem.
 */
#include <stdio.h>
#include <string.h>

#include "filters/parts/infer/infer.h"

enum { LUCK_ENOUGH = 12 }; /* rows */
/* Fewer ways than so many times those of the level before do not hold, where it is exclusive, all
   that leaves that one after a line. */
enum { LUCK_WAYS = 3 };
enum answer { NONE, IS_EXCLUSIVE, IS_NOT, UNSURE };

/* Of the measurements with a parameter, how many there are, and how many had misses. Times say so
   only of a model: those of accesses that all took `ticks`. */
static void count(const struct infer *f, const struct series *s, uint64_t parameter, uint64_t ticks,
                  size_t *all, size_t *missed)
{
    *all = *missed = 0;
    for (size_t i = 0; i < s->rows; i++) {
        const struct cf_measurement *m = &f->row[s->from + i];

        if (m->parameter != parameter || m->spoilt || !(m->counted || (ticks && is_model(f))))
            continue;
        *all += 1;
        *missed += m->counted ? m->misses > 0 : m->time / ticks > m->accesses || m->time % ticks;
    }
}

/* Of a level of so many ways, with those of the one before it if it is exclusive. That a line is
   gone says something only where it is known when it left the level before, and where such a level
   would have more than a single way of its own. */
static enum answer ask(const struct infer *f, unsigned level, uint64_t ways,
                       const struct cache *before)
{
    for (unsigned i = 0; i < f->count; i++) {
        const struct series *s = &f->series[i];
        size_t sets, sets_missed, kept, lost, left, gone, near, passed, luck, unlucky;

        if (s->is != X_INCLUSION || s->level != level || s->code)
            continue;
        count(f, s, LINES_OF_A_SET, 0, &sets, &sets_missed);
        count(f, s, LINE_KEPT, before->value[LATENCY].is, &kept, &lost);
        count(f, s, LINE_LEFT, 0, &left, &gone);
        count(f, s, LINE_NEAR, 0, &near, &passed);
        count(f, s, LINE_LUCK, 0, &luck, &unlucky);
        if (!sets && !kept && !left && !near && !luck)
            continue;
        if (sets)
            return sets_missed == sets ? IS_EXCLUSIVE : !sets_missed ? IS_NOT : UNSURE;
        if (!kept || lost || (gone && ways < before->value[WAYS].is + 2))
            left = gone = 0;
        if (unlucky && ways < LUCK_WAYS * before->value[WAYS].is)
            luck = unlucky = 0;
        if (is_model(f) ? gone + passed + unlucky > 0
                        : 2 * gone > left || 2 * passed > near || 2 * unlucky > luck)
            return IS_NOT;
        return (left && !gone) || luck >= LUCK_ENOUGH ? IS_EXCLUSIVE : UNSURE;
    }
    return NONE;
}

/* Whether one line too many did not miss every second time; or not every time, as it does where an
   exclusive level and a first one hold no more together. */
static int not_firm(const struct infer *f, unsigned level, int each)
{
    size_t all = 0, missed = 0;

    for (unsigned i = 0; i < f->count && !all; i++)
        if (f->series[i].is == X_INCLUSION && f->series[i].level == level && !f->series[i].code)
            count(f, &f->series[i], ONE_MORE, 0, &all, &missed);
    return each ? missed < all : 2 * missed < all;
}

static void take_back(struct value *v, const char *why)
{
    if (v->how != MEASURED)
        return;
    v->how = NOT_TOLD;
    v->confidence = 0;
    snprintf(v->by, sizeof v->by, "%s", why);
}

/* Whether the size is that of a window, which an exclusive level shares with the one before it. */
static int by_window(const struct infer *f, unsigned level)
{
    int is = 0;

    for (unsigned i = 0; i < f->count; i++)
        if (f->series[i].level == level && !f->series[i].code && f->series[i].points.point) {
            if (f->series[i].is == X_PAGES)
                return 0;
            is |= f->series[i].is == X_SIZE || f->series[i].is == X_CAPACITY;
        }
    return is;
}

void settle_inclusion(const struct infer *f, struct cache *c, const struct cache *before)
{
    struct value *size = &c->value[SIZE], *ways = &c->value[WAYS];
    const struct value *first = before->value;
    const enum answer is = ask(f, c->level, ways->is, before);
    uint64_t way_size;

    if (not_firm(f, c->level, c->level == 2 && is == IS_EXCLUSIVE)) {
        take_back(size, "as many lines as do not fit fitted now and then");
        take_back(ways, "as many lines as do not fit fitted now and then");
    }
    if (ways->how != MEASURED && c->value[LINE].is == first[LINE].is && by_window(f, c->level))
        take_back(size, "it may be that of two levels, and no ways are known that show it");
    /* lines that are a little too many for the level before hide there now and then */
    if (ways->how != MEASURED && size->is <= first[SIZE].is + 2 * c->value[LINE].is &&
        by_window(f, c->level))
        take_back(size, "it is about that of the level before, and no ways are known that show it");
    if (size->how != MEASURED || ways->how != MEASURED)
        return;
    if (first[SIZE].how != MEASURED || first[WAYS].how != MEASURED) {
        take_back(size, "it may be that of two levels, and the one before is not known");
        take_back(ways, "it may be that of two levels, and the one before is not known");
        return;
    }
    way_size = size->is / ways->is;
    if (first[SIZE].is / first[WAYS].is % way_size || size->is <= first[SIZE].is ||
        c->value[LINE].is != first[LINE].is)
        return; /* no exclusive level is found so */
    if (is == IS_NOT) {
        c->exclusive = 0;
    } else if (is == IS_EXCLUSIVE) {
        c->exclusive = 1;
        size->is -= first[SIZE].is;
        size->least = size->most = size->is;
        ways->is = size->is / way_size;
        ways->least = ways->most = ways->is;
    } else {
        const char *why = is == NONE ? "whether the level is exclusive was not measured"
                                     : "whether the level is exclusive cannot be told";

        take_back(size, why);
        take_back(ways, why);
    }
}
