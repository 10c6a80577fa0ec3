/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log_operands PROGRAM <LOG: prints the accesses that capture/operands finds in each instruction of
 * a static program of x86-64 or AArch64 and the registers before it, as CSV: pc, op, addr, size.
 * The log is QEMU's (-singlestep -d cpu,nochain). Exit status 3 where an instruction is not known
 * or its registers are not, such as those of vectors.
 *
 * QEMU makes a store-exclusive a compare-and-swap, which loads too: so it is stated here.
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/operands/operands.h"
#include "formats/stream/cf.h"

enum { SLOTS = 1 << 14, MOST_BYTES = 1 << 24, LINE = 1024 };

struct slot {
    uint64_t pc;
    struct cf_operands o;
};

static struct slot slots[SLOTS];
static uint8_t program[MOST_BYTES];
static size_t program_bytes;
static int arm64;
static struct cf_operands_state state = {.pointer_bits = 48};

static void complain(const char *what)
{
    fprintf(stderr, "log_operands: 0x%llx: %s\n", (unsigned long long)state.pc, what);
    exit(3);
}

static void read_program(const char *name)
{
    FILE *f = fopen(name, "rb");
    Elf64_Ehdr head;

    program_bytes = f ? fread(program, 1, sizeof program, f) : 0;
    if (program_bytes < sizeof head)
        complain("no program");
    fclose(f);
    memcpy(&head, program, sizeof head);
    arm64 = head.e_machine == EM_AARCH64;
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || (!arm64 && head.e_machine != EM_X86_64) ||
        head.e_phoff + head.e_phnum * sizeof(Elf64_Phdr) > program_bytes)
        complain("the program is of neither architecture");
}

static const uint8_t *code_at(uint64_t pc, size_t *left)
{
    Elf64_Ehdr head;
    Elf64_Phdr part;

    memcpy(&head, program, sizeof head);
    for (unsigned i = 0; i < head.e_phnum; i++) {
        memcpy(&part, program + head.e_phoff + i * sizeof part, sizeof part);
        if (part.p_type == PT_LOAD && pc >= part.p_vaddr && pc - part.p_vaddr < part.p_filesz &&
            part.p_offset + part.p_filesz <= program_bytes) {
            *left = part.p_filesz - (pc - part.p_vaddr);
            return program + part.p_offset + (pc - part.p_vaddr);
        }
    }
    complain("no code");
    return NULL;
}

static const struct cf_operands *at(uint64_t pc)
{
    struct slot *s = &slots[pc % SLOTS];
    size_t left;
    const uint8_t *code;

    if (s->pc == pc)
        return &s->o;
    code = code_at(pc, &left);
    s->pc = pc;
    if (arm64 ? cf_operands_decode_arm64(&s->o, code, left) != 0
              : cf_operands_decode_x86(&s->o, code, left) != 0)
        complain("not decoded");
    return &s->o;
}

static void print_accesses(void)
{
    static const char *const names[] = {"", "load", "store", "ifetch", "prefetch", "flush"};
    const struct cf_operands *o = at(state.pc);
    struct cf_access a[CF_OPERANDS_MOST];
    const int n = cf_operands_accesses(o, &state, a);

    if (n < 0)
        complain("registers are missing");
    for (int i = 0; i < n; i++) {
        if (o->needs & CF_OPERANDS_MONITOR && a[i].op == CF_STORE)
            printf("0x%llx,load,0x%llx,%u\n", (unsigned long long)state.pc,
                   (unsigned long long)a[i].addr, a[i].size);
        printf("0x%llx,%s,0x%llx,%u\n", (unsigned long long)state.pc, names[a[i].op],
               (unsigned long long)a[i].addr, a[i].size);
    }
}

/* ---- the log: NAME=NUMBER, several a line ---- */

static uint64_t hexadecimal(char **p)
{
    uint64_t value = 0;

    for (;; ++*p) {
        const char c = **p;

        if (c >= '0' && c <= '9')
            value = value << 4 | (unsigned)(c - '0');
        else if (c >= 'a' && c <= 'f')
            value = value << 4 | (unsigned)(c - 'a' + 10);
        else
            return value;
    }
}

static void set(const char *name, char **p)
{
    static const char x86[] = "RAXRCXRDXRBXRSPRBPRSIRDIR8 R9 R10R11R12R13R14R15";
    const char *found = strstr(x86, name);

    if (name[0] == 'X' && name[1] >= '0' && name[1] <= '3')
        state.general[strtoul(name + 1, NULL, 10) % 31] = hexadecimal(p);
    else if (strcmp(name, "SP ") == 0)
        state.general[31] = hexadecimal(p);
    else if (strcmp(name, "PC ") == 0 || strcmp(name, "RIP") == 0)
        state.pc = hexadecimal(p);
    else if (strcmp(name, "RFL") == 0)
        state.flags = hexadecimal(p);
    else if (found && (found - x86) % 3 == 0)
        state.general[(found - x86) / 3] = hexadecimal(p);
    else if (strcmp(name, "FS ") == 0 || strcmp(name, "GS ") == 0) { /* selector, base */
        hexadecimal(p);
        *p += **p == ' ';
        *(name[0] == 'F' ? &state.fs_base : &state.gs_base) = hexadecimal(p);
    }
}

static void take(char *line)
{
    char *p = line, *sign;

    while ((sign = strchr(p, '=')) != NULL) {
        char *begin = sign, name[4] = "   ";

        while (begin > p && sign - begin < 4 && (begin[-1] != ' ' || sign - begin < 1))
            begin--;
        if (sign - begin <= 3)
            memcpy(name, begin, (size_t)(sign - begin));
        p = sign + 1;
        set(name, &p);
    }
}

int main(int argc, char **argv)
{
    static char line[LINE];
    int some = 0;

    if (argc != 2)
        return 2;
    read_program(argv[1]);
    puts("pc,op,addr,size");
    while (fgets(line, sizeof line, stdin)) {
        /* The first line of each instruction. */
        if (strncmp(line, arm64 ? " PC=" : "RAX=", 4) == 0 && some++)
            print_accesses();
        take(line);
    }
    if (some)
        print_accesses();
    return fflush(stdout) != 0 || ferror(stdout) || !some ? 3 : 0;
}
