/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_operands_arm64.c - what loads and stores of AArch64 access: each addressing mode and each
 * group of encodings by an example, assembled by LLVM; what is refused; what a state lacks.
 */
#include <string.h>

#include "capture/operands/operands.h"
#include "formats/stream/cf.h"
#include "tests/unit/tap.h"

/* Registers: x2 0x2000 and so on, but for these. */
static const struct cf_operands_state whole = {
    .general = {[0] = 0xfffffffffffff000,
                [1] = 0x1000,
                [2] = 0x2000,
                [3] = 0x3000,
                [4] = 0xdeadbeeffffffff0,
                [5] = UINT64_MAX,
                [6] = 0x6010,
                [8] = 0xab00000000008000,
                [9] = 0x7f12000012345000,
                [31] = 0x1f000},
    .pc = 0x8000,
    .zeroed = 64,
    .pointer_bits = 48,
};

/* L load, S store, P prefetch, F flush: address and size, in the order of the rows. */
static const struct {
    uint32_t word;
    const char *text, *accesses;
} known[] = {
    {0xf9400841, "ldr x1, [x2, 16]", "L2010,8"},
    {0xb9400441, "ldr w1, [x2, 4]", "L2004,4"},
    {0x39400441, "ldrb w1, [x2, 1]", "L2001,1"},
    {0x79400441, "ldrh w1, [x2, 2]", "L2002,2"},
    {0x39800041, "ldrsb x1, [x2]", "L2000,1"},
    {0x79c00441, "ldrsh w1, [x2, 2]", "L2002,2"},
    {0xb9800441, "ldrsw x1, [x2, 4]", "L2004,4"},
    {0xf93fffe1, "str x1, [sp, 32760]", "S26ff8,8"},
    {0xb900045f, "str wzr, [x2, 4]", "S2004,4"},
    {0x393ffc41, "strb w1, [x2, 4095]", "S2fff,1"},
    {0x79000041, "strh w1, [x2]", "S2000,2"},
    {0x3dc00441, "ldr q1, [x2, 16]", "L2010,16"},
    {0x3d400441, "ldr b1, [x2, 1]", "L2001,1"},
    {0x7d000441, "str h1, [x2, 2]", "S2002,2"},
    {0xbd000441, "str s1, [x2, 4]", "S2004,4"},
    {0xfd000441, "str d1, [x2, 8]", "S2008,8"},
    {0x3dbffc41, "str q1, [x2, 65520]", "S11ff0,16"},
    {0xf8500041, "ldur x1, [x2, -256]", "L1f00,8"},
    {0x380ff041, "sturb w1, [x2, 255]", "S20ff,1"},
    {0xb89ff041, "ldursw x1, [x2, -1]", "L1fff,4"},
    {0x3cdf0041, "ldur q1, [x2, -16]", "L1ff0,16"},
    {0xf8408441, "ldr x1, [x2], 8", "L2000,8"},
    {0x3c9f0441, "str q1, [x2], -16", "S2000,16"},
    {0xf8408c41, "ldr x1, [x2, 8]!", "L2008,8"},
    {0x381ffc41, "strb w1, [x2, -1]!", "S1fff,1"},
    {0xf8408841, "ldtr x1, [x2, 8]", "L2008,8"},
    {0x781fe841, "sttrh w1, [x2, -2]", "S1ffe,2"},
    {0xf8636841, "ldr x1, [x2, x3]", "L5000,8"},
    {0xf8637841, "ldr x1, [x2, x3, lsl 3]", "L1a000,8"},
    {0xb865f841, "ldr w1, [x2, x5, sxtx 2]", "L1ffc,4"},
    {0xb8644841, "ldr w1, [x2, w4, uxtw]", "L100001ff0,4"},
    {0xb824c841, "str w1, [x2, w4, sxtw]", "S1ff0,4"},
    {0x3824d841, "strb w1, [x2, w4, sxtw 0]", "S1ff0,1"},
    {0x7864d841, "ldrh w1, [x2, w4, sxtw 1]", "L1fe0,2"},
    {0x3ce4d841, "ldr q1, [x2, w4, sxtw 4]", "L1f00,16"},
    {0xfc3f7841, "str d1, [x2, xzr, lsl 3]", "S2000,8"},
    {0x38e36841, "ldrsb w1, [x2, x3]", "L5000,1"},
    {0x58000041, "ldr x1, 0x8008", "L8008,8"},
    {0x18ffffe1, "ldr w1, 0x7ffc", "L7ffc,4"},
    {0x98000021, "ldrsw x1, 0x8004", "L8004,4"},
    {0x1c000021, "ldr s1, 0x8004", "L8004,4"},
    {0x5c000041, "ldr d1, 0x8008", "L8008,8"},
    {0x9c000081, "ldr q1, 0x8010", "L8010,16"},
    {0xd8000040, "prfm pldl1keep, 0x8008", "P8008,1"},
    {0xa97f0c41, "ldp x1, x3, [x2, -16]", "L1ff0,8 L1ff8,8"},
    {0x29408c41, "ldp w1, w3, [x2, 4]", "L2004,4 L2008,4"},
    {0x69408c41, "ldpsw x1, x3, [x2, 4]", "L2004,4 L2008,4"},
    {0xa9be7bfd, "stp x29, x30, [sp, -32]!", "S1efe0,8 S1efe8,8"},
    {0xa8c27bfd, "ldp x29, x30, [sp], 32", "L1f000,8 L1f008,8"},
    {0xad010440, "stp q0, q1, [x2, 32]", "S2020,16 S2030,16"},
    {0x6d408440, "ldp d0, d1, [x2, 8]", "L2008,8 L2010,8"},
    {0x2cc10440, "ldp s0, s1, [x2], 8", "L2000,4 L2004,4"},
    {0xa8410c41, "ldnp x1, x3, [x2, 16]", "L2010,8 L2018,8"},
    {0xac3f0440, "stnp q0, q1, [x2, -32]", "S1fe0,16 S1ff0,16"},
    {0x28008c41, "stnp w1, w3, [x2, 4]", "S2004,4 S2008,4"},
    {0xc85f7c41, "ldxr x1, [x2]", "L2000,8"},
    {0xc8017c43, "stxr w1, x3, [x2]", "S2000,8"},
    {0x085ffc41, "ldaxrb w1, [x2]", "L2000,1"},
    {0x4801fc43, "stlxrh w1, w3, [x2]", "S2000,2"},
    {0xc87f0c41, "ldxp x1, x3, [x2]", "L2000,8 L2008,8"},
    {0x88219043, "stlxp w1, w3, w4, [x2]", "S2000,4 S2004,4"},
    {0x88dffc41, "ldar w1, [x2]", "L2000,4"},
    {0x089ffc41, "stlrb w1, [x2]", "S2000,1"},
    {0xc8df7c41, "ldlar x1, [x2]", "L2000,8"},
    {0x489f7c41, "stllrh w1, [x2]", "S2000,2"},
    {0xc8a17c43, "cas x1, x3, [x2]", "L2000,8 S2000,8"},
    {0x08e1fc43, "casalb w1, w3, [x2]", "L2000,1 S2000,1"},
    {0x48247c46, "casp x4, x5, x6, x7, [x2]", "L2000,8 L2008,8 S2000,8 S2008,8"},
    {0x0864fc46, "caspal w4, w5, w6, w7, [x2]", "L2000,4 L2004,4 S2000,4 S2004,4"},
    {0xf8218043, "swp x1, x3, [x2]", "L2000,8 S2000,8"},
    {0x78e18043, "swpalh w1, w3, [x2]", "L2000,2 S2000,2"},
    {0xb8210043, "ldadd w1, w3, [x2]", "L2000,4 S2000,4"},
    {0xf8e11043, "ldclral x1, x3, [x2]", "L2000,8 S2000,8"},
    {0x38212043, "ldeorb w1, w3, [x2]", "L2000,1 S2000,1"},
    {0xf82133e3, "ldset x1, x3, [sp]", "L1f000,8 S1f000,8"},
    {0xb8214043, "ldsmax w1, w3, [x2]", "L2000,4 S2000,4"},
    {0xf8217043, "ldumin x1, x3, [x2]", "L2000,8 S2000,8"},
    {0xf821005f, "stadd x1, [x2]", "L2000,8 S2000,8"},
    {0xf8bfc041, "ldapr x1, [x2]", "L2000,8"},
    {0x38bfc041, "ldaprb w1, [x2]", "L2000,1"},
    {0xd95f8041, "ldapur x1, [x2, -8]", "L1ff8,8"},
    {0x19c01041, "ldapursb w1, [x2, 1]", "L2001,1"},
    {0x99804041, "ldapursw x1, [x2, 4]", "L2004,4"},
    {0x99004041, "stlur w1, [x2, 4]", "S2004,4"},
    {0x19100041, "stlurb w1, [x2, -256]", "S1f00,1"},
    {0xf8201441, "ldraa x1, [x2, 8]", "L2008,8"},
    {0xf8600c41, "ldraa x1, [x2, -4096]!", "L1000,8"},
    {0xf8bff521, "ldrab x1, [x9, 4088]", "L12345ff8,8"},
    {0x69010c41, "stgp x1, x3, [x2, 32]", "S2020,8 S2028,8"},
    {0x68810c41, "stgp x1, x3, [x2], 32", "S2000,8 S2008,8"},
    {0xd9601c41, "stzg x1, [x2, 16]!", "S2010,16"},
    {0xd9e01441, "stz2g x1, [x2], 16", "S2000,16 S2010,16"},
    {0x4c407040, "ld1 {v0.16b}, [x2]", "L2000,16"},
    {0x0cdfa040, "ld1 {v0.8b, v1.8b}, [x2], 16", "L2000,8 L2008,8"},
    {0x0c406c40, "ld1 {v0.1d, v1.1d, v2.1d}, [x2]", "L2000,8 L2008,8 L2010,8"},
    {0x4c832840, "st1 {v0.4s, v1.4s, v2.4s, v3.4s}, [x2], x3",
     "S2000,16 S2010,16 S2020,16 S2030,16"},
    {0x4c408440, "ld2 {v0.8h, v1.8h}, [x2]", "L2000,16 L2010,16"},
    {0x0c9f4840, "st3 {v0.2s, v1.2s, v2.2s}, [x2], 24", "S2000,8 S2008,8 S2010,8"},
    {0x4c400fe0, "ld4 {v0.2d, v1.2d, v2.2d, v3.2d}, [sp]",
     "L1f000,16 L1f010,16 L1f020,16 L1f030,16"},
    {0x4d401440, "ld1 {v0.b}[13], [x2]", "L2000,1"},
    {0x4d9f4840, "st1 {v0.h}[5], [x2], 2", "S2000,2"},
    {0x4de39040, "ld2 {v0.s, v1.s}[3], [x2], x3", "L2000,4 L2004,4"},
    {0x4d00a440, "st3 {v0.d, v1.d, v2.d}[1], [x2]", "S2000,8 S2008,8 S2010,8"},
    {0x0d602040, "ld4 {v0.b, v1.b, v2.b, v3.b}[0], [x2]", "L2000,1 L2001,1 L2002,1 L2003,1"},
    {0x4d40c040, "ld1r {v0.16b}, [x2]", "L2000,1"},
    {0x0dffc440, "ld2r {v0.4h, v1.4h}, [x2], 4", "L2000,2 L2002,2"},
    {0x4d60ec40, "ld4r {v0.2d, v1.2d, v2.2d, v3.2d}, [x2]", "L2000,8 L2008,8 L2010,8 L2018,8"},
    {0xf9800451, "prfm pstl1strm, [x2, 8]", "P2008,1"},
    {0xf8a37840, "prfm pldl1keep, [x2, x3, lsl 3]", "P1a000,1"},
    {0xf89ff042, "prfum pldl2keep, [x2, -1]", "P1fff,1"},
    {0xd50b7426, "dc zva, x6", "S6000,64"},
    {0xd50b7e22, "dc civac, x2", "F2000,1"},
    {0xd50b7b22, "dc cvau, x2", "F2000,1"},
    {0xf9400501, "ldr x1, [x8, 8]", "L8008,8"},
    {0xa9400d01, "ldp x1, x3, [x8]", "L8000,8 L8008,8"},
    {0xf9400401, "ldr x1, [x0, 8]", "Lfffffffffffff008,8"},
};

static const struct {
    uint32_t word;
    const char *text;
} refused[] = {
    {0xa400a040, "ld1b of SVE"},
    {0xe540e040, "st1w of SVE"},
    {0x85804040, "ldr of SVE"},
    {0x84014040, "a gather of SVE"},
    {0xe09f0040, "ld1w of SME"},
    {0xd9600041, "ldg: a tag alone"},
    {0xd9200841, "stg: a tag alone"},
    {0xd9a00841, "st2g: tags alone"},
    {0xf83fd040, "ld64b"},
    {0xf83f9040, "st64b"},
    {0x19030440, "cpyfp: a copy"},
    {0x48257c46, "casp of odd registers"},
    {0xf8a36858, "rprfm: a prefetch of a range"},
    {0xf8630841, "a register offset without an extension that there is"},
    {0xb8219041, "an operation of no name"},
    {0xf83fc041, "ldapr without acquire"},
    {0xbce00041, "an atomic of vectors"},
    {0xcc000000, "structures with bit 31"},
    {0x0c401040, "structures of an opcode that there is not"},
    {0x0c400c40, "ld4 of one 64-bit element each"},
    {0x0c417040, "ld1 without post-index, but with a register"},
    {0x0d00c040, "st1r"},
    {0x0d405440, "ld1 of an odd half"},
    {0x0d409440, "ld1 of an odd double word"},
    {0xd9800041, "ldapur of a sign beyond 64 bits"},
    {0xdc000000, "a literal of no size"},
    {0xe9400440, "a pair of no size"},
    {0x68400c41, "ldnpsw"},
    {0xf8808c41, "a prefetch with pre-index"},
    {0x3c400841, "an unprivileged vector"},
    {0xf9c00041, "a load of a sign into nothing"},
    {0x7d800041, "a store of 16 bytes and half a register"},
};

static const struct {
    uint32_t word;
    const char *text;
} elsewhere[] = {
    {0x8b030041, "add"},    {0xd65f03c0, "ret"},     {0xd503201f, "nop"},
    {0xd63f0040, "blr"},    {0x1f420c20, "fmadd"},   {0x04210000, "add of SVE"},
    {0xd50b7462, "dc gva"}, {0xd50b7522, "ic ivau"}, {0xd5087622, "dc ivac"},
    {0x00000000, "udf"},
};

static void bytes_of(uint32_t word, uint8_t *code)
{
    for (unsigned i = 0; i < 4; i++)
        code[i] = (uint8_t)(word >> 8 * i);
}

static int decode(struct cf_operands *o, uint32_t word)
{
    uint8_t code[4];

    bytes_of(word, code);
    return cf_operands_decode_arm64(o, code, sizeof code);
}

static const char *accesses(uint32_t word, const struct cf_operands_state *s)
{
    static char text[256];
    struct cf_access a[CF_OPERANDS_MOST];
    struct cf_operands o;
    size_t used = 0;
    int n;

    if (decode(&o, word) != 0)
        return "not known";
    n = cf_operands_accesses(&o, s, a);
    if (n < 0)
        return "not in the state";
    text[0] = 0;
    for (int i = 0; i < n; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%c%llx,%u", i ? " " : "",
                                 a[i].op == CF_LOAD       ? 'L'
                                 : a[i].op == CF_STORE    ? 'S'
                                 : a[i].op == CF_PREFETCH ? 'P'
                                                          : 'F',
                                 (unsigned long long)a[i].addr, a[i].size);
    return text;
}

static void is_str(const char *got, const char *wanted, const char *what)
{
    ok(strcmp(got, wanted) == 0, "%s: %s is %s", what, got, wanted);
}

static void needs(void)
{
    static const uint32_t exclusives[] = {0xc85f7c41, 0xc8017c43, 0xc87f0c41, 0x88017c43};
    struct cf_operands_state s = whole;
    struct cf_operands o;

    for (unsigned i = 0; i < 4; i++)
        ok(decode(&o, exclusives[i]) == 0 && o.needs == CF_OPERANDS_MONITOR,
           "exclusive %08x is one", exclusives[i]);
    ok(decode(&o, 0xc8a17c43) == 0 && !o.needs, "cas is none");
    ok(decode(&o, 0xc8dffc41) == 0 && !o.needs, "ldar is none");
    s.zeroed = 0;
    is_str(accesses(0xd50b7426, &s), "not in the state", "dc zva of a block of unknown size");
    s.zeroed = 2048;
    is_str(accesses(0xd50b7426, &s), "S6000,2048", "dc zva of another size");
    s.pointer_bits = 0;
    is_str(accesses(0xf8201441, &s), "not in the state", "ldraa with pointers of unknown form");
    s.pointer_bits = 39;
    s.general[2] = 0x00ffff8000002000 & ~(1ull << 55);
    is_str(accesses(0xf8201441, &s), "L2008,8", "ldraa of 39-bit addresses");
    s.pointer_bits = 64;
    is_str(accesses(0xf8201441, &s), "not in the state", "ldraa with an impossible number of bits");
}

int main(void)
{
    struct cf_operands o;
    uint8_t code[4];

    for (unsigned i = 0; i < sizeof known / sizeof *known; i++)
        is_str(accesses(known[i].word, &whole), known[i].accesses, known[i].text);
    for (unsigned i = 0; i < sizeof refused / sizeof *refused; i++)
        ok(decode(&o, refused[i].word) != 0, "refused: %s", refused[i].text);
    for (unsigned i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
        is_str(accesses(elsewhere[i].word, &whole), "", elsewhere[i].text);
    bytes_of(0xf9400841, code);
    ok(cf_operands_decode_arm64(&o, code, 3) != 0, "refused: one cut off");
    needs();
    return done();
}
