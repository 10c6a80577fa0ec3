/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_reference [SEED [RUNS [SHOWN]]]: cf-cache and cf-classify against the model, on RUNS random
 * machines and streams, of the seeds from SEED on. Of the first SHOWN that differ it shows the
 * machine and as few rows as still differ. $CF_B is the build directory.
 */
#include <stdlib.h>

#include "tests/reference/reference.h"
#include "tests/unit/tap.h"

int main(int argc, char **argv)
{
    const char *build = getenv("CF_B");
    const uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    const uint64_t runs = argc > 2 ? strtoull(argv[2], NULL, 0) : 300;
    const uint64_t shown = argc > 3 ? strtoull(argv[3], NULL, 0) : 3;
    uint64_t rows = 0, differ = 0, paged = 0, pages_differ = 0;

    programs_begin(build ? build : "build");
    for (unsigned i = 0; argc < 2; i++) {
        const char *name;
        char what[512];
        const int good = check_example(i, &name, what, sizeof(what));

        if (good < 0)
            break;
        if (!ok(good, "%s", name))
            note("%s", what);
    }
    for (uint64_t i = 0; i < runs; i++) {
        struct run r;
        char what[512];

        random_run(&r, seed + i);
        rows += r.stream.rows;
        if (compare_run(&r, what, sizeof(what)) != 0) {
            note("seed %llu: %s", (unsigned long long)(seed + i), what);
            if (differ++ < shown) {
                shrink_run(&r);
                compare_run(&r, what, sizeof(what));
                note("the least of it, %s", what);
                print_run(stdout, &r);
            }
        }
        switch (compare_pages(&r, what, sizeof(what))) {
        case 0:
            paged++;
            break;
        case -1:
            note("seed %llu: %s", (unsigned long long)(seed + i), what);
            pages_differ++;
        }
        free(r.stream.row);
    }
    programs_end();
    if (runs >= 300) {
        char what[512];
        const int all = compared_pages(what, sizeof(what));

        ok(all && paged >= 200,
           "cf-pages: %llu programs, in modes cached and uncached and by rank: %s",
           (unsigned long long)paged, what);
    }
    ok(pages_differ == 0 && paged >= runs / 2,
       "%llu random programs of some pages: of %llu cf-pages differs from the reference",
       (unsigned long long)paged + pages_differ, (unsigned long long)pages_differ);
    ok(differ == 0, "%llu random machines, %llu rows: %llu differ from the reference",
       (unsigned long long)runs, (unsigned long long)rows, (unsigned long long)differ);
    return done();
}
