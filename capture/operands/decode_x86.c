/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * decode_x86.c - what an instruction's operands in memory are. See operands.h.
 */
#include <string.h>

#include <Zydis/Zydis.h>

#include "capture/operands/operands.h"
#include "capture/operands/repeats.h"
#include "formats/stream/cf.h"

static int general(ZydisRegister r)
{
    if (r == ZYDIS_REGISTER_NONE)
        return -1;
    if (r == ZYDIS_REGISTER_RIP || r == ZYDIS_REGISTER_EIP)
        return OPERANDS_NEXT;
    return ZydisRegisterGetId(ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r));
}

/* What is named memory but not accessed as such. */
static int no_access(const ZydisDecodedInstruction *i)
{
    return i->mnemonic == ZYDIS_MNEMONIC_NOP || i->mnemonic == ZYDIS_MNEMONIC_INVLPG ||
           i->mnemonic == ZYDIS_MNEMONIC_CLDEMOTE;
}

static unsigned special(const ZydisDecodedInstruction *i)
{
    switch (i->mnemonic) {
    case ZYDIS_MNEMONIC_PREFETCH:
    case ZYDIS_MNEMONIC_PREFETCHNTA:
    case ZYDIS_MNEMONIC_PREFETCHT0:
    case ZYDIS_MNEMONIC_PREFETCHT1:
    case ZYDIS_MNEMONIC_PREFETCHT2:
    case ZYDIS_MNEMONIC_PREFETCHW:
    case ZYDIS_MNEMONIC_PREFETCHWT1:
        return CF_PREFETCH;
    case ZYDIS_MNEMONIC_CLFLUSH:
    case ZYDIS_MNEMONIC_CLFLUSHOPT:
    case ZYDIS_MNEMONIC_CLWB:
        return CF_FLUSH;
    default:
        return 0;
    }
}

/* Bytes of an index of a gather or scatter. */
static unsigned index_bytes(ZydisMnemonic m)
{
    return m == ZYDIS_MNEMONIC_VGATHERDPS || m == ZYDIS_MNEMONIC_VGATHERDPD ||
                   m == ZYDIS_MNEMONIC_VPGATHERDD || m == ZYDIS_MNEMONIC_VPGATHERDQ ||
                   m == ZYDIS_MNEMONIC_VSCATTERDPS || m == ZYDIS_MNEMONIC_VSCATTERDPD ||
                   m == ZYDIS_MNEMONIC_VPSCATTERDD || m == ZYDIS_MNEMONIC_VPSCATTERDQ
               ? 4
               : 8;
}

/* The stack: the operand is at the pointer as the instruction leaves it, or finds it. */
static void on_stack(const ZydisDecodedInstruction *i, const ZydisDecodedOperand *from,
                     struct cf_operand *to)
{
    if (from->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN && to->stores && to->base == 4)
        to->displacement -= to->size;
    else if (i->mnemonic == ZYDIS_MNEMONIC_POP && to->base == 4 && to->stores)
        to->displacement += to->size;
}

static void gathered(struct cf_operands *o, const ZydisDecodedInstruction *i,
                     const ZydisDecodedOperand *all, const ZydisDecodedOperand *from,
                     struct cf_operand *to)
{
    /* The data is the operand that is neither memory nor mask. */
    const ZydisDecodedOperand *data =
        from == &all[0] ? &all[i->operand_count_visible - 1] : &all[0];
    const unsigned index_bits = ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, from->mem.index);
    unsigned lanes;

    to->index = (int8_t)ZydisRegisterGetId(from->mem.index);
    to->index_bytes = (uint8_t)index_bytes(i->mnemonic);
    to->element = (uint8_t)(from->element_size / 8);
    lanes = index_bits / 8 / to->index_bytes;
    if (to->element && data->size / 8 / to->element < lanes)
        lanes = data->size / 8 / to->element;
    to->lanes = (uint8_t)lanes;
    o->needs |= CF_OPERANDS_VECTOR;
}

static void masked(struct cf_operands *o, const ZydisDecodedInstruction *i,
                   const ZydisDecodedOperand *all)
{
    o->mask = -1;
    switch (i->mnemonic) {
    case ZYDIS_MNEMONIC_VMASKMOVPS:
    case ZYDIS_MNEMONIC_VMASKMOVPD:
    case ZYDIS_MNEMONIC_VPMASKMOVD:
    case ZYDIS_MNEMONIC_VPMASKMOVQ:
    case ZYDIS_MNEMONIC_MASKMOVDQU:
    case ZYDIS_MNEMONIC_VMASKMOVDQU:
        o->mask = (int8_t)ZydisRegisterGetId(all[1].reg.value);
        o->mask_is_vector = 1;
        break;
    default:
        if (i->encoding == ZYDIS_INSTRUCTION_ENCODING_VEX && o->places && o->place[0].index_bytes) {
            o->mask = (int8_t)ZydisRegisterGetId(all[2].reg.value);
            o->mask_is_vector = 1;
        } else if (i->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX &&
                   i->avx.broadcast.mode == ZYDIS_BROADCAST_MODE_INVALID &&
                   i->avx.mask.reg > ZYDIS_REGISTER_K0) {
            o->mask = (int8_t)ZydisRegisterGetId(i->avx.mask.reg);
        }
    }
    o->packed =
        i->meta.category == ZYDIS_CATEGORY_EXPAND || i->meta.category == ZYDIS_CATEGORY_COMPRESS;
    if (o->mask >= 0 && o->places)
        o->needs |= CF_OPERANDS_VECTOR;
}

static void add_place(struct cf_operands *o, const ZydisDecodedInstruction *i,
                      const ZydisDecodedOperand *all, const ZydisDecodedOperand *from)
{
    struct cf_operand *to = &o->place[o->places++];

    *to = (struct cf_operand){
        .displacement = (uint64_t)from->mem.disp.value,
        .base = (int8_t)general(from->mem.base),
        .index = -1,
        .scale = from->mem.scale,
        .segment = from->mem.segment == ZYDIS_REGISTER_FS   ? 1
                   : from->mem.segment == ZYDIS_REGISTER_GS ? 2
                                                            : 0,
        .op = (uint8_t)special(i),
        .size = from->size / 8,
        .loads = (from->actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0,
        .stores = (from->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0,
        .element = (uint8_t)(from->element_size / 8),
        .bit = -1,
    };
    /* The one operand of movdir64b has the same register twice. */
    if (i->mnemonic == ZYDIS_MNEMONIC_MOVDIR64B && to->stores)
        to->base = (int8_t)general(all[0].reg.value);
    if (to->element)
        to->lanes = (uint8_t)(to->size / to->element);
    if (from->mem.type == ZYDIS_MEMOP_TYPE_VSIB)
        gathered(o, i, all, from, to);
    else if (from->mem.index != ZYDIS_REGISTER_NONE)
        to->index = (int8_t)general(from->mem.index);
    if ((i->mnemonic == ZYDIS_MNEMONIC_BT || i->mnemonic == ZYDIS_MNEMONIC_BTS ||
         i->mnemonic == ZYDIS_MNEMONIC_BTR || i->mnemonic == ZYDIS_MNEMONIC_BTC) &&
        all[1].type == ZYDIS_OPERAND_TYPE_REGISTER)
        to->bit = (int8_t)general(all[1].reg.value);
    if (to->segment)
        o->needs |= CF_OPERANDS_SEGMENT;
    on_stack(i, from, to);
}

int cf_operands_decode_x86(struct cf_operands *o, const uint8_t *code, size_t length)
{
    ZydisDecoder decoder;
    ZydisDecodedInstruction i;
    ZydisDecodedOperand all[ZYDIS_MAX_OPERAND_COUNT];

    memset(o, 0, sizeof *o);
    o->mask = -1;
    if (!ZYAN_SUCCESS(
            ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)) ||
        !ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code, length, &i, all)))
        return -1;
    o->length = i.length;
    o->address_bits = i.address_width == 32 ? 32 : 64;
    if (i.attributes & ZYDIS_ATTRIB_HAS_REP)
        o->repeats = OPERANDS_COUNTED;
    else if (i.attributes & (ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE))
        o->repeats = OPERANDS_ONCE_OR_MORE;
    if (no_access(&i))
        return 0;
    for (unsigned k = 0; k < i.operand_count && o->places < CF_OPERANDS_PLACES; k++)
        if (all[k].type == ZYDIS_OPERAND_TYPE_MEMORY &&
            (all[k].mem.type == ZYDIS_MEMOP_TYPE_MEM || all[k].mem.type == ZYDIS_MEMOP_TYPE_VSIB))
            add_place(o, &i, all, &all[k]);
    masked(o, &i, all);
    return 0;
}
