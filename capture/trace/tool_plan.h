/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tool_plan.h - what a superblock does: found by tool_plan.c, recorded by tool_instrument.c.
 */
#ifndef CF_TRACE_TOOL_PLAN_H
#define CF_TRACE_TOOL_PLAN_H

#include "pub_tool_basics.h"
#include "pub_tool_tooliface.h"

#include "protocol.h"

struct cf_plan_access {
    IRTemp base;  /* IRTemp_INVALID: constant address */
    IRTemp guard; /* IRTemp_INVALID: unconditional */
    Int statement;
    Bool opens;     /* its slot is written here */
    ULong constant; /* what is written if there is no base */
    struct cf_wire_access wire;
};

struct cf_plan_exit {
    struct cf_wire_exit wire;
    UInt closed; /* sections known before its header is written */
};

struct cf_plan_section {
    struct cf_wire_section wire;
    IRTemp guard;  /* holds: the section was executed */
    Int statement; /* its first */
};

/* The plan of the superblock at work. Only one is instrumented at a time. */
struct cf_plan {
    struct cf_wire_insn insns[CF_WIRE_MAX_INSNS];
    struct cf_plan_access accesses[CF_WIRE_MAX_ACCESSES];
    struct cf_plan_exit exits[CF_WIRE_MAX_EXITS + 1];
    struct cf_plan_section sections[CF_WIRE_MAX_SECTIONS];
    UInt n_insns, n_accesses, n_exits, n_sections, n_slots;
    UInt first;           /* outcome */
    IRExpr **definitions; /* of each temporary, or NULL */
    Int *defined_at;      /* statement */
    Int temporaries;
    struct cf_wire_end end;    /* of kind 0: nothing */
    struct cf_plan_access top; /* where its stack pointer is found */
    Bool top_in_register;      /* at the end of the superblock */
};
extern struct cf_plan cf_plan;

/* Fills in the plan of a superblock, whose first instruction is statement `start`; with its end's
 * effect on the call stack, whose pointer is in the register at `sp`, if `calls`. */
void cf_plan_make(const IRSB *sb, Int start, Bool calls, Int sp);

/* Records what the superblock is, by its first outcome. */
void cf_plan_describe(void);

#endif
