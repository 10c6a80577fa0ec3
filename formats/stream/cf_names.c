/* SPDX-License-Identifier: BSD-2-Clause */
/* Names and types of the tables, columns and operations that cf.h lists. */
#include <string.h>

#include "cf_wire.h"

struct name {
    unsigned id;
    const char *name;
    unsigned is; /* of a table its traits, of a column its type */
    const char *adder;
};

#define TABLE(id, number, name, traits)       {id, name, traits, NULL},
#define COLUMN(id, number, name, type, adder) {id, name, type, adder},
static const struct name tables[] = {CF_TABLES(TABLE)};
static const struct name columns[] = {CF_COLUMNS(COLUMN)};

static const struct name ops[] = {
    {CF_LOAD, "load", 0, NULL},      {CF_STORE, "store", 0, NULL},
    {CF_IFETCH, "ifetch", 0, NULL},  {CF_PREFETCH, "prefetch", 0, NULL},
    {CF_FLUSH, "flush", 0, NULL},    {CF_MAPPED, "map", 0, NULL},
    {CF_UNMAPPED, "unmap", 0, NULL}, {CF_ALLOC, "alloc", 0, NULL},
    {CF_FREE, "free", 0, NULL},      {CF_BEGIN, "begin", 0, NULL},
    {CF_EXIT, "exit", 0, NULL},      {CF_NAMED, "name", 0, NULL},
};

static const char *const classes[CF_CLASS_UNCLASSIFIED + 1] = {
    [CF_CLASS_NONE] = "none",
    [CF_CLASS_COMPULSORY] = "compulsory",
    [CF_CLASS_CAPACITY] = "capacity",
    [CF_CLASS_CONFLICT] = "conflict",
    [CF_CLASS_TRUE_SHARING] = "true_sharing",
    [CF_CLASS_FALSE_SHARING] = "false_sharing",
    [CF_CLASS_ALLOCATOR_CONFLICT] = "allocator_conflict",
    [CF_CLASS_ALLOCATOR_FALSE_SHARING] = "allocator_false_sharing",
    [CF_CLASS_UNCLASSIFIED] = "unclassified",
};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static const struct name nothing;

static const struct name *by_id(const struct name *list, size_t count, unsigned id)
{
    for (size_t i = 0; i < count; i++)
        if (list[i].id == id)
            return &list[i];
    return &nothing;
}

static unsigned by_name(const struct name *list, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i].name, name) == 0)
            return list[i].id;
    return 0;
}

const char *cf_table_name(unsigned table)
{
    return by_id(tables, COUNT(tables), table)->name;
}

unsigned cf_table_traits(unsigned table)
{
    return by_id(tables, COUNT(tables), table)->is;
}

const char *cf_column_name(unsigned column)
{
    return by_id(columns, COUNT(columns), column)->name;
}

enum cf_type cf_column_type(unsigned column)
{
    return by_id(columns, COUNT(columns), column)->is;
}

const char *cf_op_name(unsigned op)
{
    return by_id(ops, COUNT(ops), op)->name;
}

const char *cf_class_name(unsigned code)
{
    return code < COUNT(classes) ? classes[code] : NULL;
}

unsigned cf_class_find(const char *name)
{
    for (unsigned i = 0; i < COUNT(classes); i++)
        if (classes[i] && strcmp(classes[i], name) == 0)
            return i;
    return CF_CLASSES;
}

const char *cf_state_name(unsigned state)
{
    static const char *const names[2][CF_STATE_COMMON + 2] = {
        {"[unknown]", "modified", "owned", "exclusive", "shared", "modified or exclusive",
         "owned or shared", "[reserved]"},
        {"[unknown], non-secure", "modified, non-secure", "owned, non-secure",
         "exclusive, non-secure", "shared, non-secure", "modified or exclusive, non-secure",
         "owned or shared, non-secure", "[reserved], non-secure"},
    };
    const unsigned bare = state & ~(unsigned)CF_STATE_NON_SECURE;

    return names[bare != state][bare <= CF_STATE_COMMON ? bare : CF_STATE_COMMON + 1];
}

unsigned cf_table_find(const char *name)
{
    return by_name(tables, COUNT(tables), name);
}

unsigned cf_column_find(const char *name)
{
    return by_name(columns, COUNT(columns), name);
}

unsigned cf_op_find(const char *name)
{
    return by_name(ops, COUNT(ops), name);
}

const char *cf_column_adder(unsigned column)
{
    return by_id(columns, COUNT(columns), column)->adder;
}

size_t cf_type_width(enum cf_type type)
{
    static const uint8_t width[] = {0, 1, 2, 4, 8, 8, 8, 4, 0};

    return (size_t)type < sizeof(width) ? width[type] : 0;
}
