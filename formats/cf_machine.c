/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_machine.c - reads and writes descriptions of cache hierarchies (cf-machine(5)).
 *
 * In: a YAML file, or the cache directories that Linux shows under /sys. Out: a struct cf_machine
 * whose every number was checked, or one message with file, line and remedy.
 *
 * A description is not trusted. Parser events become a tree of our own with at most 1 MiB of text,
 * 4,096 nodes and 8 levels; anchors and aliases are refused, so nothing can multiply. The tree then
 * is walked by the schema, which knows every key: a misspelt one is an error, never a default.
 * Memory: file and tree, both freed before the call returns.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <yaml.h>

#include "cf_machine.h"
#include "cf_tool.h"

enum { MAX_FILE = 1 << 20, MAX_NODES = 4096, MAX_DEPTH = 8, MAX_CYCLES = 1000000000 };

static const char *const kind_names[] = {"unified", "data", "instruction"};
static const char *const policy_names[] = {"lru",      "fifo", "random", "tree-plru",
                                           "bit-plru", "nru",  "srrip",  "master-index"};
static const char *const inclusion_names[] = {"non-inclusive", "inclusive", "exclusive"};
static const char *const write_names[] = {"through", "back"};
static const char *const bool_names[] = {"false", "true"};

#define COUNT(a) (sizeof(a) / sizeof *(a))

const char *cf_policy_name(enum cf_replacement policy)
{
    return (size_t)policy < COUNT(policy_names) ? policy_names[policy] : NULL;
}

/* ---- messages ---- */

struct report {
    const char *file;
    char *text;
    size_t size;
};

/* Line 0: the message is not about one line. Returns -1, so that callers can return it. */
static int fail(const struct report *to, size_t line, const char *format, ...) CF_PRINTF(3, 4);

static int fail(const struct report *to, size_t line, const char *format, ...)
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

/* The names with commas between, for a message; `to` holds at least 256 bytes. */
static const char *name_list(char *to, size_t size, const char *const *names, size_t count)
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

/* ---- YAML events to a tree ---- */

enum node_kind { NODE_TEXT, NODE_LIST, NODE_MAP };

static const char *const node_names[] = {"a value", "a list", "a mapping"};

struct node {
    enum node_kind kind;
    size_t line;
    char *text;         /* NODE_TEXT */
    struct node *child; /* a map holds key, value, key, value, ... */
    struct node *next;
};

struct parse {
    yaml_parser_t yaml;
    yaml_event_t event;
    const struct report *to;
    unsigned nodes;
};

static void node_free(struct node *n)
{
    while (n) {
        struct node *next = n->next;

        node_free(n->child);
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
        return fail(p->to, 0, "out of memory");
    if (p->yaml.error == YAML_READER_ERROR)
        return fail(p->to, 0, "byte %zu: %s: give a YAML text in UTF-8", p->yaml.problem_offset,
                    why);
    return fail(p->to, line, "no valid YAML: %s", why);
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
                return fail(p->to, (*tail)->line, "a key is %s: keys are names",
                            node_names[(*tail)->kind]);
            for (struct node *k = n->child; k != *tail; k = k->next->next)
                if (strcmp(k->text, (*tail)->text) == 0)
                    return fail(p->to, (*tail)->line,
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
        return fail(p->to, line,
                    "anchors (&) and aliases (*) are not allowed: write the value out");
    if (depth > MAX_DEPTH)
        return fail(p->to, line, "nested more than %d deep: a description never is", MAX_DEPTH);
    if (++p->nodes > MAX_NODES)
        return fail(p->to, line, "more than %d values: a description never has", MAX_NODES);
    n = calloc(1, sizeof *n);
    if (!n)
        return fail(p->to, 0, "out of memory");
    *result = n;
    n->line = line;
    switch (e->type) {
    case YAML_SCALAR_EVENT:
        n->kind = NODE_TEXT;
        if (memchr(e->data.scalar.value, '\0', e->data.scalar.length))
            return fail(p->to, line, "a zero byte inside a text: remove it");
        n->text = strdup((const char *)e->data.scalar.value);
        return n->text ? 0 : fail(p->to, 0, "out of memory");
    case YAML_SEQUENCE_START_EVENT:
        n->kind = NODE_LIST;
        return read_children(p, n, depth + 1, YAML_SEQUENCE_END_EVENT);
    case YAML_MAPPING_START_EVENT:
        n->kind = NODE_MAP;
        return read_children(p, n, depth + 1, YAML_MAPPING_END_EVENT);
    default:
        return fail(p->to, line, "unexpected end of a list or mapping");
    }
}

static int read_document(struct parse *p, struct node **root)
{
    if (next_event(p) < 0) /* the stream's start */
        return -1;
    if (next_event(p) < 0)
        return -1;
    if (p->event.type == YAML_STREAM_END_EVENT)
        return fail(p->to, 0, "is empty: a description has at least line_size and levels");
    if (next_event(p) < 0 || read_node(p, 1, root) < 0 || next_event(p) < 0 || next_event(p) < 0)
        return -1;
    if (p->event.type != YAML_STREAM_END_EVENT)
        return fail(p->to, p->event.start_mark.line + 1,
                    "a second document begins here: a file describes one machine");
    return 0;
}

static struct node *read_yaml(const struct report *to, const char *bytes, size_t size)
{
    struct parse p = {.to = to};
    struct node *root = NULL;

    if (!yaml_parser_initialize(&p.yaml)) {
        fail(to, 0, "out of memory");
        return NULL;
    }
    yaml_parser_set_input_string(&p.yaml, (const unsigned char *)bytes, size);
    if (read_document(&p, &root) < 0) {
        node_free(root);
        root = NULL;
    }
    yaml_event_delete(&p.event);
    yaml_parser_delete(&p.yaml);
    return root;
}

/* ---- values ---- */

/* A whole number, decimal or 0x; `sizes`: with an optional K, M or G, KiB, MiB or GiB. */
static int scan_number(const char *s, int sizes, uint64_t *value)
{
    char *end;
    unsigned long long v;
    unsigned shift = 0;

    if (*s < '0' || *s > '9')
        return -1;
    errno = 0;
    v = strtoull(s, &end, s[0] == '0' && (s[1] == 'x' || s[1] == 'X') ? 16 : 10);
    if (errno || end[-1] == 'x' || end[-1] == 'X')
        return -1;
    while (sizes && *end == ' ')
        end++;
    if (sizes && *end) {
        shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
        end += shift ? 1 : 0;
        if (shift && strcmp(end, "iB") == 0)
            end += 2;
        else if (!shift && strcmp(end, "B") == 0)
            end++;
    }
    if (*end || v > (UINT64_MAX >> shift))
        return -1;
    *value = (uint64_t)v << shift;
    return 0;
}

static int get_number(const struct report *to, const struct node *key, int sizes, uint64_t least,
                      uint64_t most, uint64_t *value)
{
    const struct node *n = key->next;

    if (n->kind != NODE_TEXT)
        return fail(to, n->line, "'%s' is %s: give a number", key->text, node_names[n->kind]);
    if (scan_number(n->text, sizes, value) < 0)
        return fail(to, n->line, "'%s: %s' is not a %s: give %s", key->text, n->text,
                    sizes ? "size" : "whole number",
                    sizes ? "bytes, or a number with KiB or MiB" : "digits, or 0x and hex digits");
    if (*value < least || *value > most)
        return fail(to, n->line, "'%s: %s' is out of range: give %" PRIu64 " to %" PRIu64,
                    key->text, n->text, least, most);
    return 0;
}

static int get_u32(const struct report *to, const struct node *key, uint32_t least, uint32_t most,
                   uint32_t *value)
{
    uint64_t v;

    if (get_number(to, key, 0, least, most, &v) < 0)
        return -1;
    *value = (uint32_t)v;
    return 0;
}

static int get_line_size(const struct report *to, const struct node *key, uint32_t *value)
{
    uint64_t v;

    if (get_number(to, key, 1, 4, 65536, &v) < 0)
        return -1;
    if (v & (v - 1))
        return fail(to, key->next->line, "'%s: %s' is no power of two: lines are 16, 32, 64, ...",
                    key->text, key->next->text);
    *value = (uint32_t)v;
    return 0;
}

static int get_text(const struct report *to, const struct node *key, size_t most,
                    const char **value)
{
    const struct node *n = key->next;

    if (n->kind != NODE_TEXT)
        return fail(to, n->line, "'%s' is %s: give a text", key->text, node_names[n->kind]);
    if (strlen(n->text) > most)
        return fail(to, n->line, "'%s' is longer than %zu bytes: shorten it", key->text, most);
    *value = n->text;
    return 0;
}

/* Index of the value among `names`. */
static int get_choice(const struct report *to, const struct node *key, const char *const *names,
                      size_t count)
{
    const struct node *n = key->next;
    char list[256];

    if (n->kind != NODE_TEXT)
        return fail(to, n->line, "'%s' is %s: give one of %s", key->text, node_names[n->kind],
                    name_list(list, sizeof list, names, count));
    for (size_t i = 0; i < count; i++)
        if (strcmp(n->text, names[i]) == 0)
            return (int)i;
    return fail(to, n->line, "'%s: %s' is not known: give one of %s", key->text, n->text,
                name_list(list, sizeof list, names, count));
}

static int unknown_key(const struct report *to, const struct node *key, const char *where,
                       const char *const *names, size_t count)
{
    char list[256];

    return fail(to, key->line, "unknown key '%s' in %s: known are %s", key->text, where,
                name_list(list, sizeof list, names, count));
}

/* Index of a key among `names`, or `count`. */
static size_t key_index(const struct node *key, const char *const *names, size_t count)
{
    size_t i = 0;

    while (i < count && strcmp(key->text, names[i]) != 0)
        i++;
    return i;
}

/* ---- rules that a file and this machine's own sysfs share ---- */

/* Do the two serve a common kind of access? */
static int same_path(const struct cf_level *a, const struct cf_level *b)
{
    return a->kind == CF_UNIFIED || b->kind == CF_UNIFIED || a->kind == b->kind;
}

/* Fills in sets and depth of level `i`, whose other fields are set; levels before it are done. */
static int settle_level(const struct report *to, size_t line, struct cf_machine *m, uint32_t i)
{
    struct cf_level *l = &m->level[i];
    uint64_t row = (uint64_t)l->ways * l->line;
    uint32_t inner = 0;

    if (l->size % row != 0 || l->size == 0)
        return fail(to, line,
                    "%s: size %" PRIu64 " is no multiple of %" PRIu32 " ways times %" PRIu32
                    " bytes a line (%" PRIu64 "): correct one of the three",
                    l->name, l->size, l->ways, l->line, row);
    if (l->size / row > UINT32_MAX / 2)
        return fail(to, line, "%s: has over 2^31 sets: correct size or ways", l->name);
    l->sets = (uint32_t)(l->size / row);
    if (l->policy == CF_TREE_PLRU && (l->ways & (l->ways - 1)))
        return fail(to, line,
                    "%s: tree-plru wants a power of two of ways, not %" PRIu32
                    ": use bit-plru or nru",
                    l->name, l->ways);
    if (strcmp(l->name, "memory") == 0)
        return fail(to, line, "a level is named 'memory', which is the main memory's: rename it");
    for (uint32_t k = 0; k < i; k++) {
        if (strcmp(m->level[k].name, l->name) == 0)
            return fail(to, line, "two levels are named '%s': rename one", l->name);
        if (same_path(&m->level[k], l) && m->level[k].depth > inner)
            inner = m->level[k].depth;
    }
    if (l->depth == 0)
        l->depth = inner + 1;
    if (l->depth > CF_MAX_LEVELS)
        return fail(to, line, "%s: depth %" PRIu32 " is over %d: correct it", l->name, l->depth,
                    CF_MAX_LEVELS);
    if (l->depth <= inner)
        return fail(to, line,
                    "%s: a level before it has depth %" PRIu32
                    " already: list the levels from the core outwards",
                    l->name, inner);
    return 0;
}

static int settle_cpus(const struct report *to, size_t line, struct cf_machine *m)
{
    uint32_t most = 1;
    const char *name = "";

    for (uint32_t i = 0; i < m->levels; i++) {
        if (m->level[i].shared_by > most) {
            most = m->level[i].shared_by;
            name = m->level[i].name;
        }
    }
    if (m->cpus == 0)
        m->cpus = most;
    if (most > m->cpus)
        return fail(to, line,
                    "%s is shared by %" PRIu32 " of %" PRIu32 " CPUs: correct shared_by or cpus",
                    name, most, m->cpus);
    return 0;
}

/* ---- the schema ---- */

static int read_level(const struct report *to, const struct node *n, struct cf_machine *m)
{
    static const char *const keys[] = {"name",      "kind",      "size",   "ways",
                                       "line_size", "shared_by", "policy", "write",
                                       "allocate",  "inclusion", "depth"};
    struct cf_level *l = &m->level[m->levels];
    unsigned seen = 0;

    if (n->kind != NODE_MAP)
        return fail(to, n->line, "a level is %s: give {name: ..., size: ..., ways: ...}",
                    node_names[n->kind]);
    *l = (struct cf_level){
        .line = m->line_size, .shared_by = 1, .write_back = 1, .write_allocate = 1};
    for (const struct node *k = n->child; k; k = k->next->next) {
        size_t which = key_index(k, keys, COUNT(keys));
        const char *text;
        int choice = 0;

        seen |= 1U << which;
        switch (which) {
        case 0:
            if (get_text(to, k, sizeof l->name - 1, &text) < 0)
                return -1;
            if (!*text)
                return fail(to, k->line, "a level has an empty name: name it, as in L1D");
            strcpy(l->name, text);
            break;
        case 1:
            choice = get_choice(to, k, kind_names, COUNT(kind_names));
            l->kind = (enum cf_kind)choice;
            break;
        case 2:
            choice = get_number(to, k, 1, 1, UINT64_C(1) << 46, &l->size);
            break;
        case 3:
            choice = get_u32(to, k, 1, CF_MAX_WAYS, &l->ways);
            break;
        case 4:
            choice = get_line_size(to, k, &l->line);
            break;
        case 5:
            choice = get_u32(to, k, 1, 65536, &l->shared_by);
            break;
        case 6:
            choice = get_choice(to, k, policy_names, COUNT(policy_names));
            l->policy = (enum cf_replacement)choice;
            break;
        case 7:
            choice = get_choice(to, k, write_names, COUNT(write_names));
            l->write_back = (uint8_t)choice;
            break;
        case 8:
            choice = get_choice(to, k, bool_names, COUNT(bool_names));
            l->write_allocate = (uint8_t)choice;
            break;
        case 9:
            choice = get_choice(to, k, inclusion_names, COUNT(inclusion_names));
            l->inclusion = (enum cf_inclusion)choice;
            break;
        case 10:
            choice = get_u32(to, k, 1, CF_MAX_LEVELS, &l->depth);
            break;
        default:
            return unknown_key(to, k, "a level", keys, COUNT(keys));
        }
        if (choice < 0)
            return -1;
    }
    for (unsigned i = 0; i < 4; i++)
        if (i != 1 && !(seen & (1U << i)))
            return fail(to, n->line, "level %s has no '%s': add it",
                        l->name[0] ? l->name : "without name", keys[i]);
    if (settle_level(to, n->line, m, m->levels) < 0)
        return -1;
    m->levels++;
    return 0;
}

static int read_levels(const struct report *to, const struct node *n, struct cf_machine *m)
{
    if (n->kind != NODE_LIST)
        return fail(to, n->line, "'levels' is %s: give a list, one cache a line after '- '",
                    node_names[n->kind]);
    if (!n->child)
        return fail(to, n->line, "'levels' is empty: describe at least one cache");
    for (const struct node *l = n->child; l; l = l->next) {
        if (m->levels == CF_MAX_LEVELS)
            return fail(to, l->line, "more than %d levels: remove some", CF_MAX_LEVELS);
        if (read_level(to, l, m) < 0)
            return -1;
    }
    return 0;
}

static int read_latency(const struct report *to, const struct node *n, struct cf_machine *m)
{
    const char *names[CF_MAX_LEVELS + 1];

    if (n->kind != NODE_MAP)
        return fail(to, n->line, "'latency' is %s: give {LEVEL: cycles, memory: cycles}",
                    node_names[n->kind]);
    for (uint32_t i = 0; i < m->levels; i++)
        names[i] = m->level[i].name;
    names[m->levels] = "memory";
    for (const struct node *k = n->child; k; k = k->next->next) {
        size_t which = key_index(k, names, m->levels + 1);

        if (which > m->levels)
            return unknown_key(to, k, "latency", names, m->levels + 1);
        /* 0 means "not stated" to everybody who reads it: leave such a level out. */
        if (get_u32(to, k, 1, MAX_CYCLES,
                    which == m->levels ? &m->memory_latency : &m->level[which].latency) < 0)
            return -1;
    }
    return 0;
}

static int read_machine(const struct report *to, const struct node *root, struct cf_machine *m)
{
    static const char *const keys[] = {"name",      "source", "cpus",   "clock_hz",
                                       "line_size", "levels", "latency"};
    const struct node *found[COUNT(keys)] = {NULL};
    const char *text;

    if (root->kind != NODE_MAP)
        return fail(to, root->line, "is %s: a description is a mapping with line_size and levels",
                    node_names[root->kind]);
    for (const struct node *k = root->child; k; k = k->next->next) {
        size_t which = key_index(k, keys, COUNT(keys));

        if (which == COUNT(keys))
            return unknown_key(to, k, "a machine", keys, COUNT(keys));
        found[which] = k;
    }
    for (size_t i = 4; i <= 5; i++)
        if (!found[i])
            return fail(to, root->line, "has no '%s': add it", keys[i]);
    if (found[0]) {
        if (get_text(to, found[0], sizeof m->name - 1, &text) < 0)
            return -1;
        strcpy(m->name, text);
    }
    if (found[1]) {
        if (get_text(to, found[1], MAX_FILE, &text) < 0)
            return -1;
        m->source = strdup(text);
        if (!m->source)
            return fail(to, 0, "out of memory");
    }
    if (found[2] && get_u32(to, found[2], 1, 65536, &m->cpus) < 0)
        return -1;
    if (found[3] && get_number(to, found[3], 0, 1, UINT64_C(1000000000000), &m->clock_hz) < 0)
        return -1;
    if (get_line_size(to, found[4], &m->line_size) < 0 || read_levels(to, found[5]->next, m) < 0)
        return -1;
    if (found[6] && read_latency(to, found[6]->next, m) < 0)
        return -1;
    return settle_cpus(to, found[2] ? found[2]->line : found[5]->line, m);
}

/* ---- a file ---- */

static char *read_file(const struct report *to, const char *path, size_t *size)
{
    FILE *f = fopen(path, "rbe");
    char *bytes;

    if (!f) {
        fail(to, 0, "%s: give a description, the name of an installed one, or host",
             strerror(errno));
        return NULL;
    }
    bytes = malloc(MAX_FILE + 1);
    if (!bytes) {
        fail(to, 0, "out of memory");
    } else {
        *size = fread(bytes, 1, MAX_FILE + 1, f);
        if (ferror(f))
            fail(to, 0, "%s", strerror(errno));
        else if (*size > MAX_FILE)
            fail(to, 0, "is over 1 MiB: this is no machine description");
        else {
            fclose(f);
            return bytes;
        }
    }
    free(bytes);
    fclose(f);
    return NULL;
}

static int load_file(const struct report *to, const char *path, struct cf_machine *m)
{
    size_t size = 0;
    char *bytes = read_file(to, path, &size);
    struct node *root;
    int status;

    if (!bytes)
        return -1;
    root = read_yaml(to, bytes, size);
    free(bytes);
    if (!root)
        return -1;
    status = read_machine(to, root, m);
    node_free(root);
    if (status == 0 && !m->name[0]) {
        const char *slash = strrchr(path, '/');
        const char *base = slash ? slash + 1 : path;
        size_t length = strlen(base);

        if (length > 5 && strcmp(base + length - 5, ".yaml") == 0)
            length -= 5;
        snprintf(m->name, sizeof m->name, "%.*s", (int)(length < 127 ? length : 127), base);
    }
    return status;
}

/* ---- this machine ---- */

/* First line of a small file, without its newline; -1 where there is none. */
static int sys_text(const char *dir, const char *name, char *to, size_t size)
{
    char path[4096];
    FILE *f;
    int status = -1;

    if ((size_t)snprintf(path, sizeof path, "%s/%s", dir, name) >= sizeof path)
        return -1;
    f = fopen(path, "re");
    if (!f)
        return -1;
    if (fgets(to, (int)size, f)) {
        to[strcspn(to, "\n")] = '\0';
        status = *to ? 0 : -1;
    }
    fclose(f);
    return status;
}

static uint64_t sys_number(const char *dir, const char *name)
{
    char text[64];
    uint64_t value;

    if (sys_text(dir, name, text, sizeof text) < 0 || scan_number(text, 1, &value) < 0)
        return 0;
    return value;
}

/* CPUs in a list such as "0-3,8"; 0 when it is none. */
static uint32_t count_list(const char *s)
{
    uint64_t count = 0;

    while (*s >= '0' && *s <= '9') {
        char *end;
        unsigned long from = strtoul(s, &end, 10), to = from;

        if (*end == '-')
            to = strtoul(end + 1, &end, 10);
        if (to < from || to - from > 65535 || (*end && *end != ','))
            return 0;
        count += to - from + 1;
        s = *end ? end + 1 : end;
    }
    return *s == '\0' && count <= 65536 ? (uint32_t)count : 0;
}

static uint32_t sys_sharers(const char *dir)
{
    char text[4096];
    uint32_t n = 0;

    if (sys_text(dir, "shared_cpu_list", text, sizeof text) == 0)
        n = count_list(text);
    else if (sys_text(dir, "shared_cpu_map", text, sizeof text) == 0)
        for (const char *s = text; *s; s++)
            n += *s >= '0' && *s <= '9'   ? (uint32_t)__builtin_popcount((unsigned)(*s - '0'))
                 : *s >= 'a' && *s <= 'f' ? (uint32_t)__builtin_popcount((unsigned)(*s - 'a' + 10))
                                          : 0;
    return n ? n : 1;
}

/* One cache directory: 1, 0 when it does not say how large the cache is, or -1. */
static int sys_level(const struct report *to, const char *dir, struct cf_level *l, unsigned *number)
{
    char text[64];
    uint64_t level = sys_number(dir, "level"), ways = sys_number(dir, "ways_of_associativity");
    uint64_t line = sys_number(dir, "coherency_line_size"),
             sets = sys_number(dir, "number_of_sets");
    uint64_t size = sys_number(dir, "size");

    *l = (struct cf_level){.write_back = 1, .write_allocate = 1};
    if (sys_text(dir, "type", text, sizeof text) == 0)
        l->kind = text[0] == 'D'   ? CF_DATA_CACHE
                  : text[0] == 'I' ? CF_INSTRUCTION_CACHE
                                   : CF_UNIFIED;
    if (level == 0 || level > CF_MAX_LEVELS)
        return 0;
    *number = (unsigned)level;
    snprintf(l->name, sizeof l->name, "L%u%s", *number,
             l->kind == CF_UNIFIED      ? ""
             : l->kind == CF_DATA_CACHE ? "D"
                                        : "I");
    if (ways > UINT32_MAX || line > UINT32_MAX || sets > UINT32_MAX || size > UINT64_C(1) << 46)
        return fail(to, 0,
                    "%s has impossible numbers: write a description of this machine (cf-machine(5))"
                    " and name that file",
                    dir);
    /* Any one of the four that is missing follows from the other three. */
    if (size == 0 && ways && line && sets && sets <= (UINT64_C(1) << 46) / (ways * line))
        size = ways * line * sets;
    if (size == 0)
        return 0;
    if (line == 0 && ways && sets && size % (ways * sets) == 0)
        line = size / (ways * sets);
    if (line == 0)
        line = 64;
    if (ways == 0 && sets && size % (sets * line) == 0)
        ways = size / (sets * line);
    if (ways == 0)
        return fail(to, 0,
                    "%s does not say how many ways %s has: write a description of this machine"
                    " (cf-machine(5)) and name that file",
                    dir, l->name);
    if (ways > CF_MAX_WAYS)
        return fail(to, 0,
                    "%s: %s has %" PRIu64 " ways, more than the %d that are supported: write a"
                    " description with fewer (cf-machine(5)) and name that file",
                    dir, l->name, ways, CF_MAX_WAYS);
    if (line & (line - 1) || line < 4 || line > 65536)
        return fail(to, 0, "%s: a line of %" PRIu64 " bytes is no power of two from 4 to 65536",
                    dir, line);
    if (size % (ways * line) || (sets && sets != size / (ways * line)))
        return fail(to, 0,
                    "%s: size %" PRIu64 " is not %" PRIu64 " sets times %" PRIu64
                    " ways times %" PRIu64 " bytes: write a description of this machine"
                    " (cf-machine(5)) and name that file",
                    dir, size, sets, ways, line);
    l->size = size;
    l->ways = (uint32_t)ways;
    l->line = (uint32_t)line;
    l->shared_by = sys_sharers(dir);
    if (sys_text(dir, "write_policy", text, sizeof text) == 0)
        l->write_back = strcmp(text, "WriteThrough") != 0;
    if (sys_text(dir, "allocation_policy", text, sizeof text) == 0)
        l->write_allocate = strcmp(text, "ReadAllocate") != 0;
    return 1;
}

/* Number in a directory's name such as cpu12, -1 if it is another kind of name. */
static long name_number(const char *name, const char *prefix)
{
    size_t n = strlen(prefix);
    char *end;
    long value;

    if (strncmp(name, prefix, n) != 0 || name[n] < '0' || name[n] > '9')
        return -1;
    value = strtol(name + n, &end, 10);
    return *end || value > 1000000 ? -1 : value;
}

/* Lowest-numbered CPU that shows its caches (the first may be switched off); counts CPUs. */
static long first_cpu(const char *root, uint32_t *count)
{
    DIR *d = opendir(root);
    struct dirent *e;
    long best = -1;

    *count = 0;
    while (d && (e = readdir(d))) {
        char path[4096 + 300];
        struct stat st;
        long n = name_number(e->d_name, "cpu");

        if (n < 0)
            continue;
        ++*count;
        snprintf(path, sizeof path, "%s/%s/cache/index0", root, e->d_name);
        if ((best < 0 || n < best) && stat(path, &st) == 0)
            best = n;
    }
    if (d)
        closedir(d);
    return best;
}

static void host_name(char *to, size_t size)
{
    char line[256];
    FILE *f = fopen("/proc/cpuinfo", "re");

    snprintf(to, size, "host");
    while (f && fgets(line, sizeof line, f)) {
        char *colon = strchr(line, ':');

        if (!colon || (strncmp(line, "model name", 10) && strncmp(line, "Model\t", 6)))
            continue;
        colon[strcspn(colon, "\n")] = '\0';
        for (colon++; *colon == ' '; colon++)
            ;
        if (*colon)
            snprintf(to, size, "%s", colon);
        break;
    }
    if (f)
        fclose(f);
}

static int load_host(const struct report *to, struct cf_machine *m)
{
    const char *other = getenv("CF_SYSFS");
    char root[2048], cpu[2200], text[4096];
    uint32_t count;
    long first;

    if ((size_t)snprintf(root, sizeof root, "%s/devices/system/cpu", other ? other : "/sys") >=
        sizeof root)
        return fail(to, 0, "CF_SYSFS is too long");
    first = first_cpu(root, &count);
    if (first < 0)
        return fail(to, 0,
                    "%s shows no cache of any CPU, as in many virtual machines: name a machine"
                    " description instead",
                    root);
    snprintf(cpu, sizeof cpu, "%s/cpu%ld", root, first);
    /* By depth, and in a depth by the kernel's index. */
    for (unsigned depth = 1; depth <= CF_MAX_LEVELS; depth++) {
        for (unsigned i = 0; i < 2 * CF_MAX_LEVELS; i++) {
            char dir[2300];
            struct stat st;
            struct cf_level l;
            unsigned number = 0;
            int status;

            snprintf(dir, sizeof dir, "%s/cache/index%u", cpu, i);
            if (stat(dir, &st) < 0 || sys_number(dir, "level") != depth)
                continue;
            status = sys_level(to, dir, &l, &number);
            if (status < 0)
                return -1;
            if (status == 0)
                continue;
            if (m->levels == CF_MAX_LEVELS)
                return fail(to, 0, "%s/cache has more than %d levels", cpu, CF_MAX_LEVELS);
            l.depth = number;
            m->level[m->levels] = l;
            if (settle_level(to, 0, m, m->levels) < 0)
                return -1;
            m->levels++;
            if (m->line_size == 0 && l.kind != CF_INSTRUCTION_CACHE)
                m->line_size = l.line;
        }
    }
    if (m->levels == 0)
        return fail(to, 0,
                    "%s/cache does not say how large any cache is: name a machine description"
                    " instead",
                    cpu);
    if (m->line_size == 0)
        m->line_size = m->level[0].line;
    m->cpus = sys_text(root, "online", text, sizeof text) == 0 ? count_list(text) : 0;
    if (m->cpus == 0)
        m->cpus = count;
    m->clock_hz = sys_number(cpu, "cpufreq/cpuinfo_max_freq"); /* kHz */
    m->clock_hz = m->clock_hz <= 1000000000 ? m->clock_hz * 1000 : 0;
    if (other)
        snprintf(m->name, sizeof m->name, "host");
    else
        host_name(m->name, sizeof m->name);
    snprintf(text, sizeof text,
             "sysfs, cpu%ld of this machine; replacement and inclusion are not shown there, LRU and"
             " non-inclusive are assumed",
             first);
    m->source = strdup(text);
    if (!m->source)
        return fail(to, 0, "out of memory");
    return settle_cpus(to, 0, m);
}

/* ---- finding descriptions ---- */

static int machines_dir(char *to, size_t size)
{
    return (size_t)snprintf(to, size, "%s/machines", cf_tool_dir("share/cacheflow")) < size ? 0
                                                                                            : -1;
}

static int yaml_file(const struct dirent *e)
{
    size_t n = strlen(e->d_name);

    return n > 5 && e->d_name[0] != '.' && strcmp(e->d_name + n - 5, ".yaml") == 0;
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* The installed names, each followed by `separator`. */
static char *list_names(const char *separator)
{
    char dir[4096], *text = NULL;
    struct dirent **entry = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    int count = 0;

    if (!out)
        return NULL;
    if (machines_dir(dir, sizeof dir) == 0)
        count = scandir(dir, &entry, yaml_file, by_bytes);
    for (int i = 0; i < count; i++) {
        fprintf(out, "%.*s%s", (int)(strlen(entry[i]->d_name) - 5), entry[i]->d_name, separator);
        free(entry[i]);
    }
    free(entry);
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

char *cf_machine_list(void)
{
    return list_names("\n");
}

static int load_installed(const struct report *to, const char *name, struct cf_machine *m)
{
    char dir[4096], path[4096 + 300];
    struct stat st;
    struct report at = *to;

    if (strlen(name) < 250 && *name && machines_dir(dir, sizeof dir) == 0) {
        snprintf(path, sizeof path, "%s/%s.yaml", dir, name);
        if (stat(path, &st) == 0) {
            at.file = path;
            return load_file(&at, path, m);
        }
    }
    {
        char *names = list_names(", ");

        fail(to, 0, "no machine of this name is installed: give one of %shost, or a FILE.yaml",
             names ? names : "");
        free(names);
    }
    return -1;
}

struct cf_machine *cf_machine_load(const char *name, char *problem, size_t size)
{
    struct cf_machine *m = calloc(1, sizeof *m);
    struct report to = {name, problem, size};
    size_t length = strlen(name);
    int status;

    if (size)
        problem[0] = '\0';
    if (!m) {
        fail(&to, 0, "out of memory");
        return NULL;
    }
    if (strchr(name, '/') || (length > 5 && strcmp(name + length - 5, ".yaml") == 0))
        status = load_file(&to, name, m);
    else if (strcmp(name, "host") == 0)
        status = load_host(&to, m);
    else
        status = load_installed(&to, name, m);
    if (status < 0) {
        cf_machine_free(m);
        return NULL;
    }
    return m;
}

void cf_machine_free(struct cf_machine *m)
{
    if (!m)
        return;
    free(m->source);
    free(m);
}

/* ---- writing ---- */

/* One UTF-8 character of valid text; bytes that are none count as themselves. */
static unsigned take_character(const char **s)
{
    const unsigned char *p = (const unsigned char *)*s;
    unsigned extra = p[0] >= 0xf0 ? 3 : p[0] >= 0xe0 ? 2 : p[0] >= 0xc0 ? 1 : 0;
    unsigned code = extra ? p[0] & (0x3fU >> extra) : p[0];

    for (unsigned i = 1; i <= extra; i++) {
        if ((p[i] & 0xc0) != 0x80) {
            *s += 1;
            return p[0];
        }
        code = code << 6 | (p[i] & 0x3f);
    }
    *s += 1 + extra;
    return code;
}

static void write_text(FILE *out, const char *s)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

    if (*s && !s[strspn(s, plain)]) {
        fputs(s, out);
        return;
    }
    putc('"', out);
    while (*s) {
        const char *start = s;
        unsigned c = take_character(&s);

        /* YAML folds line breaks inside quotes and allows no control characters. */
        if (c == '"' || c == '\\')
            fprintf(out, "\\%c", c);
        else if (c < 0x20 || (c >= 0x7f && c < 0xa0) || (s - start == 1 && c >= 0x80))
            fprintf(out, "\\x%02X", c);
        else if (c == 0x2028 || c == 0x2029 || c == 0xfeff || c == 0xfffe || c == 0xffff)
            fprintf(out, "\\u%04X", c);
        else
            fwrite(start, 1, (size_t)(s - start), out);
    }
    putc('"', out);
}

static void write_size(FILE *out, uint64_t size)
{
    if (size && size % (1 << 20) == 0)
        fprintf(out, "%" PRIu64 "MiB", size >> 20);
    else if (size && size % (1 << 10) == 0)
        fprintf(out, "%" PRIu64 "KiB", size >> 10);
    else
        fprintf(out, "%" PRIu64, size);
}

static const char *choice_name(const char *const *names, size_t count, size_t i)
{
    return i < count ? names[i] : names[0];
}

static void write_level(FILE *out, const struct cf_level *l)
{
    fputs("  - {name: ", out);
    write_text(out, l->name);
    fprintf(out, ", kind: %s, size: ", choice_name(kind_names, COUNT(kind_names), l->kind));
    write_size(out, l->size);
    fprintf(out,
            ", ways: %" PRIu32 ", line_size: %" PRIu32 ", shared_by: %" PRIu32
            ", policy: %s,\n     write: %s, allocate: %s, inclusion: %s, depth: %" PRIu32 "}\n",
            l->ways, l->line, l->shared_by,
            choice_name(policy_names, COUNT(policy_names), l->policy),
            write_names[l->write_back != 0], bool_names[l->write_allocate != 0],
            choice_name(inclusion_names, COUNT(inclusion_names), l->inclusion), l->depth);
}

static void write_latency(FILE *out, const struct cf_machine *m)
{
    const char *before = "latency: {";
    int any = 0;

    for (uint32_t i = 0; i < m->levels && i < CF_MAX_LEVELS; i++) {
        if (m->level[i].latency == 0)
            continue;
        fputs(before, out);
        write_text(out, m->level[i].name);
        fprintf(out, ": %" PRIu32, m->level[i].latency);
        before = ", ";
        any = 1;
    }
    if (m->memory_latency) {
        fprintf(out, "%smemory: %" PRIu32, before, m->memory_latency);
        any = 1;
    }
    if (any)
        fputs("}\n", out);
}

char *cf_machine_text(const struct cf_machine *m)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        return NULL;
    fputs("name: ", out);
    write_text(out, m->name);
    if (m->source) {
        fputs("\nsource: ", out);
        write_text(out, m->source);
    }
    if (m->cpus)
        fprintf(out, "\ncpus: %" PRIu32, m->cpus);
    if (m->clock_hz)
        fprintf(out, "\nclock_hz: %" PRIu64, m->clock_hz);
    fprintf(out, "\nline_size: %" PRIu32 "\nlevels:\n", m->line_size);
    for (uint32_t i = 0; i < m->levels && i < CF_MAX_LEVELS; i++)
        write_level(out, &m->level[i]);
    write_latency(out, m);
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}
