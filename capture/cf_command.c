/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_command.c - where a command stands. See cf_command.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/cf_command.h"

int cf_command_find(const char *name, char *path, size_t size)
{
    const char *p = getenv("PATH");
    int found = CF_COMMAND_NOT_FOUND;
    struct stat st;

    if (strchr(name, '/')) {
        snprintf(path, size, "%s", name);
        if (stat(path, &st) != 0)
            return CF_COMMAND_NOT_FOUND;
        return S_ISREG(st.st_mode) && access(path, X_OK) == 0 ? 0 : CF_COMMAND_NOT_EXECUTABLE;
    }
    for (p = p ? p : "/usr/local/bin:/usr/bin:/bin"; *name; p++) {
        size_t n = strcspn(p, ":");

        snprintf(path, size, "%.*s%s%s", (int)n, p, n ? "/" : "", name);
        if (stat(path, &st) == 0 && S_ISREG(st.st_mode)) {
            if (access(path, X_OK) == 0)
                return 0;
            found = CF_COMMAND_NOT_EXECUTABLE;
        }
        p += n;
        if (!*p)
            break;
    }
    return found;
}
