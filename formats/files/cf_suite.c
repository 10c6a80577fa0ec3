/* SPDX-License-Identifier: BSD-2-Clause */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cf_suite.h"

const char *cf_suite_dir(const char *which)
{
    static char path[PATH_MAX];
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    char *slash;

    if (n < 0)
        n = 0;
    self[n] = '\0';
    slash = strrchr(self, '/');
    if (!slash)
        slash = stpcpy(self, ".");
    *slash = '\0';
    /* From PREFIX/bin it is one step up, from PREFIX/libexec/cacheflow two. The near one goes
       first, or a program in /usr/local would take what belongs to /usr. */
    for (int steps = 1; steps <= 3; steps++) {
        struct stat st;

        n = snprintf(path, sizeof path, "%s/%s%s", self, steps == 2 ? "../../" : "../", which);
        if (n < 0 || (size_t)n >= sizeof path)
            path[0] = '\0';
        else if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
            break;
    }
    return path;
}
