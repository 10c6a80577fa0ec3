/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * canonical lackey [lines] <LOG, canonical ours [lines] <CSV: what lackey's log and a recording, as
 * op,addr,size,time, have in common: one line for each access and, with `lines`, for each change of
 * the instruction's 64-byte line. Where the stack lies depends on the environment: of its addresses
 * only that they are such is printed. A string instruction that repeats itself has as many accesses
 * as it has elements in lackey, and fewer in a recording: so what an instruction does to successive
 * addresses is put together. Of an atomic read-modify-write lackey has a load, and a load and
 * store: the first load is left out.
 *
 * canonical again <LOG: of each instruction that repeats itself its address, how often it did, and
 * its loads.
 *
 * In C since a log has millions of lines.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOAD, STORE, NONE, CODES = 1 << 18 };

static struct {
    uint64_t addr, bytes;
} joined[NONE];
static int first = NONE;
static int lines;

static struct code {
    uint64_t pc, repeats, loads;
} codes[CODES];

static void fail(const char *what)
{
    fprintf(stderr, "canonical: %s\n", what);
    exit(1);
}

static void put(int op)
{
    static const char *const name[] = {"load", "store"};

    if (joined[op].bytes == 0)
        return;
    if (joined[op].addr >= 0x1f00000000 && joined[op].addr < 0x2000000000)
        printf("%s stack %" PRIu64 "\n", name[op], joined[op].bytes);
    else
        printf("%s %" PRIx64 " %" PRIu64 "\n", name[op], joined[op].addr, joined[op].bytes);
    joined[op].bytes = 0;
}

static void end_instruction(void)
{
    if (first != NONE) {
        put(first);
        put(first == LOAD ? STORE : LOAD);
    }
    first = NONE;
}

static void data(int op, uint64_t addr, uint64_t size)
{
    if (joined[op].bytes && joined[op].addr + joined[op].bytes != addr)
        put(op);
    if (first == NONE)
        first = op;
    if (joined[op].bytes == 0)
        joined[op].addr = addr;
    joined[op].bytes += size;
}

static void fetch(uint64_t pc, uint64_t size)
{
    static uint64_t last = UINT64_MAX;

    for (uint64_t line = pc / 64; line <= (pc + size - 1) / 64; line++)
        if (line != last) {
            last = line;
            if (lines)
                printf("I %" PRIx64 "\n", line);
        }
}

static struct code *code_at(uint64_t pc)
{
    for (uint64_t i = pc * 0x9e3779b97f4a7c15 >> 46, n = 0; n < CODES; n++, i = (i + 1) % CODES)
        if (codes[i].pc == pc || codes[i].pc == 0) {
            codes[i].pc = pc;
            return &codes[i];
        }
    fail("too many instructions");
    return NULL;
}

static int op_named(const char *name)
{
    if (strncmp(name, "load,", 5) != 0 && strncmp(name, "store,", 6) != 0)
        fail(name);
    return name[0] == 'l' ? LOAD : STORE;
}

/* The number at *at, which `end` must follow; *at is then what comes behind that. */
static uint64_t number(const char **at, int base, char end)
{
    char *stop;
    uint64_t value = strtoull(*at, &stop, base);

    if (stop == *at || *stop != end)
        fail(*at);
    *at = stop + 1;
    return value;
}

/* A row of our trace; `now` is the time of the one before. */
static void take_ours(const char *text, uint64_t *now)
{
    const char *at = strchr(text, ',');
    uint64_t addr, size, time;

    if (!at++)
        fail(text);
    addr = number(&at, 16, ',');
    size = number(&at, 10, ',');
    time = number(&at, 10, '\n');
    if (time != *now)
        end_instruction();
    *now = time;
    if (strncmp(text, "ifetch,", 7) == 0)
        fetch(addr, size);
    else
        data(op_named(text), addr, size);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    const int again = strcmp(what, "again") == 0, ours = strcmp(what, "ours") == 0;
    struct code *code = NULL;
    uint64_t pc = 0, addr, size, now = 0;
    const char *at;
    char text[256];

    lines = argc > 2;
    if (!again && !ours && strcmp(what, "lackey") != 0)
        fail("lackey, ours or again");
    while (fgets(text, sizeof text, stdin)) {
        if (ours) {
            take_ours(text, &now);
            continue;
        }
        if (strncmp(text, "I  ", 3) != 0 &&
            (text[0] != ' ' || !strchr("LSM", text[1]) || text[2] != ' '))
            continue; /* what Valgrind says of itself */
        at = text + 3;
        addr = number(&at, 16, ',');
        size = number(&at, 10, '\n');
        if (again) {
            if (text[0] != 'I') {
                if (code)
                    code->loads += text[1] != 'S';
            } else if (addr == pc) {
                code->repeats++;
            } else {
                code = code_at(addr);
                pc = addr;
            }
        } else if (text[0] == 'I') {
            if (addr != pc)
                end_instruction();
            pc = addr;
            fetch(addr, size);
        } else {
            const int twice =
                text[1] == 'M' && joined[LOAD].addr == addr && joined[LOAD].bytes == size;

            if (text[1] != 'S' && !twice)
                data(LOAD, addr, size);
            if (text[1] != 'L')
                data(STORE, addr, size);
        }
    }
    end_instruction();
    for (int i = 0; again && i < CODES; i++)
        if (codes[i].repeats)
            printf("0x%" PRIx64 " %" PRIu64 " %" PRIu64 "\n", codes[i].pc, codes[i].repeats,
                   codes[i].loads);
    return 0;
}
