/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_trace: the decoder of cf-capture-trace under libFuzzer, fed by a tool that may write
 * anything.
 *
 * The first byte says how to decode. Then come messages: a byte that says what, one whose (process
 * and ring), two of length, and as many bytes. START makes a ring file; BLOCK and PUBLISH put the
 * bytes into the block that is due. --seeds=FOLDER writes inputs to begin with; rings stand below
 * TMPDIR.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture/trace/reader.h"
#include "capture/trace/protocol.h"
#include "formats/writer/cf_stretches_parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

enum { START, BLOCK, PUBLISH, END, FORK, ODD, WHATS, PROCESSES = 16, ROOM = 64 };

static char folder[96];
static struct cf_wire_ring *ring[PROCESSES];
static uint32_t sequence[PROCESSES];
static uint64_t sum;

/* A pid that is nobody's: above the kernel's largest. */
static uint32_t pid_of(unsigned who)
{
    return (1 << 22) + 1 + who % 4;
}

static uint64_t time_of[ROOM], addr[ROOM];
static uint32_t hints[ROOM], stacks[ROOM], last_node;
static int with_calls;

/* What takes the writer's place. */

int cf_writer_kind(struct cf_writer *w, uint32_t hint, uint64_t pc, enum cf_op op, uint32_t size,
                   uint32_t insns)
{
    (void)w;
    sum += hint + pc + op + size + insns;
    return 0;
}

uint32_t cf_writer_string(struct cf_writer *w, const char *text)
{
    (void)w;
    return (uint32_t)strlen(text);
}

int cf_writer_place(struct cf_writer *w, unsigned table, const struct cf_values *constants,
                    unsigned constant_count, struct cf_place *columns, unsigned count,
                    uint32_t **hint, uint32_t *rows)
{
    (void)w, (void)table;
    if (count > 2)
        columns[2].values = stacks;
    for (unsigned i = 0; i < constant_count; i++)
        sum += constants[i].constant;
    columns[0].values = time_of;
    columns[1].values = addr;
    if (hint)
        *hint = hints;
    *rows = ROOM;
    return 0;
}

static struct cfw_stretches *stretches;
static int with_stretches;

int cf_writer_stretched(struct cf_writer *w)
{
    const uint64_t *time, *address;
    const uint32_t *hint;
    struct cf_stretches *s = (struct cf_stretches *)stretches, empty;
    uint32_t rows;

    (void)w;
    if (!s)
        return 0;
    empty = *s;
    empty.rows = empty.tokens = empty.slot_bytes = 0;
    rows = cf_stretches_back(s, &empty, &time, &address, &hint);
    for (uint32_t i = 0; i < rows; i++)
        sum += time[i] + address[i] + hint[i];
    cfw_begin_stretches(stretches);
    return 0;
}

struct cf_stretches *cf_writer_stretches(struct cf_writer *w, const struct cf_values *constants,
                                         unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        sum += constants[i].constant;
    if (with_stretches && !stretches)
        stretches = cfw_new_stretches();
    return with_stretches && cf_writer_stretched(w) == 0 ? &stretches->s : NULL;
}

int cf_writer_placed(struct cf_writer *w, unsigned table, uint32_t rows)
{
    (void)w, (void)table;
    if (rows > ROOM)
        abort();
    for (uint32_t i = 0; i < rows; i++) {
        sum += time_of[i] + addr[i] + hints[i];
        if (with_calls && rows == ROOM && stacks[i] > last_node)
            abort(); /* a full place goes on its way: nodes must have come before */
        if (i && time_of[i] < time_of[i - 1])
            abort(); /* rows come in the order of time */
    }
    return 0;
}

int cf_writer_rows(struct cf_writer *w, unsigned table, uint32_t rows,
                   const struct cf_values *columns, unsigned count, const uint32_t *hint)
{
    (void)w, (void)hint;
    if (table == CF_MAP && columns[4].constant < columns[3].constant)
        abort();
    for (uint32_t k = 0; table == CF_STACK && k < rows; k++) {
        const uint32_t *id = columns[1].values, *parent = columns[2].values;

        if (parent[k] >= id[k])
            abort();
        last_node = id[k] > last_node ? id[k] : last_node;
    }
    for (unsigned i = 0; i < count; i++)
        for (uint32_t k = 0; k < rows && columns[i].values; k++)
            sum += ((const uint8_t *)columns[i].values)[k];
    return 0;
}

static void make_ring(unsigned who)
{
    char path[128];
    int fd;

    snprintf(path, sizeof path, "%s/ring.%u.%u", folder, pid_of(who), who / 4);
    fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, CF_WIRE_RING_BYTES) != 0)
        abort();
    if (ring[who])
        munmap(ring[who], CF_WIRE_RING_BYTES);
    ring[who] = mmap(NULL, CF_WIRE_RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (ring[who] == MAP_FAILED)
        abort();
    ring[who]->magic = CF_WIRE_MAGIC;
    ring[who]->version = CF_WIRE_VERSION;
    ring[who]->pid = pid_of(who);
    ring[who]->block_bytes = CF_WIRE_BLOCK_BYTES;
    ring[who]->blocks = CF_WIRE_BLOCKS;
    sequence[who] = 0;
}

static void message(struct cf_trace *t, int fd, unsigned what, unsigned who, const uint8_t *bytes,
                    size_t n)
{
    struct cf_wire_token token = {.pid = pid_of(who), .ring = who / 4};

    switch (what) {
    case START:
    case FORK:
        make_ring(who);
        token.type = CF_WIRE_TOKEN_START;
        token.origin = what == FORK ? CF_WIRE_FORK : CF_WIRE_FIRST;
        token.parent = n ? pid_of(bytes[0]) : 0;
        token.outcomes = n > 2 ? bytes[1] | bytes[2] << 8 : 1;
        token.contexts = n > 3 ? bytes[3] : 1;
        token.fork = n > 4 ? bytes[4] : 0;
        break;
    case BLOCK:
    case PUBLISH:
        if (!ring[who])
            return;
        memcpy((uint8_t *)ring[who] + CF_WIRE_HEADER_BYTES +
                   (size_t)(sequence[who] % CF_WIRE_BLOCKS) * CF_WIRE_BLOCK_BYTES,
               bytes, n);
        if (what == PUBLISH) {
            ring[who]->published = (uint64_t)sequence[who] << 32 | n;
            (void)cf_trace_read(t, 0);
            return;
        }
        token.type = CF_WIRE_TOKEN_BLOCK;
        token.sequence = sequence[who]++;
        token.bytes = (uint32_t)n;
        break;
    case END:
        token.type = CF_WIRE_TOKEN_END;
        break;
    default:
        memcpy(&token, bytes, n < sizeof token ? n : sizeof token);
        token.pid = pid_of(token.pid);
    }
    if (write(fd, &token, sizeof token) == (ssize_t)sizeof token)
        (void)cf_trace_read(t, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cf_trace_options options = {.decode.fetch_line = 64};
    char problem[256], path[128];
    const uint8_t *end = data + size;
    struct cf_trace *t;
    int fd;

    if (size < 1)
        return 0;
    options.decode.instructions = data[0] & 1;
    options.follow = 0;
    options.decode.limit = data[0] & 2 ? 100 : 0;
    with_calls = data[0] & 4;
    with_stretches = data[0] & 16;
    options.decode.calls = !with_calls ? 0 : data[0] & 8 ? 3 : CF_DECODE_DEPTH;
    last_node = 0;
    t = cf_trace_open(folder, &options, NULL, problem, sizeof problem);
    if (!t) {
        fprintf(stderr, "%s\n", problem);
        abort();
    }
    snprintf(path, sizeof path, "%s/tokens", folder);
    fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        abort();
    for (data++; end - data >= 4;) {
        unsigned what = data[0] % WHATS, who = data[1] % PROCESSES;
        size_t n = (size_t)(data[2] | data[3] << 8);

        data += 4;
        if (n > (size_t)(end - data))
            n = (size_t)(end - data);
        message(t, fd, what, who, data, n);
        data += n;
    }
    close(fd);
    (void)cf_trace_finish(t);
    cf_trace_close(t);
    for (unsigned i = 0; i < PROCESSES; i++) {
        if (!ring[i])
            continue;
        munmap(ring[i], CF_WIRE_RING_BYTES);
        ring[i] = NULL;
        snprintf(path, sizeof path, "%s/ring.%u.%u", folder, pid_of(i), i / 4);
        unlink(path);
    }
    return 0;
}

static void clean(void)
{
    rmdir(folder);
}

/* ---- inputs to begin with ---- */

static FILE *seed;
static uint8_t block[4096];
static size_t filled;

static void *add(const void *bytes, size_t n)
{
    memcpy(block + filled, bytes, n);
    filled += n;
    return block + filled - n;
}

static void send(unsigned what, unsigned who)
{
    fputc((int)what, seed);
    fputc((int)who, seed);
    fputc((int)(filled & 255), seed);
    fputc((int)(filled >> 8), seed);
    fwrite(block, 1, filled, seed);
    filled = 0;
}

static void address(uint64_t a)
{
    add(&a, CF_WIRE_SLOT_BYTES);
}

#define EVENT(kind, more)                                                                          \
    {                                                                                              \
        .type = (kind), .bytes = (uint32_t)(sizeof(more))                                          \
    }

/* A superblock of two instructions with a load, a conditional store and an exit, */
static void add_block(int how)
{
    struct cf_wire_block b = {EVENT(CF_WIRE_BLOCK, b), .first = 1, .insns = 2,
                              .accesses = 2,           .slots = 2, .exits = 1,
                              .sections = 1,           .ends = 1};
    struct cf_wire_insn insn[2] = {{UINT64_C(4) << 56 | 0x1000}, {UINT64_C(4) << 56 | 0x1004}};
    struct cf_wire_access access[2] = {{8, 0, 0, 8, CF_WIRE_LOAD, 0},
                                       {0, 1, 1, 4, CF_WIRE_STORE | CF_WIRE_CONDITIONAL, 0}};
    struct cf_wire_exit out = {0, 1};
    struct cf_wire_section section = {1, 1};
    struct cf_wire_end calls = {0, 0x1008, 1, how & 16 ? CF_WIRE_RETURNS : CF_WIRE_CALLS, 1};

    b.header.bytes += sizeof insn + sizeof access + sizeof out + sizeof section + sizeof calls;
    add(&b, sizeof b);
    add(insn, sizeof insn);
    add(access, sizeof access);
    add(&out, sizeof out);
    add(&section, sizeof section);
    add(&calls, sizeof calls);
}

/* and its runs, with every outcome. */
static void add_outcomes(void)
{
    struct cf_wire_cut cut = {EVENT(CF_WIRE_CUT, cut), 1, 0, 0x1004};

    for (uint32_t outcome = 1; outcome < 7; outcome++) {
        const uint32_t header = outcome << CF_WIRE_SLOT_BITS | 2;

        add(&header, sizeof header);
        address(0x2000);
        address(0x2008);
        if (outcome >= 5)
            add(&cut, sizeof cut);
    }
}

/* A process with a thread, a mapping, contexts, heap objects, a superblock of two instructions with
   a load, a conditional store and an exit; a child of it. */
static void write_seed(const char *where, int how)
{
    struct cf_wire_thread thread = {EVENT(CF_WIRE_THREAD, thread), pid_of(0), 0};
    struct cf_wire_task task_event = {
        {CF_WIRE_TASK, sizeof task_event + 4}, pid_of(0), CF_WIRE_TASK_START};
    struct cf_wire_map m = {{CF_WIRE_MAP, sizeof m + 4}, 0x1000, 0x3000, 0, 5, 0, 0, 0};
    struct cf_wire_context c = {EVENT(CF_WIRE_CONTEXT, c), 1, 0, 0x1004};
    struct cf_wire_object o = {EVENT(CF_WIRE_ALLOC, o), 0x5000, 64, 1, 0};
    struct cf_wire_signal signal = {EVENT(CF_WIRE_SIGNAL, signal), 0x2000, 0x1004, 0, 0};
    struct cf_wire_event_header handled = EVENT(CF_WIRE_HANDLED, handled);
    struct cf_wire_fork forks = {EVENT(CF_WIRE_FORKS, forks), 1, 0};
    char path[4096];
    uint32_t header;

    snprintf(path, sizeof path, "%s/seed-%d", where, how);
    if (!(seed = fopen(path, "wb")))
        abort();
    fputc(how, seed);
    filled = 0;
    send(START, 0);
    add(&task_event, sizeof task_event);
    add("one", 4);
    add(&thread, sizeof thread);
    add(&m, sizeof m);
    add("/ab", 4);
    add(&c, sizeof c);
    add(&o, sizeof o);
    add_block(how);
    add_outcomes();
    send(BLOCK, 0);
    signal.high = how & 8 ? 0x9000 : 0;
    add(&signal, sizeof signal);
    add(&handled, sizeof handled);
    add(&forks, sizeof forks);
    o.header.type = CF_WIRE_FREE;
    add(&o, sizeof o);
    m.header.type = CF_WIRE_UNMAP;
    m.header.bytes = sizeof m;
    add(&m, sizeof m);
    send(PUBLISH, 0);
    add("\0\7\0\2\1", 5);
    send(FORK, 1);
    add(&thread, sizeof thread);
    header = 1 << CF_WIRE_SLOT_BITS | 2;
    add(&header, sizeof header);
    address(0x2010);
    address(0x2018);
    send(BLOCK, 1);
    send(END, 1);
    send(START, 4); /* exec */
    send(END, 4);
    fclose(seed);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{

    if (*argc > 1 && strncmp((*argv)[1], "--seeds=", 8) == 0) {
        for (int how = 0; how < 32; how++)
            write_seed((*argv)[1] + 8, how);
        exit(0);
    }
    snprintf(folder, sizeof folder, "%s/cf-fuzz-XXXXXX",
             getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    if (!mkdtemp(folder))
        abort();
    atexit(clean);
    return 0;
}
