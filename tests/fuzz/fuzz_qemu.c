/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_qemu: the decoder of cf-capture-qemu under libFuzzer, fed by a plugin that may write
 * anything.
 *
 * The first byte says how to decode. Then come messages: a byte that says what, one that names a
 * block and its thread, two of length, and as many bytes, which are words of the block or an entry
 * of the queue. --seeds=FOLDER writes inputs to begin with.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture/qemu/reader.h"
#include "capture/qemu/protocol.h"
#include "formats/stream/cf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

/* QUEUE words; DESCRIBE code; leave words in a block that is not queued; queue an ODD entry */
enum { QUEUE, DESCRIBE, LEAVE, ODD, WHATS };

static int message(struct cfq_reader *d, struct cfq_shared *s, unsigned what, unsigned who,
                   const uint8_t *bytes, size_t n)
{
    struct cfq_block *b = cfq_block(s, who);
    struct cfq_entry e = {who, 0, (uint32_t)(n / 8), 1};

    if (what == ODD) {
        memcpy(&e, bytes, n < sizeof e ? n : sizeof e);
    } else {
        b->used = e.to < CFQ_WORDS ? e.to : CFQ_WORDS;
        b->pid = 1;
        b->tid = what == DESCRIBE ? 0 : 1 + who % 4;
        b->cpu = who % 3;
        b->state = what == LEAVE ? CFQ_FILLING : CFQ_QUEUED;
        b->sequence = what == LEAVE ? who : 0;
        memcpy(cfq_words(b), bytes, b->used * (size_t)8);
        if (what == LEAVE)
            return 0;
    }
    s->queue[s->tail % CFQ_QUEUE] = e;
    s->tail++;
    return cfq_reader_read(d, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cf_header header = {.clock_unit = "instructions", .source = "fuzz"};
    struct cfq_options o = {.decode.fetch_line = 64, .name = "fuzz", .path = "/bin/true"};
    const uint8_t *end = data + size;
    struct cfq_reader *d;
    struct cfq_shared *s;
    struct cf_writer *w;
    char problem[256];

    if (size < 1)
        return 0;
    o.decode.instructions = data[0] & 1;
    o.decode.limit = data[0] & 2 ? 100 : 0;
    o.decode.processors = data[0] & 4 ? 1 : 0;
    if (o.decode.processors)
        o.path = NULL;
    w = cf_writer_open("/dev/null", "fuzz");
    if (!w || cf_writer_header(w, &header) != 0 ||
        !(d = cfq_reader_open(&o, w, problem, sizeof problem)))
        abort();
    s = mmap(NULL, CFQ_SHARED_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, cfq_reader_descriptor(d),
             0);
    if (s == MAP_FAILED)
        abort();
    s->begun = 1;
    for (data++; end - data >= 4;) {
        unsigned what = data[0] % WHATS, who = data[1] | (data[0] & 0x40u) << 2;
        size_t n = (size_t)(data[2] | data[3] << 8);

        data += 4;
        if (n > (size_t)(end - data))
            n = (size_t)(end - data);
        if (message(d, s, what, who, data, n) < 0)
            break;
        data += n;
    }
    cfq_reader_finish(d);
    cfq_reader_close(d);
    munmap(s, CFQ_SHARED_BYTES);
    (void)!cf_writer_close(w, 1, problem, sizeof problem);
    return 0;
}

/* ---- inputs to begin with ---- */

static uint64_t event(unsigned type, uint64_t words)
{
    return words * 8 << 32 | type;
}

static uint64_t access_of(uint64_t insn, uint64_t kind, uint64_t rest)
{
    return CF_WIRE_ACCESS | insn << CF_WIRE_INSN_SHIFT | kind << CF_WIRE_KIND_SHIFT | rest;
}

static void send(FILE *f, unsigned what, unsigned who, const uint64_t *words, size_t count)
{
    fputc((int)what, f);
    fputc((int)who, f);
    fputc((int)(count * 8 & 255), f);
    fputc((int)(count * 8 >> 8), f);
    fwrite(words, 8, count, f);
}

static void write_seed(const char *where, int how)
{
    const uint64_t listed = UINT64_C(1) << 48, repeats = CF_WIRE_REPEATS | CF_WIRE_JOINED;
    const uint64_t code[] = {event(CF_WIRE_BLOCK, 6),
                             UINT64_C(3) << 32 | 1,
                             listed,
                             UINT64_C(4) << 56 | 0x1034,
                             UINT64_C(4) << 56 | 0x1038,
                             UINT64_C(4) << 56 | 0x103c,
                             event(CF_WIRE_BLOCK, 4),
                             UINT64_C(1) << 32 | 2,
                             listed,
                             repeats | UINT64_C(2) << 56 | 0x1040};
    const uint64_t text = 0x6e69616d; /* "main" */
    const uint64_t words[] = {event(CF_WIRE_MAP, 6),
                              0x1000,
                              0x3000,
                              0,
                              5,
                              text,
                              event(CF_WIRE_TASK, 3),
                              (uint64_t)CF_WIRE_TASK_NAME << 32 | 2,
                              text,
                              CF_WIRE_LISTED(1),
                              access_of(1, 3, 0x2000),
                              access_of(2, 11, CF_WIRE_WIDE),
                              UINT64_C(0xffff800000000000),
                              CF_WIRE_LISTED(2),
                              access_of(0, 0, 0x2000),
                              access_of(0, CF_WIRE_KIND_STORE, 0x3000),
                              CF_WIRE_LISTED(2),
                              access_of(0, 0, 0x2001),
                              event(CF_WIRE_TASK, 2),
                              (uint64_t)CF_WIRE_TASK_MADE << 32 | 3,
                              event(CF_WIRE_UNMAP, 5),
                              0x1000,
                              0x2000,
                              0,
                              0,
                              event(CF_WIRE_TASK, 2),
                              (uint64_t)CF_WIRE_TASK_EXIT << 32 | 2};
    const uint64_t rest[] = {CF_WIRE_LISTED(1) | CF_WIRE_RESUMED, access_of(2, 0, 0x2008)};
    char path[4096];
    FILE *f;

    snprintf(path, sizeof path, "%s/seed-%d", where, how);
    f = fopen(path, "wb");
    if (!f)
        abort();
    fputc(how, f);
    send(f, DESCRIBE, 0, code, sizeof code / 8);
    send(f, QUEUE, 1, words, sizeof words / 8);
    send(f, QUEUE, 2, rest, sizeof rest / 8);
    send(f, LEAVE, 5, rest, sizeof rest / 8);
    if (fclose(f) != 0)
        abort();
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    if (*argc > 1 && strncmp((*argv)[1], "--seeds=", 8) == 0) {
        for (int how = 0; how < 8; how++)
            write_seed((*argv)[1] + 8, how);
        exit(0);
    }
    return 0;
}
