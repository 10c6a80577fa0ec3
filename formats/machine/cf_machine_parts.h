/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_machine_parts.h - private to libcf: what the parts of the machine descriptions share.
 * Functions that return an int return 0, or -1 after cfm_fail().
 */
#ifndef CF_MACHINE_PARTS_H
#define CF_MACHINE_PARTS_H

#include "cf_machine.h"
#include "formats/base/cf_yaml.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* Where a message goes. */
struct report {
    const char *file;
    char *text;
    size_t size;
    int *refused; /* gets the errno where the environment and not the description is at fault */
};

/* The environment refused: memory (ENOMEM), a file. Returns -1. */
int cfm_refuse(const struct report *to, int error);

/* Line 0: the message is not about one line. Returns -1, so that callers can return it. */
int cfm_fail(const struct report *to, size_t line, const char *format, ...) CF_PRINTF(3, 4);

/* The names with commas between, for a message; `to` holds at least 256 bytes. */
const char *cfm_name_list(char *to, size_t size, const char *const *names, size_t count);

/* Index of a key among `names`, or `count`; and what is said of one that is not among them. */
size_t cfm_key_index(const char *key, const char *const *names, size_t count);
int cfm_unknown_key(const struct report *to, const struct cf_yaml *key, const char *where,
                    const char *const *names, size_t count);

/* The number that is the value of a key. */
int cfm_get_u32(const struct report *to, const struct cf_yaml *key, uint32_t least, uint32_t most,
                uint32_t *value);

/* Fills in sets and depth of level `i`, whose other fields are set; levels before it are done. */
int cfm_settle_level(const struct report *to, size_t line, struct cf_machine *m, uint32_t i);
int cfm_settle_cpus(const struct report *to, size_t line, struct cf_machine *m);

/* Gives the host, whose levels were read, the latencies of the installed description of the nearest
   core, by name of level; none where no description is near. 0, or -1 without memory. */
int cfm_borrow_latencies(const struct report *to, struct cf_machine *m);

/* The value of key `latency`, after the levels were read. */
int cfm_read_latency(const struct report *to, const struct cf_yaml *n, struct cf_machine *m);

int cfm_load_file(const struct report *to, const char *path, struct cf_machine *m);
/* 1; 0 where no machine of this name is installed. */
int cfm_try_installed(const struct report *to, const char *name, struct cf_machine *m);
int cfm_load_host(const struct report *to, struct cf_machine *m); /* from sysfs */

#endif
