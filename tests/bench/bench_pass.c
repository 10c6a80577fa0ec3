/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_pass [-a] [-r] [-d] [-c] [-o FILE] [INPUT]: the smallest filters, to measure what a hop
 * costs.
 *
 *   (none)  hands every frame on, looking at nothing
 *   -a      reads addr and adds a column of 4 bytes a row
 *   -r      decodes every column of the accesses and sets it anew, so that a pipe gets them raw
 *   -d      decodes every column of all tables and writes nothing
 *   -c      prints the number of access rows and of bytes read, and writes nothing
 *   -o      writes a packed FILE in place of raw standard output
 *
 * Memory: one frame and its new column.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/stream/cf.h"

int main(int argc, char **argv)
{
    static uint32_t cost[CF_FILE_ROWS];
    const char *file = NULL;
    int add = 0, renew = 0, decode = 0, count = 0, option, status = 0;
    struct cf_reader *in;
    struct cf_writer *w = NULL;
    struct cf_frame *f;
    char problem[512] = "";
    uint64_t rows = 0;

    while ((option = getopt(argc, argv, "ardco:")) != -1) {
        if (option == 'a')
            add = 1;
        else if (option == 'r')
            renew = 1;
        else if (option == 'd')
            decode = 1;
        else if (option == 'c')
            count = 1;
        else if (option == 'o')
            file = optarg;
        else
            return 2;
    }
    in = cf_reader_open(argv + optind, argc - optind);
    if (!in)
        return 1;
    if (decode || renew)
        cf_reader_want_all(in);
    if (add)
        cf_reader_want(in, CF_ACCESS, CF_ADDR, CF_REQUIRED);
    if (!decode && !count && !(w = cf_writer_open(file, "bench_pass")))
        return 1;
    while (cf_reader_next(in, &f) > 0) {
        rows += f->table == CF_ACCESS ? f->rows : 0;
        if (add && f->table == CF_ACCESS) {
            const uint64_t *addr = cf_u64(f, CF_ADDR);

            for (uint32_t i = 0; i < f->rows; i++)
                cost[i] = (uint32_t)(addr[i] >> 6);
            status |= cf_frame_set(f, CF_COST, cost);
        }
        for (unsigned i = 0; renew && f->table == CF_ACCESS && i < f->columns; i++)
            if (f->column[i].values)
                status |= cf_frame_set(f, f->column[i].id, f->column[i].values);
        if (w)
            status |= cf_writer_frame(w, f);
    }
    if (cf_reader_damages(in)) {
        fprintf(stderr, "bench_pass: %s\n", cf_reader_problem(in));
        status = 1;
    }
    if (count)
        printf("%llu %llu\n", (unsigned long long)rows, (unsigned long long)cf_reader_bytes(in));
    cf_reader_close(in);
    if (w && cf_writer_close(w, 1, problem, sizeof(problem))) {
        fprintf(stderr, "bench_pass: %s\n", problem);
        status = 1;
    }
    return status != 0;
}
