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

#include "capture/qemu/decode.h"
#include "capture/qemu/protocol.h"
#include "formats/stream/cf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

/* QUEUE words; DESCRIBE code; leave words in a block that is not queued; queue an ODD entry */
enum { QUEUE, DESCRIBE, LEAVE, ODD, WHATS };

static int message(struct cfq_decoder *d, struct cfq_shared *s, unsigned what, unsigned who,
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
    return cfq_decoder_read(d, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cf_header header = {.clock_unit = "instructions", .source = "fuzz"};
    struct cfq_options o = {.fetch_line = 64, .name = "fuzz", .path = "/bin/true"};
    const uint8_t *end = data + size;
    struct cfq_decoder *d;
    struct cfq_shared *s;
    struct cf_writer *w;
    char problem[256];

    if (size < 1)
        return 0;
    o.instructions = data[0] & 1;
    o.limit = data[0] & 2 ? 100 : 0;
    o.system = data[0] & 4 ? 1 : 0;
    if (o.system)
        o.path = NULL;
    w = cf_writer_open("/dev/null", "fuzz");
    if (!w || cf_writer_header(w, &header) != 0 ||
        !(d = cfq_decoder_open(&o, w, problem, sizeof problem)))
        abort();
    s = mmap(NULL, CFQ_SHARED_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, cfq_decoder_descriptor(d),
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
    cfq_decoder_finish(d);
    cfq_decoder_close(d);
    munmap(s, CFQ_SHARED_BYTES);
    (void)!cf_writer_close(w, 1, problem, sizeof problem);
    return 0;
}

/* ---- inputs to begin with ---- */

static uint64_t event(unsigned type, uint64_t count)
{
    return (uint64_t)CFQ_EVENT << CFQ_TAG_SHIFT | (uint64_t)type << CFQ_EVENT_SHIFT | count;
}

static uint64_t tagged(unsigned tag, uint64_t rest)
{
    return (uint64_t)tag << CFQ_TAG_SHIFT | rest;
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
    const uint64_t code[] = {event(CFQ_DESCRIBE, 5),
                             0,
                             UINT64_C(4) << 56 | 0x1034,
                             UINT64_C(4) << 56 | 0x1038,
                             UINT64_C(4) << 56 | 0x103c,
                             event(CFQ_DESCRIBE, 3),
                             1,
                             UINT64_C(2) << 56 | 0x1040};
    const uint64_t text = 0x6e69616d; /* "main" */
    const uint64_t words[] = {
        event(CFQ_LOADED, 2),
        0x1000,
        event(CFQ_MAP, 7),
        0x1000,
        0x3000,
        0,
        5,
        4,
        text,
        event(CFQ_NAMED, 3),
        4,
        text,
        tagged(CFQ_EXECUTE, 0),
        UINT64_C(1) << CFQ_INSN_SHIFT | UINT64_C(3) << CFQ_KIND_SHIFT | 0x2000,
        tagged(CFQ_WIDE, UINT64_C(2) << CFQ_INSN_SHIFT | UINT64_C(11) << CFQ_KIND_SHIFT),
        UINT64_C(0xffff800000000000),
        tagged(CFQ_EXECUTE, 1),
        event(CFQ_BEGIN, 2),
        2,
        event(CFQ_UNMAP, 3),
        0x1000,
        0x2000,
        event(CFQ_EXIT, 1)};
    const uint64_t rest[] = {tagged(CFQ_RESUME, 0), UINT64_C(2) << CFQ_INSN_SHIFT | 0x2008};
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
