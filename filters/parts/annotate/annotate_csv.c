/* SPDX-License-Identifier: BSD-2-Clause */
/* annotate_csv.c - a row for each counted line, and one for what has no source line. */
#include "filters/parts/annotate/annotate.h"

static void print_values(const struct annotate *a, const uint64_t *sum)
{
    for (unsigned i = 0; i < a->columns; i++)
        if (line_is_ratio(a, a->column[i]))
            cf_csv_f64(stdout, 0, cf_sums_ratio(&a->sums, sum), 6);
        else
            cf_csv_u64(stdout, 0, sum[a->column[i]]);
}

static void print_line(const struct annotate *a, const char *file, const struct shown *s)
{
    cf_csv_text(stdout, 1, file);
    if (s->number)
        cf_csv_u64(stdout, 0, s->number);
    else
        putchar(',');
    if (s->sum)
        print_values(a, s->sum);
    for (unsigned i = 0; !s->sum && i < a->columns; i++)
        putchar(',');
    if (s->text)
        cf_csv_text(stdout, 0, s->text);
    else
        putchar(',');
    cf_csv_end(stdout);
}

void print_rows(const struct annotate *a)
{
    const struct shown unknown = {.sum = a->sum[UNKNOWN]};
    uint64_t some = 0;

    fputs("file,line", stdout);
    for (unsigned i = 0; i < a->columns; i++)
        printf(",%s", cf_sum_name(&a->sums.list[a->column[i]]));
    puts(",text");
    for (size_t i = 0; i < a->files; i++)
        for (size_t k = 0; k < a->file[i].shown_lines; k++)
            print_line(a, a->file[i].name, &a->file[i].shown[k]);
    for (unsigned v = 0; v < a->sums.count; v++)
        some |= a->sum[UNKNOWN][v];
    if (some)
        print_line(a, "", &unknown);
}
