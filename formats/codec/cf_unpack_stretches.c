/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_unpack_stretches.c - rows that come in stretches (cf-stream(5), "Stretches").
 *
 * A stretch is put down in whole groups of rows, so that short ones need no loop and no branch that
 * depends on their length; what was too much is overwritten by the next.
 */
#include "cf_unpack.h"

enum { GROUP = CF_STRETCHED_GROUP };

typedef uint64_t group64 __attribute__((vector_size(8 * GROUP)));
typedef uint16_t group16 __attribute__((vector_size(2 * GROUP)));

/* How the addresses of a group of rows are made. */
struct addresses {
    uint64_t delta[GROUP], mask[GROUP]; /* mask 0: no slot */
    uint32_t slot[GROUP];               /* where it stands, bytes */
};

static uint16_t load16(const uint8_t *p)
{
    uint16_t v;
    memcpy(&v, p, 2);
    return v;
}

static uint16_t *group_of(uint16_t *rows, const struct cf_stretch *s)
{
    return rows + GROUP * (size_t)s->group;
}

/* Reads what stretches there are; how long `at` must be is known to be right. */
static int take_stretches(struct unpacker *u, const uint8_t *at)
{
    struct cf_stretches_read *t = &u->stretches;
    const size_t n = t->stretches, all = t->rows, groups = all / GROUP + n,
                 bytes = 2 * GROUP * groups;
    const uint8_t *const slots = at + 2 * n, *const times = slots + 2 * n,
                         *const kinds = times + 4 * n, *const steps = kinds + 2 * all,
                         *const places = steps + 2 * all;
    size_t row = 0;
    if (cfu_room(u, &t->memory, n * sizeof *t->stretch + 3 * bytes) < 0)
        return -1;
    t->stretch = (struct cf_stretch *)(void *)t->memory.data;
    t->kind = (uint16_t *)(void *)(t->stretch + n);
    t->step = t->kind + bytes / 2;
    t->place = t->step + bytes / 2;
    memset(t->kind, 0, 2 * bytes);
    memset(t->place, 0xff, bytes);
    t->groups = t->longest = 0;
    for (size_t i = 0; i < n; i++) {
        struct cf_stretch *s = &t->stretch[i];
        int32_t time;
        memcpy(&time, times + 4 * i, 4);
        *s = (struct cf_stretch){t->groups, load16(at + 2 * i), load16(slots + 2 * i), time};
        if (s->rows > all - row)
            return cfu_fail(u, "rows of stretches do not fit");
        t->groups += s->rows ? (s->rows + GROUP - 1u) / GROUP : 1;
        t->longest = s->slots > t->longest ? s->slots : t->longest;
        for (size_t k = 0; k < s->rows; k++, row++) {
            const uint16_t kind = load16(kinds + 2 * row), place = load16(places + 2 * row);
            if (kind >= u->kinds)
                return cfu_fail(u, "code is not known");
            if (place != CF_STRETCH_NO_SLOT && place >= s->slots)
                return cfu_fail(u, "slot is not known");
            group_of(t->kind, s)[k] = kind;
            group_of(t->step, s)[k] = load16(steps + 2 * row);
            group_of(t->place, s)[k] = place;
        }
    }
    return row == all ? 0 : cfu_fail(u, "rows of stretches do not fit");
}

static int check_tokens(struct unpacker *u)
{
    struct cf_stretches_read *t = &u->stretches;
    size_t rows = 0;
    t->slots = 0;
    for (size_t i = 0; i < t->tokens; i++) {
        const uint32_t token = load16(t->token + 2 * i);
        if (token >= t->stretches)
            return cfu_fail(u, "stretch is not known");
        rows += t->stretch[token].rows;
        t->slots += t->stretch[token].slots;
    }
    return rows == u->rows ? 0 : cfu_fail(u, "stretches do not fit the rows");
}

void cfu_stretch_codes(struct unpacker *u)
{
    const struct cf_stretches_read *t = &u->stretches;
    uint16_t *code = u->code;
    for (size_t i = 0; i < t->tokens; i++) {
        const struct cf_stretch *s = &t->stretch[load16(t->token + 2 * i)];
        const uint16_t *kind = group_of(t->kind, s);
        memcpy(code, kind, 2 * GROUP);
        for (size_t k = GROUP; k < s->rows; k += GROUP)
            memcpy(code + k, kind + k, 2 * GROUP);
        code += s->rows;
    }
}

int cfu_stretches(struct unpacker *u, size_t rows, const struct cf_coded *c)
{
    struct cf_stretches_read *t = &u->stretches;
    struct cf_input in = cfu_input(c);
    const int64_t stretches = cfu_varint(&in, CF_STRETCHES_MOST),
                  all = cfu_varint(&in, CF_STRETCHES_MOST), tokens = cfu_varint(&in, c->bytes / 2);
    if (stretches < 0 || all < 0 || tokens < 0)
        return cfu_fail(u, "number of stretches is wrong");
    t->stretches = (uint32_t)stretches;
    t->rows = (uint32_t)all;
    t->tokens = (size_t)tokens;
    if ((size_t)(in.end - in.at) != 8 * (size_t)t->stretches + 6 * (size_t)t->rows + 2 * t->tokens)
        return cfu_fail(u, "length of the codes is wrong");
    t->token = in.end - 2 * t->tokens;
    return cfu_kinds(u, rows, c->base) < 0 || take_stretches(u, in.at) < 0 ? -1 : check_tokens(u);
}

static void put_times(struct cf_stretches_read *t, uint64_t now, uint64_t *out)
{
    for (size_t i = 0; i < t->tokens; i++) {
        const struct cf_stretch *s = &t->stretch[load16(t->token + 2 * i)];
        const uint16_t *step = group_of(t->step, s);
        size_t k = 0;
        do {
            group16 v;
            memcpy(&v, step + k, sizeof v);
            const group64 time = __builtin_convertvector(v, group64) + now;
            memcpy(out + k, &time, sizeof time);
            k += GROUP;
        } while (k < s->rows);
        out += s->rows;
        now += (uint64_t)s->time;
    }
}

int cfu_clock(struct unpacker *u, const struct cf_coded *c, uint64_t *out)
{
    if (c->bytes)
        return cfu_fail(u, "bytes behind a column");
    put_times(&u->stretches, c->base, out);
    return 0;
}

/* Puts down the addresses of the stretches from *token on whose slots begin at `stop` or before,
   the first at *slots; behind what is put down. */
static uint64_t *put_addresses(const struct cf_stretches_read *t, size_t *token,
                               const uint8_t **slots, const uint8_t *stop, uint64_t *out)
{
    const struct addresses *const groups = (const void *)t->addresses.data;
    const uint8_t *p = *slots;
    size_t i = *token;
    for (; i < t->tokens && p <= stop; i++) {
        const struct cf_stretch *s = &t->stretch[load16(t->token + 2 * i)];
        const struct addresses *g = groups + s->group;
        size_t k = 0;
        do {
            group64 v = {cf_load64(p + g->slot[0]), cf_load64(p + g->slot[1]),
                         cf_load64(p + g->slot[2]), cf_load64(p + g->slot[3])},
                    mask, delta;
            memcpy(&mask, g->mask, sizeof mask);
            memcpy(&delta, g->delta, sizeof delta);
            v = ((v & mask) + delta) & CF_STRETCH_ADDRESS;
            memcpy(out + k, &v, sizeof v);
            g++;
            k += GROUP;
        } while (k < s->rows);
        out += s->rows;
        p += CF_STRETCH_SLOT * (size_t)s->slots;
    }
    *token = i;
    *slots = p;
    return out;
}

/* Takes in what the addresses of each stretch's rows are ahead of their slots. */
static void take_deltas(struct cf_stretches_read *t, const uint8_t *at)
{
    struct addresses *const groups = (void *)t->addresses.data;
    memset(groups, 0, t->groups * sizeof *groups);
    for (uint32_t i = 0; i < t->stretches; i++) {
        const struct cf_stretch *s = &t->stretch[i];
        const uint16_t *place = group_of(t->place, s);
        for (size_t k = 0; k < s->rows; k++, at += 8) {
            struct addresses *g = &groups[s->group + k / GROUP];
            const size_t lane = k % GROUP;
            g->delta[lane] = cf_load64(at);
            if (place[k] != CF_STRETCH_NO_SLOT) {
                g->mask[lane] = CF_STRETCH_ADDRESS;
                g->slot[lane] = (uint32_t)CF_STRETCH_SLOT * place[k];
            }
        }
    }
}

int cfu_slots(struct unpacker *u, const struct cf_coded *c, struct cf_stretched *s)
{
    const struct cf_stretches_read *t = &u->stretches;
    const size_t deltas = 8 * (size_t)t->rows, bytes = CF_STRETCH_SLOT * t->slots;
    if (c->bytes != deltas + bytes)
        return cfu_fail(u, "length of the addresses is wrong");
    *s = (struct cf_stretched){.rows = (uint32_t)u->rows,
                               .kinds = u->kinds,
                               .stretches = t->stretches,
                               .groups = t->groups,
                               .stretch = t->stretch,
                               .kind = t->kind,
                               .place = t->place,
                               .delta = c->data,
                               .tokens = t->tokens,
                               .token = t->token,
                               .slot = c->data + deltas,
                               .slot_bytes = bytes};
    return 0;
}

int cfu_addresses(struct unpacker *u, const struct cf_coded *c, uint64_t *out)
{
    struct cf_stretches_read *t = &u->stretches;
    const size_t most = CF_STRETCH_SLOT * (size_t)t->longest + 8; /* what a stretch may read */
    struct cf_stretched s;
    if (cfu_slots(u, c, &s) < 0)
        return -1;
    const size_t bytes = s.slot_bytes;
    const uint8_t *slots = s.slot, *const end = slots + bytes;
    size_t token = 0;
    if (cfu_room(u, &t->addresses, t->groups * sizeof(struct addresses)) < 0)
        return -1;
    take_deltas(t, c->data);
    if (bytes >= most)
        out = put_addresses(t, &token, &slots, end - most, out);
    if (token < t->tokens) { /* words may reach over the end: into that of a copy */
        const size_t rest = (size_t)(end - slots);
        if (cfu_room(u, &u->plain[0], rest + most) < 0)
            return -1;
        memcpy(u->plain[0].data, slots, rest);
        slots = u->plain[0].data;
        put_addresses(t, &token, &slots, slots + rest, out);
    }
    return 0;
}
