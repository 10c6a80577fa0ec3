/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * make_partial PROGRAM OPTIONS: a partial result of that program with these options, as it would
 * not write it, for partial.bats, cf-cache.bats and cf-classify.bats. Lines of standard input are,
 * in their order:
 *
 *   segment N       a header, of segment N; 0: of none
 *   part N OF       headers from here on are of part N of so many
 *   sets N OF       of part N of the sets
 *   row E A B C     a row of table partial: entry and three keys
 *   sums E A B N    17 sums with two keys; each is N
 *   accesses N      N accesses at distance 0
 *
 * Memory: a row, 16,384 accesses.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/stream/cf.h"

enum { SUMS = 17 };

static struct cf_writer *w;

static void must(int failed)
{
    if (!failed)
        return;
    fprintf(stderr, "make_partial: %s\n", cf_writer_problem(w));
    exit(3);
}

static void put_header(const char *program, const char *options, uint64_t segment)
{
    must(cf_writer_fact(w, "partial", "program", program) |
         cf_writer_fact(w, "partial", "version", CF_VERSION) |
         cf_writer_fact(w, "partial", "options", options) |
         (segment ? cf_writer_number(w, "partial", "segment", segment) : 0));
    must(cf_writer_header(w, &(struct cf_header){.source = (char *)(uintptr_t) "make_partial"}));
}

static void put_part(uint64_t number, uint64_t parts)
{
    must(cf_writer_number(w, "part", "number", number) |
         cf_writer_number(w, "part", "parts", parts) | cf_writer_fact(w, "part", "input", "0") |
         cf_writer_number(w, "part", "bytes", 1) | cf_writer_number(w, "part", "before", 0) |
         cf_writer_number(w, "part", "chain", 0));
}

static void put_sets(uint64_t number, uint64_t parts)
{
    must(cf_writer_number(w, "partial", "set_part", number) |
         cf_writer_number(w, "partial", "set_parts", parts));
}

static void put_sums(const uint64_t *value)
{
    struct cf_values row[3 + SUMS] = {
        {CF_ENTRY, NULL, value[0]}, {CF_KEY1, NULL, value[1]}, {CF_KEY2, NULL, value[2]}};

    for (unsigned i = 0; i < SUMS; i++)
        row[3 + i] = (struct cf_values){CF_SUM1 + i, NULL, value[3]};
    must(cf_writer_rows(w, CF_PARTIAL, 1, row, 3 + SUMS, NULL) | cf_writer_flush(w));
}

static void put_row(const uint64_t *value)
{
    const struct cf_values row[] = {{CF_ENTRY, NULL, value[0]},
                                    {CF_KEY1, NULL, value[1]},
                                    {CF_KEY2, NULL, value[2]},
                                    {CF_KEY3, NULL, value[3]}};

    must(cf_writer_rows(w, CF_PARTIAL, 1, row, 4, NULL) | cf_writer_flush(w));
}

static void put_accesses(uint32_t rows)
{
    const struct cf_values access[] = {{CF_TIME, NULL, 1}, {CF_ADDR, NULL, 64}, {CF_DIST, NULL, 0}};

    must(cf_writer_rows(w, CF_ACCESS, rows, access, 3, NULL) | cf_writer_flush(w));
}

int main(int argc, char **argv)
{
    char line[256], problem[256] = "";

    w = argc == 3 ? cf_writer_pipe(1, argv[1]) : NULL;
    if (!w)
        return 2;
    while (fgets(line, sizeof(line), stdin)) {
        uint64_t n[4];

        if (sscanf(line, "segment %" SCNu64, n) == 1)
            put_header(argv[1], argv[2], n[0]);
        else if (sscanf(line, "part %" SCNu64 " %" SCNu64, n, n + 1) == 2)
            put_part(n[0], n[1]);
        else if (sscanf(line, "sets %" SCNu64 " %" SCNu64, n, n + 1) == 2)
            put_sets(n[0], n[1]);
        else if (sscanf(line, "sums %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64, n, n + 1, n + 2,
                        n + 3) == 4)
            put_sums(n);
        else if (sscanf(line, "row %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64, n, n + 1, n + 2,
                        n + 3) == 4)
            put_row(n);
        else if (sscanf(line, "accesses %" SCNu64, n) == 1 && n[0] <= CF_WIRE_ROWS)
            put_accesses((uint32_t)n[0]);
        else
            return 2;
    }
    if (cf_writer_close(w, 1, problem, sizeof(problem)) == 0)
        return 0;
    fprintf(stderr, "make_partial: %s\n", problem);
    return 3;
}
