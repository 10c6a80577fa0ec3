/* SPDX-License-Identifier: BSD-2-Clause */
/* cf_yaml.c - from the events of libyaml's parser to a tree. Memory: the tree. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "cf_yaml.h"

struct parse {
    yaml_parser_t yaml;
    yaml_event_t event;
    const struct cf_yaml_rules *rules;
    struct cf_yaml_problem *problem;
    unsigned values;
};

const char *const cf_yaml_kinds[] = {"a value", "a list", "a mapping"};

static CF_PRINTF(3, 4) int fail(struct parse *p, size_t line, const char *format, ...)
{
    va_list list;

    p->problem->line = line;
    va_start(list, format);
    vsnprintf(p->problem->text, sizeof p->problem->text, format, list);
    va_end(list);
    return -1;
}

static int no_memory(struct parse *p)
{
    p->problem->no_memory = 1;
    return -1;
}

void cf_yaml_free(struct cf_yaml *node)
{
    while (node) {
        struct cf_yaml *next = node->next;

        cf_yaml_free(node->child);
        free(node->text);
        free(node);
        node = next;
    }
}

static int next_event(struct parse *p)
{
    const char *why;

    yaml_event_delete(&p->event);
    if (yaml_parser_parse(&p->yaml, &p->event))
        return 0;
    why = p->yaml.problem ? p->yaml.problem : "cannot be read";
    if (p->yaml.error == YAML_MEMORY_ERROR)
        return no_memory(p);
    if (p->yaml.error == YAML_READER_ERROR)
        return fail(p, 0, "byte %zu: %s: give a YAML text in UTF-8", p->yaml.problem_offset, why);
    return fail(p, p->yaml.problem_mark.line + 1, "no valid YAML: %s", why);
}

static int read_node(struct parse *p, unsigned depth, struct cf_yaml **result);

static int check_key(struct parse *p, const struct cf_yaml *map, const struct cf_yaml *key)
{
    if (key->kind != CF_YAML_TEXT)
        return fail(p, key->line, "a key is %s: keys are names", cf_yaml_kinds[key->kind]);
    for (const struct cf_yaml *k = map->child; p->rules->unique && k != key; k = k->next->next)
        if (strcmp(k->text, key->text) == 0)
            return fail(p, key->line, "'%s' stands here a second time, after line %zu: remove one",
                        k->text, k->line);
    return 0;
}

/* Reads what stands between the start of a list or mapping and its end. */
static int read_children(struct parse *p, struct cf_yaml *n, unsigned depth, yaml_event_type_t end)
{
    struct cf_yaml **tail = &n->child;

    for (unsigned count = 0;; count++, tail = &(*tail)->next) {
        if (next_event(p) < 0)
            return -1;
        if (p->event.type == end)
            return 0;
        if (read_node(p, depth, tail) < 0)
            return -1;
        if (n->kind == CF_YAML_MAP && count % 2 == 0 && check_key(p, n, *tail) < 0)
            return -1;
    }
}

static int read_text(struct parse *p, struct cf_yaml *n)
{
    const char *text = (const char *)p->event.data.scalar.value;

    n->length = p->event.data.scalar.length;
    n->plain = p->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    if (memchr(text, '\0', n->length))
        return fail(p, n->line, "a zero byte inside a text: remove it");
    n->text = malloc(n->length + 1);
    if (!n->text)
        return no_memory(p);
    memcpy(n->text, text, n->length + 1);
    return 0;
}

/* Makes a node of the current event. What was made hangs at *result also after an error. */
static int read_node(struct parse *p, unsigned depth, struct cf_yaml **result)
{
    const yaml_event_t *e = &p->event;
    const size_t line = e->start_mark.line + 1;
    const int text = e->type == YAML_SCALAR_EVENT, list = e->type == YAML_SEQUENCE_START_EVENT;
    struct cf_yaml *n;

    if (e->type == YAML_ALIAS_EVENT || (text   ? e->data.scalar.anchor
                                        : list ? e->data.sequence_start.anchor
                                               : e->data.mapping_start.anchor))
        return fail(p, line, "anchors (&) and aliases (*) are not allowed: write the value out");
    if (text ? e->data.scalar.tag : list ? e->data.sequence_start.tag : e->data.mapping_start.tag)
        return fail(p, line, "tags (!) are not allowed: remove it");
    if (depth > p->rules->depth)
        return fail(p, line, "nested more than %u deep", p->rules->depth);
    if (++p->values > p->rules->values)
        return fail(p, line, "more than %u values", p->rules->values);
    *result = n = calloc(1, sizeof *n);
    if (!n)
        return no_memory(p);
    n->line = line;
    n->at = e->start_mark.index;
    if (text)
        return read_text(p, n);
    n->kind = list ? CF_YAML_LIST : CF_YAML_MAP;
    return read_children(p, n, depth + 1, list ? YAML_SEQUENCE_END_EVENT : YAML_MAPPING_END_EVENT);
}

/* Whether directives stand first, before the parser reads them. */
static int check_directives(struct parse *p, const char *bytes, size_t size)
{
    yaml_parser_t yaml;
    yaml_token_t token;
    int status = 0;

    if (!yaml_parser_initialize(&yaml))
        return no_memory(p);
    yaml_parser_set_input_string(&yaml, (const unsigned char *)bytes, size);
    for (int i = 0; i < 2 && status == 0; i++) { /* the first is the stream's start */
        if (!yaml_parser_scan(&yaml, &token))
            break; /* the parser will say what is wrong */
        if (token.type == YAML_VERSION_DIRECTIVE_TOKEN || token.type == YAML_TAG_DIRECTIVE_TOKEN)
            status = fail(p, token.start_mark.line + 1,
                          "directives (%%) are not allowed: remove the line");
        yaml_token_delete(&token);
    }
    yaml_parser_delete(&yaml);
    return status;
}

static int read_document(struct parse *p, struct cf_yaml **root)
{
    if (next_event(p) < 0 || next_event(p) < 0) /* the first is the stream's start */
        return -1;
    if (p->event.type == YAML_STREAM_END_EVENT)
        return 0;
    if (next_event(p) < 0 || read_node(p, 1, root) < 0 || next_event(p) < 0 || next_event(p) < 0)
        return -1;
    if (p->event.type != YAML_STREAM_END_EVENT)
        return fail(p, p->event.start_mark.line + 1, "a second document begins here: give one");
    return 0;
}

int cf_yaml_read(const char *bytes, size_t size, const struct cf_yaml_rules *rules,
                 struct cf_yaml **root, struct cf_yaml_problem *problem)
{
    struct parse p = {.rules = rules, .problem = problem};
    int status;

    *root = NULL;
    *problem = (struct cf_yaml_problem){0};
    if (check_directives(&p, bytes, size) != 0)
        return -1;
    if (!yaml_parser_initialize(&p.yaml))
        return no_memory(&p);
    yaml_parser_set_input_string(&p.yaml, (const unsigned char *)bytes, size);
    status = read_document(&p, root);
    if (status != 0) {
        cf_yaml_free(*root);
        *root = NULL;
    }
    yaml_event_delete(&p.event);
    yaml_parser_delete(&p.yaml);
    return status;
}
