/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_repeat.c - repeated string instructions. See cf_repeat.h.
 */
#include <string.h>

#include "capture/record/cf_repeat.h"

static int grows(const struct cf_repeat_piece *p, uint64_t addr, unsigned bytes)
{
    return p->bytes && p->addr + p->bytes == addr &&
           p->addr / CF_REPEAT_BYTES == (addr + bytes - 1) / CF_REPEAT_BYTES;
}

/* The open load, and the stores that came after its first element. */
static unsigned put_load(struct cf_repeat *r, struct cf_repeat_piece *out)
{
    unsigned n = 0;

    if (r->load.bytes)
        out[n++] = r->load;
    r->load.bytes = 0;
    memcpy(out + n, r->ready, r->waiting * sizeof(*out));
    n += r->waiting;
    r->waiting = 0;
    return n;
}

/* The open store: it waits if a load before it is still open. */
static unsigned put_store(struct cf_repeat *r, struct cf_repeat_piece *out)
{
    unsigned n = 0;

    if (!r->store.bytes)
        return 0;
    if (r->load.bytes && r->waiting < CF_REPEAT_WAIT)
        r->ready[r->waiting++] = r->store;
    else {
        n = put_load(r, out);
        out[n++] = r->store;
    }
    r->store.bytes = 0;
    return n;
}

unsigned cf_repeat_add(struct cf_repeat *r, int store, uint64_t addr, unsigned bytes,
                       struct cf_repeat_piece *out)
{
    struct cf_repeat_piece *open = store ? &r->store : &r->load;
    unsigned n = 0;

    if (!store) {
        r->apart |= r->loads && addr < r->from;
        r->from = addr;
        r->loads = 1;
    } else if (r->loads && addr - r->from - 1 < CF_REPEAT_OVERLAP - 1) {
        r->apart = 1;
    }
    if (!r->apart && grows(open, addr, bytes)) {
        open->bytes = (uint8_t)(open->bytes + bytes);
    } else {
        n = r->apart ? cf_repeat_end(r, out) : store ? put_store(r, out) : put_load(r, out);
        *open = (struct cf_repeat_piece){addr, (uint8_t)bytes, (uint8_t)(store != 0)};
    }
    if (r->apart)
        n += cf_repeat_end(r, out + n);
    else if ((addr + bytes) % CF_REPEAT_BYTES == 0)
        n += store ? put_store(r, out + n) : put_load(r, out + n);
    return n;
}

unsigned cf_repeat_end(struct cf_repeat *r, struct cf_repeat_piece *out)
{
    unsigned n = put_load(r, out);

    return n + put_store(r, out + n);
}
