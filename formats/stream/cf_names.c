/* SPDX-License-Identifier: BSD-2-Clause */
/* Names and types of the tables, columns and operations that cf.h lists. */
#include <string.h>

#include "cf_wire.h"

struct name {
    unsigned id;
    const char *name;
    unsigned is; /* of a table its traits, of a column its type */
};

enum {
    TIMED = CF_TABLE_TIMED,
    EVENT = CF_TABLE_TIMED | CF_TABLE_BEFORE,
    STATE = CF_TABLE_TIMED | CF_TABLE_BEFORE | CF_TABLE_HOLDS,
};

static const struct name tables[] = {
    {CF_END, "end", 0},
    {CF_INDEX, "index", 0},
    {CF_STRING, "string", 0},
    {CF_NAME, "name", 0},
    {CF_TASK, "task", STATE},
    {CF_MAP, "map", STATE},
    {CF_STACK, "stack", 0},
    {CF_OBJECT, "object", STATE},
    {CF_SWITCH, "switch", STATE},
    {CF_SNAPSHOT, "snapshot", EVENT},
    {CF_UNPLACED, "unplaced", EVENT},
    {CF_ACCESS, "access", TIMED},
    {CF_LINE, "line", 0},
    {CF_PAGE, "page", 0},
    {CF_PROBE, "probe", 0},
    {CF_BUS, "bus", EVENT},
};

static const struct name columns[] = {
    {CF_TIME, "time", CF_U64},
    {CF_CPU, "cpu", CF_U32},
    {CF_PID, "pid", CF_U32},
    {CF_TID, "tid", CF_U32},
    {CF_OP, "op", CF_U8},
    {CF_SIZE, "size", CF_U32},
    {CF_ADDR, "addr", CF_U64},
    {CF_PHYS, "phys", CF_U64},
    {CF_PC, "pc", CF_U64},
    {CF_LEVEL, "level", CF_U8},
    {CF_WEIGHT, "weight", CF_U64},
    {CF_INSNS, "insns", CF_U32},
    {CF_START, "start", CF_U64},
    {CF_STOP, "end", CF_U64},
    {CF_OFFSET, "offset", CF_U64},
    {CF_PERMS, "perms", CF_U8},
    {CF_LABEL, "label", CF_STR},
    {CF_BYTES, "bytes", CF_U64},
    {CF_STACK_ID, "stack", CF_U32},
    {CF_PARENT, "parent", CF_U32},
    {CF_COUNT, "count", CF_U64},
    {CF_SNAP, "snapshot", CF_U32},
    {CF_SET, "set", CF_U32},
    {CF_WAY, "way", CF_U32},
    {CF_STATE, "state", CF_U8},
    {CF_MODE, "mode", CF_U8},
    {CF_COST_TOTAL, "cost_cycles", CF_U64},
    {CF_SETS, "sets", CF_U32},
    {CF_WAYS, "ways", CF_U32},
    {CF_SAMPLE, "sample", CF_U32},
    {CF_RUNTIME, "runtime_cycles", CF_U64},
    {CF_POLICY, "policy", CF_U8},
    {CF_EXPERIMENT, "experiment", CF_STR},
    {CF_PARAMETER, "parameter", CF_U64},
    {CF_REPEAT, "repeat", CF_U32},
    {CF_MISSES, "misses", CF_U64},
    {CF_MASTER, "master", CF_U32},
    {CF_TRANSFER, "transfer", CF_U8},
    {CF_BURST, "burst", CF_U32},
    {CF_REGION, "region", CF_STR},
    {CF_PAGENO, "page", CF_U32},
    {CF_OBJ, "object", CF_U32},
    {CF_SITE, "site", CF_STR},
    {CF_FUNCTION, "function", CF_STR},
    {CF_SOURCE, "source", CF_STR},
    {CF_SYMBOL, "symbol", CF_STR},
    {CF_DIST, "dist", CF_U64},
    {CF_HIT, "hit", CF_U8},
    {CF_CLASS, "class", CF_U8},
    {CF_COST, "cost", CF_U32},
    {CF_DIST_WEIGHT, "dist_weight", CF_F64},
    {CF_CLASS_BEHIND, "class_behind", CF_U8},
    {CF_ID, "id", CF_U32},
    {CF_LENGTH, "length", CF_U32},
    {CF_TEXT, "text", CF_BLOB},
    {CF_TYPE, "type", CF_U8},
    {CF_ROWS, "rows", CF_U64},
    {CF_FIRST, "first", CF_U64},
    {CF_LAST, "last", CF_U64},
    {CF_TRAILER, "trailer", CF_BLOB},
    {CF_CODE, "code", CF_BLOB},
};

static const struct name ops[] = {
    {CF_LOAD, "load", 0},         {CF_STORE, "store", 0}, {CF_IFETCH, "ifetch", 0},
    {CF_PREFETCH, "prefetch", 0}, {CF_FLUSH, "flush", 0}, {CF_MAPPED, "map", 0},
    {CF_UNMAPPED, "unmap", 0},    {CF_ALLOC, "alloc", 0}, {CF_FREE, "free", 0},
    {CF_BEGIN, "begin", 0},       {CF_EXIT, "exit", 0},   {CF_NAMED, "name", 0},
};

static const char *const classes[CF_CLASS_UNCLASSIFIED + 1] = {
    [CF_CLASS_NONE] = "none",
    [CF_CLASS_COMPULSORY] = "compulsory",
    [CF_CLASS_CAPACITY] = "capacity",
    [CF_CLASS_CONFLICT] = "conflict",
    [CF_CLASS_TRUE_SHARING] = "true_sharing",
    [CF_CLASS_FALSE_SHARING] = "false_sharing",
    [CF_CLASS_UNCLASSIFIED] = "unclassified",
};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static const struct name *by_id(const struct name *list, size_t count, unsigned id)
{
    for (size_t i = 0; i < count; i++)
        if (list[i].id == id)
            return &list[i];
    return NULL;
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
    const struct name *n = by_id(tables, COUNT(tables), table);

    return n ? n->name : NULL;
}

unsigned cf_table_traits(unsigned table)
{
    const struct name *n = by_id(tables, COUNT(tables), table);

    return n ? n->is : 0;
}

const char *cf_column_name(unsigned column)
{
    const struct name *n = by_id(columns, COUNT(columns), column);

    return n ? n->name : NULL;
}

enum cf_type cf_column_type(unsigned column)
{
    const struct name *n = by_id(columns, COUNT(columns), column);

    return n ? n->is : 0;
}

const char *cf_op_name(unsigned op)
{
    const struct name *n = by_id(ops, COUNT(ops), op);

    return n ? n->name : NULL;
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
    static const struct {
        unsigned first, last;
        const char *program;
    } adders[] = {
        {CF_REGION, CF_SYMBOL, "cf-resolve"},
        {CF_DIST, CF_DIST, "cf-distance"},
        {CF_HIT, CF_HIT, "cf-cache"},
        {CF_CLASS, CF_CLASS, "cf-classify"},
        {CF_COST, CF_COST, "cf-latency"},
        {CF_DIST_WEIGHT, CF_DIST_WEIGHT, "cf-distance"},
        {CF_CLASS_BEHIND, CF_CLASS_BEHIND, "cf-classify --rule leon4"},
    };

    for (size_t i = 0; i < COUNT(adders); i++)
        if (column >= adders[i].first && column <= adders[i].last)
            return adders[i].program;
    return NULL;
}

size_t cf_type_width(enum cf_type type)
{
    static const uint8_t width[] = {0, 1, 2, 4, 8, 8, 8, 4, 0};

    return (size_t)type < sizeof(width) ? width[type] : 0;
}
