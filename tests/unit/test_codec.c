/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Codecs: what is encoded comes back, for rows that repeat and rows that are hostile to every
 * assumption; the bytes depend on nothing but the rows; packing never costs much more than plain
 * columns. What becomes of damaged bytes is test_codec_damage.c.
 */
#include "codec_rows.h"
#include "cpus.h"

/* ---- checks ---- */

static void check_wire(const char *cpu)
{
    static const unsigned ids[] = {CF_OP, CF_SIZE, CF_ADDR, CF_FUNCTION, CF_LEVEL};
    static const size_t sizes[] = {0, 1, 2, 63, 64, 65, 1000, CF_WIRE_ROWS};
    struct cf_decoder *d = cf_decoder_new();
    int good = 1, smaller = 1;
    for (unsigned k = 0; k < 5; k++)
        for (unsigned g = 0; g < GENERATORS; g++)
            for (unsigned s = 0; s < 8; s++) {
                struct rows r = {.rows = sizes[s]};
                struct cf_coded c = {.id = (uint16_t)ids[k]};
                uint8_t *scratch = get(r.rows * 4);
                add(&r, ids[k], generators[g]);
                cf_encode_wire(cf_column_type(ids[k]), r.column[0].values, r.rows, scratch, &c);
                uint8_t *copy = get(c.bytes);
                if (c.bytes)
                    memcpy(copy, c.data, c.bytes);
                c.data = copy;
                smaller &= c.bytes <= r.rows * width_of(ids[k]);
                cf_decoder_frame(d, r.rows, &c, 1);
                good &= column_equals(d, &r, 0);
                free(copy);
                free(scratch);
                release(&r);
            }
    ok(good, "%s: wire columns come back", cpu);
    ok(smaller, "%s: wire columns are never larger than raw", cpu);
    cf_decoder_free(d);
}

static void check_plain(void)
{
    static const unsigned ids[] = {CF_OP, CF_SIZE, CF_ADDR, CF_TIME, CF_SITE};
    static const size_t sizes[] = {0, 1, 2, 9, 65, 1000, 20000};
    struct cf_encoder *e = cf_encoder_new(3);
    struct cf_decoder *d = cf_decoder_new();
    int good = 1;
    for (unsigned g = 0; g < GENERATORS; g++)
        for (unsigned s = 0; s < 7; s++) {
            struct rows r = {.rows = sizes[s], .table = CF_OBJECT};
            struct coded c;
            for (unsigned k = 0; k < 5; k++)
                add(&r, ids[k], generators[(g + k) % GENERATORS]);
            good &= encode(e, &r, 0, &c) == 0 && decodes(d, &r, &c);
            release_coded(&c);
            release(&r);
        }
    ok(good, "plain columns come back");

    struct rows r = {.rows = 3, .table = CF_STRING, .blob_bytes = 5000};
    struct coded c;
    char *text = get(r.blob_bytes);
    for (size_t i = 0; i < r.blob_bytes; i++)
        text[i] = (char)("abcde"[below(5)]);
    add(&r, CF_ID, ascending);
    add(&r, CF_LENGTH, small);
    r.column[r.count++] = (struct cf_values){CF_TEXT, text, 0};
    ok(encode(e, &r, 0, &c) == 0 && decodes(d, &r, &c), "a blob comes back");
    ok(coded_bytes(&c) < 2500, "a blob is compressed");
    release_coded(&c);
    release(&r);

    r = (struct rows){.rows = 300, .table = CF_OBJECT};
    add(&r, CF_ADDR, same);
    add(&r, CF_SIZE, ascending);
    good = encode(e, &r, 0, &c) == 0 && decodes(d, &r, &c);
    ok(good && c.column[0].codec == CF_CONST && c.column[0].base == same(0) && !c.column[0].bytes,
       "a column of one value takes no bytes");
    ok(good && c.column[1].codec != CF_CONST, "... and one of several does");
    release_coded(&c);
    release(&r);

    enum { OURS = 40000 };
    uint16_t *v = get(500 * sizeof *v);
    for (int i = 0; i < 500; i++)
        v[i] = (uint16_t)(i / 7 * 300);
    r = (struct rows){.rows = 500, .table = CF_ACCESS};
    add(&r, CF_ADDR, ascending);
    r.column[r.count++] = (struct cf_values){OURS, v, 0};
    c.column[1].type = 0;
    ok(encode(e, &r, 0, &c) < 0, "a column of no known type is refused");
    c.column[1].type = CF_U16;
    ok(encode(e, &r, 0, &c) == 0, "a column whose type was stated is taken");
    cf_decoder_frame(d, c.rows, c.column, c.count);
    const uint16_t *back = cf_decoder_column(d, 1, NULL);
    ok(back && !memcmp(back, v, 500 * sizeof *v), "... and comes back");
    release_coded(&c);
    release(&r);
    cf_encoder_free(e);
    cf_decoder_free(d);
}

static void check_packed(void)
{
    static const size_t sizes[] = {64, 65, 100, 1000, 4096, 40000};
    struct cf_encoder *e = cf_encoder_new(1);
    struct cf_decoder *d = cf_decoder_new();
    int good = 1, packed = 1, same = 1;
    for (unsigned round = 0; round < 200; round++) {
        struct rows r;
        struct coded c, again;
        unsigned noise = (unsigned[]){0, 1, 30, 300, 1000}[round % 5];
        program(&r, sizes[round % 6], noise, round < 20 ? 0xff : (unsigned)below(256), round & 1);
        good &= encode(e, &r, 0, &c) == 0 && decodes(d, &r, &c);
        if (noise < 30 && round < 20 && r.rows >= 1000)
            packed &= has_codec(&c, CF_ADDR, CF_PREDICT) && has_codec(&c, CF_TIME, CF_STEPS) &&
                      has_codec(&c, CF_FUNCTION, CF_BYCODE);

        struct cf_encoder *fresh = cf_encoder_new(1);
        same &= encode(fresh, &r, 0, &again) == 0 && same_coded(&c, &again);
        cf_encoder_free(fresh);
        release_coded(&again);
        good &= encode(e, &r, 1, &again) == 0 && decodes(d, &r, &again);
        release_coded(&again);
        release_coded(&c);
        release(&r);
    }
    ok(good, "packed columns come back, with hints and without");
    ok(packed, "programs are packed");
    ok(same, "the bytes depend on the rows alone");

    good = 1;
    for (unsigned round = 0; round < 200; round++) {
        struct rows r = {.rows = sizes[round % 5], .table = CF_ACCESS};
        struct coded c;
        add(&r, CF_ADDR, generators[below(GENERATORS)]);
        add(&r, CF_PC, generators[below(GENERATORS)]);
        add(&r, CF_TIME, generators[below(GENERATORS)]);
        add(&r, CF_SIZE, generators[below(GENERATORS)]);
        add(&r, CF_OP, generators[below(GENERATORS)]);
        add(&r, CF_PHYS, generators[below(GENERATORS)]);
        add(&r, CF_SITE, generators[below(GENERATORS)]);
        good &= encode(e, &r, 0, &c) == 0 && decodes(d, &r, &c);
        release_coded(&c);
        release(&r);
    }
    ok(good, "hostile columns of accesses come back");
    cf_encoder_free(e);
    cf_decoder_free(d);
}

static uint64_t random_pc(size_t row)
{
    (void)row;
    return 0x400000 + below(1 << 22);
}
static uint64_t few_pcs(size_t row)
{
    (void)row;
    return 0x400000 + below(3000) * 3;
}
static uint64_t sequential(size_t row)
{
    return 0x10000 + row * 64;
}
static void check_growth(void)
{
    static uint64_t (*const addr[])(size_t) = {random_addr, sequential, any};
    static uint64_t (*const pc[])(size_t) = {random_pc, few_pcs, sequential, zero};
    static uint64_t (*const times[])(size_t) = {clock_time, ascending, any};
    struct cf_encoder *e = cf_encoder_new(3);
    struct cf_decoder *d = cf_decoder_new();
    double worst = 0;
    int good = 1;
    for (unsigned a = 0; a < 3; a++)
        for (unsigned p = 0; p < 4; p++)
            for (unsigned t = 0; t < 3; t++) {
                struct rows r = {.rows = 100000, .table = CF_ACCESS};
                struct coded packed, plain;
                add(&r, CF_TIME, times[t]);
                add(&r, CF_PC, pc[p]);
                add(&r, CF_ADDR, addr[a]);
                add(&r, CF_OP, small);
                good &= encode(e, &r, 0, &packed) == 0 && decodes(d, &r, &packed);
                r.table = CF_OBJECT;
                good &= encode(e, &r, 0, &plain) == 0;
                double ratio = (double)coded_bytes(&packed) / (double)coded_bytes(&plain);
                if (ratio > 1.02)
                    note("addr %u pc %u time %u: %zu packed, %zu plain", a, p, t,
                         coded_bytes(&packed), coded_bytes(&plain));
                worst = ratio > worst ? ratio : worst;
                release_coded(&packed);
                release_coded(&plain);
                release(&r);
            }
    ok(good, "rows that do not repeat come back");
    ok(worst <= 1.02, "packing never costs over 2 percent: at most %.1f", 100 * (worst - 1));

    struct rows r;
    struct coded c;
    program(&r, CF_FILE_ROWS, 1, 0xff, 1);
    ok(encode(e, &r, 1, &c) == 0 && decodes(d, &r, &c), "a full frame comes back");
    ok(coded_bytes(&c) < 2 * r.rows, "a full frame takes %.2f bytes a row",
       (double)coded_bytes(&c) / (double)r.rows);
    release_coded(&c);
    release(&r);
    cf_encoder_free(e);
    cf_decoder_free(d);
}

/* A table of a pipe is compressed; one that is already, or whose lengths do not fit, stays. */
static void check_by_code(void)
{
    enum { KINDS = 1000 };
    static uint64_t values[KINDS];
    static uint8_t scratch[9 * KINDS + 16];
    struct cf_encoder *e = cf_encoder_new(3);
    struct cf_coded c = {.id = CF_FUNCTION, .type = CF_STR}, small, again;
    int status, stays = 1;

    for (unsigned i = 0; i < KINDS; i++)
        values[i] = i / 4 * 0x101;
    cf_encode_of_kind(values, 8, KINDS, scratch, &c);
    small = c;
    status = cf_encoder_by_code(e, &small);
    again = small;
    status |= cf_encoder_by_code(e, &again);
    ok(!status && small.bytes < c.bytes && again.bytes == small.bytes && again.data == small.data,
       "the table of a pipe is compressed, once");
    for (uint32_t bytes = 0; bytes < c.bytes + 2; bytes++) {
        struct cf_coded cut = {.codec = CF_BYCODE, .bytes = bytes};
        uint8_t *copy;

        if (bytes == c.bytes)
            continue;
        copy = get(bytes);
        memcpy(copy, scratch, bytes);
        cut.data = copy;
        stays &= cf_encoder_by_code(e, &cut) == 0 && cut.bytes == bytes && cut.data == copy;
        free(copy);
    }
    ok(stays, "what does not fit its lengths stays as it is");
    cf_encoder_free(e);
}

/* One value a kind, of which only the bytes that some value needs are written. */
static void check_of_kind(void)
{
    enum { KINDS = 1003 };
    static const uint32_t counts[] = {2, 3, 7, 8, 9, KINDS};
    static uint8_t values[8 * KINDS], scratch[9 * KINDS + 16];
    int good = 1;

    for (unsigned width = 1; width <= 8; width *= 2)
        for (unsigned bytes = 1; bytes <= width; bytes++)
            for (unsigned k = 0; k < 6; k++) {
                const uint32_t kinds = counts[k];
                const uint8_t *at = scratch + 1;
                struct cf_coded c = {.codec = CF_RAW};

                /* the last has the highest byte alone */
                for (uint32_t i = 0; i < width * kinds; i++)
                    values[i] = i % width + 1 < bytes || i == width * (kinds - 1) + bytes - 1
                                    ? (uint8_t)(i * 37 % 255 + 1)
                                    : 0;
                cf_encode_of_kind(values, width, kinds, scratch, &c);
                good &= c.codec == CF_BYCODE && scratch[0] == bytes;
                at += 2 * (bytes * kinds < 1 << 7 ? 1 : bytes * kinds < 1 << 14 ? 2 : 3);
                for (unsigned b = 0; b < width; b++)
                    for (uint32_t i = 0; i < kinds; i++)
                        good &= values[width * i + b] == (b < bytes ? at[kinds * b + i] : 0);
                good &= c.bytes == (size_t)(at - scratch) + (size_t)bytes * kinds;
            }
    ok(good, "a table of kinds has the bytes that its values need");
    memset(values, 7, sizeof values);
    good = 1;
    for (unsigned width = 1; width <= 8; width *= 2) {
        struct cf_coded c = {.codec = CF_RAW}, none = {.codec = CF_RAW};

        cf_encode_of_kind(values, width, KINDS, scratch, &c);
        cf_encode_of_kind(values, width, 0, scratch, &none);
        good &= c.codec == CF_CONST && !c.bytes && none.codec == CF_CONST && !none.base &&
                c.base == 0x0707070707070707u >> (64 - 8 * width);
    }
    ok(good, "where all kinds have one value, it is a constant");
}

int main(void)
{
    for (unsigned cpu = CF_CPU_BASE; cpu <= best_cpu(); cpu++) {
        take_cpu(cpu);
        check_wire(cpu_names[cpu]);
    }
    unsetenv("CF_CPU");
    check_plain();
    check_packed();
    check_growth();
    check_by_code();
    check_of_kind();
    return done();
}
