/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_decoder: columns that are made by hand, byte by byte as cf-stream(5) says: what a decoder
 * takes, and what it refuses although no encoder of ours writes it.
 */
#include <string.h>

#include "formats/codec/cf_codec.h"
#include "tap.h"

/* Decodes the last of some columns of `rows` rows: its values, or NULL with the problem in *why. */
static const void *decode(struct cf_decoder *d, size_t rows, const struct cf_coded *c,
                          unsigned count, const char **why)
{
    const void *v;

    cf_decoder_frame(d, rows, c, count);
    v = cf_decoder_column(d, count - 1, NULL);
    *why = v ? "" : cf_decoder_problem(d);
    return v;
}

/* Two lines of one page. */
static void test_pages(struct cf_decoder *d)
{
    static const uint8_t near[] = {2, 2, 0, 1};
    /* two planes of the places in the page, 0x040 and 0x180; one plane of the page, 5 */
    uint8_t pages[] = {2, 4, 4, 0x40, 0x80, 0x00, 0x01, 1, 1, 1, 5};
    uint8_t far[] = {0, 0, 0, 7, 7, 7, 0, 0, 0, 0, 0, 0, 0};
    struct cf_coded c[] = {
        {CF_CODE, CF_BLOB, CF_NEAR, sizeof(near), 0, near},
        {CF_PHYS, CF_U64, CF_PAGES, sizeof(pages), 0, pages},
    };
    const char *why;
    const uint64_t *v = decode(d, 2, c, 2, &why);

    ok(v && v[0] == 0x5040 && v[1] == 0x5180, "two lines of a page: %s", why);
    pages[6] = 0x10;
    v = decode(d, 2, c, 2, &why);
    ok(!v, "a place behind the end of the page: %s", why);
    /* no planes of places, all 0; seven planes of the page */
    c[1].data = far;
    c[1].bytes = 13;
    far[12] = 0x0f;
    v = decode(d, 2, c, 2, &why);
    ok(v && v[0] == (uint64_t)0x0f << 60 && v[1] == v[0], "the last pages of all: %s", why);
    far[12] = 0x10;
    v = decode(d, 2, c, 2, &why);
    ok(!v, "a page behind them: %s", why);
}

/* Blobs whose few bytes claim many. */
static void test_blobs(struct cf_decoder *d)
{
    static const uint8_t some[8] = {0x28, 0xb5, 0x2f, 0xfd};
    const struct cf_coded c[] = {
        {40000, CF_BLOB, CF_ZSTD, sizeof(some), 1 << 20, some},
        {40001, CF_BLOB, CF_ZSTD, sizeof(some), CF_MAX_FRAME, some},
        {40002, CF_BLOB, CF_ZSTD, sizeof(some), (uint64_t)CF_MAX_FRAME + 1, some},
    };
    const char *why;
    const void *v;

    v = decode(d, 5000, c, 1, &why);
    ok(!v && !strcmp(why, "compressed data is damaged"), "a blob of a megabyte is looked at: %s",
       why);
    v = decode(d, 5000, c, 2, &why);
    ok(!v && !strcmp(why, "length of a blob is wrong"),
       "two that are more than a frame may be are not: %s", why);
    v = decode(d, 5000, c + 2, 1, &why);
    ok(!v && !strcmp(why, "length of a blob is wrong"), "nor is one: %s", why);
}

int main(void)
{
    struct cf_decoder *d = cf_decoder_new();

    if (!d)
        return 1;
    test_pages(d);
    test_blobs(d);
    cf_decoder_free(d);
    return done();
}
