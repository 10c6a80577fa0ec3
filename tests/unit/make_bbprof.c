/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * make_bbprof - a profile as the published BBProf tool writes or prints it, of runs that are known.
 *
 *     make_bbprof KIND SAMPLES SEED TRUTH >PROFILE
 *
 * 195 pages of heap (mapping 2) and 33 of stack (mapping 15), each timed SAMPLES times at random;
 * the mean is the running one of the tool. KIND: little (its file), big (of a machine of the other
 * byte order), narrow (of a 32-bit one), text (-l and -t, behind a line of progress), reverse (the
 * same of its -m nc). TRUTH gets "region,page,runs,least,most,mean".
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEAP = 195, STACK = 33, PAGES = HEAP + STACK };

static const char *kind;

struct page {
    unsigned page;
    uint64_t least, most;
    double mean;
};

static void put(uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        putchar((int)(value >> 8 * (strcmp(kind, "big") == 0 ? bytes - 1 - i : i) & 0xff));
}

static void put_file(const struct page *p, unsigned samples)
{
    const int narrow = strcmp(kind, "narrow") == 0, word = narrow ? 4 : 8;

    put(2, 4);
    for (int i = 0; i < 2; i++) {
        put(i ? 15 : 2, 4);
        put(i ? STACK : HEAP, 4);
        put(0, 4);
        put(0, 4);
        put(0x5500001230, word);
    }
    put(2, 4);
    put(samples, 4);
    put(728, 4);
    for (int i = 0; i < PAGES; i++) {
        uint64_t mean;

        if (i == 0 || i == HEAP) {
            put(i ? 15 : 2, 4);
            put(i ? STACK : HEAP, 4);
        }
        memcpy(&mean, &p[i].mean, sizeof mean);
        put(p[i].page, 4);
        if (!narrow)
            put(0xdeadbeef, 4); /* padding */
        put(p[i].least, word);
        put(p[i].most, word);
        if (narrow)
            put(0, 4);
        put(mean, 8);
    }
}

static int by_mean(const void *x, const void *y)
{
    const struct page *a = x, *b = y;
    const int order = (a->mean > b->mean) - (a->mean < b->mean);

    return strcmp(kind, "reverse") == 0 ? -order : order;
}

static void put_text(struct page *p, unsigned samples)
{
    printf("[DBG] Command to execute: [two_loops \b]\n"
           "[DBG] [  0]    00400000-00401000 r-xp 00000000 b3:02 3585      /root/two_loops\n"
           "[DBG] [  2] *  1f0ed000-1f1b0000 rw-p 00000000 00:00 0         [heap]\n"
           "[DBG] [  3]    7fa31a1000-7fa31a5000 rw-p 00000000 00:00 0 \n"
           "[DBG] [ 15] *  7fe57a7000-7fe57c8000 rw-p 00000000 00:00 0     [stack]\n"
           "\b\033[2K\rPROFILING: [###] (%d/%d)\n"
           "[DBG] \n----------------- PROFILE (%u samples) -----------------\n"
           "[DBG] heap_pad = 728\n",
           PAGES, PAGES, samples);
    qsort(p, HEAP, sizeof *p, by_mean);
    qsort(p + HEAP, STACK, sizeof *p, by_mean);
    for (int i = 0; i < PAGES; i++) {
        if (i == 0 || i == HEAP)
            printf("[DBG] ========== (%d/2) VMA index: %d ==========\n", i != 0, i ? 15 : 2);
        printf("[DBG] PAGE: 0x%04x\tCYCLES: max: %" PRIu64 "\tmin: %" PRIu64 "\tavg: %f\n",
               p[i].page, p[i].most, p[i].least, p[i].mean);
    }
    printf("[DBG] \n-------------------------------------------\n");
}

int main(int argc, char **argv)
{
    static struct page page[PAGES];
    const unsigned samples = argc > 4 ? (unsigned)atoi(argv[2]) : 0;
    FILE *truth = argc > 4 ? fopen(argv[4], "w") : NULL;

    if (!truth)
        return 2;
    kind = argv[1];
    srand48(atol(argv[3]));
    for (unsigned i = 0; i < PAGES; i++) {
        struct page *p = &page[i];
        double sum = 0;

        p->page = i < HEAP ? i : i - HEAP;
        for (unsigned s = 1; s <= samples; s++) {
            const uint64_t ticks = (uint64_t)(59000000 + 1000 * i + drand48() * 1000000);

            p->least = s == 1 || ticks < p->least ? ticks : p->least;
            p->most = ticks > p->most ? ticks : p->most;
            p->mean = (p->mean * (s - 1) + (double)ticks) / s;
            sum += (double)ticks;
        }
        fprintf(truth, "%s,%u,%u,%" PRIu64 ",%" PRIu64 ",%.3f\n", i < HEAP ? "[heap]" : "[stack]",
                i < HEAP ? i : STACK - 1 - p->page, samples, p->least, p->most, sum / samples);
    }
    if (strcmp(kind, "text") == 0 || strcmp(kind, "reverse") == 0)
        put_text(page, samples);
    else
        put_file(page, samples);
    return fclose(truth) || fflush(stdout) ? 1 : 0;
}
