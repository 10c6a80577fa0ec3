/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_machine.h - descriptions of cache hierarchies: YAML files in formats/machines, or this
 * machine's own, read from sysfs. Schema in cf-machine(5).
 */
#ifndef CF_MACHINE_H
#define CF_MACHINE_H

#include "formats/stream/cf.h"

enum {
    CF_MAX_LEVELS = 16,
    CF_MAX_WAYS = 1024,
    CF_MAX_TLBS = 16,
    CF_LATENCY_OPS = 6,
    CF_MAX_LATENCY = 1000000000
};

enum cf_kind { CF_UNIFIED = 0, CF_DATA_CACHE = 1, CF_INSTRUCTION_CACHE = 2 };

/* The replacement policies: id, name in descriptions, bits of state a way, traits. The code of each
   is in cache_ways_simd.c.
     lru, fifo     evict the line that was touched, or came in, longest ago
     random        any way
     tree-plru     a binary tree over the ways, each node with the side that was touched longer ago;
                   the walk takes the other side where that one has no way that may be used, which
                   also serves numbers of ways that are no power of two
     bit-plru      a bit a way, set when touched; when all are set, all others are cleared. Victim:
                   the lowest way whose bit is clear (Malamy, Patel, Hayes, US patent 5,353,425,
                   1994)
     nru           the same bits, cleared only when a victim is wanted and none is clear (Jaleel,
                   Theobald, Steely, Emer, ISCA 2010, section 2)
     srrip         two bits a way, the same paper, section 4, with hit priority
     master-index  the lowest way of the mask: with cf_cache_master() the way of the core, as in
                   LEON's caches; hits in every way */
#define CF_POLICIES(P)                                                                             \
    P(CF_LRU, "lru", 0, CF_POLICY_AGE)                                                             \
    P(CF_FIFO, "fifo", 0, CF_POLICY_AGE | CF_POLICY_ARRIVAL)                                       \
    P(CF_RANDOM, "random", 0, CF_POLICY_RANDOM)                                                    \
    P(CF_TREE_PLRU, "tree-plru", 1, CF_POLICY_POWER_OF_TWO)                                        \
    P(CF_BIT_PLRU, "bit-plru", 1, 0)                                                               \
    P(CF_NRU, "nru", 1, 0)                                                                         \
    P(CF_SRRIP, "srrip", 2, CF_POLICY_REPEATS)                                                     \
    P(CF_MASTER_INDEX, "master-index", 0, CF_POLICY_BY_CORE)

enum cf_policy_trait {
    CF_POLICY_AGE = 1,          /* the oldest way goes, of LRU or FIFO: cache_simd512.c has both */
    CF_POLICY_ARRIVAL = 2,      /* hits do not matter to it */
    CF_POLICY_RANDOM = 4,       /* it draws random numbers */
    CF_POLICY_POWER_OF_TWO = 8, /* of ways is what it wants */
    CF_POLICY_REPEATS = 16,     /* a second touch right after the first one matters to it */
    CF_POLICY_BY_CORE = 32,     /* the core, not the lines, decides on the way */
};

#define CF_POLICY_ID(id, name, bits, traits)  id,
#define CF_POLICY_ONE(id, name, bits, traits) +1
enum cf_replacement { CF_POLICIES(CF_POLICY_ID) };
enum { CF_POLICY_COUNT = 0 CF_POLICIES(CF_POLICY_ONE) };
enum cf_inclusion { CF_NON_INCLUSIVE, CF_INCLUSIVE, CF_EXCLUSIVE };
/* How an address becomes a set: line number modulo sets, or a function that is not described, such
   as the choice of a slice. No model has the second. */
enum cf_indexing { CF_INDEX_PLAIN, CF_INDEX_HASHED };

/* Cycles of an access by its operation (enum cf_op, load to flush) and by that of the access before
   it at the same level; in column 0, whatever came before. */
struct cf_latency {
    uint64_t stated; /* bit op * CF_LATENCY_OPS + previous: this one is stated */
    uint32_t cycles[CF_LATENCY_OPS][CF_LATENCY_OPS]; /* at most CF_MAX_LATENCY */
};

/* What the cycles of a level are: all that an access costs which is served there, or what the level
   adds to the cost of each access that comes so far. */
enum cf_latency_rule { CF_LATENCY_TOTAL, CF_LATENCY_ADDED };

struct cf_level {
    char name[32];
    enum cf_kind kind;
    uint64_t size; /* bytes; always ways * line * sets */
    uint32_t ways;
    uint32_t line; /* bytes */
    uint32_t sets;
    uint32_t depth;     /* 1 for the level next to the core, 2, ... */
    uint32_t shared_by; /* CPUs that share one such cache */
    enum cf_replacement policy;
    enum cf_inclusion inclusion;
    uint8_t write_back; /* else write-through */
    uint8_t write_allocate;
    uint8_t indexing; /* enum cf_indexing */
    struct cf_latency latency;
};

/* A level of the translation lookaside buffer, for pages of one size. */
struct cf_tlb {
    uint32_t entries, ways; /* ways 0 = not stated */
    uint64_t page_size;     /* bytes; entries * page_size is its reach */
};

struct cf_machine {
    char name[128];
    char *source;         /* where the numbers come from, or NULL */
    char *latency_source; /* where those of the latencies do, after their grade, or NULL */
    char *latency_of; /* the host's: the installed description whose latencies it has, or NULL */
    char *file;       /* of the description; a directory of sysfs for the host */
    uint32_t cpus;
    uint64_t clock_hz;  /* 0 = not stated */
    uint32_t line_size; /* bytes */
    uint32_t levels;
    struct cf_level level[CF_MAX_LEVELS];
    uint32_t tlbs;
    struct cf_tlb tlb[CF_MAX_TLBS]; /* from the core outwards */
    struct cf_latency memory;
    enum cf_latency_rule latency_rule;
};

/* Whether a machine is given by its path: has a '/' or ends in .yaml. */
int cf_machine_is_file(const char *name);

/* Reads a description: a path, the name of one that is installed, or
   "host". NULL when it does not exist or breaks the schema; `problem` then holds
   "FILE:LINE: what is wrong: what to do", and errno is 0, or says why the environment refused. */
struct cf_machine *cf_machine_load(const char *name, char *problem, size_t size) CF_MUST_CHECK;
/* The same of the installed description, or the host, whose key `name` this is, which is not how a
   user calls it; NULL where there is none, or it cannot be read. */
struct cf_machine *cf_machine_titled(const char *name) CF_MUST_CHECK;
void cf_machine_free(struct cf_machine *m);

const char *cf_policy_name(enum cf_replacement policy);
unsigned cf_policy_traits(enum cf_replacement policy); /* enum cf_policy_trait */
unsigned cf_policy_bits(enum cf_replacement policy);   /* of state a way */

/* Cycles of an operation after `previous` (an operation, or 0 for none), else of the operation
   whatever came before; -1 when neither is stated. A prefetch or flush that is not stated takes 0:
   no instruction waits for it. */
int64_t cf_latency_cycles(const struct cf_latency *l, unsigned op, unsigned previous) CF_MUST_CHECK;

/* Does any operation depend on the one before? */
int cf_latency_has_previous(const struct cf_latency *l);

/* Index of the level of this name; m->levels where there is none. */
uint32_t cf_machine_level(const struct cf_machine *m, const char *name);
/* Name and latencies of a level; level m->levels is the memory. */
const char *cf_machine_level_name(const struct cf_machine *m, uint32_t level);
const struct cf_latency *cf_machine_latency(const struct cf_machine *m, uint32_t level);

/* States a latency as a description would: `what` is LEVEL (load, store and ifetch, whatever came
   before) or LEVEL.KEY, where KEY is as in cf-machine(5). -1 with "what is wrong: what to do" in
   `problem` when there is no such level or key. */
int cf_machine_set_latency(struct cf_machine *m, const char *what, uint32_t cycles, char *problem,
                           size_t size) CF_MUST_CHECK;

#endif
