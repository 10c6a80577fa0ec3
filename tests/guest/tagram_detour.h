/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Instructions of another module that are answered here, for tagram.c: a branch to a stub takes
 * the place of each, and the stub calls detour_answer(). A kprobe is an exception, which takes an
 * emulator twenty times as long. The stubs keep x0, x1, x29 and x30; the instructions have to stand
 * in functions that use no other registers, as those of kmod/ramindex_arm64.S.
 */
#ifndef TAGRAM_DETOUR_H
#define TAGRAM_DETOUR_H

#include <linux/kprobes.h>
#include <linux/linkage.h>

/* What a stub has saved, and where the code goes on; as the stubs below store it. */
struct detour_frame {
    u64 regs[2], pc, index, frame, link;
};

struct detour {
    const char *name; /* "module:symbol" of the instruction */
    void (*answer)(struct detour_frame *frame, u32 memory, u32 which);
    u32 memory, which; /* for answer() */
    u32 *at, insn;     /* where it stands, NULL when it is not replaced, and what it was */
};

/* Of what the kernel does not export. */
static int (*detour_patch)(void *at, u32 insn);
static unsigned long (*detour_lookup)(const char *name);

#define DETOURS 9
asmlinkage void detour_answer(struct detour_frame *frame);
extern u32 detour_stubs[DETOURS][2];
asm(".pushsection .text\n"
    ".globl detour_stubs\n"
    "detour_stubs:\n"
    ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8\n"
    "    mov x16, #\\n\n"
    "    b 1f\n"
    ".endr\n"
    "1:  sub sp, sp, #48\n"
    "    stp x0, x1, [sp]\n"
    "    str x16, [sp, #24]\n"
    "    stp x29, x30, [sp, #32]\n"
    "    add x29, sp, #32\n"
    "    mov x0, sp\n"
    "    bl detour_answer\n"
    "    ldp x0, x1, [sp]\n"
    "    ldr x16, [sp, #16]\n"
    "    ldp x29, x30, [sp, #32]\n"
    "    add sp, sp, #48\n"
    "    br x16\n"
    ".popsection\n");

/* A kprobe finds what finds the rest. */
static int detour_prepare(void)
{
    struct kprobe probe = {.symbol_name = "kallsyms_lookup_name"};
    int error = register_kprobe(&probe);

    if (error)
        return error;
    detour_lookup = (void *)probe.addr;
    unregister_kprobe(&probe);
    detour_patch = (void *)detour_lookup("aarch64_insn_patch_text_nosync");
    return detour_patch ? 0 : -ENOENT;
}

static int detour_set(struct detour *detour, u32 index)
{
    u32 *at = (u32 *)detour_lookup(detour->name);
    s64 distance = (u8 *)detour_stubs[index] - (u8 *)at;
    int error;

    if (!at || distance >= 1 << 27 || distance < -(1 << 27))
        return at ? -ERANGE : -ENOENT;
    detour->insn = *at;
    error = detour_patch(at, 0x14000000 | ((u32)(distance >> 2) & 0x03ffffff)); /* b */
    if (!error)
        detour->at = at;
    return error;
}

static void detour_unset(struct detour *detour)
{
    if (detour->at && detour_patch(detour->at, detour->insn) != 0)
        pr_err("tagram: %s stays\n", detour->name);
    detour->at = NULL;
}

#endif
