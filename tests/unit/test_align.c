/* SPDX-License-Identifier: BSD-2-Clause */
/* Matching of lines: against the longest common subsequence by dynamic programming, and moved ones
   by hand. */
#include <stdlib.h>
#include <string.h>

#include "filters/engine/text/align.h"
#include "tap.h"

enum { MOST = 60 };

static uint64_t state = 1;

static uint32_t next(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33);
}

static size_t longest(const uint32_t *a, size_t n, const uint32_t *b, size_t m)
{
    static size_t length[MOST + 1][MOST + 1];

    for (size_t i = 1; i <= n; i++)
        for (size_t k = 1; k <= m; k++)
            length[i][k] = a[i - 1] == b[k - 1]                  ? length[i - 1][k - 1] + 1
                           : length[i - 1][k] > length[i][k - 1] ? length[i - 1][k]
                                                                 : length[i][k - 1];
    return n && m ? length[n][m] : 0;
}

/* Lines are letters. */
static void by_hand(const char *old, const char *new_, const char *want)
{
    uint32_t a[MOST], b[MOST], match[MOST];
    const size_t n = strlen(old), m = strlen(new_);
    char got[MOST + 1] = "";

    for (size_t i = 0; i < n; i++)
        a[i] = (uint8_t)old[i];
    for (size_t i = 0; i < m; i++)
        b[i] = (uint8_t)new_[i];
    need(cf_align(a, n, b, m, 255, match) == 0, "memory");
    for (size_t i = 0; i < n; i++)
        got[i] = match[i] ? (char)('0' + match[i]) : '-';
    is_text(got, want, "%s to %s", old, new_);
}

/* Whether a line stands once in each version: such are anchors, and the subsequence is the longest
   between them only. */
static int single(const uint32_t *a, size_t n, const uint32_t *b, size_t m)
{
    for (size_t i = 0; i < n; i++) {
        unsigned olds = 0, news = 0;

        for (size_t k = 0; k < n; k++)
            olds += a[k] == a[i];
        for (size_t k = 0; k < m; k++)
            news += b[k] == a[i];
        if (olds == 1 && news == 1)
            return 1;
    }
    return 0;
}

/* All pairs are of equal lines, no line has two, and as many keep their order as can. */
static void random_versions(unsigned letters, int edits)
{
    size_t bad = 0, shorter = 0, moved = 0, unmatched = 0;

    for (unsigned round = 0; round < 3000; round++) {
        uint32_t a[MOST], b[MOST], match[MOST];
        uint8_t taken[MOST + 2] = {0};
        size_t n = next() % MOST, m = edits ? n : next() % MOST, order = 0, last = 0;

        for (size_t i = 0; i < n; i++)
            b[i] = a[i] = 1 + next() % letters;
        for (size_t i = 0; i < m && !edits; i++)
            b[i] = 1 + next() % letters;
        for (int e = 0; e < edits && m; e++) {
            const size_t at = next() % m;

            if (next() % 2 && m > 1) {
                memmove(b + at, b + at + 1, (--m - at) * sizeof *b);
            } else if (m < MOST) {
                memmove(b + at + 1, b + at, (m++ - at) * sizeof *b);
                b[at] = 1 + next() % letters;
            }
        }
        if (cf_align(a, n, b, m, letters, match) != 0)
            bad++;
        for (size_t i = 0; i < n; i++) {
            bad += match[i] > m || (match[i] && (a[i] != b[match[i] - 1] || taken[match[i]]++));
            unmatched += !match[i];
        }
        /* those in order are at least a subsequence: the longest rising part of the matches */
        uint32_t tail[MOST + 1];
        for (size_t i = 0; i < n; i++) {
            size_t k = 0;

            if (!match[i])
                continue;
            while (k < order && tail[k] < match[i])
                k++;
            tail[k] = match[i];
            order = k == order ? order + 1 : order;
            moved += match[i] < last;
            last = match[i];
        }
        shorter += !single(a, n, b, m) && order != longest(a, n, b, m);
    }
    is_u64(bad, 0, "%u letters, %d edits: pairs are of equal lines, each once", letters, edits);
    is_u64(shorter, 0, "%u letters, %d edits: as many as the longest subsequence has", letters,
           edits);
    ok(unmatched > 0 && (letters < 30 || moved > 0),
       "%u letters, %d edits: some have none, some moved", letters, edits);
}

/* So many differences that it gives up looking for the best: still right, and soon done. */
static void many(void)
{
    enum { LINES = 20000 };
    uint32_t *a = malloc(LINES * sizeof *a), *b = malloc(LINES * sizeof *b);
    uint32_t *match = malloc(LINES * sizeof *match), pairs = 0, bad = 0;

    for (size_t i = 0; i < LINES; i++) {
        a[i] = 1 + next() % 100;
        b[i] = 1 + next() % 100;
    }
    need(cf_align(a, LINES, b, LINES, 100, match) == 0, "memory");
    for (size_t i = 0; i < LINES; i++) {
        pairs += match[i] != 0;
        bad += match[i] && a[i] != b[match[i] - 1];
    }
    is_u64(bad, 0, "unlike texts: pairs are of equal lines");
    ok(pairs > LINES / 10, "unlike texts: %u pairs", pairs);
    free(a);
    free(b);
    free(match);
}

int main(void)
{
    by_hand("", "", "");
    by_hand("abc", "", "---");
    by_hand("", "abc", "");
    by_hand("abc", "abc", "123");
    by_hand("abc", "xyabc", "345");  /* inserted above */
    by_hand("abc", "axc", "1-3");    /* changed */
    by_hand("abcd", "acd", "1-23");  /* removed */
    by_hand("abcd", "bcda", "4123"); /* moved across */
    by_hand("a}b}c}", "b}c}", "--1234");
    by_hand("ab}cd}", "cd}ab}", "456123"); /* a function moved, with its brace */
    by_hand("ab}_cd}_", "cd}_ab}_", "56781234");
    by_hand("pi;l}qi;l}r", "pj;l}qj;l}r", "1-3456-89:;"); /* the same in two functions */
    by_hand("fx}gy}", "fz}gyx}", "163457");
    by_hand("a}x", "y}b", "-2-");
    by_hand("}x", "y}}", "2-");
    random_versions(3, 0);
    random_versions(40, 0);
    random_versions(4, 8);
    random_versions(40, 12);
    many();
    return done();
}
