/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pvalloc() in the library that Valgrind has the dynamic linker load into programs: Valgrind's own
 * ends the program. It has the name of that one, and comes before it (build.mk).
 */
#include "pub_tool_basics.h"
#include "pub_tool_redir.h"

extern int getpagesize(void);

#define MEMALIGN VG_REPLACE_FUNCTION_EZU(10110, VG_Z_LIBC_SONAME, memalign)
#define PVALLOC  VG_REPLACE_FUNCTION_EZU(10190, VG_Z_LIBC_SONAME, pvalloc)

void *MEMALIGN(SizeT alignment, SizeT n);
void *PVALLOC(SizeT n);

void *PVALLOC(SizeT n)
{
    const SizeT page = getpagesize(), whole = (n + page - 1) & -page;

    return MEMALIGN(page, whole < n ? n : whole); /* which is too much then */
}
