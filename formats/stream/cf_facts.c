/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Facts of columns, which a header holds under `columns`. A list is short (CF_MAX_FACTS) and
 * searched from its start.
 */
#include <stdlib.h>

#include "cf_wire.h"
#include "formats/base/cf_number.h"

/* The first of the column, whose key is `key` unless that is NULL. */
static struct cf_fact *find(const struct cf_facts *l, const char *column, const char *key)
{
    for (unsigned i = 0; i < l->count; i++)
        if (!strcmp(l->fact[i].column, column) && (!key || !strcmp(l->fact[i].key, key)))
            return &l->fact[i];
    return NULL;
}

int cf_facts_add(struct cf_facts *l, const char *column, const char *key, const char *value,
                 int number)
{
    const size_t first = strlen(column) + 1, second = strlen(key) + 1;
    struct cf_fact *fact;
    char *text;

    if (!(l->count & (l->count - 1))) {
        fact = realloc(l->fact, (l->count ? 2 * l->count : 1) * sizeof(*fact));
        if (!fact)
            return -1;
        l->fact = fact;
    }
    text = malloc(first + second + strlen(value) + 1);
    if (!text)
        return -1;
    l->fact[l->count++] = (struct cf_fact){.column = strcpy(text, column),
                                           .key = strcpy(text + first, key),
                                           .value = strcpy(text + first + second, value),
                                           .number = number};
    return 0;
}

/* `fact` is one of the list, which keeps its order. */
static void drop(struct cf_facts *l, struct cf_fact *fact)
{
    struct cf_fact *end = l->fact + l->count--;

    free((char *)(uintptr_t)fact->column);
    memmove(fact, fact + 1, (size_t)(end - fact - 1) * sizeof(*fact));
}

void cf_facts_clear(struct cf_facts *l)
{
    while (l->count)
        drop(l, &l->fact[l->count - 1]);
    free(l->fact);
    l->fact = NULL;
}

void cf_facts_drop(struct cf_facts *l, const char *column, const char *key)
{
    struct cf_fact *fact;

    while ((fact = find(l, column, key)))
        drop(l, fact);
}

const char *cf_facts_refuse(const struct cf_facts *l, const char *column, const char *key)
{
    return find(l, column, key)       ? "a fact of a column stands twice"
           : l->count == CF_MAX_FACTS ? "more than 1024 facts of columns"
                                      : NULL;
}

const char *cf_header_fact(const struct cf_header *h, const char *column, const char *key)
{
    const struct cf_fact *fact = find(&h->facts, column, key);

    return fact ? fact->value : NULL;
}

int cf_header_number(const struct cf_header *h, const char *column, const char *key,
                     uint64_t *value)
{
    const struct cf_fact *fact = find(&h->facts, column, key);

    if (!fact)
        return 0;
    if (!fact->number || cf_read_number(fact->value, CF_READ_DECIMAL, UINT64_MAX, value) != 0)
        return -1;
    return 1;
}

int cf_facts_join(struct cf_facts *all, const struct cf_facts *old, const struct cf_facts *new)
{
    int result = 0;

    for (unsigned i = 0; i < old->count && !result; i++) {
        const struct cf_fact *f = &old->fact[i];

        if (!find(new, f->column, NULL))
            result = cf_facts_add(all, f->column, f->key, f->value, f->number);
    }
    for (unsigned i = 0; i < new->count && !result; i++) {
        const struct cf_fact *f = &new->fact[i];

        result = cf_facts_add(all, f->column, f->key, f->value, f->number);
    }
    return result;
}
