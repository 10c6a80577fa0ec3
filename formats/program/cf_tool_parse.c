/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_tool_parse.c - numbers, sizes, ranges, lists, words and directories in options. What is none
 * ends the program.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/base/cf_number.h"
#include "cf_tool.h"

uint64_t cf_parse_u64(const struct cf_tool *t, const char *option, const char *text, uint64_t least,
                      uint64_t most)
{
    uint64_t value;

    if (cf_read_number(text, CF_READ_SIZE, UINT64_MAX, &value) < 0)
        cf_die(t, CF_EXIT_USAGE, "%s '%s': not a number: give one such as 1000, 0x40 or 64K",
               option, text);
    if (value < least || value > most) {
        if (most == UINT64_MAX)
            cf_die(t, CF_EXIT_USAGE, "%s '%s': must be at least %" PRIu64, option, text, least);
        cf_die(t, CF_EXIT_USAGE, "%s '%s': must be from %" PRIu64 " to %" PRIu64, option, text,
               least, most);
    }
    return value;
}

uint64_t cf_parse_size(const struct cf_tool *t, const char *option, const char *text)
{
    uint64_t value;

    if (cf_read_number(text, CF_READ_SIZE, UINT64_MAX, &value) < 0)
        cf_die(t, CF_EXIT_USAGE, "%s '%s': not a size: give bytes, or a number with K, M or G",
               option, text);
    return value;
}

uint64_t cf_parse_power(const struct cf_tool *t, const char *option, const char *text,
                        uint64_t least, uint64_t most)
{
    const uint64_t value = cf_parse_size(t, option, text);

    if (!cf_is_power_of_two(value) || value < least || value > most) {
        if (least <= 1 && most >= (uint64_t)1 << 63)
            cf_die(t, CF_EXIT_USAGE, "%s '%s': must be a power of two", option, text);
        cf_die(t, CF_EXIT_USAGE, "%s '%s': must be a power of two from %" PRIu64 " to %" PRIu64,
               option, text, least, most);
    }
    return value;
}

double cf_parse_f64(const struct cf_tool *t, const char *option, const char *text, double least,
                    double most, unsigned ends)
{
    const int above = ends & CF_ABOVE, below = ends & CF_BELOW;
    char *end;
    const double value = strtod(text, &end);

    /* what is not a number is not in any range */
    if (end != text && !*end && (above ? value > least : value >= least) &&
        (below ? value < most : value <= most))
        return value;
    if (ends == CF_FROM_TO)
        cf_die(t, CF_EXIT_USAGE, "%s '%s': must be a number from %.15g to %.15g", option, text,
               least, most);
    cf_die(t, CF_EXIT_USAGE, "%s '%s': must be a number %s %.15g and %s %.15g", option, text,
           above ? "above" : "of at least", least, below ? "below" : "at most", most);
}

uint32_t cf_parse_list(const struct cf_tool *t, const char *option, const char *text,
                       uint64_t least, uint64_t most, uint32_t room, uint64_t *value)
{
    char *copy = cf_need(t, strdup(text)), *rest = copy, *part;
    uint32_t count = 0;

    while ((part = strsep(&rest, ","))) {
        if (count == room)
            cf_die(t, CF_EXIT_USAGE, "%s: more than %" PRIu32 " numbers", option, room);
        value[count++] = cf_parse_u64(t, option, part, least, most);
    }
    free(copy);
    return count;
}

static int by_value(const void *x, const void *y)
{
    return cf_order(*(const uint64_t *)x, *(const uint64_t *)y);
}

uint32_t cf_list_rising(uint64_t *value, uint32_t count)
{
    uint32_t kept = 0;

    qsort(value, count, sizeof *value, by_value);
    for (uint32_t i = 0; i < count; i++)
        if (!kept || value[i] != value[kept - 1])
            value[kept++] = value[i];
    return kept;
}

void cf_parse_rising(const struct cf_tool *t, void *list, const char *option, char *text)
{
    struct cf_list *l = list;

    l->value = cf_tool_room(t, strlen(text) / 2 + 1, sizeof *l->value); /* each has a comma */
    l->count = cf_list_rising(l->value,
                              cf_parse_list(t, option, text, l->least, l->most, l->room, l->value));
}

int cf_list_has(const uint64_t *value, uint32_t count, uint64_t wanted)
{
    return bsearch(&wanted, value, count, sizeof wanted, by_value) != NULL;
}

/* The end of a word of a list, which a blank or the end of the text follows. */
static size_t word_length(const char *word)
{
    return strcspn(word, " ");
}

static __attribute__((noreturn)) void no_word(const struct cf_tool *t, const char *option,
                                              const char *text, const char *words)
{
    char list[1024] = "";
    size_t at = 0;

    for (const char *w = words; *w && at < sizeof list - 2; w++)
        at += (size_t)snprintf(list + at, sizeof list - at, *w == ' ' ? ", " : "%c", *w);
    cf_die(t, CF_EXIT_USAGE, "%s '%s': give one of %s", option, text, list);
}

unsigned cf_parse_word(const struct cf_tool *t, const char *option, const char *text,
                       const char *words)
{
    unsigned place = 0;

    for (const char *w = words;; w += word_length(w) + 1, place++) {
        if (strlen(text) == word_length(w) && !memcmp(text, w, word_length(w)))
            return place;
        if (!w[word_length(w)])
            no_word(t, option, text, words);
    }
}

unsigned cf_parse_name(const struct cf_tool *t, const char *option, const char *text,
                       const void *table, size_t width, unsigned count)
{
    char words[1024] = "";
    size_t at = 0;

    for (unsigned i = 0; i < count && at < sizeof words; i++) {
        const char *const *name = (const void *)((const char *)table + i * width);

        at += (size_t)snprintf(words + at, sizeof words - at, "%s%s", i ? " " : "", *name);
    }
    return cf_parse_word(t, option, text, words);
}

unsigned cf_parse_op(const struct cf_tool *t, const char *option, const char *text)
{
    return CF_LOAD + cf_parse_word(t, option, text, "load store ifetch prefetch flush");
}

void cf_parse_ops(const struct cf_tool *t, const char *option, char *list, uint8_t *op)
{
    char *part;

    while ((part = strsep(&list, ",")))
        op[cf_parse_op(t, option, part)] = 1;
}

unsigned cf_parse_class(const struct cf_tool *t, const char *option, const char *text, int none)
{
    const char *name[CF_CLASS_UNCLASSIFIED + 1];
    uint8_t class[CF_CLASS_UNCLASSIFIED + 1] = {0};
    unsigned count = 0;

    for (unsigned i = none ? CF_CLASS_NONE : CF_CLASS_NONE + 1; i <= CF_CLASS_UNCLASSIFIED; i++)
        if (cf_class_name(i)) {
            class[count] = (uint8_t)i;
            name[count++] = cf_class_name(i);
        }
    return class[cf_parse_name(t, option, text, name, sizeof *name, count)];
}

/* A range into [*from, *to]: 0, or -1 when it is none. */
static int scan_range(const char *text, uint64_t *from, uint64_t *to)
{
    const char *p = text;
    uint64_t length;

    *from = 0;
    *to = UINT64_MAX;
    if (*p != '-') {
        p = cf_scan_number(p, CF_READ_SIZE, from);
        if (!p)
            return -1;
    }
    if (!*p) {
        *to = *from;
        return 0;
    }
    if (*p == '-' && !p[1])
        return p == text ? -1 : 0;
    if (*p == '-')
        return cf_read_number(p + 1, CF_READ_SIZE, UINT64_MAX, to);
    if (*p != '+' || cf_read_number(p + 1, CF_READ_SIZE, UINT64_MAX, &length) != 0 || !length)
        return -1;
    *to = length - 1 > UINT64_MAX - *from ? UINT64_MAX : *from + (length - 1);
    return 0;
}

void cf_parse_range(const struct cf_tool *t, const char *option, const char *text, uint64_t *from,
                    uint64_t *to)
{
    if (scan_range(text, from, to) != 0)
        cf_die(t, CF_EXIT_USAGE, "%s '%s': not a range: give A-B, A-, -B, A+LENGTH or A", option,
               text);
    if (*to < *from)
        cf_die(t, CF_EXIT_USAGE, "%s '%s': the range ends before it begins", option, text);
}

/* A share of the whole, with the sign behind it, into *part; what stands behind, or NULL. */
static const char *scan_part(const char *text, double *part)
{
    char *end;

    if (*text != '.' && (*text < '0' || *text > '9'))
        return NULL;
    *part = strtod(text, &end) / 100;
    return *end == '%' && *part <= 1 ? end + 1 : NULL;
}

void cf_parse_span(const struct cf_tool *t, const char *option, const char *text,
                   struct cf_span *span)
{
    const char *p = text;

    *span = (struct cf_span){.part_to = 1, .parts = strchr(text, '%') != NULL};
    if (!span->parts) {
        cf_parse_range(t, option, text, &span->from, &span->to);
        return;
    }
    if (*p != '-')
        p = scan_part(p, &span->part_from);
    if (p && *p == '-' && p[1])
        p = scan_part(p + 1, &span->part_to);
    else if (p)
        p = *p == '-' && p != text ? p + 1 : NULL;
    if (!p || *p)
        cf_die(t, CF_EXIT_USAGE,
               "%s '%s': not a part of the time: give 10%%-20%%, 10%%- or -20%%, of 100%%", option,
               text);
    if (span->part_to <= span->part_from)
        cf_die(t, CF_EXIT_USAGE, "%s '%s': the range ends before it begins", option, text);
}

/* The tick with which a share of the time begins. */
static uint64_t tick_of(double part, uint64_t first, uint64_t last)
{
    const double ticks = (double)(last - first) + 1;

    return part * ticks >= (double)UINT64_MAX ? UINT64_MAX : first + (uint64_t)(part * ticks);
}

void cf_tool_span(const struct cf_tool *t, const struct cf_reader *r, const char *option,
                  struct cf_span *span)
{
    uint64_t first, last;
    int any;

    if (!span->parts)
        return;
    any = cf_reader_times(r, &first, &last);
    if (any == -2)
        cf_die(t, CF_EXIT_USAGE,
               "%s: a part of the time needs the whole recording, and this is a part of one: give "
               "ticks, such as 1000-2000",
               option);
    if (any < 0)
        cf_die(t, CF_EXIT_USAGE,
               "%s: a part of the time needs a file with an index, which says when the recording "
               "ends: store it by 'cf-cat -o FILE', and name that",
               option);
    span->parts = 0;
    if (!any) { /* nothing is in any part of it */
        first = 0;
        last = UINT64_MAX;
    }
    span->from = tick_of(span->part_from, first, last);
    span->to = span->part_to < 1 ? tick_of(span->part_to, first, last) : last;
    if (span->part_to < 1 && span->to-- <= span->from)
        cf_die(t, CF_EXIT_USAGE, "%s: the part is shorter than a tick of the clock", option);
}

void cf_parse_part(const struct cf_tool *t, void *part, const char *option, char *text)
{
    struct cf_part_option *p = part;
    char *slash = strchr(text, '/');
    uint64_t number, parts;

    if (!slash)
        cf_die(t, CF_EXIT_USAGE, "%s '%s': give I/N, the I-th of N parts, such as 1/4", option,
               text);
    *slash = '\0';
    parts = cf_parse_u64(t, option, slash + 1, 1, CF_MAX_PARTS);
    number = cf_parse_u64(t, option, text, 1, parts);
    *slash = '/';
    *p = (struct cf_part_option){(uint32_t)number, (uint32_t)parts};
}

void cf_parse_directory(const struct cf_tool *t, const char *option, const char *path)
{
    struct stat st;
    const int bad = stat(path, &st) != 0;

    if (bad || !S_ISDIR(st.st_mode))
        cf_die(t, CF_EXIT_USAGE, "%s %s: %s", option, path, strerror(bad ? errno : ENOTDIR));
}
