/* SPDX-License-Identifier: BSD-2-Clause */
/* test_path.c - paths as texts: normal forms, components, what two have in common at their ends. */
#include <string.h>

#include "formats/files/cf_path.h"
#include "tests/unit/tap.h"

static void normalises(const char *from, const char *to)
{
    char path[64];

    snprintf(path, sizeof(path), "%s", from);
    cf_path_normalise(path);
    ok(!strcmp(path, to), "'%s' is '%s'", from, to);
    if (strcmp(path, to) != 0)
        note("got '%s'", path);
}

static void normal_forms(void)
{
    static const char *const same[] = {"",   "/",     ".",    "..",      "a",
                                       "/a", "a/b.c", "../a", "../../a", "..."};

    for (size_t i = 0; i < sizeof(same) / sizeof(*same); i++)
        normalises(same[i], same[i]);
    normalises("//a///b/", "/a/b");
    normalises("./a/./b", "a/b");
    normalises("a/../b", "b");
    normalises("a/b/../../c", "c");
    normalises("a/..", ".");
    normalises("/a/..", "/");
    normalises("/../a", "/a");
    normalises("./../a", "../a");
    normalises("a/../../b", "../b");
    normalises("../a/../b", "../b");
    normalises("../a/../../b", "../../b");
    normalises("a../..b/.c", "a../..b/.c");
}

static void components(void)
{
    ok(!strcmp(cf_path_last("/a/b.c"), "b.c") && !strcmp(cf_path_last("b.c"), "b.c"), "the last");
    is_u64(cf_path_parts("./a//b/./c.c"), 3, "components that say something");
    is_u64(cf_path_parts("./."), 0, "and none");
    is_u64(cf_path_common("/x/a/b.c", "y/a/b.c"), 2, "two in common");
    is_u64(cf_path_common("a/b.c", "/x/a/b.c"), 2, "all of a relative one");
    is_u64(cf_path_common("/x/aa/b.c", "/x/a/b.c"), 1, "the end of a name is none");
    is_u64(cf_path_common("/a/b.c", "/a/b.c"), 2, "all of an absolute one");
    is_u64(cf_path_common("b.c", "bb.c"), 0, "a name that ends like another");
    is_u64(cf_path_common("b.c", "a/c.c"), 0, "nothing");
}

int main(void)
{
    normal_forms();
    components();
    return done();
}
