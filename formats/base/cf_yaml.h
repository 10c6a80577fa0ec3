/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_yaml.h - a YAML document as a tree, of at most as many values and levels as the caller allows.
 * Refused are anchors and aliases, which YAML bombs are made of; directives, of which libyaml
 * compares each with all others; tags, since what stands behind one is not what it looks like; a
 * second document; and zero bytes in texts.
 */
#ifndef CF_YAML_H
#define CF_YAML_H

#include <stddef.h>

#include "formats/stream/cf.h"

enum cf_yaml_kind { CF_YAML_TEXT, CF_YAML_LIST, CF_YAML_MAP };

struct cf_yaml {
    enum cf_yaml_kind kind;
    int plain;             /* a text without quotes */
    size_t line, at;       /* where it begins: its line, from 1, and the characters before it */
    char *text;            /* of a text; 0 behind it */
    size_t length;         /* of the text, none of them zero */
    struct cf_yaml *child; /* a mapping has key, value, key, value, ...; keys are texts */
    struct cf_yaml *next;
};

struct cf_yaml_rules {
    unsigned depth, values; /* at most; a mapping's keys count, and so does the document */
    int unique;             /* no key stands twice; takes the square of the keys of a mapping */
};

struct cf_yaml_problem {
    int no_memory;
    size_t line; /* 0: of none */
    char text[256];
};

/* "a value", "a list", "a mapping". */
extern const char *const cf_yaml_kinds[3];

/* 0, and *root, NULL for an empty text, is the caller's; else -1 and what is wrong. */
int cf_yaml_read(const char *bytes, size_t size, const struct cf_yaml_rules *rules,
                 struct cf_yaml **root, struct cf_yaml_problem *problem) CF_MUST_CHECK;
void cf_yaml_free(struct cf_yaml *node);

#endif
