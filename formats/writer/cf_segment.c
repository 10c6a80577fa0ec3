/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Segments: the header with what is stated of columns, and at the end the index and the row
 * counts that betray a lost frame.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <time.h>

#include "formats/cpu/cf_cpu_name.h"
#include "formats/base/cf_number.h"
#include "cf_writer.h"

static int write_index(struct cf_writer *w, uint64_t *start)
{
    *start = 0;
    for (size_t done = 0, n; done < w->indexed; done += n) {
        int bad;

        n = w->indexed - done < CF_FILE_ROWS ? w->indexed - done : CF_FILE_ROWS;
        const uint32_t bytes = (uint32_t)n * 8;
        uint64_t *const offset = malloc(n * (4 * sizeof *offset + sizeof(uint32_t)));
        if (!offset) {
            cfw_fail(w, "out of memory");
            return -1;
        }
        uint64_t *const rows = offset + n, *const first = rows + n, *const last = first + n;
        uint32_t *const id = (uint32_t *)(last + n);
        const struct cf_coded coded[] = {
            {CF_OFFSET, CF_U64, CF_RAW, bytes, 0, (const uint8_t *)offset},
            {CF_ID, CF_U32, CF_RAW, bytes / 2, 0, (const uint8_t *)id},
            {CF_ROWS, CF_U64, CF_RAW, bytes, 0, (const uint8_t *)rows},
            {CF_FIRST, CF_U64, CF_RAW, bytes, 0, (const uint8_t *)first},
            {CF_LAST, CF_U64, CF_RAW, bytes, 0, (const uint8_t *)last},
        };

        for (size_t i = 0; i < n; i++) {
            const struct cf_index_entry *e = &w->index[done + i];

            offset[i] = e->offset;
            id[i] = e->table;
            rows[i] = e->rows;
            first[i] = e->first;
            last[i] = e->last;
        }
        if (!done)
            *start = w->bytes;
        bad = cfw_write_frame(w, CF_INDEX, (uint32_t)n, 0, 0, coded, 5);
        free(offset);
        if (bad)
            return -1;
    }
    return 0;
}

int cfw_end_segment(struct cf_writer *w)
{
    uint32_t id[1024 + MAX_TABLES];
    uint64_t rows[1024 + MAX_TABLES], index_start;
    uint8_t trailer[CF_TRAILER_BYTES] = {0};
    struct cf_coded coded[3];
    uint32_t n = 0;
    uint64_t end;

    if (!w->in_segment)
        return 0;
    if (cfw_flush_below(w, UINT_MAX) != 0)
        return -1;
    cfw_drain(w);
    if (w->failed || write_index(w, &index_start) != 0)
        return -1;
    for (unsigned t = 0; t < sizeof(w->total) / sizeof(w->total[0]); t++)
        if (w->total[t]) {
            id[n] = t;
            rows[n++] = w->total[t];
        }
    for (unsigned i = 0; i < w->others; i++) {
        id[n] = w->other[i];
        rows[n++] = w->other_rows[i];
    }
    coded[0] = (struct cf_coded){CF_ID, CF_U32, CF_RAW, n * 4, 0, (const uint8_t *)id};
    coded[1] = (struct cf_coded){CF_ROWS, CF_U64, CF_RAW, n * 8, 0, (const uint8_t *)rows};
    coded[2] =
        (struct cf_coded){CF_TRAILER, CF_BLOB, CF_RAW, CF_TRAILER_BYTES, CF_TRAILER_BYTES, trailer};
    end = w->bytes + CF_FRAME_HEAD + 3 * CF_DESCRIPTOR + cf_pad8(n * 4) + n * 8 + CF_TRAILER_BYTES;
    cf_put64(trailer, index_start ? end - index_start : 0);
    cf_put64(trailer + 8, end - w->segment_start);
    cf_put64(trailer + 16, w->wanting ? CF_TRAILER_WANTING : 0);
    memcpy(trailer + 24, CF_TRAILER_MAGIC, 8);
    if (cfw_write_frame(w, CF_END, n, 0, 0, coded, 3) != 0)
        return -1;
    w->in_segment = 0;
    return 0;
}

/* When, where and by what a recording is made. -1 with errno where the environment refused, EINVAL
   where it states no time. */
static int fill_recorded(char *recorded[CF_RECORDED])
{
    const char *stated = getenv("SOURCE_DATE_EPOCH"); /* reproducible-builds.org */
    const uint64_t end = UINT64_C(253402300799);      /* of the year 9999 */
    uint64_t seconds = (uint64_t)time(NULL);
    time_t now;
    struct tm tm;
    struct utsname u = {0};
    char date[32] = "";

    if (stated && cf_read_number(stated, CF_READ_DECIMAL, end, &seconds) != 0) {
        errno = EINVAL;
        return -1;
    }
    now = (time_t)seconds;
    (void)uname(&u);
    if (gmtime_r(&now, &tm))
        strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", &tm);
    recorded[CF_RECORDED_DATE] = strdup(date);
    recorded[CF_RECORDED_HOST] = strdup(u.nodename);
    if (asprintf(&recorded[CF_RECORDED_KERNEL], "%s %s %s", u.sysname, u.release, u.machine) < 0)
        recorded[CF_RECORDED_KERNEL] = NULL;
    recorded[CF_RECORDED_CPU] = cf_cpu_name(NULL);
    recorded[CF_RECORDED_TOOL] = strdup("cacheflow " CF_VERSION);
    for (unsigned i = 0; i < CF_RECORDED; i++)
        if (!recorded[i])
            return -1;
    return 0;
}

/* Our header's YAML. NULL with a problem. */
static char *new_document(struct cf_writer *w, const struct cf_header *h,
                          const struct cf_header *from, size_t *bytes)
{
    const struct cf_facts none = {0};
    struct cf_facts all = {0};
    const int here = h && h->here;
    struct cf_header recorded = h ? *h : (struct cf_header){0};
    char *text = NULL;

    if (here)
        memset(recorded.recorded, 0, sizeof(recorded.recorded));
    if (here && fill_recorded(recorded.recorded) != 0)
        cfw_fail(w, "%s: its header: %s", cfw_target(w),
                 errno == EINVAL ? "SOURCE_DATE_EPOCH: no seconds since 1970" : strerror(errno));
    else if (cf_facts_join(&all, from ? &from->facts : &none, &w->facts) == 0) {
        const struct cf_edits edits = {w->facts.count || (from && from->restated) ? &all : NULL,
                                       w->command, w->clock_unit, w->clock_hz};

        text = cf_header_text(h ? &recorded : NULL, from, &edits, w->program, bytes);
    }
    for (unsigned i = 0; here && i < CF_RECORDED; i++)
        free(recorded.recorded[i]);
    if (!text)
        cfw_fail(w, "%s: out of memory", cfw_target(w));
    else if (*bytes > CF_MAX_HEADER || all.count > CF_MAX_FACTS)
        cfw_fail(w, "%s: the header grew over 1 MiB, or over %d facts of columns", cfw_target(w),
                 CF_MAX_FACTS);
    cf_facts_clear(&all);
    if (text && w->failed) {
        free(text);
        text = NULL;
    }
    return text;
}

int cfw_begin_segment(struct cf_writer *w, const struct cf_header *h, const struct cf_header *from)
{
    uint8_t head[CF_SEGMENT_HEAD] = {0}, zeros[8] = {0};
    struct iovec v[3];
    size_t bytes;
    char *text;
    XXH3_state_t sum;
    int result;

    if (w->failed || cfw_end_segment(w) != 0)
        return -1;
    w->chain = from ? from->chain : 0;
    if (w->chain >= CF_CHAIN_MOST) {
        cfw_fail(w, "%s: more than %d programs in the chain", cfw_target(w), CF_CHAIN_MOST);
        return -1;
    }
    text = new_document(w, h, from, &bytes);
    if (!text)
        return -1;
    memcpy(head, CF_SEGMENT_MAGIC, 8);
    cf_put16(head + 8, CF_STREAM_VERSION);
    cf_put32(head + 12, (uint32_t)bytes);
    XXH3_64bits_reset(&sum);
    XXH3_64bits_update(&sum, head, 24);
    XXH3_64bits_update(&sum, text, bytes);
    XXH3_64bits_update(&sum, zeros, cf_pad8(bytes) - bytes);
    cf_put64(head + 24, XXH3_64bits_digest(&sum));
    v[0] = (struct iovec){head, sizeof(head)};
    v[1] = (struct iovec){text, bytes};
    v[2] = (struct iovec){zeros, cf_pad8(bytes) - bytes};
    w->segment_start = w->bytes;
    result = cfw_write_all(w, v, v[2].iov_len ? 3 : 2);
    free(text);
    memset(w->total, 0, sizeof(w->total));
    w->others = 0;
    w->indexed = 0;
    w->declarations = 0;
    cf_strings_clear(w->strings);
    w->in_segment = 1;
    w->disorder = 0;
    return result;
}

int cf_writer_header(struct cf_writer *w, const struct cf_header *header)
{
    return cfw_begin_segment(w, header, NULL);
}

static int state(struct cf_writer *w, const char *column, const char *key, const char *value,
                 int number)
{
    const char *problem = NULL;

    cf_facts_drop(&w->facts, column, key);
    if (!*column || strlen(column) >= CF_MAX_FACT_NAME || !*key || strlen(key) >= CF_MAX_FACT_NAME)
        problem = "a column's or fact's name is empty or too long";
    if (!problem)
        problem = cf_facts_refuse(&w->facts, column, key);
    if (!problem && cf_facts_add(&w->facts, column, key, value, number) != 0)
        problem = "out of memory";
    if (problem)
        cfw_fail(w, "%s: %s", cfw_target(w), problem);
    return problem ? -1 : 0;
}

int cf_writer_fact(struct cf_writer *w, const char *column, const char *key, const char *text)
{
    return state(w, column, key, text, 0);
}

int cf_writer_number(struct cf_writer *w, const char *column, const char *key, uint64_t value)
{
    char text[24];

    snprintf(text, sizeof(text), "%" PRIu64, value);
    return state(w, column, key, text, 1);
}

void cf_writer_forget(struct cf_writer *w, const char *column)
{
    cf_facts_drop(&w->facts, column, NULL);
}
