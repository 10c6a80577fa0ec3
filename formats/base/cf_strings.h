/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_strings.h - interned strings: text to number 1, 2, 3, ... and back. Grows with the distinct
 * strings.
 */
#ifndef CF_STRINGS_H
#define CF_STRINGS_H

#include <stddef.h>
#include <stdint.h>

struct cf_strings;

struct cf_strings *cf_strings_new(void); /* NULL without memory */
void cf_strings_free(struct cf_strings *s);
void cf_strings_clear(struct cf_strings *s);

/* Number of the text, new or not, as *fresh says. 0 without memory. */
uint32_t cf_strings_number(struct cf_strings *s, const char *text, size_t length, int *fresh);

/* Stays where it is until cf_strings_clear(). NULL if unknown. */
const char *cf_strings_text(const struct cf_strings *s, uint32_t number);

uint32_t cf_strings_count(const struct cf_strings *s);
size_t cf_strings_bytes(const struct cf_strings *s); /* of memory */

#endif
