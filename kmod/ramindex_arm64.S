/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * RAMINDEX in AArch64 (DDI 0488D section 4.3.64, 100095 section 4.3.62): the command is a SYS
 * instruction, what it found stands in implementation-defined registers after DSB and ISB. The labels
 * within the functions name the instructions that only such a CPU has.
 */
	.text

	.globl	cacheflow_ramindex_l2
	.type	cacheflow_ramindex_l2, %function
cacheflow_ramindex_l2:
	dsb	sy
	.globl	cacheflow_insn_l2_command
cacheflow_insn_l2_command:
	sys	#0, c15, c4, #0, x0
	dsb	sy
	isb
	.globl	cacheflow_insn_l2_data0
cacheflow_insn_l2_data0:
	mrs	x0, s3_0_c15_c1_0
	ret
	.size	cacheflow_ramindex_l2, . - cacheflow_ramindex_l2

	.globl	cacheflow_ramindex_l1d
	.type	cacheflow_ramindex_l1d, %function
cacheflow_ramindex_l1d:
	dsb	sy
	.globl	cacheflow_insn_l1d_command
cacheflow_insn_l1d_command:
	sys	#0, c15, c4, #0, x0
	dsb	sy
	isb
	.globl	cacheflow_insn_l1d_data0
cacheflow_insn_l1d_data0:
	mrs	x0, s3_0_c15_c1_0
	.globl	cacheflow_insn_l1d_data1
cacheflow_insn_l1d_data1:
	mrs	x1, s3_0_c15_c1_1
	bfi	x0, x1, #32, #32
	ret
	.size	cacheflow_ramindex_l1d, . - cacheflow_ramindex_l1d

	.globl	cacheflow_ramindex_l1i
	.type	cacheflow_ramindex_l1i, %function
cacheflow_ramindex_l1i:
	dsb	sy
	.globl	cacheflow_insn_l1i_command
cacheflow_insn_l1i_command:
	sys	#0, c15, c4, #0, x0
	dsb	sy
	isb
	.globl	cacheflow_insn_l1i_data0
cacheflow_insn_l1i_data0:
	mrs	x0, s3_0_c15_c0_0
	.globl	cacheflow_insn_l1i_data1
cacheflow_insn_l1i_data1:
	mrs	x1, s3_0_c15_c0_1
	bfi	x0, x1, #32, #32
	ret
	.size	cacheflow_ramindex_l1i, . - cacheflow_ramindex_l1i

	.globl	cacheflow_ccsidr
	.type	cacheflow_ccsidr, %function
cacheflow_ccsidr:
	/* Whom we have interrupted may stand between these two instructions. */
	mrs	x1, csselr_el1
	msr	csselr_el1, x0
	isb
	.globl	cacheflow_insn_ccsidr
cacheflow_insn_ccsidr:
	mrs	x0, ccsidr_el1
	msr	csselr_el1, x1
	isb
	ret
	.size	cacheflow_ccsidr, . - cacheflow_ccsidr

	.section .note.GNU-stack, "", %progbits
