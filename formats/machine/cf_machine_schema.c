/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The schema of machine descriptions (cf-machine(5)): walks the tree of a file and knows every key,
 * so that a misspelt one is an error and never a default.
 */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cf_machine_parts.h"
#include "formats/base/cf_number.h"
#include "formats/base/cf_text.h"

enum { MAX_FILE = 1 << 20 };

static const char *const kind_names[] = {"unified", "data", "instruction"};
#define NAME(id, name, bits, traits) name,
static const char *const policy_names[] = {CF_POLICIES(NAME)};
static const char *const inclusion_names[] = {"non-inclusive", "inclusive", "exclusive"};
static const char *const index_names[] = {"plain", "hashed"};
static const char *const write_names[] = {"through", "back"};
static const char *const bool_names[] = {"false", "true"};
static const char *const rule_names[] = {"total", "added"};

const char *cf_policy_name(enum cf_replacement policy)
{
    return (size_t)policy < CF_POLICY_COUNT ? policy_names[policy] : NULL;
}

unsigned cf_policy_traits(enum cf_replacement policy)
{
#define TRAITS(id, name, bits, traits) traits,
    static const uint8_t list[] = {CF_POLICIES(TRAITS)};

    return (size_t)policy < CF_POLICY_COUNT ? list[policy] : 0;
}

unsigned cf_policy_bits(enum cf_replacement policy)
{
#define BITS(id, name, bits, traits) bits,
    static const uint8_t list[] = {CF_POLICIES(BITS)};

    return (size_t)policy < CF_POLICY_COUNT ? list[policy] : 0;
}

static int get_number(const struct report *to, const struct cf_yaml *key, int sizes, uint64_t least,
                      uint64_t most, uint64_t *value)
{
    const struct cf_yaml *n = key->next;

    if (n->kind != CF_YAML_TEXT)
        return cfm_fail(to, n->line, "'%s' is %s: give a number", key->text,
                        cf_yaml_kinds[n->kind]);
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

int cfm_get_u32(const struct report *to, const struct cf_yaml *key, uint32_t least, uint32_t most,
                uint32_t *value)
{
    uint64_t v;

    if (get_number(to, key, 0, least, most, &v) < 0)
        return -1;
    *value = (uint32_t)v;
    return 0;
}

/* What stands after a key, and where it goes. */
struct key {
    const char *name;
    enum { NUMBER, SIZE, POWER, PAGE, TEXT, CHOICE, OTHER } kind;
    uint8_t required;
    uint16_t bytes; /* of the field; OTHER: none, its reader comes later */
    size_t offset;
    uint64_t least, most; /* of a number; of a text the bytes; of a choice most + 1 names */
    const char *const *names;
};

#define KEY(key, is, type, field, ...)                                                             \
    {                                                                                              \
        .name = key, .kind = is, .bytes = sizeof(((struct type *)NULL)->field),                    \
        .offset = offsetof(struct type, field), __VA_ARGS__                                        \
    }
#define WITHIN(first, last) .least = first, .most = last
#define ONE_OF(list)        .names = list, .most = COUNT(list) - 1
#define REQUIRED            .required = 1

static const struct key machine_keys[] = {
    KEY("name", TEXT, cf_machine, name, WITHIN(0, sizeof(((struct cf_machine *)NULL)->name) - 1)),
    {.name = "source", .kind = OTHER},
    KEY("cpus", NUMBER, cf_machine, cpus, WITHIN(1, 65536)),
    KEY("clock_hz", NUMBER, cf_machine, clock_hz, WITHIN(1, UINT64_C(1000000000000))),
    KEY("line_size", POWER, cf_machine, line_size, WITHIN(4, 65536), REQUIRED),
    {.name = "levels", .kind = OTHER, REQUIRED},
    {.name = "latency", .kind = OTHER},
    {.name = "latency_source", .kind = OTHER},
    KEY("latency_rule", CHOICE, cf_machine, latency_rule, ONE_OF(rule_names)),
    {.name = "tlb", .kind = OTHER},
};

static const struct key level_keys[] = {
    KEY("name", TEXT, cf_level, name, WITHIN(1, sizeof(((struct cf_level *)NULL)->name) - 1),
        REQUIRED),
    KEY("kind", CHOICE, cf_level, kind, ONE_OF(kind_names)),
    KEY("size", SIZE, cf_level, size, WITHIN(1, UINT64_C(1) << 46), REQUIRED),
    KEY("ways", NUMBER, cf_level, ways, WITHIN(1, CF_MAX_WAYS), REQUIRED),
    KEY("line_size", POWER, cf_level, line, WITHIN(4, 65536)),
    KEY("shared_by", NUMBER, cf_level, shared_by, WITHIN(1, 65536)),
    KEY("policy", CHOICE, cf_level, policy, ONE_OF(policy_names)),
    KEY("write", CHOICE, cf_level, write_back, ONE_OF(write_names)),
    KEY("allocate", CHOICE, cf_level, write_allocate, ONE_OF(bool_names)),
    KEY("inclusion", CHOICE, cf_level, inclusion, ONE_OF(inclusion_names)),
    KEY("depth", NUMBER, cf_level, depth, WITHIN(1, CF_MAX_LEVELS)),
    KEY("index", CHOICE, cf_level, indexing, ONE_OF(index_names)),
};

static const struct key tlb_keys[] = {
    KEY("entries", NUMBER, cf_tlb, entries, WITHIN(1, 1 << 24), REQUIRED),
    KEY("ways", NUMBER, cf_tlb, ways, WITHIN(1, 1 << 24)),
    KEY("page_size", PAGE, cf_tlb, page_size, WITHIN(512, UINT64_C(1) << 40), REQUIRED),
};

static int get_text(const struct report *to, const struct cf_yaml *key, const struct key *as,
                    char *value)
{
    const struct cf_yaml *n = key->next;

    if (n->kind != CF_YAML_TEXT)
        return cfm_fail(to, n->line, "'%s' is %s: give a text", key->text, cf_yaml_kinds[n->kind]);
    if (strlen(n->text) > as->most)
        return cfm_fail(to, n->line, "'%s' is longer than %" PRIu64 " bytes: shorten it", key->text,
                        as->most);
    if (strlen(n->text) < as->least)
        return cfm_fail(to, key->line, "a level has an empty name: name it, as in L1D");
    strcpy(value, n->text);
    return 0;
}

/* Number of the value among the names. */
static int get_choice(const struct report *to, const struct cf_yaml *key, const struct key *as,
                      uint64_t *value)
{
    const struct cf_yaml *n = key->next;
    const size_t count = as->most + 1;
    char list[256];

    cfm_name_list(list, sizeof list, as->names, count);
    if (n->kind != CF_YAML_TEXT)
        return cfm_fail(to, n->line, "'%s' is %s: give one of %s", key->text,
                        cf_yaml_kinds[n->kind], list);
    *value = cfm_key_index(n->text, as->names, count);
    if (*value < count)
        return 0;
    return cfm_fail(to, n->line, "'%s: %s' is not known: give one of %s", key->text, n->text, list);
}

static int get_value(const struct report *to, const struct cf_yaml *key, const struct key *as,
                     void *into)
{
    char *field = (char *)into + as->offset;
    uint64_t v;

    if (as->kind == TEXT)
        return get_text(to, key, as, field);
    if (as->kind == CHOICE ? get_choice(to, key, as, &v) < 0
                           : get_number(to, key, as->kind != NUMBER, as->least, as->most, &v) < 0)
        return -1;
    if ((as->kind == POWER || as->kind == PAGE) && !cf_is_power_of_two(v))
        return cfm_fail(
            to, key->next->line, "'%s: %s' is no power of two: %s", key->text, key->next->text,
            as->kind == PAGE ? "pages are 4KiB, 2MiB, ..." : "lines are 16, 32, 64, ...");
    if (as->bytes == sizeof(uint64_t))
        memcpy(field, &v, sizeof v);
    else if (as->bytes == sizeof(uint32_t))
        memcpy(field, &(uint32_t){(uint32_t)v}, sizeof(uint32_t));
    else
        *(uint8_t *)field = (uint8_t)v;
    return 0;
}

/* Reads the mapping `n` by its keys; found[i] is the node of keys[i], or NULL. Those of kind OTHER
   are left to the caller. */
static int read_keys(const struct report *to, const struct cf_yaml *n, const char *what,
                     const struct key *keys, size_t count, void *into, const struct cf_yaml **found)
{
    for (const struct cf_yaml *k = n->child; k; k = k->next->next) {
        size_t i = 0;

        while (i < count && strcmp(k->text, keys[i].name) != 0)
            i++;
        if (i == count) {
            const char *names[COUNT(level_keys)];

            for (i = 0; i < count; i++)
                names[i] = keys[i].name;
            return cfm_unknown_key(to, k, what, names, count);
        }
        found[i] = k;
        if (keys[i].kind != OTHER && get_value(to, k, &keys[i], into) < 0)
            return -1;
    }
    return 0;
}

int cfm_unknown_key(const struct report *to, const struct cf_yaml *key, const char *where,
                    const char *const *names, size_t count)
{
    char list[256];

    return cfm_fail(to, key->line, "unknown key '%s' in %s: known are %s", key->text, where,
                    cfm_name_list(list, sizeof list, names, count));
}

size_t cfm_key_index(const char *key, const char *const *names, size_t count)
{
    size_t i = 0;

    while (i < count && strcmp(key, names[i]) != 0)
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
    if (cf_policy_traits(l->policy) & CF_POLICY_POWER_OF_TWO && !cf_is_power_of_two(l->ways))
        return cfm_fail(to, line,
                        "%s: %s wants a power of two of ways, not %" PRIu32 ": use bit-plru or nru",
                        l->name, cf_policy_name(l->policy), l->ways);
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

static int read_level(const struct report *to, const struct cf_yaml *n, struct cf_machine *m)
{
    const struct cf_yaml *found[COUNT(level_keys)] = {NULL};
    struct cf_level *l = &m->level[m->levels];

    if (n->kind != CF_YAML_MAP)
        return cfm_fail(to, n->line, "a level is %s: give {name: ..., size: ..., ways: ...}",
                        cf_yaml_kinds[n->kind]);
    *l = (struct cf_level){
        .line = m->line_size, .shared_by = 1, .write_back = 1, .write_allocate = 1};
    if (read_keys(to, n, "a level", level_keys, COUNT(level_keys), l, found) < 0)
        return -1;
    for (size_t i = 0; i < COUNT(level_keys); i++)
        if (level_keys[i].required && !found[i])
            return cfm_fail(to, n->line, "level %s has no '%s': add it",
                            l->name[0] ? l->name : "without name", level_keys[i].name);
    if (cfm_settle_level(to, n->line, m, m->levels) < 0)
        return -1;
    m->levels++;
    return 0;
}

static int read_levels(const struct report *to, const struct cf_yaml *n, struct cf_machine *m)
{
    if (n->kind != CF_YAML_LIST)
        return cfm_fail(to, n->line, "'levels' is %s: give a list, one cache a line after '- '",
                        cf_yaml_kinds[n->kind]);
    if (!n->child)
        return cfm_fail(to, n->line, "'levels' is empty: describe at least one cache");
    for (const struct cf_yaml *l = n->child; l; l = l->next) {
        if (m->levels == CF_MAX_LEVELS)
            return cfm_fail(to, l->line, "more than %d levels: remove some", CF_MAX_LEVELS);
        if (read_level(to, l, m) < 0)
            return -1;
    }
    return 0;
}

/* A list from the core outwards: of pages of one size, each level has more entries than those
   before it. */
static int read_tlbs(const struct report *to, const struct cf_yaml *n, struct cf_machine *m)
{
    if (n->kind != CF_YAML_LIST)
        return cfm_fail(to, n->line, "'tlb' is %s: give a list, one level a line after '- '",
                        cf_yaml_kinds[n->kind]);
    for (const struct cf_yaml *e = n->child; e; e = e->next) {
        const struct cf_yaml *found[COUNT(tlb_keys)] = {NULL};
        struct cf_tlb *b = &m->tlb[m->tlbs];

        if (m->tlbs == CF_MAX_TLBS)
            return cfm_fail(to, e->line, "more than %d levels of tlb: remove some", CF_MAX_TLBS);
        if (e->kind != CF_YAML_MAP)
            return cfm_fail(to, e->line,
                            "a level of tlb is %s: give {entries: ..., page_size: ...}",
                            cf_yaml_kinds[e->kind]);
        if (read_keys(to, e, "a level of tlb", tlb_keys, COUNT(tlb_keys), b, found) < 0)
            return -1;
        for (size_t i = 0; i < COUNT(tlb_keys); i++)
            if (tlb_keys[i].required && !found[i])
                return cfm_fail(to, e->line, "a level of tlb has no '%s': add it",
                                tlb_keys[i].name);
        if (b->ways && b->entries % b->ways)
            return cfm_fail(to, e->line,
                            "tlb: %" PRIu32 " entries are no multiple of %" PRIu32
                            " ways: correct one of the two",
                            b->entries, b->ways);
        for (uint32_t i = 0; i < m->tlbs; i++)
            if (m->tlb[i].page_size == b->page_size && m->tlb[i].entries >= b->entries)
                return cfm_fail(to, e->line,
                                "tlb: a level before it has %" PRIu32
                                " entries for these pages: list the levels from the core outwards",
                                m->tlb[i].entries);
        m->tlbs++;
    }
    return 0;
}

/* A text of any length. */
static int keep_text(const struct report *to, const struct cf_yaml *key, char **text)
{
    const struct cf_yaml *n = key->next;

    if (n->kind != CF_YAML_TEXT)
        return cfm_fail(to, n->line, "'%s' is %s: give a text", key->text, cf_yaml_kinds[n->kind]);
    *text = strdup(n->text);
    return *text ? 0 : cfm_refuse(to, ENOMEM);
}

/* GRADE: where from. */
static int read_latency_source(const struct report *to, const struct cf_yaml *key,
                               struct cf_machine *m)
{
    static const char *const grades[] = {"manual", "measured", "derived", "estimate"};
    char list[256];
    size_t length;

    if (keep_text(to, key, &m->latency_source) < 0)
        return -1;
    length = strcspn(m->latency_source, ":");
    for (size_t i = 0; m->latency_source[length] && i < COUNT(grades); i++)
        if (strlen(grades[i]) == length && memcmp(m->latency_source, grades[i], length) == 0)
            return 0;
    return cfm_fail(
        to, key->next->line,
        "'latency_source' does not begin with a grade: give one of %s, a colon and where"
        " the numbers come from",
        cfm_name_list(list, sizeof list, grades, COUNT(grades)));
}

static int read_machine(const struct report *to, const struct cf_yaml *root, struct cf_machine *m)
{
    enum { NAME, SOURCE, CPUS, CLOCK, LINE, LEVELS, LATENCY, LATENCY_SOURCE, RULE, TLB };
    const struct cf_yaml *found[COUNT(machine_keys)] = {NULL};

    if (root->kind != CF_YAML_MAP)
        return cfm_fail(to, root->line,
                        "is %s: a description is a mapping with line_size and levels",
                        cf_yaml_kinds[root->kind]);
    if (read_keys(to, root, "a machine", machine_keys, COUNT(machine_keys), m, found) < 0)
        return -1;
    for (size_t i = 0; i < COUNT(machine_keys); i++)
        if (machine_keys[i].required && !found[i])
            return cfm_fail(to, root->line, "has no '%s': add it", machine_keys[i].name);
    if ((found[SOURCE] && keep_text(to, found[SOURCE], &m->source) < 0) ||
        (found[LATENCY_SOURCE] && read_latency_source(to, found[LATENCY_SOURCE], m) < 0))
        return -1;
    if (read_levels(to, found[LEVELS]->next, m) < 0 ||
        (found[LATENCY] && cfm_read_latency(to, found[LATENCY]->next, m) < 0) ||
        (found[TLB] && read_tlbs(to, found[TLB]->next, m) < 0))
        return -1;
    return cfm_settle_cpus(to, found[CPUS] ? found[CPUS]->line : found[LEVELS]->line, m);
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
    static const struct cf_yaml_rules rules = {.depth = 8, .values = 4096, .unique = 1};
    size_t size = 0;
    char *bytes = read_file(to, path, &size);
    struct cf_yaml_problem wrong;
    struct cf_yaml *root;
    int status;

    if (!bytes)
        return -1;
    status = cf_yaml_read(bytes, size, &rules, &root, &wrong);
    free(bytes);
    if (status != 0)
        return wrong.no_memory ? cfm_refuse(to, ENOMEM)
                               : cfm_fail(to, wrong.line, "%s", wrong.text);
    if (!root)
        return cfm_fail(to, 0, "is empty: a description has at least line_size and levels");
    m->file = strdup(path);
    status = m->file ? read_machine(to, root, m) : cfm_refuse(to, ENOMEM);
    cf_yaml_free(root);
    if (status == 0 && !m->name[0]) {
        char *const slash = strrchr(m->file, '/'), *const base = slash ? slash + 1 : m->file;
        const size_t length = strlen(base);
        const int ends = length > 5 && strcmp(base + length - 5, ".yaml") == 0;

        base[length - (ends ? 5 : 0)] = '\0';
        cf_text_safe(m->name, sizeof m->name, base);
        base[length - (ends ? 5 : 0)] = ends ? '.' : '\0';
    }
    return status;
}
