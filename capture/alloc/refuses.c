/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * refuses.c - programs into which the dynamic linker preloads nothing.
 */
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "alloc.h"
#include "capture/base/cf_elf.h"

const char *cf_alloc_refuses(const char *path)
{
    struct stat st;

    if (stat(path, &st) != 0)
        return NULL;
    if ((st.st_mode & S_ISUID && st.st_uid != getuid()) ||
        (st.st_mode & S_ISGID && st.st_gid != getgid()))
        return "gets other rights than its caller (setuid or setgid), so that nothing is preloaded";
    if (getuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0)
        return "has capabilities of its file, so that nothing is preloaded";
    if (cf_elf_foreign(path))
        return "is made for another architecture, so that nothing of this one is preloaded";
    if (cf_elf_static(path))
        return "is linked statically, so that nothing is preloaded";
    return NULL;
}
