/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The schema of machine descriptions (cf-machine(5)): walks the tree of a file and knows every key,
 * so that a misspelt one is an error and never a default.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cf_machine_parts.h"
#include "formats/base/cf_number.h"

enum { MAX_FILE = 1 << 20 };

const char *const cfm_kind_names[] = {"unified", "data", "instruction"};
const char *const cfm_policy_names[] = {"lru",      "fifo", "random", "tree-plru",
                                        "bit-plru", "nru",  "srrip",  "master-index"};
const char *const cfm_inclusion_names[] = {"non-inclusive", "inclusive", "exclusive"};
const char *const cfm_write_names[] = {"through", "back"};
const char *const cfm_bool_names[] = {"false", "true"};
const char *const cfm_rule_names[] = {"total", "added"};

const char *cf_policy_name(enum cf_replacement policy)
{
    return (size_t)policy < CFM_POLICIES ? cfm_policy_names[policy] : NULL;
}

static int get_number(const struct report *to, const struct node *key, int sizes, uint64_t least,
                      uint64_t most, uint64_t *value)
{
    const struct node *n = key->next;

    if (n->kind != NODE_TEXT)
        return cfm_fail(to, n->line, "'%s' is %s: give a number", key->text,
                        cfm_node_names[n->kind]);
    if (cf_read_number(n->text, sizes ? CF_READ_SIZE : CF_READ_NUMBER, UINT64_MAX, value) < 0)
        return cfm_fail(to, n->line, "'%s: %s' is not a %s: give %s", key->text, n->text,
                        sizes ? "size" : "whole number",
                        sizes ? "bytes, or a number with KiB or MiB"
                              : "digits, or 0x and hex digits");
    if (*value < least || *value > most)
        return cfm_fail(to, n->line, "'%s: %s' is out of range: give %" PRIu64 " to %" PRIu64,
                        key->text, n->text, least, most);
    return 0;
}

int cfm_get_u32(const struct report *to, const struct node *key, uint32_t least, uint32_t most,
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
        return cfm_fail(to, key->next->line,
                        "'%s: %s' is no power of two: lines are 16, 32, 64, ...", key->text,
                        key->next->text);
    *value = (uint32_t)v;
    return 0;
}

static int get_text(const struct report *to, const struct node *key, size_t most,
                    const char **value)
{
    const struct node *n = key->next;

    if (n->kind != NODE_TEXT)
        return cfm_fail(to, n->line, "'%s' is %s: give a text", key->text, cfm_node_names[n->kind]);
    if (strlen(n->text) > most)
        return cfm_fail(to, n->line, "'%s' is longer than %zu bytes: shorten it", key->text, most);
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
        return cfm_fail(to, n->line, "'%s' is %s: give one of %s", key->text,
                        cfm_node_names[n->kind], cfm_name_list(list, sizeof list, names, count));
    for (size_t i = 0; i < count; i++)
        if (strcmp(n->text, names[i]) == 0)
            return (int)i;
    return cfm_fail(to, n->line, "'%s: %s' is not known: give one of %s", key->text, n->text,
                    cfm_name_list(list, sizeof list, names, count));
}

int cfm_unknown_key(const struct report *to, const struct node *key, const char *where,
                    const char *const *names, size_t count)
{
    char list[256];

    return cfm_fail(to, key->line, "unknown key '%s' in %s: known are %s", key->text, where,
                    cfm_name_list(list, sizeof list, names, count));
}

size_t cfm_key_index(const struct node *key, const char *const *names, size_t count)
{
    size_t i = 0;

    while (i < count && strcmp(key->text, names[i]) != 0)
        i++;
    return i;
}

/* Do the two serve a common kind of access? */
static int same_path(const struct cf_level *a, const struct cf_level *b)
{
    return a->kind == CF_UNIFIED || b->kind == CF_UNIFIED || a->kind == b->kind;
}

/* Fills in sets and depth of level `i`, whose other fields are set; levels before it are done. */
int cfm_settle_level(const struct report *to, size_t line, struct cf_machine *m, uint32_t i)
{
    struct cf_level *l = &m->level[i];
    uint64_t row = (uint64_t)l->ways * l->line;
    uint32_t inner = 0;

    if (l->size % row != 0 || l->size == 0)
        return cfm_fail(to, line,
                        "%s: size %" PRIu64 " is no multiple of %" PRIu32 " ways times %" PRIu32
                        " bytes a line (%" PRIu64 "): correct one of the three",
                        l->name, l->size, l->ways, l->line, row);
    if (l->size / row > UINT32_MAX / 2)
        return cfm_fail(to, line, "%s: has over 2^31 sets: correct size or ways", l->name);
    l->sets = (uint32_t)(l->size / row);
    if (l->policy == CF_TREE_PLRU && (l->ways & (l->ways - 1)))
        return cfm_fail(to, line,
                        "%s: tree-plru wants a power of two of ways, not %" PRIu32
                        ": use bit-plru or nru",
                        l->name, l->ways);
    if (strcmp(l->name, "memory") == 0)
        return cfm_fail(to, line,
                        "a level is named 'memory', which is the main memory's: rename it");
    for (uint32_t k = 0; k < i; k++) {
        if (strcmp(m->level[k].name, l->name) == 0)
            return cfm_fail(to, line, "two levels are named '%s': rename one", l->name);
        if (same_path(&m->level[k], l) && m->level[k].depth > inner)
            inner = m->level[k].depth;
    }
    if (l->depth == 0)
        l->depth = inner + 1;
    if (l->depth > CF_MAX_LEVELS)
        return cfm_fail(to, line, "%s: depth %" PRIu32 " is over %d: correct it", l->name, l->depth,
                        CF_MAX_LEVELS);
    if (l->depth <= inner)
        return cfm_fail(to, line,
                        "%s: a level before it has depth %" PRIu32
                        " already: list the levels from the core outwards",
                        l->name, inner);
    return 0;
}

int cfm_settle_cpus(const struct report *to, size_t line, struct cf_machine *m)
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
        return cfm_fail(
            to, line, "%s is shared by %" PRIu32 " of %" PRIu32 " CPUs: correct shared_by or cpus",
            name, most, m->cpus);
    return 0;
}

static int read_level(const struct report *to, const struct node *n, struct cf_machine *m)
{
    static const char *const keys[] = {"name",      "kind",      "size",   "ways",
                                       "line_size", "shared_by", "policy", "write",
                                       "allocate",  "inclusion", "depth"};
    struct cf_level *l = &m->level[m->levels];
    unsigned seen = 0;

    if (n->kind != NODE_MAP)
        return cfm_fail(to, n->line, "a level is %s: give {name: ..., size: ..., ways: ...}",
                        cfm_node_names[n->kind]);
    *l = (struct cf_level){
        .line = m->line_size, .shared_by = 1, .write_back = 1, .write_allocate = 1};
    for (const struct node *k = n->child; k; k = k->next->next) {
        size_t which = cfm_key_index(k, keys, COUNT(keys));
        const char *text;
        int choice = 0;

        seen |= 1U << which;
        switch (which) {
        case 0:
            if (get_text(to, k, sizeof l->name - 1, &text) < 0)
                return -1;
            if (!*text)
                return cfm_fail(to, k->line, "a level has an empty name: name it, as in L1D");
            strcpy(l->name, text);
            break;
        case 1:
            choice = get_choice(to, k, cfm_kind_names, COUNT(cfm_kind_names));
            l->kind = (enum cf_kind)choice;
            break;
        case 2:
            choice = get_number(to, k, 1, 1, UINT64_C(1) << 46, &l->size);
            break;
        case 3:
            choice = cfm_get_u32(to, k, 1, CF_MAX_WAYS, &l->ways);
            break;
        case 4:
            choice = get_line_size(to, k, &l->line);
            break;
        case 5:
            choice = cfm_get_u32(to, k, 1, 65536, &l->shared_by);
            break;
        case 6:
            choice = get_choice(to, k, cfm_policy_names, COUNT(cfm_policy_names));
            l->policy = (enum cf_replacement)choice;
            break;
        case 7:
            choice = get_choice(to, k, cfm_write_names, COUNT(cfm_write_names));
            l->write_back = (uint8_t)choice;
            break;
        case 8:
            choice = get_choice(to, k, cfm_bool_names, COUNT(cfm_bool_names));
            l->write_allocate = (uint8_t)choice;
            break;
        case 9:
            choice = get_choice(to, k, cfm_inclusion_names, COUNT(cfm_inclusion_names));
            l->inclusion = (enum cf_inclusion)choice;
            break;
        case 10:
            choice = cfm_get_u32(to, k, 1, CF_MAX_LEVELS, &l->depth);
            break;
        default:
            return cfm_unknown_key(to, k, "a level", keys, COUNT(keys));
        }
        if (choice < 0)
            return -1;
    }
    for (unsigned i = 0; i < 4; i++)
        if (i != 1 && !(seen & (1U << i)))
            return cfm_fail(to, n->line, "level %s has no '%s': add it",
                            l->name[0] ? l->name : "without name", keys[i]);
    if (cfm_settle_level(to, n->line, m, m->levels) < 0)
        return -1;
    m->levels++;
    return 0;
}

static int read_levels(const struct report *to, const struct node *n, struct cf_machine *m)
{
    if (n->kind != NODE_LIST)
        return cfm_fail(to, n->line, "'levels' is %s: give a list, one cache a line after '- '",
                        cfm_node_names[n->kind]);
    if (!n->child)
        return cfm_fail(to, n->line, "'levels' is empty: describe at least one cache");
    for (const struct node *l = n->child; l; l = l->next) {
        if (m->levels == CF_MAX_LEVELS)
            return cfm_fail(to, l->line, "more than %d levels: remove some", CF_MAX_LEVELS);
        if (read_level(to, l, m) < 0)
            return -1;
    }
    return 0;
}

static int read_machine(const struct report *to, const struct node *root, struct cf_machine *m)
{
    static const char *const keys[] = {"name",      "source", "cpus",    "clock_hz",
                                       "line_size", "levels", "latency", "latency_rule"};
    const struct node *found[COUNT(keys)] = {NULL};
    const char *text;

    if (root->kind != NODE_MAP)
        return cfm_fail(to, root->line,
                        "is %s: a description is a mapping with line_size and levels",
                        cfm_node_names[root->kind]);
    for (const struct node *k = root->child; k; k = k->next->next) {
        size_t which = cfm_key_index(k, keys, COUNT(keys));

        if (which == COUNT(keys))
            return cfm_unknown_key(to, k, "a machine", keys, COUNT(keys));
        found[which] = k;
    }
    for (size_t i = 4; i <= 5; i++)
        if (!found[i])
            return cfm_fail(to, root->line, "has no '%s': add it", keys[i]);
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
            return cfm_refuse(to, ENOMEM);
    }
    if (found[2] && cfm_get_u32(to, found[2], 1, 65536, &m->cpus) < 0)
        return -1;
    if (found[3] && get_number(to, found[3], 0, 1, UINT64_C(1000000000000), &m->clock_hz) < 0)
        return -1;
    if (get_line_size(to, found[4], &m->line_size) < 0 || read_levels(to, found[5]->next, m) < 0)
        return -1;
    if (found[6] && cfm_read_latency(to, found[6]->next, m) < 0)
        return -1;
    if (found[7]) {
        int rule = get_choice(to, found[7], cfm_rule_names, COUNT(cfm_rule_names));

        if (rule < 0)
            return -1;
        m->latency_rule = (enum cf_latency_rule)rule;
    }
    return cfm_settle_cpus(to, found[2] ? found[2]->line : found[5]->line, m);
}

static char *read_file(const struct report *to, const char *path, size_t *size)
{
    FILE *f = fopen(path, "rbe");
    char *bytes;

    if (!f && cf_is_refusal(errno)) {
        cfm_refuse(to, errno);
        return NULL;
    }
    if (!f) {
        cfm_fail(to, 0, "%s: give a description, the name of an installed one, or host",
                 strerror(errno));
        return NULL;
    }
    bytes = malloc(MAX_FILE + 1);
    if (!bytes) {
        cfm_refuse(to, ENOMEM);
    } else {
        *size = fread(bytes, 1, MAX_FILE + 1, f);
        if (ferror(f) && cf_is_refusal(errno))
            cfm_refuse(to, errno);
        else if (ferror(f))
            cfm_fail(to, 0, "%s", strerror(errno));
        else if (*size > MAX_FILE)
            cfm_fail(to, 0, "is over 1 MiB: this is no machine description");
        else {
            fclose(f);
            return bytes;
        }
    }
    free(bytes);
    fclose(f);
    return NULL;
}

int cfm_load_file(const struct report *to, const char *path, struct cf_machine *m)
{
    size_t size = 0;
    char *bytes = read_file(to, path, &size);
    struct node *root;
    int status;

    if (!bytes)
        return -1;
    root = cfm_read_yaml(to, bytes, size);
    free(bytes);
    if (!root)
        return -1;
    m->file = strdup(path);
    status = m->file ? read_machine(to, root, m) : cfm_refuse(to, ENOMEM);
    cfm_node_free(root);
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
