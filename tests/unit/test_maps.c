/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_maps: replaying the rows that cf_maps makes of lists of mappings gives those lists again,
 * page by page: what came, what went, what took the place of something in part, what a fork copies.
 * Stands in for the writer. Memory: 48 pages.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "formats/stream/cf.h"

static int replay(unsigned count, const struct cf_values *v, unsigned columns);
#define cf_writer_rows(w, table, rows, values, columns, aside)                                     \
    ((void)(w), replay(rows, values, columns))
#define cf_writer_string(w, text) ((uint64_t)(text)[0])
#include "capture/base/cf_maps.c"
#include "tap.h"

enum { PAGES = 48, PAGE = 4096, ROUNDS = 3000 };

/* By page: 0 nothing, else name, permissions and file offset of what is mapped there. */
static uint64_t have[PAGES], want[PAGES];
static unsigned rows_seen, gone_seen, builds_seen;

static int replay(unsigned count, const struct cf_values *v, unsigned columns)
{
    const uint64_t first = v[3].constant / PAGE, end = v[4].constant / PAGE;

    rows_seen += count;
    gone_seen += v[2].constant == CF_UNMAPPED;
    builds_seen += columns == 9 && v[8].column == CF_BUILD && v[8].constant;
    for (uint64_t i = first; i < end; i++)
        have[i] = v[2].constant == CF_UNMAPPED ? 0
                                               : v[7].constant << 32 | v[6].constant << 24 |
                                                     (v[5].constant / PAGE + (i - first)) << 1 | 1;
    return 0;
}

static unsigned seed = 1;

static unsigned below(unsigned n)
{
    seed = seed * 1103515245 + 12345;
    return (seed >> 16) % n;
}

/* A list of random mappings, and what it has at each page. */
static size_t make_list(char *text, size_t size)
{
    size_t length = 0;

    memset(want, 0, sizeof want);
    for (unsigned at = below(4); at < PAGES;) {
        const unsigned most = at + 1 + below(4), end = most < PAGES ? most : PAGES;
        const unsigned write = below(2), offset = below(3);
        const char name = (char)('a' + below(2));

        length += (size_t)snprintf(text + length, size - length, "%x-%x r%c-p %08x 08:01 17   %c\n",
                                   at * PAGE, end * PAGE, write ? 'w' : '-', offset * PAGE, name);
        for (unsigned i = at; i < end; i++)
            want[i] = (uint64_t)name << 32 | (uint64_t)(CF_PERM_R | (write ? CF_PERM_W : 0)) << 24 |
                      (uint64_t)(offset + i - at) << 1 | 1;
        at = end + below(3);
    }
    return length;
}

static int update(struct cf_maps *m, uint32_t pid, const char *text)
{
    unsigned bad = 0;

    rows_seen = gone_seen = builds_seen = 0;
    return cf_maps_update(m, NULL, 0, pid, text, strlen(text), &bad) == 0 ? (int)bad : -1;
}

int main(void)
{
    struct cf_maps *m = cf_maps_new(0);
    const uint32_t self = (uint32_t)getpid();
    unsigned wrong = 0, repeated = 0;
    char text[8192];

    need(m != NULL, "made");
    for (unsigned round = 0; round < ROUNDS; round++) {
        text[make_list(text, sizeof text)] = '\0';
        wrong += update(m, 1, text) != 0 || memcmp(have, want, sizeof have) != 0;
        repeated += update(m, 1, text) != 0 || rows_seen != 0;
    }
    is_u64(wrong, 0, "%u random lists, replayed", (unsigned)ROUNDS);
    is_u64(repeated, 0, "the same list again gives no row");

    update(m, 1, "");
    ok(gone_seen > 0 && memcmp(have, (uint64_t[PAGES]){0}, sizeof have) == 0, "all is unmapped");
    update(m, 1, "1000-5000 r--p 00000000 08:01 17 a\n");
    update(m, 1, "1000-3000 r--p 00000000 08:01 17 a\n");
    ok(have[1] && have[2] && !have[3] && !have[4], "the second half is unmapped");
    update(m, 1, "2000-3000 r--p 00001000 08:01 17 a\n");
    ok(!have[1] && have[2] && !have[3], "the first half is unmapped");
    update(m, 1, "1000-4000 r--p 00000000 08:01 17 b\n");
    is_u64(gone_seen, 0, "what another one covers whole needs no row");
    is_u64((unsigned)cf_maps_find(m, 1, 0x3fff), 1, "a mapping has its last byte");
    is_u64((unsigned)cf_maps_find(m, 1, 0x4000), 0, "and not the next");
    is_u64((unsigned)cf_maps_find(m, 1, 0xfff), 0, "nor the one before");
    ok(cf_maps_find(m, 2, 0x1000) == -1, "nothing is known of another process");

    ok(cf_maps_fork(m, 2, 1) == 0 && update(m, 2, "1000-4000 r--p 00000000 08:01 17 b\n") == 0 &&
           rows_seen == 0,
       "a child has what its parent had");
    cf_maps_forget(m, 2);
    ok(update(m, 2, "1000-4000 r--p 00000000 08:01 17 b\n") == 0 && rows_seen == 1,
       "one that was forgotten begins anew");
    is_u64((unsigned)update(
               m, 2, "3000-4000 r--p 0 08:01 17\n1000-2000 r--p 0 08:01 17\nx\n4-3 r--p 0 0 0\n"),
           3, "lines out of order, or none, are counted");
    update(m, 3, "1000-2000 r--p 0 08:01 17 /lib/a\n2000-3000 r-xp 0 08:01 17 /bin/b\n");
    is_text(cf_maps_program(m, 3), "b", "the program is the first executable mapping");
    is_text(cf_maps_program(m, 4), "", "and nothing where there is none");
    update(m, 5, "1000-2000 r-xp 0 08:01 17 /proc/self/exe\n");
    ok(!builds_seen, "no build is stated of what another machine recorded");
    cf_maps_free(m);

    m = cf_maps_new(1);
    need(m != NULL, "made for what runs here");
    update(m, self, "1000-2000 r-xp 0 08:01 17 /proc/self/exe\n");
    is_u64(builds_seen, 1, "the build of a file is stated");
    update(m, self, "1000-2000 r-xp 0 08:01 17 /proc/self/exe\n2000-3000 rw-p 0 0:0 0 [heap]\n");
    ok(rows_seen == 1 && builds_seen == 0, "nothing of memory");
    update(m, self, "");
    ok(gone_seen == 2 && builds_seen == 0, "nor of what is gone");
    cf_maps_free(m);
    return done();
}
