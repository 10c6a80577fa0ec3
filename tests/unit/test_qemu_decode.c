/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_qemu_decode: what the reader of cf-capture-qemu and the decoder make of words that no plugin
 * of ours would leave. The emulated program shares a process with the plugin and may write over
 * what it left, so damaged blocks, descriptions and queues end the trace with a problem and nothing
 * else. Stands in for the plugin: fills blocks and queues them. Memory: the shared memory, a packed
 * file in the current directory.
 */
#include "capture/qemu/reader.c"
#include "capture/qemu/target.c"
#include "tap.h"

static struct cf_writer *writer;
static struct cfq_reader *reader;

static void begin(int instructions)
{
    struct cfq_options options = {.decode = {.instructions = instructions, .fetch_line = 64},
                                  .name = "test"};
    struct cf_header header = {.clock_unit = "instructions", .source = "test"};
    char text[200];

    writer = cf_writer_open("decode.cf", "test");
    if (!writer || cf_writer_header(writer, &header) != 0)
        exit(2);
    reader = cfq_reader_open(&options, writer, text, sizeof(text));
    if (!reader)
        exit(2);
}

static int end(void)
{
    char text[200];
    int bad;

    cfq_reader_finish(reader);
    bad = cf_decode_trouble(cfq_reader_decoder(reader)) != NULL;
    cfq_reader_close(reader);
    return cf_writer_close(writer, 1, text, sizeof(text)) == 0 ? bad : -1;
}

/* Queues words in a block of this thread, 0: as descriptions. */
static void add(uint32_t block, uint32_t tid, const uint64_t *words, uint32_t count)
{
    struct cfq_shared *s = reader->shared;
    struct cfq_block *b = cfq_block(s, block % CFQ_BLOCKS);

    b->used = count < CFQ_WORDS ? count : CFQ_WORDS;
    b->pid = 1;
    b->tid = tid;
    b->state = CFQ_QUEUED;
    memcpy(cfq_words(b), words, b->used * sizeof(*words));
    s->queue[s->tail % CFQ_QUEUE] = (struct cfq_entry){block, 0, count, 1};
    s->tail++;
}

/* The first word of an event of so many. */
static uint64_t event(unsigned type, uint64_t words)
{
    return words * 8 << 32 | type;
}

/* The third word of a description: how many instructions, and that they are listed. */
static uint64_t listed(uint64_t first, uint64_t insns)
{
    return insns << 32 | first;
}
#define LISTED (UINT64_C(1) << 48)

static uint64_t access_of(unsigned insn, unsigned kind, uint64_t addr)
{
    return CF_WIRE_ACCESS | (uint64_t)insn << CF_WIRE_INSN_SHIFT |
           (uint64_t)kind << CF_WIRE_KIND_SHIFT | addr;
}

/* Four instructions of four bytes, the last in another line. */
static void describe(uint32_t outcome)
{
    uint64_t words[8] = {event(CF_WIRE_BLOCK, 8), listed(outcome, 4), LISTED};

    for (unsigned i = 0; i < 4; i++)
        words[i + 4] = (UINT64_C(0x1000) + 0x34 + 4 * i) | UINT64_C(4) << 56;
    add(outcome, 0, words, 8);
}

static void test_right(void)
{
    for (int instructions = 0; instructions < 2; instructions++) {
        uint64_t words[] = {CF_WIRE_LISTED(1), access_of(1, 3, 0x2000), access_of(3, 2 | 8, 0x3000),
                            CF_WIRE_LISTED(1), access_of(0, 0, 0x2000)};

        begin(instructions);
        describe(1);
        add(2, 7, words, 5);
        ok(cfq_reader_read(reader, 0) == 1, "a right trace is read");
        ok(cf_decode_flush(cfq_reader_decoder(reader)) == 0, "and handed over");
        /* The second line's instruction begins a run where data came before it. */
        ok(cf_decode_rows(cfq_reader_decoder(reader)) == (instructions ? 7u : 3u),
           "with all its rows");
        ok(end() == 0, "without a problem");
    }
}

/* A block that was full amidst an execution is no execution more; a thread that another one made is
 * not made again when it runs. */
static void test_resumed(void)
{
    uint64_t first[] = {CF_WIRE_LISTED(1), access_of(1, 3, 0x2000), event(CF_WIRE_TASK, 2),
                        (uint64_t)CF_WIRE_TASK_MADE << 32 | 8};
    uint64_t more[] = {CF_WIRE_LISTED(1) | CF_WIRE_RESUMED, access_of(2, 3, 0x2008)};

    begin(0);
    describe(1);
    add(2, 7, first, 4);
    add(3, 7, more, 2);
    add(4, 8, first, 2);
    ok(cfq_reader_read(reader, 0) == 1, "a resumed execution is read");
    is_u64(reader->decode.time, 8, "and counts once");
    is_u64((uint64_t)reader->process.n_threads, 2, "a thread that was made is one");
    is_u64(cf_decode_rows(cfq_reader_decoder(reader)), 3, "with all accesses");
    ok(end() == 0, "without a problem");
}

/* One thread's words, after a description of outcome 1, are refused. */
static void refused(const char *what, const uint64_t *words, uint32_t count)
{
    for (int instructions = 0; instructions < 2; instructions++) {
        begin(instructions);
        describe(1);
        add(2, 7, words, count);
        ok(cfq_reader_read(reader, 0) == -1, "%s: refused", what);
        ok(end() == 1, "%s: told", what);
    }
}

static void test_wrong(void)
{
    const uint64_t insn = UINT64_C(4) << 56;

    refused("an access before any execution", (uint64_t[]){access_of(0, 0, 1)}, 1);
    refused("an access of no instruction", (uint64_t[]){CF_WIRE_LISTED(1), access_of(4, 0, 1)}, 2);
    refused("an execution of what is not described", (uint64_t[]){CF_WIRE_LISTED(2)}, 1);
    refused("an execution far away", (uint64_t[]){CF_WIRE_LISTED(CF_WIRE_OUTCOMES)}, 1);
    refused("a record with slots", (uint64_t[]){1 << CF_WIRE_SLOT_BITS | 1}, 1);
    refused("half a wide access",
            (uint64_t[]){CF_WIRE_LISTED(1), access_of(0, 0, 0) | CF_WIRE_WIDE}, 2);
    refused("an event of no size", (uint64_t[]){event(CF_WIRE_MAP, 0)}, 1);
    refused("an event that goes on", (uint64_t[]){event(CF_WIRE_UNMAP, 6), 1}, 2);
    refused("an unknown event", (uint64_t[]){event(63, 1)}, 1);
    refused("a mapping of nothing", (uint64_t[]){event(CF_WIRE_MAP, 5), 5, 5, 0, 0}, 5);
    refused("a mapping without its fields", (uint64_t[]){event(CF_WIRE_MAP, 3), 1, 5}, 3);
    refused("a name that goes on", (uint64_t[]){event(CF_WIRE_TASK, 1)}, 1);
    refused("a description of what is known",
            (uint64_t[]){event(CF_WIRE_BLOCK, 5), listed(1, 1), LISTED, 0, insn}, 5);
    refused("a description of no instruction",
            (uint64_t[]){event(CF_WIRE_BLOCK, 4), listed(2, 0), LISTED, 0}, 4);
    refused("a description ahead of the others",
            (uint64_t[]){event(CF_WIRE_BLOCK, 5), listed(3, 1), LISTED, 0, insn}, 5);
    refused("a superblock among translation blocks",
            (uint64_t[]){event(CF_WIRE_BLOCK, 5), listed(2, 1), 0, 0, insn}, 5);
    refused("a translation block with slots",
            (uint64_t[]){event(CF_WIRE_BLOCK, 5), listed(2, 1), LISTED | 1, 0, insn}, 5);
    refused("a thread of no number",
            (uint64_t[]){event(CF_WIRE_TASK, 2), (uint64_t)CF_WIRE_TASK_MADE << 32}, 2);
    refused("an unknown word", (uint64_t[]){UINT64_MAX >> 1}, 1);
}

/* A block of descriptions, which is of no thread, has no executions, whichever thread ran last. */
static void test_no_thread(void)
{
    uint64_t words[] = {CF_WIRE_LISTED(1), access_of(1, 3, 0x2000)};

    begin(0);
    describe(1);
    add(4, 7, words, 2);
    describe(2);
    add(5, 7, words, 2);
    ok(cfq_reader_read(reader, 0) == 1, "descriptions between executions are read");
    is_u64(reader->decode.time, 8, "which go on with the thread that ran");
    add(6, 0, words, 2);
    ok(cfq_reader_read(reader, 0) == -1, "an execution of no thread is refused");
    ok(end() == 1, "and told");
}

static void test_queue(void)
{
    begin(0);
    reader->shared->tail = CFQ_QUEUE + 1;
    ok(cfq_reader_read(reader, 0) == -1, "a queue that is too long is refused");
    ok(end() == 1, "and told");
    begin(0);
    reader->shared->queue[0] = (struct cfq_entry){CFQ_BLOCKS, 0, 1, 1};
    reader->shared->tail = 1;
    ok(cfq_reader_read(reader, 0) == -1, "a block that is none is refused");
    ok(end() == 1, "and told");
    begin(0);
    reader->shared->queue[0] = (struct cfq_entry){0, 5, CFQ_WORDS + 1, 1};
    reader->shared->tail = 1;
    ok(cfq_reader_read(reader, 0) == -1, "more words than a block has are refused");
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
        describe(1);
        describe(2);
        for (uint32_t i = 0; i < CFQ_WORDS; i++) {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            words[i] = x % 50 == 0   ? x
                       : x % 50 == 1 ? event(x >> 8 & 15, x >> 16 & 7)
                       : x % 8 < 3   ? CF_WIRE_LISTED(1 + (x >> 16 & 1))
                                     : access_of(x >> 16 & 3, x >> 20 & 15, x >> 24);
        }
        add(3, (uint32_t)x % 3, words + round, CFQ_WORDS - 300);
        whole = cfq_reader_read(reader, 0) != 0 && end() >= 0 && whole;
    }
    ok(whole, "noise is survived");
}

/* What was being filled when the emulator was killed. */
static void test_rest(void)
{
    uint64_t words[] = {CF_WIRE_LISTED(1), access_of(1, 3, 0x2000)};

    begin(0);
    describe(1);
    add(5, 7, words, 2);
    reader->shared->tail = 0;
    cfq_block(reader->shared, 1)->state = CFQ_FILLING;
    cfq_block(reader->shared, 1)->sequence = 2;
    cfq_block(reader->shared, 5)->state = CFQ_FILLING;
    cfq_block(reader->shared, 5)->sequence = 1;
    cfq_reader_finish(reader);
    ok(cf_decode_rows(cfq_reader_decoder(reader)) == 1,
       "blocks that were not queued are found, descriptions first");
    ok(end() == 0, "without a problem");
}

int main(void)
{
    test_right();
    test_resumed();
    test_wrong();
    test_no_thread();
    test_queue();
    test_noise();
    test_rest();
    unlink("decode.cf");
    return done();
}
