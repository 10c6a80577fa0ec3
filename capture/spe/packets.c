/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * packets.c - packets, one after the other, to records. See spe.h.
 *
 * The header of a packet with a payload states the payload's size (bits 5:4), also that of types
 * that come with later processors: those are passed over, and the rest of their record is good. A
 * header without size that is unknown means that the trace is damaged: what comes up to the next
 * end of a record is dropped, and more, until a record states its instruction, as all of them do.
 */
#include <string.h>

#include "capture/spe/spe.h"
#include "formats/stream/cf.h"

enum {
    PAD = 0x00,
    END = 0x01,
    EXTENDED = 0x20, /* bits 7:2: a second byte of header follows; there 0 is an Alignment packet */
    CONTEXT = 0x64,  /* bits 7:2 */
    OPERATION = 0x48, /* bits 7:2, the class below */
    TIMESTAMP = 0x71,
    EVENTS = 0x42,  /* bits 7:6 and 3:0 */
    SOURCE = 0x43,  /* the same */
    ADDRESS = 0xb0, /* bits 7:3, the index below, of which an extended header has two bits more */
    COUNTER = 0x98, /* the same */
    SIZED = 0xc0,   /* one of these bits: the header states the size of a payload */
    LOAD_OR_STORE = 1, /* class of operations */
    STORES = 1,        /* bit of its payload */
    ADDRESS_PC = 0,
    ADDRESS_DATA = 2,
    ADDRESS_PHYS = 3,
    COUNTER_TOTAL = 0,
};

void cf_spe_begin(struct cf_spe *s, uint64_t at, int cut)
{
    s->at = at;
    s->held_bytes = s->skip = 0;
    memset(&s->now, 0, sizeof s->now);
    s->begun = s->bad = s->unsure = cut;
}

static void finish(struct cf_spe *s)
{
    if (s->bad || (s->unsure && !s->now.pc)) {
        s->dropped++;
    } else {
        s->unsure = 0;
        s->records++;
        s->take(s->arg, &s->now);
    }
    memset(&s->now, 0, sizeof s->now);
    s->begun = s->bad = 0;
}

void cf_spe_end(struct cf_spe *s)
{
    if (s->begun || s->held_bytes) {
        s->bad = 1;
        finish(s);
    }
    s->held_bytes = s->skip = 0;
}

/* The top byte of an address has no part in translation (DDI 0487, "Address tagging"). In place of
   it, a packet states security and exception level of an instruction, and the tag of data. */
static uint64_t whole_address(uint64_t payload, int instruction)
{
    const uint64_t top = UINT64_C(0xff) << 56, address = payload & ~top;
    const int not_secure = payload >> 63, level = payload >> 61 & 3;
    const int upper = instruction ? not_secure && (level == 1 || level == 2) : address >> 52 == 15;

    return upper ? address | top : address;
}

static void take_address(struct cf_spe *s, unsigned index, uint64_t payload)
{
    if (index == ADDRESS_PC)
        s->now.pc = whole_address(payload, 1);
    else if (index == ADDRESS_DATA)
        s->now.addr = whole_address(payload, 0);
    else if (index == ADDRESS_PHYS)
        s->now.phys = payload & ~(UINT64_C(0xff) << 56);
}

static void take_payload(struct cf_spe *s, unsigned header, unsigned index, uint64_t payload)
{
    struct cf_spe_record *r = &s->now;

    if ((header & 0xf8) == ADDRESS) {
        take_address(s, index, payload);
    } else if ((header & 0xf8) == COUNTER) {
        if (index == COUNTER_TOTAL)
            r->latency = (uint32_t)payload;
    } else if ((header & 0xcf) == EVENTS) {
        r->events = payload;
    } else if ((header & 0xcf) == SOURCE) {
        r->source = (uint32_t)payload;
        r->has |= CF_SPE_SOURCE;
    } else if ((header & 0xfc) == CONTEXT) {
        r->context = (uint32_t)payload;
        r->has |= CF_SPE_CONTEXT;
    } else if ((header & 0xfc) == OPERATION) {
        r->op = (header & 3) != LOAD_OR_STORE ? 0 : payload & STORES ? CF_STORE : CF_LOAD;
    } else {
        s->unknown++;
    }
}

static unsigned payload_bytes(unsigned header)
{
    return header & SIZED ? 1u << (header >> 4 & 3) : 0;
}

/* Bytes of the packet that begins here, 0 where they do not show it. */
static unsigned packet_bytes(const uint8_t *p, unsigned n)
{
    if ((p[0] & 0xfc) != EXTENDED)
        return 1 + payload_bytes(p[0]);
    return n < 2 ? 0 : 2 + payload_bytes(p[1]);
}

/* A whole packet, of which s->at is the end. */
static void take_packet(struct cf_spe *s, const uint8_t *p, unsigned bytes)
{
    const int extended = (p[0] & 0xfc) == EXTENDED;
    const unsigned header = p[extended], size = payload_bytes(header);
    const unsigned index = (header & 7) | (extended ? (p[0] & 3u) << 3 : 0);
    uint64_t payload = 0;

    if (!extended && header == PAD)
        return;
    if (extended && header == 0) { /* up to a multiple of so many bytes */
        const uint64_t unit = UINT64_C(2) << (p[0] & 15);

        s->skip = (unsigned)(-s->at & (unit - 1));
        return;
    }
    s->begun = 1;
    for (unsigned i = 0; i < size; i++)
        payload |= (uint64_t)p[bytes - size + i] << 8 * i;
    if (!extended && (header == END || header == TIMESTAMP)) {
        if (header == TIMESTAMP) {
            s->now.timestamp = payload;
            s->now.has |= CF_SPE_TIMESTAMP;
        }
        finish(s);
    } else if (!size) {
        s->bad = s->unsure = 1;
    } else if (extended && (header & 0xf8) != ADDRESS && (header & 0xf8) != COUNTER) {
        s->unknown++;
    } else {
        take_payload(s, header, index, payload);
    }
}

/* Adds to what is held, as far as it helps: bytes that were taken. */
static size_t fill(struct cf_spe *s, const uint8_t *bytes, size_t n)
{
    size_t taken = 0;
    unsigned want;

    while (taken < n) {
        s->held[s->held_bytes++] = bytes[taken++];
        want = packet_bytes(s->held, s->held_bytes);
        if (s->held_bytes == want) {
            s->at += want;
            take_packet(s, s->held, want);
            s->held_bytes = 0;
            break;
        }
    }
    return taken;
}

void cf_spe_take(struct cf_spe *s, const uint8_t *bytes, size_t n)
{
    while (n) {
        size_t part = s->skip;

        if (part) {
            part = part < n ? part : n;
            s->skip -= (unsigned)part;
            s->at += part;
        } else {
            part = s->held_bytes ? 0 : packet_bytes(bytes, n < 2 ? (unsigned)n : 2);
            if (part && part <= n) {
                s->at += part;
                take_packet(s, bytes, (unsigned)part);
            } else {
                part = fill(s, bytes, n);
            }
        }
        bytes += part;
        n -= part;
    }
}
