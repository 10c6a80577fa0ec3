/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The YAML document in a segment's header. We read the keys that we know and keep the text, so
 * that keys of others survive; the chain stands last, one line a program, so that a filter adds
 * itself by appending a line. Anchors and aliases are refused: they are of no use here and are
 * what YAML bombs are made of.
 */
#include <stdio.h>
#include <stdlib.h>
#include <yaml.h>

#include "formats/base/cf_memory.h"
#include "formats/base/cf_number.h"
#include "formats/base/cf_text.h"
#include "cf_wire.h"

enum { MAX_DEPTH = 16, PATH = 64 };

struct parse {
    struct cf_header *h;
    const char *text;
    size_t bytes;
    char key[MAX_DEPTH][PATH]; /* key last seen at each depth, "" in a sequence */
    int want_value[MAX_DEPTH]; /* in a mapping: the next scalar is a value */
    int sequence[MAX_DEPTH];
    int depth;
    int chain_last;
    int columns; /* 1: in `columns`; 2: after it */
    const char *problem;
    int no_memory;
    size_t line;
};

static char *copy(const yaml_event_t *e)
{
    return strndup((const char *)e->data.scalar.value, e->data.scalar.length);
}

static uint64_t number(struct parse *p, const char *text, uint64_t most)
{
    uint64_t v = 0;

    if (cf_read_number(text, CF_READ_DECIMAL, most, &v) < 0)
        p->problem = "a number was expected";
    return v;
}

static void take_value(struct parse *p, const yaml_event_t *e)
{
    struct cf_header *h = p->h;
    const char *top = p->key[1];
    const char *text = (const char *)e->data.scalar.value;
    char **place = NULL;

    if (p->depth == 1) {
        if (!strcmp(top, "machine"))
            place = &h->machine;
        else if (!strcmp(top, "source"))
            place = &h->source;
        else if (!strcmp(top, "command"))
            place = &h->command;
        else if (!strcmp(top, "line_size"))
            h->line_size = (uint32_t)number(p, text, 1 << 20);
    } else if (p->depth == 2 && !strcmp(top, "clock")) {
        if (!strcmp(p->key[2], "unit"))
            place = &h->clock_unit;
        else if (!strcmp(p->key[2], "hz"))
            h->clock_hz = number(p, text, UINT64_MAX);
    }
    if (place) {
        free(*place);
        *place = copy(e);
        p->no_memory |= !*place;
    }
}

/* ---- facts of columns ---- */

/* Where a key of the document stands, in bytes: libyaml counts characters. It must begin a line,
   for facts are put in and taken out by lines. */
static size_t place_of(struct parse *p, const yaml_event_t *e)
{
    size_t at = p->bytes >= 3 && !memcmp(p->text, "\xef\xbb\xbf", 3) ? 3 : 0; /* byte order mark */

    for (size_t n = 0; at < p->bytes; at++)
        if ((p->text[at] & 0xc0) != 0x80 && n++ == e->start_mark.index)
            break;
    if (at && p->text[at - 1] != '\n')
        p->problem = "'columns', what follows it and 'chain' must begin a line";
    return at;
}

/* A key of the document. */
static void top_key(struct parse *p, const yaml_event_t *e)
{
    const int columns = !strcmp(p->key[1], "columns");

    p->chain_last = !strcmp(p->key[1], "chain");
    if (columns && p->columns)
        p->problem = "'columns' stands twice";
    else if (columns)
        p->h->facts_at = place_of(p, e);
    else if (p->columns == 1)
        p->h->facts_end = place_of(p, e);
    else if (p->chain_last && !p->columns)
        p->h->facts_at = p->h->facts_end = place_of(p, e);
    p->columns = columns ? 1 : p->columns ? 2 : 0;
}

static int is_name(const yaml_event_t *e)
{
    const size_t n = e->data.scalar.length;

    return n && n < CF_MAX_FACT_NAME && !memchr(e->data.scalar.value, 0, n);
}

static void take_fact(struct parse *p, const yaml_event_t *e)
{
    const char *text = (const char *)e->data.scalar.value;
    const size_t n = e->data.scalar.length;
    const int number = e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && n && n <= 20 &&
                       strspn(text, "0123456789") == n;

    if (p->depth != 3)
        p->problem = "'columns' is no mapping of columns to mappings";
    else if (memchr(text, 0, n))
        p->problem = "a fact of a column holds a zero byte";
    else
        p->problem = cf_facts_refuse(&p->h->facts, p->key[2], p->key[3]);
    if (!p->problem && cf_facts_add(&p->h->facts, p->key[2], p->key[3], text, number) != 0)
        p->no_memory = 1;
}

/* ---- events ---- */

static void scalar(struct parse *p, const yaml_event_t *e)
{
    int d = p->depth;

    if (d == 0) {
        p->problem = "the document is no mapping";
    } else if (p->sequence[d]) {
        if (d == 2 && !strcmp(p->key[1], "chain"))
            p->h->chain++;
    } else if (!p->want_value[d]) {
        snprintf(p->key[d], PATH, "%s", (const char *)e->data.scalar.value);
        p->want_value[d] = 1;
        if (d == 1)
            top_key(p, e);
        else if (p->columns == 1 && !is_name(e))
            p->problem = "a column's or fact's name is empty or too long";
    } else {
        if (p->columns == 1)
            take_fact(p, e);
        else
            take_value(p, e);
        p->want_value[d] = 0;
    }
}

static void open_node(struct parse *p, int sequence)
{
    if (p->depth + 1 >= MAX_DEPTH) {
        p->problem = "nested too deeply";
        return;
    }
    if (p->depth > 0 && !p->sequence[p->depth] && !p->want_value[p->depth]) {
        p->problem = "a key must be plain text";
        return;
    }
    if (p->depth == 0 && sequence) {
        p->problem = "the document is no mapping";
        return;
    }
    if (p->columns == 1 && (sequence || p->depth > 2)) {
        p->problem = "'columns' is no mapping of columns to mappings";
        return;
    }
    p->want_value[p->depth] = 0;
    p->depth++;
    p->sequence[p->depth] = sequence;
    p->want_value[p->depth] = 0;
    p->key[p->depth][0] = 0;
}

static void event(struct parse *p, const yaml_event_t *e)
{
    const int list = e->type == YAML_SEQUENCE_START_EVENT;

    if (e->type == YAML_ALIAS_EVENT)
        p->problem = "aliases are not allowed";
    else if ((e->type == YAML_SCALAR_EVENT && e->data.scalar.anchor) ||
             (list && e->data.sequence_start.anchor) ||
             (e->type == YAML_MAPPING_START_EVENT && e->data.mapping_start.anchor))
        p->problem = "anchors are not allowed";
    else if (e->type == YAML_SCALAR_EVENT)
        scalar(p, e);
    else if (list || e->type == YAML_MAPPING_START_EVENT)
        open_node(p, list);
    else if (e->type == YAML_SEQUENCE_END_EVENT || e->type == YAML_MAPPING_END_EVENT)
        p->depth--;
}

void cf_header_clear(struct cf_header *h)
{
    free(h->clock_unit);
    free(h->machine);
    free(h->source);
    free(h->command);
    free(h->yaml);
    cf_facts_clear(&h->facts);
    memset(h, 0, sizeof(*h));
}

static int parse(struct cf_header *h, const char *yaml, size_t bytes, char *problem, size_t size)
{
    struct parse p = {.h = h, .text = yaml, .bytes = bytes};
    yaml_parser_t parser;
    int done = 0;

    memset(h, 0, sizeof(*h));
    h->yaml = malloc(bytes + 1);
    if (!h->yaml || !yaml_parser_initialize(&parser)) {
        cf_header_clear(h);
        return -2;
    }
    memcpy(h->yaml, yaml, bytes);
    h->yaml[bytes] = 0;
    h->yaml_bytes = bytes;
    yaml_parser_set_input_string(&parser, (const unsigned char *)yaml, bytes);
    while (!done && !p.problem && !p.no_memory) {
        yaml_event_t e;

        if (!yaml_parser_parse(&parser, &e)) {
            p.problem = parser.problem ? parser.problem : "no YAML";
            p.no_memory = parser.error == YAML_MEMORY_ERROR;
            p.line = parser.problem_mark.line;
            break;
        }
        p.line = e.start_mark.line;
        event(&p, &e);
        done = e.type == YAML_STREAM_END_EVENT || e.type == YAML_DOCUMENT_END_EVENT;
        yaml_event_delete(&e);
    }
    if (!p.problem && !p.chain_last)
        p.problem = "'chain' must be the last key";
    if (!p.problem && (bytes == 0 || yaml[bytes - 1] != '\n'))
        p.problem = "the last line does not end";
    if (!p.problem && h->chain > CF_CHAIN_MOST)
        p.problem = "more than 255 programs in the chain";
    if (p.problem)
        snprintf(problem, size, "header line %zu: %s", p.line + 1, p.problem);
    yaml_parser_delete(&parser);
    if (p.problem || p.no_memory)
        cf_header_clear(h);
    return p.no_memory ? -2 : p.problem ? -1 : 0;
}

int cf_header_parse(struct cf_header *h, const char *yaml, size_t bytes, char *problem, size_t size)
{
    struct cf_header longer;
    char *text;
    size_t n;
    int result = parse(h, yaml, bytes, problem, size);

    if (result != 0)
        return result;
    /* A chain written in another style could not take the line of the next program. */
    text = cf_header_text(NULL, h, NULL, "x", &n);
    memset(&longer, 0, sizeof(longer));
    result = text ? parse(&longer, text, n, problem, size) : -2;
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
        /* what YAML does not take as it is: controls, byte order marks, no characters */
        if (*text == '"' || *text == '\\')
            fprintf(out, "\\%c", *text);
        else if (!valid || code < 0x20 || code == 0x7f)
            fprintf(out, "\\x%02X", (unsigned)code);
        else if ((code >= 0x80 && code < 0xa0) || code == 0xfeff || code == 0xfffe ||
                 code == 0xffff)
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

char *cf_header_text(const struct cf_header *h, const struct cf_header *from,
                     const struct cf_facts *facts, const char *program, size_t *bytes)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, bytes);

    if (!out)
        return NULL;
    if (from && from->yaml_bytes) {
        const size_t at = facts ? from->facts_at : 0, end = facts ? from->facts_end : 0;

        fwrite(from->yaml, 1, at, out);
        if (facts)
            write_facts(out, facts);
        fwrite(from->yaml + end, 1, from->yaml_bytes - end, out);
    } else {
        fprintf(out, "cacheflow: %d\n", CF_STREAM_VERSION);
        if (h && (h->clock_unit || h->clock_hz)) {
            fputs("clock: {unit: ", out);
            quoted(out, h->clock_unit ? h->clock_unit : "unknown");
            if (h->clock_hz)
                fprintf(out, ", hz: %llu", (unsigned long long)h->clock_hz);
            fputs("}\n", out);
        }
        if (h) {
            entry(out, "machine", h->machine);
            if (h->line_size)
                fprintf(out, "line_size: %u\n", h->line_size);
            entry(out, "source", h->source);
            entry(out, "command", h->command);
        }
        if (facts)
            write_facts(out, facts);
        fputs("chain:\n", out);
    }
    fputs("  - ", out);
    quoted(out, program && *program ? program : "unknown");
    putc('\n', out);
    return cf_memory_text(out, &text);
}
