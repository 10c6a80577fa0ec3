/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A machine description's YAML as a tree. Parser events become nodes of our own with at most 1 MiB
 * of text, 4,096 nodes and 8 levels; anchors and aliases are refused, so nothing can multiply.
 * Memory: the tree.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "cf_machine_parts.h"

enum { MAX_NODES = 4096, MAX_DEPTH = 8 };

int cfm_fail(const struct report *to, size_t line, const char *format, ...)
{
    va_list list;
    int n;

    if (to->size == 0)
        return -1;
    n = line ? snprintf(to->text, to->size, "%s:%zu: ", to->file, line)
             : snprintf(to->text, to->size, "%s: ", to->file);
    if (n < 0 || (size_t)n >= to->size)
        return -1;
    va_start(list, format);
    vsnprintf(to->text + n, to->size - (size_t)n, format, list);
    va_end(list);
    return -1;
}

int cfm_refuse(const struct report *to, int error)
{
    *to->refused = error;
    return cfm_fail(to, 0, "%s", error == ENOMEM ? "out of memory" : strerror(error));
}

const char *cfm_name_list(char *to, size_t size, const char *const *names, size_t count)
{
    size_t at = 0;

    to[0] = '\0';
    for (size_t i = 0; i < count && at < size; i++) {
        int n = snprintf(to + at, size - at, "%s%s", i ? ", " : "", names[i]);

        if (n < 0)
            break;
        at += (size_t)n;
    }
    return to;
}

const char *const cfm_node_names[] = {"a value", "a list", "a mapping"};

struct parse {
    yaml_parser_t yaml;
    yaml_event_t event;
    const struct report *to;
    unsigned nodes;
};

void cfm_node_free(struct node *n)
{
    while (n) {
        struct node *next = n->next;

        cfm_node_free(n->child);
        free(n->text);
        free(n);
        n = next;
    }
}

static int next_event(struct parse *p)
{
    const char *why;
    size_t line;

    yaml_event_delete(&p->event);
    if (yaml_parser_parse(&p->yaml, &p->event))
        return 0;
    why = p->yaml.problem ? p->yaml.problem : "cannot be read";
    line = p->yaml.problem_mark.line + 1;
    if (p->yaml.error == YAML_MEMORY_ERROR)
        return cfm_refuse(p->to, ENOMEM);
    if (p->yaml.error == YAML_READER_ERROR)
        return cfm_fail(p->to, 0, "byte %zu: %s: give a YAML text in UTF-8", p->yaml.problem_offset,
                        why);
    return cfm_fail(p->to, line, "no valid YAML: %s", why);
}

static int read_node(struct parse *p, unsigned depth, struct node **result);

/* Reads what stands between the start of a list or mapping and its end. */
static int read_children(struct parse *p, struct node *n, unsigned depth, yaml_event_type_t end)
{
    struct node **tail = &n->child;
    unsigned count = 0;

    for (;;) {
        if (next_event(p) < 0)
            return -1;
        if (p->event.type == end)
            return 0;
        if (read_node(p, depth, tail) < 0)
            return -1;
        if (n->kind == NODE_MAP && count++ % 2 == 0) {
            if ((*tail)->kind != NODE_TEXT)
                return cfm_fail(p->to, (*tail)->line, "a key is %s: keys are names",
                                cfm_node_names[(*tail)->kind]);
            for (struct node *k = n->child; k != *tail; k = k->next->next)
                if (strcmp(k->text, (*tail)->text) == 0)
                    return cfm_fail(p->to, (*tail)->line,
                                    "'%s' stands here a second time, after line %zu: remove one",
                                    k->text, k->line);
        }
        tail = &(*tail)->next;
    }
}

/* Makes a node of the current event. What was made hangs at *result also after an error. */
static int read_node(struct parse *p, unsigned depth, struct node **result)
{
    const yaml_event_t *e = &p->event;
    size_t line = e->start_mark.line + 1;
    const yaml_char_t *anchor = NULL;
    struct node *n;

    if (e->type == YAML_SCALAR_EVENT)
        anchor = e->data.scalar.anchor;
    else if (e->type == YAML_SEQUENCE_START_EVENT)
        anchor = e->data.sequence_start.anchor;
    else if (e->type == YAML_MAPPING_START_EVENT)
        anchor = e->data.mapping_start.anchor;
    if (anchor || e->type == YAML_ALIAS_EVENT)
        return cfm_fail(p->to, line,
                        "anchors (&) and aliases (*) are not allowed: write the value out");
    if (depth > MAX_DEPTH)
        return cfm_fail(p->to, line, "nested more than %d deep: a description never is", MAX_DEPTH);
    if (++p->nodes > MAX_NODES)
        return cfm_fail(p->to, line, "more than %d values: a description never has", MAX_NODES);
    n = calloc(1, sizeof *n);
    if (!n)
        return cfm_refuse(p->to, ENOMEM);
    *result = n;
    n->line = line;
    switch (e->type) {
    case YAML_SCALAR_EVENT:
        n->kind = NODE_TEXT;
        if (memchr(e->data.scalar.value, '\0', e->data.scalar.length))
            return cfm_fail(p->to, line, "a zero byte inside a text: remove it");
        n->text = strdup((const char *)e->data.scalar.value);
        return n->text ? 0 : cfm_refuse(p->to, ENOMEM);
    case YAML_SEQUENCE_START_EVENT:
        n->kind = NODE_LIST;
        return read_children(p, n, depth + 1, YAML_SEQUENCE_END_EVENT);
    case YAML_MAPPING_START_EVENT:
        n->kind = NODE_MAP;
        return read_children(p, n, depth + 1, YAML_MAPPING_END_EVENT);
    default:
        return cfm_fail(p->to, line, "unexpected end of a list or mapping");
    }
}

static int read_document(struct parse *p, struct node **root)
{
    if (next_event(p) < 0) /* the stream's start */
        return -1;
    if (next_event(p) < 0)
        return -1;
    if (p->event.type == YAML_STREAM_END_EVENT)
        return cfm_fail(p->to, 0, "is empty: a description has at least line_size and levels");
    if (next_event(p) < 0 || read_node(p, 1, root) < 0 || next_event(p) < 0 || next_event(p) < 0)
        return -1;
    if (p->event.type != YAML_STREAM_END_EVENT)
        return cfm_fail(p->to, p->event.start_mark.line + 1,
                        "a second document begins here: a file describes one machine");
    return 0;
}

struct node *cfm_read_yaml(const struct report *to, const char *bytes, size_t size)
{
    struct parse p = {.to = to};
    struct node *root = NULL;

    if (!yaml_parser_initialize(&p.yaml)) {
        cfm_refuse(to, ENOMEM);
        return NULL;
    }
    yaml_parser_set_input_string(&p.yaml, (const unsigned char *)bytes, size);
    if (read_document(&p, &root) < 0) {
        cfm_node_free(root);
        root = NULL;
    }
    yaml_event_delete(&p.event);
    yaml_parser_delete(&p.yaml);
    return root;
}
