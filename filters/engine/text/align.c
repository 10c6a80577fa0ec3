/* SPDX-License-Identifier: BSD-2-Clause */
/* align.c - see align.h. */
#include <stdlib.h>

#include "filters/engine/text/align.h"

enum { MOST_DIFFERENCES = 4096 }; /* half of those in a box, before it is cut somewhere */

struct side {
    const uint32_t *line;
    size_t lines;
    uint32_t *count; /* by number: how many lines have it */
    uint32_t *at;    /* places of the lines that the other version has, too */
    int32_t kept;    /* how many these are */
};

struct align {
    struct side side[2];     /* old and new */
    uint32_t *match;         /* of the old lines */
    uint8_t *taken;          /* of the new ones */
    uint32_t *place;         /* by number: of the last new line that has it */
    uint32_t *tail, *before; /* for anchors() */
    int32_t *ahead, *back;   /* for middle() */
};

/* Kept lines [x, x_end) of the old and [y, y_end) of the new version. */
struct box {
    int32_t x, x_end, y, y_end;
};

static void pair(struct align *a, size_t old, size_t new_)
{
    const uint32_t *olds = a->side[0].line, *news = a->side[1].line;

    if (olds[old] != news[new_] || a->match[old] || a->taken[new_])
        return;
    a->match[old] = (uint32_t)new_ + 1;
    a->taken[new_] = 1;
}

/* The lines behind and before those that are paired, as far as they are the same. */
static void extend(struct align *a)
{
    const size_t olds = a->side[0].lines, news = a->side[1].lines;

    for (size_t x = 0; x + 1 < olds; x++)
        if (a->match[x] && a->match[x] < news)
            pair(a, x + 1, a->match[x]);
    for (size_t x = olds; x-- > 1;)
        if (a->match[x] > 1)
            pair(a, x - 1, a->match[x] - 2);
}

/* ---- single lines ---- */

static int is_single(const struct align *a, size_t old)
{
    const uint32_t number = a->side[0].line[old];

    return a->side[0].count[number] == 1 && a->side[1].count[number] == 1;
}

static uint32_t place_of(const struct align *a, size_t old)
{
    return a->place[a->side[0].line[old]];
}

/* Pairs those that can keep their order: the longest increasing subsequence of their new places, by
   patience sorting (Fredman, "On Computing the Length of Longest Increasing Subsequences", Discrete
   Mathematics 11, 1975). tail[k]: the old line with the least place that ends one of k + 1. */
static void anchors(struct align *a)
{
    size_t most = 0;

    for (size_t x = 0; x < a->side[0].lines; x++) {
        size_t low = 0, high = most;

        if (!is_single(a, x))
            continue;
        while (low < high) {
            const size_t half = (low + high) / 2;

            if (place_of(a, a->tail[half]) < place_of(a, x))
                low = half + 1;
            else
                high = half;
        }
        a->before[x] = low ? a->tail[low - 1] : 0;
        a->tail[low] = (uint32_t)x;
        most += low == most;
    }
    for (uint32_t x = most ? a->tail[most - 1] : 0; most--; x = a->before[x])
        pair(a, x, place_of(a, x));
}

static void moved(struct align *a)
{
    for (size_t x = 0; x < a->side[0].lines; x++)
        if (is_single(a, x))
            pair(a, x, place_of(a, x));
}

/* ---- between them ---- */

static int is_same(const struct align *a, int32_t x, int32_t y)
{
    return a->side[0].line[a->side[0].at[x]] == a->side[1].line[a->side[1].at[y]];
}

/* v[k] = how far a path of d differences gets on diagonal k, from the box's first corner or, with
   `back`, from its last one; -1: not inside. Holds that of d - 1 before. */
static void reach(const struct align *a, const struct box *b, int32_t *v, int32_t d, int back)
{
    const int32_t n = b->x_end - b->x, m = b->y_end - b->y;

    v[d + 1] = v[-d - 1] = -1;
    for (int32_t k = -d; k <= d; k += 2) {
        int32_t x = d ? -1 : 0;

        if (d && v[k + 1] >= 0 && v[k + 1] - k <= m)
            x = v[k + 1];
        if (d && v[k - 1] >= x && v[k - 1] >= 0 && v[k - 1] < n)
            x = v[k - 1] + 1;
        while (x >= 0 && x < n && x - k < m &&
               (back ? is_same(a, b->x_end - 1 - x, b->y_end - 1 - (x - k))
                     : is_same(a, b->x + x, b->y + x - k)))
            x++;
        v[k] = x;
    }
}

/* Whether paths of d differences meet those from the other corner, `other` holding these: on which
   diagonal. */
static int meet(const int32_t *v, int32_t d, const int32_t *other, int32_t most, int32_t n,
                int32_t delta, int32_t *diagonal)
{
    for (int32_t k = -d; k <= d; k += 2)
        if (delta - k >= -most && delta - k <= most && v[k] >= 0 && other[delta - k] >= 0 &&
            v[k] + other[delta - k] >= n) {
            *diagonal = k;
            return 1;
        }
    return 0;
}

/* A point within the box that a path with the fewest differences passes. */
static void middle(const struct align *a, const struct box *b, int32_t *x, int32_t *y)
{
    const int32_t n = b->x_end - b->x, m = b->y_end - b->y, delta = n - m;
    int32_t d = 0, k, best = 0;

    for (;; d++) {
        reach(a, b, a->ahead, d, 0);
        if (d && delta % 2 && meet(a->ahead, d, a->back, d - 1, n, delta, &k)) {
            *x = b->x + a->ahead[k];
            *y = b->y + a->ahead[k] - k;
            return;
        }
        if (d == MOST_DIFFERENCES)
            break;
        reach(a, b, a->back, d, 1);
        if (delta % 2 == 0 && meet(a->back, d, a->ahead, d, n, delta, &k)) {
            *x = b->x_end - a->back[k];
            *y = b->y_end - (a->back[k] - k);
            return;
        }
    }
    for (k = -d; k <= d; k += 2) /* the path that got farthest */
        if (a->ahead[k] >= 0 && 2 * a->ahead[k] - k > best) {
            best = 2 * a->ahead[k] - k;
            *x = b->x + a->ahead[k];
            *y = b->y + a->ahead[k] - k;
        }
}

static void between(struct align *a, struct box b)
{
    const uint32_t *old = a->side[0].at, *new_ = a->side[1].at;
    int32_t x = 0, y = 0;

    for (; b.x < b.x_end && b.y < b.y_end && is_same(a, b.x, b.y); b.x++, b.y++)
        pair(a, old[b.x], new_[b.y]);
    for (; b.x < b.x_end && b.y < b.y_end && is_same(a, b.x_end - 1, b.y_end - 1);
         b.x_end--, b.y_end--)
        pair(a, old[b.x_end - 1], new_[b.y_end - 1]);
    if (b.x == b.x_end || b.y == b.y_end)
        return;
    middle(a, &b, &x, &y);
    between(a, (struct box){b.x, x, b.y, y});
    between(a, (struct box){x, b.x_end, y, b.y_end});
}

/* Between the lines that are paired, which are in order. */
static void in_order(struct align *a)
{
    const struct side *old = &a->side[0], *new_ = &a->side[1];
    struct box b = {0, 0, 0, 0};

    for (; b.x_end <= old->kept; b.x_end++) {
        const uint32_t to = b.x_end < old->kept ? a->match[old->at[b.x_end]] : 0;

        if (b.x_end < old->kept && !to)
            continue;
        while (b.y_end < new_->kept && (!to || new_->at[b.y_end] != to - 1))
            b.y_end++;
        between(a, b);
        b.x = b.x_end + 1;
        b.y = b.y_end + 1;
    }
}

/* ---- all of it ---- */

static void keep(struct side *s, const struct side *other)
{
    for (size_t i = 0; i < s->lines; i++)
        if (other->count[s->line[i]])
            s->at[s->kept++] = (uint32_t)i;
}

static void run(struct align *a)
{
    const struct side *old = &a->side[0], *new_ = &a->side[1];

    for (size_t x = 0; x < old->lines; x++) {
        old->count[old->line[x]]++;
        a->match[x] = 0;
    }
    for (size_t y = 0; y < new_->lines; y++) {
        new_->count[new_->line[y]]++;
        a->place[new_->line[y]] = (uint32_t)y;
    }
    keep(&a->side[0], new_);
    keep(&a->side[1], old);
    anchors(a);
    extend(a);
    in_order(a);
    moved(a);
    extend(a);
}

int cf_align(const uint32_t *old, size_t olds, const uint32_t *new_, size_t news, uint32_t most,
             uint32_t *match)
{
    const size_t numbers = (size_t)most + 1, middle = (olds + news) / 2 + 4;
    uint32_t *room = olds >> 30 || news >> 30
                         ? NULL
                         : calloc(3 * numbers + 3 * olds + news + 4 * middle, sizeof *room);
    struct align a = {
        .side = {{.line = old, .lines = olds}, {.line = new_, .lines = news}},
        .match = match,
        .taken = calloc(news + 1, 1),
    };
    uint32_t *next = room;

    if (room && a.taken) {
        a.side[0].count = next;
        a.side[1].count = next += numbers;
        a.place = next += numbers;
        a.tail = next += numbers;
        a.before = next += olds;
        a.side[0].at = next += olds;
        a.side[1].at = next += olds;
        a.ahead = (int32_t *)(next += news) + middle;
        a.back = (int32_t *)next + 3 * middle;
        run(&a);
    }
    free(room);
    free(a.taken);
    return room && a.taken ? 0 : -1;
}
