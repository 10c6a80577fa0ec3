/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_text.h - texts of an input on the way to people. Names in a stream, in files and on the
 * command line may hold anything; what commands a terminal, or turns the order of what stands
 * there, is shown as \x1b, \u009b or the like, in messages and in all output that is for people.
 * CSV keeps the bytes, but not to a terminal.
 */
#ifndef CF_TEXT_H
#define CF_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Bytes of what should be a character at `text`, at least 1. *valid says whether it is one in
   UTF-8; *code is its number, or that of U+FFFD. */
size_t cf_text_decode(const char *text, uint32_t *code, int *valid);

/* Number of the character at `text` in *code, and its bytes, at least 1. U+FFFD stands for bytes
   that are no UTF-8, for control and format characters, and for noncharacters. */
size_t cf_text_character(const char *text, uint32_t *code);

/* The text with escapes in place of those, as much as `size` bytes hold without cutting a character
   or an escape. Returns `to`. */
char *cf_text_safe(char *to, size_t size, const char *text);

/* The same to a stream, all of it; `more`: these characters too get a backslash. */
void cf_text_print(FILE *out, const char *text, size_t length, const char *more);

/* The text as JSON (RFC 8259), in quotes; `more`: these characters are escapes too. What is no
   UTF-8 or commands a terminal is \\ufffd or an escape. */
void cf_text_json(FILE *out, const char *text, const char *more);

/* The last part of a safe text that has at most `width` bytes, from the begin of a character. */
const char *cf_text_end(const char *text, size_t width);

#endif
