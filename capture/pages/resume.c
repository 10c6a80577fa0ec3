/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * resume.c - what an earlier output has already: FILE.partial, where it was cut off, or FILE.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/pages/pages.h"
#include "formats/base/cf_memory.h"

static char *name(const struct pages *k, const char *end)
{
    return cf_tool_text(&k->tool, "%s%s", k->o.output, end);
}

/* The counters of a frame, which are the columns that the format has no names for. Exits where they
   are not those that are asked for. */
static void take_counters(const struct pages *k, const struct cf_reader *r,
                          const struct cf_frame *f, const uint64_t **values)
{
    unsigned found = 0, others = 0;

    for (unsigned i = 0; i < f->columns; i++) {
        const unsigned id = f->column[i].id;
        const char *name = cf_column_name(id) ? NULL : cf_reader_column_name(r, id);
        unsigned c = 0;

        if (!name)
            continue;
        while (c < k->counters && strcmp(k->counter[c].column, name) != 0)
            c++;
        if (c < k->counters && f->column[i].type == CF_U64 && f->column[i].values) {
            values[c] = f->column[i].values;
            found++;
        } else {
            others++;
        }
    }
    if (found != k->counters || others)
        cf_die(&k->tool, CF_EXIT_INPUT, "--resume: %s has other counters than --counters",
               cf_reader_file(r));
}

static void take_frame(struct pages *k, const struct cf_reader *r, const struct cf_frame *f)
{
    const uint64_t *counter[PAGES_COUNTERS];
    const uint32_t *region = cf_u32(f, CF_REGION), *page = cf_u32(f, CF_PAGENO),
                   *sample = cf_u32(f, CF_SAMPLE), *best = cf_u32(f, CF_BEST),
                   *call = cf_u32(f, CF_CALL_NUMBER);
    const uint64_t *cycles = cf_u64(f, CF_RUNTIME);
    const uint8_t *policy = cf_u8(f, CF_POLICY);

    if (!region || !page || !sample || !best || !call || !cycles || !policy)
        return;
    take_counters(k, r, f, counter);
    cf_must(&k->tool, cf_array_room(&k->earlier, &k->earlier_room, k->earlier_rows + f->rows,
                                    sizeof *k->earlier));
    for (uint32_t i = 0; i < f->rows; i++) {
        struct pages_row *row = &k->earlier[k->earlier_rows++];

        *row =
            (struct pages_row){.region = cf_tool_text(&k->tool, "%s", cf_reader_text(r, region[i])),
                               .page = page[i],
                               .sample = sample[i],
                               .best = best[i],
                               .call = call[i],
                               .reading.cycles = cycles[i],
                               .policy = policy[i]};
        for (unsigned c = 0; c < k->counters; c++)
            row->reading.counter[c] = counter[c][i];
    }
}

/* The same program with the same arguments. */
static void check_command(const struct pages *k, const struct cf_header *h, const char *file)
{
    char *line = NULL;
    size_t size;
    FILE *f = open_memstream(&line, &size);

    if (f)
        cf_command_print(f, k->o.argv);
    if (!f || !cf_memory_text(f, &line))
        cf_out_of_memory(&k->tool);
    if (!h->command || strcmp(h->command, line) != 0)
        cf_die(&k->tool, CF_EXIT_INPUT, "--resume: %s is of another program: %s", file,
               h->command ? h->command : "it names none");
    free(line);
}

static void take_facts(struct pages *k, const struct cf_facts *facts)
{
    for (unsigned i = 0; i < facts->count; i++) {
        const struct cf_fact *f = &facts->fact[i];

        if (strcmp(f->column, "runtime_cycles") != 0)
            continue;
        cf_must(&k->tool, cf_array_room(&k->earlier_fact, &k->earlier_fact_room,
                                        k->earlier_facts + 1, sizeof *k->earlier_fact));
        k->earlier_fact[k->earlier_facts++] =
            (struct cf_fact){.key = cf_tool_text(&k->tool, "%s", f->key),
                             .value = cf_tool_text(&k->tool, "%s", f->value)};
    }
}

void pages_earlier_check(const struct pages *k, const char *key, const char *value)
{
    for (size_t i = 0; i < k->earlier_facts; i++) {
        const struct cf_fact *f = &k->earlier_fact[i];

        if (strcmp(f->key, key) == 0 && strcmp(f->value, value) != 0)
            cf_die(&k->tool, CF_EXIT_INPUT,
                   "--resume: %s has runs with another %s, as 'cf-cat --info' shows: nothing is "
                   "changed: give another --output",
                   k->o.output, key);
    }
}

static int read_one(struct pages *k, char *file)
{
    struct cf_reader *r;
    struct cf_frame *f;

    if (access(file, F_OK) != 0)
        return 0;
    r = cf_tool_reader(&k->tool, &file, 1);
    cf_reader_want_each(r, CF_PAGE, CF_REQUIRED, CF_RUNTIME, CF_POLICY, CF_REGION, CF_PAGENO,
                        CF_SAMPLE, CF_BEST, CF_CALL_NUMBER);
    cf_reader_want_all(r); /* counters are columns that have no fixed number */
    while (cf_reader_next(r, &f) > 0) {
        if (f->table == CF_HEADER) {
            check_command(k, f->header, file);
            take_facts(k, &f->header->facts);
        }
        if (f->table == CF_PAGE)
            take_frame(k, r, f);
    }
    /* that it was cut off is why we are here */
    if (cf_reader_refused(r))
        exit(cf_tool_problems(&k->tool, r));
    cf_reader_close(r);
    return 1;
}

void pages_earlier_read(struct pages *k)
{
    char *resumed = name(k, ".resumed"), *partial = name(k, ".partial"), *whole = name(k, "");

    if (!(read_one(k, resumed) | read_one(k, partial)))
        (void)read_one(k, whole);
}

void pages_earlier_keep(struct pages *k)
{
    char *resumed = name(k, ".resumed"), *partial = name(k, ".partial");

    if (access(resumed, F_OK) != 0 && rename(partial, resumed) != 0 && errno != ENOENT)
        cf_die(&k->tool, CF_EXIT_ENVIRONMENT, "%s: %s", partial, strerror(errno));
}

void pages_earlier_done(struct pages *k)
{
    char *resumed = name(k, ".resumed");

    (void)unlink(resumed);
}
