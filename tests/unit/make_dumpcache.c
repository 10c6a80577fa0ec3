/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * make_dumpcache - snapshots as the published CacheFlow tool writes them, of a cache that is known.
 *
 *     make_dumpcache FOLDER SNAPSHOTS KIND SEED
 *
 * A cache of 2048 sets and 16 ways is filled at random with lines of known pages: of two programs,
 * of the first process (which the tool walks past), of nobody. FOLDER then holds what the tool
 * would have written, with its faults: entries that are not valid keep what an older snapshot put
 * there, a page without mapping inherits the pid before it, resolved addresses lack their place in
 * the page, unresolved ones (KIND half) are halved. KIND is page or half. dump.bin holds all of it
 * in binary, truth.csv what really was in the cache and which entries are leftovers.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SETS = 2048, WAYS = 16, FRAMES = 4096, PAGES = 900 };

static const uint64_t memory = 0x80000000;

struct entry {
    uint32_t pid;
    uint64_t addr;
};

/* Of each page frame: who maps it where; pid 0 nobody. */
static struct entry owner[FRAMES];

static uint64_t cache[SETS][WAYS]; /* physical address of a line, 0 none */
static struct entry buffer[SETS][WAYS];

static FILE *create(const char *folder, const char *name)
{
    char path[4096];
    FILE *f;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    f = fopen(path, "w");
    if (!f) {
        perror(path);
        exit(1);
    }
    return f;
}

/* `heap`: pages that the first program has. */
static void own(uint32_t heap)
{
    for (uint32_t i = 0; i < PAGES; i++) {
        if (i < heap)
            owner[i] = (struct entry){501, 0x5500000000 + i * 4096u};
        owner[1000 + i] = (struct entry){502, 0x7fb0000000 + i * 4096u};
        owner[2000 + i] = (struct entry){1, 0x400000 + i * 4096u};
    }
}

static void list_maps(const char *folder, int snapshot)
{
    static const char *const heaps[] = {"5500100000", "5500384000"}; /* 256 pages, all of them */
    char name[64];
    FILE *f;

    snprintf(name, sizeof name, "501-%d.txt", snapshot);
    f = create(folder, name);
    fprintf(f,
            "00400000-00401000 r-xp 00000000 b3:01 77                 /home/user/a program\n"
            "5500000000-%s rw-p 00000000 00:00 0                      [heap]\n",
            heaps[snapshot > 0]);
    fclose(f);
    snprintf(name, sizeof name, "502-%d.txt", snapshot);
    f = create(folder, name);
    fprintf(f, "7fb0000000-7fb0384000 rw-p 00000000 00:00 0 \n");
    fclose(f);
}

/* A random line of a set: its frame's number has the upper bits of the set below. */
static uint64_t random_line(uint32_t set)
{
    const uint32_t frame = (uint32_t)rand() % (FRAMES / 32) * 32 + set / 64;

    return memory + frame * 4096u + set % 64 * 64;
}

static void run_programs(void)
{
    for (uint32_t set = 0; set < SETS; set++)
        for (int n = rand() % 12; n > 0; n--) {
            uint64_t *way = &cache[set][rand() % WAYS], line = rand() % 4 ? random_line(set) : 0;
            int there = 0;

            for (int w = 0; w < WAYS; w++)
                there |= cache[set][w] == line;
            if (!line || !there)
                *way = line;
        }
}

static void take(int half)
{
    uint32_t pid = 0; /* that of the last page that had a mapping */

    for (uint32_t set = 0; set < SETS; set++)
        for (uint32_t way = 0; way < WAYS; way++) {
            const uint64_t line = cache[set][way];
            const struct entry *o = &owner[(line - memory) / 4096 % FRAMES];
            struct entry *b = &buffer[set][way];

            if (!line)
                continue;
            if (half) {
                *b = (struct entry){0, line / 2};
            } else if (o->pid > 1) {
                pid = o->pid;
                *b = (struct entry){pid, o->addr};
            } else {
                *b = (struct entry){pid, line};
            }
        }
}

static void tell_truth(FILE *f, int snapshot)
{
    for (uint32_t set = 0; set < SETS; set++)
        for (uint32_t way = 0; way < WAYS; way++) {
            const uint64_t line = cache[set][way];
            const struct entry *o = &owner[(line - memory) / 4096 % FRAMES];

            if (line)
                fprintf(f, "%d,%u,%u,%" PRIx64 ",%" PRIx64 ",%u\n", snapshot + 1, set, way, line,
                        o->pid > 1 ? o->addr + line % 4096 : 0, o->pid > 1 ? o->pid : 0);
            else if (buffer[set][way].addr)
                fprintf(f, "%d,%u,%u,left,over,0\n", snapshot + 1, set, way);
        }
}

static void put(FILE *csv, FILE *bin)
{
    for (uint32_t set = 0; set < SETS; set++)
        for (uint32_t way = 0; way < WAYS; way++) {
            const struct entry *b = &buffer[set][way];
            unsigned char bytes[16] = {0};

            for (int i = 0; i < 8; i++) {
                bytes[i] = i < 4 ? (unsigned char)(b->pid >> 8 * i) : 0;
                bytes[8 + i] = (unsigned char)(b->addr >> 8 * i);
            }
            fprintf(csv, "%05u,0x%012" PRIx64 "\n", b->pid, b->addr);
            fwrite(bytes, 1, sizeof bytes, bin);
        }
}

int main(int argc, char **argv)
{
    const char *folder = argc == 5 ? argv[1] : NULL;
    const int snapshots = argc == 5 ? atoi(argv[2]) : 0;
    const int half = argc == 5 && strcmp(argv[3], "half") == 0;
    FILE *truth, *bin, *pids;

    if (!folder)
        return 2;
    srand((unsigned)atoi(argv[4]));
    pids = create(folder, "pids.txt");
    fprintf(pids, "%d\n500\n501\n502\n", snapshots);
    fclose(pids);
    truth = create(folder, "truth.csv");
    bin = create(folder, "dump.bin");
    for (int i = 0; i < snapshots; i++) {
        char name[64];
        FILE *csv;

        own(i == 0 ? 256 : PAGES);
        run_programs();
        take(half);
        snprintf(name, sizeof name, "cachedump%d.csv", i);
        csv = create(folder, name);
        put(csv, bin);
        fclose(csv);
        tell_truth(truth, i);
        list_maps(folder, i);
    }
    return fclose(truth) != 0 || fclose(bin) != 0;
}
