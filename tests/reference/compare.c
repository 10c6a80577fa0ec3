/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * compare.c - the model over the stream of a run, and every row and counter of the programs
 * compared with it.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/stream/cf.h"
#include "tests/reference/programs.h"

static const char *const class_names[CLASSES] = {"",         "compulsory",   "capacity",
                                                 "conflict", "true_sharing", "false_sharing"};
static const char *const op_names[OPS] = {"", "load", "store", "ifetch", "prefetch", "flush"};

/* ---- the model ---- */

/* "Core" in cf-cache(1): the cpu modulo the cores, or threads in turn; processes by number. */
struct owner {
    uint32_t pid, tid;
};

static unsigned number_of(struct owner *list, unsigned *count, uint32_t pid, uint32_t tid)
{
    for (unsigned i = 0; i < *count; i++)
        if (list[i].pid == pid && list[i].tid == tid)
            return i;
    if (*count == 1024)
        abort();
    list[*count] = (struct owner){pid, tid};
    return (*count)++;
}

void cores_of(const struct run *r, unsigned *core)
{
    const struct stream *s = &r->stream;
    struct owner *threads = array(1024, sizeof(*threads));
    unsigned count = 0;

    for (unsigned i = 0; i < s->rows; i++)
        core[i] = (s->has_cpu ? s->row[i].cpu
                              : number_of(threads, &count, s->has_pid ? s->row[i].pid : 0,
                                          s->has_tid ? s->row[i].tid : 0)) %
                  r->machine.cores;
    free(threads);
}

void run_model(struct model *m, struct classes *c, const struct run *r, uint8_t *hit,
               uint8_t *class)
{
    const struct stream *s = &r->stream;
    struct owner *processes = array(1024, sizeof(*processes));
    unsigned *core = array(s->rows, sizeof(*core)), process_count = 0;

    cores_of(r, core);
    for (unsigned i = 0; i < s->rows; i++) {
        struct row row = s->row[i];
        const uint32_t pid = s->has_pid ? row.pid : 0;
        unsigned process = number_of(processes, &process_count, pid, 0);

        row.size = s->has_size ? row.size : 1;
        row.op = s->has_op ? row.op : LOAD;
        if (s->physical && !c) {
            row.addr = row.phys;
            process = 0;
        }
        hit[i] = (uint8_t)model_row(m, &row, core[i], process);
        if (c)
            class[i] = (uint8_t)classes_row(c);
    }
    free(core);
    free(processes);
}

/* ---- comparisons ---- */

static int same_rows(const struct run *r, const char *program, unsigned column,
                     const uint8_t *expected, char *what, size_t size)
{
    uint8_t *got = read_column(column, r->stream.rows);
    unsigned i = 0;

    if (!got) {
        snprintf(what, size, "%s: rows without %s", program, cf_column_name(column));
        return 0;
    }
    while (i < r->stream.rows && got[i] == expected[i])
        i++;
    if (i < r->stream.rows)
        snprintf(what, size, "%s: row %u, %s %u, by the model %u", program, i,
                 cf_column_name(column), got[i], expected[i]);
    free(got);
    return i == r->stream.rows;
}

static int compare_cache(const struct run *r, uint8_t *hit, char *what, size_t size)
{
    struct model *m;
    int same;

    if (run_one(r, 0, what, size) != 0)
        return 0;
    m = model_new(&r->machine, NULL, NULL);
    run_model(m, NULL, r, hit, NULL);
    same = same_rows(r, "cf-cache", CF_HIT, hit, what, size);
    for (unsigned i = 0; same && i <= r->machine.levels; i++)
        for (unsigned k = 0; same && k < COUNTS; k++) {
            char key[32] = "memory,";
            uint64_t got = 0;

            if (i < r->machine.levels)
                snprintf(key, sizeof(key), "L%u,", i);
            same = summary_number(key, count_names[k], &got) && got == model_counts(m, i)[k];
            if (!same)
                snprintf(what, size, "cf-cache: %s%s %" PRIu64 ", by the model %" PRIu64, key,
                         count_names[k], got, model_counts(m, i)[k]);
        }
    model_free(m);
    return same;
}

static int same_classes(const struct classes *c, const struct run *r, char *what, size_t size)
{
    for (unsigned level = 0; level < r->machine.levels; level++)
        for (enum op op = LOAD; op < OPS; op++) {
            uint64_t misses[CLASSES] = {0}, got = 0;
            const uint64_t references = classes_counts(c, level, op, misses);
            char key[32];

            snprintf(key, sizeof(key), "L%u,%s,", level, op_names[op]);
            summary_number(key, "references", &got);
            if (got != references) {
                snprintf(what, size, "cf-classify: %sreferences %" PRIu64 ", by the model %" PRIu64,
                         key, got, references);
                return 0;
            }
            for (unsigned k = COMPULSORY; references && k < CLASSES; k++)
                if (!summary_number(key, class_names[k], &got) || got != misses[k]) {
                    snprintf(what, size, "cf-classify: %s%s %" PRIu64 ", by the model %" PRIu64,
                             key, class_names[k], got, misses[k]);
                    return 0;
                }
        }
    return 1;
}

static int compare_classify(const struct run *r, uint8_t *hit, uint8_t *class, char *what,
                            size_t size)
{
    struct machine plain = r->machine;
    struct classes *c;
    struct model *m;
    int same, latency = 0;

    if (run_one(r, 1, what, size) != 0)
        return 0;
    for (unsigned i = 0; i < plain.levels; i++) {
        plain.level[i].prefetcher = NO_PREFETCHER;
        memset(plain.level[i].mask, 0, sizeof(plain.level[i].mask));
        latency |= plain.level[i].latency;
    }
    c = classes_new(&plain, r->classify_level);
    m = model_new(&plain, classes_see, c);
    run_model(m, c, r, hit, class);
    same = same_rows(r, "cf-classify", CF_CLASS, class, what, size) &&
           (!latency || same_rows(r, "cf-classify", CF_HIT, hit, what, size)) &&
           same_classes(c, r, what, size);
    model_free(m);
    classes_free(c);
    return same;
}

int compare_run(const struct run *r, char *what, size_t size)
{
    uint8_t *hit = array(r->stream.rows, 1), *class = array(r->stream.rows, 1);
    int same;

    write_run(r);
    same = compare_cache(r, hit, what, size) &&
           (r->classify_level < -1 || compare_classify(r, hit, class, what, size));
    free(hit);
    free(class);
    return same ? 0 : -1;
}

/* ---- what is shown ---- */

/* Leaves rows from..to out, if the difference then stays. */
static int leave_out(struct run *r, unsigned from, unsigned to)
{
    char what[512];
    struct run less = *r;
    const unsigned n = to - from;

    less.stream.rows -= n;
    less.stream.row = array(less.stream.rows, sizeof(struct row));
    memcpy(less.stream.row, r->stream.row, from * sizeof(struct row));
    memcpy(less.stream.row + from, r->stream.row + to, (r->stream.rows - to) * sizeof(struct row));
    if (compare_run(&less, what, sizeof(what)) == 0) {
        free(less.stream.row);
        return 0;
    }
    free(r->stream.row);
    *r = less;
    return 1;
}

void shrink_run(struct run *r)
{
    unsigned tries = 2000;

    for (unsigned piece = r->stream.rows / 2; piece; piece /= 2)
        for (unsigned from = 0; from + piece <= r->stream.rows && tries--;)
            if (r->stream.rows == piece || !leave_out(r, from, from + piece))
                from += piece;
}

void print_run(FILE *out, const struct run *r)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *f = open_memstream(&text, &bytes);

    if (!f)
        abort();
    fprintf(f, "machine.yaml:\n");
    print_machine(f, &r->machine);
    print_commands(f, r);
    print_rows(f, &r->stream);
    fclose(f);
    for (char *rest, *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        fprintf(out, "# %s\n", line);
    free(text);
}
