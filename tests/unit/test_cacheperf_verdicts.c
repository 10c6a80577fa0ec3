/* SPDX-License-Identifier: BSD-2-Clause */
/* CachePerf's verdicts by hand: each is there, and without what it wants it is not. */
#include "cacheperf_cases.h"
#include "tap.h"

static void sharing(void)
{
    lenient();
    contend(10, 8, 8);
    is_u64(verdict(), CF_CLASS_TRUE_SHARING, "two threads, one word");
    lenient();
    contend(10, 8, 12);
    is_u64(verdict(), CF_CLASS_FALSE_SHARING, "two threads, two words");
    lenient();
    contend(10, 8, 12);
    for (unsigned i = 0; i < rows; i++)
        row[i].tid = 1;
    is_u64(verdict(), CF_CLASS_CAPACITY, "one thread shares nothing");
    lenient();
    contend(10, 8, 12);
    for (unsigned i = 0; i < rows; i++)
        row[i].pid = row[i].tid;
    is_u64(verdict(), CF_CLASS_CAPACITY, "nor do two processes");
    for (unsigned literal = 0; literal < 2; literal++) {
        lenient();
        g.literal = (int)literal;
        contend(10, 8, 8);
        for (unsigned i = 0; i < rows; i++)
            row[i].op = CF_LOAD;
        is_u64(verdict(), literal ? CF_CLASS_TRUE_SHARING : CF_CLASS_CAPACITY,
               "a line that nobody wrote%s", literal ? ", as printed" : "");
        lenient();
        g.literal = (int)literal;
        for (unsigned i = 0; i < 16; i++)
            add(1, CF_STORE, LINE + 4 * i, 3, 2); /* prepares the line, once */
        contend(30, 8, 12);
        is_u64(verdict(), literal ? CF_CLASS_TRUE_SHARING : CF_CLASS_FALSE_SHARING,
               "who prepared the line shares nothing%s", literal ? "; as printed, it does" : "");
    }
}

static void kinds_of_sharing(void)
{
    lenient();
    add(1, CF_STORE, LINE + 8, 3, 2);
    for (unsigned i = 0; i < 10; i++) {
        add(1, CF_LOAD, LINE + 8, 1, 2);
        add(2, CF_LOAD, LINE + 8, 1, 2);
    }
    is_u64(verdict(), CF_CLASS_CAPACITY, "one store does not explain twenty misses");
    for (unsigned times = 2; times < 4; times++) {
        lenient();
        for (unsigned i = 0; i < times; i++)
            add(1, CF_STORE, LINE, 3, 1)->size = 32;
        for (unsigned i = 0; i < 12; i++)
            add(1 + i % 2, CF_LOAD, LINE + 8, 1, 2);
        is_u64(verdict(), times == 3 ? CF_CLASS_TRUE_SHARING : CF_CLASS_CAPACITY,
               "%u stores of eight words are %u stores", times, times);
    }
    for (unsigned n = 0; n < 4; n++) {
        const unsigned words = 2 + n / 2, times = n % 2 ? 3 : 2;

        lenient();
        for (unsigned i = 0; i < 10; i++) {
            struct row *r = add(1 + i % 2, i % 2 ? CF_LOAD : CF_STORE, LINE, 2, 2);

            r->size = 4 * words;
            r->level = i < 4 ? 2 : 1;
        }
        contend(times, 16, 20);
        is_u64(verdict(), times == 2 ? CF_CLASS_TRUE_SHARING : CF_CLASS_FALSE_SHARING,
               "4 misses of %u words are 4 of %u", words, 4 + times * 2);
    }
    lenient();
    for (unsigned i = 0; i < 10; i++) {
        add(1, CF_STORE, LINE + 8, 2, 1);
        add(2, CF_LOAD, LINE + 8, 1, 2);
    }
    is_u64(verdict(), CF_CLASS_TRUE_SHARING, "a writer that hits and a reader that misses");
    lenient();
    contend(10, 8, 12);
    for (unsigned i = 0; i < 10; i++)
        add(1, CF_LOAD, LINE + 32, 4, 2), add(2, CF_LOAD, LINE + 32, 4, 2);
    is_u64(verdict(), CF_CLASS_FALSE_SHARING, "a word that both read and nobody wrote");
    lenient();
    contend(2, 8, 12);
    contend(10, 16, 16);
    is_u64(verdict(), CF_CLASS_TRUE_SHARING, "most misses are on one word");
    lenient();
    contend(2, 16, 16);
    contend(10, 8, 12);
    is_u64(verdict(), CF_CLASS_FALSE_SHARING, "most misses are on different words");
    lenient();
    contend(10, 8, 8);
    for (unsigned i = 0; i < rows; i++)
        row[i].object = row[i].tid; /* its place was allocated again */
    is_u64(verdict(), CF_CLASS_FALSE_SHARING, "one place, but different objects");
}

static void crowded_sets(void)
{
    for (unsigned lines = 8; lines < 10; lines++)
        for (unsigned literal = 0; literal < 2; literal++) {
            lenient();
            g.literal = (int)literal;
            for (unsigned i = 0; i < lines; i++) {
                contend(2, 8, 12);
                for (unsigned k = rows - 8; k < rows; k++)
                    row[k].addr += i * 4096;
            }
            is_u64(verdict(), lines == 8 || literal ? CF_CLASS_FALSE_SHARING : CF_CLASS_CONFLICT,
                   "%u such lines on a set of 8 ways%s", lines, literal ? ", as printed" : "");
        }
    lenient();
    contend(8, 8, 12);
    for (unsigned i = 1; i < 9; i++) /* of which each has less than half */
        for (unsigned k = 0; k < 7; k++)
            add(1, CF_LOAD, LINE + i * 4096, 7, 2);
    engine(0);
    is_u64(got[0], CF_CLASS_FALSE_SHARING, "few lines of the set have so many misses");
}

static void allocators_by_hand(void)
{
    lenient();
    contend(10, 8, 12);
    for (unsigned i = 0; i < rows; i++)
        row[i].object = row[i].tid;
    allocator[1] = 1;
    allocator[2] = 2;
    is_u64(verdict(), CF_CLASS_ALLOCATOR_FALSE_SHARING, "objects that two threads allocated");
    allocator[2] = 1;
    is_u64(verdict(), CF_CLASS_FALSE_SHARING, "objects that one thread allocated");
    allocator[2] = 0;
    is_u64(verdict(), CF_CLASS_FALSE_SHARING, "who allocated one is not known");
    allocator[2] = 2;
    for (unsigned i = 0; i < rows; i++)
        row[i].object = row[i].tid == 2 ? 0 : i % 8 < 4 ? 1 : 2;
    is_u64(verdict(), CF_CLASS_FALSE_SHARING, "two objects that one thread uses");
    g.literal = 1;
    is_u64(verdict(), CF_CLASS_ALLOCATOR_FALSE_SHARING,
           "two objects that one thread uses, as printed");
    for (unsigned literal = 0; literal < 2; literal++) {
        lenient();
        g.literal = (int)literal;
        contend(40, 8, 12);
        for (unsigned i = 0; i < rows; i++)
            row[i].object = 1;
        row[0].object = 2;
        allocator[1] = 1;
        allocator[2] = 2;
        is_u64(verdict(), literal ? CF_CLASS_ALLOCATOR_FALSE_SHARING : CF_CLASS_FALSE_SHARING,
               "an object that was there for a moment%s", literal ? ", as printed" : "");
    }
}

static void patterns(void)
{
    lenient();
    walk(10, 0, 0);
    for (unsigned i = 0; i < 64; i++)
        fine(1, 0x200400 + 4096 * i, 5);
    is_u64(verdict(), CF_CLASS_CAPACITY, "a set on which no miss is");
    for (unsigned n = 7; n < 9; n++) {
        lenient();
        walk(64, n, 4096);
        is_u64(verdict(), n == 8 ? CF_CLASS_CONFLICT : CF_CLASS_CAPACITY, "%u accesses to one set",
               n);
    }
    for (unsigned literal = 0; literal < 2; literal++) {
        lenient();
        g.literal = (int)literal;
        walk(64, 64, 4);
        is_u64(verdict(), literal ? CF_CLASS_CONFLICT : CF_CLASS_CAPACITY,
               "an array that is walked through%s", literal ? ", as printed" : "");
        lenient();
        g.literal = (int)literal;
        for (unsigned k = 0; k < 5; k++) {
            walk(13, 64, k < 2 ? 4096 : 64);
            fine(1, 0x10, 9); /* the breakpoint was elsewhere */
        }
        is_u64(verdict(), literal ? CF_CLASS_CONFLICT : CF_CLASS_CAPACITY,
               "two runs of five conflict%s", literal ? ", as printed" : "");
    }
    lenient();
    for (unsigned k = 0; k < 4; k++) {
        walk(16, 64, k < 2 ? 4096 : 64);
        fine(1, 0x10, 9);
    }
    is_u64(verdict(), CF_CLASS_CONFLICT, "two runs of four conflict");
}

static void runs(void)
{
    lenient();
    for (unsigned k = 0; k < 4; k++) {
        walk(16, 4, 4096);
        fine(1, 0x10, 9);
    }
    is_u64(verdict(), CF_CLASS_CAPACITY, "what one breakpoint did not see is not added up");
    lenient();
    walk(64, 64, 64);
    for (unsigned i = 0; i < 128; i++)
        fine(1, 0x10000000 + 64 * i, 5);
    is_u64(verdict(), CF_CLASS_CAPACITY, "a run has 64 accesses");
    lenient();
    walk(64, 0, 0);
    for (unsigned i = 0; i < 64; i++) /* each in a line of its own */
        fine(1 + i % 4, 0x200000 + 4096 * (i % 4) + i / 4 * 4, 5);
    is_u64(verdict(), CF_CLASS_CAPACITY, "threads that walk through a line each");
    for (unsigned sets = 1; sets <= 64; sets += 63) {
        lenient();
        for (unsigned i = 0; i < 64; i++)
            add(1, CF_LOAD, 0x100000 + (sets == 1 ? 4096 : 64) * i, 5, 2);
        for (unsigned i = 0; i < 8; i++) /* four threads, each stays in its line */
            fine(1 + i % 4, 0x200000 + 4096 * (i % 4), 5);
        is_u64(verdict(), sets == 1 ? CF_CLASS_CONFLICT : CF_CLASS_CAPACITY,
               "a run that says nothing: misses on %u sets decide", sets);
    }
    lenient();
    walk(64, 0, 0);
    for (unsigned i = 0; i < 8; i++)
        fine(1 + i % 2, 0x200000 + 4096 * i, 5);
    is_u64(verdict(), CF_CLASS_CONFLICT, "two threads that each go from line to line");
}

static void objects_of_patterns(void)
{
    for (unsigned literal = 0; literal < 2; literal++) {
        lenient();
        g.literal = (int)literal;
        walk(64, 0, 0);
        for (unsigned i = 0; i < 64; i++)
            fine(1 + i % 2, 0x200000 + 4096 * i, 5)->object = 1 + i % 2;
        is_u64(verdict(), literal ? CF_CLASS_ALLOCATOR_CONFLICT : CF_CLASS_CONFLICT,
               "an object for each thread%s", literal ? ", as printed" : "");
    }
    lenient();
    walk(64, 0, 0);
    for (unsigned i = 0; i < 64; i++)
        fine(1, 0x200000 + 4096 * i, 5)->object = 1 + i % 3;
    is_u64(verdict(), CF_CLASS_ALLOCATOR_CONFLICT, "objects on one set");
    for (unsigned i = 64; i < rows; i++)
        row[i].object = 1;
    is_u64(verdict(), CF_CLASS_CONFLICT, "one object on one set");
    row[100].object = 0;
    is_u64(verdict(), CF_CLASS_CONFLICT, "one object, and what is none");
    lenient();
    for (unsigned k = 0; k < 3; k++) {
        walk(22, 64, 4096);
        for (unsigned i = 1; i <= 64; i++)
            row[rows - i].object = k == 0 && i > 32 ? 2 : 1;
        fine(1, 0x10, 9);
    }
    is_u64(verdict(), CF_CLASS_CONFLICT, "one run of three changes objects");
    lenient();
    walk(64, 64, 64);
    for (unsigned i = 0; i < 64; i++)
        row[64 + i].object = i % 3;
    is_u64(verdict(), CF_CLASS_CAPACITY, "objects of a capacity miss");
}

/* Without fine samples: misses of one instruction, n on one set and the others elsewhere. */
static unsigned spots(unsigned n, unsigned others, unsigned objects, unsigned lines)
{
    for (unsigned i = 0; i < n; i++)
        add(1, CF_LOAD, 0x100000 + 4096 * (i % lines), 5, 2)->object = 1 + i % objects;
    for (unsigned i = 0; i < others; i++)
        add(1, CF_LOAD, 0x100000 + 64 * (i + 1), 5, 2);
    return verdict();
}

static void without_patterns(void)
{
    lenient();
    is_u64(spots(8, 7, 1, 100), CF_CLASS_CONFLICT, "no breakpoint: most misses on one set");
    lenient();
    is_u64(spots(8, 8, 1, 100), CF_CLASS_CAPACITY, "no breakpoint: half of the misses");
    lenient();
    is_u64(spots(7, 0, 1, 100), CF_CLASS_CAPACITY, "no breakpoint: 7 misses");
    lenient();
    is_u64(spots(8, 0, 2, 100), CF_CLASS_ALLOCATOR_CONFLICT, "no breakpoint: two objects");
    lenient();
    is_u64(spots(8, 0, 1, 1), CF_CLASS_CAPACITY, "no breakpoint: one line");
    lenient();
    g.set_misses = 53.4; /* 8 of 15 are 53.3 % */
    is_u64(spots(8, 7, 1, 100), CF_CLASS_CAPACITY, "no breakpoint: a set with few misses");
}

/* Page faults, which lie where they lie for another reason than caches. */
static void patterns_only(void)
{
    lenient();
    g.patterns_only = 1;
    contend(10, 8, 8);
    is_u64(verdict(), CF_CLASS_NONE, "patterns only: no line is shared");
    lenient();
    g.patterns_only = 1;
    is_u64(spots(8, 0, 2, 100), CF_CLASS_NONE, "patterns only: no breakpoint, no class");
    for (unsigned stride = 64; stride <= 4096; stride += 4032) {
        lenient();
        g.patterns_only = 1;
        g.set_misses = 100; /* no set has so many */
        walk(10, 64, stride);
        is_u64(verdict(), stride == 64 ? CF_CLASS_CAPACITY : CF_CLASS_CONFLICT,
               "patterns only: a stride of %u", stride);
    }
}

int main(void)
{
    sharing();
    kinds_of_sharing();
    crowded_sets();
    allocators_by_hand();
    patterns();
    runs();
    objects_of_patterns();
    without_patterns();
    patterns_only();
    return done();
}
