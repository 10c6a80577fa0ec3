/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * RAMINDEX in AArch32: MCR p15, 0, Rt, c15, c4, 0, then DSB, ISB and MRC from c15, c1 (DL1DATAn) or
 * c15, c0 (IL1DATAn). A 64-bit result is r0 and r1, the low word first (little-endian).
 */
	.syntax unified
	.arch armv7-a
	.text
	.arm

	.globl	cacheflow_ramindex_l2
	.type	cacheflow_ramindex_l2, %function
cacheflow_ramindex_l2:
	dsb
	.globl	cacheflow_insn_l2_command
cacheflow_insn_l2_command:
	mcr	p15, 0, r0, c15, c4, 0
	dsb
	isb
	.globl	cacheflow_insn_l2_data0
cacheflow_insn_l2_data0:
	mrc	p15, 0, r0, c15, c1, 0
	bx	lr
	.size	cacheflow_ramindex_l2, . - cacheflow_ramindex_l2

	.globl	cacheflow_ramindex_l1d
	.type	cacheflow_ramindex_l1d, %function
cacheflow_ramindex_l1d:
	dsb
	mcr	p15, 0, r0, c15, c4, 0
	dsb
	isb
	mrc	p15, 0, r0, c15, c1, 0
	mrc	p15, 0, r1, c15, c1, 1
	bx	lr
	.size	cacheflow_ramindex_l1d, . - cacheflow_ramindex_l1d

	.globl	cacheflow_ramindex_l1i
	.type	cacheflow_ramindex_l1i, %function
cacheflow_ramindex_l1i:
	dsb
	mcr	p15, 0, r0, c15, c4, 0
	dsb
	isb
	mrc	p15, 0, r0, c15, c0, 0
	mrc	p15, 0, r1, c15, c0, 1
	bx	lr
	.size	cacheflow_ramindex_l1i, . - cacheflow_ramindex_l1i

	.globl	cacheflow_ccsidr
	.type	cacheflow_ccsidr, %function
cacheflow_ccsidr:
	/* Whom we have interrupted may stand between these two instructions. */
	mrc	p15, 2, r1, c0, c0, 0
	mcr	p15, 2, r0, c0, c0, 0
	isb
	.globl	cacheflow_insn_ccsidr
cacheflow_insn_ccsidr:
	mrc	p15, 1, r0, c0, c0, 0
	mcr	p15, 2, r1, c0, c0, 0
	isb
	bx	lr
	.size	cacheflow_ccsidr, . - cacheflow_ccsidr

	.section .note.GNU-stack, "", %progbits
