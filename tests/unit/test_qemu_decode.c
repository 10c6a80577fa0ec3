/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_qemu_decode: what the decoder of cf-capture-qemu makes of words that no plugin of ours would
 * leave. The emulated program shares a process with the plugin and may write over what it left, so
 * damaged blocks, descriptions and queues end the trace with a problem and nothing else. Stands in
 * for the plugin: fills blocks and queues them. Memory: the shared memory, a packed file in the
 * current directory.
 */
#include "capture/cf_elf.c"
#include "capture/cf_repeat.c"
#include "capture/qemu/decode.c"
#include "capture/qemu/decode_code.c"
#include "capture/qemu/decode_target.c"
#include "capture/qemu/decode_words.c"
#include "tap.h"

static struct cf_writer *writer;
static struct cfq_decoder *decoder;

static void begin(int instructions)
{
    struct cfq_options options = {.instructions = instructions, .fetch_line = 64, .name = "test"};
    struct cf_header header = {.clock_unit = "instructions", .source = "test"};
    char text[200];

    writer = cf_writer_open("decode.cf", "test");
    if (!writer || cf_writer_header(writer, &header) != 0)
        exit(2);
    decoder = cfq_decoder_open(&options, writer, text, sizeof(text));
    if (!decoder)
        exit(2);
}

static int end(void)
{
    char text[200];
    int bad;

    cfq_decoder_finish(decoder);
    bad = cfq_decoder_problem(decoder) != NULL;
    cfq_decoder_close(decoder);
    return cf_writer_close(writer, 1, text, sizeof(text)) == 0 ? bad : -1;
}

/* Queues words in a block of this thread, 0: as descriptions. */
static void add(uint32_t block, uint32_t tid, const uint64_t *words, uint32_t count)
{
    struct cfq_shared *s = decoder->shared;
    struct cfq_block *b = cfq_block(s, block % CFQ_BLOCKS);

    b->used = count < CFQ_WORDS ? count : CFQ_WORDS;
    b->pid = 1;
    b->tid = tid;
    b->state = CFQ_QUEUED;
    memcpy(cfq_words(b), words, b->used * sizeof(*words));
    s->queue[s->tail % CFQ_QUEUE] = (struct cfq_entry){block, 0, count, 1};
    s->tail++;
}

static uint64_t event(unsigned type, uint32_t count)
{
    return (uint64_t)CFQ_EVENT << CFQ_TAG_SHIFT | (uint64_t)type << CFQ_EVENT_SHIFT | count;
}

static uint64_t execute(uint32_t block)
{
    return (uint64_t)CFQ_EXECUTE << CFQ_TAG_SHIFT | block;
}

static uint64_t access_of(unsigned insn, unsigned kind, uint64_t addr)
{
    return (uint64_t)insn << CFQ_INSN_SHIFT | (uint64_t)kind << CFQ_KIND_SHIFT | addr;
}

/* Four instructions of four bytes, the last in another line. */
static void describe(uint32_t number)
{
    uint64_t words[6] = {event(CFQ_DESCRIBE, 6), number};

    for (unsigned i = 0; i < 4; i++)
        words[i + 2] = (UINT64_C(0x1000) + 0x34 + 4 * i) | UINT64_C(4) << 56;
    add(number, 0, words, 6);
}

static void test_right(void)
{
    for (int instructions = 0; instructions < 2; instructions++) {
        uint64_t words[] = {execute(0), access_of(1, 3, 0x2000), access_of(3, 2 | 8, 0x3000),
                            execute(0), access_of(0, 0, 0x2000)};

        begin(instructions);
        describe(0);
        add(1, 7, words, 5);
        ok(cfq_decoder_read(decoder, 0) == 1, "a right trace is read");
        ok(cfq_decoder_flush(decoder) == 0, "and handed over");
        /* The second line's instruction begins a run where data came before it. */
        ok(cfq_decoder_rows(decoder) == (instructions ? 7u : 3u), "with all its rows");
        ok(end() == 0, "without a problem");
    }
}

/* One thread's words, after a description of block 0, are refused. */
static void refused(const char *what, const uint64_t *words, uint32_t count)
{
    for (int instructions = 0; instructions < 2; instructions++) {
        begin(instructions);
        describe(0);
        add(1, 7, words, count);
        ok(cfq_decoder_read(decoder, 0) == -1, "%s: refused", what);
        ok(end() == 1, "%s: told", what);
    }
}

static void test_wrong(void)
{
    refused("an access before any execution", (uint64_t[]){access_of(0, 0, 1)}, 1);
    refused("an access of no instruction", (uint64_t[]){execute(0), access_of(4, 0, 1)}, 2);
    refused("an execution of what is not described", (uint64_t[]){execute(1)}, 1);
    refused("an execution far away", (uint64_t[]){execute(UINT32_MAX)}, 1);
    refused("half a wide access", (uint64_t[]){execute(0), (uint64_t)CFQ_WIDE << CFQ_TAG_SHIFT}, 2);
    refused("an event of no size", (uint64_t[]){event(CFQ_MAP, 0)}, 1);
    refused("an event that goes on", (uint64_t[]){event(CFQ_UNMAP, 3), 1}, 2);
    refused("an unknown event", (uint64_t[]){event(77, 1)}, 1);
    refused("a mapping of nothing", (uint64_t[]){event(CFQ_MAP, 6), 5, 5, 0, 0, 0}, 6);
    refused("a name that is too long", (uint64_t[]){event(CFQ_MAP, 6), 1, 5, 0, 0, 9999}, 6);
    refused("a name that goes on", (uint64_t[]){event(CFQ_NAMED, 2), 1}, 2);
    refused("a description of a block that is known",
            (uint64_t[]){event(CFQ_DESCRIBE, 3), 0, UINT64_C(4) << 56}, 3);
    refused("a description of no instruction", (uint64_t[]){event(CFQ_DESCRIBE, 2), 1}, 2);
    refused("a description far ahead of the others",
            (uint64_t[]){event(CFQ_DESCRIBE, 3), 1 << 27, UINT64_C(4) << 56}, 3);
    refused("a thread of no number", (uint64_t[]){event(CFQ_BEGIN, 2), 0}, 2);
    refused("an unknown word", (uint64_t[]){UINT64_MAX}, 1);
}

static void test_queue(void)
{
    begin(0);
    decoder->shared->tail = CFQ_QUEUE + 1;
    ok(cfq_decoder_read(decoder, 0) == -1, "a queue that is too long is refused");
    ok(end() == 1, "and told");
    begin(0);
    decoder->shared->queue[0] = (struct cfq_entry){CFQ_BLOCKS, 0, 1, 1};
    decoder->shared->tail = 1;
    ok(cfq_decoder_read(decoder, 0) == -1, "a block that is none is refused");
    ok(end() == 1, "and told");
    begin(0);
    decoder->shared->queue[0] = (struct cfq_entry){0, 5, CFQ_WORDS + 1, 1};
    decoder->shared->tail = 1;
    ok(cfq_decoder_read(decoder, 0) == -1, "more words than a block has are refused");
    ok(end() == 1, "and told");
}

/* Whatever the words are: no crash, and a file that is whole. */
static void test_noise(void)
{
    static uint64_t words[CFQ_WORDS];
    uint64_t x = 88172645463325252u;
    int whole = 1;

    for (int round = 0; round < 300; round++) {
        begin(round & 1);
        describe(0);
        describe(1);
        for (uint32_t i = 0; i < CFQ_WORDS; i++) {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            words[i] = x % 50 == 0   ? x
                       : x % 50 == 1 ? event(x >> 8 & 15, x >> 16 & 7)
                       : x % 8 < 3   ? execute(x >> 16 & 1)
                                     : access_of(x >> 16 & 3, x >> 20 & 15, x >> 24);
        }
        add(2, (uint32_t)x % 3, words + round, CFQ_WORDS - 300);
        whole = cfq_decoder_read(decoder, 0) != 0 && end() >= 0 && whole;
    }
    ok(whole, "noise is survived");
}

/* What was being filled when the emulator was killed. */
static void test_rest(void)
{
    uint64_t words[] = {execute(0), access_of(1, 3, 0x2000)};

    begin(0);
    describe(0);
    add(5, 7, words, 2);
    decoder->shared->tail = 0;
    cfq_block(decoder->shared, 0)->state = CFQ_FILLING;
    cfq_block(decoder->shared, 0)->sequence = 2;
    cfq_block(decoder->shared, 5)->state = CFQ_FILLING;
    cfq_block(decoder->shared, 5)->sequence = 1;
    cfq_decoder_finish(decoder);
    ok(cfq_decoder_rows(decoder) == 1, "blocks that were not queued are found, descriptions first");
    ok(end() == 0, "without a problem");
}

int main(void)
{
    test_right();
    test_wrong();
    test_queue();
    test_noise();
    test_rest();
    unlink("decode.cf");
    return done();
}
