/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * crt0: trap table, start-up code and trap handlers of a bare-metal program on LEON with eight
 * register windows. Handlers for window overflow and underflow save and restore one window, as the
 * SPARC Architecture Manual V8, appendix D, explains. Three more traps are counted in
 * trap_counts[] and then skipped, so that a program can cause them on purpose: the software traps
 * 1 and up, an address that is not aligned, and division by zero. Any other trap ends the program.
 * The end is `ta 0` with traps disabled, which puts a LEON into error mode.
 */
#define WINDOWS 8

/* Values of PSR: the supervisor's mode; then with traps and the FPU on. */
#define PSR_START 0xc0
#define PSR_RUN   0x10e0

    .macro trap handler
    rd      %psr, %l0
    ba      \handler
     nop
    nop
    .endm

    .macro traps from, to, handler
    .rept   \to - \from + 1
    trap    \handler
    .endr
    .endm

    .section .trap_table, "ax"
    .align  4096
    .global _start, trap_table
trap_table:
_start:
    ba      start               /* 0x00: reset */
     wr     %g0, PSR_START, %psr
    nop
    nop
    traps   0x01, 0x04, trap_end
    trap    window_overflow     /* 0x05 */
    trap    window_underflow    /* 0x06 */
    trap    trap_skip_align     /* 0x07: address not aligned */
    traps   0x08, 0x29, trap_end
    trap    trap_skip_divide    /* 0x2a: division by zero */
    traps   0x2b, 0x80, trap_end
    traps   0x81, 0xff, trap_skip_soft

    .section .text.start, "ax"
start:
    nop                         /* PSR takes up to three instructions to change */
    nop
    nop
    wr      %g0, 2, %wim
    set     trap_table, %g1
    wr      %g1, 0, %tbr
    set     stack_top - 96, %sp
    mov     0, %fp
    set     bss_begin, %o0
    set     bss_end, %o1
    mov     0, %g1              /* std writes %g1 with %g0 */
1:  cmp     %o0, %o1
    bgeu    2f
     nop
    std     %g0, [%o0]
    ba      1b
     add    %o0, 8, %o0
2:  set     PSR_RUN, %g1
    wr      %g1, 0, %psr
    nop
    nop
    nop
    call    main
     nop
    /* fall through */
trap_end:
    wr      %g0, PSR_START, %psr
    nop
    nop
    nop
    ta      0
     nop

/* Come in with l0 = psr, l1 = pc, l2 = npc, in the window that was invalid. */
window_overflow:
    rd      %wim, %l3
    mov     %g1, %l7            /* the only register that lives through `save` */
    srl     %l3, 1, %g1
    sll     %l3, WINDOWS - 1, %l4
    or      %l4, %g1, %g1
    save
    wr      %g1, 0, %wim
    nop
    nop
    nop
    std     %l0, [%sp]
    std     %l2, [%sp + 8]
    std     %l4, [%sp + 16]
    std     %l6, [%sp + 24]
    std     %i0, [%sp + 32]
    std     %i2, [%sp + 40]
    std     %i4, [%sp + 48]
    std     %i6, [%sp + 56]
    restore
    mov     %l7, %g1
    wr      %l0, 0, %psr        /* the condition codes as they were */
    nop
    nop
    nop
    jmp     %l1
     rett   %l2

window_underflow:
    rd      %wim, %l3
    sll     %l3, 1, %l4
    srl     %l3, WINDOWS - 1, %l5
    or      %l5, %l4, %l5
    wr      %l5, 0, %wim
    nop
    nop
    nop
    restore
    restore
    ldd     [%sp], %l0
    ldd     [%sp + 8], %l2
    ldd     [%sp + 16], %l4
    ldd     [%sp + 24], %l6
    ldd     [%sp + 32], %i0
    ldd     [%sp + 40], %i2
    ldd     [%sp + 48], %i4
    ldd     [%sp + 56], %i6
    save
    save
    wr      %l0, 0, %psr
    nop
    nop
    nop
    jmp     %l1
     rett   %l2

trap_skip_align:
    ba      trap_count
     mov    0, %l5
trap_skip_divide:
    ba      trap_count
     mov    4, %l5
trap_skip_soft:
    mov     8, %l5
trap_count:
    set     trap_counts, %l4
    ld      [%l4 + %l5], %l6
    inc     %l6
    st      %l6, [%l4 + %l5]
    wr      %l0, 0, %psr
    nop
    nop
    nop
    jmp     %l2                 /* after the instruction that trapped */
     rett   %l2 + 4

    .bss
    .align  8
    .global trap_counts
trap_counts:
    .skip   16
