/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_chain.h - other programs of the suite, run for this one: a pipeline that becomes standard
 * input, or one program by itself.
 */
#ifndef CF_CHAIN_H
#define CF_CHAIN_H

#include <sys/types.h>

#include "formats/program/cf_tool.h"

enum { CF_CHAIN_MOST = 8, CF_CHAIN_WORDS = 16, CF_CHAIN_GUARDED = 2 };

/* Programs of the suite with their arguments, each up to a NULL. */
struct cf_chain {
    const struct cf_tool *tool;
    const char *program[CF_CHAIN_MOST][CF_CHAIN_WORDS];
    unsigned programs;
    pid_t child[CF_CHAIN_MOST];
};

/* Appends a program; its arguments are words up to a NULL, which stay the caller's. -q and
   --max-strings are added where this program has them. */
void cf_chain_add(struct cf_chain *c, const char *const *words);

/* Starts them: the first reads what is standard input now, which from here on is what the last one
   writes. Exits with CF_EXIT_ENVIRONMENT where one cannot be started. */
void cf_chain_begin(struct cf_chain *c);

/* Closes standard input and waits for them: the greatest exit status. One that was ended by a
   signal is CF_EXIT_ENVIRONMENT and a message, but for SIGPIPE. */
int cf_chain_end(struct cf_chain *c);

/* Runs one program, words up to a NULL, with our standard input and output, and waits; meanwhile we
   take no signal from the terminal. Its exit status, or as above. */
int cf_chain_run(const struct cf_tool *t, const char *const *words);

/* Signals that end this program (HUP, INT, TERM) end those that it runs, too, and remove a file, or
   a folder of files, whose name stays the caller's, and is used until unguard() gives up the last
   of at most CF_CHAIN_GUARDED. */
void cf_chain_guard(const char *file);
void cf_chain_unguard(void);

#endif
