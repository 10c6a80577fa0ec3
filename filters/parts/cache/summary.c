/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The summary of cf-cache. Both forms print the same list of columns.
 */
#include <inttypes.h>
#include <string.h>

#include "filters/parts/cache/cache_parts.h"
#include "formats/base/cf_text.h"

struct row {
    const char *name, *kind;
    uint64_t size;
    int memory;
    uint64_t accesses, misses;
    struct cf_hierarchy_counts n;
};

#define COUNT(field)                                                                               \
    {                                                                                              \
#field, offsetof(struct cf_hierarchy_counts, field)                                        \
    }

static const struct {
    const char *name;
    size_t offset;
} column[] = {
    COUNT(loads),
    COUNT(load_misses),
    COUNT(stores),
    COUNT(store_misses),
    COUNT(ifetches),
    COUNT(ifetch_misses),
    COUNT(prefetches),
    COUNT(prefetch_misses),
    COUNT(writes),
    COUNT(write_misses),
    COUNT(writebacks),
    COUNT(evictions),
    COUNT(invalidations),
    COUNT(back_invalidations),
    COUNT(flushes),
    COUNT(prefetches_issued),
    COUNT(prefetches_useful),
};

enum { COLUMNS = sizeof column / sizeof *column };

static uint64_t count_of(const struct row *r, unsigned i)
{
    uint64_t value;

    memcpy(&value, (const char *)&r->n + column[i].offset, sizeof value);
    return value;
}

static unsigned make_rows(struct row *row, const struct cf_machine *m, const struct counts *n)
{
    static const char *const kinds[] = {"unified", "data", "instruction"};

    for (unsigned i = 0; i <= m->levels; i++) {
        struct row *r = &row[i];

        memset(r, 0, sizeof *r);
        r->memory = i == m->levels;
        r->n = n->level[i];
        if (r->memory) {
            r->name = "memory";
            r->kind = "memory";
        } else {
            r->name = m->level[i].name;
            r->kind = kinds[m->level[i].kind % 3];
            r->size = m->level[i].size;
        }
        r->accesses = r->n.loads + r->n.stores + r->n.ifetches;
        r->misses = r->n.load_misses + r->n.store_misses + r->n.ifetch_misses;
    }
    return m->levels + 1;
}

static double ratio(const struct row *r)
{
    return r->accesses ? (double)r->misses / (double)r->accesses : 0;
}

void summary_csv(FILE *out, const struct cf_machine *m, const struct counts *n)
{
    struct row row[CF_MAX_LEVELS + 1];
    unsigned rows = make_rows(row, m, n);

    fputs("level,kind,size_bytes,line_accesses,misses,miss_ratio", out);
    for (unsigned k = 0; k < COLUMNS; k++)
        cf_csv_text(out, 0, column[k].name);
    cf_csv_end(out);
    for (unsigned i = 0; i < rows; i++) {
        cf_csv_print(out, "%s,%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.6f", row[i].name,
                     row[i].kind, row[i].size, row[i].accesses, row[i].misses, ratio(&row[i]));
        for (unsigned k = 0; k < COLUMNS; k++)
            cf_csv_u64(out, 0, count_of(&row[i], k));
        cf_csv_end(out);
    }
}

/* Levels stand in columns and counts in rows, since there are few of the one and many of the
   other. */
void summary_table(FILE *out, const struct cf_machine *m, const struct counts *n, unsigned cores)
{
    struct row row[CF_MAX_LEVELS + 1];
    unsigned rows = make_rows(row, m, n);
    char name[512];

    fprintf(out, "%s, %u core%s\n\n%-20s", cf_text_safe(name, sizeof name, m->name), cores,
            cores == 1 ? "" : "s", "");
    for (unsigned i = 0; i < rows; i++)
        fprintf(out, " %14s", cf_text_safe(name, sizeof name, row[i].name));
    fprintf(out, "\n%-20s", "line accesses");
    for (unsigned i = 0; i < rows; i++)
        fprintf(out, " %14" PRIu64, row[i].accesses);
    fprintf(out, "\n%-20s", "misses");
    for (unsigned i = 0; i + 1 < rows; i++)
        fprintf(out, " %14" PRIu64, row[i].misses);
    fprintf(out, "\n%-20s", "miss ratio");
    for (unsigned i = 0; i + 1 < rows; i++)
        fprintf(out, " %13.3f%%", 100 * ratio(&row[i]));
    fputs("\n\n", out);
    for (unsigned k = 0; k < COLUMNS; k++) {
        uint64_t any = 0;

        for (unsigned i = 0; i < rows; i++)
            any |= count_of(&row[i], k);
        if (!any)
            continue;
        snprintf(name, sizeof name, "%s", column[k].name);
        for (char *c = name; *c; c++)
            if (*c == '_')
                *c = ' ';
        fprintf(out, "%-20s", name);
        for (unsigned i = 0; i < rows; i++) {
            /* memory has no misses and evicts nothing */
            if (row[i].memory && !count_of(&row[i], k))
                break;
            fprintf(out, " %14" PRIu64, count_of(&row[i], k));
        }
        putc('\n', out);
    }
}
