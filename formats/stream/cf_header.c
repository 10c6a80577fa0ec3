/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The YAML document in a segment's header. We read the keys that we know and keep the text, so
 * that keys of others survive; the chain stands last, one line a program, so that a filter adds
 * itself by appending a line.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cf_memory.h"
#include "formats/base/cf_number.h"
#include "formats/base/cf_text.h"
#include "formats/base/cf_yaml.h"
#include "cf_wire.h"

#define RECORDED_NAME(id, name) name,
static const char *const recorded_names[CF_RECORDED] = {CF_RECORDED_KEYS(RECORDED_NAME)};

struct parse {
    struct cf_header *h;
    const char *text;
    size_t bytes;
    int chain_last;
    int columns; /* 1: in `columns`; 2: after it */
    int command; /* the same */
    int clock;   /* the same */
    const char *problem;
    size_t line; /* of the problem, 0: of none */
    int no_memory;
};

static void refuse(struct parse *p, const struct cf_yaml *n, const char *problem)
{
    p->problem = problem;
    p->line = n->line;
}

/* `before` is what the key said before, 0: nothing. */
static uint64_t number(struct parse *p, const struct cf_yaml *n, uint64_t most, uint64_t before)
{
    uint64_t v = 0;

    if (before)
        refuse(p, n, "a key stands twice");
    else if (cf_read_number(n->text, CF_READ_DECIMAL, most, &v) < 0)
        refuse(p, n, "a number was expected");
    return v;
}

/* A text of the document, or of a mapping in it, whose key is `within`. */
static void take_value(struct parse *p, const char *within, const char *key,
                       const struct cf_yaml *n)
{
    struct cf_header *h = p->h;
    char **place = NULL;

    if (n->kind != CF_YAML_TEXT)
        return;
    if (!within) {
        if (!strcmp(key, "machine"))
            place = &h->machine;
        else if (!strcmp(key, "source"))
            place = &h->source;
        else if (!strcmp(key, "command"))
            place = &h->command;
        else if (!strcmp(key, "line_size"))
            h->line_size = (uint32_t)number(p, n, 1 << 20, h->line_size);
    } else if (!strcmp(within, "clock")) {
        if (!strcmp(key, "unit"))
            place = &h->clock_unit;
        else if (!strcmp(key, "hz"))
            h->clock_hz = number(p, n, UINT64_MAX, h->clock_hz);
    } else if (!strcmp(within, "recorded")) {
        for (unsigned i = 0; i < CF_RECORDED; i++)
            if (!strcmp(key, recorded_names[i]))
                place = &h->recorded[i];
    }
    if (place && *place) {
        refuse(p, n, "a key stands twice");
    } else if (place) {
        *place = strdup(n->text);
        p->no_memory |= !*place;
    }
}

/* ---- facts of columns ---- */

/* Where a key of the document stands, in bytes: libyaml counts characters. It must begin a line,
   for facts are put in and taken out by lines. */
static size_t place_of(struct parse *p, const struct cf_yaml *key)
{
    size_t at = p->bytes >= 3 && !memcmp(p->text, "\xef\xbb\xbf", 3) ? 3 : 0; /* byte order mark */

    for (size_t n = 0; at < p->bytes; at++)
        if ((p->text[at] & 0xc0) != 0x80 && n++ == key->at)
            break;
    if (at && p->text[at - 1] != '\n')
        refuse(p, key,
               "'clock', 'command', 'columns', what follows them and 'chain' must begin a line");
    return at;
}

/* A key of the document may begin what we can replace, end it, or be 'chain', before which it can
   stand; `in` is what the keys before were, see struct parse. */
static int mark(struct parse *p, const struct cf_yaml *key, int begins, int in, size_t *at,
                size_t *end)
{
    if (begins)
        *at = place_of(p, key);
    else if (in == 1)
        *end = place_of(p, key);
    else if (p->chain_last && !in)
        *at = *end = place_of(p, key);
    return begins ? 1 : in ? 2 : 0;
}

static void top_key(struct parse *p, const struct cf_yaml *key)
{
    const int columns = !strcmp(key->text, "columns"), command = !strcmp(key->text, "command");
    const int clock = !strcmp(key->text, "clock");

    if (p->chain_last)
        refuse(p, key, "'chain' must be the last key");
    p->chain_last = !strcmp(key->text, "chain");
    if (columns && p->columns)
        refuse(p, key, "'columns' stands twice");
    p->columns = mark(p, key, columns, p->columns, &p->h->facts_at, &p->h->facts_end);
    p->command = mark(p, key, command, p->command, &p->h->command_at, &p->h->command_end);
    p->clock = mark(p, key, clock, p->clock, &p->h->clock_at, &p->h->clock_end);
}

static void take_fact(struct parse *p, const struct cf_yaml *column, const struct cf_yaml *key)
{
    const struct cf_yaml *n = key->next;
    const int number =
        n->plain && n->length && n->length <= 20 && strspn(n->text, "0123456789") == n->length;

    if (n->kind != CF_YAML_TEXT)
        refuse(p, n, "'columns' is no mapping of columns to mappings");
    else if (cf_facts_refuse(&p->h->facts, column->text, key->text))
        refuse(p, n, cf_facts_refuse(&p->h->facts, column->text, key->text));
    else if (cf_facts_add(&p->h->facts, column->text, key->text, n->text, number) != 0)
        p->no_memory = 1;
}

/* Columns, or the facts of one, which is NULL for the former. */
static void take_facts(struct parse *p, const struct cf_yaml *column, const struct cf_yaml *map)
{
    if (map->kind != CF_YAML_MAP)
        refuse(p, map, "'columns' is no mapping of columns to mappings");
    for (const struct cf_yaml *k = map->child; k && !p->problem; k = k->next->next)
        if (!k->length || k->length >= CF_MAX_FACT_NAME)
            refuse(p, k, "a column's or fact's name is empty or too long");
        else if (column)
            take_fact(p, column, k);
        else
            take_facts(p, k, k->next);
}

/* ---- the document ---- */

static void take_document(struct parse *p, const struct cf_yaml *root)
{
    if (root && root->kind != CF_YAML_MAP) {
        refuse(p, root, "the document is no mapping");
        return;
    }
    for (const struct cf_yaml *k = root ? root->child : NULL; k && !p->problem; k = k->next->next) {
        const struct cf_yaml *value = k->next;

        top_key(p, k);
        take_value(p, NULL, k->text, value);
        if (p->columns == 1 && !p->problem)
            take_facts(p, NULL, value);
        if (value->kind == CF_YAML_MAP)
            for (const struct cf_yaml *c = value->child; c; c = c->next->next)
                take_value(p, k->text, c->text, c->next);
        else if (p->chain_last)
            for (const struct cf_yaml *c = value->child; c; c = c->next)
                p->h->chain += c->kind == CF_YAML_TEXT;
    }
    if (!p->problem && !p->chain_last)
        p->problem = "'chain' must be the last key";
    if (!p->problem && (p->bytes == 0 || p->text[p->bytes - 1] != '\n'))
        p->problem = "the last line does not end";
    if (!p->problem && p->h->chain > CF_CHAIN_MOST)
        p->problem = "more than 255 programs in the chain";
}

void cf_header_clear(struct cf_header *h)
{
    free(h->clock_unit);
    free(h->machine);
    free(h->source);
    free(h->command);
    for (unsigned i = 0; i < CF_RECORDED; i++)
        free(h->recorded[i]);
    free(h->yaml);
    cf_facts_clear(&h->facts);
    memset(h, 0, sizeof(*h));
}

/* `appended` are values by which it may be over the limit. */
static int parse(struct cf_header *h, const char *yaml, size_t bytes, unsigned appended,
                 char *problem, size_t size)
{
    const struct cf_yaml_rules rules = {.depth = 15, .values = (1 << 16) + appended};
    struct parse p = {.h = h, .text = yaml, .bytes = bytes};
    struct cf_yaml_problem invalid;
    struct cf_yaml *root;

    memset(h, 0, sizeof(*h));
    if (cf_yaml_read(yaml, bytes, &rules, &root, &invalid) == 0) {
        h->yaml = malloc(bytes + 1);
        h->yaml_bytes = bytes;
        if (h->yaml)
            *(char *)mempcpy(h->yaml, yaml, bytes) = 0;
        p.no_memory = !h->yaml;
        take_document(&p, root);
    } else {
        p.no_memory = invalid.no_memory;
        p.problem = invalid.text;
        p.line = invalid.line;
    }
    cf_yaml_free(root);
    if (p.problem && p.line)
        snprintf(problem, size, "header line %zu: %s", p.line, p.problem);
    else if (p.problem)
        snprintf(problem, size, "header: %s", p.problem);
    if (p.problem || p.no_memory)
        cf_header_clear(h);
    return p.no_memory ? -2 : p.problem ? -1 : 0;
}

int cf_header_parse(struct cf_header *h, const char *yaml, size_t bytes, char *problem, size_t size)
{
    struct cf_header longer;
    char *text;
    size_t n;
    int result = parse(h, yaml, bytes, 0, problem, size);

    if (result != 0)
        return result;
    /* A chain written in another style could not take the line of the next program. */
    text = cf_header_text(NULL, h, NULL, "x", &n);
    memset(&longer, 0, sizeof(longer));
    result = text ? parse(&longer, text, n, 1, problem, size) : -2;
    if (result == 0 && longer.chain != h->chain + 1)
        result = -1;
    cf_header_clear(&longer);
    free(text);
    if (result == -1 && h->chain >= CF_CHAIN_MOST)
        return 0;
    if (result == -1)
        snprintf(problem, size, "header: 'chain' is no list of lines that begin with '  - '");
    if (result != 0)
        cf_header_clear(h);
    return result;
}

/* A YAML double-quoted scalar. Bytes that are no UTF-8 become the code points of Latin-1. */
static void quoted(FILE *out, const char *text)
{
    putc('"', out);
    while (*text) {
        uint32_t code;
        int valid;
        size_t n = cf_text_decode(text, &code, &valid);

        if (!valid) {
            n = 1;
            code = (unsigned char)*text;
        }
        /* what YAML does not take as it is: controls, line ends, byte order marks, no characters */
        if (*text == '"' || *text == '\\')
            fprintf(out, "\\%c", *text);
        else if (!valid || code < 0x20 || code == 0x7f)
            fprintf(out, "\\x%02X", (unsigned)code);
        else if ((code >= 0x80 && code < 0xa0) || code == 0x2028 || code == 0x2029 ||
                 code == 0xfeff || code == 0xfffe || code == 0xffff)
            fprintf(out, "\\u%04X", (unsigned)code);
        else
            fwrite(text, 1, n, out);
        text += n;
    }
    putc('"', out);
}

static void entry(FILE *out, const char *key, const char *text)
{
    if (text) {
        fprintf(out, "%s: ", key);
        quoted(out, text);
        putc('\n', out);
    }
}

static void name(FILE *out, const char *text)
{
    if (strspn(text, "abcdefghijklmnopqrstuvwxyz_0123456789") == strlen(text) && *text >= 'a')
        fputs(text, out);
    else
        quoted(out, text);
    fputs(": ", out);
}

static void write_recorded(FILE *out, char *const *recorded)
{
    const char *before = "recorded: {";

    for (unsigned i = 0; i < CF_RECORDED; i++) {
        if (!recorded[i] || !*recorded[i])
            continue;
        fprintf(out, "%s%s: ", before, recorded_names[i]);
        quoted(out, recorded[i]);
        before = ", ";
    }
    fputs(*before == ',' ? "}\n" : "", out);
}

/* A line for each column. */
static void write_facts(FILE *out, const struct cf_facts *l)
{
    if (l->count)
        fputs("columns:\n", out);
    for (unsigned i = 0; i < l->count; i++) {
        const char *column = l->fact[i].column;
        unsigned first = 0;

        while (strcmp(l->fact[first].column, column) != 0)
            first++;
        if (first < i)
            continue;
        fputs("  ", out);
        name(out, column);
        for (unsigned k = i; k < l->count; k++) {
            if (strcmp(l->fact[k].column, column) != 0)
                continue;
            fputs(k == i ? "{" : ", ", out);
            name(out, l->fact[k].key);
            if (l->fact[k].number)
                fputs(l->fact[k].value, out);
            else
                quoted(out, l->fact[k].value);
        }
        fputs("}\n", out);
    }
}

static void write_clock(FILE *out, const char *unit, uint64_t hz)
{
    fputs("clock: {unit: ", out);
    quoted(out, unit ? unit : "unknown");
    if (hz)
        fprintf(out, ", hz: %llu", (unsigned long long)hz);
    fputs("}\n", out);
}

/* The document of `from` but its last line, with the edits. */
static void edit(FILE *out, const struct cf_header *from, const struct cf_edits *e)
{
    enum { CLOCK, COMMAND, FACTS, PLACES };
    struct place {
        int what;
        size_t at, end;
    } place[PLACES] = {{CLOCK, from->clock_at, from->clock_end},
                       {COMMAND, from->command_at, from->command_end},
                       {FACTS, from->facts_at, from->facts_end}};
    size_t done = 0;

    for (int i = 1; i < PLACES; i++)
        for (int k = i; k > 0 && place[k].at < place[k - 1].at; k--) {
            const struct place p = place[k];

            place[k] = place[k - 1];
            place[k - 1] = p;
        }
    for (const struct place *p = place; p < place + PLACES; p++) {
        if (!(p->what == CLOCK     ? e->clock_unit != NULL
              : p->what == COMMAND ? e->command != NULL
                                   : e->facts != NULL))
            continue;
        fwrite(from->yaml + done, 1, p->at - done, out);
        done = p->end;
        if (p->what == CLOCK)
            write_clock(out, e->clock_unit, e->clock_hz);
        else if (p->what == COMMAND)
            entry(out, "command", e->command);
        else
            write_facts(out, e->facts);
    }
    fwrite(from->yaml + done, 1, from->yaml_bytes - done, out);
}

char *cf_header_text(const struct cf_header *h, const struct cf_header *from,
                     const struct cf_edits *edits, const char *program, size_t *bytes)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, bytes);

    if (!out)
        return NULL;
    if (from && from->yaml_bytes) {
        const struct cf_edits none = {0};

        edit(out, from, edits ? edits : &none);
    } else {
        fprintf(out, "cacheflow: %d\n", CF_STREAM_VERSION);
        if (h && (h->clock_unit || h->clock_hz))
            write_clock(out, h->clock_unit, h->clock_hz);
        if (h) {
            entry(out, "machine", h->machine);
            if (h->line_size)
                fprintf(out, "line_size: %u\n", h->line_size);
            entry(out, "source", h->source);
            entry(out, "command", h->command);
            write_recorded(out, h->recorded);
        }
        if (edits && edits->facts)
            write_facts(out, edits->facts);
        fputs("chain:\n", out);
    }
    fputs("  - ", out);
    quoted(out, program && *program ? program : "unknown");
    putc('\n', out);
    return cf_memory_text(out, &text);
}
