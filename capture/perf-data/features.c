/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * features.c - what a perf.data file says of itself: names of its events, build ids, machine and
 * command. Its layout is that of tools/perf/Documentation/perf.data-file-format.txt.
 */
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "capture/base/cf_command.h"
#include "events.h"
#include "formats/base/cf_memory.h"

enum { BUILD_ID_BYTES = 20, BUILD_ID_SIZED = 1 << 15, WORDS_MOST = 4096 };

/* Bytes that are taken one thing after the other. */
struct bytes {
    const struct perf_events *events;
    const uint8_t *at;
    size_t left;
};

static const uint8_t *take(struct bytes *b, size_t n)
{
    const uint8_t *at = b->at;

    if (n > b->left)
        return NULL;
    b->at += n;
    b->left -= n;
    return at;
}

static int take_u32(struct bytes *b, uint32_t *v)
{
    const uint8_t *at = take(b, 4);

    if (at)
        *v = perf_u32(b->events, at);
    return at ? 0 : -1;
}

/* A text with its length before it, and zeros behind. */
static const char *take_text(struct bytes *b)
{
    const uint8_t *at;
    uint32_t n;

    if (take_u32(b, &n) != 0 || n == 0)
        return NULL;
    at = take(b, n);
    return at && memchr(at, 0, n) ? (const char *)at : NULL;
}

static int set_text(struct perf_events *e, struct bytes *b, char **to)
{
    const char *text = take_text(b);

    if (!text)
        return -1;
    free(*to);
    *to = cf_need(e->tool, strdup(text));
    return 0;
}

/* perf's own words come first, and after a "--" what was observed. */
static int take_command(struct perf_events *e, struct bytes *b)
{
    char *word[WORDS_MOST + 1], *text = NULL;
    size_t bytes;
    uint32_t n;
    unsigned first = 0;
    FILE *f;

    if (take_u32(b, &n) != 0 || n > WORDS_MOST)
        return -1;
    for (uint32_t i = 0; i < n; i++) {
        word[i] = (char *)take_text(b);
        if (!word[i])
            return -1;
        if (!first && strcmp(word[i], "--") == 0 && i + 1 < n)
            first = i + 1;
    }
    word[n] = NULL;
    f = cf_need(e->tool, open_memstream(&text, &bytes));
    cf_command_print(f, word + first);
    cf_need(e->tool, cf_memory_text(f, &text));
    free(e->command);
    e->command = text;
    return 0;
}

static int take_names(struct perf_events *e, struct bytes *b)
{
    uint32_t n, attr;

    if (take_u32(b, &n) != 0 || take_u32(b, &attr) != 0)
        return -1;
    for (uint32_t i = 0; i < n; i++) {
        const uint8_t *ids;
        const char *name;
        uint32_t count;

        if (!take(b, attr) || take_u32(b, &count) != 0 || !(name = take_text(b)))
            return -1;
        ids = take(b, 8 * (size_t)count);
        if (!ids)
            return -1;
        if (count) {
            struct perf_event_of *event = perf_events_find(e, perf_u64(e, ids));

            if (event)
                perf_events_name(e, event, name, strlen(name));
        } else if (i < e->count) {
            perf_events_name(e, &e->event[i], name, strlen(name));
        }
    }
    return 0;
}

static int take_builds(struct perf_events *e, struct bytes *b)
{
    while (b->left) {
        const uint8_t *head = take(b, 8), *rest;
        uint16_t misc, size;

        if (!head)
            return -1;
        misc = perf_u16(e, head + 4);
        size = perf_u16(e, head + 6);
        if (size < 8 + 28 + 1 || !(rest = take(b, size - 8u)))
            return -1;
        if (memchr(rest + 28, 0, size - 8u - 28))
            perf_events_build(e, (const char *)rest + 28, rest + 4,
                              misc & BUILD_ID_SIZED ? rest[24] : BUILD_ID_BYTES);
    }
    return 0;
}

int perf_events_feature(struct perf_events *e, unsigned feature, const uint8_t *at, size_t bytes)
{
    struct bytes b = {e, at, bytes};

    switch (feature) {
    case PERF_FEATURE_BUILD_ID:
        return take_builds(e, &b);
    case PERF_FEATURE_HOST:
        return set_text(e, &b, &e->host);
    case PERF_FEATURE_KERNEL:
        return set_text(e, &b, &e->kernel);
    case PERF_FEATURE_VERSION:
        return set_text(e, &b, &e->version);
    case PERF_FEATURE_ARCH:
        return set_text(e, &b, &e->arch);
    case PERF_FEATURE_CPU:
        return set_text(e, &b, &e->cpu);
    case PERF_FEATURE_CPUID:
        return set_text(e, &b, &e->cpuid);
    case PERF_FEATURE_COMMAND:
        return take_command(e, &b);
    case PERF_FEATURE_EVENTS:
        return take_names(e, &b);
    default:
        return 0;
    }
}

static uint32_t number(struct perf_events *e, const char *text)
{
    int fresh;
    uint32_t n;

    if (!e->builds)
        e->builds = cf_need(e->tool, cf_strings_new());
    n = cf_strings_number(e->builds, text, strlen(text), &fresh);
    if (n == 0)
        cf_out_of_memory(e->tool);
    cf_must(e->tool, cf_array_cleared(&e->build, &e->build_room, (size_t)n + 1, sizeof *e->build));
    return n;
}

void perf_events_build(struct perf_events *e, const char *file, const uint8_t *id, size_t bytes)
{
    static const char digits[] = "0123456789abcdef";
    char text[16 + 2 * BUILD_ID_BYTES] = "build-id:";
    size_t at = strlen(text);
    uint32_t n;

    if (bytes > BUILD_ID_BYTES)
        bytes = BUILD_ID_BYTES;
    for (size_t i = 0; i < bytes; i++) {
        text[at++] = digits[id[i] >> 4];
        text[at++] = digits[id[i] & 15];
    }
    text[at] = 0;
    n = number(e, file);
    e->build[n] = bytes ? number(e, text) : 0;
}

const char *perf_build_of(const struct perf_events *e, const char *file)
{
    int fresh;
    const uint32_t n = e->builds ? cf_strings_number(e->builds, file, strlen(file), &fresh) : 0;

    return n && n < e->build_room && e->build[n] ? cf_strings_text(e->builds, e->build[n]) : "";
}
