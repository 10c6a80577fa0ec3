/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_stretches.c - fills frames of stretches. See cf_stretches.h.
 */
#include <stdlib.h>

#include "cf_stretches_parts.h"
#include "formats/codec/cf_pack.h"

static struct cfw_stretches *of(const struct cf_stretches *s)
{
    return (struct cfw_stretches *)(uintptr_t)s;
}

void cfw_begin_stretches(struct cfw_stretches *b)
{
    b->s.frame++;
    b->s.rows = b->s.tokens = b->s.slot_bytes = 0;
    b->stretches = b->all = b->kinds = 0;
    b->s.base = b->s.clock;
    b->any_far = 0;
}

/* Where the number of a hint stands; NULL without memory. */
static uint64_t *number_of(struct cfw_stretches *b, uint64_t **number, size_t *room, uint32_t hint)
{
    if (cf_array_cleared(number, room, (size_t)hint + 1, sizeof **number) == 0)
        return *number + hint;
    b->no_memory = 1;
    return NULL;
}

int cf_stretches_add(struct cf_stretches *s, const struct cf_stretch_row *row, uint32_t rows,
                     uint32_t slots, int32_t time)
{
    struct cfw_stretches *const b = of(s);
    const uint32_t number = b->stretches;

    if (number == MOST || rows > ROWS - b->all)
        return -1;
    b->from[number] = b->all;
    b->rows[number] = (uint16_t)rows;
    b->slots[number] = (uint16_t)slots;
    b->time[number] = time;
    b->far[number] = 0;
    for (uint32_t i = 0; i < rows; i++, b->all++) {
        uint64_t *const kind = number_of(b, &b->number, &b->number_room, row[i].hint);

        if (!kind)
            return -1;
        if (cf_stretches_void(s, *kind)) {
            b->hint[b->kinds] = row[i].hint;
            *kind = s->frame << 16 | b->kinds++;
        }
        b->kind[b->all] = (uint16_t)*kind;
        b->step[b->all] = row[i].step;
        b->place[b->all] = row[i].slot;
        b->delta[b->all] = row[i].delta;
        b->far[number] |= row[i].slot == CF_STRETCH_NO_SLOT
                              ? row[i].delta - s->low < s->high - s->low
                              : row[i].delta + NEAR > 2 * NEAR;
    }
    b->any_far |= b->far[number];
    return (int)b->stretches++;
}

int cf_stretches_wait(struct cf_stretches *s, uint64_t until)
{
    struct cfw_stretches *const b = of(s);
    const int64_t time = (int64_t)(until - s->clock);
    const unsigned place = (uint64_t)time * UINT64_C(0x9e3779b97f4a7c15) >> 56;

    if (!s->rows) { /* then nothing came, or only time */
        s->tokens = s->slot_bytes = 0;
        s->clock = s->base = until;
        return 0;
    }
    if (time != (int32_t)time)
        return -1;
    if (b->wait[place].time != time || cf_stretches_void(s, b->wait[place].number)) {
        const int number = cf_stretches_add(s, NULL, 0, 0, (int32_t)time);

        if (number < 0)
            return -1;
        b->wait[place].time = (int32_t)time;
        b->wait[place].number = s->frame << 16 | (unsigned)number;
    }
    s->token[s->tokens++] = (uint16_t)b->wait[place].number;
    s->clock = until;
    return 0;
}

int cf_stretches_row(struct cf_stretches *s, uint64_t time, uint64_t addr, uint32_t hint)
{
    struct cfw_stretches *const b = of(s);
    uint64_t *const single = number_of(b, &b->single, &b->single_room, hint);

    if (!single || cf_stretches_full(s, 1) || (time != s->clock && cf_stretches_wait(s, time) < 0))
        return -1;
    if (cf_stretches_void(s, *single)) {
        const int number = cf_stretches_add(s, &(struct cf_stretch_row){.hint = hint}, 1, 1, 0);

        if (number < 0)
            return -1;
        *single = s->frame << 16 | (unsigned)number;
    }
    memcpy(s->slot + s->slot_bytes, &addr, 8);
    cf_stretches_come(s, *single, 1, CF_STRETCH_SLOT, 0, 0, 0);
    return 0;
}

/* ---- rows that are to be looked at ---- */

static uint64_t slot_value(const uint8_t *slots, uint32_t number)
{
    return cf_load64(slots + CF_STRETCH_SLOT * (size_t)number) & CF_STRETCH_ADDRESS;
}

static uint64_t address_of(const struct cfw_stretches *b, uint32_t row, const uint8_t *slots)
{
    const uint64_t value =
        b->place[row] == CF_STRETCH_NO_SLOT ? 0 : slot_value(slots, b->place[row]);

    return (value + b->delta[row]) & CF_STRETCH_ADDRESS;
}

int cf_stretches_reach(const struct cf_stretches *s, const struct cf_stretches *mark)
{
    const struct cfw_stretches *const b = of(s);
    const uint8_t *slots = s->slot + mark->slot_bytes;
    const uint32_t n = (s->slot_bytes - mark->slot_bytes) / CF_STRETCH_SLOT;
    const uint64_t low = s->low, bytes = s->high - s->low;
    int reach = 0;

    for (uint32_t i = 0; i < n; i++)
        reach |= slot_value(slots, i) - (low - NEAR) < bytes + 2 * NEAR;
    for (uint32_t i = mark->tokens; b->any_far && i < s->tokens; i++) {
        const uint32_t stretch = s->token[i], end = b->from[stretch] + b->rows[stretch];

        for (uint32_t row = b->from[stretch]; b->far[stretch] && row < end; row++)
            reach |= address_of(b, row, slots) - low < bytes;
        slots += CF_STRETCH_SLOT * (size_t)b->slots[stretch];
    }
    return reach;
}

uint32_t cf_stretches_back(struct cf_stretches *s, const struct cf_stretches *mark,
                           const uint64_t **time, const uint64_t **addr, const uint32_t **hint)
{
    struct cfw_stretches *const b = of(s);
    const uint8_t *slots = s->slot + mark->slot_bytes;
    uint64_t now = mark->rows ? mark->clock : s->base; /* of a frame that was empty */
    uint32_t n = 0;

    if (!b->back && !(b->back = malloc(sizeof *b->back))) {
        b->no_memory = 1;
        return 0;
    }
    for (uint32_t i = mark->tokens; i < s->tokens; i++) {
        const uint32_t stretch = s->token[i], end = b->from[stretch] + b->rows[stretch];

        for (uint32_t row = b->from[stretch]; row < end; row++, n++) {
            b->back->time[n] = now + b->step[row];
            b->back->addr[n] = address_of(b, row, slots);
            b->back->hint[n] = b->hint[b->kind[row]];
        }
        slots += CF_STRETCH_SLOT * (size_t)b->slots[stretch];
        now += (uint64_t)(int64_t)b->time[stretch];
    }
    *s = *mark;
    *time = b->back->time;
    *addr = b->back->addr;
    *hint = b->back->hint;
    return n;
}

struct cfw_stretches *cfw_new_stretches(void)
{
    struct cfw_stretches *const b = calloc(1, sizeof *b);

    if (!b)
        return NULL;
    b->tokens = malloc(CFW_BEFORE_TOKENS + CF_STRETCHES_TOKENS * sizeof *b->s.token);
    b->slot_room = malloc(CFW_BEFORE_SLOTS + CF_STRETCHES_SLOTS);
    if (b->tokens && b->slot_room) {
        b->s.token = (uint16_t *)(void *)(b->tokens + CFW_BEFORE_TOKENS);
        b->s.slot = b->slot_room + CFW_BEFORE_SLOTS;
        cfw_begin_stretches(b);
        return b;
    }
    cfw_free_stretches(b);
    return NULL;
}

void cfw_free_stretches(struct cfw_stretches *b)
{
    if (!b)
        return;
    free(b->tokens);
    free(b->slot_room);
    free(b->number);
    free(b->single);
    free(b->back);
    free(b->scratch);
    free(b);
}
