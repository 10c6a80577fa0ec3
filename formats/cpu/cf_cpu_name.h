/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_cpu_name.h - what the processor of this machine is called.
 */
#ifndef CF_CPU_NAME_H
#define CF_CPU_NAME_H

#include "formats/stream/cf.h"

/* From text as in /proc/cpuinfo (NULL: that itself): the model name of the first processor; where
   there is none, as on arm64, the model of the board if the kernel states it, else the codes of who
   made the core and of which it is, as "implementer 0x41 part 0xd07" (the fields of MIDR_EL1, Arm
   Architecture Reference Manual, DDI 0487); "" where all of that is lacking. To be freed. NULL with
   errno where the environment refused. */
CF_MUST_CHECK char *cf_cpu_name(const char *cpuinfo);

#endif
