/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_machine.h - descriptions of cache hierarchies: YAML files in formats/machines, or this
 * machine's own, read from sysfs. Schema in cf-machine(5).
 */
#ifndef CF_MACHINE_H
#define CF_MACHINE_H

#include "cf.h"

enum { CF_MAX_LEVELS = 16, CF_MAX_WAYS = 1024 };

enum cf_kind { CF_UNIFIED = 0, CF_DATA_CACHE = 1, CF_INSTRUCTION_CACHE = 2 };
enum cf_replacement {
    CF_LRU,
    CF_FIFO,
    CF_RANDOM,
    CF_TREE_PLRU,
    CF_BIT_PLRU,
    CF_NRU,
    CF_SRRIP,
    CF_MASTER_INDEX
};
enum cf_inclusion { CF_NON_INCLUSIVE, CF_INCLUSIVE, CF_EXCLUSIVE };

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
    uint32_t latency; /* cycles to serve a hit, 0 = not stated */
};

struct cf_machine {
    char name[128];
    char *source; /* where the numbers come from */
    uint32_t cpus;
    uint64_t clock_hz;  /* 0 = not stated */
    uint32_t line_size; /* bytes */
    uint32_t levels;
    struct cf_level level[CF_MAX_LEVELS];
    uint32_t memory_latency; /* cycles, 0 = not stated */
};

/* Reads a description: a path (has a '/' or ends in .yaml), the name of one that is installed, or
   "host". NULL when it does not exist or breaks the schema; `problem` then holds
   "FILE:LINE: what is wrong: what to do". */
struct cf_machine *cf_machine_load(const char *name, char *problem, size_t size) CF_MUST_CHECK;
void cf_machine_free(struct cf_machine *m);

/* The description as YAML text that cf_machine_load() reads back to the same; the caller frees. */
char *cf_machine_text(const struct cf_machine *m);

/* Names of the installed descriptions, one a line, sorted; the caller frees. */
char *cf_machine_list(void);

const char *cf_policy_name(enum cf_replacement policy);

#endif
