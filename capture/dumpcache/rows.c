/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rows.c - one line of text of the published tool or of a relative. See import.h.
 *
 *     00042,0x0000b6f4c000                          pid, address; the place in the file is set, way
 *     VV, way,set,moesi,  pid,0xpid, 0xraw1,0xraw0,0xPA ,<words>     L2 of the Cortex-A72
 *     way,set,pid,0xpid,0xraw1,0xraw0,0xPA ,<words>                  L1 of the Cortex-A72
 *     SET:0000 WAY:00 V:1 D:0 NS:1 TAG:0000fe123000 DATA...          L1 of the Cortex-A72
 *
 * Whether a line of the second and third kind is valid, and its state, are taken from the raw words
 * of the tag memory. The second and third come from a fork of the tool (R. H. Bell and others), the
 * fourth from a tool called ramindex; both were known to the author by description only.
 */

#include "capture/dumpcache/import.h"

/* ---- fields ---- */

struct cursor {
    const char *p, *end;
};

static void blanks(struct cursor *c)
{
    while (c->p < c->end && (*c->p == ' ' || *c->p == '\t' || *c->p == '\r'))
        c->p++;
}

/* A decimal number, or with 0x a hex one. */
static int number(struct cursor *c, uint64_t *value)
{
    uint64_t v = 0;
    const char *begin;

    blanks(c);
    begin = c->p;
    if (c->end - c->p > 2 && c->p[0] == '0' && (c->p[1] == 'x' || c->p[1] == 'X')) {
        c->p = cf_lines_hex(c->p + 2, value);
        return c->p && c->p <= c->end ? 0 : -1;
    }
    for (; c->p < c->end && *c->p >= '0' && *c->p <= '9' && c->p - begin < 19; c->p++)
        v = v * 10 + (uint64_t)(*c->p - '0');
    *value = v;
    return c->p == begin ? -1 : 0;
}

static int comma(struct cursor *c)
{
    blanks(c);
    if (c->p == c->end || *c->p != ',')
        return -1;
    c->p++;
    return 0;
}

/* Numbers between commas: 0 when there are `count` of them and then the line's end or a comma. */
static int numbers(struct cursor *c, uint64_t *value, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if ((i && comma(c) != 0) || number(c, &value[i]) != 0)
            return -1;
    blanks(c);
    return c->p == c->end || *c->p == ',' ? 0 : -1;
}

/* "NAME:" and a number in that base. */
static int named(struct cursor *c, const char *name, int hex, uint64_t *value)
{
    const size_t n = strlen(name);

    blanks(c);
    if ((size_t)(c->end - c->p) <= n || memcmp(c->p, name, n) != 0)
        return -1;
    c->p += n;
    if (!hex)
        return number(c, value);
    c->p = cf_lines_hex(c->p, value);
    return c->p && c->p <= c->end ? 0 : -1;
}

/* ---- lines ---- */

static int place(struct cf_dumpcache_row *r, uint64_t set, uint64_t way, uint64_t pid)
{
    if (set >= CF_ENTRIES_MOST || way >= 256 || pid > PID_MOST ||
        (r->valid && r->phys >> ADDRESS_BITS))
        return ROW_BAD;
    r->set = (uint32_t)set;
    r->way = (uint32_t)way;
    r->pid = pid == PID_UNKNOWN ? 0 : (uint32_t)pid;
    return ROW_PLACED;
}

static int scan_l2(struct cursor *c, struct cf_dumpcache_row *r)
{
    /* way set moesi pid pid raw1 raw0 phys */
    static const uint8_t states[] = {0, CF_STATE_UNIQUE, 0, CF_STATE_COMMON};
    uint64_t v[8];

    if (numbers(c, v, 8) != 0)
        return ROW_BAD;
    r->level = 2;
    r->valid = (v[6] & 3) != 0;
    r->state = (uint8_t)(states[v[6] & 3] | (v[6] >> 31 & 1 ? CF_STATE_NON_SECURE : 0));
    r->phys = v[7];
    return place(r, v[1], v[0], v[3]);
}

static int scan_l1(struct cursor *c, struct cf_dumpcache_row *r)
{
    /* way set pid pid raw1 raw0 phys */
    static const uint8_t states[] = {0, CF_STATE_EXCLUSIVE, CF_STATE_SHARED, CF_STATE_MODIFIED};
    uint64_t v[7];

    if (numbers(c, v, 7) != 0)
        return ROW_BAD;
    r->level = 1;
    r->valid = (v[4] & 3) != 0;
    r->state = (uint8_t)(states[v[4] & 3] | (v[5] >> 30 & 1 ? CF_STATE_NON_SECURE : 0));
    r->phys = v[6];
    return place(r, v[1], v[0], v[2]);
}

static int scan_ramindex(struct cursor *c, struct cf_dumpcache_row *r)
{
    uint64_t set, way, valid, dirty, secure, tag;

    if (named(c, "SET:", 0, &set) != 0 || named(c, "WAY:", 0, &way) != 0 ||
        named(c, "V:", 0, &valid) != 0 || named(c, "D:", 0, &dirty) != 0 ||
        named(c, "NS:", 0, &secure) != 0 || named(c, "TAG:", 1, &tag) != 0)
        return ROW_BAD;
    r->level = 0;
    r->valid = valid != 0;
    r->state = (uint8_t)((dirty ? CF_STATE_MODIFIED : 0) | (secure ? CF_STATE_NON_SECURE : 0));
    r->phys = tag;
    return place(r, set, way, 0);
}

int cf_dumpcache_entry(struct entry *a, uint64_t pid, uint64_t addr)
{
    if (pid > PID_MOST || addr >> ADDRESS_BITS)
        return ROW_BAD;
    *a = (struct entry){addr, (uint32_t)pid};
    return ROW_ENTRY;
}

int cf_dumpcache_scan(const char *line, size_t length, struct entry *a, struct cf_dumpcache_row *r)
{
    struct cursor c = {line, line + length};
    uint64_t v[2];
    unsigned commas = 0;

    for (size_t i = 0; i < length && commas < 8; i++)
        commas += line[i] == ',';
    if (commas == 1) {
        if (numbers(&c, v, 2) != 0 || c.p != c.end)
            return ROW_BAD;
        return cf_dumpcache_entry(a, v[0], v[1]);
    }
    *r = (struct cf_dumpcache_row){0};
    if (length > 4 && memcmp(line, "SET:", 4) == 0)
        return scan_ramindex(&c, r);
    if (length > 3 && line[2] == ',' && (line[0] < '0' || line[0] > '9')) {
        c.p += 3; /* two letters that say again what the raw words say */
        return scan_l2(&c, r);
    }
    return scan_l1(&c, r);
}
