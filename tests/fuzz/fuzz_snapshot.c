/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_snapshot: what cf-capture-snapshot makes of the bytes of /dev/cacheflow, and of lists of
 * mappings, from a kernel that may hand out anything.
 *
 * The first byte chooses the owners that are asked for and the mode. Then come messages: a byte
 * that says what, one whose, two of length, and as many bytes: a snapshot, of which bit 7 of `what`
 * makes the head right, or a note. --seeds=FOLDER writes inputs to begin with.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/snapshot/emit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

enum { SNAPSHOT, BEGIN, NAMED, ENDED, MAPS, WHATS, HEAD = 0x80 };

static uint64_t sum, lines;
static uint32_t sets, ways;

/* What takes the writer's place. */

uint32_t cf_writer_string(struct cf_writer *w, const char *text)
{
    (void)w;
    return (uint32_t)strlen(text);
}

int cf_writer_rows(struct cf_writer *w, unsigned table, uint32_t rows,
                   const struct cf_values *columns, unsigned count, const uint32_t *hint)
{
    (void)w, (void)hint;
    lines += table == CF_LINE ? rows : 0;
    for (unsigned i = 0; i < count; i++) {
        const struct cf_values *c = &columns[i];
        const int wide = c->column == CF_PHYS || c->column == CF_ADDR;
        const size_t width = wide ? 8 : c->column == CF_STATE ? 1 : 4;

        sum += c->constant;
        for (size_t k = 0; c->values && k < rows * width; k++)
            sum += ((const uint8_t *)c->values)[k];
        for (uint32_t k = 0; table == CF_LINE && k < rows; k++)
            if ((c->column == CF_SET && ((const uint32_t *)c->values)[k] >= sets) ||
                (c->column == CF_WAY && ((const uint32_t *)c->values)[k] >= ways))
                abort();
    }
    return 0;
}

static void snapshot(struct cf_emit *e, const uint8_t *bytes, size_t n, int head, unsigned mode)
{
    /* as the kernel's, aligned; what is read behind its end is seen */
    uint8_t *copy = malloc(n ? n : 1);
    struct cacheflow_snapshot *h = (void *)copy;
    const uint64_t before = lines;

    if (!copy)
        abort();
    memcpy(copy, bytes, n);
    sets = ways = 0;
    if (n >= sizeof *h) {
        if (head) {
            h->magic = CACHEFLOW_MAGIC;
            h->abi = CACHEFLOW_ABI;
            h->bytes = n;
        }
        sets = h->sets;
        ways = h->ways;
    }
    e->problem = NULL;
    if (cf_emit_snapshot(e, copy, n, mode) != 0 && !e->problem)
        abort(); /* the writer took all */
    if (!e->problem && lines - before < h->entries)
        abort(); /* a line was lost */
    free(copy);
}

static char *text_of(const uint8_t *bytes, size_t n)
{
    char *text = malloc(n + 1);

    if (!text)
        abort();
    memcpy(text, bytes, n);
    text[n] = 0;
    return text;
}

static int note(struct cf_emit *e, unsigned what, unsigned who, const uint8_t *bytes, size_t n)
{
    const uint32_t pid = 70000 + who % 4;
    char *text = text_of(bytes, n);
    int status;

    if (what == MAPS)
        return cf_emit_maps(e, who, pid, text, n); /* takes the text over */
    status = what == BEGIN   ? cf_emit_begin(e, who, pid, 70000 + who / 4 % 4, text)
             : what == NAMED ? cf_emit_named(e, who, pid, text)
                             : cf_emit_ended(e, who, pid);
    free(text);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cf_emit e;
    size_t at = 1;

    if (size < 1 || cf_emit_open(&e, NULL) != 0)
        return 0;
    e.owners = data[0] % 3;
    while (size - at >= 4) {
        const unsigned what = data[at] % HEAD % WHATS, who = data[at + 1];
        size_t n = data[at + 2] | (size_t)data[at + 3] << 8;
        const int head = data[at] & HEAD;

        at += 4;
        n = n < size - at ? n : size - at;
        if (what == SNAPSHOT)
            snapshot(&e, data + at, n, head, data[0] / 3 % 2);
        else if (note(&e, what, who, data + at, n) != 0)
            abort();
        at += n;
    }
    if (cf_emit_notes(&e, UINT64_MAX) != 0)
        abort();
    cf_emit_free(&e);
    return 0;
}

/* ---- inputs to begin with ---- */

static void put(FILE *f, unsigned what, unsigned who, const void *bytes, size_t n)
{
    const uint8_t head[] = {(uint8_t)what, (uint8_t)who, (uint8_t)n, (uint8_t)(n >> 8)};

    fwrite(head, 1, sizeof head, f);
    fwrite(bytes, 1, n, f);
}

static void put_snapshot(FILE *f, unsigned entries, unsigned owners)
{
    struct {
        struct cacheflow_snapshot head;
        struct cacheflow_line line[64];
        struct cacheflow_owner owner[64];
    } s = {.head = {.header_bytes = sizeof s.head,
                    .level = 2,
                    .sets = 32,
                    .ways = 2,
                    .line_size = 64,
                    .entries = entries,
                    .entry_bytes = sizeof *s.line,
                    .owners = owners,
                    .owner_bytes = sizeof *s.owner,
                    .flags = owners ? CACHEFLOW_SNAP_RESOLVED : 0,
                    .owners_at = sizeof s.head + sizeof s.line}};

    for (unsigned i = 0; i < entries; i++)
        s.line[i] = (struct cacheflow_line){.frame_low = 77 * i,
                                            .set = i / 2,
                                            .way = i % 2,
                                            .state = CACHEFLOW_E | CACHEFLOW_NON_SECURE};
    for (unsigned i = 0; i < owners; i++)
        s.owner[i] = (struct cacheflow_owner){.virt = 4096 * i, .entry = i, .pid = 70000 + i % 4};
    put(f, SNAPSHOT | HEAD, 0, &s, sizeof s);
}

static int seed(const char *directory)
{
    static const char maps[] = "00400000-00401000 r-xp 00000000 08:01 12 /bin/a b\n"
                               "7ffd00000000-7ffd00021000 rw-p 00000000 00:00 0 [stack]\n";
    char name[512];

    for (int i = 0; i < 3; i++) {
        FILE *f;

        snprintf(name, sizeof name, "%s/seed-%d", directory, i);
        if (!(f = fopen(name, "w")))
            return 1;
        fputc(i, f);
        put(f, BEGIN, 1, "one", 3);
        put(f, MAPS, 1, maps, sizeof maps - 1);
        put_snapshot(f, 64, i ? 64 : 0);
        put(f, NAMED, 2, "two", 3);
        put(f, MAPS, 1, maps, sizeof maps / 2);
        put(f, ENDED, 1, "", 0);
        put_snapshot(f, 7, i == 2 ? 5 : 0);
        if (fclose(f) != 0)
            return 1;
    }
    return 0;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    for (int i = 1; i < *argc; i++)
        if (strncmp((*argv)[i], "--seeds=", 8) == 0)
            exit(seed((*argv)[i] + 8));
    return 0;
}
