/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run: what a program did, from three files. PREFIX.log is the emulator's log with the registers
 * before each instruction, PREFIX.bin the program's bytes as they stand in memory, PREFIX.lst its
 * disassembly, from which come addresses, names and the text of instructions. An instruction's
 * result is what its register holds in the next instruction's registers; its address follows from
 * its own. Memory is kept up to date by the stores, and each load is compared with it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/leon4/leon4.h"

struct state {
    uint32_t pc, npc, psr;
    uint32_t reg[32]; /* g, o, l, i */
    uint32_t f[32];
    int complete;
    int stopped; /* the instruction before did not run after all: the emulator was stopped */
};

struct source {
    struct cf_tool *tool;
    char name[4096];
    uint64_t line;
    FILE *in;
};

static void open_source(struct cf_tool *t, struct source *s, const char *prefix, const char *ending)
{
    s->tool = t;
    s->line = 0;
    if (snprintf(s->name, sizeof(s->name), "%s%s", prefix, ending) >= (int)sizeof(s->name))
        cf_die(t, CF_EXIT_USAGE, "%s: the name is too long", prefix);
    s->in = fopen(s->name, "r");
    if (!s->in)
        cf_die(t, CF_EXIT_INPUT, "%s: %s", s->name, strerror(errno));
}

static void close_source(struct source *s)
{
    if (ferror(s->in))
        cf_die(s->tool, CF_EXIT_INPUT, "%s: %s", s->name, strerror(errno));
    fclose(s->in);
}

static __attribute__((noreturn)) void bad(const struct source *s, const char *what)
{
    cf_die(s->tool, CF_EXIT_INPUT, "%s: line %llu: %s", s->name, (unsigned long long)s->line, what);
}

static void *more(struct cf_tool *t, void *old, size_t count, size_t size)
{
    void *new = reallocarray(old, count ? count : 1, size);

    if (!new)
        cf_die(t, CF_EXIT_ENVIRONMENT, "no memory for %zu items", count);
    return new;
}

static char *copy(struct cf_tool *t, const char *text, size_t length)
{
    char *new = more(t, NULL, length + 1, 1);

    memcpy(new, text, length);
    new[length] = 0;
    return new;
}

/* ---- the listing ---- */

/* The disassembler's text in the shape that LEON's monitors give it: two blanks after the mnemonic,
   none inside brackets, plain targets, no remarks. */
static void tidy(char *text)
{
    char *to = text, *from = text, *end = strchr(text, '!');

    if (!end)
        end = text + strlen(text);
    *end = 0;
    for (; *from; from++) {
        if (from[0] == ' ' && from[1] == ']')
            continue;
        if (from[0] == '<') /* a target: "40001000 <start>" */
            break;
        *to++ = *from;
        if (from[0] == '[' && from[1] == ' ')
            from++;
    }
    while (to > text && (to[-1] == ' ' || to[-1] == '\t'))
        to--;
    *to = 0;
    /* a target is a bare hex number of eight digits */
    if (to - text >= 8 && strspn(to - 8, "0123456789abcdef") == 8 &&
        (to - text == 8 || to[-9] == ' ')) {
        memmove(to - 6, to - 8, 9);
        memcpy(to - 8, "0x", 2);
    }
}

static void read_listing(struct cf_tool *t, const char *prefix, struct run *r)
{
    struct source s;
    char line[512];
    unsigned long address;
    int used;

    open_source(t, &s, prefix, ".lst");
    while (fgets(line, sizeof(line) - 8, s.in)) {
        char *tab;

        s.line++;
        line[strcspn(line, "\n")] = 0;
        used = 0;
        if (sscanf(line, "%8lx <%n", &address, &used) == 1 && used && strchr(line, '>')) {
            if (r->symbols && address < r->at[r->symbols - 1])
                bad(&s, "symbols are not in the order of their addresses");
            r->symbol = more(t, r->symbol, r->symbols + 1, sizeof(*r->symbol));
            r->at = more(t, r->at, r->symbols + 1, sizeof(*r->at));
            r->symbol[r->symbols] = copy(t, line + used, strcspn(line + used, ">"));
            r->at[r->symbols++] = (uint32_t)address;
            if (r->symbols == 1)
                r->base = (uint32_t)address;
        } else if (sscanf(line, "%8lx:%n", &address, &used) == 1 && used && line[used] == '\t' &&
                   (tab = strchr(line + used + 1, '\t')) && r->symbols) {
            const uint32_t word = ((uint32_t)address - r->base) / 4;

            if (word >= MEMORY / 4)
                bad(&s, "an instruction outside the program's memory");
            if (word >= r->words) {
                r->text = more(t, r->text, word + 1, sizeof(*r->text));
                memset(r->text + r->words, 0, (word + 1 - r->words) * sizeof(*r->text));
                r->words = word + 1;
            }
            tidy(tab + 1);
            free(r->text[word]);
            r->text[word] = copy(t, tab + 1, strlen(tab + 1));
        }
    }
    if (!r->words)
        bad(&s, "no instruction: a listing as 'objdump -d' writes it is expected");
    close_source(&s);
}

const char *run_text(const struct run *r, uint32_t pc)
{
    const uint32_t word = (pc - r->base) / 4;

    return word < r->words && r->text[word] ? r->text[word] : "";
}

const char *run_symbol(const struct run *r, uint32_t pc, uint32_t *offset)
{
    uint32_t low = 0, high = r->symbols;

    while (low < high) {
        const uint32_t middle = (low + high) / 2;

        if (r->at[middle] <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    *offset = low ? pc - r->at[low - 1] : 0;
    return low ? r->symbol[low - 1] : "";
}

/* ---- memory ---- */

static uint32_t get(const uint8_t *at, unsigned size)
{
    uint32_t value = 0;

    while (size--)
        value = value << 8 | *at++;
    return value;
}

static void put(uint8_t *at, uint32_t value, unsigned size)
{
    while (size--) {
        at[size] = (uint8_t)value;
        value >>= 8;
    }
}

/* ---- the log ---- */

/* `count` numbers of eight digits. A log has millions: strtoul or sscanf takes most of the time. */
static int numbers(const char *text, uint32_t *to, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        uint32_t value = 0;

        while (*text == ' ')
            text++;
        for (unsigned k = 0; k < 8; k++, text++) {
            const unsigned c = (unsigned char)*text;

            if (c - '0' < 10)
                value = value << 4 | (c - '0');
            else if (c - 'a' < 6)
                value = value << 4 | (c - 'a' + 10);
            else
                return 0;
        }
        to[i] = value;
    }
    return 1;
}

/* The registers before the next instruction: 1, or 0 at the end. */
static int read_state(struct source *s, struct state *st)
{
    static const char *const names[] = {"%g0-7: ", "%o0-7: ", "%l0-7: ", "%i0-7: "};
    char line[512];

    memset(st, 0, sizeof(*st));
    while (fgets(line, sizeof(line), s->in)) {
        unsigned seen = 0;

        s->line++;
        if (!strncmp(line, "pc: ", 4)) {
            if (!numbers(line + 4, &st->pc, 1) || strncmp(line + 12, "  npc: ", 7) ||
                !numbers(line + 19, &st->npc, 1))
                bad(s, "two addresses of eight digits are expected");
            st->complete = 1;
            continue;
        }
        if (!strncmp(line, "Stopped execution", 17))
            st->stopped = 1;
        if (!st->complete)
            continue;
        for (unsigned i = 0; i < 4; i++)
            if (!strncmp(line, names[i], 7)) {
                if (!numbers(line + 7, st->reg + 8 * i, 8))
                    bad(s, "eight registers are expected");
                seen = 1;
            }
        if (!strncmp(line, "%f", 2) && !seen) {
            /* two single registers in each number of 16 digits */
            const unsigned first = 10u * (unsigned)(line[2] - '0') + (unsigned)(line[3] - '0');

            if (first > 24 || line[4] != ':' || !numbers(line + 6, st->f + first, 8))
                bad(s, "four floating-point registers are expected");
        }
        if (!strncmp(line, "psr: ", 5)) {
            if (!numbers(line + 5, &st->psr, 1))
                bad(s, "a number of eight digits is expected");
            return 1;
        }
    }
    if (st->complete)
        bad(s, "the log ends within the registers of an instruction");
    return 0;
}

/* What an instruction that throws its result away has computed: the processor records it. */
static uint32_t alu(unsigned op3, uint32_t a, uint32_t b)
{
    switch (op3 & ~0x10u) {
    case 0x00:
        return a + b;
    case 0x01:
        return a & b;
    case 0x02:
        return a | b;
    case 0x03:
        return a ^ b;
    case 0x04:
        return a - b;
    case 0x05:
        return a & ~b;
    case 0x06:
        return a | ~b;
    case 0x07:
        return a ^ ~b;
    default:
        return 0;
    }
}

static void decode_memory(const struct source *s, struct run *r, uint8_t *memory, struct step *p,
                          const struct state *now, const struct state *next, uint32_t operand)
{
    static const uint8_t sizes[16] = {4, 1, 2, 8, 4, 1, 2, 8, 0, 1, 2, 0, 0, 1, 0, 4};
    const unsigned op3 = p->opcode >> 19 & 63;
    const unsigned asi = p->opcode >> 5 & 255;
    const int real = (op3 & 0x30) == 0x20, alternate = (op3 & 0x30) == 0x10 || op3 == 0x3c;
    const int compare = op3 == 0x3c;
    const uint32_t *from = real ? now->f : now->reg, *to = real ? next->f : next->reg;
    unsigned rd = p->opcode >> 25 & 31;
    uint8_t *at;

    p->size = compare ? 4 : sizes[op3 & 15];
    p->kind = compare || (op3 & 15) == 13 || (op3 & 15) == 15 ? ATOMIC : op3 & 4 ? STORE : LOAD;
    if (!p->size || (real && (op3 & 3) != 0 && (op3 & 3) != 3) || op3 > 0x3c ||
        (op3 >= 0x30 && !compare))
        bad(s, "a load or store that is not known here");
    if (p->size == 8)
        rd &= 30; /* registers of a double word are a pair; an odd one is no such instruction */
    p->addr = now->reg[p->opcode >> 14 & 31] + (compare ? 0 : operand);
    p->memory = !p->trap && (!alternate || (asi >= 8 && asi <= 11));
    if (p->trap)
        return;
    for (unsigned i = 0; i < (p->size == 8 ? 2U : 1U); i++) {
        p->loaded[i] = to[rd + i];
        p->stored[i] = !real && rd + i == 0 ? 0 : from[rd + i];
    }
    if (!p->memory)
        return;
    if (p->addr - r->base > MEMORY - (uint32_t)p->size || p->addr % p->size)
        bad(s, "an address outside the program's memory");
    at = memory + (p->addr - r->base);
    if (p->kind != STORE && (rd || real)) {
        const uint32_t mask = p->size >= 4 ? UINT32_MAX : (1U << 8 * p->size) - 1;

        for (unsigned i = 0; i < (p->size == 8 ? 2U : 1U); i++)
            if ((p->loaded[i] & mask) != get(at + 4 * i, p->size < 4 ? p->size : 4))
                bad(s, "the register does not hold what memory has at the address found");
        r->checked++;
    }
    if (p->kind == ATOMIC) {
        p->writes = !compare || get(at, 4) == now->reg[p->opcode & 31];
        if (p->size == 1)
            p->stored[0] = 255;
    }
    if (p->kind == STORE || p->writes)
        for (unsigned i = 0; i < (p->size == 8 ? 2U : 1U); i++)
            put(at + 4 * i, p->stored[i], p->size < 4 ? p->size : 4);
}

/* Floating-point operations with a double result: opf. */
static int is_pair(unsigned opf)
{
    switch (opf) {
    case 0x2a: /* fsqrtd */
    case 0x42: /* faddd */
    case 0x46: /* fsubd */
    case 0x4a: /* fmuld */
    case 0x4e: /* fdivd */
    case 0x69: /* fsmuld */
    case 0xc8: /* fitod */
    case 0xc9: /* fstod */
        return 1;
    default:
        return 0;
    }
}

/* `next` is NULL for the last instruction. */
static void decode(const struct source *s, struct run *r, uint8_t *memory, struct step *p,
                   const struct state *now, const struct state *next)
{
    const uint32_t opcode = get(memory + (now->pc - r->base), 4);
    const unsigned op = opcode >> 30, op3 = opcode >> 19 & 63, rd = opcode >> 25 & 31;
    const uint32_t left = now->reg[opcode >> 14 & 31];
    const uint32_t right =
        opcode & 0x2000 ? (uint32_t)((int32_t)(opcode << 19) >> 19) : now->reg[opcode & 31];

    memset(p, 0, sizeof(*p));
    p->pc = now->pc;
    p->opcode = opcode;
    /* `ta` with traps off: the processor enters error mode, and that is the end. */
    if (opcode == 0x91d02000 && !(now->psr & 0x20)) {
        p->trap = p->error = 1;
        return;
    }
    if (!next)
        return; /* the log ends too early, which the caller tells */
    /* A trap turns traps off, leaves the pc in %l1 of the next window, and goes to the table. */
    p->trap = now->psr & 0x20 && !(next->psr & 0x20) && next->reg[17] == now->pc &&
              (next->psr & 31) == ((now->psr - 1) & 7) && (next->pc & ~0xfffu) == r->base;
    if (!p->trap && next->pc != now->npc)
        r->annulled++;
    if (op == 3) {
        decode_memory(s, r, memory, p, now, next, right);
        return;
    }
    if (p->trap)
        return;
    if (op == 0)
        p->value = (opcode >> 22 & 7) == 4 ? opcode << 10 : 0;
    else if (op == 1 || op3 == 0x38)
        p->value = now->pc; /* what call and jmpl leave in their register */
    else if (op3 == 0x34 || op3 == 0x35) {
        p->value = next->f[rd];
        p->pair = op3 == 0x34 && is_pair(opcode >> 5 & 511);
        p->loaded[0] = next->f[rd & 30];
        p->loaded[1] = next->f[rd | 1];
    } else if (op3 >= 0x30 && op3 <= 0x33)
        p->value = left ^ right;
    else if (op3 == 0x39 || op3 == 0x3a || op3 == 0x3b)
        p->value = 0; /* rett, ticc, flush */
    else if (op3 == 0x3c || op3 == 0x3d)
        p->value = rd ? next->reg[rd] : left + right;
    else
        p->value = rd ? next->reg[rd] : op3 < 0x20 ? alu(op3, left, right) : 0;
}

static void read_log(struct cf_tool *t, const char *prefix, struct run *r)
{
    struct source s;
    struct state now, next;
    size_t room = 0;
    uint8_t *memory = more(t, NULL, MEMORY, 1);
    int going;

    memcpy(memory, r->memory, MEMORY);
    open_source(t, &s, prefix, ".log");
    /* before the program come a few instructions of the emulator's own boot code */
    do
        going = read_state(&s, &now);
    while (going && now.pc - r->base >= MEMORY);
    if (!going)
        bad(&s, "no instruction of the program");
    while (going) {
        if (now.pc - r->base > MEMORY - 4 || now.pc % 4)
            bad(&s, "an instruction outside the program's memory");
        if (r->steps == room) {
            room = room ? 2 * room : 65536;
            if (room > MOST_STEPS)
                bad(&s, "more instructions than a sample should have");
            r->step = more(t, r->step, room, sizeof(*r->step));
        }
        going = read_state(&s, &next);
        if (!going || !next.stopped) {
            decode(&s, r, memory, &r->step[r->steps++], &now, going ? &next : NULL);
            /* the emulator may go on for a while */
            if (r->step[r->steps - 1].error)
                break;
        }
        now = next;
    }
    if (!r->step[r->steps - 1].error)
        bad(&s, "the program did not come to its end");
    free(memory);
    close_source(&s);
}

void run_read(struct cf_tool *t, const char *prefix, struct run *r)
{
    struct source s;
    size_t n;

    memset(r, 0, sizeof(*r));
    read_listing(t, prefix, r);
    r->memory = more(t, NULL, MEMORY, 1);
    memset(r->memory, 0, MEMORY);
    open_source(t, &s, prefix, ".bin");
    n = fread(r->memory, 1, MEMORY, s.in);
    if (!n || getc(s.in) != EOF)
        cf_die(t, CF_EXIT_INPUT, "%s: %s", s.name, n ? "larger than the memory" : "empty");
    close_source(&s);
    read_log(t, prefix, r);
}

void run_free(struct run *r)
{
    for (uint32_t i = 0; i < r->words; i++)
        free(r->text[i]);
    for (uint32_t i = 0; i < r->symbols; i++)
        free(r->symbol[i]);
    free(r->text);
    free(r->symbol);
    free(r->at);
    free(r->memory);
    free(r->step);
}
