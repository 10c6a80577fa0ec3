/* SPDX-License-Identifier: BSD-2-Clause */
/* The codecs of cache lines, in a pipe and packed: round trips, what they take, and damage. */
#include <string.h>

#include "formats/codec/cf_codec.h"
#include "tap.h"

static uint64_t state = 11;

static uint64_t next(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

enum { ROWS = 5000 };

static uint8_t scratch[ROWS * 6];
static uint64_t wide[ROWS], back[ROWS];
static uint32_t number[ROWS], number_back[ROWS];

/* 1 when the column comes back and has this codec. */
static int round_trip(enum cf_type type, const void *values, void *to, size_t rows, int codec)
{
    struct cf_coded c = {.type = (uint8_t)type};
    const size_t bytes = rows * cf_type_width(type);

    cf_encode_line(type, values, rows, scratch, &c);
    c.type = (uint8_t)type;
    if (c.codec < CF_RISE8) {
        struct cf_decoder *d = cf_decoder_new();
        const void *v;
        int same;

        cf_decoder_frame(d, rows, &c, 1);
        v = cf_decoder_column(d, 0, NULL);
        same = v && !memcmp(v, values, bytes);
        cf_decoder_free(d);
        return same && c.codec == codec;
    }
    memset(to, 0xaa, bytes);
    return !cf_decode_line(&c, rows, to) && !memcmp(to, values, bytes) && c.codec == codec;
}

static int addresses(uint64_t low, uint64_t span, uint64_t step, size_t rows, int codec)
{
    for (size_t i = 0; i < rows; i++)
        wide[i] = low + next() % (span / step) * step;
    wide[0] = low;
    wide[rows - 1] = low + span - step;
    return round_trip(CF_U64, wide, back, rows, codec);
}

/* ---- packed ---- */

/* The lines of a full cache of `sets` x 16, whose pages are in any way: 0 to 3 processes. */
static size_t fill(uint64_t *phys, uint64_t *addr, uint32_t *pid, size_t sets, unsigned lost)
{
    static uint64_t frame[16];
    size_t n = 0;

    for (size_t set = 0; set < sets; set++) {
        for (size_t way = 0; way < 16 && set % 64 == 0; way++)
            frame[way] = next() >> 40;
        for (size_t way = 16; way-- > 1;) {
            const size_t other = next() % (way + 1);
            const uint64_t f = frame[way];

            frame[way] = frame[other];
            frame[other] = f;
        }
        for (size_t way = 0; way < 16 && n < ROWS; way++) {
            if (next() % 100 < lost)
                continue;
            phys[n] = frame[way] << 12 | set % 64 << 6;
            addr[n] = (frame[way] ^ 0x5a5a5) << 12 | set % 64 << 6;
            pid[n++] = (uint32_t)(frame[way] % 3);
        }
    }
    return n;
}

/* Bytes that a frame of lines takes packed; 0 when it does not come back. With `damages`, as many
   bytes are changed one after the other, which must be refused or change values only. */
static size_t packed(const uint64_t *phys, const uint64_t *addr, const uint32_t *pid, size_t rows,
                     unsigned damages, unsigned *codecs)
{
    const struct cf_values columns[] = {{CF_PHYS, phys, 0}, {CF_ADDR, addr, 0}, {CF_PID, pid, 0}};
    struct cf_encoder *e = cf_encoder_new(3);
    struct cf_decoder *d = cf_decoder_new();
    struct cf_coded c[4];
    const int n = cf_encoder_frame(e, CF_LINE, rows, columns, 3, NULL, NULL, 0, c);
    const void *const want[] = {phys, addr, pid};
    size_t bytes = 0;
    int same = n >= 3;

    cf_decoder_frame(d, rows, c, (unsigned)n);
    for (int i = 0; i < n; i++) {
        const void *v;

        bytes += c[i].bytes;
        *codecs |= 1u << c[i].codec;
        v = i < 3 ? cf_decoder_column(d, (unsigned)i, NULL) : NULL;
        same &= i == 3 || (v && !memcmp(v, want[i], rows * cf_type_width((enum cf_type)c[i].type)));
    }
    for (unsigned k = 0; k < damages; k++) {
        struct cf_coded *hurt = &c[next() % (unsigned)n];
        uint8_t *copy = malloc(hurt->bytes + 1);
        const uint8_t *was = hurt->data;
        const uint32_t length = hurt->bytes;

        if (!hurt->bytes) {
            free(copy);
            continue;
        }
        memcpy(copy, was, length);
        copy[next() % length] ^= (uint8_t)(1 << next() % 8);
        hurt->data = copy;
        hurt->bytes = next() % 4 ? length : (uint32_t)(next() % length);
        cf_decoder_frame(d, rows, c, (unsigned)n);
        for (unsigned i = 0; i < 3; i++)
            if (!cf_decoder_column(d, i, NULL))
                same &= cf_decoder_problem(d) != NULL;
        hurt->data = was;
        hurt->bytes = length;
        free(copy);
    }
    cf_encoder_free(e);
    cf_decoder_free(d);
    return same ? bytes : 0;
}

static void check_packed(void)
{
    static uint64_t phys[ROWS], addr[ROWS];
    static uint32_t pid[ROWS];
    const unsigned lines = 1u << CF_NEAR | 1u << CF_PAGES | 1u << CF_LIKE;
    unsigned codecs = 0;
    size_t n = fill(phys, addr, pid, ROWS / 16, 0), bytes = packed(phys, addr, pid, n, 0, &codecs);

    ok(bytes && codecs == lines, "a full cache is packed as lines");
    ok(bytes <= n * 3 / 2, "in %zu bytes for %zu lines", bytes, n);
    n = fill(phys, addr, pid, ROWS / 16, 40);
    bytes = packed(phys, addr, pid, n, 0, &codecs);
    ok(bytes && bytes <= n * 2, "one with two fifths of its lines lost in %zu for %zu", bytes, n);
    codecs = 0;
    n = fill(phys, addr, pid, ROWS / 16, 20);
    ok(packed(phys, addr, pid, n, 3000, &codecs), "damage is refused or harmless");
    codecs = 0;
    for (size_t i = 0; i < ROWS; i++)
        phys[i] = addr[i] = next();
    ok(packed(phys, addr, pid, ROWS, 0, &codecs) && !(codecs & lines), "what has no pages is not");
    for (size_t i = 0; i < ROWS; i++)
        addr[i] = 0;
    fill(phys, phys, pid, ROWS / 16, 0);
    codecs = 0;
    ok(packed(phys, addr, pid, ROWS, 0, &codecs) && (codecs & lines), "physical addresses alone");
    codecs = 0;
    ok(packed(phys, addr, pid, 70, 500, &codecs) != 0, "few rows");
}

int main(void)
{
    struct cf_coded c = {.type = CF_U64, .codec = CF_LINES32, .bytes = 40, .data = scratch};
    int all = 1;

    ok(addresses(0x80000000, (uint64_t)6 << 30, 64, ROWS, CF_LINES32), "frames of 6 GiB");
    ok(addresses(0, (uint64_t)64 << 32, 64, ROWS, CF_LINES32), "the most that 4 bytes tell");
    ok(addresses(0x400000, ((uint64_t)1 << 47) - 0x400000, 64, ROWS, CF_LINES48), "virtual ones");
    ok(addresses(0, (uint64_t)-64, 64, ROWS, CF_RAW), "from one end of memory to the other");
    ok(addresses((uint64_t)1 << 62, ((uint64_t)1 << 54) + 64, 64, ROWS, CF_RAW), "beyond 48 bits");
    ok(addresses(0, (uint64_t)6 << 30, 32, ROWS, CF_RAW), "shorter lines are no multiples");
    ok(addresses(0x1000, 0x1000, 64, ROWS, CF_NARROW16), "what is near is narrow");
    for (size_t rows = 2; rows < 100; rows++)
        all &= addresses(0xffff800000000000u, (uint64_t)1 << 44, 64, rows, CF_LINES48);
    ok(all, "any number of rows");
    for (size_t i = 1; i < ROWS; i++)
        number[i] = number[i - 1] + (uint32_t)(next() % 3);
    ok(round_trip(CF_U32, number, number_back, ROWS, CF_RISE8), "sets that rise");
    number[ROWS / 2] += 300;
    ok(round_trip(CF_U32, number, number_back, ROWS, CF_NARROW16), "a step too far");
    number[ROWS / 2] = number[ROWS / 2 - 1] - 1;
    ok(round_trip(CF_U32, number, number_back, ROWS, CF_NARROW16), "a step back");
    memset(number, 0, sizeof number);
    ok(round_trip(CF_U32, number, number_back, ROWS, CF_CONST), "all the same");

    ok(!cf_decode_line(&c, 10, back), "a column of 10 rows");
    ok(cf_decode_line(&c, 11, back) != NULL, "rows that it does not have");
    ok(cf_decode_line(&c, (size_t)10 + ((size_t)1 << 30), back) != NULL, "very many of them");
    c.type = CF_U32;
    ok(cf_decode_line(&c, 10, back) != NULL, "a type that does not fit");
    memset(scratch, 0, sizeof scratch);
    c = (struct cf_coded){.type = CF_U32, .codec = CF_RISE8, .bytes = 40, .data = scratch};
    ok(!cf_decode_line(&c, 40, back), "steps of 40 rows");
    scratch[0] = 1;
    ok(cf_decode_line(&c, 40, back) != NULL, "a step before the first row");
    c = (struct cf_coded){.type = CF_U64, .codec = CF_RISE8, .bytes = 40, .data = scratch};
    ok(cf_decode_line(&c, 40, back) != NULL, "a type that does not rise");
    check_packed();
    return done();
}
