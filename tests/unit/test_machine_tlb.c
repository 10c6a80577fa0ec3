/* SPDX-License-Identifier: BSD-2-Clause */
/* test_machine_tlb.c - keys index and tlb of machine descriptions: read, written, refused. */
#include <string.h>

#include "tests/unit/machine_file.h"

/* How lines find their sets, and the lookaside buffers. */
static void index_and_tlb(void)
{
    struct cf_machine *m =
        load(HEAD "  - {name: L1, size: 1KiB, ways: 2, index: plain}\n"
                  "  - {name: L2, size: 4KiB, ways: 2, index: hashed}\n"
                  "tlb:\n  - {entries: 64, ways: 4, page_size: 4KiB}\n"
                  "  - {page_size: 2MiB, entries: 32}\n  - {entries: 1536, page_size: 4096}\n");

    need(m != NULL, "index and tlb load: %s", problem);
    ok(m->level[0].indexing == CF_INDEX_PLAIN && m->level[1].indexing == CF_INDEX_HASHED, "index");
    ok(m->tlbs == 3 && m->tlb[0].entries == 64 && m->tlb[0].ways == 4 &&
           m->tlb[0].page_size == 4096,
       "a level of tlb");
    ok(m->tlb[1].page_size == 2 << 20 && !m->tlb[1].ways && m->tlb[2].entries == 1536,
       "and the others");
    round_trip(m, "index and tlb");
    cf_machine_free(m);
    m = load(SMALL "tlb: []\n");
    ok(m && !m->tlbs && m->level[0].indexing == CF_INDEX_PLAIN, "no tlb, and plain by default");
    cf_machine_free(m);
    refused(HEAD "  - {name: L1, size: 1KiB, ways: 2, index: xor}\n", 3, "plain, hashed");
    refused(SMALL "tlb: 64\n", 4, "'tlb' is a value: give a list");
    refused(SMALL "tlb: [64]\n", 4, "a level of tlb is a value");
    refused(SMALL "tlb:\n  - {entries: 64}\n", 5, "a level of tlb has no 'page_size'");
    refused(SMALL "tlb: [{page_size: 4096}]\n", 4, "a level of tlb has no 'entries'");
    refused(SMALL "tlb: [{entries: 0, page_size: 4096}]\n", 4, "'entries: 0' is out of range");
    refused(SMALL "tlb: [{entries: 9, ways: 0, page_size: 4096}]\n", 4, "out of range");
    refused(SMALL "tlb: [{entries: 9, page_size: 3KiB}]\n", 4, "no power of two: pages are 4KiB");
    refused(SMALL "tlb: [{entries: 9, page_size: 64}]\n", 4, "out of range");
    refused(SMALL "tlb: [{entries: 9, ways: 2, page_size: 4KiB}]\n", 4, "no multiple of 2 ways");
    refused(SMALL "tlb: [{entries: 9, page_size: 4KiB, reach: 36KiB}]\n", 4,
            "unknown key 'reach' in a level of tlb: known are entries, ways, page_size");
    refused(SMALL "tlb:\n  - {entries: 9, page_size: 4KiB}\n  - {entries: 9, page_size: 4KiB}\n", 6,
            "from the core outwards");
    refused(SMALL "tlb: [{entries: 1, page_size: 512}, {entries: 2, page_size: 512}, {entries: 3, "
                  "page_size: 512}, {entries: 4, page_size: 512}, {entries: 5, page_size: 512},\n"
                  "{entries: 6, page_size: 512}, {entries: 7, page_size: 512}, {entries: 8, "
                  "page_size: 512}, {entries: 9, page_size: 512}, {entries: 10, page_size: 512},\n"
                  "{entries: 11, page_size: 512}, {entries: 12, page_size: 512}, {entries: 13, "
                  "page_size: 512}, {entries: 14, page_size: 512}, {entries: 15, page_size: 512},\n"
                  "{entries: 16, page_size: 512},\n{entries: 17, page_size: 512}]\n",
            8, "more than 16 levels of tlb");
}

int main(void)
{
    make_directory();
    index_and_tlb();
    remove_directory();
    return done();
}
