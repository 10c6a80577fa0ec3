/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * make_partial OPTIONS: a partial result of cf-distance with these options, as no cf-distance would
 * write it, for partial.bats. Lines of standard input are, in their order:
 *
 *   segment N       a header, of segment N
 *   part N OF       headers from here on are of part N of so many
 *   row E A B C     a row of table partial: entry and three keys
 *   accesses N      N accesses at distance 0
 *
 * Memory: a row, 16,384 accesses.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/stream/cf.h"

static struct cf_writer *w;

static void must(int failed)
{
    if (!failed)
        return;
    fprintf(stderr, "make_partial: %s\n", cf_writer_problem(w));
    exit(3);
}

static void put_header(const char *options, uint64_t segment)
{
    must(cf_writer_fact(w, "partial", "program", "cf-distance") |
         cf_writer_fact(w, "partial", "version", CF_VERSION) |
         cf_writer_fact(w, "partial", "options", options) |
         cf_writer_number(w, "partial", "segment", segment));
    must(cf_writer_header(w, &(struct cf_header){.source = (char *)(uintptr_t) "make_partial"}));
}

static void put_part(uint64_t number, uint64_t parts)
{
    must(cf_writer_number(w, "part", "number", number) |
         cf_writer_number(w, "part", "parts", parts) | cf_writer_fact(w, "part", "input", "0") |
         cf_writer_number(w, "part", "bytes", 1) | cf_writer_number(w, "part", "before", 0) |
         cf_writer_number(w, "part", "chain", 0));
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

    w = cf_writer_pipe(1, "cf-distance --partial");
    if (argc != 2 || !w)
        return 2;
    while (fgets(line, sizeof(line), stdin)) {
        uint64_t n[4];

        if (sscanf(line, "segment %" SCNu64, n) == 1)
            put_header(argv[1], n[0]);
        else if (sscanf(line, "part %" SCNu64 " %" SCNu64, n, n + 1) == 2)
            put_part(n[0], n[1]);
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
